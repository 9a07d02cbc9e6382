#include "aton_model_test.h"
#include "aton_symbol.h"
#include "tap.h"

/* A string of 0 1 J K as symbols; blanks and bars are for the reader. */
static size_t symbols_of(const char *string, uint8_t *symbols)
{
    size_t n = 0;
    for (; *string; string++) {
        const char *found = strchr("01JK", *string);
        if (found) symbols[n++] = (uint8_t)(found - "01JK");
    }
    return n;
}

/* The inverse, for comparison with the model. */
static void string_of(const uint8_t *symbols, size_t count, char *string)
{
    for (size_t i = 0; i < count; i++)
        string[i] = symbols[i] < 4 ? "01JK"[symbols[i]] : '?';
}

static leat_err decode(const uint8_t *symbols, size_t count, struct leat_aton_frame *out,
                       size_t *fault_at)
{
    static uint8_t payload[MODEL_IMAGE_MAX];
    return leat_aton_frame_decode(symbols, count, payload, sizeof payload, out, fault_at);
}

/* Neither the frame nor the payload's memory may change on error. */
static leat_err decode_untouched(const uint8_t *symbols, size_t count, size_t *fault_at)
{
    static uint8_t payload[MODEL_IMAGE_MAX], payload_before[MODEL_IMAGE_MAX];
    struct leat_aton_frame out, before;
    memset(&out, 0xA5, sizeof out);
    memset(&before, 0xA5, sizeof before);
    memcpy(payload_before, payload, sizeof payload);
    const leat_err err = leat_aton_frame_decode(symbols, count, payload, sizeof payload, &out,
                                                fault_at);
    if (!err) return err;
    OK(memcmp(&out, &before, sizeof out) == 0);
    OK(memcmp(payload, payload_before, sizeof payload) == 0);
    OK(*fault_at <= count);
    return err;
}

static void the_token_is_24_symbols(void)
{
    uint8_t want[32], got[32];
    const struct leat_aton_frame token = { .packet = {
                                               .token = 1, .priority = 3, .reservation = 5 } };
    struct leat_aton_frame back;
    size_t count = 0;
    EQ(symbols_of("JK0JK000 | 011 1 0 101 | JK1JK1 0 0", want), LEAT_ATON_TOKEN_SYMBOLS);
    EQ(leat_aton_frame_encode(&token, got, sizeof got, &count), LEAT_ERR_OK);
    EQ(count, 24);
    OK(memcmp(got, want, 24) == 0);
    EQ(decode(want, 24, &back, NULL), LEAT_ERR_OK);
    OK(model_same_packet(&token.packet, &back.packet));
    EQ(leat_aton_frame_encode(&token, got, 23, &count), LEAT_ERR_SPACE);
}

/* Written by hand from the spec; the CRC's bits are checked by its residue elsewhere. */
static void every_field_has_its_own_bit_order(void)
{
    static const char add[] = "JK0JK000 | 00000000 | 1 0001 00 000011 000 |"
                              "1111111111111111 | 0000000000000001 | 1100000000000000 |"
                              "0100000000000000 | 1000000000000000 | 11001100 |";
    static const char max[] = "JK0JK000 | 00000000 | 1 0100 00 000011 000 |"
                              "1111111111111111 | 0000000000000001 | 1100000000000000 |"
                              "0000000000000010 | 1000000000000000 | 11001100 |";
    struct leat_aton_frame f = { .packet = { .active = 1,
                                             .opcode = LEAT_ATON_ADD,
                                             .width_bits = 16,
                                             .reg = 3,
                                             .da = LEAT_ATON_DA_ALL,
                                             .sa = 1,
                                             .counter = 3,
                                             .variable1 = 2,
                                             .variable2 = 1,
                                             .recognised = 1,
                                             .copied = 1 } };
    uint8_t want[256], got[256];
    size_t count = 0;
    EQ(leat_aton_frame_encode(&f, got, sizeof got, &count), LEAT_ERR_OK);
    EQ(symbols_of(add, want), 120);
    OK(memcmp(got, want, 120) == 0);
    f.packet.opcode = LEAT_ATON_MAX;
    EQ(leat_aton_frame_encode(&f, got, sizeof got, &count), LEAT_ERR_OK);
    EQ(symbols_of(max, want), 120);
    OK(memcmp(got, want, 120) == 0);
}

