/* The collective calls: what the network carries out, and what the hosts do. */
#include "coll_work.h"
#include <stdlib.h>

enum { WORDS_MAX = 1 << 16 }; /* of an operation, whatever the network takes */

/* ---- can the network do this? ---------------------------------------------------------------- */

/* Each of these says in w->carrier why not. */

static bool is_networks(const struct leat_coll_work *w)
{
    return w->carrier == LEAT_COLLECT_BY_NETWORK && !w->is_refused;
}

static bool has_fold(const struct leat_coll_work *w, enum leat_port_fold fold)
{
    return w->m->group.means.folds >> fold & 1;
}

static bool has_room(const struct leat_coll_work *w, uint64_t words)
{
    return words <= WORDS_MAX && words <= w->m->group.means.words_max;
}

static bool has_plan(struct leat_coll_work *w, MPI_Op op, MPI_Datatype type)
{
    struct leat_coll_type element;
    enum leat_coll_op operation;
    if (!is_networks(w)) return false;
    w->carrier = LEAT_COLLECT_OPERATION;
    if (!leat_coll_find_op(op, &operation) || !leat_coll_find_type(type, &element) ||
        !leat_coll_plan_make(operation, &element, leat_coll_is_exact, &w->plan))
        return false;
    for (uint32_t i = 0; i < w->plan.steps; i++)
        if (!has_fold(w, w->plan.fold[i])) return false;
    w->carrier = LEAT_COLLECT_BY_NETWORK;
    return true;
}

/* Of so many elements. */
static bool can_fold(struct leat_coll_work *w, MPI_Op op, MPI_Datatype type, uint64_t count)
{
    if (!has_plan(w, op, type)) return false;
    w->carrier = LEAT_COLLECT_LENGTH;
    for (uint32_t i = 0; i < w->plan.steps; i++)
        if (!has_room(w, count * w->plan.words[i])) return false;
    w->carrier = LEAT_COLLECT_BY_NETWORK;
    w->all = (uint32_t)count;
    return true;
}

static bool can_gather(struct leat_coll_work *w)
{
    const uint64_t len = leat_coll_octets(w->type, w->count);
    const uint64_t all = len * (uint64_t)ompi_comm_size(w->m->comm);
    if (!is_networks(w)) return false;
    w->carrier = LEAT_COLLECT_OPERATION;
    if (!has_fold(w, LEAT_PORT_OR)) return false;
    w->carrier = LEAT_COLLECT_LENGTH;
    if (!len || !has_room(w, (all + sizeof(uint64_t) - 1) / sizeof(uint64_t))) return false;
    w->carrier = LEAT_COLLECT_BY_NETWORK;
    return true;
}

/* ---- each call ------------------------------------------------------------------------------- */

static const void *source(const void *in, void *out)
{
    return in == MPI_IN_PLACE ? out : in;
}

static bool prepare_barrier(struct leat_coll_work *w, struct ompi_communicator_t *comm)
{
    (void)comm;
    w->plan = (struct leat_coll_plan){ .steps = 1, .fold = { LEAT_PORT_SUM } };
    if (!is_networks(w)) return false;
    if (!has_fold(w, LEAT_PORT_SUM)) w->carrier = LEAT_COLLECT_OPERATION;
    return is_networks(w);
}

static bool prepare_bcast(struct leat_coll_work *w, void *elements, int count, MPI_Datatype type,
                          int root, struct ompi_communicator_t *comm)
{
    const uint64_t len = leat_coll_octets(type, count);
    const bool is_root = ompi_comm_rank(comm) == root;
    w->octets = is_root ? len : 0;
    if (!is_networks(w)) return false;
    if (!len || (len - 1) / leat_coll_by->pieces_max >= w->m->group.means.octets_max ||
        (leat_coll_by->varies && leat_coll_by->varies(w->m)))
        w->carrier = LEAT_COLLECT_LENGTH;
    w->kind = LEAT_COLL_CAST;
    w->in = elements;
    w->out = is_root ? NULL : elements;
    w->count = count;
    w->type = type;
    w->root = root;
    return is_networks(w);
}

static bool prepare_allreduce(struct leat_coll_work *w, const void *in, void *out, int count,
                              MPI_Datatype type, MPI_Op op, struct ompi_communicator_t *comm)
{
    (void)comm;
    w->octets = leat_coll_octets(type, count);
    w->in = source(in, out);
    w->out = out;
    w->count = count;
    return can_fold(w, op, type, (uint64_t)count);
}

static bool prepare_reduce(struct leat_coll_work *w, const void *in, void *out, int count,
                           MPI_Datatype type, MPI_Op op, int root, struct ompi_communicator_t *comm)
{
    const bool can = prepare_allreduce(w, in, out, count, type, op, comm);
    if (ompi_comm_rank(comm) != root) w->out = NULL;
    return can;
}

static bool prepare_reduce_scatter_block(struct leat_coll_work *w, const void *in, void *out,
                                         int count, MPI_Datatype type, MPI_Op op,
                                         struct ompi_communicator_t *comm)
{
    const uint64_t ranks = (uint64_t)ompi_comm_size(comm);
    w->octets = leat_coll_octets(type, count) * ranks;
    w->in = source(in, out);
    w->out = out;
    w->count = count;
    w->from = (uint32_t)(ompi_comm_rank(comm) * count);
    return can_fold(w, op, type, (uint64_t)count * ranks);
}

