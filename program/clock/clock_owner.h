/*
 * Whose code is at an address: the program's, or that of the message library and of all that it
 * brings along. There is no list of names; the loader knows who needs whom:
 *
 *     program ---> its libraries ---> libc <--- libhwloc <--- libmpi,  mca_mtl_ofi ---> libfabric
 *     `------- PROGRAM --------'     SHARED     `---------------- LIBRARY ----------------------'
 *
 * What the message library loads while it starts, and what it loads later from the folders of these
 * plug-ins, is its own, with all that they need. Everything else is the program's, also the library
 * that this code is in: it looks at clocks for the program.
 */
#ifndef LEAT_CLOCK_OWNER_H
#define LEAT_CLOCK_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leat_clock_owner {
    LEAT_CLOCK_PROGRAM,
    LEAT_CLOCK_LIBRARY,
    LEAT_CLOCK_SHARED, /* both need it */
};

/* The library that this address is in starts: what is loaded until leat_clock_owner_started is
 * loaded by it. Without these calls all is the program's. */
void leat_clock_owner_starts(const void *library);
void leat_clock_owner_started(void);

enum leat_clock_owner leat_clock_owner_of(const void *address);

/* Is `wanted` true of some part of the program's own code? The library that this code is in is left
 * out, and what it needs, as libc. */
bool leat_clock_owner_program_has(bool (*wanted)(const uint8_t *code, size_t len));

#endif
