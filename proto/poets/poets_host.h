/*
 * Records that hosts exchange around packets (spec/poets.md, 1.7), all little-endian, and the
 * hardware address (1.8), which travels beside a packet and never inside it.
 *
 *   P_Addr         0 hwAddr (32)  4 packet, 64 octets, zero padded                       68 octets
 *   P_Debug        0 origin hwAddr (32)  4 octet                                          5
 *   device entry   0 hwAddr (32)  4 swAddr (32)  8 name, 52 octets, NUL-terminated       60
 *
 *   fabric frame   0 "PRM1"  4 task (16)  6 nrec (16)  8 srcRank (32)  12 seq (32)
 *                  16 epoch (64)  24 nrec records                              at most 16 KiB
 *   record         0 hwAddr (32)  4 nflit (8)  5 flags (8)  6 zero (16)  8 nflit x 16 octets
 *
 *   hwAddr         board Y | board X | mailbox y | mailbox x | core in mailbox | thread in core
 *                     3         3          2           2              2                4
 *
 * Decoders are total; on error the output is untouched and *fault_at (may be NULL) is the offset of
 * the error. Encoders write a whole record or nothing. The contents of packets are not checked
 * here.
 */
#ifndef LEAT_POETS_HOST_H
#define LEAT_POETS_HOST_H

#include "leat_err.h"
#include "poets_wire.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_POETS_P_ADDR_LEN = 68,
    LEAT_POETS_P_DEBUG_LEN = 5,
    LEAT_POETS_ENTRY_LEN = 60,
    LEAT_POETS_NAME_LEN = 52, /* with its NUL */
    LEAT_POETS_FRAME_HEADER_LEN = 24,
    LEAT_POETS_FRAME_LEN_MAX = 16 * 1024, /* 5.2 */
    LEAT_POETS_RECORD_HEADER_LEN = 8,
};

struct leat_poets_p_addr {
    uint32_t hw_addr;
    uint8_t packet[LEAT_POETS_PACKET_LEN_MAX]; /* the number of flits in use is not carried */
};

leat_err leat_poets_p_addr_decode(const uint8_t *buf, size_t len, struct leat_poets_p_addr *out,
                                  size_t *fault_at);
leat_err leat_poets_p_addr_encode(const struct leat_poets_p_addr *addr, uint8_t *buf, size_t cap);

struct leat_poets_p_debug {
    uint32_t origin;
    uint8_t octet;
};

leat_err leat_poets_p_debug_decode(const uint8_t *buf, size_t len, struct leat_poets_p_debug *out,
                                   size_t *fault_at);
leat_err leat_poets_p_debug_encode(const struct leat_poets_p_debug *debug, uint8_t *buf,
                                   size_t cap);

/* One line of the device table; its index there is the device index. */
struct leat_poets_entry {
    uint32_t hw_addr;
    uint32_t sw_addr;
    char name[LEAT_POETS_NAME_LEN]; /* has a NUL */
};

/* Takes the first 51 octets of a name (up to a NUL, if any); false if the name was truncated. */
bool leat_poets_entry_set_name(struct leat_poets_entry *entry, const char *name, size_t len);

/* Octets after the NUL are neither read nor kept: they are written as zero. */
leat_err leat_poets_entry_decode(const uint8_t *buf, size_t len, struct leat_poets_entry *out,
                                 size_t *fault_at);
leat_err leat_poets_entry_encode(const struct leat_poets_entry *entry, uint8_t *buf, size_t cap);

/* ---- the frame between ranks ---- */

struct leat_poets_frame {
    uint16_t task;
    uint16_t record_count; /* nrec; ignored by the writer, which counts itself */
    uint32_t src_rank;
    uint32_t seq;
    uint64_t epoch;
};

struct leat_poets_record {
    uint32_t hw_addr;
    uint8_t nflit;         /* 1..4 */
    bool control;          /* flags, bit 0 */
    const uint8_t *packet; /* 16 * nflit octets, lent by whoever provided the record */
};

/* Checks the header and every record: after that leat_poets_frame_next finds them all. */
leat_err leat_poets_frame_decode(const uint8_t *buf, size_t len, struct leat_poets_frame *out,
                                 size_t *fault_at);

/* Iterates over the records of a frame. Bounded by the octets it was given, valid or not. */
struct leat_poets_frame_cursor {
    const uint8_t *buf;
    size_t at, len;
    unsigned left;
};

void leat_poets_frame_cursor_init(struct leat_poets_frame_cursor *cursor, const uint8_t *buf,
                                  size_t len);

/* The next record; false at the end, and at a record that is malformed (then left > 0). */
bool leat_poets_frame_next(struct leat_poets_frame_cursor *cursor, struct leat_poets_record *out);

/* Writes a frame record by record; buf[0..len) is a valid frame after every call. */
struct leat_poets_frame_writer {
    uint8_t *buf;
    size_t cap, len;
    unsigned record_count;
};

leat_err leat_poets_frame_begin(struct leat_poets_frame_writer *writer, uint8_t *buf, size_t cap,
                                const struct leat_poets_frame *frame);

/* FULL: it does not fit, send this frame and begin another. P_E_FLITS: nflit is not 1..4. */
leat_err leat_poets_frame_add(struct leat_poets_frame_writer *writer,
                              const struct leat_poets_record *record);

/* ---- the hardware address ---- */

enum leat_poets_hw_part {
    LEAT_POETS_HW_BOARD_Y,
    LEAT_POETS_HW_BOARD_X,
    LEAT_POETS_HW_MAILBOX_Y,
    LEAT_POETS_HW_MAILBOX_X,
    LEAT_POETS_HW_CORE,
    LEAT_POETS_HW_THREAD,
    LEAT_POETS_HW_PART_COUNT
};

enum { LEAT_POETS_HW_WIDTH_MAX = 30 }; /* sum over all parts */

/* Widths in bits, most significant part first; 0 where the engine has no such level. */
struct leat_poets_hw_format {
    uint8_t width[LEAT_POETS_HW_PART_COUNT];
};

extern const struct leat_poets_hw_format leat_poets_hw_tinsel; /* 3,3,2,2,2,4 */

struct leat_poets_hw {
    uint32_t part[LEAT_POETS_HW_PART_COUNT];
};

/* RANGE: the widths exceed 30 bits, a part its width, or an address the sum of widths. */
leat_err leat_poets_hw_pack(const struct leat_poets_hw_format *format,
                            const struct leat_poets_hw *hw, uint32_t *hw_addr);
leat_err leat_poets_hw_unpack(const struct leat_poets_hw_format *format, uint32_t hw_addr,
                              struct leat_poets_hw *hw);

/* The host's own address, which unpack refuses: bit (sum + 1). */
leat_err leat_poets_hw_host(const struct leat_poets_hw_format *format, uint32_t *hw_addr);

#endif
