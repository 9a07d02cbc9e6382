/*
 * Waveforms as text: a value change dump (IEEE 1364, clause 18), for GTKWave and Surfer.
 *
 *   init                $timescale
 *   declare, declare..  $scope module a $end  $scope module b[3] $end  $var wire 8 ! c [7:0] $end
 *   start               $enddefinitions; every signal is unknown (x)
 *   time, set, set..    #17  b101 !           only what changed; a time without changes is left out
 *   end                 #18                   how far the waveform reaches
 *
 * Text goes out through a leat_text; memory for the signals is the caller's.
 */
#ifndef LEAT_VCD_H
#define LEAT_VCD_H

#include "leat_err.h"
#include "leat_text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_VCD_PATH_LEN_MAX = 255, LEAT_VCD_WIDTH_MAX = 64, LEAT_VCD_SIGNALS_MAX = 1 << 24 };

struct leat_vcd_signal {
    uint64_t value;
    uint8_t width;
    bool known; /* false: the waveform says x */
};

struct leat_vcd {
    struct leat_text *text;
    struct leat_vcd_signal *signals;
    size_t capacity, count;
    char scope[LEAT_VCD_PATH_LEN_MAX + 1]; /* the modules that are open: "a.b[3]" */
    size_t scope_len;
    bool started, time_written;
    uint64_t now;
};

/*
 * timescale: 1, 10 or 100, a blank, and s, ms, us, ns, ps or fs; else LEAT_ERR_SYNTAX.
 * capacity at most LEAT_VCD_SIGNALS_MAX; else LEAT_ERR_RANGE. Both memories outlive the dump.
 */
leat_err leat_vcd_init(struct leat_vcd *vcd, struct leat_text *text, const char *timescale,
                       struct leat_vcd_signal *signals, size_t capacity);

/*
 * "a.b[3].c" is the signal c of the module b[3] of the module a. A part begins with a letter or _,
 * continues with letters, digits, _ and $, and may end with indices. Declare the signals of one
 * module together for a short dump; the order is free. On error nothing is written: SYNTAX or
 * LENGTH for a path, RANGE for a width, FULL. Pass *signal to `set`.
 */
leat_err leat_vcd_declare(struct leat_vcd *vcd, const char *path, unsigned width, uint32_t *signal);

/* Ends the declarations. */
void leat_vcd_start(struct leat_vcd *vcd);

/* Later changes happen at `time`, which never decreases. */
void leat_vcd_time(struct leat_vcd *vcd, uint64_t time);

/* The value must fit the signal's width. */
void leat_vcd_set(struct leat_vcd *vcd, uint32_t signal, uint64_t value);

/* The last line: the dump ends at `time`, which is not in the past. */
void leat_vcd_end(struct leat_vcd *vcd, uint64_t time);

#endif
