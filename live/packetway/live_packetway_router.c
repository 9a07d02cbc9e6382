#include "live_packetway_router.h"
#include "live_packetway_xdp.h"
#include "packetway_record.h"
#include <leat/packetway.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, ROUNDS_MAX = 4096 };

const char *packetway_driver_name(enum packetway_driver driver)
{
    static const char *const names[] = { "any", "xdp", "packet", "udp" };
    return names[driver];
}

/* Twins are numbered in the order of the SANs; each engine is omitted from its own list. */
static uint32_t twin_of(uint32_t half, uint32_t index)
{
    return index < half ? index : index + 1;
}

/* ---- packets ------------------------------------------------------------------------------- */

static void enter(struct packetway_router *r, uint32_t half,
                  const struct leat_packetway_arrival *arrival, const uint8_t *octets, uint32_t len,
                  leat_time now);

/* On the SAN, after the EI rule. */
static void emit(struct packetway_router *r, uint32_t half,
                 const struct leat_packetway_arrival *arrival,
                 const struct leat_packetway_routed *packet,
                 const struct leat_packetway_decision *d, leat_time now)
{
    static uint8_t octets[PACKETWAY_MESSAGE_MAX];
    struct packetway_half *h = &r->half[half];
    const uint32_t len = packet->len - d->consumed;
    if (!packetway_san_takes(&h->san, d->route, d->route_len)) {
        h->refused++;
        leat_packetway_router_refused(h->engine, arrival, packet->octets, packet->len, now);
        return;
    }
    memcpy(octets, packet->octets + d->consumed, len);
    leat_packetway_seal(octets, len, d->header_at - d->consumed, packet->error_seen);
    packetway_san_send(&h->san, d->route, d->route_len, octets, len);
}

static void carry_out(struct packetway_router *r, uint32_t half,
                      const struct leat_packetway_arrival *arrival,
                      const struct leat_packetway_routed *packet,
                      const struct leat_packetway_decision *d, leat_time now)
{
    if (d->verdict == LEAT_PACKETWAY_TO_SAN) emit(r, half, arrival, packet, d, now);
    if (d->verdict != LEAT_PACKETWAY_TO_TWIN) return;
    const struct leat_packetway_arrival over = { .side = LEAT_PACKETWAY_FROM_TWIN,
                                                 .from = r->half[half].san.plan.address,
                                                 .error_seen = packet->error_seen };
    enter(r, twin_of(half, d->twin), &over, packet->octets + d->consumed, packet->len - d->consumed,
          now);
}

/* An echo for this half-router: answered as hosts do, with EI of the request before it. */
static bool answers_echo(struct packetway_router *r, uint32_t half, const uint8_t *octets,
                         uint32_t len, leat_time now)
{
    static struct leat_packetway_message m;
    static uint8_t data[PACKETWAY_MESSAGE_MAX], reply[PACKETWAY_MESSAGE_MAX];
    const struct packetway_half *h = &r->half[half];
    struct leat_packetway_routed packet = { .octets = reply };
    size_t reply_len = 0;
    if (!packetway_message_is(octets, len, LEAT_PACKETWAY_NODE_PT_ECHO,
                              LEAT_PACKETWAY_NODE_ECHO_REQUEST) ||
        leat_get_be24(octets + LEAT_PACKETWAY_DT_AT) != h->san.plan.address ||
        leat_packetway_message_decode(octets, len, LEAT_PACKETWAY_STRICT,
                                      LEAT_PACKETWAY_DESTINATION, &m, NULL) ||
        !leat_packetway_address_is_node(m.header.sa) || m.data_len + 8 > sizeof data)
        return false;
    leat_put_be64(data, m.ei);
    if (m.data_len) memcpy(data + 8, m.data, m.data_len);
    const struct leat_packetway_message answer = { .header = { .dt = m.header.sa,
                                                               .sa = h->san.plan.address,
                                                               .pt = LEAT_PACKETWAY_NODE_PT_ECHO,
                                                               .te = LEAT_PACKETWAY_NODE_ECHO_REPLY,
                                                               .priority = m.header.priority },
                                                   .data = data,
                                                   .data_len = m.data_len + 8 };
    if (leat_packetway_message_encode(&answer, reply, sizeof reply, &reply_len)) return true;
    packet.len = (uint32_t)reply_len;
    leat_packetway_by_address(leat_packetway_router_fib(h->engine), LEAT_PACKETWAY_FROM_SELF,
                              m.header.sa, &packet.decision);
    const struct leat_packetway_arrival self = { .side = LEAT_PACKETWAY_FROM_SELF };
    carry_out(r, half, &self, &packet, &packet.decision, now);
    return true;
}

/* From another SAN, in the name of a node of this one, which has a key: forwarding would vouch for
 * it. */
