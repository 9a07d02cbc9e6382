#include "atm_aal_unit.h"
#include "atm_aal_unit_parts.h"
#include "leat_arena.h"
#include <assert.h>
#include <string.h>

void leat_atm_aal_config_default(struct leat_atm_aal_config *config, uint32_t port, uint32_t ports,
                                 uint32_t paths)
{
    *config = (struct leat_atm_aal_config){
        .port = port,
        .ports = ports,
        .paths = paths,
        .header_octets = 2,
        .send_blocks = LEAT_ATM_AAL_BLOCKS,
        .receive_blocks = LEAT_ATM_AAL_BLOCKS,
        .descriptors = LEAT_ATM_AAL_DESCRIPTORS,
        .retransmit_cycles = LEAT_ATM_AAL_RETRANSMIT,
        .obsolete_cycles = LEAT_ATM_AAL_OBSOLETE,
        .transmissions_max = LEAT_ATM_AAL_TRANSMISSIONS,
    };
}

_Static_assert(sizeof(struct leat_atm_aal_message) == LEAT_ARENA_LINE, "a message is a line");
_Static_assert(sizeof(struct leat_atm_aal_peer) == LEAT_ARENA_LINE / 2, "a peer is half a line");

static bool within(uint32_t value, uint32_t min, uint32_t max)
{
    return value >= min && value <= max;
}

/* To every port, to all and to every group, over every path. */
static bool labels_fit(const struct leat_atm_aal_config *c)
{
    const uint32_t bits = c->header_octets == 2 ? LEAT_ATM_ROUTE_VPI_BITS
                                                : LEAT_ATM_ROUTE_LABEL_BITS;
    return (uint64_t)c->paths * ((uint64_t)c->ports + 1 + c->groups) <= UINT64_C(1) << bits;
}

leat_err leat_atm_aal_config_check(const struct leat_atm_aal_config *c)
{
    const bool sound = c->groups <= LEAT_ATM_AAL_GROUPS_MAX &&
                       within(c->ports, 1, LEAT_ATM_AAL_PORTS_MAX - c->groups) &&
                       c->port < c->ports && within(c->paths, 1, UINT16_MAX) &&
                       (c->header_octets == 2 || c->header_octets == 4) && labels_fit(c) &&
                       within(c->send_blocks, 1, LEAT_ATM_AAL_BLOCKS_MAX) &&
                       within(c->receive_blocks, 1, LEAT_ATM_AAL_BLOCKS_MAX) &&
                       within(c->descriptors, 1, UINT16_MAX) && c->retransmit_cycles > 0 &&
                       c->obsolete_cycles > 0 && within(c->transmissions_max, 1, UINT8_MAX);
    return sound ? LEAT_ERR_OK : LEAT_ERR_RANGE;
}

/* What every message uses. */
static size_t lay_out_often(struct leat_atm_aal_unit *unit, const struct leat_atm_aal_config *c,
                            void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    unit->send.link = leat_arena_lay(&arena, c->send_blocks, sizeof *unit->send.link);
    unit->receive.link = leat_arena_lay(&arena, c->receive_blocks, sizeof *unit->receive.link);
    unit->send_block = leat_arena_lay(&arena, c->send_blocks, sizeof *unit->send_block);
    unit->receive_block = leat_arena_lay(&arena, c->receive_blocks, sizeof *unit->receive_block);
    unit->message = leat_arena_lay_lines(&arena, c->receive_blocks, sizeof *unit->message);
    unit->peer = leat_arena_lay_lines(&arena, c->ports, sizeof *unit->peer);
    unit->send_cell = leat_arena_lay_lines(&arena, c->send_blocks, LEAT_ATM_AAL_CELL_STRIDE);
    unit->receive_cell = leat_arena_lay_lines(&arena, c->receive_blocks, LEAT_ATM_AAL_CELL_STRIDE);
    return arena.used;
}