static void payloads_have_their_own_bit_orders(void)
{
    static const uint8_t one_two[] = { 0, 1, 0, 2 }, slot[] = { 1, 0, 6 }, octets[] = { 0x81, 3 };
    uint8_t counters[16] = { 1, 2, 4 }, want[64], got[512];
    struct leat_aton_frame f = { .packet = { .active = 1,
                                             .opcode = LEAT_ATON_SORT,
                                             .width_bits = 16,
                                             .counter = 2,
                                             .payload = one_two,
                                             .payload_len = sizeof one_two } };
    size_t count = 0;
    EQ(leat_aton_frame_encode(&f, got, sizeof got, &count), LEAT_ERR_OK);
    symbols_of("0100000000000000 0000000000000000 0000000000000001 00000000", want);
    OK(memcmp(got + 64, want, 56) == 0);

    f.packet.opcode = LEAT_ATON_BITCOUNT, f.packet.param = 3;
    f.packet.payload = counters, f.packet.payload_len = sizeof counters;
    EQ(leat_aton_frame_encode(&f, got, sizeof got, &count), LEAT_ERR_OK);
    symbols_of("0100000000000000 0000000000000011 100 010 001 000", want);
    OK(memcmp(got + 64, want, 44) == 0);

    f.packet.opcode = LEAT_ATON_TREE, f.packet.param = 1;
    f.packet.payload = slot, f.packet.payload_len = sizeof slot;
    EQ(leat_aton_frame_encode(&f, got, sizeof got, &count), LEAT_ERR_OK);
    symbols_of("0100000000000000 0000000000000001 1 0000000000000110", want);
    OK(memcmp(got + 64, want, 49) == 0);

    f.packet = (struct leat_aton_packet){ .payload = octets, .payload_len = sizeof octets };
    EQ(leat_aton_frame_encode(&f, got, sizeof got, &count), LEAT_ERR_OK);
    symbols_of("0000000000000010 10000001 00000011", want);
    OK(memcmp(got + 64, want, 32) == 0);
}

static void a_command_takes_128_and_2w_symbols(void)
{
    uint8_t symbols[256];
    for (unsigned opcode = LEAT_ATON_ADD; opcode <= LEAT_ATON_LE; opcode++)
        for (unsigned w = 16; w <= 64; w *= 2) {
            const struct leat_aton_frame f = {
                .packet = { .active = 1, .opcode = (uint8_t)opcode, .width_bits = (uint8_t)w }
            };
            size_t p = 0, count = 0;
            EQ(leat_aton_frame_measure(&f, &p), LEAT_ERR_OK);
            EQ(p, LEAT_ATON_FOLD_SYMBOLS + 2 * w);
            EQ(leat_aton_frame_encode(&f, symbols, sizeof symbols, &count), LEAT_ERR_OK);
            EQ(count, p);
        }
}

/* spec/aton.md, "Time": T = P + n + sum p_i + B with B = max(0, 24 - n - sum p_i). */
static void the_closed_form_times_of_the_spec_follow(void)
{
    static const struct {
        uint8_t w;
        unsigned n, propagation, t;
    } check[] = { { 32, 4, 1, 216 }, { 32, 40, 0, 232 }, { 64, 1, 0, 280 } };
    for (size_t i = 0; i < 3; i++) {
        const struct leat_aton_frame f = {
            .packet = { .active = 1, .opcode = LEAT_ATON_ADD, .width_bits = check[i].w }
        };
        const unsigned delay = check[i].n * (1 + check[i].propagation);
        size_t p = 0;
        EQ(leat_aton_frame_measure(&f, &p), LEAT_ERR_OK);
        EQ(p + delay + (delay < LEAT_ATON_TOKEN_SYMBOLS ? LEAT_ATON_TOKEN_SYMBOLS - delay : 0),
           check[i].t);
    }
}

