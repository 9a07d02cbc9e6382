#include "reduce_types.h"
#include <complex.h>
#include <stdint.h>

typedef float complex float_complex;
typedef double complex double_complex;
typedef long double complex long_double_complex;
typedef signed char signed_char;
typedef unsigned char unsigned_char;
typedef unsigned short unsigned_short;
typedef unsigned long unsigned_long;
typedef long long long_long;
typedef unsigned long long unsigned_long_long;
typedef long double long_double;

/* C type, MPI type, class. Open MPI 4.1 itself compares MPI_OFFSET as unsigned. */
#define PLAIN_TYPES(X)                                         \
    X(signed_char, MPI_SIGNED_CHAR, SIGNED)                    \
    X(unsigned_char, MPI_UNSIGNED_CHAR, UNSIGNED)              \
    X(short, MPI_SHORT, SIGNED)                                \
    X(unsigned_short, MPI_UNSIGNED_SHORT, UNSIGNED)            \
    X(int, MPI_INT, SIGNED)                                    \
    X(unsigned, MPI_UNSIGNED, UNSIGNED)                        \
    X(long, MPI_LONG, SIGNED)                                  \
    X(unsigned_long, MPI_UNSIGNED_LONG, UNSIGNED)              \
    X(long_long, MPI_LONG_LONG, SIGNED)                        \
    X(unsigned_long_long, MPI_UNSIGNED_LONG_LONG, UNSIGNED)    \
    X(int8_t, MPI_INT8_T, SIGNED)                              \
    X(int16_t, MPI_INT16_T, SIGNED)                            \
    X(int32_t, MPI_INT32_T, SIGNED)                            \
    X(int64_t, MPI_INT64_T, SIGNED)                            \
    X(uint8_t, MPI_UINT8_T, UNSIGNED)                          \
    X(uint16_t, MPI_UINT16_T, UNSIGNED)                        \
    X(uint32_t, MPI_UINT32_T, UNSIGNED)                        \
    X(uint64_t, MPI_UINT64_T, UNSIGNED)                        \
    X(MPI_Aint, MPI_AINT, SIGNED)                              \
    X(MPI_Offset, MPI_OFFSET, UNSIGNED)                        \
    X(MPI_Count, MPI_COUNT, SIGNED)                            \
    X(float, MPI_FLOAT, REAL)                                  \
    X(double, MPI_DOUBLE, REAL)                                \
    X(long_double, MPI_LONG_DOUBLE, REAL)                      \
    X(float_complex, MPI_C_FLOAT_COMPLEX, COMPLEX)             \
    X(double_complex, MPI_C_DOUBLE_COMPLEX, COMPLEX)           \
    X(long_double_complex, MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX) \
    X(bool, MPI_C_BOOL, LOGICAL)

/* C type of the value, MPI type, name */
#define PAIR_TYPES(X)                     \
    X(float, MPI_FLOAT_INT, float_int)    \
    X(double, MPI_DOUBLE_INT, double_int) \
    X(long, MPI_LONG_INT, long_int)       \
    X(int, MPI_2INT, two_int)             \
    X(short, MPI_SHORT_INT, short_int)    \
    X(long_double, MPI_LONG_DOUBLE_INT, long_double_int)

#define PLAIN_FUNCTIONS(c_type, mpi_type, class)                             \
    static void set_##c_type(void *array, int i, long value, int place)      \
    {                                                                        \
        (void)place;                                                         \
        ((c_type *)array)[i] = (c_type)value;                                \
    }                                                                        \
    static bool is_##c_type(const void *array, int i, long value, int place) \
    {                                                                        \
        (void)place;                                                         \
        return ((const c_type *)array)[i] == (c_type)value;                  \
    }
PLAIN_TYPES(PLAIN_FUNCTIONS)

#define PAIR_FUNCTIONS(c_type, mpi_type, name)                             \
    struct name {                                                          \
        c_type value;                                                      \
        int place;                                                         \
    };                                                                     \
    static void set_##name(void *array, int i, long value, int place)      \
    {                                                                      \
        ((struct name *)array)[i].value = (c_type)value;                   \
        ((struct name *)array)[i].place = place;                           \
    }                                                                      \
    static bool is_##name(const void *array, int i, long value, int place) \
    {                                                                      \
        const struct name *pair = (const struct name *)array + i;          \
        return pair->value == (c_type)value && pair->place == place;       \
    }
PAIR_TYPES(PAIR_FUNCTIONS)

int types_list(struct type types[TYPES_MAX])
{
    int count = 0;
#define PLAIN_ROW(c_type, mpi_type, class)                                   \
    types[count++] = (struct type){ #mpi_type, mpi_type,     sizeof(c_type), \
                                    class,     set_##c_type, is_##c_type };
#define PAIR_ROW(c_type, mpi_type, name)                                        \
    types[count++] = (struct type){ #mpi_type, mpi_type,   sizeof(struct name), \
                                    PAIR,      set_##name, is_##name };
    PLAIN_TYPES(PLAIN_ROW)
    PAIR_TYPES(PAIR_ROW)
    types[count++] = (struct type){ "MPI_BYTE", MPI_BYTE,          1,
                                    OCTET,      set_unsigned_char, is_unsigned_char };
    return count;
}
