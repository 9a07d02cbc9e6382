/*
 * Workers of one machine (graph_workers.h) in POSIX threads; the host of all tasks is this one.
 */
#include "graph_workers.h"
#include <sched.h>
#include <stdlib.h>

enum { CELLS_AT_A_TIME = 1 << 14 /* of a worker, before another task has its turn */ };

static bool take_cells(struct leat_poets_workers *workers)
{
    const struct leat_poets_workers_cell *cell;
    bool any = false;
    for (uint32_t i = 0; i < workers->count; i++)
        for (int n = 0; n < CELLS_AT_A_TIME; n++) {
            cell = leat_poets_workers_oldest(workers, i);
            if (!cell) break;
            /* A copy: handling it may take further cells. */
            const struct leat_poets_workers_cell copy = *cell;
            leat_poets_workers_take(workers, i);
            leat_poets_graph_host_packet(&workers->run->host, copy.slot.packet, copy.slot.nflit);
            any = true;
        }
    return any;
}

/* A worker that waits for the host's ring empties this one, so this ends. */
static void send_to_thread(struct leat_poets_graph_host *host, uint32_t thread,
                           const uint8_t *packet, unsigned nflit)
{
    struct leat_poets_workers *workers = host->engine;
    leat_poets_run_show(workers->run, false, thread, packet, nflit);
    while (!leat_poets_workers_from_host(workers, thread, packet, nflit))
        sched_yield();
}

/* What the host knows of a task. */
struct local {
    struct leat_poets_workers *workers;
    double supervised;
    bool voting; /* whether it is to end by idleness; nobody sends until all have voted */
};

static void count_votes(struct local *task)
{
    bool unanimous;
    if (!leat_poets_workers_have_voted(task->workers, &unanimous)) return;
    leat_poets_workers_resume(task->workers);
    task->voting = false;
    leat_poets_run_count_idle(task->workers->run, !unanimous);
}

/* True: there was something to do. */
static bool serve(struct local *task)
{
    struct leat_poets_run *run = task->workers->run;
    if (task->voting) {
        count_votes(task);
        sched_yield();
        return true;
    }
    leat_poets_run_check_end(run);
    leat_poets_graph_externals_serve(&run->host, 0);
    if (take_cells(task->workers)) {
        run->idle_steps = 0;
        return true;
    }
    leat_poets_graph_host_flush(&run->host);
    leat_poets_workers_supervise(task->workers, &task->supervised);
    if (run->host.app.state != LEAT_POETS_APP_RUNNING || !leat_poets_workers_is_idle(task->workers))
        return false;
    if (leat_poets_run_end_held(run)) return false;
    if (run->machine->has_hardware_idle) {
        leat_poets_workers_vote(task->workers);
        task->voting = true;
    } else {
        leat_poets_run_count_idle(run, false);
    }
    return false;
}

static void report_progress(struct leat_poets_runs *runs, const struct leat_poets_crew *crew)
{
    uint64_t receives = 0;
    for (uint32_t k = 0; k < crew->task_count; k++)
        receives += leat_poets_workers_received(&crew->of[k]);
    leat_poets_run_progress(runs, receives);
}

static void host_to_the_end(struct leat_poets_runs *runs, struct leat_poets_crew *crew,
                            struct local *task)
{
    unsigned without_work = 0;
    for (uint32_t over = 0; over < crew->task_count;) {
        bool any = false;
        over = 0;
        for (uint32_t k = 0; k < crew->task_count; k++) {
            if (leat_poets_run_is_over(&runs->run[k])) {
                atomic_store(&crew->of[k].ended, true);
                over++;
            } else {
                any = serve(&task[k]) || any;
            }
        }
        report_progress(runs, crew);
        without_work = any ? 0 : without_work + 1;
        if (!any && over < crew->task_count) leat_poets_workers_rest(without_work - 1);
    }
}

static void begin(struct leat_poets_workers *workers, struct local *task)
{
    struct leat_poets_run *run = workers->run;
    *task = (struct local){ .workers = workers, .supervised = leat_poets_run_seconds() };
    run->host.send = send_to_thread;
    run->host.engine = workers;
    leat_poets_graph_host_begin(&run->host);
}

bool leat_poets_run_local(struct leat_poets_runs *runs)
{
    struct leat_poets_crew crew;
    struct local *task = calloc(runs->count, sizeof *task);
    bool good = leat_poets_crew_make(&crew, runs) && task;
    if (good) {
        for (uint32_t k = 0; k < runs->count; k++)
            begin(&crew.of[k], &task[k]);
        good = leat_poets_crew_start(&crew, 0);
        if (good) host_to_the_end(runs, &crew, task);
    }
    leat_poets_crew_end(&crew);
    free(task);
    return good;
}
