#include "leat_bytes.h"
#include "tap.h"
#include <leat/atm.h>
#include <leat/random.h>
#include <string.h>

/* The vectors of the note, 1.2; with their layout if its text gives it. */
static const struct vector {
    uint8_t header[LEAT_ATM_HEADER_LEN];
    struct leat_atm_cell cell;
} vectors[] = {
    { { 0x00, 0x00, 0x00, 0x00, 0x55 }, { .interface = LEAT_ATM_UNI } },
    { { 0x00, 0x00, 0x00, 0x01, 0x52 }, { .interface = LEAT_ATM_UNI, .clp = 1 } },
    { { 0x04, 0x00, 0x00, 0x00, 0x0d }, { .interface = LEAT_ATM_NNI, .vpi = 0x40 } },
    { { 0x01, 0x50, 0x00, 0x00, 0x67 }, { .interface = LEAT_ATM_NNI, .vpi = 0x15 } },
    { { 0x00, 0x60, 0x00, 0x00, 0x90 }, { .interface = LEAT_ATM_NNI, .vpi = 6 } },
    { { 0x00, 0x10, 0x00, 0x50, 0x40 }, { .interface = LEAT_ATM_UNI, .vpi = 1, .vci = 5 } },
    { { 0x01, 0x23, 0x45, 0x62, 0x8e },
      { .interface = LEAT_ATM_UNI, .vpi = 0x12, .vci = 0x3456, .pt = 1 } },
    { { 0xab, 0xc3, 0x45, 0x67, 0x38 },
      { .interface = LEAT_ATM_NNI, .vpi = 0xabc, .vci = 0x3456, .pt = 3, .clp = 1 } },
    { { 0x04, 0x00, 0x00, 0x6c, 0x0e },
      { .interface = LEAT_ATM_NNI, .vpi = 0x40, .vci = 6, .pt = LEAT_ATM_PT_RM } },
    { { 0x12, 0x34, 0x56, 0x78, 0x49 },
      { .interface = LEAT_ATM_UNI, .gfc = 1, .vpi = 0x23, .vci = 0x4567, .pt = 4 } },
    { { 0xff, 0xff, 0xff, 0xff, 0x8b },
      { .interface = LEAT_ATM_NNI, .vpi = 0xfff, .vci = 0xffff, .pt = 7, .clp = 1 } },
};
enum { VECTORS = sizeof vectors / sizeof *vectors };

static bool same(const struct leat_atm_cell *a, const struct leat_atm_cell *b)
{
    return a->interface == b->interface && a->gfc == b->gfc && a->vpi == b->vpi &&
           a->vci == b->vci && a->pt == b->pt && a->clp == b->clp &&
           memcmp(a->payload, b->payload, sizeof a->payload) == 0;
}

/* An independent model: bit by bit, as in I.432.1. */
static uint8_t plain_hec(const uint8_t *header)
{
    unsigned crc = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        const unsigned top = crc >> 7 & 1;
        crc = (crc << 1 & 0xff) ^ ((top ^ leat_bit_get(header, bit)) ? 0x07 : 0);
    }
    return (uint8_t)(crc ^ 0x55);
}

/* Another: the fields one after the other as a string of bits. */
static void put_bits(uint8_t *buf, unsigned *at, unsigned value, unsigned width)
{
    while (width-- > 0)
        leat_bit_put(buf, (*at)++, value >> width & 1);
}

static void plain_encode(const struct leat_atm_cell *c, uint8_t *buf)
{
    unsigned at = 0;
    if (c->interface == LEAT_ATM_UNI) put_bits(buf, &at, c->gfc, 4);
    put_bits(buf, &at, c->vpi, c->interface == LEAT_ATM_UNI ? 8 : 12);
    put_bits(buf, &at, c->vci, 16);
    put_bits(buf, &at, c->pt, 3);
    put_bits(buf, &at, c->clp, 1);
    put_bits(buf, &at, plain_hec(buf), 8);
    for (unsigned i = 0; i < LEAT_ATM_PAYLOAD_LEN; i++)
        put_bits(buf, &at, c->payload[i], 8);
}

