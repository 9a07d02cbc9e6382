#include "leat_bytes.h"
#include "sim_atm.h"
#include "sim_certificate.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum {
    CELL_LEN = LEAT_ATM_CELL_LEN,
    PORTS_MAX = 64,
    CELLS_MAX = 64, /* that a port sends */
    EVENTS_MAX = 1 << 14,
    NUMBER_AT = 5, /* in a cell: who it is */
};

/*
 * A bench: hosts that send the cells of a list, one after the other, each as soon as its time has
 * come and the last one is out. They have room for so many cells and free a place so many cycles
 * after a cell arrived (0: at once, and there is always room). They record all callbacks.
 */
struct planned {
    uint64_t at;
    uint32_t label;
};

enum what { REFUSED, CELL_OUT, DELIVERED };

struct event {
    uint64_t at, hash;
    uint32_t port, number;
    enum what what;
};

struct bench_port {
    struct planned plan[CELLS_MAX];
    uint32_t planned, begun;
    uint64_t cell_end_at;
    uint8_t cell[CELL_LEN];
    uint32_t room, hold_cycles;
    uint64_t release_at[CELLS_MAX * PORTS_MAX];
    uint32_t release_head, release_count;
};

struct bench {
    struct leat_sim_atm sim;
    struct bench_port port[PORTS_MAX];
    struct event event[EVENTS_MAX];
    uint32_t events;
    void *memory;
};

static void report(struct bench *b, enum what what, uint32_t port, uint64_t now,
                   const uint8_t *cell)
{
    if (b->events == EVENTS_MAX) abort();
    b->event[b->events++] = (struct event){
        .at = now,
        .hash = cell ? leat_sim_payload_hash(cell, CELL_LEN) : 0,
        .port = port,
        .number = cell ? leat_get_be32(cell + NUMBER_AT) : 0,
        .what = what,
    };
}

static void write_cell(const struct bench *b, uint32_t port, uint32_t label, uint8_t *cell)
{
    for (uint32_t i = 0; i < CELL_LEN; i++)
        cell[i] = (uint8_t)(i * 7 + port);
    if (b->sim.fabric.net.header_octets == LEAT_ATM_VP_HEADER)
        leat_put_be16(cell, (uint16_t)(label << 4 | 5));
    else
        leat_put_be32(cell, label << 4 | 5);
    leat_put_be32(cell + NUMBER_AT, port << 16 | b->port[port].begun);
}

static void plan_wake(struct bench *b, uint32_t p)
{
    const struct bench_port *port = &b->port[p];
    uint64_t at = port->cell_end_at;
    if (port->release_count && port->release_at[port->release_head] < at)
        at = port->release_at[port->release_head];
    leat_sim_atm_wake(&b->sim, p, at);
}

static void send_cell(struct bench *b, uint32_t p, uint64_t at)
{
    struct bench_port *port = &b->port[p];
    port->cell_end_at = at + CELL_LEN;
    leat_sim_atm_send(&b->sim, p, port->cell, at);
}

static void begin_cell(struct bench *b, uint32_t p, uint64_t from)
{
    struct bench_port *port = &b->port[p];
    port->cell_end_at = LEAT_NEVER;
    if (port->begun == port->planned) return;
    const struct planned *next = &port->plan[port->begun];
    const uint64_t at = next->at > from ? next->at : from;
    write_cell(b, p, next->label, port->cell);
    port->begun++;
    send_cell(b, p, at);
    EQ(memcmp(leat_sim_atm_sent(&b->sim, p), port->cell, CELL_LEN), 0);
}

static void refused(void *context, uint32_t p, uint64_t now)
{
    struct bench *b = context;
    report(b, REFUSED, p, now, NULL);
    send_cell(b, p, now + 1);
    plan_wake(b, p);
}

static void act(void *context, uint32_t p, uint64_t now)
{
    struct bench *b = context;
    struct bench_port *port = &b->port[p];
    if (port->cell_end_at == now) {
        report(b, CELL_OUT, p, now, port->cell);
        begin_cell(b, p, now);
    }
    while (port->release_count && port->release_at[port->release_head] <= now) {
        port->release_head++;
        port->release_count--;
        port->room++;
    }
    plan_wake(b, p);
}

