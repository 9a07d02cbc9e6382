/* Messages in the network. Each has a number for as long as it is there; numbers are reused. It
 * begins as zeros. */
#ifndef LEAT_PROGRAM_FLIGHT_H
#define LEAT_PROGRAM_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct leat_flight_message {
    uint32_t from, to; /* tasks */
    uint64_t cookie, number;
    uint64_t block, len;
    bool notify_sent;
    bool handed;        /* to its task, before its arrival */
    uint32_t cast;      /* it is a copy of this multicast (hub_cast.c); 0: of none */
    uint32_t order;     /* among those of its sender to its receiver (hub_order.c) */
    uint32_t next_free; /* of the table: + 1 */
};

struct leat_flight {
    struct leat_flight_message *message;
    uint32_t cap, free; /* free: + 1 */
};

/* Its number. Ends the process if out of memory. */
uint32_t leat_flight_add(struct leat_flight *flight, const struct leat_flight_message *message);
/* Until the next one is added. */
struct leat_flight_message *leat_flight_at(const struct leat_flight *flight, uint64_t number);
void leat_flight_remove(struct leat_flight *flight, uint64_t number);
void leat_flight_free(struct leat_flight *flight);

#endif