static void the_longest_frame_has_its_named_length(void)
{
    static uint8_t values[LEAT_ATON_INTERFACES_MAX * 8], back[LEAT_ATON_INTERFACES_MAX * 8];
    static uint8_t symbols[LEAT_ATON_SYMBOLS_MAX];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    leat_random_fill(&r, values, sizeof values);
    const struct leat_aton_frame f = { .packet = { .active = 1,
                                                   .opcode = LEAT_ATON_SORT,
                                                   .width_bits = 64,
                                                   .counter = LEAT_ATON_INTERFACES_MAX,
                                                   .payload = values,
                                                   .payload_len = sizeof values } };
    struct leat_aton_frame got;
    size_t count = 0, fault = 0;
    EQ(leat_aton_frame_encode(&f, symbols, sizeof symbols, &count), LEAT_ERR_OK);
    EQ(count, LEAT_ATON_SYMBOLS_MAX);
    EQ(leat_aton_frame_decode(symbols, count, back, sizeof back - 1, &got, &fault), LEAT_ERR_SPACE);
    EQ(fault, 96);
    EQ(leat_aton_frame_decode(symbols, count, back, sizeof back, &got, NULL), LEAT_ERR_OK);
    OK(memcmp(back, values, sizeof values) == 0);
}

/* The property of 802.3 that makes a serial checker small: one remainder for all valid packets. */
static void a_sound_packet_leaves_the_residue_of_802_3(void)
{
    struct leat_random r;
    static struct model m;
    uint8_t symbols[MODEL_SYMBOLS_MAX];
    leat_random_seed(&r, tap_seed());
    for (unsigned opcode = 0; opcode <= 11; opcode++) {
        size_t count = 0;
        uint32_t reg = UINT32_MAX;
        model_random_kind(&m, &r, opcode);
        const struct leat_aton_frame f = { .packet = m.packet };
        EQ(leat_aton_frame_encode(&f, symbols, sizeof symbols, &count), LEAT_ERR_OK);
        for (size_t i = 8; i < count - 8; i++) {
            const int zero = (i >= 11 && i < 16) || (i >= count - 48 && i < count - 40);
            reg = model_crc_bit(reg, zero ? 0 : symbols[i]);
        }
        EQ(reg, 0xC704DD7B);
    }
}

static void frames_that_cannot_be_sent_are_refused(void)
{
    uint8_t symbols[256], before[256];
    struct leat_aton_frame f = { .packet = { .active = 1, .opcode = 1, .width_bits = 16 } };
    size_t count = 0;
    memset(symbols, 0xA5, sizeof symbols);
    memset(before, 0xA5, sizeof before);
    EQ(leat_aton_frame_encode(&f, symbols, 159, &count), LEAT_ERR_SPACE);
    f.packet.variable1 = 65536;
    EQ(leat_aton_frame_encode(&f, symbols, sizeof symbols, &count), LEAT_ERR_RANGE);
    f.packet.variable1 = 0, f.packet.opcode = 12;
    EQ(leat_aton_frame_measure(&f, &count), LEAT_ERR_TYPE);
    f.packet.opcode = 1, f.error = 2;
    EQ(leat_aton_frame_measure(&f, &count), LEAT_ERR_RANGE);
    f.error = 0, f.intermediate = 2;
    EQ(leat_aton_frame_encode(&f, symbols, sizeof symbols, &count), LEAT_ERR_RANGE);
    EQ(count, 0);
    OK(memcmp(symbols, before, sizeof symbols) == 0);
}

/* Each opcode class once, and the token: truncated anywhere, it is SHORT at its end. */
static void every_truncation_is_short_at_its_end(void)
{
    struct leat_random r;
    static struct model m;
    uint8_t symbols[MODEL_SYMBOLS_MAX];
    leat_random_seed(&r, tap_seed());
    for (unsigned opcode = 0; opcode <= 12; opcode++) {
        size_t count = 0, fault = 0;
        model_random_kind(&m, &r, opcode == 12 ? 0 : opcode);
        m.packet.token = opcode == 12;
        EQ(leat_aton_frame_encode(&(struct leat_aton_frame){ .packet = m.packet }, symbols,
                                  sizeof symbols, &count),
           LEAT_ERR_OK);
        for (size_t cut = 0; cut < count; cut++) {
            EQ(decode_untouched(symbols, cut, &fault), LEAT_ERR_SHORT);
            EQ(fault, cut);
        }
        symbols[count] = 0;
        EQ(decode_untouched(symbols, count + 1, &fault), LEAT_ERR_LENGTH);
        EQ(fault, count);
    }
}

