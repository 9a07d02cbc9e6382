/*
 * A collective call that the network carries out: what is handed over, step by step, and what
 * becomes of the result. The call waits for it, or gives the program a request and goes on.
 *
 *     begin --> FOLD: leat_coll_plan, one or two steps     run: until it is over
 *               CAST: the root's octets, in pieces         start: the library's progress does it
 *               GATHER: all ranks' octets, an OR
 */
#ifndef LEAT_COLL_WORK_H
#define LEAT_COLL_WORK_H

#include "coll_leat.h"
#include <ompi/request/request.h>

enum leat_coll_kind { LEAT_COLL_FOLD, LEAT_COLL_CAST, LEAT_COLL_GATHER };

struct leat_coll_work {
    leat_coll_module *m;
    const char *name; /* of the call */
    uint64_t octets;  /* that this rank hands over */
    uint64_t began;
    enum leat_collect_carrier carrier;
    bool waits, is_refused;

    enum leat_coll_kind kind;
    const void *in;
    void *out;         /* NULL: this rank gets nothing */
    int count;         /* elements that it gets, of each rank */
    MPI_Datatype type; /* of them */
    /* FOLD */
    struct leat_coll_plan plan;
    uint32_t all, from; /* elements that are folded; the first of them that this rank gets */
    /* CAST */
    int root;
    /* GATHER: what the elements of this many ranks, in their order, are combined by; MPI_OP_NULL:
     * they become `out`, rank by rank. */
    MPI_Op op;
    int ranks;
    int in_count; /* of `in`, which may be of another type */
    MPI_Datatype in_type;

    uint32_t step;
    uint64_t *word[LEAT_COLL_STEPS_MAX]; /* the first of them is to be freed */
    void *operation;                     /* of the means */
    ompi_request_t *request;             /* NULL: the call waits */
    struct leat_coll_work *next;         /* of those that do not */
};

/* The network's, unless its communicator has no group there: w->carrier says so. `waits`: the call
 * ends when the operation does. */
void leat_coll_work_begin(struct leat_coll_work *w, mca_coll_base_module_t *module,
                          const char *name, bool waits);

/* It can be the network's. Will it be? Otherwise w->carrier says so. */
bool leat_coll_work_is_promised(struct leat_coll_work *w);
/* Carries it out. */
int leat_coll_work_run(struct leat_coll_work *w);
/* Starts it. `w` was allocated, and is freed when it is over. */
int leat_coll_work_start(struct leat_coll_work *w, ompi_request_t **request);
/* By hosts, with this result: it is only counted. */
int leat_coll_work_by_hosts(const struct leat_coll_work *w, int result);

#endif
