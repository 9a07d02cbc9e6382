#include "fabric_draw.h"
#include "fabric_draw_layout.h"
#include "leat_json.h"
#include "markup.h"
#include <math.h>
#include <stdlib.h>

enum {
    SCALE = 52,  /* pixels of a pitch */
    RADIUS = 13, /* of a router */
    DOT = 4,     /* the radius of a terminal */
    MARGIN = 40,
    CAPTION = 34,      /* the height above */
    LEGEND = 46,       /* the height below */
    LEGEND_PARTS = 20, /* coloured pieces, each so wide: */
    LEGEND_PART = 9,
    WIDTH_MIN = 460,  /* for the caption */
    WIDTH_MAX = 1600, /* of the picture at its first appearance */
};

/* A wire in both directions, or in one. */
struct wire {
    uint32_t a, b;         /* routers, the lower first */
    uint32_t forth, back;  /* output ports; NONE */
    uint32_t index, count; /* among all wires between these two */
};

/* A directed wire, to be sorted. */
struct half {
    uint32_t a, b, out;
    bool back;
};

struct drawing {
    const struct leat_net_topology *t;
    const double *use;
    struct leat_text *text;
    struct fabric_layout layout;
    struct half half[FABRIC_DRAW_WIRES_MAX];
    struct wire wire[FABRIC_DRAW_WIRES_MAX];
    uint32_t wires;
    struct fabric_point least, most; /* bounding box */
};

/* ---- what is drawn -------------------------------------------------------------------------- */

