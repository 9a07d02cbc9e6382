#include "leat_heap.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { MOST = 300 };

struct event {
    uint64_t at;
    uint32_t id;
};

static struct event events[MOST];
static uint32_t place_of[MOST];

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    (void)context;
    return x->at != y->at ? x->at < y->at : x->id < y->id;
}

static void placed(void *context, const void *element, uint32_t place)
{
    ((uint32_t *)context)[((const struct event *)element)->id] = place;
}

static const struct leat_heap heap = { events, sizeof *events, is_before, NULL, NULL };
static const struct leat_heap known = { events, sizeof *events, is_before, placed, place_of };

/* Times repeat, so that the order of equal ones counts. */
static void elements_come_out_in_order(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (uint32_t most = 1; most < MOST; most = most * 3 / 2 + 1) {
        uint32_t count = 0, pushed = 0;
        struct event last = { 0, 0 }, top;
        for (int i = 0; i < 2000; i++)
            if (count < most && leat_random_below(&r, 3)) {
                /* Not before the last one taken: a later top never comes before an earlier. */
                const struct event e = { last.at + leat_random_below(&r, 50), ++pushed };
                leat_heap_push(&heap, &count, &e);
            } else if (count) {
                leat_heap_take(&heap, &count, &top);
                OK(top.at >= last.at);
                for (uint32_t k = 0; k < count; k++)
                    OK(is_before(NULL, &top, &events[k]));
                last = top;
            }
    }
}

/* Elements that become earlier or later, wherever they are. */
static void each_element_is_where_it_was_placed(void)
{
    struct leat_random r;
    uint32_t count = 1;
    leat_random_seed(&r, tap_seed() + 1);
    leat_heap_put(&known, 0, &(struct event){ 500, 0 });
    for (uint32_t id = 1; id < MOST; id++) {
        const struct event e = { leat_random_below(&r, 1000), id };
        leat_heap_push(&known, &count, &e);
    }
    for (int i = 0; i < 5000; i++) {
        const uint32_t id = (uint32_t)leat_random_below(&r, MOST), place = place_of[id];
        struct event e = events[place];
        EQ(e.id, id);
        const uint64_t was = e.at;
        e.at = leat_random_below(&r, 1000);
        if (e.at < was)
            leat_heap_up(&known, place, &e);
        else
            leat_heap_down(&known, count, place, &e);
    }
    for (uint32_t place = 1; place < count; place++)
        OK(is_before(NULL, &events[(place - 1) / 2], &events[place]));
    for (uint32_t id = 0; id < MOST; id++) {
        OK(leat_heap_at(&known, place_of[id]) == (unsigned char *)&events[place_of[id]]);
        EQ(events[place_of[id]].id, id);
    }
}

TAP_MAIN(T(elements_come_out_in_order), T(each_element_is_where_it_was_placed))
