#include "pktway_mail.h"
#include "lines.h"
#include "number.h"
#include "pktway_options.h"
#include "pktway_record.h"
#include "pktway_shared.h"
#include "result_file.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ERR_PS UINT64_C(10000000000) /* an ERR about the last message may still come */

enum state { TO_SEND, IN_FLIGHT, TO_RETRY, ARRIVED, LOST };

struct letter {
    leat_time at; /* since the beginning */
    struct pktway_way *way;
    uint8_t priority, *octets;
    uint32_t len;
    enum state state;
    uint32_t line; /* of the list, among its messages */
    uint32_t pair, tries;
    leat_time sent_at;
    uint32_t in; /* the end of a router where it came in */
    struct pktway_leg leg;
    uint32_t copy[PKTWAY_HOPS_MAX]; /* of the hops: which packet to a logical address */
    const char *why;
    uint16_t err_te;
    uint32_t err_peer;
};

struct pktway_mail {
    struct letter *letter;
    uint32_t letters, next; /* the first that is not sent */
    struct pktway_way *way; /* [ways] */
    uint32_t ways;
    leat_time start;
    bool receives; /* the verb is receive: by these ports */
    uint32_t port[LEAT_SIM_PACKETWAY_ENDS_MAX], ports;
    uint64_t received;
    struct result_file *output;
};

/* ---- the list ------------------------------------------------------------------------------- */

/* The way of these words: one for all messages that have it. NULL: no memory. */
static struct pktway_way *way_of(struct pktway_mail *m, const char *from, const char *to)
{
    for (uint32_t i = 0; i < m->ways; i++)
        if (strcmp(m->way[i].from, from) == 0 && strcmp(m->way[i].to, to) == 0) return &m->way[i];
    struct pktway_way *way = &m->way[m->ways];
    way->from = strdup(from);
    way->to = strdup(to);
    if (way->from && way->to) {
        m->ways++;
        return way;
    }
    free(way->from);
    free(way->to);
    return NULL;
}

static bool add_letter(struct pktway_query *a, const struct letter *like, const char *from,
                       const char *to, const uint8_t *octets)
{
    struct pktway_mail *m = a->mail;
    struct letter *l = &m->letter[m->letters];
    *l = *like;
    l->line = m->letters;
    l->way = way_of(m, from, to);
    l->octets = malloc((size_t)l->len + 1);
    if (!l->way || !l->octets) {
        free(l->octets);
        return complain("no memory for a message");
    }
    if (l->len) memcpy(l->octets, octets, l->len);
    m->letters++;
    return true;
}

struct reader {
    struct pktway_query *query;
    uint8_t octets[PKTWAY_MAIL_OCTETS_MAX];
};

enum { AT, FROM, TO, PRIORITY, OCTETS, WORDS };
#define LINE_EXPECTED "expected TIME FROM TO PRIORITY OCTETS|text=TEXT"

/* TIME FROM TO PRIORITY OCTETS|text=TEXT */
static bool read_line(void *context, const struct leat_fabric_place *place, struct word line)
{
    struct reader *r = context;
    char word[WORDS][LEAT_FABRIC_LINE_LEN_MAX], at[80];
    struct word next;
    struct letter like = { 0 };
    uint64_t priority;
    size_t len;
    uint32_t count = 0;
    for (; lines_word(&line, &next); count++)
        if (count < WORDS)
            snprintf(word[count], sizeof word[count], "%.*s", (int)next.len, next.text);
    if (count != WORDS) return wrong(place, "%u words, " LINE_EXPECTED, count);
    if (r->query->mail->letters == PKTWAY_MAIL_MAX)
        return wrong(place, "more than %d messages", PKTWAY_MAIL_MAX);
    if (!pktway_read_time(word[AT], strlen(word[AT]), &like.at))
        return wrong(place, "'%.60s', expected a time, as 10us", word[AT]);
    if (!number_read(word[PRIORITY], false, &priority) || priority > LEAT_PACKETWAY_PRIORITY_MAX)
        return wrong(place, "'%.60s', expected a priority of 0 to 63", word[PRIORITY]);
    if (!pktway_payload_word(word[OCTETS], r->octets, sizeof r->octets, &len))
        return wrong(place, "'%.60s', expected octets in hex, or text=TEXT", word[OCTETS]);
    snprintf(at, sizeof at, "%.60s:%u: ", place->file, place->line);
    if (!pktway_way_check(r->query, at, word[FROM], word[TO])) return false;
    like.priority = (uint8_t)priority;
    like.len = (uint32_t)len;
    return add_letter(r->query, &like, word[FROM], word[TO], r->octets);
}

