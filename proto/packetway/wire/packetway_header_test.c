#include "packetway_header.h"
#include "packetway_leading.h"
#include "packetway_vectors_test.h"
#include "tap.h"
#include <leat/crc.h>
#include <leat/random.h>
#include <string.h>

static const struct leat_packetway_header plain = { .dt = 0x201, .sa = 0x101, .pt = 82 };

static bool untouched(const void *p, size_t len)
{
    const uint8_t *octets = p;
    for (size_t i = 0; i < len; i++)
        if (octets[i] != 0xA5) return false;
    return true;
}

static leat_err decode_hex(const char *hex, enum leat_packetway_mode mode,
                           struct leat_packetway_header *out)
{
    uint8_t buf[VECTOR_LEN_MAX];
    const size_t len = unhex(hex, buf);
    return leat_packetway_header_decode(buf, len, mode, out, NULL);
}

/* ---- PH ---- */

/* T12: P=5, PT=PVM, PL=3, DL=2. */
static void the_header_of_t12_is_read_and_written(void)
{
    uint8_t buf[VECTOR_LEN_MAX], back[LEAT_PACKETWAY_HEADER_LEN];
    struct leat_packetway_header h;
    unhex("0500020100000052 0600000200000101", buf);
    EQ(leat_packetway_header_decode(buf, 16, LEAT_PACKETWAY_STRICT, &h, NULL), LEAT_ERR_OK);
    EQ(h.priority, 5);
    EQ(h.dt, 0x201);
    EQ(h.te, 0);
    EQ(h.pt, LEAT_PACKETWAY_PT_PVM);
    EQ(h.e, 0);
    EQ(h.pl, 3);
    EQ(h.dl, 2);
    EQ(h.h, false);
    EQ(h.sa, 0x101);
    EQ(leat_packetway_header_encode(&h, back, sizeof back), LEAT_ERR_OK);
    OK(memcmp(back, buf, sizeof back) == 0);
}

/* The picture of spec 1.3, one field at a time with all its bits set. */
static void every_field_has_its_bits(void)
{
    const struct {
        struct leat_packetway_header h;
        const char *hex;
    } row[] = {
        { { .dt = 1, .pt = 1, .priority = 63 }, "3f00000100000001 0000000000000000" },
        { { .dt = 0x7FFFFF, .pt = 1 }, "007fffff00000001 0000000000000000" },
        { { .dt = 0xEFFFFF, .pt = 1 }, "00efffff00000001 0000000000000000" },
        { { .dt = 1, .pt = 1, .te = 0xFFFF }, "00000001ffff0001 0000000000000000" },
        { { .dt = 1, .pt = 0xFFFF }, "000000010000ffff 0000000000000000" },
        { { .dt = 1, .pt = 1, .e = 12 }, "0000000100000001 c000000000000000" },
        { { .dt = 1, .pt = 1, .pl = 7, .dl = 1 }, "0000000100000001 0e00000100000000" },
        { { .dt = 1, .pt = 1, .dl = (1 << 25) - 1 }, "0000000100000001 01ffffff00000000" },
        { { .dt = 1, .pt = 1, .h = true }, "0000000100000001 0000000080000000" },
        { { .dt = 1, .pt = 1, .sa = 0x7FFFFD }, "0000000100000001 00000000007ffffd" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint8_t want[VECTOR_LEN_MAX], got[LEAT_PACKETWAY_HEADER_LEN];
        unhex(row[i].hex, want);
        EQ(leat_packetway_header_check(&row[i].h), LEAT_ERR_OK);
        EQ(leat_packetway_header_encode(&row[i].h, got, sizeof got), LEAT_ERR_OK);
        OK(memcmp(got, want, sizeof got) == 0);
    }
}

static void random_headers_come_back(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS; i++) {
        const uint64_t a = leat_random_next(&r), b = leat_random_next(&r);
        struct leat_packetway_header h = { 0 }, back;
        h.dt = a & 1 ? 0xE00000 | (a >> 8 & 0xFFFFF) : 1 + (uint32_t)(a >> 8 & 0x7FFFFE);
        h.sa = (uint32_t)leat_random_below(&r, LEAT_PACKETWAY_ADDRESS_MAX + 1);
        h.dl = (uint32_t)(b & LEAT_PACKETWAY_DL_MAX);
        h.pl = h.dl ? (uint8_t)(b >> 25 & 7) : 0;
        h.te = (uint16_t)(a >> 32);
        h.pt = (uint16_t)(a >> 48 ? a >> 48 : 1);
        h.priority = (uint8_t)(b >> 28 & 63);
        h.e = (uint8_t)((b >> 34 & 8) | (b >> 38) % 5);
        h.h = b >> 63;
        uint8_t buf[LEAT_PACKETWAY_HEADER_LEN];
        EQ(leat_packetway_header_encode(&h, buf, sizeof buf), LEAT_ERR_OK);
        EQ(leat_packetway_header_decode(buf, sizeof buf, LEAT_PACKETWAY_STRICT, &back, NULL),
           LEAT_ERR_OK);
        OK(h.dt == back.dt && h.sa == back.sa && h.dl == back.dl && h.pl == back.pl &&
           h.te == back.te && h.pt == back.pt && h.priority == back.priority && h.e == back.e &&
           h.h == back.h);
        if (tap_checks_failed) return;
    }
}

