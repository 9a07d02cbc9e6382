/*
 * Records within leat: checked once here, then read by the cursors of <leat/packetway_record.h>.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_RECORD_H
#define LEAT_PACKETWAY_RECORD_H

#include "packetway_leading.h"
#include <leat/packetway_record.h>

/*
 * Is it a legal address of an ADDR record (or, if `logical_only`, of LADR)? E_AT, E_ADDR, E_RANGE.
 */
leat_err leat_packetway_address_check(const struct leat_packetway_address *address,
                                      bool logical_only);

/* Spec section 3: does `address` cover x? Only an x of the class of its min or value. */
bool leat_packetway_address_matches(const struct leat_packetway_address *address, uint32_t x);

/*
 * Checks every record, including nested ones, but not which records form which message: that is
 * packetway_grammar.h. *fault_at is the offset of the offending record.
 */
leat_err leat_packetway_records_check(const uint8_t *db, size_t len, enum leat_packetway_mode mode,
                                      size_t *fault_at);

/* The number of records left, unknown ones not counted. */
size_t leat_packetway_records_count(const struct leat_packetway_records *records);

#endif
