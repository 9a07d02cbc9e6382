/*
 * Resynchronisation (README): how a stream continues after cells of it were discarded. The
 * prototype does not have it: its receiver waits forever.
 *
 * A stream is the sequence of cells from one unit to another, point to point, as broadcasts, or to
 * a group; it has its own numbers. The sender repeats RESYNC n until it is answered: no cell with a
 * number up to n will follow. The receiver keeps those it has and skips the others.
 */
#include "atm_aal_unit_parts.h"
#include <string.h>

static struct leat_atm_aal_gap *gap_of(const struct leat_atm_aal_unit *unit, uint32_t port,
                                       uint8_t stream)
{
    return stream < TO_GROUP ? &unit->gap[2 * (size_t)port + stream]
                             : &unit->gap[(size_t)stream * unit->config.ports + port];
}

/* The inverse: the port of a gap, and its stream. */
static uint32_t port_of(const struct leat_atm_aal_unit *unit, uint32_t gap, uint8_t *stream)
{
    const uint32_t ports = unit->config.ports, point = 2 * ports;
    *stream = (uint8_t)(gap < point ? gap % 2 : gap / ports);
    return gap < point ? gap / 2 : gap % ports;
}

/* ---- sender ---------------------------------------------------------------------------------- */

static void plan(struct leat_atm_aal_unit *unit, struct leat_atm_aal_gap *gap, uint64_t at)
{
    gap->send_at = at;
    if (at < unit->gap_at) unit->gap_at = at;
    const uint64_t due = leat_atm_aal_gaps_due(unit);
    if (due < unit->due[LEAT_ATM_AAL_STATE9]) wake_rare(unit, LEAT_ATM_AAL_STATE9, due);
}

/* As soon as possible: RESYNC is not sent more often than any other cell. */
static void plan_soon(struct leat_atm_aal_unit *unit, struct leat_atm_aal_gap *gap, uint64_t now)
{
    const uint64_t from = gap->sent_at ? gap->sent_at + unit->config.retransmit_cycles : 0;
    const uint64_t at = from > now ? from : now + 1;
    gap->wait_cycles = unit->config.retransmit_cycles;
    if (at < gap->send_at) plan(unit, gap, at);
}

/* The destination ports of a block: *first up to the one before the result. */
static uint32_t ports_of(const struct leat_atm_aal_unit *unit, uint16_t block, uint32_t *first)
{
    const struct leat_atm_aal_send_block *b = &unit->send_block[block];
    *first = b->stream == TO_ONE ? b->destination : 0;
    return b->stream == TO_ONE ? *first + 1 : unit->config.ports;
}

void leat_atm_aal_gap_open(struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now)
{
    const struct leat_atm_aal_send_block *b = &unit->send_block[block];
    uint32_t port;
    for (const uint32_t end = ports_of(unit, block, &port); port < end; port++) {
        struct leat_atm_aal_gap *gap = gap_of(unit, port, b->stream);
        if (!awaits_port(unit, block, port)) continue;
        if (!gap->open) {
            unit->gap_count++;
            *gap = (struct leat_atm_aal_gap){ .open = true,
                                              .send_at = LEAT_NEVER,
                                              .number = b->sequence };
        }
        if (comes_after(unit, b->sequence, gap->number)) gap->number = b->sequence;
        plan_soon(unit, gap, now);
    }
}

void leat_atm_aal_gap_hurry(struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now)
{
    uint32_t port;
    for (const uint32_t end = ports_of(unit, block, &port); port < end; port++) {
        struct leat_atm_aal_gap *gap = gap_of(unit, port, unit->send_block[block].stream);
        if (gap->open && awaits_port(unit, block, port)) plan_soon(unit, gap, now);
    }
}

/* A cell before the gap that may still be acknowledged: RESYNC would duplicate it. */
static bool has_older(const struct leat_atm_aal_unit *unit, uint32_t gap)
{
    uint8_t stream;
    const uint32_t port = port_of(unit, gap, &stream);
    uint16_t block = unit->send.busy_head;
    for (uint16_t i = 0; i < unit->send.busy_count; i++, block = unit->send.link[block].next) {
        const struct leat_atm_aal_send_block *b = &unit->send_block[block];
        if (b->stream == stream && !b->to_free && awaits_port(unit, block, port) &&
            comes_after(unit, unit->gap[gap].number, b->sequence))
            return true;
    }
    return false;
}

static void write_resync(struct leat_atm_aal_unit *unit, uint32_t gap, uint64_t now)
{
    uint8_t stream;
    const uint32_t port = port_of(unit, gap, &stream);
    leat_atm_aal_unit_settle(unit, now); /* labels that STATE2 has already taken come first */
    memset(unit->resync_cell, 0, CELL_LEN);
    leat_atm_aal_cell_head(unit, unit->resync_cell, LEAT_ATM_TASK_RESYNC, unit->gap[gap].number,
                           stream_flag(stream), (uint16_t)port);
}

/* Of the gaps that are due the first gets its RESYNC; the others wait until that is sent. */
void leat_atm_aal_gaps_tend(struct leat_atm_aal_unit *unit, uint64_t now)
{
    unit->gap_at = LEAT_NEVER;
    for (uint32_t i = 0; i < stream_count(&unit->config) * unit->config.ports; i++) {
        struct leat_atm_aal_gap *gap = &unit->gap[i];
        if (!gap->open) continue;
        if (gap->send_at <= now && has_older(unit, i))
            gap->send_at = now + unit->config.retransmit_cycles;
        if (gap->send_at <= now && unit->resync_requested_at == LEAT_NEVER) {
            write_resync(unit, i, now);
            unit->gap_requested = i;
            unit->resync_requested_at = now;
            gap->send_at = LEAT_NEVER; /* until it is sent */
        }
        if (gap->send_at < unit->gap_at) unit->gap_at = gap->send_at;
    }
}

