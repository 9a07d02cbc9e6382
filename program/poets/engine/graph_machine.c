#include "graph_machine.h"
#include "graph_place.h"
#include <stdlib.h>
#include <string.h>

static size_t round_up(size_t value, size_t align)
{
    return (value + align - 1) / align * align;
}

static const struct leat_poets_type *type_of(const struct leat_poets_machine *m, uint32_t device)
{
    return m->handlers->type[m->instance->device[device].type];
}

static uint32_t edges_into(const struct leat_poets_machine *m, uint32_t device, uint32_t pin)
{
    const uint32_t at = m->instance->input_base[device] + pin;
    return m->instance->into_base[at + 1] - m->instance->into_base[at];
}

struct leat_poets_block *leat_poets_machine_block(const struct leat_poets_machine *machine,
                                                  uint32_t index)
{
    const struct leat_poets_seat seat = machine->seat[index];
    const uint32_t block = machine->dealt[machine->first[seat.thread] + seat.device];
    void *at = machine->blocks + (size_t)block * LEAT_POETS_BLOCK_UNIT;
    return at;
}

/* Where the edges of input `pin` begin, given the end of the previous pin's. */
static size_t edges_at(const struct leat_poets_type *type, uint32_t pin, size_t end)
{
    return round_up(end, type->input[pin].edge_align);
}

static size_t block_len(const struct leat_poets_machine *m, uint32_t device)
{
    const struct leat_poets_type *type = type_of(m, device);
    size_t len = type->pins_at +
                 (type->input_count + type->output_count) * sizeof(struct leat_poets_edges);
    for (uint32_t p = 0; p < type->input_count; p++)
        len = edges_at(type, p, len) + (size_t)edges_into(m, device, p) * type->input[p].edge_len;
    return round_up(len, LEAT_POETS_BLOCK_UNIT);
}

/* ---- places --------------------------------------------------------------------------------- */

static bool no_memory(struct leat_poets_machine *m)
{
    return leat_graph_wrong(&m->graph->report, m->instance->place, "E_LIMIT", "no memory");
}

/* Numbers devices and externals; `place` has the destination of packets for each device of the
 * file: an external, or (for now all others) a remote device. */
static bool number_devices(struct leat_poets_machine *m, uint32_t *place)
{
    const struct leat_graph_instance *i = m->instance;
    for (uint32_t d = 0; d < i->device_count; d++) {
        if (m->graph->type[i->device[d].type].kind == LEAT_GRAPH_EXTERNAL) {
            if (m->external_count > LEAT_POETS_DEVICE_MAX)
                return leat_graph_wrong(&m->graph->report, i->device[d].place, "E_PLACE",
                                        "externals, expected at most 65536");
            place[d] = LEAT_POETS_EXTERNAL | m->external_count++;
            continue;
        }
        if (m->device_count >= LEAT_POETS_AWAY)
            return leat_graph_wrong(&m->graph->report, i->device[d].place, "E_PLACE",
                                    "devices, expected fewer than 2^30");
        m->has_hardware_idle = m->has_hardware_idle || type_of(m, d)->hardware_idle;
        place[d] = LEAT_POETS_AWAY | m->device_count;
        m->device[m->device_count++] = d;
    }
    return true;
}

uint32_t leat_poets_machine_rank_first(const struct leat_poets_machine *machine, uint32_t rank)
{
    return (uint32_t)((uint64_t)machine->thread_count * rank / machine->rank_count);
}

static uint32_t share_of(const struct leat_poets_machine *m, uint32_t shares, uint32_t thread)
{
    return leat_poets_place_share(m->thread_count, shares, thread);
}

uint32_t leat_poets_machine_rank_of(const struct leat_poets_machine *machine, uint32_t thread)
{
    return share_of(machine, machine->rank_count, thread);
}

/* Numbers on a thread are in the order of the file. */
static bool seat_devices(struct leat_poets_machine *m, const uint32_t *order)
{
    uint16_t *count = calloc(m->thread_count + 1, sizeof *count);
    if (!count) return false;
    for (uint32_t t = 0; t < m->thread_count; t++)
        for (uint32_t k = m->first[t]; k < m->first[t + 1]; k++)
            m->seat[order ? order[k] : k].thread = (uint16_t)t;
    for (uint32_t i = 0; i < m->device_count; i++)
        m->seat[i].device = count[m->seat[i].thread]++;
    free(count);
    return true;
}

/* Equal shares of the order. */
static bool deal_threads(struct leat_poets_machine *m, uint32_t wanted, const uint32_t *order)
{
    const uint32_t threads = leat_poets_place_threads(m->device_count, wanted);
    if (threads > LEAT_POETS_MACHINE_THREADS_MAX)
        return leat_graph_wrong(&m->graph->report, m->instance->place, "E_PLACE",
                                "%u threads, expected at most %d", threads,
                                LEAT_POETS_MACHINE_THREADS_MAX);
    m->thread_count = threads;
    m->thread_from = leat_poets_machine_rank_first(m, m->rank);
    m->thread_to = leat_poets_machine_rank_first(m, m->rank + 1);
    m->first = calloc(threads + 1, sizeof *m->first);
    m->address = calloc(threads + 1, sizeof *m->address);
    if (!m->first || !m->address) return no_memory(m);
    for (uint32_t t = 0; t <= threads; t++) {
        m->first[t] = threads ? (uint32_t)((uint64_t)m->device_count * t / threads) : 0;
        m->address[t] = t;
    }
    return seat_devices(m, order) || no_memory(m);
}

