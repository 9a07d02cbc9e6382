#include "packetway_leading.h"
#include "leat_bytes.h"
#include <string.h>

enum { PRIORITY_BITS = 0x3F };                             /* of the first octet, below V */
enum { SYMBOL_CLASS = LEAT_PACKETWAY_SYMBOL_CLASS << 16 }; /* in the 24 bits with its type */

static size_t head_len(enum leat_packetway_leading_kind kind)
{
    return kind == LEAT_PACKETWAY_L2RH ? LEAT_PACKETWAY_L2RH_HEAD_LEN
                                       : LEAT_PACKETWAY_SYMBOL_HEAD_LEN;
}

/* [(L+9)/8] and [(L+12)/8] words: head and data, rounded up. */
size_t leat_packetway_leading_size(const struct leat_packetway_leading *r)
{
    return (head_len(r->kind) + r->len + 7) / 8 * 8;
}

unsigned leat_packetway_leading_faults(const uint8_t *buf, enum leat_packetway_mode mode,
                                       leat_err faults[LEAT_PACKETWAY_LEADING_FAULTS_MAX])
{
    const bool strict = mode == LEAT_PACKETWAY_STRICT;
    unsigned count = 0;
    if (buf[0] >> 6) faults[count++] = LEAT_ERR_PACKETWAY_VERSION;
    if (!leat_packetway_leading_begins(buf[1])) faults[count++] = LEAT_ERR_PACKETWAY_ADDR;
    if (strict && buf[0] & PRIORITY_BITS) faults[count++] = LEAT_ERR_PACKETWAY_RSV;
    if (buf[1] == LEAT_PACKETWAY_L2RH_CLASS) faults[count++] = LEAT_ERR_PACKETWAY_L2RH_LEN;
    if (strict && leat_get_be24(buf + 1) == SYMBOL_CLASS)
        faults[count++] = LEAT_ERR_PACKETWAY_SYM_TYPE;
    return count;
}

leat_err leat_packetway_leading_decode(const uint8_t *buf, size_t len,
                                       enum leat_packetway_mode mode,
                                       struct leat_packetway_leading *out, size_t *fault_at)
{
    if (fault_at) *fault_at = 0;
    if (len < LEAT_PACKETWAY_WORD_LEN) return LEAT_ERR_PACKETWAY_SHORT;
    leat_err faults[LEAT_PACKETWAY_LEADING_FAULTS_MAX];
    if (leat_packetway_leading_faults(buf, mode, faults)) return faults[0];
    return leat_packetway_leading_read(buf, len, out);
}

leat_err leat_packetway_leading_read(const uint8_t *buf, size_t len,
                                     struct leat_packetway_leading *out)
{
    struct leat_packetway_leading r = { .priority = buf[0] & PRIORITY_BITS };
    if (leat_packetway_is_l2rh(buf[1])) {
        r.kind = LEAT_PACKETWAY_L2RH;
        r.len = buf[1] & LEAT_PACKETWAY_L2RH_LEN_MAX;
    } else {
        r.kind = LEAT_PACKETWAY_SYMBOL;
        r.type = leat_get_be24(buf + 1) & LEAT_PACKETWAY_SYMBOL_TYPE_MAX;
        r.len = buf[LEAT_PACKETWAY_SYMBOL_L_AT];
    }
    r.octets = buf + head_len(r.kind);
    if (leat_packetway_leading_size(&r) > len) return LEAT_ERR_PACKETWAY_SHORT;
    *out = r;
    return LEAT_ERR_OK;
}

leat_err leat_packetway_leading_check(const struct leat_packetway_leading *r)
{
    bool fits = false;
    switch (r->kind) {
    case LEAT_PACKETWAY_L2RH:
        fits = r->len >= 1 && r->len <= LEAT_PACKETWAY_L2RH_LEN_MAX && r->type == 0;
        break;
    case LEAT_PACKETWAY_SYMBOL:
        fits = r->len <= LEAT_PACKETWAY_SYMBOL_LEN_MAX && r->type >= 1 &&
               r->type <= LEAT_PACKETWAY_SYMBOL_TYPE_MAX;
        break;
    }
    return fits && r->priority == 0 ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_LIMIT;
}

leat_err leat_packetway_leading_encode(const struct leat_packetway_leading *r, uint8_t *buf,
                                       size_t cap, size_t *len)
{
    const leat_err err = leat_packetway_leading_check(r);
    if (err) return err;
    const size_t size = leat_packetway_leading_size(r), head = head_len(r->kind);
    if (size > cap) return LEAT_ERR_PACKETWAY_NOSPC;

    memset(buf + size - 8, 0, 8); /* the pad is in the last word */
    buf[0] = 0;
    if (r->kind == LEAT_PACKETWAY_L2RH) {
        buf[1] = (uint8_t)(LEAT_PACKETWAY_L2RH_CLASS | r->len);
    } else {
        leat_put_be24(buf + 1, SYMBOL_CLASS | r->type);
        buf[4] = (uint8_t)r->len;
    }
    if (r->len) memcpy(buf + head, r->octets, r->len);
    *len = size;
    return LEAT_ERR_OK;
}
