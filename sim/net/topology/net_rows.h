/*
 * The routes of a network as rows (net_branch_parts.h): what leat_net_route_options says, looked up
 * instead of computed, and the same for every rule. Not for rules with several options (adaptive)
 * or two legs (valiant), and not for networks with processors. Each state of the wires has a table
 * of rows; most of their branches are the same.
 */
#ifndef LEAT_NET_ROWS_H
#define LEAT_NET_ROWS_H

#include "net_branch_parts.h"
#include "net_routing.h"

enum {
    LEAT_NET_ROWS_ROUTERS_MAX = 4096, /* rows grow with the square */
    LEAT_NET_BRANCHES_MAX = 1 << 16,  /* different ones */
    LEAT_NET_CHOICES_MAX = 1 << 18,
    LEAT_NET_SETS_MAX = 16, /* of channels: rules have few classes */
};

struct leat_net_rows {
    uint32_t routers, tables;
    uint16_t *row; /* [tables * routers * routers] the branch at a router, to a goal */
    struct leat_net_branch *branch;
    struct leat_net_choice *choice;
    uint32_t branches, choices;
    uint32_t set[LEAT_NET_SETS_MAX], sets; /* the first: all channels */
    uint32_t *bucket, *next;               /* to find equal branches: by hash, chained */
};

/* Does this routing have rows? `why`: if not, what does not. */
leat_err leat_net_rows_check(const struct leat_net_routing *routing, struct leat_text *why);

/* For so many tables, of a routing that has passed the check. `memory`: that many octets, ZEROED,
 * aligned for any object, lent for the object's lifetime. */
size_t leat_net_rows_footprint(const struct leat_net_routing *routing, uint32_t tables);
void leat_net_rows_init(struct leat_net_rows *rows, const struct leat_net_routing *routing,
                        uint32_t tables, void *memory);

/* Adds the table of the routing as it is now. `broken`: by output port, NULL if all wires are
 * intact. False: there are more different branches than fit. */
bool leat_net_rows_add(struct leat_net_rows *rows, const struct leat_net_routing *routing,
                       const uint8_t *broken);

#endif
