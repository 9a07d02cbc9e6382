/*
 * The input is a rule, a start and the gaps between cells. The oracle: the two forms make the same
 * decisions and hold the same theoretical arrival time, and a cell conforms exactly from `due`
 * on.
 */
#include "atm_gcra.h"
#include "leat_bytes.h"
#include <stddef.h>
#include <stdlib.h>

enum { RULE_LEN = 24, GAP_LEN = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < RULE_LEN) return 0;
    const struct leat_atm_gcra rule = { leat_get_be64(data), leat_get_be64(data + 8) };
    if (leat_atm_gcra_check(&rule) != LEAT_ERR_OK) return 0;

    struct leat_atm_gcra_schedule s = { 0 };
    struct leat_atm_gcra_bucket b = { 0 };
    uint64_t now = leat_get_be64(data + 16);
    for (size_t at = RULE_LEN; at + GAP_LEN <= len; at += GAP_LEN) {
        /* a gap of 16 bits at any of 64 places, no further than the end of time */
        const uint64_t gap = (uint64_t)leat_get_be16(data + at) << (data[at + 2] & 63);
        now = leat_time_add(now, gap);
        const uint64_t due = leat_atm_gcra_schedule_due(&rule, &s, now);
        const bool conforms = leat_atm_gcra_schedule_conforms(&rule, &s, now);
        if (due < now || (conforms && due != now)) abort();
        if (!conforms && due != LEAT_NEVER &&
            (!leat_atm_gcra_schedule_conforms(&rule, &s, due) ||
             leat_atm_gcra_schedule_conforms(&rule, &s, due - 1)))
            abort();
        if (leat_atm_gcra_schedule_decide(&rule, &s, now) != conforms) abort();
        if (leat_atm_gcra_bucket_decide(&rule, &b, now) != conforms) abort();
        if (s.tat != b.lct + b.x || s.beyond != (s.tat < b.lct)) abort();
    }
    return 0;
}
