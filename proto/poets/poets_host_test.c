#include "poets_host.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { FRAME_MAX = LEAT_POETS_FRAME_LEN_MAX };

/* ---- records of fixed length ---- */

/* V19 of spec/poets.md: the barrier release of V9, to thread 0x0411. */
static void an_addressed_packet_is_the_published_68_octets(void)
{
    const uint8_t release[16] = { 0xff, 0xff, 0xfd, 0x40 };
    const uint8_t want[68] = { 0x11, 0x04, 0, 0, 0xff, 0xff, 0xfd, 0x40 };
    struct leat_poets_p_addr addr = { .hw_addr = 0x0411 }, back;
    uint8_t buf[68];
    EQ(leat_poets_packet_extend(release, sizeof release, addr.packet), LEAT_ERR_OK);
    EQ(leat_poets_p_addr_encode(&addr, buf, sizeof buf), LEAT_ERR_OK);
    OK(memcmp(buf, want, sizeof buf) == 0);
    EQ(leat_poets_p_addr_decode(want, sizeof want, &back, NULL), LEAT_ERR_OK);
    EQ(back.hw_addr, 0x0411);
    OK(memcmp(back.packet, addr.packet, sizeof back.packet) == 0);
}

/* V19. */
static void a_debug_octet_is_the_published_5_octets(void)
{
    const uint8_t want[5] = { 0x11, 0x04, 0, 0, 0xaa };
    struct leat_poets_p_debug back;
    uint8_t buf[5];
    EQ(leat_poets_p_debug_encode(&(struct leat_poets_p_debug){ 0x0411, 0xaa }, buf, 5),
       LEAT_ERR_OK);
    OK(memcmp(buf, want, sizeof buf) == 0);
    EQ(leat_poets_p_debug_decode(want, sizeof want, &back, NULL), LEAT_ERR_OK);
    EQ(back.origin, 0x0411);
    EQ(back.octet, 0xaa);
}

static void a_device_entry_holds_addresses_and_name(void)
{
    struct leat_poets_entry entry = { .hw_addr = 0x0411, .sw_addr = 0x03000201 }, back;
    uint8_t buf[60];
    OK(leat_poets_entry_set_name(&entry, "n_4_3", 5));
    EQ(leat_poets_entry_encode(&entry, buf, sizeof buf), LEAT_ERR_OK);
    OK(memcmp(buf, "\x11\x04\x00\x00\x01\x02\x00\x03n_4_3\0", 14) == 0);
    for (size_t i = 13; i < sizeof buf; i++)
        EQ(buf[i], 0);
    buf[20] = 'x'; /* after the NUL: ignored, and not forwarded */
    memset(&back, 0xee, sizeof back);
    EQ(leat_poets_entry_decode(buf, sizeof buf, &back, NULL), LEAT_ERR_OK);
    OK(memcmp(&back, &entry, sizeof back) == 0);
}

static void names_are_cut_at_51_octets(void)
{
    char name[60];
    memset(name, 'n', sizeof name);
    for (size_t len = 0; len <= sizeof name; len++) {
        struct leat_poets_entry entry;
        memset(&entry, 0xee, sizeof entry);
        EQ(leat_poets_entry_set_name(&entry, name, len), len <= 51);
        EQ(strlen(entry.name), len < 51 ? len : 51);
    }
    struct leat_poets_entry entry;
    OK(leat_poets_entry_set_name(&entry, "ab\0c", 4));
    OK(strcmp(entry.name, "ab") == 0);
}

static void a_name_without_its_nul_is_refused(void)
{
    struct leat_poets_entry entry, before;
    uint8_t buf[60];
    size_t at = 99;
    memset(buf, 'n', sizeof buf);
    memset(&entry, 0x5c, sizeof entry);
    before = entry;
    EQ(leat_poets_entry_decode(buf, sizeof buf, &entry, &at), LEAT_ERR_SYNTAX);
    EQ(at, 8);
    OK(memcmp(&entry, &before, sizeof entry) == 0);
    EQ(leat_poets_entry_encode(&entry, buf, sizeof buf), LEAT_ERR_SYNTAX);
    EQ(buf[0], 'n');
}

