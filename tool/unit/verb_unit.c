/*
 * leat unit: the unit benches of the ATM prototype (spec/atm.md, 6). Each cycle: the stimuli, the
 * units, then every signal is shown.
 */
#include "atm_bmx.h"
#include "input.h"
#include "stimuli.h"
#include "tool.h"
#include "unit_show.h"
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PORTS = 4,
    CAPACITY = LEAT_ATM_XPM_CELLS * LEAT_ATM_CELL_LEN,
    TABLE_DEPTH = LEAT_ATM_TABLE_DEPTH_MIN,
    ENTRY_LEN = 7,
    SWITCH_LEN_MAX = 1 << 15,
    LABEL_CAP = 48,
};

enum signal { BYTE, BYTEIND, FIFO, SUSPEND, WADR, DATAIN, WCMD, HEAD, TAIL, SIZE };

/* The units under test: `src` is read by SPDs, `dst` written by PPDs; bmx has one switch as both.
 */
struct units {
    struct leat_atm_bmx *src, *dst;
    struct leat_atm_link link[PORTS]; /* what comes in */
    bool suspend[PORTS];
    bool write_stimulated;
};

struct bench {
    const char *name;
    const struct stimulus_name *stimuli;
    size_t stimulus_count;
    uint8_t src_inputs, src_outputs, dst_inputs, dst_outputs; /* 0: there is none of its own */
    bool wcmd_implied; /* an entry for the table's write port is a command to write */
    void (*step)(struct units *units);
    void (*walk)(const struct units *units, struct trace *trace);
};

/* ---- walks -------------------------------------------------------------------------------- */

static struct trace_name plain(const char *unit, const char *field)
{
    return (struct trace_name){ unit, NO_INDEX, field };
}

static struct trace_name indexed(const char *unit, unsigned index, const char *field)
{
    return (struct trace_name){ unit, (int)index, field };
}

/* A bit of the valid word as a register of the thesis. */
static void show_valid(struct trace *t, const struct leat_atm_ppd *p, const char *name,
                       unsigned bit)
{
    trace_value(t, plain("tstppd.", name), 1, DECIMAL, p->valid >> bit & 1);
}

static void show_byte(struct trace *t, const char *name, uint64_t byte)
{
    trace_value(t, plain("tstppd.", name), 8, HEX, (int64_t)(byte & 0xff));
}

static void show_translated(struct trace *t, const struct leat_atm_ppd *p)
{
    static const char *const names[PORTS][3] = {
        { "c", "d", "e" }, { "f", "g", "h" }, { "i", "j", "k" }, { "l", "m", "n" }
    };
    trace_line(t, "tstppd.(c, d, e, f, g, h, i, j, k, l, m, n)", true);
    for (unsigned u = 0; u < PORTS; u++) {
        show_byte(t, names[u][0], p->translated[2 * u]);
        show_byte(t, names[u][1], p->translated[2 * u + 1]);
        trace_value(t, plain("tstppd.", names[u][2]), 1, DECIMAL, p->select >> u & 1);
    }
}

static void show_suspend(struct trace *t, const struct leat_atm_ppd *p)
{
    trace_value(t, plain("tstppd.", "suspend"), 1, DECIMAL, p->suspend);
}

/* The registers; `suspend` stands with cind and dind in one bench, alone and first in the other. */
static void show_ppd(struct trace *t, const struct leat_atm_ppd *p, bool suspend_first)
{
    const unsigned ready = leat_atm_valid_ready(LEAT_ATM_VP_HEADER);
    if (suspend_first) {
        trace_line(t, "tstppd.suspend", false);
        show_suspend(t, p);
    }
    trace_line(t, "tstppd.(a, b, o, p, q)", true);
    show_byte(t, "a", p->header[0]);
    show_byte(t, "b", p->header[1]);
    show_byte(t, "o", p->pipe);
    show_byte(t, "p", p->pipe >> 8);
    show_byte(t, "q", p->pipe >> 16);
    trace_line(t, "tstppd.(aind, bind, oind, pind, qind)", true);
    show_valid(t, p, "aind", LEAT_ATM_VALID_HELD);
    show_valid(t, p, "bind", LEAT_ATM_VALID_HELD + 1);
    show_valid(t, p, "oind", LEAT_ATM_VALID_PIPE);
    show_valid(t, p, "pind", LEAT_ATM_VALID_PIPE + 1);
    show_valid(t, p, "qind", LEAT_ATM_VALID_PIPE + 2);
    trace_line(t, "tstppd.count", false);
    trace_value(t, plain("tstppd.", "count"), 6, DECIMAL, p->count);
    show_translated(t, p);
    trace_line(t, suspend_first ? "tstppd.(cind, dind)" : "tstppd.(cind, dind, suspend)", true);
    show_valid(t, p, "cind", ready);
    show_valid(t, p, "dind", ready + 1);
    if (!suspend_first) show_suspend(t, p);
}

