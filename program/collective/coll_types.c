#include "coll_leat.h"
#include <stddef.h>
#include <string.h>

#include <opal/datatype/opal_convertor.h>

/* ---- operations ------------------------------------------------------------------------------ */

bool leat_coll_find_op(MPI_Op op, enum leat_coll_op *out)
{
    const struct {
        MPI_Op handle;
        enum leat_coll_op op;
    } known[] = {
        { MPI_SUM, LEAT_COLL_SUM },       { MPI_MIN, LEAT_COLL_MIN },
        { MPI_MAX, LEAT_COLL_MAX },       { MPI_LAND, LEAT_COLL_LAND },
        { MPI_LOR, LEAT_COLL_LOR },       { MPI_LXOR, LEAT_COLL_LXOR },
        { MPI_BAND, LEAT_COLL_BAND },     { MPI_BOR, LEAT_COLL_BOR },
        { MPI_BXOR, LEAT_COLL_BXOR },     { MPI_MINLOC, LEAT_COLL_MINLOC },
        { MPI_MAXLOC, LEAT_COLL_MAXLOC },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].handle != op) continue;
        *out = known[i].op;
        return true;
    }
    return false;
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool is_among(MPI_Datatype type, const MPI_Datatype *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == type) return true;
    return false;
}
#define IS_AMONG(type, ...)                               \
    is_among(type, (const MPI_Datatype[]){ __VA_ARGS__ }, \
             sizeof((const MPI_Datatype[]){ __VA_ARGS__ }) / sizeof(MPI_Datatype))

static bool find_class(MPI_Datatype type, enum leat_coll_class *out)
{
    *out = LEAT_COLL_SIGNED;
    if (IS_AMONG(type, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_SHORT, MPI_SIGNED_CHAR, MPI_INT8_T,
                 MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2,
                 MPI_INTEGER4, MPI_INTEGER8, MPI_AINT, MPI_OFFSET, MPI_COUNT))
        return true;
    *out = LEAT_COLL_UNSIGNED;
    if (IS_AMONG(type, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UNSIGNED_SHORT,
                 MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T,
                 MPI_LOGICAL, MPI_C_BOOL, MPI_CXX_BOOL, MPI_BYTE))
        return true;
    *out = LEAT_COLL_REAL;
    return IS_AMONG(type, MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_REAL4, MPI_REAL8,
                    MPI_DOUBLE_PRECISION);
}

/* The pairs of MPI_MINLOC and MPI_MAXLOC: a value and its index. */
struct int_pair {
    int value, index;
};
struct short_pair {
    short value;
    int index;
};
struct long_pair {
    long value;
    int index;
};
struct float_pair {
    float value;
    int index;
};
struct double_pair {
    double value;
    int index;
};

#define PAIR(HANDLE, CLASS, VALUE)                                      \
    {                                                                   \
        HANDLE,                                                         \
        {                                                               \
            CLASS, sizeof(VALUE), offsetof(struct VALUE##_pair, index), \
                sizeof(struct VALUE##_pair)                             \
        }                                                               \
    }

static bool find_pair(MPI_Datatype type, struct leat_coll_type *out)
{
    const struct {
        MPI_Datatype handle;
        struct leat_coll_type type;
    } known[] = {
        PAIR(MPI_2INT, LEAT_COLL_SIGNED, int),        PAIR(MPI_2INTEGER, LEAT_COLL_SIGNED, int),
        PAIR(MPI_SHORT_INT, LEAT_COLL_SIGNED, short), PAIR(MPI_LONG_INT, LEAT_COLL_SIGNED, long),
        PAIR(MPI_FLOAT_INT, LEAT_COLL_REAL, float),   PAIR(MPI_DOUBLE_INT, LEAT_COLL_REAL, double),
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].handle != type) continue;
        *out = known[i].type;
        return true;
    }
    return false;
}

bool leat_coll_find_type(MPI_Datatype type, struct leat_coll_type *out)
{
    struct leat_coll_type found = { .octets = (uint32_t)type->super.size,
                                    .stride = (uint32_t)type->super.size };
    if (!find_pair(type, &found) && !find_class(type, &found.class)) return false;
    if (type->super.ub - type->super.lb != (ptrdiff_t)found.stride || type->super.lb) return false;
    *out = found;
    return true;
}

/* ---- elements without gaps ------------------------------------------------------------------- */

uint64_t leat_coll_octets(struct ompi_datatype_t *type, int count)
{
    size_t size = 0;
    ompi_datatype_type_size(type, &size);
    return (uint64_t)size * (uint64_t)count;
}

static void copy(struct ompi_datatype_t *type, int count, void *elements, uint8_t *octets,
                 bool packs)
{
    opal_convertor_t convertor;
    struct iovec to = { .iov_base = octets, .iov_len = (size_t)leat_coll_octets(type, count) };
    uint32_t count_of_vectors = 1;
    size_t len = to.iov_len;
    if (!len) return;
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (packs) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super,
                                                 (size_t)count, elements, 0, &convertor);
        opal_convertor_pack(&convertor, &to, &count_of_vectors, &len);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super,
                                                 (size_t)count, elements, 0, &convertor);
        opal_convertor_unpack(&convertor, &to, &count_of_vectors, &len);
    }
    OBJ_DESTRUCT(&convertor);
}

void leat_coll_pack(const void *elements, int count, struct ompi_datatype_t *type, uint8_t *octets)
{
    copy(type, count, (void *)(uintptr_t)elements, octets, true);
}

void leat_coll_unpack(const uint8_t *octets, int count, struct ompi_datatype_t *type,
                      void *elements)
{
    copy(type, count, elements, (uint8_t *)(uintptr_t)octets, false);
}
