/* The tree map and multicast: compared with the parents that the networks were built from. */
#include "esp_world_test.h"
#include <string.h>

/* ---- the tree map ---------------------------------------------------------------------------- */

/* The nodes on the route of some member, by the parents of the world. */
static unsigned on_ways(const struct world *w, unsigned children[ROUTERS_MAX])
{
    unsigned nodes = 0;
    memset(children, 0, ROUTERS_MAX * sizeof *children);
    for (unsigned m = 0; m < w->members; m++)
        for (unsigned at = w->member_at[m]; at != ROOT; at = w->parent[at]) {
            nodes += children[at] == 0;
            if (children[at]++) break;
        }
    return nodes;
}

static void check_map(struct world *w, uint32_t shards)
{
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_TREE, false);
    const struct leat_esp_map *map = &w->service.map;
    unsigned children[ROUTERS_MAX], branches = 0;
    request.shards = shards;
    join_all(w);
    const struct leat_esp_service_result *r = serve(w, &request);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->unplaced, 0);
    EQ(r->shards, shards ? shards : 1);
    EQ(map->nodes, 1 + on_ways(w, children));
    for (uint32_t i = 1; i < map->nodes; i++) {
        const unsigned router = (unsigned)(map->node[i].id - 100);
        const uint32_t parent = leat_esp_map_parent(map, map->node[i].id);
        EQ(map->node[i].children, children[router]);
        EQ(map->node[i].address.address[15], ROUTERS_FROM + router);
        OK(parent != LEAT_ESP_MAP_NONE);
        EQ(map->node[parent].id, w->parent[router] == ROOT ? 1 : 100 + w->parent[router]);
    }
    for (unsigned m = 0; m < w->members; m++) {
        const uint32_t parent = leat_esp_map_parent(map, 1000 + m);
        OK(leat_esp_map_is_placed(map, map->computation, 1000 + m));
        EQ(map->node[parent].id, w->member_at[m] == ROOT ? 1 : 100 + w->member_at[m]);
    }
    for (uint32_t i = 0; i < map->nodes; i++)
        branches += map->node[i].children >= 2;
    EQ(leat_esp_map_branches(map), branches);
    EQ(r->answer, branches);
}

static void the_map_is_the_tree(void)
{
    static struct world w;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++) {
        draw_world(&w, &r);
        check_map(&w, 0);
    }
}

/* Each member in one of two shards, each router in both: the same tree, and counts. */
static void shards_of_any_tree_make_the_map_of_one(void)
{
    static struct world w;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++) {
        draw_world(&w, &r);
        check_map(&w, w.members > LEAT_ESP_SHARD_MEMBERS ? 2 : 1);
    }
}

/* As with another key: routers fold packets, but answer no query. */
static void a_map_that_no_router_answers_ends_soon(void)
{
    static struct world w;
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_TREE, false);
    request.silence_ps = 50 * ms;
    for (int is_mute = 0; is_mute < 2; is_mute++) {
        open_world(&w, 2, 1, 5);
        w.member_at[0] = w.member_at[1] = 0;
        w.is_mute = is_mute;
        join_all(&w);
        EQ(serve(&w, &request)->end, is_mute ? LEAT_ESP_LATE : LEAT_ESP_ANSWERED);
        OK(w.now < 100 * ms);
        EQ(w.service.result.unplaced, is_mute ? 2 : 0);
    }
    w.now += 2000 * ms; /* after the bindings */
    const leat_time began = w.now;
    request.silence_ps = 0;
    EQ(serve(&w, &request)->end, LEAT_ESP_LATE);
    OK(w.now - began > 900 * ms);
}

/* 80 children and two counters: more than two replies hold. */
static void a_long_list_comes_in_pieces(void)
{
    static struct world w;
    open_world(&w, MEMBERS_MAX, 1, 9);
    OK(MEMBERS_MAX > 2 * (int)LEAT_ESP_BINDINGS_MAX);
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = 0;
    check_map(&w, 0);
}

/* ---- multicast ------------------------------------------------------------------------------- */

static const struct leat_esp_service_result *install_all(struct world *w)
{
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_MULTICAST, false);
    request.lifetime_ms = 600000;
    request.attempts = 3;
    return serve(w, &request);
}

/* A census announced through the duplicates: every member receives it, with fewer packets. */
static void check_cast(struct world *w)
{
    const struct leat_esp_request census = a_request(LEAT_ESP_SERVICE_CENSUS, false);
    unsigned children[ROUTERS_MAX], branches = 0;
    on_ways(w, children);
    for (unsigned i = 0; i < w->routers; i++)
        branches += children[i] >= 2;
    join_all(w);
    const struct leat_esp_service_result *r = install_all(w);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->uninstalled, 0);
    EQ(r->answer, branches);
    for (unsigned i = 0; i < w->routers; i++)
        EQ(w->installed[i].count != 0, children[i] >= 2);
    w->now += 2000 * ms;
    const uint64_t before = w->announced;
    r = serve(w, &census);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->answer, w->members);
    OK(w->announced - before <= 2 * w->members);
}

