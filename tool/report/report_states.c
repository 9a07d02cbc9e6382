/* leat report: one program, and the states that its drawings share: names, styles, legend. */
#include "markup.h"
#include "report.h"
#include <math.h>
#include <string.h>

static const char computing[] = "computing", waiting[] = "waiting";

enum { LEGEND_STEP = 20, LEGEND_KEY = 20, LEGEND_GAP = 18, LEGEND_NAME_MAX = 40 };
static const double legend_character = 6.7;
static const double scale_ratio = 25; /* of the longest and the shortest time on one axis */

/* ---- a program ----------------------------------------------------------------------------- */

static bool are_of_one(const struct program_run *a, const struct program_run *b)
{
    return strcmp(a->command, b->command) == 0 && strcmp(a->options, b->options) == 0;
}

static void add_state(struct program *p, const char *name, double seconds)
{
    size_t i = 0;
    while (i < p->states && strcmp(p->state[i], name) != 0)
        i++;
    if (i == PROGRAM_STATES_MAX) return; /* it has the style of the others */
    if (i == p->states) {
        strcpy(p->state[p->states++], name); /* both have PROGRAM_NAME_CAP */
        p->seconds[i] = 0;
    }
    p->seconds[i] += seconds;
}

static double timeline_seconds(const struct program_timeline *t, uint32_t state)
{
    double sum = 0;
    for (size_t i = state; i < (size_t)t->rows * t->columns * t->states; i += t->states)
        sum += t->share[i];
    return sum * t->column_seconds * t->group;
}

/* Calls by what the profile says; other states by the timeline. */
static void add_states(struct program *p, const struct program_run *run)
{
    for (uint32_t i = 0; i < run->calls; i++)
        add_state(p, run->call[i].name, run->call[i].seconds);
    if (!run->calls) add_state(p, waiting, run->task_waiting_seconds);
    for (uint32_t i = 0; i < run->timeline.states; i++) {
        bool known = strcmp(run->timeline.state[i], computing) == 0 ||
                     (!run->calls && strcmp(run->timeline.state[i], waiting) == 0);
        for (uint32_t k = 0; k < run->calls && !known; k++)
            known = strcmp(run->call[k].name, run->timeline.state[i]) == 0;
        if (!known) add_state(p, run->timeline.state[i], timeline_seconds(&run->timeline, i));
    }
}

/* The longest first; computing stays at the front. */
static void sort_states(struct program *p)
{
    for (size_t i = 2; i < p->states; i++)
        for (size_t k = i; k > 1 && p->seconds[k] > p->seconds[k - 1]; k--) {
            char name[PROGRAM_NAME_CAP];
            const double seconds = p->seconds[k];
            memcpy(name, p->state[k], sizeof name);
            memcpy(p->state[k], p->state[k - 1], sizeof name);
            memcpy(p->state[k - 1], name, sizeof name);
            p->seconds[k] = p->seconds[k - 1];
            p->seconds[k - 1] = seconds;
        }
}

/* The one in which the longest time has one to three digits before the point. */
static struct program_unit unit_for(double seconds)
{
    static const struct program_unit units[] = {
        { "s", 1 }, { "ms", 1e-3 }, { "µs", 1e-6 }, { "ns", 1e-9 }
    };
    size_t i = 0;
    while (i < 3 && seconds < units[i].seconds)
        i++;
    return units[i];
}

/* The longest of the runs that have no scale yet begins the next one. */
static void find_scales(struct program *p)
{
    size_t left = p->runs;
    for (size_t i = 0; i < p->runs; i++)
        p->scale[i] = SIZE_MAX;
    for (p->scales = 0; left; p->scales++) {
        double longest = 0;
        for (size_t i = 0; i < p->runs; i++)
            if (p->scale[i] == SIZE_MAX) longest = fmax(longest, p->run[i].seconds);
        for (size_t i = 0; i < p->runs; i++) {
            if (p->scale[i] != SIZE_MAX || p->run[i].seconds < longest / scale_ratio) continue;
            p->scale[i] = p->scales;
            left--;
        }
        p->scale_unit[p->scales] = unit_for(longest);
    }
}

void program_describe(const struct programs *programs, size_t first, size_t number,
                      struct program *out)
{
    double shortest = INFINITY;
    out->number = number;
    out->run = &programs->run[first];
    out->states = 0;
    add_state(out, computing, 0);
    for (out->runs = 0; first + out->runs < programs->runs; out->runs++) {
        const struct program_run *run = &out->run[out->runs];
        if (!are_of_one(run, out->run)) break;
        add_states(out, run);
        if (run->seconds > 0) shortest = fmin(shortest, run->seconds);
    }
    sort_states(out);
    out->unit = unit_for(shortest);
    find_scales(out);
}

