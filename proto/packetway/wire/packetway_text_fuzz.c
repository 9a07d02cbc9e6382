/*
 * Three properties. A message shown as JSON and read back is the message: octets differ only where
 * the new one has the zero of a pad (or a CRC over such pads), and from then on not at all. And
 * whatever a user writes as JSON is refused or gives a message that a strict destination accepts.
 * Lenient showing has the error of strict showing, and shows what is sound the same.
 */
#include "packetway_text.h"
#include "packetway_wire.h"
#include <stdlib.h>
#include <string.h>

enum { LEN_MAX = 4096, TEXT_MAX = 1 << 16, ARENA_MAX = 1 << 20 };
static uint8_t memory[ARENA_MAX];
static struct leat_packetway_message message;

/* The octets that JSON gives; 0 if it is refused. */
static size_t build(const char *text, size_t text_len, uint8_t built[LEN_MAX])
{
    struct leat_arena arena;
    struct leat_tree *root;
    struct leat_fields f;
    size_t len = 0, at;
    leat_arena_init(&arena, memory, sizeof memory);
    if (leat_tree_parse_json(&arena, text, text_len, &root, &at)) return 0;
    leat_fields_init_read(&f, root, &arena);
    if (leat_packetway_format.build(&f, built, LEN_MAX, &len)) return 0;
    return leat_fields_finish(&f) ? 0 : len;
}

/* Shows a message and builds it again; false if it is malformed. */
static bool rebuild(const uint8_t *data, size_t len, uint8_t built[LEN_MAX])
{
    static char json[TEXT_MAX];
    struct leat_text text;
    struct leat_fields f;
    size_t at = 0;
    leat_text_init(&text, json, sizeof json, NULL, NULL);
    leat_fields_init_json(&f, &text);
    if (leat_packetway_format.show(data, len, &f, &at)) return false;
    leat_fields_finish(&f);
    if (text.overflowed || build(json, text.len, built) != len) abort();
    return true;
}

static void check_lenient(const uint8_t *data, size_t len)
{
    static char shown[2][TEXT_MAX];
    struct leat_damages damages = { .count = 0 };
    struct leat_text text[2];
    size_t at[2] = { 0, 0 };
    leat_err err[2];
    for (unsigned lenient = 0; lenient < 2; lenient++) {
        struct leat_fields f;
        leat_text_init(&text[lenient], shown[lenient], TEXT_MAX, NULL, NULL);
        leat_fields_init_json(&f, &text[lenient]);
        err[lenient] = lenient ? leat_packetway_format.show_lenient(data, len, &f, &damages, &at[1])
                               : leat_packetway_format.show(data, len, &f, &at[0]);
        if (leat_fields_finish(&f)) abort();
    }
    if (err[0] != err[1] || at[0] != at[1] || (!err[0] && damages.count)) abort();
    if (damages.count && damages.item[0].err != err[0]) abort();
    if (damages.count) return;
    if (text[0].len != text[1].len || memcmp(shown[0], shown[1], text[0].len) != 0) abort();
}

static bool has_crc(const uint8_t *data, size_t len)
{
    if (leat_packetway_message_decode(data, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION,
                                      &message, NULL))
        abort();
    for (unsigned i = 0; i < message.oh_count; i++)
        if (message.oh[i].type >= LEAT_PACKETWAY_OH_CRC32_HERE &&
            message.oh[i].type <= LEAT_PACKETWAY_OH_CRC64_OT)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t once[LEN_MAX], twice[LEN_MAX];
    if (len > LEN_MAX) return 0;
    check_lenient(data, len);

    const size_t typed = build((const char *)data, len, once);
    if (typed) {
        if (!rebuild(once, typed, twice) || memcmp(once, twice, typed) != 0) abort();
        return 0;
    }
    if (!rebuild(data, len, once)) return 0;
    if (!rebuild(once, len, twice) || memcmp(once, twice, len) != 0) abort();
    if (has_crc(data, len)) return 0;
    for (size_t i = 0; i < len; i++)
        if (once[i] != data[i] && once[i] != 0) abort();
    return 0;
}
