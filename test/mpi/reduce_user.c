/*
 * User-defined operations: one that commutes, and the product of matrices, whose result shows the
 * order of ranks; short and long enough for segmented algorithms.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { MODULUS = 10007, COUNT_MAX = 3000 };

struct matrix {
    int a, b, c, d; /* a b / c d, modulo MODULUS */
};

static int product_calls;

static struct matrix times(struct matrix x, struct matrix y)
{
    return (struct matrix){ (x.a * y.a + x.b * y.c) % MODULUS, (x.a * y.b + x.b * y.d) % MODULUS,
                            (x.c * y.a + x.d * y.c) % MODULUS, (x.c * y.b + x.d * y.d) % MODULUS };
}

static void product(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const struct matrix *x = in;
    struct matrix *y = inout;
    (void)type;
    product_calls++;
    for (int i = 0; i < *len; i++)
        y[i] = times(x[i], y[i]);
}

/* x + y + x * y: commutes, and is not a predefined operation. */
static void circle(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const unsigned *x = in;
    unsigned *y = inout;
    (void)type;
    for (int i = 0; i < *len; i++)
        y[i] += x[i] + x[i] * y[i];
}

static struct matrix matrix_of(int rank, int i)
{
    return (struct matrix){ rank + 1, i % 13 + 1, i % 7 + 2, rank * i % 11 + 1 };
}

static bool is_product(const struct matrix *got, int last, int first, int count)
{
    for (int i = 0; i < count; i++) {
        struct matrix wanted = matrix_of(0, first + i);
        for (int rank = 1; rank <= last; rank++)
            wanted = times(wanted, matrix_of(rank, first + i));
        if (memcmp(&wanted, &got[i], sizeof wanted) != 0) return false;
    }
    return true;
}

static void ordered_products(int block, MPI_Datatype type, MPI_Op op)
{
    const int all = block * ranks;
    MPI_Request requests[3];
    struct matrix *mine = memory((size_t)all * sizeof *mine);
    struct matrix *got = memory((size_t)all * sizeof *got);
    struct matrix *more = memory((size_t)all * sizeof *more);
    struct matrix *most = memory((size_t)all * sizeof *most);
    for (int i = 0; i < all; i++)
        mine[i] = matrix_of(me, i);
    for (int root = 0; root < ranks; root += 1 + ranks / 3) {
        MPI_Reduce(mine, got, block, type, op, root, MPI_COMM_WORLD);
        if (me == root) CHECK(is_product(got, ranks - 1, 0, block), "reduce keeps the order");
    }
    MPI_Allreduce(mine, got, all, type, op, MPI_COMM_WORLD);
    CHECK(is_product(got, ranks - 1, 0, all), "allreduce keeps the order");
    MPI_Scan(mine, got, block, type, op, MPI_COMM_WORLD);
    CHECK(is_product(got, me, 0, block), "scan keeps the order");
    MPI_Exscan(mine, got, block, type, op, MPI_COMM_WORLD);
    if (me > 0) CHECK(is_product(got, me - 1, 0, block), "exscan keeps the order");
    MPI_Reduce_scatter_block(mine, got, block, type, op, MPI_COMM_WORLD);
    CHECK(is_product(got, ranks - 1, me * block, block), "reduce_scatter_block keeps the order");
    MPI_Iallreduce(mine, got, all, type, op, MPI_COMM_WORLD, &requests[0]);
    MPI_Iscan(mine, more, block, type, op, MPI_COMM_WORLD, &requests[1]);
    MPI_Ireduce(mine, most, block, type, op, ranks - 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(is_product(got, ranks - 1, 0, all), "iallreduce keeps the order");
    CHECK(is_product(more, me, 0, block), "iscan keeps the order");
    if (me == ranks - 1) CHECK(is_product(most, me, 0, block), "ireduce keeps the order");
    free(most);
    free(more);
    free(got);
    free(mine);
}

static void commuting(int count, MPI_Op op)
{
    unsigned *mine = memory((size_t)count * sizeof *mine);
    unsigned *got = memory((size_t)count * sizeof *got);
    int wrong = 0;
    for (int i = 0; i < count; i++)
        mine[i] = (unsigned)(me * 5 + i);
    MPI_Allreduce(mine, got, count, MPI_UNSIGNED, op, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        unsigned wanted = (unsigned)i;
        for (int rank = 1; rank < ranks; rank++) {
            const unsigned theirs = (unsigned)(rank * 5 + i);
            wanted += theirs + theirs * wanted;
        }
        wrong += got[i] != wanted;
    }
    CHECK_EQ(wrong, 0);
    free(got);
    free(mine);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Op op_product, op_circle;
    int commutes = -1;
    check_begin(&argc, &argv);
    MPI_Type_contiguous(4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(product, 0, &op_product);
    MPI_Op_create(circle, 1, &op_circle);
    topic("what an operation says of itself");
    MPI_Op_commutative(op_product, &commutes);
    CHECK_EQ(commutes, 0);
    MPI_Op_commutative(op_circle, &commutes);
    CHECK_EQ(commutes, 1);
    MPI_Op_commutative(MPI_SUM, &commutes);
    CHECK_EQ(commutes, 1);
    topic("an operation that commutes");
    commuting(1, op_circle);
    commuting(100, op_circle);
    commuting(50000, op_circle);
    topic("products of matrices");
    ordered_products(1, type, op_product);
    ordered_products(7, type, op_product);
    ordered_products(COUNT_MAX / ranks, type, op_product);
    CHECK(ranks == 1 || product_calls > 0 || me == 0, "the operation was called");
    MPI_Op_free(&op_circle);
    MPI_Op_free(&op_product);
    CHECK(op_product == MPI_OP_NULL, "no operation is left");
    MPI_Type_free(&type);
    return check_end();
}
