/* leat esp join, census, max, min, sum, average, tree, multicast: end systems on real hosts. */
#include "duration.h"
#include "esp_host.h"
#include "esp_job.h"
#include "esp_live.h"
#include "esp_plan.h"
#include "json_out.h"
#include "leat_siphash.h"
#include "leat_tree.h"
#include "live_guard.h"
#include "number.h"
#include "result_file.h"
#include <inttypes.h>
#include <leat/esp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SERVE_MS = 200, WELCOME_MS = 3000, ANSWER_CAP = 32 };
static const uint64_t ps_per_ns = 1000, ps_per_ms = 1000000000, ps_per_s = 1000000000000;
static const uint64_t hour_ps = UINT64_C(3600000000000000);

static char why[LEAT_ESP_HOST_WHY_LEN];

/* The command line. */
struct command {
    const struct arguments *args;
    const char *word;
    struct leat_esp_host_config host;
    struct leat_keys keys;
    uint64_t members, wait_ps; /* gathered before the query is sent */
    bool json;
};

static int exit_code_of(enum leat_esp_host_end end)
{
    if (end == LEAT_ESP_HOST_OK) return DONE;
    complain("%s", why);
    return end == LEAT_ESP_HOST_WRONG ? WRONG : FAILED;
}

/* ---- the command line --------------------------------------------------------------------- */

/* A number, or a name: then a hash of it. */
static uint64_t group_of(const char *text)
{
    static const uint8_t no_key[LEAT_SIP_KEY_LEN];
    uint64_t number;
    if (leat_tree_number(text, strlen(text), &number)) return number;
    return leat_siphash(no_key, (const uint8_t *)text, strlen(text));
}

/* 0 to 2^64-1, or with a minus sign down to -2^63: its 64 bits. */
static bool read_value(const struct arguments *args, uint64_t *value)
{
    const char *text = argument(args, "--value");
    if (!text) return true;
    const bool minus = *text == '-';
    if (leat_tree_number(text + minus, strlen(text) - minus, value) &&
        !(minus && *value > UINT64_C(1) << 63)) {
        if (minus) *value = 0 - *value;
        return true;
    }
    return misused(args->verb, "--value '%s', expected a whole number, -2^63 to 2^64-1", text);
}

static bool read_command(const struct arguments *args, struct command *a)
{
    uint64_t tau_ps = 0, every_ps = ps_per_s;
    *a = (struct command){ .args = args,
                           .word = args->operand[0],
                           .wait_ps = 3 * ps_per_s,
                           .members = LEAT_ESP_HOST_MEMBERS_MAX,
                           .json = argument(args, "--json") != NULL };
    if (args->operand_count < 2) return misused(args->verb, "expected: %s GROUP", a->word);
    a->host = (struct leat_esp_host_config){ .group = group_of(args->operand[1]),
                                             .bind = argument(args, "--bind"),
                                             .root = argument(args, "--root"),
                                             .via = argument(args, "--via") };
    if (!esp_read_keys(args, &a->keys) || !read_value(args, &a->host.value) ||
        !number_take_within(args, "--tau", ps_per_ms, hour_ps, &tau_ps) ||
        !number_take(args, "--every", &every_ps) || !number_take(args, "--wait", &a->wait_ps) ||
        !number_take_within(args, "--members", 1, LEAT_ESP_HOST_MEMBERS_MAX, &a->members))
        return false;
    a->host.key = a->keys.count ? a->keys.key[0] : NULL;
    a->host.other_key = leat_keys_other(&a->keys);
    a->host.tau_ns = tau_ps / ps_per_ns;
    a->host.join_every_ns = every_ps / ps_per_ns;
    return true;
}

/* Of the copies at branch points. */
static bool read_lifetime(const struct arguments *args, enum leat_esp_announced kind,
                          struct leat_esp_request *r)
{
    uint64_t lifetime_ps = r->lifetime_ms * ps_per_ms;
    if (kind != LEAT_ESP_SERVICE_MULTICAST) return true;
    if (!number_take_within(args, "--for", ps_per_ms, hour_ps, &lifetime_ps)) return false;
    r->lifetime_ms = (uint32_t)(lifetime_ps / ps_per_ms);
    return true;
}