static void duplicates_reach_everybody_on_any_tree(void)
{
    static struct world w;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++) {
        draw_world(&w, &r);
        check_cast(&w);
    }
}

/* Eight copies are the maximum: the root itself serves 12 of 20 members. */
static void what_does_not_fit_a_duplicate_is_the_roots(void)
{
    static struct world w;
    open_world(&w, 20, 1, 9);
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = 0;
    check_cast(&w);
    EQ(w.installed[0].count, LEAT_ESP_COPIES_MAX);
    const uint64_t before = w.announced;
    const struct leat_esp_request census = a_request(LEAT_ESP_SERVICE_CENSUS, false);
    w.now += 2000 * ms;
    EQ(serve(&w, &census)->answer, 20);
    EQ(w.announced - before, 2 * (1 + 12));
    /* The root serves a new member directly; when one is forgotten, or the lifetime ends, it serves
     * all. */
    const struct leat_esp_join join = { .group = GROUP, .member = 1020, .lifetime_ms = 20000000 };
    const struct leat_esp_member_config config = { .group = GROUP, .id = 1020, .value = 5 };
    const struct leat_esp_next from = address_of(20);
    OK(leat_esp_service_join(&w.service, w.now, &from, &join));
    leat_esp_member_init(&w.member[20], &config, w.now);
    w.member_at[w.members++] = ROOT;
    w.now += 2000 * ms;
    w.announced = 0;
    EQ(serve(&w, &census)->answer, 21);
    EQ(w.announced, 2 * (1 + 12 + 1));
    w.now = w.service.cast_until;
    w.announced = 0;
    EQ(serve(&w, &census)->answer, 21);
    EQ(w.announced, 2 * 21);
    w.service.cast_until = LEAT_NEVER;
    const struct leat_esp_join leave = { .group = GROUP, .member = 1003 };
    const struct leat_esp_next gone = address_of(3);
    OK(leat_esp_service_join(&w.service, w.now, &gone, &leave));
    w.now += 2000 * ms;
    w.announced = 0;
    EQ(serve(&w, &census)->answer, 20);
    EQ(w.announced, 2 * 20);
}

static void an_answer_that_is_lost_is_requested_and_a_refusal_ends_it(void)
{
    static struct world w;
    open_world(&w, 8, 2, 9);
    w.parent[1] = 0;
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = m % 2;
    w.deaf = 1;
    join_all(&w);
    const struct leat_esp_service_result *r = install_all(&w);
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->answer, 2);
    EQ(w.service.waves, 2);
    w.now += 2000 * ms;
    w.refuses = 0;
    r = install_all(&w);
    EQ(r->end, LEAT_ESP_LATE);
    EQ(r->uninstalled, 1);
    EQ(r->answer, 1);
    EQ(w.service.cast_until, 0); /* all are served one by one */
}

/* ---- counts for COLLECTs --------------------------------------------------------------------- */

static uint64_t id_above(const struct world *w, unsigned router)
{
    return w->parent[router] == ROOT ? w->service.own.node.id : w->store[w->parent[router]].node.id;
}

/* Every router on a route has its number of children, for so long, and no copies; no other has. */
static void check_children(const struct world *w, uint32_t lifetime_ms, uint64_t above)
{
    unsigned children[ROUTERS_MAX];
    const struct leat_esp_service_result *r = &w->service.result;
    EQ(r->end, LEAT_ESP_ANSWERED);
    EQ(r->answer, on_ways(w, children));
    EQ(r->uninstalled, 0);
    for (unsigned i = 0; i < w->routers; i++) {
        const struct leat_esp_install *in = &w->installed[i];
        EQ(in->children, children[i]);
        if (children[i]) EQ(in->parent, leat_esp_children_tag(GROUP, id_above(w, i)));
        EQ(in->count, 0);
        EQ(in->lifetime_ms, children[i] ? lifetime_ms : 0);
        EQ(in->group, children[i] ? GROUP : 0);
        OK(children[i] ? in->serial > above : in->serial == 0);
    }
}

static void install_children(struct world *w)
{
    struct leat_esp_request request = a_request(LEAT_ESP_SERVICE_MULTICAST, false);
    request.collects = true;
    request.lifetime_ms = 600000;
    request.attempts = 3;
    join_all(w);
    serve(w, &request);
}