static void whatever_octets_read_as_a_header_are_written_the_same(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS; i++) {
        uint8_t buf[LEAT_PACKETWAY_HEADER_LEN], back[LEAT_PACKETWAY_HEADER_LEN];
        struct leat_packetway_header h;
        leat_random_fill(&r, buf, sizeof buf);
        buf[0] &= 0x3F; /* else three in four are of another version */
        buf[12] &= 0x80;
        if (leat_packetway_header_decode(buf, sizeof buf, LEAT_PACKETWAY_STRICT, &h, NULL))
            continue;
        EQ(leat_packetway_header_encode(&h, back, sizeof back), LEAT_ERR_OK);
        OK(memcmp(buf, back, sizeof buf) == 0);
        if (tap_checks_failed) return;
    }
}

/* One header with all faults at once; each is corrected in turn, in the order of spec 2.2 (c). */
static void header_faults_are_found_in_the_order_of_the_spec(void)
{
    struct leat_packetway_header h;
    const enum leat_packetway_mode s = LEAT_PACKETWAY_STRICT;
    EQ(decode_hex("40c0000100000000 5600000001ffffff", s, &h), LEAT_ERR_PACKETWAY_VERSION);
    EQ(decode_hex("00c0000100000000 5600000001ffffff", s, &h), LEAT_ERR_PACKETWAY_DT_RESERVED);
    EQ(decode_hex("0000000000000000 5600000001ffffff", s, &h), LEAT_ERR_PACKETWAY_ADDR);
    EQ(decode_hex("0000000100000000 5600000001ffffff", s, &h), LEAT_ERR_PACKETWAY_PT);
    EQ(decode_hex("0000000100000001 5600000001ffffff", s, &h), LEAT_ERR_PACKETWAY_ENDIAN);
    EQ(decode_hex("0000000100000001 4600000001ffffff", s, &h), LEAT_ERR_PACKETWAY_PAD);
    EQ(decode_hex("0000000100000001 4600000101ffffff", s, &h), LEAT_ERR_PACKETWAY_RSV);
    EQ(decode_hex("0000000100000001 4600000100ffffff", s, &h), LEAT_ERR_PACKETWAY_SA);
    EQ(decode_hex("0000000100000001 46000001007fffff", s, &h), LEAT_ERR_PACKETWAY_SA);
    EQ(decode_hex("0000000100000001 46000001007ffffd", s, &h), LEAT_ERR_OK);
}

