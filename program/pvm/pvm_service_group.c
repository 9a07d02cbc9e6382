/*
 * Groups of tasks: instances are the lowest free numbers. The server of groups is at the port of
 * the first task that joins one, as pvmgs is; a barrier costs a message to it, and one back.
 *
 * A barrier of all members may be one of the network, a fold without words:
 *
 *     settled: the last barrier had all members, and none has joined or left since
 *     open     a member comes to a barrier of all, the group is settled, nobody waits at the server
 *     done     all members have come: the network's answers release them
 *     broken   a member joins, leaves, or comes to a barrier of another number: those who wait do
 *              so at the server from now on, as if they had gone there at once
 */
#include "pvm_service_parts.h"
#include <stdlib.h>
#include <string.h>

static struct leat_pvm_group *find(struct leat_pvm_service *service, const char *name)
{
    struct leat_pvm_group *group = service->groups;
    while (group && strcmp(group->name, name) != 0)
        group = group->next;
    return group;
}

static int instance_of(const struct leat_pvm_group *group, int tid)
{
    for (int i = 0; i < group->cap; i++)
        if (group->member[i] == tid) return i;
    return PvmNotInGroup;
}

static struct leat_pvm_group *make(struct leat_pvm_service *service, const char *name)
{
    struct leat_pvm_group *group = leat_child_grown(NULL, 1, sizeof *group);
    *group = (struct leat_pvm_group){ .next = service->groups };
    snprintf(group->name, sizeof group->name, "%s", name);
    service->groups = group;
    return group;
}

static void drop(struct leat_pvm_service *service, struct leat_pvm_group *group)
{
    struct leat_pvm_group **g = &service->groups;
    while (*g != group)
        g = &(*g)->next;
    *g = group->next;
    leat_pvm_folds_free(service, group);
    free(group->member);
    free(group);
}

enum leat_collect_carrier leat_pvm_group_enter(const struct leat_pvm_service *service,
                                               const struct leat_pvm_group *group, uint32_t *net)
{
    uint32_t *slot = leat_child_grown(NULL, (size_t)group->size + 1, sizeof *slot), count = 0;
    bool is_near = true;
    for (int i = 0; i < group->cap; i++) {
        if (!group->member[i]) continue;
        slot[count] = leat_pvm_slot_of(group->member[i]);
        is_near &= leat_hub_port(service->hub, slot[count++]) ==
                   leat_hub_port(service->hub, slot[0]);
    }
    *net = is_near ? 0 : leat_hub_group(service->hub, slot, count);
    free(slot);
    return *net ? LEAT_COLLECT_BY_NETWORK : is_near ? LEAT_COLLECT_NEAR : LEAT_COLLECT_ROOM;
}

/* ---- barriers: a message to the server, and one back ----------------------------------------- */

enum { MESSAGE_LEN = 64, TO_SERVER = 0, FROM_SERVER = 1 }; /* a head, and the name of the group */

static void carry(struct leat_pvm_service *service, const struct leat_pvm_entry *entry, int way)
{
    const uint32_t slot = leat_pvm_slot(service, entry), port = leat_hub_port(service->hub, slot);
    leat_hub_carry(service->hub, way == TO_SERVER ? port : service->server_port,
                   way == TO_SERVER ? service->server_port : port, MESSAGE_LEN,
                   (uint64_t)slot << 1 | (unsigned)way, service->at);
}

static bool waits_at(const struct leat_pvm_entry *entry, const char *name)
{
    return (entry->waits == LEAT_PVM_WAITS_BARRIER || entry->waits == LEAT_PVM_WAITS_FREEZE) &&
           entry->is_counted && !strcmp(entry->waits_name, name);
}

static int waiting(const struct leat_pvm_service *service, const char *name)
{
    int count = 0;
    for (uint32_t i = 0; i < service->config.slots; i++)
        count += waits_at(&service->entry[i], name);
    return count;
}

static void release_one(struct leat_pvm_service *service, struct leat_pvm_entry *entry, int result)
{
    entry->is_counted = false;
    entry->is_released = true;
    entry->barrier_result = result;
    carry(service, entry, FROM_SERVER);
}

static void release(struct leat_pvm_service *service, const char *name, int result)
{
    for (uint32_t i = 0; i < service->config.slots; i++)
        if (waits_at(&service->entry[i], name)) release_one(service, &service->entry[i], result);
}

static void turn_to_server(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                           enum leat_pvm_wait kind, enum leat_collect_carrier why)
{
    entry->waits = kind;
    entry->carrier = why;
    entry->is_counted = entry->is_released = false;
    carry(service, entry, TO_SERVER);
}

