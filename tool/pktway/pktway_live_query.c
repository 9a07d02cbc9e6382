/* ping, trace, plan, tell, and memory access, from a node of a live network. */
#include "packetway_about.h"
#include "packetway_record.h"
#include "pktway_live_parts.h"
#include "pktway_shared.h"
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
    MORE_MS = 100,
    OTHERS_MS = 20, /* so long the other nodes of this process may wait */
    NODES_MAX = 4096,
    ECHO_MIN = 8,
    MARK_LEN = 8,
    HOPS_MAX = LEAT_PACKETWAY_LEADING_MAX,
};
static const uint64_t ps_per_us = 1000000, ps_per_ms = 1000000000;

static int exit_code_of(struct pktway_question *k, enum leat_packetway_node_end end)
{
    if (end == LEAT_PACKETWAY_NODE_OK) return DONE;
    fprintf(k->error, "leat: %s\n", k->why);
    return end == LEAT_PACKETWAY_NODE_WRONG ? WRONG : FAILED;
}

static struct leat_json *open_object(struct pktway_question *k, uint32_t address)
{
    k->json = json_open(&k->object, k->text ? NULL : k->out);
    leat_json_hex(k->json, "address", "0x", address, 6);
    return k->json;
}

/* Nobody waits for the answer any more. */
bool pktway_live_is_over(const struct pktway_question *k)
{
    struct pollfd client = { .fd = k->client };
    return interrupted || (k->client >= 0 && poll(&client, 1, 0) > 0);
}

/* Data that is no echo is for programs. */
static bool is_for_programs(const struct leat_packetway_event *e)
{
    return e->kind == LEAT_PACKETWAY_EVENT_DATA &&
           e->message.header.pt != LEAT_PACKETWAY_NODE_PT_ECHO;
}

/* The node that asks is served first, the others then. True: it has an event for the question. */
static bool serve_homes(struct pktway_question *k, uint32_t wait_ms)
{
    const struct pktway_homes *homes = k->homes;
    static struct leat_packetway_event other;
    bool mine = leat_packetway_node_receive(k->node, wait_ms, &k->event);
    if (mine && is_for_programs(&k->event)) {
        if (homes->data) homes->data(homes->context, &k->event);
        mine = false;
    }
    for (uint32_t i = 0; i < homes->count; i++)
        if (homes->node[i] != k->node && leat_packetway_node_receive(homes->node[i], 0, &other) &&
            is_for_programs(&other) && homes->data)
            homes->data(homes->context, &other);
    return mine;
}

bool pktway_live_receive(struct pktway_question *k, leat_time until)
{
    for (leat_time now; (now = packetway_now()) < until && !pktway_live_is_over(k);) {
        uint32_t wait_ms = (uint32_t)((until - now) / ps_per_ms) + 1;
        if (k->homes->count > 1 && wait_ms > OTHERS_MS) wait_ms = OTHERS_MS;
        if (serve_homes(k, wait_ms)) return true;
    }
    return false;
}

/* ---- ERR ----------------------------------------------------------------------------------- */

/* One of the records that UNK, HRDOWN and LINKDOWN are about, in the syntax of tell's command line.
 */
static void show_missed(const struct leat_packetway_record *record, struct leat_json *j, FILE *out)
{
    const uint8_t *octets;
    size_t len;
    char text[JSON_STRING_CAP];
    if (record->type == LEAT_PACKETWAY_RTYP_ADDR) {
        const struct leat_packetway_address a = leat_packetway_record_address(record);
        pktway_address_text(&a, text);
    } else if (record->type == LEAT_PACKETWAY_RTYP_NAME) {
        octets = leat_packetway_record_name(record, &len);
        snprintf(text, sizeof text, "name=%.*s", (int)len, (const char *)octets);
    } else {
        size_t used = (size_t)snprintf(text, sizeof text, "capability=%u",
                                       leat_packetway_record_capability(record, &octets, &len));
        for (size_t i = 0; i < len && used < sizeof text; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%c%u", i ? ',' : ':',
                                     octets[i]);
    }
    if (j)
        leat_json_string(j, NULL, text);
    else
        pktway_live_name((const uint8_t *)text, strlen(text), out);
}

