/* The parts of the store one by one; esp_core_test.c has them together, against a model. */
#include "esp_core.h"
#include "tap.h"
#include <string.h>

enum { TAU = 1000, COMPUTATION = 7 };
static const struct leat_esp_node node = { .id = 1, .seed = 2, .tau = TAU };
static struct leat_esp_group group;

static struct leat_esp_turn turn_of(uint64_t clock, uint64_t computation)
{
    struct leat_esp_turn turn = { .group = &group,
                                  .computation = computation,
                                  .mark = leat_esp_mark(&node, computation),
                                  .allowed = LEAT_ESP_TAGS_MAX };
    leat_esp_turn_begin(&turn, clock, node.tau);
    return turn;
}

static struct leat_esp_turn fresh(void)
{
    memset(&group, 0, sizeof group);
    return turn_of(100, COMPUTATION);
}

/* put(tag, value); whether there was room. */
static bool bind(const struct leat_esp_turn *turn, uint64_t tag, uint64_t value)
{
    struct leat_esp_cell cell = leat_esp_cell_find(turn, tag);
    leat_esp_cell_put(&cell, value);
    if (!leat_esp_cells_reserve(turn, &cell, 1)) return false;
    leat_esp_cells_write(turn, &cell, 1);
    return true;
}

static void a_turn_takes_the_later_of_clock_and_group(void)
{
    struct leat_esp_turn turn = fresh();
    EQ(turn.time, 100);
    EQ(turn.expiry, 100 + TAU);
    turn = turn_of(50, COMPUTATION);
    EQ(turn.time, 100);
    turn = turn_of(150, COMPUTATION);
    EQ(group.last, 150);
}

static void what_is_put_is_found_and_nothing_is_written_before(void)
{
    const struct leat_esp_turn turn = fresh();
    struct leat_esp_group before = group;
    struct leat_esp_cell cell = leat_esp_cell_find(&turn, 5);
    EQ(cell.bound, 0);
    EQ(cell.value, 0);
    leat_esp_cell_put(&cell, 42);
    OK(leat_esp_cell_reserve(&turn, &cell, 0));
    EQ(cell.fresh, 1);
    OK(memcmp(&before, &group, sizeof group) == 0);
    leat_esp_cells_write(&turn, &cell, 1);
    EQ(leat_esp_bucket_find(&turn, cell.bucket, cell.key), 1);
    EQ(leat_esp_bucket_find(&turn, cell.bucket + 1, cell.key), 0);
    cell = leat_esp_cell_find(&turn, 5);
    EQ(cell.bound, 1);
    EQ(cell.value, 42);
    leat_esp_cell_add(&cell, 1);
    leat_esp_cells_write(&turn, &cell, 1);
    EQ(leat_esp_cell_find(&turn, 5).value, 43);
    OK(cell.first != cell.second);
}

/* tag XOR mark is the key: this tag of the other computation has the key of the first. */
static void computations_whose_keys_are_equal_are_kept_apart(void)
{
    struct leat_esp_turn one = fresh(), other = turn_of(100, 8);
    const uint64_t tag = 5, other_tag = tag ^ one.mark ^ other.mark;
    OK(bind(&one, tag, 11));
    EQ(leat_esp_cell_find(&other, other_tag).key == leat_esp_cell_find(&one, tag).key, 1);
    EQ(leat_esp_cell_find(&other, other_tag).bound, 0);
    OK(bind(&other, other_tag, 22));
    EQ(leat_esp_cell_find(&one, tag).value, 11);
    EQ(leat_esp_cell_find(&other, other_tag).value, 22);
}

static void a_dead_binding_of_the_same_key_does_not_hide_a_live_one(void)
{
    struct leat_esp_turn turn = fresh();
    const struct leat_esp_cell cell = leat_esp_cell_find(&turn, 5);
    struct leat_esp_bucket *b = &group.bucket[cell.first];
    for (int slot = 0; slot < 3; slot++) {
        b->key[slot] = cell.key;
        b->computation[slot] = COMPUTATION;
        b->expiry[slot] = slot == 2 ? 101 : 100;
        b->value[slot] = (uint64_t)slot;
    }
    EQ(leat_esp_cell_find(&turn, 5).value, 2);
    turn = turn_of(101, COMPUTATION);
    EQ(leat_esp_cell_find(&turn, 5).bound, 0);
}

static void new_bindings_of_one_instruction_count_for_each_other(void)
{
    const struct leat_esp_turn turn = fresh();
    struct leat_esp_cell cell[3];
    for (int i = 0; i < 3; i++) {
        cell[i] = leat_esp_cell_find(&turn, 5);
        leat_esp_cell_put(&cell[i], 1);
    }
    cell[1].first = cell[2].first = cell[0].first; /* as if three tags had the same buckets */
    OK(leat_esp_cells_reserve(&turn, cell, 3));
    EQ(cell[0].bucket, cell[0].first);
    EQ(cell[1].bucket, cell[0].second);
    EQ(cell[2].bucket, cell[0].first);
    EQ(cell[2].slot, 1);
    EQ(leat_esp_bucket_busy(&turn, cell[0].first, cell, 2), 1);
    EQ(leat_esp_bucket_busy(&turn, cell[0].first, cell, 3), 3);
}

/* The five by their own names, and the pieces they are made of. */
static void instructions_are_made_of_cells(void)
{
    const struct leat_esp_turn turn = fresh();
    uint64_t count[] = { 1, 9 }, extreme[] = { 2, 5, UINT64_C(1) << 32 };
    uint64_t collect[] = { 3, 4, 1, UINT64_C(1) << 32 }, rchld[] = { 10, 11, 12, 9 };
    uint64_t rcollect[] = { 10, 11, 13, 6, 14, 9, UINT64_C(1) << 32 };
    EQ(leat_esp_abort().verdict, LEAT_ESP_ABORTED);
    EQ(leat_esp_count(&turn, count).verdict, LEAT_ESP_PASS);
    EQ(leat_esp_extreme(&turn, extreme).verdict, LEAT_ESP_PASS);
    EQ(leat_esp_collect(&turn, collect, 0, 0).verdict, LEAT_ESP_PASS); /* COUNT's counter was 1 */
    EQ(collect[1], 4);
    EQ(leat_esp_rchld(&turn, 99, rchld).created, 3);
    EQ(rchld[0], 99);
    EQ(leat_esp_rcollect(&turn, 99, rcollect).created, 2);
    EQ(rcollect[0], 99);
    EQ(rcollect[3], 6);
    struct leat_esp_cell total = leat_esp_cell_find(&turn, 13);
    leat_esp_cell_fold(&total, UINT64_C(1) << 32, 4);
    EQ(total.value, 10);
    EQ(leat_esp_commit(&turn, &total, 1, false).verdict, LEAT_ESP_STOP);
    EQ(leat_esp_cell_find(&turn, 13).value, 10);
}

TAP_MAIN(T(a_turn_takes_the_later_of_clock_and_group),
         T(what_is_put_is_found_and_nothing_is_written_before),
         T(computations_whose_keys_are_equal_are_kept_apart),
         T(a_dead_binding_of_the_same_key_does_not_hide_a_live_one),
         T(new_bindings_of_one_instruction_count_for_each_other), T(instructions_are_made_of_cells))
