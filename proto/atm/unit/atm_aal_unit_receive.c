/*
 * STATE6 and STATE7 (note R5 to R8): cells arrive. STATE7 serves them one at a time: it
 * acknowledges a data cell and adds it to its message, or matches an acknowledgement to the block
 * that waits for it.
 *
 *      a data cell                    t0+10 label    q    the acknowledgement is requested
 *      E or the end of the  ---- t0 -------------------------------- q+10 joins -- q+11 end
 *      cell before                    a parked cell               t0+11 joins -- t0+12 end
 *                                     an acknowledgement: t0+9+2p counted -- +3 freed -- +5 end
 *
 * A RESYNC is served as a data cell, its answer RESYNCED as an acknowledgement at place p = 0.
 */
#include "atm_aal_unit_parts.h"
#include <assert.h>
#include <leat/crc.h>
#include <string.h>

enum service { /* the next action of STATE7 */
               IDLE,
               TAKE_LABEL,  /* for the acknowledgement */
               AWAIT_ACK,   /* STATE5 still has the previous one */
               RETRY_LABEL, /* STATE5 has sent it */
               JOIN,
               JOIN_PARKED,
               COUNT_ACK,
               END_ACK,
};
enum {
    LABEL_BEFORE = 3, /* q - 3 */
    LABEL_AFTER = 10, /* t0 + 13 - 3 */
    MORE_AFTER = 2,   /* if the list holds blocks of messages */
    RETRY_AFTER = 5,  /* q = F + 5 */
    JOIN_AFTER = 10,
    PARKED_JOIN_AFTER = 11,
    COUNT_AFTER = 9,
    FREE_AFTER = 3,
    END_AFTER = 5,
};

enum { PARKED = 1, NOMINATED = 2 }; /* of `parked` */

static bool awaits(const struct leat_atm_aal_unit *unit, uint16_t sent,
                   const struct leat_atm_aal_receive_block *ack)
{
    const struct leat_atm_aal_send_block *b = &unit->send_block[sent];
    return b->sequence == ack->sequence && b->stream == ack->stream &&
           awaits_port(unit, sent, ack->source);
}

/* Its place in the busy list, or the list's length; *found is the block, or NONE. */
static uint16_t find_awaiting(const struct leat_atm_aal_unit *unit,
                              const struct leat_atm_aal_receive_block *ack, uint16_t *found)
{
    const uint16_t count = unit->send.busy_count;
    const struct leat_atm_aal_link *link = unit->send.link;
    uint16_t place = 0, block = unit->send.busy_head;
    for (; place < count && !awaits(unit, block, ack); place++)
        block = link[block].next;
    *found = place < count ? block : NONE;
    return place;
}

static void due(struct leat_atm_aal_unit *unit, enum service service, uint64_t at)
{
    unit->service = (uint8_t)service;
    wake(unit, LEAT_ATM_AAL_STATE7, at);
}

static void begin(struct leat_atm_aal_unit *unit, uint16_t block, uint64_t from)
{
    struct leat_atm_aal_receive_block *b = &unit->receive_block[block];
    unit->service_block = block;
    unit->service_from = from;
    if (b->parked) {
        b->parked = 0;
        due(unit, JOIN_PARKED, from + PARKED_JOIN_AFTER);
    } else if (b->is_ack && b->resync) {
        unit->service_match = NONE;
        due(unit, COUNT_ACK, from + COUNT_AFTER);
    } else if (b->is_ack) {
        const uint16_t place = find_awaiting(unit, b, &unit->service_match);
        if (unit->service_match != NONE)
            unit->service_match_message = unit->send_block[unit->service_match].message;
        due(unit, COUNT_ACK, from + COUNT_AFTER + 2 * (uint64_t)place);
    } else
        due(unit, TAKE_LABEL, from + LABEL_AFTER + (unit->in_message_count ? MORE_AFTER : 0));
}

/* The distance from the next number that its stream expects. */
static uint32_t numbers_ahead(const struct leat_atm_aal_unit *unit,
                              const struct leat_atm_aal_receive_block *b)
{
    return (b->sequence - stream_of(unit, b->source, b->stream)->received - 1) & unit->number_mask;
}

static uint16_t first_parked(const struct leat_atm_aal_unit *unit, uint16_t source, uint8_t stream)
{
    return (uint16_t)(stream_of(unit, source, stream)->parked_first - 1);
}

