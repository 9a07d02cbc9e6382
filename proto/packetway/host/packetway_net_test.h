/*
 * A PacketWay in one process: SANs that deliver by native route, routers of two or more
 * half-routers, hosts. Packets wait in one queue; time advances only between them.
 *
 *   native route   | san | local number 16 | 0 |      anything else is refused by the SAN
 */
#ifndef LEAT_PACKETWAY_NET_TEST_H
#define LEAT_PACKETWAY_NET_TEST_H

#include "packetway_host.h"
#include "packetway_router.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { SANS_MAX = 16, HRS_MAX = 64, ROUTERS_MAX = 24, HOSTS_MAX = 32, NATIVE_LEN = 4 };

struct san {
    struct leat_packetway_block block;
    uint32_t mtu_words;
    uint32_t taken; /* local numbers given out */
};

struct hr {
    struct leat_packetway_router *engine;
    void *memory;
    uint32_t san, router, address;
    bool dead;
    bool error_next; /* the next incoming packet is damaged: EI reports it */
};

struct host {
    struct leat_packetway_host *engine;
    void *memory;
    uint32_t san, address;
    uint64_t got;      /* the number in the last message */
    uint32_t got_from; /* and its source */
    uint64_t got_ei;
    uint32_t got_count, planned_count, silent_count;
    uint16_t err_te; /* the last ERR */
    uint32_t info_nodes;
};

struct frame {
    struct frame *next;
    bool to_host, over_link, from_hr, error;
    uint32_t to, from; /* index of HR or host; HR that sent it */
    uint32_t len;
    uint8_t octets[];
};

struct net {
    struct san sans[SANS_MAX];
    struct hr hrs[HRS_MAX];
    struct host hosts[HOSTS_MAX];
    uint32_t san_count, hr_count, host_count, router_count;
    bool link_down[ROUTERS_MAX];
    struct frame *first, **last;
    leat_time now;
    uint64_t frames, hops; /* hops: TO_SAN of data */
    uint64_t sent[128];    /* RRP and ERR of half-routers, by TE */
};

static inline void net_init(struct net *n)
{
    memset(n, 0, sizeof *n);
    n->last = &n->first;
}

static inline void net_close(struct net *n)
{
    for (uint32_t i = 0; i < n->hr_count; i++)
        free(n->hrs[i].memory);
    for (uint32_t i = 0; i < n->host_count; i++)
        free(n->hosts[i].memory);
    while (n->first) {
        struct frame *f = n->first;
        n->first = f->next;
        free(f);
    }
}

static inline uint32_t net_san(struct net *n, uint32_t bias, uint32_t count, uint32_t mtu_words)
{
    n->sans[n->san_count] = (struct san){ { bias, count }, mtu_words, 0 };
    return n->san_count++;
}

static inline uint32_t net_number(struct net *n, uint32_t san)
{
    return n->sans[san].block.bias + ++n->sans[san].taken;
}

static inline struct leat_packetway_router_config net_router_config(const struct net *n,
                                                                    uint32_t san, uint32_t address)
{
    struct leat_packetway_router_config c = leat_packetway_router_defaults();
    c.address = address;
    c.block = n->sans[san].block;
    c.mtu_words = n->sans[san].mtu_words;
    c.tables_max = 256;
    c.table_len_max = 4096;
    c.known_max = 1024;
    c.nodes_max = 64;
    return c;
}

/* A half-router of router number `router`. */
static inline uint32_t net_hr(struct net *n, uint32_t router, uint32_t san)
{
    struct hr *h = &n->hrs[n->hr_count];
    *h = (struct hr){ .san = san, .router = router, .address = net_number(n, san) };
    const struct leat_packetway_router_config c = net_router_config(n, san, h->address);
    const size_t len = leat_packetway_router_footprint(&c);
    h->memory = malloc(len);
    EQ(leat_packetway_router_init(&c, h->memory, len, n->now, &h->engine), LEAT_ERR_OK);
    if (router >= n->router_count) n->router_count = router + 1;
    return n->hr_count++;
}

