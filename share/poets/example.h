/*
 * Shared by the examples in C: reads the schedule from the command line and runs the application.
 *
 *   cc -o heat_plate heat_plate.c $(pkg-config --cflags --libs leat-poets)
 *   ./heat_plate [free|fifo|lifo|random|delay:P [SEED]]
 *
 * Results go to standard output, the reason why the run ended to standard error.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <leat/poets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct leat_poets_options example_options(int argc, char **argv)
{
    static const char *const names[] = { "free", "fifo", "lifo", "random", "delay:" };
    struct leat_poets_options o = { 0 };
    for (int i = 0; argc > 1 && i < 5; i++) {
        if (strncmp(argv[1], names[i], strlen(names[i])) != 0) continue;
        o.schedule = (enum leat_poets_schedule)i;
        o.delay = i == LEAT_POETS_SCHEDULE_DELAY ? atof(argv[1] + strlen(names[i])) : 0;
    }
    o.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    return o;
}

/* Runs it and prints why it ended; 0: success. */
static int example_run(struct leat_poets_graph *g, const struct leat_poets_options *o)
{
    struct leat_poets_result r;
    if (!leat_poets_graph_run(g, o, &r)) {
        fprintf(stderr, "%s\n", leat_poets_graph_why(g));
        return 1;
    }
    fprintf(stderr, "%s after %.3f s: %llu packets received; states %016llx\n", r.reason_name,
            r.seconds, (unsigned long long)r.receives, (unsigned long long)r.states);
    return r.reason != LEAT_POETS_END_SUCCESS && r.reason != LEAT_POETS_END_STOPPED;
}

#endif