/* The last parked cell of its stream with a lower number; NONE: there is none. Cells mostly arrive
 * in the order of their numbers. */
static uint16_t parked_before(const struct leat_atm_aal_unit *unit,
                              const struct leat_atm_aal_receive_block *b)
{
    const uint32_t ahead = numbers_ahead(unit, b);
    uint16_t before = NONE, at = first_parked(unit, b->source, b->stream);
    if (at == NONE) return NONE;
    const uint16_t last = stream_of(unit, b->source, b->stream)->parked_last;
    if (numbers_ahead(unit, &unit->receive_block[last]) < ahead) return last;
    while (numbers_ahead(unit, &unit->receive_block[at]) < ahead) {
        before = at;
        at = unit->receive_block[at].next_waiting;
    }
    return before;
}

static uint16_t parked_behind(const struct leat_atm_aal_unit *unit,
                              const struct leat_atm_aal_receive_block *b, uint16_t before)
{
    return before == NONE ? first_parked(unit, b->source, b->stream)
                          : unit->receive_block[before].next_waiting;
}

/* A copy of a cell that is already parked: retransmitted because its acknowledgement was lost. */
static bool is_parked_copy(const struct leat_atm_aal_unit *unit,
                           const struct leat_atm_aal_receive_block *copy)
{
    if (first_parked(unit, copy->source, copy->stream) == NONE) return false;
    const uint16_t at = parked_behind(unit, copy, parked_before(unit, copy));
    return at != NONE && unit->receive_block[at].sequence == copy->sequence;
}

static void park(struct leat_atm_aal_unit *unit, uint16_t block)
{
    struct leat_atm_aal_receive_block *b = &unit->receive_block[block];
    struct leat_atm_aal_stream *stream = stream_of(unit, b->source, b->stream);
    const uint16_t before = parked_before(unit, b);
    b->parked = PARKED;
    b->next_waiting = parked_behind(unit, b, before);
    unit->parked_as[block] = unit->counts.parked++;
    if (before == NONE)
        stream->parked_first = (uint16_t)(block + 1);
    else
        unit->receive_block[before].next_waiting = block;
    if (b->next_waiting == NONE) stream->parked_last = block;
    if (b->stream != TO_ONE) unit->others_parked++;
}

/* The first parked cell of a stream leaves it. */
static void unpark(struct leat_atm_aal_unit *unit, uint16_t block)
{
    const struct leat_atm_aal_receive_block *b = &unit->receive_block[block];
    assert(first_parked(unit, b->source, b->stream) == block);
    stream_of(unit, b->source, b->stream)->parked_first = (uint16_t)(b->next_waiting + 1);
    if (b->stream != TO_ONE) unit->others_parked--;
}

/* The previous number has arrived, or a descriptor is free: is the first cell of a stream due? */
static void nominate(struct leat_atm_aal_unit *unit, uint16_t source, uint8_t stream)
{
    const uint16_t block = first_parked(unit, source, stream);
    if (block == NONE || unit->receive_block[block].parked == NOMINATED) return;
    unit->receive_block[block].parked = NOMINATED;
    unit->receive_block[block].next_in_message = unit->candidates;
    unit->candidates = block;
}

/* Is a parked cell due? Its number is the next, and a first cell has a descriptor. */
static bool is_due(const struct leat_atm_aal_unit *unit, uint16_t block)
{
    const struct leat_atm_aal_receive_block *b = &unit->receive_block[block];
    const struct leat_atm_aal_peer *peer = &unit->peer[b->source];
    return numbers_ahead(unit, b) == 0 &&
           (!(b->flag & LEAT_ATM_TASK_FIRST) || peer->message_count < unit->config.descriptors);
}

/* Takes, of the parked cells that are due, the one parked first; NONE: there is none. Those not due
 * will be nominated again. */
static uint16_t take_due(struct leat_atm_aal_unit *unit)
{
    uint16_t due = NONE, kept = NONE;
    for (uint16_t block = unit->candidates, next; block != NONE; block = next) {
        struct leat_atm_aal_receive_block *b = &unit->receive_block[block];
        next = b->next_in_message;
        b->parked = PARKED;
        b->next_in_message = NONE;
        if (!is_due(unit, block)) continue;
        uint16_t later = block;
        if (due == NONE || unit->parked_as[block] < unit->parked_as[due]) {
            later = due;
            due = block;
        }
        if (later == NONE) continue;
        unit->receive_block[later].parked = NOMINATED;
        unit->receive_block[later].next_in_message = kept;
        kept = later;
    }
    unit->candidates = kept;
    if (due != NONE) unpark(unit, due);
    return due;
}

