/*
 * Stimuli of a unit bench (spec/atm.md, 6): which value each signal gets in which cycle.
 *
 *   inputs                      keyword
 *     byte                      a signal, once
 *       1 01f203                from cycle 1 on, one byte per cycle
 *       58 06
 *     byteind
 *       1 1                     decimal where the signal is not of bytes
 *   outputs                     keyword (also `ouputs`, as the thesis has it); what follows is
 *     tstppd.trslreg            not looked at: every signal is shown
 *
 * Leading blanks and comments from # on do not count.
 */
#ifndef LEAT_STIMULI_H
#define LEAT_STIMULI_H

#include "input.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STIMULI_CYCLE_MAX = 100000000,
    STIMULI_LINE_LEN_MAX = 1 << 22,
    STIMULI_VALUES_MAX = 1 << 22,
    STIMULI_BYTES_MAX = 1 << 26, /* of all streams together */
    STIMULI_TRACKS_MAX = 64,     /* signals of one bench */
};

enum stimulus_kind {
    STIMULUS_DECIMAL,
    STIMULUS_HEX,    /* a number */
    STIMULUS_BYTES,  /* one byte, or a stream of them */
    STIMULUS_OCTETS, /* `max` octets at once */
};

/* A signal that a bench knows: before, the index if it has one, after. */
struct stimulus_name {
    const char *before, *after;
    unsigned count; /* indices 0..count-1; 0: no index */
    enum stimulus_kind kind;
    unsigned max; /* largest value; OCTETS: their number */
    int id;       /* the bench's own */
};

struct stimuli_value {
    uint32_t cycle, len; /* len: cycles that it lasts (BYTES) */
    uint32_t at;         /* the number, or where its octets begin */
    uint32_t line;
};

struct stimuli_track {
    const struct stimulus_name *name;
    unsigned index;
    size_t begin, end; /* its values */
    size_t next;       /* the current or next one */
};

struct stimuli {
    struct stimuli_track tracks[STIMULI_TRACKS_MAX];
    size_t track_count;
    struct stimuli_value *values;
    size_t value_count, value_cap;
    uint8_t *octets;
    size_t octet_count, octet_cap;
    uint32_t last_cycle; /* of any stimulus; 0: none */
};

/* The stimulus of a signal in one cycle. */
struct stimulus {
    int id;
    unsigned index;
    uint32_t number;       /* DECIMAL, HEX, BYTES */
    const uint8_t *octets; /* OCTETS */
};

/* Reads an open file. False after a message (FILE:LINE: what, expected what). */
bool stimuli_read(struct stimuli *stimuli, struct input *in, const struct stimulus_name *names,
                  size_t name_count);

/*
 * Does track `track` (< track_count) drive its signal in this cycle? Cycles are queried in order.
 */
bool stimuli_at(struct stimuli *stimuli, size_t track, uint32_t cycle, struct stimulus *out);

void stimuli_close(struct stimuli *stimuli);

/* Room for `more` items behind `count`, at most max; NULL: there is none. */
void *stimuli_grow(void *items, size_t size, size_t count, size_t more, size_t max, size_t *cap);

#endif
