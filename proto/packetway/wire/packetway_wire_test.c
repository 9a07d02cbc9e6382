#include "leat_bytes.h"
#include "packetway_model_test.h"
#include "packetway_vectors_test.h"
#include "packetway_wire.h"
#include "tap.h"
#include <leat/crc.h>
#include <string.h>

enum { STRICT = LEAT_PACKETWAY_STRICT, LENIENT = LEAT_PACKETWAY_LENIENT };
enum { HOST = LEAT_PACKETWAY_DESTINATION, ROUTER = LEAT_PACKETWAY_FORWARDING };

static bool untouched(const void *p, size_t len)
{
    const uint8_t *octets = p;
    for (size_t i = 0; i < len; i++)
        if (octets[i] != 0xA5) return false;
    return true;
}

static leat_err read_message(const uint8_t *buf, size_t len, int mode, int place,
                             struct leat_packetway_message *out)
{
    return leat_packetway_message_decode(buf, len, (enum leat_packetway_mode)mode,
                                         (enum leat_packetway_place)place, out, NULL);
}

static leat_err read_hex(const char *hex, int mode, int place, struct leat_packetway_message *out)
{
    static uint8_t buf[VECTOR_LEN_MAX]; /* the view points into it */
    return read_message(buf, unhex(hex, buf), mode, place, out);
}

static bool same_octets(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

static bool same_fields(const struct leat_packetway_field *a, const struct leat_packetway_field *b,
                        unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const bool crc = a[i].type >= 2 && a[i].type <= 5; /* computed by the encoder */
        if (a[i].type != b[i].type || a[i].mandatory != b[i].mandatory || a[i].len != b[i].len)
            return false;
        if (!crc && !same_octets(a[i].octets, a[i].len, b[i].octets, b[i].len)) return false;
    }
    return true;
}

static bool same_leading(const struct leat_packetway_message *a,
                         const struct leat_packetway_message *b)
{
    for (unsigned i = 0; i < a->leading_count; i++) {
        const struct leat_packetway_leading *x = &a->leading[i], *y = &b->leading[i];
        if (x->kind != y->kind || x->type != y->type ||
            !same_octets(x->octets, x->len, y->octets, y->len))
            return false;
    }
    return true;
}

/* The meaning of a message: not pl, dl and h, which are derived, nor the pads. */
static bool same_meaning(const struct leat_packetway_message *a,
                         const struct leat_packetway_message *b)
{
    const struct leat_packetway_header *x = &a->header, *y = &b->header;
    return x->dt == y->dt && x->sa == y->sa && x->te == y->te && x->pt == y->pt &&
           x->priority == y->priority && x->e == y->e && a->ei == b->ei &&
           a->leading_count == b->leading_count && a->oh_count == b->oh_count &&
           a->ot_count == b->ot_count && same_leading(a, b) &&
           same_fields(a->oh, b->oh, a->oh_count) && same_fields(a->ot, b->ot, a->ot_count) &&
           same_octets(a->data, a->data_len, b->data, b->data_len) && a->extra_len == b->extra_len;
}

/* ---- vectors ---- */

static void every_vector_is_read_and_written_again(void)
{
    EQ(VECTOR_COUNT, 19);
    for (unsigned i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX], back[VECTOR_LEN_MAX];
        const size_t len = unhex(vectors[i].hex, buf);
        size_t back_len = 0;
        struct leat_packetway_message m;
        EQ(read_message(buf, len, STRICT, HOST, &m), LEAT_ERR_OK);
        EQ(leat_packetway_message_encode(&m, back, sizeof back, &back_len), LEAT_ERR_OK);
        OK(same_octets(buf, len, back, back_len));
        if (tap_checks_failed) printf("# %s\n", vectors[i].name);
    }
}

