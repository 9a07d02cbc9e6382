/*
 * The lines of a compiled object: which line of which file an address belongs to, by the line table
 * that the compiler wrote (DWARF, version 4, in an ELF file of this machine). Finding a line reads
 * memory only, so that a signal handler may do it.
 */
#ifndef LEAT_HANDLER_LINES_H
#define LEAT_HANDLER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table of an object, which it maps; all zero: none. */
struct leat_handler_lines {
    const uint8_t *octets; /* the whole file */
    size_t len;
    size_t table_at, table_len;
};

/* A name is lent until the lines are closed. */
struct leat_handler_line {
    const char *folder; /* "": none is given */
    const char *name;
    uint32_t line;
};

/* `file` is a descriptor. False: there is no table. */
bool leat_handler_lines_open(struct leat_handler_lines *lines, int file);
void leat_handler_lines_close(struct leat_handler_lines *lines);

/* `address` as in the object, without the place where it is loaded. False: it has no line. */
bool leat_handler_lines_find(const struct leat_handler_lines *lines, uint64_t address,
                             struct leat_handler_line *out);

#endif
