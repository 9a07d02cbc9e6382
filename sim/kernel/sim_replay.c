#include "sim_replay.h"
#include "sim_post.h"
#include "sim_refuse.h"
#include <assert.h>

enum {
    ITEMS_MAX = 1 << 16,    /* per period */
    MESSAGES_MAX = 1 << 14, /* per period */
    WORDS_MAX = 1 << 18,    /* of a fingerprint: 256 idle ports of a cell network take 150,000 */
    PORTS_MAX = 256,        /* of a network that is fingerprinted */
    SPAN_MIN = 64,          /* arrivals */
    SPAN_MAX = 1 << 14,
    WORDS_FREE = 1 << 15, /* budget for fingerprints before anything has been simulated */
    PERIODS_MIN = 4,      /* a replay of fewer periods is not worth the search */
};

static struct leat_sim_replay *of(struct leat_port_net *net)
{
    return (struct leat_sim_replay *)net; /* its first member */
}

static const struct leat_sim_replay_model *model(const struct leat_sim_replay *r)
{
    return r->config.model;
}

static uint32_t entry_of(const struct leat_sim_replay *r, const struct leat_port_message *message)
{
    return model(r)->entry_of(r->config.context, message);
}

/* The last cycle that was run. */
static uint64_t present(const struct leat_sim_replay *r)
{
    return r->replays ? r->reached : model(r)->present(r->config.context);
}

static leat_time edge(const struct leat_sim_replay *r, uint64_t cycle)
{
    return model(r)->edge(r->config.context, cycle);
}

static uint64_t cycle_from(const struct leat_sim_replay *r, leat_time at)
{
    return model(r)->cycle_from(r->config.context, at);
}

static uint64_t breaks(const struct leat_sim_replay *r)
{
    return model(r)->breaks ? model(r)->breaks(r->config.context) : 0;
}

/* ---- recording ------------------------------------------------------------------------------- */

/* No period can include this event: start over, after a rest. */
static void forget(struct leat_sim_replay *r)
{
    r->remembers = false;
    r->rests = SPAN_MIN;
}

static void write_down(struct leat_sim_replay *r, enum leat_sim_replay_kind kind, uint32_t message,
                       uint64_t known_at, uint64_t at)
{
    if (!r->remembers) return;
    if (r->item_count == ITEMS_MAX) {
        forget(r);
        return;
    }
    r->item[r->item_count++] = (struct leat_sim_replay_item){
        .kind = kind, .message = message, .known_at = known_at - r->from, .at = at - r->from
    };
}

/* ---- callbacks of the network ---------------------------------------------------------------- */

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_replay *r = context;
    struct leat_sim_replay_entry *e = &r->entry[entry_of(r, message)];
    e->number = model(r)->number(r->config.context, message);
    if (r->catches_up) return;
    r->has_called = true;
    if (r->remembers) {
        const uint64_t cycle = cycle_from(r, at);
        r->message[e->message].number = e->number - r->number[message->from];
        write_down(r, LEAT_SIM_REPLAY_SENT, e->message, cycle, cycle);
    }
    r->net.observer.sent(r->net.observer.context, message, at);
}

static void on_coming(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_replay *r = context;
    struct leat_sim_replay_entry *e = &r->entry[entry_of(r, message)];
    uint64_t known_at;
    model(r)->coming(r->config.context, message, &e->hash, &known_at);
    e->has_hash = true;
    if (r->catches_up) return;
    write_down(r, LEAT_SIM_REPLAY_COMING, e->message, known_at, cycle_from(r, at));
    if (r->net.observer.coming) r->net.observer.coming(r->net.observer.context, message, at);
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_replay *r = context;
    if (r->catches_up) return;
    r->has_called = true;
    if (r->remembers) {
        const uint64_t cycle = cycle_from(r, at);
        write_down(r, LEAT_SIM_REPLAY_ARRIVED, r->entry[entry_of(r, message)].message, cycle,
                   cycle);
    }
    r->has_arrived = true;
    r->arrived_now = *message;
    r->net.observer.arrived(r->net.observer.context, message, at);
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    struct leat_sim_replay *r = context;
    assert(!r->catches_up);
    forget(r);
    r->has_called = true;
    r->net.observer.lost(r->net.observer.context, message, why, at);
}

static void on_stuck(void *context, enum leat_port_stuck how, const char *why, leat_time at)
{
    const struct leat_sim_replay *r = context;
    if (r->net.observer.stuck) r->net.observer.stuck(r->net.observer.context, how, why, at);
}

