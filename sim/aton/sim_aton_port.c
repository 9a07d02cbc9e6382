#include "sim_aton_port.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include "sim_aton_collect_parts.h"
#include "sim_aton_parts.h"
#include "sim_aton_port_parts.h"
#include "sim_refuse.h"
#include <string.h>

enum {
    HEAD_LEN = LEAT_SIM_ATON_PORT_HEAD_LEN,
    NUMBER_MASK = INT32_MAX, /* of a message: packets of groups begin with a 1 */
};

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

/* The interface has one packet at a time, and no station leaves. */
static void hand_over(struct leat_sim_aton_port *p, uint32_t port, struct leat_aton_order order)
{
    order.command.priority = leat_sim_aton_port_priority(&p->config, port);
    leat_sim_must(leat_sim_aton_hand_over(&p->ring, port, &order, 0, p->now, 0));
}

/* The next packet of a message. */
static void begin_message(struct leat_sim_aton_port *p, uint32_t port)
{
    struct leat_sim_aton_port_queue *queue = &p->queue[port];
    const uint32_t index = queue->first - 1;
    struct leat_sim_aton_port_entry *e = &p->entry[index];
    const uint64_t len = leat_smaller(e->letter.message.len - e->begun, p->config.packet_octets);
    leat_put_be32(queue->buffer, (uint32_t)e->letter.number & NUMBER_MASK);
    leat_put_be32(queue->buffer + 4, (uint32_t)e->begun);
    if (len) memcpy(queue->buffer + HEAD_LEN, e->letter.message.octets + e->begun, len);
    hand_over(p, port,
              (struct leat_aton_order){
                  .is_passive = true,
                  .command.da = leat_sim_aton_registers(&p->ring, e->letter.message.to)->address,
                  .octets = queue->buffer,
                  .octets_len = (uint16_t)(HEAD_LEN + len),
              });
    queue->sends = index + 1;
    e->begun += len;
    if (e->begun < e->letter.message.len) return;
    queue->first = e->letter.next;
    note(p, index, true);
}

static bool begin_collective(struct leat_sim_aton_port *p, uint32_t port)
{
    struct leat_aton_order order;
    if (!leat_sim_aton_collect_next(&p->collect, port, p->queue[port].buffer, &order)) return false;
    hand_over(p, port, order);
    return true;
}

/* The next packet of a port enters its interface. */
static void begin(struct leat_sim_aton_port *p, uint32_t port)
{
    struct leat_sim_aton_port_queue *queue = &p->queue[port];
    if (queue->sends || p->collect.seat[port].sends) return;
    const bool may_be_collective = queue->is_turn_of_groups || !queue->first;
    queue->is_turn_of_groups = false;
    if (may_be_collective && begin_collective(p, port)) return;
    if (!queue->first) return;
    queue->is_turn_of_groups = true;
    begin_message(p, port);
}

/* A member's part has entered, or the ring has called back: its port may have something to send. */
static void go_on(struct leat_sim_aton_port *p, uint32_t port)
{
    begin(p, port);
    if (leat_sim_collect_has_news(&p->collect.base)) p->ring.stop = true;
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

static void enter(struct leat_sim_aton_port *p, uint32_t index)
{
    const uint32_t group = index / p->base.ports + 1, place = index % p->base.ports;
    leat_sim_aton_collect_enter(&p->collect, group, place);
    go_on(p, leat_sim_collect_of(&p->collect.base, group)->member[place].port);
}

static void carry_out(struct leat_sim_aton_port *p, const struct leat_sim_plan *due)
{
    if (due->step == LEAT_SIM_ATON_PORT_ENTER) {
        enter(p, due->entry);
        return;
    }
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
    case LEAT_SIM_ATON_PORT_ENTER: break; /* above: it has no entry */
    }
}

/* ---- callbacks of the ring ------------------------------------------------------------------ */

