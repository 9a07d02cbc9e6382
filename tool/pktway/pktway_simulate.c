/* leat pktway ping, trace, plan and tell on a simulated network. */
#include "pktway_simulate.h"
#include "fabric.h"
#include "leat_tree.h"
#include "number.h"
#include "pktway_mail.h"
#include "pktway_options.h"
#include "pktway_record.h"
#include "pktway_shared.h"
#include "result_file.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_PS (10 * LEAT_PACKETWAY_SECOND)
#define STEP_PS     UINT64_C(100000000)
#define MORE_PS     UINT64_C(400000000000) /* an answer may come in pieces */
enum { SIZE_DEFAULT = 56, COUNT_MAX = 100000, MESSAGES_MAX = 16 };

/* ---- events --------------------------------------------------------------------------------- */

static void on_passes(void *context, const struct leat_sim_packetway_pass *pass)
{
    struct pktway_query *a = context;
    pktway_record_passes(a->record, pass, a->mail ? pass->id : a->carried);
    if (a->mail) {
        pktway_mail_passes(a, pass);
        return;
    }
    if (!pass->first) return; /* of a long message the others follow it */
    if (!a->is_inside) a->in = pass->end;
    a->is_inside = pass->decision.verdict == LEAT_PACKETWAY_TO_TWIN;
    if (pass->decision.verdict != LEAT_PACKETWAY_TO_SAN || a->leg.hops == PKTWAY_HOPS_MAX) return;
    a->leg.hop[a->leg.hops++] = (struct pktway_hop){ .router = pass->router,
                                                     .in = a->in,
                                                     .out = pass->end,
                                                     .at = pass->at,
                                                     .planned = pass->decision.layer2,
                                                     .cut = pass->cut };
}

static void on_event(void *context, uint32_t port, const struct leat_packetway_event *e,
                     leat_time at)
{
    struct pktway_query *a = context;
    if (a->remote) pktway_on_memory_event(a, port, e, at);
    if (a->mail) pktway_mail_event(a, port, e);
    switch (e->kind) {
    case LEAT_PACKETWAY_EVENT_DATA:
        if (!a->mail) pktway_record_arrives(a->record, port, a->carried, e->message.data_len, at);
        a->is_there = true;
        a->leg.ei |= e->message.ei;
        a->there_at = at;
        break;
    case LEAT_PACKETWAY_EVENT_INFO:
        a->is_answered = true;
        a->is_cut |= e->message.data_len > sizeof a->records - a->records_len;
        if (a->is_cut) break;
        memcpy(a->records + a->records_len, e->message.data, e->message.data_len);
        a->records_len += e->message.data_len;
        break;
    case LEAT_PACKETWAY_EVENT_ERR: a->err_te = e->message.header.te; break;
    case LEAT_PACKETWAY_EVENT_PLANNED:
    case LEAT_PACKETWAY_EVENT_SILENT: a->is_answered = true; break;
    case LEAT_PACKETWAY_EVENT_NONE: break;
    }
}

static void on_receives(void *context, const struct leat_sim_packetway_reception *reception)
{
    const struct pktway_query *a = context;
    pktway_record_arrives(a->record, reception->port, reception->id,
                          reception->event->message.data_len, reception->at);
    pktway_mail_receives(context, reception);
}

static void on_learns(void *context, uint32_t router, uint32_t end)
{
    pktway_record_learns(((struct pktway_query *)context)->record, router, end);
}

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    struct pktway_query *a = context;
    (void)at;
    if (a->mail) pktway_mail_ends(a, message, NULL);
    a->is_over = true;
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    struct pktway_query *a = context;
    (void)at;
    if (a->mail) pktway_mail_ends(a, message, why);
    a->is_over = true;
    a->why = why;
}

/* ---- the command line ----------------------------------------------------------------------- */

