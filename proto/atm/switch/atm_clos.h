/*
 * Networks of bus-matrix switches as formulas: which switch is linked to which, and the contents of
 * the routing tables (note, 4.6; thesis 9.2.2 and appendix C). Everything is a closed form, so
 * nothing is stored; models build their switches and fill their tables from here.
 *
 * Clos(e,m,r) has N = e r ports and m paths between any two ports:
 *
 *              r switches e x m        m switches r x r        r switches m x e
 *               +---+                     +---+                    +---+
 *    0      --->| 0 |-------------------->| 0 |------------------->| 0 |---> 0
 *    e-1    --->|   |---------.     .---->|   |---------.    .---->|   |---> e-1
 *               +---+          \   /      +---+          \  /      +---+
 *                ...            X    ...                  X   ...
 *               +---+          /   \      +---+          /  \      +---+
 *    N-e    --->|r-1|---------'     '---->|m-1|---------'    '---->|r-1|---> N-e
 *    N-1    --->|   |-------------------->|   |------------------->|   |---> N-1
 *               +---+                     +---+                    +---+
 *
 * Output u of switch w is linked to input w of switch u of the next stage. A switch has a PPD at
 * each input and an SPD at each output; both are numbered over the whole network, stage by stage
 * and switch by switch. The other network is a single switch e x e: one stage, one path.
 *
 * Labels, for a cell from src to dst by middle switch i; a broadcast has N in place of dst, and e
 * in place of dst mod e:
 *
 *   at the access          m dst + i
 *   input to middle stage  (N+1) (src mod e) + dst
 *   middle to output       (e+1) src + dst mod e
 *   leaving                0
 *
 * In a single switch it is dst, and 0 leaving. The labels that a table knows are 0 .. entries-1
 * without a gap, so a table is filled by computing the route of each.
 *
 * Behind them there is room for the labels of multicast groups. Those of group g are the same from
 * all sources, since the cell itself names its source:
 *
 *   at the access          m (N+1+g) + i
 *   input to middle stage  (N+1) e + g
 *   middle to output       (e+1) N + g
 *
 * Who is in a group is not a formula: a table gets these labels when the group is set up.
 */
#ifndef LEAT_ATM_CLOS_H
#define LEAT_ATM_CLOS_H

#include "atm_route.h"
#include "leat_err.h"
#include "leat_text.h"
#include <stdbool.h>

enum {
    LEAT_ATM_CLOS_STAGES_MAX = 3,
    LEAT_ATM_CLOS_FAN_OUT_MAX = 64, /* of e, m and r */
    LEAT_ATM_CLOS_LONE_MIN = 2,     /* inputs of a single switch */
    LEAT_ATM_CLOS_DEPTH_MIN = 256,
    LEAT_ATM_CLOS_DEPTH_MAX = 1 << LEAT_ATM_ROUTE_VPI_BITS,
    LEAT_ATM_CLOS_GROUPS = 32, /* of multicast, for which tables have room if they can */
};

#define LEAT_ATM_CLOS_NONE UINT32_MAX

enum leat_atm_clos_switching {
    LEAT_ATM_CLOS_AUTO, /* virtual paths where fan-out and VPI range suffice, else channels */
    LEAT_ATM_CLOS_VP,
    LEAT_ATM_CLOS_VC,
};

enum leat_atm_clos_class {
    LEAT_ATM_CLOS_NONBLOCKING,   /* m >= 2e-1, or a single switch */
    LEAT_ATM_CLOS_REARRANGEABLE, /* m >= e */
    LEAT_ATM_CLOS_BLOCKING,
};

struct leat_atm_clos_config {
    uint32_t stages;  /* 3: Clos(e,m,r); 1: one switch e x e, m and r are ignored */
    uint32_t e, m, r; /* 1 .. 64 */
    enum leat_atm_clos_switching switching;
    uint32_t
        table_depth; /* virtual paths: 256 .. 4096, 0: the smallest that suffices with GROUPS */
};

struct leat_atm_clos_stage {
    uint32_t switch_count;
    uint32_t inputs, outputs;                    /* of each switch */
    uint32_t switch_first, ppd_first, spd_first; /* numbered over the whole network */
    uint32_t entries;                            /* used in the table of each PPD */
};

struct leat_atm_clos {
    uint32_t e, m, r; /* a single switch: m = r = 1 */
    uint32_t ports;   /* inputs, and as many outputs */
    uint32_t paths;   /* m */
    uint32_t stages;
    uint32_t header_octets; /* 2: virtual paths are switched; 4: virtual channels */
    uint32_t table_depth;   /* 0: sparse, channels */
    uint32_t switch_count, ppd_count, spd_count;
    struct leat_atm_clos_stage stage[LEAT_ATM_CLOS_STAGES_MAX];
};

/* Why there can be no such network. */
enum leat_atm_clos_reason {
    LEAT_ATM_CLOS_SIZE,      /* e, m or r is 0 or too large */
    LEAT_ATM_CLOS_VPI_RANGE, /* a table needs more entries than there are VPIs */
    LEAT_ATM_CLOS_FAN_OUT,   /* a switch is too wide for virtual paths */
    LEAT_ATM_CLOS_DEPTH,     /* the requested depth is outside the limits, or holds too little */
    LEAT_ATM_CLOS_SPARSE,    /* a depth is requested, but tables of channels have none */
};

struct leat_atm_clos_fault {
    enum leat_atm_clos_reason reason;
    char parameter; /* SIZE, FAN_OUT: 'e', 'm' or 'r', else '\0' */
    uint32_t value; /* its value */
    uint32_t least, most;
};

