/*
 * What the programs of this set share: checks that are counted, and a report of them.
 *
 *     check_begin       topic "a"  CHECK CHECK   topic "b"  CHECK     check_end
 *                                                |                    |
 *     rank 0 prints:                             "a: 2 checks"        "b: 1 checks", "all is well"
 *
 * The report is the same in every run, whatever carries the messages. What is wrong is told on
 * standard error by the rank that finds it, with what was expected, and makes the exit status 1.
 * Reports travel by plain sends on a communicator of their own.
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

/* All ranks begin the next topic; the one before is reported. */
void topic(const char *name);

/* Reports the last topic; MPI_Finalize. The result is the exit status, the same for all ranks. */
int check_end(void);

/* Counts; false is told with the text, which says what was expected. Returns `truth`. */
bool check_told(bool truth, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool check_equal(long long got, long long wanted, const char *what, const char *file, int line);

#define CHECK(truth, ...)     check_told((truth), __FILE__, __LINE__, __VA_ARGS__)
#define CHECK_EQ(got, wanted) check_equal((got), (wanted), #got, __FILE__, __LINE__)

/* Octets that tell seed and place: what is shifted, torn or mixed up is seen. */
void pattern_fill(void *octets, size_t len, uint64_t seed);
bool pattern_is(const void *octets, size_t len, uint64_t seed);

/* A seed for what `from` sends to `to`. */
uint64_t pattern_seed(int from, int to, int which);

/* Memory or the end. */
void *memory(size_t len);

#endif
