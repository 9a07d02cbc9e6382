/* leat report: what a page shows of a leat.run/1 object. It is read twice: sizes first. */
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes that the first reading finds. */
struct sizes {
    uint32_t tasks, calls, bins, states;
    bool has_timeline, has_pairs;
};

struct filling {
    struct program_run *run;
    struct sizes size;
    uint32_t sender, receiver; /* of the pair at hand */
    uint32_t state;            /* of the share at hand */
    uint32_t merged;           /* bins in a column */
    double bin_seconds;
    bool is_damaged;
};

static bool is(const char *path, const char *name)
{
    return strcmp(path, name) == 0;
}

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

static void reach(uint32_t *most, double value)
{
    if (value >= 0 && value < UINT32_MAX && *most < (uint32_t)value + 1)
        *most = (uint32_t)value + 1;
}

/* ---- sizes --------------------------------------------------------------------------------- */

static bool on_size(void *context, const char *path, const struct report_value *value)
{
    struct sizes *s = context;
    if (is(path, "pairs[].sender") || is(path, "pairs[].receiver")) {
        s->has_pairs = true;
        reach(&s->tasks, value->number);
    }
    if (is(path, "profile[].call")) reach(&s->calls, value->index[0]);
    if (is(path, "timeline.state_names[]")) reach(&s->states, value->index[0]);
    if (begins(path, "timeline.bins[][]")) {
        s->has_timeline = true;
        reach(&s->tasks, value->index[0]);
        reach(&s->bins, value->index[1]);
    }
    return true;
}

static uint32_t group_of(uint32_t count, uint32_t most)
{
    return count ? (count + most - 1) / most : 1;
}

static bool make_room(struct program_run *run, const struct sizes *s, uint32_t *merged)
{
    const uint32_t group = group_of(s->tasks, PROGRAM_ROWS_MAX);
    const uint32_t rows = (s->tasks + group - 1) / group;
    if (s->tasks > PROGRAM_TASKS_MAX || s->bins > PROGRAM_BINS_MAX ||
        s->calls > PROGRAM_STATES_MAX || s->states > PROGRAM_STATES_MAX)
        return false;
    run->call = calloc(s->calls + 1, sizeof *run->call);
    if (s->has_pairs) {
        run->matrix = (struct program_matrix){ .rows = rows, .group = group };
        run->matrix.octets = calloc((size_t)rows * rows, sizeof *run->matrix.octets);
        run->matrix.messages = calloc((size_t)rows * rows, sizeof *run->matrix.messages);
        if (!run->matrix.octets || !run->matrix.messages) return false;
    }
    *merged = group_of(s->bins, PROGRAM_COLUMNS_MAX);
    if (s->has_timeline) {
        struct program_timeline *t = &run->timeline;
        *t = (struct program_timeline){ .rows = rows, .group = group, .states = s->states };
        t->columns = (s->bins + *merged - 1) / *merged;
        t->share = calloc((size_t)rows * t->columns * (s->states + 1), sizeof *t->share);
        t->state = calloc(s->states + 1, sizeof *t->state);
        if (!t->share || !t->state) return false;
    }
    return run->call != NULL;
}

/* ---- values -------------------------------------------------------------------------------- */

/* Characters of a JSON string as they are written; names of leat need no escapes. */
static void take_text(const struct report_value *value, char *name, size_t cap)
{
    const size_t len = value->len < cap ? value->len : cap - 1;
    if (value->kind != REPORT_STRING) return;
    memcpy(name, value->text, len);
    name[len] = '\0';
}

static void take_name(const struct report_value *value, char name[PROGRAM_NAME_CAP])
{
    take_text(value, name, PROGRAM_NAME_CAP);
}

static void on_call(struct filling *f, const char *member, const struct report_value *value)
{
    if (value->index[0] >= f->size.calls) return;
    struct program_call *call = &f->run->call[value->index[0]];
    if (is(member, "call")) take_name(value, call->name);
    if (is(member, "calls")) call->calls = value->number;
    if (is(member, "bytes")) call->octets = value->number;
    if (is(member, "seconds")) call->seconds = value->number;
    if (is(member, "waiting_seconds")) call->waiting_seconds = value->number;
}

const char *const program_unit[PROGRAM_UNITS] = { "flits", "cells", "frames", "packets" };

/* A wire has one unit. */
static void on_carried(struct filling *f, struct program_wire *wire, const char *member,
                       double carried)
{
    for (uint32_t i = 0; i < PROGRAM_UNITS; i++) {
        if (!is(member, program_unit[i])) continue;
        f->is_damaged |= wire->unit != NULL;
        wire->unit = program_unit[i];
        wire->carried = carried;
    }
}

