#include "atm_queue.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <string.h>

static alignas(max_align_t) unsigned char memory[1 << 14];

static struct leat_atm_queue *made(const struct leat_atm_queue_config *c)
{
    struct leat_atm_queue *q = NULL;
    EQ(leat_atm_queue_init(memory, sizeof memory, c, &q), LEAT_ERR_OK);
    return q;
}

static struct leat_atm_queue_config levels(uint32_t count, uint32_t w)
{
    struct leat_atm_queue_config c = { .level_count = count, .w = w };
    for (uint32_t i = 0; i < count; i++) {
        c.level[i].capacity = 40;
        c.level[i].threshold = 20;
    }
    return c;
}

static void put(struct leat_atm_queue *q, uint8_t level, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        OK(leat_atm_queue_put(q, (struct leat_atm_queue_item){ .handle = i, .level = level }));
}

/* Takes as many cells as `want` has digits; each digit is the expected level. */
static void takes(struct leat_atm_queue *q, const char *want)
{
    for (; *want; want++) {
        struct leat_atm_queue_item item = { .level = 99 };
        OK(leat_atm_queue_take(q, &item));
        EQ(item.level, *want - '0');
    }
}

static void the_upper_level_is_served_first(void)
{
    const struct leat_atm_queue_config c = levels(3, LEAT_ATM_QUEUE_W_DEFAULT);
    struct leat_atm_queue *q = made(&c);
    struct leat_atm_queue_item item;
    OK(!leat_atm_queue_take(q, &item));
    put(q, 2, 2);
    put(q, 0, 2);
    put(q, 1, 2);
    takes(q, "00");
    put(q, 0, 1);
    takes(q, "01122");
    OK(!leat_atm_queue_take(q, &item));
}

/* Note, 3.2: after W services above a waiting queue, it gets one. */
static void a_waiting_level_is_passed_by_w_cells_and_no_more(void)
{
    struct leat_atm_queue_config c = levels(2, 8);
    struct leat_atm_queue *q = made(&c);
    put(q, 0, 30);
    put(q, 1, 5);
    takes(q, "000000001000000001000000001000000");
    EQ(leat_atm_queue_len(q, 0), 0);
    takes(q, "11");

    c.w = 1;
    q = made(&c);
    put(q, 0, 4);
    put(q, 1, 4);
    takes(q, "01010101");
}

static void only_services_during_the_wait_count(void)
{
    const struct leat_atm_queue_config c = levels(2, 3);
    struct leat_atm_queue *q = made(&c);
    put(q, 0, 20);
    takes(q, "00000"); /* no cell waits below */
    put(q, 1, 2);
    takes(q, "00010001000");
}

static void of_several_that_waited_long_enough_the_uppermost_goes_first(void)
{
    const struct leat_atm_queue_config c = levels(4, 2);
    struct leat_atm_queue *q = made(&c);
    put(q, 3, 9);
    put(q, 2, 9);
    put(q, 1, 9);
    put(q, 0, 9);
    takes(q, "0012300123001230012301");
}

static void cells_leave_in_the_order_in_which_they_came(void)
{
    const struct leat_atm_queue_config c = levels(2, 8);
    struct leat_atm_queue *q = made(&c);
    for (uint32_t i = 0; i < 100; i++) {
        struct leat_atm_queue_item item = { 7 * i, 1, i % 3 == 0 };
        OK(leat_atm_queue_put(q, item));
        OK(leat_atm_queue_take(q, &item));
        EQ(item.handle, 7 * i);
        EQ(item.level, 1);
        EQ(item.clp, i % 3 == 0);
    }
}

/* Note, 3.2: CLP 1 enters below the threshold, CLP 0 below the capacity, each level by itself. */
static void the_threshold_keeps_room_for_clp_0(void)
{
    struct leat_atm_queue_config c = levels(2, 8);
    c.level[0].capacity = 5;
    c.level[0].threshold = 3;
    struct leat_atm_queue *q = made(&c);
    const struct leat_atm_queue_item low = { 1, 0, true }, high = { 2, 0, false };
    OK(leat_atm_queue_put(q, low) && leat_atm_queue_put(q, high) && leat_atm_queue_put(q, low));
    OK(!leat_atm_queue_put(q, low)); /* holds 3 */
    OK(leat_atm_queue_put(q, high) && leat_atm_queue_put(q, high));
    OK(!leat_atm_queue_put(q, high)); /* holds 5 */
    OK(!leat_atm_queue_put(q, low));
    EQ(leat_atm_queue_len(q, 0), 5);
    EQ(leat_atm_queue_len(q, 1), 0);
    EQ(leat_atm_queue_counts(q, 0).entered, 5);
    EQ(leat_atm_queue_counts(q, 0).dropped_clp0, 1);
    EQ(leat_atm_queue_counts(q, 0).dropped_clp1, 2);
    put(q, 1, 40); /* the other level has its own room */

    c.level[0].threshold = 0;
    q = made(&c);
    OK(!leat_atm_queue_put(q, low));
}

static void memory_and_limits_are_checked(void)
{
    struct leat_atm_queue_config c = levels(3, 8);
    struct leat_atm_queue *q = NULL;
    const size_t need = leat_atm_queue_footprint(&c);
    EQ(leat_atm_queue_check(&c), LEAT_ERR_OK);
    EQ(leat_atm_queue_init(memory, need - 1, &c, &q), LEAT_ERR_MEMORY);
    EQ(leat_atm_queue_init(memory + 1, need, &c, &q), LEAT_ERR_MEMORY);
    OK(q == NULL);
    EQ(leat_atm_queue_init(memory, need, &c, &q), LEAT_ERR_OK);
#define REFUSED(field, value)                     \
    (c = levels(3, 8), c.field = (value));        \
    EQ(leat_atm_queue_check(&c), LEAT_ERR_RANGE); \
    EQ(leat_atm_queue_init(memory, sizeof memory, &c, &q), LEAT_ERR_RANGE)
    REFUSED(level_count, 0);
    REFUSED(level_count, LEAT_ATM_QUEUE_LEVELS_MAX + 1);
    REFUSED(w, 0);
    REFUSED(w, LEAT_ATM_QUEUE_W_MAX + 1);
    REFUSED(level[2].capacity, 0);
    REFUSED(level[2].capacity, LEAT_ATM_QUEUE_CAPACITY_MAX + 1);
    REFUSED(level[2].threshold, 41);
#undef REFUSED
}