/* SAN.PORT or an address. */
bool pktway_node_read(const struct pktway_query *a, const char *text, uint32_t *address)
{
    const char *point = strrchr(text, '.');
    uint64_t number;
    if (!point) {
        if (!leat_tree_number(text, strlen(text), &number) ||
            !leat_packetway_address_is_node((uint32_t)number) || number > UINT32_MAX)
            return false;
        *address = (uint32_t)number;
        return true;
    }
    for (uint32_t i = 0; i < a->network->design.sans; i++) {
        const struct leat_fabric_san *s = &a->network->design.san[i];
        if (strlen(s->name) != (size_t)(point - text) ||
            strncmp(s->name, text, (size_t)(point - text)) != 0)
            continue;
        if (!leat_tree_number(point + 1, strlen(point + 1), &number) ||
            number >= a->network->san[i].net->ports)
            return false;
        *address = s->bias + 1 + (uint32_t)number;
        return true;
    }
    return false;
}

static bool read_host(const struct pktway_query *a, const char *what, const char *text,
                      uint32_t *port)
{
    uint32_t address;
    if (pktway_node_read(a, text, &address) &&
        leat_sim_packetway_find(&a->network->net, address, port))
        return true;
    return misused(a->args->verb, "%s '%s', expected a host of %s: SAN.PORT or its address", what,
                   text, a->network->design.name);
}

static bool add_error(struct pktway_query *a)
{
    const char *name = argument(a->args, "--error-at");
    struct leat_fabric_sans *d = &a->network->design;
    for (uint32_t i = 0; name && i < d->routers; i++)
        if (strcmp(d->router[i].name, name) == 0 && d->faults < LEAT_SIM_PACKETWAY_FAULTS_MAX) {
            d->fault[d->faults++] = (struct leat_sim_packetway_fault){ LEAT_SIM_PACKETWAY_ERRORS, i,
                                                                       0, LEAT_NEVER };
            return true;
        }
    if (!name) return true;
    return misused(a->args->verb, "--error-at '%s', expected the name of a router of %s", name,
                   d->name);
}

static bool read_fabric(struct pktway_query *a, const char *word)
{
    struct leat_fabric *fabric = fabric_read(a->args->verb, word);
    if (!fabric) return false;
    a->network = leat_fabric_as_packetway(fabric);
    if (a->network) return true;
    leat_fabric_close(fabric);
    return misused(
        a->args->verb,
        "%s: expected a PacketWay network here: twosan, threesan, or FILE.yaml with sans:", word);
}

static bool read_options(struct pktway_query *a)
{
    static const char known[] = "--fabric --from --at --error-at --fault --bytes --by-address "
                                "--count --json --cut-through --priority --every --file "
                                "--messages --output --record";
    const char *fabric = argument(a->args, "--fabric");
    const struct result_name record = { "--record", argument(a->args, "--record") };
    a->text = argument(a->args, "--json") ? NULL : stdout;
    if (record.path && !result_names_apart(a->args->verb, &record, 1, NULL)) return false;
    a->size = SIZE_DEFAULT;
    a->count = 1;
    if (!read_fabric(a, fabric) || !fabric_refuse_foreign(a->args, &a->network->base, "", known) ||
        !number_take(a->args, "--bytes", &a->size) ||
        !number_take_within(a->args, "--count", 1, COUNT_MAX, &a->count) ||
        !pktway_read_options(a->args, &a->network->design) || !add_error(a) ||
        !result_apart_from_options(a->args, "--record"))
        return false;
    if (argument(a->args, "--by-address")) a->network->design.by_address = true;
    return true;
}

/* In flight. */
static uint32_t messages_max(const struct pktway_query *a)
{
    const char *word = a->args->operand[0];
    return strcmp(word, "send") == 0 || strcmp(word, "receive") == 0 ? PKTWAY_MAIL_MAX
                                                                     : MESSAGES_MAX;
}

/* send takes names of hosts, too: pktway_mail.c reads them. */
static bool may_name_host(const struct pktway_query *a)
{
    return strcmp(a->args->operand[0], "send") == 0;
}

