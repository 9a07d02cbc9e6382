/*
 * The serial image in octets: a frame as it is on the ring (aton_symbol.h), four symbols in each
 * octet, for files and captures (spec/aton.md, "Packet").
 *
 *     symbol   0  1  J  K        SD = J K 0 J  K 0 0 0     octets 0xB2 0xC0
 *     bits    00 01 10 11        the first symbol is in the highest bits
 *
 * The head alone tells the length. After ED the last octet is filled up with 0, the idle symbol. At
 * most LEAT_ATON_IMAGE_SYMBOLS_MAX symbols: longer packets have only an octet image.
 */
#ifndef LEAT_ATON_IMAGE_H
#define LEAT_ATON_IMAGE_H

#include "aton_symbol.h"

enum {
    LEAT_ATON_IMAGE_SYMBOLS_MAX = 65536,
    LEAT_ATON_IMAGE_SERIAL_MAX = LEAT_ATON_IMAGE_SYMBOLS_MAX / 4,  /* octets */
    LEAT_ATON_IMAGE_PAYLOAD_MAX = LEAT_ATON_IMAGE_SYMBOLS_MAX / 8, /* of a frame in it */
};

/* The length of the image that begins here, by its head alone. Errors are those of
 * leat_aton_frame_decode; LENGTH: too many symbols. */
leat_err leat_aton_image_measure(const uint8_t *octets, size_t len, size_t *image_len,
                                 size_t *fault_at);

/*
 * One image of exactly `len` octets. payload: LEAT_ATON_IMAGE_PAYLOAD_MAX octets, lent to
 * out->packet. *crc is the CRC as sent, 0 of a token. On error *out is untouched. RESERVED: a
 * symbol behind ED is not 0.
 */
leat_err leat_aton_image_decode(const uint8_t *octets, size_t len, uint8_t *payload,
                                struct leat_aton_frame *out, uint32_t *crc, size_t *fault_at);

/* Writes *len octets. SPACE: too many symbols, or for `cap`. */
leat_err leat_aton_image_encode(const struct leat_aton_frame *frame, uint8_t *octets, size_t cap,
                                size_t *len);

#endif
