#include "atm_aal1_fec.h"
#include "leat_bytes.h"
#include <assert.h>
#include <string.h>

enum { CHECK = LEAT_ATM_AAL1_FEC_CHECK_LEN, ROW = LEAT_ATM_AAL1_FEC_ROW_LEN };
enum { FIELD = 0x187, ORDER = 255, ALPHA = 2, FIRST_ROOT = 120 };

/* The generator is x^4 + bd x^3 + e8 x^2 + b4 x + d2. Its multiples by 0 to 15 and by 00 to f0, the
 * coefficient of x^3 in the upper octet; the test computes the generator from its roots. */
static const uint32_t multiple_low[16] = { 0x00000000, 0xbde8b4d2, 0xfd57ef23, 0x40bf5bf1,
                                           0x7dae5946, 0xc046ed94, 0x80f9b665, 0x3d1102b7,
                                           0xfadbb28c, 0x4733065e, 0x078c5daf, 0xba64e97d,
                                           0x8775ebca, 0x3a9d5f18, 0x7a2204e9, 0xc7cab03b };
static const uint32_t multiple_high[16] = { 0x00000000, 0x7331e39f, 0xe66241b9, 0x9553a226,
                                            0x4bc482f5, 0x38f5616a, 0xada6c34c, 0xde9720d3,
                                            0x960f836d, 0xe53e60f2, 0x706dc2d4, 0x035c214b,
                                            0xddcb0198, 0xaefae207, 0x3ba94021, 0x4898a3be };

static uint8_t times(uint8_t a, uint8_t b)
{
    unsigned product = 0;
    for (unsigned x = a, y = b; y; y >>= 1) {
        if (y & 1) product ^= x;
        x <<= 1;
        if (x & 0x100) x ^= FIELD;
    }
    return (uint8_t)product;
}

static uint8_t power(uint8_t a, unsigned n)
{
    uint8_t product = 1;
    for (; n; n >>= 1, a = times(a, a))
        if (n & 1) product = times(product, a);
    return product;
}

static uint8_t inverse(uint8_t a)
{
    return power(a, ORDER - 1);
}

/* Of octets * x^4 divided by the generator. */
static uint32_t remainder_of(const uint8_t *octets, size_t len)
{
    uint32_t rest = 0;
    for (size_t i = 0; i < len; i++) {
        const uint32_t top = rest >> 24 ^ octets[i];
        rest = rest << 8 ^ multiple_low[top & 0xf] ^ multiple_high[top >> 4];
    }
    return rest;
}

void leat_atm_aal1_fec_protect(uint8_t row[LEAT_ATM_AAL1_FEC_ROW_LEN])
{
    leat_put_be32(row + LEAT_ATM_AAL1_FEC_DATA_LEN, remainder_of(row, LEAT_ATM_AAL1_FEC_DATA_LEN));
}

/* The row as a polynomial at the roots, where its remainder has the same values. True if all are
 * 0. */
static bool syndromes(const uint8_t *row, uint8_t s[CHECK])
{
    const uint32_t rest = remainder_of(row, LEAT_ATM_AAL1_FEC_DATA_LEN) ^
                          leat_get_be32(row + LEAT_ATM_AAL1_FEC_DATA_LEN);
    if (rest == 0) return true;
    uint8_t root = power(ALPHA, FIRST_ROOT);
    for (size_t k = 0; k < CHECK; k++, root = times(root, ALPHA)) {
        s[k] = 0;
        for (int shift = 24; shift >= 0; shift -= 8)
            s[k] = times(s[k], root) ^ (uint8_t)(rest >> shift);
    }
    return false;
}

/* alpha to the power that the octet at this place has in the polynomial. */
static uint8_t locator(unsigned place)
{
    return power(ALPHA, ROW - 1 - place);
}

