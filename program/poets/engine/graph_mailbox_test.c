#include "graph_mailbox.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { WAY_PS = 100, USERS_MAX = 64, NETWORK_MAX = 1000 };

/* A simple network: an octet leaves in a picosecond, and arrives WAY_PS later. */
struct network {
    struct leat_port_net base;
    struct leat_port_message message[NETWORK_MAX];
    leat_time sent_at[NETWORK_MAX];
    bool sent[NETWORK_MAX];
    uint32_t count, max;
    leat_time free_at[16]; /* of each port */
    bool loses;
};

static struct network net;

static bool network_send(struct leat_port_net *base, const struct leat_port_message *m,
                         leat_time at)
{
    OK(at >= base->now);
    if (net.count == net.max) return false;
    const leat_time begins = at > net.free_at[m->from] ? at : net.free_at[m->from];
    net.message[net.count] = *m;
    net.sent[net.count] = false;
    net.sent_at[net.count++] = net.free_at[m->from] = begins + m->len;
    base->in_flight = net.count;
    return true;
}

static leat_time time_of(uint32_t i)
{
    return net.sent_at[i] + (net.sent[i] ? WAY_PS : 0);
}

static void notify(uint32_t i, leat_time at)
{
    const struct leat_port_observer *observer = &net.base.observer;
    const struct leat_port_message message = net.message[i];
    if (!net.sent[i]) {
        net.sent[i] = true;
        observer->sent(observer->context, &message, at);
        return;
    }
    net.count--;
    net.message[i] = net.message[net.count];
    net.sent[i] = net.sent[net.count];
    net.sent_at[i] = net.sent_at[net.count];
    net.base.in_flight = net.count;
    if (net.loses)
        observer->lost(observer->context, &message, "it fell down", at);
    else
        observer->arrived(observer->context, &message, at);
}

static leat_time network_run(struct leat_port_net *base, leat_time until)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < net.count; i++)
        if (time_of(i) < time_of(first)) first = i;
    if (!net.count || time_of(first) > until) {
        if (until != LEAT_NEVER) base->now = until;
        return base->now;
    }
    base->now = time_of(first);
    notify(first, base->now);
    return base->now;
}

static const struct leat_port_ops ops = { network_send, network_run };

/* ---- callbacks ------------------------------------------------------------------------------- */

static struct leat_poets_mailboxes m;
static uint32_t came[USERS_MAX], freed[USERS_MAX];
static leat_time came_at[USERS_MAX];

static void on_came(void *context, uint32_t user, leat_time at)
{
    (void)context;
    came[user]++;
    came_at[user] = at;
}

static void on_free(void *context, uint32_t user, leat_time at)
{
    (void)context;
    (void)at;
    freed[user]++;
}

static const struct leat_poets_mailbox_place places[] = {
    { 3, 0x000 }, { 1, 0x040 }, { 0, 0x100 }, { 2, 0x140 }
};

/* Of four mailboxes; the host is at port 1. */
static void make(uint32_t boxes, uint32_t threads, uint32_t slots, bool bare)
{
    const struct leat_poets_mailbox_config config = { .net = &net.base,
                                                      .bare = bare,
                                                      .place = places,
                                                      .boxes = boxes,
                                                      .threads = threads,
                                                      .slots = slots,
                                                      .host_port = 1,
                                                      .host_address = 0x20000 };
    memset(&net, 0, sizeof net);
    net.base.ops = &ops;
    net.max = NETWORK_MAX;
    memset(came, 0, sizeof came);
    memset(freed, 0, sizeof freed);
    OK(leat_poets_mailboxes_make(&m, &config));
    m.came = on_came;
    m.free_to_send = on_free;
}

static struct leat_poets_mail *post(uint32_t from, uint32_t to, uint8_t first, unsigned nflit)
{
    uint8_t packet[LEAT_POETS_PACKET_LEN_MAX];
    for (size_t i = 0; i < sizeof packet; i++)
        packet[i] = (uint8_t)(first + i);
    struct leat_poets_mail *mail = leat_poets_mail_new(&m, from, to, packet, nflit);
    leat_poets_mail_post(&m, mail, net.base.now);
    return mail;
}

static void run_dry(void)
{
    while (leat_poets_mailboxes_run(&m, LEAT_NEVER)) {
    }
}

