/*
 * The types that predefined operations support, as a table. Test values are small whole numbers, so
 * results are exact in every type and a plain loop over long computes the expected value.
 */
#ifndef LEAT_TEST_MPI_REDUCE_TYPES_H
#define LEAT_TEST_MPI_REDUCE_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum type_class {
    SIGNED = 1,
    UNSIGNED = 2,
    REAL = 4,
    COMPLEX = 8,
    LOGICAL = 16,
    OCTET = 32,
    PAIR = 64, /* a value and where it is: MPI_MAXLOC, MPI_MINLOC */
};

struct type {
    const char *name;
    MPI_Datatype mpi;
    size_t size;
    enum type_class class;
    void (*set)(void *array, int i, long value, int place); /* place: of pairs */
    bool (*is)(const void *array, int i, long value, int place);
};

/* The table (reduce_types.c); MPI handles are not constants, so it is filled at run time. */
enum { TYPES_MAX = 64 };
int types_list(struct type types[TYPES_MAX]);

#endif
