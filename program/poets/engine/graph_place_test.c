#include "graph_machine.h"
#include "graph_place.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { DEVICES_MAX = 4096, EDGES_MAX = 5 * DEVICES_MAX };

static struct leat_graph_type types[2] = { { .kind = LEAT_GRAPH_DEVICE },
                                           { .kind = LEAT_GRAPH_EXTERNAL } };
static struct leat_graph graph = { .type = types, .type_count = 2 };
static struct leat_graph_device device[DEVICES_MAX];
static struct leat_graph_edge edge[EDGES_MAX];
static struct leat_graph_instance instance;
static uint32_t shuffled[DEVICES_MAX];

static void begin(uint32_t devices)
{
    memset(device, 0, sizeof device);
    instance =
        (struct leat_graph_instance){ .device = device, .device_count = devices, .edge = edge };
    for (uint32_t i = 0; i < devices; i++)
        shuffled[i] = i;
}

static void shuffle(uint64_t seed)
{
    struct leat_random random;
    leat_random_seed(&random, seed);
    for (uint32_t i = instance.device_count; i > 1; i--) {
        const uint32_t k = (uint32_t)leat_random_below(&random, i), before = shuffled[i - 1];
        shuffled[i - 1] = shuffled[k];
        shuffled[k] = before;
    }
}

/* In both directions, under the devices' names. */
static void join(uint32_t a, uint32_t b)
{
    edge[instance.edge_count++] = (struct leat_graph_edge){ .from = shuffled[a],
                                                            .to = shuffled[b] };
    edge[instance.edge_count++] = (struct leat_graph_edge){ .from = shuffled[b],
                                                            .to = shuffled[a] };
}

static void make_grid(uint32_t side)
{
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++) {
            if (x + 1 < side) join(y * side + x, y * side + x + 1);
            if (y + 1 < side) join(y * side + x, y * side + x + side);
        }
}

/* Edges between shares, counted directly. An invalid order counts as the worst. */
static uint32_t cut_of(const uint32_t *order, uint32_t threads)
{
    static uint32_t thread[DEVICES_MAX];
    const uint32_t count = instance.device_count;
    uint32_t cut = 0;
    memset(thread, 0xff, sizeof thread);
    for (uint32_t t = 0; t < threads; t++)
        for (uint32_t k = count * t / threads; k < count * (t + 1) / threads; k++) {
            OK(order[k] < count && thread[order[k]] == UINT32_MAX);
            if (order[k] < count) thread[order[k]] = t;
        }
    for (uint32_t e = 0; e < instance.edge_count; e++)
        cut += thread[edge[e].from] != thread[edge[e].to];
    return cut;
}

static uint32_t cut(enum leat_poets_placement placement, uint32_t threads)
{
    uint32_t *order = leat_graph_order(&graph, &instance, placement, threads, 1);
    const uint32_t is = order ? cut_of(order, threads) : UINT32_MAX;
    free(order);
    return is;
}

static void a_grid_in_any_order_is_cut_nearly_as_well_as_by_rows(void)
{
    begin(64 * 64);
    make_grid(64);
    const uint32_t rows = cut(LEAT_POETS_PLACE_BLOCK, 16);
    EQ(rows, 15 * 64 * 2);
    EQ(cut(LEAT_POETS_PLACE_LOCALITY, 16), rows); /* well placed already */
    for (uint64_t seed = 1; seed < 4; seed++) {
        begin(64 * 64);
        shuffle(tap_seed() + seed);
        make_grid(64);
        OK(cut(LEAT_POETS_PLACE_BLOCK, 16) > 10 * rows / 2);
        OK(cut(LEAT_POETS_PLACE_LOCALITY, 16) <= rows);
        OK(cut(LEAT_POETS_PLACE_LOCALITY, 2) <= 64 * 2 * 2);
        OK(cut(LEAT_POETS_PLACE_LOCALITY, 13) <= rows);
    }
}

static void what_does_not_hang_together_is_not_cut(void)
{
    begin(4000);
    shuffle(tap_seed());
    for (uint32_t ring = 0; ring < 4; ring++)
        for (uint32_t i = 0; i < 1000; i++)
            join(ring * 1000 + i, ring * 1000 + (i + 1) % 1000);
    OK(cut(LEAT_POETS_PLACE_BLOCK, 4) > 4000);
    EQ(cut(LEAT_POETS_PLACE_LOCALITY, 4), 0);
    OK(cut(LEAT_POETS_PLACE_LOCALITY, 8) <= 4 * 2 * 2);
}

static void a_hub_does_not_make_all_near_to_all(void)
{
    begin(40 * 40 + 1);
    shuffle(tap_seed());
    make_grid(40);
    for (uint32_t i = 0; i < 1600; i++)
        join(i, 1600);
    /* Three of four devices are not with the hub; by rows, three times 40 more would be cut. */
    const uint32_t of_hub = 1600 * 2 * 3 / 4, by_rows = 3 * 40 * 2;
    OK(cut(LEAT_POETS_PLACE_LOCALITY, 4) <= of_hub + by_rows * 3 / 2);
}

