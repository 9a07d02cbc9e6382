#include "pvm_buffer.h"
#include <pvm3.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of buffers -------------------------------------------------------------------- */

static struct {
    struct leat_pvm_buffer **buffer; /* number n at n - 1 */
    int *free;                       /* numbers, the last freed first */
    int count, cap, free_count;
} table;

static bool table_grow(void)
{
    enum { FIRST_CAP = 64 };
    const int cap = table.cap ? 2 * table.cap : FIRST_CAP;
    struct leat_pvm_buffer **buffer = reallocarray(table.buffer, (size_t)cap, sizeof *table.buffer);
    if (buffer) table.buffer = buffer;
    int *numbers = reallocarray(table.free, (size_t)cap, sizeof *table.free);
    if (numbers) table.free = numbers;
    if (!buffer || !numbers) return false;
    table.cap = cap;
    return true;
}

struct leat_pvm_buffer *leat_pvm_buffer_new(int encoding)
{
    if (!table.free_count && table.count == table.cap && !table_grow()) return NULL;
    struct leat_pvm_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return NULL;
    buffer->id = table.free_count ? table.free[--table.free_count] : ++table.count;
    buffer->encoding = encoding;
    table.buffer[buffer->id - 1] = buffer;
    return buffer;
}

struct leat_pvm_buffer *leat_pvm_buffer_find(int id)
{
    return id > 0 && id <= table.count ? table.buffer[id - 1] : NULL;
}

void leat_pvm_buffer_free(struct leat_pvm_buffer *buffer)
{
    if (!buffer) return;
    table.buffer[buffer->id - 1] = NULL;
    table.free[table.free_count++] = buffer->id;
    leat_pvm_octets_free(&buffer->body);
    free(buffer->span);
    free(buffer);
}

int leat_pvm_encoding_of(int how)
{
    switch (how) {
    case PvmDataDefault: return LEAT_PVM_XDR;
    case PvmDataRaw: return LEAT_PVM_RAW;
    case PvmDataInPlace: return LEAT_PVM_IN_PLACE;
    default: return -1;
    }
}

/* ---- whole messages -------------------------------------------------------------------------- */

size_t leat_pvm_buffer_len(const struct leat_pvm_buffer *buffer)
{
    size_t len = buffer->body.len;
    for (size_t i = 0; i < buffer->span_count; i++)
        len += buffer->span[i].len;
    return len;
}

void leat_pvm_buffer_copy(const struct leat_pvm_buffer *buffer, size_t at, void *to, size_t len)
{
    uint8_t *out = to;
    if (!buffer->span_count) {
        if (len) memcpy(out, buffer->body.at + at, len);
        return;
    }
    for (size_t i = 0; len; i++) {
        const struct leat_pvm_span *span = &buffer->span[i];
        if (at >= span->len) {
            at -= span->len;
            continue;
        }
        const size_t here = span->len - at < len ? span->len - at : len;
        memcpy(out, (const uint8_t *)span->at + at, here);
        out += here;
        len -= here;
        at = 0;
    }
}

int leat_pvm_buffer_finish(struct leat_pvm_buffer *buffer)
{
    if (buffer->is_read) return PvmOk;
    if (buffer->encoding == LEAT_PVM_IN_PLACE) {
        const size_t len = leat_pvm_buffer_len(buffer);
        uint8_t *room = leat_pvm_octets_extend(&buffer->body, len);
        if (!room) return PvmNoMem;
        leat_pvm_buffer_copy(buffer, 0, room, len);
        buffer->span_count = 0;
        buffer->encoding = LEAT_PVM_RAW;
    }
    buffer->is_read = true;
    buffer->body.read_at = 0;
    return PvmOk;
}

/* ---- types ----------------------------------------------------------------------------------- */

enum kind { OCTET, SIGNED, UNSIGNED, REAL };

/* A complex number is two items of its parts' type. */
struct type {
    size_t len;
    enum kind kind;
    size_t parts;
};

