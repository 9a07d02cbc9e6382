/*
 * Keyed groups and an attacker without the key: it receives every packet, stores all of them, and
 * replays them at any time and in any name. Members and root are the engines, the packets are
 * octets; a plain model beside them keeps account of who may be a member.
 */
#include "esp_service.h"
#include "tap.h"
#include <string.h>

enum {
    GROUP = 3,
    HOSTS = 6,
    STRANGERS = 20, /* unassigned addresses */
    MEMBERS_MAX = 64,
    PROCESSES = 4096,
    RECEIVED_MAX = 1 << 15,
    LETTER_MAX = 128,
    CAMPAIGN = LEAT_ROUNDS / 200 + 2000,
};

static const leat_time ms = 1000000000, second = 1000000000000;
static const uint8_t group_key[LEAT_ESP_KEY_LEN] = { 9, 8, 7, 6, 5, 4, 3, 2, 1 };

/* A packet in flight. */
struct letter {
    struct leat_esp_next from, to;
    uint8_t octets[LETTER_MAX];
    size_t len;
    unsigned process; /* whose JOIN it is */
    bool has_come;
};

/* A member's process, as an omniscient observer sees it. */
struct process {
    uint64_t id;
    unsigned host;
    bool lives, has_left; /* ... and its farewell has arrived */
    leat_time until;      /* it may be known before this time */
};

struct world {
    struct leat_esp_service root;
    uint8_t challenge_key[LEAT_ESP_KEY_LEN];
    struct leat_esp_member member[HOSTS];
    unsigned process_of[HOSTS];
    struct process process[PROCESSES];
    unsigned processes;
    leat_time now;
    struct letter received[RECEIVED_MAX]; /* by the attacker */
    unsigned received_count;
    unsigned loss; /* of 100 packets */
    uint64_t welcomed[256];
    struct leat_random random;
    _Alignas(max_align_t) uint8_t memory[1 << 17];
};

static struct leat_esp_next address_of(unsigned i)
{
    return (struct leat_esp_next){ .address = { [10] = 255, 255, 10, 0, 0, (uint8_t)i },
                                   .port = LEAT_ESP_UDP_PORT };
}

static const struct leat_esp_next root_address = { .address = { [15] = 255 } };

/* Starts a root; an earlier one is forgotten. */
static void begin_root(struct world *w, bool keyed)
{
    leat_random_fill(&w->random, w->challenge_key, sizeof w->challenge_key);
    struct leat_esp_service_config config = { .group = GROUP,
                                              .node = { .id = 1, .seed = 2, .tau = 1000 * ms },
                                              .members_max = MEMBERS_MAX,
                                              .serial = 1000 + w->now / ms,
                                              .welcomes = true,
                                              .challenge_key = keyed ? w->challenge_key : NULL };
    config.seed = leat_random_next(&w->random);
    OK(leat_esp_service_footprint(&config) <= sizeof w->memory);
    leat_esp_service_init(&w->root, &config, w->memory);
}

static void open_world(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    leat_random_seed(&w->random, seed);
    w->now = second;
    begin_root(w, true);
}

/* Starts a member's process at a host. */
static void begin_member(struct world *w, unsigned host)
{
    struct leat_esp_member_config config = { .group = GROUP,
                                             .join_every_ps = 20 * ms,
                                             .is_keyed = true };
    config.id = leat_random_next(&w->random) | 1;
    w->process[w->processes] = (struct process){ .id = config.id, .host = host, .lives = true };
    w->process_of[host] = w->processes++;
    leat_esp_member_init(&w->member[host], &config, w->now);
}

static bool lives(const struct world *w, unsigned host)
{
    return w->processes && w->process[w->process_of[host]].host == host &&
           w->process[w->process_of[host]].lives;
}

/* ---- packets in flight ----------------------------------------------------------------------- */

static bool is_same(const struct leat_esp_next *a, const struct leat_esp_next *b)
{
    return memcmp(a->address, b->address, sizeof a->address) == 0 && a->port == b->port;
}

