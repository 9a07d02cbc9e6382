/* Keyed control messages: what is sent, who is trusted, and that each is accepted once. */
#include "leat_bytes.h"
#include "packetway_auth.h"
#include "packetway_vectors_test.h"
#include "packetway_wire.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

#define Z "0000000000000000"

static const uint8_t key[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
static const struct leat_packetway_block block = { .bias = 0x100, .count = 255 };
static const uint64_t now = UINT64_C(1900000000000000000), second = 1000000000;
/* T18 of the spec: HRTO, 0x101 to 0x102. */
static const char hrto[] = "00000102001a0001 0000000100000101 2900000001000201" Z;

static struct leat_packetway_auth alice, bob;
static uint8_t message[VECTOR_LEN_MAX], sealed[VECTOR_LEN_MAX], got[VECTOR_LEN_MAX];
static struct leat_packetway_hop from_alice, at_bob;

static void init(struct leat_packetway_auth *auth, const uint8_t *one)
{
    const struct leat_keys keys = leat_keys_of(one, NULL);
    leat_packetway_auth_init(auth, &keys);
}

static void begin(void)
{
    init(&alice, key);
    init(&bob, key);
    from_alice = (struct leat_packetway_hop){
        .me = 0x101, .to = 0x102, .link = 0x020000000101, .now = now, .block = &block
    };
    at_bob = from_alice;
    at_bob.me = 0x102;
}

/* Alice seals it; returns the new length. */
static uint32_t seal(const char *hex)
{
    const uint32_t len = (uint32_t)unhex(hex, message);
    return leat_packetway_auth_seal(&alice, &from_alice, message, len, sealed);
}

/* Bob receives it, as it was sealed. */
static bool open(uint32_t len)
{
    memcpy(got, sealed, len);
    return leat_packetway_auth_open(&bob, &at_bob, got, &len);
}

static uint64_t refused(const struct leat_packetway_auth *a)
{
    uint64_t sum = 0;
#define X(id, text) sum += a->counts.id;
    LEAT_PACKETWAY_AUTH_COUNT_LIST(X)
#undef X
    return sum;
}

/* The octets come from an independent program (SipHash from its paper, in another language). */
static void the_field_is_what_the_readme_says(void)
{
    static const char want[] = "00000102001a0001 0000000180000101 7e16000101000102 0102030405060708"
                               "ff661f1800795981 2900000001000201" Z;
    static const char routed[] = "0085010102030000 00000103001a0001 0000000180000101"
                                 "6100000000000000 2900000001000201" Z;
    static const char routed_want[] = "0085010102030000 00000103001a0001 0000000180000101"
                                      "3e16000101000102 0000000000000007 d9c1b35195841b4d"
                                      "6100000000000000 2900000001000201" Z;
    uint8_t octets[VECTOR_LEN_MAX];
    begin();
    from_alice.now = UINT64_C(0x0102030405060708);
    EQ(seal(hrto), unhex(want, octets));
    OK(memcmp(sealed, octets, 56) == 0);
    begin();
    from_alice.now = 7;
    from_alice.link = 0;
    EQ(seal(routed), unhex(routed_want, octets));
    OK(memcmp(sealed, octets, 72) == 0);
    uint32_t at = 0;
    OK(leat_packetway_is_control(sealed, 72, &at) && at == 8);
    OK(leat_packetway_auth_is_there(sealed, 72, 8));
    OK(!leat_packetway_auth_is_there(octets, 32, 8)); /* cut off */
}

/* Data is not keyed, nor a type that nobody knows. */
static void three_types_of_messages_are_keyed(void)
{
    for (uint32_t pt = 0; pt <= UINT16_MAX; pt++) {
        const bool keyed = pt == 1 || pt == 2 || pt == 0xFFFF; /* RRP, EMBEDDED, ERR */
        EQ(leat_packetway_pt_is_keyed((uint16_t)pt), keyed);
    }
}

static void a_sealed_message_is_a_message_whose_field_others_ignore(void)
{
    static struct leat_packetway_message m;
    begin();
    const uint32_t len = seal(hrto);
    EQ(leat_packetway_message_decode(sealed, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION,
                                     &m, NULL),
       LEAT_ERR_OK);
    EQ(m.oh_count, 1);
    EQ(m.oh[0].type, LEAT_PACKETWAY_OH_CRYPTOGRAPHIC);
    EQ(m.oh[0].len, LEAT_PACKETWAY_AUTH_L);
    OK(!m.oh[0].mandatory);
    EQ(m.data_len, 8);
}

static void what_is_opened_is_what_was_sealed(void)
{
    static const char *const control[] = {
        hrto,
        "0085010102030000 00000103001a0001 0000000180000101 6100000000000000 2900000001000201" Z,
        "00000102001a0001 0000000180000101 6100000000000000 2900000001000201 000000000000000a",
        "000001020047ffff 0000000100000101 29000000010002ff" Z,                    /* ERR */
        "0000010200000002 0000000300000101 00000102001a0001 0000000000000101" Z Z, /* EMBEDDED */
    };
    static const char *const data[] = {
        "0000010200000052 0600000200000101 0102030405060708 090a0b0c0d000000" Z,
        "0085010102030000 0000010300010400 0000000000000101" Z,
        "0000010200000052 0000000080000101 6100000000000000" Z, /* with an OH field */
    };
    begin();
    for (size_t i = 0; i < sizeof control / sizeof *control; i++) {
        uint32_t len = seal(control[i]);
        const uint32_t plain = (uint32_t)unhex(control[i], message);
        EQ(len, plain + LEAT_PACKETWAY_AUTH_LEN);
        memcpy(got, sealed, len);
        OK(leat_packetway_auth_open(&bob, &at_bob, got, &len));
        EQ(len, plain);
        OK(memcmp(got, message, plain) == 0);
    }
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        EQ(seal(data[i]), 0);
        uint32_t len = (uint32_t)unhex(data[i], got);
        OK(leat_packetway_auth_open(&bob, &at_bob, got, &len));
        EQ(len, unhex(data[i], message));
        OK(memcmp(got, message, len) == 0);
    }
    EQ(refused(&bob), 0);
}

