/* <leat/fabric.h>: a fabric for programs outside of leat. */
#include "fabric_kind.h"
#include <leat/fabric.h>
#include <stdlib.h>
#include <string.h>

/* A message in flight, then reported. */
struct parcel {
    struct parcel *next;            /* among those to be reported */
    struct parcel *before, *behind; /* among all */
    uint64_t id;                    /* the user's */
    struct leat_fabric_delivery delivery;
    uint8_t octets[]; /* lent to the network */
};

struct leat_fabric_net {
    struct leat_fabric *fabric;
    struct parcel *first, **last; /* to be reported, in order */
    struct parcel *reported;      /* the last one, whose octets are still lent */
    struct parcel *all;
};

static void keep(struct leat_fabric_net *net, struct parcel *parcel)
{
    parcel->behind = net->all;
    if (net->all) net->all->before = parcel;
    net->all = parcel;
}

static void drop(struct leat_fabric_net *net, struct parcel *parcel)
{
    if (parcel->behind) parcel->behind->before = parcel->before;
    *(parcel->before ? &parcel->before->behind : &net->all) = parcel->behind;
    free(parcel);
}

/* ---- from the network ----------------------------------------------------------------------- */

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

static void end(struct leat_fabric_net *net, const struct leat_port_message *m, const char *lost,
                leat_time at)
{
    struct parcel *parcel = (struct parcel *)(void *)(m->octets - offsetof(struct parcel, octets));
    parcel->delivery = (struct leat_fabric_delivery){ .id = parcel->id,
                                                      .from = m->from,
                                                      .to = m->to,
                                                      .at_ps = at,
                                                      .lost = lost,
                                                      .octets = m->octets,
                                                      .len = m->len };
    *net->last = parcel;
    net->last = &parcel->next;
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    end(context, message, NULL, at);
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    end(context, message, why, at);
}

/* ---- to the network ------------------------------------------------------------------------- */

struct leat_fabric_net *leat_fabric_net_open(const char *name, char why[LEAT_FABRIC_WHY_LEN])
{
    struct leat_fabric_error error = { .code = LEAT_FABRIC_FINE };
    struct leat_fabric_net *net = leat_fabric_take(1, sizeof *net, &error);
    if (net) net->fabric = leat_fabric_read(name, NULL, &error);
    if (net && net->fabric &&
        leat_fabric_open(net->fabric, &(struct leat_fabric_config){ 0 }, &error)) {
        net->last = &net->first;
        net->fabric->net->observer = (struct leat_port_observer){
            .context = net, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
        };
        return net;
    }
    leat_fabric_error_text(&error, name, why, LEAT_FABRIC_WHY_LEN);
    leat_fabric_net_close(net);
    return NULL;
}

void leat_fabric_net_close(struct leat_fabric_net *net)
{
    if (!net) return;
    leat_fabric_close(net->fabric);
    while (net->all)
        drop(net, net->all);
    free(net);
}

const char *leat_fabric_net_name(const struct leat_fabric_net *net)
{
    return net->fabric->name;
}

uint32_t leat_fabric_net_ports(const struct leat_fabric_net *net)
{
    return net->fabric->ports;
}

uint64_t leat_fabric_net_now_ps(const struct leat_fabric_net *net)
{
    return net->fabric->net->now;
}

bool leat_fabric_net_send(struct leat_fabric_net *net, uint32_t from, uint32_t to,
                          const void *octets, size_t len, uint64_t id)
{
    struct leat_port_net *port = net->fabric->net;
    if (from >= port->ports || to >= port->ports || port->in_flight >= LEAT_FABRIC_MESSAGES_MAX)
        return false;
    struct parcel *parcel = calloc(1, sizeof *parcel + len);
    if (!parcel) return false;
    parcel->id = id;
    if (len) memcpy(parcel->octets, octets, len);
    const struct leat_port_message message = {
        .from = from, .to = to, .octets = parcel->octets, .len = len
    };
    keep(net, parcel);
    if (leat_port_send(port, &message, port->now)) return true;
    drop(net, parcel);
    return false;
}

bool leat_fabric_net_run(struct leat_fabric_net *net, struct leat_fabric_delivery *out)
{
    struct leat_port_net *port = net->fabric->net;
    if (net->reported) drop(net, net->reported);
    net->reported = NULL;
    while (!net->first && port->in_flight)
        leat_port_run(port, LEAT_NEVER);
    if (!net->first) return false;
    net->reported = net->first;
    net->first = net->reported->next;
    if (!net->first) net->last = &net->first;
    *out = net->reported->delivery;
    return true;
}
