#include "fi_queue.h"
#include "fi_absent.h"
#include "fi_memory.h"
#include "fi_message.h"
#include "fi_pool.h"
#include "fi_rank.h"
#include "fi_threads.h"
#include "task.h"
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FREE_READS = 1,
    FREE_READS_ONE_SIDED = 4,
    FREE_READS_DEEP = 16,
    FIRST_CAP = 128,
};

struct leat_fi_queue {
    struct fid_cq cq; /* the first member: libfabric knows the queue by it */
    size_t out_len;   /* of an entry as the library reads it */
    struct leat_fi_queue *next;
    struct fi_cq_err_entry *entry; /* a ring */
    size_t first, count, cap;      /* cap: a power of two */
    int free_reads;
};

static struct leat_fi_queue *queues; /* all that are open */
static size_t entries;               /* of all */

struct leat_fi_queue *leat_fi_queue_of(struct fid *cq)
{
    return (struct leat_fi_queue *)(void *)cq;
}

static struct fi_cq_err_entry *entry_at(const struct leat_fi_queue *queue, size_t i)
{
    return &queue->entry[(queue->first + i) & (queue->cap - 1)];
}

static void grow(struct leat_fi_queue *queue)
{
    const size_t cap = queue->cap ? 2 * queue->cap : FIRST_CAP;
    struct fi_cq_err_entry *entry = leat_fi_grown(NULL, cap, sizeof *entry);
    for (size_t i = 0; i < queue->count; i++)
        entry[i] = *entry_at(queue, i);
    free(queue->entry);
    queue->entry = entry;
    queue->first = 0;
    queue->cap = cap;
}

/* A reader of another queue may have to read this one: some only ever read their own. */
void leat_fi_queue_push(struct leat_fi_queue *queue, const struct fi_cq_err_entry *entry)
{
    if (queue->count == queue->cap) grow(queue);
    *entry_at(queue, queue->count++) = *entry;
    entries++;
    for (struct leat_fi_queue *other = queues; other; other = other->next)
        if (other != queue && !other->free_reads) other->free_reads = FREE_READS;
    leat_fi_threads_stir();
}

bool leat_fi_queue_all_are_empty(void)
{
    return !entries;
}

static int free_reads(void)
{
    const struct leat_fi_call *call = leat_fi_call();
    if (leat_fi_call_is_deep()) return FREE_READS_DEEP;
    return call && call->is_one_sided ? FREE_READS_ONE_SIDED : FREE_READS;
}

static void allow_free_reads(int reads)
{
    for (struct leat_fi_queue *queue = queues; queue; queue = queue->next)
        queue->free_reads = reads;
}

void leat_fi_queue_stir(void)
{
    const int reads = free_reads();
    if (reads <= FREE_READS) return;
    allow_free_reads(reads);
    leat_fi_threads_stir(); /* another thread may do what is left to do */
}

