#include "sim_atm_contracts.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include "sim_refuse.h"
#include <assert.h>
#include <string.h>

enum { CELL_LEN = LEAT_ATM_CELL_LEN, NONE = UINT16_MAX };
enum { CONNECTION_AT = 5, NUMBER_AT = 9, ENTERED_AT = 17, FILL_AT = 25 };
enum {
    SILENCE = 20,       /* random sources pause up to so many intervals, */
    SILENCE_ODDS = 4,   /* after one cell in so many */
    TOGETHER = 1 << 16, /* cycles: greedy sources start a new burst at multiples of it, */
    REST_ONE_IN = 4,    /* after a rest of at most this fraction of their time */
};

/* A cell that waits or is being sent. */
struct held {
    uint64_t number, entered; /* cycle */
    struct leat_atm_rm rm;
    uint16_t connection;
    bool is_rm, back, clp, used;
    uint32_t next_free; /* handle + 1 */
};

/* Best effort waits here; one cell at a time enters the queue of the port. */
struct gate {
    struct leat_atm_queue *queue;
    struct leat_atm_gcra rule;
    struct leat_atm_gcra_schedule state;
    bool open;             /* it has a share */
    bool waiting;          /* its cell is in the queue of the port */
    uint16_t next_at_port; /* gate, NONE: the last */
};

struct connection {
    /* source */
    struct leat_atm_shaper plan; /* the rules of conforming sources */
    struct leat_random random;
    struct leat_atm_abr_source abr;
    uint64_t source_at; /* cycle of the next cell */
    uint64_t wish;      /* ABR: cycle from which it has a cell */
    leat_time next_ps;  /* EXCESS */
    /* access */
    struct leat_atm_shaper shaper;
    uint32_t shaped; /* cells in the shaper */
    uint64_t leaves_at;
    struct leat_atm_policer policer;
    struct leat_atm_gcra tag_rule;
    struct leat_atm_gcra_schedule tag_state;
    uint64_t number;
    uint64_t first_at; /* cycle of the first cell */
    struct leat_atm_abr_destination destination;
    uint16_t next_at_port;
    struct leat_sim_atm_contract_counts counts;
};

struct port {
    struct leat_atm_queue *queue;
    uint64_t free_at; /* the line */
    uint16_t first_connection, first_gate;
    uint32_t waiting;       /* cells in the queue */
    uint8_t cell[CELL_LEN]; /* the last one sent, in case it is refused */
};

struct leat_sim_atm_contracts {
    struct leat_sim_atm_contracts_config config;
    struct leat_sim_clock clock;
    struct leat_sim_atm sim;
    struct leat_sim_certificate certificate;
    struct leat_sim_atm_admission *admission;
    struct connection *connection;
    struct gate *gate; /* 2 per connection: its own, and the return path's */
    struct port *port;
    struct held *held;
    uint32_t held_count, held_used, first_free;
};

/* ---- time ----------------------------------------------------------------------------------- */

static leat_time edge(const struct leat_sim_atm_contracts *s, uint64_t cycle)
{
    leat_time at;
    return leat_sim_clock_edge(&s->clock, cycle, &at) ? LEAT_NEVER : at;
}

uint64_t leat_sim_atm_contracts_cycles_max(const struct leat_sim_atm_fabric *fabric)
{
    const struct leat_sim_clock clock = { fabric->period_ps_num, fabric->period_ps_den };
    return leat_sim_clock_last(&clock, LEAT_SIM_ATM_CONTRACTS_PS_MAX);
}

/* The first cycle in which a cell that reaches the shaper in cycle `now` conforms. Conformance is
 * tested at that edge, so that the output conforms to the picosecond. */
static uint64_t conforming_cycle(const struct leat_sim_atm_contracts *s,
                                 struct leat_atm_shaper *shaper, uint64_t now)
{
    struct leat_atm_shaper copy = *shaper;
    const leat_time now_ps = edge(s, now);
    if (now_ps == LEAT_NEVER) return LEAT_NEVER;
    const uint64_t cycle = leat_sim_clock_cycle_from(&s->clock,
                                                     leat_atm_shaper_decide(&copy, now_ps));
    const leat_time at = cycle == LEAT_NEVER ? LEAT_NEVER : edge(s, cycle);
    if (at == LEAT_NEVER) return LEAT_NEVER;
    const uint64_t left = leat_atm_shaper_decide(shaper, at);
    assert(left == at);
    (void)left;
    return cycle;
}