/* M, RRR, I and E are free; every other wrong symbol is detected. */
static void every_wrong_symbol_is_refused_where_the_crc_or_a_delimiter_covers(void)
{
    struct leat_random r;
    static struct model m;
    uint8_t symbols[MODEL_SYMBOLS_MAX];
    leat_random_seed(&r, tap_seed());
    for (unsigned opcode = 0; opcode <= 11; opcode++) {
        size_t count = 0, fault = 0;
        model_random_kind(&m, &r, opcode);
        EQ(leat_aton_frame_encode(&(struct leat_aton_frame){ .packet = m.packet }, symbols,
                                  sizeof symbols, &count),
           LEAT_ERR_OK);
        for (size_t at = 0; at < count; at++)
            for (uint8_t wrong = 0; wrong < 6; wrong++) {
                const uint8_t right = symbols[at];
                const int is_free = wrong <= 1 && ((at >= 12 && at < 16) || at >= count - 2);
                symbols[at] = wrong;
                if (wrong == right || is_free)
                    EQ(decode_untouched(symbols, count, &fault), LEAT_ERR_OK);
                else
                    OK(decode_untouched(symbols, count, &fault) != LEAT_ERR_OK);
                if (wrong > 1 && wrong != right) EQ(fault, at);
                symbols[at] = right;
            }
    }
}

static void faults_are_reported_by_symbol(void)
{
    uint8_t symbols[256];
    struct leat_aton_frame f = { .packet = { .active = 1, .opcode = 5, .width_bits = 32 } };
    size_t count = 0, fault = 0;
    EQ(leat_aton_frame_encode(&f, symbols, sizeof symbols, &count), LEAT_ERR_OK);
    EQ(count, 192);
    symbols[100] ^= 1;
    EQ(decode_untouched(symbols, count, &fault), LEAT_ERR_CHECKSUM);
    EQ(fault, 152); /* the CRC */
    symbols[100] ^= 1;
    symbols[144] ^= 1;
    EQ(decode_untouched(symbols, count, &fault), LEAT_ERR_CHECKSUM);
    EQ(fault, 144); /* FLG's copies differ */
    symbols[144] ^= 1;
    symbols[31] = 1;
    EQ(decode_untouched(symbols, count, &fault), LEAT_ERR_RESERVED);
    EQ(fault, 16); /* CTL */
    symbols[31] = 0;
    memset(symbols + 64, 1, 16);
    EQ(decode_untouched(symbols, count, &fault), LEAT_ERR_RANGE);
    EQ(fault, 64); /* Counter 65,535 */
}

static void an_e_bit_is_reported_and_does_not_hide_the_packet(void)
{
    uint8_t symbols[256];
    const struct leat_aton_frame f = { .packet = { .active = 1, .opcode = 5, .width_bits = 32 },
                                       .intermediate = 1,
                                       .error = 1 };
    struct leat_aton_frame back;
    size_t count = 0;
    EQ(leat_aton_frame_encode(&f, symbols, sizeof symbols, &count), LEAT_ERR_OK);
    EQ(symbols[190], 1);
    EQ(symbols[191], 1);
    EQ(decode(symbols, count, &back, NULL), LEAT_ERR_OK);
    EQ(back.intermediate, 1);
    EQ(back.error, 1);
    OK(model_same_packet(&f.packet, &back.packet));
}

