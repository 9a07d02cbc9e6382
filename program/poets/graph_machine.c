#include "graph_machine.h"
#include "poets_hash.h"
#include <stdlib.h>
#include <string.h>

static size_t round_up(size_t value, size_t align)
{
    return (value + align - 1) / align * align;
}

static const struct leat_poets_type *type_of(const struct leat_machine *m, uint32_t device)
{
    return m->handlers->type[m->instance->device[device].type];
}

static uint32_t edges_into(const struct leat_machine *m, uint32_t device, uint32_t pin)
{
    const uint32_t at = m->instance->input_base[device] + pin;
    return m->instance->into_base[at + 1] - m->instance->into_base[at];
}

static struct leat_poets_block *block_of(const struct leat_machine *m, uint32_t index)
{
    void *at = m->blocks + (size_t)m->block[index] * LEAT_POETS_BLOCK_UNIT;
    return at;
}

/* Where the edges of input `pin` begin, given where those of the pin before end. */
static size_t edges_at(const struct leat_poets_type *type, uint32_t pin, size_t end)
{
    return round_up(end, type->input[pin].edge_align);
}

static size_t block_len(const struct leat_machine *m, uint32_t device)
{
    const struct leat_poets_type *type = type_of(m, device);
    size_t len = type->pins_at +
                 (type->input_count + type->output_count) * sizeof(struct leat_poets_edges);
    for (uint32_t p = 0; p < type->input_count; p++)
        len = edges_at(type, p, len) + (size_t)edges_into(m, device, p) * type->input[p].edge_len;
    return round_up(len, LEAT_POETS_BLOCK_UNIT);
}

/* ---- places --------------------------------------------------------------------------------- */

static bool no_memory(struct leat_machine *m)
{
    return leat_graph_wrong(&m->graph->report, m->instance->place, "E_LIMIT", "no memory");
}

/* Devices and externals get their numbers; `place` has for each device of the file its block. */
static bool number_devices(struct leat_machine *m, uint32_t *place)
{
    const struct leat_graph_instance *i = m->instance;
    size_t units = 0;
    for (uint32_t d = 0; d < i->device_count; d++) {
        if (m->graph->type[i->device[d].type].kind == LEAT_GRAPH_EXTERNAL) {
            if (m->external_count > LEAT_POETS_DEVICE_MAX)
                return leat_graph_wrong(&m->graph->report, i->device[d].place, "E_PLACE",
                                        "externals, expected at most 65536");
            place[d] = LEAT_POETS_EXTERNAL | m->external_count++;
            continue;
        }
        if (units >= LEAT_POETS_EXTERNAL)
            return leat_graph_wrong(&m->graph->report, i->device[d].place, "E_PLACE",
                                    "the devices need more than 32 GiB");
        m->has_hardware_idle = m->has_hardware_idle || type_of(m, d)->hardware_idle;
        m->device[m->device_count] = d;
        m->block[m->device_count++] = place[d] = (uint32_t)units;
        units += block_len(m, d) / LEAT_POETS_BLOCK_UNIT;
    }
    m->blocks_len = units * LEAT_POETS_BLOCK_UNIT;
    return true;
}

/* Equal shares in the order of the file; no more threads than devices. */
static bool deal_threads(struct leat_machine *m, uint32_t threads)
{
    if (threads > m->device_count) threads = m->device_count;
    const uint32_t needed = m->device_count / (LEAT_POETS_DEVICE_ALL - 1) + 1;
    if (threads < needed && m->device_count) threads = needed;
    if (threads > LEAT_MACHINE_THREADS_MAX)
        return leat_graph_wrong(&m->graph->report, m->instance->place, "E_PLACE",
                                "%u threads, expected at most %d", threads,
                                LEAT_MACHINE_THREADS_MAX);
    m->thread_count = threads;
    m->first = calloc(threads + 1, sizeof *m->first);
    m->address = calloc(threads + 1, sizeof *m->address);
    if (!m->first || !m->address) return no_memory(m);
    for (uint32_t t = 0; t <= threads; t++) {
        m->first[t] = threads ? (uint32_t)((uint64_t)m->device_count * t / threads) : 0;
        m->address[t] = t;
    }
    return true;
}

/* ---- contents ------------------------------------------------------------------------------- */

static bool fill_edges(struct leat_machine *m, uint32_t device, const struct leat_poets_type *type,
                       uint8_t *octets)
{
    const struct leat_graph_instance *i = m->instance;
    const struct leat_graph_type *t = &m->graph->type[i->device[device].type];
    struct leat_poets_edges *pins = (void *)(octets + type->pins_at);
    size_t at = type->pins_at + (type->input_count + type->output_count) * sizeof *pins;
    for (uint32_t p = 0; p < type->input_count; p++) {
        const uint32_t count = edges_into(m, device, p);
        const uint32_t *edge = i->into + i->into_base[i->input_base[device] + p];
        at = edges_at(type, p, at);
        pins[p] = (struct leat_poets_edges){ (uint32_t)at, count };
        for (uint32_t k = 0; k < count; k++, at += type->input[p].edge_len) {
            const struct leat_graph_edge *e = &i->edge[edge[k]];
            const struct leat_graph_pin *pin = &t->input.pin[p];
            if (!leat_handlers_value(m->graph, m->handlers, &pin->properties, e->properties,
                                     octets + at) ||
                !leat_handlers_value(m->graph, m->handlers, &pin->state, e->state,
                                     octets + at + type->input[p].state_at))
                return false;
        }
    }
    for (uint32_t p = 0; p < t->output.count; p++) {
        const uint32_t base = i->output_base[device] + p;
        pins[type->input_count + p] = (struct leat_poets_edges){
            i->out_base[base], i->out_base[base + 1] - i->out_base[base]
        };
    }
    return true;
}