/* ---- cells ---------------------------------------------------------------------------------- */

static uint32_t hold(struct leat_sim_atm_contracts *s, const struct held *cell)
{
    uint32_t handle;
    if (s->first_free) {
        handle = s->first_free - 1;
        s->first_free = s->held[handle].next_free;
    } else {
        assert(s->held_used < s->held_count);
        handle = s->held_used++;
    }
    s->held[handle] = *cell;
    s->held[handle].used = true;
    return handle;
}

static void let_go(struct leat_sim_atm_contracts *s, uint32_t handle)
{
    s->held[handle].used = false;
    s->held[handle].next_free = s->first_free;
    s->first_free = handle + 1;
}

static void write_cell(const struct leat_sim_atm_contracts *s, const struct held *held, uint8_t pt,
                       uint8_t *cell)
{
    enum { FLAGS_AT = 3 };
    const struct leat_atm_clos *net = &s->config.fabric.net;
    const struct leat_sim_atm_connection *c = &s->config.connection[held->connection];
    const uint32_t label = leat_atm_clos_access(net, held->back ? c->from : c->to,
                                                s->admission[held->connection].path);
    memset(cell, LEAT_ATM_FILL, CELL_LEN);
    memset(cell, 0, LEAT_ATM_HEADER_LEN);
    leat_atm_label_put(cell, net->header_octets, label);
    cell[FLAGS_AT] = (uint8_t)(cell[FLAGS_AT] | pt << 1 | held->clp);
    if (held->is_rm) {
        leat_sim_must(
            !leat_atm_rm_encode(&held->rm, cell + LEAT_ATM_HEADER_LEN, LEAT_ATM_PAYLOAD_LEN));
        return;
    }
    leat_put_be32(cell + CONNECTION_AT, held->connection);
    leat_put_be64(cell + NUMBER_AT, held->number);
    leat_put_be64(cell + ENTERED_AT, held->entered);
}

/* ---- the port ------------------------------------------------------------------------------- */

static struct gate *gate_of(struct leat_sim_atm_contracts *s, const struct held *cell)
{
    return &s->gate[2 * (size_t)cell->connection + cell->back];
}

static unsigned level_of(const struct leat_sim_atm_contracts *s, uint32_t connection)
{
    return leat_atm_class_level(s->config.connection[connection].contract.class);
}

/* Queues a cell: at the port, or for best effort. */
static bool put(struct leat_sim_atm_contracts *s, uint32_t port, const struct held *cell)
{
    struct gate *gate = gate_of(s, cell);
    const struct leat_atm_queue_item item = {
        .handle = hold(s, cell),
        .level = (uint8_t)(gate->queue ? 0 : level_of(s, cell->connection)),
        .clp = cell->clp,
    };
    if (!leat_atm_queue_put(gate->queue ? gate->queue : s->port[port].queue, item)) {
        let_go(s, item.handle);
        return false;
    }
    if (!gate->queue) s->port[port].waiting++;
    return true;
}

static bool gate_wants(const struct gate *gate)
{
    return gate->open && !gate->waiting && leat_atm_queue_len(gate->queue, 0) > 0;
}

/* Gates whose share allows a cell release it into the queue of the port. */
static void open_gates(struct leat_sim_atm_contracts *s, uint32_t p, uint64_t now)
{
    struct port *port = &s->port[p];
    for (uint16_t g = port->first_gate; g != NONE; g = s->gate[g].next_at_port) {
        struct gate *gate = &s->gate[g];
        struct leat_atm_queue_item item;
        const leat_time now_ps = edge(s, now);
        if (!gate_wants(gate)) continue;
        if (leat_atm_gcra_schedule_due(&gate->rule, &gate->state, now_ps) > now_ps) continue;
        leat_atm_queue_take(gate->queue, &item);
        item.level = (uint8_t)level_of(s, g / 2);
        /* It has room for a cell of each gate. */
        leat_sim_must(leat_atm_queue_put(port->queue, item));
        gate->waiting = true;
        port->waiting++;
    }
}

