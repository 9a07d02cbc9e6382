/* Which cells faults take, and which way the others go, held to plain models. That both models take
 * the same cells in the same cycles is tested with strides and parts. */
#include "sim_atm_faults_test.h"
#include "leat_bytes.h"
#include "net_plan.h"
#include <math.h>
#include <string.h>

enum {
    CELL = LEAT_ATM_CELL_LEN,
    PORTS_MAX = 16,
    SWITCHES_MAX = 16,
    APART = 400, /* cycles between cells that do not meet */
};

/* ---- hosts that send cells of a list --------------------------------------------------------- */

static struct scene {
    struct leat_sim_atm_fabric fabric;
    struct leat_sim_atm sim;
    struct faults_bench faults;
    void *memory;
    uint32_t label[PORTS_MAX]; /* that a port sends next; UINT32_MAX: random */
    uint32_t left[PORTS_MAX];  /* cells */
    uint32_t apart;            /* cycles from one to the next */
    uint8_t cell[PORTS_MAX][CELL];
    struct leat_random random[PORTS_MAX];
    uint64_t sent, got_count;
    uint64_t got; /* ports, a bit each */
} s;

static void act(void *context, uint32_t port, uint64_t now)
{
    uint32_t label = s.label[port];
    (void)context;
    if (!s.left[port]) return;
    s.left[port]--;
    if (label == UINT32_MAX)
        label = (uint32_t)leat_random_below(&s.random[port],
                                            s.fabric.net.ports * s.fabric.net.paths);
    memset(s.cell[port], 0, CELL);
    leat_atm_label_put(s.cell[port], s.fabric.net.header_octets, label);
    s.sent++;
    leat_sim_atm_send(&s.sim, port, s.cell[port], now);
    leat_sim_atm_wake(&s.sim, port, now + s.apart);
}

static void refused(void *context, uint32_t port, uint64_t now)
{
    (void)context;
    leat_sim_atm_send(&s.sim, port, s.cell[port], now + 1);
    leat_sim_atm_wake(&s.sim, port, now + 1 + s.apart);
}

static uint32_t room(void *context, uint32_t port)
{
    (void)context;
    (void)port;
    return 4;
}

static void deliver(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    (void)context;
    (void)cell;
    (void)now;
    s.got |= UINT64_C(1) << port;
    s.got_count++;
}

/* Faults are added before open(). */
static void begin(const char *name, uint64_t seed)
{
    struct leat_text why = LEAT_TEXT(256);
    memset(&s, 0, sizeof s);
    EQ(leat_sim_atm_fabric_parse(name, &s.fabric, &why), LEAT_ERR_OK);
    faults_begin(&s.faults, &s.fabric.net, seed);
    s.apart = APART;
}

static void open(enum leat_sim_atm_model model)
{
    const struct leat_sim_atm_host host = {
        .refused = refused, .act = act, .room = room, .deliver = deliver
    };
    s.fabric.faults = &s.faults.faults;
    s.memory = calloc(1, leat_sim_atm_footprint(&s.fabric, model));
    if (!s.memory) abort();
    leat_sim_atm_init(&s.sim, &s.fabric, model, &host, s.memory);
}

static void end(void)
{
    free(s.memory);
    free(s.faults.memory);
}

static uint64_t lost_for(enum leat_net_fate why)
{
    struct leat_sim_atm_losses losses;
    leat_sim_atm_losses(&s.sim, &losses);
    return losses.cells[why];
}

/* One cell through a network that is otherwise empty. */
static void send_one(uint32_t port, uint32_t label)
{
    s.got = 0;
    s.label[port] = label;
    s.left[port] = 1;
    leat_sim_atm_wake(&s.sim, port, s.sim.now);
    leat_sim_atm_run(&s.sim, s.sim.now + APART);
}

/* ---- a plain model of a broken Clos network -------------------------------------------------- */

static struct plain {
    uint32_t e, m, r;
    bool dead[SWITCHES_MAX], dead_port[PORTS_MAX], broken[SWITCHES_MAX][SWITCHES_MAX];
} plain;

