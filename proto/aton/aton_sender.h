/*
 * The sender's part of a command: its beginning, its result, and its cost (spec/aton.md,
 * "Commands", "Time", "Algorithms with long packets").
 *
 *   begin(interface, command) --> image --> round the ring (aton_visit.h) --> take(...) --> packet
 *                                                                               |
 *                             average, candidate of the majority, result of a tree
 */
#ifndef LEAT_ATON_SENDER_H
#define LEAT_ATON_SENDER_H

#include "aton_visit.h"

/* What BITCOUNT and TREE need for n interfaces. */
static inline uint16_t leat_aton_counter_bits(uint32_t n)
{
    return (uint16_t)leat_bit_width(n); /* ceil(log2(n + 1)) */
}

static inline uint16_t leat_aton_slots(uint32_t n)
{
    return (uint16_t)(leat_bit_width(n ? n - 1 : 0) + 1); /* ceil(log2 n) + 1 */
}

/*
 * The image that the sender sends: its own operand, or the initial values of a disabled sender.
 * Writes *len octets. On error writes nothing: RANGE, TYPE for fields that no packet can have;
 * RANGE for a value that does not fit W; FIELD for a value or param that the command does not take;
 * SPACE.
 */
leat_err leat_aton_begin(const struct leat_aton_interface *sender,
                         const struct leat_aton_command *command, uint8_t *image, size_t cap,
                         size_t *len);

/* Does the sender take part in its own command? */
static inline bool leat_aton_sender_takes_part(const struct leat_aton_interface *sender,
                                               const struct leat_aton_command *command)
{
    return sender->enabled && !command->sender_out;
}

/* Opc 1..8: the Variables that the sender begins with, x being its operand. */
void leat_aton_begin_fold(const struct leat_aton_interface *sender,
                          const struct leat_aton_command *command, uint64_t x, uint64_t *variable1,
                          uint64_t *variable2);

/*
 * The packet that returned: decoded, so its CRC is correct, and this command's own. Errors are
 * those of aton_wire.h; FIELD at the octet that differs from this command; RANGE for an impossible
 * result: SORT's values do not ascend, TREE's valid slots are not Counter's bits (its slots were
 * too few).
 */
leat_err leat_aton_take(const struct leat_aton_interface *sender,
                        const struct leat_aton_command *command, const uint8_t *image, size_t len,
                        struct leat_aton_packet *result, size_t *fault_at);

/* ADD: floor(V2:V1 / Counter), and the remainder. False: no interface took part. */
bool leat_aton_average(const struct leat_aton_packet *added, uint64_t *quotient,
                       uint64_t *remainder);

/* BITCOUNT: the only value that more than half can hold; one EQ command verifies it. */
uint64_t leat_aton_candidate(const struct leat_aton_packet *counted);

/* EQ with v = the candidate: do more than half hold it? */
bool leat_aton_is_majority(const struct leat_aton_packet *verified);

/* TREE: the remaining slots, lowest first as the right operand. False: no interface took part. */
bool leat_aton_tree(const struct leat_aton_interface *sender, const struct leat_aton_packet *folded,
                    uint64_t *value);

/* ---- time, in bits ------------------------------------------------------------------------ */

/* P: symbols of a command's packet, with SORT's Counter at the end of its route. */
uint64_t leat_aton_symbols(const struct leat_aton_command *command, uint32_t counter);

/* B: what the monitor inserts so that the token fits on n interfaces and their links. */
uint64_t leat_aton_monitor_bits(uint32_t n, uint64_t propagation);

/* T = P + n + sum p + B, from the first symbol sent to the last latched by the sender. */
uint64_t leat_aton_time(uint64_t symbols, uint32_t n, uint64_t propagation);

/*
 * The same values collected at one host: the n-1 others send one packet of P symbols each, one
 * after the other in ring order, and each sender strips its own. The token starts at the one host,
 * which has the monitor behind its input. It crosses all links but the last, with one bit of delay
 * at every interface.
 */
uint64_t leat_aton_time_host_based(uint64_t symbols, uint32_t n, uint64_t propagation,
                                   uint64_t last_link);

#endif
