#include "fi_rma.h"
#include "fi_held.h"
#include "fi_memory.h"
#include "fi_message.h"
#include "fi_outgoing.h"
#include "fi_pool.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include "task.h"
#include <leat/random.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STARTED_MAX = 256, /* operations at once, as many as an adapter keeps */
    SILENT_MAX = 32,   /* messages to one rank that ask for no answer, before one that does */
    TOGETHER_MAX = (16 << 10) - 64, /* octets of operations that travel as one message */
    STEADY_TRIES = 32,              /* compare-and-swaps in vain, before they lose their rhythm */
};
#define PAUSE_MAX_PS UINT64_C(1000000)

/* Another rank. */
struct peer {
    struct leat_fi_line puts; /* to it that are not answered */
    uint32_t silent;          /* messages with the last of these, which ask for no answer */
    bool has_failed;          /* a put of it that asked for none */
};

/* An operation of this rank. */
struct operation {
    uint32_t next; /* in its line */
    struct leat_fi_access call;
    uint64_t handed;   /* octets of a put */
    uint64_t received; /* of a get */
};

/* A get of another rank, whose octets are being sent. */
struct answer {
    uint32_t next;       /* in the line */
    uint32_t to, number; /* the operation there */
    uint64_t key, offset, len, handed;
};

static struct {
    struct leat_fi_pool operations, answers;
    struct leat_fi_line ready;     /* operations to be sent, in order */
    struct leat_fi_line answering; /* answers with octets to be sent */
    struct peer *peer;
    uint32_t peers;
    struct {
        uint8_t *octets; /* NULL: none */
        uint64_t len, cap;
        uint32_t to;
        uint8_t *last;     /* of its parts */
        uint8_t *last_put; /* that may ask for an answer; NULL: none */
        bool is_loud;      /* it has other parts than puts */
        bool answers;
    } held;           /* a message that may get longer */
    uint32_t started; /* operations that are not complete */
} all = { .operations = { .size = sizeof(struct operation) },
          .answers = { .size = sizeof(struct answer) },
          .ready = LEAT_FI_LINE_EMPTY,
          .answering = LEAT_FI_LINE_EMPTY };

static struct operation *operation_at(uint32_t number)
{
    return leat_fi_pool_at(&all.operations, number);
}

static struct answer *answer_at(uint32_t number)
{
    return leat_fi_pool_at(&all.answers, number);
}

static struct peer *peer_at(uint32_t rank)
{
    if (rank >= all.peers) {
        all.peer = leat_fi_grown(all.peer, rank + 1, sizeof *all.peer);
        while (all.peers <= rank)
            all.peer[all.peers++] = (struct peer){ .puts = LEAT_FI_LINE_EMPTY };
    }
    return &all.peer[rank];
}

/* ---- in memory ------------------------------------------------------------------------------- */

static uint64_t changed(const struct leat_fi_access *a, uint64_t old)
{
    switch (a->atomic) {
    case LEAT_FI_ADD: return old + a->operand;
    case LEAT_FI_SWAP: return a->operand;
    case LEAT_FI_COMPARE_AND_SWAP: return old == a->compare ? a->operand : old;
    }
    return old;
}

/* Returns the value before. */
static uint64_t change(const struct leat_fi_access *a, uint8_t *at)
{
    uint64_t old;
    uint32_t half;
    if (a->len == sizeof half) {
        memcpy(&half, at, sizeof half);
        old = half;
        half = (uint32_t)changed(a, old);
        memcpy(at, &half, sizeof half);
    } else {
        memcpy(&old, at, sizeof old);
        const uint64_t value = changed(a, old);
        memcpy(at, &value, sizeof value);
    }
    return old;
}

/* The result of an atomic operation goes where its caller wants it. */
static void put_result(const struct leat_fi_access *a, uint64_t result)
{
    const uint32_t half = (uint32_t)result;
    if (a->octets && a->len == sizeof half)
        memcpy(a->octets, &half, sizeof half);
    else if (a->octets)
        memcpy(a->octets, &result, sizeof result);
}

static uint64_t rights_for(enum leat_fi_kind kind)
{
    if (kind == LEAT_FI_PUT) return FI_REMOTE_WRITE;
    return kind == LEAT_FI_GET ? FI_REMOTE_READ : FI_REMOTE_READ | FI_REMOTE_WRITE;
}

/* ---- completions ----------------------------------------------------------------------------- */

