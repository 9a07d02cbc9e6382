/* The root of a group over a socket: the engine of esp_service.h, its packets and its clock. */
#include "esp_driver.h"
#include "esp_host.h"
#include "esp_octets.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const leat_time ps_per_ns = 1000, ps_per_ms = 1000000000;
static const uint64_t tau_default_ns = 10000000000;

/* Room for all members as children of the root's own store, in the parts of several attempts. */
enum { OWN_SLOTS = 24 * LEAT_ESP_HOST_MEMBERS_MAX };

enum leat_esp_host_end leat_esp_host_root_open(const struct leat_esp_host_config *config,
                                               struct leat_esp_host_root **out, char *why)
{
    struct leat_esp_host_root *r = calloc(1, sizeof *r);
    const uint64_t tau_ns = config->tau_ns ? config->tau_ns : tau_default_ns;
    *why = 0;
    *out = NULL;
    if (!r) return live_because(why, "no memory"), LEAT_ESP_HOST_FAILED;
    r->socket.fd = -1;
    leat_put_be64(r->challenge_key, esp_socket_draw());
    leat_put_be64(r->challenge_key + 8, esp_socket_draw());
    const struct leat_esp_service_config engine = {
        .group = config->group,
        .node = { esp_socket_draw(), esp_socket_draw(), tau_ns * ps_per_ns },
        .seed = esp_socket_draw(),
        .members_max = LEAT_ESP_HOST_MEMBERS_MAX,
        .nodes_max = LEAT_ESP_HOST_NODES_MAX,
        .own_groups = leat_esp_groups_for(OWN_SLOTS),
        /* It increases from one root to the next: the date advances while no root runs. */
        .serial = live_now_ns(CLOCK_REALTIME) / 1000,
        .welcomes = true,
        .challenge_key = config->key ? r->challenge_key : NULL,
        .computation_key = config->key ? r->socket.keys.key[0] : NULL,
    };
    r->memory = malloc(leat_esp_service_footprint(&engine));
    enum leat_esp_host_end end = LEAT_ESP_HOST_FAILED;
    if (r->memory)
        end = esp_socket_open(&r->socket, config, why);
    else
        live_because(why, "no memory");
    if (end == LEAT_ESP_HOST_OK) {
        leat_esp_service_init(&r->engine, &engine, r->memory);
        *out = r;
    } else {
        leat_esp_host_root_close(r);
    }
    return end;
}

void leat_esp_host_root_close(struct leat_esp_host_root *r)
{
    if (!r) return;
    esp_socket_close(&r->socket);
    free(r->memory);
    explicit_bzero(r->challenge_key, sizeof r->challenge_key);
    free(r);
}

/* ---- packets ------------------------------------------------------------------------------ */

static void on_instruction(struct leat_esp_host_root *r)
{
    struct leat_esp_words words = { 0 };
    const uint8_t *octets = r->letter.octets;
    if (leat_esp_octets_read(octets, octets + r->letter.len, &words) == LEAT_ESP_FLAW_NONE)
        leat_esp_service_receive(&r->engine, esp_socket_now(), &words);
}

static void on_letter(struct leat_esp_host_root *r)
{
    if (r->letter.len > LEAT_ESP_OPCODE_AT &&
        r->letter.octets[LEAT_ESP_OPCODE_AT] < LEAT_ESP_MANAGEMENT_FIRST) {
        on_instruction(r);
        return;
    }
    if (!esp_socket_decode(&r->socket, &r->letter, &r->message)) {
        r->refused++;
        return;
    }
    if (r->message.opcode == LEAT_ESP_JOIN)
        leat_esp_service_join(&r->engine, esp_socket_now(), &r->letter.from, &r->message.join);
    if (r->message.opcode == LEAT_ESP_REPLY) {
        r->letter.from.port = LEAT_ESP_UDP_PORT; /* routers answer from another port */
        leat_esp_service_reply(&r->engine, &r->letter.from, r->message.computationId,
                               &r->message.reply);
    }
    if (r->message.opcode == LEAT_ESP_INSTALLED)
        leat_esp_service_installed(&r->engine, &r->message.installed);
}