static const struct type types[] = {
    [PVM_BYTE] = { 1, OCTET, 1 },
    [PVM_SHORT] = { sizeof(short), SIGNED, 1 },
    [PVM_INT] = { sizeof(int), SIGNED, 1 },
    [PVM_FLOAT] = { sizeof(float), REAL, 1 },
    [PVM_CPLX] = { sizeof(float), REAL, 2 },
    [PVM_DOUBLE] = { sizeof(double), REAL, 1 },
    [PVM_DCPLX] = { sizeof(double), REAL, 2 },
    [PVM_LONG] = { sizeof(long), SIGNED, 1 },
    [PVM_USHORT] = { sizeof(short), UNSIGNED, 1 },
    [PVM_UINT] = { sizeof(int), UNSIGNED, 1 },
    [PVM_ULONG] = { sizeof(long), UNSIGNED, 1 },
};

static const struct type *type_of(int type)
{
    const bool is_known = type >= PVM_BYTE && type <= PVM_ULONG;
    return is_known ? &types[type] : NULL;
}

size_t leat_pvm_type_len(int type)
{
    const struct type *t = type_of(type);
    return t ? t->len * t->parts : 0;
}

static uint64_t item_load(const struct type *type, const uint8_t *at)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    switch (type->len) {
    case 8: memcpy(&eight, at, 8); return eight;
    case 4: memcpy(&four, at, 4); return type->kind == SIGNED ? (uint64_t)(int32_t)four : four;
    default: memcpy(&two, at, 2); return type->kind == SIGNED ? (uint64_t)(int16_t)two : two;
    }
}

static void item_store(const struct type *type, uint8_t *at, uint64_t value)
{
    const uint32_t four = (uint32_t)value;
    const uint16_t two = (uint16_t)value;
    switch (type->len) {
    case 8: memcpy(at, &value, 8); break;
    case 4: memcpy(at, &four, 4); break;
    default: memcpy(at, &two, 2); break;
    }
}

/* XDR has four octets for all integers. */
static bool fits(const struct type *type, uint64_t value)
{
    if (type->kind == SIGNED) return (int64_t)value == (int32_t)value;
    return type->kind == REAL || value <= UINT32_MAX;
}

static size_t xdr_len(const struct type *type)
{
    return type->kind == REAL ? type->len : 4;
}

static size_t padded(size_t len)
{
    return (len + 3) & ~(size_t)3;
}

static const uint8_t *item_at(const void *items, const struct type *type, int i, int stride)
{
    return (const uint8_t *)items + (ptrdiff_t)i * stride * (ptrdiff_t)(type->len * type->parts);
}

/* Octets of this many items in this encoding. */
static size_t packed_len(int encoding, const struct type *type, int count)
{
    const size_t items = (size_t)count * type->parts;
    if (encoding != LEAT_PVM_XDR) return items * type->len;
    return type->kind == OCTET ? padded(items) : items * xdr_len(type);
}

/* ---- packing --------------------------------------------------------------------------------- */

static bool all_fit(const struct type *type, const void *items, int count, int stride)
{
    if (type->kind == REAL || type->kind == OCTET || type->len <= 4) return true;
    for (int i = 0; i < count; i++)
        if (!fits(type, item_load(type, item_at(items, type, i, stride)))) return false;
    return true;
}

/* Items of `len` octets, with this many octets from one to the next. */
static void copy_items(uint8_t *to, ptrdiff_t to_step, const uint8_t *from, ptrdiff_t from_step,
                       size_t len, int count)
{
    if (to_step == from_step && count) memcpy(to, from, (size_t)count * len);
    for (int i = 0; to_step != from_step && i < count; i++)
        memcpy(to + i * to_step, from + i * from_step, len);
}

static void xdr_store(uint8_t *to, const struct type *type, const void *items, int count,
                      int stride)
{
    for (int i = 0; i < count; i++) {
        const uint8_t *item = item_at(items, type, i, stride);
        for (size_t p = 0; p < type->parts; p++, to += xdr_len(type)) {
            const uint64_t value = item_load(type, item + p * type->len);
            if (xdr_len(type) == 8)
                leat_put_be64(to, value);
            else
                leat_put_be32(to, (uint32_t)value);
        }
    }
}

static int note_span(struct leat_pvm_buffer *buffer, const void *at, size_t len)
{
    enum { FIRST_CAP = 8 };
    if (buffer->span_count == buffer->span_cap) {
        const size_t cap = buffer->span_cap ? 2 * buffer->span_cap : FIRST_CAP;
        struct leat_pvm_span *span = reallocarray(buffer->span, cap, sizeof *span);
        if (!span) return PvmNoMem;
        buffer->span = span;
        buffer->span_cap = cap;
    }
    buffer->span[buffer->span_count++] = (struct leat_pvm_span){ at, len };
    return PvmOk;
}

