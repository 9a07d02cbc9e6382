#include "packetway_memory.h"
#include "leat_bytes.h"
#include <string.h>

enum { HEAD = LEAT_PACKETWAY_MEMORY_WRITE_HEAD, REPLY_AT = 0, SOURCE_AT = 8, COUNT_AT = 16 };

/* ---- the DB ---- */

leat_err leat_packetway_memory_decode(uint16_t pt, const uint8_t *data, size_t len,
                                      struct leat_packetway_memory *out)
{
    if (pt == LEAT_PACKETWAY_PT_MEM_WRITE) {
        if (len < HEAD) return LEAT_ERR_SHORT;
        *out = (struct leat_packetway_memory){ .address = leat_get_be64(data),
                                               .count = len - HEAD,
                                               .data = data + HEAD };
        return LEAT_ERR_OK;
    }
    if (pt != LEAT_PACKETWAY_PT_MEM_READ) return LEAT_ERR_PACKETWAY_PT;
    if (len < LEAT_PACKETWAY_MEMORY_READ_LEN) return LEAT_ERR_SHORT;
    if (len > LEAT_PACKETWAY_MEMORY_READ_LEN) return LEAT_ERR_LENGTH;
    *out = (struct leat_packetway_memory){ .address = leat_get_be64(data + SOURCE_AT),
                                           .reply = leat_get_be64(data + REPLY_AT),
                                           .count = leat_get_be64(data + COUNT_AT) };
    return LEAT_ERR_OK;
}

leat_err leat_packetway_memory_encode(uint16_t pt, const struct leat_packetway_memory *m,
                                      uint8_t *buf, size_t cap, size_t *len)
{
    if (pt == LEAT_PACKETWAY_PT_MEM_WRITE) {
        if (cap < HEAD || m->count > cap - HEAD) return LEAT_ERR_SPACE;
        leat_put_be64(buf, m->address);
        if (m->count) memcpy(buf + HEAD, m->data, (size_t)m->count);
        *len = HEAD + (size_t)m->count;
        return LEAT_ERR_OK;
    }
    if (pt != LEAT_PACKETWAY_PT_MEM_READ) return LEAT_ERR_PACKETWAY_PT;
    if (cap < LEAT_PACKETWAY_MEMORY_READ_LEN) return LEAT_ERR_SPACE;
    leat_put_be64(buf + REPLY_AT, m->reply);
    leat_put_be64(buf + SOURCE_AT, m->address);
    leat_put_be64(buf + COUNT_AT, m->count);
    *len = LEAT_PACKETWAY_MEMORY_READ_LEN;
    return LEAT_ERR_OK;
}

/* ---- the store ---- */

/* Is all of [address, address + count) in `len` octets from `first` on? No sum that could wrap. */
static bool is_within(uint64_t first, uint64_t len, const struct leat_packetway_memory *m)
{
    return m->address >= first && m->address - first <= len &&
           m->count <= len - (m->address - first);
}

/* A single grant must cover all of it; for no octets, a grant of either permission. */
static bool is_granted(const struct leat_packetway_store *s, uint32_t sa, unsigned needed,
                       const struct leat_packetway_memory *m)
{
    for (uint32_t i = 0; i < s->grant_count && i < LEAT_PACKETWAY_GRANTS_MAX; i++) {
        const struct leat_packetway_grant *g = &s->grants[i];
        if (sa < g->node_first || sa > g->node_last) continue;
        if (m->count ? !(g->permissions & needed) : !g->permissions) continue;
        if (m->address < g->first || m->address > g->last) continue;
        if (!m->count || m->count - 1 <= g->last - m->address) return true;
    }
    return false;
}

static enum leat_packetway_memory_reason judge(const struct leat_packetway_store *s,
                                               const struct leat_packetway_message *request,
                                               size_t data_max, struct leat_packetway_memory *m)
{
    const struct leat_packetway_header *h = &request->header;
    const bool read = h->pt == LEAT_PACKETWAY_PT_MEM_READ;
    if (request->ei) return LEAT_PACKETWAY_MEMORY_ACCUSED;
    if (!leat_packetway_address_is_node(h->sa)) return LEAT_PACKETWAY_MEMORY_NOBODY;
    if (h->te || leat_packetway_memory_decode(h->pt, request->data, request->data_len, m))
        return LEAT_PACKETWAY_MEMORY_MALFORMED;
    if (!is_within(s->address, s->len, m)) return LEAT_PACKETWAY_MEMORY_BOUNDS;
    if (!is_granted(s, h->sa, read ? LEAT_PACKETWAY_MAY_READ : LEAT_PACKETWAY_MAY_WRITE, m))
        return LEAT_PACKETWAY_MEMORY_PERMISSION;
    if (read && m->count > data_max - HEAD) return LEAT_PACKETWAY_MEMORY_SIZE;
    return read ? LEAT_PACKETWAY_MEMORY_READ : LEAT_PACKETWAY_MEMORY_WRITTEN;
}

