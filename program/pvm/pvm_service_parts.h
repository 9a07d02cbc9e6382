/* What the files of the service share; see pvm_service.h. */
#ifndef LEAT_PVM_SERVICE_PARTS_H
#define LEAT_PVM_SERVICE_PARTS_H

#include "child.h"
#include "pvm_octets.h"
#include "pvm_service.h"
#include "pvm_shared.h"
#include <stdio.h>
#include <sys/time.h>

#include <pvm3.h>

enum { LEAT_PVM_LATER = INT32_MAX }; /* instead of a result: the answer comes later */

/* What a task waits for; one query at a time. */
enum leat_pvm_wait {
    LEAT_PVM_WAITS_NOT,
    LEAT_PVM_WAITS_BARRIER,
    LEAT_PVM_WAITS_FREEZE,
    LEAT_PVM_WAITS_MAIL,
    LEAT_PVM_WAITS_OUTPUT,
};

struct leat_pvm_entry {
    bool is_used, is_spawned, is_enrolled, has_left;
    bool was_signalled; /* by another task: its death is expected */
    int tid, parent, context;
    char *name;
    struct leat_child *process;
    int *sibling;
    int sibling_count;
    struct leat_pvm_sink sink; /* of its output */
    struct leat_pvm_octets question, answer;
    uint64_t cookie; /* of its last query */
    enum leat_pvm_wait waits;
    char waits_name[LEAT_PVM_NAME_LEN];
    int waits_number, waits_flags;
    bool is_counted;    /* a barrier: the group server knows that it waits ... */
    int barrier_result; /* ... and has answered this */
};

struct leat_pvm_notice {
    uint32_t subscriber;
    int kind, context, tag, tid;
};

struct leat_pvm_service {
    struct leat_pvm_service_config config;
    uint32_t *port;
    uint32_t next_port; /* port of the next task that may go to several */
    struct leat_pvm_entry *entry;
    struct leat_child *process; /* of each slot */
    struct leat_hub *hub;       /* of the current call */
    leat_time at;
    struct leat_pvm_notice *notice;
    size_t notice_count;
    bool *context_is_used; /* context n + 1 of this machine at n */
    size_t context_count;
    struct leat_pvm_class *mail;   /* in the order of their first entries */
    struct leat_pvm_group *groups; /* by name */
    bool has_server;               /* of groups, since the first task has joined one ... */
    uint32_t server_port;          /* ... at its port */
};

/* NULL: no such task, or it has left. */
struct leat_pvm_entry *leat_pvm_find(struct leat_pvm_service *service, int tid);
uint32_t leat_pvm_slot(const struct leat_pvm_service *service, const struct leat_pvm_entry *entry);

/* Answers the query that a task waits for; the data is in entry->answer. */
void leat_pvm_reply(struct leat_pvm_service *service, struct leat_pvm_entry *entry, int result);
void leat_pvm_send_message(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                           int context, int tag, const struct leat_pvm_octets *body);

/* pvm_service_process.c */
int leat_pvm_on_spawn(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
int leat_pvm_on_signal(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
int leat_pvm_on_halt(struct leat_pvm_service *service);

/* pvm_service_output.c */
void leat_pvm_output_begin(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
void leat_pvm_output_take(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
void leat_pvm_output_take_for(struct leat_pvm_service *service, int tid);
void leat_pvm_output_end(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
int leat_pvm_on_await_output(struct leat_pvm_service *service, struct leat_pvm_entry *entry);

/* pvm_service_mail.c */
int leat_pvm_on_mail_put(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
int leat_pvm_on_mail_get(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
int leat_pvm_on_mail_delete(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
int leat_pvm_on_mail_list(struct leat_pvm_service *service, struct leat_pvm_entry *entry);
void leat_pvm_mail_owner_gone(struct leat_pvm_service *service, int tid);
void leat_pvm_mail_free(struct leat_pvm_service *service);

/* pvm_service_group.c */
int leat_pvm_on_group(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                      enum leat_pvm_op op);
/* A message of a barrier has arrived: at the server, or back at the task. */
void leat_pvm_group_carried(struct leat_pvm_service *service, uint64_t cookie);
void leat_pvm_group_member_gone(struct leat_pvm_service *service, int tid);
void leat_pvm_group_free(struct leat_pvm_service *service);

#endif
