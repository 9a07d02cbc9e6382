/*
 * leat esp sim --record: packets, and what stores hold.
 *
 *   network         group
 *     fabric        lane     which network (record_fabric.h), with --fabric
 *     root          lane     packets leave and arrive (flows, frames)
 *     port0 ...     lanes    the same, of members
 *     router0 ...   lanes    instructions as they were executed (frames); bindings are created,
 *                            changed and expire (instants); "full", "aborted"
 *     bindings0 ... signals  live bindings of the router's store
 *     value0 ...    signals  of the binding that was created or changed last
 *     wires         group    packets cross them (flows): "0>1", "1>port3", "0>root"
 */
#include "esp_record.h"
#include "record_fabric.h"
#include "record_order.h"
#include "result_file.h"
#include <leat/capture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINK_ESP = LEAT_LINK_USER0 + 2,
    ROOT = 0,
    ROUTERS_FROM = 1, /* entities, as in esp_sim.h */
    NAME_CAP = 48,
    TRACKS_APART = 16,
};

static struct {
    struct result_file file;
    struct leat_sim_recorder recorder;
    struct record_order order;
    const struct leat_sim_esp *sim;
    struct leat_sim_esp_watch watch;
    uint32_t *entity;   /* [entities] lanes */
    uint32_t *bindings; /* [routers] counters */
    uint32_t *value;    /* [routers] signals */
    uint32_t *wire;     /* [links] lanes; 0: from a host, whose own lane it leaves */
    uint64_t *number;   /* [flights_max] of the packet with this letter */
    uint32_t *at;       /* [flights_max] where that was seen last, an entity + 1 */
    uint64_t numbers;
    uint32_t created, changed, expired, full, aborted; /* names */
    struct leat_esp_group before;
} rec;

static void put(leat_sim_kind kind, leat_time at, uint32_t track, uint32_t name)
{
    record_order_put(&rec.order, &(struct leat_sim_event){
                                     .kind = kind, .at = at, .track = track, .name = name });
}

/* ---- packets --------------------------------------------------------------------------------- */

static void put_flow(uint32_t lane, leat_sim_step step, uint32_t letter, size_t len)
{
    record_order_put(
        &rec.order,
        &(struct leat_sim_event){
            .kind = LEAT_SIM_FLOW,
            .at = rec.sim->now,
            .track = lane,
            .step = step,
            .flow = { .message = LEAT_SIM_FIRST_PACKET + rec.number[letter], .len = len } });
}

/* Replies of nodes are long and rare, and not shown. */
static size_t encode(uint32_t letter, uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX])
{
    const struct leat_esp_post *post = &rec.sim->flights.letter[letter].post;
    size_t len = 0;
    if (post->opcode != LEAT_ESP_REPLY)
        leat_esp_post_encode(post, NULL, octets, LEAT_ESP_MANAGEMENT_LEN_MAX, &len);
    return len;
}

static size_t put_frame(uint32_t lane, leat_sim_direction direction, uint32_t letter)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    const size_t len = encode(letter, octets);
    if (len)
        record_order_put(&rec.order, &(struct leat_sim_event){ .kind = LEAT_SIM_FRAME,
                                                               .at = rec.sim->now,
                                                               .track = lane,
                                                               .direction = direction,
                                                               .octets = octets,
                                                               .len = len });
    return len;
}

/* Letters are used again, and copied: one that is not where it was left is another packet. */
static void sends(void *context, uint32_t from, uint32_t to, uint32_t link, uint32_t letter)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    const bool is_host = !rec.wire[link];
    (void)context;
    if (is_host || rec.at[letter] != from + 1) rec.number[letter] = rec.numbers++;
    rec.at[letter] = to + 1;
    if (is_host)
        put_flow(rec.entity[from], LEAT_SIM_LEAVES, letter,
                 put_frame(rec.entity[from], LEAT_SIM_OUT, letter));
    else
        put_flow(rec.wire[link], LEAT_SIM_PASSES, letter, encode(letter, octets));
    record_order_until(&rec.order, rec.sim->now);
}

