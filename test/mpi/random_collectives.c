/*
 * Random sequences of collective operations: on random communicators, with random types,
 * operations, roots and lengths, waiting or not, in place or not. The report is a hash of all
 * results of all ranks, which must be the same under any launcher.
 *     random_collectives [SEED [OPERATIONS]]
 * Numbers are small, so that sums of real numbers are exact in any order.
 */
#include "check.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMS = 6, WAITING = 4, OCTETS = 1 << 19 };

struct started {
    MPI_Request request;
    uint8_t *out;
    size_t octets;
};

static struct {
    uint64_t random; /* the same at all ranks */
    uint64_t hash;   /* of this rank's results */
    MPI_Comm comm[COMMS];
    int comms;
    struct started started[WAITING];
    int waiting;
    uint64_t fill; /* of the contents, which differ between ranks */
} all;

/* splitmix64 */
static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static int draw(int below)
{
    return (int)(mix(&all.random) % (uint64_t)below);
}

static void hash(const void *octets, size_t len)
{
    const uint8_t *octet = octets;
    for (size_t i = 0; i < len; i++)
        all.hash = (all.hash ^ octet[i]) * 0x100000001b3u;
}

/* ---- types and operations -------------------------------------------------------------------- */

enum class { SIGNED, UNSIGNED, REAL, PAIR };

struct kind {
    MPI_Datatype type;
    enum class class;
    size_t octets; /* of an element in memory */
};

static struct kind draw_kind(void)
{
    struct int_int {
        int value, index;
    };
    struct long_int {
        long value;
        int index;
    };
    struct double_int {
        double value;
        int index;
    };
    const struct kind kinds[] = {
        { MPI_INT, SIGNED, 4 },
        { MPI_LONG, SIGNED, 8 },
        { MPI_SHORT, SIGNED, 2 },
        { MPI_SIGNED_CHAR, SIGNED, 1 },
        { MPI_INT64_T, SIGNED, 8 },
        { MPI_UNSIGNED, UNSIGNED, 4 },
        { MPI_UINT64_T, UNSIGNED, 8 },
        { MPI_UINT16_T, UNSIGNED, 2 },
        { MPI_UNSIGNED_CHAR, UNSIGNED, 1 },
        { MPI_FLOAT, REAL, 4 },
        { MPI_DOUBLE, REAL, 8 },
        { MPI_2INT, PAIR, sizeof(struct int_int) },
        { MPI_LONG_INT, PAIR, sizeof(struct long_int) },
        { MPI_DOUBLE_INT, PAIR, sizeof(struct double_int) },
    };
    return kinds[draw((int)(sizeof kinds / sizeof *kinds))];
}

static void put_larger(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *len * size; i++)
        if (((uint8_t *)in)[i] > ((uint8_t *)inout)[i]) ((uint8_t *)inout)[i] = ((uint8_t *)in)[i];
}

static MPI_Op draw_op(enum class class)
{
    static MPI_Op own = MPI_OP_NULL;
    const MPI_Op of_integers[] = { MPI_SUM,  MPI_MIN,  MPI_MAX, MPI_LAND, MPI_LOR,
                                   MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_PROD };
    const MPI_Op of_reals[] = { MPI_SUM, MPI_MIN, MPI_MAX },
                 of_pairs[] = { MPI_MINLOC, MPI_MAXLOC };
    if (own == MPI_OP_NULL) MPI_Op_create(put_larger, 1, &own);
    if (class == PAIR) return of_pairs[draw(2)];
    if (class == REAL) return of_reals[draw(3)];
    return draw(12) ? of_integers[draw(10)] : own;
}