static void a_leading_record_is_no_header(void)
{
    struct leat_packetway_header h;
    EQ(decode_hex("0081010000000000 0000000000000101", LEAT_PACKETWAY_STRICT, &h),
       LEAT_ERR_PACKETWAY_ADDR);
    EQ(decode_hex("00f0000100000000 0000000000000101", LEAT_PACKETWAY_LENIENT, &h),
       LEAT_ERR_PACKETWAY_ADDR);
}

/* Spec 2.3: sizes 5..7 mean "do not swap", reserved sources mean none, RZ nothing. */
static void lenient_headers_say_less(void)
{
    struct leat_packetway_header h;
    EQ(decode_hex("0000000100000001 f0000000017fffff", LEAT_PACKETWAY_LENIENT, &h), LEAT_ERR_OK);
    EQ(h.e, LEAT_PACKETWAY_E_LITTLE);
    EQ(h.sa, 0);
    EQ(decode_hex("0000000100000001 00000000007ffffe", LEAT_PACKETWAY_LENIENT, &h), LEAT_ERR_OK);
    EQ(h.sa, 0);
    EQ(decode_hex("0000000100000001 0000000000800001", LEAT_PACKETWAY_LENIENT, &h),
       LEAT_ERR_PACKETWAY_SA);
}

static void short_headers_are_refused_and_touch_nothing(void)
{
    uint8_t buf[LEAT_PACKETWAY_HEADER_LEN], out[LEAT_PACKETWAY_HEADER_LEN];
    struct leat_packetway_header h;
    EQ(leat_packetway_header_encode(&plain, buf, sizeof buf), LEAT_ERR_OK);
    memset(&h, 0xA5, sizeof h);
    memset(out, 0xA5, sizeof out);
    for (size_t len = 0; len < sizeof buf; len++) {
        size_t at = 99;
        EQ(leat_packetway_header_decode(buf, len, LEAT_PACKETWAY_STRICT, &h, &at),
           LEAT_ERR_PACKETWAY_SHORT);
        EQ(at, 0);
        EQ(leat_packetway_header_encode(&plain, out, len), LEAT_ERR_PACKETWAY_NOSPC);
    }
    OK(untouched(&h, sizeof h));
    OK(untouched(out, sizeof out));
}

static void refuse(struct leat_packetway_header h)
{
    uint8_t out[LEAT_PACKETWAY_HEADER_LEN];
    memset(out, 0xA5, sizeof out);
    EQ(leat_packetway_header_check(&h), LEAT_ERR_PACKETWAY_LIMIT);
    EQ(leat_packetway_header_encode(&h, out, sizeof out), LEAT_ERR_PACKETWAY_LIMIT);
    OK(untouched(out, sizeof out));
}

/* Spec section 10, "also refuse on encode". */
static void headers_outside_the_limits_are_not_written(void)
{
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .priority = 64 });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .dl = 1 << 25 });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .dl = 1, .pl = 8 });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .pl = 1 });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .e = 5 });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .e = 15 });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .e = 16 });
    refuse((struct leat_packetway_header){ .dt = 0, .pt = 1 });
    refuse((struct leat_packetway_header){ .dt = 0xC00000, .pt = 1 });
    refuse((struct leat_packetway_header){ .dt = 0x800000, .pt = 1 });
    refuse((struct leat_packetway_header){ .dt = 0xF00001, .pt = 1 });
    refuse((struct leat_packetway_header){ .dt = 0x1000001, .pt = 1 });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 0 });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .sa = 0x7FFFFE });
    refuse((struct leat_packetway_header){ .dt = 1, .pt = 1, .sa = 0xE00000 });
}

