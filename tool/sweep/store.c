/* A store of runs, in an SQLite file. */
#include "store.h"
#include "tool.h"

#ifdef HAVE_SQLITE

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    WAIT_MS = 20,
    WAITS_MAX = 3000,    /* for a reader to end: a minute */
    LOCK_WAITS_MAX = 50, /* for another writer: a second */
};

enum statement {
    BEGIN_SWEEP,
    PUT_RUN,
    HAS_RUN,
    GET_RUN,
    EACH_SWEEP,
    EACH_RUN,
    PUT_PROGRAM,
    EACH_PROGRAM,
    FLAG,
    STATEMENTS,
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statement[STATEMENTS];
    const char *path;
    enum store_mode mode;
    int lock;  /* the same file, opened for our lock; -1 for readers */
    bool made; /* created by opening */
    bool put;  /* at least one run was added */
};

#define IS_OBJECT \
    "CHECK (CASE WHEN json_valid(result) THEN json_type(result) = 'object' ELSE 0 END)"

#define CREATE_RUN                                                                          \
    "CREATE TABLE run (sweep INTEGER NOT NULL REFERENCES sweep (id), fabric TEXT NOT NULL," \
    " traffic TEXT NOT NULL, load REAL NOT NULL, seed INTEGER NOT NULL,"                    \
    " result TEXT NOT NULL " IS_OBJECT ", PRIMARY KEY (sweep, fabric, traffic, load, seed));"

#define CREATE_PROGRAM                                                                             \
    "CREATE TABLE program (id INTEGER PRIMARY KEY, version TEXT NOT NULL, command TEXT NOT NULL,"  \
    " options TEXT NOT NULL, fabric TEXT NOT NULL, tasks INTEGER NOT NULL, created TEXT NOT NULL," \
    " result TEXT NOT NULL " IS_OBJECT ");"

static const char schema[] =
    "CREATE TABLE sweep (id INTEGER PRIMARY KEY, version TEXT NOT NULL, options TEXT NOT NULL,"
    " files TEXT NOT NULL, starts INTEGER NOT NULL, created TEXT NOT NULL,"
    " UNIQUE (version, options, files));" CREATE_RUN CREATE_PROGRAM;

/* To version 2: a load of 1 was a million. Only results of PacketWay networks have `forwarding`;
 * their throughput was in Mbit/s, and 10 Mbit/s are a load of 1. */
static const char upgrade[] =
    "ALTER TABLE run RENAME TO run_1;" CREATE_RUN CREATE_PROGRAM "INSERT INTO run"
    " SELECT sweep, fabric, traffic, load / 1e6, seed,"
    " CASE WHEN json_type(result, '$.lost') = 'object'" /* now losses, and packets_rerouted */
    " THEN json_set(result, '$.losses', json(json_extract(result, '$.lost')),"
    " '$.packets_rerouted', json_extract(result, '$.rerouted'))"
    " WHEN json_type(result, '$.forwarding') IS NOT NULL"
    " AND json_type(result, '$.throughput') IN ('real', 'integer')"
    " THEN json_set(result, '$.throughput', json_extract(result, '$.throughput') / 10.0)"
    " ELSE result END FROM run_1;"
    "DROP TABLE run_1;";

#define RUN_KEY "sweep = ?1 AND fabric = ?2 AND traffic = ?3 AND load = ?4 AND seed = ?5"

/* In the order of read_figures. */
#define FIGURES                                                                                    \
    "json_extract(result, '$.throughput'), json_extract(result, '$.hops_mean'),"                   \
    " json_extract(result, '$.latency_cycles.mean'), json_extract(result, "                        \
    "'$.latency_cycles.p50'),"                                                                     \
    " json_extract(result, '$.latency_cycles.p99'), json_extract(result, '$.latency_cycles.max')," \
    " json_type(result, '$.saturated'), json_type(result, '$.deadlock'),"                          \
    " json_extract(result, '$.certificate'),"                                                      \
    " json_extract(result, '$.losses.no_room') + json_extract(result, '$.losses.no_way') +"        \
    " json_extract(result, '$.losses.cut') + json_extract(result, '$.losses.corrupted'),"          \
    " coalesce(json_extract(result, '$.packets_rerouted'),"                                        \
    " json_extract(result, '$.cells_rerouted')), json_extract(result, '$.cycle_ns')"