static struct letter *keep(struct world *w, const struct leat_esp_post *post,
                           const struct leat_esp_next *from, const struct leat_esp_next *to)
{
    struct letter *l = &w->received[w->received_count++ % RECEIVED_MAX];
    *l = (struct letter){ .from = *from, .to = *to };
    EQ(leat_esp_post_encode(post, group_key, l->octets, sizeof l->octets, &l->len), LEAT_ERR_OK);
    return l;
}

/* The model: a JOIN that arrives for the first time, from where it was sent, is valid once. */
static void note(struct world *w, struct letter *l, const struct leat_esp_next *from,
                 const struct leat_esp_join *join)
{
    struct process *p = &w->process[l->process];
    if (l->has_come || !is_same(from, &l->from)) return;
    l->has_come = true;
    if (!join->lifetime_ms) p->has_left = true;
    if (w->now + join->lifetime_ms * ms > p->until) p->until = w->now + join->lifetime_ms * ms;
}

/* How any host handles octets, whoever sent them and whatever sender they name. */
static void arrive(struct world *w, struct letter *l, const struct leat_esp_next *from)
{
    struct leat_esp_management m;
    EQ(leat_esp_management_decode(l->octets, l->len, group_key, &m, NULL), LEAT_ERR_OK);
    if (is_same(&l->to, &root_address)) {
        if (m.opcode != LEAT_ESP_JOIN) return;
        note(w, l, from, &m.join);
        leat_esp_service_join(&w->root, w->now, from, &m.join);
        return;
    }
    for (unsigned host = 0; host < HOSTS; host++) {
        const struct leat_esp_next here = address_of(host);
        if (!lives(w, host) || !is_same(&l->to, &here)) continue;
        if (m.opcode == LEAT_ESP_WELCOME)
            leat_esp_member_welcome(&w->member[host], w->now, &m.welcome);
    }
}

static void send(struct world *w, struct letter *l)
{
    if (leat_random_below(&w->random, 100) >= w->loss) arrive(w, l, &l->from);
}

static void send_join(struct world *w, unsigned host, struct leat_esp_post *post)
{
    const struct leat_esp_next here = address_of(host);
    EQ(post->opcode, LEAT_ESP_JOIN);
    if (post->opcode != LEAT_ESP_JOIN) return;
    post->join.from = here;
    struct letter *l = keep(w, post, &here, &root_address);
    l->process = w->process_of[host];
    send(w, l);
}

/* Sends everything that is due, and handles the consequences. */
static void pump(struct world *w)
{
    struct leat_esp_post post;
    for (bool again = true; again;) {
        again = false;
        for (unsigned host = 0; host < HOSTS; host++)
            while (lives(w, host) && leat_esp_member_next(&w->member[host], w->now, &post)) {
                again = true;
                send_join(w, host, &post);
            }
        while (leat_esp_service_next(&w->root, w->now, &post)) {
            again = true;
            w->welcomed[post.to.address[15]]++;
            send(w, keep(w, &post, &root_address, &post.to));
        }
    }
}

static void pass(struct world *w, leat_time ps)
{
    for (const leat_time until = w->now + ps; w->now < until; w->now += ms)
        pump(w);
}

static void end_member(struct world *w, unsigned host, bool says_so)
{
    struct leat_esp_post post;
    if (says_so) {
        leat_esp_member_leave(&w->member[host], &post);
        send_join(w, host, &post);
    }
    w->process[w->process_of[host]].lives = false;
}

/* How many members the root would query now. */
static unsigned known(const struct world *w)
{
    unsigned count = 0;
    for (unsigned i = 0; i < w->root.roster.count; i++)
        count += w->now < w->root.roster.entry[i].until;
    return count;
}

static bool knows(const struct world *w, unsigned host)
{
    const struct leat_esp_next here = address_of(host);
    const struct leat_esp_roster_entry *entry = leat_esp_roster_find(&w->root.roster, &here);
    return entry && w->now < entry->until && entry->id == w->member[host].config.id;
}

