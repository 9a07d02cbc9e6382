/* Shared by the parts of `leat run`: the job, the network, the processes. */
#ifndef LEAT_TOOL_RUN_H
#define LEAT_TOOL_RUN_H

#include "child.h"
#include "fabric_kind.h"
#include "hub.h"
#include "jail.h"
#include "net_port.h"
#include "result_file.h"
#include "sim_atm_platform.h"
#include "sim_replay.h"
#include "store.h"
#include "tool.h"
#include <sys/types.h>

enum {
    RUN_TASKS_MAX = 1024,
    RUN_SPAWNED_MAX = 256,     /* tasks that others start ... */
    RUN_SPAWNED_WRAPPED = 64,  /* ... under --wrap, since valgrind maps no more memory ... */
    RUN_SPAWNED_WITH_MPI = 16, /* ... and needs much of it itself */
    RUN_PATH_CAP = 4096,
    RUN_FABRICS_MAX = 64,
    RUN_WIRES_MAX = 32, /* the busiest */
};

enum run_library { RUN_MPI, RUN_PVM, RUN_ATM }; /* the last: leat/atm_task.h */

enum run_collectives { RUN_BY_HOSTS, RUN_BY_NETWORK };

/* --gdb or --wrap: a tool that tasks run under. */
enum { RUN_TOOL_WORDS_CAP = 64 };
#define RUN_TOOL_ALL UINT32_MAX
struct run_tool {
    char *word[RUN_TOOL_WORDS_CAP]; /* of its command */
    size_t words;                   /* 0: there is none */
    uint32_t rank;                  /* the task under it; RUN_TOOL_ALL */
    bool needs_terminal;            /* --gdb */
};

/* Of a rank, in a file of --placement. */
struct run_place {
    uint32_t port;
    uint32_t line; /* of the file; 0: none */
};

/* What the options say. */
struct run_job {
    const struct verb *verb;
    const struct arguments *args; /* for options of the fabric */
    const char *fabric;
    enum run_library library;
    uint32_t tasks; /* initial tasks; 0: MPI one per port, PVM one */
    double compute_scale;
    const char *placement;
    uint32_t ranks_per_host;               /* 0: as placement says */
    struct run_place place[RUN_TASKS_MAX]; /* of a file that placement names */
    uint32_t places;                       /* 0: it names none */
    const char *record;                    /* a file; NULL: none */
    uint64_t record_hops;                  /* that it has, at most */
    const char *records; /* of communication, leat/atm_task.h: a file; NULL: none */
    const char *json;    /* a file, "": standard output; NULL: none */
    const char *store;   /* a file; NULL: none */
    leat_time patience;  /* of the hub */
    leat_time overhead;  /* of a host, for each message */
    bool limits_polls;   /* of the hub: unless the user says how patient it is */
    bool real_clock, contention, profile;
    enum run_collectives collectives; /* who carries them out */
    bool compares_collectives;        /* by hosts, and then by the network */
    bool has_exact_sums;              /* of real numbers, in the network */
    bool is_one_of_several;           /* fabrics: options may be meant for others */
    bool silent;                      /* the program's output is not shown */
    uint32_t flit_octets, packet_flits, threads;
    struct run_tool tool;
    struct leat_jail_limits jail; /* of the tasks' processes; no memory: they are in none */
    char program[RUN_PATH_CAP];   /* its path */
    char **words;                 /* the program as it was named, its arguments, NULL */
};

/* A network that programs run over. */
struct run_network {
    struct leat_fabric *fabric;
    struct leat_port_net *net;
    struct leat_sim_atm_platform platform; /* instead of it, for programs of leat/atm_task.h */
    void *memory;                          /* of the platform */
    struct leat_sim_atm_load *load;        /* of an ATM fabric; else NULL */
    const struct leat_sim_replay *replay;  /* NULL: the network has none */
    struct leat_net *flits;                /* of a network of switches, to be recorded; else NULL */
    bool is_recorded;
};

/* What one task sent to another. */
struct run_pair {
    uint32_t sender, receiver;
    uint64_t messages, octets;
};

/* A task was in a state for so many thousandths of a bin. */
struct run_slice {
    uint32_t task;
    uint16_t bin, state, share;
};

