#include "sim_certificate.h"
#include "leat_bytes.h"
#include "leat_fnv.h"
#include "sim_certificate_parts.h"
#include <assert.h>
#include <string.h>

/* The octets of small numbers are mostly zero, and a run of zeros is one multiplication. */
uint64_t leat_sim_fnv_word(uint64_t hash, uint64_t word)
{
    static const uint64_t prime_to_the[9] = {
        UINT64_C(0x0000000000000001), UINT64_C(0x00000100000001b3), UINT64_C(0x000366000002e329),
        UINT64_C(0x08a97b0004e7feab), UINT64_C(0x9ffaac085635bc91), UINT64_C(0x0caee32a7d4f6a63),
        UINT64_C(0xdc966432edf1c639), UINT64_C(0xc5527b8a51d3d2db), UINT64_C(0x1efac7090aef4a21),
    };
    unsigned zeros = 8;
    for (; word; word >>= 8, zeros--)
        hash = (hash ^ (word & 0xff)) * LEAT_FNV_PRIME;
    return hash * prime_to_the[zeros];
}

/* ---- deliveries ------------------------------------------------------------------------------ */

void leat_sim_certificate_init(struct leat_sim_certificate *c)
{
    *c = (struct leat_sim_certificate){ .sum = 0 };
}

void leat_sim_certificate_add(struct leat_sim_certificate *c, const struct leat_sim_delivery *d)
{
    c->sum += leat_sim_certificate_mix(d->at, d->source, d->destination, d->number,
                                       d->payload_hash);
    if (d->at > c->at) c->at = d->at;
}

void leat_sim_certificate_join(struct leat_sim_certificate *c,
                               const struct leat_sim_certificate *part)
{
    c->sum += part->sum;
    if (part->at > c->at) c->at = part->at;
}

uint64_t leat_sim_certificate_value(const struct leat_sim_certificate *c)
{
    return c->sum;
}

void leat_sim_delivery_hash_init(struct leat_sim_delivery_hash *h)
{
    *h = (struct leat_sim_delivery_hash){ .hash = LEAT_FNV_EMPTY };
}

void leat_sim_delivery_hash_add(struct leat_sim_delivery_hash *h, uint64_t cycle, uint32_t output,
                                uint32_t source, uint64_t number)
{
    assert(cycle > h->cycle || (cycle == h->cycle && output >= h->output));
    h->cycle = cycle;
    h->output = output;
    uint64_t hash = leat_sim_fnv_word(h->hash, cycle);
    hash = leat_sim_fnv_word(hash, (uint64_t)output << 8 | source);
    h->hash = leat_sim_fnv_word(hash, number);
}

uint64_t leat_sim_delivery_hash_value(const struct leat_sim_delivery_hash *h)
{
    return h->hash;
}

/* ---- payloads -------------------------------------------------------------------------------- */

/* The last step takes the last 16 octets, some for the second time: faster than padding. */
uint64_t leat_sim_payload_hash(const uint8_t *octets, size_t len)
{
    enum { STEP = 16 };
    uint8_t padded[STEP] = { 0 };
    uint64_t a = len, b = ~(uint64_t)len;
    if (len < STEP) octets = len ? memcpy(padded, octets, len) : padded;
    const uint8_t *last = len < STEP ? octets : octets + len - STEP;
    for (; octets < last; octets += STEP) {
        a = leat_sim_mix_stir(a, leat_get_le64(octets), LEAT_SIM_MIX_A);
        b = leat_sim_mix_stir(b, leat_get_le64(octets + 8), LEAT_SIM_MIX_B);
    }
    a = leat_sim_mix_stir(a, leat_get_le64(last), LEAT_SIM_MIX_A);
    b = leat_sim_mix_stir(b, leat_get_le64(last + 8), LEAT_SIM_MIX_B);
    return leat_sim_mix_finish(a, b);
}
