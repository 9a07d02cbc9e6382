#include "fi_message.h"
#include "clock.h"
#include "fi_ask.h"
#include "fi_collect.h"
#include "fi_match.h"
#include "fi_outgoing.h"
#include "fi_pool.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include "fi_rma.h"
#include "fi_threads.h"
#include "fi_wire.h"
#include "task.h"
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>

/* In tags of Open MPI: a synchronous send, and the acknowledgement that it waits for. */
#define TAG_SYNCHRONOUS UINT64_C(0x100000000)
#define TAG_RECEIVED    UINT64_C(0x200000000)

/* An incomplete send: it waits for its turn, or for its grant, or its pieces are being sent. */
struct send {
    uint32_t next; /* in its line */
    struct leat_fi_send call;
    bool is_asked;     /* the ask was sent */
    uint32_t receiver; /* the number of its receive */
    uint64_t granted, handed;
    uint32_t in_flight; /* pieces that the port has not taken */
};

/* A posted receive, or one that was granted pieces. */
struct receive {
    struct leat_fi_match_receive match;
    struct leat_fi_receive call;
    uint32_t number;
    uint64_t len, granted, received;
    uint64_t from, tag, data;
    bool has_data, is_granted;
    bool is_claimed; /* of a message that a probe has found */
};

/* A message without a receive; or, briefly, one that has just arrived. */
struct message {
    struct leat_fi_match_message match;
    uint64_t len, data;
    bool has_data;
    bool is_asked;         /* its octets are still with the sender */
    uint32_t sender;       /* then: the number of its send */
    const uint8_t *octets; /* of an eager one */
};

static struct {
    uint64_t eager;
    struct leat_fi_queue *queue;
    struct leat_fi_match match;
    struct leat_fi_pool sends, receives;
    struct leat_fi_line ready;   /* to be sent, in order: eager ones and asks */
    struct leat_fi_line granted; /* with pieces to be sent */
    uint32_t asked;              /* sends that need this rank until they are done */
} all = { .sends = { .size = sizeof(struct send) },
          .receives = { .size = sizeof(struct receive) } };

static struct send *send_at(uint32_t number)
{
    return leat_fi_pool_at(&all.sends, number);
}

/* ---- completions ----------------------------------------------------------------------------- */

static void report(const struct fi_cq_err_entry *entry)
{
    leat_fi_queue_push(all.queue, entry);
}

static void report_sent(const struct leat_fi_send *call)
{
    if (!call->is_reported) return;
    report(&(struct fi_cq_err_entry){
        .op_context = call->context,
        .flags = FI_SEND | FI_TAGGED,
        .len = call->len,
    });
}

static void finish_send(uint32_t number)
{
    report_sent(&send_at(number)->call);
    leat_fi_pool_give(&all.sends, number);
}

static void report_receive(const struct leat_fi_receive *call, const struct message *m, int err)
{
    const uint64_t put = m->len < call->cap ? m->len : call->cap;
    report(&(struct fi_cq_err_entry){
        .op_context = call->context,
        .flags = FI_RECV | FI_TAGGED | (m->has_data ? FI_REMOTE_CQ_DATA : 0),
        .len = err ? put : m->len,
        .buf = call->octets,
        .data = m->data,
        .tag = m->match.tag,
        .olen = m->len - put,
        .err = err,
    });
}

/* A receive that ends without a message. */
static void report_error(const struct leat_fi_receive *call, int err)
{
    report(&(struct fi_cq_err_entry){
        .op_context = call->context, .flags = FI_RECV | FI_TAGGED, .tag = call->tag, .err = err });
}

/* The meaning of a context: the provider uses words of it. */
enum { POSTED, CLAIMED };

static void *from_context(const struct fi_context *context, int word)
{
    return context ? context->internal[word] : NULL;
}

static void set_context(struct fi_context *context, struct receive *posted, struct message *claimed)
{
    if (!context) return;
    context->internal[POSTED] = posted;
    context->internal[CLAIMED] = claimed;
}

/* ---- sending --------------------------------------------------------------------------------- */

static uint64_t eager_len(const struct leat_fi_send *call)
{
    return LEAT_FI_EAGER_HEAD + call->len + call->padding;
}