static void t12_holds_thirteen_octets_of_pvm(void)
{
    struct leat_packetway_message m;
    EQ(read_hex(vectors[0].hex, STRICT, HOST, &m), LEAT_ERR_OK);
    EQ(m.header.priority, 5);
    EQ(m.header.dl, 2);
    EQ(m.header.pl, 3);
    EQ(m.data_len, 13);
    for (unsigned i = 0; i < 13; i++)
        EQ(m.data[i], i + 1);
    EQ(m.leading_count + m.oh_count + m.ot_count, 0);
    OK(!leat_packetway_message_announces_ot(&m));
    EQ(m.ei, 0);
}

static void t13_has_an_unknown_field_and_a_crc_here(void)
{
    struct leat_packetway_message m;
    EQ(read_hex(vectors[1].hex, STRICT, HOST, &m), LEAT_ERR_OK);
    EQ(m.oh_count, 2);
    EQ(m.oh[0].type, 0x21);
    EQ(m.oh[0].mandatory, false);
    OK(same_octets(m.oh[0].octets, m.oh[0].len, (const uint8_t *)"\xaa\xbb\xcc", 3));
    EQ(m.oh[1].type, LEAT_PACKETWAY_OH_CRC32_HERE);
    EQ(m.oh[1].mandatory, true);
    EQ(m.oh[1].crc, 0x304f6433);
}

static void t15_has_two_crcs_and_a_field_of_its_own_in_ot(void)
{
    struct leat_packetway_message m;
    EQ(read_hex(vectors[3].hex, STRICT, HOST, &m), LEAT_ERR_OK);
    EQ(m.oh_count, 3);
    EQ(m.oh[0].crc, 0x03d3751e);
    OK(m.oh[1].crc == UINT64_C(0x40b5e1411bfd9387));
    EQ(m.ot_count, 1);
    OK(leat_packetway_message_announces_ot(&m));
    EQ(m.ot[0].type, 0x22);
    EQ(m.ot[0].mandatory, false);
    OK(same_octets(m.ot[0].octets, m.ot[0].len, (const uint8_t *)"\xde\xad", 2));
    EQ(m.extra_len, 0);
}

/* Spec section 9, "Trace of T23". RTRA3 forwards it unchanged; each step consumes the front. */
static void t23_is_consumed_on_its_way(void)
{
    uint8_t buf[VECTOR_LEN_MAX], want[VECTOR_LEN_MAX];
    const size_t len = unhex(vectors[11].hex, buf);
    struct leat_packetway_message m;
    size_t at = 0;

    EQ(read_message(buf, len, LENIENT, ROUTER, &m), LEAT_ERR_OK);
    EQ(m.leading_count, 3);
    OK(same_octets(m.leading[0].octets, m.leading[0].len, (const uint8_t *)"\1\1\2\3\0", 5));
    at += leat_packetway_leading_size(&m.leading[0]);
    EQ(at, 8);

    EQ(read_message(buf + at, len - at, LENIENT, ROUTER, &m), LEAT_ERR_OK);
    EQ(m.leading[0].kind, LEAT_PACKETWAY_SYMBOL);
    EQ(m.leading[0].type, 1);
    at += leat_packetway_leading_size(&m.leading[0]);

    EQ(read_message(buf + at, len - at, LENIENT, ROUTER, &m), LEAT_ERR_OK);
    EQ(m.leading_count, 1);
    OK(same_octets(m.leading[0].octets, m.leading[0].len, (const uint8_t *)"\3\0\3\0", 4));
    at += leat_packetway_leading_size(&m.leading[0]);

    const size_t want_len = unhex(
        "0900020100070051 0600000100000301 48454c4c4f000000 0000000000000000", want);
    OK(same_octets(buf + at, len - at, want, want_len));
    EQ(read_message(buf + at, len - at, STRICT, HOST, &m), LEAT_ERR_OK);
    OK(same_octets(m.data, m.data_len, (const uint8_t *)"HELLO", 5));

    /* Two routers: EI is ..01 if the second (B) saw an error, ..02 if the first (A) did. */
    EQ(leat_packetway_ei_step(leat_packetway_ei_step(m.ei, false), true), 1);
    EQ(leat_packetway_ei_step(leat_packetway_ei_step(m.ei, true), false), 2);
}

