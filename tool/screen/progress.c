#include "progress.h"
#include "style.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double first_seconds = 2, every_seconds = 0.2;
enum { LINE_CAP = 512, COLUMNS_DEFAULT = 80, COLUMNS_FREE = 3 };

static struct progress *on_stderr; /* NULL: none */

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_begin(struct progress *progress, int terminal)
{
    *progress = (struct progress){ .terminal = is_screen(terminal) ? terminal : -1,
                                   .begun_at = seconds_now() };
    if (terminal == STDERR_FILENO) on_stderr = progress;
}

double progress_seconds(const struct progress *progress)
{
    return seconds_now() - progress->begun_at;
}

bool progress_is_due(struct progress *progress)
{
    if (progress->terminal < 0) return false;
    const double now = seconds_now();
    return now - progress->begun_at >= first_seconds && now - progress->shown_at >= every_seconds;
}

/* The last columns stay free: some terminals wrap as soon as the last one is used, and an interrupt
 * is echoed as ^C. */
static size_t columns_of(int terminal)
{
    struct winsize size;
    const bool is_known = !ioctl(terminal, TIOCGWINSZ, &size) && size.ws_col;
    const size_t columns = is_known ? size.ws_col : COLUMNS_DEFAULT;
    return columns > COLUMNS_FREE ? columns - COLUMNS_FREE : 0;
}

/* Past the buffer of stderr, in one piece; a line that cannot be shown does not matter. */
static void put(int terminal, const char *text)
{
    const ssize_t written = write(terminal, text, strlen(text));
    (void)written;
}

void progress_show(struct progress *progress, const char *text, ...)
{
    char line[LINE_CAP], whole[LINE_CAP + 16];
    va_list list;
    if (progress->terminal < 0) return;
    va_start(list, text);
    vsnprintf(line, sizeof line, text, list);
    va_end(list);
    snprintf(whole, sizeof whole, "\r%.*s\33[K", (int)columns_of(progress->terminal), line);
    put(progress->terminal, whole);
    progress->shown_at = seconds_now();
    progress->is_shown = true;
}

/* A child may have inherited the line, but not the terminal. */
void progress_hide(struct progress *progress)
{
    if (progress->is_shown && is_screen(progress->terminal)) put(progress->terminal, "\r\33[K");
    progress->is_shown = false;
}

void progress_end(struct progress *progress)
{
    progress_hide(progress);
    if (on_stderr == progress) on_stderr = NULL;
}

void progress_make_way(void)
{
    if (on_stderr) progress_hide(on_stderr);
}

/* ---- figures --------------------------------------------------------------------------------- */

const char *progress_figure(double value, char out[PROGRESS_FIGURE_CAP])
{
    static const char *const unit[] = { "", " k", " M", " G", " T" };
    size_t i = 0;
    while (value >= 999.5 && i + 1 < sizeof unit / sizeof *unit) {
        value /= 1000;
        i++;
    }
    snprintf(out, PROGRESS_FIGURE_CAP, "%.3g%s", value, unit[i]);
    return out;
}

const char *progress_left(const struct progress *progress, double share,
                          char out[PROGRESS_FIGURE_CAP])
{
    const double seconds = progress_seconds(progress) * (1 - share) / share;
    const unsigned long s = seconds < 1e9 ? (unsigned long)lround(fmax(seconds, 0)) : 1000000000;
    const char *format = ", %lu s left";
    unsigned long first = s, second = 0;
    if (s >= 86400) {
        format = ", %lu d %02lu h left";
        first = s / 86400, second = s / 3600 % 24;
    } else if (s >= 3600) {
        format = ", %lu h %02lu min left";
        first = s / 3600, second = s / 60 % 60;
    } else if (s >= 60) {
        format = ", %lu min %02lu s left";
        first = s / 60, second = s % 60;
    }
    out[0] = '\0';
    if (share > 0) snprintf(out, PROGRESS_FIGURE_CAP, format, first, second);
    return out;
}
