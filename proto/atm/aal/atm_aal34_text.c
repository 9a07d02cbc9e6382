#include "atm_aal34.h"
#include "atm_seal.h"
#include "atm_text.h"
#include <string.h>

enum { MID_AT = 0, SEGMENT_AT = 2, LI_CRC_AT = 46 }; /* in the SAR-PDU */
enum { MID_BITS = 9 };

static const struct leat_name st_names[] = {
    { LEAT_ATM_AAL34_COM, "COM" },
    { LEAT_ATM_AAL34_EOM, "EOM" },
    { LEAT_ATM_AAL34_BOM, "BOM" },
    { LEAT_ATM_AAL34_SSM, "SSM" },
    { 0, NULL },
};

/* The CPCS-PDU that an SSM holds. Its buffer need not be larger than its payload: BASize. */
static void walk_cpcs(struct leat_fields *f, struct leat_atm_aal34_cpcs *c)
{
    const size_t at = SEGMENT_AT, payload_at = at + LEAT_ATM_AAL34_CPCS_HEADER_LEN;
    const size_t payload_len_max = LEAT_ATM_AAL34_SEGMENT_LEN - LEAT_ATM_AAL34_CPCS_HEADER_LEN -
                                   LEAT_ATM_AAL34_CPCS_TRAILER_LEN;
    const bool sized = leat_fields_has(f, "baSize");

    c->cpi = (uint8_t)leat_fields_uint(f, "cpi", at, 8, c->cpi);
    c->btag = (uint8_t)leat_fields_uint(f, "btag", at + 1, 8, c->btag);
    if (sized) c->basize = (uint16_t)leat_fields_uint(f, "baSize", at + 2, 16, c->basize);
    leat_fields_octets(f, "payload", payload_at, payload_len_max, &c->payload, &c->payload_len);
    if (!sized) c->basize = (uint16_t)c->payload_len;
    if (c->basize < c->payload_len)
        leat_fields_refuse(f, LEAT_ERR_RANGE, "baSize", "expected at least the payload's length");

    const size_t trailer_at = payload_at + (c->payload_len + 3) / 4 * 4;
    leat_fields_fixed(f, "al", trailer_at, 8, 0);
    leat_fields_fixed(f, "etag", trailer_at + 1, 8, c->btag);
    leat_fields_derived(f, "length", trailer_at + 2, 16, c->payload_len);
}

static bool same_meaning(const struct leat_atm_aal34_cpcs *a, const struct leat_atm_aal34_cpcs *b)
{
    return a->cpi == b->cpi && a->btag == b->btag && a->basize == b->basize &&
           a->payload_len == b->payload_len &&
           (a->payload_len == 0 || memcmp(a->payload, b->payload, a->payload_len) == 0);
}

/* Reading an SSM: its payload is the user's, or the encoded CPCS-PDU. */
static void settle_ssm(struct leat_fields *f, struct leat_atm_aal34_sar *sar, bool payload_given,
                       const struct leat_atm_aal34_cpcs *cpcs, bool cpcs_given)
{
    struct leat_atm_aal34_cpcs held;
    size_t len = 0;
    if (f->err) return;
    if (!payload_given) {
        if (leat_atm_aal34_cpcs_encode(cpcs, sar->payload, sizeof sar->payload, &len))
            leat_fields_refuse(f, LEAT_ERR_LENGTH, "cpcs", "does not fit in one SAR-PDU");
        sar->li = (uint8_t)len;
    } else if (cpcs_given && (leat_atm_aal34_cpcs_decode(sar->payload, sar->li, &held, NULL) ||
                              !same_meaning(&held, cpcs))) {
        leat_fields_refuse(f, LEAT_ERR_FIELD, "cpcs", "contradicts payload, expected one of them");
    }
}

static void walk_ssm(struct leat_fields *f, struct leat_atm_aal34_sar *sar, bool payload_given)
{
    struct leat_atm_aal34_cpcs cpcs = { .payload = sar->payload };
    const bool reading = leat_fields_reading(f);
    if (!reading && leat_atm_aal34_cpcs_decode(sar->payload, sar->li, &cpcs, NULL)) return;
    const bool open = leat_fields_open(f, "cpcs", SEGMENT_AT);
    if (open) {
        walk_cpcs(f, &cpcs);
        leat_fields_close(f);
    }
    if (reading) settle_ssm(f, sar, payload_given, &cpcs, open);
}

static void walk_payload(struct leat_fields *f, struct leat_atm_aal34_sar *sar)
{
    const bool given = leat_fields_has(f, "payload");
    const uint8_t *octets = sar->payload;
    size_t len = sar->li;
    leat_fields_octets(f, "payload", SEGMENT_AT, sizeof sar->payload, &octets, &len);
    if (octets != sar->payload) memcpy(sar->payload, octets, len);
    sar->li = (uint8_t)len;
    if (sar->st == LEAT_ATM_AAL34_SSM) walk_ssm(f, sar, given);
}

/* LI follows from the payload; only an abort has a LI of its own, and no payload. */
static void walk(struct leat_fields *f, struct leat_atm_aal34_sar *sar, unsigned crc)
{
    uint64_t p = leat_atm_aal34_p(sar->mid10), mid = leat_atm_aal34_mid(sar->mid10);
    bool aborts = sar->li == LEAT_ATM_AAL34_LI_ABORT;

    sar->st = (enum leat_atm_aal34_st)leat_fields_enum(f, "st", 0, 2, st_names, sar->st);
    sar->sn = (uint8_t)leat_fields_uint(f, "sn", 0, 4, sar->sn);
    p = leat_fields_uint(f, "p", MID_AT, 1, p);
    mid = leat_fields_uint(f, "mid", MID_AT, MID_BITS, mid);
    sar->mid10 = (uint16_t)(p << MID_BITS | mid);
    if (sar->st == LEAT_ATM_AAL34_EOM) aborts = leat_fields_flag(f, "abort", LI_CRC_AT, aborts);
    if (aborts)
        sar->li = LEAT_ATM_AAL34_LI_ABORT;
    else
        walk_payload(f, sar);
    leat_fields_derived(f, "li", LI_CRC_AT, 6, sar->li);
    leat_fields_checksum(f, "crc", LI_CRC_AT, 10, crc);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_aal34_sar sar;
    const leat_err err = leat_atm_aal34_sar_decode(octets, len, &sar, fault_at);
    if (err == LEAT_ERR_OK) walk(f, &sar, leat_atm_payload_crc(octets));
    return err;
}

/* No fields: an SSM with an empty CPCS-PDU. Any other ST: 44 octets of 0. */
static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_atm_aal34_sar sar = { .st = LEAT_ATM_AAL34_SSM, .li = LEAT_ATM_AAL34_SEGMENT_LEN };
    walk(f, &sar, 0);
    if (f->err) return f->err;
    const leat_err err = leat_atm_aal34_sar_encode(&sar, octets, cap);
    if (err == LEAT_ERR_LENGTH)
        leat_fields_refuse(f, err, "payload",
                           "expected 44 octets in BOM and COM, 4 to 44 in EOM, 8 to 44 in SSM");
    if (err == LEAT_ERR_OK) *len = LEAT_ATM_AAL34_SAR_LEN;
    return err;
}

const struct leat_format leat_aal34_format = {
    .name = "aal34",
    .in_cells = true,
    .summary = "AAL3/4 SAR-PDU: messages that share a channel, 48 octets of a cell",
    .unit_len = LEAT_ATM_AAL34_SAR_LEN,
    .show = show,
    .build = build,
};