static void records_of_any_other_length_are_refused(void)
{
    const uint8_t buf[80] = { 0 };
    uint8_t out[80] = { 0x5a };
    struct {
        struct leat_poets_p_addr addr;
        struct leat_poets_p_debug debug;
        struct leat_poets_entry entry;
    } got, before;
    memset(&got, 0x5c, sizeof got);
    memcpy(&before, &got, sizeof got);
    for (size_t len = 0; len <= sizeof buf; len++) {
        size_t at = 999;
        if (len != 68) {
            EQ(leat_poets_p_addr_decode(buf, len, &got.addr, &at),
               len < 68 ? LEAT_ERR_SHORT : LEAT_ERR_LENGTH);
            EQ(at, len < 68 ? len : 68);
        }
        if (len != 5)
            EQ(leat_poets_p_debug_decode(buf, len, &got.debug, &at),
               len < 5 ? LEAT_ERR_SHORT : LEAT_ERR_LENGTH);
        if (len != 60)
            EQ(leat_poets_entry_decode(buf, len, &got.entry, &at),
               len < 60 ? LEAT_ERR_SHORT : LEAT_ERR_LENGTH);
    }
    OK(memcmp(&got, &before, sizeof got) == 0);
    EQ(leat_poets_p_addr_encode(&got.addr, out, 67), LEAT_ERR_SPACE);
    EQ(leat_poets_p_debug_encode(&got.debug, out, 4), LEAT_ERR_SPACE);
    EQ(leat_poets_entry_encode(&(struct leat_poets_entry){ 0 }, out, 59), LEAT_ERR_SPACE);
    EQ(out[0], 0x5a);
}

static void random_fixed_records_round_trip(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t buf[68], back[68];
        struct leat_poets_p_addr addr;
        struct leat_poets_p_debug debug;
        struct leat_poets_entry entry;
        leat_random_fill(&r, buf, sizeof buf);
        EQ(leat_poets_p_addr_decode(buf, 68, &addr, NULL), LEAT_ERR_OK);
        EQ(leat_poets_p_addr_encode(&addr, back, 68), LEAT_ERR_OK);
        OK(memcmp(back, buf, 68) == 0);
        EQ(leat_poets_p_debug_decode(buf, 5, &debug, NULL), LEAT_ERR_OK);
        EQ(leat_poets_p_debug_encode(&debug, back, 5), LEAT_ERR_OK);
        OK(memcmp(back, buf, 5) == 0);
        const size_t nul = 8 + leat_random_below(&r, 52);
        memset(buf + nul, 0, 60 - nul);
        EQ(leat_poets_entry_decode(buf, 60, &entry, NULL), LEAT_ERR_OK);
        EQ(leat_poets_entry_encode(&entry, back, 60), LEAT_ERR_OK);
        memset(buf + 8 + strlen((const char *)buf + 8), 0, 52 - strlen((const char *)buf + 8));
        OK(memcmp(back, buf, 60) == 0);
        if (tap_checks_failed) return;
    }
}

/* ---- the frame between ranks ---- */

static const uint8_t packet[64] = { 0x01, 0x02, 0x00, 0x03, 0x02, 0x03, 0x01, 0x00, 0x07 };

/* The layout of 1.7 by hand: two records, one of them control. */
static const uint8_t golden[24 + 24 + 40] = { 'P', 'R', 'M', '1', 3, 0, 2, 0, 5, 0, 0, 0, 6, 0, 0,
                                              0, 7, 0, 0, 0, 0, 0, 0, 1,
                                              /* record 0 */
                                              0x11, 0x04, 0, 0, 1, 0, 0, 0, 0x01, 0x02, 0x00, 0x03,
                                              0x02, 0x03, 0x01, 0x00, 0x07, 0, 0, 0, 0, 0, 0, 0,
                                              /* record 1 */
                                              0x6f, 0x2b, 0, 0, 2, 1, 0, 0, 0x01, 0x02, 0x00, 0x03,
                                              0x02, 0x03, 0x01, 0x00, 0x07 };

