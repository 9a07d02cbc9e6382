#include "graph_deal.h"
#include "graph_exchange.h"
#include "graph_parts.h"
#include "graph_slice.h"
#include <stdlib.h>
#include <string.h>

struct dealing {
    struct leat_graph *graph;
    struct leat_graph_instance *instance;
    struct leat_poets_link *link;
    struct leat_poets_deal *deal;
    struct leat_graph_slice slice;
    struct leat_poets_parcel *parcel; /* by rank */
    uint32_t first, count;            /* devices of the slice */
    uint16_t *owner;                  /* of each device: its rank */
};

static bool is_clean(const struct leat_graph *g)
{
    return !g->report.error_count && !g->report.warning_count;
}

/* ---- devices, to all ------------------------------------------------------------------------- */

static void put_string(struct leat_poets_parcel *p, const struct leat_graph_strings *strings,
                       uint32_t number)
{
    const char *text = number ? leat_graph_string(strings, number) : "";
    leat_poets_parcel_put_text(p, text, strlen(text));
}

/* False: no memory. */
static bool take_string(struct leat_poets_parcel *p, struct leat_graph_strings *strings,
                        uint32_t *number)
{
    size_t len;
    const char *text = leat_poets_parcel_take_text(p, &len);
    *number = len ? leat_graph_strings_add(strings, text, len) : LEAT_GRAPH_NO_STRING;
    return *number || !len;
}

static void put_place(struct leat_poets_parcel *p, struct leat_graph_place place)
{
    leat_poets_parcel_put(p, place.line);
    leat_poets_parcel_put(p, place.column | (uint32_t)place.file << 16);
}

static struct leat_graph_place take_place(struct leat_poets_parcel *p)
{
    const uint32_t line = leat_poets_parcel_take(p), rest = leat_poets_parcel_take(p);
    return (struct leat_graph_place){ line, rest & 0xffff, (uint16_t)(rest >> 16) };
}

static void put_devices(const struct dealing *d, struct leat_poets_parcel *p)
{
    const struct leat_graph_instance *i = d->instance;
    leat_poets_parcel_put(p, d->slice.breaks);
    leat_poets_parcel_put(p, i->edge_count);
    leat_poets_parcel_put(p, i->device_count);
    for (uint32_t k = 0; k < i->device_count; k++) {
        const struct leat_graph_device *device = &i->device[k];
        put_place(p, device->place);
        leat_poets_parcel_put(p, device->type); /* is it external? */
        put_string(p, &d->graph->names, device->name);
        put_string(p, &d->graph->pin_names, device->type_name);
    }
}

/* `lines`: of the slices before. */
static bool take_device(struct dealing *d, struct leat_poets_parcel *p, uint32_t lines)
{
    struct leat_graph_instance *i = d->instance;
    struct leat_graph_device device = { .place = take_place(p) };
    device.place.line += lines;
    device.type = leat_poets_parcel_take(p);
    if (!take_string(p, &d->graph->names, &device.name) ||
        !take_string(p, &d->graph->pin_names, &device.type_name) ||
        !leat_graph_grow((void **)&i->device, i->device_count, &i->device_cap, sizeof *i->device,
                         LEAT_GRAPH_STRINGS_COUNT_MAX))
        return false;
    i->device[i->device_count++] = device;
    return true;
}

/* The devices of all slices; those of its own have values. */
static bool take_devices(struct dealing *d)
{
    struct leat_graph_instance *i = d->instance;
    struct leat_graph_device *mine = i->device;
    uint32_t lines = 0;
    bool good = true;
    d->count = i->device_count;
    i->device = NULL;
    i->device_count = i->device_cap = 0;
    for (uint32_t r = 0; r < d->link->rank_count; r++) {
        struct leat_poets_parcel *p = &d->parcel[r];
        const uint32_t breaks = leat_poets_parcel_take(p);
        d->deal->edges += leat_poets_parcel_take(p);
        if (r == d->link->rank) {
            d->first = i->device_count;
            for (uint32_t e = 0; e < i->edge_count; e++)
                i->edge[e].place.line += lines;
        }
        for (uint32_t k = leat_poets_parcel_take(p); k && good; k--)
            good = take_device(d, p, lines);
        lines += breaks;
    }
    for (uint32_t k = 0; k < d->count && good; k++) {
        i->device[d->first + k].properties = mine[k].properties;
        i->device[d->first + k].state = mine[k].state;
    }
    free(mine);
    return good;
}

