/* A host: the engine of packetway_host.h on a real SAN. */
#include "live_packetway_node_parts.h"
#include "packetway_record.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)LEAT_PACKETWAY_NODE_WHY_LEN == (int)LIVE_WHY_LEN, "one length of reasons");
enum { PLANS = 256, PENDING = 64, RESOLVE_MS = 300 };
static const leat_time ps_per_ms = 1000000000, ps_per_ns = 1000;

/* ---- sending ------------------------------------------------------------------------------- */

/* To a node of this SAN or, while its native route is unknown, to a half-router for it. */
static bool deliver(struct leat_packetway_node *p, uint32_t to, const uint8_t *octets, uint32_t len)
{
    const struct packetway_node *node = packetway_san_node(&p->san, to);
    if (!node && p->router_count) node = packetway_san_node(&p->san, p->routers[0]);
    return node && packetway_san_send(&p->san, node->native.octets, node->native.len, octets, len);
}

static void take_all(struct leat_packetway_node *p)
{
    struct leat_packetway_host_outgoing out;
    while (leat_packetway_host_take(p->engine, &out))
        deliver(p, out.to, out.octets, out.len);
}

/* Which node has this address? On Ethernet all can be asked at once. */
static void ask_all(struct leat_packetway_node *p, uint32_t address)
{
    uint8_t octets[LEAT_PACKETWAY_MESSAGE_LEN_MIN];
    const uint32_t len = packetway_rrp_write(address, p->san.plan.address, LEAT_PACKETWAY_TE_WRU,
                                             NULL, 0, octets, sizeof octets);
    if (len) packetway_san_send_all(&p->san, octets, len);
}

void packetway_node_reply(struct leat_packetway_node *p, const struct leat_packetway_message *m,
                          leat_time now)
{
    size_t len;
    uint32_t to;
    if (!leat_packetway_host_send(p->engine, m, LEAT_PACKETWAY_SEND_BY_ADDRESS, p->out,
                                  sizeof p->out, &len, &to, now))
        deliver(p, to, p->out, (uint32_t)len);
}

static void answer_echo(struct leat_packetway_node *p, const struct leat_packetway_event *e,
                        leat_time now)
{
    static uint8_t data[PACKETWAY_MESSAGE_MAX];
    struct leat_packetway_message *m = &p->reply;
    if (!e->peer || e->message.data_len + 8 > sizeof data) return;
    leat_put_be64(data, e->message.ei);
    if (e->message.data_len) memcpy(data + 8, e->message.data, e->message.data_len);
    memset(m, 0, sizeof *m);
    m->header = (struct leat_packetway_header){ .dt = e->peer,
                                                .pt = LEAT_PACKETWAY_NODE_PT_ECHO,
                                                .te = LEAT_PACKETWAY_NODE_ECHO_REPLY,
                                                .priority = e->message.header.priority };
    m->data = data;
    m->data_len = e->message.data_len + 8;
    packetway_node_reply(p, m, now);
}

/* ---- half-routers -------------------------------------------------------------------------- */

static void meet_router(struct leat_packetway_node *p, uint32_t address)
{
    uint32_t i = 0;
    while (i < p->router_count && p->routers[i] != address)
        i++;
    if (i == LEAT_PACKETWAY_HOST_ROUTERS_MAX) return;
    if (leat_packetway_host_router(p->engine, address)) return;
    p->routers[i] = address;
    if (i == p->router_count) p->router_count++;
}

static void lose_router(struct leat_packetway_node *p, uint32_t address)
{
    leat_packetway_host_router_gone(p->engine, address);
    for (uint32_t i = 0; i < p->router_count; i++)
        if (p->routers[i] == address) {
            memmove(p->routers + i, p->routers + i + 1,
                    (--p->router_count - i) * sizeof *p->routers);
            return;
        }
}

