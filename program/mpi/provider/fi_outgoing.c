#include "fi_outgoing.h"

/* A message with a SENT event, and all that went before it. */
struct mark {
    uint64_t handed; /* up to its end */
    uint32_t owner;
    bool is_owed;
};

static struct {
    struct leat_fi_pool marks;
    uint64_t handed, taken; /* octets, in total */
    uint64_t unmarked;      /* octets at the end that no mark covers */
    uint32_t marked;        /* messages with a SENT event */
    uint32_t owed;          /* of these: the rank must wait for them */
    uint32_t held_to;
    uint8_t *held; /* NULL: none */
    uint64_t held_len;
} out = { .marks = { .size = sizeof(struct mark) } };

void leat_fi_outgoing_close(void)
{
    leat_fi_pool_free(&out.marks);
}

uint8_t *leat_fi_outgoing_room(uint64_t len)
{
    uint8_t *octets = leat_task_room(len);
    if (!octets) leat_task_fail("the memory of the run has no room for its messages");
    return octets;
}

static uint64_t not_taken(void)
{
    return out.handed - out.taken + (out.held ? out.held_len : 0);
}

bool leat_fi_outgoing_has_room(uint64_t len)
{
    return !out.marked || not_taken() + len <= LEAT_FI_WINDOW;
}

bool leat_fi_outgoing_is_buffered(uint64_t len)
{
    return not_taken() + len <= LEAT_FI_BUFFER;
}

static void send_now(uint32_t to, uint8_t *octets, uint64_t len, uint32_t owner, bool is_owed)
{
    const bool is_reported = owner != LEAT_FI_NOBODY || is_owed ||
                             out.unmarked + len > LEAT_FI_BUFFER / 2;
    uint64_t cookie = 0;
    out.handed += len;
    out.unmarked = is_reported ? 0 : out.unmarked + len;
    if (is_reported) {
        const uint32_t number = leat_fi_pool_take(&out.marks);
        struct mark *mark = leat_fi_pool_at(&out.marks, number);
        *mark = (struct mark){ out.handed, owner, is_owed };
        cookie = number;
        out.marked++;
        out.owed += is_owed;
    }
    leat_task_send(to, octets, len, cookie, is_reported);
}

static void send_held(bool is_owed)
{
    uint8_t *octets = out.held;
    if (!octets) return;
    out.held = NULL;
    send_now(out.held_to, octets, out.held_len, LEAT_FI_NOBODY, is_owed);
}

void leat_fi_outgoing_hand(uint32_t to, uint8_t *octets, uint64_t len, uint32_t owner)
{
    send_held(true);
    send_now(to, octets, len, owner, false);
}

void leat_fi_outgoing_hold(uint32_t to, uint8_t *octets, uint64_t len)
{
    send_held(true);
    out.held = octets;
    out.held_to = to;
    out.held_len = len;
}

/* A large one has a SENT event anyway, so it is owed all the same. */
void leat_fi_outgoing_release(void)
{
    send_held(out.unmarked + out.held_len > LEAT_FI_BUFFER / 2);
}

void leat_fi_outgoing_settle(void (*wait)(void))
{
    send_held(true);
    while (out.owed)
        wait();
}

uint32_t leat_fi_outgoing_sent(uint64_t cookie)
{
    const struct mark *mark = leat_fi_pool_at(&out.marks, (uint32_t)cookie);
    const uint32_t owner = mark->owner;
    if (mark->handed > out.taken) out.taken = mark->handed;
    out.marked--;
    out.owed -= mark->is_owed;
    leat_fi_pool_give(&out.marks, (uint32_t)cookie);
    return owner;
}
