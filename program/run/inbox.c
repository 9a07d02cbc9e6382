#include "inbox.h"
#include "child.h"
#include <stdlib.h>

static struct leat_share_event *at(const struct leat_inbox *inbox, uint32_t i)
{
    return &inbox->event[(inbox->first + i) & (inbox->cap - 1)];
}

static void grow(struct leat_inbox *inbox)
{
    enum { FIRST_CAP = 16 };
    const uint32_t cap = inbox->cap ? 2 * inbox->cap : FIRST_CAP;
    struct leat_share_event *event = leat_child_grown(NULL, cap, sizeof *event);
    for (uint32_t i = 0; i < inbox->count; i++)
        event[i] = *at(inbox, i);
    free(inbox->event);
    *inbox = (struct leat_inbox){ .event = event, .count = inbox->count, .cap = cap };
}

void leat_inbox_add(struct leat_inbox *inbox, const struct leat_share_event *event)
{
    if (inbox->count == inbox->cap) grow(inbox);
    uint32_t i = inbox->count++;
    for (; i && at(inbox, i - 1)->at > event->at; i--)
        *at(inbox, i) = *at(inbox, i - 1);
    *at(inbox, i) = *event;
}

const struct leat_share_event *leat_inbox_first(const struct leat_inbox *inbox)
{
    return inbox->count ? at(inbox, 0) : NULL;
}

const struct leat_share_event *leat_inbox_first_loud(const struct leat_inbox *inbox)
{
    enum { MANY = 64 };
    uint32_t i = 0;
    while (i < inbox->count && i < MANY - 1 && at(inbox, i)->is_quiet)
        i++;
    return i < inbox->count ? at(inbox, i) : NULL;
}

void leat_inbox_drop_first(struct leat_inbox *inbox)
{
    inbox->first = (inbox->first + 1) & (inbox->cap - 1);
    inbox->count--;
}

void leat_inbox_free(struct leat_inbox *inbox)
{
    free(inbox->event);
    *inbox = (struct leat_inbox){ 0 };
}
