/*
 * Errors: one list defines the enum, the names and the texts.
 *
 * Programs read the name (the `code` of `leat decode --json`). If a protocol's own note numbers or
 * names its errors, leat uses that name: E_... is PacketWay's, P_E_... POETS'.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ERR_H
#define LEAT_ERR_H

#include <leat/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each row: the end of the constant LEAT_ERR_..., the name for programs, the text for people. */
#define LEAT_ERR_LIST(X)                                                                  \
    X(OK, "OK", "success")                                                                \
    X(SHORT, "SHORT", "buffer ends before the packet does")                               \
    X(LENGTH, "LENGTH", "length field or buffer length is not allowed")                   \
    X(CHECKSUM, "CHECKSUM", "checksum does not match")                                    \
    X(RANGE, "RANGE", "field value does not fit its width or its limits")                 \
    X(RESERVED, "RESERVED", "reserved bits are not zero")                                 \
    X(TYPE, "TYPE", "unknown type, opcode or operator")                                   \
    X(DUPLICATE, "DUPLICATE", "values that must differ are equal")                        \
    X(MEMORY, "MEMORY", "memory handed over is too small or misaligned")                  \
    X(SPACE, "SPACE", "output buffer is too small")                                       \
    X(FULL, "FULL", "no room left")                                                       \
    X(SYNTAX, "SYNTAX", "text is not well formed")                                        \
    X(FIELD, "FIELD", "unknown, missing or contradictory field")                          \
    X(MAGIC, "MAGIC", "not a file of this kind")                                          \
    X(PACKETWAY_SHORT, "E_SHORT", "message or record ends too early")                     \
    X(PACKETWAY_ALIGN, "E_ALIGN", "length is not a whole number of 8-octet words")        \
    X(PACKETWAY_VERSION, "E_VERSION", "version is not 0")                                 \
    X(PACKETWAY_RSV, "E_RSV", "reserved bits are not zero")                               \
    X(PACKETWAY_L2RH_LEN, "E_L2RH_LEN", "L2RH without route octets")                      \
    X(PACKETWAY_SYM_TYPE, "E_SYM_TYPE", "symbol type 0 is reserved")                      \
    X(PACKETWAY_DT_RESERVED, "E_DT_RESERVED", "destination is of the reserved class")     \
    X(PACKETWAY_ADDR, "E_ADDR", "address is not allowed here")                            \
    X(PACKETWAY_SA, "E_SA", "source address is none that a node may have")                \
    X(PACKETWAY_PT, "E_PT", "packet type 0 is illegal")                                   \
    X(PACKETWAY_TE, "E_TE", "type extension is unknown")                                  \
    X(PACKETWAY_ENDIAN, "E_ENDIAN", "endianness field is illegal here")                   \
    X(PACKETWAY_PAD, "E_PAD", "padding length is illegal here")                           \
    X(PACKETWAY_OH_TYPE, "E_OH_TYPE", "optional field type 0 is illegal")                 \
    X(PACKETWAY_OH_LEN, "E_OH_LEN", "optional field has the wrong length for its type")   \
    X(PACKETWAY_OH_UNTERM, "E_OH_UNTERM", "optional fields have no last one")             \
    X(PACKETWAY_OH_MANDATORY, "E_OH_MANDATORY", "mandatory optional field is unknown")    \
    X(PACKETWAY_OT_LEN, "E_OT_LEN", "announced trailer field is missing")                 \
    X(PACKETWAY_TRAILING, "E_TRAILING", "words left over before TAIL")                    \
    X(PACKETWAY_CRC, "E_CRC", "CRC does not match")                                       \
    X(PACKETWAY_TOO_MANY, "E_TOO_MANY", "more than 64 fields of one kind, or 32 in RCVF") \
    X(PACKETWAY_REC_TYPE, "E_REC_TYPE", "record type is unknown")                         \
    X(PACKETWAY_REC_LEN, "E_REC_LEN", "record length is illegal")                         \
    X(PACKETWAY_REC_PL, "E_REC_PL", "record padding is illegal")                          \
    X(PACKETWAY_AT, "E_AT", "address type is illegal here")                               \
    X(PACKETWAY_RANGE, "E_RANGE", "address range is empty or mixed")                      \
    X(PACKETWAY_CC, "E_CC", "capability code 0 is illegal")                               \
    X(PACKETWAY_SR, "E_SR", "source route does not hold just L2RHs")                      \
    X(PACKETWAY_MSG, "E_MSG", "records do not form this message")                         \
    X(PACKETWAY_LIMIT, "E_LIMIT", "value is outside the encoder's limits")                \
    X(PACKETWAY_NOSPC, "E_NOSPC", "output buffer is too small")                           \
    X(POETS_SUPDEV, "P_E_SUPDEV", "packet to the supervisor with a device index")         \
    X(POETS_OPNOCNC, "P_E_OPNOCNC", "opcode in a packet that is not a control packet")    \
    X(POETS_TASK, "P_E_TASK", "task is above 63")                                         \
    X(POETS_DEV, "P_E_DEV", "device is above 0xFFFF")                                     \
    X(POETS_PIN, "P_E_PIN", "pin is above 255")                                           \
    X(POETS_EDGE, "P_E_EDGE", "edge is above 2^24-1")                                     \
    X(POETS_PAYLOAD, "P_E_PAYLOAD", "payload is longer than 56 octets")                   \
    X(POETS_FLITS, "P_E_FLITS", "length is not 1 to 4 flits of 16 octets")

typedef enum {
#define X(id, name, text) LEAT_ERR_##id,
    LEAT_ERR_LIST(X)
#undef X
        LEAT_ERR_COUNT
} leat_err;

/* Static strings for every value, including values that are not in the list. Never NULL. */
LEAT_API const char *leat_err_name(leat_err err);
LEAT_API const char *leat_err_text(leat_err err);

#ifdef __cplusplus
}
#endif

#endif