static uint32_t room(void *context, uint32_t p)
{
    const struct bench *b = context;
    return b->port[p].room;
}

static void deliver(void *context, uint32_t p, const uint8_t *cell, uint64_t now)
{
    struct bench *b = context;
    struct bench_port *port = &b->port[p];
    report(b, DELIVERED, p, now, cell);
    if (!port->hold_cycles) return;
    OK(port->room > 0);
    port->room--;
    port->release_at[port->release_head + port->release_count++] = now + port->hold_cycles;
    plan_wake(b, p);
}

static struct leat_sim_atm_fabric fabric_of(const char *name)
{
    struct leat_sim_atm_fabric fabric = { 0 };
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_sim_atm_fabric_parse(name, &fabric, &why), LEAT_ERR_OK);
    return fabric;
}

static struct bench benches[2]; /* by model */

static struct bench *set_up_groups(const char *name, enum leat_sim_atm_model model, uint32_t groups)
{
    struct leat_sim_atm_fabric fabric = fabric_of(name);
    fabric.groups = groups;
    struct bench *b = &benches[model];
    const struct leat_sim_atm_host host = { b, refused, act, room, deliver, NULL };
    free(b->memory);
    memset(b, 0, sizeof *b);
    b->memory = calloc(1, leat_sim_atm_footprint(&fabric, model));
    if (!b->memory || fabric.net.ports > PORTS_MAX) abort();
    leat_sim_atm_init(&b->sim, &fabric, model, &host, b->memory);
    for (uint32_t p = 0; p < PORTS_MAX; p++)
        b->port[p].room = UINT32_MAX;
    return b;
}

static struct bench *set_up(const char *name, enum leat_sim_atm_model model)
{
    return set_up_groups(name, model, 0);
}

static void plan_cell(struct bench *b, uint32_t port, uint64_t at, uint32_t to, uint32_t path)
{
    const uint32_t label = leat_atm_clos_access(&b->sim.fabric.net, to, path);
    if (b->port[port].planned == CELLS_MAX) abort();
    b->port[port].plan[b->port[port].planned++] = (struct planned){ at, label };
}

static void run(struct bench *b, uint64_t until)
{
    for (uint32_t p = 0; p < b->sim.fabric.net.ports; p++) {
        begin_cell(b, p, 0);
        plan_wake(b, p);
    }
    leat_sim_atm_run(&b->sim, until);
}

/* When the nth such event of a port was; LEAT_NEVER: there was none. */
static uint64_t when(const struct bench *b, enum what what, uint32_t port, uint32_t nth)
{
    for (uint32_t i = 0; i < b->events; i++)
        if (b->event[i].what == what && b->event[i].port == port && nth-- == 0)
            return b->event[i].at;
    return LEAT_NEVER;
}

static uint32_t how_many(const struct bench *b, enum what what)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->events; i++)
        count += b->event[i].what == what;
    return count;
}

/* ---- an idle network ----------------------------------------------------------------------- */

/* Note, 4.6 and R4: 18 cycles from link to link, so the last octet arrives 71 cycles after the
 * first one was on buf. All 1024 + 64 connections, one after the other, with nothing else in
 * flight. */
static void all_1088_connections_of_the_prototype_take_18_cycles(void)
{
    enum { APART = 200, SENT = 10 };
    for (int m = 0; m < 2; m++)
        for (uint32_t from = 0; from < 16; from++)
            for (uint32_t to = 0; to <= 16; to++) {
                struct bench *b = set_up("clos444", (enum leat_sim_atm_model)m);
                for (uint32_t path = 0; path < 4; path++)
                    plan_cell(b, from, SENT + APART * path, to, path);
                run(b, SENT + 4 * APART);
                EQ(how_many(b, DELIVERED), to == 16 ? 64 : 4);
                EQ(how_many(b, REFUSED), 0);
                for (uint32_t p = 0; p < 16; p++)
                    for (uint32_t path = 0; path < 4; path++)
                        EQ(when(b, DELIVERED, p, path),
                           to == p || to == 16 ? SENT + APART * path + 71 : LEAT_NEVER);
            }
}

