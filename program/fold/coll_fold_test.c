#include "coll_fold.h"
#include "port_fold.h"
#include "tap.h"
#include <leat/random.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { RANKS_MAX = 9, COUNT_MAX = 5, ROUNDS = 3000 };

/* The elements of all ranks, folded as the network does it. */
static bool reduce(enum leat_coll_op op, const struct leat_coll_type *type, const void *elements,
                   uint32_t ranks, uint32_t count, void *out)
{
    struct leat_coll_plan plan;
    uint64_t folded[LEAT_COLL_STEPS_MAX][COUNT_MAX * LEAT_COLL_WORDS_MAX];
    uint64_t word[COUNT_MAX * LEAT_COLL_WORDS_MAX];
    const uint64_t *all[LEAT_COLL_STEPS_MAX] = { folded[0], folded[1] };
    if (!leat_coll_plan_make(op, type, true, &plan)) return false;
    for (uint32_t step = 0; step < plan.steps; step++)
        for (uint32_t i = 0; i < ranks; i++) {
            const uint8_t *own = (const uint8_t *)elements + (size_t)i * count * type->stride;
            leat_coll_load(&plan, step, own, count, step ? folded[step - 1] : NULL, word);
            if (i)
                leat_port_fold_words(plan.fold[step], folded[step], word, count * plan.words[step]);
            else
                memcpy(folded[step], word, count * plan.words[step] * sizeof *word);
        }
    leat_coll_store(&plan, all, count, out);
    return true;
}

static struct leat_random chance;

/* What a round of a test needs; small numbers for ties. */
struct round {
    uint32_t ranks, count;
    enum leat_coll_op op;
    bool wants_largest;
    uint64_t bits[RANKS_MAX * COUNT_MAX];
    int small[RANKS_MAX], index[RANKS_MAX];
};

static struct round draw_round(void)
{
    struct round round = { .ranks = 2 + (uint32_t)leat_random_below(&chance, RANKS_MAX - 1) };
    const uint64_t op = leat_random_below(&chance, LEAT_COLL_MINLOC);
    round.op = (enum leat_coll_op)op;
    round.count = 1 + (uint32_t)leat_random_below(&chance, COUNT_MAX);
    round.wants_largest = leat_random_below(&chance, 2);
    for (uint32_t i = 0; i < RANKS_MAX * COUNT_MAX; i++) {
        const uint64_t any = leat_random_next(&chance);
        round.bits[i] = any % 3 ? any >> 8 : any >> 8 & 1;
    }
    for (uint32_t i = 0; i < RANKS_MAX; i++) {
        round.small[i] = (int)leat_random_below(&chance, 7) - 3;
        round.index[i] = (int)leat_random_below(&chance, 100) - 50;
    }
    return round;
}

/* ---- a plain model: what MPI says, for each type by itself ----------------------------------- */

#define MODEL(NAME, TYPE, CLASS, SUM)                                                       \
    static TYPE NAME##_one(enum leat_coll_op op, TYPE a, TYPE b)                            \
    {                                                                                       \
        switch (op) {                                                                       \
        case LEAT_COLL_SUM: return (TYPE)(SUM);                                             \
        case LEAT_COLL_MIN: return a < b ? a : b;                                           \
        case LEAT_COLL_MAX: return a > b ? a : b;                                           \
        case LEAT_COLL_LAND: return a && b;                                                 \
        case LEAT_COLL_LOR: return a || b;                                                  \
        case LEAT_COLL_LXOR: return !a != !b;                                               \
        case LEAT_COLL_BAND: return (TYPE)((uint64_t)a & (uint64_t)b);                      \
        case LEAT_COLL_BOR: return (TYPE)((uint64_t)a | (uint64_t)b);                       \
        case LEAT_COLL_BXOR: return (TYPE)((uint64_t)a ^ (uint64_t)b);                      \
        case LEAT_COLL_MINLOC:                                                              \
        case LEAT_COLL_MAXLOC: break;                                                       \
        }                                                                                   \
        return 0;                                                                           \
    }                                                                                       \
    static void NAME(void)                                                                  \
    {                                                                                       \
        static const struct leat_coll_type type = { CLASS, sizeof(TYPE), 0, sizeof(TYPE) }; \
        leat_random_seed(&chance, tap_seed());                                              \
        for (int done = 0; done < ROUNDS; done++) {                                         \
            const struct round round = draw_round();                                        \
            const uint32_t ranks = round.ranks, count = round.count;                        \
            TYPE in[RANKS_MAX * COUNT_MAX], out[COUNT_MAX];                                 \
            for (uint32_t i = 0; i < ranks * count; i++)                                    \
                in[i] = (TYPE)round.bits[i];                                                \
            OK(reduce(round.op, &type, in, ranks, count, out));                             \
            for (uint32_t k = 0; k < count; k++) {                                          \
                TYPE want = in[k];                                                          \
                for (uint32_t i = 1; i < ranks; i++)                                        \
                    want = NAME##_one(round.op, want, in[i * count + k]);                   \
                OK(out[k] == want);                                                         \
            }                                                                               \
        }                                                                                   \
    }

