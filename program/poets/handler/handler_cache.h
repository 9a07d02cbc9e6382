/*
 * Cache of compiled handlers: a folder that only its owner can write to, since the objects in it
 * are loaded and run.
 *
 *   $XDG_CACHE_HOME, or ~/.cache     folders and links of the user or of root, of nobody else
 *     leat/poets/                    the user's, mode go-w, no links
 *       HASH.cpp, HASH.so            a source and its sealed object; executable: it has run before
 *       build.RANDOM/                of a running build, locked: compilers write here
 *
 * Every folder is checked through its descriptor, and all later accesses go through descriptors:
 * nobody can replace a folder between check and use. Compilers also find the folder of a build by
 * its descriptor (/proc/self/fd).
 */
#ifndef LEAT_HANDLER_CACHE_H
#define LEAT_HANDLER_CACHE_H

#include <stdbool.h>

enum { LEAT_HANDLER_WHY_LEN = 360, LEAT_HANDLER_BUILD_LEN = 32 };

struct leat_handler_cache {
    int folder, build;                 /* descriptors; -1: not there */
    char name[LEAT_HANDLER_BUILD_LEN]; /* of the build's folder */
    char why[LEAT_HANDLER_WHY_LEN];    /* after a failure: what happened, and what was expected */
};

/* False: `why` says why. Must be closed in either case. */
bool leat_handler_cache_open(struct leat_handler_cache *cache);

/* The folder of this build, created on first use. False: see errno. */
bool leat_handler_cache_build(struct leat_handler_cache *cache);

/* Removes the build's folder with its contents. */
void leat_handler_cache_close(struct leat_handler_cache *cache);

/* A cached file, for reading; -1: there is none, or others may have written it. */
int leat_handler_cache_find(const struct leat_handler_cache *cache, const char *name);

/* Moves a file of the build into the cache, and opens it for reading. -1: see errno. */
int leat_handler_cache_keep(const struct leat_handler_cache *cache, const char *name);

/* Has this open object run before? Marks it as run. */
bool leat_handler_has_run(int object);
void leat_handler_set_run(int object);

#endif