static bool fill_device(struct leat_machine *m, uint32_t index, uint16_t thread)
{
    const uint32_t device = m->device[index];
    const struct leat_graph_device *d = &m->instance->device[device];
    const struct leat_poets_type *type = type_of(m, device);
    const struct leat_graph_type *t = &m->graph->type[d->type];
    struct leat_poets_block *block = block_of(m, index);
    uint8_t *octets = (uint8_t *)block;
    *block = (struct leat_poets_block){ .index = index,
                                        .device = (uint16_t)(index - m->first[thread]),
                                        .thread = thread,
                                        .type = (uint16_t)d->type };
    return leat_handlers_value(m->graph, m->handlers, &t->state, d->state,
                               octets + type->state_at) &&
           leat_handlers_value(m->graph, m->handlers, &t->properties, d->properties,
                               octets + type->properties_at) &&
           fill_edges(m, device, type, octets);
}

/* Edges in the order of sending: where they lead, and as which edge of the pin. */
static bool fill_out_edges(struct leat_machine *m, const uint32_t *place)
{
    const struct leat_graph_instance *i = m->instance;
    uint32_t *number = malloc(((size_t)i->edge_count + 1) * sizeof *number);
    if (!number) return false;
    for (uint32_t p = 0; p < i->input_count; p++)
        for (uint32_t k = i->into_base[p]; k < i->into_base[p + 1]; k++)
            number[i->into[k]] = k - i->into_base[p];
    for (uint32_t k = 0; k < i->edge_count; k++) {
        const struct leat_graph_edge *e = &i->edge[i->out[k]];
        m->edge[k] = (struct leat_poets_out_edge){ place[e->to],
                                                   e->to_pin | number[i->out[k]] << 8 };
    }
    free(number);
    return true;
}

static bool fill(struct leat_machine *m, const uint32_t *place)
{
    const struct leat_graph_struct *properties = &m->graph->properties;
    m->blocks = aligned_alloc(64, round_up(m->blocks_len + 1, 64));
    m->edge = malloc(((size_t)m->instance->edge_count + 1) * sizeof *m->edge);
    m->graph_properties = calloc(1, leat_handlers_len(m->handlers, properties));
    if (!m->blocks || !m->edge || !m->graph_properties) return false;
    memset(m->blocks, 0, m->blocks_len);
    if (!leat_handlers_value(m->graph, m->handlers, properties, m->instance->properties,
                             m->graph_properties))
        return false;
    for (uint32_t t = 0; t < m->thread_count; t++)
        for (uint32_t k = m->first[t]; k < m->first[t + 1]; k++)
            if (!fill_device(m, k, (uint16_t)t)) return false;
    return fill_out_edges(m, place);
}

bool leat_machine_build(struct leat_machine *machine, struct leat_graph *graph,
                        const struct leat_graph_instance *instance,
                        const struct leat_handlers *handlers, uint32_t threads)
{
    struct leat_machine *m = machine;
    *m = (struct leat_machine){ .graph = graph, .instance = instance, .handlers = handlers };
    const size_t count = (size_t)instance->device_count + 1;
    uint32_t *place = calloc(count, sizeof *place);
    m->device = calloc(count, sizeof *m->device);
    m->block = calloc(count, sizeof *m->block);
    bool good = (place && m->device && m->block) || no_memory(m);
    good = good && number_devices(m, place) && deal_threads(m, threads);
    if (good && !fill(m, place)) good = no_memory(m);
    free(place);
    return good;
}

void leat_machine_free(struct leat_machine *machine)
{
    free(machine->blocks);
    free(machine->edge);
    free(machine->graph_properties);
    free(machine->device);
    free(machine->block);
    free(machine->first);
    free(machine->address);
    *machine = (struct leat_machine){ 0 };
}

uint64_t leat_machine_digest(const struct leat_machine *machine)
{
    const struct leat_machine *m = machine;
    uint64_t hash = LEAT_POETS_HASH_EMPTY;
    for (uint32_t k = 0; k < m->device_count; k++) {
        const struct leat_poets_type *type = type_of(m, m->device[k]);
        hash = leat_poets_hash(hash, (const uint8_t *)block_of(m, k) + type->state_at,
                               type->state_len);
    }
    for (uint32_t k = 0; k < m->device_count; k++) {
        const struct leat_poets_type *type = type_of(m, m->device[k]);
        const uint8_t *octets = (const uint8_t *)block_of(m, k);
        const struct leat_poets_edges *pins = (const void *)(octets + type->pins_at);
        for (uint32_t p = 0; p < type->input_count; p++)
            for (uint32_t e = 0; e < pins[p].count; e++)
                hash = leat_poets_hash(hash,
                                       octets + pins[p].first +
                                           (size_t)e * type->input[p].edge_len +
                                           type->input[p].state_at,
                                       type->input[p].state_len);
    }
    return hash;
}

const char *leat_machine_name(const struct leat_machine *machine, uint32_t index)
{
    return leat_graph_device_name(machine->graph, machine->instance, machine->device[index]);
}
