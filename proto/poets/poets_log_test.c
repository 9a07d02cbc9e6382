#include "poets_hex_test.h"
#include "poets_log.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { FRAGMENT = 55, COUNT_MAX = 4 };

static struct leat_poets_packet fragment(unsigned seq, const char *text)
{
    struct leat_poets_packet p = { .packet_class = LEAT_POETS_CLASS_SUP,
                                   .opcode = LEAT_POETS_OP_LOG,
                                   .payload_len = LEAT_POETS_PAYLOAD_LEN_MAX };
    p.payload[0] = (uint8_t)seq;
    memcpy(p.payload + 1, text, strlen(text));
    return p;
}

/* A whole fragment of one letter. */
static struct leat_poets_packet letters(unsigned seq, char letter)
{
    char text[FRAGMENT + 1] = { 0 };
    memset(text, letter, FRAGMENT);
    return fragment(seq, text);
}

static enum leat_poets_log_verdict join(struct leat_poets_log_state *s, struct leat_poets_packet p,
                                        struct leat_poets_log_lines *out)
{
    return leat_poets_log_join(s, &p, out);
}

static bool is_text(const struct leat_poets_log_line *line, const char *text)
{
    return line->len == strlen(text) && memcmp(line->text, text, line->len) == 0;
}

static void check_octets(const struct leat_poets_packet *p, const char *hex)
{
    uint8_t buf[LEAT_POETS_PACKET_LEN_MAX], want[LEAT_POETS_PACKET_LEN_MAX];
    size_t len = 0;
    EQ(leat_poets_packet_encode(p, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(len, unhex(hex, want));
    EQ(p->nflit, len / 16);
    OK(memcmp(buf, want, len) == 0);
}

/* V14 and V15 of spec/poets.md. */
static void published_texts_split_into_published_octets(void)
{
    struct leat_poets_packet out[COUNT_MAX];
    size_t count = 0;
    EQ(leat_poets_log_split("dIDX OOR 9", 10, 0, 2, out, &count), LEAT_ERR_OK);
    EQ(count, 1);
    check_octets(&out[0], "0000fcc0020000000064494458204f4f52203900000000000000000000000000");

    char text[61] = "";
    for (int i = 0; i < 6; i++)
        memcpy(text + 10 * i, "abcdefghij", 10);
    EQ(leat_poets_log_split(text, 60, 0, 1, out, &count), LEAT_ERR_OK);
    EQ(count, 2);
    check_octets(&out[0], "0000fcc001000000016162636465666768696a6162636465666768696a616263"
                          "6465666768696a6162636465666768696a6162636465666768696a6162636465");
    check_octets(&out[1], "0000fcc00100000000666768696a0000");
}

/* V16. */
static void fragment_counts_are_those_of_the_note(void)
{
    static const struct {
        size_t chars, count;
    } example[] = { { 0, 1 },   { 54, 1 },  { 55, 2 },  { 109, 2 }, { 110, 3 },
                    { 164, 3 }, { 165, 4 }, { 219, 4 }, { 300, 4 } };
    char text[300];
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof example / sizeof *example; i++) {
        struct leat_poets_packet out[COUNT_MAX];
        size_t count = 0;
        EQ(leat_poets_log_split(text, example[i].chars, 0, 0, out, &count), LEAT_ERR_OK);
        EQ(count, example[i].count);
    }
}

/* 1.5: seq descends to 0, all but the last are 4 flits, the last is ((9+rem-1)>>4)+1. */
static void fragments_descend_and_only_the_last_is_short(void)
{
    char text[300];
    memset(text, 'x', sizeof text);
    for (size_t chars = 0; chars <= sizeof text; chars++) {
        struct leat_poets_packet out[COUNT_MAX];
        size_t count = 0;
        EQ(leat_poets_log_split(text, chars, 7, 0x12345678, out, &count), LEAT_ERR_OK);
        const size_t kept = (chars < 219 ? chars : 219) + 1; /* with its NUL */
        const size_t rem = kept - (count - 1) * FRAGMENT;
        for (size_t i = 0; i < count; i++) {
            EQ(out[i].packet_class, LEAT_POETS_CLASS_SUP);
            EQ(out[i].opcode, LEAT_POETS_OP_LOG);
            EQ(out[i].task, 7);
            EQ(out[i].sender, 0x12345678);
            EQ(out[i].device, 0);
            EQ(out[i].payload[0], count - 1 - i);
            EQ(out[i].nflit, i + 1 < count ? 4 : ((9 + rem - 1) >> 4) + 1);
        }
        EQ(out[count - 1].payload[rem], 0);
    }
}

static void a_text_ends_at_its_first_nul(void)
{
    struct leat_poets_packet out[COUNT_MAX];
    size_t count = 0;
    EQ(leat_poets_log_split("ab\0cd", 5, 0, 0, out, &count), LEAT_ERR_OK);
    EQ(count, 1);
    EQ(out[0].payload_len, 4);
    OK(memcmp(out[0].payload, "\0ab\0\0\0", 6) == 0);
}

static void a_task_beyond_63_is_refused_before_anything_is_written(void)
{
    struct leat_poets_packet out[COUNT_MAX], before[COUNT_MAX];
    size_t count = 77;
    memset(out, 0x5c, sizeof out);
    memset(before, 0x5c, sizeof before);
    EQ(leat_poets_log_split("x", 1, 64, 0, out, &count), LEAT_ERR_POETS_TASK);
    EQ(count, 77);
    OK(memcmp(out, before, sizeof out) == 0);
}

static void what_was_split_is_joined_over_the_wire(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    struct leat_poets_log_state s = { 0 };
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        char text[260];
        const size_t len = leat_random_below(&r, sizeof text);
        for (size_t i = 0; i < len; i++)
            text[i] = (char)(1 + leat_random_below(&r, 255));
        struct leat_poets_packet out[COUNT_MAX];
        struct leat_poets_log_lines lines = { 0 };
        size_t count = 0;
        EQ(leat_poets_log_split(text, len, 0, 0, out, &count), LEAT_ERR_OK);
        for (size_t i = 0; i < count; i++) {
            uint8_t buf[LEAT_POETS_PACKET_LEN_MAX];
            struct leat_poets_packet p = out[i];
            size_t buf_len = 0;
            if (round % 2) { /* every other text without the wire between */
                EQ(leat_poets_packet_encode(&out[i], buf, sizeof buf, &buf_len), LEAT_ERR_OK);
                EQ(leat_poets_packet_decode(buf, buf_len, &p, NULL), LEAT_ERR_OK);
            }
            EQ(join(&s, p, &lines), i + 1 < count ? LEAT_POETS_LOG_NONE : LEAT_POETS_LOG_LINE);
        }
        EQ(lines.count, 1);
        OK(!lines.line[0].truncated);
        EQ(lines.line[0].len, len < 219 ? len : 219);
        OK(memcmp(lines.line[0].text, text, lines.line[0].len) == 0);
        if (tap_checks_failed) return;
    }
}