/* The subject of an ERR: its records; of GENERAL, the destination of the quoted message. */
void pktway_live_show_err(const struct leat_packetway_event *e, struct leat_json *j, FILE *out)
{
    struct leat_packetway_records records = leat_packetway_message_records(&e->message);
    struct leat_packetway_record record;
    const bool general = e->message.header.te == LEAT_PACKETWAY_TE_GENERAL;
    if (j) {
        leat_json_object(j, NULL);
        leat_json_string(j, "err", pktway_err_name(e->message.header.te));
        leat_json_hex(j, "sender_address", "0x", e->peer, 6);
        leat_json_array(j, "about");
        if (general) leat_json_hex(j, NULL, "0x", e->dt, 6);
    } else {
        fprintf(out, "ERR %s from 0x%06" PRIx32 " about", pktway_err_name(e->message.header.te),
                e->peer);
        if (general) fprintf(out, " 0x%06" PRIx32, e->dt);
    }
    while (!general && leat_packetway_records_next(&records, &record)) {
        if (!j) fputc(' ', out);
        show_missed(&record, j, out);
    }
    if (j) {
        leat_json_end(j);
        leat_json_end(j);
    } else {
        fputc('\n', out);
    }
}

/* ---- echoes -------------------------------------------------------------------------------- */

struct ping {
    uint32_t sent, received, errors;
    uint64_t least_us, most_us, sum_us;
    uint64_t ei_there, ei_back;
};

static void show_reply(struct pktway_question *k, struct ping *ping, uint32_t number, uint64_t us)
{
    const struct leat_packetway_message *m = &k->event.message;
    ping->ei_there |= leat_get_be64(m->data);
    ping->ei_back |= m->ei;
    ping->sum_us += us;
    if (!ping->received || us < ping->least_us) ping->least_us = us;
    if (us > ping->most_us) ping->most_us = us;
    ping->received++;
    if (!k->text || k->quiet) return;
    fprintf(k->text, "0x%06" PRIx32 ": %u, %zu octets, %.3f ms", k->event.peer, number,
            m->data_len - 8, (double)us / 1000);
    if (leat_get_be64(m->data)) fprintf(k->text, ", EI there %016" PRIx64, leat_get_be64(m->data));
    if (m->ei) fprintf(k->text, ", EI back %016" PRIx64, m->ei);
    fputc('\n', k->text);
}

/* For an echo: it distinguishes a late answer to an earlier one, of this process or of one that had
 * the address before. So it starts from the time. */
static uint32_t fresh_number(void)
{
    static uint32_t last;
    if (!last) last = (uint32_t)(packetway_now() / ps_per_us);
    return ++last;
}

/* Is this the answer to the last echo? */
bool pktway_live_is_reply(const struct pktway_question *k)
{
    const struct leat_packetway_message *m = &k->event.message;
    return k->event.kind == LEAT_PACKETWAY_EVENT_DATA && k->event.peer == k->address &&
           m->header.pt == LEAT_PACKETWAY_NODE_PT_ECHO &&
           m->header.te == LEAT_PACKETWAY_NODE_ECHO_REPLY && m->data_len >= 12 &&
           leat_get_be32(m->data + 8) == k->echo;
}

/* Requests a plan first, so that *begun is when the echo was sent. */
enum leat_packetway_node_end pktway_live_echo(struct pktway_question *k, uint8_t *data,
                                              uint32_t size, leat_time *begun)
{
    const struct leat_packetway_plan *plan;
    if (!k->q->by_address)
        leat_packetway_node_plan(k->node, k->address, k->q->timeout_ms, &plan, k->why);
    memset(&k->message, 0, sizeof k->message);
    k->message.header = (struct leat_packetway_header){ .dt = k->address,
                                                        .pt = LEAT_PACKETWAY_NODE_PT_ECHO,
                                                        .te = LEAT_PACKETWAY_NODE_ECHO_REQUEST,
                                                        .priority = k->priority };
    k->echo = fresh_number();
    leat_put_be32(data, k->echo);
    k->message.data = data;
    k->message.data_len = size;
    *begun = packetway_now();
    return leat_packetway_node_send(k->node, &k->message,
                                    k->q->by_address ? LEAT_PACKETWAY_SEND_BY_ADDRESS
                                                     : LEAT_PACKETWAY_SEND_PLANNED,
                                    k->q->timeout_ms, k->why);
}