/* note, 3.3: data cells that meet a long queue are marked. */
static uint8_t payload_type(struct leat_sim_atm_contracts *s, uint32_t port,
                            const struct held *cell)
{
    const struct gate *gate = gate_of(s, cell);
    if (cell->is_rm) return LEAT_ATM_PT_RM;
    if (!gate->queue || leat_atm_queue_len(gate->queue, 0) < s->config.port[port].efci_cells)
        return 0;
    s->connection[cell->connection].counts.marked++;
    return LEAT_ATM_PT_EFCI;
}

static void serve(struct leat_sim_atm_contracts *s, uint32_t p, uint64_t now)
{
    struct port *port = &s->port[p];
    struct leat_atm_queue_item item;
    open_gates(s, p, now);
    if (port->free_at > now || !leat_atm_queue_take(port->queue, &item)) return;
    const struct held *held = &s->held[item.handle];
    struct gate *gate = gate_of(s, held);
    if (gate->queue) {
        leat_atm_gcra_schedule_take(&gate->rule, &gate->state, edge(s, now));
        gate->waiting = false;
    }
    write_cell(s, held, payload_type(s, p, held), port->cell);
    let_go(s, item.handle);
    port->waiting--;
    port->free_at = now + CELL_LEN;
    leat_sim_atm_send(&s->sim, p, port->cell, now);
}

/* ---- sources -------------------------------------------------------------------------------- */

static bool follows_rm_cells(const struct leat_sim_atm_connection *c)
{
    return c->contract.class == LEAT_ATM_ABR && c->source != LEAT_SIM_ATM_SOURCE_EXCESS;
}

/* When a conforming source wants to send next, regardless of the contract. A greedy one always
 * does; it rests only to have its full burst again at the same time as all others. */
static uint64_t wish_from(struct leat_sim_atm_contracts *s, uint32_t i, uint64_t now)
{
    const struct leat_sim_atm_connection *c = &s->config.connection[i];
    struct connection *k = &s->connection[i];
    const struct leat_atm_rules *rules = &k->plan.rules;
    if (c->source == LEAT_SIM_ATM_SOURCE_RANDOM) {
        if (leat_random_below(&k->random, SILENCE_ODDS)) return now;
        const uint64_t interval = leat_sim_clock_cycle_from(&s->clock, rules->rule[0].t);
        return leat_time_add(now, leat_random_below(&k->random, SILENCE * interval + 1));
    }
    if (leat_atm_class_level(c->contract.class) >= LEAT_SIM_BEST_LEVEL)
        return now; /* best effort needs no rest */
    uint64_t refill = 0;
    for (unsigned r = 0; r < rules->count; r++) {
        const uint64_t cycles = leat_sim_clock_cycle_from(&s->clock,
                                                          rules->rule[r].t + rules->rule[r].tau);
        if (cycles > refill) refill = cycles;
    }
    const uint64_t period = (refill / (TOGETHER / REST_ONE_IN) + 1) * TOGETHER;
    const uint64_t anew = (now / period + 1) * period;
    return now + refill < anew ? now : anew;
}

static void plan_abr(struct leat_sim_atm_contracts *s, struct connection *k, uint64_t from)
{
    const uint64_t wish = k->wish > from ? k->wish : from;
    k->source_at = leat_sim_clock_cycle_from(&s->clock,
                                             leat_atm_abr_source_due(&k->abr, edge(s, wish)));
}

/* After a cell in cycle `now`. */
static void plan_next(struct leat_sim_atm_contracts *s, uint32_t i, uint64_t now)
{
    const struct leat_sim_atm_connection *c = &s->config.connection[i];
    struct connection *k = &s->connection[i];
    if (c->source == LEAT_SIM_ATM_SOURCE_EXCESS) {
        const leat_time t = k->plan.rules.rule[0].t;
        const leat_time step = t / c->excess_percent * 100 +
                               t % c->excess_percent * 100 / c->excess_percent;
        k->next_ps = leat_time_add(k->next_ps, step ? step : 1);
        k->source_at = leat_sim_clock_cycle_from(&s->clock, k->next_ps);
        return;
    }
    k->wish = wish_from(s, i, now);
    if (follows_rm_cells(c))
        plan_abr(s, k, now);
    else
        k->source_at = conforming_cycle(s, &k->plan, k->wish);
}

