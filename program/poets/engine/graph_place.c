#include "graph_place.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum {
    HUB_EDGES_MIN = 64, /* a device with more edges than this, */
    HUB_TIMES_MEAN = 8, /* and more than this multiple of the mean, is a hub: near to everybody */
    WELL_PLACED = 8,    /* at most one in this many edges between threads: the order is kept */
    SAMPLE = 1 << 18,   /* edges are enough to judge an order */
    SWAP_ROUNDS = 4,
    DEVICES_PER_THREAD_MAX = 65534, /* a packet has 16 bits for them, and one value means all */
};

static const char *const name[] = { "block", "locality", "random" };

const char *leat_poets_placement_name(enum leat_poets_placement placement)
{
    return placement < LEAT_POETS_PLACE_COUNT ? name[placement] : NULL;
}

uint32_t leat_poets_place_threads(uint32_t devices, uint32_t wanted)
{
    const uint32_t needed = devices / DEVICES_PER_THREAD_MAX + 1;
    if (wanted > devices) wanted = devices;
    return wanted < needed && devices ? needed : wanted;
}

/* Devices of the instance without externals, and their neighbours in both directions. */
struct placing {
    const struct leat_graph_instance *instance;
    uint32_t *index_of; /* by number in the instance; LEAT_GRAPH_NONE: an external; NULL: none is */
    uint32_t count, threads;
    uint32_t *base, *end, *near; /* neighbours of i: near[base[i]] to near[end[i]], without hubs */
    bool *apart;                 /* a hub, or without neighbours: it may be placed anywhere */
    uint32_t *order, *queue;
    uint32_t *side;    /* of the current bisection; all others have other numbers */
    uint32_t sides;    /* numbers given so far */
    uint32_t from, to; /* see search */
};

/* ---- neighbours ----------------------------------------------------------------------------- */

/* Both ends of an edge between two devices. */
static bool ends(const struct placing *p, uint32_t edge, uint32_t *from, uint32_t *to)
{
    const struct leat_graph_edge *e = &p->instance->edge[edge];
    *from = p->index_of ? p->index_of[e->from] : e->from;
    *to = p->index_of ? p->index_of[e->to] : e->to;
    return *from != *to && *from != LEAT_GRAPH_NONE && *to != LEAT_GRAPH_NONE;
}

/* Degrees into base[i + 1]; hubs and isolated devices are set apart. */
static void find_hubs(struct placing *p)
{
    uint32_t from, to;
    uint64_t sum = 0;
    for (uint32_t e = 0; e < p->instance->edge_count; e++) {
        if (!ends(p, e, &from, &to)) continue;
        p->base[from + 1]++;
        p->base[to + 1]++;
        sum += 2;
    }
    const uint64_t mean = p->count ? sum / p->count : 0;
    const uint64_t most = mean * HUB_TIMES_MEAN > HUB_EDGES_MIN ? mean * HUB_TIMES_MEAN
                                                                : HUB_EDGES_MIN;
    for (uint32_t i = 0; i < p->count; i++)
        p->apart[i] = !p->base[i + 1] || p->base[i + 1] > most;
}

/* Lists have room for hubs, which are not in them. */
static bool find_neighbours(struct placing *p)
{
    uint32_t from, to;
    for (uint32_t i = 0; i < p->count; i++) {
        p->base[i + 1] = p->base[i] + (p->apart[i] ? 0 : p->base[i + 1]);
        p->end[i] = p->base[i];
    }
    p->near = malloc(((size_t)p->base[p->count] + 1) * sizeof *p->near);
    if (!p->near) return false;
    for (uint32_t e = 0; e < p->instance->edge_count; e++)
        if (ends(p, e, &from, &to) && !p->apart[from] && !p->apart[to]) {
            p->near[p->end[from]++] = to;
            p->near[p->end[to]++] = from;
        }
    return true;
}

static uint32_t first_of(const struct placing *p, uint32_t thread)
{
    return (uint32_t)((uint64_t)p->count * thread / p->threads);
}

/* Edges between threads, without hubs, and all such edges; a sample if there are many. `thread` has
 * room for all devices. */