static uint8_t *eager_octets(const struct leat_fi_send *call)
{
    uint8_t *p = leat_fi_outgoing_room(eager_len(call));
    if (call->is_private) leat_task_make_private(p);
    leat_fi_put_head(p, LEAT_FI_EAGER, call->has_data, call->padding);
    leat_put_be64(p + 8, call->tag);
    leat_put_be64(p + 16, call->data);
    if (call->len) memcpy(p + LEAT_FI_EAGER_HEAD, call->octets, call->len);
    if (call->padding) memset(p + LEAT_FI_EAGER_HEAD + call->len, 0, call->padding);
    return p;
}

static void hand_ask(uint32_t number)
{
    struct send *s = send_at(number);
    uint8_t *p = leat_fi_outgoing_room(LEAT_FI_ASK_LEN);
    leat_fi_put_head(p, LEAT_FI_ASK, s->call.has_data, number);
    leat_put_be64(p + 8, s->call.tag);
    leat_put_be64(p + 16, s->call.data);
    leat_put_be64(p + 24, s->call.len);
    s->is_asked = true;
    leat_fi_outgoing_hand(s->call.to, p, LEAT_FI_ASK_LEN, LEAT_FI_NOBODY);
}

/* Within the buffer it completes at once; beyond, when the port has taken it. */
static void hand_eager(uint32_t number)
{
    const struct leat_fi_send *call = &send_at(number)->call;
    const uint64_t len = eager_len(call);
    const bool is_buffered = leat_fi_outgoing_is_buffered(len);
    leat_fi_outgoing_hand(call->to, eager_octets(call), len, is_buffered ? LEAT_FI_NOBODY : number);
    if (is_buffered) finish_send(number);
}

static uint64_t len_of_ready(void)
{
    const struct leat_fi_send *call = &send_at(all.ready.first)->call;
    return call->len > all.eager ? LEAT_FI_ASK_LEN : eager_len(call);
}

static void hand_ready(void)
{
    while (all.ready.first != LEAT_FI_NOBODY && leat_fi_outgoing_has_room(len_of_ready())) {
        const uint32_t number = all.ready.first;
        leat_fi_line_drop_first(&all.ready, &all.sends);
        if (send_at(number)->call.len > all.eager)
            hand_ask(number);
        else
            hand_eager(number);
    }
}

static void hand_piece(uint32_t number)
{
    struct send *s = send_at(number);
    const uint64_t left = s->granted - s->handed,
                   len = left < LEAT_FI_PIECE_LEN ? left : LEAT_FI_PIECE_LEN;
    uint8_t *p = leat_fi_outgoing_room(LEAT_FI_PIECE_HEAD + len);
    if (s->call.is_private) leat_task_make_private(p);
    leat_fi_put_head(p, LEAT_FI_PIECE, false, s->receiver);
    leat_put_be64(p + 8, s->handed);
    memcpy(p + LEAT_FI_PIECE_HEAD, (const uint8_t *)s->call.octets + s->handed, len);
    s->handed += len;
    s->in_flight++;
    leat_fi_outgoing_hand(s->call.to, p, LEAT_FI_PIECE_HEAD + len, number);
}

static void hand_granted(void)
{
    while (all.granted.first != LEAT_FI_NOBODY && leat_fi_outgoing_has_room(LEAT_FI_PIECE_LEN)) {
        const uint32_t number = all.granted.first;
        hand_piece(number);
        if (send_at(number)->handed == send_at(number)->granted)
            leat_fi_line_drop_first(&all.granted, &all.sends);
    }
}

