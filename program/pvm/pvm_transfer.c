/* Messages between tasks, and all other events of the run for this one. */
#include "pvm_library.h"
#include <stdlib.h>

/* An incomplete message of each sender. */
static struct leat_pvm_buffer **unfinished;

/* Messages that have arrived, before handlers have seen them. */
static struct leat_pvm_buffer *fresh_first, **fresh_end = &fresh_first;
static bool in_handler;

static uint64_t pieces_requested, pieces_sent; /* whose sender waits for the port */

/* ---- in -------------------------------------------------------------------------------------- */

static void *needed(void *memory)
{
    if (memory) return memory;
    leat_task_fail("no memory for its messages");
}

static struct leat_pvm_buffer *message_begin(const uint8_t *head)
{
    struct leat_pvm_buffer *message = needed(leat_pvm_buffer_new((int)leat_get_be32(head + 20)));
    message->source = (int)leat_get_be32(head);
    message->destination = (int)leat_get_be32(head + 4);
    if (!message->destination) message->destination = leat_pvm_self.tid;
    message->context = (int)leat_get_be32(head + 8);
    message->tag = (int)leat_get_be32(head + 12);
    message->wait_id = (int)leat_get_be32(head + 16);
    return message;
}

static void come_in(struct leat_pvm_buffer *message)
{
    message->is_read = true;
    message->next = NULL;
    *fresh_end = message;
    fresh_end = &message->next;
}

/* Pieces of one sender arrive in sequence, and its messages are never interleaved. */
static void take_piece(uint32_t from, const uint8_t *octets, uint64_t len)
{
    if (len < LEAT_PVM_PIECE_HEAD || from >= leat_pvm_self.slots) return;
    if (!unfinished) unfinished = needed(calloc(leat_pvm_self.slots, sizeof *unfinished));
    const uint64_t whole = leat_get_be64(octets + 24);
    struct leat_pvm_buffer *message = unfinished[from];
    if (!message) message = message_begin(octets);
    leat_pvm_put(&message->body, octets + LEAT_PVM_PIECE_HEAD, len - LEAT_PVM_PIECE_HEAD);
    needed(message->body.failed ? NULL : message);
    unfinished[from] = message->body.len < whole ? message : NULL;
    if (!unfinished[from]) come_in(message);
}

/* A message from the machine itself. */
static void take_signal(const uint8_t *octets, uint64_t len)
{
    if (len < LEAT_PVM_SIGNAL_HEAD) return;
    struct leat_pvm_buffer *message = needed(leat_pvm_buffer_new(LEAT_PVM_XDR));
    message->source = (int)leat_get_be32(octets);
    message->destination = leat_pvm_self.tid;
    message->context = (int)leat_get_be32(octets + 4);
    message->tag = (int)leat_get_be32(octets + 8);
    leat_pvm_put(&message->body, octets + LEAT_PVM_SIGNAL_HEAD, len - LEAT_PVM_SIGNAL_HEAD);
    come_in(message);
}

static void take_event(const struct leat_task_event *event)
{
    switch (event->kind) {
    case LEAT_TASK_ARRIVED: take_piece(event->task, event->octets, event->len); break;
    case LEAT_TASK_SENT: pieces_sent++; break;
    case LEAT_TASK_COLLECTED: break; /* not asked for */
    case LEAT_TASK_ANSWERED: leat_pvm_note_answer(event->cookie, event->octets, event->len); break;
    case LEAT_TASK_SIGNALLED: take_signal(event->octets, event->len); break;
    }
}

/* The handler has active buffers of its own; the message is freed, unless the handler has done so.
 */
static void call_handler(leat_pvm_handler *handler, struct leat_pvm_buffer *message)
{
    struct leat_pvm_self *self = &leat_pvm_self;
    struct leat_pvm_buffer *send = self->send, *receive = self->receive;
    const int id = message->id;
    self->send = NULL;
    self->receive = message;
    handler(id);
    if (leat_pvm_buffer_find(id) == message) leat_pvm_buffer_free(message);
    self->send = send;
    self->receive = receive;
}

void leat_pvm_dispatch(void)
{
    if (in_handler) return;
    in_handler = true;
    while (fresh_first) {
        struct leat_pvm_buffer *message = fresh_first;
        fresh_first = message->next;
        if (!fresh_first) fresh_end = &fresh_first;
        leat_pvm_handler *handler = leat_pvm_handler_for(message);
        if (leat_pvm_output_is_caught(message))
            leat_pvm_output_show(message);
        else if (handler)
            call_handler(handler, message);
        else
            leat_pvm_queue_append(message);
    }
    in_handler = false;
}