static void classes_follow_the_top_bits(void)
{
    const struct {
        uint32_t address;
        enum leat_packetway_class class;
    } row[] = {
        { 0x000000, LEAT_PACKETWAY_CLASS_PHYSICAL }, { 0x7FFFFF, LEAT_PACKETWAY_CLASS_PHYSICAL },
        { 0x800000, LEAT_PACKETWAY_CLASS_L2RH },     { 0xBFFFFF, LEAT_PACKETWAY_CLASS_L2RH },
        { 0xC00000, LEAT_PACKETWAY_CLASS_RESERVED }, { 0xDFFFFF, LEAT_PACKETWAY_CLASS_RESERVED },
        { 0xE00000, LEAT_PACKETWAY_CLASS_LOGICAL },  { 0xEFFFFF, LEAT_PACKETWAY_CLASS_LOGICAL },
        { 0xF00000, LEAT_PACKETWAY_CLASS_SYMBOL },   { 0xFFFFFF, LEAT_PACKETWAY_CLASS_SYMBOL },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        EQ(leat_packetway_class_of(row[i].address), row[i].class);
    OK(!leat_packetway_address_is_node(0));
    OK(leat_packetway_address_is_node(1));
    OK(leat_packetway_address_is_node(0x7FFFFD));
    OK(!leat_packetway_address_is_node(0x7FFFFE));
    OK(!leat_packetway_address_is_node(0xE00005));
}

static void errors_have_the_numbers_of_the_spec(void)
{
    static const char *const name[32] = {
        "OK",         "E_SHORT",       "E_ALIGN",   "E_VERSION",  "E_RSV",       "E_L2RH_LEN",
        "E_SYM_TYPE", "E_DT_RESERVED", "E_ADDR",    "E_SA",       "E_PT",        "E_TE",
        "E_ENDIAN",   "E_PAD",         "E_OH_TYPE", "E_OH_LEN",   "E_OH_UNTERM", "E_OH_MANDATORY",
        "E_OT_LEN",   "E_TRAILING",    "E_CRC",     "E_TOO_MANY", "E_REC_TYPE",  "E_REC_LEN",
        "E_REC_PL",   "E_AT",          "E_RANGE",   "E_CC",       "E_SR",        "E_MSG",
        "E_LIMIT",    "E_NOSPC",
    };
    for (leat_err number = 1; number < 32; number++)
        OK(strcmp(leat_err_name(LEAT_ERR_PACKETWAY_SHORT + number - 1), name[number]) == 0);
    EQ(LEAT_ERR_PACKETWAY_NOSPC - LEAT_ERR_PACKETWAY_SHORT, 30);
}

/* ---- EI and the endianness aid ---- */

/* Spec section 9: three routers, the second sees an error. */
static void ei_accuses_the_router_that_saw_the_error(void)
{
    uint64_t ei = 0;
    ei = leat_packetway_ei_step(ei, false);
    EQ(ei, 0);
    ei = leat_packetway_ei_step(ei, true);
    EQ(ei, 1);
    ei = leat_packetway_ei_step(ei, false);
    EQ(ei, 2);

    ei = leat_packetway_ei_step(1, false);
    EQ(ei, 2);
    ei = leat_packetway_ei_step(ei, true);
    EQ(ei, 5);
    ei = leat_packetway_ei_step(ei, false);
    EQ(ei, 0xA);
}

static void ei_stops_moving_when_its_top_bit_is_set(void)
{
    const uint64_t top = UINT64_C(1) << 63;
    OK(leat_packetway_ei_step(top >> 1, false) == top);
    OK(leat_packetway_ei_step(top, false) == top);
    OK(leat_packetway_ei_step(top, true) == (top | 1));
}

static bool swapped(const char *hex, uint8_t e, bool host_is_little, const char *want_hex)
{
    uint8_t data[VECTOR_LEN_MAX], want[VECTOR_LEN_MAX];
    const size_t len = unhex(hex, data);
    EQ(unhex(want_hex, want), len);
    const bool partial = leat_packetway_data_swap(data, len, e, host_is_little);
    OK(memcmp(data, want, len) == 0);
    return partial;
}

/* Spec 2.5: the vector, then every size; equal orders and single octets stay. */
static void elements_are_swapped_and_a_partial_one_is_reported(void)
{
    OK(swapped("04030201aabb", 0xA, false, "01020304aabb"));
    OK(!swapped("0403020104030201", 0xA, false, "0102030401020304"));
    OK(!swapped("04030201aabb", 0xA, true, "04030201aabb"));
    OK(!swapped("04030201aabb", 0x2, false, "04030201aabb"));
    OK(swapped("04030201aabb", 0x2, true, "01020304aabb"));
    OK(swapped("0201040305", 0x9, false, "0102030405"));
    OK(!swapped("0807060504030201", 0xB, false, "0102030405060708"));
    OK(!swapped("100f0e0d0c0b0a090807060504030201", 0xC, false,
                "0102030405060708090a0b0c0d0e0f10"));
    OK(swapped("100f0e0d0c0b0a0908070605040302", 0xC, false, "100f0e0d0c0b0a0908070605040302"));
    OK(!swapped("0102030405", 0x8, false, "0102030405"));
    OK(!swapped("0102030405", 0xD, false, "0102030405"));
    OK(!swapped("", 0xA, false, ""));
}

/* ---- leading records ---- */

static const struct {
    const char *name, *hex;
    enum leat_packetway_leading_kind kind;
    uint32_t type;
    uint16_t len;
} records[] = {
    { "T01", "0081010000000000", LEAT_PACKETWAY_L2RH, 0, 1 },
    { "T02", "0085010203040500", LEAT_PACKETWAY_L2RH, 0, 5 },
    { "T03", "0086010203040506", LEAT_PACKETWAY_L2RH, 0, 6 },
    { "T04", "008d010203040506 0708090a0b0c0d00", LEAT_PACKETWAY_L2RH, 0, 13 },
    { "T05",
      "00bf010203040506 0708090a0b0c0d0e 0f10111213141516 1718191a1b1c1d1e 1f20212223242526 "
      "2728292a2b2c2d2e 2f30313233343536 3738393a3b3c3d3e 3f00000000000000",
      LEAT_PACKETWAY_L2RH, 0, 63 },
    { "T06", "00f0000200000000", LEAT_PACKETWAY_SYMBOL, 2, 0 },
    { "T07", "00f0000103010203", LEAT_PACKETWAY_SYMBOL, 1, 3 },
    { "T08", "00f0000104010203 0400000000000000", LEAT_PACKETWAY_SYMBOL, 1, 4 },
    { "T09", "00f0000109010203 0405060708090000", LEAT_PACKETWAY_SYMBOL, 1, 9 },
    { "T10", "00f000010b010203 0405060708090a0b", LEAT_PACKETWAY_SYMBOL, 1, 11 },
};

static void t01_to_t10_are_read_and_written(void)
{
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        uint8_t buf[VECTOR_LEN_MAX], back[LEAT_PACKETWAY_LEADING_SIZE_MAX];
        const size_t len = unhex(records[i].hex, buf);
        struct leat_packetway_leading r;
        size_t back_len = 0;
        EQ(leat_packetway_leading_decode(buf, len, LEAT_PACKETWAY_STRICT, &r, NULL), LEAT_ERR_OK);
        EQ(r.kind, records[i].kind);
        EQ(r.type, records[i].type);
        EQ(r.len, records[i].len);
        for (unsigned k = 0; k < r.len; k++)
            EQ(r.octets[k], k + 1);
        EQ(leat_packetway_leading_size(&r), len);
        EQ(leat_packetway_leading_encode(&r, back, sizeof back, &back_len), LEAT_ERR_OK);
        EQ(back_len, len);
        OK(memcmp(back, buf, len) == 0);
    }
}

