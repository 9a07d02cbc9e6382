/* leat report: the sections of the programs: tables, drawings, commands. */
#include "markup.h"
#include "report.h"
#include <math.h>
#include <string.h>

enum { WIRES_SHOWN = 10 };

static bool is_done(const struct program_run *run)
{
    return strcmp(run->status, "done") == 0 && run->seconds >= 0;
}

static void put_seconds(const struct program *program, double seconds, struct leat_text *text)
{
    if (isfinite(seconds))
        text_format(text, "<td class=\"n\">%.4f</td>", seconds / program->unit.seconds);
    else
        leat_text_puts(text, "<td class=\"n\">–</td>");
}

static void put_row_head(const char *name, struct leat_text *text)
{
    leat_text_puts(text, "<tr><th scope=\"row\">");
    text_escape(text, name);
    leat_text_puts(text, "</th>");
}

/* ---- fabrics ------------------------------------------------------------------------------- */

/* Only runs of as many tasks compare. 0: none is done. */
static double fastest_of(const struct program *program, uint32_t tasks)
{
    double fastest = 0;
    for (size_t i = 0; i < program->runs; i++) {
        const struct program_run *run = &program->run[i];
        if (is_done(run) && run->tasks == tasks && (!(fastest > 0) || run->seconds < fastest))
            fastest = run->seconds;
    }
    return fastest;
}

static bool measures_contention(const struct program *program)
{
    for (size_t i = 0; i < program->runs; i++)
        if (isfinite(program->run[i].contention_seconds)) return true;
    return false;
}

static void put_fabric_row(const struct program *program, const struct program_run *run,
                           bool contention, struct leat_text *text)
{
    const double fastest = fastest_of(program, run->tasks);
    put_row_head(run->fabric, text);
    text_format(text, "<td class=\"n\">%u</td>", run->tasks);
    put_seconds(program, run->seconds, text);
    if (is_done(run) && fastest > 0)
        text_format(text, "<td class=\"n\">%.3f</td>", run->seconds / fastest);
    else
        leat_text_puts(text, "<td class=\"n\">–</td>");
    if (contention) put_seconds(program, run->contention_seconds, text);
    text_format(text, "<td class=\"n\">%.0f</td><td class=\"n\">%.0f</td><td%s>", run->messages,
                run->octets, is_done(run) ? "" : " class=\"alarm\"");
    text_escape(text, run->status);
    leat_text_puts(text, "</td><td><code>");
    text_escape(text, run->certificate);
    leat_text_puts(text, "</code></td></tr>\n");
}

static void put_fabrics(const struct program *program, struct leat_text *text)
{
    const bool contention = measures_contention(program);
    bool one_size = true;
    text_format(text,
                "<div class=\"scroll\"><table id=\"program-%zu-fabrics\">\n<thead><tr>"
                "<th scope=\"col\">Fabric</th><th scope=\"col\" class=\"n\">Tasks</th>"
                "<th scope=\"col\" class=\"n\">Simulated<br/>time, %s</th>"
                "<th scope=\"col\" class=\"n\">Ratio to<br/>the fastest</th>",
                program->number, program->unit.name);
    if (contention)
        text_format(text, "<th scope=\"col\" class=\"n\">Contention,<br/>%s</th>",
                    program->unit.name);
    leat_text_puts(text, "<th scope=\"col\" class=\"n\">Messages</th>"
                         "<th scope=\"col\" class=\"n\">Octets</th><th scope=\"col\">Status</th>"
                         "<th scope=\"col\">Certificate</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < program->runs; i++) {
        put_fabric_row(program, &program->run[i], contention, text);
        one_size &= program->run[i].tasks == program->run->tasks;
    }
    leat_text_puts(text, "</tbody></table></div>\n");
    if (!one_size)
        leat_text_puts(text,
                       "<p class=\"note\">These runs have different numbers of tasks: a ratio "
                       "compares those with the same number. leat run -n N starts N tasks "
                       "over every fabric.</p>\n");
    if (contention)
        leat_text_puts(text, "<p class=\"note\">Contention: how much longer the run takes than one "
                             "in which messages never meet in the network.</p>\n");
}

