/*
 * The gate of a live station without a network: what it forwards, and for which reason it drops
 * everything else. The same source runs in XDP; tool/ring/ring_live_test.sh compares the two.
 */
#include "live_aton_driver.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { KEYED = 1, STATIONS = 8 };

/* A mailbox in memory that all tests share: empty at first. */
static uint32_t mail_words[ATON_MAILBOX_LEN / 4];
static unsigned long mail_read_at, mail_written_at;
static struct aton_window windows[ATON_SENDERS];
static const struct aton_mailbox mailbox = { &mail_read_at, &mail_written_at, mail_words, windows };

static struct aton_config config(bool keyed)
{
    struct aton_config c = { .ring_id = 0x1EA7,
                             .own = { 2, 0, 0, 0, 0, 2 },
                             .from = { 2, 0, 0, 0, 1, 2 },
                             .previous = { 2, 0, 0, 0, 0, 1 },
                             .next = { 2, 0, 0, 0, 0, 3 },
                             .has_key = keyed,
                             .frame_max = ATON_FRAME_MAX };
    return c;
}

/* Those of all stations. */
static struct leat_keys keys = { .count = 1, .key = { "leat live ring." } };

static struct aton_page page_of(uint16_t address, uint64_t x)
{
    struct aton_page page = { .interface = { .operand = { x }, .address = address, .enabled = 1 } };
    leat_key_ring_set(&page.keys, &keys);
    return page;
}

/* A command of station 1, as it leaves for our station. */
static struct aton_frame frame(const struct aton_config *c, uint8_t opcode, uint16_t param)
{
    const struct aton_page sender = page_of(1, 9);
    const struct leat_aton_command command = {
        .opcode = opcode, .width_bits = 32, .da = LEAT_ATON_DA_ALL, .param = param
    };
    struct aton_config of_sender = *c;
    struct aton_frame f = { 0 };
    size_t len = 0;
    memcpy(of_sender.from, c->previous, 6);
    memcpy(of_sender.next, c->own, 6);
    EQ(leat_aton_begin(&sender.interface, &command, f.octets + ATON_IMAGE_AT, 1000, &len),
       LEAT_ERR_OK);
    f.image_len = (uint32_t)len;
    aton_user_begin(&f, &of_sender, &sender, 7, 0);
    return f;
}

static uint64_t youngest; /* serial */

/* A message of station 1, as it leaves for our station; with a key its serial comes first. */
static struct aton_frame passive_of(const struct aton_config *c, uint16_t da, uint64_t serial,
                                    const char *text)
{
    const struct aton_page sender = page_of(1, 0);
    const size_t serial_len = c->has_key ? ATON_SERIAL_LEN : 0, text_len = strlen(text);
    uint8_t letter[200];
    leat_put_be64(letter, serial);
    memcpy(letter + serial_len, text, text_len);
    const struct leat_aton_packet packet = {
        .da = da, .sa = 1, .payload = letter, .payload_len = serial_len + text_len
    };
    struct aton_config of_sender = *c;
    struct aton_frame f = { 0 };
    size_t len = 0;
    memcpy(of_sender.from, c->previous, 6);
    memcpy(of_sender.next, c->own, 6);
    EQ(leat_aton_packet_encode(&packet, f.octets + ATON_IMAGE_AT, 1488, &len), LEAT_ERR_OK);
    f.image_len = (uint32_t)len;
    aton_user_begin(&f, &of_sender, &sender, 7, 0);
    return f;
}

/* The next one. */
static struct aton_frame passive(const struct aton_config *c, uint16_t da, const char *text)
{
    return passive_of(c, da, ++youngest, text);
}

static enum aton_reason gate(const struct aton_config *c, struct aton_frame *f)
{
    const struct aton_page page = page_of(2, 3);
    return aton_user_gate(f, c, &page, NULL, &mailbox);
}

/* The only message in the mailbox is this one of station 1. */
static void expect_mail(const char *text)
{
    uint8_t octets[ATON_OCTETS_MAX];
    uint16_t from = 0;
    size_t len = 0;
    EQ(aton_mailbox_take(&mailbox, &from, octets, sizeof octets, &len), ATON_MAIL_TAKEN);
    EQ(from, 1);
    EQ(len, strlen(text));
    OK(memcmp(octets, text, len) == 0);
    OK(aton_mailbox_is_empty(&mailbox));
}

