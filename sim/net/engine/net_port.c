#include "net_port.h"
#include "leat_arena.h"
#include "net_esp_parts.h"
#include "net_port_parts.h"
#include "net_turns_parts.h"
#include <assert.h>

static const char *const lost_by[LEAT_NET_FATES] = {
    [LEAT_NET_NO_ROOM] = "one of its packets found no room in a full buffer",
    [LEAT_NET_NO_WAY] = "the wires of all its routes are broken, or its destination port is dead",
    [LEAT_NET_CUT] = "it lay across a wire that broke, or its port died while it was sent",
    [LEAT_NET_CORRUPTED] = "a bit error damaged one of its packets",
};
static const char deadlocked[] = "the network is deadlocked: its buffers wait for each other",
                  port_is_dead[] = "the port that it should leave by is dead";

static struct leat_net_port *of(struct leat_port_net *base)
{
    return (struct leat_net_port *)base; /* its first member */
}

/* ---- messages and packets ------------------------------------------------------------------- */

static uint64_t payload(const struct leat_net_port_config *config)
{
    return (uint64_t)(config->packet_flits - config->head_flits) * config->flit_octets;
}

uint64_t leat_net_port_packets(const struct leat_net_port_config *config, uint64_t len)
{
    return len ? (len - 1) / payload(config) + 1 : 1;
}

uint32_t leat_net_port_piece_flits(const struct leat_net_port_config *config, uint64_t len,
                                   uint64_t packet)
{
    const uint64_t first = packet * payload(config), rest = len - first;
    if (rest >= payload(config)) return config->packet_flits;
    const uint64_t octets = rest + config->flit_octets - 1;
    const uint32_t flits = config->head_flits + (uint32_t)(octets / config->flit_octets);
    return flits ? flits : 1;
}

uint64_t leat_net_port_flits(const struct leat_net_port_config *config, uint64_t len)
{
    const uint64_t full = leat_net_port_packets(config, len) - 1;
    return full * config->packet_flits + leat_net_port_piece_flits(config, len, full);
}

/* ---- time ----------------------------------------------------------------------------------- */

static uint64_t cycle_from(const struct leat_net_port *p, leat_time at)
{
    return leat_net_port_cycle_from(p, at);
}

static leat_time edge(const struct leat_net_port *p, uint64_t cycle)
{
    return leat_net_port_edge(p, cycle);
}

static void plan(struct leat_net_port *p, uint32_t entry, enum leat_net_port_step step,
                 leat_time at)
{
    leat_sim_post_plan(
        &p->post, (struct leat_sim_plan){ at, p->entry[entry].letter.call, entry, (uint32_t)step });
}

/* ---- reporting ----------------------------------------------------------------------------- */

/* Queues a callback for the end of the cycle, at `at`: all queued ones have the same time. */
static void note(struct leat_net_port *p, uint32_t entry, bool sent, leat_time at)
{
    leat_sim_post_note(&p->post, entry, sent);
    p->reported_at = at;
}

static void report_head(struct leat_net_port *p, const struct leat_port_message *message,
                        leat_time from, leat_time until, leat_time at)
{
    if (leat_sim_post_report_head(&p->post, message, from, until, at)) p->reported_at = at;
}

static bool has_esp(const struct leat_net_port *p)
{
    return p->config.esp.cycles != 0;
}

/* Is there a callback to make? Then the run ends. */
static bool has_news(const struct leat_net_port *p)
{
    return leat_sim_post_has_news(&p->post) ||
           (has_esp(p) && leat_sim_collect_has_news(&p->esp.collect));
}

/* ---- the messages of a port ----------------------------------------------------------------- */

static bool send(struct leat_port_net *base, const struct leat_port_message *message, leat_time at)
{
    struct leat_net_port *p = of(base);
    uint32_t index;
    if (!leat_sim_post_accept(&p->post, message, at, &index)) return false;
    struct leat_net_port_entry *e = &p->entry[index];
    e->at = at;
    e->cycle = leat_larger(cycle_from(p, at), p->cycle);
    e->packets = e->missing = leat_net_port_packets(&p->config, message->len);
    plan(p, index, LEAT_NET_PORT_HAND_OVER, at);
    return true;
}

static void append(struct leat_net_port *p, uint32_t index)
{
    struct leat_net_port_entry *e = &p->entry[index];
    struct leat_net_port_queue *queue = &p->queue[e->letter.message.from];
    e->letter.number = queue->messages++;
    leat_sim_post_append(&p->post, index, &queue->first, &queue->last);
    if (!queue->sends) queue->sends = index + 1;
}