static inline uint32_t net_host(struct net *n, uint32_t san)
{
    struct host *h = &n->hosts[n->host_count];
    *h = (struct host){ .san = san, .address = net_number(n, san) };
    const struct leat_packetway_host_config c = { .address = h->address,
                                                  .block = n->sans[san].block,
                                                  .mtu_words = n->sans[san].mtu_words,
                                                  .level_c = true,
                                                  .little_endian = true,
                                                  .plans_max = 64,
                                                  .pending_max = 64 };
    const size_t len = leat_packetway_host_footprint(&c);
    h->memory = malloc(len);
    EQ(leat_packetway_host_init(&c, h->memory, len, &h->engine), LEAT_ERR_OK);
    return n->host_count++;
}

static inline void net_native(const struct net *n, uint32_t san, uint32_t address, uint8_t *out)
{
    const uint32_t local = address - n->sans[san].block.bias;
    out[0] = (uint8_t)san;
    out[1] = (uint8_t)(local >> 8);
    out[2] = (uint8_t)local;
    out[3] = 0;
}

/* Adds a node of its SAN to a half-router. */
static inline void net_tell_node(struct net *n, struct hr *h, uint32_t address, bool buddy)
{
    uint8_t route[NATIVE_LEN];
    net_native(n, h->san, address, route);
    const struct leat_packetway_san_node node = {
        .address = { .at = LEAT_PACKETWAY_AT_SINGLE, .low = address },
        .route = route,
        .route_len = NATIVE_LEN,
        .q = 2,
        .buddy = buddy,
    };
    EQ(leat_packetway_router_node(h->engine, &node, n->now), LEAT_ERR_OK);
}

/* Every node learns its SAN and its router. */
static inline void net_map_hr(struct net *n, struct hr *h)
{
    for (uint32_t k = 0; k < n->hr_count; k++) {
        const struct hr *o = &n->hrs[k];
        if (o == h || o->dead) continue;
        if (o->router == h->router)
            EQ(leat_packetway_router_twin(h->engine, o->address, 1, 0, n->now), LEAT_ERR_OK);
    }
    for (uint32_t k = 0; k < n->hr_count; k++)
        if (&n->hrs[k] != h && !n->hrs[k].dead && n->hrs[k].san == h->san)
            net_tell_node(n, h, n->hrs[k].address, true);
    for (uint32_t k = 0; k < n->host_count; k++)
        if (n->hosts[k].san == h->san) net_tell_node(n, h, n->hosts[k].address, false);
}

static inline void net_map(struct net *n)
{
    for (uint32_t i = 0; i < n->hr_count; i++)
        net_map_hr(n, &n->hrs[i]);
    for (uint32_t i = 0; i < n->host_count; i++)
        for (uint32_t k = 0, known = 0; k < n->hr_count; k++)
            if (n->hrs[k].san == n->hosts[i].san && known++ < LEAT_PACKETWAY_HOST_ROUTERS_MAX)
                EQ(leat_packetway_host_router(n->hosts[i].engine, n->hrs[k].address), LEAT_ERR_OK);
}

/* ---- carrying ---- */

static inline struct frame *net_frame(struct net *n, const uint8_t *octets, uint32_t len)
{
    struct frame *f = malloc(sizeof *f + len);
    memset(f, 0, sizeof *f);
    f->len = len;
    memcpy(f->octets, octets, len);
    *n->last = f;
    n->last = &f->next;
    return f;
}

/* On a SAN, to a local number. False: no node has it. */
static inline bool net_deliver(struct net *n, uint32_t san, uint32_t address, const uint8_t *octets,
                               uint32_t len, uint32_t from_hr)
{
    for (uint32_t i = 0; i < n->hr_count; i++)
        if (n->hrs[i].san == san && n->hrs[i].address == address) {
            if (n->hrs[i].dead) return true; /* lost */
            struct frame *f = net_frame(n, octets, len);
            f->to = i;
            f->from = from_hr;
            f->from_hr = from_hr != UINT32_MAX;
            return true;
        }
    for (uint32_t i = 0; i < n->host_count; i++)
        if (n->hosts[i].san == san && n->hosts[i].address == address) {
            struct frame *f = net_frame(n, octets, len);
            f->to_host = true;
            f->to = i;
            return true;
        }
    return false;
}

