#include "poets_hex_test.h"
#include "poets_wire.h"
#include "tap.h"
#include <leat/random.h>
#include <stdbool.h>
#include <string.h>

#define DEV     LEAT_POETS_CLASS_DEV
#define CTL     LEAT_POETS_CLASS_CTL
#define EXT     LEAT_POETS_CLASS_EXT
#define SUP     LEAT_POETS_CLASS_SUP
#define IMPL    LEAT_POETS_OP_IMPL
#define INSTR   LEAT_POETS_OP_INSTR
#define LOG     LEAT_POETS_OP_LOG
#define BARRIER LEAT_POETS_OP_BARRIER
#define STOP    LEAT_POETS_OP_STOP
#define KILL    LEAT_POETS_OP_KILL
#define CNC0    LEAT_POETS_COMPAT_REPLY_CNC0
#define D1      LEAT_POETS_COMPAT_HDR_PIN_AS_EDGE

enum { PACKET_MAX = LEAT_POETS_PACKET_LEN_MAX };

/* The vectors of spec/poets.md, section 7, that are whole packets. */
struct vector {
    const char *name;
    struct leat_poets_packet packet;
    const char *hex;
};

#define P(...)      \
    {               \
        __VA_ARGS__ \
    }
#define ZERO12 "000000000000000000000000"

static const struct vector vectors[] = {
    { "V7 device packet",
      P(.packet_class = DEV, .task = 3, .device = 513, .pin = 2, .edge = 259, .payload_len = 8,
        .payload = { 7, 0, 0, 0, 0, 0, 0xc0, 0x3f }),
      "0102000302030100070000000000c03f" },
    { "V8 barrier report", P(.packet_class = SUP, .opcode = BARRIER, .sender = 0x0411),
      "0000fdc0110400000000000000000000" },
    { "V9 barrier release", P(.packet_class = CTL, .opcode = BARRIER, .device = 0xffff),
      "fffffd40" ZERO12 },
    { "V9 stop", P(.packet_class = CTL, .opcode = STOP, .device = 0xffff), "fffffe40" ZERO12 },
    { "V9 instrumentation request", P(.packet_class = CTL, .opcode = INSTR, .device = 0xffff),
      "fffffb40" ZERO12 },
    { "V10 packet to the supervisor",
      P(.packet_class = SUP, .opcode = IMPL, .sender = 4, .payload_len = 2, .payload = { 4, 9 }),
      "0000fac0040000000409000000000000" },
    { "V11 reply",
      P(.packet_class = CTL, .opcode = IMPL, .device = 4, .payload_len = 4, .payload = { 10 }),
      "0400fa40000000000a00000000000000" },
    { "V11 reply of the original",
      P(.packet_class = CTL, .compat = CNC0, .opcode = IMPL, .device = 4, .payload_len = 4,
        .payload = { 10 }),
      "0400fa00000000000a00000000000000" },
    { "V12 16 octets of payload",
      P(.packet_class = DEV, .device = 1, .pin = 1, .payload_len = 16,
        .payload = { 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0x3f, 42, 0, 0, 0 }),
      "01000000010000000000803f000000c00000003f2a0000000000000000000000" },
    { "V13 broadcast",
      P(.packet_class = CTL, .opcode = IMPL, .device = 0xffff, .payload_len = 12, .payload = { 1 }),
      "fffffa4000000000010000000000000000000000000000000000000000000000" },
    { "V13 broadcast cut to one flit",
      P(.packet_class = CTL, .opcode = IMPL, .device = 0xffff, .payload_len = 8, .payload = { 1 }),
      "fffffa40000000000100000000000000" },
    { "V14 log fragment",
      P(.packet_class = SUP, .opcode = LOG, .sender = 2, .payload_len = 12,
        .payload = "\0dIDX OOR 9"),
      "0000fcc0020000000064494458204f4f52203900000000000000000000000000" },
    { "V18 kill", P(.packet_class = SUP, .task = 5, .opcode = KILL, .sender = 0x0411),
      "0000ffc5110400000000000000000000" },
    { "V18 stop acknowledged", P(.packet_class = SUP, .opcode = STOP, .sender = 0x0411),
      "0000fec0110400000000000000000000" },
};

