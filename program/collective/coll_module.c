#include "coll_leat.h"
#include <stdlib.h>
#include <string.h>

static void construct(leat_coll_module *m)
{
    memset((char *)m + sizeof m->super, 0, sizeof *m - sizeof m->super);
}

#define RELEASE(NAME) \
    if (m->below.coll_##NAME##_module) OBJ_RELEASE(m->below.coll_##NAME##_module);

static void destruct(leat_coll_module *m)
{
    LEAT_COLL_CALLS(RELEASE)
    if (m->has_joined && m->refusal == LEAT_COLLECT_BY_NETWORK)
        leat_coll_run->leave(m->group.group);
}

OBJ_CLASS_INSTANCE(leat_coll_module, mca_coll_base_module_t, construct, destruct);

#define RETAIN(NAME)                                                    \
    m->below.coll_##NAME = comm->c_coll->coll_##NAME;                   \
    m->below.coll_##NAME##_module = comm->c_coll->coll_##NAME##_module; \
    if (!m->below.coll_##NAME##_module) return OMPI_ERR_NOT_FOUND;      \
    OBJ_RETAIN(m->below.coll_##NAME##_module);

/* Open MPI enables components from the lowest priority on: those below have set their calls. */
static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    leat_coll_module *m = (leat_coll_module *)module;
    LEAT_COLL_CALLS(RETAIN)
    m->comm = comm;
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *leat_coll_query(struct ompi_communicator_t *comm, int *priority)
{
    (void)priority;
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
    leat_coll_module *m = OBJ_NEW(leat_coll_module);
    if (!m) return NULL;
    m->super.coll_module_enable = enable;
    leat_coll_offer(&m->super);
    return &m->super;
}

/* The members as ranks of this job; NULL: some are of another. To be freed. */
static uint32_t *ranks_of(struct ompi_communicator_t *comm)
{
    const int size = ompi_comm_size(comm);
    const opal_process_name_t own = ompi_group_get_proc_name(comm->c_local_group,
                                                             ompi_comm_rank(comm));
    uint32_t *rank = malloc((size_t)size * sizeof *rank);
    for (int i = 0; rank && i < size; i++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, i);
        rank[i] = name.vpid;
        if (name.jobid == own.jobid) continue;
        free(rank);
        return NULL;
    }
    return rank;
}

static enum leat_collect_carrier join(leat_coll_module *m)
{
    uint32_t *rank = ranks_of(m->comm);
    if (!rank) return LEAT_COLLECT_RANKS;
    m->group = leat_coll_run->join(rank, (uint32_t)ompi_comm_size(m->comm),
                                   ompi_comm_get_cid(m->comm));
    free(rank);
    return m->group.refusal ? LEAT_COLLECT_ROOM : LEAT_COLLECT_BY_NETWORK;
}

bool leat_coll_join(leat_coll_module *m)
{
    if (!leat_coll_run->is_on()) return false;
    if (!m->has_joined) m->refusal = join(m);
    m->has_joined = true;
    return m->refusal == LEAT_COLLECT_BY_NETWORK;
}
