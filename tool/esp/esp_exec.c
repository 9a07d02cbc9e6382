/* leat esp send, exec: packets of one's own, over simulated routers or from this host. */
#include "esp_exec.h"
#include "duration.h"
#include "esp_play.h"
#include "number.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t patience_default_ps = 3000000000000, every_default_ps = 1000000000000;

/* A stage and who plays on it. */
struct run {
    const struct arguments *args;
    struct esp_stage stage;
    struct esp_play play;
    const char *player; /* on this host; NULL: simulated */
};

/* Who sends: this host, or the first member. */
static const char *sender(const struct run *r)
{
    return r->player ? r->player : "member.0";
}

static const char *const networks = "--tree --graph --fabric";
static const char *const simulated = "--tree --graph --fabric --members --at-router --loss "
                                     "--duplicate --reorder --delay --seed --tau";
static const char *const live = "--to --host --play --bind";

/* ---- stages -------------------------------------------------------------------------------- */

static bool open_stage(struct run *r, const char *player, int *code)
{
    r->player = player;
    return player ? esp_stage_live_open(r->args, player, &r->play, &r->stage, code)
                  : esp_stage_sim_open(r->args, &r->play, &r->stage, code);
}

static void close_run(struct run *r)
{
    if (r->player)
        esp_stage_live_close(&r->stage);
    else
        esp_stage_sim_close(&r->stage);
    free(r->play.arrival);
}

/* Options of the other kind of stage are refused. */
static bool check_options(const struct arguments *args, bool *is_simulated)
{
    *is_simulated = argument_in(args, networks) != NULL;
    const char *other = argument_in(args, *is_simulated ? live : simulated);
    if (!other) return true;
    return misused(args->verb, "%s does not go with %s, expected %s", other,
                   *is_simulated ? argument_in(args, networks) : "packets from this host",
                   *is_simulated ? "simulated routers without it"
                                 : "one of --tree D,F, --graph FILE and --fabric NAME");
}

static int show(const struct run *r, int code, const char *file, uint32_t steps)
{
    FILE *text = argument(r->args, "--json") ? NULL : stdout;
    struct json_out out;
    struct leat_json *j = json_open(&out, text ? NULL : stdout);
    if (file) {
        leat_json_string(j, "file", file);
        LEAT_JSON_UINTS(j, { "steps", steps }, { "met", r->play.met });
    }
    esp_play_show(&r->play, j, text);
    if (file && code == DONE && !interrupted)
        text_print(text, "%s: %u steps, %u expectations met\n", file, steps, r->play.met);
    json_close(&out, code == DONE ? json_status() : "failed");
    return finish(code);
}

/* ---- exec ---------------------------------------------------------------------------------- */

/* The host that this one plays: --play, or the only one of the script that does anything. */
static const char *player_of(const struct arguments *args, const struct esp_script *script)
{
    const char *player = argument(args, "--play");
    for (uint32_t i = 0; i < script->steps && !argument(args, "--play"); i++) {
        const char *host = script->step[i].host;
        if (!host) continue;
        if (player && strcmp(player, host) != 0) {
            complain("%s:%u: '%s' and '%s' are two hosts, expected --play with the one that this "
                     "host is",
                     script->file, script->step[i].line, player, host);
            return NULL;
        }
        player = host;
    }
    return player ? player : "root";
}

static int perform(struct run *r, const struct esp_script *script)
{
    if (!esp_play_check(&r->play, script)) return WRONG;
    int code = DONE;
    for (uint32_t i = 0; i < script->steps && code == DONE && !interrupted; i++)
        if (!esp_play_step(&r->play, script->file, &script->step[i])) code = FAILED;
    return show(r, code, script->file, script->steps);
}

static int exec_script(struct run *r, const struct esp_script *script, bool is_simulated)
{
    int code = WRONG;
    const char *player = is_simulated ? NULL : player_of(r->args, script);
    if (!is_simulated && !player) return WRONG;
    if (open_stage(r, player, &code)) code = perform(r, script);
    close_run(r);
    return code;
}

int esp_exec(const struct arguments *args)
{
    struct run r = { .args = args, .play.patience_ps = patience_default_ps };
    struct esp_script script;
    bool is_simulated;
    if (args->operand_count != 2) return misuse(args->verb, "expected: exec FILE");
    if (!check_options(args, &is_simulated) || !number_take(args, "--wait", &r.play.patience_ps))
        return WRONG;
    const bool read = esp_script_read(args->operand[1], &script);
    const int code = read ? exec_script(&r, &script, is_simulated) : WRONG;
    esp_script_free(&script);
    return read ? code : finish(WRONG);
}

