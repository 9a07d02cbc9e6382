/*
 * The MPI calls of a program. They are passed on to the library unchanged. This layer adds the
 * beginning and the end of simulated time (MPI_Init, MPI_Finalize, MPI_Abort), and records which
 * calls block (fi_queue.h).
 *
 *     program ---> MPI_Recv here ---> MPI_Recv of the next: a tool's, or the library's
 *     tool, Fortran ---> PMPI_Recv here ---> PMPI_Recv of the library
 */
#include "clock.h"
#include "fi_message.h"
#include "fi_rank.h"
#include "task.h"
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next function of this name after ours. A library that was loaded for one object only (by a
 * language that loads MPI at run time) is not in the search order: it is then found by its name. */
static void *behind(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function) return function;
    void *library = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
    function = library ? dlsym(library, name) : NULL;
    if (function) return function;
    fprintf(stderr, "leat: the MPI library has no %s\n", name);
    abort();
}

/* Once per function; writes the pointer by way of memory, as POSIX wants it. */
#define FIND(next, name) \
    if (!next) *(void **)(void *)&next = behind(name)

/* ---- start and end --------------------------------------------------------------------------- */

static int inits; /* MPI_Init within MPI_Init: a tool's, and then the library's */

static void enter_init(void)
{
    const char *why;
    leat_fi_be_no_copy("MPI_Init");
    if (!leat_fi_is_wanted() || inits++) return;
    leat_clock_library_starts(behind("PMPI_Init"));
    if (!leat_fi_message_read_environment()) exit(1);
    if (leat_fi_attach(&why)) return;
    fprintf(stderr, "leat: no place in the run for this process: %s\n", why);
    exit(1);
}

static int leave_init(int result)
{
    if (!leat_fi_is_wanted() || --inits) return result;
    leat_clock_library_started();
    if (result != MPI_SUCCESS) return result;
    leat_fi_launcher_note();
    leat_fi_begin();
    return result;
}

/* libfabric searches all symbols of the kernel twice for those of InfiniBand drivers, which is
 * nearly half of a rank's start. A simulated network needs no driver. */
FILE *fopen(const char *restrict path, const char *restrict mode)
{
    static FILE *(*next)(const char *, const char *);
    FIND(next, "fopen");
    if (!inits || strcmp(path, "/proc/kallsyms")) return next(path, mode);
    errno = ENOENT;
    return NULL;
}

static bool is_finalizing;

/* Open MPI unloads its components in MPI_Finalize, though a thread of PMIx may still run in one of
 * them: on a loaded machine the rank then crashes. So they stay. */
int dlclose(void *handle)
{
    static int (*next)(void *);
    FIND(next, "dlclose");
    return is_finalizing ? 0 : next(handle);
}

/* Two threads that communicate concurrently would need a rank each. */
static int thread_level(int wanted)
{
    return leat_fi_is_wanted() && wanted > MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED : wanted;
}

static void end_simulation(void)
{
    leat_fi_be_no_copy("MPI_Finalize");
    if (!leat_fi_is_simulated()) return;
    leat_fi_lock();
    leat_fi_message_drain();
    if (leat_fi_launcher_is_lost())
        leat_task_fail("it has closed descriptors of the MPI library: MPI_Finalize cannot end");
    leat_fi_leave();
    leat_fi_unlock();
}

static int finalize(int (*next)(void))
{
    is_finalizing = leat_fi_is_wanted();
    const int result = next();
    is_finalizing = false;
    return result;
}

static void end_run(int code)
{
    char why[64];
    leat_fi_be_no_copy("MPI_Abort");
    if (!leat_fi_is_simulated()) return;
    snprintf(why, sizeof why, "MPI_Abort was called with code %d", code);
    fflush(NULL); /* output of the program so far */
    leat_task_fail(why);
}

#define BOTH(MAKE) MAKE(MPI_) MAKE(PMPI_)

