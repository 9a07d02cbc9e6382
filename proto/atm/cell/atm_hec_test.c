#include "atm_hec.h"
#include "leat_bytes.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* The note, 1.2: vectors, and the syndrome of an error in bit 0..39. */
static const uint8_t vectors[][LEAT_ATM_HEADER_LEN] = {
    { 0x00, 0x00, 0x00, 0x00, 0x55 }, { 0x00, 0x00, 0x00, 0x01, 0x52 },
    { 0x04, 0x00, 0x00, 0x00, 0x0d }, { 0x01, 0x50, 0x00, 0x00, 0x67 },
    { 0x00, 0x60, 0x00, 0x00, 0x90 }, { 0x00, 0x10, 0x00, 0x50, 0x40 },
    { 0x01, 0x23, 0x45, 0x62, 0x8e }, { 0xab, 0xc3, 0x45, 0x67, 0x38 },
    { 0x04, 0x00, 0x00, 0x6c, 0x0e }, { 0x12, 0x34, 0x56, 0x78, 0x49 },
    { 0xff, 0xff, 0xff, 0xff, 0x8b },
};
enum { VECTORS = sizeof vectors / sizeof *vectors };

static const uint8_t syndromes[LEAT_ATM_HEADER_BITS] = {
    0x31, 0x9b, 0xce, 0x67, 0xb0, 0x58, 0x2c, 0x16, 0x0b, 0x86, 0x43, 0xa2, 0x51, 0xab,
    0xd6, 0x6b, 0xb6, 0x5b, 0xae, 0x57, 0xa8, 0x54, 0x2a, 0x15, 0x89, 0xc7, 0xe0, 0x70,
    0x38, 0x1c, 0x0e, 0x07, 0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01,
};

static void flip(uint8_t *header, unsigned bit)
{
    leat_bit_put(header, bit, !leat_bit_get(header, bit));
}

static struct leat_atm_hec in_mode(enum leat_atm_hec_mode mode)
{
    struct leat_atm_hec hec;
    leat_atm_hec_init(&hec);
    EQ(hec.mode, LEAT_ATM_HEC_CORRECTION);
    hec.mode = mode;
    return hec;
}

/* One step from a mode with some bits of a valid header wrong: the row of the state table. */
static void expect(enum leat_atm_hec_mode mode, const uint8_t *sound, const unsigned *bits,
                   unsigned bit_count, enum leat_atm_hec_verdict verdict,
                   enum leat_atm_hec_mode next)
{
    struct leat_atm_hec hec = in_mode(mode);
    uint8_t header[LEAT_ATM_HEADER_LEN], sent[LEAT_ATM_HEADER_LEN];
    memcpy(header, sound, sizeof header);
    for (unsigned i = 0; i < bit_count; i++)
        flip(header, bits[i]);
    memcpy(sent, header, sizeof sent);
    EQ(leat_atm_hec_step(&hec, header), verdict);
    EQ(hec.mode, next);
    /* Only correction changes a header, and it restores the valid one. */
    OK(memcmp(header, verdict == LEAT_ATM_HEC_CORRECTED ? sound : sent, sizeof header) == 0);
}

static void sound_headers_have_no_syndrome_and_are_accepted(void)
{
    for (size_t i = 0; i < VECTORS; i++) {
        EQ(leat_atm_hec_syndrome(vectors[i]), 0);
        expect(LEAT_ATM_HEC_CORRECTION, vectors[i], NULL, 0, LEAT_ATM_HEC_ACCEPT,
               LEAT_ATM_HEC_CORRECTION);
        expect(LEAT_ATM_HEC_DETECTION, vectors[i], NULL, 0, LEAT_ATM_HEC_ACCEPT,
               LEAT_ATM_HEC_CORRECTION);
    }
}

static void the_forty_single_errors_have_the_syndromes_of_the_note(void)
{
    for (size_t i = 0; i < VECTORS; i++)
        for (unsigned bit = 0; bit < LEAT_ATM_HEADER_BITS; bit++) {
            uint8_t header[LEAT_ATM_HEADER_LEN];
            memcpy(header, vectors[i], sizeof header);
            flip(header, bit);
            EQ(leat_atm_hec_syndrome(header), syndromes[bit]);
        }
}

static void exactly_forty_syndromes_name_a_bit(void)
{
    unsigned named = 0;
    for (unsigned s = 0; s < 256; s++)
        named += leat_atm_hec_error_bit((uint8_t)s) < LEAT_ATM_HEADER_BITS;
    EQ(named, LEAT_ATM_HEADER_BITS);
    for (unsigned bit = 0; bit < LEAT_ATM_HEADER_BITS; bit++)
        EQ(leat_atm_hec_error_bit(syndromes[bit]), bit);
    EQ(leat_atm_hec_error_bit(0), LEAT_ATM_HEADER_BITS);
}

