/* Elements as octets: XDR, big-endian, in words as the unit takes them. */
#include "thesis_library.h"
#include <string.h>

enum { WORD = 4 };

enum kind { INT, SHORT, LONG, FLOAT, DOUBLE };

static const struct {
    size_t host_len, wire_len;
} of_kind[] = {
    [INT] = { sizeof(int), 4 },     [SHORT] = { sizeof(short), 2 },   [LONG] = { sizeof(long), 4 },
    [FLOAT] = { sizeof(float), 4 }, [DOUBLE] = { sizeof(double), 8 },
};

/* ---- one element ----------------------------------------------------------------------------- */

static long load_long(const char *call, const void *from)
{
    long value;
    memcpy(&value, from, sizeof value);
    if (value < INT32_MIN || value > INT32_MAX)
        leat_atm_fail(call, "%ld, expected a number that 4 octets hold", value);
    return value;
}

/* Its bits, in the lower octets. */
static uint64_t load(enum kind kind, const char *call, const void *from)
{
    int i;
    short s;
    uint32_t f;
    uint64_t d;
    switch (kind) {
    case INT: memcpy(&i, from, sizeof i); return (uint32_t)i;
    case SHORT: memcpy(&s, from, sizeof s); return (uint16_t)s;
    case LONG: return (uint32_t)load_long(call, from);
    case FLOAT: memcpy(&f, from, sizeof f); return f;
    case DOUBLE: memcpy(&d, from, sizeof d); return d;
    }
    return 0;
}

static void store(enum kind kind, uint64_t bits, void *to)
{
    const int i = (int32_t)(uint32_t)bits;
    const short s = (int16_t)(uint16_t)bits;
    const long l = (int32_t)(uint32_t)bits;
    const uint32_t f = (uint32_t)bits;
    switch (kind) {
    case INT: memcpy(to, &i, sizeof i); break;
    case SHORT: memcpy(to, &s, sizeof s); break;
    case LONG: memcpy(to, &l, sizeof l); break;
    case FLOAT: memcpy(to, &f, sizeof f); break;
    case DOUBLE: memcpy(to, &bits, sizeof bits); break;
    }
}

/* ---- many ------------------------------------------------------------------------------------ */

/* A short takes a word of its own; others fill theirs, so that one sequence of words holds them
 * all. */
static size_t words_len(enum kind kind, size_t all)
{
    return kind == SHORT ? of_kind[kind].wire_len : all;
}

static size_t checked(const char *call, int cnt)
{
    if (cnt < 0) leat_atm_fail(call, "%d elements, expected 0 or more", cnt);
    return (size_t)cnt;
}

static int put(struct shmst *dev, const char *call, enum kind kind, const void *np, size_t count)
{
    const size_t each = of_kind[kind].wire_len, all = count * each, run = words_len(kind, all);
    uint8_t *octets = leat_atm_room(all);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = load(kind, call, (const char *)np + i * of_kind[kind].host_len);
        for (size_t k = each; k-- > 0; bits >>= 8)
            octets[i * each + k] = (uint8_t)bits;
    }
    for (size_t at = 0; at < all; at += run)
        leat_atm_put(dev, call, octets + at, run);
    return 0;
}

static int get(struct shmst *dev, const char *call, enum kind kind, void *np, size_t count)
{
    const size_t each = of_kind[kind].wire_len, all = count * each, run = words_len(kind, all);
    uint8_t *octets = leat_atm_room(all);
    for (size_t at = 0; at < all; at += run)
        leat_atm_get(dev, call, octets + at, run);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        for (size_t k = 0; k < each; k++)
            bits = bits << 8 | octets[i * each + k];
        store(kind, bits, (char *)np + i * of_kind[kind].host_len);
    }
    return 0;
}

/* ---- exported -------------------------------------------------------------------------------- */

/* A complex number is two elements. */
#define BOTH_WAYS(name, item, kind, parts)                                                 \
    int atmputn##name(struct shmst *dev, const item *np, int cnt)                          \
    {                                                                                      \
        return put(dev, "atmputn" #name, kind, np, parts * checked("atmputn" #name, cnt)); \
    }                                                                                      \
    int atmgetn##name(struct shmst *dev, item *np, int cnt)                                \
    {                                                                                      \
        return get(dev, "atmgetn" #name, kind, np, parts * checked("atmgetn" #name, cnt)); \
    }

BOTH_WAYS(int, int, INT, 1)
BOTH_WAYS(short, short, SHORT, 1)
BOTH_WAYS(long, long, LONG, 1)
BOTH_WAYS(float, float, FLOAT, 1)
BOTH_WAYS(dfloat, double, DOUBLE, 1)
BOTH_WAYS(cplx, struct atmcplx, FLOAT, 2)
BOTH_WAYS(dcplx, struct atmdcplx, DOUBLE, 2)

int atmputbytes(struct shmst *dev, const char *np, int cnt)
{
    const size_t len = checked("atmputbytes", cnt);
    if (len) leat_atm_put(dev, "atmputbytes", (const uint8_t *)np, len);
    return 0;
}

int atmputstring(struct shmst *dev, const char *np)
{
    const size_t len = strlen(np) + 1, all = (len + WORD - 1) / WORD * WORD;
    uint8_t *octets = leat_atm_room(all);
    memcpy(octets, np, len);
    memset(octets + len, 0, all - len);
    leat_atm_put(dev, "atmputstring", octets, all);
    return 0;
}

int atmgetbytes(struct shmst *dev, char *np, int cnt)
{
    const size_t len = checked("atmgetbytes", cnt);
    if (len) leat_atm_get(dev, "atmgetbytes", (uint8_t *)np, len);
    return 0;
}

int atmgetstring(struct shmst *dev, char *np)
{
    uint8_t word[WORD];
    const uint8_t *end;
    do {
        leat_atm_get(dev, "atmgetstring", word, sizeof word);
        end = memchr(word, 0, sizeof word);
        const size_t here = end ? (size_t)(end - word) + 1 : sizeof word;
        memcpy(np, word, here);
        np += here;
    } while (!end);
    return 0;
}
