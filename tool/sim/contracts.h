/*
 * A file of connections with their contracts, for `leat sim FABRIC --contracts FILE`:
 *
 *   # name    what it wants
 *   voice     from=0 to=5 class=cbr pcr=2Mb/s cdvt=20us ctd=300us cdv=200us clr=0
 *   film      from=1 to=5 class=vbr-rt pcr=8Mb/s scr=2Mb/s mbs=20 clr=1e-6 source=random
 *   backup    from=2 to=7 class=ubr
 *   port all  w=16                        queues of all ports; a later line changes single ones
 *   port 3    buffer=64 clp=40
 *
 * A line is a connection or a port; leading and trailing blanks and comments from # on do not
 * count. Rates: plain or cells/s, kb/s, Mb/s (a cell has 424 bits on the line). Times: ns, us, ms,
 * or cells (cell times of the fabric).
 *
 *   connection   from to class: needed
 *                pcr        needed but for ubr (the link's rate)
 *                scr mbs    needed for vbr-rt and vbr-nrt
 *                mcr        abr (0)
 *                cdvt       cbr, vbr (0)
 *                clr        cbr, vbr: lost cells at most (any)
 *                ctd cdv    cbr, vbr-rt; vbr-nrt has no cdv (any)
 *                source     greedy (the default), random, excess:FACTOR
 *                police     drop (the default), tag, off
 *                shape      on, off (the default)
 *                path       0 .. paths-1 (the least loaded that takes it)
 *   port         buffer clp          cells of level 0 (cbr, vbr-rt), and how many let CLP 1 in
 *                nrt-buffer nrt-clp  the same of level 1 (vbr-nrt)
 *                best-buffer efci    cells of each best-effort connection, and how many mark it
 *                w                   services above a level that waits
 */
#ifndef LEAT_CONTRACTS_H
#define LEAT_CONTRACTS_H

#include "sim_atm_contracts.h"
#include "tool.h"

enum {
    CONTRACTS_FILE_LEN_MAX = 1 << 20,
    CONTRACTS_NAME_LEN_MAX = 31,
    CONTRACTS_EXCESS_MAX = 1000, /* times PCR */
};

struct contracts {
    struct leat_sim_atm_contracts_config config;
    struct leat_sim_atm_connection connection[LEAT_SIM_ATM_CONNECTIONS_MAX];
    char name[LEAT_SIM_ATM_CONNECTIONS_MAX][CONTRACTS_NAME_LEN_MAX + 1];
    struct leat_sim_atm_contracts_port *port;
};

/* False after a message (FILE:LINE: what, expected what), or if interrupted. */
bool contracts_read(struct contracts *contracts, const char *file,
                    const struct leat_sim_atm_fabric *fabric);
void contracts_close(struct contracts *contracts);

/* leat sim FABRIC --contracts FILE (tool/sim/sim_contracts.c): the exit code. */
struct leat_fabric_atm;
int run_sim_contracts(const struct arguments *args, const struct leat_fabric_atm *atm,
                      const char *file);

#endif
