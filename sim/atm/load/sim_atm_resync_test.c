/*
 * Resynchronisation (proto/atm/README.md) in whole networks, compared with a plain record of
 * messages: each is read once and in order by each of its destinations, or its sender was notified
 * that it is abandoned. Random outages, losses and copies, both models, numbers that wrap.
 */
#include "sim_atm_load_stuck.h"
#include "sim_atm_traffic.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MAX = 16, OUTAGES = 6, LEN_MAX = 150 };

struct message {
    uint32_t to, len;
    uint64_t at;
    bool given_up;
    uint8_t delivered[PORTS_MAX];
};

struct world {
    struct leat_sim_atm_load load;
    void *memory;
    uint32_t messages; /* of each port */
    struct message *message;
    uint32_t drawn[PORTS_MAX];
    int64_t last[PORTS_MAX][PORTS_MAX][2]; /* from, to, kind: number read last */
    uint64_t late_at;                      /* messages read by and from a port from then on */
    uint32_t late[PORTS_MAX][2];
    uint64_t mistakes;
};

static struct message *message_of(struct world *w, uint32_t port, uint64_t number)
{
    return &w->message[(size_t)port * w->messages + number];
}

static bool next(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct world *w = context;
    if (w->drawn[port] == w->messages) return false;
    const struct message *m = message_of(w, port, w->drawn[port]++);
    *out = (struct leat_sim_message){ .at = m->at, .to = m->to, .len = m->len };
    return true;
}

static void delivered(void *context, const struct leat_sim_delivery *d, const uint8_t *octets,
                      uint32_t len)
{
    struct world *w = context;
    struct message *m = message_of(w, (uint32_t)d->source, d->number);
    const bool all = m->to == LEAT_SIM_ATM_TRAFFIC_ALL;
    int64_t *last = &w->last[d->source][d->destination][all];
    (void)octets;
    w->mistakes += m->delivered[d->destination]++ > 0;
    w->mistakes += len != m->len || (!all && m->to != d->destination);
    w->mistakes += (int64_t)d->number <= *last;
    *last = (int64_t)d->number;
    if (m->at < w->late_at) return;
    w->late[d->destination][0]++;
    w->late[d->source][1]++;
}

static void undeliverable(void *context, uint32_t port, uint32_t number, uint64_t at)
{
    struct world *w = context;
    (void)at;
    message_of(w, port, number)->given_up = true;
}

static uint32_t draw(struct leat_random *r, uint32_t least, uint32_t most)
{
    return least + (uint32_t)leat_random_below(r, most - least + 1);
}