/* ---- calls --------------------------------------------------------------------------------- */

static bool has_calls(const struct program *program)
{
    for (size_t i = 0; i < program->runs; i++)
        if (program->run[i].calls) return true;
    return false;
}

static const struct program_call *find_call(const struct program_run *run, const char *name)
{
    for (uint32_t i = 0; i < run->calls; i++)
        if (strcmp(run->call[i].name, name) == 0) return &run->call[i];
    return NULL;
}

static bool is_call(const struct program *program, const char *state)
{
    for (size_t i = 0; i < program->runs; i++)
        if (find_call(&program->run[i], state)) return true;
    return false;
}

static void put_time_row(const struct program *program, size_t state, struct leat_text *text)
{
    double seconds[PROGRAM_STYLES];
    put_row_head(program->state[state], text);
    for (size_t i = 0; i < program->runs; i++) {
        const struct program_run *run = &program->run[i];
        const struct program_call *call = find_call(run, program->state[state]);
        program_times(program, run, seconds);
        put_seconds(program,
                    state == 0 ? seconds[0]
                    : call     ? call->seconds / (run->tasks ? run->tasks : 1)
                               : NAN,
                    text);
    }
    leat_text_puts(text, "</tr>\n");
}

/* A call per row, a fabric per column. */
static void put_times(const struct program *program, struct leat_text *text)
{
    text_format(text,
                "<div class=\"scroll\"><table id=\"program-%zu-calls\">\n<caption>Time of a task, "
                "mean over all tasks, %s</caption>\n<thead><tr><th scope=\"col\">State</th>",
                program->number, program->unit.name);
    for (size_t i = 0; i < program->runs; i++) {
        leat_text_puts(text, "<th scope=\"col\" class=\"n\">");
        text_escape(text, program->run[i].fabric);
        leat_text_puts(text, "</th>");
    }
    leat_text_puts(text, "</tr></thead>\n<tbody>\n");
    for (size_t s = 0; s < program->states; s++)
        if (s == 0 || is_call(program, program->state[s])) put_time_row(program, s, text);
    leat_text_puts(text, "</tbody></table></div>\n");
}

static void put_profile(const struct program *program, const struct program_run *run,
                        struct leat_text *text)
{
    leat_text_puts(text, "<tbody><tr><th scope=\"rowgroup\" colspan=\"5\">");
    text_escape(text, run->fabric);
    leat_text_puts(text, "</th></tr>\n");
    for (uint32_t i = 0; i < run->calls; i++) {
        const struct program_call *call = &run->call[i];
        put_row_head(call->name, text);
        text_format(text, "<td class=\"n\">%.0f</td><td class=\"n\">%.0f</td>", call->calls,
                    call->octets);
        put_seconds(program, call->seconds, text);
        put_seconds(program, call->waiting_seconds, text);
        leat_text_puts(text, "</tr>\n");
    }
    leat_text_puts(text, "</tbody>\n");
}

static void put_profiles(const struct program *program, struct leat_text *text)
{
    text_format(text,
                "<details><summary>All calls as numbers</summary>\n<div class=\"scroll\">"
                "<table id=\"program-%zu-profile\">\n<thead><tr><th scope=\"col\">Call</th>"
                "<th scope=\"col\" class=\"n\">Calls</th><th scope=\"col\" class=\"n\">Octets</th>"
                "<th scope=\"col\" class=\"n\">Time, all<br/>tasks, %s</th>"
                "<th scope=\"col\" class=\"n\">Of it<br/>waiting, %s</th></tr></thead>\n",
                program->number, program->unit.name, program->unit.name);
    for (size_t i = 0; i < program->runs; i++)
        if (program->run[i].calls) put_profile(program, &program->run[i], text);
    leat_text_puts(text, "</table></div></details>\n");
}

