/* Shared by the parts of leat graph. */
#ifndef LEAT_GRAPH_JOB_H
#define LEAT_GRAPH_JOB_H

#include "tool.h"

enum {
    GRAPH_WORKERS_MAX = 256,
    GRAPH_TASKS_MAX = 64,
    GRAPH_WORD_CAP = 1024, /* of a name or an address */
    GRAPH_RECORD_MAX = 1000000000,
    GRAPH_RECORD_DEFAULT = 1000000
};

#ifdef HAVE_EXPAT
#include "fabric_kind.h"
#include "graph.h"
#include "graph_link.h"
#include "graph_place.h"
#include "graph_run.h"
#include "handler.h"
#include "result_file.h"

/* Prints the report on standard error; false: it has errors. */
bool graph_print_report(const struct leat_graph_report *report);

/* --dialect; LEAT_GRAPH_DIALECT_COUNT: as the namespace says. */
enum leat_graph_dialect graph_dialect(const struct arguments *args);

/* One operand behind the subverb? False after a complaint. */
bool graph_has_file(const struct arguments *args);

/* The next word of an option that may be repeated. False: there is none. */
bool graph_next_word(const char **at, char *word, size_t cap);

/* Opens the link to the other ranks of this run, over MPI. False after a complaint. */
bool graph_link_open(struct leat_poets_link *link);

/* All ranks read the same command line, and one complaint is enough: discards standard error until
 * the returned descriptor is restored. */
int graph_mute(void);
void graph_unmute(int before);

/* All ranks (NULL: there is one) report whether they succeeded, and what they have read. If not,
 * one of them prints the report. True: all succeeded. */
bool graph_agree(struct leat_poets_link *link, const struct leat_graph_report *report, bool good,
                 uint64_t fingerprint);

int graph_run(const struct arguments *args);

/* ---- what leat graph run writes: packets as a capture, final states (graph_files.c) ---- */

struct graph_task;
struct graph_job;

/* Files that were written whole in a sandbox, for the process outside. */
struct graph_kept {
    bool record, snapshot;
};

struct graph_files {
    struct result_file record, snapshot;
    const char *record_name, *snapshot_name; /* NULL: not asked for, or not by this rank */
    bool failed;
    const struct graph_job *job; /* once it is known, with */
    struct graph_kept *kept;     /* NULL: there is no sandbox */
    const struct leat_poets_machine *machine;
    const struct leat_poets_fabric_options *fabric;
};

/* Opens the files of --record and --snapshot, and observes the run. False after a complaint. */
bool graph_files_open(struct graph_files *files, const struct arguments *args,
                      struct leat_poets_run_options *run);
void graph_files_drop(struct graph_files *files);

/* Before a run: each task is an interface of the capture; a snapshot is of the only one. */
void graph_files_begin(struct graph_files *files, struct graph_job *job);
/* After a run: writes the rest. False after a complaint. */
bool graph_files_close(struct graph_files *files, const struct leat_poets_run_options *run,
                       const struct leat_poets_run_result *result);

/* After a sandbox: what it has written appears. False after a complaint. */
bool graph_files_keep(struct graph_files *files, const struct graph_kept *kept);

/* ---- --attach: processes as externals (graph_attach.c) ---- */

struct graph_attach {
    struct leat_poets_door door;
    struct leat_poets_graph_externals externals;
    char address[GRAPH_WORD_CAP]; /* "": nobody can attach */
    uint64_t wait_ps;
};

/* Reads --attach and --attach-wait and opens the sockets of [GRAPH_TASKS_MAX] tasks. False after a
 * complaint; call graph_attach_close in either case. */
bool graph_attach_open(const struct arguments *args, struct graph_attach *attach);
void graph_attach_close(struct graph_attach *attach);
/* None is of a task that there is not. False after a complaint. */
bool graph_attach_check(const struct arguments *args, const struct graph_attach *attach,
                        uint32_t task_count);

