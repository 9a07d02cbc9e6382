/*
 * What tasks and the run say to each other about collective operations that the network carries out
 * (leat/port.h). Groups of tasks, not of ports: tasks of one port combine their parts in the memory
 * of their host, and one of them speaks to the network.
 *
 *     task ---> question | tasks, or octets ---> hub_collect.c ---> the network
 *          <--- answer | octets <----------------'
 *
 * A service takes part for its tasks (hub.h).
 *
 * Both sides are on one machine: numbers are as it has them. The words of a fold are octets here.
 */
#ifndef LEAT_PROGRAM_COLLECT_H
#define LEAT_PROGRAM_COLLECT_H

#include "task.h"
#include <leat/port.h>

enum leat_collect_verb {
    LEAT_COLLECT_JOIN, /* key, and the tasks of the group, in the program's order -> group, means */
    LEAT_COLLECT_PART, /* the next one of this task in the group -> the result */
    LEAT_COLLECT_LEAVE, /* -> (no answer) */
};

struct leat_collect_question {
    enum leat_collect_verb verb;
    uint32_t key;   /* that of all members alike, and of no other group of the same tasks */
    uint32_t group; /* PART, LEAVE */
    char call[LEAT_TASK_CALL_LEN]; /* PART: of the program, for messages */
    enum leat_port_collective kind;
    enum leat_port_fold fold;
    uint32_t root;   /* a task */
    bool is_private; /* PART: as that of a message (leat/port.h) */
    uint64_t len;    /* of the result; those who contribute have as many octets */
};

/* Why the network does not carry it out. */
enum leat_collect_refusal {
    LEAT_COLLECT_GRANTED,
    LEAT_COLLECT_NO_MEANS, /* this network computes nothing */
    LEAT_COLLECT_NO_GROUP, /* it has no room for another group */
    LEAT_COLLECT_REDONE,   /* a packet was lost, or a switch had no room: the hosts did it */
};

/* Who carried out a collective call, or why the hosts did, for the report. */
enum leat_collect_carrier {
    LEAT_COLLECT_BY_NETWORK,
    LEAT_COLLECT_OPERATION, /* the network has no such fold, or the type none */
    LEAT_COLLECT_LENGTH,    /* more than the network takes */
    LEAT_COLLECT_RANKS,     /* of several jobs, in one communicator */
    LEAT_COLLECT_ROOM,      /* none for the communicator's group */
    LEAT_COLLECT_FAILURE,   /* the network could not carry it out, and hosts did it again */
    LEAT_COLLECT_MEMBERS,   /* not all of the group, or it has changed since its last barrier */
    LEAT_COLLECT_NEAR,      /* a single receiver, or all at the sender's port */
    LEAT_COLLECT_CHOSEN,    /* the user wants hosts to */
    LEAT_COLLECT_CARRIERS,
};

struct leat_collect_answer {
    enum leat_collect_refusal refusal;
    uint32_t group;               /* JOIN */
    struct leat_port_means means; /* JOIN */
};

#endif