static void show_xpm(struct trace *t, const char *unit, unsigned index,
                     const struct leat_atm_xpm *x, bool size_first)
{
    if (size_first) trace_value(t, indexed(unit, index, ".size"), 32, DECIMAL, x->size);
    trace_value(t, indexed(unit, index, ".head"), 9, DECIMAL, x->head);
    trace_value(t, indexed(unit, index, ".tail"), 9, DECIMAL, x->tail);
    if (!size_first) trace_value(t, indexed(unit, index, ".size"), 32, DECIMAL, x->size);
}

static void show_last_byte(struct trace *t, const char *unit, const struct leat_atm_matrix *m,
                           unsigned u)
{
    const struct leat_atm_xpm *x = leat_atm_xpm_at(m, 0, u);
    const unsigned place = leat_atm_xpm_last_at(m, 0, u);
    trace_byte(t, indexed(unit, u, ""), "tstppd.xpmdst", x->size == 0, place, x->mem[place]);
}

static void walk_ppd(const struct units *units, struct trace *t)
{
    char label[LABEL_CAP];
    const struct leat_atm_ppd *p = &units->dst->ppd[0];
    trace_write_port(t, units->write_stimulated, p->wadr, p->datain, ENTRY_LEN);
    trace_line(t, "byte", false);
    trace_value(t, plain("byte", ""), 8, HEX, units->link[0].byte);
    trace_line(t, "byteind", false);
    trace_value(t, plain("byteind", ""), 1, DECIMAL, units->link[0].byteind);
    trace_gap(t);
    show_ppd(t, p, false);
    for (unsigned u = 0; u < PORTS; u++) {
        snprintf(label, sizeof label, "tstppd.xpmdst[%u].(size, head, tail)", u);
        trace_line(t, label, true);
        show_xpm(t, "tstppd.xpmdst", u, leat_atm_xpm_at(&units->dst->matrix, 0, u), true);
        show_last_byte(t, "tstppd.xpmdst", &units->dst->matrix, u);
    }
}

static void show_spd(struct trace *t, const struct leat_atm_spd *s)
{
    trace_line(t, "tstspd.(siqnum, lsthead, trsmit)", true);
    trace_value(t, plain("tstspd.", "siqnum"), 2, DECIMAL, s->siqnum);
    trace_value(t, plain("tstspd.", "lsthead"), 9, DECIMAL, s->lsthead);
    trace_value(t, plain("tstspd.", "trsmit"), 1, DECIMAL, s->trsmit);
    trace_line(t, "tstspd.iqcnt[0,1,2,3]", true);
    for (unsigned i = 0; i < PORTS; i++)
        trace_value(t, indexed("tstspd.iqcnt", i, ""), 6, DECIMAL, leat_atm_spd_iqcnt(s, i));
    trace_line(t, "tstspd.(buf, byte)", true);
    trace_value(t, plain("tstspd.", "buf"), 8, HEX, s->buf);
    trace_value(t, plain("tstspd.", "byte"), 8, HEX, s->byte);
    trace_line(t, "tstspd.(bufind, byteind)", true);
    trace_value(t, plain("tstspd.", "bufind"), 1, DECIMAL, s->bufind);
    trace_value(t, plain("tstspd.", "byteind"), 1, DECIMAL, s->byteind);
}

static void walk_spd(const struct units *units, struct trace *t)
{
    char label[LABEL_CAP];
    for (unsigned i = 0; i < PORTS; i++) {
        snprintf(label, sizeof label, "tstspd.xpm_src[%u]->(head, tail, size)", i);
        trace_line(t, label, true);
        show_xpm(t, "tstspd.xpm_src", i, leat_atm_xpm_at(&units->src->matrix, i, 0), false);
    }
    trace_line(t, "suspend", false);
    trace_value(t, plain("suspend", ""), 1, DECIMAL, units->suspend[0]);
    show_spd(t, &units->src->spd[0]);
}