static void a_frame_has_the_layout_of_the_note(void)
{
    const struct leat_poets_frame header = {
        .task = 3, .src_rank = 5, .seq = 6, .epoch = UINT64_C(0x0100000000000007)
    };
    struct leat_poets_frame_writer w;
    struct leat_poets_frame back;
    uint8_t buf[sizeof golden];
    EQ(leat_poets_frame_begin(&w, buf, sizeof buf, &header), LEAT_ERR_OK);
    EQ(w.len, 24);
    EQ(leat_poets_frame_decode(buf, w.len, &back, NULL), LEAT_ERR_OK);
    EQ(back.record_count, 0);
    const struct leat_poets_record first = { .hw_addr = 0x0411, .nflit = 1, .packet = packet };
    const struct leat_poets_record second = {
        .hw_addr = 0x2b6f, .nflit = 2, .control = true, .packet = packet
    };
    EQ(leat_poets_frame_add(&w, &first), LEAT_ERR_OK);
    EQ(leat_poets_frame_add(&w, &second), LEAT_ERR_OK);
    EQ(w.len, sizeof golden);
    OK(memcmp(buf, golden, sizeof golden) == 0);
    EQ(leat_poets_frame_add(&w, &first), LEAT_ERR_FULL);
    OK(memcmp(buf, golden, sizeof golden) == 0);
}

static void a_frame_gives_back_its_records(void)
{
    struct leat_poets_frame frame;
    struct leat_poets_frame_cursor c;
    struct leat_poets_record r = { 0 };
    EQ(leat_poets_frame_decode(golden, sizeof golden, &frame, NULL), LEAT_ERR_OK);
    EQ(frame.task, 3);
    EQ(frame.record_count, 2);
    EQ(frame.src_rank, 5);
    EQ(frame.seq, 6);
    OK(frame.epoch == UINT64_C(0x0100000000000007));
    leat_poets_frame_cursor_init(&c, golden, sizeof golden);
    OK(leat_poets_frame_next(&c, &r));
    EQ(r.hw_addr, 0x0411);
    EQ(r.nflit, 1);
    OK(!r.control);
    OK(r.packet == golden + 32);
    OK(leat_poets_frame_next(&c, &r));
    EQ(r.hw_addr, 0x2b6f);
    EQ(r.nflit, 2);
    OK(r.control);
    OK(r.packet == golden + 56);
    OK(!leat_poets_frame_next(&c, &r));
    EQ(c.left, 0);
}

static leat_err frame_fault(const uint8_t *buf, size_t len, size_t *at)
{
    struct leat_poets_frame frame, before;
    memset(&frame, 0x5c, sizeof frame);
    memcpy(&before, &frame, sizeof frame);
    const leat_err err = leat_poets_frame_decode(buf, len, &frame, at);
    OK(!err || memcmp(&frame, &before, sizeof frame) == 0);
    return err;
}

/* spec/poets.md, 8: bad magic, nrec beyond its bytes, nflit 0 or above 4; and what 1.7 leaves at
 * zero. */
