#include "graph_snapshot.h"
#include <math.h>
#include <stdio.h>

/* ---- values --------------------------------------------------------------------------------- */

static void put_members(struct leat_text *out, const struct leat_poets_layout *layout,
                        uint32_t from, uint32_t to, const uint8_t *octets);

/* In JSON notation, or as Python's readers expect it where JSON has none. */
static void put_real(struct leat_text *out, double value, bool wide)
{
    char text[40];
    if (isnan(value))
        snprintf(text, sizeof text, "NaN");
    else if (isinf(value))
        snprintf(text, sizeof text, "%sInfinity", value < 0 ? "-" : "");
    else
        snprintf(text, sizeof text, "%.*g", wide ? 17 : 9, value);
    leat_text_puts(out, text);
}

static void put_number(struct leat_text *out, const struct leat_poets_layout_node *node,
                       const uint8_t *octets)
{
    uint64_t bits = 0;
    float narrow;
    double wide;
    if (node->kind == LEAT_POETS_LAYOUT_FLOAT) {
        if (node->size == sizeof narrow) {
            memcpy(&narrow, octets, sizeof narrow);
            put_real(out, (double)narrow, false);
        } else {
            memcpy(&wide, octets, sizeof wide);
            put_real(out, wide, true);
        }
        return;
    }
    memcpy(&bits, octets, node->size); /* little-endian, as compiled handlers are */
    const uint64_t sign = UINT64_C(1) << (8 * node->size - 1);
    if (node->kind == LEAT_POETS_LAYOUT_INT && bits & sign) {
        leat_text_putc(out, '-');
        bits = ~(bits | ~(sign - 1)) + 1;
    }
    leat_text_decimal(out, bits);
}

/* A node from its dimension `dim` on. */
static void put_elements(struct leat_text *out, const struct leat_poets_layout *layout, uint32_t at,
                         uint32_t dim, const uint8_t *octets)
{
    const struct leat_poets_layout_node *node = &layout->node[at];
    if (dim == node->dim_count && node->kind != LEAT_POETS_LAYOUT_STRUCT) {
        put_number(out, node, octets);
        return;
    }
    if (dim == node->dim_count) {
        leat_text_putc(out, '{');
        put_members(out, layout, at + 1, node->next, octets);
        leat_text_putc(out, '}');
        return;
    }
    size_t stride = node->size;
    for (uint32_t i = dim + 1; i < node->dim_count; i++)
        stride *= node->dim[i];
    for (uint32_t i = 0; i < node->dim[dim]; i++) {
        leat_text_putc(out, i ? ',' : '[');
        put_elements(out, layout, at, dim + 1, octets + i * stride);
    }
    leat_text_putc(out, ']');
}

static void put_members(struct leat_text *out, const struct leat_poets_layout *layout,
                        uint32_t from, uint32_t to, const uint8_t *octets)
{
    for (uint32_t i = from; i < to; i = layout->node[i].next) {
        const struct leat_poets_layout_node *node = &layout->node[i];
        if (i > from) leat_text_putc(out, ',');
        leat_text_quoted(out, node->name, strlen(node->name));
        leat_text_putc(out, ':');
        put_elements(out, layout, i, 0, octets + node->offset);
    }
}

static void put_state(struct leat_text *out, const struct leat_graph_struct *data,
                      const uint8_t *octets, uint32_t len)
{
    if (data->plain) {
        leat_text_puts(out, "<S>");
        put_members(out, &data->layout, 0, data->layout.count, octets);
        leat_text_puts(out, "</S>");
        return;
    }
    leat_text_puts(out, "<S octets=\"");
    leat_text_hex(out, octets, len);
    leat_text_puts(out, "\"/>");
}

/* ---- devices and edges ---------------------------------------------------------------------- */

static void put_device(struct leat_text *out, const struct leat_poets_machine *m, uint32_t index)
{
    const uint32_t type = m->instance->device[m->device[index]].type;
    const struct leat_graph_struct *state = &m->graph->type[type].state;
    const struct leat_poets_type *t = m->handlers->type[type];
    if (!state->given) return;
    leat_text_puts(out, "<DevS id=\"");
    leat_text_puts(out, leat_poets_machine_name(m, index));
    leat_text_puts(out, "\">");
    put_state(out, state, (const uint8_t *)leat_poets_machine_block(m, index) + t->state_at,
              t->state_len);
    leat_text_puts(out, "</DevS>\n");
}

/* TO:INPUT-FROM:OUTPUT, as files write it. */
static void put_path(struct leat_text *out, const struct leat_poets_machine *m,
                     const struct leat_graph_edge *e)
{
    const struct leat_graph_instance *i = m->instance;
    const struct leat_graph_type *to = &m->graph->type[i->device[e->to].type];
    const struct leat_graph_type *from = &m->graph->type[i->device[e->from].type];
    leat_text_puts(out, leat_graph_device_name(m->graph, i, e->to));
    leat_text_putc(out, ':');
    leat_text_puts(out, to->input.pin[e->to_pin].name);
    leat_text_putc(out, '-');
    leat_text_puts(out, leat_graph_device_name(m->graph, i, e->from));
    leat_text_putc(out, ':');
    leat_text_puts(out, from->output.pin[e->from_pin].name);
}

static void put_edges(struct leat_text *out, const struct leat_poets_machine *m, uint32_t index)
{
    const struct leat_graph_instance *i = m->instance;
    const uint32_t device = m->device[index], type = i->device[device].type;
    const struct leat_poets_type *t = m->handlers->type[type];
    const uint8_t *block = (const uint8_t *)leat_poets_machine_block(m, index);
    const struct leat_poets_edges *pins = (const void *)(block + t->pins_at);
    for (uint32_t p = 0; p < t->input_count; p++) {
        const struct leat_graph_struct *state = &m->graph->type[type].input.pin[p].state;
        const uint32_t *edge = i->into + i->into_base[i->input_base[device] + p];
        for (uint32_t k = 0; state->given && k < pins[p].count; k++) {
            leat_text_puts(out, "<EdgeS id=\"");
            put_path(out, m, &i->edge[edge[k]]);
            leat_text_puts(out, "\">");
            put_state(out, state,
                      block + pins[p].first + (size_t)k * t->input[p].edge_len +
                          t->input[p].state_at,
                      t->input[p].state_len);
            leat_text_puts(out, "</EdgeS>\n");
        }
    }
}

void leat_poets_machine_snapshot(const struct leat_poets_machine *machine, const char *when,
                                 struct leat_text *out)
{
    leat_text_puts(out, "<?xml version=\"1.0\"?>\n<Graph>\n<GraphSnapshot graphTypeId=\"");
    leat_text_puts(out, machine->graph->id);
    leat_text_puts(out, "\" graphInstId=\"");
    leat_text_puts(out, machine->instance->id);
    leat_text_puts(out, "\" sequenceNumber=\"0\" orchestratorTime=\"");
    leat_text_puts(out, when);
    leat_text_puts(out, "\">\n");
    for (uint32_t k = 0; k < machine->device_count; k++)
        put_device(out, machine, k);
    for (uint32_t k = 0; k < machine->device_count; k++)
        put_edges(out, machine, k);
    leat_text_puts(out, "</GraphSnapshot>\n</Graph>\n");
}
