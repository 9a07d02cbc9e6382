/* Replay of the simplest network there is: each message arrives after the same time. */
#include "sim_post.h"
#include "sim_refuse.h"
#include "sim_replay_scene_test.h"

enum { PORTS = 8, LATENCY = 700, LEFT = 0, ARRIVES = 1 };

struct toy_entry {
    struct leat_sim_letter letter;
    uint64_t left, there; /* cycles: a picosecond each */
};

struct toy {
    struct leat_port_net net;
    struct leat_sim_post post;
    struct toy_entry *entry;
    uint64_t messages[PORTS];
    uint64_t now, skipped; /* cycles that are over; that were skipped */
    uint64_t arrived;      /* a counter */
};

static struct toy toy;
static struct leat_sim_replay replay;
static void *memory;

/* ---- the network ----------------------------------------------------------------------------- */

static bool toy_send(struct leat_port_net *net, const struct leat_port_message *message,
                     leat_time at)
{
    uint32_t index;
    (void)net;
    if (!leat_sim_post_accept(&toy.post, message, at, &index)) return false;
    struct toy_entry *e = &toy.entry[index];
    e->letter.number = toy.messages[message->from]++;
    e->left = leat_larger(at - toy.skipped, toy.now) + message->len;
    e->there = e->left + LATENCY;
    leat_sim_post_plan(&toy.post, (struct leat_sim_plan){ e->left, e->letter.call, index, LEFT });
    leat_sim_post_plan(&toy.post,
                       (struct leat_sim_plan){ e->there, e->letter.call, index, ARRIVES });
    return true;
}

static leat_time toy_run(struct leat_port_net *net, leat_time until)
{
    if (!leat_sim_post_begin(&toy.post, until)) return net->now;
    const uint64_t limit = until == LEAT_NEVER ? until : until - toy.skipped;
    const uint64_t at = toy.post.plans ? toy.post.plan[0].at : LEAT_NEVER;
    if (at >= limit) {
        toy.now = limit;
        return leat_sim_post_end(&toy.post, 0, until);
    }
    while (toy.post.plans && toy.post.plan[0].at == at) {
        const struct leat_sim_plan due = leat_sim_post_take(&toy.post);
        toy.arrived += due.step == ARRIVES;
        leat_sim_post_note(&toy.post, due.entry, due.step == LEFT);
    }
    toy.now = at + 1;
    return leat_sim_post_end(&toy.post, at + toy.skipped, until);
}

/* ---- the model ------------------------------------------------------------------------------- */

static void fingerprint(void *context, struct leat_fingerprint *out, uint32_t *entry,
                        uint32_t *count)
{
    (void)context;
    *count = 0;
    for (uint32_t i = 0; i < toy.post.plans; i++) { /* in any order: equal ones are equal */
        const struct leat_sim_plan *plan = &toy.post.plan[i];
        const struct leat_port_message *m = &toy.entry[plan->entry].letter.message;
        leat_fingerprint_put_time(out, plan->at, toy.now);
        leat_fingerprint_put(out, (uint64_t)m->from << 32 | m->to);
        leat_fingerprint_put(out, m->len << 1 | plan->step);
        if (plan->step == ARRIVES) entry[(*count)++] = plan->entry;
    }
}

static uint64_t earned(void *context)
{
    (void)context;
    return toy.arrived * 1000;
}

static uint64_t present(void *context)
{
    (void)context;
    return toy.now - 1;
}

static leat_time edge(void *context, uint64_t cycle)
{
    (void)context;
    return cycle + toy.skipped;
}

static uint64_t cycle_from(void *context, leat_time at)
{
    (void)context;
    return at == LEAT_NEVER ? at : at - toy.skipped;
}

static uint64_t accepts(void *context, leat_time at, uint64_t present)
{
    return leat_larger(cycle_from(context, at), present + 1);
}

static uint64_t last(void *context, leat_time until)
{
    return until == LEAT_NEVER ? until : cycle_from(context, until) - 1;
}

static leat_time through(void *context, uint64_t cycle)
{
    return edge(context, cycle) + 1;
}

static uint32_t next_entry(void *context)
{
    (void)context;
    return toy.post.free ? toy.post.free - 1 : toy.post.top;
}

static uint32_t entry_of(void *context, const struct leat_port_message *message)
{
    (void)context;
    return (uint32_t)((const struct toy_entry *)message - toy.entry);
}

static const struct leat_port_message *message_of(void *context, uint32_t entry)
{
    (void)context;
    return &toy.entry[entry].letter.message;
}

static uint64_t number(void *context, const struct leat_port_message *message)
{
    return toy.entry[entry_of(context, message)].letter.number;
}

static uint64_t next_number(void *context, uint32_t port)
{
    (void)context;
    return toy.messages[port];
}

