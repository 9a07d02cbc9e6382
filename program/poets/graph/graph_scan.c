#include "graph_scan.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_LEN = 24 };

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool leat_poets_scan_skip(struct leat_poets_scan *s)
{
    for (;; s->at++) {
        if (s->at[0] == '/' && s->at[1] == '/') {
            while (s->at[1] && s->at[1] != '\n')
                s->at++;
        } else if (s->at[0] == '/' && s->at[1] == '*') {
            for (s->at += 2; *s->at && !(s->at[0] == '*' && s->at[1] == '/'); s->at++)
                s->line += *s->at == '\n';
            if (!*s->at) return false;
            s->at++;
        } else if (*s->at == '\n') {
            s->line++;
        } else if (*s->at != ' ' && !(*s->at >= '\t' && *s->at <= '\r')) {
            return true;
        }
    }
}

bool leat_poets_scan_take(struct leat_poets_scan *s, char c)
{
    if (!leat_poets_scan_skip(s) || *s->at != c) return false;
    s->at++;
    return true;
}

const char *leat_poets_scan_name(struct leat_poets_scan *s, size_t *len)
{
    if (!leat_poets_scan_skip(s) || !is_letter(*s->at)) return NULL;
    const char *name = s->at;
    while (is_letter(*s->at) || is_digit(*s->at))
        s->at++;
    *len = (size_t)(s->at - name);
    return name;
}

bool leat_poets_scan_fail(struct leat_poets_scan *s, const char *expected, ...)
{
    char here[SHOWN_LEN + 1];
    size_t len = 0;
    va_list list;
    while (len < SHOWN_LEN && s->at[len] && s->at[len] != '\n') {
        here[len] = (char)(s->at[len] >= ' ' && s->at[len] <= '~' ? s->at[len] : '?');
        len++;
    }
    here[len] = '\0';
    s->fault->line = s->line;
    const int n = len ? snprintf(s->fault->why, sizeof s->fault->why, "'%s', expected ", here)
                      : snprintf(s->fault->why, sizeof s->fault->why, "it ends, expected ");
    va_start(list, expected);
    vsnprintf(s->fault->why + n, sizeof s->fault->why - (size_t)n, expected, list);
    va_end(list);
    return false;
}

static void store(const struct leat_poets_layout_node *node, uint64_t value, uint8_t *octets)
{
    /* Handlers are compiled for this machine, so this uses its byte order. */
    const uint8_t u8 = (uint8_t)value;
    const uint16_t u16 = (uint16_t)value;
    const uint32_t u32 = (uint32_t)value;
    const void *from = node->size == 1   ? (const void *)&u8
                       : node->size == 2 ? (const void *)&u16
                       : node->size == 4 ? (const void *)&u32
                                         : (const void *)&value;
    memcpy(octets, from, node->size);
}

static bool out_of_range(struct leat_poets_scan *s, const struct leat_poets_layout_node *node)
{
    return leat_poets_scan_fail(s, "a number that fits %s %s", node->type, node->name);
}

static bool store_whole(struct leat_poets_scan *s, const struct leat_poets_layout_node *node,
                        bool negative, uint64_t magnitude, uint8_t *octets)
{
    const bool is_signed = node->kind == LEAT_POETS_LAYOUT_INT;
    const unsigned bits = 8 * node->size - is_signed;
    const uint64_t most = strcmp(node->type, "bool") == 0 ? 1
                          : bits == 64                    ? UINT64_MAX
                                                          : (UINT64_C(1) << bits) - 1;
    if (magnitude > most + (negative && is_signed)) return out_of_range(s, node);
    if (negative && !is_signed && magnitude) return out_of_range(s, node);
    store(node, negative ? 0 - magnitude : magnitude, octets);
    return true;
}

static bool store_float(struct leat_poets_scan *s, const struct leat_poets_layout_node *node,
                        double value, uint8_t *octets)
{
    if (node->kind != LEAT_POETS_LAYOUT_FLOAT) {
        const double magnitude = fabs(value);
        if (!(magnitude < 18446744073709551616.0) || floor(value) != value)
            return leat_poets_scan_fail(s, "a whole number for %s %s", node->type, node->name);
        return store_whole(s, node, value < 0, (uint64_t)magnitude, octets);
    }
    const float narrow = (float)value;
    if (node->size == sizeof narrow && isinf(narrow) && !isinf(value)) return out_of_range(s, node);
    memcpy(octets, node->size == sizeof narrow ? (const void *)&narrow : (const void *)&value,
           node->size);
    return true;
}

/* Digits, then a point or an exponent: a floating-point literal. */
static bool is_floating(const char *at)
{
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        return strcspn(at, ".pP") < strcspn(at, ",}");
    while (is_digit(*at))
        at++;
    return *at == '.' || *at == 'e' || *at == 'E';
}

static bool skip_suffix(struct leat_poets_scan *s, const char *letters)
{
    while (*s->at && strchr(letters, *s->at))
        s->at++;
    return !is_letter(*s->at) && !is_digit(*s->at) && *s->at != '.';
}

/* true, false; JSON's names for special values. 0: none of these. */
static int read_word(struct leat_poets_scan *s, bool cpp, double *value)
{
    static const struct {
        const char *word;
        bool cpp;
        double value;
    } words[] = { { "true", true, 1 },
                  { "false", true, 0 },
                  { "NaN", false, (double)NAN },
                  { "Infinity", false, (double)INFINITY } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t len = strlen(words[i].word);
        if ((cpp && !words[i].cpp) || strncmp(s->at, words[i].word, len) != 0) continue;
        s->at += len;
        *value = words[i].value;
        return 1;
    }
    if (!cpp || s->at[0] != '\'' || !s->at[1] || s->at[1] == '\\' || s->at[2] != '\'') return 0;
    *value = s->at[1];
    s->at += 3;
    return 1;
}

bool leat_poets_scan_number(struct leat_poets_scan *s, const struct leat_poets_layout_node *node,
                            bool cpp, uint8_t *octets)
{
    static const char want[] = "a number for %s %s";
    if (!leat_poets_scan_skip(s)) return leat_poets_scan_fail(s, "the end of a comment");
    const struct leat_poets_scan start = *s;
    const bool negative = *s->at == '-';
    double value;
    char *end;
    if (*s->at == '-' || *s->at == '+') s->at++;
    if (read_word(s, cpp, &value)) return store_float(s, node, negative ? -value : value, octets);
    if (!is_digit(*s->at) && !(*s->at == '.' && is_digit(s->at[1]))) {
        *s = start;
        return leat_poets_scan_fail(s, want, node->type, node->name);
    }
    errno = 0;
    const bool floating = is_floating(s->at);
    const uint64_t whole = floating ? 0 : strtoull(s->at, &end, cpp ? 0 : 10);
    value = floating ? strtod(s->at, &end) : 0;
    const bool too_large = errno == ERANGE && (!floating || value > 1);
    s->at = end;
    if (!skip_suffix(s, !cpp ? "" : floating ? "fFlL" : "uUlL")) {
        *s = start;
        return leat_poets_scan_fail(s, want, node->type, node->name);
    }
    const char *after = s->at;
    s->at = start.at; /* for messages */
    const bool good =
        too_large ? out_of_range(s, node)
        : floating || node->kind == LEAT_POETS_LAYOUT_FLOAT
            ? store_float(s, node, (negative ? -1 : 1) * (floating ? value : (double)whole), octets)
            : store_whole(s, node, negative, whole, octets);
    if (good) s->at = after;
    return good;
}