enum { VECTOR_COUNT = sizeof vectors / sizeof *vectors };

/* Meaning for meaning: fields that the class lacks must be 0, the payload may gain a zero tail. */
static bool same(const struct leat_poets_packet *a, const struct leat_poets_packet *b)
{
    uint8_t pa[LEAT_POETS_PAYLOAD_LEN_MAX] = { 0 }, pb[LEAT_POETS_PAYLOAD_LEN_MAX] = { 0 };
    memcpy(pa, a->payload, a->payload_len);
    memcpy(pb, b->payload, b->payload_len);
    return a->packet_class == b->packet_class && a->compat == b->compat && a->task == b->task &&
           a->opcode == b->opcode && a->device == b->device && a->pin == b->pin &&
           a->edge == b->edge && a->sender == b->sender && memcmp(pa, pb, sizeof pa) == 0 &&
           leat_poets_nflit(a->payload_len) == leat_poets_nflit(b->payload_len);
}

/* An independent computation, by decimal weights, not shifts and masks. Returns the octets. */
static size_t model(const struct leat_poets_packet *p, uint8_t out[PACKET_MAX])
{
    const bool edge = p->packet_class == DEV || p->packet_class == EXT;
    unsigned long long sw = p->device + 65536ull * p->opcode + 16777216ull * p->task;
    if (p->packet_class == CTL || p->packet_class == SUP) sw += 1073741824ull;
    if (p->packet_class == EXT || p->packet_class == SUP) sw += 2147483648ull;
    if (p->compat & CNC0 && p->packet_class == CTL && p->opcode == IMPL) sw -= 1073741824ull;
    const unsigned long long pin = edge ? p->pin + 256ull * (p->compat & D1 ? p->pin : p->edge)
                                        : p->sender;
    memset(out, 0, PACKET_MAX);
    for (unsigned i = 0, weight = 1; i < 4; i++, weight *= 256) {
        out[i] = (uint8_t)(sw / weight % 256);
        out[4 + i] = (uint8_t)(pin / weight % 256);
    }
    for (unsigned i = 0; i < p->payload_len; i++)
        out[8 + i] = p->payload[i];
    return p->payload_len <= 8 ? 16 : p->payload_len <= 24 ? 32 : p->payload_len <= 40 ? 48 : 64;
}

static struct leat_poets_packet random_packet(struct leat_random *r)
{
    struct leat_poets_packet p = { .packet_class = (enum leat_poets_class)leat_random_below(r, 4) };
    const bool edge = p.packet_class == DEV || p.packet_class == EXT;
    p.task = (uint8_t)leat_random_below(r, 64);
    p.opcode = edge ? 0 : (uint8_t)leat_random_below(r, 256);
    if (!edge && leat_random_below(r, 4) == 0) p.opcode = IMPL;
    if (p.packet_class != SUP) p.device = (uint32_t)leat_random_below(r, 65536);
    if (edge) {
        p.pin = (uint16_t)leat_random_below(r, 256);
        p.edge = (uint32_t)leat_random_below(r, 1 << 24);
    } else {
        p.sender = (uint32_t)leat_random_next(r);
    }
    if (p.packet_class == CTL && p.opcode == IMPL && leat_random_below(r, 2)) p.compat = CNC0;
    p.payload_len = (uint16_t)leat_random_below(r, LEAT_POETS_PAYLOAD_LEN_MAX + 1);
    leat_random_fill(r, p.payload, sizeof p.payload); /* beyond payload_len: must not leak */
    return p;
}

