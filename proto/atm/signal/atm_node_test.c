#include "atm_node_world_test.h"

static void run_ms(unsigned ms)
{
    world_run(w.now + ms * MS);
}

static unsigned calls_of(unsigned user, enum leat_atm_call_state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < CALLS; i++)
        count += w.user[user].call[i].used && w.user[user].call[i].call.state == state;
    return count;
}

static struct user_call *only_call(unsigned user)
{
    for (unsigned i = 0; i < CALLS; i++)
        if (w.user[user].call[i].used) return &w.user[user].call[i];
    return NULL;
}

/* The called user takes what is offered. */
static void accept_all(unsigned user)
{
    for (unsigned i = 0; i < CALLS; i++) {
        struct user_call *c = &w.user[user].call[i];
        if (!c->used) continue;
        call_do(user, c, LEAT_ATM_CALL_DO_CONNECT);
        for (unsigned k = 0; k < PARTIES; k++)
            if (c->party[k].used && c->call.state == LEAT_ATM_CALL_ACTIVE)
                party_step(user, c, &c->party[k], 0,
                           &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_ACCEPT });
    }
}

static void all_accept(void)
{
    for (unsigned round = 0; round < 4; round++) {
        run_ms(100);
        for (unsigned u = 0; u < USERS; u++)
            accept_all(u);
    }
    run_ms(100);
}

/* Nothing is left anywhere. */
static void is_empty(unsigned labels)
{
    EQ(w.entry_count, 0);
    for (unsigned i = 0; i < NODES; i++) {
        const struct leat_atm_node_counts *counts = leat_atm_node_counts(w.node[i]);
        EQ(counts->calls, 0);
        EQ(counts->half_calls, 0);
        EQ(counts->parties, 0);
        for (uint32_t k = 0; k < LINKS; k++) {
            EQ(leat_atm_node_labels_free(w.node[i], k), k == LEFT ? 0 : labels);
            EQ(leat_atm_node_cac(w.node[i], k)->connections, 0);
            EQ(leat_atm_node_cac(w.node[i], k)->level[0].mean.rate, 0);
        }
    }
}

/* Where cells of a label end: the users reached from a link of a node, as a set of bits. A call of
 * the user there must have the label. */
static unsigned follow(unsigned node, struct leat_atm_node_end from, unsigned depth)
{
    unsigned reached = 0;
    OK(depth < NODES + 1);
    for (unsigned i = 0; i < w.entry_count && depth <= NODES; i++) {
        const struct entry *e = &w.entry[i];
        if (e->node != node || memcmp(&e->from, &from, sizeof from) != 0) continue;
        struct leat_atm_node_end to = e->to;
        if (to.link >= LEFT) {
            const unsigned next = to.link == LEFT ? node - 1 : node + 1;
            to.link = to.link == LEFT ? RIGHT : LEFT;
            reached |= follow(next, to, depth + 1);
            continue;
        }
        const unsigned user = 2 * node + to.link;
        bool found = false;
        for (unsigned k = 0; k < CALLS; k++) {
            const struct user_call *c = &w.user[user].call[k];
            found |= c->used && c->call.state == LEAT_ATM_CALL_ACTIVE &&
                     memcmp(&c->label, &to.label, sizeof to.label) == 0;
        }
        OK(found);
        reached |= 1u << user;
    }
    return reached;
}

static unsigned reached_by(unsigned user, const struct user_call *c)
{
    return follow(user / 2, (struct leat_atm_node_end){ user % 2, c->label }, 0);
}

static void a_call_goes_through_three_nodes_and_back(void)
{
    world_init(1, 0, 4, 10);
    struct user_call *c = user_calls(0, 5, false);
    all_accept();
    EQ(c->call.state, LEAT_ATM_CALL_ACTIVE);
    EQ(calls_of(5, LEAT_ATM_CALL_ACTIVE), 1);
    EQ(w.entry_count, 6); /* both ways in three nodes */
    EQ(reached_by(0, c), 1 << 5);
    EQ(reached_by(5, only_call(5)), 1 << 0);
    EQ(leat_atm_node_cac(w.node[1], RIGHT)->connections, 1);
    EQ(leat_atm_node_cac(w.node[1], LEFT)->connections, 1); /* backward */
    EQ(leat_atm_node_labels_free(w.node[1], RIGHT), 3);
    call_do(5, only_call(5), LEAT_ATM_CALL_DO_RELEASE); /* either side may end it */
    run_ms(100);
    EQ(only_call(0) == NULL, 1);
    is_empty(4);
}

static unsigned refused(unsigned node, uint8_t cause)
{
    return (unsigned)leat_atm_node_counts(w.node[node])->refused[cause];
}