static void begin_next(struct leat_atm_aal_unit *unit, uint64_t from)
{
    unit->service = IDLE;
    unit->service_block = NONE;
    unit->service_until = from;
    unit->due[LEAT_ATM_AAL_STATE7] = LEAT_NEVER;
    const uint16_t parked = unit->candidates == NONE ? NONE : take_due(unit);
    if (parked != NONE)
        begin(unit, parked, from);
    else if (unit->waiting_head != NONE) {
        const uint16_t block = unit->waiting_head;
        unit->waiting_head = unit->receive_block[block].next_waiting;
        begin(unit, block, from);
    }
}

/* A descriptor of this source is free, for cells of any stream. */
static void nominate_all(struct leat_atm_aal_unit *unit, uint16_t source)
{
    if (!unit->others_parked) {
        nominate(unit, source, TO_ONE);
        return;
    }
    for (uint8_t stream = 0; stream < stream_count(&unit->config); stream++)
        nominate(unit, source, stream);
}

void leat_atm_aal_service_parked(struct leat_atm_aal_unit *unit, uint16_t source, uint64_t now)
{
    nominate_all(unit, source);
    if (unit->service == IDLE && unit->candidates != NONE)
        begin_next(unit, unit->service_until > now ? unit->service_until : now);
}

/* Only units with resync know RESYNC and RESYNCED. */
static bool knows_type(const struct leat_atm_aal_unit *unit, uint16_t type)
{
    return type <= LEAT_ATM_TASK_ACK || (unit->config.resync && (type == LEAT_ATM_TASK_RESYNC ||
                                                                 type == LEAT_ATM_TASK_RESYNCED));
}

/* What a cell that arrives says. */
struct head {
    uint32_t number;
    uint16_t type, flag, source, to;
    uint8_t stream; /* that it belongs to, or that it is about */
};

static inline struct head head_of(const struct leat_atm_aal_unit *unit, const uint8_t *cell)
{
    struct head h = {
        .number = cell_number(unit->number_mask, cell),
        .type = cell_type(unit->number_mask, cell),
        .flag = leat_get_be16(cell + FLAG_AT),
        .source = leat_get_be16(cell + SOURCE_AT),
        .to = leat_get_be16(cell + DESTINATION_AT),
    };
    h.stream = h.type == LEAT_ATM_TASK_MESSAGE ? stream_to(&unit->config, h.to)
                                               : stream_named(&unit->config, h.flag);
    return h;
}

/* Good cells are for this port, for all or for a group of both ports, from an existing port, and of
 * a known type. */
static inline bool is_for_us(const struct leat_atm_aal_unit *unit, const struct head *h)
{
    return (h->to == unit->config.port || stream_to(&unit->config, h->to) != TO_ONE) &&
           h->source < unit->config.ports && is_in(unit, h->stream, unit->config.port) &&
           is_in(unit, h->stream, h->source) && knows_type(unit, h->type);
}

/* Field by field: processors stall on a structure that is built and then copied at once. */
static inline void write_down(const struct head *h, struct leat_atm_aal_receive_block *out)
{
    out->next_in_message = out->next_waiting = NONE;
    out->in_message = out->parked = 0;
    out->is_ack = h->type == LEAT_ATM_TASK_ACK || h->type == LEAT_ATM_TASK_RESYNCED;
    out->resync = h->type >= LEAT_ATM_TASK_RESYNC;
    out->stream = h->stream;
    out->source = h->source;
    out->sequence = h->number;
    out->flag = h->flag;
}

/* A data cell too far ahead to be parked, after a lost one: acknowledging it would lose it. A
 * number even further away counts as behind. */
static inline bool is_beyond(const struct leat_atm_aal_unit *unit, const struct head *h)
{
    if (h->type != LEAT_ATM_TASK_MESSAGE) return false;
    const struct leat_atm_aal_stream *stream = stream_of(unit, h->source, h->stream);
    const uint32_t ahead = (h->number - stream->received - 1) & unit->number_mask;
    return ahead >= unit->config.send_blocks && ahead <= unit->number_mask / 2;
}