/* ---- barriers of the network ----------------------------------------------------------------- */

/* Some members are in it, others cannot come any more. */
static void break_barrier(struct leat_pvm_service *service, struct leat_pvm_group *group)
{
    group->is_settled = false;
    if (!group->net) return;
    leat_hub_disband(service->hub, group->net);
    group->net = 0;
    group->entered = 0;
    for (uint32_t i = 0; i < service->config.slots; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        if (entry->waits == LEAT_PVM_WAITS_NETWORK && entry->round == group->round &&
            !strcmp(entry->waits_name, group->name)) {
            entry->waits = LEAT_PVM_WAITS_BARRIER;
            entry->carrier = LEAT_COLLECT_MEMBERS;
            entry->is_counted = true;
            entry->is_released = false;
        }
    }
    group->round++;
}

static bool any_is_at_server(const struct leat_pvm_service *service, const char *name)
{
    for (uint32_t i = 0; i < service->config.slots; i++) {
        const struct leat_pvm_entry *e = &service->entry[i];
        if ((e->waits == LEAT_PVM_WAITS_BARRIER || e->waits == LEAT_PVM_WAITS_FREEZE) &&
            !e->is_released && !strcmp(e->waits_name, name))
            return true;
    }
    return false;
}

/* Opens a barrier of the network, unless one is open. Otherwise, why not. */
static enum leat_collect_carrier open_barrier(struct leat_pvm_service *service,
                                              struct leat_pvm_group *group, int count)
{
    const struct leat_port_means *means = leat_hub_means(service->hub);
    if (service->config.collectives != LEAT_PVM_BY_NETWORK) return LEAT_COLLECT_CHOSEN;
    if (!means || !means->folds) return LEAT_COLLECT_OPERATION;
    if (!group->is_settled || (count >= 0 && count != group->size) ||
        any_is_at_server(service, group->name))
        return LEAT_COLLECT_MEMBERS;
    if (group->net) return LEAT_COLLECT_BY_NETWORK;
    return leat_pvm_group_enter(service, group, &group->net);
}

static void enter_barrier(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                          struct leat_pvm_group *group)
{
    entry->waits = LEAT_PVM_WAITS_NETWORK;
    entry->carrier = LEAT_COLLECT_BY_NETWORK;
    entry->round = group->round;
    leat_hub_part(service->hub, group->net, leat_pvm_slot(service, entry), LEAT_PORT_SUM, NULL, 0,
                  entry->cookie, service->at);
    if (++group->entered < group->size) return;
    leat_hub_disband(service->hub, group->net); /* once all have their answers */
    group->net = 0;
    group->entered = 0;
    group->round++;
}

static int arrive(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                  struct leat_pvm_group *group, int count, enum leat_pvm_wait kind)
{
    if (instance_of(group, entry->tid) < 0) return PvmNotInGroup;
    if (kind == LEAT_PVM_WAITS_FREEZE && group->is_frozen) return PvmDupGroup;
    entry->waits_number = count;
    snprintf(entry->waits_name, sizeof entry->waits_name, "%s", group->name);
    const enum leat_collect_carrier carrier = kind == LEAT_PVM_WAITS_FREEZE
                                                  ? LEAT_COLLECT_MEMBERS
                                                  : open_barrier(service, group, count);
    if (carrier == LEAT_COLLECT_BY_NETWORK) {
        enter_barrier(service, entry, group);
    } else {
        if (group->net) break_barrier(service, group);
        turn_to_server(service, entry, kind, carrier);
    }
    return LEAT_PVM_LATER;
}

/* At the server: the last to arrive releases all. */
static void count(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    struct leat_pvm_group *group = find(service, entry->waits_name);
    if (!group) {
        release_one(service, entry, PvmNoGroup);
        return;
    }
    entry->is_counted = true;
    const int wanted = entry->waits_number < 0 ? group->size : entry->waits_number;
    if (waiting(service, group->name) < wanted) return;
    if (entry->waits == LEAT_PVM_WAITS_FREEZE) group->is_frozen = true;
    group->is_settled |= wanted == group->size;
    release(service, group->name, PvmOk);
}

void leat_pvm_group_carried(struct leat_pvm_service *service, uint64_t cookie)
{
    struct leat_pvm_entry *entry = &service->entry[cookie >> 1];
    if (entry->has_left) return;
    if ((cookie & 1) == TO_SERVER) {
        count(service, entry);
        return;
    }
    leat_pvm_put_i32(&entry->answer, (int)entry->carrier);
    leat_pvm_reply(service, entry, entry->barrier_result);
}

