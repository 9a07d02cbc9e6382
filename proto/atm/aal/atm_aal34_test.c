#include "atm_aal34.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { SAR = LEAT_ATM_AAL34_SAR_LEN, SEGMENT = LEAT_ATM_AAL34_SEGMENT_LEN };

/* ---- a plain model: a string of bits, divided by long division ------------------------------ */

struct bits {
    unsigned char bit[8 * SAR];
    size_t count;
};

static void put(struct bits *b, unsigned value, int width)
{
    while (width-- > 0)
        b->bit[b->count++] = value >> width & 1;
}

/* The remainder of the bits, ten zeros appended, by x^10+x^9+x^5+x^4+x+1. */
static unsigned remainder_of(const struct bits *b)
{
    unsigned reg = 0;
    for (size_t i = 0; i < b->count + 10; i++) {
        reg = reg << 1 | (i < b->count ? b->bit[i] : 0);
        if (reg & 0x400) reg ^= 0x633;
    }
    return reg;
}

static void model_sar(unsigned st, unsigned sn, unsigned mid10, const uint8_t *payload, unsigned li,
                      uint8_t out[SAR])
{
    struct bits b = { .count = 0 };
    put(&b, st, 2);
    put(&b, sn, 4);
    put(&b, mid10, 10);
    for (unsigned i = 0; i < SEGMENT; i++)
        put(&b, li <= SEGMENT && i < li ? payload[i] : 0, 8);
    put(&b, li, 6);
    put(&b, remainder_of(&b), 10);
    memset(out, 0, SAR);
    for (size_t i = 0; i < b.count; i++)
        out[i / 8] = (uint8_t)(out[i / 8] | b.bit[i] << (7 - i % 8));
}

static struct leat_atm_aal34_sar random_sar(struct leat_random *r)
{
    struct leat_atm_aal34_sar sar = { .li = SEGMENT };
    sar.st = (enum leat_atm_aal34_st)leat_random_below(r, 4);
    sar.sn = (uint8_t)leat_random_below(r, 16);
    sar.mid10 = (uint16_t)leat_random_below(r, 1024);
    if (sar.st == LEAT_ATM_AAL34_EOM) sar.li = (uint8_t)(4 + leat_random_below(r, 42));
    if (sar.st == LEAT_ATM_AAL34_SSM) sar.li = (uint8_t)(8 + leat_random_below(r, 37));
    if (sar.li == 45)
        sar.li = LEAT_ATM_AAL34_LI_ABORT;
    else
        leat_random_fill(r, sar.payload, sar.li);
    return sar;
}

static int same_sar(const struct leat_atm_aal34_sar *a, const struct leat_atm_aal34_sar *b)
{
    return a->st == b->st && a->sn == b->sn && a->mid10 == b->mid10 && a->li == b->li &&
           memcmp(a->payload, b->payload, SEGMENT) == 0;
}

/* ---- the note's vectors --------------------------------------------------------------------- */

struct vector {
    uint8_t octets[SAR];
    struct leat_atm_aal34_sar sar;
};

/* Note 2.3, in its order. */
static void make_vectors(struct vector v[3])
{
    memset(v, 0, 3 * sizeof *v);
    memcpy(v[0].octets, "\xc0\x00", 2);
    memcpy(v[0].octets + 46, "\xb3\xe9", 2);
    v[0].sar = (struct leat_atm_aal34_sar){ .st = LEAT_ATM_AAL34_SSM, .li = 44 };

    memcpy(v[1].octets, "\x95\x2a", 2);
    memcpy(v[1].octets + 46, "\xb0\x1f", 2);
    v[1].sar =
        (struct leat_atm_aal34_sar){ .st = LEAT_ATM_AAL34_BOM, .sn = 5, .mid10 = 0x12a, .li = 44 };
    for (uint8_t i = 0; i < SEGMENT; i++)
        v[1].octets[2 + i] = v[1].sar.payload[i] = (uint8_t)(i + 1);

    memcpy(v[2].octets,
           "\xc0\x01\x00\x01\x00\x08"
           "ABCDEFGH"
           "\x00\x01\x00\x08",
           18);
    memcpy(v[2].octets + 46, "\x41\x33", 2);
    v[2].sar = (struct leat_atm_aal34_sar){ .st = LEAT_ATM_AAL34_SSM, .mid10 = 1, .li = 16 };
    memcpy(v[2].sar.payload, v[2].octets + 2, 16);
}