#define INIT(PREFIX)                          \
    int PREFIX##Init(int *argc, char ***argv) \
    {                                         \
        static int (*next)(int *, char ***);  \
        FIND(next, #PREFIX "Init");           \
        enter_init();                         \
        return leave_init(next(argc, argv));  \
    }
BOTH(INIT)

#define INIT_THREAD(PREFIX)                                                     \
    int PREFIX##Init_thread(int *argc, char ***argv, int wanted, int *provided) \
    {                                                                           \
        static int (*next)(int *, char ***, int, int *);                        \
        FIND(next, #PREFIX "Init_thread");                                      \
        enter_init();                                                           \
        return leave_init(next(argc, argv, thread_level(wanted), provided));    \
    }
BOTH(INIT_THREAD)

#define FINALIZE(PREFIX)                \
    int PREFIX##Finalize(void)          \
    {                                   \
        static int (*next)(void);       \
        FIND(next, #PREFIX "Finalize"); \
        end_simulation();               \
        return finalize(next);          \
    }
BOTH(FINALIZE)

#define WTIME(PREFIX)                                                             \
    double PREFIX##Wtime(void)                                                    \
    {                                                                             \
        static double (*next)(void);                                              \
        double seconds;                                                           \
        if (leat_fi_is_wanted() && leat_clock_read_run(&seconds)) return seconds; \
        FIND(next, #PREFIX "Wtime");                                              \
        return next();                                                            \
    }
BOTH(WTIME)

#define ABORT(PREFIX)                          \
    int PREFIX##Abort(MPI_Comm comm, int code) \
    {                                          \
        static int (*next)(MPI_Comm, int);     \
        FIND(next, #PREFIX "Abort");           \
        end_run(code);                         \
        return next(comm, code);               \
    }
BOTH(ABORT)

/* ---- calls that block, or start stepwise operations ------------------------------------------ */

#define BLOCKING_CALL(NAME, PARAMETERS, ARGUMENTS, ...)                  \
    int NAME PARAMETERS                                                  \
    {                                                                    \
        static int(*next) PARAMETERS;                                    \
        const struct leat_fi_call call = { .name = #NAME, __VA_ARGS__ }; \
        FIND(next, #NAME);                                               \
        const bool entered = leat_fi_call_enter(&call);                  \
        const int result = next ARGUMENTS;                               \
        leat_fi_call_exit(&call, entered);                               \
        return result;                                                   \
    }
#define BLOCKING(NAME, ...)                \
    BLOCKING_CALL(MPI_##NAME, __VA_ARGS__) \
    BLOCKING_CALL(PMPI_##NAME, __VA_ARGS__)

/* A call that starts an operation of several steps and returns. */
#define STARTING_CALL(NAME, PARAMETERS, ARGUMENTS) \
    int NAME PARAMETERS                            \
    {                                              \
        static int(*next) PARAMETERS;              \
        FIND(next, #NAME);                         \
        leat_fi_call_starts_deep();                \
        return next ARGUMENTS;                     \
    }
#define STARTING(NAME, PARAMETERS, ARGUMENTS)        \
    STARTING_CALL(MPI_##NAME, PARAMETERS, ARGUMENTS) \
    STARTING_CALL(PMPI_##NAME, PARAMETERS, ARGUMENTS)

/* A collective call, and the one that only starts it, which has a request as its last argument. */
#define WITH_REQUEST(...)     (__VA_ARGS__, MPI_Request * request)
#define AND_REQUEST(...)      (__VA_ARGS__, request)
#define COLLECTIVE(NAME, ...) COLLECTIVE_PAIR(NAME, __VA_ARGS__)
#define COLLECTIVE_PAIR(NAME, START, PARAMETERS, ARGUMENTS, ...) \
    BLOCKING(NAME, PARAMETERS, ARGUMENTS, __VA_ARGS__)           \
    STARTING(START, WITH_REQUEST PARAMETERS, AND_REQUEST ARGUMENTS)

/* The description of a waiting call. */
#define ONLY          .detail = LEAT_FI_CALL_ONLY
#define FROM(from, t) .detail = LEAT_FI_CALL_FROM, .number = from, .tag = t
#define TO(to, t)     .detail = LEAT_FI_CALL_TO, .number = to, .tag = t
#define ROOT(root)    .detail = LEAT_FI_CALL_ROOT, .number = root
#define AT(rank)      .detail = LEAT_FI_CALL_AT, .number = rank
#define OF(count)     .detail = LEAT_FI_CALL_OF, .number = count
#define PROBES        .probes = true
#define DEEP          .is_deep = true
#define FREES         .detail = LEAT_FI_CALL_ONLY, .frees_window = true
#define STAYS_DEEP    .is_deep = true, .stays_deep = true

/* Signatures that several calls have: parameters, and arguments. */
#define SEND                                                                         \
    (const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
        (buf, count, type, to, tag, comm)
#define TO_ROOT_OR_BACK                                                                         \
    (const void *out, int outs, MPI_Datatype out_type, void *in, int ins, MPI_Datatype in_type, \
     int root, MPI_Comm comm),                                                                  \
        (out, outs, out_type, in, ins, in_type, root, comm)
#define EQUAL_PARTS                                                                             \
    (const void *out, int outs, MPI_Datatype out_type, void *in, int ins, MPI_Datatype in_type, \
     MPI_Comm comm),                                                                            \
        (out, outs, out_type, in, ins, in_type, comm)
#define VARIOUS_PARTS                                                                             \
    (const void *out, int outs, MPI_Datatype out_type, void *in, const int ins[], const int at[], \
     MPI_Datatype in_type, MPI_Comm comm),                                                        \
        (out, outs, out_type, in, ins, at, in_type, comm)
#define VARIOUS_PAIRS                                                                        \
    (const void *out, const int outs[], const int out_at[], MPI_Datatype out_type, void *in, \
     const int ins[], const int in_at[], MPI_Datatype in_type, MPI_Comm comm),               \
        (out, outs, out_at, out_type, in, ins, in_at, in_type, comm)
#define REDUCTION                                                                        \
    (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
        (out, in, count, type, op, comm)

/* Point to point. */
BLOCKING(Send, SEND, TO(to, tag))
BLOCKING(Ssend, SEND, TO(to, tag))
BLOCKING(Rsend, SEND, TO(to, tag))
BLOCKING(Buffer_detach, (void *buffer, int *size), (buffer, size), ONLY)
BLOCKING(Recv,
         (void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
          MPI_Status *status),
         (buf, count, type, from, tag, comm, status), FROM(from, tag))
BLOCKING(Mrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
         (buf, count, type, message, status), ONLY)
BLOCKING(Sendrecv,
         (const void *out, int outs, MPI_Datatype out_type, int to, int out_tag, void *in, int ins,
          MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status),
         (out, outs, out_type, to, out_tag, in, ins, in_type, from, in_tag, comm, status),
         FROM(from, in_tag))
BLOCKING(Sendrecv_replace,
         (void *buf, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
          MPI_Comm comm, MPI_Status *status),
         (buf, count, type, to, out_tag, from, in_tag, comm, status), FROM(from, in_tag))
BLOCKING(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status), (from, tag, comm, status),
         FROM(from, tag), PROBES)
BLOCKING(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
         (from, tag, comm, message, status), FROM(from, tag), PROBES)
BLOCKING(Wait, (MPI_Request * request, MPI_Status *status), (request, status), ONLY)
BLOCKING(Waitall, (int count, MPI_Request requests[], MPI_Status *statuses),
         (count, requests, statuses), OF(count))
BLOCKING(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
         (count, requests, index, status), OF(count))
BLOCKING(Waitsome,
         (int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),
         (count, requests, done, indices, statuses), OF(count))

/* Collective. */
COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), (comm), ONLY)
COLLECTIVE(Bcast, Ibcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           (buffer, count, type, root, comm), ROOT(root))
COLLECTIVE(Gather, Igather, TO_ROOT_OR_BACK, ROOT(root))
COLLECTIVE(Gatherv, Igatherv,
           (const void *out, int outs, MPI_Datatype out_type, void *in, const int ins[],
            const int at[], MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, outs, out_type, in, ins, at, in_type, root, comm), ROOT(root))
COLLECTIVE(Scatter, Iscatter, TO_ROOT_OR_BACK, ROOT(root))
COLLECTIVE(Scatterv, Iscatterv,
           (const void *out, const int outs[], const int at[], MPI_Datatype out_type, void *in,
            int ins, MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, outs, at, out_type, in, ins, in_type, root, comm), ROOT(root))
COLLECTIVE(Allgather, Iallgather, EQUAL_PARTS, ONLY)
COLLECTIVE(Allgatherv, Iallgatherv, VARIOUS_PARTS, ONLY)
COLLECTIVE(Alltoall, Ialltoall, EQUAL_PARTS, ONLY)
COLLECTIVE(Alltoallv, Ialltoallv, VARIOUS_PAIRS, ONLY)
COLLECTIVE(Alltoallw, Ialltoallw,
           (const void *out, const int outs[], const int out_at[], const MPI_Datatype out_types[],
            void *in, const int ins[], const int in_at[], const MPI_Datatype in_types[],
            MPI_Comm comm),
           (out, outs, out_at, out_types, in, ins, in_at, in_types, comm), ONLY)
COLLECTIVE(Reduce, Ireduce,
           (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (out, in, count, type, op, root, comm), ROOT(root))
COLLECTIVE(Allreduce, Iallreduce, REDUCTION, ONLY)
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           (const void *out, void *in, const int ins[], MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (out, in, ins, type, op, comm), ONLY)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, REDUCTION, ONLY)
COLLECTIVE(Scan, Iscan, REDUCTION, ONLY)
COLLECTIVE(Exscan, Iexscan, REDUCTION, ONLY)
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, EQUAL_PARTS, ONLY)
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, VARIOUS_PARTS, ONLY)
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, EQUAL_PARTS, ONLY)
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, VARIOUS_PAIRS, ONLY)
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
           (const void *out, const int outs[], const MPI_Aint out_at[],
            const MPI_Datatype out_types[], void *in, const int ins[], const MPI_Aint in_at[],
            const MPI_Datatype in_types[], MPI_Comm comm),
           (out, outs, out_at, out_types, in, ins, in_at, in_types, comm), ONLY)

/* Communicators. */
BLOCKING(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), DEEP)
STARTING(Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request), (comm, made, request))
BLOCKING(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made),
         DEEP)
BLOCKING(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), DEEP)
BLOCKING(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
         (comm, group, tag, made), DEEP)
BLOCKING(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made),
         DEEP)
BLOCKING(Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *made),
         (comm, split_type, key, info, made), DEEP)