/* ---- who talks to whom --------------------------------------------------------------------- */

static void put_matrices(const struct program *program, struct leat_text *text)
{
    const bool one = program_has_one_matrix(program);
    for (size_t i = 0; i < program->runs; i++) {
        const struct program_run *run = &program->run[i];
        if (!run->matrix.rows) continue;
        leat_text_puts(text, "<figure>\n");
        program_matrix(program, run, text);
        leat_text_puts(text,
                       "<figcaption>Messages from senders (down) to receivers (across), over ");
        text_escape(text, one && program->runs > 1 ? "every fabric" : run->fabric);
        leat_text_puts(text, "; tooltips have the numbers.</figcaption>\n</figure>\n");
        if (one) return;
    }
}

/* ---- wires --------------------------------------------------------------------------------- */

static uint32_t wires_shown(const struct program_run *run)
{
    return run->wires < WIRES_SHOWN ? run->wires : WIRES_SHOWN;
}

static bool shows_unit(const struct program_run *run, const char *unit)
{
    for (uint32_t i = 0; i < wires_shown(run); i++)
        if (run->wire[i].unit == unit) return true;
    return false;
}

/* A column for each unit: wires of one network may carry different ones. */
static void put_wires_head(const struct program_run *run, struct leat_text *text)
{
    leat_text_puts(text, "<thead><tr><th scope=\"col\">Wire</th><th scope=\"col\" class=\"n\">"
                         "Utilisation, %</th>");
    for (uint32_t i = 0; i < PROGRAM_UNITS; i++)
        if (shows_unit(run, program_unit[i]))
            text_format(text, "<th scope=\"col\" class=\"n\">%c%s</th>",
                        program_unit[i][0] - 'a' + 'A', program_unit[i] + 1);
    leat_text_puts(text, "</tr></thead>\n");
}

static void put_wire(const struct program_run *run, const struct program_wire *wire,
                     struct leat_text *text)
{
    put_row_head(wire->name, text);
    text_format(text, "<td class=\"n\">%.2f</td>", 100 * wire->utilisation);
    for (uint32_t i = 0; i < PROGRAM_UNITS; i++) {
        if (!shows_unit(run, program_unit[i])) continue;
        if (wire->unit == program_unit[i])
            text_format(text, "<td class=\"n\">%.0f</td>", wire->carried);
        else
            leat_text_puts(text, "<td class=\"n\">–</td>");
    }
    leat_text_puts(text, "</tr>\n");
}

static void put_wires_of(const struct program_run *run, struct leat_text *text)
{
    leat_text_puts(text, "<div class=\"scroll\"><table class=\"wires\">\n<caption>");
    text_escape(text, run->fabric);
    leat_text_puts(text, "</caption>\n");
    put_wires_head(run, text);
    leat_text_puts(text, "<tbody>\n");
    for (uint32_t i = 0; i < wires_shown(run); i++)
        put_wire(run, &run->wire[i], text);
    leat_text_puts(text, "</tbody></table></div>\n");
}

static void put_wires(const struct program *program, struct leat_text *text)
{
    bool begun = false;
    for (size_t i = 0; i < program->runs; i++) {
        const struct program_run *run = &program->run[i];
        if (!run->wires) continue;
        if (!begun)
            leat_text_puts(
                text, "<h3>Busiest wires</h3>\n<p>A&gt;B is the wire from A to B, which are "
                      "routers unless they say otherwise; of a PacketWay network, the name of "
                      "a SAN or router and a colon precede it. Utilisation is the share of the "
                      "simulated time in which "
                      "the wire is busy.</p>\n<div class=\"charts\">\n");
        begun = true;
        put_wires_of(run, text);
    }
    if (begun) leat_text_puts(text, "</div>\n");
    for (size_t i = 0; begun && i < program->runs; i++) {
        if (program->run[i].wires) continue;
        leat_text_puts(text, "<p class=\"note\">");
        text_escape(text, program->run[i].fabric);
        leat_text_puts(text, " does not count what each wire carries.</p>\n");
    }
}

