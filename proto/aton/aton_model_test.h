/*
 * A plain second implementation of spec/aton.md for the tests: packets as lists of numbers, images
 * built one octet or one symbol at a time, CRCs one bit at a time. It shares only the struct that
 * it fills in with the room's code.
 */
#ifndef LEAT_ATON_MODEL_TEST_H
#define LEAT_ATON_MODEL_TEST_H

#include "aton_symbol.h"
#include <leat/random.h>
#include <stdio.h>
#include <string.h>

enum { MODEL_ITEMS_MAX = 64, MODEL_IMAGE_MAX = 1024, MODEL_SYMBOLS_MAX = 8192 };

struct model {
    struct leat_aton_packet packet;
    size_t count; /* items of the payload */
    uint64_t value[MODEL_ITEMS_MAX];
    unsigned valid[MODEL_ITEMS_MAX];
    uint8_t payload[MODEL_IMAGE_MAX]; /* as packet.payload wants it */
};

/* The MIN of the golden vectors. */
static inline struct leat_aton_packet model_min_packet(void)
{
    return (struct leat_aton_packet){ .active = 1,
                                      .opcode = 5,
                                      .width_bits = 32,
                                      .da = 0xffff,
                                      .sa = 1,
                                      .counter = 1,
                                      .variable1 = 7,
                                      .variable2 = 1 };
}

static inline uint64_t model_random_bits(struct leat_random *r, unsigned bits)
{
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    if (leat_random_below(r, 4)) return leat_random_next(r) & mask;
    return (leat_random_below(r, 3) - 1) & mask; /* all ones, 0, 1 */
}

static inline unsigned model_item_bits(const struct leat_aton_packet *p)
{
    if (!p->active) return 8;
    return p->opcode == 10 ? p->param : p->width_bits;
}

static inline void model_payload(struct model *m, struct leat_random *r)
{
    struct leat_aton_packet *p = &m->packet;
    const unsigned bits = model_item_bits(p);
    uint8_t *to = m->payload;
    for (size_t i = 0; i < m->count; i++) {
        m->value[i] = model_random_bits(r, bits);
        m->valid[i] = (unsigned)leat_random_below(r, 2);
        if (p->active && p->opcode == 11) *to++ = (uint8_t)m->valid[i];
        for (unsigned octet = (bits + 7) / 8; octet-- > 0;)
            *to++ = (uint8_t)(m->value[i] >> 8 * octet);
    }
    p->payload_len = (size_t)(to - m->payload);
    p->payload = p->payload_len ? m->payload : NULL;
}

/* Opcode 0: passive. */
static inline void model_random_kind(struct model *m, struct leat_random *r, unsigned opcode)
{
    struct leat_aton_packet *p = &m->packet;
    *p = (struct leat_aton_packet){ 0 };
    p->priority = (uint8_t)leat_random_below(r, 8);
    p->monitor = (uint8_t)leat_random_below(r, 2);
    p->reservation = (uint8_t)leat_random_below(r, 8);
    p->recognised = (uint8_t)leat_random_below(r, 2);
    p->copied = (uint8_t)leat_random_below(r, 2);
    p->da = (uint16_t)model_random_bits(r, 16);
    p->sa = (uint16_t)model_random_bits(r, 16);
    m->count = 0;
    if (opcode == 0) {
        m->count = leat_random_below(r, 20);
    } else {
        p->active = 1;
        p->opcode = (uint8_t)opcode;
        p->width_bits = (uint8_t)(16u << leat_random_below(r, 3));
        p->reg = (uint8_t)leat_random_below(r, 64);
        p->counter = (uint16_t)leat_random_below(r, 65535);
        p->group = leat_random_below(r, 4) == 0;
        if (p->group) p->da = (uint16_t)leat_random_below(r, 32);
    }
    if (opcode >= 1 && opcode <= 8) {
        p->variable1 = model_random_bits(r, p->width_bits);
        p->variable2 = model_random_bits(r, p->width_bits);
    }
    if (opcode == 9) p->counter = (uint16_t)(m->count = leat_random_below(r, 9));
    if (opcode == 10) {
        p->param = (uint16_t)(1 + leat_random_below(r, 16));
        m->count = p->width_bits;
    }
    if (opcode == 11) p->param = (uint16_t)(m->count = 1 + leat_random_below(r, 17));
    model_payload(m, r);
}

/* Long packets are one in eight, so that campaigns stay short. */
static inline void model_random(struct model *m, struct leat_random *r)
{
    const unsigned opcode = leat_random_below(r, 8) ? (unsigned)leat_random_below(r, 9)
                                                    : 9 + (unsigned)leat_random_below(r, 3);
    model_random_kind(m, r, opcode);
}

