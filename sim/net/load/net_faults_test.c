#include "net_faults.h"
#include "net_world_test.h"
#include <math.h>

static char why_text[512];
static struct leat_text why;

static void listen(void)
{
    memset(why_text, 0, sizeof why_text);
    leat_text_init(&why, why_text, sizeof why_text - 1, NULL, NULL);
}

static leat_err parse(const char *text, struct leat_net_fault *fault)
{
    listen();
    return leat_net_fault_parse(text, strlen(text), fault, &why);
}

static struct leat_net_fault read_fault(const char *text)
{
    struct leat_net_fault fault = { 0 };
    EQ(parse(text, &fault), LEAT_ERR_OK);
    if (why.len) printf("# %s\n", why_text);
    return fault;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void faults_are_read_as_written(void)
{
    struct leat_net_fault f = read_fault("link:3-7@1000..5000");
    OK(f.kind == LEAT_NET_FAULT_LINK && f.a == 3 && f.b == 7 && !f.one_way);
    OK(f.from == 1000 && f.to == 5000);
    f = read_fault("link:7>3");
    OK(f.kind == LEAT_NET_FAULT_LINK && f.a == 7 && f.b == 3 && f.one_way);
    OK(f.from == 0 && f.to == LEAT_NEVER);
    f = read_fault("flap:3-7@1000..5000/200,100");
    OK(f.kind == LEAT_NET_FAULT_FLAP && f.up == 200 && f.down == 100 && f.to == 5000);
    f = read_fault("flap:3>7/2,1");
    OK(f.up == 2 && f.down == 1 && f.one_way && f.to == LEAT_NEVER);
    f = read_fault("port:5@1000..");
    OK(f.kind == LEAT_NET_FAULT_PORT && f.a == 5 && f.from == 1000 && f.to == LEAT_NEVER);
    f = read_fault("router:12@..2000");
    OK(f.kind == LEAT_NET_FAULT_ROUTER && f.a == 12 && f.from == 0 && f.to == 2000);
    f = read_fault("ber:1e-6");
    OK(f.kind == LEAT_NET_FAULT_BER && f.a == LEAT_NET_NONE && f.to == LEAT_NEVER);
    f = read_fault("ber:3>7:0.5@10..20");
    OK(f.a == 3 && f.b == 7 && f.one_way && f.from == 10 && f.to == 20);
    EQ(f.bit_errors, UINT64_C(1) << 63);
}

/* Each against the same number as the C library parses it. */
static void bit_error_rates_are_read_in_every_form(void)
{
    const char *const rates[] = { "0",
                                  "0.0",
                                  "1e-6",
                                  "1E-6",
                                  "2.5e-3",
                                  ".25",
                                  "0.001",
                                  "1e-1",
                                  "12.5e-3",
                                  "0.000000001",
                                  "999e-3",
                                  "3e-12",
                                  "0.1234567890123456789012",
                                  "1e-25",
                                  "7e-99" };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        char text[64];
        snprintf(text, sizeof text, "ber:%s", rates[i]);
        const double got = ldexp((double)read_fault(text).bit_errors, -64),
                     want = strtod(rates[i], NULL);
        OK(fabs(got - want) <= 1e-15 * want + ldexp(2, -64));
    }
}

