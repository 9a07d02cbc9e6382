/*
 * One-sided operations of one rank, and what it does for others; the test plays the port, the clock
 * and the peer.
 */
#include "fi_held.h"
#include "fi_memory.h"
#include "fi_message.h"
#include "fi_outgoing.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include "fi_rma.h"
#include "tap.h"
#include "task.h"
#include <rdma/fi_errno.h>
#include <stdlib.h>

enum { ME = 0, PEER = 1, SENT_CAP = 1024, DONE_CAP = 512, LONG_LEN = 1 << 20 };

/* ---- the run, played ------------------------------------------------------------------------- */

static struct sent {
    uint32_t to;
    uint8_t *octets;
    uint64_t len, cookie;
    bool notify_sent;
} sent[SENT_CAP];
static uint32_t sents, privates, rouses;
static struct fi_cq_err_entry done[DONE_CAP];
static uint32_t dones;
static leat_time now;

uint32_t leat_task_number(void)
{
    return ME;
}

uint8_t *leat_task_room(uint64_t len)
{
    return malloc(len);
}

void leat_task_make_private(uint8_t *octets)
{
    (void)octets;
    privates++;
}

static uint32_t quiets;

void leat_task_make_quiet(uint8_t *octets)
{
    (void)octets;
    quiets++;
}

void leat_task_send(uint32_t to, uint8_t *octets, uint64_t len, uint64_t cookie, bool notify_sent)
{
    sent[sents++ % SENT_CAP] = (struct sent){ to, octets, len, cookie, notify_sent };
}

leat_time leat_task_now(void)
{
    return now;
}

_Noreturn void leat_task_fail(const char *reason)
{
    printf("# the run failed: %s\n", reason);
    exit(1);
}

static void (*on_endless_wait)(void);
static leat_time arrives_at = LEAT_NEVER; /* the next message, which ends a wait */

void leat_fi_message_wait(leat_time deadline, const char *call, const char *about)
{
    (void)call, (void)about;
    if (deadline == LEAT_NEVER)
        on_endless_wait();
    else if (arrives_at < deadline)
        now = arrives_at, arrives_at = LEAT_NEVER;
    else
        now = deadline;
}

/* As long as it has waited already. */
leat_time leat_fi_memory_pause(leat_time since)
{
    return now - since;
}

void leat_fi_message_settle(void)
{
}

static bool is_simulated = true;

bool leat_fi_message_may_send(void)
{
    return is_simulated;
}

const char *leat_fi_call_name(void)
{
    return "";
}

const char *leat_fi_call_about(void)
{
    return "";
}

void leat_fi_lock(void)
{
}

void leat_fi_unlock(void)
{
}

void leat_fi_queue_push(struct leat_fi_queue *queue, const struct fi_cq_err_entry *entry)
{
    (void)queue;
    done[dones++ % DONE_CAP] = *entry;
}

void leat_fi_queue_rouse(void)
{
    rouses++;
}

/* ---- what tests share ------------------------------------------------------------------------ */

static uint8_t memory[LONG_LEN];

static struct fid_mr *open_memory(uint64_t access)
{
    struct fid_mr *mr = NULL;
    EQ(leat_fi_held_ops.reg(NULL, memory, sizeof memory, access, 0, 99, 0, &mr, NULL), 0);
    return mr;
}

static void begin(void)
{
    sents = dones = privates = rouses = quiets = 0;
    memset(memory, 0, sizeof memory);
}

/* Frees what was sent; all that was private stays so. */
static void end(void)
{
    EQ(privates, sents);
    for (uint32_t i = 0; i < sents && i < SENT_CAP; i++)
        free(sent[i].octets);
    OK(!leat_fi_rma_is_busy());
    leat_fi_rma_close();
    leat_fi_outgoing_close();
}

/* The port takes all that it has, and so on. */
static void all_is_taken(void)
{
    for (uint32_t i = 0; i < sents; i++)
        if (sent[i].notify_sent) {
            leat_fi_outgoing_sent(sent[i].cookie);
            sent[i].notify_sent = false;
            leat_fi_rma_go_on();
        }
}

