/*
 * A file of calls, for `leat sim FABRIC --calls FILE`:
 *
 *   call    at=1ms from=0 to=5 hold=20ms class=cbr pcr=2Mb/s          point to point
 *   call    at=2ms from=1 to=3,6,9-11@4ms..8ms class=ubr pcr=5000     a tree; 9 to 11 come and go
 *   random  erlangs=0.8 hold=5ms class=cbr pcr=1Mb/s                  calls of all ports
 *   random  sources=4 idle=10ms hold=5ms from=2 to=7 class=cbr pcr=64kb/s
 *   lines   buffer=512 labels=100 jitter=0us                          of all lines
 *
 * Comments from # on do not count. Rates are those of contracts (contracts.h), rounded up to whole
 * cells per second, as SETUP has them. Times: ns, us, ms, s, or cells.
 *
 *   both     from to    ports; random: all (the default), or one
 *            hold       from CONNECT to RELEASE; random: the mean, call: to the end of the run
 *            class      cbr, vbr-rt, vbr-nrt, ubr: needed
 *            pcr        needed; vbr: scr and mbs too
 *            ways       forward (the default), both: only point to point
 *            data       on (the default): users send cells as early as the contract allows; off
 *   call     at         when its SETUP is sent (0)
 *            to         PORT, FIRST-LAST, with @ADDED..DROPPED; separated by commas
 *   random   erlangs    calls that each port offers on average: a Poisson process of erlangs/hold
 *            sources, idle   or that many users at each port, each idle so long between two calls
 *            holding    exponential (the default), fixed
 *   lines    buffer nrt-buffer signal-buffer best-buffer   cells of levels 0 to 3 (256)
 *            w          services above a level that waits (64)
 *            labels     of each line (1024)
 *            jitter     what admission takes for the waits before a line: promise, or TIME
 *            calls      at each switch at one time
 *
 * `--calls random:KEY=VALUE,KEY=VALUE...` is a file of that one line.
 */
#ifndef LEAT_CALL_PLAN_H
#define LEAT_CALL_PLAN_H

#include "sim_atm_calls.h"
#include "sim_atm_fabric.h"
#include "tool.h"

enum { CALLS_FILE_LEN_MAX = 1 << 23, CALLS_SECONDS_MAX = 1000, CALLS_ERLANGS_MAX = 100000 };

struct calls {
    struct leat_sim_atm_calls_config config; /* without its graph */
    struct leat_sim_atm_calls_plan *plan;
    unsigned *plan_line; /* of the file */
    struct leat_sim_atm_calls_party *party;
    struct leat_sim_atm_calls_random random[LEAT_SIM_ATM_CALLS_RANDOM_MAX];
};

/* False after a message (FILE:LINE: what, expected what), or if interrupted. In any case call
 * calls_close. */
bool calls_read(struct calls *calls, const char *file, const struct leat_sim_atm_fabric *fabric);
void calls_close(struct calls *calls);

/* leat sim FABRIC --calls FILE (sim_calls.c): the exit code. */
struct leat_fabric;
int run_sim_calls(const struct arguments *args, struct leat_fabric *fabric, const char *file);

#endif
