/*
 * The processor's counter (rdtsc, cntvct_el0), which programs read without a system call. Where the
 * system allows it (PR_SET_TSC), a read traps and returns simulated time:
 *
 *     program: rdtsc ---> SIGSEGV ---> read by the program:  simulated ticks
 *                                      read by others:       the counter itself
 *
 * Traps are expensive, so they are set only if the program's own code contains such an instruction.
 * Processes that the program starts read the real counter.
 */
#ifndef LEAT_CLOCK_COUNTER_H
#define LEAT_CLOCK_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leat_clock_counter {
    LEAT_CLOCK_COUNTER_UNUSED, /* the program has no such instruction */
    LEAT_CLOCK_COUNTER_SIMULATED,
    LEAT_CLOCK_COUNTER_REAL, /* it has, and the system cannot trap it */
};

/* From here on, in this thread and in those that it starts; `now_ns` returns the time. */
enum leat_clock_counter leat_clock_counter_begin(uint64_t (*now_ns)(void));
/* Ends it in this thread. */
void leat_clock_counter_leave(void);

/* ---- parts, for tests ------------------------------------------------------------------------ */

/* Length of the instruction at `code` if it reads the counter; 0: it is another one. */
size_t leat_clock_counter_instruction(const uint8_t *code, size_t len);
/* Does any of this code read the counter? */
bool leat_clock_counter_is_read_in(const uint8_t *code, size_t len);

#endif