struct run_timeline {
    leat_time bin_ps;
    char (*state)[LEAT_TASK_CALL_LEN];
    uint32_t states;
    struct run_slice *slice; /* by task, then bin */
    size_t slices, slice_cap;
};

/* The result of a run. */
struct run_outcome {
    enum leat_hub_end end;
    char reason[512];
    int code;           /* of the program */
    bool has_no_memory; /* or no descriptors: not an error of the user */
    bool is_unrecorded; /* the recording could not be written, which was reported */
    double wall_seconds;
    leat_time simulated_ps;
    uint64_t certificate, messages, octets;
    uint64_t replayed;     /* messages that were not simulated: sim_replay.h */
    uint64_t unread;       /* messages that units discarded unread */
    uint64_t cells_lost;   /* of an ATM fabric: by switches and by hosts without room */
    uint64_t cells_again;  /* sent again by units */
    uint32_t notes;        /* of all tasks: enum leat_task_note, combined */
    uint32_t tasks, begun; /* slots, and those that were used */
    struct leat_hub_task *task;
    uint32_t *port;
    struct leat_task_profile *call; /* of all tasks, the longest first */
    uint32_t calls;
    struct leat_task_collective *collective; /* of all tasks, by their names */
    uint32_t collectives;
    struct run_pair *pair; /* by sender, then receiver */
    size_t pairs;
    struct run_timeline timeline;
    struct leat_fabric_wire wire[RUN_WIRES_MAX]; /* the busiest first */
    uint32_t wires;
    bool counts_wires;
    char fabric[LEAT_FABRIC_NAME_CAP];
};

#define RUN_START_PS UINT64_C(1000000000000) /* a clock that begins at 0 confuses programs */

/* ---- a run (run_once.c) ---- */

/* In a run without contention the program's output is hidden. False after a complaint: it could not
 * begin; call run_outcome_free in either case. */
bool run_once(struct run_job *job, bool contention_free, struct run_outcome *out);
void run_outcome_free(struct run_outcome *out);

/* Reports why, if the run has failed, and returns the exit code. */
int run_judge(const struct run_job *job, const struct run_outcome *out);

/* One word for how it ended, for JSON. `reason`: "" on success. */
const char *run_status(const struct run_outcome *out, char *reason, size_t cap);

/* Did the program end by itself? Its exit code is then mpirun's, and so leat's. */
static inline bool run_has_code(const struct run_outcome *out)
{
    return out->end == LEAT_HUB_DONE || out->end == LEAT_HUB_DIED || out->end == LEAT_HUB_ABORTED;
}

/* A run that was interrupted before its first message simulated nothing. */
static inline bool run_has_certificate(const struct run_outcome *out)
{
    return out->end != LEAT_HUB_INTERRUPTED || out->messages;
}

static inline double run_seconds(leat_time ps)
{
    return 1e-12 * (double)ps;
}

/* ---- the ports of tasks (run_place.c) ---- */

/* Reads the options, after the program was found. False after a complaint. */
bool run_place_read(const struct arguments *args, struct run_job *job);
/* The number of slots for tasks; sets job->tasks if nobody has said how many there are. */
uint32_t run_place_slots(struct run_job *job, uint32_t ports);
/* The port of each slot. False after a complaint. */
bool run_place(const struct run_job *job, uint32_t slots, uint32_t ports, uint32_t *port);
/* Would tasks have their places on these ports? False after a complaint. */
bool run_place_check(const struct run_job *job, uint32_t ports);

/* ---- results (run_object.c) ---- */

struct leat_json;

/* Why another run may give a different result; returns the number of reasons. */
enum { RUN_REASONS_MAX = 6 };
size_t run_not_repeatable(const struct run_job *job, const struct run_outcome *out,
                          const char *reason[RUN_REASONS_MAX]);

/* Tasks that receive from others in a different order without contention. */
uint32_t run_count_reordered(const struct run_outcome *out, const struct run_outcome *alone);
/* Why a run may take longer without contention. */
extern const char run_anomaly[];

/* The object leat.run/1 and a line end, to be freed. `alone`: without contention, or NULL. NULL
 * after a complaint. */
char *run_object(const struct run_job *job, const struct run_outcome *out,
                 const struct run_outcome *alone);

/* ---- where results go (run_results.c) ---- */