static void on_wire(struct filling *f, const char *member, const struct report_value *value)
{
    if (value->index[0] >= PROGRAM_WIRES_MAX) return;
    struct program_wire *wire = &f->run->wire[value->index[0]];
    f->run->wires = value->index[0] + 1;
    if (is(member, "wire"))
        take_text(value, wire->name, sizeof wire->name);
    else if (is(member, "utilisation"))
        wire->utilisation = value->number;
    else
        on_carried(f, wire, member, value->number);
}

/* Sender and receiver come before what they exchanged. */
static void on_pair(struct filling *f, const char *member, const struct report_value *value)
{
    struct program_matrix *m = &f->run->matrix;
    const uint32_t task = value->number >= 0 ? (uint32_t)fmin(value->number, PROGRAM_TASKS_MAX) : 0;
    if (is(member, "sender")) f->sender = task / m->group;
    if (is(member, "receiver")) f->receiver = task / m->group;
    if (f->sender >= m->rows || f->receiver >= m->rows) {
        f->is_damaged = true;
        return;
    }
    const size_t at = (size_t)f->sender * m->rows + f->receiver;
    if (is(member, "messages")) m->messages[at] += value->number;
    if (is(member, "bytes")) m->octets[at] += value->number;
}

/* tasks[task][bin][n] = [state, share]. */
static void on_share(struct filling *f, const struct report_value *value)
{
    struct program_timeline *t = &f->run->timeline;
    const uint32_t *index = value->index;
    if (index[3] == 0) {
        f->state = (uint32_t)fmin(fmax(value->number, 0), PROGRAM_STATES_MAX);
        f->is_damaged |= f->state >= t->states;
    } else if (!f->is_damaged) {
        const uint32_t row = index[0] / t->group, column = index[1] / f->merged;
        t->share[((size_t)row * t->columns + column) * t->states + f->state] +=
            (float)value->number;
    }
}

static void on_scalar(struct program_run *run, const char *path, const struct report_value *value)
{
    const bool known = value->kind == REPORT_NUMBER;
    if (is(path, "status")) take_name(value, run->status);
    if (is(path, "certificate")) take_name(value, run->certificate);
    if (is(path, "tasks") && known) run->tasks = (uint32_t)fmin(fmax(value->number, 0), UINT16_MAX);
    if (is(path, "simulated_seconds") && known) run->seconds = value->number;
    if (is(path, "messages")) run->messages = value->number;
    if (is(path, "bytes")) run->octets = value->number;
    if (is(path, "contention_seconds") && known) run->contention_seconds = value->number;
    if (is(path, "per_task[].seconds")) run->task_seconds += value->number;
    if (is(path, "per_task[].waiting_seconds")) run->task_waiting_seconds += value->number;
}

static bool on_value(void *context, const char *path, const struct report_value *value)
{
    struct filling *f = context;
    if (begins(path, "timeline.bins[][][][]"))
        on_share(f, value);
    else if (begins(path, "pairs[]."))
        on_pair(f, path + strlen("pairs[]."), value);
    else if (begins(path, "profile[]."))
        on_call(f, path + strlen("profile[]."), value);
    else if (begins(path, "busiest_wires[]."))
        on_wire(f, path + strlen("busiest_wires[]."), value);
    else if (is(path, "timeline.state_names[]") && f->run->timeline.state)
        take_name(value, f->run->timeline.state[value->index[0]]);
    else if (is(path, "timeline.bin_seconds"))
        f->bin_seconds = value->number;
    else
        on_scalar(f->run, path, value);
    return !f->is_damaged;
}

/* ---- a result ------------------------------------------------------------------------------ */

/* Sums become means over the tasks and bins of a cell. */
static void average(struct program_timeline *t, const struct filling *f)
{
    t->column_seconds = f->merged * f->bin_seconds;
    for (uint32_t row = 0; row < t->rows; row++) {
        const uint32_t after = (row + 1) * t->group;
        const uint32_t tasks = (after < f->size.tasks ? after : f->size.tasks) - row * t->group;
        float *share = t->share + (size_t)row * t->columns * t->states;
        for (size_t i = 0; i < (size_t)t->columns * t->states; i++)
            share[i] /= (float)(tasks * f->merged);
    }
}

bool program_result_read(const char *json, struct program_run *run)
{
    struct filling f = { .run = run, .merged = 1 };
    f.size.tasks = run->tasks;
    run->seconds = run->contention_seconds = NAN;
    if (!report_json_each(json, on_size, &f.size) || !make_room(run, &f.size, &f.merged) ||
        !report_json_each(json, on_value, &f) || f.is_damaged)
        return false;
    run->calls = f.size.calls;
    average(&run->timeline, &f);
    return true;
}

void program_run_free(struct program_run *run)
{
    char **const texts[] = { &run->version, &run->command, &run->options, &run->fabric,
                             &run->created };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(*texts[i]);
    free(run->call);
    free(run->matrix.octets);
    free(run->matrix.messages);
    free(run->timeline.share);
    free(run->timeline.state);
    *run = (struct program_run){ 0 };
}