static void peer_says_done(uint32_t number, bool failed, uint64_t result)
{
    uint8_t p[LEAT_FI_RESULT_LEN];
    leat_fi_put_head(p, LEAT_FI_DONE, false, number);
    p[1] = failed;
    leat_put_be64(p + 8, result);
    OK(leat_fi_rma_arrived(PEER, p, sizeof p));
}

static uint64_t put_arrives(uint64_t key, uint64_t offset, const char *text, uint64_t left)
{
    uint8_t p[LEAT_FI_PUT_HEAD + 64];
    const uint64_t len = strlen(text);
    leat_fi_put_head(p, LEAT_FI_PUT, false, 7);
    p[1] = len == left;
    leat_put_be64(p + 8, key);
    leat_put_be64(p + 16, offset);
    leat_put_be64(p + 24, left);
    memcpy(p + LEAT_FI_PUT_HEAD, text, len);
    OK(leat_fi_rma_arrived(PEER, p, LEAT_FI_PUT_HEAD + len));
    return sents ? sent[sents - 1].octets[1] : 2;
}

static uint8_t *get_arrives(uint64_t key, uint64_t offset, uint64_t len)
{
    uint8_t p[LEAT_FI_GET_LEN];
    leat_fi_put_head(p, LEAT_FI_GET, false, 8);
    leat_put_be64(p + 8, key);
    leat_put_be64(p + 16, offset);
    leat_put_be64(p + 24, len);
    OK(leat_fi_rma_arrived(PEER, p, sizeof p));
    return sent[sents - 1].octets;
}

static uint64_t atomic_arrives(uint64_t key, enum leat_fi_atomic atomic, uint8_t len,
                               uint64_t operand, uint64_t compare)
{
    uint8_t p[LEAT_FI_ATOMIC_LEN];
    leat_fi_put_head(p, LEAT_FI_ATOMIC, false, 9);
    p[1] = (uint8_t)(atomic | (len == 4 ? LEAT_FI_HALF : 0));
    leat_put_be64(p + 8, key);
    leat_put_be64(p + 16, 8);
    leat_put_be64(p + 24, operand);
    leat_put_be64(p + 32, compare);
    OK(leat_fi_rma_arrived(PEER, p, sizeof p));
    EQ(sent[sents - 1].len, LEAT_FI_RESULT_LEN);
    return leat_get_be64(sent[sents - 1].octets + 8);
}