static void await_service(struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now)
{
    if (unit->service == IDLE)
        begin(unit, block, unit->service_until > now ? unit->service_until : now);
    else {
        if (unit->waiting_head == NONE)
            unit->waiting_head = block;
        else
            unit->receive_block[unit->waiting_tail].next_waiting = block;
        unit->waiting_tail = block;
    }
}

void leat_atm_aal_unit_receive(struct leat_atm_aal_unit *unit, const uint8_t *cell, uint64_t now)
{
    if (leat_crc16(0, cell + TYPE_AT, CRC_AT - TYPE_AT) == leat_get_be16(cell + CRC_AT))
        leat_atm_aal_unit_receive_sound(unit, cell, now);
    else
        unit->counts.bad_cells++;
}

void leat_atm_aal_unit_receive_sound(struct leat_atm_aal_unit *unit, const uint8_t *cell,
                                     uint64_t now)
{
    const struct head head = head_of(unit, cell);
    if (!is_for_us(unit, &head)) {
        unit->counts.misdelivered++;
        return;
    }
    if (is_beyond(unit, &head)) {
        unit->counts.beyond++;
        return;
    }
    const uint16_t block = leat_atm_aal_chain_take(&unit->receive);
    write_down(&head, &unit->receive_block[block]);
    /* If free blocks are used in turn, the next one is probably not in the cache. */
    leat_arena_fetch(&unit->receive_block[unit->receive.free_head]);
    if (unit->receive_block[block].is_ack)
        unit->counts.acks_received++;
    else {
        unit->counts.cells_received++;
        memcpy(receive_cell(unit, block), cell, CELL_LEN);
        leat_arena_fetch(&unit->message[block]); /* for open_message */
    }
    await_service(unit, block, now);
}

static void write_ack(struct leat_atm_aal_unit *unit)
{
    const struct leat_atm_aal_receive_block *b = &unit->receive_block[unit->service_block];
    memset(unit->ack_cell, 0, CELL_LEN);
    leat_atm_aal_cell_head(unit, unit->ack_cell,
                           b->resync ? LEAT_ATM_TASK_RESYNCED : LEAT_ATM_TASK_ACK, b->sequence,
                           stream_flag(b->stream), b->source);
}

/* The cycle in which STATE5 has finished the last acknowledgement (F), if that is known. */
static uint64_t ack_free_at(const struct leat_atm_aal_unit *unit, uint64_t now)
{
    const uint64_t refused_at = unit->line_at + unit->config.header_octets + 3;
    if (unit->ack_asked_at == LEAT_NEVER) return unit->ack_free_at;
    const bool passed = unit->sending && unit->sending_ack == 1 && now > refused_at;
    return passed ? unit->line_at + CELL_LEN : LEAT_NEVER;
}

static void take_label(struct leat_atm_aal_unit *unit, uint64_t now)
{
    leat_atm_aal_unit_settle(unit, now);
    if (unit->label_taken_at == now && unit->service == TAKE_LABEL) {
        due(unit, TAKE_LABEL, now + 1); /* STATE2 came first (note R1, R6) */
        return;
    }
    if (ack_free_at(unit, now) >= now + LABEL_BEFORE) {
        due(unit, AWAIT_ACK, LEAT_NEVER);
        return;
    }
    write_ack(unit); /* the rest of the last one has already been copied to the line */
    unit->ack_asked_at = now + LABEL_BEFORE;
    leat_atm_aal_scan_plan(unit, now + 1);
    due(unit, JOIN, now + LABEL_BEFORE + JOIN_AFTER);
}

void leat_atm_aal_ack_sent(struct leat_atm_aal_unit *unit, uint64_t now)
{
    if (unit->service == AWAIT_ACK) due(unit, RETRY_LABEL, now + RETRY_AFTER - LABEL_BEFORE);
}