static void break_link(uint32_t a, uint32_t b)
{
    char text[32];
    snprintf(text, sizeof text, "link:%u-%u", a, b);
    faults_add(&s.faults, text);
    plain.broken[a][b] = true;
}

static void kill(const char *kind, uint32_t number, bool *dead)
{
    char text[32];
    snprintf(text, sizeof text, "%s:%u", kind, number);
    faults_add(&s.faults, text);
    dead[number] = true;
}

static void break_some(struct leat_random *r)
{
    const struct leat_atm_clos *net = &s.fabric.net;
    plain = (struct plain){ .e = net->e, .m = net->m, .r = net->r };
    for (uint32_t side = 0; side < net->r; side++)
        for (uint32_t middle = net->r; middle < net->r + net->m; middle++) {
            if (leat_random_below(r, 3) == 0) break_link(side, middle);
            if (leat_random_below(r, 3) == 0) break_link(middle, net->r + net->m + side);
        }
    if (leat_random_below(r, 2))
        kill("switch", (uint32_t)leat_random_below(r, net->switch_count), plain.dead);
    if (leat_random_below(r, 2))
        kill("port", (uint32_t)leat_random_below(r, net->ports), plain.dead_port);
}

static bool leads(uint32_t a, uint32_t b)
{
    return !plain.broken[a][b] && !plain.dead[a] && !plain.dead[b];
}

static bool is_alive(uint32_t port)
{
    const uint32_t side = port / plain.e;
    return !plain.dead_port[port] && !plain.dead[side] && !plain.dead[plain.r + plain.m + side];
}

/* The last switches that a cell reaches by one middle switch, a bit each. */
static uint32_t reached_by(uint32_t from, uint32_t middle)
{
    uint32_t reached = 0;
    for (uint32_t side = 0; side < plain.r; side++)
        if (leads(from / plain.e, plain.r + middle) &&
            leads(plain.r + middle, plain.r + plain.m + side))
            reached |= UINT32_C(1) << side;
    return reached;
}

static bool has_way(uint32_t from, uint32_t to)
{
    for (uint32_t middle = 0; middle < plain.m; middle++)
        if (reached_by(from, middle) >> to / plain.e & 1) return true;
    return false;
}

