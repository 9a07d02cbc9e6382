/*
 * A link (graph_link.h) over MPI, loaded by the command for --engine mpi, so that leat itself
 * neither needs nor starts MPI. Channels are tags. Sends are synchronous: a slot is free again when
 * the other side has begun to receive, so the number of messages in flight is bounded.
 */
#include "graph_link.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_PER_PEER = 8 /* messages in flight to one rank, on one channel */ };

struct slot {
    MPI_Request request; /* MPI_REQUEST_NULL: free */
    uint8_t *octets;
};

struct mpi {
    MPI_Comm comm;
    bool ours;         /* MPI was started here */
    struct slot *slot; /* SLOTS_PER_PEER for each channel of each rank */
    size_t slot_count;
};

bool leat_poets_link_open(struct leat_poets_link *link, char *why, size_t why_cap);

/* A free slot, or one that has just become free; NULL: none. */
static struct slot *free_slot(struct mpi *mpi, uint32_t to, unsigned channel)
{
    struct slot *slot = &mpi->slot[(to * LEAT_POETS_LINK_CHANNELS + channel) * SLOTS_PER_PEER];
    for (int i = 0; i < SLOTS_PER_PEER; i++, slot++) {
        int done = 1;
        if (slot->request != MPI_REQUEST_NULL) MPI_Test(&slot->request, &done, MPI_STATUS_IGNORE);
        if (!done) continue;
        if (!slot->octets) slot->octets = malloc(LEAT_POETS_LINK_LEN_MAX);
        if (slot->octets) return slot;
    }
    return NULL;
}

static bool send_message(struct leat_poets_link *link, uint32_t to, unsigned channel,
                         const void *octets, size_t len)
{
    struct mpi *mpi = link->context;
    struct slot *slot = free_slot(mpi, to, channel);
    if (!slot || len > LEAT_POETS_LINK_LEN_MAX) return false;
    memcpy(slot->octets, octets, len);
    MPI_Issend(slot->octets, (int)len, MPI_BYTE, (int)to, (int)channel, mpi->comm, &slot->request);
    return true;
}

static bool receive_message(struct leat_poets_link *link, unsigned channel, void *octets,
                            uint32_t *from, size_t *len)
{
    const struct mpi *mpi = link->context;
    MPI_Status status;
    int there = 0, count = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, (int)channel, mpi->comm, &there, &status);
    if (!there) return false;
    MPI_Recv(octets, LEAT_POETS_LINK_LEN_MAX, MPI_BYTE, status.MPI_SOURCE, (int)channel, mpi->comm,
             &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    *from = (uint32_t)status.MPI_SOURCE;
    *len = (size_t)count;
    return true;
}

static void abort_all(struct leat_poets_link *link, int code)
{
    const struct mpi *mpi = link->context;
    MPI_Abort(mpi->comm, code);
    _Exit(code);
}

static void close_link(struct leat_poets_link *link)
{
    struct mpi *mpi = link->context;
    for (size_t i = 0; i < mpi->slot_count; i++) {
        struct slot *slot = &mpi->slot[i];
        if (slot->request != MPI_REQUEST_NULL) MPI_Wait(&slot->request, MPI_STATUS_IGNORE);
        free(slot->octets);
    }
    MPI_Comm_free(&mpi->comm);
    if (mpi->ours) MPI_Finalize();
    free(mpi->slot);
    free(mpi);
}

bool leat_poets_link_open(struct leat_poets_link *link, char *why, size_t why_cap)
{
    int started = 0, level = 0, rank = 0, count = 0;
    struct mpi *mpi = calloc(1, sizeof *mpi);
    MPI_Initialized(&started);
    if (!mpi || (!started && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level))) {
        snprintf(why, why_cap, "MPI cannot be started");
        return free(mpi), false;
    }
    mpi->ours = !started;
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi->comm);
    MPI_Comm_rank(mpi->comm, &rank);
    MPI_Comm_size(mpi->comm, &count);
    mpi->slot_count = (size_t)count * LEAT_POETS_LINK_CHANNELS * SLOTS_PER_PEER;
    if (count <= LEAT_POETS_LINK_RANKS_MAX) mpi->slot = calloc(mpi->slot_count, sizeof *mpi->slot);
    if (!mpi->slot) {
        snprintf(why, why_cap, "%d ranks, expected at most %d, or no memory", count,
                 LEAT_POETS_LINK_RANKS_MAX);
        if (mpi->ours) MPI_Finalize();
        return free(mpi), false;
    }
    for (size_t i = 0; i < mpi->slot_count; i++)
        mpi->slot[i].request = MPI_REQUEST_NULL;
    *link = (struct leat_poets_link){ .abi = LEAT_POETS_LINK_ABI,
                                      .rank = (uint32_t)rank,
                                      .rank_count = (uint32_t)count,
                                      .context = mpi,
                                      .send = send_message,
                                      .receive = receive_message,
                                      .abort = abort_all,
                                      .close = close_link };
    return true;
}
