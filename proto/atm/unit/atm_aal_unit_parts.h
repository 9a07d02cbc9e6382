/* Shared by the controllers of the adaptation layer unit; private to them. */
#ifndef LEAT_ATM_AAL_UNIT_PARTS_H
#define LEAT_ATM_AAL_UNIT_PARTS_H

#include "atm_aal_unit.h"
#include "atm_route.h"
#include "atm_task_parts.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include <assert.h>
#include <leat/crc.h>

enum { NONE = LEAT_ATM_AAL_NONE, BROADCAST = LEAT_ATM_TASK_BROADCAST };
enum {
    TO_ALL = LEAT_ATM_AAL_TO_ALL,
    TO_ONE = LEAT_ATM_AAL_TO_ONE,
    TO_GROUP = LEAT_ATM_AAL_TO_GROUP,
};
enum { CELL_LEN = LEAT_ATM_TASK_CELL_LEN, PAYLOAD_LEN = LEAT_ATM_TASK_PAYLOAD_LEN };
enum {
    NUMBER_BITS = 16,      /* of a cell's number, in octets 9 and 10 */
    NUMBER_MORE_SHIFT = 3, /* the others, with resync, above the type */
    SENDING_RESYNC = 2,    /* of sending_ack */
};
enum { COMMAND_CYCLES = 3, WORDS_CYCLES = 15 /* five words */ };

static inline uint8_t *send_cell(const struct leat_atm_aal_unit *unit, uint16_t block)
{
    return unit->send_cell + (size_t)block * LEAT_ATM_AAL_CELL_STRIDE;
}

static inline uint8_t *receive_cell(const struct leat_atm_aal_unit *unit, uint16_t block)
{
    return unit->receive_cell + (size_t)block * LEAT_ATM_AAL_CELL_STRIDE;
}

/* The number of a cell, and its type. */
static inline uint32_t cell_number(uint32_t number_mask, const uint8_t *cell)
{
    const uint32_t more = (uint32_t)leat_get_be16(cell + TYPE_AT) >> NUMBER_MORE_SHIFT;
    return (more << NUMBER_BITS | leat_get_be16(cell + SEQUENCE_AT)) & number_mask;
}

static inline uint16_t cell_type(uint32_t number_mask, const uint8_t *cell)
{
    const uint16_t type = leat_get_be16(cell + TYPE_AT);
    return number_mask > UINT16_MAX ? type & ((1 << NUMBER_MORE_SHIFT) - 1) : type;
}

/* Words of ackdesc: a bit per port. */
static inline size_t ack_words(const struct leat_atm_aal_config *config)
{
    return (config->ports + 63) / 64;
}

/* Does this block wait for an acknowledgement from that port? (ackdesc) */
static inline bool awaits_port(const struct leat_atm_aal_unit *unit, uint16_t block, uint32_t port)
{
    const struct leat_atm_aal_send_block *b = &unit->send_block[block];
    if (b->acks_missing == 0) return false;
    if (b->stream == TO_ONE) return b->destination == port;
    return unit->ack_missing[block * ack_words(&unit->config) + port / 64] >> port % 64 & 1;
}

/* ---- streams --------------------------------------------------------------------------------- */

static inline uint32_t stream_count(const struct leat_atm_aal_config *config)
{
    return TO_GROUP + config->groups;
}

/* That of cells with this destination. */
static inline uint8_t stream_to(const struct leat_atm_aal_config *config, uint16_t destination)
{
    if (destination == BROADCAST) return TO_ALL;
    const uint32_t group = (uint32_t)LEAT_ATM_TASK_GROUP - destination;
    return (uint8_t)(group < config->groups ? TO_GROUP + group : TO_ONE);
}

/* As acknowledgements and RESYNC cells name it. */
static inline uint16_t stream_flag(uint8_t stream)
{
    if (stream < TO_GROUP) return stream == TO_ONE ? LEAT_ATM_TASK_ACK_POINT : 0;
    return (uint16_t)((stream - TO_GROUP + 1) * LEAT_ATM_TASK_ACK_GROUP);
}

static inline uint8_t stream_named(const struct leat_atm_aal_config *config, uint16_t flag)
{
    const uint32_t group = (uint32_t)flag / LEAT_ATM_TASK_ACK_GROUP - 1;
    if (flag == LEAT_ATM_TASK_ACK_POINT) return TO_ONE;
    return (uint8_t)(flag % LEAT_ATM_TASK_ACK_GROUP == 0 && group < config->groups
                         ? TO_GROUP + group
                         : TO_ALL);
}

