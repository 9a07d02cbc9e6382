/* The store of a leat built without SQLite: explains how to get one. */
#include "store.h"
#include "tool.h"

#ifndef HAVE_SQLITE

static void complain_of_build(void)
{
    complain("this leat was built without SQLite, which keeps the runs: install the package "
             "libsqlite3-dev, then configure and build again");
}

struct store *store_open(const char *path, enum store_mode mode, int *code)
{
    (void)path;
    (void)mode;
    complain_of_build();
    *code = FAILED;
    return NULL;
}

void store_close(struct store *store)
{
    (void)store;
}

void store_leave(const struct store *store)
{
    (void)store;
}

int64_t store_begin(struct store *store, const struct store_sweep *sweep, int *code)
{
    (void)store;
    (void)sweep;
    complain_of_build();
    *code = FAILED;
    return 0;
}

enum store_put store_put(struct store *store, int64_t sweep, const struct store_key *key,
                         const char *result, size_t len)
{
    (void)store;
    (void)sweep;
    (void)key;
    (void)result;
    (void)len;
    complain_of_build();
    return STORE_PUT_FAILED;
}

int store_has(struct store *store, int64_t sweep, const struct store_key *key)
{
    (void)store;
    (void)sweep;
    (void)key;
    complain_of_build();
    return -1;
}

int store_get(struct store *store, int64_t sweep, const struct store_key *key,
              struct store_figures *out)
{
    (void)out;
    return store_has(store, sweep, key);
}

bool store_each_sweep(struct store *store,
                      bool (*visit)(void *context, const struct store_sweep *sweep), void *context)
{
    (void)store;
    (void)visit;
    (void)context;
    complain_of_build();
    return false;
}

bool store_each_run(struct store *store, int64_t sweep,
                    bool (*visit)(void *context, const struct store_run *run), void *context)
{
    (void)store;
    (void)sweep;
    (void)visit;
    (void)context;
    complain_of_build();
    return false;
}

int store_flag(struct store *store, const char *result, const char *place)
{
    (void)store;
    (void)result;
    (void)place;
    return -1;
}

#endif
