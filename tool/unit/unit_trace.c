#include "unit_trace.h"
#include "json_out.h"
#include <assert.h>
#include <stdio.h>

void trace_init(struct trace *t, enum trace_format format, const char *bench,
                struct leat_text *text)
{
    *t = (struct trace){ .format = format, .bench = bench, .text = text };
    if (format != TRACE_VCD) return;
    /* One unit of time is one cycle: 1 byte on every link. */
    const leat_err err = leat_vcd_init(&t->vcd, text, "1 ns", t->signals, TRACE_SIGNALS_MAX);
    assert(!err);
    (void)err;
}

/* ---- one cycle ---------------------------------------------------------------------------- */

void trace_begin(struct trace *t, uint32_t cycle)
{
    t->first = true;
    t->next = 0;
    t->declaring = cycle == 0;
    switch (t->format) {
    case TRACE_JSONL:
        json_begin(&t->json, t->text);
        leat_json_uint(&t->json, "cycle", cycle);
        leat_json_object(&t->json, "signals");
        break;
    case TRACE_THESIS:
        leat_text_puts(t->text, "::::::::: clock cycle number ");
        leat_text_decimal(t->text, cycle);
        leat_text_puts(t->text, " :::::::::\n\n");
        break;
    case TRACE_VCD:
        if (!t->declaring) leat_vcd_time(&t->vcd, cycle);
        break;
    }
}

static void end_line(struct trace *t)
{
    if (t->format == TRACE_THESIS && !t->first) leat_text_puts(t->text, t->grouped ? ")\n" : "\n");
    if (t->format == TRACE_THESIS) t->first = true;
}

void trace_end(struct trace *t)
{
    end_line(t);
    switch (t->format) {
    case TRACE_JSONL:
        leat_json_end(&t->json);
        json_finish(&t->json, "done");
        break;
    case TRACE_THESIS: leat_text_putc(t->text, '\n'); break;
    case TRACE_VCD:
        if (t->declaring) leat_vcd_start(&t->vcd);
        break;
    }
}

void trace_finish(struct trace *t, uint32_t cycles)
{
    if (t->format == TRACE_VCD) leat_vcd_end(&t->vcd, (uint64_t)cycles + 1);
}

void trace_line(struct trace *t, const char *label, bool grouped)
{
    end_line(t);
    if (t->format != TRACE_THESIS) return;
    t->grouped = grouped;
    leat_text_puts(t->text, label);
    leat_text_puts(t->text, grouped ? " = (" : " = ");
}

void trace_gap(struct trace *t)
{
    end_line(t);
    if (t->format == TRACE_THESIS) leat_text_putc(t->text, '\n');
}

/* ---- values ------------------------------------------------------------------------------- */

static void put_number(struct leat_text *text, enum trace_radix radix, int64_t value)
{
    if (value < 0) leat_text_putc(text, '-');
    const uint64_t size = value < 0 ? (uint64_t)-value : (uint64_t)value;
    if (radix == HEX)
        leat_text_hex_number(text, size, 1);
    else
        leat_text_decimal(text, size);
}

static const char *signal_key(struct trace_name name, char key[LEAT_VCD_PATH_LEN_MAX])
{
    char index[16] = "";
    if (name.index != NO_INDEX) snprintf(index, sizeof index, "[%d]", name.index);
    snprintf(key, LEAT_VCD_PATH_LEN_MAX, "%s%s%s", name.unit, index, name.field);
    return key;
}

static void wave(struct trace *t, struct trace_name name, unsigned width, uint64_t value)
{
    if (t->declaring) {
        char path[LEAT_VCD_PATH_LEN_MAX + 64], key[LEAT_VCD_PATH_LEN_MAX];
        uint32_t signal;
        snprintf(path, sizeof path, "%s.%s", t->bench, signal_key(name, key));
        const leat_err err = leat_vcd_declare(&t->vcd, path, width, &signal);
        assert(!err && signal == t->next);
        (void)err;
    } else {
        leat_vcd_set(&t->vcd, t->next, value);
    }
    t->next++;
}

void trace_value(struct trace *t, struct trace_name name, unsigned width, enum trace_radix radix,
                 int64_t value)
{
    char key[LEAT_VCD_PATH_LEN_MAX];
    switch (t->format) {
    case TRACE_JSONL: leat_json_int(&t->json, signal_key(name, key), value); break;
    case TRACE_THESIS:
        if (!t->first) leat_text_puts(t->text, ", ");
        put_number(t->text, radix, value);
        t->first = false;
        break;
    case TRACE_VCD: wave(t, name, width, value < 0 ? (uint32_t)value : (uint64_t)value); break;
    }
}

void trace_byte(struct trace *t, struct trace_name xpm, const char *label, bool empty,
                unsigned place, uint8_t byte)
{
    char key[LEAT_VCD_PATH_LEN_MAX], cell[32];
    switch (t->format) {
    case TRACE_JSONL:
        snprintf(cell, sizeof cell, ".mem[%u]", place);
        xpm.field = cell;
        leat_json_uint(&t->json, signal_key(xpm, key), byte);
        break;
    case TRACE_THESIS:
        if (empty) break;
        end_line(t);
        snprintf(cell, sizeof cell, ".mem[%u] = ", place);
        leat_text_puts(t->text, signal_key((struct trace_name){ label, xpm.index, cell }, key));
        leat_text_hex_number(t->text, byte, 1);
        leat_text_putc(t->text, '\n');
        break;
    case TRACE_VCD: wave(t, (struct trace_name){ xpm.unit, xpm.index, ".last" }, 8, byte); break;
    }
}

/* The thesis prints each octet by itself, so that 0708 becomes 78. */
static void put_octets(struct leat_text *text, const uint8_t *octets, unsigned len)
{
    for (unsigned i = 0; i < len; i++)
        leat_text_hex_number(text, octets[i], 1);
}

void trace_write_port(struct trace *t, bool stimulated, unsigned wadr, const uint8_t *datain,
                      unsigned datain_len)
{
    const struct trace_name wcmd = { "tstppd.trsltab.wcmd", NO_INDEX, "" };
    const struct trace_name adr = { "tstppd.trsltab.wadr", NO_INDEX, "" };
    const struct trace_name data = { "tstppd.trsltab.datain", NO_INDEX, "" };
    struct leat_text octets = LEAT_TEXT(2 * LEAT_TEXT_CAP_MIN);
    uint64_t word = 0;
    if (!stimulated && t->format != TRACE_VCD) return;
    trace_line(t, wcmd.unit, false);
    trace_value(t, wcmd, 1, DECIMAL, stimulated);
    trace_line(t, adr.unit, false);
    trace_value(t, adr, 12, HEX, wadr);
    trace_line(t, data.unit, false);
    switch (t->format) {
    case TRACE_JSONL:
        put_octets(&octets, datain, datain_len);
        leat_json_chars(&t->json, data.unit, octets.buf, octets.len);
        break;
    case TRACE_THESIS:
        put_octets(t->text, datain, datain_len);
        t->first = false;
        trace_gap(t);
        break;
    case TRACE_VCD:
        for (unsigned i = 0; i < datain_len; i++)
            word = word << 8 | datain[i];
        wave(t, data, 8 * datain_len, word);
        break;
    }
}
