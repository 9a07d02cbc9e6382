/*
 * Operations of a group (spec/esp.md, "Groups of hosts"). The root counts what arrives at the end
 * of the tree as a router does, but needs no store: it knows the operation.
 *
 *   host --COLLECT--> routers --COLLECT--> root            a packet for each word
 *   host <----------------------RESULT---- root            to each host: words, the next epoch
 *   host --ASK---------------------------> root            it waits, and has sent its words
 *   host <----------------------RESULT---- root            that was lost; or, when all have asked,
 *   host <----------------------AGAIN----- root            in the next epoch: a word was lost
 *   host --SHARE-------------------------> root            a cast, for all: their RESULT
 *
 * RESULT, ASK, AGAIN and SHARE are CASTs without copies. What is left of an operation in the stores
 * is of an epoch that nobody uses again.
 */
#include "esp_driver.h"
#include "esp_gather.h"
#include "esp_limits.h"
#include "esp_octets.h"
#include "esp_service_parts.h"
#include "esp_team.h"
#include <stddef.h>
#include <string.h>

enum kind { RESULT = 1, ASK, AGAIN, SHARE };
enum { KIND_AT = 0, EPOCH_AT = 4, NUMBER_AT = 8, WORDS_AT = 16 };

static const uint64_t ns_per_ms = 1000000;
static const uint64_t epoch_span_ns = 4000000000; /* bindings live for ten seconds, usually */
enum { ASK_MS = 4, ASK_MS_MAX = 64 };

static uint64_t now_ns(void)
{
    return live_now_ns(CLOCK_MONOTONIC);
}

/* ---- packets --------------------------------------------------------------------------------- */

static uint32_t packets_of(const struct leat_esp_team *g)
{
    return g->words ? g->words : 1; /* a barrier folds a word that nobody reads */
}

static uint32_t identity_of(uint32_t op)
{
    return leat_esp_identity(op) & 1;
}

/* Computations of a group are apart, also from those of an earlier epoch. */
static uint32_t chosen_of(const struct leat_esp_team *g, uint32_t identity, uint32_t place)
{
    return (uint32_t)g->id + (g->epoch * 2 + identity) * ESP_TEAM_PLACES + place;
}

static size_t make_collect(const struct leat_esp_team *g, uint32_t place, uint8_t *out)
{
    const enum leat_esp_fold op = leat_esp_gather_fold(g->fold);
    const struct leat_esp_packet packet = {
        .flags = LEAT_ESP_FLAG_X,
        .opcode = LEAT_ESP_COLLECT,
        .op = op,
        .computationId = leat_esp_computation_keyed(g->keys.key[0],
                                                    chosen_of(g, identity_of(op), place)),
        .compValTag = g->id ^ 1, /* no other group's, should computations collide */
        .val = g->own[place],
        .chldCntTag = g->tag,
    };
    size_t len = 0;
    leat_esp_packet_encode(&packet, out, LEAT_ESP_PACKET_LEN_MAX, &len);
    return len;
}

static size_t make_note(struct leat_esp_team *g, enum kind kind, uint64_t number,
                        const uint64_t *word, uint32_t words, uint8_t *out)
{
    struct esp_socket *s = esp_team_socket(g);
    struct leat_esp_management m = { .opcode = LEAT_ESP_CAST };
    size_t len = 0;
    m.cast = (struct leat_esp_cast){ .group = g->id, .serial = number };
    m.cast.payload[KIND_AT] = (uint8_t)kind;
    leat_put_be32(m.cast.payload + EPOCH_AT, g->epoch);
    leat_put_be64(m.cast.payload + NUMBER_AT, number);
    for (uint32_t i = 0; i < words; i++)
        leat_put_be64(m.cast.payload + WORDS_AT + 8 * i, word[i]);
    m.cast.payload_len = (uint16_t)(WORDS_AT + 8 * words);
    leat_esp_management_encode(&m, esp_socket_key(s, m.opcode), out, LEAT_ESP_MANAGEMENT_LEN_MAX,
                               &len);
    return len;
}