static void arrives(void *context, uint32_t entity, uint32_t letter)
{
    (void)context;
    put_flow(rec.entity[entity], LEAT_SIM_ARRIVES, letter,
             put_frame(rec.entity[entity], LEAT_SIM_IN, letter));
    rec.at[letter] = 0;
    record_order_until(&rec.order, rec.sim->now);
}

/* ---- stores ---------------------------------------------------------------------------------- */

static const struct leat_esp_group *group_of(uint32_t router, uint64_t computation)
{
    const struct leat_esp_store *store = &rec.sim->store[router];
    return leat_esp_store_group(store, leat_esp_mark(&store->node, computation));
}

static void see_slot(uint32_t router, const struct leat_esp_bucket *was,
                     const struct leat_esp_bucket *is, uint32_t i)
{
    const leat_time now = rec.sim->now;
    const uint32_t lane = rec.entity[ROUTERS_FROM + router];
    const bool is_fresh = was->key[i] != is->key[i] || was->computation[i] != is->computation[i] ||
                          was->expiry[i] != is->expiry[i];
    if (!is_fresh && was->value[i] == is->value[i]) return;
    put(LEAT_SIM_INSTANT, now, lane, is_fresh ? rec.created : rec.changed);
    record_order_put(&rec.order, &(struct leat_sim_event){ .kind = LEAT_SIM_VALUE,
                                                           .at = now,
                                                           .track = rec.value[router],
                                                           .value = is->value[i] });
    if (!is_fresh) return;
    record_order_count(&rec.order, rec.bindings[router], 1, now);
    record_order_count(&rec.order, rec.bindings[router], -1, is->expiry[i]);
    put(LEAT_SIM_INSTANT, is->expiry[i], lane, rec.expired);
}

