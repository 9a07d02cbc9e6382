/* For the fuzz targets: the text shown for a packet builds it again, octet for octet. */
#ifndef LEAT_ATM_REBUILD_TEST_H
#define LEAT_ATM_REBUILD_TEST_H

#include "leat_format.h"
#include <leat/atm.h>
#include <stdlib.h>
#include <string.h>

/* False: it is malformed, and nothing was shown. */
static inline bool shown_and_rebuilt(const struct leat_format *format, const uint8_t *octets,
                                     size_t len)
{
    static uint8_t memory[16384];
    static char json[4096];
    static struct leat_fields f;
    struct leat_text text;
    struct leat_arena arena;
    struct leat_tree *tree;
    uint8_t back[LEAT_ATM_CELL_LEN];
    size_t at = len + 1, back_len = 0;

    leat_text_init(&text, json, sizeof json, NULL, NULL);
    leat_fields_init_json(&f, &text);
    const size_t before = text.len;
    if (format->show(octets, len, &f, &at) != LEAT_ERR_OK) {
        if (at > len || text.len != before) abort();
        return false;
    }
    if (leat_fields_finish(&f) != LEAT_ERR_OK || text.overflowed) abort();
    leat_arena_init(&arena, memory, sizeof memory);
    if (leat_tree_parse_json(&arena, json, text.len, &tree, NULL) != LEAT_ERR_OK) abort();
    leat_fields_init_read(&f, tree, &arena);
    if (format->build(&f, back, len, &back_len) != LEAT_ERR_OK) abort();
    if (leat_fields_finish(&f) != LEAT_ERR_OK) abort();
    if (back_len != len || memcmp(octets, back, len) != 0) abort();
    return true;
}

#endif
