/*
 * STATE5 (note R2, R3): acknowledgements first, then the ready blocks, found by a walk around the
 * busy list at two cycles per block; and the part of STATE9 that retransmits a block.
 *
 * The code does not simulate the walk cycle by cycle: between two changes of the list it computes
 * the position of the walk in any cycle.
 */
#include "atm_aal_unit_parts.h"
#include <assert.h>

enum { WALK_CYCLES = 2, PREPARE_CYCLES = 2 /* from the look to the first octet on buf */ };

static uint16_t block_after(const struct leat_atm_aal_unit *unit, uint16_t block)
{
    return block == unit->send.busy_tail ? unit->send.busy_head : unit->send.link[block].next;
}

/* Does the walk in cycle `at` stop at this block? A block being written stops it, unless its writer
 * waits for a block itself: then no block would ever be freed (README, doubts). */
static bool stops_walk(const struct leat_atm_aal_unit *unit, uint16_t block, uint64_t at)
{
    const struct leat_atm_aal_send_block *b = &unit->send_block[block];
    return (b->to_free && at > b->free_at) || b->state == LEAT_ATM_AAL_READY ||
           (b->state == LEAT_ATM_AAL_NOT_READY && !unit->nomem);
}

/* No block stops the walk, wherever it is. */
static bool finds_nothing(const struct leat_atm_aal_unit *unit)
{
    return unit->scan_finds == 0 && (unit->write_first == NONE || unit->nomem);
}

/* The walk's next block: state 9 goes to the head, 10 to the next. */
static uint16_t block_after_look(const struct leat_atm_aal_unit *unit)
{
    return unit->scan_wraps ? unit->send.busy_head : block_after(unit, unit->scan_block);
}

/* The block that the walk examines so many looks after scan_block. */
static uint16_t block_ahead(const struct leat_atm_aal_unit *unit, uint64_t looks)
{
    const uint16_t count = unit->send.busy_count;
    if (looks == 0) return unit->scan_block;
    uint16_t block = block_after_look(unit);
    uint64_t rest = looks - 1;
    if (rest >= count) rest %= count; /* divisions are slow, and mostly this is none */
    for (; rest; rest--)
        block = block_after(unit, block);
    return block;
}

/*
 * The walk examines scan_block in cycle look_at and advances in the cycle after it. Moves to the
 * last look before cycle `from`, or to the one in it.
 */
static void walk_to(struct leat_atm_aal_unit *unit, uint64_t from)
{
    if (unit->look_at + WALK_CYCLES > from) return;
    const uint64_t looks = (from - unit->look_at) / WALK_CYCLES;
    unit->scan_block = block_ahead(unit, looks);
    unit->look_at += looks * WALK_CYCLES;
    unit->scan_wraps = 0;
}

uint16_t leat_atm_aal_scan_block_at(const struct leat_atm_aal_unit *unit, uint64_t now)
{
    if (unit->sending || unit->freeing || unit->scan_waits || now <= unit->look_at)
        return unit->scan_block;
    return block_ahead(unit, (now - unit->look_at + 1) / WALK_CYCLES);
}

void leat_atm_aal_scan_settle(struct leat_atm_aal_unit *unit, uint64_t from)
{
    if (!unit->sending && !unit->freeing && !unit->scan_waits) walk_to(unit, from);
}

void leat_atm_aal_scan_grows(struct leat_atm_aal_unit *unit, uint64_t now)
{
    /* State 6 or 8, 9 or 10: the next state is determined in the step before it. */
    if (unit->sending ? unit->sending_ack || now != unit->line_at + CELL_LEN - 1
                      : unit->freeing || unit->scan_waits)
        return;
    if (!unit->sending) walk_to(unit, now + 1);
    if (unit->look_at <= now && unit->scan_block == unit->send.busy_tail) unit->scan_wraps = 1;
}

static bool waits_for_its_writer(const struct leat_atm_aal_unit *unit)
{
    return unit->send.busy_count > 0 && !unit->nomem &&
           unit->send_block[unit->scan_block].state == LEAT_ATM_AAL_NOT_READY;
}

/* The first look of the walk in cycle `from` or later, given one look of it. */
static uint64_t look_from(uint64_t look_at, uint64_t from)
{
    return look_at >= from ? look_at : look_at + (from - look_at + 1) / WALK_CYCLES * WALK_CYCLES;
}

/* When a cell that precedes all blocks is requested: an acknowledgement, then a RESYNC. */
static uint64_t asked_at(const struct leat_atm_aal_unit *unit)
{
    return unit->ack_asked_at < unit->resync_requested_at ? unit->ack_asked_at
                                                          : unit->resync_requested_at;
}

/* STATE5 stands still and looks in every cycle: at nothing, or at a block being written. */
static bool plan_standing(struct leat_atm_aal_unit *unit, uint64_t from)
{
    const bool stays = unit->send.busy_count == 0 || waits_for_its_writer(unit);
    if (unit->look_at < from) unit->look_at = from;
    if (!stays) return false;
    unit->due[LEAT_ATM_AAL_STATE5] = LEAT_NEVER;
    if (asked_at(unit) != LEAT_NEVER) {
        const uint64_t seen_at = asked_at(unit) + 1;
        unit->due[LEAT_ATM_AAL_STATE5] = seen_at > unit->look_at ? seen_at : unit->look_at;
    }
    return true;
}

