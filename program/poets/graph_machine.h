/*
 * An instance in memory, ready to run: every device a block (poets_handler.h), devices dealt to
 * threads in blocks of the document's order, edges as where they lead.
 */
#ifndef LEAT_GRAPH_MACHINE_H
#define LEAT_GRAPH_MACHINE_H

#include "handler.h"
#include "poets_softswitch.h"

enum { LEAT_MACHINE_THREADS_MAX = 65535 };

struct leat_machine {
    struct leat_graph *graph;
    const struct leat_graph_instance *instance;
    const struct leat_handlers *handlers;
    uint8_t *blocks;
    size_t blocks_len;
    struct leat_poets_out_edge *edge;
    uint8_t *graph_properties;
    uint32_t device_count, external_count; /* devices: without externals */
    uint32_t *device;                      /* by index: its number in the instance */
    uint32_t *block;                       /* by index: its block */
    uint32_t thread_count;
    uint32_t *first;   /* index of each thread's first device; one more at the end */
    uint32_t *address; /* hardware address of each thread */
    bool has_hardware_idle;
};

/* False: E_PLACE or E_LIMIT is in the graph's report. */
bool leat_machine_build(struct leat_machine *machine, struct leat_graph *graph,
                        const struct leat_graph_instance *instance,
                        const struct leat_handlers *handlers, uint32_t threads);
void leat_machine_free(struct leat_machine *machine);

/* FNV-1a over the states of all devices, then of all edges: what an application has come to. */
uint64_t leat_machine_digest(const struct leat_machine *machine);

const char *leat_machine_name(const struct leat_machine *machine, uint32_t index);

#endif
