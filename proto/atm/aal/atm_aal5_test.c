#include "leat_bytes.h"
#include "tap.h"
#include <leat/atm.h>
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, HEADER = LEAT_ATM_HEADER_LEN, PAYLOAD = LEAT_ATM_PAYLOAD_LEN };
enum { PDU_MAX = 200, GAP = 1000 };

/* ---- a plain model of the CPCS-PDU ---------------------------------------------------------- */

/* CRC-32 of I.363.5 by its definition, bit by bit. */
static uint32_t model_crc(const uint8_t *p, size_t len)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < 8 * len; i++) {
        const uint32_t top = crc >> 31 ^ leat_bit_get(p, i);
        crc = crc << 1 ^ (top ? 0x04c11db7u : 0);
    }
    return ~crc;
}

static size_t model_pdu(unsigned uu, unsigned cpi, const uint8_t *payload, size_t len, uint8_t *out)
{
    size_t n = len;
    memcpy(out, payload, len);
    while ((n + 8) % 48)
        out[n++] = 0;
    out[n++] = (uint8_t)uu;
    out[n++] = (uint8_t)cpi;
    out[n++] = (uint8_t)(len >> 8);
    out[n++] = (uint8_t)len;
    const uint32_t crc = model_crc(out, n);
    for (int shift = 24; shift >= 0; shift -= 8)
        out[n++] = (uint8_t)(crc >> shift);
    return n;
}

/* ---- the note's vectors --------------------------------------------------------------------- */

struct vector {
    uint8_t payload[41];
    size_t payload_len, pdu_len;
    uint32_t crc;
};

static void make_vectors(struct vector v[4])
{
    memset(v, 0, 4 * sizeof *v);
    for (int i = 0; i < 4; i++) {
        v[i].payload_len = 40;
        v[i].pdu_len = 48;
    }
    v[0].crc = 0x864d7f99;
    memset(v[1].payload, 0xff, 40);
    v[1].crc = 0xc55e457a;
    for (uint8_t i = 0; i < 41; i++)
        v[2].payload[i] = v[3].payload[i] = (uint8_t)(i + 1);
    v[2].crc = 0xbf671ed0;
    v[3].payload_len = 41;
    v[3].pdu_len = 96;
    v[3].crc = 0xb14ca47e;
}

static size_t encode(const struct vector *v, uint8_t *out)
{
    const struct leat_atm_aal5_pdu pdu = { 0, 0, v->payload, v->payload_len };
    size_t len = 0;
    EQ(leat_atm_aal5_pdu_encode(&pdu, out, 96, &len), LEAT_ERR_OK);
    return len;
}

static void vectors_of_the_note_encode_and_decode(void)
{
    struct vector v[4];
    make_vectors(v);
    for (int i = 0; i < 4; i++) {
        uint8_t octets[96], want[96];
        struct leat_atm_aal5_pdu pdu;
        EQ(encode(&v[i], octets), v[i].pdu_len);
        EQ(leat_get_be32(octets + v[i].pdu_len - 4), v[i].crc);
        EQ(model_pdu(0, 0, v[i].payload, v[i].payload_len, want), v[i].pdu_len);
        OK(memcmp(octets, want, v[i].pdu_len) == 0);
        EQ(leat_atm_aal5_pdu_decode(octets, v[i].pdu_len, &pdu, NULL), LEAT_ERR_OK);
        EQ(pdu.uu, 0);
        EQ(pdu.cpi, 0);
        EQ(pdu.payload_len, v[i].payload_len);
        OK(pdu.payload == octets && memcmp(pdu.payload, v[i].payload, v[i].payload_len) == 0);
        /* the register over a good PDU, before the complement */
        EQ((uint32_t)~model_crc(octets, v[i].pdu_len), 0xc704dd7b);
    }
}

/* ---- bad CPCS-PDUs -------------------------------------------------------------------------- */

static void refused(const uint8_t *octets, size_t len, leat_err err, size_t at)
{
    struct leat_atm_aal5_pdu pdu, before;
    size_t fault_at = 999999;
    memset(&pdu, 0xa5, sizeof pdu);
    memcpy(&before, &pdu, sizeof pdu);
    EQ(leat_atm_aal5_pdu_decode(octets, len, &pdu, &fault_at), err);
    EQ(fault_at, at);
    OK(memcmp(&pdu, &before, sizeof pdu) == 0);
}

