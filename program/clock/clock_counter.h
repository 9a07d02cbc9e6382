/*
 * The processor's counter (rdtsc, cntvct_el0), which programs read without asking anybody. Where
 * the system allows it (PR_SET_TSC), a read traps, and is answered in simulated time:
 *
 *     program: rdtsc ---> SIGSEGV ---> who reads? the program:  simulated ticks
 *                                                 others:       the counter itself
 *
 * A trap is dear, so traps are set only if the program's own code has such an instruction.
 * Processes that the program starts read the counter itself.
 */
#ifndef LEAT_CLOCK_COUNTER_H
#define LEAT_CLOCK_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leat_clock_counter {
    LEAT_CLOCK_COUNTER_UNUSED, /* the program has no such instruction */
    LEAT_CLOCK_COUNTER_SIMULATED,
    LEAT_CLOCK_COUNTER_REAL, /* it has, and the system does not allow to trap it */
};

/* From here on, in this thread and in those that it starts; `now_ns` tells the time. */
enum leat_clock_counter leat_clock_counter_begin(uint64_t (*now_ns)(void));
/* No more, in this thread. */
void leat_clock_counter_leave(void);

/* ---- parts, for tests ---------------------------------------------------------------------------
 */

/* Octets of the instruction at `code` that reads the counter; 0: it is another one. */
size_t leat_clock_counter_instruction(const uint8_t *code, size_t len);
/* Is there one anywhere? */
bool leat_clock_counter_is_read_in(const uint8_t *code, size_t len);

#endif
