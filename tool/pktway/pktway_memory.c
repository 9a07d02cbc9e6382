/*
 * leat pktway read and write on a simulated network. The remote host lends 64 kilooctets to all;
 * requests and answers are routed by address, in pieces that every SAN of the network can carry.
 */
#include "packetway_memory.h"
#include "pktway_shared.h"
#include "pktway_simulate.h"
#include <stdlib.h>
#include <string.h>

#define PATIENCE_PS (10 * LEAT_PACKETWAY_SECOND)
#define STEP_PS     UINT64_C(1000000)
enum { OCTETS = 64 << 10, WORD = 8 };

struct pktway_remote {
    uint32_t to; /* port */
    struct leat_packetway_store store;
    uint64_t reply; /* of the query */
    bool is_answered;
    leat_time answered_at;
    size_t len;
    uint8_t octets[OCTETS], found[LEAT_PACKETWAY_HOST_MESSAGE_LEN];
    uint8_t buf[OCTETS];
    struct leat_packetway_message answer;
};

static struct leat_packetway_host *host_at(const struct pktway_query *a, uint32_t port)
{
    return leat_sim_packetway_host(&a->network->net, port);
}

/* ---- events --------------------------------------------------------------------------------- */

/* The most that all SANs carry, without header and tail. */
static size_t data_max(const struct pktway_query *a)
{
    size_t most = LEAT_PACKETWAY_HOST_MESSAGE_LEN;
    for (uint32_t i = 0; i < a->network->design.sans; i++) {
        const size_t len = (size_t)a->network->design.san[i].mtu_words * WORD -
                           LEAT_PACKETWAY_MESSAGE_LEN_MIN;
        if (len < most) most = len;
    }
    return most;
}

static void serve(struct pktway_query *a, const struct leat_packetway_message *request)
{
    struct pktway_remote *r = a->remote;
    leat_packetway_store_serve(&r->store, request, leat_sim_packetway_clock(&a->network->net),
                               data_max(a), r->buf, sizeof r->buf, &r->answer);
    if (r->answer.header.pt)
        leat_packetway_host_post(host_at(a, r->to), &r->answer.header, r->answer.data,
                                 r->answer.data_len);
}

void pktway_on_memory_event(struct pktway_query *a, uint32_t port,
                            const struct leat_packetway_event *e, leat_time at)
{
    struct pktway_remote *r = a->remote;
    struct leat_packetway_memory m;
    if (e->kind != LEAT_PACKETWAY_EVENT_DATA ||
        leat_packetway_memory_decode(e->message.header.pt, e->message.data, e->message.data_len,
                                     &m))
        return;
    if (port == r->to) {
        serve(a, &e->message);
    } else if (port == a->from && e->message.header.pt == LEAT_PACKETWAY_PT_MEM_WRITE &&
               m.address == r->reply && m.count <= sizeof r->found) {
        r->is_answered = true;
        r->answered_at = at;
        r->len = (size_t)m.count;
        if (m.count) memcpy(r->found, m.data, (size_t)m.count);
    }
}

/* ---- queries -------------------------------------------------------------------------------- */

static bool post(struct pktway_query *a, uint32_t dt, uint16_t pt,
                 const struct leat_packetway_memory *m)
{
    uint8_t db[LEAT_PACKETWAY_HOST_MESSAGE_LEN];
    const struct leat_packetway_header header = { .dt = dt, .pt = pt };
    size_t len;
    return !leat_packetway_memory_encode(pt, m, db, sizeof db, &len) &&
           !leat_packetway_host_post(host_at(a, a->from), &header, db, len);
}

/* One piece: writes first if there is something to write, then reads. */
static bool request(struct pktway_query *a, uint32_t dt, uint64_t address, const uint8_t *write,
                    size_t len)
{
    struct pktway_remote *r = a->remote;
    struct leat_port_net *net = &a->network->net.base;
    const leat_time end = net->now + PATIENCE_PS;
    const struct leat_packetway_memory to = { .address = address, .count = len, .data = write };
    const struct leat_packetway_memory from = { .address = address,
                                                .count = len,
                                                .reply = ++r->reply };
    r->is_answered = false;
    if ((write && !post(a, dt, LEAT_PACKETWAY_PT_MEM_WRITE, &to)) ||
        !post(a, dt, LEAT_PACKETWAY_PT_MEM_READ, &from))
        return false;
    leat_sim_packetway_go(&a->network->net, a->from);
    while (!r->is_answered && !a->err_te && net->now < end && !interrupted)
        leat_port_run(net, net->now + STEP_PS);
    return r->is_answered && !a->err_te && r->len == len &&
           (!write || memcmp(write, r->found, len) == 0);
}

static int transfer(struct pktway_query *a, const struct pktway_octets *o, uint8_t *octets)
{
    const leat_time start = a->network->net.base.now;
    const size_t most = data_max(a) - LEAT_PACKETWAY_MEMORY_WRITE_HEAD;
    size_t at = 0;
    do {
        const size_t part = o->len - at < most ? o->len - at : most;
        if (!request(a, o->node, o->at + at, o->write ? octets + at : NULL, part))
            return fail(
                a->err_te == LEAT_PACKETWAY_TE_GENERAL
                    ? "%s does not let this node %s %zu octets at 0x%llx: none of its memory"
                    : "%s: no answer to %s of %zu octets at 0x%llx",
                a->args->operand[1], a->args->operand[0], part, (unsigned long long)(o->at + at));
        if (!o->write) memcpy(octets + at, a->remote->found, part);
        at += part;
    } while (at < o->len);
    pktway_octets_show(o, octets, (a->remote->answered_at - start) / 1000000, stdout);
    return DONE;
}

int pktway_put_memory(struct pktway_query *a, uint32_t to)
{
    static struct pktway_octets o;
    int code = FAILED;
    if (!pktway_octets_read(a->args, &o)) return WRONG;
    o.node = leat_sim_packetway_address(&a->network->net, to);
    struct pktway_remote *r = calloc(1, sizeof *r);
    uint8_t *octets = malloc(o.len + 1);
    if (r && octets) {
        r->to = to;
        r->store = (struct leat_packetway_store){
            .octets = r->octets,
            .len = sizeof r->octets,
            .grant_count = 1,
            .grants = { { 0, UINT64_MAX, 1, LEAT_PACKETWAY_ADDRESS_MAX,
                          LEAT_PACKETWAY_MAY_READ | LEAT_PACKETWAY_MAY_WRITE } },
        };
        a->remote = r;
        if (o.write) memcpy(octets, o.octets, o.len);
        code = transfer(a, &o, octets);
        a->remote = NULL;
    }
    free(octets);
    free(r);
    return code;
}