static inline struct leat_atm_aal_stream *stream_of(const struct leat_atm_aal_unit *unit,
                                                    uint32_t source, uint8_t stream)
{
    if (stream == TO_ONE) return &unit->peer[source].stream;
    if (stream == TO_ALL) return &unit->all_stream[source];
    return &unit->group_stream[(size_t)(stream - TO_GROUP) * unit->config.ports + source];
}

/* Is a port in the group of a stream? All are in the others. */
static inline bool is_in(const struct leat_atm_aal_unit *unit, uint8_t stream, uint32_t port)
{
    if (stream < TO_GROUP) return true;
    const uint64_t *members = unit->group[stream - TO_GROUP].members;
    return members && members[port / 64] >> port % 64 & 1;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* The command at the head of a queue, or NULL. */
static inline struct leat_atm_aal_command *first_command(struct leat_atm_aal_commands *queue)
{
    return queue->count ? &queue->waiting[queue->head] : NULL;
}

static inline void drop_command(struct leat_atm_aal_commands *queue)
{
    queue->head = (uint8_t)((queue->head + 1) % LEAT_ATM_AAL_COMMANDS_MAX);
    queue->count--;
}

/* Numbers wrap: `a` comes after `b`. */
static inline bool comes_after(const struct leat_atm_aal_unit *unit, uint32_t a, uint32_t b)
{
    const uint32_t ahead = (a - b) & unit->number_mask;
    return ahead > 0 && ahead <= unit->number_mask / 2;
}

void leat_atm_aal_chain_init(struct leat_atm_aal_chain *chain, uint16_t count);

/* Note 5.1: the head of the free list becomes the tail of the busy list. */
static inline uint16_t leat_atm_aal_chain_take(struct leat_atm_aal_chain *chain)
{
    assert(chain->busy_count < chain->count);
    const uint16_t block = chain->free_head;
    chain->free_head = chain->link[block].next;
    if (chain->busy_count++ == 0)
        chain->busy_head = block;
    else
        chain->link[chain->busy_tail].next = block;
    chain->link[block].prev = chain->busy_tail;
    chain->busy_tail = block;
    return block;
}

/* An empty list keeps its head and tail, as registers do. */
static inline void leat_atm_aal_chain_release(struct leat_atm_aal_chain *chain, uint16_t block)
{
    assert(chain->busy_count > 0);
    const bool none_free = chain->busy_count == chain->count;
    if (chain->busy_count > 1) {
        if (block == chain->busy_head)
            chain->busy_head = chain->link[block].next;
        else if (block == chain->busy_tail)
            chain->busy_tail = chain->link[block].prev;
        else {
            chain->link[chain->link[block].prev].next = chain->link[block].next;
            chain->link[chain->link[block].next].prev = chain->link[block].prev;
        }
    }
    chain->busy_count--;
    if (chain->reuses_last) {
        chain->link[block].next = chain->free_head;
        chain->free_head = block;
        return;
    }
    if (none_free)
        chain->free_head = block;
    else
        chain->link[chain->free_tail].next = block;
    chain->free_tail = block;
}

/* From outside a step: the controller acts in cycle `at`. */
static inline void wake(struct leat_atm_aal_unit *unit, enum leat_atm_aal_controller controller,
                        uint64_t at)
{
    unit->due[controller] = at;
    if (at < unit->wake_at) unit->wake_at = at;
}

/* The same for STATE2, STATE10, STATE9 and STATE8, also from inside a step. */
static inline void wake_rare(struct leat_atm_aal_unit *unit,
                             enum leat_atm_aal_controller controller, uint64_t at)
{
    wake(unit, controller, at);
    if (at < unit->rare_at) unit->rare_at = at;
}

/* The next access label towards a port, to all or to a group, round robin over the paths (note
 * R1). */
static inline uint32_t leat_atm_aal_next_label(struct leat_atm_aal_unit *unit, uint16_t destination)
{
    const struct leat_atm_aal_config *c = &unit->config;
    const bool to_one = stream_to(c, destination) == TO_ONE;
    const uint32_t to = to_one ? destination : c->ports + (BROADCAST - (uint32_t)destination);
    const uint32_t label = c->paths * to + unit->path;
    unit->path = unit->path + 1 == c->paths ? 0 : unit->path + 1;
    return label;
}

/* The header of a cell from this port, and its CRC-16: the payload is there already. */
static inline void leat_atm_aal_cell_head(struct leat_atm_aal_unit *unit, uint8_t *cell,
                                          enum leat_atm_task_type type, uint32_t number,
                                          uint16_t flag, uint16_t to)
{
    leat_put_be16(cell + TYPE_AT,
                  (uint16_t)(number >> NUMBER_BITS << NUMBER_MORE_SHIFT | (uint32_t)type));
    leat_put_be16(cell + SEQUENCE_AT, (uint16_t)number);
    leat_put_be16(cell + FLAG_AT, flag);
    leat_put_be16(cell + SOURCE_AT, (uint16_t)unit->config.port);
    leat_put_be16(cell + DESTINATION_AT, to);
    leat_atm_label_put(cell, unit->config.header_octets, leat_atm_aal_next_label(unit, to));
    if (unit->config.unsealed) return;
    leat_put_be16(cell + CRC_AT, leat_crc16(0, cell + TYPE_AT, CRC_AT - TYPE_AT));
}

/* Before a block is added in step `now`: the walk so far went without it. */
void leat_atm_aal_scan_grows(struct leat_atm_aal_unit *unit, uint64_t now);

/* Something changed that STATE5 may see from step `from` on. */
void leat_atm_aal_scan_plan(struct leat_atm_aal_unit *unit, uint64_t from);
/* All steps before `from` are done: stores how far the walk has come by then. */
void leat_atm_aal_scan_settle(struct leat_atm_aal_unit *unit, uint64_t from);
void leat_atm_aal_state5(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_examine(struct leat_atm_aal_unit *unit, uint64_t at);
uint16_t leat_atm_aal_scan_block_at(const struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_state9(struct leat_atm_aal_unit *unit, uint64_t now);

void leat_atm_aal_state0(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_state2(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_block_freed(struct leat_atm_aal_unit *unit, uint64_t now);

/* The state numbers after step `now`: STATE1 to STATE4, STATE7. */
void leat_atm_aal_pack_view(const struct leat_atm_aal_unit *unit, uint64_t now,
                            struct leat_atm_aal_view *out);
uint8_t leat_atm_aal_state7_view(const struct leat_atm_aal_unit *unit, uint64_t now);

void leat_atm_aal_state7(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_ack_sent(struct leat_atm_aal_unit *unit, uint64_t now);
/* A descriptor of this source has become free. */
void leat_atm_aal_service_parked(struct leat_atm_aal_unit *unit, uint16_t source, uint64_t now);

/* Gaps (atm_aal_unit_resync.c). Sender: this block was discarded; STATE9 requests the next RESYNC
 * from STATE5; STATE5 has sent it; a cell of this stream is sent; the receiver knows. */
void leat_atm_aal_gap_open(struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now);
void leat_atm_aal_gaps_tend(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_gap_sent(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_gap_hurry(struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now);
void leat_atm_aal_gap_close(struct leat_atm_aal_unit *unit,
                            const struct leat_atm_aal_receive_block *resynced);
/* Receiver: a RESYNC; and everything else that lets a stream skip missing numbers. */
void leat_atm_aal_resynchronise(struct leat_atm_aal_unit *unit,
                                const struct leat_atm_aal_receive_block *resync);
void leat_atm_aal_pass_gaps(struct leat_atm_aal_unit *unit, uint16_t source, uint8_t stream);
/* The next cycle in which STATE9 has work for gaps. */
static inline uint64_t leat_atm_aal_gaps_due(const struct leat_atm_aal_unit *unit)
{
    return unit->resync_requested_at == LEAT_NEVER && unit->gap_count && unit->config.resync
               ? unit->gap_at
               : LEAT_NEVER;
}

/* A message is complete, or dropped. If it was the first incomplete one: finds the next. */
void leat_atm_aal_find_incomplete(struct leat_atm_aal_unit *unit, uint16_t message);
void leat_atm_aal_unlink_message(struct leat_atm_aal_unit *unit, uint16_t message);
/* Frees all blocks of a message. */
void leat_atm_aal_release_message(struct leat_atm_aal_unit *unit, uint16_t message);
void leat_atm_aal_accept_reads(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_state8(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_state10(struct leat_atm_aal_unit *unit, uint64_t now);
void leat_atm_aal_message_completed(struct leat_atm_aal_unit *unit, uint16_t message, uint64_t now);

#endif