/* By the root. */
static void tell_all(struct leat_esp_team *g, enum kind kind, uint64_t number, const uint64_t *word,
                     uint32_t words)
{
    const struct leat_esp_roster *roster = leat_esp_host_root_roster(g->root);
    struct esp_batch batch = { .socket = &g->root->socket };
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    const size_t len = make_note(g, kind, number, word, words, octets);
    for (uint32_t i = 0; i < roster->count; i++)
        esp_batch_add(&batch, &roster->entry[i].address, octets, len);
    esp_batch_flush(&batch);
}

static void tell(struct leat_esp_team *g, const struct leat_esp_next *to, enum kind kind,
                 uint64_t number, const uint64_t *word, uint32_t words)
{
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
    const size_t len = make_note(g, kind, number, word, words, octets);
    esp_socket_send(esp_team_socket(g), to, octets, len);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void take(struct leat_esp_team *g, uint32_t op, uint32_t place, uint64_t value)
{
    struct esp_team_total *t = &g->total[identity_of(op)][place];
    t->value = t->parts++ ? leat_esp_fold(op, t->value, value) : value;
}

static void send_words(struct leat_esp_team *g)
{
    if (!g->member) {
        for (uint32_t i = 0; i < packets_of(g); i++)
            take(g, leat_esp_gather_fold(g->fold), i, g->own[i]);
        return;
    }
    struct esp_batch batch = { .socket = &g->member->socket };
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    for (uint32_t i = 0; i < packets_of(g); i++)
        esp_batch_add(&batch, &g->member->root, octets, make_collect(g, i, octets));
    esp_batch_flush(&batch);
}

/* ---- results --------------------------------------------------------------------------------- */

static void keep(struct leat_esp_team *g, uint64_t number, const uint64_t *word, uint32_t words)
{
    struct esp_team_result *kept = &g->kept[number % ESP_TEAM_KEPT];
    *kept = (struct esp_team_result){ .next = number + 1, .words = words };
    if (words) memcpy(kept->word, word, words * sizeof *word);
}

/* NULL: it is not known, or not any more. */
static const struct esp_team_result *find_result(const struct leat_esp_team *g, uint64_t number)
{
    const struct esp_team_result *kept = &g->kept[number % ESP_TEAM_KEPT];
    return kept->next == number + 1 ? kept : NULL;
}

static void publish(struct leat_esp_team *g, uint64_t number, const uint64_t *word, uint32_t words)
{
    keep(g, number, word, words);
    tell_all(g, RESULT, number, word, words);
}

/* ---- starting and ending --------------------------------------------------------------------- */

static void begin(struct leat_esp_team *g, uint64_t *word, uint32_t words)
{
    g->word = word;
    g->words = words;
    g->own[0] = 0;
    if (words) memcpy(g->own, word, words * sizeof *word);
    g->is_entered = true;
    g->entered_ns = now_ns();
    g->ask_after_ns = ASK_MS * ns_per_ms;
    g->ask_ns = g->entered_ns + g->ask_after_ns;
}

void leat_esp_team_enter(struct leat_esp_team *g, enum leat_port_fold fold, uint64_t *word,
                         uint32_t words)
{
    begin(g, word, words);
    g->is_cast = g->is_sender = false;
    g->fold = fold;
    send_words(g);
}

void leat_esp_team_cast(struct leat_esp_team *g, bool is_sender, uint64_t *word, uint32_t words)
{
    begin(g, word, words);
    g->is_cast = true;
    g->is_sender = is_sender;
    if (is_sender && !g->member) publish(g, g->number, g->own, words);
    if (is_sender && g->member) tell(g, &g->member->root, SHARE, g->number, g->own, words);
}

static void end_if_known(struct leat_esp_team *g)
{
    const struct esp_team_result *result = find_result(g, g->number);
    if (!result) return;
    const uint32_t words = result->words < g->words ? result->words : g->words;
    if (words) memcpy(g->word, result->word, words * sizeof *g->word);
    g->is_entered = false;
    g->number++;
}

/* ---- the root -------------------------------------------------------------------------------- */

static void forget_parts(struct leat_esp_team *g)
{
    memset(g->total, 0, sizeof g->total);
    memset(g->asks, 0, g->members);
    g->asking = 0;
}

static void break_team(struct leat_esp_team *g)
{
    g->is_broken = true;
    live_because(g->why,
                 "an ESP router has stopped, has forgotten this group, or has no room for its "
                 "words: leat esp status there");
}

/* The total of a child of the root; or a packet that a router above it could not fold. */
static void on_collect(struct leat_esp_team *g, const struct leat_esp_words *w)
{
    const uint32_t op = (uint32_t)(w->operand[3] >> 32);
    const uint32_t at = (uint32_t)(w->computation >> 32) - chosen_of(g, 0, 0);
    if (w->opcode != LEAT_ESP_COLLECT || w->operand[0] != (g->id ^ 1) ||
        at >= 2 * ESP_TEAM_PLACES || !leat_esp_computation_is_keyed(g->keys.key[0], w->computation))
        return; /* of an earlier epoch, or of others */
    if (w->control & LEAT_ESP_FLAG_E || w->operand[2] != g->tag)
        break_team(g);
    else if (at / ESP_TEAM_PLACES == identity_of(op))
        take(g, op, at % ESP_TEAM_PLACES, w->operand[1]);
}

/* Of a fold: are all words here? */
static void finish(struct leat_esp_team *g)
{
    const uint64_t now = now_ns();
    const uint32_t identity = identity_of(leat_esp_gather_fold(g->fold));
    uint64_t word[LEAT_ESP_TEAM_WORDS_MAX];
    for (uint32_t i = 0; i < packets_of(g); i++)
        if (g->total[identity][i].parts < g->children + 1) return;
    for (uint32_t i = 0; i < g->words; i++)
        word[i] = g->total[identity][i].value;
    if (now - g->epoch_ns > epoch_span_ns) {
        g->epoch_ns = now;
        g->epoch++;
    }
    publish(g, g->number, word, g->words);
    forget_parts(g);
}

/* All hosts have sent their words, and the total is not here. */
static void start_again(struct leat_esp_team *g)
{
    forget_parts(g);
    g->epoch++;
    g->epoch_ns = now_ns();
    g->counts.repeated++;
    tell_all(g, AGAIN, g->number, NULL, 0);
    send_words(g);
}

static void on_ask(struct leat_esp_team *g, const struct leat_esp_next *from, uint64_t number,
                   uint32_t epoch)
{
    const struct leat_esp_roster *roster = leat_esp_host_root_roster(g->root);
    const struct esp_team_result *result = find_result(g, number);
    g->counts.asked++;
    if (result) tell(g, from, RESULT, number, result->word, result->words);
    if (result || number != g->number) return;
    if (epoch != g->epoch) {
        tell(g, from, AGAIN, number, NULL, 0);
        return;
    }
    const struct leat_esp_roster_entry *entry = leat_esp_roster_find(roster, from);
    const ptrdiff_t i = entry ? entry - roster->entry : LEAT_ESP_TEAM_MEMBERS_MAX;
    if (i < g->members && !g->asks[i]) {
        g->asks[i] = 1;
        g->asking++;
    }
}

static void on_share(struct leat_esp_team *g, const struct leat_esp_next *from, uint64_t number,
                     const uint64_t *word, uint32_t words)
{
    if (find_result(g, number))
        tell(g, from, RESULT, number, word, words);
    else if (number < g->number + ESP_TEAM_KEPT && number + ESP_TEAM_KEPT > g->number)
        publish(g, number, word, words);
}

/* Its entries in the routers end an hour after they were installed. */
static void renew(struct leat_esp_team *g)
{
    struct leat_esp_post post;
    struct leat_esp_service *engine = &g->root->engine;
    if (now_ns() < g->renew_ns) return;
    g->renew_ns += ns_per_ms * LEAT_ESP_DUPLICATE_MS_MAX / 8; /* some may be lost */
    leat_esp_service_renew(engine, esp_socket_now(), LEAT_ESP_DUPLICATE_MS_MAX);
    while (leat_esp_service_install(engine, &post))
        esp_socket_post(&g->root->socket, &post.to, &post);
}

/* ---- both ------------------------------------------------------------------------------------ */

static void on_result(struct leat_esp_team *g, uint64_t number, uint32_t epoch,
                      const uint64_t *word, uint32_t words)
{
    if (epoch > g->epoch) g->epoch = epoch;
    if (number >= g->number && number < g->number + ESP_TEAM_KEPT) keep(g, number, word, words);
}

static void on_again(struct leat_esp_team *g, uint64_t number, uint32_t epoch)
{
    if (!g->is_entered || g->is_cast || number != g->number || epoch == g->epoch) return;
    g->epoch = epoch;
    g->counts.repeated++;
    send_words(g);
}

static void on_note(struct leat_esp_team *g, const struct leat_esp_next *from,
                    const struct leat_esp_cast *cast)
{
    const uint8_t *p = cast->payload;
    uint64_t word[LEAT_ESP_TEAM_WORDS_MAX];
    if (cast->group != g->id || cast->payload_len < WORDS_AT ||
        cast->payload_len > WORDS_AT + sizeof word)
        return;
    const uint32_t epoch = leat_get_be32(p + EPOCH_AT), kind = p[KIND_AT];
    const uint32_t words = (uint32_t)(cast->payload_len - WORDS_AT) / 8;
    const uint64_t number = leat_get_be64(p + NUMBER_AT);
    for (uint32_t i = 0; i < words; i++)
        word[i] = leat_get_be64(p + WORDS_AT + 8 * i);
    if (g->member && kind == RESULT) on_result(g, number, epoch, word, words);
    if (g->member && kind == AGAIN) on_again(g, number, epoch);
    if (!g->member && kind == ASK) on_ask(g, from, number, epoch);
    if (!g->member && kind == SHARE) on_share(g, from, number, word, words);
}

static void on_letter(struct leat_esp_team *g, const struct esp_letter *letter)
{
    struct leat_esp_words words = { 0 };
    struct leat_esp_management m;
    if (letter->len > LEAT_ESP_OPCODE_AT &&
        letter->octets[LEAT_ESP_OPCODE_AT] < LEAT_ESP_MANAGEMENT_FIRST) {
        if (!g->member && leat_esp_octets_read(letter->octets, letter->octets + letter->len,
                                               &words) == LEAT_ESP_FLAW_NONE)
            on_collect(g, &words);
    } else if (esp_socket_decode(esp_team_socket(g), letter, &m) && m.opcode == LEAT_ESP_CAST) {
        on_note(g, &letter->from, &m.cast);
    }
}

static void ask(struct leat_esp_team *g)
{
    if (now_ns() < g->ask_ns) return;
    if (g->ask_after_ns < ASK_MS_MAX * ns_per_ms) g->ask_after_ns *= 2;
    g->ask_ns = now_ns() + g->ask_after_ns;
    g->counts.asked++;
    if (g->is_sender)
        tell(g, &g->member->root, SHARE, g->number, g->own, g->words);
    else
        tell(g, &g->member->root, ASK, g->number, NULL, 0);
}

static enum leat_esp_team_state doubt(struct leat_esp_team *g)
{
    if (now_ns() - g->entered_ns < g->patience_ns) return LEAT_ESP_TEAM_WORKS;
    live_because(g->why,
                 "the ESP routers have not carried out a call in time: packets are lost, or "
                 "a router is not there any more");
    return LEAT_ESP_TEAM_DOUBTS;
}

enum leat_esp_team_state leat_esp_team_step(struct leat_esp_team *g)
{
    struct esp_letter letter;
    for (int i = 0; i < ESP_LETTERS_AT_ONCE && esp_socket_receive(esp_team_socket(g), &letter); i++)
        on_letter(g, &letter);
    if (!g->member) {
        const bool is_fold = g->is_entered && !g->is_cast;
        renew(g);
        if (is_fold) finish(g);
        if (is_fold && !find_result(g, g->number) && g->asking == g->members) start_again(g);
    }
    if (g->is_entered) end_if_known(g);
    if (g->is_broken) return LEAT_ESP_TEAM_BROKEN;
    if (!g->is_entered) return LEAT_ESP_TEAM_OVER;
    if (g->member) ask(g);
    return doubt(g);
}

void leat_esp_team_wait(struct leat_esp_team *g, uint64_t timeout_us)
{
    live_wait(esp_team_socket(g)->fd, timeout_us * 1000);
}

const char *leat_esp_team_why(const struct leat_esp_team *g)
{
    return g->why;
}

void leat_esp_team_count(const struct leat_esp_team *g, struct leat_esp_team_counts *out)
{
    const struct esp_socket *s = g->member ? &g->member->socket : g->root ? &g->root->socket : NULL;
    *out = g->counts;
    out->sent = s ? s->sent : 0;
    out->received = s ? s->received : 0;
}
