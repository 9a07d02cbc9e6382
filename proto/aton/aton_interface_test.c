#include "aton_interface.h"
#include "aton_model_test.h"
#include "tap.h"

enum { J = LEAT_ATON_J, K = LEAT_ATON_K, SYMBOLS_MAX = 4096, PAYLOAD_MAX = 1024 };

static struct leat_aton_station station;
static uint8_t buffer[PAYLOAD_MAX];
static uint8_t in[SYMBOLS_MAX], out[SYMBOLS_MAX], wanted[SYMBOLS_MAX];
static unsigned reported; /* all reports of the last run */

static void open_station(uint16_t address)
{
    leat_aton_station_init(&station, address, buffer, sizeof buffer);
}

/* One symbol out for each that goes in. */
static void run(size_t count)
{
    reported = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned got = leat_aton_station_step(&station, in[i]);
        out[i] = got & 3;
        reported |= got & ~3u;
    }
}

static size_t symbols_of_image(const uint8_t *image, size_t len, unsigned error, uint8_t *symbols)
{
    struct leat_aton_frame frame = { .error = (uint8_t)error };
    size_t count = 0;
    EQ(leat_aton_packet_decode(image, len, &frame.packet, NULL), LEAT_ERR_OK);
    EQ(leat_aton_frame_encode(&frame, symbols, SYMBOLS_MAX, &count), LEAT_ERR_OK);
    return count;
}

static size_t token(uint8_t *symbols)
{
    const struct leat_aton_frame frame = { .packet = { .token = 1 } };
    size_t count = 0;
    EQ(leat_aton_frame_encode(&frame, symbols, SYMBOLS_MAX, &count), LEAT_ERR_OK);
    return count;
}

/* TREE's slots travel in the codec's order if all operations compare. */
static void random_registers(struct leat_random *r)
{
    static const uint8_t comparing[] = {
        LEAT_ATON_MAX, LEAT_ATON_MIN, LEAT_ATON_EQ, LEAT_ATON_LT,
        LEAT_ATON_LE,  LEAT_ATON_GT,  LEAT_ATON_GE, LEAT_ATON_PASS
    };
    for (unsigned i = 0; i < LEAT_ATON_REGISTERS; i++)
        station.it.operand[i] = model_random_bits(r, 64);
    for (unsigned h = 0; h < LEAT_ATON_SLOTS_MAX; h++)
        station.it.tree[h] = comparing[leat_random_below(r, sizeof comparing)];
    station.it.groups = (uint32_t)leat_random_next(r);
    station.it.enabled = leat_random_below(r, 8) != 0;
}

static void sort_items(struct model *m)
{
    for (size_t i = 1; i < m->count; i++)
        for (size_t k = i; k > 0 && m->value[k - 1] > m->value[k]; k--) {
            const uint64_t larger = m->value[k - 1];
            m->value[k - 1] = m->value[k];
            m->value[k] = larger;
        }
    uint8_t *to = m->payload;
    for (size_t i = 0; i < m->count; i++)
        to = model_octets(to, m->value[i], m->packet.width_bits / 8);
}

/* ---- folding -------------------------------------------------------------------------------- */

static void what_goes_out_is_what_the_word_engine_says_in_the_same_bit_times(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < LEAT_ROUNDS / 50 + 100; k++) {
        static struct model m;
        static uint8_t image[MODEL_IMAGE_MAX + 64];
        model_random_kind(&m, &r, 1 + (unsigned)leat_random_below(&r, 11));
        if (m.packet.opcode == LEAT_ATON_SORT) sort_items(&m);
        m.packet.monitor = m.packet.recognised = m.packet.copied = 0;
        open_station((uint16_t)(1 + leat_random_below(&r, 9)));
        random_registers(&r);
        if (!m.packet.group && leat_random_below(&r, 2))
            m.packet.da = leat_random_below(&r, 2) ? 0xffff : 5;

        uint32_t len = (uint32_t)model_image(&m, image);
        const size_t count = symbols_of_image(image, len, 0, in);
        memset(in + count, 0, 64);
        leat_aton_visit(&station.it, image, &len, sizeof image);
        leat_aton_packet_seal(image, len);
        const size_t after = symbols_of_image(image, len, 0, wanted);
        memset(wanted + after, 0, 64);
        run(count + 64);
        const bool same = memcmp(out, wanted, count + 64) == 0;
        OK(same && reported == 0);
        if (!same) break;
    }
}

static void an_add_packet(uint8_t *image, size_t *len)
{
    const struct leat_aton_packet p = { .active = 1,
                                        .opcode = LEAT_ATON_ADD,
                                        .width_bits = 32,
                                        .da = 0xffff,
                                        .sa = 9,
                                        .counter = 1,
                                        .variable1 = 5 };
    EQ(leat_aton_packet_encode(&p, image, MODEL_IMAGE_MAX, len), LEAT_ERR_OK);
}

