#include "leat_bytes.h"
#include "sim_atm.h"
#include "sim_atm_faults_test.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum {
    CELL_LEN = LEAT_ATM_CELL_LEN,
    PORTS_MAX = 32,
    CELLS_MAX = 100, /* that a port sends */
    EVENTS_MAX = PORTS_MAX * CELLS_MAX * PORTS_MAX,
    NUMBER_AT = 5, /* in a cell: who it is */
    GROUPS = 2,
    GROUP_CYCLES = 1777, /* after which they change */
};

/* How the network is run; the last one is compared with the first two. */
enum how { REGISTERS, EVENTS, STRIDES, WAYS };

/*
 * Hosts that send the cells of a list, each as soon as its time has come and the last one is out,
 * and record what arrives. They are independent of each other, so they may run in strides of any
 * random length.
 */
struct host {
    struct {
        uint64_t at;
        uint32_t label;
    } plan[CELLS_MAX];
    uint32_t planned, begun;
    uint64_t cell_end_at;
    uint8_t cell[CELL_LEN];
};

struct event {
    uint64_t at;
    uint32_t port, number;
};

static struct scene {
    struct leat_sim_atm sim;
    struct host host[PORTS_MAX];
    struct event event[EVENTS_MAX];
    uint32_t events, refusals;
    struct leat_random chance;
    bool mostly;         /* strides are allowed */
    uint64_t all_before; /* has been done */
    void *memory;
} scenes[WAYS];

static void send_cell(struct scene *s, uint32_t p, uint64_t at)
{
    struct host *host = &s->host[p];
    leat_sim_atm_send(&s->sim, p, host->cell, at);
    host->cell_end_at = at + CELL_LEN;
}

static void next_cell(struct scene *s, uint32_t p, uint64_t now)
{
    struct host *host = &s->host[p];
    host->cell_end_at = LEAT_NEVER;
    if (host->begun == host->planned) return;
    const uint64_t at = host->plan[host->begun].at;
    const uint32_t label = host->plan[host->begun].label;
    memset(host->cell, 0, CELL_LEN);
    if (s->sim.fabric.net.header_octets == 2)
        leat_put_be16(host->cell, (uint16_t)(label << 4));
    else
        leat_put_be32(host->cell, label << 4);
    leat_put_be32(host->cell + NUMBER_AT, p << 16 | host->begun++);
    send_cell(s, p, at > now ? at : now);
}

static void refused(void *context, uint32_t p, uint64_t now)
{
    struct scene *s = context;
    s->refusals++;
    send_cell(s, p, now + 1);
    leat_sim_atm_wake(&s->sim, p, s->host[p].cell_end_at);
}

static void act(void *context, uint32_t p, uint64_t now)
{
    struct scene *s = context;
    while (s->host[p].cell_end_at <= now)
        next_cell(s, p, s->host[p].cell_end_at);
    leat_sim_atm_wake(&s->sim, p, s->host[p].cell_end_at);
}

static uint32_t room(void *context, uint32_t p)
{
    (void)context;
    (void)p;
    return UINT32_MAX;
}

static void deliver(void *context, uint32_t p, const uint8_t *cell, uint64_t now)
{
    struct scene *s = context;
    act(context, p, now);
    OK(now >= s->all_before);
    s->event[s->events++] = (struct event){ now, p, leat_get_be32(cell + NUMBER_AT) };
}

static uint64_t stride(void *context, uint64_t now)
{
    struct scene *s = context;
    s->all_before = now;
    if (leat_random_below(&s->chance, s->mostly ? 50 : 2) == 0) return 0;
    return now + leat_random_below(&s->chance, 100);
}

/* Of all scenes of a case; those of none have no memory. */
static struct faults_bench faults;

static void set_up(struct scene *s, const char *name, enum how how, uint64_t seed)
{
    struct leat_sim_atm_fabric fabric = { 0 };
    const struct leat_sim_atm_host host = { s,    refused, act,
                                            room, deliver, how == STRIDES ? stride : NULL };
    const enum leat_sim_atm_model model = how == REGISTERS ? LEAT_SIM_ATM_RTL : LEAT_SIM_ATM_CELL;
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_sim_atm_fabric_parse(name, &fabric, &why), LEAT_ERR_OK);
    fabric.groups = leat_atm_clos_groups(&fabric.net) < GROUPS ? 0 : GROUPS;
    if (faults.memory) fabric.faults = &faults.faults;
    free(s->memory);
    memset(s, 0, sizeof *s);
    s->memory = calloc(1, leat_sim_atm_footprint(&fabric, model));
    if (!s->memory || fabric.net.ports > PORTS_MAX) abort();
    leat_random_seed(&s->chance, seed);
    s->mostly = leat_random_below(&s->chance, 2);
    leat_sim_atm_init(&s->sim, &fabric, model, &host, s->memory);
}

