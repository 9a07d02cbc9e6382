/* leat experiment: repeats the measurements of the thesis with its programs. */
#include "experiment.h"
#include "fabric.h"
#include "fabric_atm.h"
#include "input.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the folder ------------------------------------------------------------------------------ */

/* It goes when the process ends, wherever that is, but not when one of its children does. */
static const struct experiment *removed_at_end;
static pid_t owner;

static void remove_folder(const struct experiment *e)
{
    unlink(e->input);
    unlink(e->records);
    rmdir(e->folder);
    removed_at_end = NULL;
}

static void on_exit_of_process(void)
{
    if (removed_at_end && getpid() == owner) remove_folder(removed_at_end);
}

static bool open_folder(struct experiment *e)
{
    snprintf(e->folder, sizeof e->folder, "/tmp/leat-experiment.XXXXXX");
    if (!mkdtemp(e->folder))
        return complain("%s: a folder for the experiment cannot be made", e->folder);
    snprintf(e->input, sizeof e->input, "%.40s/input", e->folder);
    snprintf(e->records, sizeof e->records, "%.40s/records.csv", e->folder);
    removed_at_end = e;
    owner = getpid();
    atexit(on_exit_of_process);
    return true;
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
    run_screen_title(e->title);
    if (!run_once(&e->job, contention_free, out)) return out->has_no_memory ? FAILED : WRONG;
    const int code = run_judge(&e->job, out);
    if (code) return code;
    return comm_read(e->records, all, records) ? DONE : FAILED;
}

struct leat_fabric *experiment_fabric(struct experiment *e, const char *word)
{
    enum leat_sim_atm_model model;
    struct leat_fabric *fabric = fabric_read_atm(e->args->verb, word);
    if (!fabric) return NULL;
    const struct leat_sim_atm_fabric *atm = &leat_fabric_as_atm(fabric)->fabric;
    e->job.fabric = word;
    e->ports = atm->net.ports;
    e->crossing = leat_sim_atm_fabric_idle_cycles(atm, 0, 1 % e->ports);
    if (sim_read_model(e->args, atm, &model)) return fabric;
    leat_fabric_close(fabric);
    return NULL;
}

static bool read_options(const struct arguments *args, struct experiment *e)
{
    const char *word = argument(args, "--fabric");
    *e = (struct experiment){ .args = args, .json = argument(args, "--json") };
    e->job = (struct run_job){
        .verb = args->verb, .args = args, .library = RUN_ATM, .records = e->records, .silent = true
    };
    struct leat_fabric *fabric = experiment_fabric(e, word ? word : "clos444");
    if (fabric) leat_fabric_close(fabric);
    return fabric;
}

/* The page, and what standard output has. */
static bool names_are_apart(const struct arguments *args)
{
    const char *page = argument(args, "-o");
    const struct result_name names[] = { { "standard output", NULL }, { "-o", page } };
    return !page || (result_names_apart(args->verb, names, 2,
                                        args->operand_count > 1 ? args->operand[1] : NULL) &&
                     result_apart_from_options(args, "-o"));
}

/* False after a complaint. */
static bool open_page(struct experiment *e)
{
    const char *path = argument(e->args, "-o");
    return !path || result_file_open(&e->page, path);
}

static int run_experiment(const struct arguments *args, int (*run)(struct experiment *e))
{
    static struct experiment e;
    if (!names_are_apart(args) || !read_options(args, &e)) return WRONG;
    if (!open_folder(&e)) return FAILED;
    int code = open_page(&e) ? run(&e) : FAILED;
    run_screen_title(NULL);
    remove_folder(&e);
    if (e.page.name && !result_file_close(&e.page, e.is_drawn)) code = FAILED;
    return finish(code);
}

static int run_echo(const struct arguments *args)
{
    return run_experiment(args, experiment_echo);
}

static int run_linear(const struct arguments *args)
{
    return run_experiment(args, experiment_linear);
}

static int run_matrix(const struct arguments *args)
{
    return run_experiment(args, experiment_matrix);
}

