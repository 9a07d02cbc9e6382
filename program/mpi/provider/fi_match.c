#include "fi_match.h"
#include <stdlib.h>

enum {
    FIRST_BUCKETS = 64,
    NO_CLASS = LEAT_FI_MATCH_CLASSES,
};

typedef struct leat_fi_match_link link_t;
typedef struct leat_fi_match_receive receive_t;
typedef struct leat_fi_match_message message_t;

/* ---- circular lists -------------------------------------------------------------------------- */

static void ring_init(link_t *head)
{
    head->next = head->before = head;
}

static void append(link_t *head, link_t *link)
{
    link->next = head;
    link->before = head->before;
    head->before->next = link;
    head->before = link;
}

static void unlink_from_ring(link_t *link)
{
    link->before->next = link->next;
    link->next->before = link->before;
}

static receive_t *receive_of(link_t *link)
{
    return (receive_t *)(void *)((uint8_t *)link - offsetof(receive_t, link));
}

static message_t *message_in_order(link_t *link)
{
    return (message_t *)(void *)((uint8_t *)link - offsetof(message_t, order));
}

static message_t *message_of(link_t *link, uint32_t class)
{
    uint8_t *first = (uint8_t *)(link - class);
    return (message_t *)(void *)(first - offsetof(message_t, link));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static uint64_t hash(uint64_t from, uint64_t tag)
{
    uint64_t h = (tag ^ from * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static bool table_init(struct leat_fi_match_table *table, size_t buckets)
{
    link_t *bucket = malloc(buckets * sizeof *bucket);
    if (!bucket) return false;
    for (size_t i = 0; i < buckets; i++)
        ring_init(&bucket[i]);
    *table = (struct leat_fi_match_table){ .bucket = bucket, .buckets = buckets };
    return true;
}

static link_t *bucket_of(const struct leat_fi_match_table *table, uint64_t key)
{
    return &table->bucket[key & (table->buckets - 1)];
}

static void table_add(struct leat_fi_match_table *table, link_t *link, uint64_t key)
{
    append(bucket_of(table, key), link);
    table->count++;
}

static void table_remove(struct leat_fi_match_table *table, link_t *link)
{
    unlink_from_ring(link);
    table->count--;
}

/* ---- classes --------------------------------------------------------------------------------- */

static uint64_t key_in(const struct leat_fi_match_class *class, uint64_t from, uint64_t tag)
{
    return hash(class->any ? 0 : from, tag & ~class->ignore);
}

static uint64_t key_of_link(const struct leat_fi_match *match, uint32_t c, link_t *link,
                            bool is_message)
{
    const struct leat_fi_match_class *class = &match->class[c];
    if (is_message) {
        const message_t *message = message_of(link, c);
        return key_in(class, message->from, message->tag);
    }
    const receive_t *receive = receive_of(link);
    return key_in(class, receive->from, receive->tag);
}

/* Four times as many buckets; without memory for them it stays as it is. Entries of one key come
 * from one bucket and go to one bucket: they stay in order. */
static void grow(struct leat_fi_match *match, uint32_t c, struct leat_fi_match_table *table,
                 bool is_message)
{
    struct leat_fi_match_table wide;
    if (table->count < 2 * table->buckets || !table_init(&wide, 4 * table->buckets)) return;
    for (size_t i = 0; i < table->buckets; i++)
        while (table->bucket[i].next != &table->bucket[i]) {
            link_t *link = table->bucket[i].next;
            unlink_from_ring(link);
            table_add(&wide, link, key_of_link(match, c, link, is_message));
        }
    free(table->bucket);
    *table = wide;
}

static void add_kept(struct leat_fi_match *match, uint32_t c, message_t *message)
{
    struct leat_fi_match_class *class = &match->class[c];
    grow(match, c, &class->kept, true);
    table_add(&class->kept, &message->link[c], key_in(class, message->from, message->tag));
}

static uint32_t new_class(struct leat_fi_match *match, uint64_t ignore, bool any)
{
    if (match->classes == LEAT_FI_MATCH_CLASSES) return NO_CLASS;
    const uint32_t c = match->classes;
    struct leat_fi_match_class *class = &match->class[c];
    *class = (struct leat_fi_match_class){ .ignore = ignore, .any = any };
    if (!table_init(&class->posted, FIRST_BUCKETS)) return NO_CLASS;
    if (!table_init(&class->kept, FIRST_BUCKETS)) {
        free(class->posted.bucket);
        return NO_CLASS;
    }
    match->classes++;
    for (link_t *l = match->kept.next; l != &match->kept; l = l->next)
        add_kept(match, c, message_in_order(l));
    return c;
}

static uint32_t class_of(struct leat_fi_match *match, uint64_t from, uint64_t ignore)
{
    const bool any = from == LEAT_FI_MATCH_ANY;
    for (uint32_t c = 0; c < match->classes; c++)
        if (match->class[c].ignore == ignore && match->class[c].any == any) return c;
    return new_class(match, ignore, any);
}

/* ---- searching ------------------------------------------------------------------------------- */

static bool wants(uint64_t from, uint64_t tag, uint64_t ignore, const message_t *message)
{
    return (from == LEAT_FI_MATCH_ANY || from == message->from) &&
           !((tag ^ message->tag) & ~ignore);
}

static bool receive_wants(const receive_t *receive, const message_t *message)
{
    return wants(receive->from, receive->tag, receive->ignore, message);
}

static receive_t *first_posted(link_t *ring, const message_t *message)
{
    for (link_t *l = ring->next; l != ring; l = l->next)
        if (receive_wants(receive_of(l), message)) return receive_of(l);
    return NULL;
}

static receive_t *older(receive_t *a, receive_t *b)
{
    if (!a || !b) return a ? a : b;
    return a->number < b->number ? a : b;
}

static receive_t *oldest_posted(struct leat_fi_match *match, const message_t *message)
{
    receive_t *oldest = first_posted(&match->posted_others, message);
    for (uint32_t c = 0; c < match->classes; c++) {
        const struct leat_fi_match_class *class = &match->class[c];
        if (!class->posted.count) continue;
        const uint64_t key = key_in(class, message->from, message->tag);
        oldest = older(oldest, first_posted(bucket_of(&class->posted, key), message));
    }
    return oldest;
}

static message_t *oldest_kept(struct leat_fi_match *match, uint32_t c, uint64_t from, uint64_t tag,
                              uint64_t ignore)
{
    if (c == NO_CLASS) {
        for (link_t *l = match->kept.next; l != &match->kept; l = l->next)
            if (wants(from, tag, ignore, message_in_order(l))) return message_in_order(l);
        return NULL;
    }
    const struct leat_fi_match_class *class = &match->class[c];
    link_t *bucket = bucket_of(&class->kept, key_in(class, from, tag));
    for (link_t *l = bucket->next; l != bucket; l = l->next)
        if (wants(from, tag, ignore, message_of(l, c))) return message_of(l, c);
    return NULL;
}

/* ---- interface ------------------------------------------------------------------------------- */

void leat_fi_match_init(struct leat_fi_match *match)
{
    *match = (struct leat_fi_match){ 0 };
    ring_init(&match->posted_others);
    ring_init(&match->kept);
}

void leat_fi_match_free(struct leat_fi_match *match)
{
    for (uint32_t c = 0; c < match->classes; c++) {
        free(match->class[c].posted.bucket);
        free(match->class[c].kept.bucket);
    }
    leat_fi_match_init(match);
}

receive_t *leat_fi_match_offer(struct leat_fi_match *match, const message_t *message)
{
    receive_t *receive = oldest_posted(match, message);
    if (receive) leat_fi_match_withdraw(match, receive);
    return receive;
}

void leat_fi_match_keep(struct leat_fi_match *match, message_t *message)
{
    append(&match->kept, &message->order);
    for (uint32_t c = 0; c < match->classes; c++)
        add_kept(match, c, message);
}

message_t *leat_fi_match_post(struct leat_fi_match *match, receive_t *receive)
{
    receive->class = class_of(match, receive->from, receive->ignore);
    message_t *message = oldest_kept(match, receive->class, receive->from, receive->tag,
                                     receive->ignore);
    if (message) {
        leat_fi_match_take(match, message);
        return message;
    }
    receive->number = match->next_number++;
    if (receive->class == NO_CLASS) {
        append(&match->posted_others, &receive->link);
        return NULL;
    }
    struct leat_fi_match_class *class = &match->class[receive->class];
    grow(match, receive->class, &class->posted, false);
    table_add(&class->posted, &receive->link, key_in(class, receive->from, receive->tag));
    return NULL;
}

message_t *leat_fi_match_peek(struct leat_fi_match *match, uint64_t from, uint64_t tag,
                              uint64_t ignore)
{
    return oldest_kept(match, class_of(match, from, ignore), from, tag, ignore);
}

void leat_fi_match_take(struct leat_fi_match *match, message_t *message)
{
    unlink_from_ring(&message->order);
    for (uint32_t c = 0; c < match->classes; c++)
        table_remove(&match->class[c].kept, &message->link[c]);
}

void leat_fi_match_withdraw(struct leat_fi_match *match, receive_t *receive)
{
    if (receive->class == NO_CLASS)
        unlink_from_ring(&receive->link);
    else
        table_remove(&match->class[receive->class].posted, &receive->link);
}

message_t *leat_fi_match_first(struct leat_fi_match *match)
{
    return match->kept.next == &match->kept ? NULL : message_in_order(match->kept.next);
}
