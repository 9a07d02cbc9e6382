#include "timeline.h"

leat_time leat_timeline_width(leat_time time)
{
    leat_time bin_ps = LEAT_TIMELINE_BIN_PS_MIN;
    while (bin_ps < time / LEAT_TIMELINE_BINS + (time % LEAT_TIMELINE_BINS != 0))
        bin_ps *= 2;
    return bin_ps;
}

static void merge_neighbours(leat_time bins[LEAT_TIMELINE_BINS])
{
    for (uint32_t i = 0; i < LEAT_TIMELINE_BINS; i++)
        bins[i] = i < LEAT_TIMELINE_BINS / 2 ? bins[2 * i] + bins[2 * i + 1] : 0;
}

void leat_timeline_widen(struct leat_timeline *timeline, leat_time bin_ps)
{
    if (!timeline->bin_ps) timeline->bin_ps = LEAT_TIMELINE_BIN_PS_MIN;
    for (; timeline->bin_ps < bin_ps; timeline->bin_ps *= 2)
        for (uint32_t state = 0; state < timeline->states; state++)
            merge_neighbours(timeline->in_ps[state]);
}

void leat_timeline_add(struct leat_timeline *timeline, uint32_t state, leat_time from, leat_time to)
{
    if (from < timeline->until) from = timeline->until;
    if (from >= to) return;
    timeline->until = to;
    if (state >= timeline->states) timeline->states = state + 1;
    leat_timeline_widen(timeline, leat_timeline_width(to));
    while (from < to) {
        const leat_time bin = from / timeline->bin_ps, end = (bin + 1) * timeline->bin_ps;
        const leat_time next = end < to ? end : to;
        timeline->in_ps[state][bin] += next - from;
        from = next;
    }
}
