/* mpirun leat sim: the library that speaks MPI (program/ranks/). */
#include "sim_mpi.h"
#include "mpi_ranks.h"
#include "progress.h"
#include "run.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Open MPI and PRRTE; MPICH and Slurm's PMI. */
static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };

bool sim_is_under_mpi(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *size = getenv(sizes[i]);
        if (size && strtol(size, NULL, 10) > 1) return true;
    }
    return false;
}

void sim_leave_mpi(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        unsetenv(sizes[i]);
}

/* All ranks would print the same: only rank 0 does. */
static void fall_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

/* ---- what exchanges cost --------------------------------------------------------------------- */

static struct sim_exchanges exchanges;
static uint64_t (*plain_exchange)(struct leat_sim_ranks *ranks, const struct leat_sim_parcel *out,
                                  struct leat_sim_parcel *in, uint64_t number);

static uint64_t timed_exchange(struct leat_sim_ranks *ranks, const struct leat_sim_parcel *out,
                               struct leat_sim_parcel *in, uint64_t number)
{
    const double begun = seconds_now();
    const uint64_t least = plain_exchange(ranks, out, in, number);
    exchanges.seconds += seconds_now() - begun;
    exchanges.count++;
    return least;
}

struct sim_exchanges sim_ranks_exchanges(void)
{
    return exchanges;
}

/* ---- starting -------------------------------------------------------------------------------- */

bool sim_ranks_open(struct leat_sim_ranks *ranks)
{
    char why[200] = "it is of another leat";
    void *symbol = run_load_mpi("libleat-ranks.so", LEAT_MPI_RANKS_OPEN, "mpirun leat");
    if (!symbol) return false;
    leat_mpi_ranks_open_fn open_ranks = *(leat_mpi_ranks_open_fn *)&symbol;
    if (!open_ranks(ranks, why, sizeof why) || ranks->abi != LEAT_SIM_RANKS_ABI)
        return complain("mpirun leat: %s", why);
    if (ranks->rank) fall_silent();
    setenv("NO_COLOR", "1",
           1); /* mpirun gives a terminal to rank 0, wherever its own output goes */
    plain_exchange = ranks->exchange;
    ranks->exchange = timed_exchange;
    return true;
}
