/* leat esp route, stop, status, store, trace: a router of this host. */
#include "esp_live.h"
#include "foreground.h"
#include "json_out.h"
#include "leat_tree.h"
#include "number.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 1024, TRACE_PAUSE_MS = 10 };
static const uint64_t tau_default_ps = 10000000000000, ps_per_ns = 1000, ps_per_ms = 1000000000;

static char why[LEAT_ESP_ROUTER_WHY_LEN];

static int exit_code_of(enum leat_esp_router_end end)
{
    if (end == LEAT_ESP_ROUTER_OK) return DONE;
    complain("%s", why);
    return end == LEAT_ESP_ROUTER_WRONG ? WRONG : FAILED;
}

bool esp_read_keys(const struct arguments *args, struct leat_keys *keys)
{
    const char *path = argument(args, "--key-file");
    *keys = (struct leat_keys){ 0 };
    return !path || key_file_read(path, keys);
}

/* ---- route -------------------------------------------------------------------------------- */

static enum leat_esp_router_driver read_driver(const struct arguments *args)
{
    const char *text = argument(args, "--driver");
    uint32_t i = LEAT_ESP_ROUTER_XDP;
    if (!text) return LEAT_ESP_ROUTER_ANY;
    while (strcmp(text, esp_driver_name(i)) != 0)
        i++;
    return (enum leat_esp_router_driver)i;
}

/* The values of a repeatable option: pointers into `copy`. */
static bool read_list(const struct arguments *args, const char *option, char copy[TEXT_MAX],
                      const char **list, uint32_t cap, uint32_t *count)
{
    const char *text = argument(args, option);
    *count = 0;
    if (!text) return true;
    if (strlen(text) >= TEXT_MAX)
        return misused(args->verb, "%s: more than %d characters in all", option, TEXT_MAX - 1);
    memcpy(copy, text, strlen(text) + 1);
    for (char *at = strtok(copy, "\n"); at; at = strtok(NULL, "\n")) {
        if (*count == cap) return misused(args->verb, "%s more than %u times", option, cap);
        list[(*count)++] = at;
    }
    return true;
}

static bool read_limits(const struct arguments *args, struct leat_esp_router_config *c)
{
    c->capacity = 256 << 10;
    c->port_capacity = 4 << 10;
    c->rate_per_s = 100000;
    if (!number_take(args, "--capacity", &c->capacity) ||
        !number_take(args, "--port-capacity", &c->port_capacity) ||
        !number_take(args, "--rate", &c->rate_per_s))
        return false;
    c->port_share = c->capacity / 2;
    return number_take(args, "--port-share", &c->port_share);
}

static bool read_router(const struct arguments *args, struct leat_esp_router_config *c,
                        char copy[2][TEXT_MAX])
{
    uint64_t tau_ps = tau_default_ps;
    c->name = argument(args, "--name");
    c->listen = argument(args, "--listen");
    c->driver = read_driver(args);
    if (!read_limits(args, c) || !number_take(args, "--node-id", &c->node_id) ||
        !number_take_within(args, "--tau", ps_per_ms, 3600000 * ps_per_ms, &tau_ps) ||
        !read_list(args, "--dev", copy[0], c->device, ESP_PORTS_MAX, &c->device_count) ||
        !read_list(args, "--next-hop", copy[1], c->next_hop, ESP_NEXT_MAX, &c->next_hop_count))
        return false;
    c->tau_ns = tau_ps / ps_per_ns;
    c->keyed_only = argument(args, "--keyed-only") != NULL;
    if (c->listen && c->driver != LEAT_ESP_ROUTER_UDP)
        return misused(args->verb, "--listen goes with --driver udp");
    return esp_read_keys(args, &c->keys);
}

static int change_keys(const struct arguments *args, const struct leat_keys *keys)
{
    struct leat_esp_router *router = leat_esp_router_open(argument(args, "--name"), why);
    if (!router) return exit_code_of(LEAT_ESP_ROUTER_WRONG);
    const enum leat_esp_router_end end = leat_esp_router_change_keys(router, keys, why);
    leat_esp_router_close(router);
    return exit_code_of(end);
}

/* ---- route --foreground ------------------------------------------------------------------- */

/* Its context is the command line. */
static const char *name_of_part(void *context)
{
    return argument(context, "--name");
}

static bool router_runs(void *context, const char **why_not)
{
    struct leat_esp_router *router = leat_esp_router_open(name_of_part(context), why);
    const bool runs = router && leat_esp_router_process(router);
    leat_esp_router_close(router);
    *why_not = "the router has ended: leat esp stop, or its process was killed";
    return runs;
}

static int end_router(void *context)
{
    return exit_code_of(leat_esp_router_stop(name_of_part(context), why));
}

int esp_key(const struct arguments *args)
{
    struct leat_keys keys;
    if (args->operand_count != 1) return misuse(args->verb, "key takes no operand");
    if (!argument(args, "--key-file"))
        return misuse(args->verb, "key needs --key-file with one key, or two");
    return esp_read_keys(args, &keys) ? change_keys(args, &keys) : WRONG;
}

static bool renew_keys(void *context)
{
    struct leat_keys keys;
    return esp_read_keys(context, &keys) && (!keys.count || change_keys(context, &keys) == DONE);
}

