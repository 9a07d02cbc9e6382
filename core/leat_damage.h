/*
 * What is wrong with a packet that is shown all the same, since its other fields are known.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_DAMAGE_H
#define LEAT_DAMAGE_H

#include "leat_err.h"
#include <stddef.h>

/* A packet with more damage than this is shown as octets only. */
enum { LEAT_DAMAGE_MAX = 64 };

struct leat_damage {
    leat_err err;
    size_t at;            /* the offset that strict decoding reports for this error */
    const char *expected; /* in words; static */
};

/* In the order in which strict decoding would find them. */
struct leat_damages {
    unsigned count;
    struct leat_damage item[LEAT_DAMAGE_MAX];
};

#endif