static int send_echo(struct pktway_question *k, uint8_t *data, uint32_t size, leat_time *begun)
{
    return exit_code_of(k, pktway_live_echo(k, data, size, begun));
}

/* Waits for the answer, then until the next echo is due. */
static void await_echo(struct pktway_question *k, struct ping *ping, uint32_t number,
                       leat_time begun, bool last)
{
    const leat_time limit = begun + k->q->timeout_ms * ps_per_ms;
    const leat_time next = last ? begun : begun + k->q->interval_ms * ps_per_ms;
    bool waits = true;
    while (pktway_live_receive(k, waits ? limit : next)) {
        if (waits && pktway_live_is_reply(k)) {
            show_reply(k, ping, number, (packetway_now() - begun) / ps_per_us);
            waits = false;
        } else if (k->event.kind == LEAT_PACKETWAY_EVENT_ERR) {
            if (!k->quiet) pktway_live_show_err(&k->event, k->text ? NULL : k->json, k->text);
            ping->errors++;
            waits = false;
        }
    }
}

/* ---- plan ---------------------------------------------------------------------------------- */

static void show_route(const struct leat_packetway_plan_route *r, struct leat_json *j, FILE *out)
{
    struct leat_packetway_route cursor = { r->octets, r->octets + r->len, r->q };
    struct leat_packetway_leading hop;
    leat_json_object(j, NULL);
    leat_json_uint(j, "q", r->q);
    leat_json_uint(j, "mtu_words", r->mtu_words);
    leat_json_array(j, "l2rh");
    text_print(out, "  quality %u, MTU %u words, by", r->q, r->mtu_words);
    while (leat_packetway_route_next(&cursor, &hop)) {
        leat_json_octets(j, NULL, hop.octets, hop.len);
        text_print(out, " ");
        pktway_put_hex(hop.octets, hop.len, out);
    }
    text_print(out, "\n");
    leat_json_end(j);
    leat_json_end(j);
}

static int plan(struct pktway_question *k)
{
    static const char *const states[] = {
        "none", "native", "asking", "routes", "address", "failed"
    };
    const struct leat_packetway_plan *p;
    const int code = exit_code_of(
        k, leat_packetway_node_plan(k->node, k->address, k->q->timeout_ms, &p, k->why));
    if (code != DONE) return code;
    const bool near = p->state == LEAT_PACKETWAY_PLAN_NATIVE;
    struct leat_json *j = open_object(k, p->dt);
    leat_json_string(j, "plan", states[p->state]);
    leat_json_array(j, "routes");
    if (near)
        text_print(k->text, "0x%06" PRIx32 ": a node of this SAN\n", p->dt);
    else
        text_print(k->text, "0x%06" PRIx32 ": through half-router 0x%06" PRIx32 "%s\n", p->dt,
                   p->router, p->state == LEAT_PACKETWAY_PLAN_ADDRESS ? ", by address only" : "");
    for (uint32_t i = 0; !near && i < p->route_count; i++)
        show_route(&p->routes[i], j, k->text);
    leat_json_end(j);
    leat_json_hex(j, "router_address", "0x", near ? 0 : p->router, 6);
    json_close(&k->object, json_status());
    return DONE;
}

/* ---- trace --------------------------------------------------------------------------------- */

/* Is this ERR/GENERAL about the probe of this mark? Its quote is whole, as probes are short. */
static bool quotes(const struct leat_packetway_event *e, const uint8_t mark[MARK_LEN])
{
    const struct leat_packetway_message *m = &e->message;
    return m->data_len >= LEAT_PACKETWAY_HEADER_LEN + MARK_LEN &&
           memcmp(m->data + LEAT_PACKETWAY_HEADER_LEN, mark, MARK_LEN) == 0;
}

/*
 * A route that goes wrong at hop `hop`: the half-router that should take that hop says so by
 * ERR/GENERAL, and is known by it (spec 5.2, 5.7). 0: none did.
 */