/* Blocks of the local devices, thread by thread. */
static bool deal_blocks(struct leat_poets_machine *m, const uint32_t *order, uint32_t *place)
{
    size_t units = 0;
    for (uint32_t k = m->first[m->thread_from]; k < m->first[m->thread_to]; k++) {
        const uint32_t index = order ? order[k] : k, d = m->device[index];
        const struct leat_poets_seat seat = m->seat[index];
        if (units >= LEAT_POETS_AWAY)
            return leat_graph_wrong(&m->graph->report, m->instance->device[d].place, "E_PLACE",
                                    "the devices need more than 16 GiB");
        m->dealt[m->first[seat.thread] + seat.device] = place[d] = (uint32_t)units;
        units += block_len(m, d) / LEAT_POETS_BLOCK_UNIT;
    }
    m->blocks_len = units * LEAT_POETS_BLOCK_UNIT;
    return true;
}

/* ---- contents ------------------------------------------------------------------------------- */

static bool fill_edges(struct leat_poets_machine *m, uint32_t device,
                       const struct leat_poets_type *type, uint8_t *octets)
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
    return true;
}

static bool fill_device(struct leat_poets_machine *m, uint32_t index)
{
    const uint32_t device = m->device[index];
    const struct leat_graph_device *d = &m->instance->device[device];
    const struct leat_poets_type *type = type_of(m, device);
    const struct leat_graph_type *t = &m->graph->type[d->type];
    struct leat_poets_block *block = leat_poets_machine_block(m, index);
    uint8_t *octets = (uint8_t *)block;
    *block = (struct leat_poets_block){ .index = index,
                                        .device = m->seat[index].device,
                                        .thread = m->seat[index].thread,
                                        .type = (uint16_t)d->type };
    return leat_handlers_value(m->graph, m->handlers, &t->state, d->state,
                               octets + type->state_at) &&
           leat_handlers_value(m->graph, m->handlers, &t->properties, d->properties,
                               octets + type->properties_at) &&
           fill_edges(m, device, type, octets);
}

/* Edges of a device's outputs, in the order of sending: the destination, and the edge's index at
 * the pin. `at` is the first free entry of the table. */
static uint32_t fill_outputs(struct leat_poets_machine *m, uint32_t index, const uint32_t *place,
                             uint32_t at)
{
    const struct leat_graph_instance *i = m->instance;
    const uint32_t device = m->device[index];
    const struct leat_poets_type *type = type_of(m, device);
    const uint32_t outputs = m->graph->type[i->device[device].type].output.count;
    uint8_t *octets = (uint8_t *)leat_poets_machine_block(m, index);
    struct leat_poets_edges *pins = (void *)(octets + type->pins_at);
    for (uint32_t p = 0; p < outputs; p++) {
        const uint32_t base = i->output_base[device] + p;
        const uint32_t from = i->out_base[base], to = i->out_base[base + 1];
        pins[type->input_count + p] = (struct leat_poets_edges){ at, to - from };
        for (uint32_t k = from; k < to; k++) {
            const struct leat_graph_edge *e = &i->edge[i->out[k]];
            m->edge[at++] = (struct leat_poets_out_edge){ place[e->to],
                                                          e->to_pin | e->number << 8 };
        }
    }
    return at;
}

/* The edges of a thread are contiguous, like its blocks. */
static bool fill_out_edges(struct leat_poets_machine *m, const uint32_t *order,
                           const uint32_t *place)
{
    const struct leat_graph_instance *i = m->instance;
    const uint32_t from = m->first[m->thread_from], to = m->first[m->thread_to];
    size_t count = 0;
    uint32_t at = 0;
    for (uint32_t k = from; k < to; k++) {
        const uint32_t d = m->device[order ? order[k] : k];
        count += i->out_base[i->output_base[d + 1]] - i->out_base[i->output_base[d]];
    }
    m->edge = malloc((count + 1) * sizeof *m->edge);
    if (!m->edge) return false;
    for (uint32_t k = from; k < to; k++)
        at = fill_outputs(m, order ? order[k] : k, place, at);
    return true;
}

static bool fill(struct leat_poets_machine *m, const uint32_t *order, const uint32_t *place)
{
    const struct leat_graph_struct *properties = &m->graph->properties;
    m->blocks = aligned_alloc(64, round_up(m->blocks_len + 1, 64));
    m->graph_properties = calloc(1, leat_handlers_len(m->handlers, properties));
    if (!m->blocks || !m->graph_properties) return false;
    memset(m->blocks, 0, m->blocks_len);
    if (!leat_handlers_value(m->graph, m->handlers, properties, m->instance->properties,
                             m->graph_properties))
        return false;
    for (uint32_t k = m->first[m->thread_from]; k < m->first[m->thread_to]; k++)
        if (!fill_device(m, order ? order[k] : k)) return false;
    return fill_out_edges(m, order, place);
}

