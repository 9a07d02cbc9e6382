/*
 * The fingerprint of an adaptation layer unit (leat_fingerprint.h). It identifies blocks by their
 * place in their list, not by number, since the unit's behaviour depends on nothing more.
 */
#include "atm_aal_unit_parts.h"

struct moment {
    struct leat_atm_aal_unit *unit;
    uint64_t now;
    const struct leat_atm_aal_names *names;
    struct leat_fingerprint *out;
};

static void put(const struct moment *m, uint64_t word)
{
    leat_fingerprint_put(m->out, word);
}

static void put_time(const struct moment *m, uint64_t at)
{
    leat_fingerprint_put_time(m->out, at, m->now);
}

static void put_from(const struct moment *m, uint64_t at)
{
    leat_fingerprint_put_from(m->out, at, m->now);
}

static void put_id(const struct moment *m, uint32_t id)
{
    put(m, m->names->message(m->names->context, id));
}

/* A number of the stream between two ports, counted back from its last one. */
static void put_number(const struct moment *m, uint32_t from, uint32_t to, uint32_t number)
{
    put(m, (m->names->last_number(m->names->context, from, to) - number) & m->names->number_mask);
}

/* Packs fields of `size` bits side by side into a word. */
static uint64_t beside(uint64_t word, uint64_t field, unsigned size)
{
    return word << size | field;
}

void leat_atm_aal_cell_fingerprint(const uint8_t *cell, const struct leat_atm_aal_names *names,
                                   struct leat_fingerprint *out)
{
    const struct moment m = { .names = names, .out = out };
    const uint16_t type = cell_type(names->number_mask, cell), flag = leat_get_be16(cell + FLAG_AT);
    const uint16_t from = leat_get_be16(cell + SOURCE_AT),
                   to = leat_get_be16(cell + DESTINATION_AT);
    const bool is_ack = type == LEAT_ATM_TASK_ACK;
    if (type > LEAT_ATM_TASK_ACK ||
        (is_ack ? flag != LEAT_ATM_TASK_ACK_POINT
                : to >= LEAT_ATM_TASK_GROUP - LEAT_ATM_TASK_GROUPS_MAX)) {
        leat_fingerprint_fail(out);
        return;
    }
    put(&m, beside(beside(beside(type, flag, 16), from, 16), to, 16));
    put_number(&m, is_ack ? to : from, is_ack ? from : to, cell_number(names->number_mask, cell));
}

/* ---- commands -------------------------------------------------------------------------------- */

static void put_command(const struct moment *m, const struct leat_atm_aal_command *c)
{
    put(m, c->verb);
    put_from(m, c->not_before);
    switch (c->verb) {
    case LEAT_ATM_AAL_INITSEND: break;
    case LEAT_ATM_AAL_PUT:
    case LEAT_ATM_AAL_GET: put(m, c->len); break;
    case LEAT_ATM_AAL_DESTINATION: put(m, c->destination); break;
    case LEAT_ATM_AAL_WRITE:
    case LEAT_ATM_AAL_READ:
        put(m, beside(beside(c->len, c->destination, 16), c->begun, 1)); /* fall through */
    case LEAT_ATM_AAL_SEND:
    case LEAT_ATM_AAL_RECEIVE:
        for (size_t i = 0; i < LEAT_ATM_TASK_NAME_COUNT; i++)
            put(m, c->message.name[i]);
        put(m, c->message.instance);
        put_id(m, c->message.id);
        break;
    }
}

static void put_commands(const struct moment *m, const struct leat_atm_aal_commands *queue,
                         uint64_t free_at)
{
    put(m, queue->count);
    if (queue->count)
        put_time(m, free_at);
    else
        put_from(m, free_at);
    for (uint8_t i = 0; i < queue->count; i++)
        put_command(m, &queue->waiting[(queue->head + i) % LEAT_ATM_AAL_COMMANDS_MAX]);
}

/* STATE0. */
static void put_host(const struct moment *m)
{
    const struct leat_atm_aal_unit *unit = m->unit;
    const bool puts = unit->write.count && unit->write_first != NONE;
    put_commands(m, &unit->write, unit->write_free_at);
    put_commands(m, &unit->read, unit->read_free_at);
    put(m, beside(beside(unit->reading, unit->destination, 16), unit->write_offset, 16));
    if (puts) put(m, unit->put_done);
    if (puts) put_time(m, unit->put_base);
    if (unit->reading && unit->message_read == NONE) put_id(m, unit->asked.id);
}

/* ---- blocks to be sent ----------------------------------------------------------------------- */

/* STATE7 serves an acknowledgement, and service_match is the block that it looks for. */
static bool serves_ack(const struct leat_atm_aal_unit *unit)
{
    return unit->service_block != NONE && unit->receive_block[unit->service_block].is_ack;
}

static void put_send_block(const struct moment *m, uint16_t block)
{
    const struct leat_atm_aal_unit *unit = m->unit;
    const struct leat_atm_aal_send_block *b = &unit->send_block[block];
    const uint64_t marks = (uint64_t)(block == unit->scan_block) |
                           (uint64_t)(block == unit->segment_block) << 1 |
                           (uint64_t)(block == unit->write_first) << 2 |
                           (uint64_t)(serves_ack(unit) && block == unit->service_match) << 3;
    uint64_t word = beside(marks, b->flag, 8);
    word = beside(beside(word, b->state, 8), b->to_free, 8);
    word = beside(beside(word, b->transmissions, 8), b->stream, 8);
    put(m, beside(word, b->acks_missing, 16));
    put(m, unit->message_count - b->message);
    if (b->state == LEAT_ATM_AAL_SENT) put_time(m, b->expires_at);
    if (b->to_free) put_from(m, b->free_at);
    if (b->stream == TO_ONE) { /* it has its header */
        put(m, beside(leat_atm_label_get(send_cell(unit, block), unit->config.header_octets),
                      b->destination, 16));
        put_number(m, unit->config.port, b->destination, b->sequence);
    } else if (b->acks_missing)
        leat_fingerprint_fail(m->out); /* a broadcast or multicast */
}

