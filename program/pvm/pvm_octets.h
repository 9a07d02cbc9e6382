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

#include "leat_bytes.h"
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

/* Where the output of a task goes. */
struct leat_pvm_sink {
    int tid, context, tag; /* tid 0: to the log of the run */
};

void leat_pvm_put_sink(struct leat_pvm_octets *octets, const struct leat_pvm_sink *sink);
struct leat_pvm_sink leat_pvm_get_sink(struct leat_pvm_octets *octets);

#endif