static void on_head(void *context, const struct leat_port_message *message, leat_time from,
                    leat_time at)
{
    const struct leat_sim_replay *r = context;
    r->net.observer.head(r->net.observer.context, message, from, at);
}

static void on_collected(void *context, const struct leat_port_part *part, bool is_done,
                         leat_time at)
{
    struct leat_sim_replay *r = context;
    r->has_called = true;
    r->net.observer.collected(r->net.observer.context, part, is_done, at);
}

static void on_packet(void *context, const struct leat_port_packet *packet, leat_time at)
{
    const struct leat_sim_replay *r = context;
    r->net.observer.packet(r->net.observer.context, packet, at);
}

/* ---- period detection ------------------------------------------------------------------------ */

/* The cost of a fingerprint of so many words: many of them depend on other data too. */
static uint64_t cost_of(uint64_t words)
{
    return words + words / 2;
}

/* In a large network with little traffic, fingerprints would cost more than a replay can save. */
static bool can_afford(const struct leat_sim_replay *r, uint64_t fingerprints)
{
    const uint64_t least = r->config.words_min;
    const uint64_t words = r->word_count > least ? r->word_count : least;
    const uint64_t earned = WORDS_FREE + model(r)->earned(r->config.context);
    return earned >= r->words_spent + fingerprints * cost_of(words);
}

/* The messages in flight at the reference state. */
static void remember_messages(struct leat_sim_replay *r)
{
    for (uint32_t i = 0; i < r->in_flight; i++) {
        struct leat_sim_replay_entry *e = &r->entry[r->shell[i]];
        const struct leat_port_message *m = model(r)->message(r->config.context, r->shell[i]);
        e->message = i;
        r->message[i] = (struct leat_sim_replay_message){
            .message = *m, .at = e->at, .number = e->number - r->number[m->from]
        };
    }
}

/* Records the reference state that later states are compared with. */
static void remember(struct leat_sim_replay *r)
{
    struct leat_fingerprint fingerprint = { .word = r->word, .cap = WORDS_MAX };
    void *context = r->config.context;
    forget(r);
    if (r->net.in_flight > MESSAGES_MAX / 2) return;
    model(r)->fingerprint(context, &fingerprint, r->shell, &r->in_flight);
    r->words_spent += cost_of(fingerprint.count);
    if (!leat_fingerprint_holds(&fingerprint)) return;
    r->rests = 0;
    r->remembers = true;
    r->word_count = fingerprint.count;
    r->from = present(r);
    r->breaks = breaks(r);
    r->arrived_last = r->arrived_now;
    r->item_count = r->unsettled = 0;
    r->message_count = r->in_flight;
    for (uint32_t p = 0; p < r->net.ports; p++)
        r->number[p] = model(r)->next_number(context, p);
    for (uint32_t i = 0; i < r->config.counters; i++)
        r->counter[i] = model(r)->count(context, i);
    remember_messages(r);
}

static bool state_matches(struct leat_sim_replay *r)
{
    struct leat_fingerprint fingerprint = { .word = r->word,
                                            .cap = r->word_count,
                                            .compares = true };
    uint32_t count;
    if (r->net.in_flight != r->in_flight || breaks(r) != r->breaks) return false;
    model(r)->fingerprint(r->config.context, &fingerprint, r->shell, &count);
    r->words_spent += cost_of(fingerprint.count); /* states that differ mostly do so early */
    return leat_fingerprint_holds(&fingerprint);
}

static uint64_t way_of(const struct leat_sim_replay *r, const struct leat_port_message *message,
                       uint64_t call)
{
    return model(r)->way ? model(r)->way(r->config.context, message, call) : 0;
}

/* From here on the network is not simulated. */
static void begin_replay(struct leat_sim_replay *r)
{
    void *context = r->config.context;
    const uint64_t now = present(r);
    r->length = now - r->from;
    r->from = r->reached = now;
    r->replays = true;
    r->periods = 0;
    r->next = 0;
    for (uint32_t i = 0; i < r->in_flight; i++) {
        const struct leat_sim_replay_entry *e = &r->entry[r->shell[i]];
        struct leat_sim_replay_message *m = &r->message[i];
        r->ends_as[i] = e->message;
        m->message = *model(r)->message(context, r->shell[i]);
        m->at = e->at;
        m->hash = e->hash;
        m->has_hash = e->has_hash;
        r->began[i] = *m;
    }
    for (uint32_t i = r->in_flight; i < r->message_count; i++)
        r->message[i].way = way_of(r, &r->message[i].message, r->message[i].call);
    for (uint32_t p = 0; p < r->net.ports; p++)
        r->number[p] = model(r)->next_number(context, p) - r->number[p]; /* per period */
    for (uint32_t i = 0; i < r->config.counters; i++)
        r->counter[i] = model(r)->count(context, i) - r->counter[i];
}

