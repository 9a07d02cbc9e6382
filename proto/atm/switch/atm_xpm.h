/*
 * Crosspoint memories (XPM): between input p and output s of a switch lies a ring of bytes, written
 * by input unit p only and read by output unit s only (spec/atm.md, 4.1). All XPMs of a switch are
 * one matrix.
 *
 *               output 0   output 1   output 2
 *              +----------+----------+----------+
 *   input 0 -->| XPM(0,0) | XPM(0,1) | XPM(0,2) |      tail: where the next byte is pushed
 *   input 1 -->| XPM(1,0) | XPM(1,1) | XPM(1,2) |      head: where the next byte is popped
 *              +----------+----------+----------+      size: pushed and not popped
 *                   |          |          |
 *
 * Nothing checks for overflow: the suspend protocol (4.5) prevents it. So `size` is a plain count.
 * Under stimuli that break the protocol it may leave 0..capacity, and then continues to count.
 */
#ifndef LEAT_ATM_XPM_H
#define LEAT_ATM_XPM_H

#include <leat/atm.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_ATM_XPM_CELLS = 8, /* the prototype's capacity: 424 bytes */
    LEAT_ATM_XPM_CELLS_MAX = 1024,
};

struct leat_atm_xpm {
    uint16_t head, tail;
    int32_t size;
    uint8_t mem[]; /* `capacity` bytes */
};

/* Its owner (a leat_atm_bmx) provides the memory. */
struct leat_atm_matrix {
    uint8_t *xpms;            /* XPM(p, s) is number p * outputs + s, `stride` bytes each */
    uint64_t *waiting;        /* [output]: bit p is set if XPM(p, output) has size != 0 */
    uint32_t stride;          /* leat_atm_xpm_stride(capacity) */
    uint16_t inputs, outputs; /* 1..64 */
    uint16_t capacity;        /* 53 bytes per cell */
};

static inline uint32_t leat_atm_xpm_stride(uint32_t capacity)
{
    const uint32_t align = alignof(struct leat_atm_xpm);
    return ((uint32_t)sizeof(struct leat_atm_xpm) + capacity + align - 1) / align * align;
}

static inline struct leat_atm_xpm *leat_atm_xpm_at(const struct leat_atm_matrix *m, unsigned input,
                                                   unsigned output)
{
    return (void *)(m->xpms + (size_t)(input * m->outputs + output) * m->stride);
}

/* Every change of a size goes through here, so that `waiting` is always correct. */
static inline void leat_atm_xpm_resize(struct leat_atm_matrix *m, unsigned input, unsigned output,
                                       int32_t size)
{
    const uint64_t bit = UINT64_C(1) << input;
    leat_atm_xpm_at(m, input, output)->size = size;
    m->waiting[output] = (m->waiting[output] & ~bit) | (size ? bit : 0);
}

static inline void leat_atm_xpm_push(struct leat_atm_matrix *m, unsigned input, unsigned output,
                                     uint8_t byte)
{
    struct leat_atm_xpm *x = leat_atm_xpm_at(m, input, output);
    uint8_t *place = x->mem + x->tail;
    x->tail = x->tail + 1 == m->capacity ? 0 : (uint16_t)(x->tail + 1);
    leat_atm_xpm_resize(m, input, output, x->size + 1);
    *place = byte; /* last: an octet may alias anything and would force reloads */
}

static inline uint8_t leat_atm_xpm_pop(struct leat_atm_matrix *m, unsigned input, unsigned output)
{
    struct leat_atm_xpm *x = leat_atm_xpm_at(m, input, output);
    const uint8_t byte = x->mem[x->head];
    x->head = x->head + 1 == m->capacity ? 0 : (uint16_t)(x->head + 1);
    leat_atm_xpm_resize(m, input, output, x->size - 1);
    return byte;
}

/* The place of the byte pushed last: tail - 1. */
static inline uint16_t leat_atm_xpm_last_at(const struct leat_atm_matrix *m, unsigned input,
                                            unsigned output)
{
    const uint16_t tail = leat_atm_xpm_at(m, input, output)->tail;
    return (uint16_t)((tail ? tail : m->capacity) - 1);
}

#endif
