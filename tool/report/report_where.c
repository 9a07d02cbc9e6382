#include "report_where.h"
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS "fabric traffic program load seed sweep"

static const char *const key_names[WHERE_KEYS] = { "fabric", "traffic", "program",
                                                   "load",   "seed",    "sweep" };

static bool is_word(enum where_key key)
{
    return key < WHERE_LOAD;
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool read_key(const struct verb *verb, struct where_clause *c, size_t len)
{
    char name[WHERE_TEXT_CAP];
    memcpy(name, c->text, len);
    name[len] = '\0';
    for (int k = 0; k < WHERE_KEYS; k++)
        if (strcmp(name, key_names[k]) == 0) {
            c->key = (enum where_key)k;
            return true;
        }
    return misused(verb, "--where %s: there is no key '%s', %sexpected one of %s", c->text, name,
                   did_you_mean(name, KEYS), KEYS);
}

static bool begins_a_name(char c)
{
    return isalpha((unsigned char)c) || c == '.' || c == '/';
}

static bool add_choice(const struct verb *verb, struct where_clause *c)
{
    if (c->choices++ < WHERE_CHOICES_MAX) return true;
    return misused(verb, "--where %s: there are more than %d values", c->text, WHERE_CHOICES_MAX);
}

static bool read_patterns(const struct verb *verb, struct where_clause *c, const char *value)
{
    strcpy(c->words, value); /* a part of c->text */
    if (!*value) return misused(verb, "--where %s: expected a pattern behind =", c->text);
    for (char *at = c->words; at;) {
        char *comma = at;
        if (!add_choice(verb, c)) return false;
        c->pattern[c->choices - 1] = at;
        while ((comma = strchr(comma, ',')) && !begins_a_name(comma[1]))
            comma++;
        if (comma) *comma++ = '\0';
        at = comma;
    }
    return true;
}

/* Loads are doubles in the store: 0.1 of a command line is that of a run. */
static const char *read_number(enum where_key key, const char *at, long double *out)
{
    char *end;
    const long double value = strtold(at, &end);
    *out = key == WHERE_LOAD ? (long double)strtod(at, NULL) : value;
    const bool sound = end > at && !isspace((unsigned char)*at) && isfinite(value) &&
                       (key == WHERE_LOAD || (value >= 0 && value == floorl(value)));
    return sound ? end : NULL;
}

static bool expected_numbers(const struct verb *verb, const struct where_clause *c)
{
    return misused(verb, "--where %s: expected %s, as in %s", c->text,
                   c->key == WHERE_LOAD ? "loads" : "whole numbers",
                   c->key == WHERE_LOAD ? "load=0.1:0.5, load=0.1,0.2 or load<=0.3"
                                        : "seed=1:4, seed=1,7 or sweep>=2");
}

/* NUMBER or FIRST:LAST, several with commas between. */
static bool read_ranges(const struct verb *verb, struct where_clause *c, const char *at)
{
    do {
        struct where_range range = { 0 };
        if (!(at = read_number(c->key, at, &range.first))) return expected_numbers(verb, c);
        range.last = range.first;
        if (*at == ':' && !(at = read_number(c->key, at + 1, &range.last)))
            return expected_numbers(verb, c);
        if ((*at && *at != ',') || range.last < range.first) return expected_numbers(verb, c);
        if (!add_choice(verb, c)) return false;
        c->range[c->choices - 1] = range;
    } while (*at++);
    return true;
}

/* "<=0.3": a range that is open at one end. */
static bool read_bound(const struct verb *verb, struct where_clause *c, const char *at)
{
    const bool below = *at++ == '<', with = *at == '=';
    long double bound;
    const char *end = read_number(c->key, at + with, &bound);
    if (!end || *end) return expected_numbers(verb, c);
    c->choices = 1;
    c->range[0] = below ? (struct where_range){ -INFINITY, bound, .without_last = !with }
                        : (struct where_range){ bound, INFINITY, .without_first = !with };
    return true;
}

static bool read_clause(const struct verb *verb, const char *text, size_t len,
                        struct where_clause *c)
{
    if (len >= sizeof c->text)
        return misused(verb, "--where %.40s...: longer than %d characters", text,
                       WHERE_TEXT_CAP - 1);
    *c = (struct where_clause){ 0 };
    memcpy(c->text, text, len);
    const size_t key_len = strcspn(c->text, "!=<>");
    c->excludes = strncmp(c->text + key_len, "!=", 2) == 0;
    const char *at = c->text + key_len + c->excludes;
    if (!*at || *at == '!')
        return misused(verb, "--where %s: expected KEY=VALUE, as in fabric=mesh*, or KEY!=VALUE",
                       c->text);
    if (!read_key(verb, c, key_len)) return false;
    if (*at == '=')
        return is_word(c->key) ? read_patterns(verb, c, at + 1) : read_ranges(verb, c, at + 1);
    if (!is_word(c->key)) return read_bound(verb, c, at);
    return misused(verb, "--where %s: %s is no number, expected %s=PATTERN", c->text,
                   key_names[c->key], key_names[c->key]);
}

bool where_read(const struct verb *verb, const char *text, struct where *out)
{
    out->clauses = 0;
    while (text) {
        const size_t len = strcspn(text, "\n");
        if (out->clauses == WHERE_CLAUSES_MAX)
            return misused(verb, "--where: expected at most %d", WHERE_CLAUSES_MAX);
        if (!read_clause(verb, text, len, &out->clause[out->clauses++])) return false;
        text = text[len] ? text + len + 1 : NULL;
    }
    return true;
}

/* ---- asking -------------------------------------------------------------------------------- */

/* A program is known by its command, by its first word, and by the name of that without folders. */
static bool is_program(const char *pattern, const char *command)
{
    char word[WHERE_TEXT_CAP];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(command, " "), command);
    const char *slash = strrchr(word, '/');
    return fnmatch(pattern, command, 0) == 0 || fnmatch(pattern, word, 0) == 0 ||
           (slash && fnmatch(pattern, slash + 1, 0) == 0);
}

