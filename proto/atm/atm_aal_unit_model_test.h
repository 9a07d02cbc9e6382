/*
 * The AAL unit a second time, for the test only: from note 5, as plainly as it can be. Every
 * controller is stepped in every cycle in the order of note 5.1, every timer is decremented in
 * every cycle, lists are arrays, what is looked for is looked for from the beginning.
 *
 * In one cycle: `ogsuspend` is set if the network refuses, model_step, model_receive if the last
 * octet of a cell comes in, then the host's commands.
 *
 * Where the note is silent, both have made the same choices:
 * - STATE7 chooses its next cell in the cycle of a join, a cycle before that service ends; what it
 *   looks for (place of an acknowledgement, "already holds a block") it looks for then.
 * - A copy of a parked cell is a duplicate. A cell without a begin is released when it is its turn.
 * - A block is given up in the cycle in which its timer runs out; an acknowledgement after that
 *   changes nothing. One that is acknowledged is never given up.
 * - A walk passes blocks that are being written only while nomem is raised.
 * - A writer that waits for a block goes on when one is free and no reader has the unit.
 * - An exit forgets the commands that wait behind it, and so does a denied request.
 * - With resync (README): a RESYNC waits while a cell before its number may still be acknowledged;
 * of several that are due that of the lowest stream goes first.
 * - A message is obsolete in the cycle in which its timer is 0, before STATE8 looks; if it is being
 *   read then, or was never served, it leaves when the reading ends.
 */
#ifndef LEAT_ATM_AAL_UNIT_MODEL_TEST_H
#define LEAT_ATM_AAL_UNIT_MODEL_TEST_H

#include "atm_aal_unit.h"
#include "leat_bytes.h"
#include <assert.h>
#include <string.h>

enum {
    MODEL_BLOCKS = 24,
    MODEL_PORTS = 72,
    MODEL_COMMANDS = 16,
    MODEL_NONE = 0xffff,
};

struct model_list {
    uint16_t item[MODEL_BLOCKS];
    unsigned count;
};

static inline void model_list_append(struct model_list *l, uint16_t item)
{
    assert(l->count < MODEL_BLOCKS);
    l->item[l->count++] = item;
}

static inline unsigned model_list_find(const struct model_list *l, uint16_t item)
{
    unsigned i = 0;
    while (i < l->count && l->item[i] != item)
        i++;
    return i;
}

static inline void model_list_remove(struct model_list *l, uint16_t item)
{
    const unsigned i = model_list_find(l, item);
    assert(i < l->count);
    memmove(l->item + i, l->item + i + 1, (l->count - i - 1) * sizeof l->item[0]);
    l->count--;
}

struct model_buffer {
    struct model_list free, busy;
};

static inline uint16_t model_allocate(struct model_buffer *b)
{
    const uint16_t block = b->free.item[0];
    model_list_remove(&b->free, block);
    model_list_append(&b->busy, block);
    return block;
}

static inline void model_release(struct model_buffer *b, uint16_t block)
{
    model_list_remove(&b->busy, block);
    model_list_append(&b->free, block);
}

struct model_send_block {
    int64_t blktime;
    uint32_t message, label, sqn;
    uint16_t flag, dst;
    unsigned acknum, transmissions;
    bool ogblktofr, ackdesc[MODEL_PORTS], given_up;
    uint8_t payload[36];
};

struct model_receive_block {
    uint8_t cell[53];
    bool served, parked; /* STATE7 has served it; it waits for those before it */
};

/* A descriptor of note R9; it has the number of its head block. */
struct model_message {
    bool used, point, complete;
    uint16_t source;
    uint64_t age; /* cycle in which it was begun */
    int64_t timeout;
    struct model_list blocks;
    uint32_t served[LEAT_ATM_AAL_SERVED_MAX];
    unsigned served_count;
};

/* Of a stream to a port: cells were given up, and it may not know. */
struct model_gap {
    bool open;
    uint32_t number;
    uint64_t sent_at, send_at, wait;
};

/* A queue of host commands and the one being executed. */
struct model_host {
    struct leat_atm_aal_command waiting[MODEL_COMMANDS], command;
    uint64_t issued_at[MODEL_COMMANDS];
    unsigned waiting_count;
    bool active;
    uint64_t elapsed; /* cycles of the command, the accepting one included */
    uint32_t octets_done;
};

struct model {
    struct leat_atm_aal_config config;