/* What the room's own decoder, which is not the gate's, finds in a frame. */
static struct leat_aton_packet decoded(const struct aton_config *c, const struct aton_frame *f)
{
    struct leat_aton_live live = { 0 };
    EQ(leat_aton_live_decode(f->octets + ATON_HEADER_AT, f->len - ATON_HEADER_AT,
                             c->has_key ? keys.key[0] : NULL, &live, NULL),
       LEAT_ERR_OK);
    return live.packet;
}

/* CRC and MAC corrected after a change, so that the error itself is detected. */
static void reseal(const struct aton_config *c, struct aton_frame *f)
{
    uint8_t *header = f->octets + ATON_HEADER_AT, *image = f->octets + ATON_IMAGE_AT;
    leat_aton_packet_seal(image, f->image_len);
    if (c->has_key)
        leat_put_be64(image + f->image_len,
                      leat_aton_live_mac(keys.key[0], header, 12 + f->image_len));
}

static void a_good_frame_is_folded_and_goes_to_the_next(void)
{
    for (int keyed = 0; keyed <= KEYED; keyed++) {
        const struct aton_config c = config(keyed);
        struct aton_frame f = frame(&c, LEAT_ATON_MIN, 0);
        struct leat_aton_live live;
        EQ(gate(&c, &f), ATON_FOLDED);
        OK(memcmp(f.octets, c.next, 6) == 0 && memcmp(f.octets + 6, c.from, 6) == 0);
        EQ(leat_aton_live_decode(f.octets + ATON_HEADER_AT, f.len - ATON_HEADER_AT,
                                 keyed ? keys.key[0] : NULL, &live, NULL),
           LEAT_ERR_OK);
        EQ(live.hops_left, ATON_HOPS_MAX - 1);
        EQ(live.packet.counter, 2);
        EQ(live.packet.variable1, 3);
        EQ(live.packet.variable2, 2);
    }
}

static void strangers_and_foreigners_are_dropped(void)
{
    const struct aton_config c = config(false);
    struct aton_frame f = frame(&c, LEAT_ATON_ADD, 0);
    f.octets[ATON_TO_AT + 5] ^= 1;
    EQ(gate(&c, &f), ATON_ELSEWHERE);
    f = frame(&c, LEAT_ATON_ADD, 0);
    f.octets[ATON_FROM_AT + 5] ^= 1;
    EQ(gate(&c, &f), ATON_STRANGER);
    f = frame(&c, LEAT_ATON_ADD, 0);
    f.octets[ATON_HEADER_AT + 3] ^= 1;
    EQ(gate(&c, &f), ATON_FOREIGN);
    f = frame(&c, LEAT_ATON_ADD, 0);
    f.octets[ATON_HOPS_AT] = 0;
    EQ(gate(&c, &f), ATON_HOPS);
    f = frame(&c, LEAT_ATON_ADD, 0);
    f.len = ATON_FRAME_MAX + 1;
    EQ(gate(&c, &f), ATON_LONG);
}

static void another_key_or_none_is_dropped(void)
{
    const struct aton_config c = config(true), none = config(false);
    keys.key[0][0] ^= 1;
    struct aton_frame f = frame(&c, LEAT_ATON_ADD, 0);
    keys.key[0][0] ^= 1;
    EQ(gate(&c, &f), ATON_MAC);
    f = frame(&none, LEAT_ATON_ADD, 0);
    EQ(gate(&c, &f), ATON_MAC); /* padding in place of the MAC */
    f = frame(&none, LEAT_ATON_ADD, 0);
    f.len = ATON_IMAGE_AT + f.image_len;
    EQ(gate(&c, &f), ATON_SHORT);
}

static enum aton_reason gate_with(struct leat_keys with, const struct aton_frame *sent)
{
    const struct aton_config c = config(true);
    const struct leat_keys before = keys;
    struct aton_frame f = *sent;
    keys = with;
    const enum aton_reason reason = gate(&c, &f);
    if (reason == ATON_FOLDED) decoded(&c, &f); /* by the first key */
    keys = before;
    return reason;
}

