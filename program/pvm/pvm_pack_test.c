/* The encoding of items in a message, and round trips; against octets written by hand and against
 * an independent model. */
#include "pvm_buffer.h"
#include "tap.h"
#include <leat/random.h>
#include <pvm3.h>
#include <string.h>

#ifndef LEAT_ROUNDS
#define LEAT_ROUNDS 20000
#endif

enum { IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static void holds(const struct leat_pvm_buffer *b, const char *hex)
{
    char text[256] = "";
    for (size_t i = 0; i < b->body.len && i < 100; i++)
        snprintf(text + 2 * i, 3, "%02x", b->body.at[i]);
    OK(!strcmp(text, hex));
    if (strcmp(text, hex)) printf("# is %s, want %s\n", text, hex);
}

/* ---- octets by hand -------------------------------------------------------------------------- */

static void xdr_is(int type, const void *items, int count, int stride, const char *hex)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_XDR);
    EQ(leat_pvm_pack(b, type, items, count, stride), PvmOk);
    holds(b, hex);
    leat_pvm_buffer_free(b);
}

static void xdr_has_four_octets_for_integers_big_end_first(void)
{
    xdr_is(PVM_SHORT, (short[]){ 1, -2 }, 2, 1, "00000001fffffffe");
    xdr_is(PVM_USHORT, (unsigned short[]){ 65535 }, 1, 1, "0000ffff");
    xdr_is(PVM_INT, (int[]){ 0x01020304, -1 }, 2, 1, "01020304ffffffff");
    xdr_is(PVM_UINT, (unsigned[]){ 4000000000u }, 1, 1, "ee6b2800");
    xdr_is(PVM_LONG, (long[]){ 5, -2147483648L }, 2, 1, "0000000580000000");
    xdr_is(PVM_ULONG, (unsigned long[]){ 4294967295ul }, 1, 1, "ffffffff");
}

static void xdr_has_ieee_numbers_big_end_first(void)
{
    xdr_is(PVM_FLOAT, (float[]){ 1, -2.5f }, 2, 1, "3f800000c0200000");
    xdr_is(PVM_DOUBLE, (double[]){ 1, -2.5 }, 2, 1, "3ff0000000000000c004000000000000");
    xdr_is(PVM_CPLX, (float[]){ 1, 2 }, 1, 1, "3f80000040000000");
    xdr_is(PVM_DCPLX, (double[]){ 1, 2 }, 1, 1, "3ff00000000000004000000000000000");
}

static void xdr_pads_bytes_and_strings_to_four(void)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_XDR);
    xdr_is(PVM_BYTE, "abcde", 5, 1, "6162636465000000");
    xdr_is(PVM_BYTE, "abcde", 0, 1, "");
    EQ(leat_pvm_pack_text(b, "hello"), PvmOk);
    holds(b, "0000000668656c6c6f000000");
    EQ(leat_pvm_pack_text(b, ""), PvmOk);
    holds(b, "0000000668656c6c6f0000000000000100000000");
    leat_pvm_buffer_free(b);
}

static void strides_leave_items_out(void)
{
    const int numbers[] = { 1, 2, 3, 4, 5 };
    xdr_is(PVM_INT, numbers, 3, 2, "000000010000000300000005");
    xdr_is(PVM_INT, numbers + 4, 2, -4, "0000000500000001");
    xdr_is(PVM_INT, numbers + 1, 2, 0, "0000000200000002");
    xdr_is(PVM_CPLX, (float[]){ 1, 2, 9, 9, 1, 2 }, 2, 2, "3f800000400000003f80000040000000");
}

static void raw_is_what_memory_holds(void)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_RAW);
    EQ(leat_pvm_pack(b, PVM_SHORT, (short[]){ 1, 0, -2 }, 2, 2), PvmOk);
    EQ(leat_pvm_pack(b, PVM_BYTE, "abc", 3, 1), PvmOk);
    EQ(leat_pvm_pack_text(b, "x"), PvmOk);
    EQ(leat_pvm_pack(b, PVM_LONG, (long[]){ 1L << 40 }, 1, 1), PvmOk);
    holds(b, IS_BIG ? "0001fffe616263000000027800"
                      "0000010000000000"
                    : "0100feff616263020000007800"
                      "0000000000010000");
    leat_pvm_buffer_free(b);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void what_does_not_fit_xdr_is_refused_whole(void)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_XDR);
    EQ(leat_pvm_pack(b, PVM_LONG, (long[]){ 1, 2147483648L }, 2, 1), PvmOverflow);
    EQ(leat_pvm_pack(b, PVM_LONG, (long[]){ -2147483649L }, 1, 1), PvmOverflow);
    EQ(leat_pvm_pack(b, PVM_ULONG, (unsigned long[]){ 4294967296ul }, 1, 1), PvmOverflow);
    EQ(b->body.len, 0);
    leat_pvm_buffer_free(b);
}