static void walk_spdppd(const struct units *units, struct trace *t)
{
    trace_line(t, "tstspd.xpm_src[0, 1, 2, 3]->(head, tail, size)", true);
    for (unsigned i = 0; i < PORTS; i++)
        show_xpm(t, "tstspd.xpm_src", i, leat_atm_xpm_at(&units->src->matrix, i, 0), false);
    show_spd(t, &units->src->spd[0]);
    show_ppd(t, &units->dst->ppd[0], true);
    trace_line(t, "tstppd.xpm_dst[0, 1, 2, 3].(head, tail, size)", true);
    for (unsigned u = 0; u < PORTS; u++)
        show_xpm(t, "tstppd.xpm_dst", u, leat_atm_xpm_at(&units->dst->matrix, 0, u), false);
    for (unsigned u = 0; u < PORTS; u++)
        show_last_byte(t, "tstppd.xpm_dst", &units->dst->matrix, u);
}

static void walk_bmx(const struct units *units, struct trace *t)
{
    trace_line(t, "byte[0, 1, 2, 3]", true);
    for (unsigned i = 0; i < PORTS; i++)
        trace_value(t, indexed("byte", i, ""), 8, HEX, units->link[i].byte);
    trace_line(t, "byteind[0, 1, 2, 3]", true);
    for (unsigned i = 0; i < PORTS; i++)
        trace_value(t, indexed("byteind", i, ""), 1, DECIMAL, units->link[i].byteind);
    trace_line(t, "tstppd[0, 1, 2, 3].suspend", true);
    for (unsigned i = 0; i < PORTS; i++)
        trace_value(t, indexed("tstppd", i, ".suspend"), 1, DECIMAL, units->dst->ppd[i].suspend);
    trace_line(t, "tstspd[0, 1, 2, 3].(buf, byte, bufind, byteind)", true);
    for (unsigned i = 0; i < PORTS; i++) {
        const struct leat_atm_spd *s = &units->src->spd[i];
        trace_value(t, indexed("tstspd", i, ".buf"), 8, HEX, s->buf);
        trace_value(t, indexed("tstspd", i, ".byte"), 8, HEX, s->byte);
        trace_value(t, indexed("tstspd", i, ".bufind"), 1, DECIMAL, s->bufind);
        trace_value(t, indexed("tstspd", i, ".byteind"), 1, DECIMAL, s->byteind);
    }
    trace_line(t, "suspend[0, 1, 2, 3]", true);
    for (unsigned i = 0; i < PORTS; i++)
        trace_value(t, indexed("suspend", i, ""), 1, DECIMAL, units->suspend[i]);
}

/* ---- units and their order in a cycle ------------------------------------------------------ */

static void step_spds(struct units *units)
{
    for (unsigned s = 0; s < units->src->matrix.outputs; s++)
        leat_atm_spd_step(&units->src->spd[s], &units->src->matrix, units->suspend[s]);
}

static void step_ppds(struct units *units)
{
    for (unsigned p = 0; p < units->dst->matrix.inputs; p++)
        leat_atm_ppd_step(&units->dst->ppd[p], &units->dst->matrix, units->link[p].byte,
                          units->link[p].byteind);
}

/* The SPD sees the PPD's suspend of the last cycle, the PPD the SPD's byte of this one. */
static void step_link(struct units *units)
{
    units->suspend[0] = leat_atm_bmx_suspends(units->dst, 0);
    step_spds(units);
    units->link[0] = leat_atm_bmx_link(units->src, 0);
    step_ppds(units);
}

static void step_switch(struct units *units)
{
    step_spds(units);
    step_ppds(units);
}

/* ---- benches ------------------------------------------------------------------------------ */

static const struct stimulus_name ppd_stimuli[] = {
    { "byte", "", 0, STIMULUS_BYTES, 0xff, BYTE },
    { "byteind", "", 0, STIMULUS_DECIMAL, 1, BYTEIND },
    { "tstppd.trsltab.wadr", "", 0, STIMULUS_HEX, TABLE_DEPTH - 1, WADR },
    { "tstppd.trsltab.datain", "", 0, STIMULUS_OCTETS, ENTRY_LEN, DATAIN },
    { "tstppd.xpm_dst[", "].head", PORTS, STIMULUS_DECIMAL, CAPACITY - 1, HEAD },
    { "tstppd.xpm_dst[", "].tail", PORTS, STIMULUS_DECIMAL, CAPACITY - 1, TAIL },
    { "tstppd.xpm_dst[", "].size", PORTS, STIMULUS_DECIMAL, CAPACITY, SIZE },
};

static const struct stimulus_name spd_stimuli[] = {
    { "fifo", "", PORTS, STIMULUS_BYTES, 0xff, FIFO },
    { "suspend", "", 0, STIMULUS_DECIMAL, 1, SUSPEND },
};