static void every_key_is_accepted_and_the_first_one_signs(void)
{
    static const struct leat_keys old = { 1, 0, { "the old key...." } },
                                  next = { 1, 0, { "the next key..." } },
                                  accepting = { 2, 0, { "the old key....", "the next key..." } },
                                  signing = { 2, 0, { "the next key...", "the old key...." } };
    const struct leat_keys before = keys;
    const struct aton_config c = config(true);
    keys = old;
    const struct aton_frame by_old = frame(&c, LEAT_ATON_MIN, 0);
    keys = next;
    const struct aton_frame by_next = frame(&c, LEAT_ATON_MIN, 0);
    keys = before;
    EQ(gate_with(old, &by_old), ATON_FOLDED);
    EQ(gate_with(old, &by_next), ATON_MAC);
    EQ(gate_with(accepting, &by_old), ATON_FOLDED);
    EQ(gate_with(accepting, &by_next), ATON_FOLDED);
    EQ(gate_with(signing, &by_old), ATON_FOLDED);
    EQ(gate_with(signing, &by_next), ATON_FOLDED);
    EQ(gate_with(next, &by_old), ATON_MAC);
    EQ(gate_with(next, &by_next), ATON_FOLDED);
}

static void our_own_is_handed_up_only_if_we_sent_it(void)
{
    const struct aton_config c = config(false);
    struct aton_page page = page_of(1, 0);
    struct aton_frame f = frame(&c, LEAT_ATON_ADD, 0);
    page.issued = 7;
    EQ(aton_user_gate(&f, &c, &page, NULL, NULL), ATON_OWN);
    page.issued = 6; /* not yet sent: another station has our address */
    EQ(aton_user_gate(&f, &c, &page, NULL, NULL), ATON_UNASKED);
    page.issued = 7 + ATON_AWAITED_MAX;
    EQ(aton_user_gate(&f, &c, &page, NULL, NULL), ATON_UNASKED);
}

static void a_disabled_station_repeats(void)
{
    const struct aton_config c = config(true);
    struct aton_page page = page_of(2, 3);
    struct aton_frame f = frame(&c, LEAT_ATON_ADD, 0);
    page.interface.enabled = 0;
    EQ(aton_user_gate(&f, &c, &page, NULL, NULL), ATON_REPEATED);
    EQ(f.octets[ATON_HOPS_AT], ATON_HOPS_MAX - 1);
    EQ(leat_aton_live_mac(keys.key[0], f.octets + 14, 12 + f.image_len),
       (long long)leat_get_be64(f.octets + ATON_IMAGE_AT + f.image_len));
}

/* Invalid fields, each with CRC and MAC right. */
static void malformed_images_are_dropped(void)
{
    static const struct {
        uint8_t opcode, param;
        uint32_t at;
        uint8_t value;
        enum aton_reason want;
    } bad[] = {
        { 1, 0, 0, 0x10, ATON_MALFORMED },  /* a token */
        { 1, 0, 1, 0x08, ATON_MALFORMED },  /* passive, with an opcode */
        { 1, 0, 2, 0x03, ATON_MALFORMED },  /* CTL's zeros */
        { 1, 0, 2, 0x04, ATON_MALFORMED },  /* group 0xFFFF */
        { 1, 0, 2, 0x06, ATON_MALFORMED },  /* width code 3, and zeros */
        { 1, 0, 1, 0xE0, ATON_MALFORMED },  /* opcode 12 */
        { 1, 0, 7, 0xFF, ATON_FOLDED },     /* Counter 0xFF01: many */
        { 9, 0, 10, 1, ATON_MALFORMED },    /* SORT has no PARAM */
        { 10, 3, 11, 8, ATON_MALFORMED },   /* a counter of 3 bits that holds 8 */
        { 10, 3, 10, 17, ATON_MALFORMED },  /* c */
        { 11, 2, 11, 2, ATON_MALFORMED },   /* valid: 0 or 1 */
        { 11, 2, 10, 18, ATON_MALFORMED },  /* H */
        { 1, 0, 17, 0x80, ATON_MALFORMED }, /* FLG: its copies differ */
        { 1, 0, 17, 0x33, ATON_MALFORMED }, /* and its zeros */
    };
    for (int keyed = 0; keyed <= KEYED; keyed++) {
        const struct aton_config c = config(keyed);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            struct aton_frame f = frame(&c, bad[i].opcode, bad[i].param);
            f.octets[ATON_IMAGE_AT + bad[i].at] = bad[i].value;
            reseal(&c, &f);
            EQ(gate(&c, &f), bad[i].want);
        }
        struct aton_frame f = frame(&c, LEAT_ATON_ADD, 0);
        f.octets[ATON_ZERO_AT] = 1;
        reseal(&c, &f);
        EQ(gate(&c, &f), ATON_MALFORMED);
    }
}

