/*
 * A walk over the fields of one packet. Each format names its fields once, in one function. The
 * same function shows a packet (as JSON or as a tree with offsets) and builds one from a user's
 * text (a leat_tree). So every field takes a value and returns one:
 *
 *     cell->vpi = (uint16_t)leat_fields_uint(f, "vpi", 0, 12, cell->vpi);
 *
 * Showing returns the value unchanged. Reading returns the user's value, or the value passed (the
 * default) if the user gave none. The first mistake stops the reading: later calls return their
 * defaults, and leat_fields_finish returns the error.
 *
 * `at` is the offset of the field in the packet's octets, shown in the tree.
 */
#ifndef LEAT_FIELDS_H
#define LEAT_FIELDS_H

#include "leat_arena.h"
#include "leat_err.h"
#include "leat_json.h"
#include "leat_text.h"
#include "leat_tree.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_FIELDS_DEPTH_MAX = 12,
    LEAT_FIELDS_KNOWN_MAX = 48, /* names remembered per object, for error texts */
    LEAT_FIELDS_MESSAGE_MAX = 400,
};

/* Names of an enumeration or of the bits of a mask; ends with a NULL name. */
struct leat_name {
    uint64_t value;
    const char *name;
};

struct leat_fields_level {
    struct leat_tree *node, *cursor;
    const char *name; /* for error texts */
    size_t index;
    const char *known[LEAT_FIELDS_KNOWN_MAX];
    unsigned known_count;
};

struct leat_fields {
    enum { LEAT_FIELDS_JSON, LEAT_FIELDS_TREE, LEAT_FIELDS_READ } mode;
    struct leat_text *text;   /* showing */
    struct leat_arena *arena; /* reading: holds the octets that users wrote as hex */
    unsigned depth;
    struct leat_json json;
    leat_err err;
    char message[LEAT_FIELDS_MESSAGE_MAX];                 /* reading: the error and its place */
    struct leat_fields_level level[LEAT_FIELDS_DEPTH_MAX]; /* reading */
};

/* Showing: the outermost object is open after init, closed by finish. */
void leat_fields_init_json(struct leat_fields *f, struct leat_text *text);
void leat_fields_init_tree(struct leat_fields *f, struct leat_text *text);
void leat_fields_init_read(struct leat_fields *f, struct leat_tree *object,
                           struct leat_arena *arena);

/* Reading: also refuses unknown fields. The error text is in f->message. */
leat_err leat_fields_finish(struct leat_fields *f);

bool leat_fields_reading(const struct leat_fields *f);

/* Reading: did the user write this field? Showing: true. */
bool leat_fields_has(struct leat_fields *f, const char *name);

/* Reading: the format itself refuses a value; adds the place to the text. */
void leat_fields_refuse(struct leat_fields *f, leat_err err, const char *name, const char *text);

/* A name of NULL is an item of the list that is open. */
uint64_t leat_fields_uint(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value);

/* Like uint, but the tree shows hexadecimal: addresses, tags, checksums. JSON still has a
 * number. */
uint64_t leat_fields_hex(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                         uint64_t value);

/* Shown by name, or as a number if it has none; both are read. */
uint64_t leat_fields_enum(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          const struct leat_name *names, uint64_t value);

/* Bits by name, joined by '|'; bits without a name as one number. */
uint64_t leat_fields_mask(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          const struct leat_name *names, uint64_t value);

bool leat_fields_flag(struct leat_fields *f, const char *name, size_t at, bool value);

/*
 * A value that the encoder computes. It is shown, and ignored when read (if it fits the field), so
 * an edited packet may have it wrong. The tree shows checksums in hexadecimal.
 */
void leat_fields_derived(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                         uint64_t value);
void leat_fields_checksum(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value);
void leat_fields_derived_name(struct leat_fields *f, const char *name, size_t at,
                              const char *value);

/* A field with only one legal value: shown; any other value is refused. */
void leat_fields_fixed(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                       uint64_t value);

/* Octets as hex. Reading: *octets points into the arena; at most len_max of them. */
void leat_fields_octets(struct leat_fields *f, const char *name, size_t at, size_t len_max,
                        const uint8_t **octets, size_t *len);

/* The same into an array of fixed size: shorter input is refused unless `pad`, then zero-filled. */
void leat_fields_octets_fixed(struct leat_fields *f, const char *name, size_t at, uint8_t *octets,
                              size_t len, bool pad);

/* Text that is mostly printable (names, log lines); JSON escapes carry any octet. */
void leat_fields_string(struct leat_fields *f, const char *name, size_t at, size_t len_max,
                        const uint8_t **octets, size_t *len);

/* An object. Reading: false (and nothing to close) if the user did not write it. */
bool leat_fields_open(struct leat_fields *f, const char *name, size_t at);
void leat_fields_close(struct leat_fields *f);

/*
 * A list: returns how many items to walk (showing: `count`; reading: the user's items, at most
 * `max`). Items are objects between open(f, NULL, at) and close, or values with a NULL name.
 */
size_t leat_fields_list(struct leat_fields *f, const char *name, size_t at, size_t count,
                        size_t max);
void leat_fields_list_end(struct leat_fields *f);

/* The name of a value, or NULL. */
const char *leat_name_of(const struct leat_name *names, uint64_t value);

#endif
