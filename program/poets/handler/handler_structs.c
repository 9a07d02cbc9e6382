/* The structs, names and constants at the beginning of every source of an application. */
#include "handler.h"
#include <string.h>

void leat_handler_at(const struct leat_graph *graph, struct leat_graph_place place, FILE *out)
{
    fprintf(out, "\n#line %u \"", place.line ? place.line : 1);
    for (const char *at = graph->report.file[place.file]; *at; at++)
        fprintf(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    fputs("\"\n", out);
}

void leat_handler_ours(FILE *out)
{
    fputs("\n#line 1 \"leat\"\n", out);
}

/* How many of a node's dimensions belong to its TypeDef. */
static uint32_t dims_of_type(const struct leat_graph *graph,
                             const struct leat_poets_layout_node *node)
{
    for (uint32_t i = 0; node->type_name && i < graph->definition_count; i++)
        if (strcmp(graph->definition[i].id, node->type_name) == 0)
            return graph->definition[i].data.layout.node[0].dim_count;
    return 0;
}

static void put_members(const struct leat_graph *graph, const struct leat_poets_layout *layout,
                        uint32_t from, uint32_t to, FILE *out);

/* The declaration of a name with the type of a node. */
static void put_declaration(const struct leat_graph *graph, const struct leat_poets_layout *layout,
                            uint32_t at, const char *name, FILE *out)
{
    const struct leat_poets_layout_node *node = &layout->node[at];
    if (node->type_name || node->kind != LEAT_POETS_LAYOUT_STRUCT) {
        fputs(node->type_name ? node->type_name : node->type, out);
    } else {
        fputs("struct { ", out);
        put_members(graph, layout, at + 1, node->next, out);
        fputc('}', out);
    }
    fprintf(out, " %s", name);
    for (uint32_t i = 0; i < node->dim_count - dims_of_type(graph, node); i++)
        fprintf(out, "[%u]", node->dim[i]);
}

static void put_members(const struct leat_graph *graph, const struct leat_poets_layout *layout,
                        uint32_t from, uint32_t to, FILE *out)
{
    for (uint32_t i = from; i < to; i = layout->node[i].next) {
        put_declaration(graph, layout, i, layout->node[i].name, out);
        fputs("; ", out);
    }
}

/* v3: the only member of a TypeDef is the type, its own name does not count. */
static void put_definition(const struct leat_graph *graph, const struct leat_graph_message *d,
                           FILE *out)
{
    if (!d->data.layout.count) return;
    fputs("typedef ", out);
    put_declaration(graph, &d->data.layout, 0, d->id, out);
    fputs(";\n", out);
}

/* Checks the known layout against the compiler's. */
static void put_places(const char *name, const struct leat_graph_struct *data, FILE *out)
{
    const struct leat_poets_layout *layout = &data->layout;
    if (!data->plain) return;
    fprintf(out, "static_assert(sizeof(%s) == %u, \"size of a struct\");\n", name, layout->size);
    for (uint32_t i = 0; i < layout->count; i = layout->node[i].next)
        fprintf(out, "static_assert(offsetof(%s, %s) == %u, \"place of a member\");\n", name,
                layout->node[i].name, layout->node[i].offset);
}

static void put_struct(const struct leat_graph *graph, const struct leat_graph_struct *data,
                       bool packed, const char *name, FILE *out)
{
    if (packed) fputs("#pragma pack(push, 1)\n", out);
    fprintf(out, "struct %s {", name);
    if (data->code.text && *data->code.text) {
        leat_handler_at(graph, data->code.place, out);
        fputs(data->code.text, out);
        leat_handler_ours(out);
    } else {
        put_members(graph, &data->layout, 0, data->layout.count, out);
    }
    fputs("};\n", out);
    if (packed) fputs("#pragma pack(pop)\n", out);
    put_places(name, data, out);
    if (data->c_name) fprintf(out, "typedef %s %s;\n", name, data->c_name);
}

/* GRAPH_PART_..., and for graph_schema PART_... as well. */
static void put_named(const struct leat_graph *graph, const struct leat_graph_struct *data,
                      bool packed, const char *part, const char *pin, const char *suffix, FILE *out)
{
    char name[400];
    snprintf(name, sizeof name, "%s_%s%s%s%s", graph->id, part, *pin ? "_" : "", pin, suffix);
    put_struct(graph, data, packed, name, out);
    if (graph->dialect != LEAT_GRAPH_ORCH)
        fprintf(out, "typedef %s %s%s%s%s;\n", name, part, *pin ? "_" : "", pin, suffix);
}

/* For a message that only the compiler can measure, so the compiler checks the limit. */
static void put_limit(const struct leat_graph *graph, const struct leat_graph_message *m, FILE *out)
{
    if (m->data.plain) return;
    leat_handler_at(graph, m->place, out);
    fprintf(out,
            "static_assert(sizeof(%s_%s_message_t) <= %d, \"" LEAT_HANDLER_LIMIT
            ": message '%s' has more than %d octets\");",
            graph->id, m->id, LEAT_GRAPH_MESSAGE_LEN_MAX, m->id, LEAT_GRAPH_MESSAGE_LEN_MAX);
    leat_handler_ours(out);
}

void leat_handler_pins(const struct leat_graph_type *type, bool with_type, FILE *out)
{
    char name[400];
    for (uint32_t i = 0; i < type->output.count; i++) {
        snprintf(name, sizeof name, "%s%s%s", with_type ? type->id : "", with_type ? "_" : "",
                 type->output.pin[i].name);
        fprintf(out,
                "enum : uint32_t { RTS_INDEX_%s = %u, RTS_FLAG_%s = 1u << %u, "
                "OUTPUT_INDEX_%s = %u, OUTPUT_FLAG_%s = 1u << %u };\n",
                name, i, name, i, name, i, name, i);
    }
    for (uint32_t i = 0; i < type->input.count; i++) {
        snprintf(name, sizeof name, "%s%s%s", with_type ? type->id : "", with_type ? "_" : "",
                 type->input.pin[i].name);
        fprintf(out, "enum : uint32_t { INPUT_INDEX_%s = %u, INPUT_FLAG_%s = 1u << %u };\n", name,
                i, name, i % 32);
    }
}

void leat_handler_structs(const struct leat_graph *graph, FILE *out)
{
    const bool packed = graph->dialect != LEAT_GRAPH_ORCH;
    char name[300];
    if (packed) fputs("#pragma pack(push, 1)\n", out);
    for (uint32_t i = 0; i < graph->definition_count; i++)
        put_definition(graph, &graph->definition[i], out);
    if (packed) fputs("#pragma pack(pop)\n", out);
    snprintf(name, sizeof name, "%s_properties_t", graph->id);
    put_struct(graph, &graph->properties, packed, name, out);
    fprintf(out, "typedef %s global_props_t;\ntypedef %s GRAPH_PROPERTIES_T;\n", name, name);
    for (uint32_t i = 0; i < graph->message_count; i++) {
        const struct leat_graph_message *m = &graph->message[i];
        put_named(graph, &m->data, true, m->id, "", "_message_t", out);
        put_limit(graph, m, out);
        fprintf(out, "typedef %s_%s_message_t pkt_%s_pyld_t;\n", graph->id, m->id, m->id);
    }
    fputs("struct leat_unknown_message { uint8_t octets[56]; };\n", out);
    for (uint32_t i = 0; i < graph->type_count; i++) {
        const struct leat_graph_type *t = &graph->type[i];
        if (t->kind == LEAT_GRAPH_SUPERVISOR) continue;
        put_named(graph, &t->properties, packed, t->id, "", "_properties_t", out);
        put_named(graph, &t->state, packed, t->id, "", "_state_t", out);
        for (uint32_t k = 0; k < t->input.count; k++) {
            const struct leat_graph_pin *pin = &t->input.pin[k];
            put_named(graph, &pin->properties, packed, t->id, pin->name, "_properties_t", out);
            put_named(graph, &pin->state, packed, t->id, pin->name, "_state_t", out);
        }
        leat_handler_pins(t, true, out);
        fprintf(out, "enum : uint32_t { INPUT_COUNT_%s = %u, OUTPUT_COUNT_%s = %u };\n", t->id,
                t->input.count, t->id, t->output.count);
    }
}
