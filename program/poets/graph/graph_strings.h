/*
 * Interned strings, each known by its number: names of devices and pins, values of instances. A
 * file of five million edges repeats the same few strings.
 */
#ifndef LEAT_GRAPH_STRINGS_H
#define LEAT_GRAPH_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_GRAPH_NO_STRING = 0 }; /* numbers begin at 1 */
/* Limits: total length, and count. */
#define LEAT_GRAPH_STRINGS_LEN_MAX   UINT32_C(0xfffffff0)
#define LEAT_GRAPH_STRINGS_COUNT_MAX UINT32_C(0x7ffffff0)

struct leat_graph_strings {
    char *text; /* each with its NUL */
    size_t text_len, text_cap;
    uint32_t *at; /* where string i begins; [0] is unused */
    uint32_t count, at_cap;
    uint32_t *slot; /* open addressing, a power of two; 0: free */
    uint32_t slot_count;
};

/* All zero is an empty collection. */
void leat_graph_strings_free(struct leat_graph_strings *strings);

/* The number of a string, which is added if new; 0: out of memory, or a limit. */
uint32_t leat_graph_strings_add(struct leat_graph_strings *strings, const char *text, size_t len);

/* 0: there is no such string. */
uint32_t leat_graph_strings_find(const struct leat_graph_strings *strings, const char *text,
                                 size_t len);

/* Lent until the next string is added. */
static inline const char *leat_graph_string(const struct leat_graph_strings *strings,
                                            uint32_t number)
{
    return strings->text + strings->at[number];
}

#endif
