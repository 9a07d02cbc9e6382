#include "duration.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t ps_max = UINT64_C(1000000000000000000);

static const struct {
    const char *name;
    uint64_t ps;
} units[] = {
    { "s", UINT64_C(1000000000000) },
    { "ms", 1000000000 },
    { "us", 1000000 },
    { "ns", 1000 },
    { "ps", 1 },
};

enum { UNITS = sizeof units / sizeof *units };

bool duration_read(const char *text, uint64_t *ps)
{
    uint64_t value = 0, behind = 1, unit = 0;
    const char *at = text;
    bool has_point = false, has_digit = false;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !has_point); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        has_digit = true;
        value = 10 * value + (uint64_t)(*at - '0');
        if (has_point) behind *= 10;
        if (value > ps_max || behind > ps_max) return false;
    }
    for (int i = 0; i < UNITS; i++)
        if (strcmp(at, units[i].name) == 0) unit = units[i].ps;
    if (!has_digit || !unit || value / behind > ps_max / unit) return false;
    /* Of the fraction only whole picoseconds count. */
    const uint64_t rest = value % behind;
    if (behind > unit ? rest % (behind / unit) != 0 : unit % behind != 0) return false;
    *ps = value / behind * unit + (behind > unit ? rest / (behind / unit) : rest * (unit / behind));
    return *ps <= ps_max;
}

bool duration_read_bare(const char *number, const char *unit, uint64_t *ps)
{
    char text[64];
    const int len = snprintf(text, sizeof text, "%s%s", number, unit);
    return (size_t)len < sizeof text && duration_read(text, ps);
}

const char *duration_text(uint64_t ps)
{
    static char text[40];
    int i = 0;
    while (i < UNITS - 1 && ps && ps < units[i].ps)
        i++;
    const uint64_t whole = ps / units[i].ps, rest = ps % units[i].ps;
    int digits = 0, len;
    for (uint64_t unit = units[i].ps; unit > 1; unit /= 10)
        digits++;
    len = rest ? snprintf(text, sizeof text, "%" PRIu64 ".%0*" PRIu64, whole, digits, rest)
               : snprintf(text, sizeof text, "%" PRIu64, whole);
    while (rest && text[len - 1] == '0')
        len--;
    snprintf(text + len, sizeof text - (size_t)len, "%s", units[i].name);
    return text;
}