void leat_atm_aal_find_incomplete(struct leat_atm_aal_unit *unit, uint16_t message)
{
    const struct leat_atm_aal_message *m = &unit->message[message];
    const struct leat_atm_aal_peer *peer = &unit->peer[m->source];
    struct leat_atm_aal_stream *stream = stream_of(unit, m->source, m->stream);
    const uint8_t wanted = m->stream;
    if (stream->incomplete != message + 1) return;
    stream->incomplete = 0;
    while (message != peer->last_message && !stream->incomplete) {
        message = unit->message[message].next_of_source;
        if (!unit->message[message].complete && unit->message[message].stream == wanted)
            stream->incomplete = (uint16_t)(message + 1);
    }
}

static uint16_t open_message(struct leat_atm_aal_unit *unit, uint16_t block)
{
    const struct leat_atm_aal_receive_block *b = &unit->receive_block[block];
    struct leat_atm_aal_peer *peer = &unit->peer[b->source];
    unit->message[block] = (struct leat_atm_aal_message){
        .source = b->source,
        .serial = unit->message_serial++,
        .id = leat_get_be32(receive_cell(unit, block) + PAYLOAD_AT + ID_AT),
        .all_instances = leat_get_be32(receive_cell(unit, block) + PAYLOAD_AT + INSTANCE_AT) ==
                         UINT32_MAX,
        .stream = b->stream,
        .tail_block = block,
    };
    if (peer->message_count++ == 0)
        peer->first_message = block;
    else
        unit->message[peer->last_message].next_of_source = block;
    peer->last_message = block;
    struct leat_atm_aal_stream *stream = stream_of(unit, b->source, b->stream);
    if (!stream->incomplete) stream->incomplete = (uint16_t)(block + 1);
    return block;
}

/* Note R7, R9: what happens to an acknowledged cell. */
static void join(struct leat_atm_aal_unit *unit, uint64_t now)
{
    const uint16_t block = unit->service_block;
    struct leat_atm_aal_receive_block *b = &unit->receive_block[block];
    const struct leat_atm_aal_peer *peer = &unit->peer[b->source];
    struct leat_atm_aal_stream *stream = stream_of(unit, b->source, b->stream);
    const uint32_t ahead = numbers_ahead(unit, b);
    if (ahead >= unit->config.send_blocks || is_parked_copy(unit, b)) {
        unit->counts.duplicates++;
        leat_atm_aal_chain_release(&unit->receive, block);
        return;
    }
    if (ahead > 0) {
        park(unit, block);
        return;
    }
    uint16_t message;
    if (b->flag & LEAT_ATM_TASK_FIRST) {
        if (peer->message_count == unit->config.descriptors) {
            park(unit, block);
            return;
        }
        message = open_message(unit, block);
    } else
        message = (uint16_t)(stream->incomplete - 1);
    stream->received = b->sequence;
    unit->group_cells += b->stream >= TO_GROUP;
    nominate(unit, b->source, b->stream);
    if (message == NONE) { /* the sender has discarded its first cell */
        leat_atm_aal_chain_release(&unit->receive, block);
        return;
    }
    if (message != block)
        unit->receive_block[unit->message[message].tail_block].next_in_message = block;
    unit->message[message].tail_block = block;
    b->in_message = 1;
    unit->in_message_count++;
    if (b->flag & LEAT_ATM_TASK_LAST) {
        leat_atm_aal_message_completed(unit, message, now);
        leat_atm_aal_find_incomplete(unit, message);
    }
}

/* What STATE7 does with an acknowledged cell, and with cells that waited for it. */
static void place(struct leat_atm_aal_unit *unit, uint64_t now)
{
    const uint16_t block = unit->service_block;
    const struct leat_atm_aal_receive_block b = unit->receive_block[block];
    if (b.resync) {
        leat_atm_aal_resynchronise(unit, &b);
        leat_atm_aal_chain_release(&unit->receive, block);
    } else {
        join(unit, now);
        if (!stream_of(unit, b.source, b.stream)->skips) return;
        leat_atm_aal_pass_gaps(unit, b.source, b.stream);
    }
    nominate_all(unit, b.source); /* a message may have freed its descriptor */
}

