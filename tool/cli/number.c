#include "number.h"
#include "duration.h"
#include "leat_tree.h"
#include <inttypes.h>
#include <string.h>

/* ---- whole numbers --------------------------------------------------------------------------- */

/* What the letters behind a number multiply it by: a power of two and one of ten. */
struct scale {
    unsigned twos;
    int tens;
};

static bool read_scale(const char *text, bool is_octets, struct scale *out)
{
    static const char letters[] = "kMGT";
    *out = (struct scale){ 0 };
    if (is_octets && strcmp(text, "B") == 0) return true;
    if (!*text) return true;
    const char *found = strchr(letters, *text == 'K' ? 'k' : *text);
    if (!found) return false;
    const unsigned power = (unsigned)(found - letters) + 1;
    const bool is_binary = text[1] == 'i';
    const char *rest = text + 1 + is_binary;
    const bool has_octets = is_octets && strcmp(rest, "B") == 0;
    if (*rest && !has_octets) return false;
    if (is_binary || (is_octets && !has_octets))
        out->twos = 10 * power;
    else
        out->tens = 3 * (int)power;
    return *text != 'K' || is_binary || is_octets; /* a K alone is neither */
}

/* The exponent behind an e, if there is one. */
static bool read_exponent(const char **text, int *tens)
{
    if (**text != 'e' && **text != 'E') return true;
    const char *digits = *text + 1 + ((*text)[1] == '+' || (*text)[1] == '-');
    const bool is_negative = (*text)[1] == '-';
    const size_t len = strspn(digits, "0123456789");
    uint64_t exponent;
    if (!leat_tree_number(digits, len, &exponent) || exponent > 20) return false;
    *tens += is_negative ? -(int)exponent : (int)exponent;
    *text = digits + len;
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

bool number_read(const char *text, bool is_octets, uint64_t *out)
{
    uint64_t value;
    int behind, tens = 0;
    struct scale scale;
    if (leat_tree_number(text, strlen(text), out)) return true;
    text = read_digits(text, &value, &behind);
    if (!text || !read_exponent(&text, &tens) || !read_scale(text, is_octets, &scale)) return false;
    if (value << scale.twos >> scale.twos != value) return false;
    value <<= scale.twos;
    for (tens += scale.tens - behind; value && tens < 0; tens++, value /= 10)
        if (value % 10) return false;
    for (; value && tens > 0; tens--, value *= 10)
        if (value > UINT64_MAX / 10) return false;
    *out = value;
    return true;
}

/* ---- shares ---------------------------------------------------------------------------------- */

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

/* ---- options --------------------------------------------------------------------------------- */

static bool read_typed(const struct option *o, const char *text, uint64_t *out)
{
    if (o->type == OPTION_TIME)
        return duration_read(text, out) || (o->unit && duration_read_bare(text, o->unit, out));
    return number_read(text, o->type == OPTION_OCTETS, out);
}

/* Examples of the option's type within these limits: ", as 4096, 64k or 1MiB"; "": none is. */
static const char *examples(const struct option *o, uint64_t least, uint64_t most)
{
    enum { MOST = 3 };
    static const char *const known[][MOST + 1] = {
        [OPTION_COUNT] = { "10000", "10k", "1e4" },
        [OPTION_OCTETS] = { "4096", "64k", "1MiB" },
        [OPTION_TIME] = { "10s", "250ms" },
    };
    static char text[64];
    const char *fit[MOST];
    size_t count = 0, used = 0;
    uint64_t number;
    for (const char *const *e = known[o->type]; *e; e++)
        if (read_typed(o, *e, &number) && number >= least && number <= most) fit[count++] = *e;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 !i              ? ", as "
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 fit[i]);
    return text;
}

static bool refuse_number(const struct verb *verb, const struct option *o, const char *text,
                          uint64_t least, uint64_t most)
{
    const char *as = examples(o, least, most);
    char from[32];
    if (o->type == OPTION_OCTETS)
        return misused(verb, "%s '%s', expected %" PRIu64 " to %" PRIu64 " octets%s", o->name, text,
                       least, most, as);
    if (o->type != OPTION_TIME)
        return misused(verb, "%s '%s', expected a whole number, %" PRIu64 " to %" PRIu64 "%s",
                       o->name, text, least, most, as);
    snprintf(from, sizeof from, "%s", duration_text(least));
    return misused(verb, "%s '%s', expected a time of %s to %s%s", o->name, text, from,
                   duration_text(most), as);
}

static bool refuse_word(const struct verb *verb, const struct option *o, const char *text)
{
    return misused(verb, "%s '%s', %sexpected one of %s", o->name, text,
                   did_you_mean(text, o->words), o->words);
}

bool number_check(const struct verb *verb, const struct option *o, const char *text)
{
    uint64_t number;
    uint32_t share;
    switch (o->type) {
    case OPTION_ANY: return true;
    case OPTION_WORD: return word_is_in(text, o->words) || refuse_word(verb, o, text);
    case OPTION_SHARE:
        return number_read_fraction(text, o->decimals, &share, NULL) ||
               misused(verb, "%s '%s', expected 0 to 1 in steps of 1e-%u, as 0.25 or 25e-2",
                       o->name, text, o->decimals);
    case OPTION_COUNT:
    case OPTION_OCTETS:
    case OPTION_TIME: break;
    }
    if (!read_typed(o, text, &number) || number < o->least || number > o->most)
        return refuse_number(verb, o, text, o->least, o->most);
    if (o->unit && !duration_read(text, &number))
        caution("%s %s is taken for %s%s: write the unit, which leat will expect", o->name, text,
                text, o->unit);
    return true;
}

bool number_take_within(const struct arguments *args, const char *option, uint64_t least,
                        uint64_t most, uint64_t *out)
{
    const char *text = argument(args, option);
    uint64_t number;
    if (!text) return true;
    const struct option *o = option_find(args->verb, option);
    if (!read_typed(o, text, &number) || number < least || number > most)
        return refuse_number(args->verb, o, text, least, most);
    *out = number;
    return true;
}

bool number_take_small_within(const struct arguments *args, const char *option, uint32_t least,
                              uint32_t most, uint32_t *out)
{
    uint64_t number = *out;
    if (!number_take_within(args, option, least, most, &number)) return false;
    *out = (uint32_t)number;
    return true;
}

bool number_take(const struct arguments *args, const char *option, uint64_t *out)
{
    const struct option *o = option_find(args->verb, option);
    return !o || number_take_within(args, option, o->least, o->most, out);
}

bool number_take_small(const struct arguments *args, const char *option, uint32_t *out)
{
    const struct option *o = option_find(args->verb, option);
    return !o || number_take_small_within(args, option, (uint32_t)o->least, (uint32_t)o->most, out);
}

bool number_take_share(const struct arguments *args, const char *option, uint32_t *out)
{
    const char *text = argument(args, option);
    return !text ||
           number_read_fraction(text, option_find(args->verb, option)->decimals, out, NULL);
}