static size_t add_symbols(void)
{
    uint8_t image[MODEL_IMAGE_MAX];
    size_t len = 0;
    an_add_packet(image, &len);
    return symbols_of_image(image, len, 0, in);
}

static void a_damaged_packet_stays_damaged_and_e_is_set(void)
{
    const size_t count = add_symbols();
    for (size_t at = 16; at < count - 8; at++) {
        struct leat_aton_frame frame;
        uint8_t payload[PAYLOAD_MAX];
        if (at >= 144 && at < 152) continue; /* FLG is not covered */
        add_symbols();
        in[at] ^= 1;
        open_station(1);
        station.it.operand[0] = 77;
        run(count);
        OK(leat_aton_frame_decode(out, count, payload, sizeof payload, &frame, NULL) !=
           LEAT_ERR_OK);
        if (at >= 64) EQ(out[count - 1], 1); /* before: the head may have become another packet's */
    }
}

static void the_packet_after_a_damaged_one_is_folded(void)
{
    const size_t count = add_symbols();
    for (size_t at = 0; at < count; at++)
        for (unsigned flip = 1; flip < 4; flip++) {
            add_symbols();
            in[at] = (uint8_t)(in[at] ^ flip);
            open_station(1);
            station.it.operand[0] = 77;
            run(count);
            memset(in, 0, 2048); /* the length in a damaged head may take so long */
            run(2048);
            add_symbols();
            run(count);
            OK(out[64] == 0 && out[65] == 1); /* Counter: 2 */
        }
}

/* ---- sending -------------------------------------------------------------------------------- */

static void the_token_is_captured_in_its_one_bit_and_the_packet_follows(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int k = 0; k < LEAT_ROUNDS / 500 + 100; k++) {
        uint8_t image[MODEL_IMAGE_MAX];
        size_t len = 0;
        open_station(5);
        random_registers(&r);
        struct leat_aton_command c = { .da = 0xffff };
        c.opcode = (uint8_t)(1 + leat_random_below(&r, 11));
        c.width_bits = (uint8_t)(16u << leat_random_below(&r, 3));
        c.reg = (uint8_t)leat_random_below(&r, 64);
        if (c.opcode == LEAT_ATON_BITCOUNT) c.param = leat_aton_counter_bits(9);
        if (c.opcode == LEAT_ATON_TREE) c.param = leat_aton_slots(9);
        station.order.command = c;
        station.wants = 1;
        EQ(leat_aton_begin(&station.it, &c, image, sizeof image, &len), LEAT_ERR_OK);
        const size_t count = symbols_of_image(image, len, 0, wanted);
        memset(in, 0, sizeof in);
        token(in);
        run(count + 10);
        OK(memcmp(out, wanted, count) == 0 && reported == LEAT_ATON_EVENT_CAPTURED);
        EQ(station.role, LEAT_ATON_ROLE_SENDS);

        memcpy(in, wanted, count); /* there is no other interface: it returns unchanged */
        memset(in + count, 0, 64);
        run(count + LEAT_ATON_TOKEN_SYMBOLS);
        EQ(reported, LEAT_ATON_EVENT_RESULT | LEAT_ATON_EVENT_RELEASED);
        EQ(station.result.status, LEAT_ATON_DONE);
        EQ(station.result.counter, station.it.enabled);
        token(wanted);
        OK(memcmp(out + count, wanted, LEAT_ATON_TOKEN_SYMBOLS) == 0);
        EQ(station.role, LEAT_ATON_ROLE_REPEATS);
    }
}

static void a_passive_packet_comes_in(void)
{
    const uint8_t octets[5] = { 1, 2, 3, 0xff, 5 };
    const struct leat_aton_packet p = {
        .da = 5, .sa = 9, .payload = octets, .payload_len = sizeof octets
    };
    uint8_t image[MODEL_IMAGE_MAX];
    size_t len = 0;
    EQ(leat_aton_packet_encode(&p, image, sizeof image, &len), LEAT_ERR_OK);
    const size_t count = symbols_of_image(image, len, 0, in);
    open_station(5);
    run(count);
    EQ(reported, LEAT_ATON_EVENT_RECEIVED);
    EQ(station.received_len, 5);
    EQ(station.sa, 9);
    OK(memcmp(buffer, octets, 5) == 0);
    image[len - 5] = LEAT_ATON_FLG_A | LEAT_ATON_FLG_C;
    symbols_of_image(image, len, 0, wanted);
    OK(memcmp(out, wanted, count) == 0);

    open_station(6); /* not for this one */
    run(count);
    EQ(reported, 0);
    OK(memcmp(out, in, count) == 0);
    leat_aton_station_init(&station, 5, buffer, 4); /* no room: recognised, not copied */
    run(count);
    EQ(reported, 0);
    image[len - 5] = LEAT_ATON_FLG_A;
    symbols_of_image(image, len, 0, wanted);
    OK(memcmp(out, wanted, count) == 0);
}

