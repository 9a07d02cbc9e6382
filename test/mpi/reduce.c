/* Reductions: every predefined operation on every type that it supports, checked by plain loops. */
#include "check.h"
#include "reduce_types.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 3, RANKS_MAX = 20 }; /* ranks that have a value; more would overflow a char */

enum op_name { MAX, MIN, SUM, PROD, LAND, LOR, LXOR, BAND, BOR, BXOR, MAXLOC, MINLOC, OPS };

struct op {
    const char *name;
    MPI_Op mpi;
    unsigned classes; /* of types */
};

static struct op ops[OPS];
static size_t array_len; /* of the arrays below, in octets */
static unsigned char *mine, *got[7];

static void ops_list(void)
{
    const unsigned whole = SIGNED | UNSIGNED, bits = whole | OCTET;
    ops[MAX] = (struct op){ "MPI_MAX", MPI_MAX, whole | REAL };
    ops[MIN] = (struct op){ "MPI_MIN", MPI_MIN, whole | REAL };
    ops[SUM] = (struct op){ "MPI_SUM", MPI_SUM, whole | REAL | COMPLEX };
    ops[PROD] = (struct op){ "MPI_PROD", MPI_PROD, whole | REAL | COMPLEX };
    ops[LAND] = (struct op){ "MPI_LAND", MPI_LAND, whole | LOGICAL };
    ops[LOR] = (struct op){ "MPI_LOR", MPI_LOR, whole | LOGICAL };
    ops[LXOR] = (struct op){ "MPI_LXOR", MPI_LXOR, whole | LOGICAL };
    ops[BAND] = (struct op){ "MPI_BAND", MPI_BAND, bits };
    ops[BOR] = (struct op){ "MPI_BOR", MPI_BOR, bits };
    ops[BXOR] = (struct op){ "MPI_BXOR", MPI_BXOR, bits };
    ops[MAXLOC] = (struct op){ "MPI_MAXLOC", MPI_MAXLOC, PAIR };
    ops[MINLOC] = (struct op){ "MPI_MINLOC", MPI_MINLOC, PAIR };
}

/* Element `i` of rank `rank`. Sums of 20 stay below 127, products below 32. */
static long value_of(enum op_name op, enum type_class class, int rank, int i)
{
    const int known = rank < RANKS_MAX ? rank : RANKS_MAX - 1;
    switch (op) {
    case PROD: return rank < RANKS_MAX && (rank + i) % 5 == 0 ? 2 : 1;
    case SUM: return rank < RANKS_MAX ? (rank * 7 + i * 3) % 6 : 0;
    case LAND: return (known + i) % 4 == 0 && i % 2 ? 0 : 1;
    case LOR: return (known + i) % 7 == 0;
    case LXOR: return (known * i + i) % 3 == 1;
    case BAND: return 127 - (1L << ((known + i) % 5));
    case BOR: return 1L << ((known * 3 + i) % 7);
    case BXOR: return (known * 37 + i * 11) % 128;
    case MAX:
    case MIN: return (known * 37 + i * 11) % 101 - (class == SIGNED || class == REAL ? 50 : 0);
    case MAXLOC:
    case MINLOC: return (known * 5 + i) % 4; /* many are equal: the lower place wins */
    case OPS: break;
    }
    return 0;
}

struct result {
    long value;
    int place;
};

static struct result fold(enum op_name op, struct result a, struct result b)
{
    const long x = a.value, y = b.value;
    switch (op) {
    case MAX: a.value = x > y ? x : y; break;
    case MIN: a.value = x < y ? x : y; break;
    case SUM: a.value = x + y; break;
    case PROD: a.value = x * y; break;
    case LAND: a.value = x && y; break;
    case LOR: a.value = x || y; break;
    case LXOR: a.value = !x != !y; break;
    case BAND: a.value = x & y; break;
    case BOR: a.value = x | y; break;
    case BXOR: a.value = x ^ y; break;
    case MAXLOC: return y > x ? b : a;
    case MINLOC: return y < x ? b : a;
    case OPS: break;
    }
    return a;
}

