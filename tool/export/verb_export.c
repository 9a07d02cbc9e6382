/* leat export: converts a recording for other tools. */
#include "export_otf2.h"
#include "input.h"
#include "recording_expected.h"
#include "result_file.h"
#include "sim_export_csv.h"
#include "sim_export_pcapng.h"
#include "sim_export_perfetto.h"
#include "sim_export_vcd.h"
#include "tool.h"
#include <stdint.h>

enum { PCAPNG, VCD, PERFETTO, CSV, FILES, OTF2 = FILES, SHAPES };

static const char *const options[SHAPES] = { "--pcapng", "--vcd", "--perfetto", "--csv", "--otf2" };

struct exporter {
    struct input in;
    struct leat_sim_recording rec;
    struct leat_sim_export_pcapng pcapng;
    struct leat_sim_export_vcd vcd;
    struct leat_sim_export_perfetto perfetto;
    struct leat_sim_export_csv csv;
    struct result_file target[FILES]; /* name NULL: not wanted */
    struct export_otf2 otf2;          /* likewise */
};

/* ---- the recording ------------------------------------------------------------------------ */

static int damaged(const struct exporter *x, leat_err err, size_t fault_at)
{
    complain("%s: octet %llu: %s (%s), expected %s", x->in.name,
             (unsigned long long)(x->in.offset + fault_at), leat_err_text(err), leat_err_name(err),
             recording_expected(&x->rec, *input_octets(&x->in)));
    return WRONG;
}

static int cut(const struct exporter *x)
{
    complain("%s: octet %llu: the recording ends here (SHORT), expected records up to a CLOSE",
             x->in.name, (unsigned long long)(x->in.offset + input_len(&x->in)));
    return WRONG;
}

static void export_event(struct exporter *x, const struct leat_sim_event *e)
{
    if (x->target[PCAPNG].name) leat_sim_export_pcapng_event(&x->pcapng, e);
    if (x->target[VCD].name) leat_sim_export_vcd_event(&x->vcd, e);
    if (x->target[PERFETTO].name) leat_sim_export_perfetto_event(&x->perfetto, e);
    if (x->target[CSV].name) leat_sim_export_csv_event(&x->csv, e);
    if (x->otf2.name) export_otf2_event(&x->otf2, e);
}

static int export_recording(struct exporter *x)
{
    if (!input_fill(&x->in, LEAT_SIM_RECORDING_HEAD_LEN)) return WRONG;
    while (!interrupted) {
        struct leat_sim_event e;
        bool found;
        size_t used, fault_at = 0;
        const leat_err err = leat_sim_recording_next(
            &x->rec, input_octets(&x->in), input_len(&x->in), &e, &found, &used, &fault_at);
        if (err) return damaged(x, err, fault_at);
        if (found) export_event(x, &e);
        input_skip(&x->in, used);
        if (used) continue;
        if (x->in.at_end) return x->rec.closed ? DONE : cut(x);
        if (!input_fill(&x->in, input_len(&x->in) + 1)) return WRONG;
    }
    return FAILED;
}

/* ---- the files ---------------------------------------------------------------------------- */

static bool open_targets(struct exporter *x, const struct arguments *args)
{
    const char *folder = argument(args, options[OTF2]);
    for (int i = 0; i < FILES; i++) {
        const char *path = argument(args, options[i]);
        if (path && !result_file_open(&x->target[i], path)) return false;
    }
    leat_sim_recording_init(&x->rec);
    if (x->target[PCAPNG].name)
        leat_sim_export_pcapng_init(&x->pcapng, &x->rec, &x->target[PCAPNG].out.text);
    if (x->target[VCD].name) leat_sim_export_vcd_init(&x->vcd, &x->rec, &x->target[VCD].out.text);
    if (x->target[PERFETTO].name)
        leat_sim_export_perfetto_init(&x->perfetto, &x->rec, &x->target[PERFETTO].out.text);
    if (x->target[CSV].name) leat_sim_export_csv_init(&x->csv, &x->rec, &x->target[CSV].out.text);
    return !folder || export_otf2_open(&x->otf2, folder, &x->rec);
}

/* All files are complete before the first one appears. */
static int close_targets(struct exporter *x, int result)
{
    if (!result && x->otf2.name && !export_otf2_finish(&x->otf2)) result = FAILED;
    for (int i = 0; i < FILES && !result; i++)
        if (x->target[i].name && !result_file_finish(&x->target[i])) result = FAILED;
    if (!result && x->otf2.name && !export_otf2_keep(&x->otf2)) result = FAILED;
    for (int i = 0; i < FILES && !result; i++)
        if (x->target[i].name && !result_file_keep(&x->target[i])) result = FAILED;
    for (int i = 0; i < FILES; i++)
        result_file_drop(&x->target[i]);
    export_otf2_drop(&x->otf2);
    return result;
}

static int check_usage(const struct arguments *args)
{
    struct result_name names[SHAPES];
    const char *folder = argument(args, options[OTF2]);
    size_t wanted = 0;
    if (args->operand_count != 1) return misuse(args->verb, "expected one recording");
    for (int i = 0; i < SHAPES; i++) {
        const char *path = argument(args, options[i]);
        if (path) names[wanted++] = (struct result_name){ options[i], path };
    }
    if (!wanted)
        return misuse(args->verb,
                      "expected at least one of --pcapng, --vcd, --perfetto, --csv, --otf2");
    if (folder && !export_otf2_check(args->verb, folder)) return WRONG;
    return result_names_apart(args->verb, names, wanted, args->operand[0]) ? DONE : WRONG;
}

static int run_export(const struct arguments *args)
{
    static struct exporter x;
    int result = check_usage(args);
    if (result) return result;
    if (!input_open(&x.in, args->operand[0])) return WRONG;
    result = open_targets(&x, args) ? export_recording(&x) : FAILED;
    result = close_targets(&x, result);
    input_close(&x.in);
    return interrupted ? SIGNALLED + interrupted : result;
}

const struct verb verb_export = {
    .name = "export",
    .summary = "make captures, waveforms, traces and tables of a recording",
    .synopsis = "FILE [--pcapng FILE] [--vcd FILE] [--perfetto FILE] [--csv FILE] [--otf2 DIR]",
    .help = help_export,
    .options = {
        { "--pcapng", "FILE", "write a capture of the frames" },
        { "--vcd", "FILE", "write waveforms" },
        { "--perfetto", "FILE", "write a trace in JSON" },
        { "--csv", "FILE", "write a table of all events" },
        { "--otf2", "DIR", "write an OTF2 archive: DIR/traces.otf2" },
    },
    .run = run_export,
};
