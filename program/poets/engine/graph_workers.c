/*
 * Workers of one machine (graph_crew.h), each a POSIX thread; the host is this one.
 */
#include "graph_crew.h"
#include <sched.h>

static bool take_cells(struct leat_poets_crew *crew)
{
    const struct leat_poets_crew_cell *cell;
    bool any = false;
    for (uint32_t i = 0; i < crew->count; i++)
        while ((cell = leat_poets_crew_oldest(crew, i))) {
            const struct leat_poets_crew_cell copy = *cell; /* handling it may take further cells */
            leat_poets_crew_take(crew, i);
            leat_poets_graph_host_packet(&crew->run->host, copy.slot.packet, copy.slot.nflit);
            any = true;
        }
    return any;
}

/* A worker that waits for the host's ring empties this one, so this ends. */
static void send_to_thread(struct leat_poets_graph_host *host, uint32_t thread,
                           const uint8_t *packet, unsigned nflit)
{
    struct leat_poets_crew *crew = host->engine;
    leat_poets_run_show(crew->run, false, thread, packet, nflit);
    while (!leat_poets_crew_from_host(crew, thread, packet, nflit))
        sched_yield();
}

static bool is_unanimous(struct leat_poets_crew *crew)
{
    if (!crew->run->machine->has_hardware_idle) return true;
    const bool unanimous = leat_poets_crew_vote(crew);
    leat_poets_crew_resume(crew);
    return unanimous;
}

static void host_to_the_end(struct leat_poets_crew *crew)
{
    struct leat_poets_run *run = crew->run;
    const double began = leat_poets_run_seconds();
    double supervised = began;
    uint32_t idle_steps = 0;
    unsigned without_work = 0;
    while (!leat_poets_graph_host_is_over(&run->host)) {
        leat_poets_run_check_end(run, began);
        leat_poets_run_progress(run, began, leat_poets_crew_received(crew));
        if (take_cells(crew)) {
            without_work = idle_steps = 0;
            continue;
        }
        leat_poets_graph_host_flush(&run->host);
        leat_poets_crew_supervise(crew, &supervised);
        if (run->host.app.state == LEAT_POETS_APP_RUNNING && leat_poets_crew_is_idle(crew)) {
            idle_steps = is_unanimous(crew) ? idle_steps + 1 : 0;
            if (idle_steps >= leat_poets_run_idle_steps(run)) leat_poets_run_end_idle(run);
        }
        leat_poets_crew_rest(without_work++);
    }
}

bool leat_poets_run_workers(struct leat_poets_run *run)
{
    struct leat_poets_crew crew;
    bool good = leat_poets_crew_make(&crew, run);
    if (good) {
        run->host.send = send_to_thread;
        run->host.engine = &crew;
        leat_poets_graph_host_begin(&run->host);
        good = leat_poets_crew_start(&crew, 0);
        if (good) host_to_the_end(&crew);
    }
    leat_poets_crew_end(&crew);
    return good;
}