static uint64_t count_cut(const struct placing *p, const uint32_t *order, uint32_t *thread,
                          uint64_t *all)
{
    uint64_t cut = 0;
    uint32_t from, to;
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t k = first_of(p, t); k < first_of(p, t + 1); k++)
            thread[order ? order[k] : k] = t;
    const uint32_t step = 1 + p->instance->edge_count / SAMPLE;
    *all = 0;
    for (uint32_t e = 0; e < p->instance->edge_count; e += step) {
        if (!ends(p, e, &from, &to) || p->apart[from] || p->apart[to]) continue;
        ++*all;
        cut += thread[from] != thread[to];
    }
    return cut;
}

/* ---- halves --------------------------------------------------------------------------------- */

/* Breadth-first search over list[0..count), whose side is `old`, into the queue; visited devices
 * get `new`. Disconnected components follow one another. Returns the end of the first. Only
 * queue[from..to) can have edges between queue[0..half) and the rest: devices before `from` have no
 * neighbour beyond `half`, and those after `to` were not reached from before it. */
static uint32_t search(struct placing *p, const uint32_t *list, uint32_t count, uint32_t start,
                       uint32_t old, uint32_t new, uint32_t half)
{
    uint32_t head = 0, tail = 0, end = LEAT_GRAPH_NONE;
    p->from = p->to = half;
    for (uint32_t i = 0; tail < count; i++) {
        const uint32_t seed = i ? list[i - 1] : start;
        if (p->side[seed] != old) continue;
        p->side[seed] = new;
        p->queue[tail++] = seed;
        while (head < tail) {
            const uint32_t at = p->queue[head++], before = tail;
            for (uint32_t k = p->base[at]; k < p->end[at]; k++)
                if (p->side[p->near[k]] == old) {
                    p->side[p->near[k]] = new;
                    p->queue[tail++] = p->near[k];
                }
            if (before <= half && half < tail) p->from = head - 1;
            if (head == half) p->to = tail;
        }
        if (end == LEAT_GRAPH_NONE) end = p->queue[tail - 1];
    }
    return end;
}

/* Edges that a change of sides saves. */
static int64_t gain(const struct placing *p, uint32_t at, uint32_t left)
{
    const uint32_t mine = p->side[at], other = mine == left ? left + 1 : left;
    int64_t sum = 0;
    for (uint32_t k = p->base[at]; k < p->end[at]; k++)
        sum += (p->side[p->near[k]] == other) - (p->side[p->near[k]] == mine);
    return sum;
}

/* The next of list[*at..end) that would gain; false: none. */
static bool next_gainer(const struct placing *p, const uint32_t *list, uint32_t *at, uint32_t end,
                        uint32_t left)
{
    while (*at < end && gain(p, list[*at], left) <= 0)
        ++*at;
    return *at < end;
}

/* list[0..half) is on side `left`, the rest on left + 1. Swaps pairs, so the halves keep their
 * sizes. Only devices along the cut are considered. */
static void swap_pairs(struct placing *p, uint32_t *list, uint32_t half, uint32_t left)
{
    for (int round = 0; round < SWAP_ROUNDS; round++) {
        uint32_t a = p->from, b = half, swaps = 0;
        while (next_gainer(p, list, &a, half, left) && next_gainer(p, list, &b, p->to, left)) {
            const uint32_t before = list[a];
            p->side[list[a]] = left + 1;
            /* They may be neighbours: then one move may have been enough. */
            const bool good = gain(p, list[b], left) >= 0;
            if (good) {
                p->side[list[b]] = left;
                list[a] = list[b];
                list[b] = before;
                swaps++;
            } else {
                p->side[before] = left;
            }
            a++;
            b++;
        }
        if (!swaps) return;
    }
}

/* Orders list[0..count), all on one side, for the threads from..to. There are at most 65535
 * threads, so the depth is at most 16. */
static void halve(struct placing *p, uint32_t *list, uint32_t count, uint32_t from, uint32_t to)
{
    if (to - from < 2 || count < 2) return;
    const uint32_t middle = from + (to - from) / 2;
    const uint32_t half = (uint32_t)((uint64_t)count * (middle - from) / (to - from));
    const uint32_t here = p->side[list[0]], again = p->sides, left = p->sides + 1;
    p->sides += 3;
    const uint32_t end = search(p, list, count, list[0], here, again, half);
    search(p, list, count, end, again, left, half);
    memcpy(list, p->queue, count * sizeof *list);
    for (uint32_t k = half; k < count; k++)
        p->side[list[k]] = left + 1;
    swap_pairs(p, list, half, left);
    halve(p, list, half, from, middle);
    halve(p, list + half, count - half, middle, to);
}