static inline bool net_emit(struct net *n, uint32_t hr, const uint8_t *route, uint32_t route_len,
                            const uint8_t *octets, uint32_t len)
{
    const uint32_t san = n->hrs[hr].san;
    if (route_len != NATIVE_LEN || route[0] != san || route[3]) return false;
    const uint32_t local = (uint32_t)route[1] << 8 | route[2];
    return net_deliver(n, san, n->sans[san].block.bias + local, octets, len, hr);
}

static inline void net_hand_over(struct net *n, uint32_t hr, uint32_t twin, const uint8_t *octets,
                                 uint32_t len, bool error)
{
    const struct leat_packetway_fib *fib = leat_packetway_router_fib(n->hrs[hr].engine);
    if (n->link_down[n->hrs[hr].router]) return; /* lost */
    for (uint32_t i = 0; i < n->hr_count; i++)
        if (n->hrs[i].address == fib->twins[twin].address && !n->hrs[i].dead) {
            struct frame *f = net_frame(n, octets, len);
            f->to = i;
            f->from = hr;
            f->over_link = f->from_hr = true;
            f->error = error;
        }
}

static inline void net_count(struct net *n, const uint8_t *octets)
{
    const uint16_t te = leat_get_be16(octets + 4), pt = leat_get_be16(octets + 6);
    if (pt == LEAT_PACKETWAY_PT_RRP || pt == LEAT_PACKETWAY_PT_ERR) n->sent[te & 127]++;
}

/* The engine's own messages. */
static inline void net_take_hr(struct net *n, uint32_t i)
{
    struct leat_packetway_outgoing out;
    struct hr *h = &n->hrs[i];
    while (!h->dead && leat_packetway_router_take(h->engine, n->now, &out)) {
        net_count(n, out.octets);
        if (out.verdict == LEAT_PACKETWAY_TO_TWIN)
            net_hand_over(n, i, out.twin, out.octets, out.len, false);
        else
            OK(net_emit(n, i, out.route, out.route_len, out.octets, out.len));
    }
}

static inline void net_take_host(struct net *n, uint32_t i)
{
    struct leat_packetway_host_outgoing out;
    while (leat_packetway_host_take(n->hosts[i].engine, &out))
        net_deliver(n, n->hosts[i].san, out.to, out.octets, out.len, UINT32_MAX);
}

static inline void net_forward(struct net *n, uint32_t i, const struct leat_packetway_routed *p,
                               const struct leat_packetway_decision *d,
                               const struct leat_packetway_arrival *arrival, const struct frame *f)
{
    const uint32_t len = p->len - d->consumed;
    uint8_t *copy = malloc(len);
    memcpy(copy, p->octets + d->consumed, len);
    if (d->verdict == LEAT_PACKETWAY_TO_TWIN) {
        net_hand_over(n, i, d->twin, copy, len, p->error_seen);
    } else if (d->verdict == LEAT_PACKETWAY_TO_SAN) {
        leat_packetway_seal(copy, len, d->header_at - d->consumed, p->error_seen);
        n->hops++;
        if (!net_emit(n, i, d->route, d->route_len, copy, len))
            leat_packetway_router_refused(n->hrs[i].engine, arrival, f->octets, f->len, n->now);
    }
    free(copy);
}

static inline void net_at_hr(struct net *n, const struct frame *f)
{
    struct hr *h = &n->hrs[f->to];
    struct leat_packetway_routed p;
    struct leat_packetway_arrival arrival = { .error_seen = f->error };
    if (h->dead) return;
    if (f->over_link)
        arrival.side = LEAT_PACKETWAY_FROM_TWIN;
    else
        arrival.side = f->from_hr ? LEAT_PACKETWAY_FROM_BUDDY : LEAT_PACKETWAY_FROM_HOST;
    if (f->over_link) arrival.from = n->hrs[f->from].address;
    if (h->error_next) arrival.error_seen = true;
    h->error_next = false;
    leat_packetway_router_input(h->engine, &arrival, f->octets, f->len, n->now, &p);
    if (p.decision.verdict == LEAT_PACKETWAY_COPIES) {
        struct leat_packetway_copies copies = { 0 };
        struct leat_packetway_decision d;
        while (leat_packetway_router_copy(h->engine, &arrival, &p, &copies, &d))
            net_forward(n, f->to, &p, &d, &arrival, f);
    } else {
        net_forward(n, f->to, &p, &p.decision, &arrival, f);
    }
    net_take_hr(n, f->to);
}

