#include "sim_post.h"
#include "tap.h"
#include <leat/random.h>

enum { PLANS = 500 };

static void plans_come_by_time_then_in_the_order_of_calls(void)
{
    static struct leat_sim_plan plan[PLANS];
    struct leat_random r;
    uint32_t count = 0;
    leat_random_seed(&r, tap_seed());
    for (uint32_t i = 0; i < PLANS; i++)
        leat_sim_post_plan(
            plan, &count,
            (struct leat_sim_plan){ .at = leat_random_below(&r, 50), .call = i, .entry = i });
    struct leat_sim_plan last = leat_sim_post_take(plan, &count);
    while (count) {
        const struct leat_sim_plan next = leat_sim_post_take(plan, &count);
        OK(next.at > last.at || (next.at == last.at && next.call > last.call));
        EQ(next.entry, next.call);
        last = next;
    }
}

static void news_are_sorted_by_port_and_what_came_in_is_first(void)
{
    static struct leat_sim_news news[PLANS];
    struct leat_random r;
    uint32_t count = 0, port[PLANS];
    leat_random_seed(&r, tap_seed());
    for (uint32_t i = 0; i < PLANS; i++) {
        struct leat_port_message m = { 0 };
        m.from = (uint32_t)leat_random_below(&r, 9);
        m.to = (uint32_t)leat_random_below(&r, 9);
        const bool sent = leat_random_below(&r, 2);
        port[i] = sent ? m.from : m.to;
        leat_sim_post_note(news, &count, &m, i, sent);
    }
    EQ(count, PLANS);
    leat_sim_post_sort(news, count);
    for (uint32_t i = 1; i < count; i++) {
        const struct leat_sim_news *a = &news[i - 1], *b = &news[i];
        const bool left[2] = { leat_sim_news_is_sent(a), leat_sim_news_is_sent(b) };
        OK(port[a->entry] <= port[b->entry]);
        if (port[a->entry] != port[b->entry]) continue;
        OK(left[0] <= left[1]);
        if (left[0] == left[1]) OK(a->entry < b->entry);
    }
}

static void an_arrival_is_a_delivery(void)
{
    uint8_t octets[] = { 1, 2, 3 };
    const struct leat_port_message m = { .from = 4, .to = 5, .octets = octets, .len = 3 };
    const struct leat_sim_delivery delivery = {
        .at = 77,
        .source = 4,
        .destination = 5,
        .number = 6,
        .payload_hash = leat_sim_payload_hash(octets, sizeof octets),
    };
    struct leat_sim_certificate by_hand, posted;
    leat_sim_certificate_init(&by_hand);
    leat_sim_certificate_init(&posted);
    leat_sim_certificate_add(&by_hand, &delivery);
    EQ(leat_sim_post_certify(&posted, &m, 6, 77), leat_sim_certificate_value(&by_hand));
}

static void private_octets_count_by_their_number(void)
{
    uint8_t octets[] = { 1, 2, 3 };
    struct leat_port_message m = { .octets = octets, .len = 3 };
    OK(leat_sim_post_hash(&m, octets, 3) == leat_sim_payload_hash(octets, 3));
    m.is_private = true;
    const uint64_t hash = leat_sim_post_hash(&m, octets, 3);
    octets[1] = 9;
    OK(leat_sim_post_hash(&m, octets, 3) == hash);
    OK(leat_sim_post_hash(&m, octets, 2) != hash);
}

TAP_MAIN(T(plans_come_by_time_then_in_the_order_of_calls),
         T(news_are_sorted_by_port_and_what_came_in_is_first), T(an_arrival_is_a_delivery),
         T(private_octets_count_by_their_number))