/* Every bit of every octet that a check covers: a flipped one is never forwarded as valid. */
static void no_single_bit_error_passes(void)
{
    for (int kind = 0; kind < 4; kind++) {
        const bool keyed = kind & 1, is_passive = kind & 2;
        const struct aton_config c = config(keyed);
        const struct aton_frame good = is_passive ? passive(&c, 2, "work?")
                                                  : frame(&c, LEAT_ATON_SORT, 0);
        const uint32_t end = ATON_IMAGE_AT + good.image_len + (keyed ? 8 : 0);
        for (uint32_t bit = 0; bit < 8 * end; bit++) {
            const uint32_t at = bit / 8;
            struct aton_frame f = good;
            f.octets[at] ^= (uint8_t)(1u << bit % 8);
            const bool loose = at == ATON_TYPE_AT || at == ATON_TYPE_AT + 1 || at == ATON_HOPS_AT ||
                               (!keyed && at >= ATON_SEQUENCE_AT && at < ATON_ZERO_AT) ||
                               (!keyed && at == ATON_IMAGE_AT && bit % 8 != 4);
            if (loose) continue; /* not checked here, or no CRC covers it */
            const enum aton_reason reason = gate(&c, &f);
            if (at == ATON_IMAGE_AT && reason == ATON_FOLDED) EQ(keyed, 0);
            OK(reason > ATON_OWN);
        }
    }
    OK(aton_mailbox_is_empty(&mailbox));
}

static void every_truncation_is_short(void)
{
    for (int keyed = 0; keyed <= KEYED; keyed++) {
        const struct aton_config c = config(keyed);
        const struct aton_frame good[] = { frame(&c, LEAT_ATON_TREE, 3), passive(&c, 2, "work?") };
        for (int i = 0; i < 2; i++) {
            const uint32_t end = ATON_IMAGE_AT + good[i].image_len + (keyed ? 8 : 0);
            for (uint32_t len = 0; len < end; len++) {
                struct aton_frame f = good[i];
                f.len = len;
                EQ(gate(&c, &f), ATON_SHORT);
            }
        }
    }
}

/* ---- passive packets ---------------------------------------------------------------------- */

static void a_message_is_copied_and_its_sender_learns_of_it(void)
{
    static const uint16_t to[] = { 2, LEAT_ATON_DA_ALL };
    for (int keyed = 0; keyed <= KEYED; keyed++) {
        const struct aton_config c = config(keyed);
        for (int i = 0; i < 2; i++) {
            struct aton_frame f = passive(&c, to[i], "work?");
            EQ(gate(&c, &f), ATON_COPIED);
            const struct leat_aton_packet p = decoded(&c, &f);
            OK(p.recognised && p.copied);
            OK(p.da == to[i] && p.sa == 1);
            const size_t at = keyed ? ATON_SERIAL_LEN : 0;
            OK(p.payload_len == at + 5 && memcmp(p.payload + at, "work?", 5) == 0);
            if (keyed) EQ(leat_get_be64(p.payload), (long long)youngest); /* it goes on whole */
            OK(memcmp(f.octets, c.next, 6) == 0 && memcmp(f.octets + 6, c.from, 6) == 0);
            EQ(f.octets[ATON_HOPS_AT], ATON_HOPS_MAX - 1);
            expect_mail("work?");
        }
        struct aton_frame f = passive(&c, 2, ""); /* nothing is a message, too */
        EQ(gate(&c, &f), ATON_COPIED);
        expect_mail("");
    }
}

static void a_message_to_another_is_repeated(void)
{
    for (int keyed = 0; keyed <= KEYED; keyed++) {
        const struct aton_config c = config(keyed);
        struct aton_frame f = passive(&c, 3, "work?");
        EQ(gate(&c, &f), ATON_REPEATED);
        const struct leat_aton_packet p = decoded(&c, &f);
        OK(!p.recognised && !p.copied && p.da == 3);
        OK(aton_mailbox_is_empty(&mailbox));
    }
}

