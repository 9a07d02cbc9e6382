#include "esp_limits.h"
#include "tap.h"
#include <leat/random.h>

enum { SECOND = 1000000, TAU = 10 * SECOND };
static const struct leat_esp_node node = { .id = 1, .seed = 2, .tau = TAU };

static void limits_come_from_what_users_say(void)
{
    struct leat_esp_limits l = leat_esp_limits_of(SECOND, 100, 20, 500, TAU);
    EQ(l.price_ticks, SECOND / 100);
    EQ(l.saved_ticks, SECOND / 5);
    EQ(l.capacity, 500);
    OK(l.window_ticks * (LEAT_ESP_WINDOWS - 1) >= TAU);
    l = leat_esp_limits_of(SECOND, 0, 0, 0, TAU);
    EQ(l.price_ticks | l.capacity, 0);
    l = leat_esp_limits_of(SECOND, UINT64_MAX, 1, 0, TAU); /* no faster than the clock ticks */
    EQ(l.price_ticks, 1);
    EQ(l.saved_ticks, LEAT_ESP_TAGS_MAX); /* one instruction must fit */
    l = leat_esp_limits_of(SECOND, 1, UINT64_MAX, 0, TAU);
    OK(l.saved_ticks == LEAT_ESP_TICKS_MAX);
}

/* Four octets, the lowest first: with the published key these are the inputs 00 01 02 03. */
static void a_keyed_computation_is_known_by_its_key(void)
{
    uint8_t key[LEAT_SIP_KEY_LEN];
    for (uint8_t i = 0; i < LEAT_SIP_KEY_LEN; i++)
        key[i] = i;
    const uint64_t id = leat_esp_computation_keyed(key, 0x03020100);
    OK(id == (UINT64_C(0x03020100) << 32 | (0xcf2794e0277187b7 & UINT32_MAX)));
    OK(leat_esp_computation_is_keyed(key, id));
    for (int bit = 0; bit < 64; bit++)
        OK(!leat_esp_computation_is_keyed(key, id ^ UINT64_C(1) << bit));
    key[3] ^= 1;
    OK(!leat_esp_computation_is_keyed(key, id));
}

static void without_limits_everything_is_allowed(void)
{
    const struct leat_esp_limits none = leat_esp_limits_of(SECOND, 0, 0, 0, TAU);
    struct leat_esp_budget b = { 0 };
    struct leat_esp_ingress in = { 0 };
    for (int i = 0; i < 1000; i++) {
        EQ(leat_esp_budget_allows(&b, &none, 0), LEAT_ESP_TAGS_MAX);
        leat_esp_budget_charge(&b, &none, 4);
        EQ(leat_esp_ingress_allows(&in, &none, 0), LEAT_ESP_TAGS_MAX);
        leat_esp_ingress_charge(&in, 4);
    }
    const struct leat_esp_limits zero = { 0 };
    EQ(leat_esp_budget_allows(&b, &zero, 1), LEAT_ESP_TAGS_MAX);
    EQ(leat_esp_ingress_allows(&in, &zero, 1), LEAT_ESP_TAGS_MAX);
    EQ(leat_esp_ingress_allows(&in, &none, 100 * TAU), LEAT_ESP_TAGS_MAX);
    EQ(in.sum, 0); /* old pieces expire without a limit, too: one may be set later */
}

static void a_source_has_its_burst_and_then_its_rate(void)
{
    const struct leat_esp_limits l = leat_esp_limits_of(SECOND, 100, 20, 0, TAU);
    struct leat_esp_budget b = { 0 };
    uint64_t created = 0;
    for (uint64_t now = 5 * SECOND; now <= 6 * SECOND; now += 100) { /* it tries all the time */
        const uint32_t allowed = leat_esp_budget_allows(&b, &l, now);
        leat_esp_budget_charge(&b, &l, allowed);
        created += allowed;
    }
    EQ(created, 20 + 100);
    EQ(leat_esp_budget_allows(&b, &l, 5 * SECOND), 0); /* an older clock earns nothing */
    EQ(leat_esp_budget_allows(&b, &l, 6 * SECOND + 2 * SECOND / 100), 2);
    EQ(leat_esp_budget_allows(&b, &l, 100 * SECOND), LEAT_ESP_TAGS_MAX);
}

/* Live bindings never exceed the capacity, and room is never withheld longer than a piece. */
static void an_ingress_never_has_more_alive_than_its_capacity(void)
{
    enum { CAPACITY = 50, EVENTS = 4096 };
    const struct leat_esp_limits l = leat_esp_limits_of(SECOND, 0, 0, CAPACITY, TAU);
    static uint64_t born[EVENTS];
    struct leat_esp_ingress in = { 0 };
    struct leat_random r;
    uint32_t first = 0, count = 0, refused = 0;
    uint64_t now = 0;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 20000; round++) {
        now += leat_random_below(&r, leat_random_below(&r, 50) ? TAU / 60 : 3 * TAU);
        const uint32_t allowed = leat_esp_ingress_allows(&in, &l, now);
        uint32_t wants = 1 + (uint32_t)leat_random_below(&r, 3);
        while (count && born[first % EVENTS] + TAU <= now) {
            first++;
            count--;
        }
        uint32_t lately = 0; /* live, or expired for no longer than a piece */
        for (uint32_t i = first > 200 ? first - 200 : 0; i < first + count; i++)
            lately += born[i % EVENTS] + TAU + 2 * l.window_ticks > now;
        if (wants > allowed) {
            refused++;
            OK(lately + wants > CAPACITY);
            wants = 0;
        }
        leat_esp_ingress_charge(&in, wants);
        for (; wants; wants--)
            born[(first + count++) % EVENTS] = now;
        OK(count <= CAPACITY);
    }
    OK(refused > 1000);
}

static void sources_are_spread_over_the_budgets(void)
{
    static uint32_t hits[LEAT_ESP_BUDGETS];
    const struct leat_esp_node other = { .id = 1, .seed = 3, .tau = TAU };
    uint32_t moved = 0;
    for (uint64_t source = 0; source < 16 * LEAT_ESP_BUDGETS; source++) {
        const uint32_t at = leat_esp_budget_of(&node, source);
        OK(at < LEAT_ESP_BUDGETS);
        hits[at]++;
        moved += at != leat_esp_budget_of(&other, source);
    }
    for (uint32_t i = 0; i < LEAT_ESP_BUDGETS; i++)
        OK(hits[i] < 64);              /* 16 on average */
    OK(moved > 15 * LEAT_ESP_BUDGETS); /* nobody can aim without the seed */
}

TAP_MAIN(T(limits_come_from_what_users_say), T(a_keyed_computation_is_known_by_its_key),
         T(without_limits_everything_is_allowed), T(a_source_has_its_burst_and_then_its_rate),
         T(an_ingress_never_has_more_alive_than_its_capacity),
         T(sources_are_spread_over_the_budgets))
