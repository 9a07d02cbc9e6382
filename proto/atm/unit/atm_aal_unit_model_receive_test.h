/* The receiving half of the plain model: acknowledges cells and puts them in order; completes
 * messages, delivers them, and discards them. */
#ifndef LEAT_ATM_AAL_UNIT_MODEL_RECEIVE_TEST_H
#define LEAT_ATM_AAL_UNIT_MODEL_RECEIVE_TEST_H

#include "atm_aal_unit_model_parts_test.h"

/* STATE7: notes R6, R7, R9 */

static inline uint32_t model_ahead(const struct model *m, const struct model_cell *c)
{
    return (c->sqn - m->received[c->source][model_stream(c)] - 1) & model_mask;
}

static inline bool model_has_descriptor(const struct model *m, const struct model_cell *c)
{
    unsigned used = 0;
    for (unsigned i = 0; i < m->config.receive_blocks; i++)
        used += m->message[i].used && m->message[i].source == c->source;
    return used < m->config.descriptors;
}

static inline bool model_can_join(const struct model *m, const struct model_cell *c)
{
    return model_ahead(m, c) == 0 &&
           (!(c->flag & LEAT_ATM_TASK_FIRST) || model_has_descriptor(m, c));
}

static inline struct model_message *model_incomplete(struct model *m, const struct model_cell *c)
{
    struct model_message *first = NULL;
    for (unsigned i = 0; i < m->config.receive_blocks; i++) {
        struct model_message *g = &m->message[i];
        if (g->used && !g->complete && g->source == c->source && g->stream == model_stream(c) &&
            (!first || g->age < first->age))
            first = g;
    }
    return first;
}

static inline void model_join(struct model *m, uint16_t block, const struct model_cell *c,
                              uint64_t now)
{
    const unsigned stream = model_stream(c);
    struct model_message *g = &m->message[block];
    m->received[c->source][stream] = c->sqn;
    if (c->flag & LEAT_ATM_TASK_FIRST)
        *g = (struct model_message){
            .used = true, .stream = stream, .source = c->source, .age = now
        };
    else
        g = model_incomplete(m, c);
    m->receive[block].parked = false;
    if (!g) { /* a peer that never sent its begin */
        model_release(&m->ic, block);
        return;
    }
    model_list_append(&g->blocks, block);
    m->icblkinmsgnum++;
    if (!(c->flag & LEAT_ATM_TASK_LAST)) return;
    g->complete = true;
    g->timeout = m->config.obsolete_cycles;
    m->reported |= LEAT_ATM_AAL_COMPLETE;
    m->message_reported = g->blocks.item[0];
}

static inline bool model_parked_already(const struct model *m, const struct model_cell *c)
{
    for (unsigned i = 0; i < m->ic.busy.count; i++) {
        const struct model_receive_block *b = &m->receive[m->ic.busy.item[i]];
        const struct model_cell other = model_cell_read(b->cell);
        if (b->parked && other.source == c->source && other.sqn == c->sqn &&
            model_stream(&other) == model_stream(c))
            return true;
    }
    return false;
}

/* Number by number: up to skip_to, numbers that are not parked will not arrive. */
static inline void model_pass_gaps(struct model *m, const struct model_cell *c)
{
    const unsigned stream = model_stream(c);
    const uint16_t dst = (uint16_t)(stream == 1 ? m->config.port
                                                : 0xffff - (stream / 2) * (stream - 1));
    uint32_t *received = &m->received[c->source][stream];
    while (m->skips[c->source][stream] && model_after(m->skip_to[c->source][stream], *received)) {
        const struct model_cell next = { .sqn = (*received + 1) & model_mask,
                                         .source = c->source,
                                         .dst = dst };
        if (model_parked_already(m, &next)) return;
        for (struct model_message *g; (g = model_incomplete(m, &next));) {
            for (unsigned i = 0; i < g->blocks.count; i++)
                model_release(&m->ic, g->blocks.item[i]);
            m->icblkinmsgnum -= g->blocks.count;
            m->counts.cut_short++;
            g->used = false;
        }
        *received = next.sqn;
    }
    m->skips[c->source][stream] = false;
}

static inline void model_resynchronise(struct model *m, const struct model_cell *c)
{
    const unsigned stream = model_stream(c);
    uint32_t *skip_to = &m->skip_to[c->source][stream];
    if (m->skips[c->source][stream] && !model_after(c->sqn, *skip_to)) return;
    *skip_to = c->sqn;
    m->skips[c->source][stream] = true;
    model_pass_gaps(m, c);
}

