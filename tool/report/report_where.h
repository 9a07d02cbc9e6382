/*
 * Which runs a report shows: --where KEY=VALUE, several of which all hold.
 *
 *   fabric=mesh*,torus*    traffic=uniform    program=*rounds*     patterns, as of a shell
 *   load=0.1:0.5    load<=0.3    seed=1,2,7    sweep>=2            numbers and ranges
 *   fabric!=mesh*   seed!=1,2                                      none of these
 *
 * A comma separates patterns only where a name can begin (a letter, '.' or '/' follows), since
 * names of fabrics have commas themselves: mesh:4,4 and mesh:4,* are one pattern each.
 */
#ifndef LEAT_REPORT_WHERE_H
#define LEAT_REPORT_WHERE_H

#include "tool.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    WHERE_CLAUSES_MAX = 16,
    WHERE_CHOICES_MAX = 32,
    WHERE_TEXT_CAP = 512,
    WHERE_LISTED_MAX = 24
};

enum where_key {
    WHERE_FABRIC,
    WHERE_TRAFFIC,
    WHERE_PROGRAM,
    WHERE_LOAD,
    WHERE_SEED,
    WHERE_SWEEP,
    WHERE_KEYS,
};

/* What is asked of a run, or of a program's run. */
struct where_row {
    const char *word[WHERE_LOAD];                /* fabric, traffic, program; NULL: it has none */
    long double number[WHERE_KEYS - WHERE_LOAD]; /* load, seed, sweep; NAN: none */
};

struct where_range {
    long double first, last;
    bool without_first, without_last; /* < and > */
};

struct where_clause {
    char text[WHERE_TEXT_CAP]; /* as the user wrote it */
    enum where_key key;
    bool excludes;              /* != */
    char words[WHERE_TEXT_CAP]; /* patterns, one behind the other's end */
    const char *pattern[WHERE_CHOICES_MAX];
    struct where_range range[WHERE_CHOICES_MAX];
    size_t choices;
};

struct where {
    struct where_clause clause[WHERE_CLAUSES_MAX];
    size_t clauses;
};

/* Reads clauses that are separated by newlines; NULL: there is none. False after a complaint. */
bool where_read(const struct verb *verb, const char *text, struct where *out);

/* Does it satisfy the clause, all of them? What a row does not have satisfies no clause. */
bool where_holds(const struct where_clause *clause, const struct where_row *row);
bool where_all_hold(const struct where *where, const struct where_row *row);

/* ---- if nothing matches: what there is ---- */

/* Counts which clauses match at all, and lists the different values of each key. */
struct where_census {
    bool matched[WHERE_CLAUSES_MAX];
    char value[WHERE_KEYS][WHERE_LISTED_MAX][WHERE_TEXT_CAP];
    size_t values[WHERE_KEYS];
    bool more[WHERE_KEYS]; /* than WHERE_LISTED_MAX */
};
void where_count(const struct where *where, const struct where_row *row,
                 struct where_census *census);

/* Complains that nothing matches, and says what there is. Returns WRONG. */
int where_explain(const struct where *where, const struct where_census *census, const char *store);

#endif
