/*
 * What an object was made from stands behind its octets, where the loader does not look:
 *
 *   object | PATH \n STAMP \n PATH \n STAMP \n ... | leat-object LENGTH LENGTH HASH \n
 *
 * The paths are all files that the compiler has read, as it says itself; the stamp tells a file
 * from any other and from itself before a change. So an object is taken from the cache only if it
 * is whole, and if nothing that it was made from has changed. It is one file, and so one rename.
 */
#ifndef LEAT_HANDLER_SEAL_H
#define LEAT_HANDLER_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct leat_handler_seal {
    char *octets;    /* to be freed; NULL: the object is not whole */
    size_t code_len; /* of the object itself */
    char *reads;     /* paths and stamps */
};

/* Whose headers may be used, beside one's own and root's. */
struct leat_handler_own {
    const char *folder; /* of the application's file */
    uid_t owner;        /* of it */
};

/* Now, on the clock that files have. */
struct timespec leat_handler_file_time(void);

/*
 * Behind a new object in this folder. `list` is a file there, the compiler's rule for make;
 * files below `made` are leat's own. What has changed since `began` was read before or after: a
 * stamp that no file has stands there. So it does where there is no list, or not `all` is in it.
 */
bool leat_handler_seal_put(int folder, const char *object, const char *list, const char *made,
                           struct timespec began, bool all);

struct leat_handler_seal leat_handler_seal_read(int object);

/* All that it was made from is as it was. */
bool leat_handler_seal_holds(const struct leat_handler_seal *seal);

/* A header of the application that somebody else can change. The answer is lent until the seal is
 * freed; NULL: there is none. */
const char *leat_handler_seal_foreign(const struct leat_handler_seal *seal,
                                      const struct leat_handler_own *own);

/* Both objects have the same code. */
bool leat_handler_seal_same(int a, int b);

#endif
