/* Case number -> octets. A case depends on its number, the seed and the octets only. */
#include "mutate.h"
#include <leat/random.h>
#include <string.h>

static const char *const extremes[] = {
    "0",
    "1",
    "-1",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "1e15",
    "1e400",
    "-1e-400",
    "nan",
    "inf",
    "0x7fffffffffffffff",
    "99999999999999999999999999",
};
enum { EXTREMES = sizeof extremes / sizeof *extremes };

/* Replaces `old` octets at `at`; what would not fit is left as it is. */
static void splice(size_t at, size_t old, const void *by, size_t len)
{
    uint8_t *const octets = shared->octets;
    if (shared->len - old + len > sizeof shared->octets) return;
    memmove(octets + at + len, octets + at + old, shared->len - at - old);
    memcpy(octets + at, by, len);
    shared->len += len - old;
}

static size_t at_most(size_t wanted, size_t at)
{
    return wanted < shared->len - at ? wanted : shared->len - at;
}

static bool is_digit(size_t at)
{
    return at < shared->len && shared->octets[at] >= '0' && shared->octets[at] <= '9';
}

/* Another number for the one at or behind a random place. */
static void change_number(struct leat_random *draw)
{
    size_t at = leat_random_below(draw, shared->len + 1);
    const char *by = extremes[leat_random_below(draw, EXTREMES)];
    while (at < shared->len && !is_digit(at))
        at++;
    while (at > 0 && is_digit(at - 1))
        at--;
    size_t len = 0;
    while (is_digit(at + len))
        len++;
    if (len) splice(at, len, by, strlen(by));
}

static void insert_random(struct leat_random *draw, size_t at, size_t size)
{
    uint8_t octets[64];
    for (size_t i = 0; i < size; i++)
        octets[i] = (uint8_t)leat_random_below(draw, 256);
    splice(at, 0, octets, size);
}

static void repeat_piece(struct leat_random *draw, size_t at, size_t size)
{
    uint8_t octets[64];
    const size_t from = leat_random_below(draw, shared->len + 1);
    const size_t len = at_most(size, from);
    memcpy(octets, shared->octets + from, len);
    splice(at, 0, octets, len);
}

static void overwrite(struct leat_random *draw, size_t at)
{
    static const uint8_t values[] = { 0, 0xff, 0x80, 0x7f };
    uint8_t octets[8];
    const uint8_t value = values[leat_random_below(draw, 4)];
    const size_t len = (size_t)1 << leat_random_below(draw, 4);
    memset(octets, value, len);
    splice(at, at_most(len, at), octets, len);
}

/* The kinds of cut.py. */
static void change(struct leat_random *draw)
{
    static const uint8_t sizes[] = { 1, 4, 40 };
    const uint64_t how = leat_random_below(draw, 7);
    const size_t at = leat_random_below(draw, shared->len + 1);
    const size_t longest = sizes[leat_random_below(draw, 3)];
    const size_t size = 1 + leat_random_below(draw, longest);
    switch (how) {
    case 0:
        if (at < shared->len) shared->octets[at] ^= (uint8_t)(1u << leat_random_below(draw, 8));
        break;
    case 1:
        if (at < shared->len) shared->octets[at] = (uint8_t)leat_random_below(draw, 256);
        break;
    case 2: insert_random(draw, at, size); break;
    case 3: splice(at, at_most(size, at), "", 0); break;
    case 4: repeat_piece(draw, at, size); break;
    case 5: overwrite(draw, at); break;
    default: change_number(draw);
    }
}

void case_draw(uint64_t number)
{
    static const uint8_t counts[] = { 1, 1, 1, 2, 4 };
    struct leat_random draw;
    shared->len = number < shared->seed_len ? number : shared->seed_len;
    memcpy(shared->octets, shared->seed_octets, shared->len);
    if (number < shared->seed_len) return;
    leat_random_seed_entity(&draw, shared->seed, number);
    for (uint64_t left = counts[leat_random_below(&draw, 5)]; left > 0; left--)
        change(&draw);
}