/* ---- the attacker ---------------------------------------------------------------------------- */

/* Replays everything recorded from `first` on, in the name of `from`, or of the sender. */
static void play_again(struct world *w, unsigned first, const struct leat_esp_next *from)
{
    const unsigned end = w->received_count;
    OK(end <= RECEIVED_MAX);
    for (unsigned i = first; i < end; i++)
        arrive(w, &w->received[i], from ? from : &w->received[i].from);
}

static void a_member_is_known_by_its_second_join(void)
{
    static struct world w;
    open_world(&w, 1);
    begin_member(&w, 0);
    struct leat_esp_post post;
    OK(leat_esp_member_next(&w.member[0], w.now, &post));
    EQ(post.join.serial, 1);
    EQ(post.join.challenge, 0);
    send_join(&w, 0, &post);
    EQ(w.root.roster.count, 0); /* not before it has proved its presence */
    EQ(w.root.unproven, 1);
    EQ(w.member[0].welcomed, 0);
    pump(&w);
    OK(knows(&w, 0));
    EQ(w.member[0].serial, 2); /* at once */
    EQ(w.member[0].welcomed, 2);
    EQ(w.member[0].welcomed_at, w.now);
    pass(&w, 100 * ms);
    OK(knows(&w, 0));
    EQ(w.root.unproven, 1);
    EQ(w.root.replayed + w.root.forged + w.root.refused + w.member[0].refused, 0);
}

static void one_join_from_twenty_sources_makes_no_member_more(void)
{
    static struct world w;
    open_world(&w, 2);
    begin_member(&w, 0);
    begin_member(&w, 1);
    pass(&w, 50 * ms);
    EQ(known(&w), 2);
    const unsigned received = w.received_count;
    for (unsigned i = 0; i < STRANGERS; i++) {
        const struct leat_esp_next stranger = address_of(100 + i);
        w.received_count = received;
        play_again(&w, 0, &stranger);
        pump(&w);
        EQ(w.welcomed[100 + i], 0); /* no answer without a request */
    }
    OK(w.root.forged >= STRANGERS);
    EQ(known(&w), 2);
    EQ(w.root.roster.count, 2);
}

static void a_farewell_that_is_played_again_removes_nobody(void)
{
    static struct world w;
    struct leat_esp_post post;
    open_world(&w, 3);
    begin_member(&w, 0);
    begin_member(&w, 1);
    pass(&w, 30 * ms);
    end_member(&w, 1, true);
    EQ(known(&w), 1);
    begin_member(&w, 1); /* another process at the same address */
    pass(&w, 30 * ms);
    EQ(known(&w), 2);
    play_again(&w, 0, NULL);
    EQ(known(&w), 2);
    OK(knows(&w, 0) && knows(&w, 1));
    /* The same one leaves, and joins again. */
    leat_esp_member_leave(&w.member[0], &post);
    send_join(&w, 0, &post);
    EQ(known(&w), 1);
    pass(&w, 30 * ms);
    EQ(known(&w), 2);
    const uint64_t replayed = w.root.replayed;
    play_again(&w, 0, NULL);
    EQ(known(&w), 2);
    OK(knows(&w, 0) && knows(&w, 1));
    OK(w.root.replayed > replayed);
}

static void a_member_that_has_left_does_not_come_back(void)
{
    static struct world w;
    open_world(&w, 4);
    begin_member(&w, 0);
    begin_member(&w, 1);
    pass(&w, 30 * ms);
    end_member(&w, 1, true);
    EQ(known(&w), 1);
    for (unsigned i = 0; i < 20; i++) { /* also when the root has forgotten it */
        pass(&w, 10 * ms);
        if (i == 10) leat_esp_roster_expire(&w.root.roster, w.now);
        play_again(&w, 0, NULL);
        EQ(known(&w), 1);
    }
    EQ(w.root.roster.count, 1);
    end_member(&w, 0, false); /* without a farewell: as long as its last JOIN says */
    pass(&w, 100 * ms);
    leat_esp_roster_expire(&w.root.roster, w.now);
    play_again(&w, 0, NULL);
    EQ(known(&w), 0);
}

