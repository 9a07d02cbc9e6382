/* The sending half of the plain model: writes a message, cuts it into cells, sends them until they
 * are acknowledged or discarded, and then reports the missing ones with RESYNC. */
#ifndef LEAT_ATM_AAL_UNIT_MODEL_SEND_TEST_H
#define LEAT_ATM_AAL_UNIT_MODEL_SEND_TEST_H

#include "atm_aal_unit_model_parts_test.h"

/* STATE0: note 5.2 */

enum model_need { MODEL_GIVEN, MODEL_STALLED, MODEL_EXIT };

/* A block for the message being written. */
static inline enum model_need model_need_block(struct model *m)
{
    const bool reader = m->read.active || m->read.waiting_count || m->message_read != MODEL_NONE;
    if (m->nomem && reader) return MODEL_STALLED; /* a reader uses the unit meanwhile */
    if (m->og.free.count) {
        const uint16_t block = model_allocate(&m->og);
        m->nomem = false;
        m->send[block] = (struct model_send_block){ .blktime = -1 };
        model_list_append(&m->written, block);
        if (m->og.busy.count == 1) m->cursnd = block;
        return MODEL_GIVEN;
    }
    if (m->ogmsgnum) {
        if (!m->nomem) m->reported |= LEAT_ATM_AAL_NOMEM;
        m->nomem = true;
        return MODEL_STALLED;
    }
    m->reported |= LEAT_ATM_AAL_EXIT;
    for (unsigned i = 0; i < m->written.count; i++)
        model_release(&m->og, m->written.item[i]);
    m->written.count = m->write.waiting_count = 0;
    return MODEL_EXIT;
}

static inline void model_put_octet(struct model *m)
{
    struct model_host *h = &m->write;
    if (m->ogoffset == 36) {
        const enum model_need need = model_need_block(m);
        if (need == MODEL_STALLED) h->elapsed--;
        if (need == MODEL_EXIT) h->active = false;
        if (need != MODEL_GIVEN) return;
        m->ogoffset = 0;
    }
    const uint16_t block = m->written.item[m->written.count - 1];
    m->send[block].payload[m->ogoffset++] = h->command.octets[h->octets_done++];
    if (m->ogoffset == 36 && !m->og.free.count && !m->ogmsgnum) m->reported |= LEAT_ATM_AAL_TOOLONG;
}

/* Each word of b octets takes 4b+3 cycles; its octets are stored in the 5th, 9th, 13th and 17th. */
static inline void model_put(struct model *m)
{
    struct model_host *h = &m->write;
    const uint32_t i = h->octets_done;
    if (i < h->command.len && h->elapsed == 19 * (i / 4) + 4 * (i % 4) + 5) model_put_octet(m);
    const uint32_t rest = h->command.len % 4;
    if (h->active && h->elapsed == 19 * (h->command.len / 4) + (rest ? 3 + 4 * rest : 0))
        h->active = false;
}

static inline void model_write(struct model *m, uint64_t now)
{
    struct model_host *h = &m->write;
    const bool written_now = m->written_now;
    m->written_now = false;
    if (written_now) {
        h->active = false;
        return;
    }
    while (!h->active && model_accept(h, now))
        if (h->command.verb == LEAT_ATM_AAL_PUT && !h->command.len) h->active = false;
    if (!h->active) return;
    h->elapsed++;
    if (h->command.verb == LEAT_ATM_AAL_PUT) {
        model_put(m);
    } else if (h->command.verb == LEAT_ATM_AAL_INITSEND && h->elapsed == 3) {
        if (model_need_block(m) == MODEL_STALLED)
            h->elapsed--;
        else
            h->active = false;
        m->ogoffset = 20;
    } else if (h->command.verb == LEAT_ATM_AAL_DESTINATION && h->elapsed == 3) {
        m->dst = h->command.destination;
        h->active = false;
    } else if (h->command.verb == LEAT_ATM_AAL_SEND && h->elapsed == 15) {
        m->segmenting = true;
        m->header_cycles = m->label_cycles = 0;
    }
}

/* STATE1 to STATE4: note 5.2 */

static inline void model_state2(struct model *m)
{
    const unsigned cells = m->written.count;
    m->label_now = false;
    if (!m->segmenting || m->header_cycles < 5 + 4 * cells) return;
    const unsigned cell = m->label_cycles / 6;
    m->label_cycles++;
    if (m->label_cycles % 6 == 2) {
        struct model_send_block *b = &m->send[m->written.item[cell]];
        b->label = model_take_label(m, b->dst);
        m->label_now = true;
    }
    if (m->label_cycles < 6 * cells) return;
    for (unsigned i = 0; i < cells; i++)
        m->send[m->written.item[i]].blktime = 0;
    m->ogmsgnum++;
    m->segmenting = false;
    m->written.count = 0;
    m->written_now = true;
    m->reported |= LEAT_ATM_AAL_WRITTEN;
}