static void wrong_faults_are_refused_with_what_was_expected(void)
{
    const char *const bad[][2] = {
        { "", "'' is no fault, expected link:, flap:, router: (or switch:), port: or ber:" },
        { "link", "'link' is no fault" },
        { "links:3-7", "'links' is no fault" },
        { "link:", "link:: '' is no link, expected two routers, as in 3-7 or 3>7" },
        { "link:3", "'3' is no link" },
        { "link:3-", "'3-' is no link" },
        { "link:a-b", "'a-b' is no link" },
        { "link:3-7-9", "'3-7-9' is no link" },
        { "link:3-99999999999", "is no link" },
        { "link:3-7@", "'' is no time, expected cycles, as in 1000..5000 or 1000.." },
        { "link:3-7@1000", "'1000' is no time" },
        { "link:3-7@1000.5000", "'1000.5000' is no time" },
        { "link:3-7@x..y", "'x..y' is no time" },
        { "link:3-7@1..2..3", "'1..2..3' is no time" },
        { "link:3-7@5000..5000", "'5000..5000' has no cycle, expected an end after the beginning" },
        { "link:3-7/200,100", "'200,100' is out of place, expected it with flap only" },
        { "flap:3-7", "'' is no flap, expected cycles up and down, as in /200,100" },
        { "flap:3-7/200", "'200' is no flap" },
        { "flap:3-7/0,100", "'0,100' is no flap" },
        { "flap:3-7/200,0", "'200,0' is no flap" },
        { "flap:3-7/1,2,3", "'1,2,3' is no flap" },
        { "port:x", "'x' is no terminal, expected its number" },
        { "router:1-2", "'1-2' is no router, expected its number" },
        { "ber:", "'' is no bit error rate, expected 0 or more and less than 1, as in 1e-6" },
        { "ber:1", "'1' is no bit error rate" },
        { "ber:-1e-6", "'-1e-6' is no bit error rate" },
        { "ber:1e6", "'1e6' is no bit error rate" },
        { "ber:1e-", "'1e-' is no bit error rate" },
        { "ber:.", "'.' is no bit error rate" },
        { "ber:1e-100", "'1e-100' is no bit error rate" },
        { "ber:10e-1", "'10e-1' is no bit error rate" },
        { "ber:3-7:", "'' is no bit error rate" },
        { "ber:3:1e-6", "'3' is no link" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct leat_net_fault fault = { .a = 77 };
        EQ(parse(bad[i][0], &fault), LEAT_ERR_SYNTAX);
        OK(strstr(why_text, bad[i][1]) != NULL);
        if (!strstr(why_text, bad[i][1])) printf("# '%s' said: %s\n", bad[i][0], why_text);
        EQ(fault.a, 77);
    }
}

static void any_text_gets_an_answer_and_sound_ones_are_within_limits(void)
{
    static const char *const begin[] = { "link:", "flap:", "router:", "port:", "ber:", "" };
    static const char letters[] = "0123456789..-->>,/@@:e ";
    struct leat_random r;
    int sound = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        char text[32];
        struct leat_net_fault f;
        strcpy(text, begin[leat_random_below(&r, 6)]);
        size_t len = strlen(text);
        for (const size_t end = len + (size_t)leat_random_below(&r, 12); len < end; len++)
            text[len] = letters[leat_random_below(&r, sizeof letters - 1)];
        listen();
        if (leat_net_fault_parse(text, len, &f, &why)) {
            OK(why.len > 0);
            continue;
        }
        sound++;
        OK(f.from < f.to);
        OK(f.kind != LEAT_NET_FAULT_FLAP || (f.up && f.down));
        OK(leat_net_fault_next(&f, f.from) > f.from);
    }
    OK(sound > 0);
}

static void lines_may_have_comments_blanks_and_nothing_at_all(void)
{
    static struct leat_net_faults faults;
    const char *const lines[] = { "", "  \t\n", "# link:1-2", "  link:1-2  # the first\r\n",
                                  "port:3" };
    leat_net_faults_init(&faults);
    EQ(faults.flit_bits, LEAT_NET_FLIT_BITS);
    listen();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        EQ(leat_net_faults_line(&faults, lines[i], strlen(lines[i]), &why), LEAT_ERR_OK);
    EQ(faults.count, 2);
    EQ(faults.fault[1].a, 3);
    EQ(leat_net_faults_line(&faults, " cable:1 ", 9, &why), LEAT_ERR_SYNTAX);
    OK(strstr(why_text, "cable:1: 'cable' is no fault") == why_text);
    EQ(faults.count, 2);
    while (faults.count < LEAT_NET_FAULTS_MAX)
        EQ(leat_net_faults_line(&faults, "port:3", 6, &why), LEAT_ERR_OK);
    listen();
    EQ(leat_net_faults_line(&faults, "port:3", 6, &why), LEAT_ERR_FULL);
    OK(strcmp(why_text, "too many faults, expected at most 1024") == 0);
    EQ(leat_net_faults_line(&faults, "# port:3", 8, &why), LEAT_ERR_OK);
}

