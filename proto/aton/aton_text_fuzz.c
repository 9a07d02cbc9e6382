/*
 * Property: what is shown as JSON builds the same octets; the input itself, read as JSON, builds a
 * packet that decodes, or nothing.
 */
#include "aton_text.h"
#include "aton_wire.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE_MAX = 1 << 14, TEXT_MAX = 1 << 16, ARENA_MAX = 1 << 18 };

static uint8_t memory[ARENA_MAX], built[IMAGE_MAX];

static leat_err build(const char *text, size_t len, size_t *built_len)
{
    struct leat_arena arena;
    struct leat_tree *root;
    struct leat_fields f;
    leat_arena_init(&arena, memory, sizeof memory);
    leat_err err = leat_tree_parse_json(&arena, text, len, &root, NULL);
    if (err) return err;
    leat_fields_init_read(&f, root, &arena);
    err = leat_aton_format.build(&f, built, sizeof built, built_len);
    return err ? err : leat_fields_finish(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t image[IMAGE_MAX];
    static char shown[TEXT_MAX];
    struct leat_aton_packet packet;
    struct leat_text text;
    struct leat_fields f;
    size_t built_len, fault_at;

    if (len > 1024) return 0;
    if (build((const char *)data, len, &built_len) == LEAT_ERR_OK &&
        leat_aton_packet_decode(built, built_len, &packet, NULL) != LEAT_ERR_OK)
        abort();

    if (len < LEAT_ATON_IMAGE_LEN_MIN) return 0;
    memcpy(image, data, len);
    image[0] &= LEAT_ATON_AC_CRC_MASK;
    image[len - 5] = 0;
    leat_put_be32(&image[len - 4], leat_crc32(0, image, len - 4));
    image[len - 5] = data[len - 5];
    leat_text_init(&text, shown, sizeof shown, NULL, NULL);
    leat_fields_init_json(&f, &text);
    if (leat_aton_format.show(image, len, &f, &fault_at) != LEAT_ERR_OK) return 0;
    if (leat_fields_finish(&f) != LEAT_ERR_OK || text.overflowed) abort();
    if (build(shown, text.len, &built_len) != LEAT_ERR_OK) abort();
    if (built_len != len || memcmp(built, image, len) != 0) abort();
    return 0;
}