/* A farewell counts although its root never knew the member. */
static void a_join_that_is_held_back_is_worth_nothing_after_a_farewell(void)
{
    static struct world w;
    struct leat_esp_post post;
    open_world(&w, 11);
    begin_member(&w, 0);
    OK(leat_esp_member_next(&w.member[0], w.now, &post));
    send_join(&w, 0, &post);
    OK(leat_esp_service_next(&w.root, w.now, &post));
    send(&w, keep(&w, &post, &root_address, &post.to));
    OK(leat_esp_member_next(&w.member[0], w.now, &post));
    OK(post.join.challenge != 0);
    w.loss = 100;
    const unsigned held = w.received_count;
    send_join(&w, 0, &post);
    w.loss = 0;
    end_member(&w, 0, true);
    arrive(&w, &w.received[held], &w.received[held].from);
    EQ(known(&w), 0);
    EQ(w.root.unproven, 2);
}

static void nothing_from_before_a_roots_restart_counts(void)
{
    static struct world w;
    open_world(&w, 5);
    for (unsigned host = 0; host < 4; host++)
        begin_member(&w, host);
    pass(&w, 50 * ms);
    EQ(known(&w), 4);
    end_member(&w, 2, false);
    end_member(&w, 3, true);
    begin_root(&w, true);
    play_again(&w, 0, NULL);
    EQ(known(&w), 0);
    OK(w.root.unproven > 0);
    pass(&w, 30 * ms); /* live members join again by themselves */
    EQ(known(&w), 2);
    OK(knows(&w, 0) && knows(&w, 1));
    play_again(&w, 0, NULL);
    EQ(known(&w), 2);
}

static void an_old_welcome_changes_nothing(void)
{
    static struct world w;
    open_world(&w, 6);
    begin_member(&w, 0);
    pass(&w, 50 * ms);
    begin_root(&w, true);
    pass(&w, 30 * ms);
    OK(knows(&w, 0));
    const struct leat_esp_member before = w.member[0];
    for (unsigned i = 0; i < w.received_count; i++)
        if (!is_same(&w.received[i].to, &root_address))
            arrive(&w, &w.received[i], &w.received[i].from);
    EQ(w.member[0].challenge, before.challenge);
    EQ(w.member[0].join_at, before.join_at);
    OK(w.member[0].refused > before.refused);
    /* Nor does one for another member, or about a JOIN that was never sent. */
    struct leat_esp_welcome odd = { .group = GROUP, .member = before.config.id };
    odd.serial = before.serial + 1;
    OK(!leat_esp_member_welcome(&w.member[0], w.now, &odd));
    odd.serial = before.serial;
    odd.member++;
    OK(!leat_esp_member_welcome(&w.member[0], w.now, &odd));
    odd.member--;
    odd.group++;
    OK(!leat_esp_member_welcome(&w.member[0], w.now, &odd));
}

