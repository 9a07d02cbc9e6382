/* leat graph run --engine fabric:NAME: the network, its mailboxes, and the results. */
#ifndef LEAT_TOOL_GRAPH_FABRIC_H
#define LEAT_TOOL_GRAPH_FABRIC_H

#include "fabric_kind.h"
#include "graph_run.h"
#include "json_out.h"

struct graph_fabric {
    struct leat_fabric *network;
    struct leat_poets_mailbox_place *place;
};

/* Reads --mailbox and --cost and opens the network; sets it up in `run`. False after a complaint;
 * call graph_fabric_close in either case. */
bool graph_fabric_open(const struct arguments *args, const char *name,
                       struct leat_poets_run_options *run, struct graph_fabric *out);
void graph_fabric_close(struct graph_fabric *fabric);

/* A member of an object, and text unless `out` is NULL. */
void graph_fabric_show(const struct graph_fabric *fabric, const struct leat_poets_run_options *run,
                       const struct leat_poets_fabric_result *result, struct leat_json *json,
                       FILE *out);

#endif