static void a_router_reads_leading_records_header_and_ei_only(void)
{
    struct leat_packetway_message m;
    /* DB and OT are nonsense; the forwarding path does not read them (spec 2.3). */
    EQ(read_hex("0081010000000000 0000020100000052 00ffffff80000101 00000000000000a5", STRICT,
                ROUTER, &m),
       LEAT_ERR_OK);
    EQ(m.leading_count, 1);
    EQ(m.header_at, 8);
    EQ(m.header.dl, 0xFFFFFF);
    EQ(m.header.h, true);
    EQ(m.ei, 0xA5);
    EQ(m.data_len, 0);
    EQ(m.oh_count, 0);
}

static void a_strict_router_refuses_reserved_bits_in_its_part(void)
{
    struct leat_packetway_message m;
    const char *const hex = "0181010000000000 0000020100000052 0000000000000101 0000000000000000";
    EQ(read_hex(hex, STRICT, ROUTER, &m), LEAT_ERR_PACKETWAY_RSV);
    EQ(read_hex(hex, LENIENT, ROUTER, &m), LEAT_ERR_OK);
    EQ(m.leading[0].priority, 1);
}

/* ---- malformed input ---- */

static void every_malformed_input_gives_its_error_and_place(void)
{
    EQ(MALFORMED_COUNT, 66 + 33); /* section 10, and our own */
    for (unsigned i = 0; i < MALFORMED_COUNT; i++) {
        const struct malformed *c = &malformed[i];
        uint8_t buf[VECTOR_LEN_MAX];
        const size_t len = unhex(c->hex, buf);
        struct leat_packetway_message m;
        size_t at = 9999;
        memset(&m, 0xA5, sizeof m);
        EQ(leat_packetway_message_decode(buf, len, LEAT_PACKETWAY_STRICT,
                                         LEAT_PACKETWAY_DESTINATION, &m, &at),
           c->err);
        EQ(at, c->at);
        OK(untouched(&m, sizeof m));
        EQ(read_message(buf, len, LENIENT, HOST, &m), c->lenient_ok ? LEAT_ERR_OK : c->err);
        OK(c->lenient_ok || untouched(&m, sizeof m));
        if (tap_checks_failed) {
            printf("# %s\n", c->name);
            return;
        }
    }
}

static void every_truncation_of_every_vector_is_refused(void)
{
    for (unsigned i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX];
        const size_t len = unhex(vectors[i].hex, buf);
        struct leat_packetway_message m;
        memset(&m, 0xA5, sizeof m);
        for (size_t cut = 0; cut < len; cut++) {
            size_t at = 9999;
            const leat_err err = leat_packetway_message_decode(buf, cut, LEAT_PACKETWAY_STRICT,
                                                               LEAT_PACKETWAY_DESTINATION, &m, &at);
            OK(err != LEAT_ERR_OK);
            OK(at <= cut);
            OK(cut % 8 == 0 || err == LEAT_ERR_PACKETWAY_ALIGN);
            OK(read_message(buf, cut, LENIENT, HOST, &m) != LEAT_ERR_OK);
        }
        OK(untouched(&m, sizeof m));
    }
}

/* Octets that the CRC of T13, T14 and T15 protects: up to the end of DB, and the CRC itself. */
static size_t protected_len(unsigned vector)
{
    static const size_t len[] = { [1] = 48, [2] = 44, [3] = 60 };
    return vector >= 1 && vector <= 3 ? len[vector] : 0;
}