static const struct leat_esp_service_result *renew(struct world *w, uint32_t lifetime_ms)
{
    leat_esp_service_renew(&w->service, w->now, lifetime_ms);
    pump(w);
    return run(w);
}

/* Again and again, each time for longer; at last they are removed. */
static void check_collects(struct world *w)
{
    static const uint32_t lifetime_ms[] = { 700000, 800000, 0 };
    install_children(w);
    check_children(w, 600000, 0);
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t above = w->service.serial;
        w->now += 2000 * ms;
        renew(w, lifetime_ms[i]);
        check_children(w, lifetime_ms[i], above);
    }
}

static void every_node_of_any_tree_learns_its_children(void)
{
    static struct world w;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++) {
        draw_world(&w, &r);
        check_collects(&w);
    }
}

/* There are no copies to announce through: all are told one by one. */
static void children_alone_carry_no_casts(void)
{
    static struct world w;
    const struct leat_esp_request census = a_request(LEAT_ESP_SERVICE_CENSUS, false);
    open_world(&w, 20, 1, 9);
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = 0;
    install_children(&w);
    EQ(w.installed[0].children, 20);
    w.now += 2000 * ms;
    w.announced = 0;
    EQ(serve(&w, &census)->answer, 20);
    EQ(w.announced, 2 * 20);
}

/* root --> 0 --> 1, members at both; the answer of 1 is lost once, then 0 refuses. */
static void a_renewal_is_sent_again_to_those_alone_who_have_not_answered(void)
{
    static struct world w;
    open_world(&w, 8, 2, 9);
    w.parent[1] = 0;
    for (unsigned m = 0; m < w.members; m++)
        w.member_at[m] = m % 2;
    install_children(&w);
    for (unsigned removes = 0; removes < 2; removes++) {
        w.now += 2000 * ms;
        w.deaf = 1;
        w.announced = 0;
        const uint64_t above = w.service.serial;
        renew(&w, removes ? 0 : 5000);
        check_children(&w, removes ? 0 : 5000, above);
        EQ(w.announced, 3);
        EQ(w.service.waves, 2);
        EQ(w.installed[1].serial, w.installed[0].serial + 1);
    }
    w.refuses = 0;
    w.now += 2000 * ms;
    EQ(renew(&w, 5000)->end, LEAT_ESP_LATE);
    EQ(w.service.result.uninstalled, 1);
}

/*
 *   root --> 10 --> 11 --> member 0, member 1     10 has one more child, member 2; 12 and 13 have
 *              \--> 12 --> 13 --> member 3         one each, so that member 3 is a point of 10
 */
static void next_points_skip_nodes_with_one_child(void)
{
    static _Alignas(max_align_t) uint8_t memory[8192], of_roster[2048];
    struct leat_esp_map map;
    struct leat_esp_roster roster;
    static const struct {
        uint64_t node, child;
    } link[] = { { 1, 10 },   { 10, 11 },  { 10, 12 },  { 12, 13 },
                 { 11, 100 }, { 11, 101 }, { 10, 102 }, { 13, 103 } };
    leat_esp_map_init(&map, 8, 12, 8, memory);
    leat_esp_roster_init(&roster, 5, of_roster);
    leat_esp_map_begin(&map, 50, 1);
    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        OK(leat_esp_map_link(&map, 50, leat_esp_map_node(&map, link[i].node),
                             leat_esp_mix64(link[i].child, 50)));
    for (unsigned i = 0; i < 5; i++) { /* the last is nobody's child */
        const struct leat_esp_next address = address_of(i);
        OK(leat_esp_roster_join(&roster, &address, 100 + i, 0, LEAT_NEVER));
    }
    leat_esp_map_points(&map, &roster, 5);
    const uint32_t top = leat_esp_map_find(&map, 10), low = leat_esp_map_find(&map, 11);
    const struct {
        uint32_t node, count, point[3];
    } expected[] = { { 0, 2, { top, map.nodes + 4 } },
                     { top, 3, { low, map.nodes + 2, map.nodes + 3 } },
                     { low, 2, { map.nodes, map.nodes + 1 } },
                     { leat_esp_map_find(&map, 12), 0, { 0 } },
                     { leat_esp_map_find(&map, 13), 0, { 0 } } };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const uint32_t first = map.point_first[expected[i].node];
        EQ(map.point_first[expected[i].node + 1] - first, expected[i].count);
        for (uint32_t k = 0; k < expected[i].count; k++)
            EQ(map.point[first + k], expected[i].point[k]);
    }
}

