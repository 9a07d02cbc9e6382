#include "esp_sim.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include "sim_refuse.h"
#include <string.h>

enum {
    GROUP = 1,
    ROOT = 0,
    ROUTERS_FROM = 1,
    OWN_SLOTS = 48, /* of a shard at the root's own store: four bindings, parts, attempts */
};

static const leat_time ps_per_ms = 1000000000;

/* ---- entities and links -------------------------------------------------------------------------
 *
 * Links: the wires; then up and down of each member; then up and down of the root.
 */

static uint32_t routers(const struct leat_sim_esp *s)
{
    return s->config.graph.routers;
}

static uint32_t member_entity(const struct leat_sim_esp *s, uint32_t member)
{
    return ROUTERS_FROM + routers(s) + member;
}

static size_t entities_of(const struct leat_sim_esp_config *c)
{
    return (size_t)ROUTERS_FROM + c->graph.routers + c->members;
}

static size_t links_of(const struct leat_sim_esp_config *c)
{
    return (size_t)c->graph.wires + 2 * (size_t)c->members + 2;
}

static size_t member_link(const struct leat_sim_esp *s, uint32_t member, bool is_down)
{
    return s->config.graph.wires + 2 * (size_t)member + is_down;
}

static size_t root_link(const struct leat_sim_esp *s, bool is_down)
{
    return s->config.graph.wires + 2 * (size_t)s->config.members + is_down;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t groups_of(const struct leat_sim_esp_config *c, uint32_t router)
{
    return c->groups_at ? c->groups_at[router] : c->groups;
}

static struct leat_esp_service_config service_config(const struct leat_sim_esp_config *c)
{
    uint64_t state = c->seed;
    const uint64_t id = leat_random_splitmix(&state), seed = leat_random_splitmix(&state),
                   service_seed = leat_random_splitmix(&state);
    return (struct leat_esp_service_config){
        .group = GROUP,
        .node = { .id = id, .seed = seed, .tau = c->tau_ps },
        .seed = service_seed,
        .members_max = c->members,
        .nodes_max = c->replies_max ? c->graph.routers + 1 : 0,
        /* The root has one child in each shard, its router. */
        .own_groups = leat_esp_groups_for(OWN_SLOTS * (1 + c->members / LEAT_ESP_SHARD_MEMBERS)),
    };
}

struct layout {
    void *paths, *flights, *service;
    uint8_t *stores; /* of all routers, one behind the other */
};

static size_t store_len(const struct leat_sim_esp_config *c, uint32_t router)
{
    return leat_esp_store_footprint(groups_of(c, router));
}

static size_t stores_len(const struct leat_sim_esp_config *c)
{
    size_t sum = 0;
    for (uint32_t r = 0; r < c->graph.routers; r++)
        sum += store_len(c, r);
    return sum;
}

static struct layout lay_out(struct leat_sim_esp *s, struct leat_arena *arena)
{
    const struct leat_sim_esp_config *c = &s->config;
    const struct leat_esp_service_config service = service_config(c);
    struct layout l;
    l.paths = leat_arena_lay(arena, 1, leat_sim_esp_paths_footprint(&c->graph));
    l.flights = leat_arena_lay(arena, 1,
                               leat_sim_esp_flights_footprint(c->flights_max, c->replies_max));
    l.service = leat_arena_lay(arena, 1, leat_esp_service_footprint(&service));
    l.stores = leat_arena_lay(arena, 1, stores_len(c));
    s->member = leat_arena_lay(arena, c->members, sizeof *s->member);
    s->store = leat_arena_lay(arena, c->graph.routers, sizeof *s->store);
    s->duplicates = leat_arena_lay(arena, c->has_duplicates ? c->graph.routers : 0,
                                   sizeof *s->duplicates);
    s->random = leat_arena_lay(arena, entities_of(c), sizeof *s->random);
    s->sent = leat_arena_lay(arena, entities_of(c), sizeof *s->sent);
    s->armed = leat_arena_lay(arena, entities_of(c), sizeof *s->armed);
    s->instructions = leat_arena_lay(arena, links_of(c), sizeof *s->instructions);
    s->messages = leat_arena_lay(arena, links_of(c), sizeof *s->messages);
    return l;
}

size_t leat_sim_esp_footprint(const struct leat_sim_esp_config *config)
{
    struct leat_sim_esp measured = { .config = *config };
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    return arena.used;
}

leat_err leat_sim_esp_check(const struct leat_sim_esp_config *c, void *memory,
                            struct leat_text *why)
{
    const struct leat_text_range row[] = {
        { "members", c->members, 1, LEAT_ESP_ROSTER_MAX },
        { "delay of a host's link in ps", c->access_ps, 1, LEAT_SIM_ESP_DELAY_MAX },
        { "tau in ps", c->tau_ps, 1, LEAT_ESP_TICKS_MAX },
        { "delay of what is overtaken in ps", c->reorder_ps, 0, LEAT_SIM_ESP_DELAY_MAX },
        { "packets at a time", c->flights_max, 1, LEAT_SIM_ESP_FLIGHTS_MAX },
        { "replies at a time", c->replies_max, 0, LEAT_SIM_ESP_FLIGHTS_MAX },
    };
    const leat_err bad = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
    if (bad) return bad;
    for (uint32_t r = 0; r < c->graph.routers; r++)
        if (!groups_of(c, r) || groups_of(c, r) > LEAT_ESP_GROUPS_MAX ||
            groups_of(c, r) & (groups_of(c, r) - 1))
            return leat_sim_refuse(why, LEAT_ERR_RANGE,
                                   "groups of a store %u, expected a power of two up to %u",
                                   groups_of(c, r), (unsigned)LEAT_ESP_GROUPS_MAX);
    for (uint32_t m = 0; m < c->members; m++)
        if (c->member_at[m] >= c->graph.routers)
            return leat_text_out_of_range(why, "router of a member", c->member_at[m], 0,
                                          c->graph.routers - 1);
    struct leat_sim_esp_paths paths;
    return leat_sim_esp_paths_find(&paths, &c->graph, memory, why);
}

/* A host's address is the number of its entity. */
static struct leat_esp_next address_of(uint32_t entity)
{
    struct leat_esp_next address = { .port = LEAT_ESP_UDP_PORT };
    leat_put_be32(address.address + sizeof address.address - 4, entity);
    return address;
}

static uint32_t entity_of(const struct leat_esp_next *address)
{
    return leat_get_be32(address->address + sizeof address->address - 4);
}

uint32_t leat_sim_esp_router_of(const struct leat_esp_next *address)
{
    return entity_of(address) - ROUTERS_FROM;
}

static void join_all(struct leat_sim_esp *s)
{
    struct leat_random ids;
    leat_random_seed_entity(&ids, s->config.seed, entities_of(&s->config)); /* its own stream */
    for (uint32_t m = 0; m < s->config.members; m++) {
        const struct leat_esp_member_config config = { .group = GROUP,
                                                       .id = leat_random_next(&ids) | 1,
                                                       .value = s->config.value[m] };
        const struct leat_esp_next from = address_of(member_entity(s, m));
        leat_esp_member_init(&s->member[m], &config, 0);
        leat_sim_must(leat_esp_roster_join(&s->service.roster, &from, config.id, 0, LEAT_NEVER));
    }
}

void leat_sim_esp_init(struct leat_sim_esp *s, const struct leat_sim_esp_config *config,
                       void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    const struct leat_esp_service_config service = service_config(config);
    *s = (struct leat_sim_esp){ .config = *config };
    const struct layout l = lay_out(s, &arena);
    struct leat_text why = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
    leat_sim_must(!leat_sim_esp_paths_find(&s->paths, &s->config.graph, l.paths, &why));
    leat_sim_esp_flights_init(&s->flights, config->flights_max, config->replies_max, l.flights);
    leat_esp_service_init(&s->service, &service, l.service);
    for (size_t e = 0; e < entities_of(config); e++) {
        leat_random_seed_entity(&s->random[e], config->seed, e);
        s->sent[e] = 0;
        s->armed[e] = LEAT_NEVER;
    }
    size_t at = 0;
    for (uint32_t r = 0; r < routers(s); r++) {
        struct leat_esp_node node = { .tau = config->tau_ps };
        node.id = leat_random_next(&s->random[ROUTERS_FROM + r]) | 1;
        node.seed = leat_random_next(&s->random[ROUTERS_FROM + r]);
        leat_esp_store_init(&s->store[r], &node, groups_of(config, r), l.stores + at);
        at += store_len(config, r);
    }
    if (config->has_duplicates) memset(s->duplicates, 0, routers(s) * sizeof *s->duplicates);
    leat_sim_esp_forget_traffic(s);
    leat_sim_certificate_init(&s->certificate);
    join_all(s);
}

leat_time leat_sim_esp_settle(const struct leat_sim_esp *s)
{
    const leat_time late = s->config.reorder ? s->config.reorder_ps : 0;
    leat_time settle = 0;
    for (uint32_t m = 0; m < s->config.members; m++) {
        const uint32_t r = s->config.member_at[m];
        const leat_time up = s->paths.up_ps[r] + s->paths.up_hops[r] * late;
        const leat_time down = s->paths.down_ps[r] + s->paths.down_hops[r] * late;
        const leat_time longer = up > down ? up : down;
        if (longer > settle) settle = longer;
    }
    return settle + 2 * (s->config.access_ps + late);
}

/* ---- links ----------------------------------------------------------------------------------- */

static bool happens(struct leat_random *r, uint64_t chance)
{
    return chance && (chance == LEAT_SIM_ESP_ALWAYS || leat_random_next(r) < chance);
}

/* A hop. */
struct hop {
    uint32_t from, to;
    size_t link;
    leat_time delay_ps;
};

/* One copy, which has its own letter from here on. */
static void send_copy(struct leat_sim_esp *s, const struct hop *hop, uint32_t letter)
{
    const struct leat_sim_esp_config *c = &s->config;
    struct leat_random *r = &s->random[hop->from];
    struct leat_sim_esp_flight flight = { .at = s->now + hop->delay_ps,
                                          .to = hop->to,
                                          .from = hop->from,
                                          .number = ++s->sent[hop->from],
                                          .letter = letter };
    const bool is_message = s->flights.letter[letter].post.opcode >= LEAT_ESP_QUERY;
    (is_message ? s->messages : s->instructions)[hop->link]++;
    if (s->watch)
        s->watch->sends(s->watch->context, hop->from, hop->to, (uint32_t)hop->link, letter);
    if (happens(r, c->loss)) {
        s->counts.lost++;
        leat_sim_esp_letter_drop(&s->flights, letter);
        return;
    }
    if (happens(r, c->reorder)) {
        s->counts.reordered++;
        flight.at += leat_random_below(r, c->reorder_ps) + (c->reorder_ps != 0);
    }
    if (leat_sim_esp_flights_add(&s->flights, &flight)) return;
    s->is_full = true;
    leat_sim_esp_letter_drop(&s->flights, letter);
}

static void send(struct leat_sim_esp *s, const struct hop *hop, uint32_t letter)
{
    if (happens(&s->random[hop->from], s->config.duplicate)) {
        const uint32_t copy = leat_sim_esp_letter_copy(&s->flights, letter);
        s->counts.duplicated++;
        if (copy == LEAT_SIM_ESP_NO_LETTER)
            s->is_full = true;
        else
            send_copy(s, hop, copy);
    }
    send_copy(s, hop, letter);
}

/* From a router towards the root. */
static void send_up(struct leat_sim_esp *s, uint32_t router, uint32_t letter)
{
    const uint32_t wire = s->paths.up[router];
    const struct leat_sim_esp_wire *w = &s->config.graph.wire[wire];
    const bool is_last = wire == LEAT_SIM_ESP_NONE;
    const struct hop hop = { .from = ROUTERS_FROM + router,
                             .to = is_last ? ROOT : ROUTERS_FROM + w->to,
                             .link = is_last ? root_link(s, false) : wire,
                             .delay_ps = is_last ? s->config.access_ps : w->delay_ps };
    send(s, &hop, letter);
}

/* The router that is the target, or that it is attached to. */
static uint32_t router_near(const struct leat_sim_esp *s, uint32_t target)
{
    if (target < member_entity(s, 0)) return target - ROUTERS_FROM;
    return s->config.member_at[target - member_entity(s, 0)];
}

/* From a router towards a member or another router. */
static void send_down(struct leat_sim_esp *s, uint32_t router, uint32_t letter)
{
    const uint32_t target = s->flights.letter[letter].target, near = router_near(s, target);
    if (near == router) {
        const struct hop hop = { .from = ROUTERS_FROM + router,
                                 .to = target,
                                 .link = member_link(s, target - member_entity(s, 0), true),
                                 .delay_ps = s->config.access_ps };
        send(s, &hop, letter);
        return;
    }
    const uint32_t wire = leat_sim_esp_paths_down(&s->paths, &s->config.graph, router, near);
    if (wire == LEAT_SIM_ESP_NONE) {
        send_up(s, router, letter); /* until it is on the path from the root */
        return;
    }
    const struct leat_sim_esp_wire *w = &s->config.graph.wire[wire];
    const struct hop hop = { .from = ROUTERS_FROM + router,
                             .to = ROUTERS_FROM + w->to,
                             .link = wire,
                             .delay_ps = w->delay_ps };
    send(s, &hop, letter);
}

/* ---- end systems ----------------------------------------------------------------------------- */

/* Sets the timer of an entity to `at`, replacing an earlier one. */
static void arm(struct leat_sim_esp *s, uint32_t entity, leat_time at)
{
    if (at < s->now) at = s->now;
    if (at == s->armed[entity]) return;
    s->armed[entity] = at;
    const struct leat_sim_esp_flight wake = {
        .at = at, .to = entity, .from = entity, .letter = LEAT_SIM_ESP_NO_LETTER
    };
    if (at != LEAT_NEVER && !leat_sim_esp_flights_add(&s->flights, &wake)) s->is_full = true;
}

/* A letter with these contents; NO_LETTER: none is left. */
static uint32_t write_letter(struct leat_sim_esp *s, uint32_t origin, uint32_t target,
                             const struct leat_esp_post *post)
{
    const uint32_t letter = leat_sim_esp_letter_take(&s->flights);
    if (letter == LEAT_SIM_ESP_NO_LETTER) {
        s->is_full = true;
        return letter;
    }
    struct leat_sim_esp_letter *l = &s->flights.letter[letter];
    l->origin = origin;
    l->target = target;
    l->post = *post;
    return letter;
}

/* An end system sends over its link. False: no room. */
static bool send_from_host(struct leat_sim_esp *s, uint32_t entity, uint32_t target,
                           const struct leat_esp_post *post)
{
    const bool is_root = entity == ROOT;
    const uint32_t member = is_root ? 0 : entity - member_entity(s, 0);
    const uint32_t router = is_root ? s->config.graph.root : s->config.member_at[member];
    const struct hop hop = { .from = entity,
                             .to = ROUTERS_FROM + router,
                             .link = is_root ? root_link(s, true) : member_link(s, member, false),
                             .delay_ps = s->config.access_ps };
    const uint32_t letter = write_letter(s, entity, target, post);
    if (letter != LEAT_SIM_ESP_NO_LETTER) send(s, &hop, letter);
    return !s->is_full;
}

static void pump_root(struct leat_sim_esp *s)
{
    struct leat_esp_post post;
    while (leat_esp_service_next(&s->service, s->now, &post))
        send_from_host(s, ROOT, entity_of(&post.to), &post);
    arm(s, ROOT, leat_esp_service_wake_at(&s->service));
}

static void pump_member(struct leat_sim_esp *s, uint32_t member)
{
    struct leat_esp_post post;
    const uint32_t entity = member_entity(s, member);
    while (leat_esp_member_next(&s->member[member], s->now, &post))
        send_from_host(s, entity, ROOT, &post);
    arm(s, entity, leat_esp_member_wake_at(&s->member[member]));
}

static uint64_t hash_of(const struct leat_sim_esp *s, const struct leat_sim_esp_letter *l)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t len = 0;
    if (l->post.opcode == LEAT_ESP_REPLY) {
        struct leat_esp_management m = { .opcode = LEAT_ESP_REPLY,
                                         .computationId = l->post.computation };
        m.reply = s->flights.reply[l->reply].reply;
        leat_esp_management_encode(&m, NULL, octets, sizeof octets, &len);
    } else {
        leat_esp_post_encode(&l->post, NULL, octets, sizeof octets, &len);
    }
    return leat_sim_payload_hash(octets, len);
}

