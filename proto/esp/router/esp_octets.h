/*
 * Instructions in the octets of a frame, for the data paths: the checks of leat_esp_packet_decode
 * in the same order, and the inverse, which writes only what has changed. Compiles for BPF; a test
 * compares both forms with the codec.
 *
 *   leat_esp_octets_read     octets -> words, or the error
 *   leat_esp_execute         ...
 *   leat_esp_octets_write    changed words, Control and CRC -> octets
 *
 * Opcodes from 64 on are management (esp_query.h): here they only yield MANAGEMENT.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_OCTETS_H
#define LEAT_ESP_OCTETS_H

#include "esp_core.h"
#include "leat_bytes.h"

/* The tests compile the kernel's variant themselves. */
#if defined(__bpf__) && !defined(LEAT_ESP_AS_IN_KERNEL)
#define LEAT_ESP_AS_IN_KERNEL
#endif
#ifdef LEAT_ESP_AS_IN_KERNEL
#include "leat_crc_tables.h"
#else
#include <leat/crc.h>
#endif

/* id, name, text: possible errors, in the order of the checks. */
#define LEAT_ESP_FLAW_LIST(X)                                          \
    X(NONE, "sound", "nothing is wrong")                               \
    X(MANAGEMENT, "management", "no instruction: a management packet") \
    X(SHORT, "short", "ends before its packet does")                   \
    X(OPCODE, "opcode", "unknown opcode")                              \
    X(LENGTH, "length", "Length is not the opcode's")                  \
    X(CRC, "crc", "the CRC does not match")                            \
    X(TAGS, "tags", "two tags are equal")                              \
    X(OPERATOR, "operator", "unknown operator")                        \
    X(ZERO, "zero", "the word after the operator is not 0")

enum leat_esp_flaw {
#define X(id, name, text) LEAT_ESP_FLAW_##id,
    LEAT_ESP_FLAW_LIST(X)
#undef X
        LEAT_ESP_FLAWS
};

enum { LEAT_ESP_MANAGEMENT_FIRST = 64 };

/* The layout of an instruction, from the list of leat/esp.h. */
struct leat_esp_shape {
    uint8_t words;
    uint8_t kind[LEAT_ESP_OPERANDS_MAX]; /* enum leat_esp_kind */
};

#define TAG(name)                   LEAT_ESP_KIND_TAG
#define VALUE(name)                 LEAT_ESP_KIND_VALUE
#define COMPARE_OP                  LEAT_ESP_KIND_COMPARE
#define FOLD_OP                     LEAT_ESP_KIND_FOLD
#define NOTHING                     0
#define ROW(code, name, words, ...) [code] = { words, { __VA_ARGS__ } },
static const struct leat_esp_shape leat_esp_shapes[LEAT_ESP_OPCODE_END] = {
    LEAT_ESP_INSTRUCTION_LIST(ROW)
};
#undef TAG
#undef VALUE
#undef COMPARE_OP
#undef FOLD_OP
#undef NOTHING
#undef ROW

/* ---- what differs in the kernel ----------------------------------------------------------- */

/* Are there n octets? The verifier understands only this comparison, and C defines only the other
 * one. */
#ifdef __bpf__
#define LEAT_ESP_HAS(octets, end, n) ((octets) + (n) <= (end))
#else
#define LEAT_ESP_HAS(octets, end, n) ((size_t)((end) - (octets)) >= (n))
#endif

/* BPF's compiler turns leat_get_be64 into eight loads; its machines support unaligned loads. */
LEAT_ESP_INLINE uint64_t leat_esp_octets_get(const uint8_t *octets)
{
#if defined(__bpf__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(*(const uint64_t *)(const void *)octets);
#else
    return leat_get_be64(octets);
#endif
}

LEAT_ESP_INLINE void leat_esp_octets_put(uint8_t *octets, uint64_t word)
{
#if defined(__bpf__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    *(uint64_t *)(void *)octets = __builtin_bswap64(word);
#else
    leat_put_be64(octets, word);
#endif
}

#ifdef LEAT_ESP_AS_IN_KERNEL
/* Four octets, the first one least significant. */
LEAT_ESP_INLINE uint32_t leat_esp_crc_four(uint32_t crc, uint32_t octets)
{
    crc ^= octets;
    return crc32_lsb[3][crc & 0xff] ^ crc32_lsb[2][crc >> 8 & 0xff] ^
           crc32_lsb[1][crc >> 16 & 0xff] ^ crc32_lsb[0][crc >> 24];
}

/* A word of the packet, in host byte order. */
LEAT_ESP_INLINE uint32_t leat_esp_crc_word(uint32_t crc, uint64_t word)
{
    const uint64_t octets = __builtin_bswap64(word);
    const uint32_t low = crc ^ (uint32_t)octets, high = (uint32_t)(octets >> 32);
    return crc32_lsb[7][low & 0xff] ^ crc32_lsb[6][low >> 8 & 0xff] ^
           crc32_lsb[5][low >> 16 & 0xff] ^ crc32_lsb[4][low >> 24] ^ crc32_lsb[3][high & 0xff] ^
           crc32_lsb[2][high >> 8 & 0xff] ^ crc32_lsb[1][high >> 16 & 0xff] ^
           crc32_lsb[0][high >> 24];
}
#endif

/* CRC of the packet that `octets` and `w` both hold. */
LEAT_ESP_INLINE uint32_t leat_esp_octets_crc(const uint8_t *octets, const struct leat_esp_words *w,
                                             uint32_t words)
{
#ifdef LEAT_ESP_AS_IN_KERNEL
    const uint32_t head = (uint32_t)w->opcode << 8 | w->control | words << 24 | (words >> 8) << 16;
    uint32_t crc = leat_esp_crc_four(~0u, head);
    (void)octets;
    crc = leat_esp_crc_word(crc, w->computation);
    for (uint32_t i = 0; i < words / 2; i++)
        crc = leat_esp_crc_word(crc, w->operand[i]);
    return ~crc;
#else
    (void)w;
    return leat_crc32(0, octets, LEAT_ESP_OPERANDS_AT + 4 * words);
#endif
}