static void a_map_without_a_node_in_between_is_not_whole(void)
{
    static _Alignas(max_align_t) uint8_t memory[8192];
    struct leat_esp_map map;
    OK(leat_esp_map_footprint(4, 1, 2) <= sizeof memory);
    leat_esp_map_init(&map, 4, 1, 2, memory);
    leat_esp_map_begin(&map, 50, 1);
    const uint32_t a = leat_esp_map_node(&map, 10), b = leat_esp_map_node(&map, 11);
    EQ(leat_esp_map_node(&map, 10), a);
    OK(leat_esp_map_link(&map, 50, b, leat_esp_mix64(99, 50))); /* member 99 at b */
    OK(!leat_esp_map_is_placed(&map, 50, 99));
    OK(leat_esp_map_link(&map, 50, a, leat_esp_mix64(11, 50))); /* b at a */
    OK(!leat_esp_map_is_placed(&map, 50, 99));
    OK(leat_esp_map_link(&map, 50, 0, leat_esp_mix64(10, 50))); /* a at the root */
    OK(leat_esp_map_is_placed(&map, 50, 99));
    OK(leat_esp_map_link(&map, 50, a,
                         leat_esp_mix64(99, 50))); /* reported again: the first counts */
    EQ(leat_esp_map_parent(&map, 99), b);
    const uint32_t list = leat_esp_map_list(&map, 50, a);
    EQ(leat_esp_map_list(&map, 50, a), list);
    map.list[list].cursor = 3; /* a has more to report */
    OK(!leat_esp_map_is_placed(&map, 50, 99));
    OK(leat_esp_map_list(&map, 51, a) != list);
    OK(!map.is_full);
    EQ(leat_esp_map_list(&map, 52, a), LEAT_ESP_MAP_NONE);
    OK(map.is_full);
    map.is_full = false;
    uint64_t child = 1000;
    while (leat_esp_map_link(&map, 50, a, child) && child < 2000)
        child++;
    OK(map.is_full && child < 1020);
    OK(leat_esp_map_link(&map, 50, a, child - 1)); /* known already */
    EQ(leat_esp_map_find(&map, 11), b);
    EQ(leat_esp_map_find(&map, 12), LEAT_ESP_MAP_NONE);
    leat_esp_map_begin(&map, 51, 1);
    OK(!map.is_full);
    EQ(leat_esp_map_parent(&map, 99), LEAT_ESP_MAP_NONE);
    leat_esp_map_node(&map, 10);
    leat_esp_map_link(&map, 51, 1, leat_esp_mix64(10, 51)); /* its own child: a cycle */
    OK(!leat_esp_map_is_placed(&map, 51, 10));
    for (uint64_t id = 11; id < 13; id++)
        OK(leat_esp_map_node(&map, id) != LEAT_ESP_MAP_NONE);
    EQ(leat_esp_map_node(&map, 13), LEAT_ESP_MAP_NONE);
}

/* Member 99 is below node 10 in computation 51 alone. */
static void a_child_in_another_computation_is_adopted_once(void)
{
    static _Alignas(max_align_t) uint8_t memory[1 << 14];
    struct leat_esp_map map;
    OK(leat_esp_map_footprint(4, 2, 8) <= sizeof memory);
    leat_esp_map_init(&map, 4, 2, 8, memory);
    leat_esp_map_begin(&map, 50, 1);
    const uint32_t a = leat_esp_map_node(&map, 10);
    OK(leat_esp_map_link(&map, 51, a, leat_esp_mix64(99, 51)));
    EQ(map.node[a].children, 0);
    EQ(leat_esp_map_parent(&map, 99), LEAT_ESP_MAP_NONE);
    for (int again = 0; again < 2; again++) {
        leat_esp_map_adopt(&map, 51, 99);
        EQ(map.node[a].children, 1);
        EQ(leat_esp_map_parent(&map, 99), a);
    }
    leat_esp_map_adopt(&map, 51, 98); /* nobody's child */
    EQ(leat_esp_map_parent(&map, 98), LEAT_ESP_MAP_NONE);
}

TAP_MAIN(T(the_map_is_the_tree), T(shards_of_any_tree_make_the_map_of_one),
         T(a_map_that_no_router_answers_ends_soon), T(a_long_list_comes_in_pieces),
         T(duplicates_reach_everybody_on_any_tree), T(what_does_not_fit_a_duplicate_is_the_roots),
         T(an_answer_that_is_lost_is_requested_and_a_refusal_ends_it),
         T(every_node_of_any_tree_learns_its_children), T(children_alone_carry_no_casts),
         T(a_renewal_is_sent_again_to_those_alone_who_have_not_answered),
         T(next_points_skip_nodes_with_one_child), T(a_map_without_a_node_in_between_is_not_whole),
         T(a_child_in_another_computation_is_adopted_once))
