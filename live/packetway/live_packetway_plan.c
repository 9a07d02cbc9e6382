/* Parses the user's description of a SAN. */
#include "live_packetway_san.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 512, PORT_MAX = 65535 };

/* ---- native routes ------------------------------------------------------------------------- */

/* "ADDRESS[:PORT]" or "[ADDRESS][:PORT]". */
static bool read_endpoint(const char *text, struct leat_packetway_native *out)
{
    char address[PACKETWAY_ENDPOINT_MAX];
    const bool bracketed = *text == '[';
    const char *end = bracketed ? strchr(text, ']') : strchr(text, ':');
    text += bracketed;
    const size_t len = end ? (size_t)(end - text) : strlen(text);
    if ((bracketed && !end) || len >= sizeof address) return false;
    memcpy(address, text, len);
    address[len] = 0;
    const char *rest = end ? end + bracketed : text + len;
    unsigned long port = LEAT_PACKETWAY_UDP_PORT;
    if (*rest) {
        char *last;
        if (*rest != ':' || rest[1] < '0' || rest[1] > '9') return false;
        port = strtoul(rest + 1, &last, 10);
        if (*last || port > PORT_MAX) return false;
    }
    *out = (struct leat_packetway_native){ .len = bracketed ? PACKETWAY_UDP6_LEN
                                                            : PACKETWAY_UDP4_LEN };
    if (inet_pton(bracketed ? AF_INET6 : AF_INET, address, out->octets) != 1) return false;
    leat_put_be16(out->octets + out->len - 2, (uint16_t)port);
    return true;
}

void packetway_native_text(const struct leat_packetway_native *native, bool udp,
                           char text[PACKETWAY_ENDPOINT_MAX])
{
    char address[INET6_ADDRSTRLEN] = "?";
    const uint8_t *o = native->octets;
    if (!udp) {
        snprintf(text, PACKETWAY_ENDPOINT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", o[0], o[1], o[2],
                 o[3], o[4], o[5]);
        return;
    }
    const bool six = native->len == PACKETWAY_UDP6_LEN;
    inet_ntop(six ? AF_INET6 : AF_INET, o, address, sizeof address);
    snprintf(text, PACKETWAY_ENDPOINT_MAX, six ? "[%s]:%u" : "%s:%u", address,
             leat_get_be16(o + native->len - 2));
}

/* ---- words --------------------------------------------------------------------------------- */

static bool read_number(const char *what, const char *text, uint32_t min, uint32_t max,
                        uint32_t *out, char *why)
{
    char *end;
    const bool digit = *text >= '0' && *text <= '9';
    const unsigned long long value = strtoull(text, &end, 0);
    if (!digit || *end || value < min || value > max)
        return live_because(why, "%s '%.40s', expected a number, %u to 0x%x", what, text, min, max);
    *out = (uint32_t)value;
    return true;
}

static bool read_place(const char *word, struct packetway_plan *plan, char *why)
{
    plan->udp = strncmp(word, "udp:", 4) == 0;
    if (plan->udp) {
        if (read_endpoint(word + 4, &plan->bind)) return true;
        return live_because(why, "'%.60s', expected udp:ADDRESS[:PORT], IPv6 in brackets", word);
    }
    if (!*word || strlen(word) >= sizeof plan->device || strchr(word, '='))
        return live_because(why,
                            "SAN '%.60s', expected a network device or udp:ADDRESS[:PORT] "
                            "first",
                            word);
    memcpy(plan->device, word, strlen(word) + 1);
    return if_nametoindex(word) ||
           live_because(why, "no network device '%s', expected one, or udp:ADDRESS[:PORT]", word);
}

static bool read_peer(const char *text, struct packetway_plan *plan, char *why)
{
    if (!plan->udp)
        return live_because(why, "peer=%.60s, which is for UDP: an Ethernet finds its nodes", text);
    if (plan->peer_count == PACKETWAY_PEERS_MAX)
        return live_because(why, "more than %d of peer=", PACKETWAY_PEERS_MAX);
    if (!read_endpoint(text, &plan->peers[plan->peer_count]))
        return live_because(why, "peer=%.60s, expected ADDRESS[:PORT], IPv6 in brackets", text);
    plan->peer_count++;
    return true;
}

static bool read_buddy(const char *text, struct packetway_plan *plan, char *why)
{
    if (plan->buddy_count == PACKETWAY_BUDDIES_MAX)
        return live_because(why, "more than %d of buddy=", PACKETWAY_BUDDIES_MAX);
    if (!read_number("buddy", text, 1, LEAT_PACKETWAY_ADDRESS_MAX,
                     &plan->buddies[plan->buddy_count], why))
        return false;
    plan->buddy_count++;
    return true;
}