/* In cycle q+10: the block joins its message, is parked, or is a duplicate. */
static inline void model_place(struct model *m, uint64_t now)
{
    struct model_receive_block *b = &m->receive[m->service_block];
    const struct model_cell c = model_cell_read(b->cell);
    if (c.type == LEAT_ATM_TASK_RESYNC) {
        model_resynchronise(m, &c);
        model_release(&m->ic, m->service_block);
        return;
    }
    const bool copy = model_parked_already(m, &c);
    if (!copy && model_can_join(m, &c)) {
        model_join(m, m->service_block, &c, now);
        model_pass_gaps(m, &c);
    } else if (!copy && model_ahead(m, &c) < m->config.send_blocks) {
        b->parked = true;
        m->counts.parked++;
    } else {
        model_release(&m->ic, m->service_block);
        m->counts.duplicates++;
    }
}

static inline void model_ack_search(struct model *m, const struct model_cell *c)
{
    m->match = MODEL_NONE;
    m->matched_last = false;
    for (m->position = 0; m->position < m->og.busy.count; m->position++) {
        const struct model_send_block *b = &m->send[m->og.busy.item[m->position]];
        if (b->acknum && b->sqn == c->sqn && model_stream_to(b->dst) == model_stream(c) &&
            b->ackdesc[c->source]) {
            m->match = m->og.busy.item[m->position];
            m->match_message = b->message;
            return;
        }
    }
}

static inline void model_serve(struct model *m, uint16_t block, uint64_t now)
{
    struct model_receive_block *b = &m->receive[block];
    const struct model_cell c = model_cell_read(b->cell);
    m->service_block = block;
    m->t0 = now > m->service_until ? now : m->service_until;
    m->q = 0;
    if (c.type == LEAT_ATM_TASK_RESYNCED) {
        m->service = MODEL_ACK;
        m->match = MODEL_NONE;
        m->position = 0;
    } else if (c.type == LEAT_ATM_TASK_ACK) {
        m->service = MODEL_ACK;
        model_ack_search(m, &c);
    } else if (b->served) {
        m->service = MODEL_PARKED;
    } else {
        m->service = MODEL_DATA;
        m->x = m->t0 + 13 + (m->icblkinmsgnum ? 2 : 0);
    }
    b->served = true;
}

/* Parked cells that are due first, then the others in the order of arrival. */
static inline void model_serve_next(struct model *m, uint64_t now)
{
    for (unsigned i = 0; i < m->ic.busy.count; i++) {
        const uint16_t block = m->ic.busy.item[i];
        const struct model_cell c = model_cell_read(m->receive[block].cell);
        if (m->receive[block].parked && model_can_join(m, &c)) {
            model_serve(m, block, now);
            return;
        }
    }
    for (unsigned i = 0; i < m->ic.busy.count; i++)
        if (!m->receive[m->ic.busy.item[i]].served) {
            model_serve(m, m->ic.busy.item[i], now);
            return;
        }
}

/* Is F of note R6 before cycle x? Evaluated in cycle x-3, when the end of a cell is certain. */
static inline bool model_ack_free_before_x(const struct model *m)
{
    if (m->sends_resync) return !m->ack_busy;
    return !m->ack_busy || (m->state5 == 2 && m->byte >= 52) || m->state5 == 3;
}

static inline void model_state7_label(struct model *m)
{
    const struct model_cell c = model_cell_read(m->receive[m->service_block].cell);
    m->ack_label = model_take_label(m, c.source);
}

static inline void model_state7_request(struct model *m)
{
    const struct model_cell c = model_cell_read(m->receive[m->service_block].cell);
    const uint16_t flag = model_stream_flag(model_stream(&c));
    const uint16_t type = c.type == LEAT_ATM_TASK_RESYNC ? LEAT_ATM_TASK_RESYNCED
                                                         : LEAT_ATM_TASK_ACK;
    const struct model_cell ack = { type, flag, c.sqn, (uint16_t)m->config.port, c.source };
    model_cell_write(&ack, NULL, m->ack);
    model_put_label(m, m->ack_label, m->ack);
    m->ack_pending = m->ack_busy = true;
}

