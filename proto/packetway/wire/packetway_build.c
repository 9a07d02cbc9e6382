#include "leat_bytes.h"
#include "packetway_record.h"
#include <assert.h>
#include <string.h>

enum { HEAD = LEAT_PACKETWAY_RECORD_HEAD_LEN, ENTRY_LEN = 4, DATA_AT = 4, PL_BEFORE_16_BITS = 2 };

void leat_packetway_build_init(struct leat_packetway_build *b, uint8_t *buf, size_t cap)
{
    *b = (struct leat_packetway_build){ .buf = buf, .cap = cap };
}

static leat_err fail(struct leat_packetway_build *b, leat_err err)
{
    if (!b->err) b->err = err;
    return b->err;
}

/* Every enclosing RL includes what was written last. */
static void raise_parents(struct leat_packetway_build *b)
{
    for (unsigned i = 0; i < b->depth; i++)
        leat_put_be16(b->buf + b->parent[i] + 2, (uint16_t)((b->len - b->parent[i] - HEAD) / 8));
}

/* Will this many more octets fit the buffer and every enclosing RL? */
static leat_err check_room(const struct leat_packetway_build *b, size_t size)
{
    for (unsigned i = 0; i < b->depth; i++)
        if (b->len + size - b->parent[i] > HEAD + (size_t)8 * LEAT_PACKETWAY_RL_MAX)
            return LEAT_ERR_PACKETWAY_LIMIT;
    return size > b->cap - b->len ? LEAT_ERR_PACKETWAY_NOSPC : LEAT_ERR_OK;
}

/*
 * Starts a record of `len` octets of data and pad after the first 4 of its header; the caller then
 * writes the data. NULL: refused.
 */
static uint8_t *append(struct leat_packetway_build *b, enum leat_packetway_rtyp type, unsigned pl,
                       size_t len)
{
    const size_t size = DATA_AT + len;
    assert(size % 8 == 0);
    if (!b->err && size > HEAD + (size_t)8 * LEAT_PACKETWAY_RL_MAX)
        b->err = LEAT_ERR_PACKETWAY_LIMIT;
    if (!b->err) b->err = check_room(b, size);
    if (b->err) return NULL;

    uint8_t *head = b->buf + b->len;
    memset(head, 0, HEAD);
    memset(head + size - 8, 0, 8); /* the pad is in the last word */
    head[0] = (uint8_t)type;
    head[1] = (uint8_t)pl;
    leat_put_be16(head + 2, (uint16_t)((size - HEAD) / 8));
    b->last = b->len;
    b->nestable = false;
    b->len += size;
    raise_parents(b);
    return head + DATA_AT;
}

/* The smallest record that holds n octets of data, the pad after them. n >= 1. */
static uint8_t *append_padded(struct leat_packetway_build *b, enum leat_packetway_rtyp type,
                              size_t n)
{
    const size_t len = (n + 3) / 8 * 8 + 4;
    return append(b, type, (unsigned)(len - n), len);
}

static uint8_t *write_entry(uint8_t *p, unsigned at, uint32_t address)
{
    p[0] = (uint8_t)at;
    leat_put_be24(p + 1, address);
    return p + ENTRY_LEN;
}

static uint8_t *write_address(uint8_t *p, const struct leat_packetway_address *a)
{
    p = write_entry(p, a->at, a->low);
    return a->at == LEAT_PACKETWAY_AT_SINGLE ? p : write_entry(p, a->at + 1u, a->high);
}

leat_err leat_packetway_build_nest(struct leat_packetway_build *b)
{
    if (b->err) return b->err;
    if (!b->nestable) return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    b->parent[b->depth++] = b->last;
    b->nestable = false;
    return LEAT_ERR_OK;
}

void leat_packetway_build_leave(struct leat_packetway_build *b)
{
    if (b->err) return; /* the nest that belongs to it may have been refused */
    assert(b->depth > 0);
    b->depth--;
    b->nestable = false;
}

static bool in_address(const struct leat_packetway_build *b)
{
    return b->depth && b->buf[b->parent[b->depth - 1]] == LEAT_PACKETWAY_RTYP_ADDR;
}

