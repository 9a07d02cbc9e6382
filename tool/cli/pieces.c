#include "pieces.h"
#include "tool.h"
#include <unistd.h>

/* A piece takes about this long, however fast the network is: long enough to cost nothing, short
 * enough to react to an interrupt. */
static const double piece_seconds_min = 0.02, piece_seconds_max = 0.1;
enum { FIRST_PIECE_CYCLES = 1 }; /* of a network of a million that may take a second */

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

static void show_progress(struct progress *progress, uint64_t cycles, uint64_t all)
{
    char rate[PROGRESS_FIGURE_CAP], left[PROGRESS_FIGURE_CAP];
    const double share = (double)cycles / (double)all, seconds = progress_seconds(progress);
    progress_show(progress, "%5.1f %%  cycle %llu of %llu, %s/s%s", 100 * share,
                  (unsigned long long)cycles, (unsigned long long)all,
                  progress_figure((double)cycles / seconds, rate),
                  progress_left(progress, share, left));
}

/* ---- the page of --view ---------------------------------------------------------------------- */

static const struct pieces_view *shown; /* of the next run; NULL: nothing of its own */

void pieces_show(const struct pieces_view *view)
{
    shown = view;
}

static void begin_view(void)
{
    static struct watch_curves of;
    of = (struct watch_curves){ .x_name = "cycle", .x = PIECES_CYCLES, .x_factor = 1 };
    of.columns = PIECES_COLUMN + (shown ? shown->columns : 0);
    for (; shown && of.curves < shown->curves; of.curves++)
        of.curve[of.curves] = shown->curve[of.curves];
    of.curve[of.curves++] = (struct watch_curve){ .name = "Speed",
                                                  .unit = "cycles per real second",
                                                  .of = PIECES_CYCLES,
                                                  .per = WATCH_SECONDS,
                                                  .is_ratio = true,
                                                  .factor = 1 };
    watch_begin(&of);
}

static void put_view(uint64_t done, uint64_t cycles)
{
    struct watch_sample *sample = watch_blank();
    sample->share = (double)done / (double)cycles;
    sample->column[PIECES_CYCLES] = (double)done;
    snprintf(sample->text, sizeof sample->text, "Cycle %llu of %llu.", (unsigned long long)done,
             (unsigned long long)cycles);
    if (shown) shown->take(shown->context, sample);
    watch_put(sample);
}

/* ---- running --------------------------------------------------------------------------------- */

uint64_t pieces_run_alike(uint64_t cycles, piece_fn run, agree_fn agree, void *context,
                          double *wall_seconds)
{
    uint64_t done = 0;
    struct pace pace;
    struct progress progress;
    bool going = true;
    progress_begin(&progress, STDERR_FILENO);
    pace_begin(&pace);
    begin_view();
    put_view(0, cycles);
    while (going && done < cycles && (agree || !interrupted)) {
        const uint64_t left = cycles - done;
        uint64_t until = done + (pace.piece < left ? pace.piece : left);
        if (agree) until = agree(context, interrupted ? 0 : until);
        if (!until) break;
        done = until;
        going = run(context, done);
        pace_next(&pace);
        if (progress_is_due(&progress)) show_progress(&progress, done, cycles);
        if (watch_wants()) put_view(done, cycles);
    }
    put_view(done, cycles);
    shown = NULL;
    progress_end(&progress);
    *wall_seconds = progress_seconds(&progress);
    return done;
}

uint64_t pieces_run(uint64_t cycles, piece_fn run, void *context, double *wall_seconds)
{
    return pieces_run_alike(cycles, run, NULL, context, wall_seconds);
}
