#include "thesis_service.h"
#include "child.h"
#include "thesis_records.h"
#include "thesis_shared.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { NAME_CAP = 24, REASON_CAP = 256, PART_LEN = 4096 };

struct entry {
    struct leat_atm_task_id id;
    bool is_used, has_joined;
    uint64_t cookie; /* of its last query */
    struct leat_atm_question question;
    struct leat_atm_task_id to; /* SEND */
    /* The message that it writes, and the one that it reads. */
    uint64_t granted_cycle, octets_put;
    uint64_t got_cycle, octets_got;
    int32_t type_got;
};

struct leat_atm_service {
    struct leat_atm_service_config config;
    struct entry *entry;
    struct leat_child *process; /* of each slot */
    struct leat_hub *hub;       /* of the current call */
    char *const *argv;          /* of the first task */
    uint8_t *answer;
    size_t answer_cap;
    struct leat_atm_records records;
};

static uint32_t slot_of(const struct leat_atm_service *service, const struct entry *entry)
{
    return (uint32_t)(entry - service->entry);
}

void leat_atm_service_name(const struct leat_atm_service *service, uint32_t slot, char *out,
                           size_t cap)
{
    const struct leat_atm_task_id *id = &service->entry[slot].id;
    snprintf(out, cap, "%s %d", id->name, id->instance);
}

/* This task ends the run. */
__attribute__((format(printf, 4, 5))) static void stop(struct leat_atm_service *service,
                                                       const struct entry *entry,
                                                       enum leat_hub_end end, const char *format,
                                                       ...)
{
    char text[REASON_CAP];
    const int len = snprintf(text, sizeof text, "task %u: %s %d: ", slot_of(service, entry),
                             entry->id.name, entry->id.instance);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + len, sizeof text - (size_t)len, format, arguments);
    va_end(arguments);
    leat_hub_stop(service->hub, end, text);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void send_answer(struct leat_atm_service *service, const struct entry *entry,
                        const struct leat_atm_answer *answer, const uint8_t *octets, size_t len,
                        leat_time at)
{
    const leat_time now = leat_hub_now(service->hub);
    if (service->answer_cap < sizeof *answer + len) {
        service->answer_cap = sizeof *answer + len;
        service->answer = leat_child_grown(service->answer, service->answer_cap, 1);
    }
    memcpy(service->answer, answer, sizeof *answer);
    if (len) memcpy(service->answer + sizeof *answer, octets, len);
    leat_hub_answer(service->hub, slot_of(service, entry), entry->cookie, service->answer,
                    sizeof *answer + len, at > now ? at : now);
}

static void send_answer_now(struct leat_atm_service *service, const struct entry *entry,
                            const struct leat_atm_answer *answer)
{
    send_answer(service, entry, answer, NULL, 0, leat_hub_now(service->hub));
}

/* ---- the process table ----------------------------------------------------------------------- */

/* NULL: it is not in the table. For all of a name: the first of them. */
static struct entry *find(const struct leat_atm_service *service, const char *name,
                          int32_t instance)
{
    for (uint32_t i = 0; i < service->config.slots && service->entry[i].is_used; i++) {
        struct entry *entry = &service->entry[i];
        if (memcmp(entry->id.name, name, sizeof entry->id.name) != 0) continue;
        if (instance == LEAT_ATM_ALL || instance == entry->id.instance) return entry;
    }
    return NULL;
}

static void enter(struct leat_atm_service *service, uint32_t slot, const char *name,
                  int32_t instance)
{
    struct entry *entry = &service->entry[slot];
    *entry = (struct entry){
        .is_used = true, .id = { .instance = instance, .is_first = slot < service->config.tasks }
    };
    memcpy(entry->id.name, name, LEAT_PLATFORM_NAME_LEN);
}

static bool join(const struct leat_atm_service *service, uint32_t slot, const char *name,
                 int32_t instance)
{
    struct leat_platform *platform = service->config.platform;
    return platform->join(platform, slot, service->config.port[slot], name, (uint32_t)instance);
}

/* ---- starting -------------------------------------------------------------------------------- */

static bool begin_process(struct leat_atm_service *service, struct leat_hub *hub, uint32_t slot,
                          const char *file, char *const *argv, bool is_first)
{
    return leat_child_begin_task(
        &service->process[slot], hub, slot, service->config.environment, NULL,
        &(struct leat_child_start){ .file = file,
                                    .argv = argv,
                                    .input = slot ? LEAT_CHILD_NO_INPUT : LEAT_CHILD_OWN_INPUT,
                                    .collect = !is_first });
}

