/*
 * An independent, plain writer of random valid messages, straight from the pictures of the spec:
 * octet by octet, CRCs bit by bit, without any of the room's own code. What it writes is canonical,
 * so the room must read it and write the same octets.
 */
#ifndef LEAT_PACKETWAY_MODEL_TEST_H
#define LEAT_PACKETWAY_MODEL_TEST_H

#include <leat/random.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MODEL_LEN_MAX = 1 << 17 };

struct model {
    struct leat_random random;
    size_t len;
    uint8_t buf[MODEL_LEN_MAX];
};

static inline uint32_t model_crc32(const uint8_t *p, size_t len)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < 8 * len; i++) {
        const uint32_t bit = (uint32_t)p[i / 8] >> i % 8 & 1;
        crc = (crc ^ bit) & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    }
    return ~crc;
}

static inline uint64_t model_crc64(const uint8_t *p, size_t len)
{
    uint64_t crc = UINT64_MAX;
    for (size_t i = 0; i < 8 * len; i++) {
        const uint64_t bit = (uint64_t)p[i / 8] >> i % 8 & 1;
        crc = (crc ^ bit) & 1 ? crc >> 1 ^ UINT64_C(0xC96C5795D7870F42) : crc >> 1;
    }
    return ~crc;
}

static inline unsigned dice(struct model *m, unsigned sides)
{
    return (unsigned)leat_random_below(&m->random, sides);
}

/* ---- octets ---- */

static inline void put(struct model *m, unsigned octet)
{
    m->buf[m->len++] = (uint8_t)octet;
}

static inline void put_number(struct model *m, unsigned octets, uint64_t value)
{
    while (octets--)
        put(m, (unsigned)(value >> 8 * octets & 0xFF));
}

static inline void put_random(struct model *m, unsigned len)
{
    leat_random_fill(&m->random, m->buf + m->len, len);
    m->len += len;
}

static inline void pad_to_word(struct model *m, size_t start)
{
    while ((m->len - start) % 8)
        put(m, 0);
}

static inline unsigned node_address(struct model *m)
{
    return 1 + dice(m, 0x7FFFFD);
}

static inline unsigned logical_address(struct model *m)
{
    return 0xE00000 | dice(m, 1 << 20);
}

/* ---- leading records ---- */

static inline void put_l2rh(struct model *m)
{
    const size_t start = m->len;
    const unsigned len = 1 + dice(m, dice(m, 4) ? 8 : 63);
    put(m, 0);
    put(m, 0x80 | len);
    put_random(m, len);
    pad_to_word(m, start);
}

static inline void put_symbol(struct model *m)
{
    const size_t start = m->len;
    const unsigned len = dice(m, dice(m, 4) ? 8 : 256);
    put(m, 0);
    put_number(m, 3, 0xF00000 | (1 + dice(m, 0xFFFFF)));
    put(m, len);
    put_random(m, len);
    pad_to_word(m, start);
}

/* ---- records ---- */

/* RL and PL are filled in when the record is closed. */
static inline size_t open_record(struct model *m, unsigned type)
{
    const size_t start = m->len;
    put(m, type);
    put_number(m, 3, 0);
    return start;
}

static inline void close_record(struct model *m, size_t start)
{
    const size_t words = (m->len - start) / 8 - 1;
    m->buf[start + 2] = (uint8_t)(words >> 8);
    m->buf[start + 3] = (uint8_t)words;
}

/* Pad after the data, to fill the word. */
static inline void close_padded(struct model *m, size_t start)
{
    m->buf[start + 1] = (uint8_t)((8 - (m->len - start) % 8) % 8);
    pad_to_word(m, start);
    close_record(m, start);
}

static inline void put_entry(struct model *m, unsigned at, unsigned address)
{
    put(m, at);
    put_number(m, 3, address);
}

static inline void put_pair(struct model *m, bool logical)
{
    const unsigned a = logical ? logical_address(m) : node_address(m);
    const unsigned b = logical ? logical_address(m) : node_address(m);
    if (dice(m, 2)) {
        put_entry(m, 2, a < b ? a : b);
        put_entry(m, 3, a < b ? b : a);
    } else {
        const unsigned value = dice(m, 8) || logical ? a : 0;
        put_entry(m, 4, value);
        put_entry(m, 5, value | dice(m, 1 << 24));
    }
}

static inline size_t open_node(struct model *m)
{
    const size_t start = open_record(m, 41);
    put_entry(m, 1, node_address(m));
    return start;
}

static inline size_t open_range(struct model *m)
{
    const size_t start = open_record(m, 41);
    put_pair(m, dice(m, 4) == 0);
    m->buf[start + 1] = 4;
    put_number(m, 4, 0);
    return start;
}

static inline void put_node(struct model *m)
{
    close_record(m, open_node(m));
}

