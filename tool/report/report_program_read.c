/* leat report: the programs of a store, the latest run of each over each fabric. */
#include "report.h"
#include <stdlib.h>
#include <string.h>

struct reading {
    struct report *report;
    int code; /* of a complaint */
};

static bool is_of(const struct program_run *run, const struct store_program *program)
{
    return strcmp(run->command, program->command) == 0 &&
           strcmp(run->options, program->options) == 0;
}

/* The place for a run: that of an earlier one over its fabric, or behind the program's others. */
static size_t place_of(const struct programs *all, const struct store_program *program,
                       bool *is_there)
{
    size_t place = all->runs;
    *is_there = false;
    for (size_t i = 0; i < all->runs && !*is_there; i++) {
        if (!is_of(&all->run[i], program)) continue;
        *is_there = strcmp(all->run[i].fabric, program->fabric) == 0;
        place = *is_there ? i : i + 1;
    }
    return place;
}

static size_t count_fabrics(const struct programs *all, const struct store_program *program)
{
    size_t count = 0;
    for (size_t i = 0; i < all->runs; i++)
        count += is_of(&all->run[i], program);
    return count;
}

static bool too_many(struct reading *r, const char *what, int most)
{
    complain("%s: there are more than %d %s, which is all that one report shows: select some with "
             "--where, or use --csv alone, which has all",
             r->report->name, most, what);
    r->code = WRONG;
    return false;
}

/* Makes room at a place, which is then empty. */
static bool open_place(struct reading *r, const struct store_program *program,
                       struct program_run **out)
{
    struct programs *all = &r->report->programs;
    bool is_there;
    const size_t place = place_of(all, program, &is_there);
    *out = &all->run[place];
    if (is_there) {
        program_run_free(*out);
        return true;
    }
    if (all->runs == PROGRAM_RUNS_MAX) return too_many(r, "runs of programs", PROGRAM_RUNS_MAX);
    if (count_fabrics(all, program) == PROGRAM_FABRICS_MAX)
        return too_many(r, "fabrics of one program", PROGRAM_FABRICS_MAX);
    memmove(*out + 1, *out, (all->runs++ - place) * sizeof **out);
    **out = (struct program_run){ 0 };
    return true;
}

static bool on_program(void *context, const struct store_program *program)
{
    struct reading *r = context;
    struct program_run *run;
    if (interrupted) {
        r->code = FAILED;
        return false;
    }
    if (!open_place(r, program, &run)) return false;
    *run = (struct program_run){ .id = program->id,
                                 .tasks = program->tasks,
                                 .version = strdup(program->version),
                                 .command = strdup(program->command),
                                 .options = strdup(program->options),
                                 .fabric = strdup(program->fabric),
                                 .created = strdup(program->created) };
    if (!run->version || !run->command || !run->options || !run->fabric || !run->created) {
        r->code = fail("no memory");
        return false;
    }
    if (program_result_read(program->result, run)) return true;
    complain(
        "%s: program %lld, %s over %s: the result is damaged, expected the JSON object of leat "
        "run --json with at most %d tasks, %d states and %d calls",
        r->report->name, (long long)program->id, program->command, program->fabric,
        PROGRAM_TASKS_MAX, PROGRAM_STATES_MAX, PROGRAM_STATES_MAX);
    r->code = WRONG;
    return false;
}

int report_read_programs(struct report *report)
{
    struct reading r = { .report = report };
    if (report_each_program(report, on_program, &r)) return DONE;
    return r.code ? r.code : WRONG;
}

void report_free_programs(struct report *report)
{
    for (size_t i = 0; i < report->programs.runs; i++)
        program_run_free(&report->programs.run[i]);
    report->programs.runs = 0;
}