/*
 * Lists that shift, and a log of services. The log shows how often a level was passed, back to its
 * own last service or to the moment when it began to wait.
 */
enum { LIST = 40, DIARY = 4096 };
struct model {
    struct leat_atm_queue_config c;
    struct leat_atm_queue_item list[LEAT_ATM_QUEUE_LEVELS_MAX][LIST];
    size_t len[LEAT_ATM_QUEUE_LEVELS_MAX];
    size_t waits_since[LEAT_ATM_QUEUE_LEVELS_MAX]; /* positions in the log */
    unsigned diary[DIARY];
    size_t served;
};

static bool model_puts(struct model *m, struct leat_atm_queue_item item)
{
    size_t *len = &m->len[item.level];
    if (*len >= (item.clp ? m->c.level[item.level].threshold : m->c.level[item.level].capacity))
        return false;
    if (*len == 0) m->waits_since[item.level] = m->served;
    m->list[item.level][(*len)++] = item;
    return true;
}

static unsigned model_passed(const struct model *m, unsigned level)
{
    unsigned n = 0;
    for (size_t i = m->waits_since[level]; i < m->served; i++)
        n += m->diary[i] < level;
    return n;
}

static bool model_takes(struct model *m, struct leat_atm_queue_item *out)
{
    unsigned choice = m->c.level_count;
    for (unsigned l = m->c.level_count; l-- > 0;)
        if (m->len[l]) choice = l;
    for (unsigned l = m->c.level_count; l-- > 0;)
        if (m->len[l] && model_passed(m, l) >= m->c.w) choice = l;
    if (choice == m->c.level_count) return false;
    *out = m->list[choice][0];
    memmove(m->list[choice], m->list[choice] + 1, --m->len[choice] * sizeof *out);
    m->diary[m->served++] = choice;
    m->waits_since[choice] = m->served;
    return true;
}

static void random_traffic_agrees_with_lists_and_a_diary(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS; i += DIARY) {
        static struct model m;
        memset(&m, 0, sizeof m);
        const uint32_t level_count = 1 + (uint32_t)leat_random_below(&r, LEAT_ATM_QUEUE_LEVELS_MAX);
        m.c = levels(level_count, 1 + (uint32_t)leat_random_below(&r, 10));
        for (uint32_t l = 0; l < m.c.level_count; l++) {
            m.c.level[l].capacity = 1 + (uint32_t)leat_random_below(&r, LIST);
            m.c.level[l].threshold = (uint32_t)leat_random_below(&r, 1 + m.c.level[l].capacity);
        }
        struct leat_atm_queue *q = made(&m.c);
        for (uint32_t k = 0; k < DIARY; k++) {
            struct leat_atm_queue_item item = { .handle = k };
            item.level = (uint8_t)leat_random_below(&r, m.c.level_count);
            item.clp = leat_random_below(&r, 3) == 0;
            struct leat_atm_queue_item want = { 0 }, got = { 0 };
            if (leat_random_below(&r, 20) < 11) {
                OK(leat_atm_queue_put(q, item) == model_puts(&m, item));
            } else {
                OK(leat_atm_queue_take(q, &got) == model_takes(&m, &want));
                OK(got.handle == want.handle && got.level == want.level && got.clp == want.clp);
            }
            OK(leat_atm_queue_len(q, item.level) == m.len[item.level]);
        }
    }
}

/* The header's promise to a level that waits: at most W + level - 1 cells of higher levels. */
static void no_level_starves(void)
{
    enum { W = 3, LEVELS = 5 };
    const struct leat_atm_queue_config c = levels(LEVELS, W);
    struct leat_atm_queue *q = made(&c);
    unsigned passed[LEVELS] = { 0 }, most[LEVELS] = { 0 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed() + 1);
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        for (uint8_t l = 0; l < LEVELS; l++)
            if (leat_atm_queue_len(q, l) < 2 && leat_random_below(&r, 3)) put(q, l, 1);
        bool waits[LEVELS];
        for (unsigned l = 0; l < LEVELS; l++)
            waits[l] = leat_atm_queue_len(q, l) > 0;
        struct leat_atm_queue_item item;
        if (!leat_atm_queue_take(q, &item)) continue;
        passed[item.level] = 0;
        for (unsigned l = item.level + 1u; l < LEVELS; l++) {
            passed[l] += waits[l];
            if (passed[l] > most[l]) most[l] = passed[l];
        }
    }
    for (unsigned l = 1; l < LEVELS; l++)
        OK(most[l] >= W && most[l] <= W + l - 1);
}

TAP_MAIN(T(the_upper_level_is_served_first), T(a_waiting_level_is_passed_by_w_cells_and_no_more),
         T(only_services_during_the_wait_count),
         T(of_several_that_waited_long_enough_the_uppermost_goes_first),
         T(cells_leave_in_the_order_in_which_they_came), T(the_threshold_keeps_room_for_clp_0),
         T(memory_and_limits_are_checked), T(random_traffic_agrees_with_lists_and_a_diary),
         T(no_level_starves))
