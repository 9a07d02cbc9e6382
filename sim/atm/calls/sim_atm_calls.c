/* The agenda, what arises, and the results. */
#include "sim_atm_calls_parts.h"
#include <string.h>

enum { Q16 = 16 };

struct leat_sim_atm_calls_lines leat_sim_atm_calls_lines_default(void)
{
    return (struct leat_sim_atm_calls_lines){
        .cells = { 256, 256, 256, 256 }, .w = 64, .labels = 1024, .jitter_ps = LEAT_NEVER
    };
}

/* ---- what arises ----------------------------------------------------------------------------- */

static uint64_t exponential(struct leat_sim_atm_calls *s, struct leat_random *random, uint64_t mean)
{
    return leat_sim_atm_traffic_exponential(&s->exponential, random, mean);
}

static uint64_t draw_hold(struct leat_sim_atm_calls *s, struct source *source)
{
    const struct leat_sim_atm_calls_random *r = &s->config.random[source->of];
    if (r->is_fixed) return r->hold;
    const uint64_t hold = exponential(s, &source->random, r->hold << Q16) + (1 << (Q16 - 1));
    return leat_larger(1, hold >> Q16);
}

static void plan_source(struct leat_sim_atm_calls *s, uint32_t source, uint64_t at)
{
    leat_sim_agenda_set(&s->agenda, EVENTS, event_of_source(s, source),
                        leat_larger(at, s->now + 1));
}

/* The next call of a Poisson process: from the last one on, in fractions of slots. */
static void plan_poisson(struct leat_sim_atm_calls *s, uint32_t source)
{
    struct source *from = &s->source[source];
    from->at_q16 += exponential(s, &from->random, s->config.random[from->of].gap_q16);
    plan_source(s, source, from->at_q16 >> Q16);
}

void leat_sim_atm_calls_source_idle(struct leat_sim_atm_calls *s, uint32_t source)
{
    struct source *from = &s->source[source];
    const uint64_t idle = exponential(s, &from->random, s->config.random[from->of].idle << Q16);
    plan_source(s, source, s->now + ((idle + (1 << (Q16 - 1))) >> Q16));
}

/* Any other port. */
static uint32_t draw_port(struct leat_sim_atm_calls *s, struct source *source)
{
    const uint32_t to = (uint32_t)leat_random_below(&source->random, s->graph->ports - 1);
    return to + (to >= source->port);
}

static void ask_at_random(struct leat_sim_atm_calls *s, uint32_t source)
{
    struct source *from = &s->source[source];
    const struct leat_sim_atm_calls_random *r = &s->config.random[from->of];
    struct leat_sim_atm_calls_asked asked = {
        .from = from->port, .to = r->to, .plan = NONE, .source = NONE, .want = &r->want
    };
    if (r->to == LEAT_SIM_ATM_CALLS_ANY) asked.to = draw_port(s, from);
    asked.hold = draw_hold(s, from);
    if (r->sources)
        asked.source = source;
    else
        plan_poisson(s, source);
    leat_sim_atm_calls_ask(s, &asked);
}

/* All calls of the plan that begin now; they are in order of time. */
static void ask_as_planned(struct leat_sim_atm_calls *s)
{
    const struct leat_sim_atm_calls_config *c = &s->config;
    for (; s->plan_next < c->plans && c->plan[s->plan_next].at <= s->now; s->plan_next++) {
        const struct leat_sim_atm_calls_plan *p = &c->plan[s->plan_next];
        leat_sim_atm_calls_ask(
            s, &(struct leat_sim_atm_calls_asked){ .from = p->from,
                                                   .to = c->party[p->first_party].port,
                                                   .plan = s->plan_next,
                                                   .source = NONE,
                                                   .hold = p->hold,
                                                   .want = &p->want });
    }
    if (s->plan_next < c->plans)
        leat_sim_agenda_set(&s->agenda, EVENTS, event_of_node(s, s->graph->nodes),
                            c->plan[s->plan_next].at);
}