static uint32_t find_router_at(struct pktway_question *k, const struct leat_packetway_plan *p,
                               uint32_t hop, uint64_t *us)
{
    static const uint8_t nowhere[1];
    uint8_t mark[MARK_LEN];
    struct leat_packetway_route cursor = { p->routes[0].octets,
                                           p->routes[0].octets + p->routes[0].len, 0 };
    struct leat_packetway_message *m = &k->message;
    memset(m, 0, sizeof *m);
    m->header = (struct leat_packetway_header){ .dt = k->address,
                                                .pt = LEAT_PACKETWAY_NODE_PT_ECHO,
                                                .te = LEAT_PACKETWAY_NODE_ECHO_REQUEST };
    leat_put_be64(mark, packetway_now());
    m->data = mark;
    m->data_len = sizeof mark;
    for (uint32_t i = 0; i < hop; i++)
        leat_packetway_route_next(&cursor, &m->leading[m->leading_count++]);
    m->leading[m->leading_count++] =
        (struct leat_packetway_leading){ .kind = LEAT_PACKETWAY_L2RH, .len = 1, .octets = nowhere };
    const leat_time begun = packetway_now(), until = begun + k->q->timeout_ms * ps_per_ms;
    if (leat_packetway_node_send_routed(k->node, m, p->router, k->why)) return 0;
    while (pktway_live_receive(k, until)) {
        if (k->event.kind != LEAT_PACKETWAY_EVENT_ERR) continue;
        if (k->event.message.header.te != LEAT_PACKETWAY_TE_GENERAL) {
            pktway_live_show_err(&k->event, NULL, k->error);
            return 0;
        }
        if (!quotes(&k->event, mark)) continue; /* an older packet's */
        *us = (packetway_now() - begun) / ps_per_us;
        return k->event.peer;
    }
    return 0;
}

/* The records of a node about itself; false: it sends none. */
static bool request_about(struct pktway_question *k, uint32_t address,
                          struct leat_packetway_records *about)
{
    struct leat_packetway_record record;
    const leat_time until = packetway_now() + k->q->timeout_ms * ps_per_ms;
    if (leat_packetway_node_query(k->node, address, NULL, 0, k->why)) return false;
    while (pktway_live_receive(k, until)) {
        if (k->event.kind != LEAT_PACKETWAY_EVENT_INFO || k->event.peer != address) continue;
        struct leat_packetway_records records = leat_packetway_message_records(&k->event.message);
        if (!leat_packetway_records_next(&records, &record)) return false;
        *about = leat_packetway_record_nested(&record);
        return true;
    }
    leat_packetway_node_cancel(k->node, address);
    return false;
}

static void show_hop(struct pktway_question *k, uint32_t number, uint32_t address, uint64_t us)
{
    struct leat_json *j = k->json;
    struct leat_packetway_records about;
    const bool is_known = request_about(k, address, &about);
    leat_json_object(j, NULL);
    leat_json_hex(j, "address", "0x", address, 6);
    leat_json_uint(j, "time_us", us);
    text_print(k->text, "%u  0x%06" PRIx32 "  %.3f ms", number + 1, address, (double)us / 1000);
    if (is_known) pktway_live_about(about, j, k->text);
    text_print(k->text, "\n");
    leat_json_end(j);
}

/* The L2RHs that lead into a SAN, one for each router: not those by which a router of more than two
 * half-routers addresses its own (spec 5.2). `at` gets their offsets. */
static uint32_t find_hops(const struct leat_packetway_plan_route *r, uint32_t at[HOPS_MAX])
{
    struct leat_packetway_route cursor = { r->octets, r->octets + r->len, r->q };
    struct leat_packetway_leading hop;
    uint32_t count = 0;
    for (uint32_t i = 0; count < HOPS_MAX && leat_packetway_route_next(&cursor, &hop); i++)
        if (hop.len != LEAT_PACKETWAY_TWIN_HOP_LEN) at[count++] = i;
    return count;
}

/* With its first route, whose octets are lent by the node. */
static struct leat_packetway_plan copy_plan(const struct leat_packetway_plan *found,
                                            uint8_t octets[LEAT_PACKETWAY_PLAN_LEN_MAX])
{
    struct leat_packetway_plan plan = *found;
    if (plan.routes[0].len) memcpy(octets, plan.routes[0].octets, plan.routes[0].len);
    plan.routes[0].octets = octets;
    return plan;
}

