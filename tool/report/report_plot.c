/* leat report: the charts of the page as a picture; rsvg-convert makes PNG of their SVG. */
#include "markup.h"
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
    MARGIN = 16,
    SURFACE_TITLE_CAP = 1024,
    TITLE_HEIGHT = 48,
    SIDE_MAX = 30000,    /* cairo draws no larger picture */
    COMPLAINTS_MAX = 20, /* lines of rsvg-convert that are shown */
    AWAIT_MS = 5,
};

static const double scale_most = 1.25; /* pixels of a unit of charts */

extern char **environ;

/* ---- the picture ---------------------------------------------------------------------------- */

/* The height of a traffic's row of charts, and of its rows of surfaces. */
static double charts_height(struct report *report, size_t traffic)
{
    static struct chart_line lines[REPORT_LINES_MAX];
    struct chart chart;
    double height = 0;
    for (int f = 0; f < REPORT_FIGURES; f++)
        if (report_chart(report, traffic, (enum report_figure)f, lines, &chart))
            height = fmax(height, chart_height(&chart));
    return height;
}

static void skip(void *context, const struct surface *surface)
{
    (void)context;
    (void)surface;
}

static double surfaces_height(struct report *report, size_t traffic)
{
    size_t count = report_each_surface(report, traffic, skip, NULL);
    if (count > REPORT_SURFACES_MAX) count = REPORT_SURFACES_MAX;
    return (double)((count + REPORT_FIGURES - 1) / REPORT_FIGURES) * (surface_height() + MARGIN);
}

static double traffic_height(struct report *report, size_t traffic)
{
    return charts_height(report, traffic) + MARGIN + surfaces_height(report, traffic);
}

static void begin_part(struct leat_text *out, int x, double y, int width, double height)
{
    text_format(out, "<svg x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%.0f\">\n", x, y, width,
                height);
}

static void put_row(struct leat_text *out, struct report *report, size_t traffic, double top)
{
    static struct chart_line lines[REPORT_LINES_MAX];
    struct chart chart;
    char title[256];
    for (int f = 0; f < REPORT_FIGURES; f++) {
        if (!report_chart(report, traffic, (enum report_figure)f, lines, &chart)) continue;
        snprintf(title, sizeof title, "%s, %s traffic", chart.title, report->traffic[traffic]);
        chart.title = title;
        begin_part(out, MARGIN + f * (CHART_WIDTH + MARGIN), top, CHART_WIDTH,
                   chart_height(&chart));
        chart_write(&chart, out);
        leat_text_puts(out, "</svg>\n");
    }
}

struct surfaces {
    struct surface_scale scale;
    struct leat_text *out;
    const char *traffic;
    double top; /* of the first row */
    size_t put;
};

static void put_surface(void *context, const struct surface *surface)
{
    struct surfaces *s = context;
    const size_t row = s->put / REPORT_FIGURES, column = s->put % REPORT_FIGURES;
    struct surface titled = *surface;
    char title[SURFACE_TITLE_CAP];
    snprintf(title, sizeof title, "%s, %s traffic", surface->title, s->traffic);
    titled.title = title;
    begin_part(s->out, MARGIN + (int)column * (CHART_WIDTH + MARGIN),
               s->top + (double)row * (surface_height() + MARGIN), CHART_WIDTH, surface_height());
    surface_write(&titled, &s->scale, s->out);
    leat_text_puts(s->out, "</svg>\n");
    s->put++;
}

static void put_surfaces(struct leat_text *out, struct report *report, size_t traffic, double top)
{
    struct surfaces s = { report_surface_scale(report, traffic), out, report->traffic[traffic], top,
                          0 };
    report_each_surface(report, traffic, put_surface, &s);
}

/* ---- programs ------------------------------------------------------------------------------- */

/* Bars of all scales, one below the other. */
static double bars_height(const struct program *program)
{
    double height = 0;
    for (size_t s = 0; s < program->scales; s++)
        height += program_bars_height(program, s);
    return fmax(height, program_matrix_height()) + MARGIN;
}

static double program_height(const struct program *program)
{
    double height = TITLE_HEIGHT + bars_height(program);
    for (size_t s = 0; s < program->scales; s++)
        height += program_timelines_height(program, s) + MARGIN;
    return height;
}

/* Of several matrices the first two, which is what there is room for. */
static void put_matrices(struct leat_text *out, const struct program *program, double top)
{
    const bool one = program_has_one_matrix(program);
    for (size_t i = 0, column = 1; i < program->runs && column < (one ? 2 : 3); i++) {
        if (!program->run[i].matrix.rows) continue;
        begin_part(out, MARGIN + (int)column++ * (CHART_WIDTH + MARGIN), top, CHART_WIDTH,
                   program_matrix_height());
        program_matrix(program, &program->run[i], out);
        leat_text_puts(out, "</svg>\n");
    }
}

static void put_program(struct leat_text *out, const struct program *program, double top)
{
    double bars = top + TITLE_HEIGHT, timelines = bars + bars_height(program);
    text_format(out, "<text x=\"%d\" y=\"%.0f\" font-family=\"sans-serif\" font-size=\"15\">",
                MARGIN, top + 20);
    text_escape_short(out, program->run->command, 120);
    leat_text_puts(out, "</text>\n");
    put_matrices(out, program, bars);
    for (size_t s = 0; s < program->scales; s++) {
        const double height = program_timelines_height(program, s);
        begin_part(out, MARGIN, bars, CHART_WIDTH, program_bars_height(program, s));
        program_bars(program, s, out);
        leat_text_puts(out, "</svg>\n");
        bars += program_bars_height(program, s);
        if (!(height > 0)) continue;
        begin_part(out, MARGIN, timelines, TIMELINE_WIDTH, height);
        program_timelines(program, s, out);
        leat_text_puts(out, "</svg>\n");
        timelines += height + MARGIN;
    }
}

