/*
 * The writing half of STATE0 (note 5.2), and STATE1 to STATE4 after it: pack a message octet by
 * octet, then give every block its header, its number and its label.
 *
 * A command takes effect when it is accepted, as far as nothing can interfere. A step is due only
 * when a block is taken, a label is taken, or the message becomes ready.
 */
#include "atm_aal_unit_parts.h"
#include <assert.h>
#include <string.h>

enum {
    TAKE_AFTER = 2,    /* INITSEND takes its block in its third cycle */
    STATE1_CYCLES = 5, /* and 4 a cell */
    STATE1_PER_CELL = 4,
    PASS_CYCLES = 6, /* STATE2 to STATE4, a cell */
    LABEL_AFTER = 1, /* the label is taken in the second cycle of a pass */
};

/* The cycle in which octet i of a PUT is stored: words of 19 cycles, 4 per octet. */
static uint64_t stored_at(const struct leat_atm_aal_unit *unit, uint32_t i)
{
    return unit->put_base + leat_atm_aal_io_cycles(i / 4 * 4) + 4 * (i % 4) + 4;
}

static void give_up(struct leat_atm_aal_unit *unit)
{
    while (unit->write_first != NONE) {
        const uint16_t block = unit->write_first;
        unit->write_first = block == unit->send.busy_tail ? NONE : unit->send.link[block].next;
        leat_atm_aal_chain_release(&unit->send, block);
    }
    unit->write.count = 0;
    unit->reported |= LEAT_ATM_AAL_EXIT;
}

/* A block for the message, or a wait for one, or the end of the message (note 5.2). */
static bool take_block(struct leat_atm_aal_unit *unit, uint64_t now)
{
    if (unit->send.busy_count == unit->send.count) {
        if (unit->messages_busy == 0)
            give_up(unit);
        else if (!unit->nomem) {
            unit->nomem = 1;
            unit->reported |= LEAT_ATM_AAL_NOMEM;
        }
        leat_atm_aal_scan_plan(unit, now + 1);
        return false;
    }
    const bool first = unit->send.busy_count == 0;
    leat_atm_aal_scan_grows(unit, now);
    const uint16_t block = leat_atm_aal_chain_take(&unit->send);
    unit->send_block[block] = (struct leat_atm_aal_send_block){ .message = unit->message_count };
    memset(send_cell(unit, block), 0, CELL_LEN);
    leat_arena_fetch(send_cell(unit, unit->send.free_head));
    leat_arena_fetch(&unit->send_block[unit->send.free_head]);
    if (first) unit->scan_block = block;
    if (unit->write_first == NONE) unit->write_first = block;
    unit->nomem = 0;
    leat_atm_aal_scan_plan(unit, now + 1);
    return true;
}

/* Stores what fits in the tail block. False: needs a block, at due[STATE0]. */
static bool put(struct leat_atm_aal_unit *unit, const struct leat_atm_aal_command *c)
{
    const uint32_t rest = c->len - unit->put_done,
                   room = (uint32_t)PAYLOAD_LEN - unit->write_offset;
    const uint32_t len = rest < room ? rest : room;
    if (len)
        memcpy(send_cell(unit, unit->send.busy_tail) + PAYLOAD_AT + unit->write_offset,
               c->octets + unit->put_done, len);
    unit->put_done += len;
    unit->write_offset = (uint16_t)(unit->write_offset + len);
    /* Only this message is left in the buffer (seed 001, "msgtoolong"). */
    if (len && unit->write_offset == PAYLOAD_LEN && unit->messages_busy == 0 &&
        unit->send.busy_count == unit->send.count)
        unit->reported |= LEAT_ATM_AAL_TOOLONG;
    if (unit->put_done == c->len) {
        unit->write_free_at = unit->put_base + leat_atm_aal_io_cycles(c->len);
        return true;
    }
    unit->due[LEAT_ATM_AAL_STATE0] = stored_at(unit, unit->put_done);
    return false;
}

static bool begin_put(struct leat_atm_aal_unit *unit, const struct leat_atm_aal_command *c,
                      uint64_t at)
{
    unit->put_base = at;
    unit->put_done = 0;
    return put(unit, c);
}

static void begin_segmentation(struct leat_atm_aal_unit *unit,
                               const struct leat_atm_task_message *m)
{
    uint16_t cells = 1;
    uint8_t *words = send_cell(unit, unit->write_first) + PAYLOAD_AT;
    for (uint16_t b = unit->write_first; b != unit->send.busy_tail; b = unit->send.link[b].next)
        cells++;
    (void)leat_atm_task_message_encode(m, words, LEAT_ATM_TASK_MESSAGE_LEN);
    unit->segment_block = unit->write_first;
    unit->segment_cells = cells;
    const uint64_t passes_at = unit->write_free_at + STATE1_CYCLES +
                               (uint64_t)STATE1_PER_CELL * cells;
    unit->label_at = passes_at + LABEL_AFTER;
    wake_rare(unit, LEAT_ATM_AAL_STATE2, passes_at + (uint64_t)PASS_CYCLES * cells - 1);
}