static int trace(struct pktway_question *k)
{
    const struct leat_packetway_plan *found;
    struct ping end = { 0 };
    uint8_t data[ECHO_MIN] = { 0 };
    int code = exit_code_of(
        k, leat_packetway_node_plan(k->node, k->address, k->q->timeout_ms, &found, k->why));
    if (code != DONE) return code;
    static uint8_t octets[LEAT_PACKETWAY_PLAN_LEN_MAX];
    const struct leat_packetway_plan p = copy_plan(found, octets);
    uint32_t hop[HOPS_MAX];
    const uint32_t hops = p.state == LEAT_PACKETWAY_PLAN_ROUTES ? find_hops(&p.routes[0], hop) : 0;
    struct leat_json *j = open_object(k, p.dt);
    leat_json_array(j, "hops");
    if (p.state == LEAT_PACKETWAY_PLAN_ADDRESS) show_hop(k, 0, p.router, 0);
    for (uint32_t i = 0; code == DONE && i < hops && !pktway_live_is_over(k); i++) {
        uint64_t us = 0;
        const uint32_t router = find_router_at(k, &p, hop[i], &us);
        if (router) {
            show_hop(k, i, router, us);
        } else {
            text_print(k->text, "%u  no answer\n", i + 1);
            code = FAILED;
        }
    }
    k->quiet = true;
    leat_time begun;
    if (send_echo(k, data, sizeof data, &begun) == DONE) await_echo(k, &end, 0, begun, true);
    const double ms = (double)end.sum_us / 1000;
    leat_json_end(j);
    leat_json_bool(j, "reached", end.received);
    leat_json_uint(j, "time_us", end.sum_us);
    leat_json_hex(j, "ei_there", "", end.ei_there, 16);
    json_close(&k->object, end.received ? json_status() : "unreached");
    if (end.received)
        text_print(k->text, "%u  0x%06" PRIx32 "  %.3f ms, reached\n", hops + 1, p.dt, ms);
    else
        text_print(k->text, "%u  0x%06" PRIx32 "  no answer\n", hops + 1, p.dt);
    return code == DONE && end.received ? DONE : FAILED;
}

/* ---- ping, and whom EI accuses ------------------------------------------------------------ */

/*
 * After n routers bit k accuses the (n - k)th of them, and bit n the source (spec 5.6). On the way
 * there they are those of the plan, if that was taken; on the way back they are counted from here.
 */
static void show_there(struct pktway_question *k, const struct leat_packetway_plan *plan,
                       uint64_t ei)
{
    uint32_t hop[HOPS_MAX];
    const uint32_t hops = find_hops(&plan->routes[0], hop);
    const char *between = "";
    for (uint32_t bit = hops + 1; bit-- > 0;) {
        uint64_t us;
        if (!(ei >> bit & 1)) continue;
        const uint32_t router = bit < hops ? find_router_at(k, plan, hop[hops - bit - 1], &us) : 0;
        char name[24];
        if (router)
            snprintf(name, sizeof name, "0x%06" PRIx32, router);
        else if (bit == hops)
            snprintf(name, sizeof name, k->text ? "the source" : "source");
        else
            snprintf(name, sizeof name, "router %u", hops - bit);
        leat_json_string(k->json, NULL, name);
        text_print(k->text, "%s%s", between, name);
        between = ", ";
    }
}

/* Bit k: the (k + 1)th router before the receiver. */
static void show_counted(const char *way, uint64_t ei, FILE *out)
{
    const char *between = "";
    text_print(out, "EI %s: an error was seen by router ", way);
    for (uint32_t bit = 0; bit < 64; bit++) {
        if (!(ei >> bit & 1)) continue;
        text_print(out, "%s%u", between, bit + 1);
        between = ", ";
    }
}