/* V1 to V5: the worked examples of the packet format, and its documented wrong one. */
static void worked_examples_of_the_software_address(void)
{
    static const struct {
        uint32_t word;
        enum leat_poets_class packet_class;
        uint32_t task, opcode, device;
        const char *octets;
    } example[] = {
        { 50332161, LEAT_POETS_CLASS_DEV, 3, 0, 513, "01020003" },
        { 3221487616, LEAT_POETS_CLASS_SUP, 0, 4, 0, "000004c0" },
        { 3204462101, LEAT_POETS_CLASS_EXT, 63, 0, 13845, "153600bf" },
        { 1208026088, LEAT_POETS_CLASS_CTL, 8, 1, 1000, "e8030148" },
        { 0xc20b0000, LEAT_POETS_CLASS_SUP, 2, 11, 0, "00000bc2" },
    };
    for (size_t i = 0; i < sizeof example / sizeof *example; i++) {
        const uint32_t w = example[i].word;
        enum leat_poets_class c = DEV;
        uint8_t want[4], buf[16];
        size_t len = 0;
        EQ(leat_poets_swaddr_check(w, &c), LEAT_ERR_OK);
        EQ(c, example[i].packet_class);
        EQ(leat_poets_field_get(w, LEAT_POETS_FIELD_TASK), example[i].task);
        EQ(leat_poets_field_get(w, LEAT_POETS_FIELD_OPCODE), example[i].opcode);
        EQ(leat_poets_field_get(w, LEAT_POETS_FIELD_DEVICE), example[i].device);
        const struct leat_poets_packet p = { .packet_class = example[i].packet_class,
                                             .task = (uint8_t)example[i].task,
                                             .opcode = (uint8_t)example[i].opcode,
                                             .device = example[i].device };
        EQ(leat_poets_packet_encode(&p, buf, sizeof buf, &len), LEAT_ERR_OK);
        EQ(unhex(example[i].octets, want), 4);
        OK(memcmp(buf, want, 4) == 0);
    }
    enum leat_poets_class c = EXT;
    EQ(leat_poets_swaddr_check(0xffffffff, &c), LEAT_ERR_POETS_SUPDEV);
    EQ(c, LEAT_POETS_CLASS_EXT);
}

/* V6, with the original's mistake (D1). */
static void the_pin_address_holds_pin_and_edge(void)
{
    static const struct {
        uint32_t edge;
        uint8_t compat;
        const char *octets;
    } example[] = { { 259, 0, "02030100" }, { 5, 0, "02050000" }, { 5, D1, "02020000" } };
    for (size_t i = 0; i < sizeof example / sizeof *example; i++) {
        uint8_t want[4], buf[16];
        size_t len = 0;
        const struct leat_poets_packet p = { .pin = 2,
                                             .edge = example[i].edge,
                                             .compat = example[i].compat };
        EQ(leat_poets_packet_encode(&p, buf, sizeof buf, &len), LEAT_ERR_OK);
        EQ(unhex(example[i].octets, want), 4);
        OK(memcmp(buf + 4, want, 4) == 0);
    }
    EQ(leat_poets_field_get(0x00010302, LEAT_POETS_FIELD_PIN), 2);
    EQ(leat_poets_field_get(0x00010302, LEAT_POETS_FIELD_EDGE), 259);
}

static void vectors_encode_and_decode(void)
{
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        uint8_t want[PACKET_MAX], buf[PACKET_MAX];
        const size_t want_len = unhex(vectors[i].hex, want);
        struct leat_poets_packet p;
        size_t len = 0;
        EQ(leat_poets_packet_encode(&vectors[i].packet, buf, sizeof buf, &len), LEAT_ERR_OK);
        EQ(len, want_len);
        OK(memcmp(buf, want, want_len) == 0);
        EQ(leat_poets_packet_decode(want, want_len, &p, NULL), LEAT_ERR_OK);
        OK(same(&p, &vectors[i].packet));
        EQ(p.nflit, want_len / 16);
        EQ(p.payload_len, want_len - 8);
        if (tap_checks_failed) printf("# %s\n", vectors[i].name);
    }
}

/* 1.3: the arithmetic of flits, its borders and one step beyond them. */
static void flits_follow_the_payload(void)
{
    for (size_t len = 0; len <= 56; len++)
        EQ(leat_poets_nflit(len), len <= 8 ? 1 : len <= 24 ? 2 : len <= 40 ? 3 : 4);
}

