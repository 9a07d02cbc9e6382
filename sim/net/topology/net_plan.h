/*
 * Parses the names of networks that users write on a command line or in a description into the
 * parameters of networks.
 *
 *   mesh:8,8                              8 x 8, a terminal at each router, four virtual channels
 *   torus:32,32/vcs=2/buffer=16           parameters after slashes
 *   crossbar:16/switch=voq/iterations=4   one switch with virtual output queues
 *   fattree:4,2/esp                       ESP routers, which fold and copy
 *   tinsel:3,2                            the mailboxes of 3 x 2 POETS boards: a mesh:12,8
 *
 *   torus:4,4/cells/switch=output         cells in place of flits, with other defaults
 *   torus:4,4/cells/line=stm1             ... on physical lines
 *
 *   plan      = kind ":" number { "," number } { "/" parameter "=" value | "/esp" }
 *
 * "x" may replace a comma, and the colon may be omitted: mesh8x8. Parameters have defaults. No
 * character of a name is special to a shell.
 */
#ifndef LEAT_NET_PLAN_H
#define LEAT_NET_PLAN_H

#include "net.h"
#include "net_esp.h"
#include "sim_clock.h"

enum {
    LEAT_NET_PLAN_NAME_CAP = 256, /* holds every name that leat_net_plan_name writes */
    LEAT_NET_PLAN_LINE_CAP = 16,  /* of a line of cells, with its end */
    LEAT_NET_PLAN_PERIOD_DEFAULT_PS = 1000,
    LEAT_NET_PLAN_CELLS_PERIOD_DEFAULT_PS = 50000, /* of an octet of a cell */
};

struct leat_net_plan {
    struct leat_net_shape shape;
    struct leat_net_routing_config routing;
    struct leat_net_config net;
    struct leat_sim_clock clock;
    struct leat_net_esp_config esp; /* its cycles 0: none */
    /* A flit is a cell. Other defaults: a switch takes a cell time, queues lose what finds no room
     * (not vc and xpq), and `channels` 0 stands for the fewest that cannot deadlock. */
    bool has_cells;
    char line
        [LEAT_NET_PLAN_LINE_CAP]; /* of cells: what the wires are; the caller knows which there are.
                                          "": slots of 53 cycles */
};

struct leat_net_plan_spelling {
    const char *name; /* "mesh:K1,K2,..."; parameters begin with a slash: "/vcs=N" */
    const char *text;
};

/* The defaults of a kind, its numbers not yet set. */
void leat_net_plan_default(enum leat_net_kind kind, bool has_cells, struct leat_net_plan *out);

/* Is this the name of a network, valid or not? (Names of ATM fabrics are not.) */
bool leat_net_plan_is(const char *name);

/* Parses a name. On error *out is untouched and `why` has one line for the user, without the
 * name. */
leat_err leat_net_plan_parse(const char *name, struct leat_net_plan *out, struct leat_text *why);
/* The same with cells: "/cells" may be among the parameters. */
leat_err leat_net_plan_parse_cells(const char *name, struct leat_net_plan *out,
                                   struct leat_text *why);

/* Parses parameters "/vcs=4/buffer=8", which may be empty, into a plan that has its defaults. */
leat_err leat_net_plan_parameters(const char *text, struct leat_net_plan *plan,
                                  struct leat_text *why);

/* Sets one parameter. */
leat_err leat_net_plan_set(struct leat_net_plan *plan, const char *parameter, size_t parameter_len,
                           const char *value, size_t value_len, struct leat_text *why);

/* The value of a parameter that is a number, such as "buffer". False: there is no such one. */
bool leat_net_plan_number(const struct leat_net_plan *plan, const char *parameter, uint32_t *out);

/* The shortest name of a plan; parsing it gives an equal plan. A graph is "graph" and
 * parameters. */
void leat_net_plan_name(const struct leat_net_plan *plan, struct leat_text *text);

/* All kinds and parameters, kinds first; NULL past the last. */
const struct leat_net_plan_spelling *leat_net_plan_list(size_t index);

#endif
