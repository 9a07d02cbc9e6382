/*
 * Collective operations of tasks. Each task hands over its parts in the order of the group's
 * operations. A port hands the network one part at a time:
 *
 *     tasks of a port: part, part --> seat: all that it needs is there? --> the network: collect()
 *     each of them: answer <--------- the result, kept until the last one has it <-- collected()
 *
 * Groups of services are the same, but it is the service that hands over parts, and is answered. A
 * group of casts has ports only: all of them take part at once (hub_cast.c).
 */
#include "child.h"
#include "collect.h"
#include "hub_parts.h"
#include "port_fold.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)LEAT_TASK_CARRIERS == (int)LEAT_COLLECT_CARRIERS, "in task.h and collect.h");

/* What a port contributes to an operation, and gets. */
struct seat_part {
    uint32_t handed;   /* parts of tasks */
    leat_time at;      /* when the last of them was handed over that the port had to wait for */
    uint8_t *octets;   /* the tasks' together; then the result */
    bool is_collected; /* the network has said how it ended */
    bool is_over;      /* the result is there */
    bool is_sent;      /* what it has for others, after a failure */
};

struct task_part {
    bool is_handed, is_answered;
    uint64_t cookie;
    leat_time at;
};

struct operation {
    struct operation *next;
    uint64_t number;
    struct leat_collect_question what; /* as its first task said */
    uint32_t first_task;
    uint32_t handed;        /* parts of tasks */
    uint32_t completed_by;  /* member whose part was the last that it needs; or `members` */
    uint32_t answered;      /* tasks */
    uint32_t collected;     /* ports */
    uint32_t gathered;      /* parts that ports have sent to the first, after a failure */
    uint32_t over;          /* seats that have the result */
    bool is_redone;         /* by hosts */
    bool is_complete;       /* the ports take part, whoever has not handed over a part */
    uint32_t root_seat;     /* of a cast */
    struct seat_part *seat; /* [seats] */
    struct task_part *task; /* [members] */
    uint32_t cast;          /* of hub_cast.c; 0: none */
    struct leat_hub_copy *copy;
    uint32_t copies;
};

struct seat {
    uint32_t port, tasks;
    uint64_t next; /* operation that it takes part in next */
    bool is_busy;  /* the network has its part of the one before */
};

enum owner { OF_TASKS, OF_SERVICE, OF_CASTS };

struct leat_hub_group {
    uint32_t number; /* of all groups so far */
    enum owner owner;
    bool is_ending;     /* once nothing is in progress */
    uint64_t last_used; /* OF_CASTS: by hub->group_uses */
    uint64_t begun;     /* OF_CASTS: operations */
    uint32_t key, members, left;
    uint32_t *task;    /* [members] in the program's order */
    uint32_t *seat_of; /* [members] */
    uint64_t *parts;   /* [members]: handed over so far */
    struct seat *seat; /* by port */
    uint32_t seats;
    uint32_t net; /* the network's group; 0: none */
    enum leat_collect_refusal refusal;
    struct operation *first; /* those in progress */
};

/* ---- groups ---------------------------------------------------------------------------------- */

static int compare_seats(const void *a, const void *b)
{
    const uint32_t one = ((const struct seat *)a)->port, other = ((const struct seat *)b)->port;
    return one < other ? -1 : one > other;
}

static void take_seats(const struct leat_hub *hub, struct leat_hub_group *group)
{
    for (uint32_t i = 0; i < group->members; i++) {
        const uint32_t port = leat_share_slot(hub->share, group->task[i])->port;
        uint32_t k = 0;
        while (k < group->seats && group->seat[k].port != port)
            k++;
        group->seats += k == group->seats;
        group->seat[k].port = port;
        group->seat[k].tasks++;
    }
    qsort(group->seat, group->seats, sizeof *group->seat, compare_seats);
    for (uint32_t i = 0; i < group->members; i++) {
        const uint32_t port = leat_share_slot(hub->share, group->task[i])->port;
        while (group->seat[group->seat_of[i]].port != port)
            group->seat_of[i]++;
    }
}

