#include "flight.h"
#include "child.h"
#include <stdlib.h>

static void grow(struct leat_flight *flight)
{
    enum { FIRST_CAP = 256 };
    const uint32_t old = flight->cap, cap = old ? 2 * old : FIRST_CAP;
    flight->message = leat_child_grown(flight->message, cap, sizeof *flight->message);
    flight->cap = cap;
    for (uint32_t i = cap; i-- > old;)
        leat_flight_remove(flight, i);
}

uint32_t leat_flight_add(struct leat_flight *flight, const struct leat_flight_message *message)
{
    if (!flight->free) grow(flight);
    const uint32_t number = flight->free - 1;
    flight->free = flight->message[number].next_free;
    flight->message[number] = *message;
    return number;
}

struct leat_flight_message *leat_flight_at(const struct leat_flight *flight, uint64_t number)
{
    return &flight->message[number];
}

void leat_flight_remove(struct leat_flight *flight, uint64_t number)
{
    flight->message[number].next_free = flight->free;
    flight->free = (uint32_t)number + 1;
}

void leat_flight_free(struct leat_flight *flight)
{
    free(flight->message);
    *flight = (struct leat_flight){ 0 };
}