static bool same_kind(const struct leat_port_message *a, const struct leat_port_message *b)
{
    return a->from == b->from && a->to == b->to && a->len == b->len;
}

/* Called after each arrival. */
static void detect_period(struct leat_sim_replay *r)
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

static void next_period(struct leat_sim_replay *r)
{
    assert(r->reached >= r->length);
    r->next = 0;
    r->periods++;
    r->reached -= r->length;
    model(r)->skip(r->config.context, r->length, r->number);
    for (uint32_t i = 0; i < r->in_flight; i++)
        r->began[i] = r->message[r->ends_as[i]];
    for (uint32_t i = 0; i < r->in_flight; i++) {
        r->began[i].number = r->message[i].number;
        r->message[i] = r->began[i];
    }
}

static void set_hash(struct leat_sim_replay_message *m)
{
    m->hash = leat_sim_post_hash(&m->message, m->message.octets, m->message.len);
    m->has_hash = true;
}

static void arrive(struct leat_sim_replay *r, struct leat_sim_replay_message *m, uint64_t cycle)
{
    if (!m->has_hash) set_hash(m);
    const struct leat_sim_delivery delivery = {
        .at = cycle,
        .source = m->message.from,
        .destination = m->message.to,
        .number = m->number,
        .payload_hash = m->hash,
    };
    r->net.certificate = model(r)->certify(r->config.context, &delivery);
    r->net.in_flight--;
    r->replayed++;
}

/* Repeats a recorded callback. */
static void repeat(struct leat_sim_replay *r, const struct leat_sim_replay_item *item)
{
    const struct leat_port_observer *observer = &r->net.observer;
    struct leat_sim_replay_message *m = &r->message[item->message];
    const uint64_t cycle = r->from + item->at;
    const leat_time at = edge(r, cycle);
    switch (item->kind) {
    case LEAT_SIM_REPLAY_SENT: observer->sent(observer->context, &m->message, at); break;
    case LEAT_SIM_REPLAY_COMING:
        set_hash(m);
        if (observer->coming) observer->coming(observer->context, &m->message, at);
        break;
    case LEAT_SIM_REPLAY_ARRIVED:
        arrive(r, m, cycle);
        observer->arrived(observer->context, &m->message, at);
        break;
    case LEAT_SIM_REPLAY_HANDED:
    case LEAT_SIM_REPLAY_PAUSE: break;
    }
}

/* ---- return to simulation -------------------------------------------------------------------- */

static void run_up_to(struct leat_sim_replay *r, uint64_t cycle)
{
    struct leat_port_net *inner = r->config.inner;
    while (present(r) < cycle)
        leat_port_run(inner, model(r)->through(r->config.context, cycle));
    inner->now = leat_smaller(inner->now, edge(r, cycle));
}

static void hand_over(struct leat_sim_replay *r, const struct leat_sim_replay_message *m)
{
    void *context = r->config.context;
    const uint32_t index = model(r)->next_entry(context);
    /* As in the recorded period. */
    leat_sim_must(leat_port_send(r->config.inner, &m->message, m->at));
    if (model(r)->sent_again) model(r)->sent_again(context, index, m);
    r->entry[index] = (struct leat_sim_replay_entry){ .at = m->at };
}

/* The network has the messages of the period in which it stopped: those of the present one take
 * their places. */
static void replace_messages(struct leat_sim_replay *r)
{
    for (uint32_t i = 0; i < r->in_flight; i++) {
        const struct leat_sim_replay_message *m = &r->message[i];
        struct leat_sim_replay_entry *e = &r->entry[r->shell[i]];
        model(r)->replace(r->config.context, r->shell[i], &r->began[i], m,
                          r->periods * r->number[m->message.from]);
        e->at = r->began[i].at;
        e->number = model(r)->next_number(r->config.context, m->message.from) + m->number;
        e->hash = m->hash;
        e->has_hash = m->has_hash;
    }
    if (model(r)->replaced) model(r)->replaced(r->config.context);
}