static inline void model_state7_data(struct model *m, uint64_t now)
{
    if (!m->q && now == m->x - 3) {
        if (m->label_now)
            m->x++;
        else if (model_ack_free_before_x(m))
            m->q = m->x;
        if (m->q) model_state7_label(m);
    } else if (!m->q && now > m->x - 3 && !m->ack_busy && now == m->ack_free_at + 2) {
        m->q = m->ack_free_at + 5;
        model_state7_label(m);
    }
    if (!m->q) return;
    if (now == m->q) model_state7_request(m);
    if (now < m->q + 10) return;
    model_place(m, now);
    m->service = MODEL_IDLE;
    m->service_until = now + 1;
}

static inline void model_state7_ack(struct model *m, uint64_t now)
{
    const uint64_t at = m->t0 + 9 + 2 * m->position;
    const struct model_cell c = model_cell_read(m->receive[m->service_block].cell);
    struct model_send_block *b = m->match == MODEL_NONE ? NULL : &m->send[m->match];
    if (b && b->message != m->match_message) b = NULL;
    if (now == at && b && b->ogblktofr) m->match = MODEL_NONE, b = NULL; /* discarded meanwhile */
    if (now == at && b) {
        b->ackdesc[c.source] = false;
        m->matched_last = --b->acknum == 0;
    }
    if (now == at && c.type == LEAT_ATM_TASK_RESYNCED) {
        struct model_gap *g = &m->gap[c.source][model_stream(&c)];
        const bool closes = g->open && g->number == c.sqn;
        m->counts.resynchronised += closes;
        m->counts.acks_unmatched += !closes;
        if (closes) g->open = false;
    } else if (now == at && !b)
        m->counts.acks_unmatched++;
    if (now == at + 3 && b && m->matched_last) b->ogblktofr = true;
    if (now < at + 5) return;
    model_release(&m->ic, m->service_block);
    m->service = MODEL_IDLE;
}

static inline void model_state7_parked(struct model *m, uint64_t now)
{
    if (now < m->t0 + 11) return;
    const struct model_cell c = model_cell_read(m->receive[m->service_block].cell);
    model_join(m, m->service_block, &c, now);
    model_pass_gaps(m, &c);
    m->service = MODEL_IDLE;
    m->service_until = now + 1;
}

static inline void model_state7(struct model *m, uint64_t now)
{
    switch (m->service) {
    case MODEL_IDLE: break;
    case MODEL_DATA: model_state7_data(m, now); break;
    case MODEL_PARKED: model_state7_parked(m, now); break;
    case MODEL_ACK: model_state7_ack(m, now); break;
    }
    if (m->service == MODEL_IDLE) model_serve_next(m, now);
}

/* STATE6: the last octet of a cell has arrived. */
static inline void model_receive(struct model *m, const uint8_t *cell, uint64_t now)
{
    const struct model_cell c = model_cell_read(cell);
    if (leat_get_be16(cell + 51) != model_crc(cell)) {
        m->counts.bad_cells++;
        return;
    }
    const unsigned stream = model_stream(&c);
    if ((c.dst != m->config.port && model_stream_to(c.dst) == 1) || c.source >= m->config.ports ||
        !model_is_member(m, stream, m->config.port) || !model_is_member(m, stream, c.source) ||
        (c.type > 1 && (!m->config.resync || c.type / 2 != 2))) {
        m->counts.misdelivered++;
        return;
    }
    /* README, doubts: beyond the window neither kept nor acknowledged. */
    if (c.type == LEAT_ATM_TASK_MESSAGE && model_ahead(m, &c) >= m->config.send_blocks &&
        model_ahead(m, &c) <= model_mask / 2) {
        m->counts.beyond++;
        return;
    }
    const uint16_t block = model_allocate(&m->ic);
    m->receive[block] = (struct model_receive_block){ .served = false };
    memcpy(m->receive[block].cell, cell, 53);
    if (c.type == LEAT_ATM_TASK_ACK || c.type == LEAT_ATM_TASK_RESYNCED)
        m->counts.acks_received++;
    else
        m->counts.cells_received++;
    if (m->service == MODEL_IDLE) model_serve_next(m, now);
}

/* STATE8: note R10 */