static void without_a_key_nothing_changes_and_keyed_messages_are_counted(void)
{
    begin();
    const uint32_t len = seal(hrto);
    init(&bob, NULL);
    EQ(leat_packetway_auth_seal(&bob, &from_alice, message, 32, got), 0);
    uint32_t plain = (uint32_t)unhex(hrto, got);
    OK(leat_packetway_auth_open(&bob, &at_bob, got, &plain) && plain == 32);
    OK(memcmp(got, message, 32) == 0);
    EQ(refused(&bob), 0);
    OK(!open(len));
    EQ(bob.counts.locked, 1);
}

static void a_node_without_the_key_is_refused(void)
{
    uint8_t other[LEAT_PACKETWAY_KEY_LEN] = { 1 };
    begin();
    uint32_t len = (uint32_t)unhex(hrto, got);
    OK(!leat_packetway_auth_open(&bob, &at_bob, got, &len));
    EQ(bob.counts.bare, 1);
    EQ(len, 32);
    init(&alice, other);
    OK(!open(seal(hrto)));
    EQ(bob.counts.forged, 1);
    begin();
    len = seal(hrto);
    at_bob.link++; /* from another MAC address */
    OK(!open(len));
    EQ(bob.counts.forged, 1);
}

/* From one key to the next in three steps: who is a step ahead or behind is heard. */
static void keys_are_changed_one_node_after_another(void)
{
    static const uint8_t next[LEAT_PACKETWAY_KEY_LEN] = { 1 };
    const struct leat_keys step[] = { leat_keys_of(key, NULL), leat_keys_of(key, next),
                                      leat_keys_of(next, key), leat_keys_of(next, NULL) };
    for (int of_alice = 0; of_alice < 4; of_alice++)
        for (int of_bob = 0; of_bob < 4; of_bob++) {
            const int apart = of_alice > of_bob ? of_alice - of_bob : of_bob - of_alice;
            const bool signs_next = of_alice >= 2;
            begin();
            alice.keys = step[of_alice];
            bob.keys = step[of_bob];
            const bool heard = open(seal(hrto));
            OK(heard || apart > 1);
            EQ(heard, signs_next ? of_bob >= 1 : of_bob <= 2);
            EQ(bob.counts.forged, !heard);
        }
}

/* It reveals that there is a key, and is of no other use. */
static void a_blank_is_believed_by_nobody(void)
{
    begin();
    const uint32_t len = (uint32_t)unhex(hrto, message);
    EQ(leat_packetway_auth_blank(&alice, &from_alice, message, len, sealed),
       len + LEAT_PACKETWAY_AUTH_LEN);
    OK(!open(len + LEAT_PACKETWAY_AUTH_LEN));
    EQ(bob.counts.forged, 1);
    init(&bob, NULL);
    OK(!open(len + LEAT_PACKETWAY_AUTH_LEN));
    EQ(bob.counts.locked, 1);
    init(&alice, NULL);
    EQ(leat_packetway_auth_blank(&alice, &from_alice, message, len, sealed), 0);
}