static uint64_t word(void)
{
    uint64_t value;
    memcpy(&value, memory + 8, sizeof value);
    return value;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_put_is_done_when_the_target_says_so(void)
{
    int context;
    char text[] = "octets";
    begin();
    const struct leat_fi_access put = { .kind = LEAT_FI_PUT,
                                        .to = PEER,
                                        .key = 5,
                                        .offset = 40,
                                        .octets = text,
                                        .len = 6,
                                        .context = &context };
    EQ(leat_fi_rma_start(&put), 0);
    EQ(sents, 0); /* another may follow */
    leat_fi_rma_release();
    EQ(sents, 1);
    EQ(sent[0].octets[1], 1);
    EQ(sent[0].to, PEER);
    EQ(sent[0].len, LEAT_FI_PUT_HEAD + 6);
    EQ(leat_get_be64(sent[0].octets + 8), 5);
    EQ(leat_get_be64(sent[0].octets + 16), 40);
    EQ(leat_get_be64(sent[0].octets + 24), 6);
    OK(!memcmp(sent[0].octets + LEAT_FI_PUT_HEAD, "octets", 6));
    EQ(dones, 0);
    OK(leat_fi_rma_is_busy());
    peer_says_done(leat_get_be32(sent[0].octets + 4), false, 0);
    EQ(dones, 1);
    OK(done[0].op_context == &context && !done[0].err);
    end();
}

static void a_long_put_goes_in_pieces_as_the_port_takes_them(void)
{
    uint8_t *octets = calloc(LONG_LEN, 1);
    uint64_t at = 0;
    begin();
    const struct leat_fi_access put = {
        .kind = LEAT_FI_PUT, .to = PEER, .offset = 16, .octets = octets, .len = LONG_LEN
    };
    EQ(leat_fi_rma_start(&put), 0);
    leat_fi_rma_release();
    OK(sents > 1 && sents * (uint64_t)LEAT_FI_PIECE_LEN < LONG_LEN); /* the window is full */
    for (uint32_t before = 0; before < sents;) {
        before = sents;
        all_is_taken();
        leat_fi_rma_release();
    }
    EQ(quiets, sents - 1);
    for (uint32_t i = 0; i < sents; i++) {
        EQ(leat_get_be64(sent[i].octets + 16), 16 + at);
        EQ(sent[i].octets[1], i == sents - 1);
        EQ(leat_get_be64(sent[i].octets + 24), LONG_LEN - at);
        at += sent[i].len - LEAT_FI_PUT_HEAD;
    }
    EQ(at, LONG_LEN);
    peer_says_done(leat_get_be32(sent[0].octets + 4), false, 0);
    EQ(dones, 1);
    free(octets);
    end();
}

static void the_last_of_several_puts_asks_for_all(void)
{
    enum { PUTS = 40, LEN = 9000 }; /* no two of them fit into one message */
    static char text[LEN];
    struct leat_fi_access put = { .kind = LEAT_FI_PUT, .to = PEER, .octets = text, .len = LEN };
    uint32_t asks = 0;
    begin();
    for (uint32_t i = 0; i < PUTS; i++)
        EQ(leat_fi_rma_start(&put), 0);
    put.to = PEER + 1;
    EQ(leat_fi_rma_start(&put), 0);
    EQ(sents, PUTS);
    leat_fi_rma_release();
    for (uint32_t i = 0; i < sents; i++)
        asks += sent[i].octets[1];
    EQ(asks, 3); /* one after so many, one at the end, one of the other */
    EQ(quiets, sents - asks);
    OK(sent[PUTS - 1].octets[1] && sent[PUTS].octets[1]);
    peer_says_done(leat_get_be32(sent[PUTS - 1].octets + 4), false, 0);
    EQ(dones, PUTS);
    uint8_t p[LEAT_FI_DONE_LEN];
    leat_fi_put_head(p, LEAT_FI_DONE, false, leat_get_be32(sent[PUTS].octets + 4));
    OK(leat_fi_rma_arrived(PEER + 1, p, sizeof p));
    EQ(dones, PUTS + 1);
    all_is_taken();
    end();
}

/* Two puts, a get and an atomic operation, as one message. */
static void start_several(uint8_t *got, uint64_t *result)
{
    static char text[] = "octets";
    const struct leat_fi_access several[] = {
        { .kind = LEAT_FI_PUT, .to = PEER, .key = 5, .offset = 40, .octets = text, .len = 6 },
        { .kind = LEAT_FI_PUT, .to = PEER, .key = 5, .offset = 50, .octets = text, .len = 5 },
        { .kind = LEAT_FI_GET, .to = PEER, .key = 5, .octets = got, .len = 4 },
        { .kind = LEAT_FI_ATOMIC, .to = PEER, .key = 5, .octets = result, .len = 8 },
    };
    for (size_t i = 0; i < sizeof several / sizeof *several; i++)
        EQ(leat_fi_rma_start(&several[i]), 0);
    EQ(sents, 0);
    leat_fi_rma_release();
    EQ(sents, 1);
    EQ(quiets, 0);
}

static void short_operations_at_one_rank_travel_together(void)
{
    enum { PUT_LEN = LEAT_FI_PUT_HEAD + 6, OTHER_LEN = PUT_LEN - 1 };
    uint8_t got[4], p[LEAT_FI_DONE_LEN + LEAT_FI_PIECE_HEAD + 4 + LEAT_FI_RESULT_LEN];
    uint64_t result = 0;
    begin();
    start_several(got, &result);
    const uint8_t *put = sent[0].octets, *other = put + PUT_LEN, *get = other + OTHER_LEN,
                  *atomic = get + LEAT_FI_GET_LEN;
    EQ(sent[0].len, PUT_LEN + OTHER_LEN + LEAT_FI_GET_LEN + LEAT_FI_ATOMIC_LEN);
    EQ(leat_get_be16(put + 2), PUT_LEN);
    EQ(leat_get_be16(other + 2), OTHER_LEN);
    EQ(leat_get_be16(get + 2), LEAT_FI_GET_LEN);
    EQ(leat_get_be16(atomic + 2), 0); /* up to the end */
    OK(!put[1] && other[1]);          /* the last put asks for both */
    EQ(leat_get_be64(other + 16), 50);
    OK(!memcmp(other + LEAT_FI_PUT_HEAD, "octet", 5));
    uint8_t *next = p;
    leat_fi_put_head(next, LEAT_FI_DONE, false, leat_get_be32(other + 4));
    leat_put_be16(next + 2, LEAT_FI_DONE_LEN);
    next += LEAT_FI_DONE_LEN;
    leat_fi_put_head(next, LEAT_FI_GOT, false, leat_get_be32(get + 4));
    leat_put_be16(next + 2, LEAT_FI_PIECE_HEAD + 4);
    leat_put_be64(next + 8, 0);
    memcpy(next + LEAT_FI_PIECE_HEAD, "abcd", 4);
    next += LEAT_FI_PIECE_HEAD + 4;
    leat_fi_put_head(next, LEAT_FI_DONE, false, leat_get_be32(atomic + 4));
    leat_put_be64(next + 8, 77);
    OK(leat_fi_rma_arrived(PEER, p, sizeof p));
    EQ(dones, 4);
    OK(!memcmp(got, "abcd", 4) && result == 77);
    end();
}

/* What one rank has sent is the other's message here. */
static void answers_to_one_message_travel_together(void)
{
    uint8_t got[4], message[256];
    uint64_t result;
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_READ | FI_REMOTE_WRITE);
    start_several(got, &result);
    const uint64_t len = sent[0].len;
    memcpy(message, sent[0].octets, len);
    for (uint64_t at = 0; at < len; at += leat_get_be16(message + at + 2)) {
        leat_put_be64(message + at + 8, mr->key);
        if (!leat_get_be16(message + at + 2)) break;
    }
    OK(leat_fi_rma_arrived(PEER, message, len));
    EQ(sents, 2);
    const uint8_t *done_put = sent[1].octets, *piece = done_put + LEAT_FI_DONE_LEN;
    OK(done_put[0] == LEAT_FI_DONE && !done_put[1]);
    EQ(leat_get_be16(done_put + 2), LEAT_FI_DONE_LEN);
    EQ(piece[0], LEAT_FI_GOT);
    EQ(sent[1].len, LEAT_FI_DONE_LEN + LEAT_FI_PIECE_HEAD + 4 + LEAT_FI_RESULT_LEN);
    OK(!memcmp(memory + 40, "octets", 6) && !memcmp(memory + 50, "octet", 5));
    OK(leat_fi_rma_arrived(PEER, sent[1].octets, sent[1].len)); /* to this rank: all is done */
    EQ(dones, 4);
    mr->fid.ops->close(&mr->fid);
    end();
}