/* Simulates from the beginning of this period to the present. All callbacks were made already. */
static void catch_up(struct leat_sim_replay *r)
{
    void *context = r->config.context;
    struct leat_port_net *inner = r->config.inner;
    r->replays = false;
    r->catches_up = true;
    for (uint32_t i = 0; i < r->config.counters; i++)
        model(r)->add(context, i, r->periods * r->counter[i]);
    model(r)->begin(context);
    replace_messages(r);
    for (uint32_t i = 0; i < r->next; i++) {
        if (r->item[i].kind != LEAT_SIM_REPLAY_HANDED) continue;
        run_up_to(r, r->from + r->item[i].known_at);
        hand_over(r, &r->message[r->item[i].message]);
    }
    run_up_to(r, r->reached);
    model(r)->end(context);
    inner->certificate = r->net.certificate;
    inner->now = r->net.now;
    r->catches_up = false;
    assert(inner->in_flight == r->net.in_flight);
    forget(r);
    r->arrivals = 0;
    r->span = SPAN_MIN;
    r->rest = r->periods >= PERIODS_MIN ? 0 : 2 * r->rest + SPAN_MIN;
    if (r->rest > SPAN_MAX) r->rest = SPAN_MAX;
    r->rests = r->rest;
}

void leat_sim_replay_settle(struct leat_sim_replay *r)
{
    if (r->replays) catch_up(r);
}

/* ---- ports ----------------------------------------------------------------------------------- */

static void show(struct leat_sim_replay *r)
{
    const struct leat_port_net *inner = r->config.inner;
    r->net.now = inner->now;
    r->net.in_flight = inner->in_flight;
    r->net.certificate = inner->certificate;
    r->net.collected = inner->collected;
}

static uint64_t accepted_in(const struct leat_sim_replay *r, leat_time at)
{
    return model(r)->accepts(r->config.context, at, present(r));
}

/* Is it sent after those that its port sent before? */
static bool is_in_order(const struct leat_sim_replay *r, uint32_t port, leat_time at)
{
    return !model(r)->sorts_by_time || at >= r->last_at[port];
}

static bool is_handed_again(const struct leat_sim_replay *r,
                            const struct leat_port_message *message, leat_time at)
{
    const struct leat_sim_replay_item *item = &r->item[r->next];
    const struct leat_sim_replay_message *m = &r->message[item->message];
    return item->kind == LEAT_SIM_REPLAY_HANDED && same_kind(&m->message, message) &&
           r->from + m->cycle == accepted_in(r, at) && is_in_order(r, message->from, at) &&
           m->way == way_of(r, message, r->calls[message->from]);
}

static void note_call(struct leat_sim_replay *r, uint32_t port, leat_time at)
{
    r->calls[port]++;
    r->last_at[port] = leat_larger(r->last_at[port], at);
}

static bool send_simulated(struct leat_sim_replay *r, const struct leat_port_message *message,
                           leat_time at)
{
    void *context = r->config.context;
    const uint32_t index = model(r)->next_entry(context);
    if (!leat_port_send(r->config.inner, message, at)) return false;
    r->net.in_flight = r->config.inner->in_flight;
    r->entry[index] = (struct leat_sim_replay_entry){ .message = r->message_count, .at = at };
    if (r->remembers && (r->message_count == MESSAGES_MAX || !is_in_order(r, message->from, at) ||
                         (model(r)->may_repeat && !model(r)->may_repeat(context, message))))
        forget(r);
    if (r->remembers) {
        r->message[r->message_count] = (struct leat_sim_replay_message){
            .message = *message,
            .at = at,
            .cycle = accepted_in(r, at) - r->from,
            .call = r->calls[message->from],
        };
        write_down(r, LEAT_SIM_REPLAY_HANDED, r->message_count++, present(r), present(r));
    }
    note_call(r, message->from, at);
    return true;
}

static bool send(struct leat_port_net *net, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_replay *r = of(net);
    if (!r->replays) return send_simulated(r, message, at);
    if (r->next == r->item_count) next_period(r);
    if (!is_handed_again(r, message, at)) {
        catch_up(r);
        return send_simulated(r, message, at);
    }
    struct leat_sim_replay_message *m = &r->message[r->item[r->next++].message];
    m->message = *message;
    m->at = at;
    m->has_hash = false;
    note_call(r, message->from, at);
    net->in_flight++;
    return true;
}

/* Events of this run become known at its end at the latest. */
static void settle_items(struct leat_sim_replay *r)
{
    const uint64_t now = present(r) - r->from;
    if (!r->remembers) return;
    for (uint32_t i = r->unsettled; i < r->item_count; i++)
        if (r->item[i].known_at > now) r->item[i].known_at = now;
    r->unsettled = r->item_count;
}