static void calls_without_route_rate_or_label_are_refused_with_the_cause(void)
{
    world_init(1, 0, 3, 100);
    user_calls(0, 8, false);
    run_ms(100);
    EQ(refused(0, LEAT_ATM_CAUSE_NO_ROUTE), 1);
    user_calls(0, 0, false); /* to itself: not through one link twice */
    run_ms(100);
    EQ(refused(0, LEAT_ATM_CAUSE_NO_ROUTE), 2);
    for (int i = 0; i < 4; i++)
        user_calls(0, 3, false);
    all_accept();
    EQ(calls_of(0, LEAT_ATM_CALL_ACTIVE), 3);
    EQ(refused(0, LEAT_ATM_CAUSE_NO_LABEL), 1);

    world_init(1, 0, 30, 3); /* W takes a little, so that two calls fit */
    for (int i = 0; i < 4; i++)
        user_calls(0, 3, false);
    all_accept();
    EQ(calls_of(0, LEAT_ATM_CALL_ACTIVE), 2);
    EQ(refused(0, LEAT_ATM_CAUSE_RATE), 2);
    call_do(0, only_call(0), LEAT_ATM_CALL_DO_RELEASE);
    run_ms(100);
    user_calls(2, 1, false); /* now there is room again, the other way */
    all_accept();
    EQ(calls_of(2, LEAT_ATM_CALL_ACTIVE), 1);
}

static void a_busy_user_ends_the_call_of_the_caller(void)
{
    world_init(1, 0, 4, 10);
    user_calls(1, 4, false);
    run_ms(100);
    EQ(calls_of(1, LEAT_ATM_CALL_OUTGOING_PROCEEDING), 1);
    call_do(4, only_call(4), LEAT_ATM_CALL_DO_RELEASE); /* RELEASE COMPLETE at once */
    run_ms(100);
    EQ(only_call(1) == NULL, 1);
    is_empty(4);
    user_calls(1, 4, false); /* nobody answers: T310 */
    run_ms(12000);
    EQ(only_call(1) == NULL, 1);
    run_ms(1000);
    is_empty(4);
}

static void parties_share_labels_and_rates_where_their_ways_are_one(void)
{
    world_init(1, 0, 8, 10);
    struct user_call *root = user_calls(0, 5, true);
    all_accept();
    EQ(reached_by(0, root), 1 << 5);
    user_adds(0, root, 3); /* leaves the tree at node 1 */
    all_accept();
    EQ(reached_by(0, root), 1 << 5 | 1 << 3);
    user_adds(0, root, 4); /* at node 2 */
    user_adds(0, root, 1); /* at once, at node 0 */
    all_accept();
    EQ(reached_by(0, root), 1 << 5 | 1 << 4 | 1 << 3 | 1 << 1);
    EQ(leat_atm_node_cac(w.node[0], RIGHT)->connections, 1);
    EQ(leat_atm_node_cac(w.node[0], LEFT)->connections, 0); /* no backward cells */
    EQ(leat_atm_node_labels_free(w.node[1], RIGHT), 7);
    EQ(w.entry_count, 2 + 2 + 2);

    party_step(0, root, party_find(root, 0), 0,
               &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_DROP, .cause = 16 });
    run_ms(200);
    EQ(reached_by(0, root), 1 << 4 | 1 << 3 | 1 << 1);
    call_do(3, only_call(3), LEAT_ATM_CALL_DO_RELEASE); /* a leaf goes by itself */
    run_ms(200);
    EQ(reached_by(0, root), 1 << 4 | 1 << 1);
    EQ(root->call.state, LEAT_ATM_CALL_ACTIVE);
    call_do(4, only_call(4), LEAT_ATM_CALL_DO_RELEASE);
    run_ms(200);
    EQ(reached_by(0, root), 1 << 1);
    EQ(leat_atm_node_cac(w.node[0], RIGHT)->connections, 0);
    call_do(1, only_call(1), LEAT_ATM_CALL_DO_RELEASE); /* the last one ends the call */
    run_ms(200);
    EQ(only_call(0) == NULL, 1);
    is_empty(8);
}

static void parties_that_cannot_be_reached_are_rejected_and_the_others_stay(void)
{
    world_init(1, 0, 8, 10);
    struct user_call *root = user_calls(0, 5, true);
    all_accept();
    user_adds(0, root, 8);
    run_ms(200);
    EQ(refused(0, LEAT_ATM_CAUSE_NO_ROUTE), 1);
    user_adds(0, root, 2);
    run_ms(200);
    call_do(2, only_call(2), LEAT_ATM_CALL_DO_RELEASE);
    run_ms(200);
    EQ(reached_by(0, root), 1 << 5);
    EQ(root->call.state, LEAT_ATM_CALL_ACTIVE);
    call_do(0, root, LEAT_ATM_CALL_DO_RELEASE); /* the root takes all with it */
    run_ms(200);
    is_empty(8);
}

