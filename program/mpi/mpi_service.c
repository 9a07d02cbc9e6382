#include "mpi_service.h"
#include "child.h"
#include "mpi_question.h"
#include <stdlib.h>
#include <string.h>

/* A value that was published, or a question that waits: for a value, or for others. */
struct item {
    struct item *next;
    enum leat_mpi_kind kind; /* PUBLISH, LOOKUP or MEET */
    bool goes;               /* a value that is looked up once */
    uint32_t task;
    uint64_t cookie; /* of a question */
    uint32_t key_len;
    size_t value_len;
    uint8_t octets[]; /* the key, then the value */
};

struct leat_mpi_service {
    uint32_t slots;     /* of the hub */
    struct item *first; /* the oldest */
};

/* A question, as it was taken. */
struct asked {
    struct leat_hub *hub;
    uint32_t task;
    uint64_t cookie;
    leat_time at;
    struct leat_mpi_question question;
    const uint8_t *octets; /* the key, then the value */
    size_t value_len;
};

/* ---- items ----------------------------------------------------------------------------------- */

static bool has_key(const struct item *item, enum leat_mpi_kind kind, const struct asked *a)
{
    return item->kind == kind && item->key_len == a->question.key_len &&
           !memcmp(item->octets, a->octets, item->key_len);
}

/* The oldest one of this kind with the key of the question; NULL: none. */
static struct item *find(const struct leat_mpi_service *service, enum leat_mpi_kind kind,
                         const struct asked *a)
{
    struct item *item = service->first;
    while (item && !has_key(item, kind, a))
        item = item->next;
    return item;
}

static void keep(struct leat_mpi_service *service, const struct asked *a)
{
    const size_t len = a->question.key_len + a->value_len;
    struct item *item = leat_child_grown(NULL, 1, sizeof *item + len);
    struct item **end = &service->first;
    *item = (struct item){ .kind = (enum leat_mpi_kind)a->question.kind,
                           .goes = a->question.number,
                           .task = a->task,
                           .cookie = a->cookie,
                           .key_len = a->question.key_len,
                           .value_len = a->value_len };
    if (len) memcpy(item->octets, a->octets, len);
    while (*end)
        end = &(*end)->next;
    *end = item;
}