bool leat_atm_service_start(struct leat_atm_service *service, struct leat_hub *hub, uint32_t slot,
                            char *const *argv, char *why, size_t why_cap)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    service->argv = argv;
    if (strlen(name) < LEAT_PLATFORM_NAME_LEN) {
        snprintf(why, why_cap, "its name is too short to be a task's, expected three letters");
        return false;
    }
    if (!join(service, slot, name, (int32_t)slot)) {
        snprintf(why, why_cap, "port %u has no room for one more of them",
                 service->config.port[slot]);
        return false;
    }
    enter(service, slot, name, (int32_t)slot);
    char *file = leat_child_find_named(argv[0], service->config.path);
    const bool has_begun = file && begin_process(service, hub, slot, file, argv, true);
    if (!has_begun) snprintf(why, why_cap, "%s", file ? strerror(errno) : "no such program");
    free(file);
    return has_begun;
}

/* With the arguments of the first program. */
static bool begin_started(struct leat_atm_service *service, uint32_t slot, const char *file)
{
    struct leat_child_words argv = leat_child_words_of(NULL);
    leat_child_words_append(&argv, file);
    for (char *const *word = service->argv + 1; *word; word++)
        leat_child_words_append(&argv, *word);
    leat_hub_expect(service->hub, slot);
    const bool has_begun = begin_process(service, service->hub, slot, file, argv.text, false);
    leat_child_words_free(&argv);
    return has_begun;
}

static void on_start(struct leat_atm_service *service, const struct entry *entry)
{
    const char *name = entry->question.name;
    const int32_t instance = entry->question.instance;
    const uint32_t slot = leat_hub_next_slots(service->hub, 1);
    char *file = leat_child_find(name, service->config.path);
    if (find(service, name, instance))
        stop(service, entry, LEAT_HUB_FAILED, "atmstart: %s %d is in the process table already",
             name, instance);
    else if (!file)
        stop(service, entry, LEAT_HUB_FAILED,
             "atmstart: no program %s, neither beside the first one nor in PATH", name);
    else if (slot == service->config.slots)
        stop(service, entry, LEAT_HUB_FAILED, "atmstart of %s %d: a run has room for %u tasks",
             name, instance, slot);
    else if (!join(service, slot, name, instance))
        stop(service, entry, LEAT_HUB_FAILED,
             "atmstart of %s %d: port %u has as many tasks of that name as its unit serves", name,
             instance, service->config.port[slot]);
    else if (!begin_started(service, slot, file))
        stop(service, entry, LEAT_HUB_FAILED, "atmstart of %s %d: %s", name, instance,
             strerror(errno));
    else {
        enter(service, slot, name, instance);
        send_answer_now(service, entry, &(struct leat_atm_answer){ 0 });
    }
    free(file);
}

/* ---- queries about the run ------------------------------------------------------------------- */

static void on_join(struct leat_atm_service *service, struct entry *entry)
{
    struct leat_atm_answer answer = { .instance = entry->id.instance,
                                      .port =
                                          (int32_t)service->config.port[slot_of(service, entry)] };
    memcpy(answer.name, entry->id.name, sizeof answer.name);
    entry->has_joined = true;
    send_answer_now(service, entry, &answer);
}

static void on_port(struct leat_atm_service *service, const struct entry *entry)
{
    const struct entry *there = find(service, entry->question.name, entry->question.instance);
    send_answer_now(
        service, entry,
        &(struct leat_atm_answer){
            .port = there ? (int32_t)service->config.port[slot_of(service, there)] : -1 });
}

static void on_cycle(struct leat_atm_service *service, const struct entry *entry)
{
    struct leat_platform *platform = service->config.platform;
    send_answer_now(service, entry,
                    &(struct leat_atm_answer){ .cycle = platform->cycle(platform) });
}

/* ---- queries to the unit --------------------------------------------------------------------- */

static void ask(struct leat_atm_service *service, struct leat_platform_request request)
{
    struct leat_platform *platform = service->config.platform;
    platform->ask(platform, &request);
}

static void on_put(struct leat_atm_service *service, struct entry *entry, const uint8_t *octets,
                   size_t len)
{
    if (len > UINT32_MAX) {
        stop(service, entry, LEAT_HUB_FAILED, "atmput of %zu octets: no message is so long", len);
        return;
    }
    entry->octets_put += len;
    ask(service, (struct leat_platform_request){ .verb = LEAT_PLATFORM_PUT,
                                                 .task = slot_of(service, entry),
                                                 .octets = octets,
                                                 .len = (uint32_t)len });
}

