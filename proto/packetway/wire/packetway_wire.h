/*
 * A whole PacketWay message (spec section 1). A word is 8 octets, every structure whole words:
 *
 *   0..64 leading records | PH 16 | OH fields, iff h | DB 8*DL | OT | TAIL 8
 *   `- consumed on the way´ `---- immutable from source to destination ---´ rewritten per router
 *
 *   OH field   | TCtttttt | L | L octets | pad |     T mandatory, C last one; [(L+9)/8] words
 *   OT         for each OH of type 3: | CRC32 | pad 4 |, of type 5: | CRC64 |, in OH order;
 *              then, if there is an OH of type 6, fields like those of OH
 *   TAIL       | EI |, 0 = no error reported
 *
 * The CRCs cover PH, OH and DB with their pads, "here" values taken as zero (spec 1.7).
 */
#ifndef LEAT_PACKETWAY_WIRE_H
#define LEAT_PACKETWAY_WIRE_H

#include "packetway_leading.h"
#include "packetway_record.h"

enum {
    LEAT_PACKETWAY_TAIL_LEN = 8,
    LEAT_PACKETWAY_MESSAGE_LEN_MIN = LEAT_PACKETWAY_HEADER_LEN + LEAT_PACKETWAY_TAIL_LEN,
    LEAT_PACKETWAY_LEADING_MAX = 64,
    LEAT_PACKETWAY_OH_MAX = 64,
    LEAT_PACKETWAY_OT_MAX = 64,      /* self-defined fields */
    LEAT_PACKETWAY_EMBEDDED_MAX = 4, /* messages inside one another (spec 5.9) */
    LEAT_PACKETWAY_FIELD_LEN_MAX = 255,
    LEAT_PACKETWAY_FIELD_TYPE_MAX = 0x3F,
};

/* The smaller MTU; 0 is infinite. */
static inline uint32_t leat_packetway_mtu_min(uint32_t a, uint32_t b)
{
    if (!a || !b) return a | b;
    return a < b ? a : b;
}

/* A field of OH, or a self-defined one of OT. */
struct leat_packetway_field {
    bool mandatory;
    uint8_t type; /* 1..0x3F; OH: leat_packetway_oh and unknown ones */
    uint16_t len; /* L; OH of types 2..6: 4, 0, 8, 0, 0 */
    const uint8_t *octets;
    uint64_t crc; /* OH of types 2..5: the CRC, wherever it stands. Encoding computes it. */
};

/*
 * The meaning of a message. Pointers are lent from the buffer that was decoded, or are the
 * encoder's caller's. Only the first `count` items of each array are set.
 */
struct leat_packetway_message {
    struct leat_packetway_header header; /* encoding: pl, dl and h follow from the rest */
    size_t header_at;                    /* decoded: the offset of PH, behind the leading records */
    const uint8_t *data;                 /* DB without its pad */
    size_t data_len;
    const uint8_t *extra; /* lenient: words of OT that no known OH field announced */
    size_t extra_len;
    uint64_t ei;
    unsigned leading_count, oh_count, ot_count;
    struct leat_packetway_leading leading[LEAT_PACKETWAY_LEADING_MAX];
    struct leat_packetway_field oh[LEAT_PACKETWAY_OH_MAX];
    struct leat_packetway_field ot[LEAT_PACKETWAY_OT_MAX];
};

/*
 * A router reads leading records, PH and EI (spec 2.3); a destination everything, and there the
 * CRCs, mandatory fields and the records of RRP and ERR are verified too.
 */
enum leat_packetway_place { LEAT_PACKETWAY_DESTINATION, LEAT_PACKETWAY_FORWARDING };

/*
 * Total. The checks and their order are those of spec 2.2. On error *out is untouched and
 * *fault_at (may be NULL) is the offset of the offending structure: record, PH, field, DB, OT entry
 * or spare word. The PL of an RRP or ERR message, legal only when lenient, is not taken off its
 * data.
 */
leat_err leat_packetway_message_decode(const uint8_t *buf, size_t len,
                                       enum leat_packetway_mode mode,
                                       enum leat_packetway_place place,
                                       struct leat_packetway_message *out, size_t *fault_at);

/*
 * Writes the message and its length; or nothing, and says E_LIMIT for whatever a strict
 * destination would refuse, E_NOSPC for want of room. Nothing of `message` may lie in `buf`.
 */
leat_err leat_packetway_message_encode(const struct leat_packetway_message *message, uint8_t *buf,
                                       size_t cap, size_t *len);

/* The records of a message decoded at its destination; none where it is not made of records. */
struct leat_packetway_records
leat_packetway_message_records(const struct leat_packetway_message *message);

#endif
