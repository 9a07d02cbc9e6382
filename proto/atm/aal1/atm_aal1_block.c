#include "atm_aal1_block.h"
#include <assert.h>

enum { SC_LAST_CHANCE = 6 };

struct leat_atm_aal1_block leat_atm_aal1_block_at_start(uint32_t block_len)
{
    assert(block_len <= LEAT_ATM_AAL1_BLOCK_LEN_MAX);
    return (struct leat_atm_aal1_block){ .block_len = block_len };
}

bool leat_atm_aal1_block_has_pointers(const struct leat_atm_aal1_block *block)
{
    return block->block_len > 1;
}

bool leat_atm_aal1_block_pointer(struct leat_atm_aal1_block *block, uint8_t sc, uint8_t *pointer)
{
    if (sc == 0) block->pointed = false;
    if (!leat_atm_aal1_block_has_pointers(block) || sc % 2 != 0 || block->pointed) return false;

    const bool in_reach = block->until < LEAT_ATM_AAL1_POINTER_MAX;
    if (!in_reach && sc != SC_LAST_CHANCE) return false;
    *pointer = block->until <= LEAT_ATM_AAL1_POINTER_MAX ? (uint8_t)block->until
                                                         : LEAT_ATM_AAL1_POINTER_NONE;
    block->pointed = true;
    return true;
}

size_t leat_atm_aal1_block_advance(struct leat_atm_aal1_block *block, size_t len)
{
    if (block->block_len == 0 || block->until >= len) {
        if (block->block_len != 0) block->until -= (uint32_t)len;
        return len;
    }
    const size_t first = block->until;
    const size_t into = (len - first) % block->block_len; /* octets of the block still open */
    block->until = into == 0 ? 0 : block->block_len - (uint32_t)into;
    return first;
}