static struct leat_sim_atm_load_config config_of(const char *fabric, enum leat_sim_atm_model model)
{
    struct leat_sim_atm_load_config config = { .model = model, .len_max = LEN_MAX, .next = next };
    struct leat_text why = LEAT_TEXT(128);
    if (leat_sim_atm_fabric_parse(fabric, &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    config.aal.resync = true;
    return config;
}

static struct world *new_world(const struct leat_sim_atm_load_config *config, uint32_t messages)
{
    struct world *w = calloc(1, sizeof *w);
    const uint32_t ports = config->fabric.net.ports;
    if (!w || ports > PORTS_MAX) abort();
    w->messages = messages;
    w->message = calloc((size_t)ports * messages, sizeof *w->message);
    if (!w->message) abort();
    memset(w->last, 0xff, sizeof w->last);
    w->late_at = UINT64_MAX;
    return w;
}

static void start(struct world *w, const struct leat_sim_atm_load_config *config)
{
    struct leat_sim_atm_load_config c = *config;
    c.next_context = w;
    c.watch.context = w;
    c.watch.delivered = delivered;
    c.watch.undeliverable = undeliverable;
    w->memory = calloc(1, leat_sim_atm_load_footprint(&c));
    if (!w->memory) abort();
    leat_sim_atm_load_init(&w->load, &c, w->memory);
}

static void end(struct world *w)
{
    free(w->memory);
    free(w->message);
    free(w);
}

/* As after a long run: the numbers of all streams start after this one. */
static void number_from(struct world *w, uint32_t base)
{
    const uint32_t ports = w->load.config.fabric.net.ports;
    for (uint32_t p = 0; p < ports; p++) {
        struct leat_atm_aal_unit *unit = &w->load.host[p].unit;
        unit->broadcast_number = base;
        for (uint32_t q = 0; q < ports; q++)
            unit->peer[q].number = unit->all_stream[q].received = unit->peer[q].stream.received =
                base;
    }
}

static bool has_parked(const struct world *w)
{
    const uint32_t ports = w->load.config.fabric.net.ports;
    for (uint32_t p = 0; p < ports * ports; p++) {
        const struct leat_atm_aal_unit *unit = &w->load.host[p / ports].unit;
        if (unit->all_stream[p % ports].parked_first || unit->peer[p % ports].stream.parked_first)
            return true;
    }
    return false;
}

enum end { DRAINED, LOCKED, NEITHER };

/* Until everything is over and every receiver knows what was abandoned; or the network is locked,
 * as that of the prototype may be: then its contents are neither read nor abandoned. */
static enum end drain(struct world *w, uint64_t last)
{
    bool quiet = false, was_quiet;
    do {
        if (w->load.sim.now > last) return NEITHER;
        if (!leat_sim_atm_load_run_watched(&w->load, w->load.sim.now + 5000)) return LOCKED;
        was_quiet = quiet;
        quiet = !leat_sim_atm_load_gaps(&w->load) && !has_parked(w) &&
                leat_sim_atm_load_is_quiet(&w->load);
    } while (!quiet || !was_quiet);
    return DRAINED;
}

struct account {
    uint64_t unread;    /* (message, port) that neither arrived nor was abandoned */
    uint64_t given_up;  /* messages */
    uint64_t both;      /* of these: nevertheless read by all */
    uint64_t delivered; /* (message, port) */
};

static struct account add_up(struct world *w)
{
    const uint32_t ports = w->load.config.fabric.net.ports;
    struct account a = { 0 };
    for (uint32_t p = 0; p < ports; p++)
        for (uint32_t i = 0; i < w->messages; i++) {
            const struct message *m = message_of(w, p, i);
            uint32_t missing = 0;
            for (uint32_t to = 0; to < ports; to++) {
                const bool wanted = m->to == LEAT_SIM_ATM_TRAFFIC_ALL || m->to == to;
                a.delivered += m->delivered[to];
                missing += wanted && !m->delivered[to];
            }
            a.unread += m->given_up ? 0 : missing;
            a.given_up += m->given_up;
            a.both += m->given_up && !missing;
        }
    return a;
}

static void check_account(struct world *w, enum end end)
{
    const struct account a = add_up(w);
    struct leat_atm_aal_counts units;
    leat_sim_atm_load_units(&w->load, &units);
    OK(end != NEITHER);
    EQ(w->mistakes, 0);
    if (end == DRAINED) EQ(a.unread + leat_sim_atm_load_gaps(&w->load), 0);
    EQ(units.given_up, a.given_up);
    EQ(w->load.counts.given_up_delivered, a.both);
    EQ(w->load.counts.messages_delivered, a.delivered);
    EQ(w->load.counts.duplicated + w->load.counts.altered + w->load.counts.unreadable, 0);
}

static void check_same(const struct world *a, const struct world *b)
{
    struct leat_atm_aal_counts of[2];
    leat_sim_atm_load_units(&a->load, &of[0]);
    leat_sim_atm_load_units(&b->load, &of[1]);
    EQ(leat_sim_certificate_value(&a->load.certificate),
       leat_sim_certificate_value(&b->load.certificate));
    OK(memcmp(&of[0], &of[1], sizeof of[0]) == 0);
    OK(memcmp(&a->load.counts, &b->load.counts, sizeof a->load.counts) == 0);
}

/* ---- random cases ---------------------------------------------------------------------------- */

struct plan {
    const char *fabric;
    uint64_t seed;
    uint32_t base, messages, gap, broadcast_percent, len_max;
    struct leat_atm_aal_config aal; /* of these: */
    struct leat_sim_atm_line_config line;
    struct leat_sim_atm_line_outage outage[OUTAGES];
};

static struct plan draw_plan(struct leat_random *r)
{
    static const char *const fabrics[] = { "bmx:2", "bmx:4", "clos:2,3,2",
                                           "clos:2,3,3/switching=vc" };
    static const uint32_t bases[] = { 0, 65535, LEAT_ATM_TASK_SEQUENCE_MAX };
    struct plan p = { .fabric = fabrics[draw(r, 0, 3)] };
    p.seed = leat_random_next(r);
    const uint32_t base = bases[draw(r, 0, 2)];
    p.base = (base - draw(r, 0, 12)) & LEAT_ATM_TASK_SEQUENCE_MAX;
    p.messages = draw(r, 10, 60);
    p.gap = draw(r, 200, 3000);
    p.broadcast_percent = draw(r, 0, 1) ? draw(r, 0, 40) : 0;
    p.len_max = draw(r, 0, 1) ? 16 : LEN_MAX;
    p.aal.retransmit_cycles = draw(r, 400, 3000);
    p.aal.transmissions_max = draw(r, 1, 4);
    p.aal.descriptors = draw(r, 1, 32);
    p.aal.obsolete_cycles = draw(r, 20000, 30000);
    p.line.seed = leat_random_next(r);
    p.line.lose = draw(r, 0, 2) ? draw(r, 0, 100000000) : 0;
    p.line.duplicate = draw(r, 0, 2) ? 0 : draw(r, 0, 100000000);
    p.line.outage_count = draw(r, 0, OUTAGES);
    return p;
}

/* Some of several messages at once, so that acknowledgements come late. */
static void draw_messages(struct world *w, const struct plan *p, uint32_t ports)
{
    struct leat_random r;
    leat_random_seed(&r, p->seed);
    for (uint32_t port = 0; port < ports; port++) {
        uint64_t at = 0;
        for (uint32_t i = 0; i < p->messages; i++) {
            struct message *m = message_of(w, port, i);
            const bool all = draw(&r, 1, 100) <= p->broadcast_percent;
            at += draw(&r, 0, 3) ? draw(&r, 0, 2 * p->gap) : 0;
            m->at = at;
            m->to = all ? LEAT_SIM_ATM_TRAFFIC_ALL : draw(&r, 0, ports - 1);
            m->len = draw(&r, 0, p->len_max);
        }
    }
}

static void draw_outages(struct leat_random *r, struct plan *p, uint32_t ports)
{
    for (uint32_t i = 0; i < p->line.outage_count; i++) {
        const uint64_t from = draw(r, 0, p->messages * p->gap);
        const uint32_t port = draw(r, 0, ports - 1);
        const uint64_t to = from + draw(r, 1, 60000);
        p->outage[i] = (struct leat_sim_atm_line_outage){ .port = port, .from = from, .to = to };
    }
}

static struct world *begin(struct plan *p, enum leat_sim_atm_model model, struct leat_random *r)
{
    struct leat_sim_atm_load_config config = config_of(p->fabric, model);
    const uint32_t ports = config.fabric.net.ports;
    if (r) draw_outages(r, p, ports);
    config.aal.retransmit_cycles = p->aal.retransmit_cycles;
    config.aal.transmissions_max = p->aal.transmissions_max;
    config.aal.descriptors = p->aal.descriptors;
    config.aal.obsolete_cycles = p->aal.obsolete_cycles;
    config.line = p->line;
    config.line.outage = p->outage;
    struct world *w = new_world(&config, p->messages);
    draw_messages(w, p, ports);
    start(w, &config);
    number_from(w, p->base);
    return w;
}

static void print_plan(const struct plan *p)
{
    printf("# %s seed %llu base %u messages %u gap %u broadcast %u len %u retransmit %u "
           "transmissions %u descriptors %u obsolete %u line seed %llu lose %u duplicate %u "
           "outages %u\n",
           p->fabric, (unsigned long long)p->seed, p->base, p->messages, p->gap,
           p->broadcast_percent, p->len_max, p->aal.retransmit_cycles, p->aal.transmissions_max,
           p->aal.descriptors, p->aal.obsolete_cycles, (unsigned long long)p->line.seed,
           p->line.lose, p->line.duplicate, p->line.outage_count);
}

static void every_message_is_read_once_or_reported_as_given_up(void)
{
    const uint64_t patience = 30000000;
    const int cases = 20 + LEAT_ROUNDS / 10000;
    struct leat_atm_aal_counts sum = { 0 };
    int locked = 0;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < cases; i++) {
        const int failed = tap_checks_failed;
        struct plan plan = draw_plan(&r);
        struct world *cell = begin(&plan, LEAT_SIM_ATM_CELL, &r);
        struct world *rtl = i % 8 ? NULL : begin(&plan, LEAT_SIM_ATM_RTL, NULL);
        struct leat_atm_aal_counts units;
        const enum end how = drain(cell, patience);
        check_account(cell, how);
        locked += how == LOCKED;
        leat_sim_atm_load_units(&cell->load, &units);
        sum.given_up += units.given_up;
        sum.resynchronised += units.resynchronised;
        sum.cut_short += units.cut_short;
        if (rtl) {
            leat_sim_atm_load_run(&rtl->load, cell->load.sim.now - 1);
            check_same(cell, rtl);
            end(rtl);
        }
        end(cell);
        if (tap_checks_failed != failed) print_plan(&plan);
        if (tap_checks_failed > 9) return;
    }
    printf("# %d networks of %d locked; %llu messages given up, %llu streams resynchronised, %llu "
           "messages cut short\n",
           locked, cases, (unsigned long long)sum.given_up, (unsigned long long)sum.resynchronised,
           (unsigned long long)sum.cut_short);
    OK(locked <= cases / 10);
    if (cases >= 100) OK(sum.given_up > 0 && sum.resynchronised > 0 && sum.cut_short > 0);
}

/* Nothing is lost, but acknowledgements come later than the last time-out: hosts in strides, hosts
 * without strides, a run in pieces and registers all do the same. */
static void it_is_the_same_in_strides_in_pieces_and_in_registers(void)
{
    const int cases = 4 + LEAT_ROUNDS / 50000;
    uint64_t given_up = 0, strides = 0;
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (int i = 0; i < cases; i++) {
        struct plan plan = draw_plan(&r);
        const int failed = tap_checks_failed;
        plan.line = (struct leat_sim_atm_line_config){ .seed = 1 };
        plan.gap = draw(&r, 100, 300);
        plan.aal.retransmit_cycles = draw(&r, 150, 600);
        plan.aal.transmissions_max = draw(&r, 1, 2);
        struct world *w[4];
        for (int k = 0; k < 4; k++)
            w[k] = begin(&plan, k == 3 ? LEAT_SIM_ATM_RTL : LEAT_SIM_ATM_CELL, NULL);
        check_account(w[0], drain(w[0], 30000000));
        const uint64_t last = w[0]->load.sim.now - 1;
        leat_sim_atm_load_be_prompt(&w[1]->load);
        leat_sim_atm_load_run(&w[1]->load, last);
        while (w[2]->load.sim.now <= last) {
            const uint64_t to = w[2]->load.sim.now + draw(&r, 0, 3000);
            leat_sim_atm_load_run(&w[2]->load, to < last ? to : last);
        }
        leat_sim_atm_load_run(&w[3]->load, last);
        struct leat_atm_aal_counts units;
        leat_sim_atm_load_units(&w[0]->load, &units);
        given_up += units.given_up;
        strides += w[0]->load.sim.counts.strides;
        for (int k = 1; k < 4; k++)
            check_same(w[0], w[k]);
        for (int k = 0; k < 4; k++)
            end(w[k]);
        if (tap_checks_failed != failed) print_plan(&plan);
        if (tap_checks_failed > 9) return;
    }
    if (cases >= 20) OK(given_up > 0 && strides > 0);
}

/* ---- single scenes --------------------------------------------------------------------------- */

/* The third cell of port 0 never arrives. */
static void damage_third(void *context, uint32_t port, enum leat_sim_atm_line_direction direction,
                         const uint8_t *cell, uint8_t mask[LEAT_ATM_CELL_LEN])
{
    enum { TYPE_AT = 6, NUMBER_AT = 10, DATA_AT = 20 };
    (void)context;
    const bool third = cell[TYPE_AT] == LEAT_ATM_TASK_MESSAGE && cell[NUMBER_AT] == 3;
    if (port == 0 && direction == LEAT_SIM_ATM_LINE_TO_NETWORK && third) mask[DATA_AT] = 1;
}

/* Of five cells two were received; later messages are not affected. */
static void a_message_that_lost_a_cell_is_dropped_as_a_whole(void)
{
    for (int model = 0; model < 2; model++) {
        struct leat_sim_atm_load_config config = config_of("bmx:2", (enum leat_sim_atm_model)model);
        struct leat_atm_aal_counts units;
        config.aal.retransmit_cycles = 2000;
        config.aal.transmissions_max = 3;
        config.line.damage = damage_third;
        struct world *w = new_world(&config, 4);
        for (uint32_t k = 0; k < 4; k++) {
            *message_of(w, 0, k) = (struct message){ .to = 1, .len = k ? 16 : LEN_MAX };
            *message_of(w, 1, k) = (struct message){ .to = 0, .len = 16 };
        }
        start(w, &config);
        check_account(w, drain(w, 100000));
        leat_sim_atm_load_units(&w->load, &units);
        EQ(units.given_up, 1);
        EQ(units.undeliverable, 1);
        EQ(units.cut_short, 1);
        EQ(units.resynchronised, 1);
        EQ(message_of(w, 0, 0)->delivered[1], 0);
        for (uint32_t k = 1; k < 4; k++)
            EQ(message_of(w, 0, k)->delivered[1], 1);
        EQ(leat_atm_aal_unit_room(&w->load.host[1].unit) < LEAT_ATM_AAL_BLOCKS, 1); /* read ones */
        leat_sim_atm_load_run(&w->load, w->load.sim.now + LEAT_ATM_AAL_OBSOLETE);
        EQ(leat_atm_aal_unit_room(&w->load.host[1].unit), LEAT_ATM_AAL_BLOCKS);
        end(w);
    }
}

/* Port 1 is away while port 0 abandons more numbers than 16 bits have: its numbers pass the one
 * that the receiver waits for. */
static void an_outage_may_last_longer_than_the_numbers_of_the_prototype(void)
{
    enum { MESSAGES = 66000, AWAY = 65500 };
    struct leat_sim_atm_line_outage outage = { .port = 1, .from = 0 };
    struct leat_sim_atm_load_config config = config_of("bmx:2", LEAT_SIM_ATM_CELL);
    config.aal.retransmit_cycles = 1000;
    config.aal.transmissions_max = 1;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    config.len_max = 0;
    for (int i = 0; i < 3; i++) {
        const uint64_t cycles = 110;
        outage.to = cycles * (AWAY + 60 * (uint64_t)i);
        struct world *w = new_world(&config, MESSAGES);
        for (uint32_t k = 0; k < MESSAGES; k++) {
            *message_of(w, 0, k) = (struct message){ .at = k * cycles, .to = 1 };
            message_of(w, 1, k)->given_up = true; /* is not sent */
        }
        w->drawn[1] = MESSAGES;
        start(w, &config);
        EQ(drain(w, 3 * outage.to), DRAINED);
        const struct account a = add_up(w);
        EQ(w->mistakes, 0);
        EQ(a.unread, 0);
        OK(a.given_up > MESSAGES + AWAY - 100 && a.both == 0);
        EQ(a.delivered, 2 * MESSAGES - a.given_up);
        end(w);
    }
}

/* `leat sim clos444 --load 0.05 --cycles 400000 --dead 3@50000..150000 --retransmit 5000` */
static void a_port_comes_back_after_cells_were_given_up(void)
{
    const struct leat_sim_atm_line_outage outage = { .port = 3, .from = 50000, .to = 150000 };
    for (int resync = 0; resync < 2; resync++) {
        struct leat_sim_atm_load_config config = config_of("clos444", LEAT_SIM_ATM_CELL);
        struct leat_random r;
        config.aal.resync = resync;
        config.aal.retransmit_cycles = 5000;
        config.line.outage = &outage;
        config.line.outage_count = 1;
        struct world *w = new_world(&config, 400);
        leat_random_seed(&r, 1);
        for (uint32_t port = 0; port < 16; port++) {
            uint64_t at = 0;
            for (uint32_t k = 0; k < 400; k++) {
                at += draw(&r, 0, 2000);
                *message_of(w, port, k) =
                    (struct message){ .at = at, .to = (port + draw(&r, 1, 15)) % 16, .len = 16 };
            }
        }
        w->late_at = 160000;
        start(w, &config);
        leat_sim_atm_load_run(&w->load, 450000);
        const struct account a = add_up(w);
        EQ(w->mistakes, 0);
        OK(a.given_up > 0);
        if (resync) {
            EQ(a.unread, 0);
            OK(w->late[3][0] > 100 && w->late[3][1] > 100);
            EQ(leat_sim_atm_load_gaps(&w->load), 0);
        } else { /* the prototype */
            EQ(w->late[3][0], 0);
            EQ(w->late[3][1], 0);
            EQ(leat_sim_atm_load_gaps(&w->load), 30); /* to all others, and from them */
        }
        end(w);
    }
}

/* RESYNC for a port that never returns is sent more and more rarely. */
static void a_port_that_is_gone_for_good_costs_little(void)
{
    const struct leat_sim_atm_line_outage outage = { .port = 1, .from = 0, .to = LEAT_NEVER };
    struct leat_sim_atm_load_config config = config_of("bmx:4", LEAT_SIM_ATM_CELL);
    config.aal.retransmit_cycles = 1000;
    config.line.outage = &outage;
    config.line.outage_count = 1;
    struct world *w = new_world(&config, 2);
    struct leat_atm_aal_counts units;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t port = 0; port < 4; port++)
            *message_of(w, port, k) = (struct message){ .to = port == 0 ? 1 : port, .len = 4 };
    start(w, &config);
    leat_sim_atm_load_run(&w->load, 10000000);
    leat_sim_atm_load_units(&w->load, &units);
    EQ(units.given_up, 4); /* two of port 0, and two of port 1 to itself */
    EQ(leat_sim_atm_load_gaps(&w->load), 2);
    OK(units.resyncs_sent > 2 * 10 && units.resyncs_sent < 2 * 20);
    EQ(add_up(w).unread, 0);
    end(w);
}

