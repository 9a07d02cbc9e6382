/*
 * The product of two matrices of integers, by one task for each element of both (spec/atm.md,
 * 7.4). This is the start program; the other tasks run mmp.
 *
 *     leat run --fabric clos444 -- mml product.in
 *
 * The file has the rows of the first matrix, a line with '*', and the rows of the second, up to a
 * line with '=' or its end. The product is appended to the file, after '='.
 */
#include "numbers.h"
#include <leat/atm_task.h>
#include <stdlib.h>

static struct shmst *dev;
static struct prcsdescstr *prcstab;

static void send_element(int me, const int shape[3], int value)
{
    atminitsend(dev);
    atmputnint(dev, shape, 3);
    atmputnint(dev, &value, 1);
    atmsnd(dev, prcstab, "mmp", me, me);
}

static int receive(int type)
{
    int value;
    atmrcv(dev, type);
    atmgetnint(dev, &value, 1);
    dev->rlcked = 0;
    return value;
}

static void write_result(FILE *file, int m, int n, const int *c)
{
    fputc('=', file);
    for (int i = 0; i < m; i++) {
        fputc('\n', file);
        for (int j = 0; j < n; j++)
            fprintf(file, "%d ", c[i * n + j]);
    }
}

int main(int argc, char **argv)
{
    struct source source;
    if (atmjoin(&dev, &prcstab)) return 1;
    if (argc != 2) {
        fprintf(stderr, "mml: expected a file with two matrices, as in: mml product.in\n");
        return 2;
    }
    source_open(&source, argv[1]);
    const struct rows a = source_rows(&source, "*");
    if (source_is_over(&source)) source_refuse(&source, "the file ends, expected a line with '*'");
    const struct rows b = source_rows(&source, "=");
    const int m = a.count, p = a.columns, n = b.columns;
    if (b.count != p)
        source_refuse(&source,
                      "%d rows of the second matrix, expected %d: the first has as many "
                      "columns",
                      b.count, p);

    const int shape[3] = { m, p, n };
    int *c = malloc((size_t)m * (size_t)n * sizeof *c);
    if (!c) atmfail(dev, "no memory for the product");
    for (int me = 0; me < m * p + p * n; me++)
        atmstart(dev, prcstab, "mmp", me);
    for (int i = 0; i < m * p; i++)
        send_element(i, shape, a.value[i]);
    for (int i = 0; i < p * n; i++)
        send_element(m * p + i, shape, b.value[i]);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            c[i * n + j] = receive(i * p);

    write_result(source_append(&source), m, n, c);
    source_close(&source);
    free(a.value);
    free(b.value);
    free(c);
    return 0;
}