static void other_networks_take_6_cycles_a_stage_or_8(void)
{
    static const struct {
        const char *name;
        uint64_t cycles;
    } networks[] = {
        { "bmx:2", 6 },       { "bmx:16", 6 },       { "bmx:64", 8 },
        { "clos:3,5,2", 18 }, { "clos:2,17,3", 24 }, { "bmx:4/switching=vc", 8 },
    };
    for (int m = 0; m < 2; m++)
        for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
            struct bench *b = set_up(networks[i].name, (enum leat_sim_atm_model)m);
            const uint32_t last = b->sim.fabric.net.ports - 1;
            EQ(leat_atm_clos_idle_cycles(&b->sim.fabric.net), networks[i].cycles);
            plan_cell(b, 1, 7, last, 0);
            run(b, 500);
            EQ(how_many(b, DELIVERED), 1);
            EQ(when(b, DELIVERED, last, 0), 7 + networks[i].cycles + CELL_LEN);
        }
}

static void a_cell_arrives_as_it_was_sent_but_for_its_label(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("clos:3,5,2", (enum leat_sim_atm_model)m);
        uint8_t cell[CELL_LEN];
        plan_cell(b, 2, 0, 4, 3);
        write_cell(b, 2, 0, cell); /* the label of a cell that leaves is 0 */
        run(b, 300);
        EQ(b->events, 2);
        OK(b->event[1].hash == leat_sim_payload_hash(cell, CELL_LEN));
    }
}

/* ---- refusals ------------------------------------------------------------------------------ */

/*
 * Two ports to one output of a switch whose memories hold one cell. The scan starts behind input 0,
 * so the cell of port 1 goes first (cycles 6 to 59). The second cell of port 1 is checked in 58,
 * when the first is all but gone; that of port 0 in 58 and 64, when five octets or less of its
 * first have left, and passes in 70.
 */
static void a_full_memory_refuses_and_the_cell_is_sent_again_six_cycles_later(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("bmx:2/buffer=1", (enum leat_sim_atm_model)m);
        for (uint32_t port = 0; port < 2; port++)
            for (int i = 0; i < 2; i++)
                plan_cell(b, port, 1, 0, 0);
        run(b, 1000);
        EQ(when(b, DELIVERED, 0, 0), 60);
        EQ(when(b, DELIVERED, 0, 1), 60 + CELL_LEN);
        EQ(when(b, DELIVERED, 0, 3), 60 + 3 * CELL_LEN);
        EQ(when(b, REFUSED, 0, 0), 59);
        EQ(when(b, REFUSED, 0, 1), 65);
        EQ(when(b, REFUSED, 0, 2), LEAT_NEVER);
        EQ(when(b, REFUSED, 1, 0), LEAT_NEVER);
        EQ(when(b, CELL_OUT, 0, 1), 66 + CELL_LEN);
        EQ(b->sim.counts.suspensions, 2);
        EQ(b->sim.counts.cells_out, 4);
        EQ(leat_sim_atm_link_cells(&b->sim, 0), 2); /* refused transfers do not count */
        EQ(leat_sim_atm_link_cells(&b->sim, 1), 2);
        EQ(leat_sim_atm_link_cells(&b->sim, 2), 4);
    }
}

/* With virtual channels the check is two cycles later, and so is everything after it. */
static void with_channels_a_refused_cell_is_sent_again_eight_cycles_later(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("bmx:2/buffer=1/switching=vc", (enum leat_sim_atm_model)m);
        for (uint32_t port = 0; port < 2; port++)
            for (int i = 0; i < 2; i++)
                plan_cell(b, port, 1, 0, 0);
        run(b, 1000);
        EQ(when(b, DELIVERED, 0, 0), 62);
        EQ(when(b, REFUSED, 0, 0), 61);
        EQ(when(b, REFUSED, 0, 1), 69);
        EQ(when(b, REFUSED, 0, 2), LEAT_NEVER);
    }
}

static void a_broadcast_waits_until_all_its_memories_have_room(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("bmx:3/buffer=1", (enum leat_sim_atm_model)m);
        plan_cell(b, 1, 1, 2, 0);  /* occupies output 2 */
        plan_cell(b, 0, 1, 2, 0);  /* waits behind it, in the memory from input 0 to output 2 */
        plan_cell(b, 0, 54, 3, 0); /* to all */
        run(b, 1000);
        EQ(b->sim.counts.suspensions, 2);
        EQ(how_many(b, REFUSED), 2);
        EQ(how_many(b, DELIVERED), 5);
        EQ(when(b, DELIVERED, 0, 0), 66 + 59);
        EQ(when(b, DELIVERED, 1, 0), 66 + 59);
        EQ(when(b, DELIVERED, 2, 2), 60 + 2 * CELL_LEN);
    }
}

