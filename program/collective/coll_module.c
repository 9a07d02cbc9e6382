#include "coll_leat.h"
#include <string.h>

static void construct(leat_coll_module *m)
{
    memset((char *)m + sizeof m->super, 0, sizeof *m - sizeof m->super);
}

#define RELEASE(NAME) \
    if (m->below.coll_##NAME##_module) OBJ_RELEASE(m->below.coll_##NAME##_module);

/* Before the communicator loses its other calls; once for each of ours, of which the first does
 * it. */
static int leave(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
    leat_coll_module *m = (leat_coll_module *)module;
    (void)comm;
    if (m->is_member) leat_coll_by->leave(m);
    m->is_member = false;
    if (m->comm == &ompi_mpi_comm_world.comm && leat_coll_by->finish) leat_coll_by->finish();
    return OMPI_SUCCESS;
}

static void destruct(leat_coll_module *m)
{
    leave(&m->super, m->comm);
    LEAT_COLL_CALLS(RELEASE)
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
    m->super.coll_module_disable = leave;
    leat_coll_offer(&m->super);
    return &m->super;
}

bool leat_coll_join(leat_coll_module *m, bool waits)
{
    const bool may_wait = waits || leat_coll_by->joins_at_once;
    if (!leat_coll_by->is_on() || (!m->has_joined && !may_wait)) return false;
    const int before = leat_coll_by->is_slow_to_join ? leat_coll_after : 0;
    if (!m->has_joined && m->calls++ < before) return false;
    if (!m->has_joined) m->refusal = leat_coll_by->join(m);
    m->is_member |= !m->has_joined && m->refusal == LEAT_COLLECT_BY_NETWORK;
    m->has_joined = true;
    return m->refusal == LEAT_COLLECT_BY_NETWORK;
}