static void parts_have_sound_lengths(void)
{
    uint8_t p[2 * LEAT_FI_GET_LEN] = { 0 };
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_READ);
    leat_fi_put_head(p, LEAT_FI_GET, false, 8);
    leat_put_be64(p + 8, mr->key);
    leat_put_be64(p + 24, 4);
    leat_put_be16(p + 2, sizeof p + 1);
    OK(!leat_fi_rma_arrived(PEER, p, sizeof p));
    leat_put_be16(p + 2, LEAT_FI_GET_LEN - 1);
    OK(!leat_fi_rma_arrived(PEER, p, sizeof p));
    EQ(sents, 0);
    leat_put_be16(p + 2, LEAT_FI_GET_LEN);
    OK(!leat_fi_rma_arrived(PEER, p, sizeof p)); /* the second is none */
    OK(!leat_fi_rma_arrived(PEER, p, LEAT_FI_GET_LEN + 3));
    leat_fi_rma_release();
    mr->fid.ops->close(&mr->fid);
    end();
}

static void a_failure_of_a_silent_put_is_told_later(void)
{
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_WRITE);
    put_arrives(mr->key + 1, 0, "piece", 6);
    EQ(sents, 0);
    EQ(put_arrives(mr->key, 0, "text", 4), 1);
    EQ(put_arrives(mr->key, 0, "text", 4), 0);
    mr->fid.ops->close(&mr->fid);
    end();
}