/* Every octet is covered: PH, field, records, TAIL. */
static void whatever_is_changed_on_the_way_is_refused(void)
{
    begin();
    const uint32_t len = seal(hrto);
    for (uint32_t bit = 0; bit < 8 * len; bit++) {
        uint32_t now_len = len, at;
        memcpy(got, sealed, len);
        got[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        if (!leat_packetway_is_control(got, len, &at))
            continue; /* no longer RRP: data, or broken */
        OK(!leat_packetway_auth_open(&bob, &at_bob, got, &now_len));
        EQ(now_len, len);
    }
    OK(bob.counts.forged > 300 && bob.counts.bare > 0);
    EQ(bob.sender_count, 0); /* a sender without the key takes no room */
    OK(open(len));
}

static void a_message_is_taken_once(void)
{
    uint8_t kept[64];
    begin();
    const uint32_t len = seal(hrto);
    memcpy(kept, sealed, len);
    OK(open(len) && !open(len));
    EQ(bob.counts.replayed, 1);
    for (uint32_t i = 0; i < LEAT_PACKETWAY_SERIALS_MAX + 2; i++) {
        OK(open(seal(hrto)));
        memcpy(sealed, kept, len);
        OK(!open(len));
    }
    EQ(bob.counts.replayed, 1 + LEAT_PACKETWAY_SERIALS_MAX + 2);
    /* The sender's clock was set back, and its serials continued to increase. */
    from_alice.now -= 30 * second;
    OK(open(seal(hrto)));
}

/* Each accepted once, in any order, if younger than the eighth youngest accepted. */
static void messages_may_overtake_each_other_a_little(void)
{
    enum { SENT = 64 };
    uint8_t all[SENT][64];
    bool taken[SENT];
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < 200 && !tap_checks_failed; round++) {
        uint32_t len = 0;
        begin();
        memset(taken, 0, sizeof taken);
        for (int i = 0; i < SENT; i++) {
            len = seal(hrto);
            memcpy(all[i], sealed, len);
        }
        for (int i = 0; i < 4 * SENT; i++) {
            const int back = (int)leat_random_below(&random, 12);
            int pick = i / 4 - back;
            if (pick < 0) pick = 0;
            memcpy(sealed, all[pick], len);
            const bool is_taken = open(len);
            int younger = 0;
            for (int k = pick + 1; k < SENT; k++)
                younger += taken[k];
            EQ(is_taken, !taken[pick] && younger < LEAT_PACKETWAY_SERIALS_MAX);
            taken[pick] = taken[pick] || is_taken;
        }
    }
}

static void clocks_may_differ_by_a_minute(void)
{
    static const struct {
        int64_t by;
        bool taken;
    } rows[] = { { -60, true }, { -61, false }, { 60, true }, { 61, false }, { 3600, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        at_bob.now = (uint64_t)((int64_t)now + rows[i].by * (int64_t)second);
        EQ(open(seal(hrto)), rows[i].taken);
        EQ(bob.counts.late, !rows[i].taken);
    }
}

/* A copy of a message for one node is worthless at another, and on another SAN with that key. */
static void a_message_is_for_one_node_of_one_san(void)
{
    static const char wru[] = "007fffff001b0001 0000000000000101" Z;
    static const char mine[] = "00000102001b0001 0000000000000101" Z;
    begin();
    at_bob.me = 0x103;
    OK(!open(seal(hrto)));
    EQ(bob.counts.misdirected, 1);
    from_alice.to = LEAT_PACKETWAY_ADDRESS_BROADCAST;
    OK(!open(seal(hrto))); /* 0x103 would forward it to 0x102 */
    EQ(bob.counts.misdirected, 2);
    OK(open(seal(wru)));
    at_bob.me = 0x102;
    OK(open(seal(mine)));
    from_alice.me = 0x201;
    OK(!open(seal(wru)));
    EQ(bob.counts.misdirected, 3);
    from_alice.me = 0;
    OK(!open(seal(wru))); /* only a claim has no sender */
    EQ(bob.counts.misdirected, 4);
}

static void a_claim_of_an_address_has_no_sender(void)
{
    static const char claim[] = "00000107001b0001 0000000000000000" Z;
    static const char info[] = "007fffff00190001 0000000100000102 2900000001000102" Z;
    begin();
    from_alice.me = 0x107;
    from_alice.to = LEAT_PACKETWAY_ADDRESS_BROADCAST;
    uint32_t len = seal(claim);
    EQ(leat_get_be24(sealed + 18), 0);
    OK(open(len) && open(len)); /* it changes nothing */
    /* Another node has our address: that must be noticed, whatever our clocks say. */
    from_alice.me = 0x102;
    OK(open(seal(info)));
    from_alice.now -= second;
    init(&alice, key);
    OK(open(seal(info)));
    EQ(bob.sender_count, 0);
    EQ(refused(&bob), 0);
}

/* Alice receives what is in `sealed` herself. */
static bool comes_back(uint32_t len)
{
    struct leat_packetway_hop hop = from_alice;
    memcpy(got, sealed, len);
    return leat_packetway_auth_open(&alice, &hop, got, &len);
}

static void what_i_said_to_everybody_is_not_taken_when_it_comes_back(void)
{
    static const char wru[] = "007fffff001b0001 0000000000000101" Z;
    static const char claim[] = "00000101001b0001 0000000000000000" Z;
    uint8_t kept[64];
    begin();
    from_alice.to = LEAT_PACKETWAY_ADDRESS_BROADCAST;
    for (uint64_t i = 0; i < 50; i++) {
        OK(!comes_back(seal(i % 2 ? wru : claim)));
        EQ(alice.counts.replayed, i + 1);
    }
    /* After a minute it is a copy, too, and no clock is wrong. */
    const uint32_t len = seal(wru);
    memcpy(kept, sealed, len);
    from_alice.now += 61 * second;
    OK(!comes_back(len));
    EQ(alice.counts.replayed, 51);
    from_alice.now -= 30 * second;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_SENT_MAX; i++)
        seal(wru);
    memcpy(sealed, kept, len);
    OK(!comes_back(len)); /* older than all that she remembers */
    EQ(alice.counts.replayed, 52);
    EQ(refused(&alice), 52);
}