static inline void put_any_address(struct model *m)
{
    if (dice(m, 2)) {
        close_record(m, open_range(m));
    } else {
        const size_t start = open_record(m, 41);
        put_entry(m, 1, dice(m, 4) ? node_address(m) : logical_address(m));
        close_record(m, start);
    }
}

static inline void put_name(struct model *m)
{
    const size_t start = open_record(m, 42);
    put_random(m, 1 + dice(m, 20));
    close_padded(m, start);
}

static inline void put_capability(struct model *m)
{
    const size_t start = open_record(m, 43);
    put(m, 1 + dice(m, 255));
    put_random(m, dice(m, 12));
    close_padded(m, start);
}

static inline void put_ladr(struct model *m)
{
    const size_t start = open_record(m, 44);
    for (unsigned i = 1 + dice(m, 4); i > 0; i--) {
        if (dice(m, 2))
            put_pair(m, true);
        else
            put_entry(m, 1, logical_address(m));
    }
    close_padded(m, start);
}

static inline void put_srqr(struct model *m, unsigned at_least)
{
    const size_t start = open_record(m, 45);
    m->buf[start + 1] = 2;
    put_number(m, 2, 0);
    put_random(m, 2);
    for (unsigned i = at_least + dice(m, dice(m, 32) ? 3 : 65 - at_least); i > 0; i--)
        put_l2rh(m);
    close_record(m, start);
}

static inline void put_mtur(struct model *m)
{
    const size_t start = open_record(m, 46);
    put_random(m, 4);
    close_record(m, start);
}

static inline void put_routes(struct model *m, unsigned routes_min, unsigned links_min)
{
    for (unsigned i = routes_min + dice(m, 3); i > 0; i--) {
        put_srqr(m, links_min);
        if (dice(m, 2)) put_mtur(m);
    }
}

/* ADDR{ [NAME] *CAPA [LADR] *(SRQR [MTUR]) } */
static inline void put_known_node(struct model *m, unsigned routes_min)
{
    const bool range = dice(m, 4) == 0;
    const size_t start = range ? open_range(m) : open_node(m);
    if (!range && dice(m, 2)) put_name(m);
    for (unsigned i = dice(m, 3); i > 0; i--)
        put_capability(m);
    if (dice(m, 3) == 0) put_ladr(m);
    put_routes(m, routes_min, 0);
    close_record(m, start);
}

static inline void put_table(struct model *m)
{
    const size_t start = open_record(m, 48);
    m->buf[start + 1] = 2;
    put_number(m, 2, 0);
    put_random(m, 2);
    const size_t san = open_record(m, 49);
    put_entry(m, 1, dice(m, 4) ? node_address(m) : 0);
    close_record(m, san);
    const size_t rcvf = open_record(m, 47);
    for (unsigned i = 1 + dice(m, dice(m, 4) ? 4 : 32); i > 0; i--)
        put_entry(m, 1, node_address(m));
    close_padded(m, rcvf);
    put_srqr(m, 0);
    put_mtur(m);
    for (unsigned i = dice(m, 4); i > 0; i--)
        put_known_node(m, 1);
    close_record(m, start);
}

static inline void put_wanted(struct model *m)
{
    for (unsigned i = 1 + dice(m, 3); i > 0; i--) {
        switch (dice(m, 3)) {
        case 0: put_name(m); break;
        case 1: put_capability(m); break;
        default: put_any_address(m); break;
        }
    }
}

/* The DB of the message with this TE (of RRP or ERR: the sets do not overlap). */
static inline void put_rrp(struct model *m, unsigned te)
{
    size_t start;
    switch (te) {
    case 21:
    case 26: put_node(m); break;
    case 22:
        start = open_node(m);
        put_routes(m, 1, 1);
        close_record(m, start);
        break;
    case 23:
        put_any_address(m);
        put_node(m);
        break;
    case 24:
    case 71: put_wanted(m); break;
    case 25:
        for (unsigned i = 1 + dice(m, 3); i > 0; i--)
            put_known_node(m, 0);
        break;
    case 29: put_table(m); break;
    case 72:
    case 73:
        put_node(m);
        put_node(m);
        break;
    case 74: put_random(m, 8 * (2 + dice(m, 8))); break;
    default: break; /* 27, 28: nothing */
    }
}

/* ---- the message ---- */

struct model_oh {
    unsigned type;
    size_t at; /* of the field */
};

static inline void put_field(struct model *m, unsigned head, unsigned type, unsigned len, bool zero)
{
    const size_t start = m->len;
    put(m, head | type);
    put(m, len);
    if (zero)
        put_number(m, len, 0);
    else
        put_random(m, len);
    pad_to_word(m, start);
}