static void address_answer(const struct leat_packetway_header *request, uint16_t pt, uint16_t te,
                           const uint8_t *data, size_t len, struct leat_packetway_message *answer)
{
    answer->header = (struct leat_packetway_header){
        .dt = request->sa, .pt = pt, .te = te, .priority = request->priority
    };
    answer->data = data;
    answer->data_len = len;
}

/* ERR/GENERAL, where spec 5.7 has one: with the request from PH to TAIL, as far as it fits. */
static void complain(struct leat_packetway_store *s, const struct leat_packetway_message *request,
                     leat_time now, size_t data_max, uint8_t *buf, size_t cap,
                     struct leat_packetway_message *answer)
{
    const struct leat_packetway_header *h = &request->header;
    size_t len = 0;
    if (!leat_packetway_address_is_node(h->dt)) return; /* sent to all, or to a group */
    if (!leat_packetway_window_open(&s->errs[leat_packetway_limit_slot(h->sa, 0)], h->sa,
                                    LEAT_PACKETWAY_ERR_PER_S, now)) {
        s->err_limited++;
        return;
    }
    *answer = *request;
    answer->leading_count = 0;
    const leat_err err = leat_packetway_message_encode(answer, buf, cap, &len);
    memset(answer, 0, sizeof *answer);
    if (err) return;
    address_answer(h, LEAT_PACKETWAY_PT_ERR, LEAT_PACKETWAY_TE_GENERAL, buf,
                   len < data_max ? len : data_max, answer);
}

static void write_store(struct leat_packetway_store *s, const struct leat_packetway_memory *m)
{
    if (m->count) memcpy(s->octets + (m->address - s->address), m->data, (size_t)m->count);
    s->octets_written += m->count;
}

static void read_store(struct leat_packetway_store *s, const struct leat_packetway_header *request,
                       const struct leat_packetway_memory *m, uint8_t *buf, size_t cap,
                       struct leat_packetway_message *answer)
{
    const struct leat_packetway_memory found = { .address = m->reply,
                                                 .count = m->count,
                                                 .data = s->octets + (m->address - s->address) };
    size_t len = 0;
    if (leat_packetway_memory_encode(LEAT_PACKETWAY_PT_MEM_WRITE, &found, buf, cap, &len)) return;
    address_answer(request, LEAT_PACKETWAY_PT_MEM_WRITE, 0, buf, len, answer);
    s->octets_read += m->count;
}

enum leat_packetway_memory_reason leat_packetway_store_serve(
    struct leat_packetway_store *s, const struct leat_packetway_message *request, leat_time now,
    size_t data_max, uint8_t *buf, size_t cap, struct leat_packetway_message *answer)
{
    struct leat_packetway_memory m = { 0 };
    memset(answer, 0, sizeof *answer);
    const enum leat_packetway_memory_reason reason = judge(s, request, data_max, &m);
    s->counts[reason]++;
    switch (reason) {
    case LEAT_PACKETWAY_MEMORY_READ: read_store(s, &request->header, &m, buf, cap, answer); break;
    case LEAT_PACKETWAY_MEMORY_WRITTEN: write_store(s, &m); break;
    case LEAT_PACKETWAY_MEMORY_MALFORMED:
    case LEAT_PACKETWAY_MEMORY_BOUNDS:
    case LEAT_PACKETWAY_MEMORY_PERMISSION:
    case LEAT_PACKETWAY_MEMORY_SIZE: complain(s, request, now, data_max, buf, cap, answer); break;
    case LEAT_PACKETWAY_MEMORY_ACCUSED:
    case LEAT_PACKETWAY_MEMORY_NOBODY:
    case LEAT_PACKETWAY_MEMORY_REASON_COUNT: break;
    }
    return reason;
}