static bool read_word(const char *word, struct packetway_plan *plan, char *why)
{
    const char *value = strchr(word, '=');
    const size_t len = value ? (size_t)(value - word) : strlen(word);
    static const char *const names[] = { "bias", "nodes", "address", "mtu", "peer", "buddy" };
    size_t which = 0;
    while (which < 6 && (strlen(names[which]) != len || strncmp(word, names[which], len) != 0))
        which++;
    if (!value || which == 6)
        return live_because(why,
                            "'%.60s', expected bias=, nodes=, address=, mtu=, peer= or "
                            "buddy=",
                            word);
    value++;
    switch (which) {
    case 0:
        return read_number("bias", value, 0, LEAT_PACKETWAY_ADDRESS_MAX, &plan->block.bias, why);
    case 1:
        return read_number("nodes", value, 1, LEAT_PACKETWAY_ADDRESS_MAX, &plan->block.count, why);
    case 2:
        plan->automatic = strcmp(value, "auto") == 0;
        if (plan->automatic) return true;
        return read_number("address", value, 1, LEAT_PACKETWAY_ADDRESS_MAX, &plan->address, why);
    case 3: return read_number("mtu", value, 16, PACKETWAY_MESSAGE_MAX / 8, &plan->mtu_words, why);
    case 4: return read_peer(value, plan, why);
    default: return read_buddy(value, plan, why);
    }
}

static bool check(const struct packetway_plan *plan, bool biased, char *why)
{
    if (!biased) return live_because(why, "a SAN without bias=, expected its first address - 1");
    if (!plan->address && !plan->automatic)
        return live_because(why, "a SAN without address=, expected this node's");
    if (leat_packetway_block_check(&plan->block))
        return live_because(why, "bias 0x%x with %u nodes, expected an end at 0x7ffffd or below",
                            plan->block.bias, plan->block.count);
    if (!plan->automatic && !leat_packetway_block_holds(&plan->block, plan->address))
        return live_because(why, "address 0x%x, expected one of the block 0x%x to 0x%x",
                            plan->address, plan->block.bias + 1,
                            plan->block.bias + plan->block.count);
    return true;
}

bool packetway_plan_read(const char *text, struct packetway_plan *plan, char *why)
{
    char copy[TEXT_MAX];
    bool first = true, biased = false;
    struct packetway_plan read = { .block.count = PACKETWAY_BLOCK_DEFAULT };
    if (strlen(text) >= sizeof copy)
        return live_because(why, "a SAN of more than %d characters", TEXT_MAX - 1);
    memcpy(copy, text, strlen(text) + 1);
    for (char *word = copy, *next; word; word = next) {
        next = strchr(word, ',');
        if (next) *next++ = 0;
        biased = biased || strncmp(word, "bias=", 5) == 0;
        if (!(first ? read_place : read_word)(word, &read, why)) return false;
        first = false;
    }
    if (!check(&read, biased, why)) return false;
    *plan = read;
    return true;
}

static bool same_place(const struct packetway_plan *a, const struct packetway_plan *b)
{
    if (a->udp != b->udp) return false;
    return a->udp ? memcmp(&a->bind, &b->bind, sizeof a->bind) == 0
                  : strcmp(a->device, b->device) == 0;
}

bool packetway_plans_check(const struct packetway_plan *plans, uint32_t count, char *why)
{
    struct leat_packetway_block blocks[PACKETWAY_SANS_MAX];
    struct leat_packetway_bias_map map = { .blocks = blocks, .cap = PACKETWAY_SANS_MAX };
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = 0;
        const leat_err err = leat_packetway_bias_add(&map, &plans[i].block, &other);
        if (err == LEAT_ERR_DUPLICATE)
            return live_because(why,
                                "the block of bias 0x%x (%u nodes) overlaps that of bias "
                                "0x%x (%u nodes), expected disjoint ones",
                                plans[i].block.bias, plans[i].block.count, blocks[other].bias,
                                blocks[other].count);
        if (err) return live_because(why, "more than %d SANs", PACKETWAY_SANS_MAX);
        for (uint32_t j = 0; j < i; j++)
            if (same_place(&plans[i], &plans[j]))
                return live_because(why, "two SANs on one device or endpoint, expected another "
                                         "for each");
    }
    return true;
}
