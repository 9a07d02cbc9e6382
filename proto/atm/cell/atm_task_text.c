#include "atm_task_cell.h"
#include "atm_task_parts.h"
#include "atm_text.h"
#include "leat_bytes.h"
#include <assert.h>

enum { SEQUENCE_BITS = 29 }; /* those above 16 lie beside the type */

static const struct leat_name types[] = {
    { LEAT_ATM_TASK_MESSAGE, "message" },
    { LEAT_ATM_TASK_ACK, "ACK" },
    { LEAT_ATM_TASK_RESYNC, "RESYNC" },
    { LEAT_ATM_TASK_RESYNCED, "RESYNCED" },
    { 0, NULL },
};
static const struct leat_name message_flags[] = {
    { 0, "middle" },
    { LEAT_ATM_TASK_FIRST, "begin" },
    { LEAT_ATM_TASK_LAST, "end" },
    { LEAT_ATM_TASK_FIRST | LEAT_ATM_TASK_LAST, "single" },
    { 0, NULL },
};
/* clang-format off */
#define GROUP(g) { LEAT_ATM_TASK_ACK_GROUP * (g + 1), "group-" #g }
static const struct leat_name ack_flags[] = {
    { 0, "broadcast" },
    { LEAT_ATM_TASK_ACK_POINT, "point-to-point" },
    GROUP(0), GROUP(1), GROUP(2), GROUP(3), GROUP(4), GROUP(5), GROUP(6), GROUP(7),
    GROUP(8), GROUP(9), GROUP(10), GROUP(11), GROUP(12), GROUP(13), GROUP(14), GROUP(15),
    GROUP(16), GROUP(17), GROUP(18), GROUP(19), GROUP(20), GROUP(21), GROUP(22), GROUP(23),
    GROUP(24), GROUP(25), GROUP(26), GROUP(27), GROUP(28), GROUP(29), GROUP(30), GROUP(31),
    { 0, NULL },
};
/* clang-format on */
static_assert(sizeof ack_flags / sizeof *ack_flags == 3 + LEAT_ATM_TASK_GROUPS_MAX, "all groups");
static const struct leat_name destinations[] = {
    { LEAT_ATM_TASK_BROADCAST, "broadcast" },
    { 0, NULL },
};
static const struct leat_name instances[] = {
    { UINT32_MAX, "-1" }, /* every instance */
    { 0, NULL },
};

/* A name is text if its integers are characters; otherwise nameWords has the integers. */
static void walk_name(struct leat_fields *f, uint32_t name[LEAT_ATM_TASK_NAME_COUNT])
{
    uint8_t chars[LEAT_ATM_TASK_NAME_COUNT];
    const uint8_t *text = chars;
    size_t len = 0;
    bool is_text = true;
    for (size_t i = 0; i < LEAT_ATM_TASK_NAME_COUNT; i++) {
        chars[i] = (uint8_t)name[i];
        is_text = is_text && name[i] <= UINT8_MAX;
        if (chars[i]) len = i + 1;
    }
    if (leat_fields_reading(f)) is_text = !leat_fields_has(f, "nameWords");
    if (is_text) {
        leat_fields_string(f, "name", PAYLOAD_AT, LEAT_ATM_TASK_NAME_COUNT, &text, &len);
        for (size_t i = 0; i < LEAT_ATM_TASK_NAME_COUNT; i++)
            name[i] = i < len ? text[i] : 0;
        return;
    }
    const size_t count = leat_fields_list(f, "nameWords", PAYLOAD_AT, LEAT_ATM_TASK_NAME_COUNT,
                                          LEAT_ATM_TASK_NAME_COUNT);
    for (size_t i = 0; i < count; i++)
        name[i] = (uint32_t)leat_fields_uint(f, NULL, PAYLOAD_AT + NAME_AT + WORD_LEN * i, 32,
                                             name[i]);
    leat_fields_list_end(f);
}

/* A number for which users also have a word; shown as a number. */
static uint64_t walk_number(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                            const struct leat_name *words, uint64_t value)
{
    return leat_fields_reading(f) ? leat_fields_enum(f, name, at, bits, words, value)
                                  : leat_fields_uint(f, name, at, bits, value);
}

