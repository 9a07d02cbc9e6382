/*
 * The JSON of every packet that decodes builds the same octets again, and the frame around a packet
 * is rebuilt from what unframe showed. A packet that does not decode shows nothing.
 */
#include "poets_text.h"
#include "poets_wire.h"
#include <stdlib.h>
#include <string.h>

static char text[4096];
static uint8_t memory[16384];

static void begin_show(struct leat_fields *f, struct leat_text *out)
{
    leat_text_init(out, text, sizeof text, NULL, NULL);
    leat_fields_init_json(f, out);
}

static void begin_read(struct leat_fields *f, struct leat_arena *arena, size_t text_len)
{
    struct leat_tree *tree;
    leat_arena_init(arena, memory, sizeof memory);
    if (leat_tree_parse_json(arena, text, text_len, &tree, NULL)) abort();
    leat_fields_init_read(f, tree, arena);
}

static void try_packet(const uint8_t *data, size_t len)
{
    struct leat_text out;
    struct leat_fields f;
    struct leat_arena arena;
    uint8_t back[LEAT_POETS_PACKET_LEN_MAX];
    size_t back_len = 0, at = 0;

    begin_show(&f, &out);
    const leat_err err = leat_poets_format.show(data, len, &f, &at);
    if (leat_fields_finish(&f) || out.overflowed) abort();
    if (err) {
        if (out.len != 2 || at > len) abort(); /* {} */
        return;
    }
    begin_read(&f, &arena, out.len);
    if (leat_poets_format.build(&f, back, sizeof back, &back_len)) abort();
    if (leat_fields_finish(&f)) abort();
    if (back_len != len || memcmp(back, data, len) != 0) abort();
}

static void try_frame(const uint8_t *data, size_t len)
{
    struct leat_text out;
    struct leat_fields f;
    struct leat_arena arena;
    uint8_t back[LEAT_POETS_CARRIAGE_LEN + LEAT_POETS_PACKET_LEN_MAX];
    size_t back_len = 0, at = 0, packet_len = 0;

    begin_show(&f, &out);
    size_t fault = 0;
    const leat_err err = leat_poets_format.framing->unframe(data, len, &f, &at, &packet_len,
                                                            &fault);
    if (leat_fields_finish(&f) || err) return;
    if (at > len || packet_len > len - at) abort();
    begin_read(&f, &arena, out.len);
    if (leat_poets_format.framing->frame(&f, data + at, packet_len, back, sizeof back, &back_len)) {
        if (packet_len <= LEAT_POETS_PACKET_LEN_MAX) abort();
        return;
    }
    if (leat_fields_finish(&f)) abort();
    if (back_len != at + packet_len || memcmp(back, data, back_len) != 0) abort();
    try_packet(data + at, packet_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try_packet(data, len);
    try_frame(data, len);
    return 0;
}
