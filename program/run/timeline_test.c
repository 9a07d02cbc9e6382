/* Timelines against a plain model: the same spans, picosecond by picosecond. */
#include "tap.h"
#include "timeline.h"
#include <stdlib.h>
#include <string.h>

enum { SPANS = 700, TIME_CAP = 3 << 20 };

static struct leat_timeline timeline;
static uint8_t plain[TIME_CAP]; /* the state of each picosecond, + 1 */

static void holds_what_is_plain(leat_time end)
{
    static leat_time want[LEAT_TIMELINE_STATES][LEAT_TIMELINE_BINS];
    memset(want, 0, sizeof want);
    for (leat_time t = 0; t < end; t++)
        if (plain[t]) want[plain[t] - 1][t / timeline.bin_ps]++;
    OK(memcmp(want, timeline.in_ps, sizeof want) == 0);
}

/* Gaps, spans within a bin and over many, spans that overlap the last one. */
static void bins_hold_the_time_of_each_state_while_they_double(void)
{
    leat_time now = 0;
    memset(&timeline, 0, sizeof timeline);
    memset(plain, 0, sizeof plain);
    srand(7);
    for (int i = 0; i < SPANS; i++) {
        const leat_time gap = (leat_time)rand() % 3000;
        const leat_time len = (leat_time)rand() % (i % 50 ? 2000 : 60000);
        const uint32_t state = (uint32_t)rand() % LEAT_TIMELINE_STATES;
        const leat_time from = now + gap, to = from + len;
        if (to >= TIME_CAP) break;
        leat_timeline_add(&timeline, state, i % 3 ? from : now / 2, to);
        memset(plain + (i % 3 ? from : now), (int)state + 1, to - (i % 3 ? from : now));
        now = to;
        if (i % 60 == 0) holds_what_is_plain(now);
    }
    OK(now > 2 * LEAT_TIMELINE_BINS * LEAT_TIMELINE_BIN_PS_MIN); /* it has doubled twice */
    EQ(timeline.until, now);
    holds_what_is_plain(now);
    leat_timeline_widen(&timeline, 8 * timeline.bin_ps);
    holds_what_is_plain(now);
}

static void bins_are_no_wider_than_needed(void)
{
    const leat_time all = (leat_time)LEAT_TIMELINE_BINS * LEAT_TIMELINE_BIN_PS_MIN;
    EQ(leat_timeline_width(0), LEAT_TIMELINE_BIN_PS_MIN);
    EQ(leat_timeline_width(all), LEAT_TIMELINE_BIN_PS_MIN);
    EQ(leat_timeline_width(all + 1), 2 * LEAT_TIMELINE_BIN_PS_MIN);
    EQ(leat_timeline_width(2 * all), 2 * LEAT_TIMELINE_BIN_PS_MIN);
    EQ(leat_timeline_width(1024 * all - 1), 1024 * LEAT_TIMELINE_BIN_PS_MIN);
    OK(leat_timeline_width(UINT64_MAX) > UINT64_MAX / LEAT_TIMELINE_BINS);
}

static void time_of_no_length_leaves_nothing(void)
{
    memset(&timeline, 0, sizeof timeline);
    leat_timeline_add(&timeline, 3, 500, 500);
    leat_timeline_add(&timeline, 3, 900, 100);
    EQ(timeline.states, 0);
    EQ(timeline.bin_ps, 0);
}

TAP_MAIN(T(bins_hold_the_time_of_each_state_while_they_double), T(bins_are_no_wider_than_needed),
         T(time_of_no_length_leaves_nothing))