static void a_get_is_done_with_its_last_piece(void)
{
    uint8_t in[8] = { 0 }, p[LEAT_FI_PIECE_HEAD + 4];
    begin();
    const struct leat_fi_access get = { .kind = LEAT_FI_GET, .to = PEER, .octets = in, .len = 8 };
    EQ(leat_fi_rma_start(&get), 0);
    leat_fi_rma_release();
    leat_fi_put_head(p, LEAT_FI_GOT, false, leat_get_be32(sent[0].octets + 4));
    memcpy(p + LEAT_FI_PIECE_HEAD, "abcd", 4);
    leat_put_be64(p + 8, 4);
    OK(!leat_fi_rma_arrived(PEER, p, sizeof p)); /* out of order */
    leat_put_be64(p + 8, 0);
    OK(!leat_fi_rma_arrived(PEER + 1, p, sizeof p)); /* not from there */
    OK(leat_fi_rma_arrived(PEER, p, sizeof p));
    EQ(dones, 0);
    leat_put_be64(p + 8, 4);
    OK(leat_fi_rma_arrived(PEER, p, sizeof p));
    EQ(dones, 1);
    OK(!memcmp(in, "abcdabcd", 8));
    OK(!leat_fi_rma_arrived(PEER, p, sizeof p)); /* nothing waits for it any more */
    end();
}

static void results_and_failures_of_atomic_operations(void)
{
    uint64_t result = 0;
    uint32_t half = 0;
    begin();
    struct leat_fi_access add = { .kind = LEAT_FI_ATOMIC,
                                  .to = PEER,
                                  .octets = &result,
                                  .len = 8,
                                  .operand = 3,
                                  .compare = 4,
                                  .atomic = LEAT_FI_COMPARE_AND_SWAP };
    EQ(leat_fi_rma_start(&add), 0);
    leat_fi_rma_release();
    EQ(sent[0].octets[1], LEAT_FI_COMPARE_AND_SWAP);
    EQ(leat_get_be64(sent[0].octets + 24), 3);
    EQ(leat_get_be64(sent[0].octets + 32), 4);
    peer_says_done(leat_get_be32(sent[0].octets + 4), false, UINT64_MAX - 1);
    OK(result == UINT64_MAX - 1);
    add.octets = &half;
    add.len = 4;
    EQ(leat_fi_rma_start(&add), 0);
    leat_fi_rma_release();
    EQ(sent[1].octets[1], LEAT_FI_COMPARE_AND_SWAP | LEAT_FI_HALF);
    peer_says_done(leat_get_be32(sent[1].octets + 4), false, 77);
    EQ(half, 77);
    EQ(leat_fi_rma_start(&add), 0);
    leat_fi_rma_release();
    peer_says_done(leat_get_be32(sent[2].octets + 4), true, 0);
    EQ(done[2].err, FI_EACCES);
    EQ(half, 77);
    end();
}

static void others_read_and_write_only_what_is_open(void)
{
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_READ | FI_REMOTE_WRITE);
    EQ(put_arrives(mr->key, 10, "text", 4), 0);
    EQ(rouses, 1);
    OK(!memcmp(memory + 10, "text", 4));
    const uint8_t *got = get_arrives(mr->key, 11, 3);
    EQ(got[0], LEAT_FI_GOT);
    OK(!memcmp(got + LEAT_FI_PIECE_HEAD, "ext", 3));
    EQ(get_arrives(mr->key, 11, 0)[0], LEAT_FI_DONE);
    EQ(put_arrives(mr->key + 1, 0, "text", 4), 1);
    EQ(put_arrives(mr->key, LONG_LEN - 3, "text", 4), 1);
    EQ(put_arrives(mr->key, UINT64_MAX - 1, "text", 4), 1);
    got = get_arrives(mr->key, LONG_LEN, 1);
    OK(got[0] == LEAT_FI_DONE && got[1]);
    const uint32_t before = sents;
    put_arrives(mr->key, 0, "first of two", 24); /* is not done yet */
    EQ(sents, before);
    mr->fid.ops->close(&mr->fid);
    EQ(put_arrives(mr->key, 0, "text", 4), 1);
    mr = open_memory(FI_REMOTE_READ);
    EQ(put_arrives(mr->key, 0, "text", 4), 1);
    mr->fid.ops->close(&mr->fid);
    end();
}

