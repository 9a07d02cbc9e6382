#include "atm_arp.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* Decodes, and on error checks that the output is untouched. */
static leat_err try(const uint8_t *buf, size_t len, struct leat_atm_arp_packet *out, size_t *at)
{
    struct leat_atm_arp_packet before;
    memset(out, 0xa5, sizeof *out);
    memset(&before, 0xa5, sizeof before);
    const leat_err err = leat_atm_arp_decode(buf, len, out, at);
    if (err) OK(memcmp(out, &before, sizeof before) == 0);
    EQ(leat_atm_arp_decode(buf, len, &before, NULL), err);
    return err;
}

/* RFC 2225, 8.7.1, octet by octet: an E.164 number with a subaddress asks for an address. */
static void a_request_is_laid_out_as_the_rfc_says(void)
{
    static const uint8_t want[] = { 0,    0x13, 8, 0, 0x43, 20, 0, 1, 4, 0,  0, 4, '4', '9', '1',
                                    0x47, 0,    0, 0, 0,    0,  0, 0, 0, 0,  0, 0, 0,   0,   0,
                                    0,    0,    0, 0, 1,    10, 0, 0, 1, 10, 0, 0, 2 };
    struct leat_atm_arp_packet packet = {
        .op = LEAT_ATM_ARP_REQUEST,
        .source = { .is_e164 = true,
                    .number_len = 3,
                    .subaddress_len = 20,
                    .ip_len = 4,
                    .number = "491",
                    .subaddress = { [0] = 0x47, [19] = 1 },
                    .ip = { 10, 0, 0, 1 } },
        .target = { .ip_len = 4, .ip = { 10, 0, 0, 2 } },
    };
    uint8_t buf[LEAT_ATM_ARP_LEN_MAX];
    size_t len = 0;
    EQ(leat_atm_arp_encode(&packet, buf, sizeof buf, &len), LEAT_ERR_OK);
    OK(len == sizeof want && memcmp(buf, want, len) == 0);
    for (size_t cap = 0; cap < len; cap++)
        EQ(leat_atm_arp_encode(&packet, buf, cap, &len), LEAT_ERR_SPACE);
}

static void random_station(struct leat_random *r, struct leat_atm_arp_station *s)
{
    s->is_e164 = leat_random_below(r, 2);
    if (s->is_e164) {
        s->number_len = (uint8_t)(1 + leat_random_below(r, LEAT_ATM_ARP_E164_LEN_MAX));
        for (size_t i = 0; i < s->number_len; i++)
            s->number[i] = (uint8_t)('0' + leat_random_below(r, 10));
        s->subaddress_len = leat_random_below(r, 2) ? LEAT_ATM_ARP_NSAPA_LEN : 0;
    } else if (leat_random_below(r, 3)) {
        s->number_len = LEAT_ATM_ARP_NSAPA_LEN;
        leat_random_fill(r, s->number, s->number_len);
    }
    leat_random_fill(r, s->subaddress, s->subaddress_len);
    s->ip_len = leat_random_below(r, 3) ? LEAT_ATM_ARP_IP_LEN : 0;
    leat_random_fill(r, s->ip, s->ip_len);
}

static void random_packets_survive_and_every_other_length_is_refused(void)
{
    static const enum leat_atm_arp_op ops[] = { LEAT_ATM_ARP_REQUEST, LEAT_ATM_ARP_REPLY,
                                                LEAT_ATM_ARP_IN_REQUEST, LEAT_ATM_ARP_IN_REPLY,
                                                LEAT_ATM_ARP_NAK };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 100; i++) {
        struct leat_atm_arp_packet packet, back;
        memset(&packet, 0, sizeof packet);
        packet.op = ops[leat_random_below(&r, 5)];
        random_station(&r, &packet.source);
        random_station(&r, &packet.target);
        uint8_t buf[LEAT_ATM_ARP_LEN_MAX + 1] = { 0 };
        size_t len = 0, at = 0;
        EQ(leat_atm_arp_encode(&packet, buf, LEAT_ATM_ARP_LEN_MAX, &len), LEAT_ERR_OK);
        EQ(leat_atm_arp_decode(buf, len, &back, NULL), LEAT_ERR_OK);
        uint8_t again[LEAT_ATM_ARP_LEN_MAX];
        size_t again_len = 0;
        EQ(leat_atm_arp_encode(&back, again, sizeof again, &again_len), LEAT_ERR_OK);
        OK(again_len == len && memcmp(again, buf, len) == 0);
        OK(back.op == packet.op && back.source.is_e164 == packet.source.is_e164);
        OK(memcmp(back.source.number, packet.source.number, sizeof back.source.number) == 0);
        OK(memcmp(back.target.subaddress, packet.target.subaddress, 20) == 0);
        OK(memcmp(back.target.ip, packet.target.ip, sizeof back.target.ip) == 0);
        for (size_t cut = 0; cut < len; cut++) {
            EQ(try(buf, cut, &back, &at), LEAT_ERR_SHORT);
            EQ(at, cut);
        }
        EQ(try(buf, len + 1, &back, &at), LEAT_ERR_LENGTH);
        EQ(at, len);
    }
}

static void impossible_stations_are_refused(void)
{
    static const struct {
        struct leat_atm_arp_station station;
        leat_err err;
    } cases[] = {
        { { .number_len = 19 }, LEAT_ERR_LENGTH },
        { { .is_e164 = true }, LEAT_ERR_LENGTH },
        { { .is_e164 = true, .number_len = 16 }, LEAT_ERR_LENGTH },
        { { .is_e164 = true, .number_len = 1, .number = "x" }, LEAT_ERR_RANGE },
        { { .is_e164 = true, .number_len = 1, .number = "1", .subaddress_len = 19 },
          LEAT_ERR_LENGTH },
        { { .number_len = 20, .subaddress_len = 20 }, LEAT_ERR_FIELD },
        { { .ip_len = 3 }, LEAT_ERR_LENGTH },
    };
    uint8_t buf[LEAT_ATM_ARP_LEN_MAX];
    size_t len = 7;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct leat_atm_arp_packet packet = { .op = LEAT_ATM_ARP_REPLY };
        packet.source = cases[i].station;
        EQ(leat_atm_arp_encode(&packet, buf, sizeof buf, &len), cases[i].err);
        packet = (struct leat_atm_arp_packet){ .op = LEAT_ATM_ARP_REPLY };
        packet.target = cases[i].station;
        EQ(leat_atm_arp_encode(&packet, buf, sizeof buf, &len), cases[i].err);
    }
    unsigned known = 0;
    for (unsigned op = 0; op < 1 << 16; op++)
        known += leat_atm_arp_op_known(op);
    EQ(known, 5);
    const struct leat_atm_arp_packet packet = { .op = (enum leat_atm_arp_op)3 };
    EQ(leat_atm_arp_encode(&packet, buf, sizeof buf, &len), LEAT_ERR_TYPE);
    EQ(len, 7);
}

TAP_MAIN(T(a_request_is_laid_out_as_the_rfc_says),
         T(random_packets_survive_and_every_other_length_is_refused),
         T(impossible_stations_are_refused))