static void the_headers_of_the_note_are_encoded_and_decoded(void)
{
    for (size_t i = 0; i < VECTORS; i++) {
        const struct vector *v = &vectors[i];
        uint8_t buf[LEAT_ATM_CELL_LEN];
        struct leat_atm_cell cell;
        EQ(leat_atm_cell_encode(&v->cell, buf, sizeof buf), LEAT_ERR_OK);
        OK(memcmp(buf, v->header, sizeof v->header) == 0);
        EQ(leat_atm_cell_decode(buf, sizeof buf, v->cell.interface, &cell, NULL), LEAT_ERR_OK);
        OK(same(&cell, &v->cell));
    }
}

static void one_header_reads_differently_at_the_two_interfaces(void)
{
    const uint8_t buf[LEAT_ATM_CELL_LEN] = { 0x12, 0x34, 0x56, 0x78, 0x49 };
    struct leat_atm_cell uni, nni;
    EQ(leat_atm_cell_decode(buf, sizeof buf, LEAT_ATM_UNI, &uni, NULL), LEAT_ERR_OK);
    EQ(leat_atm_cell_decode(buf, sizeof buf, LEAT_ATM_NNI, &nni, NULL), LEAT_ERR_OK);
    EQ(uni.gfc, 1);
    EQ(uni.vpi, 0x23);
    EQ(nni.gfc, 0);
    EQ(nni.vpi, 0x123);
    EQ(uni.vci, 0x4567);
    EQ(nni.vci, 0x4567);
}

static void idle_and_unassigned_cells_are_known_by_their_headers(void)
{
    uint8_t idle[LEAT_ATM_CELL_LEN];
    leat_atm_cell_idle(idle);
    OK(memcmp(idle, "\x00\x00\x00\x01\x52", LEAT_ATM_HEADER_LEN) == 0);
    for (size_t i = LEAT_ATM_HEADER_LEN; i < sizeof idle; i++)
        EQ(idle[i], 0x6a);
    for (size_t i = 0; i < VECTORS; i++) {
        EQ(leat_atm_cell_is_unassigned(vectors[i].header), i == 0);
        EQ(leat_atm_cell_is_idle(vectors[i].header), i == 1);
    }
}

static void every_other_length_is_refused_and_leaves_the_output_alone(void)
{
    uint8_t buf[2 * LEAT_ATM_CELL_LEN] = { 0, 0, 0, 1, 0x52 };
    struct leat_atm_cell cell, pattern;
    memset(&pattern, 0xa5, sizeof pattern);
    for (size_t len = 0; len <= sizeof buf; len++) {
        if (len == LEAT_ATM_CELL_LEN) continue;
        const bool is_short = len < LEAT_ATM_CELL_LEN;
        size_t at = SIZE_MAX;
        memcpy(&cell, &pattern, sizeof cell);
        EQ(leat_atm_cell_decode(buf, len, LEAT_ATM_UNI, &cell, &at),
           is_short ? LEAT_ERR_SHORT : LEAT_ERR_LENGTH);
        EQ(at, is_short ? len : LEAT_ATM_CELL_LEN);
        OK(memcmp(&cell, &pattern, sizeof cell) == 0);
    }
}

static void every_single_bit_error_in_a_header_is_refused(void)
{
    struct leat_atm_cell cell, pattern;
    memset(&pattern, 0xa5, sizeof pattern);
    for (size_t i = 0; i < VECTORS; i++)
        for (unsigned bit = 0; bit < 8 * LEAT_ATM_CELL_LEN; bit++) {
            const bool in_header = bit < 8 * LEAT_ATM_HEADER_LEN;
            uint8_t buf[LEAT_ATM_CELL_LEN] = { 0 };
            size_t at = SIZE_MAX;
            memcpy(buf, vectors[i].header, LEAT_ATM_HEADER_LEN);
            memcpy(&cell, &pattern, sizeof cell);
            leat_bit_put(buf, bit, !leat_bit_get(buf, bit));
            EQ(leat_atm_cell_decode(buf, sizeof buf, LEAT_ATM_NNI, &cell, &at),
               in_header ? LEAT_ERR_CHECKSUM : LEAT_ERR_OK);
            EQ(at, in_header ? 4 : SIZE_MAX);
            EQ(memcmp(&cell, &pattern, sizeof cell) == 0, in_header);
        }
}