/* ---- packets of one's own --------------------------------------------------------------------
 *
 * Hosts are numbered without the routers: 0 the root, 1 + m member m.
 */

static uint32_t host_of(const struct leat_sim_esp *s, uint32_t entity)
{
    return entity == ROOT ? ROOT : 1 + entity - member_entity(s, 0);
}

static uint32_t entity_of_host(const struct leat_sim_esp *s, uint32_t host)
{
    return host == ROOT ? ROOT : member_entity(s, host - 1);
}

bool leat_sim_esp_send(struct leat_sim_esp *s, uint32_t from, uint32_t to,
                       const struct leat_esp_words *words)
{
    struct leat_esp_post post = { .opcode = words->opcode, .computation = words->computation };
    post.words = *words;
    return send_from_host(s, entity_of_host(s, from), entity_of_host(s, to), &post);
}

void leat_sim_esp_observe(struct leat_sim_esp *s, leat_sim_esp_observer *observer, void *context)
{
    s->observer = observer;
    s->observer_context = context;
}

/* An instruction has reached an end system: who observes sees it, and with R it goes back. */
static void on_instruction(struct leat_sim_esp *s, uint32_t entity,
                           const struct leat_sim_esp_letter *l)
{
    struct leat_esp_post post = l->post;
    struct leat_esp_packet packet;
    const uint32_t origin = l->origin;
    if (s->observer &&
        s->observer(s->observer_context, host_of(s, entity), host_of(s, origin), &post.words))
        s->is_paused = true;
    leat_esp_words_back(&post.words, &packet);
    if (!leat_esp_packet_reflect(&packet)) return;
    leat_esp_words_of(&packet, &post.words);
    send_from_host(s, entity, origin, &post);
}

