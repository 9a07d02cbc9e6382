#include "fields.h"
#include "atm_contract.h"
#include "tool.h"
#include <leat/atm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS_PER_CELL = 8 * LEAT_ATM_CELL_LEN };

bool fields_quantity(const char *text, const struct fields_unit *units, size_t count, double *out)
{
    char digits[FIELDS_WORD_LEN_MAX + 1], *end; /* strtod alone reads hexadecimal ones, too */
    snprintf(digits, sizeof digits, "%.*s", (int)strspn(text, "0123456789.eE+-"), text);
    *out = strtod(digits, &end);
    if (end == digits || *text == '+' || *text == '-') return false;
    const char *unit = text + (end - digits);
    for (size_t i = 0; i < count; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *out *= units[i].factor;
            return true;
        }
    return false;
}

bool fields_rate(const struct fields *line, const char *key, const char *text, uint64_t least,
                 uint64_t *out)
{
    const double cells = LEAT_ATM_RATE_UNIT;
    const struct fields_unit units[] = { { "", cells },
                                         { "cells/s", cells },
                                         { "kb/s", 1e3 * cells / BITS_PER_CELL },
                                         { "Mb/s", 1e6 * cells / BITS_PER_CELL } };
    double value = 0;
    if (!fields_quantity(text, units, sizeof units / sizeof *units, &value) ||
        value < (double)least || value > (double)LEAT_ATM_CONTRACT_RATE_MAX)
        return wrong(&line->place,
                     "%s '%s', expected %llu to %llu cells/s, as in 5000cells/s, 64kb/s, 2Mb/s",
                     key, text, (unsigned long long)(least / LEAT_ATM_RATE_UNIT),
                     (unsigned long long)(LEAT_ATM_CONTRACT_RATE_MAX / LEAT_ATM_RATE_UNIT));
    *out = (uint64_t)(value + 0.5);
    return true;
}

bool fields_time(const struct fields *line, const char *key, const char *text,
                 const struct fields_times *times, uint64_t *out_ps)
{
    const struct fields_unit units[] = {
        { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 }, { "s", 1e12 }, { "cells", times->cell_ps }
    };
    double value = 0;
    if (!fields_quantity(text, units, sizeof units / sizeof *units, &value) ||
        value > times->seconds_max * (double)LEAT_ATM_SECOND_PS)
        return wrong(&line->place,
                     "%s '%s', expected 0 to %u second%s with its unit, as in 500ns, 250us, 1.5ms, "
                     "20cells",
                     key, text, times->seconds_max, times->seconds_max == 1 ? "" : "s");
    *out_ps = (uint64_t)(value + 0.5);
    return true;
}

bool fields_whole(const struct fields *line, const char *key, const char *text, uint64_t least,
                  uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    size_t i = 0;
    for (; text[i] >= '0' && text[i] <= '9' && value <= most; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    if (!i || text[i] || value < least || value > most)
        return wrong(&line->place, "%s '%s', expected %llu to %llu", key, text,
                     (unsigned long long)least, (unsigned long long)most);
    *out = value;
    return true;
}

bool fields_ratio(const struct fields *line, const char *key, const char *text, uint64_t *out_e12)
{
    const struct fields_unit units[] = { { "", (double)LEAT_ATM_CLR_ONE } };
    double value = 0;
    if (!fields_quantity(text, units, 1, &value) || value > (double)LEAT_ATM_CLR_ONE)
        return wrong(&line->place, "%s '%s', expected 0 to 1, as in 0, 1e-6, 0.001", key, text);
    *out_e12 = (uint64_t)(value + 0.5);
    return true;
}

bool fields_choice(const struct fields *line, const char *key, const char *text,
                   const char *const *words, size_t count, size_t *out)
{
    char list[128] = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return true;
        }
        strcat(strcat(list, i ? ", " : ""), words[i]);
    }
    return wrong(&line->place, "%s '%s', expected one of %s", key, text, list);
}

bool fields_split(struct fields *line, int from, const char *const *names, int count,
                  const char **value)
{
    char list[256] = "";
    for (int k = 0; k < count; k++) {
        value[k] = NULL;
        strcat(strcat(list, k ? " " : ""), names[k]);
    }
    for (int i = from; i < line->count; i++) {
        char *text = line->word[i].text, *equals = strchr(text, '=');
        int k = 0;
        if (!equals)
            return wrong(&line->place, "'%s', expected key=value, key one of %s", text, list);
        *equals = '\0';
        while (k < count && strcmp(text, names[k]) != 0)
            k++;
        if (k == count)
            return wrong(&line->place, "unknown key '%s', %sexpected one of %s", text,
                         did_you_mean(text, list), list);
        if (value[k]) return wrong(&line->place, "%s for the second time, expected it once", text);
        value[k] = equals + 1;
    }
    return true;
}

bool fields_cut(struct fields *line, const char *text, size_t len)
{
    const char *comment = memchr(text, '#', len);
    struct word rest = { text, comment ? (size_t)(comment - text) : len }, word;
    line->place.line++;
    line->count = 0;
    while (lines_word(&rest, &word)) {
        for (size_t i = 0; i < word.len; i++)
            if (word.text[i] < ' ' || word.text[i] > '~')
                return wrong(&line->place, "a character outside ASCII text, expected none");
        if (word.len > FIELDS_WORD_LEN_MAX)
            return wrong(&line->place,
                         "'%.*s...' is too long, expected words of up to %d characters", 20,
                         word.text, FIELDS_WORD_LEN_MAX);
        if (line->count == FIELDS_MAX)
            return wrong(&line->place, "more than %d words, expected fewer", FIELDS_MAX);
        memcpy(line->word[line->count].text, word.text, word.len);
        line->word[line->count++].text[word.len] = '\0';
    }
    return true;
}

bool fields_inline(const struct fields *line, const char *text, char out[FIELDS_INLINE_CAP])
{
    if (strlen(text) >= FIELDS_INLINE_CAP)
        return wrong(&line->place, "longer than %d characters, expected fewer",
                     FIELDS_INLINE_CAP - 1);
    strcpy(out, text);
    out[strcspn(out, ":")] = ' ';
    for (char *c = out; *c; c++)
        if (*c == ',') *c = ' ';
    return true;
}