/* Removes the message after the one `before`, + 1, from its port's list. */
static void take_out(struct leat_net_port *p, struct leat_net_port_queue *queue, uint32_t before)
{
    uint32_t *link = before ? &p->entry[before - 1].letter.next : &queue->first;
    const uint32_t gone = *link, next = p->entry[gone - 1].letter.next;
    *link = next;
    if (queue->last == gone) queue->last = before;
    if (queue->sends == gone) queue->sends = next;
}

/* Reports the messages from one port to the other that have arrived, up to the first that has not;
 * a message that has not left has not arrived. */
static void settle(struct leat_net_port *p, uint32_t from, uint32_t to, leat_time at)
{
    struct leat_net_port_queue *queue = &p->queue[from];
    uint32_t before = 0, here, next;
    for (here = queue->first; here != queue->sends; here = next) {
        const struct leat_net_port_entry *e = &p->entry[here - 1];
        next = e->letter.next;
        if (e->letter.message.to != to) {
            before = here;
            continue;
        }
        if (e->missing) return;
        take_out(p, queue, before);
        note(p, here - 1, false, at);
    }
}

static void lose(struct leat_net_port *p, uint32_t index, const char *why, leat_time at)
{
    struct leat_net_port_entry *e = &p->entry[index];
    struct leat_net_port_queue *queue = &p->queue[e->letter.message.from];
    uint32_t before = 0;
    for (uint32_t here = queue->first; here != index + 1; here = p->entry[here - 1].letter.next)
        before = here;
    take_out(p, queue, before);
    e->letter.why = why;
    note(p, index, false, at);
    settle(p, e->letter.message.from, e->letter.message.to, at);
}

/* ---- the host of a real network ------------------------------------------------------------- */

/* The packet before has left: was it the last of its message? */
static void note_if_sent(struct leat_net_port *p, struct leat_net_port_queue *queue)
{
    if (!queue->sends) return;
    const struct leat_net_port_entry *e = &p->entry[queue->sends - 1];
    if (e->begun != e->packets) return;
    note(p, queue->sends - 1, true, edge(p, p->net.now));
    p->net.stop = true;
    queue->sends = e->letter.next;
}

/* The network calls this when the packet before has left. */
static bool next_packet(void *context, uint32_t terminal, struct leat_net_packet *packet)
{
    struct leat_net_port *p = context;
    struct leat_net_port_queue *queue = &p->queue[terminal];
    note_if_sent(p, queue);
    if (has_esp(p) && leat_net_esp_next(&p->esp, terminal, packet)) return true;
    if (!queue->sends) return false;
    struct leat_net_port_entry *e = &p->entry[queue->sends - 1];
    if (!e->begun) e->first_packet = queue->packets;
    *packet = (struct leat_net_packet){
        .created_at = p->net.now,
        .number = queue->packets++,
        .random = leat_net_port_random(p, terminal, e->letter.number),
        .source = terminal,
        .destination = e->letter.message.to,
        .flits = leat_net_port_piece_flits(&p->config, e->letter.message.len, e->begun++),
    };
    return true;
}

/* The message of this packet, + 1; 0: it was lost before. Few are in flight. */
static uint32_t find(const struct leat_net_port *p, const struct leat_net_packet *packet)
{
    const struct leat_net_port_queue *queue = &p->queue[packet->source];
    for (uint32_t here = queue->first; here; here = p->entry[here - 1].letter.next) {
        const struct leat_net_port_entry *e = &p->entry[here - 1];
        if (!e->begun) break;
        if (packet->number - e->first_packet < e->begun) return here;
    }
    return 0;
}

static void arrive(void *context, const struct leat_net_arrival *arrival)
{
    struct leat_net_port *p = context;
    if (has_esp(p) && leat_net_esp_arrive(&p->esp, arrival)) {
        p->net.stop = true; /* a processor may have something to do */
        return;
    }
    const uint32_t found = find(p, &arrival->packet);
    if (!found) return;
    const leat_time at = edge(p, p->net.now);
    struct leat_net_port_entry *e = &p->entry[found - 1];
    if (arrival->fate != LEAT_NET_DELIVERED)
        lose(p, found - 1, lost_by[arrival->fate], at);
    else if (!--e->missing)
        settle(p, arrival->packet.source, arrival->packet.destination, at);
    else if (arrival->packet.number == e->first_packet && payload(&p->config) >= LEAT_PORT_HEAD_LEN)
        report_head(p, &e->letter.message, at, LEAT_NEVER, at);
    p->net.stop |= leat_sim_post_has_news(&p->post);
}