static void a_line_is_complete_in_any_order_after_its_first_fragment(void)
{
    struct leat_poets_log_state s = { 0 };
    struct leat_poets_log_lines out;
    EQ(join(&s, letters(2, 'a'), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, fragment(0, "end"), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, letters(1, 'b'), &out), LEAT_POETS_LOG_LINE);
    EQ(out.count, 1);
    OK(!out.line[0].truncated);
    EQ(out.line[0].len, 2 * FRAGMENT + 3);
    OK(memcmp(out.line[0].text + 2 * FRAGMENT, "end", 3) == 0);
    EQ(join(&s, fragment(0, "next"), &out), LEAT_POETS_LOG_LINE);
    OK(is_text(&out.line[0], "next"));
}

static void a_repeated_fragment_flushes_what_is_there_as_truncated(void)
{
    struct leat_poets_log_state s = { 0 };
    struct leat_poets_log_lines out;
    EQ(join(&s, letters(1, 'a'), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, letters(1, 'b'), &out), LEAT_POETS_LOG_LINE);
    EQ(out.count, 1);
    OK(out.line[0].truncated);
    EQ(out.line[0].len, FRAGMENT);
    EQ(out.line[0].text[0], 'a');
    EQ(join(&s, fragment(0, "!"), &out), LEAT_POETS_LOG_LINE);
    OK(!out.line[0].truncated);
    EQ(out.line[0].len, FRAGMENT + 1);
    EQ(out.line[0].text[0], 'b');
}

