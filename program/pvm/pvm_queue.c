/* Messages that wait to be received, the matching functions that choose among them, and handlers
 * that take them at once. */
#include "pvm_library.h"
#include <stdlib.h>

static struct leat_pvm_buffer *first, **end = &first;

/* ---- the queue ------------------------------------------------------------------------------- */

static int match_default(int id, int tid, int tag)
{
    const struct leat_pvm_buffer *message = leat_pvm_buffer_find(id);
    return message && message->context == leat_pvm_self.context &&
           (tid == -1 || tid == message->source) && (tag == -1 || tag == message->tag);
}

static leat_pvm_match *match = match_default;

leat_pvm_match *leat_pvm_set_match(leat_pvm_match *fresh)
{
    leat_pvm_match *old = match;
    match = fresh ? fresh : match_default;
    return old;
}

void leat_pvm_queue_append(struct leat_pvm_buffer *message)
{
    message->is_queued = true;
    message->next = NULL;
    *end = message;
    end = &message->next;
}

int leat_pvm_queue_search(int tid, int tag, struct leat_pvm_buffer **out)
{
    int best = 0;
    *out = NULL;
    for (struct leat_pvm_buffer *m = first; m; m = m->next) {
        const int rank = match(m->id, tid, tag);
        if (rank < 0) return rank;
        if (rank > best) {
            best = rank;
            *out = m;
        }
        if (rank == 1) { /* this one; stop searching */
            *out = m;
            break;
        }
    }
    return *out != NULL;
}

void leat_pvm_queue_remove(struct leat_pvm_buffer *message)
{
    if (!message->is_queued) return;
    message->is_queued = false;
    for (struct leat_pvm_buffer **m = &first; *m; m = &(*m)->next) {
        if (*m != message) continue;
        *m = message->next;
        if (end == &message->next) end = m;
        message->next = NULL;
        return;
    }
}

/* ---- handlers -------------------------------------------------------------------------------- */

struct handler {
    int source, tag, context;
    leat_pvm_handler *call; /* NULL: a free place */
};

static struct handler *handler;
static int handler_count;

static bool covers(int wanted, int actual)
{
    return wanted == -1 || wanted == actual;
}

static int free_place(void)
{
    for (int i = 0; i < handler_count; i++)
        if (!handler[i].call) return i;
    struct handler *more = reallocarray(handler, (size_t)handler_count + 1, sizeof *handler);
    if (!more) return PvmNoMem;
    handler = more;
    return handler_count++;
}

int leat_pvm_handler_add(int source, int tag, int context, leat_pvm_handler *call)
{
    for (int i = 0; i < handler_count; i++)
        if (handler[i].call && handler[i].source == source && handler[i].tag == tag &&
            handler[i].context == context)
            return PvmExists;
    const int id = free_place();
    if (id >= 0) handler[id] = (struct handler){ source, tag, context, call };
    return id;
}

int leat_pvm_handler_delete(int id)
{
    if (id < 0) return PvmBadParam;
    if (id >= handler_count || !handler[id].call) return PvmNotFound;
    handler[id].call = NULL;
    return PvmOk;
}

leat_pvm_handler *leat_pvm_handler_for(const struct leat_pvm_buffer *message)
{
    for (int i = 0; i < handler_count; i++) {
        const struct handler *h = &handler[i];
        if (h->call && covers(h->source, message->source) && covers(h->tag, message->tag) &&
            covers(h->context, message->context))
            return h->call;
    }
    return NULL;
}

void leat_pvm_handlers_show(void)
{
    for (int i = 0; i < handler_count; i++)
        if (handler[i].call)
            printf("message handler %d: source %x, tag %d, context %d\n", i,
                   (unsigned)handler[i].source, handler[i].tag, handler[i].context);
}
