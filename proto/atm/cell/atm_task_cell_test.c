#include "atm_task_cell.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/crc.h>
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_TASK_CELL_LEN, PAYLOAD = LEAT_ATM_TASK_PAYLOAD_LEN, CRC_AT = 51 };

/* Long division: the remainder of `bits` bits, with `degree` zeros appended. */
static unsigned remainder_of(const uint8_t *octets, unsigned bits, unsigned generator,
                             unsigned degree)
{
    unsigned reg = 0;
    for (unsigned i = 0; i < bits + degree; i++) {
        reg = reg << 1 | (i < bits ? leat_bit_get(octets, i) : 0);
        if (reg >> degree) reg ^= generator;
    }
    return reg;
}

static unsigned model_crc(const uint8_t *cell)
{
    return remainder_of(cell + 5, 46 * 8, 0x11021, 16);
}

static void seal(uint8_t *cell)
{
    leat_put_be16(cell + CRC_AT, (uint16_t)model_crc(cell));
}

static void unhex(const char *hex, uint8_t *out, size_t len)
{
    EQ(strlen(hex), 2 * len);
    for (size_t i = 0; i < len; i++) {
        const char digits[3] = { hex[2 * i], hex[2 * i + 1], 0 };
        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

/* ---- the examples of the reference data ----------------------------------------------------- */

/* crc_examples.json: the first three CRCs are published, two cells are synthetic. */
static const struct example {
    const char *cell; /* the two synthetic ones have no CRC in the cell itself */
    unsigned crc, crc_if_gen_not_shifted;
} examples[] = {
    { "04000000000000000300010001ffff000000720000006300000076"
      "ffffffff000000010000011d0000000000000000000000004a78",
      0x4a78, 0xa20f },
    { "015000000000000003000100010005000000720000006300000076"
      "00000001000000010000022044a22e980000000000000000dfbd",
      0xdfbd, 0xed7f },
    { "006000000000010000000100010001000000000000000000000000"
      "000000000000000000000000000000000000000000000000be22",
      0xbe22, 0x8a14 },
    { "0000000000000102030405060708090a0b0c0d0e0f101112131415"
      "161718191a1b1c1d1e1f202122232425262728292a2b2c2d0000",
      0xd909, 0x19e1 },
    { "0000000000ffffffffffffffffffffffffffffffffffffffffffff"
      "ffffffffffffffffffffffffffffffffffffffffffffffff0000",
      0x4b41, 0xe139 },
};
enum { EXAMPLES = 5, PUBLISHED = 3 };

static void example_cell(int i, uint8_t cell[CELL])
{
    unhex(examples[i].cell, cell, CELL);
}

/*
 * The prototype's 24-bit working register: octets 5 and 6 fill its upper two octets, each further
 * octet is loaded into the lowest one and shifted up; sixteen empty shifts end it.
 */
static unsigned register_crc(const uint8_t *cell, uint32_t generator)
{
    uint32_t reg = (uint32_t)leat_get_be16(cell + 5) << 8;
    for (int at = 7; at < CRC_AT + 2; at++) {
        if (at < CRC_AT) reg = (reg & 0xffff00) | cell[at];
        for (int shift = 0; shift < 8; shift++) {
            reg <<= 1;
            if (reg & 0x1000000) reg ^= generator;
        }
        reg &= 0xffffff;
    }
    return reg >> 8;
}

/* Note 2.5, erratum: the printed generator 11021 must be aligned eight bits to the left. */
static void the_working_register_gives_the_crc_with_the_generator_shifted_only(void)
{
    uint8_t cell[CELL];
    for (int i = 0; i < EXAMPLES; i++) {
        example_cell(i, cell);
        EQ(leat_crc16(0, cell + 5, 46), register_crc(cell, 0x1102100));
        EQ(register_crc(cell, 0x11021), examples[i].crc_if_gen_not_shifted);
    }
}

static void every_example_has_its_crc(void)
{
    uint8_t cell[CELL];
    for (int i = 0; i < EXAMPLES; i++) {
        example_cell(i, cell);
        EQ(leat_crc16(0, cell + 5, 46), examples[i].crc);
        EQ(model_crc(cell), examples[i].crc);
        if (i < PUBLISHED) EQ(leat_get_be16(cell + CRC_AT), examples[i].crc);
    }
}

static void the_illustration_of_the_note_divides_to_1110(void)
{
    const uint8_t bits[2] = { 0xd6, 0xc0 }; /* 1101011011 */
    EQ(remainder_of(bits, 10, 0x13, 4), 0xe);
}

static void the_broadcast_of_285_is_the_published_cell(void)
{
    struct leat_atm_task_cell cell = { .vpi = 0x40,
                                       .type = LEAT_ATM_TASK_MESSAGE,
                                       .flag = LEAT_ATM_TASK_FIRST | LEAT_ATM_TASK_LAST,
                                       .sequence = 1,
                                       .source = 1,
                                       .destination = LEAT_ATM_TASK_BROADCAST };
    const struct leat_atm_task_message message = { { 'r', 'c', 'v' }, UINT32_MAX, 1 };
    uint8_t octets[CELL], want[CELL];
    EQ(leat_atm_task_message_encode(&message, cell.payload, PAYLOAD), LEAT_ERR_OK);
    leat_put_be32(cell.payload + 20, 285);
    EQ(leat_atm_task_cell_encode(&cell, octets, sizeof octets), LEAT_ERR_OK);
    example_cell(0, want);
    OK(memcmp(octets, want, CELL) == 0);
}

static void the_point_to_point_message_is_read_from_the_published_cell(void)
{
    uint8_t octets[CELL];
    struct leat_atm_task_cell cell;
    struct leat_atm_task_message message;
    example_cell(1, octets);
    EQ(leat_atm_task_cell_decode(octets, CELL, &cell, NULL), LEAT_ERR_OK);
    EQ(cell.vpi, 0x15);
    EQ(cell.type, LEAT_ATM_TASK_MESSAGE);
    EQ(cell.flag, 3);
    EQ(cell.sequence, 1);
    EQ(cell.source, 1);
    EQ(cell.destination, 5);
    OK(leat_atm_task_cell_is_first(&cell));
    EQ(leat_atm_task_message_decode(cell.payload, PAYLOAD, &message, NULL), LEAT_ERR_OK);
    OK(message.name[0] == 'r' && message.name[1] == 'c' && message.name[2] == 'v');
    EQ(message.instance, 1);
    EQ(message.id, 1);
    EQ(leat_get_be32(cell.payload + 20), 544);
    EQ(leat_get_be32(cell.payload + 24), 0x44a22e98); /* 1297.456 */
}

static void the_acknowledgement_is_read_from_the_published_cell(void)
{
    uint8_t octets[CELL], back[CELL];
    struct leat_atm_task_cell cell;
    example_cell(2, octets);
    EQ(leat_atm_task_cell_decode(octets, CELL, &cell, NULL), LEAT_ERR_OK);
    EQ(cell.vpi, 6);
    EQ(cell.type, LEAT_ATM_TASK_ACK);
    EQ(cell.flag, 0);
    EQ(cell.sequence, 1);
    EQ(cell.source, 1);
    EQ(cell.destination, 1);
    OK(!leat_atm_task_cell_is_first(&cell));
    EQ(leat_atm_task_cell_encode(&cell, back, CELL), LEAT_ERR_OK);
    OK(memcmp(octets, back, CELL) == 0);
}

/* ---- bad cells ------------------------------------------------------------------------------ */

static void refused(const uint8_t *octets, size_t len, leat_err err, size_t at)
{
    struct leat_atm_task_cell cell, before;
    size_t fault_at = 999;
    memset(&cell, 0xa5, sizeof cell);
    memcpy(&before, &cell, sizeof cell);
    EQ(leat_atm_task_cell_decode(octets, len, &cell, &fault_at), err);
    EQ(fault_at, at);
    OK(memcmp(&cell, &before, sizeof cell) == 0);
}

static void every_other_length_is_refused(void)
{
    uint8_t octets[CELL + 1] = { 0 };
    for (int i = 0; i < PUBLISHED; i++) {
        example_cell(i, octets);
        for (size_t len = 0; len < CELL; len++)
            refused(octets, len, LEAT_ERR_SHORT, len);
        refused(octets, CELL + 1, LEAT_ERR_LENGTH, CELL);
    }
}

/* The VPI is translated on the route and has no check; every other bit has. */
static void every_single_bit_flip_outside_the_vpi_is_seen(void)
{
    uint8_t octets[CELL];
    for (int i = 0; i < PUBLISHED; i++) {
        example_cell(i, octets);
        for (size_t bit = 12; bit < 8 * CELL; bit++) {
            octets[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
            if (bit < 40)
                refused(octets, CELL, LEAT_ERR_RESERVED, bit / 8);
            else
                refused(octets, CELL, LEAT_ERR_CHECKSUM, CRC_AT);
            octets[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        }
        for (unsigned bit = 0; bit < 12; bit++) {
            struct leat_atm_task_cell a, b;
            EQ(leat_atm_task_cell_decode(octets, CELL, &a, NULL), LEAT_ERR_OK);
            octets[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
            EQ(leat_atm_task_cell_decode(octets, CELL, &b, NULL), LEAT_ERR_OK);
            EQ(a.vpi ^ b.vpi, 0x800 >> bit);
            octets[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        }
    }
}

static int flag_has_meaning(unsigned type, unsigned flag)
{
    const unsigned groups = 32;
    if (type == 0) return flag <= 3;
    return flag == 0 || flag == 4 || (flag % 8 == 0 && flag / 8 <= groups);
}

static void types_and_flags_without_a_meaning_are_refused_in_both_directions(void)
{
    uint8_t octets[CELL], back[CELL];
    struct leat_atm_task_cell cell = { .vpi = 1 };
    example_cell(2, octets);
    for (unsigned type = 0; type < 8; type++) {
        for (unsigned flag = 0; flag < 0x10000; flag = flag < 300 ? flag + 1 : flag * 2) {
            leat_put_be16(octets + 5, (uint16_t)type);
            leat_put_be16(octets + 7, (uint16_t)flag);
            seal(octets);
            cell.type = (enum leat_atm_task_type)type;
            cell.flag = (uint16_t)flag;
            memset(back, 0xa5, CELL);
            const leat_err err = leat_atm_task_cell_encode(&cell, back, CELL);
            if (type > 1 && type / 2 != 2) {
                EQ(err, LEAT_ERR_TYPE);
                refused(octets, CELL, LEAT_ERR_TYPE, 5);
            } else if (!flag_has_meaning(type, flag)) {
                EQ(err, LEAT_ERR_RESERVED);
                refused(octets, CELL, LEAT_ERR_RESERVED, 7);
            } else {
                EQ(err, LEAT_ERR_OK);
                EQ(leat_atm_task_cell_decode(octets, CELL, &cell, NULL), LEAT_ERR_OK);
                EQ(cell.flag, flag);
            }
            if (err) EQ(back[0], 0xa5);
        }
    }
}

/* With their CRC filled in, the synthetic examples are well-formed but have no meaning. */
static void the_synthetic_examples_fail_only_by_type_and_flag(void)
{
    uint8_t octets[CELL];
    example_cell(3, octets);
    refused(octets, CELL, LEAT_ERR_CHECKSUM, CRC_AT);
    leat_put_be16(octets + CRC_AT, 0xd909);
    refused(octets, CELL, LEAT_ERR_RESERVED, 7); /* type 1, flag 0203 */
    example_cell(4, octets);
    refused(octets, CELL, LEAT_ERR_CHECKSUM, CRC_AT);
    leat_put_be16(octets + CRC_AT, 0x4b41);
    refused(octets, CELL, LEAT_ERR_TYPE, 5);
}

/* Of units that resynchronise; 65535 is the last number of a prototype's cell. */
static void the_high_bits_of_a_number_stand_above_the_type(void)
{
    static const enum leat_atm_task_type types[] = { LEAT_ATM_TASK_MESSAGE, LEAT_ATM_TASK_ACK,
                                                     LEAT_ATM_TASK_RESYNC, LEAT_ATM_TASK_RESYNCED };
    static const uint32_t numbers[] = { 0, 65535, 65536, 65537, 0x1ffffffe, 0x1fffffff };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            struct leat_atm_task_cell cell = { .type = types[i], .sequence = numbers[k] }, back;
            uint8_t octets[CELL];
            EQ(leat_atm_task_cell_encode(&cell, octets, CELL), LEAT_ERR_OK);
            EQ(leat_get_be16(octets + 5), numbers[k] / 65536 * 8 + types[i]);
            EQ(leat_get_be16(octets + 9), numbers[k] % 65536);
            EQ(leat_atm_task_cell_decode(octets, CELL, &back, NULL), LEAT_ERR_OK);
            EQ(back.type, types[i]);
            EQ(back.sequence, numbers[k]);
            OK(leat_atm_task_type_known(types[i]) && !leat_atm_task_type_known(types[i] + 2));
        }
}

static void what_does_not_fit_is_not_encoded(void)
{
    struct leat_atm_task_cell cell = { .vpi = 0xfff };
    uint8_t octets[CELL] = { 0x77 };
    EQ(leat_atm_task_cell_encode(&cell, octets, CELL - 1), LEAT_ERR_SPACE);
    cell.vpi = 0x1000;
    EQ(leat_atm_task_cell_encode(&cell, octets, CELL), LEAT_ERR_RANGE);
    cell.vpi = 0;
    cell.sequence = LEAT_ATM_TASK_SEQUENCE_MAX + 1;
    EQ(leat_atm_task_cell_encode(&cell, octets, CELL), LEAT_ERR_RANGE);
    EQ(octets[0], 0x77);
}

static void a_message_header_needs_its_twenty_octets(void)
{
    struct leat_atm_task_message message = { { 1, 2, 3 }, 4, 5 }, back, before;
    uint8_t octets[LEAT_ATM_TASK_MESSAGE_LEN] = { 0x77 };
    size_t fault_at;
    memset(&back, 0xa5, sizeof back);
    memcpy(&before, &back, sizeof back);
    for (size_t len = 0; len < LEAT_ATM_TASK_MESSAGE_LEN; len++) {
        fault_at = 999;
        EQ(leat_atm_task_message_encode(&message, octets, len), LEAT_ERR_SPACE);
        EQ(leat_atm_task_message_decode(octets, len, &back, &fault_at), LEAT_ERR_SHORT);
        EQ(fault_at, len);
    }
    EQ(octets[0], 0x77);
    OK(memcmp(&back, &before, sizeof back) == 0);
    EQ(leat_atm_task_message_encode(&message, octets, sizeof octets), LEAT_ERR_OK);
    for (int i = 0; i < 5; i++)
        EQ(leat_get_be32(octets + 4 * i), i + 1);
    EQ(leat_atm_task_message_decode(octets, sizeof octets, &back, NULL), LEAT_ERR_OK);
    OK(memcmp(&back, &message, sizeof back) == 0);
}

/* ---- campaigns ------------------------------------------------------------------------------ */

static void random_cells_survive_the_wire_and_equal_the_model(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        struct leat_atm_task_cell a, b;
        uint8_t octets[CELL], again[CELL];
        const uint64_t draw = leat_random_next(&r);
        a.vpi = draw & 0xfff;
        a.type = draw >> 12 & 1 ? LEAT_ATM_TASK_ACK : LEAT_ATM_TASK_MESSAGE;
        a.flag = (uint16_t)(a.type == LEAT_ATM_TASK_ACK ? draw >> 11 & 4 : draw >> 13 & 3);
        a.sequence = draw >> 15 & 1 ? draw >> 16 & 0xffff : draw >> 16 & 0x1fffffff;
        a.source = (uint16_t)(draw >> 32);
        a.destination = (uint16_t)(draw >> 48);
        leat_random_fill(&r, a.payload, PAYLOAD);
        OK(leat_atm_task_cell_encode(&a, octets, CELL) == LEAT_ERR_OK);
        OK(leat_atm_task_cell_decode(octets, CELL, &b, NULL) == LEAT_ERR_OK);
        OK(a.vpi == b.vpi && a.type == b.type && a.flag == b.flag && a.sequence == b.sequence &&
           a.source == b.source && a.destination == b.destination &&
           memcmp(a.payload, b.payload, PAYLOAD) == 0);
        OK(leat_atm_task_cell_encode(&b, again, CELL) == LEAT_ERR_OK);
        OK(memcmp(octets, again, CELL) == 0);
        if (round % 64 == 0) OK(model_crc(octets) == leat_get_be16(octets + CRC_AT));
        if (tap_checks_failed > 9) return;
    }
}

static void random_octets_never_harm_and_what_passes_is_encoded_as_it_was(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t octets[CELL], back[CELL];
        struct leat_atm_task_cell cell;
        leat_random_fill(&r, octets, CELL);
        if (round % 4) { /* let more of them pass: everything but type and flag is correct */
            octets[1] &= 0xf0;
            memset(octets + 2, 0, 4);
            octets[6] &= 3;
            octets[7] = 0;
            octets[8] &= 7;
            leat_put_be16(octets + CRC_AT, leat_crc16(0, octets + 5, 46));
        }
        if (leat_atm_task_cell_decode(octets, CELL, &cell, NULL)) continue;
        OK(leat_atm_task_cell_encode(&cell, back, CELL) == LEAT_ERR_OK);
        OK(memcmp(octets, back, CELL) == 0);
    }
}

/* The VPIs with a HEC of zero: found by trying all, and recognised by the CRC-16 alone. */
static void prototype_cells_differ_from_atm_cells_on_every_vpi(void)
{
    unsigned by_crc = 0;
    for (unsigned vpi = 0; vpi < 4096; vpi++) {
        struct leat_atm_task_cell cell = {
            .vpi = (uint16_t)vpi, .type = LEAT_ATM_TASK_MESSAGE, .flag = 3, .sequence = 1
        };
        uint8_t buf[LEAT_ATM_TASK_CELL_LEN];
        EQ(leat_atm_task_cell_encode(&cell, buf, sizeof buf), LEAT_ERR_OK);
        OK(leat_atm_task_cell_recognise(buf, sizeof buf));
        buf[40] ^= 1; /* damaged it is still a prototype's, if its header shows that */
        by_crc += !leat_atm_task_cell_recognise(buf, sizeof buf);
        OK(!leat_atm_task_cell_recognise(buf, sizeof buf - 1));
        buf[2] = 1;
        OK(!leat_atm_task_cell_recognise(buf, sizeof buf));
    }
    EQ(by_crc, 16);
}

TAP_MAIN(T(every_example_has_its_crc),
         T(the_working_register_gives_the_crc_with_the_generator_shifted_only),
         T(the_illustration_of_the_note_divides_to_1110),
         T(the_broadcast_of_285_is_the_published_cell),
         T(the_point_to_point_message_is_read_from_the_published_cell),
         T(the_acknowledgement_is_read_from_the_published_cell), T(every_other_length_is_refused),
         T(every_single_bit_flip_outside_the_vpi_is_seen),
         T(types_and_flags_without_a_meaning_are_refused_in_both_directions),
         T(the_synthetic_examples_fail_only_by_type_and_flag),
         T(the_high_bits_of_a_number_stand_above_the_type), T(what_does_not_fit_is_not_encoded),
         T(a_message_header_needs_its_twenty_octets),
         T(random_cells_survive_the_wire_and_equal_the_model),
         T(random_octets_never_harm_and_what_passes_is_encoded_as_it_was),
         T(prototype_cells_differ_from_atm_cells_on_every_vpi))
