/* Clocks as users write them: "50ns", "20MHz". */
#include "sim_clock.h"
#include "sim_refuse.h"

enum {
    DECIMALS_MAX = 6,
    WHOLE_MAX = 1000000, /* ns or MHz; the minimum is 1 divided by this: */
    PARTS = 1000,
    PS_PER_NS = 1000,
    PS_PER_MHZ_CYCLE = 1000000, /* the period of 1 MHz */
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* "6.25": *digits 625 and *scale 100. Returns the characters used, 0 if it is not a decimal. */
static size_t read_decimal(const char *text, size_t len, uint64_t *digits, uint64_t *scale)
{
    size_t i = 0;
    *digits = 0;
    *scale = 1;
    for (; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
        *digits = *digits * 10 + (uint64_t)(text[i] - '0');
        if (*digits > WHOLE_MAX) return 0;
    }
    const size_t whole = i;
    if (whole == 0 || i == len || text[i] != '.') return whole;
    for (i++; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
        if (i > whole + DECIMALS_MAX) return 0;
        *digits = *digits * 10 + (uint64_t)(text[i] - '0');
        *scale *= 10;
    }
    return i > whole + 1 ? i : 0;
}

bool leat_sim_clock_read(const char *text, size_t len, struct leat_sim_clock *out)
{
    static const char ns[] = "ns", mhz[] = "MHz";
    uint64_t digits, scale;
    const size_t used = read_decimal(text, len, &digits, &scale);
    const size_t unit_len = len - used;
    const bool period = unit_len == strlen(ns) && memcmp(text + used, ns, unit_len) == 0;
    const bool frequency = unit_len == strlen(mhz) && memcmp(text + used, mhz, unit_len) == 0;
    if (!used || !(period || frequency) || digits * PARTS < scale || digits > scale * WHOLE_MAX)
        return false;
    const uint64_t num = period ? digits * PS_PER_NS : scale * PS_PER_MHZ_CYCLE;
    const uint64_t den = period ? scale : digits;
    const uint64_t divisor = common_divisor(num, den);
    *out = (struct leat_sim_clock){ .num = num / divisor, .den = den / divisor };
    return true;
}

/* num / den as a decimal. False: it has too many digits, and nothing is written. */
static bool put_ratio(struct leat_text *text, uint64_t num, uint64_t den)
{
    char decimals[DECIMALS_MAX];
    size_t count = 0;
    uint64_t rest = num % den;
    for (; rest && count < DECIMALS_MAX; count++) {
        decimals[count] = (char)('0' + rest * 10 / den);
        rest = rest * 10 % den;
    }
    if (rest) return false;
    leat_text_decimal(text, num / den);
    if (count) leat_text_putc(text, '.');
    leat_text_put(text, decimals, count);
    return true;
}

void leat_sim_clock_put(const struct leat_sim_clock *clock, struct leat_text *text)
{
    if (put_ratio(text, clock->num, clock->den * PS_PER_NS)) {
        leat_text_puts(text, "ns");
        return;
    }
    /* A clock that was not read as a period was read as a frequency. */
    leat_sim_must(put_ratio(text, clock->den * PS_PER_MHZ_CYCLE, clock->num));
    leat_text_puts(text, "MHz");
}
