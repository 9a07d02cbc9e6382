/*
 * One interface of the ring, bit by bit: in each bit time one symbol arrives and one leaves. The
 * interface works in the one bit of delay between them (spec/aton.md; aton_serial.h has its units).
 *
 *                +---------------------------------------------------------------+
 *    symbol in   |  input machine          serial units            output        |  symbol out
 *   ------------>|  where in which field,  adder, compare/select,  repeats,      |------------>
 *                |  CRC checker            incrementer, address,   folds, sends, |
 *                |                         shift register (SORT)   CRC generator |
 *                +---------------------------------------------------------------+
 *                     registers R0..R63, command, result, buffer of a packet
 *
 *   role       output                                             until
 *   REPEATS    the input, folded where it takes part              it wants to send and T = 1 comes
 *   SENDS      its packet from T = 0 on, then 0; strips the       the packet is back: TOKEN
 *              input
 *   TOKEN      a token                                            24 symbols: REPEATS
 *   PURGES     0 (the monitor, after an error)                    the ring is empty: TOKEN
 *
 * The input machine trusts no length: J or K among bits ends the current field, and it looks for
 * the delimiter that they may begin. README.md has the decisions (token release, monitor,
 * time-outs).
 *
 * One operation changes symbols that are out already: a TREE's slot whose result goes back into it
 * (BACK). The interface must hold so many more symbols back; whoever drives it has the register,
 * and is told of the change (EVENT_PATCH).
 *
 * Pure; all state is in the struct.
 */
#ifndef LEAT_ATON_INTERFACE_H
#define LEAT_ATON_INTERFACE_H

#include "aton_priority.h"
#include "aton_sender.h"
#include "aton_serial.h"
#include "aton_symbol.h"

/* A host's request to its interface. */
struct leat_aton_order {
    bool is_passive;                  /* a packet of octets: only command.da counts */
    struct leat_aton_command command; /* valid: leat_aton_begin would accept it */
    const uint8_t *octets;            /* passive; lent until it is done */
    uint16_t octets_len;
    bool when_idle; /* only when the token has arrived twice in a row */
};

enum leat_aton_status {
    LEAT_ATON_DONE,
    LEAT_ATON_DAMAGED, /* it returned damaged: no answer */
    LEAT_ATON_LOST,    /* it did not return */
};

/* The result of an order. */
struct leat_aton_result {
    uint8_t status;             /* enum leat_aton_status */
    uint8_t recognised, copied; /* A and C */
    uint16_t counter;
    uint64_t variable1, variable2;
    uint32_t payload_len; /* of buffer: opc 9..11, as the octet image has it */
};

enum leat_aton_role {
    LEAT_ATON_ROLE_REPEATS,
    LEAT_ATON_ROLE_SENDS,
    LEAT_ATON_ROLE_TOKEN,
    LEAT_ATON_ROLE_PURGES,
};

/* Fields, in the order of the input machine and the sender. */
enum leat_aton_phase {
    LEAT_ATON_HUNTS, /* for J */
    LEAT_ATON_IN_DELIMITER,
    LEAT_ATON_IN_AC,
    LEAT_ATON_IN_CTL,
    LEAT_ATON_IN_DA,
    LEAT_ATON_IN_SA,
    LEAT_ATON_IN_COUNT, /* Counter, or the length of a passive packet */
    LEAT_ATON_IN_PARAM,
    LEAT_ATON_IN_V1,
    LEAT_ATON_IN_V2,
    LEAT_ATON_IN_ITEMS,
    LEAT_ATON_IN_TRAILER, /* FLG, CRC, ED and, if SORT has inserted a word, as many symbols more */
};

/* Reported by a step, with the symbol. */
enum {
    LEAT_ATON_EVENT_CAPTURED = 0x04, /* the token, eleven symbols after the first of SD was sent */
    LEAT_ATON_EVENT_RESULT = 0x08,   /* station->result */
    LEAT_ATON_EVENT_RECEIVED = 0x10, /* a passive packet for this interface is in its buffer */
    LEAT_ATON_EVENT_RELEASED = 0x20, /* the first symbol of a token is sent */
    LEAT_ATON_EVENT_ORPHAN = 0x40,   /* the monitor has seen a packet twice */
    LEAT_ATON_EVENT_SILENCE = 0x80,  /* the monitor's time-out: the token is lost */
    LEAT_ATON_EVENT_PATCH = 0x100,   /* the last patch_len symbols out, this one too, are `patch` */
};

