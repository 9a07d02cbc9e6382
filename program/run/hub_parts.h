/* The parts of a hub, for the files hub*.c alone. */
#ifndef LEAT_PROGRAM_HUB_PARTS_H
#define LEAT_PROGRAM_HUB_PARTS_H

#include "calls.h"
#include "flight.h"
#include "hub.h"
#include "inbox.h"
#include "share.h"
#include "turns.h"

struct leat_hub_slot {
    struct leat_hub_task report;
    struct leat_inbox inbox;
    leat_time ahead_to;            /* its time while it runs ahead of the network; 0: it does not;
                                      LEAT_NEVER: nobody waits for it (hub_turns.c) */
    leat_time waits_from;          /* if so: when it would have begun to wait */
    int process;                   /* its descriptor, -1: none */
    bool goes_on;                  /* its time has come, and it is its turn */
    bool is_seen_waiting;          /* reported to the observer */
    bool is_absent;                /* its process ended before it attached */
    uint32_t asked;                /* questions that the service has not answered */
    uint32_t parent;               /* + 1; it is expected when this task goes on. 0: none */
    struct leat_hub_pair *sent_to; /* [slots]; NULL: nothing */
    struct leat_hub_order *order;  /* [slots]; NULL: there are no multicasts, or it sent nothing */
};

struct leat_hub_group;
struct leat_hub_order;
struct leat_hub_held;
struct leat_hub_cast;
struct leat_hub_result;

struct leat_hub {
    struct leat_hub_config config;
    struct leat_share *share;
    struct leat_share_blocks blocks;
    struct leat_hub_slot *task;
    struct leat_flight flight;
    uint64_t messages;       /* in total */
    struct leat_calls calls; /* that the service has not got */
    uint32_t used;           /* slots 0 .. ; the rest are empty */
    uint32_t taken;          /* of these, whose requests since the last turn have been taken */
    uint32_t tasks;          /* expected, and not gone */
    uint32_t reserved;       /* slots with a parent */
    leat_time now;
    leat_time quiet_from; /* no event since: no message, no task started or ended */
    uint64_t polls;       /* waits of tasks since then that ended in vain */
    bool by_the_clock;    /* tasks have read their clocks since then */
    leat_time horizon;    /* no event reaches a task before this */
    bool hears_all;       /* nothing but quiet events is left: they end waits, too */
    leat_time offset;     /* of the network's time: it begins at 0 */
    struct leat_turns turns;
    uint32_t waking[LEAT_HUB_SLOTS_MAX / LEAT_SHARE_GROUP]; /* tasks that sleep, but may go on */
    struct leat_hub_group **group;                          /* for hub_collect.c; NULL: free */
    uint32_t groups;
    uint32_t groups_made; /* so far */
    bool has_free_seats;  /* ports that may take part in further operations */
    uint64_t *carried;    /* messages of the service that have arrived: their cookies */
    uint32_t carried_count;
    struct leat_hub_result *result; /* of parts of the service; it has not got them */
    uint32_t results;
    uint64_t group_uses;        /* by multicasts: a clock for those that are disbanded first */
    struct leat_hub_held *held; /* for hub_order.c */
    uint32_t held_count;
    struct leat_hub_cast *cast; /* for hub_cast.c */
    uint32_t casts;
    int file;
    char path[64];
    char *reason;
    size_t reason_cap;
    bool any_absent; /* of the tasks */
    bool has_ended;
    enum leat_hub_end end;
};

/* ---- hub.c ---- */

bool leat_hub_waits(const struct leat_hub *hub, uint32_t i);
/* It waits, and its time has come. */
bool leat_hub_is_due(const struct leat_hub *hub, uint32_t i);
/* An event that tasks may have waited for. */
void leat_hub_note_news(struct leat_hub *hub);
/* So many more, or fewer, are there. */
void leat_hub_count_tasks(struct leat_hub *hub, int more);
/* This task goes on: those that it starts are expected from now on. */
void leat_hub_expect_reserved(struct leat_hub *hub, uint32_t parent);

/* Ends the run; the first reason counts. */
__attribute__((format(printf, 3, 4))) void
leat_hub_end_run(struct leat_hub *hub, enum leat_hub_end end, const char *format, ...);

/* ---- messages and the network's callbacks (hub_network.c) ---- */

struct leat_port_observer leat_hub_observer(struct leat_hub *hub);
/* The task of this slot continues, at its time `now`. */
void leat_hub_let_go(struct leat_hub *hub, uint32_t i, enum leat_share_state state, leat_time now);

/* A message of a task is on its way from now on; its number in hub->flight. */
uint32_t leat_hub_begin_flight(struct leat_hub *hub, const struct leat_flight_message *message,
                               leat_time at);
/* The same, and hands it to its port. */
void leat_hub_send(struct leat_hub *hub, const struct leat_flight_message *sent, leat_time at);
/* To the observer: the port has taken it. */
void leat_hub_show_sent(const struct leat_hub *hub, uint32_t id, leat_time at);
/* It has arrived, at this time of the network. */
void leat_hub_arrive(struct leat_hub *hub, uint64_t id, leat_time at);
/* Its receiver may have it. */
void leat_hub_hand(struct leat_hub *hub, const struct leat_flight_message *m,
                   const struct leat_share_event *event);

