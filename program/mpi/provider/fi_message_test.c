/*
 * The protocol of one rank: what it passes to its port and reports to the queue; the test plays the
 * port, the clock and the peers.
 */
#include "clock.h"
#include "fi_ask.h"
#include "fi_collect.h"
#include "fi_match.h"
#include "fi_message.h"
#include "fi_outgoing.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include "fi_rma.h"
#include "fi_threads.h"
#include "fi_wire.h"
#include "tap.h"
#include "task.h"
#include <rdma/fi_errno.h>
#include <string.h>

enum { ME = 0, PEER = 1, SENT_CAP = 4096, DONE_CAP = 4096 };

/* ---- the run, played ------------------------------------------------------------------------- */

static struct sent {
    uint32_t to;
    uint8_t *octets;
    uint64_t len, cookie;
    bool notify_sent, is_reported;
} sent[SENT_CAP];
static uint32_t sents;
static struct fi_cq_err_entry done[DONE_CAP];
static uint32_t dones;
static struct leat_task_event event;
static bool has_event;
static uint64_t not_taken_max;

uint32_t leat_task_number(void)
{
    return ME;
}

uint8_t *leat_task_room(uint64_t len)
{
    return malloc(len ? len : 1);
}

static uint32_t made_private;

void leat_task_make_private(uint8_t *octets)
{
    (void)octets;
    made_private++;
}

void leat_task_send(uint32_t to, uint8_t *octets, uint64_t len, uint64_t cookie, bool notify_sent)
{
    sent[sents++ % SENT_CAP] = (struct sent){ to, octets, len, cookie, notify_sent, false };
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < sents; i++)
        if (sent[i].notify_sent && !sent[i].is_reported) waiting += sent[i].len;
    if (waiting > not_taken_max) not_taken_max = waiting;
}

bool leat_task_next(struct leat_task_event *out)
{
    const bool any = has_event;
    *out = event;
    has_event = false;
    return any;
}

void leat_task_release(const struct leat_task_event *e)
{
    (void)e;
}

/* The port takes the oldest message with a SENT event. */
bool leat_task_wait(leat_time deadline, const char *call, const char *about)
{
    (void)deadline, (void)call, (void)about;
    for (uint32_t i = 0; i < sents; i++)
        if (sent[i].notify_sent && !sent[i].is_reported) {
            sent[i].is_reported = true;
            event = (struct leat_task_event){ .kind = LEAT_TASK_SENT, .cookie = sent[i].cookie };
            has_event = true;
            return true;
        }
    return false;
}

void leat_task_spend_overhead(void)
{
}

leat_time leat_task_now(void)
{
    return 0;
}

_Noreturn void leat_task_fail(const char *reason)
{
    printf("# the run failed: %s\n", reason);
    exit(1);
}

void leat_clock_set(leat_time now)
{
    (void)now;
}

bool leat_fi_is_finalizing(void)
{
    return false;
}

void leat_fi_begin_in_init(void)
{
}

void leat_fi_ask_note(const struct leat_task_event *answer)
{
    (void)answer;
}

void leat_fi_collect_note(const struct leat_task_event *answer)
{
    (void)answer;
}

bool leat_fi_is_simulated(void)
{
    return true;
}

const struct leat_fi_call *leat_fi_call(void)
{
    return NULL;
}

const char *leat_fi_call_name(void)
{
    return "";
}

const char *leat_fi_call_about(void)
{
    return "";
}

void leat_fi_queue_push(struct leat_fi_queue *queue, const struct fi_cq_err_entry *entry)
{
    (void)queue;
    done[dones++ % DONE_CAP] = *entry;
}

bool leat_fi_queue_all_are_empty(void)
{
    return !dones;
}

void leat_fi_queue_stir(void)
{
}

bool leat_fi_rma_arrived(uint32_t from, const uint8_t *octets, uint64_t len)
{
    (void)from, (void)octets, (void)len;
    return true;
}

void leat_fi_rma_go_on(void)
{
}

void leat_fi_rma_release(void)
{
}

bool leat_fi_rma_is_busy(void)
{
    return false;
}

struct leat_fi_threads leat_fi_threads; /* one */

void leat_fi_threads_wait(leat_time deadline, const char *call, const char *about,
                          leat_fi_pass_time *pass_time)
{
    pass_time(deadline, call, about);
}

/* ---- what tests share ------------------------------------------------------------------------ */

static void begin(void)
{
    sents = dones = 0;
    not_taken_max = 0;
    OK(leat_fi_message_read_environment());
    leat_fi_message_open();
}

static void end(void)
{
    leat_fi_message_close();
    for (uint32_t i = 0; i < sents; i++)
        free(sent[i].octets);
}

static void arrives(const uint8_t *octets, uint64_t len)
{
    event = (struct leat_task_event){ LEAT_TASK_ARRIVED, 0, PEER, 0, octets, len };
    has_event = true;
    leat_fi_message_poll();
}

