/* Packets of one's own over simulated routers. */
#include "esp_job.h"
#include "esp_stage.h"
#include "leat_tree.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_CAP = 256, ROOT = 0 };

struct sim_stage {
    struct esp_job job;
    struct leat_sim_esp sim;
    void *memory;
    struct esp_play *play;
};

/* ---- hosts --------------------------------------------------------------------------------- */

static const char member_prefix[] = "member.";

static bool find(void *context, const char *name, struct esp_cast *cast, const char **why)
{
    const struct sim_stage *s = context;
    const uint32_t members = s->job.config.members;
    const size_t prefix = sizeof member_prefix - 1;
    uint64_t member;
    if (strcmp(name, "root") == 0) {
        *cast = (struct esp_cast){ ROOT, 1 };
        return true;
    }
    if (strcmp(name, "members") == 0) {
        *cast = (struct esp_cast){ 1, members };
        return true;
    }
    if (strncmp(name, member_prefix, prefix) == 0 &&
        leat_tree_number(name + prefix, strlen(name + prefix), &member) && member < members) {
        *cast = (struct esp_cast){ 1 + (uint32_t)member, 1 };
        return true;
    }
    static char expected[80];
    snprintf(expected, sizeof expected, "root, members, or member.0 to member.%u", members - 1);
    *why = expected;
    return false;
}

static bool find_target(void *context, const char *name, const char **why)
{
    struct esp_cast cast;
    if (!find(context, name, &cast, why)) return false;
    *why = "one host";
    return cast.count == 1 && strcmp(name, "members") != 0;
}

static uint64_t number(void *context, uint32_t host)
{
    (void)context;
    return host == ROOT ? 0 : host - 1;
}

static void name_of(void *context, uint32_t host, char name[ESP_HOST_NAME_LEN])
{
    (void)context;
    if (host == ROOT)
        snprintf(name, ESP_HOST_NAME_LEN, "root");
    else
        snprintf(name, ESP_HOST_NAME_LEN, "%s%u", member_prefix, host - 1);
}

/* ---- packets ------------------------------------------------------------------------------- */

static bool on_arrival(void *context, uint32_t host, uint32_t from,
                       const struct leat_esp_words *words)
{
    struct sim_stage *s = context;
    struct esp_arrival arrival = { .host = host, .at_ps = s->sim.now };
    name_of(s, from, arrival.from);
    leat_esp_words_back(words, &arrival.packet);
    esp_play_arrived(s->play, &arrival);
    return true;
}

static bool too_many(const struct sim_stage *s)
{
    return complain("more than %u packets in flight, expected fewer at a time",
                    s->job.config.flights_max);
}

static bool send_packet(void *context, uint32_t from, const char *to,
                        const struct leat_esp_packet *packet)
{
    struct sim_stage *s = context;
    struct esp_cast target;
    struct leat_esp_words words;
    const char *ignored;
    find(s, to, &target, &ignored);
    leat_esp_words_of(packet, &words);
    return leat_sim_esp_send(&s->sim, from, target.first, &words) || too_many(s);
}

static bool run(void *context, uint64_t until_ps)
{
    struct sim_stage *s = context;
    leat_sim_esp_wait(&s->sim, until_ps);
    return !s->sim.is_full || too_many(s);
}

static uint64_t now_ps(void *context)
{
    const struct sim_stage *s = context;
    return s->sim.now;
}

static void show_stage(void *context, struct leat_json *j, FILE *text)
{
    const struct sim_stage *s = context;
    const struct leat_sim_esp_counts *c = &s->sim.counts;
    const uint64_t certificate = leat_sim_certificate_value(&s->sim.certificate);
    LEAT_JSON_UINTS(j, { "executed", c->executed }, { "aborted", c->aborted },
                    { "store_full", c->full }, { "lost", c->lost }, { "duplicated", c->duplicated },
                    { "reordered", c->reordered });
    json_certificate(j, "certificate", certificate);
    text_print(text,
               "routers executed %" PRIu64 " instructions: %" PRIu64 " stopped, %" PRIu64
               " aborted, %" PRIu64 " without room; %" PRIu64 " packets lost\n"
               "certificate %016" PRIx64 "\n",
               c->executed, c->stopped, c->aborted, c->full, c->lost, certificate);
}

/* ---- opening ------------------------------------------------------------------------------- */

static int make_network(struct sim_stage *s)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    const int code = esp_open_network(&s->job.config, &s->sim, &s->memory, &why);
    if (code == DONE) leat_sim_esp_observe(&s->sim, on_arrival, s);
    return code;
}

bool esp_stage_sim_open(const struct arguments *args, struct esp_play *play,
                        struct esp_stage *stage, int *code)
{
    struct sim_stage *s = calloc(1, sizeof *s);
    *code = FAILED;
    if (!s) return complain("no memory for the network");
    s->play = play;
    *stage = (struct esp_stage){ s,           find, find_target, number,    name_of,
                                 send_packet, run,  now_ps,      show_stage };
    play->stage = stage;
    *code = WRONG;
    if (!esp_read_places(args, &s->job)) return false;
    *code = make_network(s);
    return *code == DONE;
}

void esp_stage_sim_close(struct esp_stage *stage)
{
    struct sim_stage *s = stage->context;
    if (!s) return;
    free(s->memory);
    esp_job_free(&s->job);
    free(s);
}
