/* leat run --profile: what the calls of the program's message library took, over all tasks. */
#include "json_out.h"
#include "run.h"
#include "style.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct leat_task_profile *row_of(struct run_outcome *out, const char *name)
{
    for (uint32_t i = 0; i < out->calls; i++)
        if (strcmp(out->call[i].name, name) == 0) return &out->call[i];
    struct leat_task_profile *grown = realloc(out->call, (out->calls + 1) * sizeof *out->call);
    if (!grown) return NULL;
    out->call = grown;
    out->call[out->calls] = (struct leat_task_profile){ 0 };
    snprintf(out->call[out->calls].name, sizeof out->call->name, "%s", name);
    return &out->call[out->calls++];
}

/* The longest first. */
static int compare(const void *a, const void *b)
{
    const struct leat_task_profile *x = a, *y = b;
    if (x->took_ps != y->took_ps) return x->took_ps < y->took_ps ? 1 : -1;
    return strcmp(x->name, y->name);
}

bool run_profile_keep(const struct leat_hub *hub, struct run_outcome *out)
{
    const struct leat_task_profile *each;
    for (uint32_t task = 0; task < out->tasks; task++)
        for (uint32_t i = 0; (each = leat_hub_profile(hub, task, i)); i++) {
            if (!each->calls) continue;
            struct leat_task_profile *row = row_of(out, each->name);
            if (!row) return complain("no memory for the profile");
            row->calls += each->calls;
            row->octets += each->octets;
            row->took_ps += each->took_ps;
            row->waited_ps += each->waited_ps;
        }
    if (out->calls) qsort(out->call, out->calls, sizeof *out->call, compare);
    return true;
}

void run_profile_text(const struct run_outcome *out, FILE *to)
{
    leat_time all = 0;
    for (uint32_t i = 0; i < out->tasks; i++)
        if (out->task[i].clock > RUN_START_PS) all += out->task[i].clock - RUN_START_PS;
    fprintf(to, "%s  %-24s %10s %14s %14s %14s %7s%s\n", style(to, STYLE_HEADING), "call", "calls",
            "octets", "time, s", "waiting, s", "share", style_end(to));
    for (uint32_t i = 0; i < out->calls; i++) {
        const struct leat_task_profile *c = &out->call[i];
        fprintf(to, "  %-24s %10" PRIu64 " %14" PRIu64 " %14.9f %14.9f %6.2f%%\n", c->name,
                c->calls, c->octets, run_seconds(c->took_ps), run_seconds(c->waited_ps),
                all ? 100 * (double)c->took_ps / (double)all : 0);
    }
    if (!out->calls) fputs("  no calls were counted, expected those of MPI\n", to);
}

void run_profile_json(struct leat_json *j, const struct run_outcome *out)
{
    leat_json_array(j, "profile");
    for (uint32_t i = 0; i < out->calls; i++) {
        const struct leat_task_profile *c = &out->call[i];
        leat_json_object(j, NULL);
        leat_json_string(j, "call", c->name);
        leat_json_uint(j, "calls", c->calls);
        leat_json_uint(j, "bytes", c->octets);
        json_fixed(j, "seconds", run_seconds(c->took_ps), 12);
        json_fixed(j, "waiting_seconds", run_seconds(c->waited_ps), 12);
        leat_json_end(j);
    }
    leat_json_end(j);
}