static void all_is_taken(void)
{
    while (leat_task_wait(0, "", ""))
        leat_fi_message_poll();
}

static void eager_arrives(uint64_t tag, const char *text)
{
    uint8_t p[LEAT_FI_EAGER_HEAD + 64];
    leat_fi_put_head(p, LEAT_FI_EAGER, true, 0);
    leat_put_be64(p + 8, tag);
    leat_put_be64(p + 16, 77);
    memcpy(p + LEAT_FI_EAGER_HEAD, text, strlen(text) + 1);
    arrives(p, LEAT_FI_EAGER_HEAD + strlen(text) + 1);
}

static void ask_arrives(uint64_t tag, uint32_t sender, uint64_t len)
{
    uint8_t p[LEAT_FI_ASK_LEN];
    leat_fi_put_head(p, LEAT_FI_ASK, true, sender);
    leat_put_be64(p + 8, tag);
    leat_put_be64(p + 16, 77);
    leat_put_be64(p + 24, len);
    arrives(p, sizeof p);
}

static struct leat_fi_receive receive_of(uint64_t tag, void *octets, uint64_t cap,
                                         struct fi_context *context)
{
    return (struct leat_fi_receive){ PEER, tag, 0, octets, cap, context };
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void eager_in_either_order(void)
{
    struct fi_context context;
    char in[64];
    begin();
    const struct leat_fi_receive r = receive_of(5, in, sizeof in, &context);
    EQ(leat_fi_message_receive(&r), 0);
    EQ(dones, 0);
    eager_arrives(5, "first");
    EQ(dones, 1);
    OK(!strcmp(in, "first"));
    EQ(done[0].len, 6);
    EQ(done[0].data, 77);
    OK(done[0].op_context == &context && !done[0].err);
    eager_arrives(5, "second");
    EQ(leat_fi_message_receive(&r), 0);
    EQ(dones, 2);
    OK(!strcmp(in, "second"));
    end();
}

static void too_long_for_its_receive(void)
{
    struct fi_context context;
    char in[4] = "";
    begin();
    const struct leat_fi_receive r = receive_of(5, in, 3, &context);
    leat_fi_message_receive(&r);
    eager_arrives(5, "abcdef");
    EQ(done[0].err, FI_ETRUNC);
    EQ(done[0].len, 3);
    EQ(done[0].olen, 4);
    OK(!memcmp(in, "abc", 4));
    ask_arrives(5, 9, 1000000);
    leat_fi_message_receive(&r);
    leat_fi_outgoing_release();
    EQ(sents, 1);
    EQ(leat_get_be64(sent[0].octets + 16), 3); /* no more is granted than there is room for */
    EQ(leat_get_be32(sent[0].octets + 4), 9);
    end();
}

static void peek_claim_discard_cancel(void)
{
    struct fi_context context, other;
    char in[64];
    begin();
    const struct leat_fi_receive r = receive_of(5, in, sizeof in, &context);
    EQ(leat_fi_message_peek(&r, false, false), 0);
    EQ(done[0].err, FI_ENOMSG);
    dones = 0;
    eager_arrives(5, "one");
    eager_arrives(5, "two");
    eager_arrives(5, "three");
    EQ(leat_fi_message_peek(&r, true, false), 0); /* one */
    EQ(done[0].len, 4);
    const struct leat_fi_receive another = receive_of(5, in, sizeof in, &other);
    EQ(leat_fi_message_peek(&another, false, true), 0); /* two is gone */
    EQ(leat_fi_message_receive(&another), 0);
    OK(!strcmp(in, "three"));
    EQ(leat_fi_message_claim(&r, false), 0);
    OK(!strcmp(in, "one"));
    EQ(leat_fi_message_claim(&r, false), -FI_EINVAL);
    EQ(leat_fi_message_cancel(&context), -FI_ENOENT);
    dones = 0;
    EQ(leat_fi_message_receive(&r), 0);
    EQ(leat_fi_message_cancel(&context), 0);
    EQ(done[0].err, FI_ECANCELED);
    ask_arrives(5, 3, 1 << 20);
    EQ(leat_fi_message_peek(&r, false, true), 0);
    EQ(leat_get_be64(sent[0].octets + 16), 0); /* nothing is granted: its sender is done */
    end();
}

/* Asked, granted, and never more in the port than the window. */
static void long_message_goes_in_pieces(void)
{
    enum { LEN = 5 << 20 };
    struct fi_context context;
    uint8_t *octets = malloc(LEN), *got = calloc(1, LEN), p[LEAT_FI_GRANT_LEN];
    for (uint32_t i = 0; i < LEN; i++)
        octets[i] = (uint8_t)(i * 7 + i / 4096);
    begin();
    const struct leat_fi_send s = { .to = PEER,
                                    .octets = octets,
                                    .len = LEN,
                                    .tag = 5,
                                    .data = 77,
                                    .has_data = true,
                                    .is_reported = true,
                                    .context = &context };
    EQ(leat_fi_message_send(&s), 0);
    EQ(sents, 1);
    EQ(sent[0].octets[0], LEAT_FI_ASK);
    EQ(leat_get_be64(sent[0].octets + 24), LEN);
    leat_fi_put_head(p, LEAT_FI_GRANT, false, leat_get_be32(sent[0].octets + 4));
    leat_put_be64(p + 8, 6);
    leat_put_be64(p + 16, LEN);
    arrives(p, sizeof p);
    EQ(dones, 0);
    all_is_taken();
    OK(not_taken_max <= LEAT_FI_WINDOW);
    for (uint32_t i = 1; i < sents; i++) {
        EQ(leat_get_be32(sent[i].octets + 4), 6);
        memcpy(got + leat_get_be64(sent[i].octets + 8), sent[i].octets + LEAT_FI_PIECE_HEAD,
               sent[i].len - LEAT_FI_PIECE_HEAD);
    }
    OK(!memcmp(octets, got, LEN));
    EQ(dones, 1);
    OK(done[0].op_context == &context);
    end();
    free(octets);
    free(got);
}

static void to_itself(void)
{
    enum { LEN = 1 << 20 };
    struct fi_context to, from;
    uint8_t *octets = calloc(1, LEN), *got = malloc(LEN);
    begin();
    const struct leat_fi_send s = {
        .to = ME, .octets = octets, .len = LEN, .tag = 5, .is_reported = true, .context = &to
    };
    struct leat_fi_receive r = receive_of(5, got, LEN, &from);
    r.from = LEAT_FI_MATCH_ANY;
    EQ(leat_fi_message_send(&s), 0);
    EQ(dones, 0);
    EQ(leat_fi_message_receive(&r), 0);
    EQ(dones, 2);
    OK(!memcmp(octets, got, LEN));
    EQ(sents, 0);
    end();
    free(octets);
    free(got);
}

/* A blocking send gets a SENT event if the rank then does something that depends on time, not if it
 * waits anyway. */
static void what_a_blocking_send_owes(void)
{
    const struct leat_fi_send s = { .to = PEER, .octets = "x", .len = 1 };
    begin();
    EQ(leat_fi_message_inject(&s), 0);
    EQ(sents, 0);
    leat_fi_message_wait(LEAT_NEVER, "", "");
    EQ(sents, 1);
    OK(!sent[0].notify_sent);
    EQ(leat_fi_message_inject(&s), 0);
    leat_fi_message_settle();
    EQ(sents, 2);
    OK(sent[1].notify_sent && sent[1].is_reported);
    leat_fi_message_drain();
    end();
}

/* The network carries the padding, the receiver does not see it. */
static void messages_of_the_library_itself_are_private_and_padded(void)
{
    struct fi_context context;
    const struct leat_fi_send s = {
        .to = PEER, .octets = "name", .len = 4, .tag = 5, .is_private = true, .padding = 7
    };
    char got[16] = "";
    const struct leat_fi_receive r = receive_of(5, got, sizeof got, &context);
    begin();
    made_private = 0;
    EQ(leat_fi_message_send(&s), 0);
    EQ(made_private, 1);
    EQ(sents, 1);
    EQ(sent[0].len, LEAT_FI_EAGER_HEAD + 4 + 7);
    EQ(leat_fi_message_receive(&r), 0);
    arrives(sent[0].octets, (uint32_t)sent[0].len);
    EQ(dones, 1);
    EQ(done[0].len, 4);
    OK(!strcmp(got, "name"));
    end();
}

static void small_sends_are_done_at_once_within_the_buffer(void)
{
    static const uint8_t octets[1000];
    struct fi_context context;
    begin();
    for (int i = 0; i < 100; i++) {
        const struct leat_fi_send s = { .to = PEER,
                                        .octets = octets,
                                        .len = 1000,
                                        .tag = 5,
                                        .is_reported = true,
                                        .context = &context };
        EQ(leat_fi_message_send(&s), 0);
    }
    OK(dones > 8 && dones < 32);
    all_is_taken();
    EQ(dones, 100);
    EQ(sents, 100);
    leat_fi_message_drain();
    EQ(leat_fi_message_inject_len(), LEAT_FI_INJECT_LEN);
    end();
}

TAP_MAIN(T(eager_in_either_order), T(too_long_for_its_receive), T(peek_claim_discard_cancel),
         T(long_message_goes_in_pieces), T(to_itself), T(what_a_blocking_send_owes),
         T(messages_of_the_library_itself_are_private_and_padded),
         T(small_sends_are_done_at_once_within_the_buffer))