/* Strict implies lenient and forwarding; what is read can be written and means the same. */
static void check_promises(const uint8_t *buf, size_t len)
{
    static uint8_t back[MODEL_LEN_MAX];
    static struct leat_packetway_message m, n;
    size_t at = SIZE_MAX, back_len = 0;
    memset(&m.header, 0xA5, sizeof m.header);
    const leat_err err = leat_packetway_message_decode(buf, len, LEAT_PACKETWAY_STRICT,
                                                       LEAT_PACKETWAY_DESTINATION, &m, &at);
    if (err) {
        OK(at <= len);
        OK(untouched(&m.header, sizeof m.header));
        read_message(buf, len, LENIENT, HOST, &n);
        read_message(buf, len, LENIENT, ROUTER, &n);
        return;
    }
    EQ(read_message(buf, len, LENIENT, HOST, &n), LEAT_ERR_OK);
    OK(same_meaning(&m, &n));
    EQ(read_message(buf, len, STRICT, ROUTER, &n), LEAT_ERR_OK);
    EQ(leat_packetway_message_encode(&m, back, sizeof back, &back_len), LEAT_ERR_OK);
    EQ(back_len, len);
    EQ(read_message(back, back_len, STRICT, HOST, &n), LEAT_ERR_OK);
    /* Pads may differ, and with them the CRCs and the pads within records. */
    m.data = n.data = NULL;
    OK(m.data_len == n.data_len);
    m.data_len = n.data_len = 0;
    OK(same_meaning(&m, &n));
}

static void every_bit_flip_of_every_vector_is_harmless_and_crcs_see_theirs(void)
{
    for (unsigned i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX];
        const size_t len = unhex(vectors[i].hex, buf);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            struct leat_packetway_message m;
            buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
            check_promises(buf, len);
            if (bit < 8 * protected_len(i)) OK(read_message(buf, len, STRICT, HOST, &m));
            buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

static void random_octets_are_harmless(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS / 4; i++) {
        uint8_t buf[128];
        const size_t len = leat_random_below(&r, sizeof buf + 1);
        leat_random_fill(&r, buf, len);
        check_promises(buf, len & ~(size_t)(i & 1 ? 7 : 0));
        if (tap_checks_failed) return;
    }
}

static void huge_lengths_are_no_danger(void)
{
    struct leat_packetway_message m;
    EQ(read_hex("0000020100000052 01ffffff00000101 0000000000000000", STRICT, HOST, &m),
       LEAT_ERR_PACKETWAY_SHORT);
    EQ(read_hex("0000010200180001 0000000100000101 2a00ffff41424344 0000000000000000", LENIENT,
                HOST, &m),
       LEAT_ERR_PACKETWAY_REC_LEN);
    EQ(read_hex("0000020100000052 0000000080000101 61ff000000000000 0000000000000000", LENIENT,
                HOST, &m),
       LEAT_ERR_PACKETWAY_SHORT);
    EQ(leat_packetway_message_decode(NULL, 0, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION, &m,
                                     NULL),
       LEAT_ERR_PACKETWAY_SHORT);
}

static void pads_are_not_inspected(void)
{
    struct leat_packetway_message m;
    EQ(read_hex("0081010102030405 00f00001012a0102 0500020100000052 0600000280000101 "
                "6103aabbcc010203 0102030405060708 090a0b0c0d010203 0000000000000000",
                STRICT, HOST, &m),
       LEAT_ERR_OK);
    EQ(m.data_len, 13);
    EQ(m.leading[1].len, 1);
    /* NAME "Super" with a pad of 01, SRQR with 0102 before its Q. */
    EQ(read_hex("0000010200180001 0000000200000101 2a07000153757065 7201010101010101 "
                "0000000000000000",
                STRICT, HOST, &m),
       LEAT_ERR_OK);
    EQ(read_hex("0000030100160001 0000000300000302 2900000201000201 2d02000101020006 "
                "0085010102030001 0000000000000000",
                STRICT, HOST, &m),
       LEAT_ERR_OK);
}

/* ---- lenient reading ---- */

static void words_that_an_unknown_field_announced_are_exposed(void)
{
    struct leat_packetway_message m;
    uint8_t out[64];
    size_t len;
    EQ(read_hex("0000020100000052 0000000080000101 6100000000000000 1122334455667788 "
                "0000000000000000",
                LENIENT, HOST, &m),
       LEAT_ERR_OK);
    EQ(m.extra_len, 8);
    EQ(m.extra[0], 0x11);
    EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_PACKETWAY_LIMIT);
}

