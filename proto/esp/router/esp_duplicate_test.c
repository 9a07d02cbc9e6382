#include "esp_duplicate.h"
#include "tap.h"
#include <string.h>

enum { MS = 1000 }; /* ticks */
static struct leat_esp_duplicates table;

static struct leat_esp_install install(uint64_t group, uint64_t serial, uint8_t count)
{
    struct leat_esp_install in = {
        .group = group, .serial = serial, .lifetime_ms = 10, .count = count
    };
    for (unsigned i = 0; i < count && i < LEAT_ESP_COPIES_MAX; i++) {
        in.next[i].address[15] = (uint8_t)(i + 1);
        in.next[i].port = 4253;
    }
    return in;
}

static enum leat_esp_result put(const struct leat_esp_install *in, uint64_t now, uint32_t *ms)
{
    return leat_esp_duplicate_install(&table, in, now, MS, ms);
}

static void a_duplicate_lives_as_long_as_granted_and_no_longer(void)
{
    struct leat_esp_install in = install(5, 1, 3);
    uint32_t ms;
    memset(&table, 0, sizeof table);
    OK(!leat_esp_duplicate_find(&table, 5, 0));
    EQ(put(&in, 100, &ms), LEAT_ESP_RESULT_INSTALLED);
    EQ(ms, 10);
    const struct leat_esp_duplicate *d = leat_esp_duplicate_find(&table, 5, 100 + 10 * MS - 1);
    OK(d && d->count == 3 && d->next[2].address[15] == 3 && d->next[2].port == 4253);
    OK(!leat_esp_duplicate_find(&table, 5, 100 + 10 * MS));
    OK(!leat_esp_duplicate_find(&table, 6, 100));
    in = install(5, 2, 1);
    in.lifetime_ms = UINT32_MAX;
    EQ(put(&in, 200, &ms), LEAT_ESP_RESULT_INSTALLED);
    EQ(ms, LEAT_ESP_DUPLICATE_MS_MAX);
    d = leat_esp_duplicate_find(&table, 5, 200);
    OK(d && d->count == 1);
}

static void an_older_serial_is_stale_even_after_death(void)
{
    struct leat_esp_install in = install(5, 7, 2), old = install(5, 7, 3), gone = install(5, 8, 0);
    uint32_t ms;
    memset(&table, 0, sizeof table);
    EQ(put(&in, 0, &ms), LEAT_ESP_RESULT_INSTALLED);
    EQ(put(&old, 1, &ms), LEAT_ESP_RESULT_STALE);
    EQ(ms, 0);
    EQ(leat_esp_duplicate_find(&table, 5, 1)->count, 2);
    EQ(put(&old, 100 * MS, &ms), LEAT_ESP_RESULT_STALE);
    EQ(put(&gone, 1, &ms), LEAT_ESP_RESULT_REMOVED);
    OK(!leat_esp_duplicate_find(&table, 5, 1));
    old.serial = 0;
    EQ(put(&old, 1, &ms), LEAT_ESP_RESULT_STALE);
    old.group = 0; /* a group like any other */
    old.serial = 1;
    EQ(put(&old, 1, &ms), LEAT_ESP_RESULT_INSTALLED);
    OK(leat_esp_duplicate_find(&table, 0, 1));
}