/* Copies for all other ranks. */
static bool share_devices(struct dealing *d)
{
    struct leat_poets_parcel *own = &d->parcel[d->link->rank];
    put_devices(d, own);
    for (uint32_t r = 0; r < d->link->rank_count; r++)
        if (r != d->link->rank) leat_poets_parcel_put_all(&d->parcel[r], own);
    return leat_poets_exchange(d->link, d->parcel, true);
}

/* ---- owners --------------------------------------------------------------------------------- */

static bool is_external(const struct dealing *d, uint32_t device)
{
    return d->graph->type[d->instance->device[device].type].kind == LEAT_GRAPH_EXTERNAL;
}

static bool find_owners(struct dealing *d)
{
    const struct leat_graph_instance *i = d->instance;
    uint32_t *order = leat_graph_order(d->graph, i, d->deal->placement, d->deal->threads,
                                       d->deal->seed);
    uint32_t *device = malloc(((size_t)i->device_count + 1) * sizeof *device), count = 0;
    d->owner = calloc((size_t)i->device_count + 1, sizeof *d->owner);
    const bool good = order && device && d->owner;
    for (uint32_t k = 0; good && k < i->device_count; k++)
        if (!is_external(d, k)) device[count++] = k;
    const uint32_t threads = leat_poets_place_threads(count, d->deal->threads);
    for (uint32_t k = 0; good && k < count; k++) {
        const uint32_t thread = leat_poets_place_share(count, threads, k);
        d->owner[device[order[k]]] = (uint16_t)leat_poets_place_share(threads, d->link->rank_count,
                                                                      thread);
    }
    free(order);
    free(device);
    return good;
}

static bool is_mine(const struct dealing *d, uint32_t device)
{
    return d->owner[device] == d->link->rank;
}

/* ---- values and edges, to the owners --------------------------------------------------------- */

static void put_values(const struct dealing *d, struct leat_poets_parcel *p, uint32_t properties,
                       uint32_t state)
{
    put_string(p, &d->graph->values, properties);
    put_string(p, &d->graph->values, state);
}

static bool take_values(const struct dealing *d, struct leat_poets_parcel *p, uint32_t *properties,
                        uint32_t *state)
{
    return take_string(p, &d->graph->values, properties) &&
           take_string(p, &d->graph->values, state);
}

/* Numbers of devices count from 1, so that 0 ends them. */
static void put_device_values(struct dealing *d)
{
    for (uint32_t k = d->first; k < d->first + d->count; k++) {
        struct leat_graph_device *device = &d->instance->device[k];
        struct leat_poets_parcel *p = &d->parcel[d->owner[k]];
        if (!device->properties && !device->state) continue;
        leat_poets_parcel_put(p, k + 1);
        put_values(d, p, device->properties, device->state);
        device->properties = device->state = LEAT_GRAPH_NO_STRING;
    }
    for (uint32_t r = 0; r < d->link->rank_count; r++)
        leat_poets_parcel_put(&d->parcel[r], 0);
}

static void put_edge(const struct dealing *d, uint32_t rank, const struct leat_graph_edge *e)
{
    struct leat_poets_parcel *p = &d->parcel[rank];
    const bool in = d->owner[e->to] == rank, out = d->owner[e->from] == rank;
    put_place(p, e->place);
    leat_poets_parcel_put(p, e->to);
    leat_poets_parcel_put(p, e->from);
    leat_poets_parcel_put(p, e->to_pin | (uint32_t)e->from_pin << 16);
    leat_poets_parcel_put(p, out ? e->number : LEAT_GRAPH_NONE);
    put_values(d, p, in ? e->properties : 0, in ? e->state : 0);
}

static void put_edges(struct dealing *d)
{
    struct leat_graph_instance *i = d->instance;
    for (uint32_t k = 0; k < i->edge_count; k++) {
        const struct leat_graph_edge *e = &i->edge[k];
        put_edge(d, d->owner[e->to], e);
        if (d->owner[e->from] != d->owner[e->to]) put_edge(d, d->owner[e->from], e);
    }
    free(i->edge);
    i->edge = NULL;
    i->edge_count = i->edge_cap = 0;
}