static void on_begins(void *context, uint32_t station, uint64_t id, leat_time sent_at)
{
    struct leat_sim_aton_port *p = context;
    leat_sim_aton_port_show_sent(p, station, sent_at + RING_T_AT + 1);
    if (p->collect.seat[station].sends) {
        p->frames++;
        p->frame_symbols += p->collect.seat[station].symbols;
        return;
    }
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
    p->now = a->at;
    leat_sim_aton_port_show_arrived(p, a);
    if (leat_sim_aton_collect_arrived(&p->collect, a)) {
        go_on(p, a->station);
        return;
    }
    const uint32_t index = p->queue[a->from].sends - 1;
    struct leat_sim_aton_port_entry *e = &p->entry[index];
    const uint32_t offset = leat_get_be32(a->octets + 4), len = a->len - HEAD_LEN;
    assert(leat_get_be32(a->octets) == ((uint32_t)e->letter.number & NUMBER_MASK) &&
           a->station == e->letter.message.to);
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
    leat_sim_aton_port_show_returned(p, r);
    if (p->collect.seat[r->station].sends) {
        leat_sim_aton_collect_done(&p->collect, r);
        go_on(p, r->station);
        return;
    }
    if (r->result.status != LEAT_ATON_DONE || !r->result.copied) {
        p->entry[index].letter.why = damaged;
        if (queue->first == index + 1) queue->first = p->entry[index].letter.next;
        note(p, index, false);
    }
    queue->sends = 0;
    begin(p, r->station);
}

/* ---- groups --------------------------------------------------------------------------------- */

static uint32_t group(struct leat_port_net *base, const uint32_t *port, uint32_t count)
{
    return leat_sim_aton_collect_group(&of(base)->collect, port, count);
}

static void disband(struct leat_port_net *base, uint32_t id)
{
    leat_sim_aton_collect_disband(&of(base)->collect, id);
}

static void collect(struct leat_port_net *base, const struct leat_port_part *part, leat_time at)
{
    struct leat_sim_aton_port *p = of(base);
    assert(at >= base->now);
    const uint32_t place = leat_sim_collect_hand_over(&p->collect.base, part);
    leat_sim_post_plan(
        &p->post, (struct leat_sim_plan){
                      .at = leat_larger(p->now, leat_sim_clock_cycle_from(&p->config.clock, at)),
                      .call = p->post.calls++,
                      .entry = (part->group - 1) * base->ports + place,
                      .step = LEAT_SIM_ATON_PORT_ENTER,
                  });
}

/* ---- running -------------------------------------------------------------------------------- */

/* Runs to `until`, or until there is a callback to make. */
static void advance(struct leat_sim_aton_port *p, uint64_t until)
{
    p->now = p->config.contention_free ? until : leat_sim_aton_run(&p->ring, until);
}

static bool has_news(const struct leat_sim_aton_port *p)
{
    return leat_sim_post_has_news(&p->post) || leat_sim_collect_has_news(&p->collect.base);
}

/* Those of messages first. */
static leat_time report(struct leat_sim_aton_port *p, leat_time until)
{
    const bool is_collected = leat_sim_collect_has_news(&p->collect.base);
    const bool is_due = p->post.events || is_collected;
    const leat_time at = is_due ? leat_sim_clock_at(&p->config.clock, p->now) : 0;
    if (!is_collected) return leat_sim_post_end(&p->post, at, until);
    leat_sim_post_report(&p->post, at);
    leat_sim_collect_report(&p->collect.base);
    return p->base.now;
}

static leat_time run(struct leat_port_net *base, leat_time until)
{
    struct leat_sim_aton_port *p = of(base);
    if (!leat_sim_post_begin(&p->post, until)) return base->now;
    const uint64_t last = leat_sim_clock_last(&p->config.clock, until);
    while (!has_news(p) && p->now <= last) {
        const uint64_t next = p->post.plans ? p->post.plan[0].at : LEAT_NEVER;
        if (p->now < leat_smaller(next, last)) advance(p, leat_smaller(next, last));
        while (p->post.plans && p->post.plan[0].at <= p->now) {
            const struct leat_sim_plan due = leat_sim_post_take(&p->post);
            carry_out(p, &due);
        }
        if (p->now == last) break;
    }
    return report(p, until);
}

