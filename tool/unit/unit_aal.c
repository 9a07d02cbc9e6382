/*
 * leat unit aal: the network with its sixteen adaptation layer units, register by register, under a
 * schedule of host orders (spec/atm.md, 5.5). Each cycle is shown as the thesis' appendix J prints
 * it, or as JSON, or as a waveform; what hosts receive is printed on standard error.
 */
#include "aal_schedule.h"
#include "unit_show.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PORTS = AAL_SCHEDULE_PORTS,
    CYCLES_DEFAULT_MAX = 100000, /* if hosts or units never become idle */
    NAME_LEN = 24,
};

struct run {
    struct aal_schedule schedule;
    struct leat_sim_atm_aal_bench bench;
    struct unit_show show;
};

/* ---- names -------------------------------------------------------------------------------- */

/* What follows "aal34[5]" in a signal's name. */
struct names {
    char signal[LEAT_SIM_ATM_AAL_SIGNALS][NAME_LEN];
    char block[LEAT_ATM_AAL_BLOCKS][LEAT_SIM_ATM_AAL_BLOCK_SIGNALS][NAME_LEN];
    char messages[PORTS][NAME_LEN];
};

static void make_names(struct names *names)
{
    for (int i = 0; i < LEAT_SIM_ATM_AAL_SIGNALS; i++)
        snprintf(names->signal[i], NAME_LEN, ".%s", leat_sim_atm_aal_signals[i].name);
    for (int b = 0; b < LEAT_ATM_AAL_BLOCKS; b++)
        for (int i = 0; i < LEAT_SIM_ATM_AAL_BLOCK_SIGNALS; i++)
            snprintf(names->block[b][i], NAME_LEN, ".%s[%d]",
                     leat_sim_atm_aal_block_signals[i].name, b);
    for (int i = 0; i < PORTS; i++)
        snprintf(names->messages[i], NAME_LEN, ".msgnumfrm[%d]", i);
}

/* ---- one cycle ---------------------------------------------------------------------------- */

struct walk {
    const struct leat_sim_atm_aal_bench *bench;
    const struct names *names;
    struct trace *trace;
    uint32_t unit;
    uint16_t blocks;
};

static void begin_line(const struct walk *w, const char *label, bool grouped)
{
    char line[128];
    if (w->trace->format != TRACE_THESIS) return;
    snprintf(line, sizeof line, "aal34[%" PRIu32 "].%s", w->unit, label);
    trace_line(w->trace, line, grouped);
}

static void show_value(const struct walk *w, const char *name,
                       const struct leat_sim_atm_aal_signal *signal, int64_t value)
{
    trace_value(w->trace, (struct trace_name){ "aal34", (int)w->unit, name }, signal->width,
                signal->hex ? HEX : DECIMAL, value);
}

/* Signals first..last of one block, those of the send or of the receive buffer. */
static void show_block(const struct walk *w, int64_t block, int first, int last)
{
    int64_t values[LEAT_SIM_ATM_AAL_BLOCK_SIGNALS];
    leat_sim_atm_aal_bench_inspect_block(w->bench, w->unit, (uint16_t)block, values);
    for (int i = first; i <= last; i++)
        show_value(w, w->names->block[block][i], &leat_sim_atm_aal_block_signals[i], values[i]);
}

/* The active block is printed; where signals have names, also those that are always shown. */
static void show_blocks(const struct walk *w, int64_t current, int first, int last)
{
    if (w->trace->format != TRACE_THESIS)
        for (int64_t b = 0; b < w->blocks; b++)
            show_block(w, b, first, last);
    if (w->trace->format == TRACE_THESIS ||
        (w->trace->format == TRACE_JSONL && current >= w->blocks))
        show_block(w, current, first, last);
}

static void show_signals(const struct walk *w, const char *label, const int64_t *values, int first,
                         int last)
{
    begin_line(w, label, last > first);
    for (int i = first; i <= last; i++)
        show_value(w, w->names->signal[i], &leat_sim_atm_aal_signals[i], values[i]);
}

static void show_send_half(const struct walk *w, const int64_t *values)
{
    const int64_t b = values[LEAT_SIM_ATM_AAL_CURSND];
    char label[96];
    show_signals(w, "(ogmsgnum, ogbblknum, ogfb, oglb, ogfi, ogli, cursnd)", values,
                 LEAT_SIM_ATM_AAL_OGMSGNUM, LEAT_SIM_ATM_AAL_CURSND);
    snprintf(label, sizeof label,
             "(blktime[%d], blkcomtype[%d], blkdst[%d], acknum[%d], ogblktofr[%d])", (int)b, (int)b,
             (int)b, (int)b, (int)b);
    begin_line(w, label, true);
    show_blocks(w, b, LEAT_SIM_ATM_AAL_BLKTIME, LEAT_SIM_ATM_AAL_OGBLKTOFR);
    show_signals(w, "ogsuspend", values, LEAT_SIM_ATM_AAL_OGSUSPEND, LEAT_SIM_ATM_AAL_OGSUSPEND);
    show_signals(w, "(buf, ogbyte)", values, LEAT_SIM_ATM_AAL_BUF, LEAT_SIM_ATM_AAL_OGBYTE);
    show_signals(w, "(bufi, ogbytei)", values, LEAT_SIM_ATM_AAL_BUFI, LEAT_SIM_ATM_AAL_OGBYTEI);
}

