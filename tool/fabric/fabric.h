/* What the parts of `leat fabric` share. */
#ifndef LEAT_FABRIC_H
#define LEAT_FABRIC_H

#include "sim_atm_fabric.h"
#include "tool.h"

/* What of a fabric is to be shown. */
struct fabric_view {
    struct leat_sim_atm_fabric fabric;
    char name[LEAT_SIM_ATM_FABRIC_NAME_CAP + 1];
    bool tables;       /* --vpi */
    bool chosen;       /* --path: only this pair, and the entries on its paths */
    uint32_t src, dst; /* dst = ports: to all */
};

/* Some entries of a PPD's routing table: `count` labels from `first` on. */
struct fabric_entries {
    uint32_t ppd, first, count;
};

/* The fabric that a word of the command line names. False after a complaint. */
bool fabric_read(const struct verb *verb, const char *word, struct leat_sim_atm_fabric *out);

/* The closed form of a message alone over this network, between two of its ports: T(N) of the
 * thesis, whose cells cross three stages in 18 cycles, and what the others take less or more. */
enum { FABRIC_FORMULA_CAP = 24 };
void fabric_formula_name(const struct leat_atm_clos *net, char out[FABRIC_FORMULA_CAP]);

/* The entries to be shown, PPD by PPD in order; false past the last. */
bool fabric_entries_at(const struct fabric_view *view, uint32_t index, struct fabric_entries *out);

/* What `leat fabric show` says, on standard output. They stop early once `interrupted`. */
void fabric_put_text(const struct fabric_view *view);
void fabric_put_json(const struct fabric_view *view);

int run_fabric_time(const struct arguments *args);

/* Networks (fabric_net.c). */
struct leat_net_plan;

/* The topology of an ATM fabric, to be drawn. */
void fabric_topology(const struct leat_sim_atm_fabric *fabric, struct leat_net_plan *plan);
int fabric_show_net(const struct arguments *args);
int fabric_check_net(const struct arguments *args);
int fabric_draw_net(const struct arguments *args);

#endif
