#include "atm_ip.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/crc.h>
#include <leat/random.h>
#include <stdbool.h>
#include <string.h>

static uint8_t random_octets[1600], pdu_octets[1700];

/* Decodes, and on error checks that the output is untouched. */
static leat_err try(const uint8_t *buf, size_t len, enum leat_atm_ip_mux mux,
                    struct leat_atm_ip_pdu *out, size_t *at)
{
    struct leat_atm_ip_pdu before;
    memset(out, 0xa5, sizeof *out);
    memset(&before, 0xa5, sizeof before);
    const leat_err err = leat_atm_ip_decode(buf, len, mux, out, at);
    if (err) OK(memcmp(out, &before, sizeof before) == 0);
    EQ(leat_atm_ip_decode(buf, len, mux, &before, NULL), err);
    return err;
}

/* RFC 2684, 5.1 and 5.2, octet by octet. */
static void headers_are_laid_out_as_the_rfc_says(void)
{
    static const uint8_t ipv4[] = { 0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45 };
    static const uint8_t bridged[] = { 0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 7, 0, 0, 'd' };
    struct leat_atm_ip_pdu pdu = { .type = LEAT_ATM_IP_TYPE_IPV4,
                                   .payload = (const uint8_t *)"\x45",
                                   .payload_len = 1 };
    size_t len = 0;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_LLC, pdu_octets, sizeof pdu_octets, &len), LEAT_ERR_OK);
    OK(len == sizeof ipv4 && memcmp(pdu_octets, ipv4, len) == 0);
    pdu = (struct leat_atm_ip_pdu){ .oui = LEAT_ATM_IP_OUI_BRIDGED,
                                    .type = LEAT_ATM_IP_BRIDGED,
                                    .payload = (const uint8_t *)"dddddddddddddd",
                                    .payload_len = 14 };
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_LLC, pdu_octets, sizeof pdu_octets, &len), LEAT_ERR_OK);
    OK(len == 24 && memcmp(pdu_octets, bridged, sizeof bridged) == 0);
    pdu.oui = 0, pdu.type = 0;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_VC_BRIDGED, pdu_octets, 16, &len), LEAT_ERR_OK);
    OK(len == 16 && memcmp(pdu_octets, "\0\0dddddddddddddd", 16) == 0);
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_VC_ROUTED, pdu_octets, 14, &len), LEAT_ERR_OK);
    OK(len == 14 && pdu_octets[0] == 'd');
}

/* The property of every CRC of this kind: over a frame with its FCS it is a constant. */
static void the_fcs_is_that_of_ethernet(void)
{
    const struct leat_atm_ip_pdu pdu = { .payload = random_octets, .payload_len = 60 };
    size_t len = 0;
    for (size_t i = 0; i < sizeof random_octets; i++)
        random_octets[i] = (uint8_t)(i * 7);
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_VC_BRIDGED_FCS, pdu_octets, sizeof pdu_octets, &len),
       LEAT_ERR_OK);
    EQ(len, 66);
    EQ(leat_crc32(0, pdu_octets + 2, 64), 0x2144df1c);
}

static void every_flipped_bit_of_a_frame_with_fcs_is_found(void)
{
    const struct leat_atm_ip_pdu pdu = { .oui = LEAT_ATM_IP_OUI_BRIDGED,
                                         .type = LEAT_ATM_IP_BRIDGED_FCS,
                                         .payload = random_octets,
                                         .payload_len = 60 };
    struct leat_atm_ip_pdu back;
    size_t len = 0, at = 99;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_LLC, pdu_octets, sizeof pdu_octets, &len), LEAT_ERR_OK);
    EQ(len, 74);
    for (size_t bit = 80; bit < 8 * len; bit++) {
        pdu_octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
        EQ(try(pdu_octets, len, LEAT_ATM_IP_LLC, &back, &at), LEAT_ERR_CHECKSUM);
        EQ(at, 70);
        pdu_octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    EQ(try(pdu_octets, len, LEAT_ATM_IP_LLC, &back, &at), LEAT_ERR_OK);
}

static void random_payloads_survive_in_every_encapsulation(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 10; i++) {
        const enum leat_atm_ip_mux mux = (enum leat_atm_ip_mux)leat_random_below(&r, 4);
        struct leat_atm_ip_pdu pdu = { .payload = random_octets }, back;
        if (mux == LEAT_ATM_IP_LLC) {
            const bool is_bridged = leat_random_below(&r, 2);
            pdu.oui = is_bridged ? LEAT_ATM_IP_OUI_BRIDGED
                                 : (uint32_t)leat_random_below(&r, 1 << 24);
            pdu.type = (uint16_t)leat_random_below(&r, is_bridged ? 9 : 1 << 16);
        }
        pdu.payload_len = 60 + leat_random_below(&r, sizeof random_octets - 60);
        leat_random_fill(&r, random_octets, pdu.payload_len);
        size_t len = 0;
        EQ(leat_atm_ip_encode(&pdu, mux, pdu_octets, sizeof pdu_octets, &len), LEAT_ERR_OK);
        EQ(try(pdu_octets, len, mux, &back, NULL), LEAT_ERR_OK);
        OK(back.oui == pdu.oui && back.type == pdu.type && back.payload_len == pdu.payload_len);
        OK(memcmp(back.payload, random_octets, pdu.payload_len) == 0);
        const unsigned bridged = leat_atm_ip_bridged(mux, pdu.oui, pdu.type);
        EQ(len, pdu.payload_len + (mux == LEAT_ATM_IP_LLC ? 8u : 0u) + (bridged ? 2u : 0u) +
                    (bridged == 2 ? 4u : 0u));
    }
}

static void what_does_not_fit_is_refused_and_nothing_is_written(void)
{
    static uint8_t big[65600];
    struct leat_atm_ip_pdu pdu = { .payload = big, .payload_len = 65527 };
    static uint8_t out[65600];
    size_t len = 7;
    memset(out, 0xee, sizeof out);
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_LLC, out, 65534, &len), LEAT_ERR_SPACE);
    pdu.payload_len = 65528;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_LLC, out, sizeof out, &len), LEAT_ERR_LENGTH);
    pdu.payload_len = 0;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_VC_ROUTED, out, sizeof out, &len), LEAT_ERR_LENGTH);
    pdu.payload_len = 13;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_VC_BRIDGED, out, sizeof out, &len), LEAT_ERR_LENGTH);
    pdu.payload_len = 59;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_VC_BRIDGED_FCS, out, sizeof out, &len),
       LEAT_ERR_LENGTH);
    pdu.oui = 1 << 24;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_LLC, out, sizeof out, &len), LEAT_ERR_RANGE);
    pdu.oui = 1;
    EQ(leat_atm_ip_encode(&pdu, LEAT_ATM_IP_VC_ROUTED, out, sizeof out, &len), LEAT_ERR_FIELD);
    EQ(len, 7);
    for (size_t i = 0; i < sizeof out; i++)
        if (out[i] != 0xee) {
            OK(!"untouched");
            break;
        }
    size_t at = 0;
    EQ(try(big, 65536, LEAT_ATM_IP_VC_ROUTED, &pdu, &at), LEAT_ERR_LENGTH);
    EQ(at, 65535);
}

TAP_MAIN(T(headers_are_laid_out_as_the_rfc_says), T(the_fcs_is_that_of_ethernet),
         T(every_flipped_bit_of_a_frame_with_fcs_is_found),
         T(random_payloads_survive_in_every_encapsulation),
         T(what_does_not_fit_is_refused_and_nothing_is_written))
