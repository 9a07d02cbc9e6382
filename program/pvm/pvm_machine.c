/* The virtual machine: its hosts, which are the ports of the network, and its tasks. */
#include "pvm_library.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ARCHITECTURE "LINUX64"

/* ---- this task ------------------------------------------------------------------------------- */

int pvm_mytid(void)
{
    const int result = leat_pvm_enrol();
    return result < 0 ? lpvmerr("pvm_mytid", result) : leat_pvm_self.tid;
}

int pvm_parent(void)
{
    const int result = leat_pvm_enrol();
    if (result < 0) return lpvmerr("pvm_parent", result);
    if (leat_pvm_self.parent < 0) pvm_errno = leat_pvm_self.parent;
    return leat_pvm_self.parent;
}

int pvm_exit(void)
{
    if (!leat_pvm_self.is_enrolled) return PvmOk;
    if (leat_pvm_output_is_collected())
        leat_pvm_ask(LEAT_PVM_AWAIT_OUTPUT, NULL, NULL, "pvm_exit", ": the output of other tasks");
    leat_pvm_dispatch();
    leat_pvm_leave();
    return PvmOk;
}

int pvm_siblings(int **tids)
{
    static int *list;
    struct leat_pvm_octets answer = { 0 };
    const int count = leat_pvm_query(LEAT_PVM_SIBLINGS, NULL, NULL, 0, &answer, "pvm_siblings");
    int *fresh = count > 0 ? reallocarray(list, (size_t)count, sizeof *list) : NULL;
    if (fresh) list = fresh;
    for (int i = 0; fresh && i < count; i++)
        list[i] = leat_pvm_get_i32(&answer);
    leat_pvm_octets_free(&answer);
    if (count < 0) return lpvmerr("pvm_siblings", count);
    if (!fresh) return lpvmerr("pvm_siblings", PvmNoMem);
    if (tids) *tids = list;
    return count;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static struct {
    struct pvmhostinfo *host;
    int count;
    struct leat_pvm_octets names;
} machine;

static int load_hosts(void)
{
    int result = leat_pvm_enrol();
    if (machine.host || result < 0) return result;
    result = leat_pvm_ask(LEAT_PVM_CONFIG, NULL, &machine.names, "pvm_config", "");
    if (result < 0) return result;
    struct pvmhostinfo *host = calloc((size_t)result, sizeof *host);
    if (!host) return PvmNoMem;
    for (int i = 0; i < result; i++)
        host[i] = (struct pvmhostinfo){
            .hi_tid = leat_pvm_host_tid((uint32_t)i),
            .hi_name = (char *)leat_pvm_get_text(&machine.names),
            .hi_arch = (char *)ARCHITECTURE,
            .hi_speed = 1000,
            .hi_dsig = LEAT_PVM_RAW,
        };
    machine.host = host;
    machine.count = result;
    return PvmOk;
}

int pvm_config(int *count, int *architectures, struct pvmhostinfo **hosts)
{
    const int result = load_hosts();
    if (result < 0) return lpvmerr("pvm_config", result);
    if (count) *count = machine.count;
    if (architectures) *architectures = 1;
    if (hosts) *hosts = machine.host;
    return PvmOk;
}

static bool is_host(const char *name)
{
    if (!name || !strcmp(name, ".")) return name != NULL;
    for (int i = 0; i < machine.count; i++)
        if (!strcmp(machine.host[i].hi_name, name)) return true;
    return false;
}

int pvm_mstat(char *name)
{
    const int result = load_hosts();
    if (result < 0) return lpvmerr("pvm_mstat", result);
    if (!name) return lpvmerr("pvm_mstat", PvmBadParam);
    return is_host(name) ? PvmOk : PvmNoHost;
}

int pvm_archcode(char *name)
{
    if (!name) return lpvmerr("pvm_archcode", PvmBadParam);
    return strcmp(name, ARCHITECTURE) ? lpvmerr("pvm_archcode", PvmNotFound) : LEAT_PVM_RAW;
}

int pvm_tidtohost(int tid)
{
    return tid & LEAT_PVM_HOST_MASK;
}

/* All hosts have the clock of the simulation. */
int pvm_hostsync(int host, struct timeval *clock, struct timeval *delta)
{
    const int result = load_hosts();
    const int last = leat_pvm_host_tid((uint32_t)machine.count - 1);
    if (result < 0) return lpvmerr("pvm_hostsync", result);
    if (host & ~LEAT_PVM_HOST_MASK || host <= 0 || host > last)
        return lpvmerr("pvm_hostsync", PvmNoHost);
    if (clock) gettimeofday(clock, NULL);
    if (delta) *delta = (struct timeval){ 0 };
    return PvmOk;
}

/* The machine is the network: hosts cannot be added or removed. */
static int refuse_hosts(const char *function, char **names, int count, int *results, int if_known)
{
    const int result = load_hosts();
    if (result < 0) return lpvmerr(function, result);
    if (count < 1 || !names) return lpvmerr(function, PvmBadParam);
    for (int i = 0; i < count && results; i++)
        results[i] = is_host(names[i]) ? if_known : PvmNoHost;
    return 0;
}

int pvm_addhosts(char **names, int count, int *results)
{
    return refuse_hosts("pvm_addhosts", names, count, results, PvmDupHost);
}

int pvm_delhosts(char **names, int count, int *results)
{
    return refuse_hosts("pvm_delhosts", names, count, results, PvmNotImpl);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static struct {
    struct pvmtaskinfo *task;
    struct leat_pvm_octets answer;
} listed;

int pvm_tasks(int where, int *count, struct pvmtaskinfo **tasks)
{
    const int result = leat_pvm_query(LEAT_PVM_TASKS, NULL, &where, 1, &listed.answer, "pvm_tasks");
    if (result < 0) return lpvmerr("pvm_tasks", result);
    struct pvmtaskinfo *task = reallocarray(listed.task, (size_t)result + 1, sizeof *task);
    if (!task) return lpvmerr("pvm_tasks", PvmNoMem);
    listed.task = task;
    task[result] = (struct pvmtaskinfo){ 0 };
    for (int i = 0; i < result; i++) {
        task[i].ti_tid = leat_pvm_get_i32(&listed.answer);
        task[i].ti_ptid = leat_pvm_get_i32(&listed.answer);
        task[i].ti_host = leat_pvm_get_i32(&listed.answer);
        task[i].ti_flag = leat_pvm_get_i32(&listed.answer);
        task[i].ti_pid = leat_pvm_get_i32(&listed.answer);
        task[i].ti_a_out = (char *)leat_pvm_get_text(&listed.answer);
    }
    if (count) *count = result;
    if (tasks) *tasks = task;
    return PvmOk;
}

int pvm_pstat(int tid)
{
    if (!leat_pvm_is_task_tid(tid)) return lpvmerr("pvm_pstat", PvmBadParam);
    const int result = leat_pvm_query(LEAT_PVM_PSTAT, NULL, &tid, 1, NULL, "pvm_pstat");
    return result < 0 && result != PvmNoTask ? lpvmerr("pvm_pstat", result) : result;
}

static int send_signal(const char *function, int tid, int signal)
{
    const int numbers[] = { tid, signal };
    if (!leat_pvm_is_task_tid(tid) || signal < 0 || signal >= NSIG)
        return lpvmerr(function, PvmBadParam);
    return leat_pvm_result(function,
                           leat_pvm_query(LEAT_PVM_SENDSIG, NULL, numbers, 2, NULL, function));
}

int pvm_sendsig(int tid, int signal)
{
    return send_signal("pvm_sendsig", tid, signal);
}

int pvm_kill(int tid)
{
    return send_signal("pvm_kill", tid, SIGTERM);
}

int pvm_halt(void)
{
    return leat_pvm_result("pvm_halt",
                           leat_pvm_query(LEAT_PVM_HALT, NULL, NULL, 0, NULL, "pvm_halt"));
}

int pvm_notify(int what, int tag, int count, int *tids)
{
    const int kind = what & ~PvmNotifyCancel;
    const bool needs_tids = kind == PvmTaskExit || kind == PvmHostDelete;
    struct leat_pvm_octets arguments = { 0 };
    if (kind < PvmTaskExit || kind > PvmHostAdd || tag < 0 || (needs_tids && (count < 1 || !tids)))
        return lpvmerr("pvm_notify", PvmBadParam);
    int result = leat_pvm_enrol();
    leat_pvm_put_i32(&arguments, what);
    leat_pvm_put_i32(&arguments, leat_pvm_self.context);
    leat_pvm_put_i32(&arguments, tag);
    leat_pvm_put_i32(&arguments, needs_tids ? count : 0);
    for (int i = 0; needs_tids && i < count; i++)
        leat_pvm_put_i32(&arguments, tids[i]);
    if (result >= 0) result = leat_pvm_ask(LEAT_PVM_NOTIFY, &arguments, NULL, "pvm_notify", "");
    leat_pvm_octets_free(&arguments);
    return leat_pvm_result("pvm_notify", result);
}

/* ---- spawning -------------------------------------------------------------------------------- */

static void put_list(struct leat_pvm_octets *to, char **list)
{
    int count = 0;
    while (list && list[count])
        count++;
    leat_pvm_put_i32(to, count);
    for (int i = 0; i < count; i++)
        leat_pvm_put_text(to, list[i]);
}

/* NAME=value of the variable, if it is set. */
static bool put_variable(struct leat_pvm_octets *to, const char *name)
{
    const char *value = getenv(name);
    char *both = NULL;
    if (!value || asprintf(&both, "%s=%s", name, value) < 0) return false;
    leat_pvm_put_text(to, both);
    free(both);
    return true;
}

/* PVM_EXPORT, and those that it names. */
static void put_exports(struct leat_pvm_octets *to)
{
    char *names = getenv("PVM_EXPORT") ? strdup(getenv("PVM_EXPORT")) : NULL, *rest = NULL;
    struct leat_pvm_octets list = { 0 };
    int count = names && put_variable(&list, "PVM_EXPORT");
    for (char *name = names ? strtok_r(names, ":", &rest) : NULL; name;
         name = strtok_r(NULL, ":", &rest))
        count += put_variable(&list, name);
    leat_pvm_put_i32(to, count);
    leat_pvm_put(to, list.at, list.len);
    leat_pvm_octets_free(&list);
    free(names);
}

static int ask_spawn(const char *file, char **argv, int flags, const char *where, int count,
                     struct leat_pvm_octets *answer)
{
    struct leat_pvm_octets arguments = { 0 };
    leat_pvm_put_text(&arguments, file);
    leat_pvm_put_i32(&arguments, flags);
    leat_pvm_put_text(&arguments, where);
    leat_pvm_put_i32(&arguments, count);
    leat_pvm_put_i32(&arguments, leat_pvm_self.context);
    leat_pvm_put_sink(&arguments, &leat_pvm_self.children_output);
    put_list(&arguments, argv);
    put_exports(&arguments);
    const int result = leat_pvm_ask(LEAT_PVM_SPAWN, &arguments, answer, "pvm_spawn", "");
    leat_pvm_octets_free(&arguments);
    return result;
}

int pvm_spawn(char *file, char **argv, int flags, char *where, int count, int *tids)
{
    struct leat_pvm_octets answer = { 0 };
    const bool needs_where = flags & (PvmTaskHost | PvmTaskArch);
    if (!file || count < 1 || (needs_where && !where)) return lpvmerr("pvm_spawn", PvmBadParam);
    int result = leat_pvm_enrol();
    if (result >= 0) result = ask_spawn(file, argv, flags, where, count, &answer);
    for (int i = 0; result >= 0 && tids && i < count; i++)
        tids[i] = leat_pvm_get_i32(&answer);
    leat_pvm_octets_free(&answer);
    return leat_pvm_result("pvm_spawn", result);
}