static int run_contention(const struct arguments *args)
{
    return run_experiment(args, experiment_contention);
}

static int run_compare_all(const struct arguments *args)
{
    return run_experiment(args, experiment_compare);
}

#define PROGRAM_OPTIONS                                                                      \
    "--fabric --polling --model --obsolete --descriptors --retransmit --fault --fault-file " \
    "--json "                                                                                \
    "-o"

static const struct subverb subverbs[] = {
    { "echo", "measure the one-way delay of messages by their size",
      "[--bytes LIST] [--fabric FABRIC] [--polling] [--model rtl|cell] [--json] [-o FILE]",
      "--bytes " PROGRAM_OPTIONS, run_echo },
    { "linear", "solve a system of linear equations, a task for each coefficient",
      "[FILE] [--fabric FABRIC] [--polling] [--model rtl|cell] [--json] [-o FILE]", PROGRAM_OPTIONS,
      run_linear },
    { "matrix", "multiply two matrices",
      "[FILE] [--fabric FABRIC] [--polling] [--model rtl|cell] [--json] [-o FILE]", PROGRAM_OPTIONS,
      run_matrix },
    { "contention", "apply the thesis' rule to records of messages",
      "FILE [--fabric FABRIC] [--json] [-o FILE]", "--fabric --json -o", run_contention },
    { "compare", "run all three programs over several fabrics: time, contention, loss, cost",
      "[--fabrics LIST] [-n N] [--polling] [--json] [-o FILE]",
      "--fabrics -n --polling --model --retransmit --obsolete --descriptors --json -o",
      run_compare_all },
    { "circuit", "carry a constant bit rate over a lossy line, with error correction",
      "[--line LINE|all] [--ber P] [--cell-loss P] [--blocks N] [--seed S] [--json]",
      "--line --ber --cell-loss --blocks --seed --json", experiment_circuit },
    { NULL },
};

const struct verb verb_experiment = {
    .name = "experiment",
    .summary = "repeat the measurements of the thesis",
    .synopsis = "echo|linear|matrix|contention|compare|circuit [FILE] [options]",
    .help = help_experiment,
    .subverbs = subverbs,
    .options = {
        { "--fabric", "FABRIC", "an ATM fabric", .preset = "clos444" },
        { "--fabrics", "LIST",
          "ATM fabrics with commas between; default: twelve switches and networks of 16 ports" },
        { "-n", "N", "unknowns of the linear system, and rows and columns of the matrices",
          COUNT(2, EXPERIMENT_SIZE_MAX) },
        { "--bytes", "LIST",
          "sizes of messages, multiples of 4 with commas between; default: those of the thesis",
          .former = "--sizes" },
        { "--polling", NULL, "tasks poll for messages, every 81 cycles", .former = "--poll" },
        { "--model", "MODEL", "how exactly to simulate", WORD("rtl cell"), .preset = "cell" },
        { "--retransmit", "CYCLES", "cycles until a cell is sent again", COUNT(1, UINT32_MAX),
          .preset = "400000" },
        { "--obsolete", "CYCLES", "cycles until a unit discards a message", COUNT(1, UINT32_MAX),
          .preset = "40000" },
        { "--descriptors", "N", "messages of one source that a unit holds", COUNT(1, UINT16_MAX),
          .preset = "32" },
        { "--fault", "F", "in the fabric, as link:0-4@1000..5000 (leat help sim faults)", true },
        { "--fault-file", "FILE", "a fault per line" },
        OPTION_JSON("JSON"),
        { "-o", "FILE", "write a page with charts in HTML" },
        { "--line", "LINE", "one of leat fabric lines, or all", .preset = "stm1" },
        { "--ber", "P", "chance that a bit of the line is wrong", SHARE(9), .preset = "0" },
        { "--cell-loss", "P", "chance that a cell is lost behind the line", SHARE(9),
          .preset = "0" },
        { "--blocks", "N", "blocks of 5,828 octets in 128 cells", COUNT(1, 1000000),
          .preset = "100" },
        { "--seed", "S", "random seed", COUNT(0, UINT64_MAX), .preset = "1" },
    },
};
