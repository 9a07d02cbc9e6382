/*
 * ATON on the ring: a packet or a token as the symbols that are sent (spec/aton.md, "Packet").
 *
 *   packet   SD | AC(8) | CTL(16) | DA(16) | SA(16) | data | FLG(8) | CRC(32) | ED
 *   token    SD | AC(8), T = 1 | ED                                        24 symbols
 *
 *   SD       J K 0 J K 0 0 0
 *   ED       J K 1 J K 1 I E
 *
 * J and K violate the line code, so no data can look like a delimiter. Bit orders:
 *
 *   least significant first   Counter, Variable-2; Variable-1 of ADD, AND, OR; BITCOUNT's counters;
 *                             CRC (reflected register, so the highest power goes first: 802.3)
 *   most significant first    all else: AC, CTL, DA, SA, PARAM, Variable-1 of MAX, MIN, EQ, LT, LE,
 *                             SORT's values, FLG, a passive packet's length and octets
 *
 * A TREE slot is its valid bit, then W bits, here most significant first. On the ring a slot
 * travels in the order of the operation that will consume it, which only the interfaces know: an
 * engine that mixes operations reverses the slots that ADD, AND and OR will take.
 *
 * The CRC runs over the bits as sent, from AC (T, M, RRR taken as 0) to FLG (taken as 0).
 */
#ifndef LEAT_ATON_SYMBOL_H
#define LEAT_ATON_SYMBOL_H

#include "aton_wire.h"

/* One symbol is one octet of the caller's buffer. */
enum leat_aton_symbol { LEAT_ATON_0, LEAT_ATON_1, LEAT_ATON_J, LEAT_ATON_K };

enum {
    LEAT_ATON_TOKEN_SYMBOLS = 24,
    LEAT_ATON_FOLD_SYMBOLS = 128,                                /* opc 1..8: and 2 W */
    LEAT_ATON_SYMBOLS_MAX = 144 + LEAT_ATON_INTERFACES_MAX * 64, /* SORT, W = 64 */
};

/* The contents between two delimiters, and the two bits in the second. */
struct leat_aton_frame {
    struct leat_aton_packet packet; /* token = 1: only its AC counts */
    uint8_t intermediate;           /* I: more frames follow */
    uint8_t error;                  /* E: a station on the route saw a mismatch */
};

/* P of the spec: the symbols of the frame; or why it cannot be sent. */
leat_err leat_aton_frame_measure(const struct leat_aton_frame *frame, size_t *symbol_count);

/* The same of the frame that begins at `symbols`, by its head alone: symbols may follow it, or some
 * of it may be missing. SHORT if the head is not whole; other errors are those of decoding. */
leat_err leat_aton_frame_length(const uint8_t *symbols, size_t count, size_t *symbol_count,
                                size_t *fault_at);

/* Writes *count symbols. On error writes nothing and returns the reason. */
leat_err leat_aton_frame_encode(const struct leat_aton_frame *frame, uint8_t *symbols, size_t cap,
                                size_t *count);

/*
 * Decodes one frame of exactly `count` symbols. A payload is gathered in the caller's memory as
 * the octet image has it, and lent to out->packet; SPACE if payload_cap is too small. On error
 * *out and payload are untouched and *fault_at (may be NULL) is the offset of the symbol or field.
 * Errors are those of aton_wire.h, and RANGE for a symbol that its place does not allow.
 */
leat_err leat_aton_frame_decode(const uint8_t *symbols, size_t count, uint8_t *payload,
                                size_t payload_cap, struct leat_aton_frame *out, size_t *fault_at);

#endif