/* Only broadcasts, groups and cells that are late or lost: in a large network the larger part. */
static size_t lay_out_seldom(struct leat_atm_aal_unit *unit, const struct leat_atm_aal_config *c,
                             void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    unit->parked_as = leat_arena_lay(&arena, c->receive_blocks, sizeof *unit->parked_as);
    unit->served_far = leat_arena_lay(&arena, c->receive_blocks,
                                      LEAT_ATM_AAL_SERVED_FAR * sizeof *unit->served_far);
    unit->ack_missing = leat_arena_lay(&arena, c->send_blocks * ack_words(c), sizeof(uint64_t));
    unit->gap = leat_arena_lay(&arena, (2 + (size_t)c->groups) * c->ports, sizeof *unit->gap);
    unit->group = leat_arena_lay(&arena, c->groups, sizeof *unit->group);
    unit->all_stream = leat_arena_lay(&arena, c->ports, sizeof *unit->all_stream);
    unit->group_stream = leat_arena_lay(&arena, (size_t)c->groups * c->ports,
                                        sizeof *unit->group_stream);
    return arena.used;
}

static size_t in_lines(size_t len)
{
    return (len + LEAT_ARENA_LINE - 1) / LEAT_ARENA_LINE * LEAT_ARENA_LINE;
}

size_t leat_atm_aal_unit_footprint_often(const struct leat_atm_aal_config *config)
{
    struct leat_atm_aal_unit measured;
    return in_lines(lay_out_often(&measured, config, NULL));
}

size_t leat_atm_aal_unit_footprint_seldom(const struct leat_atm_aal_config *config)
{
    struct leat_atm_aal_unit measured;
    return in_lines(lay_out_seldom(&measured, config, NULL));
}

size_t leat_atm_aal_unit_footprint(const struct leat_atm_aal_config *config)
{
    return leat_atm_aal_unit_footprint_often(config) + leat_atm_aal_unit_footprint_seldom(config);
}

void leat_atm_aal_unit_init(struct leat_atm_aal_unit *unit,
                            const struct leat_atm_aal_config *config, void *memory)
{
    leat_atm_aal_unit_init_in(unit, config, memory,
                              (uint8_t *)memory + leat_atm_aal_unit_footprint_often(config));
}

void leat_atm_aal_unit_init_in(struct leat_atm_aal_unit *unit,
                               const struct leat_atm_aal_config *config, void *often, void *seldom)
{
    assert(leat_atm_aal_config_check(config) == LEAT_ERR_OK);
    *unit = (struct leat_atm_aal_unit){ .config = *config,
                                        .wake_at = LEAT_NEVER,
                                        .rare_at = LEAT_NEVER };
    lay_out_often(unit, config, often);
    lay_out_seldom(unit, config, seldom);
    leat_atm_aal_chain_init(&unit->send, (uint16_t)config->send_blocks);
    leat_atm_aal_chain_init(&unit->receive, (uint16_t)config->receive_blocks);
    unit->send.reuses_last = unit->receive.reuses_last = config->reuses_last;
    for (size_t i = 0; i < LEAT_ATM_AAL_CONTROLLERS; i++)
        unit->due[i] = LEAT_NEVER;
    for (size_t i = 0; i < config->receive_blocks; i++)
        unit->receive_block[i].in_message = 1;
    for (size_t i = 0; i < LEAT_ATM_AAL_OPEN_LISTS; i++)
        unit->open[i] = NONE;
    unit->write_first = unit->segment_block = unit->waiting_head = unit->candidates = NONE;
    unit->message_read = unit->aging_head = unit->service_block = NONE;
    unit->scan_waits = 1;
    unit->ack_asked_at = unit->resync_requested_at = unit->gap_at = LEAT_NEVER;
    unit->number_mask = config->resync ? LEAT_ATM_TASK_SEQUENCE_MAX : UINT16_MAX;
}

