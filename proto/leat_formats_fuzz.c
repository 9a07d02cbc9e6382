/*
 * The first octet chooses a format. What is shown can be built again, and the second showing is
 * the first; what a user writes (the same octets taken as JSON) is built or refused.
 */
#include "leat_formats.h"
#include <stdalign.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct leat_fields f;
static alignas(max_align_t) uint8_t memory[1 << 20];

static leat_err show(const struct leat_format *format, const uint8_t *p, size_t len,
                     struct leat_text *text)
{
    size_t fault_at = 0;
    leat_fields_init_json(&f, text);
    const leat_err err = format->show(p, len, &f, &fault_at);
    if (err && fault_at > len) abort();
    if (!err) leat_fields_finish(&f);
    return err;
}

static leat_err build(const struct leat_format *format, const char *json, size_t json_len,
                      uint8_t *out, size_t cap, size_t *len)
{
    struct leat_arena arena;
    struct leat_tree *root = NULL;
    leat_arena_init(&arena, memory, sizeof memory);
    leat_err err = leat_tree_parse_json(&arena, json, json_len, &root, NULL);
    if (err) return err;
    leat_fields_init_read(&f, root, &arena);
    err = format->build(&f, out, cap, len);
    const leat_err read_err = leat_fields_finish(&f);
    return read_err ? read_err : err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static char first[1 << 16], second[1 << 16];
    static uint8_t octets[1 << 16];
    struct leat_text a, b;
    size_t built_len = 0;
    if (!len) return 0;
    const struct leat_format *format = leat_format_at(data[0] % 10);
    leat_text_init(&a, first, sizeof first, NULL, NULL);
    leat_text_init(&b, second, sizeof second, NULL, NULL);
    if (show(format, data + 1, len - 1, &a) == LEAT_ERR_OK) {
        if (build(format, first, a.len, octets, sizeof octets, &built_len)) abort();
        if (show(format, octets, built_len, &b)) abort();
        if (a.len != b.len || memcmp(first, second, a.len) != 0) abort();
    }
    const leat_err err = build(format, (const char *)data + 1, len - 1, octets, sizeof octets,
                               &built_len);
    leat_text_init(&a, first, sizeof first, NULL, NULL);
    if (!err && show(format, octets, built_len, &a)) abort();
    return 0;
}