static void count_ack(struct leat_atm_aal_unit *unit, uint64_t now)
{
    const struct leat_atm_aal_receive_block *ack = &unit->receive_block[unit->service_block];
    const uint16_t sent = unit->service_match, from = ack->source;
    struct leat_atm_aal_send_block *b = sent == NONE ? NULL : &unit->send_block[sent];
    const bool still = b && b->message == unit->service_match_message && !b->to_free &&
                       awaits(unit, sent, ack);
    due(unit, END_ACK, now + END_AFTER);
    if (ack->resync) {
        leat_atm_aal_gap_close(unit, ack);
        return;
    }
    if (!still) { /* or discarded meanwhile */
        unit->counts.acks_unmatched++;
        return;
    }
    if (ack->stream != TO_ONE)
        unit->ack_missing[sent * ack_words(&unit->config) + from / 64] &= ~(UINT64_C(1)
                                                                            << from % 64);
    if (--b->acks_missing > 0) return;
    b->to_free = 1;
    b->free_at = now + FREE_AFTER;
    unit->scan_finds++;
    leat_atm_aal_scan_plan(unit, now + 1);
}

void leat_atm_aal_state7(struct leat_atm_aal_unit *unit, uint64_t now)
{
    switch ((enum service)unit->service) {
    case IDLE:
    case AWAIT_ACK: break;
    case TAKE_LABEL:
    case RETRY_LABEL: take_label(unit, now); break;
    case JOIN:
    case JOIN_PARKED:
        place(unit, now);
        begin_next(unit, now + 1);
        break;
    case COUNT_ACK: count_ack(unit, now); break;
    case END_ACK:
        leat_atm_aal_chain_release(&unit->receive, unit->service_block);
        begin_next(unit, now);
        break;
    }
}

/* ---- state numbers ----------------------------------------------------------------------------
 */

/* Note 5.3, of a data cell: the first cycles after t0; from the request q of its acknowledgement on
 * until it joins its message. */
enum { ASKS = 26, JOINS = 45 };
static const uint8_t of_data[] = { 0, 0, 0, 1, 2, 19, 20, 21, 22, 23, 24, 25, ASKS };
static const uint8_t of_request[] = { 27, 29, 30, 32, 33, 34, 35, 40, 41, 42 };
static const uint8_t of_parked[] = { 0, 0, 0, 1, 2, 33, 34, 35, 40, 41, 42 };

/* `at`: cycles after t0. */
static uint8_t data_number(const struct leat_atm_aal_unit *unit, uint64_t at, uint64_t now)
{
    enum { TO_ONE_MEETS = 31, MEETS_AT = 2 };
    const uint64_t requested_at = unit->service == JOIN
                                      ? unit->due[LEAT_ATM_AAL_STATE7] - JOIN_AFTER
                                      : LEAT_NEVER;
    if (now < requested_at) return at < sizeof of_data ? of_data[at] : ASKS;
    const uint64_t since = now - requested_at;
    if (since == MEETS_AT && unit->receive_block[unit->service_block].stream == TO_ONE)
        return TO_ONE_MEETS;
    return since < sizeof of_request ? of_request[since] : JOINS;
}

/* Of an acknowledgement: two cycles for each block that it is compared with. */
static uint8_t ack_number(uint64_t at, uint64_t before_count)
{
    enum { BEGINS_AT = 3, COMPARES = 5, COUNTS = 7 };
    if (before_count == 1) return COUNTS;
    if (at < BEGINS_AT) return 0;
    const uint64_t number = at - BEGINS_AT + 1;
    return (uint8_t)(number < COMPARES ? number : COMPARES + (number - COMPARES) % 2);
}

static uint8_t ack_end_number(uint64_t since_count)
{
    enum { COUNTED = 8, PASSES = 9, RELEASES = 16 };
    return since_count == 0 ? COUNTED : since_count == 1 ? PASSES : RELEASES;
}

uint8_t leat_atm_aal_state7_view(const struct leat_atm_aal_unit *unit, uint64_t now)
{
    const uint64_t at = now - unit->service_from;
    if (now < unit->service_until) return JOINS; /* in the last cycle of a data cell */
    if (unit->service == IDLE || now < unit->service_from) return 0;
    switch ((enum service)unit->service) {
    case IDLE: return 0;
    case TAKE_LABEL:
    case AWAIT_ACK:
    case RETRY_LABEL:
    case JOIN: return data_number(unit, at, now);
    case JOIN_PARKED: return at < sizeof of_parked ? of_parked[at] : JOINS;
    case COUNT_ACK: return ack_number(at, unit->due[LEAT_ATM_AAL_STATE7] - now);
    case END_ACK: return ack_end_number(now + END_AFTER - unit->due[LEAT_ATM_AAL_STATE7]);
    }
    return 0;
}