static void a_sender_believes_only_its_own_packet(void)
{
    const size_t count = add_symbols();
    for (size_t at = 0; at < count; at++) {
        memset(in, 0, sizeof in);
        token(in);
        open_station(9);
        station.order.command =
            (struct leat_aton_command){ .opcode = LEAT_ATON_ADD, .width_bits = 32, .da = 0xffff };
        station.wants = 1;
        run(count + 8);
        memset(in, 0, sizeof in);
        add_symbols();
        in[at] ^= 1;
        run(count + 64);
        const bool harmless = (at >= 12 && at < 16) || at == count - 2; /* M RRR, I */
        if (reported & LEAT_ATON_EVENT_RESULT)
            EQ(station.result.status == LEAT_ATON_DONE, harmless);
        else
            OK(!harmless);
    }
}

/* ---- the monitor ---------------------------------------------------------------------------- */

static void the_monitor_marks_a_packet_and_strips_it_the_second_time(void)
{
    const size_t count = add_symbols();
    open_station(1);
    station.is_monitor = 1;
    station.ring_bits = 30;
    run(count);
    EQ(out[12], 1);
    EQ(reported, 0);
    memcpy(in, out, count);
    memset(in + count, 0, 200);
    run(count + 30 + LEAT_ATON_TOKEN_SYMBOLS);
    EQ(reported, LEAT_ATON_EVENT_ORPHAN | LEAT_ATON_EVENT_RELEASED);
    const size_t silent = count - 1 + 30; /* a round, from its last symbol on */
    for (size_t i = 12; i < silent; i++)
        EQ(out[i], 0);
    token(wanted);
    OK(memcmp(out + silent, wanted, LEAT_ATON_TOKEN_SYMBOLS) == 0);
}

static void the_monitor_makes_a_new_token_after_silence(void)
{
    open_station(1);
    station.is_monitor = 1;
    station.ring_bits = 24;
    memset(in, 0, sizeof in);
    run(4 * 24 + 64);
    EQ(reported, 0);
    run(1 + 24 + LEAT_ATON_TOKEN_SYMBOLS);
    EQ(reported, LEAT_ATON_EVENT_SILENCE | LEAT_ATON_EVENT_RELEASED);
    leat_aton_station_purge(&station);
    run(24 + 1);
    EQ(reported, LEAT_ATON_EVENT_RELEASED);
    leat_aton_station_reset(&station);
    run(1);
    EQ(out[0], 0);
    leat_aton_station_release(&station);
    run(1);
    EQ(out[0], J);
}

static void an_idle_time_order_waits_for_the_second_token(void)
{
    open_station(1);
    station.order.command =
        (struct leat_aton_command){ .opcode = LEAT_ATON_ADD, .width_bits = 16, .da = 0xffff };
    station.order.when_idle = true;
    station.wants = 1;
    token(in);
    run(LEAT_ATON_TOKEN_SYMBOLS);
    EQ(reported, 0);
    OK(memcmp(in, out, LEAT_ATON_TOKEN_SYMBOLS) == 0);
    run(LEAT_ATON_TOKEN_SYMBOLS);
    EQ(reported, LEAT_ATON_EVENT_CAPTURED);
}

/* No symbols, however wrong, make an interface read or write out of bounds (sanitizers). */
static void any_symbols_get_through(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    open_station(1);
    for (int k = 0; k < LEAT_ROUNDS; k++) {
        const bool is_delimiter = leat_random_below(&r, 40) == 0;
        static const uint8_t start[8] = { J, K, 0, J, K, 0, 0, 0 };
        for (int i = 0; is_delimiter && i < 8; i++)
            leat_aton_station_step(&station, start[i]);
        if (leat_random_below(&r, 64) == 0) station.wants = 1;
        const unsigned symbol = (unsigned)leat_random_below(&r, leat_random_below(&r, 200) ? 2 : 4);
        station.order.command =
            (struct leat_aton_command){ .opcode = 9, .width_bits = 64, .da = 0xffff };
        leat_aton_station_step(&station, symbol);
    }
    OK(station.received_len <= PAYLOAD_MAX);
}

TAP_MAIN(T(what_goes_out_is_what_the_word_engine_says_in_the_same_bit_times),
         T(a_damaged_packet_stays_damaged_and_e_is_set),
         T(the_packet_after_a_damaged_one_is_folded),
         T(the_token_is_captured_in_its_one_bit_and_the_packet_follows),
         T(a_passive_packet_comes_in), T(a_sender_believes_only_its_own_packet),
         T(the_monitor_marks_a_packet_and_strips_it_the_second_time),
         T(the_monitor_makes_a_new_token_after_silence),
         T(an_idle_time_order_waits_for_the_second_token), T(any_symbols_get_through))
