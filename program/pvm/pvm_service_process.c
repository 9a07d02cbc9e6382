/*
 * Processes of tasks: found, started, signalled, awaited.
 *
 * Arguments of LEAT_PVM_SPAWN: program, flags, where, count, context, the three numbers of the sink
 * of its output, count and texts of its arguments, count and texts of its variables.
 */
#include "pvm_service_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NO_PROCESS = INT32_MAX, /* no process has this number */
    END_AWAITED_MS = 10000, /* after a task has left, for its last output */
    TASKS_MAX_OF_A_SPAWN = 4096,
};

extern char **environ;

/* ---- programs -------------------------------------------------------------------------------- */

static bool is_program(const char *file)
{
    return access(file, X_OK) == 0;
}

/* Where the program is, in new memory; NULL: nowhere. */
static char *find_program(const char *name, const char *path)
{
    if (*name == '/') return is_program(name) ? leat_pvm_copied(name) : NULL;
    while (path && *path) {
        const size_t len = strcspn(path, ":");
        char *file = NULL;
        if (asprintf(&file, "%.*s/%s", len ? (int)len : 1, len ? path : ".", name) < 0) return NULL;
        if (is_program(file)) return file;
        free(file);
        path += len + (path[len] == ':');
    }
    return NULL;
}

/* ---- the environment of a task --------------------------------------------------------------- */

struct list {
    char **text; /* ends with NULL */
    size_t count;
};

static void list_append(struct list *list, char *text)
{
    list->text = leat_pvm_grown(list->text, list->count + 2, sizeof *list->text);
    list->text[list->count++] = text;
    list->text[list->count] = NULL;
}

static void list_free(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->text[i]);
    free(list->text);
}

/* Sets the variable, in place of an older one. */
static void list_set(struct list *list, const char *variable)
{
    const size_t len = strcspn(variable, "=") + 1;
    for (size_t i = 0; i < list->count; i++) {
        if (strncmp(list->text[i], variable, len)) continue;
        free(list->text[i]);
        list->text[i] = leat_pvm_copied(variable);
        return;
    }
    list_append(list, leat_pvm_copied(variable));
}

static struct list list_of(char *const *texts)
{
    struct list list = { leat_pvm_grown(NULL, 1, sizeof(char *)), 0 };
    list.text[0] = NULL;
    for (; texts && *texts; texts++)
        list_append(&list, leat_pvm_copied(*texts));
    return list;
}

static struct list environment_of(const struct leat_pvm_service *service,
                                  const struct leat_hub *hub, uint32_t slot,
                                  const struct list *exports)
{
    struct list list = list_of(environ);
    char text[128];
    for (char *const *v = service->config.environment; v && *v; v++)
        list_set(&list, *v);
    for (size_t i = 0; exports && i < exports->count; i++)
        list_set(&list, exports->text[i]);
    snprintf(text, sizeof text, LEAT_TASK_RUN_VARIABLE "=%s", leat_hub_path(hub));
    list_set(&list, text);
    snprintf(text, sizeof text, LEAT_TASK_SLOT_VARIABLE "=%u", slot);
    list_set(&list, text);
    return list;
}

/* ---- processes ------------------------------------------------------------------------------- */

struct start {
    const char *file;
    char *const *argv;
    char *const *environment;
    const char *directory; /* NULL: the maestro's */
    int input, output;     /* -1: the maestro's; input -2: none */
};

/* In the new process. It must not outlive the maestro. */
static _Noreturn void become(const struct start *start, pid_t maestro)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != maestro) _exit(1);
    if (start->input == -2) {
        const int nothing = open("/dev/null", O_RDONLY);
        if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    }
    if (start->output >= 0) {
        dup2(start->output, STDOUT_FILENO);
        dup2(start->output, STDERR_FILENO);
    }
    if (!start->directory || !chdir(start->directory))
        execve(start->file, start->argv, start->environment);
    _exit(127);
}

static pid_t begin_process(const struct start *start)
{
    const pid_t maestro = getpid();
    fflush(NULL);
    const pid_t pid = fork();
    if (!pid) become(start, maestro);
    return pid;
}

bool leat_pvm_reap(struct leat_pvm_entry *entry, bool wait)
{
    if (entry->is_reaped || entry->pid <= 0) return true;
    pid_t pid;
    do
        pid = waitpid(entry->pid, &entry->status, wait ? 0 : WNOHANG);
    while (pid < 0 && errno == EINTR);
    entry->is_reaped = pid != 0;
    return entry->is_reaped;
}

/* Those whose output is collected are to be heard to the end; but not for ever. */
void leat_pvm_await_process(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    for (int ms = 0; entry->output >= 0 && !leat_pvm_reap(entry, false); ms++) {
        if (ms == END_AWAITED_MS) return;
        if (service->config.interrupted && service->config.interrupted()) return;
        poll(NULL, 0, 1);
    }
}