static inline int model_same_packet(const struct leat_aton_packet *a,
                                    const struct leat_aton_packet *b)
{
    return a->priority == b->priority && a->token == b->token && a->monitor == b->monitor &&
           a->reservation == b->reservation && a->active == b->active && a->opcode == b->opcode &&
           a->width_bits == b->width_bits && a->reg == b->reg && a->group == b->group &&
           a->recognised == b->recognised && a->copied == b->copied && a->da == b->da &&
           a->sa == b->sa && a->counter == b->counter && a->param == b->param &&
           a->variable1 == b->variable1 && a->variable2 == b->variable2 &&
           a->payload_len == b->payload_len &&
           (!a->payload_len || memcmp(a->payload, b->payload, a->payload_len) == 0);
}

/* ---- CRC-32, one bit at a time, by the polynomial's powers ---------------------------------- */

/* Register with x^31 on the left, as books draw it; bits come in the order sent. */
static inline uint32_t model_crc_bit(uint32_t reg, unsigned bit)
{
    const unsigned out = (reg >> 31 ^ bit) & 1;
    return reg << 1 ^ (out ? 0x04C11DB7u : 0);
}

static inline uint32_t model_reverse(uint32_t x)
{
    uint32_t y = 0;
    for (unsigned i = 0; i < 32; i++)
        y = y << 1 | (x >> i & 1);
    return y;
}

/* Of an image whose last octet (FLG) comes before the CRC. */
static inline uint32_t model_image_crc(const uint8_t *image, size_t flg_at)
{
    uint32_t reg = UINT32_MAX;
    for (size_t i = 0; i <= flg_at; i++) {
        unsigned octet = image[i];
        if (i == 0) octet &= 0xE0;
        if (i == flg_at) octet = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            reg = model_crc_bit(reg, octet >> bit & 1);
    }
    return model_reverse(~reg);
}

/* ---- the octet image ------------------------------------------------------------------------- */

static inline uint8_t *model_octets(uint8_t *to, uint64_t value, unsigned len)
{
    while (len-- > 0)
        *to++ = (uint8_t)(value >> 8 * len);
    return to;
}

static inline size_t model_image(const struct model *m, uint8_t *image)
{
    const struct leat_aton_packet *p = &m->packet;
    const unsigned ac = p->priority * 32u + p->token * 16u + p->monitor * 8u + p->reservation;
    const unsigned width = p->width_bits == 64 ? 2 : p->width_bits == 32 ? 1 : 0;
    const unsigned ctl = p->active * 32768u + p->opcode * 2048u + width * 512u + p->reg * 8u +
                         p->group * 4u;
    uint8_t *to = model_octets(image, ac, 1);
    to = model_octets(to, ctl, 2);
    to = model_octets(to, p->da, 2);
    to = model_octets(to, p->sa, 2);
    to = model_octets(to, p->active ? p->counter : p->payload_len, 2);
    if (p->active && p->opcode >= 9) to = model_octets(to, p->param, 2);
    if (p->active && p->opcode <= 8) {
        to = model_octets(to, p->variable1, p->width_bits / 8);
        to = model_octets(to, p->variable2, p->width_bits / 8);
    }
    for (size_t i = 0; i < m->count; i++) {
        if (p->active && p->opcode == 11) *to++ = (uint8_t)m->valid[i];
        to = model_octets(to, m->value[i], (model_item_bits(p) + 7) / 8);
    }
    const size_t flg_at = (size_t)(to - image);
    *to++ = (uint8_t)(p->recognised * 0x88u + p->copied * 0x44u);
    to = model_octets(to, model_image_crc(image, flg_at), 4);
    return (size_t)(to - image);
}

/* ---- the symbols, as a string of 0 1 J K ----------------------------------------------------- */

static inline char *model_msb(char *to, uint64_t value, unsigned bits)
{
    while (bits-- > 0)
        *to++ = value >> bits & 1 ? '1' : '0';
    return to;
}

static inline char *model_lsb(char *to, uint64_t value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++)
        *to++ = value >> i & 1 ? '1' : '0';
    return to;
}

static inline char *model_string(char *to, const char *symbols)
{
    memcpy(to, symbols, strlen(symbols));
    return to + strlen(symbols);
}

