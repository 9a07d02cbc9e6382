/* Sending, receiving, and the buffers that a program handles itself. */
#include "pvm_library.h"

#define SECOND_PS      UINT64_C(1000000000000)
#define MICROSECOND_PS UINT64_C(1000000)

/* ---- buffers --------------------------------------------------------------------------------- */

static void forget(struct leat_pvm_buffer *buffer)
{
    if (!buffer) return;
    if (leat_pvm_self.send == buffer) leat_pvm_self.send = NULL;
    if (leat_pvm_self.receive == buffer) leat_pvm_self.receive = NULL;
    leat_pvm_queue_remove(buffer);
    leat_pvm_buffer_free(buffer);
}

static int make(int how)
{
    const int encoding = leat_pvm_encoding_of(how);
    if (encoding < 0) return PvmBadParam;
    struct leat_pvm_buffer *buffer = leat_pvm_buffer_new(encoding);
    if (!buffer) return PvmNoMem;
    buffer->source = leat_pvm_self.tid;
    return buffer->id;
}

int pvm_mkbuf(int how)
{
    return leat_pvm_result("pvm_mkbuf", make(how));
}

int pvm_initsend(int how)
{
    const int id = make(how);
    if (id < 0) return lpvmerr("pvm_initsend", id);
    forget(leat_pvm_self.send);
    leat_pvm_self.send = leat_pvm_buffer_find(id);
    return id;
}

int pvm_freebuf(int id)
{
    struct leat_pvm_buffer *buffer = leat_pvm_buffer_find(id);
    if (!id) return PvmOk;
    if (id < 0) return lpvmerr("pvm_freebuf", PvmBadParam);
    if (!buffer) return lpvmerr("pvm_freebuf", PvmNoSuchBuf);
    forget(buffer);
    return PvmOk;
}

int pvm_getsbuf(void)
{
    return leat_pvm_self.send ? leat_pvm_self.send->id : 0;
}

int pvm_getrbuf(void)
{
    return leat_pvm_self.receive ? leat_pvm_self.receive->id : 0;
}

/* Makes it the active buffer for one purpose, and no longer for the other. */
static int activate(int id, struct leat_pvm_buffer **here, struct leat_pvm_buffer **there)
{
    struct leat_pvm_buffer *buffer = leat_pvm_buffer_find(id);
    const int old = *here ? (*here)->id : 0;
    if (id < 0) return PvmBadParam;
    if (id && !buffer) return PvmNoSuchBuf;
    if (buffer && buffer == *there) *there = NULL;
    *here = buffer;
    return old;
}

int pvm_setsbuf(int id)
{
    return leat_pvm_result("pvm_setsbuf",
                           activate(id, &leat_pvm_self.send, &leat_pvm_self.receive));
}

int pvm_setrbuf(int id)
{
    const int old = activate(id, &leat_pvm_self.receive, &leat_pvm_self.send);
    if (old < 0) return lpvmerr("pvm_setrbuf", old);
    if (id && leat_pvm_buffer_finish(leat_pvm_self.receive) < 0)
        return lpvmerr("pvm_setrbuf", PvmNoMem);
    return old;
}

int pvm_bufinfo(int id, int *len, int *tag, int *tid)
{
    const struct leat_pvm_buffer *buffer = leat_pvm_buffer_find(id);
    if (id <= 0) return lpvmerr("pvm_bufinfo", PvmBadParam);
    if (!buffer) return lpvmerr("pvm_bufinfo", PvmNoSuchBuf);
    if (len) *len = (int)leat_pvm_buffer_len(buffer);
    if (tag) *tag = buffer->tag;
    if (tid) *tid = buffer->source;
    return PvmOk;
}

int pvm_getminfo(int id, struct pvmminfo *out)
{
    const struct leat_pvm_buffer *buffer = leat_pvm_buffer_find(id);
    if (id <= 0 || !out) return lpvmerr("pvm_getminfo", PvmBadParam);
    if (!buffer) return lpvmerr("pvm_getminfo", PvmNoSuchBuf);
    *out = (struct pvmminfo){ .len = (int)leat_pvm_buffer_len(buffer),
                              .ctx = buffer->context,
                              .tag = buffer->tag,
                              .wid = buffer->wait_id,
                              .enc = buffer->encoding,
                              .src = buffer->source,
                              .dst = buffer->destination };
    return PvmOk;
}