static const struct stimulus_name spdppd_stimuli[] = {
    { "fifo", "", PORTS, STIMULUS_BYTES, 0xff, FIFO },
    { "tstppd.trsltab.wadr", "", 0, STIMULUS_HEX, TABLE_DEPTH - 1, WADR },
    { "tstppd.trsltab.datain", "", 0, STIMULUS_OCTETS, ENTRY_LEN, DATAIN },
    { "tstppd.xpm_dst[", "].head", PORTS, STIMULUS_DECIMAL, CAPACITY - 1, HEAD },
    { "tstppd.xpm_dst[", "].tail", PORTS, STIMULUS_DECIMAL, CAPACITY - 1, TAIL },
    { "tstppd.xpm_dst[", "].size", PORTS, STIMULUS_DECIMAL, CAPACITY, SIZE },
};

static const struct stimulus_name bmx_stimuli[] = {
    { "byte", "", PORTS, STIMULUS_BYTES, 0xff, BYTE },
    { "byteind", "", PORTS, STIMULUS_DECIMAL, 1, BYTEIND },
    { "suspend", "", PORTS, STIMULUS_DECIMAL, 1, SUSPEND },
    { "tstppd.trsltab.wadr", "", PORTS, STIMULUS_HEX, TABLE_DEPTH - 1, WADR },
    { "tstppd.trsltab.datain", "", PORTS, STIMULUS_OCTETS, ENTRY_LEN, DATAIN },
    { "tstppd.trsltab.wcmd", "", PORTS, STIMULUS_DECIMAL, 1, WCMD },
};

#define STIMULI(array) array, sizeof array / sizeof *array

static const struct bench benches[] = {
    { "ppd", STIMULI(ppd_stimuli), 0, 0, 1, PORTS, true, step_ppds, walk_ppd },
    { "spd", STIMULI(spd_stimuli), PORTS, 1, 0, 0, false, step_spds, walk_spd },
    { "spdppd", STIMULI(spdppd_stimuli), PORTS, 1, 1, PORTS, true, step_link, walk_spdppd },
    { "bmx", STIMULI(bmx_stimuli), 0, 0, PORTS, PORTS, false, step_switch, walk_bmx },
};

/* A switch of the prototype's kind, or NULL. */
static struct leat_atm_bmx *make_switch(void *memory, unsigned inputs, unsigned outputs)
{
    const struct leat_atm_bmx_config config = { .inputs = inputs,
                                                .outputs = outputs,
                                                .cells = LEAT_ATM_XPM_CELLS,
                                                .header_len = LEAT_ATM_VP_HEADER,
                                                .depth = TABLE_DEPTH };
    struct leat_atm_bmx *bmx = NULL;
    if (!inputs) return NULL;
    return leat_atm_bmx_init(memory, SWITCH_LEN_MAX, &config, &bmx) ? NULL : bmx;
}

static void make_units(const struct bench *bench, struct units *units)
{
    static alignas(max_align_t) uint8_t memory[2][SWITCH_LEN_MAX];
    units->src = make_switch(memory[0], bench->src_inputs, bench->src_outputs);
    units->dst = make_switch(memory[1], bench->dst_inputs, bench->dst_outputs);
    if (!units->src) units->src = units->dst;
}

/* ---- a run -------------------------------------------------------------------------------- */

static void write_port(struct units *units, const struct stimulus *s, bool implied)
{
    struct leat_atm_ppd *ppd = &units->dst->ppd[s->index];
    if (s->id == WADR) ppd->wadr = (uint16_t)s->number;
    if (s->id == DATAIN) memcpy(ppd->datain, s->octets, ENTRY_LEN);
    if (s->id == WCMD) ppd->wcmd = s->number;
    if (implied) ppd->wcmd = true;
    units->write_stimulated = true;
}

static void apply(const struct bench *bench, struct units *units, const struct stimulus *s)
{
    struct leat_atm_matrix *dst = units->dst ? &units->dst->matrix : NULL;
    switch ((enum signal)s->id) {
    case BYTE: units->link[s->index].byte = (uint8_t)s->number; break;
    case BYTEIND: units->link[s->index].byteind = s->number; break;
    case FIFO: leat_atm_xpm_push(&units->src->matrix, s->index, 0, (uint8_t)s->number); break;
    case SUSPEND: units->suspend[s->index] = s->number; break;
    case WADR:
    case DATAIN:
    case WCMD: write_port(units, s, bench->wcmd_implied); break;
    case HEAD: leat_atm_xpm_at(dst, 0, s->index)->head = (uint16_t)s->number; break;
    case TAIL: leat_atm_xpm_at(dst, 0, s->index)->tail = (uint16_t)s->number; break;
    case SIZE: leat_atm_xpm_resize(dst, 0, s->index, (int32_t)s->number); break;
    }
}

