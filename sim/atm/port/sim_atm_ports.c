#include "sim_atm_ports.h"
#include "leat_arena.h"
#include "sim_atm_ports_parts.h"
#include "sim_post.h"
#include "sim_refuse.h"
#include <assert.h>
#include <string.h>

enum {
    SPARE_BLOCKS = 16,     /* for arriving acknowledgements */
    POLL_CYCLES = 256,     /* cycles, while a message waits for room at its receiver */
    CAST_MANY_BLOCKS = 16, /* unacknowledged: no piece of a cast begins, see has_many */
    PIECES_OF_BUFFER = 8,  /* long messages are sent in pieces of this fraction of it */
};
#define SLICE_CYCLES UINT64_C(1000000)

static uint32_t blocks_of(uint64_t len)
{
    return (uint32_t)((len + LEAT_ATM_TASK_MESSAGE_LEN + LEAT_ATM_TASK_PAYLOAD_LEN - 1) /
                      LEAT_ATM_TASK_PAYLOAD_LEN);
}

static struct leat_sim_atm_ports *of(struct leat_port_net *net)
{
    return (struct leat_sim_atm_ports *)net; /* its first member */
}

leat_time leat_sim_atm_ports_edge(const struct leat_sim_atm_ports *port, uint64_t cycle)
{
    leat_time at;
    cycle += port->load.skipped_cycles;
    return leat_sim_clock_edge(&port->clock, cycle, &at) ? LEAT_NEVER : at;
}

uint64_t leat_sim_atm_ports_cycle_from(const struct leat_sim_atm_ports *port, leat_time at)
{
    return leat_sim_clock_cycle_from(&port->clock, at) - port->load.skipped_cycles;
}

uint64_t leat_sim_atm_ports_last_cycle(const struct leat_sim_atm_ports *port, leat_time until)
{
    const uint64_t last = leat_sim_clock_last(&port->clock, until);
    return last == LEAT_NEVER ? LEAT_NEVER : last - port->load.skipped_cycles;
}

/* ---- messages out ---------------------------------------------------------------------------- */

static bool is_cast(const struct leat_sim_atm_ports_entry *e)
{
    return leat_sim_atm_traffic_is_to_many(e->message.to);
}

/* So many cells may come to acknowledge those of this port. */
static uint32_t acks_to_come(const struct leat_sim_atm_ports *port, uint32_t p)
{
    const struct leat_atm_aal_unit *unit = &port->load.host[p].unit;
    uint32_t acks = 0;
    uint16_t block = unit->send.busy_head;
    if (!port->queue[p].has_cast) return unit->send.busy_count;
    for (uint32_t i = 0; i < unit->send.busy_count; i++, block = unit->send.link[block].next) {
        const struct leat_atm_aal_send_block *b = &unit->send_block[block];
        acks += b->state == LEAT_ATM_AAL_NOT_READY ? 1 : b->acks_missing;
    }
    return acks;
}

/* Does the receive buffer of this port have room for so many blocks, besides the cells in flight to
 * it and the acknowledgements for its own cells? A piece that fills the whole buffer needs it
 * empty. */
static bool has_room(const struct leat_sim_atm_ports *port, uint32_t p, uint32_t blocks)
{
    const struct leat_atm_aal_unit *unit = &port->load.host[p].unit;
    const uint32_t all = port->load.config.aal.receive_blocks;
    const uint32_t wanted = blocks + SPARE_BLOCKS < all ? blocks + SPARE_BLOCKS : all;
    const uint32_t to_come = port->queue[p].pledged + port->queue[p].written +
                             acks_to_come(port, p);
    return leat_atm_aal_unit_room(unit) >= to_come + wanted;
}

/* Does this port have so many unacknowledged blocks that it should not add to them? A unit searches
 * the block of an acknowledgement from the head of its list, two cycles a block. With a long list
 * acknowledgements arrive faster than they are served, until cells are retransmitted although
 * nothing was lost, and copies fill all buffers. Those of a cell to many come from all of them. */
static bool has_many(const struct leat_sim_atm_ports *port,
                     const struct leat_sim_atm_ports_entry *e)
{
    const uint32_t blocks = port->load.host[e->message.from].unit.send.busy_count;
    return blocks > (is_cast(e) ? CAST_MANY_BLOCKS : blocks_of(port->piece_max));
}

