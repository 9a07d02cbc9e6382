#include "aton_live.h"
#include "leat_bytes.h"
#include <string.h>

enum {
    RING_AT = 0,
    SEQUENCE_AT = 4,
    HOPS_AT = 8,
    FLAGS_AT = 9,
    ZERO_AT = 10,
    IMAGE_AT = LEAT_ATON_LIVE_HEADER_LEN,
};

/* ---- SipHash-2-4 -------------------------------------------------------------------------- */

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    sip_round(s);
    s->v0 ^= word;
}

static struct sip sip_start(const uint8_t *key)
{
    const uint64_t k0 = leat_get_le64(key), k1 = leat_get_le64(key + 8);
    /* "somepseudorandomlygeneratedbytes" */
    return (struct sip){ k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                         k1 ^ 0x7465646279746573 };
}

/* The octets from `from` (a whole number of words, already taken) to len, and the end. */
static uint64_t sip_finish(struct sip *s, const uint8_t *octets, size_t from, size_t len)
{
    size_t i = from;
    for (; len - i >= 8; i += 8)
        sip_word(s, leat_get_le64(octets + i));
    uint64_t last = (uint64_t)(len & 0xff) << 56;
    for (unsigned shift = 0; i < len; i++, shift += 8)
        last |= (uint64_t)octets[i] << shift;
    sip_word(s, last);
    s->v2 ^= 0xff;
    for (int round = 0; round < 4; round++)
        sip_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

uint64_t leat_aton_siphash(const uint8_t key[LEAT_ATON_KEY_LEN], const void *octets, size_t len)
{
    struct sip s = sip_start(key);
    return sip_finish(&s, octets, 0, len);
}

uint64_t leat_aton_live_mac(const uint8_t key[LEAT_ATON_KEY_LEN], const uint8_t *buf, size_t len)
{
    enum { TWO_WORDS = 16 }; /* the second begins with hops left; no live packet is shorter */
    struct sip s = sip_start(key);
    sip_word(&s, leat_get_le64(buf));
    sip_word(&s, leat_get_le64(buf + HOPS_AT) & ~UINT64_C(0xff));
    return sip_finish(&s, buf, TWO_WORDS, len);
}

/* ---- codec -------------------------------------------------------------------------------- */

leat_err leat_aton_live_header_decode(const uint8_t *buf, size_t len, struct leat_aton_live *out,
                                      size_t *fault_at)
{
    if (len < LEAT_ATON_LIVE_HEADER_LEN) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (leat_get_be16(buf + ZERO_AT) != 0) return leat_fault(LEAT_ERR_RESERVED, ZERO_AT, fault_at);
    out->ring_id = leat_get_be32(buf + RING_AT);
    out->sequence = leat_get_be32(buf + SEQUENCE_AT);
    out->hops_left = buf[HOPS_AT];
    out->flags = buf[FLAGS_AT];
    return LEAT_ERR_OK;
}

leat_err leat_aton_live_decode(const uint8_t *buf, size_t len, const uint8_t key[LEAT_ATON_KEY_LEN],
                               struct leat_aton_live *out, size_t *fault_at)
{
    struct leat_aton_live live;
    size_t image_len, at = 0;
    leat_err err = leat_aton_live_header_decode(buf, len, &live, fault_at);
    if (err) return err;
    err = leat_aton_packet_measure(buf + IMAGE_AT, len - IMAGE_AT, &image_len, &at);
    if (err) return leat_fault(err, IMAGE_AT + at, fault_at);

    const size_t mac_at = IMAGE_AT + image_len;
    if (len < mac_at + (key ? LEAT_ATON_MAC_LEN : 0))
        return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (key && leat_aton_live_mac(key, buf, mac_at) != leat_get_be64(buf + mac_at))
        return leat_fault(LEAT_ERR_CHECKSUM, mac_at, fault_at);
    err = leat_aton_packet_decode(buf + IMAGE_AT, image_len, &live.packet, &at);
    if (err) return leat_fault(err, IMAGE_AT + at, fault_at);
    *out = live;
    return LEAT_ERR_OK;
}

leat_err leat_aton_live_header_encode(const struct leat_aton_live *live, uint8_t *buf, size_t cap)
{
    if (cap < LEAT_ATON_LIVE_HEADER_LEN) return LEAT_ERR_SPACE;
    leat_put_be32(buf + RING_AT, live->ring_id);
    leat_put_be32(buf + SEQUENCE_AT, live->sequence);
    buf[HOPS_AT] = live->hops_left;
    buf[FLAGS_AT] = live->flags;
    leat_put_be16(buf + ZERO_AT, 0);
    return LEAT_ERR_OK;
}

leat_err leat_aton_live_encode(const struct leat_aton_live *live,
                               const uint8_t key[LEAT_ATON_KEY_LEN], uint8_t *buf, size_t cap,
                               size_t *len)
{
    const size_t around = LEAT_ATON_LIVE_HEADER_LEN + (key ? LEAT_ATON_MAC_LEN : 0);
    size_t image_len;
    if (cap < around) return LEAT_ERR_SPACE;
    const leat_err err = leat_aton_packet_encode(&live->packet, buf + IMAGE_AT, cap - around,
                                                 &image_len);
    if (err) return err;
    leat_aton_live_header_encode(live, buf, cap);
    const size_t mac_at = IMAGE_AT + image_len;
    if (key) leat_put_be64(buf + mac_at, leat_aton_live_mac(key, buf, mac_at));
    *len = around + image_len;
    return LEAT_ERR_OK;
}
