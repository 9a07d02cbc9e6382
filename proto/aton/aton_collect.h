/*
 * One member of a group of stations that fold words by commands of the ring (spec/aton.md,
 * "Collective operations of groups"). Events in, orders out: whoever has a ring drives it.
 *
 *   registers of group g at each member; at all other stations they are 0
 *   R(8g), R(8g+1)      ready for the passes with even and odd numbers: READY or NOT_READY
 *   R(8g+2) .. R(8g+7)  its words of this pass
 *
 *   enter: loads      query: MAX of the flags       fold: one command     packet to all
 *   the registers     all ready? who is missing?    for each word         with the result
 *   --|------------------|---------------------------|---------------------|------------> a pass
 *                        |
 *                        | somebody is missing: the charge goes to it in a packet. It asks again as
 *                        v soon as its host has handed over its part.
 *
 * One member, or a packet, has the charge, at first the group's first member. So nobody polls, and
 * only members that are concerned send. Whoever has told the others a result keeps the charge.
 *
 *   state      waits for                                             then
 *   AWAY       enter                                                 ASKS with the charge, or WAITS
 *   WAITS      the charge, or the result                             ASKS, or the end of the pass
 *   ASKS       its query                                             FOLDS, TELLS or PASSES_ON
 *   PASSES_ON  its packet with the charge                            WAITS
 *   FOLDS      a command; then the next word's                       TELLS
 *   TELLS      its packet with the result                            the end of the pass
 *
 * At the end of a pass the next words are loaded, or the fold is over: AWAY. An order that failed
 * is given again. Members of a pass are in agreement about its words: a query of pass k is sent
 * after its sender has left pass k-1, so every member was ready for k-1 and had said before that it
 * is not ready for k. That is why two flags are enough, however late a host learns of a result.
 *
 * On a ring of real hosts, packets are lost and stations leave and join with registers of 0. There
 * `members` is set, and the member is careful: the query counts those who are ready (EQ), a second
 * one (MAX) finds who is missing, and the count is repeated after the fold, before anybody is told.
 * Members who have left the pass have said first that they are not ready for the next but one: if
 * all are still ready, no word has changed, whoever else may have folded it. So a member may ask
 * without the charge, if it has waited for long. If it tells the result, it has the charge from
 * then on, and who hears of it has none: a charge that was lost is made again.
 *
 *   ASKS       EQ: are all members ready?                            FOLDS; no: LOOKS
 *   LOOKS      MAX: who is missing?                                  PASSES_ON; no charge: PROBES
 *   CHECKS     EQ, after the fold: are all still ready?              TELLS; no: ASKS
 *   PROBES     EQ of the other flag: has somebody gone on?           WAITS: a member is late;
 *                                                                    yes: no result has come
 *
 * All commands run over the whole ring, where 0 must change nothing: AND and MIN are folded as OR
 * and MAX of the complements. XOR is BITCOUNT with counters of one bit.
 *
 * Pure; all state is in the struct.
 */
#ifndef LEAT_ATON_COLLECT_H
#define LEAT_ATON_COLLECT_H

#include "aton_interface.h"
#include <leat/port.h>

enum {
    LEAT_ATON_COLLECT_REGISTERS = 8, /* of a group */
    LEAT_ATON_COLLECT_GROUPS_MAX = LEAT_ATON_REGISTERS / LEAT_ATON_COLLECT_REGISTERS,
    LEAT_ATON_COLLECT_FLAGS = 2,
    LEAT_ATON_COLLECT_WORDS = LEAT_ATON_COLLECT_REGISTERS - LEAT_ATON_COLLECT_FLAGS,
    LEAT_ATON_COLLECT_HEAD_LEN = 8,
    LEAT_ATON_COLLECT_PACKET_LEN = LEAT_ATON_COLLECT_HEAD_LEN + 8 * LEAT_ATON_COLLECT_WORDS,
    LEAT_ATON_COLLECT_PAYLOAD_LEN = 64, /* of BITCOUNT, as the octet image has it */
};

/* ---- passive packets of groups --------------------------------------------------------------- */