static void deliver(struct leat_sim_esp *s, const struct leat_sim_esp_flight *f)
{
    const struct leat_sim_esp_letter *l = &s->flights.letter[f->letter];
    const struct leat_sim_delivery delivery = { .at = s->now,
                                                .source = l->origin,
                                                .destination = f->to,
                                                .number = f->number,
                                                .payload_hash = hash_of(s, l) };
    leat_sim_certificate_add(&s->certificate, &delivery);
    if (s->watch) s->watch->arrives(s->watch->context, f->to, f->letter);
    if (l->post.opcode < LEAT_ESP_QUERY) on_instruction(s, f->to, l);
    if (f->to != ROOT) {
        const uint32_t member = f->to - member_entity(s, 0);
        if (l->post.opcode == LEAT_ESP_ANNOUNCE || l->post.opcode == LEAT_ESP_CAST)
            leat_esp_member_announced(&s->member[member], s->now, l->post.computation,
                                      &l->post.announce);
    } else if (l->post.opcode == LEAT_ESP_REPLY) {
        const struct leat_esp_next from = address_of(l->origin);
        leat_esp_service_reply(&s->service, &from, l->post.computation,
                               &s->flights.reply[l->reply].reply);
    } else if (l->post.opcode == LEAT_ESP_INSTALLED) {
        leat_esp_service_installed(&s->service, &l->post.installed);
    } else {
        leat_esp_service_receive(&s->service, s->now, &l->post.words);
    }
}

