/* leat report: the runs of the store that --where selects; nothing else reads the store. */
#include "report.h"
#include <math.h>

struct selection {
    const struct report *report;
    int64_t sweep;
    struct where_census *census; /* NULL: visit what matches */
    bool (*on_run)(void *context, const struct store_run *run);
    bool (*on_program)(void *context, const struct store_program *program);
    void *context;
};

static bool select_run(void *context, const struct store_run *run)
{
    const struct selection *s = context;
    const struct where_row row = {
        .word = { [WHERE_FABRIC] = run->key.fabric, [WHERE_TRAFFIC] = run->key.traffic },
        .number = { (double)run->key.load / STORE_LOAD_ONE, (long double)run->key.seed,
                    (long double)s->sweep }
    };
    if (s->census) where_count(&s->report->where, &row, s->census);
    if (s->census || !where_all_hold(&s->report->where, &row)) return !interrupted;
    return s->on_run(s->context, run);
}

static bool select_program(void *context, const struct store_program *program)
{
    const struct selection *s = context;
    const struct where_row row = {
        .word = { [WHERE_FABRIC] = program->fabric, [WHERE_PROGRAM] = program->command },
        .number = { NAN, NAN, NAN }
    };
    if (s->census) where_count(&s->report->where, &row, s->census);
    if (s->census || !where_all_hold(&s->report->where, &row)) return !interrupted;
    return s->on_program(s->context, program);
}

bool report_each_run(const struct report *report, int64_t sweep,
                     bool (*visit)(void *context, const struct store_run *run), void *context)
{
    struct selection s = { .report = report, .sweep = sweep, .on_run = visit, .context = context };
    return store_each_run(report->store, sweep, select_run, &s);
}

bool report_each_program(const struct report *report,
                         bool (*visit)(void *context, const struct store_program *program),
                         void *context)
{
    struct selection s = { .report = report, .on_program = visit, .context = context };
    return store_each_program(report->store, select_program, &s);
}

/* ---- nothing is selected ------------------------------------------------------------------- */

static bool count_sweep(void *context, const struct store_sweep *sweep)
{
    struct selection *s = context;
    s->sweep = sweep->id;
    return store_each_run(s->report->store, sweep->id, select_run, s);
}

int report_nothing(const struct report *report)
{
    static struct where_census census;
    struct selection s = { .report = report, .census = &census };
    census = (struct where_census){ 0 };
    if (!report->where.clauses) {
        complain("%s: there is no run in this store, expected one at least", report->name);
        return WRONG;
    }
    if (!store_each_sweep(report->store, count_sweep, &s) ||
        !store_each_program(report->store, select_program, &s))
        return FAILED;
    return where_explain(&report->where, &census, report->name);
}
