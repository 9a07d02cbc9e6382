/* Any serial image that is accepted encodes to the same octets, and its head tells its length. */
#include "aton_image.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t payload[LEAT_ATON_IMAGE_PAYLOAD_MAX], again[LEAT_ATON_IMAGE_SERIAL_MAX];
    struct leat_aton_frame frame;
    uint32_t crc;
    size_t measured = 0, encoded = 0, at = 0;
    const leat_err err = leat_aton_image_decode(data, len, payload, &frame, &crc, &at);
    if (err) {
        if (at > len) abort();
        return 0;
    }
    if (leat_aton_image_measure(data, len, &measured, NULL) || measured != len) abort();
    if (leat_aton_image_encode(&frame, again, sizeof again, &encoded)) abort();
    if (encoded != len || memcmp(again, data, len) != 0) abort();
    return 0;
}
