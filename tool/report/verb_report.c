/* leat report: the runs of a store as a page, a picture, a table. */
#include "report.h"
#include "result_file.h"

#define TITLE "Fabrics under load"

enum { PAGE, PNG, CSV, SHAPES };

static const char *const options[SHAPES] = { "-o", "--png", "--csv" };

static int check_usage(const struct arguments *args)
{
    struct result_name names[SHAPES];
    size_t wanted = 0;
    if (args->operand_count != 1)
        return misuse(args->verb,
                      "expected one store, as in leat report runs.sqlite -o report.html");
    for (int i = 0; i < SHAPES; i++) {
        const char *path = argument(args, options[i]);
        if (path) names[wanted++] = (struct result_name){ options[i], path };
    }
    if (!wanted) return misuse(args->verb, "expected at least one of -o, --png, --csv");
    return result_names_apart(args->verb, names, wanted, args->operand[0]) ? DONE : WRONG;
}

/* A table alone needs no points, and knows no limits. */
static int write_files(struct report *report, struct result_file *files)
{
    int code = DONE;
    if (files[PAGE].name || files[PNG].name) code = report_read(report);
    if (!code && files[PAGE].name) code = report_page(report, &files[PAGE].out.text);
    if (!code && files[CSV].name) code = report_csv(report, &files[CSV].out.text);
    if (!code && files[PNG].name) code = report_plot(report, &files[PNG].out.text);
    report_free(report);
    return interrupted ? FAILED : code;
}

/* All files are complete before the first one appears. */
static int close_files(struct result_file *files, int code)
{
    for (int i = 0; i < SHAPES && !code; i++)
        if (files[i].name && !result_file_finish(&files[i])) code = FAILED;
    for (int i = 0; i < SHAPES && !code; i++)
        if (files[i].name && !result_file_keep(&files[i])) code = FAILED;
    for (int i = 0; i < SHAPES; i++)
        result_file_drop(&files[i]);
    return code;
}

static int run_report(const struct arguments *args)
{
    static struct report report;
    static struct result_file files[SHAPES];
    const char *title = argument(args, "--title");
    int code = check_usage(args);
    if (code) return code;
    report.title = title ? title : TITLE;
    report.name = args->operand[0];
    report.store = store_open(report.name, STORE_READ, &code);
    if (!report.store) return code;
    for (int i = 0; i < SHAPES && !code; i++) {
        const char *path = argument(args, options[i]);
        if (path && !result_file_open(&files[i], path)) code = FAILED;
    }
    if (!code) code = write_files(&report, files);
    code = close_files(files, code);
    store_close(report.store);
    return interrupted ? SIGNALLED + interrupted : code;
}

const struct verb verb_report = {
    .name = "report",
    .summary = "make a page, a picture or a table of the runs of a sweep",
    .synopsis = "FILE [-o FILE] [--png FILE] [--csv FILE] [--title TEXT]",
    .description =
        "Reads a store of `leat sweep`, also while a sweep writes to it, and writes any of these, "
        "together or alone: a self-contained page with curves, tables and drawings of the fabrics; "
        "the curves as a picture; all runs as a table. The same store gives the same octets.",
    .topics = (const struct topic[]){
        { "page",
          "For each traffic, the page has the mean latency, the throughput and the 99th percentile "
          "of latency against the offered load, a line per fabric: means over all seeds with bands "
          "of 95 % confidence (Student's t; with one seed, the run's own interval). Saturated "
          "points are open and dashed. A fabric in several sweeps of the store has a line for each "
          "of them.\n"
          "A table lists where fabrics saturate, another all points as numbers. The fabrics are "
          "drawn, coloured by the utilisation of their wires. Fabrics whose runs do not report it "
          "(ATM fabrics, and networks of more than 8192 wires swept without --links) are drawn "
          "without colour, with the reason. Then follow what was lost, rerouted or deadlocked, and "
          "the commands that repeat the runs.\n"
          "A point counts as saturated if one of its runs is. Runs of ATM fabrics do not judge that "
          "themselves: one counts as saturated if less than 95 % of the cells had arrived that were "
          "offered a mean latency before its end.\n"
          "A page has at most 40 fabrics (of sweeps), 32 traffics, 256 sweeps and 65536 points, and "
          "draws 16 fabrics." },
        { "files",
          "--png draws the same curves as a picture, with rsvg-convert (package librsvg2-bin). "
          "--csv writes all runs, a line each, with every number and word of their results but "
          "lists (RFC 4180); it is limited only to 256 columns. `-` is standard output.\n"
          "Files appear only when all are complete, and none may be the store. A file that is not a "
          "store, or is empty, damaged or from a newer leat, is refused with exit code 2." },
        { NULL, NULL },
    },
    .options = {
        { "-o", "FILE", "write a page in HTML" },
        { "--png", "FILE", "draw the curves as a picture" },
        { "--csv", "FILE", "write a table of all runs" },
        { "--title", "TEXT", "the title of page and picture", .preset = TITLE },
    },
    .examples = "leat report runs.sqlite -o report.html\n"
                "leat report runs.sqlite -o report.html --png curves.png --csv runs.csv\n"
                "leat report runs.sqlite --csv -",
    .run = run_report,
};