static void on_send(struct leat_atm_service *service, struct entry *entry)
{
    const struct leat_atm_question *q = &entry->question;
    const struct entry *to = find(service, q->name, q->instance);
    const bool is_to_all = q->instance == LEAT_ATM_ALL;
    if (!to) {
        stop(service, entry, LEAT_HUB_FAILED, "atmsnd to %s %d, which is not in the process table",
             q->name, q->instance);
        return;
    }
    struct leat_platform_request request = {
        .verb = LEAT_PLATFORM_SEND,
        .task = slot_of(service, entry),
        .to = is_to_all ? LEAT_PLATFORM_ALL : service->config.port[slot_of(service, to)],
        .instance = is_to_all ? LEAT_PLATFORM_ALL : (uint32_t)q->instance,
        .type = (uint32_t)q->type,
    };
    memcpy(request.name, q->name, sizeof request.name);
    entry->to = to->id;
    entry->to.instance = q->instance;
    ask(service, request);
}

static void handle(struct leat_atm_service *service, struct entry *entry, const uint8_t *octets,
                   size_t len)
{
    struct leat_platform_request request = { .task = slot_of(service, entry),
                                             .type = (uint32_t)entry->question.type,
                                             .len = entry->question.len };
    switch (entry->question.op) {
    case LEAT_ATM_JOIN: on_join(service, entry); return;
    case LEAT_ATM_START: on_start(service, entry); return;
    case LEAT_ATM_PORT: on_port(service, entry); return;
    case LEAT_ATM_CYCLE: on_cycle(service, entry); return;
    case LEAT_ATM_PUT: on_put(service, entry, octets, len); return;
    case LEAT_ATM_SEND: on_send(service, entry); return;
    case LEAT_ATM_INITSEND: request.verb = LEAT_PLATFORM_INITSEND; break;
    case LEAT_ATM_RECEIVE: request.verb = LEAT_PLATFORM_RECEIVE; break;
    case LEAT_ATM_GET: request.verb = LEAT_PLATFORM_GET; break;
    case LEAT_ATM_READ_END: request.verb = LEAT_PLATFORM_READ_END; break;
    }
    ask(service, request);
}

/* ---- output of tasks ------------------------------------------------------------------------- */

static void take_output(struct leat_atm_service *service, const struct entry *entry,
                        bool to_the_end)
{
    const uint32_t slot = slot_of(service, entry);
    struct leat_child *process = &service->process[slot];
    char name[NAME_CAP];
    uint8_t octets[PART_LEN];
    size_t len;
    leat_atm_service_name(service, slot, name, sizeof name);
    while ((len = leat_child_read(process, octets, sizeof octets)) > 0)
        leat_child_log(process, service->config.log, name, octets, len);
    if (to_the_end) leat_child_log_end(process, service->config.log, name);
}

/* ---- the hub's side -------------------------------------------------------------------------- */

static void on_call(void *context, struct leat_hub *hub, uint32_t task, uint64_t cookie,
                    const uint8_t *question, size_t len, leat_time at)
{
    struct leat_atm_service *service = context;
    struct entry *entry = &service->entry[task];
    (void)at;
    service->hub = hub;
    entry->cookie = cookie;
    memcpy(&entry->question, question, sizeof entry->question);
    take_output(service, entry, false);
    handle(service, entry, question + sizeof entry->question, len - sizeof entry->question);
}

/* A task that was killed, or whose process has ended without joining. */
static void stop_because_gone(struct leat_atm_service *service, const struct entry *entry)
{
    const struct leat_child *process = &service->process[slot_of(service, entry)];
    const bool is_killed = process->is_reaped && WIFSIGNALED(process->status);
    if (is_killed)
        stop(service, entry, LEAT_HUB_DIED, "it was killed by signal %d (%s)",
             WTERMSIG(process->status), strsignal(WTERMSIG(process->status)));
    else if (!entry->has_joined)
        stop(service, entry, LEAT_HUB_DIED,
             "its process has ended, with code %d, without having called atmjoin",
             WEXITSTATUS(process->status));
    else
        stop(service, entry, LEAT_HUB_DIED, "its process has ended without atmleave or exit");
}

static bool on_gone(void *context, struct leat_hub *hub, uint32_t task, bool died, leat_time at)
{
    struct leat_atm_service *service = context;
    struct entry *entry = &service->entry[task];
    (void)at;
    service->hub = hub;
    leat_child_await(&service->process[task], service->config.interrupted);
    leat_child_reap(&service->process[task], died);
    take_output(service, entry, true);
    if (died) stop_because_gone(service, entry);
    return !died;
}

/* ---- the platform's side --------------------------------------------------------------------- */

/* A message to all of a name counts once, for the first of them. */
static void note_sent(struct leat_atm_service *service, const struct entry *entry)
{
    const struct entry *to = find(service, entry->to.name, entry->to.instance);
    leat_hub_count_sent(service->hub, slot_of(service, entry), slot_of(service, to ? to : entry),
                        entry->octets_put);
    if (service->config.records)
        leat_atm_records_sent(&service->records, entry->granted_cycle, entry->question.type,
                              &entry->id, &entry->to);
}

