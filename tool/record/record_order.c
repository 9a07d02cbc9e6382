#include "record_order.h"
#include "tool.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

void record_order_init(struct record_order *order, struct leat_sim_recorder *recorder)
{
    *order = (struct record_order){ .recorder = recorder };
}

void record_order_free(struct record_order *order)
{
    for (uint32_t i = 0; i < order->heap_count; i++)
        free(order->pending[order->heap[i]].octets);
    free(order->pending);
    free(order->heap);
    free(order->counter);
    free(order->changed);
    *order = (struct record_order){ 0 };
}

/* NULL after a complaint: the recording has failed, `old` stays. */
static void *grown(struct record_order *order, void *old, size_t count, size_t size)
{
    void *fresh = realloc(old, count * size); /* of numbers of 32 bits: no overflow */
    if (!fresh && !order->failed) complain("no memory for %zu events of the recording", count);
    if (!fresh) order->failed = true;
    return fresh;
}

/* ---- what waits: a heap ---------------------------------------------------------------------- */

static bool is_before(const struct record_order *order, uint32_t a, uint32_t b)
{
    const struct record_pending *x = &order->pending[a], *y = &order->pending[b];
    return x->event.at != y->event.at ? x->event.at < y->event.at : x->number < y->number;
}

static void push(struct record_order *order, uint32_t place)
{
    uint32_t at = order->heap_count++;
    while (at && is_before(order, place, order->heap[(at - 1) / 2])) {
        order->heap[at] = order->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    order->heap[at] = place;
}

static uint32_t pop(struct record_order *order)
{
    const uint32_t top = order->heap[0], moving = order->heap[--order->heap_count];
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < order->heap_count) {
        const bool second = child + 1 < order->heap_count &&
                            is_before(order, order->heap[child + 1], order->heap[child]);
        child += second;
        if (!is_before(order, order->heap[child], moving)) break;
        order->heap[at] = order->heap[child];
        at = child;
    }
    order->heap[at] = moving;
    return top;
}

static bool make_room(struct record_order *order)
{
    enum { FIRST_CAP = 256 };
    const uint32_t old = order->pending_cap, cap = old ? 2 * old : FIRST_CAP;
    if (order->free || order->failed) return !order->failed;
    struct record_pending *pending = grown(order, order->pending, cap, sizeof *pending);
    if (!pending) return false;
    order->pending = pending;
    uint32_t *heap = grown(order, order->heap, cap, sizeof *heap);
    if (!heap) return false;
    order->heap = heap;
    order->pending_cap = cap;
    for (uint32_t i = cap; i-- > old;) {
        order->pending[i] = (struct record_pending){ .next_free = order->free };
        order->free = i + 1;
    }
    return true;
}

static struct record_ticket wait_for_time(struct record_order *order,
                                          const struct record_pending *what)
{
    if (!make_room(order)) return (struct record_ticket){ 0 };
    const uint32_t place = order->free - 1;
    order->free = order->pending[place].next_free;
    order->pending[place] = *what;
    order->pending[place].number = ++order->numbers;
    push(order, place);
    return (struct record_ticket){ order->numbers, place };
}

struct record_ticket record_order_put(struct record_order *order, const struct leat_sim_event *e)
{
    struct record_pending what = { .event = *e };
    if (e->kind == LEAT_SIM_FRAME) { /* its octets are lent */
        what.octets = grown(order, NULL, e->len, 1);
        if (!what.octets) return (struct record_ticket){ 0 };
        memcpy(what.octets, e->octets, e->len);
        what.event.octets = what.octets;
    }
    const struct record_ticket ticket = wait_for_time(order, &what);
    if (!ticket.number) free(what.octets);
    return ticket;
}

bool record_order_take_back(struct record_order *order, struct record_ticket ticket)
{
    if (!ticket.number || order->pending[ticket.place].number != ticket.number) return false;
    order->pending[ticket.place].taken_back = true;
    return true;
}

/* ---- counters -------------------------------------------------------------------------------- */

static bool make_room_for_counter(struct record_order *order)
{
    enum { FIRST_CAP = 64 };
    const uint32_t cap = order->counter_cap ? 2 * order->counter_cap : FIRST_CAP;
    if (order->counters < order->counter_cap || order->failed) return !order->failed;
    struct record_counter *counter = grown(order, order->counter, cap, sizeof *counter);
    if (!counter) return false;
    order->counter = counter;
    uint32_t *changed = grown(order, order->changed, cap, sizeof *changed);
    if (!changed) return false;
    order->changed = changed;
    order->counter_cap = cap;
    return true;
}

uint32_t record_order_counter(struct record_order *order, uint32_t signal)
{
    if (!make_room_for_counter(order)) return 0;
    order->counter[order->counters] = (struct record_counter){ .signal = signal,
                                                               .written = UINT64_MAX };
    return order->counters++;
}

void record_order_count(struct record_order *order, uint32_t counter, int32_t change, leat_time at)
{
    wait_for_time(order, &(struct record_pending){
                             .event.at = at, .counter = counter + 1, .change = change });
}

static void change(struct record_order *order, uint32_t counter, int32_t by, leat_time at)
{
    struct record_counter *c = &order->counter[counter];
    c->value += (uint64_t)(int64_t)by;
    order->changed_at = at;
    if (c->changed) return;
    c->changed = true;
    order->changed[order->changed_count++] = counter;
}

/* Writes changed counters before time advances to `at`. */
static void write_counters(struct record_order *order, leat_time at)
{
    if (at <= order->changed_at) return;
    for (uint32_t i = 0; i < order->changed_count; i++) {
        struct record_counter *c = &order->counter[order->changed[i]];
        c->changed = false;
        if (c->value == c->written) continue; /* it came and went */
        c->written = c->value;
        leat_sim_record_value(order->recorder, order->changed_at, c->signal, c->value);
    }
    order->changed_count = 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void write_first(struct record_order *order)
{
    const uint32_t place = pop(order);
    struct record_pending *p = &order->pending[place];
    write_counters(order, p->event.at);
    if (p->counter)
        change(order, p->counter - 1, p->change, p->event.at);
    else if (!p->taken_back)
        leat_sim_recorder_put(order->recorder, &p->event);
    free(p->octets);
    p->octets = NULL;
    p->number = 0;
    p->next_free = order->free;
    order->free = place + 1;
}

void record_order_until(struct record_order *order, leat_time at)
{
    while (order->heap_count && order->pending[order->heap[0]].event.at < at)
        write_first(order);
}

void record_order_write(struct record_order *order, const struct leat_sim_event *e)
{
    record_order_until(order, e->at);
    write_counters(order, e->at);
    leat_sim_recorder_put(order->recorder, e);
}

leat_time record_order_end(struct record_order *order)
{
    while (order->heap_count)
        write_first(order);
    write_counters(order, LEAT_NEVER);
    return order->recorder->now;
}

void record_order_stop(struct record_order *order, leat_time at)
{
    record_order_until(order, at);
    write_counters(order, LEAT_NEVER);
}