void leat_sim_atm_calls_live(struct leat_sim_atm_calls *s, int change)
{
    const uint64_t from = leat_larger(s->live_at, s->config.warmup);
    if (s->now > from) s->counts.live_slots += s->counts.live * (s->now - from);
    s->live_at = s->now;
    s->counts.live = change > 0 ? s->counts.live + 1 : s->counts.live - (uint64_t)-change;
    s->counts.live_max = leat_larger(s->counts.live_max, s->counts.live);
}

/* ---- running --------------------------------------------------------------------------------- */

static void on_event(struct leat_sim_atm_calls *s, uint32_t entity)
{
    if (entity < s->legs)
        leat_sim_atm_calls_leg_due(s, entity);
    else if (entity < event_of_source(s, 0))
        leat_sim_atm_calls_party_due(s, entity - s->legs);
    else if (entity < event_of_node(s, 0))
        ask_at_random(s, entity - event_of_source(s, 0));
    else if (entity < event_of_node(s, s->graph->nodes))
        leat_sim_atm_calls_node_due(s, entity - event_of_node(s, 0));
    else
        ask_as_planned(s);
}

void leat_sim_atm_calls_run(struct leat_sim_atm_calls *s, uint64_t until)
{
    uint64_t now;
    uint32_t entity;
    while (leat_sim_agenda_advance(&s->agenda, until, &now)) {
        s->now = now;
        while (leat_sim_agenda_take(&s->agenda, ARRIVALS, &entity))
            leat_sim_atm_calls_arrive(s, entity);
        while (leat_sim_agenda_take(&s->agenda, EVENTS, &entity))
            on_event(s, entity);
        while (leat_sim_agenda_take(&s->agenda, SERVICES, &entity))
            leat_sim_atm_calls_serve(s, entity);
    }
    s->now = leat_larger(s->now, until);
    leat_sim_atm_calls_live(s, 0);
}

/* ---- results --------------------------------------------------------------------------------- */

uint64_t leat_sim_atm_calls_now(const struct leat_sim_atm_calls *s)
{
    return s->now;
}

uint64_t leat_sim_atm_calls_certificate(const struct leat_sim_atm_calls *s)
{
    return leat_sim_certificate_value(&s->certificate);
}

const struct leat_sim_atm_calls_counts *
leat_sim_atm_calls_counts(const struct leat_sim_atm_calls *s)
{
    return &s->counts;
}

struct leat_sim_atm_calls_use leat_sim_atm_calls_use(const struct leat_sim_atm_calls *s,
                                                     uint32_t link)
{
    struct leat_sim_atm_calls_use use = s->link[link].use;
    use.labels_max = (uint32_t)leat_larger(use.labels_max, s->link[link ^ 1].use.labels_max);
    return use;
}

const struct leat_sim_atm_calls_fate *leat_sim_atm_calls_fate(const struct leat_sim_atm_calls *s,
                                                              uint32_t plan)
{
    return &s->fate[plan];
}

const struct leat_sim_atm_calls_fate *
leat_sim_atm_calls_party_fate(const struct leat_sim_atm_calls *s, uint32_t party)
{
    return &s->party_fate[party];
}

const struct leat_sim_histogram *leat_sim_atm_calls_set_up(const struct leat_sim_atm_calls *s)
{
    return &s->set_up;
}

const struct leat_sim_histogram *leat_sim_atm_calls_delay(const struct leat_sim_atm_calls *s)
{
    return &s->delay;
}