static bool take_edge(struct dealing *d, struct leat_poets_parcel *p)
{
    struct leat_graph_instance *i = d->instance;
    struct leat_graph_edge e = { .place = take_place(p) };
    e.to = leat_poets_parcel_take(p);
    e.from = leat_poets_parcel_take(p);
    const uint32_t pins = leat_poets_parcel_take(p);
    e.to_pin = pins & 0xffff;
    e.from_pin = (uint16_t)(pins >> 16);
    e.number = leat_poets_parcel_take(p);
    if (!take_values(d, p, &e.properties, &e.state) ||
        !leat_graph_grow((void **)&i->edge, i->edge_count, &i->edge_cap, sizeof *i->edge,
                         LEAT_GRAPH_STRINGS_COUNT_MAX))
        return false;
    i->edge[i->edge_count++] = e;
    return true;
}

/* In the order of the file, since slices are. */
static bool take_edges(struct dealing *d)
{
    bool good = true;
    for (uint32_t r = 0; r < d->link->rank_count; r++) {
        struct leat_poets_parcel *p = &d->parcel[r];
        uint32_t device;
        while (good && (device = leat_poets_parcel_take(p))) {
            struct leat_graph_device *of = &d->instance->device[device - 1];
            good = take_values(d, p, &of->properties, &of->state);
        }
        while (good && !leat_poets_parcel_is_empty(p))
            good = take_edge(d, p);
        good = good && !p->damaged;
        leat_poets_parcel_free(p);
    }
    return good;
}

/* ---- numbers, to those who send -------------------------------------------------------------- */

/* Both ends have the edges between them in the same order. */
static void put_numbers(struct dealing *d)
{
    const struct leat_graph_instance *i = d->instance;
    uint32_t cut = 0;
    for (uint32_t k = 0; k < i->edge_count; k++) {
        const struct leat_graph_edge *e = &i->edge[k];
        if (is_mine(d, e->from) || !is_mine(d, e->to)) continue;
        leat_poets_parcel_put(&d->parcel[d->owner[e->from]], e->number);
        cut++;
    }
    for (uint32_t r = 0; r < d->link->rank_count; r++)
        leat_poets_parcel_put(&d->parcel[r], cut);
}

static bool take_numbers(struct dealing *d)
{
    struct leat_graph_instance *i = d->instance;
    bool good = true;
    for (uint32_t k = 0; k < i->edge_count; k++) {
        struct leat_graph_edge *e = &i->edge[k];
        if (is_mine(d, e->from) && !is_mine(d, e->to))
            e->number = leat_poets_parcel_take(&d->parcel[d->owner[e->to]]);
    }
    for (uint32_t r = 0; r < d->link->rank_count; r++) {
        struct leat_poets_parcel *p = &d->parcel[r];
        d->deal->cut += leat_poets_parcel_take(p);
        good = good && leat_poets_parcel_is_empty(p) && !p->damaged;
        leat_poets_parcel_free(p);
    }
    return good;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool join(struct dealing *d)
{
    const bool good = take_devices(d) && leat_graph_join_names(d->graph, d->instance) &&
                      is_clean(d->graph) && find_owners(d);
    for (uint32_t r = 0; r < d->link->rank_count; r++)
        leat_poets_parcel_free(&d->parcel[r]);
    return leat_poets_link_agree(d->link, good, 0).good;
}

static bool link_edges(struct dealing *d)
{
    if (!take_edges(d) || !leat_graph_link(d->graph, d->instance) || !is_clean(d->graph))
        return false;
    d->instance->joined_count = (uint32_t)d->deal->edges;
    put_numbers(d);
    return true;
}

/* What a rank does not do, none does: each stage ends with an agreement. */
static bool deal(struct dealing *d)
{
    if (!share_devices(d) || !join(d)) return false;
    put_device_values(d);
    put_edges(d);
    if (!leat_poets_exchange(d->link, d->parcel, true)) return false;
    const bool linked = link_edges(d);
    if (!leat_poets_exchange(d->link, d->parcel, linked)) return false;
    return leat_poets_link_agree(d->link, take_numbers(d), 0).good;
}

bool leat_poets_deal_graph(struct leat_graph *graph, const char *file,
                           enum leat_graph_dialect dialect, struct leat_poets_link *link,
                           struct leat_poets_deal *how)
{
    struct dealing d = { .graph = graph, .link = link, .deal = how };
    d.parcel = leat_poets_parcels(link);
    bool good = leat_graph_read_slice(graph, file, dialect, &d.slice, link->rank,
                                      link->rank_count) &&
                d.parcel;
    good = leat_poets_link_agree(link, good, 0).good;
    d.instance = graph->instance;
    good = good && deal(&d);
    leat_poets_parcels_free(d.parcel, link);
    free(d.owner);
    return good;
}