/* Accepts commands until one must wait. */
static void accept_writes(struct leat_atm_aal_unit *unit)
{
    struct leat_atm_aal_command *c;
    while ((c = first_command(&unit->write)) && unit->segment_cells == 0) {
        const uint64_t at = c->not_before > unit->write_free_at ? c->not_before
                                                                : unit->write_free_at;
        unit->write_free_at = at + COMMAND_CYCLES;
        switch (c->verb) {
        case LEAT_ATM_AAL_INITSEND:
        case LEAT_ATM_AAL_WRITE: wake(unit, LEAT_ATM_AAL_STATE0, at + TAKE_AFTER); return;
        case LEAT_ATM_AAL_PUT:
            if (!begin_put(unit, c, at)) {
                wake(unit, LEAT_ATM_AAL_STATE0, unit->due[LEAT_ATM_AAL_STATE0]);
                return;
            }
            break;
        case LEAT_ATM_AAL_DESTINATION: unit->destination = c->destination; break;
        case LEAT_ATM_AAL_SEND:
            unit->write_free_at = at + WORDS_CYCLES;
            begin_segmentation(unit, &c->message);
            break;
        case LEAT_ATM_AAL_RECEIVE:
        case LEAT_ATM_AAL_GET:
        case LEAT_ATM_AAL_READ: break; /* these wait in the other queue */
        }
        drop_command(&unit->write);
    }
}

/* WRITE, when its octets are stored. */
static void end_write(struct leat_atm_aal_unit *unit, const struct leat_atm_aal_command *c)
{
    unit->destination = c->destination;
    unit->write_free_at += COMMAND_CYCLES + WORDS_CYCLES;
    begin_segmentation(unit, &c->message);
}

/* A block is to be taken, for INITSEND or in the middle of a PUT. */
void leat_atm_aal_state0(struct leat_atm_aal_unit *unit, uint64_t now)
{
    struct leat_atm_aal_command *c = first_command(&unit->write);
    unit->due[LEAT_ATM_AAL_STATE0] = LEAT_NEVER;
    if (!c || (unit->nomem && unit->reading)) return; /* the end of reading wakes it again */
    if (unit->nomem && now < unit->read_free_at) {    /* a denied request still occupies the unit */
        unit->due[LEAT_ATM_AAL_STATE0] = unit->read_free_at;
        return;
    }
    if (!take_block(unit, now)) return;
    if (c->verb == LEAT_ATM_AAL_INITSEND || (c->verb == LEAT_ATM_AAL_WRITE && !c->begun)) {
        c->begun = true;
        unit->write_offset = LEAT_ATM_TASK_MESSAGE_LEN;
        unit->write_free_at = now + COMMAND_CYCLES - TAKE_AFTER;
        if (c->verb == LEAT_ATM_AAL_WRITE && !begin_put(unit, c, unit->write_free_at)) return;
    } else {
        unit->write_offset = 0;
        unit->put_base += now - stored_at(unit, unit->put_done); /* the time it waited */
        if (!put(unit, c)) return;
    }
    if (c->verb == LEAT_ATM_AAL_WRITE) end_write(unit, c);
    drop_command(&unit->write);
    accept_writes(unit);
}

void leat_atm_aal_block_freed(struct leat_atm_aal_unit *unit, uint64_t now)
{
    if (unit->nomem) unit->due[LEAT_ATM_AAL_STATE0] = now; /* STATE0 runs later in this step */
}

static uint32_t next_number(struct leat_atm_aal_unit *unit, uint8_t stream)
{
    uint32_t *last = stream == TO_ALL   ? &unit->broadcast_number
                     : stream == TO_ONE ? &unit->peer[unit->destination].number
                                        : &unit->group[stream - TO_GROUP].number;
    unit->group_cells += stream >= TO_GROUP;
    return *last = (*last + 1) & unit->number_mask;
}

/* A bit for each of the first `ports` ports. */
static uint64_t ports_in_word(uint32_t ports, size_t word)
{
    return ports >= 64 * (word + 1) ? UINT64_MAX : (UINT64_C(1) << ports % 64) - 1;
}

/* Who is to acknowledge a block that is not for one port: acknum, ackdesc. */
static void await_all(struct leat_atm_aal_unit *unit, uint16_t block, uint8_t stream)
{
    const struct leat_atm_aal_group *group = stream < TO_GROUP ? NULL
                                                               : &unit->group[stream - TO_GROUP];
    const size_t words = ack_words(&unit->config);
    unit->send_block[block].acks_missing = (uint16_t)(group ? group->member_count
                                                            : unit->config.ports);
    for (size_t i = 0; i < words; i++)
        unit->ack_missing[block * words + i] = group ? group->members[i]
                                                     : ports_in_word(unit->config.ports, i);
}

