/* Events in the order of their times. */
#include "inbox.h"
#include "tap.h"
#include <stdlib.h>

static void events_come_by_time_while_others_are_added(void)
{
    enum { EVENTS = 1000, TIMES = 50 };
    struct leat_inbox inbox = { 0 };
    leat_time last_at = 0;
    uint64_t last_cookie = 0;
    uint32_t added = 0, wrong = 0;
    srand(5);
    OK(!leat_inbox_first(&inbox));
    for (uint32_t taken = 0; taken < EVENTS; taken++) {
        for (int i = rand() % 4; i > 0 && added < EVENTS; i--, added++)
            leat_inbox_add(&inbox,
                           &(struct leat_share_event){ .at = last_at + (leat_time)rand() % TIMES,
                                                       .cookie = added });
        const struct leat_share_event *first = leat_inbox_first(&inbox);
        if (!first) {
            taken--;
            continue;
        }
        wrong += first->at < last_at || (first->at == last_at && first->cookie < last_cookie);
        last_at = first->at;
        last_cookie = first->cookie;
        leat_inbox_drop_first(&inbox);
    }
    EQ(wrong, 0);
    OK(!leat_inbox_first(&inbox));
    leat_inbox_free(&inbox);
}

static void events_of_the_same_time_come_as_they_were_added(void)
{
    struct leat_inbox inbox = { 0 };
    for (uint64_t i = 0; i < 100; i++)
        leat_inbox_add(&inbox, &(struct leat_share_event){ .at = 7 - i % 2, .cookie = i });
    for (uint64_t i = 0; i < 100; i++) {
        const struct leat_share_event *first = leat_inbox_first(&inbox);
        EQ(first->at, i < 50 ? 6 : 7);
        EQ(first->cookie, i < 50 ? 2 * i + 1 : 2 * (i - 50));
        leat_inbox_drop_first(&inbox);
    }
    leat_inbox_free(&inbox);
}

static void quiet_events_end_no_wait_until_there_are_many(void)
{
    struct leat_inbox inbox = { 0 };
    OK(!leat_inbox_first_loud(&inbox));
    for (leat_time at = 0; at < 10; at++)
        leat_inbox_add(&inbox, &(struct leat_share_event){ .at = at, .is_quiet = true });
    OK(!leat_inbox_first_loud(&inbox));
    leat_inbox_add(&inbox, &(struct leat_share_event){ .at = 5, .cookie = 1 });
    EQ(leat_inbox_first_loud(&inbox)->cookie, 1);
    EQ(leat_inbox_first(&inbox)->at, 0);
    while (leat_inbox_first_loud(&inbox))
        leat_inbox_drop_first(&inbox);
    for (leat_time at = 10; at < 100; at++)
        leat_inbox_add(&inbox, &(struct leat_share_event){ .at = at, .is_quiet = true });
    OK(leat_inbox_first_loud(&inbox) && leat_inbox_first_loud(&inbox)->at < 99);
    leat_inbox_free(&inbox);
}

TAP_MAIN(T(events_come_by_time_while_others_are_added),
         T(events_of_the_same_time_come_as_they_were_added),
         T(quiet_events_end_no_wait_until_there_are_many))
