/* leat report: drawings of the fabrics, coloured by the utilisation of their wires. */
#include "fabric.h"
#include "fabric_draw.h"
#include "markup.h"
#include "net_sim.h"
#include "report.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_CAP = 2048 };

/* Flits over the wires of a fabric, in the runs of one point. */
struct counting {
    const struct report *report;
    const struct report_point *point;
    double *flits; /* [wires] */
    uint32_t wires;
    uint32_t at;       /* the next wire of the current run */
    double cycles;     /* of that run */
    double cycles_sum; /* of all that were counted */
    bool found, over;  /* runs come in order: after the first run of the point, after its last */
    bool stopped;      /* by a run, not by the store */
};

/* ---- counting ------------------------------------------------------------------------------ */

static bool on_cycles(void *context, const char *path, const struct report_value *value)
{
    struct counting *c = context;
    if (strcmp(path, "cycles") == 0) c->cycles = value->number;
    c->at += strcmp(path, "links[]") == 0;
    return true;
}

static bool on_link(void *context, const char *path, const struct report_value *value)
{
    struct counting *c = context;
    if (strcmp(path, "links[]") == 0) c->flits[c->at++] += value->number;
    return true;
}

/* A run does not count if its wires are not those of the present fabric. */
static bool count_run(struct counting *c, const struct store_run *run)
{
    const struct report_line *line = &c->report->line[c->point->line];
    if (interrupted) return false;
    if (run->key.load != c->point->load || strcmp(run->key.fabric, line->fabric) != 0 ||
        strcmp(run->key.traffic, c->report->traffic[c->point->traffic]) != 0)
        return !(c->over = c->found);
    c->found = true;
    c->at = 0;
    c->cycles = 0;
    if (!report_json_each(run->result, on_cycles, c) || c->at != c->wires || !(c->cycles > 0))
        return true;
    c->at = 0;
    c->cycles_sum += c->cycles;
    return report_json_each(run->result, on_link, c);
}

static bool on_run(void *context, const struct store_run *run)
{
    struct counting *c = context;
    c->stopped = !count_run(c, run);
    return !c->stopped;
}

/* ---- drawing ------------------------------------------------------------------------------- */

/* Utilisation of a wire: flits per cycle. Wires are listed by output port; those to terminals are
 * not. */
static bool find_use(const struct report *report, const struct report_point *point,
                     const struct leat_net_topology *t, double *use, struct leat_text *text)
{
    const struct report_line *line = &report->line[point->line];
    struct counting c = { .report = report, .point = point, .wires = t->wires };
    c.flits = calloc(t->wires ? t->wires : 1, sizeof *c.flits);
    const bool read = c.flits && report_each_run(report, report->sweep[line->sweep].id, on_run, &c);
    if (!read && !c.over) c.cycles_sum = 0;
    text->overflowed |= !read && !c.stopped;
    for (uint32_t out = 0, wire = 0; out < t->outs && c.cycles_sum > 0; out++) {
        const bool between = leat_net_behind(t, out) != LEAT_NET_NONE;
        use[out] = between ? c.flits[wire++] / c.cycles_sum : 0;
    }
    free(c.flits);
    return c.cycles_sum > 0;
}

static void put_caption(const struct report *report, const struct report_point *point,
                        const char *what, struct leat_text *text)
{
    leat_text_puts(text, "<figcaption>");
    text_escape(text, report->line[point->line].name);
    leat_text_puts(text, what);
    leat_text_puts(text, "</figcaption>\n</figure>\n");
}

/* ", uniform traffic at load 0.3." */
static void put_use_caption(const struct report *report, const struct report_point *point,
                            bool drawn, struct leat_text *text)
{
    char line[WHY_CAP];
    struct leat_text what;
    leat_text_init(&what, line, sizeof line - 1, NULL, NULL);
    leat_text_puts(&what, ", ");
    text_escape(&what, report->traffic[point->traffic]);
    text_format(
        &what, " traffic at load %.6g%s%s.", (double)point->load / STORE_LOAD_ONE,
        report_is_saturated(point) ? ", where it is saturated" : "",
        drawn ? "" : ": it cannot be drawn; it is too large, or not what it was when it was run");
    line[what.len] = '\0';
    put_caption(report, point, line, text);
}

/* What is drawn. */
struct subject {
    struct leat_fabric *fabric;
    struct leat_net_topology t;
    void *memory;
};