static void at_end_system(struct leat_sim_esp *s, const struct leat_sim_esp_flight *f)
{
    if (f->letter != LEAT_SIM_ESP_NO_LETTER) {
        deliver(s, f);
        leat_sim_esp_letter_drop(&s->flights, f->letter);
    } else if (f->at == s->armed[f->to]) {
        s->armed[f->to] = LEAT_NEVER;
    } else {
        return; /* its timer was changed */
    }
    if (f->to == ROOT)
        pump_root(s);
    else
        pump_member(s, f->to - member_entity(s, 0));
}

/* ---- routers --------------------------------------------------------------------------------- */

/* A COLLECT of a group whose children this router was told (spec/esp.md, "Installed groups"). */
static void know_children(const struct leat_sim_esp *s, uint32_t router, struct leat_esp_words *w)
{
    if (!s->config.has_duplicates) return;
    const struct leat_esp_duplicate *d = leat_esp_duplicate_find(&s->duplicates[router],
                                                                 w->operand[2], s->now);
    w->installed = d ? (uint16_t)d->children : 0;
    w->parent = d ? d->parent : 0;
}

static void tell(const struct leat_sim_esp *s, uint32_t router, uint32_t letter, bool is_done,
                 enum leat_esp_verdict verdict)
{
    if (s->watch) s->watch->executes(s->watch->context, router, letter, is_done, verdict);
}