static void an_old_key_opens_nothing_new(void)
{
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_READ);
    const uint64_t old = mr->key;
    mr->fid.ops->close(&mr->fid);
    mr = open_memory(FI_REMOTE_READ);
    OK(mr->key != old);
    OK(!leat_fi_held_at(old, 0, 1, FI_REMOTE_READ));
    OK(leat_fi_held_at(mr->key, 0, 1, FI_REMOTE_READ) == memory);
    mr->fid.ops->close(&mr->fid);
    end();
}

static void long_answers_go_as_the_port_takes_them(void)
{
    uint64_t at = 0;
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_READ);
    get_arrives(mr->key, 0, LONG_LEN);
    OK(leat_fi_rma_is_busy());
    for (uint32_t before = 0; before < sents;) {
        before = sents;
        all_is_taken();
    }
    for (uint32_t i = 0; i < sents; i++) {
        EQ(leat_get_be64(sent[i].octets + 8), at);
        at += sent[i].len - LEAT_FI_PIECE_HEAD;
    }
    EQ(at, LONG_LEN);
    get_arrives(mr->key, 0, LONG_LEN);
    mr->fid.ops->close(&mr->fid); /* too early: the rest cannot be read */
    for (uint32_t before = 0; before < sents;) {
        before = sents;
        all_is_taken();
    }
    OK(sent[sents - 1].octets[0] == LEAT_FI_DONE && sent[sents - 1].octets[1]);
    end();
}

static void atomic_operations_of_others(void)
{
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_READ | FI_REMOTE_WRITE);
    EQ(atomic_arrives(mr->key, LEAT_FI_ADD, 8, 5, 0), 0);
    EQ(atomic_arrives(mr->key, LEAT_FI_ADD, 8, (uint64_t)-2, 0), 5);
    EQ(atomic_arrives(mr->key, LEAT_FI_SWAP, 8, UINT64_MAX, 0), 3);
    OK(atomic_arrives(mr->key, LEAT_FI_ADD, 4, 1, 0) == UINT32_MAX); /* no carry */
    OK(word() == UINT64_MAX << 32 || word() == UINT64_MAX >> 32);
    EQ(atomic_arrives(mr->key, LEAT_FI_SWAP, 8, 6, 0) != 0, 1);
    EQ(atomic_arrives(mr->key, LEAT_FI_COMPARE_AND_SWAP, 8, 9, 7), 6);
    EQ(word(), 6);
    EQ(atomic_arrives(mr->key, LEAT_FI_COMPARE_AND_SWAP, 8, 9, 6), 6);
    EQ(word(), 9);
    EQ(sent[sents - 1].octets[1], 0);
    atomic_arrives(mr->key + 1, LEAT_FI_ADD, 8, 1, 0);
    EQ(sent[sents - 1].octets[1], 1);
    mr->fid.ops->close(&mr->fid);
    end();
}

static void own_memory_is_not_on_the_network_but_takes_time(void)
{
    uint64_t result = 0;
    char text[] = "12345678";
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_READ | FI_REMOTE_WRITE);
    struct leat_fi_access own = {
        .kind = LEAT_FI_PUT, .to = ME, .key = mr->key, .offset = 8, .octets = text, .len = 8
    };
    const leat_time before = now;
    EQ(leat_fi_rma_start(&own), 0);
    OK(now > before);
    OK(!memcmp(memory + 8, text, 8));
    own.kind = LEAT_FI_GET;
    own.octets = &result;
    EQ(leat_fi_rma_start(&own), 0);
    OK(result == word());
    own.kind = LEAT_FI_ATOMIC;
    own.atomic = LEAT_FI_SWAP;
    own.operand = 4;
    EQ(leat_fi_rma_start(&own), 0);
    EQ(word(), 4);
    own.key++;
    EQ(leat_fi_rma_start(&own), 0);
    EQ(dones, 4);
    EQ(done[3].err, FI_EACCES);
    EQ(sents, 0);
    mr->fid.ops->close(&mr->fid);
    end();
}

/* How long an operation in own memory takes. */
static leat_time time_own(const struct leat_fi_access *own)
{
    const leat_time before = now;
    EQ(leat_fi_rma_start(own), 0);
    return now - before;
}

