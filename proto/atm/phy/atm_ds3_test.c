#include "atm_ds3.h"
#include "atm_tc_test.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, FRAMES = 24, FRAME = LEAT_ATM_DS3_FRAME_LEN, BITS = 8 * FRAME };
enum { QUEUE = 280, PAYLOAD = LEAT_ATM_DS3_PAYLOAD_LEN, BLOCK = LEAT_ATM_DS3_BLOCK_BITS };
enum { LAST = FRAMES * PAYLOAD / CELL - 1, BLOCKS = 56 };

static uint8_t memory[QUEUE * CELL], line[FRAMES * FRAME + 1];

static struct leat_atm_stream full_stream(void)
{
    struct leat_atm_stream stream;
    EQ(leat_atm_stream_init(&stream, memory, sizeof memory), LEAT_ERR_OK);
    for (uint32_t n = 0; n < QUEUE; n++)
        EQ(put_cell(&stream, n), LEAT_ERR_OK);
    return stream;
}

static void make_line(void)
{
    struct leat_atm_stream stream = full_stream();
    struct leat_atm_ds3_sender tx;
    leat_atm_ds3_sender_init(&tx, LEAT_ATM_DS3_DIRECT, &stream);
    leat_atm_ds3_sender_pull(&tx, line, FRAMES * FRAME);
}

static struct leat_atm_ds3 fresh(void)
{
    struct leat_atm_ds3 rx;
    EQ(leat_atm_ds3_init(&rx, LEAT_ATM_DS3_DIRECT, &LEAT_ATM_DELINEATION_DEFAULT), LEAT_ERR_OK);
    return rx;
}

static void feed(struct leat_atm_ds3 *rx, const uint8_t *octets, size_t len, size_t chunk,
                 struct tally *t)
{
    for (size_t at = 0; at < len;) {
        struct leat_atm_tc_out out;
        const size_t n = len - at < chunk ? len - at : chunk;
        const size_t used = leat_atm_ds3_feed(rx, octets + at, n, &out);
        OK(used > 0 && used <= n);
        at += used;
        tally_add(t, &out);
    }
}

/* From any bit of the line on. */
static struct tally receive(size_t from_bit, size_t chunk)
{
    static uint8_t octets[FRAMES * FRAME];
    struct leat_atm_ds3 rx = fresh();
    struct tally t = { .first = 0 };
    const size_t len = (FRAMES * BITS - from_bit) / 8;
    for (size_t i = 0; i < 8 * len; i++)
        leat_bit_put(octets, i, leat_bit_get(line, from_bit + i));
    feed(&rx, octets, len, chunk, &t);
    return t;
}

static void flip(size_t frame, size_t bit)
{
    leat_bit_put(line, frame * BITS + bit, !leat_bit_get(line, frame * BITS + bit));
}

/*
 * A second model: subframe by subframe as text, X P M for the first bits, and the payload bits of a
 * stream of cells, `early` nibbles of which are dropped. P is the parity of the frame before.
 */
static void model_line(uint8_t *octets, unsigned early)
{
    static const char *const head = "xxppzoz";
    static const char *const tail = "f-n-n-f";
    struct leat_atm_stream stream = full_stream();
    uint8_t payload[(FRAMES + 1) * PAYLOAD];
    leat_atm_stream_pull(&stream, payload, sizeof payload);
    size_t at = 0, next = 4 * early;
    unsigned before = 0, parity = 0;
    for (size_t f = 0; f < FRAMES; f++, before = parity, parity = 0)
        for (unsigned s = 0; s < 7; s++)
            for (unsigned b = 0; b < 8; b++) {
                const char c = b == 0 ? head[s] : tail[b - 1];
                leat_bit_put(octets, at++, c == 'p' ? before : c != 'z' && c != 'n');
                for (unsigned i = 0; i < 84; i++, next++) {
                    const unsigned bit = leat_bit_get(payload, next);
                    parity ^= bit;
                    leat_bit_put(octets, at++, bit);
                }
            }
    EQ(at, FRAMES * BITS);
}

static void the_sender_makes_the_frames_of_the_plain_model(void)
{
    static uint8_t model[sizeof line];
    make_line();
    model_line(model, 0);
    EQ(memcmp(line, model, FRAMES * FRAME), 0);
}

static void frames_are_found_from_any_bit(void)
{
    make_line();
    for (size_t from = 0; from < BITS; from += 211)
        for (size_t chunk = 1; chunk < 2000; chunk = 40 * chunk + 1) {
            const struct tally t = receive(from, chunk);
            EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
            EQ(t.events[LEAT_ATM_TC_SYNC], 1);
            OK(t.last >= LAST - 1);
            EQ(t.gaps, 0);
            EQ(t.events[LEAT_ATM_TC_FRAME_LOST] + t.events[LEAT_ATM_TC_PARITY], 0);
        }
}

