/*
 * Handlers: C++ text of a file into functions that engines call. Each device type that has devices
 * is one source and one shared object, so that their shared code does not meet; so is the
 * supervisor, and one object has the values that only a compiler can make.
 *
 *   graph --handler_source--> C++ --handler_build--> objects --handler_load--> leat_poets_type, ...
 *                                     |
 *                                     +-- handler_cache: what was compiled once is there next time
 *
 * Until objects are loaded, no code of the file runs.
 */
#ifndef LEAT_HANDLER_H
#define LEAT_HANDLER_H

#include "graph.h"
#include "poets_handler.h"
#include <signal.h>
#include <stdio.h>

enum { LEAT_HANDLER_VALUES_MAX = 4096 /* of one table */ };

/* A struct with values that the compiler makes, in the order of `number`. */
struct leat_handler_table {
    const struct leat_graph_struct *data;
    char *name;      /* of the struct, in C++ */
    uint32_t *value; /* strings; sorted */
    uint32_t count, cap;
    struct leat_graph_place place; /* of the first */
};

/* One that is compiled, and open. */
struct leat_handler_object {
    uint32_t type;      /* LEAT_GRAPH_NONE: values */
    const char *symbol; /* of its table */
    struct leat_graph_place place;
    int file;
    void *loaded; /* NULL: not */
};

struct leat_poets_run_options;

struct leat_handlers {
    const struct leat_poets_type **type; /* by the type's number in the graph; NULL: not needed */
    const struct leat_poets_supervisor *supervisor; /* NULL: there is none */
    const struct leat_poets_values *values;         /* NULL: none are needed */
    struct leat_handler_table *table;               /* one per table of `values` */
    uint32_t table_count, table_cap;
    struct leat_handler_object *object;
    uint32_t object_count;
    uint32_t compiled, reused;                  /* how many objects */
    uint32_t unseen;                            /* that have never run here */
    double seconds;                             /* of compiling */
    const struct leat_poets_run_options *guard; /* who is told of code that misbehaves */
};

struct leat_handler_options {
    const char *compiler;                     /* NULL: c++ */
    const char *flags;                        /* more of them, with blanks between; NULL: none */
    bool single_precision;                    /* compat.fp32const */
    const volatile sig_atomic_t *interrupted; /* not 0: compilers are ended; NULL: never */
};

/* Sources as text. `type` is a number of a type. False: no memory. */
bool leat_handler_type_source(const struct leat_graph *graph, uint32_t type, FILE *out);
bool leat_handler_supervisor_source(const struct leat_graph *graph, uint32_t type, FILE *out);
bool leat_handler_values_source(const struct leat_graph *graph,
                                const struct leat_handlers *handlers, FILE *out);

/* All structs of a graph; what handlers may call comes before. */
void leat_handler_structs(const struct leat_graph *graph, FILE *out);
/* The code with which our own assertions begin in what the compiler says. */
#define LEAT_HANDLER_LIMIT "E_LIMIT"
/* #line: what follows stands there in the application's file; or is ours again. */
void leat_handler_at(const struct leat_graph *graph, struct leat_graph_place place, FILE *out);
void leat_handler_ours(FILE *out);

/*
 * Compiles all that the instance needs (NULL: all types, for a check). E_CC in the report where it
 * does not compile, with the lines of the file. False, too, where it was interrupted.
 */
bool leat_handlers_build(struct leat_graph *graph, const struct leat_graph_instance *instance,
                         const struct leat_handler_options *options, struct leat_handlers *out);

/*
 * Loads what was compiled. The constructors of static objects run now and their destructors when it
 * is closed, guarded as handlers are: one that crashes or does not come back ends the process.
 */
bool leat_handlers_load(struct leat_graph *graph, const struct leat_poets_run_options *options,
                        struct leat_handlers *handlers);
void leat_handlers_close(struct leat_handlers *handlers);

/* The octets of a value for a struct, plain or compiled; those of its default where value is 0. */
bool leat_handlers_value(struct leat_graph *graph, const struct leat_handlers *handlers,
                         const struct leat_graph_struct *data, uint32_t value, uint8_t *octets);

/* Its octets, plain or compiled. */
uint32_t leat_handlers_len(const struct leat_handlers *handlers,
                           const struct leat_graph_struct *data);

/* poets_handler.h and handler_preamble.hpp, as text. */
extern const char leat_handler_abi_text[], leat_handler_preamble_text[];

#endif