static void bad_types_and_counts_are_refused(void)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_XDR);
    int x = 0;
    EQ(leat_pvm_pack(b, PVM_INT, &x, -1, 1), PvmBadParam);
    EQ(leat_pvm_pack(b, PVM_STR, &x, 1, 1), PvmBadParam);
    EQ(leat_pvm_pack(b, PVM_ULONG + 1, &x, 1, 1), PvmBadParam);
    EQ(leat_pvm_unpack(b, PVM_INT, &x, -1, 1), PvmBadParam);
    EQ(leat_pvm_type_len(PVM_DCPLX), 16);
    EQ(leat_pvm_type_len(-1), 0);
    leat_pvm_buffer_free(b);
}

static void reading_past_the_end_leaves_all_as_it_was(void)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_XDR);
    int x[2] = { 7, 7 };
    double y = 1;
    leat_pvm_pack(b, PVM_INT, (int[]){ 42 }, 1, 1);
    leat_pvm_buffer_finish(b);
    EQ(leat_pvm_unpack(b, PVM_INT, x, 2, 1), PvmNoData);
    EQ(leat_pvm_unpack(b, PVM_DOUBLE, &y, 1, 1), PvmNoData);
    EQ(x[0], 7);
    EQ(leat_pvm_unpack(b, PVM_INT, x, 1, 1), PvmOk);
    EQ(x[0], 42);
    EQ(leat_pvm_unpack(b, PVM_INT, x, 0, 1), PvmOk);
    leat_pvm_buffer_free(b);
}

static void strings_that_are_none_are_refused(void)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_XDR);
    const char *text = NULL;
    size_t len = 0;
    leat_pvm_pack(b, PVM_INT, (int[]){ 1000 }, 1, 1);
    leat_pvm_buffer_finish(b);
    EQ(leat_pvm_unpack_text(b, &text, &len), PvmNoData);
    b->body.at[2] = 0;
    b->body.at[3] = 0;
    EQ(leat_pvm_unpack_text(b, &text, &len), PvmBadMsg); /* not even a final zero */
    leat_pvm_buffer_free(b);
}

static void an_unknown_encoding_cannot_be_read(void)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(0x12345);
    int x;
    EQ(leat_pvm_unpack(b, PVM_INT, &x, 1, 1), PvmBadMsg);
    leat_pvm_buffer_free(b);
}

/* ---- in place -------------------------------------------------------------------------------- */

static void in_place_takes_the_items_when_they_are_sent(void)
{
    struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_IN_PLACE);
    int numbers[2] = { 1, 2 };
    char bytes[3] = "abc", out[11];
    EQ(leat_pvm_pack(b, PVM_INT, numbers, 2, 1), PvmOk);
    EQ(leat_pvm_pack(b, PVM_BYTE, bytes, 3, 1), PvmOk);
    numbers[1] = 9;
    bytes[0] = 'z';
    EQ(leat_pvm_buffer_len(b), 11);
    leat_pvm_buffer_copy(b, 0, out, 11);
    OK(!memcmp(out, numbers, 8) && !memcmp(out + 8, "zbc", 3));
    leat_pvm_buffer_copy(b, 6, out, 4); /* across two of them */
    OK(!memcmp(out, (char *)numbers + 6, 2) && !memcmp(out + 2, "zb", 2));
    EQ(leat_pvm_pack(b, PVM_INT, numbers, 1, 2), PvmNotImpl);
    EQ(leat_pvm_pack_text(b, "no"), PvmNotImpl);
    EQ(leat_pvm_buffer_finish(b), PvmOk);
    EQ(b->encoding, LEAT_PVM_RAW);
    EQ(leat_pvm_unpack(b, PVM_INT, numbers, 2, 1), PvmOk);
    EQ(numbers[1], 9);
    leat_pvm_buffer_free(b);
}

/* ---- the model: one item after the other, by value ------------------------------------------- */

static uint64_t chance;

struct model_type {
    int type;
    size_t len, parts, xdr;
    bool is_signed;
};

