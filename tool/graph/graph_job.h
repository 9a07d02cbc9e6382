/* Shared by the parts of leat graph. */
#ifndef LEAT_GRAPH_JOB_H
#define LEAT_GRAPH_JOB_H

#include "tool.h"

enum { GRAPH_WORKERS_MAX = 256, GRAPH_RECORD_MAX = 1000000000, GRAPH_RECORD_DEFAULT = 1000000 };

#ifdef HAVE_EXPAT
#include "fabric_kind.h"
#include "graph.h"
#include "graph_link.h"
#include "graph_run.h"
#include "handler.h"
#include "result_file.h"

/* Prints the report on standard error; false: it has errors. */
bool graph_print_report(const struct leat_graph_report *report);

/* --dialect; LEAT_GRAPH_DIALECT_COUNT: as the namespace says. */
enum leat_graph_dialect graph_dialect(const struct arguments *args);

/* One operand behind the subverb? False after a complaint. */
bool graph_has_file(const struct arguments *args);

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

/* Describes a graph. */
void graph_show(const struct leat_graph *graph, const struct leat_graph_instance *instance,
                bool json);

/* ---- what leat graph run writes: packets as a capture, final states (graph_files.c) ---- */

struct graph_files {
    struct result_file record, snapshot;
    uint64_t packets, packets_max; /* seen, and at most recorded */
};

/* Opens the files of --record and --snapshot, and observes the run. False after a complaint. */
bool graph_files_open(struct graph_files *files, const struct arguments *args,
                      struct leat_poets_run_options *run);
void graph_files_drop(struct graph_files *files);

/* After a run: writes the rest. False after a complaint. */
bool graph_files_close(struct graph_files *files, const struct leat_poets_run_options *run,
                       const struct leat_poets_machine *machine,
                       const struct leat_poets_run_result *result);

/* ---- --attach: processes as externals (graph_attach.c) ---- */

struct graph_attach {
    struct leat_poets_door door;
    struct leat_poets_graph_externals externals;
    const char *address; /* NULL: nobody can attach */
    uint64_t wait_ps;
};

/* Reads --attach and --attach-wait and opens the socket. False after a complaint; call
 * graph_attach_close in either case. */
bool graph_attach_open(const struct arguments *args, struct graph_attach *attach);
void graph_attach_close(struct graph_attach *attach);

/* The externals of a machine, for a run. False: no memory. */
bool graph_attach_begin(struct graph_attach *attach, struct leat_poets_machine *machine,
                        struct leat_poets_run_options *run);

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

/* A member of an object, and text unless `out` is NULL. */
void graph_fabric_show(const struct graph_fabric *fabric, const struct leat_poets_run_options *run,
                       const struct leat_poets_fabric_result *result, struct leat_json *json,
                       FILE *out);

#endif
#endif