/* The acknowledgements of a piece, and for one to its own port those that this sends. */
static uint32_t acks_of(const struct leat_sim_atm_ports *port,
                        const struct leat_sim_atm_ports_entry *e, uint32_t blocks)
{
    if (is_cast(e)) return leat_sim_atm_load_copies(&port->load, e->message.to) * blocks;
    return e->message.from == e->message.to ? 2 * blocks : blocks;
}

/* Do all buffers have room for what a piece of this message brings them? */
static bool finds_room(const struct leat_sim_atm_ports *port,
                       const struct leat_sim_atm_ports_entry *e, uint32_t blocks)
{
    const uint32_t acks = acks_of(port, e, blocks), from = e->message.from;
    if (!is_cast(e)) return has_room(port, e->message.to, blocks) && has_room(port, from, acks);
    for (uint32_t p = 0; p < port->net.ports; p++)
        if (leat_sim_atm_load_reaches(&port->load, e->message.to, p) &&
            !has_room(port, p, p == from ? blocks + acks : blocks))
            return false;
    return true;
}

static uint32_t piece_len(const struct leat_sim_atm_ports *port,
                          const struct leat_sim_atm_ports_entry *e)
{
    const uint64_t left = e->message.len - e->begun;
    if (is_cast(e)) return (uint32_t)leat_smaller(left, port->collect.cast_max);
    const bool to_itself = e->message.from == e->message.to; /* its acknowledgements too */
    const bool at_once = e->message.len <=
                         (to_itself ? port->piece_max : port->load.config.len_max);
    if (at_once) return (uint32_t)left;
    return left < port->piece_max ? (uint32_t)left : port->piece_max;
}

/* Records why the first message of a port does not proceed, if it does not. */
static void note(struct leat_sim_atm_ports *port, uint32_t from, bool early, bool held)
{
    struct leat_sim_atm_ports_queue *queue = &port->queue[from];
    port->early += (uint32_t)early - queue->early;
    port->held += (uint32_t)held - queue->held;
    port->holds += held && !queue->held;
    queue->early = early;
    queue->held = held;
}

/* A piece begins: room for it is reserved. */
static void pledge(struct leat_sim_atm_ports *port, const struct leat_sim_atm_ports_entry *e,
                   struct leat_sim_atm_ports_piece *piece)
{
    struct leat_sim_atm_ports_queue *queue = &port->queue[e->message.from];
    const uint32_t blocks = blocks_of(piece->len);
    queue->written = blocks;
    if (e->group) {
        port->collect.pieces++;
        piece->lacking = leat_sim_atm_load_copies(&port->load, e->message.to);
    } else {
        piece->offset = e->begun;
    }
    if (!is_cast(e)) {
        port->queue[e->message.to].pledged += blocks;
        return;
    }
    queue->written = acks_of(port, e, blocks);
    queue->has_cast = true;
    piece->ordinal = ++queue->casts;
    leat_sim_atm_collect_begun(port, e->message.to);
    for (uint32_t p = 0; p < port->net.ports; p++)
        if (leat_sim_atm_load_reaches(&port->load, e->message.to, p))
            port->queue[p].pledged += blocks;
}

/* The next piece for this port to write. */
static bool next_piece(void *context, uint32_t from, struct leat_sim_message *out)
{
    struct leat_sim_atm_ports *port = context;
    struct leat_sim_atm_ports_queue *queue = &port->queue[from];
    note(port, from, false, false);
    if (!queue->first) return false;
    struct leat_sim_atm_ports_entry *e = &port->entry[queue->first - 1];
    const uint32_t len = piece_len(port, e), blocks = blocks_of(len);
    struct leat_sim_atm_ports_piece *piece = leat_sim_atm_ports_piece_of(port, from, queue->number);
    const bool early = e->cycle > port->present + 1;
    if (!port->load.host[from].unit.send.busy_count) queue->has_cast = false;
    note(port, from, early,
         !early && (piece->entry || has_many(port, e) || !finds_room(port, e, blocks)));
    if (queue->early || queue->held) {
        leat_sim_atm_load_pause(&port->load); /* so that it is called again in time */
        return false;
    }
    *piece =
        (struct leat_sim_atm_ports_piece){ .entry = queue->first, .len = len, .to = e->message.to };
    *out = (struct leat_sim_message){ .at = e->cycle, .to = e->message.to, .len = len };
    if (!e->group) out->octets = (e->stand_in ? e->stand_in : e->message.octets) + e->begun;
    queue->number++;
    pledge(port, e, piece);
    e->begun += len;
    if (e->begun == e->message.len) {
        queue->first = e->next;
        if (!queue->first) queue->last = 0;
    }
    return true;
}