static void free_operation(const struct leat_hub_group *group, struct operation *op)
{
    for (uint32_t i = 0; i < group->seats; i++)
        free(op->seat[i].octets);
    free(op->seat);
    free(op->task);
    free(op->copy);
    free(op);
}

static void free_group(struct leat_hub_group *group)
{
    while (group->first) {
        struct operation *op = group->first;
        group->first = op->next;
        free_operation(group, op);
    }
    free(group->task);
    free(group->seat_of);
    free(group->parts);
    free(group->seat);
    free(group);
}

static void end_group(struct leat_hub *hub, uint32_t id)
{
    if (hub->group[id]->net) leat_port_disband(hub->config.net, hub->group[id]->net);
    free_group(hub->group[id]);
    hub->group[id] = NULL;
}

/* Ends that group of casts which is not used now, and has not been for the longest time. */
static bool disband_one(struct leat_hub *hub)
{
    uint32_t oldest = hub->groups;
    for (uint32_t i = 0; i < hub->groups; i++) {
        const struct leat_hub_group *group = hub->group[i];
        if (!group || group->owner != OF_CASTS || group->first) continue;
        if (oldest == hub->groups || group->last_used < hub->group[oldest]->last_used) oldest = i;
    }
    if (oldest == hub->groups) return false;
    end_group(hub, oldest);
    return true;
}

/* Tasks of a single port need no network. */
static void enter_network(struct leat_hub *hub, struct leat_hub_group *group)
{
    struct leat_port_net *net = hub->config.net;
    if (!net->means) {
        group->refusal = LEAT_COLLECT_NO_MEANS;
    } else if (group->seats > 1) {
        uint32_t *port = leat_child_grown(NULL, group->seats, sizeof *port);
        for (uint32_t i = 0; i < group->seats; i++)
            port[i] = group->seat[i].port;
        while (!(group->net = leat_port_group(net, port, group->seats)) && disband_one(hub))
            ;
        group->refusal = group->net ? LEAT_COLLECT_GRANTED : LEAT_COLLECT_NO_GROUP;
        free(port);
    }
}

static void *zeros(size_t count, size_t size)
{
    void *all = leat_child_grown(NULL, count, size);
    memset(all, 0, count * size);
    return all;
}

static struct leat_hub_group *make_group(struct leat_hub *hub, uint32_t key, const uint32_t *task,
                                         uint32_t members)
{
    struct leat_hub_group *group = zeros(1, sizeof *group);
    group->number = hub->groups_made++;
    group->key = key;
    group->members = members;
    group->task = zeros(members, sizeof *group->task);
    group->seat_of = zeros(members, sizeof *group->seat_of);
    group->parts = zeros(members, sizeof *group->parts);
    group->seat = zeros(members, sizeof *group->seat);
    memcpy(group->task, task, members * sizeof *task);
    take_seats(hub, group);
    enter_network(hub, group);
    return group;
}

/* The group that others have already made; NULL: nobody has. */
static uint32_t find_group(const struct leat_hub *hub, uint32_t key, const uint32_t *task,
                           uint32_t members)
{
    uint32_t i = 0;
    for (; i < hub->groups; i++) {
        const struct leat_hub_group *group = hub->group[i];
        if (group && group->owner == OF_TASKS && group->key == key && group->members == members &&
            !memcmp(group->task, task, members * sizeof *task))
            break;
    }
    return i;
}

static uint32_t free_place(struct leat_hub *hub)
{
    uint32_t i = 0;
    while (i < hub->groups && hub->group[i])
        i++;
    if (i < hub->groups) return i;
    hub->group = leat_child_grown(hub->group, hub->groups + 1, sizeof *hub->group);
    hub->group[hub->groups++] = NULL;
    return i;
}