static void enter_data(struct leat_sim_atm_contracts *s, uint32_t i, uint64_t now)
{
    const struct leat_sim_atm_connection *c = &s->config.connection[i];
    struct connection *k = &s->connection[i];
    struct held cell = { .number = k->number++, .entered = now, .connection = (uint16_t)i };
    if (c->police != LEAT_SIM_ATM_POLICE_OFF) {
        const leat_time now_ps = edge(s, now);
        enum leat_atm_verdict verdict = leat_atm_policer_decide(&k->policer, now_ps, false);
        cell.clp = verdict == LEAT_ATM_TAG;
        /* A tagged cell passes at the share of the remaining capacity. */
        if (cell.clp && (!s->admission[i].share ||
                         !leat_atm_gcra_schedule_decide(&k->tag_rule, &k->tag_state, now_ps)))
            verdict = LEAT_ATM_DROP;
        if (verdict == LEAT_ATM_DROP) {
            k->counts.dropped++;
            return;
        }
    }
    if (cell.clp)
        k->counts.tagged++;
    else
        k->counts.entered++;
    if (put(s, c->from, &cell)) return;
    if (cell.clp)
        k->counts.tagged_lost++;
    else
        k->counts.lost++;
}

/* One cell of an ABR source: data, or an RM cell. */
static void enter_abr(struct leat_sim_atm_contracts *s, uint32_t i, uint64_t now)
{
    const struct leat_sim_atm_connection *c = &s->config.connection[i];
    struct connection *k = &s->connection[i];
    struct held cell = { .entered = now, .connection = (uint16_t)i, .is_rm = true };
    if (!leat_atm_abr_source_send(&k->abr, edge(s, now), &cell.rm)) {
        enter_data(s, i, now);
        return;
    }
    cell.rm.ql = i;
    cell.number = k->number++;
    k->counts.entered++;
    k->counts.rm_sent++;
    if (put(s, c->from, &cell)) return;
    k->counts.lost++;
    k->counts.rm_lost++;
}

static void source_sends(struct leat_sim_atm_contracts *s, uint32_t i, uint64_t now)
{
    const struct leat_sim_atm_connection *c = &s->config.connection[i];
    struct connection *k = &s->connection[i];
    if (!k->counts.sent++) k->first_at = now;
    if (follows_rm_cells(c)) {
        enter_abr(s, i, now);
    } else if (!c->shape || !k->shaper.rules.count) {
        enter_data(s, i, now);
    } else if (k->shaped == LEAT_SIM_ATM_SHAPER_CELLS) {
        k->counts.shaper_lost++;
    } else if (!k->shaped++) {
        k->leaves_at = conforming_cycle(s, &k->shaper, now);
    }
    plan_next(s, i, now);
}

static void run_connection(struct leat_sim_atm_contracts *s, uint32_t i, uint64_t now)
{
    struct connection *k = &s->connection[i];
    while (k->source_at <= now)
        source_sends(s, i, now);
    while (k->shaped && k->leaves_at <= now) {
        k->shaped--;
        enter_data(s, i, now);
        if (k->shaped) k->leaves_at = conforming_cycle(s, &k->shaper, now);
    }
}

/* ---- what the network asks of a host -------------------------------------------------------- */

/* Wakes the port in the first cycle from `from` on in which it has something to do. */
static void wake(struct leat_sim_atm_contracts *s, uint32_t p, uint64_t from)
{
    const struct port *port = &s->port[p];
    uint64_t at = port->waiting ? port->free_at : LEAT_NEVER;
    for (uint16_t i = port->first_connection; i != NONE; i = s->connection[i].next_at_port) {
        const struct connection *k = &s->connection[i];
        if (k->source_at < at) at = k->source_at;
        if (k->shaped && k->leaves_at < at) at = k->leaves_at;
    }
    for (uint16_t g = port->first_gate; g != NONE; g = s->gate[g].next_at_port) {
        const struct gate *gate = &s->gate[g];
        if (!gate_wants(gate)) continue;
        const uint64_t due = leat_sim_clock_cycle_from(
            &s->clock, leat_atm_gcra_schedule_due(&gate->rule, &gate->state, edge(s, from)));
        if (due < at) at = due;
    }
    leat_sim_atm_wake(&s->sim, p, at < from ? from : at);
}

