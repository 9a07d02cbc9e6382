/* leat run: what each task did when, in bins of the same width for all. */
#include "json_out.h"
#include "run.h"
#include <stdlib.h>
#include <string.h>

enum { COMPUTING, WHOLE = 1000 }; /* the first state; a share of 1 */

/* One task at a time. */
struct work {
    struct leat_timeline timeline;
    uint16_t state[LEAT_TIMELINE_STATES]; /* of the run, for each of the task */
    leat_time begin, end;                 /* of the task, from the start of the run */
};

static bool add_state(struct run_timeline *t, const char *name, uint16_t *out)
{
    for (*out = 0; *out < t->states; ++*out)
        if (strcmp(t->state[*out], name) == 0) return true;
    void *grown = realloc(t->state, (t->states + 1) * sizeof *t->state);
    if (!grown) return complain("no memory for the timeline");
    t->state = grown;
    snprintf(t->state[t->states++], sizeof *t->state, "%s", name);
    return true;
}

static leat_time from_start(leat_time clock)
{
    return clock > RUN_START_PS ? clock - RUN_START_PS : 0;
}

static leat_time end_of(const struct leat_hub *hub, uint32_t task)
{
    const leat_time clock = from_start(leat_hub_task(hub, task)->clock);
    const leat_time until = leat_hub_timeline(hub, task)->until;
    return clock > until ? clock : until;
}

/* A copy in bins of the run's width; untouched memory stays so. */
static bool take_task(const struct leat_hub *hub, uint32_t task, struct run_timeline *t,
                      struct work *w)
{
    const struct leat_timeline *own = leat_hub_timeline(hub, task);
    const struct leat_task_profile *call;
    const uint32_t states = own->states < LEAT_TIMELINE_STATES ? own->states : LEAT_TIMELINE_STATES;
    w->timeline.bin_ps = own->bin_ps;
    w->timeline.states = states;
    memcpy(w->timeline.in_ps, own->in_ps, states * sizeof *own->in_ps);
    leat_timeline_widen(&w->timeline, t->bin_ps);
    w->begin = from_start(leat_hub_task(hub, task)->start);
    w->end = end_of(hub, task);
    for (uint32_t i = 0; i < states && (call = leat_hub_profile(hub, task, i)); i++)
        if (!add_state(t, call->name, &w->state[i])) return false;
    return true;
}

static bool add_slice(struct run_timeline *t, uint32_t task, uint32_t bin, uint16_t state,
                      leat_time ps)
{
    const uint16_t share = (uint16_t)((WHOLE * ps + t->bin_ps / 2) / t->bin_ps);
    if (!share) return true;
    if (t->slices == t->slice_cap) {
        const size_t cap = t->slice_cap ? 2 * t->slice_cap : 1024;
        void *grown = realloc(t->slice, cap * sizeof *t->slice);
        if (!grown) return complain("no memory for the timeline");
        t->slice = grown;
        t->slice_cap = cap;
    }
    t->slice[t->slices++] = (struct run_slice){ task, (uint16_t)bin, state, share };
    return true;
}

/* The part of the task's life that lies in a bin. */
static leat_time life_in(const struct work *w, leat_time from, leat_time to)
{
    if (from < w->begin) from = w->begin;
    if (to > w->end) to = w->end;
    return from < to ? to - from : 0;
}

static bool cut_task(struct run_timeline *t, uint32_t task, const struct work *w)
{
    for (uint32_t bin = 0; bin < LEAT_TIMELINE_BINS; bin++) {
        leat_time computing = life_in(w, bin * t->bin_ps, (bin + 1) * t->bin_ps);
        for (uint32_t i = 0; i < w->timeline.states; i++)
            computing -= computing < w->timeline.in_ps[i][bin] ? computing
                                                               : w->timeline.in_ps[i][bin];
        if (!add_slice(t, task, bin, COMPUTING, computing)) return false;
        for (uint32_t i = 0; i < w->timeline.states; i++)
            if (!add_slice(t, task, bin, w->state[i], w->timeline.in_ps[i][bin])) return false;
    }
    return true;
}

bool run_timeline_keep(const struct leat_hub *hub, struct run_outcome *out)
{
    static struct work work;
    struct run_timeline *t = &out->timeline;
    leat_time end = 0;
    uint16_t computing;
    for (uint32_t i = 0; i < out->tasks; i++)
        if (out->task[i].begun && end_of(hub, i) > end) end = end_of(hub, i);
    t->bin_ps = leat_timeline_width(end);
    if (!add_state(t, "computing", &computing)) return false;
    for (uint32_t i = 0; i < out->tasks; i++)
        if (out->task[i].begun && !(take_task(hub, i, t, &work) && cut_task(t, i, &work)))
            return false;
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_slice(struct leat_json *j, const struct run_slice *slice)
{
    char share[8];
    snprintf(share, sizeof share, slice->share < WHOLE ? "0.%03u" : "1", slice->share);
    leat_json_array(j, NULL);
    leat_json_uint(j, NULL, slice->state);
    leat_json_number(j, NULL, share);
    leat_json_end(j);
}

/* The bins of a task, up to the last in which it was there; returns the place behind its slices. */
static size_t put_task(struct leat_json *j, const struct run_timeline *t, uint32_t task, size_t at)
{
    leat_json_array(j, NULL);
    for (uint32_t bin = 0; at < t->slices && t->slice[at].task == task; bin++) {
        leat_json_array(j, NULL);
        for (; at < t->slices && t->slice[at].task == task && t->slice[at].bin == bin; at++)
            put_slice(j, &t->slice[at]);
        leat_json_end(j);
    }
    leat_json_end(j);
    return at;
}

void run_timeline_json(struct leat_json *j, const struct run_outcome *out)
{
    const struct run_timeline *t = &out->timeline;
    size_t at = 0;
    leat_json_object(j, "timeline");
    json_fixed(j, "bin_seconds", run_seconds(t->bin_ps), 12);
    leat_json_array(j, "state_names");
    for (uint32_t i = 0; i < t->states; i++)
        leat_json_string(j, NULL, t->state[i]);
    leat_json_end(j);
    leat_json_array(j, "bins");
    for (uint32_t i = 0; i < out->tasks; i++)
        if (out->task[i].begun) at = put_task(j, t, i, at);
    leat_json_end(j);
    leat_json_end(j);
}