static void vectors_of_the_note_encode_and_decode(void)
{
    struct vector v[3];
    make_vectors(v);
    for (int i = 0; i < 3; i++) {
        uint8_t octets[SAR];
        struct leat_atm_aal34_sar sar;
        EQ(leat_atm_aal34_sar_encode(&v[i].sar, octets, sizeof octets), LEAT_ERR_OK);
        OK(memcmp(octets, v[i].octets, SAR) == 0);
        EQ(leat_atm_aal34_sar_decode(v[i].octets, SAR, &sar, NULL), LEAT_ERR_OK);
        OK(same_sar(&sar, &v[i].sar));
    }
}

static void the_single_segment_of_the_note_holds_its_cpcs_pdu(void)
{
    struct vector v[3];
    struct leat_atm_aal34_cpcs cpcs;
    uint8_t octets[16];
    size_t len = 0;
    make_vectors(v);
    EQ(leat_atm_aal34_cpcs_decode(v[2].sar.payload, v[2].sar.li, &cpcs, NULL), LEAT_ERR_OK);
    EQ(cpcs.cpi, 0);
    EQ(cpcs.btag, 1);
    EQ(cpcs.basize, 8);
    EQ(cpcs.payload_len, 8);
    OK(memcmp(cpcs.payload, "ABCDEFGH", 8) == 0);
    EQ(leat_atm_aal34_cpcs_encode(&cpcs, octets, sizeof octets, &len), LEAT_ERR_OK);
    EQ(len, 16);
    OK(memcmp(octets, v[2].sar.payload, 16) == 0);
}

static void p_is_the_highest_bit_of_the_ten_and_mid_the_other_nine(void)
{
    EQ(leat_atm_aal34_p(0x12a), 0);
    EQ(leat_atm_aal34_mid(0x12a), 0x12a);
    EQ(leat_atm_aal34_p(0x32a), 1);
    EQ(leat_atm_aal34_mid(0x32a), 0x12a);
    EQ(leat_atm_aal34_mid(0x3ff), 0x1ff);
}

/* ---- bad SAR-PDUs --------------------------------------------------------------------------- */

/* Every refusal leaves the output untouched and gives the offset. */
static void refused(const uint8_t *octets, size_t len, leat_err err, size_t at)
{
    struct leat_atm_aal34_sar sar, before;
    size_t fault_at = 999;
    memset(&sar, 0xa5, sizeof sar);
    memcpy(&before, &sar, sizeof sar);
    EQ(leat_atm_aal34_sar_decode(octets, len, &sar, &fault_at), err);
    EQ(fault_at, at);
    OK(memcmp(&sar, &before, sizeof sar) == 0);
}

static void every_other_length_is_refused(void)
{
    struct vector v[3];
    uint8_t longer[SAR + 1] = { 0 };
    make_vectors(v);
    for (int i = 0; i < 3; i++) {
        for (size_t len = 0; len < SAR; len++)
            refused(v[i].octets, len, LEAT_ERR_SHORT, len);
        memcpy(longer, v[i].octets, SAR);
        refused(longer, SAR + 1, LEAT_ERR_LENGTH, SAR);
    }
}