/* Draws all programs from `top` on, or only measures (`out` NULL). Returns the place below. */
static double put_programs(struct leat_text *out, const struct report *report, double top)
{
    static struct program program;
    size_t number = 0;
    for (size_t at = 0; at < report->programs.runs; at += program.runs) {
        program_describe(&report->programs, at, ++number, &program);
        if (out) put_program(out, &program, top);
        top += program_height(&program);
    }
    return top;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* The programs, then a row of charts per traffic, and its surfaces. */
static void put_picture(struct leat_text *out, struct report *report)
{
    const int width = MARGIN + REPORT_FIGURES * (CHART_WIDTH + MARGIN);
    double height = put_programs(NULL, report, TITLE_HEIGHT);
    for (size_t t = 0; t < report->traffics; t++)
        height += traffic_height(report, t);
    const double scale = fmin(scale_most, SIDE_MAX / height);
    text_format(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                "viewBox=\"0 0 %d %.0f\">\n<style>\n",
                scale * width, scale * height, width, height);
    chart_style_on_paper(out);
    surface_style(out);
    program_style_sheet_on_paper(out);
    text_format(out,
                "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
                "<text x=\"%d\" y=\"26\" font-family=\"sans-serif\" font-size=\"18\" "
                "text-anchor=\"middle\">",
                width / 2);
    text_escape(out, report->title);
    leat_text_puts(out, "</text>\n");
    double top = put_programs(out, report, TITLE_HEIGHT);
    for (size_t t = 0; t < report->traffics; t++) {
        put_row(out, report, t, top);
        put_surfaces(out, report, t, top + charts_height(report, t) + MARGIN);
        top += traffic_height(report, t);
    }
    leat_text_puts(out, "</svg>\n");
}

/* ---- the child ----------------------------------------------------------------------------- */

/* The messages of rsvg-convert, to find out why it failed. */
static void show_complaints(FILE *said)
{
    char line[256];
    rewind(said);
    for (int i = 0; i < COMPLAINTS_MAX && fgets(line, sizeof line, said); i++)
        fprintf(stderr, "  %s", line);
}

static int start(pid_t *pid, FILE *drawing, FILE *picture, FILE *said)
{
    char *words[] = { (char *)"rsvg-convert", (char *)"--unlimited", NULL };
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);
    if (error) return error;
    posix_spawn_file_actions_adddup2(&files, fileno(drawing), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, fileno(said), STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, fileno(picture), STDOUT_FILENO);
    error = posix_spawnp(pid, words[0], &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Its status; an interrupt ends it. Polls: a signal between a check of `interrupted` and a wait
 * would be noticed too late. */
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

static int draw(FILE *drawing, FILE *picture, FILE *said)
{
    pid_t pid;
    const int error = start(&pid, drawing, picture, said);
    if (error == ENOENT)
        return fail("--png: rsvg-convert is missing, which makes the picture: install the package "
                    "librsvg2-bin");
    if (error) return fail("--png: rsvg-convert cannot be started: %s", strerror(error));
    const int status = await(pid);
    if (interrupted) return FAILED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return DONE;
    complain("--png: rsvg-convert has failed:");
    show_complaints(said);
    return FAILED;
}

/* Was the disk full? Then the last chunk is not there. */
static int take_picture(FILE *picture, struct leat_text *text)
{
    static const char end[] = "IEND\xae\x42\x60\x82";
    char octets[4096], last[sizeof end - 1] = "";
    size_t len;
    if (fseek(picture, -(long)sizeof last, SEEK_END) != 0 ||
        fread(last, 1, sizeof last, picture) != sizeof last || memcmp(last, end, sizeof last) != 0)
        return fail("--png: the picture is not complete (is there room for temporary files?)");
    rewind(picture);
    while ((len = fread(octets, 1, sizeof octets, picture)) > 0)
        leat_text_put(text, octets, len);
    if (!ferror(picture)) return DONE;
    return fail("--png: a temporary file cannot be read: %s", strerror(errno));
}

static void flush(struct leat_text *text)
{
    fwrite(text->buf, 1, text->len, text->user);
    text->len = 0;
}

static int plot(struct report *report, FILE *drawing, FILE *picture, FILE *said,
                struct leat_text *text)
{
    char buf[4096];
    struct leat_text svg;
    if (!drawing || !picture || !said) return fail("--png: no temporary file: %s", strerror(errno));
    leat_text_init(&svg, buf, sizeof buf, flush, drawing);
    put_picture(&svg, report);
    flush(&svg);
    if (fflush(drawing) != 0 || ferror(drawing))
        return fail("--png: a temporary file cannot be written: %s", strerror(errno));
    rewind(drawing);
    const int code = draw(drawing, picture, said);
    return code == DONE ? take_picture(picture, text) : code;
}

int report_plot(struct report *report, struct leat_text *text)
{
    FILE *drawing = tmpfile(), *picture = tmpfile(), *said = tmpfile();
    const int code = plot(report, drawing, picture, said, text);
    if (drawing) fclose(drawing);
    if (picture) fclose(picture);
    if (said) fclose(said);
    return code;
}
