#include "net_topology_test.h"
#include <leat/random.h>
#include <stdarg.h>

enum { NODES_MAX = 4096, PLACES_MAX = 64 };

static void *memory;
static struct leat_net_topology t;
static uint32_t distance[NODES_MAX], scratch[NODES_MAX];

static struct leat_net_shape shape_of(enum leat_net_kind kind, uint32_t numbers, ...)
{
    struct leat_net_shape shape = { .kind = kind, .terminals = 1, .wire_cycles = 1 };
    va_list each;
    va_start(each, numbers);
    for (uint32_t i = 0; i < numbers; i++)
        shape.number[i] = va_arg(each, uint32_t);
    va_end(each);
    shape.numbers = numbers;
    return shape;
}

/* Builds into `t`, replacing what was there. */
static void make(const struct leat_net_shape *shape)
{
    free(memory);
    EQ(check(shape), LEAT_ERR_OK);
    EQ(build(shape, &t, &memory), LEAT_ERR_OK);
    if (complaint[0]) printf("# %s\n", complaint);
    OK(sound(&t));
}

static void make1(enum leat_net_kind kind, uint32_t a)
{
    const struct leat_net_shape shape = shape_of(kind, 1, a);
    make(&shape);
}

static void make2(enum leat_net_kind kind, uint32_t a, uint32_t b)
{
    const struct leat_net_shape shape = shape_of(kind, 2, a, b);
    make(&shape);
}

static void make3(enum leat_net_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    const struct leat_net_shape shape = shape_of(kind, 3, a, b, c);
    make(&shape);
}