/* Waits until a packet is due or arrives, handles arrivals, then sends what is due; false:
 * interrupted. (In this order: what ends the service must not be delayed.) */
static bool serve(struct leat_esp_host_root *r, leat_time until)
{
    struct leat_esp_post post;
    const leat_time wake = leat_esp_service_wake_at(&r->engine);
    if (!esp_socket_wait(&r->socket, wake < until ? wake : until) && errno == EINTR) return false;
    for (int i = 0; i < ESP_LETTERS_AT_ONCE && esp_socket_receive(&r->socket, &r->letter); i++) {
        on_letter(r);
        /* WELCOMEs are sent first, and at once: the engine keeps few of them, and in a keyed group
         * nobody becomes a member without one. */
        if (r->engine.welcomes && leat_esp_service_next(&r->engine, esp_socket_now(), &post))
            esp_socket_post(&r->socket, &post.to, &post);
    }
    while (leat_esp_service_next(&r->engine, esp_socket_now(), &post)) {
        /* Queries are for the routers on the route, which watch this port only. */
        if (post.opcode == LEAT_ESP_QUERY) post.to.port = LEAT_ESP_UDP_PORT;
        esp_socket_post(&r->socket, &post.to, &post);
    }
    return true;
}

/* Members that have left or are silent do not count: nobody would query them. */
static uint32_t present(struct leat_esp_host_root *r)
{
    leat_esp_roster_expire(&r->engine.roster, esp_socket_now());
    return r->engine.roster.count;
}

uint32_t leat_esp_host_root_gather(struct leat_esp_host_root *r, uint32_t members, uint64_t for_ms)
{
    const leat_time until = esp_socket_now() + for_ms * ps_per_ms;
    while ((r->engine.roster.count < members || present(r) < members) && esp_socket_now() < until &&
           serve(r, until)) {
    }
    return present(r);
}

/* ---- asking ------------------------------------------------------------------------------- */

struct leat_esp_request leat_esp_host_root_request(enum leat_esp_announced kind, bool robust)
{
    const bool again = robust || kind == LEAT_ESP_SERVICE_TREE ||
                       kind == LEAT_ESP_SERVICE_MULTICAST;
    return (struct leat_esp_request){ .kind = kind,
                                      .robust = robust,
                                      .value_bits = LEAT_ESP_VALUE_BITS,
                                      .rounds = again ? LEAT_ESP_ROUNDS_DEFAULT : 1,
                                      .attempts = 4,
                                      .copies = 3,
                                      .rounds_max = robust ? LEAT_ESP_ROUNDS_MAX : 0,
                                      .copies_max = LEAT_ESP_ANNOUNCEMENTS_MAX,
                                      .settle_ps = 100 * ps_per_ms,
                                      .gap_ps = 20 * ps_per_ms,
                                      .pace_ps = ps_per_ms / 50,
                                      .lifetime_ms = 60000 };
}

static void say_unplaced(const struct leat_esp_host_root *root, char *why)
{
    const struct leat_esp_service_result *r = &root->engine.result;
    if (root->engine.map.is_full)
        live_because(why,
                     "no whole tree: there are more routers than a root has room for, expected at "
                     "most %d",
                     LEAT_ESP_HOST_NODES_MAX - 1);
    else if (r->errors)
        live_because(why,
                     "no whole tree: the route of %u of %u members is not known; %llu packets came "
                     "with E, expected routers with more room (leat esp status there)",
                     r->unplaced, r->members, (unsigned long long)r->errors);
    else
        live_because(why, "no whole tree: the route of %u of %u members is not known%s",
                     r->unplaced, r->members,
                     root->socket.keys.count ? "" : ", expected --key-file with the routers' key");
}

