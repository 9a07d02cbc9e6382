/*
 * What a run delivered, as one number: the same for every granularity, thread and rank count.
 *
 *   certificate     the sum, modulo 2^64, of a mix of a record of five 64-bit words per delivery:
 *                   | time | source | destination | message number | payload hash |
 *                   so their order does not matter, and parts of a network add up their own
 *   delivery hash   FNV-1a 64 over records of three (spec/atm.md, 8):
 *                   | cycle | output port << 8 or source port | number of the source's cell |
 *                   in order of cycle, then output port
 *   payload hash    of the octets that arrived; our own, 16 octets at a time in two lanes
 */
#ifndef LEAT_SIM_CERTIFICATE_H
#define LEAT_SIM_CERTIFICATE_H

#include <leat/time.h>
#include <stddef.h>

struct leat_sim_delivery {
    leat_time at;
    uint64_t source, destination;
    uint64_t number;
    uint64_t payload_hash;
};

struct leat_sim_certificate {
    uint64_t sum;
    leat_time at; /* of the last delivery */
};

/* leat_fnv of the eight octets of a word, the lowest first. */
uint64_t leat_sim_fnv_word(uint64_t hash, uint64_t word);

void leat_sim_certificate_init(struct leat_sim_certificate *c);

/* In any order. */
void leat_sim_certificate_add(struct leat_sim_certificate *c, const struct leat_sim_delivery *d);
/* What another part of the network delivered. */
void leat_sim_certificate_join(struct leat_sim_certificate *c,
                               const struct leat_sim_certificate *part);
uint64_t leat_sim_certificate_value(const struct leat_sim_certificate *c);

/* For any octets. It detects accidents, not forgery. */
uint64_t leat_sim_payload_hash(const uint8_t *octets, size_t len);

/* The hash of spec/atm.md, 8. Deliveries come in order of cycle, then output (asserted). */
struct leat_sim_delivery_hash {
    uint64_t hash, cycle;
    uint32_t output;
};

void leat_sim_delivery_hash_init(struct leat_sim_delivery_hash *h);
void leat_sim_delivery_hash_add(struct leat_sim_delivery_hash *h, uint64_t cycle, uint32_t output,
                                uint32_t source, uint64_t number);
uint64_t leat_sim_delivery_hash_value(const struct leat_sim_delivery_hash *h);

#endif
