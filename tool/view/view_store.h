/*
 * A store of `leat sweep` and `leat run --store` as a source of a page: what `leat report` gathers,
 * as JSON, read again when the file has changed, at most once a second and only while anybody
 * listens. A child reads, so the page is served meanwhile; the store is never written.
 */
#ifndef LEAT_VIEW_STORE_H
#define LEAT_VIEW_STORE_H

#include "report_where.h"
#include "view_ask.h"
#include "view_http.h"
#include <sys/stat.h>

enum { VIEW_STORE_LEN_MAX = 64 << 20 };

/* What tells that a store is not what it was. */
struct view_store_mark {
    bool is_there, is_written; /* by another leat, which has it locked */
    dev_t device;
    ino_t file;
    off_t octets;
    struct timespec changed;
};

struct view_store {
    const char *path;
    const struct where *where; /* what is shown; NULL: all */
    bool may_come;             /* that it is not there, or cannot be read yet, is no end of it */
    bool is_written;           /* when it was read */
    struct view_store_mark mark;
    struct view_ask ask;
    int64_t due_ms; /* when it is looked at again */
    bool ended;
};

/* Is it an SQLite file? */
bool view_store_is_one(const char *path);

/* Reads it for the first time; the text is in ask. False after a complaint. */
bool view_store_open(struct view_store *store, const char *path, const struct where *where);

/* A store that a sweep is about to fill. */
void view_store_await(struct view_store *store, const char *path);

/* As those of view_live.h. */
void view_store_step(struct view_store *store, struct view_http *http, unsigned source);
int view_store_wait_ms(const struct view_store *store);
void view_store_close(struct view_store *store);

/* It has its last row: reads it once more, for a bounded time, tells that and the end. */
void view_store_end(struct view_store *store, struct view_http *http, unsigned source);

#endif
