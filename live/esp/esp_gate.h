/*
 * The gate of a router: everything that happens to a frame between its arrival and its departure,
 * without a system call. XDP (esp_xdp.bpf.c) and the routers in user space (esp_user.c) compile
 * this one source; they differ in how frames arrive and leave, and in who holds the lock of a
 * group.
 *
 *   esp_find      is there an ESP packet for us in the frame?                   (esp_frame.h)
 *   esp_read      valid? length, CRC, operators, tags                           dropped: why
 *   esp_input     the stores of the input port and of the centre, as LOC says   stopped, E
 *   (route)       the driver finds the next hop, and with it the output port
 *   esp_output    the store of that port, as LOC says                           stopped, E
 *   esp_write     what has changed, and the CRC; then esp_udp_seal
 *   esp_hop       one hop less                                                  dropped: hops
 *
 * The includer provides esp_store_run (locks the group of a store and runs leat_esp_execute in it)
 * and esp_find_group (the entry of a group that is installed here).
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_GATE_H
#define LEAT_ESP_GATE_H

#include "esp_octets.h"
#include "esp_shared.h"

/* Locks the group of words.computation in a store and executes the instruction in it. ABORTED also
 * if there is no such store. */
static struct leat_esp_outcome esp_store_run(struct esp_pass *p, uint32_t store);
/* NULL: it is not installed, or not any more. */
static const struct leat_esp_duplicate *esp_find_group(uint64_t group);

static inline bool esp_has_duplicate(uint64_t group)
{
    const struct leat_esp_duplicate *d = esp_find_group(group);
    return d && d->count;
}

/* A COLLECT: has this node a group of its chldCntTag? */
static inline void esp_know_children(struct leat_esp_words *w)
{
    const struct leat_esp_duplicate *d = esp_find_group(w->operand[2]);
    w->installed = d ? (uint16_t)d->children : 0;
    w->parent = d ? d->parent : 0;
}

static inline enum esp_reason esp_flaw_reason(enum leat_esp_flaw flaw)
{
    return (enum esp_reason)((uint32_t)flaw - LEAT_ESP_FLAW_SHORT + ESP_SHORT);
}
_Static_assert(ESP_ZERO - ESP_SHORT == LEAT_ESP_FLAW_ZERO - LEAT_ESP_FLAW_SHORT,
               "flaws and reasons stand in the same order");

/*
 * A management packet: does it pass, and is it for this router? The recipient checks its CRC and
 * MAC. Without a key the router answers nothing and installs nothing. An INSTALL without a target
 * is for the host that it is addressed to.
 */
static inline enum esp_reason esp_manage(const uint8_t *octets, const uint8_t *end,
                                         uint32_t packet_len, const struct esp_config *c,
                                         bool to_host)
{
    const uint32_t hops_at = LEAT_ESP_OPERANDS_AT + 2 * LEAT_ESP_OPERAND_LEN; /* of a CAST */
    if (octets + hops_at + 1 > end) return ESP_SHORT;
    const uint32_t opcode = octets[LEAT_ESP_OPCODE_AT];
    const uint32_t words = leat_get_be16(octets + LEAT_ESP_LENGTH_AT);
    if (opcode >= LEAT_ESP_MANAGEMENT_END) return ESP_OPCODE;
    if (words < LEAT_ESP_MANAGEMENT_WORDS_MIN || words > LEAT_ESP_MANAGEMENT_WORDS_MAX)
        return ESP_LENGTH;
    if (packet_len < LEAT_ESP_PACKET_LEN_MIN + 4 * words) return ESP_SHORT;
    const uint64_t first = leat_get_be64(octets + LEAT_ESP_OPERANDS_AT);
    const uint64_t second = leat_get_be64(octets + LEAT_ESP_OPERANDS_AT + LEAT_ESP_OPERAND_LEN);
    if (!c->has_key) return ESP_MANAGED;
    if (opcode == LEAT_ESP_QUERY && first == 0) return ESP_ASKED;
    if (opcode == LEAT_ESP_QUERY && first == c->node_id) return ESP_TAKEN;
    if (opcode == LEAT_ESP_INSTALL && (second == c->node_id || (to_host && second == 0)))
        return ESP_TAKEN;
    if (opcode == LEAT_ESP_CAST && octets[hops_at] && esp_has_duplicate(first))
        return ESP_DUPLICATED;
    return ESP_MANAGED;
}

