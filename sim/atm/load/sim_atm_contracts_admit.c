#include "sim_atm_contracts_admit.h"
#include "leat_arena.h"
#include "sim_refuse.h"
#include <assert.h>

enum { STAGES = LEAT_ATM_CLOS_STAGES_MAX, RESERVED_LEVELS = LEAT_SIM_BEST_LEVEL, ABR_LEVEL = 2 };
enum { SHARE_STEPS_COARSE = 16, SHARE_STEPS_FINE = 256 };
enum { MODEST_SHARE = 64 }; /* one in: the weight of a share when paths are chosen */
#define GRAIN 1e-6 /* of a cell, of a slot: results are rounded up by more than their error */

/* Cells in any time of s slots: at most burst + rate s. */
struct line {
    double rate, burst;
};

struct sum {
    struct line peak, mean;
};

struct xpm { /* traffic from one input of a switch to one output */
    struct sum sum;
    uint32_t flows;
};

struct spd {
    struct sum sum;
    uint32_t inputs; /* active */
    double booked;   /* load of admitted connections, for the choice of paths */
};

struct access {
    struct leat_atm_cac_link link;
    struct sum sum[RESERVED_LEVELS]; /* of each level and those above it */
    double wait[RESERVED_LEVELS];    /* slots */
    double load;
    uint32_t gates[LEAT_ATM_LEVEL_COUNT];
};

/* Traffic that enters the network at one port for another. A connection has two flows: [0] its
 * cells, [1] its returning RM cells (ABR), or its tagged cells. */
struct flow {
    struct sum entry; /* at the access */
    bool on, gated;
    uint32_t port;
    unsigned level;
    uint32_t xpm[STAGES], spd[STAGES];
    double late; /* slots waited at most, so far */
};

struct admit {
    const struct leat_sim_atm_contracts_config *config;
    struct leat_sim_atm_admission *out;
    double slot_ps;
    uint64_t link_rate;
    struct access *access;
    struct xpm *xpm;
    struct spd *spd;
    struct flow *flow; /* 2 per connection */
};

/* ---- what is known beforehand --------------------------------------------------------------- */

struct leat_sim_atm_contracts_port leat_sim_atm_contracts_port_default(void)
{
    return (struct leat_sim_atm_contracts_port){
        .w = LEAT_ATM_QUEUE_W_DEFAULT,
        .cells = { 64, 256 },
        .clp_cells = { 16, 64 },
        .best_cells = 64,
        .efci_cells = 16,
    };
}

static bool cells_fit(uint32_t cells)
{
    return cells >= 1 && cells <= LEAT_SIM_ATM_PORTS_CELLS_MAX;
}

static bool port_fits(const struct leat_sim_atm_contracts_port *port)
{
    return port->w >= 1 && port->w <= LEAT_ATM_QUEUE_W_MAX && cells_fit(port->cells[0]) &&
           cells_fit(port->cells[1]) && cells_fit(port->best_cells) &&
           port->clp_cells[0] <= port->cells[0] && port->clp_cells[1] <= port->cells[1];
}

leat_err leat_sim_atm_contracts_check(const struct leat_sim_atm_contracts_config *config)
{
    const struct leat_atm_clos *net = &config->fabric.net;
    if (leat_sim_atm_contracts_link_rate(&config->fabric) > LEAT_ATM_CONTRACT_RATE_MAX)
        return LEAT_ERR_RANGE;
    if (config->connection_count < 1 || config->connection_count > LEAT_SIM_ATM_CONNECTIONS_MAX)
        return LEAT_ERR_RANGE;
    for (uint32_t p = 0; p < net->ports; p++)
        if (!port_fits(&config->port[p])) return LEAT_ERR_RANGE;
    for (uint32_t i = 0; i < config->connection_count; i++) {
        const struct leat_sim_atm_connection *c = &config->connection[i];
        const leat_err err = leat_atm_contract_check(&c->contract);
        if (err) return err;
        if (c->contract.pcr > LEAT_ATM_CONTRACT_RATE_MAX) return LEAT_ERR_RANGE;
        if (c->from >= net->ports || c->to >= net->ports) return LEAT_ERR_RANGE;
        if (c->path != LEAT_SIM_PATH_ANY && c->path >= net->paths) return LEAT_ERR_RANGE;
        if (c->source == LEAT_SIM_ATM_SOURCE_EXCESS && !c->excess_percent) return LEAT_ERR_RANGE;
    }
    return LEAT_ERR_OK;
}

