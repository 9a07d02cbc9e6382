/*
 * A small network for the tests of nodes: nodes in a row, users at their other links, and wires
 * that carry messages after a delay, in order, or lose them. Users are plain: an atm_call for each
 * call and an atm_party for each party, and what they do next is the test's.
 *
 *    user 0   user 1     user 2   user 3     user 4   user 5       the network's side of each wire:
 *       \     /             \     /             \     /            the node towards users, the left
 *        node 0 ----------- node 1 ----------- node 2              one between nodes
 */
#ifndef LEAT_ATM_NODE_WORLD_TEST_H
#define LEAT_ATM_NODE_WORLD_TEST_H

#include "atm_node.h"
#include "atm_signal_build.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { NODES = 3, USERS = 6, LINKS = 4, LEFT = 2, RIGHT = 3 };
enum { CALLS = 24, PARTIES = 6, WIRE_MAX = 4096, ENTRIES_MAX = 512, MEMORY_LEN = 1 << 20 };
enum { CLASS_RATE = 1000 }; /* cells per second of each call */
#define MS      UINT64_C(1000000000)
#define WIRE_PS (5 * MS)

struct user_party {
    bool used;
    uint16_t reference;
    unsigned called; /* the root's: the user */
    struct leat_atm_party party;
};

struct user_call {
    bool used, ours, multipoint, has_label;
    uint32_t reference;
    unsigned called; /* ours: the user */
    struct leat_atm_call call;
    struct leat_atm_label label;
    struct user_party party[PARTIES];
};

struct user {
    uint32_t reference;
    uint16_t endpoint;
    struct user_call call[CALLS];
};

struct message {
    leat_time at;
    bool to_user;
    unsigned index, link;
    size_t len;
    uint8_t octets[256];
};

struct entry {
    unsigned node;
    struct leat_atm_node_end from, to;
};

struct world {
    struct leat_random r;
    uint64_t loss_percent;
    leat_time now;
    struct leat_atm_node *node[NODES];
    struct user user[USERS];
    struct message wire[WIRE_MAX]; /* from `first`, in order */
    unsigned first, count;
    struct entry entry[ENTRIES_MAX];
    unsigned entry_count;
    unsigned active[USERS]; /* calls of others that were confirmed */
    _Alignas(max_align_t) uint8_t memory[NODES][MEMORY_LEN];
};

static struct world w;

static struct leat_atm_contract world_contract(void)
{
    return (struct leat_atm_contract){ .class = LEAT_ATM_CBR,
                                       .pcr = (uint64_t)CLASS_RATE * LEAT_ATM_RATE_UNIT,
                                       .clr_e12 = LEAT_ATM_CLR_ONE,
                                       .ctd_ps = LEAT_NEVER,
                                       .cdv_ps = LEAT_NEVER };
}

/* ---- wires ---------------------------------------------------------------------------------- */

static void wire_put(bool to_user, unsigned index, unsigned link, const uint8_t *octets, size_t len)
{
    const uint64_t dice = leat_random_below(&w.r, 100);
    if (dice < w.loss_percent) return;
    EQ(w.count < WIRE_MAX && len <= sizeof w.wire[0].octets, 1);
    struct message *m = &w.wire[(w.first + w.count++) % WIRE_MAX];
    *m = (struct message){ leat_time_add(w.now, WIRE_PS), to_user, index, link, len, { 0 } };
    memcpy(m->octets, octets, len);
}

static void world_act(void *context, const struct leat_atm_node_action *a)
{
    const unsigned node = (unsigned)(uintptr_t)context;
    if (a->what == LEAT_ATM_NODE_SEND) {
        if (a->link < LEFT)
            wire_put(true, 2 * node + a->link, 0, a->octets, a->len);
        else
            wire_put(false, a->link == LEFT ? node - 1 : node + 1, a->link == LEFT ? RIGHT : LEFT,
                     a->octets, a->len);
        return;
    }
    unsigned found = ENTRIES_MAX;
    for (unsigned i = 0; i < w.entry_count; i++)
        if (w.entry[i].node == node && memcmp(&w.entry[i].from, &a->from, sizeof a->from) == 0 &&
            memcmp(&w.entry[i].to, &a->to, sizeof a->to) == 0)
            found = i;
    if (a->what == LEAT_ATM_NODE_ENTER) {
        EQ(found, ENTRIES_MAX);
        w.entry[w.entry_count++] = (struct entry){ node, a->from, a->to };
    } else {
        OK(found < ENTRIES_MAX);
        if (found < ENTRIES_MAX) w.entry[found] = w.entry[--w.entry_count];
    }
}

