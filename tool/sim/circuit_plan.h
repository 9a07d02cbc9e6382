/*
 * A file of circuits, for `leat sim FABRIC --circuits FILE`:
 *
 *   cbr    from=0 to=5 rate=2048kb/s clock=+50ppm srts playout=auto     by AAL1
 *   cbr    from=2 to=7 structure=6 adaptive playout=2ms                 6 x 64 kb/s
 *   cbr    from=3 to=9 rate=E1 fec=interleaved
 *   voice  from=1 to=4 channels=30 silence=on                           by AAL2
 *
 * Comments from # on do not count. Times: ns, us, ms, s, or cells.
 *
 *   both   from to    ports: needed
 *          rate       b/s, kb/s, Mb/s; or T1 (DS1), E1, E3, T3 (DS3); voice: of a channel (64kb/s)
 *          start      of the first octet (at random within a cell, or a frame)
 *          playout    how long the first octet of a circuit, or frame of a spurt, waits: auto (cbr,
 *                     the default: learnt from 64 cells), or TIME (voice: a frame)
 *   cbr    clock      of the sender against the network, in ppm (0)
 *          recovery   network (the default), srts, adaptive; the last two words suffice
 *          fec        none (the default), interleaved
 *          structure  octets of a block; without a rate: N x 64 kb/s
 *   voice  channels   (1)
 *          frame      of speech in a message (5ms)
 *          silence    on: talk spurts and pauses, off (the default)
 *          talk pause means (1.004s and 1.587s, as in ITU-T P.59)
 *
 * `--circuits cbr:KEY=VALUE,...` and `--circuits voice:...` are files of that one line.
 */
#ifndef LEAT_CIRCUIT_PLAN_H
#define LEAT_CIRCUIT_PLAN_H

#include "sim_atm_circuits.h"
#include "tool.h"

struct circuit_plan {
    const struct leat_sim_atm_fabric *fabric;
    struct leat_sim_atm_circuit line[LEAT_SIM_ATM_CIRCUITS_LINES_MAX];
    unsigned place[LEAT_SIM_ATM_CIRCUITS_LINES_MAX]; /* lines of the file */
    uint32_t lines;
};

/* False after a message (FILE:LINE: what, expected what). The run ends by itself if interrupted. */
bool circuits_read(struct circuit_plan *plan, const char *file,
                   const struct leat_sim_atm_fabric *fabric);

/* leat sim FABRIC --circuits FILE (sim_circuits.c): the exit code. */
struct leat_fabric;
int run_sim_circuits(const struct arguments *args, struct leat_fabric *fabric, const char *file);

#endif