void leat_pvm_take_events(leat_time deadline, const char *call, const char *about)
{
    struct leat_task_event event;
    leat_pvm_self.is_busy = true;
    if (leat_task_wait(deadline, call, about))
        while (leat_task_next(&event)) {
            take_event(&event);
            leat_task_release(&event);
        }
    leat_pvm_self.is_busy = false;
}

/* ---- out ------------------------------------------------------------------------------------- */

static int to_self(struct leat_pvm_buffer *buffer, int tag)
{
    const size_t len = leat_pvm_buffer_len(buffer);
    const bool in_place = buffer->encoding == LEAT_PVM_IN_PLACE;
    struct leat_pvm_buffer *message = leat_pvm_buffer_new(in_place ? LEAT_PVM_RAW
                                                                   : buffer->encoding);
    uint8_t *room = message ? leat_pvm_octets_extend(&message->body, len) : NULL;
    if (!room) {
        leat_pvm_buffer_free(message);
        return PvmNoMem;
    }
    leat_pvm_buffer_copy(buffer, 0, room, len);
    message->source = message->destination = leat_pvm_self.tid;
    message->context = leat_pvm_self.context;
    message->tag = tag;
    message->wait_id = buffer->wait_id;
    come_in(message);
    return PvmOk;
}

void leat_pvm_put_head(uint8_t *to, const struct leat_pvm_buffer *buffer, int tid, int tag)
{
    const bool in_place = buffer->encoding == LEAT_PVM_IN_PLACE;
    leat_put_be32(to, (uint32_t)leat_pvm_self.tid);
    leat_put_be32(to + 4, (uint32_t)tid);
    leat_put_be32(to + 8, (uint32_t)leat_pvm_self.context);
    leat_put_be32(to + 12, (uint32_t)tag);
    leat_put_be32(to + 16, (uint32_t)buffer->wait_id);
    leat_put_be32(to + 20, in_place ? LEAT_PVM_RAW : (uint32_t)buffer->encoding);
    leat_put_be64(to + 24, leat_pvm_buffer_len(buffer));
    leat_put_be64(to + 32, 0);
}

/* All but the last piece wait for the port: so a long message never takes more memory of the run
 * than a piece or two. */
static void send_piece(const struct leat_pvm_buffer *buffer, int tid, int tag, size_t at,
                       size_t len, bool is_last)
{
    uint8_t *room = needed(leat_task_room(LEAT_PVM_PIECE_HEAD + len));
    char about[LEAT_TASK_ABOUT_LEN];
    leat_pvm_put_head(room, buffer, tid, tag);
    leat_put_be64(room + 32, at);
    leat_pvm_buffer_copy(buffer, at, room + LEAT_PVM_PIECE_HEAD, len);
    leat_task_send(leat_pvm_slot_of(tid), room, LEAT_PVM_PIECE_HEAD + len, 0, !is_last);
    if (is_last) return;
    pieces_requested++;
    snprintf(about, sizeof about, " to t%x, tag %d", (unsigned)tid, tag);
    while (pieces_sent < pieces_requested)
        leat_pvm_take_events(LEAT_NEVER, "pvm_send", about);
}

bool leat_pvm_is_reachable(int tid)
{
    const uint32_t slot = leat_pvm_slot_of(tid);
    return slot < leat_pvm_self.slots && leat_pvm_task_tid(slot, leat_task_port_of(slot)) == tid;
}

int leat_pvm_transfer(struct leat_pvm_buffer *buffer, int tid, int tag)
{
    const size_t len = leat_pvm_buffer_len(buffer);
    if (tid == leat_pvm_self.tid) return to_self(buffer, tag);
    if (!leat_pvm_is_reachable(tid)) return PvmOk; /* as to one that has left */
    size_t at = 0;
    leat_task_spend_overhead();
    for (; len - at > LEAT_PVM_PIECE_LEN; at += LEAT_PVM_PIECE_LEN)
        send_piece(buffer, tid, tag, at, LEAT_PVM_PIECE_LEN, false);
    send_piece(buffer, tid, tag, at, len - at, true);
    return PvmOk;
}