/* Without room: A alone; and for a message to all, C stays as another station set it. */
static void a_full_mailbox_is_reported_to_the_sender(void)
{
    for (int keyed = 0; keyed <= KEYED; keyed++) {
        const struct aton_config c = config(keyed);
        const struct aton_page page = page_of(2, 3);
        unsigned long read_at = 0, written_at = ATON_MAILBOX_LEN - 8;
        const struct aton_mailbox full = { &read_at, &written_at, mail_words, windows };
        struct aton_frame f = passive(&c, 2, "work?");
        EQ(aton_user_gate(&f, &c, &page, NULL, &full), ATON_MAILBOX_FULL);
        struct leat_aton_packet p = decoded(&c, &f);
        OK(p.recognised && !p.copied);
        f = passive(&c, LEAT_ATON_DA_ALL, "work?");
        f.octets[ATON_IMAGE_AT + f.image_len - 5] = LEAT_ATON_FLG_A | LEAT_ATON_FLG_C;
        reseal(&c, &f);
        EQ(aton_user_gate(&f, &c, &page, NULL, &full), ATON_MAILBOX_FULL);
        p = decoded(&c, &f);
        OK(p.recognised && p.copied);
    }
}

/* As on the simulated ring: `enabled` is about taking part in commands. */
/* A group's packets are for its members, in a mailbox of their own; with and without a key. */
static void packets_of_a_group_are_for_its_members(void)
{
    enum { GROUP = 5 };
    static unsigned long read_at[ATON_GROUPS], written_at[ATON_GROUPS];
    static uint32_t words[ATON_GROUPS][ATON_MAILBOX_LEN / 4];
    struct aton_mailbox groups[ATON_GROUPS], with_groups = mailbox;
    for (int i = 0; i < ATON_GROUPS; i++)
        groups[i] = (struct aton_mailbox){ &read_at[i], &written_at[i], words[i], NULL, NULL };
    with_groups.groups = groups;
    for (int keyed = 0; keyed < 2; keyed++) {
        const struct aton_config c = config(keyed);
        struct aton_page page = page_of(2, 3);
        struct aton_frame f = passive(&c, LEAT_ATON_DA_ALL, "result");
        uint8_t octets[ATON_OCTETS_MAX];
        uint16_t from = 0;
        size_t len = 0;
        f.octets[ATON_FLAGS_AT] = GROUP + 1;
        if (keyed)
            leat_put_be64(aton_image(&f) + f.image_len,
                          leat_aton_live_mac(keys.key[0], f.octets + 14, 12 + f.image_len));
        struct aton_frame again = f;
        EQ(aton_user_gate(&f, &c, &page, NULL, &with_groups), ATON_REPEATED);
        page.interface.operand[GROUP * ATON_GROUP_REGISTERS] = 3;
        EQ(aton_user_gate(&again, &c, &page, NULL, &with_groups), ATON_COPIED);
        OK(aton_mailbox_is_empty(&mailbox));
        EQ(aton_mailbox_take(&groups[GROUP], &from, octets, sizeof octets, &len), ATON_MAIL_TAKEN);
        EQ(from, 1);
        OK(len == 6 && memcmp(octets, "result", 6) == 0);
    }
}

static void a_disabled_station_has_a_mailbox(void)
{
    const struct aton_config c = config(true);
    struct aton_page page = page_of(2, 3);
    struct aton_frame f = passive(&c, 2, "work?");
    page.interface.enabled = 0;
    EQ(aton_user_gate(&f, &c, &page, NULL, &mailbox), ATON_COPIED);
    expect_mail("work?");
}