/* ---- spawning -------------------------------------------------------------------------------- */

struct spawn {
    const char *name;
    int flags;
    char *host, *directory; /* both from `where` */
    int count, context;
    struct leat_pvm_sink sink;
    struct list argv, exports;
    char *file;
    bool *is_allowed; /* of each port; NULL: wherever the slot is */
};

static struct list read_list(struct leat_pvm_octets *from)
{
    struct list list = list_of(NULL);
    const int count = leat_pvm_get_i32(from);
    for (int i = 0; i < count && !from->failed; i++)
        list_append(&list, leat_pvm_copied(leat_pvm_get_text(from)));
    return list;
}

static bool spawn_read(struct leat_pvm_octets *question, struct spawn *out)
{
    *out = (struct spawn){ .name = leat_pvm_get_text(question) };
    out->flags = leat_pvm_get_i32(question);
    out->host = leat_pvm_copied(leat_pvm_get_text(question));
    char *colon = strchr(out->host, ':');
    if (colon) {
        *colon = 0;
        out->directory = colon + 1;
    }
    out->count = leat_pvm_get_i32(question);
    out->context = leat_pvm_get_i32(question);
    out->sink.tid = leat_pvm_get_i32(question);
    out->sink.context = leat_pvm_get_i32(question);
    out->sink.tag = leat_pvm_get_i32(question);
    out->argv = read_list(question);
    out->exports = read_list(question);
    return !question->failed && out->count > 0 && out->count <= TASKS_MAX_OF_A_SPAWN;
}

static void spawn_free(struct spawn *spawn)
{
    free(spawn->host);
    list_free(&spawn->argv);
    list_free(&spawn->exports);
    free(spawn->file);
    free(spawn->is_allowed);
}

/* Which ports may it be? False: none. */
static bool choose_ports(const struct leat_pvm_service *service,
                         const struct leat_pvm_entry *parent, struct spawn *spawn)
{
    const uint32_t ports = service->config.ports;
    const bool by_host = spawn->flags & PvmTaskHost, by_kind = spawn->flags & PvmTaskArch;
    const bool is_complement = spawn->flags & PvmHostCompl;
    bool any = false;
    if (!by_host && !by_kind && !is_complement) return true;
    spawn->is_allowed = leat_pvm_grown(NULL, ports, sizeof(bool));
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

/* The slot that leat_hub_expect will give: the first that was never used. */
static uint32_t next_slot(const struct leat_pvm_service *service)
{
    uint32_t slot = 0;
    while (slot < service->config.slots && service->entry[slot].is_used)
        slot++;
    return slot;
}

static void entry_begin(const struct leat_pvm_service *service, uint32_t slot, const char *name,
                        pid_t pid)
{
    struct leat_pvm_entry *entry = &service->entry[slot];
    entry->is_used = true;
    entry->tid = leat_pvm_task_tid(slot, service->port[slot]);
    entry->parent = PvmNoParent;
    entry->name = leat_pvm_copied(name);
    entry->pid = pid;
}

/* One task: its identifier, or an error. */
static int spawn_one(struct leat_pvm_service *service, const struct leat_pvm_entry *parent,
                     struct spawn *spawn)
{
    const uint32_t slot = next_slot(service);
    if (slot == service->config.slots) return PvmOutOfRes;
    const int output = leat_pvm_output_open();
    if (output < 0) return PvmOutOfRes;
    if (spawn->is_allowed) service->port[slot] = next_allowed_port(service, spawn);
    if (leat_hub_expect(service->hub, 0) != slot) {
        close(output);
        return PvmOutOfRes;
    }
    struct list environment = environment_of(service, service->hub, slot, &spawn->exports);
    const pid_t pid = begin_process(&(struct start){ .file = spawn->file,
                                                     .argv = spawn->argv.text,
                                                     .environment = environment.text,
                                                     .directory = spawn->directory,
                                                     .input = -2,
                                                     .output = output });
    list_free(&environment);
    leat_hub_expect_pid(service->hub, slot, pid > 0 ? pid : NO_PROCESS);
    entry_begin(service, slot, spawn->name, pid);
    struct leat_pvm_entry *entry = &service->entry[slot];
    entry->is_spawned = true;
    entry->was_signalled = pid <= 0; /* it is gone before it began, and that is told */
    entry->parent = spawn->flags & PvmNoSpawnParent ? PvmParentNotSet : parent->tid;
    entry->context = spawn->context;
    entry->sink = spawn->sink;
    entry->output = output;
    if (pid <= 0) return PvmOutOfRes;
    leat_pvm_output_begin(service, entry);
    return entry->tid;
}

static void note_siblings(struct leat_pvm_service *service, const int *tids, int count)
{
    for (int i = 0; i < count; i++) {
        struct leat_pvm_entry *entry = leat_pvm_find(service, tids[i]);
        entry->sibling = leat_pvm_grown(NULL, (size_t)count, sizeof *tids);
        memcpy(entry->sibling, tids, (size_t)count * sizeof *tids);
        entry->sibling_count = count;
    }
}

/* Those that were started come first, then the errors of the others. */
static int spawn_all(struct leat_pvm_service *service, struct leat_pvm_entry *parent,
                     struct spawn *spawn, int error)
{
    int *tids = leat_pvm_grown(NULL, (size_t)spawn->count, sizeof *tids);
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
        spawn.file = find_program(spawn.name, service->config.path);
        if (!spawn.file)
            error = PvmNoFile;
        else if (!choose_ports(service, entry, &spawn))
            error = PvmNoHost;
        struct list argv = list_of(NULL);
        list_append(&argv, leat_pvm_copied(spawn.file ? spawn.file : spawn.name));
        for (size_t i = 0; i < spawn.argv.count; i++)
            list_append(&argv, leat_pvm_copied(spawn.argv.text[i]));
        list_free(&spawn.argv);
        spawn.argv = argv;
        result = spawn_all(service, entry, &spawn, error);
    }
    spawn_free(&spawn);
    return result;
}

