/*
 * Externals of a run (spec/poets.md, 12.6): processes that are attached through a door, and copies
 * of their packets along the edges of the graph. The rules are in poets_external.h.
 *
 *   process <--datagrams--> graph_door <--> poets_external (who has what) <--> the host, threads
 *
 * Without a door nobody can attach. A packet for an external without a process is lost: counted,
 * and the first one for each external is reported on standard error.
 */
#ifndef LEAT_GRAPH_EXTERNALS_H
#define LEAT_GRAPH_EXTERNALS_H

#include "graph_door.h"
#include "graph_machine.h"
#include "poets_external.h"
#include <stdatomic.h>

/* Where a packet of an external goes: an input of a device, or of another external. */
struct leat_poets_route {
    uint32_t thread; /* LEAT_GRAPH_NONE: to an external */
    uint32_t device; /* on the thread, or the external */
    uint32_t pin_address;
};

struct leat_poets_graph_host;

struct leat_poets_graph_externals {
    struct leat_poets_machine *machine;
    struct leat_poets_door *door; /* NULL: none */
    const atomic_int *interrupted;
    struct leat_poets_externals table;
    struct leat_poets_external *external;
    struct leat_poets_route *route;
    uint32_t *payload_len; /* of each pin */
    uint32_t *first;       /* route of each pin, and one more */
    uint32_t *pin_first;   /* pin of each external, and one more */
    double wait_seconds;   /* for processes, before the application starts */
    double waits_since;    /* of the clock */
    atomic_bool waits;
    bool stops;   /* the application has been stopped */
    bool blocked; /* a process does not read: others are served meanwhile */
    uint64_t lost;
};

/* For the externals of the machine, of which there may be none. False: no memory; free it in either
 * case. */
bool leat_poets_graph_externals_make(struct leat_poets_graph_externals *externals,
                                     struct leat_poets_machine *machine,
                                     struct leat_poets_door *door, double wait_seconds,
                                     const atomic_int *interrupted);
void leat_poets_graph_externals_free(struct leat_poets_graph_externals *externals);

/* The application is loaded. True: it has to wait for processes. */
bool leat_poets_graph_externals_begin(struct leat_poets_graph_externals *externals);
/* The application runs: tells the processes. */
void leat_poets_graph_externals_release(struct leat_poets_graph_externals *externals);
/* It is to stop: what processes send from now on is refused. */
void leat_poets_graph_externals_stop(struct leat_poets_graph_externals *externals);
/* Every thread has stopped, so CTL/STOP is the last packet: tells the processes, and refuses what
 * they have sent too late. */
void leat_poets_graph_externals_end(struct leat_poets_graph_host *host);

/* Sends what processes have sent into the graph; waits so long for more. */
void leat_poets_graph_externals_serve(struct leat_poets_graph_host *host, int milliseconds);

/* A packet for an external, as it came from the fabric: to its process. */
void leat_poets_graph_externals_packet(struct leat_poets_graph_host *host,
                                       const struct leat_poets_packet *packet);

#endif
