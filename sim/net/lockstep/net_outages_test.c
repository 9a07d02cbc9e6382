#include "net_lockstep_test.h"

enum { NETWORKS = 40 + LEAT_ROUNDS / 5000, CYCLES = 600 };

/* Faults applied in each cycle, one after the other, to a network that does not run. */
struct played {
    struct leat_net_fault_player player;
    void *memory;
};

static void begin_played(struct played *p, const struct bench *b)
{
    const struct leat_net_faults *faults = b->load.config.faults;
    p->memory = world_memory(leat_net_fault_player_footprint(faults, &b->w.topology));
    leat_net_fault_player_init(&p->player, faults, &b->w.topology, 0, p->memory);
}

/* The outage of a cycle is what the player has made of the network. */
static void outage_is(const struct leat_net_outages *o, uint32_t outage, const struct leat_net *net)
{
    const size_t outs = net->topology->outs, terminals = net->topology->terminals;
    OK(outage < o->count);
    OK(!memcmp(o->broken + outage * outs, net->out_broken, outs));
    OK(!memcmp(o->dead + outage * terminals, net->terminal_dead, terminals));
    OK(o->table[outage] < o->rows.tables);
    if (net->out_errors)
        OK(!memcmp(o->errors + outage * outs, net->out_errors, outs * sizeof *o->errors));
}

static void compare_outages(struct bench *b)
{
    const struct leat_net_faults *faults = b->load.config.faults;
    struct leat_net *net = &b->w.net;
    struct leat_net_outages o;
    struct played played;
    uint32_t period = 0;
    void *memory = world_memory(leat_net_outages_footprint(b->w.routing, faults, CYCLES));
    OK(leat_net_outages_init(&o, b->w.routing, faults, CYCLES, memory));
    EQ(o.table[0], 0);
    EQ(o.period[0].from, 0);
    begin_played(&played, b);
    for (net->now = 0; net->now < CYCLES; net->now++) {
        if (played.player.next_at <= net->now) leat_net_fault_player_apply(&played.player, net);
        if (period + 1 < o.periods && o.period[period + 1].from == net->now) period++;
        outage_is(&o, o.period[period].outage, net);
        EQ(net->out_errors != NULL, net->now >= o.errors_from);
    }
    EQ(period + 1, o.periods);
    free(played.memory);
    free(memory);
}

static void each_cycle_has_the_outage_of_the_faults_that_act_in_it(void)
{
    static struct bench b;
    struct leat_random random;
    uint32_t compared = 0;
    leat_random_seed(&random, tap_seed());
    for (int i = 0; i < NETWORKS; i++) {
        struct job job = random_job(&random);
        struct leat_text why = LEAT_TEXT(256);
        struct outcome none;
        if (!job.faults || !begin(&b, &job)) continue;
        if (!leat_net_rows_check(b.w.routing, &why)) {
            compare_outages(&b);
            compared++;
        }
        end(&b, &none);
    }
    OK(compared > 0);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static struct leat_net_faults faults;

static void add(const char *text)
{
    struct leat_text why = LEAT_TEXT(256);
    EQ(leat_net_faults_line(&faults, text, strlen(text), &why), LEAT_ERR_OK);
}

static void check_is(const struct world *w, uint64_t cycles, const char *want)
{
    char text[256] = { 0 };
    struct leat_text why;
    leat_text_init(&why, text, sizeof text - 1, NULL, NULL);
    EQ(leat_net_outages_check(w->routing, &faults, cycles, &why),
       *want ? LEAT_ERR_RANGE : LEAT_ERR_OK);
    OK(!strncmp(text, want, strlen(want)));
}

static void too_many_changes_and_combinations_are_refused(void)
{
    struct world w;
    const struct leat_net_shape small = shape_of(LEAT_NET_MESH, 4, 4),
                                large = shape_of(LEAT_NET_MESH, 64, 64);
    if (!world_build(&w, &small, LEAT_NET_DOR, 1)) abort();
    leat_net_faults_init(&faults);
    add("flap:0-1/1,1");
    check_is(&w, LEAT_NET_PERIODS_MAX, "");
    check_is(&w, LEAT_NET_PERIODS_MAX + 1, "faults that begin and end more than 65536 times");
    for (int i = 1; i < 12; i++) { /* as the digits of a binary number */
        char text[64];
        snprintf(text, sizeof text, "flap:0-1@0../%d,%d", 1 << i, 1 << i);
        add(text);
    }
    check_is(&w, 900, "");
    check_is(&w, 1 << 15, "faults that act in more than 1024 combinations");
    world_end(&w);
    if (!world_build(&w, &large, LEAT_NET_DOR, 1)) abort();
    leat_net_faults_init(&faults);
    add("link:0-1@10..20");
    add("link:1-2@30..40");
    add("link:2-3@50..60");
    check_is(&w, 100, "");
    add("link:3-4@70..80");
    check_is(&w, 100, "faults that act in 4 combinations, expected at most 3");
    world_end(&w);
}

/* Faults that begin after the run are none. */
static void later_faults_are_none(void)
{
    const struct leat_net_shape shape = shape_of(LEAT_NET_RING, 5, 0);
    struct leat_net_outages o;
    struct world w;
    if (!world_build(&w, &shape, LEAT_NET_UPDOWN, 1)) abort();
    leat_net_faults_init(&faults);
    add("link:0-1@100..");
    void *memory = world_memory(leat_net_outages_footprint(w.routing, &faults, 100));
    OK(leat_net_outages_init(&o, w.routing, &faults, 100, memory));
    EQ(o.count, 1);
    EQ(o.periods, 1);
    EQ(o.rows.tables, 1);
    free(memory);
    world_end(&w);
}

TAP_MAIN(T(each_cycle_has_the_outage_of_the_faults_that_act_in_it),
         T(too_many_changes_and_combinations_are_refused), T(later_faults_are_none))