/* ---- locked networks ------------------------------------------------------------------------- */

/* Port 0 is offered more than it can read. */
static void a_network_that_locks_is_reported_in_the_same_cycle_by_both_models(void)
{
    uint64_t ended[2], certificate[2];
    for (int model = 0; model < 2; model++) {
        struct leat_sim_atm_load_config config = config_of("bmx:4", (enum leat_sim_atm_model)model);
        config.aal.send_blocks = config.aal.receive_blocks = 40;
        config.aal.obsolete_cycles = 5000;
        struct world *w = new_world(&config, 2000);
        for (uint32_t port = 0; port < 4; port++)
            for (uint32_t k = 0; k < 2000; k++)
                *message_of(w, port, k) =
                    (struct message){ .at = 60 * k, .to = k % 2 ? 0 : (port + 1) % 4, .len = 16 };
        start(w, &config);
        uint64_t since = 0, until = 0;
        bool goes = true;
        while (goes && until < 3000000) { /* in pieces, which make no difference */
            until += model ? 777 : 123456;
            goes = leat_sim_atm_load_run_watched(&w->load, until);
        }
        OK(!goes);
        OK(!leat_sim_atm_load_inspect(&w->load)); /* it has just been inspected */
        uint32_t locked = 0;
        for (uint32_t port = 0; port < 4; port++)
            locked += leat_sim_atm_load_is_locked(&w->load, port, &since);
        OK(locked > 0);
        OK(w->load.sim.now > w->load.last_delivery_at + leat_sim_atm_load_patience(&w->load));
        ended[model] = w->load.sim.now;
        certificate[model] = leat_sim_certificate_value(&w->load.certificate);
        /* The report is true: whatever is retransmitted, nothing is read any more. */
        const uint64_t read = w->load.counts.messages_delivered;
        if (model == LEAT_SIM_ATM_CELL) leat_sim_atm_load_run(&w->load, w->load.sim.now + 5000000);
        EQ(w->load.counts.messages_delivered, read);
        end(w);
    }
    EQ(ended[0], ended[1]);
    EQ(certificate[0], certificate[1]);
}