/* By time, then in the order of send(); pieces of one that has begun stay together. */
static void enqueue(struct leat_sim_atm_ports *port, uint32_t index)
{
    struct leat_sim_atm_ports_entry *e = &port->entry[index];
    struct leat_sim_atm_ports_queue *queue = &port->queue[e->message.from];
    uint32_t before = 0, at = queue->first;
    if (queue->last && port->entry[queue->last - 1].cycle <= e->cycle) {
        before = queue->last;
        at = 0;
    }
    while (at && (port->entry[at - 1].begun || port->entry[at - 1].cycle <= e->cycle)) {
        before = at;
        at = port->entry[at - 1].next;
    }
    e->next = at;
    if (before)
        port->entry[before - 1].next = index + 1;
    else
        queue->first = index + 1;
    if (!at) queue->last = index + 1;
}

/* Between runs: can a blocked port proceed? */
static void retry(struct leat_sim_atm_ports *port, uint32_t from)
{
    port->present = port->load.sim.now - 1;
    leat_sim_atm_load_wake(&port->load, from);
}

static bool send(struct leat_port_net *net, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_ports *port = of(net);
    assert(at >= net->now && message->from < net->ports && message->to < net->ports);
    if (!port->free) return false;
    const uint32_t index = port->free - 1;
    port->free = port->entry[index].next;
    port->entry[index] = (struct leat_sim_atm_ports_entry){
        .message = *message,
        .cycle = leat_sim_atm_ports_cycle_from(port, at),
        .stand_in = port->stand_in,
    };
    net->in_flight++;
    enqueue(port, index);
    /* A port that waits for room checks at its own times, independent of calls. */
    if (!port->queue[message->from].held) retry(port, message->from);
    return true;
}

/* ---- messages of collective operations ------------------------------------------------------ */

void leat_sim_atm_ports_carry(struct leat_sim_atm_ports *port,
                              const struct leat_sim_atm_ports_entry *message)
{
    const uint32_t index = port->collect.free - 1, from = message->message.from;
    assert(port->collect.free);
    port->collect.free = port->entry[index].next;
    port->entry[index] = *message;
    port->entry[index].cycle = port->load.sim.now - 1;
    port->collect.messages++;
    enqueue(port, index);
    if (!port->queue[from].held) retry(port, from);
}

static void unlink_entry(struct leat_sim_atm_ports *port, uint32_t from, uint32_t index)
{
    struct leat_sim_atm_ports_queue *queue = &port->queue[from];
    uint32_t before = 0, at = queue->first;
    while (at && at != index + 1) {
        before = at;
        at = port->entry[at - 1].next;
    }
    if (!at) return;
    if (before)
        port->entry[before - 1].next = port->entry[index].next;
    else
        queue->first = port->entry[index].next;
    if (queue->last == at) queue->last = before;
}

/* Pieces before the oldest one in flight are over. */
static void forget_pieces(struct leat_sim_atm_ports *port, uint32_t from)
{
    struct leat_sim_atm_ports_queue *queue = &port->queue[from];
    while (queue->oldest != queue->number &&
           !leat_sim_atm_ports_piece_of(port, from, queue->oldest)->entry)
        queue->oldest++;
}

static void end_piece(struct leat_sim_atm_ports *port, uint32_t from,
                      struct leat_sim_atm_ports_piece *piece)
{
    piece->entry = 0;
    port->collect.pieces--;
    leat_sim_atm_collect_over(port, piece->to);
    forget_pieces(port, from);
}

void leat_sim_atm_ports_end(struct leat_sim_atm_ports *port, struct leat_sim_atm_ports_entry *e)
{
    const uint32_t index = (uint32_t)(e - port->entry), from = e->message.from;
    const uint32_t last = port->queue[from].number;
    unlink_entry(port, from, index);
    for (uint32_t number = port->queue[from].oldest; number != last; number++) {
        struct leat_sim_atm_ports_piece *piece = leat_sim_atm_ports_piece_of(port, from, number);
        if (piece->entry != index + 1) continue;
        piece->entry = LEAT_SIM_ATM_PORTS_ORPHAN;
        if (!piece->lacking) end_piece(port, from, piece);
    }
    e->next = port->collect.free;
    port->collect.free = index + 1;
    port->collect.messages--;
}

