/* A cell that can be shown is built again from what was shown, octet for octet. */
#include "atm_oam.h"
#include "atm_seal.h"
#include "atm_text.h"
#include "atm_wire.h"
#include "leat_crc.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static void try_cell(const uint8_t *cell, size_t len)
{
    static alignas(max_align_t) uint8_t memory[16384];
    static char json[4096];
    static struct leat_fields f;
    struct leat_text text;
    struct leat_arena arena;
    struct leat_tree *tree;
    uint8_t back[LEAT_ATM_CELL_LEN];
    size_t at = len + 1, back_len = 0;

    leat_text_init(&text, json, sizeof json, NULL, NULL);
    leat_fields_init_json(&f, &text);
    if (leat_atm_format.show(cell, len, &f, &at) != LEAT_ERR_OK) {
        if (at > len) abort();
        return;
    }
    if (leat_fields_finish(&f) != LEAT_ERR_OK || text.overflowed) abort();
    leat_arena_init(&arena, memory, sizeof memory);
    if (leat_tree_parse_json(&arena, json, text.len, &tree, NULL) != LEAT_ERR_OK) abort();
    leat_fields_init_read(&f, tree, &arena);
    if (leat_atm_format.build(&f, back, sizeof back, &back_len) != LEAT_ERR_OK) abort();
    if (leat_fields_finish(&f) != LEAT_ERR_OK) abort();
    if (back_len != len || memcmp(cell, back, len) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try_cell(data, len);
    if (len == LEAT_ATM_CELL_LEN) {
        uint8_t cell[LEAT_ATM_CELL_LEN];
        memcpy(cell, data, sizeof cell);
        cell[LEAT_ATM_HEADER_LEN - 1] = leat_crc_hec(cell);
        try_cell(cell, sizeof cell);
        leat_atm_payload_seal(cell + LEAT_ATM_HEADER_LEN, 0);
        try_cell(cell, sizeof cell);
    }
    return 0;
}