static void drop(struct leat_mpi_service *service, struct item *item)
{
    struct item **link = &service->first;
    while (*link != item)
        link = &(*link)->next;
    *link = item->next;
    free(item);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void answer(const struct asked *a, bool is_good, uint32_t number)
{
    const struct leat_mpi_answer all = { is_good, number };
    leat_hub_answer(a->hub, a->task, a->cookie, &all, sizeof all, a->at);
}

static void answer_value(const struct asked *a, uint32_t task, uint64_t cookie,
                         const uint8_t *value, size_t len)
{
    const struct leat_mpi_answer head = { .is_good = true };
    uint8_t *all = leat_child_grown(NULL, 1, sizeof head + len);
    memcpy(all, &head, sizeof head);
    if (len) memcpy(all + sizeof head, value, len);
    leat_hub_answer(a->hub, task, cookie, all, sizeof head + len, a->at);
    free(all);
}

/* ---- questions ------------------------------------------------------------------------------- */

static uint32_t count_left(const struct leat_mpi_service *service, const struct leat_hub *hub)
{
    uint32_t count = 0;
    while (leat_hub_next_slots(hub, count + 1) < service->slots)
        count++;
    return count;
}

static void take_slots(const struct leat_mpi_service *service, const struct asked *a)
{
    const uint32_t count = a->question.count, first = leat_hub_next_slots(a->hub, count);
    if (!count || first == service->slots) {
        answer(a, false, count_left(service, a->hub));
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        leat_hub_reserve(a->hub, a->task, first + i);
    answer(a, true, first);
}

static void give_slots_back(const struct asked *a)
{
    for (uint32_t i = 0; i < a->question.count; i++)
        leat_hub_expect_no_more(a->hub, a->question.number + i);
    answer(a, true, 0);
}

/* One that waits for it gets it; all that wait, if it stays. */
static void publish(struct leat_mpi_service *service, const struct asked *a)
{
    const bool goes = a->question.number;
    const struct item *other = find(service, LEAT_MPI_PUBLISH, a);
    const uint8_t *value = a->octets + a->question.key_len;
    struct item *waiter;
    bool is_taken = false;
    if (other && !(goes && other->goes)) {
        answer(a, false, 0);
        return;
    }
    while (!(goes && is_taken) && (waiter = find(service, LEAT_MPI_LOOKUP, a)) != NULL) {
        answer_value(a, waiter->task, waiter->cookie, value, a->value_len);
        drop(service, waiter);
        is_taken = true;
    }
    if (!(goes && is_taken)) keep(service, a);
    answer(a, true, 0);
}

static void look_up(struct leat_mpi_service *service, const struct asked *a)
{
    struct item *found = find(service, LEAT_MPI_PUBLISH, a);
    if (found) {
        answer_value(a, a->task, a->cookie, found->octets + found->key_len, found->value_len);
        if (found->goes) drop(service, found);
    } else if (a->question.number) {
        keep(service, a);
    } else {
        answer(a, false, 0);
    }
}

static void unpublish(struct leat_mpi_service *service, const struct asked *a)
{
    struct item *found = find(service, LEAT_MPI_PUBLISH, a);
    if (found) drop(service, found);
    answer(a, found, 0);
}

static void meet(struct leat_mpi_service *service, const struct asked *a)
{
    uint32_t there = 1;
    struct item *other;
    for (other = service->first; other; other = other->next)
        there += has_key(other, LEAT_MPI_MEET, a);
    if (there < a->question.count) {
        keep(service, a);
        return;
    }
    while ((other = find(service, LEAT_MPI_MEET, a)) != NULL) {
        answer_value(a, other->task, other->cookie, NULL, 0);
        drop(service, other);
    }
    answer(a, true, 0);
}

static void on_call(void *context, struct leat_hub *hub, uint32_t task, uint64_t cookie,
                    const uint8_t *question, size_t len, leat_time at)
{
    struct leat_mpi_service *service = context;
    struct asked a = { .hub = hub, .task = task, .cookie = cookie, .at = at };
    if (len >= sizeof a.question) memcpy(&a.question, question, sizeof a.question);
    if (len < sizeof a.question || a.question.key_len > len - sizeof a.question) {
        leat_hub_stop(hub, LEAT_HUB_FAILED, "a rank asked the run what is no question of MPI");
        return;
    }
    a.octets = question + sizeof a.question;
    a.value_len = len - sizeof a.question - a.question.key_len;
    switch ((enum leat_mpi_kind)a.question.kind) {
    case LEAT_MPI_SLOTS: take_slots(service, &a); break;
    case LEAT_MPI_NO_SLOTS: give_slots_back(&a); break;
    case LEAT_MPI_PUBLISH: publish(service, &a); break;
    case LEAT_MPI_LOOKUP: look_up(service, &a); break;
    case LEAT_MPI_UNPUBLISH: unpublish(service, &a); break;
    case LEAT_MPI_MEET: meet(service, &a); break;
    }
}

/* ---- interface ------------------------------------------------------------------------------- */

struct leat_mpi_service *leat_mpi_service_create(uint32_t slots)
{
    struct leat_mpi_service *service = leat_child_grown(NULL, 1, sizeof *service);
    *service = (struct leat_mpi_service){ .slots = slots };
    return service;
}

void leat_mpi_service_destroy(struct leat_mpi_service *service)
{
    while (service->first)
        drop(service, service->first);
    free(service);
}

struct leat_hub_service leat_mpi_service_hooks(struct leat_mpi_service *service)
{
    return (struct leat_hub_service){ .context = service, .call = on_call, .only_answers = true };
}