/* ---- reading ------------------------------------------------------------------------------ */

LEAT_ESP_INLINE enum leat_esp_flaw leat_esp_words_check(const struct leat_esp_words *w,
                                                        const struct leat_esp_shape *shape)
{
#define KNOWN(name, code) | UINT32_C(1) << (code)
    const uint32_t compare = 0 LEAT_ESP_COMPARE_LIST(KNOWN), fold = 0 LEAT_ESP_FOLD_LIST(KNOWN);
#undef KNOWN
    const uint32_t count = shape->words / 2u;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (shape->kind[i] == LEAT_ESP_KIND_TAG && shape->kind[j] == LEAT_ESP_KIND_TAG &&
                w->operand[i] == w->operand[j])
                return LEAT_ESP_FLAW_TAGS;
    if (count == 0 || shape->kind[count - 1] < LEAT_ESP_KIND_COMPARE) return LEAT_ESP_FLAW_NONE;
    const uint64_t last = w->operand[count - 1], op = last >> 32;
    const uint32_t known = shape->kind[count - 1] == LEAT_ESP_KIND_COMPARE ? compare : fold;
    if (op >= 32 || !(known >> (op & 31) & 1)) return LEAT_ESP_FLAW_OPERATOR;
    return (uint32_t)last ? LEAT_ESP_FLAW_ZERO : LEAT_ESP_FLAW_NONE;
}

/* `opcode` is a constant here, so that the verifier sees constant offsets. */
LEAT_ESP_INLINE enum leat_esp_flaw leat_esp_octets_read_as(const uint8_t *octets,
                                                           const uint8_t *end, unsigned opcode,
                                                           struct leat_esp_words *w)
{
    const struct leat_esp_shape *shape = &leat_esp_shapes[opcode];
    const uint32_t words = shape->words, crc_at = LEAT_ESP_OPERANDS_AT + 4 * words;
    if (leat_get_be16(octets + LEAT_ESP_LENGTH_AT) != words) return LEAT_ESP_FLAW_LENGTH;
    if (!LEAT_ESP_HAS(octets, end, crc_at + LEAT_ESP_CRC_LEN)) return LEAT_ESP_FLAW_SHORT;
    w->control = octets[LEAT_ESP_CONTROL_AT];
    w->opcode = (uint8_t)opcode;
    w->installed = 0;
    w->parent = 0;
    w->computation = leat_esp_octets_get(octets + LEAT_ESP_COMPUTATION_AT);
    for (uint32_t i = 0; i < words / 2; i++)
        w->operand[i] = leat_esp_octets_get(octets + LEAT_ESP_OPERANDS_AT +
                                            i * LEAT_ESP_OPERAND_LEN);
    if (leat_esp_octets_crc(octets, w, words) != leat_get_be32(octets + crc_at))
        return LEAT_ESP_FLAW_CRC;
    return leat_esp_words_check(w, shape);
}

/* `w` holds the packet iff the result is NONE; octets after the CRC are ignored. */
LEAT_ESP_INLINE enum leat_esp_flaw leat_esp_octets_read(const uint8_t *octets, const uint8_t *end,
                                                        struct leat_esp_words *w)
{
    if (!LEAT_ESP_HAS(octets, end, LEAT_ESP_PACKET_LEN_MIN)) return LEAT_ESP_FLAW_SHORT;
    switch (octets[LEAT_ESP_OPCODE_AT]) {
#define CASE(code, name, words, ...) \
    case code: return leat_esp_octets_read_as(octets, end, code, w);
        LEAT_ESP_INSTRUCTION_LIST(CASE)
#undef CASE
    default: break;
    }
    return octets[LEAT_ESP_OPCODE_AT] >= LEAT_ESP_MANAGEMENT_FIRST ? LEAT_ESP_FLAW_MANAGEMENT
                                                                   : LEAT_ESP_FLAW_OPCODE;
}

/* ---- writing ------------------------------------------------------------------------------ */

LEAT_ESP_INLINE bool leat_esp_octets_write_as(uint8_t *octets, const uint8_t *end, unsigned opcode,
                                              const struct leat_esp_words *w)
{
    const uint32_t words = leat_esp_shapes[opcode].words;
    const uint32_t crc_at = LEAT_ESP_OPERANDS_AT + 4 * words;
    if (!LEAT_ESP_HAS(octets, end, crc_at + LEAT_ESP_CRC_LEN)) return false;
    octets[LEAT_ESP_CONTROL_AT] = w->control;
    for (uint32_t i = 0; i < words / 2; i++)
        if (leat_esp_rewritten(opcode) >> i & 1)
            leat_esp_octets_put(octets + LEAT_ESP_OPERANDS_AT + i * LEAT_ESP_OPERAND_LEN,
                                w->operand[i]);
    leat_put_be32(octets + crc_at, leat_esp_octets_crc(octets, w, words));
    return true;
}

/* After a read: writes Control, the operands that execution changed, and the CRC. False: the octets
 * are no longer there. */
LEAT_ESP_INLINE bool leat_esp_octets_write(uint8_t *octets, const uint8_t *end,
                                           const struct leat_esp_words *w)
{
    switch (w->opcode) {
#define CASE(code, name, words, ...) \
    case code: return leat_esp_octets_write_as(octets, end, code, w);
        LEAT_ESP_INSTRUCTION_LIST(CASE)
#undef CASE
    default: return false;
    }
}

#endif