enum { FIGURE_COLUMNS = 12 };

static const char *const sql[STATEMENTS] = {
    [BEGIN_SWEEP] = "INSERT INTO sweep (version, options, files, starts, created)"
                    " VALUES (?1, ?2, ?3, 1, datetime('now'))"
                    " ON CONFLICT DO UPDATE SET starts = starts + 1 RETURNING id",
    [PUT_RUN] = "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [HAS_RUN] = "SELECT 1 FROM run WHERE " RUN_KEY,
    [GET_RUN] = "SELECT " FIGURES " FROM run WHERE " RUN_KEY,
    [EACH_SWEEP] = "SELECT id, version, options, files, created FROM sweep ORDER BY id",
    [EACH_RUN] = "SELECT " FIGURES ", fabric, traffic, load, seed, result FROM run"
                 " WHERE sweep = ?1 ORDER BY fabric, traffic, load, seed",
    [PUT_PROGRAM] =
        "INSERT INTO program (version, command, options, fabric, tasks, created, result)"
        " VALUES (?1, ?2, ?3, ?4, ?5, datetime('now'), ?6)",
    [EACH_PROGRAM] = "SELECT id, version, command, options, fabric, tasks, created, result"
                     " FROM program ORDER BY id",
    [FLAG] = "SELECT json_type(?1, ?2)",
};

/* ---- errors ---------------------------------------------------------------------------------- */

/* Reports SQLite's error. WRONG if another file would help, FAILED if time or space would. */
static int fault(struct store *store)
{
    const char *text = sqlite3_errmsg(store->db);
    const int error = sqlite3_errcode(store->db);
    switch (error) {
    case SQLITE_FULL: complain("%s: no room to write: the disk is full", store->path); break;
    case SQLITE_BUSY: complain("%s: another program keeps it locked", store->path); break;
    case SQLITE_IOERR:
        complain("%s: %s (the disk, or a limit on the size of files)", store->path, text);
        break;
    case SQLITE_NOMEM: complain("no memory"); break;
    case SQLITE_NOTADB:
        complain("%s: no SQLite file, expected a store of leat sweep or leat run", store->path);
        return WRONG;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        if (store->mode == STORE_LOOK)
            return complain("%s: cannot be read: %s (half-written by a leat that was killed? leat "
                            "report repairs it)",
                            store->path, text),
                   WRONG;
        complain("%s: cannot be written: %s", store->path, text);
        return WRONG;
    default: complain("%s: damaged: %s", store->path, text); return WRONG;
    }
    return FAILED;
}

/* Another process reads: waits, but not for ever, and not after an interrupt. */
static int on_busy(void *context, int waits)
{
    const struct timespec pause = { .tv_nsec = WAIT_MS * 1000000L };
    (void)context;
    if (interrupted || waits >= WAITS_MAX) return 0;
    nanosleep(&pause, NULL);
    return 1;
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool read_pragma(struct store *store, const char *query, int64_t *out)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(store->db, query, -1, &statement, NULL) != SQLITE_OK) return false;
    const bool there = sqlite3_step(statement) == SQLITE_ROW;
    if (there) *out = sqlite3_column_int64(statement, 0);
    return sqlite3_finalize(statement) == SQLITE_OK && there;
}

/* All or nothing: if killed here, the store is as before, an empty file or one of version 1. */
static int set_tables(struct store *store, const char *statements)
{
    char text[sizeof schema + sizeof upgrade + 160];
    snprintf(text, sizeof text,
             "BEGIN IMMEDIATE;%s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
             statements, STORE_APPLICATION_ID, STORE_VERSION);
    return sqlite3_exec(store->db, text, NULL, NULL, NULL) == SQLITE_OK ? DONE : fault(store);
}

/* A lock independent of SQLite (its own locks on the file come and go). It ends with the last
 * process that has the file open: children of a killed sweep hold it for a moment. */
