#include "view_store.h"
#include "output.h"
#include "report.h"
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { EVERY_MS = 1000, PATIENCE_MS = 60000, LAST_PATIENCE_MS = 5000 };

/* The first 16 octets of an SQLite file. */
static const char head[] = "SQLite format 3";

bool view_store_is_one(const char *path)
{
    char octets[sizeof head];
    struct stat what;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const bool is_one = fd >= 0 && fstat(fd, &what) == 0 && S_ISREG(what.st_mode) &&
                        read(fd, octets, sizeof octets) == (ssize_t)sizeof octets &&
                        memcmp(octets, head, sizeof head) == 0;
    if (fd >= 0) close(fd);
    return is_one;
}

/* ---- has it changed? ------------------------------------------------------------------------- */

/* A writer has the file locked (store.c); a lock that others share does not hinder it for long. */
static bool is_locked(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}

static struct view_store_mark look(const char *path)
{
    struct view_store_mark mark = { 0 };
    struct stat what;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return mark;
    if (fstat(fd, &what) == 0 && S_ISREG(what.st_mode)) {
        mark.is_there = true;
        mark.is_written = is_locked(fd);
        mark.device = what.st_dev;
        mark.file = what.st_ino;
        mark.octets = what.st_size;
        mark.changed = what.st_mtim;
    }
    close(fd);
    return mark;
}

static bool is_same(const struct view_store_mark *a, const struct view_store_mark *b)
{
    return a->is_there == b->is_there && a->is_written == b->is_written && a->device == b->device &&
           a->file == b->file && a->octets == b->octets && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

/* ---- the child that reads it ----------------------------------------------------------------- */

static int print_report(struct report *report, bool is_written)
{
    static struct output out;
    output_init(&out, STDOUT_FILENO);
    leat_text_puts(&out.text, is_written ? "{\"is_written\":true,\"report\":"
                                         : "{\"is_written\":false,\"report\":");
    report_view(report, &out.text);
    leat_text_puts(&out.text, "}\n");
    return output_finish(&out, report->name) && !report->lacks_memory ? DONE : FAILED;
}

static int print_store(void *context)
{
    static struct report report;
    const struct view_store *store = context;
    int code = DONE;
    report = (struct report){ .name = store->path };
    if (store->where) report.where = *store->where;
    report.store = store_open(store->path, STORE_LOOK, &code);
    if (!report.store) return code;
    code = report_gather(&report);
    return code ? code : print_report(&report, store->is_written);
}

static bool ask(struct view_store *store, bool may_complain, int patience_ms)
{
    store->mark = look(store->path);
    store->is_written = store->mark.is_written;
    store->due_ms = view_now_ms() + EVERY_MS;
    return view_ask_begin(&store->ask, print_store, store, may_complain, patience_ms);
}

/* ---- from beginning to end ------------------------------------------------------------------- */

bool view_store_open(struct view_store *store, const char *path, const struct where *where)
{
    *store = (struct view_store){ .path = path, .where = where };
    view_ask_init(&store->ask, VIEW_STORE_LEN_MAX);
    if (!ask(store, true, PATIENCE_MS)) return complain("%s: %s", path, strerror(errno));
    if (view_ask_finish(&store->ask) == VIEW_ASK_ANSWERED) return true;
    if (store->ask.is_late) complain("%s: not read after %d s", path, PATIENCE_MS / 1000);
    return false; /* otherwise the child has told why */
}

void view_store_await(struct view_store *store, const char *path)
{
    *store = (struct view_store){ .path = path, .may_come = true };
    view_ask_init(&store->ask, VIEW_STORE_LEN_MAX);
}

int view_store_wait_ms(const struct view_store *store)
{
    const int64_t wait = store->due_ms - view_now_ms();
    return wait < 0 || store->ended || store->ask.child || wait > EVERY_MS ? EVERY_MS : (int)wait;
}

static void end(struct view_store *store, struct view_http *http, unsigned source)
{
    store->ended = true;
    caution("%s: cannot be read any more (leat report says why); the page keeps what was read",
            store->path);
    view_http_tell(http, source, NULL, 0);
}

static void tell(struct view_store *store, struct view_http *http, unsigned source)
{
    view_http_tell(http, source, store->ask.text, store->ask.len);
}

/* A new one is asked for at once if the file has changed while the last one was read. */
void view_store_step(struct view_store *store, struct view_http *http, unsigned source)
{
    if (store->ended) return;
    if (store->ask.child) {
        const enum view_ask_state state = view_ask_step(&store->ask);
        if (state == VIEW_ASK_ANSWERED) tell(store, http, source);
        if (state == VIEW_ASK_FAILED && !store->may_come) end(store, http, source);
        return;
    }
    if (view_now_ms() < store->due_ms || !view_http_is_heard(http, source)) return;
    const struct view_store_mark mark = look(store->path);
    store->due_ms = view_now_ms() + EVERY_MS;
    if (!is_same(&mark, &store->mark) && !ask(store, false, PATIENCE_MS)) end(store, http, source);
}

void view_store_end(struct view_store *store, struct view_http *http, unsigned source)
{
    if (store->ended) return;
    view_ask_close(&store->ask);
    if (view_http_is_heard(http, source) && ask(store, false, LAST_PATIENCE_MS) &&
        view_ask_finish(&store->ask) == VIEW_ASK_ANSWERED)
        tell(store, http, source);
    view_http_tell(http, source, NULL, 0);
    store->ended = true;
}

void view_store_close(struct view_store *store)
{
    view_ask_close(&store->ask);
}
