#include "coll_fold.h"
#include "exact_sum.h"
#include <assert.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

#define SIGN (UINT64_C(1) << 63)

static uint64_t bits_of(const struct leat_coll_type *type, const uint8_t *element)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (type->octets) {
    case 1: return memcpy(&one, element, 1), one;
    case 2: return memcpy(&two, element, 2), two;
    case 4: return memcpy(&four, element, 4), four;
    default: return memcpy(&eight, element, 8), eight;
    }
}

static void put_bits(const struct leat_coll_type *type, uint64_t bits, uint8_t *element)
{
    const uint8_t one = (uint8_t)bits;
    const uint16_t two = (uint16_t)bits;
    const uint32_t four = (uint32_t)bits;
    switch (type->octets) {
    case 1: memcpy(element, &one, 1); break;
    case 2: memcpy(element, &two, 2); break;
    case 4: memcpy(element, &four, 4); break;
    default: memcpy(element, &bits, 8); break;
    }
}

static unsigned width(const struct leat_coll_type *type)
{
    return 8 * type->octets;
}

/* A number without a sign, of the type's width, in the same order. */
static uint64_t rank_of(const struct leat_coll_type *type, uint64_t bits)
{
    const uint64_t sign = SIGN >> (64 - width(type)), all = sign | (sign - 1);
    if (type->class == LEAT_COLL_UNSIGNED) return bits;
    if (type->class == LEAT_COLL_REAL && bits & sign) return ~bits & all;
    return bits ^ sign;
}

static uint64_t of_rank(const struct leat_coll_type *type, uint64_t rank)
{
    const uint64_t sign = SIGN >> (64 - width(type)), all = sign | (sign - 1);
    if (type->class == LEAT_COLL_UNSIGNED) return rank;
    if (type->class == LEAT_COLL_REAL && !(rank & sign)) return ~rank & all;
    return rank ^ sign;
}

static double real_of(const struct leat_coll_type *type, const uint8_t *element)
{
    float single;
    double real;
    if (type->octets == sizeof single) return memcpy(&single, element, sizeof single), single;
    return memcpy(&real, element, sizeof real), real;
}