static bool is_in_disguise(const struct packetway_half *h,
                           const struct leat_packetway_arrival *arrival, const uint8_t *octets,
                           uint32_t len)
{
    uint32_t at;
    return packetway_san_is_keyed(&h->san) && arrival->side == LEAT_PACKETWAY_FROM_TWIN &&
           leat_packetway_is_control(octets, len, &at) &&
           leat_packetway_block_holds(&h->san.plan.block,
                                      leat_get_be24(octets + at + LEAT_PACKETWAY_SA_AT));
}

/* From a SAN or a twin. A packet from a twin goes to a SAN at most, so this terminates. */
static void enter(struct packetway_router *r, uint32_t half,
                  const struct leat_packetway_arrival *arrival, const uint8_t *octets, uint32_t len,
                  leat_time now)
{
    struct leat_packetway_routed packet;
    struct leat_packetway_copies copies = { 0 };
    struct leat_packetway_decision copy;
    struct leat_packetway_router *engine = r->half[half].engine;
    if (is_in_disguise(&r->half[half], arrival, octets, len)) {
        r->half[half].san.counts.spoofed++;
        return;
    }
    if (answers_echo(r, half, octets, len, now)) return;
    leat_packetway_router_input(engine, arrival, octets, len, now, &packet);
    carry_out(r, half, arrival, &packet, &packet.decision, now);
    while (leat_packetway_router_copy(engine, arrival, &packet, &copies, &copy))
        carry_out(r, half, arrival, &packet, &copy, now);
}

/* The engines' own messages, until there are none. False: there was none. */
static bool take_from(struct packetway_router *r, uint32_t half, leat_time now)
{
    struct leat_packetway_outgoing out;
    struct packetway_half *h = &r->half[half];
    const struct leat_packetway_arrival over = { .side = LEAT_PACKETWAY_FROM_TWIN,
                                                 .from = h->san.plan.address };
    if (!leat_packetway_router_take(h->engine, now, &out)) return false;
    if (out.verdict == LEAT_PACKETWAY_TO_TWIN)
        enter(r, twin_of(half, out.twin), &over, out.octets, out.len, now);
    else
        packetway_san_send(&h->san, out.route, out.route_len, out.octets, out.len);
    return true;
}

static void take_all(struct packetway_router *r, leat_time now)
{
    bool any = true;
    for (int round = 0; any && round < ROUNDS_MAX; round++) {
        any = false;
        for (uint32_t i = 0; i < r->count; i++)
            any |= take_from(r, i, now);
    }
}

static void learn(struct packetway_half *h, const struct packetway_node *node, leat_time now)
{
    /* The engine is about to request its tables; it answers only nodes that it knows. */
    if (node->router) packetway_san_announce(&h->san, &node->native, h->about, h->about_len);
    const struct leat_packetway_san_node n = { .address = leat_packetway_single(node->address),
                                               .route = node->native.octets,
                                               .route_len = node->native.len,
                                               .q = PACKETWAY_HOP_Q,
                                               .buddy = node->router };
    leat_packetway_router_node(h->engine, &n, now);
}