/* His clock is behind mine, and I have just sent something myself. */
static void another_node_that_has_my_address_is_noticed(void)
{
    static const char info[] = "007fffff00190001 0000000100000101 2900000001000101" Z;
    static const char claim[] = "00000101001b0001 0000000000000000" Z;
    begin();
    from_alice.to = at_bob.to = LEAT_PACKETWAY_ADDRESS_BROADCAST;
    at_bob.me = 0x101;
    at_bob.now -= 30 * second;
    for (int i = 0; i < 20; i++) {
        seal(info);
        const uint32_t len = (uint32_t)unhex(i % 2 ? info : claim, message);
        OK(comes_back(leat_packetway_auth_seal(&bob, &at_bob, message, len, sealed)));
    }
    EQ(refused(&alice), 0);
    /* Too far ahead. */
    at_bob.now = now + 61 * second;
    init(&bob, key);
    const uint32_t len = (uint32_t)unhex(info, message);
    OK(!comes_back(leat_packetway_auth_seal(&bob, &at_bob, message, len, sealed)));
    EQ(alice.counts.late, 1);
}

static void senders_that_are_long_silent_make_room(void)
{
    static const char wru[] = "007fffff001b0001 0000000000000101" Z;
    static const struct leat_packetway_block large = { .bias = 0x1000, .count = 0x1000 };
    begin();
    at_bob.block = &large;
    from_alice.to = LEAT_PACKETWAY_ADDRESS_BROADCAST;
    for (uint32_t i = 0; i < LEAT_PACKETWAY_SENDERS_MAX; i++) {
        from_alice.me = 0x1001 + i;
        OK(open(seal(wru)));
    }
    from_alice.me++;
    OK(!open(seal(wru)));
    EQ(bob.counts.crowded, 1);
    from_alice.now = at_bob.now = now + 62 * second;
    const uint32_t len = seal(wru);
    OK(open(len) && !open(len));
    EQ(bob.sender_count, LEAT_PACKETWAY_SENDERS_MAX);
    EQ(bob.counts.replayed, 1);
}

static void random_octets_are_harmless_and_never_believed(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    begin();
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        uint32_t len = 8 * (uint32_t)leat_random_below(&random, 17), at;
        for (uint32_t k = 0; k < len; k += 8) {
            const uint64_t word = leat_random_next(&random);
            leat_put_be64(sealed + k, word);
        }
        if (i % 2 && len >= 56) { /* mostly right */
            unhex("00000102001a0001 0000000180000101 7e16", sealed);
            leat_put_be64(sealed + 24, now);
        }
        const bool control = leat_packetway_is_control(sealed, len, &at);
        OK(open(len) == !control);
    }
    EQ(bob.sender_count, 0);
}

TAP_MAIN(T(the_field_is_what_the_readme_says), T(three_types_of_messages_are_keyed),
         T(a_sealed_message_is_a_message_whose_field_others_ignore),
         T(what_is_opened_is_what_was_sealed),
         T(without_a_key_nothing_changes_and_keyed_messages_are_counted),
         T(a_node_without_the_key_is_refused), T(keys_are_changed_one_node_after_another),
         T(a_blank_is_believed_by_nobody), T(whatever_is_changed_on_the_way_is_refused),
         T(a_message_is_taken_once), T(messages_may_overtake_each_other_a_little),
         T(clocks_may_differ_by_a_minute), T(a_message_is_for_one_node_of_one_san),
         T(a_claim_of_an_address_has_no_sender),
         T(what_i_said_to_everybody_is_not_taken_when_it_comes_back),
         T(another_node_that_has_my_address_is_noticed), T(senders_that_are_long_silent_make_room),
         T(random_octets_are_harmless_and_never_believed))