/* `length` against the frame, with CRC and MAC right wherever they can be. */
static void a_length_that_the_frame_does_not_hold_is_short(void)
{
    for (int keyed = 0; keyed <= KEYED; keyed++) {
        const struct aton_config c = config(keyed);
        const uint32_t mac_len = keyed ? 8 : 0;
        for (uint32_t len = 0; len <= 65535; len++) {
            struct aton_frame f = passive(&c, 3, "a message of some octets, so that it is long");
            const bool fits = ATON_IMAGE_AT + LEAT_ATON_IMAGE_LEN_MIN + len + mac_len <= f.len;
            leat_put_be16(f.octets + ATON_IMAGE_AT + LEAT_ATON_COUNTER_AT, (uint16_t)len);
            f.image_len = LEAT_ATON_IMAGE_LEN_MIN + len;
            if (fits) {
                f.octets[ATON_IMAGE_AT + f.image_len - 5] = 0;
                reseal(&c, &f);
            }
            EQ(gate(&c, &f), fits ? ATON_REPEATED : ATON_SHORT);
            if (tap_checks_failed) break;
        }
    }
}

/* The sums that go wrong by themselves, and FLG, which the CRC does not cover. */
static void a_damaged_message_is_dropped(void)
{
    struct aton_config c = config(true);
    struct aton_frame f = passive(&c, 2, "work?");
    f.octets[ATON_IMAGE_AT + f.image_len]++;
    EQ(gate(&c, &f), ATON_MAC);
    c = config(false);
    f = passive(&c, 2, "work?");
    f.octets[ATON_IMAGE_AT + f.image_len - 1]++;
    EQ(gate(&c, &f), ATON_CRC);
    f = passive(&c, 2, "work?");
    f.octets[ATON_IMAGE_AT + f.image_len - 5] = 0x80;
    EQ(gate(&c, &f), ATON_MALFORMED);
    OK(aton_mailbox_is_empty(&mailbox));
}

/* A captured message, replayed any number of times: A without C, and nothing in the mailbox. */
static void a_replayed_message_is_refused_and_reported(void)
{
    const struct aton_config c = config(true), none = config(false);
    const struct aton_frame captured = passive(&c, 2, "work?");
    struct aton_frame f = captured;
    EQ(gate(&c, &f), ATON_COPIED);
    expect_mail("work?");
    for (int i = 0; i < 1000; i++) {
        f = captured;
        EQ(gate(&c, &f), ATON_REPLAYED);
        OK(aton_mailbox_is_empty(&mailbox));
        const struct leat_aton_packet p = decoded(&c, &f); /* sealed anew */
        OK(p.recognised && !p.copied);
        if (tap_checks_failed) return;
    }
    f = passive(&c, 2, "more");
    EQ(gate(&c, &f), ATON_COPIED);
    expect_mail("more");
    /* Another sender has its own serials; without a key there are none: every message counts. */
    f = captured;
    leat_put_be16(f.octets + ATON_IMAGE_AT + LEAT_ATON_SA_AT, 7);
    reseal(&c, &f);
    EQ(gate(&c, &f), ATON_COPIED);
    mail_read_at = mail_written_at = 0;
    for (int i = 0; i < 2; i++) {
        f = passive_of(&none, 2, 0, "work?");
        EQ(gate(&none, &f), ATON_COPIED);
        expect_mail("work?");
    }
}

/* From a sender that has the right key but no serials. */
static void a_keyed_message_without_a_serial_is_not_taken(void)
{
    const struct aton_config c = config(true), none = config(false);
    for (uint32_t len = 0; len < ATON_SERIAL_LEN; len++) {
        const char text[] = "0123456";
        struct aton_frame f = passive_of(&none, 2, 0, text + sizeof text - 1 - len);
        f.len = ATON_ETHERNET_MIN;
        reseal(&c, &f);
        EQ(gate(&c, &f), ATON_REPLAYED);
        OK(aton_mailbox_is_empty(&mailbox));
    }
}

/* In any order: each accepted once, if younger than the fourth youngest accepted. */
static void a_window_takes_each_serial_once(void)
{
    static uint64_t taken[LEAT_ROUNDS / 100];
    uint64_t count = 0;
    struct leat_random r;
    struct aton_window w = { { 0 } };
    leat_random_seed(&r, tap_seed());
    OK(!aton_window_take(&w, 0));
    for (int i = 0; i < LEAT_ROUNDS / 100 && !tap_checks_failed; i++) {
        const uint64_t serial = (uint64_t)i + 1 + leat_random_below(&r, 8);
        uint64_t younger = 0;
        bool again = false;
        for (uint64_t k = count > 16 ? count - 16 : 0; k < count; k++) {
            younger += taken[k] > serial;
            again |= taken[k] == serial;
        }
        const bool is_new = !again && younger < ATON_WINDOW;
        EQ(aton_window_take(&w, serial), is_new);
        if (is_new) taken[count++] = serial;
    }
    OK(count > LEAT_ROUNDS / 400);
}