static void every_single_bit_flip_is_seen(void)
{
    struct vector v[3];
    make_vectors(v);
    for (int i = 0; i < 3; i++) {
        for (unsigned bit = 0; bit < 8 * SAR; bit++) {
            v[i].octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
            refused(v[i].octets, SAR, LEAT_ERR_CHECKSUM, 46);
            v[i].octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

/* Note 2.3: LI 44 for BOM and COM, 4..44 EOM, 8..44 SSM, 63 = abort (EOM only). */
static int li_allowed(unsigned st, unsigned li)
{
    if (st == LEAT_ATM_AAL34_BOM || st == LEAT_ATM_AAL34_COM) return li == 44;
    if (st == LEAT_ATM_AAL34_EOM) return (li >= 4 && li <= 44) || li == 63;
    return li >= 8 && li <= 44;
}

static void li_must_suit_the_segment_type_in_both_directions(void)
{
    uint8_t payload[SEGMENT], octets[SAR], back[SAR];
    memset(payload, 0x5a, sizeof payload);
    for (unsigned st = 0; st < 4; st++) {
        for (unsigned li = 0; li < 64; li++) {
            struct leat_atm_aal34_sar sar = { .st = (enum leat_atm_aal34_st)st, .li = (uint8_t)li };
            memcpy(sar.payload, payload, SEGMENT);
            memset(back, 0xa5, SAR);
            model_sar(st, 0, 0, payload, li, octets);
            if (li_allowed(st, li)) {
                EQ(leat_atm_aal34_sar_encode(&sar, back, SAR), LEAT_ERR_OK);
                OK(memcmp(octets, back, SAR) == 0);
                EQ(leat_atm_aal34_sar_decode(octets, SAR, &sar, NULL), LEAT_ERR_OK);
                EQ(sar.li, li);
            } else {
                EQ(leat_atm_aal34_sar_encode(&sar, back, SAR), LEAT_ERR_LENGTH);
                EQ(back[0], 0xa5);
                refused(octets, SAR, LEAT_ERR_LENGTH, 46);
            }
        }
    }
}

static void what_does_not_fit_is_not_encoded(void)
{
    const struct leat_atm_aal34_sar good = { .st = LEAT_ATM_AAL34_COM, .li = 44 };
    struct leat_atm_aal34_sar sar = good;
    uint8_t octets[SAR], before[SAR];
    memset(octets, 0xa5, SAR);
    memcpy(before, octets, SAR);
    EQ(leat_atm_aal34_sar_encode(&sar, octets, SAR - 1), LEAT_ERR_SPACE);
    sar.sn = 16;
    EQ(leat_atm_aal34_sar_encode(&sar, octets, SAR), LEAT_ERR_RANGE);
    sar = good;
    sar.mid10 = 1024;
    EQ(leat_atm_aal34_sar_encode(&sar, octets, SAR), LEAT_ERR_RANGE);
    sar = good;
    sar.st = (enum leat_atm_aal34_st)4;
    EQ(leat_atm_aal34_sar_encode(&sar, octets, SAR), LEAT_ERR_RANGE);
    OK(memcmp(octets, before, SAR) == 0);
}

/* Octets beyond LI are unused: a sender may leave anything there. */
static void unused_octets_are_no_part_of_the_meaning(void)
{
    struct vector v[3];
    struct leat_atm_aal34_sar sar, again;
    uint8_t octets[SAR], dirty[SAR];
    make_vectors(v);
    struct bits b = { .count = 0 };
    memcpy(dirty, v[2].octets, SAR);
    dirty[2 + 16] = 0x77;
    dirty[45] = 0x88;
    for (int i = 0; i < 46; i++)
        put(&b, dirty[i], 8);
    put(&b, 16, 6);
    const unsigned crc = remainder_of(&b);
    dirty[46] = (uint8_t)(16 << 2 | crc >> 8);
    dirty[47] = (uint8_t)crc;
    EQ(leat_atm_aal34_sar_decode(dirty, SAR, &sar, NULL), LEAT_ERR_OK);
    OK(same_sar(&sar, &v[2].sar));
    EQ(leat_atm_aal34_sar_encode(&sar, octets, SAR), LEAT_ERR_OK);
    OK(memcmp(octets, v[2].octets, SAR) == 0);
    EQ(leat_atm_aal34_sar_decode(octets, SAR, &again, NULL), LEAT_ERR_OK);
    OK(same_sar(&sar, &again));
}

/* ---- campaigns ------------------------------------------------------------------------------ */

static void random_sar_pdus_survive_the_wire_and_equal_the_model(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        const struct leat_atm_aal34_sar sar = random_sar(&r);
        struct leat_atm_aal34_sar back;
        uint8_t octets[SAR], again[SAR];
        OK(leat_atm_aal34_sar_encode(&sar, octets, SAR) == LEAT_ERR_OK);
        OK(leat_atm_aal34_sar_decode(octets, SAR, &back, NULL) == LEAT_ERR_OK);
        OK(same_sar(&sar, &back));
        OK(leat_atm_aal34_sar_encode(&back, again, SAR) == LEAT_ERR_OK);
        OK(memcmp(octets, again, SAR) == 0);
        if (round % 64 == 0) { /* the model is slow */
            model_sar(sar.st, sar.sn, sar.mid10, sar.payload, sar.li, again);
            OK(memcmp(octets, again, SAR) == 0);
        }
        if (tap_checks_failed > 9) return;
    }
}

/* Ten bits let one in 1024 pass; whatever passes must encode to the same octets, except for PAD. */
static void random_octets_never_harm_and_what_passes_keeps_its_meaning(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t octets[SAR], back[SAR];
        struct leat_atm_aal34_sar sar, again;
        leat_random_fill(&r, octets, SAR);
        if (leat_atm_aal34_sar_decode(octets, SAR, &sar, NULL)) continue;
        OK(leat_atm_aal34_sar_encode(&sar, back, SAR) == LEAT_ERR_OK);
        OK(leat_atm_aal34_sar_decode(back, SAR, &again, NULL) == LEAT_ERR_OK);
        OK(same_sar(&sar, &again));
    }
}

/* ---- CPCS-PDU ------------------------------------------------------------------------------- */

static void refused_cpcs(const uint8_t *octets, size_t len, leat_err err, size_t at)
{
    struct leat_atm_aal34_cpcs cpcs, before;
    size_t fault_at = 999;
    memset(&cpcs, 0xa5, sizeof cpcs);
    memcpy(&before, &cpcs, sizeof cpcs);
    EQ(leat_atm_aal34_cpcs_decode(octets, len, &cpcs, &fault_at), err);
    EQ(fault_at, at);
    OK(memcmp(&cpcs, &before, sizeof cpcs) == 0);
}

/* CPI 0, tag 7, BASize 9, payload 01..05, PAD 3. */
static const uint8_t five[16] = { 0, 7, 0, 9, 1, 2, 3, 4, 5, 0, 0, 0, 0, 7, 0, 5 };

static void a_cpcs_pdu_is_padded_to_a_multiple_of_four(void)
{
    static const size_t padded[] = { 8, 12, 12, 12, 12, 16, 16, 16, 16, 20 };
    uint8_t octets[24];
    size_t len = 0;
    for (size_t n = 0; n < sizeof padded / sizeof *padded; n++) {
        const struct leat_atm_aal34_cpcs cpcs = { .payload = five,
                                                  .payload_len = n,
                                                  .basize = (uint16_t)n };
        EQ(leat_atm_aal34_cpcs_encode(&cpcs, octets, sizeof octets, &len), LEAT_ERR_OK);
        EQ(len, padded[n]);
        EQ(leat_atm_aal34_cpcs_encode(&cpcs, octets, padded[n] - 1, &len), LEAT_ERR_SPACE);
    }
    const struct leat_atm_aal34_cpcs cpcs = { 0, 7, 9, five + 4, 5 };
    EQ(leat_atm_aal34_cpcs_encode(&cpcs, octets, sizeof octets, &len), LEAT_ERR_OK);
    OK(len == sizeof five && memcmp(octets, five, sizeof five) == 0);
}

static void each_rule_of_the_cpcs_pdu_has_its_refusal(void)
{
    uint8_t octets[16];
    struct leat_atm_aal34_cpcs cpcs;
    EQ(leat_atm_aal34_cpcs_decode(five, 16, &cpcs, NULL), LEAT_ERR_OK);
    EQ(cpcs.payload_len, 5);
    OK(cpcs.payload == five + 4);
    for (size_t len = 0; len < 16; len++)
        if (len < 8)
            refused_cpcs(five, len, LEAT_ERR_SHORT, len);
        else if (len % 4)
            refused_cpcs(five, len, LEAT_ERR_LENGTH, len);
    memcpy(octets, five, 16);
    octets[12] = 1;
    refused_cpcs(octets, 16, LEAT_ERR_RESERVED, 12);
    memcpy(octets, five, 16);
    octets[13] = 8;
    refused_cpcs(octets, 16, LEAT_ERR_FIELD, 13);
    memcpy(octets, five, 16);
    octets[1] = 8;
    refused_cpcs(octets, 16, LEAT_ERR_FIELD, 13);
    for (unsigned length = 0; length < 70000; length = length < 20 ? length + 1 : length * 2) {
        memcpy(octets, five, 16);
        octets[2] = octets[3] = 0xff;
        octets[14] = (uint8_t)(length >> 8);
        octets[15] = (uint8_t)length;
        if (length < 5 || length > 8)
            refused_cpcs(octets, 16, LEAT_ERR_LENGTH, 14);
        else
            EQ(leat_atm_aal34_cpcs_decode(octets, 16, &cpcs, NULL), LEAT_ERR_OK);
    }
    memcpy(octets, five, 16);
    octets[3] = 4;
    refused_cpcs(octets, 16, LEAT_ERR_RANGE, 2);
}

static void the_longest_payload_fits_and_no_longer_one(void)
{
    static uint8_t payload[65536], octets[LEAT_ATM_AAL34_CPCS_LEN_MAX + 4];
    struct leat_atm_aal34_cpcs cpcs = { 0, 1, 65535, payload, 65535 };
    size_t len = 0;
    EQ(leat_atm_aal34_cpcs_encode(&cpcs, octets, sizeof octets, &len), LEAT_ERR_OK);
    EQ(len, LEAT_ATM_AAL34_CPCS_LEN_MAX);
    EQ(leat_atm_aal34_cpcs_decode(octets, len, &cpcs, NULL), LEAT_ERR_OK);
    EQ(cpcs.payload_len, LEAT_ATM_AAL34_PAYLOAD_LEN_MAX);
    refused_cpcs(octets, len + 4, LEAT_ERR_LENGTH, len + 4);
    cpcs.payload_len = 65536;
    EQ(leat_atm_aal34_cpcs_encode(&cpcs, octets, sizeof octets, &len), LEAT_ERR_RANGE);
    cpcs.payload_len = 9;
    cpcs.basize = 8;
    EQ(leat_atm_aal34_cpcs_encode(&cpcs, octets, sizeof octets, &len), LEAT_ERR_RANGE);
}

static void random_cpcs_pdus_survive_and_random_octets_never_harm(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 2);
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t payload[64], octets[80], back[80];
        struct leat_atm_aal34_cpcs a = { .payload = payload }, b;
        size_t len = 0, len2 = 0;
        leat_random_fill(&r, payload, sizeof payload);
        a.payload_len = leat_random_below(&r, sizeof payload + 1);
        a.basize = (uint16_t)(a.payload_len + leat_random_below(&r, 65536 - a.payload_len));
        a.cpi = (uint8_t)leat_random_next(&r);
        a.btag = (uint8_t)leat_random_next(&r);
        OK(leat_atm_aal34_cpcs_encode(&a, octets, sizeof octets, &len) == LEAT_ERR_OK);
        OK(leat_atm_aal34_cpcs_decode(octets, len, &b, NULL) == LEAT_ERR_OK);
        OK(a.cpi == b.cpi && a.btag == b.btag && a.basize == b.basize &&
           a.payload_len == b.payload_len && memcmp(b.payload, payload, a.payload_len) == 0);
        OK(leat_atm_aal34_cpcs_encode(&b, back, sizeof back, &len2) == LEAT_ERR_OK);
        OK(len == len2 && memcmp(octets, back, len) == 0);

        const size_t at = leat_random_below(&r, len);
        octets[at] ^= (uint8_t)(1u << leat_random_below(&r, 8));
        if (leat_atm_aal34_cpcs_decode(octets, len, &b, NULL) == LEAT_ERR_OK)
            OK(b.payload_len <= len - 8 && b.basize >= b.payload_len);
        if (tap_checks_failed > 9) return;
    }
}

TAP_MAIN(T(vectors_of_the_note_encode_and_decode),
         T(the_single_segment_of_the_note_holds_its_cpcs_pdu),
         T(p_is_the_highest_bit_of_the_ten_and_mid_the_other_nine),
         T(every_other_length_is_refused), T(every_single_bit_flip_is_seen),
         T(li_must_suit_the_segment_type_in_both_directions), T(what_does_not_fit_is_not_encoded),
         T(unused_octets_are_no_part_of_the_meaning),
         T(random_sar_pdus_survive_the_wire_and_equal_the_model),
         T(random_octets_never_harm_and_what_passes_keeps_its_meaning),
         T(a_cpcs_pdu_is_padded_to_a_multiple_of_four),
         T(each_rule_of_the_cpcs_pdu_has_its_refusal),
         T(the_longest_payload_fits_and_no_longer_one),
         T(random_cpcs_pdus_survive_and_random_octets_never_harm))
