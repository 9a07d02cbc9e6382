/* Process topologies, and collectives among neighbours. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS_MAX = 8 };

static void dims(void)
{
    int three[3] = { 0, 0, 0 }, fixed[2] = { 0, 1 };
    MPI_Dims_create(ranks, 3, three);
    CHECK_EQ(three[0] * three[1] * three[2], ranks);
    CHECK(three[0] >= three[1] && three[1] >= three[2], "dimensions that do not grow");
    MPI_Dims_create(ranks, 2, fixed);
    CHECK_EQ(fixed[0], ranks);
}

/* Rows are periodic, columns are not. */
static MPI_Comm grid(int lens[2])
{
    const int periods[2] = { 1, 0 };
    MPI_Comm comm;
    lens[0] = lens[1] = 0;
    MPI_Dims_create(ranks, 2, lens);
    MPI_Cart_create(MPI_COMM_WORLD, 2, lens, periods, 0, &comm);
    return comm;
}

static void cartesian(void)
{
    int lens[2], got[2], periods[2], at[2], rank = -1, from = -1, to = -1, kind = -1, ndims = -1;
    MPI_Comm comm = grid(lens), row;
    MPI_Topo_test(comm, &kind);
    CHECK_EQ(kind, MPI_CART);
    MPI_Cartdim_get(comm, &ndims);
    CHECK_EQ(ndims, 2);
    MPI_Cart_get(comm, 2, got, periods, at);
    CHECK(got[0] == lens[0] && got[1] == lens[1], "the lengths that were given");
    CHECK(at[0] == me / lens[1] && at[1] == me % lens[1], "coordinates in the order of ranks");
    MPI_Cart_rank(comm, at, &rank);
    CHECK_EQ(rank, me);
    at[0] += lens[0]; /* once round */
    MPI_Cart_rank(comm, at, &rank);
    CHECK_EQ(rank, me);
    MPI_Cart_coords(comm, ranks - 1, 2, at);
    CHECK(at[0] == lens[0] - 1 && at[1] == lens[1] - 1, "the last rank in the last corner");
    MPI_Cart_shift(comm, 0, 1, &from, &to);
    CHECK_EQ(to, (me + lens[1]) % ranks);
    CHECK_EQ(from, (me - lens[1] + ranks) % ranks);
    MPI_Cart_shift(comm, 1, 1, &from, &to);
    CHECK_EQ(to, me % lens[1] == lens[1] - 1 ? MPI_PROC_NULL : me + 1);
    CHECK_EQ(from, me % lens[1] == 0 ? MPI_PROC_NULL : me - 1);
    const int keep[2] = { 0, 1 };
    int size = -1;
    MPI_Cart_sub(comm, keep, &row);
    MPI_Comm_size(row, &size);
    MPI_Comm_rank(row, &rank);
    CHECK_EQ(size, lens[1]);
    CHECK_EQ(rank, me % lens[1]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&comm);
}