static void on_sent(uint64_t cookie)
{
    const uint32_t number = leat_fi_outgoing_sent(cookie);
    struct send *s = number == LEAT_FI_NOBODY ? NULL : send_at(number);
    if (s && s->is_asked) {
        s->in_flight--;
        if (s->handed == s->granted && !s->in_flight) {
            all.asked--;
            finish_send(number);
        }
    } else if (s) {
        finish_send(number);
    }
    hand_ready();
    hand_granted();
    leat_fi_rma_go_on();
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void grant(uint64_t from, uint32_t sender, uint32_t receiver, uint64_t len)
{
    uint8_t *p = leat_fi_outgoing_room(LEAT_FI_GRANT_LEN);
    leat_fi_put_head(p, LEAT_FI_GRANT, false, sender);
    leat_put_be64(p + 8, receiver);
    leat_put_be64(p + 16, len);
    leat_fi_outgoing_hand((uint32_t)from, p, LEAT_FI_GRANT_LEN, LEAT_FI_NOBODY);
}

static void come_in(const struct message *m);

/* Open MPI acknowledges synchronous sends itself, but not those that a matched probe has found:
 * their senders would wait for ever. */
static void acknowledge(const struct message *m)
{
    const struct leat_fi_send call = { .to = (uint32_t)m->match.from,
                                       .tag = (m->match.tag | TAG_RECEIVED) & ~TAG_SYNCHRONOUS };
    if (call.to == leat_task_number())
        come_in(&(struct message){ .match = { .from = call.to, .tag = call.tag } });
    else
        leat_fi_outgoing_hand(call.to, eager_octets(&call), eager_len(&call), LEAT_FI_NOBODY);
}

static void finish_receive(struct receive *r, const struct message *m)
{
    set_context(r->call.context, NULL, NULL);
    report_receive(&r->call, m, m->len > r->call.cap ? FI_ETRUNC : 0);
    if (r->is_claimed && m->match.tag & TAG_SYNCHRONOUS) acknowledge(m);
    leat_fi_pool_give(&all.receives, r->number);
}

static void take_octets(struct receive *r, const struct message *m, const uint8_t *octets)
{
    const uint64_t len = m->len < r->call.cap ? m->len : r->call.cap;
    if (len) memcpy(r->call.octets, octets, len);
    finish_receive(r, m);
}

/* To this rank itself: not through the network. */
static void take_own(struct receive *r, const struct message *m)
{
    const uint32_t number = m->sender;
    take_octets(r, m, send_at(number)->call.octets);
    all.asked--;
    finish_send(number);
}

static void ask_for_pieces(struct receive *r, const struct message *m)
{
    r->len = m->len;
    r->granted = m->len < r->call.cap ? m->len : r->call.cap;
    r->from = m->match.from;
    r->tag = m->match.tag;
    r->data = m->data;
    r->has_data = m->has_data;
    r->is_granted = true;
    set_context(r->call.context, NULL, NULL);
    grant(m->match.from, m->sender, r->number, r->granted);
    if (!r->granted) finish_receive(r, m);
}

static bool is_own(const struct message *m)
{
    return m->match.from == leat_task_number();
}

static void join(struct receive *r, const struct message *m)
{
    if (!m->is_asked)
        take_octets(r, m, m->octets);
    else if (is_own(m))
        take_own(r, m);
    else
        ask_for_pieces(r, m);
}

static struct receive *receive_of(struct leat_fi_match_receive *match)
{
    return (struct receive *)(void *)match; /* it is the first member */
}

static struct message *message_of(struct leat_fi_match_message *match)
{
    return (struct message *)(void *)match;
}

/* A kept message is copied: the network's memory is for messages in flight. */
static void keep(const struct message *m)
{
    const uint64_t len = m->is_asked ? 0 : m->len;
    struct message *kept = leat_fi_grown(NULL, 1, sizeof *kept + len);
    *kept = *m;
    if (len) memcpy(kept + 1, m->octets, len);
    kept->octets = (const uint8_t *)(kept + 1);
    leat_fi_match_keep(&all.match, &kept->match);
    leat_fi_threads_stir();
}

static void come_in(const struct message *m)
{
    struct leat_fi_match_receive *match = leat_fi_match_offer(&all.match, &m->match);
    if (match)
        join(receive_of(match), m);
    else
        keep(m);
}

static _Noreturn void refuse(uint64_t from)
{
    char why[80];
    snprintf(why, sizeof why, "what came from rank %u is not a message of MPI", (unsigned)from);
    leat_task_fail(why);
}

static void on_grant(uint64_t from, const uint8_t *p)
{
    const uint32_t number = leat_get_be32(p + 4);
    const uint64_t len = leat_get_be64(p + 16);
    if (!leat_fi_pool_has(&all.sends, number)) refuse(from);
    struct send *s = send_at(number);
    if (!s->is_asked || s->call.to != from || s->granted || len > s->call.len) refuse(from);
    s->receiver = (uint32_t)leat_get_be64(p + 8);
    s->granted = len;
    if (!len) {
        all.asked--;
        finish_send(number);
        return;
    }
    leat_fi_line_add(&all.granted, &all.sends, number);
    hand_granted();
}

static void on_piece(uint64_t from, const uint8_t *p, uint64_t len)
{
    const uint32_t number = leat_get_be32(p + 4);
    const uint64_t offset = leat_get_be64(p + 8), payload = len - LEAT_FI_PIECE_HEAD;
    if (!leat_fi_pool_has(&all.receives, number)) refuse(from);
    struct receive *r = leat_fi_pool_at(&all.receives, number);
    if (!r->is_granted || r->from != from) refuse(from);
    if (offset != r->received || payload > r->granted - offset) refuse(from);
    memcpy((uint8_t *)r->call.octets + offset, p + LEAT_FI_PIECE_HEAD, payload);
    r->received += payload;
    if (r->received < r->granted) return;
    const struct message m = {
        .match = { .from = from, .tag = r->tag },
        .len = r->len,
        .data = r->data,
        .has_data = r->has_data,
    };
    finish_receive(r, &m);
}

static void on_message(uint64_t from, const uint8_t *p, uint64_t len, bool is_asked)
{
    const uint32_t padding = is_asked ? 0 : leat_get_be32(p + 4);
    if (padding > len - LEAT_FI_EAGER_HEAD) refuse(from);
    const struct message m = {
        .match = { .from = from, .tag = leat_get_be64(p + 8) },
        .len = is_asked ? leat_get_be64(p + 24) : len - LEAT_FI_EAGER_HEAD - padding,
        .data = leat_get_be64(p + 16),
        .has_data = p[1] & LEAT_FI_HAS_DATA,
        .is_asked = is_asked,
        .sender = leat_get_be32(p + 4),
        .octets = is_asked ? NULL : p + LEAT_FI_EAGER_HEAD,
    };
    come_in(&m);
}

static void on_arrived(const struct leat_task_event *e)
{
    const uint8_t kind = e->len ? e->octets[0] : 0;
    if (!leat_fi_shortest(kind) || e->len < leat_fi_shortest(kind)) refuse(e->task);
    if (kind == LEAT_FI_GRANT)
        on_grant(e->task, e->octets);
    else if (kind == LEAT_FI_PIECE)
        on_piece(e->task, e->octets, e->len);
    else if (kind > LEAT_FI_PIECE && !leat_fi_rma_arrived(e->task, e->octets, e->len))
        refuse(e->task);
    else if (kind < LEAT_FI_GRANT)
        on_message(e->task, e->octets, e->len, kind == LEAT_FI_ASK);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_event(const struct leat_task_event *e)
{
    switch (e->kind) {
    case LEAT_TASK_ARRIVED: on_arrived(e); break;
    case LEAT_TASK_SENT: on_sent(e->cookie); break;
    case LEAT_TASK_ANSWERED: leat_fi_ask_note(e); break;
    case LEAT_TASK_COLLECTED: leat_fi_collect_note(e); break;
    case LEAT_TASK_SIGNALLED: break; /* nobody does */
    }
}

void leat_fi_message_poll(void)
{
    struct leat_task_event event;
    while (leat_task_next(&event)) {
        on_event(&event);
        leat_task_release(&event);
    }
}

bool leat_fi_message_pass_time(leat_time deadline, const char *call, const char *about)
{
    leat_fi_outgoing_release();
    leat_fi_rma_release();
    const bool is_any = leat_task_wait(deadline, call, about);
    leat_clock_set(leat_task_now());
    if (is_any) leat_fi_message_poll();
    return is_any;
}

void leat_fi_message_wait(leat_time deadline, const char *call, const char *about)
{
    if (leat_fi_threads_are_many())
        leat_fi_threads_wait(deadline, call, about, leat_fi_message_pass_time);
    else
        leat_fi_message_pass_time(deadline, call, about);
}

static void wait_for_port(void)
{
    leat_fi_message_wait(LEAT_NEVER, "its port to take a message", "");
}

void leat_fi_message_settle(void)
{
    leat_fi_outgoing_settle(wait_for_port);
}

void leat_fi_message_drain(void)
{
    leat_fi_message_settle();
    while (all.asked || all.ready.first != LEAT_FI_NOBODY || leat_fi_rma_is_busy())
        leat_fi_message_wait(LEAT_NEVER, "MPI_Finalize", ": its last messages have to go");
}

/* ---- interface of the endpoint --------------------------------------------------------------- */

bool leat_fi_message_read_environment(void)
{
    const char *text = getenv(LEAT_FI_EAGER_VARIABLE);
    char *end;
    all.eager = LEAT_FI_EAGER_LEN;
    if (!text) return true;
    all.eager = strtoull(text, &end, 0);
    if (*text >= '0' && *text <= '9' && !*end && all.eager <= LEAT_FI_EAGER_MAX) return true;
    fprintf(stderr, "leat: %s is '%s': expected 0 to %d octets\n", LEAT_FI_EAGER_VARIABLE, text,
            LEAT_FI_EAGER_MAX);
    return false;
}

void leat_fi_message_open(void)
{
    leat_fi_match_init(&all.match);
    all.ready = all.granted = (struct leat_fi_line)LEAT_FI_LINE_EMPTY;
}

void leat_fi_message_bind(struct leat_fi_queue *queue)
{
    all.queue = queue;
}

void leat_fi_message_close(void)
{
    struct leat_fi_match_message *m;
    while ((m = leat_fi_match_first(&all.match)) != NULL) {
        leat_fi_match_take(&all.match, m);
        free(message_of(m));
    }
    leat_fi_match_free(&all.match);
    leat_fi_pool_free(&all.sends);
    leat_fi_pool_free(&all.receives);
    leat_fi_outgoing_close();
}

uint64_t leat_fi_message_inject_len(void)
{
    return all.eager < LEAT_FI_INJECT_LEN ? all.eager : LEAT_FI_INJECT_LEN;
}

static uint32_t new_send(const struct leat_fi_send *call)
{
    const uint32_t number = leat_fi_pool_take(&all.sends);
    send_at(number)->call = *call;
    return number;
}

/* A short message is copied and done; a long one stays with its send until it is received. */
static void send_to_self(const struct leat_fi_send *call, bool is_short)
{
    const struct message m = {
        .match = { .from = call->to, .tag = call->tag },
        .len = call->len,
        .data = call->data,
        .has_data = call->has_data,
        .is_asked = !is_short,
        .sender = is_short ? 0 : new_send(call),
        .octets = call->octets,
    };
    all.asked += !is_short;
    come_in(&m);
    if (is_short) report_sent(call);
}

bool leat_fi_message_may_send(void)
{
    leat_fi_begin_in_init();
    if (leat_fi_is_simulated()) return true;
    fprintf(stderr, "leat: rank %u sends a message outside of simulated time\n",
            leat_task_number());
    return false;
}

/* In MPI_Finalize Open MPI still sends over communicators between jobs that were not disconnected,
 * and waits for nothing. */
ssize_t leat_fi_message_send(const struct leat_fi_send *call)
{
    leat_fi_queue_stir();
    if (call->to == leat_task_number()) {
        send_to_self(call, call->len <= all.eager);
        return 0;
    }
    set_context(call->context, NULL, NULL);
    if (leat_fi_is_finalizing()) return 0;
    if (!leat_fi_message_may_send()) return -FI_EOPBADSTATE;
    leat_fi_rma_release();
    leat_fi_message_settle();
    leat_task_spend_overhead();
    all.asked += call->len > all.eager;
    leat_fi_line_add(&all.ready, &all.sends, new_send(call));
    hand_ready();
    return 0;
}

ssize_t leat_fi_message_inject(const struct leat_fi_send *call)
{
    const uint64_t len = eager_len(call);
    if (call->len > all.eager) return -FI_EINVAL;
    leat_fi_queue_stir();
    if (call->to == leat_task_number()) {
        send_to_self(call, true);
        return 0;
    }
    if (!leat_fi_message_may_send()) return -FI_EOPBADSTATE;
    leat_fi_rma_release();
    leat_fi_message_settle();
    leat_task_spend_overhead();
    while (all.ready.first != LEAT_FI_NOBODY || !leat_fi_outgoing_has_room(len))
        leat_fi_message_wait(LEAT_NEVER, leat_fi_call_name(), leat_fi_call_about());
    leat_fi_outgoing_hold(call->to, eager_octets(call), len);
    return 0;
}

static struct receive *new_receive(const struct leat_fi_receive *call)
{
    const uint32_t number = leat_fi_pool_take(&all.receives);
    struct receive *r = leat_fi_pool_at(&all.receives, number);
    r->match.from = call->from;
    r->match.tag = call->tag;
    r->match.ignore = call->ignore;
    r->call = *call;
    r->number = number;
    return r;
}

/* A kept message is received: if it needs a grant, sends it now. */
static void join_kept(struct receive *r, struct message *m)
{
    if (m->is_asked && !is_own(m) && leat_fi_is_simulated()) leat_fi_message_settle();
    join(r, m);
    free(m);
}

ssize_t leat_fi_message_receive(const struct leat_fi_receive *call)
{
    leat_fi_begin_in_init();
    struct receive *r = new_receive(call);
    struct leat_fi_match_message *m = leat_fi_match_post(&all.match, &r->match);
    leat_fi_queue_stir();
    if (m)
        join_kept(r, message_of(m));
    else
        set_context(call->context, r, NULL);
    return 0;
}

/* In a call that waits for a message: until there is one, or something else completes (the library
 * must learn of it; other ranks may wait for its reaction). Otherwise as long as a poll takes. */
static struct message *await_message(const struct leat_fi_receive *call)
{
    const struct leat_fi_call *in = leat_fi_call();
    bool is_last = !leat_fi_is_simulated();
    for (;;) {
        if (leat_fi_is_simulated()) leat_fi_message_poll();
        struct leat_fi_match_message *m = leat_fi_match_peek(&all.match, call->from, call->tag,
                                                             call->ignore);
        if (m) return message_of(m);
        if (is_last || !leat_fi_queue_all_are_empty()) return NULL;
        if (in && in->probes) {
            leat_fi_message_wait(LEAT_NEVER, leat_fi_call_name(), leat_fi_call_about());
            continue;
        }
        leat_fi_message_settle();
        leat_fi_message_wait(leat_time_add(leat_task_now(), LEAT_TASK_POLL_PS), "a poll", "");
        is_last = true;
    }
}

/* No receive wants its octets. */
static void discard_message(struct message *m)
{
    if (m->is_asked && is_own(m)) {
        all.asked--;
        finish_send(m->sender);
    } else if (m->is_asked) {
        leat_fi_message_settle();
        grant(m->match.from, m->sender, 0, 0);
    }
    free(m);
}

ssize_t leat_fi_message_peek(const struct leat_fi_receive *call, bool claim, bool discard)
{
    struct message *m = await_message(call);
    leat_fi_queue_stir();
    if (!m) {
        report_error(call, FI_ENOMSG);
        return 0;
    }
    report_receive(call, m, 0);
    if (claim || discard) leat_fi_match_take(&all.match, &m->match);
    if (discard)
        discard_message(m);
    else if (claim)
        set_context(call->context, NULL, m);
    return 0;
}

ssize_t leat_fi_message_claim(const struct leat_fi_receive *call, bool discard)
{
    struct message *m = from_context(call->context, CLAIMED);
    if (!m) return -FI_EINVAL;
    set_context(call->context, NULL, NULL);
    leat_fi_queue_stir();
    if (!discard) {
        struct receive *r = new_receive(call);
        r->is_claimed = true;
        join_kept(r, m);
        return 0;
    }
    report_receive(call, m, 0);
    discard_message(m);
    return 0;
}

ssize_t leat_fi_message_cancel(struct fi_context *context)
{
    struct receive *r = from_context(context, POSTED);
    if (!r) return -FI_ENOENT;
    set_context(context, NULL, NULL);
    leat_fi_match_withdraw(&all.match, &r->match);
    report_error(&r->call, FI_ECANCELED);
    leat_fi_pool_give(&all.receives, r->number);
    return 0;
}
