#include "sim_atm_replay.h"
#include "leat_arena.h"
#include "sim_atm_fingerprint.h"
#include "sim_atm_ports_parts.h"
#include "sim_post.h"
#include "sim_refuse.h"
#include <assert.h>

enum {
    ITEMS_MAX = 1 << 16,    /* per period */
    MESSAGES_MAX = 1 << 14, /* per period */
    WORDS_MAX = 1 << 18,    /* of a fingerprint: 256 idle ports take 150,000 */
    PORTS_MAX = 256,        /* of a network that is fingerprinted: the cost grows with its square */
    SPAN_MIN = 64,          /* arrivals */
    SPAN_MAX = 1 << 14,
    WORDS_FREE = 1 << 15, /* budget for fingerprints before anything has been simulated, ... */
    WORDS_A_CELL = 8,     /* ... and for each simulated cell: a few percent of its cost */
    PERIODS_MIN = 4,      /* a replay of fewer periods is not worth the search */
};

static struct leat_sim_atm_replay *of(struct leat_port_net *net)
{
    return (struct leat_sim_atm_replay *)net; /* its first member */
}

static uint32_t entry_of(const struct leat_sim_atm_replay *r,
                         const struct leat_port_message *message)
{
    return (uint32_t)((const struct leat_sim_atm_ports_entry *)message - r->port.entry);
}

/* The last cycle that was run. */
static uint64_t present(const struct leat_sim_atm_replay *r)
{
    return r->port.load.sim.now - 1;
}

static uint32_t link_count(const struct leat_sim_atm_replay *r)
{
    return leat_sim_atm_link_count(&r->port.load.sim.fabric.net);
}

/* ---- recording ------------------------------------------------------------------------------- */

/* No period can include this event: start over, after a rest. */
static void forget(struct leat_sim_atm_replay *r)
{
    r->remembers = false;
    r->rests = SPAN_MIN;
}

static void write_down(struct leat_sim_atm_replay *r, enum leat_sim_atm_replay_kind kind,
                       uint32_t message, uint64_t known_at, uint64_t at)
{
    if (!r->remembers) return;
    if (r->item_count == ITEMS_MAX) {
        forget(r);
        return;
    }
    r->item[r->item_count++] = (struct leat_sim_atm_replay_item){
        .kind = kind, .message = message, .known_at = known_at - r->from, .at = at - r->from
    };
}

/* ---- callbacks of the network ---------------------------------------------------------------- */

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_replay *r = context;
    struct leat_sim_atm_replay_entry *e = &r->entry[entry_of(r, message)];
    const uint64_t cycle = leat_sim_atm_ports_cycle_from(&r->port, at);
    e->number = r->port.load.host[message->from].number;
    if (r->catches_up) return;
    if (r->remembers) r->message[e->message].number = e->number - r->number[message->from];
    write_down(r, LEAT_SIM_ATM_REPLAY_SENT, e->message, cycle, cycle);
    r->net.observer.sent(r->net.observer.context, message, at);
}

/* The network reports this when it grants the read: the reply comes a little later. */
static void on_coming(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_replay *r = context;
    struct leat_sim_atm_replay_entry *e = &r->entry[entry_of(r, message)];
    const struct leat_sim_atm_load_host *host = &r->port.load.host[message->to];
    e->hash = host->reading_coming.payload_hash;
    e->has_hash = true;
    if (r->catches_up) return;
    write_down(r, LEAT_SIM_ATM_REPLAY_COMING, e->message, host->unit.reply_at,
               leat_sim_atm_ports_cycle_from(&r->port, at));
    if (r->net.observer.coming) r->net.observer.coming(r->net.observer.context, message, at);
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_replay *r = context;
    const uint64_t cycle = leat_sim_atm_ports_cycle_from(&r->port, at);
    if (r->catches_up) return;
    write_down(r, LEAT_SIM_ATM_REPLAY_ARRIVED, r->entry[entry_of(r, message)].message, cycle,
               cycle);
    r->has_arrived = true;
    r->arrived_now = *message;
    r->net.observer.arrived(r->net.observer.context, message, at);
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    struct leat_sim_atm_replay *r = context;
    assert(!r->catches_up);
    forget(r);
    r->net.observer.lost(r->net.observer.context, message, why, at);
}