static void act(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_contracts *s = context;
    for (uint16_t i = s->port[port].first_connection; i != NONE; i = s->connection[i].next_at_port)
        run_connection(s, i, now);
    serve(s, port, now);
    wake(s, port, now + 1);
}

/* Only if connections were forced: no memory of an admitted set is ever full. */
static void refused(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_contracts *s = context;
    s->port[port].free_at = now + 1 + CELL_LEN;
    leat_sim_atm_send(&s->sim, port, s->port[port].cell, now + 1);
    wake(s, port, now);
}

static uint32_t room(void *context, uint32_t port)
{
    (void)context;
    (void)port;
    return UINT32_MAX;
}

static void certify(struct leat_sim_atm_contracts *s, uint32_t port, uint32_t i, uint64_t number,
                    const uint8_t *cell, uint64_t now)
{
    const struct leat_sim_delivery d = {
        .at = now,
        .source = i,
        .destination = port,
        .number = number,
        .payload_hash = leat_sim_payload_hash(cell, CELL_LEN),
    };
    leat_sim_certificate_add(&s->certificate, &d);
}

static void deliver_rm(struct leat_sim_atm_contracts *s, uint32_t port, const uint8_t *cell,
                       uint64_t now)
{
    struct leat_atm_rm rm;
    struct held back = { .entered = now, .is_rm = true, .back = true };
    leat_sim_must(!leat_atm_rm_decode(cell + LEAT_ATM_HEADER_LEN, LEAT_ATM_PAYLOAD_LEN, &rm, NULL));
    struct connection *k = &s->connection[rm.ql];
    certify(s, port, rm.ql, rm.sn, cell, now);
    if (leat_atm_abr_source_receive(&k->abr, &rm) == LEAT_ERR_OK) {
        k->counts.rm_returned++;
        plan_abr(s, k, now + 1);
    } else {
        k->counts.delivered++;
        back.connection = (uint16_t)rm.ql;
        leat_atm_abr_destination_turn(&k->destination, &rm, &back.rm);
        if (!put(s, port, &back)) k->counts.rm_lost++;
    }
    wake(s, port, now + 1);
}

static void measure(struct leat_sim_atm_contract_counts *counts, leat_time delay_ps)
{
    if (!counts->ctd_count++ || delay_ps < counts->ctd_ps_min) counts->ctd_ps_min = delay_ps;
    if (delay_ps > counts->ctd_ps_max) counts->ctd_ps_max = delay_ps;
    counts->ctd_ps_sum = leat_time_add(counts->ctd_ps_sum, delay_ps);
}

static void deliver(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    enum { FLAGS_AT = 3, PT_MASK = 7 };
    struct leat_sim_atm_contracts *s = context;
    const uint8_t pt = cell[FLAGS_AT] >> 1 & PT_MASK;
    if (pt == LEAT_ATM_PT_RM) {
        deliver_rm(s, port, cell, now);
        return;
    }
    const uint32_t i = leat_get_be32(cell + CONNECTION_AT);
    struct connection *k = &s->connection[i];
    assert(i < s->config.connection_count);
    certify(s, port, i, leat_get_be64(cell + NUMBER_AT), cell, now);
    leat_atm_abr_destination_data(&k->destination, pt);
    if (cell[FLAGS_AT] & 1) {
        k->counts.tagged_delivered++;
        return;
    }
    k->counts.delivered++;
    measure(&k->counts, edge(s, now + 1) - edge(s, leat_get_be64(cell + ENTERED_AT)));
}

/* ---- set-up --------------------------------------------------------------------------------- */

static bool has_gate(const struct leat_sim_atm_connection *c, bool back)
{
    const unsigned level = leat_atm_class_level(c->contract.class);
    return back ? c->contract.class == LEAT_ATM_ABR : level >= LEAT_SIM_BEST_LEVEL;
}