static int compare_times(const void *x, const void *y)
{
    const struct letter *a = x, *b = y;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return a->line < b->line ? -1 : 1;
}

static bool read_list(struct pktway_query *a, const char *file)
{
    struct pktway_mail *m = a->mail;
    struct reader *r = malloc(sizeof *r);
    uint32_t lines;
    if (!r) return complain("no memory for messages");
    r->query = a;
    const bool good = lines_read(file, read_line, r, &lines);
    free(r);
    if (good && !m->letters) return complain("%s: no message, " LINE_EXPECTED, file);
    if (good) qsort(m->letter, m->letters, sizeof *m->letter, compare_times);
    return good;
}

/* The command line describes one message, which is repeated. */
static bool read_one(struct pktway_query *a)
{
    static uint8_t octets[PKTWAY_MAIL_OCTETS_MAX];
    const struct arguments *args = a->args;
    const char *from = argument(args, "--from");
    char first[LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 16];
    uint64_t priority = 0, every = LEAT_PACKETWAY_SECOND;
    uint32_t port[LEAT_SIM_PACKETWAY_ENDS_MAX];
    struct letter like = { 0 };
    size_t len;
    if (!number_take(args, "--priority", &priority) || !number_take(args, "--every", &every) ||
        !pktway_payload_read(args, octets, sizeof octets, &len))
        return false;
    if (a->count > PKTWAY_MAIL_MAX)
        return misused(args->verb,
                       "--count %" PRIu64 ", expected at most %d on a simulated "
                       "network",
                       a->count, PKTWAY_MAIL_MAX);
    snprintf(first, sizeof first, "0x%x", leat_sim_packetway_address(&a->network->net, 0));
    if (from && !pktway_ports_of(a, from, port))
        return misused(args->verb,
                       "--from '%.60s', expected a host of %s: SAN.PORT, an address or a name",
                       from, a->network->design.name);
    if (!pktway_way_check(a, "send ", from ? from : first, args->operand[1])) return false;
    like.priority = (uint8_t)priority;
    like.len = (uint32_t)len;
    for (uint64_t i = 0; i < a->count; i++, like.at += every)
        if (!add_letter(a, &like, from ? from : first, args->operand[1], octets)) return false;
    return true;
}

/* ---- what happens --------------------------------------------------------------------------- */

void pktway_mail_passes(struct pktway_query *a, const struct leat_sim_packetway_pass *pass)
{
    struct letter *l = &a->mail->letter[pass->id];
    const enum leat_packetway_verdict verdict = (enum leat_packetway_verdict)pass->decision.verdict;
    const bool comes_in = verdict == LEAT_PACKETWAY_TO_TWIN || verdict == LEAT_PACKETWAY_COPIES;
    if (comes_in && !pass->copy) l->in = pass->end;
    if (verdict != LEAT_PACKETWAY_TO_SAN || l->leg.hops == PKTWAY_HOPS_MAX) return;
    l->copy[l->leg.hops] = pass->copy;
    l->leg.hop[l->leg.hops++] = (struct pktway_hop){ .router = pass->router,
                                                     .in = l->in,
                                                     .out = pass->end,
                                                     .at = pass->at,
                                                     .planned = pass->decision.layer2,
                                                     .cut = pass->cut };
}

