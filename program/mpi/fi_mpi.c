/*
 * The MPI calls of a program. They are passed on to the library unchanged. This layer adds the
 * beginning and the end of simulated time (MPI_Init, MPI_Finalize, MPI_Abort), and records which
 * calls block (fi_queue.h).
 *
 *     program ---> MPI_Recv here ---> MPI_Recv of the next: a tool's, or the library's
 *     tool, Fortran ---> PMPI_Recv here ---> PMPI_Recv of the library
 */
#include "clock.h"
#include "fi_behind.h"
#include "fi_matched.h"
#include "fi_memory.h"
#include "fi_message.h"
#include "fi_others.h"
#include "fi_port.h"
#include "fi_rank.h"
#include "fi_threads.h"
#include "task.h"
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <opal_config.h> /* Open MPI's own headers need it first */

#include <opal/class/opal_object.h>

/* ---- start and end --------------------------------------------------------------------------- */

static int inits; /* MPI_Init within MPI_Init: a tool's, and then the library's */

/* MPICH and others have the same calls. A script may load any of them. */
static void be_open_mpi(void)
{
    Dl_info other;
    const void *init = leat_fi_behind("PMPI_Init");
    if (!dladdr(init, &other)) return;
    void *library = dlopen(other.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library || dlsym(library, "ompi_mpi_init")) return;
    fprintf(stderr,
            "leat: the program has loaded %s, expected Open MPI 4 (libmpi.so.40 of Debian's "
            "libopenmpi3)\n",
            other.dli_fname);
    exit(1);
}

static void enter_init(void)
{
    const char *why;
    leat_fi_be_no_copy("MPI_Init");
    if (!leat_fi_is_wanted() || inits++) return;
    be_open_mpi();
    leat_clock_library_starts(leat_fi_behind("PMPI_Init"));
    if (!leat_fi_message_read_environment()) exit(1);
    if (!leat_fi_attach(&why)) {
        fprintf(stderr, "leat: no place in the run for this process: %s\n", why);
        exit(1);
    }
    leat_clock_library_crowds(leat_fi_ranks());
}

