/* A graph as a file of edges: "A B [CYCLES]" for a wire in both directions, "A > B [CYCLES]" or
 * "A>B" for one. */
#include "fabric_flits.h"
#include "fabric_word_parts.h"

/* Like lines_word, but an arrow is a separate word: 0>1. */
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

static bool read_edge(void *context, const struct leat_fabric_place *place, struct word line)
{
    struct leat_fabric_design *d = context;
    struct leat_net_shape *shape = &d->plan.shape;
    struct leat_net_edge edge = { .cycles = 0 };
    struct word a, b = { NULL, 0 }, cycles, more;
    next_word(&line, &a);
    bool good = next_word(&line, &b);
    if (good && is_word(b, ">")) {
        edge.one_way = true;
        good = next_word(&line, &b);
    }
    if (!good || !leat_fabric_number(a, 0, LEAT_NET_ROUTERS_MAX - 1, &edge.a) ||
        !leat_fabric_number(b, 0, LEAT_NET_ROUTERS_MAX - 1, &edge.b))
        return leat_fabric_wrong(
            place, "'%s%s%s', expected A B or A > B: router numbers of 0 to %d", show(a).text,
            edge.one_way ? " > " : " ", show(b).text, LEAT_NET_ROUTERS_MAX - 1);
    if (lines_word(&line, &cycles) &&
        !leat_fabric_number(cycles, 1, LEAT_NET_WIRE_CYCLES_MAX, &edge.cycles))
        return leat_fabric_wrong(place, "'%s', expected the cycles of the wire, 1 to %d",
                                 show(cycles).text, LEAT_NET_WIRE_CYCLES_MAX);
    if (lines_word(&line, &more))
        return leat_fabric_wrong(place, "'%s', expected the end of the line", show(more).text);
    if (edge.a == edge.b)
        return leat_fabric_wrong(place, "a wire from router %u to itself, expected another router",
                                 edge.a);
    if (shape->edges == LEAT_FABRIC_EDGES_MAX)
        return leat_fabric_wrong(place, "one edge too many, expected at most %d",
                                 LEAT_FABRIC_EDGES_MAX);
    struct leat_net_edge *grown = leat_fabric_grow(d->edge, shape->edges, sizeof *grown,
                                                   place->error);
    if (!grown) return false;
    d->edge = grown;
    uint32_t *lines = leat_fabric_grow(d->edge_line, shape->edges, sizeof *lines, place->error);
    if (!lines) return false;
    d->edge_line = lines;
    d->edge_line[shape->edges] = place->line;
    d->edge[shape->edges++] = edge;
    if (edge.a >= shape->routers) shape->routers = edge.a + 1;
    if (edge.b >= shape->routers) shape->routers = edge.b + 1;
    return true;
}

bool leat_fabric_read_edges(const char *file, bool (*interrupted)(void),
                            struct leat_fabric_design *d, struct leat_fabric_error *error)
{
    struct leat_fabric_place place = { file, 0, error, interrupted };
    if (!leat_fabric_lines(&place, read_edge, d)) return false;
    if (place.line == 0) place.line = 1;
    d->line = d->routing_line = d->switch_line = place.line;
    d->plan.shape.edge = d->edge;
    if (d->plan.shape.edges) return true;
    return leat_fabric_wrong(&place, "no edge up to the end, expected at least one");
}
