/*
 * Lines of "word key=value key=value ..." in users' files about cells: cut into words, and the
 * values read. Leading and trailing blanks and comments from # on do not count.
 */
#ifndef LEAT_FIELDS_H
#define LEAT_FIELDS_H

#include "lines.h"

enum { FIELDS_MAX = 24, FIELDS_WORD_LEN_MAX = 63 };

struct fields {
    struct leat_fabric_place place;
    struct {
        char text[FIELDS_WORD_LEN_MAX + 1];
    } word[FIELDS_MAX];
    int count;
};

/* The next line. This and all below: false after a complaint. */
bool fields_cut(struct fields *line, const char *text, size_t len);

/* Cuts the words from `from` on at the equals sign; value[k] is NULL where key k is not there. */
bool fields_split(struct fields *line, int from, const char *const *names, int count,
                  const char **value);

struct fields_unit {
    const char *name;
    double factor;
};

/* The number in what a factor of 1 means; false: no number without sign, or no unit of these. It
 * does not complain. */
bool fields_quantity(const char *text, const struct fields_unit *units, size_t count, double *out);

struct fields_times {
    double cell_ps; /* of the unit "cells" */
    unsigned seconds_max;
};

/* Rates as in contracts (LEAT_ATM_RATE_UNIT); times; shares of 1 in 10^12; whole numbers. */
bool fields_rate(const struct fields *line, const char *key, const char *text, uint64_t least,
                 uint64_t *out);
bool fields_time(const struct fields *line, const char *key, const char *text,
                 const struct fields_times *times, uint64_t *out_ps);
bool fields_ratio(const struct fields *line, const char *key, const char *text, uint64_t *out_e12);
bool fields_whole(const struct fields *line, const char *key, const char *text, uint64_t least,
                  uint64_t most, uint64_t *out);

/* One of `count` words. */
bool fields_choice(const struct fields *line, const char *key, const char *text,
                   const char *const *words, size_t count, size_t *out);

/* "what:KEY=VALUE,..." of a command line, as the line "what KEY=VALUE ..." of a file. */
enum { FIELDS_INLINE_CAP = FIELDS_MAX * FIELDS_WORD_LEN_MAX };
bool fields_inline(const struct fields *line, const char *text, char out[FIELDS_INLINE_CAP]);

#endif
