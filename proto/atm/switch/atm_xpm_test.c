#include "atm_xpm.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { INPUTS = 3, OUTPUTS = 2, CAPACITY = 53 };

struct store {
    alignas(struct leat_atm_xpm) uint8_t xpms[INPUTS * OUTPUTS * 64];
    uint64_t waiting[OUTPUTS];
};

static struct leat_atm_matrix matrix(struct store *store)
{
    memset(store, 0, sizeof *store);
    EQ(leat_atm_xpm_stride(CAPACITY), 64);
    return (struct leat_atm_matrix){ .xpms = store->xpms,
                                     .waiting = store->waiting,
                                     .stride = leat_atm_xpm_stride(CAPACITY),
                                     .inputs = INPUTS,
                                     .outputs = OUTPUTS,
                                     .capacity = CAPACITY };
}

static void bytes_leave_in_the_order_they_came_around_the_ring(void)
{
    struct store store;
    struct leat_atm_matrix m = matrix(&store);
    for (int i = 0; i < 10 * CAPACITY; i++) {
        leat_atm_xpm_push(&m, 1, 1, (uint8_t)i);
        EQ(leat_atm_xpm_at(&m, 1, 1)->tail, (i + 1) % CAPACITY);
        EQ(leat_atm_xpm_at(&m, 1, 1)->mem[leat_atm_xpm_last_at(&m, 1, 1)], (uint8_t)i);
        if (i >= 20) EQ(leat_atm_xpm_pop(&m, 1, 1), (uint8_t)(i - 20));
    }
    EQ(leat_atm_xpm_at(&m, 1, 1)->size, 20);
    EQ(leat_atm_xpm_at(&m, 1, 1)->head, (10 * CAPACITY - 20) % CAPACITY);
}

static void an_output_knows_which_inputs_have_bytes_for_it(void)
{
    struct store store;
    struct leat_atm_matrix m = matrix(&store);
    leat_atm_xpm_push(&m, 2, 0, 7);
    leat_atm_xpm_push(&m, 0, 0, 8);
    leat_atm_xpm_push(&m, 0, 0, 9);
    EQ(m.waiting[0], 5);
    EQ(m.waiting[1], 0);
    EQ(leat_atm_xpm_pop(&m, 2, 0), 7);
    EQ(leat_atm_xpm_pop(&m, 0, 0), 8);
    EQ(m.waiting[0], 1);
    leat_atm_xpm_resize(&m, 0, 0, 0);
    EQ(m.waiting[0], 0);
    leat_atm_xpm_resize(&m, 1, 1, 53);
    EQ(m.waiting[1], 2);
}

/* Stimuli of a unit bench may pop bytes that were never pushed: the count is then below zero. */
static void the_size_is_a_plain_count_on_both_sides_of_its_bounds(void)
{
    struct store store;
    struct leat_atm_matrix m = matrix(&store);
    (void)leat_atm_xpm_pop(&m, 0, 1);
    EQ(leat_atm_xpm_at(&m, 0, 1)->size, -1);
    EQ(m.waiting[1], 1);
    leat_atm_xpm_push(&m, 0, 1, 1);
    EQ(m.waiting[1], 0);
    for (int i = 0; i < CAPACITY + 2; i++)
        leat_atm_xpm_push(&m, 0, 1, 1);
    EQ(leat_atm_xpm_at(&m, 0, 1)->size, CAPACITY + 2);
}

static void random_pushes_and_pops_equal_the_plain_queue(void)
{
    static uint8_t queue[INPUTS][OUTPUTS][CAPACITY];
    static int sizes[INPUTS][OUTPUTS];
    struct store store;
    struct leat_atm_matrix m = matrix(&store);
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS; round++) {
        const unsigned p = (unsigned)leat_random_below(&r, INPUTS);
        const unsigned s = (unsigned)leat_random_below(&r, OUTPUTS);
        int *size = &sizes[p][s];
        if (*size < CAPACITY && (*size == 0 || leat_random_below(&r, 2))) {
            const uint8_t byte = (uint8_t)leat_random_next(&r);
            queue[p][s][(*size)++] = byte;
            leat_atm_xpm_push(&m, p, s, byte);
        } else {
            EQ(leat_atm_xpm_pop(&m, p, s), queue[p][s][0]);
            memmove(queue[p][s], queue[p][s] + 1, (size_t)-- * size);
        }
        EQ(leat_atm_xpm_at(&m, p, s)->size, *size);
        EQ(m.waiting[s] >> p & 1, *size != 0);
    }
}

TAP_MAIN(T(bytes_leave_in_the_order_they_came_around_the_ring),
         T(an_output_knows_which_inputs_have_bytes_for_it),
         T(the_size_is_a_plain_count_on_both_sides_of_its_bounds),
         T(random_pushes_and_pops_equal_the_plain_queue))