static inline void net_at_host(struct net *n, struct frame *f)
{
    struct host *h = &n->hosts[f->to];
    static struct leat_packetway_event e;
    leat_packetway_host_receive(h->engine, f->octets, f->len, n->now, &e);
    if (e.kind == LEAT_PACKETWAY_EVENT_DATA) {
        h->got_count++;
        h->got = e.message.data_len >= 8 ? leat_get_be64(e.message.data) : 0;
        h->got_from = e.peer;
        h->got_ei = e.message.ei;
    } else if (e.kind == LEAT_PACKETWAY_EVENT_PLANNED) {
        h->planned_count++;
    } else if (e.kind == LEAT_PACKETWAY_EVENT_ERR) {
        h->err_te = e.message.header.te;
    } else if (e.kind == LEAT_PACKETWAY_EVENT_INFO) {
        const struct leat_packetway_records records = leat_packetway_message_records(&e.message);
        h->info_nodes += (uint32_t)leat_packetway_records_count(&records);
    }
    net_take_host(n, f->to);
}

/* Runs until nothing is in flight. False: that does not happen within `limit` packets. */
static inline bool net_run(struct net *n, uint64_t limit)
{
    for (uint32_t i = 0; i < n->hr_count; i++)
        net_take_hr(n, i);
    for (uint32_t i = 0; i < n->host_count; i++)
        net_take_host(n, i);
    while (n->first && limit--) {
        struct frame *f = n->first;
        n->first = f->next;
        if (!n->first) n->last = &n->first;
        n->frames++;
        if (f->to_host)
            net_at_host(n, f);
        else
            net_at_hr(n, f);
        free(f);
    }
    return n->first == NULL;
}

/* Time passes, and everything due is done. */
static inline bool net_wait(struct net *n, uint64_t seconds)
{
    static struct leat_packetway_event e;
    bool ends = true;
    for (uint64_t s = 0; s < seconds; s++) {
        n->now += LEAT_PACKETWAY_SECOND;
        for (uint32_t i = 0; i < n->hr_count; i++)
            if (leat_packetway_router_next_at(n->hrs[i].engine) <= n->now && !n->hrs[i].dead)
                leat_packetway_router_tick(n->hrs[i].engine, n->now);
        for (uint32_t i = 0; i < n->host_count; i++)
            do {
                leat_packetway_host_tick(n->hosts[i].engine, n->now, &e);
                n->hosts[i].silent_count += e.kind == LEAT_PACKETWAY_EVENT_SILENT;
            } while (e.kind != LEAT_PACKETWAY_EVENT_NONE);
        ends = net_run(n, 1000000) && ends;
    }
    return ends;
}

/* A message with a number in it from host `from`; LEAT_ERR_OK: it is in flight. */
static inline leat_err net_send(struct net *n, uint32_t from, uint32_t dt,
                                enum leat_packetway_how how, uint64_t number)
{
    uint8_t data[8], buf[512];
    static struct leat_packetway_message m;
    size_t len;
    uint32_t to;
    leat_put_be64(data, number);
    memset(&m, 0, sizeof m);
    m.header = (struct leat_packetway_header){ .dt = dt, .pt = LEAT_PACKETWAY_PT_MPI };
    m.data = data;
    m.data_len = sizeof data;
    const leat_err err = leat_packetway_host_send(n->hosts[from].engine, &m, how, buf, sizeof buf,
                                                  &len, &to, n->now);
    if (!err) net_deliver(n, n->hosts[from].san, to, buf, (uint32_t)len, UINT32_MAX);
    return err;
}

#endif