static bool read_request(const struct command *a, enum leat_esp_announced kind,
                         struct leat_esp_request *r)
{
    const struct arguments *args = a->args;
    const bool robust = argument(args, "--robust") != NULL;
    *r = leat_esp_host_root_request(kind, robust);
    r->is_signed = argument(args, "--signed") != NULL;
    return number_take_small(args, robust ? "--robust" : "--rounds", &r->rounds) &&
           number_take_small(args, "--attempts", &r->attempts) &&
           number_take(args, "--settle", &r->settle_ps) && read_lifetime(args, kind, r);
}

/* ---- a member ----------------------------------------------------------------------------- */

static void show_cast(const struct leat_esp_host_member *member)
{
    const uint8_t *text;
    const size_t len = leat_esp_host_member_cast(member, &text);
    print_harmless(text, len);
    printf("\n");
    fflush(stdout);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int serve(struct leat_esp_host_member *member, uint64_t for_ms, uint64_t count)
{
    const uint64_t began_ms = now_ms();
    struct leat_esp_host_member_counts counts;
    uint64_t casts = 0;
    bool warned = false;
    int code = DONE;
    for (uint64_t ms = 0; code == DONE && !interrupted && ms < for_ms && casts < count;
         ms = now_ms() - began_ms) {
        code = exit_code_of(leat_esp_host_member_serve(
            member, for_ms - ms < SERVE_MS ? for_ms - ms : SERVE_MS, why));
        leat_esp_host_member_counts(member, &counts);
        if (counts.casts > casts) show_cast(member);
        casts = counts.casts;
        if (!warned && !counts.welcome && ms >= WELCOME_MS) {
            complain(counts.refused ? "what comes has another key or none, expected the root's "
                                      "--key-file"
                                    : "the root has not answered yet, expected leat esp census or "
                                      "the like there");
            warned = true;
        }
    }
    return code;
}

int esp_join(const struct arguments *args)
{
    struct command a;
    uint64_t for_ps = UINT64_MAX, count = UINT64_MAX;
    if (!read_command(args, &a)) return WRONG;
    if (args->operand_count != 2) return misuse(args->verb, "expected: join GROUP --root ADDRESS");
    if (!a.host.root) return misuse(args->verb, "join needs --root with the address of the root");
    if (!argument(args, "--value")) a.host.value = 1;
    if (!number_take(args, "--for", &for_ps) || !number_take(args, "--count", &count)) return WRONG;
    struct leat_esp_host_member *member;
    int code = exit_code_of(leat_esp_host_member_open(&a.host, &member, why));
    if (code != DONE) return code;
    leat_live_guard(LEAT_LIVE_ADDRESS, NULL);
    warn_if_not_confined_here();
    code = serve(member, for_ps / ps_per_ms, count);
    leat_esp_host_member_close(member);
    return finish(code);
}

/* ---- the root ----------------------------------------------------------------------------- */

/* Opens the root; its members have joined, or the time for it is over. */
static int open_root(const struct command *a, struct leat_esp_host_root **root)
{
    const int code = exit_code_of(leat_esp_host_root_open(&a->host, root, why));
    if (code == DONE)
        leat_esp_host_root_gather(*root, (uint32_t)a->members, a->wait_ps / ps_per_ms);
    return code;
}

/* False after a complaint: with --members all of them are required, otherwise all that would join.
 */
static bool all_are_there(const struct command *a, uint32_t members,
                          const struct leat_esp_host_root_cost *cost)
{
    const bool is_given = argument(a->args, "--members") != NULL;
    if (is_given ? members >= a->members : !cost->in_doubt) return true;
    if (is_given)
        complain("only %u of %" PRIu64 " members have joined within %s", members, a->members,
                 duration_text(a->wait_ps));
    if (cost->in_doubt)
        complain("members may be missing: %" PRIu64 " JOINs were not answered, expected at most "
                 "%d a second; a longer --wait may find them",
                 cost->unanswered, LEAT_ESP_WELCOMES_PER_S);
    return false;
}

static void answer_text(const struct leat_esp_request *request,
                        const struct leat_esp_service_result *r, char text[ANSWER_CAP])
{
    const bool average = request->kind == LEAT_ESP_SERVICE_AVERAGE && r->counted;
    const bool negative = request->is_signed && r->answer >> 63;
    uint64_t number = negative ? 0 - r->answer : r->answer, rest = 0;
    if (average) /* of signed values the sum is one of 64 bits */
        number = leat_esp_part_average(request->is_signed ? 0 : r->answer_high, number,
                                       (uint32_t)r->counted, &rest);
    const int len = snprintf(text, ANSWER_CAP, "%s%" PRIu64, negative ? "-" : "", number);
    if (average)
        snprintf(text + len, ANSWER_CAP - (size_t)len, ".%06" PRIu64, rest * 1000000 / r->counted);
}

static void show(const struct command *a, const struct leat_esp_request *request,
                 const struct leat_esp_service_result *r,
                 const struct leat_esp_host_root_cost *cost)
{
    const bool is_tree = request->kind == LEAT_ESP_SERVICE_TREE;
    char answer[ANSWER_CAP];
    FILE *text = a->json ? NULL : stdout;
    struct json_out out;
    struct leat_json *j = json_open(&out, a->json ? stdout : NULL);
    answer_text(request, r, answer);
    leat_json_string(j, "service", a->word);
    leat_json_uint(j, "members", r->members);
    leat_json_number(j, "answer", r->end == LEAT_ESP_ANSWERED ? answer : "null");
    esp_result_json(j, r);
    LEAT_JSON_UINTS(j, { "packets_sent", cost->sent }, { "packets_received", cost->received },
                    { "refused", cost->refused }, { "forged", cost->forged },
                    { "replayed", cost->replayed }, { "unproven", cost->unproven },
                    { "unanswered", cost->unanswered });
    json_fixed(j, "seconds", (double)cost->took_ns / 1e9, 6);
    json_close(&out, esp_end_status(r->end));
    text_print(text, is_tree ? "%s: %s branch points\n" : "%s %s\n", a->word, answer);
    text_print(text,
               "%u members, %u rounds, %u attempts, %" PRIu64 " packets sent and %" PRIu64
               " received here, %s\n",
               r->members, r->rounds, r->attempts, cost->sent, cost->received,
               duration_text(cost->took_ns / 1000 * 1000 * ps_per_ns));
    if (cost->refused || cost->forged || cost->replayed || cost->unanswered)
        text_print(text,
                   "packets refused: %" PRIu64 "; JOINs forged: %" PRIu64 ", replayed: %" PRIu64
                   ", not answered: %" PRIu64 "\n",
                   cost->refused, cost->forged, cost->replayed, cost->unanswered);
}

/* ---- a tree ------------------------------------------------------------------------------- */

static void put_address(const struct leat_esp_next *next, struct leat_text *out)
{
    char text[ESP_ENDPOINT_TEXT_LEN];
    uint64_t address[2];
    esp_address_read(next->address, address);
    esp_plan_endpoint_text(address, 0, text);
    leat_text_puts(out, text);
}

static void put_node(void *context, uint32_t node, struct leat_text *out)
{
    const struct leat_esp_host_root *root = context;
    const struct leat_esp_map_node *n = &leat_esp_host_root_map(root)->node[node];
    leat_text_puts(out, node ? "router 0x" : "root");
    if (!node) return;
    leat_text_hex_number(out, n->id, 1);
    leat_text_puts(out, " at ");
    put_address(&n->address, out);
}

static void put_member(void *context, uint32_t member, struct leat_text *out)
{
    const struct leat_esp_host_root *root = context;
    leat_text_puts(out, "member ");
    put_address(&leat_esp_host_root_roster(root)->entry[member].address, out);
}

static bool put_tree(struct leat_esp_host_root *root, const char *path, bool is_dot)
{
    const struct esp_tree tree = { .map = leat_esp_host_root_map(root),
                                   .roster = leat_esp_host_root_roster(root),
                                   .context = root,
                                   .put_node = put_node,
                                   .put_member = put_member };
    return esp_tree_write(&tree, path, is_dot);
}

/* ---- queries ------------------------------------------------------------------------------- */

static int query(const struct command *a, struct leat_esp_host_root *root,
                 const struct leat_esp_request *request)
{
    struct leat_esp_service_result result = { 0 };
    struct leat_esp_host_root_cost cost = { 0 };
    const enum leat_esp_host_end end = leat_esp_host_root_query(root, request, &result, &cost, why);
    const char *dot = argument(a->args, "--dot");
    const bool is_tree = request->kind == LEAT_ESP_SERVICE_TREE;
    const bool answered = result.end == LEAT_ESP_ANSWERED; /* maybe not by all, as reported */
    if (answered || (end == LEAT_ESP_HOST_SILENT && a->json)) show(a, request, &result, &cost);
    if (is_tree && dot && end == LEAT_ESP_HOST_OK && !put_tree(root, dot, true)) return FAILED;
    if (!flush_printed()) return FAILED;
    if (is_tree && !a->json && end == LEAT_ESP_HOST_OK && !put_tree(root, NULL, false))
        return FAILED;
    const int code = exit_code_of(end);
    return all_are_there(a, result.members, &cost) || code != DONE ? code : FAILED;
}

int esp_service(const struct arguments *args)
{
    struct command a;
    struct leat_esp_request request, named = { 0 };
    const struct result_name dot = { "--dot", argument(args, "--dot") };
    if (!read_command(args, &a)) return WRONG;
    if (args->operand_count != 2) return misuse(args->verb, "expected: %s GROUP", a.word);
    esp_find_service(a.word, &named);
    if (!read_request(&a, named.kind, &request)) return WRONG; /* before waiting for anybody */
    if (dot.path && !result_names_apart(args->verb, &dot, 1, NULL)) return WRONG;
    struct leat_esp_host_root *root;
    int code = open_root(&a, &root);
    if (code != DONE) return code;
    code = query(&a, root, &request);
    leat_esp_host_root_close(root);
    return finish(code);
}

/* ---- multicast ---------------------------------------------------------------------------- */

static int cast(const struct command *a, struct leat_esp_host_root *root,
                const struct leat_esp_request *request, const char *text)
{
    struct leat_esp_service_result result;
    struct leat_esp_host_root_cost cost;
    uint32_t packets;
    int code = exit_code_of(leat_esp_host_root_query(root, request, &result, &cost, why));
    if (code == DONE)
        code = exit_code_of(leat_esp_host_root_cast(root, (const uint8_t *)text,
                                                    (uint16_t)strlen(text), &packets, why));
    if (code != DONE) return code;
    struct json_out out;
    struct leat_json *j = json_open(&out, a->json ? stdout : NULL);
    leat_json_string(j, "service", "multicast");
    LEAT_JSON_UINTS(j, { "members", result.members }, { "installed", result.answer },
                    { "packets", packets });
    json_close(&out, json_status());
    text_print(a->json ? NULL : stdout,
               "sent to %u members by %u packets; %" PRIu64 " branch points make copies for %s\n",
               result.members, packets, result.answer,
               duration_text(request->lifetime_ms * ps_per_ms));
    return all_are_there(a, result.members, &cost) ? DONE : FAILED;
}

int esp_multicast(const struct arguments *args)
{
    struct command a;
    struct leat_esp_request request;
    if (!read_command(args, &a) || !read_request(&a, LEAT_ESP_SERVICE_MULTICAST, &request))
        return WRONG;
    if (args->operand_count != 3) return misuse(args->verb, "expected: multicast GROUP TEXT");
    if (strlen(args->operand[2]) > LEAT_ESP_PAYLOAD_LEN_MAX)
        return misuse(args->verb, "a text of %zu octets, expected at most %d",
                      strlen(args->operand[2]), LEAT_ESP_PAYLOAD_LEN_MAX);
    if (!a.host.key) return misuse(args->verb, "multicast needs --key-file with the routers' key");
    struct leat_esp_host_root *root;
    int code = open_root(&a, &root);
    if (code != DONE) return code;
    code = cast(&a, root, &request, args->operand[2]);
    leat_esp_host_root_close(root);
    return finish(code);
}