static void poll_san(struct leat_packetway_node *p, leat_time now)
{
    struct packetway_node gone;
    if (p->poll_at > now) return;
    packetway_san_excuse(&p->san, now - p->poll_at);
    p->poll_at = leat_time_add(now, p->poll_ps);
    packetway_san_dismiss(&p->san);
    while (packetway_san_silent(&p->san, now, &gone))
        if (gone.router) lose_router(p, gone.address);
    const bool returned = packetway_san_returned(&p->san);
    if (p->router_count && !p->san.plan.udp && !returned) return; /* there, half-routers ask */
    packetway_san_announce(&p->san, NULL, p->about, p->about_len);
    packetway_san_solicit(&p->san);
}

/* ---- receiving ----------------------------------------------------------------------------- */

static void keep(struct leat_packetway_node *p, const uint8_t *octets, uint32_t len)
{
    if (p->queue_count == LEAT_PACKETWAY_NODE_QUEUE_MAX) return;
    struct kept *k = &p->queue[(p->queue_first + p->queue_count) % LEAT_PACKETWAY_NODE_QUEUE_MAX];
    k->octets = malloc(len);
    if (!k->octets) return;
    k->len = len;
    memcpy(k->octets, octets, len);
    p->queue_count++;
}

static bool take_kept(struct leat_packetway_node *p, uint32_t *len)
{
    if (!p->queue_count) return false;
    struct kept *k = &p->queue[p->queue_first];
    p->queue_first = (p->queue_first + 1) % LEAT_PACKETWAY_NODE_QUEUE_MAX;
    p->queue_count--;
    memcpy(p->in, k->octets, k->len);
    *len = k->len;
    free(k->octets);
    return true;
}

/* Is it for the program? */
static bool is_data(const struct leat_packetway_node *p, const uint8_t *octets, uint32_t len)
{
    if (len < LEAT_PACKETWAY_MESSAGE_LEN_MIN || leat_packetway_leading_begins(octets[1]))
        return false;
    const uint16_t pt = leat_get_be16(octets + LEAT_PACKETWAY_PT_AT);
    return !packetway_memory_takes(p, octets) && pt != LEAT_PACKETWAY_PT_RRP &&
           pt != LEAT_PACKETWAY_PT_ERR &&
           !packetway_message_is(octets, len, LEAT_PACKETWAY_NODE_PT_ECHO,
                                 LEAT_PACKETWAY_NODE_ECHO_REQUEST);
}

static void take_in(struct leat_packetway_node *p, uint32_t len, leat_time now,
                    struct leat_packetway_event *e)
{
    leat_packetway_host_receive(p->engine, p->in, len, now, e);
    const bool echo = e->kind == LEAT_PACKETWAY_EVENT_DATA &&
                      e->message.header.pt == LEAT_PACKETWAY_NODE_PT_ECHO &&
                      e->message.header.te == LEAT_PACKETWAY_NODE_ECHO_REQUEST;
    if (echo && !p->mute)
        answer_echo(p, e, now);
    else if (!packetway_memory_serve(p, e, now))
        return;
    e->kind = LEAT_PACKETWAY_EVENT_NONE;
}

/*
 * A node describes itself, as nodes do when the SAN is mapped. Is it also what the program has
 * asked that node for? A TELL asks a half-router for all nodes that match; it may be one of them,
 * and the only one.
 */
static bool is_answer(const struct leat_packetway_node *p, uint32_t len)
{
    static struct leat_packetway_message m;
    struct leat_packetway_record record;
    if (leat_get_be24(p->in + LEAT_PACKETWAY_SA_AT) != p->expected ||
        leat_packetway_message_decode(p->in, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION,
                                      &m, NULL))
        return false;
    if (!p->asked_len) return true;
    struct leat_packetway_records records = leat_packetway_message_records(&m);
    leat_packetway_records_next(&records, &record);
    const struct leat_packetway_address a = leat_packetway_record_address(&record);
    return leat_packetway_about_matches(
        leat_packetway_records_of(p->asked, p->asked_len, LEAT_PACKETWAY_STRICT), &a,
        leat_packetway_record_nested(&record));
}