/* Note, R5: the octet of count 3 of a cell selected in 6 is checked in 11; then every 6 cycles. */
static void a_full_host_stops_the_cell_at_its_fourth_octet_every_six_cycles(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("bmx:2", (enum leat_sim_atm_model)m);
        plan_cell(b, 0, 1, 1, 0);
        b->port[1].room = 0;
        b->port[1].release_at[0] = 101; /* just in time for the check of that cycle */
        b->port[1].release_count = 1;
        run(b, 1000);
        EQ(b->sim.counts.port_refusals, 15); /* in 11, 17 ... 95 */
        EQ(b->sim.counts.suspensions, 0);
        EQ(how_many(b, DELIVERED), 1);
        EQ(when(b, DELIVERED, 1, 0), 96 + 54);
    }
}

static void a_host_that_stays_full_holds_what_is_for_it_and_nothing_else(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("bmx:2", (enum leat_sim_atm_model)m);
        plan_cell(b, 0, 1, 1, 0);
        plan_cell(b, 1, 1, 0, 0);
        b->port[1].room = 0;
        run(b, 100000);
        EQ(how_many(b, DELIVERED), 1);
        EQ(when(b, DELIVERED, 0, 0), 60);
        EQ(b->sim.counts.port_refusals, (100000 - 11 + 5) / 6);
    }
}

/* Note, 4.2: beyond the table's depth a cell is dropped and counted; an entry without an output
 * drops it silently. */
static void labels_that_lead_nowhere_are_dropped(void)
{
    static const uint32_t silent[] = { 68, 255 }, counted[] = { 256, 1000, 4095 };
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("clos444", (enum leat_sim_atm_model)m);
        for (uint32_t i = 0; i < 2; i++)
            b->port[3].plan[b->port[3].planned++] = (struct planned){ 1, silent[i] };
        for (uint32_t i = 0; i < 3; i++)
            b->port[3].plan[b->port[3].planned++] = (struct planned){ 1, counted[i] };
        plan_cell(b, 3, 1, 9, 2);
        run(b, 1000);
        EQ(b->sim.counts.unrouted, 3);
        EQ(how_many(b, DELIVERED), 1);
        EQ(when(b, DELIVERED, 9, 0), 1 + 5 * CELL_LEN + 71);
    }
}

static void a_channel_that_nobody_knows_is_dropped_and_counted(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("bmx:4/switching=vc", (enum leat_sim_atm_model)m);
        b->port[3].plan[0] = (struct planned){ 1, 5 }; /* 0 .. 3: a port, 4: all */
        b->port[3].plan[1] = (struct planned){ 1, 0xfffffff };
        b->port[3].planned = 2;
        plan_cell(b, 3, 1, 2, 0);
        run(b, 1000);
        EQ(b->sim.counts.unrouted, 2);
        EQ(how_many(b, DELIVERED), 1);
    }
}

/* ---- time ---------------------------------------------------------------------------------- */

static void idle_time_costs_nothing(void)
{
    const uint64_t end = UINT64_C(1000000000000);
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("clos444", (enum leat_sim_atm_model)m);
        plan_cell(b, 0, 5, 1, 0);
        plan_cell(b, 2, end - 100, 3, 0);
        run(b, end);
        EQ(b->sim.now, end);
        EQ(when(b, DELIVERED, 1, 0), 5 + 71);
        EQ(when(b, DELIVERED, 3, 0), end - 100 + 71);
        leat_sim_atm_run(&b->sim, 2 * end);
        EQ(b->sim.now, 2 * end);
    }
}

static void count_act(void *context, uint32_t port, uint64_t now)
{
    uint64_t *acts = context;
    (void)port;
    acts[0]++;
    acts[1] = now;
}

