/*
 * What a unit bench shows after each cycle. A bench walks over its signals once per cycle and names
 * each with its value; the same walk writes a JSON object, the traces of the thesis, or a waveform.
 *
 *   jsonl     {"cycle":2,"signals":{"byte":242,"byteind":1,..}}
 *
 *   thesis    ::::::::: clock cycle number 2 :::::::::
 *             (empty)
 *             byte = f2
 *             byteind = 1
 *             (empty)
 *             tstppd.(a, b, o, p, q) = (1, f2, 0, 0, 0)
 *
 * The thesis prints bytes and addresses in hexadecimal without prefix, all else in decimal. It
 * prints a byte of an XPM, the last one pushed, if the XPM is not empty, and the table's write port
 * in cycles in which it was stimulated. A waveform has all signals in modules under the bench's
 * name.
 */
#ifndef LEAT_UNIT_TRACE_H
#define LEAT_UNIT_TRACE_H

#include "leat_json.h"
#include "leat_text.h"
#include "leat_vcd.h"
#include <stdbool.h>
#include <stdint.h>

enum { TRACE_SIGNALS_MAX = 1024 };

enum trace_format { TRACE_JSONL, TRACE_THESIS, TRACE_VCD };

struct trace {
    enum trace_format format;
    const char *bench;
    struct leat_text *text;
    struct leat_json json; /* the cycle's object */
    bool first;            /* of a line's values (thesis) */
    bool grouped;
    bool declaring; /* VCD: the walk before the first cycle */
    uint32_t next;  /* VCD: the signal that comes next in the walk */
    struct leat_vcd vcd;
    struct leat_vcd_signal signals[TRACE_SIGNALS_MAX];
};

/* A signal's name is unit[index]field, or unit and field where index is NO_INDEX. */
enum { NO_INDEX = -1 };

struct trace_name {
    const char *unit;
    int index;
    const char *field;
};

enum trace_radix { DECIMAL, HEX };

void trace_init(struct trace *trace, enum trace_format format, const char *bench,
                struct leat_text *text);

/* Around each walk; the walk of cycle 0 only declares (VCD). */
void trace_begin(struct trace *trace, uint32_t cycle);
void trace_end(struct trace *trace);

/* After the last. */
void trace_finish(struct trace *trace, uint32_t cycles);

/* Thesis: the values that follow share a line, "label = 1" or "label = (1, 2)"; an empty line. */
void trace_line(struct trace *trace, const char *label, bool grouped);
void trace_gap(struct trace *trace);

/* width: of the register in bits. A value below 0 is shown with its sign; it needs 32 bits. */
void trace_value(struct trace *trace, struct trace_name name, unsigned width,
                 enum trace_radix radix, int64_t value);

/* An XPM's byte at `place`, on a line of its own; label: the XPM's name in the thesis. */
void trace_byte(struct trace *trace, struct trace_name xpm, const char *label, bool empty,
                unsigned place, uint8_t byte);

/* The write port of a table; `stimulated`: in this cycle. */
void trace_write_port(struct trace *trace, bool stimulated, unsigned wadr, const uint8_t *datain,
                      unsigned datain_len);

#endif