void leat_atm_aal_scan_plan(struct leat_atm_aal_unit *unit, uint64_t from)
{
    if (unit->sending || unit->freeing) return; /* plans when it is done */
    if (unit->send.busy_count == 0) unit->scan_waits = 1;
    if (unit->scan_waits) {
        if (plan_standing(unit, from)) return;
        unit->scan_waits = 0;
    } else
        walk_to(unit, from);

    const bool here = unit->look_at >= from;
    uint64_t at = here ? unit->look_at : unit->look_at + WALK_CYCLES;
    uint16_t block = here ? unit->scan_block : block_after_look(unit);
    const uint64_t ack_at = asked_at(unit) == LEAT_NEVER ? LEAT_NEVER
                                                         : look_from(at, asked_at(unit) + 1);
    unit->due[LEAT_ATM_AAL_STATE5] = ack_at;
    if (finds_nothing(unit)) return;
    /* Once around, and on to a block that was examined just before it may be freed. */
    for (uint32_t i = 0; i < unit->send.busy_count + 2u && at < ack_at; i++) {
        if (stops_walk(unit, block, at)) {
            unit->due[LEAT_ATM_AAL_STATE5] = at;
            return;
        }
        at += WALK_CYCLES;
        block = block_after(unit, block);
    }
}

static void put_on_line(struct leat_atm_aal_unit *unit, uint8_t *cell, uint64_t at)
{
    unit->line_cell = cell;
    unit->line_at = at;
    unit->reported |= LEAT_ATM_AAL_LINE;
    unit->due[LEAT_ATM_AAL_STATE5] = at + CELL_LEN;
}

void leat_atm_aal_unit_refuse(struct leat_atm_aal_unit *unit, uint64_t now)
{
    assert(unit->sending);
    unit->counts.refusals++;
    put_on_line(unit, unit->line_cell, now + 1); /* the unit may wake too early, never too late */
}

void leat_atm_aal_unit_hold(struct leat_atm_aal_unit *unit, uint64_t cycles)
{
    assert(unit->sending);
    unit->line_at += cycles;
    unit->due[LEAT_ATM_AAL_STATE5] = unit->line_at + CELL_LEN;
}

static void begin_block(struct leat_atm_aal_unit *unit, uint64_t now)
{
    struct leat_atm_aal_send_block *b = &unit->send_block[unit->scan_block];
    unit->sending = 1;
    unit->sending_ack = 0;
    if (b->transmissions++) unit->counts.retransmissions++;
    unit->counts.cells_sent++;
    if (unit->gap_count && unit->config.resync) leat_atm_aal_gap_hurry(unit, unit->scan_block, now);
    put_on_line(unit, send_cell(unit, unit->scan_block), now + PREPARE_CYCLES);
}

static void begin_ack(struct leat_atm_aal_unit *unit, uint64_t now)
{
    unit->sending = unit->sending_ack = 1;
    unit->counts.acks_sent++;
    put_on_line(unit, unit->ack_cell, now + PREPARE_CYCLES);
}

static void begin_resync(struct leat_atm_aal_unit *unit, uint64_t now)
{
    unit->sending = 1;
    unit->sending_ack = SENDING_RESYNC;
    unit->counts.resyncs_sent++;
    put_on_line(unit, unit->resync_cell, now + PREPARE_CYCLES);
}

/* States 3, 6 and 8. */
static void end_cell(struct leat_atm_aal_unit *unit, uint64_t now)
{
    unit->sending = 0;
    if (unit->sending_ack == SENDING_RESYNC)
        leat_atm_aal_gap_sent(unit, now);
    else if (unit->sending_ack) {
        /* STATE7 may have requested the next one already, for a future cycle. */
        if (unit->ack_asked_at <= now) unit->ack_asked_at = LEAT_NEVER;
        unit->ack_free_at = now;
        leat_atm_aal_ack_sent(unit, now);
    } else {
        struct leat_atm_aal_send_block *b = &unit->send_block[unit->scan_block];
        b->state = LEAT_ATM_AAL_SENT;
        unit->scan_finds--;
        /* STATE9 counts the first cycle in this very step. */
        b->expires_at = now + unit->config.retransmit_cycles - 1;
        if (b->expires_at < unit->due[LEAT_ATM_AAL_STATE9])
            wake_rare(unit, LEAT_ATM_AAL_STATE9, b->expires_at);
        unit->scan_block = block_after_look(unit);
        unit->scan_wraps = 0;
    }
}

static bool same_message(const struct leat_atm_aal_unit *unit, uint16_t a, uint16_t b)
{
    return unit->send_block[a].message == unit->send_block[b].message;
}