/* ---- running a real network ----------------------------------------------------------------- */

/* Unsent messages of a dead port are lost, even if the port is repaired later. */
static void lose_unsent(struct leat_net_port *p, uint32_t port)
{
    while (p->net.terminal_dead[port] && p->queue[port].sends)
        lose(p, p->queue[port].sends - 1, port_is_dead, edge(p, p->net.now));
    if (p->net.terminal_dead[port] && has_esp(p)) leat_net_esp_lose_unsent(&p->esp, port);
}

static void hand_over(struct leat_net_port *p)
{
    while (p->post.plans && p->entry[p->post.plan[0].entry].cycle <= p->net.now) {
        const struct leat_sim_plan due = leat_sim_post_take(&p->post);
        const uint32_t from = p->entry[due.entry].letter.message.from;
        append(p, due.entry);
        leat_net_wake(&p->net, from);
        lose_unsent(p, from);
    }
}

static void lose_of_dead_ports(struct leat_net_port *p)
{
    for (uint32_t port = 0; port < p->base.ports; port++)
        lose_unsent(p, port);
    for (uint32_t t = p->base.ports; has_esp(p) && t < p->config.topology->terminals; t++)
        if (p->net.terminal_dead[t]) leat_net_esp_lose_unsent(&p->esp, t);
}

static void apply_faults(struct leat_net_port *p)
{
    if (!p->config.faults || p->config.faults->next_at > p->net.now) return;
    leat_net_fault_player_apply(p->config.faults, &p->net);
    lose_of_dead_ports(p);
}

/* The next cycle with an external event. */
static uint64_t next_cycle(const struct leat_net_port *p, uint64_t limit)
{
    if (has_news(p)) return p->net.now + 1;
    if (has_esp(p)) limit = leat_smaller(limit, leat_net_esp_due(&p->esp));
    if (p->config.faults) limit = leat_smaller(limit, p->config.faults->next_at);
    return p->post.plans ? leat_smaller(limit, p->entry[p->post.plan[0].entry].cycle) : limit;
}

/* Including messages to be sent later: the network does not recover. */
static void die(struct leat_net_port *p)
{
    const leat_time at = edge(p, p->net.now);
    p->dead = true;
    while (p->post.plans)
        append(p, leat_sim_post_take(&p->post).entry);
    for (uint32_t port = 0; port < p->base.ports; port++)
        while (p->queue[port].first)
            lose(p, p->queue[port].first - 1, deadlocked, at);
    if (has_esp(p)) leat_net_esp_die(&p->esp);
}

/* Has a run without end come to rest? */
static bool is_at_rest(const struct leat_net_port *p, uint64_t to)
{
    return to == LEAT_NEVER && !p->net.stop;
}

/* Runs until there is a callback to make. If a network comes to rest with messages in flight, they
 * are in dead ports. */
static void advance(struct leat_net_port *p, leat_time until)
{
    const uint64_t limit = cycle_from(p, until);
    while (!has_news(p) && p->net.now < limit) {
        apply_faults(p);
        hand_over(p);
        if (has_esp(p)) leat_net_esp_act(&p->esp, p->net.now);
        const uint64_t to = next_cycle(p, limit);
        const bool alive = leat_net_run(&p->net, to);
        if (has_news(p)) return;
        if (!alive) {
            die(p);
            return;
        }
        if (!is_at_rest(p, to)) continue;
        lose_of_dead_ports(p);
        assert(p->post.events || (has_esp(p) && leat_net_esp_due(&p->esp) != LEAT_NEVER));
    }
}

/* Collective operations fail in a dead network; here those before the next message. */
static void fail_dead(struct leat_net_port *p, leat_time until)
{
    uint64_t due;
    if (p->post.plans) until = leat_smaller(until, p->post.plan[0].at);
    while (!has_news(p) && (due = leat_net_esp_due(&p->esp)) != LEAT_NEVER && edge(p, due) < until)
        leat_net_esp_act(&p->esp, due);
}

/* Messages sent in a dead network are lost at once. */
static void advance_dead(struct leat_net_port *p, leat_time until)
{
    if (has_esp(p)) fail_dead(p, until);
    if (has_news(p)) return;
    while (p->post.plans && p->post.plan[0].at < until &&
           (!p->post.events || p->post.plan[0].at == p->reported_at)) {
        const struct leat_sim_plan due = leat_sim_post_take(&p->post);
        append(p, due.entry);
        lose(p, due.entry, deadlocked, due.at);
    }
}

