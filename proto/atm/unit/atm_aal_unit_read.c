/*
 * STATE8 and STATE10, and the reading half of STATE0 (note 5.2, R9, R10): deliver complete messages
 * to the tasks that request them, and discard them when they are obsolete.
 */
#include "atm_aal_unit_parts.h"
#include <assert.h>
#include <string.h>

enum { FOUND_CYCLES = 7, MISSED_CYCLES = 66 };

void leat_atm_aal_accept_reads(struct leat_atm_aal_unit *unit, uint64_t now)
{
    const struct leat_atm_aal_command *c = first_command(&unit->read);
    const uint64_t at = c->not_before > unit->read_free_at ? c->not_before : unit->read_free_at;
    if (c->verb != LEAT_ATM_AAL_GET) {
        unit->asked = c->message;
        unit->reading = 1;
        unit->read_free_at = at + WORDS_CYCLES;
        wake_rare(unit, LEAT_ATM_AAL_STATE8, unit->read_free_at);
    } else {
        unit->read_free_at = at + leat_atm_aal_io_cycles(c->len);
        const uint64_t last = unit->read_free_at - 1; /* of an empty one: the cycle before */
        wake_rare(unit, LEAT_ATM_AAL_STATE8, last > now ? last : now + 1);
    }
}

/* The i-th instance that has read a message, or will have. */
static uint32_t *served(const struct leat_atm_aal_unit *unit, uint16_t message, uint32_t i)
{
    enum { NEAR = LEAT_ATM_AAL_SERVED_NEAR, FAR = LEAT_ATM_AAL_SERVED_FAR };
    if (i < NEAR) return &unit->message[message].served[i];
    return &unit->served_far[(size_t)message * FAR + i - NEAR];
}

static bool was_served(const struct leat_atm_aal_unit *unit, uint16_t message, uint32_t instance)
{
    for (uint8_t i = 0; i < unit->message[message].served_count; i++)
        if (*served(unit, message, i) == instance) return true;
    return false;
}

static bool matches(const struct leat_atm_aal_unit *unit, uint16_t message,
                    const struct leat_atm_task_message *asked)
{
    const uint8_t *words = receive_cell(unit, message) + PAYLOAD_AT;
    const uint32_t instance = leat_get_be32(words + INSTANCE_AT);
    return (instance == asked->instance || instance == UINT32_MAX) &&
           leat_get_be32(words + NAME_AT) == asked->name[0] &&
           leat_get_be32(words + NAME_AT + WORD_LEN) == asked->name[1] &&
           leat_get_be32(words + NAME_AT + 2 * WORD_LEN) == asked->name[2] &&
           !was_served(unit, message, asked->instance) &&
           unit->message[message].served_count < LEAT_ATM_AAL_SERVED_MAX;
}

/* Note R10: by source, the oldest first. */
static uint16_t find(const struct leat_atm_aal_unit *unit,
                     const struct leat_atm_task_message *asked)
{
    uint16_t best = NONE;
    for (uint16_t m = unit->open[asked->id % LEAT_ATM_AAL_OPEN_LISTS]; m != NONE;
         m = unit->message[m].next_open) {
        const struct leat_atm_aal_message *a = &unit->message[m], *b = &unit->message[best];
        const bool first = best == NONE || a->source < b->source ||
                           (a->source == b->source && (int32_t)(a->serial - b->serial) < 0);
        if (a->id == asked->id && first && matches(unit, m, asked)) best = m;
    }
    return best;
}

bool leat_atm_aal_unit_has(const struct leat_atm_aal_unit *unit,
                           const struct leat_atm_task_message *asked)
{
    return find(unit, asked) != NONE;
}

/* No other task may read it: it was for one instance of one port, which has it. */
static bool is_closed(const struct leat_atm_aal_message *m)
{
    return m->served_count > 0 && m->stream == TO_ONE && !m->all_instances;
}

static uint16_t *open_list(struct leat_atm_aal_unit *unit, uint16_t message)
{
    return &unit->open[unit->message[message].id % LEAT_ATM_AAL_OPEN_LISTS];
}