    /* Told as by the unit; the owner clears `told`. */
    uint32_t told;
    uint16_t message_told, block_told;
    uint64_t line_at, reply_at;
    uint8_t line_cell[53];

    /* Host side */
    struct model_host write, read;
    unsigned ogoffset;
    struct model_list written; /* blocks of the message being written */
    uint16_t dst;
    bool nomem, written_now;
    struct leat_atm_task_message asked;
    unsigned search_cycles; /* of STATE8 still to come, 0: idle */
    uint16_t message_read;

    /* Segmentation */
    unsigned header_cycles, label_cycles; /* of STATE1 and of STATE2 to 4 so far */
    bool segmenting, label_now;
    uint32_t path, message_count;
    unsigned ogmsgnum;
    uint32_t broadcast_number, number[MODEL_PORTS];

    /* STATE5 */
    unsigned state5, byte;
    uint64_t held; /* cycles that the next first octet has still to wait */
    uint16_t cursnd;
    bool ogsuspend, ack_pending, ack_busy;
    uint64_t ack_free_at; /* F of note R6 */
    uint8_t line[53], ack[53], resync[53];
    bool resync_pending, resync_busy, sends_resync;
    struct model_gap gap[MODEL_PORTS][2], *asked_gap;

    /* STATE7 */
    enum { MODEL_IDLE, MODEL_DATA, MODEL_PARKED, MODEL_ACK } service;
    uint16_t service_block, match;
    uint32_t match_message;
    uint64_t t0, x, q; /* q: 0 as long as it is not known */
    uint64_t service_until;
    unsigned position;
    bool matched_last;
    uint32_t ack_label;
    uint32_t received[MODEL_PORTS][2], skip_to[MODEL_PORTS][2];
    bool skips[MODEL_PORTS][2];
    unsigned icblkinmsgnum;

    struct model_buffer og, ic;
    struct model_send_block send[MODEL_BLOCKS];
    struct model_receive_block receive[MODEL_BLOCKS];
    struct model_message message[MODEL_BLOCKS];
    struct leat_atm_aal_counts counts;
};

static uint32_t model_mask; /* of numbers: 16 bits, or 29 with resync */

static inline void model_init(struct model *m, const struct leat_atm_aal_config *config)
{
    memset(m, 0, sizeof *m);
    m->config = *config;
    model_mask = config->resync ? 0x1fffffff : 0xffff;
    for (uint16_t i = 0; i < config->send_blocks; i++)
        model_list_append(&m->og.free, i);
    for (uint16_t i = 0; i < config->receive_blocks; i++)
        model_list_append(&m->ic.free, i);
    for (unsigned i = 0; i < MODEL_BLOCKS; i++)
        m->send[i].blktime = -1;
    m->message_read = MODEL_NONE;
}

/* Note 2.5: polynomial 0x1021, initial 0, bit by bit. */
static inline uint16_t model_crc(const uint8_t *cell)
{
    unsigned rest = 0;
    for (unsigned i = 5; i < 51; i++) {
        rest ^= (unsigned)cell[i] << 8;
        for (int b = 0; b < 8; b++)
            rest = (rest << 1) ^ (rest & 0x8000 ? 0x11021u : 0);
    }
    return (uint16_t)rest;
}

struct model_cell {
    uint16_t type, flag;
    uint32_t sqn;
    uint16_t source, dst;
};

static inline struct model_cell model_cell_read(const uint8_t *cell)
{
    struct model_cell c = { leat_get_be16(cell + 5), leat_get_be16(cell + 7),
                            leat_get_be16(cell + 9), leat_get_be16(cell + 11),
                            leat_get_be16(cell + 13) };
    if (model_mask == 0xffff) return c;
    c.sqn += c.type / 8 * 65536u;
    c.type %= 8;
    return c;
}

/* Of a point-to-point stream? */
static inline bool model_is_point(const struct model_cell *c)
{
    return c->type == LEAT_ATM_TASK_MESSAGE ? c->dst != LEAT_ATM_TASK_BROADCAST
                                            : c->flag == LEAT_ATM_TASK_ACK_POINT;
}

static inline bool model_after(uint32_t a, uint32_t b)
{
    const uint32_t ahead = (a - b) & model_mask;
    return ahead > 0 && ahead <= model_mask / 2;
}

