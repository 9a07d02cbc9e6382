/*
 * Processes of tasks: found, started, signalled, awaited.
 *
 * Arguments of LEAT_PVM_SPAWN: program, flags, where, count, context, the three numbers of the sink
 * of its output, count and texts of its arguments, count and texts of its variables.
 */
#include "pvm_service_parts.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    NO_PROCESS = INT32_MAX, /* no process has this number */
    TASKS_MAX_OF_A_SPAWN = 4096,
};

/* ---- spawning -------------------------------------------------------------------------------- */

struct spawn {
    const char *name;
    int flags;
    char *host, *directory; /* both from `where` */
    int count, context;
    struct leat_pvm_sink sink;
    struct leat_child_words argv, exports;
    char *file;
    bool *is_allowed; /* of each port; NULL: the slot's port */
};

static struct leat_child_words read_list(struct leat_pvm_octets *from)
{
    struct leat_child_words list = leat_child_words_of(NULL);
    const int count = leat_pvm_get_i32(from);
    for (int i = 0; i < count && !from->failed; i++)
        leat_child_words_append(&list, leat_pvm_get_text(from));
    return list;
}

static bool spawn_read(struct leat_pvm_octets *question, struct spawn *out)
{
    *out = (struct spawn){ .name = leat_pvm_get_text(question) };
    out->flags = leat_pvm_get_i32(question);
    out->host = leat_child_copied(leat_pvm_get_text(question));
    char *colon = strchr(out->host, ':');
    if (colon) {
        *colon = 0;
        out->directory = colon + 1;
    }
    out->count = leat_pvm_get_i32(question);
    out->context = leat_pvm_get_i32(question);
    out->sink = leat_pvm_get_sink(question);
    out->argv = read_list(question);
    out->exports = read_list(question);
    return !question->failed && out->count > 0 && out->count <= TASKS_MAX_OF_A_SPAWN;
}

static void spawn_free(struct spawn *spawn)
{
    free(spawn->host);
    leat_child_words_free(&spawn->argv);
    leat_child_words_free(&spawn->exports);
    free(spawn->file);
    free(spawn->is_allowed);
}

/* Which ports are allowed? False: none. */
static bool choose_ports(const struct leat_pvm_service *service,
                         const struct leat_pvm_entry *parent, struct spawn *spawn)
{
    const uint32_t ports = service->config.ports;
    const bool by_host = spawn->flags & PvmTaskHost, by_kind = spawn->flags & PvmTaskArch;
    const bool is_complement = spawn->flags & PvmHostCompl;
    bool any = false;
    if (!by_host && !by_kind && !is_complement) return true;
    spawn->is_allowed = leat_child_grown(NULL, ports, sizeof(bool));
    for (uint32_t i = 0; i < ports; i++) {
        char name[16];
        snprintf(name, sizeof name, "port%u", i);
        bool is_meant = true;
        if (by_host && !strcmp(spawn->host, "."))
            is_meant = leat_pvm_host_tid(i) == (parent->tid & LEAT_PVM_HOST_MASK);
        else if (by_host)
            is_meant = !strcmp(spawn->host, name);
        else if (by_kind)
            is_meant = !strcmp(spawn->host, "LINUX64");
        spawn->is_allowed[i] = is_meant != is_complement;
        any |= spawn->is_allowed[i];
    }
    return any;
}

static uint32_t next_allowed_port(struct leat_pvm_service *service, const struct spawn *spawn)
{
    uint32_t port = service->next_port % service->config.ports;
    while (!spawn->is_allowed[port])
        port = (port + 1) % service->config.ports;
    service->next_port = port + 1;
    return port;
}

static void entry_begin(const struct leat_pvm_service *service, uint32_t slot, const char *name)
{
    struct leat_pvm_entry *entry = &service->entry[slot];
    entry->is_used = true;
    entry->tid = leat_pvm_task_tid(slot, service->port[slot]);
    entry->parent = PvmNoParent;
    entry->name = leat_child_copied(name);
}

/* One task: its identifier, or an error. */
static int spawn_one(struct leat_pvm_service *service, const struct leat_pvm_entry *parent,
                     struct spawn *spawn)
{
    const uint32_t slot = leat_hub_next_slots(service->hub, 1);
    if (slot == service->config.slots) return PvmOutOfRes;
    if (spawn->is_allowed) service->port[slot] = next_allowed_port(service, spawn);
    leat_hub_expect(service->hub, slot);
    struct leat_pvm_entry *entry = &service->entry[slot];
    const bool has_begun = leat_child_begin_task(
        entry->process, service->hub, slot, service->config.environment, spawn->exports.text,
        &(struct leat_child_start){ .file = spawn->file,
                                    .argv = spawn->argv.text,
                                    .directory = spawn->directory,
                                    .input = LEAT_CHILD_NO_INPUT,
                                    .collect = true });
    if (!has_begun) leat_hub_expect_pid(service->hub, slot, NO_PROCESS);
    entry_begin(service, slot, spawn->name);
    entry->is_spawned = true;
    entry->was_signalled = !has_begun; /* it ended before it began, which is reported */
    entry->parent = spawn->flags & PvmNoSpawnParent ? PvmParentNotSet : parent->tid;
    entry->context = spawn->context;
    entry->sink = spawn->sink;
    if (!has_begun) return PvmOutOfRes;
    leat_pvm_output_begin(service, entry);
    return entry->tid;
}