static void the_old_end_of_fields_is_ignored(void)
{
    struct leat_packetway_message m;
    EQ(read_hex("0000020100000052 0000000080000101 2103aabbcc000000 ff00000000000000 "
                "0000000000000000",
                LENIENT, HOST, &m),
       LEAT_ERR_OK);
    EQ(m.oh_count, 1);
    EQ(m.oh[0].type, 0x21);
}

static void the_pad_of_an_rrp_message_is_no_pad_of_its_records(void)
{
    struct leat_packetway_message m;
    struct leat_packetway_record r;
    EQ(read_hex("0000010200150001 0200000100000101 2900000001000201 0000000000000000", LENIENT,
                HOST, &m),
       LEAT_ERR_OK);
    EQ(m.header.pl, 1);
    EQ(m.data_len, 8);
    struct leat_packetway_records records = leat_packetway_message_records(&m);
    OK(leat_packetway_records_next(&records, &r));
    EQ(leat_packetway_record_address(&r).low, 0x201);
}

static void reserved_values_of_old_senders_are_passed_over(void)
{
    struct leat_packetway_message m;
    EQ(read_hex("0000020100000052 50000000017ffffe 0000000000000000", LENIENT, HOST, &m),
       LEAT_ERR_OK);
    EQ(m.header.sa, 0);
    EQ(m.header.e, 0);
}

/* ---- encoding ---- */

static const uint8_t some_octets[300];

static struct leat_packetway_message plain_message(void)
{
    struct leat_packetway_message m;
    memset(&m, 0, sizeof m);
    m.header = (struct leat_packetway_header){ .dt = 0x201, .sa = 0x101, .pt = 82 };
    m.data = some_octets;
    return m;
}

static void refuse(const struct leat_packetway_message *m)
{
    uint8_t out[256];
    size_t len = 99;
    memset(out, 0xA5, sizeof out);
    EQ(leat_packetway_message_encode(m, out, sizeof out, &len), LEAT_ERR_PACKETWAY_LIMIT);
    EQ(len, 99);
    OK(untouched(out, sizeof out));
}

static void refuse_header(struct leat_packetway_header header)
{
    struct leat_packetway_message m = plain_message();
    m.header = header;
    refuse(&m);
}

/* Spec section 10, "also refuse on encode"; records are in packetway_rrp_test.c. */
static void messages_outside_the_limits_are_not_written(void)
{
    refuse_header((struct leat_packetway_header){ .dt = 0, .pt = 82 });
    refuse_header((struct leat_packetway_header){ .dt = 0xC00000, .pt = 82 });
    refuse_header((struct leat_packetway_header){ .dt = 1, .pt = 82, .sa = 0x7FFFFE });
    refuse_header((struct leat_packetway_header){ .dt = 1, .pt = 82, .priority = 64 });
    refuse_header((struct leat_packetway_header){ .dt = 1, .pt = 82, .e = 5 });
    refuse_header((struct leat_packetway_header){ .dt = 1, .pt = 0 });
    refuse_header((struct leat_packetway_header){ .dt = 1, .pt = 1, .te = 41 });
    refuse_header((struct leat_packetway_header){ .dt = 1, .pt = 1, .te = 27, .e = 8 });

    struct leat_packetway_message m = plain_message();
    m.data_len = (size_t)8 << 25; /* DL = 2^25 */
    refuse(&m);
    m = plain_message();
    m.leading_count = 1;
    m.leading[0] = (struct leat_packetway_leading){ LEAT_PACKETWAY_L2RH, 0, 64, 0, some_octets };
    refuse(&m);
    m.leading[0] = (struct leat_packetway_leading){ LEAT_PACKETWAY_SYMBOL, 0, 1, 0, some_octets };
    refuse(&m);
    m.leading_count = 65;
    refuse(&m);
}

static struct leat_packetway_message message_with_field(struct leat_packetway_field field)
{
    struct leat_packetway_message m = plain_message();
    field.octets = some_octets;
    m.oh_count = 1;
    m.oh[0] = field;
    return m;
}

