/* leat esp send and exec: performs steps on a stage, and shows what came of them. */
#include "esp_play.h"
#include "duration.h"
#include "esp_text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_LEN = 512, PACKET_TEXT_LEN = 320 };

/* ---- what arrives -------------------------------------------------------------------------- */

void esp_play_arrived(struct esp_play *play, const struct esp_arrival *arrival)
{
    if (play->arrivals == play->cap && play->cap < ESP_ARRIVALS_MAX) {
        const uint32_t cap = play->cap ? 2 * play->cap : 16;
        struct esp_arrival *more = realloc(play->arrival, cap * sizeof *more);
        if (more) play->arrival = more;
        if (more) play->cap = cap;
    }
    if (play->arrivals == play->cap)
        play->is_full = true;
    else
        play->arrival[play->arrivals++] = *arrival;
}

struct packet_text {
    char text[PACKET_TEXT_LEN];
};

static struct packet_text packet_text(const struct leat_esp_packet *packet)
{
    struct packet_text t;
    struct leat_text out;
    leat_text_init(&out, t.text, sizeof t.text - 1, NULL, NULL);
    esp_packet_text(packet, &out);
    t.text[out.len] = 0;
    return t;
}

/* ---- one step ------------------------------------------------------------------------------ */

struct at_host {
    struct esp_play *play;
    const struct esp_step *step;
    const char *file;
    uint32_t host;
    char name[ESP_HOST_NAME_LEN];
    struct leat_esp_packet packet; /* the step's, with the host's number */
};

static bool prepare(struct at_host *h)
{
    const struct esp_stage *stage = h->play->stage;
    struct leat_text why = LEAT_TEXT(WHY_LEN);
    stage->name(stage->context, h->host, h->name);
    return esp_words_packet(h->step->word, h->step->words, stage->number(stage->context, h->host),
                            &h->packet, &why) ||
           complain("%s:%u: at %s: %.*s", h->file, h->step->line, h->name, (int)why.len, why.buf);
}

static bool send_one(const struct at_host *h)
{
    const struct esp_stage *stage = h->play->stage;
    h->play->sent++;
    return stage->send(stage->context, h->host, h->step->to ? h->step->to : "root", &h->packet);
}

/* The first arrival from `from` on that is the step's and not consumed; NULL: none. */
static struct esp_arrival *find_arrival(const struct at_host *h, uint32_t from)
{
    struct esp_play *play = h->play;
    while (play->consumed < play->arrivals && play->arrival[play->consumed].is_consumed)
        play->consumed++;
    for (uint32_t i = from > play->consumed ? from : play->consumed; i < h->play->arrivals; i++) {
        struct esp_arrival *a = &h->play->arrival[i];
        if (!a->is_consumed && a->host == h->host &&
            esp_words_match(h->step->word, h->step->words, &h->packet, &a->packet))
            return a;
    }
    return NULL;
}

bool esp_play_run(struct esp_play *play, uint64_t until_ps)
{
    if (!play->stage->run(play->stage->context, until_ps)) return false;
    return !play->is_full ||
           complain("more than %d packets have arrived, expected fewer in one run",
                    ESP_ARRIVALS_MAX);
}

/* Runs until the step's packet has arrived, or the time is over. False after a complaint. */
static bool await(const struct at_host *h, uint64_t until_ps, struct esp_arrival **found)
{
    const struct esp_stage *stage = h->play->stage;
    *found = find_arrival(h, 0);
    while (!*found && !interrupted && stage->now_ps(stage->context) < until_ps) {
        const uint32_t seen = h->play->arrivals;
        if (!esp_play_run(h->play, until_ps)) return false;
        *found = find_arrival(h, seen);
    }
    return true;
}

/* What has arrived at this host instead. */
static const char *instead(const struct at_host *h)
{
    static char text[PACKET_TEXT_LEN + 64];
    uint32_t others = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < h->play->arrivals; i++) {
        const struct esp_arrival *a = &h->play->arrival[i];
        if (a->is_consumed || a->host != h->host) continue;
        others++;
        snprintf(text, sizeof text, "; %u other packet%s came, the last one: %s", others,
                 others > 1 ? "s" : "", packet_text(&a->packet).text);
    }
    return text;
}

/* The step's words, as they were written. */
static const char *words_text(const struct esp_step *s)
{
    static char text[PACKET_TEXT_LEN];
    size_t len = 0;
    text[0] = 0;
    for (unsigned i = 0; i < s->words && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, i ? " %s" : "%s", s->word[i]);
    return text;
}

static bool expect_one(const struct at_host *h, uint64_t until_ps)
{
    struct esp_arrival *found;
    if (!await(h, until_ps, &found)) return false;
    if (found) found->is_consumed = true;
    if (found || interrupted) return true;
    return complain("%s:%u: expected at %s: %s, which did not come%s", h->file, h->step->line,
                    h->name, words_text(h->step), instead(h));
}