static void on_stuck(void *context, enum leat_port_stuck how, const char *why, leat_time at)
{
    const struct leat_sim_atm_replay *r = context;
    if (r->net.observer.stuck) r->net.observer.stuck(r->net.observer.context, how, why, at);
}

static void on_head(void *context, const struct leat_port_message *message, leat_time from,
                    leat_time at)
{
    const struct leat_sim_atm_replay *r = context;
    r->net.observer.head(r->net.observer.context, message, from, at);
}

static void on_collected(void *context, const struct leat_port_part *part, bool is_done,
                         leat_time at)
{
    const struct leat_sim_atm_replay *r = context;
    r->net.observer.collected(r->net.observer.context, part, is_done, at);
}

/* ---- period detection ------------------------------------------------------------------------ */

/* The cost of a fingerprint of so many words: many of them depend on a peer unit too. */
static uint64_t cost_of(uint64_t words)
{
    return words + words / 2;
}

/* In a large network with little traffic, fingerprints would cost more than a replay can save. */
static bool can_afford(const struct leat_sim_atm_replay *r, uint64_t fingerprints)
{
    const uint64_t peers = (uint64_t)r->net.ports * r->net.ports;
    const uint64_t words = r->word_count > 2 * peers ? r->word_count : 2 * peers;
    const uint64_t earned = WORDS_FREE + r->port.load.counts.cells_delivered * WORDS_A_CELL;
    return earned >= r->words_spent + fingerprints * cost_of(words);
}

/* Records the reference state that later states are compared with. */
static void remember(struct leat_sim_atm_replay *r)
{
    struct leat_sim_atm_ports *port = &r->port;
    struct leat_fingerprint fingerprint = { .word = r->word, .cap = WORDS_MAX };
    forget(r);
    if (port->net.in_flight > MESSAGES_MAX / 2) return;
    leat_sim_atm_fingerprint(port, &fingerprint, r->shell, &r->in_flight);
    r->words_spent += cost_of(fingerprint.count);
    if (!leat_fingerprint_holds(&fingerprint)) return;
    r->rests = 0;
    r->remembers = true;
    r->word_count = fingerprint.count;
    r->from = present(r);
    r->holds = port->holds;
    r->arrived_last = r->arrived_now;
    r->item_count = r->unsettled = 0;
    r->message_count = r->in_flight;
    for (uint32_t p = 0; p < port->net.ports; p++)
        r->number[p] = port->load.host[p].number;
    for (uint32_t i = 0; i < link_count(r); i++)
        r->cells[i] = leat_sim_atm_link_cells(&port->load.sim, i);
    for (uint32_t i = 0; i < r->in_flight; i++) {
        struct leat_sim_atm_replay_entry *e = &r->entry[r->shell[i]];
        const struct leat_port_message *m = &port->entry[r->shell[i]].message;
        e->message = i;
        r->message[i] = (struct leat_sim_atm_replay_message){
            .message = *m, .number = e->number - r->number[m->from]
        };
    }
}

static bool state_matches(struct leat_sim_atm_replay *r)
{
    struct leat_fingerprint fingerprint = { .word = r->word,
                                            .cap = r->word_count,
                                            .compares = true };
    uint32_t count;
    if (r->port.net.in_flight != r->in_flight || r->port.holds != r->holds) return false;
    leat_sim_atm_fingerprint(&r->port, &fingerprint, r->shell, &count);
    r->words_spent += cost_of(fingerprint.count); /* states that differ mostly do so early */
    return leat_fingerprint_holds(&fingerprint);
}

