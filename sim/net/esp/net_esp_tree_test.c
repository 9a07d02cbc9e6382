#include "net_esp_tree.h"
#include "net_plan.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>

struct forest {
    struct leat_net_plan plan;
    struct leat_net_topology topology;
    struct leat_net_esp_tree tree;
    struct leat_net_esp_search search;
    void *memory[2];
};

static void lay(struct forest *f, struct leat_arena *arena)
{
    leat_net_esp_tree_lay(&f->tree, arena, f->topology.routers, f->topology.terminals);
    leat_net_esp_search_lay(&f->search, arena, f->topology.routers);
}

static void plant(struct forest *f, const char *name)
{
    struct leat_text why = LEAT_TEXT(512);
    struct leat_arena arena = { 0 };
    OK(!leat_net_plan_parse(name, &f->plan, &why));
    f->memory[0] = calloc(1, leat_net_topology_footprint(&f->plan.shape));
    OK(!leat_net_topology_build(&f->topology, &f->plan.shape, f->memory[0], &why));
    lay(f, &arena);
    f->memory[1] = calloc(1, arena.used);
    arena = (struct leat_arena){ .memory = f->memory[1], .cap = arena.used };
    lay(f, &arena);
}

static void fell(struct forest *f)
{
    free(f->memory[0]);
    free(f->memory[1]);
}

static bool find(struct forest *f, const uint32_t *port, uint32_t count)
{
    return leat_net_esp_tree_find(&f->tree, &f->topology, port, count, &f->search);
}

/* Is there a wire? */
static bool leads(const struct leat_net_topology *t, uint32_t from, uint32_t to)
{
    for (uint32_t o = t->out_first[from]; o < t->out_first[from + 1]; o++)
        if (leat_net_behind(t, o) == to) return true;
    return false;
}

/* As many values come to the root as members have sent, when each router waits for its children. */
static void check_up(const struct forest *f, const uint32_t *port, uint32_t count)
{
    const struct leat_net_topology *t = &f->topology;
    uint32_t *waits = calloc(t->routers, sizeof *waits), passed = 0;
    for (uint32_t r = 0; r < t->routers; r++)
        waits[r] = f->tree.children[r];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = t->in_router[t->terminal_in[port[i]]];
        while (--waits[r] == 0 && r != f->tree.root) {
            OK(leads(t, r, f->tree.parent[r]));
            r = f->tree.parent[r];
        }
        passed += r == f->tree.root && waits[r] == 0;
    }
    EQ(passed, 1);
    for (uint32_t r = 0; r < t->routers; r++)
        EQ(waits[r], 0);
    free(waits);
}

/* Each member gets one copy. */
static uint32_t check_down(const struct forest *f, uint32_t r, uint8_t *copies, uint32_t depth)
{
    uint32_t count = 0;
    OK(depth <= f->topology.routers);
    for (uint32_t h = f->tree.first_host[r]; h; h = f->tree.next_host[h - 1]) {
        EQ(f->topology.out_router[f->topology.terminal_out[h - 1]], r);
        copies[h - 1]++;
        count++;
    }
    for (uint32_t c = f->tree.first[r]; c; c = f->tree.next[c - 1]) {
        OK(leads(&f->topology, r, c - 1));
        OK(!f->tree.is_two_way || f->tree.parent[c - 1] == r);
        count += check_down(f, c - 1, copies, depth + 1);
    }
    return count;
}

static void all_members_have_a_place_in_both_directions(void)
{
    static const char *const name[] = { "line:7",
                                        "ring:6",
                                        "mesh:4,3",
                                        "torus:4,4",
                                        "hypercube:4",
                                        "hyperx:3,3",
                                        "crossbar:9",
                                        "grid:5",
                                        "benes:16",
                                        "fattree:2,4",
                                        "dragonfly:2,4,1",
                                        "fly:7,1",
                                        "clos:3,2,4/switch=vc",
                                        "torus:3,3/terminals=3" };
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (size_t n = 0; n < sizeof name / sizeof *name; n++) {
        struct forest f;
        plant(&f, name[n]);
        const uint32_t ports = f.topology.terminals;
        for (uint32_t round = 0; round < 30; round++) {
            uint32_t port[64], count = 0;
            uint8_t copies[64] = { 0 };
            OK(ports <= 64);
            for (uint32_t i = 0; i < ports; i++)
                if (!round || leat_random_below(&random, 3) == 0) port[count++] = i;
            if (count < 2) continue;
            OK(find(&f, port, count));
            check_up(&f, port, count);
            EQ(check_down(&f, f.tree.root, copies, 0), count);
            for (uint32_t i = 0; i < count; i++)
                EQ(copies[port[i]], 1);
        }
        fell(&f);
    }
}

static uint32_t root_of(const char *name, const uint32_t *port, uint32_t count)
{
    struct forest f;
    plant(&f, name);
    OK(find(&f, port, count));
    const uint32_t root = f.tree.root;
    fell(&f);
    return root;
}

static void the_root_is_in_the_middle(void)
{
    static const uint32_t all[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    EQ(root_of("line:7", all, 7), 3);
    EQ(root_of("line:7", all, 2), 0);
    EQ(root_of("mesh:3,3", all, 9), 4);
    EQ(root_of("torus:4,4", all, 16), 0);
    EQ(root_of("fattree:4,2", all, 16), 4);
    EQ(root_of("fattree:4,2", all, 4), 0); /* all at one leaf */
    EQ(root_of("clos:4,4,4/switch=vc", all, 16), 4);
    EQ(root_of("grid:4", all, 4), 12); /* the only one */
}

static void what_the_busiest_router_has_to_do_is_known(void)
{
    static const uint32_t all[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    struct forest f;
    plant(&f, "mesh:3,3");
    OK(find(&f, all, 9));
    EQ(f.tree.children_max, 5);
    EQ(f.tree.copies_max, 5);
    OK(f.tree.is_two_way);
    fell(&f);
    plant(&f, "clos:3,3,3/switch=vc");
    OK(find(&f, all, 9));
    EQ(f.tree.children_max, 3);
    EQ(f.tree.copies_max, 3);
    OK(!f.tree.is_two_way);
    fell(&f);
}

static void a_fly_has_no_tree(void)
{
    static const uint32_t all[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    struct forest f;
    plant(&f, "fly:2,3");
    OK(!find(&f, all, 8));
    fell(&f);
}

TAP_MAIN(T(all_members_have_a_place_in_both_directions), T(the_root_is_in_the_middle),
         T(what_the_busiest_router_has_to_do_is_known), T(a_fly_has_no_tree))
