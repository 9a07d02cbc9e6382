/* Shared by the parts of `leat fabric`. */
#ifndef LEAT_FABRIC_H
#define LEAT_FABRIC_H

#include "fabric_kind.h"
#include "sim_atm_fabric.h"
#include "tool.h"

/* Which parts of a fabric to show. */
struct fabric_view {
    struct leat_sim_atm_fabric fabric;
    const char *name;
    bool tables;       /* --vpi */
    bool chosen;       /* --path: only this pair, and the entries on its paths */
    uint32_t src, dst; /* dst = ports: to all */
};

/* Some entries of a PPD's routing table: `count` labels from `first` on. */
struct fabric_entries {
    uint32_t ppd, first, count;
};

/* ---- shared by verbs (fabric_verbs.c) ---- */

/* What the names of all fabrics begin with: "clos444 clos: ... ring ether twosan". */
const char *fabric_names(void);

/* The fabric that a word of the command line names, to be closed by leat_fabric_close. NULL after a
 * complaint. */
struct leat_fabric *fabric_read(const struct verb *verb, const char *word);

/* The same for an ATM fabric. */
struct leat_fabric *fabric_read_atm(const struct verb *verb, const char *word);

/* Reports the error; always false. */
bool fabric_refused(const struct verb *verb, const char *word,
                    const struct leat_fabric_error *error);

/* Does this kind of fabric have all options that were given, by the `kinds` of their rows? False
 * after a complaint. */
bool fabric_has_options(const struct arguments *args, const struct leat_fabric *fabric);

/* "OPTION has no meaning for FABRIC, which is WHAT", after `before`, unless the option is NULL.
 * False after a complaint. */
bool fabric_refuse_option(const struct arguments *args, const struct leat_fabric *fabric,
                          const char *before, const char *option);

/* The same for an option that is not in `known`. */
bool fabric_refuse_foreign(const struct arguments *args, const struct leat_fabric *fabric,
                           const char *before, const char *known);

/* What verbs do differently for this kind than for any network of ports; NULL: nothing. Exit codes.
 */
struct fabric_verbs {
    const char *kind;
    int (*show)(const struct arguments *args, struct leat_fabric *fabric);
    int (*time)(const struct arguments *args, struct leat_fabric *fabric);
    int (*sim)(const struct arguments *args, struct leat_fabric *fabric);
    /* Its options of leat run. False after a complaint. */
    bool (*options)(const struct arguments *args, struct leat_fabric *fabric);
    bool counts_wires; /* leat sim --links */
};

const struct fabric_verbs *fabric_verbs_of(const struct leat_fabric_kind *kind);
bool fabric_counts_wires(const char *word);

/* The topology of a fabric, in memory for free(). NULL: it has none, or it cannot be built. */
struct leat_net_topology;
void *fabric_topology(struct leat_fabric *fabric, struct leat_net_topology *out,
                      struct leat_text *why);

/* SRC,DST of --path: numbers below `count`, of what is called `noun`; *dst is `count` for "all", if
 * allowed. False after a complaint. */
bool fabric_read_pair(const struct verb *verb, const char *pair, const char *noun, uint32_t count,
                      bool may_be_all, uint32_t *src, uint32_t *dst);

/* The closed form for a single message over this network, between two of its ports: T(N) of the
 * thesis, whose cells cross three stages in 18 cycles, adjusted for other networks. */
enum { FABRIC_FORMULA_CAP = 24 };
void fabric_formula_name(uint32_t crossing, char out[FABRIC_FORMULA_CAP]);

/* The entries to show, PPD by PPD in order; false past the last. */
bool fabric_entries_at(const struct fabric_view *view, uint32_t index, struct fabric_entries *out);

/* The text of `leat fabric show`, on standard output. They stop early once `interrupted`. */
void fabric_put_text(const struct fabric_view *view);
void fabric_put_json(const struct fabric_view *view);

/* What its switches are made of; they carry `units`: "cells", in `cycle`: "a cell time". */
struct leat_net_cost;
void fabric_put_cost(const struct leat_net_cost *cost, const char *units, const char *cycle);
void fabric_cost_json(struct leat_json *j, const struct leat_net_cost *cost, const char *units);

int fabric_time(const struct arguments *args, struct leat_fabric *fabric);
int fabric_lines(const struct arguments *args);

/* ---- kinds ---- */

int fabric_show_atm(const struct arguments *args, struct leat_fabric *fabric);
int fabric_time_atm(const struct arguments *args, struct leat_fabric *fabric);
int fabric_show_flits(const struct arguments *args, struct leat_fabric *fabric);
struct leat_fabric_atm;
int fabric_show_cells(const struct arguments *args, const struct leat_fabric_atm *atm);
int fabric_show_multicast(const struct arguments *args, const struct leat_fabric_atm *atm);
int fabric_show_packetway(const struct arguments *args, struct leat_fabric *fabric);
int fabric_draw_any(const struct arguments *args, struct leat_fabric *fabric);

int sim_atm(const struct arguments *args, struct leat_fabric *fabric);
int sim_flits(const struct arguments *args, struct leat_fabric *fabric);
int sim_aton(const struct arguments *args, struct leat_fabric *fabric);
int sim_packetway(const struct arguments *args, struct leat_fabric *fabric);
int sim_ports(const struct arguments *args, struct leat_fabric *fabric); /* any other */

#endif