/* ---- places ---------------------------------------------------------------------------------- */

static struct world world;
static const struct leat_net_topology *const topology = &world.topology;

static void build(const struct leat_net_shape *shape)
{
    OK(world_build(&world, shape, LEAT_NET_TABLE, 4));
}

static const struct leat_net_shape torus = {
    .kind = LEAT_NET_TORUS, .number = { 4, 3 }, .numbers = 2, .terminals = 2, .wire_cycles = 1
};
static const struct leat_net_shape fly = {
    .kind = LEAT_NET_FLY, .number = { 2, 3 }, .numbers = 2, .wire_cycles = 1
};

static void check_is(const char *text, const char *want)
{
    const struct leat_net_fault fault = read_fault(text);
    listen();
    EQ(leat_net_fault_check(&fault, topology, LEAT_NET_FLIT_BITS, &why),
       *want ? LEAT_ERR_RANGE : LEAT_ERR_OK);
    OK(strcmp(why_text, want) == 0);
    if (strcmp(why_text, want) != 0) printf("# '%s' said: %s\n", text, why_text);
}

/* Router 5 of 4 x 3 is (1, 1). */
static void places_that_are_not_there_are_refused_with_those_which_are(void)
{
    build(&torus);
    check_is("link:5-6", "");
    check_is("flap:5-9/1,1", "");
    check_is("ber:5>1:1e-9", "");
    check_is("link:5-7", "no wire between routers 5 and 7, expected a neighbour of router 5: "
                         "6, 4, 9, 1");
    check_is("link:5>5", "no wire from router 5 to router 5, expected a neighbour of router 5: "
                         "6, 4, 9, 1");
    check_is("link:5-12", "no router 12, expected 0 to 11");
    check_is("ber:12-5:0.1", "no router 12, expected 0 to 11");
    check_is("router:11", "");
    check_is("router:12", "no router 12, expected 0 to 11");
    check_is("port:23", "");
    check_is("port:24", "no terminal 24, expected 0 to 23");
    check_is("ber:1e-10", "");
    check_is("ber:0", "");
    check_is("ber:1e-13", "the bit error rate damages less than one flit in 2^32, expected 0 or a "
                          "higher one");
    world_end(&world);
    build(&fly); /* wires have one direction only */
    check_is("link:0-4", "");
    check_is("link:4-0", "");
    check_is("link:4>0", "no wire from router 4 to router 0, expected a neighbour of router 4: "
                         "8, 9");
    check_is("link:8-9", "no wire between routers 8 and 9, expected a neighbour of router 8, but "
                         "it has none");
    world_end(&world);
}

/* ---- chance ---------------------------------------------------------------------------------- */

static void a_flit_is_damaged_when_one_of_its_bits_is(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    EQ(leat_net_fault_flit_errors(0, 64), 0);
    EQ(leat_net_fault_flit_errors(UINT64_MAX, 64), UINT32_MAX);
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        const uint64_t any = leat_random_next(&r);
        const uint64_t bit = any >> leat_random_below(&r, 50);
        const uint32_t bits = 1 + (uint32_t)leat_random_below(&r, 1000);
        const double chance = -expm1(bits * log1p(-ldexp((double)bit, -64)));
        const double got = leat_net_fault_flit_errors(bit, bits);
        OK(fabs(got - ldexp(chance, 32)) <= 1);
    }
}

/* ---- the player, against what each cycle of each fault should be
 * --------------------------------- */

enum { CYCLES = 400, FAULTS = 12 };

struct plain {
    int kind;
    uint32_t a, b;
    bool one_way;
    uint64_t from, to, up, down;
};

static bool plain_is_active(const struct plain *f, uint64_t cycle)
{
    if (cycle < f->from || cycle >= f->to) return false;
    if (f->kind != LEAT_NET_FAULT_FLAP) return true;
    for (uint64_t at = f->from;;) { /* walk through the flaps */
        if (cycle < at + f->down) return true;
        at += f->down;
        if (cycle < at + f->up) return false;
        at += f->up;
    }
}