static void malformed_frames_are_refused_with_their_place(void)
{
    static const struct {
        size_t octet;
        uint8_t value;
        leat_err want;
        size_t at;
    } bad[] = {
        { 0, 'Q', LEAT_ERR_MAGIC, 0 },           { 3, '2', LEAT_ERR_MAGIC, 0 },
        { 6, 3, LEAT_ERR_SHORT, sizeof golden }, { 7, 0xff, LEAT_ERR_SHORT, sizeof golden },
        { 6, 1, LEAT_ERR_LENGTH, 48 },           { 6, 0, LEAT_ERR_LENGTH, 24 },
        { 28, 0, LEAT_ERR_POETS_FLITS, 28 },     { 28, 5, LEAT_ERR_POETS_FLITS, 28 },
        { 52, 255, LEAT_ERR_POETS_FLITS, 52 },   { 52, 4, LEAT_ERR_SHORT, sizeof golden },
        { 52, 1, LEAT_ERR_LENGTH, 72 },          { 29, 2, LEAT_ERR_RESERVED, 29 },
        { 53, 0x81, LEAT_ERR_RESERVED, 53 },     { 30, 1, LEAT_ERR_RESERVED, 30 },
        { 31, 1, LEAT_ERR_RESERVED, 30 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t buf[sizeof golden];
        size_t at = 999;
        memcpy(buf, golden, sizeof buf);
        buf[bad[i].octet] = bad[i].value;
        EQ(frame_fault(buf, sizeof buf, &at), bad[i].want);
        EQ(at, bad[i].at);
    }
}

static void every_truncation_of_a_frame_is_refused(void)
{
    for (size_t len = 0; len < sizeof golden; len++) {
        size_t at = 999;
        EQ(frame_fault(golden, len, &at), LEAT_ERR_SHORT);
        EQ(at, len);
    }
}

static void a_frame_beyond_16_kib_is_refused(void)
{
    static uint8_t buf[2 * FRAME_MAX];
    struct leat_poets_frame_writer w;
    const struct leat_poets_record r = { .nflit = 1, .packet = packet };
    size_t at = 0;
    unsigned added = 0;
    EQ(leat_poets_frame_begin(&w, buf, sizeof buf, &(struct leat_poets_frame){ 0 }), LEAT_ERR_OK);
    while (leat_poets_frame_add(&w, &r) == LEAT_ERR_OK)
        added++;
    EQ(added, (FRAME_MAX - 24) / 24);
    OK(w.len <= FRAME_MAX);
    EQ(frame_fault(buf, w.len, &at), LEAT_ERR_OK);
    EQ(frame_fault(buf, FRAME_MAX + 1, &at), LEAT_ERR_LENGTH);
    EQ(at, FRAME_MAX);
}

static void the_writer_refuses_what_no_frame_holds(void)
{
    uint8_t buf[256] = { 0x5a };
    struct leat_poets_frame_writer w;
    const struct leat_poets_frame header = { .task = 1 };
    EQ(leat_poets_frame_begin(&w, buf, 23, &header), LEAT_ERR_SPACE);
    EQ(buf[0], 0x5a);
    EQ(leat_poets_frame_begin(&w, buf, sizeof buf, &header), LEAT_ERR_OK);
    EQ(leat_poets_frame_add(&w, &(struct leat_poets_record){ .packet = packet }),
       LEAT_ERR_POETS_FLITS);
    EQ(leat_poets_frame_add(&w, &(struct leat_poets_record){ .nflit = 5, .packet = packet }),
       LEAT_ERR_POETS_FLITS);
    EQ(w.len, 24);
    EQ(w.record_count, 0);
}

/* The cursor alone, on unchecked octets: it stays inside them. */
static void a_cursor_is_bounded_by_its_octets(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 20000; round++) {
        uint8_t buf[200];
        const size_t len = leat_random_below(&r, sizeof buf + 1);
        struct leat_poets_frame_cursor c;
        struct leat_poets_record record;
        leat_random_fill(&r, buf, len);
        for (size_t at = 24; at + 8 <= len; at += 24) { /* let some records be valid */
            buf[at + 4] = (uint8_t)leat_random_below(&r, 3);
            memset(buf + at + 5, 0, 3);
        }
        leat_poets_frame_cursor_init(&c, buf, len);
        unsigned steps = 0;
        while (leat_poets_frame_next(&c, &record)) {
            OK(record.packet >= buf && record.packet + 16 * record.nflit <= buf + len);
            steps++;
        }
        OK(steps <= sizeof buf / 24);
    }
}

