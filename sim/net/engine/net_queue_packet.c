#include "net_queue_parts.h"

/* ---- nodes --------------------------------------------------------------------------------- */

uint32_t leat_net_queue_node_take(struct leat_net_queues *q, uint32_t what)
{
    uint32_t node = q->nodes_free;
    if (node)
        q->nodes_free = q->node[node].next;
    else
        node = ++q->nodes_top;
    assert(node <= q->nodes_cap);
    q->node[node].what = what;
    return node;
}

void leat_net_queue_node_give(struct leat_net_queues *q, uint32_t node)
{
    q->node[node].next = q->nodes_free;
    q->nodes_free = node;
}

/* ---- visits -------------------------------------------------------------------------------- */

bool leat_net_queue_visit_room(const struct leat_net_queues *q, bool new_packet)
{
    return q->visits_used < (new_packet ? q->visits_cap - q->visits_cap / 4 : q->visits_cap);
}

uint32_t leat_net_queue_visit_open(struct leat_net_queues *q, uint32_t flight, uint32_t in,
                                   uint16_t total)
{
    uint32_t number = q->visits_free;
    if (number)
        q->visits_free = q->visit[number].next;
    else
        number = ++q->visits_top;
    assert(number <= q->visits_cap);
    q->visits_used++;
    q->parcel[flight].holds++;
    q->visit[number] = (struct leat_net_queue_visit){
        .flight = flight, .in = in, .out = LEAT_NET_NONE, .total = total
    };
    return number;
}

void leat_net_queue_visit_check(struct leat_net_queues *q, uint32_t number)
{
    struct leat_net_queue_visit *visit = &q->visit[number];
    if (visit->sent + visit->discarded < visit->total) return;
    const uint32_t flight = visit->flight;
    visit->out = LEAT_NET_NONE;
    visit->next = q->visits_free;
    q->visits_free = number;
    q->visits_used--;
    leat_net_queue_release(q, flight);
}

/*
 * Routers ahead will only see the flits that entered before. `next` of a cut visit is not followed,
 * so those ahead may close before it does.
 */
void leat_net_queue_visit_cut(struct leat_net_queues *q, uint32_t number)
{
    struct leat_net_queue_visit *visit = &q->visit[number];
    const uint16_t total = visit->entered;
    visit->cut = true;
    for (uint32_t ahead = visit->next, next; ahead; ahead = next) {
        struct leat_net_queue_visit *v = &q->visit[ahead];
        next = v->cut ? 0 : v->next;
        v->total = total;
        leat_net_queue_visit_check(q, ahead);
    }
}

/* ---- ends ---------------------------------------------------------------------------------- */

void leat_net_queue_release(struct leat_net_queues *q, uint32_t flight)
{
    assert(q->parcel[flight].holds);
    if (--q->parcel[flight].holds == 0) leat_net_flights_give(&q->flights, flight);
}

static bool ends_before(const struct leat_net_queues *q, uint32_t a, uint32_t b)
{
    const struct leat_net_packet *x = &q->flights.flight[a].packet;
    const struct leat_net_packet *y = &q->flights.flight[b].packet;
    return x->source != y->source ? x->source < y->source : x->number < y->number;
}

void leat_net_queue_end(struct leat_net_queues *q, uint32_t flight, enum leat_net_fate fate,
                        uint64_t now)
{
    if (q->parcel[flight].ended) return;
    struct leat_net_flight *f = &q->flights.flight[flight];
    uint32_t *place = &q->end_first[f->packet.destination];
    if (f->fate == LEAT_NET_DELIVERED) f->fate = (uint8_t)fate;
    q->parcel[flight].ended = true;
    while (*place && ends_before(q, *place - 1, flight))
        place = &q->parcel[*place - 1].next_end;
    q->parcel[flight].next_end = *place;
    *place = flight + 1;
    leat_net_queue_plan(q, LEAT_NET_QUEUE_ENDS, f->packet.destination, now);
}

void leat_net_queue_report(struct leat_net *net, uint32_t terminal, uint64_t now)
{
    struct leat_net_queues *q = leat_net_queues_of(net);
    uint32_t next = q->end_first[terminal];
    q->end_first[terminal] = 0;
    while (next) {
        const uint32_t flight = next - 1;
        next = q->parcel[flight].next_end;
        leat_net_end(net, &q->flights.flight[flight], &q->flights.course[flight], now);
        leat_net_queue_release(q, flight);
    }
}