static bool prepare_allgather(struct leat_coll_work *w, const void *in, int in_count,
                              MPI_Datatype in_type, void *out, int count, MPI_Datatype type,
                              struct ompi_communicator_t *comm)
{
    const ptrdiff_t stride = type->super.ub - type->super.lb;
    const bool in_place = in == MPI_IN_PLACE;
    w->octets = leat_coll_octets(type, count);
    w->kind = LEAT_COLL_GATHER;
    w->out = out;
    w->count = count;
    w->type = type;
    w->op = MPI_OP_NULL;
    w->in = in_place ? (uint8_t *)out + (ptrdiff_t)ompi_comm_rank(comm) * count * stride : in;
    w->in_count = in_place ? count : in_count;
    w->in_type = in_place ? type : in_type;
    return can_gather(w);
}

/* Sums of real numbers are the hosts', whose order they are in. */
static bool prepare_ranks(struct leat_coll_work *w, const void *in, void *out, int count,
                          MPI_Datatype type, MPI_Op op, int ranks)
{
    w->octets = leat_coll_octets(type, count);
    w->in = source(in, out);
    w->out = out;
    w->count = w->in_count = count;
    w->type = w->in_type = type;
    w->op = op;
    w->ranks = ranks;
    if (!has_plan(w, op, type)) return false;
    w->kind = LEAT_COLL_GATHER;
    if (w->plan.type.class == LEAT_COLL_REAL && w->plan.op == LEAT_COLL_SUM)
        w->carrier = LEAT_COLLECT_OPERATION;
    return can_gather(w);
}

static bool prepare_scan(struct leat_coll_work *w, const void *in, void *out, int count,
                         MPI_Datatype type, MPI_Op op, struct ompi_communicator_t *comm)
{
    return prepare_ranks(w, in, out, count, type, op, ompi_comm_rank(comm) + 1);
}

static bool prepare_exscan(struct leat_coll_work *w, const void *in, void *out, int count,
                           MPI_Datatype type, MPI_Op op, struct ompi_communicator_t *comm)
{
    return prepare_ranks(w, in, out, count, type, op, ompi_comm_rank(comm));
}

/* ---- both forms of it ------------------------------------------------------------------------ */

#define AND_MODULE(...)  (__VA_ARGS__, mca_coll_base_module_t * module)
#define AND_REQUEST(...) (__VA_ARGS__, ompi_request_t * *request, mca_coll_base_module_t * module)
#define OF_WORK(...)     (w, __VA_ARGS__)
#define LIST(...)        __VA_ARGS__

/* By the network, or by the component below. */
#define CALL(NAME, WAITING, GOING, PARAMETERS, ARGUMENTS)                                          \
    static int NAME AND_MODULE PARAMETERS                                                          \
    {                                                                                              \
        struct leat_coll_work own, *w = &own;                                                      \
        leat_coll_work_begin(w, module, WAITING, true);                                            \
        if (prepare_##NAME OF_WORK ARGUMENTS && leat_coll_work_is_promised(w))                     \
            return leat_coll_work_run(w);                                                          \
        return leat_coll_work_by_hosts(                                                            \
            w, w->m->below.coll_##NAME(LIST ARGUMENTS, w->m->below.coll_##NAME##_module));         \
    }                                                                                              \
    static int i##NAME AND_REQUEST PARAMETERS                                                      \
    {                                                                                              \
        struct leat_coll_work *w = malloc(sizeof *w);                                              \
        if (!w) abort();                                                                           \
        leat_coll_work_begin(w, module, GOING, false);                                             \
        if (prepare_##NAME OF_WORK ARGUMENTS && leat_coll_work_is_promised(w))                     \
            return leat_coll_work_start(w, request);                                               \
        const int result = leat_coll_work_by_hosts(                                                \
            w,                                                                                     \
            w->m->below.coll_i##NAME(LIST ARGUMENTS, request, w->m->below.coll_i##NAME##_module)); \
        free(w);                                                                                   \
        return result;                                                                             \
    }

#define REDUCTION                                                        \
    (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, \
     struct ompi_communicator_t *comm)

CALL(barrier, "MPI_Barrier", "MPI_Ibarrier", (struct ompi_communicator_t * comm), (comm))
CALL(bcast, "MPI_Bcast", "MPI_Ibcast",
     (void *elements, int count, MPI_Datatype type, int root, struct ompi_communicator_t *comm),
     (elements, count, type, root, comm))
CALL(allreduce, "MPI_Allreduce", "MPI_Iallreduce", REDUCTION, (in, out, count, type, op, comm))
CALL(reduce, "MPI_Reduce", "MPI_Ireduce",
     (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
      struct ompi_communicator_t *comm),
     (in, out, count, type, op, root, comm))
CALL(reduce_scatter_block, "MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block", REDUCTION,
     (in, out, count, type, op, comm))
CALL(allgather, "MPI_Allgather", "MPI_Iallgather",
     (const void *in, int ins, MPI_Datatype in_type, void *out, int outs, MPI_Datatype out_type,
      struct ompi_communicator_t *comm),
     (in, ins, in_type, out, outs, out_type, comm))
CALL(scan, "MPI_Scan", "MPI_Iscan", REDUCTION, (in, out, count, type, op, comm))
CALL(exscan, "MPI_Exscan", "MPI_Iexscan", REDUCTION, (in, out, count, type, op, comm))

#define OFFER(NAME) module->coll_##NAME = NAME;

void leat_coll_offer(mca_coll_base_module_t *module)
{
    LEAT_COLL_CALLS(OFFER)
}
