/* Shared by the benchmarks: figures, printed as they are measured and written as JSON at the
 * end. */
#ifndef LEAT_BENCH_FIGURES_H
#define LEAT_BENCH_FIGURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { FIGURES_MAX = 64 };

struct figure {
    char name[64];
    const char *unit, *target;
    double value;
};

static struct figure figures[FIGURES_MAX];
static int figure_count;

/* A figure without a target ("") is neither met nor missed. */
static inline void note(const char *name, double value, const char *unit, const char *target,
                        bool met)
{
    struct figure *f = &figures[figure_count++];
    const char *verdict = met ? "met" : "MISSED";
    *f = (struct figure){ .unit = unit, .target = target, .value = value };
    snprintf(f->name, sizeof f->name, "%s", name);
    printf("%-48s %10.2f %-10s %-22s %s\n", name, value, unit, target, *target ? verdict : "");
    fflush(stdout);
}

static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* An exit code. */
static inline int write_json(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    fputs("[\n", file);
    for (int i = 0; i < figure_count; i++)
        fprintf(file, "  {\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"target\":\"%s\"}%s\n",
                figures[i].name, figures[i].value, figures[i].unit, figures[i].target,
                i + 1 < figure_count ? "," : "");
    fputs("]\n", file);
    return fclose(file) != 0;
}

#endif
