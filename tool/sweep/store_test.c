/* The store of runs: written, read back, damaged, of another version. */
#include "complaints_test.h"
#include "store.h"
#include "tap.h"
#include "tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif

static char folder[] = "/tmp/leat_store_test.XXXXXX", path[64];

/* A path at which there is nothing yet. */
static void fresh(void)
{
    static int number;
    if (!number && !mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/%d.sqlite", folder, number++);
}

#ifdef HAVE_SQLITE

static const struct store_sweep settings = { .version = "1.0",
                                             .options = "--cycles 9",
                                             .files = "" };
static const struct store_key key = { "mesh:4,4", "uniform", 250000, 7 };
static const char result[] =
    "{\"throughput\":0.25,\"hops_mean\":3,\"latency_cycles\":{\"mean\":12.5,"
    "\"p50\":11,\"p99\":40,\"max\":77},\"saturated\":false,\"deadlock\":null,"
    "\"certificate\":\"0123456789abcdef\",\"losses\":{\"no_room\":1,\"no_way\":"
    "20,\"cut\":300,\"corrupted\":4000},\"packets_rerouted\":5}";

static enum store_put put(struct store *store, int64_t sweep, const struct store_key *at,
                          const char *json)
{
    return store_put(store, sweep, at, json, strlen(json));
}

/* A store with one run; where it lies is `path`. */
static int64_t make_store(void)
{
    int code;
    fresh();
    struct store *store = store_open(path, STORE_WRITE, &code);
    OK(store && code == DONE);
    const int64_t sweep = store_begin(store, &settings, &code);
    OK(sweep && code == DONE);
    EQ(put(store, sweep, &key, result), STORE_PUT);
    store_close(store);
    return sweep;
}

static bool is_refused(enum store_mode mode, int want_code, const char *text)
{
    int code = DONE;
    complaints_begin();
    struct store *store = store_open(path, mode, &code);
    const char *said = complaints_end();
    if (store || code != want_code || !strstr(said, text)) printf("# %d: %s", code, said);
    store_close(store);
    return !store && code == want_code && strstr(said, text) && strstr(said, path);
}

/* Octets of the file at this place. */
static void patch(long at, const char *octets, size_t len)
{
    FILE *file = fopen(path, "r+b");
    fseek(file, at, SEEK_SET);
    fwrite(octets, 1, len, file);
    fclose(file);
}

static void write_file(const char *octets, size_t len)
{
    FILE *file = fopen(path, "wb");
    fwrite(octets, 1, len, file);
    fclose(file);
}

static void what_is_put_is_read_back(void)
{
    const int64_t sweep = make_store();
    struct store_figures f;
    int code;
    struct store *store = store_open(path, STORE_READ, &code);
    OK(store);
    EQ(store_has(store, sweep, &key), 1);
    EQ(store_get(store, sweep, &key, &f), 1);
    OK(f.throughput == 0.25 && f.hops_mean == 3 && f.latency_mean == 12.5 && f.latency_p50 == 11);
    OK(f.latency_p99 == 40 && f.latency_max == 77 && f.lost == 4321 && f.rerouted == 5);
    OK(f.saturated == 0 && f.deadlock == 0);
    OK(strcmp(f.certificate, "0123456789abcdef") == 0);
    const struct store_key others[] = { { "mesh:4,5", "uniform", 250000, 7 },
                                        { "mesh:4,4", "bursty", 250000, 7 },
                                        { "mesh:4,4", "uniform", 250001, 7 },
                                        { "mesh:4,4", "uniform", 250000, 8 } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        EQ(store_has(store, sweep, &others[i]), 0);
    EQ(store_has(store, sweep + 1, &key), 0);
    store_close(store);
}

static void figures_that_a_result_lacks_are_absent(void)
{
    const struct store_key bare = { "ring16", "uniform", 0, INT64_MAX };
    struct store_figures f;
    int code;
    const int64_t sweep = make_store();
    struct store *store = store_open(path, STORE_WRITE, &code);
    EQ(put(store, sweep, &bare, "{\"throughput\":null,\"deadlock\":[1]}"), STORE_PUT);
    EQ(store_get(store, sweep, &bare, &f), 1);
    OK(isnan(f.throughput) && isnan(f.latency_mean) && isnan(f.lost) && isnan(f.rerouted));
    EQ(f.saturated, -1);
    EQ(f.deadlock, 1);
    OK(f.certificate[0] == '\0');
    EQ(store_flag(store, result, "$.saturated"), 0);
    EQ(store_flag(store, result, "$.deadlock"), 0);
    EQ(store_flag(store, result, "$.losses"), 1);
    EQ(store_flag(store, result, "$.nothing"), -1);
    store_close(store);
}

static void what_is_no_json_object_is_not_stored(void)
{
    static const char *const bad[] = { "", "{", "[1]", "7", "{\"a\":1} {", "null" };
    const struct store_key other = { "mesh:4,4", "uniform", 1, 1 };
    int code;
    const int64_t sweep = make_store();
    struct store *store = store_open(path, STORE_WRITE, &code);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EQ(put(store, sweep, &other, bad[i]), STORE_PUT_NO_JSON);
        EQ(store_has(store, sweep, &other), 0);
    }
    EQ(put(store, sweep, &other, "{}"), STORE_PUT);
    store_close(store);
}

static void a_sweep_is_known_by_version_options_and_files(void)
{
    const struct store_sweep others[] = {
        { .version = "1.1", .options = "--cycles 9", .files = "" },
        { .version = "1.0", .options = "--cycles 8", .files = "" },
        { .version = "1.0", .options = "--cycles 9", .files = "a" }
    };
    int code;
    const int64_t sweep = make_store();
    struct store *store = store_open(path, STORE_WRITE, &code);
    EQ(store_begin(store, &settings, &code), sweep);
    for (size_t i = 0; i < 3; i++)
        OK(store_begin(store, &others[i], &code) != sweep);
    store_close(store);
}

static char visited[1024];

static bool note_run(void *context, const struct store_run *run)
{
    int *left = context;
    snprintf(visited + strlen(visited), sizeof visited - strlen(visited), "%s %s %u %llu\n",
             run->key.fabric, run->key.traffic, run->key.load, (unsigned long long)run->key.seed);
    return --*left > 0;
}

static bool note_sweep(void *context, const struct store_sweep *sweep)
{
    (void)context;
    snprintf(visited + strlen(visited), sizeof visited - strlen(visited), "%lld %s|%s|%s\n",
             (long long)sweep->id, sweep->version, sweep->options, sweep->files);
    return true;
}

static void runs_are_visited_in_order_until_a_visit_ends_it(void)
{
    const struct store_key keys[] = { { "mesh:4,4", "uniform", 250000, 10 },
                                      { "mesh:4,4", "uniform", 100000, 8 },
                                      { "bmx:4", "uniform", 900000, 1 },
                                      { "mesh:4,4", "bursty", 900000, 1 } };
    int code, left = 99;
    const int64_t sweep = make_store();
    struct store *store = store_open(path, STORE_WRITE, &code);
    for (size_t i = 0; i < 4; i++)
        EQ(put(store, sweep, &keys[i], "{}"), STORE_PUT);
    visited[0] = '\0';
    OK(store_each_run(store, sweep, note_run, &left));
    OK(strcmp(visited,
              "bmx:4 uniform 900000 1\nmesh:4,4 bursty 900000 1\nmesh:4,4 uniform 100000 8\n"
              "mesh:4,4 uniform 250000 7\nmesh:4,4 uniform 250000 10\n") == 0);
    visited[0] = '\0';
    left = 2;
    OK(!store_each_run(store, sweep, note_run, &left));
    OK(strcmp(visited, "bmx:4 uniform 900000 1\nmesh:4,4 bursty 900000 1\n") == 0);
    store_close(store);
}

static void what_was_opened_for_nothing_leaves_nothing(void)
{
    const struct store_sweep other = { .version = "2", .options = "", .files = "" };
    struct stat what;
    int code;
    fresh();
    struct store *store = store_open(path, STORE_WRITE, &code);
    OK(stat(path, &what) == 0);
    store_begin(store, &settings, &code);
    store_close(store);
    OK(stat(path, &what) != 0);
    make_store();
    store = store_open(path, STORE_WRITE, &code);
    store_begin(store, &other, &code);
    store_close(store);
    store = store_open(path, STORE_READ, &code);
    visited[0] = '\0';
    OK(store_each_sweep(store, note_sweep, NULL));
    OK(strcmp(visited, "1 1.0|--cycles 9|\n") == 0);
    store_close(store);
}

/* SQLite's file format, 1.3: the user version is at 60, the application's id at 68. */
static void the_file_has_its_application_and_version(void)
{
    unsigned char head[100];
    make_store();
    FILE *file = fopen(path, "rb");
    EQ(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    OK(memcmp(head, "SQLite format 3", 16) == 0);
    OK(memcmp(head + 60, "\0\0\0\2", 4) == 0);
    OK(memcmp(head + 68, "LEAT", 4) == 0);
}

static void a_store_of_a_newer_version_is_refused(void)
{
    make_store();
    patch(60, "\0\0\0\3", 4);
    OK(is_refused(STORE_READ, WRONG, "a store of version 3, expected at most 2"));
    OK(is_refused(STORE_WRITE, WRONG, "a store of version 3, expected at most 2"));
}

static bool note_program(void *context, const struct store_program *p)
{
    int *left = context;
    snprintf(visited + strlen(visited), sizeof visited - strlen(visited),
             "%lld %s|%s|%s|%s|%u|%s\n", (long long)p->id, p->version, p->command, p->options,
             p->fabric, p->tasks, p->result);
    OK(strlen(p->created) == strlen("2024-05-01 12:00:00"));
    return --*left > 0;
}

static void programs_are_appended_and_visited_in_order(void)
{
    struct store_program program = { .version = "1.0",
                                     .command = "./a 'b c'",
                                     .options = "-n 4",
                                     .fabric = "mesh:2,2",
                                     .tasks = 4,
                                     .result = "{\"bytes\":7}" };
    int code, left = 99;
    fresh();
    struct store *store = store_open(path, STORE_WRITE, &code);
    EQ(store_put_program(store, &program), STORE_PUT);
    EQ(store_put_program(store, &program), STORE_PUT);
    program.result = "7";
    EQ(store_put_program(store, &program), STORE_PUT_NO_JSON);
    store_close(store);
    store = store_open(path, STORE_READ, &code);
    visited[0] = '\0';
    OK(store_each_program(store, note_program, &left));
    OK(strcmp(visited, "1 1.0|./a 'b c'|-n 4|mesh:2,2|4|{\"bytes\":7}\n"
                       "2 1.0|./a 'b c'|-n 4|mesh:2,2|4|{\"bytes\":7}\n") == 0);
    left = 1;
    OK(!store_each_program(store, note_program, &left));
    store_close(store);
}

/* A store as leat made it before there were programs in it: its schema, word for word. */
static void make_version_1(void)
{
    static const char old[] =
        "CREATE TABLE sweep (id INTEGER PRIMARY KEY, version TEXT NOT NULL, options TEXT NOT NULL,"
        " files TEXT NOT NULL, starts INTEGER NOT NULL, created TEXT NOT NULL,"
        " UNIQUE (version, options, files));"
        "CREATE TABLE run (sweep INTEGER NOT NULL REFERENCES sweep (id), fabric TEXT NOT NULL,"
        " traffic TEXT NOT NULL, load INTEGER NOT NULL, seed INTEGER NOT NULL, result TEXT NOT NULL"
        " CHECK (CASE WHEN json_valid(result) THEN json_type(result) = 'object' ELSE 0 END),"
        " PRIMARY KEY (sweep, fabric, traffic, load, seed));"
        "PRAGMA application_id = 0x4c454154; PRAGMA user_version = 1;"
        "INSERT INTO sweep VALUES (1, '1.0', '--cycles 9', '', 1, '2024-05-01 12:00:00');"
        "INSERT INTO run VALUES (1, 'mesh:4,4', 'uniform', 50000, 9223372036854775807,"
        " '{\"throughput\":0.05}'),"
        " (1, 'mesh:4,4', 'uniform', 1000000, 1, '{\"throughput\":0.6}'),"
        " (1, 'twosan', 'uniform', 100000, 1, '{\"forwarding\":\"planned\",\"throughput\":0.94}'),"
        " (1, 'twosan', 'uniform', 0, 1, '{\"forwarding\":\"planned\",\"throughput\":null}')";
    sqlite3 *db;
    fresh();
    EQ(sqlite3_open(path, &db), SQLITE_OK);
    EQ(sqlite3_exec(db, old, NULL, NULL, NULL), SQLITE_OK);
    EQ(sqlite3_close(db), SQLITE_OK);
}

static double throughput_of(struct store *store, const char *fabric, uint32_t load, uint64_t seed)
{
    struct store_figures f = { .throughput = -1 };
    EQ(store_get(store, 1, &(struct store_key){ fabric, "uniform", load, seed }, &f), 1);
    return f.throughput;
}

static void a_store_of_version_1_is_upgraded_when_it_is_opened(void)
{
    static const enum store_mode modes[] = { STORE_READ, STORE_WRITE };
    for (size_t i = 0; i < 2; i++) {
        int code, left = 99;
        make_version_1();
        for (int time = 0; time < 2; time++) { /* the second finds it upgraded */
            struct store *store = store_open(path, modes[i], &code);
            OK(store && code == DONE);
            OK(throughput_of(store, "mesh:4,4", 50000, INT64_MAX) == 0.05);
            OK(throughput_of(store, "mesh:4,4", STORE_LOAD_ONE, 1) == 0.6);
            OK(fabs(throughput_of(store, "twosan", 100000, 1) - 0.094) < 1e-12);
            OK(isnan(throughput_of(store, "twosan", 0, 1)));
            visited[0] = '\0';
            OK(store_each_run(store, 1, note_run, &left));
            OK(strcmp(visited, "mesh:4,4 uniform 50000 9223372036854775807\n"
                               "mesh:4,4 uniform 1000000 1\n"
                               "twosan uniform 0 1\ntwosan uniform 100000 1\n") == 0);
            EQ(store_begin(store, &settings, &code), 1);
            store_close(store);
        }
    }
}

/* Every load that can be named is found again, and SQL finds it by what a person writes. */
static void loads_are_numbers_and_exact(void)
{
    const struct store_key first = { "mesh:4,4", "uniform", 50000, 1 };
    int code, left = 99, found = 0;
    const int64_t sweep = make_store();
    struct store *store = store_open(path, STORE_WRITE, &code);
    EQ(put(store, sweep, &first, "{}"), STORE_PUT);
    for (uint32_t load = 1; load <= STORE_LOAD_ONE; load += 99999) {
        const struct store_key each = { "mesh:4,4", "load", load, 1 };
        EQ(put(store, sweep, &each, "{}"), STORE_PUT);
        EQ(store_has(store, sweep, &each), 1);
    }
    visited[0] = '\0';
    OK(store_each_run(store, sweep, note_run, &left));
    OK(strstr(visited, "load 1 1\n") && strstr(visited, "load 999991 1\n"));
    store_close(store);
    sqlite3 *db;
    EQ(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_stmt *query;
    sqlite3_prepare_v2(db, "SELECT count(*) FROM run WHERE load = 0.05", -1, &query, NULL);
    if (sqlite3_step(query) == SQLITE_ROW) found = sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(db);
    EQ(found, 1);
}

static void a_store_that_cannot_be_upgraded_is_refused(void)
{
    make_version_1();
    int code;
    FILE *writer = fopen(path, "r+b"); /* an older leat writes to it */
    EQ(flock(fileno(writer), LOCK_EX), 0);
    OK(is_refused(STORE_READ, FAILED, "another leat writes to it"));
    fclose(writer);
    if (geteuid() != 0) { /* root may write everything */
        EQ(chmod(path, 0444), 0);
        OK(is_refused(STORE_READ, WRONG, "a store of version 1, which cannot be written"));
        EQ(chmod(path, 0644), 0);
    }
    struct store *store = store_open(path, STORE_READ, &code);
    OK(store && throughput_of(store, "mesh:4,4", 50000, INT64_MAX) == 0.05);
    store_close(store);
}

static void a_file_of_another_program_is_refused(void)
{
    make_store();
    patch(68, "LEAD", 4);
    OK(is_refused(STORE_READ, WRONG, "an SQLite file, but no store"));
    fresh();
    write_file("fabric,load\nmesh:4,4,0.25, and so on, as a table has it, for a few more lines\n",
               77);
    OK(is_refused(STORE_READ, WRONG, "no SQLite file"));
    OK(is_refused(STORE_WRITE, WRONG, "no SQLite file"));
    fresh();
    write_file("", 0);
    OK(is_refused(STORE_READ, WRONG, "empty"));
}

static void a_damaged_store_is_refused(void)
{
    char garbage[400];
    memset(garbage, 0xa5, sizeof garbage);
    make_store();
    patch(100, garbage, sizeof garbage); /* behind the header: the list of tables */
    OK(is_refused(STORE_READ, WRONG, "damaged"));
    const int64_t sweep = make_store();
    struct stat what;
    OK(stat(path, &what) == 0 && what.st_size > 4096);
    for (long page = 4096; page < what.st_size; page += 4096)
        patch(page, garbage, sizeof garbage); /* the tables themselves */
    int code, left = 99;
    complaints_begin();
    struct store *store = store_open(path, STORE_READ, &code);
    const bool all = store && store_each_run(store, sweep, note_run, &left);
    OK(strstr(complaints_end(), "damaged"));
    OK(!all);
    store_close(store);
}

static void what_is_not_there_cannot_be_read(void)
{
    fresh();
    OK(is_refused(STORE_READ, WRONG, "cannot be read"));
    snprintf(path, sizeof path, "%s", folder);
    OK(is_refused(STORE_READ, WRONG, "a directory, expected a file"));
    snprintf(path, sizeof path, "%s/none/store", folder);
    OK(is_refused(STORE_WRITE, WRONG, "cannot be written"));
}

static void one_writes_at_a_time_and_others_read(void)
{
    int code;
    const int64_t sweep = make_store();
    struct store *writer = store_open(path, STORE_WRITE, &code);
    OK(is_refused(STORE_WRITE, FAILED, "another leat writes to it"));
    struct store *reader = store_open(path, STORE_READ, &code);
    OK(reader);
    EQ(store_has(reader, sweep, &key), 1);
    store_close(reader);
    store_close(writer);
    writer = store_open(path, STORE_WRITE, &code);
    OK(writer);
    store_close(writer);
}

static void clean_up(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    EQ(system(command), 0);
}

TAP_MAIN(T(what_is_put_is_read_back), T(figures_that_a_result_lacks_are_absent),
         T(what_is_no_json_object_is_not_stored), T(a_sweep_is_known_by_version_options_and_files),
         T(runs_are_visited_in_order_until_a_visit_ends_it),
         T(what_was_opened_for_nothing_leaves_nothing), T(the_file_has_its_application_and_version),
         T(a_store_of_a_newer_version_is_refused), T(programs_are_appended_and_visited_in_order),
         T(a_store_of_version_1_is_upgraded_when_it_is_opened), T(loads_are_numbers_and_exact),
         T(a_store_that_cannot_be_upgraded_is_refused), T(a_file_of_another_program_is_refused),
         T(a_damaged_store_is_refused), T(what_is_not_there_cannot_be_read),
         T(one_writes_at_a_time_and_others_read), T(clean_up))

#else

static void without_sqlite_opening_fails(void)
{
    int code = DONE;
    fresh();
    complaints_begin();
    struct store *store = store_open(path, STORE_WRITE, &code);
    OK(strstr(complaints_end(), "SQLite"));
    OK(!store && code == FAILED);
    OK(rmdir(folder) == 0);
}

TAP_MAIN(T(without_sqlite_opening_fails))

#endif
