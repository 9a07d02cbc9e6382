/* leat sweep: progress on a terminal. */
#include "pieces.h"
#include "sweep.h"
#include <unistd.h>

static const double show_seconds = 0.2;
enum { BAR_LEN = 24 };

/* A run costs something even without load; beyond that its cost grows with the traffic. */
static double work_of(uint32_t load)
{
    return 0.25 + (double)load / STORE_LOAD_ONE;
}

void sweep_progress_begin(struct sweep_progress *progress, uint32_t runs)
{
    *progress = (struct sweep_progress){ .watched = isatty(STDERR_FILENO),
                                         .begun_at = seconds_now(),
                                         .runs = runs };
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

static void put_time(double seconds)
{
    const unsigned long s = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 1000000000;
    if (s >= 86400)
        fprintf(stderr, ", %lu d %02lu h left", s / 86400, s / 3600 % 24);
    else if (s >= 3600)
        fprintf(stderr, ", %lu h %02lu min left", s / 3600, s / 60 % 60);
    else if (s >= 60)
        fprintf(stderr, ", %lu min %02lu s left", s / 60, s % 60);
    else
        fprintf(stderr, ", %lu s left", s);
}

void sweep_progress_show(struct sweep_progress *progress, uint32_t running)
{
    const double now = seconds_now(), elapsed = now - progress->begun_at;
    char bar[BAR_LEN + 1] = { 0 };
    if (!progress->watched || now - progress->shown_at < show_seconds) return;
    progress->shown_at = now;
    for (uint32_t i = 0; i < BAR_LEN; i++)
        bar[i] = (uint64_t)progress->done * BAR_LEN > (uint64_t)i * progress->runs ? '#' : '.';
    fprintf(stderr, "\r[%s] %u of %u runs, %u running", bar, progress->done, progress->runs,
            running);
    if (progress->ended && elapsed > 0) {
        fprintf(stderr, ", %.3g/s", progress->ended / elapsed);
        put_time(elapsed * progress->work_left / progress->work_done);
    }
    fputs("\33[K", stderr);
    fflush(stderr);
}

void sweep_progress_clear(const struct sweep_progress *progress)
{
    if (progress->watched) fputs("\r\33[K", stderr);
}
