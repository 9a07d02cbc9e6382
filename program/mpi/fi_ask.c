#include "fi_ask.h"
#include "fi_message.h"
#include "fi_pool.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include <stdlib.h>
#include <string.h>

/* Of a thread that waits for its answer. */
struct question {
    struct question *next;
    uint64_t cookie;
    bool is_answered;
    struct leat_fi_answer answer;
};

static struct {
    uint64_t questions; /* so far: the cookie of the last */
    struct question *first;
} asked;

static struct question *question_of(uint64_t cookie)
{
    struct question *q = asked.first;
    while (q && q->cookie != cookie)
        q = q->next;
    return q;
}

static void forget(const struct question *done)
{
    struct question **link = &asked.first;
    while (*link != done)
        link = &(*link)->next;
    *link = done->next;
}

void leat_fi_ask_note(const struct leat_task_event *event)
{
    struct leat_mpi_answer head;
    struct question *q = question_of(event->cookie);
    if (!q || event->len < sizeof head) return;
    memcpy(&head, event->octets, sizeof head);
    const size_t len = (size_t)event->len - sizeof head;
    q->answer = (struct leat_fi_answer){ .is_good = head.is_good, .number = head.number };
    if (len) {
        q->answer.value = leat_fi_grown(NULL, len, 1);
        q->answer.len = len;
        memcpy(q->answer.value, event->octets + sizeof head, len);
    }
    q->is_answered = true;
}

struct leat_fi_answer leat_fi_ask(const struct leat_mpi_question *question, const char *key,
                                  const void *value, size_t len)
{
    const size_t all = sizeof *question + question->key_len + len;
    uint8_t *octets = leat_fi_grown(NULL, all, 1);
    memcpy(octets, question, sizeof *question);
    if (question->key_len) memcpy(octets + sizeof *question, key, question->key_len);
    if (len) memcpy(octets + sizeof *question + question->key_len, value, len);
    leat_fi_lock();
    leat_fi_begin_in_init();
    struct question own = { .next = asked.first, .cookie = ++asked.questions };
    asked.first = &own;
    leat_task_call(octets, all, own.cookie);
    while (!own.is_answered)
        leat_fi_message_wait(LEAT_NEVER, leat_fi_call_name(), leat_fi_call_about());
    forget(&own);
    leat_fi_queue_stir(); /* the library goes on, without any message */
    leat_fi_unlock();
    free(octets);
    return own.answer;
}