static void what_was_announced_before_a_member_joined_is_ignored(void)
{
    static struct world w;
    struct leat_esp_announce a = { .group = GROUP,
                                   .serial = 5,
                                   .rounds = 1,
                                   .task = { .opcode = LEAT_ESP_COUNT, .compValTag = 1 } };
    open_world(&w, 7);
    begin_member(&w, 0);
    OK(!leat_esp_member_announced(&w.member[0], w.now, 1, &a)); /* it may be anybody's copy */
    EQ(w.member[0].refused, 1);
    pump(&w);
    EQ(w.member[0].forgotten, w.root.serial);
    OK(!leat_esp_member_announced(&w.member[0], w.now, 1, &a));
    a.serial = w.root.serial;
    OK(!leat_esp_member_announced(&w.member[0], w.now, 1, &a));
    a.serial = w.root.serial + 1;
    OK(leat_esp_member_announced(&w.member[0], w.now, 1, &a));
    /* A member that joins during an announcement takes part in it. */
    struct leat_esp_request census = { .kind = LEAT_ESP_SERVICE_CENSUS,
                                       .value_bits = 64,
                                       .rounds = 1,
                                       .attempts = 1,
                                       .copies = 1,
                                       .settle_ps = 20 * ms,
                                       .gap_ps = ms };
    struct leat_text why = LEAT_TEXT(128);
    EQ(leat_esp_service_begin(&w.root, w.now, &census, &why), LEAT_ERR_OK);
    const uint64_t first = w.root.first_serial;
    begin_member(&w, 1);
    struct leat_esp_post post;
    OK(leat_esp_member_next(&w.member[1], w.now, &post));
    send_join(&w, 1, &post);
    OK(leat_esp_service_next(&w.root, w.now, &post));
    EQ(post.opcode, LEAT_ESP_WELCOME);
    EQ(post.welcome.announced, first - 1);
}

static uint64_t count_welcomes(struct world *w)
{
    struct leat_esp_post post;
    uint64_t count = 0;
    while (leat_esp_service_next(&w->root, w->now, &post))
        count += post.opcode == LEAT_ESP_WELCOME;
    return count;
}

static void a_join_is_answered_once(void)
{
    static struct world w;
    uint64_t all = 0;
    open_world(&w, 8);
    begin_member(&w, 0);
    w.loss = 100; /* nothing arrives: the first JOIN stays the first */
    pump(&w);
    EQ(w.received_count, 1);
    for (unsigned i = 0; i < 10000; i++) {
        arrive(&w, &w.received[0], &w.received[0].from);
        all += count_welcomes(&w);
        w.now += ms;
    }
    EQ(all, 1);
    EQ(w.root.unproven, 1);
    EQ(w.root.replayed, 9999);
    EQ(w.root.unanswered, 0);
}

/* In a group without a key, where every JOIN is believed. */
static void one_address_gets_few_welcomes(void)
{
    static struct world w;
    const struct leat_esp_next from = address_of(1);
    struct leat_esp_join join = { .group = GROUP, .member = 7, .lifetime_ms = 1 };
    uint64_t all = 0;
    open_world(&w, 12);
    begin_root(&w, false);
    for (join.serial = 1; join.serial <= 10000; join.serial++) {
        OK(leat_esp_service_join(&w.root, w.now, &from, &join));
        all += count_welcomes(&w);
    }
    EQ(all, LEAT_ESP_WELCOMES_PER_SOURCE);
}

/*
 * Replays all that one member sent to earlier roots, from its own address, `per_ms` copies a
 * millisecond in turn: the member is known as soon as without an attack, by the second JOIN that it
 * sends.
 */
static void copies_keep_nobody_out(unsigned per_ms)
{
    static struct world w;
    open_world(&w, 13 + per_ms);
    begin_member(&w, 0);
    pass(&w, 500 * ms);
    for (unsigned life = 0; life < 3; life++) { /* also of processes that have ended */
        end_member(&w, 0, life % 2);
        begin_member(&w, 0);
        pass(&w, 300 * ms);
    }
    OK(knows(&w, 0));
    const unsigned received = w.received_count;
    unsigned next = 0;
    begin_root(&w, true);
    w.member[0].join_at = w.now + 30 * ms; /* the attacker is the first */
    for (unsigned i = 0; i < 40; i++, w.now += ms) {
        for (unsigned sent = 0; sent < per_ms; next = (next + 1) % received) {
            struct letter *l = &w.received[next];
            if (!is_same(&l->to, &root_address)) continue;
            arrive(&w, l, &l->from);
            count_welcomes(&w);
            sent++;
        }
        pump(&w);
    }
    OK(knows(&w, 0));
    EQ(known(&w), 1);
    EQ(w.root.unanswered, 0);
}

