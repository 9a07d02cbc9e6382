#include "sim_post.h"
#include "leat_heap.h"
#include "leat_sort.h"
#include <assert.h>
#include <string.h>

/* ---- messages ------------------------------------------------------------------------------- */

void *leat_sim_post_lay(struct leat_sim_post *post, struct leat_arena *arena, uint32_t entries_max,
                        size_t entry_size, size_t plans_max)
{
    post->entries_max = entries_max;
    post->entry_size = entry_size;
    post->entry = leat_arena_lay(arena, entries_max, entry_size);
    post->plan = leat_arena_lay(arena, plans_max, sizeof *post->plan);
    post->event = leat_arena_lay(arena, (size_t)2 * entries_max, sizeof *post->event);
    return post->entry;
}

void leat_sim_post_init(struct leat_sim_post *post, struct leat_port_net *net)
{
    post->net = net;
    leat_sim_certificate_init(&post->certificate);
    net->certificate = leat_sim_certificate_value(&post->certificate);
}

static struct leat_sim_letter *letter(const struct leat_sim_post *post, uint32_t entry)
{
    return (void *)((char *)post->entry + entry * post->entry_size); /* its first member */
}

bool leat_sim_post_accept(struct leat_sim_post *post, const struct leat_port_message *message,
                          leat_time at, uint32_t *entry)
{
    struct leat_port_net *net = post->net;
    assert(at >= net->now && message->from < net->ports && message->to < net->ports);
    (void)at;
    if (!post->free && post->top == post->entries_max) return false;
    *entry = post->free ? post->free - 1 : post->top++;
    struct leat_sim_letter *l = letter(post, *entry);
    if (post->free) post->free = l->next;
    memset(l, 0, post->entry_size);
    l->message = *message;
    l->call = post->calls++;
    net->in_flight++;
    return true;
}

void leat_sim_post_append(struct leat_sim_post *post, uint32_t entry, uint32_t *first,
                          uint32_t *last)
{
    letter(post, entry)->next = 0;
    *(*first ? &letter(post, *last - 1)->next : first) = entry + 1;
    *last = entry + 1;
}

void leat_sim_post_free(struct leat_sim_post *post, uint32_t entry)
{
    letter(post, entry)->next = post->free;
    post->free = entry + 1;
}

/* ---- plans ---------------------------------------------------------------------------------- */

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct leat_sim_plan *x = a, *y = b;
    (void)context;
    return x->at != y->at ? x->at < y->at : x->call < y->call;
}

static inline struct leat_heap heap_of(const struct leat_sim_post *post)
{
    return (
        struct leat_heap){ .element = post->plan, .size = sizeof *post->plan, .before = is_before };
}

void leat_sim_post_plan(struct leat_sim_post *post, struct leat_sim_plan more)
{
    const struct leat_heap heap = heap_of(post);
    leat_heap_push(&heap, &post->plans, &more);
}

struct leat_sim_plan leat_sim_post_take(struct leat_sim_post *post)
{
    const struct leat_heap heap = heap_of(post);
    struct leat_sim_plan top;
    leat_heap_take(&heap, &post->plans, &top);
    return top;
}

void leat_sim_post_sort_plans(struct leat_sim_post *post)
{
    const uint32_t plans = post->plans;
    for (post->plans = 0; post->plans < plans;)
        leat_sim_post_plan(post, post->plan[post->plans]);
}

/* ---- news ----------------------------------------------------------------------------------- */

void leat_sim_post_note(struct leat_sim_post *post, uint32_t entry, bool sent)
{
    const struct leat_port_message *message = &letter(post, entry)->message;
    const uint64_t port = sent ? message->from : message->to;
    const uint32_t place = post->events++;
    post->event[place] = (struct leat_sim_news){ .order = port << 32 | (uint64_t)sent << 31 | place,
                                                 .entry = entry };
}

static bool comes_before(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct leat_sim_news *)a)->order < ((const struct leat_sim_news *)b)->order;
}

static void sort(struct leat_sim_news *news, uint32_t count)
{
    leat_sort(news, count, sizeof *news, comes_before, NULL);
}

uint64_t leat_sim_post_hash(const struct leat_port_message *message, const uint8_t *octets,
                            uint64_t len)
{
    return message->is_private ? len : leat_sim_payload_hash(octets, (size_t)len);
}

static uint64_t certify(struct leat_sim_post *post, const struct leat_sim_letter *l)
{
    const struct leat_port_message *message = &l->message;
    const struct leat_sim_delivery delivery = {
        .at = post->net->now,
        .source = message->from,
        .destination = message->to,
        .number = l->number,
        .payload_hash = leat_sim_post_hash(message, message->octets, message->len),
    };
    leat_sim_certificate_add(&post->certificate, &delivery);
    return leat_sim_certificate_value(&post->certificate);
}

static void end(struct leat_sim_post *post, uint32_t entry)
{
    struct leat_port_net *net = post->net;
    struct leat_sim_letter *l = letter(post, entry);
    net->in_flight--;
    if (l->why) {
        net->observer.lost(net->observer.context, &l->message, l->why, net->now);
    } else {
        if (!post->is_certified) net->certificate = certify(post, l);
        net->observer.arrived(net->observer.context, &l->message, net->now);
    }
    l->has_ended = true;
    if (!l->held) leat_sim_post_free(post, entry);
}

void leat_sim_post_report(struct leat_sim_post *post, leat_time at)
{
    struct leat_port_net *net = post->net;
    sort(post->event, post->events);
    if (at > net->now) net->now = at;
    for (uint32_t i = 0; i < post->events; i++) {
        const uint32_t entry = post->event[i].entry;
        if (post->event[i].order >> 31 & 1)
            net->observer.sent(net->observer.context, &letter(post, entry)->message, net->now);
        else
            end(post, entry);
    }
    post->events = 0;
}

bool leat_sim_post_report_head(struct leat_sim_post *post, const struct leat_port_message *message,
                               leat_time from, leat_time until, leat_time at)
{
    struct leat_port_net *net = post->net;
    if (!net->observer.head) return false;
    if (at > net->now) net->now = at;
    post->has_head = true;
    net->observer.head(net->observer.context, message, from, until);
    return true;
}

/* ---- a run ---------------------------------------------------------------------------------- */

bool leat_sim_post_begin(struct leat_sim_post *post, leat_time until)
{
    post->has_head = false;
    return until > post->net->now && (until != LEAT_NEVER || post->net->in_flight);
}

leat_time leat_sim_post_end(struct leat_sim_post *post, leat_time at, leat_time until)
{
    if (post->events)
        leat_sim_post_report(post, at);
    else if (!post->has_head && until != LEAT_NEVER)
        post->net->now = until;
    return post->net->now;
}