/* From here on the network is not simulated. */
static void begin_replay(struct leat_sim_atm_replay *r)
{
    r->length = present(r) - r->from;
    r->from = present(r);
    r->replays = true;
    r->periods = 0;
    r->next = 0;
    for (uint32_t i = 0; i < r->in_flight; i++) {
        const struct leat_sim_atm_replay_entry *e = &r->entry[r->shell[i]];
        struct leat_sim_atm_replay_message *m = &r->message[i];
        r->ends_as[i] = e->message;
        m->message = r->port.entry[r->shell[i]].message;
        m->hash = e->hash;
        m->has_hash = e->has_hash;
        r->began[i] = *m;
    }
    for (uint32_t p = 0; p < r->net.ports; p++)
        r->number[p] = r->port.load.host[p].number - r->number[p]; /* per period */
    for (uint32_t i = 0; i < link_count(r); i++)
        r->cells[i] = leat_sim_atm_link_cells(&r->port.load.sim, i) - r->cells[i];
}

static bool same_kind(const struct leat_port_message *a, const struct leat_port_message *b)
{
    return a->from == b->from && a->to == b->to && a->len == b->len;
}

/* Called after each arrival. */
static void detect_period(struct leat_sim_atm_replay *r)
{
    if (r->rests) {
        r->rests--;
        return;
    }
    r->arrivals++;
    if (!can_afford(r, 1)) return;
    if (r->remembers && same_kind(&r->arrived_now, &r->arrived_last) && state_matches(r)) {
        begin_replay(r);
        return;
    }
    if (r->remembers && r->arrivals < r->span) return;
    /* If the next comparison is far away, the bounded recording overflows before it: do not start
     * one. */
    if (!can_afford(r, 2)) return;
    if (r->remembers && r->span < SPAN_MAX) r->span += r->span / 2;
    r->arrivals = 0;
    remember(r);
}

/* ---- replay ---------------------------------------------------------------------------------- */

static void next_period(struct leat_sim_atm_replay *r)
{
    struct leat_sim_atm_load *load = &r->port.load;
    r->next = 0;
    r->periods++;
    load->skipped_cycles += r->length;
    for (uint32_t p = 0; p < r->net.ports; p++)
        load->host[p].skipped += r->number[p];
    for (uint32_t i = 0; i < r->in_flight; i++)
        r->began[i] = r->message[r->ends_as[i]];
    for (uint32_t i = 0; i < r->in_flight; i++) {
        r->began[i].number = r->message[i].number;
        r->message[i] = r->began[i];
    }
}

static void arrive(struct leat_sim_atm_replay *r, const struct leat_sim_atm_replay_message *m,
                   uint64_t cycle)
{
    struct leat_sim_atm_load *load = &r->port.load;
    const struct leat_sim_delivery delivery = {
        .at = cycle,
        .source = m->message.from,
        .destination = m->message.to,
        .number = load->host[m->message.from].number + m->number,
        .payload_hash = m->hash,
    };
    assert(m->has_hash);
    leat_sim_atm_load_certify(load, &delivery);
    r->net.certificate = leat_sim_certificate_value(&load->certificate);
    r->net.in_flight--;
    r->replayed++;
}

/* Repeats a recorded callback. */
static void repeat(struct leat_sim_atm_replay *r, const struct leat_sim_atm_replay_item *item)
{
    const struct leat_port_observer *observer = &r->net.observer;
    struct leat_sim_atm_replay_message *m = &r->message[item->message];
    const uint64_t cycle = r->from + item->at;
    const leat_time at = leat_sim_atm_ports_edge(&r->port, cycle);
    switch (item->kind) {
    case LEAT_SIM_ATM_REPLAY_SENT: observer->sent(observer->context, &m->message, at); break;
    case LEAT_SIM_ATM_REPLAY_COMING:
        m->hash = leat_sim_post_hash(&m->message, m->message.octets, m->message.len);
        m->has_hash = true;
        if (observer->coming) observer->coming(observer->context, &m->message, at);
        break;
    case LEAT_SIM_ATM_REPLAY_ARRIVED:
        arrive(r, m, cycle);
        observer->arrived(observer->context, &m->message, at);
        break;
    case LEAT_SIM_ATM_REPLAY_HANDED:
    case LEAT_SIM_ATM_REPLAY_PAUSE: break;
    }
}