static void show_accused(struct pktway_question *k, uint64_t there, uint64_t back)
{
    const struct leat_packetway_plan *found;
    const bool planned = there && !k->q->by_address &&
                         leat_packetway_node_plan(k->node, k->address, k->q->timeout_ms, &found,
                                                  k->why) == LEAT_PACKETWAY_NODE_OK &&
                         found->state == LEAT_PACKETWAY_PLAN_ROUTES;
    static uint8_t octets[LEAT_PACKETWAY_PLAN_LEN_MAX];
    const struct leat_packetway_plan plan = planned ? copy_plan(found, octets)
                                                    : (struct leat_packetway_plan){ 0 };
    leat_json_array(k->json, "accused_there");
    if (planned) {
        text_print(k->text, "EI there: an error was seen by ");
        show_there(k, &plan, there);
        text_print(k->text, "\n");
    } else if (there) {
        show_counted("there", there, k->text);
        text_print(k->text, " before 0x%06" PRIx32 "\n", k->address);
    }
    leat_json_end(k->json);
    if (!back) return;
    show_counted("back", back, k->text);
    text_print(k->text, " from here\n");
}

static int ping(struct pktway_question *k)
{
    struct ping p = { 0 };
    uint8_t *data = calloc(1, k->q->size);
    int code = data ? DONE : FAILED;
    struct leat_json *j = open_object(k, k->address);
    leat_json_array(j, "err_messages");
    for (uint32_t i = 0; code == DONE && i < k->q->count && !pktway_live_is_over(k); i++) {
        leat_time begun;
        code = send_echo(k, data, k->q->size, &begun);
        if (code != DONE) break;
        p.sent++;
        await_echo(k, &p, i, begun, i + 1 == k->q->count);
    }
    free(data);
    const double mean = p.received ? (double)p.sum_us / p.received / 1000 : 0;
    leat_json_end(j);
    LEAT_JSON_UINTS(j, { "sent", p.sent }, { "received", p.received }, { "least_us", p.least_us });
    json_fixed(j, "mean_us", mean * 1000, 0);
    leat_json_uint(j, "max_us", p.most_us);
    leat_json_hex(j, "ei_there", "", p.ei_there, 16);
    leat_json_hex(j, "ei_back", "", p.ei_back, 16);
    if (p.received)
        text_print(k->text, "%u sent, %u received, %.3f ms on average\n", p.sent, p.received, mean);
    else if (p.sent)
        text_print(k->text, "%u sent, none received\n", p.sent);
    show_accused(k, p.ei_there, p.ei_back);
    json_close(&k->object, p.received ? json_status() : "unreached");
    if (code == DONE && p.received < k->q->count) code = FAILED;
    return code;
}

/* ---- tell ---------------------------------------------------------------------------------- */

/* Words that are ORed: name=, capability=, address=. */
static bool read_questions(struct pktway_question *k, struct leat_packetway_build *build)
{
    char text[PACKETWAY_TEXT_MAX];
    memcpy(text, k->q->text, sizeof text);
    for (char *word = text, *next; word && *word; word = next) {
        next = strchr(word, '\n');
        if (next) *next++ = 0;
        if (pktway_wanted_read(word, build)) continue;
        fprintf(k->error, "leat: tell '%s', expected " PKTWAY_WANTED "\n", word);
        return false;
    }
    return true;
}

/* Nodes already reported; a half-router may report itself again when it is polled. */
struct found {
    uint32_t count;
    struct leat_packetway_address address[NODES_MAX];
};

static bool is_new(struct found *t, const struct leat_packetway_address *a)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->address[i].at == a->at && t->address[i].low == a->low &&
            t->address[i].high == a->high)
            return false;
    if (t->count == NODES_MAX) return false;
    t->address[t->count++] = *a;
    return true;
}

static void show_info(struct pktway_question *k, struct found *t)
{
    struct leat_packetway_records records = leat_packetway_message_records(&k->event.message);
    struct leat_packetway_record record;
    while (leat_packetway_records_next(&records, &record)) {
        const struct leat_packetway_address a = leat_packetway_record_address(&record);
        if (is_new(t, &a))
            pktway_live_node(&a, leat_packetway_record_nested(&record), "", k->json, k->text);
    }
}

