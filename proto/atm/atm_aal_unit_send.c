/*
 * STATE5 (note R2, R3): acknowledgements first, then the blocks that are ready, found by a walk
 * around the busy list at two cycles a block; and the part of STATE9 that sends a block again.
 *
 * The walk is not walked: between two changes of the list it is known where it stands in any cycle.
 */
#include "atm_aal_unit_parts.h"
#include <assert.h>

enum { WALK_CYCLES = 2, PREPARE_CYCLES = 2 /* from the look to the first octet on buf */ };

static uint16_t block_after(const struct leat_atm_aal_unit *unit, uint16_t block)
{
    return block == unit->send.busy_tail ? unit->send.busy_head : unit->send.next[block];
}

/* Does the walk stop at this block? A block that is being written stops it, unless its writer
 * waits for a block itself: then nothing would ever be freed (README, doubts). */
static bool stops_walk(const struct leat_atm_aal_unit *unit, uint16_t block)
{
    const struct leat_atm_aal_send_block *b = &unit->send_block[block];
    return b->to_free || b->state == LEAT_ATM_AAL_READY ||
           (b->state == LEAT_ATM_AAL_NOT_READY && !unit->nomem);
}

/*
 * The walk looks at scan_block in cycle look_at and moves on in the cycle after it. Moves to the last
 * look before cycle `from`, or to the one in it.
 */
static void walk_to(struct leat_atm_aal_unit *unit, uint64_t from)
{
    if (unit->look_at >= from) return;
    const uint64_t steps = (from - unit->look_at) / WALK_CYCLES;
    unit->look_at += steps * WALK_CYCLES;
    for (uint64_t rest = steps % unit->send.busy_count; rest; rest--)
        unit->scan_block = block_after(unit, unit->scan_block);
}

uint16_t leat_atm_aal_scan_block_at(const struct leat_atm_aal_unit *unit, uint64_t now)
{
    uint16_t block = unit->scan_block;
    if (unit->sending || unit->freeing || unit->scan_waits || now <= unit->look_at) return block;
    uint64_t steps = (now - unit->look_at + 1) / WALK_CYCLES % unit->send.busy_count;
    while (steps--) block = block_after(unit, block);
    return block;
}

static bool waits_for_its_writer(const struct leat_atm_aal_unit *unit)
{
    return unit->send.busy_count > 0 && !unit->nomem &&
           unit->send_block[unit->scan_block].state == LEAT_ATM_AAL_NOT_READY &&
           !unit->send_block[unit->scan_block].to_free;
}

void leat_atm_aal_scan_plan(struct leat_atm_aal_unit *unit, uint64_t from)
{
    if (unit->sending || unit->freeing) return; /* plans when it is done */
    if (unit->scan_waits) {
        if (!unit->ack_pending && waits_for_its_writer(unit)) return;
        if (unit->look_at < from) unit->look_at = from; /* it looked in every cycle */
        unit->scan_waits = 0;
    } else
        walk_to(unit, from);

    const bool here = unit->look_at >= from;
    const uint64_t next_at = here ? unit->look_at : unit->look_at + WALK_CYCLES;
    unit->due[LEAT_ATM_AAL_STATE5] = unit->ack_pending ? next_at : LEAT_NEVER;
    if (unit->ack_pending) return;
    unit->scan_waits = unit->send.busy_count == 0;
    uint16_t block = unit->scan_block;
    if (!here && unit->send.busy_count) block = block_after(unit, block);
    for (uint16_t i = 0; i < unit->send.busy_count; i++, block = block_after(unit, block))
        if (stops_walk(unit, block)) {
            unit->due[LEAT_ATM_AAL_STATE5] = next_at + (uint64_t)WALK_CYCLES * i;
            return;
        }
}

static void put_on_line(struct leat_atm_aal_unit *unit, uint8_t *cell, uint64_t at)
{
    unit->line_cell = cell;
    unit->line_at = at;
    unit->told |= LEAT_ATM_AAL_LINE;
    unit->due[LEAT_ATM_AAL_STATE5] = at + CELL_LEN;
}

void leat_atm_aal_unit_refuse(struct leat_atm_aal_unit *unit, uint64_t now)
{
    assert(unit->sending);
    unit->counts.refusals++;
    put_on_line(unit, unit->line_cell, now + 1); /* the unit may wake too early, never too late */
}

