#include "unit_show.h"
#include "number.h"
#include <string.h>

/* The trace is JSON already, unless another form or file was requested. */
static bool json_fits(const struct arguments *args)
{
    const char *json = argument(args, "--json"), *format = argument(args, "--format");
    if (json && format && strcmp(format, "jsonl") != 0)
        return misused(args->verb, "--json and --format %s, expected one of them", format);
    return !json || !*json || !argument(args, "-o") ||
           misused(args->verb, "--json %s and -o, expected one file for the trace", json);
}

bool unit_options_read(const struct arguments *args, struct unit_options *options)
{
    const char *format = argument(args, "--format");
    *options = (struct unit_options){ .format = format && !strcmp(format, "thesis") ? TRACE_THESIS
                                                                                    : TRACE_JSONL,
                                      .out = argument(args, "-o"),
                                      .vcd = argument(args, "--vcd") };
    const struct result_name names[] = { { options->out ? "-o" : "standard output", options->out },
                                         { "--vcd", options->vcd } };
    return json_fits(args) && number_take_small(args, "--cycles", &options->cycles) &&
           result_names_apart(args->verb, names, options->vcd ? 2 : 1,
                              args->operand_count == 2 ? args->operand[1] : NULL);
}

bool unit_show_open(struct unit_show *show, const struct unit_options *options, const char *bench)
{
    if (!result_file_open(&show->trace_file, options->out)) return false;
    if (options->vcd && !result_file_open(&show->vcd_file, options->vcd)) {
        result_file_drop(&show->trace_file);
        return false;
    }
    show->has_vcd = options->vcd != NULL;
    trace_init(&show->trace, options->format, bench, &show->trace_file.out.text);
    if (show->has_vcd) trace_init(&show->vcd, TRACE_VCD, bench, &show->vcd_file.out.text);
    return true;
}

bool unit_show_failed(const struct unit_show *show)
{
    return show->trace_file.out.error || (show->has_vcd && show->vcd_file.out.error);
}

/* Both files are complete before the first one appears. */
bool unit_show_close(struct unit_show *show)
{
    bool done = result_file_finish(&show->trace_file);
    if (show->has_vcd) done = result_file_finish(&show->vcd_file) && done;
    if (done) done = result_file_keep(&show->trace_file);
    if (done && show->has_vcd) done = result_file_keep(&show->vcd_file);
    result_file_drop(&show->trace_file);
    result_file_drop(&show->vcd_file);
    return done;
}