static void wide_fields_are_refused_and_nothing_is_written(void)
{
    static const struct leat_atm_cell wide[] = {
        { .interface = LEAT_ATM_UNI, .gfc = 16 },     { .interface = LEAT_ATM_UNI, .vpi = 0x100 },
        { .interface = LEAT_ATM_UNI, .pt = 8 },       { .interface = LEAT_ATM_UNI, .clp = 2 },
        { .interface = LEAT_ATM_NNI, .vpi = 0x1000 }, { .interface = LEAT_ATM_NNI, .gfc = 1 },
        { .interface = (enum leat_atm_interface)2 },
    };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        uint8_t buf[LEAT_ATM_CELL_LEN] = { 0 };
        EQ(leat_atm_cell_encode(&wide[i], buf, sizeof buf), LEAT_ERR_RANGE);
        for (size_t k = 0; k < sizeof buf; k++)
            EQ(buf[k], 0);
    }
}

static void a_small_buffer_is_refused(void)
{
    uint8_t buf[LEAT_ATM_CELL_LEN];
    EQ(leat_atm_cell_encode(&vectors[0].cell, buf, sizeof buf - 1), LEAT_ERR_SPACE);
    EQ(leat_atm_cell_encode(&vectors[0].cell, buf, 0), LEAT_ERR_SPACE);
}

static void random_cell(struct leat_random *r, struct leat_atm_cell *c)
{
    const uint64_t bits = leat_random_next(r);
    c->interface = bits & 1 ? LEAT_ATM_NNI : LEAT_ATM_UNI;
    c->gfc = bits & 1 ? 0 : bits >> 1 & 0xf;
    c->vpi = (uint16_t)(bits >> 5 & (bits & 1 ? 0xfff : 0xff));
    c->vci = bits >> 17 & 0xffff;
    c->pt = bits >> 33 & 7;
    c->clp = bits >> 36 & 1;
    leat_random_fill(r, c->payload, sizeof c->payload);
}

static void random_cells_survive_and_agree_with_the_plain_model(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_cell cell, back;
        uint8_t buf[LEAT_ATM_CELL_LEN], plain[LEAT_ATM_CELL_LEN];
        random_cell(&r, &cell);
        EQ(leat_atm_cell_encode(&cell, buf, sizeof buf), LEAT_ERR_OK);
        EQ(leat_atm_cell_decode(buf, sizeof buf, cell.interface, &back, NULL), LEAT_ERR_OK);
        OK(same(&cell, &back));
        if (i % 16) continue; /* the model is slow */
        plain_encode(&cell, plain);
        OK(memcmp(buf, plain, sizeof buf) == 0);
    }
}

static void random_octets_decode_if_and_only_if_their_check_is_right(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    long sound = 0;
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_atm_cell cell;
        uint8_t buf[LEAT_ATM_CELL_LEN], back[LEAT_ATM_CELL_LEN];
        const enum leat_atm_interface at = i & 1 ? LEAT_ATM_NNI : LEAT_ATM_UNI;
        leat_random_fill(&r, buf, sizeof buf);
        if (i & 2) buf[4] = plain_hec(buf);
        const leat_err err = leat_atm_cell_decode(buf, sizeof buf, at, &cell, NULL);
        EQ(err == LEAT_ERR_OK, buf[4] == plain_hec(buf));
        if (err) continue;
        sound++;
        EQ(leat_atm_cell_encode(&cell, back, sizeof back), LEAT_ERR_OK);
        OK(memcmp(buf, back, sizeof buf) == 0);
    }
    OK(sound >= LEAT_ROUNDS / 2);
}

TAP_MAIN(T(the_headers_of_the_note_are_encoded_and_decoded),
         T(one_header_reads_differently_at_the_two_interfaces),
         T(idle_and_unassigned_cells_are_known_by_their_headers),
         T(every_other_length_is_refused_and_leaves_the_output_alone),
         T(every_single_bit_error_in_a_header_is_refused),
         T(wide_fields_are_refused_and_nothing_is_written), T(a_small_buffer_is_refused),
         T(random_cells_survive_and_agree_with_the_plain_model),
         T(random_octets_decode_if_and_only_if_their_check_is_right))
