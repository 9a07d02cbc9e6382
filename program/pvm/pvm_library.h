/*
 * Internals of the library: one task of the virtual machine, its messages and its queries.
 *
 *     exported functions (pvm_*.c) ---> self, send, await, ask ---> program/run/task.h
 *
 * The exported functions check their arguments, report errors (lpvmerr) and leave the rest to
 * these. Nothing here is thread-safe, as in every libpvm.
 */
#ifndef LEAT_PVM_LIBRARY_H
#define LEAT_PVM_LIBRARY_H

#include "collect.h"
#include "pvm_buffer.h"
#include "pvm_shared.h"
#include <stdio.h>
#include <sys/time.h>

#include <pvm3.h>

/* ---- the task (pvm_self.c) ------------------------------------------------------------------- */

struct leat_pvm_self {
    bool is_enrolled, has_left;
    bool is_busy;    /* with the events of the run */
    int tid, parent; /* parent: or PvmNoParent */
    int context;
    uint32_t slots; /* of the run */
    enum leat_pvm_collectives collectives;
    size_t cast_len;             /* of a multicast that the network may carry out, at most */
    uint32_t words_max;          /* of a reduction */
    struct leat_pvm_sink output; /* of this task */
    struct leat_pvm_sink children_output;   /* of those that it will spawn */
    struct leat_pvm_buffer *send, *receive; /* the active buffers */
};

extern struct leat_pvm_self leat_pvm_self;

/* Makes this process a task, if it is none yet: PvmOk or PvmSysErr. */
int leat_pvm_enrol(void);
int pvm_advise(int route); /* pvm3.h has no declaration of it any more */
leat_time leat_pvm_now(void);
__attribute__((noreturn)) void leat_pvm_fail(const char *reason); /* ends the run */
void leat_pvm_leave(void);

/* The result of a query to the run; negative: an error. `answer` (NULL: not wanted) is cleared
 * first. `call`, `about`: shown if the answer never comes (task.h). */
int leat_pvm_ask(enum leat_pvm_op op, const struct leat_pvm_octets *arguments,
                 struct leat_pvm_octets *answer, const char *call, const char *about);
/* The same in one piece, however long, and in no time: for what is not a question of the program's
 * own. */
int leat_pvm_hand_over(enum leat_pvm_op op, const struct leat_pvm_octets *arguments,
                       const char *call);
/* The same with a name (NULL: none) and numbers as arguments; makes this process a task first. */
int leat_pvm_query(enum leat_pvm_op op, const char *name, const int *numbers, int count,
                   struct leat_pvm_octets *answer, const char *call);

/* ---- messages (pvm_transfer.c) --------------------------------------------------------------- */

/* Sends a copy of the message. A missing task is not distinguished from one that never receives. */
int leat_pvm_transfer(struct leat_pvm_buffer *buffer, int tid, int tag);

/* A copy to each of several, never to the caller itself (pvm_cast.c). `call`: for the report. */
int leat_pvm_transfer_to_many(const char *call, struct leat_pvm_buffer *buffer, const int *tids,
                              int count, int tag);
/* The same with the active buffer (pvm_message.c). */
int leat_pvm_multicast(const char *call, const int *tids, int count, int tag);

/* The header of a piece (pvm_shared.h) that begins with its first octet. */
void leat_pvm_put_head(uint8_t *to, const struct leat_pvm_buffer *buffer, int tid, int tag);
/* Is there a slot for a task with this tid? */
bool leat_pvm_is_reachable(int tid);

/* A collective call that is reported: when it begins, and who carried it out. */
leat_time leat_pvm_count_from(void);
void leat_pvm_count(const char *call, enum leat_collect_carrier carrier, uint64_t octets,
                    leat_time from);

/* Handles arrived events, waiting at most until the deadline. */
void leat_pvm_take_events(leat_time deadline, const char *call, const char *about);
void leat_pvm_note_answer(uint64_t cookie, const uint8_t *octets, size_t len); /* to leat_pvm_ask */

/* Passes arrived messages to their handlers, or into the queue. */
void leat_pvm_dispatch(void);

/* ---- arrived messages (pvm_queue.c) ---------------------------------------------------------- */

typedef int leat_pvm_match(int id, int tid, int tag);
typedef int leat_pvm_handler(int id);

leat_pvm_match *leat_pvm_set_match(leat_pvm_match *match); /* NULL: the default; returns the old */

void leat_pvm_queue_append(struct leat_pvm_buffer *message);
/* The message that the matching function chooses, left in the queue: 1 and *out; 0: none; negative:
 * its error. */
int leat_pvm_queue_search(int tid, int tag, struct leat_pvm_buffer **out);
void leat_pvm_queue_remove(struct leat_pvm_buffer *message); /* if it is there */

int leat_pvm_handler_add(int source, int tag, int context, leat_pvm_handler *handler);
int leat_pvm_handler_delete(int id);
leat_pvm_handler *leat_pvm_handler_for(const struct leat_pvm_buffer *message);
void leat_pvm_handlers_show(void);

/* ---- the output of other tasks (pvm_output.c) ------------------------------------------------ */

bool leat_pvm_output_is_caught(const struct leat_pvm_buffer *message);
void leat_pvm_output_show(struct leat_pvm_buffer *message);
bool leat_pvm_output_is_collected(void); /* pvm_catchout is in effect */

/* ---- groups (pvm_group.c, in libgpvm3) ------------------------------------------------------- */

/* Queries about a group, with up to one number. `answer`: NULL: not wanted. */
int leat_pvm_group_ask(enum leat_pvm_op op, const char *name, int number,
                       struct leat_pvm_octets *answer, const char *function);

/* The members in the order of instances; a list in new memory. Their number, or an error. */
struct leat_pvm_member {
    int instance, tid;
};
int leat_pvm_group_members(const char *name, struct leat_pvm_member **out, const char *function);
/* So many members, from an answer that lists them. Their number, or an error. */
int leat_pvm_read_members(struct leat_pvm_octets *answer, int count, struct leat_pvm_member **out);

/* ---- exported, but not in pvm3.h ------------------------------------------------------------- */

int lpvmerr(const char *function, int code); /* records, perhaps prints, and returns the code */
/* The result of a function: lpvmerr if it is an error. */
static inline int leat_pvm_result(const char *function, int result)
{
    return result < 0 ? lpvmerr(function, result) : result;
}

extern int pvm_errno, pvm_nerr, pvmautoerr, pvmmytid, pvmmyptid, pvmmyctx, pvmshowtaskid;
extern char *pvm_errlist[];

#endif