static void every_truncation_is_refused(void)
{
    struct vector v[4];
    make_vectors(v);
    for (int i = 0; i < 4; i++) {
        uint8_t octets[97] = { 0 };
        const size_t len = encode(&v[i], octets);
        for (size_t cut = 0; cut < len; cut++) {
            if (cut < 48)
                refused(octets, cut, LEAT_ERR_SHORT, cut);
            else if (cut > 48)
                refused(octets, cut, LEAT_ERR_LENGTH, cut);
            else
                refused(octets, cut, LEAT_ERR_CHECKSUM, 44);
        }
        refused(octets, len + 1, LEAT_ERR_LENGTH, len + 1);
    }
}

static void every_single_bit_flip_is_seen(void)
{
    struct vector v[4];
    make_vectors(v);
    for (int i = 0; i < 4; i++) {
        uint8_t octets[96];
        const size_t len = encode(&v[i], octets);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
            refused(octets, len, LEAT_ERR_CHECKSUM, len - 4);
            octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

/* PAD is 0..47 octets: with two cells Length is 41..88. */
static void length_must_agree_within_one_cell(void)
{
    uint8_t octets[96] = { 0 };
    struct leat_atm_aal5_pdu pdu;
    for (unsigned length = 0; length <= 65535; length++) {
        if (length > 300 && length < 65000) continue;
        leat_put_be16(octets + 90, (uint16_t)length);
        leat_put_be32(octets + 92, model_crc(octets, 92));
        if (length < 41 || length > 88) {
            refused(octets, 96, LEAT_ERR_LENGTH, 90);
        } else {
            EQ(leat_atm_aal5_pdu_decode(octets, 96, &pdu, NULL), LEAT_ERR_OK);
            EQ(pdu.payload_len, length);
        }
    }
}

static void pad_is_covered_but_has_no_meaning(void)
{
    uint8_t octets[96], back[96];
    struct leat_atm_aal5_pdu pdu, again;
    size_t len = 0;
    const struct leat_atm_aal5_pdu empty_pad = { 3, 4, (const uint8_t *)"x", 1 };
    EQ(leat_atm_aal5_pdu_encode(&empty_pad, octets, sizeof octets, &len), LEAT_ERR_OK);
    octets[20] = 0x6a;
    leat_put_be32(octets + 44, model_crc(octets, 44));
    EQ(leat_atm_aal5_pdu_decode(octets, 48, &pdu, NULL), LEAT_ERR_OK);
    EQ(leat_atm_aal5_pdu_encode(&pdu, back, sizeof back, &len), LEAT_ERR_OK);
    EQ(back[20], 0);
    EQ(leat_atm_aal5_pdu_decode(back, 48, &again, NULL), LEAT_ERR_OK);
    OK(again.uu == 3 && again.cpi == 4 && again.payload_len == 1 && again.payload[0] == 'x');
}

static void what_does_not_fit_is_not_encoded(void)
{
    static uint8_t payload[65536], octets[LEAT_ATM_AAL5_PDU_LEN_MAX];
    struct leat_atm_aal5_pdu pdu = { 0, 0, payload, 65535 };
    size_t len = 7;
    memset(octets, 0xa5, sizeof octets);
    EQ(leat_atm_aal5_pdu_encode(&pdu, octets, sizeof octets - 1, &len), LEAT_ERR_SPACE);
    pdu.payload_len = 0;
    EQ(leat_atm_aal5_pdu_encode(&pdu, octets, sizeof octets, &len), LEAT_ERR_RANGE);
    pdu.payload_len = 65536;
    EQ(leat_atm_aal5_pdu_encode(&pdu, octets, sizeof octets, &len), LEAT_ERR_RANGE);
    EQ(len, 7);
    for (size_t i = 0; i < sizeof octets; i += 13)
        EQ(octets[i], 0xa5);
}

static void the_longest_pdu_has_1366_cells(void)
{
    static uint8_t payload[65535], octets[LEAT_ATM_AAL5_PDU_LEN_MAX + 48];
    struct leat_atm_aal5_pdu pdu = { 1, 2, payload, sizeof payload }, back;
    size_t len = 0;
    EQ(leat_atm_aal5_pdu_len(65535), 1366 * 48);
    EQ(leat_atm_aal5_pdu_len(40), 48);
    EQ(leat_atm_aal5_pdu_len(41), 96);
    EQ(leat_atm_aal5_pdu_encode(&pdu, octets, sizeof octets, &len), LEAT_ERR_OK);
    EQ(len, LEAT_ATM_AAL5_PDU_LEN_MAX);
    EQ(leat_atm_aal5_pdu_decode(octets, len, &back, NULL), LEAT_ERR_OK);
    EQ(back.payload_len, 65535);
    refused(octets, len + 48, LEAT_ERR_LENGTH, len + 48);
}

static void random_pdus_survive_the_wire_and_equal_the_model(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t payload[150], octets[192], again[192];
        struct leat_atm_aal5_pdu a = { .payload = payload }, b;
        size_t len = 0, len2 = 0;
        a.payload_len = 1 + leat_random_below(&r, sizeof payload);
        a.uu = (uint8_t)leat_random_next(&r);
        a.cpi = (uint8_t)leat_random_next(&r);
        leat_random_fill(&r, payload, a.payload_len);
        OK(leat_atm_aal5_pdu_encode(&a, octets, sizeof octets, &len) == LEAT_ERR_OK);
        OK(leat_atm_aal5_pdu_decode(octets, len, &b, NULL) == LEAT_ERR_OK);
        OK(a.uu == b.uu && a.cpi == b.cpi && a.payload_len == b.payload_len &&
           memcmp(a.payload, b.payload, a.payload_len) == 0);
        OK(leat_atm_aal5_pdu_encode(&b, again, sizeof again, &len2) == LEAT_ERR_OK);
        OK(len == len2 && memcmp(octets, again, len) == 0);
        if (round % 64 == 0) { /* the model is slow */
            OK(model_pdu(a.uu, a.cpi, payload, a.payload_len, again) == len);
            OK(memcmp(octets, again, len) == 0);
        }
        leat_random_fill(&r, octets, len);
        OK(leat_atm_aal5_pdu_decode(octets, len, &b, NULL) == LEAT_ERR_CHECKSUM);
        if (tap_checks_failed > 9) return;
    }
}

/* ---- segmentation --------------------------------------------------------------------------- */

static const struct leat_atm_cell like = { .interface = LEAT_ATM_UNI, .vpi = 0x12, .vci = 0x3456 };

static struct leat_atm_aal5_sender sender(void)
{
    struct leat_atm_aal5_sender s;
    EQ(leat_atm_aal5_sender_init(&s, &like), LEAT_ERR_OK);
    return s;
}

static void fill(uint8_t *payload, size_t len)
{
    for (size_t i = 0; i < len; i++)
        payload[i] = (uint8_t)(i * 5 + len);
}

static void cells_put_together_are_the_cpcs_pdu(void)
{
    struct leat_atm_aal5_sender s = sender();
    static uint8_t payload[300], want[384];
    for (size_t len = 1; len <= sizeof payload; len++) {
        const struct leat_atm_aal5_pdu pdu = { 7, 8, payload, len };
        const uint8_t *octets;
        uint8_t pt;
        size_t at = 0;
        fill(payload, len);
        const size_t want_len = model_pdu(7, 8, payload, len, want);
        EQ(leat_atm_aal5_sender_begin(&s, &pdu), LEAT_ERR_OK);
        while (leat_atm_aal5_sender_next(&s, &pt, &octets)) {
            OK(at + 48 <= want_len && memcmp(octets, want + at, 48) == 0);
            at += 48;
            EQ(pt, at == want_len);
        }
        EQ(at, want_len);
        OK(!leat_atm_aal5_sender_next(&s, &pt, &octets));
    }
}

/* A burst gives the same cells as one call per cell, for any size, and its headers are correct. */
static void bursts_of_any_size_hold_the_same_cells(void)
{
    struct leat_atm_aal5_sender s = sender();
    static uint8_t payload[6000], want[6048], cells[126 * CELL];
    for (size_t burst = 1; burst < 130; burst += 1 + burst / 8) {
        const struct leat_atm_aal5_pdu pdu = { 7, 8, payload, sizeof payload };
        size_t n = 0, got;
        fill(payload, sizeof payload);
        EQ(model_pdu(7, 8, payload, sizeof payload, want), sizeof want);
        EQ(leat_atm_aal5_sender_begin(&s, &pdu), LEAT_ERR_OK);
        memset(cells, 0xa5, sizeof cells);
        EQ(leat_atm_aal5_sender_cells(&s, cells, 0), 0);
        while ((got = leat_atm_aal5_sender_cells(&s, cells + n * CELL,
                                                 burst < 126 - n ? burst : 126 - n)) > 0)
            n += got;
        EQ(n, 126);
        EQ(leat_atm_aal5_sender_cells(&s, cells, burst), 0);
        for (size_t i = 0; i < n; i++) {
            struct leat_atm_cell c;
            EQ(leat_atm_cell_decode(cells + i * CELL, CELL, LEAT_ATM_UNI, &c, NULL), LEAT_ERR_OK);
            OK(c.vpi == 0x12 && c.vci == 0x3456 && c.pt == (i == 125));
            OK(memcmp(c.payload, want + i * 48, 48) == 0);
        }
    }
}

static void cells_may_be_taken_one_by_one_and_in_bursts_in_turn(void)
{
    struct leat_atm_aal5_sender s = sender();
    static uint8_t payload[1000], want[1008], cells[4 * CELL];
    const struct leat_atm_aal5_pdu pdu = { 1, 2, payload, sizeof payload };
    const uint8_t *octets;
    uint8_t pt;
    size_t at = 0, n;
    fill(payload, sizeof payload);
    EQ(model_pdu(1, 2, payload, sizeof payload, want), sizeof want);
    EQ(leat_atm_aal5_sender_begin(&s, &pdu), LEAT_ERR_OK);
    while (leat_atm_aal5_sender_next(&s, &pt, &octets)) {
        OK(memcmp(octets, want + at, 48) == 0);
        at += 48;
        n = leat_atm_aal5_sender_cells(&s, cells, 4);
        for (size_t i = 0; i < n; i++, at += 48)
            OK(memcmp(cells + i * CELL + HEADER, want + at, 48) == 0);
    }
    EQ(at, sizeof want);
}

static void a_sender_keeps_the_congestion_bit_and_refuses_what_is_no_user_data(void)
{
    struct leat_atm_aal5_sender s;
    struct leat_atm_cell c = like;
    const struct leat_atm_aal5_pdu pdu = { 0, 0, (const uint8_t *)"abc", 3 };
    const uint8_t *octets;
    uint8_t pt = 0, cell[CELL];
    c.pt = LEAT_ATM_PT_EFCI;
    EQ(leat_atm_aal5_sender_init(&s, &c), LEAT_ERR_OK);
    EQ(leat_atm_aal5_sender_begin(&s, &pdu), LEAT_ERR_OK);
    OK(leat_atm_aal5_sender_next(&s, &pt, &octets));
    EQ(pt, 3);
    EQ(leat_atm_aal5_sender_begin(&s, &pdu), LEAT_ERR_OK);
    EQ(leat_atm_aal5_sender_cells(&s, cell, 1), 1);
    EQ(cell[3] >> 1 & 7, 3);
    for (uint8_t bad = 0; bad < 9; bad++) {
        c.pt = bad;
        EQ(leat_atm_aal5_sender_init(&s, &c), bad == 0 || bad == 2 ? LEAT_ERR_OK : LEAT_ERR_RANGE);
    }
    c.pt = 0;
    c.vpi = 256; /* at the UNI */
    EQ(leat_atm_aal5_sender_init(&s, &c), LEAT_ERR_RANGE);
}

static void an_empty_or_overlong_payload_is_not_begun(void)
{
    struct leat_atm_aal5_sender s = sender();
    static uint8_t payload[65536];
    uint8_t cell[CELL];
    EQ(leat_atm_aal5_sender_begin(&s, &(struct leat_atm_aal5_pdu){ 0, 0, payload, 0 }),
       LEAT_ERR_RANGE);
    EQ(leat_atm_aal5_sender_begin(&s, &(struct leat_atm_aal5_pdu){ 0, 0, payload, 65536 }),
       LEAT_ERR_RANGE);
    EQ(leat_atm_aal5_sender_cells(&s, cell, 1), 0);
}

/* ---- reassembly ----------------------------------------------------------------------------- */

static alignas(max_align_t) unsigned char memory[512];
static const struct leat_atm_aal5_config config = { .pdu_len_max = PDU_MAX, .gap_ps_max = GAP };

static struct leat_atm_aal5 *fresh(void)
{
    struct leat_atm_aal5 *a = NULL;
    memset(memory, 0xa5, sizeof memory);
    EQ(leat_atm_aal5_init(memory, sizeof memory, &config, &a), LEAT_ERR_OK);
    return a;
}

static struct leat_atm_aal5_out cell(struct leat_atm_aal5 *a, leat_time now, uint8_t pt,
                                     const uint8_t *payload)
{
    struct leat_atm_aal5_out out;
    leat_atm_aal5_step(a, now, &(struct leat_atm_aal5_in){ LEAT_ATM_AAL5_CELL, pt, payload }, &out);
    return out;
}

static struct leat_atm_aal5_out timer(struct leat_atm_aal5 *a, leat_time now)
{
    struct leat_atm_aal5_out out;
    leat_atm_aal5_step(a, now, &(struct leat_atm_aal5_in){ LEAT_ATM_AAL5_TIMER, 0, NULL }, &out);
    return out;
}

static const uint8_t zeros[PAYLOAD];

static void one_cell_pdu_is_delivered(void)
{
    struct vector v[4];
    uint8_t octets[96];
    make_vectors(v);
    encode(&v[2], octets);
    const struct leat_atm_aal5_out out = cell(fresh(), 0, 1, octets);
    EQ(out.what, LEAT_ATM_AAL5_DELIVER);
    EQ(out.pdu.payload_len, 40);
    OK(memcmp(out.pdu.payload, v[2].payload, 40) == 0);
    OK(out.wake_at == LEAT_NEVER);
}

static void two_cells_with_47_octets_of_pad_are_delivered(void)
{
    struct vector v[4];
    uint8_t octets[96];
    struct leat_atm_aal5 *a = fresh();
    make_vectors(v);
    encode(&v[3], octets);
    EQ(cell(a, 0, 0, octets).what, LEAT_ATM_AAL5_NOTHING);
    const struct leat_atm_aal5_out out = cell(a, 0, 3, octets + 48); /* congestion is ignored */
    EQ(out.what, LEAT_ATM_AAL5_DELIVER);
    EQ(out.pdu.payload_len, 41);
}

static void damage_is_dropped(void)
{
    struct vector v[4];
    uint8_t octets[96];
    struct leat_atm_aal5 *a = fresh();
    make_vectors(v);
    encode(&v[0], octets);
    octets[7] ^= 1;
    const struct leat_atm_aal5_out out = cell(a, 0, 1, octets);
    EQ(out.what, LEAT_ATM_AAL5_DROP);
    EQ(out.reason, LEAT_ATM_AAL5_DROP_CRC);
    octets[7] ^= 1;
    EQ(cell(a, 0, 1, octets).what, LEAT_ATM_AAL5_DELIVER); /* the next one is checked by itself */
}

static void a_length_that_does_not_agree_is_dropped(void)
{
    uint8_t octets[PAYLOAD] = { 0 };
    struct leat_atm_aal5 *a = fresh();
    leat_put_be16(octets + 42, 41);
    leat_put_be32(octets + 44, model_crc(octets, 44));
    const struct leat_atm_aal5_out out = cell(a, 0, 1, octets);
    EQ(out.what, LEAT_ATM_AAL5_DROP);
    EQ(out.reason, LEAT_ATM_AAL5_DROP_LENGTH);
}

static void silence_drops_the_open_pdu_and_only_then(void)
{
    struct leat_atm_aal5 *a = fresh();
    EQ(cell(a, 5, 0, zeros).wake_at, 5 + GAP);
    EQ(timer(a, 4 + GAP).what, LEAT_ATM_AAL5_NOTHING); /* early */
    const struct leat_atm_aal5_out out = timer(a, 5 + GAP);
    EQ(out.what, LEAT_ATM_AAL5_DROP);
    EQ(out.reason, LEAT_ATM_AAL5_DROP_LATE);
    OK(out.wake_at == LEAT_NEVER);
    EQ(timer(a, 6 + GAP).what, LEAT_ATM_AAL5_NOTHING); /* idle again */
}

/* Four cells hold 184 octets, five 232: 200 fit in five, and a sixth is not accepted. */
static void a_pdu_without_end_overflows_once_and_its_rest_is_skipped(void)
{
    struct leat_atm_aal5 *a = fresh();
    struct vector v[4];
    uint8_t octets[96];
    for (leat_time t = 0; t < 5; t++)
        EQ(cell(a, t, 0, zeros).what, LEAT_ATM_AAL5_NOTHING);
    const struct leat_atm_aal5_out out = cell(a, 5, 0, zeros);
    EQ(out.what, LEAT_ATM_AAL5_DROP);
    EQ(out.reason, LEAT_ATM_AAL5_DROP_OVERFLOW);
    OK(out.wake_at == LEAT_NEVER);
    EQ(cell(a, 6, 0, zeros).what, LEAT_ATM_AAL5_NOTHING);
    EQ(timer(a, 6 + 2 * GAP).what, LEAT_ATM_AAL5_NOTHING); /* nothing is open */
    EQ(cell(a, 7 + 2 * GAP, 1, zeros).what, LEAT_ATM_AAL5_NOTHING);
    make_vectors(v);
    encode(&v[0], octets);
    EQ(cell(a, 8 + 2 * GAP, 1, octets).what, LEAT_ATM_AAL5_DELIVER);
}

static void a_pdu_that_ends_just_too_long_overflows_too(void)
{
    static uint8_t payload[240];
    struct leat_atm_aal5 *a = fresh();
    for (size_t len = 1; len <= sizeof payload; len++) {
        struct leat_atm_aal5_sender s = sender();
        const struct leat_atm_aal5_pdu pdu = { 0, 0, payload, len };
        struct leat_atm_aal5_out out = { .what = LEAT_ATM_AAL5_NOTHING };
        const uint8_t *octets;
        uint8_t pt;
        EQ(leat_atm_aal5_sender_begin(&s, &pdu), LEAT_ERR_OK);
        while (leat_atm_aal5_sender_next(&s, &pt, &octets)) {
            EQ(out.what, LEAT_ATM_AAL5_NOTHING);
            out = cell(a, 0, pt, octets);
        }
        EQ(out.what, len <= PDU_MAX ? LEAT_ATM_AAL5_DELIVER : LEAT_ATM_AAL5_DROP);
        if (len > PDU_MAX) EQ(out.reason, LEAT_ATM_AAL5_DROP_OVERFLOW);
    }
}

static void cells_without_user_data_pass_by_unseen(void)
{
    struct leat_atm_aal5 *a = fresh();
    struct vector v[4];
    uint8_t octets[96];
    make_vectors(v);
    encode(&v[3], octets);
    EQ(cell(a, 0, 0, octets).wake_at, GAP);
    for (uint8_t pt = 4; pt < 8; pt++) {
        const struct leat_atm_aal5_out out = cell(a, 10, pt, zeros);
        EQ(out.what, LEAT_ATM_AAL5_NOTHING);
        EQ(out.wake_at, GAP); /* they do not restart the timer either */
    }
    EQ(cell(a, 20, 1, octets + 48).what, LEAT_ATM_AAL5_DELIVER);
}

static void memory_and_configuration_are_checked(void)
{
    struct leat_atm_aal5 *a = NULL;
    const size_t need = leat_atm_aal5_footprint(&config);
    OK(need <= sizeof memory);
    EQ(leat_atm_aal5_init(memory, need - 1, &config, &a), LEAT_ERR_MEMORY);
    EQ(leat_atm_aal5_init(memory + 1, need, &config, &a), LEAT_ERR_MEMORY);
    EQ(leat_atm_aal5_init(memory, need, &(struct leat_atm_aal5_config){ 0, 1 }, &a),
       LEAT_ERR_RANGE);
    EQ(leat_atm_aal5_init(memory, need, &(struct leat_atm_aal5_config){ 65536, 1 }, &a),
       LEAT_ERR_RANGE);
    OK(a == NULL);
    EQ(leat_atm_aal5_init(memory, need, &config, &a), LEAT_ERR_OK);
}

static void a_burst_stops_behind_the_cell_that_ends_a_pdu(void)
{
    struct leat_atm_aal5 *a = fresh();
    struct leat_atm_aal5_sender s = sender();
    struct leat_atm_aal5_out out;
    static uint8_t payload[100], cells[6 * CELL];
    const struct leat_atm_aal5_pdu pdu = { 0, 0, payload, 100 };
    fill(payload, 100);
    for (int i = 0; i < 2; i++) {
        EQ(leat_atm_aal5_sender_begin(&s, &pdu), LEAT_ERR_OK);
        EQ(leat_atm_aal5_sender_cells(&s, cells + 3 * i * CELL, 9), 3);
    }
    EQ(leat_atm_aal5_step_cells(a, 7, cells, 2, &out), 2);
    EQ(out.what, LEAT_ATM_AAL5_NOTHING);
    EQ(out.wake_at, 7 + GAP);
    EQ(leat_atm_aal5_step_cells(a, 8, cells + 2 * CELL, 4, &out), 1);
    EQ(out.what, LEAT_ATM_AAL5_DELIVER);
    OK(out.pdu.payload_len == 100 && memcmp(out.pdu.payload, payload, 100) == 0);
    EQ(leat_atm_aal5_step_cells(a, 9, cells + 3 * CELL, 3, &out), 3);
    EQ(out.what, LEAT_ATM_AAL5_DELIVER);
    EQ(leat_atm_aal5_step_cells(a, 9, cells, 0, &out), 0);
    EQ(out.what, LEAT_ATM_AAL5_NOTHING);
}

static void in_a_burst_a_cell_with_a_wrong_hec_is_passed_over(void)
{
    struct leat_atm_aal5 *a = fresh();
    struct leat_atm_aal5_sender s = sender();
    struct leat_atm_aal5_out out;
    static uint8_t payload[100], cells[3 * CELL], bad[CELL];
    const struct leat_atm_aal5_pdu pdu = { 0, 0, payload, 100 };
    EQ(leat_atm_aal5_sender_begin(&s, &pdu), LEAT_ERR_OK);
    EQ(leat_atm_aal5_sender_cells(&s, cells, 3), 3);
    for (unsigned bit = 0; bit < 40; bit++) {
        EQ(leat_atm_aal5_step_cells(a, 0, cells, 1, &out), 1);
        memcpy(bad, cells + bit % 3 * CELL, CELL);
        bad[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        EQ(leat_atm_aal5_step_cells(a, 0, bad, 1, &out), 1);
        EQ(out.what, LEAT_ATM_AAL5_NOTHING);
        EQ(leat_atm_aal5_step_cells(a, 0, cells + CELL, 2, &out), 2);
        EQ(out.what, LEAT_ATM_AAL5_DELIVER); /* as if it had not been there */
    }
}

/* ---- a campaign against the plain model ----------------------------------------------------- */

struct model {
    uint8_t octets[PDU_MAX + 96];
    size_t used;
    int open, skipping;
    leat_time seen_at;
};

enum { NOTHING, DELIVER, OVERFLOW, LATE, LENGTH, CRC };

static int model_cell(struct model *m, leat_time now, unsigned pt, const uint8_t *payload)
{
    const int last = pt & 1;
    int verdict = NOTHING;
    if (pt >= 4) return NOTHING;
    if (m->skipping) {
        m->skipping = !last;
        return NOTHING;
    }
    if (m->used + 48 > 240) { /* 200 + 8 in whole cells */
        m->skipping = !last;
        m->open = 0;
        m->used = 0;
        return OVERFLOW;
    }
    memcpy(m->octets + m->used, payload, 48);
    m->used += 48;
    m->seen_at = now;
    m->open = !last;
    if (!last) return NOTHING;
    const size_t length = leat_get_be16(m->octets + m->used - 6);
    if (model_crc(m->octets, m->used - 4) != leat_get_be32(m->octets + m->used - 4))
        verdict = CRC;
    else if (length == 0 || (length + 8 + 47) / 48 * 48 != m->used)
        verdict = LENGTH;
    else if (length > PDU_MAX)
        verdict = OVERFLOW;
    else
        verdict = DELIVER;
    m->used = 0;
    return verdict;
}

static int model_timer(struct model *m, leat_time now)
{
    if (!m->open || now < m->seen_at + GAP) return NOTHING;
    m->open = 0;
    m->used = 0;
    return LATE;
}

static int verdict_of(const struct leat_atm_aal5_out *out)
{
    if (out->what == LEAT_ATM_AAL5_NOTHING) return NOTHING;
    if (out->what == LEAT_ATM_AAL5_DELIVER) return DELIVER;
    switch (out->reason) {
    case LEAT_ATM_AAL5_DROP_OVERFLOW: return OVERFLOW;
    case LEAT_ATM_AAL5_DROP_LATE: return LATE;
    case LEAT_ATM_AAL5_DROP_LENGTH: return LENGTH;
    case LEAT_ATM_AAL5_DROP_CRC: return CRC;
    case LEAT_ATM_AAL5_DROP_COUNT: break;
    }
    return -1;
}

struct link {
    struct leat_random r;
    struct leat_atm_aal5_sender s;
    uint8_t payload[260];
    uint8_t latest[CELL]; /* as it was sent */
    bool has_sent;
};

/* The next cell to arrive; false if it was lost. Damage is in the payload. */
static bool next_cell(struct link *l, uint8_t *arrived)
{
    const uint64_t mishap = leat_random_below(&l->r, 60);
    const bool is_new = mishap > 1 || !l->has_sent; /* else a duplicate, or lost */
    l->has_sent = true;
    if (is_new && !leat_atm_aal5_sender_cells(&l->s, l->latest, 1)) {
        const size_t len = 1 + leat_random_below(&l->r, sizeof l->payload);
        leat_random_fill(&l->r, l->payload, len);
        leat_atm_aal5_sender_begin(&l->s, &(struct leat_atm_aal5_pdu){ 1, 2, l->payload, len });
        leat_atm_aal5_sender_cells(&l->s, l->latest, 1);
    }
    memcpy(arrived, l->latest, CELL);
    if (mishap == 1) return true;
    if (mishap == 2) arrived[HEADER + leat_random_below(&l->r, PAYLOAD)] ^= 0x10;
    if (mishap == 3) { /* an unintended end, with a CRC that is correct now and then */
        struct leat_atm_cell c;
        leat_atm_cell_decode(arrived, CELL, LEAT_ATM_UNI, &c, NULL);
        c.pt = (uint8_t)leat_random_below(&l->r, 8);
        leat_put_be32(c.payload + 44, model_crc(c.payload, 44));
        leat_atm_cell_encode(&c, arrived, CELL);
    }
    return mishap != 0 && mishap != 4;
}

static bool met_all(const long seen[CRC + 1])
{
    bool all = true;
    for (int i = 0; i <= CRC; i++)
        all = all && seen[i] > 0;
    return all;
}

/* Runs until every verdict occurred, if the rounds of the build are too few for rare ones. */
static void random_mishaps_end_as_in_the_plain_model(void)
{
    static struct link l;
    static struct model m;
    struct leat_atm_aal5 *a = fresh();
    struct leat_atm_aal5_out out;
    leat_time now = 0;
    long seen[CRC + 1] = { 0 };
    leat_random_seed(&l.r, tap_seed() + 3);
    l.s = sender();
    for (long round = 0; round < LEAT_ROUNDS || (!met_all(seen) && round < LEAT_ROUNDS * 20L);
         round++) {
        uint8_t c[CELL];
        int want;
        now += leat_random_below(&l.r, leat_random_below(&l.r, 50) ? 40 : 1500);
        if (leat_random_below(&l.r, 16) == 0) {
            out = timer(a, now);
            want = model_timer(&m, now);
        } else {
            if (!next_cell(&l, c)) continue;
            const uint8_t pt = c[3] >> 1 & 7;
            if (round & 1)
                out = cell(a, now, pt, c + HEADER);
            else
                leat_atm_aal5_step_cells(a, now, c, 1, &out);
            want = model_cell(&m, now, pt, c + HEADER);
        }
        OK(verdict_of(&out) == want);
        seen[want]++;
        const leat_time due = m.open ? m.seen_at + GAP : LEAT_NEVER;
        OK(out.wake_at == (due > now ? due : now));
        if (want == DELIVER)
            OK(memcmp(out.pdu.payload, m.octets, out.pdu.payload_len) == 0 &&
               out.pdu.payload_len <= PDU_MAX);
        if (tap_checks_failed > 9) return;
    }
    OK(met_all(seen));
}

/* The same cells in one burst and one by one: the engine gives the same verdicts. */
static void bursts_and_single_cells_give_the_same_verdicts(void)
{
    static alignas(max_align_t) unsigned char second[512];
    static struct link l;
    static uint8_t cells[40][CELL];
    struct leat_atm_aal5 *one = fresh(), *burst = NULL;
    EQ(leat_atm_aal5_init(second, sizeof second, &config, &burst), LEAT_ERR_OK);
    leat_random_seed(&l.r, tap_seed() + 4);
    l.s = sender();
    for (long round = 0; round < LEAT_ROUNDS / 20; round++) {
        size_t count = 0, at = 0;
        while (count < 40)
            count += next_cell(&l, cells[count]);
        while (at < count) {
            struct leat_atm_aal5_out a, b = { .what = LEAT_ATM_AAL5_NOTHING };
            const size_t taken = leat_atm_aal5_step_cells(burst, (leat_time)round, cells[at],
                                                          count - at, &a);
            OK(taken > 0);
            for (size_t i = 0; i < taken; i++) {
                OK(b.what == LEAT_ATM_AAL5_NOTHING);
                b = cell(one, (leat_time)round, cells[at + i][3] >> 1 & 7, cells[at + i] + HEADER);
            }
            OK(verdict_of(&a) == verdict_of(&b) && a.wake_at == b.wake_at);
            if (b.what == LEAT_ATM_AAL5_DELIVER && a.what == LEAT_ATM_AAL5_DELIVER)
                OK(a.pdu.payload_len == b.pdu.payload_len &&
                   memcmp(a.pdu.payload, b.pdu.payload, a.pdu.payload_len) == 0);
            at += taken ? taken : 1;
        }
        if (tap_checks_failed > 9) return;
    }
}

TAP_MAIN(T(vectors_of_the_note_encode_and_decode), T(every_truncation_is_refused),
         T(every_single_bit_flip_is_seen), T(length_must_agree_within_one_cell),
         T(pad_is_covered_but_has_no_meaning), T(what_does_not_fit_is_not_encoded),
         T(the_longest_pdu_has_1366_cells), T(random_pdus_survive_the_wire_and_equal_the_model),
         T(cells_put_together_are_the_cpcs_pdu), T(bursts_of_any_size_hold_the_same_cells),
         T(cells_may_be_taken_one_by_one_and_in_bursts_in_turn),
         T(a_sender_keeps_the_congestion_bit_and_refuses_what_is_no_user_data),
         T(an_empty_or_overlong_payload_is_not_begun), T(one_cell_pdu_is_delivered),
         T(two_cells_with_47_octets_of_pad_are_delivered), T(damage_is_dropped),
         T(a_length_that_does_not_agree_is_dropped), T(silence_drops_the_open_pdu_and_only_then),
         T(a_pdu_without_end_overflows_once_and_its_rest_is_skipped),
         T(a_pdu_that_ends_just_too_long_overflows_too), T(cells_without_user_data_pass_by_unseen),
         T(memory_and_configuration_are_checked), T(a_burst_stops_behind_the_cell_that_ends_a_pdu),
         T(in_a_burst_a_cell_with_a_wrong_hec_is_passed_over),
         T(random_mishaps_end_as_in_the_plain_model),
         T(bursts_and_single_cells_give_the_same_verdicts))