/* ---- orders --------------------------------------------------------------------------------- */

/* Neighbours in their new order; hubs and isolated devices spread evenly between them. */
static void order_by_halves(struct placing *p)
{
    uint32_t *list = p->order;
    uint32_t count = 0, taken = 0, next = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->apart[i]) list[count++] = i;
    memset(p->side, 0, p->count * sizeof *p->side);
    p->sides = 1;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->apart[i]) p->side[i] = UINT32_MAX;
    halve(p, list, count, 0, p->threads);
    memcpy(p->queue, list, count * sizeof *list);
    for (uint32_t k = 0; k < p->count; k++) {
        if ((uint64_t)taken * p->count < ((uint64_t)k + 1) * count && taken < count) {
            p->order[k] = p->queue[taken++];
            continue;
        }
        while (!p->apart[next])
            next++;
        p->order[k] = next++;
    }
}

static void order_by_file(const struct placing *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        p->order[k] = k;
}

static void order_by_chance(const struct placing *p, uint64_t seed)
{
    struct leat_random random;
    leat_random_seed(&random, seed);
    order_by_file(p);
    for (uint32_t k = p->count; k > 1; k--) {
        const uint32_t with = (uint32_t)leat_random_below(&random, k), before = p->order[k - 1];
        p->order[k - 1] = p->order[with];
        p->order[with] = before;
    }
}

/* False: out of memory. */
static bool order_by_locality(struct placing *p)
{
    const size_t count = (size_t)p->count + 1;
    uint64_t all;
    p->base = calloc(count, sizeof *p->base);
    p->apart = calloc(count, sizeof *p->apart);
    p->end = calloc(count, sizeof *p->end);
    p->side = calloc(count, sizeof *p->side);
    p->queue = calloc(count, sizeof *p->queue);
    order_by_file(p);
    if (!p->base || !p->end || !p->apart || !p->side || !p->queue) return false;
    if (p->instance->edge_count > INT32_MAX) return true; /* more than `base` can count */
    find_hubs(p);
    const uint64_t before = count_cut(p, NULL, p->side, &all);
    if (before <= all / WELL_PLACED) return true;
    if (!find_neighbours(p)) return false;
    order_by_halves(p);
    if (count_cut(p, p->order, p->side, &all) >= before) order_by_file(p);
    return true;
}

static void number(struct placing *p, const struct leat_graph *graph)
{
    for (uint32_t d = 0; d < p->instance->device_count; d++) {
        const uint32_t type = p->instance->device[d].type;
        const bool external = graph->type[type].kind == LEAT_GRAPH_EXTERNAL;
        p->index_of[d] = external ? LEAT_GRAPH_NONE : p->count++;
    }
    if (p->count < p->instance->device_count) return;
    free(p->index_of);
    p->index_of = NULL;
}

uint32_t *leat_graph_order(struct leat_graph *graph, const struct leat_graph_instance *instance,
                           enum leat_poets_placement placement, uint32_t threads, uint64_t seed)
{
    const size_t count = (size_t)instance->device_count + 1;
    struct placing p = { .instance = instance };
    p.index_of = malloc(count * sizeof *p.index_of);
    p.order = calloc(count, sizeof *p.order);
    bool good = p.index_of && p.order;
    if (good) number(&p, graph);
    p.threads = leat_poets_place_threads(p.count, threads ? threads : 1);
    if (good && placement == LEAT_POETS_PLACE_BLOCK) order_by_file(&p);
    if (good && placement == LEAT_POETS_PLACE_RANDOM) order_by_chance(&p, seed);
    if (good && placement == LEAT_POETS_PLACE_LOCALITY) good = order_by_locality(&p);
    free(p.index_of);
    free(p.base);
    free(p.end);
    free(p.near);
    free(p.apart);
    free(p.queue);
    free(p.side);
    if (good) return p.order;
    free(p.order);
    leat_graph_wrong(&graph->report, instance->place, "E_LIMIT", "no memory");
    return NULL;
}
