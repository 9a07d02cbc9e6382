#include "fi_queue.h"
#include "fi_absent.h"
#include "fi_message.h"
#include "fi_pool.h"
#include "fi_rank.h"
#include "task.h"
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FREE_READS = 1,
    FREE_READS_DEEP = 16,
    FIRST_CAP = 128,
};

static struct {
    struct fid_cq cq;
    bool is_open;
    struct fi_cq_err_entry *entry; /* a ring */
    size_t first, count, cap;      /* cap: a power of two */
    int free_reads;
} queue;

static struct fi_cq_err_entry *entry_at(size_t i)
{
    return &queue.entry[(queue.first + i) & (queue.cap - 1)];
}

static void grow(void)
{
    const size_t cap = queue.cap ? 2 * queue.cap : FIRST_CAP;
    struct fi_cq_err_entry *entry = leat_fi_grown(NULL, cap, sizeof *entry);
    for (size_t i = 0; i < queue.count; i++)
        entry[i] = *entry_at(i);
    free(queue.entry);
    queue.entry = entry;
    queue.first = 0;
    queue.cap = cap;
}

void leat_fi_queue_push(const struct fi_cq_err_entry *entry)
{
    if (queue.count == queue.cap) grow();
    *entry_at(queue.count++) = *entry;
}

bool leat_fi_queue_is_empty(void)
{
    return !queue.count;
}

void leat_fi_queue_stir(void)
{
    if (leat_fi_call_is_deep()) queue.free_reads = FREE_READS_DEEP;
}

static void allow_free_reads(void)
{
    queue.free_reads = leat_fi_call_is_deep() ? FREE_READS_DEEP : FREE_READS;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The queue is empty, and the library can only read it again. */
static void wait_for_more(void)
{
    const struct leat_fi_call *call = leat_fi_call();
    if (!call) {
        leat_fi_message_settle();
        leat_fi_message_wait(leat_time_add(leat_task_now(), LEAT_TASK_POLL_PS), "a poll", "");
    } else if (!call->probes) {
        while (!queue.count)
            leat_fi_message_wait(LEAT_NEVER, leat_fi_call_name(), leat_fi_call_about());
    }
}

static void fill(void)
{
    if (!leat_fi_is_simulated()) return;
    leat_fi_message_poll();
    if (queue.count) return;
    if (queue.free_reads)
        queue.free_reads--;
    else
        wait_for_more();
}

static void drop_first(void)
{
    queue.first = (queue.first + 1) & (queue.cap - 1);
    queue.count--;
}

static ssize_t take(struct fi_cq_tagged_entry *out, size_t count)
{
    size_t n = 0;
    for (; n < count && queue.count && !entry_at(0)->err; n++) {
        const struct fi_cq_err_entry *e = entry_at(0);
        out[n] = (struct fi_cq_tagged_entry){ e->op_context, e->flags, e->len,
                                              e->buf,        e->data,  e->tag };
        drop_first();
    }
    if (n) allow_free_reads();
    if (n || !count) return (ssize_t)n;
    return queue.count ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t cq_read(struct fid_cq *cq, void *buf, size_t count)
{
    (void)cq;
    leat_fi_be_no_copy("MPI to wait or to poll");
    leat_fi_lock();
    fill();
    const ssize_t n = take(buf, count);
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
    ssize_t n = -FI_EAGAIN;
    (void)cq;
    (void)flags;
    leat_fi_lock();
    if (queue.count && entry_at(0)->err) {
        *out = *entry_at(0);
        drop_first();
        allow_free_reads();
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
    (void)fid;
    free(queue.entry);
    queue.entry = NULL;
    queue.first = queue.count = queue.cap = 0;
    queue.is_open = false;
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
    const enum fi_cq_format format = attr ? attr->format : FI_CQ_FORMAT_UNSPEC;
    if (format != FI_CQ_FORMAT_UNSPEC && format != FI_CQ_FORMAT_TAGGED) return -FI_ENOSYS;
    if (attr && attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
        return -FI_ENOSYS;
    if (queue.is_open) return -FI_EBUSY;
    fid_ops = leat_fi_no_ops;
    fid_ops.close = cq_close;
    queue.is_open = true;
    queue.cq = (struct fid_cq){ { FI_CLASS_CQ, context, &fid_ops }, &ops };
    *cq = &queue.cq;
    return 0;
}