static bool plain_has_wire(const struct plain *f, uint32_t from, uint32_t to)
{
    if (f->kind == LEAT_NET_FAULT_ROUTER) return from == f->a || to == f->a;
    if (f->kind == LEAT_NET_FAULT_PORT) return false;
    return (from == f->a && to == f->b) || (!f->one_way && from == f->b && to == f->a);
}

static bool plain_has_terminal(const struct plain *f, uint32_t t)
{
    if (f->kind == LEAT_NET_FAULT_PORT) return t == f->a;
    return f->kind == LEAT_NET_FAULT_ROUTER &&
           (topology->in_router[topology->terminal_in[t]] == f->a ||
            topology->out_router[topology->terminal_out[t]] == f->a);
}

/* A wire of the topology, somewhere. */
static void pick_wire(struct leat_random *r, uint32_t *a, uint32_t *b)
{
    uint32_t out;
    do
        out = (uint32_t)leat_random_below(r, topology->outs);
    while (topology->out_to[out] & LEAT_NET_TERMINAL);
    *a = topology->out_router[out];
    *b = topology->in_router[topology->out_to[out]];
}

static struct plain pick(struct leat_random *r)
{
    struct plain f = { .kind = (int)leat_random_below(r, LEAT_NET_FAULT_KINDS) };
    f.one_way = leat_random_below(r, 2);
    if (leat_random_below(r, 4)) f.from = leat_random_below(r, 200);
    f.up = 1 + leat_random_below(r, 9);
    f.down = 1 + leat_random_below(r, 9);
    f.to = UINT64_MAX;
    if (leat_random_below(r, 3)) f.to = f.from + 1 + leat_random_below(r, 200);
    pick_wire(r, &f.a, &f.b);
    if (f.kind == LEAT_NET_FAULT_PORT) f.a = (uint32_t)leat_random_below(r, topology->terminals);
    return f;
}

static void write_plain(const struct plain *f, char *text, size_t cap)
{
    static const char *const kinds[] = { "link", "flap", "router", "port", "ber" };
    char where[40], to[24] = "", flap[50] = "";
    const bool single = f->kind == LEAT_NET_FAULT_ROUTER || f->kind == LEAT_NET_FAULT_PORT;
    if (single)
        snprintf(where, sizeof where, "%u", f->a);
    else
        snprintf(where, sizeof where, "%u%c%u%s", f->a, f->one_way ? '>' : '-', f->b,
                 f->kind == LEAT_NET_FAULT_BER ? ":0.001" : "");
    if (f->to != UINT64_MAX) snprintf(to, sizeof to, "%llu", (unsigned long long)f->to);
    if (f->kind == LEAT_NET_FAULT_FLAP)
        snprintf(flap, sizeof flap, "/%llu,%llu", (unsigned long long)f->up,
                 (unsigned long long)f->down);
    snprintf(text, cap, "%s:%s@%llu..%s%s", kinds[f->kind], where, (unsigned long long)f->from, to,
             flap);
}

/* A network that does not run. */
static uint32_t wires_broken, updates;

static void nothing_wakes(struct leat_net *net, uint32_t terminal)
{
    OK(!net->terminal_dead[terminal]);
}

static void it_broke(struct leat_net *net, uint32_t out)
{
    OK(net->out_broken[out]);
    wires_broken++;
}

static void it_was_rerouted(struct leat_net *net)
{
    (void)net;
    updates++;
}

static const struct leat_net_engine still = { .wake = nothing_wakes,
                                              .broke = it_broke,
                                              .rerouted = it_was_rerouted };

