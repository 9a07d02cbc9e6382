/*
 * Whose code is at an address: the program's, or the message library's with everything that it
 * loads. No list of names is needed; the loader knows the dependencies:
 *
 *     program ---> its libraries ---> libc <--- libhwloc <--- libmpi,  mca_mtl_ofi ---> libfabric
 *     `------- PROGRAM --------'     SHARED     `---------------- LIBRARY ----------------------'
 *
 * The message library owns what it loads while it starts, what it later loads from the folders of
 * these plug-ins, and all their dependencies. Everything else belongs to the program, also the
 * library that contains this code: it reads clocks for the program.
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

/* The library at this address starts: it owns what is loaded until leat_clock_owner_started.
 * Without these calls everything belongs to the program. */
void leat_clock_owner_starts(const void *library);
void leat_clock_owner_started(void);

enum leat_clock_owner leat_clock_owner_of(const void *address);

/* Does `wanted` hold for any part of the program's own code? The library that contains this code is
 * left out, and so are its dependencies, such as libc. */
bool leat_clock_owner_program_has(bool (*wanted)(const uint8_t *code, size_t len));

#endif
