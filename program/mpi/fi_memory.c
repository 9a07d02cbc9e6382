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
    LEAT_FI_FIND(none, "ompi_mpi_win_null");
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

static bool is_on_host(int rank)
{
    return rank >= 0 && leat_task_port_of(leat_fi_first() + (uint32_t)rank) ==
                            leat_task_port_of(leat_task_number());
}

/* How many of a group. */
static int count_on_host(MPI_Group group, int size)
{
    static int (*world_group)(MPI_Comm, MPI_Group *), (*free_group)(MPI_Group *);
    static int (*translate)(MPI_Group, int, const int *, MPI_Group, int *);
    static MPI_Comm world;
    MPI_Group all;
    LEAT_FI_FIND(world_group, "PMPI_Comm_group");
    LEAT_FI_FIND(free_group, "PMPI_Group_free");
    LEAT_FI_FIND(translate, "PMPI_Group_translate_ranks");
    LEAT_FI_FIND(world, "ompi_mpi_comm_world");
    if (world_group(world, &all) != MPI_SUCCESS) return 0;
    int count = 0;
    for (int i = 0, rank; i < size; i++)
        count += translate(group, 1, &i, all, &rank) == MPI_SUCCESS && is_on_host(rank);
    free_group(&all);
    return count;
}

/* How many ranks are in it, and of these on this host; none outside of simulated time. */
static void count_ranks(MPI_Comm comm, int *size, int *here)
{
    static int (*group_of)(MPI_Comm, MPI_Group *), (*free_group)(MPI_Group *);
    static int (*size_of)(MPI_Group, int *);
    static MPI_Comm none;
    MPI_Group group;
    *size = *here = 0;
    LEAT_FI_FIND(none, "ompi_mpi_comm_null");
    if (!leat_fi_is_simulated() || !comm || comm == none) return;
    LEAT_FI_FIND(group_of, "PMPI_Comm_group");
    LEAT_FI_FIND(free_group, "PMPI_Group_free");
    LEAT_FI_FIND(size_of, "PMPI_Group_size");
    if (group_of(comm, &group) != MPI_SUCCESS) return;
    if (size_of(group, size) == MPI_SUCCESS) *here = count_on_host(group, *size);
    free_group(&group);
}

bool leat_fi_memory_unites(MPI_Comm comm)
{
    int size, here;
    count_ranks(comm, &size, &here);
    return here > 1;
}

bool leat_fi_memory_spans(MPI_Comm comm)
{
    int size, here;
    count_ranks(comm, &size, &here);
    return here < size;
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

void leat_fi_memory_wait(void)
{
    enum { PART = 16 };                                    /* of the time that it has waited */
    static const leat_time longest = UINT64_C(1000000000); /* a longer one is a sleep to the hub */
    leat_fi_message_settle();
    const leat_time now = leat_task_now();
    leat_time pause = (now - leat_fi_call_began()) / PART;
    if (pause < LEAT_TASK_POLL_PS) pause = LEAT_TASK_POLL_PS;
    if (pause > longest) pause = longest;
    const leat_time deadline = leat_time_add(now, pause);
    do
        leat_fi_message_wait(deadline, leat_fi_call_name(), leat_fi_call_about());
    while (leat_task_now() < deadline && leat_fi_queue_all_are_empty());
}
