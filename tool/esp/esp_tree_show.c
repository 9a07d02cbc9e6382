/* Draws the tree of a computation: text with a line for each node, or a graph for Graphviz. */
#include "esp_job.h"
#include "result_file.h"
#include <stdlib.h>

/* Children of each parent in sequence: nodes, then members (those from `nodes` on). */
struct drawing {
    const struct esp_tree *tree;
    uint32_t nodes, members;
    uint32_t *first, *child; /* [nodes + 1], [nodes + members] */
    bool *on_way;            /* [nodes] is it last of its parent? */
};

static uint64_t id_of(const struct drawing *d, uint32_t entity)
{
    return entity < d->nodes ? d->tree->map->node[entity].id
                             : d->tree->roster->entry[entity - d->nodes].id;
}

static uint32_t parent_of(const struct drawing *d, uint32_t entity)
{
    if (entity == 0) return LEAT_ESP_MAP_NONE;
    return leat_esp_map_parent(d->tree->map, id_of(d, entity));
}

static void close_drawing(struct drawing *d)
{
    free(d->first);
    free(d->child);
    free(d->on_way);
}

static bool open_drawing(struct drawing *d, const struct esp_tree *tree)
{
    *d =
        (struct drawing){ .tree = tree, .nodes = tree->map->nodes, .members = tree->roster->count };
    const uint32_t all = d->nodes + d->members;
    d->first = calloc((size_t)d->nodes + 2, sizeof *d->first);
    d->child = calloc(all, sizeof *d->child);
    d->on_way = calloc(d->nodes, sizeof *d->on_way);
    if (!d->first || !d->child || !d->on_way) {
        complain("no memory for a drawing of %u nodes", all);
        close_drawing(d);
        return false;
    }
    for (uint32_t i = 0; i < all; i++)
        if (parent_of(d, i) != LEAT_ESP_MAP_NONE) d->first[parent_of(d, i) + 2]++;
    for (uint32_t i = 2; i < d->nodes + 2; i++)
        d->first[i] += d->first[i - 1];
    for (uint32_t i = 0; i < all; i++)
        if (parent_of(d, i) != LEAT_ESP_MAP_NONE) d->child[d->first[parent_of(d, i) + 1]++] = i;
    return true;
}

static void put_name(const struct drawing *d, uint32_t entity, struct leat_text *out)
{
    if (entity < d->nodes)
        d->tree->put_node(d->tree->context, entity, out);
    else
        d->tree->put_member(d->tree->context, entity - d->nodes, out);
}

static void put_line(const struct drawing *d, uint32_t entity, uint32_t depth,
                     struct leat_text *out)
{
    for (uint32_t i = 0; i < depth; i++)
        leat_text_puts(out, "  ");
    put_name(d, entity, out);
    if (entity < d->nodes && d->tree->map->node[entity].children >= 2) {
        leat_text_puts(out, "  branch point, ");
        leat_text_decimal(out, d->tree->map->node[entity].children);
        leat_text_puts(out, " children");
    }
    leat_text_puts(out, "\n");
}

/* Visits every node once, from the root down, without recursion, which a long path could overflow:
 * next[] is the position of each node on the path. */
static bool walk(const struct drawing *d, struct leat_text *out)
{
    uint32_t *next = calloc(d->nodes, sizeof *next), *way = calloc(d->nodes, sizeof *way);
    uint32_t depth = 1;
    if (!next || !way) {
        complain("no memory for a drawing of %u nodes", d->nodes);
        free(next);
        free(way);
        return false;
    }
    put_line(d, 0, 0, out);
    while (depth) {
        const uint32_t node = way[depth - 1], at = d->first[node] + next[node]++;
        if (at >= d->first[node + 1]) {
            depth--;
            continue;
        }
        const uint32_t child = d->child[at];
        put_line(d, child, depth, out);
        if (child < d->nodes && !d->on_way[child]) {
            d->on_way[child] = true; /* a cycle is walked once */
            way[depth++] = child;
        }
    }
    free(next);
    free(way);
    return true;
}

static bool put_text(const struct esp_tree *tree, struct leat_text *out)
{
    struct drawing d;
    if (!open_drawing(&d, tree)) return false;
    const bool drawn = walk(&d, out);
    close_drawing(&d);
    return drawn;
}

static void put_dot_name(const struct drawing *d, uint32_t entity, struct leat_text *out)
{
    leat_text_puts(out, "\"");
    put_name(d, entity, out);
    leat_text_puts(out, "\"");
}

static bool put_dot(const struct esp_tree *tree, struct leat_text *out)
{
    struct drawing d;
    if (!open_drawing(&d, tree)) return false;
    leat_text_puts(out, "digraph esp {\n  rankdir=BT;\n");
    for (uint32_t i = 0; i < d.nodes; i++) {
        leat_text_puts(out, "  ");
        put_dot_name(&d, i, out);
        leat_text_puts(out, tree->map->node[i].children >= 2 ? " [shape=box, style=filled];\n"
                                                             : " [shape=box];\n");
    }
    for (uint32_t i = 1; i < d.nodes + d.members; i++) {
        const uint32_t parent = parent_of(&d, i);
        if (parent == LEAT_ESP_MAP_NONE) continue;
        leat_text_puts(out, "  ");
        put_dot_name(&d, i, out);
        leat_text_puts(out, " -> ");
        put_dot_name(&d, parent, out);
        leat_text_puts(out, ";\n");
    }
    leat_text_puts(out, "}\n");
    close_drawing(&d);
    return true;
}

bool esp_tree_write(const struct esp_tree *tree, const char *path, bool is_dot)
{
    struct result_file file;
    if (!result_file_open(&file, path)) return false;
    const bool drawn = (is_dot ? put_dot : put_text)(tree, &file.out.text);
    return result_file_close(&file, drawn) && drawn;
}

/* ---- results -------------------------------------------------------------------------------- */

const char *esp_end_name(enum leat_esp_end end)
{
    static const char *const names[] = { "running", "answered", "void", "late" };
    return names[end];
}

const char *esp_end_status(enum leat_esp_end end)
{
    return end == LEAT_ESP_ANSWERED ? "done" : interrupted ? "interrupted" : esp_end_name(end);
}

void esp_result_json(struct leat_json *j, const struct leat_esp_service_result *r)
{
    LEAT_JSON_UINTS(j, { "counted", r->counted }, { "rounds", r->rounds },
                    { "attempts", r->attempts }, { "voids", r->voids }, { "errors", r->errors },
                    { "shards", r->shards }, { "branches_missing", r->branches_missing },
                    { "unplaced", r->unplaced });
}