/* Is it made with one of our keys? */
static inline bool esp_is_keyed(const struct leat_key_ring *keys, uint64_t computation)
{
    const struct leat_keys *now = &keys->of_turn[leat_key_ring_turn(keys)];
    for (uint32_t i = 0; i < LEAT_KEYS_MAX; i++)
        if (i < now->count && leat_esp_computation_is_keyed(now->key[i], computation)) return true;
    return false;
}

/* EXECUTED: an instruction to run. CARRIED, MANAGED: nothing to run. Otherwise dropped. */
static inline enum esp_reason esp_read(const uint8_t *data, const uint8_t *end,
                                       const struct esp_config *c, const struct leat_key_ring *keys,
                                       struct esp_pass *p)
{
    const uint8_t *octets = data + (p->at.packet_at & ESP_HEAD_MASK);
    if (p->at.packet_len < LEAT_ESP_PACKET_LEN_MIN) return ESP_SHORT;
    const enum leat_esp_flaw flaw = leat_esp_octets_read(octets, end, &p->words);
    if (flaw == LEAT_ESP_FLAW_MANAGEMENT) return ESP_MANAGED;
    if (flaw != LEAT_ESP_FLAW_NONE) return esp_flaw_reason(flaw);
    /* The frame may be longer than the packet in it. */
    const uint32_t words = leat_get_be16(octets + LEAT_ESP_LENGTH_AT);
    if (p->at.packet_len < LEAT_ESP_PACKET_LEN_MIN + 4 * words) return ESP_SHORT;
    const uint32_t flags = p->words.control & (LEAT_ESP_FLAG_X | LEAT_ESP_FLAG_E);
    if (flags != LEAT_ESP_FLAG_X || !p->words.opcode) return ESP_CARRIED;
    if (c->keyed_only && !esp_is_keyed(keys, p->words.computation)) return ESP_UNKEYED;
    return ESP_EXECUTED;
}

/* One store. EXECUTED: continue. */
static inline enum esp_reason esp_run(struct esp_pass *p, uint32_t store, struct esp_counts *counts)
{
    const struct leat_esp_outcome out = esp_store_run(p, store);
    const uint32_t opcode = p->words.opcode;
    if (opcode < ESP_OPCODES && out.verdict < LEAT_ESP_VERDICTS)
        counts->verdict[opcode][out.verdict]++;
    counts->created += out.created;
    if (out.verdict == LEAT_ESP_STOP) return ESP_STOPPED;
    if (out.verdict == LEAT_ESP_PASS) {
        p->changed |= leat_esp_rewritten(opcode) != 0;
        return ESP_EXECUTED;
    }
    p->words.control |= LEAT_ESP_FLAG_E;
    p->changed = 1;
    if (out.verdict == LEAT_ESP_LIMITED) return ESP_LIMITED;
    return out.verdict == LEAT_ESP_FULL ? ESP_FULL : ESP_ABORTED;
}

static inline uint32_t esp_loc(const struct esp_pass *p)
{
    const uint32_t loc = p->words.control >> LEAT_ESP_LOC_SHIFT;
    return loc ? loc : LEAT_ESP_LOC_CENTRE;
}

static inline enum esp_reason esp_input(struct esp_pass *p, struct esp_counts *counts)
{
    enum esp_reason reason = ESP_EXECUTED;
    if (p->words.opcode == LEAT_ESP_COLLECT) esp_know_children(&p->words);
    if (esp_loc(p) & LEAT_ESP_LOC_INPUT) reason = esp_run(p, ESP_STORE_INPUT + 2 * p->port, counts);
    if (reason == ESP_EXECUTED && esp_loc(p) & LEAT_ESP_LOC_CENTRE)
        reason = esp_run(p, ESP_STORE_CENTRE, counts);
    return reason;
}