/* Writes STATE1's fields into a block, and the label that it gets in its pass. */
static void head_block(struct leat_atm_aal_unit *unit, uint16_t block)
{
    struct leat_atm_aal_send_block *b = &unit->send_block[block];
    b->stream = stream_to(&unit->config, unit->destination);
    b->destination = unit->destination;
    b->acks_missing = 1;
    if (b->stream != TO_ONE) await_all(unit, block, b->stream);
    b->sequence = next_number(unit, b->stream);
    b->flag = (uint8_t)((block == unit->write_first ? LEAT_ATM_TASK_FIRST : 0) |
                        (block == unit->send.busy_tail ? LEAT_ATM_TASK_LAST : 0));
    leat_atm_aal_cell_head(unit, send_cell(unit, block), LEAT_ATM_TASK_MESSAGE, b->sequence,
                           b->flag, b->destination);
}

static void message_ready(struct leat_atm_aal_unit *unit, uint64_t now)
{
    uint16_t b = unit->write_first;
    unit->send_block[b].state = LEAT_ATM_AAL_READY;
    for (uint16_t i = 1; i < unit->segment_cells; i++) {
        b = unit->send.link[b].next;
        unit->send_block[b].state = LEAT_ATM_AAL_READY;
    }
    unit->scan_finds += unit->segment_cells;
    unit->write_first = NONE;
    unit->message_count++;
    unit->messages_busy++;
    unit->write_free_at = now + 1;
    unit->reported |= LEAT_ATM_AAL_WRITTEN;
    unit->due[LEAT_ATM_AAL_STATE2] = LEAT_NEVER;
    unit->segment_cells = 0;
    leat_atm_aal_scan_plan(unit, now + 1);
    accept_writes(unit); /* commands from before wlcked fell */
}

/* Takes the labels that are due when a caller needs the state of STATE2 after step `now`. */
void leat_atm_aal_unit_settle(struct leat_atm_aal_unit *unit, uint64_t now)
{
    while (unit->segment_block != NONE && unit->label_at <= now) {
        const uint16_t block = unit->segment_block;
        head_block(unit, block);
        unit->segment_block = block == unit->send.busy_tail ? NONE : unit->send.link[block].next;
        unit->label_taken_at = unit->label_at;
        unit->label_at += PASS_CYCLES;
    }
}

/* STATE1's number in its `at`-th cycle: seven cycles for the first cell, four for each other, two
 * at the end (note 5.3). */
static uint8_t state1_of(uint64_t at, uint64_t cells)
{
    enum { FIRST = 5, FIRST_CYCLES = 7, OTHER = 12, END = 16 };
    const uint64_t end_at = FIRST_CYCLES + STATE1_PER_CELL * (cells - 1);
    if (at < FIRST_CYCLES) return (uint8_t)(FIRST + at);
    if (at < end_at) return (uint8_t)(OTHER + (at - FIRST_CYCLES) % STATE1_PER_CELL);
    return at == end_at ? END : 0;
}

void leat_atm_aal_pack_view(const struct leat_atm_aal_unit *unit, uint64_t now,
                            struct leat_atm_aal_view *out)
{
    static const uint8_t state2[PASS_CYCLES] = { 1, 2, 3, 4, 5, 0 };
    enum { STATE3_IN = 2, STATE4_IN = 3 }; /* of a pass */
    const uint64_t cells = unit->segment_cells,
                   passes_at = unit->write_free_at + STATE1_CYCLES + STATE1_PER_CELL * cells;
    out->state1 = out->state2 = out->state3 = out->state4 = 0;
    if (!cells || now < unit->write_free_at) return;
    if (now < passes_at) {
        out->state1 = state1_of(now - unit->write_free_at, cells);
        return;
    }
    const uint64_t at = (now - passes_at) % PASS_CYCLES;
    out->state2 = state2[at];
    out->state3 = at == STATE3_IN;
    out->state4 = at == STATE4_IN;
}

/* Due in the last cycle of the last pass. */
void leat_atm_aal_state2(struct leat_atm_aal_unit *unit, uint64_t now)
{
    leat_atm_aal_unit_settle(unit, now);
    message_ready(unit, now);
}

bool leat_atm_aal_unit_command(struct leat_atm_aal_unit *unit,
                               const struct leat_atm_aal_command *command, uint64_t now)
{
    const bool reads = command->verb == LEAT_ATM_AAL_RECEIVE || command->verb == LEAT_ATM_AAL_GET ||
                       command->verb == LEAT_ATM_AAL_READ;
    struct leat_atm_aal_commands *queue = reads ? &unit->read : &unit->write;
    if (queue->count == LEAT_ATM_AAL_COMMANDS_MAX) return false;
    uint64_t *free_at = reads ? &unit->read_free_at : &unit->write_free_at;
    const bool at_rest = queue->count == 0;
    if (at_rest) queue->head = 0; /* its memory is in the cache */
    queue->waiting[(queue->head + queue->count++) % LEAT_ATM_AAL_COMMANDS_MAX] = *command;
    if (!at_rest) return true;
    if (*free_at <= now) *free_at = now + 1;
    if (reads)
        leat_atm_aal_accept_reads(unit, now);
    else
        accept_writes(unit);
    return true;
}
