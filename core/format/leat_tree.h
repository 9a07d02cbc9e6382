/*
 * A user's description of a packet, as a tree: parsed from JSON, or built from `key=value` words
 * (`records.0.address=0x201`). Numbers are exact to 64 bits. A character of a JSON string is an
 * octet, U+0000..U+00FF; a word of the command line has its octets as typed.
 */
#ifndef LEAT_TREE_H
#define LEAT_TREE_H

#include "leat_arena.h"
#include "leat_err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_TREE_DEPTH_MAX = 16 };

enum leat_tree_kind {
    LEAT_TREE_NULL,
    LEAT_TREE_BOOL,
    LEAT_TREE_NUMBER, /* an unsigned integer of 64 bits */
    LEAT_TREE_STRING,
    LEAT_TREE_OBJECT,
    LEAT_TREE_LIST,
};

struct leat_tree {
    enum leat_tree_kind kind;
    bool used;       /* set by the reader of the node; unused nodes are unknown fields */
    const char *key; /* not terminated; NULL in a list and at the root */
    size_t key_len;
    const char *text; /* STRING: not terminated, escapes resolved */
    size_t text_len;
    uint64_t number; /* NUMBER, BOOL */
    struct leat_tree *child, *last, *next;
};

/*
 * One JSON value that fills the text. Nodes come from the arena; strings are lent from `text` or
 * the arena, so both must outlive the tree. On error *fault_at is the offset in the text.
 */
leat_err leat_tree_parse_json(struct leat_arena *arena, const char *text, size_t len,
                              struct leat_tree **out, size_t *fault_at);

/*
 * The length of the first JSON value in a stream, with the blanks before it. 0: it does not end
 * here. Looks only at brackets and quotes; the parser checks the syntax.
 */
size_t leat_tree_json_extent(const char *text, size_t len);

/* Adds `path=value` to an OBJECT; the value is kept as a STRING, lent from `pair`. */
leat_err leat_tree_add_pair(struct leat_arena *arena, struct leat_tree *root, const char *pair,
                            size_t len);

struct leat_tree *leat_tree_new(struct leat_arena *arena, enum leat_tree_kind kind);

/* The member called `key`, or NULL. The node is not marked used. */
struct leat_tree *leat_tree_find(const struct leat_tree *object, const char *key);

/* The value of a hexadecimal digit; above 15: it is none. */
unsigned leat_tree_digit(char c);

/* A number written as decimal, 0x hexadecimal or 0b binary digits. */
bool leat_tree_number(const char *text, size_t len, uint64_t *out);

#endif