static inline unsigned unknown_type(struct model *m)
{
    const unsigned type = dice(m, 0x3F - 5);
    return type == 0 ? 1 : type + 6; /* 1, 7..0x3F */
}

static inline void put_unknown(struct model *m, unsigned flags)
{
    const unsigned type = unknown_type(m);
    put_field(m, flags, type, dice(m, 20), false);
}

static inline unsigned put_oh(struct model *m, struct model_oh oh[64])
{
    static const unsigned len_of[7] = { [2] = 4, [4] = 8 };
    const unsigned count = dice(m, 4) ? 0 : 1 + dice(m, dice(m, 64) ? 4 : 64);
    for (unsigned i = 0; i < count; i++) {
        const bool known = dice(m, 2);
        const unsigned type = known ? 2 + dice(m, 5) : unknown_type(m);
        const unsigned last = i + 1 == count ? 0x40 : 0;
        oh[i].type = type;
        oh[i].at = m->len;
        if (known)
            put_field(m, last | (dice(m, 2) ? 0x80 : 0), type, len_of[type], true);
        else
            put_field(m, last, type, dice(m, dice(m, 16) ? 10 : 256), false);
    }
    return count;
}

static inline void set_crc(struct model *m, size_t at, unsigned octets, uint64_t crc)
{
    for (unsigned i = 0; i < octets; i++)
        m->buf[at + i] = (uint8_t)(crc >> 8 * (octets - 1 - i));
}

/* The CRCs cover [ph, end of DB) while all "here" values are still zero. */
static inline void put_ot(struct model *m, size_t ph, const struct model_oh *oh, unsigned count)
{
    bool wanted = false, self_defined = false;
    for (unsigned i = 0; i < count; i++) {
        wanted |= oh[i].type >= 2 && oh[i].type <= 5;
        self_defined |= oh[i].type == 6;
    }
    const size_t covered = m->len - ph;
    const uint32_t crc32 = wanted ? model_crc32(m->buf + ph, covered) : 0;
    const uint64_t crc64 = wanted ? model_crc64(m->buf + ph, covered) : 0;
    for (unsigned i = 0; i < count; i++) {
        if (oh[i].type == 2) set_crc(m, oh[i].at + 2, 4, crc32);
        if (oh[i].type == 4) set_crc(m, oh[i].at + 2, 8, crc64);
        if (oh[i].type == 3) put_number(m, 8, (uint64_t)crc32 << 32);
        if (oh[i].type == 5) put_number(m, 8, crc64);
    }
    if (!self_defined) return;
    for (unsigned i = dice(m, dice(m, 64) ? 3 : 64); i > 0; i--)
        put_unknown(m, 0);
    put_unknown(m, 0x40);
}

static inline unsigned random_destination(struct model *m)
{
    return dice(m, 4) ? 1 + dice(m, 0x7FFFFF) : logical_address(m);
}

/* Writes one random canonical message into m->buf; m->len is its length. */
static inline void model_message(struct model *m)
{
    static const unsigned te_of[] = { 21, 22, 23, 24, 25, 26, 27, 28, 29, 71, 72, 73, 74 };
    const bool rrp = dice(m, 2);
    const unsigned te = rrp ? te_of[dice(m, 13)] : dice(m, 0x10000);
    const unsigned pt = rrp ? (te < 71 ? 1 : 0xFFFF) : 2 + dice(m, 0xFFFD);
    const unsigned e_flag = rrp ? 0 : dice(m, 2) << 3, e = e_flag | dice(m, 5);
    struct model_oh oh[64];

    m->len = 0;
    for (unsigned i = dice(m, 4) ? 0 : dice(m, dice(m, 32) ? 4 : 65); i > 0; i--) {
        if (dice(m, 2))
            put_l2rh(m);
        else
            put_symbol(m);
    }
    const size_t ph = m->len;
    put(m, dice(m, 64));
    put_number(m, 3, random_destination(m));
    put_number(m, 2, te);
    put_number(m, 2, pt);
    put_number(m, 5, 0); /* E, PL, DL, h: known below */
    put_number(m, 3, dice(m, 0x7FFFFE));

    const unsigned oh_count = put_oh(m, oh);
    const size_t db = m->len;
    if (rrp)
        put_rrp(m, te);
    else
        put_random(m, dice(m, 40));
    const size_t data_len = m->len - db;
    pad_to_word(m, db);
    const uint64_t dl = (m->len - db) / 8, pl = m->len - db - data_len;
    const uint64_t word = (uint64_t)e << 60 | pl << 57 | dl << 32 |
                          (oh_count ? UINT64_C(1) << 31 : 0);
    for (unsigned i = 0; i < 5; i++)
        m->buf[ph + 8 + i] = (uint8_t)(word >> (56 - 8 * i));

    put_ot(m, ph, oh, oh_count);
    put_random(m, 8);
}

#endif