/* False if it cannot be drawn, or is not a known fabric. Without memory the page is incomplete. */
static bool build(const char *fabric, struct subject *s, struct leat_text *text)
{
    struct leat_fabric_error error;
    memset(s, 0, sizeof *s);
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    errno = 0;
    s->fabric = leat_fabric_read(fabric, NULL, &error);
    if (s->fabric) s->memory = fabric_topology(s->fabric, &s->t, &why);
    text->overflowed |= !s->memory && errno == ENOMEM;
    return s->memory && fabric_draw_fits(&s->t, &why);
}

static void drop(struct subject *s)
{
    free(s->memory);
    leat_fabric_close(s->fabric);
}

static void put_used(const struct report *report, const struct report_point *point,
                     struct leat_text *text)
{
    struct subject s;
    double *use = NULL;
    const bool sound = build(report->line[point->line].fabric, &s, text);
    if (sound) use = calloc(s.t.outs, sizeof *use);
    text->overflowed |= sound && !use;
    const bool known = use && find_use(report, point, &s.t, use, text);
    leat_text_puts(text, "<figure class=\"drawing\">\n");
    if (known) fabric_draw(&s.t, use, text);
    put_use_caption(report, point, known, text);
    free(use);
    drop(&s);
}

/* A fabric without data about its wires, drawn plainly, with the reason. */
static void put_plain(const struct report *report, const struct report_point *point,
                      struct leat_text *text)
{
    const char *fabric = report->line[point->line].fabric;
    struct subject s;
    const bool network = fabric_counts_wires(fabric), sound = build(fabric, &s, text);
    leat_text_puts(text, "<figure class=\"drawing\">\n");
    if (sound) fabric_draw(&s.t, NULL, text);
    if (!sound)
        put_caption(report, point, " is not drawn: it is too large, or this leat does not know it.",
                    text);
    else if (!network)
        put_caption(report, point,
                    ", without colour: runs of ATM fabrics do not count the cells of each wire.",
                    text);
    else if (s.t.wires == 0)
        put_caption(report, point, ", without colour: it has no wires between routers.", text);
    else
        put_caption(report, point,
                    s.t.wires > NET_LINKS_FEW
                        ? ", without colour: of so many wires runs count the flits only with "
                          "--links."
                        : ", without colour: its runs are older than the counting of each wire; "
                          "a sweep with --links has it.",
                    text);
    drop(&s);
}

/* ---- which --------------------------------------------------------------------------------- */

/* Of a series: the highest load that is not saturated, or else the lowest. */
static const struct report_point *choose(const struct report *report, struct report_series series)
{
    const struct report_point *chosen = NULL;
    for (uint32_t i = series.first; i < series.first + series.count; i++) {
        const struct report_point *point = &report->point[i];
        if (!point->has_links || (chosen && report_is_saturated(point))) continue;
        chosen = point;
    }
    return chosen;
}

/* Any point of a line that can represent it. */
static const struct report_point *any_of(const struct report *report, size_t line)
{
    for (size_t t = 0; t < report->traffics; t++)
        if (report->series[line][t].count) return &report->point[report->series[line][t].first];
    return NULL;
}

struct figures {
    const struct report *report;
    struct leat_text *text;
    size_t drawn;
};

static void add_figure(struct figures *f, const struct report_point *point,
                       void (*put)(const struct report *, const struct report_point *,
                                   struct leat_text *))
{
    if (f->drawn++ == 0)
        leat_text_puts(f->text, "<h2 id=\"fabrics\">Where the wires are busy</h2>\n<p>Each fabric "
                                "at the highest load that does not saturate it, or else at its "
                                "lowest. A wire's colour is "
                                "the share of cycles in which it carries a flit, in its busier "
                                "direction; tooltips show both.</p>\n"
                                "<div class=\"charts\">\n");
    if (f->drawn <= REPORT_DRAWINGS_MAX) put(f->report, point, f->text);
}

int report_fabrics(const struct report *report, struct leat_text *text)
{
    struct figures figures = { .report = report, .text = text };
    for (size_t l = 0; l < report->lines; l++) {
        bool used = false;
        for (size_t t = 0; t < report->traffics && !interrupted; t++) {
            const struct report_point *point = choose(report, report->series[l][t]);
            if (!point || !fabric_counts_wires(report->line[l].fabric)) continue;
            used = true;
            add_figure(&figures, point, put_used);
        }
        if (!used && !interrupted) add_figure(&figures, any_of(report, l), put_plain);
    }
    if (figures.drawn) leat_text_puts(text, "</div>\n");
    if (figures.drawn > REPORT_DRAWINGS_MAX)
        text_format(text, "<p class=\"note\">The first %d of %zu are drawn.</p>\n",
                    REPORT_DRAWINGS_MAX, figures.drawn);
    return interrupted ? FAILED : DONE;
}