static int stay(const struct arguments *args, uint64_t node_id, const char *driver)
{
    const struct foreground part = { router_runs, end_router, renew_keys,
                                     argument(args, "--config"), (void *)(uintptr_t)args };
    char status[LEAT_ESP_ROUTER_WHY_LEN + 128];
    snprintf(status, sizeof status, "router 0x%016llx, driver %s: %s", (unsigned long long)node_id,
             driver, why);
    return foreground_stay(&part, status);
}

int esp_route(const struct arguments *args)
{
    struct leat_esp_router_config c = { 0 };
    static char copy[2][TEXT_MAX];
    enum leat_esp_router_driver used = LEAT_ESP_ROUTER_ANY;
    if (args->operand_count != 1) return misuse(args->verb, "route takes no operand");
    if (!read_router(args, &c, copy)) return WRONG;
    int slower_at;
    const int code = exit_code_of(leat_esp_router_start(&c, &used, &slower_at, why));
    if (code != DONE) return code;
    struct esp_config running = { 0 };
    char ignored[LEAT_ESP_ROUTER_WHY_LEN];
    struct leat_esp_router *router = leat_esp_router_open(c.name, ignored);
    if (router) leat_esp_router_describe(router, &running);
    warn_if_slower(why, slower_at);
    if (router) warn_if_unconfined(leat_esp_router_process(router));
    leat_esp_router_close(router);
    const bool json = argument(args, "--json");
    struct json_out out;
    struct leat_json *j = json_open(&out, json ? stdout : NULL);
    leat_json_hex(j, "node", "0x", running.node_id, 16);
    leat_json_string(j, "driver", esp_driver_name(used));
    leat_json_string(j, "why", why);
    json_close(&out, json_status());
    text_print(json ? NULL : stdout, "router 0x%016llx, driver %s: %s\n",
               (unsigned long long)running.node_id, esp_driver_name(used), why);
    const int code_out = finish(DONE);
    return code_out == DONE && argument(args, "--foreground")
               ? stay(args, running.node_id, esp_driver_name(used))
               : code_out;
}

int esp_stop(const struct arguments *args)
{
    if (args->operand_count != 1) return misuse(args->verb, "stop takes no operand");
    return exit_code_of(leat_esp_router_stop(argument(args, "--name"), why));
}

/* ---- status ------------------------------------------------------------------------------- */

static struct leat_esp_router *open_router(const struct arguments *args)
{
    struct leat_esp_router *router = leat_esp_router_open(argument(args, "--name"), why);
    if (!router) complain("%s", why);
    return router;
}

int esp_status(const struct arguments *args)
{
    if (args->operand_count != 1) return misuse(args->verb, "status takes no operand");
    struct leat_esp_router *router = open_router(args);
    if (!router) return WRONG;
    const bool shown = esp_show_status(router, argument(args, "--json") != NULL);
    leat_esp_router_close(router);
    return finish(shown ? DONE : FAILED);
}

int esp_store(const struct arguments *args)
{
    uint64_t computation;
    if (args->operand_count != 2) return misuse(args->verb, "expected: store COMPUTATION");
    const char *text = args->operand[1];
    if (!leat_tree_number(text, strlen(text), &computation))
        return misuse(args->verb, "computation '%s', expected 0 to 2^64-1", text);
    struct leat_esp_router *router = open_router(args);
    if (!router) return WRONG;
    const bool shown = esp_show_bindings(router, computation, argument(args, "--json") != NULL);
    leat_esp_router_close(router);
    return finish(shown ? DONE : FAILED);
}

/* When another watcher ends, it stops the tracing of all: starts it again. */
static void keep_watching(struct leat_esp_router *router, struct esp_config *config)
{
    char ignored[LEAT_ESP_ROUTER_WHY_LEN];
    leat_esp_router_describe(router, config);
    if (!config->tracing) leat_esp_router_watch(router, true, ignored);
}

/* Until interrupted, or `count` packets were shown. */
static void watch(struct leat_esp_router *router, uint64_t count, bool json)
{
    static struct esp_config config;
    const struct timespec pause = { .tv_nsec = TRACE_PAUSE_MS * 1000000 };
    struct esp_sight sight;
    uint64_t next = leat_esp_router_seen(router), missed;
    leat_esp_router_describe(router, &config);
    for (uint64_t shown = 0; shown < count;) {
        const bool seen = leat_esp_router_sight(router, &next, &sight, &missed);
        if (interrupted && !seen) break; /* shows what has passed by then */
        if (missed) complain("%llu packets went by unseen", (unsigned long long)missed);
        if (seen) {
            esp_show_sight(&config, &sight, json);
            shown++;
        } else {
            fflush(stdout);
            nanosleep(&pause, NULL);
            keep_watching(router, &config);
        }
    }
}

int esp_trace(const struct arguments *args)
{
    uint64_t count = UINT64_MAX;
    if (args->operand_count != 1) return misuse(args->verb, "trace takes no operand");
    if (!number_take(args, "--count", &count)) return WRONG;
    struct leat_esp_router *router = open_router(args);
    if (!router) return WRONG;
    const bool on = leat_esp_router_watch(router, true, why);
    if (!on) complain("%s", why);
    if (on) watch(router, count, argument(args, "--json") != NULL);
    char ignored[LEAT_ESP_ROUTER_WHY_LEN];
    leat_esp_router_watch(router, false, ignored);
    leat_esp_router_close(router);
    return on ? finish(DONE) : FAILED;
}