bool packetway_node_step(struct leat_packetway_node *p, bool control_only,
                         struct leat_packetway_event *e)
{
    struct leat_packetway_native from;
    const struct packetway_node *node = NULL;
    const leat_time now = packetway_now();
    e->kind = LEAT_PACKETWAY_EVENT_NONE;
    const uint32_t len = packetway_san_receive(&p->san, p->in, &from);
    if (!len) {
        poll_san(p, now);
        leat_packetway_host_tick(p->engine, now, e);
    } else if (packetway_san_answers_claim(&p->san, p->in, len, &from)) {
        return true;
    } else if (control_only && is_data(p, p->in, len)) {
        keep(p, p->in, len);
    } else {
        const enum packetway_learnt learnt = packetway_san_learn(&p->san, p->in, len, &from, now,
                                                                 &node);
        if (learnt == PACKETWAY_NEW && node->router) meet_router(p, node->address);
        packetway_san_meet(&p->san, p->in, len, &from, p->about, p->about_len, now);
        packetway_san_alive(&p->san, &from, now);
        const bool mapped = node && !is_answer(p, len);
        const bool believed = learnt != PACKETWAY_REFUSED &&
                              !packetway_san_spoofed(&p->san, p->in, len, &from);
        if (believed && !mapped) take_in(p, len, now, e);
    }
    take_all(p);
    return len || e->kind != LEAT_PACKETWAY_EVENT_NONE;
}

bool packetway_node_pause(const struct leat_packetway_node *p, leat_time until)
{
    const leat_time now = packetway_now(), engine_at = leat_packetway_host_next_at(p->engine);
    if (now >= until) return false;
    leat_time wake = until < p->poll_at ? until : p->poll_at;
    if (engine_at < wake) wake = engine_at;
    return live_wait(p->san.fd, wake > now ? (wake - now) / ps_per_ns : 0) || errno != EINTR;
}

leat_time packetway_node_deadline(uint32_t timeout_ms)
{
    return leat_time_add(packetway_now(), timeout_ms * ps_per_ms);
}

/* Handles what is for the node alone; bounded, however much arrives. */
static void take_turn(struct leat_packetway_node *p)
{
    struct leat_packetway_event e;
    for (int i = 0; i < PACKETWAY_TURN && packetway_node_step(p, true, &e); i++) {
    }
}

bool leat_packetway_node_receive(struct leat_packetway_node *p, uint32_t timeout_ms,
                                 struct leat_packetway_event *out)
{
    const leat_time until = packetway_node_deadline(timeout_ms);
    uint32_t len;
    while (take_kept(p, &len)) {
        take_in(p, len, packetway_now(), out);
        if (out->kind != LEAT_PACKETWAY_EVENT_NONE) return true;
    }
    do {
        for (int i = 0; i < PACKETWAY_TURN && packetway_node_step(p, false, out); i++)
            if (out->kind != LEAT_PACKETWAY_EVENT_NONE) return true;
    } while (packetway_node_pause(p, until));
    return false;
}

/* Adds to the reason for silence that the key may be wrong. */
static void add_key_hint(const struct leat_packetway_node *p, char *why)
{
    const char *hint = packetway_san_key_hint(&p->san);
    const size_t len = strlen(why);
    if (*hint) snprintf(why + len, LEAT_PACKETWAY_NODE_WHY_LEN - len, ", but %s", hint);
}

/* ---- discover and plan --------------------------------------------------------------------- */

enum leat_packetway_node_end leat_packetway_node_join(struct leat_packetway_node *p,
                                                      uint32_t timeout_ms, char *why)
{
    const leat_time until = packetway_node_deadline(timeout_ms);
    do {
        take_turn(p);
        if (p->router_count) return LEAT_PACKETWAY_NODE_OK;
    } while (packetway_node_pause(p, until));
    live_because(why, "no half-router was seen on %s",
                 p->san.plan.udp ? "this UDP SAN" : p->san.plan.device);
    add_key_hint(p, why);
    return LEAT_PACKETWAY_NODE_SILENT;
}

