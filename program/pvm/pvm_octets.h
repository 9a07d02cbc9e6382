/*
 * Octets that grow while they are written and are read from the beginning: the encoding between the
 * library and its service, and of messages. Numbers are big-endian.
 *
 *     put_i32(7) put_text("ab")   ->   00 00 00 07 | 00 00 00 02 61 62 00
 *
 * Writing stops when memory runs out, reading at the first missing item. Both set `failed`, which
 * is checked once, at the end.
 */
#ifndef LEAT_PVM_OCTETS_H
#define LEAT_PVM_OCTETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leat_pvm_octets {
    uint8_t *at;
    size_t len, cap;
    size_t read_at;
    bool failed;
};

void leat_pvm_octets_free(struct leat_pvm_octets *octets);
void leat_pvm_octets_clear(struct leat_pvm_octets *octets); /* keeps the memory */

/* Appends room for this many octets; NULL: out of memory. */
uint8_t *leat_pvm_octets_extend(struct leat_pvm_octets *octets, size_t len);

void leat_pvm_put(struct leat_pvm_octets *octets, const void *from, size_t len);
void leat_pvm_put_i32(struct leat_pvm_octets *octets, int32_t value);
void leat_pvm_put_text(struct leat_pvm_octets *octets, const char *text); /* NULL: "" */

/* The next octets, lent; NULL: there are fewer. */
const uint8_t *leat_pvm_get(struct leat_pvm_octets *octets, size_t len);
int32_t leat_pvm_get_i32(struct leat_pvm_octets *octets);
/* Lent, with its final zero; "" if there is none. */
const char *leat_pvm_get_text(struct leat_pvm_octets *octets);

static inline void leat_pvm_store_u32(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 24);
    to[1] = (uint8_t)(value >> 16);
    to[2] = (uint8_t)(value >> 8);
    to[3] = (uint8_t)value;
}

static inline uint32_t leat_pvm_load_u32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static inline void leat_pvm_store_u64(uint8_t *to, uint64_t value)
{
    leat_pvm_store_u32(to, (uint32_t)(value >> 32));
    leat_pvm_store_u32(to + 4, (uint32_t)value);
}

static inline uint64_t leat_pvm_load_u64(const uint8_t *from)
{
    return (uint64_t)leat_pvm_load_u32(from) << 32 | leat_pvm_load_u32(from + 4);
}

#endif
