/*
 * The EEP header, PH (spec 1.3), and the classes of addresses.
 *
 *    byte 0     byte 1     byte 2     byte 3     byte 4     byte 5     byte 6     byte 7
 *   +----------+----------+----------+----------+----------+----------+----------+----------+
 *   | VVPPPPPP | DT 23-16 | DT 15-8  | DT 7-0   | TE 15-8  | TE 7-0   | PT 15-8  | PT 7-0   |
 *   +----------+----------+----------+----------+----------+----------+----------+----------+
 *   | EEEELLLD | DL 23-16 | DL 15-8  | DL 7-0   | hRRRRRRR | SA 23-16 | SA 15-8  | SA 7-0   |
 *   +----------+----------+----------+----------+----------+----------+----------+----------+
 *     LLL = PL, D = DL bit 24, R = RZ; DT and SA of 24 bits begin with their class:
 *
 *   0xxx physical   10xx L2RH   110x reserved   1110 logical   1111 symbol
 *
 * A word that begins with class L2RH or symbol is not a PH but a leading record.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_HEADER_H
#define LEAT_PACKETWAY_HEADER_H

#include "leat_err.h"
#include "packetway_codes.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The class of an address, from its highest bits. */
enum {
    LEAT_PACKETWAY_NOT_PHYSICAL = 0x800000,
    LEAT_PACKETWAY_NOT_L2RH = 0x400000,
    LEAT_PACKETWAY_NOT_RESERVED = 0x200000,
    LEAT_PACKETWAY_NOT_LOGICAL = 0x100000,
    LEAT_PACKETWAY_ADDRESS_BITS = 0xFFFFFF,
    LEAT_PACKETWAY_PHYSICAL_BITS = 0x7FFFFF,
};

enum leat_packetway_class {
    LEAT_PACKETWAY_CLASS_PHYSICAL,
    LEAT_PACKETWAY_CLASS_L2RH,
    LEAT_PACKETWAY_CLASS_RESERVED,
    LEAT_PACKETWAY_CLASS_LOGICAL,
    LEAT_PACKETWAY_CLASS_SYMBOL,
};

static inline enum leat_packetway_class leat_packetway_class_of(uint32_t address)
{
    if (!(address & LEAT_PACKETWAY_NOT_PHYSICAL)) return LEAT_PACKETWAY_CLASS_PHYSICAL;
    if (!(address & LEAT_PACKETWAY_NOT_L2RH)) return LEAT_PACKETWAY_CLASS_L2RH;
    if (!(address & LEAT_PACKETWAY_NOT_RESERVED)) return LEAT_PACKETWAY_CLASS_RESERVED;
    return address & LEAT_PACKETWAY_NOT_LOGICAL ? LEAT_PACKETWAY_CLASS_SYMBOL
                                                : LEAT_PACKETWAY_CLASS_LOGICAL;
}

/* The address of one node: physical and none of the three special ones. */
static inline bool leat_packetway_address_is_node(uint32_t address)
{
    return address >= 1 && address <= LEAT_PACKETWAY_ADDRESS_MAX;
}

/*
 * Reads the first 16 octets; spec 2.2 (c) after V and class. Lenient: RZ is ignored, element sizes
 * 5..7 become 8 bits (nothing to swap), a reserved SA becomes 0. A word of class L2RH or symbol is
 * E_ADDR. Errors apply to the whole header: *fault_at is 0. On error *out is untouched.
 */
leat_err leat_packetway_header_decode(const uint8_t *buf, size_t len, enum leat_packetway_mode mode,
                                      struct leat_packetway_header *out, size_t *fault_at);

/* The rules of spec 2.2 (c) that these 16 octets break, in its order; returns how many. */
enum { LEAT_PACKETWAY_HEADER_FAULTS_MAX = 7 };
unsigned leat_packetway_header_faults(const uint8_t *buf, enum leat_packetway_mode mode,
                                      leat_err faults[LEAT_PACKETWAY_HEADER_FAULTS_MAX]);

/* Reads 16 octets as they are, whatever rules they break. */
void leat_packetway_header_read(const uint8_t *buf, struct leat_packetway_header *out);

/* Writes 16 octets; E_LIMIT (spec 2.1) or E_NOSPC and nothing written. */
leat_err leat_packetway_header_encode(const struct leat_packetway_header *header, uint8_t *buf,
                                      size_t cap);

/* E_LIMIT where encode would say so. */
leat_err leat_packetway_header_check(const struct leat_packetway_header *header);

/*
 * The EI rule (spec 5.6), once per router: the reported bits move up one place and this router's
 * own bit enters below. Once bit 63 is set, positions no longer move.
 */
static inline uint64_t leat_packetway_ei_step(uint64_t ei, bool error_seen)
{
    if (!(ei >> 63)) ei <<= 1;
    return ei | error_seen;
}

/*
 * The endianness aid (spec 2.5): converts the elements of `data` (without the pad) to host byte
 * order where field E says that they are in the other one. An incomplete last element stays as it
 * is; true reports that there is one.
 */
bool leat_packetway_data_swap(uint8_t *data, size_t len, uint8_t e, bool host_is_little);

#endif
