/*
 * Whatever decodes must encode to octets of the same meaning, canonical ones to themselves; and
 * what the text shows must build the same octets.
 */
#include "atm_aal2.h"
#include "atm_aal2_text.h"
#include <stdlib.h>
#include <string.h>

static void show_and_build(const uint8_t *octets)
{
    static uint8_t memory[8192];
    static char json[1024];
    uint8_t back[LEAT_ATM_AAL2_PDU_LEN];
    struct leat_arena arena;
    struct leat_text text;
    struct leat_fields f;
    struct leat_tree *tree;
    size_t at, len;

    leat_text_init(&text, json, sizeof json, NULL, NULL);
    leat_fields_init_json(&f, &text);
    if (leat_aal2_format.show(octets, LEAT_ATM_AAL2_PDU_LEN, &f, &at)) abort();
    if (leat_fields_finish(&f) || text.overflowed) abort();

    leat_arena_init(&arena, memory, sizeof memory);
    if (leat_tree_parse_json(&arena, json, text.len, &tree, &at)) abort();
    leat_fields_init_read(&f, tree, &arena);
    if (leat_aal2_format.build(&f, back, sizeof back, &len)) abort();
    if (leat_fields_finish(&f) || len != sizeof back) abort();
    if (memcmp(back, octets, sizeof back) != 0) abort();
}

/* Zeros behind LI. */
static bool is_canonical(const uint8_t *octets, size_t li)
{
    for (size_t i = 1 + li; i < 1 + LEAT_ATM_AAL2_PAYLOAD_LEN; i++)
        if (octets[i] != 0) return false;
    return true;
}

/* No fuzzer guesses a CRC: divide 374 bits by the generator, put the rest behind them. */
static void seal(uint8_t octets[LEAT_ATM_AAL2_PDU_LEN])
{
    unsigned rest = 0;
    for (unsigned bit = 0; bit < 374 + 10; bit++) {
        rest = rest << 1 | (bit < 374 ? (unsigned)octets[bit / 8] >> (7 - bit % 8) & 1u : 0);
        if (rest & 0x400) rest ^= 0x633;
    }
    octets[46] = (uint8_t)((octets[46] & 0xfcu) | rest >> 8);
    octets[47] = (uint8_t)rest;
}

static void check(const uint8_t *data, size_t len)
{
    struct leat_atm_aal2_pdu pdu, again;
    uint8_t back[LEAT_ATM_AAL2_PDU_LEN];

    if (leat_atm_aal2_pdu_decode(data, len, &pdu, NULL) != LEAT_ERR_OK) return;
    if (leat_atm_aal2_pdu_encode(&pdu, back, sizeof back) != LEAT_ERR_OK) abort();
    if (leat_atm_aal2_pdu_decode(back, sizeof back, &again, NULL) != LEAT_ERR_OK) abort();
    if (pdu.sn != again.sn || pdu.it != again.it || pdu.li != again.li) abort();
    if (memcmp(pdu.payload, again.payload, sizeof pdu.payload) != 0) abort();
    if (is_canonical(data, pdu.li) && memcmp(back, data, sizeof back) != 0) abort();
    show_and_build(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t sealed[LEAT_ATM_AAL2_PDU_LEN];

    check(data, len);
    if (len < sizeof sealed) return 0;
    memcpy(sealed, data, sizeof sealed);
    seal(sealed);
    check(sealed, sizeof sealed);
    return 0;
}