/* One message to all, hop by hop: every station receives it once, except the sender, to whom it
 * comes back. */
static void a_message_to_all_comes_to_all(void)
{
    const struct aton_config c = config(true);
    struct aton_frame f = passive(&c, LEAT_ATON_DA_ALL, "to all");
    for (uint16_t address = 2; address <= STATIONS; address++) {
        const struct aton_page page = page_of(address, 0);
        EQ(aton_user_gate(&f, &c, &page, NULL, &mailbox), ATON_COPIED);
        expect_mail("to all");
        memset(&windows[1], 0, sizeof windows[1]); /* every station has its own */
        memcpy(f.octets, c.own, 6);                /* but all the same cards, then */
        memcpy(f.octets + 6, c.previous, 6);
    }
    struct aton_page sender = page_of(1, 0);
    sender.issued = 7;
    EQ(aton_user_gate(&f, &c, &sender, NULL, &mailbox), ATON_OWN);
    const struct leat_aton_packet p = decoded(&c, &f);
    OK(p.recognised && p.copied);
    OK(aton_mailbox_is_empty(&mailbox));
    sender.issued = 6;
    EQ(aton_user_gate(&f, &c, &sender, NULL, &mailbox), ATON_UNASKED);
}

/* Random octets, with CRC and MAC right where possible: the gate ends, and stays in bounds. */
static void random_frames_never_break_the_gate(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    static struct aton_frame f;
    static struct aton_bucket buckets[65536];
    int passed = 0, copied = 0;
    for (int i = 0; i < LEAT_ROUNDS / 10; i++) {
        struct aton_config c = config(leat_random_below(&r, 2));
        struct aton_page page = page_of(2, leat_random_next(&r));
        struct aton_frame good = frame(&c, (uint8_t)(1 + leat_random_below(&r, 9)), 0);
        memcpy(f.octets, good.octets, ATON_IMAGE_AT);
        leat_random_fill(&r, f.octets + ATON_IMAGE_AT, 200);
        if (leat_random_below(&r, 2)) memset(f.octets + ATON_IMAGE_AT + LEAT_ATON_DA_AT, 0xff, 2);
        f.octets[ATON_IMAGE_AT + 2] &= 0xF8;
        if (leat_random_below(&r, 4) == 0)
            memset(f.octets + ATON_IMAGE_AT + LEAT_ATON_CTL_AT, 0, 2);
        f.octets[ATON_IMAGE_AT + 7] = 0;
        f.octets[ATON_IMAGE_AT + 9] = 0;
        size_t image_len = 0;
        f.len = 250 + (uint32_t)leat_random_below(&r, 1264);
        if (leat_aton_packet_measure(f.octets + ATON_IMAGE_AT, 250, &image_len, NULL) == 0 &&
            image_len < 1400) {
            f.image_len = (uint32_t)image_len;
            f.octets[ATON_IMAGE_AT + image_len - 5] = 0;
            reseal(&c, &f);
        }
        c.rate_per_s = 1000000;
        const enum aton_reason reason = aton_user_gate(&f, &c, &page, buckets, &mailbox);
        OK(reason < ATON_REASON_COUNT && f.len <= ATON_FRAME_MAX);
        passed += reason <= ATON_NO_ROOM;
        copied += reason == ATON_COPIED;
    }
    OK(passed > LEAT_ROUNDS / 1000);
    OK(copied > 0);
    mail_read_at = mail_written_at = 0;
}

static void a_sort_grows_to_the_end_of_a_frame_and_no_further(void)
{
    const struct aton_config c = config(true);
    struct aton_frame f = frame(&c, LEAT_ATON_SORT, 0);
    int folded = 0;
    enum aton_reason reason;
    do {
        memcpy(f.octets, c.own, 6);
        memcpy(f.octets + 6, c.previous, 6);
        f.octets[ATON_HOPS_AT] = 9;
        reason = gate(&c, &f);
        folded += reason == ATON_FOLDED;
    } while (reason == ATON_FOLDED && folded < 1000);
    EQ(reason, ATON_NO_ROOM);
    EQ(folded, (ATON_FRAME_MAX - ATON_IMAGE_AT - 8 - 16) / 4 - 1); /* the sender's value is there */
    OK(f.len <= ATON_FRAME_MAX && f.len > ATON_FRAME_MAX - 4);
}

