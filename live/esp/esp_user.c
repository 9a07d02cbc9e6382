#include "esp_user.h"
#include "esp_gate.h"
#include "live_system.h"

static _Thread_local struct esp_ground *ground_now; /* of the current call */

uint64_t esp_user_now_ns(const struct esp_config *config)
{
    return config->clock_ns ? config->clock_ns : live_now_ns(CLOCK_MONOTONIC_COARSE);
}

/* ---- what the gate asks for --------------------------------------------------------------- */

static uint32_t allowance(struct esp_share *s, const struct esp_pass *p, struct leat_esp_budget *b,
                          uint64_t now)
{
    const uint32_t by_source = leat_esp_budget_allows(b, &s->config.limits, now);
    const uint32_t by_port = leat_esp_ingress_allows(&s->ingress[p->port].ingress,
                                                     &s->config.limits, now);
    return by_source < by_port ? by_source : by_port;
}

static struct leat_esp_outcome esp_store_run(struct esp_pass *p, uint32_t number)
{
    struct esp_share *s = ground_now->share;
    const struct esp_store *store = &s->config.store[number];
    const uint64_t mark = leat_esp_mark(&store->node, p->words.computation);
    const uint64_t clock = esp_user_now_ns(&s->config);
    struct esp_locked_group *g = &ground_now->group[store->first + ((uint32_t)mark & store->mask)];
    const uint32_t entry = leat_esp_budget_of(&s->config.store[ESP_STORE_CENTRE].node, p->source);
    uint32_t allowed = LEAT_ESP_TAGS_MAX;
    if (p->limited) allowed = allowance(s, p, &s->budget[entry], clock);
    /* One process changes groups; observers retry while the sequence number is odd or changes. */
    __atomic_store_n(&g->lock, g->lock + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const struct leat_esp_outcome out = leat_esp_execute(&g->group, &store->node, clock, mark,
                                                         allowed, &p->words);
    __atomic_store_n(&g->lock, g->lock + 1, __ATOMIC_RELEASE);
    if (p->limited && out.created) {
        leat_esp_budget_charge(&s->budget[entry], &s->config.limits, out.created);
        leat_esp_ingress_charge(&s->ingress[p->port].ingress, out.created);
    }
    return out;
}

static const struct leat_esp_duplicate *esp_find_group(uint64_t group)
{
    const struct esp_share *s = ground_now->share;
    return leat_esp_duplicate_find(&s->duplicates, group, esp_user_now_ns(&s->config));
}

/* ---- the gate ----------------------------------------------------------------------------- */

static uint64_t datagram_sum(const uint8_t *data, const struct esp_place *at)
{
    uint64_t sum = 0;
    const uint32_t to = at->packet_at + at->packet_len;
    for (uint32_t i = at->udp_at; i < to; i++)
        sum += (i - at->udp_at) % 2 ? data[i] : (uint32_t)data[i] << 8;
    return sum;
}

static enum esp_reason leave(uint8_t *data, const uint8_t *end, const struct esp_outcome *o)
{
    const struct esp_place *at = &o->pass.at;
    if (o->out.kind == ESP_WAY_NONE) return ESP_NO_WAY;
    if (o->out.kind == ESP_WAY_OUT && !esp_hop(data, end, at)) return ESP_HOPS;
    if (o->pass.changed && !esp_write(data, end, &o->pass)) return ESP_FAILED;
    if (esp_udp_wants_seal(data, end, &o->pass, o->out.kind == ESP_WAY_HOST) &&
        !esp_udp_seal(data, end, at, datagram_sum(data, at)))
        return ESP_FAILED;
    return o->reason;
}

static void see(struct esp_share *s, const uint8_t *data, const uint8_t *end,
                const struct esp_outcome *o)
{
    struct esp_sight *sight = &s->sights.sight[s->sights.next % ESP_SIGHTS];
    *sight = (struct esp_sight){ .kind = ESP_EVENT_SIGHT,
                                 .port = o->pass.port,
                                 .reason = o->reason,
                                 .carriage = o->pass.at.carriage,
                                 .at_ns = esp_user_now_ns(&s->config),
                                 .words = o->pass.words };
    esp_source(data, end, &o->pass.at, sight->source);
    esp_destination(data, end, &o->pass.at, sight->destination);
    __atomic_store_n(&s->sights.next, s->sights.next + 1, __ATOMIC_RELEASE);
}

static void find_way(struct esp_ground *g, const uint8_t *data, const uint8_t *end,
                     struct esp_outcome *o)
{
    uint64_t to[2];
    esp_destination(data, end, &o->pass.at, to);
    o->out = g->way(g->driver, &o->pass.at, to);
}

static void count(struct esp_counts *counts, const struct esp_outcome *o)
{
    counts->reason[o->reason]++;
    if (o->reason <= ESP_ASKED && o->out.kind == ESP_WAY_HOST) counts->host++;
}

bool esp_user_gate(struct esp_ground *ground, uint8_t *data, uint32_t len, uint32_t port,
                   struct esp_outcome *o)
{
    const uint8_t *end = data + len;
    struct esp_share *s = ground->share;
    struct esp_pass *p = &o->pass;
    ground_now = ground;
    *o = (struct esp_outcome){ .pass.port = port };
    const enum esp_found found = esp_find(data, end, &p->at);
    if (found == ESP_NOT_OURS || !esp_same_mac(data, s->config.port[port].mac)) return false;
    p->limited = s->config.limits.capacity || s->config.limits.price_ticks;
    if (p->limited) p->source = esp_source_folded(data, end, &p->at);
    o->reason = found == ESP_FOUND ? esp_read(data, end, &s->config, &s->keys, p) : ESP_UNSOUND;
    if (o->reason == ESP_EXECUTED) {
        o->reason = esp_input(p, &s->counts);
        if (o->reason <= ESP_ASKED) find_way(ground, data, end, o);
        if (o->reason == ESP_EXECUTED && o->out.kind == ESP_WAY_OUT)
            o->reason = esp_output(p, o->out.port, &s->counts);
    } else if (o->reason <= ESP_ASKED) {
        find_way(ground, data, end, o);
        if (o->reason == ESP_MANAGED)
            o->reason = esp_manage(data + p->at.packet_at, end, p->at.packet_len, &s->config,
                                   o->out.kind == ESP_WAY_HOST);
    }
    if (o->reason <= ESP_ASKED) o->reason = leave(data, end, o);
    count(&s->counts, o);
    if (s->config.tracing) see(s, data, end, o);
    return true;
}

void esp_user_unsent(struct esp_ground *ground, const struct esp_outcome *o, enum esp_reason why)
{
    ground->share->counts.reason[o->reason]--;
    ground->share->counts.reason[why]++;
}
