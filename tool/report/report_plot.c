/* leat report: the charts as a picture, drawn by gnuplot, which gets its script on standard input.
 */
#include "report.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CHART_WIDTH = 640,
    CHART_HEIGHT = 480,
    TITLE_HEIGHT = 40,
    COMPLAINTS_MAX = 20, /* lines that gnuplot may say */
    AWAIT_MS = 5,
};

extern char **environ;

/* Single quotes: gnuplot looks for nothing inside but the next one. */
static void put_quoted(FILE *out, const char *characters)
{
    fputc('\'', out);
    for (; *characters; characters++) {
        if (*characters == '\'') fputc('\'', out);
        fputc((unsigned char)*characters < ' ' ? ' ' : *characters, out);
    }
    fputc('\'', out);
}

/* ---- one chart ----------------------------------------------------------------------------- */

/* A line's points: load, value, both ends of the band, open. Gnuplot joins what no blank line
 * parts. */
static void put_data(FILE *out, const struct chart *chart, const struct chart_axis *y)
{
    for (size_t l = 0; l < chart->lines; l++) {
        fprintf(out, "$line%zu << END\n", l);
        for (size_t i = 0; i < chart->line[l].count; i++) {
            const struct chart_point *p = &chart->line[l].point[i];
            const double half = p->half >= 0 ? p->half : 0;
            const double low = fmax(p->y - half, y->is_log ? y->min : 0);
            fprintf(out, "%.6f %.9g %.9g %.9g %d\n", p->x, p->y, low, p->y + half, p->open);
        }
        fputs("END\n", out);
    }
}

/* The range is that of the chart before until it is set: a scale is chosen after it. */
static void put_axis(FILE *out, char name, const struct chart_axis *axis)
{
    fprintf(out, "unset logscale %c\nset %crange [%.9g:%.9g]\n", name, name, axis->min, axis->max);
    if (axis->is_log) fprintf(out, "set logscale %c\n", name);
    fprintf(out, "set %ctics (", name);
    for (size_t i = 0; i < axis->ticks; i++)
        fprintf(out, "%s'%.6g' %.9g", i ? ", " : "", axis->tick[i], axis->tick[i]);
    fputs(")\n", out);
}

/* Bands first, so that no line hides below one. */
static void put_lines(FILE *out, const struct chart *chart)
{
    static const int filled_mark[CHART_MARKS] = { 7, 5, 9, 13, 11 }; /* the open one is before it */
    fputs("plot", out);
    for (size_t l = 0; l < chart->lines; l++)
        fprintf(out,
                " $line%zu using 1:3:4 with filledcurves lc rgb '%s' fs transparent solid 0.17 "
                "noborder notitle,",
                l, chart_colour_on_paper(chart_colour(chart->line[l].style)));
    for (size_t l = 0; l < chart->lines; l++) {
        const struct chart_line *line = &chart->line[l];
        const char *colour = chart_colour_on_paper(chart_colour(line->style));
        const int mark = filled_mark[chart_mark(line->style)];
        fprintf(out, " $line%zu using 1:2 with lines lw 2 dt 2 lc rgb '%s' notitle,", l, colour);
        fprintf(
            out,
            " $line%zu using 1:($5 == 1 ? $2 : NaN) with points pt %d ps 1.2 lc rgb '%s' notitle,",
            l, mark - 1, colour);
        fprintf(
            out,
            " $line%zu using 1:($5 == 1 ? NaN : $2) with linespoints lw 2 pt %d ps 1.2 lc rgb '%s' "
            "title ",
            l, mark, colour);
        put_quoted(out, line->name);
        fputc(',', out);
    }
    fputs(chart->diagonal ? " x with lines dt 3 lc rgb '#808080' title " : " NaN notitle", out);
    if (chart->diagonal) put_quoted(out, chart->diagonal);
    fputc('\n', out);
}

static void put_chart(FILE *out, const struct chart *chart, const char *traffic)
{
    struct chart_axis x, y;
    char title[256];
    chart_axes(chart, &x, &y);
    snprintf(title, sizeof title, "%s, %s traffic", chart->title, traffic);
    put_data(out, chart, &y);
    fputs("set title ", out);
    put_quoted(out, title);
    fputs("\nset xlabel ", out);
    put_quoted(out, chart->x_name);
    fputs("\nset ylabel ", out);
    put_quoted(out, chart->y_name);
    fputc('\n', out);
    put_axis(out, 'x', &x);
    put_axis(out, 'y', &y);
    put_lines(out, chart);
}