static void copies_of_old_joins_do_not_keep_their_member_out(void)
{
    copies_keep_nobody_out(5);
    copies_keep_nobody_out(100);
}

/* More than the root answers in a second, all of them genuine: the result reports that members may
 * be missing. */
static void joins_that_are_not_answered_leave_a_doubt(void)
{
    static struct world w;
    struct leat_esp_join join = { .group = GROUP, .lifetime_ms = 3000 };
    join.from = address_of(1);
    uint64_t all = 0;
    open_world(&w, 14);
    for (join.member = 1; join.member <= LEAT_ESP_WELCOMES_PER_S; join.member++) {
        OK(!leat_esp_service_join(&w.root, w.now, &join.from, &join));
        all += count_welcomes(&w);
    }
    EQ(w.root.unanswered, 0);
    EQ(w.root.doubt_until, 0);
    OK(!leat_esp_service_join(&w.root, w.now, &join.from, &join));
    EQ(w.root.unanswered, 1);
    EQ(w.root.doubt_until, w.now + 3 * second);
    /* It asks again a second later, and is answered; so are thousands more. */
    for (unsigned i = 0; i < 4 * LEAT_ESP_MARKED_MAX; i++, w.now += ms, join.member++) {
        if (i == 0) w.now += second;
        leat_esp_service_join(&w.root, w.now, &join.from, &join);
        all += count_welcomes(&w);
    }
    EQ(w.root.unanswered, 1);
    EQ(all + w.root.replayed, LEAT_ESP_WELCOMES_PER_S + 4 * LEAT_ESP_MARKED_MAX);
    OK(w.root.replayed < 4 * LEAT_ESP_MARKED_MAX / 400);
}

/* In a group without a key, where every JOIN is believed. */
static void all_addresses_together_get_few_welcomes(void)
{
    static struct world w;
    const struct leat_esp_join join = {
        .group = GROUP, .member = 7, .serial = 1, .lifetime_ms = 1
    };
    uint64_t all = 0;
    open_world(&w, 9);
    begin_root(&w, false);
    for (unsigned i = 0; i < 100000; i++) {
        struct leat_esp_next from = address_of(i);
        from.address[14] = (uint8_t)(i >> 8);
        from.address[13] = (uint8_t)(i >> 16);
        leat_esp_service_join(&w.root, w.now, &from, &join);
        all += count_welcomes(&w);
        if (w.root.roster.count == MEMBERS_MAX)
            leat_esp_roster_expire(&w.root.roster, LEAT_NEVER - 1);
    }
    EQ(all, LEAT_ESP_WELCOMES_PER_S);
    /* The next second has its own. */
    const struct leat_esp_next from = address_of(1);
    w.now += second;
    OK(leat_esp_service_join(&w.root, w.now, &from, &join));
    EQ(count_welcomes(&w), 1);
}

static void a_welcome_is_shorter_than_a_join(void)
{
    struct leat_esp_post post = { .opcode = LEAT_ESP_WELCOME };
    uint8_t octets[LETTER_MAX];
    size_t len = 0, join_len = 0;
    EQ(leat_esp_post_encode(&post, NULL, octets, sizeof octets, &len), LEAT_ERR_OK);
    post = (struct leat_esp_post){ .opcode = LEAT_ESP_JOIN };
    EQ(leat_esp_post_encode(&post, NULL, octets, sizeof octets, &join_len), LEAT_ERR_OK);
    OK(len < join_len);
}

static void without_a_key_joins_are_believed(void)
{
    static struct world w;
    open_world(&w, 10);
    begin_root(&w, false);
    begin_member(&w, 0);
    w.member[0].config.is_keyed = false;
    struct leat_esp_post post;
    OK(leat_esp_member_next(&w.member[0], w.now, &post));
    send_join(&w, 0, &post);
    OK(knows(&w, 0));
    pump(&w);
    EQ(w.member[0].serial, 1);
    EQ(w.member[0].welcomed_at, w.now);
    const struct leat_esp_next elsewhere = address_of(77);
    arrive(&w, &w.received[0], &elsewhere);
    EQ(known(&w), 2);
}

