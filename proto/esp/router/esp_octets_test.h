/* The tests of esp_octets.h, compiled twice: as in user space and as in the kernel. */
#ifndef LEAT_ESP_OCTETS_TEST_H
#define LEAT_ESP_OCTETS_TEST_H

#include "esp_node.h"
#include "esp_octets.h"
#include "esp_trace_test.h"
#include "tap.h"
#include <string.h>

static const struct leat_esp_node octets_node = { .id = 3, .seed = 4, .tau = 10000 };

/* The codec's result, in the terms of the data paths. */
static enum leat_esp_flaw flaw_by_codec(const uint8_t *octets, size_t len,
                                        struct leat_esp_packet *p)
{
    static const uint8_t flaw[LEAT_ERR_COUNT] = {
        [LEAT_ERR_SHORT] = LEAT_ESP_FLAW_SHORT,   [LEAT_ERR_LENGTH] = LEAT_ESP_FLAW_LENGTH,
        [LEAT_ERR_CHECKSUM] = LEAT_ESP_FLAW_CRC,  [LEAT_ERR_DUPLICATE] = LEAT_ESP_FLAW_TAGS,
        [LEAT_ERR_TYPE] = LEAT_ESP_FLAW_OPERATOR, [LEAT_ERR_RESERVED] = LEAT_ESP_FLAW_ZERO,
    };
    size_t at = 0;
    const leat_err err = leat_esp_packet_decode(octets, len, p, &at);
    if (err == LEAT_ERR_TYPE && at == LEAT_ESP_OPCODE_AT)
        return octets[at] >= 64 ? LEAT_ESP_FLAW_MANAGEMENT : LEAT_ESP_FLAW_OPCODE;
    return (enum leat_esp_flaw)flaw[err];
}

/* Octets in a buffer of exactly their length, so that a sanitizer detects overruns. */
static uint8_t *exact_copy(const uint8_t *octets, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy) abort();
    memcpy(copy, octets, len);
    return copy;
}

static void the_checks_are_the_codecs(void)
{
    struct esp_trace trace;
    uint64_t seen[LEAT_ESP_FLAWS] = { 0 };
    esp_trace_begin(&trace, tap_seed(), &octets_node, 50);
    for (uint64_t i = 0; i < LEAT_ROUNDS && !tap_checks_failed; i++) {
        struct esp_trace_step step;
        struct leat_esp_packet p;
        struct leat_esp_words w = { 0 }, want;
        esp_trace_next(&trace, &step);
        uint8_t *octets = exact_copy(step.octets, step.len);
        const enum leat_esp_flaw flaw = leat_esp_octets_read(octets, octets + step.len, &w);
        EQ(flaw, flaw_by_codec(octets, step.len, &p));
        seen[flaw]++;
        if (flaw == LEAT_ESP_FLAW_NONE) {
            leat_esp_words_of(&p, &want);
            want.control |= octets[0] & 0x10; /* kept by routers */
            OK(memcmp(&w, &want, sizeof w) == 0);
        }
        free(octets);
    }
    for (int i = 0; i < LEAT_ESP_FLAWS; i++)
        OK(seen[i] > LEAT_ROUNDS / 1000);
}

static void every_truncation_is_short_or_worse(void)
{
    struct esp_trace trace;
    esp_trace_begin(&trace, tap_seed(), &octets_node, 50);
    for (int opcode = 0; opcode < LEAT_ESP_OPCODE_END; opcode++) {
        struct leat_esp_packet p = esp_trace_packet(&trace);
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
        size_t len;
        struct leat_esp_words w;
        while (p.opcode != opcode && opcode)
            p = esp_trace_packet(&trace);
        if (!opcode) p.opcode = LEAT_ESP_NOP;
        EQ(leat_esp_packet_encode(&p, octets, sizeof octets, &len), LEAT_ERR_OK);
        EQ(leat_esp_octets_read(octets, octets + len, &w), LEAT_ESP_FLAW_NONE);
        EQ(leat_esp_octets_read_as(octets, octets + len, (unsigned)opcode, &w), LEAT_ESP_FLAW_NONE);
        while (len--) {
            uint8_t *cut = exact_copy(octets, len);
            EQ(leat_esp_octets_read(cut, cut + len, &w), LEAT_ESP_FLAW_SHORT);
            free(cut);
        }
    }
}

/* Executed packets, written back: the octets that the codec makes of the executed struct. */
static void what_is_written_back_is_what_the_codec_encodes(void)
{
    struct esp_trace trace;
    uint64_t rewritten = 0;
    esp_trace_begin(&trace, tap_seed(), &octets_node, 50);
    for (uint64_t i = 0; i < LEAT_ROUNDS / 10 && !tap_checks_failed; i++) {
        struct leat_esp_packet p = esp_trace_packet(&trace);
        uint8_t octets[LEAT_ESP_PACKET_LEN_MAX], want[LEAT_ESP_PACKET_LEN_MAX];
        size_t len, want_len;
        struct leat_esp_words w;
        leat_esp_packet_encode(&p, octets, sizeof octets, &len);
        EQ(leat_esp_octets_read(octets, octets + len, &w), LEAT_ESP_FLAW_NONE);
        for (unsigned k = 0; k < LEAT_ESP_OPERANDS_MAX; k++)
            if (leat_esp_rewritten(w.opcode) >> k & 1)
                w.operand[k] = leat_random_next(&trace.random);
        if (esp_trace_below(&trace, 2)) w.control |= LEAT_ESP_FLAG_E;
        leat_esp_words_back(&w, &p);
        if (leat_esp_packet_encode(&p, want, sizeof want, &want_len)) continue;
        OK(leat_esp_octets_write(octets, octets + len, &w));
        OK(len == want_len && memcmp(octets, want, len) == 0);
        OK(!leat_esp_octets_write(octets, octets + len - 1, &w));
        OK(!leat_esp_octets_write_as(octets, octets + len - 1, w.opcode, &w));
        rewritten += leat_esp_rewritten(w.opcode) != 0;
    }
    OK(rewritten > LEAT_ROUNDS / 100);
}

static void words_are_big_endian_in_the_octets(void)
{
    uint8_t octets[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    OK(leat_esp_octets_get(octets) == UINT64_C(0x0102030405060708));
    leat_esp_octets_put(octets, UINT64_C(0x1112131415161718));
    EQ(octets[0], 0x11);
    EQ(octets[7], 0x18);
}

/* leat encode esp opcode=COUNT compValTag=1 thresh=3: the first packet of the manual. */
static void the_crc_is_that_of_the_vectors(void)
{
    static const uint8_t octets[] = { 1, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
                                      0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3 };
    const struct leat_esp_words w = {
        .control = 1, .opcode = 1, .computation = 1, .operand = { 1, 3 }
    };
    EQ(leat_esp_octets_crc(octets, &w, 4), 0x1d2055f4);
    EQ(leat_esp_words_check(&w, &leat_esp_shapes[LEAT_ESP_COUNT]), LEAT_ESP_FLAW_NONE);
}

#endif