uint32_t leat_packetway_node_router(const struct leat_packetway_node *p, uint32_t index)
{
    return index < p->router_count ? p->routers[index] : 0;
}

enum leat_packetway_node_end leat_packetway_node_plan(struct leat_packetway_node *p, uint32_t dt,
                                                      uint32_t timeout_ms,
                                                      const struct leat_packetway_plan **out,
                                                      char *why)
{
    const leat_time until = packetway_node_deadline(timeout_ms);
    const struct leat_packetway_plan *plan = NULL;
    if (!leat_packetway_address_is_node(dt)) {
        live_because(why, "0x%x, expected the address of a node", dt);
        return LEAT_PACKETWAY_NODE_WRONG;
    }
    do {
        take_turn(p);
        plan = leat_packetway_host_plan(p->engine, dt, packetway_now());
        take_all(p);
        if (plan->state != LEAT_PACKETWAY_PLAN_ASKING) break;
    } while (packetway_node_pause(p, until));
    *out = plan;
    if (plan->state == LEAT_PACKETWAY_PLAN_ASKING) {
        live_because(why, "no half-router has answered about 0x%06x in %u ms", dt, timeout_ms);
        return LEAT_PACKETWAY_NODE_SILENT;
    }
    if (plan->state == LEAT_PACKETWAY_PLAN_FAILED) {
        live_because(why,
                     p->router_count ? "no half-router here knows a route to 0x%06x"
                                     : "no half-router is known that could plan a route to 0x%06x",
                     dt);
        if (!p->router_count) add_key_hint(p, why);
        return LEAT_PACKETWAY_NODE_UNKNOWN;
    }
    return LEAT_PACKETWAY_NODE_OK;
}

enum leat_packetway_node_end leat_packetway_node_query(struct leat_packetway_node *p, uint32_t peer,
                                                       const uint8_t *records, size_t len,
                                                       char *why)
{
    const leat_err err = leat_packetway_host_query(p->engine, peer, records, len, packetway_now());
    if (!err) {
        p->expected = peer;
        p->asked_len = len;
        if (len) memcpy(p->asked, records, len);
        take_all(p);
        return LEAT_PACKETWAY_NODE_OK;
    }
    if (err == LEAT_ERR_DUPLICATE)
        live_because(why, "0x%06x has not answered the last question yet, expected one at a time",
                     peer);
    else
        live_because(why, "0x%06x cannot be asked that: %s", peer, leat_err_text(err));
    return LEAT_PACKETWAY_NODE_WRONG;
}

void leat_packetway_node_cancel(struct leat_packetway_node *p, uint32_t peer)
{
    leat_packetway_host_cancel(p->engine, peer);
    if (p->expected == peer) p->expected = 0;
}

void leat_packetway_node_forget(struct leat_packetway_node *p, uint32_t dt)
{
    leat_packetway_host_forget(p->engine, dt);
}

/* ---- send ---------------------------------------------------------------------------------- */

/* Finds the native route of a node of this SAN, briefly. */
static void resolve(struct leat_packetway_node *p, uint32_t dt)
{
    if (p->san.plan.udp || !leat_packetway_block_holds(&p->san.plan.block, dt)) return;
    if (dt == p->san.plan.address) return; /* a half-router sends it back */
    if (packetway_san_node(&p->san, dt)) return;
    const leat_time until = packetway_node_deadline(RESOLVE_MS);
    ask_all(p, dt);
    do {
        take_turn(p);
    } while (!packetway_san_node(&p->san, dt) && packetway_node_pause(p, until));
}

static enum leat_packetway_node_end unsent(const struct leat_packetway_node *p, uint32_t dt,
                                           leat_err err, char *why)
{
    if (err == LEAT_ERR_FIELD) {
        live_because(why, "no half-router is known for 0x%06x", dt);
        add_key_hint(p, why);
    } else if (err == LEAT_ERR_LENGTH) {
        live_because(why, "the message is longer than the MTU of the route to 0x%06x", dt);
    } else {
        live_because(why, "the message to 0x%06x: %s", dt, leat_err_text(err));
    }
    return err == LEAT_ERR_FIELD ? LEAT_PACKETWAY_NODE_SILENT : LEAT_PACKETWAY_NODE_WRONG;
}