/* Numbers have one digit: '1' is user 0. '9' is nobody. */
static bool world_route(void *context, const struct leat_atm_signal_content *called,
                        uint32_t in_link, uint32_t *out_link)
{
    const unsigned node = (unsigned)(uintptr_t)context;
    const unsigned user = called->tail[0] - '1';
    (void)in_link;
    if (user >= USERS || called->tail_len != 1) return false;
    *out_link = user / 2 == node ? user % 2 : user / 2 < node ? LEFT : RIGHT;
    return true;
}

/* ---- users ---------------------------------------------------------------------------------- */

static void user_send(unsigned user, const struct user_call *c, struct leat_atm_signal_builder *b)
{
    uint8_t octets[256];
    size_t len = 0;
    EQ(leat_atm_signal_message_encode(&b->message, octets, sizeof octets, &len), LEAT_ERR_OK);
    (void)c;
    wire_put(false, user / 2, user % 2, octets, len);
}

static void put_number(struct leat_atm_signal_builder *b, unsigned called)
{
    const uint8_t digit = (uint8_t)('1' + called);
    struct leat_atm_signal_content c = { .id = LEAT_ATM_SIGNAL_CALLED_NUMBER,
                                         .tail = &digit,
                                         .tail_len = 1 };
    c.value[LEAT_ATM_SIGNAL_NUMBER_PLAN] = LEAT_ATM_SIGNAL_PLAN_E164;
    EQ(leat_atm_signal_build_add(b, &c), LEAT_ERR_OK);
}

static void put_value(struct leat_atm_signal_builder *b, uint8_t id, unsigned field, uint32_t value)
{
    struct leat_atm_signal_content c = { .id = id };
    c.value[field] = value;
    EQ(leat_atm_signal_build_add(b, &c), LEAT_ERR_OK);
}

static void put_endpoint(struct leat_atm_signal_builder *b, const struct user_call *c,
                         uint16_t reference)
{
    struct leat_atm_signal_content e = { .id = LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE };
    e.value[LEAT_ATM_SIGNAL_ENDPOINT_FLAG] = !c->ours;
    e.value[LEAT_ATM_SIGNAL_ENDPOINT_VALUE] = reference;
    EQ(leat_atm_signal_build_add(b, &e), LEAT_ERR_OK);
}

static void send_call(unsigned user, const struct user_call *c, const struct leat_atm_call_out *out)
{
    struct leat_atm_signal_builder b;
    const struct leat_atm_contract contract = world_contract();
    if (!out->send) return;
    leat_atm_signal_build(&b, (enum leat_atm_signal_type)out->send, c->reference, !c->ours);
    if (out->send == LEAT_ATM_SIGNAL_SETUP) {
        EQ(leat_atm_signal_contract_add(&b, &contract, c->multipoint ? NULL : &contract,
                                        c->multipoint),
           LEAT_ERR_OK);
        put_number(&b, c->called);
        if (c->multipoint) put_endpoint(&b, c, 0);
    }
    if (out->send == LEAT_ATM_SIGNAL_STATUS)
        put_value(&b, LEAT_ATM_SIGNAL_CALL_STATE, LEAT_ATM_SIGNAL_STATE, out->state);
    if (out->cause) put_value(&b, LEAT_ATM_SIGNAL_CAUSE, LEAT_ATM_SIGNAL_CAUSE_VALUE, out->cause);
    user_send(user, c, &b);
}

