#include "sim_aton_port.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include "sim_aton_parts.h"
#include "sim_refuse.h"
#include <string.h>

enum { HEAD_LEN = LEAT_SIM_ATON_PORT_HEAD_LEN };

static const char damaged[] = "one of its packets was damaged or lost on the ring";

static struct leat_sim_aton_port *of(struct leat_port_net *base)
{
    return (struct leat_sim_aton_port *)base; /* its first member */
}

/* ---- messages and packets ------------------------------------------------------------------- */

uint64_t leat_sim_aton_port_packets(const struct leat_sim_aton_port_config *config, uint64_t len)
{
    return len ? (len - 1) / config->packet_octets + 1 : 1;
}

/* Of a packet with so many octets of a message. */
static uint64_t symbols_of(uint64_t octets)
{
    return LEAT_ATON_FOLD_SYMBOLS + 8 * (HEAD_LEN + octets);
}

uint64_t leat_sim_aton_port_symbols(const struct leat_sim_aton_port_config *config, uint64_t len)
{
    return leat_sim_aton_port_packets(config, len) * symbols_of(0) + 8 * len;
}

/* The last packet's octets; all before it are full. */
static uint64_t last_len(const struct leat_sim_aton_port *p, uint64_t len)
{
    return len ? (len - 1) % p->config.packet_octets + 1 : 0;
}

/* ---- time ----------------------------------------------------------------------------------- */

static void plan(struct leat_sim_aton_port *p, uint32_t entry, enum leat_sim_aton_port_step step,
                 uint64_t at)
{
    leat_sim_post_plan(
        &p->post, (struct leat_sim_plan){ at, p->entry[entry].letter.call, entry, (uint32_t)step });
}

/* ---- reporting ----------------------------------------------------------------------------- */

/* Queues a callback for the present bit time. */
static void note(struct leat_sim_aton_port *p, uint32_t entry, bool sent)
{
    leat_sim_post_note(&p->post, entry, sent);
    p->ring.stop = true;
}

/* The last packet of a message is on the ring, and will have arrived at bit time `at`: its octets
 * arrive a little before, one every eight bits. */
static void report_head(struct leat_sim_aton_port *p, uint32_t index, uint64_t at)
{
    const struct leat_port_message *m = &p->entry[index].letter.message;
    if (leat_sim_post_report_head(
            &p->post, m, leat_sim_clock_at(&p->config.clock, at - 8 * last_len(p, m->len)),
            leat_sim_clock_at(&p->config.clock, at), leat_sim_clock_at(&p->config.clock, p->now)))
        p->ring.stop = true;
}

/* ---- sending -------------------------------------------------------------------------------- */

static bool send(struct leat_port_net *base, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_aton_port *p = of(base);
    uint32_t index;
    if (!leat_sim_post_accept(&p->post, message, at, &index)) return false;
    plan(p, index, LEAT_SIM_ATON_PORT_HAND_OVER,
         leat_larger(p->now, leat_sim_clock_cycle_from(&p->config.clock, at)));
    return true;
}

/* The next packet of a port enters its interface. */
static void begin(struct leat_sim_aton_port *p, uint32_t port)
{
    struct leat_sim_aton_port_queue *queue = &p->queue[port];
    if (queue->sends || !queue->first) return;
    const uint32_t index = queue->first - 1;
    struct leat_sim_aton_port_entry *e = &p->entry[index];
    const uint64_t len = leat_smaller(e->letter.message.len - e->begun, p->config.packet_octets);
    leat_put_be32(queue->buffer, (uint32_t)e->letter.number);
    leat_put_be32(queue->buffer + 4, (uint32_t)e->begun);
    if (len) memcpy(queue->buffer + HEAD_LEN, e->letter.message.octets + e->begun, len);
    const struct leat_aton_order order = {
        .is_passive = true,
        .command = { .da = leat_sim_aton_registers(&p->ring, e->letter.message.to)->address,
                     .priority = leat_sim_aton_port_priority(&p->config, port) },
        .octets = queue->buffer,
        .octets_len = (uint16_t)(HEAD_LEN + len),
    };
    /* One at a time, and no station leaves. */
    leat_sim_must(leat_sim_aton_hand_over(&p->ring, port, &order, 0, p->now, 0));
    queue->sends = index + 1;
    e->begun += len;
    if (e->begun < e->letter.message.len) return;
    queue->first = e->letter.next;
    note(p, index, true);
}

static void append(struct leat_sim_aton_port *p, uint32_t index)
{
    struct leat_sim_aton_port_queue *queue = &p->queue[p->entry[index].letter.message.from];
    p->entry[index].letter.number = queue->messages++;
    leat_sim_post_append(&p->post, index, &queue->first, &queue->last);
}

