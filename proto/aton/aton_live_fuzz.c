/* Property: what decodes, after its CRC and then its MAC are corrected, encodes back to the same
 * octets. */
#include "aton_live.h"
#include "leat_bytes.h"
#include <leat/crc.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_MAX = 1024, IMAGE_AT = LEAT_ATON_LIVE_HEADER_LEN };

static const uint8_t key[LEAT_ATON_KEY_LEN] = "leat live ring.";

static void round_trip(const uint8_t *frame, size_t len, const uint8_t *with_key)
{
    struct leat_aton_live live;
    uint8_t back[FRAME_MAX];
    size_t back_len, fault_at = 0;

    if (leat_aton_live_decode(frame, len, with_key, &live, &fault_at) != LEAT_ERR_OK) {
        if (fault_at > len) abort();
        return;
    }
    if (leat_aton_live_encode(&live, with_key, back, sizeof back, &back_len) != LEAT_ERR_OK)
        abort();
    if (back_len > len || memcmp(back, frame, back_len) != 0) abort(); /* the rest is padding */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t frame[FRAME_MAX] = { 0 };
    size_t image_len;
    if (len > sizeof frame - LEAT_ATON_MAC_LEN || len < IMAGE_AT) return 0;
    round_trip(data, len, NULL);
    round_trip(data, len, key);

    memcpy(frame, data, len);
    uint8_t *image = frame + IMAGE_AT;
    if (leat_aton_packet_measure(image, len - IMAGE_AT, &image_len, NULL) != LEAT_ERR_OK) return 0;
    if (image_len > len - IMAGE_AT) return 0;
    const uint8_t ac = image[0];
    image[0] &= LEAT_ATON_AC_CRC_MASK;
    image[image_len - 5] = 0;
    leat_put_be32(image + image_len - 4, leat_crc32(0, image, image_len - 4));
    image[0] = ac;
    round_trip(frame, len, NULL);
    leat_put_be64(image + image_len, leat_aton_live_mac(key, frame, IMAGE_AT + image_len));
    round_trip(frame, IMAGE_AT + image_len + LEAT_ATON_MAC_LEN, key);
    return 0;
}