/* Answers of one half-router, until there are no more of them. True: it has answered. */
static bool await_tell(struct pktway_question *k, uint32_t peer, struct found *t)
{
    leat_time until = packetway_now() + k->q->timeout_ms * ps_per_ms;
    while (t->count < NODES_MAX && pktway_live_receive(k, until)) {
        if (k->event.peer != peer) continue;
        if (k->event.kind == LEAT_PACKETWAY_EVENT_INFO) {
            show_info(k, t);
            until = packetway_now() + MORE_MS * ps_per_ms; /* an answer may come in pieces */
        } else if (k->event.kind == LEAT_PACKETWAY_EVENT_ERR) {
            fputs(k->event.message.header.te == LEAT_PACKETWAY_TE_UNK ? "leat: no such node: "
                                                                      : "leat: ",
                  k->error);
            pktway_live_show_err(&k->event, NULL, k->error);
            return true;
        }
    }
    return t->count;
}

static int tell(struct pktway_question *k)
{
    static struct found all;
    uint8_t db[LEAT_PACKETWAY_HOST_MESSAGE_LEN];
    struct leat_packetway_build build;
    leat_packetway_build_init(&build, db, sizeof db);
    if (!read_questions(k, &build)) return WRONG;
    const uint32_t peer = k->address ? k->address : leat_packetway_node_router(k->node, 0);
    if (!peer) return exit_code_of(k, LEAT_PACKETWAY_NODE_SILENT); /* join has reported why */
    const int code = exit_code_of(k,
                                  leat_packetway_node_query(k->node, peer, db, build.len, k->why));
    if (code != DONE) return code;
    all.count = 0;
    k->json = json_open(&k->object, k->text ? NULL : k->out);
    leat_json_array(k->json, "answers");
    if (!await_tell(k, peer, &all)) fprintf(k->error, "leat: no answer of 0x%06" PRIx32 "\n", peer);
    leat_json_end(k->json);
    json_close(&k->object, all.count ? json_status() : "nobody");
    leat_packetway_node_cancel(k->node, peer);
    return all.count ? DONE : FAILED;
}

static int memory(struct pktway_question *k)
{
    return pktway_live_memory_query(k->node, k->q, k->out, k->error);
}

/* ---- all ----------------------------------------------------------------------------------- */

/* The node on the SAN of an address, else the first one that has a plan for it. */
static struct leat_packetway_node *choose_home(const struct pktway_homes *homes,
                                               const struct packetway_request *q, char *why)
{
    const struct leat_packetway_plan *plan;
    for (uint32_t i = 0; i < homes->count; i++)
        if (leat_packetway_node_is_near(homes->node[i], q->address)) return homes->node[i];
    for (uint32_t i = 0; i < homes->count && homes->count > 1; i++) {
        if (leat_packetway_node_join(homes->node[i], q->timeout_ms, why)) continue;
        if (!q->address ||
            !leat_packetway_node_plan(homes->node[i], q->address, q->timeout_ms, &plan, why))
            return homes->node[i];
    }
    return homes->node[0];
}

int pktway_live_query(struct pktway_homes *homes, const struct packetway_request *q, int client,
                      FILE *out, FILE *error)
{
    static const struct {
        const char *word;
        int (*run)(struct pktway_question *k);
    } words[] = { { "ping", ping },
                  { "trace", trace },
                  { "plan", plan },
                  { "tell", tell },
                  { "read", memory },
                  { "write", memory },
                  { "send", pktway_live_send } };
    struct pktway_question *k = calloc(1, sizeof *k);
    int code = WRONG;
    if (!k) return FAILED;
    *k = (struct pktway_question){
        .homes = homes, .q = q, .address = q->address, .client = client, .out = out, .error = error
    };
    k->text = q->json ? NULL : out;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, q->word) == 0) {
            k->node = words[i].run == pktway_live_send ? homes->node[0]
                                                       : choose_home(homes, q, k->why);
            /* Without a half-router only the own SAN can be reached; the query will show it. */
            if (words[i].run != pktway_live_send &&
                !leat_packetway_node_is_near(k->node, q->address))
                leat_packetway_node_join(k->node, q->timeout_ms, k->why);
            code = words[i].run(k);
        }
    free(k);
    return code;
}

void pktway_homes_close(struct pktway_homes *homes)
{
    for (uint32_t i = 0; i < homes->count; i++)
        leat_packetway_node_close(homes->node[i]);
    homes->count = 0;
}
