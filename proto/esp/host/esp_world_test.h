/*
 * A small network for the tests of end systems: a root, members and routers connected without
 * delay. Routers run the instruction core, answer queries, install duplicates and copy CASTs.
 */
#ifndef LEAT_ESP_WORLD_TEST_H
#define LEAT_ESP_WORLD_TEST_H

#include "esp_service.h"
#include "tap.h"

enum {
    GROUP = 3,
    MEMBERS_MAX = 80,
    DRAWN_MAX = 48, /* two parts of so many fit a group */
    ROUTERS_MAX = 12,
    CAMPAIGN = LEAT_ROUNDS / 1000 + 20,
    ROOT = ROUTERS_MAX, /* as a parent: the root's host itself */
    ROUTERS_FROM = 200, /* addresses below are members' */
};

static const leat_time ms = 1000000000;

/* ---- the network ----------------------------------------------------------------------------- */

struct world {
    struct leat_esp_service service;
    struct leat_esp_member member[MEMBERS_MAX];
    uint64_t value[MEMBERS_MAX];
    unsigned member_at[MEMBERS_MAX]; /* a router, or ROOT */
    unsigned parent[ROUTERS_MAX];
    struct leat_esp_store store[ROUTERS_MAX];
    unsigned members, routers;
    leat_time now;
    leat_time send_ps; /* that the root's host takes for a packet */
    /* Is this packet of a member lost? NULL: none is. */
    bool (*loses)(struct world *w, unsigned member, const struct leat_esp_words *words);
    unsigned lost;
    uint64_t announced;
    struct leat_esp_reply first_reply[ROUTERS_MAX];
    struct leat_esp_install installed[ROUTERS_MAX];
    unsigned refuses, deaf; /* routers: refuses INSTALL; whose next answer is lost */
    bool is_mute;           /* no router answers a query */
    uint8_t store_memory[ROUTERS_MAX][sizeof(struct leat_esp_group) + 128];
    _Alignas(max_align_t) uint8_t memory[1 << 18];
};

static struct leat_esp_next address_of(unsigned i)
{
    return (struct leat_esp_next){ .address = { [15] = (uint8_t)i }, .port = LEAT_ESP_UDP_PORT };
}

static void join_all(struct world *w)
{
    for (unsigned m = 0; m < w->members; m++) {
        const struct leat_esp_member_config config = { .group = GROUP,
                                                       .id = 1000 + m,
                                                       .value = w->value[m] };
        const struct leat_esp_join join = { .group = GROUP,
                                            .member = 1000 + m,
                                            .lifetime_ms = 1000000 };
        const struct leat_esp_next from = address_of(m);
        leat_esp_member_init(&w->member[m], &config, 0);
        OK(leat_esp_service_join(&w->service, w->now, &from, &join));
    }
}

static void open_world(struct world *w, unsigned members, unsigned routers, uint64_t seed)
{
    const struct leat_esp_service_config config = {
        .group = GROUP,
        .node = { .id = 1, .seed = seed, .tau = 1000 * ms },
        .seed = seed,
        .members_max = MEMBERS_MAX,
        .nodes_max = ROUTERS_MAX + 1
    };
    memset(w, 0, sizeof *w);
    w->members = members;
    w->routers = routers;
    w->refuses = w->deaf = ROOT;
    OK(leat_esp_service_footprint(&config) <= sizeof w->memory);
    leat_esp_service_init(&w->service, &config, w->memory);
    for (unsigned r = 0; r < routers; r++) {
        const struct leat_esp_node node = { .id = 100 + r, .seed = seed + r, .tau = 1000 * ms };
        OK(leat_esp_store_footprint(1) <= sizeof w->store_memory[r]);
        leat_esp_store_init(&w->store[r], &node, 1, w->store_memory[r]);
        w->parent[r] = ROOT;
    }
    for (unsigned m = 0; m < members; m++) {
        w->member_at[m] = ROOT;
        w->value[m] = 10 + 7 * m;
    }
}

/* A packet of a member goes up the tree. */
static void rise(struct world *w, unsigned member, struct leat_esp_words *words)
{
    if (w->loses && w->loses(w, member, words)) {
        w->lost++;
        return;
    }
    for (unsigned at = w->member_at[member]; at != ROOT; at = w->parent[at]) {
        if (words->control & LEAT_ESP_FLAG_E) continue;
        const struct leat_esp_outcome out = leat_esp_store_execute(&w->store[at], w->now, words);
        if (out.verdict == LEAT_ESP_STOP) return;
        if (out.verdict != LEAT_ESP_PASS) words->control |= LEAT_ESP_FLAG_E;
    }
    leat_esp_service_receive(&w->service, w->now, words);
}