/* ---- send ---------------------------------------------------------------------------------- */

/* The steps that one packet makes: it is sent, and comes back if it has R. */
struct volley {
    struct esp_step send, wait;
    bool returns;
    uint64_t count, every_ps;
    struct leat_esp_packet packet;
    uint32_t looked; /* at so many arrivals */
    uint64_t back;   /* packets among them */
};

static bool read_volley(const struct run *r, struct volley *v)
{
    const struct arguments *args = r->args;
    struct leat_text why = LEAT_TEXT(512);
    const int words = args->operand_count - 1;
    *v = (struct volley){ .send = { .kind = ESP_STEP_SEND, .host = (char *)sender(r) },
                          .wait = { .kind = ESP_STEP_WAIT, .has_time = true },
                          .count = 1,
                          .every_ps = every_default_ps };
    if (!number_take(args, "--count", &v->count) || !number_take(args, "--every", &v->every_ps))
        return false;
    if (words < 1 || words > ESP_STEP_WORDS_MAX)
        return misused(args->verb, "expected: send FIELD=VALUE..., at most %d of them",
                       ESP_STEP_WORDS_MAX);
    v->send.words = (unsigned)words;
    memcpy(v->send.word, args->operand + 1, (size_t)words * sizeof *v->send.word);
    if (!esp_words_packet(v->send.word, v->send.words, 0, &v->packet, &why))
        return misused(args->verb, "%.*s", (int)why.len, why.buf);
    v->returns = v->packet.flags & LEAT_ESP_FLAG_R;
    return true;
}

/* Counts those of the volley that are back at the sender: are all? */
static bool are_back(const struct run *r, struct volley *v)
{
    struct esp_cast cast = { 0, 0 };
    const char *ignored;
    r->stage.find(r->stage.context, sender(r), &cast, &ignored);
    for (; v->looked < r->play.arrivals; v->looked++) {
        const struct esp_arrival *a = &r->play.arrival[v->looked];
        v->back += a->host == cast.first && a->packet.opcode == v->packet.opcode &&
                   a->packet.computationId == v->packet.computationId &&
                   !(a->packet.flags & LEAT_ESP_FLAG_R);
    }
    return v->back >= v->count;
}

/* Waits until as many packets have come back as were sent, or the time is over. */
static bool await_return(struct run *r, struct volley *v)
{
    const struct esp_stage *stage = &r->stage;
    const uint64_t until = stage->now_ps(stage->context) + r->play.patience_ps;
    while (!are_back(r, v) && !interrupted && stage->now_ps(stage->context) < until)
        if (!esp_play_run(&r->play, until)) return false;
    return are_back(r, v) || interrupted ||
           complain("%" PRIu64 " of %" PRIu64 " packets did not come back in %s: a router has "
                    "stopped them, or they are lost",
                    v->count - v->back, v->count, duration_text(r->play.patience_ps));
}

static int fire(struct run *r, struct volley *v)
{
    const struct esp_script script = { "send", &v->send, 1, 1 };
    if (!esp_play_check(&r->play, &script)) return WRONG;
    int code = DONE;
    v->wait.time_ps = v->every_ps;
    for (uint64_t i = 0; i < v->count && code == DONE && !interrupted; i++) {
        if (i && !esp_play_step(&r->play, "send", &v->wait)) code = FAILED;
        if (code == DONE && !esp_play_step(&r->play, "send", &v->send)) code = FAILED;
    }
    v->wait.time_ps = r->play.patience_ps;
    if (code == DONE && v->returns && !await_return(r, v)) code = FAILED;
    if (code == DONE && !v->returns && (!r->player || argument(r->args, "--wait")) &&
        !esp_play_step(&r->play, "send", &v->wait))
        code = FAILED;
    return show(r, code, NULL, 0);
}

int esp_send(const struct arguments *args)
{
    struct run r = { .args = args, .play.patience_ps = patience_default_ps };
    struct volley v;
    bool is_simulated;
    int code = WRONG;
    if (!check_options(args, &is_simulated) || !number_take(args, "--wait", &r.play.patience_ps))
        return WRONG;
    if (!is_simulated && !argument(args, "--to"))
        return misuse(args->verb, "send needs --to with an address, or routers to simulate");
    if (open_stage(&r, is_simulated ? NULL : "this host", &code)) {
        code = WRONG;
        if (read_volley(&r, &v)) code = fire(&r, &v);
    }
    close_run(&r);
    return code;
}