int pvm_setminfo(int id, struct pvmminfo *info)
{
    struct leat_pvm_buffer *buffer = leat_pvm_buffer_find(id);
    if (id <= 0 || !info) return lpvmerr("pvm_setminfo", PvmBadParam);
    if (!buffer) return lpvmerr("pvm_setminfo", PvmNoSuchBuf);
    buffer->context = info->ctx;
    buffer->tag = info->tag;
    buffer->wait_id = info->wid;
    buffer->source = info->src;
    buffer->destination = info->dst;
    return PvmOk;
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool is_tag(int tag)
{
    return tag >= 0 || pvm_getopt(PvmResvTids) == 1;
}

static int send_active(int tid, int tag)
{
    struct leat_pvm_buffer *buffer = leat_pvm_self.send;
    if (!buffer) return PvmNoBuf;
    if (!leat_pvm_is_task_tid(tid) || !is_tag(tag)) return PvmBadParam;
    const int result = leat_pvm_enrol();
    return result < 0 ? result : leat_pvm_transfer(buffer, tid, tag);
}

int pvm_send(int tid, int tag)
{
    return leat_pvm_result("pvm_send", send_active(tid, tag));
}

int leat_pvm_multicast(const char *call, const int *tids, int count, int tag)
{
    struct leat_pvm_buffer *buffer = leat_pvm_self.send;
    int result = leat_pvm_enrol();
    if (result < 0) return result;
    if (!buffer) return PvmNoBuf;
    if (count < 0 || (count && !tids) || !is_tag(tag)) return PvmBadParam;
    for (int i = 0; i < count; i++)
        if (!leat_pvm_is_task_tid(tids[i])) return PvmBadParam;
    return leat_pvm_transfer_to_many(call, buffer, tids, count, tag);
}

int pvm_mcast(int *tids, int count, int tag)
{
    return leat_pvm_result("pvm_mcast", leat_pvm_multicast("pvm_mcast", tids, count, tag));
}

static int send_items(int tid, int tag, const void *items, int count, int type)
{
    if (type == PVM_STR) return PvmNotImpl;
    if (!leat_pvm_is_task_tid(tid) || !is_tag(tag)) return PvmBadParam;
    int result = leat_pvm_enrol();
    if (result < 0) return result;
    struct leat_pvm_buffer *buffer = leat_pvm_buffer_new(LEAT_PVM_IN_PLACE);
    if (!buffer) return PvmNoMem;
    result = leat_pvm_pack(buffer, type, items, count, 1);
    if (result == PvmOk) result = leat_pvm_transfer(buffer, tid, tag);
    leat_pvm_buffer_free(buffer);
    return result;
}

int pvm_psend(int tid, int tag, void *items, int count, int type)
{
    return leat_pvm_result("pvm_psend", send_items(tid, tag, items, count, type));
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void about_text(char *out, size_t cap, int tid, int tag)
{
    char from[16] = "any task", which[16] = "any tag";
    if (tid != -1) snprintf(from, sizeof from, "t%x", (unsigned)tid);
    if (tag != -1) snprintf(which, sizeof which, "tag %d", tag);
    snprintf(out, cap, " from %s, %s", from, which);
}

static bool is_source(int tid)
{
    return tid == -1 || tid == LEAT_PVM_DAEMON_TID || leat_pvm_is_task_tid(tid);
}

/* A message that is there now, or arrives within this time: as leat_pvm_queue_search. A poll in
 * vain costs time (LEAT_TASK_POLL_PS); otherwise time would stand still for a polling program. */
static int await(const char *function, int tid, int tag, leat_time span_ps,
                 struct leat_pvm_buffer **out)
{
    char about[LEAT_TASK_ABOUT_LEN];
    const int enrolled = leat_pvm_enrol();
    if (enrolled < 0) return enrolled;
    if (!is_source(tid) || tag < -1) return PvmBadParam;
    const leat_time deadline = leat_time_add(leat_task_now(), span_ps);
    about_text(about, sizeof about, tid, tag);
    for (;;) {
        leat_pvm_dispatch();
        const int result = leat_pvm_queue_search(tid, tag, out);
        if (result) return result;
        if (deadline != LEAT_NEVER && leat_task_now() >= deadline) return 0;
        leat_pvm_take_events(deadline, function, about);
    }
}

static int receive(const char *function, int tid, int tag, leat_time span_ps)
{
    struct leat_pvm_buffer *message = NULL;
    const int result = await(function, tid, tag, span_ps, &message);
    if (result < 0) return lpvmerr(function, result);
    forget(leat_pvm_self.receive);
    if (!result) return 0;
    leat_pvm_queue_remove(message);
    leat_pvm_self.receive = message;
    leat_task_spend_overhead();
    return message->id;
}

int pvm_recv(int tid, int tag)
{
    return receive("pvm_recv", tid, tag, LEAT_NEVER);
}

int pvm_nrecv(int tid, int tag)
{
    return receive("pvm_nrecv", tid, tag, LEAT_TASK_POLL_PS);
}

int pvm_trecv(int tid, int tag, struct timeval *timeout)
{
    const int result = leat_pvm_enrol();
    if (result < 0) return lpvmerr("pvm_trecv", result);
    if (!timeout) return receive("pvm_trecv", tid, tag, LEAT_NEVER);
    if (timeout->tv_sec < 0 || timeout->tv_usec < 0) return lpvmerr("pvm_trecv", PvmBadParam);
    const leat_time span = (leat_time)timeout->tv_sec > LEAT_NEVER / SECOND_PS / 2
                               ? LEAT_NEVER
                               : (leat_time)timeout->tv_sec * SECOND_PS +
                                     (leat_time)timeout->tv_usec * MICROSECOND_PS;
    return receive("pvm_trecv", tid, tag, span ? span : LEAT_TASK_POLL_PS);
}

int pvm_probe(int tid, int tag)
{
    struct leat_pvm_buffer *message = NULL;
    const int result = await("pvm_probe", tid, tag, LEAT_TASK_POLL_PS, &message);
    if (result < 0) return lpvmerr("pvm_probe", result);
    return message ? message->id : 0;
}

int pvm_precv(int tid, int tag, void *items, int count, int type, int *from, int *which, int *len)
{
    struct leat_pvm_buffer *message = NULL;
    int result = leat_pvm_enrol();
    const size_t item_len = type == PVM_STR ? 1 : leat_pvm_type_len(type);
    if (result >= 0 && (count < 0 || !item_len || (!items && count))) result = PvmBadParam;
    if (result >= 0) result = await("pvm_precv", tid, tag, LEAT_NEVER, &message);
    if (result < 0) return lpvmerr("pvm_precv", result);
    leat_pvm_queue_remove(message);
    const size_t there = message->body.len, room = (size_t)count * item_len;
    leat_pvm_buffer_copy(message, 0, items, there < room ? there : room);
    if (from) *from = message->source;
    if (which) *which = message->tag;
    if (len) *len = (int)there;
    leat_pvm_buffer_free(message);
    leat_task_spend_overhead();
    return PvmOk;
}

/* ---- matching functions ---------------------------------------------------------------------- */

/* It returns a function of the type that it takes; pvm3.h declares something else. */
int (*pvm_recvf(int (*match)(int, int, int)))(int (*)(int, int, int))
{
    return (int (*)(int (*)(int, int, int)))(void (*)(void))leat_pvm_set_match(match);
}

int pvm_addmhf(int source, int tag, int context, int (*handler)(int))
{
    return leat_pvm_result(
        "pvm_addmhf", handler ? leat_pvm_handler_add(source, tag, context, handler) : PvmBadParam);
}

int pvm_delmhf(int id)
{
    return leat_pvm_result("pvm_delmhf", leat_pvm_handler_delete(id));
}