/* Groups of one set, until it is full: a live one is never evicted, expired ones make room. */
static void a_full_set_refuses_and_the_dead_make_room(void)
{
    uint64_t group[LEAT_ESP_DUPLICATE_WAYS + 1];
    unsigned found = 0;
    uint32_t ms;
    memset(&table, 0, sizeof table);
    for (uint64_t g = 1; found <= LEAT_ESP_DUPLICATE_WAYS; g++)
        if (leat_esp_duplicate_place(g, 0) == 8) group[found++] = g;
    for (unsigned i = 0; i < LEAT_ESP_DUPLICATE_WAYS; i++) {
        const struct leat_esp_install in = install(group[i], 1, 1);
        EQ(leat_esp_duplicate_place(group[i], i), 8 + i);
        EQ(put(&in, i, &ms), LEAT_ESP_RESULT_INSTALLED);
    }
    const struct leat_esp_install late = install(group[LEAT_ESP_DUPLICATE_WAYS], 1, 1);
    EQ(put(&late, 5, &ms), LEAT_ESP_RESULT_FULL);
    for (unsigned i = 0; i < LEAT_ESP_DUPLICATE_WAYS; i++)
        OK(leat_esp_duplicate_find(&table, group[i], 5));
    EQ(put(&late, 10 * MS, &ms), LEAT_ESP_RESULT_INSTALLED); /* the first of them has expired */
    OK(leat_esp_duplicate_is(&table.entry[8], late.group, 10 * MS));
    OK(leat_esp_duplicate_choose(&table, group[1], 10 * MS) == &table.entry[9]); /* its own */
}

static void no_more_copies_than_the_limit(void)
{
    struct leat_esp_install in = install(9, 1, 255);
    uint32_t ms;
    memset(&table, 0, sizeof table);
    put(&in, 0, &ms);
    EQ(leat_esp_duplicate_find(&table, 9, 0)->count, LEAT_ESP_COPIES_MAX);
}

/* An entry without copies is one if it has children. */
static void children_are_installed_with_and_without_copies(void)
{
    struct leat_esp_install in = install(5, 1, 0);
    uint32_t ms;
    memset(&table, 0, sizeof table);
    in.children = 300;
    EQ(put(&in, 100, &ms), LEAT_ESP_RESULT_INSTALLED);
    EQ(ms, 10);
    const struct leat_esp_duplicate *d = leat_esp_duplicate_find(&table, 5, 100 + 10 * MS - 1);
    OK(d && d->count == 0 && d->children == 300);
    OK(!leat_esp_duplicate_find(&table, 5, 100 + 10 * MS));
    in = install(5, 2, 2);
    in.children = 4;
    EQ(put(&in, 200, &ms), LEAT_ESP_RESULT_INSTALLED);
    d = leat_esp_duplicate_find(&table, 5, 200);
    OK(d && d->count == 2 && d->children == 4 && d->next[1].address[15] == 2);
    in = install(5, 3, 2); /* copies alone: the children of before are forgotten */
    EQ(put(&in, 300, &ms), LEAT_ESP_RESULT_INSTALLED);
    d = leat_esp_duplicate_find(&table, 5, 300);
    OK(d && d->count == 2 && d->children == 0);
    in = install(5, 4, 0);
    in.children = 6; /* children alone: so are the copies */
    EQ(put(&in, 400, &ms), LEAT_ESP_RESULT_INSTALLED);
    d = leat_esp_duplicate_find(&table, 5, 400);
    OK(d && d->count == 0 && d->children == 6);
}

static void children_end_with_their_lifetime_or_by_none(void)
{
    uint32_t ms;
    memset(&table, 0, sizeof table);
    for (unsigned way = 0; way < 3; way++) {
        struct leat_esp_install in = install(5, 1 + 2 * way, 0), gone = install(5, 2 + 2 * way, 0);
        in.children = 7;
        EQ(put(&in, 100, &ms), LEAT_ESP_RESULT_INSTALLED);
        if (way) gone.lifetime_ms = 0;
        gone.children = way == 1 ? 7 : 0;
        gone.count = way == 2;
        EQ(put(&gone, 200, &ms), LEAT_ESP_RESULT_REMOVED);
        EQ(ms, 0);
        OK(!leat_esp_duplicate_find(&table, 5, 200));
        EQ(put(&in, 300, &ms), LEAT_ESP_RESULT_STALE);
        OK(!leat_esp_duplicate_find(&table, 5, 300));
    }
}

TAP_MAIN(T(a_duplicate_lives_as_long_as_granted_and_no_longer),
         T(an_older_serial_is_stale_even_after_death), T(a_full_set_refuses_and_the_dead_make_room),
         T(no_more_copies_than_the_limit), T(children_are_installed_with_and_without_copies),
         T(children_end_with_their_lifetime_or_by_none))