static void put_real(const struct leat_coll_type *type, const uint64_t *word, uint64_t largest,
                     uint8_t *element)
{
    const double real = leat_exact_sum_value(word, largest, type->octets == sizeof(float));
    const float single = (float)real;
    if (type->octets == sizeof single)
        memcpy(element, &single, sizeof single);
    else
        memcpy(element, &real, sizeof real);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The index as a number without a sign: the lowest one wins. */
static uint32_t index_of(const struct leat_coll_type *type, const uint8_t *element)
{
    uint32_t index;
    memcpy(&index, element + type->index_at, sizeof index);
    return index ^ UINT32_C(1) << 31;
}

static void put_index(const struct leat_coll_type *type, uint32_t index, uint8_t *element)
{
    index ^= UINT32_C(1) << 31;
    memcpy(element + type->index_at, &index, sizeof index);
}

/* In one word: of the largest values the lowest index is to win, so it is inverted there. */
static uint64_t pair_of(const struct leat_coll_plan *plan, const uint8_t *element)
{
    const uint32_t index = index_of(&plan->type, element);
    const uint64_t rank = rank_of(&plan->type, bits_of(&plan->type, element));
    return rank << 32 | (plan->op == LEAT_COLL_MAXLOC ? ~index : index);
}

static void put_pair(const struct leat_coll_plan *plan, uint64_t word, uint8_t *element)
{
    const uint32_t index = (uint32_t)word;
    put_bits(&plan->type, of_rank(&plan->type, word >> 32), element);
    put_index(&plan->type, plan->op == LEAT_COLL_MAXLOC ? ~index : index, element);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static bool is_logical(enum leat_coll_op op)
{
    return op == LEAT_COLL_LAND || op == LEAT_COLL_LOR || op == LEAT_COLL_LXOR;
}

static bool has_location(enum leat_coll_op op)
{
    return op == LEAT_COLL_MINLOC || op == LEAT_COLL_MAXLOC;
}

static bool is_exact_sum(const struct leat_coll_plan *plan)
{
    return plan->op == LEAT_COLL_SUM && plan->type.class == LEAT_COLL_REAL;
}

static enum leat_port_fold fold_of(enum leat_coll_op op)
{
    switch (op) {
    case LEAT_COLL_SUM:
    case LEAT_COLL_LXOR: return LEAT_PORT_SUM;
    case LEAT_COLL_MIN:
    case LEAT_COLL_MINLOC: return LEAT_PORT_MIN;
    case LEAT_COLL_MAX:
    case LEAT_COLL_MAXLOC: return LEAT_PORT_MAX;
    case LEAT_COLL_LAND:
    case LEAT_COLL_BAND: return LEAT_PORT_AND;
    case LEAT_COLL_LOR:
    case LEAT_COLL_BOR: return LEAT_PORT_OR;
    case LEAT_COLL_BXOR: return LEAT_PORT_XOR;
    }
    return LEAT_PORT_FOLDS;
}

static bool is_possible(const struct leat_coll_plan *plan, bool exact)
{
    const struct leat_coll_type *type = &plan->type;
    const bool is_real = type->class == LEAT_COLL_REAL;
    if (type->octets != 1 && type->octets != 2 && type->octets != 4 && type->octets != 8)
        return false;
    if (is_real && type->octets < 4) return false;
    if (has_location(plan->op) != (type->index_at != 0)) return false;
    if (is_exact_sum(plan)) return exact;
    return !is_real || plan->op == LEAT_COLL_MIN || plan->op == LEAT_COLL_MAX ||
           has_location(plan->op);
}

bool leat_coll_plan_make(enum leat_coll_op op, const struct leat_coll_type *type, bool exact,
                         struct leat_coll_plan *out)
{
    struct leat_coll_plan plan = { .op = op, .type = *type, .steps = 1, .words = { 1 } };
    plan.fold[0] = fold_of(op);
    if (!is_possible(&plan, exact)) return false;
    if (has_location(op) && type->octets > 4) {
        plan.steps = 2;
        plan.fold[1] = LEAT_PORT_MIN;
        plan.words[1] = 1;
    }
    if (is_exact_sum(&plan)) {
        plan.steps = 2;
        plan.fold[0] = LEAT_PORT_MAX;
        plan.fold[1] = LEAT_PORT_SUM;
        plan.words[1] = LEAT_EXACT_SUM_WORDS;
    }
    *out = plan;
    return true;
}

/* ---- words ----------------------------------------------------------------------------------- */

static uint64_t first_word(const struct leat_coll_plan *plan, const uint8_t *element)
{
    const struct leat_coll_type *type = &plan->type;
    const uint64_t bits = bits_of(type, element);
    if (is_exact_sum(plan)) return leat_exact_sum_exponent(real_of(type, element));
    if (is_logical(plan->op)) return bits != 0;
    if (has_location(plan->op) && plan->steps == 1) return pair_of(plan, element);
    if (has_location(plan->op) || plan->op == LEAT_COLL_MIN || plan->op == LEAT_COLL_MAX)
        return rank_of(type, bits);
    return bits;
}

/* Of step 2. */
static void load_rest(const struct leat_coll_plan *plan, const uint8_t *element, uint64_t first,
                      uint64_t *word)
{
    if (is_exact_sum(plan))
        leat_exact_sum_split(real_of(&plan->type, element), first, word);
    else
        *word = first_word(plan, element) == first ? index_of(&plan->type, element) : UINT64_MAX;
}

void leat_coll_load(const struct leat_coll_plan *plan, uint32_t step, const void *elements,
                    uint32_t count, const uint64_t *before, uint64_t *word)
{
    const uint8_t *element = elements;
    for (uint32_t i = 0; i < count; i++, element += plan->type.stride, word += plan->words[step])
        if (step)
            load_rest(plan, element, before[i], word);
        else
            *word = first_word(plan, element);
}

static void store_one(const struct leat_coll_plan *plan, uint64_t first, const uint64_t *rest,
                      uint8_t *element)
{
    const struct leat_coll_type *type = &plan->type;
    if (is_exact_sum(plan)) {
        put_real(type, rest, first, element);
    } else if (has_location(plan->op) && plan->steps == 1) {
        put_pair(plan, first, element);
    } else if (has_location(plan->op)) {
        put_bits(type, of_rank(type, first), element);
        put_index(type, (uint32_t)*rest, element);
    } else if (plan->op == LEAT_COLL_MIN || plan->op == LEAT_COLL_MAX) {
        put_bits(type, of_rank(type, first), element);
    } else {
        put_bits(type, plan->op == LEAT_COLL_LXOR ? first & 1 : first, element);
    }
}

void leat_coll_store(const struct leat_coll_plan *plan,
                     const uint64_t *const folded[LEAT_COLL_STEPS_MAX], uint32_t count,
                     void *elements)
{
    uint8_t *element = elements;
    for (uint32_t i = 0; i < count; i++, element += plan->type.stride) {
        const uint64_t *rest = plan->steps > 1 ? folded[1] + i * plan->words[1] : NULL;
        store_one(plan, folded[0][i], rest, element);
    }
}