static void compare_wires(const struct leat_net *net, const struct plain *f, uint8_t *before,
                          bool *changed, uint32_t *breaks)
{
    for (uint32_t out = 0; out < topology->outs; out++) {
        const bool to_router = !(topology->out_to[out] & LEAT_NET_TERMINAL);
        const uint32_t to = to_router ? topology->in_router[topology->out_to[out]] : LEAT_NET_NONE;
        bool broken = false;
        double whole = 1;
        for (int i = 0; i < FAULTS; i++) {
            if (!to_router || !plain_is_active(&f[i], net->now) ||
                !plain_has_wire(&f[i], topology->out_router[out], to))
                continue;
            if (f[i].kind == LEAT_NET_FAULT_BER)
                whole *= pow(0.999, 64);
            else
                broken = true;
        }
        EQ(net->out_broken[out], broken);
        const double errors = net->out_errors ? net->out_errors[out] : 0;
        OK(fabs(errors - ldexp(1 - whole, 32)) < 16);
        *changed |= before[out] != broken;
        *breaks += broken && !before[out];
        before[out] = broken;
    }
}

/* Beside a player that has no network. */
static void play(const struct plain *f, struct leat_net_fault_player *player,
                 struct leat_net_fault_player *alone)
{
    struct leat_net net = { .topology = topology, .routing = world.routing, .engine = &still };
    uint8_t *before = calloc(1, topology->outs);
    net.out_broken = calloc(1, topology->outs);
    net.terminal_dead = calloc(1, topology->terminals);
    for (net.now = 0; net.now < CYCLES; net.now++) {
        bool changed = false;
        uint32_t breaks = 0;
        wires_broken = updates = 0;
        if (player->next_at <= net.now) leat_net_fault_player_apply(player, &net);
        if (alone->next_at <= net.now) leat_net_fault_player_apply_at(alone, NULL, net.now);
        EQ(memcmp(alone->wire_faults, player->wire_faults,
                  topology->outs * sizeof *alone->wire_faults),
           0);
        EQ(memcmp(alone->terminal_faults, player->terminal_faults,
                  topology->terminals * sizeof *alone->terminal_faults),
           0);
        compare_wires(&net, f, before, &changed, &breaks);
        EQ(updates, changed); /* once for all, and only if needed */
        EQ(wires_broken, breaks);
        for (uint32_t t = 0; t < topology->terminals; t++) {
            bool dead = false;
            for (int i = 0; i < FAULTS; i++)
                dead |= plain_is_active(&f[i], net.now) && plain_has_terminal(&f[i], t);
            EQ(net.terminal_dead[t], dead);
        }
    }
    free(net.terminal_dead);
    free(net.out_broken);
    free(before);
}

static void every_cycle_has_the_faults_that_act_in_it(void)
{
    static struct leat_net_faults faults;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 60; round++) {
        struct plain f[FAULTS];
        struct leat_net_fault_player player, alone;
        build(round % 2 ? &torus : &fly);
        leat_net_faults_init(&faults);
        for (int i = 0; i < FAULTS; i++) {
            char text[200];
            f[i] = pick(&r);
            write_plain(&f[i], text, sizeof text);
            listen();
            EQ(leat_net_faults_line(&faults, text, strlen(text), &why), LEAT_ERR_OK);
            EQ(leat_net_fault_check(&faults.fault[i], topology, 64, &why), LEAT_ERR_OK);
            for (uint64_t cycle = 0; cycle < CYCLES; cycle++)
                EQ(leat_net_fault_is_active(&faults.fault[i], cycle),
                   plain_is_active(&f[i], cycle));
        }
        const size_t len = leat_net_fault_player_footprint(&faults, topology);
        void *memory = calloc(1, len), *more = calloc(1, len);
        leat_net_fault_player_init(&player, &faults, topology, 1, memory);
        leat_net_fault_player_init(&alone, &faults, topology, 1, more);
        play(f, &player, &alone);
        free(memory);
        free(more);
        world_end(&world);
    }
}