/* ---- start and end --------------------------------------------------------------------------- */

static int join(struct leat_pvm_service *service, struct leat_pvm_entry *entry, const char *name)
{
    struct leat_pvm_group *group = find(service, name);
    if (group && group->is_frozen) return PvmDenied;
    if (!group) group = make(service, name);
    if (!service->has_server)
        service->server_port = leat_hub_port(service->hub, leat_pvm_slot(service, entry));
    service->has_server = true;
    if (instance_of(group, entry->tid) >= 0) return PvmDupGroup;
    if (leat_pvm_folds_are_open(group)) {
        entry->waits = LEAT_PVM_WAITS_JOIN;
        snprintf(entry->waits_name, sizeof entry->waits_name, "%s", name);
        return LEAT_PVM_LATER;
    }
    break_barrier(service, group);
    int instance = 0;
    while (instance < group->cap && group->member[instance])
        instance++;
    if (instance == group->cap) {
        group->cap = 2 * instance + 8;
        group->member = leat_child_grown(group->member, (size_t)group->cap, sizeof(int));
        memset(group->member + instance, 0, (size_t)(group->cap - instance) * sizeof(int));
    }
    group->member[instance] = entry->tid;
    group->size++;
    leat_pvm_folds_join(group, entry->tid);
    return instance;
}

void leat_pvm_group_admit(struct leat_pvm_service *service, const char *name)
{
    for (uint32_t i = 0; i < service->config.slots; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        if (entry->waits != LEAT_PVM_WAITS_JOIN || strcmp(entry->waits_name, name) != 0) continue;
        entry->waits = LEAT_PVM_WAITS_NOT;
        leat_pvm_reply(service, entry, join(service, entry, name));
    }
}

static int leave(struct leat_pvm_service *service, struct leat_pvm_group *group, int tid)
{
    const int instance = instance_of(group, tid);
    if (instance < 0) return instance;
    break_barrier(service, group);
    group->member[instance] = 0;
    group->size--;
    leat_pvm_folds_leave(service, group, tid);
    /* A static group that has lost a member ceases to exist. */
    if (group->is_frozen) release(service, group->name, PvmNoGroup);
    if (!group->size || group->is_frozen) drop(service, group);
    return PvmOk;
}

void leat_pvm_group_member_gone(struct leat_pvm_service *service, int tid)
{
    for (struct leat_pvm_group *group = service->groups, *next; group; group = next) {
        next = group->next;
        leave(service, group, tid);
    }
}

void leat_pvm_group_free(struct leat_pvm_service *service)
{
    service->is_ending = true;
    while (service->groups)
        drop(service, service->groups);
}

/* ---- queries --------------------------------------------------------------------------------- */

int leat_pvm_group_list(const struct leat_pvm_group *group, struct leat_pvm_entry *entry)
{
    for (int i = 0; i < group->cap; i++) {
        if (!group->member[i]) continue;
        leat_pvm_put_i32(&entry->answer, i);
        leat_pvm_put_i32(&entry->answer, group->member[i]);
    }
    return group->size;
}

static int tid_at(const struct leat_pvm_group *group, int instance)
{
    const bool is_there = instance >= 0 && instance < group->cap && group->member[instance];
    return is_there ? group->member[instance] : PvmNoInst;
}

int leat_pvm_on_group(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                      enum leat_pvm_op op)
{
    const char *name = leat_pvm_get_text(&entry->question);
    const int number = leat_pvm_get_i32(&entry->question);
    if (entry->question.failed || strlen(name) >= LEAT_PVM_NAME_LEN) return PvmBadParam;
    struct leat_pvm_group *group = find(service, name);
    if (op == LEAT_PVM_GROUP_JOIN) return join(service, entry, name);
    if (!group) return PvmNoGroup;
    if (op == LEAT_PVM_GROUP_LEAVE) return leave(service, group, entry->tid);
    if (op == LEAT_PVM_GROUP_SIZE) return group->size;
    if (op == LEAT_PVM_GROUP_TID) return tid_at(group, number);
    if (op == LEAT_PVM_GROUP_INST) return number ? instance_of(group, number) : PvmBadParam;
    if (op == LEAT_PVM_GROUP_LIST) return leat_pvm_group_list(group, entry);
    if (op == LEAT_PVM_GROUP_REDUCE)
        return leat_pvm_on_reduce(service, entry, group, tid_at(group, number));
    return arrive(service, entry, group, number,
                  op == LEAT_PVM_GROUP_FREEZE ? LEAT_PVM_WAITS_FREEZE : LEAT_PVM_WAITS_BARRIER);
}
