/* Inspecting a router: its counters, its stores, passing packets. */
#include "esp_plan.h"
#include "live_home.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct leat_esp_router {
    struct esp_memory memory;
    pid_t process;
    struct leat_esp_group group; /* one at a time */
};

static bool open_memory(struct leat_esp_router *r, int file, char *why)
{
    struct esp_memory *m = &r->memory;
    m->maps = (struct esp_maps){ -1, -1, -1, -1, -1 };
    m->share = esp_file_map(file);
    if (!m->share)
        return live_because(why, "the router's shared file is another version's, expected leat esp "
                                 "route again");
    if (m->share->config.driver != LEAT_ESP_ROUTER_XDP) {
        m->group = esp_file_groups(m->share);
        return true;
    }
#ifdef HAVE_XDP
    if (esp_xdp_find(&m->share->config, &m->maps, why)) return true;
    if (!*why)
        live_because(why, "its program is no longer on the devices, expected leat esp route again");
    return false;
#else
    return live_because(why, "it is by XDP, and this leat was built without it");
#endif
}

struct leat_esp_router *leat_esp_router_open(const char *router, char *why)
{
    char name[ESP_FILE_NAME_LEN];
    *why = 0;
    if (!esp_file_name(router, name, why)) return NULL;
    const int file = esp_file_open(name, 0, why);
    if (file < 0) return NULL;
    struct leat_esp_router *r = calloc(1, sizeof *r);
    const bool opened = r && open_memory(r, file, why);
    if (opened) r->process = live_file_holder(file);
    close(file);
    if (opened) return r;
    leat_esp_router_close(r);
    return NULL;
}

void leat_esp_router_close(struct leat_esp_router *r)
{
    if (!r) return;
#ifdef HAVE_XDP
    esp_xdp_let_go(&r->memory.maps);
#endif
    if (r->memory.share) munmap(r->memory.share, (size_t)r->memory.share->len);
    free(r);
}

void leat_esp_router_describe(const struct leat_esp_router *r, struct esp_config *config)
{
    *config = r->memory.share->config;
}

enum leat_esp_router_end leat_esp_router_change_keys(struct leat_esp_router *r,
                                                     const struct leat_keys *keys, char *why)
{
    struct esp_share *s = r->memory.share;
    *why = 0;
    if (!keys->count || !s->config.has_key) {
        live_because(why, "the router %s, expected leat esp route again to change that",
                     keys->count ? "has no key" : "has a key");
        return LEAT_ESP_ROUTER_WRONG;
    }
#ifdef HAVE_XDP
    if (!r->memory.group && !esp_xdp_change_keys(&r->memory.maps, keys, why))
        return LEAT_ESP_ROUTER_FAILED;
#endif
    leat_key_ring_set(&s->keys, keys);
    return LEAT_ESP_ROUTER_OK;
}

void leat_esp_router_why(const struct leat_esp_router *r, char *why)
{
    const struct esp_share *s = r->memory.share;
    live_because(why, "%s%.250s", s->why, s->mode);
}

int leat_esp_router_process(const struct leat_esp_router *r)
{
    return (int)r->process;
}

uint64_t leat_esp_router_refused(const struct leat_esp_router *r)
{
    return r->memory.share->refused;
}

uint64_t leat_esp_router_unsent(const struct leat_esp_router *r)
{
    return r->memory.share->unsent;
}

bool leat_esp_router_counts(struct leat_esp_router *r, struct esp_counts *counts)
{
#ifdef HAVE_XDP
    if (!r->memory.group) return esp_xdp_counts(&r->memory.maps, counts);
#endif
    *counts = r->memory.share->counts;
    return true;
}

/* ---- stores ------------------------------------------------------------------------------- */

uint32_t leat_esp_router_stores(const struct leat_esp_router *r)
{
    return 1 + 2 * r->memory.share->config.port_count;
}

void leat_esp_router_store_name(const struct leat_esp_router *r, uint32_t store, char name[32])
{
    if (store)
        snprintf(name, 32, "%s %s", store % 2 ? "input" : "output",
                 r->memory.share->config.port[(store - 1) / 2].name);
    else
        snprintf(name, 32, "centre");
}

bool leat_esp_router_survey(struct leat_esp_router *r, uint32_t number,
                            struct leat_esp_survey *survey)
{
    const struct esp_config *c = &r->memory.share->config;
    const struct esp_store *store = &c->store[number];
    const uint64_t now = esp_user_now_ns(c);
    *survey = (struct leat_esp_survey){ 0 };
    for (uint32_t i = 0; i <= store->mask; i++) {
        if (!esp_memory_group(&r->memory, store->first + i, &r->group)) return false;
        leat_esp_group_survey(&r->group, c->tau_ns, now, survey);
    }
    return true;
}

bool leat_esp_router_bindings(struct leat_esp_router *r, uint32_t number, uint64_t computation,
                              struct leat_esp_binding *out, uint32_t cap, uint32_t *count)
{
    const struct esp_config *c = &r->memory.share->config;
    const struct esp_store *store = &c->store[number];
    const uint64_t mark = leat_esp_mark(&store->node, computation), now = esp_user_now_ns(c);
    uint32_t cursor = 0;
    *count = 0;
    if (!esp_memory_group(&r->memory, store->first + ((uint32_t)mark & store->mask), &r->group))
        return false;
    *count = leat_esp_group_list(&r->group, mark, computation, now, &cursor, out, cap);
    return true;
}

/* ---- watching ----------------------------------------------------------------------------- */

bool leat_esp_router_watch(struct leat_esp_router *r, bool on, char *why)
{
    if (on && !r->process)
        return live_because(why, "the router's process has ended, expected leat esp route again");
    r->memory.share->config.tracing = on;
#ifdef HAVE_XDP
    if (!r->memory.group && !esp_xdp_watch(&r->memory.maps, on))
        return live_because(why, "its program cannot be changed: %s", strerror(errno));
#endif
    return true;
}

uint64_t leat_esp_router_seen(const struct leat_esp_router *r)
{
    return __atomic_load_n(&r->memory.share->sights.next, __ATOMIC_ACQUIRE);
}

bool leat_esp_router_sight(struct leat_esp_router *r, uint64_t *next, struct esp_sight *sight,
                           uint64_t *missed)
{
    const struct esp_sights *s = &r->memory.share->sights;
    uint64_t seen = leat_esp_router_seen(r);
    *missed = 0;
    if (*next == seen) return false;
    if (seen - *next >= ESP_SIGHTS) {
        *missed = seen - *next - ESP_SIGHTS + 1;
        *next += *missed;
    }
    memcpy(sight, &s->sight[*next % ESP_SIGHTS], sizeof *sight);
    seen = leat_esp_router_seen(r);
    if (seen - *next >= ESP_SIGHTS) { /* it was overwritten meanwhile */
        ++*missed;
        ++*next;
        return false;
    }
    ++*next;
    return true;
}
