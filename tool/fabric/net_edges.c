/* A graph as a file of edges: "A B [CYCLES]" for a wire in both directions, "A > B [CYCLES]" or
 * "A>B" for one. */
#include "leat_tree.h"
#include "lines.h"
#include "net_design.h"
#include <string.h>

static bool read_number(struct word w, uint64_t most, uint32_t *out)
{
    uint64_t number;
    if (!leat_tree_number(w.text, w.len, &number) || number > most) return false;
    *out = (uint32_t)number;
    return true;
}

/* As lines_word, but an arrow is a word of its own: 0>1. */
static bool next_word(struct word *line, struct word *out)
{
    if (!lines_word(line, out)) return false;
    const char *end = out->text + out->len, *arrow = memchr(out->text, '>', out->len);
    if (arrow) out->len = arrow == out->text ? 1 : (size_t)(arrow - out->text);
    const size_t back = (size_t)(end - (out->text + out->len));
    line->text -= back;
    line->len += back;
    return true;
}

static bool read_edge(void *context, const struct place *place, struct word line)
{
    struct net_design *d = context;
    struct leat_net_shape *shape = &d->plan.shape;
    struct leat_net_edge edge = { .cycles = 0 };
    struct word a, b = { NULL, 0 }, cycles, more;
    next_word(&line, &a);
    bool good = next_word(&line, &b);
    if (good && is_word(b, ">")) {
        edge.one_way = true;
        good = next_word(&line, &b);
    }
    if (!good || !read_number(a, LEAT_NET_ROUTERS_MAX - 1, &edge.a) ||
        !read_number(b, LEAT_NET_ROUTERS_MAX - 1, &edge.b))
        return wrong(place, "'%s%s%s', expected A B or A > B: router numbers of 0 to %d",
                     show(a).text, edge.one_way ? " > " : " ", show(b).text,
                     LEAT_NET_ROUTERS_MAX - 1);
    if (lines_word(&line, &cycles) &&
        (!read_number(cycles, LEAT_NET_WIRE_CYCLES_MAX, &edge.cycles) || !edge.cycles))
        return wrong(place, "'%s', expected the cycles of the wire, 1 to %d", show(cycles).text,
                     LEAT_NET_WIRE_CYCLES_MAX);
    if (lines_word(&line, &more))
        return wrong(place, "'%s', expected the end of the line", show(more).text);
    if (edge.a == edge.b)
        return wrong(place, "a wire from router %u to itself, expected another router", edge.a);
    if (shape->edges == NET_EDGES_MAX)
        return wrong(place, "one edge too many, expected at most %d", NET_EDGES_MAX);
    struct leat_net_edge *grown = net_grow(d->edge, shape->edges, sizeof *grown);
    if (!grown) return false;
    d->edge = grown;
    uint32_t *lines = net_grow(d->edge_line, shape->edges, sizeof *lines);
    if (!lines) return false;
    d->edge_line = lines;
    d->edge_line[shape->edges] = place->line;
    d->edge[shape->edges++] = edge;
    if (edge.a >= shape->routers) shape->routers = edge.a + 1;
    if (edge.b >= shape->routers) shape->routers = edge.b + 1;
    return true;
}

bool net_read_edges(const char *file, struct net_design *d)
{
    if (!lines_read(file, read_edge, d, &d->line)) return false;
    if (d->line == 0) d->line = 1;
    d->routing_line = d->switch_line = d->line;
    d->plan.shape.edge = d->edge;
    if (d->plan.shape.edges) return true;
    return wrong(&(struct place){ file, d->line }, "no edge up to the end, expected at least one");
}
