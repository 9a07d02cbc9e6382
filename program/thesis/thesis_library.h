/*
 * Internals of the library: the one task of this process, and its queries to the run.
 *
 *     exported functions (thesis_task.c, thesis_pack.c) ---> ask, put, get ---> program/run/task.h
 */
#ifndef LEAT_THESIS_LIBRARY_H
#define LEAT_THESIS_LIBRARY_H

#include "thesis_shared.h"
#include <leat/atm_task.h>
#include <stddef.h>

/* Data of a query, and of its answer. */
struct leat_atm_cargo {
    const uint8_t *out;
    size_t out_len;
    uint8_t *in;
    size_t in_len;
};

/* Memory for `len` octets, the library's own, until it is asked for again. */
uint8_t *leat_atm_room(size_t len);

/* Writes or reads words of the message: each four octets, the last may have fewer. `call`: the
 * function that the program called. */
void leat_atm_put(struct shmst *dev, const char *call, const uint8_t *octets, size_t len);
void leat_atm_get(struct shmst *dev, const char *call, uint8_t *octets, size_t len);

/* Ends the run: "srp 3: atmputnint: ..." */
_Noreturn void leat_atm_fail(const char *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