/* Including those to terminals; an unused port has none. */
static void bit_errors_without_a_place_are_on_all_wires(void)
{
    const struct leat_net_shape mesh = {
        .kind = LEAT_NET_MESH, .number = { 3, 3 }, .numbers = 2, .terminals = 1, .wire_cycles = 1
    };
    static struct leat_net_faults faults;
    struct leat_net_fault_player player;
    build(&mesh);
    struct leat_net net = { .topology = topology, .routing = world.routing, .engine = &still };
    leat_net_faults_init(&faults);
    faults.flit_bits = 1;
    EQ(leat_net_faults_line(&faults, "ber:0.25@5..6", 13, &why), LEAT_ERR_OK);
    void *memory = calloc(1, leat_net_fault_player_footprint(&faults, topology));
    leat_net_fault_player_init(&player, &faults, topology, 99, memory);
    for (net.now = 4; net.now < 7; net.now++) {
        leat_net_fault_player_apply(&player, &net);
        EQ(player.next_at, net.now < 6 ? net.now + 1 : LEAT_NEVER);
        for (uint32_t out = 0; net.out_errors && out < topology->outs; out++)
            EQ(net.out_errors[out],
               net.now == 5 && topology->out_to[out] != LEAT_NET_NONE ? 1 << 30 : 0);
    }
    OK(net.out_errors == player.errors && net.seed == 99);
    free(memory);
    world_end(&world);
}

/* ---- chances per bit */

static double as_share(uint64_t chance)
{
    return (double)chance / 18446744073709551616.0;
}

static void several_bit_errors_add_up_on_each_wire(void)
{
    static struct leat_net_faults faults;
    struct leat_net_fault_player player;
    build(&torus);
    leat_net_faults_init(&faults);
    const char *const lines[] = { "ber:0.01", "ber:0-1:0.02", "ber:0>1:0.5@10..20" };
    for (size_t i = 0; i < 3; i++)
        EQ(leat_net_faults_line(&faults, lines[i], strlen(lines[i]), &why), LEAT_ERR_OK);
    void *memory = calloc(1, leat_net_fault_player_footprint(&faults, topology));
    leat_net_fault_player_init(&player, &faults, topology, 1, memory);
    for (uint64_t cycle = 0; cycle < 30; cycle += 15) {
        uint32_t some = 0;
        leat_net_fault_player_apply_at(&player, NULL, cycle);
        for (uint32_t out = 0; out < topology->outs; out++) {
            const uint32_t from = topology->out_router[out], to = leat_net_behind(topology, out);
            if (topology->out_to[out] == LEAT_NET_NONE) continue;
            double sound = 0.99;
            if ((from == 0 && to == 1) || (from == 1 && to == 0)) sound *= 0.98;
            if (from == 0 && to == 1 && cycle == 15) sound *= 0.5;
            OK(fabs(as_share(leat_net_fault_player_bit_errors(&player, out)) - (1 - sound)) < 1e-9);
            some += sound < 0.99;
        }
        OK(some >= 2);
    }
    free(memory);
    world_end(&world);
}

static void an_error_by_either_cause_is_less_likely_than_both_chances_together(void)
{
    const uint64_t half = UINT64_C(1) << 63;
    OK(fabs(as_share(leat_net_fault_either(half, half)) - 0.75) < 1e-9);
    EQ(leat_net_fault_either(half, 0), half);
    OK(fabs(as_share(leat_net_fault_either(0, half)) - 0.5) < 1e-9);
}

static void without_faults_there_is_nothing_to_wait_for(void)
{
    static struct leat_net_faults faults;
    struct leat_net_fault_player player;
    build(&torus);
    leat_net_faults_init(&faults);
    void *memory = calloc(1, leat_net_fault_player_footprint(&faults, topology));
    leat_net_fault_player_init(&player, &faults, topology, 1, memory);
    OK(player.next_at == LEAT_NEVER && player.errors == NULL);
    free(memory);
    world_end(&world);
}

TAP_MAIN(T(faults_are_read_as_written), T(bit_error_rates_are_read_in_every_form),
         T(wrong_faults_are_refused_with_what_was_expected),
         T(any_text_gets_an_answer_and_sound_ones_are_within_limits),
         T(lines_may_have_comments_blanks_and_nothing_at_all),
         T(places_that_are_not_there_are_refused_with_those_which_are),
         T(a_flit_is_damaged_when_one_of_its_bits_is), T(every_cycle_has_the_faults_that_act_in_it),
         T(bit_errors_without_a_place_are_on_all_wires), T(several_bit_errors_add_up_on_each_wire),
         T(an_error_by_either_cause_is_less_likely_than_both_chances_together),
         T(without_faults_there_is_nothing_to_wait_for))
