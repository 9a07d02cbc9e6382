/*
 * The collective component `leat` of Open MPI: what the network can carry out it does, the rest
 * goes to the component below, call by call.
 *
 *     MPI_Allreduce --> libmpi --> coll_calls: can the network do this? --> coll_work --> means
 *                                      | no: operation, type, length ...      simulated: the run
 *                                      +--> tuned, libnbc: messages           live: a ring, ESP
 *
 * All ranks of a communicator decide alike: by the operation, the type, the length, and what the
 * network said when they joined their group.
 */
#ifndef LEAT_COLL_LEAT_H
#define LEAT_COLL_LEAT_H

#include "coll_fold.h"
#include "fi_collect.h"

#include <ompi_config.h> /* Open MPI's own headers need it first */

#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/coll/coll.h>

/* The collective calls that the component may carry out; those with an i only start it. */
#define LEAT_COLL_CALLS(X)   \
    X(barrier)               \
    X(bcast)                 \
    X(reduce)                \
    X(allreduce)             \
    X(reduce_scatter_block)  \
    X(allgather)             \
    X(scan)                  \
    X(exscan)                \
    X(ibarrier)              \
    X(ibcast)                \
    X(ireduce)               \
    X(iallreduce)            \
    X(ireduce_scatter_block) \
    X(iallgather)            \
    X(iscan)                 \
    X(iexscan)

struct leat_live;
struct leat_coll_means;

/* Of a communicator. */
typedef struct leat_coll_module {
    mca_coll_base_module_t super; /* the first member: Open MPI knows it by this */
    mca_coll_base_comm_coll_t below;
    struct ompi_communicator_t *comm;
    int calls;       /* that waited, before it joined */
    bool has_joined; /* or tried to */
    bool is_member;  /* has joined, and not left */
    struct leat_collect_answer group;
    struct leat_live *live;            /* of the means `live` */
    enum leat_collect_carrier refusal; /* BY_NETWORK: there is none */
} leat_coll_module;

OBJ_CLASS_DECLARATION(leat_coll_module);

/* Who carries out what the calls hand over: the simulated run of which this process is a rank, or a
 * live network of which its host is part. Parts are as in collect.h; a root is a rank of the
 * communicator. */
struct leat_coll_means {
    /* Is this the time for collective operations of the network? */
    bool (*is_on)(void);
    /* At the first call that waits; all members do it, and wait for each other. Fills m->group. */
    enum leat_collect_carrier (*join)(leat_coll_module *m);
    void (*leave)(leat_coll_module *m);
    /* MPI_COMM_WORLD ends; NULL: nothing is to be done. */
    void (*finish)(void);
    /* Of a communicator that has joined: will the next call, of so many operations, be carried out?
     * True: all of them will be started, here and by all members. May wait. */
    bool (*promise)(leat_coll_module *m, uint32_t operations);
    /* May octets of this call have another length each time, as names of processes do? NULL: no
     * matter. */
    bool (*varies)(const leat_coll_module *m);
    void *(*start)(leat_coll_module *m, struct leat_collect_question *part, const void *in,
                   void *out);
    bool (*is_over)(const void *operation);
    /* It is over: GRANTED or REDONE. The result is there either way. */
    enum leat_collect_refusal (*end)(void *operation);
    /* A call waits, and has looked in vain so many times: the process may sleep a little. */
    void (*rest)(leat_coll_module *m, uint32_t times);
    void (*count)(const char *call, enum leat_collect_carrier carrier, uint64_t octets,
                  uint64_t began);
    uint64_t (*now)(void);
    bool joins_at_once;   /* without messages: calls that do not wait may do it, too */
    bool is_slow_to_join; /* so that a few calls do not repay it */
    uint32_t pieces_max;  /* of a broadcast */
};

extern const struct leat_coll_means leat_coll_simulated, leat_coll_live;
/* Of this process; NULL: none. */
extern const struct leat_coll_means *leat_coll_by;
extern bool leat_coll_is_exact; /* sums of real numbers are to be independent of the order */

/* Parameters of live networks. */
extern char *leat_coll_esp_network, *leat_coll_esp_key;
extern int leat_coll_ring_id, leat_coll_patience_ms, leat_coll_words, leat_coll_after;

/* ---- coll_simulated.c ---- */

/* Is this process a rank of a simulated run? False after a message too: *is_wrong. */
bool leat_coll_find_run(bool *is_wrong);

/* ---- coll_live_find.c ---- */

/* Is there a library for live lives? */
bool leat_coll_find_live(void);
/* This process can use it. Before those of the job exchange what they know of each other. */
void leat_coll_announce_live(void);

/* ---- coll_module.c ---- */

mca_coll_base_module_t *leat_coll_query(struct ompi_communicator_t *comm, int *priority);
/* Joins the group of the communicator, at the first call that waits: before, there is no simulated
 * time. True: the network knows the group. */
bool leat_coll_join(leat_coll_module *m, bool waits);

/* ---- coll_calls.c ---- */

void leat_coll_offer(mca_coll_base_module_t *module);

/* ---- coll_types.c: what the library's objects are ---- */

bool leat_coll_find_op(MPI_Op op, enum leat_coll_op *out);
bool leat_coll_find_type(MPI_Datatype type, struct leat_coll_type *out);
/* Octets of so many elements, without gaps. */
uint64_t leat_coll_octets(MPI_Datatype type, int count);
void leat_coll_pack(const void *elements, int count, MPI_Datatype type, uint8_t *octets);
void leat_coll_unpack(const uint8_t *octets, int count, MPI_Datatype type, void *elements);

#endif