static uint32_t power(uint32_t base, uint32_t exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

static uint32_t digit(uint32_t number, uint32_t base, uint32_t place)
{
    return number / power(base, place) % base;
}

/* Over all shortest paths from routers: the longest, and their sum. */
static void all_distances(uint32_t *diameter, uint64_t *total)
{
    *diameter = 0;
    *total = 0;
    for (uint32_t from = 0; from < t.routers; from++) {
        leat_net_topology_distances(&t, from, distance, scratch);
        for (uint32_t to = 0; to < t.routers; to++) {
            OK(distance[to] != LEAT_NET_NONE);
            *total += distance[to];
            if (distance[to] > *diameter) *diameter = distance[to];
        }
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static void kinds_have_names_that_find_them(void)
{
    for (unsigned i = 0; i < LEAT_NET_KINDS; i++) {
        enum leat_net_kind found = LEAT_NET_GRAPH;
        const char *name = leat_net_kind_name((enum leat_net_kind)i);
        OK(leat_net_kind_find(name, strlen(name), &found));
        EQ(found, i);
        OK(!leat_net_kind_find(name, strlen(name) - 1, &found));
        OK(leat_net_kind_numbers((enum leat_net_kind)i) != NULL);
    }
    OK(strcmp(leat_net_kind_name(LEAT_NET_FATTREE), "fattree") == 0);
    OK(strcmp(leat_net_kind_numbers(LEAT_NET_CLOS), "E,M,R") == 0);
    OK(!leat_net_kind_name((enum leat_net_kind)LEAT_NET_KINDS));
    OK(!leat_net_kind_numbers((enum leat_net_kind)LEAT_NET_KINDS));
}

static void clos_networks_have_the_class_of_the_published_rule(void)
{
    static const struct {
        uint32_t e, m;
        const char *name;
    } each[] = { { 4, 7, "non-blocking" },  { 4, 6, "rearrangeable" }, { 4, 4, "rearrangeable" },
                 { 4, 3, "blocking" },      { 1, 1, "non-blocking" },  { 8, 15, "non-blocking" },
                 { 8, 14, "rearrangeable" } };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const struct leat_net_shape clos = shape_of(LEAT_NET_CLOS, 3, each[i].e, each[i].m, 4);
        OK(strcmp(leat_net_shape_class(&clos), each[i].name) == 0);
    }
    const struct leat_net_shape crossbar = shape_of(LEAT_NET_CROSSBAR, 1, 4);
    const struct leat_net_shape grid = shape_of(LEAT_NET_GRID, 1, 4);
    const struct leat_net_shape benes = shape_of(LEAT_NET_BENES, 1, 8);
    const struct leat_net_shape fly = shape_of(LEAT_NET_FLY, 2, 2, 3);
    const struct leat_net_shape one_switch = shape_of(LEAT_NET_FLY, 2, 8, 1);
    const struct leat_net_shape mesh = shape_of(LEAT_NET_MESH, 2, 4, 4);
    OK(strcmp(leat_net_shape_class(&crossbar), "non-blocking") == 0);
    OK(strcmp(leat_net_shape_class(&grid), "non-blocking") == 0);
    OK(strcmp(leat_net_shape_class(&benes), "rearrangeable") == 0);
    OK(strcmp(leat_net_shape_class(&fly), "blocking") == 0);
    OK(strcmp(leat_net_shape_class(&one_switch), "non-blocking") == 0);
    OK(!leat_net_shape_class(&mesh));
}

/* ---- lattices ------------------------------------------------------------------------------- */

/* A random lattice of at most NODES_MAX / 8 routers; some of its sizes are 1 or 2. */
static struct leat_net_shape random_lattice(struct leat_random *random, enum leat_net_kind kind)
{
    struct leat_net_shape shape = { .kind = kind, .wire_cycles = 1 };
    const bool flat = kind == LEAT_NET_LINE || kind == LEAT_NET_RING;
    uint32_t room = 512;
    shape.numbers = flat ? 1 : 1 + (uint32_t)leat_random_below(random, 4);
    for (uint32_t d = 0; d < shape.numbers; d++) {
        const uint32_t most = room < 9 ? room : 9;
        shape.number[d] = 1 + (uint32_t)leat_random_below(random, flat ? 100 : most);
        room /= shape.number[d];
    }
    shape.terminals = 1 + (uint32_t)leat_random_below(random, 3);
    shape.wire_cycles = 1 + (uint32_t)leat_random_below(random, LEAT_NET_WIRE_CYCLES_MAX);
    return shape;
}

/* The coordinates of a router, counted up one by one. */
static void count_up(const struct leat_net_shape *shape, uint32_t *place)
{
    for (uint32_t d = 0; d < shape->numbers; d++) {
        if (++place[d] < shape->number[d]) return;
        place[d] = 0;
    }
}

static void lattice_ports_lead_where_their_order_says(void)
{
    static const enum leat_net_kind kinds[] = { LEAT_NET_LINE, LEAT_NET_RING, LEAT_NET_MESH,
                                                LEAT_NET_TORUS };
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 1000; round++) {
        const struct leat_net_shape s = random_lattice(&random, kinds[round % 4]);
        const bool wraps = s.kind == LEAT_NET_RING || s.kind == LEAT_NET_TORUS;
        uint32_t place[LEAT_NET_NUMBERS_MAX] = { 0 }, wires = 0, stride = 1;
        make(&s);
        for (uint32_t r = 0; r < t.routers; r++, count_up(&s, place)) {
            stride = 1;
            for (uint32_t d = 0; d < s.numbers; stride *= s.number[d++]) {
                const uint32_t k = s.number[d], c = place[d], row = r - c * stride;
                EQ(leat_net_topology_coordinate(&t, r, d), c);
                const bool up = k > 1 && (wraps || c + 1 < k);
                const bool down = k > 1 && (wraps ? k > 2 : c > 0);
                EQ(behind(&t, r, 2 * d), up ? row + (c + 1) % k * stride : LEAT_NET_NONE);
                EQ(behind(&t, r, 2 * d + 1), down ? row + (c + k - 1) % k * stride : LEAT_NET_NONE);
                wires += up + down;
            }
            for (uint32_t i = 0; i < s.terminals; i++)
                EQ(terminal_behind(&t, r, 2 * s.numbers + i), r * s.terminals + i);
        }
        EQ(t.wires, wires);
        EQ(t.routers, stride);
        EQ(t.terminals, t.routers * s.terminals);
        EQ(t.radix, 2 * s.numbers + s.terminals);
        EQ(t.outs, t.radix * t.routers);
        EQ(t.ins, t.outs);
    }
}

/* In direct topologies the wire back has the same port numbers. */
static void both_directions_of_a_wire_have_the_same_ports(void)
{
    const struct leat_net_shape each[] = {
        shape_of(LEAT_NET_RING, 1, 5),
        shape_of(LEAT_NET_RING, 1, 2),
        shape_of(LEAT_NET_MESH, 3, 3, 4, 2),
        shape_of(LEAT_NET_TORUS, 3, 3, 2, 4),
        shape_of(LEAT_NET_HYPERCUBE, 1, 5),
        shape_of(LEAT_NET_HYPERX, 3, 3, 4, 2),
        shape_of(LEAT_NET_DRAGONFLY, 3, 2, 4, 2),
        shape_of(LEAT_NET_FATTREE, 2, 3, 3),
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        make(&each[i]);
        for (uint32_t o = 0; o < t.outs; o++) {
            if (t.out_to[o] & LEAT_NET_TERMINAL) continue;
            const uint32_t a = t.out_router[o], p = o - t.out_first[a];
            const uint32_t b = t.in_router[t.out_to[o]], q = t.out_to[o] - t.in_first[b];
            EQ(behind(&t, b, q), a);
            EQ(t.out_to[t.out_first[b] + q], t.in_first[a] + p);
        }
    }
}

static void lattice_distances_are_those_of_coordinates(void)
{
    static const enum leat_net_kind kinds[] = { LEAT_NET_LINE, LEAT_NET_RING, LEAT_NET_MESH,
                                                LEAT_NET_TORUS, LEAT_NET_HYPERX };
    struct leat_random random;
    leat_random_seed(&random, tap_seed() + 1);
    for (int round = 0; round < LEAT_ROUNDS / 1000; round++) {
        const struct leat_net_shape s = random_lattice(&random, kinds[round % 5]);
        make(&s);
        const uint32_t from = (uint32_t)leat_random_below(&random, t.routers);
        leat_net_topology_distances(&t, from, distance, scratch);
        for (uint32_t to = 0; to < t.routers; to++) {
            uint32_t want = 0;
            for (uint32_t d = 0; d < leat_net_shape_dimensions(&s); d++) {
                const uint32_t a = leat_net_topology_coordinate(&t, from, d);
                const uint32_t b = leat_net_topology_coordinate(&t, to, d);
                const uint32_t straight = a < b ? b - a : a - b;
                const uint32_t round_about = leat_net_shape_size(&s, d) - straight;
                if (s.kind == LEAT_NET_HYPERX)
                    want += a != b;
                else if (s.kind == LEAT_NET_LINE || s.kind == LEAT_NET_MESH)
                    want += straight;
                else
                    want += straight < round_about ? straight : round_about;
            }
            EQ(distance[to], want);
        }
    }
}

/* Dally and Towles 2004, 5.2: over all pairs, a router with itself included, a mean of n (k - 1/k)
 * / 3 in meshes; n k / 4 in tori of even k, n (k - 1/k) / 4 of odd. Times the pairs, in integers.
 */
static void diameters_and_means_of_meshes_and_tori_are_the_published_ones(void)
{
    for (uint32_t n = 1; n <= 3; n++) {
        for (uint32_t k = 2; k <= (n == 3 ? 6 : 9); k++) {
            struct leat_net_shape s = shape_of(LEAT_NET_MESH, 3, k, k, k);
            const uint64_t pairs = (uint64_t)power(k, n) * power(k, n);
            uint32_t diameter;
            uint64_t total;
            s.numbers = n;
            make(&s);
            all_distances(&diameter, &total);
            EQ(diameter, n * (k - 1));
            EQ(total * 3 * k, pairs * n * (k * k - 1));
            EQ(t.wires, 2 * n * (k - 1) * power(k, n - 1));
            s.kind = LEAT_NET_TORUS;
            make(&s);
            all_distances(&diameter, &total);
            EQ(diameter, n * (k / 2));
            EQ(total * 4 * k, pairs * n * (k * k - k % 2));
            EQ(t.wires, (k == 2 ? 1 : 2) * n * power(k, n));
        }
    }
}

static void hypercubes_have_the_distances_of_hamming(void)
{
    for (uint32_t n = 1; n <= 8; n++) {
        uint32_t diameter;
        uint64_t total;
        make1(LEAT_NET_HYPERCUBE, n);
        EQ(t.routers, UINT32_C(1) << n);
        EQ(t.wires, n << n);
        EQ(leat_net_shape_dimensions(&t.shape), n);
        EQ(leat_net_shape_size(&t.shape, n - 1), 2);
        for (uint32_t r = 0; r < t.routers; r++) {
            for (uint32_t d = 0; d < n; d++) {
                EQ(behind(&t, r, d), r ^ 1u << d);
                EQ(leat_net_topology_coordinate(&t, r, d), r >> d & 1);
            }
            EQ(terminal_behind(&t, r, n), r);
        }
        all_distances(&diameter, &total);
        EQ(diameter, n);
        EQ(2 * total, (uint64_t)n << 2 * n); /* a mean of n/2 */
    }
}

static void hyperx_routers_see_all_others_of_a_row_in_rising_order(void)
{
    make3(LEAT_NET_HYPERX, 4, 3, 2);
    EQ(t.routers, 24);
    EQ(t.wires, 24 * (3 + 2 + 1));
    static const uint32_t of_0[] = { 1, 2, 3, 4, 8, 12 }, of_17[] = { 16, 18, 19, 13, 21, 5 };
    for (uint32_t p = 0; p < 6; p++) {
        EQ(behind(&t, 0, p), of_0[p]);
        EQ(behind(&t, 17, p), of_17[p]); /* at (1, 1, 1) */
    }
    EQ(terminal_behind(&t, 17, 6), 17);
    uint32_t diameter;
    uint64_t total;
    all_distances(&diameter, &total);
    EQ(diameter, 3);
}

/* ---- dragonflies ---------------------------------------------------------------------------- */

/* Kim, Dally, Scott and Abts 2008: g = a h + 1 groups, a p g terminals, one wire between groups. */
static void dragonflies_join_each_pair_of_groups_once(void)
{
    for (uint32_t a = 1; a <= 5; a++) {
        for (uint32_t h = 1; h <= 3; h++) {
            const uint32_t groups = a * h + 1, p = 1 + (a + h) % 3;
            uint32_t count[PLACES_MAX][PLACES_MAX] = { 0 }, diameter;
            uint64_t total;
            make3(LEAT_NET_DRAGONFLY, p, a, h);
            EQ(t.routers, groups * a);
            EQ(t.terminals, groups * a * p);
            EQ(t.radix, a - 1 + h + p);
            EQ(t.wires, groups * a * (a - 1 + h));
            for (uint32_t r = 0; r < t.routers; r++) {
                for (uint32_t i = 0; i < a - 1; i++)
                    EQ(behind(&t, r, i), r - r % a + i + (i >= r % a));
                for (uint32_t q = 0; q < h; q++)
                    count[r / a][behind(&t, r, a - 1 + q) / a]++;
            }
            for (uint32_t x = 0; x < groups; x++)
                for (uint32_t y = 0; y < groups; y++)
                    EQ(count[x][y], x != y);
            all_distances(&diameter, &total);
            EQ(diameter, a == 1 ? 1 : 3);
        }
    }
}

static void global_wires_go_to_the_other_groups_in_rising_order(void)
{
    make3(LEAT_NET_DRAGONFLY, 1, 3, 2); /* seven groups of three */
    for (uint32_t group = 0; group < 7; group++)
        for (uint32_t c = 0; c < 6; c++)
            EQ(behind(&t, group * 3 + c / 2, 2 + c % 2) / 3, c < group ? c : c + 1);
    EQ(behind(&t, 0, 2), 3);          /* group 0, wire 0: to wire 0 of group 1 */
    EQ(behind(&t, 4 * 3 + 2, 3), 20); /* group 4, wire 5: to wire 4 of group 6 */
}

/* ---- stages --------------------------------------------------------------------------------- */

/* Distinct routes from each terminal into the network to one that receives: counted wire by wire,
 * in topological order. */
static uint64_t ways(uint32_t from, uint32_t to)
{
    static uint64_t count[NODES_MAX];
    memset(count, 0, t.routers * sizeof *count);
    count[t.in_router[t.terminal_in[from]]] = 1;
    for (uint32_t r = 0; r < t.routers; r++)
        for (uint32_t o = t.out_first[r]; o < t.out_first[r + 1]; o++)
            if (!(t.out_to[o] & LEAT_NET_TERMINAL)) {
                OK(t.in_router[t.out_to[o]] > r);
                count[t.in_router[t.out_to[o]]] += count[r];
            }
    return count[t.out_router[t.terminal_out[to]]];
}

static void all_ways_are(uint64_t want)
{
    for (uint32_t from = 0; from < t.terminals; from++)
        for (uint32_t to = 0; to < t.terminals; to++)
            EQ(ways(from, to), want);
}

static void crossbars_are_one_router(void)
{
    for (uint32_t n = 1; n <= LEAT_NET_RADIX_MAX; n = 2 * n + (n == 1)) {
        make1(LEAT_NET_CROSSBAR, n);
        EQ(t.routers, 1);
        EQ(t.terminals, n);
        EQ(t.wires, 0);
        EQ(t.radix, n);
        EQ(terminal_behind(&t, 0, n - 1), n - 1);
    }
    all_ways_are(1);
}

/* Right and down only: as many routes as there are orders of these steps. */
static void grids_lead_right_and_down(void)
{
    for (uint32_t n = 1; n <= 6; n++) {
        uint64_t orders[PLACES_MAX][PLACES_MAX]; /* of so many steps right, so many down */
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                orders[i][j] = i && j ? orders[i - 1][j] + orders[i][j - 1] : 1;
        make1(LEAT_NET_GRID, n);
        EQ(t.routers, n * n);
        EQ(t.terminals, n);
        EQ(t.wires, 2 * n * (n - 1));
        EQ(t.radix, 2);
        for (uint32_t row = 0; row < n; row++) {
            for (uint32_t column = 0; column < n; column++) {
                const uint32_t r = row * n + column;
                EQ(behind(&t, r, 0), column + 1 < n ? r + 1 : LEAT_NET_NONE);
                EQ(behind(&t, r, 1), row + 1 < n ? r + n : LEAT_NET_NONE);
                EQ(t.out_to[t.out_first[r]] == LEAT_NET_NONE, column + 1 == n);
                EQ(t.in_from[t.in_first[r] + 1] == LEAT_NET_NONE, row == 0);
                EQ(ways(row, column), orders[column][n - 1 - row]);
            }
            EQ(t.terminal_in[row], t.in_first[row * n]);
            EQ(t.terminal_out[row], t.out_first[(n - 1) * n + row] + 1);
        }
    }
}

static void flies_have_one_way_which_the_digits_of_the_destination_lead(void)
{
    static const uint32_t each[][2] = {
        { 2, 1 }, { 2, 2 }, { 2, 5 }, { 3, 3 }, { 4, 2 }, { 5, 1 }
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const uint32_t k = each[i][0], n = each[i][1], stage = power(k, n - 1);
        make2(LEAT_NET_FLY, k, n);
        EQ(t.terminals, power(k, n));
        EQ(t.routers, n * stage);
        EQ(t.wires, (n - 1) * k * stage);
        EQ(t.radix, k);
        all_ways_are(1);
        for (uint32_t from = 0; from < t.terminals; from++) {
            EQ(t.terminal_in[from], t.in_first[from / k] + from % k);
            for (uint32_t to = 0; to < t.terminals; to++) {
                uint32_t r = from / k;
                for (uint32_t s = 0; s + 1 < n; s++)
                    r = behind(&t, r, digit(to, k, n - 1 - s));
                EQ(terminal_behind(&t, r, digit(to, k, 0)), to);
            }
        }
    }
}

static uint32_t logarithm(uint32_t n)
{
    return n > 1 ? 1 + logarithm(n / 2) : 0;
}

static void benes_networks_have_half_as_many_ways_as_terminals(void)
{
    for (uint32_t n = 2; n <= 64; n *= 2) {
        const uint32_t stages = 2 * logarithm(n) - 1;
        make1(LEAT_NET_BENES, n);
        EQ(t.terminals, n);
        EQ(t.routers, stages * n / 2);
        EQ(t.wires, (stages - 1) * n);
        EQ(t.radix, 2);
        all_ways_are(n / 2);
    }
}

/* Whatever is taken in the first half, the bits of the destination select the route in the
 * second. */
static void benes_networks_are_led_by_bits_behind_their_middle(void)
{
    for (uint32_t n = 2; n <= 32; n *= 2) {
        const uint32_t levels = logarithm(n);
        make1(LEAT_NET_BENES, n);
        for (uint32_t from = 0; from < n; from++) {
            for (uint32_t to = 0; to < n; to++) {
                for (uint32_t salt = 0; salt < n / 2; salt++) {
                    uint32_t r = t.in_router[t.terminal_in[from]];
                    for (uint32_t s = 0; s + 1 < levels; s++)
                        r = behind(&t, r, salt >> s & 1);
                    for (uint32_t s = levels - 1; s < 2 * levels - 2; s++)
                        r = behind(&t, r, to >> (2 * levels - 2 - s) & 1);
                    EQ(terminal_behind(&t, r, to & 1), to);
                }
            }
        }
    }
}

/* Where terminal `from` comes out if switch r crosses just when bit r of `crossed` is set. */
static uint32_t pass(uint32_t from, uint32_t crossed)
{
    for (uint32_t in = t.terminal_in[from];;) {
        const uint32_t r = t.in_router[in], port = (in - t.in_first[r]) ^ (crossed >> r & 1);
        const uint32_t to = t.out_to[t.out_first[r] + port];
        if (to & LEAT_NET_TERMINAL) return to & ~LEAT_NET_TERMINAL;
        in = to;
    }
}

/* Benes 1965: they are rearrangeable. Here by trying all settings of all switches. */
static void benes_networks_make_every_permutation(void)
{
    static uint8_t seen[1 << 24]; /* by the outputs of inputs 0..7, three bits each */
    for (uint32_t n = 4; n <= 8; n *= 2) {
        uint32_t permutations = 0, factorial = 1;
        memset(seen, 0, sizeof seen);
        make1(LEAT_NET_BENES, n);
        for (uint32_t crossed = 0; crossed < UINT32_C(1) << t.routers; crossed++) {
            uint32_t permutation = 0;
            for (uint32_t from = 0; from < n; from++)
                permutation = permutation << 3 | pass(from, crossed);
            permutations += !seen[permutation];
            seen[permutation] = 1;
        }
        for (uint32_t i = 2; i <= n; i++)
            factorial *= i;
        EQ(permutations, factorial);
    }
}

static void clos_networks_have_a_way_through_each_middle_switch(void)
{
    for (uint32_t e = 1; e <= 4; e++) {
        for (uint32_t m = 1; m <= 5; m++) {
            for (uint32_t r = 1; r <= 4; r++) {
                make3(LEAT_NET_CLOS, e, m, r);
                EQ(t.routers, 2 * r + m);
                EQ(t.terminals, e * r);
                EQ(t.wires, 2 * m * r);
                EQ(t.outs, r * m + m * r + r * e);
                EQ(t.ins, t.outs);
                all_ways_are(m);
                for (uint32_t i = 0; i < r; i++)
                    for (uint32_t j = 0; j < m; j++) {
                        EQ(behind(&t, i, j), r + j);
                        EQ(behind(&t, r + j, i), r + m + i);
                        EQ(t.out_to[t.out_first[i] + j], t.in_first[r + j] + i);
                        EQ(t.out_to[t.out_first[r + j] + i], t.in_first[r + m + i] + j);
                    }
            }
        }
    }
}

/* ---- fat trees ------------------------------------------------------------------------------ */

static void fat_trees_have_the_counts_and_distances_of_k_ary_n_trees(void)
{
    static const uint32_t each[][2] = {
        { 2, 1 }, { 2, 2 }, { 2, 5 }, { 3, 3 }, { 4, 3 }, { 7, 2 }
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const uint32_t k = each[i][0], n = each[i][1], level = power(k, n - 1);
        make2(LEAT_NET_FATTREE, k, n);
        EQ(t.routers, n * level);
        EQ(t.terminals, k * level);
        EQ(t.wires, 2 * (n - 1) * k * level);
        EQ(t.radix, n == 1 ? k : 2 * k);
        EQ(t.outs, (2 * n - 1) * k * level);
        uint32_t farthest = 0;
        for (uint32_t a = 0; a < level; a++) {
            leat_net_topology_distances(&t, a, distance, scratch);
            for (uint32_t b = 0; b < level; b++) {
                uint32_t up = 0; /* levels, to the nearest common ancestor */
                while (a / power(k, up) != b / power(k, up))
                    up++;
                EQ(distance[b], 2 * up);
                if (distance[b] > farthest) farthest = distance[b];
            }
        }
        EQ(farthest, 2 * n - 2);
    }
}

static void every_top_of_a_fat_tree_leads_down_by_the_digits(void)
{
    const uint32_t k = 3, n = 4, level = power(k, n - 1);
    make2(LEAT_NET_FATTREE, k, n);
    for (uint32_t w = 0; w < level; w++) {
        for (uint32_t to = 0; to < t.terminals; to++) {
            uint32_t r = (n - 1) * level + w;
            for (uint32_t l = n - 1; l > 0; l--)
                r = behind(&t, r, digit(to, k, l));
            EQ(terminal_behind(&t, r, digit(to, k, 0)), to);
        }
        uint32_t r = 0; /* and any route up leads to the top of these digits */
        for (uint32_t l = 0; l + 1 < n; l++)
            r = behind(&t, r, k + digit(w, k, l));
        EQ(r, (n - 1) * level + w);
    }
}

/* ---- size ----------------------------------------------------------------------------------- */

static void a_million_routers_are_built(void)
{
    enum { MILLION = 1 << 20 };
    make1(LEAT_NET_RING, MILLION);
    EQ(t.wires, 2 * MILLION);
    make2(LEAT_NET_TORUS, 1024, 1024);
    EQ(t.routers, MILLION);
    EQ(t.wires, 4 * MILLION);
    EQ(behind(&t, MILLION - 1, 2), 1023);
    free(memory);
    memory = NULL;
}

static void wires_have_the_cycles_of_the_shape(void)
{
    struct leat_net_shape s = shape_of(LEAT_NET_CLOS, 3, 2, 3, 4);
    s.wire_cycles = 7;
    make(&s);
    for (uint32_t o = 0; o < t.outs; o++)
        EQ(t.out_cycles[o], t.out_to[o] & LEAT_NET_TERMINAL ? 1 : 7);
}

/* Boards of 3 along each dimension of a torus 7 x 6: borders by coordinates, also across the
 * end. */
static void wires_between_boards_have_cycles_of_their_own(void)
{
    struct leat_net_shape shape = shape_of(LEAT_NET_TORUS, 2, 7, 6);
    uint32_t longer = 0, bad = 0;
    shape.board = 3;
    shape.board_cycles = 20;
    shape.wire_cycles = 2;
    make(&shape);
    for (uint32_t o = 0; o < t.outs; o++) {
        const uint32_t a = t.out_router[o], b = leat_net_behind(&t, o);
        if (b == LEAT_NET_NONE) continue;
        const bool other = a % 7 / 3 != b % 7 / 3 || a / 7 / 3 != b / 7 / 3;
        longer += other;
        bad += t.out_cycles[o] != (other ? 20 : 2);
    }
    EQ(bad, 0);
    EQ(longer, 2 * 6 * 3 + 2 * 7 * 2);
    shape.board_cycles = 0;
    EQ(check(&shape), LEAT_ERR_RANGE);
}

TAP_MAIN(T(kinds_have_names_that_find_them), T(clos_networks_have_the_class_of_the_published_rule),
         T(lattice_ports_lead_where_their_order_says),
         T(both_directions_of_a_wire_have_the_same_ports),
         T(lattice_distances_are_those_of_coordinates),
         T(diameters_and_means_of_meshes_and_tori_are_the_published_ones),
         T(hypercubes_have_the_distances_of_hamming),
         T(hyperx_routers_see_all_others_of_a_row_in_rising_order),
         T(dragonflies_join_each_pair_of_groups_once),
         T(global_wires_go_to_the_other_groups_in_rising_order), T(crossbars_are_one_router),
         T(grids_lead_right_and_down),
         T(flies_have_one_way_which_the_digits_of_the_destination_lead),
         T(benes_networks_have_half_as_many_ways_as_terminals),
         T(benes_networks_are_led_by_bits_behind_their_middle),
         T(benes_networks_make_every_permutation),
         T(clos_networks_have_a_way_through_each_middle_switch),
         T(fat_trees_have_the_counts_and_distances_of_k_ary_n_trees),
         T(every_top_of_a_fat_tree_leads_down_by_the_digits), T(a_million_routers_are_built),
         T(wires_have_the_cycles_of_the_shape), T(wires_between_boards_have_cycles_of_their_own))
