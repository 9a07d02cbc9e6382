/* leat fabric show --vpi of networks of switches with cells: labels of paths, routing tables. */
#include "fabric_labels.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ENTRIES_MAX = 1 << 16, /* that are listed */
    ENTRIES_PER_LINE = 4,
    LABEL_CAP = 32,
    LABEL_WIDTH = 9,
    WHY_CAP = 512,
};

bool fabric_labels_make(const char *name, const struct leat_sim_atm_graph *graph,
                        struct fabric_labels *out)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    uint32_t entries;
    out->memory = NULL;
    if (leat_sim_atm_labels_measure(graph, &entries, &why))
        return complain("%s: no routing tables of labels: %.*s", name, (int)why.len, why.buf);
    out->memory = calloc(1, leat_sim_atm_labels_footprint(graph, entries));
    if (!out->memory) return complain("%s: no memory for %u labels", name, entries);
    leat_sim_atm_labels_init(&out->labels, graph, entries, out->memory);
    return true;
}

/* ---- a path ---------------------------------------------------------------------------------- */

/* A cell on its way by labels alone. */
struct place {
    uint32_t link, number; /* where it is, with which label */
};

static struct place path_begin(const struct leat_sim_atm_labels *l, uint32_t src, uint32_t dst)
{
    const struct leat_net_topology *t = l->graph->topology;
    return (struct place){ t->terminal_in[src], l->access[(size_t)src * t->terminals + dst] };
}

static bool is_inside(const struct leat_sim_atm_labels *l, const struct place *p)
{
    return p->link < l->graph->topology->ins;
}

/* Through the router; *out: by this output of the whole network. */
static struct place path_next(const struct leat_sim_atm_labels *l, struct place p, uint32_t *out)
{
    const struct leat_sim_atm_label_entry *e = leat_sim_atm_labels_find(l, p.link, p.number);
    *out = e->out;
    return (struct place){ leat_sim_atm_labels_link(l, e->out), e->number };
}

/* "VPI/VCI" */
static const char *label(uint32_t number, char text[LABEL_CAP])
{
    snprintf(text, LABEL_CAP, "%u/%u", leat_sim_atm_label_vpi(number),
             leat_sim_atm_label_vci(number));
    return text;
}

static void put_path(const struct leat_sim_atm_labels *l, uint32_t src, uint32_t dst)
{
    const struct leat_net_topology *t = l->graph->topology;
    struct place p = path_begin(l, src, dst);
    char text[LABEL_CAP];
    printf("label path  port %u > %s", src, label(p.number, text));
    while (is_inside(l, &p)) {
        const uint32_t router = t->in_router[p.link], in = p.link - t->in_first[router];
        uint32_t out;
        p = path_next(l, p, &out);
        printf(" > router %u, in %u, out %u > %s", router, in, out - t->out_first[router],
               label(p.number, text));
    }
    printf(" > port %u\n", dst);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_table(const struct leat_sim_atm_labels *l, uint32_t in)
{
    const struct leat_net_topology *t = l->graph->topology;
    const uint32_t router = t->in_router[in];
    char from[LABEL_CAP], to[LABEL_CAP];
    printf("router %u, in %u\n", router, in - t->in_first[router]);
    for (uint32_t n = 0; n < l->count[in]; n++) {
        const struct leat_sim_atm_label_entry *e = leat_sim_atm_labels_find(l, in, n);
        const bool ends = n % ENTRIES_PER_LINE == ENTRIES_PER_LINE - 1 || n + 1 == l->count[in];
        printf("  %7s > %2u:%-*s", label(n, from), e->out - t->out_first[router],
               ends ? 0 : LABEL_WIDTH, label(e->number, to));
        if (ends) putchar('\n');
    }
}

void fabric_labels_text(const struct leat_sim_atm_labels *l, bool has_pair, uint32_t src,
                        uint32_t dst)
{
    char last[LABEL_CAP];
    printf("labels      %u in all tables, at most %u in one: VPI/VCI 0/%d to %s\n", l->entries,
           l->longest, LEAT_SIM_ATM_LABEL_VCI_MIN, label(l->longest - 1, last));
    if (has_pair) {
        put_path(l, src, dst);
        return;
    }
    puts("\nrouting tables: label > output:new label, for each input");
    if (l->entries > ENTRIES_MAX)
        printf("(left out, %d entries are the limit; --path SRC,DST shows those of a pair)\n",
               ENTRIES_MAX);
    for (uint32_t in = 0; l->entries <= ENTRIES_MAX && in < l->graph->topology->ins; in++)
        if (l->count[in] && !interrupted) put_table(l, in);
}

/* ---- programs -------------------------------------------------------------------------------- */

static void label_json(struct leat_json *j, uint32_t number)
{
    leat_json_uint(j, "vpi", leat_sim_atm_label_vpi(number));
    leat_json_uint(j, "vci", leat_sim_atm_label_vci(number));
}

static void path_json(struct leat_json *j, const struct leat_sim_atm_labels *l, uint32_t src,
                      uint32_t dst)
{
    const struct leat_net_topology *t = l->graph->topology;
    struct place p = path_begin(l, src, dst);
    leat_json_array(j, "label_path");
    while (is_inside(l, &p)) {
        const uint32_t router = t->in_router[p.link];
        uint32_t out;
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "router", router }, { "in", p.link - t->in_first[router] });
        label_json(j, p.number);
        p = path_next(l, p, &out);
        leat_json_uint(j, "output", out - t->out_first[router]);
        leat_json_end(j);
    }
    leat_json_object(j, NULL);
    leat_json_uint(j, "port", dst);
    label_json(j, p.number);
    leat_json_end(j);
    leat_json_end(j);
}

static void table_json(struct leat_json *j, const struct leat_sim_atm_labels *l, uint32_t in)
{
    const struct leat_net_topology *t = l->graph->topology;
    const uint32_t router = t->in_router[in];
    leat_json_object(j, NULL);
    LEAT_JSON_UINTS(j, { "router", router }, { "in", in - t->in_first[router] });
    leat_json_array(j, "label_entries");
    for (uint32_t n = 0; n < l->count[in]; n++) {
        const struct leat_sim_atm_label_entry *e = leat_sim_atm_labels_find(l, in, n);
        const uint32_t values[] = { leat_sim_atm_label_vpi(n), leat_sim_atm_label_vci(n),
                                    e->out - t->out_first[router],
                                    leat_sim_atm_label_vpi(e->number),
                                    leat_sim_atm_label_vci(e->number) };
        leat_json_array(j, NULL);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            leat_json_uint(j, NULL, values[i]);
        leat_json_end(j);
    }
    leat_json_end(j);
    leat_json_end(j);
}

void fabric_labels_json(struct leat_json *j, const struct leat_sim_atm_labels *l, bool has_pair,
                        uint32_t src, uint32_t dst)
{
    const bool has_tables = !has_pair && l->entries <= ENTRIES_MAX;
    leat_json_uint(j, "labels", l->entries);
    leat_json_uint(j, "labels_longest", l->longest);
    if (has_pair) path_json(j, l, src, dst);
    if (has_tables) leat_json_array(j, "label_tables");
    for (uint32_t in = 0; has_tables && in < l->graph->topology->ins; in++)
        if (l->count[in]) table_json(j, l, in);
    if (has_tables) leat_json_end(j);
    leat_json_array(j, "left_out");
    if (!has_pair && !has_tables) leat_json_string(j, NULL, "label_tables");
    leat_json_end(j);
}