static void every_order_has_every_device_once(void)
{
    static const uint32_t counts[] = { 0, 1, 2, 3, 17, 500 };
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t threads = 1; threads <= counts[i] && threads < 40; threads++) {
            begin(counts[i]);
            for (uint32_t e = 0; e < counts[i]; e++) {
                const uint32_t from = (uint32_t)leat_random_below(&random, counts[i]);
                join(from, (uint32_t)leat_random_below(&random, counts[i]));
            }
            for (enum leat_poets_placement p = 0; p < LEAT_POETS_PLACE_COUNT; p++)
                OK(cut(p, threads) <= instance.edge_count);
        }
    begin(0);
    uint32_t *order = leat_graph_order(&graph, &instance, LEAT_POETS_PLACE_LOCALITY, 4, 1);
    OK(order != NULL);
    free(order);
}

static void externals_are_not_dealt(void)
{
    begin(100);
    make_grid(10);
    for (uint32_t i = 0; i < 100; i += 3)
        device[i].type = 1;
    for (enum leat_poets_placement p = 0; p < LEAT_POETS_PLACE_COUNT; p++) {
        uint32_t *order = leat_graph_order(&graph, &instance, p, 5, 1), seen = 0;
        for (uint32_t k = 0; order && k < 66; k++)
            seen += order[k] < 66;
        EQ(seen, 66);
        free(order);
    }
}

static void the_same_graph_has_the_same_order(void)
{
    begin(1024);
    shuffle(9);
    make_grid(32);
    for (enum leat_poets_placement p = 0; p < LEAT_POETS_PLACE_COUNT; p++) {
        uint32_t *one = leat_graph_order(&graph, &instance, p, 8, 5);
        uint32_t *two = leat_graph_order(&graph, &instance, p, 8, 5);
        OK(memcmp(one, two, 1024 * sizeof *one) == 0);
        free(one);
        free(two);
    }
    OK(strcmp(leat_poets_placement_name(LEAT_POETS_PLACE_LOCALITY), "locality") == 0);
    OK(!leat_poets_placement_name(LEAT_POETS_PLACE_COUNT));
}

static void threads_are_no_more_than_devices_and_enough_for_them(void)
{
    EQ(leat_poets_place_threads(0, 16), 0);
    EQ(leat_poets_place_threads(5, 16), 5);
    EQ(leat_poets_place_threads(1000, 16), 16);
    EQ(leat_poets_place_threads(65534, 1), 2);
    EQ(leat_poets_place_threads(65533, 1), 1);
    EQ(leat_poets_place_threads(1000000, 4), 16);
}

/* Against the definition: rank r has the threads from T*r/R on. */
static void every_thread_is_at_one_rank(void)
{
    for (uint32_t threads = 1; threads < 40; threads++)
        for (uint32_t ranks = 1; ranks < 50; ranks++) {
            const struct leat_poets_machine m = { .thread_count = threads, .rank_count = ranks };
            EQ(leat_poets_machine_rank_first(&m, 0), 0);
            EQ(leat_poets_machine_rank_first(&m, ranks), threads);
            for (uint32_t t = 0; t < threads; t++) {
                const uint32_t r = leat_poets_machine_rank_of(&m, t);
                OK(r < ranks && leat_poets_machine_rank_first(&m, r) <= t &&
                   t < leat_poets_machine_rank_first(&m, r + 1));
            }
        }
}

static void edges_between_shares_are_counted(void)
{
    static uint32_t number[100];
    static struct leat_poets_seat seat[100];
    begin(100);
    make_grid(10); /* a row is a thread */
    for (uint32_t i = 0; i < 100; i++) {
        number[i] = i;
        seat[i] = (struct leat_poets_seat){ (uint16_t)(i / 10), (uint16_t)(i % 10) };
    }
    const struct leat_poets_machine m = { .instance = &instance,
                                          .device_count = 100,
                                          .device = number,
                                          .seat = seat,
                                          .thread_count = 10,
                                          .thread_to = 10 };
    EQ(leat_poets_machine_cut(&m, 10), 9 * 10 * 2);
    EQ(leat_poets_machine_cut(&m, 5), 4 * 10 * 2);
    EQ(leat_poets_machine_cut(&m, 1), 0);
}

TAP_MAIN(T(a_grid_in_any_order_is_cut_nearly_as_well_as_by_rows),
         T(what_does_not_hang_together_is_not_cut), T(a_hub_does_not_make_all_near_to_all),
         T(every_order_has_every_device_once), T(externals_are_not_dealt),
         T(the_same_graph_has_the_same_order),
         T(threads_are_no_more_than_devices_and_enough_for_them), T(every_thread_is_at_one_rank),
         T(edges_between_shares_are_counted))