/* Element `i` over the ranks 0 .. last. */
static struct result fold_ranks(enum op_name op, enum type_class class, int last, int i)
{
    struct result sum = { value_of(op, class, 0, i), 0 };
    for (int rank = 1; rank <= last; rank++)
        sum = fold(op, sum, (struct result){ value_of(op, class, rank, i), rank });
    return sum;
}

/* `result` holds elements first .. first + count - 1 of the result over ranks 0 .. last. */
static void check_result(const char *call, const struct type *type, enum op_name op, int last,
                         int first, int count, const void *result)
{
    int wrong = -1;
    for (int i = 0; i < count && wrong < 0; i++) {
        const struct result right_one = fold_ranks(op, type->class, last, first + i);
        if (!type->is(result, i, right_one.value, right_one.place)) wrong = i;
    }
    const int shown = wrong < 0 ? 0 : wrong;
    CHECK(wrong < 0, "%s, %s of %s: element %d is %ld", call, ops[op].name, type->name, shown,
          fold_ranks(op, type->class, last, first + shown).value);
}

static void fill(const struct type *type, enum op_name op, void *array)
{
    for (int i = 0; i < BLOCK * ranks; i++)
        type->set(array, i, value_of(op, type->class, me, i), me);
}

static void blocking(const struct type *type, enum op_name op, int root, const int *counts)
{
    const MPI_Op mpi = ops[op].mpi;
    const MPI_Comm world = MPI_COMM_WORLD;
    const int all = BLOCK * ranks;
    MPI_Reduce(mine, got[0], BLOCK, type->mpi, mpi, root, world);
    if (me == root) check_result("reduce", type, op, ranks - 1, 0, BLOCK, got[0]);
    MPI_Allreduce(mine, got[0], all, type->mpi, mpi, world);
    check_result("allreduce", type, op, ranks - 1, 0, all, got[0]);
    MPI_Scan(mine, got[0], BLOCK, type->mpi, mpi, world);
    check_result("scan", type, op, me, 0, BLOCK, got[0]);
    MPI_Exscan(mine, got[0], BLOCK, type->mpi, mpi, world);
    if (me > 0) check_result("exscan", type, op, me - 1, 0, BLOCK, got[0]);
    MPI_Reduce_scatter(mine, got[0], counts, type->mpi, mpi, world);
    check_result("reduce_scatter", type, op, ranks - 1, BLOCK * me, BLOCK, got[0]);
    MPI_Reduce_scatter_block(mine, got[0], BLOCK, type->mpi, mpi, world);
    check_result("reduce_scatter_block", type, op, ranks - 1, BLOCK * me, BLOCK, got[0]);
}

