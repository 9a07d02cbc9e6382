#include "pieces.h"
#include "tool.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A piece takes about this long, however fast the network is: long enough to cost nothing, short
 * enough to react to an interrupt. */
static const double piece_seconds_min = 0.02, piece_seconds_max = 0.1;
static const double progress_seconds = 0.2;
enum { FIRST_PIECE_CYCLES = 1 }; /* of a network of a million that may take a second */

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void pace_begin(struct pace *pace)
{
    *pace = (struct pace){ FIRST_PIECE_CYCLES, seconds_now() };
}

void pace_next(struct pace *pace)
{
    const double now = seconds_now(), took = now - pace->at;
    if (took < piece_seconds_min && pace->piece <= UINT64_MAX / 2) pace->piece *= 2;
    if (took > piece_seconds_max && pace->piece > 1) pace->piece /= 2;
    pace->at = now;
}

static void show_progress(uint64_t cycles, uint64_t all)
{
    fprintf(stderr, "\r%5.1f %%  cycle %llu", 100 * (double)cycles / (double)all,
            (unsigned long long)cycles);
}

uint64_t pieces_run(uint64_t cycles, piece_fn run, void *context, double *wall_seconds)
{
    const bool watched = isatty(STDERR_FILENO);
    uint64_t done = 0;
    struct pace pace;
    pace_begin(&pace);
    const double start = pace.at;
    double shown_at = start;
    bool going = true;
    while (going && done < cycles && !interrupted) {
        const uint64_t left = cycles - done;
        done += pace.piece < left ? pace.piece : left;
        going = run(context, done);
        pace_next(&pace);
        if (watched && pace.at - shown_at > progress_seconds) {
            show_progress(done, cycles);
            shown_at = pace.at;
        }
    }
    if (watched) fputs("\r\33[K", stderr);
    *wall_seconds = seconds_now() - start;
    return done;
}