static int compare_halves(const void *left, const void *right)
{
    const struct half *x = left, *y = right;
    const uint32_t a[] = { x->a, x->b, x->back, x->out }, b[] = { y->a, y->b, y->back, y->out };
    for (int i = 0; i < 4; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* All wires between two routers: the first in each direction form a pair, and so on. */
static void add_wires(struct drawing *d, const struct half *half, uint32_t count)
{
    uint32_t forth = 0;
    while (forth < count && !half[forth].back)
        forth++;
    const uint32_t back = count - forth, wires = forth > back ? forth : back;
    for (uint32_t i = 0; i < wires; i++)
        d->wire[d->wires++] = (struct wire){ .a = half->a,
                                             .b = half->b,
                                             .forth = i < forth ? half[i].out : LEAT_NET_NONE,
                                             .back = i < back ? half[forth + i].out : LEAT_NET_NONE,
                                             .index = i,
                                             .count = wires };
}

static void find_wires(struct drawing *d)
{
    const struct leat_net_topology *t = d->t;
    uint32_t halves = 0;
    d->wires = 0;
    for (uint32_t o = 0; o < t->outs; o++) {
        if (t->out_to[o] & LEAT_NET_TERMINAL) continue;
        const uint32_t a = t->out_router[o], b = t->in_router[t->out_to[o]];
        d->half[halves++] = a < b ? (struct half){ a, b, o, false }
                                  : (struct half){ b, a, o, true };
    }
    qsort(d->half, halves, sizeof *d->half, compare_halves);
    for (uint32_t i = 0, end; i < halves; i = end) {
        end = i + 1;
        while (end < halves && d->half[end].a == d->half[i].a && d->half[end].b == d->half[i].b)
            end++;
        add_wires(d, d->half + i, end - i);
    }
}

/* ---- colours -------------------------------------------------------------------------------- */

static double use_of(const struct drawing *d, uint32_t out)
{
    const double use = d->use && out != LEAT_NET_NONE ? d->use[out] : 0;
    return use > 0 ? fmin(use, 1) : 0; /* NAN: none */
}

/* From grey through blue and yellow to red, all with a lightness that shows on white and on black.
 */
static void put_colour(struct leat_text *text, double use)
{
    static const double stop[][3] = {
        { 138, 153, 168 }, { 74, 144, 196 }, { 214, 160, 24 }, { 230, 97, 1 }, { 202, 0, 32 }
    };
    enum { LAST = sizeof stop / sizeof *stop - 1 };
    const double at = use * LAST;
    const int i = at >= LAST ? LAST - 1 : (int)at;
    leat_text_putc(text, '#');
    for (int c = 0; c < 3; c++)
        text_format(text, "%02x",
                    (unsigned)lround(stop[i][c] + (at - i) * (stop[i + 1][c] - stop[i][c])));
}

/* The colour and width of a line, if utilisation is drawn. */
static void put_stroke(const struct drawing *d, double use)
{
    if (!d->use) return;
    leat_text_puts(d->text, " style=\"stroke:");
    put_colour(d->text, use);
    text_format(d->text, ";stroke-width:%.1f\"", 1.2 + 3.3 * use);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static struct fabric_point pixels(struct fabric_point p)
{
    return (struct fabric_point){ p.x * SCALE, p.y * SCALE };
}

/* "0 > 1: 0.42" */
static void put_direction(const struct drawing *d, uint32_t from, uint32_t to, uint32_t out)
{
    text_format(d->text, "%u &gt; %u", from, to);
    if (d->use) text_format(d->text, ": %.3f", use_of(d, out));
    if (d->t->out_cycles[out] > 1) text_format(d->text, " (%u cycles)", d->t->out_cycles[out]);
}

static void put_wire_title(const struct drawing *d, const struct wire *w)
{
    leat_text_puts(d->text, "<title>");
    if (w->forth != LEAT_NET_NONE) put_direction(d, w->a, w->b, w->forth);
    if (w->forth != LEAT_NET_NONE && w->back != LEAT_NET_NONE) leat_text_puts(d->text, ", ");
    if (w->back != LEAT_NET_NONE) put_direction(d, w->b, w->a, w->back);
    leat_text_puts(d->text, "</title>");
}

/* The point at the middle of a bent wire: upwards or to the left, since terminals are on the other
 * sides. */
static struct fabric_point middle_of(const struct drawing *d, const struct wire *w)
{
    const struct fabric_layout *l = &d->layout;
    const struct fabric_point a = l->router[w->a], b = l->router[w->b];
    const double dx = b.x - a.x, dy = b.y - a.y, length = fmax(sqrt(dx * dx + dy * dy), 1e-9);
    const double bend = fabric_layout_bend(d->t, l, w->a, w->b) +
                        0.2 * l->gap * (w->index - (w->count - 1) / 2.0);
    const double aside = (dy > fabs(dx) ? -bend : bend) / length;
    return (struct fabric_point){ (a.x + b.x) / 2 + dy * aside, (a.y + b.y) / 2 - dx * aside };
}

/* Only graphs have one-way wires that nothing else shows. */
static void put_arrow(const struct drawing *d, const struct wire *w, struct fabric_point middle)
{
    const bool forth = w->forth != LEAT_NET_NONE;
    if (d->t->shape.kind != LEAT_NET_GRAPH || (forth && w->back != LEAT_NET_NONE)) return;
    const struct fabric_point a = d->layout.router[forth ? w->a : w->b];
    const struct fabric_point b = d->layout.router[forth ? w->b : w->a];
    text_format(d->text,
                "<path class=\"arrow\" d=\"M-5,-4L5,0L-5,4Z\" transform=\"translate(%.1f,%.1f) "
                "rotate(%.0f)\"/>\n",
                middle.x, middle.y, atan2(b.y - a.y, b.x - a.x) * 180 / acos(-1));
}

static void put_wire(const struct drawing *d, const struct wire *w)
{
    const struct fabric_point a = pixels(d->layout.router[w->a]),
                              b = pixels(d->layout.router[w->b]);
    const struct fabric_point m = pixels(middle_of(d, w));
    const bool straight = fabs(m.x - (a.x + b.x) / 2) + fabs(m.y - (a.y + b.y) / 2) < 0.1;
    text_format(d->text, "<path class=\"line\" d=\"M%.1f,%.1f", a.x, a.y);
    if (!straight)
        text_format(d->text, "Q%.1f,%.1f ", 2 * m.x - (a.x + b.x) / 2, 2 * m.y - (a.y + b.y) / 2);
    text_format(d->text, "%s%.1f,%.1f\"", straight ? "L" : "", b.x, b.y);
    put_stroke(d, fmax(use_of(d, w->forth), use_of(d, w->back)));
    leat_text_putc(d->text, '>');
    put_wire_title(d, w);
    leat_text_puts(d->text, "</path>\n");
    put_arrow(d, w, m);
}

/* ---- terminals ------------------------------------------------------------------------------ */

static bool is_terminal(uint32_t end)
{
    return end != LEAT_NET_NONE && end & LEAT_NET_TERMINAL;
}

static void cover(struct drawing *d, struct fabric_point p)
{
    d->least = (struct fabric_point){ fmin(d->least.x, p.x), fmin(d->least.y, p.y) };
    d->most = (struct fabric_point){ fmax(d->most.x, p.x), fmax(d->most.y, p.y) };
}

/* A dot and its line; `out`: its output port, NONE if the terminal sends. */
static void put_terminal(struct drawing *d, uint32_t router, uint32_t terminal,
                         struct fabric_point place, uint32_t out)
{
    const struct fabric_point a = pixels(d->layout.router[router]), b = pixels(place);
    const bool sends = out == LEAT_NET_NONE;
    text_format(d->text, "<g><path class=\"line\" d=\"M%.1f,%.1fL%.1f,%.1f\"", a.x, a.y, b.x, b.y);
    put_stroke(d, use_of(d, out));
    text_format(d->text, "/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/><title>terminal %u", b.x, b.y,
                DOT, terminal);
    if (d->layout.two_sides) leat_text_puts(d->text, sends ? " sends" : " receives");
    if (d->use && !sends) text_format(d->text, ": %.3f", use_of(d, out));
    leat_text_puts(d->text, "</title></g>\n");
}

/* The terminals at one side of a router: those of its output ports, or of its input ports. With
 * `draw` off only the bounding box grows. */
static void do_terminals(struct drawing *d, uint32_t router, bool sends, bool draw)
{
    const struct leat_net_topology *t = d->t;
    const uint32_t *first = sends ? t->in_first : t->out_first,
                   *end = sends ? t->in_from : t->out_to;
    const double side = sends ? d->layout.side_in : d->layout.side[router];
    uint32_t count = 0, index = 0;
    for (uint32_t p = first[router]; p < first[router + 1]; p++)
        count += is_terminal(end[p]);
    for (uint32_t p = first[router]; p < first[router + 1]; p++) {
        if (!is_terminal(end[p])) continue;
        const struct fabric_point place = fabric_layout_terminal(&d->layout, router, side, index++,
                                                                 count);
        if (draw)
            put_terminal(d, router, end[p] & ~LEAT_NET_TERMINAL, place, sends ? LEAT_NET_NONE : p);
        else
            cover(d, place);
    }
}

static void do_all_terminals(struct drawing *d, bool draw)
{
    if (d->t->terminals > FABRIC_DRAW_TERMINALS_MAX) return;
    for (uint32_t r = 0; r < d->t->routers; r++) {
        if (d->layout.two_sides) do_terminals(d, r, true, draw);
        do_terminals(d, r, false, draw);
    }
}

/* ---- routers -------------------------------------------------------------------------------- */

static void put_router(const struct drawing *d, uint32_t router)
{
    const struct fabric_point at = pixels(d->layout.router[router]);
    const uint32_t dimensions = leat_net_shape_dimensions(&d->t->shape);
    const double font = router < 100 ? 11 : router < 1000 ? 9.5 : 8;
    text_format(d->text,
                "<g><circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/><text x=\"%.1f\" y=\"%.1f\" "
                "font-size=\"%.1f\">%u</text><title>router %u",
                at.x, at.y, RADIUS, at.x, at.y + font * 0.36, font, router, router);
    for (uint32_t i = 0; dimensions > 1 && i < dimensions; i++)
        text_format(d->text, "%s%u", i ? "," : " at ",
                    leat_net_topology_coordinate(d->t, router, i));
    leat_text_puts(d->text, "</title></g>\n");
}

/* ---- the frame ------------------------------------------------------------------------------ */

/* Under a class of its own, since it may be embedded in a page. */
static const char style[] =
    "<style>"
    ".leat-fabric .ground{fill:#fff}"
    ".leat-fabric text{font-family:system-ui,sans-serif;fill:#1f2933;text-anchor:middle}"
    ".leat-fabric .caption{font-size:15px;text-anchor:start}"
    ".leat-fabric .tick{font-size:11px}"
    ".leat-fabric .line{fill:none;stroke:#8a99a8;stroke-width:1.6}"
    ".leat-fabric .arrow{fill:#5b6b7b}"
    ".leat-fabric .terminals circle{fill:#2f855a}"
    ".leat-fabric .routers circle{fill:#e8eff7;stroke:#2b5c8a;stroke-width:1.4}"
    "@media (prefers-color-scheme:dark){"
    ".leat-fabric .ground{fill:#14181d}"
    ".leat-fabric text{fill:#e3e8ee}"
    ".leat-fabric .line{stroke:#74828f}"
    ".leat-fabric .arrow{fill:#a9b7c4}"
    ".leat-fabric .terminals circle{fill:#5fc08d}"
    ".leat-fabric .routers circle{fill:#1e2f40;stroke:#7fb2e0}"
    "}</style>\n";

static void put_shape(const struct drawing *d)
{
    const struct leat_net_shape *s = &d->t->shape;
    leat_text_puts(d->text, leat_net_kind_name(s->kind));
    for (uint32_t i = 0; i < s->numbers; i++)
        text_format(d->text, "%c%u", i ? ',' : ':', s->number[i]);
}

static void put_caption(const struct drawing *d, double left, double top)
{
    const struct leat_net_topology *t = d->t;
    text_format(d->text, "<text class=\"caption\" x=\"%.1f\" y=\"%.1f\">", left + MARGIN / 2.0,
                top + 24);
    put_shape(d);
    text_format(d->text, ": %u router%s, %u terminal%s", t->routers, t->routers == 1 ? "" : "s",
                t->terminals, t->terminals == 1 ? "" : "s");
    if (t->terminals > FABRIC_DRAW_TERMINALS_MAX) leat_text_puts(d->text, " (not drawn)");
    text_format(d->text, ", %u one-way wire%s</text>\n", t->wires, t->wires == 1 ? "" : "s");
}

static void put_legend(const struct drawing *d, double left, double top)
{
    leat_text_puts(d->text, "<g class=\"legend\">");
    for (int i = 0; i < LEGEND_PARTS; i++) {
        text_format(d->text, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"10\" fill=\"",
                    left + MARGIN / 2.0 + i * LEGEND_PART, top, LEGEND_PART);
        put_colour(d->text, (i + 0.5) / LEGEND_PARTS);
        leat_text_puts(d->text, "\"/>");
    }
    for (int i = 0; i <= 4; i++)
        text_format(d->text, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">%d%%</text>",
                    left + MARGIN / 2.0 + i * LEGEND_PARTS * LEGEND_PART / 4.0, top + 23, i * 25);
    leat_text_puts(d->text, "<title>utilisation of a wire, its busier direction</title></g>\n");
}

static void put_body(struct drawing *d)
{
    leat_text_puts(d->text, "<g class=\"wires\">\n");
    for (uint32_t i = 0; i < d->wires; i++)
        put_wire(d, &d->wire[i]);
    leat_text_puts(d->text, "</g>\n<g class=\"terminals\">\n");
    do_all_terminals(d, true);
    leat_text_puts(d->text, "</g>\n<g class=\"routers\">\n");
    for (uint32_t r = 0; r < d->t->routers; r++)
        put_router(d, r);
    leat_text_puts(d->text, "</g>\n");
}

static void put_picture(struct drawing *d)
{
    const struct fabric_point least = pixels(d->least), most = pixels(d->most);
    const double width = fmax(most.x - least.x + 2 * MARGIN, WIDTH_MIN);
    const double left = (least.x + most.x - width) / 2, top = least.y - MARGIN - CAPTION;
    const double bottom = most.y + MARGIN, height = bottom + (d->use ? LEGEND : 0) - top;
    const double shown = fmin(1, WIDTH_MAX / width);
    text_format(d->text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"leat-fabric\" role=\"img\" "
                "viewBox=\"%.1f %.1f %.1f %.1f\" width=\"%.0f\" height=\"%.0f\" "
                "style=\"max-width:100%%;height:auto\">\n<title>",
                left, top, width, height, width * shown, height * shown);
    put_shape(d);
    leat_text_puts(d->text, "</title>\n");
    leat_text_puts(d->text, style);
    text_format(d->text,
                "<rect class=\"ground\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                left, top, width, height);
    put_caption(d, left, top);
    put_body(d);
    if (d->use) put_legend(d, left, bottom + 8);
    leat_text_puts(d->text, "</svg>\n");
}

/* ---- all ------------------------------------------------------------------------------------ */

static bool refuse(uint32_t count, const char *what, uint32_t most, struct leat_text *why)
{
    leat_text_decimal(why, count);
    leat_text_puts(why, what);
    leat_text_puts(why, ", expected at most ");
    leat_text_decimal(why, most);
    leat_text_puts(why, " to be drawn");
    return false;
}

bool fabric_draw_fits(const struct leat_net_topology *t, struct leat_text *why)
{
    if (t->routers > FABRIC_DRAW_ROUTERS_MAX)
        return refuse(t->routers, " routers", FABRIC_DRAW_ROUTERS_MAX, why);
    if (t->wires > FABRIC_DRAW_WIRES_MAX)
        return refuse(t->wires, " wires", FABRIC_DRAW_WIRES_MAX, why);
    return true;
}

static struct drawing *lay_out(const struct leat_net_topology *t, struct leat_text *text)
{
    static struct drawing d;
    d.t = t;
    d.use = NULL;
    d.text = text;
    fabric_layout_make(t, &d.layout);
    find_wires(&d);
    d.least = d.most = d.layout.router[0];
    for (uint32_t r = 0; r < t->routers; r++)
        cover(&d, d.layout.router[r]);
    for (uint32_t i = 0; i < d.wires; i++)
        cover(&d, middle_of(&d, &d.wire[i]));
    do_all_terminals(&d, false);
    return &d;
}

void fabric_draw(const struct leat_net_topology *t, const double *use, struct leat_text *text)
{
    struct drawing *d = lay_out(t, text);
    d->use = use;
    put_picture(d);
}

/* ---- places --------------------------------------------------------------------------------- */

static void put_point(struct leat_json *j, struct fabric_point p)
{
    const struct fabric_point at = pixels(p);
    leat_json_int(j, NULL, lround(at.x));
    leat_json_int(j, NULL, lround(at.y));
}

/* In the order of their numbers. */
static void put_places_of_terminals(const struct drawing *d, bool sends, struct leat_json *j)
{
    const struct leat_net_topology *t = d->t;
    const uint32_t *first = sends ? t->in_first : t->out_first,
                   *end = sends ? t->in_from : t->out_to;
    for (uint32_t i = 0; i < t->terminals; i++) {
        const uint32_t own = sends ? t->terminal_in[i] : t->terminal_out[i];
        const uint32_t router = sends ? t->in_router[own] : t->out_router[own];
        uint32_t count = 0, index = 0;
        for (uint32_t p = first[router]; p < first[router + 1]; p++) {
            index += p < own && is_terminal(end[p]);
            count += is_terminal(end[p]);
        }
        put_point(j, fabric_layout_terminal(&d->layout, router,
                                            sends ? d->layout.side_in : d->layout.side[router],
                                            index, count));
        leat_json_uint(j, NULL, router);
    }
}

static void put_frame(const struct drawing *d, struct leat_json *j)
{
    const struct fabric_point least = pixels(d->least), most = pixels(d->most);
    leat_json_int(j, "left", lround(least.x) - MARGIN);
    leat_json_int(j, "top", lround(least.y) - MARGIN);
    leat_json_int(j, "width", lround(most.x - least.x) + 2 * MARGIN);
    leat_json_int(j, "height", lround(most.y - least.y) + 2 * MARGIN);
}

static void put_places_of_wires(const struct drawing *d, struct leat_json *j)
{
    for (uint32_t i = 0; i < d->wires; i++) {
        leat_json_uint(j, NULL, d->wire[i].a);
        leat_json_uint(j, NULL, d->wire[i].b);
        put_point(j, middle_of(d, &d->wire[i]));
    }
}

void fabric_draw_places(const struct leat_net_topology *t, struct leat_text *text)
{
    const struct drawing *d = lay_out(t, text);
    const bool has_terminals = t->terminals <= FABRIC_DRAW_TERMINALS_MAX;
    struct leat_json json;
    leat_json_init(&json, text);
    leat_json_object(&json, NULL);
    put_frame(d, &json);
    leat_json_array(&json, "routers");
    for (uint32_t r = 0; r < t->routers; r++)
        put_point(&json, d->layout.router[r]);
    leat_json_end(&json);
    leat_json_array(&json, "terminals");
    if (has_terminals) put_places_of_terminals(d, false, &json);
    leat_json_end(&json);
    leat_json_array(&json, "senders");
    if (has_terminals && d->layout.two_sides) put_places_of_terminals(d, true, &json);
    leat_json_end(&json);
    leat_json_array(&json, "wires");
    put_places_of_wires(d, &json);
    leat_json_end(&json);
    leat_json_end(&json);
}
