/*
 * The members of a struct of an application (Properties, State, Message), their offsets, and their
 * values. Three notations make one layout:
 *
 *   v4             uint32_t t; struct { float v[3]; } cell;      nothing else (the POD grammar)
 *   Orchestrator   the same, any arithmetic type, "= 5", several names in one declaration;
 *                  what is beyond that is C++, which only a compiler can lay out
 *   v3             Scalar, Tuple and Array elements
 *
 * and two notations give values:  {1, {0.5, 2}}  by position,  "t":1, "cell":{"v":[0.5]}  by name.
 * A member that is not named keeps its default, or 0. When the struct is compiled, static_assert
 * checks the compiler's offsets against these.
 */
#ifndef LEAT_GRAPH_LAYOUT_H
#define LEAT_GRAPH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_POETS_LAYOUT_DIMS_MAX = 8,
    LEAT_POETS_LAYOUT_NODES_MAX = 4096,
    LEAT_POETS_LAYOUT_DEPTH_MAX = 16,
    LEAT_POETS_LAYOUT_SIZE_MAX = 1 << 24, /* octets of one struct */
    LEAT_POETS_LAYOUT_WHY_LEN = 200,
};

enum leat_poets_layout_kind {
    LEAT_POETS_LAYOUT_INT,   /* with a sign */
    LEAT_POETS_LAYOUT_UINT,  /* bool, too */
    LEAT_POETS_LAYOUT_FLOAT, /* 4 or 8 octets */
    LEAT_POETS_LAYOUT_STRUCT
};

struct leat_poets_layout_node {
    char *name;      /* "" where an element of an array has none */
    char *type_name; /* v3: of a TypeDef, for the C++ text; else NULL */
    char *initial;   /* v3: its initial JSON, or NULL */
    const char *type;
    enum leat_poets_layout_kind kind;
    uint32_t size, align; /* of one element */
    uint32_t offset;      /* in the element of the struct around it */
    uint32_t dim_count, dim[LEAT_POETS_LAYOUT_DIMS_MAX];
    uint32_t next; /* the node after this one and all within it */
};

struct leat_poets_layout {
    struct leat_poets_layout_node
        *node; /* in the order of declaration, members after their struct */
    uint32_t count, cap;
    uint32_t size, align;
    bool packed;
    uint8_t *initial; /* `size` octets: defaults, zeros elsewhere */
};

/* The reason, and the line of the text (0 is the first). */
struct leat_poets_layout_fault {
    uint32_t line;
    bool no_memory;
    char why[LEAT_POETS_LAYOUT_WHY_LEN];
};

void leat_poets_layout_free(struct leat_poets_layout *layout);

/* A type by its C++ name; false: none whose size is the same everywhere. */
bool leat_poets_layout_scalar(const char *name, size_t len, bool any_arithmetic,
                              struct leat_poets_layout_node *out);

/* Adds a node with a copy of `name`; NULL: out of memory, or one node too many. */
struct leat_poets_layout_node *leat_poets_layout_add(struct leat_poets_layout *layout,
                                                     const char *name, size_t len);

/* After all nodes have been added: offsets, size, zeros for defaults. */
bool leat_poets_layout_place(struct leat_poets_layout *layout, bool packed,
                             struct leat_poets_layout_fault *fault);

/* Member declarations. `cpp`: of the Orchestrator. On failure *out is empty. */
bool leat_poets_layout_parse(const char *text, bool cpp, bool packed, struct leat_poets_layout *out,
                             struct leat_poets_layout_fault *fault);

/*
 * Writes values over the octets. `cpp`: outer braces are optional, and number literals may have
 * suffixes; text that fails there may still be valid C++. On failure octets may be partly written.
 */
bool leat_poets_layout_assign(const struct leat_poets_layout *layout, const char *text, bool cpp,
                              uint8_t *octets, struct leat_poets_layout_fault *fault);
bool leat_poets_layout_assign_json(const struct leat_poets_layout *layout, const char *text,
                                   uint8_t *octets, struct leat_poets_layout_fault *fault);

/* The defaults of v3 members, inner ones first. */
bool leat_poets_layout_initialise(struct leat_poets_layout *layout,
                                  struct leat_poets_layout_fault *fault);

#endif