/* T11: 33 words whose CRC32 is cc472b06. */
static void t11_the_longest_symbol_has_its_crc(void)
{
    uint8_t data[255], buf[LEAT_PACKETWAY_LEADING_SIZE_MAX];
    struct leat_packetway_leading r = { .kind = LEAT_PACKETWAY_SYMBOL, .type = 1, .len = 255 };
    size_t len = 0;
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    r.octets = data;
    EQ(leat_packetway_leading_encode(&r, buf, sizeof buf, &len), LEAT_ERR_OK);
    EQ(len, 264);
    EQ(leat_crc32(0, buf, len), 0xcc472b06);
    OK(memcmp(buf, "\x00\xf0\x00\x01\xff\x00\x01\x02", 8) == 0);
    OK(memcmp(buf + 256, "\xfb\xfc\xfd\xfe\x00\x00\x00\x00", 8) == 0);
    EQ(leat_packetway_leading_decode(buf, len, LEAT_PACKETWAY_STRICT, &r, NULL), LEAT_ERR_OK);
    OK(r.len == 255 && memcmp(r.octets, data, 255) == 0);
}

/* Spec 1.1: W = [(L+9)/8]; spec 1.2: W = [(L+12)/8]. */
static void sizes_are_those_of_the_formulas(void)
{
    for (unsigned len = 1; len <= 63; len++)
        EQ(leat_packetway_leading_size(&(struct leat_packetway_leading){
               .kind = LEAT_PACKETWAY_L2RH, .len = (uint16_t)len }),
           (len + 9) / 8 * 8);
    for (unsigned len = 0; len <= 255; len++)
        EQ(leat_packetway_leading_size(&(struct leat_packetway_leading){
               .kind = LEAT_PACKETWAY_SYMBOL, .len = (uint16_t)len }),
           (len + 12) / 8 * 8);
    for (unsigned octet = 0; octet < 256; octet++) {
        const enum leat_packetway_class class = leat_packetway_class_of(octet << 16);
        EQ(leat_packetway_is_l2rh((uint8_t)octet), class == LEAT_PACKETWAY_CLASS_L2RH);
        EQ(leat_packetway_is_symbol((uint8_t)octet), class == LEAT_PACKETWAY_CLASS_SYMBOL);
        EQ(leat_packetway_leading_begins((uint8_t)octet),
           class == LEAT_PACKETWAY_CLASS_L2RH || class == LEAT_PACKETWAY_CLASS_SYMBOL);
    }
}

