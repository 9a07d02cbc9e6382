/* ESP routers with many children: full stores, shards, and the trees of crowds. */
#include "esp_sim_world_test.h"

/* 220 children hardly fit the 256 slots of a group with their two choices of bucket. */
static void a_store_that_is_full_voids_and_says_so(void)
{
    static struct world w;
    make_tree(&w, 1, 1, 220, 1);
    open_world(&w);
    struct leat_esp_request request = a_request(&w, LEAT_ESP_SERVICE_SUM, true, 2);
    request.value_bits = 32;
    const struct leat_esp_service_result *r = serve(&w, &request);
    if (w.sim.counts.full) {
        EQ(r->end, LEAT_ESP_VOID);
        OK(r->errors > 0);
    } else {
        EQ(r->answer, truth_of(&w, LEAT_ESP_SERVICE_SUM));
    }
    w.sim.now += w.config.tau_ps;
    request.value_bits = 64; /* two parts are 440 bindings: they cannot fit */
    EQ(serve(&w, &request)->end, LEAT_ESP_VOID);
    OK(w.sim.counts.full > 0);
    free(w.memory);
}

/* Children of one router: members, or routers with some members each. The service does not know how
 * many there are, and finds out how many computations their bindings need. */
static void any_number_of_children_has_room_where_the_store_has(void)
{
    static struct world w;
    static const struct {
        uint32_t routers, members;
        bool robust_sum;
    } row[] = { { 0, 177, true },
                { 0, 300, true },
                { 0, 1200, false },
                { 300, 300, true },
                { 300, 900, false } };
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        const enum leat_esp_announced kind = row[i].robust_sum ? LEAT_ESP_SERVICE_SUM
                                                               : LEAT_ESP_SERVICE_CENSUS;
        make_tree(&w, row[i].routers ? 2 : 1, row[i].routers, row[i].members, tap_seed() + i);
        w.config.groups = 256;
        open_world(&w);
        struct leat_esp_request request = a_request(&w, kind, true, 4);
        request.attempts = 8;
        const struct leat_esp_service_result *r = serve(&w, &request);
        EQ(r->end, LEAT_ESP_ANSWERED);
        EQ(r->answer, truth_of(&w, kind));
        EQ(r->counted, row[i].members);
        OK(row[i].members <= 177 || (r->shards > 1 && r->attempts > 1));
        OK(r->shards <= row[i].members / LEAT_ESP_SHARD_MEMBERS + 1);
        free(w.memory);
    }
}

/* ---- many children and the tree -------------------------------------------------------------- */

/* Members at one router, or at many routers below one. */
static const struct {
    uint32_t routers, members;
} crowds[] = { { 0, 177 }, { 0, 300 }, { 0, 1000 }, { 0, 2000 }, { 300, 300 }, { 300, 1500 } };
enum { CROWDS = sizeof crowds / sizeof *crowds };

static void open_crowd(struct world *w, unsigned i, bool is_faulty)
{
    make_tree(w, crowds[i].routers ? 2 : 1, crowds[i].routers, crowds[i].members, tap_seed() + i);
    w->config.groups = 512;
    w->config.has_duplicates = true;
    if (is_faulty) make_faulty(w);
    open_world(w);
}

static const struct leat_esp_service_result *map_crowd(struct world *w,
                                                       enum leat_esp_announced kind, bool collects)
{
    struct leat_esp_request request = a_request(w, kind, false, w->config.loss ? 8 : 2);
    request.attempts = 16;
    request.lifetime_ms = 60000;
    request.collects = collects;
    return serve(w, &request);
}

/* The service does not know how many children there are, and finds out how many computations their
 * bindings need. */
static void a_map_has_room_for_any_number_of_children(void)
{
    static struct world w;
    for (unsigned i = 0; i < 2 * CROWDS; i++) {
        open_crowd(&w, i / 2, i % 2);
        const struct leat_esp_service_result *r = map_crowd(&w, LEAT_ESP_SERVICE_TREE, false);
        EQ(r->end, LEAT_ESP_ANSWERED);
        EQ(r->counted, w.config.members);
        OK(w.config.members <= 177 || (r->shards > 1 && r->attempts > 1));
        check_map(&w);
        free(w.memory);
    }
}

