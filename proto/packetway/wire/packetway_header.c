#include "packetway_header.h"
#include "leat_bytes.h"

/* Lowest bit of each field in the two words of PH. */
enum { V = 62, P = 56, DT = 32, TE = 16, PT = 0 };
enum { E = 60, PL = 57, DL = 32, H = 31, RZ = 24, SA = 0 };

static leat_err check_destination(uint32_t dt)
{
    switch (leat_packetway_class_of(dt)) {
    case LEAT_PACKETWAY_CLASS_PHYSICAL: return dt ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_ADDR;
    case LEAT_PACKETWAY_CLASS_LOGICAL: return LEAT_ERR_OK;
    case LEAT_PACKETWAY_CLASS_RESERVED: return LEAT_ERR_PACKETWAY_DT_RESERVED;
    case LEAT_PACKETWAY_CLASS_L2RH:
    case LEAT_PACKETWAY_CLASS_SYMBOL: break;
    }
    return LEAT_ERR_PACKETWAY_ADDR;
}

/* Spec 2.2 (c), in its order. */
unsigned leat_packetway_header_faults(const uint8_t *buf, enum leat_packetway_mode mode,
                                      leat_err faults[LEAT_PACKETWAY_HEADER_FAULTS_MAX])
{
    const uint64_t w0 = leat_get_be64(buf), w1 = leat_get_be64(buf + 8);
    const bool strict = mode == LEAT_PACKETWAY_STRICT;
    const leat_err err = check_destination((uint32_t)leat_bits(w0, DT, 24));
    const uint32_t sa = (uint32_t)leat_bits(w1, SA, 24);
    unsigned count = 0;
    if (leat_bits(w0, V, 2)) faults[count++] = LEAT_ERR_PACKETWAY_VERSION;
    if (err) faults[count++] = err;
    if (leat_bits(w0, PT, 16) == 0) faults[count++] = LEAT_ERR_PACKETWAY_PT;
    if (strict && leat_bits(w1, E, 3) > LEAT_PACKETWAY_E_SIZE_MAX)
        faults[count++] = LEAT_ERR_PACKETWAY_ENDIAN;
    if (leat_bits(w1, DL, 25) == 0 && leat_bits(w1, PL, 3))
        faults[count++] = LEAT_ERR_PACKETWAY_PAD;
    if (strict && leat_bits(w1, RZ, 7)) faults[count++] = LEAT_ERR_PACKETWAY_RSV;
    if (leat_packetway_class_of(sa) != LEAT_PACKETWAY_CLASS_PHYSICAL ||
        (strict && sa > LEAT_PACKETWAY_ADDRESS_MAX))
        faults[count++] = LEAT_ERR_PACKETWAY_SA;
    return count;
}

void leat_packetway_header_read(const uint8_t *buf, struct leat_packetway_header *out)
{
    const uint64_t w0 = leat_get_be64(buf), w1 = leat_get_be64(buf + 8);
    *out = (struct leat_packetway_header){
        .dt = (uint32_t)leat_bits(w0, DT, 24),
        .sa = (uint32_t)leat_bits(w1, SA, 24),
        .dl = (uint32_t)leat_bits(w1, DL, 25),
        .te = (uint16_t)leat_bits(w0, TE, 16),
        .pt = (uint16_t)leat_bits(w0, PT, 16),
        .priority = (uint8_t)leat_bits(w0, P, 6),
        .e = (uint8_t)leat_bits(w1, E, 4),
        .pl = (uint8_t)leat_bits(w1, PL, 3),
        .h = leat_bits(w1, H, 1),
    };
}

leat_err leat_packetway_header_decode(const uint8_t *buf, size_t len, enum leat_packetway_mode mode,
                                      struct leat_packetway_header *out, size_t *fault_at)
{
    if (fault_at) *fault_at = 0;
    if (len < LEAT_PACKETWAY_HEADER_LEN) return LEAT_ERR_PACKETWAY_SHORT;
    leat_err faults[LEAT_PACKETWAY_HEADER_FAULTS_MAX];
    if (leat_packetway_header_faults(buf, mode, faults)) return faults[0];

    leat_packetway_header_read(buf, out);
    if ((out->e & LEAT_PACKETWAY_E_SIZE) > LEAT_PACKETWAY_E_SIZE_MAX)
        out->e &= LEAT_PACKETWAY_E_LITTLE;
    if (out->sa > LEAT_PACKETWAY_ADDRESS_MAX) out->sa = LEAT_PACKETWAY_ADDRESS_NONE;
    return LEAT_ERR_OK;
}

leat_err leat_packetway_header_check(const struct leat_packetway_header *h)
{
    if (h->priority > LEAT_PACKETWAY_PRIORITY_MAX || h->dt > LEAT_PACKETWAY_ADDRESS_BITS ||
        check_destination(h->dt) != LEAT_ERR_OK || h->pt == 0 ||
        h->e > (LEAT_PACKETWAY_E_LITTLE | LEAT_PACKETWAY_E_SIZE) ||
        (h->e & LEAT_PACKETWAY_E_SIZE) > LEAT_PACKETWAY_E_SIZE_MAX ||
        h->pl > LEAT_PACKETWAY_PL_MAX || h->dl > LEAT_PACKETWAY_DL_MAX ||
        (h->dl == 0 && h->pl > 0) || h->sa > LEAT_PACKETWAY_ADDRESS_MAX)
        return LEAT_ERR_PACKETWAY_LIMIT;
    return LEAT_ERR_OK;
}

leat_err leat_packetway_header_encode(const struct leat_packetway_header *h, uint8_t *buf,
                                      size_t cap)
{
    const leat_err err = leat_packetway_header_check(h);
    if (err) return err;
    if (cap < LEAT_PACKETWAY_HEADER_LEN) return LEAT_ERR_PACKETWAY_NOSPC;

    leat_put_be64(buf, (uint64_t)h->priority << P | (uint64_t)h->dt << DT | (uint64_t)h->te << TE |
                           (uint64_t)h->pt << PT);
    leat_put_be64(buf + 8, (uint64_t)h->e << E | (uint64_t)h->pl << PL | (uint64_t)h->dl << DL |
                               (uint64_t)h->h << H | (uint64_t)h->sa << SA);
    return LEAT_ERR_OK;
}

bool leat_packetway_data_swap(uint8_t *data, size_t len, uint8_t e, bool host_is_little)
{
    const unsigned code = e & LEAT_PACKETWAY_E_SIZE;
    const bool data_is_little = e & LEAT_PACKETWAY_E_LITTLE;
    if (data_is_little == host_is_little || code == 0 || code > LEAT_PACKETWAY_E_SIZE_MAX)
        return false;

    const size_t size = (size_t)1 << code, whole = len - len % size;
    for (size_t at = 0; at < whole; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            const uint8_t octet = data[at + i];
            data[at + i] = data[at + size - 1 - i];
            data[at + size - 1 - i] = octet;
        }
    return whole != len;
}
