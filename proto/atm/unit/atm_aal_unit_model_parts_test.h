/* What both halves of the plain model (atm_aal_unit_model_test.h) share: its registers, lists,
 * buffers, cells, and the queues of host commands. */
#ifndef LEAT_ATM_AAL_UNIT_MODEL_PARTS_TEST_H
#define LEAT_ATM_AAL_UNIT_MODEL_PARTS_TEST_H

#include "atm_aal_unit.h"
#include "leat_bytes.h"
#include <assert.h>
#include <string.h>

enum {
    MODEL_BLOCKS = 24,
    MODEL_PORTS = 72,
    MODEL_GROUPS = 2,
    MODEL_STREAMS = 2 + MODEL_GROUPS, /* broadcast, point to point, and of each group */
    MODEL_COMMANDS = 4 * LEAT_ATM_AAL_COMMANDS_MAX + 4, /* WRITE is four of them */
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
    bool served, parked; /* STATE7 has served it; it waits for earlier numbers */
};

/* A descriptor of note R9; it has the number of its head block. */
struct model_message {
    bool used, complete;
    unsigned stream;
    uint16_t source;
    uint64_t age; /* cycle in which it was begun */
    int64_t timeout;
    struct model_list blocks;
    uint32_t served[LEAT_ATM_AAL_SERVED_MAX];
    unsigned served_count;
};

/* A gap in a stream to a port: cells were discarded, and the port may not know. */
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

    /* Reported as by the unit; the owner clears `reported`. */
    uint32_t reported;
    uint16_t message_reported, block_reported;
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
    uint32_t broadcast_number, number[MODEL_PORTS], group_number[MODEL_GROUPS];
    bool member[MODEL_GROUPS][MODEL_PORTS];

    /* STATE5 */
    unsigned state5, byte;
    uint64_t held; /* cycles before the next first octet may be sent */
    uint16_t cursnd;
    bool ogsuspend, ack_pending, ack_busy;
    uint64_t ack_free_at; /* F of note R6 */
    uint8_t line[53], ack[53], resync[53];
    bool resync_pending, resync_busy, sends_resync;
    struct model_gap gap[MODEL_PORTS][MODEL_STREAMS], *asked_gap;

    /* STATE7 */
    enum { MODEL_IDLE, MODEL_DATA, MODEL_PARKED, MODEL_ACK } service;
    uint16_t service_block, match;
    uint32_t match_message;
    uint64_t t0, x, q; /* q: 0 until it is known */
    uint64_t service_until;
    unsigned position;
    bool matched_last;
    uint32_t ack_label;
    uint32_t received[MODEL_PORTS][MODEL_STREAMS], skip_to[MODEL_PORTS][MODEL_STREAMS];
    bool skips[MODEL_PORTS][MODEL_STREAMS];
    unsigned icblkinmsgnum;

    struct model_buffer og, ic;
    struct model_send_block send[MODEL_BLOCKS];
    struct model_receive_block receive[MODEL_BLOCKS];
    struct model_message message[MODEL_BLOCKS];
    struct leat_atm_aal_counts counts;
};

static uint32_t model_mask;   /* of numbers: 16 bits, or 29 with resync */
static uint32_t model_groups; /* that are configured */

static inline void model_init(struct model *m, const struct leat_atm_aal_config *config)
{
    memset(m, 0, sizeof *m);
    m->config = *config;
    model_mask = config->resync ? 0x1fffffff : 0xffff;
    model_groups = config->groups;
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

/* 0: broadcast, 1: point to point, then those of groups. */
static inline unsigned model_stream_to(uint16_t dst)
{
    for (unsigned g = 0; g < model_groups; g++)
        if (dst == 0xfffe - g) return 2 + g;
    return dst == 0xffff ? 0 : 1;
}

static inline unsigned model_stream(const struct model_cell *c)
{
    if (c->type == LEAT_ATM_TASK_MESSAGE) return model_stream_to(c->dst);
    for (unsigned g = 0; g < model_groups; g++)
        if (c->flag == 8 * (g + 1)) return 2 + g;
    return c->flag == 4 ? 1 : 0;
}

static inline uint16_t model_stream_flag(unsigned stream)
{
    return (uint16_t)(stream < 2 ? 4 * stream : 8 * (stream - 1));
}

static inline bool model_is_member(const struct model *m, unsigned stream, unsigned port)
{
    return stream < 2 || m->member[stream - 2][port];
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
    const unsigned stream = model_stream_to(dst);
    const uint32_t to = stream == 1 ? dst : m->config.ports + (stream ? stream - 1 : 0);
    const uint32_t label = m->config.paths * to + m->path;
    m->path = (m->path + 1) % m->config.paths;
    return label;
}

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

#endif
