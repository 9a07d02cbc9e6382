/*
 * What the library in a task and the service in leat run agree upon.
 *
 *     query      op (8) | more follows (8) | part of the arguments
 *     answer     result (32) | length of the data (32) | its beginning
 *     signal     a whole message: source, context, tag (32 each) | XDR octets
 *
 * Arguments longer than a query come in parts; data beyond an answer is fetched.
 *
 * A message from task to task is one or more pieces, each behind this header (big-endian):
 *
 *     source | destination | context | tag | wait id | encoding   (32 bits each)
 *     | length | offset                                           (64 bits each)
 *
 * A destination of 0: whoever gets it, since it was sent to several at once.
 *
 * A task identifier holds the port, as its host, and the slot: t40001 is slot 0 at port 0.
 */
#ifndef LEAT_PVM_SHARED_H
#define LEAT_PVM_SHARED_H

#include "task.h"

enum leat_pvm_op {
    LEAT_PVM_MORE,     /* a part of the arguments of the next query */
    LEAT_PVM_FETCH,    /* offset -> the rest of the last answer */
    LEAT_PVM_ENROL,    /* -> tid, parent, context, slots, sink of its output, enum
                          leat_pvm_collectives, octets of a multicast and words of a
                          reduction at most */
    LEAT_PVM_CONFIG,   /* -> names of the hosts */
    LEAT_PVM_TASKS,    /* where -> tid, parent, host, flags, name, pid of each */
    LEAT_PVM_SPAWN,    /* see pvm_service_process.c -> tid or error of each */
    LEAT_PVM_SIBLINGS, /* -> tids */
    LEAT_PVM_CAST,     /* see pvm_service_cast.c; the result is for leat_task_set_cast; 0: it is
                          sent */
    LEAT_PVM_SENDSIG,  /* tid, signal */
    LEAT_PVM_PSTAT,    /* tid */
    LEAT_PVM_HALT,
    LEAT_PVM_NOTIFY,        /* kind, context, tag, count, tids */
    LEAT_PVM_NEW_CONTEXT,   /* -> context is the result */
    LEAT_PVM_FREE_CONTEXT,  /* context */
    LEAT_PVM_SET_OUTPUT,    /* of the caller: tid, context, tag */
    LEAT_PVM_AWAIT_OUTPUT,  /* answered when no task's output goes to the caller any more */
    LEAT_PVM_MAIL_PUT,      /* name, index, flags, encoding, context, tag, wait id, octets */
    LEAT_PVM_MAIL_GET,      /* name, index, flags -> source, encoding, context, tag, wait, octets */
    LEAT_PVM_MAIL_DELETE,   /* name, index */
    LEAT_PVM_MAIL_LIST,     /* pattern -> name, count, (index, owner, flags) of each */
    LEAT_PVM_GROUP_JOIN,    /* name; the result is the instance */
    LEAT_PVM_GROUP_LEAVE,   /* name */
    LEAT_PVM_GROUP_SIZE,    /* name */
    LEAT_PVM_GROUP_TID,     /* name, instance */
    LEAT_PVM_GROUP_INST,    /* name, tid */
    LEAT_PVM_GROUP_LIST,    /* name -> instance and tid of each member */
    LEAT_PVM_GROUP_BARRIER, /* name, count; answered when this many have arrived -> carrier */
    LEAT_PVM_GROUP_REDUCE,  /* see pvm_service_fold.c -> carrier, and the members or words */
    LEAT_PVM_GROUP_FREEZE,  /* name, size; as a barrier, and the group is static from then on */
};

/* Who carries out multicasts and what groups do. */
enum leat_pvm_collectives {
    LEAT_PVM_BY_HOSTS, /* as if there were nothing else */
    LEAT_PVM_COUNTED,  /* hosts; what it took is reported */
    LEAT_PVM_BY_NETWORK,
};

enum {
    LEAT_PVM_CALL_LEN = 512, /* of a part, with its head; and of a signal */
    LEAT_PVM_QUESTION_HEAD = 2,
    LEAT_PVM_ANSWER_HEAD = 8,
    LEAT_PVM_SIGNAL_HEAD = 12,
    LEAT_PVM_PIECE_HEAD = 40,
    LEAT_PVM_PIECE_LEN = (1 << 20) - LEAT_PVM_PIECE_HEAD,
    LEAT_PVM_NAME_LEN = 256, /* of groups and mailbox classes, with the final zero */
    LEAT_PVM_HOST_SHIFT = 18,
    LEAT_PVM_HOST_MASK = 0x3ffc0000,
    LEAT_PVM_LOCAL_MASK = 0x3ffff,
    LEAT_PVM_HOSTS_MAX = 4095,
    LEAT_PVM_DAEMON_TID = INT32_MIN, /* source of the machine's own messages */
    /* Destination of the output of tasks under pvm_catchout. */
    LEAT_PVM_OUTPUT_CONTEXT = 0x7ffff,
    LEAT_PVM_OUTPUT_TAG = INT32_MIN + 0x30005,
    LEAT_PVM_OUTPUT_END = 0, /* instead of a count of octets: the task has ended */
    LEAT_PVM_OUTPUT_SPAWNED = -1,
    LEAT_PVM_OUTPUT_BEGUN = -2,
    LEAT_PVM_MAIL_FLAGS = 63,  /* those of pvm3.h */
    LEAT_PVM_MAIL_FRESH = 256, /* the entry must be new, not even the caller's own */
};

static inline int leat_pvm_host_tid(uint32_t port)
{
    return (int)((port + 1) << LEAT_PVM_HOST_SHIFT);
}

static inline int leat_pvm_task_tid(uint32_t slot, uint32_t port)
{
    return leat_pvm_host_tid(port) | (int)(slot + 1);
}

/* Could this be a task's tid? */
static inline bool leat_pvm_is_task_tid(int tid)
{
    return tid > 0 && !(tid & ~(LEAT_PVM_HOST_MASK | LEAT_PVM_LOCAL_MASK)) &&
           (tid & LEAT_PVM_HOST_MASK) && (tid & LEAT_PVM_LOCAL_MASK);
}

static inline uint32_t leat_pvm_slot_of(int tid)
{
    return (uint32_t)(tid & LEAT_PVM_LOCAL_MASK) - 1;
}

#endif