void leat_atm_aal_chain_init(struct leat_atm_aal_chain *chain, uint16_t count)
{
    chain->count = count;
    chain->free_tail = (uint16_t)(count - 1);
    for (uint16_t i = 0; i < count; i++)
        chain->link[i].next = (uint16_t)(i + 1);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void step_rare(struct leat_atm_aal_unit *unit, uint64_t at)
{
    const uint64_t *due = unit->due;
    if (due[LEAT_ATM_AAL_STATE2] <= at) leat_atm_aal_state2(unit, at);
    if (due[LEAT_ATM_AAL_STATE10] <= at) leat_atm_aal_state10(unit, at);
    if (due[LEAT_ATM_AAL_STATE9] <= at) leat_atm_aal_state9(unit, at);
    if (due[LEAT_ATM_AAL_STATE8] <= at) leat_atm_aal_state8(unit, at);
    unit->rare_at = earlier(earlier(due[LEAT_ATM_AAL_STATE2], due[LEAT_ATM_AAL_STATE10]),
                            earlier(due[LEAT_ATM_AAL_STATE9], due[LEAT_ATM_AAL_STATE8]));
}

uint64_t leat_atm_aal_unit_step(struct leat_atm_aal_unit *unit, uint64_t now)
{
    const uint64_t *due = unit->due;
    uint64_t at;
    do {
        at = unit->wake_at;
        if (at > now) return now;
        if (due[LEAT_ATM_AAL_STATE5] <= at) leat_atm_aal_state5(unit, at);
        if (unit->rare_at <= at) step_rare(unit, at);
        if (due[LEAT_ATM_AAL_STATE7] <= at) leat_atm_aal_state7(unit, at);
        if (due[LEAT_ATM_AAL_STATE0] <= at) leat_atm_aal_state0(unit, at);
        /* Nothing can change any more what STATE5 examines first in the next step. */
        if (due[LEAT_ATM_AAL_STATE5] == at + 1 && !unit->sending && !unit->freeing)
            leat_atm_aal_examine(unit, at + 1);
        unit->wake_at = earlier(earlier(due[LEAT_ATM_AAL_STATE5], unit->rare_at),
                                earlier(due[LEAT_ATM_AAL_STATE7], due[LEAT_ATM_AAL_STATE0]));
        assert(unit->wake_at > at);
    } while (!(unit->reported & LEAT_ATM_AAL_NEWS));
    return at;
}

/* ---- hints ----------------------------------------------------------------------------------- */

static void fetch_lines(const void *from, size_t len)
{
    for (size_t i = 0; i < len; i += LEAT_ARENA_LINE)
        leat_arena_fetch((const uint8_t *)from + i);
}

/* All but what is rarely used, with a command of each kind. */
void leat_atm_aal_unit_fetch_state(const struct leat_atm_aal_unit *unit)
{
    fetch_lines(unit, offsetof(struct leat_atm_aal_unit, read.waiting[1]));
    fetch_lines(&unit->write, offsetof(struct leat_atm_aal_commands, waiting[1]));
}

static void fetch_sent(const struct leat_atm_aal_unit *unit, uint16_t block)
{
    leat_arena_fetch(&unit->send_block[block]);
    leat_arena_fetch(send_cell(unit, block));
}

/* A walk: mostly blocks are used one after the other. */
static void fetch_busy(const struct leat_atm_aal_unit *unit)
{
    enum { WALK_MAX = 8 };
    const uint16_t head = unit->send.busy_head, count = unit->send.busy_count;
    fetch_lines(&unit->send_block[head],
                (count < WALK_MAX ? count : WALK_MAX) * sizeof *unit->send_block);
    leat_arena_fetch(&unit->send.link[head]);
}

static void fetch_message(const struct leat_atm_aal_unit *unit, uint16_t message)
{
    leat_arena_fetch(&unit->message[message]);
    leat_arena_fetch(&unit->receive_block[message]);
    leat_arena_fetch(receive_cell(unit, message));
}

static void fetch_arrival(const struct leat_atm_aal_unit *unit, const uint8_t *cell)
{
    const uint16_t block = unit->receive.free_head;
    leat_arena_fetch(&unit->receive_block[block]);
    leat_arena_fetch(&unit->receive.link[block]);
    leat_arena_fetch(&unit->peer[leat_get_be16(cell + SOURCE_AT)]);
    if (cell_type(unit->number_mask, cell) == LEAT_ATM_TASK_MESSAGE)
        leat_arena_fetch(receive_cell(unit, block));
}

void leat_atm_aal_unit_fetch_blocks(const struct leat_atm_aal_unit *unit, const uint8_t *cell,
                                    uint64_t last)
{
    const uint64_t *due = unit->due;
    if (due[LEAT_ATM_AAL_STATE5] <= last && unit->send.busy_count)
        fetch_sent(unit, unit->scan_block);
    if ((cell || due[LEAT_ATM_AAL_STATE7] <= last || due[LEAT_ATM_AAL_STATE5] <= last) &&
        unit->send.busy_count)
        fetch_busy(unit);
    if (due[LEAT_ATM_AAL_STATE0] <= last) {
        fetch_sent(unit, unit->send.free_head);
        leat_arena_fetch(&unit->send.link[unit->send.free_head]);
    }
    if (unit->segment_block != NONE && unit->label_at <= last) {
        fetch_sent(unit, unit->segment_block);
        leat_arena_fetch(&unit->peer[unit->destination]);
    }
    if (unit->service_block != NONE) fetch_message(unit, unit->service_block);
    if (due[LEAT_ATM_AAL_STATE8] <= last) {
        leat_arena_fetch(&unit->open[unit->asked.id % LEAT_ATM_AAL_OPEN_LISTS]);
        if (unit->message_read != NONE) fetch_message(unit, unit->message_read);
    }
    if (cell) fetch_arrival(unit, cell);
}

uint64_t leat_atm_aal_io_cycles(uint32_t len)
{
    enum { WORD = 19, OVERHEAD = 3, OCTET = 4 };
    const uint32_t rest = len % 4;
    return (uint64_t)WORD * (len / 4) + (rest ? OVERHEAD + OCTET * rest : 0);
}

uint64_t leat_atm_aal_one_way_cycles(uint32_t len)
{
    enum { MESSAGE = 145, CELL = 10, SECOND_CELL = 58, FURTHER_CELL = 61 }; /* cycles, note 5.4 */
    const uint64_t cells = (len + LEAT_ATM_TASK_MESSAGE_LEN + PAYLOAD_LEN - 1) / PAYLOAD_LEN;
    return MESSAGE + CELL * cells + 2 * leat_atm_aal_io_cycles(len) +
           (cells > 1 ? SECOND_CELL : 0) + (cells > 2 ? FURTHER_CELL * (cells - 2) : 0);
}

uint64_t leat_atm_aal_one_way_cycles_over(uint32_t len, uint32_t network_cycles)
{
    return leat_atm_aal_one_way_cycles(len) - LEAT_ATM_AAL_THESIS_CYCLES + network_cycles;
}

bool leat_atm_aal_unit_blktofr(const struct leat_atm_aal_unit *unit, uint16_t block, uint64_t now)
{
    return unit->send_block[block].to_free && unit->send_block[block].free_at <= now;
}

int64_t leat_atm_aal_unit_blktime(const struct leat_atm_aal_unit *unit, uint16_t block,
                                  uint64_t now)
{
    const struct leat_atm_aal_send_block *b = &unit->send_block[block];
    switch ((enum leat_atm_aal_block_state)b->state) {
    case LEAT_ATM_AAL_NOT_READY: return -1;
    case LEAT_ATM_AAL_READY: return 0;
    case LEAT_ATM_AAL_SENT: return (int64_t)(b->expires_at - now);
    }
    return -1;
}

/* The state numbers of STATE5 (note R2). A walk examines a block at look_at, look_at + 2, ... */
static uint8_t state5_of(const struct leat_atm_aal_unit *unit, uint16_t cursnd, uint64_t now)
{
    enum { IDLE, ACK_PREPARED, ACK_OCTETS, ACK_SENT, PREPARED, OCTETS, TAIL_SENT };
    enum { SENT = 8, TAIL_PASSED, PASSED, FREED = 16 };
    if (now < unit->look_at) return IDLE;
    if (unit->sending) {
        const bool tail = unit->scan_wraps || unit->scan_block == unit->send.busy_tail;
        if (now == unit->look_at) return unit->sending_ack ? ACK_PREPARED : PREPARED;
        if (now < unit->line_at + CELL_LEN - 1) return unit->sending_ack ? ACK_OCTETS : OCTETS;
        return unit->sending_ack ? ACK_SENT : tail ? TAIL_SENT : SENT;
    }
    if (unit->freeing) return FREED;
    if (unit->scan_waits || (now - unit->look_at) % 2) return IDLE;
    const bool wraps = now == unit->look_at && unit->scan_wraps;
    return wraps || cursnd == unit->send.busy_tail ? TAIL_PASSED : PASSED;
}

void leat_atm_aal_unit_view(const struct leat_atm_aal_unit *unit, uint64_t now,
                            struct leat_atm_aal_view *out)
{
    out->cursnd = leat_atm_aal_scan_block_at(unit, now);
    out->state5 = state5_of(unit, out->cursnd, now);
    out->state7 = leat_atm_aal_state7_view(unit, now);
    leat_atm_aal_pack_view(unit, now, out);
    out->iccurb = unit->service_block != NONE && now > unit->service_from ? unit->service_block
                                                                          : unit->receive.busy_head;
}