static void fields_outside_the_limits_are_not_written(void)
{
    static const struct leat_packetway_field bad[] = {
        { .type = 0x21, .len = 256 },
        { .type = 0 },
        { .type = 0x40 },
        { .type = 2, .len = 3 },
        { .type = 3, .len = 4 },
        { .type = 4, .len = 4 },
        { .type = 0x21, .mandatory = true },
        { .type = 6 }, /* announces OT, and there is none */
    };
    struct leat_packetway_message m;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        m = message_with_field(bad[i]);
        refuse(&m);
    }
    m = plain_message(); /* OT without its OH */
    m.ot_count = 1;
    m.ot[0] = (struct leat_packetway_field){ .type = 0x22 };
    refuse(&m);
    m = message_with_field((struct leat_packetway_field){ .type = 6 });
    m.ot_count = 1;
    m.ot[0] = (struct leat_packetway_field){ .type = 0x22, .mandatory = true };
    refuse(&m);
    m.ot[0] = (struct leat_packetway_field){ .type = 0 };
    refuse(&m);
    m.ot_count = 65;
    refuse(&m);
    m.oh_count = 65;
    refuse(&m);
}

static void too_little_room_is_e_nospc_and_nothing_is_written(void)
{
    for (unsigned i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[VECTOR_LEN_MAX], out[VECTOR_LEN_MAX];
        const size_t len = unhex(vectors[i].hex, buf);
        size_t out_len = 99;
        struct leat_packetway_message m;
        EQ(read_message(buf, len, STRICT, HOST, &m), LEAT_ERR_OK);
        memset(out, 0xA5, sizeof out);
        for (size_t cap = 0; cap < len; cap++)
            EQ(leat_packetway_message_encode(&m, out, cap, &out_len), LEAT_ERR_PACKETWAY_NOSPC);
        EQ(out_len, 99);
        OK(untouched(out, sizeof out));
    }
}

/* All four CRCs at once: each "here" value counts as zero for every one of them (spec 1.7). */
static void crcs_agree_with_their_definition(void)
{
    struct leat_packetway_message m = plain_message();
    uint8_t out[256], zeroed[256];
    size_t len = 0;
    OK(model_crc32((const uint8_t *)"123456789", 9) == 0xCBF43926);
    OK(model_crc64((const uint8_t *)"123456789", 9) == UINT64_C(0x995DC9BBDF1939FA));
    m.oh_count = 4;
    m.oh[0] = (struct leat_packetway_field){ .type = 2, .len = 4 };
    m.oh[1] = (struct leat_packetway_field){ .type = 5 };
    m.oh[2] = (struct leat_packetway_field){ .type = 4, .len = 8 };
    m.oh[3] = (struct leat_packetway_field){ .type = 3 };
    m.data = (const uint8_t *)"leat";
    m.data_len = 4;
    EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_OK);
    EQ(len, 16 + 8 + 8 + 16 + 8 + 8 + 8 + 8 + 8);
    memcpy(zeroed, out, len);
    memset(zeroed + 18, 0, 4);
    memset(zeroed + 34, 0, 8);
    const uint32_t crc32 = model_crc32(zeroed, 64);
    const uint64_t crc64 = model_crc64(zeroed, 64);
    EQ(leat_get_be32(out + 18), crc32);
    OK(leat_get_be64(out + 34) == crc64);
    OK(leat_get_be64(out + 64) == crc64);
    EQ(leat_get_be32(out + 72), crc32);
    EQ(leat_get_be32(out + 76), 0);
    EQ(read_message(out, len, STRICT, HOST, &m), LEAT_ERR_OK);
}