/* Without contention. */
static void begin_alone(struct leat_sim_aton_port *p, uint32_t index)
{
    struct leat_sim_aton_port_entry *e = &p->entry[index];
    const struct leat_port_message *m = &e->letter.message;
    struct leat_sim_aton_port_queue *queue = &p->queue[m->from];
    const uint64_t start = leat_larger(p->now, queue->free_at), round = p->ring.bits;
    const uint64_t rest = symbols_of(last_len(p, m->len));
    const uint64_t others = leat_sim_aton_port_packets(&p->config, m->len) - 1;
    const uint64_t last_at = start + others * (symbols_of(p->config.packet_octets) + 2 * round);
    e->letter.number = queue->messages++;
    queue->free_at = last_at + rest + 2 * round;
    plan(p, index, LEAT_SIM_ATON_PORT_SENT, last_at);
    plan(p, index, LEAT_SIM_ATON_PORT_HEAD, last_at);
    plan(p, index, LEAT_SIM_ATON_PORT_ARRIVED,
         last_at + rest + leat_sim_aton_distance(&p->ring, m->from, m->to));
}

static void begin_within(struct leat_sim_aton_port *p, uint32_t index)
{
    struct leat_sim_aton_port_entry *e = &p->entry[index];
    struct leat_sim_aton_port_queue *queue = &p->queue[e->letter.message.from];
    const uint64_t start = leat_larger(p->now, queue->free_at);
    e->letter.number = queue->messages++;
    queue->free_at = start + leat_sim_aton_port_symbols(&p->config, e->letter.message.len);
    plan(p, index, LEAT_SIM_ATON_PORT_SENT, start);
    plan(p, index, LEAT_SIM_ATON_PORT_ARRIVED, queue->free_at);
}

static void carry_out(struct leat_sim_aton_port *p, const struct leat_sim_plan *due)
{
    const struct leat_port_message *m = &p->entry[due->entry].letter.message;
    switch ((enum leat_sim_aton_port_step)due->step) {
    case LEAT_SIM_ATON_PORT_HAND_OVER:
        if (m->from == m->to) {
            begin_within(p, due->entry);
        } else if (p->config.contention_free) {
            begin_alone(p, due->entry);
        } else {
            append(p, due->entry);
            begin(p, m->from);
        }
        break;
    case LEAT_SIM_ATON_PORT_SENT: note(p, due->entry, true); break;
    case LEAT_SIM_ATON_PORT_HEAD:
        report_head(p, due->entry,
                    p->now + symbols_of(last_len(p, m->len)) +
                        leat_sim_aton_distance(&p->ring, m->from, m->to));
        break;
    case LEAT_SIM_ATON_PORT_ARRIVED: note(p, due->entry, false); break;
    }
}

/* ---- callbacks of the ring ------------------------------------------------------------------ */

static void on_begins(void *context, uint32_t station, uint64_t id, leat_time sent_at)
{
    struct leat_sim_aton_port *p = context;
    const uint32_t index = p->queue[station].sends - 1;
    const struct leat_sim_aton_port_entry *e = &p->entry[index];
    const struct leat_port_message *m = &e->letter.message;
    const bool is_last = e->begun == m->len;
    const uint64_t symbols = symbols_of(is_last ? last_len(p, m->len) : p->config.packet_octets);
    (void)id;
    p->frames++;
    p->frame_symbols += symbols;
    if (!is_last) return;
    p->now = sent_at + RING_T_AT + 1;
    report_head(p, index, sent_at + symbols + leat_sim_aton_distance(&p->ring, m->from, m->to));
}

static void on_arrived(void *context, const struct leat_sim_aton_arrival *a)
{
    struct leat_sim_aton_port *p = context;
    const uint32_t index = p->queue[a->from].sends - 1;
    struct leat_sim_aton_port_entry *e = &p->entry[index];
    const uint32_t offset = leat_get_be32(a->octets + 4), len = a->len - HEAD_LEN;
    assert(leat_get_be32(a->octets) == (uint32_t)e->letter.number &&
           a->station == e->letter.message.to);
    p->now = a->at;
    /* Offsets are the low 32 bits of the position in the message. */
    const uint64_t at = e->arrived + (uint32_t)(offset - (uint32_t)e->arrived);
    if (len) memcpy(e->letter.message.octets + at, a->octets + HEAD_LEN, len);
    e->arrived += len;
    if (e->arrived == e->letter.message.len) note(p, index, false);
}

static void on_done(void *context, const struct leat_sim_aton_result *r)
{
    struct leat_sim_aton_port *p = context;
    struct leat_sim_aton_port_queue *queue = &p->queue[r->station];
    const uint32_t index = queue->sends - 1;
    p->now = r->at;
    if (r->result.status != LEAT_ATON_DONE || !r->result.copied) {
        p->entry[index].letter.why = damaged;
        if (queue->first == index + 1) queue->first = p->entry[index].letter.next;
        note(p, index, false);
    }
    queue->sends = 0;
    begin(p, r->station);
}

/* ---- running -------------------------------------------------------------------------------- */

/* Runs to `until`, or until there is a callback to make. */
static void advance(struct leat_sim_aton_port *p, uint64_t until)
{
    p->now = p->config.contention_free ? until : leat_sim_aton_run(&p->ring, until);
}