static void random_frames_are_the_models_symbols_and_come_back(void)
{
    struct leat_random r;
    static struct model m;
    static char want[MODEL_SYMBOLS_MAX], got[MODEL_SYMBOLS_MAX];
    static uint8_t symbols[MODEL_SYMBOLS_MAX];
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        struct leat_aton_frame f = { .intermediate = (uint8_t)(i & 1),
                                     .error = (uint8_t)(i >> 1 & 1) };
        struct leat_aton_frame back;
        size_t count = 0, fault;
        model_random(&m, &r);
        f.packet = m.packet;
        const size_t want_count = model_symbols(&m, f.intermediate, f.error, want);
        EQ(leat_aton_frame_encode(&f, symbols, sizeof symbols, &count), LEAT_ERR_OK);
        EQ(count, want_count);
        string_of(symbols, count, got);
        OK(memcmp(got, want, want_count) == 0);
        EQ(decode(symbols, count, &back, &fault), LEAT_ERR_OK);
        OK(model_same_packet(&f.packet, &back.packet));
        EQ(back.intermediate, f.intermediate);
        EQ(back.error, f.error);
        if (tap_checks_failed) break;
    }
}

/* Valid delimiters and AC around noise, so that the noise is decoded. */
static void random_symbols_never_decode_to_what_they_are_not(void)
{
    struct leat_random r;
    uint8_t symbols[256], back[256];
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS; i++) {
        const size_t count = leat_random_below(&r, sizeof symbols + 1);
        const unsigned kinds = leat_random_below(&r, 8) ? 2 : 5;
        struct leat_aton_frame f;
        size_t back_count = 0, fault = 0;
        leat_random_fill(&r, symbols, count);
        for (size_t k = 0; k < count; k++)
            symbols[k] = (uint8_t)(symbols[k] % kinds);
        if (count >= 24) {
            symbols_of("JK0JK000", symbols);
            symbols_of("JK1JK1", symbols + count - 8);
        }
        if (decode_untouched(symbols, count, &fault) != LEAT_ERR_OK) continue;
        EQ(decode(symbols, count, &f, NULL), LEAT_ERR_OK);
        EQ(leat_aton_frame_encode(&f, back, sizeof back, &back_count), LEAT_ERR_OK);
        EQ(back_count, count);
        OK(memcmp(symbols, back, count) == 0);
    }
}

/* Of packets, tokens, and of what follows or is missing. */
static void a_length_needs_only_the_head(void)
{
    static struct model m;
    static char string[MODEL_SYMBOLS_MAX];
    static uint8_t symbols[MODEL_SYMBOLS_MAX + 8];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < 500; k++) {
        size_t length = 0, at = 0;
        model_random(&m, &r);
        m.packet.token = leat_random_below(&r, 10) == 0;
        const bool folds = m.packet.active && m.packet.opcode <= 8;
        const size_t count = model_symbols(&m, 0, 0, string);
        const size_t head = m.packet.token    ? 16
                            : folds           ? 80u + 2u * m.packet.width_bits
                            : m.packet.active ? 96
                                              : 80;
        for (size_t i = 0; i < count; i++)
            symbols[i] = (uint8_t)(strchr("01JK", string[i]) - "01JK");
        EQ(leat_aton_frame_length(symbols, count + 8, &length, &at), LEAT_ERR_OK);
        EQ(length, count);
        length = 0;
        EQ(leat_aton_frame_length(symbols, head, &length, &at), LEAT_ERR_OK);
        EQ(length, count);
        EQ(leat_aton_frame_length(symbols, head - 1, &length, &at), LEAT_ERR_SHORT);
        EQ(at, head - 1);
    }
}

TAP_MAIN(T(a_length_needs_only_the_head), T(the_token_is_24_symbols),
         T(every_field_has_its_own_bit_order), T(payloads_have_their_own_bit_orders),
         T(a_command_takes_128_and_2w_symbols), T(the_closed_form_times_of_the_spec_follow),
         T(the_longest_frame_has_its_named_length), T(a_sound_packet_leaves_the_residue_of_802_3),
         T(frames_that_cannot_be_sent_are_refused), T(every_truncation_is_short_at_its_end),
         T(every_wrong_symbol_is_refused_where_the_crc_or_a_delimiter_covers),
         T(faults_are_reported_by_symbol), T(an_e_bit_is_reported_and_does_not_hide_the_packet),
         T(random_frames_are_the_models_symbols_and_come_back),
         T(random_symbols_never_decode_to_what_they_are_not))