/* 1(1) kind(7) group(8) epoch(16) number(32), then words or octets. */
enum leat_aton_collect_kind {
    LEAT_ATON_COLLECT_CHARGE = 1, /* number: of the charges so far */
    LEAT_ATON_COLLECT_RESULT,     /* number: the pass; then its words */
    LEAT_ATON_COLLECT_CAST,       /* number: the operation; then its octets */
};

struct leat_aton_collect_head {
    enum leat_aton_collect_kind kind;
    uint8_t group;  /* 0 .. */
    uint16_t epoch; /* tells groups apart that have the same registers one after the other */
    uint32_t number;
};

/* False: another packet; *out is untouched. */
bool leat_aton_collect_head_decode(const uint8_t *octets, size_t len,
                                   struct leat_aton_collect_head *out);
void leat_aton_collect_head_encode(const struct leat_aton_collect_head *head, uint8_t *octets);

/* ---- a member -------------------------------------------------------------------------------- */

enum leat_aton_member_state {
    LEAT_ATON_MEMBER_AWAY,
    LEAT_ATON_MEMBER_WAITS,
    LEAT_ATON_MEMBER_ASKS,
    LEAT_ATON_MEMBER_PASSES_ON,
    LEAT_ATON_MEMBER_FOLDS,
    LEAT_ATON_MEMBER_TELLS,
    LEAT_ATON_MEMBER_LOOKS,
    LEAT_ATON_MEMBER_CHECKS,
    LEAT_ATON_MEMBER_PROBES,
};

/* Why a careful member cannot go on. */
enum leat_aton_member_fault {
    LEAT_ATON_MEMBER_SOUND,
    LEAT_ATON_MEMBER_GONE, /* registers of a member, or of others, are not as they should be */
};

struct leat_aton_member {
    volatile uint64_t *operand; /* of its interface */
    uint8_t group;
    uint16_t epoch;
    enum leat_aton_member_state state;
    bool has_charge;
    uint32_t charge;  /* the number of the last one that it has seen */
    uint16_t missing; /* PASSES_ON: an address */
    uint32_t pass;    /* the current one, or the next one */
    enum leat_port_fold fold;
    uint64_t *word;     /* of the host: its own, then the result */
    uint32_t words, at; /* of the fold; before this pass */
    uint32_t count;     /* of this pass */
    uint32_t folded;    /* of these */
    bool has_result;    /* of this pass, from another member */
    uint16_t members;   /* of its group; 0: no packet is lost, no station leaves */
    bool borrows;       /* asks without the charge */
    uint32_t doubts;    /* answers of this pass that contradicted each other */
    uint32_t misses;    /* probes in a row that found others gone on: no result has come */
    enum leat_aton_member_fault fault;
};

/* Makes a station a member. `members`: of the group, for a careful member, or 0. `operand`: R0 to
 * R63, lent until leave. */
void leat_aton_member_join(struct leat_aton_member *member, uint8_t group, uint16_t epoch,
                           bool is_first, uint16_t members, volatile uint64_t *operand);
/* AWAY (asserted), or careful. */
void leat_aton_member_leave(struct leat_aton_member *member);

/* The host hands over its words, lent until the fold is over; none: a barrier. AWAY (asserted). */
void leat_aton_member_enter(struct leat_aton_member *member, enum leat_port_fold fold,
                            uint64_t *word, uint32_t words);

/* A careful member has waited for long: it asks by itself, if it waits. */
void leat_aton_member_remind(struct leat_aton_member *member);

/* Has it something to send? Then one order at a time, until done. */
static inline bool leat_aton_member_wants(const struct leat_aton_member *member)
{
    return member->state >= LEAT_ATON_MEMBER_ASKS;
}

/* `octets`: room for LEAT_ATON_COLLECT_PACKET_LEN, lent until the order is done. */
void leat_aton_member_order(const struct leat_aton_member *member, struct leat_aton_order *order,
                            uint8_t *octets);

/* The outcome of that order. True: the fold is over, its words are the result. */
bool leat_aton_member_done(struct leat_aton_member *member, const struct leat_aton_result *result,
                           const uint8_t *payload);

/* A packet of its group has arrived. True: as above. */
bool leat_aton_member_receive(struct leat_aton_member *member, const uint8_t *octets, size_t len);

#endif
