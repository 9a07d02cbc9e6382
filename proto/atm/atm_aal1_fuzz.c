/*
 * Whatever decodes must encode to the same octets; and what the text shows must build them.
 */
#include "atm_aal1.h"
#include "atm_aal1_text.h"
#include <stdlib.h>
#include <string.h>

static void show_and_build(const uint8_t *octets)
{
    static uint8_t memory[8192];
    static char json[1024];
    uint8_t back[LEAT_ATM_AAL1_PDU_LEN];
    struct leat_arena arena;
    struct leat_text text;
    struct leat_fields f;
    struct leat_tree *tree;
    size_t at, len;

    leat_text_init(&text, json, sizeof json, NULL, NULL);
    leat_fields_init_json(&f, &text);
    if (leat_aal1_format.show(octets, LEAT_ATM_AAL1_PDU_LEN, &f, &at)) abort();
    if (leat_fields_finish(&f) || text.overflowed) abort();

    leat_arena_init(&arena, memory, sizeof memory);
    if (leat_tree_parse_json(&arena, json, text.len, &tree, &at)) abort();
    leat_fields_init_read(&f, tree, &arena);
    if (leat_aal1_format.build(&f, back, sizeof back, &len)) abort();
    if (leat_fields_finish(&f) || len != sizeof back) abort();
    if (memcmp(back, octets, sizeof back) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct leat_atm_aal1_pdu pdu;
    uint8_t back[LEAT_ATM_AAL1_PDU_LEN];

    if (leat_atm_aal1_pdu_decode(data, len, &pdu, NULL) != LEAT_ERR_OK) return 0;
    if (leat_atm_aal1_pdu_encode(&pdu, back, sizeof back) != LEAT_ERR_OK) abort();
    if (memcmp(back, data, sizeof back) != 0) abort();
    show_and_build(back);
    return 0;
}