uint64_t leat_sim_atm_contracts_link_rate(const struct leat_sim_atm_fabric *fabric)
{
    /* 512 10^12 / (53 num / den): den and num are at most 10^9 (sim_fabric), so all fits. */
    const uint64_t cell_ps_num = fabric->period_ps_num * LEAT_ATM_CELL_LEN;
    const struct leat_atm_line *line = fabric->graph ? fabric->graph->line : NULL;
    if (line) return line->cells_num * LEAT_ATM_RATE_UNIT / line->cells_den;
    const uint64_t second = LEAT_ATM_SECOND_PS * LEAT_ATM_RATE_UNIT;
    const uint64_t whole = second / cell_ps_num, rest = second % cell_ps_num;
    return whole * fabric->period_ps_den +
           (uint64_t)((double)rest * (double)fabric->period_ps_den / (double)cell_ps_num);
}

/* Gates at a port, by level: its best-effort connections, and return paths of RM cells. */
static void count_gates(const struct leat_sim_atm_contracts_config *config, uint32_t port,
                        uint32_t gates[LEAT_ATM_LEVEL_COUNT])
{
    for (int level = 0; level < LEAT_ATM_LEVEL_COUNT; level++)
        gates[level] = 0;
    for (uint32_t i = 0; i < config->connection_count; i++) {
        const struct leat_sim_atm_connection *c = &config->connection[i];
        const unsigned level = leat_atm_class_level(c->contract.class);
        if (level < LEAT_SIM_BEST_LEVEL) continue;
        if (c->from == port) gates[level]++;
        if (c->to == port && level == ABR_LEVEL) gates[level]++;
    }
}