/* False: it ends here. */
static bool execute(struct leat_sim_esp *s, uint32_t router, uint32_t letter)
{
    struct leat_esp_words *w = &s->flights.letter[letter].post.words;
    if (!(w->control & LEAT_ESP_FLAG_X) || w->control & LEAT_ESP_FLAG_E) return true;
    w->installed = 0;
    if (w->opcode == LEAT_ESP_COLLECT) know_children(s, router, w);
    tell(s, router, letter, false, LEAT_ESP_PASS);
    const struct leat_esp_outcome out = leat_esp_store_execute(&s->store[router], s->now, w);
    tell(s, router, letter, true, out.verdict);
    s->counts.executed++;
    if (out.verdict == LEAT_ESP_PASS) return true;
    if (out.verdict == LEAT_ESP_STOP) {
        s->counts.stopped++;
        return false;
    }
    if (out.verdict == LEAT_ESP_FULL)
        s->counts.full++;
    else
        s->counts.aborted++;
    w->control |= LEAT_ESP_FLAG_E;
    return true;
}

static void answer(struct leat_sim_esp *s, uint32_t router, const struct leat_esp_post *asked)
{
    const struct leat_esp_management query = { .opcode = LEAT_ESP_QUERY,
                                               .computationId = asked->computation,
                                               .query = asked->query };
    struct leat_esp_management reply;
    if (!leat_esp_store_answer(&s->store[router], s->now, &query, &reply)) return;
    const struct leat_esp_post post = { .computation = asked->computation };
    const uint32_t letter = write_letter(s, ROUTERS_FROM + router, ROOT, &post);
    if (letter == LEAT_SIM_ESP_NO_LETTER) return;
    struct leat_esp_reply *written = leat_sim_esp_letter_reply(&s->flights, letter);
    if (!written) {
        s->is_full = true;
        leat_sim_esp_letter_drop(&s->flights, letter);
        return;
    }
    *written = reply.reply;
    send_up(s, router, letter);
}