static void note_received(struct leat_atm_service *service, const struct entry *entry)
{
    leat_hub_count_received(service->hub, slot_of(service, entry), entry->octets_got);
    if (service->config.records)
        leat_atm_records_received(&service->records, entry->got_cycle, entry->type_got, &entry->id);
}

static void note(struct leat_atm_service *service, struct entry *entry,
                 const struct leat_platform_reply *reply)
{
    switch (reply->verb) {
    case LEAT_PLATFORM_INITSEND:
        entry->granted_cycle = reply->cycle;
        entry->octets_put = 0;
        break;
    case LEAT_PLATFORM_PUT: break;
    case LEAT_PLATFORM_SEND: note_sent(service, entry); break;
    case LEAT_PLATFORM_RECEIVE:
        entry->got_cycle = reply->cycle;
        entry->octets_got = 0;
        entry->type_got = entry->question.type;
        break;
    case LEAT_PLATFORM_GET:
        entry->got_cycle = reply->cycle;
        entry->octets_got += reply->len;
        break;
    case LEAT_PLATFORM_READ_END: note_received(service, entry); break;
    }
}

static void on_reply(void *context, const struct leat_platform_reply *reply)
{
    static const char *const calls[] = {
        [LEAT_PLATFORM_INITSEND] = "atminitsend", [LEAT_PLATFORM_PUT] = "atmput",
        [LEAT_PLATFORM_SEND] = "atmsnd",          [LEAT_PLATFORM_RECEIVE] = "atmrcv",
        [LEAT_PLATFORM_GET] = "atmget",           [LEAT_PLATFORM_READ_END] = "rlcked = 0"
    };
    struct leat_atm_service *service = context;
    struct entry *entry = &service->entry[reply->task];
    if (reply->refusal) {
        stop(service, entry, LEAT_HUB_FAILED, "%s: %s", calls[reply->verb], reply->refusal);
        return;
    }
    note(service, entry, reply);
    send_answer(service, entry, &(struct leat_atm_answer){ .cycle = reply->cycle }, reply->octets,
                reply->verb == LEAT_PLATFORM_GET ? reply->len : 0,
                leat_time_add(reply->at, service->config.start));
}

static void on_lost(void *context, uint32_t from, uint32_t to, leat_time at)
{
    struct leat_atm_service *service = context;
    char text[REASON_CAP], port[24] = "all";
    (void)at;
    if (to != LEAT_PLATFORM_ALL) snprintf(port, sizeof port, "port %u", to);
    snprintf(text, sizeof text,
             "a message from port %u to %s was lost: its port gave it up after the last "
             "transmission, no acknowledgement came",
             from, port);
    leat_hub_stop(service->hub, LEAT_HUB_LOST, text);
}

/* ---- the service ----------------------------------------------------------------------------- */

struct leat_atm_service *leat_atm_service_create(const struct leat_atm_service_config *config)
{
    struct leat_atm_service *service = leat_child_grown(NULL, 1, sizeof *service);
    *service = (struct leat_atm_service){ .config = *config };
    service->entry = leat_child_grown(NULL, config->slots, sizeof *service->entry);
    service->process = leat_child_grown(NULL, config->slots, sizeof *service->process);
    for (uint32_t i = 0; i < config->slots; i++) {
        service->entry[i] = (struct entry){ 0 };
        leat_child_init(&service->process[i]);
    }
    config->platform->context = service;
    config->platform->reported = on_reply;
    config->platform->lost = on_lost;
    return service;
}

void leat_atm_service_destroy(struct leat_atm_service *service)
{
    for (uint32_t i = 0; i < service->config.slots; i++)
        leat_child_free(&service->process[i]);
    leat_atm_records_free(&service->records);
    free(service->answer);
    free(service->entry);
    free(service->process);
    free(service);
}

struct leat_hub_service leat_atm_service_hooks(struct leat_atm_service *service)
{
    return (struct leat_hub_service){ .context = service, .call = on_call, .gone = on_gone };
}

void leat_atm_service_finish(struct leat_atm_service *service, bool at_once)
{
    leat_child_end_all(service->process, service->config.slots, at_once,
                       service->config.interrupted);
    for (uint32_t i = 0; i < service->config.slots; i++)
        if (service->entry[i].is_used) take_output(service, &service->entry[i], true);
}

int leat_atm_service_status(const struct leat_atm_service *service, uint32_t slot)
{
    return service->process[slot].status;
}

void leat_atm_service_write_records(struct leat_atm_service *service, struct leat_text *out)
{
    leat_atm_records_write(&service->records, out);
}
