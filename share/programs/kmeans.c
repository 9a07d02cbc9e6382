/*
 * k-means: finds the centres of clusters of points in a plane. Each rank has a share of the points.
 * In every step it adds up the points nearest to each centre; MPI_Allreduce adds up the ranks' sums
 * and counts, and each centre moves to the mean of its points, until none moves.
 *
 * Coordinates are integers, so the order of additions does not matter: any number of ranks finds
 * the same centres in the same steps. Rank 0 finds them again from all points, without MPI, and
 * compares. The argument is the number of points.
 *
 *   mpicc -O2 -o kmeans kmeans.c
 *   leat run --fabric ring16 -n 16 -- ./kmeans 4000
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CENTRES = 8, STEPS_MAX = 1000, SPREAD = 12000 };
static const uint64_t SEED = 1957; /* the year of Lloyd's method */

struct point {
    int32_t x, y;
};

struct sums {
    int64_t x[CENTRES], y[CENTRES], count[CENTRES];
};

/* splitmix64, of the i-th number and not of the numbers before it: all ranks know all points. */
static uint64_t random_at(uint64_t i)
{
    uint64_t z = SEED + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* 16 bits of a number. */
static int part(uint64_t number, int which)
{
    return (int)(number >> 16 * which & 0xFFFF);
}

/* Near one of CENTRES places: the sum of two uniform numbers is likely to be near its mean. */
static struct point point_at(int64_t i)
{
    const uint64_t place = random_at((uint64_t)i % CENTRES);
    const uint64_t r = random_at(CENTRES + (uint64_t)i);
    return (struct point){
        part(place, 0) + part(r, 0) % SPREAD + part(r, 1) % SPREAD - SPREAD,
        part(place, 1) + part(r, 2) % SPREAD + part(r, 3) % SPREAD - SPREAD,
    };
}

static int64_t distance2(struct point a, struct point b)
{
    const int64_t x = a.x - b.x, y = a.y - b.y;
    return x * x + y * y;
}

static int nearest(struct point p, const struct point centre[CENTRES])
{
    int best = 0;
    for (int k = 1; k < CENTRES; k++)
        if (distance2(p, centre[k]) < distance2(p, centre[best])) best = k;
    return best;
}

static void add_up(int64_t from, int64_t to, const struct point centre[CENTRES], struct sums *s)
{
    memset(s, 0, sizeof *s);
    for (int64_t i = from; i < to; i++) {
        const struct point p = point_at(i);
        const int k = nearest(p, centre);
        s->x[k] += p.x;
        s->y[k] += p.y;
        s->count[k]++;
    }
}

/* How many centres have moved. One without points stays. */
static int move(struct point centre[CENTRES], const struct sums *s)
{
    int moved = 0;
    for (int k = 0; k < CENTRES; k++) {
        if (!s->count[k]) continue;
        const struct point mean = { (int32_t)(s->x[k] / s->count[k]),
                                    (int32_t)(s->y[k] / s->count[k]) };
        moved += mean.x != centre[k].x || mean.y != centre[k].y;
        centre[k] = mean;
    }
    return moved;
}

static void begin(struct point centre[CENTRES], int64_t points)
{
    for (int k = 0; k < CENTRES; k++)
        centre[k] = point_at(k * points / CENTRES);
}

static int find_together(struct point centre[CENTRES], int64_t from, int64_t to)
{
    struct sums mine, all;
    int steps = 0, moved = 1;
    MPI_Bcast(centre, 2 * CENTRES, MPI_INT32_T, 0, MPI_COMM_WORLD);
    for (; moved && steps < STEPS_MAX; steps++) {
        add_up(from, to, centre, &mine);
        MPI_Allreduce(&mine, &all, sizeof all / sizeof(int64_t), MPI_INT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        moved = move(centre, &all);
    }
    return steps;
}

static int find_alone(struct point centre[CENTRES], int64_t points)
{
    struct sums all;
    int steps = 0, moved = 1;
    begin(centre, points);
    for (; moved && steps < STEPS_MAX; steps++) {
        add_up(0, points, centre, &all);
        moved = move(centre, &all);
    }
    return steps;
}

int main(int argc, char **argv)
{
    int me, ranks, is_right = 1;
    struct point centre[CENTRES] = { 0 }, alone[CENTRES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t points = argc > 1 ? atoi(argv[1]) : 4000;
    if (points < CENTRES) {
        if (me == 0) fprintf(stderr, "kmeans: %s points, expected %d and more\n", argv[1], CENTRES);
        MPI_Finalize();
        return 2;
    }
    if (me == 0) begin(centre, points);
    const int steps = find_together(centre, me * points / ranks, (me + 1) * points / ranks);

    int64_t mine = 0, all;
    for (int64_t i = me * points / ranks; i < (me + 1) * points / ranks; i++)
        mine += distance2(point_at(i), centre[nearest(point_at(i), centre)]);
    MPI_Reduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) {
        is_right = find_alone(alone, points) == steps && !memcmp(alone, centre, sizeof alone);
        printf("kmeans: %lld points, %d centres, %d steps, sum of squared distances %lld: %s\n",
               (long long)points, CENTRES, steps, (long long)all, is_right ? "right" : "WRONG");
    }
    MPI_Finalize();
    return !is_right;
}