/* ---- does it exist? ------------------------------------------------------------------------- */

/* A packet of a message, or of a group. */
static uint32_t packet_len_max(const struct leat_sim_aton_port_config *config)
{
    const uint32_t len = HEAD_LEN + config->packet_octets;
    return len < LEAT_ATON_COLLECT_PACKET_LEN ? LEAT_ATON_COLLECT_PACKET_LEN : len;
}

static struct leat_sim_aton_config aton_of(const struct leat_sim_aton_port_config *config)
{
    const uint32_t len = packet_len_max(config);
    const uint32_t payload_max = len < LEAT_ATON_COLLECT_PAYLOAD_LEN ? LEAT_ATON_COLLECT_PAYLOAD_LEN
                                                                     : len;
    return (struct leat_sim_aton_config){ .stations = config->stations,
                                          .propagation_each = config->propagation,
                                          .model = config->model,
                                          .payload_max = payload_max,
                                          .orders_max = config->stations };
}

/* Of any packet here, as octets. */
static size_t image_len_max(const struct leat_sim_aton_port_config *config)
{
    enum { AROUND = 32 }; /* head, two variables, trailer */
    return AROUND + (size_t)aton_of(config).payload_max;
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
    const size_t parts = (size_t)LEAT_ATON_COLLECT_GROUPS_MAX * config->stations;
    p->entry = leat_sim_post_lay(&p->post, arena, config->messages_max, sizeof *p->entry,
                                 (size_t)3 * config->messages_max +
                                     (config->contention_free ? 0 : parts));
    p->queue = leat_arena_lay(arena, config->stations, sizeof *p->queue);
    if (!config->contention_free)
        leat_sim_aton_collect_lay(&p->collect, arena, config->stations, config->packet_octets);
    return leat_arena_lay_lines(arena, 1, leat_sim_aton_footprint(&ring));
}

size_t leat_sim_aton_port_footprint(const struct leat_sim_aton_port_config *config)
{
    struct leat_sim_aton_port measured = { .config = *config };
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    leat_arena_lay(&arena, config->stations, packet_len_max(config));
    leat_arena_lay(&arena, 1, image_len_max(config));
    return arena.used;
}

void leat_sim_aton_port_init(struct leat_sim_aton_port *p,
                             const struct leat_sim_aton_port_config *config, void *memory)
{
    static const struct leat_port_ops ops = { send,    run,     group,
                                              disband, collect, leat_sim_aton_port_place };
    static const struct leat_port_ops without_means = { .send = send, .run = run };
    const struct leat_sim_aton_host host = { p, on_done, on_arrived, on_begins };
    const struct leat_sim_aton_config ring = aton_of(config);
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *p = (struct leat_sim_aton_port){ .config = *config };
    void *aton_memory = lay_out(p, &arena);
    const size_t packet_len = packet_len_max(config);
    uint8_t *buffer = leat_arena_lay(&arena, config->stations, packet_len);
    for (uint32_t i = 0; i < config->stations; i++)
        p->queue[i].buffer = buffer + i * packet_len;
    p->image_cap = image_len_max(config);
    p->image = leat_arena_lay(&arena, 1, p->image_cap);
    leat_sim_aton_init(&p->ring, &ring, &host, aton_memory);
    enum { T_BEHIND = 11 }; /* symbols from a packet's first to T: at best it passes just then */
    p->base = (struct leat_port_net){
        .ops = config->contention_free ? &without_means : &ops,
        .ports = config->stations,
        .latency = leat_sim_clock_at(&p->config.clock, symbols_of(0) - T_BEHIND),
        .taken_octets = 1,
        .taken_ps = leat_sim_clock_at(&p->config.clock, 8),
    };
    leat_sim_post_init(&p->post, &p->base);
    if (!config->contention_free) leat_sim_aton_collect_init(&p->collect, &p->base, &p->ring);
}
