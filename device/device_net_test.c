/* Networks on devices run as those on the processor. */
#include "device_net.h"
#include "net_lockstep_test.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    PLANS = 4 + LEAT_ROUNDS / 100000,
    RUNS = 5, /* with each plan */
    CYCLES_MAX = 3000,
};

static struct leat_device_info info[LEAT_DEVICES_MAX];
static char line[4096];
static struct leat_text why;

static const char *reason(void)
{
    why.buf[why.len < why.cap ? why.len : why.cap - 1] = 0;
    return why.buf;
}

/* Several networks of one plan, in fewer places. */
struct group {
    struct job job[RUNS];
    struct bench bench[RUNS];
    uint32_t *plan;
};

static bool begin_group(struct group *g, const struct job *first, struct leat_random *random)
{
    struct leat_net_outages outages;
    struct leat_net_lockstep_plan sizes;
    struct leat_net_routing *routing;
    g->job[0] = *first;
    if (!begin(&g->bench[0], &g->job[0])) return false;
    if (leat_net_lockstep_check(&g->bench[0].w.net, &g->bench[0].load, g->job[0].cycles, &why)) {
        struct outcome none;
        end(&g->bench[0], &none);
        return false;
    }
    for (uint32_t i = 1; i < RUNS; i++) {
        g->job[i] = g->job[0];
        g->job[i].load.traffic.seed = leat_random_next(random);
        g->job[i].load.traffic.load_ppm = (uint32_t)leat_random_below(random, 700000);
        if (!g->job[0].load.precision_ppm) g->job[i].cycles = one_to(random, CYCLES_MAX);
        if (g->job[i].load.warmup >= g->job[i].cycles) g->job[i].load.warmup = 0;
        OK(begin(&g->bench[i], &g->job[i]));
    }
    const struct leat_net_faults *faults = g->bench[0].load.config.faults;
    routing = g->bench[0].w.routing;
    const uint64_t longest = leat_larger(g->job[0].cycles, CYCLES_MAX);
    void *memory = world_memory(leat_net_outages_footprint(routing, faults, longest));
    OK(leat_net_outages_init(&outages, routing, faults, longest, memory));
    leat_net_lockstep_size(&g->bench[0].w.net, &outages, &sizes);
    g->plan = world_memory(sizes.plan_words * sizeof *g->plan);
    leat_net_lockstep_plan(&g->bench[0].w.net, &outages, g->job[0].watched, g->plan);
    free(memory);
    return true;
}

static bool run_group(struct group *g, struct leat_device_nets *nets, struct outcome *out)
{
    const uint32_t places = leat_device_nets_shape(nets).places;
    uint32_t begun = 0, done = 0, in[RUNS];
    bool busy[RUNS] = { false };
    while (done < RUNS) {
        for (uint32_t p = 0; p < places; p++) {
            if (!busy[p] && begun < RUNS) {
                if (!leat_device_nets_begin(nets, p, &g->bench[begun].load, g->job[begun].cycles,
                                            &why))
                    return false;
                busy[p] = true;
                in[p] = begun++;
            }
        }
        if (!leat_device_nets_step(nets, &why)) return false;
        for (uint32_t p = 0; p < places; p++) {
            if (!busy[p] || !leat_device_nets_is_done(nets, p)) continue;
            struct bench *b = &g->bench[in[p]];
            OK(leat_device_nets_now(nets, p) <= g->job[in[p]].cycles);
            struct outcome *o = &out[in[p]];
            o->alive = !leat_device_nets_is_deadlocked(nets, p);
            o->stuck = 0;
            OK(g->job[in[p]].load.traffic.rounds ||
               g->job[in[p]].load.traffic.pattern == LEAT_NET_TRACE || b->load.verdict ||
               !o->alive || leat_device_nets_now(nets, p) == g->job[in[p]].cycles);
            g->job[in[p]].cycles = leat_device_nets_now(nets, p);
            if (g->job[0].watched && !leat_device_nets_stuck(nets, p, &b->w.net, o->waiting,
                                                             WAITING_CAP, &o->stuck, &why))
                return false;
            if (!leat_device_nets_end(nets, p, &b->w.net, &b->load, &why)) return false;
            end(b, o);
            busy[p] = false;
            done++;
        }
    }
    return true;
}

/* Returns how many networks were compared, and adds those that were deadlocked. */
static uint32_t compare_group(struct leat_device *device, const struct job *first,
                              struct leat_random *random, enum leat_device_near near,
                              uint32_t *deadlocked)
{
    static struct group g;
    static struct outcome wanted, got[RUNS];
    uint32_t compared = 0;
    if (!begin_group(&g, first, random)) return 0;
    struct leat_device_nets *nets = leat_device_nets_open(
        device, g.plan, leat_net_lockstep_job_words(&g.bench[0].load), RUNS - 2, near, &why);
    if (!nets || !run_group(&g, nets, got)) {
        fprintf(stderr, "# %s\n", reason());
        OK(false);
        exit(1);
    }
    OK(leat_device_nets_shape(nets).group > 0);
    leat_device_nets_close(nets);
    free(g.plan);
    for (uint32_t i = 0; i < RUNS; i++) {
        OK(run(&g.job[i], &wanted));
        if (!g.job[0].watched && wanted.stuck) continue;
        *deadlocked += wanted.stuck > 0;
        compared++;
        if (is_left_to_the_engine(&wanted, &got[i])) continue;
        compare(&wanted, &got[i]);
        compare_stuck(&wanted, &got[i]);
    }
    return compared;
}

static void compare_on(const struct leat_device_info *one, uint64_t seed)
{
    struct leat_random random;
    uint32_t compared = 0, deadlocked = 0;
    leat_random_seed(&random, seed);
    struct leat_device *device = leat_device_open(one, &why);
    OK(device != NULL);
    for (uint32_t plans = 0; plans < PLANS;) {
        const struct job job = plans ? random_job(&random) : wheel_job(LEAT_NEVER);
        const uint32_t some = compare_group(
            device, &job, &random, plans % 2 ? LEAT_DEVICE_NEAR_AUTO : LEAT_DEVICE_NEAR_NONE,
            &deadlocked);
        compared += some;
        plans += some > 0;
    }
    leat_device_close(device);
    printf("# %s: %u networks\n", one->name, compared);
    printf("# %u of them deadlocked\n", deadlocked);
    OK(deadlocked > 0);
}

static void random_networks_run_on_devices_as_in_the_engine(void)
{
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    const uint32_t devices = leat_devices_find(info, LEAT_DEVICES_MAX, &why);
    if (!devices) printf("# skipped: %s\n", reason());
    for (uint32_t i = 0; i < devices; i++)
        if (!info[i].lacks) compare_on(&info[i], tap_seed());
}

TAP_MAIN(T(random_networks_run_on_devices_as_in_the_engine))