/* ---- return to simulation -------------------------------------------------------------------- */

static void run_up_to(struct leat_sim_atm_replay *r, uint64_t cycle)
{
    struct leat_port_net *inner = &r->port.net;
    while (present(r) < cycle)
        leat_port_run(inner, leat_sim_atm_ports_edge(&r->port, cycle));
}

static void hand_over(struct leat_sim_atm_replay *r, const struct leat_sim_atm_replay_message *m)
{
    struct leat_sim_atm_ports *port = &r->port;
    const uint32_t index = port->free - 1;
    /* As in the recorded period. */
    leat_sim_must(
        leat_port_send(&port->net, &m->message, leat_sim_atm_ports_edge(port, r->from + m->cycle)));
    port->entry[index].hash = m->hash;
    port->entry[index].has_hash = m->has_hash;
    r->entry[index] = (struct leat_sim_atm_replay_entry){ 0 };
}

/* Simulates from the beginning of this period to the present. All callbacks were made already. */
static void catch_up(struct leat_sim_atm_replay *r)
{
    struct leat_sim_atm_ports *port = &r->port;
    const struct leat_sim_certificate certificate = port->load.certificate;
    const uint64_t now = leat_sim_atm_ports_last_cycle(port, r->net.now);
    r->replays = false;
    r->catches_up = true;
    for (uint32_t i = 0; i < link_count(r); i++)
        port->load.sim.link_cells[i] += r->periods * r->cells[i];
    leat_sim_certificate_init(&port->load.certificate); /* already includes these deliveries */
    for (uint32_t i = 0; i < r->in_flight; i++) {
        const struct leat_sim_atm_replay_message *m = &r->began[i];
        struct leat_sim_atm_replay_entry *e = &r->entry[r->shell[i]];
        leat_sim_atm_ports_replace(port, r->shell[i], &m->message, r->blank,
                                   m->has_hash ? &m->hash : NULL);
        port->entry[r->shell[i]].hash = r->message[i].hash;
        port->entry[r->shell[i]].has_hash = r->message[i].has_hash;
        e->hash = r->message[i].hash;
        e->has_hash = r->message[i].has_hash;
    }
    port->stand_in = r->blank;
    for (uint32_t i = 0; i < r->next; i++) {
        if (r->item[i].kind != LEAT_SIM_ATM_REPLAY_HANDED) continue;
        run_up_to(r, r->from + r->item[i].known_at);
        hand_over(r, &r->message[r->item[i].message]);
    }
    run_up_to(r, now);
    port->stand_in = NULL;
    port->load.certificate = certificate;
    port->net.certificate = r->net.certificate;
    port->net.now = r->net.now;
    r->catches_up = false;
    assert(port->net.in_flight == r->net.in_flight);
    forget(r);
    r->arrivals = 0;
    r->span = SPAN_MIN;
    r->rest = r->periods >= PERIODS_MIN ? 0 : 2 * r->rest + SPAN_MIN;
    if (r->rest > SPAN_MAX) r->rest = SPAN_MAX;
    r->rests = r->rest;
}

void leat_sim_atm_replay_settle(struct leat_sim_atm_replay *r)
{
    if (r->replays) catch_up(r);
}

/* ---- ports ----------------------------------------------------------------------------------- */

static void show(struct leat_sim_atm_replay *r)
{
    const struct leat_port_net *inner = &r->port.net;
    r->net.now = inner->now;
    r->net.in_flight = inner->in_flight;
    r->net.certificate = inner->certificate;
    r->net.collected = inner->collected;
}