/* Sums of y X^j over wrong octets: removes those at X and shortens the sequence by one. */
static void remove_place(uint8_t *sums, size_t count, uint8_t x)
{
    for (size_t j = 0; j + 1 < count; j++)
        sums[j] = sums[j + 1] ^ times(x, sums[j]);
}

/* Is each sum x times the one before it? */
static bool one_place_explains(const uint8_t *sums, size_t count, uint8_t *x)
{
    if (count < 2 || sums[0] == 0) return false;
    *x = times(sums[1], inverse(sums[0]));
    for (size_t j = 1; j + 1 < count; j++)
        if (sums[j + 1] != times(*x, sums[j])) return false;
    return true;
}

/* Two wrong octets: their locators solve x^2 = a x + b, of which four sums give a and b. */
static bool two_places_explain(const uint8_t *sums, uint8_t *a, uint8_t *b)
{
    const uint8_t det = times(sums[1], sums[1]) ^ times(sums[0], sums[2]);
    if (det == 0) return false;
    const uint8_t scale = inverse(det);
    *a = times(scale, times(sums[1], sums[2]) ^ times(sums[0], sums[3]));
    *b = times(scale, times(sums[2], sums[2]) ^ times(sums[1], sums[3]));
    return true;
}

static bool is_among(unsigned i, const uint8_t *place, size_t places)
{
    for (size_t k = 0; k < places; k++)
        if (place[k] == i) return true;
    return false;
}

/* Finds the wrong octets besides the erased ones; appends their places. */
static bool find_errors(const uint8_t *sums, size_t count, uint8_t *place, size_t *places)
{
    uint8_t any = 0, a = 0, b = 0;
    for (size_t j = 0; j < count; j++)
        any |= sums[j];
    if (any == 0) return true;
    size_t want = 1;
    if (!one_place_explains(sums, count, &a)) {
        if (count < CHECK || !two_places_explain(sums, &a, &b)) return false;
        want = 2;
    }
    const size_t before = *places;
    uint8_t x = 1;
    for (unsigned i = ROW; i-- > 0; x = times(x, ALPHA)) {
        if (times(x, x) != (times(a, x) ^ b)) continue;
        if (is_among(i, place, before)) return false;
        place[(*places)++] = (uint8_t)i;
    }
    return *places - before == want;
}

/* The value to add at one place: what is left once all others are removed. */
static uint8_t magnitude(const uint8_t *s, const uint8_t *place, size_t places, size_t which)
{
    const uint8_t x = locator(place[which]);
    uint8_t sums[CHECK], scale = power(x, FIRST_ROOT);
    memcpy(sums, s, CHECK);
    size_t count = CHECK;
    for (size_t i = 0; i < places; i++) {
        if (i == which) continue;
        const uint8_t other = locator(place[i]);
        remove_place(sums, count--, other);
        scale = times(scale, x ^ other);
    }
    return times(sums[0], inverse(scale));
}

bool leat_atm_aal1_fec_correct(uint8_t row[LEAT_ATM_AAL1_FEC_ROW_LEN], const uint8_t *erased,
                               size_t erased_count, unsigned *corrected)
{
    uint8_t s[CHECK], sums[CHECK], place[CHECK], fixed[ROW];
    *corrected = 0;
    if (erased_count > CHECK) return false;
    if (syndromes(row, s)) return true;
    memcpy(sums, s, CHECK);
    size_t places = 0;
    for (; places < erased_count; places++) {
        place[places] = erased[places];
        remove_place(sums, CHECK - places, locator(erased[places]));
    }
    if (!find_errors(sums, CHECK - erased_count, place, &places)) return false;
    memcpy(fixed, row, ROW);
    unsigned changed = 0;
    for (size_t i = 0; i < places; i++) {
        const uint8_t y = magnitude(s, place, places, i);
        fixed[place[i]] ^= y;
        changed += y != 0;
    }
    const bool sound = syndromes(fixed, s);
    assert(sound);
    memcpy(row, fixed, ROW);
    *corrected = changed;
    return true;
}
