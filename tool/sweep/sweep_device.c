/* leat sweep --device: all runs of a fabric at once, on a device. */
#include "fabric.h"
#include "json_out.h"
#include "net_device.h"
#include "sweep.h"
#include <stdlib.h>

enum { WHY_CAP = 4096, RUNS_PER_CORE = 4 /* fewer are done sooner by the processor */ };

/* The runs of a fabric that are still to be done, one after the other. */
struct queue {
    const struct sweep_plan *plan;
    const bool *taken;
    bool *fits; /* [traffics] */
    struct device_choice device;
    uint32_t fabric, next;
    uint32_t left;    /* to the processor, after all */
    bool only_checks; /* what would be refused */
    const struct net_job *common;
};

static uint32_t runs_of_fabric(const struct sweep_plan *plan)
{
    return plan->runs / plan->fabrics;
}

static uint32_t traffic_of(const struct sweep_plan *plan, uint32_t run)
{
    return run / (plan->loads * plan->seeds) % plan->traffics;
}

static bool is_wanted(const struct queue *q, uint32_t run)
{
    return !q->taken[run] && q->fits[traffic_of(q->plan, run)];
}

static bool next(void *context, struct net_job *job, uint32_t *number)
{
    struct queue *q = context;
    const uint32_t end = (q->fabric + 1) * runs_of_fabric(q->plan);
    while (q->next < end && !is_wanted(q, q->next))
        q->next++;
    if (q->next == end) return false;
    struct sweep_words words;
    struct arguments args;
    sweep_arguments(q->plan, q->next, &words, &args);
    *job = *q->common;
    *number = q->next++;
    return net_read_point(&args, job);
}

static void leave(void *context, uint32_t number)
{
    struct queue *q = context;
    (void)number;
    q->left++;
}

/* The number of the run, and its result: a line each. */
static bool done(void *context, uint32_t number, const struct net_job *job,
                 const struct net_result *result)
{
    (void)context;
    printf("%u\n", number);
    net_put_json(job, result);
    return flush_printed();
}

/* ---- what is done there ---------------------------------------------------------------------- */

/* The job of a fabric's first run with this traffic. False after a complaint. */
static bool read_job(const struct queue *q, uint32_t run, struct leat_fabric *fabric,
                     struct net_job *job)
{
    struct sweep_words words;
    struct arguments args;
    sweep_arguments(q->plan, run, &words, &args);
    if (!net_read_job(&args, fabric, NULL, job)) return false;
    job->device = q->device;
    return true;
}

/* Tells what the device cannot run. With auto the processor does it: true. */
static bool leave_to_processor(const struct queue *q, const char *what, const struct leat_text *why)
{
    const struct sweep_plan *plan = q->plan;
    if (q->device.where != DEVICE_AUTO)
        return misused(plan->args->verb,
                       "--device %s: %s%s%.*s (with --device auto the processor runs it)",
                       argument(plan->args, "--device"), plan->fabric[q->fabric], what,
                       (int)why->len, why->buf);
    if (!q->only_checks)
        caution("%s%s%.*s: on the processor", plan->fabric[q->fabric], what, (int)why->len,
                why->buf);
    return true;
}

static bool find_fitting(struct queue *q, const struct net_job *common)
{
    const uint32_t first = q->fabric * runs_of_fabric(q->plan);
    const uint32_t pair = q->plan->loads * q->plan->seeds;
    for (uint32_t t = 0; t < q->plan->traffics; t++) {
        struct leat_text why = LEAT_TEXT(WHY_CAP);
        struct net_job job = *common;
        struct sweep_words words;
        struct arguments args;
        sweep_arguments(q->plan, first + t * pair, &words, &args);
        if (!net_read_point(&args, &job)) return false;
        q->fits[t] = net_device_fits(&job, &why);
        if (!q->fits[t] && !leave_to_processor(q, " with ", &why)) return false;
    }
    return true;
}

static uint32_t count(const struct queue *q)
{
    const uint32_t each = runs_of_fabric(q->plan);
    uint32_t runs = 0;
    for (uint32_t run = q->fabric * each; run < (q->fabric + 1) * each; run++)
        runs += is_wanted(q, run);
    return runs;
}

/* Is the device worth it? */
static bool pays(const struct queue *q, uint32_t runs)
{
    const uint32_t least = RUNS_PER_CORE * q->plan->jobs;
    if (q->device.where != DEVICE_AUTO || runs >= least) return true;
    if (runs)
        caution("%s: %u runs, a device pays from %u on: on the processor",
                q->plan->fabric[q->fabric], runs, least);
    return false;
}

/* Finds what can be run there. False after a complaint. */
static bool prepare(struct queue *q, struct leat_fabric *fabric, struct net_job *common)
{
    const uint32_t first = q->fabric * runs_of_fabric(q->plan);
    if (!leat_fabric_as_flits(fabric)) {
        struct leat_text what = LEAT_TEXT(WHY_CAP);
        leat_text_puts(&what, fabric->kind->what);
        leat_text_puts(&what, ", no network of switches");
        return leave_to_processor(q, " is ", &what);
    }
    q->next = first;
    return read_job(q, first, fabric, common) && find_fitting(q, common);
}

/* An impossible fabric must not be refused after hours, when those before it are done. */
static bool check_others(const struct queue *first)
{
    static struct net_job job;
    bool good = true;
    for (uint32_t i = 1; i < first->plan->fabrics && good; i++) {
        bool fits[SWEEP_TRAFFICS_MAX];
        struct queue q = *first;
        q.fits = fits;
        q.fabric = i;
        q.only_checks = true;
        struct leat_fabric *fabric = fabric_read(q.plan->args->verb, q.plan->fabric[i]);
        good = fabric && prepare(&q, fabric, &job);
        leat_fabric_close(fabric);
    }
    return good;
}

static int run_queue(struct queue *q, struct leat_fabric *fabric)
{
    static struct net_job common;
    if (!prepare(q, fabric, &common) || (q->fabric == 0 && !check_others(q))) return WRONG;
    const uint32_t runs = count(q);
    if (!runs || !pays(q, runs)) return DONE;
    q->common = &common;
    const int code = net_device_run(
        &common, &(struct net_device_work){
                     .context = q, .count = runs, .next = next, .done = done, .leave = leave });
    if (code == DONE && q->left)
        caution("%s: %u of %u runs came to a standstill: the processor runs them again",
                q->plan->fabric[q->fabric], q->left, runs);
    return code;
}

int sweep_device_here(const struct sweep_plan *plan, uint32_t fabric, const bool *taken)
{
    bool fits[SWEEP_TRAFFICS_MAX] = { false };
    struct queue q = { .plan = plan, .taken = taken, .fabric = fabric, .fits = fits };
    if (!device_take(plan->args, &q.device)) return WRONG;
    if (!q.device.is_there) {
        if (!fabric)
            caution("--device auto: there is no GPU%s%s: on the processor",
                    *q.device.lacks ? ": " : "", q.device.lacks);
        return DONE;
    }
    struct leat_fabric *read = fabric_read(plan->args->verb, plan->fabric[fabric]);
    if (!read) return WRONG;
    json_schema("leat.sim/1");
    const int code = run_queue(&q, read);
    leat_fabric_close(read);
    return code;
}
