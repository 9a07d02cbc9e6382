/* The parts of a hub, for hub.c, hub_slots.c and hub_turns.c alone. */
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
    bool is_seen_waiting;          /* reported to the observer */
    bool is_absent;                /* its process ended before it attached */
    uint32_t asked;                /* questions that the service has not answered */
    uint32_t parent;               /* + 1; it is expected when this task goes on. 0: none */
    struct leat_hub_pair *sent_to; /* [slots]; NULL: nothing */
};

struct leat_hub {
    struct leat_hub_config config;
    struct leat_share *share;
    struct leat_share_blocks blocks;
    struct leat_hub_slot *task;
    struct leat_flight flight;
    uint64_t messages;       /* in total */
    struct leat_calls calls; /* that the service has not got */
    uint32_t used;           /* slots 0 .. ; the rest are empty */
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