struct run_results {
    const struct run_job *job;
    struct store *store;     /* NULL: none */
    struct result_file file; /* its name is NULL: none */
    char *command, *options; /* as in struct store_program */
    uint32_t objects;
};

/* DONE, or a code after a complaint. In any case call run_results_close, which returns DONE, or
 * FAILED after a complaint. */
int run_results_open(const struct run_job *job, struct run_results *results);
int run_results_close(struct run_results *results);
/* A run over job->fabric has ended; one that was interrupted is not stored. False after a
 * complaint. */
bool run_results_add(struct run_results *results, const struct run_outcome *out,
                     const struct run_outcome *alone);

/* ---- between tasks (run_pairs.c), on wires (run_wires.c), in time (run_timeline.c) ---- */

/* False after a complaint. */
bool run_pairs_keep(const struct leat_hub *hub, struct run_outcome *out);
void run_pairs_json(struct leat_json *j, const struct run_outcome *out);

void run_wires_keep(const struct run_network *network, struct run_outcome *out);
void run_wires_json(struct leat_json *j, const struct run_outcome *out);

/* False after a complaint. */
bool run_timeline_keep(const struct leat_hub *hub, struct run_outcome *out);
void run_timeline_json(struct leat_json *j, const struct run_outcome *out);

/* ---- several fabrics (run_several.c) ---- */

/* The values of --fabric; words are cut at their ends. Their number; 0 after a complaint. */
uint32_t run_fabrics_read(const struct arguments *args, char *word[RUN_FABRICS_MAX]);
/* Can each of them be made, with these options? False after a complaint. */
bool run_fabrics_check(struct run_job *job, char *const *word, uint32_t count);

/* A line of the comparison. */
struct run_line {
    char fabric[LEAT_FABRIC_NAME_CAP];
    const char *status;
    uint32_t tasks;
    leat_time simulated_ps;
    double contention; /* seconds; NAN: unknown */
    uint64_t messages, octets;
};
void run_compare(const struct run_line *line, uint32_t count, FILE *to);

/* ---- progress on a terminal (run_screen.c) ---- */

/* From here to the end the terminal shows what the program writes, and the progress below. */
void run_screen_begin(void);
void run_screen_end(void);
/* The hub whose time and messages are shown; NULL: none. */
void run_screen_watch(const struct leat_hub *hub);
/* For the hub, which polls it: is_interrupted, and figures if they are to be shown. */
bool run_screen_poll(void);
/* Before each of several silent runs: its title, lent, is their progress; NULL: after the last. */
void run_screen_title(const char *title);

/* ---- tasks under a tool (run_tool.c) ---- */

/* After the program was found. False after a complaint; either way run_tool_free. */
bool run_tool_read(const struct arguments *args, struct run_job *job);

void run_tool_free(struct run_job *job);
/* Is there such a task? False after a complaint. */
bool run_tool_check(const struct run_job *job);
/* The tool, if there is one, the program and its arguments. `preload`: the library that the program
 * loads (LD_PRELOAD); NULL: none. False after a complaint; free *out in either case. */
bool run_tool_command(const struct run_job *job, const char *preload, struct leat_child_words *out);
void run_tool_take_terminal_back(const struct run_job *job);

/* ---- programs of strangers (run_jail.c) ---- */

bool run_jail_read(const struct arguments *args, struct run_job *job);
/* *out: NULL without --jail. False after a complaint. */
bool run_jail_open(const struct run_job *job, struct leat_jail **out);

/* ---- calls (run_profile.c) ---- */

/* False after a complaint. */
bool run_profile_keep(const struct leat_hub *hub, struct run_outcome *out);
void run_profile_text(const struct run_outcome *out, FILE *to);
void run_profile_json(struct leat_json *j, const struct run_outcome *out);

/* ---- collective operations (run_collectives.c) ---- */

/* Does the service carry out multicasts, or count them? (PVM) */
bool run_collectives_are_told(const struct run_job *job);
/* --collectives. False after a complaint. */
bool run_collectives_read(const struct arguments *args, struct run_job *job);
/* Can the network do what the job wants? False after a complaint. */
bool run_collectives_check(const struct run_job *job, const struct run_network *network);
/* False after a complaint. */
bool run_collectives_keep(const struct leat_hub *hub, struct run_outcome *out);
void run_collectives_text(const struct run_job *job, const struct run_outcome *out, FILE *to);
void run_collectives_json(struct leat_json *j, const struct run_outcome *out);
/* The same calls by hosts and by the network. */
void run_collectives_compare(const struct run_outcome *hosts, const struct run_outcome *network,
                             FILE *to);