static const struct model_type model[] = {
    { PVM_BYTE, 1, 1, 1, false },  { PVM_SHORT, 2, 1, 4, true },  { PVM_INT, 4, 1, 4, true },
    { PVM_FLOAT, 4, 1, 4, false }, { PVM_CPLX, 4, 2, 4, false },  { PVM_DOUBLE, 8, 1, 8, false },
    { PVM_DCPLX, 8, 2, 8, false }, { PVM_LONG, 8, 1, 4, true },   { PVM_USHORT, 2, 1, 4, false },
    { PVM_UINT, 4, 1, 4, false },  { PVM_ULONG, 8, 1, 4, false },
};

enum { ITEMS_MAX = 40, CALLS = 6, MEMORY = ITEMS_MAX * 3 * 16 };

/* A value that XDR can hold: in memory octets of this machine. */
static void random_item(const struct model_type *t, uint8_t *at)
{
    uint64_t value = leat_random_splitmix(&chance);
    if (t->len == 8 && t->xdr == 4)
        value = t->is_signed ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
    for (size_t i = 0; i < t->len; i++)
        at[IS_BIG ? t->len - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void model_append(uint8_t *out, size_t *len, const struct model_type *t, const uint8_t *item)
{
    for (size_t i = 0; i < t->xdr; i++) { /* from the high end */
        const size_t place = t->xdr - 1 - i;
        const uint8_t high = item[IS_BIG ? 0 : t->len - 1] & 0x80 && t->is_signed ? 0xff : 0;
        out[(*len)++] = place < t->len ? item[IS_BIG ? t->len - 1 - place : place] : high;
    }
}

static void all_types_come_back_and_look_as_the_model_says(void)
{
    static uint8_t want[CALLS * MEMORY], memory[CALLS][MEMORY], back[MEMORY];
    chance = tap_seed();
    for (int round = 0; round < LEAT_ROUNDS / 20; round++) {
        struct leat_pvm_buffer *b = leat_pvm_buffer_new(LEAT_PVM_XDR);
        const struct model_type *type[CALLS];
        int count[CALLS], stride[CALLS];
        size_t len = 0;
        for (int c = 0; c < CALLS; c++) {
            const struct model_type *t = type[c] = &model[leat_random_splitmix(&chance) % 11];
            count[c] = (int)(leat_random_splitmix(&chance) % ITEMS_MAX);
            stride[c] = 1 + (int)(leat_random_splitmix(&chance) % 3);
            const size_t step = t->len * t->parts * (size_t)stride[c];
            for (size_t i = 0; i < MEMORY / t->len; i++)
                random_item(t, memory[c] + i * t->len);
            EQ(leat_pvm_pack(b, t->type, memory[c], count[c], stride[c]), PvmOk);
            for (int i = 0; i < count[c]; i++)
                for (size_t p = 0; p < t->parts; p++)
                    model_append(want, &len, t, memory[c] + (size_t)i * step + p * t->len);
            while (len % 4)
                want[len++] = 0;
        }
        EQ(b->body.len, len);
        OK(!memcmp(b->body.at, want, len) || !len);
        leat_pvm_buffer_finish(b);
        for (int c = 0; c < CALLS; c++) {
            const size_t item = type[c]->len * type[c]->parts;
            memset(back, 0xaa, sizeof back);
            EQ(leat_pvm_unpack(b, type[c]->type, back, count[c], stride[c]), PvmOk);
            for (int i = 0; i < count[c]; i++)
                OK(!memcmp(back + (size_t)(i * stride[c]) * item,
                           memory[c] + (size_t)(i * stride[c]) * item, item));
            if (stride[c] > 1 && count[c]) EQ(back[item], 0xaa); /* gaps are untouched */
        }
        leat_pvm_buffer_free(b);
    }
}

TAP_MAIN(T(xdr_has_four_octets_for_integers_big_end_first), T(xdr_has_ieee_numbers_big_end_first),
         T(xdr_pads_bytes_and_strings_to_four), T(strides_leave_items_out),
         T(raw_is_what_memory_holds), T(what_does_not_fit_xdr_is_refused_whole),
         T(bad_types_and_counts_are_refused), T(reading_past_the_end_leaves_all_as_it_was),
         T(strings_that_are_none_are_refused), T(an_unknown_encoding_cannot_be_read),
         T(in_place_takes_the_items_when_they_are_sent),
         T(all_types_come_back_and_look_as_the_model_says))