/* The unit of a port has a whole piece to many, whose blocks are no longer to come. Does the host
 * read it? */
static bool keeps(void *context, uint32_t reader, uint32_t source, uint32_t number)
{
    struct leat_sim_atm_ports *port = context;
    struct leat_sim_atm_ports_piece *piece = leat_sim_atm_ports_piece_of(port, source, number);
    if (!piece->entry || !leat_sim_atm_traffic_is_to_many(piece->to)) return false;
    uint32_t *heard = leat_sim_atm_collect_heard(port, source, reader, piece->to);
    if (*heard == piece->ordinal) return false;
    *heard = piece->ordinal;
    port->queue[reader].pledged -= blocks_of(piece->len);
    piece->lacking--;
    if (piece->entry != LEAT_SIM_ATM_PORTS_ORPHAN)
        return leat_sim_atm_collect_is_for(port, &port->entry[piece->entry - 1], reader);
    if (!piece->lacking) end_piece(port, source, piece);
    return false;
}

/* A piece will not arrive where it has not: nothing is to come any more. */
static void give_up(struct leat_sim_atm_ports *port, uint32_t from,
                    struct leat_sim_atm_ports_piece *piece)
{
    const bool is_to_many = leat_sim_atm_traffic_is_to_many(piece->to);
    for (uint32_t p = 0; p < port->net.ports; p++) {
        if (!leat_sim_atm_load_reaches(&port->load, piece->to, p)) continue;
        const uint32_t *heard = is_to_many ? leat_sim_atm_collect_heard(port, from, p, piece->to)
                                           : NULL;
        if (!heard || (int32_t)(*heard - piece->ordinal) < 0)
            port->queue[p].pledged -= blocks_of(piece->len);
    }
    end_piece(port, from, piece);
}

/* ---- replacement ----------------------------------------------------------------------------- */

/* For the message that its port writes, or will write next. */
static void replace_writing(struct leat_sim_atm_ports *port, uint32_t from, const uint8_t *stand_in)
{
    struct leat_sim_atm_load_host *host = &port->load.host[from];
    struct leat_atm_aal_commands *queue = &host->unit.write;
    host->message.octets = stand_in;
    for (uint8_t i = 0; i < queue->count; i++) {
        struct leat_atm_aal_command *c =
            &queue->waiting[(queue->head + i) % LEAT_ATM_AAL_COMMANDS_MAX];
        if (c->verb == LEAT_ATM_AAL_PUT || c->verb == LEAT_ATM_AAL_WRITE) c->octets = stand_in;
    }
}