/* Cells from all ports, one in sixteen to all or to a group; `apart` cycles on average. */
static void plan(struct scene *s, uint64_t seed, uint64_t apart, uint32_t favourite)
{
    const struct leat_atm_clos *net = &s->sim.fabric.net;
    for (uint32_t p = 0; p < net->ports; p++) {
        struct leat_random r;
        uint64_t at = 0;
        leat_random_seed_entity(&r, seed, p);
        s->host[p].planned = (uint32_t)leat_random_below(&r, CELLS_MAX);
        for (uint32_t i = 0; i < s->host[p].planned; i++) {
            const bool many = leat_random_below(&r, 16) == 0;
            const uint32_t group = (uint32_t)leat_random_below(&r, 1 + s->sim.fabric.groups);
            const uint32_t any = (uint32_t)leat_random_below(&r, net->ports);
            const uint32_t to = many                       ? net->ports + group
                                : leat_random_below(&r, 3) ? any
                                                           : favourite;
            at += leat_random_below(&r, 2 * apart);
            s->host[p].plan[i].at = at;
            s->host[p].plan[i].label = leat_atm_clos_access(
                net, to, (uint32_t)leat_random_below(&r, net->paths));
        }
    }
}

/* Other members, the same in all scenes; with cells in flight. */
static void change_groups(struct scene *s)
{
    struct leat_random r;
    leat_random_seed_entity(&r, tap_seed(), s->sim.now);
    for (uint32_t g = 0; g < s->sim.fabric.groups; g++) {
        uint64_t members = (UINT64_C(1) << s->sim.fabric.net.ports) - 1;
        members &= leat_random_next(&r);
        members &= leat_random_next(&r);
        leat_sim_atm_set_group(&s->sim, g, &members);
    }
}

static void run(struct scene *s, uint64_t until)
{
    for (uint32_t p = 0; p < s->sim.fabric.net.ports; p++) {
        next_cell(s, p, 0);
        leat_sim_atm_wake(&s->sim, p, s->host[p].cell_end_at);
    }
    while (s->sim.now < until) { /* in pieces too */
        const uint64_t piece = s->sim.now + 1 + leat_random_below(&s->chance, 5000);
        const uint64_t change = (s->sim.now / GROUP_CYCLES + 1) * GROUP_CYCLES;
        const uint64_t to = piece < change ? piece : change;
        if (s->sim.now % GROUP_CYCLES == 0) change_groups(s);
        leat_sim_atm_run(&s->sim, to < until ? to : until);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->port < y->port ? -1 : x->port > y->port;
}

static void choose_fabric(struct leat_random *r, char name[64])
{
    const unsigned buffer = 1 + (unsigned)leat_random_below(r, 8);
    const char *switching = leat_random_below(r, 4) ? "" : "/switching=vc";
    if (leat_random_below(r, 3) == 0) {
        snprintf(name, 64, "bmx:%u/buffer=%u%s", 2 + (unsigned)leat_random_below(r, 15), buffer,
                 switching);
    } else {
        const unsigned e = 1 + (unsigned)leat_random_below(r, 5),
                       m = 1 + (unsigned)leat_random_below(r, 6),
                       n = 1 + (unsigned)leat_random_below(r, 5);
        snprintf(name, 64, "clos:%u,%u,%u/buffer=%u%s", e, m, n, buffer, switching);
    }
}

/* Up to four faults of such a network. `every`: some of each kind of loss, of Clos(4,4,4). */
static void choose_faults(struct leat_random *r, const char *name, uint64_t cycles, bool every)
{
    static const char *const some[] = { "link:0-4", "link:0-5", "link:0-6", "link:0-7",
                                        "switch:5", "port:9",   "ber:1e-3" };
    struct leat_sim_atm_fabric fabric = { 0 };
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_sim_atm_fabric_parse(name, &fabric, &why), LEAT_ERR_OK);
    faults_begin(&faults, &fabric.net, leat_random_next(r));
    for (uint64_t left = 1 + leat_random_below(r, 4); left; left--)
        faults_draw(&faults, r, &fabric.net, cycles);
    for (size_t i = 0; every && i < sizeof some / sizeof *some; i++)
        faults_add(&faults, some[i]);
}

static void drop_faults(void)
{
    free(faults.memory);
    faults.memory = NULL;
}

