/*
 * Parses the names of fabrics that users write on a command line into the parameters of models.
 *
 *   clos444                         the prototype of the thesis
 *   clos:8,15,8/buffer=4            Clos(8,15,8), crosspoint memories of 4 cells
 *   bmx:16/clock=20MHz              a single 16 x 16 switch
 *
 *   fabric    = name { "/" parameter "=" value }
 *   name      = "clos444" | "clos:" e "," m "," r | "bmx:" k
 *   parameter = "buffer" (cells) | "clock" (decimal, ns or MHz) | "switching" (vp, vc, auto)
 *             | "table" (depth)
 *
 * No character of a name is special to a shell. Parameters default to the thesis' values.
 */
#ifndef LEAT_SIM_ATM_FABRIC_H
#define LEAT_SIM_ATM_FABRIC_H

#include "atm_aal_unit.h"
#include "atm_clos.h"
#include "atm_line.h"
#include "net.h"
#include "net_faults.h"
#include "sim_clock.h"

enum {
    LEAT_SIM_ATM_FABRIC_BUFFER_DEFAULT = 8,
    LEAT_SIM_ATM_FABRIC_BUFFER_MAX = 64,
    LEAT_SIM_ATM_FABRIC_PERIOD_DEFAULT_PS = 50000, /* an octet a cycle: 160 Mb/s */
    LEAT_SIM_ATM_FABRIC_PERIOD_MAX_PS = 1000000000,
    LEAT_SIM_ATM_FABRIC_NAME_CAP = 128, /* holds every name that leat_sim_atm_fabric_name writes */
};

/* Switches other than bus matrices, in any topology (sim_atm_graph.c); all lent. */
struct leat_sim_atm_graph {
    const struct leat_net_topology *topology;
    struct leat_net_routing *routing;
    struct leat_net_config net;       /* a flit is a cell, a cycle a cell time */
    uint64_t seed;                    /* of routing */
    const struct leat_atm_line *line; /* that all wires are; NULL: wires of an octet a cycle */
    uint64_t host_errors;             /* with a line: of bits on the lines of hosts, in 2^-64 */
    uint64_t error_seed;
};

/* Faults inside a network; all lent. */
struct leat_sim_atm_faults {
    const struct leat_net_faults *list; /* checked; times are cycles of the clock, flits cells */
    /* Of the network: that of `graph`, or the same of bus matrices: LEAT_NET_CLOS or _CROSSBAR. */
    const struct leat_net_topology *topology;
    uint64_t seed; /* of bit errors */
    bool pinned; /* Clos networks do not reroute: each cell takes the path of its label, or none */
};

struct leat_sim_atm_fabric {
    struct leat_atm_clos net;
    const struct leat_sim_atm_graph *graph; /* NULL: bus matrices; else `net` has only its ports */
    const struct leat_sim_atm_faults *faults; /* NULL: none */
    uint32_t buffer_cells;                    /* of each crosspoint memory */
    uint32_t groups; /* of multicast that can be set up; a name gives none */
    uint32_t parts;  /* to simulate at once (sim_atm.h); 0: one, as of names */
    uint64_t period_ps_num, period_ps_den; /* the clock: edge k at floor(k num / den) ps */
};

struct leat_sim_atm_fabric_spelling {
    const char *name; /* "clos:E,M,R"; parameters begin with a slash: "/buffer=CELLS" */
    const char *text;
};

/* Parses a name. On error *out is untouched and `why` has one line for the user, without the
 * name. */
leat_err leat_sim_atm_fabric_parse(const char *name, struct leat_sim_atm_fabric *out,
                                   struct leat_text *why);

/* The shortest name of a fabric; parsing it gives an equal fabric. */
void leat_sim_atm_fabric_name(const struct leat_sim_atm_fabric *fabric, struct leat_text *text);

/* The configuration of the unit at this port: sets what depends on the fabric. */
struct leat_atm_aal_config leat_sim_atm_fabric_unit(const struct leat_sim_atm_fabric *fabric,
                                                    const struct leat_atm_aal_config *wanted,
                                                    uint32_t port);

/* A cell time in cycles: slot k begins in cycle floor(k num / den). RANGE: a line brings cells
 * faster than units take their octets, or the clock has too many digits; `why` has one line. */
leat_err leat_sim_atm_line_slot(const struct leat_atm_line *line,
                                const struct leat_sim_clock *clock, struct leat_sim_clock *out,
                                struct leat_text *why);
/* That of a fabric whose line was checked; 53 cycles without one. */
struct leat_sim_clock leat_sim_atm_fabric_slot(const struct leat_sim_atm_fabric *fabric);

/* A cell time in ps: 53 cycles, or that of its line. */
struct leat_sim_clock leat_sim_atm_fabric_cell_ps(const struct leat_sim_atm_fabric *fabric);

/* Do bit errors strike physical lines in it? */
bool leat_sim_atm_fabric_errs(const struct leat_sim_atm_fabric *fabric);

/* Cycles from the first octet of a cell in at a port to the first octet out at another one, when
 * the network is idle. In slotted networks the last octet comes in just before a slot; a cell at
 * another time takes up to a cell time more. */
uint32_t leat_sim_atm_fabric_idle_cycles(const struct leat_sim_atm_fabric *fabric, uint32_t from,
                                         uint32_t to);

/* The parts that a fabric is divided into: those requested, but each has a switch of the first
 * stage. */
uint32_t leat_sim_atm_fabric_parts(const struct leat_sim_atm_fabric *fabric);

/* How many parts are worth their threads? Networks with few ports are faster in one. */
uint32_t leat_sim_atm_fabric_parts_for(const struct leat_sim_atm_fabric *fabric, uint32_t threads);

/* The part of a switch of some stage, and the first switch of a part. */
uint32_t leat_sim_atm_fabric_part_of(const struct leat_sim_atm_fabric *fabric, uint32_t stage,
                                     uint32_t unit);
uint32_t leat_sim_atm_fabric_part_begin(const struct leat_sim_atm_fabric *fabric, uint32_t stage,
                                        uint32_t part);

/* All names and parameters, fabrics first; NULL past the last. */
const struct leat_sim_atm_fabric_spelling *leat_sim_atm_fabric_list(size_t index);

#endif
