/* leat sweep: a line or an object per point (fabric, traffic, load): means over its seeds. */
#include "json_out.h"
#include "mean.h"
#include "style.h"
#include "sweep.h"
#include <math.h>

struct point {
    uint32_t runs, saturated, deadlocked;
    bool reports_saturated;               /* at least one run does */
    double lost, rerouted;                /* packets of all runs; NAN: not reported */
    double cycle_ns;                      /* as the last run reports it; NAN: not */
    struct mean throughput, latency, p99; /* runs that do not report them do not count */
};

/* Figures of the runs of a point, by seed. */
struct figures {
    uint32_t count;
    uint64_t seed[SWEEP_SEEDS_MAX];
    struct store_figures of[SWEEP_SEEDS_MAX];
};

/* ---- statistics ----------------------------------------------------------------------------- */

static bool read_point(const struct sweep_plan *plan, struct store *store, int64_t sweep,
                       uint32_t first, struct figures *figures)
{
    figures->count = 0;
    for (uint32_t i = 0; i < plan->seeds; i++) {
        const struct store_key key = sweep_run_at(plan, first + i);
        const int there = store_get(store, sweep, &key, &figures->of[figures->count]);
        if (there < 0) return false;
        figures->seed[figures->count] = key.seed;
        figures->count += there > 0;
    }
    return true;
}

static struct point summarise(const struct figures *figures)
{
    struct point p = {
        .runs = figures->count,
        .cycle_ns = NAN,
        .lost = figures->count ? 0 : NAN,
        .rerouted = figures->count ? 0 : NAN,
    };
    for (uint32_t i = 0; i < figures->count; i++) {
        const struct store_figures *f = &figures->of[i];
        p.reports_saturated = p.reports_saturated || f->saturated >= 0;
        p.saturated += f->saturated > 0;
        p.deadlocked += f->deadlock > 0;
        p.cycle_ns = f->cycle_ns;
        p.lost += f->lost;
        p.rerouted += f->rerouted;
        mean_add(&p.throughput, f->throughput);
        mean_add(&p.latency, f->latency_mean);
        mean_add(&p.p99, f->latency_p99);
    }
    return p;
}

/* ---- people --------------------------------------------------------------------------------- */

enum { MEAN_WIDTH = 12, HALF_WIDTH = 8 };

static void put_cell(const struct mean *mean, int decimals)
{
    const double half = mean_half(mean);
    if (mean->count)
        printf("%*.*f", MEAN_WIDTH, decimals, mean->mean);
    else
        printf("%*s", MEAN_WIDTH, "-");
    if (isnan(half))
        printf("    %*s", HALF_WIDTH, "");
    else
        printf(" +- %-*.*f", HALF_WIDTH, decimals, half);
}

static void put_heading(const struct sweep_plan *plan, const struct store_key *key)
{
    static const char *const heads[] = { "throughput", "mean latency", "p99 latency" };
    printf("%s, traffic %s%s%s\n%s%10s %6s", key->fabric, key->traffic, *plan->options ? ", " : "",
           plan->options, style(stdout, STYLE_HEADING), "load", "runs");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        printf("%*s    %*s", MEAN_WIDTH, heads[i], HALF_WIDTH, "");
    printf("saturated%s\n", style_end(stdout));
}

/* Losses at full buffers are reported, too. */
static bool has_losses(const struct sweep_plan *plan, const struct point *p)
{
    const bool faults = argument(plan->args, "--fault") || argument(plan->args, "--fault-file");
    return !isnan(p->lost) && (faults || p->lost > 0 || p->rerouted > 0);
}