static void a_wrong_crc_is_reported_where_it_is(void)
{
    static const struct {
        unsigned octet;
        size_t at;
    } row[] = { { 18, 16 }, { 34, 32 }, { 64, 64 }, { 72, 72 } };
    struct leat_packetway_message m = plain_message(), back;
    uint8_t out[256];
    size_t len = 0;
    m.oh_count = 4;
    m.oh[0] = (struct leat_packetway_field){ .type = 2, .len = 4 };
    m.oh[1] = (struct leat_packetway_field){ .type = 5 };
    m.oh[2] = (struct leat_packetway_field){ .type = 4, .len = 8 };
    m.oh[3] = (struct leat_packetway_field){ .type = 3 };
    m.data_len = 4;
    EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_OK);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        size_t at = 0;
        out[row[i].octet] ^= 1;
        EQ(leat_packetway_message_decode(out, len, LEAT_PACKETWAY_LENIENT,
                                         LEAT_PACKETWAY_DESTINATION, &back, &at),
           LEAT_ERR_PACKETWAY_CRC);
        EQ(at, row[i].at);
        out[row[i].octet] ^= 1;
    }
}

/* Spec 1: 64 of each are legal; the malformed inputs have 65. */
static void sixty_four_of_everything_fit(void)
{
    static uint8_t out[4096];
    struct leat_packetway_message m = plain_message(), back;
    size_t len = 0;
    m.leading_count = m.oh_count = m.ot_count = 64;
    for (unsigned i = 0; i < 64; i++) {
        m.leading[i] = (struct leat_packetway_leading){ LEAT_PACKETWAY_L2RH, 0, 1, 0, some_octets };
        m.oh[i] = (struct leat_packetway_field){ .type = i ? 0x21 : 6 };
        m.ot[i] = (struct leat_packetway_field){ .type = 0x22 };
    }
    EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_OK);
    EQ(len, 3 * 64 * 8 + 24);
    EQ(read_message(out, len, STRICT, HOST, &back), LEAT_ERR_OK);
    OK(same_meaning(&m, &back));
}

/* ---- campaigns ---- */

static struct model model;

static void messages_of_the_model_are_written_the_same(void)
{
    static uint8_t back[MODEL_LEN_MAX];
    static struct leat_packetway_message m;
    leat_random_seed(&model.random, tap_seed());
    for (unsigned i = 0; i < LEAT_ROUNDS; i++) {
        size_t len = 0;
        model_message(&model);
        EQ(read_message(model.buf, model.len, STRICT, HOST, &m), LEAT_ERR_OK);
        EQ(leat_packetway_message_encode(&m, back, sizeof back, &len), LEAT_ERR_OK);
        OK(same_octets(model.buf, model.len, back, len));
        if (tap_checks_failed) {
            printf("# round %u\n", i);
            return;
        }
    }
}

static void damaged_messages_of_the_model_are_harmless(void)
{
    leat_random_seed(&model.random, tap_seed() + 1);
    for (unsigned i = 0; i < LEAT_ROUNDS / 4; i++) {
        model_message(&model);
        for (unsigned k = 1 + dice(&model, 3); k > 0; k--) {
            const size_t at = leat_random_below(&model.random, model.len);
            model.buf[at] = (uint8_t)(dice(&model, 2) ? dice(&model, 256)
                                                      : model.buf[at] ^ 1u << dice(&model, 8));
        }
        check_promises(model.buf, model.len - (dice(&model, 8) ? 0 : 8));
        if (tap_checks_failed) {
            printf("# round %u\n", i);
            return;
        }
    }
}

static void fill_fields(struct leat_packetway_message *m, struct model *r)
{
    static const uint16_t len_of[7] = { [2] = 4, [4] = 8 };
    bool announced = false;
    m->oh_count = dice(r, 2) ? 0 : dice(r, 5);
    for (unsigned i = 0; i < m->oh_count; i++) {
        const uint8_t type = (uint8_t)(dice(r, 2) ? 2 + dice(r, 5) : unknown_type(r));
        const bool known = type >= 2 && type <= 6;
        m->oh[i] = (struct leat_packetway_field){ .type = type };
        m->oh[i].mandatory = known && dice(r, 2);
        m->oh[i].len = known ? len_of[type] : (uint16_t)dice(r, 256);
        m->oh[i].octets = r->buf + dice(r, 256);
        announced |= type == 6;
    }
    m->ot_count = announced ? 1 + dice(r, 3) : 0;
    for (unsigned i = 0; i < m->ot_count; i++) {
        m->ot[i] = (struct leat_packetway_field){ 0 };
        m->ot[i].type = (uint8_t)unknown_type(r);
        m->ot[i].len = (uint16_t)dice(r, 256);
        m->ot[i].octets = r->buf + dice(r, 256);
    }
}

