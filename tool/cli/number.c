#include "number.h"
#include "leat_tree.h"
#include <string.h>

bool number_take(const struct arguments *args, const char *option, uint64_t least, uint64_t most,
                 uint64_t *out)
{
    const char *text = argument(args, option);
    uint64_t number;
    if (!text) return true;
    if (leat_tree_number(text, strlen(text), &number) && number >= least && number <= most) {
        *out = number;
        return true;
    }
    return misused(args->verb, "%s '%s', expected a whole number, %llu to %llu", option, text,
                   (unsigned long long)least, (unsigned long long)most);
}

bool number_take_amount(const struct arguments *args, const char *option, uint64_t least,
                        uint64_t most, uint64_t *out)
{
    const char *text = argument(args, option);
    if (!text) return true;
    size_t len = strlen(text);
    unsigned shift = 0;
    if (len && strchr("kMG", text[len - 1]) != NULL)
        shift = text[--len] == 'k' ? 10 : text[len] == 'M' ? 20 : 30;
    uint64_t number;
    if (leat_tree_number(text, len, &number) && number <= most >> shift &&
        number << shift >= least) {
        *out = number << shift;
        return true;
    }
    return misused(args->verb, "%s '%s', expected %llu to %llu, as 4096, 64k or 1M", option, text,
                   (unsigned long long)least, (unsigned long long)most);
}

bool number_take_small(const struct arguments *args, const char *option, uint32_t least,
                       uint32_t most, uint32_t *out)
{
    uint64_t number = *out;
    if (!number_take(args, option, least, most, &number)) return false;
    *out = (uint32_t)number;
    return true;
}

/* Digits, some of which may follow a point: their value, and how many do. Insignificant trailing
 * digits are skipped. */
static const char *read_digits(const char *text, uint64_t *value, int *behind)
{
    const uint64_t full = UINT64_C(100000000000000000);
    bool digits = false, point = false;
    *value = 0;
    *behind = 0;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        digits = true;
        if (*value >= full && point) continue;
        if (*value >= full) return NULL;
        *value = *value * 10 + (uint64_t)(*text - '0');
        *behind += point;
    }
    return digits ? text : NULL;
}

bool number_read_fraction(const char *text, uint32_t decimals, uint32_t *out, bool *exact)
{
    uint64_t value, one = 1, part = 1, exponent = 0;
    int behind;
    text = read_digits(text, &value, &behind);
    if (!text) return false;
    if ((text[0] == 'e' || text[0] == 'E') && text[1] == '-') {
        if (!leat_tree_number(text + 2, strlen(text + 2), &exponent) || exponent > 20) return false;
        text += strlen(text);
    }
    if (*text) return false;
    int shift = (int)decimals - behind - (int)exponent;
    for (uint32_t i = 0; i < decimals; i++)
        one *= 10;
    for (; shift > 0 && value <= one; shift--)
        value *= 10;
    for (; shift < 0 && part <= value; shift++)
        part *= 10; /* the value is below 10^18 */
    const uint64_t parts = value / part, rest = value % part;
    const uint64_t rounded = parts + (shift == 0 && rest >= part - rest);
    if (parts > one || (parts == one && rest) || (value && !rounded)) return false;
    *out = (uint32_t)rounded;
    if (exact) *exact = rest == 0;
    return true;
}
