/*
 * What a strict destination accepts is accepted leniently and by a router too, can be written, and
 * is then read and written as the same octets. Whatever is accepted can be walked to its end.
 */
#include "packetway_wire.h"
#include <stdlib.h>
#include <string.h>

enum { LEN_MAX = 4096 };

static size_t walk(struct leat_packetway_records records)
{
    struct leat_packetway_record r;
    size_t seen = 0;
    while (leat_packetway_records_next(&records, &r)) {
        struct leat_packetway_addresses addresses;
        struct leat_packetway_address address;
        struct leat_packetway_route route;
        struct leat_packetway_leading l2rh;
        const uint8_t *octets;
        size_t len = 0;
        seen++;
        switch (r.type) {
        case LEAT_PACKETWAY_RTYP_ADDR:
            address = leat_packetway_record_address(&r);
            if (leat_packetway_address_check(&address, false)) abort();
            seen += walk(leat_packetway_record_nested(&r));
            break;
        case LEAT_PACKETWAY_RTYP_RTHD: seen += walk(leat_packetway_record_nested(&r)); break;
        case LEAT_PACKETWAY_RTYP_NAME:
            octets = leat_packetway_record_name(&r, &len);
            if (len == 0 || octets + len > r.octets + r.len) abort();
            break;
        case LEAT_PACKETWAY_RTYP_CAPA:
            if (leat_packetway_record_capability(&r, &octets, &len) == 0) abort();
            if (octets + len > r.octets + r.len) abort();
            break;
        case LEAT_PACKETWAY_RTYP_LADR:
        case LEAT_PACKETWAY_RTYP_RCVF:
            addresses = leat_packetway_record_addresses(&r);
            while (leat_packetway_addresses_next(&addresses, &address))
                len++;
            if (len == 0) abort();
            break;
        case LEAT_PACKETWAY_RTYP_SRQR:
            route = leat_packetway_record_route(&r);
            while (leat_packetway_route_next(&route, &l2rh))
                len++;
            if (len > LEAT_PACKETWAY_SRQR_MAX) abort();
            break;
        case LEAT_PACKETWAY_RTYP_MTUR: seen += leat_packetway_record_mtu(&r) & 1; break;
        case LEAT_PACKETWAY_RTYP_SNID: seen += leat_packetway_record_san(&r) & 1; break;
        }
    }
    return seen;
}

static leat_err decode(const uint8_t *data, size_t len, enum leat_packetway_mode mode,
                       enum leat_packetway_place place, struct leat_packetway_message *out)
{
    size_t at = 0;
    const leat_err err = leat_packetway_message_decode(data, len, mode, place, out, &at);
    if (err && at > len) abort();
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct leat_packetway_message m;
    static uint8_t once[LEN_MAX], twice[LEN_MAX];
    size_t once_len = 0, twice_len = 0;
    const leat_err lenient = decode(data, len, LEAT_PACKETWAY_LENIENT, LEAT_PACKETWAY_DESTINATION,
                                    &m);

    if (!lenient) walk(leat_packetway_message_records(&m));
    if (len > LEN_MAX) return 0;
    if (decode(data, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION, &m)) return 0;
    if (lenient) abort();
    if (leat_packetway_message_encode(&m, once, sizeof once, &once_len)) abort();
    if (once_len != len) abort();
    if (decode(data, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_FORWARDING, &m)) abort();
    if (decode(once, once_len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION, &m)) abort();
    if (leat_packetway_message_encode(&m, twice, sizeof twice, &twice_len)) abort();
    if (twice_len != once_len || memcmp(once, twice, once_len) != 0) abort();
    return 0;
}
