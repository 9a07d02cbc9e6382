#include "sim_post.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { ENTRIES = 500, PORTS = 9 };

/* An owner's entry. */
struct entry {
    struct leat_sim_letter letter;
    uint32_t own;
};

static struct leat_port_net net;
static struct leat_sim_post post;
static struct entry *entry;
static uint8_t octets[] = { 1, 2, 3 };

static struct {
    enum { SENT, ARRIVED, LOST, HEAD } what;
    uint64_t id;
    uint32_t port;
    leat_time at;
} reported[2 * ENTRIES];
static uint32_t reported_count;

static void report(int what, const struct leat_port_message *m, uint32_t port, leat_time at)
{
    reported[reported_count].what = what;
    reported[reported_count].id = m->id;
    reported[reported_count].port = port;
    reported[reported_count++].at = at;
}

static void on_sent(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context;
    report(SENT, m, m->from, at);
}

static void on_arrived(void *context, const struct leat_port_message *m, leat_time at)
{
    (void)context;
    report(ARRIVED, m, m->to, at);
}

static void on_lost(void *context, const struct leat_port_message *m, const char *why, leat_time at)
{
    (void)context;
    OK(strcmp(why, "a reason") == 0);
    report(LOST, m, m->to, at);
}

static void on_head(void *context, const struct leat_port_message *m, leat_time from, leat_time at)
{
    (void)context, (void)from;
    report(HEAD, m, m->to, at);
}

static void begin(uint32_t entries_max)
{
    static uint64_t memory[1 << 15];
    struct leat_arena arena = { .memory = (uint8_t *)memory, .cap = sizeof memory };
    memset(memory, 0, sizeof memory);
    post = (struct leat_sim_post){ 0 };
    net = (struct leat_port_net){
        .ports = PORTS, .observer = { NULL, on_sent, on_arrived, on_lost, .head = on_head }
    };
    entry = leat_sim_post_lay(&post, &arena, entries_max, sizeof *entry, ENTRIES);
    leat_sim_post_init(&post, &net);
    reported_count = 0;
}

static uint32_t accept(uint32_t from, uint32_t to, uint64_t id)
{
    const struct leat_port_message m = {
        .from = from, .to = to, .id = id, .octets = octets, .len = sizeof octets
    };
    uint32_t index = UINT32_MAX;
    OK(leat_sim_post_accept(&post, &m, net.now, &index));
    return index;
}

static void plans_come_by_time_then_in_the_order_of_calls(void)
{
    struct leat_random r;
    begin(1);
    leat_random_seed(&r, tap_seed());
    for (uint32_t i = 0; i < ENTRIES; i++)
        leat_sim_post_plan(&post, (struct leat_sim_plan){
                                      .at = leat_random_below(&r, 50), .call = i, .entry = i });
    struct leat_sim_plan last = leat_sim_post_take(&post);
    while (post.plans) {
        const struct leat_sim_plan next = leat_sim_post_take(&post);
        OK(next.at > last.at || (next.at == last.at && next.call > last.call));
        EQ(next.entry, next.call);
        last = next;
    }
}

static void plans_whose_times_have_changed_are_sorted_again(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    begin(ENTRIES);
    for (uint32_t i = 0; i < ENTRIES; i++)
        leat_sim_post_plan(&post, (struct leat_sim_plan){ .at = i, .call = i, .entry = i });
    for (uint32_t i = 0; i < ENTRIES; i++)
        post.plan[i].at = leat_random_below(&r, 50);
    leat_sim_post_sort_plans(&post);
    EQ(post.plans, ENTRIES);
    for (struct leat_sim_plan last = { 0 }, next; post.plans; last = next) {
        next = leat_sim_post_take(&post);
        OK(last.at < next.at || (last.at == next.at && last.call <= next.call));
    }
}

static void entries_are_zeroed_and_used_again(void)
{
    const struct leat_port_message m = { .from = 1, .to = 2 };
    uint32_t index;
    begin(2);
    EQ(accept(0, 1, 7), 0);
    EQ(accept(0, 1, 8), 1);
    EQ(entry[1].letter.call, 1);
    OK(!leat_sim_post_accept(&post, &m, 0, &index)); /* too many */
    EQ(net.in_flight, 2);
    entry[0].own = 5;
    leat_sim_post_note(&post, 0, false);
    leat_sim_post_report(&post, 10);
    EQ(net.in_flight, 1);
    EQ(accept(3, 4, 9), 0);
    EQ(entry[0].own, 0);
    EQ(entry[0].letter.message.id, 9);
}

static void what_is_held_is_freed_by_its_owner(void)
{
    uint32_t index;
    const struct leat_port_message m = { .from = 1, .to = 2 };
    begin(1);
    entry[accept(0, 1, 7)].letter.held = 1;
    leat_sim_post_note(&post, 0, false);
    leat_sim_post_report(&post, 10);
    OK(entry[0].letter.has_ended);
    OK(!leat_sim_post_accept(&post, &m, 10, &index));
    leat_sim_post_free(&post, 0);
    OK(leat_sim_post_accept(&post, &m, 10, &index));
}

