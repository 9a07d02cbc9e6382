/*
 * Derived datatypes: every constructor, checked by its extents, by a message received as plain
 * octets, by one in the other direction, and by pack and unpack.
 */
#include "check.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 400, SIDE = 8 };

/* A type over an array of int, and the positions of its elements as a plain list. */
struct shape {
    const char *name;
    MPI_Datatype type;
    int count; /* elements of one instance */
    int places[CELLS];
    MPI_Aint lower, extent; /* in octets */
};

static const MPI_Aint word = (MPI_Aint)sizeof(int);

static void commit(struct shape *shape, const char *name, MPI_Aint lower, MPI_Aint extent)
{
    shape->name = name;
    shape->lower = lower;
    shape->extent = extent;
    MPI_Type_commit(&shape->type);
}

static void make_contiguous(struct shape *s)
{
    for (int i = 0; i < 7; i++)
        s->places[s->count++] = i;
    MPI_Type_contiguous(7, MPI_INT, &s->type);
    commit(s, "contiguous", 0, 7 * word);
}

static void make_vector(struct shape *s)
{
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++)
            s->places[s->count++] = i * 6 + k;
    MPI_Type_vector(5, 2, 6, MPI_INT, &s->type);
    commit(s, "vector", 0, 26 * word);
}

static void make_hvector(struct shape *s)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            s->places[s->count++] = i * 5 + k;
    MPI_Type_create_hvector(4, 3, 5 * word, MPI_INT, &s->type);
    commit(s, "hvector", 0, 18 * word);
}

static void make_indexed(struct shape *s)
{
    int lens[4] = { 2, 1, 0, 3 }, places[4] = { 9, 1, 5, 14 }; /* not in order */
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < lens[i]; k++)
            s->places[s->count++] = places[i] + k;
    MPI_Type_indexed(4, lens, places, MPI_INT, &s->type);
    commit(s, "indexed", word, 16 * word);
}

static void make_hindexed(struct shape *s)
{
    int lens[3] = { 1, 4, 2 };
    MPI_Aint places[3] = { 0, 3 * word, 10 * word };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < lens[i]; k++)
            s->places[s->count++] = (int)(places[i] / word) + k;
    MPI_Type_create_hindexed(3, lens, places, MPI_INT, &s->type);
    commit(s, "hindexed", 0, 12 * word);
}

static void make_indexed_block(struct shape *s)
{
    int places[3] = { 12, 0, 5 };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            s->places[s->count++] = places[i] + k;
    MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &s->type);
    commit(s, "indexed_block", 0, 14 * word);
}

static void make_subarray(struct shape *s)
{
    int whole[2] = { SIDE, SIDE }, part[2] = { 3, 4 }, start[2] = { 2, 1 };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++)
            s->places[s->count++] = (2 + i) * SIDE + 1 + k;
    MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_INT, &s->type);
    commit(s, "subarray", 0, SIDE * SIDE * word);
}

/* A column of a matrix whose next instance is the next column. */
static void make_resized(struct shape *s)
{
    MPI_Datatype column;
    for (int i = 0; i < SIDE; i++)
        s->places[s->count++] = i * SIDE;
    MPI_Type_vector(SIDE, 1, SIDE, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, word, &s->type);
    MPI_Type_free(&column);
    commit(s, "resized", 0, word);
}

static void make_nested(struct shape *s)
{
    MPI_Datatype inner;
    int lens[2] = { 1, 2 }, places[2] = { 0, 2 }; /* of ints: 0, 2, 3; extent 4 */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            for (int m = 0; m < 3; m++)
                s->places[s->count++] = i * 12 + k * 4 + (m == 0 ? 0 : m + 1);
    MPI_Type_indexed(2, lens, places, MPI_INT, &inner);
    MPI_Type_vector(3, 2, 3, inner, &s->type);
    MPI_Type_free(&inner);
    commit(s, "vector of indexed", 0, 32 * word);
}

static void make_dup(struct shape *s)
{
    MPI_Datatype inner;
    for (int i = 0; i < 3; i++)
        s->places[s->count++] = 2 * i;
    MPI_Type_vector(3, 1, 2, MPI_INT, &inner);
    MPI_Type_dup(inner, &s->type);
    MPI_Type_free(&inner);
    commit(s, "dup", 0, 5 * word);
}