static void put_line(const struct sweep_plan *plan, const struct store_key *key,
                     const struct point *p)
{
    char load[SWEEP_LOAD_CAP], saturated[16] = "-";
    sweep_load_text(key->load, load);
    if (p->reports_saturated) snprintf(saturated, sizeof saturated, "%u", p->saturated);
    printf("%10s %6u", load, p->runs);
    put_cell(&p->throughput, 4);
    put_cell(&p->latency, 2);
    put_cell(&p->p99, 1);
    if (p->saturated) fputs(style(stdout, STYLE_DOUBTFUL), stdout);
    printf("%9s", saturated);
    if (p->saturated) fputs(style_end(stdout), stdout);
    if (p->deadlocked)
        printf("  %sdeadlock%s in %u", style(stdout, STYLE_BAD), style_end(stdout), p->deadlocked);
    if (has_losses(plan, p)) printf("  lost %.0f, rerouted %.0f", p->lost, p->rerouted);
    putchar('\n');
}

/* ---- programs ------------------------------------------------------------------------------- */

static void put_mean(struct leat_json *j, const char *key, const char *ci95,
                     const struct mean *mean, int decimals)
{
    json_fixed(j, key, mean->count ? mean->mean : NAN, decimals);
    json_fixed(j, ci95, mean_half(mean), decimals);
}

static void put_object(const struct store_key *key, const struct point *p,
                       const struct figures *figures)
{
    char load[SWEEP_LOAD_CAP], seed[JSON_KEY_CAP];
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    sweep_load_text(key->load, load);
    leat_json_string(j, "fabric", key->fabric);
    leat_json_string(j, "traffic", key->traffic);
    leat_json_number(j, "load", load);
    leat_json_uint(j, "runs", p->runs);
    json_general(j, "cycle_ns", p->cycle_ns, 12);
    put_mean(j, "throughput", "throughput_ci95", &p->throughput, 6);
    leat_json_object(j, "latency_cycles");
    put_mean(j, "mean", "ci95", &p->latency, 3);
    put_mean(j, "p99", "p99_ci95", &p->p99, 3);
    leat_json_end(j);
    json_fixed(j, "saturated_runs", p->reports_saturated ? (double)p->saturated : NAN, 0);
    leat_json_uint(j, "deadlocked_runs", p->deadlocked);
    json_fixed(j, "packets_lost", p->lost, 0);
    json_fixed(j, "packets_rerouted", p->rerouted, 0);
    leat_json_object(j, "certificates");
    for (uint32_t i = 0; i < figures->count; i++)
        leat_json_string(j, json_key(figures->seed[i], seed), figures->of[i].certificate);
    leat_json_end(j);
    json_close(&out, json_status());
}

int sweep_put_table(const struct sweep_plan *plan, struct store *store, int64_t sweep, bool json)
{
    static struct figures figures;
    const uint32_t pair = plan->loads * plan->seeds;
    uint32_t runs = 0, deadlocked = 0, headed = 0; /* fabric and traffic of the heading */
    bool losses = false;
    for (uint32_t run = 0; run < plan->runs; run += plan->seeds) {
        const struct store_key key = sweep_run_at(plan, run);
        if (!read_point(plan, store, sweep, run, &figures)) return FAILED;
        if (interrupted && !figures.count) continue;
        const struct point point = summarise(&figures);
        runs += point.runs;
        deadlocked += point.deadlocked;
        losses |= has_losses(plan, &point);
        if (!json && run / pair + 1 != headed) {
            if (headed) putchar('\n');
            headed = run / pair + 1;
            put_heading(plan, &key);
        }
        if (json)
            put_object(&key, &point, &figures);
        else
            put_line(plan, &key, &point);
    }
    if (!json && interrupted)
        printf("%sInterrupted: the other runs are missing.\n", headed ? "\n" : "");
    if (!json && plan->seeds > 1 && headed)
        puts("\nMeans over seeds, +- half of the 95 % interval; latency in cycles.");
    if (!json && losses) puts("Lost and rerouted: packets or cells of all runs of a line.");
    if (!deadlocked) return DONE;
    return fail("%u of %u runs ended in a deadlock; all results are kept in %s", deadlocked, runs,
                plan->store);
}