static uint32_t address_at(const struct pktway_query *a, uint32_t port)
{
    return leat_sim_packetway_address(&a->network->net, port);
}

/* ERR names the destination, or says that a router or a link is down. */
void pktway_mail_event(struct pktway_query *a, uint32_t port, const struct leat_packetway_event *e)
{
    struct pktway_mail *m = a->mail;
    const uint16_t te = e->message.header.te;
    const bool is_failure = te == LEAT_PACKETWAY_TE_HRDOWN || te == LEAT_PACKETWAY_TE_LINKDOWN;
    if (e->kind != LEAT_PACKETWAY_EVENT_ERR) return;
    for (uint32_t i = 0; i < m->letters; i++) {
        struct letter *l = &m->letter[i];
        if (l->state == TO_SEND || l->state == ARRIVED || !l->way->pairs) continue;
        const struct pktway_pair *pair = &l->way->pair[l->pair];
        if (pair->port != port || (!is_failure && pair->dt != e->dt)) continue;
        l->err_te = te;
        l->err_peer = e->peer;
    }
}

void pktway_mail_ends(struct pktway_query *a, const struct leat_port_message *message,
                      const char *why)
{
    struct letter *l = &a->mail->letter[message->id];
    struct pktway_way *way = l->way;
    if (!why) {
        l->state = ARRIVED;
        return;
    }
    l->why = why;
    l->state = l->tries < way->pairs ? TO_RETRY : LOST;
    if (way->first == l->pair) way->first = (l->pair + 1) % way->pairs;
}

/* ---- showing -------------------------------------------------------------------------------- */

static void put_hops(const struct pktway_query *a, const struct letter *l, uint32_t copy,
                     struct leat_json *j)
{
    uint32_t hops = 0;
    leat_json_array(j, "hops");
    for (uint32_t i = 0; i < l->leg.hops; i++) {
        if (l->copy[i] != copy) continue;
        text_print(a->text, "%s%s", hops++ ? ", " : " by ",
                   a->network->design.router[l->leg.hop[i].router].name);
        pktway_put_hop_json(a, &l->leg.hop[i], l->sent_at, j);
    }
    leat_json_end(j);
    leat_json_uint(j, "routers_passed", hops);
    if (!hops) text_print(a->text, " natively");
}

/* The members of an object that all have. */
static void put_letter(const struct pktway_query *a, const struct letter *l, struct leat_json *j)
{
    const struct pktway_pair *pair = l->way->pairs ? &l->way->pair[l->pair] : NULL;
    const unsigned long number = (unsigned long)(l - a->mail->letter) + 1;
    leat_json_uint(j, "number", number);
    if (pair) leat_json_hex(j, "sender_address", "0x", address_at(a, pair->port), 6);
    if (pair) leat_json_hex(j, "address", "0x", pair->dt, 6);
    leat_json_string(j, "sent_to", l->way->to);
    LEAT_JSON_UINTS(j, { "priority", l->priority }, { "bytes", l->len }, { "attempts", l->tries });
    text_print(a->text, "%lu: %s to %s, priority %u, %u octets", number, l->way->from, l->way->to,
               l->priority, l->len);
}

static void put_sent(struct pktway_query *a, const struct letter *l,
                     const struct leat_sim_packetway_reception *r)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, a->text ? NULL : stdout);
    const double us = 1e-6 * (double)(r->at - l->sent_at),
                 arrival_us = 1e-6 * (double)(r->at - a->mail->start);
    put_letter(a, l, j);
    text_print(a->text, ", at %.3f us at 0x%06x after %.3f us", arrival_us, address_at(a, r->port),
               us);
    leat_json_hex(j, "receiver_address", "0x", address_at(a, r->port), 6);
    leat_json_bool(j, "reached", true);
    put_hops(a, l, r->copy, j);
    if (l->tries > 1) text_print(a->text, ", attempt %u", l->tries);
    if (r->event->message.ei) text_print(a->text, ", EI 0x%" PRIx64, r->event->message.ei);
    text_print(a->text, "\n");
    leat_json_hex(j, "ei_there", "0x", r->event->message.ei, 1);
    json_fixed(j, "arrival_us", arrival_us, 6);
    json_fixed(j, "time_us", us, 6);
    json_close(&out, json_status());
}