static uint32_t bits_in(uint32_t bits)
{
    uint32_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

/* Is it what a cell to all brings by one of the middle switches that reach most? */
static bool is_best(uint32_t from, uint64_t got)
{
    uint32_t most = 0;
    bool found = false;
    for (uint32_t middle = 0; middle < plain.m; middle++) {
        const uint32_t count = bits_in(reached_by(from, middle));
        if (count > most) most = count;
    }
    for (uint32_t middle = 0; middle < plain.m; middle++) {
        const uint32_t reached = reached_by(from, middle);
        uint64_t ports = 0;
        for (uint32_t p = 0; p < plain.e * plain.r; p++)
            if (reached >> p / plain.e & 1 && is_alive(p)) ports |= UINT64_C(1) << p;
        found |= bits_in(reached) == most && got == (is_alive(from) ? ports : 0);
    }
    return found;
}

static void check_pair(uint32_t from, uint32_t to, uint32_t path)
{
    const uint64_t cut = lost_for(LEAT_NET_CUT), no_way = lost_for(LEAT_NET_NO_WAY);
    const bool goes = is_alive(from) && has_way(from, to);
    send_one(from, leat_atm_clos_access(&s.fabric.net, to, path));
    EQ(s.got, goes && is_alive(to) ? UINT64_C(1) << to : 0);
    EQ(lost_for(LEAT_NET_NO_WAY) - no_way, is_alive(from) && !goes);
    EQ(lost_for(LEAT_NET_CUT) - cut, !is_alive(from) || (goes && !is_alive(to)));
}

static void a_cell_arrives_exactly_where_some_middle_switch_is_left(void)
{
    static const char *const names[] = { "clos:2,3,3", "clos:3,4,2/switching=vc", "clos:1,1,2" };
    uint64_t arrived = 0, rerouted = 0;
    for (uint64_t i = 0; i < 24; i++) {
        struct leat_random r;
        struct leat_sim_atm_losses losses;
        leat_random_seed_entity(&r, tap_seed(), i);
        begin(names[i % 3], i);
        break_some(&r);
        open(i % 2 ? LEAT_SIM_ATM_RTL : LEAT_SIM_ATM_CELL);
        const struct leat_atm_clos *net = &s.fabric.net;
        for (uint32_t from = 0; from < net->ports; from++) {
            for (uint32_t to = 0; to < net->ports; to++)
                for (uint32_t path = 0; path < net->paths; path++)
                    check_pair(from, to, path);
            send_one(from, leat_atm_clos_access(net, net->ports, 0));
            OK(is_best(from, s.got));
        }
        leat_sim_atm_losses(&s.sim, &losses);
        rerouted += losses.rerouted;
        arrived += s.got_count;
        end();
    }
    OK(arrived > 100 && rerouted > 100);
}

/* ---- networks under load --------------------------------------------------------------------- */

/* All faults have ended; the run goes on until the network is empty. */
static void every_cell_arrives_or_is_counted_as_lost(void)
{
    enum { CYCLES = 20000, CELLS = 300 };
    uint64_t lost = 0;
    for (uint64_t i = 0; i < 12; i++) {
        struct leat_random r;
        struct leat_sim_atm_losses losses;
        leat_random_seed_entity(&r, tap_seed(), i);
        begin(i % 3 ? "clos:4,4,4/buffer=2" : "bmx:8/buffer=1", i);
        for (int k = 0; k < 5; k++)
            faults_draw(&s.faults, &r, &s.fabric.net, CYCLES);
        open(i % 4 ? LEAT_SIM_ATM_CELL : LEAT_SIM_ATM_RTL);
        s.apart = CELL + (uint32_t)leat_random_below(&r, 30);
        for (uint32_t p = 0; p < s.fabric.net.ports; p++) {
            leat_random_seed_entity(&s.random[p], i, p);
            s.label[p] = UINT32_MAX;
            s.left[p] = CELLS;
            leat_sim_atm_wake(&s.sim, p, p);
        }
        leat_sim_atm_run(&s.sim, 4 * CYCLES);
        leat_sim_atm_losses(&s.sim, &losses);
        EQ(s.sent, CELLS * s.fabric.net.ports);
        EQ(s.got_count + leat_sim_atm_losses_sum(&losses), s.sent);
        EQ(s.got_count, s.sim.counts.cells_out);
        lost += leat_sim_atm_losses_sum(&losses);
        end();
    }
    OK(lost > 100);
}

/* With one middle switch dead from the beginning, the others carry everything. */
static void the_middle_switches_that_are_left_share_what_was_its(void)
{
    begin("clos:4,4,4", 1);
    faults_add(&s.faults, "switch:5");
    open(LEAT_SIM_ATM_CELL);
    const struct leat_atm_clos *net = &s.fabric.net;
    for (uint32_t from = 0; from < net->ports; from++)
        for (uint32_t to = 0; to < net->ports; to++)
            send_one(from, leat_atm_clos_access(net, to, 1));
    EQ(s.got_count, 256);
    for (uint32_t middle = 0; middle < 4; middle++) {
        uint64_t carried = 0;
        for (uint32_t side = 0; side < 4; side++)
            carried += leat_sim_atm_link_cells(&s.sim, net->stage[1].ppd_first + 4 * middle + side);
        if (middle == 1)
            EQ(carried, 0);
        else
            OK(carried > 60 && carried < 110);
    }
    end();
}

/* A cell crosses three wires between switches and to its port. */
static void bits_are_damaged_as_often_as_they_should(void)
{
    enum { CELLS = 4000 };
    const double sound = pow(1 - 2e-4, 8 * CELL), arrive = sound * sound * sound;
    begin("clos444", 7);
    faults_add(&s.faults, "ber:2e-4");
    open(LEAT_SIM_ATM_CELL);
    s.apart = CELL;
    s.label[3] = leat_atm_clos_access(&s.fabric.net, 9, 2);
    s.left[3] = CELLS;
    leat_sim_atm_wake(&s.sim, 3, 1);
    leat_sim_atm_run(&s.sim, (CELLS + 10) * CELL);
    EQ(s.got_count + lost_for(LEAT_NET_CORRUPTED), CELLS);
    OK(fabs((double)s.got_count / CELLS - arrive) <
       5 * sqrt(arrive * (1 - arrive) / (double)CELLS));
    end();
}

/* ---- other switches -------------------------------------------------------------------------- */

struct graph_memory {
    struct leat_sim_atm_graph graph;
    void *routing;
};

static void begin_graph(const char *name, struct graph_memory *m)
{
    struct leat_net_plan plan;
    struct leat_text why = LEAT_TEXT(256);
    memset(&s, 0, sizeof s);
    EQ(leat_net_plan_parse(name, &plan, &why), LEAT_ERR_OK);
    plan.net.pipeline = 1;
    plan.net.in_order = plan.routing.in_order = true;
    leat_net_faults_init(&s.faults.list);
    s.faults.memory = calloc(1, leat_net_topology_footprint(&plan.shape));
    EQ(leat_net_topology_build(&s.faults.topology, &plan.shape, s.faults.memory, &why),
       LEAT_ERR_OK);
    s.faults.faults = (struct leat_sim_atm_faults){ &s.faults.list, &s.faults.topology, 1 };
    m->routing = calloc(1, leat_net_routing_footprint(&s.faults.topology, &plan.routing));
    m->graph = (struct leat_sim_atm_graph){
        .topology = &s.faults.topology,
        .routing = leat_net_routing_init(&s.faults.topology, &plan.routing, m->routing),
        .net = plan.net,
        .seed = 1,
    };
    s.fabric = (struct leat_sim_atm_fabric){ .graph = &m->graph };
    leat_atm_clos_init_other(&s.fabric.net, s.faults.topology.terminals);
    s.apart = APART;
}

/* From port 4 to port 8 by 5 or 7, of which one is cut and then the other: by the one that is left,
 * or nowhere. Times are cycles. */
static void other_switches_lose_cells_or_lead_them_around(void)
{
    static const char *const names[] = { "mesh:3,3/routing=updown/vcs=1", "mesh:3,3/vcs=1" };
    for (int i = 0; i < 2; i++) {
        struct graph_memory m;
        struct leat_sim_atm_losses losses;
        begin_graph(names[i], &m);
        faults_add(&s.faults, "link:4-5@2000..4000");
        faults_add(&s.faults, "link:4-7@4000..6000");
        faults_add(&s.faults, "port:8@10000..12000");
        faults_add(&s.faults, "port:4@12000..14000");
        open(LEAT_SIM_ATM_CELL);
        s.label[4] = 8;
        s.left[4] = 20;
        s.apart = 1000;
        leat_sim_atm_wake(&s.sim, 4, 0);
        leat_sim_atm_run(&s.sim, 21000);
        leat_sim_atm_losses(&s.sim, &losses);
        EQ(s.got_count, i ? 14 : 16);
        EQ(losses.cells[LEAT_NET_CUT] + losses.cells[LEAT_NET_NO_WAY], i ? 6 : 4);
        EQ(s.sim.counts.lost, leat_sim_atm_losses_sum(&losses));
        OK(!i == (losses.rerouted > 0));
        free(m.routing);
        end();
    }
}

TAP_MAIN(T(a_cell_arrives_exactly_where_some_middle_switch_is_left),
         T(every_cell_arrives_or_is_counted_as_lost),
         T(the_middle_switches_that_are_left_share_what_was_its),
         T(bits_are_damaged_as_often_as_they_should),
         T(other_switches_lose_cells_or_lead_them_around))
