/*
 * Where compiled handlers are kept: a folder that only its owner can write to, since what lies in
 * it is loaded and runs.
 *
 *   $XDG_CACHE_HOME, or ~/.cache     folders and links of the user or of root, of nobody else
 *     leat/poets/                    the user's, mode go-w, no links
 *       HASH.cpp, HASH.so            a source and its sealed object; executable: it has run before
 *       build.RANDOM/                of a build that goes on, locked: here compilers write
 *
 * Every folder is looked at on its descriptor, and all that comes after goes through descriptors:
 * nobody can put another folder in its place between a look and a deed. Compilers find the folder
 * of a build by its descriptor, too (/proc/self/fd).
 */
#ifndef LEAT_HANDLER_CACHE_H
#define LEAT_HANDLER_CACHE_H

#include <stdbool.h>
#include <stddef.h>

enum { LEAT_HANDLER_WHY_LEN = 360, LEAT_HANDLER_BUILD_LEN = 32 };

struct leat_handler_cache {
    int folder, build;                 /* descriptors; -1: not there */
    char name[LEAT_HANDLER_BUILD_LEN]; /* of the build's folder */
    char why[LEAT_HANDLER_WHY_LEN];    /* after a failure: what, and what was expected */
};

/* False: `why` tells it. To be closed in any case. */
bool leat_handler_cache_open(struct leat_handler_cache *cache);

/* The folder of this build, made when it is first asked for. False: errno tells it. */
bool leat_handler_cache_build(struct leat_handler_cache *cache);

/* Takes the build's folder away, with all that is in it. */
void leat_handler_cache_close(struct leat_handler_cache *cache);

/* A file that is kept, for reading; -1: there is none, or others may have written it. */
int leat_handler_cache_find(const struct leat_handler_cache *cache, const char *name);

/* A file of the build gets its place in the cache, and is open for reading. -1: errno tells it. */
int leat_handler_cache_keep(const struct leat_handler_cache *cache, const char *name);

/* An object that is open: has it run before? From now on it has. */
bool leat_handler_has_run(int object);
void leat_handler_set_run(int object);

#endif