static void put_lost(struct pktway_query *a, const struct letter *l)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, a->text ? NULL : stdout);
    put_letter(a, l, j);
    text_print(a->text, ", lost: %s", l->why);
    leat_json_bool(j, "reached", false);
    leat_json_string(j, "why", l->why);
    leat_json_array(j, "err_messages");
    if (l->err_te) {
        const char *name = pktway_err_name(l->err_te);
        leat_json_object(j, NULL);
        leat_json_string(j, "err", name);
        leat_json_hex(j, "sender_address", "0x", l->err_peer, 6);
        leat_json_end(j);
        text_print(a->text, " (ERR %s from 0x%06x)", name, l->err_peer);
    }
    leat_json_end(j);
    text_print(a->text, "\n");
    json_close(&out, "lost");
}

static bool is_mine(const struct pktway_mail *m, uint32_t port)
{
    for (uint32_t i = 0; i < m->ports; i++)
        if (m->port[i] == port) return true;
    return false;
}

static void put_received(struct pktway_query *a, const struct leat_sim_packetway_reception *r)
{
    const struct leat_packetway_message *message = &r->event->message;
    const struct pktway_reception shown = { .number = ++a->mail->received,
                                            .from = r->event->peer,
                                            .to = message->header.dt,
                                            .priority = message->header.priority,
                                            .pt = message->header.pt,
                                            .te = message->header.te,
                                            .ei = message->ei,
                                            .octets = message->data,
                                            .len = message->data_len,
                                            .is_simulated = true,
                                            .at = r->at - a->mail->start };
    if (a->mail->output)
        leat_text_put(&a->mail->output->out.text, (const char *)shown.octets, shown.len);
    else
        pktway_reception_show(&shown, !a->text, stdout);
}

void pktway_mail_receives(struct pktway_query *a, const struct leat_sim_packetway_reception *r)
{
    struct pktway_mail *m = a->mail;
    if (!m->receives)
        put_sent(a, &m->letter[r->id], r);
    else if (is_mine(m, r->port) && (!argument(a->args, "--count") || m->received < a->count))
        put_received(a, r);
}

/* ---- sending -------------------------------------------------------------------------------- */

/* By the pair that worked last, or by the next one. */
static void send_letter(struct pktway_query *a, struct letter *l)
{
    struct pktway_way *way = l->way;
    struct leat_port_net *net = &a->network->net.base;
    if (!way->pairs) {
        l->why = way->why;
        l->state = LOST;
        return;
    }
    l->pair = l->tries ? (l->pair + 1) % way->pairs : way->first;
    if (!l->tries++) l->sent_at = net->now;
    l->leg = (struct pktway_leg){ 0 };
    l->err_te = 0;
    l->state = IN_FLIGHT;
    const struct leat_sim_packetway_data data = { .from = way->pair[l->pair].port,
                                                  .dt = way->pair[l->pair].dt,
                                                  .pt = LEAT_PACKETWAY_NODE_PT_DATA,
                                                  .priority = l->priority,
                                                  .id = (uint64_t)(l - a->mail->letter),
                                                  .octets = l->octets,
                                                  .len = l->len };
    pktway_record_leaves(a->record, data.from, data.id, data.len);
    leat_sim_packetway_post(&a->network->net, &data, net->now); /* room for all: open_network */
}

static void send_due(struct pktway_query *a)
{
    struct pktway_mail *m = a->mail;
    for (uint32_t i = 0; i < m->next; i++)
        if (m->letter[i].state == TO_RETRY) send_letter(a, &m->letter[i]);
    while (m->next < m->letters && m->start + m->letter[m->next].at <= a->network->net.base.now)
        send_letter(a, &m->letter[m->next++]);
}