/* Cells begin at nibbles, not at octets of the frame. */
static void cells_of_the_other_nibble_are_found(void)
{
    for (unsigned early = 0; early < 4; early++) {
        model_line(line, early);
        const struct tally t = receive(0, 1000);
        EQ(t.events[LEAT_ATM_TC_SYNC], 1);
        EQ(t.events[LEAT_ATM_TC_LOST], 0);
        EQ(t.gaps, 0);
        OK(t.last >= LAST - 1);
        OK(t.first < 70); /* two frames to find, sixteen cells to give up, seven to believe */
    }
}

static void three_wrong_f_bits_of_sixteen_lose_the_frame(void)
{
    static const size_t f_block[] = { 1, 3, 5, 7 };
    for (size_t wrong = 1; wrong <= 4; wrong++) {
        make_line();
        for (size_t i = 0; i < wrong; i++)
            flip(10, (8 * i + f_block[i]) * BLOCK); /* within four subframes */
        const struct tally t = receive(0, 500);
        EQ(t.events[LEAT_ATM_TC_FRAME_LOST], wrong >= 3);
        EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], wrong >= 3 ? 2 : 1);
        EQ(t.gaps == 0, wrong < 3);
        EQ(t.last, LAST);
    }
}

static void distant_wrong_f_bits_do_not_add_up(void)
{
    make_line();
    for (size_t f = 5; f < 20; f++) {
        flip(f, 1 * BLOCK);
        flip(f, 35 * BLOCK); /* 17 F bits later */
    }
    EQ(receive(0, 500).events[LEAT_ATM_TC_FRAME_LOST], 0);
}

static void wrong_m_bits_in_three_of_four_frames_lose_the_frame(void)
{
    for (size_t wrong = 1; wrong <= 4; wrong++) {
        make_line();
        for (size_t i = 0; i < wrong; i++)
            flip(10 + i + (i > 1), (32 + 8 * (i % 3)) * BLOCK); /* frames 10, 11, 13, 14 */
        EQ(receive(0, 500).events[LEAT_ATM_TC_FRAME_LOST], wrong >= 3);
    }
}

static void parity_of_payload_bits_is_reported_a_frame_later(void)
{
    make_line();
    flip(10, 20 * BLOCK + 7); /* one payload bit */
    flip(14, 20 * BLOCK + 7);
    flip(14, 21 * BLOCK + 7); /* two: even */
    flip(18, 16 * BLOCK);     /* one P bit */
    flip(20, 2 * BLOCK);      /* a C bit: not covered */
    const struct tally t = receive(0, 500);
    EQ(t.events[LEAT_ATM_TC_PARITY], 2);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
    EQ(t.gaps, 0);
}

/* All framing bits of a frame, but not of the next. */
static void a_false_frame_delays_and_does_not_mislead(void)
{
    make_line();
    for (unsigned block = 0; block < BLOCKS; block++) /* frame 0, again 30 bits later */
        leat_bit_put(line, block * BLOCK + 30, leat_bit_get(line, block * BLOCK));
    const struct tally t = receive(17, 100);
    EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 1);
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 0);
    EQ(t.gaps, 0);
    EQ(t.last, LAST);
}

static void plcp_frames_travel_in_the_payload(void)
{
    struct leat_atm_stream stream = full_stream();
    struct leat_atm_ds3_sender tx;
    struct leat_atm_ds3 rx;
    struct tally t = { .first = 0 };
    leat_atm_ds3_sender_init(&tx, LEAT_ATM_DS3_PLCP, &stream);
    EQ(leat_atm_ds3_init(&rx, LEAT_ATM_DS3_PLCP, &LEAT_ATM_DELINEATION_DEFAULT), LEAT_ERR_OK);
    leat_atm_ds3_sender_pull(&tx, line, FRAMES * FRAME);
    for (unsigned block = 1; block < 8; block += 2)
        flip(12, block * BLOCK); /* loses the frame, and with it that of the PLCP */
    feed(&rx, line, FRAMES * FRAME, 100, &t);
    EQ(t.events[LEAT_ATM_TC_FRAME_SYNC], 4); /* M-frame and PLCP frame, twice */
    EQ(t.events[LEAT_ATM_TC_FRAME_LOST], 1);
    EQ(t.events[LEAT_ATM_TC_DISCARD], 0);
    EQ(t.gaps, 1);
    OK(t.last > 230);
}

static void bad_parameters_are_refused(void)
{
    struct leat_atm_ds3 rx;
    EQ(leat_atm_ds3_init(&rx, LEAT_ATM_DS3_DIRECT, &(struct leat_atm_delineation_config){ 1, 0 }),
       LEAT_ERR_RANGE);
}

TAP_MAIN(T(the_sender_makes_the_frames_of_the_plain_model), T(frames_are_found_from_any_bit),
         T(cells_of_the_other_nibble_are_found), T(three_wrong_f_bits_of_sixteen_lose_the_frame),
         T(distant_wrong_f_bits_do_not_add_up),
         T(wrong_m_bits_in_three_of_four_frames_lose_the_frame),
         T(parity_of_payload_bits_is_reported_a_frame_later),
         T(a_false_frame_delays_and_does_not_mislead), T(plcp_frames_travel_in_the_payload),
         T(bad_parameters_are_refused))
