/*
 * An instance in memory, ready to run: every device is a block (poets_handler.h), devices are dealt
 * to threads in equal shares of an order (graph_place.h), edges point to their destinations. Where
 * several ranks share the threads, each has consecutive ones, and only the blocks and edges of its
 * own; of remote devices it knows only the seats.
 */
#ifndef LEAT_GRAPH_MACHINE_H
#define LEAT_GRAPH_MACHINE_H

#include "handler.h"
#include "poets_softswitch.h"

enum { LEAT_POETS_MACHINE_THREADS_MAX = 65535 };

struct leat_poets_machine {
    struct leat_graph *graph;
    const struct leat_graph_instance *instance;
    const struct leat_handlers *handlers;
    uint8_t *blocks;
    size_t blocks_len;
    struct leat_poets_out_edge *edge;
    uint8_t *graph_properties;
    uint32_t device_count, external_count; /* devices: without externals */
    uint32_t *device;                      /* by index: its number in the instance */
    uint32_t *dealt;                       /* blocks, thread by thread; of local threads only */
    struct leat_poets_seat *seat;          /* by index: its thread, and its number there */
    uint32_t thread_count;
    uint32_t *first;   /* where each thread begins in `dealt`; one more at the end */
    uint32_t *address; /* hardware address of each thread, ascending */
    uint32_t rank, rank_count;
    uint32_t thread_from, thread_to; /* local threads */
    uint8_t task;                    /* in packets: its number, of several in an engine */
    uint32_t base;                   /* threads of the tasks before it */
    bool has_hardware_idle;
};

/* Deals devices in `order` (NULL: that of the file) to this many threads, and builds the share of
 * one rank (0 of 1: all). Memory follows this order; numbers on a thread follow the file. False:
 * E_PLACE or E_LIMIT is in the graph's report. */
bool leat_poets_machine_build(struct leat_poets_machine *machine, struct leat_graph *graph,
                              const struct leat_graph_instance *instance,
                              const struct leat_handlers *handlers, uint32_t threads,
                              const uint32_t *order, uint32_t rank, uint32_t rank_count);
void leat_poets_machine_free(struct leat_poets_machine *machine);

/* The state of a local device, or the states of its edges, piece by piece in their order; and their
 * total length. */
void leat_poets_machine_states(const struct leat_poets_machine *machine, uint32_t index,
                               bool of_edges,
                               void (*take)(void *context, const uint8_t *octets, size_t len),
                               void *context);
size_t leat_poets_machine_states_len(const struct leat_poets_machine *machine, uint32_t index,
                                     bool of_edges);

/* What a local device wants after CTL/HOLD, as ReadyToSend says it; else 0. */
uint64_t leat_poets_machine_wants(const struct leat_poets_machine *machine, uint32_t index);
void leat_poets_machine_want(struct leat_poets_machine *machine, uint32_t index, uint64_t wants);

/* Edges into local devices from those of other shares if the threads are dealt to this many equal
 * shares. */
uint64_t leat_poets_machine_cut(const struct leat_poets_machine *machine, uint32_t shares);

/* The first thread of a rank; of rank rank_count: thread_count. */
uint32_t leat_poets_machine_rank_first(const struct leat_poets_machine *machine, uint32_t rank);
/* The rank of a thread. */
uint32_t leat_poets_machine_rank_of(const struct leat_poets_machine *machine, uint32_t thread);

/* The block of a local device. */
struct leat_poets_block *leat_poets_machine_block(const struct leat_poets_machine *machine,
                                                  uint32_t index);

const char *leat_poets_machine_name(const struct leat_poets_machine *machine, uint32_t index);

#endif
