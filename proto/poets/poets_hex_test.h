#ifndef LEAT_POETS_HEX_TEST_H
#define LEAT_POETS_HEX_TEST_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>

/* Hex with blanks; stops at what is neither. Returns the octets. */
static inline size_t unhex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (unsigned octet;; hex += 2) {
        while (*hex == ' ')
            hex++;
        if (!isxdigit((unsigned char)*hex) || sscanf(hex, "%2x", &octet) != 1) return n;
        out[n++] = (uint8_t)octet;
    }
}

#endif
