/*
 * Reductions as folds of words (leat/port.h): the elements of each rank, or task, become words, the
 * network folds them, and the words become elements again.
 *
 *     elements --load--> words --the network, step 1--> words
 *     elements, words of step 1 --load--> words --the network, step 2--> words --store--> elements
 *
 *   sums of integers       words, modulo 2^64, of which the element keeps its own bits
 *   min, max               as numbers without a sign, in the same order: a signed integer has its
 *                          sign bit inverted; so has a real number, and a negative one all others
 *   minloc, maxloc         value and index in one word; or, of long values, first the value, then
 *                          the lowest index of those who have it
 *   logical operations     0 and 1; exclusive or: whether their sum is odd
 *   sums of real numbers   exact_sum.h, if this is wanted
 *
 * Without the MPI library: types and operations are described by their properties.
 */
#ifndef LEAT_COLL_FOLD_H
#define LEAT_COLL_FOLD_H

#include <leat/port.h>

enum leat_coll_class { LEAT_COLL_SIGNED, LEAT_COLL_UNSIGNED, LEAT_COLL_REAL };

/* An element: a number of 1, 2, 4 or 8 octets, or a pair of such a number and an int. */
struct leat_coll_type {
    enum leat_coll_class class;
    uint32_t octets;   /* of the number */
    uint32_t index_at; /* offset of the int; 0: no pair */
    uint32_t stride;   /* from element to element */
};

enum leat_coll_op {
    LEAT_COLL_SUM,
    LEAT_COLL_MIN,
    LEAT_COLL_MAX,
    LEAT_COLL_LAND,
    LEAT_COLL_LOR,
    LEAT_COLL_LXOR,
    LEAT_COLL_BAND,
    LEAT_COLL_BOR,
    LEAT_COLL_BXOR,
    LEAT_COLL_MINLOC,
    LEAT_COLL_MAXLOC,
};

enum { LEAT_COLL_STEPS_MAX = 2, LEAT_COLL_WORDS_MAX = 3 };

struct leat_coll_plan {
    enum leat_coll_op op;
    struct leat_coll_type type;
    uint32_t steps;
    enum leat_port_fold fold[LEAT_COLL_STEPS_MAX];
    uint32_t words[LEAT_COLL_STEPS_MAX]; /* of an element */
};

/* False: there is no such fold. `exact`: sums of real numbers are wanted, independent of the
 * order. */
bool leat_coll_plan_make(enum leat_coll_op op, const struct leat_coll_type *type, bool exact,
                         struct leat_coll_plan *out);

/* The words of a step for all elements. `before`: the folded words of the step before, or NULL. */
void leat_coll_load(const struct leat_coll_plan *plan, uint32_t step, const void *elements,
                    uint32_t count, const uint64_t *before, uint64_t *word);

/* The elements from the folded words of all steps. Octets between a pair's parts are kept. */
void leat_coll_store(const struct leat_coll_plan *plan,
                     const uint64_t *const folded[LEAT_COLL_STEPS_MAX], uint32_t count,
                     void *elements);

#endif
