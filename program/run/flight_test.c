/* Messages in the network, and their numbers. */
#include "flight.h"
#include "tap.h"
#include <stdlib.h>

enum { ROUNDS = 20000, MOST = 1500 };

static void a_number_stands_for_one_message_until_it_is_removed(void)
{
    static uint32_t number[MOST];
    static uint64_t cookie[MOST];
    struct leat_flight flight = { 0 };
    uint32_t count = 0, wrong = 0;
    srand(9);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint32_t one = count ? (uint32_t)rand() % count : 0;
        if (count < MOST && rand() % 5 < 3) {
            cookie[count] = round;
            number[count++] = leat_flight_add(
                &flight, &(struct leat_flight_message){ .cookie = round, .len = 3 * round });
        } else if (count) {
            const struct leat_flight_message *m = leat_flight_at(&flight, number[one]);
            wrong += m->cookie != cookie[one] || m->len != 3 * cookie[one];
            leat_flight_remove(&flight, number[one]);
            number[one] = number[--count];
            cookie[one] = cookie[count];
        }
    }
    EQ(wrong, 0);
    OK(flight.cap <= 2 * MOST);
    leat_flight_free(&flight);
    EQ(flight.cap, 0);
}

TAP_MAIN(T(a_number_stands_for_one_message_until_it_is_removed))
