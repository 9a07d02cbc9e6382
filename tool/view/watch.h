/*
 * --view of leat sim, sweep and run: a page that shows a run while it goes on.
 *
 *     watch_open(args, name, store)        a child serves the page; the address is on stderr
 *     watch_begin(&curves)                 a run begins: what its samples are
 *       if (watch_wants())                 one load of memory: the child wants to know more
 *         watch_put(&sample)
 *     watch_put(&last sample)
 *     watch_close(code)                    the page says how it has ended
 *
 * The child and the run share memory, in which the run only writes: no call of the run waits for
 * the child, or for a browser. What is simulated does not depend on it. Without --view all of this
 * does nothing, and watch_wants is false.
 *
 * A sample has numbers that the run knows anyway, mostly counts since its beginning; curves are
 * made of them by the child. There are WATCH_SAMPLES at most: of a long run each second one is
 * kept, then each fourth, and so on.
 */
#ifndef LEAT_WATCH_H
#define LEAT_WATCH_H

#include "tool.h"

/* clang-format off */
#define OPTIONS_OF_WATCH \
    { "--view", "[ADDRESS:PORT]", "serve a page that shows the run (default: a free port of " \
                                  "127.0.0.1)" }, \
    { "--token-file", "FILE", "the page of --view needs the token in FILE" }
#define WATCH_OPTIONS "--view --token-file"
/* clang-format on */

enum {
    WATCH_SAMPLES = 512,
    WATCH_COLUMNS_MAX = 10,
    WATCH_CURVES_MAX = 6,
    WATCH_TASKS_MAX = 2048,
    WATCH_LINES_MAX = 64,
    WATCH_FACTS_MAX = 12,
    WATCH_NAME_CAP = 64,
    WATCH_TEXT_CAP = 256,
};

/* Column 0 of each sample: seconds since watch_open. */
enum { WATCH_SECONDS };

/* Of column `of`; with `per`: its growth divided by that of the column `per`. */
struct watch_curve {
    char name[WATCH_NAME_CAP], unit[WATCH_NAME_CAP];
    uint32_t of, per;
    bool is_ratio;
    double factor;
};

struct watch_curves {
    char x_name[WATCH_NAME_CAP];
    uint32_t x, columns; /* x: the column along the axis */
    double x_factor;
    struct watch_curve curve[WATCH_CURVES_MAX];
    uint32_t curves;
};

struct watch_task {
    uint32_t port;
    char does[WATCH_NAME_CAP]; /* "computing", "MPI_Recv" ... */
    double seconds;            /* its simulated time */
    uint64_t sent, received;
};

struct watch_fact {
    char key[WATCH_NAME_CAP];
    double value;
};

struct watch_sample {
    double share; /* of the work that is done; below 0: nobody knows */
    char text[WATCH_TEXT_CAP];
    double column[WATCH_COLUMNS_MAX]; /* column 0 is set by watch_put */
    struct watch_fact fact[WATCH_FACTS_MAX];
    uint32_t facts;
    char line[WATCH_LINES_MAX][WATCH_TEXT_CAP]; /* what runs now */
    uint32_t lines;
};

/* DONE, also without --view; WRONG or FAILED after a complaint. `name`: of what runs, lent for the
 * call; `store`: a file that the run fills, which the page shows; NULL: none. */
int watch_open(const struct arguments *args, const char *name, const char *store);

/* For a child that continues with what this process does. */
void watch_leave(void);

void watch_begin(const struct watch_curves *curves);
bool watch_wants(void);

/* The sample is large: it is the caller's, or watch_blank's. `task`: the first WATCH_TASKS_MAX at
 * most are shown. */
void watch_put(const struct watch_sample *sample);
void watch_put_tasks(const struct watch_sample *sample, const struct watch_task *task,
                     uint32_t tasks);
struct watch_sample *watch_blank(void);
void watch_fact(struct watch_sample *sample, const char *key, double value);

/* The run has ended with this exit code. Returns it. */
int watch_close(int code);

#endif