static bool is_handed_again(const struct leat_sim_atm_replay *r,
                            const struct leat_port_message *message, leat_time at)
{
    const struct leat_sim_atm_replay_item *item = &r->item[r->next];
    const struct leat_sim_atm_replay_message *m = &r->message[item->message];
    return item->kind == LEAT_SIM_ATM_REPLAY_HANDED && same_kind(&m->message, message) &&
           r->from + m->cycle == leat_sim_atm_ports_cycle_from(&r->port, at);
}

static bool send_simulated(struct leat_sim_atm_replay *r, const struct leat_port_message *message,
                           leat_time at)
{
    struct leat_sim_atm_ports *port = &r->port;
    const uint32_t index = port->free - 1;
    if (!leat_port_send(&port->net, message, at)) return false;
    r->net.in_flight = port->net.in_flight;
    r->entry[index] = (struct leat_sim_atm_replay_entry){ .message = r->message_count };
    /* Messages sent in pieces, or to their own port, are never replayed. */
    if (r->message_count == MESSAGES_MAX || message->len > port->load.config.len_max ||
        message->from == message->to)
        forget(r);
    if (!r->remembers) return true;
    r->message[r->message_count] = (struct leat_sim_atm_replay_message){
        .message = *message, .cycle = port->entry[index].cycle - r->from
    };
    write_down(r, LEAT_SIM_ATM_REPLAY_HANDED, r->message_count++, present(r), present(r));
    return true;
}

static bool send(struct leat_port_net *net, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_replay *r = of(net);
    if (!r->replays) return send_simulated(r, message, at);
    if (r->next == r->item_count) next_period(r);
    if (!is_handed_again(r, message, at)) {
        catch_up(r);
        return send_simulated(r, message, at);
    }
    struct leat_sim_atm_replay_message *m = &r->message[r->item[r->next++].message];
    m->message = *message;
    m->has_hash = false;
    net->in_flight++;
    return true;
}

/* Events of this run become known at its end at the latest. */
static void settle_items(struct leat_sim_atm_replay *r)
{
    const uint64_t now = present(r) - r->from;
    if (!r->remembers) return;
    for (uint32_t i = r->unsettled; i < r->item_count; i++)
        if (r->item[i].known_at > now) r->item[i].known_at = now;
    r->unsettled = r->item_count;
}

static leat_time run_simulated(struct leat_sim_atm_replay *r, leat_time until)
{
    struct leat_sim_atm_ports *port = &r->port;
    const bool may_detect = !r->is_off && !r->net.observer.head && r->net.ports <= PORTS_MAX &&
                            leat_sim_atm_collect_is_idle(&port->collect);
    port->net.observer.head = r->net.observer.head ? on_head : NULL;
    r->has_arrived = false;
    leat_port_run(&port->net, until);
    show(r);
    if (port->has_called) write_down(r, LEAT_SIM_ATM_REPLAY_PAUSE, 0, present(r), present(r));
    settle_items(r);
    if (r->has_arrived && may_detect) detect_period(r);
    return r->net.now;
}

/* True: `until` is reached, or a callback was made. False: the recording expects a message here
 * that was not sent, so the recorded future no longer applies. */
static bool replay(struct leat_sim_atm_replay *r, leat_time until)
{
    const uint64_t last = leat_sim_atm_ports_last_cycle(&r->port, until);
    uint64_t skipped = r->port.load.skipped_cycles;
    for (;;) {
        if (r->next == r->item_count) next_period(r);
        const struct leat_sim_atm_replay_item *item = &r->item[r->next];
        const uint64_t known_at = r->from + item->known_at +
                                  (r->port.load.skipped_cycles - skipped);
        if (last < known_at || (last == known_at && item->kind == LEAT_SIM_ATM_REPLAY_HANDED)) {
            r->net.now = until;
            return true;
        }
        if (item->kind == LEAT_SIM_ATM_REPLAY_HANDED) {
            r->net.now = leat_sim_atm_ports_edge(&r->port, r->from + item->known_at);
            return false;
        }
        r->next++;
        if (item->kind == LEAT_SIM_ATM_REPLAY_PAUSE) {
            r->net.now = leat_sim_atm_ports_edge(&r->port, r->from + item->known_at);
            return true;
        }
        repeat(r, item);
    }
}