static enum leat_packetway_node_end undelivered(const struct leat_packetway_node *p, uint32_t to,
                                                char *why)
{
    if (packetway_san_is_up(&p->san)) {
        live_because(why, "0x%06x was not seen on this SAN", to);
        add_key_hint(p, why);
    } else {
        live_because(why, "%s is down", p->san.plan.device);
    }
    return LEAT_PACKETWAY_NODE_SILENT;
}

enum leat_packetway_node_end leat_packetway_node_send(struct leat_packetway_node *p,
                                                      const struct leat_packetway_message *message,
                                                      enum leat_packetway_how how,
                                                      uint32_t timeout_ms, char *why)
{
    const struct leat_packetway_plan *plan;
    const uint32_t dt = message->header.dt;
    size_t len;
    uint32_t to;
    resolve(p, dt);
    leat_err err = leat_packetway_host_send(p->engine, message, how, p->out, sizeof p->out, &len,
                                            &to, packetway_now());
    if (err == LEAT_ERR_FIELD && how == LEAT_PACKETWAY_SEND_PLANNED &&
        leat_packetway_address_is_node(dt)) {
        const enum leat_packetway_node_end end = leat_packetway_node_plan(p, dt, timeout_ms, &plan,
                                                                          why);
        if (end != LEAT_PACKETWAY_NODE_OK) return end;
        err = leat_packetway_host_send(p->engine, message, how, p->out, sizeof p->out, &len, &to,
                                       packetway_now());
    }
    if (err) return unsent(p, dt, err, why);
    return deliver(p, to, p->out, (uint32_t)len) ? LEAT_PACKETWAY_NODE_OK : undelivered(p, to, why);
}

enum leat_packetway_node_end
leat_packetway_node_send_routed(struct leat_packetway_node *p,
                                const struct leat_packetway_message *message, uint32_t to,
                                char *why)
{
    size_t len;
    struct leat_packetway_message *m = &p->reply;
    *m = *message;
    m->header.sa = p->san.plan.address;
    const leat_err err = leat_packetway_message_encode(m, p->out, sizeof p->out, &len);
    if (err) return unsent(p, message->header.dt, err, why);
    return deliver(p, to, p->out, (uint32_t)len) ? LEAT_PACKETWAY_NODE_OK : undelivered(p, to, why);
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool describe(struct leat_packetway_node *p, const struct leat_packetway_node_config *c,
                     char *why)
{
    struct leat_packetway_build build;
    leat_packetway_build_init(&build, p->about, sizeof p->about);
    if (c->about) {
        if (c->about_len > sizeof p->about || leat_packetway_about_check(c->about, c->about_len))
            return live_because(why,
                                "the records about this node, expected [NAME] *CAPA [LADR], "
                                "%d octets at most",
                                LEAT_PACKETWAY_ABOUT_LEN_MAX);
        leat_packetway_build_copy(&build, c->about, c->about_len);
    } else {
        const size_t len = c->name ? strlen(c->name) : 0;
        if (len > LEAT_PACKETWAY_NODE_NAME_MAX)
            return live_because(why, "name '%.40s', expected %d characters at most", c->name,
                                LEAT_PACKETWAY_NODE_NAME_MAX);
        if (len) leat_packetway_build_name(&build, (const uint8_t *)c->name, len);
        leat_packetway_build_capability(&build, LEAT_PACKETWAY_CC_NODE, NULL, 0);
    }
    p->about_len = build.len;
    return true;
}

static bool claim(struct leat_packetway_node *p, bool explicit_too, char *why)
{
    struct packetway_san *const san = &p->san;
    return (!p->san.plan.automatic && !explicit_too) || packetway_sans_claim(&san, 1, why);
}

static bool open_engine(struct leat_packetway_node *p, char *why)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    const struct leat_packetway_host_config c = {
        .address = p->san.plan.address,
        .block = p->san.plan.block,
        .mtu_words = p->san.mtu_words,
        .little_endian = first == 1,
        .level_c = true,
        .about = p->about,
        .about_len = p->about_len,
        .plans_max = PLANS,
        .pending_max = PENDING,
    };
    const size_t len = leat_packetway_host_footprint(&c);
    p->memory = malloc(len);
    if (p->memory && !leat_packetway_host_init(&c, p->memory, len, &p->engine)) return true;
    return live_because(why, "no memory");
}