static void party_step(unsigned user, struct user_call *c, struct user_party *p, unsigned called,
                       const struct leat_atm_party_in *in)
{
    struct leat_atm_signal_builder b;
    struct leat_atm_party_out out;
    leat_atm_party_step(&p->party, w.now, &leat_atm_call_timers_default, in, &out);
    if (out.send) {
        leat_atm_signal_build(&b, (enum leat_atm_signal_type)out.send, c->reference, !c->ours);
        if (out.send == LEAT_ATM_SIGNAL_ADD_PARTY) put_number(&b, called);
        if (out.cause) put_value(&b, LEAT_ATM_SIGNAL_CAUSE, LEAT_ATM_SIGNAL_CAUSE_VALUE, out.cause);
        put_endpoint(&b, c, p->reference);
        if (out.send == LEAT_ATM_SIGNAL_STATUS) {
            put_value(&b, LEAT_ATM_SIGNAL_CALL_STATE, LEAT_ATM_SIGNAL_STATE, c->call.state);
            put_value(&b, LEAT_ATM_SIGNAL_ENDPOINT_STATE, LEAT_ATM_SIGNAL_STATE, out.state);
        }
        user_send(user, c, &b);
    }
    if (out.tell == LEAT_ATM_PARTY_ENDING)
        party_step(user, c, p, 0,
                   &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_DROP, .cause = 16 });
    if (p->party.state == LEAT_ATM_PARTY_NULL) p->used = false;
}

static struct user_party *party_new(struct user_call *c, uint16_t reference)
{
    for (unsigned i = 0; i < PARTIES; i++) {
        if (c->party[i].used) continue;
        c->party[i] = (struct user_party){ .used = true, .reference = reference };
        leat_atm_party_init(&c->party[i].party);
        return &c->party[i];
    }
    return NULL;
}

static struct user_party *party_find(struct user_call *c, uint16_t reference)
{
    for (unsigned i = 0; i < PARTIES; i++)
        if (c->party[i].used && c->party[i].reference == reference) return &c->party[i];
    return NULL;
}

static void parties_all(unsigned user, struct user_call *c, enum leat_atm_party_event event)
{
    for (unsigned i = 0; i < PARTIES; i++)
        if (c->party[i].used)
            party_step(user, c, &c->party[i], 0, &(struct leat_atm_party_in){ .event = event });
}

static bool call_step(unsigned user, struct user_call *c, const struct leat_atm_call_in *in)
{
    struct leat_atm_call_out out;
    const bool done = leat_atm_call_step(&c->call, w.now, &leat_atm_call_timers_default, in, &out);
    send_call(user, c, &out);
    if (out.tell == LEAT_ATM_CALL_CONFIRMED) w.active[user]++;
    if (out.tell == LEAT_ATM_CALL_CONFIRMED || out.tell == LEAT_ATM_CALL_ANSWERED)
        parties_all(user, c, LEAT_ATM_PARTY_JOINED);
    if (out.tell == LEAT_ATM_CALL_ENDING)
        call_step(user, c,
                  &(struct leat_atm_call_in){ .event = LEAT_ATM_CALL_DO_RELEASE, .cause = 16 });
    if (c->call.state == LEAT_ATM_CALL_NULL) c->used = false;
    return done;
}

static bool call_do(unsigned user, struct user_call *c, enum leat_atm_call_event event)
{
    return call_step(user, c, &(struct leat_atm_call_in){ .event = event, .cause = 16 });
}

static struct user_call *call_new(unsigned user, uint32_t reference, bool ours)
{
    for (unsigned i = 0; i < CALLS; i++) {
        struct user_call *c = &w.user[user].call[i];
        if (c->used) continue;
        *c = (struct user_call){ .used = true, .ours = ours, .reference = reference };
        leat_atm_call_init(&c->call, LEAT_ATM_CALL_USER);
        return c;
    }
    return NULL;
}

static struct user_call *user_calls(unsigned user, unsigned called, bool multipoint)
{
    struct user_call *c = call_new(user, ++w.user[user].reference, true);
    if (!c) return NULL;
    c->called = called;
    c->multipoint = multipoint;
    if (multipoint) {
        struct user_party *p = party_new(c, 0);
        p->called = called;
        party_step(user, c, p, 0, &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_JOIN });
    }
    call_do(user, c, LEAT_ATM_CALL_DO_SETUP);
    return c;
}

