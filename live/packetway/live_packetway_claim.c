/*
 * Free addresses. No engine answers a WRU? with SA 0 to an address (spec 6.1: the INFO would go
 * nowhere), so we can use it as a probe, like those for IPv4 addresses (RFC 5227): the owner of the
 * address, or over UDP a node that knows the owner, sends its INFO to where the query came from.
 */
#include "live_packetway_name.h"
#include "live_packetway_san.h"
#include "packetway_about.h"
#include "packetway_record.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { ATTEMPTS = 256 };
static const leat_time ps_per_ms = 1000000000;

/* ---- answering ----------------------------------------------------------------------------- */

/* The address that it asks for; 0: none. */
static uint32_t asked_for(const uint8_t *message, uint32_t len)
{
    if (!packetway_message_is(message, len, LEAT_PACKETWAY_PT_RRP, LEAT_PACKETWAY_TE_WRU)) return 0;
    const uint32_t dt = leat_get_be24(message + LEAT_PACKETWAY_DT_AT),
                   sa = leat_get_be24(message + LEAT_PACKETWAY_SA_AT);
    return sa == 0 && leat_packetway_address_is_node(dt) ? dt : 0;
}

bool packetway_san_answers_claim(struct packetway_san *san, const uint8_t *message, uint32_t len,
                                 const struct leat_packetway_native *from)
{
    uint8_t octets[64], db[16];
    struct leat_packetway_build build;
    const uint32_t address = asked_for(message, len);
    if (!address || !leat_packetway_block_holds(&san->plan.block, address)) return false;
    const struct packetway_node *node = packetway_san_node(san, address);
    const bool others = san->plan.udp && node && memcmp(&node->native, from, sizeof *from) != 0;
    if (address != san->plan.address && !others) return true;
    leat_packetway_build_init(&build, db, sizeof db);
    leat_packetway_build_node(&build, address);
    const uint32_t answer_len = packetway_rrp_write(LEAT_PACKETWAY_ADDRESS_BROADCAST, address,
                                                    LEAT_PACKETWAY_TE_INFO, db, build.len, octets,
                                                    sizeof octets);
    if (answer_len) packetway_san_send(san, from->octets, from->len, octets, answer_len);
    return true;
}

/* ---- claiming ------------------------------------------------------------------------------ */

/* Addresses are spread by the node's native address on the SAN: its MAC, or address and port. */
static void choose(struct packetway_san *san, uint32_t attempt)
{
    const uint8_t *octets = san->plan.udp ? san->plan.bind.octets : san->mac;
    const uint32_t len = san->plan.udp ? san->plan.bind.len : PACKETWAY_MAC_LEN;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < len; i++)
        sum = sum * 31 + octets[i];
    san->plan.address = san->plan.block.bias + 1 + (sum + attempt) % san->plan.block.count;
}

static void ask_for(struct packetway_san *san)
{
    uint8_t octets[LEAT_PACKETWAY_MESSAGE_LEN_MIN];
    const uint32_t len = packetway_rrp_write(san->plan.address, 0, LEAT_PACKETWAY_TE_WRU, NULL, 0,
                                             octets, sizeof octets);
    if (len) packetway_san_send_all(san, octets, len);
}

static struct packetway_name lock_of(const struct packetway_san *san)
{
    return packetway_name_of("leat-pktway-node/%s/%06x", san->plan.device, san->plan.address);
}

/* Two nodes of one device have the same MAC and do not receive each other's frames. On this host an
 * address is therefore held by a name that only one socket of the network namespace can have. */
static bool hold(struct packetway_san *san)
{
    if (san->plan.udp) return true; /* its endpoint is its own */
    if (san->lock >= 0) close(san->lock);
    const struct packetway_name name = lock_of(san);
    san->lock = packetway_name_hold(&name);
    return san->lock >= 0 || errno != EADDRINUSE;
}

void packetway_san_dismiss(struct packetway_san *san)
{
    if (san->lock >= 0) packetway_name_dismiss(san->lock);
}

/* Until then: does another node have our address, or does it claim it now? *by without octets: on
 * this host. */
static bool is_taken(struct packetway_san *san, leat_time until, struct leat_packetway_native *by)
{
    static uint8_t octets[PACKETWAY_MESSAGE_MAX];
    *by = (struct leat_packetway_native){ 0 };
    if (!hold(san)) return true;
    for (;;) {
        uint32_t len;
        while ((len = packetway_san_receive(san, octets, by))) {
            if (!san->plan.udp && memcmp(by->octets, san->mac, PACKETWAY_MAC_LEN) == 0) continue;
            const bool info = packetway_message_is(octets, len, LEAT_PACKETWAY_PT_RRP,
                                                   LEAT_PACKETWAY_TE_INFO);
            if (asked_for(octets, len) == san->plan.address ||
                (info && leat_get_be24(octets + LEAT_PACKETWAY_SA_AT) == san->plan.address))
                return true;
        }
        const leat_time now = packetway_now();
        if (now >= until) return false;
        struct pollfd wait = { .fd = san->fd, .events = POLLIN };
        poll(&wait, 1, (int)((until - now) / ps_per_ms) + 1);
    }
}

static bool because_taken(const struct packetway_san *san, const struct leat_packetway_native *by,
                          char *why)
{
    char at[PACKETWAY_ENDPOINT_MAX];
    if (!by->len) {
        char holder[PACKETWAY_HOLDER_MAX];
        const struct packetway_name lock = lock_of(san);
        packetway_name_holder_text(&lock, holder);
        return live_because(why, "address 0x%06x is in use on this host by %s, expected another",
                            san->plan.address, holder);
    }
    packetway_native_text(by, san->plan.udp, at);
    return live_because(why, "address 0x%06x is in use (%s says so), expected another",
                        san->plan.address, at);
}

bool packetway_sans_claim(struct packetway_san *const *sans, uint32_t count, char *why)
{
    bool again = true;
    for (uint32_t attempt = 0; again; attempt++) {
        again = false;
        for (uint32_t i = 0; i < count; i++) {
            if (sans[i]->plan.automatic) choose(sans[i], attempt);
            ask_for(sans[i]);
        }
        const leat_time until = packetway_now() + PACKETWAY_CLAIM_MS * ps_per_ms;
        for (uint32_t i = 0; i < count; i++) {
            struct leat_packetway_native by;
            if (!is_taken(sans[i], until, &by)) continue;
            if (!sans[i]->plan.automatic || attempt + 1 == ATTEMPTS)
                return because_taken(sans[i], &by, why);
            again = true;
        }
    }
    return true;
}