static void executes(void *context, uint32_t router, uint32_t letter, bool is_done,
                     enum leat_esp_verdict verdict)
{
    const uint64_t computation = rec.sim->flights.letter[letter].post.words.computation;
    const struct leat_esp_group *group = group_of(router, computation);
    (void)context;
    if (!is_done) {
        rec.before = *group;
        return;
    }
    put_frame(rec.entity[ROUTERS_FROM + router], LEAT_SIM_NO_DIRECTION, letter);
    if (verdict == LEAT_ESP_FULL || verdict == LEAT_ESP_ABORTED)
        put(LEAT_SIM_INSTANT, rec.sim->now, rec.entity[ROUTERS_FROM + router],
            verdict == LEAT_ESP_FULL ? rec.full : rec.aborted);
    for (uint32_t b = 0; b < LEAT_ESP_BUCKETS; b++)
        for (uint32_t i = 0; i < LEAT_ESP_SLOTS; i++)
            see_slot(router, &rec.before.bucket[b], &group->bucket[b], i);
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t declare_lane(uint32_t group, uint16_t link, const char *what, uint32_t number)
{
    char name[NAME_CAP];
    snprintf(name, sizeof name, "%s%u", what, number);
    return leat_sim_recorder_lane(&rec.recorder, group, 0, link, name);
}

static uint32_t declare_signal(uint32_t group, const char *what, uint32_t number, unsigned width)
{
    char name[NAME_CAP];
    snprintf(name, sizeof name, "%s%u", what, number);
    return leat_sim_recorder_signal(&rec.recorder, group, 0, width, name);
}

/* Links, as esp_sim.c numbers them: wires, then up and down of each member, then of the root. */
static void declare_wires(const struct leat_sim_esp_config *c, uint32_t group)
{
    const uint32_t wires = leat_sim_recorder_group(&rec.recorder, group, "wires");
    char name[NAME_CAP];
    for (uint32_t i = 0; i < c->graph.wires; i++) {
        snprintf(name, sizeof name, "%u>%u", c->graph.wire[i].from, c->graph.wire[i].to);
        rec.wire[i] = leat_sim_recorder_lane(&rec.recorder, wires, 0, 0, name);
    }
    for (uint32_t m = 0; m < c->members; m++) {
        snprintf(name, sizeof name, "%u>port%u", c->member_at[m], m);
        rec.wire[c->graph.wires + 2 * m + 1] = leat_sim_recorder_lane(&rec.recorder, wires, 0, 0,
                                                                      name);
    }
    snprintf(name, sizeof name, "%u>root", c->graph.root);
    rec.wire[c->graph.wires + 2 * c->members] = leat_sim_recorder_lane(&rec.recorder, wires, 0, 0,
                                                                       name);
}

static void declare(const struct leat_sim_esp_config *c, const char *fabric)
{
    struct leat_sim_event name;
    const uint32_t group = leat_sim_recorder_group(&rec.recorder, 0, "network");
    const bool has_name = fabric && record_fabric_declare(&rec.recorder, group, fabric, &name);
    rec.entity[ROOT] = leat_sim_recorder_lane(&rec.recorder, group, 0, LINK_ESP, "root");
    for (uint32_t m = 0; m < c->members; m++)
        rec.entity[ROUTERS_FROM + c->graph.routers + m] = declare_lane(group, LINK_ESP, "port", m);
    for (uint32_t r = 0; r < c->graph.routers; r++) {
        rec.entity[ROUTERS_FROM + r] = declare_lane(group, LINK_ESP, "router", r);
        rec.bindings[r] = record_order_counter(&rec.order,
                                               declare_signal(group, "bindings", r, 32));
        rec.value[r] = declare_signal(group, "value", r, 64);
    }
    declare_wires(c, group);
    rec.created = leat_sim_recorder_name(&rec.recorder, "binding created");
    rec.changed = leat_sim_recorder_name(&rec.recorder, "binding changed");
    rec.expired = leat_sim_recorder_name(&rec.recorder, "binding expired");
    rec.full = leat_sim_recorder_name(&rec.recorder, "full");
    rec.aborted = leat_sim_recorder_name(&rec.recorder, "aborted");
    if (has_name) record_order_put(&rec.order, &name);
}

static bool make_room(const struct leat_sim_esp_config *c)
{
    const uint64_t tracks = 3 * (uint64_t)c->graph.routers + 2 * (uint64_t)c->members +
                            c->graph.wires + TRACKS_APART;
    if (tracks > LEAT_SIM_TRACKS_MAX)
        return complain("--record: %u routers, %u members and %u wires, expected fewer",
                        c->graph.routers, c->members, c->graph.wires);
    rec.entity = calloc((size_t)c->graph.routers + c->members + 1, sizeof *rec.entity);
    rec.bindings = calloc(c->graph.routers, sizeof *rec.bindings);
    rec.value = calloc(c->graph.routers, sizeof *rec.value);
    rec.wire = calloc((size_t)c->graph.wires + 2 * (size_t)c->members + 2, sizeof *rec.wire);
    rec.number = calloc(c->flights_max, sizeof *rec.number);
    rec.at = calloc(c->flights_max, sizeof *rec.at);
    return (rec.entity && rec.bindings && rec.value && rec.wire && rec.number && rec.at) ||
           complain("no memory for a recording of %u routers", c->graph.routers);
}

static void forget(void)
{
    record_order_free(&rec.order);
    result_file_drop(&rec.file);
    free(rec.entity);
    free(rec.bindings);
    free(rec.value);
    free(rec.wire);
    free(rec.number);
    free(rec.at);
    rec.entity = rec.bindings = rec.value = rec.wire = rec.at = NULL;
    rec.number = NULL;
    rec.sim = NULL;
}

bool esp_record_open(const char *path, const char *fabric, struct leat_sim_esp *sim)
{
    rec.sim = sim;
    rec.numbers = 0;
    record_order_init(&rec.order, &rec.recorder);
    if (!make_room(&sim->config) || !result_file_open(&rec.file, path)) {
        forget();
        return false;
    }
    leat_sim_recorder_init(&rec.recorder, &rec.file.out.text);
    declare(&sim->config, fabric);
    rec.watch = (struct leat_sim_esp_watch){ NULL, sends, arrives, executes };
    sim->watch = &rec.watch;
    return true;
}

/* Bindings that live on expire after the end, which is not recorded. */
bool esp_record_close(bool keep)
{
    if (!rec.sim) return true;
    record_order_stop(&rec.order, rec.sim->now + 1);
    leat_sim_recorder_close(&rec.recorder, rec.sim->now);
    const bool whole = !rec.order.failed;
    const bool done = result_file_close(&rec.file, keep && whole) && whole;
    forget();
    return done;
}