static int lock_file(struct store *store)
{
    const struct timespec pause = { .tv_nsec = WAIT_MS * 1000000L };
    struct stat ours, there;
    for (int i = 0; flock(store->lock, LOCK_EX | LOCK_NB) != 0; i++) {
        if (i == LOCK_WAITS_MAX || interrupted)
            return fail("%s: another leat writes to it: wait for its end, or give this one a store "
                        "of its own",
                        store->path);
        nanosleep(&pause, NULL);
    }
    if (fstat(store->lock, &ours) == 0 && stat(store->path, &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
        return DONE;
    return fail("%s: removed by another leat at this moment; try again", store->path);
}

/* Errors that SQLite would report only at the first write, and less precisely. */
static int open_file(struct store *store)
{
    struct stat what;
    store->lock = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    store->made = store->lock >= 0;
    if (!store->made && errno == EEXIST) store->lock = open(store->path, O_RDWR | O_CLOEXEC);
    if (store->lock < 0) {
        const int number = errno;
        complain("%s: cannot be written: %s", store->path, strerror(number));
        return number == ENOSPC || number == EDQUOT ? FAILED : WRONG;
    }
    if (fstat(store->lock, &what) == 0 && S_ISREG(what.st_mode)) return lock_file(store);
    complain("%s: expected a file", store->path);
    return WRONG;
}

/* Not while an older leat writes to it, as it did before: so readers, too, need the lock. */
static int upgrade_tables(struct store *store, enum store_mode mode)
{
    int64_t version = 0;
    int code = DONE;
    if (mode == STORE_LOOK) {
        complain("%s: a store of version 1, expected one of version %d: leat report upgrades it",
                 store->path, STORE_VERSION);
        return WRONG;
    }
    if (sqlite3_db_readonly(store->db, "main")) {
        complain("%s: a store of version 1, which cannot be written: expected one of version %d, "
                 "or one that may be upgraded",
                 store->path, STORE_VERSION);
        return WRONG;
    }
    if (mode == STORE_READ) code = open_file(store);
    if (code == DONE && !read_pragma(store, "PRAGMA user_version", &version)) code = fault(store);
    /* Unless another did it while this one waited for the lock. */
    if (code == DONE && version < STORE_VERSION) code = set_tables(store, upgrade);
    if (mode == STORE_READ && store->lock >= 0) close(store->lock);
    if (mode == STORE_READ) store->lock = -1;
    return code;
}

/* Is it ours, and can we read it? An empty one becomes ours. DONE, or a code after a complaint. */
static int check_tables(struct store *store, enum store_mode mode)
{
    int64_t application, version, tables;
    if (!read_pragma(store, "PRAGMA application_id", &application) ||
        !read_pragma(store, "PRAGMA user_version", &version) ||
        !read_pragma(store, "SELECT count(*) FROM sqlite_schema", &tables))
        return fault(store);
    if (!application && !version && !tables) {
        if (mode == STORE_WRITE) return set_tables(store, schema);
        complain("%s: empty, expected a store of leat sweep or leat run", store->path);
        return WRONG;
    }
    if (application != STORE_APPLICATION_ID || version < 1) {
        complain("%s: an SQLite file, but no store of leat sweep or leat run", store->path);
        return WRONG;
    }
    if (version < STORE_VERSION) return upgrade_tables(store, mode);
    if (version == STORE_VERSION) return DONE;
    complain("%s: a store of version %lld, expected at most %d: it is of a newer leat", store->path,
             (long long)version, STORE_VERSION);
    return WRONG;
}

static int check_readable(const struct store *store)
{
    struct stat what;
    if (stat(store->path, &what) != 0)
        complain("%s: cannot be read: %s", store->path, strerror(errno));
    else if (!S_ISREG(what.st_mode))
        complain("%s: %s, expected a file", store->path,
                 S_ISDIR(what.st_mode) ? "a directory" : "no file");
    else
        return DONE;
    return WRONG;
}

/* Readers may have to roll back what a killed sweep left half-written: they, too, open it for
 * writing if they may. */
static int open_database(struct store *store, enum store_mode mode)
{
    const int flags = mode == STORE_LOOK ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK) return fault(store);
    sqlite3_busy_handler(store->db, on_busy, NULL);
    if (mode == STORE_WRITE && sqlite3_db_readonly(store->db, "main")) {
        complain("%s: cannot be written: it is read-only", store->path);
        return WRONG;
    }
    const int code = check_tables(store, mode);
    if (code != DONE) return code;
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(store->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statement[i], NULL) != SQLITE_OK)
            return fault(store);
    return DONE;
}

