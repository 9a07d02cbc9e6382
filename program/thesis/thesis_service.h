/*
 * The thesis' platform in leat run: the counterpart of its shared memory segments and its
 * process table. It starts processes, keeps all tasks, and passes their requests for units to the
 * platform (port/platform.h).
 *
 *     create --- leat_hub_create(net = &platform->net, service = hooks) --- start, start, ...
 *            --- leat_hub_run --- finish --- records --- destroy
 *
 *     task: question --> hub --> on_call --> platform.ask
 *     task: answer   <-- hub <--  on_reply <-- platform       some cycles later
 *
 * Slot i of the hub is index i of the process table. Starting a task costs no cycles. The output of
 * started tasks is collected and written to the log, each line prefixed with its task: "[srp 3]
 * ...".
 */
#ifndef LEAT_THESIS_SERVICE_H
#define LEAT_THESIS_SERVICE_H

#include "hub.h"
#include "leat_text.h"
#include "platform.h"

struct leat_atm_service;

struct leat_atm_service_config {
    struct leat_platform *platform; /* lent until destroy; its `reported` and `lost` are set */
    uint32_t slots, tasks;          /* in total; initial ones */
    const uint32_t *port;           /* of each slot */
    leat_time start;                /* of the hub's time, at which the platform's begins */
    const char *path;               /* search path for programs, as in PATH */
    char *const *environment;       /* "NAME=value", for tasks; ends with NULL */
    int log;                        /* a file; -1: the output of tasks is lost */
    bool (*interrupted)(void);      /* ends waiting for processes; NULL: never */
    bool records;                   /* are kept */
};

struct leat_atm_service *leat_atm_service_create(const struct leat_atm_service_config *config);
void leat_atm_service_destroy(struct leat_atm_service *service);

/* For struct leat_hub_config. */
struct leat_hub_service leat_atm_service_hooks(struct leat_atm_service *service);

/* Starts an initial task in its slot; its name is the beginning of its program's, its instance the
 * slot. It shares leat's output; slot 0 also its input. `argv`: lent until destroy. False:
 * `why` (a buffer) says why. */
bool leat_atm_service_start(struct leat_atm_service *service, struct leat_hub *hub, uint32_t slot,
                            char *const *argv, char *why, size_t why_cap);

/* After the run: waits until all processes have ended (or kills them at once), and writes the rest
 * of the log. */
void leat_atm_service_finish(struct leat_atm_service *service, bool at_once);

/* As waitpid returns it; of a process that has ended, or 0. */
int leat_atm_service_status(const struct leat_atm_service *service, uint32_t slot);
/* "srp 3" */
void leat_atm_service_name(const struct leat_atm_service *service, uint32_t slot, char *out,
                           size_t cap);

/* Of all tasks (thesis_records.h); once. */
void leat_atm_service_write_records(struct leat_atm_service *service, struct leat_text *out);

#endif