/* out: the output port. A packet for the host has none, and no output store. */
static inline enum esp_reason esp_output(struct esp_pass *p, uint32_t out,
                                         struct esp_counts *counts)
{
    if (!(esp_loc(p) & LEAT_ESP_LOC_OUTPUT) || out >= ESP_PORTS_MAX) return ESP_EXECUTED;
    return esp_run(p, ESP_STORE_OUTPUT + 2 * out, counts);
}

/* ---- back into the frame ------------------------------------------------------------------ */

/*
 * spec/esp.md, "Holes", 7: IPv4 needs no checksum; for IPv6 it is recomputed. sum: of the octets
 * from the UDP header to the end of the datagram, two by two, including the old checksum.
 */
static inline bool esp_udp_seal(uint8_t *data, const uint8_t *end, const struct esp_place *at,
                                uint64_t sum)
{
    uint8_t *udp = data + (at->udp_at & ESP_HEAD_MASK), *ip = data + ESP_ETHERNET_LEN;
    if (ip + ESP_IPV6_LEN > end || udp + ESP_UDP_LEN > end) return false;
    sum += 0xffff - leat_get_be16(udp + ESP_UDP_SUM_AT); /* subtract the old one */
    leat_put_be16(udp + ESP_UDP_SUM_AT, 0);
    if (at->carriage != ESP_IPV6_UDP) return true;
    for (int i = 8; i < ESP_IPV6_LEN; i += 4)
        sum += leat_get_be32(ip + i);
    sum += ESP_UDP_LEN + at->packet_len + ESP_IP_UDP;
    const uint32_t folded = ~esp_sum_fold(sum) & 0xffff;
    leat_put_be16(udp + ESP_UDP_SUM_AT, (uint16_t)(folded ? folded : 0xffff));
    return true;
}

/*
 * A sender's kernel with checksum offload writes only the sum of the pseudo-header. On a real wire
 * the device completes it; on a veth nobody does, and the receiver's kernel would drop the packet,
 * which no longer counts as unfinished. (One in 65536 finished checksums looks like that;
 * recomputing it does no harm.)
 */
static inline bool esp_udp_is_unfinished(const uint8_t *data, const uint8_t *end,
                                         const struct esp_place *at)
{
    const uint8_t *udp = data + (at->udp_at & ESP_HEAD_MASK), *ip = data + ESP_ETHERNET_LEN;
    const uint32_t from = esp_is_ipv6(at) ? ESP_IPV6_FROM_AT : ESP_IPV4_FROM_AT,
                   to = esp_is_ipv6(at) ? ESP_IPV6_LEN : ESP_IPV4_LEN;
    uint64_t sum = ESP_UDP_LEN + at->packet_len + ESP_IP_UDP;
    if (!at->udp_at || ip + ESP_IPV6_LEN > end || udp + ESP_UDP_LEN > end) return false;
    for (uint32_t i = from; i < to; i += 4)
        sum += leat_get_be32(ip + i);
    return leat_get_be16(udp + ESP_UDP_SUM_AT) == esp_sum_fold(sum);
}

/*
 * Must the checksum of an outgoing frame be computed? `finishes`: the transmit path still knows
 * that it is unfinished and finishes it, whatever has changed.
 */
static inline bool esp_udp_wants_seal(const uint8_t *data, const uint8_t *end,
                                      const struct esp_pass *p, bool finishes)
{
    if (!p->at.udp_at) return false;
    const bool unfinished = esp_udp_is_unfinished(data, end, &p->at);
    return unfinished ? !finishes : p->changed != 0;
}

/* Writes back what has changed, and the CRC. False: impossible. */
static inline bool esp_write(uint8_t *data, const uint8_t *end, const struct esp_pass *p)
{
    return leat_esp_octets_write(data + (p->at.packet_at & ESP_HEAD_MASK), end, &p->words);
}

#endif
