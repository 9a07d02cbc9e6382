/* leat sweep: progress on a terminal. */
#include "sweep.h"
#include <unistd.h>

enum { BAR_LEN = 24 };

/* A run costs something even without load; beyond that its cost grows with the traffic. */
static double work_of(uint32_t load)
{
    return 0.25 + (double)load / STORE_LOAD_ONE;
}

void sweep_progress_begin(struct sweep_progress *progress, uint32_t runs)
{
    *progress = (struct sweep_progress){ .runs = runs };
    progress_begin(&progress->line, STDERR_FILENO);
}

void sweep_progress_add(struct sweep_progress *progress, uint32_t load, bool done)
{
    progress->done += done;
    if (!done) progress->work_left += work_of(load);
}

void sweep_progress_end(struct sweep_progress *progress, uint32_t load, bool done)
{
    progress->work_left -= work_of(load);
    progress->work_done += work_of(load);
    progress->ended++;
    progress->done += done;
}

void sweep_progress_show(struct sweep_progress *progress, uint32_t running)
{
    char bar[BAR_LEN + 1] = { 0 }, rate[PROGRESS_FIGURE_CAP], left[PROGRESS_FIGURE_CAP];
    if (!progress_is_due(&progress->line)) return;
    const double all = progress->work_done + progress->work_left;
    for (uint32_t i = 0; i < BAR_LEN; i++)
        bar[i] = (uint64_t)progress->done * BAR_LEN > (uint64_t)i * progress->runs ? '#' : '.';
    progress_show(&progress->line, "[%s] %u of %u runs, %u running, %s/s%s", bar, progress->done,
                  progress->runs, running,
                  progress_figure(progress->ended / progress_seconds(&progress->line), rate),
                  progress_left(&progress->line, all > 0 ? progress->work_done / all : 0, left));
}