/* Two blocks of columns out of four, as the second of two processes has them. */
static void make_darray(struct shape *s)
{
    int whole[2] = { 4, 6 }, kinds[2] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK };
    int arguments[2] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG }, grid[2] = { 1, 2 };
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            s->places[s->count++] = i * 6 + 3 + k;
    MPI_Type_create_darray(2, 1, 2, whole, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &s->type);
    commit(s, "darray", 0, 24 * word);
}

static void check_extents(const struct shape *s)
{
    int size = -1;
    MPI_Aint lower = -1, extent = -1, true_lower = -1, true_extent = -1;
    int first = CELLS, last = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->places[i] < first) first = s->places[i];
        if (s->places[i] > last) last = s->places[i];
    }
    MPI_Type_size(s->type, &size);
    MPI_Type_get_extent(s->type, &lower, &extent);
    MPI_Type_get_true_extent(s->type, &true_lower, &true_extent);
    CHECK_EQ(size, s->count * word);
    CHECK_EQ(lower, s->lower);
    CHECK_EQ(extent, s->extent);
    CHECK_EQ(true_lower, first * word);
    CHECK_EQ(true_extent, (last - first + 1) * word);
}

/* Position of element `i` of several consecutive instances, counted in ints. */
static int place_of(const struct shape *s, int i)
{
    return s->places[i % s->count] + i / s->count * (int)(s->extent / word);
}

/* Typed here, plain at the neighbour. */
static void send_typed(const struct shape *s, int instances)
{
    int cells[CELLS], plain[CELLS], wrong = 0, elements = -1;
    const int count = s->count * instances;
    MPI_Request send;
    MPI_Status status;
    for (int i = 0; i < CELLS; i++)
        cells[i] = me * 1000 + i;
    MPI_Isend(cells, instances, s->type, right, 1, MPI_COMM_WORLD, &send);
    MPI_Recv(plain, CELLS, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_INT, &elements);
    CHECK_EQ(elements, count);
    for (int i = 0; i < count; i++)
        wrong += plain[i] != left * 1000 + place_of(s, i);
    CHECK(wrong == 0, "%d of %s as plain numbers; %d are wrong", instances, s->name, wrong);
}