static void every_shorter_leading_record_is_refused(void)
{
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        uint8_t buf[VECTOR_LEN_MAX];
        const size_t len = unhex(records[i].hex, buf);
        struct leat_packetway_leading r, good;
        memset(&r, 0xA5, sizeof r);
        EQ(leat_packetway_leading_decode(buf, len, LEAT_PACKETWAY_STRICT, &good, NULL),
           LEAT_ERR_OK);
        for (size_t cut = 0; cut < len; cut++) {
            uint8_t out[VECTOR_LEN_MAX];
            size_t at = 99, out_len = 99;
            memset(out, 0xA5, sizeof out);
            EQ(leat_packetway_leading_decode(buf, cut, LEAT_PACKETWAY_LENIENT, &r, &at),
               LEAT_ERR_PACKETWAY_SHORT);
            EQ(at, 0);
            EQ(leat_packetway_leading_encode(&good, out, cut, &out_len), LEAT_ERR_PACKETWAY_NOSPC);
            EQ(out_len, 99);
            OK(untouched(out, sizeof out));
        }
        OK(untouched(&r, sizeof r));
    }
}

static leat_err leading_of(const char *hex, enum leat_packetway_mode mode)
{
    uint8_t buf[VECTOR_LEN_MAX];
    struct leat_packetway_leading r;
    const size_t len = unhex(hex, buf);
    return leat_packetway_leading_decode(buf, len, mode, &r, NULL);
}

/* Spec 2.2 (b): V, reserved bits, L, ST. */
static void leading_faults_are_found_in_the_order_of_the_spec(void)
{
    const enum leat_packetway_mode s = LEAT_PACKETWAY_STRICT, l = LEAT_PACKETWAY_LENIENT;
    EQ(leading_of("4180000000000000", s), LEAT_ERR_PACKETWAY_VERSION);
    EQ(leading_of("4180000000000000", l), LEAT_ERR_PACKETWAY_VERSION);
    EQ(leading_of("0180000000000000", s), LEAT_ERR_PACKETWAY_RSV);
    EQ(leading_of("0180000000000000", l), LEAT_ERR_PACKETWAY_L2RH_LEN);
    EQ(leading_of("0080000000000000", s), LEAT_ERR_PACKETWAY_L2RH_LEN);
    EQ(leading_of("01f0000000000000", s), LEAT_ERR_PACKETWAY_RSV);
    EQ(leading_of("00f00000ff000000", s), LEAT_ERR_PACKETWAY_SYM_TYPE);
    EQ(leading_of("00f00000ff000000", l), LEAT_ERR_PACKETWAY_SHORT);
    EQ(leading_of("01f0000000000000", l), LEAT_ERR_OK);
    EQ(leading_of("0000010200000000", s), LEAT_ERR_PACKETWAY_ADDR);
    EQ(leading_of("00c0000000000000", l), LEAT_ERR_PACKETWAY_ADDR);
}