static void a_wish_replaces_the_one_before_it(void)
{
    for (int m = 0; m < 2; m++) {
        const struct leat_sim_atm_fabric fabric = fabric_of("bmx:2");
        uint64_t acts[2] = { 0, 0 };
        const struct leat_sim_atm_host host = { acts, refused, count_act, room, deliver, NULL };
        struct leat_sim_atm sim;
        void *memory = calloc(1, leat_sim_atm_footprint(&fabric, (enum leat_sim_atm_model)m));
        if (!memory) abort();
        leat_sim_atm_init(&sim, &fabric, (enum leat_sim_atm_model)m, &host, memory);
        leat_sim_atm_wake(&sim, 0, 10);
        leat_sim_atm_wake(&sim, 0, 20);
        leat_sim_atm_wake(&sim, 1, 15);
        leat_sim_atm_wake(&sim, 1, LEAT_NEVER);
        leat_sim_atm_run(&sim, 20);
        EQ(acts[0], 0);
        leat_sim_atm_run(&sim, 1000);
        EQ(acts[0], 1);
        EQ(acts[1], 20);
        sim.port[1].act_at = 1500; /* a wake in two steps */
        leat_sim_atm_hurry(&sim, 1, 1500);
        leat_sim_atm_run(&sim, 2000);
        EQ(acts[0], 2);
        EQ(acts[1], 1500);
        free(memory);
    }
}

/* ---- cells on links ------------------------------------------------------------------------ */

static uint64_t cells_on_all_links(const struct leat_sim_atm *sim)
{
    uint64_t cells = 0;
    for (uint32_t i = 0; i < leat_sim_atm_link_count(&sim->fabric.net); i++)
        cells += leat_sim_atm_link_cells(sim, i);
    return cells;
}

/* Note, 4.6: from 5 to 14 by path 0 the PPDs are 5, 17 and 44. */
static void each_link_of_a_path_counts_its_cells_and_no_other_does(void)
{
    enum { CELLS = 7 };
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("clos444", (enum leat_sim_atm_model)m);
        const uint32_t path[] = { 5, 17, 44, b->sim.fabric.net.ppd_count + 14 };
        for (int i = 0; i < CELLS; i++)
            plan_cell(b, 5, 1, 14, 0);
        run(b, 1000);
        for (uint32_t i = 0; i < 4; i++)
            EQ(leat_sim_atm_link_cells(&b->sim, path[i]), CELLS);
        EQ(cells_on_all_links(&b->sim), 4 * CELLS);
    }
}

/* A broadcast is one cell up to the middle, then one to each switch, then one to each port. */
static void a_broadcast_is_copied_as_late_as_possible(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("clos444", (enum leat_sim_atm_model)m);
        plan_cell(b, 5, 1, 16, 0);
        run(b, 1000);
        EQ(leat_sim_atm_link_cells(&b->sim, 5), 1);
        EQ(leat_sim_atm_link_cells(&b->sim, 17), 1);
        for (uint32_t p = 0; p < 16; p++)
            EQ(leat_sim_atm_link_cells(&b->sim, b->sim.fabric.net.ppd_count + p), 1);
        EQ(cells_on_all_links(&b->sim), 1 + 1 + 4 + 16);
    }
}

/* ---- multicast groups ---------------------------------------------------------------------- */

/* The cells on the links to ports, and how many there would be by counting members. */
static void expect_cells_at_ports(const struct bench *b, const uint64_t *want)
{
    const uint32_t first = b->sim.fabric.net.ppd_count;
    for (uint32_t p = 0; p < b->sim.fabric.net.ports; p++)
        EQ(leat_sim_atm_link_cells(&b->sim, first + p), want[p]);
}

/* Ports 1, 2 and 14 are in two output switches of four. */
static void a_multicast_is_copied_to_the_switches_and_ports_of_its_members(void)
{
    static const uint64_t members = 1 << 1 | 1 << 2 | 1 << 14;
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up_groups("clos444", (enum leat_sim_atm_model)m, 3);
        leat_sim_atm_set_group(&b->sim, 2, &members);
        EQ(*leat_sim_atm_group(&b->sim, 2), members);
        EQ(*leat_sim_atm_group(&b->sim, 1), 0);
        plan_cell(b, 14, 1, 17 + 2, 3);
        plan_cell(b, 14, 1, 17 + 1, 3); /* not set up: dropped in silence */
        run(b, 1000);
        EQ(b->sim.counts.unrouted, 0);
        EQ(how_many(b, DELIVERED), 3);
        for (uint32_t p = 0; p < 16; p++)
            EQ(when(b, DELIVERED, p, 0), members >> p & 1 ? 1 + 71 : LEAT_NEVER);
        EQ(cells_on_all_links(&b->sim), 2 + 2 + 2 + 3);
    }
}

