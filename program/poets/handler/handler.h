/*
 * Handlers: C++ text of a file becomes functions that engines call. Each device type that has
 * devices is one source and one shared object, so that shared code of different types cannot clash.
 * The supervisor has an object of its own, and so do the values that only a compiler can evaluate.
 *
 *   graph --handler_source--> C++ --handler_build--> objects --handler_load--> leat_poets_type, ...
 *                                     |
 *                                     +-- handler_cache: what was compiled once is there next time
 *
 * No code of the file runs before its object is loaded.
 */
#ifndef LEAT_HANDLER_H
#define LEAT_HANDLER_H

#include "graph.h"
#include "handler_lines.h"
#include "poets_handler.h"
#include <stdatomic.h>
#include <stdio.h>

enum { LEAT_HANDLER_VALUES_MAX = 4096 /* of one table */ };

/* A struct with values that the compiler evaluates, in the order of `number`. */
struct leat_handler_table {
    const struct leat_graph_struct *data;
    char *name;      /* of the struct, in C++ */
    uint32_t *value; /* strings; sorted */
    uint32_t count, cap;
    struct leat_graph_place place; /* of the first */
};

/* A compiled and open object. */
struct leat_handler_object {
    uint32_t type;      /* LEAT_GRAPH_NONE: values */
    const char *symbol; /* of its table */
    struct leat_graph_place place;
    int file;
    void *loaded;           /* NULL: not */
    uintptr_t base, extent; /* where it is, and its length */
    struct leat_handler_lines lines;
};

struct leat_poets_run_options;

struct leat_handlers {
    const struct leat_poets_type **type; /* by the type's number in the graph; NULL: not needed */
    const struct leat_poets_supervisor *supervisor; /* NULL: there is none */
    const struct leat_poets_values *values;         /* NULL: none are needed */
    struct leat_handler_table *table;               /* one per table of `values` */
    uint32_t table_count;
    struct leat_handler_object *object;
    uint32_t object_count;
    uint32_t compiled, reused;                  /* how many objects */
    uint32_t unseen;                            /* that have never run on this machine */
    double seconds;                             /* of compiling */
    const struct leat_poets_run_options *guard; /* notified of code that misbehaves */
};

struct leat_handler_options {
    const char *compiler;          /* NULL: c++ */
    const char *flags;             /* additional flags, separated by blanks; NULL: none */
    bool single_precision;         /* compat.fp32const */
    const atomic_int *interrupted; /* not 0: compilers are terminated; NULL: never */
};

/* Sources as text. `type` is a number of a type. False: no memory. */
bool leat_handler_type_source(const struct leat_graph *graph, uint32_t type, FILE *out);
bool leat_handler_supervisor_source(const struct leat_graph *graph, uint32_t type, FILE *out);
bool leat_handler_values_source(const struct leat_graph *graph,
                                const struct leat_handlers *handlers, FILE *out);

/* All structs of a graph; functions that handlers may call come before. */
void leat_handler_structs(const struct leat_graph *graph, FILE *out);
/* Constants of the pins of a type, whose names may have the type's in them. */
void leat_handler_pins(const struct leat_graph_type *type, bool with_type, FILE *out);
/* The prefix of our own assertions in the compiler's output. */
#define LEAT_HANDLER_LIMIT "E_LIMIT"
/* #line: what follows comes from the application's file, or is ours again. */
void leat_handler_at(const struct leat_graph *graph, struct leat_graph_place place, FILE *out);
void leat_handler_ours(FILE *out);

/*
 * Compiles everything that the instance needs (NULL: all types, for a check). Compile errors go
 * into the report as E_CC, with the lines of the file. A graph that is complete may have errors
 * already: types that they do not affect are compiled, too. False if there are any, or if
 * interrupted.
 */
bool leat_handlers_build(struct leat_graph *graph, const struct leat_graph_instance *instance,
                         const struct leat_handler_options *options, struct leat_handlers *out);

/*
 * Loads the compiled objects. The constructors of static objects run now and their destructors on
 * closing, guarded like handlers: one that crashes or does not return ends the process.
 */
bool leat_handlers_load(struct leat_graph *graph, const struct leat_poets_run_options *options,
                        struct leat_handlers *handlers);
void leat_handlers_close(struct leat_handlers *handlers);

/* The octets of a value for a struct, plain or compiled; its default if value is 0. */
bool leat_handlers_value(struct leat_graph *graph, const struct leat_handlers *handlers,
                         const struct leat_graph_struct *data, uint32_t value, uint8_t *octets);

/* Their length, plain or compiled. */
uint32_t leat_handlers_len(const struct leat_handlers *handlers,
                           const struct leat_graph_struct *data);

/* poets_handler.h and handler_preamble.hpp, as text. */
extern const char leat_handler_abi_text[], leat_handler_preamble_text[];

#endif
