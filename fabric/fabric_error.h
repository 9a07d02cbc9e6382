/* An error of a fabric: a code, a place, and what was expected. */
#ifndef LEAT_FABRIC_ERROR_H
#define LEAT_FABRIC_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum leat_fabric_fault {
    LEAT_FABRIC_FINE,
    LEAT_FABRIC_UNKNOWN,     /* no kind has this name */
    LEAT_FABRIC_NAME,        /* the name is wrong, at offset and len */
    LEAT_FABRIC_FILE,        /* the file is wrong, at line; 0: as a whole, or it cannot be read */
    LEAT_FABRIC_UNSOUND,     /* `file` is a name: it was read, but cannot be built */
    LEAT_FABRIC_UNSAFE,      /* the same: it can deadlock */
    LEAT_FABRIC_NO_MEMORY,   /* for a network that is valid */
    LEAT_FABRIC_INTERRUPTED, /* while it was read */
};

enum { LEAT_FABRIC_TEXT_CAP = 2560, LEAT_FABRIC_FILE_CAP = 4096 };

struct leat_fabric_error {
    enum leat_fabric_fault code;
    char file[LEAT_FABRIC_FILE_CAP];
    uint32_t line;
    size_t offset, len;              /* in the name; len 0: the whole name */
    char text[LEAT_FABRIC_TEXT_CAP]; /* what was found and what was expected, without the place */
    char expected[256];              /* if that is a separate sentence; else "" */
};

/* One line for a user, with the place first. `name`: the fabric's, as the user wrote it. */
void leat_fabric_error_text(const struct leat_fabric_error *error, const char *name, char *out,
                            size_t cap);

/* ---- setting it: all return false, so that a reader can return their result ---- */

/* The position of a reader in a file. */
struct leat_fabric_place {
    const char *file;
    uint32_t line;
    struct leat_fabric_error *error;
    bool (*interrupted)(void); /* NULL: nothing interrupts it */
};

bool leat_fabric_wrong(const struct leat_fabric_place *place, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
bool leat_fabric_wrong_name(struct leat_fabric_error *error, size_t offset, size_t len,
                            const char *text, ...) __attribute__((format(printf, 4, 5)));
/* `name`: of the fabric that cannot be built. */
bool leat_fabric_refuse(struct leat_fabric_error *error, enum leat_fabric_fault code,
                        const char *name, const char *text, ...)
    __attribute__((format(printf, 4, 5)));
bool leat_fabric_no_memory(struct leat_fabric_error *error, double octets);

/* Was it interrupted? Then *error says so. */
bool leat_fabric_is_interrupted(const struct leat_fabric_place *place);

/* ---- memory ---- */

/* Zeroed, for free(); NULL with *error. */
void *leat_fabric_take(size_t count, size_t size, struct leat_fabric_error *error);

/* Room for one more than `count`: the same memory, or twice as much. NULL with *error: then it is
 * unchanged. */
void *leat_fabric_grow(void *memory, size_t count, size_t size, struct leat_fabric_error *error);

#endif