uint32_t leat_sim_atm_calls_circuits(const struct leat_sim_atm_calls_config *config,
                                     const struct leat_sim_atm_calls_want *want,
                                     enum leat_sim_atm_calls_place place)
{
    const struct leat_atm_cac_link_config cac = leat_sim_atm_calls_cac(config);
    struct leat_atm_contract contract = want->contract;
    struct leat_atm_cac_link line, *path = &line;
    struct leat_atm_cac_answer answer = { .criterion = LEAT_ATM_CAC_ACCEPTED };
    uint32_t count = 0;
    if (contract.class == LEAT_ATM_UBR || leat_atm_cac_link_init(&line, &cac)) return 0;
    if (place != LEAT_SIM_ATM_CALLS_ACCESS)
        contract.cdvt_ps = leat_sim_atm_calls_jitter(
            config, place == LEAT_SIM_ATM_CALLS_FIRST ? 1 : 1 + config->graph->diameter);
    while (count < LEAT_ATM_CAC_CONNECTIONS_MAX) {
        leat_sim_must(!leat_atm_cac_admit(&contract, &path, 1, &answer));
        if (answer.criterion != LEAT_ATM_CAC_ACCEPTED) break;
        count++;
    }
    return (uint32_t)leat_smaller(count, config->lines.labels);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t sources_of(const struct leat_sim_atm_calls_config *c)
{
    uint64_t sources = 0;
    for (uint32_t i = 0; i < c->randoms; i++) {
        const struct leat_sim_atm_calls_random *r = &c->random[i];
        const uint64_t ports = r->from == LEAT_SIM_ATM_CALLS_ANY ? c->graph->ports : 1;
        sources += ports * leat_larger(1, r->sources);
    }
    return (uint32_t)leat_smaller(sources, UINT32_MAX);
}

/* Of calls of the plan both ends, and all leaves. */
static uint32_t legs_of(const struct leat_sim_atm_calls_config *c)
{
    const uint64_t planned = (uint64_t)c->plans + c->parties;
    return (uint32_t)leat_smaller(LEAT_SIM_ATM_CALLS_LIVE,
                                  c->randoms ? LEAT_SIM_ATM_CALLS_LIVE : planned + 1);
}

static uint32_t parties_of(const struct leat_sim_atm_calls_config *c)
{
    return (uint32_t)leat_smaller(LEAT_SIM_ATM_PARTIES_MAX, 2 * (uint64_t)c->parties + 1);
}

static struct leat_sim_agenda_shape agenda_shape(const struct leat_sim_atm_calls *s)
{
    return (struct leat_sim_agenda_shape){ .phases = PHASES,
                                           .entities = {
                                               [ARRIVALS] = s->graph->links,
                                               [EVENTS] = event_of_node(s, s->graph->nodes) + 1,
                                               [SERVICES] = s->graph->links } };
}

/* Once to measure, once in the caller's memory. */
static void lay(struct leat_sim_atm_calls *s, const struct leat_sim_atm_calls_config *c,
                struct leat_arena *arena)
{
    *s = (struct leat_sim_atm_calls){ .config = *c, .graph = c->graph };
    s->legs = legs_of(c);
    s->party_max = parties_of(c);
    s->sources = sources_of(c);
    const struct leat_sim_agenda_shape shape = agenda_shape(s);
    void *agenda = leat_arena_lay(arena, 1, leat_sim_agenda_footprint(&shape));
    s->user = leat_arena_lay(arena, s->graph->ports, sizeof *s->user);
    s->leg = leat_arena_lay(arena, s->legs, sizeof *s->leg);
    s->leg_bucket = leat_arena_lay(arena, s->legs, sizeof *s->leg_bucket);
    s->party = leat_arena_lay(arena, s->party_max, sizeof *s->party);
    s->source = leat_arena_lay(arena, s->sources, sizeof *s->source);
    s->fate = leat_arena_lay(arena, c->plans, sizeof *s->fate);
    s->party_fate = leat_arena_lay(arena, c->parties, sizeof *s->party_fate);
    if (agenda) leat_sim_agenda_init(&s->agenda, &shape, agenda);
    leat_sim_atm_calls_net_lay(s, c, arena);
}

static bool is_sound(const struct leat_sim_atm_calls_lines *l)
{
    for (unsigned level = 0; level < LEAT_ATM_LEVEL_COUNT; level++)
        if (l->cells[level] < 1 || l->cells[level] > LEAT_SIM_ATM_CALLS_CELLS_MAX) return false;
    return l->labels >= 1 && l->labels <= LEAT_SIM_ATM_CALLS_LABELS_MAX && l->w >= 1 &&
           l->w <= LEAT_ATM_QUEUE_W_MAX && l->node_calls <= LEAT_ATM_NODE_CALLS_MAX;
}

leat_err leat_sim_atm_calls_check(const struct leat_sim_atm_calls_config *c, struct leat_text *why)
{
    if (!is_sound(&c->lines) || c->randoms > LEAT_SIM_ATM_CALLS_RANDOM_MAX ||
        c->plans > LEAT_SIM_ATM_CALLS_MAX || c->parties > LEAT_SIM_ATM_PARTIES_MAX ||
        leat_sim_atm_calls_net_check(c))
        return leat_sim_refuse(why, LEAT_ERR_RANGE,
                               "queues, labels or a line rate beyond the "
                               "limits of admission control");
    if (sources_of(c) > LEAT_SIM_ATM_CALLS_LIVE)
        return leat_sim_refuse(why, LEAT_ERR_RANGE, "%u sources of calls, expected at most %u",
                               sources_of(c), (unsigned)LEAT_SIM_ATM_CALLS_LIVE);
    if (leat_sim_atm_calls_footprint(c) > LEAT_SIM_ATM_CALLS_OCTETS_MAX)
        return leat_sim_refuse(why, LEAT_ERR_MEMORY,
                               "%" PRIu64 " MiB of queues, labels and calls, expected at most "
                               "%" PRIu64 " MiB: fewer labels, smaller queues or fewer calls",
                               (uint64_t)leat_sim_atm_calls_footprint(c) >> 20,
                               LEAT_SIM_ATM_CALLS_OCTETS_MAX >> 20);
    return LEAT_ERR_OK;
}

size_t leat_sim_atm_calls_footprint(const struct leat_sim_atm_calls_config *config)
{
    struct leat_sim_atm_calls none;
    struct leat_arena arena;
    leat_arena_init(&arena, NULL, 0);
    leat_arena_lay(&arena, 1, sizeof none);
    lay(&none, config, &arena);
    return arena.used;
}

static void begin_sources(struct leat_sim_atm_calls *s)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < s->config.randoms; i++) {
        const struct leat_sim_atm_calls_random *r = &s->config.random[i];
        const bool any = r->from == LEAT_SIM_ATM_CALLS_ANY;
        const uint32_t ports = any ? s->graph->ports : 1;
        for (uint32_t k = 0; k < ports * (r->sources ? r->sources : 1); k++, index++) {
            struct source *from = &s->source[index];
            *from = (struct source){ .of = i, .port = any ? k % ports : r->from };
            leat_random_seed_entity(&from->random, s->config.seed, index);
            if (any && from->port == r->to) continue; /* nobody calls himself */
            (r->sources ? leat_sim_atm_calls_source_idle : plan_poisson)(s, index);
        }
    }
}

struct leat_sim_atm_calls *leat_sim_atm_calls_init(const struct leat_sim_atm_calls_config *config,
                                                   void *memory)
{
    struct leat_arena arena;
    leat_arena_init(&arena, memory, SIZE_MAX);
    struct leat_sim_atm_calls *s = leat_arena_lay(&arena, 1, sizeof *s);
    lay(s, config, &arena);
    s->number = (uint64_t)config->plans + 1;
    leat_sim_certificate_init(&s->certificate);
    leat_sim_histogram_init(&s->set_up);
    leat_sim_histogram_init(&s->delay);
    leat_sim_atm_traffic_init(&s->exponential, LEAT_SIM_ATM_TRAFFIC_UNIFORM, 1, 0, 1, config->seed,
                              &s->partner);
    leat_sim_atm_calls_users_init(s);
    begin_sources(s);
    if (config->plans)
        leat_sim_agenda_set(&s->agenda, EVENTS, event_of_node(s, s->graph->nodes),
                            leat_larger(config->plan[0].at, 1));
    return s;
}
