/*
 * What is known about a node: its name, capabilities and logical addresses, as records
 *
 *   [NAME] *CAPA [LADR]
 *
 * just as INFO and RTBL have them under its ADDR; and whether they match a TELL. A node matches if
 * any record of the TELL does (spec 6.4).
 */
#ifndef LEAT_PACKETWAY_ABOUT_H
#define LEAT_PACKETWAY_ABOUT_H

#include "packetway_record.h"

enum { LEAT_PACKETWAY_ABOUT_LEN_MAX = 256 }; /* octets kept per node */

static inline struct leat_packetway_address leat_packetway_single(uint32_t address)
{
    return (struct leat_packetway_address){ .at = LEAT_PACKETWAY_AT_SINGLE, .low = address };
}

/* The ADDR of one node. */
static inline leat_err leat_packetway_build_node(struct leat_packetway_build *build,
                                                 uint32_t address)
{
    const struct leat_packetway_address single = leat_packetway_single(address);
    return leat_packetway_build_address(build, &single);
}

/* RANGE: too long, or not whole words. FIELD: not such records. */
leat_err leat_packetway_about_check(const uint8_t *about, size_t len);

/* A cursor over them; they must have been checked. */
struct leat_packetway_records leat_packetway_about_of(const uint8_t *about, size_t len);

/* ADDR{..}: the node and these records about it; with its capabilities only if `all`. */
void leat_packetway_about_write(struct leat_packetway_build *build, uint32_t address,
                                const uint8_t *about, size_t len, bool all);

/* Do two addresses or ranges have an address in common? A mask is taken as the span it covers. */
bool leat_packetway_address_meets(const struct leat_packetway_address *a,
                                  const struct leat_packetway_address *b);

/* Does a node with capability `cc` and `parameters` have what is wanted? */
bool leat_packetway_capability_matches(uint8_t cc, const uint8_t *wanted, size_t wanted_len,
                                       const uint8_t *parameters, size_t len);

/* Does any record of `wanted` (from a TELL) match the node at `address` that `about` describes? */
bool leat_packetway_about_matches(struct leat_packetway_records wanted,
                                  const struct leat_packetway_address *address,
                                  struct leat_packetway_records about);

/* Does a LADR in `about` contain the logical address? */
bool leat_packetway_logical_matches(struct leat_packetway_records about, uint32_t logical);

#endif
