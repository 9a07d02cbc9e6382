/*
 * The first octet picks the format and the direction.
 *   A packet: what is shown as JSON builds a packet that is shown as the same JSON.
 *   A text: whatever it builds is a valid packet.
 */
#include "atm_text.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static alignas(max_align_t) uint8_t memory[1 << 16];
static uint8_t packet[1 << 16];
static struct leat_fields fields;

static leat_err show(const struct leat_format *format, const uint8_t *octets, size_t len,
                     char *text, size_t cap, size_t *text_len)
{
    struct leat_text out;
    leat_text_init(&out, text, cap, NULL, NULL);
    leat_fields_init_json(&fields, &out);
    const leat_err err = format->show(octets, len, &fields, NULL);
    leat_fields_finish(&fields);
    if (out.overflowed) abort();
    *text_len = out.len;
    return err;
}

static leat_err build(const struct leat_format *format, const char *text, size_t text_len,
                      size_t *len)
{
    struct leat_arena arena;
    struct leat_tree *tree = NULL;
    leat_arena_init(&arena, memory, sizeof memory);
    leat_err err = leat_tree_parse_json(&arena, text, text_len, &tree, NULL);
    if (err) return err;
    leat_fields_init_read(&fields, tree, &arena);
    err = format->build(&fields, packet, sizeof packet, len);
    const leat_err finish = leat_fields_finish(&fields);
    return err ? err : finish;
}

/* PAD and unused octets may differ, and with them the CRC, which is the last field. */
static size_t len_before_crc(const char *text, size_t len)
{
    while (len > 0 && memcmp(text + len - 1, "\"crc\":", 6) != 0)
        len--;
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct leat_format *const formats[] = { &leat_aal34_format, &leat_aal5_format,
                                                         &leat_atmtask_format };
    static char first[1 << 16], second[1 << 16];
    size_t first_len = 0, second_len = 0, packet_len = 0;
    if (len < 1) return 0;
    const struct leat_format *format = formats[(data[0] & 15) % 3];
    const bool is_text = data[0] & 16;
    data++, len--;

    if (is_text) {
        if (build(format, (const char *)data, len, &packet_len) != LEAT_ERR_OK) return 0;
        if (show(format, packet, packet_len, first, sizeof first, &first_len) != LEAT_ERR_OK)
            abort();
    } else if (show(format, data, len, first, sizeof first, &first_len) != LEAT_ERR_OK) {
        return 0;
    }
    if (build(format, first, first_len, &packet_len) != LEAT_ERR_OK) abort();
    if (show(format, packet, packet_len, second, sizeof second, &second_len) != LEAT_ERR_OK)
        abort();
    const size_t same_len = len_before_crc(first, first_len);
    if (same_len == 0 || len_before_crc(second, second_len) != same_len) abort();
    if (memcmp(first, second, same_len) != 0) abort();
    return 0;
}
