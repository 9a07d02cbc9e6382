/* leat report: the runs of a store as a page, a picture, a table. */
#include "report.h"
#include "result_file.h"

/* Of a page with sweeps, and of one with programs alone. */
static const char title_of_sweeps[] = "Fabrics under load";
static const char title_of_programs[] = "Programs over networks";
static const char title_of_both[] = "Programs over networks, and fabrics under load";

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
    if (!report->title)
        report->title = !report->programs.runs ? title_of_sweeps
                        : report->runs         ? title_of_both
                                               : title_of_programs;
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
    int code = check_usage(args);
    if (!code && !where_read(args->verb, argument(args, "--where"), &report.where)) code = WRONG;
    if (code) return code;
    report.title = argument(args, "--title");
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
    .summary = "make a page, a picture or a table of sweeps and programs",
    .synopsis = "FILE [-o FILE] [--png FILE] [--csv FILE] [--where KEY=VALUE]... [--title TEXT]",
    .help = help_report,
    .options = {
        { "-o", "FILE", "write a page in HTML" },
        { "--png", "FILE", "draw the charts as a picture" },
        { "--csv", "FILE", "write a table of all runs" },
        { "--where", "KEY=VALUE", "only runs that match (leat help report where)", .repeats = true },
        { "--title", "TEXT", "the title of page and picture" },
    },
    .run = run_report,
};