static void show_receive_half(const struct walk *w, const int64_t *values)
{
    static const struct leat_sim_atm_aal_signal messages = { "msgnumfrm", 16, false };
    const int64_t b = values[LEAT_SIM_ATM_AAL_ICCURB];
    char label[48];
    show_signals(w, "icbyte", values, LEAT_SIM_ATM_AAL_ICBYTE, LEAT_SIM_ATM_AAL_ICBYTE);
    show_signals(w, "icbytei", values, LEAT_SIM_ATM_AAL_ICBYTEI, LEAT_SIM_ATM_AAL_ICBYTEI);
    show_signals(w, "icsuspend", values, LEAT_SIM_ATM_AAL_ICSUSPEND, LEAT_SIM_ATM_AAL_ICSUSPEND);
    show_signals(w, "count", values, LEAT_SIM_ATM_AAL_COUNT, LEAT_SIM_ATM_AAL_COUNT);
    show_signals(w, "(icblkinmsgnum, icbblknum, icfb, iclb, icfi, icli, iccurb)", values,
                 LEAT_SIM_ATM_AAL_ICBLKINMSGNUM, LEAT_SIM_ATM_AAL_ICCURB);
    snprintf(label, sizeof label, "(blkinmsg[%d], icblktofr[%d])", (int)b, (int)b);
    begin_line(w, label, true);
    show_blocks(w, b, LEAT_SIM_ATM_AAL_BLKINMSG, LEAT_SIM_ATM_AAL_ICBLKTOFR);
    begin_line(w, "msgnumfrm(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15)", true);
    for (uint32_t i = 0; i < PORTS; i++)
        show_value(w, w->names->messages[i], &messages,
                   leat_sim_atm_aal_bench_messages(w->bench, w->unit, i));
}

static void show_units(const struct run *run, struct trace *trace, const struct names *names)
{
    for (uint32_t unit = 0; unit < PORTS; unit++) {
        const struct aal_shown *shown = &run->schedule.shown[unit];
        const struct walk w = { &run->bench, names, trace, unit, shown->blocks };
        int64_t values[LEAT_SIM_ATM_AAL_SIGNALS];
        if (!shown->shown) continue;
        leat_sim_atm_aal_bench_inspect(&run->bench, unit, values);
        show_signals(&w, "state(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", values, LEAT_SIM_ATM_AAL_STATE0,
                     LEAT_SIM_ATM_AAL_STATE10);
        show_send_half(&w, values);
        show_receive_half(&w, values);
    }
}