/* All at the same time. */
static void non_blocking(const struct type *type, enum op_name op, int root, const int *counts)
{
    const MPI_Op mpi = ops[op].mpi;
    const MPI_Comm world = MPI_COMM_WORLD;
    const int all = BLOCK * ranks;
    MPI_Request requests[6];
    MPI_Ireduce(mine, got[0], all, type->mpi, mpi, root, world, &requests[0]);
    MPI_Iallreduce(mine, got[1], BLOCK, type->mpi, mpi, world, &requests[1]);
    MPI_Iscan(mine, got[2], BLOCK, type->mpi, mpi, world, &requests[2]);
    MPI_Iexscan(mine, got[3], BLOCK, type->mpi, mpi, world, &requests[3]);
    MPI_Ireduce_scatter(mine, got[4], counts, type->mpi, mpi, world, &requests[4]);
    MPI_Ireduce_scatter_block(mine, got[5], BLOCK, type->mpi, mpi, world, &requests[5]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    if (me == root) check_result("ireduce", type, op, ranks - 1, 0, all, got[0]);
    check_result("iallreduce", type, op, ranks - 1, 0, BLOCK, got[1]);
    check_result("iscan", type, op, me, 0, BLOCK, got[2]);
    if (me > 0) check_result("iexscan", type, op, me - 1, 0, BLOCK, got[3]);
    check_result("ireduce_scatter", type, op, ranks - 1, BLOCK * me, BLOCK, got[4]);
    check_result("ireduce_scatter_block", type, op, ranks - 1, BLOCK * me, BLOCK, got[5]);
}

static void in_place(const struct type *type, enum op_name op, int root, const int *counts)
{
    const MPI_Op mpi = ops[op].mpi;
    const MPI_Comm world = MPI_COMM_WORLD;
    const int all = BLOCK * ranks;
    MPI_Request requests[2];
    for (int i = 0; i < 7; i++)
        memcpy(got[i], mine, array_len);
    MPI_Reduce(me == root ? MPI_IN_PLACE : mine, got[0], all, type->mpi, mpi, root, world);
    if (me == root) check_result("reduce in place", type, op, ranks - 1, 0, all, got[0]);
    MPI_Allreduce(MPI_IN_PLACE, got[1], all, type->mpi, mpi, world);
    check_result("allreduce in place", type, op, ranks - 1, 0, all, got[1]);
    MPI_Scan(MPI_IN_PLACE, got[2], BLOCK, type->mpi, mpi, world);
    check_result("scan in place", type, op, me, 0, BLOCK, got[2]);
    MPI_Exscan(MPI_IN_PLACE, got[3], BLOCK, type->mpi, mpi, world);
    if (me > 0) check_result("exscan in place", type, op, me - 1, 0, BLOCK, got[3]);
    MPI_Reduce_scatter(MPI_IN_PLACE, got[4], counts, type->mpi, mpi, world);
    check_result("reduce_scatter in place", type, op, ranks - 1, BLOCK * me, BLOCK, got[4]);
    MPI_Iallreduce(MPI_IN_PLACE, got[5], all, type->mpi, mpi, world, &requests[0]);
    MPI_Iscan(MPI_IN_PLACE, got[6], BLOCK, type->mpi, mpi, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_result("iallreduce in place", type, op, ranks - 1, 0, all, got[5]);
    check_result("iscan in place", type, op, me, 0, BLOCK, got[6]);
}

/* Ranks 0 and 1, both in this process. */
static void local(const struct type *type, enum op_name op)
{
    for (int i = 0; i < BLOCK; i++) {
        type->set(got[0], i, value_of(op, type->class, 0, i), 0);
        type->set(got[1], i, value_of(op, type->class, 1, i), 1);
    }
    MPI_Reduce_local(got[0], got[1], BLOCK, type->mpi, ops[op].mpi);
    check_result("reduce_local", type, op, 1, 0, BLOCK, got[1]);
}

static void try_op(enum op_name op, const struct type *types, int count, const int *counts)
{
    topic(ops[op].name);
    for (int i = 0; i < count; i++) {
        const int root = (i + (int)op) % ranks;
        if ((ops[op].classes & types[i].class) == 0) continue;
        fill(&types[i], op, mine);
        blocking(&types[i], op, root, counts);
        non_blocking(&types[i], op, root, counts);
        if (i % 3 == 0 || types[i].class == PAIR) in_place(&types[i], op, root, counts);
        local(&types[i], op);
    }
}

int main(int argc, char **argv)
{
    struct type types[TYPES_MAX];
    check_begin(&argc, &argv);
    const int count = types_list(types);
    int *counts = memory((size_t)ranks * sizeof *counts);
    array_len = (size_t)(BLOCK * ranks) * 2 * sizeof(long double);
    mine = memory(array_len);
    for (int i = 0; i < 7; i++)
        got[i] = memory(array_len);
    for (int i = 0; i < ranks; i++)
        counts[i] = BLOCK;
    ops_list();
    for (int op = 0; op < OPS; op++)
        try_op((enum op_name)op, types, count, counts);
    for (int i = 0; i < 7; i++)
        free(got[i]);
    free(mine);
    free(counts);
    return check_end();
}