/* Every router on a member's route answers. */
static void ask(struct world *w, unsigned member, const struct leat_esp_post *post)
{
    const struct leat_esp_management query = { .opcode = LEAT_ESP_QUERY,
                                               .computationId = post->computation,
                                               .query = post->query };
    for (unsigned at = w->member_at[member]; at != ROOT && !w->is_mute; at = w->parent[at]) {
        struct leat_esp_management reply;
        const struct leat_esp_next from = address_of(ROUTERS_FROM + at);
        if (!leat_esp_store_answer(&w->store[at], w->now, &query, &reply)) continue;
        leat_esp_service_reply(&w->service, &from, reply.computationId, &reply.reply);
        /* A copy of the first answer arrives again and again. */
        if (!post->query.cursor) w->first_reply[at] = reply.reply;
        leat_esp_service_reply(&w->service, &from, reply.computationId, &w->first_reply[at]);
    }
}

/* A router accepts the INSTALL, unless it refuses all; a lifetime of 0 removes. */
static void install(struct world *w, unsigned router, const struct leat_esp_install *in)
{
    const struct leat_esp_installed installed = { .group = in->group,
                                                  .node = in->target,
                                                  .serial = in->serial,
                                                  .result = router == w->refuses
                                                                ? LEAT_ESP_RESULT_FULL
                                                            : in->lifetime_ms
                                                                ? LEAT_ESP_RESULT_INSTALLED
                                                                : LEAT_ESP_RESULT_REMOVED };
    EQ(in->target, 100 + router);
    OK(in->serial > w->installed[router].serial);
    OK((in->count || in->children) && in->count <= LEAT_ESP_COPIES_MAX);
    w->installed[router] = *in;
    if (router != w->deaf)
        leat_esp_service_installed(&w->service, &installed);
    else
        w->deaf = ROOT; /* the next answer arrives */
}

static void cast(struct world *w, unsigned router, const struct leat_esp_post *post, unsigned hops)
{
    const struct leat_esp_install *in = &w->installed[router];
    for (unsigned i = 0; i < in->count && hops; i++) {
        const unsigned next = in->next[i].address[15];
        if (next >= MEMBERS_MAX)
            cast(w, next - ROUTERS_FROM, post, hops - 1);
        else
            leat_esp_member_announced(&w->member[next], w->now, post->computation, &post->announce);
    }
}

static void pump(struct world *w)
{
    struct leat_esp_post post;
    while (leat_esp_service_next(&w->service, w->now, &post)) {
        const unsigned member = post.to.address[15];
        w->now += w->send_ps;
        w->announced++;
        if (post.opcode == LEAT_ESP_ANNOUNCE)
            leat_esp_member_announced(&w->member[member], w->now, post.computation, &post.announce);
        else if (post.opcode == LEAT_ESP_INSTALL)
            install(w, member - ROUTERS_FROM, &post.install);
        else if (post.opcode == LEAT_ESP_CAST)
            cast(w, member - ROUTERS_FROM, &post, post.hops);
        else
            ask(w, member, &post);
    }
    for (unsigned m = 0; m < w->members; m++)
        while (leat_esp_member_next(&w->member[m], w->now, &post))
            rise(w, m, &post.words);
}

/* Runs until the service has ended. */
static const struct leat_esp_service_result *run(struct world *w)
{
    for (;;) {
        leat_time next = leat_esp_service_wake_at(&w->service);
        for (unsigned m = 0; m < w->members; m++)
            if (leat_esp_member_wake_at(&w->member[m]) < next)
                next = leat_esp_member_wake_at(&w->member[m]);
        if (w->service.result.end || next == LEAT_NEVER) return &w->service.result;
        w->now = next;
        pump(w);
    }
}

static struct leat_esp_request a_request(enum leat_esp_announced kind, bool robust)
{
    return (struct leat_esp_request){ .kind = kind,
                                      .robust = robust,
                                      .value_bits = 64,
                                      .rounds = 4,
                                      .attempts = 1,
                                      .copies = 1,
                                      .settle_ps = ms,
                                      .gap_ps = ms };
}

static const struct leat_esp_service_result *serve(struct world *w,
                                                   const struct leat_esp_request *request)
{
    char text[256];
    struct leat_text why;
    leat_text_init(&why, text, sizeof text, NULL, NULL);
    const leat_err err = leat_esp_service_begin(&w->service, w->now, request, &why);
    EQ(err, LEAT_ERR_OK);
    if (err) printf("# %.*s\n", (int)why.len, text);
    return run(w);
}

static void draw_world(struct world *w, struct leat_random *r)
{
    const unsigned members = 1 + (unsigned)leat_random_below(r, DRAWN_MAX),
                   routers = (unsigned)leat_random_below(r, ROUTERS_MAX + 1);
    open_world(w, members, routers, leat_random_next(r));
    for (unsigned i = 0; i < w->routers; i++) {
        const unsigned above = (unsigned)leat_random_below(r, i + 1);
        w->parent[i] = above == i ? ROOT : above;
    }
    for (unsigned m = 0; m < w->members; m++) {
        const unsigned at = (unsigned)leat_random_below(r, w->routers + 1);
        w->member_at[m] = at == w->routers ? ROOT : at;
        w->value[m] = leat_random_next(r);
        w->value[m] >>= leat_random_below(r, 64);
    }
}

#endif