struct leat_atm_clos_place {
    uint32_t stage;
    uint32_t unit; /* the switch, counted in its stage */
    uint32_t port; /* of the switch */
};

/* One switch on a path: the cell enters at `ppd` with `label` and leaves by `spd`. */
struct leat_atm_clos_hop {
    uint32_t ppd, label, spd;
};

/* LEAT_ERR_RANGE: *fault has the reason and *c is untouched. fault may be NULL. */
leat_err leat_atm_clos_init(struct leat_atm_clos *c, const struct leat_atm_clos_config *config,
                            struct leat_atm_clos_fault *fault);

/* A network of other switches: only its ports and labels are known, as those of a single switch. It
 * has no PPDs and SPDs, and the access label is the destination. */
void leat_atm_clos_init_other(struct leat_atm_clos *c, uint32_t ports);

/* "m is 70, expected 1 to 64" */
void leat_atm_clos_fault_text(const struct leat_atm_clos_fault *fault, struct leat_text *text);

enum leat_atm_clos_class leat_atm_clos_classify(const struct leat_atm_clos *c);
const char *leat_atm_clos_class_name(enum leat_atm_clos_class value);

/* Cycles from the first octet in to the first octet out of an idle network. */
uint32_t leat_atm_clos_idle_cycles(const struct leat_atm_clos *c);

/* The place of a PPD or an SPD. */
struct leat_atm_clos_place leat_atm_clos_ppd_place(const struct leat_atm_clos *c, uint32_t ppd);
struct leat_atm_clos_place leat_atm_clos_spd_place(const struct leat_atm_clos *c, uint32_t spd);

/* The PPD that an SPD feeds; LEAT_ATM_CLOS_NONE: it is an output port of the network. */
uint32_t leat_atm_clos_link(const struct leat_atm_clos *c, uint32_t spd);

/* The SPD that feeds a PPD; LEAT_ATM_CLOS_NONE: it is an input port of the network. */
uint32_t leat_atm_clos_feeder(const struct leat_atm_clos *c, uint32_t ppd);

/* The units at the network's ports. */
uint32_t leat_atm_clos_input_ppd(const struct leat_atm_clos *c, uint32_t port);
uint32_t leat_atm_clos_output_spd(const struct leat_atm_clos *c, uint32_t port);

/* The label to send with, from any port; dst = c->ports is a broadcast, c->ports + 1 + g a
 * multicast to group g. */
uint32_t leat_atm_clos_access(const struct leat_atm_clos *c, uint32_t dst, uint32_t path);

/* The entry for any label in the table of a PPD. False, *out untouched: it has no such entry. */
bool leat_atm_clos_route(const struct leat_atm_clos *c, uint32_t ppd, uint32_t label,
                         struct leat_atm_route *out);

/*
 * The same for all PPDs of a stage, without divisions and tables: for models that ask for every
 * cell. With q and r, the quotient and the rest of label / divisor:
 *
 *                          divisor   output   new label, from that of label 0 on
 *   first stage               m        r      q
 *   middle stage             N+1      r / e   (e+1) q + r mod e; broadcast: (e+1) q + e
 *   last, or single switch   e+1       r      0
 */
struct leat_atm_clos_table {
    uint64_t inverse, inverse_per_output; /* of the next two, rounded up, in 2^-40 */
    uint32_t divisor, per_output;
    uint32_t factor, all_label; /* of q, and in place of the rest of r: e */
    uint32_t outputs, entries;
};
enum { LEAT_ATM_CLOS_INVERSE_BITS = 40 }; /* exact: labels have 20 bits, divisors 13 */

void leat_atm_clos_table_init(struct leat_atm_clos_table *table, const struct leat_atm_clos *c,
                              uint32_t stage);

/* The outputs for a label below table->entries. *label becomes the new one, less the one that label
 * 0 gets at this PPD. */
static inline uint64_t leat_atm_clos_table_select(const struct leat_atm_clos_table *t,
                                                  uint32_t *label)
{
    const uint32_t q = (uint32_t)(*label * t->inverse >> LEAT_ATM_CLOS_INVERSE_BITS);
    const uint32_t r = *label - q * t->divisor;
    const uint32_t output = (uint32_t)(r * t->inverse_per_output >> LEAT_ATM_CLOS_INVERSE_BITS);
    const bool all = output == t->outputs;
    *label = q * t->factor + (all ? t->all_label : r - output * t->per_output);
    return all ? UINT64_MAX >> (64 - t->outputs) : UINT64_C(1) << output;
}

/* For how many multicast groups do all tables have labels? */
uint32_t leat_atm_clos_groups(const struct leat_atm_clos *c);

/* The group that a label belongs to in the table of a PPD; LEAT_ATM_CLOS_NONE: to none. */
uint32_t leat_atm_clos_group(const struct leat_atm_clos *c, uint32_t ppd, uint32_t label);

/* The entry for such a label: to the ports whose bits are set in `members`, 64 a word. */
void leat_atm_clos_group_route(const struct leat_atm_clos *c, uint32_t ppd, uint32_t label,
                               const uint64_t *members, struct leat_atm_route *out);

/*
 * The path of a cell from port src to port dst, c->stages hops. A broadcast takes the same path to
 * each dst as a cell for it alone; only the labels differ.
 */
void leat_atm_clos_path(const struct leat_atm_clos *c, uint32_t src, uint32_t dst, uint32_t path,
                        bool broadcast, struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX]);

#endif
