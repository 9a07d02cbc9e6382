#include "atm_aal1_playout.h"
#include "tap.h"
#include <leat/random.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

enum { DUMMY = 0xd5, CAPACITY = 10 };

static alignas(max_align_t) unsigned char memory[512];
static const struct leat_atm_aal1_playout_config config = {
    .capacity_len = CAPACITY,
    .start_len = 4,
    .start_ps = 1000,
    .overrun = LEAT_ATM_AAL1_DROP_NEWEST,
    .underrun = LEAT_ATM_AAL1_REFILL,
    .dummy = DUMMY,
};

static struct leat_atm_aal1_playout *made(struct leat_atm_aal1_playout_config c)
{
    struct leat_atm_aal1_playout *p = NULL;
    EQ(leat_atm_aal1_playout_init(memory, sizeof memory, &c, &p), LEAT_ERR_OK);
    return p;
}

static void arrive(struct leat_atm_aal1_playout *p, leat_time now, const char *text)
{
    leat_atm_aal1_playout_arrive(p, now, (const uint8_t *)text, strlen(text));
}

/* Reads as many octets as `want` has, dummies written as '.'. */
static void reads(struct leat_atm_aal1_playout *p, leat_time now, const char *want)
{
    uint8_t got[32];
    const size_t len = strlen(want);
    const size_t played = leat_atm_aal1_playout_read(p, now, got, len);
    for (size_t i = 0; i < len; i++)
        EQ(got[i], want[i] == '.' ? DUMMY : want[i]);
    EQ(played, strcspn(want, "."));
}

static void play_begins_at_the_threshold(void)
{
    struct leat_atm_aal1_playout *p = made(config);
    reads(p, 0, ".");
    arrive(p, 1, "abc");
    reads(p, 2, "..");
    EQ(leat_atm_aal1_playout_level(p), 3);
    arrive(p, 3, "d");
    reads(p, 4, "ab");
    EQ(leat_atm_aal1_playout_level(p), 2);
    EQ(leat_atm_aal1_playout_counts(p).underruns, 0);
    EQ(leat_atm_aal1_playout_counts(p).dummy_len, 3);
}

/* Thesis 8.5.3.2: octets wait for the largest delay variation, no longer. */
static void play_begins_when_the_first_octet_is_old_enough(void)
{
    struct leat_atm_aal1_playout *p = made(config);
    arrive(p, 50, "a");
    arrive(p, 900, "b");
    reads(p, 1049, ".");
    reads(p, 1050, "a");
    reads(p, 1051, "b");

    struct leat_atm_aal1_playout_config patient = config;
    patient.start_ps = LEAT_NEVER;
    p = made(patient);
    arrive(p, 50, "abc");
    reads(p, UINT64_C(1) << 62, "."); /* only the level counts */
}

static void an_underrun_waits_for_the_threshold_again(void)
{
    struct leat_atm_aal1_playout *p = made(config);
    arrive(p, 0, "abcd");
    reads(p, 1, "abcd");
    EQ(leat_atm_aal1_playout_counts(p).underruns, 0); /* empty is no underrun yet */
    reads(p, 2, ".");
    EQ(leat_atm_aal1_playout_counts(p).underruns, 1);
    arrive(p, 3, "e");
    reads(p, 4, "."); /* refilling: no second underrun */
    EQ(leat_atm_aal1_playout_counts(p).underruns, 1);
    arrive(p, 5, "fgh");
    reads(p, 6, "efgh");
}

static void an_underrun_may_also_play_on(void)
{
    struct leat_atm_aal1_playout_config c = config;
    c.underrun = LEAT_ATM_AAL1_PLAY_ON;
    struct leat_atm_aal1_playout *p = made(c);
    arrive(p, 0, "abcd");
    reads(p, 1, "abcd..");
    arrive(p, 2, "e");
    reads(p, 3, "e.");
    EQ(leat_atm_aal1_playout_counts(p).underruns, 2);
    EQ(leat_atm_aal1_playout_counts(p).dummy_len, 3);
}

static void an_overrun_drops_the_newest_or_the_oldest(void)
{
    struct leat_atm_aal1_playout *p = made(config);
    arrive(p, 0, "abcdefgh");
    arrive(p, 1, "ijkl");
    EQ(leat_atm_aal1_playout_level(p), CAPACITY);
    reads(p, 2, "abcdefghij");
    EQ(leat_atm_aal1_playout_counts(p).overruns, 1);
    EQ(leat_atm_aal1_playout_counts(p).dropped_len, 2);

    struct leat_atm_aal1_playout_config c = config;
    c.overrun = LEAT_ATM_AAL1_DROP_OLDEST;
    p = made(c);
    arrive(p, 0, "abcdefgh");
    arrive(p, 1, "ijkl");
    reads(p, 2, "cdefghijkl");
    arrive(p, 3, "0123456789abcdef"); /* more than it can ever hold */
    reads(p, 4, "6789abcdef");
    EQ(leat_atm_aal1_playout_counts(p).overruns, 2);
    EQ(leat_atm_aal1_playout_counts(p).dropped_len, 8);
}

