#include "net_lockstep_test.h"

enum { NETWORKS = 100 + LEAT_ROUNDS / 800 };

static bool run_lockstep(const struct job *job, struct outcome *out)
{
    struct leat_net_outages outages;
    struct leat_net_lockstep_plan sizes;
    char line[256];
    struct leat_text why;
    struct bench b;
    if (!begin(&b, job)) return false;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (leat_net_lockstep_check(&b.w.net, &b.load, job->cycles, &why)) {
        end(&b, out);
        return false;
    }
    const struct leat_net_faults *faults = b.load.config.faults;
    void *memory = world_memory(leat_net_outages_footprint(b.w.routing, faults, job->cycles));
    OK(leat_net_outages_init(&outages, b.w.routing, faults, job->cycles, memory));
    leat_net_lockstep_size(&b.w.net, &outages, &sizes);
    uint32_t *plan = world_memory(sizes.plan_words * sizeof *plan);
    uint32_t *words = world_memory(leat_net_lockstep_job_words(&b.load) * sizeof *words);
    uint32_t *state = world_memory(sizes.state_words * sizeof *state);
    uint32_t *store = world_memory(sizes.store_words * sizeof *store);
    uint8_t *doomed = world_memory((size_t)sizes.ins << sizes.shift);
    leat_net_lockstep_plan(&b.w.net, &outages, job->watched, plan);
    leat_net_lockstep_job(&b.load, words);
    struct leat_net_lockstep_table table = leat_net_lockstep_start(plan, &b.load, state, store);
    uint32_t cycles = (uint32_t)job->cycles;
    for (uint32_t now = 0; now < cycles;) {
        const struct leat_net_lockstep_leg leg = leat_net_lockstep_next(plan, table, now, cycles);
        leat_net_lockstep_run(plan, words, state, store, leg);
        table = leg.table;
        now = leg.until;
        out->alive = !leat_net_lockstep_is_deadlocked(plan, store, now);
        if (!out->alive) break;
        if (now != b.load.look_at) continue;
        leat_net_lockstep_judge(plan, store, now, &b.load);
        if (b.load.verdict) cycles = now;
    }
    OK(leat_net_lockstep_done(plan, store) <= job->cycles);
    out->stuck = leat_net_lockstep_stuck(&b.w.net, plan, state, store, doomed, out->waiting,
                                         WAITING_CAP);
    leat_net_lockstep_end(plan, store, cycles, &b.w.net, &b.load);
    end(&b, out);
    void *const all[] = { memory, plan, words, state, store, doomed };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return true;
}

static void random_networks_run_as_in_the_engine(void)
{
    static struct outcome engine, lockstep;
    struct leat_random random;
    uint32_t compared = 0, dead = 0, partly = 0;
    uint64_t ended[LEAT_NET_FATES] = { 0 }, rerouted = 0;
    uint32_t verdicts[3] = { 0 };
    leat_random_seed(&random, tap_seed());
    for (int i = 0; i < NETWORKS; i++) {
        struct job job = random_job(&random);
        if (!run_lockstep(&job, &lockstep)) continue;
        if (!lockstep.alive) job.cycles = lockstep.load.cycles;
        OK(run(&job, &engine));
        if (!job.watched && engine.stuck) continue;
        dead += !lockstep.alive;
        if (is_left_to_the_engine(&engine, &lockstep)) continue;
        compare(&engine, &lockstep);
        compare_stuck(&engine, &lockstep);
        partly += engine.stuck != 0;
        for (int fate = 0; fate < LEAT_NET_FATES; fate++)
            ended[fate] += engine.load.packets_ended[fate];
        rerouted += engine.load.packets_rerouted;
        verdicts[engine.verdict]++;
        compared++;
    }
    printf("# %u networks; packets: %llu delivered, %llu of them rerouted, %llu without a way, "
           "%llu cut, %llu corrupted\n",
           compared, (unsigned long long)ended[LEAT_NET_DELIVERED], (unsigned long long)rerouted,
           (unsigned long long)ended[LEAT_NET_NO_WAY], (unsigned long long)ended[LEAT_NET_CUT],
           (unsigned long long)ended[LEAT_NET_CORRUPTED]);
    printf("# %u were dead, and %u deadlocked in part\n", dead, partly);
    printf("# %u were precise early, %u saturated\n", verdicts[LEAT_NET_STEADY_PRECISE],
           verdicts[LEAT_NET_STEADY_SATURATED]);
    OK(compared > 0);
}

/* Also if a repair would free it later: the engine has ended the run by then. */
static void a_wheel_without_its_hub_deadlocks(void)
{
    static struct outcome engine, lockstep;
    const uint64_t repaired[] = { LEAT_NEVER, 6000 };
    for (int i = 0; i < 2; i++) {
        struct job job = wheel_job(repaired[i]);
        OK(run(&job, &engine) && run_lockstep(&job, &lockstep));
        OK(!engine.alive && !lockstep.alive);
        OK(engine.load.cycles > 1000 && engine.load.cycles <= lockstep.load.cycles);
        OK(engine.stuck > 1);
    }
    struct job job = wheel_job(LEAT_NEVER);
    job.faults = 0;
    OK(run(&job, &engine) && run_lockstep(&job, &lockstep));
    OK(engine.alive && lockstep.alive && !engine.stuck);
    compare(&engine, &lockstep);
    compare_stuck(&engine, &lockstep);
}

/* Runs that end a little before nothing moves any more, while only some packets can go on. */
static void packets_that_wait_for_ever_are_those_of_the_engine(void)
{
    static struct outcome engine, lockstep;
    for (uint32_t i = 0; i < 2 * LEAT_NET_FLOWS; i++) {
        struct job job = wheel_job(LEAT_NEVER);
        uint32_t partly = 0;
        job.switches.channels = 1 + i / LEAT_NET_FLOWS;
        job.switches.flow = (enum leat_net_flow)(i % LEAT_NET_FLOWS);
        OK(run(&job, &engine) && !engine.alive);
        const uint64_t end = engine.load.cycles;
        for (job.cycles = end - 90; job.cycles < end; job.cycles += 5) {
            OK(run(&job, &engine) && run_lockstep(&job, &lockstep));
            OK(engine.alive && lockstep.alive);
            compare(&engine, &lockstep);
            compare_stuck(&engine, &lockstep);
            partly += engine.stuck > 0;
        }
        OK(partly > 0);
    }
}

/* Numbers of packets would not fit into flits. */
static void too_much_room_is_refused(void)
{
    struct leat_random random;
    struct bench b;
    struct outcome none;
    leat_random_seed(&random, 1);
    struct job job = random_job(&random);
    job.shape = shape_of(LEAT_NET_MESH, 60, 60);
    job.rule = LEAT_NET_DOR;
    job.switches = golden;
    job.load.traffic.pattern = LEAT_NET_UNIFORM;
    for (uint32_t buffer = 8; buffer <= 1000; buffer += 992) {
        struct leat_text why = LEAT_TEXT(256);
        job.switches.buffer_flits = buffer;
        OK(begin(&b, &job));
        EQ(leat_net_lockstep_check(&b.w.net, &b.load, 1000, &why),
           buffer == 8 ? LEAT_ERR_OK : LEAT_ERR_RANGE);
        end(&b, &none);
    }
}

TAP_MAIN(T(random_networks_run_as_in_the_engine), T(a_wheel_without_its_hub_deadlocks),
         T(packets_that_wait_for_ever_are_those_of_the_engine), T(too_much_room_is_refused))