BLOCKING(Intercomm_create,
         (MPI_Comm local, int local_leader, MPI_Comm bridge, int remote_leader, int tag,
          MPI_Comm *made),
         (local, local_leader, bridge, remote_leader, tag, made), DEEP)
BLOCKING(Intercomm_merge, (MPI_Comm inter, int high, MPI_Comm *made), (inter, high, made), DEEP)
BLOCKING(Cart_create,
         (MPI_Comm old, int ndims, const int dims[], const int periods[], int reorder,
          MPI_Comm *made),
         (old, ndims, dims, periods, reorder, made), DEEP)
BLOCKING(Cart_sub, (MPI_Comm comm, const int kept[], MPI_Comm *made), (comm, kept, made), DEEP)
BLOCKING(Graph_create,
         (MPI_Comm old, int nodes, const int index[], const int edges[], int reorder,
          MPI_Comm *made),
         (old, nodes, index, edges, reorder, made), DEEP)
BLOCKING(Dist_graph_create,
         (MPI_Comm old, int n, const int nodes[], const int degrees[], const int targets[],
          const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
         (old, n, nodes, degrees, targets, weights, info, reorder, made), DEEP)
BLOCKING(Dist_graph_create_adjacent,
         (MPI_Comm old, int in_degree, const int sources[], const int in_weights[], int out_degree,
          const int targets[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made),
         (old, in_degree, sources, in_weights, out_degree, targets, out_weights, info, reorder,
          made),
         DEEP)

/* One-sided. */
BLOCKING(Win_create,
         (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
         (base, size, unit, info, comm, win), STAYS_DEEP)
BLOCKING(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win),
         STAYS_DEEP)
BLOCKING(Win_allocate,
         (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
         (size, unit, info, comm, base, win), STAYS_DEEP)
BLOCKING(Win_allocate_shared,
         (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
         (size, unit, info, comm, base, win), STAYS_DEEP)
BLOCKING(Win_free, (MPI_Win * win), (win), FREES)
BLOCKING(Win_fence, (int hint, MPI_Win win), (hint, win), ONLY)
BLOCKING(Win_complete, (MPI_Win win), (win), ONLY)
BLOCKING(Win_wait, (MPI_Win win), (win), ONLY)
BLOCKING(Win_lock, (int kind, int rank, int hint, MPI_Win win), (kind, rank, hint, win), AT(rank))
BLOCKING(Win_lock_all, (int hint, MPI_Win win), (hint, win), ONLY)
BLOCKING(Win_unlock, (int rank, MPI_Win win), (rank, win), AT(rank))
BLOCKING(Win_unlock_all, (MPI_Win win), (win), ONLY)
BLOCKING(Win_flush, (int rank, MPI_Win win), (rank, win), AT(rank))
BLOCKING(Win_flush_all, (MPI_Win win), (win), ONLY)
BLOCKING(Win_flush_local, (int rank, MPI_Win win), (rank, win), AT(rank))
BLOCKING(Win_flush_local_all, (MPI_Win win), (win), ONLY)