/* An idle stream repeats RESYNC more and more rarely: its receiver may never return. */
void leat_atm_aal_gap_sent(struct leat_atm_aal_unit *unit, uint64_t now)
{
    struct leat_atm_aal_gap *gap = &unit->gap[unit->gap_requested];
    unit->resync_requested_at = LEAT_NEVER;
    if (gap->open) {
        gap->sent_at = now;
        plan(unit, gap, now + gap->wait_cycles);
        gap->wait_cycles *= 2;
    }
    const uint64_t due = leat_atm_aal_gaps_due(unit), at = due > now ? due : now;
    if (due != LEAT_NEVER && at < unit->due[LEAT_ATM_AAL_STATE9])
        wake_rare(unit, LEAT_ATM_AAL_STATE9, at);
}

/* An answer to an earlier RESYNC does not cover cells discarded since. */
void leat_atm_aal_gap_close(struct leat_atm_aal_unit *unit,
                            const struct leat_atm_aal_receive_block *resynced)
{
    struct leat_atm_aal_gap *gap = gap_of(unit, resynced->source, resynced->stream);
    if (!gap->open || gap->number != resynced->sequence) {
        unit->counts.acks_unmatched++;
        return;
    }
    gap->open = false;
    unit->gap_count--;
    unit->counts.resynchronised++;
}

/* ---- receiver -------------------------------------------------------------------------------- */

/* The open message of this stream has lost a cell for good. A peer that does not end its messages
 * may have more than one. */
static void cut_messages(struct leat_atm_aal_unit *unit, const struct leat_atm_aal_stream *stream)
{
    while (stream->incomplete) {
        const uint16_t message = (uint16_t)(stream->incomplete - 1);
        leat_atm_aal_find_incomplete(unit, message);
        leat_atm_aal_unlink_message(unit, message);
        leat_atm_aal_release_message(unit, message);
        unit->counts.cut_short++;
    }
}

/* Up to skip_to, numbers that are not parked will not arrive. Parked ones wait for their turn. */
void leat_atm_aal_pass_gaps(struct leat_atm_aal_unit *unit, uint16_t source, uint8_t number)
{
    struct leat_atm_aal_stream *stream = stream_of(unit, source, number);
    uint32_t end = stream->skip_to;
    if (stream->parked_first) {
        const uint16_t parked = (uint16_t)(stream->parked_first - 1);
        const uint32_t before = (unit->receive_block[parked].sequence - 1) & unit->number_mask;
        if (comes_after(unit, end, before)) end = before;
    }
    if (comes_after(unit, end, stream->received)) {
        cut_messages(unit, stream);
        stream->received = end;
    }
    stream->skips = comes_after(unit, stream->skip_to, stream->received);
}

void leat_atm_aal_resynchronise(struct leat_atm_aal_unit *unit,
                                const struct leat_atm_aal_receive_block *resync)
{
    struct leat_atm_aal_stream *stream = stream_of(unit, resync->source, resync->stream);
    if (stream->skips && !comes_after(unit, resync->sequence, stream->skip_to))
        return; /* a copy, or an earlier one */
    stream->skip_to = resync->sequence;
    leat_atm_aal_pass_gaps(unit, resync->source, resync->stream);
}

/* ---- multicast groups ------------------------------------------------------------------------ */

/* No gap of it is open, and messages that came are complete. */
static bool is_settled(const struct leat_atm_aal_unit *unit, uint8_t stream)
{
    for (uint32_t port = 0; port < unit->config.ports; port++) {
        const struct leat_atm_aal_stream *from = stream_of(unit, port, stream);
        if (gap_of(unit, port, stream)->open || from->incomplete || from->skips) return false;
    }
    return true;
}

bool leat_atm_aal_unit_group_is_quiet(const struct leat_atm_aal_unit *unit, uint32_t group)
{
    const uint8_t stream = (uint8_t)(TO_GROUP + group);
    uint16_t block = unit->send.busy_head;
    for (uint16_t i = 0; i < unit->send.busy_count; i++, block = unit->send.link[block].next)
        if (unit->send_block[block].stream == stream) return false;
    block = unit->receive.busy_head;
    for (uint16_t i = 0; i < unit->receive.busy_count;
         i++, block = unit->receive.link[block].next) {
        const struct leat_atm_aal_receive_block *b = &unit->receive_block[block];
        if (b->stream == stream && !b->in_message) return false; /* parked, or still to be served */
    }
    return is_settled(unit, stream);
}

void leat_atm_aal_unit_set_group(struct leat_atm_aal_unit *unit, uint32_t group,
                                 const uint64_t *members, const uint32_t *number)
{
    struct leat_atm_aal_group *g = &unit->group[group];
    const uint8_t stream = (uint8_t)(TO_GROUP + group);
    assert(group < unit->config.groups && leat_atm_aal_unit_group_is_quiet(unit, group));
    g->members = members;
    g->member_count = 0;
    for (uint32_t port = 0; port < unit->config.ports; port++) {
        g->member_count += is_in(unit, stream, port);
        stream_of(unit, port, stream)->received = number[port];
    }
}