static void a_bucket_holds_a_quarter_second(void)
{
    struct aton_bucket b = { 0 };
    uint64_t now = 1000;
    int taken = 0;
    while (taken < 10000 && aton_bucket_take(&b, 1000, now))
        taken++;
    EQ(taken, 250);
    OK(!aton_bucket_take(&b, 1000, now + 999999));
    OK(aton_bucket_take(&b, 1000, now + 1000000));
    OK(!aton_bucket_take(&b, 1000, now + 1000000));
    now += 3600000000000;
    for (taken = 0; taken < 10000 && aton_bucket_take(&b, 1000, now); taken++) {
    }
    EQ(taken, 250);
}

static void every_reason_has_a_name_and_a_text(void)
{
    for (unsigned i = 0; i < LEAT_ATON_HOST_COUNTS; i++)
        OK(*leat_aton_host_reason(i) && *leat_aton_host_reason_text(i));
    OK(!*leat_aton_host_reason(LEAT_ATON_HOST_COUNTS));
    OK(strcmp(leat_aton_host_reason(ATON_MAC), "mac") == 0);
}

/* Without a station, a device or the privilege for either: a reason, and nothing left behind. */
static void what_is_not_there_is_reported(void)
{
    char why[LEAT_ATON_HOST_WHY_LEN] = "";
    enum leat_aton_host_driver used = LEAT_ATON_HOST_ANY;
    int slower_at = 0;
    struct leat_aton_host_config c = { .device = "no-such-device",
                                       .next = { 2 },
                                       .previous = { 2 } };
    EQ(leat_aton_host_join(&c, &used, &slower_at, why), LEAT_ATON_HOST_WRONG);
    OK(strstr(why, "no-such-device") != NULL);
    c.address = 0xffff;
    EQ(leat_aton_host_join(&c, &used, &slower_at, why), LEAT_ATON_HOST_WRONG);
    OK(strstr(why, "65534") != NULL);
    c = (struct leat_aton_host_config){ .device = "lo", .next = { 1 } };
    EQ(leat_aton_host_join(&c, &used, &slower_at, why), LEAT_ATON_HOST_WRONG);
    OK(strstr(why, "group") != NULL);
    EQ(slower_at, -1);
    struct leat_aton_host *station;
    EQ(leat_aton_host_open("no-such-device", &station, why), LEAT_ATON_HOST_WRONG);
    OK(!station);
    EQ(leat_aton_host_open("lo", &station, why), LEAT_ATON_HOST_ABSENT);
    OK(!station);
    EQ(leat_aton_host_leave("lo", why), LEAT_ATON_HOST_ABSENT);
    EQ(leat_aton_host_leave("no-such-device", why), LEAT_ATON_HOST_WRONG);
    leat_aton_host_close(NULL);
}

TAP_MAIN(T(a_good_frame_is_folded_and_goes_to_the_next), T(strangers_and_foreigners_are_dropped),
         T(another_key_or_none_is_dropped), T(every_key_is_accepted_and_the_first_one_signs),
         T(our_own_is_handed_up_only_if_we_sent_it), T(a_disabled_station_repeats),
         T(malformed_images_are_dropped), T(no_single_bit_error_passes),
         T(every_truncation_is_short), T(a_message_is_copied_and_its_sender_learns_of_it),
         T(a_message_to_another_is_repeated), T(a_full_mailbox_is_reported_to_the_sender),
         T(packets_of_a_group_are_for_its_members), T(a_disabled_station_has_a_mailbox),
         T(a_length_that_the_frame_does_not_hold_is_short), T(a_damaged_message_is_dropped),
         T(a_replayed_message_is_refused_and_reported),
         T(a_keyed_message_without_a_serial_is_not_taken), T(a_window_takes_each_serial_once),
         T(a_message_to_all_comes_to_all), T(random_frames_never_break_the_gate),
         T(a_sort_grows_to_the_end_of_a_frame_and_no_further), T(a_bucket_holds_a_quarter_second),
         T(every_reason_has_a_name_and_a_text), T(what_is_not_there_is_reported))