static void close_message(struct leat_atm_aal_unit *unit, uint16_t message)
{
    const struct leat_atm_aal_message *m = &unit->message[message];
    if (m->prev_open == NONE)
        *open_list(unit, message) = m->next_open;
    else
        unit->message[m->prev_open].next_open = m->next_open;
    if (m->next_open != NONE) unit->message[m->next_open].prev_open = m->prev_open;
}

static void open_for_readers(struct leat_atm_aal_unit *unit, uint16_t message)
{
    uint16_t *list = open_list(unit, message);
    unit->message[message].prev_open = NONE;
    unit->message[message].next_open = *list;
    if (*list != NONE) unit->message[*list].prev_open = message;
    *list = message;
}

void leat_atm_aal_message_completed(struct leat_atm_aal_unit *unit, uint16_t message, uint64_t now)
{
    struct leat_atm_aal_message *m = &unit->message[message];
    m->complete = 1;
    open_for_readers(unit, message);
    m->next_aging = NONE;
    m->next_obsolete_at = LEAT_NEVER;
    m->obsolete_at = now + unit->config.obsolete_cycles;
    if (unit->aging_head == NONE) {
        unit->aging_head = message;
        wake_rare(unit, LEAT_ATM_AAL_STATE10, m->obsolete_at);
    } else {
        unit->message[unit->aging_tail].next_aging = message;
        unit->message[unit->aging_tail].next_obsolete_at = m->obsolete_at;
    }
    unit->aging_tail = message;
    unit->message_reported = message;
    unit->reported |= LEAT_ATM_AAL_COMPLETE;
}

void leat_atm_aal_unlink_message(struct leat_atm_aal_unit *unit, uint16_t message)
{
    struct leat_atm_aal_peer *peer = &unit->peer[unit->message[message].source];
    uint16_t before = NONE, m = peer->first_message;
    while (m != message) {
        before = m;
        m = unit->message[m].next_of_source;
    }
    if (before == NONE)
        peer->first_message = unit->message[m].next_of_source;
    else
        unit->message[before].next_of_source = unit->message[m].next_of_source;
    if (m == peer->last_message) peer->last_message = before;
    peer->message_count--;
}

void leat_atm_aal_release_message(struct leat_atm_aal_unit *unit, uint16_t message)
{
    for (uint16_t block = message, next; block != NONE; block = next) {
        next = unit->receive_block[block].next_in_message;
        leat_atm_aal_chain_release(&unit->receive, block);
        unit->in_message_count--;
    }
}

static void discard(struct leat_atm_aal_unit *unit, uint16_t message, uint64_t now)
{
    const struct leat_atm_aal_message *m = &unit->message[message];
    if (!is_closed(m)) close_message(unit, message);
    if (m->served_count == 0) unit->counts.discarded_unread++;
    leat_atm_aal_unlink_message(unit, message);
    leat_atm_aal_release_message(unit, message);
    unit->counts.discarded++;
    unit->reported |= LEAT_ATM_AAL_DISCARDED;
    leat_atm_aal_service_parked(unit, m->source, now);
}

void leat_atm_aal_unit_keep(struct leat_atm_aal_unit *unit, uint16_t message)
{
    assert(unit->message[message].complete);
    unit->message[message].kept = 1;
}

/* Note R9: broadcasts and multicasts are discarded in any case, unless they are kept; others once
 * served; none while it is being read. */
static bool may_leave(const struct leat_atm_aal_unit *unit, uint16_t message)
{
    const struct leat_atm_aal_message *m = &unit->message[message];
    return message != unit->message_read &&
           ((m->stream != TO_ONE && !m->kept) || m->served_count > 0);
}

void leat_atm_aal_state10(struct leat_atm_aal_unit *unit, uint64_t now)
{
    while (unit->due[LEAT_ATM_AAL_STATE10] <= now) {
        const uint16_t message = unit->aging_head;
        unit->aging_head = unit->message[message].next_aging;
        unit->due[LEAT_ATM_AAL_STATE10] = unit->message[message].next_obsolete_at;
        if (unit->aging_head != NONE) {
            leat_arena_fetch(&unit->message[unit->aging_head]);
            leat_arena_fetch(&unit->receive_block[unit->aging_head]);
        }
        unit->message[message].expired = 1;
        if (may_leave(unit, message)) discard(unit, message, now);
    }
}