static void show_cycle(const struct bench *bench, const struct units *units, struct trace *trace,
                       uint32_t cycle)
{
    trace_begin(trace, cycle);
    bench->walk(units, trace);
    trace_end(trace);
}

static void run(const struct bench *bench, struct stimuli *stimuli, uint32_t cycles,
                struct unit_show *show)
{
    struct units units = { 0 };
    uint32_t cycle = 0;
    make_units(bench, &units);
    if (show->has_vcd) show_cycle(bench, &units, &show->vcd, 0);
    while (cycle < cycles && !interrupted && !unit_show_failed(show)) {
        cycle++;
        units.write_stimulated = false;
        for (size_t i = 0; i < stimuli->track_count; i++) {
            struct stimulus s;
            if (stimuli_at(stimuli, i, cycle, &s)) apply(bench, &units, &s);
        }
        bench->step(&units);
        show_cycle(bench, &units, &show->trace, cycle);
        if (show->has_vcd) show_cycle(bench, &units, &show->vcd, cycle);
    }
    if (show->has_vcd) trace_finish(&show->vcd, cycle);
}

static bool read_stimuli(const char *path, const struct bench *bench, struct stimuli *stimuli)
{
    struct input in;
    if (!input_open(&in, path)) return false;
    const bool sound = stimuli_read(stimuli, &in, bench->stimuli, bench->stimulus_count);
    input_close(&in);
    return sound;
}

/* The stimuli are read before a file is created: errors leave nothing behind. */
static int run_bench(const struct arguments *args)
{
    static struct stimuli stimuli;
    static struct unit_show show;
    struct unit_options options;
    const struct bench *bench = benches;
    int result = WRONG;
    while (strcmp(bench->name, args->subverb->name) != 0)
        bench++; /* every subverb but aal has one */
    if (args->operand_count != 2) return misuse(args->verb, "%s: expected one file", bench->name);
    if (!unit_options_read(args, &options)) return WRONG;
    if (read_stimuli(args->operand[1], bench, &stimuli)) {
        const uint32_t after = stimuli.last_cycle + UNIT_CYCLES_AFTER;
        result = FAILED;
        if (!interrupted && unit_show_open(&show, &options, bench->name)) {
            run(bench, &stimuli, options.cycles ? options.cycles : after, &show);
            if (unit_show_close(&show)) result = DONE;
        }
    }
    stimuli_close(&stimuli);
    return interrupted ? SIGNALLED + interrupted : result;
}

static const char options[] = "--cycles --format --vcd -o --json";

#define SYNOPSIS "FILE [--cycles N] [--format thesis|jsonl] [--vcd FILE] [-o FILE]"

static const struct subverb subverbs[] = {
    { "ppd", "an input unit with four crosspoint memories behind it", SYNOPSIS, options,
      run_bench },
    { "spd", "an output unit with four crosspoint memories before it", SYNOPSIS, options,
      run_bench },
    { "spdppd", "an output unit that feeds an input unit", SYNOPSIS, options, run_bench },
    { "bmx", "a switch of four inputs and four outputs", SYNOPSIS, options, run_bench },
    { "aal", "the whole 16 x 16 network with its adaptation layer units",
      "[FILE] [--cycles N] [--format thesis|jsonl] [--vcd FILE] [-o FILE]", options, run_unit_aal },
    { NULL },
};

const struct verb verb_unit = {
    .name = "unit",
    .summary = "run a unit bench of the ATM prototype",
    .synopsis = "ppd|spd|spdppd|bmx FILE | aal [FILE] [options]",
    .help = help_unit,
    .subverbs = subverbs,
    .options = {
        { "--cycles", "N", "end after so many cycles, not 128 after the last stimulus or event",
          COUNT(1, UNIT_CYCLES_MAX) },
        { "--format", "FORM", "how the trace is written, as JSON or as the thesis prints it",
          WORD("jsonl thesis"), .preset = "jsonl" },
        { "--vcd", "FILE", "write waveforms for GTKWave or Surfer; 1 ns is one cycle" },
        { "-o", "FILE", "write the trace there, only when it is complete" },
        OPTION_JSON("JSON, as without --format"),
    },
};