static void carry_all(struct pktway_query *a)
{
    struct pktway_mail *m = a->mail;
    struct leat_port_net *net = &a->network->net.base;
    for (uint32_t i = 0; i < m->ways; i++)
        pktway_way_find(a, &m->way[i]);
    m->start = net->now;
    for (send_due(a); !interrupted && (m->next < m->letters || net->in_flight); send_due(a))
        leat_port_run(net, m->next < m->letters ? m->start + m->letter[m->next].at : LEAT_NEVER);
    for (const leat_time end = net->now + ERR_PS; net->now < end && !interrupted;)
        leat_port_run(net, end);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int end_send(struct pktway_query *a)
{
    uint32_t lost = 0;
    for (uint32_t i = 0; i < a->mail->letters; i++)
        if (a->mail->letter[i].state != ARRIVED) {
            if (a->mail->letter[i].state == LOST) put_lost(a, &a->mail->letter[i]);
            lost++;
        }
    return lost ? FAILED : DONE;
}

static int end_receive(const struct pktway_query *a)
{
    const uint64_t wanted = argument(a->args, "--count") ? a->count : 1;
    if (a->mail->received >= wanted) return DONE;
    return fail("%s: %" PRIu64 " messages arrived, expected %" PRIu64 "%s", a->args->operand[1],
                a->mail->received, wanted, wanted == 1 ? " or more" : "");
}

static bool read_mail(struct pktway_query *a)
{
    struct pktway_mail *m = a->mail;
    const char *list = argument(a->args, "--messages");
    m->receives = strcmp(a->args->operand[0], "receive") == 0;
    if (m->receives) {
        if (a->args->operand_count != 2 || !list)
            return misused(a->args->verb, "expected receive HOST --messages FILE, as in receive "
                                          "clos.15 --fabric twosan --messages list");
        m->ports = pktway_ports_of(a, a->args->operand[1], m->port);
        if (!m->ports)
            return misused(a->args->verb,
                           "receive '%.60s', expected SAN.PORT, an address or a name of a host of "
                           "%s",
                           a->args->operand[1], a->network->design.name);
    }
    if (!list) return read_one(a);
    const char *foreign = argument_in(
        a->args, m->receives ? "--from" : "--from --priority --count --every --file");
    if (foreign) return misused(a->args->verb, "%s with --messages, whose lines say that", foreign);
    if (!m->receives && a->args->operand_count != 1)
        return misused(a->args->verb, "--messages with another message, expected one of them");
    return read_list(a, list);
}

static int put_to_file(struct pktway_query *a, const char *path)
{
    static struct result_file file; /* large */
    if (!result_file_open(&file, path)) return WRONG;
    a->mail->output = &file;
    carry_all(a);
    const int code = end_receive(a);
    return result_file_close(&file, code == DONE) ? code : FAILED;
}

static int put_all(struct pktway_query *a)
{
    const char *output = argument(a->args, "--output");
    if (!read_mail(a)) return WRONG;
    if (output && a->mail->receives) return put_to_file(a, output);
    carry_all(a);
    return a->mail->receives ? end_receive(a) : end_send(a);
}

int pktway_put_mail(struct pktway_query *a)
{
    struct pktway_mail m = { .letter = calloc(PKTWAY_MAIL_MAX, sizeof *m.letter),
                             .way = calloc(PKTWAY_MAIL_MAX, sizeof *m.way) };
    int code = FAILED;
    if (m.letter && m.way) {
        a->mail = &m;
        code = put_all(a);
        a->mail = NULL;
    } else {
        complain("no memory for messages");
    }
    for (uint32_t i = 0; i < m.letters; i++)
        free(m.letter[i].octets);
    for (uint32_t i = 0; i < m.ways; i++) {
        free(m.way[i].from);
        free(m.way[i].to);
    }
    free(m.letter);
    free(m.way);
    return code;
}