static void install(struct leat_sim_esp *s, uint32_t router, const struct leat_esp_install *in)
{
    struct leat_esp_post post = { .opcode = LEAT_ESP_INSTALLED };
    post.installed = (struct leat_esp_installed){ .group = in->group,
                                                  .node = s->store[router].node.id,
                                                  .serial = in->serial };
    struct leat_esp_install entry = *in;
    if (!s->config.has_duplicates) return;
    if (in->children) entry.group = leat_esp_children_tag(in->group, in->target);
    post.installed.result = leat_esp_duplicate_install(&s->duplicates[router], &entry, s->now,
                                                       ps_per_ms, &post.installed.lifetime_ms);
    const uint32_t letter = write_letter(s, ROUTERS_FROM + router, ROOT, &post);
    if (letter != LEAT_SIM_ESP_NO_LETTER) send_up(s, router, letter);
}

/* Copies of a CAST for its group. */
static void duplicate(struct leat_sim_esp *s, uint32_t router, uint32_t letter)
{
    const struct leat_esp_post *post = &s->flights.letter[letter].post;
    if (!s->config.has_duplicates || !post->hops) return;
    const struct leat_esp_duplicate *d = leat_esp_duplicate_find(&s->duplicates[router],
                                                                 post->announce.group, s->now);
    for (uint64_t i = 0; d && i < d->count; i++) {
        const uint32_t copy = leat_sim_esp_letter_copy(&s->flights, letter);
        if (copy == LEAT_SIM_ESP_NO_LETTER) {
            s->is_full = true;
            return;
        }
        s->flights.letter[copy].target = entity_of(&d->next[i]);
        s->flights.letter[copy].post.hops--;
        send_down(s, router, copy);
    }
}