enum leat_packetway_node_end leat_packetway_node_open(const struct leat_packetway_node_config *c,
                                                      struct leat_packetway_node **out, char *why)
{
    struct packetway_plan plan;
    const uint32_t poll_ms = c->poll_ms ? c->poll_ms : PACKETWAY_POLL_MS_DEFAULT;
    if (!packetway_plan_read(c->san ? c->san : "", &plan, why)) return LEAT_PACKETWAY_NODE_WRONG;
    plan.keys = leat_keys_of(c->key, c->other_key);
    struct leat_packetway_node *p = calloc(1, sizeof *p);
    if (!p) return live_because(why, "no memory"), LEAT_PACKETWAY_NODE_FAILED;
    p->san.fd = p->san.lock = -1;
    p->mute = c->mute;
    p->poll_ps = poll_ms * ps_per_ms;
    enum leat_packetway_node_end end = LEAT_PACKETWAY_NODE_WRONG;
    if (describe(p, c, why)) {
        end = LEAT_PACKETWAY_NODE_FAILED;
        if (packetway_san_open(&p->san, &plan, poll_ms, why) && claim(p, c->claims, why) &&
            open_engine(p, why))
            end = LEAT_PACKETWAY_NODE_OK;
    }
    if (end != LEAT_PACKETWAY_NODE_OK) {
        leat_packetway_node_close(p);
        return end;
    }
    p->poll_at = packetway_now(); /* introduces itself at once */
    poll_san(p, p->poll_at);
    *out = p;
    return LEAT_PACKETWAY_NODE_OK;
}

void leat_packetway_node_close(struct leat_packetway_node *p)
{
    if (!p) return;
    while (p->queue_count)
        free(p->queue[(p->queue_first + --p->queue_count) % LEAT_PACKETWAY_NODE_QUEUE_MAX].octets);
    packetway_san_close(&p->san);
    free(p->memory);
    free(p);
}

int leat_packetway_node_fd(const struct leat_packetway_node *p)
{
    return p->san.fd;
}

uint32_t leat_packetway_node_address(const struct leat_packetway_node *p)
{
    return p->san.plan.address;
}

bool leat_packetway_node_is_near(const struct leat_packetway_node *p, uint32_t address)
{
    return leat_packetway_block_holds(&p->san.plan.block, address);
}

uint32_t leat_packetway_node_mtu(const struct leat_packetway_node *p)
{
    return p->san.mtu_words;
}

const struct leat_packetway_host_counts *
leat_packetway_node_counts(const struct leat_packetway_node *p)
{
    return leat_packetway_host_counts(p->engine);
}

const struct leat_packetway_auth_counts *
leat_packetway_node_key_counts(const struct leat_packetway_node *p)
{
    return &p->san.auth.counts;
}

const char *leat_packetway_node_key_hint(const struct leat_packetway_node *p)
{
    return packetway_san_key_hint(&p->san);
}

bool leat_packetway_node_is_keyed(const struct leat_packetway_node *p)
{
    return packetway_san_is_keyed(&p->san);
}

void leat_packetway_node_change_keys(struct leat_packetway_node *p, const uint8_t *key,
                                     const uint8_t *other_key)
{
    const struct leat_keys keys = leat_keys_of(key, other_key);
    if (!key || !packetway_san_is_keyed(&p->san)) abort();
    packetway_san_change_keys(&p->san, &keys);
}
