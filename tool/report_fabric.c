/* leat report: the fabrics, drawn with the use of their wires as colour. */
#include "fabric_draw.h"
#include "net_design.h"
#include "report.h"
#include "report_text.h"
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
    uint32_t at;       /* the next one of the run at hand */
    double cycles;     /* of that run */
    double cycles_sum; /* of all that were counted */
    bool found, over;  /* runs come in order: after the first that is the point's, after its last */
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

/* A run whose wires are not those of the fabric as it is now does not count. */
static bool on_run(void *context, const struct store_run *run)
{
    struct counting *c = context;
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

/* ---- drawing ------------------------------------------------------------------------------- */

/* What a wire carries of what it could: a flit per cycle. Wires are listed by output port; those to
 * terminals are not. */
static bool find_use(const struct report *report, const struct report_point *point,
                     const struct leat_net_topology *t, double *use)
{
    const struct report_line *line = &report->line[point->line];
    struct counting c = { .report = report, .point = point, .wires = t->wires };
    c.flits = calloc(t->wires ? t->wires : 1, sizeof *c.flits);
    if (c.flits && !store_each_run(report->store, report->sweep[line->sweep].id, on_run, &c) &&
        !c.over)
        c.cycles_sum = 0;
    for (uint32_t out = 0, wire = 0; out < t->outs && c.cycles_sum > 0; out++) {
        const bool between = leat_net_behind(t, out) != LEAT_NET_NONE;
        use[out] = between ? c.flits[wire++] / c.cycles_sum : 0;
    }
    free(c.flits);
    return c.cycles_sum > 0;
}

static bool put_drawing(const struct leat_net_topology *t, const double *use,
                        struct leat_text *text)
{
    char *drawing = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&drawing, &len);
    if (!out) return false;
    bool done = fabric_draw_element(t, use, out);
    done &= fclose(out) == 0;
    if (done) leat_text_put(text, drawing, len);
    free(drawing);
    return done;
}

static void put_caption(const struct report *report, const struct report_point *point, bool drawn,
                        struct leat_text *text)
{
    leat_text_puts(text, "<figcaption>");
    text_escape(text, report->line[point->line].name);
    leat_text_puts(text, ", ");
    text_escape(text, report->traffic[point->traffic]);
    text_format(
        text, " traffic at load %.6g%s%s.</figcaption>\n</figure>\n",
        (double)point->load / STORE_LOAD_ONE,
        report_is_saturated(point) ? ", where it is saturated" : "",
        drawn ? "" : ": it cannot be drawn; it is too large, or not what it was when it was run");
}

static void put_fabric(const struct report *report, const struct report_point *point,
                       struct leat_text *text)
{
    struct net_design design;
    struct leat_net_topology t;
    char line[WHY_CAP];
    struct leat_text why;
    void *memory = NULL;
    double *use = NULL;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    bool sound = net_read(report->verb, report->line[point->line].fabric, &design) &&
                 !leat_net_shape_check(&design.plan.shape, &why);
    if (sound) memory = calloc(1, leat_net_topology_footprint(&design.plan.shape));
    sound = memory && !leat_net_topology_build(&t, &design.plan.shape, memory, &why) &&
            fabric_draw_fits(&t, &why);
    if (sound) use = calloc(t.outs, sizeof *use);
    leat_text_puts(text, "<figure class=\"drawing\">\n");
    sound = use && find_use(report, point, &t, use) && put_drawing(&t, use, text);
    put_caption(report, point, sound, text);
    free(use);
    free(memory);
    net_design_free(&design);
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

int report_fabrics(const struct report *report, struct leat_text *text)
{
    size_t drawn = 0;
    for (size_t l = 0; l < report->lines; l++)
        for (size_t t = 0; t < report->traffics && !interrupted; t++) {
            const struct report_point *point = choose(report, report->series[l][t]);
            if (!point || !net_is(report->line[l].fabric)) continue;
            if (drawn++ == 0)
                leat_text_puts(text,
                               "<h2 id=\"fabrics\">Where the wires are busy</h2>\n<p>Each fabric "
                               "at the highest load that does not saturate it, or else at its "
                               "lowest. A wire's colour is "
                               "the share of cycles in which it carries a flit, in its busier "
                               "direction; what lies under the pointer tells both.</p>\n"
                               "<div class=\"charts\">\n");
            if (drawn <= REPORT_DRAWINGS_MAX) put_fabric(report, point, text);
        }
    if (drawn) leat_text_puts(text, "</div>\n");
    if (drawn > REPORT_DRAWINGS_MAX)
        text_format(text, "<p class=\"note\">The first %d of %zu are drawn.</p>\n",
                    REPORT_DRAWINGS_MAX, drawn);
    return interrupted ? FAILED : DONE;
}
