/* leat pktway send and receive on live networks. */
#include "leat_tree.h"
#include "number.h"
#include "packetway_record.h"
#include "pktway_live_parts.h"
#include "pktway_shared.h"
#include "result_file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FOUND_MS = 1000, /* nodes of a name are asked for again after this time */
    CHECK_MS = 1000, /* and a way is checked */
    MORE_MS = 100,   /* for the rest of an answer, or an ERR */
    ECHO_MIN = 8,
    TURN_MS = 100,
    LINE_HEAD = 96, /* of a line for those who receive, before its octets */
};
enum { RANK_NATIVE, RANK_ROUTES, RANK_ADDRESS = 1 << 17, RANK_NONE };
static const uint64_t ps_per_ms = 1000000000, ps_per_us = 1000000;

/* ---- destinations --------------------------------------------------------------------------- */

static bool is_wanted(const char *word)
{
    return strchr(word, '=') != NULL;
}

bool pktway_live_mail_word(const char *word)
{
    uint8_t octets[512];
    uint32_t address;
    struct leat_packetway_build build;
    leat_packetway_build_init(&build, octets, sizeof octets);
    return is_wanted(word) ? pktway_wanted_read(word, &build)
                           : pktway_destination_read(word, &address);
}

static bool is_own(const struct pktway_homes *homes, uint32_t address)
{
    for (uint32_t i = 0; i < homes->count; i++)
        if (leat_packetway_node_address(homes->node[i]) == address) return true;
    return false;
}

/* From each node of this process to this address; what finds no room is counted. */
static void add(const struct pktway_homes *homes, struct pktway_live_way *way, uint32_t dt)
{
    if (is_own(homes, dt)) return;
    for (uint32_t i = 0; i < way->pairs; i++)
        if (way->pair[i].dt == dt) return;
    if (way->pairs + homes->count > PKTWAY_PAIRS_MAX) {
        way->left_out++;
        return;
    }
    for (uint32_t i = 0; i < homes->count; i++)
        way->pair[way->pairs++] = (struct pktway_live_pair){ i, dt, RANK_NONE };
}

static void add_answer(const struct pktway_question *k, struct pktway_live_way *way)
{
    struct leat_packetway_records records = leat_packetway_message_records(&k->event.message);
    struct leat_packetway_record record;
    while (leat_packetway_records_next(&records, &record)) {
        const struct leat_packetway_address a = leat_packetway_record_address(&record);
        if (a.at == LEAT_PACKETWAY_AT_SINGLE) add(k->homes, way, a.low);
    }
}

/* Asks one half-router which nodes match. True: it has answered. */
static bool tell(struct pktway_question *k, struct pktway_live_way *way, uint32_t peer,
                 const uint8_t *records, size_t len)
{
    bool answered = false;
    if (leat_packetway_node_query(k->node, peer, records, len, k->why)) return false;
    leat_time until = packetway_now() + k->q->timeout_ms * ps_per_ms;
    while (pktway_live_receive(k, until)) {
        if (k->event.peer != peer) continue;
        answered |= k->event.kind == LEAT_PACKETWAY_EVENT_INFO ||
                    k->event.kind == LEAT_PACKETWAY_EVENT_ERR;
        if (k->event.kind == LEAT_PACKETWAY_EVENT_ERR) break;
        if (k->event.kind != LEAT_PACKETWAY_EVENT_INFO) continue;
        add_answer(k, way);
        until = packetway_now() + MORE_MS * ps_per_ms; /* an answer may come in pieces */
    }
    leat_packetway_node_cancel(k->node, peer);
    return answered;
}