static struct user_party *user_adds(unsigned user, struct user_call *c, unsigned called)
{
    struct user_party *p = party_new(c, (uint16_t)(++w.user[user].endpoint & 0x7fff));
    if (!p) return NULL;
    p->called = called;
    party_step(user, c, p, called, &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_ADD });
    return p;
}

/* A field of a message; `none` if it is not there. */
static uint32_t field_of(const struct leat_atm_signal_message *m, enum leat_atm_signal_id id,
                         unsigned field, uint32_t none)
{
    struct leat_atm_signal_content c;
    const struct leat_atm_signal_element *e = leat_atm_signal_message_find(m, id);
    return e && !leat_atm_signal_content_decode(e, &c) ? c.value[field] : none;
}

static void user_takes_party(unsigned user, struct user_call *c,
                             const struct leat_atm_signal_message *m, uint16_t reference)
{
    struct user_party none = { .reference = reference }, *p = party_find(c, reference);
    if (!p && m->type == LEAT_ATM_SIGNAL_ADD_PARTY && !c->ours) p = party_new(c, reference);
    if (!p) leat_atm_party_init(&none.party);
    party_step(
        user, c, p ? p : &none, 0,
        &(struct leat_atm_party_in){
            LEAT_ATM_PARTY_MESSAGE, m->type,
            (uint8_t)field_of(m, LEAT_ATM_SIGNAL_CAUSE, LEAT_ATM_SIGNAL_CAUSE_VALUE, 16),
            (uint8_t)field_of(m, LEAT_ATM_SIGNAL_ENDPOINT_STATE, LEAT_ATM_SIGNAL_STATE, 10) });
    if (none.party.state == LEAT_ATM_PARTY_ADD_RECEIVED) /* no room */
        party_step(user, c, &none, 0,
                   &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_DROP });
}

static void user_takes(unsigned user, const struct message *message)
{
    struct leat_atm_signal_message m;
    EQ(leat_atm_signal_message_decode(message->octets, message->len, &m, NULL), LEAT_ERR_OK);
    struct user_call none = { .ours = m.to_originator, .reference = m.call }, *c = NULL;
    for (unsigned i = 0; i < CALLS; i++) {
        struct user_call *each = &w.user[user].call[i];
        if (each->used && each->reference == m.call && each->ours == m.to_originator) c = each;
    }
    const uint32_t endpoint = field_of(&m, LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE,
                                       LEAT_ATM_SIGNAL_ENDPOINT_VALUE, UINT32_MAX);
    const bool of_party = m.type >= LEAT_ATM_SIGNAL_ADD_PARTY || m.type == LEAT_ATM_SIGNAL_STATUS ||
                          m.type == LEAT_ATM_SIGNAL_STATUS_ENQUIRY;
    if (c && of_party && endpoint != UINT32_MAX) {
        user_takes_party(user, c, &m, (uint16_t)endpoint);
        return;
    }
    if (!c && m.type == LEAT_ATM_SIGNAL_SETUP) {
        c = call_new(user, m.call, false);
        if (c && endpoint != UINT32_MAX) {
            c->multipoint = true;
            party_step(user, c, party_new(c, (uint16_t)endpoint), 0,
                       &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_JOIN_ASKED });
        }
    }
    if (!c) {
        leat_atm_call_init(&none.call, LEAT_ATM_CALL_USER);
        c = &none;
    }
    const uint32_t vci = field_of(&m, LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER,
                                  LEAT_ATM_SIGNAL_CONNECTION_VCI, 0);
    if (vci && !c->has_label) {
        c->has_label = true;
        c->label.vci = (uint16_t)vci;
        c->label.vpi = (uint16_t)field_of(&m, LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER,
                                          LEAT_ATM_SIGNAL_CONNECTION_VPCI, 0);
    }
    call_step(user, c,
              &(struct leat_atm_call_in){
                  LEAT_ATM_CALL_MESSAGE, m.type,
                  (uint8_t)field_of(&m, LEAT_ATM_SIGNAL_CAUSE, LEAT_ATM_SIGNAL_CAUSE_VALUE, 16),
                  (uint8_t)field_of(&m, LEAT_ATM_SIGNAL_CALL_STATE, LEAT_ATM_SIGNAL_STATE, 10) });
    if (none.call.state == LEAT_ATM_CALL_PRESENT) call_do(user, &none, LEAT_ATM_CALL_DO_RELEASE);
}