static struct leat_atm_queue_config gate_queue(const struct leat_sim_atm_contracts_config *config,
                                               const struct leat_sim_atm_connection *c, bool back)
{
    const uint32_t cells = back ? LEAT_SIM_BACK_CELLS : config->port[c->from].best_cells;
    return (struct leat_atm_queue_config){ .level_count = 1,
                                           .w = 1,
                                           .level = { { .capacity = cells, .threshold = cells } } };
}

static struct leat_atm_queue *lay_queue(struct leat_arena *arena,
                                        const struct leat_atm_queue_config *config, uint32_t *cells)
{
    const size_t len = leat_atm_queue_footprint(config);
    struct leat_atm_queue *queue = NULL;
    void *memory = leat_arena_lay(arena, 1, len);
    for (uint32_t level = 0; level < config->level_count; level++)
        *cells += config->level[level].capacity;
    if (memory) {
        leat_sim_must(!leat_atm_queue_init(memory, len, config, &queue));
    }
    return queue;
}

static size_t lay_out(struct leat_sim_atm_contracts *s,
                      const struct leat_sim_atm_contracts_config *config,
                      enum leat_sim_atm_model model, struct leat_arena *arena, void **network,
                      void **scratch)
{
    const uint32_t ports = config->fabric.net.ports, count = config->connection_count;
    uint32_t cells = 1; /* in flight to a queue that may be full */
    s->admission = leat_arena_lay(arena, count, sizeof *s->admission);
    s->connection = leat_arena_lay(arena, count, sizeof *s->connection);
    s->gate = leat_arena_lay(arena, 2 * (size_t)count, sizeof *s->gate);
    s->port = leat_arena_lay(arena, ports, sizeof *s->port);
    for (uint32_t p = 0; p < ports; p++) {
        const struct leat_atm_queue_config shape = leat_sim_atm_contracts_queue(config, p);
        struct leat_atm_queue *queue = lay_queue(arena, &shape, &cells);
        if (queue) s->port[p].queue = queue;
    }
    for (uint32_t g = 0; g < 2 * count; g++) {
        const struct leat_sim_atm_connection *c = &config->connection[g / 2];
        if (!has_gate(c, g % 2)) continue;
        const struct leat_atm_queue_config shape = gate_queue(config, c, g % 2);
        struct leat_atm_queue *queue = lay_queue(arena, &shape, &cells);
        if (queue) s->gate[g].queue = queue;
    }
    s->held_count = cells;
    s->held = leat_arena_lay(arena, cells, sizeof *s->held);
    *network = leat_arena_lay(arena, 1, leat_sim_atm_footprint(&config->fabric, model));
    *scratch = leat_arena_lay(arena, 1, leat_sim_atm_contracts_admit_footprint(config));
    return arena->used;
}

size_t leat_sim_atm_contracts_footprint(const struct leat_sim_atm_contracts_config *config,
                                        enum leat_sim_atm_model model)
{
    struct leat_sim_atm_contracts s;
    struct leat_arena arena = { 0 };
    void *network, *scratch;
    leat_arena_lay(&arena, 1, sizeof s);
    return lay_out(&s, config, model, &arena, &network, &scratch);
}

static void init_gate(struct leat_sim_atm_contracts *s, uint32_t g)
{
    struct gate *gate = &s->gate[g];
    const struct leat_sim_atm_connection *c = &s->config.connection[g / 2];
    const bool back = g % 2;
    const uint64_t share = s->admission[g / 2].share / (back ? LEAT_SIM_BACK_DIVISOR : 1);
    struct port *port = &s->port[back ? c->to : c->from];
    gate->next_at_port = NONE;
    if (!gate->queue) return;
    gate->open = share > 0;
    gate->rule.t = share ? leat_atm_rate_interval_ps(share) : 1;
    gate->rule.tau = back ? 0 : s->admission[g / 2].share_tau_ps;
    gate->next_at_port = port->first_gate;
    port->first_gate = (uint16_t)g;
}