static leat_time run(struct leat_port_net *net, leat_time until)
{
    struct leat_sim_atm_replay *r = of(net);
    if (r->replays) {
        if (until == LEAT_NEVER && !net->in_flight) return net->now;
        if (replay(r, until)) return net->now;
        catch_up(r);
    }
    return run_simulated(r, until);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static uint32_t group(struct leat_port_net *net, const uint32_t *port, uint32_t count)
{
    return leat_port_group(&of(net)->port.net, port, count);
}

static void disband(struct leat_port_net *net, uint32_t group)
{
    leat_port_disband(&of(net)->port.net, group);
}

/* Operations are simulated, and no period contains one. */
static void collect(struct leat_port_net *net, const struct leat_port_part *part, leat_time at)
{
    struct leat_sim_atm_replay *r = of(net);
    leat_sim_atm_replay_settle(r);
    forget(r);
    leat_port_collect(&r->port.net, part, at);
    show(r);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *lay_out(struct leat_sim_atm_replay *r, const struct leat_sim_atm_ports_config *config,
                     struct leat_arena *arena)
{
    const uint32_t ports = config->fabric.net.ports;
    r->entry = leat_arena_lay(arena, config->messages_max, sizeof *r->entry);
    r->blank = leat_arena_lay(arena, leat_atm_aal_message_max(config->aal.send_blocks), 1);
    r->word = leat_arena_lay(arena, WORDS_MAX, sizeof *r->word);
    r->item = leat_arena_lay(arena, ITEMS_MAX, sizeof *r->item);
    r->message = leat_arena_lay(arena, MESSAGES_MAX, sizeof *r->message);
    r->number = leat_arena_lay(arena, ports, sizeof *r->number);
    r->cells = leat_arena_lay(arena, leat_sim_atm_link_count(&config->fabric.net),
                              sizeof *r->cells);
    r->ends_as = leat_arena_lay(arena, MESSAGES_MAX, sizeof *r->ends_as);
    r->shell = leat_arena_lay(arena, MESSAGES_MAX, sizeof *r->shell);
    r->began = leat_arena_lay(arena, MESSAGES_MAX, sizeof *r->began);
    return leat_arena_lay_lines(arena, 1, leat_sim_atm_ports_footprint(config));
}

size_t leat_sim_atm_replay_footprint(const struct leat_sim_atm_ports_config *config)
{
    struct leat_sim_atm_replay measured;
    struct leat_arena arena = { 0 };
    lay_out(&measured, config, &arena);
    return arena.used;
}

void leat_sim_atm_replay_init(struct leat_sim_atm_replay *r,
                              const struct leat_sim_atm_ports_config *config, void *memory)
{
    static const struct leat_port_ops ops = {
        .send = send, .run = run, .group = group, .disband = disband, .collect = collect
    };
    struct leat_arena arena = { .memory = memory, .cap = leat_sim_atm_replay_footprint(config) };
    *r = (struct leat_sim_atm_replay){ .span = SPAN_MIN };
    leat_sim_atm_ports_init(&r->port, config, lay_out(r, config, &arena));
    r->net = r->port.net;
    r->net.ops = &ops;
    r->port.net.observer = (struct leat_port_observer){
        .context = r,
        .sent = on_sent,
        .arrived = on_arrived,
        .lost = on_lost,
        .stuck = on_stuck,
        .coming = on_coming,
        .collected = on_collected,
    };
}