static void answer(struct leat_hub *hub, uint32_t task, uint64_t cookie,
                   const struct leat_collect_answer *head, const uint8_t *octets, uint64_t len,
                   leat_time at)
{
    uint8_t *all = leat_child_grown(NULL, 1, sizeof *head + (size_t)len);
    memcpy(all, head, sizeof *head);
    if (len) memcpy(all + sizeof *head, octets, (size_t)len);
    leat_hub_collected(hub, task, cookie, all, sizeof *head + (size_t)len,
                       at > hub->now ? at : hub->now);
    free(all);
}

static void join(struct leat_hub *hub, uint32_t task, const struct leat_share_request *r,
                 const struct leat_collect_question *q, const uint8_t *octets, size_t len)
{
    const uint32_t members = (uint32_t)(len / sizeof(uint32_t));
    uint32_t *tasks = leat_child_grown(NULL, members, sizeof *tasks);
    memcpy(tasks, octets, members * sizeof *tasks);
    uint32_t i = find_group(hub, q->key, tasks, members);
    if (i == hub->groups) {
        i = free_place(hub);
        hub->group[i] = make_group(hub, q->key, tasks, members);
    }
    free(tasks);
    struct leat_collect_answer head = { hub->group[i]->refusal, i, { 0 } };
    if (hub->config.net->means) head.means = *hub->config.net->means;
    answer(hub, task, r->cookie, &head, NULL, 0, r->at);
}

static void leave(struct leat_hub *hub, uint32_t id)
{
    struct leat_hub_group *group = hub->group[id];
    if (++group->left == group->members) end_group(hub, id);
}

/* ---- observer -------------------------------------------------------------------------------- */

/* Tasks of a single port need no network: nothing to see. */
static void show(const struct leat_hub *hub, const struct leat_hub_group *group,
                 const struct operation *op, uint32_t member, leat_hub_see_operation *see,
                 leat_time at)
{
    const struct leat_hub_operation seen = { .group = group->number,
                                             .number = op->number,
                                             .call = op->what.call,
                                             .len = op->what.len,
                                             .task = group->task,
                                             .members = group->members,
                                             .completed_by = op->completed_by,
                                             .is_redone = op->is_redone };
    if (see && group->seats > 1) see(hub->config.watch->context, &seen, member, at - hub->offset);
}

/* Of all parts. */
static uint32_t latest(const struct leat_hub_group *group, const struct operation *op)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < group->members; i++)
        if (op->task[i].at > op->task[last].at) last = i;
    return last;
}

static void show_part(const struct leat_hub *hub, const struct leat_hub_group *group,
                      struct operation *op, uint32_t member)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    const bool is_cast = op->what.kind == LEAT_PORT_CAST;
    if (!watch) return;
    show(hub, group, op, member, watch->takes_part, op->task[member].at);
    if (is_cast ? group->task[member] != op->what.root : op->handed < group->members) return;
    op->completed_by = is_cast ? member : latest(group, op);
    show(hub, group, op, op->completed_by, watch->completes, op->task[op->completed_by].at);
}

