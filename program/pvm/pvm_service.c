#include "pvm_service.h"
#include "pvm_service_parts.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- tasks ----------------------------------------------------------------------------------- */

struct leat_pvm_entry *leat_pvm_find(struct leat_pvm_service *service, int tid)
{
    if (!leat_pvm_is_task_tid(tid) || leat_pvm_slot_of(tid) >= service->config.slots) return NULL;
    struct leat_pvm_entry *entry = &service->entry[leat_pvm_slot_of(tid)];
    return entry->is_used && !entry->has_left && entry->tid == tid ? entry : NULL;
}

uint32_t leat_pvm_slot(const struct leat_pvm_service *service, const struct leat_pvm_entry *entry)
{
    return (uint32_t)(entry - service->entry);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void answer_part(struct leat_pvm_service *service, struct leat_pvm_entry *entry, int result,
                        size_t offset)
{
    enum { PART = LEAT_PVM_CALL_LEN - LEAT_PVM_ANSWER_HEAD };
    uint8_t octets[LEAT_PVM_CALL_LEN];
    const struct leat_pvm_octets *answer = &entry->answer;
    const size_t rest = offset < answer->len ? answer->len - offset : 0;
    const size_t here = rest < PART ? rest : PART;
    leat_put_be32(octets, (uint32_t)result);
    leat_put_be32(octets + 4, (uint32_t)answer->len);
    if (here) memcpy(octets + LEAT_PVM_ANSWER_HEAD, answer->at + offset, here);
    leat_hub_answer(service->hub, leat_pvm_slot(service, entry), entry->cookie, octets,
                    LEAT_PVM_ANSWER_HEAD + here, service->at);
}

void leat_pvm_reply(struct leat_pvm_service *service, struct leat_pvm_entry *entry, int result)
{
    entry->waits = LEAT_PVM_WAITS_NOT;
    if (entry->answer.failed) result = PvmNoMem;
    answer_part(service, entry, result, 0);
}

void leat_pvm_send_message(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                           int context, int tag, const struct leat_pvm_octets *body)
{
    uint8_t octets[LEAT_PVM_CALL_LEN];
    assert(body->len <= sizeof octets - LEAT_PVM_SIGNAL_HEAD);
    leat_put_be32(octets, (uint32_t)LEAT_PVM_DAEMON_TID);
    leat_put_be32(octets + 4, (uint32_t)context);
    leat_put_be32(octets + 8, (uint32_t)tag);
    memcpy(octets + LEAT_PVM_SIGNAL_HEAD, body->at, body->len);
    leat_hub_signal(service->hub, leat_pvm_slot(service, entry), octets,
                    LEAT_PVM_SIGNAL_HEAD + body->len, service->at);
}

/* ---- information about the machine ----------------------------------------------------------- */

static int on_enrol(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    const struct leat_port_means *means = leat_hub_means(service->hub);
    const uint64_t cast_max = LEAT_PVM_PIECE_HEAD + LEAT_PVM_PIECE_LEN; /* one piece */
    const bool is_used = means && service->config.collectives == LEAT_PVM_BY_NETWORK;
    entry->is_enrolled = true;
    leat_pvm_put_i32(&entry->answer, entry->tid);
    leat_pvm_put_i32(&entry->answer, entry->parent);
    leat_pvm_put_i32(&entry->answer, entry->context);
    leat_pvm_put_i32(&entry->answer, (int)service->config.slots);
    leat_pvm_put_sink(&entry->answer, &entry->sink);
    leat_pvm_put_i32(&entry->answer, (int)service->config.collectives);
    leat_pvm_put_i32(&entry->answer, is_used ? (int)leat_smaller(means->octets_max, cast_max) : 0);
    leat_pvm_put_i32(&entry->answer, is_used ? (int)leat_smaller(means->words_max, INT32_MAX) : 0);
    return PvmOk;
}

static int on_config(const struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    for (uint32_t i = 0; i < service->config.ports; i++) {
        char name[16];
        snprintf(name, sizeof name, "port%u", i);
        leat_pvm_put_text(&entry->answer, name);
    }
    return (int)service->config.ports;
}

static bool is_listed(const struct leat_pvm_entry *entry, int where)
{
    if (!entry->is_used || entry->has_left || !(entry->is_enrolled || entry->is_spawned))
        return false;
    return !where || where == entry->tid || where == (entry->tid & LEAT_PVM_HOST_MASK);
}

static int on_tasks(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    enum { CONNECTED = 4 };
    const int where = leat_pvm_get_i32(&entry->question);
    const bool is_host = where && !(where & ~LEAT_PVM_HOST_MASK);
    int count = 0;
    if (where < 0) return PvmBadParam;
    if (is_host && where > leat_pvm_host_tid(service->config.ports - 1)) return PvmNoHost;
    for (uint32_t i = 0; i < service->config.slots; i++) {
        const struct leat_pvm_entry *e = &service->entry[i];
        if (!is_listed(e, where)) continue;
        count++;
        leat_pvm_put_i32(&entry->answer, e->tid);
        leat_pvm_put_i32(&entry->answer, e->parent < 0 ? 0 : e->parent);
        leat_pvm_put_i32(&entry->answer, e->tid & LEAT_PVM_HOST_MASK);
        leat_pvm_put_i32(&entry->answer, e->is_enrolled ? CONNECTED : 0);
        leat_pvm_put_i32(&entry->answer, (int)e->process->pid);
        leat_pvm_put_text(&entry->answer, e->name);
    }
    return count;
}

static int on_siblings(struct leat_pvm_entry *entry)
{
    if (!entry->sibling_count) {
        leat_pvm_put_i32(&entry->answer, entry->tid);
        return 1;
    }
    for (int i = 0; i < entry->sibling_count; i++)
        leat_pvm_put_i32(&entry->answer, entry->sibling[i]);
    return entry->sibling_count;
}

static int on_pstat(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    return leat_pvm_find(service, leat_pvm_get_i32(&entry->question)) ? PvmOk : PvmNoTask;
}

static int on_set_output(struct leat_pvm_entry *entry)
{
    entry->sink = leat_pvm_get_sink(&entry->question);
    return PvmOk;
}

/* ---- contexts -------------------------------------------------------------------------------- */

enum { CONTEXT_BASE = 1 << LEAT_PVM_HOST_SHIFT, CONTEXTS_MAX = 1 << 16 };

static int on_new_context(struct leat_pvm_service *service)
{
    size_t i = 0;
    while (i < service->context_count && service->context_is_used[i])
        i++;
    if (i == CONTEXTS_MAX) return PvmOutOfRes;
    if (i == service->context_count) {
        const size_t count = 2 * i + 16;
        service->context_is_used = leat_child_grown(service->context_is_used, count, sizeof(bool));
        memset(service->context_is_used + i, 0, (count - i) * sizeof(bool));
        service->context_count = count;
    }
    service->context_is_used[i] = true;
    return CONTEXT_BASE + 1 + (int)i;
}

static int on_free_context(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    const int64_t i = (int64_t)leat_pvm_get_i32(&entry->question) - CONTEXT_BASE - 1;
    if (i < 0 || (size_t)i >= service->context_count || !service->context_is_used[i])
        return PvmNotFound;
    service->context_is_used[i] = false;
    return PvmOk;
}

/* ---- notices --------------------------------------------------------------------------------- */

static void notice_send(struct leat_pvm_service *service, const struct leat_pvm_notice *notice)
{
    struct leat_pvm_octets body = { 0 };
    leat_pvm_put_i32(&body, notice->tid);
    if (!body.failed)
        leat_pvm_send_message(service, &service->entry[notice->subscriber], notice->context,
                              notice->tag, &body);
    leat_pvm_octets_free(&body);
}

/* Sends, or just discards, all that `is_meant` selects. Returns how many. */
static size_t notices_settle(struct leat_pvm_service *service, const struct leat_pvm_notice *like,
                             bool (*is_meant)(const struct leat_pvm_notice *notice,
                                              const struct leat_pvm_notice *like),
                             bool send)
{
    size_t kept = 0, settled = 0;
    for (size_t i = 0; i < service->notice_count; i++) {
        const struct leat_pvm_notice notice = service->notice[i];
        if (!is_meant(&notice, like)) {
            service->notice[kept++] = notice;
            continue;
        }
        settled++;
        if (send) notice_send(service, &notice);
    }
    service->notice_count = kept;
    return settled;
}

static bool is_same(const struct leat_pvm_notice *a, const struct leat_pvm_notice *b)
{
    return a->subscriber == b->subscriber && a->kind == b->kind && a->tag == b->tag &&
           a->tid == b->tid;
}

static bool is_about(const struct leat_pvm_notice *notice, const struct leat_pvm_notice *like)
{
    return notice->kind == PvmTaskExit && notice->tid == like->tid;
}

static bool is_for(const struct leat_pvm_notice *notice, const struct leat_pvm_notice *like)
{
    return notice->subscriber == like->subscriber;
}

static bool is_there(struct leat_pvm_service *service, const struct leat_pvm_notice *notice)
{
    if (notice->kind == PvmTaskExit) return leat_pvm_find(service, notice->tid) != NULL;
    return notice->tid > 0 && !(notice->tid & ~LEAT_PVM_HOST_MASK) &&
           notice->tid <= leat_pvm_host_tid(service->config.ports - 1);
}

/* A task that is already gone is reported at once. */
static int on_notify(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    struct leat_pvm_notice notice = { .subscriber = leat_pvm_slot(service, entry) };
    const int what = leat_pvm_get_i32(&entry->question);
    notice.kind = what & ~PvmNotifyCancel;
    notice.context = leat_pvm_get_i32(&entry->question);
    notice.tag = leat_pvm_get_i32(&entry->question);
    const int count = leat_pvm_get_i32(&entry->question);
    for (int i = 0; i < count && !entry->question.failed; i++) {
        notice.tid = leat_pvm_get_i32(&entry->question);
        if (what & PvmNotifyCancel) {
            notices_settle(service, &notice, is_same, true);
        } else if (!is_there(service, &notice)) {
            notice_send(service, &notice);
        } else {
            service->notice = leat_child_grown(service->notice, service->notice_count + 1,
                                               sizeof notice);
            service->notice[service->notice_count++] = notice;
        }
    }
    return PvmOk;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int handle(struct leat_pvm_service *service, struct leat_pvm_entry *entry,
                  enum leat_pvm_op op)
{
    switch (op) {
    case LEAT_PVM_ENROL: return on_enrol(service, entry);
    case LEAT_PVM_CONFIG: return on_config(service, entry);
    case LEAT_PVM_TASKS: return on_tasks(service, entry);
    case LEAT_PVM_SPAWN: return leat_pvm_on_spawn(service, entry);
    case LEAT_PVM_SIBLINGS: return on_siblings(entry);
    case LEAT_PVM_CAST: return leat_pvm_on_cast(service, entry);
    case LEAT_PVM_SENDSIG: return leat_pvm_on_signal(service, entry);
    case LEAT_PVM_PSTAT: return on_pstat(service, entry);
    case LEAT_PVM_HALT: return leat_pvm_on_halt(service);
    case LEAT_PVM_NOTIFY: return on_notify(service, entry);
    case LEAT_PVM_NEW_CONTEXT: return on_new_context(service);
    case LEAT_PVM_FREE_CONTEXT: return on_free_context(service, entry);
    case LEAT_PVM_SET_OUTPUT: return on_set_output(entry);
    case LEAT_PVM_AWAIT_OUTPUT: return leat_pvm_on_await_output(service, entry);
    case LEAT_PVM_MAIL_PUT: return leat_pvm_on_mail_put(service, entry);
    case LEAT_PVM_MAIL_GET: return leat_pvm_on_mail_get(service, entry);
    case LEAT_PVM_MAIL_DELETE: return leat_pvm_on_mail_delete(service, entry);
    case LEAT_PVM_MAIL_LIST: return leat_pvm_on_mail_list(service, entry);
    case LEAT_PVM_GROUP_JOIN:
    case LEAT_PVM_GROUP_LEAVE:
    case LEAT_PVM_GROUP_SIZE:
    case LEAT_PVM_GROUP_TID:
    case LEAT_PVM_GROUP_INST:
    case LEAT_PVM_GROUP_LIST:
    case LEAT_PVM_GROUP_BARRIER:
    case LEAT_PVM_GROUP_REDUCE:
    case LEAT_PVM_GROUP_FREEZE: return leat_pvm_on_group(service, entry, op);
    case LEAT_PVM_MORE:
    case LEAT_PVM_FETCH: break; /* handled by on_call */
    }
    return PvmBadParam;
}

static void on_call(void *context, struct leat_hub *hub, uint32_t task, uint64_t cookie,
                    const uint8_t *question, size_t len, leat_time at)
{
    struct leat_pvm_service *service = context;
    struct leat_pvm_entry *entry = &service->entry[task];
    service->hub = hub;
    service->at = at;
    entry->cookie = cookie;
    if (len < LEAT_PVM_QUESTION_HEAD) {
        leat_pvm_reply(service, entry, PvmBadParam);
        return;
    }
    const enum leat_pvm_op op = (enum leat_pvm_op)question[0];
    const bool more = question[1];
    if (op == LEAT_PVM_FETCH && len >= LEAT_PVM_QUESTION_HEAD + 4) {
        answer_part(service, entry, PvmOk, leat_get_be32(question + LEAT_PVM_QUESTION_HEAD));
        return;
    }
    leat_pvm_put(&entry->question, question + LEAT_PVM_QUESTION_HEAD, len - LEAT_PVM_QUESTION_HEAD);
    leat_pvm_octets_clear(&entry->answer);
    leat_pvm_output_take(service, entry);
    leat_pvm_output_take_for(service, entry->tid);
    const int result = more ? PvmOk : handle(service, entry, op);
    if (result != LEAT_PVM_LATER) leat_pvm_reply(service, entry, result);
    if (!more) leat_pvm_octets_clear(&entry->question);
}

static void on_carried(void *context, struct leat_hub *hub, uint64_t cookie, leat_time at)
{
    struct leat_pvm_service *service = context;
    service->hub = hub;
    service->at = at;
    leat_pvm_group_carried(service, cookie);
}

static void on_collected(void *context, struct leat_hub *hub, uint32_t task, uint64_t cookie,
                         bool is_redone, const uint64_t *word, uint32_t words, leat_time at)
{
    struct leat_pvm_service *service = context;
    struct leat_pvm_entry *entry = &service->entry[task];
    service->hub = hub;
    service->at = at;
    if (entry->waits != LEAT_PVM_WAITS_NETWORK || entry->cookie != cookie) return; /* it went on */
    leat_pvm_put_i32(&entry->answer, is_redone ? LEAT_COLLECT_FAILURE : LEAT_COLLECT_BY_NETWORK);
    leat_pvm_put(&entry->answer, word, words * sizeof *word);
    leat_pvm_reply(service, entry, PvmOk);
}

/* ---- tasks that end -------------------------------------------------------------------------- */

/* A program may have the stock group library built in; its group server, a task of its own, waits
 * for ever. */
static bool only_servers_are_left(const struct leat_pvm_service *service)
{
    bool any = false;
    for (uint32_t i = 0; i < service->config.slots; i++) {
        const struct leat_pvm_entry *entry = &service->entry[i];
        if (!entry->is_used || entry->has_left) continue;
        if (!entry->is_spawned || strcmp(entry->name, "pvmgs") != 0) return false;
        any = true;
    }
    return any;
}

/* A task that dies, rather than ends, ends the run: unless it was killed on purpose, or another
 * task watches it. */
static bool on_gone(void *context, struct leat_hub *hub, uint32_t task, bool died, leat_time at)
{
    struct leat_pvm_service *service = context;
    struct leat_pvm_entry *entry = &service->entry[task];
    const struct leat_pvm_notice like = { .subscriber = task, .tid = entry->tid };
    service->hub = hub;
    service->at = at;
    leat_child_await(entry->process, service->config.interrupted);
    entry->has_left = true;
    entry->waits = LEAT_PVM_WAITS_NOT;
    leat_pvm_output_end(service, entry);
    notices_settle(service, &like, is_for, false);
    const bool is_watched = notices_settle(service, &like, is_about, true) > 0;
    leat_pvm_group_member_gone(service, entry->tid);
    leat_pvm_mail_owner_gone(service, entry->tid);
    if (only_servers_are_left(service)) leat_pvm_on_halt(service);
    const bool has_begun = entry->is_enrolled || entry->is_spawned;
    const bool crashed = leat_child_reap(entry->process, false) &&
                         WIFSIGNALED(entry->process->status);
    return !died || entry->was_signalled || is_watched || (has_begun && !crashed);
}

/* ---- the service ----------------------------------------------------------------------------- */

struct leat_pvm_service *leat_pvm_service_create(const struct leat_pvm_service_config *config,
                                                 char *why, size_t why_cap)
{
    if (config->ports > LEAT_PVM_HOSTS_MAX) {
        snprintf(why, why_cap, "a virtual machine has at most %d hosts, the network has %u ports",
                 LEAT_PVM_HOSTS_MAX, config->ports);
        return NULL;
    }
    struct leat_pvm_service *service = leat_child_grown(NULL, 1, sizeof *service);
    *service = (struct leat_pvm_service){ .config = *config };
    service->port = leat_child_grown(NULL, config->slots, sizeof *service->port);
    service->entry = leat_child_grown(NULL, config->slots, sizeof *service->entry);
    service->process = leat_child_grown(NULL, config->slots, sizeof *service->process);
    for (uint32_t i = 0; i < config->slots; i++) {
        service->port[i] = config->port ? config->port[i] : i % config->ports;
        service->entry[i] = (struct leat_pvm_entry){ .process = &service->process[i] };
        leat_child_init(&service->process[i]);
    }
    return service;
}

static void entry_free(struct leat_pvm_entry *entry)
{
    free(entry->name);
    free(entry->sibling);
    leat_child_free(entry->process);
    leat_pvm_octets_free(&entry->question);
    leat_pvm_octets_free(&entry->answer);
}

void leat_pvm_service_destroy(struct leat_pvm_service *service)
{
    for (uint32_t i = 0; i < service->config.slots; i++)
        entry_free(&service->entry[i]);
    leat_pvm_mail_free(service);
    leat_pvm_group_free(service);
    free(service->context_is_used);
    free(service->notice);
    free(service->entry);
    free(service->process);
    free(service->port);
    free(service);
}

struct leat_hub_service leat_pvm_service_hooks(struct leat_pvm_service *service)
{
    return (struct leat_hub_service){ .context = service,
                                      .call = on_call,
                                      .gone = on_gone,
                                      .carried = on_carried,
                                      .collected = on_collected };
}

const uint32_t *leat_pvm_service_ports(const struct leat_pvm_service *service)
{
    return service->port;
}
