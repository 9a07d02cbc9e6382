#include "pvm_octets.h"
#include <stdlib.h>
#include <string.h>

void leat_pvm_octets_free(struct leat_pvm_octets *octets)
{
    free(octets->at);
    *octets = (struct leat_pvm_octets){ 0 };
}

void leat_pvm_octets_clear(struct leat_pvm_octets *octets)
{
    octets->len = 0;
    octets->read_at = 0;
    octets->failed = false;
}

uint8_t *leat_pvm_octets_extend(struct leat_pvm_octets *octets, size_t len)
{
    enum { FIRST_CAP = 64 };
    if (octets->failed) return NULL;
    if (!octets->at || len > octets->cap - octets->len) {
        size_t cap = octets->cap ? octets->cap : FIRST_CAP;
        while (cap - octets->len < len && cap <= SIZE_MAX / 2)
            cap *= 2;
        uint8_t *at = cap - octets->len < len ? NULL : realloc(octets->at, cap);
        if (!at) {
            octets->failed = true;
            return NULL;
        }
        octets->at = at;
        octets->cap = cap;
    }
    uint8_t *room = octets->at + octets->len;
    octets->len += len;
    return room;
}

void leat_pvm_put(struct leat_pvm_octets *octets, const void *from, size_t len)
{
    uint8_t *room = leat_pvm_octets_extend(octets, len);
    if (room && len) memcpy(room, from, len);
}

void leat_pvm_put_i32(struct leat_pvm_octets *octets, int32_t value)
{
    uint8_t *room = leat_pvm_octets_extend(octets, 4);
    if (room) leat_put_be32(room, (uint32_t)value);
}

void leat_pvm_put_text(struct leat_pvm_octets *octets, const char *text)
{
    const size_t len = text ? strlen(text) : 0;
    leat_pvm_put_i32(octets, (int32_t)len);
    leat_pvm_put(octets, text ? text : "", len + 1);
}

const uint8_t *leat_pvm_get(struct leat_pvm_octets *octets, size_t len)
{
    if (octets->failed || len > octets->len - octets->read_at) {
        octets->failed = true;
        return NULL;
    }
    static const uint8_t nothing[1];
    const uint8_t *at = octets->at ? octets->at + octets->read_at : nothing;
    octets->read_at += len;
    return at;
}

int32_t leat_pvm_get_i32(struct leat_pvm_octets *octets)
{
    const uint8_t *at = leat_pvm_get(octets, 4);
    return at ? (int32_t)leat_get_be32(at) : 0;
}

const char *leat_pvm_get_text(struct leat_pvm_octets *octets)
{
    const uint32_t len = (uint32_t)leat_pvm_get_i32(octets);
    const uint8_t *at = leat_pvm_get(octets, (size_t)len + 1);
    if (at && !at[len]) return (const char *)at;
    octets->failed = true;
    return "";
}

void leat_pvm_put_sink(struct leat_pvm_octets *octets, const struct leat_pvm_sink *sink)
{
    leat_pvm_put_i32(octets, sink->tid);
    leat_pvm_put_i32(octets, sink->context);
    leat_pvm_put_i32(octets, sink->tag);
}

struct leat_pvm_sink leat_pvm_get_sink(struct leat_pvm_octets *octets)
{
    struct leat_pvm_sink sink = { .tid = leat_pvm_get_i32(octets) };
    sink.context = leat_pvm_get_i32(octets);
    sink.tag = leat_pvm_get_i32(octets);
    return sink;
}