/* ---- networks (run_network.c): false after a complaint; either way run_network_close ---- */

bool run_network_open(const struct run_job *job, bool contention_free, struct run_network *out);
void run_network_close(struct run_network *network);

/* ---- recordings (run_record.c) ---- */

/* From now on records tasks and network to job->record. `port`: of each slot. False after a
 * complaint. */
bool run_record_open(const struct run_job *job, const struct run_network *network, uint32_t slots,
                     const uint32_t *port);
/* For the hub; NULL: nothing is recorded. */
const struct leat_hub_watch *run_record_watch(void);
/* Before the network is closed; also without a recording. `keep`: otherwise the file is discarded.
 * False after a complaint. */
bool run_record_close(bool keep);

/* ---- processes (run_program.c) ---- */

/* "mpi", "pvm" or "atm", by enum run_library. */
extern const char *const run_library_names[];

/* Finds the program and the libraries it is linked with. False after a complaint. */
bool run_program_find(struct run_job *job, const char *library);

/* A part of leat that programs load. False after a complaint. */
bool run_find_part(const char *name, char *out, size_t cap);
/* The same without a complaint. */
bool run_has_part(const char *name, char *out, size_t cap);

/* A function of a part that speaks MPI, loaded on demand, so that leat itself neither needs nor
 * starts MPI. NULL after a complaint: `user` needs it. */
void *run_load_mpi(const char *name, const char *function, const char *user);

/* Variables that make programs load our library, whatever they were linked with; ends with NULL.
 * NULL after a complaint. */
char **run_environment(const struct run_job *job, const char *library);
/* Search path for programs that tasks start: the folder of the first program, then PATH. */
const char *run_search_path(const struct run_job *job);

struct run_processes {
    const struct run_job *job;
    uint32_t slots, ports;
    const uint32_t *port;           /* of each slot */
    struct leat_platform *platform; /* leat/atm_task.h */
    struct leat_hub_service service;
    const struct run_library_ops *ops;
    struct leat_child launcher;   /* of MPI */
    struct leat_mpi_service *mpi; /* NULL: none */
    struct leat_pvm_service *pvm; /* NULL: none */
    struct leat_atm_service *atm; /* NULL: none */
};

/* What is done for the programs of a library. */
struct run_library_ops {
    /* See run_processes_prepare; NULL: nothing. */
    bool (*prepare)(struct run_processes *processes);
    /* Starts them. False after a complaint. */
    bool (*start)(struct run_processes *processes, struct leat_hub *hub);
    /* Waits for their end, if they end by themselves; otherwise, or on a signal, kills them. Returns
     * the exit code of the program. */
    int (*end)(struct run_processes *processes, const struct leat_hub *hub, enum leat_hub_end end);
    void (*free)(struct run_processes *processes); /* NULL: nothing */
};

extern const struct run_library_ops run_pvm_ops, run_atm_ops; /* run_pvm.c, run_atm.c */

/* Before the hub is made, with slots, and a port for each: may change `port`, sets `service` and
 * `ops`. False after a complaint; call run_processes_free in either case. */
bool run_processes_prepare(struct run_processes *processes);
void run_processes_free(struct run_processes *processes);

/* Removes what an mpirun that did not end by itself has left in /tmp (run_session.c). */
void run_session_remove(pid_t launcher);

/* Has the launcher ended, so that no process can be left? */
bool run_processes_have_ended(struct run_processes *processes);

/* ---- processes of an MPI program (run_alive.c) ---- */

/* Sends a signal (0: none) to all that still run: ranks and their forks, except those that made a
 * session of their own and have lost their parent. Not to the launcher. Returns how many. */
uint32_t run_alive_signal(const struct run_processes *processes, const struct leat_hub *hub,
                          int number);

/* Are the options consistent for programs of leat/atm_task.h (run_atm.c)? False after a complaint.
 */
bool run_atm_check(const struct run_job *job);

#endif
