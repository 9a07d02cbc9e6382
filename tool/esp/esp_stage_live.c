/* Packets of one's own from this host: it plays one host of the script, others play the rest. */
#include "esp_live.h"
#include "esp_plan.h"
#include "esp_stage.h"
#include "leat_tree.h"
#include <stdlib.h>
#include <string.h>

enum { ALIASES_MAX = 256, TEXT_MAX = 1 << 14, SLICE_MS = 200 };

static const uint64_t ps_per_ns = 1000, ps_per_ms = 1000000000;

/* A host of the script and its address. */
struct alias {
    const char *name, *address;
};

struct live_stage {
    struct leat_esp_host_probe *probe;
    struct esp_play *play;
    const char *player;
    char text[TEXT_MAX]; /* names and addresses */
    struct alias alias[ALIASES_MAX];
    uint32_t aliases;
};

static char why_text[LEAT_ESP_HOST_WHY_LEN];

/* ---- hosts --------------------------------------------------------------------------------- */

static bool is_address(const char *text)
{
    uint64_t address[2];
    uint16_t port;
    return esp_plan_endpoint(text, address, &port);
}

/* The address of a host of the script, or the word itself. */
static const char *address_of(const struct live_stage *s, const char *name)
{
    for (uint32_t i = 0; i < s->aliases; i++)
        if (strcmp(s->alias[i].name, name) == 0) return s->alias[i].address;
    return name;
}

static bool find(void *context, const char *name, struct esp_cast *cast, const char **why)
{
    const struct live_stage *s = context;
    const bool is_member = strncmp(s->player, "member.", 7) == 0;
    (void)why;
    cast->first = 0;
    cast->count = strcmp(name, s->player) == 0 || (is_member && strcmp(name, "members") == 0);
    return true;
}

static bool find_target(void *context, const char *name, const char **why)
{
    *why = "an address, or a host that --to or --host gives one";
    return is_address(address_of(context, name));
}

/* Of member.7: 7. */
static uint64_t number(void *context, uint32_t host)
{
    const struct live_stage *s = context;
    const char *dot = strrchr(s->player, '.');
    uint64_t value = 0;
    (void)host;
    if (!dot || !leat_tree_number(dot + 1, strlen(dot + 1), &value)) return 0;
    return value;
}

static void name_of(void *context, uint32_t host, char name[ESP_HOST_NAME_LEN])
{
    const struct live_stage *s = context;
    (void)host;
    snprintf(name, ESP_HOST_NAME_LEN, "%s", s->player);
}

/* ---- packets ------------------------------------------------------------------------------- */

static bool send_packet(void *context, uint32_t from, const char *to,
                        const struct leat_esp_packet *packet)
{
    struct live_stage *s = context;
    (void)from;
    return leat_esp_host_probe_send(s->probe, address_of(s, to), packet, why_text) ==
               LEAT_ESP_HOST_OK ||
           complain("%s", why_text);
}

static uint64_t now_ps(void *context)
{
    const struct live_stage *s = context;
    struct leat_esp_host_probe_counts counts;
    leat_esp_host_probe_counts(s->probe, &counts);
    return counts.elapsed_ns * ps_per_ns;
}

/* Slice by slice, so that an interrupt between two waits is seen. */
static bool run(void *context, uint64_t until_ps)
{
    struct live_stage *s = context;
    struct leat_esp_host_arrival come;
    for (uint64_t now = now_ps(s); now < until_ps && !interrupted; now = now_ps(s)) {
        const uint64_t left_ms = (until_ps - now + ps_per_ms - 1) / ps_per_ms;
        const enum leat_esp_host_end end = leat_esp_host_probe_receive(
            s->probe, left_ms < SLICE_MS ? left_ms : SLICE_MS, &come, why_text);
        if (end == LEAT_ESP_HOST_FAILED && !interrupted) return complain("%s", why_text);
        if (end != LEAT_ESP_HOST_OK) continue;
        struct esp_arrival arrival = { .at_ps = come.at_ns * ps_per_ns, .packet = come.packet };
        memcpy(arrival.from, come.from, sizeof arrival.from);
        esp_play_arrived(s->play, &arrival);
        return true;
    }
    return true;
}

static void show_stage(void *context, struct leat_json *json, FILE *text)
{
    const struct live_stage *s = context;
    struct leat_esp_host_probe_counts counts;
    leat_esp_host_probe_counts(s->probe, &counts);
    leat_json_uint(json, "refused", counts.skipped);
    text_print(text, "%llu packets refused: malformed, or management\n",
               (unsigned long long)counts.skipped);
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool add_alias(const struct arguments *args, struct live_stage *s, const char *name,
                      const char *address)
{
    if (!*name || !is_address(address))
        return misused(args->verb, "--host '%.60s=%.60s', expected NAME=ADDRESS[:PORT]", name,
                       address);
    if (s->aliases == ALIASES_MAX)
        return misused(args->verb, "--host more than %d times", ALIASES_MAX);
    s->alias[s->aliases++] = (struct alias){ name, address };
    return true;
}

static bool read_aliases(const struct arguments *args, struct live_stage *s)
{
    const char *to = argument(args, "--to"), *hosts = argument(args, "--host");
    if (to && !is_address(to))
        return misused(args->verb, "--to '%.60s', expected ADDRESS[:PORT]", to);
    if (to && !add_alias(args, s, "root", to)) return false;
    if (!hosts) return true;
    if (strlen(hosts) >= sizeof s->text)
        return misused(args->verb, "--host: more than %d characters in all", TEXT_MAX - 1);
    strcpy(s->text, hosts);
    for (char *at = strtok(s->text, "\n"); at; at = strtok(NULL, "\n")) {
        char *equals = strchr(at, '=');
        if (!equals) return misused(args->verb, "--host '%.60s', expected NAME=ADDRESS", at);
        *equals = 0;
        if (!add_alias(args, s, at, equals + 1)) return false;
    }
    return true;
}

static int open_probe(const struct arguments *args, struct live_stage *s)
{
    const struct leat_esp_host_config config = { .bind = argument(args, "--bind") };
    const enum leat_esp_host_end end = leat_esp_host_probe_open(&config, &s->probe, why_text);
    if (end == LEAT_ESP_HOST_OK) return DONE;
    complain("%s", why_text);
    return end == LEAT_ESP_HOST_WRONG ? WRONG : FAILED;
}

bool esp_stage_live_open(const struct arguments *args, const char *player, struct esp_play *play,
                         struct esp_stage *stage, int *code)
{
    struct live_stage *s = calloc(1, sizeof *s);
    *code = FAILED;
    if (!s) return complain("no memory");
    s->play = play;
    s->player = player;
    *stage = (struct esp_stage){ s,           find, find_target, number,    name_of,
                                 send_packet, run,  now_ps,      show_stage };
    play->stage = stage;
    *code = WRONG;
    if (!read_aliases(args, s)) return false;
    *code = open_probe(args, s);
    return *code == DONE;
}

void esp_stage_live_close(struct esp_stage *stage)
{
    struct live_stage *s = stage->context;
    if (!s) return;
    leat_esp_host_probe_close(s->probe);
    free(s);
}