static inline void model_state1_block(struct model *m, unsigned i)
{
    struct model_send_block *b = &m->send[m->written.item[i]];
    const unsigned stream = model_stream_to(m->dst);
    b->message = m->message_count;
    b->dst = m->dst;
    b->flag = (uint16_t)((i == 0 ? 1 : 0) + (i + 1 == m->written.count ? 2 : 0));
    uint32_t *last = stream == 0   ? &m->broadcast_number
                     : stream == 1 ? &m->number[m->dst]
                                   : &m->group_number[stream - 2];
    b->sqn = *last = (*last + 1) & model_mask;
    for (unsigned port = 0; port < m->config.ports; port++) {
        b->ackdesc[port] = stream == 1 ? port == m->dst : model_is_member(m, stream, port);
        b->acknum += b->ackdesc[port];
    }
}

static inline void model_state1(struct model *m)
{
    if (!m->segmenting || m->header_cycles == 5 + 4 * m->written.count) return;
    if (m->header_cycles++) return;
    uint8_t *header = m->send[m->written.item[0]].payload;
    const struct leat_atm_task_message *to = &m->write.command.message;
    for (unsigned i = 0; i < 3; i++)
        leat_put_be32(header + 4 * i, to->name[i]);
    leat_put_be32(header + 12, to->instance);
    leat_put_be32(header + 16, to->id);
    m->message_count++;
    for (unsigned i = 0; i < m->written.count; i++)
        model_state1_block(m, i);
}

/* Gaps: README, "Resynchronisation" */

static inline void model_hurry(struct model *m, struct model_gap *g, uint64_t now)
{
    uint64_t at = now + 1;
    if (g->sent_at && g->sent_at + m->config.retransmit_cycles > now)
        at = g->sent_at + m->config.retransmit_cycles;
    g->wait = m->config.retransmit_cycles;
    if (at < g->send_at) g->send_at = at;
}

static inline bool model_waits_for(const struct model_send_block *b, unsigned port, unsigned stream)
{
    return b->acknum && b->ackdesc[port] && model_stream_to(b->dst) == stream;
}

static inline void model_open_gaps(struct model *m, const struct model_send_block *b, uint64_t now)
{
    for (unsigned port = 0; port < m->config.ports; port++)
        for (unsigned stream = 0; stream < MODEL_STREAMS; stream++) {
            struct model_gap *g = &m->gap[port][stream];
            if (!model_waits_for(b, port, stream)) continue;
            if (!g->open)
                *g = (struct model_gap){ .open = true, .number = b->sqn, .send_at = LEAT_NEVER };
            if (model_after(b->sqn, g->number)) g->number = b->sqn;
            model_hurry(m, g, now);
        }
}

static inline bool model_has_older(const struct model *m, unsigned port, unsigned stream)
{
    for (unsigned i = 0; i < m->og.busy.count; i++) {
        const struct model_send_block *b = &m->send[m->og.busy.item[i]];
        /* A block with its last acknowledgement counts as free, three cycles early. */
        if (model_waits_for(b, port, stream) && !b->ogblktofr &&
            model_after(m->gap[port][stream].number, b->sqn))
            return true;
    }
    return false;
}

static inline void model_ask_gap(struct model *m, unsigned port, unsigned stream, uint64_t now)
{
    struct model_gap *g = &m->gap[port][stream];
    if (!g->open || g->send_at > now) return;
    if (model_has_older(m, port, stream)) {
        g->send_at = now + m->config.retransmit_cycles;
    } else if (!m->resync_busy) {
        const struct model_cell c = { LEAT_ATM_TASK_RESYNC, model_stream_flag(stream), g->number,
                                      (uint16_t)m->config.port, (uint16_t)port };
        model_cell_write(&c, NULL, m->resync);
        model_put_label(m, model_take_label(m, (uint16_t)port), m->resync);
        m->resync_pending = m->resync_busy = true;
        m->asked_gap = g;
        g->send_at = LEAT_NEVER;
    }
}

static inline void model_ask_resync(struct model *m, uint64_t now)
{
    if (!m->config.resync || m->resync_busy) return;
    for (unsigned port = 0; port < m->config.ports; port++)
        for (unsigned stream = 0; stream < 2; stream++)
            model_ask_gap(m, port, stream, now);
    for (unsigned stream = 2; stream < MODEL_STREAMS; stream++)
        for (unsigned port = 0; port < m->config.ports; port++)
            model_ask_gap(m, port, stream, now);
}

static inline void model_resync_sent(struct model *m, uint64_t now)
{
    struct model_gap *g = m->asked_gap;
    m->resync_busy = false;
    if (!g->open) return;
    g->sent_at = now;
    g->send_at = now + g->wait;
    g->wait *= 2;
}

