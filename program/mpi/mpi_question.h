/*
 * What ranks ask the run: places for processes that they start, and what these processes need to
 * find each other. Both sides are on one machine: numbers are as it has them.
 *
 *     rank ---> question | key | value ---> mpi_service.c (in `leat run`)
 *          <--- answer | value <-----------'
 */
#ifndef LEAT_MPI_QUESTION_H
#define LEAT_MPI_QUESTION_H

#include <stdint.h>

enum leat_mpi_kind {
    LEAT_MPI_SLOTS,     /* count -> number: the first of so many; else how many are left */
    LEAT_MPI_NO_SLOTS,  /* number, count: those were not needed */
    LEAT_MPI_PUBLISH,   /* key, value; number: 1 if it goes when it has been looked up */
    LEAT_MPI_LOOKUP,    /* key; number: 1 if it waits -> value */
    LEAT_MPI_UNPUBLISH, /* key */
    LEAT_MPI_MEET,      /* key, count: waits for so many of this key */
};

struct leat_mpi_question {
    uint32_t kind, number, count;
    uint32_t key_len; /* the value is the rest */
};

struct leat_mpi_answer {
    uint32_t is_good, number;
};

#endif