/* The search, in the first cycle after the fifth word; the answer is known later. */
static void answer(struct leat_atm_aal_unit *unit, uint64_t now)
{
    const uint16_t message = find(unit, &unit->asked);
    struct leat_atm_aal_command *c = first_command(&unit->read);
    if (c->verb == LEAT_ATM_AAL_READ && message != NONE)
        c->verb = LEAT_ATM_AAL_GET;
    else
        drop_command(&unit->read);
    unit->due[LEAT_ATM_AAL_STATE8] = LEAT_NEVER;
    if (message == NONE) {
        unit->read.count = 0;
        unit->reading = 0;
        unit->read_free_at = now + MISSED_CYCLES;
        unit->reported |= LEAT_ATM_AAL_DENIED;
        if (unit->nomem && unit->send.busy_count < unit->send.count)
            unit->due[LEAT_ATM_AAL_STATE0] = unit->read_free_at;
    } else {
        struct leat_atm_aal_message *m = &unit->message[message];
        *served(unit, message, m->served_count++) = unit->asked.instance;
        unit->message_read = message;
        if (is_closed(m)) close_message(unit, message);
        unit->read_free_at = now + FOUND_CYCLES;
        if (!unit->config.grants_unreported) unit->reported |= LEAT_ATM_AAL_GRANTED;
    }
    unit->reply_at = unit->read_free_at - 1;
    if (unit->read.count) leat_atm_aal_accept_reads(unit, now);
}

void leat_atm_aal_state8(struct leat_atm_aal_unit *unit, uint64_t now)
{
    if (first_command(&unit->read)->verb != LEAT_ATM_AAL_GET) {
        answer(unit, now);
        return;
    }
    drop_command(&unit->read);
    unit->due[LEAT_ATM_AAL_STATE8] = LEAT_NEVER;
    if (unit->read.count)
        leat_atm_aal_accept_reads(unit, now);
    else
        unit->reported |= LEAT_ATM_AAL_GOT;
}

void leat_atm_aal_unit_read_end(struct leat_atm_aal_unit *unit, uint64_t now)
{
    const uint16_t message = unit->message_read;
    assert(message != NONE);
    unit->message_read = NONE;
    unit->reading = 0;
    if (unit->message[message].expired) discard(unit, message, now);
    if (unit->nomem && unit->send.busy_count < unit->send.count)
        wake(unit, LEAT_ATM_AAL_STATE0, now + 1);
}

void leat_atm_aal_unit_fetch(const struct leat_atm_aal_unit *unit, uint16_t message)
{
    leat_arena_fetch(&unit->message[message]);
    leat_arena_fetch(receive_cell(unit, message));
}

void leat_atm_aal_unit_copy(const struct leat_atm_aal_unit *unit, uint16_t message, uint32_t offset,
                            uint8_t *out, uint32_t len)
{
    uint16_t block = message;
    uint32_t at = offset + LEAT_ATM_TASK_MESSAGE_LEN;
    for (; at >= PAYLOAD_LEN; at -= PAYLOAD_LEN)
        block = unit->receive_block[block].next_in_message;
    while (len > 0 && block != NONE) {
        const uint32_t piece = len < PAYLOAD_LEN - at ? len : PAYLOAD_LEN - at;
        memcpy(out, receive_cell(unit, block) + PAYLOAD_AT + at, piece);
        out += piece;
        len -= piece;
        at = 0;
        block = unit->receive_block[block].next_in_message;
    }
}

uint32_t leat_atm_aal_unit_octets(const struct leat_atm_aal_unit *unit, uint16_t message)
{
    uint32_t blocks = 0;
    for (uint16_t b = message; b != NONE; b = unit->receive_block[b].next_in_message)
        blocks++;
    return leat_atm_aal_message_max(blocks);
}
