#include "aton_image.h"
#include "leat_err.h"
#include <string.h>

enum {
    PER_OCTET = 4,
    HEAD_SYMBOLS_MAX = 208, /* to the end of Variable-2, the longest head */
    CRC_FROM_END = 40,      /* symbols */
    CRC_SYMBOLS = 32,
};

static void unpack(const uint8_t *octets, size_t count, uint8_t *symbols)
{
    for (size_t i = 0; i < count; i++)
        symbols[i] = octets[i / PER_OCTET] >> (6 - 2 * (i % PER_OCTET)) & 3;
}

static leat_err blame(leat_err err, size_t symbol_at, size_t *fault_at)
{
    return leat_fault(err, symbol_at / PER_OCTET, fault_at);
}

/* Symbols of the frame that begins here; the image may end before it does. */
static leat_err count_symbols(const uint8_t *octets, size_t len, size_t *count, size_t *fault_at)
{
    uint8_t head[HEAD_SYMBOLS_MAX];
    size_t at = 0;
    const size_t most = sizeof head / PER_OCTET, there = len < most ? len : most;
    unpack(octets, there * PER_OCTET, head);
    const leat_err err = leat_aton_frame_length(head, there * PER_OCTET, count, &at);
    if (err) return blame(err, at, fault_at);
    return *count > LEAT_ATON_IMAGE_SYMBOLS_MAX ? leat_fault(LEAT_ERR_LENGTH, 0, fault_at)
                                                : LEAT_ERR_OK;
}

leat_err leat_aton_image_measure(const uint8_t *octets, size_t len, size_t *image_len,
                                 size_t *fault_at)
{
    size_t count;
    const leat_err err = count_symbols(octets, len, &count, fault_at);
    if (!err) *image_len = (count + PER_OCTET - 1) / PER_OCTET;
    return err;
}

static uint32_t crc_of(const uint8_t *symbols, size_t count)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < CRC_SYMBOLS; i++)
        crc |= (uint32_t)symbols[count - CRC_FROM_END + i] << i;
    return crc;
}

leat_err leat_aton_image_decode(const uint8_t *octets, size_t len, uint8_t *payload,
                                struct leat_aton_frame *out, uint32_t *crc, size_t *fault_at)
{
    uint8_t symbols[LEAT_ATON_IMAGE_SYMBOLS_MAX];
    size_t count, at = 0;
    leat_err err = count_symbols(octets, len, &count, fault_at);
    if (err) return err;
    const size_t image_len = (count + PER_OCTET - 1) / PER_OCTET;
    if (len < image_len) return leat_fault(LEAT_ERR_SHORT, len, fault_at);
    if (len > image_len) return leat_fault(LEAT_ERR_LENGTH, image_len, fault_at);
    unpack(octets, image_len * PER_OCTET, symbols);
    for (size_t i = count; i < image_len * PER_OCTET; i++)
        if (symbols[i]) return blame(LEAT_ERR_RESERVED, i, fault_at);
    struct leat_aton_frame frame;
    err = leat_aton_frame_decode(symbols, count, payload, LEAT_ATON_IMAGE_PAYLOAD_MAX, &frame, &at);
    if (err) return blame(err, at, fault_at);
    *out = frame;
    *crc = frame.packet.token ? 0 : crc_of(symbols, count);
    return LEAT_ERR_OK;
}

leat_err leat_aton_image_encode(const struct leat_aton_frame *frame, uint8_t *octets, size_t cap,
                                size_t *len)
{
    uint8_t symbols[LEAT_ATON_IMAGE_SYMBOLS_MAX];
    size_t count;
    const leat_err err = leat_aton_frame_encode(frame, symbols, sizeof symbols, &count);
    if (err) return err;
    const size_t image_len = (count + PER_OCTET - 1) / PER_OCTET;
    if (cap < image_len) return LEAT_ERR_SPACE;
    memset(octets, 0, image_len);
    for (size_t i = 0; i < count; i++)
        octets[i / PER_OCTET] |= (uint8_t)(symbols[i] << (6 - 2 * (i % PER_OCTET)));
    *len = image_len;
    return LEAT_ERR_OK;
}
