/* leat sweep: many runs of `leat sim` in parallel, kept in a store, and resumed where they stopped.
 */
#include "sweep.h"

static int run_with(const struct sweep_plan *plan, struct store *store)
{
    const struct store_sweep settings = { .version = LEAT_VERSION,
                                          .options = plan->options,
                                          .files = plan->files };
    int code;
    bool partly;
    const int64_t id = store_begin(store, &settings, &code);
    if (!id) return code;
    code = sweep_run(plan, store, id, &partly);
    if (code != DONE && !partly) return code;
    const int shown = sweep_put_table(plan, store, id, argument(plan->args, "--json"));
    return finish(shown == DONE ? code : shown);
}

int run_sweep(const struct arguments *args)
{
    static struct sweep_plan plan;
    int code = WRONG;
    if (sweep_plan_read(args, &plan)) {
        struct store *store = store_open(plan.store, STORE_WRITE, &code);
        if (store) code = run_with(&plan, store);
        store_close(store);
    }
    sweep_plan_free(&plan);
    return code;
}