/* Packets addressed to a router end there. */
static void at_target(struct leat_sim_esp *s, uint32_t router, uint32_t letter)
{
    const struct leat_esp_post *post = &s->flights.letter[letter].post;
    if (post->opcode == LEAT_ESP_INSTALL) install(s, router, &post->install);
    if (post->opcode == LEAT_ESP_CAST) duplicate(s, router, letter);
    leat_sim_esp_letter_drop(&s->flights, letter);
}

/* Does it continue? A query for one node ends there. */
static bool goes_on(struct leat_sim_esp *s, uint32_t router, const struct leat_esp_post *post)
{
    if (post->opcode != LEAT_ESP_QUERY) return true;
    answer(s, router, post);
    return post->query.target != s->store[router].node.id;
}

static void at_router(struct leat_sim_esp *s, const struct leat_sim_esp_flight *f)
{
    const uint32_t router = f->to - ROUTERS_FROM, target = s->flights.letter[f->letter].target;
    struct leat_esp_post *post = &s->flights.letter[f->letter].post;
    if (post->opcode < LEAT_ESP_QUERY && !execute(s, router, f->letter))
        leat_sim_esp_letter_drop(&s->flights, f->letter);
    else if (target == f->to)
        at_target(s, router, f->letter);
    else if (target == ROOT)
        send_up(s, router, f->letter);
    else if (goes_on(s, router, post))
        send_down(s, router, f->letter);
    else
        leat_sim_esp_letter_drop(&s->flights, f->letter);
}

/* ---- the run --------------------------------------------------------------------------------- */

leat_err leat_sim_esp_ask(struct leat_sim_esp *s, const struct leat_esp_request *request,
                          struct leat_text *why)
{
    const leat_err err = leat_esp_service_begin(&s->service, s->now, request, why);
    if (!err) pump_root(s);
    return err;
}

bool leat_sim_esp_run(struct leat_sim_esp *s, leat_time until)
{
    struct leat_sim_esp_flight f;
    s->is_paused = false;
    while (!s->is_paused && leat_sim_esp_flights_take(&s->flights, until, &f)) {
        s->now = f.at;
        s->counts.events++;
        if (f.to >= ROUTERS_FROM && f.to < member_entity(s, 0))
            at_router(s, &f);
        else
            at_end_system(s, &f);
    }
    if (s->flights.count && !s->is_paused) s->now = until;
    return s->flights.count != 0;
}

void leat_sim_esp_wait(struct leat_sim_esp *s, leat_time until)
{
    leat_sim_esp_run(s, until);
    if (!s->is_paused && s->now < until) s->now = until;
}

/* ---- what it cost ---------------------------------------------------------------------------- */

void leat_sim_esp_forget_traffic(struct leat_sim_esp *s)
{
    memset(s->instructions, 0, links_of(&s->config) * sizeof *s->instructions);
    memset(s->messages, 0, links_of(&s->config) * sizeof *s->messages);
}

static struct leat_sim_esp_traffic sum(const struct leat_sim_esp *s, const uint32_t *per_link)
{
    struct leat_sim_esp_traffic t = { 0 };
    for (size_t i = 0; i < links_of(&s->config); i++) {
        t.packets += per_link[i];
        if (per_link[i] > t.per_link_max) t.per_link_max = per_link[i];
    }
    return t;
}

struct leat_sim_esp_traffic leat_sim_esp_instructions(const struct leat_sim_esp *s)
{
    return sum(s, s->instructions);
}

struct leat_sim_esp_traffic leat_sim_esp_messages(const struct leat_sim_esp *s)
{
    return sum(s, s->messages);
}

struct leat_sim_esp_traffic leat_sim_esp_unicast(const struct leat_sim_esp *s)
{
    /* All values pass the root's own link, and no other link carries more. */
    struct leat_sim_esp_traffic t = { .per_link_max = s->config.members };
    for (uint32_t m = 0; m < s->config.members; m++)
        t.packets += UINT64_C(2) + s->paths.up_hops[s->config.member_at[m]];
    return t;
}