static leat_err deliver(const uint8_t *octets, size_t len)
{
    return leat_atm_node_receive(w.node[0], w.now, 0, octets, len);
}

static void broken_messages_and_setups_are_answered_or_ignored(void)
{
    struct leat_atm_signal_builder b;
    uint8_t octets[256];
    size_t len = 0;
    world_init(1, 0, 4, 10);
    EQ(deliver((const uint8_t *)"\x08", 1), LEAT_ERR_SHORT);
    EQ(w.count, 0);
    leat_atm_signal_build(&b, LEAT_ATM_SIGNAL_SETUP, 77, false);
    EQ(leat_atm_signal_message_encode(&b.message, octets, sizeof octets, &len), LEAT_ERR_OK);
    EQ(deliver(octets, len), LEAT_ERR_OK);
    EQ(refused(0, LEAT_ATM_CAUSE_MISSING), 1);
    leat_atm_signal_build(&b, LEAT_ATM_SIGNAL_SETUP, 78, false);
    const struct leat_atm_signal_element bad = { LEAT_ATM_SIGNAL_CALLED_NUMBER, 0x80, octets, 3 };
    EQ(leat_atm_signal_build_carry(&b, &bad), LEAT_ERR_OK);
    EQ(leat_atm_signal_message_encode(&b.message, octets, sizeof octets, &len), LEAT_ERR_OK);
    EQ(deliver(octets, len), LEAT_ERR_OK);
    EQ(refused(0, LEAT_ATM_CAUSE_CONTENTS), 1);
    EQ(w.count, 2); /* RELEASE COMPLETE each */
    leat_atm_signal_build(&b, LEAT_ATM_SIGNAL_CONNECT, 79, true);
    EQ(leat_atm_signal_message_encode(&b.message, octets, sizeof octets, &len), LEAT_ERR_OK);
    EQ(deliver(octets, len), LEAT_ERR_OK);
    EQ(w.count, 3);
    run_ms(100);
    is_empty(4);
}

static void limits_of_a_node_are_checked(void)
{
    struct leat_atm_node_link_config link = { .labels = { 0, 0, 32, 40 } };
    struct leat_atm_node_config c = {
        .link_count = 1, .link = &link, .calls_max = 1, .half_calls_max = 1
    };
    struct leat_atm_node *node = NULL;
    EQ(leat_atm_node_check(&c), LEAT_ERR_RANGE); /* the CAC has no capacity */
    link.cac = (struct leat_atm_cac_link_config){
        .capacity = LEAT_ATM_CONTRACT_RATE_MAX,
        .queue = { 4, 8, { { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 } } }
    };
    EQ(leat_atm_node_check(&c), LEAT_ERR_OK);
    EQ(leat_atm_node_init(w.memory[0], leat_atm_node_footprint(&c) - 1, &c, &node),
       LEAT_ERR_MEMORY);
    EQ(leat_atm_node_init(w.memory[0] + 1, MEMORY_LEN - 1, &c, &node), LEAT_ERR_MEMORY);
    link.side = LEAT_ATM_CALL_NETWORK;
    link.labels.vci_min = 5;
    EQ(leat_atm_node_check(&c), LEAT_ERR_RANGE);
    c.link_count = 0;
    EQ(leat_atm_node_check(&c), LEAT_ERR_RANGE);
    OK(!node);
}

/* ---- the campaign --------------------------------------------------------------------------- */

/* One of its calls, or a free place. */
static struct user_call *pick(unsigned user)
{
    const uint64_t from = leat_random_below(&w.r, CALLS), fresh = leat_random_below(&w.r, 3);
    for (uint64_t i = 0; i < CALLS; i++) {
        struct user_call *c = &w.user[user].call[(from + i) % CALLS];
        if (c->used == (fresh > 0)) return c;
    }
    return &w.user[user].call[from];
}

/* A user does something at random with one of its calls, or begins one. */
static void poke(unsigned user)
{
    struct user_call *c = pick(user);
    const unsigned called = (unsigned)leat_random_below(&w.r, USERS + 1);
    const uint64_t what = leat_random_below(&w.r, 8);
    if (!c->used) {
        if (what < 3) user_calls(user, called, what == 0);
        return;
    }
    if (what == 0) {
        call_do(user, c, LEAT_ATM_CALL_DO_RELEASE);
    } else if (c->call.state != LEAT_ATM_CALL_ACTIVE) {
        call_do(user, c, what < 4 ? LEAT_ATM_CALL_DO_PROCEED : LEAT_ATM_CALL_DO_CONNECT);
    } else if (c->multipoint) {
        struct user_party *p = &c->party[leat_random_below(&w.r, PARTIES)];
        if (c->ours && !p->used)
            user_adds(user, c, called);
        else if (p->used)
            party_step(user, c, p, 0,
                       &(struct leat_atm_party_in){ .event = what < 3 ? LEAT_ATM_PARTY_DO_DROP
                                                                      : LEAT_ATM_PARTY_DO_ACCEPT,
                                                    .cause = 16 });
    }
}

