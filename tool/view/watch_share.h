/* The memory that a watched run and its page share (watch.h). */
#ifndef LEAT_WATCH_SHARE_H
#define LEAT_WATCH_SHARE_H

#include "view_serve.h"
#include "watch.h"

enum watch_end { WATCH_RUNS, WATCH_DONE, WATCH_FAILED, WATCH_INTERRUPTED };

struct watch_share {
    atomic_bool is_wanted;   /* by the page */
    _Atomic uint64_t change; /* odd: the run is writing */
    /* Written by the run: */
    uint32_t run; /* grows with each watch_begin */
    enum watch_end end;
    double seconds; /* since watch_open, at the last sample */
    struct watch_curves of;
    struct watch_sample last;
    uint32_t samples, every, skipped;              /* every: of how many one is kept */
    double kept[WATCH_SAMPLES][WATCH_COLUMNS_MAX]; /* the last one, at [samples], may be replaced */
    bool has_last;
    uint32_t tasks;
    struct watch_task task[WATCH_TASKS_MAX];
};

/* The child: serves until the run closes `run`, or is gone. Its first line on `report` is the
 * address, or nothing after a complaint. */
struct watch_page {
    struct watch_share *share;
    struct view_serve *serve;
    const char *name, *store;
    int run, report;
};
_Noreturn void watch_serve(const struct watch_page *page);

#endif
