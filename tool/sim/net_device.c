#include "net_device.h"
#include "device_net.h"
#include "progress.h"
#include <stdlib.h>

enum { WHY_CAP = 4096 };

/* A network in its place on the device. */
struct place {
    bool is_busy;
    uint32_t number;
    double begun;
    struct net_job job;
    struct net_simulation simulation;
};

struct device_run {
    const struct net_device_work *work;
    struct leat_device *device;
    struct leat_device_nets *nets;
    uint32_t *plan, job_words;
    bool watched; /* the plan: its packets may wait for each other */
    struct place *place;
    uint32_t places, busy;
    bool is_over; /* no more shall be begun */
    struct progress progress;
    uint32_t begun, done;
};

/* ---- what fits ------------------------------------------------------------------------------- */

static bool breaks_wires(const struct leat_net_faults *faults)
{
    for (uint32_t i = 0; i < faults->count; i++)
        if (faults->fault[i].kind == LEAT_NET_FAULT_LINK ||
            faults->fault[i].kind == LEAT_NET_FAULT_FLAP ||
            faults->fault[i].kind == LEAT_NET_FAULT_ROUTER)
            return true;
    return false;
}

/* With --unsafe; and detours around broken wires, combined with other routes, may form a cycle. */
static bool may_deadlock(const struct net_job *job)
{
    return job->built->deadlock.possible ||
           (job->design->plan.routing.rule == LEAT_NET_TABLE && breaks_wires(&job->faults));
}

static bool check(const struct net_job *job, struct net_simulation *s, struct leat_text *why)
{
    if (job->threads > 1) {
        leat_text_puts(why, "--threads: they are of the processor");
        return false;
    }
    return !leat_net_lockstep_check(&s->net, &s->load, job->cycles, why);
}

bool net_device_fits(const struct net_job *job, struct leat_text *why)
{
    static struct net_simulation s;
    const bool good = net_set_up(&s, job);
    const bool fits = good && check(job, &s, why);
    net_free(&s);
    return fits;
}

int net_device_check(const struct net_job *job)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (job->device.where != DEVICE_ONE || net_device_fits(job, &why)) return DONE;
    return misuse(job->verb, "--device %s: %s with %.*s", job->device.info.name, job->fabric->word,
                  (int)why.len, why.buf);
}

/* ---- the device ------------------------------------------------------------------------------ */

static bool is_lost(const struct leat_text *why)
{
    return complain("the device: %.*s", (int)why->len, why->buf);
}

static bool fill_plan(struct device_run *r, const struct net_simulation *s,
                      const struct leat_net_outages *outages)
{
    struct leat_net_lockstep_plan sizes;
    leat_net_lockstep_size(&s->net, outages, &sizes);
    r->plan = calloc(sizes.plan_words, sizeof *r->plan);
    if (!r->plan) return false;
    leat_net_lockstep_plan(&s->net, outages, r->watched, r->plan);
    r->job_words = leat_net_lockstep_job_words(&s->load) + sizes.terminals;
    return true;
}

/* The words that all networks share. */
static bool make_plan(struct device_run *r, const struct net_job *job)
{
    static struct net_simulation s;
    const struct leat_net_faults *faults = net_job_faults(job);
    struct leat_net_routing *routing = job->built->routing;
    struct leat_net_outages outages;
    void *memory = calloc(1, leat_net_outages_footprint(routing, faults, job->cycles));
    bool good = net_set_up(&s, job) && memory;
    const bool fits = good && leat_net_outages_init(&outages, routing, faults, job->cycles, memory);
    if (fits) good = fill_plan(r, &s, &outages);
    net_free(&s);
    free(memory);
    if (!good) return complain("no memory for %s on a device", job->fabric->word);
    return fits || complain("%s has more different routes than fit on a device", job->fabric->word);
}

