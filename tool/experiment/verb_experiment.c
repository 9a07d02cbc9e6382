/* leat experiment: repeats the measurements of the thesis with its programs. */
#include "experiment.h"
#include "fabric.h"
#include "input.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct kind {
    const char *name;
    int (*run)(struct experiment *e);
} kinds[] = {
    { "echo", experiment_echo },
    { "linear", experiment_linear },
    { "matrix", experiment_matrix },
    { "contention", experiment_contention },
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name)) return &kinds[i];
    return NULL;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static bool open_folder(struct experiment *e)
{
    snprintf(e->folder, sizeof e->folder, "/tmp/leat-experiment.XXXXXX");
    if (!mkdtemp(e->folder))
        return complain("%s: a folder for the experiment cannot be made", e->folder);
    snprintf(e->input, sizeof e->input, "%.40s/input", e->folder);
    snprintf(e->records, sizeof e->records, "%.40s/records.csv", e->folder);
    return true;
}

static void remove_folder(const struct experiment *e)
{
    unlink(e->input);
    unlink(e->records);
    rmdir(e->folder);
}

static bool write_input(const struct experiment *e, const void *octets, size_t len)
{
    FILE *file = fopen(e->input, "wb");
    bool good = file && fwrite(octets, 1, len, file) == len;
    if (file && fclose(file)) good = false;
    if (!good) complain("%s: cannot be written", e->input);
    return good;
}

bool experiment_copy_input(const struct experiment *e, const char *file, const char *text,
                           long *len)
{
    enum { LEN_MAX = 1 << 24 };
    struct input in;
    if (!file) {
        *len = (long)strlen(text);
        return write_input(e, text, strlen(text));
    }
    if (!input_open(&in, file)) return false;
    bool good = input_fill(&in, LEN_MAX + 1);
    if (good && input_len(&in) > LEN_MAX) {
        complain("%s: more than %d octets, expected fewer", file, LEN_MAX);
        good = false;
    }
    *len = (long)input_len(&in);
    good = good && write_input(e, input_octets(&in), input_len(&in));
    input_close(&in);
    return good;
}

/* ---- running --------------------------------------------------------------------------------- */

int experiment_run(struct experiment *e, const char *program, const char *argument,
                   bool contention_free, bool all, struct comm_records *records,
                   struct run_outcome *out)
{
    char *words[] = { e->job.program, (char *)argument, NULL };
    char part[64];
    snprintf(part, sizeof part, "programs/%s", program);
    if (!run_find_part(part, e->job.program, sizeof e->job.program)) return FAILED;
    e->job.words = words;
    e->job.tasks = 0;
    if (!run_once(&e->job, contention_free, out)) return out->has_no_memory ? FAILED : WRONG;
    const int code = run_judge(&e->job, out);
    if (code) return code;
    return comm_read(e->records, all, records) ? DONE : FAILED;
}

static bool read_options(const struct arguments *args, struct experiment *e)
{
    enum leat_sim_atm_model model;
    struct leat_sim_atm_fabric fabric;
    *e = (struct experiment){ .args = args, .json = argument(args, "--json") };
    e->job = (struct run_job){ .verb = args->verb,
                               .args = args,
                               .fabric = argument(args, "--fabric"),
                               .library = RUN_ATM,
                               .records = e->records,
                               .silent = true };
    if (!e->job.fabric) e->job.fabric = "clos444";
    if (!fabric_read_atm(args->verb, e->job.fabric, &fabric)) return false;
    e->net = fabric.net;
    return sim_read_model(args, &model);
}

static int run_experiment(const struct arguments *args)
{
    static struct experiment e;
    const struct kind *kind = args->operand_count ? find_kind(args->operand[0]) : NULL;
    if (!kind)
        return misuse(args->verb, "expected echo, linear, matrix or contention, as in leat "
                                  "experiment echo");
    if (!read_options(args, &e)) return WRONG;
    if (!open_folder(&e)) return FAILED;
    const int code = kind->run(&e);
    remove_folder(&e);
    return finish(code);
}

const struct verb verb_experiment = {
    .name = "experiment",
    .summary = "repeat the measurements of the thesis",
    .synopsis = "echo|linear|matrix|contention [FILE] [--fabric F] [--sizes LIST] [--poll] "
                "[--model rtl|cell] [--json]",
    .description =
        "Runs the programs of the thesis (leat/atm_task.h) over the network, a process for each "
        "task, and measures them as it did.\n"
        "echo: the one-way delay of a message by its size, beside the closed form (T(N) of the "
        "thesis' network; T(N)-12 where cells cross a fabric in 12 cycles less) and what was "
        "published of clos444; its regression; r_max, the greatest throughput, in octets per "
        "cycle and in Mbit/s at lines of 155.52 and 622.08 Mbit/s; n_1/2, the octets that reach "
        "half of it; t_0, the delay of 4 octets.\n"
        "linear: a system of linear equations, one task for each coefficient (FILE, n lines of "
        "n+1 integers; default: the thesis' example 4, with its contention study). matrix: a "
        "product (FILE: the rows of A, a line `*`, the rows of B). Both show what the program "
        "wrote, the cycle of the last message among its workers, the same without contention, "
        "and the same by the thesis' rule: each message takes 193 cycles from the lock, "
        "receptions at a port are 40 cycles apart, tasks compute as long as they did.\n"
        "contention: that rule, applied to the records of a file, as `leat run --records` writes "
        "them and the thesis printed them.",
    .options = { { "--fabric", "F", "an ATM fabric; default clos444" },
                 { "--sizes", "LIST", "echo: octets, multiples of 4, commas between" },
                 { "--poll", NULL, "tasks poll for messages, every 81 cycles" },
                 { "--model", "M", "rtl or cell (default)" },
                 { "--obsolete", "CYCLES", "until a unit discards a message; default 40000" },
                 { "--descriptors", "N", "messages of a source at a time; default 32" },
                 { "--json", NULL, "as JSON" } },
    .examples = "leat experiment echo\n"
                "leat experiment echo --sizes 4,400,4000 --fabric bmx:8 --json\n"
                "leat experiment linear",
    .operands = "echo linear matrix contention",
    .run = run_experiment,
};
