/* leat run: progress on a terminal, below what the program writes. */
#include "relay.h"
#include "run.h"
#include "run_view.h"
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* A program writes to the terminal, too: then a thread shows both (relay.h). Several silent runs,
 * of an experiment, have one line of their own, which the hub's polls keep up to date. */
static struct {
    const struct leat_hub *hub;
    const char *title; /* of several silent runs; NULL: it is one */
    struct progress of_all;
    atomic_bool is_wanted;   /* the thread that draws would like new figures */
    atomic_bool has_figures; /* at least once */
    _Atomic uint64_t simulated_ps, messages;
} screen;

/* The hub's figures are read where the hub runs, and only as often as they are shown. */
static void take_figures(void)
{
    const uint32_t used = leat_hub_next_slots(screen.hub, 1);
    uint64_t messages = 0;
    for (uint32_t i = 0; i < used; i++)
        messages += leat_hub_task(screen.hub, i)->messages_sent;
    atomic_store(&screen.messages, messages);
    atomic_store(&screen.simulated_ps, leat_hub_now(screen.hub) - RUN_START_PS);
    atomic_store(&screen.is_wanted, false);
    atomic_store(&screen.has_figures, true);
}

static void draw(struct progress *progress)
{
    const double simulated = 1e-12 * (double)atomic_load(&screen.simulated_ps);
    const double real = progress_seconds(progress);
    char messages[PROGRESS_FIGURE_CAP];
    atomic_store(&screen.is_wanted, true); /* for the next time */
    if (!atomic_load(&screen.has_figures)) return;
    progress_show(progress, "%.6f s simulated, %.3g per real second, %s messages", simulated,
                  simulated / real,
                  progress_figure((double)atomic_load(&screen.messages), messages));
}

bool run_screen_poll(void)
{
    if (screen.hub && atomic_load_explicit(&screen.is_wanted, memory_order_relaxed)) take_figures();
    if (screen.hub && watch_wants()) run_view_put(screen.hub);
    if (screen.title && progress_is_due(&screen.of_all))
        progress_show(&screen.of_all, "%s", screen.title);
    return is_interrupted();
}

void run_screen_title(const char *title)
{
    if (!screen.title) progress_begin(&screen.of_all, STDERR_FILENO);
    screen.title = title;
    if (!title) progress_end(&screen.of_all);
}

void run_screen_begin(void)
{
    screen.simulated_ps = screen.messages = 0;
    screen.is_wanted = screen.has_figures = false;
    if (!screen.title) relay_begin(draw);
}

void run_screen_watch(const struct leat_hub *hub)
{
    if (screen.hub && !hub) run_view_put(screen.hub); /* its end */
    screen.hub = hub;
    if (hub) run_view_begin();
}

void run_screen_end(void)
{
    relay_end();
}
