/*
 * A system of n linear equations, solved by one task for each coefficient (spec/atm.md, 7.3). This
 * is the start program; the other tasks run srp.
 *
 *     leat run --fabric clos444 -- srl system.in
 *
 * The file has n rows of n + 1 integers, up to an empty line or its end; the last one of a row is
 * its right side. The triangulated system and the solution are appended to it.
 */
#include "numbers.h"
#include <leat/atm_task.h>
#include <stdlib.h>

static struct shmst *dev;
static struct prcsdescstr *prcstab;

static void send_coefficient(int me, int n, int coefficient)
{
    const float value = (float)coefficient;
    atminitsend(dev);
    atmputnint(dev, &n, 1);
    atmputnfloat(dev, &value, 1);
    atmsnd(dev, prcstab, "srp", me, me);
}

static float receive(int type)
{
    float value;
    atmrcv(dev, type);
    atmgetnfloat(dev, &value, 1);
    dev->rlcked = 0;
    return value;
}

static void write_result(FILE *file, int n, const float *triangle, const float *x)
{
    fputc('\n', file);
    for (int row = 0; row < n; row++, triangle += n + 1) {
        for (int i = 0; i < n; i++)
            fprintf(file, "%f ", (double)triangle[i]);
        fprintf(file, " %f\n", (double)triangle[n]);
    }
    for (int i = 0; i < n; i++)
        fprintf(file, "\nx%d = %f", i + 1, (double)x[i]);
}

int main(int argc, char **argv)
{
    struct source source;
    if (atmjoin(&dev, &prcstab)) return 1;
    if (argc != 2) {
        fprintf(stderr, "srl: expected a file with a system of equations, as in: srl system.in\n");
        return 2;
    }
    source_open(&source, argv[1]);
    const struct rows system = source_rows(&source, "");
    const int n = system.count, workers = n * (n + 1);
    if (system.columns != n + 1)
        source_refuse(&source,
                      "%d rows of %d numbers, expected one number more than there are rows", n,
                      system.columns);

    float *triangle = malloc((size_t)workers * sizeof *triangle);
    float *x = malloc((size_t)n * sizeof *x);
    if (!triangle || !x) atmfail(dev, "no memory for the system");
    for (int me = 0; me < workers; me++)
        atmstart(dev, prcstab, "srp", me);
    for (int me = 0; me < workers; me++)
        send_coefficient(me, n, system.value[me]);
    for (int me = 0; me < workers; me++)
        triangle[me] = receive(me);
    for (int i = 1; i <= n; i++)
        x[i - 1] = receive(i * (n + 1) - 1);

    write_result(source_append(&source), n, triangle, x);
    source_close(&source);
    free(triangle);
    free(x);
    free(system.value);
    return 0;
}