/* `payload` may be NULL: zeros. */
static inline void model_cell_write(const struct model_cell *c, const uint8_t *payload,
                                    uint8_t *cell)
{
    memset(cell, 0, 53);
    leat_put_be16(cell + 5, (uint16_t)(c->sqn / 65536 * 8 + c->type));
    leat_put_be16(cell + 7, c->flag);
    leat_put_be16(cell + 9, (uint16_t)(c->sqn % 65536));
    leat_put_be16(cell + 11, c->source);
    leat_put_be16(cell + 13, c->dst);
    if (payload) memcpy(cell + 15, payload, 36);
    leat_put_be16(cell + 51, model_crc(cell));
}

static inline void model_put_label(const struct model *m, uint32_t label, uint8_t *cell)
{
    if (m->config.header_octets == 2)
        leat_put_be16(cell, (uint16_t)(label << 4));
    else
        leat_put_be32(cell, label << 4);
}

/* Note R1. */
static inline uint32_t model_take_label(struct model *m, uint16_t dst)
{
    const uint32_t to = dst == LEAT_ATM_TASK_BROADCAST ? m->config.ports : dst;
    const uint32_t label = m->config.paths * to + m->path;
    m->path = (m->path + 1) % m->config.paths;
    return label;
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

static inline bool model_waits_for(const struct model_send_block *b, unsigned port, unsigned point)
{
    return b->acknum && b->ackdesc[port] && (b->dst != LEAT_ATM_TASK_BROADCAST) == point;
}

static inline void model_open_gaps(struct model *m, const struct model_send_block *b, uint64_t now)
{
    for (unsigned port = 0; port < m->config.ports; port++)
        for (unsigned point = 0; point < 2; point++) {
            struct model_gap *g = &m->gap[port][point];
            if (!model_waits_for(b, port, point)) continue;
            if (!g->open)
                *g = (struct model_gap){ .open = true, .number = b->sqn, .send_at = LEAT_NEVER };
            if (model_after(b->sqn, g->number)) g->number = b->sqn;
            model_hurry(m, g, now);
        }
}

static inline bool model_has_older(const struct model *m, unsigned port, unsigned point)
{
    for (unsigned i = 0; i < m->og.busy.count; i++) {
        const struct model_send_block *b = &m->send[m->og.busy.item[i]];
        /* What the last acknowledgement has come for is as good as free, three cycles early. */
        if (model_waits_for(b, port, point) && !b->ogblktofr &&
            model_after(m->gap[port][point].number, b->sqn))
            return true;
    }
    return false;
}

static inline uint32_t model_take_label(struct model *m, uint16_t dst);

static inline void model_ask_resync(struct model *m, uint64_t now)
{
    if (!m->config.resync || m->resync_busy) return;
    for (unsigned port = 0; port < m->config.ports; port++)
        for (unsigned point = 0; point < 2; point++) {
            struct model_gap *g = &m->gap[port][point];
            if (!g->open || g->send_at > now) continue;
            if (model_has_older(m, port, point)) {
                g->send_at = now + m->config.retransmit_cycles;
            } else if (!m->resync_busy) {
                const struct model_cell c = { LEAT_ATM_TASK_RESYNC,
                                              point ? LEAT_ATM_TASK_ACK_POINT : 0, g->number,
                                              (uint16_t)m->config.port, (uint16_t)port };
                model_cell_write(&c, NULL, m->resync);
                model_put_label(m, model_take_label(m, (uint16_t)port), m->resync);
                m->resync_pending = m->resync_busy = true;
                m->asked_gap = g;
                g->send_at = LEAT_NEVER;
            }
        }
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
        for (unsigned i = 0; m->config.resync && i < 2 * m->config.ports; i++)
            if (m->gap[i / 2][i % 2].open && model_waits_for(b, i / 2, i % 2))
                model_hurry(m, &m->gap[i / 2][i % 2], now);
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
    if (m->byte == 0 && m->held > 0) { /* the line is taken */
        m->held--;
        return;
    }
    if (m->byte++ == 0) {
        m->told |= LEAT_ATM_AAL_LINE;
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
    m->told |= LEAT_ATM_AAL_WRITTEN;
}

static inline void model_state1_block(struct model *m, unsigned i)
{
    struct model_send_block *b = &m->send[m->written.item[i]];
    const bool all = m->dst == LEAT_ATM_TASK_BROADCAST;
    b->message = m->message_count;
    b->dst = m->dst;
    b->flag = (uint16_t)((i == 0 ? 1 : 0) + (i + 1 == m->written.count ? 2 : 0));
    uint32_t *last = all ? &m->broadcast_number : &m->number[m->dst];
    b->sqn = *last = (*last + 1) & model_mask;
    b->acknum = all ? m->config.ports : 1;
    for (unsigned port = 0; port < m->config.ports; port++)
        b->ackdesc[port] = all || port == m->dst;
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

/* STATE10 and STATE9 */

static inline void model_discard(struct model *m, uint16_t message)
{
    struct model_message *g = &m->message[message];
    for (unsigned i = 0; i < g->blocks.count; i++)
        model_release(&m->ic, g->blocks.item[i]);
    m->icblkinmsgnum -= g->blocks.count;
    m->counts.discarded++;
    m->counts.discarded_unread += !g->served_count;
    m->told |= LEAT_ATM_AAL_DISCARDED;
    g->used = false;
}

/* Those that become obsolete in one cycle leave in the order in which they were completed. */
static inline void model_state10(struct model *m)
{
    for (;;) {
        uint16_t oldest = MODEL_NONE;
        for (uint16_t i = 0; i < m->config.receive_blocks; i++) {
            const struct model_message *g = &m->message[i];
            if (!g->used || !g->complete || g->timeout > 0 || i == m->message_read) continue;
            if (g->point && !g->served_count) continue;
            if (oldest == MODEL_NONE || g->timeout < m->message[oldest].timeout) oldest = i;
        }
        if (oldest == MODEL_NONE) return;
        model_discard(m, oldest);
    }
}

/* Note R8; with resync a message is given up as a whole. */
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
    m->told |= LEAT_ATM_AAL_UNDELIVERABLE;
    m->block_told = block;
}

/* A message's timer goes on below 0, which tells how long it has been obsolete. */
static inline void model_state9(struct model *m, uint64_t now)
{
    for (uint16_t i = 0; i < m->config.send_blocks; i++) {
        struct model_send_block *b = &m->send[i];
        const bool runs_out = b->blktime == 1;
        b->blktime -= b->blktime > 0;
        if (!runs_out || !b->acknum || b->ogblktofr ||
            b->transmissions < m->config.transmissions_max)
            continue;
        model_give_up(m, i, now);
    }
    model_ask_resync(m, now);
    for (unsigned i = 0; i < m->config.receive_blocks; i++)
        if (m->message[i].used && m->message[i].complete) m->message[i].timeout--;
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
        m->told |= granted ? LEAT_ATM_AAL_GRANTED : LEAT_ATM_AAL_DENIED;
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

/* STATE7: notes R6, R7, R9 */

static inline uint32_t model_ahead(const struct model *m, const struct model_cell *c)
{
    return (c->sqn - m->received[c->source][model_is_point(c)] - 1) & model_mask;
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
        if (g->used && !g->complete && g->source == c->source &&
            g->point == (c->dst != LEAT_ATM_TASK_BROADCAST) && (!first || g->age < first->age))
            first = g;
    }
    return first;
}

static inline void model_join(struct model *m, uint16_t block, const struct model_cell *c,
                              uint64_t now)
{
    const bool point = c->dst != LEAT_ATM_TASK_BROADCAST;
    struct model_message *g = &m->message[block];
    m->received[c->source][point] = c->sqn;
    if (c->flag & LEAT_ATM_TASK_FIRST)
        *g =
            (struct model_message){ .used = true, .point = point, .source = c->source, .age = now };
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
    m->told |= LEAT_ATM_AAL_COMPLETE;
    m->message_told = g->blocks.item[0];
}

static inline bool model_parked_already(const struct model *m, const struct model_cell *c)
{
    for (unsigned i = 0; i < m->ic.busy.count; i++) {
        const struct model_receive_block *b = &m->receive[m->ic.busy.item[i]];
        const struct model_cell other = model_cell_read(b->cell);
        if (b->parked && other.source == c->source && other.sqn == c->sqn &&
            (other.dst == LEAT_ATM_TASK_BROADCAST) == (c->dst == LEAT_ATM_TASK_BROADCAST))
            return true;
    }
    return false;
}

/* Number by number: up to skip_to, what is not parked does not come. */
static inline void model_pass_gaps(struct model *m, const struct model_cell *stream)
{
    const bool point = model_is_point(stream);
    uint32_t *received = &m->received[stream->source][point];
    while (m->skips[stream->source][point] &&
           model_after(m->skip_to[stream->source][point], *received)) {
        const struct model_cell next = { .sqn = (*received + 1) & model_mask,
                                         .source = stream->source,
                                         .dst = point ? (uint16_t)m->config.port
                                                      : LEAT_ATM_TASK_BROADCAST };
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
    m->skips[stream->source][point] = false;
}

static inline void model_resynchronise(struct model *m, const struct model_cell *c)
{
    const bool point = model_is_point(c);
    uint32_t *skip_to = &m->skip_to[c->source][point];
    if (m->skips[c->source][point] && !model_after(c->sqn, *skip_to)) return;
    *skip_to = c->sqn;
    m->skips[c->source][point] = true;
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
    const bool point = c->flag & LEAT_ATM_TASK_ACK_POINT;
    m->match = MODEL_NONE;
    m->matched_last = false;
    for (m->position = 0; m->position < m->og.busy.count; m->position++) {
        const struct model_send_block *b = &m->send[m->og.busy.item[m->position]];
        if (b->acknum && b->sqn == c->sqn && (b->dst != LEAT_ATM_TASK_BROADCAST) == point &&
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

/* Is F of note R6 before cycle x? Asked in cycle x-3, when the end of a cell is certain. */
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
    const uint16_t flag = model_is_point(&c) ? LEAT_ATM_TASK_ACK_POINT : 0;
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
    if (now == at && b && b->ogblktofr) m->match = MODEL_NONE, b = NULL; /* given up meanwhile */
    if (now == at && b) {
        b->ackdesc[c.source] = false;
        m->matched_last = --b->acknum == 0;
    }
    if (now == at && c.type == LEAT_ATM_TASK_RESYNCED) {
        struct model_gap *g = &m->gap[c.source][model_is_point(&c)];
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

/* STATE6: the last octet of a cell has come in. */
static inline void model_receive(struct model *m, const uint8_t *cell, uint64_t now)
{
    const struct model_cell c = model_cell_read(cell);
    if (leat_get_be16(cell + 51) != model_crc(cell)) {
        m->counts.bad_cells++;
        return;
    }
    if ((c.dst != m->config.port && c.dst != LEAT_ATM_TASK_BROADCAST) ||
        c.source >= m->config.ports || (c.type > 1 && (!m->config.resync || c.type / 2 != 2))) {
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

/* STATE0: note 5.2 */

static inline bool model_accept(struct model_host *h, uint64_t now)
{
    if (!h->waiting_count || h->waiting[0].not_before > now || h->issued_at[0] >= now) return false;
    h->command = h->waiting[0];
    h->waiting_count--;
    memmove(h->waiting, h->waiting + 1, h->waiting_count * sizeof h->waiting[0]);
    memmove(h->issued_at, h->issued_at + 1, h->waiting_count * sizeof h->issued_at[0]);
    h->active = true;
    h->elapsed = 0;
    h->octets_done = 0;
    return true;
}

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
        if (!m->nomem) m->told |= LEAT_ATM_AAL_NOMEM;
        m->nomem = true;
        return MODEL_STALLED;
    }
    m->told |= LEAT_ATM_AAL_EXIT;
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
    if (m->ogoffset == 36 && !m->og.free.count && !m->ogmsgnum) m->told |= LEAT_ATM_AAL_TOOLONG;
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
        if (!h->waiting_count) m->told |= LEAT_ATM_AAL_GOT;
    }
    if (h->command.verb == LEAT_ATM_AAL_RECEIVE && h->elapsed == 15) {
        m->asked = h->command.message;
        m->search_cycles = 67;
    }
    if (h->command.verb == LEAT_ATM_AAL_RECEIVE && h->elapsed > 15 && !m->search_cycles)
        h->active = false;
}

static inline void model_command(struct model *m, const struct leat_atm_aal_command *c,
                                 uint64_t now)
{
    const bool reads = c->verb == LEAT_ATM_AAL_RECEIVE || c->verb == LEAT_ATM_AAL_GET;
    struct model_host *h = reads ? &m->read : &m->write;
    assert(h->waiting_count < MODEL_COMMANDS);
    h->waiting[h->waiting_count] = *c;
    h->issued_at[h->waiting_count++] = now;
}

/* An obsolete message leaves when nobody reads it any more. */
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

/* Note 5.1: the order of the controllers. STATE6 is model_receive. */
static inline void model_step(struct model *m, uint64_t now)
{
    model_state5(m, now);
    m->ogsuspend = false;
    model_state2(m);
    model_state1(m);
    model_state9(m, now);
    model_state10(m); /* leaves in the cycle whose timer is 0, so it looks after STATE9 */
    model_state8(m, now);
    model_state7(m, now);
    model_write(m, now);
    model_read(m, now);
}

#endif