leat_err leat_packetway_build_address(struct leat_packetway_build *b,
                                      const struct leat_packetway_address *a)
{
    if (leat_packetway_address_check(a, false)) return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    uint8_t *p = append_padded(b, LEAT_PACKETWAY_RTYP_ADDR,
                               a->at == LEAT_PACKETWAY_AT_SINGLE ? ENTRY_LEN : 2 * ENTRY_LEN);
    if (!p) return b->err;
    write_address(p, a);
    b->nestable = !in_address(b);
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_name(struct leat_packetway_build *b, const uint8_t *octets,
                                   size_t len)
{
    if (len < 1 || len > LEAT_PACKETWAY_NAME_LEN_MAX) return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    uint8_t *p = append_padded(b, LEAT_PACKETWAY_RTYP_NAME, len);
    if (!p) return b->err;
    memcpy(p, octets, len);
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_capability(struct leat_packetway_build *b, uint8_t cc,
                                         const uint8_t *parameters, size_t len)
{
    if (cc == 0 || len > LEAT_PACKETWAY_PARAMETERS_LEN_MAX)
        return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    uint8_t *p = append_padded(b, LEAT_PACKETWAY_RTYP_CAPA, 1 + len);
    if (!p) return b->err;
    p[0] = cc;
    if (len) memcpy(p + 1, parameters, len);
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_logical(struct leat_packetway_build *b,
                                      const struct leat_packetway_address *addresses, size_t count)
{
    size_t entries = 0;
    for (size_t i = 0; i < count; i++) {
        if (leat_packetway_address_check(&addresses[i], true))
            return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
        entries += addresses[i].at == LEAT_PACKETWAY_AT_SINGLE ? 1 : 2;
    }
    if (entries < 1 || entries > LEAT_PACKETWAY_LADR_MAX) return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    uint8_t *p = append_padded(b, LEAT_PACKETWAY_RTYP_LADR, ENTRY_LEN * entries);
    if (!p) return b->err;
    for (size_t i = 0; i < count; i++)
        p = write_address(p, &addresses[i]);
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_route(struct leat_packetway_build *b, uint16_t q,
                                    const struct leat_packetway_leading *l2rhs, size_t count)
{
    size_t len = DATA_AT;
    if (count > LEAT_PACKETWAY_SRQR_MAX) return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    for (size_t i = 0; i < count; i++) {
        if (l2rhs[i].kind != LEAT_PACKETWAY_L2RH || leat_packetway_leading_check(&l2rhs[i]))
            return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
        len += leat_packetway_leading_size(&l2rhs[i]);
    }
    uint8_t *p = append(b, LEAT_PACKETWAY_RTYP_SRQR, PL_BEFORE_16_BITS, len);
    if (!p) return b->err;
    leat_put_be16(p + 2, q);
    p += DATA_AT;
    for (size_t i = 0; i < count; i++) {
        size_t written = 0;
        const size_t size = leat_packetway_leading_size(&l2rhs[i]);
        const leat_err err = leat_packetway_leading_encode(&l2rhs[i], p, size, &written);
        assert(!err && written == size);
        p += written;
    }
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_mtu(struct leat_packetway_build *b, uint32_t words)
{
    uint8_t *p = append(b, LEAT_PACKETWAY_RTYP_MTUR, 0, 4);
    if (!p) return b->err;
    leat_put_be32(p, words);
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_received_from(struct leat_packetway_build *b,
                                            const uint32_t *half_routers, size_t count)
{
    if (count < 1 || count > LEAT_PACKETWAY_RCVF_MAX) return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    for (size_t i = 0; i < count; i++)
        if (!leat_packetway_address_is_node(half_routers[i]))
            return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    uint8_t *p = append_padded(b, LEAT_PACKETWAY_RTYP_RCVF, ENTRY_LEN * count);
    if (!p) return b->err;
    for (size_t i = 0; i < count; i++)
        p = write_entry(p, LEAT_PACKETWAY_AT_SINGLE, half_routers[i]);
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_table(struct leat_packetway_build *b, uint16_t sequence)
{
    uint8_t *p = append(b, LEAT_PACKETWAY_RTYP_RTHD, PL_BEFORE_16_BITS, 4);
    if (!p) return b->err;
    leat_put_be16(p + 2, sequence);
    b->nestable = b->depth == 0;
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_san(struct leat_packetway_build *b, uint32_t san)
{
    if (san != 0 && !leat_packetway_address_is_node(san)) return fail(b, LEAT_ERR_PACKETWAY_LIMIT);
    uint8_t *p = append(b, LEAT_PACKETWAY_RTYP_SNID, 0, 4);
    if (!p) return b->err;
    write_entry(p, LEAT_PACKETWAY_AT_SINGLE, san);
    return LEAT_ERR_OK;
}

leat_err leat_packetway_build_copy(struct leat_packetway_build *b, const uint8_t *records,
                                   size_t len)
{
    assert(len % 8 == 0);
    if (!b->err) b->err = check_room(b, len);
    if (b->err || !len) return b->err;
    memcpy(b->buf + b->len, records, len);
    b->len += len;
    b->nestable = false;
    raise_parents(b);
    return LEAT_ERR_OK;
}