/* STATE1 to STATE5. */
static void put_sending(const struct moment *m)
{
    const struct leat_atm_aal_unit *unit = m->unit;
    const bool stands = unit->sending || unit->freeing || unit->scan_waits;
    uint64_t word = beside(unit->sending, unit->sending_ack, 8);
    word = beside(beside(word, unit->freeing, 8), unit->scan_waits, 8);
    put(m, beside(beside(word, unit->scan_wraps, 8), unit->messages_busy, 16));
    put(m, beside(unit->path, unit->scan_finds, 32));
    put(m, beside(unit->segment_cells, unit->broadcast_number, 32));
    put(m, unit->group_cells);
    if (unit->segment_block != NONE) put_time(m, unit->label_at);
    put_from(m, unit->label_taken_at);
    if (unit->sending) put_time(m, unit->line_at);
    if (stands)
        put_from(m, unit->look_at);
    else
        put_time(m, unit->look_at);
    put_time(m, unit->ack_asked_at);
    put_from(m, unit->ack_free_at);
    if (unit->ack_asked_at != LEAT_NEVER || (unit->sending && unit->sending_ack)) {
        put(m, leat_atm_label_get(unit->ack_cell, unit->config.header_octets));
        leat_atm_aal_cell_fingerprint(unit->ack_cell, m->names, m->out);
    }
    put(m, unit->send.busy_count);
    uint16_t block = unit->send.busy_head;
    for (uint16_t i = 0; i < unit->send.busy_count; i++, block = unit->send.link[block].next)
        put_send_block(m, block);
}

/* ---- received blocks ------------------------------------------------------------------------- */

static void put_receive_block(const struct moment *m, uint16_t block)
{
    const struct leat_atm_aal_receive_block *b = &m->unit->receive_block[block];
    const uint32_t port = m->unit->config.port;
    if (b->stream != TO_ONE || b->resync) leat_fingerprint_fail(m->out);
    put(m, beside(beside(b->is_ack, b->source, 16), b->flag, 16));
    put_number(m, b->is_ack ? port : b->source, b->is_ack ? b->source : port, b->sequence);
}

/* STATE7. */
static void put_service(const struct moment *m)
{
    const struct leat_atm_aal_unit *unit = m->unit;
    put(m, beside(unit->service, unit->in_message_count, 16));
    put_from(m, unit->service_until);
    put(m, unit->service_block != NONE);
    if (unit->service_block != NONE) put_receive_block(m, unit->service_block);
    if (serves_ack(unit) && unit->service_match != NONE)
        put(m, unit->message_count - unit->service_match_message);
    for (uint16_t b = unit->waiting_head; b != NONE; b = unit->receive_block[b].next_waiting)
        put_receive_block(m, b);
    put(m, unit->receive.busy_count);
}

static void put_message(const struct moment *m, uint16_t message)
{
    const struct leat_atm_aal_unit *unit = m->unit;
    const struct leat_atm_aal_message *g = &unit->message[message];
    uint32_t blocks = 1;
    for (uint16_t b = message; b != g->tail_block; b = unit->receive_block[b].next_in_message)
        blocks++;
    if (g->stream != TO_ONE || g->served_count > 1) leat_fingerprint_fail(m->out);
    uint64_t word = beside(g->complete, g->expired, 8);
    word = beside(beside(word, g->served_count, 8), g->all_instances, 8);
    put(m, beside(word, message == unit->message_read, 8));
    put(m, beside(blocks, g->source, 16));
    put_id(m, g->id);
    if (g->complete) put_from(m, g->obsolete_at);
}

/* STATE8 and STATE10: messages, those of a source by age. */
static void put_messages(const struct moment *m)
{
    const struct leat_atm_aal_unit *unit = m->unit;
    for (uint32_t source = 0; source < unit->config.ports; source++) {
        const struct leat_atm_aal_peer *peer = &unit->peer[source];
        const struct leat_atm_aal_stream *all = &unit->all_stream[source], *one = &peer->stream;
        if (all->parked_first || one->parked_first) leat_fingerprint_fail(m->out);
        if (all->skips || one->skips) leat_fingerprint_fail(m->out);
        put(m, beside(peer->message_count, all->received, 32));
        put_number(m, source, unit->config.port, one->received);
        uint16_t message = peer->first_message;
        for (uint16_t i = 0; i < peer->message_count; i++) {
            put_message(m, message);
            message = unit->message[message].next_of_source;
        }
    }
}

void leat_atm_aal_unit_fingerprint(struct leat_atm_aal_unit *unit, uint64_t now,
                                   const struct leat_atm_aal_names *names,
                                   struct leat_fingerprint *out)
{
    const struct moment m = { unit, now, names, out };
    if (unit->reported & LEAT_ATM_AAL_NEWS || unit->nomem || unit->candidates != NONE ||
        unit->gap_count || unit->others_parked || unit->resync_requested_at != LEAT_NEVER) {
        leat_fingerprint_fail(out);
        return;
    }
    leat_atm_aal_unit_settle(unit, now - 1);
    leat_atm_aal_scan_settle(unit, now);
    for (size_t i = 0; i < LEAT_ATM_AAL_CONTROLLERS; i++)
        if (i != LEAT_ATM_AAL_STATE9) put_time(&m, unit->due[i]); /* blocks know their deadlines */
    put_host(&m);
    put_sending(&m);
    put_service(&m);
    put_messages(&m);
}