void leat_fi_queue_rouse(void)
{
    allow_free_reads(free_reads());
    leat_fi_threads_stir();
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The library polls all queues at once, which takes time once. */
static void poll_in_vain(struct leat_fi_queue *queue)
{
    leat_fi_message_settle();
    leat_fi_message_wait(leat_time_add(leat_task_now(), LEAT_TASK_POLL_PS), "a poll", "");
    allow_free_reads(FREE_READS);
    queue->free_reads = 0;
}

/* The queue is empty, and the library can only read it again, or another. */
static void wait_for_more(struct leat_fi_queue *queue)
{
    const struct leat_fi_call *call = leat_fi_call();
    const bool are_many = leat_fi_threads_are_many(); /* now: they may end meanwhile */
    if (call && call->polls_memory) {
        leat_fi_memory_wait();
    } else if (!call || entries) { /* of others: the library may read them next, or never */
        poll_in_vain(queue);
    } else if (!call->probes) {
        do
            leat_fi_message_wait(LEAT_NEVER, leat_fi_call_name(), leat_fi_call_about());
        while (!entries && !queue->free_reads && !are_many);
    }
}

/* Beside other threads: one of them may have handled what this one waits for, which the library
 * only sees after the read. So once anything has changed, this one reads in vain first. */
static bool may_wait(void)
{
    const uint32_t in_vain = (uint32_t)free_reads();
    uint32_t open = 0;
    for (const struct leat_fi_queue *queue = queues; queue; queue = queue->next)
        open++;
    return leat_fi_threads_idle_reads() >= in_vain * open;
}

static void fill(struct leat_fi_queue *queue)
{
    if (!leat_fi_is_simulated()) return;
    leat_fi_message_poll();
    if (queue->count) return;
    if (leat_fi_threads_are_many()) {
        if (may_wait()) wait_for_more(queue);
    } else if (queue->free_reads) {
        queue->free_reads--;
    } else {
        wait_for_more(queue);
    }
}

/* The library has taken the first. */
static void drop_first(struct leat_fi_queue *queue)
{
    queue->first = (queue->first + 1) & (queue->cap - 1);
    queue->count--;
    entries--;
    leat_fi_queue_rouse();
}

static ssize_t take(struct leat_fi_queue *queue, uint8_t *out, size_t count)
{
    size_t n = 0;
    for (; n < count && queue->count && !entry_at(queue, 0)->err; n++) {
        const struct fi_cq_err_entry *e = entry_at(queue, 0);
        const struct fi_cq_tagged_entry entry = { e->op_context, e->flags, e->len,
                                                  e->buf,        e->data,  e->tag };
        memcpy(out + n * queue->out_len, &entry, queue->out_len);
        if (e->flags & FI_RECV && leat_fi_is_simulated()) leat_task_spend_overhead();
        drop_first(queue);
    }
    if (n || !count) return (ssize_t)n;
    return queue->count ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t cq_read(struct fid_cq *cq, void *buf, size_t count)
{
    struct leat_fi_queue *queue = leat_fi_queue_of(&cq->fid);
    leat_fi_be_no_copy("MPI to wait or to poll");
    leat_fi_lock();
    leat_fi_threads_read_begins(leat_fi_message_pass_time);
    fill(queue);
    const ssize_t n = leat_fi_threads_may_read() ? take(queue, buf, count) : -FI_EAGAIN;
    if (n > 0) leat_fi_threads_has_read();
    leat_fi_unlock();
    return n;
}

static ssize_t cq_readfrom(struct fid_cq *cq, void *buf, size_t count, fi_addr_t *from)
{
    const ssize_t n = cq_read(cq, buf, count);
    for (ssize_t i = 0; i < n; i++)
        from[i] = FI_ADDR_NOTAVAIL; /* FI_SOURCE is not offered */
    return n;
}

static ssize_t cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *out, uint64_t flags)
{
    struct leat_fi_queue *queue = leat_fi_queue_of(&cq->fid);
    ssize_t n = -FI_EAGAIN;
    (void)flags;
    leat_fi_lock();
    if (queue->count && entry_at(queue, 0)->err && leat_fi_threads_may_read()) {
        *out = *entry_at(queue, 0);
        drop_first(queue);
        leat_fi_threads_has_read();
        n = 1;
    }
    leat_fi_unlock();
    return n;
}

static ssize_t cq_sread(struct fid_cq *cq, void *buf, size_t count, const void *cond, int timeout)
{
    (void)cq, (void)buf, (void)count, (void)cond, (void)timeout;
    return -FI_ENOSYS;
}

static ssize_t cq_sreadfrom(struct fid_cq *cq, void *buf, size_t count, fi_addr_t *from,
                            const void *cond, int timeout)
{
    (void)from;
    return cq_sread(cq, buf, count, cond, timeout);
}

static int cq_signal(struct fid_cq *cq)
{
    (void)cq;
    return -FI_ENOSYS;
}

static const char *cq_strerror(struct fid_cq *cq, int err, const void *data, char *buf, size_t len)
{
    (void)cq, (void)err, (void)data;
    static const char text[] = "see the error itself: this provider has no more to say";
    if (buf && len) snprintf(buf, len, "%s", text);
    return text;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static int cq_close(struct fid *fid)
{
    struct leat_fi_queue *queue = leat_fi_queue_of(fid), **link = &queues;
    leat_fi_lock();
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    entries -= queue->count;
    leat_fi_unlock();
    free(queue->entry);
    free(queue);
    return 0;
}

/* Every format is the beginning of the longest. 0: it is not offered. */
static size_t len_of_format(enum fi_cq_format format)
{
    switch (format) {
    case FI_CQ_FORMAT_CONTEXT: return sizeof(struct fi_cq_entry);
    case FI_CQ_FORMAT_MSG: return sizeof(struct fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA: return sizeof(struct fi_cq_data_entry);
    case FI_CQ_FORMAT_UNSPEC:
    case FI_CQ_FORMAT_TAGGED: return sizeof(struct fi_cq_tagged_entry);
    }
    return 0;
}

int leat_fi_queue_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                       void *context)
{
    static struct fi_ops fid_ops;
    static struct fi_ops_cq ops = {
        .size = sizeof ops,
        .read = cq_read,
        .readfrom = cq_readfrom,
        .readerr = cq_readerr,
        .sread = cq_sread,
        .sreadfrom = cq_sreadfrom,
        .signal = cq_signal,
        .strerror = cq_strerror,
    };
    (void)domain;
    const size_t out_len = len_of_format(attr ? attr->format : FI_CQ_FORMAT_UNSPEC);
    if (!out_len) return -FI_ENOSYS;
    if (attr && attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
        return -FI_ENOSYS;
    fid_ops = leat_fi_no_ops;
    fid_ops.close = cq_close;
    struct leat_fi_queue *queue = leat_fi_grown(NULL, 1, sizeof *queue);
    leat_fi_lock();
    *queue = (struct leat_fi_queue){ .cq = { { FI_CLASS_CQ, context, &fid_ops }, &ops },
                                     .out_len = out_len,
                                     .next = queues };
    queues = queue;
    leat_fi_unlock();
    *cq = &queue->cq;
    return 0;
}