/* The half-routers of each SAN, one after the other, until one knows a node. */
static void find_wanted(struct pktway_question *k, struct pktway_live_way *way)
{
    uint8_t db[512];
    struct leat_packetway_build build;
    bool answered = false;
    leat_packetway_build_init(&build, db, sizeof db);
    pktway_wanted_read(way->to, &build);
    for (uint32_t i = 0; i < k->homes->count && !way->pairs; i++) {
        k->node = k->homes->node[i];
        if (leat_packetway_node_join(k->node, k->q->timeout_ms, k->why)) continue;
        uint32_t router;
        for (uint32_t n = 0; !way->pairs && (router = leat_packetway_node_router(k->node, n)); n++)
            answered |= tell(k, way, router, db, build.len);
    }
    if (answered && !way->pairs) snprintf(k->why, sizeof k->why, "no other node matches");
    if (way->left_out)
        fprintf(k->error, "leat: %u more nodes match '%s' than the %u that are tried\n",
                way->left_out, way->to, way->pairs / k->homes->count);
}

static uint32_t rank(struct pktway_question *k, const struct pktway_live_pair *pair)
{
    struct leat_packetway_node *node = k->homes->node[pair->home];
    const struct leat_packetway_plan *plan;
    if (leat_packetway_node_is_near(node, pair->dt)) return RANK_NATIVE;
    if (leat_packetway_node_join(node, k->q->timeout_ms, k->why)) return RANK_NONE;
    if (k->q->by_address || !leat_packetway_address_is_node(pair->dt)) return RANK_ADDRESS;
    if (leat_packetway_node_plan(node, pair->dt, k->q->timeout_ms, &plan, k->why)) return RANK_NONE;
    return plan->state == LEAT_PACKETWAY_PLAN_ROUTES ? RANK_ROUTES + plan->routes[0].q
                                                     : RANK_ADDRESS;
}

/* The best first; those without a way are left out. */
static void rank_all(struct pktway_question *k, struct pktway_live_way *way)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < way->pairs; i++) {
        struct pktway_live_pair pair = way->pair[i];
        pair.rank = rank(k, &pair);
        if (pair.rank == RANK_NONE) continue;
        uint32_t at = kept++;
        for (; at > 0 && way->pair[at - 1].rank > pair.rank; at--)
            way->pair[at] = way->pair[at - 1];
        way->pair[at] = pair;
    }
    way->pairs = kept;
}

static void find_way(struct pktway_question *k, struct pktway_live_way *way)
{
    uint32_t address;
    memset(way, 0, sizeof *way);
    snprintf(way->to, sizeof way->to, "%s", k->q->text);
    way->by_address = k->q->by_address;
    if (is_wanted(way->to)) {
        find_wanted(k, way);
    } else {
        pktway_destination_read(way->to, &address);
        add(k->homes, way, address);
        if (!way->pairs) snprintf(k->why, sizeof k->why, "0x%06x is this node itself", address);
    }
    rank_all(k, way);
    way->found_at = packetway_now();
}