static void byte_counts_other_than_whole_flits_are_refused(void)
{
    const uint8_t buf[128] = { 0 };
    for (size_t len = 0; len <= sizeof buf; len++) {
        struct leat_poets_packet p;
        uint8_t slot[PACKET_MAX];
        size_t at = 999;
        const bool whole = len == 16 || len == 32 || len == 48 || len == 64;
        EQ(leat_poets_packet_decode(buf, len, &p, &at), whole ? LEAT_ERR_OK : LEAT_ERR_POETS_FLITS);
        EQ(at, whole ? 999 : len < 64 ? len : 64);
        EQ(leat_poets_packet_extend(buf, len, slot), whole ? LEAT_ERR_OK : LEAT_ERR_POETS_FLITS);
    }
}

static void a_packet_in_a_slot_is_zero_extended(void)
{
    uint8_t buf[PACKET_MAX], slot[PACKET_MAX];
    memset(buf, 0x11, sizeof buf);
    for (size_t len = 16; len <= sizeof buf; len += 16) {
        struct leat_poets_packet p;
        memset(&p, 0xee, sizeof p);
        memset(slot, 0xee, sizeof slot);
        EQ(leat_poets_packet_extend(buf, len, slot), LEAT_ERR_OK);
        buf[2] = 0;
        EQ(leat_poets_packet_decode(buf, len, &p, NULL), LEAT_ERR_OK);
        buf[2] = 0x11;
        for (size_t i = 0; i < sizeof slot; i++) {
            EQ(slot[i], i < len ? 0x11 : 0);
            if (i >= 8) EQ(p.payload[i - 8], i < len ? 0x11 : 0);
        }
    }
}

/* 1.1: the two verdicts, and the one exception to them (D3). All headers, by the table. */
static void the_class_table_is_obeyed_by_every_header(void)
{
    static const uint32_t devices[] = { 0, 1, 0x8000, 0xffff };
    for (uint32_t top = 0; top < 65536; top++) {
        for (size_t d = 0; d < 4; d++) {
            const uint32_t w = top << 16 | devices[d];
            const unsigned ms = w >> 31, cnc = w >> 30 & 1, opcode = top & 0xff;
            const bool d3 = !ms && !cnc && opcode == 0xfa;
            const leat_err want = !cnc && opcode && !d3     ? LEAT_ERR_POETS_OPNOCNC
                                  : ms && cnc && devices[d] ? LEAT_ERR_POETS_SUPDEV
                                                            : LEAT_ERR_OK;
            enum leat_poets_class c = EXT;
            EQ(leat_poets_swaddr_check(w, &c), want);
            EQ(c, want ? EXT : d3 ? CTL : (int)(2 * ms + cnc));
        }
    }
}

static void faults_point_at_the_field(void)
{
    uint8_t buf[16] = { 1, 0, 0xfd, 0xc0 };
    struct leat_poets_packet p;
    size_t at = 99;
    EQ(leat_poets_packet_decode(buf, sizeof buf, &p, &at), LEAT_ERR_POETS_SUPDEV);
    EQ(at, 0);
    buf[3] = 0x80;
    EQ(leat_poets_packet_decode(buf, sizeof buf, &p, &at), LEAT_ERR_POETS_OPNOCNC);
    EQ(at, 2);
}

static void field_setters_touch_no_other_field(void)
{
    static const enum leat_poets_field field[] = {
        LEAT_POETS_FIELD_DEVICE, LEAT_POETS_FIELD_OPCODE, LEAT_POETS_FIELD_TASK,
        LEAT_POETS_FIELD_CNC,    LEAT_POETS_FIELD_MS,     LEAT_POETS_FIELD_CLASS,
        LEAT_POETS_FIELD_PIN,    LEAT_POETS_FIELD_EDGE,
    };
    static const uint32_t place[] = { 0x0000ffff, 0x00ff0000, 0x3f000000, 0x40000000,
                                      0x80000000, 0xc0000000, 0x000000ff, 0xffffff00 };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < 1000; round++) {
        const uint32_t word = (uint32_t)leat_random_next(&r),
                       value = (uint32_t)leat_random_next(&r);
        for (size_t i = 0; i < 8; i++) {
            const uint32_t set = leat_poets_field_set(word, field[i], value);
            const uint32_t lowest = place[i] & (0u - place[i]), width = place[i] / lowest;
            EQ(set & ~place[i], word & ~place[i]);
            EQ((set & place[i]) / lowest, value & width);
            EQ(leat_poets_field_get(set, field[i]), value & width);
            EQ(leat_poets_field_mask(field[i]), width);
        }
    }
}

