/* Property: whatever decodes, as it is or with its CRC corrected, encodes back to the same
 * octets. */
#include "aton_wire.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE_MAX = 4096 };

static void round_trip(const uint8_t *image, size_t len)
{
    struct leat_aton_packet packet;
    uint8_t back[IMAGE_MAX];
    size_t back_len, fault_at = 0, measured;

    if (leat_aton_packet_decode(image, len, &packet, &fault_at) != LEAT_ERR_OK) {
        if (fault_at > len) abort();
        return;
    }
    if (leat_aton_packet_measure(image, len, &measured, NULL) != LEAT_ERR_OK) abort();
    if (measured != len) abort();
    if (leat_aton_packet_encode(&packet, back, sizeof back, &back_len) != LEAT_ERR_OK) abort();
    if (back_len != len || memcmp(back, image, len) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t image[IMAGE_MAX];
    if (len > sizeof image) return 0;
    round_trip(data, len);
    if (len < LEAT_ATON_IMAGE_LEN_MIN) return 0;
    memcpy(image, data, len);
    image[0] &= LEAT_ATON_AC_CRC_MASK;
    image[len - 5] = 0;
    leat_put_be32(&image[len - 4], leat_crc32(0, image, len - 4));
    image[0] = data[0];
    image[len - 5] = data[len - 5];
    round_trip(image, len);
    return 0;
}