static bool is_new(const struct pktway_question *k, const struct pktway_live_way *way)
{
    return way->pairs && strcmp(way->to, k->q->text) == 0 && way->by_address == k->q->by_address &&
           packetway_now() - way->found_at < FOUND_MS * ps_per_ms;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* How it went. */
struct attempt {
    const struct pktway_live_pair *pair;
    uint32_t tries;
    bool sent, checked;
    uint64_t echo_us;
    bool has_err;
    struct leat_packetway_event err;
};

/* An ERR about this destination. */
static bool is_err(const struct pktway_question *k, uint32_t dt)
{
    const uint16_t te = k->event.message.header.te;
    return k->event.kind == LEAT_PACKETWAY_EVENT_ERR &&
           (k->event.dt == dt || te == LEAT_PACKETWAY_TE_HRDOWN ||
            te == LEAT_PACKETWAY_TE_LINKDOWN);
}

static void take_err(struct pktway_question *k, struct attempt *a)
{
    a->has_err = true;
    a->err = k->event;
    snprintf(k->why, sizeof k->why, "ERR %s from 0x%06x",
             pktway_err_name(k->event.message.header.te), k->event.peer);
}

/* Does the node answer an echo as long as the message? The answer is a word longer. */
static bool check(struct pktway_question *k, struct attempt *a)
{
    const uint32_t len = k->q->data_len > ECHO_MIN + 8 ? k->q->data_len - 8 : ECHO_MIN;
    uint8_t *data = calloc(1, len);
    leat_time begun;
    bool answered = false;
    snprintf(k->why, sizeof k->why, "no memory");
    if (data && !pktway_live_echo(k, data, len, &begun)) {
        snprintf(k->why, sizeof k->why, "0x%06x does not answer", k->address);
        while (!answered && !a->has_err &&
               pktway_live_receive(k, begun + k->q->timeout_ms * ps_per_ms))
            if (pktway_live_is_reply(k))
                answered = true;
            else if (is_err(k, k->address))
                take_err(k, a);
        a->echo_us = (packetway_now() - begun) / ps_per_us;
    }
    free(data);
    return answered;
}

static bool send_message(struct pktway_question *k)
{
    struct leat_packetway_message *m = &k->message;
    const bool planned = leat_packetway_address_is_node(k->address) && !k->q->by_address;
    memset(m, 0, sizeof *m);
    m->header = (struct leat_packetway_header){ .dt = k->address,
                                                .pt = LEAT_PACKETWAY_NODE_PT_DATA,
                                                .priority = k->q->priority };
    m->data = k->q->data;
    m->data_len = k->q->data_len;
    return !leat_packetway_node_send(
        k->node, m, planned ? LEAT_PACKETWAY_SEND_PLANNED : LEAT_PACKETWAY_SEND_BY_ADDRESS,
        k->q->timeout_ms, k->why);
}

/* After the last one an ERR may follow. */
static bool is_refused(struct pktway_question *k, struct attempt *a)
{
    const leat_time until = packetway_now() + MORE_MS * ps_per_ms;
    if ((!k->q->last && !k->q->blind) || !leat_packetway_address_is_node(k->address)) return false;
    while (!a->has_err && pktway_live_receive(k, until))
        if (is_err(k, k->address)) take_err(k, a);
    return a->has_err;
}

/* By one pair. */
static bool try_pair(struct pktway_question *k, struct pktway_live_way *way, uint32_t index,
                     struct attempt *a)
{
    const leat_time now = packetway_now();
    const bool is_node = leat_packetway_address_is_node(way->pair[index].dt);
    const bool known = way->checked_at && index == way->first &&
                       now - way->checked_at < CHECK_MS * ps_per_ms &&
                       k->q->data_len <= way->checked_len;
    a->pair = &way->pair[index];
    a->tries++;
    a->has_err = false;
    k->node = k->homes->node[a->pair->home];
    k->address = a->pair->dt;
    k->priority = k->q->priority;
    a->checked = is_node && !k->q->blind;
    if (a->checked && !known) {
        if (!check(k, a)) return false;
        way->checked_at = packetway_now();
        way->checked_len = k->q->data_len;
    }
    way->first = index;
    return send_message(k) && !is_refused(k, a);
}

static bool try_all(struct pktway_question *k, struct pktway_live_way *way, struct attempt *a)
{
    const uint32_t first = way->first;
    for (uint32_t i = 0; i < way->pairs && !pktway_live_is_over(k); i++) {
        if (try_pair(k, way, (first + i) % way->pairs, a)) return true;
        way->checked_at = 0;
    }
    way->found_at = 0;
    return false;
}

static void show_pair(const struct pktway_question *k, const struct attempt *a)
{
    if (a->pair) {
        const uint32_t own = leat_packetway_node_address(k->homes->node[a->pair->home]);
        leat_json_hex(k->json, "sender_address", "0x", own, 6);
        leat_json_hex(k->json, "address", "0x", a->pair->dt, 6);
        text_print(k->text, "0x%06x to 0x%06x", own, a->pair->dt);
    } else {
        text_print(k->text, "to %s", k->q->text);
    }
    leat_json_string(k->json, "sent_to", k->q->text);
}

static void show_sent(const struct pktway_question *k, const struct attempt *a)
{
    text_print(k->text, ", sent");
    if (a->checked) leat_json_bool(k->json, "reached", true);
    if (!a->echo_us) return;
    leat_json_uint(k->json, "time_us", a->echo_us);
    text_print(k->text, ", the node answers in %.3f ms", (double)a->echo_us / 1000);
}

static void show_lost(const struct pktway_question *k, const struct attempt *a)
{
    leat_json_bool(k->json, "reached", false);
    leat_json_string(k->json, "why", k->why);
    leat_json_array(k->json, "err_messages");
    if (a->has_err && k->json) pktway_live_show_err(&a->err, k->json, NULL);
    leat_json_end(k->json);
    text_print(k->text, ", lost: %s", k->why);
}

static void show(struct pktway_question *k, const struct attempt *a)
{
    const struct packetway_request *q = k->q;
    k->json = json_open(&k->object, k->text ? NULL : k->out);
    leat_json_uint(k->json, "number", q->number);
    text_print(k->text, "%u: ", q->number);
    show_pair(k, a);
    LEAT_JSON_UINTS(k->json, { "priority", q->priority }, { "bytes", q->data_len },
                    { "attempts", a->tries });
    text_print(k->text, ", priority %u, %u octets", q->priority, q->data_len);
    if (a->tries > 1) text_print(k->text, ", attempt %u", a->tries);
    (a->sent ? show_sent : show_lost)(k, a);
    text_print(k->text, "\n");
    json_close(&k->object, a->sent ? json_status() : "lost");
}

int pktway_live_send(struct pktway_question *k)
{
    struct pktway_live_way *way = &k->homes->way;
    static struct attempt a; /* large */
    memset(&a, 0, sizeof a);
    const bool was_new = is_new(k, way);
    if (!was_new) find_way(k, way);
    a.sent = try_all(k, way, &a);
    if (!a.sent && was_new && !pktway_live_is_over(k)) { /* what is known may be old */
        find_way(k, way);
        a.has_err = false;
        a.sent = try_all(k, way, &a);
    }
    show(k, &a);
    return a.sent ? DONE : FAILED;
}

/* ---- receiving ------------------------------------------------------------------------------ */

char *pktway_live_line(const struct leat_packetway_event *e)
{
    static const char end[] = "\n";
    const struct leat_packetway_message *m = &e->message;
    const size_t cap = LINE_HEAD + 2 * m->data_len + sizeof end;
    char *line = malloc(cap);
    if (!line) return NULL;
    const int at = snprintf(line, LINE_HEAD, "%u %u %u %u %u %" PRIu64 " .", e->peer, m->header.dt,
                            m->header.priority, m->header.pt, m->header.te, m->ei);
    struct leat_text text = { .buf = line, .cap = cap, .len = (size_t)at };
    leat_text_hex(&text, m->data, m->data_len);
    leat_text_put(&text, end, sizeof end);
    return line;
}

/* What leat pktway receive shows. */
struct hearing {
    bool json;
    uint64_t received, count; /* 0: no limit */
    struct result_file *output;
    char *line; /* as far as it has come */
    size_t len, cap;
    bool is_short; /* of memory */
    bool is_wrong; /* a line: the host is of another version */
};

static void hear(struct hearing *h, struct pktway_reception *r)
{
    r->number = ++h->received;
    if (h->output) {
        leat_text_put(&h->output->out.text, (const char *)r->octets, r->len);
    } else {
        pktway_reception_show(r, h->json, stdout);
        fflush(stdout); /* it may take long until there is more */
    }
}

static bool is_complete(const struct hearing *h)
{
    return interrupted || h->is_short || h->is_wrong || (h->count && h->received >= h->count);
}

/* A whole number of a line, and where it ends; false: there is none, or a larger one. */
static bool take_number(char **at, uint64_t max, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(*at, &end, 10);
    const bool good = end != *at && !errno && *value <= max;
    *at = end;
    return good;
}

/* What pktway_live_line wrote. False: something else. */
static bool read_line(struct hearing *h)
{
    static const uint64_t max[] = { UINT32_MAX, UINT32_MAX, UINT8_MAX,
                                    UINT16_MAX, UINT16_MAX, UINT64_MAX };
    struct pktway_reception r = { 0 };
    uint64_t value[sizeof max / sizeof *max];
    char *at = h->line;
    for (size_t i = 0; i < sizeof max / sizeof *max; i++)
        if (!take_number(&at, max[i], &value[i])) return false;
    r.from = (uint32_t)value[0];
    r.to = (uint32_t)value[1];
    r.priority = (uint8_t)value[2];
    r.pt = (uint16_t)value[3];
    r.te = (uint16_t)value[4];
    r.ei = value[5];
    if (strncmp(at, " .", 2) != 0) return false;
    const char *digits = at + 2;
    uint8_t *octets = (uint8_t *)h->line; /* behind what is read already */
    if (*digits && !pktway_payload_word(digits, octets, strlen(digits), &r.len)) return false;
    r.octets = octets;
    hear(h, &r);
    return true;
}

static bool hear_part(void *context, const char *text, size_t len)
{
    struct hearing *h = context;
    for (; len && !is_complete(h); text++, len--) {
        if (h->len + 1 >= h->cap) {
            char *more = realloc(h->line, 2 * h->cap + LINE_HEAD);
            if (!more) return !(h->is_short = true);
            h->line = more;
            h->cap = 2 * h->cap + LINE_HEAD;
        }
        h->line[h->len] = *text == '\n' ? 0 : *text;
        h->len = *text == '\n' ? 0 : h->len + 1;
        if (*text == '\n') h->is_wrong = !read_line(h);
    }
    return !is_complete(h);
}

/* By a node of the command's own. */
static void hear_homes(struct hearing *h, struct pktway_homes *homes, uint32_t timeout_ms)
{
    static struct leat_packetway_event e;
    leat_time heard_at = packetway_now();
    while (!is_complete(h) &&
           (!timeout_ms || packetway_now() - heard_at < timeout_ms * ps_per_ms)) {
        for (uint32_t i = 0; i < homes->count && !is_complete(h); i++) {
            if (!leat_packetway_node_receive(homes->node[i], TURN_MS / homes->count, &e) ||
                e.kind != LEAT_PACKETWAY_EVENT_DATA ||
                e.message.header.pt == LEAT_PACKETWAY_NODE_PT_ECHO)
                continue;
            struct pktway_reception r = { .from = e.peer,
                                          .to = e.message.header.dt,
                                          .priority = e.message.header.priority,
                                          .pt = e.message.header.pt,
                                          .te = e.message.header.te,
                                          .ei = e.message.ei,
                                          .octets = e.message.data,
                                          .len = e.message.data_len };
            heard_at = packetway_now();
            hear(h, &r);
        }
    }
}

static int end_of(const struct hearing *h, int code)
{
    if (code != DONE) return code;
    if (h->is_short) return fail("no memory for a message");
    if (h->is_wrong)
        return fail("the host sent a line that is no message: is it of another version?");
    if (h->count ? h->received >= h->count : h->received > 0 || interrupted) return DONE;
    if (!h->count) return fail("nothing has arrived");
    return fail("%" PRIu64 " messages have arrived, expected %" PRIu64, h->received, h->count);
}

static int hear_all(struct hearing *h, const char *name, struct pktway_homes *homes,
                    uint32_t timeout_ms)
{
    static const struct packetway_request q = { .word = "receive" };
    char why[PACKETWAY_WHY_LEN];
    int code = DONE;
    if (homes)
        hear_homes(h, homes, timeout_ms);
    else if (!packetway_control_hear(name, &q, timeout_ms, hear_part, h, &code, why))
        return complain("%s", why), WRONG;
    return end_of(h, code);
}

int pktway_live_hear(const struct arguments *args, const char *name, struct pktway_homes *homes)
{
    static struct result_file file; /* large */
    struct hearing h = { .json = argument(args, "--json") != NULL };
    const char *output = argument(args, "--output");
    uint64_t timeout_ps = 0;
    if (!number_take(args, "--count", &h.count) || !number_take(args, "--timeout", &timeout_ps))
        return WRONG;
    if (!argument(args, "--count")) h.count = 0;
    if (output && !result_file_open(&file, output)) return WRONG;
    h.output = output ? &file : NULL;
    int code = hear_all(&h, name, homes, (uint32_t)(timeout_ps / ps_per_ms));
    if (output && !result_file_close(&file, code == DONE) && code == DONE) code = FAILED;
    free(h.line);
    return code;
}