static void note_siblings(struct leat_pvm_service *service, const int *tids, int count)
{
    for (int i = 0; i < count; i++) {
        struct leat_pvm_entry *entry = leat_pvm_find(service, tids[i]);
        entry->sibling = leat_child_grown(NULL, (size_t)count, sizeof *tids);
        memcpy(entry->sibling, tids, (size_t)count * sizeof *tids);
        entry->sibling_count = count;
    }
}

/* Those that were started come first, then the errors of the others. */
static int spawn_all(struct leat_pvm_service *service, struct leat_pvm_entry *parent,
                     struct spawn *spawn, int error)
{
    int *tids = leat_child_grown(NULL, (size_t)spawn->count, sizeof *tids);
    int started = 0;
    for (int i = 0; i < spawn->count; i++) {
        const int tid = error < 0 ? error : spawn_one(service, parent, spawn);
        if (tid >= 0)
            tids[started++] = tid;
        else
            error = tid;
    }
    note_siblings(service, tids, started);
    for (int i = 0; i < spawn->count; i++)
        leat_pvm_put_i32(&parent->answer, i < started ? tids[i] : error);
    free(tids);
    return started;
}

int leat_pvm_on_spawn(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    struct spawn spawn;
    int result = PvmBadParam;
    if (spawn_read(&entry->question, &spawn)) {
        int error = PvmOk;
        spawn.file = leat_child_find(spawn.name, service->config.path);
        if (!spawn.file)
            error = PvmNoFile;
        else if (!choose_ports(service, entry, &spawn))
            error = PvmNoHost;
        struct leat_child_words argv = leat_child_words_of(NULL);
        leat_child_words_append(&argv, spawn.file ? spawn.file : spawn.name);
        for (size_t i = 0; i < spawn.argv.count; i++)
            leat_child_words_append(&argv, spawn.argv.text[i]);
        leat_child_words_free(&spawn.argv);
        spawn.argv = argv;
        result = spawn_all(service, entry, &spawn, error);
    }
    spawn_free(&spawn);
    return result;
}

bool leat_pvm_service_start(struct leat_pvm_service *service, struct leat_hub *hub, uint32_t slot,
                            char *const *argv, char *why, size_t why_cap)
{
    char *file = leat_child_find_named(argv[0], service->config.path);
    if (!file) {
        snprintf(why, why_cap, "%s: there is no such program", argv[0]);
        return false;
    }
    const bool has_begun = leat_child_begin_task(
        &service->process[slot], hub, slot, service->config.environment, NULL,
        &(struct leat_child_start){ .file = file,
                                    .argv = argv,
                                    .input = slot ? LEAT_CHILD_NO_INPUT : LEAT_CHILD_OWN_INPUT });
    if (has_begun)
        entry_begin(service, slot, "");
    else
        snprintf(why, why_cap, "%s: %s", argv[0], strerror(errno));
    free(file);
    return has_begun;
}

/* ---- signals and the end --------------------------------------------------------------------- */

/* Wakes a waiting task, so that its end is noticed. */
static void send_signal(struct leat_pvm_service *service, struct leat_pvm_entry *entry, int number)
{
    if (leat_child_reap(entry->process, false)) return;
    kill(entry->process->pid, number);
    if (!number) return;
    entry->was_signalled = true;
    leat_hub_signal(service->hub, leat_pvm_slot(service, entry), "", 0, service->at);
}

int leat_pvm_on_signal(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    struct leat_pvm_entry *to = leat_pvm_find(service, leat_pvm_get_i32(&entry->question));
    const int number = leat_pvm_get_i32(&entry->question);
    if (to) send_signal(service, to, number);
    return PvmOk; /* a task that is gone cannot be distinguished from one that is just ending */
}

int leat_pvm_on_halt(struct leat_pvm_service *service)
{
    for (uint32_t i = 0; i < service->config.slots; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        if (entry->is_used && !entry->has_left) send_signal(service, entry, SIGTERM);
    }
    return PvmOk;
}

void leat_pvm_service_finish(struct leat_pvm_service *service, bool at_once)
{
    leat_child_end_all(service->process, service->config.slots, at_once,
                       service->config.interrupted);
    for (uint32_t i = 0; i < service->config.slots; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        entry->has_left = true; /* nobody catches its output any more */
    }
    for (uint32_t i = 0; i < service->config.slots; i++)
        leat_pvm_output_end(service, &service->entry[i]);
}