static void show_cycle(struct run *run, const struct names *names)
{
    const uint32_t cycle = (uint32_t)leat_sim_atm_aal_bench_now(&run->bench);
    struct trace *vcd = &run->show.vcd;
    trace_begin(&run->show.trace, cycle);
    show_units(run, &run->show.trace, names);
    trace_end(&run->show.trace);
    if (!run->show.has_vcd) return;
    trace_begin(vcd, cycle);
    show_units(run, vcd, names);
    trace_end(vcd);
    if (cycle > 0) return;
    /* That walk only declared; but here reset is a cycle, too. */
    vcd->declaring = false;
    vcd->next = 0;
    leat_vcd_time(&vcd->vcd, 0);
    show_units(run, vcd, names);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void report(const struct leat_sim_atm_aal_news *n, const char *text)
{
    complain("cycle %" PRIu64 ": aal34[%" PRIu32 "]: %s", n->at, n->unit, text);
}

static void report_octets(const struct aal_schedule *schedule,
                          const struct leat_sim_atm_aal_news *n)
{
    const enum aal_data data = (enum aal_data)schedule->data[n->unit][n->order];
    char line[512];
    struct leat_text text;
    leat_text_init(&text, line, sizeof line - 1, NULL, NULL);
    leat_text_puts(&text, aal_order_name(LEAT_ATM_AAL_GET, data));
    leat_text_putc(&text, ' ');
    aal_data_show(data, n->octets, n->len, &text);
    if (n->event == LEAT_SIM_ATM_AAL_SHORT) leat_text_puts(&text, " and the end of the message");
    line[text.len] = '\0';
    report(n, line);
}

static void on_event(void *context, const struct leat_sim_atm_aal_news *n)
{
    char line[64];
    switch (n->event) {
    case LEAT_SIM_ATM_AAL_WRITTEN:
    case LEAT_SIM_ATM_AAL_FOUND: break;
    case LEAT_SIM_ATM_AAL_TOO_LONG: report(n, "the send buffer is full (msgtoolong)"); break;
    case LEAT_SIM_ATM_AAL_NO_MEMORY: report(n, "the message waits for a free block (nomem)"); break;
    case LEAT_SIM_ATM_AAL_EXIT:
        report(n, "the message is longer than the send buffer and thrown away (exit)");
        break;
    case LEAT_SIM_ATM_AAL_UNDELIVERABLE:
        if (n->destination == LEAT_ATM_TASK_BROADCAST)
            report(n, "undeliverable to all");
        else {
            snprintf(line, sizeof line, "undeliverable to port %d", n->destination);
            report(n, line);
        }
        break;
    case LEAT_SIM_ATM_AAL_DENIED: report(n, "no such message for rcv"); break;
    case LEAT_SIM_ATM_AAL_GOT:
    case LEAT_SIM_ATM_AAL_SHORT: report_octets(context, n); break;
    }
}

/* ---- a run -------------------------------------------------------------------------------- */

/* The bench's memory; NULL after a complaint. */
static void *make_bench(struct run *run)
{
    struct leat_sim_atm_aal_bench_config config = { .schedules = run->schedule.hosts,
                                                    .on_event = on_event,
                                                    .event_context = &run->schedule };
    struct leat_text why = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    void *memory = NULL;
    if (leat_sim_atm_fabric_parse("clos444", &config.fabric, &why) == LEAT_ERR_OK) {
        leat_atm_aal_config_default(&config.aal, 0, PORTS, config.fabric.net.paths);
        memory = calloc(1, leat_sim_atm_aal_bench_footprint(&config));
    }
    if (memory)
        leat_sim_atm_aal_bench_init(&run->bench, &config, memory);
    else
        complain("no memory for the network");
    return memory;
}

/* All cycles; by default, until nothing happens any more. */
static void run_cycles(struct run *run, uint32_t cycles)
{
    static struct names names;
    uint64_t last = cycles ? cycles : CYCLES_DEFAULT_MAX;
    bool resting = cycles != 0;
    make_names(&names);
    show_cycle(run, &names);
    while (leat_sim_atm_aal_bench_now(&run->bench) < last && !interrupted &&
           !unit_show_failed(&run->show)) {
        leat_sim_atm_aal_bench_step(&run->bench);
        show_cycle(run, &names);
        if (!resting && leat_sim_atm_aal_bench_at_rest(&run->bench)) {
            resting = true;
            last = leat_sim_atm_aal_bench_now(&run->bench) + UNIT_CYCLES_AFTER;
        }
    }
    if (!resting && !interrupted && !unit_show_failed(&run->show))
        complain("not at rest after %d cycles; --cycles N shows more", CYCLES_DEFAULT_MAX);
    if (run->show.has_vcd)
        trace_finish(&run->show.vcd, (uint32_t)leat_sim_atm_aal_bench_now(&run->bench));
}

static int show_run(struct run *run, const struct unit_options *options)
{
    int result = FAILED;
    void *memory = make_bench(run);
    if (memory && unit_show_open(&run->show, options, "aal")) {
        run_cycles(run, options->cycles);
        if (unit_show_close(&run->show)) result = DONE;
    }
    free(memory);
    return result;
}

static bool read_schedule(struct aal_schedule *schedule, const char *path)
{
    struct input in;
    if (!path) {
        aal_schedule_two_messages(schedule);
        return true;
    }
    if (!input_open(&in, path)) return false;
    const bool sound = aal_schedule_read(schedule, &in);
    input_close(&in);
    return sound;
}

static unsigned signal_count(const struct aal_schedule *schedule)
{
    unsigned count = 0;
    for (int i = 0; i < PORTS; i++)
        if (schedule->shown[i].shown)
            count += LEAT_SIM_ATM_AAL_SIGNALS + PORTS +
                     LEAT_SIM_ATM_AAL_BLOCK_SIGNALS * (unsigned)schedule->shown[i].blocks;
    return count;
}

int run_unit_aal(const struct arguments *args)
{
    static struct run run;
    struct unit_options options;
    int result = WRONG;
    if (args->operand_count > 2) return misuse(args->verb, "aal: expected one file at most");
    if (!unit_options_read(args, &options)) return WRONG;
    if (read_schedule(&run.schedule, args->operand_count == 2 ? args->operand[1] : NULL)) {
        const unsigned signals = signal_count(&run.schedule);
        if (options.vcd && signals > TRACE_SIGNALS_MAX)
            complain("--vcd %s: %u signals, expected at most %d: fewer units or blocks under "
                     "outputs",
                     options.vcd, signals, TRACE_SIGNALS_MAX);
        else
            result = show_run(&run, &options);
    }
    aal_schedule_close(&run.schedule);
    return interrupted ? SIGNALLED + interrupted : result;
}
