#include "graph_snapshot.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* ---- what text cannot hold ------------------------------------------------------------------ */

static bool is_nan(const struct leat_poets_layout_node *node, const uint8_t *octets)
{
    float narrow;
    double wide;
    if (node->kind != LEAT_POETS_LAYOUT_FLOAT) return false;
    if (node->size == sizeof wide) return memcpy(&wide, octets, sizeof wide), isnan(wide);
    return memcpy(&narrow, octets, sizeof narrow), isnan(narrow);
}

/* The NaN that the text NaN is read as. */
static bool is_plain_nan(const struct leat_poets_layout_node *node, const uint8_t *octets)
{
    const float narrow = (float)NAN;
    const double wide = (double)NAN;
    /* NOLINTBEGIN(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c): its bits */
    return node->size == sizeof wide ? memcmp(octets, &wide, sizeof wide) == 0
                                     : memcmp(octets, &narrow, sizeof narrow) == 0;
    /* NOLINTEND(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
}

static uint32_t elements_of(const struct leat_poets_layout_node *node)
{
    uint32_t count = 1;
    for (uint32_t d = 0; d < node->dim_count; d++)
        count *= node->dim[d];
    return count;
}

static void copy_members(const struct leat_poets_layout *layout, uint32_t from, uint32_t to,
                         const uint8_t *octets, uint8_t *out)
{
    for (uint32_t i = from; i < to; i = layout->node[i].next) {
        const struct leat_poets_layout_node *node = &layout->node[i];
        const uint32_t count = elements_of(node);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t at = node->offset + k * node->size;
            if (node->kind == LEAT_POETS_LAYOUT_STRUCT)
                copy_members(layout, i + 1, node->next, octets + at, out + at);
            else
                memcpy(out + at, octets + at, node->size);
        }
    }
}

void leat_poets_members_copy(const struct leat_poets_layout *layout, const uint8_t *octets,
                             uint8_t *out)
{
    copy_members(layout, 0, layout->count, octets, out);
}

static bool are_zeros(const uint8_t *octets, uint32_t from, uint32_t to)
{
    for (; from < to; from++)
        if (octets[from]) return false;
    return true;
}

/* Does the text of the nodes `from` to `to`, a struct of `size` octets, have every bit of them? */
static bool is_exact(const struct leat_poets_layout *layout, uint32_t from, uint32_t to,
                     const uint8_t *octets, uint32_t size)
{
    uint32_t at = 0;
    for (uint32_t i = from; i < to; i = layout->node[i].next) {
        const struct leat_poets_layout_node *node = &layout->node[i];
        const uint32_t end = node->offset + elements_of(node) * node->size;
        if (!are_zeros(octets, at, node->offset)) return false;
        for (at = node->offset; at < end; at += node->size) {
            const uint8_t *element = octets + at;
            if (node->kind == LEAT_POETS_LAYOUT_STRUCT
                    ? !is_exact(layout, i + 1, node->next, element, node->size)
                    : is_nan(node, element) && !is_plain_nan(node, element))
                return false;
        }
    }
    return are_zeros(octets, at, size);
}

static void put_state(struct leat_text *out, const struct leat_graph_struct *data,
                      const uint8_t *octets, uint32_t len)
{
    const struct leat_poets_layout *layout = &data->layout;
    leat_text_puts(out, "<S");
    if (!data->plain ||
        (layout->count && !is_exact(layout, 0, layout->count, octets, layout->size))) {
        leat_text_puts(out, " octets=\"");
        leat_text_hex(out, octets, len);
        leat_text_putc(out, '"');
    }
    if (!data->plain) {
        leat_text_puts(out, "/>");
        return;
    }
    leat_text_putc(out, '>');
    put_members(out, layout, 0, layout->count, octets);
    leat_text_puts(out, "</S>");
}

/* ---- devices and edges ---------------------------------------------------------------------- */

void leat_poets_snapshot_device(struct leat_text *out, const struct leat_poets_machine *machine,
                                uint32_t index, uint64_t wants, const uint8_t *octets)
{
    const uint32_t type = machine->instance->device[machine->device[index]].type;
    const struct leat_graph_struct *state = &machine->graph->type[type].state;
    if (!state->given && !wants) return;
    leat_text_puts(out, "<DevS id=\"");
    leat_text_puts(out, leat_poets_machine_name(machine, index));
    if (wants) {
        leat_text_puts(out, "\" rts=\"0x");
        leat_text_hex_number(out, wants, 1);
    }
    leat_text_puts(out, "\">");
    if (state->given) put_state(out, state, octets, machine->handlers->type[type]->state_len);
    leat_text_puts(out, "</DevS>\n");
}

/* TO:INPUT-FROM:OUTPUT, as files write it. */
static void put_path(struct leat_text *out, const struct leat_poets_machine *m,
                     const struct leat_graph_edge *e)
{
    const char *part[LEAT_POETS_SNAPSHOT_PATH];
    leat_poets_snapshot_path(m, e, part);
    for (int i = 0; i < LEAT_POETS_SNAPSHOT_PATH; i++)
        leat_text_puts(out, part[i]);
}

void leat_poets_snapshot_path(const struct leat_poets_machine *machine,
                              const struct leat_graph_edge *edge,
                              const char *part[LEAT_POETS_SNAPSHOT_PATH])
{
    const struct leat_graph_instance *i = machine->instance;
    const struct leat_graph_type *to = &machine->graph->type[i->device[edge->to].type];
    const struct leat_graph_type *from = &machine->graph->type[i->device[edge->from].type];
    part[0] = leat_graph_device_name(machine->graph, i, edge->to);
    part[1] = ":";
    part[2] = to->input.pin[edge->to_pin].name;
    part[3] = "-";
    part[4] = leat_graph_device_name(machine->graph, i, edge->from);
    part[5] = ":";
    part[6] = from->output.pin[edge->from_pin].name;
}

void leat_poets_snapshot_edges(struct leat_text *out, const struct leat_poets_machine *machine,
                               uint32_t index, const uint8_t *octets)
{
    const struct leat_graph_instance *i = machine->instance;
    const uint32_t device = machine->device[index], type = i->device[device].type;
    const struct leat_poets_type *t = machine->handlers->type[type];
    for (uint32_t p = 0; p < t->input_count; p++) {
        const struct leat_graph_struct *state = &machine->graph->type[type].input.pin[p].state;
        const uint32_t at = i->input_base[device] + p;
        for (uint32_t k = i->into_base[at]; k < i->into_base[at + 1]; k++) {
            if (state->given) {
                leat_text_puts(out, "<EdgeS id=\"");
                put_path(out, machine, &i->edge[i->into[k]]);
                leat_text_puts(out, "\">");
                put_state(out, state, octets, t->input[p].state_len);
                leat_text_puts(out, "</EdgeS>\n");
            }
            octets += t->input[p].state_len;
        }
    }
}

void leat_poets_snapshot_begin(struct leat_text *out, const struct leat_poets_machine *machine,
                               const struct leat_poets_snapshot_head *head)
{
    leat_text_puts(out, "<?xml version=\"1.0\"?>\n<Graph>\n<GraphSnapshot graphTypeId=\"");
    leat_text_puts(out, machine->graph->id);
    leat_text_puts(out, "\" graphInstId=\"");
    leat_text_puts(out, machine->instance->id);
    leat_text_puts(out, "\" sequenceNumber=\"0\" orchestratorTime=\"");
    leat_text_puts(out, head->when);
    leat_text_puts(out, "\" reason=\"");
    leat_text_puts(out, head->reason);
    leat_text_puts(out, head->resumable ? "\" resumable=\"true" : "\" resumable=\"false");
    if (head->idle_steps) {
        leat_text_puts(out, "\" idleSteps=\"");
        leat_text_decimal(out, head->idle_steps);
    }
    leat_text_puts(out, "\">\n");
}

void leat_poets_snapshot_end(struct leat_text *out)
{
    leat_text_puts(out, "</GraphSnapshot>\n</Graph>\n");
}