struct leat_atm_queue_config
leat_sim_atm_contracts_queue(const struct leat_sim_atm_contracts_config *config, uint32_t port)
{
    const struct leat_sim_atm_contracts_port *p = &config->port[port];
    struct leat_atm_queue_config queue = { .level_count = LEAT_ATM_LEVEL_COUNT, .w = p->w };
    uint32_t gates[LEAT_ATM_LEVEL_COUNT];
    count_gates(config, port, gates);
    for (unsigned level = 0; level < LEAT_ATM_LEVEL_COUNT; level++)
        if (level < RESERVED_LEVELS) {
            queue.level[level].capacity = p->cells[level];
            queue.level[level].threshold = p->clp_cells[level];
        } else
            queue.level[level].capacity = gates[level] ? gates[level] : 1;
    return queue;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static double in_slots(const struct admit *a, leat_time ps)
{
    return (double)ps / a->slot_ps;
}

static leat_time in_ps(const struct admit *a, double slots)
{
    return (leat_time)((slots + GRAIN) * a->slot_ps) + 1;
}

/* Cells per slot. */
static double rate_of(const struct admit *a, uint64_t rate)
{
    return (double)rate / (double)(LEAT_ATM_SECOND_PS * LEAT_ATM_RATE_UNIT) * a->slot_ps;
}

static struct line line_of(const struct admit *a, uint64_t rate, leat_time tau_ps)
{
    const double per_slot = rate_of(a, rate);
    return (struct line){ per_slot, 1 + in_slots(a, tau_ps) * per_slot };
}

static struct sum entry_of(const struct admit *a, const struct leat_atm_contract *contract)
{
    struct leat_atm_rules rules;
    const leat_err err = leat_atm_contract_rules(contract, &rules);
    assert(!err && rules.count > 0);
    (void)err;
    struct sum entry;
    entry.peak = entry.mean = line_of(a, contract->pcr, rules.rule[0].tau);
    if (rules.count > 1) entry.mean = line_of(a, contract->scr, rules.rule[1].tau);
    return entry;
}

/* Adds a flow that has waited `late` slots. */
static void add_flow(struct sum *sum, const struct sum *flow, double late)
{
    sum->peak.rate += flow->peak.rate;
    sum->peak.burst += flow->peak.burst + flow->peak.rate * late;
    sum->mean.rate += flow->mean.rate;
    sum->mean.burst += flow->mean.burst + flow->mean.rate * late;
}

/* The longest queue of arrivals below three lines, served at `rate` after `latency`: the maximum of
 * min(lines)(s) - rate (s - latency). It lies at the latency or where lines cross. */
static double backlog(const struct line line[3], double rate, double latency)
{
    double most = 0, at[4] = { latency };
    int count = 1;
    bool bounded = false;
    for (int i = 0; i < 3; i++) {
        bounded |= line[i].rate <= rate;
        for (int k = 0; k < i; k++)
            if (line[i].rate != line[k].rate) {
                const double cross = (line[k].burst - line[i].burst) /
                                     (line[i].rate - line[k].rate);
                if (cross > latency) at[count++] = cross;
            }
    }
    if (!bounded) return 1e30;
    for (int n = 0; n < count; n++) {
        double arrived = 1e30;
        for (int i = 0; i < 3; i++) {
            const double value = line[i].burst + line[i].rate * at[n];
            if (value < arrived) arrived = value;
        }
        const double queue = arrived - rate * (at[n] - latency);
        if (queue > most) most = queue;
    }
    return most;
}

/* The longest time that arrivals below both lines keep a server busy. */
static double busy_time(const struct sum *sum, double rate, double latency)
{
    const struct line line[2] = { sum->peak, sum->mean };
    double least = 1e30;
    for (int i = 0; i < 2; i++)
        if (line[i].rate < rate) {
            const double time = (line[i].burst + rate * latency) / (rate - line[i].rate);
            if (time < least) least = time;
        }
    return least;
}

/* ---- the network with all flows that are on ------------------------------------------------- */

static void set_answer(struct leat_sim_atm_admit_answer *why, enum leat_atm_cac_criterion criterion,
                       enum leat_sim_atm_admit_place place, uint32_t number, uint32_t victim)
{
    *why = (struct leat_sim_atm_admit_answer){ criterion, place, number, victim, 0, 0 };
}

static uint32_t flow_count(const struct admit *a)
{
    return 2 * a->config->connection_count;
}

/* Levels down to this one get `rate` after `latency` (atm_cac.h, service). */
static double access_wait(const struct admit *a, uint32_t port, unsigned level)
{
    const struct access *access = &a->access[port];
    const double g = 1 + 1.0 / a->config->port[port].w;
    double rate = 1, latency = 1, term = 1;
    for (unsigned below = level + 1; below < LEAT_ATM_LEVEL_COUNT; below++) {
        rate /= g;
        latency += term;
        term *= g;
    }
    const double busy = busy_time(&access->sum[level], rate, latency);
    const double promised = in_slots(a, leat_atm_cac_link_wait_ps(&access->link, level));
    return (busy < promised ? busy : promised) + GRAIN;
}

static bool reckon_access(struct admit *a, struct leat_sim_atm_admit_answer *why)
{
    for (uint32_t f = 0; f < flow_count(a); f++) {
        struct access *access = &a->access[a->flow[f].port];
        if (!a->flow[f].on) continue;
        access->load = 0;
        for (int level = 0; level < RESERVED_LEVELS; level++)
            access->sum[level] = (struct sum){ 0 };
    }
    for (uint32_t f = 0; f < flow_count(a); f++) {
        const struct flow *flow = &a->flow[f];
        if (!flow->on) continue;
        a->access[flow->port].load += flow->entry.mean.rate;
        for (unsigned level = flow->level; level < RESERVED_LEVELS; level++)
            add_flow(&a->access[flow->port].sum[level], &flow->entry, 0);
    }
    for (uint32_t f = 0; f < flow_count(a); f++) {
        struct flow *flow = &a->flow[f];
        const struct access *access = &a->access[flow->port];
        if (!flow->on) continue;
        flow->late = flow->gated ? 0 : access_wait(a, flow->port, flow->level);
        if (access->load > 1) {
            set_answer(why, LEAT_ATM_CAC_RATE, LEAT_SIM_AT_ACCESS, flow->port, f / 2);
            why->needed = (uint64_t)(access->load * (double)a->link_rate);
            why->available = a->link_rate;
            return false;
        }
    }
    return true;
}

static void add_up_stage(struct admit *a, uint32_t stage)
{
    for (uint32_t f = 0; f < flow_count(a); f++) {
        const struct flow *flow = &a->flow[f];
        if (!flow->on) continue;
        struct spd *spd = &a->spd[flow->spd[stage]];
        a->xpm[flow->xpm[stage]] = (struct xpm){ 0 };
        *spd = (struct spd){ .booked = spd->booked };
    }
    for (uint32_t f = 0; f < flow_count(a); f++) {
        const struct flow *flow = &a->flow[f];
        if (!flow->on || flow->entry.mean.rate <= 0) continue;
        struct xpm *xpm = &a->xpm[flow->xpm[stage]];
        struct spd *spd = &a->spd[flow->spd[stage]];
        if (!xpm->flows++) spd->inputs++;
        add_flow(&xpm->sum, &flow->entry, flow->late);
        add_flow(&spd->sum, &flow->entry, flow->late);
    }
}

/* The maximum number of cells in a crosspoint memory, and how long one of them waits. */
static double reckon_xpm(const struct xpm *xpm, const struct spd *spd, double *wait)
{
    const double n = spd->inputs, select = 1.0 / LEAT_ATM_CELL_LEN;
    const struct line own[3] = { xpm->sum.peak, xpm->sum.mean, { 1, 1 } };
    const struct line all[3] = { spd->sum.peak, spd->sum.mean, { n, n } };
    *wait = 0;
    if (spd->inputs <= 1) return 1; /* cells arrive no faster than they leave */
    const double in_turns = backlog(own, 1 / n, n + select), together = backlog(all, 1, 1 + select);
    const double cells = (in_turns < together ? in_turns : together) + GRAIN;
    const double busy = busy_time(&spd->sum, 1, 1 + select);
    const double turns = cells < 1e15 ? n * (double)(uint64_t)cells - 1 : 1e30;
    *wait = (busy < turns ? busy : turns) + GRAIN;
    return cells;
}

static bool reckon_stage(struct admit *a, uint32_t stage, struct leat_sim_atm_admit_answer *why)
{
    const uint32_t room = a->config->fabric.buffer_cells;
    add_up_stage(a, stage);
    for (uint32_t f = 0; f < flow_count(a); f++) {
        struct flow *flow = &a->flow[f];
        if (!flow->on) continue;
        const struct spd *spd = &a->spd[flow->spd[stage]];
        double wait;
        const double cells = reckon_xpm(&a->xpm[flow->xpm[stage]], spd, &wait);
        flow->late += wait;
        if (cells < room + 1.0 && spd->sum.mean.rate <= 1) continue;
        const bool rate = spd->sum.mean.rate >= 1 || cells > 1e15;
        set_answer(why, rate ? LEAT_ATM_CAC_RATE : LEAT_ATM_CAC_BUFFER, LEAT_SIM_AT_SPD,
                   flow->spd[stage], f / 2);
        why->needed = rate ? (uint64_t)(spd->sum.mean.rate * (double)a->link_rate)
                           : (uint64_t)cells;
        why->available = rate ? a->link_rate : room;
        return false;
    }
    return true;
}

static bool reckon_delays(struct admit *a, struct leat_sim_atm_admit_answer *why)
{
    const double fixed = 1 + (double)leat_atm_clos_idle_cycles(&a->config->fabric.net) /
                                 LEAT_ATM_CELL_LEN;
    for (uint32_t i = 0; i < a->config->connection_count; i++) {
        const struct flow *flow = &a->flow[2 * (size_t)i];
        const struct leat_atm_contract *contract = &a->config->connection[i].contract;
        if (!flow->on || flow->gated) continue;
        const leat_time ctd_ps = in_ps(a, fixed + flow->late), cdv_ps = in_ps(a, flow->late);
        a->out[i].ctd_ps = ctd_ps;
        a->out[i].cdv_ps = cdv_ps;
        const bool late = ctd_ps > contract->ctd_ps;
        if (!late && cdv_ps <= contract->cdv_ps) continue;
        set_answer(why, late ? LEAT_ATM_CAC_CTD : LEAT_ATM_CAC_CDV, LEAT_SIM_AT_END, 0, i);
        why->needed = late ? contract->ctd_ps : contract->cdv_ps;
        why->available = late ? ctd_ps : cdv_ps;
        return false;
    }
    return true;
}

static bool reckon(struct admit *a, struct leat_sim_atm_admit_answer *why)
{
    if (!reckon_access(a, why)) return false;
    for (uint32_t stage = 0; stage < a->config->fabric.net.stages; stage++)
        if (!reckon_stage(a, stage, why)) return false;
    return reckon_delays(a, why);
}

/* ---- one connection ------------------------------------------------------------------------- */

static bool is_best_effort(const struct leat_sim_atm_connection *c)
{
    return leat_atm_class_level(c->contract.class) >= LEAT_SIM_BEST_LEVEL;
}

static bool has_share(const struct leat_sim_atm_connection *c)
{
    return is_best_effort(c) || c->police == LEAT_SIM_ATM_POLICE_TAG;
}

static void route(const struct admit *a, struct flow *flow, uint32_t from, uint32_t to,
                  uint32_t path)
{
    const struct leat_atm_clos *net = &a->config->fabric.net;
    struct leat_atm_clos_hop hop[STAGES];
    uint32_t first = 0;
    leat_atm_clos_path(net, from, to, path, false, hop);
    flow->port = from;
    for (uint32_t s = 0; s < net->stages; s++) {
        const struct leat_atm_clos_stage *stage = &net->stage[s];
        const uint32_t input = leat_atm_clos_ppd_place(net, hop[s].ppd).port;
        flow->spd[s] = hop[s].spd;
        flow->xpm[s] = first + (hop[s].spd - stage->spd_first) * stage->inputs + input;
        first += stage->switch_count * stage->outputs * stage->inputs;
    }
}

/* The maximum time until the cell that a gate released has left its level: there is one of each
 * gate, between two of them pass W + 1 cells from above, and one from below in W. */
static leat_time gate_tau_ps(const struct admit *a, uint32_t port)
{
    const double w = a->config->port[port].w, gates = a->access[port].gates[ABR_LEVEL];
    return in_ps(a, gates * (w + 2) * (1 + 1 / w) + 3);
}

static void set_share(struct admit *a, uint32_t i, uint64_t share)
{
    const struct leat_sim_atm_connection *c = &a->config->connection[i];
    struct flow *flow = &a->flow[2 * (size_t)i];
    const struct sum none = { { 0, 0 }, { 0, 0 } };
    a->out[i].share = share;
    struct flow *own = is_best_effort(c) ? flow : flow + 1;
    own->entry = none;
    if (share) own->entry.peak = own->entry.mean = line_of(a, share, a->out[i].share_tau_ps);
    if (c->contract.class != LEAT_ATM_ABR) return;
    const uint64_t back = share / LEAT_SIM_BACK_DIVISOR;
    flow[1].entry = none;
    if (back) flow[1].entry.peak = flow[1].entry.mean = line_of(a, back, 0);
}

static void switch_on(struct admit *a, uint32_t i, uint32_t path, bool on)
{
    const struct leat_sim_atm_connection *c = &a->config->connection[i];
    struct flow *flow = &a->flow[2 * (size_t)i];
    const bool back = c->contract.class == LEAT_ATM_ABR;
    route(a, &flow[0], c->from, c->to, path);
    route(a, &flow[1], back ? c->to : c->from, back ? c->from : c->to, path);
    flow[0].level = flow[1].level = leat_atm_class_level(c->contract.class);
    flow[0].gated = flow[1].gated = is_best_effort(c);
    flow[0].on = on;
    flow[1].on = on && has_share(c) && c->contract.class != LEAT_ATM_UBR;
    if (!is_best_effort(c)) flow[0].entry = entry_of(a, &c->contract);
    a->out[i].path = path;
    a->out[i].share_tau_ps = back && c->contract.mcr ? gate_tau_ps(a, c->from) : 0;
    if (has_share(c)) set_share(a, i, back && on ? c->contract.mcr : 0);
}

/* The access links, by atm_cac: that of the source, and ABR's return path. */
static bool ask_access(struct admit *a, uint32_t i, struct leat_sim_atm_admit_answer *why)
{
    const struct leat_sim_atm_connection *c = &a->config->connection[i];
    struct leat_atm_contract asked[2] = { c->contract, c->contract };
    const uint32_t port[2] = { c->from, c->to };
    const int links = c->contract.class == LEAT_ATM_ABR ? 2 : 1;
    if (!is_best_effort(c)) asked[0].ctd_ps = asked[0].cdv_ps = LEAT_NEVER; /* of the whole path */
    asked[1].mcr /= LEAT_SIM_BACK_DIVISOR;
    for (int k = 0; k < links; k++) {
        struct leat_atm_cac_link *link = &a->access[port[k]].link;
        struct leat_atm_cac_answer answer;
        leat_sim_must(!leat_atm_cac_admit(&asked[k], &link, 1, &answer));
        if (answer.criterion == LEAT_ATM_CAC_ACCEPTED) continue;
        set_answer(why, answer.criterion, LEAT_SIM_AT_ACCESS, port[k], i);
        why->needed = answer.needed;
        why->available = answer.available;
        link = &a->access[port[0]].link;
        if (k > 0) leat_atm_cac_release(&asked[0], &link, 1);
        return false;
    }
    return true;
}

static void leave_access(struct admit *a, uint32_t i)
{
    const struct leat_sim_atm_connection *c = &a->config->connection[i];
    struct leat_atm_contract asked = c->contract;
    struct leat_atm_cac_link *link = &a->access[c->from].link;
    leat_atm_cac_release(&asked, &link, 1);
    if (asked.class != LEAT_ATM_ABR) return;
    asked.mcr /= LEAT_SIM_BACK_DIVISOR;
    link = &a->access[c->to].link;
    leat_atm_cac_release(&asked, &link, 1);
}

static double path_load(const struct admit *a, const struct leat_sim_atm_connection *c,
                        uint32_t path)
{
    struct flow way;
    double most = 0;
    route(a, &way, c->from, c->to, path);
    for (uint32_t s = 0; s < a->config->fabric.net.stages; s++)
        if (a->spd[way.spd[s]].booked > most) most = a->spd[way.spd[s]].booked;
    return most;
}

/* The least loaded path with more than `load`, or with `load` and a number above `path`. */
static bool next_path(const struct admit *a, const struct leat_sim_atm_connection *c, double *load,
                      uint32_t *path)
{
    double best_load = 0;
    uint32_t best = LEAT_SIM_PATH_ANY;
    for (uint32_t p = 0; p < a->config->fabric.net.paths; p++) {
        const double here = path_load(a, c, p);
        const bool tried = *path != LEAT_SIM_PATH_ANY &&
                           (here < *load || (here <= *load && p <= *path));
        if (tried || (best != LEAT_SIM_PATH_ANY && here >= best_load)) continue;
        best = p;
        best_load = here;
    }
    *path = best;
    *load = best_load;
    return best != LEAT_SIM_PATH_ANY;
}

static void book(struct admit *a, uint32_t i)
{
    for (uint32_t f = 2 * i; f < 2 * i + 2; f++)
        for (uint32_t s = 0; a->flow[f].on && s < a->config->fabric.net.stages; s++)
            a->spd[a->flow[f].spd[s]].booked +=
                a->flow[f].entry.mean.rate +
                (has_share(&a->config->connection[i]) ? 1.0 / MODEST_SHARE : 0);
}

static bool find_path(struct admit *a, uint32_t i)
{
    const struct leat_sim_atm_connection *c = &a->config->connection[i];
    struct leat_sim_atm_admit_answer why, *first = &a->out[i].why;
    uint32_t path = LEAT_SIM_PATH_ANY;
    double load = 0;
    if (c->path != LEAT_SIM_PATH_ANY) {
        switch_on(a, i, c->path, true);
        return reckon(a, first);
    }
    while (next_path(a, c, &load, &path)) {
        switch_on(a, i, path, true);
        if (reckon(a, &why)) return true;
        if (first->criterion == LEAT_ATM_CAC_ACCEPTED) *first = why; /* of the least loaded path */
    }
    return false;
}

static void ask(struct admit *a, uint32_t i)
{
    const struct leat_sim_atm_connection *c = &a->config->connection[i];
    struct leat_sim_atm_admission *out = &a->out[i];
    const uint32_t fallback = c->path != LEAT_SIM_PATH_ANY ? c->path : 0;
    *out = (struct leat_sim_atm_admission){ .path = fallback,
                                            .ctd_ps = LEAT_NEVER,
                                            .cdv_ps = LEAT_NEVER };
    if (ask_access(a, i, &out->why)) {
        out->admitted = find_path(a, i);
        if (!out->admitted) leave_access(a, i);
    }
    if (out->admitted) {
        out->why = (struct leat_sim_atm_admit_answer){ .criterion = LEAT_ATM_CAC_ACCEPTED };
        book(a, i);
        return;
    }
    switch_on(a, i, fallback, false);
    out->ctd_ps = out->cdv_ps = LEAT_NEVER;
    /* If admission is forced, best effort still uses its gate. */
    if (a->config->admit_all && is_best_effort(c)) {
        switch_on(a, i, fallback, true);
        set_share(a, i, 0);
    }
}

/* ---- shares --------------------------------------------------------------------------------- */

static uint64_t share_max(const struct admit *a, uint32_t i)
{
    const struct leat_sim_atm_connection *c = &a->config->connection[i];
    const uint64_t pcr = is_best_effort(c) ? c->contract.pcr : 0;
    return pcr && pcr < a->link_rate ? pcr : a->link_rate;
}

static bool may_grow(const struct admit *a, uint32_t i)
{
    return has_share(&a->config->connection[i]) && a->flow[2 * (size_t)i].on &&
           a->out[i].share < share_max(a, i);
}

static void grow(struct admit *a, uint32_t i, uint64_t step)
{
    const uint64_t most = share_max(a, i), share = a->out[i].share;
    set_share(a, i, most - share < step ? most : share + step);
}

/* All shares grow by a step, or none does: false. */
static bool grow_all(struct admit *a, uint64_t step, const bool *stuck, uint64_t *before)
{
    const uint32_t count = a->config->connection_count;
    struct leat_sim_atm_admit_answer why;
    bool grew = false;
    for (uint32_t i = 0; i < count; i++) {
        before[i] = a->out[i].share;
        if (stuck[i] || !may_grow(a, i)) continue;
        grow(a, i, step);
        grew = true;
    }
    if (!grew || reckon(a, &why)) return grew;
    for (uint32_t i = 0; i < count; i++)
        if (a->out[i].share != before[i]) set_share(a, i, before[i]);
    return false;
}

/* Each share that can grow grows by a step; the others are stuck. False: all are. */
static bool grow_each(struct admit *a, uint64_t step, bool *stuck)
{
    struct leat_sim_atm_admit_answer why;
    bool grew = false;
    for (uint32_t i = 0; i < a->config->connection_count; i++) {
        const uint64_t before = a->out[i].share;
        if (stuck[i] || !may_grow(a, i)) continue;
        grow(a, i, step);
        stuck[i] = !reckon(a, &why);
        if (stuck[i]) set_share(a, i, before);
        grew |= !stuck[i];
    }
    return grew;
}

static void give_shares(struct admit *a, bool *stuck, uint64_t *before)
{
    const uint64_t large = a->link_rate / SHARE_STEPS_COARSE,
                   small = a->link_rate / SHARE_STEPS_FINE;
    struct leat_sim_atm_admit_answer why;
    while (grow_all(a, large, stuck, before))
        continue;
    while (grow_all(a, small, stuck, before) || grow_each(a, small, stuck))
        continue;
    const bool sound = reckon(a, &why); /* the guarantees, with all shares */
    assert(sound);
    (void)sound;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static size_t lay_out(struct admit *a, void *memory, bool **stuck, uint64_t **before)
{
    const struct leat_atm_clos *net = &a->config->fabric.net;
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    size_t xpms = 0;
    for (uint32_t s = 0; s < net->stages; s++)
        xpms += (size_t)net->stage[s].switch_count * net->stage[s].inputs * net->stage[s].outputs;
    a->access = leat_arena_lay(&arena, net->ports, sizeof *a->access);
    a->xpm = leat_arena_lay(&arena, xpms, sizeof *a->xpm);
    a->spd = leat_arena_lay(&arena, net->spd_count, sizeof *a->spd);
    a->flow = leat_arena_lay(&arena, flow_count(a), sizeof *a->flow);
    *stuck = leat_arena_lay(&arena, a->config->connection_count, sizeof **stuck);
    *before = leat_arena_lay(&arena, a->config->connection_count, sizeof **before);
    return arena.used;
}

size_t leat_sim_atm_contracts_admit_footprint(const struct leat_sim_atm_contracts_config *config)
{
    struct admit a = { .config = config };
    bool *stuck;
    uint64_t *before;
    return lay_out(&a, NULL, &stuck, &before);
}

void leat_sim_atm_contracts_admit(const struct leat_sim_atm_contracts_config *config, void *memory,
                                  struct leat_sim_atm_admission *out)
{
    struct admit a = {
        .config = config,
        .out = out,
        .slot_ps = (double)config->fabric.period_ps_num / (double)config->fabric.period_ps_den *
                   LEAT_ATM_CELL_LEN,
        .link_rate = leat_sim_atm_contracts_link_rate(&config->fabric),
    };
    bool *stuck;
    uint64_t *before;
    assert(leat_sim_atm_contracts_check(config) == LEAT_ERR_OK);
    lay_out(&a, memory, &stuck, &before);
    for (uint32_t p = 0; p < config->fabric.net.ports; p++) {
        const struct leat_atm_cac_link_config link = {
            .capacity = a.link_rate, .queue = leat_sim_atm_contracts_queue(config, p)
        };
        leat_sim_must(!leat_atm_cac_link_init(&a.access[p].link, &link));
        count_gates(config, p, a.access[p].gates);
    }
    for (uint32_t i = 0; i < config->connection_count; i++)
        ask(&a, i);
    give_shares(&a, stuck, before);
}

/* ---- words ---------------------------------------------------------------------------------- */

static void put_value(struct leat_text *text, enum leat_atm_cac_criterion criterion, uint64_t value)
{
    static const struct {
        const char *unit;
        uint64_t divisor;
    } units[LEAT_ATM_CAC_CRITERION_COUNT] = {
        [LEAT_ATM_CAC_RATE] = { " cells/s", LEAT_ATM_RATE_UNIT },
        [LEAT_ATM_CAC_BUFFER] = { " cells", 1 },
        [LEAT_ATM_CAC_BURST] = { " cells", 1 },
        [LEAT_ATM_CAC_CONNECTIONS] = { "", 1 },
        [LEAT_ATM_CAC_CTD] = { " ns", 1000 },
        [LEAT_ATM_CAC_CDV] = { " ns", 1000 },
        [LEAT_ATM_CAC_CLR] = { " in 10^12", 1 },
    };
    if (value == LEAT_NEVER) {
        leat_text_puts(text, "nothing");
        return;
    }
    leat_text_decimal(text, value / units[criterion].divisor);
    leat_text_puts(text, units[criterion].unit);
}

void leat_sim_atm_admit_answer_text(const struct leat_sim_atm_admit_answer *answer,
                                    struct leat_text *text)
{
    static const char *const names[LEAT_ATM_CAC_CRITERION_COUNT] = {
        [LEAT_ATM_CAC_RATE] = "rate",   [LEAT_ATM_CAC_BUFFER] = "buffer",
        [LEAT_ATM_CAC_BURST] = "burst", [LEAT_ATM_CAC_CONNECTIONS] = "connections",
        [LEAT_ATM_CAC_CTD] = "CTD",     [LEAT_ATM_CAC_CDV] = "CDV",
        [LEAT_ATM_CAC_CLR] = "CLR",
    };
    static const char *const places[] = { [LEAT_SIM_AT_ACCESS] = "access link of port ",
                                          [LEAT_SIM_AT_SPD] = "SPD ",
                                          [LEAT_SIM_AT_END] = "the way" };
    if (answer->criterion == LEAT_ATM_CAC_ACCEPTED) {
        leat_text_puts(text, "accepted");
        return;
    }
    const bool wish = answer->criterion >= LEAT_ATM_CAC_CTD;
    leat_text_puts(text, places[answer->place]);
    if (answer->place != LEAT_SIM_AT_END) leat_text_decimal(text, answer->number);
    leat_text_puts(text, ": ");
    leat_text_puts(text, names[answer->criterion]);
    leat_text_puts(text, ": ");
    put_value(text, answer->criterion, answer->needed);
    leat_text_puts(text, wish ? " wanted, promised " : " needed, at most ");
    put_value(text, answer->criterion, answer->available);
}