/* Blocks of a message lie side by side in the busy list. */
static bool last_of_its_message(const struct leat_atm_aal_unit *unit, uint16_t block)
{
    const struct leat_atm_aal_chain *c = &unit->send;
    return (block == c->busy_head || !same_message(unit, block, c->link[block].prev)) &&
           (block == c->busy_tail || !same_message(unit, block, c->link[block].next));
}

/* State 16. */
static void end_free(struct leat_atm_aal_unit *unit, uint64_t now)
{
    const uint16_t block = unit->scan_block;
    struct leat_atm_aal_send_block *b = &unit->send_block[block];
    unit->freeing = 0;
    if (last_of_its_message(unit, block)) unit->messages_busy--;
    unit->scan_block = block_after(unit, block);
    leat_atm_aal_chain_release(&unit->send, block);
    unit->scan_finds--;
    if (b->state == LEAT_ATM_AAL_READY) unit->scan_finds--; /* it was due for retransmission */
    b->to_free = 0;
    b->acks_missing = 0; /* an acknowledgement still in STATE7 is too late */
    b->state = LEAT_ATM_AAL_NOT_READY;
    leat_atm_aal_block_freed(unit, now);
}

/* State 0 in cycle `at`. Its input is settled when the step before is over. */
void leat_atm_aal_examine(struct leat_atm_aal_unit *unit, uint64_t at)
{
    if (!unit->scan_waits) walk_to(unit, at);
    unit->look_at = at;
    unit->scan_waits = unit->scan_wraps = 0;
    if (unit->ack_asked_at < at) {
        begin_ack(unit, at);
        return;
    }
    if (unit->resync_requested_at < at) {
        begin_resync(unit, at);
        return;
    }
    const struct leat_atm_aal_send_block *b = &unit->send_block[unit->scan_block];
    if (b->to_free && at > b->free_at) {
        unit->freeing = 1;
        unit->due[LEAT_ATM_AAL_STATE5] = at + 1;
    } else if (b->state == LEAT_ATM_AAL_READY)
        begin_block(unit, at);
    else { /* the writer of this block is active */
        unit->scan_waits = 1;
        plan_standing(unit, at + 1);
    }
}

void leat_atm_aal_state5(struct leat_atm_aal_unit *unit, uint64_t now)
{
    if (!unit->sending && !unit->freeing) {
        leat_atm_aal_examine(unit, now);
        return;
    }
    if (unit->sending)
        end_cell(unit, now);
    else
        end_free(unit, now);
    unit->look_at = now + 1;
    leat_atm_aal_scan_plan(unit, now + 1);
}

static void give_up_block(struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now)
{
    struct leat_atm_aal_send_block *b = &unit->send_block[block];
    b->to_free = 1;
    b->free_at = now;
    unit->scan_finds++;
    unit->counts.undeliverable++;
    leat_atm_aal_gap_open(unit, block, now);
}

/* Without one of its cells the rest of a message is useless. The prototype ignores that: it tries
 * to send each of them. */
static void give_up(struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now)
{
    const struct leat_atm_aal_chain *c = &unit->send;
    uint16_t first = block;
    if (!unit->send_block[block].given_up) unit->counts.given_up++;
    while (first != c->busy_head && same_message(unit, c->link[first].prev, block))
        first = c->link[first].prev;
    for (uint16_t b = first;; b = c->link[b].next) {
        unit->send_block[b].given_up = 1;
        if (!unit->send_block[b].to_free && (b == block || unit->config.resync))
            give_up_block(unit, b, now);
        if (b == c->busy_tail || !same_message(unit, c->link[b].next, block)) break;
    }
    unit->block_reported = block;
    unit->reported |= LEAT_ATM_AAL_UNDELIVERABLE;
}

/* A block whose timer has expired is ready again, or discarded; two never expire in one cycle. Then
 * gaps: timers also send the RESYNC cells. */
void leat_atm_aal_state9(struct leat_atm_aal_unit *unit, uint64_t now)
{
    uint64_t next_at = LEAT_NEVER;
    uint16_t block = unit->send.busy_head;
    for (uint16_t i = 0; i < unit->send.busy_count; i++, block = unit->send.link[block].next) {
        struct leat_atm_aal_send_block *b = &unit->send_block[block];
        if (b->state != LEAT_ATM_AAL_SENT) continue;
        if (b->expires_at > now) {
            next_at = b->expires_at < next_at ? b->expires_at : next_at;
            continue;
        }
        b->state = LEAT_ATM_AAL_READY;
        unit->scan_finds++;
        if (b->to_free || b->transmissions < unit->config.transmissions_max) continue;
        give_up(unit, block, now);
    }
    unit->due[LEAT_ATM_AAL_STATE9] = next_at;
    if (leat_atm_aal_gaps_due(unit) <= now) leat_atm_aal_gaps_tend(unit, now);
    if (leat_atm_aal_gaps_due(unit) < next_at)
        unit->due[LEAT_ATM_AAL_STATE9] = leat_atm_aal_gaps_due(unit);
    leat_atm_aal_scan_plan(unit, now + 1);
}