bool leat_poets_machine_build(struct leat_poets_machine *machine, struct leat_graph *graph,
                              const struct leat_graph_instance *instance,
                              const struct leat_handlers *handlers, uint32_t threads,
                              const uint32_t *order, uint32_t rank, uint32_t rank_count)
{
    struct leat_poets_machine *m = machine;
    *m = (struct leat_poets_machine){ .graph = graph,
                                      .instance = instance,
                                      .handlers = handlers,
                                      .rank = rank,
                                      .rank_count = rank_count };
    const size_t count = (size_t)instance->device_count + 1;
    uint32_t *place = calloc(count, sizeof *place);
    m->device = calloc(count, sizeof *m->device);
    m->dealt = calloc(count, sizeof *m->dealt);
    m->seat = calloc(count, sizeof *m->seat);
    bool good = (place && m->device && m->dealt && m->seat) || no_memory(m);
    good = good && number_devices(m, place) && deal_threads(m, threads, order) &&
           deal_blocks(m, order, place);
    if (good && !fill(m, order, place)) good = no_memory(m);
    free(place);
    return good;
}

uint64_t leat_poets_machine_cut(const struct leat_poets_machine *machine, uint32_t shares)
{
    const struct leat_poets_machine *m = machine;
    const struct leat_graph_instance *i = m->instance;
    uint64_t cut = 0;
    uint32_t *index_of = malloc(((size_t)i->device_count + 1) * sizeof *index_of);
    if (!index_of) return 0;
    for (uint32_t d = 0; d < i->device_count; d++)
        index_of[d] = LEAT_GRAPH_NONE;
    for (uint32_t k = 0; k < m->device_count; k++)
        index_of[m->device[k]] = k;
    for (uint32_t e = 0; e < i->edge_count; e++) {
        const uint32_t from = index_of[i->edge[e].from], to = index_of[i->edge[e].to];
        if (from == LEAT_GRAPH_NONE || to == LEAT_GRAPH_NONE) continue;
        const uint32_t thread = m->seat[to].thread;
        const bool local = thread >= m->thread_from && thread < m->thread_to;
        cut += local && share_of(m, shares, m->seat[from].thread) != share_of(m, shares, thread);
    }
    free(index_of);
    return cut;
}

void leat_poets_machine_free(struct leat_poets_machine *machine)
{
    free(machine->blocks);
    free(machine->edge);
    free(machine->graph_properties);
    free(machine->device);
    free(machine->dealt);
    free(machine->seat);
    free(machine->first);
    free(machine->address);
    *machine = (struct leat_poets_machine){ 0 };
}

void leat_poets_machine_states(const struct leat_poets_machine *machine, uint32_t index,
                               bool of_edges,
                               void (*take)(void *context, const uint8_t *octets, size_t len),
                               void *context)
{
    const struct leat_poets_type *type = type_of(machine, machine->device[index]);
    const uint8_t *octets = (const uint8_t *)leat_poets_machine_block(machine, index);
    const struct leat_poets_edges *pins = (const void *)(octets + type->pins_at);
    if (!of_edges) {
        take(context, octets + type->state_at, type->state_len);
        return;
    }
    for (uint32_t p = 0; p < type->input_count; p++) {
        const struct leat_poets_pin *pin = &type->input[p];
        for (uint32_t e = 0; e < pins[p].count; e++)
            take(context, octets + pins[p].first + (size_t)e * pin->edge_len + pin->state_at,
                 pin->state_len);
    }
}

size_t leat_poets_machine_states_len(const struct leat_poets_machine *machine, uint32_t index,
                                     bool of_edges)
{
    const struct leat_poets_type *type = type_of(machine, machine->device[index]);
    const uint8_t *octets = (const uint8_t *)leat_poets_machine_block(machine, index);
    const struct leat_poets_edges *pins = (const void *)(octets + type->pins_at);
    size_t len = 0;
    if (!of_edges) return type->state_len;
    for (uint32_t p = 0; p < type->input_count; p++)
        len += (size_t)pins[p].count * type->input[p].state_len;
    return len;
}

uint64_t leat_poets_machine_wants(const struct leat_poets_machine *machine, uint32_t index)
{
    const struct leat_poets_block *block = leat_poets_machine_block(machine, index);
    return block->ready | (block->flags & LEAT_POETS_FLAG_IDLE ? LEAT_POETS_REQUEST_IDLE : 0);
}

void leat_poets_machine_want(struct leat_poets_machine *machine, uint32_t index, uint64_t wants)
{
    struct leat_poets_block *block = leat_poets_machine_block(machine, index);
    block->ready = (uint32_t)wants;
    block->flags = wants & LEAT_POETS_REQUEST_IDLE ? LEAT_POETS_FLAG_IDLE : 0;
}

const char *leat_poets_machine_name(const struct leat_poets_machine *machine, uint32_t index)
{
    return leat_graph_device_name(machine->graph, machine->instance, machine->device[index]);
}
