#include "poets_instr.h"
#include "leat_bytes.h"

enum { WORD = 4 };

leat_err leat_poets_instr_decode(const uint8_t *payload, size_t len, struct leat_poets_instr *out,
                                 size_t *fault_at)
{
    if (len != LEAT_POETS_INSTR_LEN_MIN && len != LEAT_POETS_INSTR_LEN_MAX) {
        const size_t max = len < LEAT_POETS_INSTR_LEN_MAX ? len : LEAT_POETS_INSTR_LEN_MAX;
        if (fault_at) *fault_at = max;
        return len < LEAT_POETS_INSTR_LEN_MIN ? LEAT_ERR_SHORT : LEAT_ERR_LENGTH;
    }
    out->count = (unsigned)(len / WORD);
    for (unsigned i = 0; i < LEAT_POETS_INSTR_COUNT_MAX; i++)
        out->counter[i] = i < out->count ? leat_get_le32(payload + WORD * i) : 0;
    return LEAT_ERR_OK;
}

leat_err leat_poets_instr_encode(const struct leat_poets_instr *instr, uint8_t *payload, size_t cap,
                                 size_t *len)
{
    if (instr->count != LEAT_POETS_INSTR_COUNT_MIN && instr->count != LEAT_POETS_INSTR_COUNT_MAX)
        return LEAT_ERR_RANGE;
    if (cap < (size_t)WORD * instr->count) return LEAT_ERR_SPACE;
    for (unsigned i = 0; i < instr->count; i++)
        leat_put_le32(payload + WORD * i, instr->counter[i]);
    *len = (size_t)WORD * instr->count;
    return LEAT_ERR_OK;
}

const char *leat_poets_instr_name(unsigned counter)
{
    static const char *const name[] = {
#define X(id, text) [LEAT_POETS_INSTR_##id] = text,
        LEAT_POETS_INSTR_LIST(X)
#undef X
    };
    return counter < LEAT_POETS_INSTR_COUNT_MAX ? name[counter] : NULL;
}