static void begin_block(struct leat_atm_aal_unit *unit, uint64_t now)
{
    struct leat_atm_aal_send_block *b = &unit->send_block[unit->scan_block];
    unit->sending = 1;
    unit->sending_ack = 0;
    if (b->transmissions++) unit->counts.retransmissions++;
    unit->counts.cells_sent++;
    put_on_line(unit, send_cell(unit, unit->scan_block), now + PREPARE_CYCLES);
}

static void begin_ack(struct leat_atm_aal_unit *unit, uint64_t now)
{
    unit->sending = unit->sending_ack = 1;
    unit->counts.acks_sent++;
    put_on_line(unit, unit->ack_cell, now + PREPARE_CYCLES);
}

/* States 3, 6 and 8. */
static void end_cell(struct leat_atm_aal_unit *unit, uint64_t now)
{
    unit->sending = 0;
    if (unit->sending_ack) {
        unit->ack_pending = 0;
        unit->ack_free_at = now;
        leat_atm_aal_ack_sent(unit, now);
    } else {
        struct leat_atm_aal_send_block *b = &unit->send_block[unit->scan_block];
        b->state = LEAT_ATM_AAL_SENT;
        /* STATE9 counts the first cycle in this very step. */
        b->expires_at = now + unit->config.retransmit_cycles - 1;
        if (b->expires_at < unit->due[LEAT_ATM_AAL_STATE9])
            unit->due[LEAT_ATM_AAL_STATE9] = b->expires_at;
        unit->scan_block = block_after(unit, unit->scan_block);
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
    return (block == c->busy_head || !same_message(unit, block, c->prev[block])) &&
           (block == c->busy_tail || !same_message(unit, block, c->next[block]));
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
    b->to_free = 0;
    b->state = LEAT_ATM_AAL_NOT_READY;
    leat_atm_aal_block_freed(unit, now);
}

static void look(struct leat_atm_aal_unit *unit, uint64_t now)
{
    if (unit->send.busy_count > 0) walk_to(unit, now);
    unit->look_at = now;
    if (unit->ack_pending) {
        begin_ack(unit, now);
        return;
    }
    const struct leat_atm_aal_send_block *b = &unit->send_block[unit->scan_block];
    if (b->to_free) {
        unit->freeing = 1;
        unit->due[LEAT_ATM_AAL_STATE5] = now + 1;
    } else if (b->state == LEAT_ATM_AAL_READY)
        begin_block(unit, now);
    else { /* the writer of this block is at work */
        unit->scan_waits = 1;
        unit->due[LEAT_ATM_AAL_STATE5] = LEAT_NEVER;
    }
}

void leat_atm_aal_state5(struct leat_atm_aal_unit *unit, uint64_t now)
{
    if (!unit->sending && !unit->freeing) {
        look(unit, now);
        return;
    }
    if (unit->sending)
        end_cell(unit, now);
    else
        end_free(unit, now);
    unit->look_at = now + 1;
    leat_atm_aal_scan_plan(unit, now + 1);
}

/* A block whose timer has run out is ready again, or given up; one block given up in a step. */
void leat_atm_aal_state9(struct leat_atm_aal_unit *unit, uint64_t now)
{
    uint64_t next_at = LEAT_NEVER;
    uint16_t block = unit->send.busy_head;
    for (uint16_t i = 0; i < unit->send.busy_count; i++, block = unit->send.next[block]) {
        struct leat_atm_aal_send_block *b = &unit->send_block[block];
        if (b->state != LEAT_ATM_AAL_SENT || b->to_free) continue;
        if (b->expires_at <= now && b->transmissions < unit->config.transmissions_max)
            b->state = LEAT_ATM_AAL_READY;
        else if (b->expires_at <= now && !(unit->told & LEAT_ATM_AAL_UNDELIVERABLE)) {
            b->to_free = 1;
            unit->block_told = block;
            unit->told |= LEAT_ATM_AAL_UNDELIVERABLE;
            unit->counts.undeliverable++;
        } else if (b->expires_at < next_at)
            next_at = b->expires_at;
    }
    unit->due[LEAT_ATM_AAL_STATE9] = next_at <= now ? now + 1 : next_at;
    leat_atm_aal_scan_plan(unit, now + 1);
}