/* Long messages from each port to the next one, which has few descriptors: cells are parked. */
static struct world *begin_round(const struct leat_sim_atm_line_outage *outage, uint32_t messages)
{
    struct leat_sim_atm_load_config config = config_of("bmx:4", LEAT_SIM_ATM_CELL);
    config.aal.descriptors = 2;
    config.line.outage = outage;
    config.line.outage_count = outage ? 1 : 0;
    struct world *w = new_world(&config, messages);
    for (uint32_t port = 0; port < 4; port++)
        for (uint32_t k = 0; k < messages; k++)
            *message_of(w, port, k) =
                (struct message){ .at = 100 * k, .to = (port + 1) % 4, .len = LEN_MAX };
    start(w, &config);
    return w;
}

/* A cell was lost; when it is retransmitted, the buffers that wait for it are full of later
 * ones. */
static void ports_that_lock_while_others_go_on_are_reported(void)
{
    const struct leat_sim_atm_line_outage outage = { .port = 0, .from = 1000, .to = 500000 };
    struct world *w = begin_round(&outage, 300);
    uint64_t since, moved[2];
    OK(leat_sim_atm_load_run_watched(&w->load, 2000000));
    for (uint32_t port = 0; port < 4; port++)
        EQ(leat_sim_atm_load_is_locked(&w->load, port, &since), port < 2);
    for (uint32_t port = 0; port < 2; port++)
        moved[port] = w->load.host[port].moved;
    OK(leat_sim_atm_load_run_watched(&w->load, 6000000));
    for (uint32_t port = 0; port < 2; port++)
        EQ(w->load.host[port].moved, moved[port]);
    end(w);
}

