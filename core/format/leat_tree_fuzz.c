/* Any text that parses is a tree whose strings lie in the text or the arena, and stays so. */
#include "leat_tree.h"
#include <stdalign.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static size_t walk(const struct leat_tree *node)
{
    size_t sum = node->text_len + node->key_len;
    for (size_t i = 0; i < node->text_len; i++)
        sum += (unsigned char)node->text[i];
    const struct leat_tree *last = NULL;
    for (const struct leat_tree *c = node->child; c; c = c->next) {
        sum += walk(c);
        last = c;
    }
    if (last != node->last) abort();
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static alignas(max_align_t) uint8_t memory[1 << 16];
    struct leat_arena arena;
    struct leat_tree *root = NULL;
    size_t at = 0;
    const char *text = (const char *)data;
    leat_arena_init(&arena, memory, sizeof memory);
    const leat_err err = leat_tree_parse_json(&arena, text, len, &root, &at);
    if (err ? root || at > len : !root) abort();
    if (root) walk(root);
    if (leat_tree_json_extent(text, len) > len) abort();

    leat_arena_init(&arena, memory, sizeof memory);
    root = leat_tree_new(&arena, LEAT_TREE_OBJECT);
    leat_tree_add_pair(&arena, root, text, len / 2);
    leat_tree_add_pair(&arena, root, text + len / 2, len - len / 2);
    walk(root);
    return 0;
}
