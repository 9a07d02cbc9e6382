/*
 * Reductions of groups by the network. A member's query, after the group's name and the instance of
 * the root:
 *
 *     tag | what is computed | items | enum leat_port_fold, or -1 | then, why | words (64 bits)
 *
 * Only the root waits for the result. A member may go on, and call anything else, before others
 * come: so calls belong together that are alike in all this, the k-th of each member. Who carries
 * them out is decided by the first member that comes, for all:
 *
 *     network   the group is settled (pvm_service_group.c)
 *     hosts     otherwise; and as long as some members are behind, so that all do the same
 *
 * A fold is kept only while some members are behind. One of the network has the members that were
 * there when it began: who joins waits until it is over, and of who leaves the hosts hand over
 * neutral words.
 */
#include "pvm_service_parts.h"
#include <stdlib.h>
#include <string.h>

enum { FOLDS_MAX = 64, WORD_LEN = sizeof(uint64_t) };

struct part {
    int tid;
    bool has_left;
    uint64_t entered; /* operations */
};

struct leat_pvm_fold {
    struct leat_pvm_fold *next;
    int root, tag, kind, items; /* root: a tid */
    enum leat_port_fold fold;
    uint32_t words;
    enum leat_collect_carrier carrier;
    uint32_t net; /* a group of the hub; 0: by hosts */
    struct part *part;
    int parts;
};

/* ---- folds ----------------------------------------------------------------------------------- */

static struct leat_pvm_fold *find(const struct leat_pvm_group *group,
                                  const struct leat_pvm_fold *like)
{
    struct leat_pvm_fold *f = group->folds;
    while (f && (f->root != like->root || f->tag != like->tag || f->kind != like->kind ||
                 f->items != like->items))
        f = f->next;
    return f;
}

static void add_part(struct leat_pvm_fold *fold, int tid, uint64_t entered)
{
    fold->part = leat_child_grown(fold->part, (size_t)fold->parts + 1, sizeof *fold->part);
    fold->part[fold->parts++] = (struct part){ .tid = tid, .entered = entered };
}

static struct part *part_of(const struct leat_pvm_fold *fold, int tid)
{
    for (int i = 0; i < fold->parts; i++)
        if (fold->part[i].tid == tid && !fold->part[i].has_left) return &fold->part[i];
    return NULL;
}

/* Operations that all members have entered, and that any has. */
static void extent(const struct leat_pvm_fold *fold, uint64_t *all, uint64_t *any)
{
    *all = UINT64_MAX;
    *any = 0;
    for (int i = 0; i < fold->parts; i++) {
        const struct part *p = &fold->part[i];
        if (!p->has_left && p->entered < *all) *all = p->entered;
        if (p->entered > *any) *any = p->entered;
    }
}

static enum leat_collect_carrier carrier_for(const struct leat_pvm_service *service,
                                             const struct leat_pvm_group *group,
                                             const struct leat_pvm_fold *fold)
{
    const struct leat_port_means *means = leat_hub_means(service->hub);
    if (!means || !(means->folds & 1u << fold->fold)) return LEAT_COLLECT_OPERATION;
    if (fold->words > means->words_max) return LEAT_COLLECT_LENGTH;
    return group->is_settled ? LEAT_COLLECT_BY_NETWORK : LEAT_COLLECT_MEMBERS;
}

static struct leat_pvm_fold *open_fold(struct leat_pvm_service *service,
                                       struct leat_pvm_group *group,
                                       const struct leat_pvm_fold *like)
{
    int count = 0;
    for (const struct leat_pvm_fold *f = group->folds; f; f = f->next)
        count++;
    group->has_untold |= count == FOLDS_MAX;
    if (group->has_untold) return NULL;
    struct leat_pvm_fold *fold = leat_child_grown(NULL, 1, sizeof *fold);
    *fold = *like;
    fold->carrier = carrier_for(service, group, fold);
    if (fold->carrier == LEAT_COLLECT_BY_NETWORK)
        fold->carrier = leat_pvm_group_enter(service, group, &fold->net);
    for (int i = 0; i < group->cap; i++)
        if (group->member[i]) add_part(fold, group->member[i], 0);
    fold->next = group->folds;
    group->folds = fold;
    return fold;
}

