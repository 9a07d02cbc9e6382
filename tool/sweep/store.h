/*
 * A store of runs: what `leat sweep` and `leat run` write and `leat report` reads. It is an SQLite
 * file.
 *
 *   application_id 0x4c454154 ("LEAT"), user_version 2
 *   sweep   id | version | options | files | starts | created
 *             what its runs have in common. options: those of `leat sim`, as a shell takes them,
 *             without traffic, load and seed; files: the files that were named and a hash of what
 *             was in them; starts: how often it was begun or continued
 *   run     sweep | fabric | traffic | load | seed | result
 *             fabric and traffic as on the command line, load as a number (0.05); result: the
 *             object that `leat sim FABRIC --traffic T --load L --seed S OPTIONS --json` printed
 *   program id | version | command | options | fabric | tasks | created | result
 *             a run of a program. command: the program and its arguments, as a shell takes them;
 *             options: those of `leat run`, too, without --fabric, --store and --json; fabric as
 *             on the command line; result: the object that `leat run --json` prints. The same
 *             command may be there several times: programs change
 *
 * Version 1 had no programs, loads in millionths, and the throughput of PacketWay networks in
 * Mbit/s. Such a store is upgraded when it is opened.
 *
 * A run is one transaction: it is stored completely or not at all. One command writes at a time;
 * any number may read meanwhile. A leat built without SQLite reports that when a store is opened
 * (store_none.c).
 */
#ifndef LEAT_STORE_H
#define LEAT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_VERSION = 2, STORE_LOAD_ONE = 1000000, STORE_CERTIFICATE_CAP = 32 };
#define STORE_APPLICATION_ID 0x4c454154

struct store;

enum store_mode {
    STORE_READ,  /* there must be one */
    STORE_LOOK,  /* the same; it is not written: neither upgraded nor repaired after a kill */
    STORE_WRITE, /* created if missing; locked against other writers */
};

/* NULL after a complaint; *code is WRONG if it is not a store, belongs to a newer leat or cannot be
 * opened (also: not upgraded), FAILED if it is in use or the disk is full. */
struct store *store_open(const char *path, enum store_mode mode, int *code);

/* If no run was added, removes what opening created: the file, or a sweep without runs. May be
 * NULL. */
void store_close(struct store *store);

/* In a child of the process that opened it: detaches the child from the store and its lock. */
void store_leave(const struct store *store);

struct store_sweep {
    int64_t id;
    const char *version, *options, *files;
    const char *created; /* "2024-05-01 12:00:00", UTC */
};

struct store_key {
    const char *fabric, *traffic;
    uint32_t load; /* in parts of STORE_LOAD_ONE */
    uint64_t seed; /* up to INT64_MAX */
};

/* The figures of a result that tables and curves show; absent ones are NAN, or -1. */
struct store_figures {
    double throughput, hops_mean;
    double latency_mean, latency_p50, latency_p99, latency_max;
    double lost, rerouted; /* packets */
    double cycle_ns;
    int saturated, deadlock;                 /* 0, 1 */
    char certificate[STORE_CERTIFICATE_CAP]; /* "" if absent */
};

struct store_run {
    struct store_key key;
    struct store_figures figures;
    const char *result; /* JSON, terminated */
};

struct store_program {
    int64_t id; /* ignored by store_put_program, as is created */
    const char *version, *command, *options, *fabric, *created;
    uint32_t tasks;
    const char *result; /* JSON, terminated */
};

/* ---- writing ---- */

/* The sweep with this version, options and files, created if missing. Its id, or 0 after a
 * complaint, with *code as above. */
int64_t store_begin(struct store *store, const struct store_sweep *sweep, int *code);

enum store_put {
    STORE_PUT,
    STORE_PUT_NO_JSON, /* the result is not a JSON object; no complaint */
    STORE_PUT_FAILED,  /* after a complaint: the disk is full, or such; what was put before is safe
                        */
};
enum store_put store_put(struct store *store, int64_t sweep, const struct store_key *key,
                         const char *result, size_t len);
enum store_put store_put_program(struct store *store, const struct store_program *program);

/* ---- reading ---- */

/* Is this run stored? 1: yes, 0: no, -1 after a complaint. */
int store_has(struct store *store, int64_t sweep, const struct store_key *key);

/* Its figures; returns the same values. */
int store_get(struct store *store, int64_t sweep, const struct store_key *key,
              struct store_figures *out);

/* Visits all in order: sweeps and programs by id, runs of one sweep by fabric, traffic, load and
 * seed. Arguments of a visit are lent for the call. A visit that returns false stops. False after
 * a complaint, or if stopped. */
bool store_each_sweep(struct store *store,
                      bool (*visit)(void *context, const struct store_sweep *sweep), void *context);
bool store_each_run(struct store *store, int64_t sweep,
                    bool (*visit)(void *context, const struct store_run *run), void *context);
bool store_each_program(struct store *store,
                        bool (*visit)(void *context, const struct store_program *program),
                        void *context);

/* Does a result report this flag? 0 for false and null, 1 for anything else, -1: absent. */
int store_flag(struct store *store, const char *result, const char *place);

#endif