unsigned program_style(const struct program *program, const char *state)
{
    for (size_t i = 0; i < program->states && i < PROGRAM_OTHER; i++)
        if (strcmp(program->state[i], state) == 0) return (unsigned)i;
    return PROGRAM_OTHER;
}

const char *program_style_name(const struct program *program, unsigned style)
{
    return style == PROGRAM_OTHER ? "other calls" : program->state[style];
}

void program_times(const struct program *program, const struct program_run *run,
                   double seconds[PROGRAM_STYLES])
{
    const double tasks = run->tasks ? run->tasks : 1;
    double inside = 0;
    memset(seconds, 0, PROGRAM_STYLES * sizeof *seconds);
    for (uint32_t i = 0; i < run->calls; i++) {
        seconds[program_style(program, run->call[i].name)] += run->call[i].seconds / tasks;
        inside += run->call[i].seconds / tasks;
    }
    if (!run->calls) {
        inside = run->task_waiting_seconds / tasks;
        seconds[program_style(program, waiting)] = inside;
    }
    seconds[0] = fmax(0, run->task_seconds / tasks - inside);
}

bool program_has_one_matrix(const struct program *program)
{
    const struct program_matrix *first = NULL;
    for (size_t i = 0; i < program->runs; i++) {
        const struct program_matrix *m = &program->run[i].matrix;
        const size_t len = (size_t)m->rows * m->rows * sizeof *m->octets;
        if (!m->rows) continue;
        if (first && (first->rows != m->rows || memcmp(first->octets, m->octets, len) != 0 ||
                      memcmp(first->messages, m->messages, len) != 0))
            return false;
        first = m;
    }
    return true;
}

/* ---- styles -------------------------------------------------------------------------------- */

/* Light and dark in turn, so that neighbours differ without colours, too: the steps of viridis (van
 * der Walt and Smith 2015), whose lightness grows evenly; on black, the dark ones are lighter.
 * Computing and the rest are grey. */
static const struct fill {
    const char *on_paper, *on_black;
} fills[PROGRAM_STYLES] = {
    { "#d9dde2", "#d9dde2" }, { "#365c8d", "#4f7fb5" }, { "#a0da39", "#a0da39" },
    { "#440154", "#7a3d8f" }, { "#4ac16d", "#4ac16d" }, { "#46327e", "#6d5ab0" },
    { "#fde725", "#fde725" }, { "#277f8e", "#2f96a6" }, { "#1fa187", "#27b598" },
    { "#8a929b", "#8a929b" },
};

static void put_fills(struct leat_text *text, bool on_black)
{
    for (unsigned i = 0; i < PROGRAM_STYLES; i++)
        text_format(text, ".s%u { fill: %s }\n", i,
                    on_black ? fills[i].on_black : fills[i].on_paper);
}

static void put_rules(struct leat_text *text, const char *ink, const char *paper)
{
    text_format(text,
                ".key { stroke: %s; stroke-width: .6 }\n"
                ".bar { stroke: %s; stroke-width: .8 }\n"
                ".cell { fill: %s }\n"
                ".chart .small { font-size: 10px }\n",
                ink, paper, ink);
}

void program_style_sheet(struct leat_text *text)
{
    put_fills(text, false);
    leat_text_puts(text, "@media screen and (prefers-color-scheme: dark) {\n");
    put_fills(text, true);
    leat_text_puts(text, "}\n");
    put_rules(text, "var(--ink)", "var(--paper)");
}

void program_style_sheet_on_paper(struct leat_text *text)
{
    put_fills(text, false);
    put_rules(text, "#1c2024", "#ffffff");
}

/* ---- the legend ---------------------------------------------------------------------------- */

struct place {
    double x, y, left, right;
};

static void put_key(struct leat_text *text, struct place *at, unsigned style, const char *name)
{
    const size_t len = text_width(name);
    const double width =
        LEGEND_KEY + legend_character * (double)(len < LEGEND_NAME_MAX ? len : LEGEND_NAME_MAX + 1);
    if (at->x > at->left && at->x + width > at->right) {
        at->x = at->left;
        at->y += LEGEND_STEP;
    }
    if (text) {
        text_format(text,
                    "<rect class=\"key s%u\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>"
                    "<text x=\"%.1f\" y=\"%.1f\">",
                    style, at->x, at->y, at->x + LEGEND_KEY, at->y + 10);
        text_escape_short(text, name, LEGEND_NAME_MAX);
        leat_text_puts(text, "</text>\n");
    }
    at->x += width + LEGEND_GAP;
}

double program_legend(const struct program *program, const bool has[PROGRAM_STYLES],
                      struct leat_text *text, double x, double y, double right)
{
    struct place at = { x, y, x, right };
    for (unsigned i = 0; i < PROGRAM_STYLES; i++)
        if (has[i]) put_key(text, &at, i, program_style_name(program, i));
    return at.y + LEGEND_STEP;
}