static void user_timers(unsigned user)
{
    for (unsigned i = 0; i < CALLS; i++) {
        struct user_call *c = &w.user[user].call[i];
        if (!c->used) continue;
        if (c->call.due_at <= w.now) call_do(user, c, LEAT_ATM_CALL_TIMER);
        for (unsigned k = 0; k < PARTIES && c->used; k++)
            if (c->party[k].used && c->party[k].party.due_at <= w.now)
                party_step(user, c, &c->party[k], 0,
                           &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_TIMER });
    }
}

/* ---- the world ------------------------------------------------------------------------------ */

/* Rates are multiples of that of a call; `labels` per link. */
static void world_init(uint64_t seed, uint64_t loss_percent, unsigned labels, unsigned calls_rate)
{
    memset(&w, 0, offsetof(struct world, memory));
    leat_random_seed(&w.r, seed);
    w.loss_percent = loss_percent;
    for (unsigned i = 0; i < NODES; i++) {
        struct leat_atm_node_link_config link[LINKS];
        for (unsigned k = 0; k < LINKS; k++) {
            link[k] = (struct leat_atm_node_link_config){
                .side = k == LEFT ? LEAT_ATM_CALL_USER : LEAT_ATM_CALL_NETWORK,
                .labels = { 0, 0, 32, (uint16_t)(31 + labels) },
                .cac = { .capacity = (uint64_t)CLASS_RATE * LEAT_ATM_RATE_UNIT * calls_rate,
                         .queue = { .level_count = LEAT_ATM_LEVEL_COUNT, .w = 65536 } },
            };
            for (unsigned level = 0; level < LEAT_ATM_LEVEL_COUNT; level++)
                link[k].cac.queue.level[level].capacity = 100000;
        }
        const struct leat_atm_node_config config = { .link_count = LINKS,
                                                     .link = link,
                                                     .calls_max = 64,
                                                     .half_calls_max = 160,
                                                     .parties_max = 40,
                                                     .timers = leat_atm_call_timers_default,
                                                     .context = (void *)(uintptr_t)i,
                                                     .route = world_route,
                                                     .act = world_act };
        OK(leat_atm_node_footprint(&config) <= MEMORY_LEN);
        EQ(leat_atm_node_init(w.memory[i], MEMORY_LEN, &config, &w.node[i]), LEAT_ERR_OK);
    }
}

static leat_time world_next(void)
{
    leat_time at = w.count ? w.wire[w.first].at : LEAT_NEVER;
    for (unsigned i = 0; i < NODES; i++)
        at = leat_smaller(at, leat_atm_node_due_at(w.node[i]));
    for (unsigned u = 0; u < USERS; u++) {
        for (unsigned i = 0; i < CALLS; i++) {
            const struct user_call *c = &w.user[u].call[i];
            if (!c->used) continue;
            at = leat_smaller(at, c->call.due_at);
            for (unsigned k = 0; k < PARTIES; k++)
                if (c->party[k].used) at = leat_smaller(at, c->party[k].party.due_at);
        }
    }
    return at;
}

/* All that happens up to a time. */
static void world_run(leat_time until)
{
    for (leat_time at = world_next(); at <= until && at != LEAT_NEVER; at = world_next()) {
        w.now = leat_larger(at, w.now);
        while (w.count && w.wire[w.first].at <= w.now) {
            const struct message m = w.wire[w.first];
            w.first = (w.first + 1) % WIRE_MAX;
            w.count--;
            if (m.to_user)
                user_takes(m.index, &m);
            else
                EQ(leat_atm_node_receive(w.node[m.index], w.now, m.link, m.octets, m.len),
                   LEAT_ERR_OK);
        }
        for (unsigned i = 0; i < NODES; i++)
            leat_atm_node_run(w.node[i], w.now);
        for (unsigned u = 0; u < USERS; u++)
            user_timers(u);
    }
    w.now = until;
}

#endif