/* The externals of a task, for a run. False: no memory. */
bool graph_attach_begin(struct graph_attach *attach, struct graph_task *task);

/* What externals have sent and received: a member of an object. */
void graph_attach_show(const struct graph_attach *attach, struct leat_json *json);

/* ---- --fabric: the network, its mailboxes, and the results (verb_graph_fabric.c) ---- */

struct graph_fabric {
    struct leat_fabric *network;
    struct leat_poets_mailbox_place *place;
};

/* Reads --mailbox and --cost and opens the network; sets it up in `run`. False after a complaint;
 * call graph_fabric_close in either case. */
bool graph_fabric_open(const struct arguments *args, const char *name,
                       struct leat_poets_run_options *run, struct graph_fabric *out);
void graph_fabric_close(struct graph_fabric *fabric);

/* A member of an object, and text about a task, `who`, unless `out` is NULL. */
void graph_fabric_show(const struct graph_fabric *fabric, const struct leat_poets_run_options *run,
                       const struct leat_poets_fabric_result *result, const char *who,
                       struct leat_json *json, FILE *out);

/* ---- the tasks of leat graph run (graph_tasks.c) ---- */

struct graph_task {
    const char *file;
    struct leat_graph graph;
    const struct leat_graph_instance *instance;
    struct leat_handlers handlers;
    struct leat_poets_machine machine;
    struct leat_poets_run_options run;
    char prefix[24]; /* of its lines: "task 1: ", or "" if there is only one */
    uint32_t threads;
    bool dealt; /* ranks have read it together */
    double load_seconds;
};

enum graph_sandbox { GRAPH_SANDBOX_FOR_OTHERS, GRAPH_SANDBOX, GRAPH_NO_SANDBOX };

/* The command line, and what it leads to. */
struct graph_job {
    struct leat_poets_run_options run; /* what tasks have in common */
    struct leat_poets_link link;       /* --engine mpi; run.link is NULL without it */
    struct graph_fabric fabric;
    struct leat_handler_options handlers;
    enum leat_graph_dialect dialect;
    enum leat_poets_placement placement;
    bool placement_given;
    bool only_reads; /* info: no handlers */
    bool rts_given, idle_is_good, json;
    enum graph_sandbox sandbox;
    uint64_t sandbox_memory; /* octets */
    uint32_t sandbox_seconds;
    const char *schedule_name;
    const char *engine;  /* the name of a fabric; NULL: threads */
    const char *restore; /* a snapshot; NULL: from the beginning */
    struct graph_files files;
    struct graph_attach attach[GRAPH_TASKS_MAX];
    struct graph_task *task[GRAPH_TASKS_MAX];
    uint32_t task_count;
};

/* Describes a task (graph_show.c). False after a complaint. */
bool graph_show(const struct graph_task *task, uint32_t number, bool json);

/* Files behind the subverb, at most one of them standard input? False after a complaint. */
bool graph_has_files(const struct arguments *args);
/* Reads all files. False after a complaint; call graph_tasks_free in either case. */
bool graph_tasks_read(const struct arguments *args, struct graph_job *job);
/* Reads all files and compiles their handlers; loads them and deals devices to threads. False after
 * a complaint; call graph_tasks_free in either case. */
bool graph_tasks_compile(const struct arguments *args, struct graph_job *job);
bool graph_tasks_load(struct graph_job *job);
void graph_tasks_free(struct graph_job *job);

/* ---- handlers of strangers (graph_sandbox.c) ---- */

/* --sandbox and its limits. False after a complaint. */
bool graph_sandbox_read(const struct arguments *args, struct graph_job *job);
/* Once the files are known: those of other users need one, which is told. */
bool graph_sandbox_is_needed(struct graph_job *job);
/* `run` in a process of its own, in a jail. Returns its exit code. */
int graph_sandbox_run(struct graph_job *job, int (*run)(struct graph_job *job));

#endif
#endif