MODEL(signed_of_8_bits, int8_t, LEAT_COLL_SIGNED, (uint64_t)a + (uint64_t)b)
MODEL(signed_of_16_bits, int16_t, LEAT_COLL_SIGNED, (uint64_t)a + (uint64_t)b)
MODEL(signed_of_32_bits, int32_t, LEAT_COLL_SIGNED, (uint64_t)a + (uint64_t)b)
MODEL(signed_of_64_bits, int64_t, LEAT_COLL_SIGNED, (uint64_t)a + (uint64_t)b)
MODEL(unsigned_of_8_bits, uint8_t, LEAT_COLL_UNSIGNED, a + b)
MODEL(unsigned_of_16_bits, uint16_t, LEAT_COLL_UNSIGNED, a + b)
MODEL(unsigned_of_32_bits, uint32_t, LEAT_COLL_UNSIGNED, a + b)
MODEL(unsigned_of_64_bits, uint64_t, LEAT_COLL_UNSIGNED, a + b)

/* ---- real numbers ---------------------------------------------------------------------------- */

static const double reals[] = { 0,         1,          -1,       1.5,       -1.5, 1e300, -1e300,
                                0x1p-1074, -0x1p-1074, INFINITY, -INFINITY, 3.25, -3.25 };
enum { REALS = sizeof reals / sizeof *reals };

static void real_numbers_keep_their_order(void)
{
    static const struct leat_coll_type type = { LEAT_COLL_REAL, sizeof(double), 0, sizeof(double) };
    static const struct leat_coll_type single = { LEAT_COLL_REAL, sizeof(float), 0, sizeof(float) };
    for (int i = 0; i < REALS; i++)
        for (int k = 0; k < REALS; k++) {
            const double in[] = { reals[i], reals[k] };
            const float in_single[] = { (float)reals[i], (float)reals[k] };
            double out;
            float out_single;
            OK(reduce(LEAT_COLL_MAX, &type, in, 2, 1, &out) && out == fmax(in[0], in[1]));
            OK(reduce(LEAT_COLL_MIN, &type, in, 2, 1, &out) && out == fmin(in[0], in[1]));
            OK(reduce(LEAT_COLL_MAX, &single, in_single, 2, 1, &out_single) &&
               out_single == fmaxf(in_single[0], in_single[1]));
            OK(reduce(LEAT_COLL_MIN, &single, in_single, 2, 1, &out_single) &&
               out_single == fminf(in_single[0], in_single[1]));
        }
}