static bool may_call_from_threads(void)
{
    static int (*level_of)(int *);
    int level = MPI_THREAD_SINGLE;
    LEAT_FI_FIND(level_of, "PMPI_Query_thread");
    return level_of(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
}

static int leave_init(int result)
{
    if (!leat_fi_is_wanted() || --inits) return result;
    leat_clock_library_started();
    if (result != MPI_SUCCESS) return result;
    leat_fi_launcher_note();
    leat_fi_begin();
    if (may_call_from_threads()) leat_fi_threads_allow();
    return result;
}

/* libfabric searches all symbols of the kernel twice for those of InfiniBand drivers, which is
 * nearly half of a rank's start. A simulated network needs no driver. */
FILE *fopen(const char *restrict path, const char *restrict mode)
{
    static FILE *(*next)(const char *, const char *);
    LEAT_FI_FIND(next, "fopen");
    if (!inits || strcmp(path, "/proc/kallsyms") != 0) return next(path, mode);
    errno = ENOENT;
    return NULL;
}

/* MPI_Finalize goes on as soon as PMIx has answered, closes Open MPI's components and unloads them,
 * though the thread of PMIx that brought the answer may still run in one of them: on a loaded
 * machine the rank then crashes. So it first waits for that thread, and components stay. */
int dlclose(void *handle)
{
    static int (*next)(void *);
    LEAT_FI_FIND(next, "dlclose");
    if (!leat_fi_is_finalizing()) return next(handle);
    leat_fi_others_settle();
    return 0;
}

int ompi_mtl_base_select(bool has_progress_threads, bool has_threads, int *priority);

/* What starts mtl ofi. If it knows of threads, it reads the queue under a lock that others only
 * try, again and again: one that waits would have all others spin. The provider needs no lock, and
 * lets one thread at a time handle what it has read (fi_threads.h). */
int ompi_mtl_base_select(bool has_progress_threads, bool has_threads, int *priority)
{
    static int (*next)(bool, bool, int *);
    LEAT_FI_FIND(next, "ompi_mtl_base_select");
    return next(has_progress_threads, has_threads && !leat_fi_is_wanted(), priority);
}

static void end_simulation(void)
{
    leat_fi_be_no_copy("MPI_Finalize");
    if (!leat_fi_is_simulated()) return;
    leat_fi_threads_take_turn("MPI_Finalize");
    leat_fi_lock();
    leat_fi_message_drain();
    if (leat_fi_launcher_is_lost())
        leat_task_fail("it has closed descriptors of the MPI library: MPI_Finalize cannot end");
    leat_fi_leave();
    leat_fi_unlock();
}

static int finalize(int (*next)(void))
{
    leat_fi_finalizes(leat_fi_is_wanted());
    if (leat_fi_is_finalizing()) {
        leat_clock_library_ends(); /* btl ofi sleeps a second */
        leat_fi_launcher_keep();
    }
    const int result = next();
    leat_fi_launcher_await_end();
    leat_fi_finalizes(false);
    return result;
}

static void end_run(int code)
{
    char why[64];
    leat_fi_be_no_copy("MPI_Abort");
    if (!leat_fi_is_simulated()) return;
    snprintf(why, sizeof why, "MPI_Abort was called with code %d", code);
    fflush(NULL); /* output of the program so far */
    leat_fi_threads_take_turn("MPI_Abort");
    leat_fi_lock();
    leat_task_abort(why);
    leat_fi_unlock();
}

#define BOTH(MAKE) MAKE(MPI_) MAKE(PMPI_)

#define INIT(PREFIX)                          \
    int PREFIX##Init(int *argc, char ***argv) \
    {                                         \
        static int (*next)(int *, char ***);  \
        LEAT_FI_FIND(next, #PREFIX "Init");   \
        enter_init();                         \
        return leave_init(next(argc, argv));  \
    }
BOTH(INIT)

#define INIT_THREAD(PREFIX)                                                     \
    int PREFIX##Init_thread(int *argc, char ***argv, int wanted, int *provided) \
    {                                                                           \
        static int (*next)(int *, char ***, int, int *);                        \
        LEAT_FI_FIND(next, #PREFIX "Init_thread");                              \
        enter_init();                                                           \
        return leave_init(next(argc, argv, wanted, provided));                  \
    }
BOTH(INIT_THREAD)

#define FINALIZE(PREFIX)                        \
    int PREFIX##Finalize(void)                  \
    {                                           \
        static int (*next)(void);               \
        LEAT_FI_FIND(next, #PREFIX "Finalize"); \
        end_simulation();                       \
        return finalize(next);                  \
    }
BOTH(FINALIZE)

#define WTIME(PREFIX)                                                             \
    double PREFIX##Wtime(void)                                                    \
    {                                                                             \
        static double (*next)(void);                                              \
        double seconds;                                                           \
        if (leat_fi_is_wanted() && leat_clock_read_run(&seconds)) return seconds; \
        LEAT_FI_FIND(next, #PREFIX "Wtime");                                      \
        return next();                                                            \
    }
BOTH(WTIME)

#define ABORT(PREFIX)                          \
    int PREFIX##Abort(MPI_Comm comm, int code) \
    {                                          \
        static int (*next)(MPI_Comm, int);     \
        LEAT_FI_FIND(next, #PREFIX "Abort");   \
        end_run(code);                         \
        return next(comm, code);               \
    }
BOTH(ABORT)

/* A request of Open MPI is an object, whose class has a name. */
static bool is_send(MPI_Request request)
{
    const opal_object_t *object = (const opal_object_t *)(const void *)request;
    return strstr(object->obj_class->cls_name, "send_request");
}

/* A send cannot be cancelled. mtl ofi says so too, but first reads what only receives have. */
#define CANCEL(PREFIX)                                                                           \
    int PREFIX##Cancel(MPI_Request *request)                                                     \
    {                                                                                            \
        static int (*next)(MPI_Request *);                                                       \
        LEAT_FI_FIND(next, #PREFIX "Cancel");                                                    \
        if (leat_fi_is_wanted() && request && *request && is_send(*request)) return MPI_SUCCESS; \
        return next(request);                                                                    \
    }
BOTH(CANCEL)

/* Another thread may wait for it. */
#define GREQUEST_COMPLETE(PREFIX)                        \
    int PREFIX##Grequest_complete(MPI_Request request)   \
    {                                                    \
        static int (*next)(MPI_Request);                 \
        LEAT_FI_FIND(next, #PREFIX "Grequest_complete"); \
        const int result = next(request);                \
        leat_fi_lock();                                  \
        leat_fi_threads_stir();                          \
        leat_fi_unlock();                                \
        return result;                                   \
    }
BOTH(GREQUEST_COMPLETE)

/* ---- octets that a rank hands over in a call, for the profile -------------------------------- */

/* With MPI_NO_OP a program may give no type, MPI_DATATYPE_NULL: an object of the MPI library. */
static uint64_t octets_of(int count, MPI_Datatype type)
{
    static int (*next)(MPI_Datatype, int *);
    static MPI_Datatype none;
    int size = 0;
    if (!leat_fi_is_simulated() || count <= 0) return 0;
    LEAT_FI_FIND(next, "PMPI_Type_size");
    LEAT_FI_OBJECT(none, "ompi_mpi_datatype_null");
    if (type == none) return 0;
    return next(type, &size) == MPI_SUCCESS && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

/* The group that a collective call reaches. */
static int ranks_of(MPI_Comm comm)
{
    static int (*is_between)(MPI_Comm, int *), (*size_of)(MPI_Comm, int *);
    static int (*remote_size_of)(MPI_Comm, int *);
    int between = 0, size = 0;
    if (!leat_fi_is_simulated()) return 0;
    LEAT_FI_FIND(is_between, "PMPI_Comm_test_inter");
    LEAT_FI_FIND(size_of, "PMPI_Comm_size");
    LEAT_FI_FIND(remote_size_of, "PMPI_Comm_remote_size");
    if (is_between(comm, &between) != MPI_SUCCESS) return 0;
    return (between ? remote_size_of : size_of)(comm, &size) == MPI_SUCCESS ? size : 0;
}

static int rank_in(MPI_Comm comm)
{
    static int (*next)(MPI_Comm, int *);
    int rank = 0;
    LEAT_FI_FIND(next, "PMPI_Comm_rank");
    return leat_fi_is_simulated() && next(comm, &rank) == MPI_SUCCESS ? rank : 0;
}

static bool is_root(int root, MPI_Comm comm)
{
    return root == MPI_ROOT || (root >= 0 && root == rank_in(comm));
}

static int own_part(const int counts[], MPI_Comm comm)
{
    return counts ? counts[rank_in(comm)] : 0;
}

static uint64_t to_all(uint64_t octets, MPI_Comm comm)
{
    return octets ? octets * (uint64_t)ranks_of(comm) : 0;
}

/* In place, a rank's own part is where it receives. */
static uint64_t octets_out(const void *out, int outs, MPI_Datatype out_type, int ins,
                           MPI_Datatype in_type)
{
    return out == MPI_IN_PLACE ? octets_of(ins, in_type) : octets_of(outs, out_type);
}

/* A part for each rank, of one type or of several. */
static uint64_t octets_of_parts(const int counts[], MPI_Datatype type, const MPI_Datatype types[],
                                MPI_Comm comm)
{
    const int ranks = counts ? ranks_of(comm) : 0;
    uint64_t octets = 0;
    for (int i = 0; i < ranks; i++)
        octets += octets_of(counts[i], types ? types[i] : type);
    return octets;
}

/* ---- calls that block, or start stepwise operations ------------------------------------------ */

#define BLOCKING_CALL(NAME, PARAMETERS, ARGUMENTS, ...)                  \
    int NAME PARAMETERS                                                  \
    {                                                                    \
        static int(*next) PARAMETERS;                                    \
        const struct leat_fi_call call = { .name = #NAME, __VA_ARGS__ }; \
        LEAT_FI_FIND(next, #NAME);                                       \
        const bool entered = leat_fi_call_enter(&call);                  \
        const int result = next ARGUMENTS;                               \
        leat_fi_call_exit(&call, entered);                               \
        return result;                                                   \
    }
#define BLOCKING(NAME, ...)                \
    BLOCKING_CALL(MPI_##NAME, __VA_ARGS__) \
    BLOCKING_CALL(PMPI_##NAME, __VA_ARGS__)

/* A call that returns at once, and is only counted. */
#define COUNTED_CALL(NAME, PARAMETERS, ARGUMENTS, ...)                    \
    int NAME PARAMETERS                                                   \
    {                                                                     \
        static int(*next) PARAMETERS;                                     \
        const struct leat_fi_call call = { .name = #NAME, __VA_ARGS__ };  \
        LEAT_FI_FIND(next, #NAME);                                        \
        if (call.is_deep) leat_fi_call_starts_deep();                     \
        const struct leat_task_span span = leat_fi_span_begin(call.name); \
        const int result = next ARGUMENTS;                                \
        if (call.hands_over) leat_fi_memory_yield(call.name);             \
        leat_fi_span_end(span, call.octets);                              \
        return result;                                                    \
    }
#define COUNTED(NAME, ...)                \
    COUNTED_CALL(MPI_##NAME, __VA_ARGS__) \
    COUNTED_CALL(PMPI_##NAME, __VA_ARGS__)

/* One that starts an operation of several steps. */
#define STARTING(NAME, ...) COUNTED(NAME, __VA_ARGS__, DEEP)

/* A collective call, and the one that only starts it, which has a request as its last argument. */
#define WITH_REQUEST(...)     (__VA_ARGS__, MPI_Request * request)
#define AND_REQUEST(...)      (__VA_ARGS__, request)
#define COLLECTIVE(NAME, ...) COLLECTIVE_PAIR(NAME, __VA_ARGS__)
#define COLLECTIVE_PAIR(NAME, START, PARAMETERS, ARGUMENTS, ...) \
    BLOCKING(NAME, PARAMETERS, ARGUMENTS, __VA_ARGS__)           \
    STARTING(START, WITH_REQUEST PARAMETERS, AND_REQUEST ARGUMENTS, __VA_ARGS__)

/* The description of a waiting call. */
#define ONLY              .detail = LEAT_FI_CALL_ONLY
#define FROM(from, t)     .detail = LEAT_FI_CALL_FROM, .number = from, .tag = t
#define TO(to, t)         .detail = LEAT_FI_CALL_TO, .number = to, .tag = t
#define ROOT(root)        .detail = LEAT_FI_CALL_ROOT, .number = root
#define AT(rank)          .detail = LEAT_FI_CALL_AT, .number = rank
#define OF(count)         .detail = LEAT_FI_CALL_OF, .number = count
#define PROBES            .probes = true
#define GIVES(n)          .octets = n
#define DEEP              .is_deep = true
#define FREES(win)        .frees_window = true, .window = win
#define POLLS(win)        .is_one_sided = true, .polls_memory = leat_fi_memory_holds(win)
#define YIELDS(win)       .is_one_sided = true, .syncs = true, .hands_over = leat_fi_memory_holds(win)
#define SHARES(comm, win) .shares_memory = leat_fi_memory_unites(comm), .window = win
#define STAYS(comm)       .avoids_rdma = !leat_fi_memory_is_spread_evenly(comm)
#define MAKES_WINDOW      .is_deep = true, .makes_window = true

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
BLOCKING(Send, SEND, TO(to, tag), GIVES(octets_of(count, type)))
BLOCKING(Ssend, SEND, TO(to, tag), GIVES(octets_of(count, type)))
BLOCKING(Rsend, SEND, TO(to, tag), GIVES(octets_of(count, type)))
BLOCKING(Buffer_detach, (void *buffer, int *size), (buffer, size), ONLY)
BLOCKING(Recv,
         (void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
          MPI_Status *status),
         (buf, count, type, from, tag, comm, status), FROM(from, tag))
BLOCKING(Sendrecv,
         (const void *out, int outs, MPI_Datatype out_type, int to, int out_tag, void *in, int ins,
          MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status),
         (out, outs, out_type, to, out_tag, in, ins, in_type, from, in_tag, comm, status),
         FROM(from, in_tag), GIVES(octets_of(outs, out_type)))
BLOCKING(Sendrecv_replace,
         (void *buf, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
          MPI_Comm comm, MPI_Status *status),
         (buf, count, type, to, out_tag, from, in_tag, comm, status), FROM(from, in_tag),
         GIVES(octets_of(count, type)))
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

/* The same, and others, that return at once. */
#define START_SEND                                                                  \
    (const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
     MPI_Request *request),                                                         \
        (buf, count, type, to, tag, comm, request), GIVES(octets_of(count, type))
COUNTED(Bsend, SEND, GIVES(octets_of(count, type)))
COUNTED(Isend, START_SEND)
COUNTED(Ibsend, START_SEND)
COUNTED(Issend, START_SEND)
COUNTED(Irsend, START_SEND)
COUNTED(Irecv,
        (void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
         MPI_Request *request),
        (buf, count, type, from, tag, comm, request), ONLY)
COUNTED(Start, (MPI_Request * request), (request), ONLY)
COUNTED(Startall, (int count, MPI_Request requests[]), (count, requests), ONLY)
COUNTED(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status), ONLY)
COUNTED(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
        (count, requests, flag, statuses), ONLY)
COUNTED(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
        (count, requests, index, flag, status), ONLY)
COUNTED(Testsome,
        (int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]),
        (count, requests, done, indices, statuses), ONLY)
COUNTED(Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
        (from, tag, comm, flag, status), ONLY)
COUNTED(Improbe,
        (int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
        (from, tag, comm, flag, message, status), ONLY)

/* Of messages that a probe has found. */
#define MRECV(PREFIX)                                                                       \
    int PREFIX##Mrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message,        \
                      MPI_Status *status)                                                   \
    {                                                                                       \
        static int (*next)(void *, int, MPI_Datatype, MPI_Message *, MPI_Status *);         \
        const struct leat_fi_call call = { .name = #PREFIX "Mrecv", ONLY };                 \
        LEAT_FI_FIND(next, #PREFIX "Mrecv");                                                \
        const bool entered = leat_fi_call_enter(&call);                                     \
        const int result = leat_fi_matched_has_gaps(count, type)                            \
                               ? leat_fi_matched_receive(buf, count, type, message, status) \
                               : next(buf, count, type, message, status);                   \
        leat_fi_call_exit(&call, entered);                                                  \
        return result;                                                                      \
    }
BOTH(MRECV)

#define IMRECV(PREFIX)                                                                     \
    int PREFIX##Imrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message,      \
                       MPI_Request *request)                                               \
    {                                                                                      \
        static int (*next)(void *, int, MPI_Datatype, MPI_Message *, MPI_Request *);       \
        LEAT_FI_FIND(next, #PREFIX "Imrecv");                                              \
        const struct leat_task_span span = leat_fi_span_begin(#PREFIX "Imrecv");           \
        const int result = leat_fi_matched_has_gaps(count, type)                           \
                               ? leat_fi_matched_start(buf, count, type, message, request) \
                               : next(buf, count, type, message, request);                 \
        leat_fi_span_end(span, 0);                                                         \
        return result;                                                                     \
    }
BOTH(IMRECV)

/* Collective. */
COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), (comm), ONLY)
COLLECTIVE(Bcast, Ibcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           (buffer, count, type, root, comm), ROOT(root),
           GIVES(is_root(root, comm) ? octets_of(count, type) : 0))
COLLECTIVE(Gather, Igather, TO_ROOT_OR_BACK, ROOT(root),
           GIVES(octets_out(out, outs, out_type, ins, in_type)))
COLLECTIVE(Gatherv, Igatherv,
           (const void *out, int outs, MPI_Datatype out_type, void *in, const int ins[],
            const int at[], MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, outs, out_type, in, ins, at, in_type, root, comm), ROOT(root),
           GIVES(out == MPI_IN_PLACE ? 0 : octets_of(outs, out_type)))
COLLECTIVE(Scatter, Iscatter, TO_ROOT_OR_BACK, ROOT(root),
           GIVES(is_root(root, comm) ? to_all(octets_of(outs, out_type), comm) : 0))
COLLECTIVE(Scatterv, Iscatterv,
           (const void *out, const int outs[], const int at[], MPI_Datatype out_type, void *in,
            int ins, MPI_Datatype in_type, int root, MPI_Comm comm),
           (out, outs, at, out_type, in, ins, in_type, root, comm), ROOT(root),
           GIVES(is_root(root, comm) ? octets_of_parts(outs, out_type, NULL, comm) : 0))
COLLECTIVE(Allgather, Iallgather, EQUAL_PARTS, ONLY,
           GIVES(octets_out(out, outs, out_type, ins, in_type)))
COLLECTIVE(Allgatherv, Iallgatherv, VARIOUS_PARTS, ONLY,
           GIVES(out == MPI_IN_PLACE ? octets_of(own_part(ins, comm), in_type)
                                     : octets_of(outs, out_type)))
COLLECTIVE(Alltoall, Ialltoall, EQUAL_PARTS, ONLY,
           GIVES(to_all(octets_out(out, outs, out_type, ins, in_type), comm)))
COLLECTIVE(Alltoallv, Ialltoallv, VARIOUS_PAIRS, ONLY,
           GIVES(out == MPI_IN_PLACE ? octets_of_parts(ins, in_type, NULL, comm)
                                     : octets_of_parts(outs, out_type, NULL, comm)))
COLLECTIVE(Alltoallw, Ialltoallw,
           (const void *out, const int outs[], const int out_at[], const MPI_Datatype out_types[],
            void *in, const int ins[], const int in_at[], const MPI_Datatype in_types[],
            MPI_Comm comm),
           (out, outs, out_at, out_types, in, ins, in_at, in_types, comm), ONLY,
           GIVES(out == MPI_IN_PLACE ? octets_of_parts(ins, NULL, in_types, comm)
                                     : octets_of_parts(outs, NULL, out_types, comm)))
COLLECTIVE(Reduce, Ireduce,
           (const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (out, in, count, type, op, root, comm), ROOT(root), GIVES(octets_of(count, type)))
COLLECTIVE(Allreduce, Iallreduce, REDUCTION, ONLY, GIVES(octets_of(count, type)))
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           (const void *out, void *in, const int ins[], MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (out, in, ins, type, op, comm), ONLY, GIVES(octets_of_parts(ins, type, NULL, comm)))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, REDUCTION, ONLY,
           GIVES(to_all(octets_of(count, type), comm)))
COLLECTIVE(Scan, Iscan, REDUCTION, ONLY, GIVES(octets_of(count, type)))
COLLECTIVE(Exscan, Iexscan, REDUCTION, ONLY, GIVES(octets_of(count, type)))
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, EQUAL_PARTS, ONLY,
           GIVES(octets_of(outs, out_type)))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, VARIOUS_PARTS, ONLY,
           GIVES(octets_of(outs, out_type)))
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

/* Other jobs: started, connected to, and found by name. */
BLOCKING(Comm_spawn,
         (const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
          MPI_Comm *made, int errcodes[]),
         (command, argv, maxprocs, info, root, comm, made, errcodes), ROOT(root), DEEP)
BLOCKING(Comm_spawn_multiple,
         (int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
          int root, MPI_Comm comm, MPI_Comm *made, int errcodes[]),
         (count, commands, argvs, maxprocs, infos, root, comm, made, errcodes), ROOT(root), DEEP)
BLOCKING(Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
         (leat_fi_port_of(port), info, root, comm, made), ROOT(root), DEEP)
BLOCKING(Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
         (leat_fi_port_of(port), info, root, comm, made), ROOT(root), DEEP)
BLOCKING(Comm_join, (int file, MPI_Comm *made), (leat_fi_meet_over(file), made), DEEP)
BLOCKING(Comm_disconnect, (MPI_Comm * comm), (comm), ONLY)
BLOCKING(Publish_name, (const char *service, MPI_Info info, const char *port),
         (service, info, port), ONLY)
BLOCKING(Unpublish_name, (const char *service, MPI_Info info, const char *port),
         (service, info, port), ONLY)
BLOCKING(Lookup_name, (const char *service, MPI_Info info, char *port), (service, info, port), ONLY)

/* The library's name, which is longer, leaves no trace. */
#define OPEN_PORT(PREFIX)                                     \
    int PREFIX##Open_port(MPI_Info info, char *port)          \
    {                                                         \
        static int (*next)(MPI_Info, char *);                 \
        char unused[MPI_MAX_PORT_NAME];                       \
        LEAT_FI_FIND(next, #PREFIX "Open_port");              \
        if (!leat_fi_is_simulated()) return next(info, port); \
        const int result = next(info, port ? unused : NULL);  \
        if (result == MPI_SUCCESS) leat_fi_port_name(port);   \
        return result;                                        \
    }
BOTH(OPEN_PORT)

/* Files. What ranks say to each other in these calls is the library's own, also the parts of the
 * file that they exchange. Calls of a single rank do not block: see fi_file.c. */
#define FILE_READ                                                                 \
    (MPI_File file, void *buf, int count, MPI_Datatype type, MPI_Status *status), \
        (file, buf, count, type, status), DEEP
#define FILE_READ_AT                                                                             \
    (MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status), \
        (file, at, buf, count, type, status), DEEP
#define FILE_WRITE                                                                      \
    (MPI_File file, const void *buf, int count, MPI_Datatype type, MPI_Status *status), \
        (file, buf, count, type, status), DEEP, GIVES(octets_of(count, type))
#define FILE_WRITE_AT                                                             \
    (MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, \
     MPI_Status *status),                                                         \
        (file, at, buf, count, type, status), DEEP, GIVES(octets_of(count, type))
#define FILE_READ_BEGIN \
    (MPI_File file, void *buf, int count, MPI_Datatype type), (file, buf, count, type), DEEP
#define FILE_READ_AT_BEGIN                                                   \
    (MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type), \
        (file, at, buf, count, type), DEEP
#define FILE_WRITE_BEGIN                                                                      \
    (MPI_File file, const void *buf, int count, MPI_Datatype type), (file, buf, count, type), \
        DEEP, GIVES(octets_of(count, type))
#define FILE_WRITE_AT_BEGIN                                                        \
    (MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type), \
        (file, at, buf, count, type), DEEP, GIVES(octets_of(count, type))
#define FILE_READ_END (MPI_File file, void *buf, MPI_Status *status), (file, buf, status), DEEP
#define FILE_WRITE_END \
    (MPI_File file, const void *buf, MPI_Status *status), (file, buf, status), DEEP

BLOCKING(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
         (comm, name, mode, info, file), DEEP)
BLOCKING(File_close, (MPI_File * file), (file), DEEP)
BLOCKING(File_set_size, (MPI_File file, MPI_Offset size), (file, size), DEEP)
BLOCKING(File_preallocate, (MPI_File file, MPI_Offset size), (file, size), DEEP)
BLOCKING(File_set_info, (MPI_File file, MPI_Info info), (file, info), DEEP)
BLOCKING(File_set_view,
         (MPI_File file, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type, const char *format,
          MPI_Info info),
         (file, at, unit, type, format, info), DEEP)
BLOCKING(File_set_atomicity, (MPI_File file, int flag), (file, flag), DEEP)
BLOCKING(File_sync, (MPI_File file), (file), DEEP)
BLOCKING(File_seek_shared, (MPI_File file, MPI_Offset at, int whence), (file, at, whence), DEEP)
BLOCKING(File_read_all, FILE_READ)
BLOCKING(File_read_at_all, FILE_READ_AT)
BLOCKING(File_read_ordered, FILE_READ)
BLOCKING(File_write_all, FILE_WRITE)
BLOCKING(File_write_at_all, FILE_WRITE_AT)
BLOCKING(File_write_ordered, FILE_WRITE)
BLOCKING(File_read_all_begin, FILE_READ_BEGIN)
BLOCKING(File_read_all_end, FILE_READ_END)
BLOCKING(File_read_at_all_begin, FILE_READ_AT_BEGIN)
BLOCKING(File_read_at_all_end, FILE_READ_END)
BLOCKING(File_read_ordered_begin, FILE_READ_BEGIN)
BLOCKING(File_read_ordered_end, FILE_READ_END)
BLOCKING(File_write_all_begin, FILE_WRITE_BEGIN)
BLOCKING(File_write_all_end, FILE_WRITE_END)
BLOCKING(File_write_at_all_begin, FILE_WRITE_AT_BEGIN)
BLOCKING(File_write_at_all_end, FILE_WRITE_END)
BLOCKING(File_write_ordered_begin, FILE_WRITE_BEGIN)
BLOCKING(File_write_ordered_end, FILE_WRITE_END)

/* One-sided. All of these may block: the library first learns about the target's memory, and takes
 * locks. */
#define WRITES(...)                                                                    \
    (const void *out, int outs, MPI_Datatype out_type, int rank, MPI_Aint at, int ins, \
     MPI_Datatype in_type, __VA_ARGS__)
#define READS(...)                                                               \
    (void *out, int outs, MPI_Datatype out_type, int rank, MPI_Aint at, int ins, \
     MPI_Datatype in_type, __VA_ARGS__)
#define GIVEN(...) (out, outs, out_type, rank, at, ins, in_type, __VA_ARGS__)
#define FETCHES(...)                                                                            \
    (const void *out, int outs, MPI_Datatype out_type, void *fetched, int results,              \
     MPI_Datatype result_type, int rank, MPI_Aint at, int ins, MPI_Datatype in_type, MPI_Op op, \
     __VA_ARGS__)
#define GIVEN_FETCHES(...) \
    (out, outs, out_type, fetched, results, result_type, rank, at, ins, in_type, op, __VA_ARGS__)
#define THERE  AT(rank), POLLS(win)
#define OUTPUT GIVES(octets_of(outs, out_type))

BLOCKING(Put, WRITES(MPI_Win win), GIVEN(win), THERE, OUTPUT)
BLOCKING(Rput, WRITES(MPI_Win win, MPI_Request *request), GIVEN(win, request), THERE, OUTPUT)
BLOCKING(Get, READS(MPI_Win win), GIVEN(win), THERE)
BLOCKING(Rget, READS(MPI_Win win, MPI_Request *request), GIVEN(win, request), THERE)
BLOCKING(Accumulate, WRITES(MPI_Op op, MPI_Win win), GIVEN(op, win), THERE, OUTPUT)
BLOCKING(Raccumulate, WRITES(MPI_Op op, MPI_Win win, MPI_Request *request), GIVEN(op, win, request),
         THERE, OUTPUT)
BLOCKING(Get_accumulate, FETCHES(MPI_Win win), GIVEN_FETCHES(win), THERE, OUTPUT)
BLOCKING(Rget_accumulate, FETCHES(MPI_Win win, MPI_Request *request), GIVEN_FETCHES(win, request),
         THERE, OUTPUT)
BLOCKING(Fetch_and_op,
         (const void *out, void *fetched, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op,
          MPI_Win win),
         (out, fetched, type, rank, at, op, win), THERE, GIVES(octets_of(1, type)))
BLOCKING(Compare_and_swap,
         (const void *out, const void *compared, void *fetched, MPI_Datatype type, int rank,
          MPI_Aint at, MPI_Win win),
         (out, compared, fetched, type, rank, at, win), THERE, GIVES(octets_of(1, type)))
BLOCKING(Win_create,
         (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
         (base, size, unit, info, comm, win), MAKES_WINDOW, STAYS(comm),
         .shares_memory = leat_fi_memory_unites(comm) && leat_fi_memory_spans(comm), .window = win)
BLOCKING(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win),
         MAKES_WINDOW, .avoids_rdma = true)
BLOCKING(Win_allocate,
         (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
         (size, unit, info, comm, base, win), MAKES_WINDOW, STAYS(comm), SHARES(comm, win))
BLOCKING(Win_allocate_shared,
         (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
         (size, unit, info, comm, base, win), MAKES_WINDOW, SHARES(comm, win))
BLOCKING(Win_free, (MPI_Win * win), (win), FREES(win))
BLOCKING(Win_fence, (int hint, MPI_Win win), (hint, win), POLLS(win))
BLOCKING(Win_attach, (MPI_Win win, void *base, MPI_Aint size), (win, base, size), POLLS(win))
BLOCKING(Win_detach, (MPI_Win win, const void *base), (win, base), POLLS(win))
BLOCKING(Win_set_info, (MPI_Win win, MPI_Info info), (win, info), ONLY)
BLOCKING(Win_post, (MPI_Group group, int hint, MPI_Win win), (group, hint, win), POLLS(win))
BLOCKING(Win_start, (MPI_Group group, int hint, MPI_Win win), (group, hint, win), POLLS(win))
BLOCKING(Win_complete, (MPI_Win win), (win), YIELDS(win))
BLOCKING(Win_wait, (MPI_Win win), (win), POLLS(win))
BLOCKING(Win_lock, (int kind, int rank, int hint, MPI_Win win), (kind, rank, hint, win), AT(rank),
         POLLS(win))
BLOCKING(Win_lock_all, (int hint, MPI_Win win), (hint, win), POLLS(win))
BLOCKING(Win_unlock, (int rank, MPI_Win win), (rank, win), AT(rank), YIELDS(win))
BLOCKING(Win_unlock_all, (MPI_Win win), (win), YIELDS(win))
BLOCKING(Win_flush, (int rank, MPI_Win win), (rank, win), AT(rank), YIELDS(win))
BLOCKING(Win_flush_all, (MPI_Win win), (win), YIELDS(win))
BLOCKING(Win_flush_local, (int rank, MPI_Win win), (rank, win), AT(rank), YIELDS(win))
BLOCKING(Win_flush_local_all, (MPI_Win win), (win), YIELDS(win))
COUNTED(Win_sync, (MPI_Win win), (win), YIELDS(win))
COUNTED(Win_test, (MPI_Win win, int *flag), (win, flag), YIELDS(win))