/* Takes the oldest packet of a user and releases its slot. */
static uint8_t take(uint32_t user)
{
    struct leat_poets_mail *mail = leat_poets_mail_oldest(&m, user);
    if (!mail) return 0;
    const uint8_t first = leat_poets_mail_packet(mail)[0];
    leat_poets_mail_take(&m, mail);
    leat_poets_mail_done(&m, mail, net.base.now);
    return first;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void threads_have_equal_shares_of_mailboxes_and_rising_addresses(void)
{
    static const uint32_t box[] = { 0, 0, 0, 1, 1, 2, 2, 2, 3, 3 };
    static const uint32_t address[] = { 0, 1, 2, 0x40, 0x41, 0x100, 0x101, 0x102, 0x140, 0x141 };
    make(4, 10, 4, true);
    for (uint32_t t = 0; t < 10; t++) {
        EQ(m.user[t].box, box[t]);
        EQ(m.user[t].address, address[t]);
    }
    EQ(m.box[m.user[10].box].port, 1); /* the host */
    leat_poets_mailboxes_free(&m);
    make(4, 2, 4, true); /* fewer threads than mailboxes */
    EQ(m.box[m.user[0].box].port, 3);
    EQ(m.box[m.user[1].box].port, 0);
    leat_poets_mailboxes_free(&m);
}

static void a_packet_crosses_the_network_as_its_flits(void)
{
    make(4, 4, 4, true);
    const struct leat_poets_mail *mail = post(0, 2, 7, 3);
    EQ(net.count, 1);
    EQ(net.message[0].from, 3);
    EQ(net.message[0].to, 0);
    EQ(net.message[0].len, 48);
    EQ(net.message[0].octets[0], 7);
    EQ(net.message[0].octets[47], 7 + 47);
    OK(m.user[0].sends);
    OK(leat_poets_mailboxes_run(&m, LEAT_NEVER));
    EQ(freed[0], 1);
    OK(!m.user[0].sends);
    EQ(came[2], 0);
    OK(!leat_poets_mailboxes_run(&m, 48 + WAY_PS - 1)); /* not yet */
    OK(leat_poets_mailboxes_run(&m, LEAT_NEVER));
    EQ(came[2], 1);
    EQ(came_at[2], 48 + WAY_PS);
    OK(leat_poets_mail_oldest(&m, 2) == mail);
    EQ(take(2), 7);
    EQ(m.alive, 0);
    EQ(m.threads_count.packets, 1);
    EQ(m.threads_count.flits, 3);
    EQ(m.threads_count.latency_max, 48 + WAY_PS);
    leat_poets_mailboxes_free(&m);
}

static void elsewhere_a_head_goes_before_it(void)
{
    make(4, 4, 4, false);
    post(0, 2, 7, 2);
    EQ(net.message[0].len, 8 + 32);
    EQ(leat_get_le32(net.message[0].octets), 0x100);
    EQ(leat_get_le32(net.message[0].octets + 4), 2);
    EQ(net.message[0].octets[8], 7);
    post(4, 3, 9, 1); /* from the host */
    EQ(net.message[1].from, 1);
    EQ(leat_get_le32(net.message[1].octets), 0x140);
    EQ(leat_get_le32(net.message[1].octets + 4), 1 | 1 << 8);
    post(2, 4, 9, 1); /* to the host */
    EQ(net.message[2].to, 1);
    EQ(leat_get_le32(net.message[2].octets), 0x20000);
    EQ(leat_get_le32(net.message[2].octets + 4), 1);
    leat_poets_mailboxes_free(&m);
}

static void full_mailboxes_hold_packets_at_their_source(void)
{
    make(4, 4, 2, true);
    post(0, 3, 10, 1);
    post(1, 3, 11, 1);
    post(2, 3, 12, 1);
    EQ(net.count, 2);
    EQ(m.threads_count.waits, 1);
    run_dry();
    EQ(came[3], 2);
    OK(m.user[2].sends); /* it still has it */
    EQ(take(3), 10);
    EQ(net.count, 1); /* the slot was reassigned */
    run_dry();
    OK(!m.user[2].sends);
    EQ(take(3), 11);
    EQ(take(3), 12);
    EQ(m.box[3].free, 2);
    EQ(m.alive, 0);
    leat_poets_mailboxes_free(&m);
}

static void a_slot_is_free_when_its_packet_is_done_with_not_when_it_is_taken(void)
{
    make(4, 4, 1, true);
    post(0, 3, 10, 1);
    post(1, 3, 11, 1);
    run_dry();
    struct leat_poets_mail *mail = leat_poets_mail_oldest(&m, 3);
    leat_poets_mail_take(&m, mail);
    OK(!leat_poets_mail_oldest(&m, 3));
    EQ(net.count, 0);
    leat_poets_mail_done(&m, mail, net.base.now);
    EQ(net.count, 1);
    leat_poets_mailboxes_free(&m);
}

static void the_host_is_not_stopped_by_full_mailboxes(void)
{
    make(4, 4, 1, true);
    post(0, 3, 10, 1);
    post(1, 3, 11, 1);
    run_dry();
    post(4, 3, 20, 1);
    run_dry();
    EQ(came[3], 2);
    post(4, 3, 21, 1); /* the slot for the host's packets is reserved, too */
    run_dry();
    OK(m.user[4].sends);
    EQ(m.host_count.waits, 1);
    EQ(take(3), 20); /* before earlier ones */
    run_dry();
    OK(!m.user[4].sends);
    EQ(take(3), 21);
    EQ(take(3), 10);
    run_dry();
    EQ(take(3), 11);
    EQ(m.host_count.packets, 2);
    EQ(m.threads_count.packets, 2);
    EQ(m.alive, 0);
    leat_poets_mailboxes_free(&m);
}

static void within_a_mailbox_packets_are_copied_if_there_is_a_slot(void)
{
    make(2, 4, 1, true);
    post(0, 1, 10, 2);
    EQ(net.count, 0);
    EQ(came[1], 1);
    EQ(freed[0], 1);
    post(1, 1, 11, 1); /* to itself */
    OK(m.user[1].sends);
    EQ(take(1), 10);
    OK(!m.user[1].sends);
    EQ(take(1), 11);
    EQ(m.copied, 2);
    EQ(m.threads_count.packets, 0);
    leat_poets_mailboxes_free(&m);
}

static void a_network_that_loses_or_refuses_is_reported(void)
{
    make(4, 4, 4, true);
    net.loses = true;
    post(0, 3, 1, 1);
    run_dry();
    OK(strcmp(m.failed, "a packet from port 3 to 2 was lost: it fell down") == 0);
    leat_poets_mailboxes_free(&m);
    make(4, 4, 4, true);
    net.max = 1;
    post(0, 3, 1, 1);
    OK(!m.failed[0]);
    post(1, 3, 1, 1);
    OK(strstr(m.failed, "the fabric takes no more than 1 packets at a time"));
    leat_poets_mailboxes_free(&m);
}

/* Packets of each mailbox that have, or have reserved, one of its slots. */
static uint32_t kept(uint32_t box, uint32_t slots)
{
    return slots - m.box[box].free;
}

/* Threads post and take at random: everything arrives once and complete, and no slot is used twice.
 */
static void whatever_is_posted_comes_once(void)
{
    struct leat_random r;
    uint32_t posted[USERS_MAX] = { 0 }, taken[USERS_MAX] = { 0 };
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 50; round++) {
        const uint32_t threads = 1 + (uint32_t)leat_random_below(&r, 12);
        const uint32_t slots = 1 + (uint32_t)leat_random_below(&r, 3);
        uint64_t sum_posted = 0, sum_taken = 0, all = 0;
        make(4, threads, slots, round % 2);
        memset(posted, 0, sizeof posted);
        memset(taken, 0, sizeof taken);
        for (int i = 0; i < 2000 || m.alive; i++) {
            const uint32_t a = (uint32_t)leat_random_below(&r, threads + 1);
            const uint32_t b = (uint32_t)leat_random_below(&r, threads + 1);
            if (i < 2000 && !m.user[a].sends && !(a == threads && b == threads)) {
                const uint8_t value = (uint8_t)(1 + leat_random_below(&r, 200));
                post(a, b, value, 1 + (unsigned)leat_random_below(&r, 4));
                posted[b]++;
                sum_posted += value;
                all++;
            }
            if (leat_random_below(&r, 2)) leat_poets_mailboxes_run(&m, net.base.now + 20);
            if (leat_poets_mail_oldest(&m, b)) {
                sum_taken += take(b);
                taken[b]++;
            }
            for (uint32_t box = 0; box <= 4; box++)
                OK(kept(box, slots) <= slots);
        }
        OK(memcmp(posted, taken, sizeof posted) == 0);
        EQ(sum_posted, sum_taken);
        EQ(m.threads_count.packets + m.host_count.packets + m.copied, all);
        leat_poets_mailboxes_free(&m);
    }
}