/* ---- contention-free ------------------------------------------------------------------------ */

static void begin_alone(struct leat_net_port *p, uint32_t index)
{
    append(p, index);
    struct leat_net_port_entry *e = &p->entry[index];
    struct leat_net_port_queue *queue = &p->queue[e->letter.message.from];
    const uint64_t start = leat_larger(e->cycle, queue->out_free);
    const uint64_t way = leat_net_way_cycles(
        p->config.topology, p->config.routing, &p->config.net, e->letter.message.from,
        e->letter.message.to, leat_net_port_random(p, e->letter.message.from, e->letter.number),
        leat_net_port_piece_flits(&p->config, e->letter.message.len, 0));
    queue->out_free = start + leat_net_port_flits(&p->config, e->letter.message.len);
    e->cycle = start + way;
    e->left = queue->out_free - 1;
    plan(p, index, LEAT_NET_PORT_LEFT, edge(p, e->left));
    plan(p, index, LEAT_NET_PORT_HEAD, edge(p, e->cycle));
}

/* Octets arrive a flit at a time, delayed by the heads of packets among them. */
static void report_even_head(struct leat_net_port *p, const struct leat_port_message *message,
                             uint64_t first, uint64_t last, leat_time at)
{
    const uint64_t later = 1 + (uint64_t)p->config.head_flits;
    report_head(p, message, edge(p, first + later), edge(p, last + later), at);
}

/* The port of the receiver takes it in after those before. */
static void take_in(struct leat_net_port *p, uint32_t index, leat_time at)
{
    struct leat_net_port_entry *e = &p->entry[index];
    struct leat_net_port_queue *queue = &p->queue[e->letter.message.to];
    const uint64_t first = leat_larger(queue->in_free, e->cycle);
    queue->in_free = first + leat_net_port_flits(&p->config, e->letter.message.len);
    e->begun = 1;
    e->cycle = queue->in_free - 1;
    plan(p, index, LEAT_NET_PORT_TAIL, edge(p, e->cycle));
    report_even_head(p, &e->letter.message, first, queue->in_free - 1, at);
}

static void advance_alone(struct leat_net_port *p, leat_time until)
{
    while (p->post.plans && p->post.plan[0].at < until &&
           (!leat_sim_post_has_news(&p->post) || p->post.plan[0].at == p->reported_at)) {
        const struct leat_sim_plan due = leat_sim_post_take(&p->post);
        struct leat_net_port_entry *e = &p->entry[due.entry];
        switch ((enum leat_net_port_step)due.step) {
        case LEAT_NET_PORT_HAND_OVER: begin_alone(p, due.entry); break;
        case LEAT_NET_PORT_LEFT:
            p->queue[e->letter.message.from].sends = e->letter.next;
            note(p, due.entry, true, due.at);
            break;
        case LEAT_NET_PORT_HEAD: take_in(p, due.entry, due.at); break;
        case LEAT_NET_PORT_TAIL:
            e->missing = 0;
            settle(p, e->letter.message.from, e->letter.message.to, due.at);
        }
    }
    if (leat_sim_post_has_news(&p->post))
        p->cycle = cycle_from(p, p->reported_at) + 1;
    else if (until != LEAT_NEVER)
        p->cycle = leat_larger(p->cycle, cycle_from(p, until));
}

/* Messages come first; all news have the same time. */
static leat_time end_run(struct leat_net_port *p, leat_time until)
{
    if (!has_esp(p) || !leat_sim_collect_has_news(&p->esp.collect))
        return leat_sim_post_end(&p->post, p->reported_at, until);
    leat_sim_post_report(&p->post, p->esp.news_at);
    leat_sim_collect_report(&p->esp.collect);
    return p->base.now;
}

static leat_time run(struct leat_port_net *base, leat_time until)
{
    struct leat_net_port *p = of(base);
    if (!leat_sim_post_begin(&p->post, until)) return base->now;
    if (p->config.contention_free)
        advance_alone(p, until);
    else if (p->dead)
        advance_dead(p, until);
    else
        advance(p, until);
    return end_run(p, until);
}

/* ---- collective operations ------------------------------------------------------------------ */

static uint32_t group(struct leat_port_net *base, const uint32_t *port, uint32_t count)
{
    return leat_net_esp_group(&of(base)->esp, port, count);
}

