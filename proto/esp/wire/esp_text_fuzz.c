/*
 * The input is a user's JSON. Whatever builds a packet is a valid packet, and showing that packet
 * as JSON and building it again gives the same octets.
 */
#include "esp_query.h"
#include "esp_text.h"
#include <stdlib.h>
#include <string.h>

enum { ARENA_LEN = 1 << 16, TEXT_LEN = 8192 };

static leat_err build(const char *json, size_t json_len, uint8_t *octets, size_t *len)
{
    static _Alignas(max_align_t) unsigned char memory[ARENA_LEN];
    static struct leat_fields f;
    struct leat_arena arena;
    struct leat_tree *tree = NULL;
    leat_arena_init(&arena, memory, sizeof memory);
    const leat_err err = leat_tree_parse_json(&arena, json, json_len, &tree, NULL);
    if (err) return err;
    leat_fields_init_read(&f, tree, &arena);
    const leat_err built = leat_esp_format.build(&f, octets, LEAT_ESP_MANAGEMENT_LEN_MAX, len);
    const leat_err read = leat_fields_finish(&f);
    return read ? read : built;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct leat_fields f;
    uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX], back[LEAT_ESP_MANAGEMENT_LEN_MAX];
    size_t octets_len = 0, back_len = 0;

    if (build((const char *)data, len, octets, &octets_len) != LEAT_ERR_OK) return 0;
    struct leat_text out = LEAT_TEXT(TEXT_LEN);
    leat_fields_init_json(&f, &out);
    if (leat_esp_format.show(octets, octets_len, &f, NULL) != LEAT_ERR_OK) abort();
    if (leat_fields_finish(&f) != LEAT_ERR_OK || out.overflowed) abort();
    if (build(out.buf, out.len, back, &back_len) != LEAT_ERR_OK) abort();
    if (back_len != octets_len || memcmp(back, octets, octets_len) != 0) abort();
    return 0;
}