static void walk_message(struct leat_fields *f, struct leat_atm_task_message *m)
{
    walk_name(f, m->name);
    m->instance = (uint32_t)walk_number(f, "instance", PAYLOAD_AT + INSTANCE_AT, 32, instances,
                                        m->instance);
    m->id = (uint32_t)leat_fields_uint(f, "id", PAYLOAD_AT + ID_AT, 32, m->id);
}

/* The header of a message. Returns how many octets it takes from the payload. */
static size_t walk_message_header(struct leat_fields *f, struct leat_atm_task_cell *cell)
{
    struct leat_atm_task_message message;
    if (!leat_atm_task_cell_is_first(cell)) return 0;
    leat_atm_task_message_decode(cell->payload, sizeof cell->payload, &message, NULL);
    if (leat_fields_open(f, "message", PAYLOAD_AT)) {
        walk_message(f, &message);
        leat_fields_close(f);
    }
    leat_atm_task_message_encode(&message, cell->payload, sizeof cell->payload);
    return LEAT_ATM_TASK_MESSAGE_LEN;
}

static void walk_type(struct leat_fields *f, struct leat_atm_task_cell *cell)
{
    const uint64_t type = leat_fields_enum(f, "type", TYPE_AT, 16, types, cell->type);
    const bool ack = type != LEAT_ATM_TASK_MESSAGE;
    if (!leat_atm_task_type_known((unsigned)type))
        leat_fields_refuse(f, LEAT_ERR_TYPE, "type",
                           "expected message (0), ACK (1), RESYNC (4) or RESYNCED (5)");
    else
        cell->type = (enum leat_atm_task_type)type;
    if (ack && leat_fields_reading(f)) cell->flag = 0; /* not a message's default */
    cell->flag = (uint16_t)leat_fields_enum(f, "flag", FLAG_AT, 16, ack ? ack_flags : message_flags,
                                            cell->flag);
    if (!leat_name_of(ack ? ack_flags : message_flags, cell->flag))
        leat_fields_refuse(
            f, LEAT_ERR_RESERVED, "flag",
            ack ? "expected broadcast (0), point-to-point (4) or group-0 (8) to group-31 (256)"
                : "expected middle (0), begin (1), end (2) or single (3)");
}

static void walk(struct leat_fields *f, struct leat_atm_task_cell *cell, uint16_t crc)
{
    cell->vpi = (uint16_t)leat_fields_hex(f, "vpi", VPI_AT, VPI_BITS, cell->vpi);
    walk_type(f, cell);
    cell->sequence = (uint32_t)leat_fields_uint(f, "sequence", SEQUENCE_AT, SEQUENCE_BITS,
                                                cell->sequence);
    cell->source = (uint16_t)leat_fields_uint(f, "source", SOURCE_AT, 16, cell->source);
    cell->destination = (uint16_t)walk_number(f, "destination", DESTINATION_AT, 16, destinations,
                                              cell->destination);
    const size_t used = walk_message_header(f, cell);
    leat_fields_octets_fixed(f, "data", PAYLOAD_AT + used, cell->payload + used,
                             sizeof cell->payload - used, true);
    leat_fields_checksum(f, "crc", CRC_AT, 16, crc);
}

static leat_err show(const uint8_t *octets, size_t len, struct leat_fields *f, size_t *fault_at)
{
    struct leat_atm_task_cell cell;
    const leat_err err = leat_atm_task_cell_decode(octets, len, &cell, fault_at);
    if (err == LEAT_ERR_OK) walk(f, &cell, leat_get_be16(octets + CRC_AT));
    return err;
}

/* No fields: the first cell that a unit sends, number 1, a whole message without a name. */
static leat_err build(struct leat_fields *f, uint8_t *octets, size_t cap, size_t *len)
{
    struct leat_atm_task_cell cell = { .flag = LEAT_ATM_TASK_FIRST | LEAT_ATM_TASK_LAST,
                                       .sequence = 1 };
    walk(f, &cell, 0);
    const leat_err err = f->err ? f->err : leat_atm_task_cell_encode(&cell, octets, cap);
    if (!err) *len = LEAT_ATM_TASK_CELL_LEN;
    return err;
}

const struct leat_format leat_atmtask_format = {
    .name = "atmtask",
    .summary = "cell of the prototype's own AAL: tasks' messages and their acknowledgements",
    .unit_len = LEAT_ATM_TASK_CELL_LEN,
    .show = show,
    .build = build,
};