static bool is_within(const struct where_range *range, long double value)
{
    return (value > range->first || (value == range->first && !range->without_first)) &&
           (value < range->last || (value == range->last && !range->without_last));
}

static bool is_choice(const struct where_clause *c, size_t choice, const struct where_row *row)
{
    if (!is_word(c->key)) return is_within(&c->range[choice], row->number[c->key - WHERE_LOAD]);
    const char *word = row->word[c->key];
    return c->key == WHERE_PROGRAM ? is_program(c->pattern[choice], word)
                                   : fnmatch(c->pattern[choice], word, 0) == 0;
}

static bool has(const struct where_row *row, enum where_key key)
{
    return is_word(key) ? row->word[key] != NULL : !isnan(row->number[key - WHERE_LOAD]);
}

bool where_holds(const struct where_clause *clause, const struct where_row *row)
{
    if (!has(row, clause->key)) return false;
    for (size_t i = 0; i < clause->choices; i++)
        if (is_choice(clause, i, row)) return !clause->excludes;
    return clause->excludes;
}

bool where_all_hold(const struct where *where, const struct where_row *row)
{
    for (size_t i = 0; i < where->clauses; i++)
        if (!where_holds(&where->clause[i], row)) return false;
    return true;
}

/* ---- what there is ------------------------------------------------------------------------- */

static void list(struct where_census *census, enum where_key key, const struct where_row *row)
{
    char text[WHERE_TEXT_CAP];
    if (!has(row, key)) return;
    if (is_word(key))
        snprintf(text, sizeof text, "%s", row->word[key]);
    else
        snprintf(text, sizeof text, key == WHERE_LOAD ? "%.6Lg" : "%.0Lf",
                 row->number[key - WHERE_LOAD]);
    for (size_t i = 0; i < census->values[key]; i++)
        if (strcmp(census->value[key][i], text) == 0) return;
    if (census->values[key] == WHERE_LISTED_MAX)
        census->more[key] = true;
    else
        strcpy(census->value[key][census->values[key]++], text);
}

void where_count(const struct where *where, const struct where_row *row,
                 struct where_census *census)
{
    for (size_t i = 0; i < where->clauses; i++)
        census->matched[i] |= where_holds(&where->clause[i], row);
    for (int k = 0; k < WHERE_KEYS; k++)
        list(census, (enum where_key)k, row);
}

/* "fabric: mesh:4,4 torus:4,4". */
static void put_values(FILE *out, const struct where_census *census, enum where_key key)
{
    fprintf(out, "%s:", key_names[key]);
    for (size_t i = 0; i < census->values[key]; i++)
        fprintf(out, " %s", census->value[key][i]);
    fputs(census->more[key] ? " ..." : census->values[key] ? "" : " none is there", out);
}

int where_explain(const struct where *where, const struct where_census *census, const char *store)
{
    char *there = NULL;
    size_t len, none = 0;
    FILE *out = open_memstream(&there, &len);
    if (!out) return fail("no memory");
    while (none < where->clauses && census->matched[none])
        none++;
    if (none < where->clauses)
        put_values(out, census, where->clause[none].key);
    else /* each matches something, but nothing matches all */
        for (size_t i = 0; i < where->clauses; i++) {
            if (i) fputs("; ", out);
            put_values(out, census, where->clause[i].key);
        }
    if (fclose(out) != 0 || !there) return fail("no memory");
    complain("%s: nothing matches %s%s, expected some of %s", store,
             none < where->clauses ? "--where " : "all of --where",
             none < where->clauses ? where->clause[none].text : "", there);
    free(there);
    return WRONG;
}
