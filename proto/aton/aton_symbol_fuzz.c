/*
 * Property: an image that decodes (after its CRC is corrected) survives a trip round the ring; and
 * any symbols that decode, including the input itself, encode back to the same.
 */
#include "aton_symbol.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE_MAX = 1024, SYMBOLS_MAX = 16384 };

static uint8_t payload[IMAGE_MAX * 8], back[SYMBOLS_MAX];

static bool round_trip(const uint8_t *symbols, size_t count, struct leat_aton_frame *frame)
{
    size_t back_count, fault_at = 0;
    const leat_err err = leat_aton_frame_decode(symbols, count, payload, sizeof payload, frame,
                                                &fault_at);
    if (err && fault_at > count) abort();
    if (err) return false;
    if (leat_aton_frame_encode(frame, back, sizeof back, &back_count) != LEAT_ERR_OK) abort();
    if (back_count != count || memcmp(back, symbols, count) != 0) abort();
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t image[IMAGE_MAX], again[IMAGE_MAX], symbols[SYMBOLS_MAX];
    struct leat_aton_frame frame = { .error = 1 }, got;
    size_t count, again_len;

    (void)round_trip(data, len, &got);
    if (len < LEAT_ATON_IMAGE_LEN_MIN || len > sizeof image) return 0;
    memcpy(image, data, len);
    image[0] &= LEAT_ATON_AC_CRC_MASK;
    image[len - 5] = 0;
    leat_put_be32(&image[len - 4], leat_crc32(0, image, len - 4));
    if (leat_aton_packet_decode(image, len, &frame.packet, NULL) != LEAT_ERR_OK) return 0;

    if (leat_aton_frame_encode(&frame, symbols, sizeof symbols, &count) != LEAT_ERR_OK) abort();
    if (!round_trip(symbols, count, &got) || !got.error) abort();
    if (leat_aton_packet_encode(&got.packet, again, sizeof again, &again_len) != LEAT_ERR_OK)
        abort();
    if (again_len != len || memcmp(again, image, len) != 0) abort();

    /* One wrong symbol, its place and kind taken from the input. */
    symbols[data[1] * 7u % count] = data[2] % 5;
    (void)round_trip(symbols, count, &got);
    return 0;
}
