/*
 * A walk over the fields of one packet. Each format names its fields once, in one function; the
 * same function then shows a packet (as JSON or as a tree with offsets) and builds one from what a
 * user wrote (a leat_tree). Hence every value goes in and comes out:
 *
 *     cell->vpi = (uint16_t)leat_fields_uint(f, "vpi", 0, 12, cell->vpi);
 *
 * Showing, the value comes back as it went in. Reading, the user's value comes back, or the one
 * given (the default) where the user said nothing. The first mistake stops the reading: later calls
 * return their defaults, and leat_fields_finish tells.
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
    LEAT_FIELDS_ASKED_MAX = 48, /* names remembered per object, for error texts */
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
    const char *asked[LEAT_FIELDS_ASKED_MAX];
    unsigned asked_count;
};

struct leat_fields {
    enum { LEAT_FIELDS_JSON, LEAT_FIELDS_TREE, LEAT_FIELDS_READ } mode;
    struct leat_text *text;   /* showing */
    struct leat_arena *arena; /* reading: octets that users wrote as hex live here */
    unsigned depth;
    struct leat_json json;
    leat_err err;
    char message[LEAT_FIELDS_MESSAGE_MAX];                 /* reading: what was wrong and where */
    struct leat_fields_level level[LEAT_FIELDS_DEPTH_MAX]; /* reading */
};

/* Showing: the outermost object is open after init, closed by finish. */
void leat_fields_init_json(struct leat_fields *f, struct leat_text *text);
void leat_fields_init_tree(struct leat_fields *f, struct leat_text *text);
void leat_fields_init_read(struct leat_fields *f, struct leat_tree *object,
                           struct leat_arena *arena);

/* Reading: also refuses what nobody asked for. The text of a mistake is in f->message. */
leat_err leat_fields_finish(struct leat_fields *f);

bool leat_fields_reading(const struct leat_fields *f);

/* Reading: did the user write this field? Showing: true. */
bool leat_fields_has(struct leat_fields *f, const char *name);

/* Reading: the format itself refuses a value; the place is added to the text. */
void leat_fields_refuse(struct leat_fields *f, leat_err err, const char *name, const char *text);

/* A name of NULL is an item of the list that is open. */
uint64_t leat_fields_uint(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value);

/* As uint, but the tree shows hexadecimal: addresses, tags, checksums. JSON has a number still. */
uint64_t leat_fields_hex(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                         uint64_t value);

/* Shown by name, or as a number where there is none; both are read. */
uint64_t leat_fields_enum(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          const struct leat_name *names, uint64_t value);

/* Bits by name, joined by '|'; bits without a name as one number. */
uint64_t leat_fields_mask(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          const struct leat_name *names, uint64_t value);

bool leat_fields_flag(struct leat_fields *f, const char *name, size_t at, bool value);

/*
 * What the encoder computes: shown, and passed over when read (if it fits the field), so that an
 * edited packet need not have it right. Checksums are shown in hexadecimal by the tree.
 */
void leat_fields_derived(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                         uint64_t value);
void leat_fields_checksum(struct leat_fields *f, const char *name, size_t at, unsigned bits,
                          uint64_t value);
void leat_fields_derived_name(struct leat_fields *f, const char *name, size_t at,
                              const char *value);

/* A field that has but one right value: shown, and refused when something else is written. */
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

/* An object. Reading: false (and nothing to close) where the user did not write it. */
bool leat_fields_open(struct leat_fields *f, const char *name, size_t at);
void leat_fields_close(struct leat_fields *f);

/*
 * A list: returns how many items to walk (showing: `count`; reading: what the user wrote, at most
 * `max`). Items are objects between open(f, NULL, at) and close, or values with a NULL name.
 */
size_t leat_fields_list(struct leat_fields *f, const char *name, size_t at, size_t count,
                        size_t max);
void leat_fields_list_end(struct leat_fields *f);

/* The name of a value, or NULL. */
const char *leat_name_of(const struct leat_name *names, uint64_t value);

#endif