static inline char *model_data(char *to, const struct model *m)
{
    const struct leat_aton_packet *p = &m->packet;
    if (!p->active) {
        to = model_msb(to, p->payload_len, 16);
    } else {
        to = model_lsb(to, p->counter, 16);
        if (p->opcode >= 1 && p->opcode <= 3) to = model_lsb(to, p->variable1, p->width_bits);
        if (p->opcode >= 4 && p->opcode <= 8) to = model_msb(to, p->variable1, p->width_bits);
        if (p->opcode <= 8) to = model_lsb(to, p->variable2, p->width_bits);
        if (p->opcode >= 9) to = model_msb(to, p->param, 16);
    }
    for (size_t i = 0; i < m->count; i++) {
        if (!p->active) to = model_msb(to, m->value[i], 8);
        if (p->active && p->opcode == 9) to = model_msb(to, m->value[i], p->width_bits);
        if (p->active && p->opcode == 10) to = model_lsb(to, m->value[i], p->param);
        if (p->active && p->opcode == 11) to = model_msb(to, m->valid[i], 1);
        if (p->active && p->opcode == 11) to = model_msb(to, m->value[i], p->width_bits);
    }
    return to;
}

/* From the first bit of AC to the last before FLG, then eight zeros. */
static inline uint32_t model_serial_crc(const char *ac, const char *flg)
{
    uint32_t reg = UINT32_MAX;
    for (const char *s = ac; s < flg; s++)
        reg = model_crc_bit(reg, s >= ac + 3 && s < ac + 8 ? 0 : *s == '1');
    for (int i = 0; i < 8; i++)
        reg = model_crc_bit(reg, 0);
    return ~reg; /* x^31 on the left */
}

static inline size_t model_symbols(const struct model *m, unsigned i_bit, unsigned e_bit,
                                   char *string)
{
    const struct leat_aton_packet *p = &m->packet;
    char *to = model_string(string, "JK0JK000"), *const ac = to;
    to = model_msb(to, p->priority, 3);
    to = model_msb(to, p->token, 1);
    to = model_msb(to, p->monitor, 1);
    to = model_msb(to, p->reservation, 3);
    if (!p->token) {
        to = model_msb(to, p->active, 1);
        to = model_msb(to, p->opcode, 4);
        to = model_string(to, p->width_bits == 64 ? "10" : p->width_bits == 32 ? "01" : "00");
        to = model_msb(to, p->reg, 6);
        to = model_msb(to, p->group, 1);
        to = model_string(to, "00");
        to = model_msb(to, p->da, 16);
        to = model_msb(to, p->sa, 16);
        to = model_data(to, m);
        const uint32_t crc = model_serial_crc(ac, to);
        for (int copy = 0; copy < 2; copy++) {
            to = model_msb(to, p->recognised, 1);
            to = model_msb(to, p->copied, 1);
            to = model_string(to, "00");
        }
        to = model_msb(to, crc, 32);
    }
    to = model_string(to, "JK1JK1");
    to = model_msb(to, i_bit, 1);
    to = model_msb(to, e_bit, 1);
    return (size_t)(to - string);
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* The next line with hex in it: its octets, and in `note` what follows '#' on the same line. */
static inline int model_vector(FILE *file, uint8_t *octets, size_t *len, char note[80])
{
    static char line[4096];
    while (fgets(line, sizeof line, file)) {
        unsigned octet;
        int used = 0;
        const char *p = line;
        *len = 0;
        while (*len < MODEL_IMAGE_MAX && sscanf(p, " %2x%n", &octet, &used) == 1) {
            octets[(*len)++] = (uint8_t)octet;
            p += used;
        }
        const char *hash = strchr(p, '#');
        snprintf(note, 80, "%.60s", hash ? hash + 1 : "");
        if (*len) return 1;
    }
    return 0;
}

#define MODEL_VECTORS LEAT_SOURCE_DIR "/proto/aton/vectors/"

static const char *const model_good[] = { MODEL_VECTORS "aton_commands.hex",
                                          MODEL_VECTORS "aton_long.hex",
                                          MODEL_VECTORS "aton_passive.hex" };

/* Calls `each` for every good vector; returns how many there were. */
static inline int model_each_vector(void (*each)(const uint8_t *octets, size_t len))
{
    uint8_t octets[MODEL_IMAGE_MAX];
    char note[80];
    size_t len;
    int n = 0;
    for (size_t i = 0; i < sizeof model_good / sizeof *model_good; i++) {
        FILE *file = fopen(model_good[i], "r");
        if (!file) return -1;
        for (; model_vector(file, octets, &len, note); n++)
            each(octets, len);
        fclose(file);
    }
    return n;
}

#endif