/* The rules of a source; UBR has no contract, but no source is faster than its line. */
static struct leat_atm_rules source_rules(const struct leat_sim_atm_contracts *s,
                                          const struct leat_atm_contract *contract)
{
    struct leat_atm_rules rules;
    leat_sim_must(!leat_atm_contract_rules(contract, &rules));
    if (rules.count) return rules;
    const uint64_t link_rate = leat_sim_atm_contracts_link_rate(&s->config.fabric);
    rules.count = 1;
    rules.rule[0].t = leat_atm_rate_interval_ps(contract->pcr ? contract->pcr : link_rate);
    rules.rule[0].tau = 0;
    return rules;
}

static void init_abr(struct connection *k, const struct leat_atm_contract *contract)
{
    const struct leat_atm_abr_config abr = {
        .pcr = contract->pcr,
        .mcr = contract->mcr,
        .icr = contract->pcr / LEAT_ATM_ABR_RIF,
        .rdf = LEAT_ATM_ABR_RDF,
        .rif = LEAT_ATM_ABR_RIF,
        .nrm = LEAT_ATM_ABR_NRM,
    };
    leat_sim_must(!leat_atm_abr_source_init(&k->abr, &abr));
}

static void init_connection(struct leat_sim_atm_contracts *s, uint32_t i, uint64_t seed)
{
    const struct leat_sim_atm_connection *c = &s->config.connection[i];
    struct connection *k = &s->connection[i];
    struct leat_atm_rules rules;
    leat_err err = leat_atm_contract_rules(&c->contract, &rules);
    const struct leat_atm_rules plan = source_rules(s, &c->contract);
    if (!err) err = leat_atm_shaper_init(&k->shaper, &rules);
    if (!err)
        err = leat_atm_policer_init(&k->policer, &rules,
                                    c->police == LEAT_SIM_ATM_POLICE_TAG ? LEAT_ATM_POLICE_TAG
                                                                         : LEAT_ATM_POLICE_DROP);
    if (!err) err = leat_atm_shaper_init(&k->plan, &plan);
    assert(!err);
    if (c->contract.class == LEAT_ATM_ABR) init_abr(k, &c->contract);
    if (s->admission[i].share)
        k->tag_rule =
            (struct leat_atm_gcra){ .t = leat_atm_rate_interval_ps(s->admission[i].share) };
    leat_random_seed_entity(&k->random, seed, i);
    k->next_at_port = s->port[c->from].first_connection;
    s->port[c->from].first_connection = (uint16_t)i;
    k->source_at = LEAT_NEVER;
    if (!s->admission[i].admitted && !s->config.admit_all) return;
    if (c->source == LEAT_SIM_ATM_SOURCE_EXCESS)
        k->source_at = 0;
    else if (follows_rm_cells(c))
        plan_abr(s, k, k->wish = wish_from(s, i, 0));
    else
        k->source_at = conforming_cycle(s, &k->plan, wish_from(s, i, 0));
}

struct leat_sim_atm_contracts *
leat_sim_atm_contracts_init(const struct leat_sim_atm_contracts_config *config,
                            enum leat_sim_atm_model model, uint64_t seed, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    struct leat_sim_atm_contracts *s = leat_arena_lay(&arena, 1, sizeof *s);
    const struct leat_sim_atm_host host = { s, refused, act, room, deliver, NULL };
    const uint32_t ports = config->fabric.net.ports;
    void *network, *scratch;
    *s = (struct leat_sim_atm_contracts){ .config = *config };
    lay_out(s, config, model, &arena, &network, &scratch);
    leat_sim_must(!leat_sim_clock_init(&s->clock, config->fabric.period_ps_num,
                                       config->fabric.period_ps_den));
    leat_sim_atm_contracts_admit(config, scratch, s->admission);
    leat_sim_atm_init(&s->sim, &config->fabric, model, &host, network);
    leat_sim_certificate_init(&s->certificate);
    for (uint32_t p = 0; p < ports; p++)
        s->port[p].first_connection = s->port[p].first_gate = NONE;
    for (uint32_t i = config->connection_count; i-- > 0;) {
        init_connection(s, i, seed);
        init_gate(s, 2 * i + 1);
        init_gate(s, 2 * i);
    }
    for (uint32_t p = 0; p < ports; p++)
        wake(s, p, 0);
    return s;
}