static void random_frames_round_trip(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t buf[512], back[512], packets[64];
        struct leat_poets_frame header = { 0 };
        header.task = (uint16_t)leat_random_next(&r);
        header.src_rank = (uint32_t)leat_random_next(&r);
        header.seq = (uint32_t)leat_random_next(&r);
        header.epoch = leat_random_next(&r);
        struct leat_poets_frame_writer w, again;
        struct leat_poets_frame frame;
        struct leat_poets_frame_cursor c;
        struct leat_poets_record record;
        leat_random_fill(&r, packets, sizeof packets);
        EQ(leat_poets_frame_begin(&w, buf, sizeof buf, &header), LEAT_ERR_OK);
        for (uint64_t n = leat_random_below(&r, 8); n > 0; n--) {
            record.hw_addr = (uint32_t)leat_random_next(&r);
            record.nflit = (uint8_t)(1 + leat_random_below(&r, 4));
            record.control = leat_random_below(&r, 2);
            record.packet = packets;
            if (leat_poets_frame_add(&w, &record) != LEAT_ERR_OK) break;
        }
        EQ(leat_poets_frame_decode(buf, w.len, &frame, NULL), LEAT_ERR_OK);
        EQ(frame.task, header.task);
        EQ(frame.src_rank, header.src_rank);
        EQ(frame.seq, header.seq);
        OK(frame.epoch == header.epoch);
        EQ(frame.record_count, w.record_count);
        EQ(leat_poets_frame_begin(&again, back, sizeof back, &frame), LEAT_ERR_OK);
        leat_poets_frame_cursor_init(&c, buf, w.len);
        while (leat_poets_frame_next(&c, &record))
            EQ(leat_poets_frame_add(&again, &record), LEAT_ERR_OK);
        EQ(again.len, w.len);
        OK(memcmp(buf, back, w.len) == 0);
        if (tap_checks_failed) return;
    }
}

/* ---- the hardware address ---- */

/* V20, and the thread of V8. */
static void published_hardware_addresses(void)
{
    struct leat_poets_hw hw = { { 1, 2, 3, 1, 2, 15 } };
    uint32_t addr = 0;
    EQ(leat_poets_hw_pack(&leat_poets_hw_tinsel, &hw, &addr), LEAT_ERR_OK);
    EQ(addr, 0x2b6f);
    EQ(leat_poets_hw_unpack(&leat_poets_hw_tinsel, 0x0411, &hw), LEAT_ERR_OK);
    EQ(hw.part[LEAT_POETS_HW_BOARD_Y], 0);
    EQ(hw.part[LEAT_POETS_HW_BOARD_X], 1);
    EQ(hw.part[LEAT_POETS_HW_MAILBOX_Y], 0);
    EQ(hw.part[LEAT_POETS_HW_MAILBOX_X], 0);
    EQ(hw.part[LEAT_POETS_HW_CORE], 1);
    EQ(hw.part[LEAT_POETS_HW_THREAD], 1);
    EQ(leat_poets_hw_host(&leat_poets_hw_tinsel, &addr), LEAT_ERR_OK);
    EQ(addr, 0x20000);
}

static void every_default_address_unpacks_and_packs(void)
{
    for (uint32_t addr = 0; addr < 0x10000; addr++) {
        struct leat_poets_hw hw;
        uint32_t back = 0;
        EQ(leat_poets_hw_unpack(&leat_poets_hw_tinsel, addr, &hw), LEAT_ERR_OK);
        EQ(leat_poets_hw_pack(&leat_poets_hw_tinsel, &hw, &back), LEAT_ERR_OK);
        EQ(back, addr);
    }
}

static void parts_and_addresses_beyond_their_width_are_refused(void)
{
    struct leat_poets_hw hw, before;
    uint32_t addr = 77;
    memset(&hw, 0x5c, sizeof hw);
    before = hw;
    EQ(leat_poets_hw_unpack(&leat_poets_hw_tinsel, 0x10000, &hw), LEAT_ERR_RANGE);
    EQ(leat_poets_hw_unpack(&leat_poets_hw_tinsel, 0x20000, &hw), LEAT_ERR_RANGE);
    EQ(leat_poets_hw_unpack(&leat_poets_hw_tinsel, UINT32_MAX, &hw), LEAT_ERR_RANGE);
    OK(memcmp(&hw, &before, sizeof hw) == 0);
    for (unsigned i = 0; i < LEAT_POETS_HW_PART_COUNT; i++) {
        struct leat_poets_hw wide = { { 0 } };
        wide.part[i] = UINT32_C(1) << leat_poets_hw_tinsel.width[i];
        EQ(leat_poets_hw_pack(&leat_poets_hw_tinsel, &wide, &addr), LEAT_ERR_RANGE);
    }
    EQ(addr, 77);
}