/* Of the copies for a group a router has eight at most: the root serves the others. */
static void a_cast_reaches_any_number_of_children(void)
{
    static struct world w;
    for (unsigned i = 0; i < 2 * CROWDS; i++) {
        open_crowd(&w, i / 2, i % 2);
        EQ(map_crowd(&w, LEAT_ESP_SERVICE_MULTICAST, false)->end, LEAT_ESP_ANSWERED);
        check_map(&w);
        w.sim.now += w.config.tau_ps; /* stores are empty again */
        struct leat_esp_request census = a_request(&w, LEAT_ESP_SERVICE_CENSUS, i % 2, 8);
        census.attempts = 8;
        census.shards = i % 2 ? 0 : 1;
        const struct leat_esp_service_result *r = serve(&w, &census);
        EQ(r->end, LEAT_ESP_ANSWERED);
        EQ(r->answer, w.config.members);
        free(w.memory);
    }
}

struct fold {
    uint64_t total, parts;
};

static bool see_total(void *context, uint32_t host, uint32_t from, const struct leat_esp_words *w)
{
    struct fold *fold = context;
    (void)from;
    if (host == 0 && w->opcode == LEAT_ESP_COLLECT && !(w->control & LEAT_ESP_FLAG_E)) {
        fold->total += w->operand[1];
        fold->parts++;
    }
    return false;
}

/* As a team: each host sends a COLLECT to the node above it, again and again. */
static void fold_once(struct world *w, uint64_t computation)
{
    const struct leat_esp_map *map = &w->sim.service.map;
    struct fold fold = { 0 };
    leat_sim_esp_observe(&w->sim, see_total, &fold);
    for (uint32_t m = 0; m < w->config.members; m++) {
        const uint32_t parent = leat_esp_map_parent(map, w->sim.member[m].config.id);
        struct leat_esp_packet packet = { .flags = LEAT_ESP_FLAG_X, .opcode = LEAT_ESP_COLLECT };
        packet.op = LEAT_ESP_FOLD_ADD;
        packet.computationId = computation;
        packet.compValTag = 5;
        packet.val = w->value[m];
        packet.chldCntTag = leat_esp_children_tag(1, map->node[parent].id);
        struct leat_esp_words words;
        leat_esp_words_of(&packet, &words);
        OK(leat_sim_esp_send(&w->sim, 1 + m, 0, &words));
    }
    leat_sim_esp_run(&w->sim, LEAT_NEVER);
    EQ(fold.parts, 1);
    EQ(fold.total, truth_of(w, LEAT_ESP_SERVICE_SUM));
    leat_sim_esp_observe(&w->sim, NULL, NULL);
}

/* Faults while the counts are installed; folds are repeated by the hosts where packets are lost. */
static void a_team_folds_any_number_of_children(void)
{
    static struct world w;
    for (unsigned i = 0; i < 2 * CROWDS; i++) {
        open_crowd(&w, i / 2, i % 2);
        EQ(map_crowd(&w, LEAT_ESP_SERVICE_MULTICAST, true)->end, LEAT_ESP_ANSWERED);
        w.sim.config.loss = w.sim.config.duplicate = w.sim.config.reorder = 0;
        for (uint64_t round = 0; round < 3; round++)
            fold_once(&w, 77);
        free(w.memory);
    }
}

/* The same members in any number of shards: the same answer. More than members: some are empty. */
static void shards_change_no_answer(void)
{
    static struct world w;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (unsigned i = 0; i < CAMPAIGN && !tap_checks_failed; i++)
        for (uint32_t shards = 0; shards <= 8; shards += 4) {
            draw_graph(&w, &random);
            w.config.groups = 64;
            open_world(&w);
            const enum leat_esp_announced kind = kinds[i % 2 ? 3 : 0];
            struct leat_esp_request request = a_request(&w, kind, true, 2);
            request.shards = shards;
            const struct leat_esp_service_result *r = serve(&w, &request);
            EQ(r->end, LEAT_ESP_ANSWERED);
            EQ(r->answer, truth_of(&w, kind));
            EQ(r->branches_missing, 0);
            free(w.memory);
        }
}

TAP_MAIN(T(a_store_that_is_full_voids_and_says_so),
         T(any_number_of_children_has_room_where_the_store_has),
         T(a_map_has_room_for_any_number_of_children), T(a_cast_reaches_any_number_of_children),
         T(a_team_folds_any_number_of_children), T(shards_change_no_answer))