/* A field being sent or received. */
struct leat_aton_place {
    uint8_t phase;
    uint32_t at, len; /* symbols */
};

struct leat_aton_station {
    /* Input machine. The fields that every step touches come first, in a cache line or two. */
    struct leat_aton_place in;
    uint8_t role;
    uint8_t is_monitor;
    uint8_t takes_part;
    uint8_t carry, relation;
    uint8_t active, opcode, width_bits;
    uint8_t copies;    /* passive, for this interface, and there is room */
    uint8_t addressed; /* passive: it sets A */
    uint8_t is_end;    /* IN_DELIMITER: ED, not SD */
    uint8_t broken;    /* the packet has a symbol in the wrong place */
    uint8_t tokens;    /* 1: the last AC was a token's */
    uint8_t error;     /* E as received */
    uint8_t flags;     /* FLG as received */
    uint8_t delay;     /* SORT: symbols by which the output is behind the input */
    uint64_t shift;    /* the bits of a field so far */
    uint64_t x;        /* the operand; TREE: its current value */
    uint32_t crc_in, crc_out, syndrome;
    uint32_t silence; /* monitor: bit times spent hunting since the last AC */
    uint16_t ctl, da, sa, count, param;
    uint8_t reserves;    /* the priority that it reserves in a passing packet */
    uint8_t reservation; /* RRR as received */
    uint8_t inserted;    /* SORT: the word is in its place */
    uint8_t slot, slot_state;
    uint32_t item_at; /* bit of the item */
    uint32_t received_len;
    uint64_t v1, v2;
    uint64_t slot_value;
    uint64_t patch[2]; /* TREE, BACK: bits, the earliest lowest; a slot has 65 at most */
    uint32_t patch_len;
    uint32_t slot_crc;            /* crc_out before the slot */
    uint64_t line_low, line_high; /* SORT: the last symbols, the newest lowest */

    /* Sending: a packet or a token. */
    struct leat_aton_place out;
    uint64_t out_head, out_x, out_v1, out_v2;
    uint32_t out_crc;
    uint16_t sent_ctl;
    uint8_t out_takes_part;
    uint8_t is_empty; /* an empty packet, not an order's: it lowers a priority */
    uint8_t held;     /* the priority of the captured token */
    uint8_t collects; /* TOKEN: its packet is back, and `reservation` counts */
    uint8_t priority; /* of the token being sent */
    struct leat_aton_raises raises;
    struct leat_aton_order sent;

    /* The host's: the order, its result, registers. */
    uint8_t wants; /* the order is to be sent */
    struct leat_aton_order order;
    struct leat_aton_result result;
    uint8_t *buffer; /* the caller's: received payloads */
    uint32_t buffer_cap;
    uint32_t ring_bits;            /* monitor: the time of a symbol round the ring, B included */
    uint32_t purge_left;           /* PURGES: bit times */
    struct leat_aton_interface it; /* the host reads and writes these */
};

/* `buffer` may be NULL with cap 0: no payload can be received. */
void leat_aton_station_init(struct leat_aton_station *s, uint16_t address, uint8_t *buffer,
                            uint32_t buffer_cap);

/* Sends a token from its next step on. */
void leat_aton_station_release(struct leat_aton_station *s);

/* The monitor sends nothing until the ring is empty, then a token. */
void leat_aton_station_purge(struct leat_aton_station *s);

/* Discards what is in progress, and only repeats; registers and order stay. */
void leat_aton_station_reset(struct leat_aton_station *s);

/* One bit time: symbol in; returns the symbol out in the two lowest bits, and its reports. */
unsigned leat_aton_station_step(struct leat_aton_station *s, unsigned symbol);

#endif