static void news_are_reported_port_by_port_and_what_came_in_is_first(void)
{
    struct leat_random r;
    begin(ENTRIES);
    leat_random_seed(&r, tap_seed());
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const uint32_t from = (uint32_t)leat_random_below(&r, PORTS);
        const uint32_t to = (uint32_t)leat_random_below(&r, PORTS);
        const uint32_t index = accept(from, to, i);
        if (leat_random_below(&r, 2)) entry[index].letter.why = "a reason";
        leat_sim_post_note(&post, index, leat_random_below(&r, 2));
    }
    OK(leat_sim_post_has_news(&post));
    leat_sim_post_report(&post, 77);
    OK(!leat_sim_post_has_news(&post));
    EQ(reported_count, ENTRIES);
    for (uint32_t i = 1; i < reported_count; i++) {
        const bool left[2] = { reported[i - 1].what == SENT, reported[i].what == SENT };
        EQ(reported[i].at, 77);
        OK(reported[i - 1].port <= reported[i].port);
        if (reported[i - 1].port != reported[i].port) continue;
        OK(left[0] <= left[1]);
        if (left[0] == left[1]) OK(reported[i - 1].id < reported[i].id);
    }
}

static void an_arrival_is_a_delivery_and_a_loss_is_none(void)
{
    const struct leat_sim_delivery delivery = {
        .at = 77,
        .source = 4,
        .destination = 5,
        .number = 6,
        .payload_hash = leat_sim_payload_hash(octets, sizeof octets),
    };
    struct leat_sim_certificate by_hand;
    begin(2);
    leat_sim_certificate_init(&by_hand);
    OK(net.certificate == leat_sim_certificate_value(&by_hand));
    leat_sim_certificate_add(&by_hand, &delivery);
    entry[accept(4, 5, 0)].letter.number = 6;
    entry[accept(4, 5, 1)].letter.why = "a reason";
    leat_sim_post_note(&post, 0, false);
    leat_sim_post_note(&post, 1, false);
    leat_sim_post_report(&post, 77);
    EQ(reported[0].what, ARRIVED);
    EQ(reported[1].what, LOST);
    OK(net.certificate == leat_sim_certificate_value(&by_hand));
}

static void a_run_ends_with_news_or_at_its_limit(void)
{
    begin(1);
    OK(!leat_sim_post_begin(&post, 0));
    OK(!leat_sim_post_begin(&post, LEAT_NEVER)); /* nothing is in flight */
    OK(leat_sim_post_begin(&post, 50));
    EQ(leat_sim_post_end(&post, 0, 50), 50);
    accept(1, 2, 3);
    OK(leat_sim_post_begin(&post, LEAT_NEVER));
    leat_sim_post_note(&post, 0, true);
    EQ(leat_sim_post_end(&post, 60, LEAT_NEVER), 60);
    OK(leat_sim_post_begin(&post, 100));
    OK(leat_sim_post_report_head(&post, &entry[0].letter.message, 70, 80, 65));
    OK(leat_sim_post_has_news(&post));
    EQ(leat_sim_post_end(&post, 0, 100), 65);
    EQ(reported[1].what, HEAD);
    net.observer.head = NULL;
    OK(leat_sim_post_begin(&post, 100));
    OK(!leat_sim_post_report_head(&post, &entry[0].letter.message, 70, 80, 66));
    EQ(leat_sim_post_end(&post, 0, 100), 100);
}

static void private_octets_count_by_their_number(void)
{
    uint8_t data[] = { 1, 2, 3 };
    struct leat_port_message m = { .octets = data, .len = 3 };
    OK(leat_sim_post_hash(&m, data, 3) == leat_sim_payload_hash(data, 3));
    m.is_private = true;
    const uint64_t hash = leat_sim_post_hash(&m, data, 3);
    data[1] = 9;
    OK(leat_sim_post_hash(&m, data, 3) == hash);
    OK(leat_sim_post_hash(&m, data, 2) != hash);
}

static void a_list_keeps_the_order_in_which_entries_join_it(void)
{
    uint32_t first = 0, last = 0;
    begin(ENTRIES);
    for (uint32_t i = 3; i > 0; i--) {
        entry[i].letter.next = 77; /* of an earlier list */
        leat_sim_post_append(&post, i, &first, &last);
    }
    EQ(first, 4);
    EQ(entry[3].letter.next, 3);
    EQ(entry[2].letter.next, 2);
    EQ(entry[1].letter.next, 0);
    EQ(last, 2);
}

TAP_MAIN(T(plans_come_by_time_then_in_the_order_of_calls),
         T(plans_whose_times_have_changed_are_sorted_again), T(entries_are_zeroed_and_used_again),
         T(what_is_held_is_freed_by_its_owner),
         T(news_are_reported_port_by_port_and_what_came_in_is_first),
         T(an_arrival_is_a_delivery_and_a_loss_is_none), T(a_run_ends_with_news_or_at_its_limit),
         T(private_octets_count_by_their_number),
         T(a_list_keeps_the_order_in_which_entries_join_it))
