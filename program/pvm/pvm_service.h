/*
 * The virtual machine's side in the maestro: what pvmd and the group server are elsewhere. It
 * starts processes, knows all tasks, groups and mailboxes, and answers the library's questions.
 *
 *     create --- leat_hub_create(... service = hooks, port = ports ...) --- start, start, ...
 *            --- leat_hub_run --- finish --- destroy
 *
 * What tasks that were spawned print is collected, and told to the task that catches it
 * (pvm_catchout) or written to the log, each line behind its task: "[t40002] ...".
 *
 * Its questions cost no simulated time: only messages between tasks go through the network.
 */
#ifndef LEAT_PVM_SERVICE_H
#define LEAT_PVM_SERVICE_H

#include "hub.h"

struct leat_pvm_service;

struct leat_pvm_service_config {
    uint32_t slots, ports;
    const uint32_t *port; /* of each slot; NULL: slot modulo ports */
    /* Where programs are looked for, as in PATH; those with a '/' in front are taken as they are.
     */
    const char *path;
    /* "NAME=value" of each variable that tasks get besides the maestro's own; ends with NULL. */
    char *const *environment;
    int log;                   /* a file; -1: what nobody catches is lost */
    bool (*interrupted)(void); /* ends waiting for processes; NULL: never */
};

/* NULL: `why` (a buffer) says why. */
struct leat_pvm_service *leat_pvm_service_create(const struct leat_pvm_service_config *config,
                                                 char *why, size_t why_cap);
void leat_pvm_service_destroy(struct leat_pvm_service *service);

/* For struct leat_hub_config: its service, and its port (which pvm_spawn with a host changes for
 * slots that are not used yet). */
struct leat_hub_service leat_pvm_service_hooks(struct leat_pvm_service *service);
const uint32_t *leat_pvm_service_ports(const struct leat_pvm_service *service);

/* Starts a task that the run begins with, in its slot. Its output is the maestro's; slot 0 has the
 * maestro's input too. argv[0] is looked for as pvm_spawn does, then in PATH. */
bool leat_pvm_service_start(struct leat_pvm_service *service, struct leat_hub *hub, uint32_t slot,
                            char *const *argv, char *why, size_t why_cap);

/* After the run: waits until all processes have ended (or, at once, ends them), and writes the rest
 * of the log. */
void leat_pvm_service_finish(struct leat_pvm_service *service, bool at_once);

/* As waitpid tells it; of a process that has ended. */
int leat_pvm_service_status(const struct leat_pvm_service *service, uint32_t slot);

#endif