static bool open_device(struct device_run *r, const struct net_job *job)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    r->device = leat_device_open(&job->device.info, &why);
    if (r->device)
        r->nets = leat_device_nets_open(r->device, r->plan, r->job_words, r->work->count,
                                        LEAT_DEVICE_NEAR_AUTO, &why);
    if (!r->nets) return is_lost(&why);
    r->places = leat_device_nets_shape(r->nets).places;
    r->place = calloc(r->places, sizeof *r->place);
    return r->place || complain("no memory");
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool begin_one(struct device_run *r, uint32_t i)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    struct place *p = &r->place[i];
    if (!r->work->next(r->work->context, &p->job, &p->number)) {
        r->is_over = true;
        return true;
    }
    if (!net_set_up(&p->simulation, &p->job)) return complain("no memory");
    p->is_busy = true;
    p->begun = seconds_now();
    r->busy++;
    r->begun++;
    return leat_device_nets_begin(r->nets, i, &p->simulation.load, p->job.cycles, &why) ||
           is_lost(&why);
}

static bool take_result(struct device_run *r, uint32_t i, struct net_result *out)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    struct place *p = &r->place[i];
    struct net_simulation *s = &p->simulation;
    if (!leat_device_nets_end(r->nets, i, &s->net, &s->load, &why)) return is_lost(&why);
    s->dead = leat_device_nets_is_deadlocked(r->nets, i);
    s->done = p->job.ends && net_is_done(s);
    net_take_result(s, out);
    out->wall_seconds = seconds_now() - p->begun;
    return !r->watched ||
           leat_device_nets_stuck(r->nets, i, &s->net, out->deadlock, NET_DEADLOCK_MAX,
                                  &out->deadlock_len, &why) ||
           is_lost(&why);
}

/* After an interrupt nothing is run again. */
static bool end_one(struct device_run *r, uint32_t i)
{
    static struct net_result result;
    struct place *p = &r->place[i];
    if (!take_result(r, i, &result)) return false;
    if (result.dead && !interrupted)
        r->work->leave(r->work->context, p->number);
    else if (!r->work->done(r->work->context, p->number, &p->job, &result))
        r->is_over = true;
    net_free(&p->simulation);
    p->is_busy = false;
    r->busy--;
    r->done++;
    return true;
}

static void show(struct device_run *r)
{
    char left[PROGRESS_FIGURE_CAP];
    double cycles = 0;
    if (!progress_is_due(&r->progress)) return;
    for (uint32_t i = 0; i < r->places; i++)
        if (r->place[i].is_busy)
            cycles += (double)leat_device_nets_now(r->nets, i) / (double)r->place[i].job.cycles;
    const double share = (r->done + cycles) / r->work->count;
    progress_show(&r->progress, "%u networks on the device, %.0f %%%s", r->busy, 100 * share,
                  progress_left(&r->progress, share, left));
}

static bool run_all(struct device_run *r)
{
    while (!interrupted) {
        struct leat_text why = LEAT_TEXT(WHY_CAP);
        for (uint32_t i = 0; i < r->places && !r->is_over; i++)
            if (!r->place[i].is_busy && !begin_one(r, i)) return false;
        if (!r->busy) return true;
        if (!leat_device_nets_step(r->nets, &why)) return is_lost(&why);
        for (uint32_t i = 0; i < r->places; i++)
            if (r->place[i].is_busy && leat_device_nets_is_done(r->nets, i) && !end_one(r, i))
                return false;
        show(r);
    }
    for (uint32_t i = 0; i < r->places && r->work->partly; i++)
        if (r->place[i].is_busy && !end_one(r, i)) return false;
    return true;
}

static void close_all(struct device_run *r)
{
    for (uint32_t i = 0; r->place && i < r->places; i++)
        if (r->place[i].is_busy) net_free(&r->place[i].simulation);
    leat_device_nets_close(r->nets);
    leat_device_close(r->device);
    free(r->plan);
    free(r->place);
}

int net_device_run(const struct net_job *first, const struct net_device_work *work)
{
    static struct device_run r;
    const int code = net_device_check(first);
    if (code != DONE) return code;
    r = (struct device_run){ .work = work, .watched = may_deadlock(first) };
    progress_begin(&r.progress, 2);
    const bool good = make_plan(&r, first) && open_device(&r, first) && run_all(&r);
    progress_end(&r.progress);
    close_all(&r);
    return interrupted ? SIGNALLED + interrupted : good ? DONE : FAILED;
}