static void report(const struct leat_fi_access *a, bool failed)
{
    static const uint64_t flags[] = {
        [LEAT_FI_PUT] = FI_RMA | FI_WRITE,
        [LEAT_FI_GET] = FI_RMA | FI_READ,
        [LEAT_FI_ATOMIC] = FI_ATOMIC,
    };
    if (failed)
        fprintf(stderr, "leat: rank %u accesses memory of rank %u that is not open for it\n",
                leat_task_number(), a->to);
    leat_fi_queue_push(a->queue, &(struct fi_cq_err_entry){
                                     .op_context = a->context,
                                     .flags = flags[a->kind],
                                     .len = a->len,
                                     .err = failed ? FI_EACCES : 0,
                                 });
}

static void finish(uint32_t number, bool failed)
{
    report(&operation_at(number)->call, failed);
    leat_fi_pool_give(&all.operations, number);
    all.started--;
}

/* The answer to a put is one to all before it. */
static void finish_puts(uint32_t to, uint32_t last, bool failed)
{
    struct leat_fi_line *puts = &peer_at(to)->puts;
    uint32_t number;
    do {
        number = puts->first;
        leat_fi_line_drop_first(puts, &all.operations);
        finish(number, failed);
    } while (number != last);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* What is held goes. If it asks for an answer, its last put does. */
static void release(bool asks)
{
    struct peer *peer = peer_at(all.held.to);
    uint8_t *p = all.held.octets;
    all.held.octets = NULL;
    if (all.held.last_put) {
        all.held.last_put[1] = asks;
        peer->silent = asks ? 0 : peer->silent + 1;
    }
    if (!all.held.is_loud && !(all.held.last_put && asks)) leat_task_make_quiet(p);
    leat_fi_outgoing_hand(all.held.to, p, all.held.len, LEAT_FI_NOBODY);
}

void leat_fi_rma_release(void)
{
    if (all.held.octets) release(true);
}

static void hold(uint32_t to, uint64_t cap)
{
    all.held.octets = leat_fi_outgoing_room(cap);
    all.held.len = 0;
    all.held.cap = cap;
    all.held.to = to;
    all.held.last_put = NULL;
    all.held.is_loud = all.held.answers = false;
    leat_task_make_private(all.held.octets);
}

/* The next part of what is held, which goes first if this is for another rank or does not fit. A
 * put that follows others asks for them. */
static uint8_t *new_part(uint32_t to, enum leat_fi_kind kind, uint32_t number, uint64_t len)
{
    if (all.held.octets && (all.held.to != to || all.held.len + len > all.held.cap))
        release(all.held.to != to || kind != LEAT_FI_PUT || peer_at(to)->silent == SILENT_MAX);
    if (!all.held.octets)
        hold(to, len < TOGETHER_MAX ? TOGETHER_MAX : len);
    else
        leat_put_be16(all.held.last + 2,
                      (uint16_t)(all.held.octets + all.held.len - all.held.last));
    uint8_t *p = all.held.last = all.held.octets + all.held.len;
    all.held.len += len;
    all.held.is_loud |= kind != LEAT_FI_PUT;
    all.held.answers |= kind == LEAT_FI_GOT || kind == LEAT_FI_DONE;
    leat_fi_put_head(p, kind, false, number);
    return p;
}

static uint8_t *new_access(const struct leat_fi_access *a, uint32_t number, uint64_t len)
{
    uint8_t *p = new_part(a->to, a->kind, number, len);
    leat_put_be64(p + 8, a->key);
    return p;
}

static bool has_room(uint64_t len)
{
    return leat_fi_outgoing_has_room(len + (all.held.octets ? all.held.len : 0));
}

static void hand_put(uint32_t number)
{
    struct operation *o = operation_at(number);
    const uint64_t left = o->call.len - o->handed;
    const uint64_t len = left < LEAT_FI_PIECE_LEN ? left : LEAT_FI_PIECE_LEN;
    uint8_t *p = new_access(&o->call, number, LEAT_FI_PUT_HEAD + len);
    leat_put_be64(p + 16, o->call.offset + o->handed);
    leat_put_be64(p + 24, left);
    if (len) memcpy(p + LEAT_FI_PUT_HEAD, (const uint8_t *)o->call.octets + o->handed, len);
    o->handed += len;
    if (len < left) return;
    all.held.last_put = p;
    leat_fi_line_drop_first(&all.ready, &all.operations);
    leat_fi_line_add(&peer_at(o->call.to)->puts, &all.operations, number);
}

static void hand_get(uint32_t number)
{
    const struct operation *o = operation_at(number);
    uint8_t *p = new_access(&o->call, number, LEAT_FI_GET_LEN);
    leat_put_be64(p + 16, o->call.offset);
    leat_put_be64(p + 24, o->call.len);
    leat_fi_line_drop_first(&all.ready, &all.operations);
}

static void hand_atomic(uint32_t number)
{
    const struct operation *o = operation_at(number);
    uint8_t *p = new_access(&o->call, number, LEAT_FI_ATOMIC_LEN);
    p[1] = (uint8_t)(o->call.atomic | (o->call.len == sizeof(uint32_t) ? LEAT_FI_HALF : 0));
    leat_put_be64(p + 16, o->call.offset);
    leat_put_be64(p + 24, o->call.operand);
    leat_put_be64(p + 32, o->call.compare);
    leat_fi_line_drop_first(&all.ready, &all.operations);
}

static uint64_t len_of_ready(void)
{
    const struct operation *o = operation_at(all.ready.first);
    const uint64_t left = o->call.len - o->handed;
    if (o->call.kind != LEAT_FI_PUT) return LEAT_FI_ATOMIC_LEN;
    return LEAT_FI_PUT_HEAD + (left < LEAT_FI_PIECE_LEN ? left : LEAT_FI_PIECE_LEN);
}

static void hand_ready(void)
{
    while (all.ready.first != LEAT_FI_NOBODY && has_room(len_of_ready())) {
        const uint32_t number = all.ready.first;
        const enum leat_fi_kind kind = operation_at(number)->call.kind;
        if (kind == LEAT_FI_PUT)
            hand_put(number);
        else if (kind == LEAT_FI_GET)
            hand_get(number);
        else
            hand_atomic(number);
    }
}

/* ---- the target's side ----------------------------------------------------------------------- */

static void say_done(uint32_t to, uint32_t number, bool failed, const uint64_t *result)
{
    const uint64_t len = result ? LEAT_FI_RESULT_LEN : LEAT_FI_DONE_LEN;
    uint8_t *p = new_part(to, LEAT_FI_DONE, number, len);
    p[1] = failed;
    if (result) leat_put_be64(p + 8, *result);
}

static void hand_piece(struct answer *a)
{
    const uint64_t left = a->len - a->handed;
    const uint64_t len = left < LEAT_FI_PIECE_LEN ? left : LEAT_FI_PIECE_LEN;
    const uint8_t *from = leat_fi_held_at(a->key, a->offset + a->handed, left, FI_REMOTE_READ);
    if (!from) { /* closed since */
        say_done(a->to, a->number, true, NULL);
        a->handed = a->len;
        return;
    }
    uint8_t *p = new_part(a->to, LEAT_FI_GOT, a->number, LEAT_FI_PIECE_HEAD + len);
    leat_put_be64(p + 8, a->handed);
    memcpy(p + LEAT_FI_PIECE_HEAD, from, len);
    a->handed += len;
}

static uint64_t len_of_answer(void)
{
    const struct answer *a = answer_at(all.answering.first);
    const uint64_t left = a->len - a->handed;
    return LEAT_FI_PIECE_HEAD + (left < LEAT_FI_PIECE_LEN ? left : LEAT_FI_PIECE_LEN);
}

static void hand_answers(void)
{
    while (all.answering.first != LEAT_FI_NOBODY && has_room(len_of_answer())) {
        const uint32_t number = all.answering.first;
        struct answer *a = answer_at(number);
        hand_piece(a);
        if (a->handed < a->len) continue;
        leat_fi_line_drop_first(&all.answering, &all.answers);
        leat_fi_pool_give(&all.answers, number);
    }
}

static void on_put(uint32_t from, const uint8_t *p, uint64_t len)
{
    const uint64_t payload = len - LEAT_FI_PUT_HEAD, left = leat_get_be64(p + 24);
    uint8_t *to = leat_fi_held_at(leat_get_be64(p + 8), leat_get_be64(p + 16), left,
                                  FI_REMOTE_WRITE);
    struct peer *peer = peer_at(from);
    if (to && payload) memcpy(to, p + LEAT_FI_PUT_HEAD, payload);
    peer->has_failed |= !to;
    if (p[1]) {
        say_done(from, leat_get_be32(p + 4), peer->has_failed, NULL);
        peer->has_failed = false;
    }
    leat_fi_queue_rouse();
}

static void on_get(uint32_t from, const uint8_t *p)
{
    const struct answer a = {
        .to = from,
        .number = leat_get_be32(p + 4),
        .key = leat_get_be64(p + 8),
        .offset = leat_get_be64(p + 16),
        .len = leat_get_be64(p + 24),
    };
    const bool is_open = leat_fi_held_at(a.key, a.offset, a.len, FI_REMOTE_READ) != NULL;
    if (!a.len || !is_open) {
        say_done(from, a.number, !is_open, NULL);
        return;
    }
    const uint32_t number = leat_fi_pool_take(&all.answers);
    *answer_at(number) = a;
    leat_fi_line_add(&all.answering, &all.answers, number);
    hand_answers();
}

static void on_atomic(uint32_t from, const uint8_t *p)
{
    const struct leat_fi_access a = {
        .atomic = p[1] & ~LEAT_FI_HALF,
        .len = p[1] & LEAT_FI_HALF ? sizeof(uint32_t) : sizeof(uint64_t),
        .operand = leat_get_be64(p + 24),
        .compare = leat_get_be64(p + 32),
    };
    uint8_t *at = leat_fi_held_at(leat_get_be64(p + 8), leat_get_be64(p + 16), a.len,
                                  rights_for(LEAT_FI_ATOMIC));
    const uint64_t old = at ? change(&a, at) : 0;
    say_done(from, leat_get_be32(p + 4), !at, &old);
    leat_fi_queue_rouse();
}

/* ---- tries in vain --------------------------------------------------------------------------- */

/* Compare-and-swaps at one place of another rank that have changed nothing: a lock is taken. */
static struct {
    uint64_t key, offset;
    uint32_t to, tries;
} locked;

static bool is_locked_there(const struct leat_fi_access *a)
{
    return a->kind == LEAT_FI_ATOMIC && a->atomic == LEAT_FI_COMPARE_AND_SWAP &&
           a->to == locked.to && a->key == locked.key && a->offset == locked.offset;
}

static void count_try(const struct leat_fi_access *a, uint64_t old)
{
    if (a->atomic != LEAT_FI_COMPARE_AND_SWAP) return;
    if (!is_locked_there(a)) locked.tries = 0;
    locked.to = a->to;
    locked.key = a->key;
    locked.offset = a->offset;
    locked.tries = old == a->compare ? 0 : locked.tries + 1;
}

/* Simulated ranks keep their rhythm exactly: one that tries whenever another has just taken the
 * lock would do so for ever. Where there are clocks and caches, noise ends that; here chance
 * does. */
static void lose_rhythm(const struct leat_fi_access *a)
{
    if (!is_locked_there(a) || locked.tries < STEADY_TRIES) return;
    uint64_t state = (uint64_t)leat_task_number() << 32 | locked.tries;
    const leat_time then = leat_time_add(leat_task_now(),
                                         leat_random_splitmix(&state) % PAUSE_MAX_PS);
    while (leat_task_now() < then)
        leat_fi_message_wait(then, leat_fi_call_name(), leat_fi_call_about());
}

/* ---- answers --------------------------------------------------------------------------------- */

static struct operation *mine(uint32_t from, const uint8_t *p)
{
    const uint32_t number = leat_get_be32(p + 4);
    if (!leat_fi_pool_has(&all.operations, number)) return NULL;
    struct operation *o = operation_at(number);
    return o->call.to == from ? o : NULL;
}

static bool on_done(uint32_t from, const uint8_t *p, uint64_t len)
{
    const struct operation *o = mine(from, p);
    if (!o) return false;
    if (o->call.kind == LEAT_FI_ATOMIC) {
        if (len < LEAT_FI_RESULT_LEN) return false;
        if (!p[1]) put_result(&o->call, leat_get_be64(p + 8));
        count_try(&o->call, leat_get_be64(p + 8));
    }
    if (o->call.kind == LEAT_FI_PUT && o->handed < o->call.len) return false;
    if (o->call.kind == LEAT_FI_PUT)
        finish_puts(from, leat_get_be32(p + 4), p[1]);
    else
        finish(leat_get_be32(p + 4), p[1]);
    return true;
}

static bool on_got(uint32_t from, const uint8_t *p, uint64_t len)
{
    struct operation *o = mine(from, p);
    const uint64_t payload = len - LEAT_FI_PIECE_HEAD;
    if (!o || o->call.kind != LEAT_FI_GET) return false;
    if (leat_get_be64(p + 8) != o->received || payload > o->call.len - o->received) return false;
    memcpy((uint8_t *)o->call.octets + o->received, p + LEAT_FI_PIECE_HEAD, payload);
    o->received += payload;
    if (o->received == o->call.len) finish(leat_get_be32(p + 4), false);
    return true;
}

static bool part_arrived(uint32_t from, const uint8_t *octets, uint64_t len)
{
    switch ((enum leat_fi_kind)octets[0]) {
    case LEAT_FI_PUT: on_put(from, octets, len); return true;
    case LEAT_FI_GET: on_get(from, octets); return true;
    case LEAT_FI_ATOMIC: on_atomic(from, octets); return true;
    case LEAT_FI_DONE: return on_done(from, octets, len);
    case LEAT_FI_GOT: return on_got(from, octets, len);
    case LEAT_FI_EAGER:
    case LEAT_FI_ASK:
    case LEAT_FI_GRANT:
    case LEAT_FI_PIECE: break;
    }
    return false;
}

/* Answers go at once: the rank may not wait for long. */
bool leat_fi_rma_arrived(uint32_t from, const uint8_t *octets, uint64_t len)
{
    for (uint64_t part; len; octets += part, len -= part) {
        part = len < LEAT_FI_DONE_LEN ? 0 : leat_get_be16(octets + 2);
        if (!part) part = len;
        if (part > len || part < leat_fi_shortest(octets[0])) return false;
        if (!part_arrived(from, octets, part)) return false;
    }
    if (all.held.octets && all.held.answers) release(true);
    return true;
}

/* ---- this rank's own memory ------------------------------------------------------------------ */

/* An operation that has changed nothing. The library tries again and again to get a lock that
 * another rank holds. */
static struct {
    bool is_last; /* of those in this rank's memory */
    uint64_t key, offset;
    leat_time since;
} vain;

static bool is_again(const struct leat_fi_access *a)
{
    return vain.is_last && a->kind == LEAT_FI_ATOMIC && a->key == vain.key &&
           a->offset == vain.offset;
}

/* It takes as long as a poll, and longer the more often it has been in vain; a message ends that,
 * since only other ranks can change the memory meanwhile. */
static void pause_before(const struct leat_fi_access *a)
{
    const leat_time then = leat_time_add(leat_task_now(), LEAT_TASK_POLL_PS);
    const leat_time later = leat_time_add(then, is_again(a) ? leat_fi_memory_pause(vain.since) : 0);
    while (leat_task_now() < then)
        leat_fi_message_wait(then, leat_fi_call_name(), leat_fi_call_about());
    if (later > then) leat_fi_message_wait(later, leat_fi_call_name(), leat_fi_call_about());
}

static uint64_t change_own(const struct leat_fi_access *a, uint8_t *at)
{
    const uint64_t old = change(a, at);
    const leat_time since = is_again(a) ? vain.since : leat_task_now();
    vain.is_last = changed(a, old) == old;
    vain.key = a->key;
    vain.offset = a->offset;
    vain.since = since;
    return old;
}

static void access_own(const struct leat_fi_access *a)
{
    pause_before(a);
    uint8_t *at = leat_fi_held_at(a->key, a->offset, a->len, rights_for(a->kind));
    if (at && a->kind == LEAT_FI_ATOMIC)
        put_result(a, change_own(a, at));
    else if (at && a->kind == LEAT_FI_PUT)
        memmove(at, a->octets, a->len);
    else if (at)
        memmove(a->octets, at, a->len);
    report(a, !at);
}

/* ---- interface ------------------------------------------------------------------------------- */

void leat_fi_rma_go_on(void)
{
    hand_ready();
    hand_answers();
    if (all.held.octets && all.held.answers) release(true);
}

bool leat_fi_rma_is_busy(void)
{
    return all.started || all.answering.first != LEAT_FI_NOBODY;
}

void leat_fi_rma_close(void)
{
    leat_fi_pool_free(&all.operations);
    leat_fi_pool_free(&all.answers);
    free(all.peer);
    all.peer = NULL;
    all.peers = 0;
}

/* A full adapter is waited for here: Open MPI would poll several times before it tries again, even
 * if all operations are done by then and nothing can come. */
static void wait_for_place(void)
{
    while (all.started == STARTED_MAX)
        leat_fi_message_wait(LEAT_NEVER, leat_fi_call_name(), leat_fi_call_about());
}

ssize_t leat_fi_rma_start(const struct leat_fi_access *access)
{
    if (!leat_fi_message_may_send()) return -FI_EOPBADSTATE;
    leat_fi_message_settle();
    wait_for_place();
    if (access->to == leat_task_number()) {
        access_own(access);
        return 0;
    }
    lose_rhythm(access);
    const uint32_t number = leat_fi_pool_take(&all.operations);
    *operation_at(number) = (struct operation){ .call = *access };
    all.started++;
    leat_fi_line_add(&all.ready, &all.operations, number);
    hand_ready();
    return 0;
}
