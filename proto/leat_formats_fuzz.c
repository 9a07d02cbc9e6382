/*
 * The first octet chooses a format. Property: what can be shown can be built, and the built octets
 * are shown and built to themselves (the first ones need not be: padding may hold anything, under
 * its checksum). The same octets, taken as JSON, are refused or built to a valid packet.
 */
#include "leat_format.h"
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
    static char text[1 << 16];
    static uint8_t once[1 << 16], twice[1 << 16];
    struct leat_text t;
    size_t once_len = 0, twice_len = 0;
    if (!len) return 0;
    const struct leat_format *format = leat_format_at(data[0] % 17);
    leat_text_init(&t, text, sizeof text, NULL, NULL);
    if (show(format, data + 1, len - 1, &t) == LEAT_ERR_OK) {
        if (build(format, text, t.len, once, sizeof once, &once_len)) abort();
        leat_text_init(&t, text, sizeof text, NULL, NULL);
        if (show(format, once, once_len, &t)) abort();
        if (build(format, text, t.len, twice, sizeof twice, &twice_len)) abort();
        if (once_len != twice_len || memcmp(once, twice, once_len) != 0) abort();
    }
    const char *json = (const char *)data + 1;
    const leat_err err = build(format, json, len - 1, once, sizeof once, &once_len);
    leat_text_init(&t, text, sizeof text, NULL, NULL);
    if (!err && show(format, once, once_len, &t)) abort();
    return 0;
}
