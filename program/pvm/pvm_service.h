/*
 * The virtual machine in leat run: the counterpart of pvmd and the group server. It starts
 * processes, keeps all tasks, groups and mailboxes, and answers the library's queries.
 *
 *     create --- leat_hub_create(... service = hooks, port = ports ...) --- start, start, ...
 *            --- leat_hub_run --- finish --- destroy
 *
 * The output of spawned tasks is collected. It goes to the task that catches it (pvm_catchout) or
 * to the log, each line prefixed with its task: "[t40002] ...".
 *
 * Only messages between tasks cross the network; a query costs a task LEAT_TASK_POLL_PS.
 */
#ifndef LEAT_PVM_SERVICE_H
#define LEAT_PVM_SERVICE_H

#include "hub.h"
#include "pvm_shared.h"

struct leat_pvm_service;

struct leat_pvm_service_config {
    uint32_t slots, ports;
    const uint32_t *port; /* of each slot; NULL: slot modulo ports */
    /* Search path for programs, as in PATH; names that begin with '/' are used as they are. */
    const char *path;
    /* "NAME=value" of each variable that tasks get besides leat's own; ends with NULL. */
    char *const *environment;
    enum leat_pvm_collectives collectives;
    int log;                   /* a file; -1: uncaught output is lost */
    bool (*interrupted)(void); /* ends waiting for processes; NULL: never */
};

/* NULL: `why` (a buffer) says why. */
struct leat_pvm_service *leat_pvm_service_create(const struct leat_pvm_service_config *config,
                                                 char *why, size_t why_cap);
void leat_pvm_service_destroy(struct leat_pvm_service *service);

/* For struct leat_hub_config: its service, and its port (pvm_spawn with a host changes it for slots
 * that are not used yet). */
struct leat_hub_service leat_pvm_service_hooks(struct leat_pvm_service *service);
const uint32_t *leat_pvm_service_ports(const struct leat_pvm_service *service);

/* Starts an initial task in its slot. It shares leat's output; slot 0 also its input.
 * argv[0] is searched for as in pvm_spawn, then in PATH. */
bool leat_pvm_service_start(struct leat_pvm_service *service, struct leat_hub *hub, uint32_t slot,
                            char *const *argv, char *why, size_t why_cap);

/* After the run: waits until all processes have ended (or kills them at once), and writes the rest
 * of the log. */
void leat_pvm_service_finish(struct leat_pvm_service *service, bool at_once);

#endif