int leat_pvm_pack(struct leat_pvm_buffer *buffer, int type, const void *items, int count,
                  int stride)
{
    const struct type *t = type_of(type);
    if (!t || count < 0) return PvmBadParam;
    const size_t len = packed_len(buffer->encoding, t, count);
    if (buffer->encoding == LEAT_PVM_IN_PLACE) {
        if (stride != 1) return PvmNotImpl;
        return len ? note_span(buffer, items, len) : PvmOk;
    }
    const bool is_xdr = buffer->encoding == LEAT_PVM_XDR;
    if (is_xdr && !all_fit(t, items, count, stride)) return PvmOverflow;
    uint8_t *room = leat_pvm_octets_extend(&buffer->body, len);
    if (!room) {
        buffer->body.failed = false; /* what was packed before is complete */
        return PvmNoMem;
    }
    if (is_xdr && t->kind != OCTET) {
        xdr_store(room, t, items, count, stride);
        return PvmOk;
    }
    const size_t each = t->len * t->parts;
    copy_items(room, (ptrdiff_t)each, items, stride * (ptrdiff_t)each, each, count);
    memset(room + (size_t)count * each, 0, len - (size_t)count * each);
    return PvmOk;
}

int leat_pvm_pack_text(struct leat_pvm_buffer *buffer, const char *text)
{
    const size_t len = strlen(text) + 1;
    const int count = (int)len;
    if (buffer->encoding == LEAT_PVM_IN_PLACE) return PvmNotImpl;
    if (len > INT32_MAX) return PvmOverflow;
    const size_t before = buffer->body.len;
    int result = leat_pvm_pack(buffer, PVM_INT, &count, 1, 1);
    if (result == PvmOk) result = leat_pvm_pack(buffer, PVM_BYTE, text, count, 1);
    if (result < 0) buffer->body.len = before;
    return result;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

static void xdr_load(const uint8_t *from, const struct type *type, void *items, int count,
                     int stride)
{
    for (int i = 0; i < count; i++) {
        uint8_t *item = (uint8_t *)items +
                        (ptrdiff_t)i * stride * (ptrdiff_t)(type->len * type->parts);
        for (size_t p = 0; p < type->parts; p++, from += xdr_len(type)) {
            uint64_t value;
            if (xdr_len(type) == 8)
                value = leat_get_be64(from);
            else if (type->kind == SIGNED)
                value = (uint64_t)(int64_t)(int32_t)leat_get_be32(from);
            else
                value = leat_get_be32(from);
            item_store(type, item + p * type->len, value);
        }
    }
}

int leat_pvm_unpack(struct leat_pvm_buffer *buffer, int type, void *items, int count, int stride)
{
    const struct type *t = type_of(type);
    if (!t || count < 0) return PvmBadParam;
    if (buffer->encoding != LEAT_PVM_XDR && buffer->encoding != LEAT_PVM_RAW) return PvmBadMsg;
    const size_t len = packed_len(buffer->encoding, t, count);
    const uint8_t *from = leat_pvm_get(&buffer->body, len);
    if (!from) {
        buffer->body.failed = false; /* a smaller item may still be there */
        return PvmNoData;
    }
    const size_t each = t->len * t->parts;
    if (buffer->encoding == LEAT_PVM_XDR && t->kind != OCTET)
        xdr_load(from, t, items, count, stride);
    else
        copy_items(items, stride * (ptrdiff_t)each, from, (ptrdiff_t)each, each, count);
    return PvmOk;
}

int leat_pvm_unpack_text(struct leat_pvm_buffer *buffer, const char **text, size_t *len)
{
    const size_t before = buffer->body.read_at;
    int count = 0;
    const int result = leat_pvm_unpack(buffer, PVM_INT, &count, 1, 1);
    if (result < 0) return result;
    const uint8_t *at = count <= 0
                            ? NULL
                            : leat_pvm_get(&buffer->body,
                                           packed_len(buffer->encoding, &types[PVM_BYTE], count));
    if (!at || at[count - 1]) {
        buffer->body.failed = false;
        buffer->body.read_at = before;
        return at || count <= 0 ? PvmBadMsg : PvmNoData;
    }
    *text = (const char *)at;
    *len = (size_t)count;
    return PvmOk;
}
