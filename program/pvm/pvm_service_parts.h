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
    LEAT_PVM_WAITS_NETWORK, /* for a barrier, or the result of a reduction, of the network */
    LEAT_PVM_WAITS_JOIN,    /* until no reduction of the group is in progress */
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
    int barrier_result; /* ... and has answered this ... */
    bool is_released;   /* ... in a message that is on its way */
    uint64_t round;     /* of the group: the barrier of the network that it waits in */
    enum leat_collect_carrier carrier;
};

struct leat_pvm_group {
    char name[LEAT_PVM_NAME_LEN];
    int *member; /* tid of each instance; 0: none */
    int cap, size;
    bool is_frozen;
    struct leat_pvm_group *next;
    /* The network: see pvm_service_group.c, pvm_service_fold.c. */
    bool is_settled; /* all members have been in a barrier since it last changed */
    uint64_t round;  /* barriers of the network so far */
    int entered;     /* members in the one that is open */
    uint32_t net;    /* its group of the hub; 0: none is open */
    struct leat_pvm_fold *folds;
    bool has_untold; /* reductions that are not in folds: all of them stay with the hosts */
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
    bool is_ending;                /* there is no hub any more */
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

/* pvm_service_cast.c */
int leat_pvm_on_cast(struct leat_pvm_service *service, struct leat_pvm_entry *entry);

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
/* A group of the hub, in *net, for its members; or why not, and 0. */
enum leat_collect_carrier leat_pvm_group_enter(const struct leat_pvm_service *service,
                                               const struct leat_pvm_group *group, uint32_t *net);
int leat_pvm_group_list(const struct leat_pvm_group *group, struct leat_pvm_entry *entry);
/* Those who wait to join it may. */
void leat_pvm_group_admit(struct leat_pvm_service *service, const char *name);
void leat_pvm_group_member_gone(struct leat_pvm_service *service, int tid);
void leat_pvm_group_free(struct leat_pvm_service *service);

/* pvm_service_fold.c */
int leat_pvm_on_reduce(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                       struct leat_pvm_group *group, int root);
/* Does the network compute for the group? Then its members stay the same for a while. */
bool leat_pvm_folds_are_open(const struct leat_pvm_group *group);
void leat_pvm_folds_join(struct leat_pvm_group *group, int tid);
void leat_pvm_folds_leave(struct leat_pvm_service *service, struct leat_pvm_group *group, int tid);
void leat_pvm_folds_free(struct leat_pvm_service *service, struct leat_pvm_group *group);

#endif