static void strides_deliver_what_events_and_registers_deliver_and_when(void)
{
    enum { CASES = 40 + LEAT_ROUNDS / 5000, CYCLES_MAX = 30000 };
    /* Some networks run in strides for long, and some refuse cells; the others may do either. */
    static const char calm[] = "clos:4,4,4/buffer=8", crowded[] = "bmx:16/buffer=4";
    uint64_t strides = 0, ended = 0, refusals = 0, suspensions = 0;
    struct leat_sim_atm_losses all = { .rerouted = 0 };
    for (uint64_t i = 0; i < CASES; i++) {
        struct leat_random r;
        char name[64];
        leat_random_seed_entity(&r, tap_seed(), i);
        const uint64_t seed = leat_random_next(&r);
        choose_fabric(&r, name);
        if (i % 8 == 1) strcpy(name, calm);
        if (i % 8 == 2) strcpy(name, crowded);
        const uint64_t apart_max = leat_random_below(&r, 2) ? 100 : 400;
        const uint64_t apart = (i % 8 == 1 ? 200 : 1) + leat_random_below(&r, apart_max);
        const uint64_t cycles = CYCLES_MAX - leat_random_below(&r, i % 2 ? CYCLES_MAX : 1);
        if (i % 9 == 0) strcpy(name, calm);
        if (i % 3 == 0) choose_faults(&r, name, cycles, i % 9 == 0);
        for (int how = i % 4 ? EVENTS : REGISTERS; how < WAYS; how++) {
            struct scene *s = &scenes[how];
            set_up(s, name, (enum how)how, seed);
            if (i % 8 == 1) s->mostly = true;
            plan(s, seed, apart, 0);
            run(s, cycles);
            qsort(s->event, s->events, sizeof *s->event, by_time);
        }
        for (int how = i % 4 ? EVENTS : REGISTERS; how < STRIDES; how++) {
            const struct scene *a = &scenes[how], *b = &scenes[STRIDES];
            EQ(a->events, b->events);
            EQ(memcmp(a->event, b->event, a->events * sizeof *a->event), 0);
            EQ(a->refusals, b->refusals);
            EQ(a->sim.counts.suspensions, b->sim.counts.suspensions);
            EQ(a->sim.counts.cells_out, b->sim.counts.cells_out);
            for (uint32_t k = 0; k < leat_sim_atm_link_count(&a->sim.fabric.net); k++)
                EQ(leat_sim_atm_link_cells(&a->sim, k), leat_sim_atm_link_cells(&b->sim, k));
            EQ(b->sim.now, cycles);
            struct leat_sim_atm_losses lost_a, lost_b;
            leat_sim_atm_losses(&a->sim, &lost_a);
            leat_sim_atm_losses(&b->sim, &lost_b);
            EQ(memcmp(&lost_a, &lost_b, sizeof lost_a), 0);
            for (int fate = 0; fate < LEAT_NET_FATES; fate++)
                all.cells[fate] += lost_a.cells[fate];
            all.rerouted += lost_a.rerouted;
        }
        drop_faults();
        strides += scenes[STRIDES].sim.counts.strides;
        ended += scenes[STRIDES].sim.counts.strides_ended;
        refusals += scenes[STRIDES].refusals;
        suspensions += scenes[STRIDES].sim.counts.suspensions;
    }
    /* The campaign is only useful if all of this occurred. */
    OK(strides > 10 * CASES);
    OK(ended > CASES);
    OK(refusals > 0);
    OK(suspensions > refusals);
    OK(all.cells[LEAT_NET_CUT] > 10 && all.cells[LEAT_NET_CORRUPTED] > 10);
    OK(all.cells[LEAT_NET_NO_WAY] > 10 && all.rerouted > 10);
}

/* A memory that fills while the network runs in strides: all callbacks are in time. */
static void a_memory_that_fills_up_is_noticed_in_time(void)
{
    for (int how = EVENTS; how < WAYS; how++) {
        struct scene *s = &scenes[how];
        set_up(s, "bmx:16/buffer=4", (enum how)how, 1);
        s->mostly = true;
        for (uint32_t p = 0; p < 16; p++)
            for (s->host[p].planned = 0; s->host[p].planned < 20; s->host[p].planned++)
                s->host[p].plan[s->host[p].planned].label = 0;
        run(s, 16 * 20 * CELL_LEN + 100);
        EQ(s->events, 16 * 20);
        OK(s->refusals > 100);
    }
    OK(scenes[STRIDES].sim.counts.strides > 0);
    EQ(scenes[STRIDES].refusals, scenes[EVENTS].refusals);
    EQ(memcmp(scenes[STRIDES].event, scenes[EVENTS].event, sizeof scenes[EVENTS].event), 0);
}

/* Hosts without requests for a long time. */
static void idle_time_costs_nothing(void)
{
    const uint64_t late = UINT64_C(1000000000000);
    struct scene *s = &scenes[STRIDES];
    set_up(s, "clos444", STRIDES, 3);
    s->host[2].plan[0].label = leat_atm_clos_access(&s->sim.fabric.net, 9, 1);
    s->host[2].planned = 1;
    s->host[2].cell_end_at = late;
    for (uint32_t p = 0; p < 16; p++)
        if (p != 2) s->host[p].cell_end_at = LEAT_NEVER;
    leat_sim_atm_wake(&s->sim, 2, late);
    for (uint64_t i = 1; i <= 10; i++)
        leat_sim_atm_run(&s->sim, late / 5 * i);
    EQ(s->sim.now, 2 * late);
    EQ(s->events, 1);
    EQ(s->event[0].at, late + 71);
    EQ(s->event[0].port, 9);
    OK(s->sim.counts.strides > 0);
}

TAP_MAIN(T(strides_deliver_what_events_and_registers_deliver_and_when),
         T(a_memory_that_fills_up_is_noticed_in_time), T(idle_time_costs_nothing))
