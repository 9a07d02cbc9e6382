/*
 * Ranks: processes that simulate one network together, each a part of it. Simulators are pure:
 * whoever has a network between the processes (program/ranks/ has MPI) lends it by this interface.
 * All ranks make the same calls in the same order; each call waits for the others.
 */
#ifndef LEAT_SIM_RANKS_H
#define LEAT_SIM_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_SIM_RANKS_ABI = 1, LEAT_SIM_RANKS_MAX = 1024 };

/* Words to another rank or part, or from it. cap 0: this pair never exchanges anything. */
struct leat_sim_parcel {
    uint64_t *word;
    uint32_t count, cap;
};

struct leat_sim_ranks {
    uint32_t abi;
    uint32_t rank, count;
    void *context;
    /* Sends out[r] to each rank r, receives in[r] from it, and returns the least of the numbers of
     * all ranks. */
    uint64_t (*exchange)(struct leat_sim_ranks *ranks, const struct leat_sim_parcel *out,
                         struct leat_sim_parcel *in, uint64_t number);
    /* The least of the numbers of all ranks. */
    uint64_t (*least)(struct leat_sim_ranks *ranks, uint64_t number);
    /* Adds the words of all ranks, mod 2^64, on each rank. */
    void (*add)(struct leat_sim_ranks *ranks, uint64_t *word, size_t count);
    /* Messages between two ranks, apart from the calls above, and in order. send returns when the
     * octets may be changed; probe tells the next one that has arrived, from anybody, and take
     * reads it. False: none. */
    void (*send)(struct leat_sim_ranks *ranks, uint32_t to, const void *octets, size_t len);
    bool (*probe)(struct leat_sim_ranks *ranks, uint32_t *from, size_t *len);
    void (*take)(struct leat_sim_ranks *ranks, uint32_t from, void *octets, size_t len);
    /* Ends all ranks, this one too. */
    void (*abort)(struct leat_sim_ranks *ranks, int code);
    void (*close)(struct leat_sim_ranks *ranks);
};

static inline uint32_t leat_sim_ranks_count(const struct leat_sim_ranks *ranks)
{
    return ranks ? ranks->count : 1;
}

static inline uint32_t leat_sim_ranks_own(const struct leat_sim_ranks *ranks)
{
    return ranks ? ranks->rank : 0;
}

/* The largest of the numbers of all ranks. */
static inline uint64_t leat_sim_ranks_most(struct leat_sim_ranks *ranks, uint64_t number)
{
    return ranks ? ~ranks->least(ranks, ~number) : number;
}

static inline void leat_sim_ranks_add(struct leat_sim_ranks *ranks, uint64_t *word, size_t count)
{
    if (ranks) ranks->add(ranks, word, count);
}

#endif
