#include "packetway_memory.h"
#include "leat_bytes.h"
#include <string.h>

enum { ADDRESS_AT = 0, LEN_AT = 8, TAG_AT = 12, HEAD = LEAT_PACKETWAY_MEMORY_HEAD_LEN };
enum { REASON_LEN = 8 };

/* What follows the head; -1: there is no such message. */
static int64_t body_len(uint16_t pt, uint16_t te, uint32_t len)
{
    const bool read = pt == LEAT_PACKETWAY_PT_MEM_READ, write = pt == LEAT_PACKETWAY_PT_MEM_WRITE;
    if (!read && !write) return -1;
    switch (te) {
    case LEAT_PACKETWAY_MEMORY_REQUEST: return write ? len : 0;
    case LEAT_PACKETWAY_MEMORY_DONE: return read ? len : 0;
    case LEAT_PACKETWAY_MEMORY_REFUSED: return REASON_LEN;
    }
    return -1;
}

leat_err leat_packetway_memory_decode(uint16_t pt, uint16_t te, const uint8_t *data, size_t len,
                                      struct leat_packetway_memory *out)
{
    if (body_len(pt, te, 0) < 0) return LEAT_ERR_PACKETWAY_TE;
    if (len < HEAD) return LEAT_ERR_SHORT;
    struct leat_packetway_memory m = { .address = leat_get_be64(data + ADDRESS_AT),
                                       .len = leat_get_be32(data + LEN_AT),
                                       .tag = leat_get_be32(data + TAG_AT) };
    const int64_t body = body_len(pt, te, m.len);
    if ((uint64_t)body != len - HEAD) return LEAT_ERR_LENGTH;
    if (te == LEAT_PACKETWAY_MEMORY_REFUSED) {
        const uint64_t reason = leat_get_be64(data + HEAD);
        if (reason < LEAT_PACKETWAY_MEMORY_BOUNDS || reason > LEAT_PACKETWAY_MEMORY_SIZE)
            return LEAT_ERR_RANGE;
        m.reason = (enum leat_packetway_memory_reason)reason;
    } else if (body) {
        m.data = data + HEAD;
    }
    *out = m;
    return LEAT_ERR_OK;
}

leat_err leat_packetway_memory_encode(uint16_t pt, uint16_t te,
                                      const struct leat_packetway_memory *m, uint8_t *buf,
                                      size_t cap, size_t *len)
{
    const int64_t body = body_len(pt, te, m->len);
    if (body < 0) return LEAT_ERR_PACKETWAY_TE;
    if (cap < HEAD || (uint64_t)body > cap - HEAD) return LEAT_ERR_SPACE;
    leat_put_be64(buf + ADDRESS_AT, m->address);
    leat_put_be32(buf + LEN_AT, m->len);
    leat_put_be32(buf + TAG_AT, m->tag);
    if (te == LEAT_PACKETWAY_MEMORY_REFUSED)
        leat_put_be64(buf + HEAD, (uint64_t)m->reason);
    else if (body)
        memcpy(buf + HEAD, m->data, (size_t)body);
    *len = HEAD + (size_t)body;
    return LEAT_ERR_OK;
}

/* The region that holds all of it; no sum that could wrap. */
static const struct leat_packetway_region *region_of(const struct leat_packetway_region *regions,
                                                     uint32_t count,
                                                     const struct leat_packetway_memory *m)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct leat_packetway_region *r = &regions[i];
        if (m->address < r->address) continue;
        const uint64_t at = m->address - r->address;
        if (at <= r->len && m->len <= r->len - at) return r;
    }
    return NULL;
}

leat_err leat_packetway_memory_serve(const struct leat_packetway_region *regions, uint32_t count,
                                     const struct leat_packetway_message *message, uint8_t *buf,
                                     size_t cap, size_t *len, uint16_t *te)
{
    const uint16_t pt = message->header.pt;
    const bool read = pt == LEAT_PACKETWAY_PT_MEM_READ;
    const unsigned needed = read ? LEAT_PACKETWAY_MAY_READ : LEAT_PACKETWAY_MAY_WRITE;
    struct leat_packetway_memory m;
    const leat_err err = leat_packetway_memory_decode(pt, message->header.te, message->data,
                                                      message->data_len, &m);
    if (err) return err;
    if (message->header.te != LEAT_PACKETWAY_MEMORY_REQUEST) return LEAT_ERR_PACKETWAY_TE;
    if (cap < HEAD + REASON_LEN || count > LEAT_PACKETWAY_REGIONS_MAX) return LEAT_ERR_SPACE;

    const struct leat_packetway_region *region = region_of(regions, count, &m);
    if (!region)
        m.reason = LEAT_PACKETWAY_MEMORY_BOUNDS;
    else if ((region->permissions & needed) != needed)
        m.reason = LEAT_PACKETWAY_MEMORY_PERMISSION;
    else if (read && m.len > cap - HEAD)
        m.reason = LEAT_PACKETWAY_MEMORY_SIZE;
    *te = m.reason ? LEAT_PACKETWAY_MEMORY_REFUSED : LEAT_PACKETWAY_MEMORY_DONE;
    if (!m.reason) {
        uint8_t *at = region->memory + (m.address - region->address);
        if (!read && m.len) memcpy(at, m.data, m.len);
        m.data = at;
    }
    return leat_packetway_memory_encode(pt, *te, &m, buf, cap, len);
}