/* Answers a question about collective operations. */
void leat_hub_collected(struct leat_hub *hub, uint32_t task, uint64_t cookie, const void *octets,
                        size_t len, leat_time at);
/* These two tasks take part in one operation, but call differently: "roots of MPI_Bcast: ...". */
void leat_hub_disagree(struct leat_hub *hub, uint32_t one, uint32_t other, const char *in_what);

/* ---- processes of tasks (hub_processes.c) ---- */

/* Loses tasks whose processes have ended without leaving. */
void leat_hub_check_processes(struct leat_hub *hub);
/* The task has left, in this state. */
void leat_hub_note_gone(struct leat_hub *hub, uint32_t i, enum leat_share_state state);

/* ---- messages that are no task's (hub_carry.c) ---- */

/* The first bits of their numbers in the network; those of tasks count from 0 on. */
#define LEAT_HUB_REDO_MARK    UINT64_C(0x8000000000000000) /* of hub_collect.c */
#define LEAT_HUB_SERVICE_MARK UINT64_C(0x4000000000000000)

/* Is it one? Then the callbacks of tasks' messages are not meant. */
bool leat_hub_is_own(const struct leat_port_message *message);
void leat_hub_own_arrived(struct leat_hub *hub, const struct leat_port_message *message,
                          leat_time at);
void leat_hub_own_lost(struct leat_hub *hub, const struct leat_port_message *message,
                       const char *why);
/* After the network has run: tells the service. */
void leat_hub_carry_go_on(struct leat_hub *hub);
void leat_hub_carry_free(struct leat_hub *hub);

/* ---- the order of messages (hub_order.c) ---- */

/* The next one from task to task. */
uint32_t leat_hub_order_next(struct leat_hub *hub, uint32_t from, uint32_t to);
/* It has arrived: it is handed to its receiver, or held until those before it have come. */
void leat_hub_order_pass(struct leat_hub *hub, const struct leat_flight_message *m,
                         const struct leat_share_event *event);
void leat_hub_order_free(struct leat_hub *hub);

/* ---- multicasts (hub_cast.c) ---- */

/* A copy has arrived. */
void leat_hub_cast_note(struct leat_hub *hub, uint32_t cast, leat_time at);
/* The network could not carry it out: hosts do it. */
void leat_hub_cast_fail(struct leat_hub *hub, uint32_t cast);
void leat_hub_cast_free(struct leat_hub *hub);

/* ---- collective operations (hub_collect.c) ---- */

/* A message in flight that arrives with a cast. */
struct leat_hub_copy {
    uint32_t flight, port;
};
/* A cast of a port to others, whose hosts take part at once. */
struct leat_hub_port_cast {
    uint32_t cast;  /* of hub_cast.c */
    uint32_t *port; /* root and receivers; sorted when it begins */
    uint32_t ports, root;
    const uint8_t *octets;
    uint64_t len;
    struct leat_hub_copy *copy; /* passes to the operation, if it begins */
    uint32_t copies;
};
/* False: the network has no room for a group of these ports. Otherwise leat_hub_collect_cast is to
 * follow. */
bool leat_hub_collect_find(struct leat_hub *hub, struct leat_hub_port_cast *c, uint32_t *group);
void leat_hub_collect_cast(struct leat_hub *hub, uint32_t group, const struct leat_hub_port_cast *c,
                           leat_time at);
/* What the service has not got yet. */
struct leat_hub_result {
    uint32_t task;
    uint64_t cookie;
    bool is_redone;
    uint64_t *word;
    uint32_t words;
};

void leat_hub_collect_take(struct leat_hub *hub, uint32_t task, const struct leat_share_request *r);
/* For the network's callback. */
void leat_hub_collect_note(struct leat_hub *hub, const struct leat_port_part *part, bool is_done,
                           leat_time at);
/* A message by which hosts do again what the network could not carry out. */
void leat_hub_collect_arrived(struct leat_hub *hub, const struct leat_port_message *message,
                              leat_time at);
/* After the network has run: ports hand over their next parts. */
void leat_hub_collect_go_on(struct leat_hub *hub);
void leat_hub_collect_free(struct leat_hub *hub);

/* ---- tasks that share memory (hub_turns.c) ---- */

/* Chooses those that may continue now, of those whose time has come. */
void leat_hub_give_turns(struct leat_hub *hub);
bool leat_hub_has_turn(const struct leat_hub *hub, uint32_t i);

/* While tasks run: from now on nobody waits for one that has had its turn for too long. */
void leat_hub_check_turns(struct leat_hub *hub);
/* Such a task that waits at last is a task like others again. */
void leat_hub_rejoin(struct leat_hub *hub);
bool leat_hub_any_is_beside(const struct leat_hub *hub);

#endif