/* ---- everything at once ---------------------------------------------------------------------- */

/* There is no member that may not be one. */
static void check_sound(const struct world *w)
{
    for (unsigned i = 0; i < w->root.roster.count; i++) {
        const struct leat_esp_roster_entry *entry = &w->root.roster.entry[i];
        if (w->now >= entry->until) continue;
        const struct process *p = NULL;
        for (unsigned k = 0; k < w->processes; k++)
            if (w->process[k].id == entry->id) p = &w->process[k];
        OK(p);
        if (!p) continue;
        const struct leat_esp_next here = address_of(p->host);
        OK(is_same(&here, &entry->address));
        OK(!p->has_left);
        OK(entry->until <= p->until);
    }
}

/* Replays anything it has recorded, or only what its receiver has had before. */
static void attack(struct world *w, bool copies_only)
{
    if (!w->received_count) return;
    const unsigned kept = w->received_count < RECEIVED_MAX ? w->received_count : RECEIVED_MAX;
    struct letter *l = &w->received[leat_random_below(&w->random, kept)];
    const struct leat_esp_next stranger = address_of(
        (unsigned)leat_random_below(&w->random, HOSTS + STRANGERS));
    const bool is_late = is_same(&l->to, &root_address) && !l->has_come;
    if (copies_only && is_late) return;
    arrive(w, l, leat_random_below(&w->random, 3) ? &l->from : &stranger);
}

static void live(struct world *w)
{
    const unsigned host = (unsigned)leat_random_below(&w->random, HOSTS);
    const unsigned what = (unsigned)leat_random_below(&w->random, 40);
    if (what == 0) begin_root(w, true);
    if (what == 1) leat_esp_roster_expire(&w->root.roster, w->now);
    if (what < 2 || what >= 10 || w->processes == PROCESSES) return;
    if (!lives(w, host))
        begin_member(w, host);
    else if (what < 6)
        end_member(w, host, what < 4);
}

static void an_attacker_without_the_key_changes_nobodys_membership(void)
{
    static struct world w;
    open_world(&w, tap_seed());
    for (unsigned round = 0; round < CAMPAIGN && !tap_checks_failed; round++) {
        w.loss = round / 100 % 2 ? 30 : 0;
        live(&w);
        attack(&w, false);
        check_sound(&w);
        pump(&w);
        check_sound(&w);
        w.now += ms * (1 + leat_random_below(&w.random, 6));
        if (round % 100) continue;
        /* Without loss, every live member is known, whatever is replayed. (What was held back may
         * come from a former member: it counts once.) */
        w.loss = 0;
        for (unsigned i = 0; i < 25; i++, w.now += ms) {
            attack(&w, true);
            pump(&w);
        }
        for (unsigned host = 0; host < HOSTS; host++)
            if (lives(&w, host)) OK(knows(&w, host));
    }
}

TAP_MAIN(T(a_member_is_known_by_its_second_join),
         T(one_join_from_twenty_sources_makes_no_member_more),
         T(a_farewell_that_is_played_again_removes_nobody),
         T(a_member_that_has_left_does_not_come_back),
         T(a_join_that_is_held_back_is_worth_nothing_after_a_farewell),
         T(nothing_from_before_a_roots_restart_counts), T(an_old_welcome_changes_nothing),
         T(what_was_announced_before_a_member_joined_is_ignored), T(a_join_is_answered_once),
         T(one_address_gets_few_welcomes), T(copies_of_old_joins_do_not_keep_their_member_out),
         T(joins_that_are_not_answered_leave_a_doubt), T(all_addresses_together_get_few_welcomes),
         T(a_welcome_is_shorter_than_a_join), T(without_a_key_joins_are_believed),
         T(an_attacker_without_the_key_changes_nobodys_membership))
