/* A reader of a file, shared by the walk over its elements (graph_read.c) and what they create
 * (graph_open.c). */
#ifndef LEAT_GRAPH_READ_PARTS_H
#define LEAT_GRAPH_READ_PARTS_H

#include "graph_grammar.h"
#include "graph_parts.h"
#include <expat.h>
#include <stdio.h>

enum {
    RULES_MAX = 128,
    ATTRIBUTES_MAX = 6,
    CHILDREN_MAX = 32, /* rules of one parent */
    PIECE = 1 << 18,
    TOKEN_LEN_MAX = 1 << 26, /* a tag, with its attributes */
    SHOWN = 40,
};

/* A rule's attributes, read once. */
struct leat_graph_attributes {
    uint32_t count;
    struct {
        const char *name;
        size_t len;
        bool optional;
    } at[ATTRIBUTES_MAX];
};

/* The rules of one parent, in any dialect. */
struct leat_graph_children {
    uint8_t count, rule[CHILDREN_MAX];
    uint8_t required_count, required[CHILDREN_MAX];
};

struct leat_graph_frame {
    const struct leat_graph_rule *rule;
    struct leat_graph_place place;
    uint64_t seen[RULES_MAX / 64]; /* rules that were used within it */
    bool stray;                    /* misplaced text was reported */
};

struct leat_graph_reader {
    struct leat_graph *graph;
    XML_Parser parser;
    uint64_t fed;            /* octets, to the parser */
    uint64_t instruction_at; /* the last one's; only at the end of a slice */
    uint32_t breaks;         /* newlines in what was read last */
    const char *file;
    uint16_t file_number;
    bool type_only; /* for a file that another one refers to */
    bool stopped;
    enum leat_graph_dialect wanted;
    uint32_t depth, skipped;
    struct leat_graph_frame frame[LEAT_GRAPH_TYPE_DEPTH_MAX];
    struct leat_graph_struct *data; /* that is open */
    uint32_t member_depth;
    char *text;
    size_t text_len, text_cap;
    uint32_t text_lines;
    struct leat_graph_place text_place;
    struct leat_graph_code reference; /* src of a GraphTypeReference */
    char *reference_id;
    struct leat_graph_attributes attributes[RULES_MAX];
    struct leat_graph_children children[ELEMENT_COUNT];
};

/* Where the parser stands. */
struct leat_graph_place leat_graph_reader_here(const struct leat_graph_reader *r);
/* An error there, as leat_graph_wrong reports it. */
#define WRONG_HERE(r, ...) \
    leat_graph_wrong(&(r)->graph->report, leat_graph_reader_here(r), __VA_ARGS__)
/* The open element. */
struct leat_graph_frame *leat_graph_reader_top(struct leat_graph_reader *r);
/* Stops reading. */
void leat_graph_reader_stop(struct leat_graph_reader *r);
void leat_graph_reader_no_memory(struct leat_graph_reader *r);

/* The number of a value's string; 0 if it is blank. Surrounding blanks do not count. */
uint32_t leat_graph_reader_value_of(struct leat_graph_reader *r, const char *text, size_t len);

/* The next octets of a file; UINT64_MAX: all that follow, to the end of the text. */
void leat_graph_reader_feed(struct leat_graph_reader *r, FILE *in, uint64_t len);
/* The head and a slice of a file (graph_slice.c). False: it does not end between two elements. */
struct leat_graph_slice;
bool leat_graph_reader_feed_slice(struct leat_graph_reader *r, FILE *in,
                                  struct leat_graph_slice *slice);

/* What was opened last. */
struct leat_graph_type *leat_graph_reader_last_type(struct leat_graph_reader *r);
struct leat_graph_instance *leat_graph_reader_last_instance(struct leat_graph_reader *r);
struct leat_graph_pins *leat_graph_reader_pins_of(struct leat_graph_reader *r,
                                                  enum leat_graph_element element);

/* Handles the start of an element. */
void leat_graph_reader_open(struct leat_graph_reader *r, const struct leat_graph_rule *rule,
                            const XML_Char **list);

#endif