static void drop(struct leat_pvm_service *service, struct leat_pvm_group *group,
                 struct leat_pvm_fold *fold)
{
    struct leat_pvm_fold **link = &group->folds;
    while (*link != fold)
        link = &(*link)->next;
    *link = fold->next;
    if (fold->net) leat_hub_disband(service->hub, fold->net);
    free(fold->part);
    free(fold);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void hand_over(struct leat_pvm_service *service, const struct leat_pvm_fold *fold, int tid,
                      const uint64_t *word, uint64_t cookie)
{
    leat_hub_part(service->hub, fold->net, leat_pvm_slot_of(tid), fold->fold, word, fold->words,
                  cookie, leat_time_add(service->at, leat_hub_overhead(service->hub)));
}

/* Of a member that has left: words that change no result. */
static void hand_over_neutral(struct leat_pvm_service *service, const struct leat_pvm_fold *fold,
                              int tid)
{
    const bool is_ones = fold->fold == LEAT_PORT_AND || fold->fold == LEAT_PORT_MIN;
    uint64_t *word = leat_child_grown(NULL, fold->words + 1, WORD_LEN);
    memset(word, is_ones ? 0xff : 0, fold->words * WORD_LEN);
    hand_over(service, fold, tid, word, 0);
    free(word);
}

/* Some members have come further: those that have left follow. The fold ends if nobody is behind.
 */
static void go_on(struct leat_pvm_service *service, struct leat_pvm_group *group,
                  struct leat_pvm_fold *fold)
{
    uint64_t all, any;
    extent(fold, &all, &any);
    for (int i = 0; i < fold->parts && fold->net; i++)
        for (struct part *p = &fold->part[i]; p->has_left && p->entered < any; p->entered++)
            hand_over_neutral(service, fold, p->tid);
    if (all >= any) drop(service, group, fold);
}

static int answer_by_hosts(const struct leat_pvm_group *group, struct leat_pvm_entry *entry,
                           enum leat_collect_carrier carrier)
{
    leat_pvm_put_i32(&entry->answer, (int)carrier);
    return leat_pvm_group_list(group, entry);
}

/* The root waits, the others have only to know that nothing else is to be done. */
static int answer_by_network(const struct leat_pvm_group *group, struct leat_pvm_entry *entry,
                             int root)
{
    if (entry->tid != root) {
        leat_pvm_put_i32(&entry->answer, LEAT_COLLECT_BY_NETWORK);
        return PvmOk;
    }
    entry->waits = LEAT_PVM_WAITS_NETWORK;
    entry->round = UINT64_MAX; /* no barrier */
    snprintf(entry->waits_name, sizeof entry->waits_name, "%s", group->name);
    return LEAT_PVM_LATER;
}

static bool read_question(struct leat_pvm_octets *q, struct leat_pvm_fold *out,
                          const uint8_t **word)
{
    out->tag = leat_pvm_get_i32(q);
    out->kind = leat_pvm_get_i32(q);
    out->items = leat_pvm_get_i32(q);
    const int fold = leat_pvm_get_i32(q), why = leat_pvm_get_i32(q);
    out->fold = (enum leat_port_fold)fold;
    out->carrier = fold < 0 ? (enum leat_collect_carrier)why : LEAT_COLLECT_BY_NETWORK;
    out->words = (uint32_t)((q->len - q->read_at) / WORD_LEN);
    *word = leat_pvm_get(q, out->words * WORD_LEN);
    return !q->failed && fold < (int)LEAT_PORT_FOLDS &&
           (fold < 0 ? why > LEAT_COLLECT_BY_NETWORK && why < LEAT_COLLECT_CARRIERS
                     : out->words > 0);
}

static bool is_member(const struct leat_pvm_group *group, int tid)
{
    for (int i = 0; i < group->cap; i++)
        if (group->member[i] == tid) return true;
    return false;
}

int leat_pvm_on_reduce(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                       struct leat_pvm_group *group, int root)
{
    struct leat_pvm_fold like = { .root = root };
    const uint8_t *octets;
    if (!read_question(&entry->question, &like, &octets)) return PvmBadParam;
    if (service->config.collectives != LEAT_PVM_BY_NETWORK) like.carrier = LEAT_COLLECT_CHOSEN;
    if (root < 0 || !is_member(group, entry->tid) || like.carrier != LEAT_COLLECT_BY_NETWORK)
        return answer_by_hosts(group, entry, like.carrier ? like.carrier : LEAT_COLLECT_MEMBERS);
    struct leat_pvm_fold *fold = find(group, &like);
    if (!fold) fold = open_fold(service, group, &like);
    struct part *part = fold ? part_of(fold, entry->tid) : NULL;
    if (!part) return answer_by_hosts(group, entry, LEAT_COLLECT_MEMBERS);
    const enum leat_collect_carrier carrier = fold->carrier;
    part->entered++;
    if (carrier == LEAT_COLLECT_BY_NETWORK) {
        uint64_t *word = leat_child_grown(NULL, like.words, WORD_LEN); /* aligned */
        memcpy(word, octets, like.words * WORD_LEN);
        hand_over(service, fold, entry->tid, word, entry->cookie);
        free(word);
    }
    go_on(service, group, fold);
    const int result = carrier == LEAT_COLLECT_BY_NETWORK ? answer_by_network(group, entry, root)
                                                          : answer_by_hosts(group, entry, carrier);
    if (!leat_pvm_folds_are_open(group)) leat_pvm_group_admit(service, group->name);
    return result;
}

/* ---- members come and go --------------------------------------------------------------------- */

bool leat_pvm_folds_are_open(const struct leat_pvm_group *group)
{
    const struct leat_pvm_fold *f = group->folds;
    while (f && !f->net)
        f = f->next;
    return f;
}

/* By hosts: the root waits for the message of whoever is a member when it calls. */
void leat_pvm_folds_join(struct leat_pvm_group *group, int tid)
{
    uint64_t all, any;
    for (struct leat_pvm_fold *f = group->folds; f; f = f->next) {
        extent(f, &all, &any);
        add_part(f, tid, all);
    }
}

void leat_pvm_folds_leave(struct leat_pvm_service *service, struct leat_pvm_group *group, int tid)
{
    for (struct leat_pvm_fold *f = group->folds, *next; f; f = next) {
        struct part *part = part_of(f, tid);
        next = f->next;
        if (part) part->has_left = true;
        go_on(service, group, f);
    }
    if (!leat_pvm_folds_are_open(group)) leat_pvm_group_admit(service, group->name);
}

/* The root of one that will never be complete learns that there is no group any more. */
static void free_root(struct leat_pvm_service *service, const struct leat_pvm_fold *fold)
{
    struct leat_pvm_entry *entry = leat_pvm_find(service, fold->root);
    const struct part *root = part_of(fold, fold->root);
    uint64_t all, any;
    extent(fold, &all, &any);
    if (!fold->net || !entry || !root || root->entered <= all) return;
    if (entry->waits == LEAT_PVM_WAITS_NETWORK && entry->round == UINT64_MAX)
        leat_pvm_reply(service, entry, PvmNoGroup);
}

void leat_pvm_folds_free(struct leat_pvm_service *service, struct leat_pvm_group *group)
{
    while (group->folds) {
        if (!service->is_ending) free_root(service, group->folds);
        if (service->is_ending) group->folds->net = 0; /* the hub may be gone */
        drop(service, group, group->folds);
    }
}
