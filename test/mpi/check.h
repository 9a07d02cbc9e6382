/*
 * Shared by the programs of this set: counted checks, and a report of them.
 *
 *     check_begin       topic "a"  CHECK CHECK   topic "b"  CHECK     check_end
 *                                                |                    |
 *     rank 0 prints:                             "a: 2 checks"        "b: 1 checks", "all is well"
 *
 * The report is the same in every run and over every network. The rank that finds an error reports
 * it on standard error, with the expected value; the exit status is then 1. Reports travel by plain
 * sends on a communicator of their own.
 */
#ifndef LEAT_TEST_MPI_CHECK_H
#define LEAT_TEST_MPI_CHECK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern int me;    /* rank in MPI_COMM_WORLD */
extern int ranks; /* in MPI_COMM_WORLD */
extern int right; /* the next rank in the ring of all, itself if alone */
extern int left;

/* MPI_Init. Errors of MPI_COMM_WORLD end the program unless it says otherwise. */
void check_begin(int *argc, char ***argv);
/* The same with MPI_THREAD_MULTIPLE. Only one thread of a rank may check. */
bool check_begin_threads(int *argc, char ***argv);

/* All ranks begin the next topic; the previous one is reported. */
void topic(const char *name);

/* Reports the last topic; MPI_Finalize. The result is the exit status, the same for all ranks. */
int check_end(void);

/* Counts the check. If it fails, prints the text, which says what was expected. Returns `truth`. */
bool check_reported(bool truth, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool check_equal(long long got, long long wanted, const char *what, const char *file, int line);

#define CHECK(truth, ...)     check_reported((truth), __FILE__, __LINE__, __VA_ARGS__)
#define CHECK_EQ(got, wanted) check_equal((got), (wanted), #got, __FILE__, __LINE__)

/* Octets that depend on seed and position, so that shifted, torn or mixed data is detected. */
void pattern_fill(void *octets, size_t len, uint64_t seed);
bool pattern_is(const void *octets, size_t len, uint64_t seed);

/* A seed for what `from` sends to `to`. */
uint64_t pattern_seed(int from, int to, int which);

/* Memory; ends the program if there is none. */
void *memory(size_t len);

#endif