static void single_errors_are_corrected_in_correction_mode_only(void)
{
    for (size_t i = 0; i < VECTORS; i++)
        for (unsigned bit = 0; bit < LEAT_ATM_HEADER_BITS; bit++) {
            expect(LEAT_ATM_HEC_CORRECTION, vectors[i], &bit, 1, LEAT_ATM_HEC_CORRECTED,
                   LEAT_ATM_HEC_DETECTION);
            expect(LEAT_ATM_HEC_DETECTION, vectors[i], &bit, 1, LEAT_ATM_HEC_DISCARD,
                   LEAT_ATM_HEC_DETECTION);
        }
}

static void all_780_double_errors_are_detected_in_both_modes(void)
{
    unsigned pairs = 0;
    for (unsigned a = 0; a < LEAT_ATM_HEADER_BITS; a++)
        for (unsigned b = a + 1; b < LEAT_ATM_HEADER_BITS; b++, pairs++)
            for (size_t i = 0; i < VECTORS; i++) {
                const unsigned bits[] = { a, b };
                expect(LEAT_ATM_HEC_CORRECTION, vectors[i], bits, 2, LEAT_ATM_HEC_DISCARD,
                       LEAT_ATM_HEC_DETECTION);
                expect(LEAT_ATM_HEC_DETECTION, vectors[i], bits, 2, LEAT_ATM_HEC_DISCARD,
                       LEAT_ATM_HEC_DETECTION);
            }
    EQ(pairs, 780);
}

static void a_burst_of_single_errors_is_corrected_once(void)
{
    struct leat_atm_hec hec = in_mode(LEAT_ATM_HEC_CORRECTION);
    for (unsigned i = 0; i < 5; i++) {
        uint8_t header[LEAT_ATM_HEADER_LEN] = { 0, 0, 0, 1, 0x53 };
        EQ(leat_atm_hec_step(&hec, header), i ? LEAT_ATM_HEC_DISCARD : LEAT_ATM_HEC_CORRECTED);
    }
    uint8_t sound[LEAT_ATM_HEADER_LEN] = { 0, 0, 0, 1, 0x52 };
    EQ(leat_atm_hec_step(&hec, sound), LEAT_ATM_HEC_ACCEPT);
    uint8_t again[LEAT_ATM_HEADER_LEN] = { 0x80, 0, 0, 1, 0x52 };
    EQ(leat_atm_hec_step(&hec, again), LEAT_ATM_HEC_CORRECTED);
}

/* For any input: an accepted or corrected header has a correct check, a discarded one is
 * unchanged. */
static void random_headers_keep_the_contract(void)
{
    struct leat_random r;
    struct leat_atm_hec hec;
    leat_random_seed(&r, tap_seed());
    leat_atm_hec_init(&hec);
    for (long i = 0; i < LEAT_ROUNDS; i++) {
        uint8_t header[LEAT_ATM_HEADER_LEN], sent[LEAT_ATM_HEADER_LEN];
        leat_put_be32(header, (uint32_t)leat_random_next(&r));
        header[4] = 0;
        header[4] = leat_atm_hec_syndrome(header);
        for (uint64_t errors = leat_random_below(&r, 3); errors > 0; errors--)
            flip(header, (unsigned)leat_random_below(&r, LEAT_ATM_HEADER_BITS));
        memcpy(sent, header, sizeof sent);
        const enum leat_atm_hec_verdict v = leat_atm_hec_step(&hec, header);
        EQ(leat_atm_hec_syndrome(header) == 0, v != LEAT_ATM_HEC_DISCARD);
        EQ(memcmp(header, sent, sizeof sent) == 0, v != LEAT_ATM_HEC_CORRECTED);
        EQ(hec.mode == LEAT_ATM_HEC_CORRECTION, v == LEAT_ATM_HEC_ACCEPT);
    }
}

TAP_MAIN(T(sound_headers_have_no_syndrome_and_are_accepted),
         T(the_forty_single_errors_have_the_syndromes_of_the_note),
         T(exactly_forty_syndromes_name_a_bit),
         T(single_errors_are_corrected_in_correction_mode_only),
         T(all_780_double_errors_are_detected_in_both_modes),
         T(a_burst_of_single_errors_is_corrected_once), T(random_headers_keep_the_contract))
