#include "aton_live.h"
#include "leat_bytes.h"
#include "leat_err.h"
#include "leat_siphash.h"
#include <string.h>

enum {
    RING_AT = 0,
    SEQUENCE_AT = 4,
    HOPS_AT = 8,
    FLAGS_AT = 9,
    ZERO_AT = 10,
    IMAGE_AT = LEAT_ATON_LIVE_HEADER_LEN,
};

uint64_t leat_aton_live_mac(const uint8_t key[LEAT_ATON_KEY_LEN], const uint8_t *buf, size_t len)
{
    enum { TWO_WORDS = 16 }; /* the second begins with hops left; no live packet is shorter */
    struct leat_sip s;
    leat_sip_start(&s, key);
    leat_sip_word(&s, leat_get_le64(buf));
    leat_sip_word(&s, leat_get_le64(buf + HOPS_AT) & ~UINT64_C(0xff));
    return leat_sip_rest(&s, buf, TWO_WORDS, len);
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
