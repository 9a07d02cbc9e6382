/*
 * Workers of one machine (graph_workers.h), each a POSIX thread; the host is this one.
 */
#include "graph_workers.h"
#include <sched.h>

static bool take_cells(struct leat_poets_workers *workers)
{
    const struct leat_poets_workers_cell *cell;
    bool any = false;
    for (uint32_t i = 0; i < workers->count; i++)
        while ((cell = leat_poets_workers_oldest(workers, i))) {
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

static bool is_unanimous(struct leat_poets_workers *workers)
{
    if (!workers->run->machine->has_hardware_idle) return true;
    const bool unanimous = leat_poets_workers_vote(workers);
    leat_poets_workers_resume(workers);
    return unanimous;
}

static void host_to_the_end(struct leat_poets_workers *workers)
{
    struct leat_poets_run *run = workers->run;
    const double began = leat_poets_run_seconds();
    double supervised = began;
    uint32_t idle_steps = 0;
    unsigned without_work = 0;
    while (!leat_poets_graph_host_is_over(&run->host)) {
        leat_poets_run_check_end(run, began);
        leat_poets_run_progress(run, began, leat_poets_workers_received(workers));
        leat_poets_graph_externals_serve(&run->host, 0);
        if (take_cells(workers)) {
            without_work = idle_steps = 0;
            continue;
        }
        leat_poets_graph_host_flush(&run->host);
        leat_poets_workers_supervise(workers, &supervised);
        if (run->host.app.state == LEAT_POETS_APP_RUNNING && leat_poets_workers_is_idle(workers)) {
            idle_steps = is_unanimous(workers) ? idle_steps + 1 : 0;
            if (idle_steps >= leat_poets_run_idle_steps(run)) leat_poets_run_end_idle(run);
        }
        leat_poets_workers_rest(without_work++);
    }
}

bool leat_poets_run_local(struct leat_poets_run *run)
{
    struct leat_poets_workers workers;
    bool good = leat_poets_workers_make(&workers, run);
    if (good) {
        run->host.send = send_to_thread;
        run->host.engine = &workers;
        leat_poets_graph_host_begin(&run->host);
        good = leat_poets_workers_start(&workers, 0);
        if (good) host_to_the_end(&workers);
    }
    leat_poets_workers_end(&workers);
    return good;
}