/* STATE5: note R2 */

static inline bool model_at_tail(const struct model *m)
{
    return m->cursnd == m->og.busy.item[m->og.busy.count - 1];
}

static inline void model_advance(struct model *m, bool wrap)
{
    const struct model_list *busy = &m->og.busy;
    m->cursnd = wrap ? busy->item[0] : busy->item[model_list_find(busy, m->cursnd) + 1];
}

static inline void model_free_current(struct model *m)
{
    const uint16_t block = m->cursnd;
    model_advance(m, model_at_tail(m));
    model_release(&m->og, block);
    bool message_remains = false;
    for (unsigned i = 0; i < m->og.busy.count; i++)
        message_remains |= m->send[m->og.busy.item[i]].message == m->send[block].message;
    if (!message_remains) m->ogmsgnum--;
    m->send[block] = (struct model_send_block){ .blktime = -1 };
}

static inline unsigned model_state5_look(struct model *m, uint64_t now)
{
    if (m->ack_pending) {
        m->counts.acks_sent++;
        m->sends_resync = false;
        return 1;
    }
    if (m->resync_pending) {
        m->counts.resyncs_sent++;
        m->sends_resync = true;
        return 1;
    }
    if (!m->og.busy.count) return 0;
    const struct model_send_block *b = &m->send[m->cursnd];
    if (b->ogblktofr) return 16;
    if (b->blktime == 0) {
        m->counts.cells_sent++;
        m->counts.retransmissions += b->transmissions > 0;
        for (unsigned i = 0; m->config.resync && i < MODEL_STREAMS * m->config.ports; i++) {
            const unsigned port = i / MODEL_STREAMS, stream = i % MODEL_STREAMS;
            if (m->gap[port][stream].open && model_waits_for(b, port, stream))
                model_hurry(m, &m->gap[port][stream], now);
        }
        return 4;
    }
    if (b->blktime < 0 && !m->nomem) return 0;
    return model_at_tail(m) ? 9 : 10;
}

static inline void model_state5_prepare(struct model *m)
{
    const struct model_send_block *b = &m->send[m->cursnd];
    const struct model_cell c = { 0, b->flag, b->sqn, (uint16_t)m->config.port, b->dst };
    model_cell_write(&c, b->payload, m->line);
    model_put_label(m, b->label, m->line);
}

static inline void model_state5_byte(struct model *m, uint64_t now)
{
    if (m->ogsuspend) { /* note R3 */
        m->byte = 0;
        m->counts.refusals++;
        return;
    }
    if (m->byte == 0 && m->held > 0) { /* the line is busy */
        m->held--;
        return;
    }
    if (m->byte++ == 0) {
        m->reported |= LEAT_ATM_AAL_LINE;
        m->line_at = now;
        memcpy(m->line_cell, m->line, 53);
    }
    if (m->byte < 53) return;
    m->byte = 0;
    m->state5 = m->state5 == 2 ? 3 : model_at_tail(m) ? 6 : 8;
}

static inline void model_state5(struct model *m, uint64_t now)
{
    switch (m->state5) {
    case 0: m->state5 = model_state5_look(m, now); return;
    case 1:
        memcpy(m->line, m->sends_resync ? m->resync : m->ack, 53);
        *(m->sends_resync ? &m->resync_pending : &m->ack_pending) = false;
        m->state5 = 2;
        return;
    case 4:
        model_state5_prepare(m);
        m->state5 = 5;
        return;
    case 2:
    case 5: model_state5_byte(m, now); return;
    case 3:
        if (m->sends_resync) {
            model_resync_sent(m, now);
            break;
        }
        m->ack_busy = false;
        m->ack_free_at = now;
        break;
    case 6:
    case 8:
        m->send[m->cursnd].blktime = m->config.retransmit_cycles;
        m->send[m->cursnd].transmissions++;
        model_advance(m, m->state5 == 6);
        break;
    case 9:
    case 10: model_advance(m, m->state5 == 9); break;
    case 16: model_free_current(m); break;
    }
    m->state5 = 0;
}

/* Note R8; with resync a message is discarded as a whole. */
static inline void model_give_up(struct model *m, uint16_t block, uint64_t now)
{
    m->counts.given_up += !m->send[block].given_up;
    for (unsigned i = 0; i < m->og.busy.count; i++) {
        const uint16_t each = m->og.busy.item[i];
        struct model_send_block *b = &m->send[each];
        if (b->blktime < 0 || b->message != m->send[block].message) continue;
        b->given_up = true;
        if (!b->acknum || b->ogblktofr || (each != block && !m->config.resync)) continue;
        b->ogblktofr = true;
        m->counts.undeliverable++;
        model_open_gaps(m, b, now);
    }
    m->reported |= LEAT_ATM_AAL_UNDELIVERABLE;
    m->block_reported = block;
}

#endif
