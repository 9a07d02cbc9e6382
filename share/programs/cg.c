/*
 * Conjugate gradients: solves Poisson's equation on the unit square. The Laplacian is the stencil
 * of five points; the rows of its grid are spread over the ranks.
 *
 *              row - 1      halo: the last row of the rank before
 *         +-------|-------+
 *         |  x -- x -- x  | own rows
 *         +-------|-------+
 *              row + 1      halo: the first row of the rank behind
 *
 * The solution is known: second differences are exact for polynomials of the third degree, so the
 * grid's solution is that of the equation, but for rounding. An iteration exchanges halos with two
 * neighbours and sums one real number over all ranks twice. (leat run --collectives network leaves
 * such sums to the hosts; network,reproducible does not.) The argument is the number of rows.
 *
 *   mpicc -O2 -o cg cg.c
 *   leat run --fabric torus:4,4 -n 16 -- ./cg 48
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const double TOLERANCE = 1e-10; /* of the residual, relative to the right side's */
static const double ERROR_MAX = 1e-8;

static int me, ranks;
static int n = 48;      /* points in a row, and rows */
static int first, rows; /* own rows: first .. first + rows - 1 */

/* The point of own row i, or of a halo (-1, rows), in column j. */
static double *at(double *grid, int i, int j)
{
    return &grid[(size_t)(i + 1) * (size_t)n + (size_t)j];
}

static double *make_grid(void)
{
    double *grid = calloc((size_t)(rows + 2) * (size_t)n, sizeof *grid);
    if (!grid) MPI_Abort(MPI_COMM_WORLD, 2);
    return grid;
}

/* Cubic in x and in y, and 0 at the border. */
static double solution(double x, double y)
{
    return x * (1 - x) * (1 + x) * y * (1 - y) * (2 - y);
}

/* Its negative Laplacian: (x - x^3)" = -6 x, and (2 y - 3 y^2 + y^3)" = 6 y - 6. */
static double right_side(double x, double y)
{
    return 6 * x * y * (1 - y) * (2 - y) + x * (1 - x) * (1 + x) * (6 - 6 * y);
}

static double dot(double *a, double *b)
{
    double mine = 0, all;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            mine += *at(a, i, j) * *at(b, i, j);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void exchange_halos(double *grid)
{
    const int before = me > 0 ? me - 1 : MPI_PROC_NULL;
    const int behind = me < ranks - 1 ? me + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(at(grid, 0, 0), n, MPI_DOUBLE, before, 0, at(grid, rows, 0), n, MPI_DOUBLE, behind,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(grid, rows - 1, 0), n, MPI_DOUBLE, behind, 1, at(grid, -1, 0), n, MPI_DOUBLE,
                 before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* product = A grid, A the negative Laplacian multiplied by h^2; the border is 0. */
static void multiply(double *grid, double *product)
{
    exchange_halos(grid);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            *at(product, i, j) = 4 * *at(grid, i, j) - *at(grid, i - 1, j) - *at(grid, i + 1, j) -
                                 (j > 0 ? *at(grid, i, j - 1) : 0) -
                                 (j < n - 1 ? *at(grid, i, j + 1) : 0);
}

/* a = x a + y b */
static void combine(double x, double *a, double y, double *b)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            *at(a, i, j) = x * *at(a, i, j) + y * *at(b, i, j);
}

/* The iterations until the residual is small: 0 in exact arithmetic after n * n at most. */
static int solve(double *u, double *residual)
{
    double *direction = make_grid(), *product = make_grid();
    combine(0, direction, 1, residual);
    double old = dot(residual, residual);
    const double enough = TOLERANCE * TOLERANCE * old;
    int iterations = 0;
    while (old > enough && iterations < n * n) {
        multiply(direction, product);
        const double step = old / dot(direction, product);
        combine(1, u, step, direction);
        combine(1, residual, -step, product);
        const double now = dot(residual, residual);
        combine(now / old, direction, 1, residual);
        old = now;
        iterations++;
    }
    free(direction);
    free(product);
    return iterations;
}

/* Not a number is wrong, too. */
static int count_wrong(double *u, double h)
{
    int mine = 0, all;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            const double error = *at(u, i, j) - solution(h * (j + 1), h * (first + i + 1));
            mine += !(error < ERROR_MAX && -error < ERROR_MAX);
        }
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) n = atoi(argv[1]);
    if (n < ranks || n > 10000) {
        if (me == 0)
            fprintf(stderr, "cg: %d rows, expected %d (a row for each rank) to 10000\n", n, ranks);
        MPI_Finalize();
        return 2;
    }
    first = me * n / ranks;
    rows = (me + 1) * n / ranks - first;
    const double h = 1.0 / (n + 1);
    double *u = make_grid(), *residual = make_grid();
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            *at(residual, i, j) = h * h * right_side(h * (j + 1), h * (first + i + 1));
    const int iterations = solve(u, residual);
    const int wrong = count_wrong(u, h);
    if (me == 0)
        printf("cg: %d x %d points, %d iterations, %d errors above %g: %s\n", n, n, iterations,
               wrong, ERROR_MAX, wrong ? "WRONG" : "right");
    MPI_Finalize();
    free(u);
    free(residual);
    return wrong != 0;
}