/* 1.1: what encode must refuse, each with its own verdict and without changing the buffer. */
static void the_encoder_refuses_and_leaves_the_buffer_alone(void)
{
    static const struct {
        leat_err want;
        struct leat_poets_packet packet;
    } bad[] = {
        { LEAT_ERR_POETS_TASK, { .task = 64 } },
        { LEAT_ERR_POETS_DEV, { .device = 0x10000 } },
        { LEAT_ERR_POETS_SUPDEV, { .packet_class = SUP, .device = 1 } },
        { LEAT_ERR_POETS_OPNOCNC, { .packet_class = DEV, .opcode = 1 } },
        { LEAT_ERR_POETS_OPNOCNC, { .packet_class = DEV, .opcode = IMPL } },
        { LEAT_ERR_POETS_OPNOCNC, { .packet_class = EXT, .opcode = IMPL } },
        { LEAT_ERR_POETS_PIN, { .pin = 256 } },
        { LEAT_ERR_POETS_PIN, { .packet_class = EXT, .pin = 256 } },
        { LEAT_ERR_POETS_EDGE, { .edge = 1u << 24 } },
        { LEAT_ERR_POETS_EDGE, { .edge = UINT32_MAX } },
        { LEAT_ERR_POETS_PAYLOAD, { .payload_len = 57 } },
        { LEAT_ERR_POETS_PAYLOAD, { .payload_len = UINT16_MAX } },
        { LEAT_ERR_TYPE, { .packet_class = (enum leat_poets_class)4 } },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t buf[PACKET_MAX], before[PACKET_MAX];
        size_t len = 77;
        memset(buf, 0xa5, sizeof buf);
        memset(before, 0xa5, sizeof before);
        EQ(leat_poets_packet_encode(&bad[i].packet, buf, sizeof buf, &len), bad[i].want);
        EQ(len, 77);
        OK(memcmp(buf, before, sizeof buf) == 0);
    }
}

static void every_smaller_output_buffer_is_refused(void)
{
    for (uint16_t payload_len = 0; payload_len <= 56; payload_len++) {
        const struct leat_poets_packet p = { .payload_len = payload_len };
        const size_t need = leat_poets_nflit(payload_len) * 16;
        uint8_t buf[PACKET_MAX] = { 0x5a };
        size_t len = 77;
        for (size_t cap = 0; cap < need; cap++)
            EQ(leat_poets_packet_encode(&p, buf, cap, &len), LEAT_ERR_SPACE);
        EQ(buf[0], 0x5a);
        EQ(len, 77);
        EQ(leat_poets_packet_encode(&p, buf, need, &len), LEAT_ERR_OK);
        EQ(len, need);
    }
}

/* Either an error that leaves the output untouched, or a packet that encodes to the same octets. */
static leat_err decode_either_way(const uint8_t *buf, size_t len)
{
    struct leat_poets_packet p, before;
    uint8_t back[PACKET_MAX];
    size_t back_len = 0, at = SIZE_MAX;
    memset(&p, 0x5c, sizeof p);
    memset(&before, 0x5c, sizeof before);
    const leat_err err = leat_poets_packet_decode(buf, len, &p, &at);
    if (err) {
        OK(memcmp(&p, &before, sizeof p) == 0);
        OK(at <= len);
        return err;
    }
    EQ(leat_poets_packet_encode(&p, back, sizeof back, &back_len), LEAT_ERR_OK);
    EQ(back_len, len);
    OK(memcmp(back, buf, len) == 0);
    return err;
}

static void every_truncation_is_refused_or_ends_at_a_flit(void)
{
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[PACKET_MAX];
        const size_t len = unhex(vectors[i].hex, buf);
        for (size_t cut = 0; cut < len; cut++)
            EQ(decode_either_way(buf, cut),
               cut && cut % 16 == 0 ? LEAT_ERR_OK : LEAT_ERR_POETS_FLITS);
    }
}

