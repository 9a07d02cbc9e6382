/*
 * The collective component `leat` of Open MPI: what the network can carry out it does, the rest
 * goes to the component below, call by call.
 *
 *     MPI_Allreduce --> libmpi --> coll_calls: can the network do this? --> coll_work --> the run
 *                                      | no: operation, type, length ...
 *                                      +--> tuned, libnbc: messages between hosts
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

/* Of a communicator. */
typedef struct leat_coll_module {
    mca_coll_base_module_t super; /* the first member: Open MPI knows it by this */
    mca_coll_base_comm_coll_t below;
    struct ompi_communicator_t *comm;
    bool has_joined; /* or tried to */
    struct leat_collect_answer group;
    enum leat_collect_carrier refusal; /* BY_NETWORK: there is none */
} leat_coll_module;

OBJ_CLASS_DECLARATION(leat_coll_module);

/* The run's side; NULL: this process is not simulated. */
extern const struct leat_fi_collective *leat_coll_run;
extern bool leat_coll_is_exact; /* sums of real numbers are to be independent of the order */

/* ---- coll_module.c ---- */

mca_coll_base_module_t *leat_coll_query(struct ompi_communicator_t *comm, int *priority);
/* Joins the group of the communicator, at the first call: before, there is no simulated time. True:
 * the network knows the group. */
bool leat_coll_join(leat_coll_module *m);

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
