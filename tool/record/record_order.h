/*
 * Sorts events and counters by time: tasks report their actions when they wait, with the times of
 * their own clocks, which are ahead of the network's.
 *
 *     put, count ---> [ heap, by time, then by arrival ] --- until(t): all before t ---> recorder
 *     write(e)   -------------- and all before it --------------------------------------^
 *
 * After until(t) the caller reports nothing before t. A counter is written once for each time at
 * which it changes: with its value after all changes of that time.
 */
#ifndef LEAT_TOOL_RECORD_ORDER_H
#define LEAT_TOOL_RECORD_ORDER_H

#include "sim_recorder.h"

/* A pending event, for record_order_take_back. All zeros: none. */
struct record_ticket {
    uint64_t number;
    uint32_t place;
};

struct record_pending {
    struct leat_sim_event event;
    uint8_t *octets;  /* of a frame */
    uint64_t number;  /* sequence number, from 1 on; 0: this place is free */
    uint32_t counter; /* + 1: `change` of this one, instead of the event */
    int32_t change;
    bool taken_back;
    uint32_t next_free; /* + 1 */
};

struct record_counter {
    uint32_t signal;
    uint64_t value, written;
    bool changed; /* in the list of counters to write */
};

struct record_order {
    struct leat_sim_recorder *recorder;
    struct record_pending *pending;
    uint32_t *heap; /* places in it, the earliest on top */
    uint32_t pending_cap, heap_count, free;
    uint64_t numbers;
    struct record_counter *counter;
    uint32_t *changed;
    uint32_t counters, counter_cap, changed_count;
    leat_time changed_at;
    bool failed; /* out of memory: later events are not recorded */
};

void record_order_init(struct record_order *order, struct leat_sim_recorder *recorder);
void record_order_free(struct record_order *order);

/* For a signal of the recorder. Its value is 0, which is not written before the first count. */
uint32_t record_order_counter(struct record_order *order, uint32_t signal);

/* An event whose time may be in the future. The octets of a frame are copied. */
struct record_ticket record_order_put(struct record_order *order, const struct leat_sim_event *e);

/* Withdraws an event. False: it is written already. */
bool record_order_take_back(struct record_order *order, struct record_ticket ticket);

/* `change` may be 0: its value is shown from now on. */
void record_order_count(struct record_order *order, uint32_t counter, int32_t change, leat_time at);

/* All later events have time `at` or later. */
void record_order_until(struct record_order *order, leat_time at);

/* An event after which no earlier one follows. */
void record_order_write(struct record_order *order, const struct leat_sim_event *e);

/* Writes all pending events; returns the time of the last. */
leat_time record_order_end(struct record_order *order);

/* Writes those before `at`, and forgets the rest. */
void record_order_stop(struct record_order *order, leat_time at);

#endif