static void memory_and_limits_are_checked(void)
{
    struct leat_atm_aal1_playout *p = NULL;
    const size_t need = leat_atm_aal1_playout_footprint(&config);
    EQ(leat_atm_aal1_playout_init(memory, need - 1, &config, &p), LEAT_ERR_MEMORY);
    EQ(leat_atm_aal1_playout_init(memory + 1, need, &config, &p), LEAT_ERR_MEMORY);
    OK(p == NULL);
    EQ(leat_atm_aal1_playout_init(memory, need, &config, &p), LEAT_ERR_OK);

    struct leat_atm_aal1_playout_config c = config;
    c.start_len = CAPACITY + 1;
    EQ(leat_atm_aal1_playout_init(memory, sizeof memory, &c, &p), LEAT_ERR_RANGE);
    c.start_len = 0;
    EQ(leat_atm_aal1_playout_init(memory, sizeof memory, &c, &p), LEAT_ERR_RANGE);
    c.start_len = 1;
    c.capacity_len = 0;
    EQ(leat_atm_aal1_playout_init(memory, sizeof memory, &c, &p), LEAT_ERR_RANGE);
    c.capacity_len = LEAT_ATM_AAL1_PLAYOUT_LEN_MAX + 1;
    EQ(leat_atm_aal1_playout_init(memory, sizeof memory, &c, &p), LEAT_ERR_RANGE);
}

/* A list that shifts its octets: the simplest possible buffer. */
struct model {
    struct leat_atm_aal1_playout_config c;
    uint8_t list[CAPACITY];
    size_t level;
    bool playing;
    leat_time first_at;
    uint64_t underruns, overruns, dropped;
};

static void model_starts(struct model *m, leat_time now)
{
    if (m->level >= m->c.start_len) m->playing = true;
    if (m->level > 0 && now - m->first_at >= m->c.start_ps) m->playing = true;
}

static void model_arrives(struct model *m, leat_time now, const uint8_t *octets, size_t len)
{
    bool over = false;
    if (m->level == 0) m->first_at = now;
    for (size_t i = 0; i < len; i++) {
        if (m->level < CAPACITY) {
            m->list[m->level++] = octets[i];
            continue;
        }
        over = true;
        m->dropped++;
        if (m->c.overrun == LEAT_ATM_AAL1_DROP_NEWEST) continue;
        memmove(m->list, m->list + 1, CAPACITY - 1);
        m->list[CAPACITY - 1] = octets[i];
    }
    m->overruns += over;
    model_starts(m, now);
}

static void model_reads(struct model *m, leat_time now, uint8_t *octets, size_t len)
{
    model_starts(m, now);
    bool under = false;
    for (size_t i = 0; i < len; i++) {
        octets[i] = DUMMY;
        if (!m->playing) continue;
        under = under || m->level == 0;
        if (m->level == 0) continue;
        octets[i] = m->list[0];
        memmove(m->list, m->list + 1, --m->level);
    }
    m->underruns += under;
    if (under && m->c.underrun == LEAT_ATM_AAL1_REFILL) m->playing = false;
}

static void random_events_agree_with_a_list(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned policy = 0; policy < 4; policy++) {
        struct model m = { .c = config };
        m.c.overrun = policy & 1 ? LEAT_ATM_AAL1_DROP_OLDEST : LEAT_ATM_AAL1_DROP_NEWEST;
        m.c.underrun = policy & 2 ? LEAT_ATM_AAL1_PLAY_ON : LEAT_ATM_AAL1_REFILL;
        struct leat_atm_aal1_playout *p = made(m.c);
        leat_time now = 0;
        for (long i = 0; i < LEAT_ROUNDS / 4; i++) {
            uint8_t octets[14], got[14];
            const size_t len = leat_random_below(&r, leat_random_below(&r, 8) ? 6 : 15);
            now += leat_random_below(&r, 500);
            leat_random_fill(&r, octets, sizeof octets);
            if (leat_random_below(&r, 2)) {
                leat_atm_aal1_playout_arrive(p, now, octets, len);
                model_arrives(&m, now, octets, len);
            } else {
                (void)leat_atm_aal1_playout_read(p, now, got, len);
                model_reads(&m, now, octets, len);
                OK(memcmp(got, octets, len) == 0);
            }
            OK(leat_atm_aal1_playout_level(p) == m.level);
        }
        const struct leat_atm_aal1_playout_counts n = leat_atm_aal1_playout_counts(p);
        EQ(n.underruns, m.underruns);
        EQ(n.overruns, m.overruns);
        EQ(n.dropped_len, m.dropped);
        EQ(n.arrived_len, n.played_len + n.dropped_len + m.level);
    }
}

TAP_MAIN(T(play_begins_at_the_threshold), T(play_begins_when_the_first_octet_is_old_enough),
         T(an_underrun_waits_for_the_threshold_again), T(an_underrun_may_also_play_on),
         T(an_overrun_drops_the_newest_or_the_oldest), T(memory_and_limits_are_checked),
         T(random_events_agree_with_a_list))