/* Contents that differ between ranks; octets between the parts of a pair are 0. */
static void fill(const struct kind *kind, void *elements, size_t count)
{
    uint8_t *at = elements;
    memset(elements, 0, count * kind->octets);
    for (size_t i = 0; i < count; i++, at += kind->octets) {
        const uint64_t any = mix(&all.fill);
        const int64_t small = (int64_t)(any % 201) - 100;
        const float single = (float)small;
        const double real = (double)small / 4;
        const int index = (int)(any >> 40 & 0xff);
        if (kind->type == MPI_FLOAT)
            memcpy(at, &single, sizeof single);
        else if (kind->class == REAL || kind->type == MPI_DOUBLE_INT)
            memcpy(at, &real, sizeof real);
        else if (kind->class == PAIR)
            memcpy(at, &small, kind->type == MPI_2INT ? sizeof(int) : sizeof(long));
        else
            memcpy(at, any & 1 << 20 ? (const void *)&small : (const void *)&any, kind->octets);
        if (kind->class == PAIR)
            memcpy(at + (kind->type == MPI_2INT ? sizeof(int) : 8), &index, sizeof index);
    }
}

static int draw_count(size_t octets)
{
    const int most = (int)(OCTETS / octets) / ranks;
    const int scale = draw(20);
    if (!scale) return draw(most < 3000 ? most : 3000);
    return scale < 3 ? draw(200) : draw(9);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void end_one(int i)
{
    MPI_Wait(&all.started[i].request, MPI_STATUS_IGNORE);
    hash(all.started[i].out, all.started[i].octets);
    free(all.started[i].out);
    all.started[i] = all.started[--all.waiting];
}

static void end_all(void)
{
    while (all.waiting)
        end_one(0);
}

/* ---- operations ------------------------------------------------------------------------------ */

enum operation { BARRIER, BCAST, REDUCE, ALLREDUCE, SCATTER_BLOCK, ALLGATHER, SCAN, EXSCAN, KINDS };

struct call {
    MPI_Comm comm;
    enum operation what;
    struct kind kind;
    MPI_Op op;
    int count, root;
    void *in, *out;
};

static void wait_for(const struct call *c)
{
    switch (c->what) {
    case BARRIER: MPI_Barrier(c->comm); break;
    case BCAST: MPI_Bcast(c->out, c->count, c->kind.type, c->root, c->comm); break;
    case REDUCE: MPI_Reduce(c->in, c->out, c->count, c->kind.type, c->op, c->root, c->comm); break;
    case ALLREDUCE: MPI_Allreduce(c->in, c->out, c->count, c->kind.type, c->op, c->comm); break;
    case SCATTER_BLOCK:
        MPI_Reduce_scatter_block(c->in, c->out, c->count, c->kind.type, c->op, c->comm);
        break;
    case ALLGATHER:
        MPI_Allgather(c->in, c->count, c->kind.type, c->out, c->count, c->kind.type, c->comm);
        break;
    case SCAN: MPI_Scan(c->in, c->out, c->count, c->kind.type, c->op, c->comm); break;
    case EXSCAN: MPI_Exscan(c->in, c->out, c->count, c->kind.type, c->op, c->comm); break;
    case KINDS: break;
    }
}

static void start(const struct call *c, MPI_Request *r)
{
    switch (c->what) {
    case BARRIER: MPI_Ibarrier(c->comm, r); break;
    case BCAST: MPI_Ibcast(c->out, c->count, c->kind.type, c->root, c->comm, r); break;
    case REDUCE:
        MPI_Ireduce(c->in, c->out, c->count, c->kind.type, c->op, c->root, c->comm, r);
        break;
    case ALLREDUCE: MPI_Iallreduce(c->in, c->out, c->count, c->kind.type, c->op, c->comm, r); break;
    case SCATTER_BLOCK:
        MPI_Ireduce_scatter_block(c->in, c->out, c->count, c->kind.type, c->op, c->comm, r);
        break;
    case ALLGATHER:
        MPI_Iallgather(c->in, c->count, c->kind.type, c->out, c->count, c->kind.type, c->comm, r);
        break;
    case SCAN: MPI_Iscan(c->in, c->out, c->count, c->kind.type, c->op, c->comm, r); break;
    case EXSCAN: MPI_Iexscan(c->in, c->out, c->count, c->kind.type, c->op, c->comm, r); break;
    case KINDS: break;
    }
}

/* How many elements of the result this rank has. */
static size_t results(const struct call *c, int rank, int size)
{
    switch (c->what) {
    case BARRIER: return 0;
    case REDUCE: return rank == c->root ? (size_t)c->count : 0;
    case EXSCAN: return rank ? (size_t)c->count : 0;
    case ALLGATHER: return (size_t)c->count * (size_t)size;
    case BCAST:
    case ALLREDUCE:
    case SCATTER_BLOCK:
    case SCAN:
    case KINDS: break;
    }
    return (size_t)c->count;
}

/* `in` and `out`, one after the other; a call that does not wait leaves both to its end. */
static void carry_out(struct call *c)
{
    int rank, size;
    MPI_Comm_rank(c->comm, &rank);
    MPI_Comm_size(c->comm, &size);
    const size_t elements = (size_t)c->count * (size_t)size, half = elements * c->kind.octets;
    uint8_t *both = calloc(2, half + 1);
    const bool waits = draw(3) != 0, in_place = draw(4) == 0;
    if (!both) abort();
    c->out = both;
    c->in = both + half;
    fill(&c->kind, c->in, elements);
    if (c->what == BCAST && rank == c->root) memcpy(c->out, c->in, half);
    if (in_place && c->what != BARRIER && c->what != BCAST &&
        (c->what != REDUCE || rank == c->root)) {
        const size_t own = (size_t)c->count * c->kind.octets;
        if (c->what == ALLGATHER)
            memcpy(both + (size_t)rank * own, c->in, own);
        else
            memcpy(both, c->in, half);
        c->in = MPI_IN_PLACE;
    }
    struct started now = { MPI_REQUEST_NULL, both, results(c, rank, size) * c->kind.octets };
    if (!waits && all.waiting < WAITING) {
        start(c, &now.request);
        all.started[all.waiting++] = now;
        return;
    }
    wait_for(c);
    hash(now.out, now.octets);
    free(both);
}

/* ---- communicators --------------------------------------------------------------------------- */

static void make_comm(void)
{
    MPI_Comm made, from = all.comm[draw(all.comms)];
    if (draw(2)) {
        MPI_Comm_dup(from, &made);
    } else {
        /* Every rank of the world draws the same: colours by world rank. */
        const int colours = 1 + draw(3), turn = draw(100);
        MPI_Comm_split(MPI_COMM_WORLD, (me + turn) % colours, draw(2) ? me : -me, &made);
    }
    if (all.comms == COMMS) {
        const int old = 1 + draw(COMMS - 1);
        MPI_Comm_free(&all.comm[old]);
        all.comm[old] = made;
    } else {
        all.comm[all.comms++] = made;
    }
}

static void do_one(void)
{
    struct call c = { .comm = all.comm[draw(all.comms)], .what = (enum operation)draw(KINDS) };
    int size;
    c.kind = draw_kind();
    c.op = draw_op(c.kind.class);
    c.count = draw_count(c.kind.octets);
    MPI_Comm_size(c.comm, &size);
    c.root = draw(size);
    carry_out(&c);
}

int main(int argc, char **argv)
{
    uint64_t *every = NULL, one = 0xcbf29ce484222325u;
    check_begin(&argc, &argv);
    all.random = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const int operations = argc > 2 ? atoi(argv[2]) : 500;
    all.fill = all.random ^ (uint64_t)(me + 1) << 32;
    all.hash = one;
    all.comm[all.comms++] = MPI_COMM_WORLD;
    for (int i = 0; i < operations; i++) {
        if (draw(60) == 0) {
            end_all();
            make_comm();
        }
        do_one();
        while (all.waiting && draw(2))
            end_one(draw(all.waiting));
    }
    end_all();
    every = calloc((size_t)ranks, sizeof *every);
    topic("random collectives");
    MPI_Gather(&all.hash, 1, MPI_UINT64_T, every, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        one = (one ^ every[i]) * 0x100000001b3u;
    if (!me) printf("%d operations, results %016llx\n", operations, (unsigned long long)one);
    CHECK(all.waiting == 0, "%d operations are not over", all.waiting);
    free(every);
    return check_end();
}