static leat_time run(struct leat_port_net *base, leat_time until)
{
    struct leat_sim_aton_port *p = of(base);
    if (!leat_sim_post_begin(&p->post, until)) return base->now;
    const uint64_t last = leat_sim_clock_last(&p->config.clock, until);
    while (!leat_sim_post_has_news(&p->post) && p->now <= last) {
        const uint64_t next = p->post.plans ? p->post.plan[0].at : LEAT_NEVER;
        if (p->now < leat_smaller(next, last)) advance(p, leat_smaller(next, last));
        while (p->post.plans && p->post.plan[0].at <= p->now) {
            const struct leat_sim_plan due = leat_sim_post_take(&p->post);
            carry_out(p, &due);
        }
        if (p->now == last) break;
    }
    return leat_sim_post_end(
        &p->post, p->post.events ? leat_sim_clock_at(&p->config.clock, p->now) : 0, until);
}

/* ---- does it exist? ------------------------------------------------------------------------- */

static struct leat_sim_aton_config aton_of(const struct leat_sim_aton_port_config *config)
{
    return (struct leat_sim_aton_config){ .stations = config->stations,
                                          .propagation_each = config->propagation,
                                          .model = config->model,
                                          .payload_max = HEAD_LEN + config->packet_octets,
                                          .orders_max = config->stations };
}

uint8_t leat_sim_aton_port_priority(const struct leat_sim_aton_port_config *config, uint32_t port)
{
    uint8_t priority = 0;
    for (uint32_t i = 0; i < config->priorities; i++)
        if (port >= config->priority[i].first && port <= config->priority[i].last)
            priority = config->priority[i].priority;
    return priority;
}

static leat_err check_priorities(const struct leat_sim_aton_port_config *config,
                                 struct leat_text *why)
{
    for (uint32_t i = 0; i < config->priorities; i++) {
        const struct leat_sim_aton_port_priority *p = &config->priority[i];
        if (p->first <= p->last && p->last < config->stations &&
            p->priority <= LEAT_ATON_PRIORITY_MAX)
            continue;
        return leat_sim_refuse(
            why, LEAT_ERR_RANGE,
            "priority %u of ports %u to %u, expected priorities 0 to 7 of ports 0 to %u",
            p->priority, p->first, p->last, config->stations - 1);
    }
    return LEAT_ERR_OK;
}

leat_err leat_sim_aton_port_check(const struct leat_sim_aton_port_config *config,
                                  struct leat_text *why)
{
    const struct leat_sim_aton_config ring = aton_of(config);
    const struct leat_text_range row[] = {
        { "octets of a packet", config->packet_octets, 1, LEAT_SIM_ATON_PORT_OCTETS_MAX },
        { "messages in flight", config->messages_max, 1, LEAT_SIM_ATON_PORT_MESSAGES_MAX },
    };
    leat_err err = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
    if (!err) err = leat_sim_clock_check(&config->clock, why);
    if (!err) err = leat_sim_aton_check(&ring, why);
    return err ? err : check_priorities(config, why);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Lays out its arrays; returns the place of the ring's memory. */
static void *lay_out(struct leat_sim_aton_port *p, struct leat_arena *arena)
{
    const struct leat_sim_aton_port_config *config = &p->config;
    const struct leat_sim_aton_config ring = aton_of(config);
    p->entry = leat_sim_post_lay(&p->post, arena, config->messages_max, sizeof *p->entry,
                                 (size_t)3 * config->messages_max);
    p->queue = leat_arena_lay(arena, config->stations, sizeof *p->queue);
    return leat_arena_lay_lines(arena, 1, leat_sim_aton_footprint(&ring));
}

size_t leat_sim_aton_port_footprint(const struct leat_sim_aton_port_config *config)
{
    struct leat_sim_aton_port measured = { .config = *config };
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    leat_arena_lay(&arena, config->stations, HEAD_LEN + config->packet_octets);
    return arena.used;
}

void leat_sim_aton_port_init(struct leat_sim_aton_port *p,
                             const struct leat_sim_aton_port_config *config, void *memory)
{
    static const struct leat_port_ops ops = { .send = send, .run = run };
    const struct leat_sim_aton_host host = { p, on_done, on_arrived, on_begins };
    const struct leat_sim_aton_config ring = aton_of(config);
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *p = (struct leat_sim_aton_port){ .config = *config };
    void *aton_memory = lay_out(p, &arena);
    const size_t packet_len = HEAD_LEN + config->packet_octets;
    uint8_t *buffer = leat_arena_lay(&arena, config->stations, packet_len);
    for (uint32_t i = 0; i < config->stations; i++)
        p->queue[i].buffer = buffer + i * packet_len;
    leat_sim_aton_init(&p->ring, &ring, &host, aton_memory);
    enum { T_BEHIND = 11 }; /* symbols from a packet's first to T: at best it passes just then */
    p->base = (struct leat_port_net){
        .ops = &ops,
        .ports = config->stations,
        .latency = leat_sim_clock_at(&p->config.clock, symbols_of(0) - T_BEHIND),
        .taken_octets = 1,
        .taken_ps = leat_sim_clock_at(&p->config.clock, 8),
    };
    leat_sim_post_init(&p->post, &p->base);
}