/* No checksum covers a packet: a flip gives another packet or one of the two verdicts. */
static void every_bit_flip_of_every_vector_is_decided(void)
{
    unsigned refused = 0;
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        uint8_t buf[PACKET_MAX];
        const size_t len = unhex(vectors[i].hex, buf);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
            const leat_err err = decode_either_way(buf, len);
            OK(!err ||
               (bit < 32 && (err == LEAT_ERR_POETS_SUPDEV || err == LEAT_ERR_POETS_OPNOCNC)));
            refused += err != LEAT_ERR_OK;
            buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    OK(refused > 0);
}

static void random_octets_decode_and_encode_to_themselves(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    long sound = 0;
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        uint8_t buf[PACKET_MAX + 16];
        size_t len = 16 * (1 + leat_random_below(&r, 4));
        leat_random_fill(&r, buf, len);
        const uint64_t way = leat_random_below(&r, 8);
        if (way == 0) len = leat_random_below(&r, sizeof buf + 1);
        if (way == 1 || way == 2) buf[2] = 0;
        if (way == 3 || way == 4) buf[0] = buf[1] = 0;
        if (way == 5) buf[2] = IMPL;
        sound += decode_either_way(buf, len) == LEAT_ERR_OK;
    }
    OK(sound > LEAT_ROUNDS / 4);
}

static void random_packets_encode_as_the_model_and_decode_to_themselves(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long round = 0; round < LEAT_ROUNDS; round++) {
        struct leat_poets_packet p = random_packet(&r), back;
        uint8_t buf[PACKET_MAX], want[PACKET_MAX];
        size_t len = 0;
        EQ(leat_poets_packet_encode(&p, buf, sizeof buf, &len), LEAT_ERR_OK);
        EQ(len, model(&p, want));
        OK(memcmp(buf, want, len) == 0);
        EQ(leat_poets_packet_decode(buf, len, &back, NULL), LEAT_ERR_OK);
        OK(same(&back, &p));
        if (tap_checks_failed) return;
    }
}

/* Compatibility bits that a packet does not concern change nothing. */
static void quirks_act_only_where_they_belong(void)
{
    static const struct leat_poets_packet packets[] = {
        { .packet_class = CTL, .opcode = STOP, .device = 9, .sender = 0x01020304 },
        { .packet_class = SUP, .opcode = IMPL, .sender = 0x01020304 },
    };
    for (size_t i = 0; i < 2; i++) {
        struct leat_poets_packet p = packets[i];
        uint8_t plain[PACKET_MAX], quirky[PACKET_MAX];
        size_t len = 0;
        EQ(leat_poets_packet_encode(&p, plain, sizeof plain, &len), LEAT_ERR_OK);
        p.compat = CNC0 | D1;
        EQ(leat_poets_packet_encode(&p, quirky, sizeof quirky, &len), LEAT_ERR_OK);
        OK(memcmp(plain, quirky, len) == 0);
    }
    const struct leat_poets_packet ext = { .packet_class = EXT, .compat = D1, .pin = 7, .edge = 1 };
    uint8_t buf[PACKET_MAX];
    size_t len = 0;
    EQ(leat_poets_packet_encode(&ext, buf, sizeof buf, &len), LEAT_ERR_OK);
    OK(memcmp(buf + 4, "\x07\x07\x00\x00", 4) == 0);
}

TAP_MAIN(T(worked_examples_of_the_software_address), T(the_pin_address_holds_pin_and_edge),
         T(vectors_encode_and_decode), T(flits_follow_the_payload),
         T(byte_counts_other_than_whole_flits_are_refused), T(a_packet_in_a_slot_is_zero_extended),
         T(the_class_table_is_obeyed_by_every_header), T(faults_point_at_the_field),
         T(field_setters_touch_no_other_field), T(the_encoder_refuses_and_leaves_the_buffer_alone),
         T(every_smaller_output_buffer_is_refused),
         T(every_truncation_is_refused_or_ends_at_a_flit),
         T(every_bit_flip_of_every_vector_is_decided),
         T(random_octets_decode_and_encode_to_themselves),
         T(random_packets_encode_as_the_model_and_decode_to_themselves),
         T(quirks_act_only_where_they_belong))