/* Saturated, with ports that are full now and then, or that all wait for a timer: this is not a
 * lock. */
static void what_only_waits_is_not_called_locked(void)
{
    const struct leat_sim_atm_line_outage outage = { .port = 0, .from = 1000, .to = 500000 };
    for (int i = 0; i < 2; i++) {
        struct world *w = begin_round(i ? &outage : NULL, i ? 100 : 300);
        uint64_t since;
        OK(leat_sim_atm_load_run_watched(&w->load, 2000000));
        for (uint32_t port = 0; port < 4; port++)
            OK(!leat_sim_atm_load_is_locked(&w->load, port, &since));
        end(w);
    }
}

TAP_MAIN(T(every_message_is_read_once_or_reported_as_given_up),
         T(it_is_the_same_in_strides_in_pieces_and_in_registers),
         T(a_message_that_lost_a_cell_is_dropped_as_a_whole),
         T(an_outage_may_last_longer_than_the_numbers_of_the_prototype),
         T(a_port_comes_back_after_cells_were_given_up),
         T(a_port_that_is_gone_for_good_costs_little),
         T(a_network_that_locks_is_reported_in_the_same_cycle_by_both_models),
         T(ports_that_lock_while_others_go_on_are_reported),
         T(what_only_waits_is_not_called_locked))