static bool be_silent(const struct at_host *h, uint64_t until_ps)
{
    struct esp_arrival *found;
    if (!await(h, until_ps, &found)) return false;
    if (!found) return true;
    return complain("%s:%u: expected silence at %s; there came: %s", h->file, h->step->line,
                    h->name, packet_text(&found->packet).text);
}

static bool wait_until_ps(struct esp_play *play, uint64_t until_ps)
{
    const struct esp_stage *stage = play->stage;
    while (!interrupted && stage->now_ps(stage->context) < until_ps)
        if (!esp_play_run(play, until_ps)) return false;
    return true;
}

static bool perform(struct at_host *h, uint64_t until_ps)
{
    if (!prepare(h)) return false;
    switch (h->step->kind) {
    case ESP_STEP_SEND: return send_one(h);
    case ESP_STEP_EXPECT: return expect_one(h, until_ps);
    case ESP_STEP_SILENCE: return be_silent(h, until_ps);
    case ESP_STEP_WAIT: break;
    }
    return true;
}

bool esp_play_step(struct esp_play *play, const char *file, const struct esp_step *step)
{
    const struct esp_stage *stage = play->stage;
    const uint64_t now = stage->now_ps(stage->context);
    const uint64_t until = leat_time_add(now, step->has_time ? step->time_ps : play->patience_ps);
    struct at_host h = { .play = play, .step = step, .file = file };
    struct esp_cast cast;
    const char *ignored;
    if (step->kind == ESP_STEP_WAIT) return wait_until_ps(play, until);
    stage->find(stage->context, step->host, &cast, &ignored);
    for (uint32_t i = 0; i < cast.count && !interrupted; i++) {
        h.host = cast.first + i;
        if (!perform(&h, until)) return false;
    }
    play->met += step->kind != ESP_STEP_SEND && cast.count > 0;
    return true;
}

/* ---- scripts ------------------------------------------------------------------------------- */

static bool check_step(const struct esp_play *play, const char *file, const struct esp_step *step)
{
    const struct esp_stage *stage = play->stage;
    const char *to = step->to ? step->to : "root", *why = "";
    struct esp_cast cast = { 0, 0 };
    struct at_host h = { .play = (struct esp_play *)play, .step = step, .file = file };
    if (step->kind == ESP_STEP_WAIT) return true;
    if (!stage->find(stage->context, step->host, &cast, &why))
        return complain("%s:%u: host '%s', expected %s", file, step->line, step->host, why);
    if (step->kind == ESP_STEP_SEND && cast.count && !stage->find_target(stage->context, to, &why))
        return complain("%s:%u: to '%s', expected %s", file, step->line, to, why);
    for (uint32_t i = 0; i < cast.count; i++) {
        h.host = cast.first + i;
        if (!prepare(&h)) return false;
    }
    return true;
}

bool esp_play_check(const struct esp_play *play, const struct esp_script *script)
{
    for (uint32_t i = 0; i < script->steps; i++)
        if (!check_step(play, script->file, &script->step[i])) return false;
    return true;
}

/* ---- results ------------------------------------------------------------------------------- */

static void put_fields(const struct leat_esp_packet *packet, struct leat_json *j)
{
    static struct leat_fields fields;
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    size_t len, at;
    if (!j || leat_esp_packet_encode(packet, octets, sizeof octets, &len)) return;
    leat_json_key(j, "fields");
    leat_fields_init_json(&fields, j->text);
    leat_esp_format.show(octets, len, &fields, &at);
    leat_fields_finish(&fields);
}

static void put_arrival(const struct esp_play *play, const struct esp_arrival *a,
                        struct leat_json *j, FILE *text)
{
    char host[ESP_HOST_NAME_LEN];
    play->stage->name(play->stage->context, a->host, host);
    leat_json_object(j, NULL);
    leat_json_string(j, "at_host", host);
    leat_json_string(j, "from_host", a->from);
    leat_json_uint(j, "at_ns", a->at_ps / 1000);
    put_fields(&a->packet, j);
    leat_json_end(j);
    text_print(text, "%12s  %s from %s: %s\n", duration_text(a->at_ps / 1000000 * 1000000), host,
               a->from, packet_text(&a->packet).text);
}

void esp_play_show(const struct esp_play *play, struct leat_json *j, FILE *text)
{
    const struct esp_stage *stage = play->stage;
    const uint64_t now = stage->now_ps(stage->context);
    leat_json_array(j, "arrivals");
    for (uint32_t i = 0; i < play->arrivals; i++)
        put_arrival(play, &play->arrival[i], j, text);
    leat_json_end(j);
    LEAT_JSON_UINTS(j, { "sent", play->sent }, { "arrived", play->arrivals });
    json_fixed(j, "seconds", (double)now / 1e12, 6);
    text_print(text, "sent %" PRIu64 ", arrived %u\n", play->sent, play->arrivals);
    stage->show(stage->context, j, text);
}