/* Between runs members change; what is in flight goes where the tables say when it gets there. */
static void groups_change_between_runs(void)
{
    static const uint64_t few = 1 << 0 | 1 << 3, others = 1 << 1 | 1 << 2 | 1 << 3;
    static const char *const names[] = { "bmx:4", "bmx:4/switching=vc" };
    for (int m = 0; m < 4; m++) {
        struct bench *b = set_up_groups(names[m / 2], (enum leat_sim_atm_model)(m % 2), 1);
        leat_sim_atm_set_group(&b->sim, 0, &few);
        plan_cell(b, 2, 1, 5, 0);
        plan_cell(b, 2, 1000, 5, 0);
        run(b, 500);
        expect_cells_at_ports(b, (const uint64_t[]){ 1, 0, 0, 1 });
        leat_sim_atm_set_group(&b->sim, 0, &others);
        leat_sim_atm_run(&b->sim, 2000);
        expect_cells_at_ports(b, (const uint64_t[]){ 1, 1, 1, 2 });
        EQ(b->sim.counts.unrouted, 0);
    }
}

/* The cell is sent in 1 and checked in 5; its last octet arrives in 60. */
static void a_cell_counts_from_the_cycle_in_which_it_is_accepted(void)
{
    for (int m = 0; m < 2; m++) {
        struct bench *b = set_up("bmx:2", (enum leat_sim_atm_model)m);
        plan_cell(b, 0, 1, 1, 0);
        run(b, 5);
        EQ(cells_on_all_links(&b->sim), 0);
        leat_sim_atm_run(&b->sim, 6);
        EQ(leat_sim_atm_link_cells(&b->sim, 0), 1);
        leat_sim_atm_run(&b->sim, 60);
        EQ(cells_on_all_links(&b->sim), 1);
        leat_sim_atm_run(&b->sim, 61);
        EQ(leat_sim_atm_link_cells(&b->sim, 2 + 1), 1);
        EQ(cells_on_all_links(&b->sim), 2);
    }
}

/* ---- both models make the same callbacks --------------------------------------------------- */

/* Of any ports; even of none. */
static void draw_groups(struct bench *b, struct leat_random *r)
{
    const uint32_t ports = b->sim.fabric.net.ports;
    for (uint32_t g = 0; g < b->sim.fabric.groups; g++) {
        uint64_t members = UINT64_MAX >> (64 - ports);
        members &= leat_random_next(r);
        members &= leat_random_next(r);
        leat_sim_atm_set_group(&b->sim, g, &members);
    }
}

/* One port, all, or a group. */
static uint32_t any_destination(const struct bench *b, struct leat_random *r, uint32_t to_many)
{
    const uint32_t ports = b->sim.fabric.net.ports;
    const bool many = leat_random_below(r, 16) < to_many;
    return many ? ports + (uint32_t)leat_random_below(r, 1 + b->sim.fabric.groups)
                : (uint32_t)leat_random_below(r, ports);
}

static void plan_at_random(struct bench *b, struct leat_random r)
{
    const struct leat_atm_clos *net = &b->sim.fabric.net;
    draw_groups(b, &r);
    const uint64_t pause = leat_random_below(&r, 300), busy = leat_random_below(&r, CELLS_MAX);
    const uint32_t broadcasts = (uint32_t)leat_random_below(&r, 3);
    for (uint32_t p = 0; p < net->ports; p++) {
        uint64_t at = leat_random_below(&r, 200);
        for (uint64_t left = leat_random_below(&r, busy + 1); left; left--) {
            const uint32_t to = any_destination(b, &r, broadcasts);
            plan_cell(b, p, at, to, (uint32_t)leat_random_below(&r, net->paths));
            at += leat_random_below(&r, pause + 1);
        }
        if (leat_random_below(&r, 3) == 0) continue; /* always room */
        b->port[p].room = 1 + (uint32_t)leat_random_below(&r, 3);
        b->port[p].hold_cycles = 1 + (uint32_t)leat_random_below(&r, 200);
    }
}