static uint64_t certify(void *context, const struct leat_sim_delivery *delivery)
{
    struct leat_sim_delivery d = *delivery;
    (void)context;
    d.at += toy.skipped;
    d.number += toy.messages[d.source];
    leat_sim_certificate_add(&toy.post.certificate, &d);
    return leat_sim_certificate_value(&toy.post.certificate);
}

static uint64_t count_arrived(void *context, uint32_t i)
{
    (void)context, (void)i;
    return toy.arrived;
}

static void add_arrived(void *context, uint32_t i, uint64_t more)
{
    (void)context, (void)i;
    toy.arrived += more;
}

static void skip(void *context, uint64_t cycles, const uint64_t *messages)
{
    (void)context;
    toy.skipped += cycles;
    for (uint32_t p = 0; p < PORTS; p++)
        toy.messages[p] += messages[p];
}

static void set_certified(void *context)
{
    (void)context;
    toy.post.is_certified = !toy.post.is_certified;
}

static void replace(void *context, uint32_t entry, const struct leat_sim_replay_message *began,
                    const struct leat_sim_replay_message *now, uint64_t messages)
{
    (void)context, (void)now;
    toy.entry[entry].letter.message = began->message;
    toy.entry[entry].letter.number += messages;
}

static const struct leat_sim_replay_model model = { .fingerprint = fingerprint,
                                                    .earned = earned,
                                                    .present = present,
                                                    .edge = edge,
                                                    .cycle_from = cycle_from,
                                                    .accepts = accepts,
                                                    .last = last,
                                                    .through = through,
                                                    .next_entry = next_entry,
                                                    .entry_of = entry_of,
                                                    .message = message_of,
                                                    .number = number,
                                                    .next_number = next_number,
                                                    .certify = certify,
                                                    .count = count_arrived,
                                                    .add = add_arrived,
                                                    .skip = skip,
                                                    .begin = set_certified,
                                                    .replace = replace,
                                                    .end = set_certified };

/* ---- with and without replay ----------------------------------------------------------------- */

static const struct leat_sim_replay_config with = {
    .model = &model, .inner = &toy.net, .messages_max = SCENE_MESSAGES_MAX, .counters = 1
};

static void lay(struct leat_arena *arena)
{
    leat_sim_replay_lay(&replay, &with, PORTS, arena);
    toy.entry = leat_sim_post_lay(&toy.post, arena, SCENE_MESSAGES_MAX, sizeof *toy.entry,
                                  2 * SCENE_MESSAGES_MAX);
}

static struct leat_port_net *open(const void *config, bool with_replay,
                                  struct leat_sim_replay **out)
{
    static const struct leat_port_ops ops = { .send = toy_send, .run = toy_run };
    struct leat_arena arena = { 0 };
    (void)config;
    toy = (struct toy){ .net = { .ops = &ops, .ports = PORTS } };
    replay = (struct leat_sim_replay){ 0 };
    lay(&arena);
    memory = calloc(1, arena.used);
    if (!memory) return NULL;
    arena = (struct leat_arena){ .memory = memory, .cap = arena.used };
    lay(&arena);
    leat_sim_post_init(&toy.post, &toy.net);
    if (with_replay) leat_sim_replay_init(&replay, &with);
    *out = with_replay ? &replay : NULL;
    return with_replay ? &replay.net : &toy.net;
}

static void close(bool with_replay)
{
    (void)with_replay;
    free(memory);
}

static bool count(uint32_t i, bool with_replay, uint64_t *out)
{
    (void)with_replay;
    *out = toy.arrived;
    return i == 0;
}

static const struct scene_kind kind = { open, close, count };

static void what_repeats_itself_is_replayed(void)
{
    const struct program ring = { .tasks = PORTS,
                                  .phases = 2,
                                  .rounds = 200,
                                  .phase = { { RING, 1, 40, 0 }, { RING, 3, 90, 5 } },
                                  .seed = 1 };
    const struct scene_chance none = { 0, 0 };
    OK(compare(&kind, NULL, &ring, 100, none).replayed > 100 * 2 * PORTS);
}

static void no_observer_sees_a_difference(void)
{
    uint64_t state = tap_seed(), replayed = 0;
    for (uint32_t i = 0; i < 40; i++) {
        struct program p = random_program(&state, PORTS);
        const uint64_t seed = leat_random_splitmix(&state) | 1;
        p.longest = 3000;
        replayed += compare(&kind, NULL, &p, 100,
                            (struct scene_chance){ i % 2 ? seed : 0, i % 2 ? 0 : seed })
                        .replayed;
    }
    OK(replayed > 1000);
}

TAP_MAIN(T(what_repeats_itself_is_replayed), T(no_observer_sees_a_difference))
