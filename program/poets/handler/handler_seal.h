/*
 * A trailer behind an object's octets, ignored by the loader, lists what it was made from:
 *
 *   object | PATH \n STAMP \n PATH \n STAMP \n ... | leat-object LENGTH LENGTH HASH \n
 *
 * The paths are all files that the compiler has read, by its own account. A stamp identifies a file
 * and its version. An object is taken from the cache only if it is complete and nothing that it was
 * made from has changed. It is a single file, so one rename installs it.
 */
#ifndef LEAT_HANDLER_SEAL_H
#define LEAT_HANDLER_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct leat_handler_seal {
    char *octets;    /* to be freed; NULL: the object is not complete */
    size_t code_len; /* of the object itself */
    char *reads;     /* paths and stamps */
};

/* Whose headers may be used, besides the user's own and root's. */
struct leat_handler_own {
    const char *folder; /* of the application's file */
    uid_t owner;        /* of it */
};

/* Now, on the clock of file times. */
struct timespec leat_handler_file_time(void);

/*
 * Appends it to a new object in this folder. `list` is a file there, the compiler's rule for make;
 * files below `made` are leat's own. A file that has changed since `began` may have been read
 * before or after the change: it gets a stamp that matches no file. So does an object without a
 * list, or if not `all` of its files are in it.
 */
bool leat_handler_seal_put(int folder, const char *object, const char *list, const char *made,
                           struct timespec began, bool all);

struct leat_handler_seal leat_handler_seal_read(int object);

/* Everything that it was made from is unchanged. */
bool leat_handler_seal_holds(const struct leat_handler_seal *seal);

/* A header of the application that somebody else can change. The result is lent until the seal is
 * freed; NULL: there is none. */
const char *leat_handler_seal_foreign(const struct leat_handler_seal *seal,
                                      const struct leat_handler_own *own);

/* Both objects have the same code. */
bool leat_handler_seal_same(int a, int b);

#endif