void leat_sim_atm_ports_replace(struct leat_sim_atm_ports *port, uint32_t entry,
                                const struct leat_port_message *message, const uint8_t *stand_in,
                                const uint64_t *hash)
{
    struct leat_sim_atm_ports_entry *e = &port->entry[entry];
    struct leat_sim_atm_load_host *to = &port->load.host[message->to];
    const uint32_t writes = port->load.host[message->from].number;
    assert(e->message.from == message->from && e->message.to == message->to &&
           e->message.len == message->len);
    e->message = *message;
    e->stand_in = stand_in;
    if (leat_sim_atm_ports_piece_of(port, message->from, writes)->entry == entry + 1)
        replace_writing(port, message->from, stand_in);
    if (hash) to->reading_coming.payload_hash = *hash;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static bool has_entry(const struct leat_sim_atm_ports_piece *piece)
{
    return piece->entry && piece->entry != LEAT_SIM_ATM_PORTS_ORPHAN;
}

static struct leat_sim_atm_ports_entry *entry_of(struct leat_sim_atm_ports *port, uint32_t from,
                                                 uint32_t number,
                                                 struct leat_sim_atm_ports_piece **piece)
{
    *piece = leat_sim_atm_ports_piece_of(port, from, number);
    return has_entry(*piece) ? &port->entry[(*piece)->entry - 1] : NULL;
}

static struct leat_sim_atm_ports_entry *entry_delivered(struct leat_sim_atm_ports *port,
                                                        const struct leat_sim_delivery *delivery,
                                                        struct leat_sim_atm_ports_piece **piece)
{
    return entry_of(port, (uint32_t)delivery->source, (uint32_t)delivery->number, piece);
}

/* A callback was made. */
static void end_run(struct leat_sim_atm_ports *port)
{
    port->has_called = true;
    leat_sim_atm_load_pause(&port->load);
}

static void written(void *context, uint32_t from, uint32_t number, uint64_t cycle)
{
    struct leat_sim_atm_ports *port = context;
    struct leat_sim_atm_ports_piece *piece;
    struct leat_sim_atm_ports_entry *e = entry_of(port, from, number, &piece);
    port->present = cycle; /* in which the next piece is requested */
    port->queue[from].written = 0;
    if (!e) return; /* of an operation that has ended */
    e->sent += piece->len;
    if (e->sent < e->message.len || e->lost) return;
    if (e->group) {
        leat_sim_atm_collect_written(port, e);
        return;
    }
    port->net.observer.sent(port->net.observer.context, &e->message,
                            leat_sim_atm_ports_edge(port, cycle));
    end_run(port);
}

/* A reader gets four octets in so many cycles, evenly except for a cycle. Ports may have run a
 * stride ahead before this is known here. */
static void report_head(struct leat_sim_atm_ports *port, const struct leat_port_message *message,
                        uint32_t len, uint64_t cycle)
{
    const struct leat_port_observer *observer = &port->net.observer;
    const uint64_t reading = leat_atm_aal_io_cycles(len);
    if (!observer->head || reading <= LEAT_SIM_ATM_STRIDE) return;
    observer->head(observer->context, message,
                   leat_sim_atm_ports_edge(port, cycle - reading + LEAT_SIM_ATM_STRIDE),
                   leat_sim_atm_ports_edge(port, cycle + 1));
    end_run(port);
}

/* The last piece of a message is being read. */
static void coming(void *context, const struct leat_sim_delivery *delivery, uint32_t len)
{
    struct leat_sim_atm_ports *port = context;
    struct leat_sim_atm_ports_piece *piece;
    const struct leat_sim_atm_ports_entry *e = entry_delivered(port, delivery, &piece);
    const bool all = e && len == piece->len && e->arrived + len == e->message.len && !e->lost;
    if (!all || e->group) return;
    if (port->net.observer.coming)
        port->net.observer.coming(port->net.observer.context, &e->message,
                                  leat_sim_atm_ports_edge(port, delivery->at));
    report_head(port, &e->message, len, delivery->at);
}

static void drop(struct leat_sim_atm_ports *port, struct leat_sim_atm_ports_entry *e)
{
    e->next = port->free;
    port->free = (uint32_t)(e - port->entry) + 1;
    port->net.in_flight--;
}

static bool is_orphan_for(const struct leat_sim_atm_ports_piece *piece,
                          const struct leat_sim_delivery *delivery, uint32_t len)
{
    return piece->entry == LEAT_SIM_ATM_PORTS_ORPHAN && piece->to == delivery->destination &&
           piece->len == len;
}

/* A piece of a message to one port has arrived. */
static void take_piece(struct leat_sim_atm_ports *port, struct leat_sim_atm_ports_entry *e,
                       struct leat_sim_atm_ports_piece *piece)
{
    e->arrived += piece->len;
    port->queue[e->message.to].pledged -= blocks_of(piece->len);
    piece->entry = 0;
    port->collect.pieces -= e->group != 0;
    forget_pieces(port, e->message.from);
}

static void delivered(void *context, const struct leat_sim_delivery *delivery,
                      const uint8_t *octets, uint32_t len)
{
    struct leat_sim_atm_ports *port = context;
    struct leat_sim_atm_ports_piece *piece;
    struct leat_sim_atm_ports_entry *e = entry_delivered(port, delivery, &piece);
    if (is_orphan_for(piece, delivery, len)) give_up(port, (uint32_t)delivery->source, piece);
    if (!e || len != piece->len) return; /* a copy of one that has arrived */
    port->net.certificate = leat_sim_certificate_value(&port->load.certificate);
    if (is_cast(e)) {
        leat_sim_atm_collect_got(port, e, (uint32_t)delivery->destination, len);
        return;
    }
    if (!e->group && !port->load.cells_stay_sound && len)
        memcpy(e->message.octets + piece->offset, octets, len);
    take_piece(port, e, piece);
    if (e->arrived < e->message.len || e->lost) return;
    if (e->group) {
        leat_sim_atm_collect_arrived(port, e);
        return;
    }
    port->net.observer.arrived(port->net.observer.context, &e->message,
                               leat_sim_atm_ports_edge(port, delivery->at));
    drop(port, e);
    end_run(port);
}

/* The hash of a message whose octets are not in its cells. */
static bool digest(void *context, const struct leat_sim_delivery *delivery, uint32_t len,
                   uint64_t *hash)
{
    struct leat_sim_atm_ports *port = context;
    struct leat_sim_atm_ports_piece *piece;
    const struct leat_sim_atm_ports_entry *e = entry_delivered(port, delivery, &piece);
    if (!e || !e->stand_in) return false;
    *hash = e->has_hash ? e->hash
                        : leat_sim_post_hash(&e->message, e->message.octets + piece->offset, len);
    return true;
}

static bool is_private(void *context, const struct leat_sim_delivery *delivery)
{
    struct leat_sim_atm_ports *port = context;
    struct leat_sim_atm_ports_piece *piece;
    const struct leat_sim_atm_ports_entry *e = entry_delivered(port, delivery, &piece);
    /* Those of an operation are made up from a number that replays change. */
    return e && (e->message.is_private || e->group);
}

static void lose(struct leat_sim_atm_ports *port, struct leat_sim_atm_ports_entry *e,
                 const char *why, uint64_t cycle)
{
    if (!e || e->lost) return;
    if (e->group) {
        leat_sim_atm_collect_given_up(port, e);
        return;
    }
    e->lost = true; /* its pieces remain: their fate is not reported */
    port->net.in_flight--;
    port->net.observer.lost(port->net.observer.context, &e->message, why,
                            leat_sim_atm_ports_edge(port, cycle));
    end_run(port);
}

static void undeliverable(void *context, uint32_t from, uint32_t number, uint64_t cycle)
{
    struct leat_sim_atm_ports *port = context;
    struct leat_sim_atm_ports_piece *piece;
    struct leat_sim_atm_ports_entry *e = entry_of(port, from, number, &piece);
    if (piece->entry && (!e || e->group)) give_up(port, from, piece);
    lose(port, e, "its port gave it up after the last transmission, no acknowledgement came",
         cycle);
}

/* Is this port locked, in a group of ports or because nothing moves? */
static bool is_locked(const struct leat_sim_atm_ports *port, uint32_t p)
{
    uint64_t since;
    return leat_sim_atm_load_is_locked(&port->load, p, &since);
}

static bool concerns_locked(const struct leat_sim_atm_ports *port,
                            const struct leat_sim_atm_ports_entry *e)
{
    if (is_locked(port, e->message.from)) return true;
    for (uint32_t p = 0; p < port->net.ports; p++)
        if (leat_sim_atm_load_reaches(&port->load, e->message.to, p) && is_locked(port, p))
            return true;
    return false;
}

/* Loses the messages that a port has begun. */
static void lose_begun(struct leat_sim_atm_ports *port, uint32_t from, bool locked_only,
                       const char *why)
{
    const struct leat_sim_atm_ports_queue *queue = &port->queue[from];
    for (uint32_t number = queue->oldest; number != queue->number; number++) {
        struct leat_sim_atm_ports_piece *piece;
        struct leat_sim_atm_ports_entry *e = entry_of(port, from, number, &piece);
        if (e && (!locked_only || concerns_locked(port, e)))
            lose(port, e, why, port->load.sim.now - 1);
    }
}

/* Loses the messages that wait at a port, for room or for their time. */
static void lose_waiting(struct leat_sim_atm_ports *port, uint32_t from, bool locked_only,
                         const char *why)
{
    struct leat_sim_atm_ports_queue *queue = &port->queue[from];
    uint32_t next = queue->first;
    queue->first = queue->last = 0;
    note(port, from, false, false);
    for (uint32_t at = next; at; at = next) {
        struct leat_sim_atm_ports_entry *e = &port->entry[at - 1];
        next = e->next;
        if (locked_only && !concerns_locked(port, e)) {
            enqueue(port, at - 1);
            continue;
        }
        /* Pieces of it are in flight; or its entry ends by itself. */
        const bool is_kept = e->begun || e->group;
        lose(port, e, why, port->load.sim.now - 1);
        if (is_kept) continue;
        e->next = port->free;
        port->free = at;
    }
    if (queue->first) retry(port, from);
}

static void report_stuck(struct leat_sim_atm_ports *port, enum leat_port_stuck how,
                         bool locked_only)
{
    const struct leat_port_observer *observer = &port->net.observer;
    const char *why = leat_sim_atm_load_stuck_text(how);
    if (observer->stuck)
        observer->stuck(observer->context, how, why,
                        leat_sim_atm_ports_edge(port, port->load.sim.now - 1));
    for (uint32_t p = 0; p < port->net.ports; p++) {
        lose_begun(port, p, locked_only, why);
        lose_waiting(port, p, locked_only, why);
    }
}

/* Does a locked port block any message? */
static bool some_are_locked(struct leat_sim_atm_ports *port)
{
    bool any = false;
    if (!leat_sim_atm_load_inspect(&port->load)) return false;
    for (uint32_t p = 0; p < port->net.ports && !any; p++)
        any = is_locked(port, p);
    for (uint32_t p = 0; p < port->net.ports && any; p++) {
        const struct leat_sim_atm_ports_queue *queue = &port->queue[p];
        for (uint32_t number = queue->oldest; number != queue->number; number++) {
            struct leat_sim_atm_ports_piece *piece;
            const struct leat_sim_atm_ports_entry *e = entry_of(port, p, number, &piece);
            if (e && !e->lost && concerns_locked(port, e)) return true;
        }
        for (uint32_t at = queue->first; at; at = port->entry[at - 1].next)
            if (concerns_locked(port, &port->entry[at - 1])) return true;
    }
    return false;
}

/* Has a message begun that is still to arrive? */
static bool has_begun(struct leat_sim_atm_ports *port)
{
    for (uint32_t p = 0; p < port->net.ports; p++) {
        const struct leat_sim_atm_ports_queue *queue = &port->queue[p];
        for (uint32_t number = queue->oldest; number != queue->number; number++) {
            struct leat_sim_atm_ports_piece *piece;
            const struct leat_sim_atm_ports_entry *e = entry_of(port, p, number, &piece);
            if (e && !e->lost) return true;
        }
    }
    return false;
}

/* Does the network, or a part of it, make no progress? Units that do not resynchronise keep
 * messages behind one that was given up for ever, and are quiet. */
static void check_progress(struct leat_sim_atm_ports *port)
{
    const struct leat_sim_atm_load *load = &port->load;
    const bool is_awaited = port->held || has_begun(port);
    if (leat_sim_atm_load_is_stuck(load, &port->arrivals) && port->net.in_flight)
        report_stuck(port, LEAT_PORT_LOCKED, false);
    else if (some_are_locked(port))
        report_stuck(port, LEAT_PORT_LOCKED, true);
    else if (leat_sim_atm_load_is_livelocked(load, load->counts.messages_delivered, is_awaited,
                                             &port->progress)) {
        port->progress.since = load->sim.now;
        report_stuck(port, LEAT_PORT_LIVELOCKED, false);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

/* The cycles up to the next check of ports that wait for room; 0: it is the next cycle. */
static uint64_t until_poll(const struct leat_sim_atm_ports *port)
{
    return (POLL_CYCLES - (port->load.sim.now + port->load.skipped_cycles) % POLL_CYCLES) %
           POLL_CYCLES;
}

/* The last cycle to run before some port must be called again. */
static uint64_t slice_end(const struct leat_sim_atm_ports *port)
{
    const uint64_t now = port->load.sim.now, poll = until_poll(port);
    uint64_t end = now + (!port->held ? SLICE_CYCLES : poll ? poll : POLL_CYCLES) - 1;
    for (uint32_t p = 0; port->early && p < port->net.ports; p++) {
        if (!port->queue[p].early) continue;
        const uint64_t due = port->entry[port->queue[p].first - 1].cycle;
        if (due - 1 < end) end = due - 1;
    }
    return leat_smaller(end, leat_sim_atm_collect_due(port));
}

/* Ports that wait for room check in fixed cycles, however the run is cut into pieces. */
static void poll_held(struct leat_sim_atm_ports *port)
{
    const bool poll = until_poll(port) == 0;
    for (uint32_t p = 0; port->held + port->early && p < port->net.ports; p++)
        if ((port->queue[p].held && poll) || port->queue[p].early) retry(port, p);
}

static leat_time run(struct leat_port_net *net, leat_time until)
{
    struct leat_sim_atm_ports *port = of(net);
    struct leat_sim_atm_load *load = &port->load;
    const uint64_t last = leat_sim_atm_ports_last_cycle(port, until);
    const uint64_t enough = load->sim.now + SLICE_CYCLES - 1;
    port->has_called = false;
    leat_sim_atm_collect_go_on(port);
    while (!port->has_called && load->sim.now <= leat_smaller(last, enough) &&
           (until != LEAT_NEVER || net->in_flight)) {
        leat_sim_atm_load_run(load, leat_smaller(slice_end(port), last));
        check_progress(port);
        leat_sim_atm_collect_go_on(port);
        poll_held(port);
    }
    const bool is_there = !port->has_called && load->sim.now > last;
    net->now = is_there ? until : leat_sim_atm_ports_edge(port, load->sim.now - 1);
    leat_sim_collect_report(&port->collect.base);
    return net->now;
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct leat_sim_atm_load_config
leat_sim_atm_ports_load(const struct leat_sim_atm_ports_config *config)
{
    const uint32_t blocks = (uint32_t)leat_smaller(config->aal.send_blocks,
                                                   config->aal.receive_blocks);
    struct leat_sim_atm_load_config load = { .fabric = config->fabric,
                                             .model = config->contention_free ? LEAT_SIM_ATM_ALONE
                                                                              : config->model,
                                             .len_max = leat_atm_aal_message_max(blocks),
                                             .aal = config->aal,
                                             .line = config->line };
    load.fabric.groups = leat_sim_atm_collect_labels(&config->fabric.net);
    return load;
}

static void *lay_out(struct leat_sim_atm_ports *port,
                     const struct leat_sim_atm_ports_config *config, struct leat_arena *arena)
{
    const struct leat_sim_atm_load_config load = leat_sim_atm_ports_load(config);
    const uint32_t ports = config->fabric.net.ports;
    port->entry = leat_arena_lay(arena, config->messages_max + leat_sim_atm_collect_entries(ports),
                                 sizeof *port->entry);
    port->queue = leat_arena_lay(arena, ports, sizeof *port->queue);
    port->piece = leat_arena_lay(arena, (size_t)ports * LEAT_SIM_ATM_PORTS_WINDOW,
                                 sizeof *port->piece);
    leat_sim_atm_collect_lay(&port->collect, arena, &load.fabric);
    return leat_arena_lay_lines(arena, 1, leat_sim_atm_load_footprint(&load));
}

size_t leat_sim_atm_ports_footprint(const struct leat_sim_atm_ports_config *config)
{
    struct leat_sim_atm_ports measured;
    struct leat_arena arena = { 0 };
    lay_out(&measured, config, &arena);
    return arena.used;
}

void leat_sim_atm_ports_init(struct leat_sim_atm_ports *port,
                             const struct leat_sim_atm_ports_config *config, void *memory)
{
    static const struct leat_port_ops ops = { .send = send,
                                              .run = run,
                                              .group = leat_sim_atm_collect_group,
                                              .disband = leat_sim_atm_collect_disband,
                                              .collect = leat_sim_atm_collect_part };
    const struct leat_atm_clos *net = &config->fabric.net;
    struct leat_arena arena = { .memory = memory, .cap = leat_sim_atm_ports_footprint(config) };
    struct leat_sim_atm_load_config load = leat_sim_atm_ports_load(config);
    *port = (struct leat_sim_atm_ports){ .net = { .ops = &ops, .ports = net->ports } };
    void *load_memory = lay_out(port, config, &arena);
    for (uint32_t i = config->messages_max + leat_sim_atm_collect_entries(net->ports); i--;) {
        uint32_t *free = i < config->messages_max ? &port->free : &port->collect.free;
        port->entry[i].next = *free;
        *free = i + 1;
    }
    leat_sim_must(!leat_sim_clock_init(&port->clock, config->fabric.period_ps_num,
                                       config->fabric.period_ps_den));
    port->piece_max = load.len_max / PIECES_OF_BUFFER;
    load.next = next_piece;
    load.digest = digest;
    load.is_private = is_private;
    load.keeps = keeps;
    load.next_context = port;
    load.handed_over = true;
    load.watch = (struct leat_sim_atm_load_watch){
        .context = port,
        .written = written,
        .undeliverable = undeliverable,
        .coming = coming,
        .delivered = delivered,
    };
    leat_sim_atm_load_init(&port->load, &load, load_memory);
    leat_sim_atm_collect_init(port);
    /* The minimum for any message: an empty one, alone (spec/atm.md, 5.4). */
    port->net.taken_octets = 4;
    port->net.taken_ps = leat_sim_atm_ports_edge(port, leat_atm_aal_io_cycles(4));
    port->net.latency = leat_sim_atm_ports_edge(
        port, leat_atm_aal_one_way_cycles_over(0, leat_atm_clos_idle_cycles(net)) - 1);
}
