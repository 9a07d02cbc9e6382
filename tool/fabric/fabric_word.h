/* Names of fabrics with parameters: ring16/propagation=5/clock=4MHz. */
#ifndef LEAT_FABRIC_WORD_H
#define LEAT_FABRIC_WORD_H

#include "sim_clock.h"
#include "tool.h"

/* A piece of the name, up to the next '/'. */
struct fabric_piece {
    const char *text;
    size_t len;
};

struct fabric_piece fabric_next_piece(const char **rest);

/* The value of KEY=VALUE. */
bool fabric_is_key(struct fabric_piece piece, const char *key, struct fabric_piece *value);

bool fabric_number(struct fabric_piece value, uint64_t least, uint64_t most, uint32_t *out);

/* A spelling, for leat fabric list. */
struct fabric_spelling {
    const char *name, *text;
};

/* So many periods of a clock, in nanoseconds. */
double fabric_ns(const struct leat_sim_clock *clock, uint64_t periods);

/* An option that was given and is none of `known`, whose end is a NULL; or NULL. */
const char *fabric_foreign_option(const struct arguments *args, const char *const *known);

/* Such an option has no meaning for this fabric, which is `what`: false after a complaint. */
bool fabric_refuse_foreign(const struct arguments *args, const char *word, const char *what,
                           const char *const *known);

#endif