/* A row of charts per traffic. */
static void put_script(FILE *out, struct report *report)
{
    static struct chart_line lines[REPORT_LINES_MAX];
    struct chart chart;
    fprintf(out,
            "set encoding utf8\n"
            "set terminal pngcairo noenhanced size %d,%zu font 'sans,11' background '#ffffff'\n"
            "set grid lc rgb '#d8dce1'\nset border 3\nset tics nomirror\n"
            "set key below samplen 2 height 2\nset multiplot layout %zu,%d title ",
            REPORT_FIGURES * CHART_WIDTH, TITLE_HEIGHT + report->traffics * CHART_HEIGHT,
            report->traffics, REPORT_FIGURES);
    put_quoted(out, report->title);
    fputs(" font ',15'\n", out);
    for (size_t t = 0; t < report->traffics; t++)
        for (int f = 0; f < REPORT_FIGURES; f++) {
            if (report_chart(report, t, (enum report_figure)f, lines, &chart))
                put_chart(out, &chart, report->traffic[t]);
            else
                fputs("set multiplot next\n", out);
        }
    fputs("unset multiplot\n", out);
}

/* ---- the child ----------------------------------------------------------------------------- */

/* What gnuplot said, for whoever must find out why it failed. */
static void show_complaints(FILE *said)
{
    char line[256];
    rewind(said);
    for (int i = 0; i < COMPLAINTS_MAX && fgets(line, sizeof line, said); i++)
        fprintf(stderr, "  %s", line);
}

static int start(pid_t *pid, FILE *script, FILE *picture, FILE *said)
{
    /* -d: no start-up file of the user's */
    char *words[] = { (char *)"gnuplot", (char *)"-d", NULL };
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);
    if (error) return error;
    posix_spawn_file_actions_adddup2(&files, fileno(script), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, fileno(said), STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, fileno(picture), STDOUT_FILENO);
    error = posix_spawnp(pid, words[0], &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* How it ended; an interrupt ends it. It is looked for again and again: a signal that comes between
 * a look at `interrupted` and a wait would be heard too late. */
static int await(pid_t pid)
{
    const struct timespec pause = { .tv_nsec = AWAIT_MS * 1000000L };
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (interrupted) kill(pid, SIGTERM);
        nanosleep(&pause, NULL);
    }
    return status;
}

static int draw(FILE *script, FILE *picture, FILE *said)
{
    pid_t pid;
    const int error = start(&pid, script, picture, said);
    if (error == ENOENT) {
        complain("--png: gnuplot is missing, which draws the picture: install the package "
                 "gnuplot-nox");
        return FAILED;
    }
    if (error) {
        complain("--png: gnuplot cannot be started: %s", strerror(error));
        return FAILED;
    }
    const int status = await(pid);
    if (interrupted) return FAILED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return DONE;
    complain("--png: gnuplot has failed:");
    show_complaints(said);
    return FAILED;
}

/* Gnuplot does not tell of a disk that was full: is the last chunk there? */
static int take_picture(FILE *picture, struct leat_text *text)
{
    static const char end[] = "IEND\xae\x42\x60\x82";
    char octets[4096], last[sizeof end - 1] = "";
    size_t len;
    if (fseek(picture, -(long)sizeof last, SEEK_END) != 0 ||
        fread(last, 1, sizeof last, picture) != sizeof last ||
        memcmp(last, end, sizeof last) != 0) {
        complain("--png: gnuplot's picture is not complete (is there room for temporary files?)");
        return FAILED;
    }
    rewind(picture);
    while ((len = fread(octets, 1, sizeof octets, picture)) > 0)
        leat_text_put(text, octets, len);
    if (!ferror(picture)) return DONE;
    complain("--png: a temporary file cannot be read: %s", strerror(errno));
    return FAILED;
}

static int plot(struct report *report, FILE *script, FILE *picture, FILE *said,
                struct leat_text *text)
{
    if (!script || !picture || !said) {
        complain("--png: no temporary file: %s", strerror(errno));
        return FAILED;
    }
    put_script(script, report);
    if (fflush(script) != 0 || ferror(script)) {
        complain("--png: a temporary file cannot be written: %s", strerror(errno));
        return FAILED;
    }
    rewind(script);
    const int code = draw(script, picture, said);
    return code == DONE ? take_picture(picture, text) : code;
}

int report_plot(struct report *report, struct leat_text *text)
{
    FILE *script = tmpfile(), *picture = tmpfile(), *said = tmpfile();
    const int code = plot(report, script, picture, said, text);
    if (script) fclose(script);
    if (picture) fclose(picture);
    if (said) fclose(said);
    return code;
}