struct store *store_open(const char *path, enum store_mode mode, int *code)
{
    struct store *store = calloc(1, sizeof *store);
    *code = FAILED;
    if (!store) {
        complain("no memory");
        return NULL;
    }
    store->path = path;
    store->mode = mode;
    store->lock = -1;
    *code = mode == STORE_WRITE ? open_file(store) : check_readable(store);
    if (*code == DONE) *code = open_database(store, mode);
    if (*code == DONE) return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (!store) return;
    if (store->made && !store->put) unlink(store->path);
    if (store->lock >= 0 && !store->made && !store->put)
        sqlite3_exec(store->db, "DELETE FROM sweep WHERE id NOT IN (SELECT sweep FROM run)", NULL,
                     NULL, NULL);
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(store->statement[i]);
    sqlite3_close(store->db);
    if (store->lock >= 0) close(store->lock);
    free(store);
}

void store_leave(const struct store *store)
{
    close(store->lock);
}

/* ---- statements ----------------------------------------------------------------------------- */

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static sqlite3_stmt *bind_run(struct store *store, enum statement which, int64_t sweep,
                              const struct store_key *key)
{
    sqlite3_stmt *statement = store->statement[which];
    sqlite3_bind_int64(statement, 1, sweep);
    bind_text(statement, 2, key->fabric);
    bind_text(statement, 3, key->traffic);
    sqlite3_bind_double(statement, 4, (double)key->load / STORE_LOAD_ONE);
    sqlite3_bind_int64(statement, 5, (int64_t)key->seed);
    return statement;
}