bool leat_pvm_service_start(struct leat_pvm_service *service, struct leat_hub *hub, uint32_t slot,
                            char *const *argv, char *why, size_t why_cap)
{
    char *file = strchr(argv[0], '/') ? (is_program(argv[0]) ? leat_pvm_copied(argv[0]) : NULL)
                                      : find_program(argv[0], service->config.path);
    if (!file && !strchr(argv[0], '/')) file = find_program(argv[0], getenv("PATH"));
    if (!file) {
        snprintf(why, why_cap, "%s: there is no such program", argv[0]);
        return false;
    }
    struct list environment = environment_of(service, hub, slot, NULL);
    const pid_t pid = begin_process(&(struct start){ .file = file,
                                                     .argv = argv,
                                                     .environment = environment.text,
                                                     .input = slot ? -2 : -1,
                                                     .output = -1 });
    if (pid < 0) snprintf(why, why_cap, "%s: %s", argv[0], strerror(errno));
    list_free(&environment);
    free(file);
    if (pid < 0) return false;
    leat_hub_expect_pid(hub, slot, pid);
    entry_begin(service, slot, "", pid);
    return true;
}

/* ---- signals and the end --------------------------------------------------------------------- */

/* A task that waits is woken, so that its end is seen. */
static void send_signal(struct leat_pvm_service *service, struct leat_pvm_entry *entry, int number)
{
    if (entry->pid <= 0 || leat_pvm_reap(entry, false)) return;
    kill(entry->pid, number);
    if (!number) return;
    entry->was_signalled = true;
    leat_hub_signal(service->hub, leat_pvm_slot(service, entry), "", 0, service->at);
}

int leat_pvm_on_signal(struct leat_pvm_service *service, struct leat_pvm_entry *entry)
{
    struct leat_pvm_entry *to = leat_pvm_find(service, leat_pvm_get_i32(&entry->question));
    const int number = leat_pvm_get_i32(&entry->question);
    if (to) send_signal(service, to, number);
    return PvmOk; /* one that is gone cannot be told from one that goes just now */
}

int leat_pvm_on_halt(struct leat_pvm_service *service)
{
    for (uint32_t i = 0; i < service->config.slots; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        if (entry->is_used && !entry->has_left) send_signal(service, entry, SIGTERM);
    }
    return PvmOk;
}

static bool all_have_ended(struct leat_pvm_service *service)
{
    bool all = true;
    for (uint32_t i = 0; i < service->config.slots; i++)
        if (service->entry[i].is_used && !leat_pvm_reap(&service->entry[i], false)) all = false;
    return all;
}

void leat_pvm_service_finish(struct leat_pvm_service *service, bool at_once)
{
    while (!at_once && !all_have_ended(service)) {
        at_once = service->config.interrupted && service->config.interrupted();
        poll(NULL, 0, 2);
    }
    for (uint32_t i = 0; i < service->config.slots; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        if (!entry->is_used || entry->pid <= 0) continue;
        if (!leat_pvm_reap(entry, false)) kill(entry->pid, SIGKILL);
        leat_pvm_reap(entry, true);
    }
    for (uint32_t i = 0; i < service->config.slots; i++) {
        struct leat_pvm_entry *entry = &service->entry[i];
        entry->has_left = true; /* nobody catches any more */
    }
    for (uint32_t i = 0; i < service->config.slots; i++)
        leat_pvm_output_end(service, &service->entry[i]);
}