static void say_missing(const struct leat_esp_host_root *root,
                        const struct leat_esp_request *request, char *why)
{
    const struct leat_esp_service_result *r = &root->engine.result;
    const bool maps = request->kind == LEAT_ESP_SERVICE_TREE ||
                      request->kind == LEAT_ESP_SERVICE_MULTICAST;
    if (r->end == LEAT_ESP_ANSWERED)
        live_because(
            why,
            "%llu of %u members are in the answer, expected each once; --robust asks again "
            "where packets are lost or doubled",
            (unsigned long long)r->counted, r->members);
    else if (maps && r->uninstalled)
        live_because(why,
                     "%u branch points have no duplicate, expected running routers with this key",
                     r->uninstalled);
    else if (maps && r->unplaced)
        say_unplaced(root, why);
    else if (!r->received)
        live_because(why,
                     "no answer in time: %u members were asked in %u attempts and nothing came, "
                     "expected members with this key, and routers that let pass what they send",
                     r->members, r->attempts);
    else if (r->end == LEAT_ESP_VOID)
        live_because(why,
                     "no answer: %u of %u attempts were void, the last among them; %llu packets "
                     "came with E",
                     r->voids, r->attempts, (unsigned long long)r->errors);
    else
        live_because(why,
                     "no answer in time: of %u branches at the root %u are missing in the last of "
                     "%u attempts; %u members were asked, %llu packets came, %llu of them with E",
                     r->branches, r->branches_missing, r->attempts, r->members,
                     (unsigned long long)r->received, (unsigned long long)r->errors);
}

/* The members in an extreme are unknown, and those in a tree are what the tree shows. */
static bool is_of_all(const struct leat_esp_request *request,
                      const struct leat_esp_service_result *r)
{
    const bool counts = request->kind == LEAT_ESP_SERVICE_CENSUS ||
                        request->kind == LEAT_ESP_SERVICE_SUM ||
                        request->kind == LEAT_ESP_SERVICE_AVERAGE;
    return !counts || r->counted == r->members;
}

enum leat_esp_host_end leat_esp_host_root_query(struct leat_esp_host_root *r,
                                                const struct leat_esp_request *request,
                                                struct leat_esp_service_result *result,
                                                struct leat_esp_host_root_cost *cost, char *why)
{
    struct leat_text text;
    const leat_time began = esp_socket_now();
    const uint64_t sent = r->socket.sent, received = r->socket.received;
    *why = 0;
    leat_text_init(&text, why, LEAT_ESP_HOST_WHY_LEN - 1, NULL, NULL);
    if (leat_esp_service_begin(&r->engine, began, request, &text)) {
        const size_t len = text.len < LEAT_ESP_HOST_WHY_LEN ? text.len : LEAT_ESP_HOST_WHY_LEN - 1;
        why[len] = 0;
        if (r->refused && !r->engine.roster.count)
            snprintf(why + len, LEAT_ESP_HOST_WHY_LEN - len,
                     "; %llu packets came with another key or none",
                     (unsigned long long)r->refused);
        return LEAT_ESP_HOST_WRONG;
    }
    while (r->engine.state != LEAT_ESP_SERVICE_ENDED)
        if (!serve(r, LEAT_NEVER - 1)) {
            live_because(why, "interrupted");
            return LEAT_ESP_HOST_FAILED;
        }
    *result = r->engine.result;
    *cost = (struct leat_esp_host_root_cost){ .sent = r->socket.sent - sent,
                                              .received = r->socket.received - received,
                                              .took_ns = (esp_socket_now() - began) / ps_per_ns,
                                              .refused = r->refused + r->engine.refused,
                                              .forged = r->engine.forged,
                                              .replayed = r->engine.replayed,
                                              .unproven = r->engine.unproven,
                                              .unanswered = r->engine.unanswered,
                                              .in_doubt = r->engine.doubt_until > began };
    if (result->end == LEAT_ESP_ANSWERED && is_of_all(request, result)) return LEAT_ESP_HOST_OK;
    say_missing(r, request, why);
    return LEAT_ESP_HOST_SILENT;
}

const struct leat_esp_map *leat_esp_host_root_map(const struct leat_esp_host_root *r)
{
    return &r->engine.map;
}

const struct leat_esp_roster *leat_esp_host_root_roster(const struct leat_esp_host_root *r)
{
    return &r->engine.roster;
}