static const char *text_at(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

static double number_at(sqlite3_stmt *statement, int column)
{
    const int type = sqlite3_column_type(statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(statement, column)
                                                          : NAN;
}

/* The nearest number of parts; one that no sweep can have put here is 0. */
static uint32_t load_at(sqlite3_stmt *statement, int column)
{
    const double load = number_at(statement, column);
    return load > 0 && load <= 1 ? (uint32_t)lround(load * STORE_LOAD_ONE) : 0;
}

/* From a JSON type: anything but false, null and absent counts as true. */
static int flag_at(sqlite3_stmt *statement, int column)
{
    const char *type = text_at(statement, column);
    if (!*type) return -1;
    return strcmp(type, "false") != 0 && strcmp(type, "null") != 0;
}

static struct store_figures read_figures(sqlite3_stmt *statement)
{
    struct store_figures f = {
        .throughput = number_at(statement, 0),
        .hops_mean = number_at(statement, 1),
        .latency_mean = number_at(statement, 2),
        .latency_p50 = number_at(statement, 3),
        .latency_p99 = number_at(statement, 4),
        .latency_max = number_at(statement, 5),
        .saturated = flag_at(statement, 6),
        .deadlock = flag_at(statement, 7),
        .lost = number_at(statement, 9),
        .rerouted = number_at(statement, 10),
        .cycle_ns = number_at(statement, 11),
    };
    snprintf(f.certificate, sizeof f.certificate, "%s", text_at(statement, 8));
    return f;
}

/* ---- writing -------------------------------------------------------------------------------- */

int64_t store_begin(struct store *store, const struct store_sweep *sweep, int *code)
{
    sqlite3_stmt *begin = store->statement[BEGIN_SWEEP];
    int64_t id = 0;
    bind_text(begin, 1, sweep->version);
    bind_text(begin, 2, sweep->options);
    bind_text(begin, 3, sweep->files);
    while (sqlite3_step(begin) == SQLITE_ROW)
        id = sqlite3_column_int64(begin, 0);
    const bool begun = sqlite3_reset(begin) == SQLITE_OK && id;
    *code = begun ? DONE : fault(store);
    return begun ? id : 0;
}

static enum store_put put(struct store *store, sqlite3_stmt *statement)
{
    sqlite3_step(statement);
    const int outcome = sqlite3_reset(statement);
    if (outcome == SQLITE_OK) {
        store->put = true;
        return STORE_PUT;
    }
    if (outcome == SQLITE_CONSTRAINT) return STORE_PUT_NO_JSON;
    fault(store);
    return STORE_PUT_FAILED;
}

enum store_put store_put(struct store *store, int64_t sweep, const struct store_key *key,
                         const char *result, size_t len)
{
    sqlite3_stmt *statement = bind_run(store, PUT_RUN, sweep, key);
    sqlite3_bind_text64(statement, 6, result, len, SQLITE_STATIC, SQLITE_UTF8);
    return put(store, statement);
}

enum store_put store_put_program(struct store *store, const struct store_program *program)
{
    sqlite3_stmt *statement = store->statement[PUT_PROGRAM];
    bind_text(statement, 1, program->version);
    bind_text(statement, 2, program->command);
    bind_text(statement, 3, program->options);
    bind_text(statement, 4, program->fabric);
    sqlite3_bind_int64(statement, 5, program->tasks);
    bind_text(statement, 6, program->result);
    return put(store, statement);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* False after a complaint. */
static bool end(struct store *store, sqlite3_stmt *statement)
{
    return sqlite3_reset(statement) == SQLITE_OK || fault(store) == DONE;
}

int store_has(struct store *store, int64_t sweep, const struct store_key *key)
{
    sqlite3_stmt *has = bind_run(store, HAS_RUN, sweep, key);
    const bool there = sqlite3_step(has) == SQLITE_ROW;
    return end(store, has) ? there : -1;
}

int store_get(struct store *store, int64_t sweep, const struct store_key *key,
              struct store_figures *out)
{
    sqlite3_stmt *get = bind_run(store, GET_RUN, sweep, key);
    const bool there = sqlite3_step(get) == SQLITE_ROW;
    if (there) *out = read_figures(get);
    return end(store, get) ? there : -1;
}

bool store_each_sweep(struct store *store,
                      bool (*visit)(void *context, const struct store_sweep *sweep), void *context)
{
    sqlite3_stmt *each = store->statement[EACH_SWEEP];
    bool going = true;
    while (going && sqlite3_step(each) == SQLITE_ROW) {
        const struct store_sweep sweep = {
            .id = sqlite3_column_int64(each, 0),
            .version = text_at(each, 1),
            .options = text_at(each, 2),
            .files = text_at(each, 3),
            .created = text_at(each, 4),
        };
        going = visit(context, &sweep);
    }
    return end(store, each) && going;
}

bool store_each_run(struct store *store, int64_t sweep,
                    bool (*visit)(void *context, const struct store_run *run), void *context)
{
    sqlite3_stmt *each = store->statement[EACH_RUN];
    bool going = true;
    sqlite3_bind_int64(each, 1, sweep);
    while (going && sqlite3_step(each) == SQLITE_ROW) {
        const struct store_run run = {
            .figures = read_figures(each),
            .key = { .fabric = text_at(each, FIGURE_COLUMNS),
                     .traffic = text_at(each, FIGURE_COLUMNS + 1),
                     .load = load_at(each, FIGURE_COLUMNS + 2),
                     .seed = (uint64_t)sqlite3_column_int64(each, FIGURE_COLUMNS + 3) },
            .result = text_at(each, FIGURE_COLUMNS + 4),
        };
        going = visit(context, &run);
    }
    return end(store, each) && going;
}

bool store_each_program(struct store *store,
                        bool (*visit)(void *context, const struct store_program *program),
                        void *context)
{
    sqlite3_stmt *each = store->statement[EACH_PROGRAM];
    bool going = true;
    while (going && sqlite3_step(each) == SQLITE_ROW) {
        const struct store_program program = {
            .id = sqlite3_column_int64(each, 0),
            .version = text_at(each, 1),
            .command = text_at(each, 2),
            .options = text_at(each, 3),
            .fabric = text_at(each, 4),
            .tasks = (uint32_t)sqlite3_column_int64(each, 5),
            .created = text_at(each, 6),
            .result = text_at(each, 7),
        };
        going = visit(context, &program);
    }
    return end(store, each) && going;
}

int store_flag(struct store *store, const char *result, const char *place)
{
    sqlite3_stmt *flag = store->statement[FLAG];
    bind_text(flag, 1, result);
    bind_text(flag, 2, place);
    const int value = sqlite3_step(flag) == SQLITE_ROW ? flag_at(flag, 0) : -1;
    sqlite3_reset(flag);
    return value;
}

#endif