/* Spec 5.4: a router may take the low six bits of byte 0 as the priority of this hop. */
static void a_lenient_reader_sees_the_priority_of_the_hop(void)
{
    uint8_t buf[VECTOR_LEN_MAX];
    struct leat_packetway_leading r;
    unhex("2981010000000000", buf);
    EQ(leat_packetway_leading_decode(buf, 8, LEAT_PACKETWAY_LENIENT, &r, NULL), LEAT_ERR_OK);
    EQ(r.priority, 0x29);
    EQ(leat_packetway_leading_check(&r), LEAT_ERR_PACKETWAY_LIMIT);
}

static void refuse_leading(struct leat_packetway_leading r)
{
    static const uint8_t data[256];
    uint8_t out[300];
    size_t len = 99;
    r.octets = data;
    memset(out, 0xA5, sizeof out);
    EQ(leat_packetway_leading_check(&r), LEAT_ERR_PACKETWAY_LIMIT);
    EQ(leat_packetway_leading_encode(&r, out, sizeof out, &len), LEAT_ERR_PACKETWAY_LIMIT);
    EQ(len, 99);
    OK(untouched(out, sizeof out));
}

/* Spec section 10, "also refuse on encode". */
static void leading_records_outside_the_limits_are_not_written(void)
{
    const enum leat_packetway_leading_kind l2rh = LEAT_PACKETWAY_L2RH, sy = LEAT_PACKETWAY_SYMBOL;
    refuse_leading((struct leat_packetway_leading){ .kind = l2rh, .len = 0 });
    refuse_leading((struct leat_packetway_leading){ .kind = l2rh, .len = 64 });
    refuse_leading((struct leat_packetway_leading){ .kind = l2rh, .len = 1, .type = 1 });
    refuse_leading((struct leat_packetway_leading){ .kind = l2rh, .len = 1, .priority = 1 });
    refuse_leading((struct leat_packetway_leading){ .kind = sy, .len = 256, .type = 1 });
    refuse_leading((struct leat_packetway_leading){ .kind = sy, .len = 1, .type = 0 });
    refuse_leading((struct leat_packetway_leading){ .kind = sy, .len = 1, .type = 1 << 20 });
}

TAP_MAIN(T(the_header_of_t12_is_read_and_written), T(every_field_has_its_bits),
         T(random_headers_come_back), T(whatever_octets_read_as_a_header_are_written_the_same),
         T(header_faults_are_found_in_the_order_of_the_spec), T(a_leading_record_is_no_header),
         T(lenient_headers_say_less), T(short_headers_are_refused_and_touch_nothing),
         T(headers_outside_the_limits_are_not_written), T(classes_follow_the_top_bits),
         T(errors_have_the_numbers_of_the_spec), T(ei_accuses_the_router_that_saw_the_error),
         T(ei_stops_moving_when_its_top_bit_is_set),
         T(elements_are_swapped_and_a_partial_one_is_reported), T(t01_to_t10_are_read_and_written),
         T(t11_the_longest_symbol_has_its_crc), T(sizes_are_those_of_the_formulas),
         T(every_shorter_leading_record_is_refused),
         T(leading_faults_are_found_in_the_order_of_the_spec),
         T(a_lenient_reader_sees_the_priority_of_the_hop),
         T(leading_records_outside_the_limits_are_not_written))
