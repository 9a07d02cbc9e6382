/* The store of a leat built without SQLite: explains how to get one. */
#include "store.h"
#include "tool.h"

#ifndef HAVE_SQLITE
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct store *store_open(const char *path, enum store_mode mode, int *code)
{
    *code = fail("this leat was built without SQLite, which keeps the runs: install the package "
                 "libsqlite3-dev, then configure and build again");
    return NULL;
}

/* No store is ever open. */

void store_close(struct store *store)
{
}

void store_leave(const struct store *store)
{
}

int64_t store_begin(struct store *store, const struct store_sweep *sweep, int *code)
{
    return 0;
}

enum store_put store_put(struct store *store, int64_t sweep, const struct store_key *key,
                         const char *result, size_t len)
{
    return STORE_PUT_FAILED;
}

enum store_put store_put_program(struct store *store, const struct store_program *program)
{
    return STORE_PUT_FAILED;
}

int store_has(struct store *store, int64_t sweep, const struct store_key *key)
{
    return -1;
}

int store_get(struct store *store, int64_t sweep, const struct store_key *key,
              struct store_figures *out)
{
    return -1;
}

bool store_each_sweep(struct store *store,
                      bool (*visit)(void *context, const struct store_sweep *sweep), void *context)
{
    return false;
}

bool store_each_run(struct store *store, int64_t sweep,
                    bool (*visit)(void *context, const struct store_run *run), void *context)
{
    return false;
}

bool store_each_program(struct store *store,
                        bool (*visit)(void *context, const struct store_program *program),
                        void *context)
{
    return false;
}

int store_flag(struct store *store, const char *result, const char *place)
{
    return -1;
}

#endif