/* Whoever has a call ends it, until nobody has one. */
static void end_all(void)
{
    for (unsigned round = 0; round < 200; round++) {
        bool any = false;
        for (unsigned u = 0; u < USERS; u++) {
            for (unsigned i = 0; i < CALLS; i++) {
                any |= w.user[u].call[i].used;
                if (w.user[u].call[i].used)
                    call_do(u, &w.user[u].call[i], LEAT_ATM_CALL_DO_RELEASE);
            }
        }
        for (unsigned i = 0; i < NODES; i++)
            any |= leat_atm_node_counts(w.node[i])->calls != 0;
        if (!any) return;
        run_ms(100000);
    }
}

/* All messages arrive. What waits for a user waits on. */
static void settle(void)
{
    while (w.count)
        run_ms(1);
}

/* All users with an active party are reached; users whose only party waits for them may be too. */
static void check_tree(unsigned user, const struct user_call *c)
{
    const unsigned reached = reached_by(user, c);
    unsigned active = 0, others = 0;
    for (unsigned k = 0; k < PARTIES; k++) {
        const struct user_party *p = &c->party[k];
        if (p->used && p->party.state == LEAT_ATM_PARTY_ACTIVE) active |= 1u << p->called;
        if (p->used && p->party.state == LEAT_ATM_PARTY_ADD_INITIATED) others |= 1u << p->called;
    }
    EQ(active & ~reached, 0);
    EQ(reached & ~(active | others), 0);
}

/* Once nothing is lost: every active call of one party reaches one user, and that one back. */
static void check_paths(void)
{
    for (unsigned u = 0; u < USERS; u++) {
        for (unsigned i = 0; i < CALLS; i++) {
            const struct user_call *c = &w.user[u].call[i];
            if (!c->used || c->call.state != LEAT_ATM_CALL_ACTIVE) continue;
            if (!c->multipoint && c->ours) EQ(reached_by(u, c), 1u << c->called);
            if (!c->multipoint && !c->ours) EQ(__builtin_popcount(reached_by(u, c)), 1);
            if (c->multipoint && c->ours) check_tree(u, c);
        }
    }
}

static void play(uint64_t seed, uint64_t loss_percent, unsigned labels, unsigned rate, long pokes)
{
    world_init(seed, loss_percent, labels, rate);
    for (long i = 0; i < pokes; i++) {
        poke((unsigned)leat_random_below(&w.r, USERS));
        run_ms((unsigned)leat_random_below(&w.r, loss_percent ? 400 : 20));
        if (i % 64 == 63 && !loss_percent) {
            settle();
            check_paths();
        }
    }
    if (loss_percent) { /* the audits put right what was lost */
        w.loss_percent = 0;
        run_ms(1000000);
        settle();
        check_paths();
        w.loss_percent = loss_percent;
    }
    end_all();
    is_empty(labels);
    unsigned active = 0;
    for (unsigned u = 0; u < USERS; u++)
        active += w.active[u];
    OK(active >= pokes / 400); /* many calls were answered */
}

static void no_label_leaks_after_any_sequence_of_calls(void)
{
    const uint64_t seed = tap_seed();
    play(seed, 0, 40, 100, LEAT_ROUNDS / 60); /* room for all */
    play(seed + 1, 0, 5, 100, LEAT_ROUNDS / 60);
    play(seed + 2, 0, 40, 6, LEAT_ROUNDS / 60);
}

static void no_label_leaks_where_messages_are_lost(void)
{
    const uint64_t seed = tap_seed();
    play(seed, 2, 40, 100, LEAT_ROUNDS / 60);
    play(seed + 1, 20, 6, 10, LEAT_ROUNDS / 60);
}

TAP_MAIN(T(a_call_goes_through_three_nodes_and_back),
         T(calls_without_route_rate_or_label_are_refused_with_the_cause),
         T(a_busy_user_ends_the_call_of_the_caller),
         T(parties_share_labels_and_rates_where_their_ways_are_one),
         T(parties_that_cannot_be_reached_are_rejected_and_the_others_stay),
         T(broken_messages_and_setups_are_answered_or_ignored), T(limits_of_a_node_are_checked),
         T(no_label_leaks_after_any_sequence_of_calls), T(no_label_leaks_where_messages_are_lost))