/* A value moves along the shift, and the edges receive nothing. */
static void shifted(void)
{
    int lens[2], from = -1, to = -1, in = -5;
    MPI_Comm comm = grid(lens);
    MPI_Cart_shift(comm, 1, 1, &from, &to);
    MPI_Sendrecv(&me, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(in, from == MPI_PROC_NULL ? -5 : from);
    MPI_Comm_free(&comm);
}

/* ---- neighbours: each call on the communicator, checked against the list of neighbours ------- */

struct neighbours {
    MPI_Comm comm;
    int in_count, out_count;
    int in[NEIGHBOURS_MAX], out[NEIGHBOURS_MAX]; /* MPI_PROC_NULL: none, its place stays */
};

static void gather_of_neighbours(const struct neighbours *n)
{
    int got[NEIGHBOURS_MAX], late[NEIGHBOURS_MAX], lens[NEIGHBOURS_MAX], places[NEIGHBOURS_MAX];
    int mine[3] = { me, me + 1000, me + 2000 }, parts[3 * NEIGHBOURS_MAX], wrong = 0;
    MPI_Request request;
    for (int i = 0; i < NEIGHBOURS_MAX; i++) {
        got[i] = late[i] = -9;
        lens[i] = 3;
        places[i] = 3 * (NEIGHBOURS_MAX - 1 - i); /* backwards */
    }
    for (int i = 0; i < 3 * NEIGHBOURS_MAX; i++)
        parts[i] = -9;
    MPI_Neighbor_allgather(mine, 1, MPI_INT, got, 1, MPI_INT, n->comm);
    MPI_Ineighbor_allgather(mine, 1, MPI_INT, late, 1, MPI_INT, n->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgatherv(mine, 3, MPI_INT, parts, lens, places, MPI_INT, n->comm);
    for (int i = 0; i < n->in_count; i++) {
        const bool none = n->in[i] == MPI_PROC_NULL;
        wrong += got[i] != (none ? -9 : n->in[i]);
        wrong += late[i] != (none ? -9 : n->in[i]);
        for (int k = 0; k < 3; k++)
            wrong += parts[places[i] + k] != (none ? -9 : n->in[i] + 1000 * k);
    }
    CHECK_EQ(wrong, 0);
}

/* What `from` sends to `to`; the same in both directions if a pair has two (a ring of two ranks).
 */
static int between(int from, int to)
{
    return 10000 + from * 100 + to;
}

static void exchange_of_neighbours(const struct neighbours *n)
{
    int out[NEIGHBOURS_MAX], got[4][NEIGHBOURS_MAX], ones[NEIGHBOURS_MAX], places[NEIGHBOURS_MAX];
    int wrong = 0;
    MPI_Aint offsets[NEIGHBOURS_MAX];
    MPI_Datatype types[NEIGHBOURS_MAX];
    MPI_Request request;
    for (int i = 0; i < NEIGHBOURS_MAX; i++) {
        ones[i] = 1;
        places[i] = i;
        offsets[i] = (MPI_Aint)((size_t)i * sizeof(int));
        types[i] = MPI_INT;
        out[i] = i < n->out_count ? between(me, n->out[i]) : -1;
        for (int k = 0; k < 4; k++)
            got[k][i] = -9;
    }
    MPI_Neighbor_alltoall(out, 1, MPI_INT, got[0], 1, MPI_INT, n->comm);
    MPI_Neighbor_alltoallv(out, ones, places, MPI_INT, got[1], ones, places, MPI_INT, n->comm);
    MPI_Neighbor_alltoallw(out, ones, offsets, types, got[2], ones, offsets, types, n->comm);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, got[3], 1, MPI_INT, n->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < n->in_count; i++)
            wrong += got[k][i] != (n->in[i] == MPI_PROC_NULL ? -9 : between(n->in[i], me));
    CHECK_EQ(wrong, 0);
}

static void cartesian_neighbours(void)
{
    int lens[2];
    struct neighbours n = { .comm = grid(lens), .in_count = 4, .out_count = 4 };
    for (int d = 0; d < 2; d++)
        MPI_Cart_shift(n.comm, d, 1, &n.in[2 * d], &n.in[2 * d + 1]);
    memcpy(n.out, n.in, sizeof n.in);
    gather_of_neighbours(&n);
    exchange_of_neighbours(&n);
    MPI_Comm_free(&n.comm);
}

/* A star: rank 0 is connected to all (at most 7), all to rank 0. */
static void graph(void)
{
    const int leaves = ranks - 1 < 7 ? ranks - 1 : 7, members = leaves + 1;
    int index[8], edges[14], kind = -1, count = -1, nodes = -1, links = -1;
    MPI_Comm comm;
    if (ranks == 1) return;
    for (int i = 0; i < leaves; i++) {
        edges[i] = i + 1;
        edges[leaves + i] = 0;
    }
    for (int i = 0; i < members; i++)
        index[i] = leaves + i;
    MPI_Graph_create(MPI_COMM_WORLD, members, index, edges, 0, &comm);
    CHECK((comm != MPI_COMM_NULL) == (me < members), "a communicator for %d ranks", members);
    if (comm == MPI_COMM_NULL) return;
    MPI_Topo_test(comm, &kind);
    CHECK_EQ(kind, MPI_GRAPH);
    MPI_Graphdims_get(comm, &nodes, &links);
    CHECK_EQ(nodes, members);
    CHECK_EQ(links, 2 * leaves);
    MPI_Graph_neighbors_count(comm, me, &count);
    CHECK_EQ(count, me == 0 ? leaves : 1);
    struct neighbours n = { .comm = comm, .in_count = count, .out_count = count };
    MPI_Graph_neighbors(comm, me, count, n.in);
    memcpy(n.out, n.in, sizeof n.in);
    CHECK_EQ(n.in[0], me == 0 ? 1 : 0);
    gather_of_neighbours(&n);
    exchange_of_neighbours(&n);
    MPI_Comm_free(&comm);
}

static int weight_of(int from, int to)
{
    return 1 + from * ranks + to;
}

/* Makes the graph from lists of neighbours, or from edges that every rank reports for its left. */
static void make_graph(struct neighbours *n, bool adjacent, const int steps[2])
{
    int in_weights[2], out_weights[2], edges[2], degree = n->out_count;
    for (int i = 0; i < degree; i++) {
        in_weights[i] = weight_of(n->in[i], me);
        out_weights[i] = weight_of(me, n->out[i]);
    }
    if (adjacent) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, n->in, in_weights, degree, n->out,
                                       out_weights, MPI_INFO_NULL, 0, &n->comm);
        return;
    }
    for (int i = 0; i < degree; i++) {
        edges[i] = (left + steps[i]) % ranks;
        out_weights[i] = weight_of(left, edges[i]);
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &left, &degree, edges, out_weights, MPI_INFO_NULL, 0,
                          &n->comm);
}

