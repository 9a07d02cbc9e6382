/*
 * The ESP packet (specs/esp.md, "Packet"): one instruction for the ephemeral stores on its way.
 *
 *    octet 0        1        2..3             4..11               12 ..                  last 4
 *   +---------+---------+-----------------+-------------------+----------------------+---------+
 *   | Control | Opcode  | Length          | Computation ID    | operands             | CRC-32  |
 *   +---------+---------+-----------------+-------------------+----------------------+---------+
 *   Control: LLL0 FFFF   LLL = LOC, FFFF = XR E R X
 *
 * Big-endian throughout. Length counts the 32-bit words of the operands; the opcode fixes it, so it
 * is checked and never kept. The CRC-32 (IEEE 802.3) covers everything before it.
 *
 * The lists below are the only place where the order of the flags, the instructions with their
 * operands and the operators are written down: codec, text and checks are all made from them.
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_WIRE_H
#define LEAT_ESP_WIRE_H

#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* specs/esp.md, "Carriage": the packet is the payload, unchanged. Never IP protocol 50 (IPsec). */
enum {
    LEAT_ESP_UDP_PORT = 4253,
    LEAT_ESP_IP_PROTOCOL = 253, /* with Router Alert */
    LEAT_ESP_ETHER_TYPE = 0x88B5,
    LEAT_ESP_LINK_TYPE = 149, /* of captures: USER2 */
};

/* Where things are, and how long. */
enum {
    LEAT_ESP_CONTROL_AT = 0,
    LEAT_ESP_LOC_SHIFT = 5, /* in Control */
    LEAT_ESP_OPCODE_AT = 1,
    LEAT_ESP_LENGTH_AT = 2,
    LEAT_ESP_COMPUTATION_AT = 4,
    LEAT_ESP_OPERANDS_AT = 12,
    LEAT_ESP_OPERAND_LEN = 8,
    LEAT_ESP_CRC_LEN = 4,
    LEAT_ESP_OPERANDS_MAX = 7,
    LEAT_ESP_PACKET_LEN_MIN = LEAT_ESP_OPERANDS_AT + LEAT_ESP_CRC_LEN,
    LEAT_ESP_PACKET_LEN_MAX = LEAT_ESP_PACKET_LEN_MIN +
                              LEAT_ESP_OPERAND_LEN * LEAT_ESP_OPERANDS_MAX,
};

/*
 * name, bit. X Execute, R Reflect, E Error, XR Execute on Reflect. The seed fixes XR and R alone as
 * 0xA, which four orders satisfy; this is ours.
 */
#define LEAT_ESP_FLAG_LIST(FLAG) FLAG(XR, 0x8) FLAG(E, 0x4) FLAG(R, 0x2) FLAG(X, 0x1)

/* name, name in text, bit: the stores to run at, in the order of running. None means the centre. */
#define LEAT_ESP_LOC_LIST(LOC) \
    LOC(INPUT, "input", 4) LOC(CENTRE, "centre", 1) LOC(OUTPUT, "output", 2)

/*
 * code, name, words, operands in order. Each operand takes two words: TAG and VALUE are 64 bits,
 * an operator (COMPARE_OP, FOLD_OP) is 32 bits and 32 bits of zero.
 */
#define LEAT_ESP_INSTRUCTION_LIST(INSTRUCTION)                                             \
    INSTRUCTION(0, NOP, 0, NOTHING)                                                        \
    INSTRUCTION(1, COUNT, 4, TAG(compValTag), VALUE(thresh))                               \
    INSTRUCTION(2, COMPARE, 6, TAG(compValTag), VALUE(pktVal), COMPARE_OP)                 \
    INSTRUCTION(3, COLLECT, 8, TAG(compValTag), VALUE(val), TAG(chldCntTag), FOLD_OP)      \
    INSTRUCTION(4, RCHLD, 8, TAG(pktId), TAG(sibCntTag), TAG(fwdCntTag), VALUE(fwdThresh)) \
    INSTRUCTION(5, RCOLLECT, 14, TAG(pktId), TAG(sibCntTag), TAG(compIdTag), VALUE(val),   \
                TAG(collectFwdTag), VALUE(fwdThresh), FOLD_OP)

/* clang-format off */
/* name, code: op(stored, packet). _S compares as signed numbers. */
#define LEAT_ESP_COMPARE_LIST(OP)                                                                  \
    OP(LT, 0x01) OP(LE, 0x02) OP(GT, 0x03) OP(GE, 0x04) OP(EQ, 0x05) OP(NE, 0x06)                  \
    OP(LT_S, 0x11) OP(LE_S, 0x12) OP(GT_S, 0x13) OP(GE_S, 0x14) OP(EQ_S, 0x15) OP(NE_S, 0x16)

/* name, code. ADD wraps; ADDSAT stays at the end of the range. _S only where the sign matters. */
#define LEAT_ESP_FOLD_LIST(OP)                                                                     \
    OP(ADD, 0x01) OP(MIN, 0x02) OP(MAX, 0x03) OP(AND, 0x04) OP(OR, 0x05) OP(XOR, 0x06)             \
    OP(ADDSAT, 0x07) OP(MIN_S, 0x12) OP(MAX_S, 0x13) OP(ADDSAT_S, 0x17)
/* clang-format on */

#define LEAT_ESP_ENUM_FLAG(name, bit)                LEAT_ESP_FLAG_##name = bit,
#define LEAT_ESP_ENUM_LOC(name, text, bit)           LEAT_ESP_LOC_##name = bit,
#define LEAT_ESP_ENUM_OPCODE(code, name, words, ...) LEAT_ESP_##name = code,
#define LEAT_ESP_ENUM_COMPARE(name, code)            LEAT_ESP_COMPARE_##name = code,
#define LEAT_ESP_ENUM_FOLD(name, code)               LEAT_ESP_FOLD_##name = code,