static void sums_of_real_numbers_are_exact_if_wanted(void)
{
    static const struct leat_coll_type type = { LEAT_COLL_REAL, sizeof(double), 0, sizeof(double) };
    struct leat_coll_plan plan;
    const double in[] = { 1e16, 1, 3.25, 0.5, -1e16, 2 };
    double out[2];
    OK(!leat_coll_plan_make(LEAT_COLL_SUM, &type, false, &plan));
    OK(reduce(LEAT_COLL_SUM, &type, in, 3, 2, out));
    OK(out[0] == 3.25 && out[1] == 3.5);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

#define PAIRS(NAME, TYPE, CLASS)                                                                \
    static void NAME(void)                                                                      \
    {                                                                                           \
        struct pair {                                                                           \
            TYPE value;                                                                         \
            int index;                                                                          \
        };                                                                                      \
        static const struct leat_coll_type type = { CLASS, sizeof(TYPE),                        \
                                                    offsetof(struct pair, index),               \
                                                    sizeof(struct pair) };                      \
        leat_random_seed(&chance, tap_seed());                                                  \
        for (int done = 0; done < ROUNDS; done++) {                                             \
            struct pair in[RANKS_MAX], out;                                                     \
            const struct round round = draw_round();                                            \
            const uint32_t ranks = round.ranks;                                                 \
            const bool wants_largest = round.wants_largest;                                     \
            memset(in, 0, sizeof in);                                                           \
            memset(&out, 0, sizeof out);                                                        \
            for (uint32_t i = 0; i < ranks; i++) {                                              \
                in[i].value = (TYPE)round.small[i];                                             \
                in[i].index = round.index[i];                                                   \
            }                                                                                   \
            struct pair want = in[0];                                                           \
            for (uint32_t i = 1; i < ranks; i++) {                                              \
                const bool is_better = wants_largest ? in[i].value > want.value                 \
                                                     : in[i].value < want.value;                \
                if (is_better || (in[i].value == want.value && in[i].index < want.index))       \
                    want = in[i];                                                               \
            }                                                                                   \
            OK(reduce(wants_largest ? LEAT_COLL_MAXLOC : LEAT_COLL_MINLOC, &type, in, ranks, 1, \
                      &out));                                                                   \
            OK(out.value == want.value && out.index == want.index);                             \
        }                                                                                       \
    }

PAIRS(pairs_of_int, int, LEAT_COLL_SIGNED)
PAIRS(pairs_of_short, short, LEAT_COLL_SIGNED)
PAIRS(pairs_of_long, long, LEAT_COLL_SIGNED)
PAIRS(pairs_of_float, float, LEAT_COLL_REAL)
PAIRS(pairs_of_double, double, LEAT_COLL_REAL)

/* ---- what there is no fold for --------------------------------------------------------------- */

static void what_the_network_cannot_do_has_no_plan(void)
{
    static const struct leat_coll_type real = { LEAT_COLL_REAL, 8, 0, 8 },
                                       half = { LEAT_COLL_REAL, 2, 0, 2 };
    static const struct leat_coll_type wide = { LEAT_COLL_SIGNED, 16, 0, 16 };
    static const struct leat_coll_type plain = { LEAT_COLL_SIGNED, 4, 0, 4 },
                                       pair = { LEAT_COLL_SIGNED, 4, 4, 8 };
    struct leat_coll_plan plan;
    OK(!leat_coll_plan_make(LEAT_COLL_BAND, &real, true, &plan));
    OK(!leat_coll_plan_make(LEAT_COLL_LOR, &real, true, &plan));
    OK(!leat_coll_plan_make(LEAT_COLL_MAX, &half, true, &plan));
    OK(!leat_coll_plan_make(LEAT_COLL_SUM, &wide, true, &plan));
    OK(!leat_coll_plan_make(LEAT_COLL_MAXLOC, &plain, true, &plan));
    OK(!leat_coll_plan_make(LEAT_COLL_SUM, &pair, true, &plan));
    OK(leat_coll_plan_make(LEAT_COLL_MAXLOC, &pair, true, &plan));
}

TAP_MAIN(T(signed_of_8_bits), T(signed_of_16_bits), T(signed_of_32_bits), T(signed_of_64_bits),
         T(unsigned_of_8_bits), T(unsigned_of_16_bits), T(unsigned_of_32_bits),
         T(unsigned_of_64_bits), T(real_numbers_keep_their_order),
         T(sums_of_real_numbers_are_exact_if_wanted), T(pairs_of_int), T(pairs_of_short),
         T(pairs_of_long), T(pairs_of_float), T(pairs_of_double),
         T(what_the_network_cannot_do_has_no_plan))