/* Every rank sends to the next and, among more than three, to the third next. */
static void distributed_graph(bool adjacent)
{
    const int steps[2] = { 1, 3 }, count = ranks > 3 ? 2 : 1;
    struct neighbours n = { .in_count = count, .out_count = count };
    int in_count = -1, out_count = -1, weighted = -1, kind = -1, sum = 0, wanted = 0, wrong = 0;
    int in_weights[2], out_weights[2];
    for (int i = 0; i < count; i++) {
        n.out[i] = (me + steps[i]) % ranks;
        n.in[i] = (me + ranks - steps[i] % ranks) % ranks;
        wanted += n.out[i] + n.in[i];
    }
    make_graph(&n, adjacent, steps);
    MPI_Topo_test(n.comm, &kind);
    CHECK_EQ(kind, MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(n.comm, &in_count, &out_count, &weighted);
    CHECK_EQ(in_count, count);
    CHECK_EQ(out_count, count);
    CHECK_EQ(weighted, 1);
    MPI_Dist_graph_neighbors(n.comm, count, n.in, in_weights, count, n.out, out_weights);
    for (int i = 0; i < count; i++) { /* in any order */
        sum += n.in[i] + n.out[i];
        wrong += in_weights[i] != weight_of(n.in[i], me);
        wrong += out_weights[i] != weight_of(me, n.out[i]);
    }
    CHECK_EQ(sum, wanted);
    CHECK_EQ(wrong, 0);
    gather_of_neighbours(&n);
    exchange_of_neighbours(&n);
    MPI_Comm_free(&n.comm);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    topic("dimensions");
    dims();
    topic("cartesian grid");
    cartesian();
    shifted();
    topic("neighbours in a grid");
    cartesian_neighbours();
    topic("graph");
    graph();
    topic("distributed graph, adjacent");
    distributed_graph(true);
    topic("distributed graph");
    distributed_graph(false);
    return check_end();
}
