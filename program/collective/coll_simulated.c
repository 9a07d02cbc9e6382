/* The means of a rank of a simulated run: libleat-fi.so has them (fi_collect.h). */
#include "coll_leat.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECES_MAX = 64 };

static const struct leat_fi_collective *run;

bool leat_coll_find_run(bool *is_wrong)
{
    run = dlsym(RTLD_DEFAULT, "leat_fi_collective");
    *is_wrong = run && run->version != LEAT_FI_COLLECTIVE_VERSION;
    if (*is_wrong)
        fprintf(stderr, "leat: mca_coll_leat.so and libleat-fi.so are of different versions of "
                        "leat, expected both of one\n");
    return run && !*is_wrong;
}

static bool is_on(void)
{
    return run->is_on();
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
    m->group = run->join(rank, (uint32_t)ompi_comm_size(m->comm), ompi_comm_get_cid(m->comm));
    free(rank);
    return m->group.refusal ? LEAT_COLLECT_ROOM : LEAT_COLLECT_BY_NETWORK;
}

static void leave(leat_coll_module *m)
{
    run->leave(m->group.group);
}

static bool promise(leat_coll_module *m, uint32_t operations)
{
    (void)m, (void)operations;
    return true;
}

/* Hosts pad such messages, so that they take the same time in every run. */
static bool varies(const leat_coll_module *m)
{
    return run->is_private(ompi_comm_get_cid(m->comm));
}

static void *start(leat_coll_module *m, struct leat_collect_question *part, const void *in,
                   void *out)
{
    part->group = m->group.group;
    part->key = ompi_comm_get_cid(m->comm);
    part->root = ompi_group_get_proc_name(m->comm->c_local_group, (int)part->root).vpid;
    return run->start(part, in, out);
}

static bool is_over(const void *operation)
{
    return run->is_over(operation);
}

static enum leat_collect_refusal end(void *operation)
{
    return run->end(operation);
}

static void rest(leat_coll_module *m, uint32_t times)
{
    (void)m, (void)times;
}

static void count(const char *call, enum leat_collect_carrier carrier, uint64_t octets,
                  uint64_t began)
{
    run->count(call, carrier, octets, began);
}

static uint64_t now(void)
{
    return run->now();
}

const struct leat_coll_means leat_coll_simulated = { .is_on = is_on,
                                                     .join = join,
                                                     .leave = leave,
                                                     .promise = promise,
                                                     .varies = varies,
                                                     .start = start,
                                                     .is_over = is_over,
                                                     .end = end,
                                                     .rest = rest,
                                                     .count = count,
                                                     .now = now,
                                                     .joins_at_once = true,
                                                     .pieces_max = PIECES_MAX };
