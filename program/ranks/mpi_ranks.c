/*
 * Ranks (sim_ranks.h) over MPI, loaded by `leat sim` under mpirun, so that leat itself neither
 * needs nor starts MPI.
 */
#include "mpi_ranks.h"
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 1, MESSAGE_TAG = 2, WORDS_AT_ONCE = 1 << 24 /* of a sum: MPI counts with int */ };

struct mpi {
    MPI_Comm comm;
    MPI_Request *request; /* two for each rank */
    int *from;            /* the rank of each request to receive; -1: to send */
};

/* Parcels whose pair exchanges nothing have no room on either side. */
static uint64_t exchange(struct leat_sim_ranks *ranks, const struct leat_sim_parcel *out,
                         struct leat_sim_parcel *in, uint64_t number)
{
    struct mpi *mpi = ranks->context;
    int requests = 0, count;
    for (uint32_t r = 0; r < ranks->count; r++) {
        if (!in[r].cap) continue;
        mpi->from[requests] = (int)r;
        MPI_Irecv(in[r].word, (int)in[r].cap, MPI_UINT64_T, (int)r, TAG, mpi->comm,
                  &mpi->request[requests++]);
    }
    const int receives = requests;
    for (uint32_t r = 0; r < ranks->count; r++)
        if (out[r].cap)
            MPI_Isend(out[r].word, (int)out[r].count, MPI_UINT64_T, (int)r, TAG, mpi->comm,
                      &mpi->request[requests++]);
    uint64_t least = number;
    MPI_Allreduce(&number, &least, 1, MPI_UINT64_T, MPI_MIN, mpi->comm);
    for (int i = 0; i < receives; i++) {
        MPI_Status status;
        MPI_Wait(&mpi->request[i], &status);
        MPI_Get_count(&status, MPI_UINT64_T, &count);
        in[mpi->from[i]].count = (uint32_t)count;
    }
    MPI_Waitall(requests - receives, mpi->request + receives, MPI_STATUSES_IGNORE);
    return least;
}

static uint64_t least(struct leat_sim_ranks *ranks, uint64_t number)
{
    const struct mpi *mpi = ranks->context;
    uint64_t result = number;
    MPI_Allreduce(&number, &result, 1, MPI_UINT64_T, MPI_MIN, mpi->comm);
    return result;
}

static void add(struct leat_sim_ranks *ranks, uint64_t *word, size_t count)
{
    const struct mpi *mpi = ranks->context;
    while (count) {
        const size_t some = count < WORDS_AT_ONCE ? count : WORDS_AT_ONCE;
        MPI_Allreduce(MPI_IN_PLACE, word, (int)some, MPI_UINT64_T, MPI_SUM, mpi->comm);
        word += some;
        count -= some;
    }
}

static void send_message(struct leat_sim_ranks *ranks, uint32_t to, const void *octets, size_t len)
{
    const struct mpi *mpi = ranks->context;
    MPI_Send(octets, (int)len, MPI_BYTE, (int)to, MESSAGE_TAG, mpi->comm);
}

static bool probe(struct leat_sim_ranks *ranks, uint32_t *from, size_t *len)
{
    const struct mpi *mpi = ranks->context;
    MPI_Status status;
    int there = 0, count = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MESSAGE_TAG, mpi->comm, &there, &status);
    if (!there) return false;
    MPI_Get_count(&status, MPI_BYTE, &count);
    *from = (uint32_t)status.MPI_SOURCE;
    *len = (size_t)count;
    return true;
}

static void take(struct leat_sim_ranks *ranks, uint32_t from, void *octets, size_t len)
{
    const struct mpi *mpi = ranks->context;
    MPI_Recv(octets, (int)len, MPI_BYTE, (int)from, MESSAGE_TAG, mpi->comm, MPI_STATUS_IGNORE);
}

static void abort_all(struct leat_sim_ranks *ranks, int code)
{
    const struct mpi *mpi = ranks->context;
    MPI_Abort(mpi->comm, code);
    _Exit(code);
}

static void close_ranks(struct leat_sim_ranks *ranks)
{
    struct mpi *mpi = ranks->context;
    MPI_Comm_free(&mpi->comm);
    MPI_Finalize();
    free(mpi->request);
    free(mpi->from);
    free(mpi);
}

bool leat_mpi_ranks_open(struct leat_sim_ranks *ranks, char *why, size_t why_cap)
{
    int level = 0, rank = 0, count = 0;
    struct mpi *mpi = calloc(1, sizeof *mpi);
    if (!mpi || MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level)) {
        snprintf(why, why_cap, "MPI cannot be started");
        return free(mpi), false;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi->comm);
    MPI_Comm_rank(mpi->comm, &rank);
    MPI_Comm_size(mpi->comm, &count);
    mpi->request = calloc(2 * (size_t)count, sizeof *mpi->request);
    mpi->from = calloc((size_t)count, sizeof *mpi->from);
    *ranks = (struct leat_sim_ranks){ .abi = LEAT_SIM_RANKS_ABI,
                                      .rank = (uint32_t)rank,
                                      .count = (uint32_t)count,
                                      .context = mpi,
                                      .exchange = exchange,
                                      .least = least,
                                      .add = add,
                                      .send = send_message,
                                      .probe = probe,
                                      .take = take,
                                      .abort = abort_all,
                                      .close = close_ranks };
    if (mpi->request && mpi->from && count <= LEAT_SIM_RANKS_MAX) return true;
    snprintf(why, why_cap, "%d ranks, expected at most %d, or no memory", count,
             LEAT_SIM_RANKS_MAX);
    close_ranks(ranks);
    return false;
}