/* ---- commands ------------------------------------------------------------------------------ */

static void put_commands(const struct program *program, struct leat_text *text)
{
    leat_text_puts(text, "<h3>How it was run</h3>\n<pre>");
    for (size_t i = 0; i < program->runs; i++) {
        const struct program_run *run = &program->run[i];
        leat_text_puts(text, "leat run --fabric ");
        report_put_word(text, run->fabric);
        leat_text_puts(text, *run->options ? " " : "");
        text_escape(text, run->options); /* quoted for a shell, as the command is */
        leat_text_puts(text, " -- ");
        text_escape(text, run->command);
        leat_text_putc(text, '\n');
    }
    leat_text_puts(text, "</pre>\n<p class=\"note\">");
    for (size_t i = 0; i < program->runs; i++) {
        const struct program_run *run = &program->run[i];
        if (i) leat_text_puts(text, "; ");
        text_escape(text, run->fabric);
        text_format(text, ": run %lld of the store, by leat ", (long long)run->id);
        text_escape(text, run->version);
        leat_text_puts(text, ", ");
        text_escape(text, run->created);
        leat_text_puts(text, " UTC");
    }
    leat_text_puts(text, ".</p>\n");
}

/* ---- a program ----------------------------------------------------------------------------- */

static void put_head(const struct program *program, struct leat_text *text)
{
    text_format(text, "<section>\n<h2 id=\"program-%zu\">Program: ", program->number);
    text_escape(text, program->run->command);
    leat_text_puts(text, "</h2>\n");
    if (!*program->run->options) return;
    leat_text_puts(text, "<p>With <code>leat run ");
    text_escape(text, program->run->options);
    leat_text_puts(text, "</code>.</p>\n");
}

static void put_timelines(const struct program *program, struct leat_text *text)
{
    bool begun = false;
    for (size_t s = 0; s < program->scales; s++) {
        if (!(program_timelines_height(program, s) > 0)) continue;
        leat_text_puts(text, begun ? "" : "<h3>Timeline</h3>\n<figure>\n");
        program_timelines(program, s, text);
        begun = true;
    }
    if (begun)
        leat_text_puts(text, "<figcaption>A row is a task, or a group of tasks with the mean over "
                             "them. A step in which a task changes its state is divided. The line "
                             "at the end is the end of the run.</figcaption>\n</figure>\n");
}

static void put_program(const struct program *program, struct leat_text *text)
{
    put_head(program, text);
    put_fabrics(program, text);
    if (program->scales > 1)
        leat_text_puts(text, "<p class=\"note\">Some of these times would not be seen on one axis: "
                             "there are charts with different units.</p>\n");
    leat_text_puts(text, "<div class=\"charts\">\n<figure>\n");
    for (size_t s = 0; s < program->scales; s++)
        program_bars(program, s, text);
    leat_text_puts(text, has_calls(program)
                             ? "<figcaption>Computing is all time outside calls. Time in a call "
                               "includes waiting for messages.</figcaption>\n</figure>\n"
                             : "<figcaption>Calls of this library are not measured one by one."
                               "</figcaption>\n</figure>\n");
    put_matrices(program, text);
    leat_text_puts(text, "</div>\n");
    if (has_calls(program)) {
        put_times(program, text);
        put_profiles(program, text);
    }
    put_timelines(program, text);
    put_wires(program, text);
    put_commands(program, text);
    leat_text_puts(text, "</section>\n");
}

void report_programs(const struct report *report, struct leat_text *text)
{
    static struct program program;
    size_t number = 0;
    for (size_t at = 0; at < report->programs.runs && !interrupted; at += program.runs) {
        program_describe(&report->programs, at, ++number, &program);
        put_program(&program, text);
    }
}