static void a_fragment_above_the_first_opens_another_message(void)
{
    struct leat_poets_log_state s = { 0 };
    struct leat_poets_log_lines out;
    EQ(join(&s, letters(1, 'a'), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, letters(3, 'b'), &out), LEAT_POETS_LOG_LINE);
    OK(out.line[0].truncated);
    EQ(s.expect, 3);
    EQ(join(&s, letters(2, 'c'), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, letters(1, 'd'), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, fragment(0, ""), &out), LEAT_POETS_LOG_LINE);
    EQ(out.line[0].len, 3 * FRAGMENT);
}

/* Fragment 1 of 2, 1, 0 is lost; then a short line follows. */
static void one_fragment_may_end_two_messages(void)
{
    struct leat_poets_log_state s = { 0 };
    struct leat_poets_log_lines out;
    EQ(join(&s, letters(2, 'a'), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, fragment(0, "lost"), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, fragment(0, "short"), &out), LEAT_POETS_LOG_LINE);
    EQ(out.count, 2);
    OK(out.line[0].truncated);
    EQ(out.line[0].len, FRAGMENT + 4);
    OK(!out.line[1].truncated);
    OK(is_text(&out.line[1], "short"));
    EQ(s.present, 0);
}

static void what_is_no_log_fragment_is_dropped_without_a_trace(void)
{
    struct leat_poets_log_state s = { 0 }, before;
    struct leat_poets_log_lines out;
    EQ(join(&s, letters(1, 'a'), &out), LEAT_POETS_LOG_NONE);
    before = s;
    struct leat_poets_packet bad[5] = { letters(4, 'x'), letters(255, 'x'), letters(0, 'x'),
                                        letters(0, 'x'), letters(0, 'x') };
    bad[2].packet_class = LEAT_POETS_CLASS_CTL;
    bad[3].opcode = LEAT_POETS_OP_IMPL;
    bad[4].payload_len = LEAT_POETS_PAYLOAD_LEN_MAX + 1;
    for (size_t i = 0; i < 5; i++) {
        EQ(join(&s, bad[i], &out), LEAT_POETS_LOG_DROPPED);
        EQ(out.count, 0);
        OK(memcmp(&s, &before, sizeof s) == 0);
    }
}

static void text_without_a_nul_fills_the_line_and_no_more(void)
{
    struct leat_poets_log_state s = { 0 };
    struct leat_poets_log_lines out;
    for (unsigned seq = 4; seq-- > 0;)
        EQ(join(&s, letters(seq, 'z'), &out), seq ? LEAT_POETS_LOG_NONE : LEAT_POETS_LOG_LINE);
    EQ(out.line[0].len, LEAT_POETS_LOG_JOINED_LEN_MAX);
}

static void a_nul_in_the_first_fragment_ends_the_line(void)
{
    struct leat_poets_log_state s = { 0 };
    struct leat_poets_log_lines out;
    EQ(join(&s, fragment(1, "head"), &out), LEAT_POETS_LOG_NONE);
    EQ(join(&s, fragment(0, "tail"), &out), LEAT_POETS_LOG_LINE);
    OK(is_text(&out.line[0], "head"));
    struct leat_poets_packet empty = fragment(0, "");
    empty.payload_len = 0;
    empty.payload[0] = 9; /* not part of the payload */
    EQ(join(&s, empty, &out), LEAT_POETS_LOG_LINE);
    EQ(out.line[0].len, 0);
}

TAP_MAIN(T(published_texts_split_into_published_octets), T(fragment_counts_are_those_of_the_note),
         T(fragments_descend_and_only_the_last_is_short), T(a_text_ends_at_its_first_nul),
         T(a_task_beyond_63_is_refused_before_anything_is_written),
         T(what_was_split_is_joined_over_the_wire),
         T(a_line_is_complete_in_any_order_after_its_first_fragment),
         T(a_repeated_fragment_flushes_what_is_there_as_truncated),
         T(a_fragment_above_the_first_opens_another_message), T(one_fragment_may_end_two_messages),
         T(what_is_no_log_fragment_is_dropped_without_a_trace),
         T(text_without_a_nul_fills_the_line_and_no_more),
         T(a_nul_in_the_first_fragment_ends_the_line))
