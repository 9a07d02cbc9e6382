#include "fi_memory.h"
#include "fi_behind.h"
#include "fi_message.h"
#include "fi_pool.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include "task.h"
#include <stdlib.h>

/* ---- windows --------------------------------------------------------------------------------- */

static struct {
    MPI_Win *win;
    size_t count, cap;
} windows;

static size_t place_of(MPI_Win win)
{
    size_t i = 0;
    while (i < windows.count && windows.win[i] != win)
        i++;
    return i;
}

void leat_fi_memory_note(MPI_Win win)
{
    enum { FIRST_CAP = 16 };
    static MPI_Win none;
    LEAT_FI_OBJECT(none, "ompi_mpi_win_null");
    if (win == none || leat_fi_memory_holds(win)) return;
    if (windows.count == windows.cap) {
        windows.cap = windows.cap ? 2 * windows.cap : FIRST_CAP;
        windows.win = leat_fi_grown(windows.win, windows.cap, sizeof *windows.win);
    }
    windows.win[windows.count++] = win;
}

void leat_fi_memory_forget(MPI_Win win)
{
    const size_t place = place_of(win);
    if (place < windows.count) windows.win[place] = windows.win[--windows.count];
}

bool leat_fi_memory_is_shared(void)
{
    return windows.count;
}

bool leat_fi_memory_holds(MPI_Win win)
{
    return place_of(win) < windows.count;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The ranks of a communicator; none outside of simulated time. */
struct spread {
    int size;
    int here; /* on this host */
    int hosts;
};

/* Ranks of another job, which this one does not know, share no memory with it. */
static uint32_t port_of(MPI_Group group, int place, MPI_Group world)
{
    static int (*translate)(MPI_Group, int, const int *, MPI_Group, int *);
    int rank;
    LEAT_FI_FIND(translate, "PMPI_Group_translate_ranks");
    const bool is_known = translate(group, 1, &place, world, &rank) == MPI_SUCCESS && rank >= 0;
    return is_known ? leat_task_port_of(leat_fi_first() + (uint32_t)rank)
                    : UINT32_MAX - (uint32_t)place;
}

static void count_hosts(MPI_Group group, MPI_Group world, struct spread *out)
{
    uint32_t *port = leat_fi_grown(NULL, (size_t)out->size, sizeof *port);
    for (int i = 0; i < out->size; i++) {
        port[i] = port_of(group, i, world);
        out->here += port[i] == leat_task_port_of(leat_task_number());
        int first = 0;
        while (port[first] != port[i])
            first++;
        out->hosts += first == i;
    }
    free(port);
}

static struct spread spread_of(MPI_Comm comm)
{
    static int (*group_of)(MPI_Comm, MPI_Group *), (*free_group)(MPI_Group *);
    static int (*size_of)(MPI_Group, int *);
    static MPI_Comm none, all;
    struct spread spread = { 0 };
    MPI_Group group, world;
    LEAT_FI_OBJECT(none, "ompi_mpi_comm_null");
    LEAT_FI_OBJECT(all, "ompi_mpi_comm_world");
    if (!leat_fi_is_simulated() || !comm || comm == none) return spread;
    LEAT_FI_FIND(group_of, "PMPI_Comm_group");
    LEAT_FI_FIND(free_group, "PMPI_Group_free");
    LEAT_FI_FIND(size_of, "PMPI_Group_size");
    if (group_of(comm, &group) != MPI_SUCCESS) return spread;
    if (size_of(group, &spread.size) == MPI_SUCCESS && group_of(all, &world) == MPI_SUCCESS) {
        count_hosts(group, world, &spread);
        free_group(&world);
    }
    free_group(&group);
    return spread;
}

bool leat_fi_memory_unites(MPI_Comm comm)
{
    return spread_of(comm).here > 1;
}

bool leat_fi_memory_spans(MPI_Comm comm)
{
    return spread_of(comm).hosts > 1;
}

bool leat_fi_memory_is_spread_evenly(MPI_Comm comm)
{
    const struct spread spread = spread_of(comm);
    return spread.hosts > 1 && spread.size % spread.hosts == 0;
}

/* ---- handing over ---------------------------------------------------------------------------- */

void leat_fi_memory_yield(const char *call)
{
    if (!leat_fi_is_simulated()) return;
    leat_fi_lock();
    leat_fi_message_settle();
    const leat_time deadline = leat_time_add(leat_task_now(), LEAT_TASK_POLL_PS);
    while (leat_task_now() < deadline)
        leat_fi_message_wait(deadline, call, "");
    leat_fi_unlock();
}

void leat_fi_memory_release(const char *call)
{
    if (!leat_fi_is_simulated()) return;
    leat_fi_lock();
    leat_fi_message_settle();
    leat_fi_message_wait(leat_task_now(), call, "");
    leat_fi_unlock();
}

leat_time leat_fi_memory_pause(leat_time since)
{
    enum { PART = 16 };                                    /* of the time that it has waited */
    static const leat_time longest = UINT64_C(1000000000); /* a longer one is a sleep to the hub */
    const leat_time pause = (leat_task_now() - since) / PART;
    if (pause > longest) return longest;
    return pause < LEAT_TASK_POLL_PS ? LEAT_TASK_POLL_PS : pause;
}

void leat_fi_memory_wait(void)
{
    leat_fi_message_settle();
    const leat_time deadline = leat_time_add(leat_task_now(),
                                             leat_fi_memory_pause(leat_fi_call_began()));
    do
        leat_fi_message_wait(deadline, leat_fi_call_name(), leat_fi_call_about());
    while (leat_task_now() < deadline && leat_fi_queue_all_are_empty());
}
