/*
 * Collective operations of the ports of a ring (leat/port.h): folds by commands of the ring, casts
 * in a passive packet to all (proto/aton/aton_collect.h has the protocol of a member).
 *
 *     hosts                 sim_collect       members, by group and place
 *      | part, collected()  |                  | registers, order, done, receive
 *      +------------------- + ---------------- + ------------------------------- stations
 *
 * Time, in bits. All members hand over their parts at once, on an idle ring. R is a revolution,
 * n + sum p + B (spec/aton.md, "Time"). T of the token passes the member with the charge w bit
 * times later, 11 symbols after the packet's first. Each packet of P symbols returns after P + R,
 * and the token comes round after R more. So a fold of W words, in s = max(1, ceil(W / 6)) passes,
 * is over after
 *
 *     w - 11 + s (160 + 192) + W (256 + 64) + (4 s + 2 W - 1) R
 *              query, result   command, word   2 s + W packets
 *
 * That is w - 11 + 352 + 3 R for a barrier, w - 11 + 672 + 5 R for a word. A command of XOR has 208
 * symbols instead of 256. The member with the charge is the last, when its packet with the result
 * has returned; a member d bits behind it goes on R - d earlier.
 *
 * If a member is late, the one with the charge sends one query more, and a packet of 192 symbols
 * that passes the charge to the late one; after its part the same times hold again.
 */
#ifndef LEAT_SIM_ATON_COLLECT_H
#define LEAT_SIM_ATON_COLLECT_H

#include "aton_collect.h"
#include "sim_aton.h"
#include "sim_collect.h"

enum { LEAT_SIM_ATON_COLLECT_WORDS_MAX = 1024 };

/* What the members at a station have to send, one packet at a time. */
struct leat_sim_aton_collect_seat {
    uint8_t waiting[LEAT_ATON_COLLECT_GROUPS_MAX]; /* groups, the longest waiting first */
    uint32_t waits;
    uint32_t sends; /* the group whose packet is in the interface; 0: none */
    bool is_cast;
    uint64_t symbols; /* of this packet */
};

struct leat_sim_aton_collect {
    struct leat_sim_collect base;
    struct leat_sim_aton *ring;
    struct leat_aton_member *member;         /* [groups * ports], by group and place */
    struct leat_sim_aton_collect_seat *seat; /* [ports] */
    uint16_t epoch[LEAT_ATON_COLLECT_GROUPS_MAX];
};

#endif