void leat_sim_atm_contracts_run(struct leat_sim_atm_contracts *contracts, uint64_t until)
{
    assert(until <= leat_sim_atm_contracts_cycles_max(&contracts->config.fabric));
    leat_sim_atm_run(&contracts->sim, until);
}

/* ---- results -------------------------------------------------------------------------------- */

const struct leat_sim_atm_admission *
leat_sim_atm_contracts_admission(const struct leat_sim_atm_contracts *contracts,
                                 uint32_t connection)
{
    return &contracts->admission[connection];
}

uint64_t leat_sim_atm_contracts_certificate(const struct leat_sim_atm_contracts *contracts)
{
    return leat_sim_certificate_value(&contracts->certificate);
}

const struct leat_sim_atm *
leat_sim_atm_contracts_network(const struct leat_sim_atm_contracts *contracts)
{
    return &contracts->sim;
}

/* How long the oldest cell of a connection with CLP 0 has waited in the queues of its port. */
static leat_time oldest_wait_ps(const struct leat_sim_atm_contracts *s, uint32_t connection)
{
    uint64_t oldest = s->sim.now;
    for (uint32_t h = 0; h < s->held_used; h++) {
        const struct held *held = &s->held[h];
        if (held->used && held->connection == connection && !held->clp && !held->is_rm &&
            held->entered < oldest)
            oldest = held->entered;
    }
    return edge(s, s->sim.now) - edge(s, oldest);
}

/* ABR: all that it sent, or MCR from its first cell on, except for what may be in flight. */
static bool mcr_is_kept(const struct leat_sim_atm_contracts *s, uint32_t i)
{
    const struct leat_atm_contract *contract = &s->config.connection[i].contract;
    const struct connection *k = &s->connection[i];
    if (contract->class != LEAT_ATM_ABR || !k->counts.lost) return true;
    const leat_time t = leat_atm_rate_interval_ps(contract->mcr);
    const leat_time span_ps = edge(s, s->sim.now) - edge(s, k->first_at);
    const leat_time way_ps = leat_time_add(k->counts.ctd_ps_min, s->admission[i].share_tau_ps);
    return t == LEAT_NEVER || span_ps < way_ps || k->counts.delivered + 1 >= (span_ps - way_ps) / t;
}

void leat_sim_atm_contracts_result(const struct leat_sim_atm_contracts *contracts,
                                   uint32_t connection, struct leat_sim_atm_contract_result *out)
{
    const struct leat_atm_contract *contract = &contracts->config.connection[connection].contract;
    const struct connection *k = &contracts->connection[connection];
    const struct leat_sim_atm_contract_counts *n = &k->counts;
    const double seconds = (double)edge(contracts, contracts->sim.now) / (double)LEAT_ATM_SECOND_PS;
    const leat_time waited_ps = oldest_wait_ps(contracts, connection);
    *out = (struct leat_sim_atm_contract_result){ .counts = *n };
    out->clr = n->entered ? (double)n->lost / (double)n->entered : 0;
    out->ctd_mean_ps = n->ctd_count ? (double)n->ctd_ps_sum / (double)n->ctd_count : 0;
    out->throughput = seconds > 0 ? (double)n->delivered / seconds : 0;
    out->ctd_ps = n->ctd_ps_max > waited_ps ? n->ctd_ps_max : waited_ps;
    out->cdv_ps = n->ctd_count && out->ctd_ps > n->ctd_ps_min ? out->ctd_ps - n->ctd_ps_min : 0;
    out->acr = contract->class == LEAT_ATM_ABR ? k->abr.acr : 0;
    out->clr_kept = out->clr <= (double)contract->clr_e12 / (double)LEAT_ATM_CLR_ONE;
    out->ctd_kept = out->ctd_ps <= contract->ctd_ps;
    out->cdv_kept = out->cdv_ps <= contract->cdv_ps;
    out->mcr_kept = mcr_is_kept(contracts, connection);
    out->kept = out->clr_kept && out->ctd_kept && out->cdv_kept && out->mcr_kept;
}