static inline bool model_matches(const struct model *m, uint16_t message)
{
    const struct model_message *g = &m->message[message];
    if (!g->used || !g->complete) return false;
    const uint8_t *header = m->receive[message].cell + 15;
    for (unsigned i = 0; i < 3; i++)
        if (leat_get_be32(header + 4 * i) != m->asked.name[i]) return false;
    const uint32_t instance = leat_get_be32(header + 12);
    if (instance != m->asked.instance && instance != 0xffffffff) return false;
    if (leat_get_be32(header + 16) != m->asked.id) return false;
    for (unsigned i = 0; i < g->served_count; i++)
        if (g->served[i] == m->asked.instance) return false;
    return true;
}

static inline uint16_t model_search(const struct model *m)
{
    for (unsigned source = 0; source < m->config.ports; source++) {
        uint16_t oldest = MODEL_NONE;
        for (uint16_t i = 0; i < m->config.receive_blocks; i++)
            if (model_matches(m, i) && m->message[i].source == source &&
                (oldest == MODEL_NONE || m->message[i].age < m->message[oldest].age))
                oldest = i;
        if (oldest != MODEL_NONE) return oldest;
    }
    return MODEL_NONE;
}

static inline void model_state8(struct model *m, uint64_t now)
{
    if (!m->search_cycles) return;
    if (m->search_cycles > 66) { /* the first one */
        const uint16_t found = model_search(m);
        const bool granted = found != MODEL_NONE;
        m->reported |= granted ? LEAT_ATM_AAL_GRANTED : LEAT_ATM_AAL_DENIED;
        m->search_cycles = granted ? 7 : 66;
        if (!granted) m->read.waiting_count = 0;
        m->reply_at = now + m->search_cycles - 1; /* the last cycle */
        if (granted) {
            struct model_message *g = &m->message[found];
            m->message_read = found;
            assert(g->served_count < LEAT_ATM_AAL_SERVED_MAX);
            g->served[g->served_count++] = m->asked.instance;
        }
    }
    m->search_cycles--;
}

/* STATE10 */

static inline void model_discard(struct model *m, uint16_t message)
{
    struct model_message *g = &m->message[message];
    for (unsigned i = 0; i < g->blocks.count; i++)
        model_release(&m->ic, g->blocks.item[i]);
    m->icblkinmsgnum -= g->blocks.count;
    m->counts.discarded++;
    m->counts.discarded_unread += !g->served_count;
    m->reported |= LEAT_ATM_AAL_DISCARDED;
    g->used = false;
}

/* Those that become obsolete in one cycle are discarded in the order of their completion. */
static inline void model_state10(struct model *m)
{
    for (;;) {
        uint16_t oldest = MODEL_NONE;
        for (uint16_t i = 0; i < m->config.receive_blocks; i++) {
            const struct model_message *g = &m->message[i];
            if (!g->used || !g->complete || g->timeout > 0 || i == m->message_read) continue;
            if (g->stream == 1 && !g->served_count) continue;
            if (oldest == MODEL_NONE || g->timeout < m->message[oldest].timeout) oldest = i;
        }
        if (oldest == MODEL_NONE) return;
        model_discard(m, oldest);
    }
}

/* STATE0: note 5.2 */

static inline void model_read(struct model *m, uint64_t now)
{
    struct model_host *h = &m->read;
    if (!h->active) model_accept(h, now);
    if (!h->active) return;
    h->elapsed++;
    const uint32_t rest = h->command.len % 4;
    const uint64_t io = 19 * (h->command.len / 4) + (rest ? 3 + 4 * rest : 0);
    if (h->command.verb == LEAT_ATM_AAL_GET && h->elapsed == io) {
        h->active = false;
        if (!h->waiting_count) m->reported |= LEAT_ATM_AAL_GOT;
    }
    if (h->command.verb == LEAT_ATM_AAL_RECEIVE && h->elapsed == 15) {
        m->asked = h->command.message;
        m->search_cycles = 67;
    }
    if (h->command.verb == LEAT_ATM_AAL_RECEIVE && h->elapsed > 15 && !m->search_cycles)
        h->active = false;
}

/* An obsolete message is discarded when it is no longer being read. */
static inline void model_read_end(struct model *m, uint64_t now)
{
    const struct model_message *g = &m->message[m->message_read];
    const uint16_t message = m->message_read;
    m->message_read = MODEL_NONE;
    if (g->timeout > 0) return;
    model_discard(m, message);
    if (m->service == MODEL_IDLE) model_serve_next(m, now);
}

static inline unsigned model_room(const struct model *m)
{
    return m->ic.free.count;
}

#endif