/* Opens the network and lets it run up to --at. */
static bool open_network(struct pktway_query *a)
{
    const char *from = argument(a->args, "--from"), *record = argument(a->args, "--record");
    leat_time when = 0;
    if (!number_take(a->args, "--at", &when)) return false;
    struct leat_fabric_error error;
    a->network->watch = (struct leat_sim_packetway_watch){ a, on_passes, on_event, on_receives,
                                                           record ? on_learns : NULL };
    if (!leat_fabric_open(&a->network->base,
                          &(struct leat_fabric_config){ .messages_max = messages_max(a) }, &error))
        return fabric_refused(a->args->verb, a->network->base.word, &error);
    struct leat_port_net *net = &a->network->net.base;
    net->observer = (struct leat_port_observer){
        .context = a, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
    };
    if (record) a->record = pktway_record_open(record, a->network);
    if (record && !a->record) return false;
    if (from && !may_name_host(a) && !read_host(a, "--from", from, &a->from)) return false;
    while (net->now < when && !interrupted)
        leat_port_run(net, when);
    return true;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Sends one message from port to port, a->leg. False: it did not reach its host, `why` says why. */
static bool carry(struct pktway_query *a, uint32_t from, uint32_t to)
{
    struct leat_port_net *net = &a->network->net.base;
    const struct leat_port_message message = {
        .from = from, .to = to, .id = 0, .octets = a->octets, .len = a->size
    };
    const leat_time start = net->now;
    a->leg = (struct pktway_leg){ 0 };
    a->is_inside = a->is_there = a->is_over = false;
    a->why = NULL;
    a->carried++;
    pktway_record_leaves(a->record, from, a->carried, a->size);
    leat_port_send(net, &message, start);
    while (!a->is_over && !interrupted)
        leat_port_run(net, LEAT_NEVER);
    a->leg.took = a->there_at - start;
    return a->is_there && (!a->why || a->leg.ei);
}

/* After n routers bit k accuses the (n - k)th of them, bit n the source (spec 5.6). */
static void put_accused(const struct pktway_query *a, const struct pktway_leg *leg,
                        struct leat_json *j, FILE *out)
{
    const char *between = "";
    for (uint32_t k = leg->hops + 1; k-- > 0;) {
        if (!(leg->ei >> k & 1)) continue;
        const struct pktway_hop *hop = k < leg->hops ? &leg->hop[leg->hops - k - 1] : NULL;
        const char *name = hop ? a->network->design.router[hop->router].name : "the source";
        leat_json_string(j, NULL, name);
        text_print(out, "%s%s", between, name);
        between = ", ";
    }
}

static void put_ei(const struct pktway_query *a, const struct pktway_leg *leg, const char *way,
                   struct leat_json *j)
{
    FILE *out = leg->ei ? a->text : NULL;
    char ei[16], accused[16];
    snprintf(ei, sizeof ei, "ei_%s", way);
    snprintf(accused, sizeof accused, "accused_%s", way);
    leat_json_hex(j, ei, "0x", leg->ei, 1);
    leat_json_array(j, accused);
    text_print(out, "   EI %s 0x%" PRIx64 ": an error was seen by ", way, leg->ei);
    put_accused(a, leg, j, out);
    text_print(out, "\n");
    leat_json_end(j);
}

static void put_ping(const struct pktway_query *a, uint64_t number, const struct pktway_leg *there,
                     const struct pktway_leg *back)
{
    const double one_way = (double)there->took, both = one_way + (double)back->took;
    struct json_out out;
    struct leat_json *j = json_open(&out, a->text ? NULL : stdout);
    text_print(a->text, "%" PRIu64 ": %u router%s, there in %.3f us, round trip %.3f us\n", number,
               there->hops, there->hops == 1 ? "" : "s", 1e-6 * one_way, 1e-6 * both);
    leat_json_uint(j, "number", number);
    leat_json_uint(j, "routers_passed", there->hops);
    put_ei(a, there, "there", j);
    put_ei(a, back, "back", j);
    json_fixed(j, "there_us", 1e-6 * one_way, 6);
    json_fixed(j, "round_trip_us", 1e-6 * both, 6);
    json_close(&out, json_status());
}

static int unreached(const struct pktway_query *a, const char *to)
{
    return fail("%s: no answer: %s", to, a->why ? a->why : "it was dropped");
}

static int ping(struct pktway_query *a)
{
    const char *word = a->args->operand[1];
    uint32_t to;
    if (!read_host(a, "ping", word, &to)) return WRONG;
    for (uint64_t i = 0; i < a->count && !interrupted; i++) {
        if (!carry(a, a->from, to)) return unreached(a, word);
        const struct pktway_leg there = a->leg;
        if (!carry(a, to, a->from)) return unreached(a, word);
        put_ping(a, i + 1, &there, &a->leg);
    }
    return DONE;
}

void pktway_put_hop_json(const struct pktway_query *a, const struct pktway_hop *h, leat_time start,
                         struct leat_json *j)
{
    const struct leat_fabric_router *r = &a->network->design.router[h->router];
    const struct leat_sim_packetway_end *in = &r->end[h->in], *out = &r->end[h->out];
    leat_json_object(j, NULL);
    leat_json_string(j, "router_name", r->name);
    json_format(j, "in_node", "%s.%u", a->network->design.san[in->san].name, in->port);
    json_format(j, "out_node", "%s.%u", a->network->design.san[out->san].name, out->port);
    json_fixed(j, "time_us", 1e-6 * (double)(h->at - start), 6);
    leat_json_bool(j, "planned", h->planned);
    leat_json_bool(j, "cut_through", h->cut);
    leat_json_end(j);
}

static void put_hop(const struct pktway_query *a, uint32_t index, leat_time start,
                    struct leat_json *j)
{
    const struct pktway_hop *h = &a->leg.hop[index];
    const struct leat_fabric_router *r = &a->network->design.router[h->router];
    const struct leat_sim_packetway_end *in = &r->end[h->in], *out = &r->end[h->out];
    text_print(a->text, "%2u  %-12s from %s.%u to %s.%u after %.3f us, %s, %s\n", index + 1,
               r->name, a->network->design.san[in->san].name, in->port,
               a->network->design.san[out->san].name, out->port, 1e-6 * (double)(h->at - start),
               h->planned ? "planned" : "by address", h->cut ? "cut through" : "stored");
    pktway_put_hop_json(a, h, start, j);
}

static int trace(struct pktway_query *a)
{
    const char *word = a->args->operand[1];
    uint32_t to;
    if (!read_host(a, "trace", word, &to)) return WRONG;
    const leat_time start = a->network->net.base.now;
    if (!carry(a, a->from, to)) return unreached(a, word);
    struct json_out out;
    struct leat_json *j = json_open(&out, a->text ? NULL : stdout);
    leat_json_array(j, "hops");
    for (uint32_t i = 0; i < a->leg.hops; i++)
        put_hop(a, i, start, j);
    leat_json_end(j);
    json_fixed(j, "time_us", 1e-6 * (double)a->leg.took, 6);
    json_close(&out, json_status());
    text_print(a->text, "%2u  %-12s after %.3f us\n", a->leg.hops + 1, word,
               1e-6 * (double)a->leg.took);
    return DONE;
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Sends the engine's query, and waits for an answer. */
static bool wait_for_answer(struct pktway_query *a)
{
    struct leat_port_net *net = &a->network->net.base;
    const leat_time end = net->now + PATIENCE_PS;
    leat_sim_packetway_go(&a->network->net, a->from);
    while (!a->is_answered && !a->err_te && net->now < end && !interrupted)
        leat_port_run(net, net->now + STEP_PS);
    return a->is_answered;
}

/* The native routes of a path, SAN by SAN. */
static void put_route(const struct leat_packetway_plan_route *route, struct leat_json *j, FILE *out)
{
    struct leat_packetway_leading l;
    for (size_t at = 0; at < route->len; at += leat_packetway_leading_size(&l)) {
        if (leat_packetway_leading_decode(route->octets + at, route->len - at,
                                          LEAT_PACKETWAY_LENIENT, &l, NULL))
            return;
        leat_json_octets(j, NULL, l.octets, l.len);
        text_print(out, at ? " | " : " ");
        pktway_put_hex(l.octets, l.len, out);
    }
}

static void put_plan(const struct leat_packetway_plan *p, FILE *text)
{
    const bool routes = p->state == LEAT_PACKETWAY_PLAN_ROUTES,
               address = p->state == LEAT_PACKETWAY_PLAN_ADDRESS;
    struct json_out out;
    struct leat_json *j = json_open(&out, text ? NULL : stdout);
    leat_json_hex(j, "address", "0x", p->dt, 6);
    leat_json_string(j, "plan", routes ? "routes" : address ? "address" : "native");
    leat_json_hex(j, "router_address", "0x", p->router, 6);
    if (routes || address)
        text_print(text, "0x%06x: %s, through half-router 0x%06x\n", p->dt,
                   routes ? "planned" : "by address only", p->router);
    else
        text_print(text, "0x%06x: on the same SAN, natively\n", p->dt);
    leat_json_array(j, "routes");
    for (uint32_t i = 0; i < p->route_count; i++) {
        leat_json_object(j, NULL);
        leat_json_uint(j, "q", p->routes[i].q);
        leat_json_uint(j, "mtu_words", p->routes[i].mtu_words);
        leat_json_array(j, "l2rh");
        text_print(text, "  Q %-5u MTU %u words, L2RH", p->routes[i].q, p->routes[i].mtu_words);
        put_route(&p->routes[i], j, text);
        text_print(text, "\n");
        leat_json_end(j);
        leat_json_end(j);
    }
    leat_json_end(j);
    json_close(&out, json_status());
}

static int plan(struct pktway_query *a)
{
    const char *word = a->args->operand[1];
    struct leat_packetway_host *host = leat_sim_packetway_host(&a->network->net, a->from);
    uint32_t dt;
    if (!pktway_node_read(a, word, &dt))
        return misuse(a->args->verb, "plan '%s', expected SAN.PORT or an address of %s", word,
                      a->network->design.name);
    const struct leat_packetway_plan *p = leat_packetway_host_plan(
        host, dt, leat_sim_packetway_clock(&a->network->net));
    if (p->state == LEAT_PACKETWAY_PLAN_ASKING) {
        wait_for_answer(a);
        p = leat_packetway_host_plan(host, dt, leat_sim_packetway_clock(&a->network->net));
    }
    if (p->state == LEAT_PACKETWAY_PLAN_ASKING || p->state == LEAT_PACKETWAY_PLAN_FAILED ||
        p->state == LEAT_PACKETWAY_PLAN_NONE)
        return fail("%s: no half-router knows a route there", word);
    put_plan(p, a->text);
    return DONE;
}

/* The address of a half-router of the querying host's SAN. False after a complaint. */
static bool find_peer(const struct pktway_query *a, uint32_t *address)
{
    const uint32_t san = leat_sim_packetway_san_of(&a->network->net, a->from);
    for (uint32_t i = 0; i < a->network->design.routers; i++)
        for (uint32_t k = 0; k < a->network->design.router[i].ends; k++)
            if (a->network->design.router[i].end[k].san == san) {
                leat_sim_packetway_engine(&a->network->net, i, k, address);
                return true;
            }
    complain("%s has no half-router to ask", a->network->design.san[san].name);
    return false;
}

/* The rest of an answer, until nothing more arrives for a while. */
static void wait_for_more(struct pktway_query *a)
{
    struct leat_port_net *net = &a->network->net.base;
    size_t seen = 0;
    for (leat_time end = 0; !interrupted && (a->records_len != seen || net->now < end);) {
        if (a->records_len != seen) end = net->now + MORE_PS;
        seen = a->records_len;
        leat_port_run(net, net->now + STEP_PS);
    }
}

static int tell(struct pktway_query *a)
{
    uint8_t wanted[1024];
    struct leat_packetway_build build;
    uint32_t peer = 0;
    leat_packetway_build_init(&build, wanted, sizeof wanted);
    for (int i = 1; i < a->args->operand_count; i++)
        if (!pktway_wanted_read(a->args->operand[i], &build))
            return misuse(a->args->verb, "tell '%s', expected " PKTWAY_WANTED, a->args->operand[i]);
    if (!find_peer(a, &peer)) return FAILED;
    if (leat_packetway_host_query(leat_sim_packetway_host(&a->network->net, a->from), peer, wanted,
                                  build.len, leat_sim_packetway_clock(&a->network->net)) ||
        !wait_for_answer(a)) {
        if (a->err_te == LEAT_PACKETWAY_TE_UNK)
            complain("no such node");
        else
            complain("no answer from half-router 0x%06x", peer);
        return FAILED;
    }
    wait_for_more(a);
    if (a->is_cut)
        return fail("the answer has more than %zu octets, expected fewer nodes", sizeof a->records);
    const struct leat_packetway_records nodes = leat_packetway_records_of(
        a->records, a->records_len, LEAT_PACKETWAY_LENIENT);
    struct json_out out;
    struct leat_json *j = json_open(&out, a->text ? NULL : stdout);
    leat_json_array(j, "answers");
    pktway_put_nodes(nodes, j, a->text);
    leat_json_end(j);
    json_close(&out, json_status());
    return DONE;
}

static int memory(struct pktway_query *a)
{
    uint32_t to;
    if (!read_host(a, a->args->operand[0], a->args->operand[1], &to)) return WRONG;
    if (to == a->from)
        return misuse(a->args->verb,
                      "%s '%s', expected another host than the one that asks (--from)",
                      a->args->operand[0], a->args->operand[1]);
    return pktway_put_memory(a, to);
}

/* ---- all ------------------------------------------------------------------------------------ */

static const struct subcommand {
    const char *word;
    int least, most; /* operands behind it */
    const char *expected;
    int (*run)(struct pktway_query *query);
} subcommands[] = {
    { "ping", 1, 1, "one host, as in leat pktway ping clos.15 --fabric twosan", ping },
    { "trace", 1, 1, "one host, as in leat pktway trace clos.15 --fabric twosan", trace },
    { "plan", 1, 1, "one node, as in leat pktway plan clos.15 --fabric twosan", plan },
    { "tell", 1, 16, "what to look for, as in name=clos.15 or capability=2", tell },
    { "tables", 0, 1, "one router at most", pktway_put_tables },
    { "read", 3, 3, "a host, an address of its memory, and how many octets", memory },
    { "write", 3, 3, "a host, an address of its memory, and octets: hex or text=TEXT", memory },
    { "send", 0, 2, "TO and OCTETS, text=TEXT or --file FILE; or --messages FILE",
      pktway_put_mail },
    { "receive", 1, 1, "one host, and --messages FILE", pktway_put_mail },
};

int pktway_simulate(const struct arguments *args)
{
    static struct pktway_query query; /* large */
    const struct subcommand *s = subcommands;
    while (strcmp(s->word, args->operand[0]) != 0) /* the verb has a row for each */
        s++;
    if (args->operand_count - 1 < s->least || args->operand_count - 1 > s->most)
        return misuse(args->verb, "%s: expected %s", s->word, s->expected);
    memset(&query, 0, sizeof query);
    query.args = args;
    int code = WRONG;
    if (read_options(&query) && open_network(&query)) code = s->run(&query);
    if (!pktway_record_close(query.record, code != WRONG) && code == DONE) code = FAILED;
    if (query.network) leat_fabric_close(&query.network->base);
    return code == WRONG ? code : finish(code);
}