/* As Open MPI waits for a lock: it swaps if the word is 0. */
static void a_lock_of_own_that_is_taken_is_tried_at_longer_and_longer_intervals(void)
{
    enum { POLL = LEAT_TASK_POLL_PS, SOON = 3 };
    begin();
    struct fid_mr *mr = open_memory(FI_REMOTE_READ | FI_REMOTE_WRITE);
    struct leat_fi_access lock = { .kind = LEAT_FI_ATOMIC,
                                   .to = ME,
                                   .key = mr->key,
                                   .offset = 8,
                                   .len = 8,
                                   .atomic = LEAT_FI_COMPARE_AND_SWAP,
                                   .operand = 1 };
    memset(memory + 8, 0, 8);
    EQ(time_own(&lock), POLL);
    EQ(word(), 1);
    EQ(time_own(&lock), POLL); /* from here on in vain */
    EQ(time_own(&lock), POLL);
    EQ(time_own(&lock), 2 * POLL);
    EQ(time_own(&lock), 4 * POLL);
    arrives_at = now + POLL + SOON;
    EQ(time_own(&lock), POLL + SOON);
    memset(memory + 8, 0, 8); /* that message has released it */
    time_own(&lock);
    EQ(word(), 1);
    lock.offset = 0;
    EQ(time_own(&lock), POLL); /* another one */
    mr->fid.ops->close(&mr->fid);
    end();
}

static uint32_t started, kept;

/* The peer does what it has been asked for. */
static void all_are_done(void)
{
    leat_fi_rma_release();
    EQ(sents, 1);
    all_is_taken();
    kept = started;
    for (uint32_t i = 0; i < started; i++)
        peer_says_done(leat_get_be32(sent[0].octets + i * LEAT_FI_ATOMIC_LEN + 4), false, 0);
}

static void an_adapter_keeps_only_so_many(void)
{
    uint64_t result;
    begin();
    started = kept = 0;
    on_endless_wait = all_are_done;
    const struct leat_fi_access add = {
        .kind = LEAT_FI_ATOMIC, .to = PEER, .octets = &result, .len = 8
    };
    for (; started < DONE_CAP && !kept; started++)
        EQ(leat_fi_rma_start(&add), 0);
    OK(kept > 1 && kept == started - 1); /* one more waits for all */
    EQ(dones, kept);
    leat_fi_rma_release();
    peer_says_done(leat_get_be32(sent[1].octets + 4), false, 0);
    is_simulated = false;
    EQ(leat_fi_rma_start(&add), -FI_EOPBADSTATE);
    is_simulated = true;
    end();
}

static void what_is_none_is_refused(void)
{
    uint8_t p[64] = { LEAT_FI_EAGER };
    begin();
    OK(!leat_fi_rma_arrived(PEER, p, sizeof p));
    p[0] = LEAT_FI_DONE;
    OK(!leat_fi_rma_arrived(PEER, p, sizeof p));
    uint64_t result;
    const struct leat_fi_access add = {
        .kind = LEAT_FI_ATOMIC, .to = PEER, .octets = &result, .len = 8
    };
    EQ(leat_fi_rma_start(&add), 0);
    leat_fi_rma_release();
    leat_put_be32(p + 4, leat_get_be32(sent[0].octets + 4));
    OK(!leat_fi_rma_arrived(PEER, p, LEAT_FI_DONE_LEN)); /* without its result */
    OK(leat_fi_rma_arrived(PEER, p, LEAT_FI_RESULT_LEN));
    end();
}

TAP_MAIN(T(a_put_is_done_when_the_target_says_so),
         T(a_long_put_goes_in_pieces_as_the_port_takes_them),
         T(the_last_of_several_puts_asks_for_all), T(short_operations_at_one_rank_travel_together),
         T(answers_to_one_message_travel_together), T(parts_have_sound_lengths),
         T(a_failure_of_a_silent_put_is_told_later), T(a_get_is_done_with_its_last_piece),
         T(results_and_failures_of_atomic_operations), T(others_read_and_write_only_what_is_open),
         T(an_old_key_opens_nothing_new), T(long_answers_go_as_the_port_takes_them),
         T(atomic_operations_of_others), T(own_memory_is_not_on_the_network_but_takes_time),
         T(a_lock_of_own_that_is_taken_is_tried_at_longer_and_longer_intervals),
         T(an_adapter_keeps_only_so_many), T(what_is_none_is_refused))