static void show_result(const struct leat_hub *hub, const struct leat_hub_group *group,
                        const struct operation *op, uint32_t member, leat_time at)
{
    const struct leat_hub_watch *watch = hub->config.watch;
    if (watch) show(hub, group, op, member, watch->gets_result, at > hub->now ? at : hub->now);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_root(const struct leat_hub_group *group, const struct operation *op, uint32_t member)
{
    return op->what.kind == LEAT_PORT_CAST && group->task[member] == op->what.root;
}

/* For the service, which is told after the network has run. */
static void keep_result(struct leat_hub *hub, const struct leat_hub_group *group,
                        const struct operation *op, uint32_t member)
{
    const size_t len = (size_t)op->what.len;
    struct leat_hub_result result = { .task = group->task[member],
                                      .cookie = op->task[member].cookie,
                                      .is_redone = op->is_redone,
                                      .words = (uint32_t)(len / sizeof(uint64_t)) };
    result.word = zeros(1, len + 1);
    memcpy(result.word, op->seat[group->seat_of[member]].octets, len);
    hub->result = leat_child_grown(hub->result, hub->results + 1, sizeof *hub->result);
    hub->result[hub->results++] = result;
}

/* The messages that this cast brings to the port. */
static void deliver(struct leat_hub *hub, const struct leat_hub_group *group,
                    const struct operation *op, uint32_t seat, leat_time at)
{
    for (uint32_t i = 0; i < op->copies; i++) {
        const struct leat_hub_copy *copy = &op->copy[i];
        const struct leat_flight_message *m = leat_flight_at(&hub->flight, copy->flight);
        if (copy->port != group->seat[seat].port) continue;
        memcpy(leat_share_octets(hub->share, m->block), op->seat[seat].octets, (size_t)m->len);
        leat_hub_arrive(hub, copy->flight, at - hub->offset);
    }
}

static void answer_member(struct leat_hub *hub, struct leat_hub_group *group, struct operation *op,
                          uint32_t member, leat_time at)
{
    const struct seat_part *seat = &op->seat[group->seat_of[member]];
    struct task_part *part = &op->task[member];
    const struct leat_collect_answer head = { .refusal = op->is_redone ? LEAT_COLLECT_REDONE
                                                                       : LEAT_COLLECT_GRANTED };
    const bool gets = !is_root(group, op, member);
    if (at < part->at) at = part->at;
    part->is_answered = true;
    op->answered++;
    show_result(hub, group, op, member, at);
    if (group->owner == OF_SERVICE) {
        if (!op->is_complete) keep_result(hub, group, op, member);
        return;
    }
    answer(hub, group->task[member], part->cookie, &head, seat->octets, gets ? op->what.len : 0,
           at);
}

/* The result is there: those of its tasks that have handed over their parts get it. */
static void end_seat(struct leat_hub *hub, struct leat_hub_group *group, struct operation *op,
                     uint32_t seat, leat_time at)
{
    op->seat[seat].is_over = true;
    op->seat[seat].at = at;
    op->over++;
    deliver(hub, group, op, seat, at);
    for (uint32_t i = 0; i < group->members; i++)
        if (group->seat_of[i] == seat && op->task[i].is_handed)
            answer_member(hub, group, op, i, at);
}

static void forget_operations(struct leat_hub_group *group)
{
    for (struct operation **link = &group->first; *link;) {
        struct operation *op = *link;
        const bool is_answered = op->answered == group->members || group->is_ending;
        if (op->over < group->seats || !is_answered) {
            link = &op->next;
            continue;
        }
        *link = op->next;
        free_operation(group, op);
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static struct operation *find_operation(const struct leat_hub_group *group, uint64_t number)
{
    struct operation *op = group->first;
    while (op && op->number != number)
        op = op->next;
    return op;
}

static struct operation *begin_operation(struct leat_hub_group *group, uint64_t number,
                                         const struct leat_collect_question *q, uint32_t task)
{
    struct operation *op = zeros(1, sizeof *op);
    op->number = number;
    op->what = *q;
    op->first_task = task;
    op->completed_by = group->members;
    op->seat = zeros(group->seats, sizeof *op->seat);
    op->task = zeros(group->members, sizeof *op->task);
    for (uint32_t i = 0; i < group->members; i++)
        if (is_root(group, op, i)) op->root_seat = group->seat_of[i];
    op->next = group->first;
    group->first = op;
    return op;
}

static bool agree(const struct leat_collect_question *a, const struct leat_collect_question *b)
{
    if (a->kind != b->kind || a->len != b->len) return false;
    return a->kind == LEAT_PORT_CAST ? a->root == b->root : a->fold == b->fold;
}

/* In what? Words are those of the network: operations and types of the program become folds. */
static void disagree(struct leat_hub *hub, const struct operation *op, uint32_t task,
                     const struct leat_collect_question *q)
{
    enum { ROOM = 3 * LEAT_TASK_CALL_LEN + 80 };
    const struct leat_collect_question *a = &op->what;
    const bool is_cast = a->kind == LEAT_PORT_CAST;
    const unsigned unit = is_cast ? 1 : sizeof(uint64_t);
    char what[ROOM];
    if (strncmp(a->call, q->call, sizeof a->call) != 0 || a->kind != q->kind)
        snprintf(what, sizeof what, "calls: %.*s and %.*s", LEAT_TASK_CALL_LEN, a->call,
                 LEAT_TASK_CALL_LEN, q->call);
    else if (a->len != q->len)
        snprintf(what, sizeof what, "lengths of %.*s: %" PRIu64 " and %" PRIu64 " %s",
                 LEAT_TASK_CALL_LEN, a->call, a->len / unit, q->len / unit,
                 is_cast ? "octets" : "words");
    else if (is_cast)
        snprintf(what, sizeof what, "roots of %.*s: tasks %u and %u", LEAT_TASK_CALL_LEN, a->call,
                 a->root, q->root);
    else
        snprintf(what, sizeof what, "operations or types of %.*s", LEAT_TASK_CALL_LEN, a->call);
    leat_hub_disagree(hub, op->first_task, task, what);
}

/* All that its port needs to take part is there. */
static bool is_ready(const struct leat_hub_group *group, const struct operation *op, uint32_t seat)
{
    if (op->is_complete) return true;
    if (op->what.kind == LEAT_PORT_FOLD) return op->seat[seat].handed == group->seat[seat].tasks;
    for (uint32_t i = 0; i < group->members; i++)
        if (is_root(group, op, i) && op->root_seat == seat) return op->task[i].is_handed;
    return op->seat[seat].handed != 0;
}

static void hand_over(struct leat_hub *hub, uint32_t id, struct operation *op, uint32_t seat)
{
    struct leat_hub_group *group = hub->group[id];
    struct seat_part *own = &op->seat[seat];
    struct leat_port_part part = { .group = group->net,
                                   .port = group->seat[seat].port,
                                   .id = (uint64_t)id << 32 | seat,
                                   .kind = op->what.kind,
                                   .is_private = op->what.is_private };
    if (op->what.kind == LEAT_PORT_FOLD) {
        part.fold = op->what.fold;
        part.words = (uint32_t)(op->what.len / sizeof(uint64_t));
        part.word = (uint64_t *)(void *)own->octets;
    } else {
        part.root = group->seat[op->root_seat].port;
        part.len = op->what.len;
        part.octets = own->octets;
    }
    group->seat[seat].is_busy = true;
    leat_port_collect(hub->config.net, &part,
                      (own->at > hub->now ? own->at : hub->now) - hub->offset);
}

/* The port takes part in all operations that it can. */
static void go_on(struct leat_hub *hub, uint32_t id, uint32_t seat)
{
    struct leat_hub_group *group = hub->group[id];
    struct seat *own = &group->seat[seat];
    struct operation *op;
    while (!own->is_busy && (op = find_operation(group, own->next)) != NULL &&
           is_ready(group, op, seat)) {
        own->next++;
        if (group->seats == 1)
            end_seat(hub, group, op, seat, op->seat[seat].at);
        else
            hand_over(hub, id, op, seat);
    }
}

static void contribute(struct leat_hub_group *group, struct operation *op, uint32_t member,
                       const uint8_t *octets)
{
    struct seat_part *seat = &op->seat[group->seat_of[member]];
    const size_t len = (size_t)op->what.len;
    if (!seat->octets) {
        seat->octets = zeros(1, len + 1);
        if (op->what.kind == LEAT_PORT_FOLD && len) memcpy(seat->octets, octets, len);
    } else if (op->what.kind == LEAT_PORT_FOLD) {
        leat_port_fold_words(op->what.fold, (uint64_t *)(void *)seat->octets,
                             (const uint64_t *)(const void *)octets,
                             (uint32_t)(len / sizeof(uint64_t)));
    }
    if (is_root(group, op, member) && len) memcpy(seat->octets, octets, len);
}

static void take_part(struct leat_hub *hub, uint32_t task, uint64_t cookie, leat_time at,
                      const struct leat_collect_question *q, const uint8_t *octets)
{
    struct leat_hub_group *group = hub->group[q->group];
    uint32_t member = 0;
    while (group->task[member] != task)
        member++;
    const uint64_t number = group->parts[member]++;
    struct operation *op = find_operation(group, number);
    if (!op) op = begin_operation(group, number, q, task);
    if (!agree(&op->what, q)) {
        disagree(hub, op, task, q);
        return;
    }
    const uint32_t seat = group->seat_of[member];
    op->task[member] = (struct task_part){ true, false, cookie, at };
    op->seat[seat].handed++;
    op->handed++;
    show_part(hub, group, op, member);
    if (op->seat[seat].is_over) {
        answer_member(hub, group, op, member, op->seat[seat].at);
    } else {
        contribute(group, op, member, octets);
        if (at > op->seat[seat].at) op->seat[seat].at = at;
        go_on(hub, q->group, seat);
    }
    forget_operations(group);
}

/* ---- what the network could not carry out: hosts do it again, by messages -------------------- */

enum { REDO_GROUP_AT = 40, REDO_GROUPS = 1 << 20 };
#define REDO_NUMBERS ((UINT64_C(1) << REDO_GROUP_AT) - 1)

static void send(struct leat_hub *hub, uint32_t id, const struct operation *op, uint32_t from,
                 uint32_t to, uint8_t *octets)
{
    const struct leat_hub_group *group = hub->group[id];
    const struct leat_port_message message = {
        .from = group->seat[from].port,
        .to = group->seat[to].port,
        .id = LEAT_HUB_REDO_MARK | (uint64_t)id % REDO_GROUPS << REDO_GROUP_AT |
              (op->number & REDO_NUMBERS),
        .octets = octets,
        .len = op->what.len,
        .is_private = op->what.is_private,
    };
    if (!leat_port_send(hub->config.net, &message, hub->now - hub->offset))
        leat_hub_stop(hub, LEAT_HUB_FAILED,
                      "more messages are in flight than the network has room for");
}

static uint32_t seat_at(const struct leat_hub_group *group, uint32_t port)
{
    uint32_t seat = 0;
    while (group->seat[seat].port != port)
        seat++;
    return seat;
}

/* A port that has the result; the first one, if none has. */
static uint32_t source_of(const struct leat_hub_group *group, const struct operation *op)
{
    uint32_t i = 0;
    if (op->what.kind == LEAT_PORT_CAST) return op->root_seat;
    while (i < group->seats && !op->seat[i].is_over)
        i++;
    return i < group->seats ? i : 0;
}

/* Nobody has the result: the ports send their parts to the first. */
static void gather(struct leat_hub *hub, uint32_t id, struct operation *op, uint32_t first)
{
    for (uint32_t i = 0; i < hub->group[id]->seats && !hub->has_ended; i++) {
        if (i == first || op->seat[i].is_sent) continue;
        op->seat[i].is_sent = true;
        send(hub, id, op, i, first, op->seat[i].octets);
    }
}

static void spread(struct leat_hub *hub, uint32_t id, struct operation *op, uint32_t source)
{
    for (uint32_t i = 0; i < hub->group[id]->seats && !hub->has_ended; i++) {
        struct seat_part *seat = &op->seat[i];
        if (seat->is_over || !seat->is_collected) continue;
        seat->is_collected = false; /* it is on its way */
        if (op->what.len) memcpy(seat->octets, op->seat[source].octets, (size_t)op->what.len);
        send(hub, id, op, source, i, seat->octets);
    }
}

/* Once all ports know how it ended. */
static void redo(struct leat_hub *hub, uint32_t id, struct operation *op)
{
    struct leat_hub_group *group = hub->group[id];
    if (!op->is_redone || op->collected < group->seats) return;
    const uint32_t source = source_of(group, op);
    const bool is_known = op->what.kind == LEAT_PORT_CAST || op->gathered + 1 == group->seats;
    if (!op->seat[source].is_over && is_known) end_seat(hub, group, op, source, hub->now);
    if (op->seat[source].is_over)
        spread(hub, id, op, source);
    else
        gather(hub, id, op, source);
}

static void redo_operations(struct leat_hub *hub, uint32_t id)
{
    for (struct operation *op = hub->group[id]->first; op && !hub->has_ended; op = op->next)
        redo(hub, id, op);
}

void leat_hub_collect_arrived(struct leat_hub *hub, const struct leat_port_message *message,
                              leat_time at)
{
    struct leat_hub_group *group = hub->group[(message->id >> REDO_GROUP_AT) % REDO_GROUPS];
    struct operation *op = group->first;
    while ((op->number & REDO_NUMBERS) != (message->id & REDO_NUMBERS))
        op = op->next;
    const uint32_t source = source_of(group, op), to = seat_at(group, message->to);
    hub->has_free_seats = true;
    if (op->seat[source].is_over) {
        end_seat(hub, group, op, to, at);
        return;
    }
    op->gathered++;
    leat_port_fold_words(op->what.fold, (uint64_t *)(void *)op->seat[source].octets,
                         (const uint64_t *)(const void *)message->octets,
                         (uint32_t)(op->what.len / sizeof(uint64_t)));
}

/* ---- multicasts ------------------------------------------------------------------------------ */

static int compare_ports(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

static bool has_ports(const struct leat_hub_group *group, const struct leat_hub_port_cast *c)
{
    if (group->owner != OF_CASTS || group->seats != c->ports) return false;
    for (uint32_t i = 0; i < c->ports; i++)
        if (group->seat[i].port != c->port[i]) return false;
    return true;
}

bool leat_hub_collect_find(struct leat_hub *hub, struct leat_hub_port_cast *c, uint32_t *id)
{
    qsort(c->port, c->ports, sizeof *c->port, compare_ports);
    uint32_t i = 0;
    while (i < hub->groups && !(hub->group[i] && has_ports(hub->group[i], c)))
        i++;
    if (i == hub->groups) {
        struct leat_hub_group *group = zeros(1, sizeof *group);
        group->owner = OF_CASTS;
        group->seats = c->ports;
        group->seat = zeros(c->ports, sizeof *group->seat);
        for (uint32_t k = 0; k < c->ports; k++)
            group->seat[k].port = c->port[k];
        enter_network(hub, group);
        if (!group->net) {
            free_group(group);
            return false;
        }
        i = free_place(hub);
        hub->group[i] = group;
    }
    hub->group[i]->last_used = ++hub->group_uses;
    *id = i;
    return true;
}

void leat_hub_collect_cast(struct leat_hub *hub, uint32_t id, const struct leat_hub_port_cast *c,
                           leat_time at)
{
    struct leat_hub_group *group = hub->group[id];
    const struct leat_collect_question q = { .kind = LEAT_PORT_CAST, .len = c->len };
    struct operation *op = begin_operation(group, group->begun++, &q, 0);
    op->is_complete = true;
    op->root_seat = seat_at(group, c->root);
    op->cast = c->cast;
    op->copy = c->copy;
    op->copies = c->copies;
    for (uint32_t i = 0; i < group->seats; i++) {
        op->seat[i].at = at;
        op->seat[i].octets = zeros(1, (size_t)c->len + 1);
    }
    memcpy(op->seat[op->root_seat].octets, c->octets, (size_t)c->len);
    for (uint32_t i = 0; i < group->seats; i++)
        go_on(hub, id, i);
}

/* ---- groups of services ---------------------------------------------------------------------- */

uint32_t leat_hub_group(struct leat_hub *hub, const uint32_t *task, uint32_t members)
{
    struct leat_hub_group *group = make_group(hub, 0, task, members);
    group->owner = OF_SERVICE;
    if (!group->net) {
        free_group(group);
        return 0;
    }
    const uint32_t i = free_place(hub);
    hub->group[i] = group;
    return i + 1;
}

void leat_hub_part(struct leat_hub *hub, uint32_t id, uint32_t task, enum leat_port_fold fold,
                   const uint64_t *word, uint32_t words, uint64_t cookie, leat_time at)
{
    const struct leat_collect_question q = {
        .group = id - 1, .kind = LEAT_PORT_FOLD, .fold = fold, .len = words * sizeof *word
    };
    take_part(hub, task, cookie, at, &q, (const uint8_t *)word);
}

/* It is told to end, and nothing is in progress. */
static void end_if_idle(struct leat_hub *hub, uint32_t id)
{
    if (hub->group[id]->is_ending && !hub->group[id]->first) end_group(hub, id);
}

/* Hosts hand over what is missing; nobody gets a result. */
static void complete(const struct leat_hub_group *group, struct operation *op)
{
    uint32_t handed = 0;
    for (uint32_t i = 0; i < group->members; i++)
        handed += op->task[i].is_handed;
    op->is_complete = handed < group->members;
    for (uint32_t i = 0; i < group->seats; i++)
        if (!op->seat[i].octets) op->seat[i].octets = zeros(1, (size_t)op->what.len + 1);
}

/* A group of the network ends only when nothing is in progress. */
void leat_hub_disband(struct leat_hub *hub, uint32_t id)
{
    struct leat_hub_group *group = hub->group[id - 1];
    group->is_ending = true;
    for (struct operation *op = group->first; op; op = op->next)
        complete(group, op);
    for (uint32_t i = 0; i < group->seats; i++)
        go_on(hub, id - 1, i);
    forget_operations(group);
    end_if_idle(hub, id - 1);
}

/* ---- interface ------------------------------------------------------------------------------- */

void leat_hub_collect_take(struct leat_hub *hub, uint32_t task, const struct leat_share_request *r)
{
    const uint8_t *all = leat_share_octets(hub->share, r->block);
    struct leat_collect_question q;
    memcpy(&q, all, sizeof q);
    if (q.verb != LEAT_COLLECT_JOIN && (q.group >= hub->groups || !hub->group[q.group])) {
        leat_hub_stop(hub, LEAT_HUB_FAILED, "a task takes part in a group that is not there");
        return;
    }
    hub->task[task].asked += q.verb != LEAT_COLLECT_LEAVE;
    switch (q.verb) {
    case LEAT_COLLECT_JOIN: join(hub, task, r, &q, all + sizeof q, r->len - sizeof q); break;
    case LEAT_COLLECT_PART: take_part(hub, task, r->cookie, r->at, &q, all + sizeof q); break;
    case LEAT_COLLECT_LEAVE: leave(hub, q.group); break;
    }
    leat_share_give(hub->share, r->block);
}

void leat_hub_collect_note(struct leat_hub *hub, const struct leat_port_part *part, bool is_done,
                           leat_time at)
{
    struct leat_hub_group *group = hub->group[part->id >> 32];
    const uint32_t seat = (uint32_t)part->id;
    struct operation *op = find_operation(group, group->seat[seat].next - 1);
    group->seat[seat].is_busy = false;
    hub->has_free_seats = true;
    op->seat[seat].is_collected = true;
    op->collected++;
    op->is_redone |= !is_done;
    if (!is_done && op->cast) leat_hub_cast_fail(hub, op->cast);
    if (is_done) end_seat(hub, group, op, seat, at);
}

void leat_hub_collect_go_on(struct leat_hub *hub)
{
    if (!hub->has_free_seats) return;
    hub->has_free_seats = false;
    for (uint32_t i = 0; i < hub->groups; i++) {
        if (!hub->group[i]) continue;
        redo_operations(hub, i);
        forget_operations(hub->group[i]);
        for (uint32_t k = 0; k < hub->group[i]->seats; k++)
            go_on(hub, i, k);
        end_if_idle(hub, i);
    }
}

const struct leat_task_collective *leat_hub_collective(const struct leat_hub *hub, uint32_t slot,
                                                       uint32_t index)
{
    const struct leat_share_slot *s = leat_share_slot(hub->share, slot);
    if (index >= LEAT_SHARE_COLLECTIVES || !*s->collective[index].name) return NULL;
    return &s->collective[index];
}

void leat_hub_collect_free(struct leat_hub *hub)
{
    for (uint32_t i = 0; i < hub->groups; i++)
        if (hub->group[i]) free_group(hub->group[i]);
    free(hub->group);
}