static void take_in(struct packetway_router *r, uint32_t half, const uint8_t *octets, uint32_t len,
                    const struct leat_packetway_native *from, leat_time now)
{
    struct packetway_half *h = &r->half[half];
    const struct packetway_node *node = NULL;
    if (packetway_san_answers_claim(&h->san, octets, len, from)) return;
    const enum packetway_learnt learnt = packetway_san_learn(&h->san, octets, len, from, now,
                                                             &node);
    if (learnt == PACKETWAY_REFUSED || packetway_san_spoofed(&h->san, octets, len, from)) return;
    packetway_san_meet(&h->san, octets, len, from, h->about, h->about_len, now);
    if (learnt == PACKETWAY_NEW) learn(h, node, now);
    if (!node) node = packetway_san_node_at(&h->san, from->octets, from->len);
    const struct leat_packetway_arrival arrival = { .side = node && node->router
                                                                ? LEAT_PACKETWAY_FROM_BUDDY
                                                                : LEAT_PACKETWAY_FROM_HOST };
    enter(r, half, &arrival, octets, len, now);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* By XDP, or by sockets if that is impossible, for this reason; r->why reports it. */
static bool take_xdp(struct packetway_router *r, char reason[PACKETWAY_WHY_LEN])
{
    live_because(reason, "this leat was built without XDP");
#ifdef HAVE_XDP
    char how[PACKETWAY_WHY_LEN] = "";
    if (!r->xdp) {
        r->xdp = packetway_xdp_open(r, how, reason);
    } else if (!packetway_xdp_again(r->xdp, r, how, reason)) {
        packetway_xdp_close(r->xdp);
        r->xdp = NULL;
    }
    r->driver = r->xdp ? PACKETWAY_XDP : PACKETWAY_PACKET;
    const bool asked = r->config.driver == PACKETWAY_XDP;
    const char *since = asked ? "it was asked for" : "the kernel takes it";
    live_because(r->why, "%s%.250s", since, how);
    if (r->xdp && r->slower_at >= 0) r->slower_at += (int)strlen(since);
    if (r->xdp) return true;
#endif
    r->slower_at = 0;
    return live_because(r->why, "slower: no XDP: %.250s", reason);
}

/* The program was on a device that is gone, or a device no longer sends what XDP passes to it. */
static void attach_again(struct packetway_router *r)
{
    char reason[PACKETWAY_WHY_LEN];
    if (r->xdp) take_xdp(r, reason);
}

/* The other end of a veth may stop polling at any time. */
static void check_xdp(struct packetway_router *r)
{
#ifdef HAVE_XDP
    char ignored[PACKETWAY_WHY_LEN];
    if (r->xdp && !packetway_xdp_works(r->xdp, r, ignored)) attach_again(r);
#else
    (void)r;
#endif
}

static void check_link(struct packetway_router *r, uint32_t half, leat_time now)
{
    if (packetway_san_returned(&r->half[half].san)) {
        attach_again(r);
        packetway_san_announce(&r->half[half].san, NULL, r->half[half].about,
                               r->half[half].about_len);
    }
    const bool up = packetway_san_is_up(&r->half[half].san);
    if (up == r->half[half].up) return;
    r->half[half].up = up;
    for (uint32_t i = 0; i < r->count; i++)
        if (i != half)
            leat_packetway_router_link(r->half[i].engine, r->half[half].san.plan.address, up, now);
}

static void poll_nodes(struct packetway_router *r, leat_time now)
{
    if (r->poll_at > now) return;
    const leat_time late = now - r->poll_at;
    r->poll_at = leat_time_add(now, (leat_time)r->config.poll_ms * (LEAT_PACKETWAY_SECOND / 1000));
    check_xdp(r);
    for (uint32_t i = 0; i < r->count; i++) {
        struct packetway_half *h = &r->half[i];
        struct packetway_node gone;
        check_link(r, i, now);
        packetway_san_dismiss(&h->san);
        packetway_san_excuse(&h->san, late);
        while (packetway_san_silent(&h->san, now, &gone)) {
            const struct leat_packetway_address a = leat_packetway_single(gone.address);
            leat_packetway_router_node_gone(h->engine, &a, now);
        }
        if (h->up) packetway_san_solicit(&h->san);
    }
}

leat_time packetway_router_next_at(const struct packetway_router *r)
{
    leat_time at = r->poll_at;
    for (uint32_t i = 0; i < r->count; i++) {
        const leat_time next = leat_packetway_router_next_at(r->half[i].engine);
        if (next < at) at = next;
    }
    return at;
}

void packetway_router_serve(struct packetway_router *r)
{
    static uint8_t octets[PACKETWAY_MESSAGE_MAX];
    struct leat_packetway_native from;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t len;
        for (int k = 0; k < BATCH && (len = packetway_san_receive(&r->half[i].san, octets, &from));
             k++)
            take_in(r, i, octets, len, &from, packetway_now());
    }
    const leat_time now = packetway_now();
    poll_nodes(r, now);
    for (uint32_t i = 0; i < r->count; i++)
        if (leat_packetway_router_next_at(r->half[i].engine) <= now)
            leat_packetway_router_tick(r->half[i].engine, now);
    take_all(r, now);
#ifdef HAVE_XDP
    if (r->xdp) packetway_xdp_publish(r->xdp, r);
#endif
}

int packetway_router_fd(const struct packetway_router *r, uint32_t san)
{
    return r->half[san].san.fd;
}