static void lists_are_first_in_first_out(void)
{
    struct leat_poets_mail_list list = { 0 };
    struct leat_poets_mail mail[3];
    OK(!leat_poets_mail_first(&list));
    for (int i = 0; i < 3; i++)
        leat_poets_mail_append(&list, &mail[i]);
    OK(leat_poets_mail_first(&list) == &mail[0]);
    leat_poets_mail_append(&list, &mail[0]);
    OK(leat_poets_mail_first(&list) == &mail[1]);
    OK(leat_poets_mail_first(&list) == &mail[2]);
    OK(leat_poets_mail_first(&list) == &mail[0]);
    OK(!leat_poets_mail_first(&list));
}

TAP_MAIN(T(threads_have_equal_shares_of_mailboxes_and_rising_addresses),
         T(a_packet_crosses_the_network_as_its_flits), T(elsewhere_a_head_goes_before_it),
         T(full_mailboxes_hold_packets_at_their_source),
         T(a_slot_is_free_when_its_packet_is_done_with_not_when_it_is_taken),
         T(the_host_is_not_stopped_by_full_mailboxes),
         T(within_a_mailbox_packets_are_copied_if_there_is_a_slot),
         T(a_network_that_loses_or_refuses_is_reported), T(whatever_is_posted_comes_once),
         T(lists_are_first_in_first_out))