/* Plain here, typed at the neighbour; the gaps between elements do not change. */
static void receive_typed(const struct shape *s, int instances)
{
    int cells[CELLS], wanted[CELLS], plain[CELLS];
    const int count = s->count * instances;
    MPI_Request send;
    for (int i = 0; i < CELLS; i++) {
        plain[i] = me * 1000 + i;
        cells[i] = wanted[i] = -1;
    }
    for (int i = 0; i < count; i++)
        wanted[place_of(s, i)] = left * 1000 + i;
    MPI_Isend(plain, count, MPI_INT, right, 2, MPI_COMM_WORLD, &send);
    MPI_Recv(cells, instances, s->type, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(memcmp(cells, wanted, sizeof cells) == 0, "%d of %s filled with plain numbers", instances,
          s->name);
}

static void pack(const struct shape *s, int instances)
{
    int cells[CELLS], back[CELLS], wanted[CELLS], size = 0, at = 0, from = 0, tail = -1;
    const int number = 4711;
    for (int i = 0; i < CELLS; i++) {
        cells[i] = i * 3;
        back[i] = wanted[i] = -1;
    }
    for (int i = 0; i < s->count * instances; i++)
        wanted[place_of(s, i)] = 3 * place_of(s, i);
    MPI_Pack_size(instances, s->type, MPI_COMM_WORLD, &size);
    CHECK(size >= instances * s->count * (int)word, "room for all elements");
    const int room = size + 64;
    char *packed = memory((size_t)room), *got = memory((size_t)room);
    MPI_Pack(cells, instances, s->type, packed, room, &at, MPI_COMM_WORLD);
    MPI_Pack(&number, 1, MPI_INT, packed, room, &at, MPI_COMM_WORLD);
    MPI_Sendrecv(packed, at, MPI_PACKED, right, 3, got, room, MPI_PACKED, left, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Unpack(got, room, &from, back, instances, s->type, MPI_COMM_WORLD);
    MPI_Unpack(got, room, &from, &tail, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK_EQ(from, at);
    CHECK_EQ(tail, number);
    CHECK(memcmp(back, wanted, sizeof back) == 0, "%d of %s packed and unpacked", instances,
          s->name);
    free(got);
    free(packed);
}

static void try_shape(void (*make)(struct shape *))
{
    struct shape shape = { .count = 0 };
    make(&shape);
    topic(shape.name);
    check_extents(&shape);
    for (int instances = 1; instances <= 4; instances += 3) {
        send_typed(&shape, instances);
        receive_typed(&shape, instances);
        pack(&shape, instances);
    }
    MPI_Type_free(&shape.type);
}

struct record {
    char letter;
    double real;
    int numbers[3];
    short last;
};

static void records(void)
{
    enum { RECORDS = 500 };
    int lens[4] = { 1, 1, 3, 1 };
    MPI_Aint places[4] = { offsetof(struct record, letter), offsetof(struct record, real),
                           offsetof(struct record, numbers), offsetof(struct record, last) };
    MPI_Datatype kinds[4] = { MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT }, bare, type;
    struct record *out = memory(RECORDS * sizeof *out), *in = memory(RECORDS * sizeof *in);
    MPI_Status status;
    int wrong = 0, count = -1, elements = -1;
    MPI_Type_create_struct(4, lens, places, kinds, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct record), &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < RECORDS; i++)
        out[i] = (struct record){ (char)('a' + i % 26), me + i / 8.0, { i, me, -i }, (short)i };
    MPI_Sendrecv(out, RECORDS, type, right, 0, in, RECORDS, type, left, 0, MPI_COMM_WORLD, &status);
    for (int i = 0; i < RECORDS; i++)
        wrong += in[i].letter != 'a' + i % 26 || in[i].real != left + i / 8.0 ||
                 in[i].numbers[0] != i || in[i].numbers[1] != left || in[i].numbers[2] != -i ||
                 in[i].last != (short)i;
    CHECK_EQ(wrong, 0);
    MPI_Get_count(&status, type, &count);
    MPI_Get_elements(&status, type, &elements);
    CHECK_EQ(count, RECORDS);
    CHECK_EQ(elements, 6 * RECORDS);
    MPI_Type_free(&type);
    MPI_Type_free(&bare);
    free(in);
    free(out);
}

/* Half an instance: no count, but elements. */
static void partial(void)
{
    int out[3] = { 1, 2, 3 }, in[8] = { 0 }, count = -1, elements = -1;
    MPI_Datatype four;
    MPI_Status status;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    MPI_Sendrecv(out, 3, MPI_INT, right, 0, in, 2, four, left, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, four, &count);
    MPI_Get_elements(&status, four, &elements);
    CHECK_EQ(count, MPI_UNDEFINED);
    CHECK_EQ(elements, 3);
    CHECK(in[0] == 1 && in[2] == 3 && in[3] == 0, "three numbers");
    MPI_Type_free(&four);
}

/* Absolute addresses: variables at arbitrary places. */
static void scattered(void)
{
    int a = me, lens[2] = { 1, 2 };
    double b[2] = { me + 0.5, me + 0.25 };
    MPI_Datatype kinds[2] = { MPI_INT, MPI_DOUBLE }, type;
    MPI_Aint places[2];
    MPI_Get_address(&a, &places[0]);
    MPI_Get_address(b, &places[1]);
    MPI_Type_create_struct(2, lens, places, kinds, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(a, left);
    CHECK(b[0] == left + 0.5 && b[1] == left + 0.25, "the numbers of the left");
    MPI_Type_free(&type);
}

/* A long message with gaps: every other int of a megabyte. */
static void long_with_gaps(void)
{
    enum { PICKED = 100000 };
    int *out = memory(2 * PICKED * sizeof *out), *in = memory(2 * PICKED * sizeof *in);
    int wrong = 0;
    MPI_Datatype type;
    MPI_Request send;
    MPI_Type_vector(PICKED, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 2 * PICKED; i++)
        out[i] = me + i;
    MPI_Isend(out, 1, type, right, 0, MPI_COMM_WORLD, &send);
    MPI_Recv(in, 1, type, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * PICKED; i++)
        wrong += in[i] != (i % 2 ? 0 : left + i);
    CHECK_EQ(wrong, 0);
    MPI_Type_free(&type);
    free(in);
    free(out);
}

/* Two rows of `ranks` columns in each rank; each gets its column of all. (By alltoallw: Open MPI
 * 4.1 itself fails in alltoall of many ranks when the two sides have different types.) */
static void transpose(void)
{
    const size_t list = (size_t)ranks * sizeof(int);
    int *rows = memory(2 * list), *got = memory(2 * list), wrong = 0;
    int *ones = memory(list), *twos = memory(list), *from = memory(list), *to = memory(list);
    MPI_Datatype column, *columns = memory((size_t)ranks * sizeof *columns);
    MPI_Datatype *plain = memory((size_t)ranks * sizeof *plain);
    MPI_Type_vector(2, 1, ranks, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < ranks; i++) {
        rows[i] = me * 1000 + i;
        rows[ranks + i] = me * 1000 + 500 + i;
        ones[i] = 1;
        twos[i] = 2;
        from[i] = i * (int)word;
        to[i] = 2 * i * (int)word;
        columns[i] = column;
        plain[i] = MPI_INT;
    }
    MPI_Alltoallw(rows, ones, from, columns, got, twos, to, plain, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        wrong += got[2 * i] != i * 1000 + me || got[2 * i + 1] != i * 1000 + 500 + me;
    CHECK_EQ(wrong, 0);
    MPI_Type_free(&column);
    free(plain);
    free(columns);
    free(to);
    free(from);
    free(twos);
    free(ones);
    free(got);
    free(rows);
}

/* Each rank's numbers become a column of rank 0's matrix, which is then sent to all as columns. */
static void columns_of_a_matrix(void)
{
    int *matrix = memory((size_t)(ranks * SIDE) * sizeof *matrix), mine[SIDE], wrong = 0;
    MPI_Datatype bare, column;
    for (int i = 0; i < SIDE; i++)
        mine[i] = me * 100 + i;
    MPI_Type_vector(SIDE, 1, ranks, MPI_INT, &bare);
    MPI_Type_create_resized(bare, 0, word, &column);
    MPI_Type_commit(&column);
    MPI_Gather(mine, SIDE, MPI_INT, matrix, 1, column, 0, MPI_COMM_WORLD);
    MPI_Bcast(matrix, ranks, column, 0, MPI_COMM_WORLD);
    for (int i = 0; i < SIDE; i++)
        for (int rank = 0; rank < ranks; rank++)
            wrong += matrix[i * ranks + rank] != rank * 100 + i;
    CHECK_EQ(wrong, 0);
    MPI_Type_free(&column);
    MPI_Type_free(&bare);
    free(matrix);
}

static void external(void)
{
    const int numbers[3] = { 1, -2, 0x01020304 };
    const unsigned char wanted[12] = { 0, 0, 0, 1, 255, 255, 255, 254, 1, 2, 3, 4 };
    unsigned char packed[12];
    int back[3] = { 0 };
    MPI_Aint at = 0, size = -1;
    MPI_Pack_external_size("external32", 3, MPI_INT, &size);
    CHECK_EQ(size, 12);
    MPI_Pack_external("external32", numbers, 3, MPI_INT, packed, 12, &at);
    CHECK(memcmp(packed, wanted, 12) == 0, "external32 is big-endian");
    at = 0;
    MPI_Unpack_external("external32", packed, 12, &at, back, 3, MPI_INT);
    CHECK(memcmp(back, numbers, sizeof back) == 0, "the numbers again");
}

static void envelope(void)
{
    MPI_Datatype type, inner;
    int integers = -1, addresses = -1, types = -1, combiner = -1, numbers[3] = { 0 };
    MPI_Aint places[1] = { 0 };
    MPI_Type_vector(4, 2, 9, MPI_INT, &type);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    CHECK_EQ(combiner, MPI_COMBINER_VECTOR);
    CHECK(integers == 3 && addresses == 0 && types == 1, "three numbers and a type");
    MPI_Type_get_contents(type, 3, 0, 1, numbers, places, &inner);
    CHECK(numbers[0] == 4 && numbers[1] == 2 && numbers[2] == 9, "as it was made");
    CHECK(inner == MPI_INT, "of int");
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    try_shape(make_contiguous);
    try_shape(make_vector);
    try_shape(make_hvector);
    try_shape(make_indexed);
    try_shape(make_hindexed);
    try_shape(make_indexed_block);
    try_shape(make_subarray);
    try_shape(make_resized);
    try_shape(make_nested);
    try_shape(make_dup);
    try_shape(make_darray);
    topic("records");
    records();
    topic("half an instance");
    partial();
    topic("absolute addresses");
    scattered();
    topic("long with gaps");
    long_with_gaps();
    topic("transposed matrix");
    transpose();
    topic("columns of a matrix");
    columns_of_a_matrix();
    topic("external32");
    external();
    topic("envelope");
    envelope();
    return check_end();
}