uint64_t packetway_router_in_kernel(const struct packetway_router *r, uint32_t san)
{
#ifdef HAVE_XDP
    if (r->xdp) return packetway_xdp_forwarded(r->xdp, san);
#endif
    (void)r, (void)san;
    return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* NAME, and the capability of a router with the IDs of all its SANs. */
static void describe(struct packetway_router *r, struct packetway_half *h)
{
    struct leat_packetway_build build;
    uint8_t sans[4 * PACKETWAY_SANS_MAX];
    size_t len = 0;
    for (uint32_t i = 0; i < r->config.san_count; i++) {
        if (!r->config.sans[i].block.bias) continue; /* it has no ID */
        sans[len] = LEAT_PACKETWAY_AT_SINGLE;
        leat_put_be24(sans + len + 1, r->config.sans[i].block.bias);
        len += 4;
    }
    leat_packetway_build_init(&build, h->about, sizeof h->about);
    if (*r->config.name)
        leat_packetway_build_name(&build, (const uint8_t *)r->config.name, strlen(r->config.name));
    leat_packetway_build_capability(&build, LEAT_PACKETWAY_CC_ROUTER, sans, len);
    h->about_len = build.len;
}

static bool open_engine(struct packetway_router *r, struct packetway_half *h, leat_time now,
                        char *why)
{
    struct leat_packetway_router_config c = leat_packetway_router_defaults();
    c.address = h->san.plan.address;
    c.block = h->san.plan.block;
    c.mtu_words = h->san.mtu_words;
    c.poll_ps = 0; /* the whole SAN is polled at once, here */
    c.about = h->about;
    c.about_len = h->about_len;
    c.nodes_max = PACKETWAY_NODES_MAX;
    if (r->config.tables_max) c.tables_max = r->config.tables_max;
    if (r->config.known_max) c.known_max = r->config.known_max;
    const size_t len = leat_packetway_router_footprint(&c);
    h->memory = len ? malloc(len) : NULL;
    if (!h->memory || leat_packetway_router_init(&c, h->memory, len, now, &h->engine))
        return live_because(why, "no memory for the tables of %zu octets", len);
    return true;
}

static bool open_sans(struct packetway_router *r, char *why)
{
    struct packetway_san *claimed[PACKETWAY_SANS_MAX];
    uint32_t claims = 0;
    for (uint32_t i = 0; i < r->config.san_count; i++) {
        const struct packetway_plan *plan = &r->config.sans[i];
        struct packetway_half *h = &r->half[i];
        if (!packetway_san_open(&h->san, plan, r->config.poll_ms, why)) return false;
        r->count = i + 1;
        h->up = packetway_san_is_up(&h->san);
        if (plan->automatic || r->config.claims) claimed[claims++] = &h->san;
    }
    return packetway_sans_claim(claimed, claims, why);
}

static void join_twins(struct packetway_router *r, leat_time now)
{
    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t k = 0; k + 1 < r->count; k++) {
            const struct packetway_half *twin = &r->half[twin_of(i, k)];
            leat_packetway_router_twin(r->half[i].engine, twin->san.plan.address, PACKETWAY_TWIN_Q,
                                       0, now);
            leat_packetway_router_link(r->half[i].engine, twin->san.plan.address, twin->up, now);
        }
}

static bool check(const struct packetway_router_config *c, char *why)
{
    bool ethernet = false;
    if (c->san_count < 2) return live_because(why, "%u SANs, expected 2 or more", c->san_count);
    for (uint32_t i = 0; i < c->san_count; i++)
        ethernet = ethernet || !c->sans[i].udp;
    if (c->driver == PACKETWAY_UDP && ethernet)
        return live_because(why, "driver udp with a network device, expected udp: SANs only");
    if (!ethernet && (c->driver == PACKETWAY_XDP || c->driver == PACKETWAY_PACKET))
        return live_because(why, "driver %s without a network device",
                            packetway_driver_name(c->driver));
    return packetway_plans_check(c->sans, c->san_count, why);
}

static bool choose_driver(struct packetway_router *r, char *why)
{
    uint32_t devices = 0;
    for (uint32_t i = 0; i < r->count; i++)
        devices += !r->half[i].san.plan.udp;
    const bool asked = r->config.driver != PACKETWAY_ANY;
    r->driver = devices ? PACKETWAY_PACKET : PACKETWAY_UDP;
    r->slower_at = -1;
    live_because(r->why, asked ? "it was asked for" : "no network device is used");
    if (!devices || r->config.driver == PACKETWAY_PACKET) return true;
    char reason[PACKETWAY_WHY_LEN];
    return take_xdp(r, reason) || !asked || live_because(why, "driver xdp: %.250s", reason);
}

bool packetway_router_open(struct packetway_router *r, const struct packetway_router_config *config,
                           bool *wrong, char *why)
{
    memset(r, 0, sizeof *r);
    r->config = *config;
    *wrong = true;
    if (!check(config, why)) return false;
    *wrong = false;
    bool good = open_sans(r, why);
    const leat_time now = packetway_now();
    for (uint32_t i = 0; good && i < r->count; i++) {
        describe(r, &r->half[i]);
        good = open_engine(r, &r->half[i], now, why);
    }
    if (good) join_twins(r, now);
    good = good && choose_driver(r, why);
    if (!good) {
        packetway_router_close(r);
        return false;
    }
    r->poll_at = now;
    for (uint32_t i = 0; i < r->count; i++)
        packetway_san_announce(&r->half[i].san, NULL, r->half[i].about, r->half[i].about_len);
    return true;
}

void packetway_router_close(struct packetway_router *r)
{
#ifdef HAVE_XDP
    if (r->xdp) packetway_xdp_close(r->xdp);
#endif
    for (uint32_t i = 0; i < r->count; i++) {
        packetway_san_close(&r->half[i].san);
        free(r->half[i].memory);
    }
    r->count = 0;
}
