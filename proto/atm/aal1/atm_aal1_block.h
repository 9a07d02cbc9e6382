/*
 * Where the blocks of a structured AAL1 stream start, and which SAR-PDUs point at them (I.363.1,
 * structured data transfer). Sender and receiver follow the same rule, so a receiver knows whether
 * a pointer took an octet, even of a lost SAR-PDU.
 *
 * A cycle is the eight SAR-PDUs of SC 0..7; exactly one of them, of an even SC, has a pointer:
 *   - the first with a block start within reach: 0..92 octets after the pointer;
 *   - if there is none, SC = 6: with 93 if a block starts with the next cycle, else with 127.
 * Blocks of one octet need no pointers and a stream without blocks (block_len 0) has none.
 *
 * `leat sim --circuits` uses it; no public header has it, and its tests hold it to the note.
 */
#ifndef LEAT_ATM_AAL1_BLOCK_H
#define LEAT_ATM_AAL1_BLOCK_H

#include "atm_aal1.h"

enum { LEAT_ATM_AAL1_BLOCK_LEN_MAX = 65535 };

/* The place in the stream. */
struct leat_atm_aal1_block {
    uint32_t block_len; /* 0: no structure; at most LEAT_ATM_AAL1_BLOCK_LEN_MAX */
    uint32_t until;     /* octets before the next block starts: 0..block_len-1 */
    bool pointed;       /* this cycle has had its pointer */
};

/* At the first octet of a block, in a new cycle. */
struct leat_atm_aal1_block leat_atm_aal1_block_at_start(uint32_t block_len);

/* Does this stream have pointers at all? */
bool leat_atm_aal1_block_has_pointers(const struct leat_atm_aal1_block *block);

/* Before each SAR-PDU, in order: is it in the P format, and with which pointer? */
bool leat_atm_aal1_block_pointer(struct leat_atm_aal1_block *block, uint8_t sc, uint8_t *pointer);

/*
 * After each payload of `len` octets. Returns the offset in it at which the first block starts, or
 * `len` if none does; the next ones follow every block_len octets.
 */
size_t leat_atm_aal1_block_advance(struct leat_atm_aal1_block *block, size_t len);

#endif