static void disband(struct leat_port_net *base, uint32_t id)
{
    leat_net_esp_disband(&of(base)->esp, id);
}

static void collect(struct leat_port_net *base, const struct leat_port_part *part, leat_time at)
{
    leat_net_esp_collect(&of(base)->esp, part, at);
}

static bool place(const struct leat_port_net *base, uint32_t index, struct leat_port_place *out)
{
    return leat_net_esp_place(&((const struct leat_net_port *)base)->esp, index, out);
}

/* ---- does it exist? ------------------------------------------------------------------------- */

leat_err leat_net_port_check(const struct leat_net_port_config *config, struct leat_text *why)
{
    const struct leat_net_config *net = &config->net;
    const leat_err err = leat_net_check(config->topology, net, why);
    if (err) return err;
    const bool whole = net->architecture == LEAT_NET_SWITCH_VC &&
                       (net->flow != LEAT_NET_WORMHOLE || net->drop);
    const uint32_t flits_max = whole ? net->buffer_flits : LEAT_NET_FLITS_MAX;
    const struct leat_text_range row[] = {
        { "octets of a flit", config->flit_octets, 1, LEAT_NET_PORT_FLIT_OCTETS_MAX },
        { whole ? "flits of a packet, all of which must fit a buffer," : "flits of a packet",
          config->packet_flits, 1, flits_max },
        { "flits of a packet's head", config->head_flits, 0, config->packet_flits - 1 },
        { "messages in flight", config->messages_max, 1, LEAT_NET_PORT_MESSAGES_MAX },
    };
    const leat_err bad = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
    if (bad) return bad;
    return leat_sim_clock_check(&config->clock, why);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Lays out its arrays; returns the place of the network's memory. */
static void *lay_out(struct leat_net_port *p, struct leat_arena *arena)
{
    const struct leat_net_port_config *config = &p->config;
    const bool alone = config->contention_free;
    const size_t messages = config->messages_max, plans = alone ? 2 * messages : messages;
    p->entry = leat_sim_post_lay(&p->post, arena, config->messages_max, sizeof *p->entry, plans);
    p->queue = leat_arena_lay(arena, config->topology->terminals, sizeof *p->queue);
    if (has_esp(p)) leat_net_esp_lay(&p->esp, arena, config);
    return alone
               ? NULL
               : leat_arena_lay_lines(arena, 1, leat_net_footprint(config->topology, &config->net));
}

size_t leat_net_port_footprint(const struct leat_net_port_config *config)
{
    struct leat_net_port measured = { .config = *config };
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    return arena.used;
}

/* The minimum for any message: an empty one over one router or, where all routes have the same
 * number of stages, over these. */
static uint64_t least_cycles(const struct leat_net_port *p)
{
    const enum leat_net_kind kind = p->config.topology->shape.kind;
    const uint32_t flits = leat_net_port_piece_flits(&p->config, 0, 0);
    if (kind == LEAT_NET_FLY || kind == LEAT_NET_BENES || kind == LEAT_NET_CLOS)
        return leat_net_way_cycles(p->config.topology, p->config.routing, &p->config.net, 0, 0, 0,
                                   flits) +
               flits - 1;
    return LEAT_NET_ENTRY_CYCLES + p->config.net.pipeline + 1 + flits - 1;
}

void leat_net_port_init(struct leat_net_port *p, const struct leat_net_port_config *config,
                        void *memory)
{
    static const struct leat_port_ops ops = { .send = send, .run = run };
    static const struct leat_port_ops esp_ops = { .send = send,
                                                  .run = run,
                                                  .group = group,
                                                  .disband = disband,
                                                  .collect = collect,
                                                  .place = place };
    const struct leat_net_host host = { .context = p, .next = next_packet, .arrive = arrive };
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *p = (struct leat_net_port){ .config = *config };
    void *net_memory = lay_out(p, &arena);
    if (!config->contention_free)
        leat_net_init(&p->net, config->topology, config->routing, &config->net, &host, net_memory);
    p->base = (struct leat_port_net){
        .ops = has_esp(p) ? &esp_ops : &ops,
        .ports = config->topology->terminals - config->topology->processors,
        .latency = leat_sim_clock_at(&p->config.clock, least_cycles(p)),
        .taken_octets = config->flit_octets,
        .taken_ps = leat_sim_clock_at(&p->config.clock, 1),
    };
    leat_sim_post_init(&p->post, &p->base);
    if (has_esp(p)) leat_net_esp_init(&p->esp, &p->config, &p->net, &p->base);
}
