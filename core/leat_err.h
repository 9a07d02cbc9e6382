/*
 * Errors within leat: those of <leat/err.h>, and how a codec returns them.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_FAULT_H
#define LEAT_FAULT_H

#include <leat/err.h>
#include <stddef.h>

/* How a codec refuses: the error, and where. fault_at may be NULL. */
static inline leat_err leat_fault(leat_err err, size_t at, size_t *fault_at)
{
    if (fault_at) *fault_at = at;
    return err;
}

#endif