static void fill_message(struct leat_packetway_message *m, struct model *r)
{
    m->header = (struct leat_packetway_header){ 0 };
    m->header.dt = random_destination(r);
    m->header.sa = dice(r, 0x7FFFFE);
    m->header.te = (uint16_t)dice(r, 0x10000);
    m->header.pt = (uint16_t)(2 + dice(r, 0xFFFD));
    m->header.priority = (uint8_t)dice(r, 64);
    m->header.e = (uint8_t)(dice(r, 2) << 3);
    m->header.e |= (uint8_t)dice(r, 5);
    m->leading_count = dice(r, 2) ? 0 : dice(r, 5);
    for (unsigned i = 0; i < m->leading_count; i++) {
        const bool symbol = dice(r, 2);
        m->leading[i] = (struct leat_packetway_leading){ .kind = symbol ? LEAT_PACKETWAY_SYMBOL
                                                                        : LEAT_PACKETWAY_L2RH };
        m->leading[i].type = symbol ? 1 + dice(r, 0xFFFFF) : 0;
        m->leading[i].len = (uint16_t)(symbol ? dice(r, 256) : 1 + dice(r, 63));
        m->leading[i].octets = r->buf + dice(r, 256);
    }
    fill_fields(m, r);
    m->data = r->buf + dice(r, 256);
    m->data_len = dice(r, 256);
    m->extra_len = 0;
    m->ei = leat_random_next(&r->random);
}

static void random_messages_come_back(void)
{
    static uint8_t out[MODEL_LEN_MAX];
    static struct leat_packetway_message m, back;
    leat_random_seed(&model.random, tap_seed() + 2);
    model.len = 0;
    put_random(&model, 1024); /* the octets that all messages are made of */
    for (unsigned i = 0; i < LEAT_ROUNDS; i++) {
        size_t len = 0;
        fill_message(&m, &model);
        EQ(leat_packetway_message_encode(&m, out, sizeof out, &len), LEAT_ERR_OK);
        EQ(read_message(out, len, STRICT, HOST, &back), LEAT_ERR_OK);
        OK(same_meaning(&m, &back));
        if (tap_checks_failed) {
            printf("# round %u\n", i);
            return;
        }
    }
}

TAP_MAIN(T(every_vector_is_read_and_written_again), T(t12_holds_thirteen_octets_of_pvm),
         T(t13_has_an_unknown_field_and_a_crc_here),
         T(t15_has_two_crcs_and_a_field_of_its_own_in_ot), T(t23_is_consumed_on_its_way),
         T(a_router_reads_leading_records_header_and_ei_only),
         T(a_strict_router_refuses_reserved_bits_in_its_part),
         T(every_malformed_input_gives_its_error_and_place),
         T(every_truncation_of_every_vector_is_refused),
         T(every_bit_flip_of_every_vector_is_harmless_and_crcs_see_theirs),
         T(random_octets_are_harmless), T(huge_lengths_are_no_danger), T(pads_are_not_inspected),
         T(words_that_an_unknown_field_announced_are_exposed), T(the_old_end_of_fields_is_ignored),
         T(the_pad_of_an_rrp_message_is_no_pad_of_its_records),
         T(reserved_values_of_old_senders_are_passed_over),
         T(messages_outside_the_limits_are_not_written),
         T(fields_outside_the_limits_are_not_written),
         T(too_little_room_is_e_nospc_and_nothing_is_written), T(crcs_agree_with_their_definition),
         T(a_wrong_crc_is_reported_where_it_is), T(sixty_four_of_everything_fit),
         T(messages_of_the_model_are_written_the_same),
         T(damaged_messages_of_the_model_are_harmless), T(random_messages_come_back))