static bool same_events(const struct bench *a, const struct bench *b)
{
    for (uint32_t i = 0; i < a->events && i < b->events; i++) {
        const struct event *x = &a->event[i], *y = &b->event[i];
        if (x->at == y->at && x->hash == y->hash && x->port == y->port && x->what == y->what)
            continue;
        printf("# event %u: %d at %llu in rtl, %d at %llu in cell\n", i, (int)x->what,
               (unsigned long long)x->at, (int)y->what, (unsigned long long)y->at);
        return false;
    }
    return a->events == b->events;
}

static void hosts_get_the_same_events_from_both_models(void)
{
    static const char *const shapes[] = { "bmx:2",      "bmx:5",       "bmx:3/switching=vc",
                                          "clos:2,2,2", "clos:2,1,3",  "clos:1,3,2",
                                          "clos:3,4,2", "clos:2,17,2", "clos444" };
    enum { SHAPES = sizeof shapes / sizeof *shapes, CASES = LEAT_ROUNDS / 2000 + 20 };
    for (uint64_t i = 0; i < CASES; i++) {
        struct leat_random r, again;
        char name[64];
        leat_random_seed_entity(&r, tap_seed(), i);
        const char *shape = shapes[leat_random_below(&r, SHAPES)];
        snprintf(name, sizeof name, "%s/buffer=%u", shape, 1 + (unsigned)leat_random_below(&r, 4));
        const uint64_t until = 1 + leat_random_below(&r, 8000);
        for (int m = 0; m < 2; m++) {
            struct bench *b = set_up_groups(name, (enum leat_sim_atm_model)m, (uint32_t)(i % 3));
            plan_at_random(b, r);
            run(b, until);
            leat_random_seed_entity(&again, tap_seed() + 1, i);
            draw_groups(b, &again); /* with cells in flight */
            leat_sim_atm_run(&b->sim, until + 500);
        }
        const struct leat_sim_atm_counts *rtl = &benches[0].sim.counts,
                                         *cell = &benches[1].sim.counts;
        EQ(rtl->suspensions, cell->suspensions);
        EQ(rtl->port_refusals, cell->port_refusals);
        EQ(rtl->unrouted, cell->unrouted);
        EQ(rtl->cells_out, cell->cells_out);
        for (uint32_t k = 0; k < leat_sim_atm_link_count(&benches[0].sim.fabric.net); k++)
            EQ(leat_sim_atm_link_cells(&benches[0].sim, k),
               leat_sim_atm_link_cells(&benches[1].sim, k));
        if (same_events(&benches[0], &benches[1])) continue;
        tap_checks_failed++;
        printf("# case %llu on %s until %llu\n", (unsigned long long)i, name,
               (unsigned long long)until);
    }
}

TAP_MAIN(T(all_1088_connections_of_the_prototype_take_18_cycles),
         T(other_networks_take_6_cycles_a_stage_or_8),
         T(a_cell_arrives_as_it_was_sent_but_for_its_label),
         T(a_full_memory_refuses_and_the_cell_is_sent_again_six_cycles_later),
         T(with_channels_a_refused_cell_is_sent_again_eight_cycles_later),
         T(a_broadcast_waits_until_all_its_memories_have_room),
         T(a_full_host_stops_the_cell_at_its_fourth_octet_every_six_cycles),
         T(a_host_that_stays_full_holds_what_is_for_it_and_nothing_else),
         T(labels_that_lead_nowhere_are_dropped),
         T(a_channel_that_nobody_knows_is_dropped_and_counted), T(idle_time_costs_nothing),
         T(a_wish_replaces_the_one_before_it),
         T(each_link_of_a_path_counts_its_cells_and_no_other_does),
         T(a_broadcast_is_copied_as_late_as_possible),
         T(a_multicast_is_copied_to_the_switches_and_ports_of_its_members),
         T(groups_change_between_runs), T(a_cell_counts_from_the_cycle_in_which_it_is_accepted),
         T(hosts_get_the_same_events_from_both_models))