static bool may_detect(const struct leat_sim_replay *r)
{
    return !r->is_off && !r->net.observer.head && r->net.ports <= PORTS_MAX &&
           (!model(r)->is_plain || model(r)->is_plain(r->config.context));
}

static leat_time run_simulated(struct leat_sim_replay *r, leat_time until)
{
    struct leat_port_net *inner = r->config.inner;
    inner->observer.head = r->net.observer.head ? on_head : NULL;
    inner->observer.packet = r->net.observer.packet ? on_packet : NULL;
    r->has_arrived = r->has_called = false;
    leat_port_run(inner, until);
    show(r);
    if (r->has_called) write_down(r, LEAT_SIM_REPLAY_PAUSE, 0, present(r), present(r));
    settle_items(r);
    if (r->has_arrived && may_detect(r)) detect_period(r);
    return r->net.now;
}

/* True: `until` is reached, or a callback was made. False: the recording expects a message here
 * that was not sent, so the recorded future no longer applies. */
static bool replay(struct leat_sim_replay *r, leat_time until)
{
    for (;;) {
        if (r->next == r->item_count) next_period(r);
        const struct leat_sim_replay_item *item = &r->item[r->next];
        const uint64_t last = model(r)->last(r->config.context, until);
        const uint64_t known_at = r->from + item->known_at;
        const bool is_handed = item->kind == LEAT_SIM_REPLAY_HANDED;
        if (last < known_at || (last == known_at && is_handed)) {
            r->net.now = until;
            r->reached = leat_larger(r->reached, last);
            return true;
        }
        r->reached = leat_larger(r->reached, known_at);
        if (is_handed || item->kind == LEAT_SIM_REPLAY_PAUSE)
            r->net.now = leat_larger(r->net.now, edge(r, known_at));
        if (is_handed) return false;
        r->next++;
        if (item->kind == LEAT_SIM_REPLAY_PAUSE) return true;
        repeat(r, item);
    }
}

static leat_time run(struct leat_port_net *net, leat_time until)
{
    struct leat_sim_replay *r = of(net);
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
    return leat_port_group(of(net)->config.inner, port, count);
}

static void disband(struct leat_port_net *net, uint32_t group)
{
    leat_port_disband(of(net)->config.inner, group);
}

/* Operations are simulated, and no period contains one. */
static void collect(struct leat_port_net *net, const struct leat_port_part *part, leat_time at)
{
    struct leat_sim_replay *r = of(net);
    leat_sim_replay_settle(r);
    forget(r);
    leat_port_collect(r->config.inner, part, at);
    show(r);
}

static bool place(const struct leat_port_net *net, uint32_t index, struct leat_port_place *out)
{
    return leat_port_place(((const struct leat_sim_replay *)net)->config.inner, index, out);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void leat_sim_replay_lay(struct leat_sim_replay *r, const struct leat_sim_replay_config *config,
                         uint32_t ports, struct leat_arena *arena)
{
    r->entry = leat_arena_lay(arena, config->messages_max, sizeof *r->entry);
    r->calls = leat_arena_lay(arena, ports, sizeof *r->calls);
    r->last_at = leat_arena_lay(arena, ports, sizeof *r->last_at);
    r->word = leat_arena_lay(arena, WORDS_MAX, sizeof *r->word);
    r->item = leat_arena_lay(arena, ITEMS_MAX, sizeof *r->item);
    r->message = leat_arena_lay(arena, MESSAGES_MAX, sizeof *r->message);
    r->number = leat_arena_lay(arena, ports, sizeof *r->number);
    r->counter = leat_arena_lay(arena, config->counters, sizeof *r->counter);
    r->ends_as = leat_arena_lay(arena, MESSAGES_MAX, sizeof *r->ends_as);
    r->shell = leat_arena_lay(arena, MESSAGES_MAX, sizeof *r->shell);
    r->began = leat_arena_lay(arena, MESSAGES_MAX, sizeof *r->began);
}

void leat_sim_replay_init(struct leat_sim_replay *r, const struct leat_sim_replay_config *config)
{
    static const struct leat_port_ops ops = {
        .send = send,
        .run = run,
        .group = group,
        .disband = disband,
        .collect = collect,
        .place = place,
    };
    r->config = *config;
    r->span = SPAN_MIN;
    r->net = *config->inner;
    r->net.ops = &ops;
    config->inner->observer = (struct leat_port_observer){
        .context = r,
        .sent = on_sent,
        .arrived = on_arrived,
        .lost = on_lost,
        .stuck = on_stuck,
        .coming = config->model->coming ? on_coming : NULL,
        .collected = on_collected,
    };
}