enum leat_esp_flag { LEAT_ESP_FLAG_LIST(LEAT_ESP_ENUM_FLAG) LEAT_ESP_FLAGS_ALL = 0xF };
enum leat_esp_loc { LEAT_ESP_LOC_LIST(LEAT_ESP_ENUM_LOC) LEAT_ESP_LOC_ALL = 7 };
enum leat_esp_opcode { LEAT_ESP_INSTRUCTION_LIST(LEAT_ESP_ENUM_OPCODE) LEAT_ESP_OPCODE_END };
enum leat_esp_compare { LEAT_ESP_COMPARE_LIST(LEAT_ESP_ENUM_COMPARE) };
enum leat_esp_fold { LEAT_ESP_FOLD_LIST(LEAT_ESP_ENUM_FOLD) };

/*
 * The meaning of a packet, spelled as the note spells it. An opcode uses the operands of its row in
 * the list above; the others are 0 after decode, and encode does not look at them.
 */
struct leat_esp_packet {
    uint8_t loc;    /* mask of enum leat_esp_loc */
    uint8_t flags;  /* mask of enum leat_esp_flag */
    uint8_t opcode; /* enum leat_esp_opcode */
    uint32_t op;    /* enum leat_esp_compare (COMPARE) or leat_esp_fold (COLLECT, RCOLLECT) */
    uint64_t computationId;
    uint64_t compValTag, thresh, pktVal, val, chldCntTag;
    uint64_t pktId, sibCntTag, fwdCntTag, fwdThresh, compIdTag, collectFwdTag;
};

enum leat_esp_kind {
    LEAT_ESP_KIND_TAG, /* a key of the store; those of one packet differ */
    LEAT_ESP_KIND_VALUE,
    LEAT_ESP_KIND_COMPARE, /* an operator: the packet's op */
    LEAT_ESP_KIND_FOLD,
};

struct leat_esp_operand {
    const char *name;
    enum leat_esp_kind kind;
    size_t field_at; /* TAG, VALUE: offsetof the uint64_t in struct leat_esp_packet */
};

struct leat_esp_instruction {
    const char *name;
    uint16_t words; /* two per operand */
    struct leat_esp_operand operand[LEAT_ESP_OPERANDS_MAX];
};

/* The row of an opcode; NULL if there is none. From 64 on: esp_query.h. */
const struct leat_esp_instruction *leat_esp_instruction_of(unsigned opcode);

/* A TAG or VALUE of a packet, by its row. */
uint64_t leat_esp_operand_get(const struct leat_esp_packet *packet,
                              const struct leat_esp_operand *operand);
void leat_esp_operand_set(struct leat_esp_packet *packet, const struct leat_esp_operand *operand,
                          uint64_t value);

/* The operands of a known opcode in order, each as the 64 bits that stand on the wire; and back. */
void leat_esp_packet_gather(const struct leat_esp_packet *packet,
                            uint64_t operand[LEAT_ESP_OPERANDS_MAX]);
void leat_esp_packet_scatter(const uint64_t operand[LEAT_ESP_OPERANDS_MAX],
                             struct leat_esp_packet *packet);

/* Is `op` an operator of this kind? No, for kinds that are no operators. */
bool leat_esp_operator_known(enum leat_esp_kind kind, uint32_t op);

/* Octets of a packet with this opcode, CRC included; 0 if the opcode is unknown. */
size_t leat_esp_packet_len(unsigned opcode);

/*
 * Total; on error *out is untouched and *fault_at (may be NULL) tells where. Checked in this order:
 *
 *   SHORT      fewer octets than the shortest packet       where the octets end
 *   TYPE       opcode unknown                              the opcode
 *   LENGTH     length is not the opcode's                  the length
 *   SHORT      fewer octets than the packet                where the octets end
 *   CHECKSUM   CRC-32 differs                              the CRC
 *   DUPLICATE  a tag equals an earlier one                 the later tag
 *   TYPE       operator unknown                            the operator
 *   RESERVED   the word after an operator is not 0         that word
 *
 * Control's bit 4 is ignored. So is what follows the CRC (Ethernet pads): the packet's own octets
 * are leat_esp_packet_len(out->opcode) of the `len`. The word after an operator is refused because
 * its layout is zero, not reserved: a later meaning would change what the instruction does to the
 * stores, and a node must not half understand that.
 */
leat_err leat_esp_packet_decode(const uint8_t *buf, size_t len, struct leat_esp_packet *out,
                                size_t *fault_at);

/*
 * Can this packet be sent? TYPE opcode or operator unknown, RANGE loc or flags too wide, DUPLICATE
 * tags equal; *fault_at (may be NULL) is the offset which the offending field would have.
 */
leat_err leat_esp_packet_check(const struct leat_esp_packet *packet, size_t *fault_at);

/* Writes the packet and *len (may be NULL), or nothing: what check says, or SPACE. */
leat_err leat_esp_packet_encode(const struct leat_esp_packet *packet, uint8_t *buf, size_t cap,
                                size_t *len);

/*
 * What an end system does to a packet with R before it sends it back (specs/esp.md, "Holes", 5):
 * X := XR, R := 0; E stays, so that the source learns of it. Swapping addresses and the new TTL are
 * the carrier's, the CRC is encode's. False, and nothing changed, if R is not set.
 */
bool leat_esp_packet_reflect(struct leat_esp_packet *packet);

#endif
