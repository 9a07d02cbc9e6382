#include "fi_collect.h"
#include "fi_message.h"
#include "fi_pool.h"
#include "fi_private.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include <stdlib.h>
#include <string.h>

struct leat_fi_operation {
    struct leat_fi_operation *next;
    uint64_t cookie;
    void *out;
    uint64_t len; /* of `out` */
    bool is_over;
    struct leat_collect_answer answer;
};

static struct {
    uint64_t count;                  /* so far: the cookie of the last */
    struct leat_fi_operation *first; /* those that are not over */
} operations;

/* ---- operations ------------------------------------------------------------------------------ */

void leat_fi_collect_note(const struct leat_task_event *event)
{
    struct leat_fi_operation **link = &operations.first;
    while (*link && (*link)->cookie != event->cookie)
        link = &(*link)->next;
    struct leat_fi_operation *op = *link;
    if (!op || event->len < sizeof op->answer) return;
    *link = op->next;
    memcpy(&op->answer, event->octets, sizeof op->answer);
    if (op->out && event->len - sizeof op->answer == op->len && op->len)
        memcpy(op->out, event->octets + sizeof op->answer, (size_t)op->len);
    op->is_over = true;
    leat_fi_queue_rouse();
}

static struct leat_fi_operation *ask(const struct leat_collect_question *q, const void *octets,
                                     size_t len, void *out)
{
    struct leat_fi_operation *op = leat_fi_grown(NULL, 1, sizeof *op);
    leat_fi_lock();
    *op = (struct leat_fi_operation){
        .next = operations.first, .cookie = ++operations.count, .out = out, .len = q->len
    };
    operations.first = op;
    if (q->verb == LEAT_COLLECT_PART) leat_task_spend_overhead();
    leat_task_collect(q, octets, len, op->cookie);
    leat_fi_queue_stir();
    leat_fi_unlock();
    return op;
}

static struct leat_fi_operation *start(const struct leat_collect_question *part, const void *in,
                                       void *out)
{
    struct leat_collect_question q = *part;
    q.verb = LEAT_COLLECT_PART;
    q.root += leat_fi_first();
    q.is_private = leat_fi_private_is_in(q.key);
    return ask(&q, in, in ? (size_t)q.len : 0, out);
}

static bool is_over(const struct leat_fi_operation *op)
{
    return op->is_over;
}

static enum leat_collect_refusal end(struct leat_fi_operation *op)
{
    const enum leat_collect_refusal refusal = op->answer.refusal;
    free(op);
    leat_fi_lock();
    leat_task_spend_overhead();
    leat_fi_unlock();
    return refusal;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* In MPI_Init of ranks that others have started, some are in simulated time before others: what is
 * collective there is for hosts. */
static bool is_on(void)
{
    return leat_fi_is_simulated() && !leat_fi_is_in_init() && !leat_fi_is_finalizing();
}

static struct leat_collect_answer join(const uint32_t *rank, uint32_t count, uint32_t key)
{
    const struct leat_collect_question q = { .verb = LEAT_COLLECT_JOIN, .key = key };
    uint32_t *task = leat_fi_grown(NULL, count, sizeof *task);
    for (uint32_t i = 0; i < count; i++)
        task[i] = leat_fi_first() + rank[i];
    struct leat_fi_operation *op = ask(&q, task, count * sizeof *task, NULL);
    leat_fi_lock();
    while (!op->is_over)
        leat_fi_message_wait(LEAT_NEVER, leat_fi_call_name(), leat_fi_call_about());
    leat_fi_unlock();
    const struct leat_collect_answer answer = op->answer;
    free(op);
    free(task);
    return answer;
}

static void leave(uint32_t group)
{
    const struct leat_collect_question q = { .verb = LEAT_COLLECT_LEAVE, .group = group };
    if (!leat_fi_is_simulated()) return;
    leat_fi_lock();
    leat_task_collect(&q, NULL, 0, 0);
    leat_fi_unlock();
}

/* ---- the report ------------------------------------------------------------------------------ */

static uint64_t now(void)
{
    if (!leat_fi_is_simulated()) return 0;
    leat_fi_lock();
    const leat_time at = leat_task_now();
    leat_fi_unlock();
    return at;
}

static void count(const char *call, enum leat_collect_carrier carrier, uint64_t octets,
                  uint64_t began)
{
    const leat_time at = now();
    if (!leat_fi_is_simulated()) return;
    leat_fi_lock();
    leat_task_count_collective(call, carrier, octets, began ? at - began : 0);
    leat_fi_unlock();
}

const struct leat_fi_collective leat_fi_collective = { .version = LEAT_FI_COLLECTIVE_VERSION,
                                                       .is_on = is_on,
                                                       .join = join,
                                                       .leave = leave,
                                                       .is_private = leat_fi_private_is_in,
                                                       .start = start,
                                                       .is_over = is_over,
                                                       .end = end,
                                                       .count = count,
                                                       .now = now };