static void widths_may_sum_to_30_and_no_more(void)
{
    const struct leat_poets_hw_format widest = { { 5, 5, 5, 5, 5, 5 } };
    const struct leat_poets_hw_format single = { { 0, 0, 30, 0, 0, 0 } };
    const struct leat_poets_hw_format wider = { { 5, 5, 5, 5, 5, 6 } };
    const struct leat_poets_hw_format absurd = { { 255, 255, 255, 255, 255, 255 } };
    struct leat_poets_hw hw = { { 0 } };
    uint32_t addr = 77;
    EQ(leat_poets_hw_host(&wider, &addr), LEAT_ERR_RANGE);
    EQ(leat_poets_hw_pack(&wider, &hw, &addr), LEAT_ERR_RANGE);
    EQ(leat_poets_hw_unpack(&wider, 0, &hw), LEAT_ERR_RANGE);
    EQ(leat_poets_hw_unpack(&absurd, 0, &hw), LEAT_ERR_RANGE);
    EQ(leat_poets_hw_pack(&absurd, &hw, &addr), LEAT_ERR_RANGE);
    EQ(addr, 77);
    EQ(leat_poets_hw_host(&widest, &addr), LEAT_ERR_OK);
    EQ(addr, 0x80000000);
    EQ(leat_poets_hw_unpack(&single, 0x3fffffff, &hw), LEAT_ERR_OK);
    EQ(hw.part[LEAT_POETS_HW_MAILBOX_Y], 0x3fffffff);
    EQ(leat_poets_hw_pack(&single, &hw, &addr), LEAT_ERR_OK);
    EQ(addr, 0x3fffffff);
}

/* Against a sum of products, for any widths. */
static void random_formats_pack_like_mixed_radix_numbers(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        struct leat_poets_hw_format format;
        struct leat_poets_hw hw, back;
        uint64_t want = 0;
        uint32_t addr = 0;
        for (unsigned i = 0; i < LEAT_POETS_HW_PART_COUNT; i++) {
            format.width[i] = (uint8_t)leat_random_below(&r, 6);
            hw.part[i] = (uint32_t)leat_random_below(&r, UINT64_C(1) << format.width[i]);
            want = want * (UINT64_C(1) << format.width[i]) + hw.part[i];
        }
        EQ(leat_poets_hw_pack(&format, &hw, &addr), LEAT_ERR_OK);
        EQ(addr, want);
        EQ(leat_poets_hw_unpack(&format, addr, &back), LEAT_ERR_OK);
        OK(memcmp(&back, &hw, sizeof hw) == 0);
        if (tap_checks_failed) return;
    }
}

TAP_MAIN(T(an_addressed_packet_is_the_published_68_octets),
         T(a_debug_octet_is_the_published_5_octets), T(a_device_entry_holds_addresses_and_name),
         T(names_are_cut_at_51_octets), T(a_name_without_its_nul_is_refused),
         T(records_of_any_other_length_are_refused), T(random_fixed_records_round_trip),
         T(a_frame_has_the_layout_of_the_note), T(a_frame_gives_back_its_records),
         T(malformed_frames_are_refused_with_their_place),
         T(every_truncation_of_a_frame_is_refused), T(a_frame_beyond_16_kib_is_refused),
         T(the_writer_refuses_what_no_frame_holds), T(a_cursor_is_bounded_by_its_octets),
         T(random_frames_round_trip), T(published_hardware_addresses),
         T(every_default_address_unpacks_and_packs),
         T(parts_and_addresses_beyond_their_width_are_refused), T(widths_may_sum_to_30_and_no_more),
         T(random_formats_pack_like_mixed_radix_numbers))
