/* leat run: programs of PVM. Their library is ours, their daemon is a service of the run. */
#include "run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_PVM
#include "pvm_service.h"

static bool is_interrupted(void)
{
    return interrupted;
}

/* Programs find our libpvm3 before the one that they were linked with. */
static char **environment_of(const struct run_job *job)
{
    static char library[2 * RUN_PATH_CAP];
    static char *list[3];
    char part[RUN_PATH_CAP];
    const char *old = getenv("LD_LIBRARY_PATH");
    if (!run_find_part("libpvm3.so.3", part, sizeof part)) return NULL;
    *strrchr(part, '/') = '\0';
    snprintf(library, sizeof library, "LD_LIBRARY_PATH=%s%s%s", part, old ? ":" : "",
             old ? old : "");
    list[0] = library;
    list[1] = job->real_clock ? (char *)"LEAT_REAL_CLOCK=1" : NULL;
    return list;
}

/* Where pvm_spawn looks: where the program itself lies, then as a shell does. */
static const char *path_of(const struct run_job *job)
{
    static char path[3 * RUN_PATH_CAP];
    const char *slash = strrchr(job->program, '/'), *old = getenv("PATH");
    const int len = slash ? (int)(slash - job->program) : 1;
    snprintf(path, sizeof path, "%.*s:%s", len, slash ? job->program : ".", old ? old : "");
    return path;
}

bool run_pvm_prepare(struct run_processes *processes)
{
    char why[256];
    char **environment = environment_of(processes->job);
    if (!environment) return false;
    const struct leat_pvm_service_config config = { .slots = processes->slots,
                                                    .ports = processes->ports,
                                                    .port = processes->port,
                                                    .path = path_of(processes->job),
                                                    .environment = environment,
                                                    .log = STDERR_FILENO,
                                                    .interrupted = is_interrupted };
    processes->pvm = leat_pvm_service_create(&config, why, sizeof why);
    if (!processes->pvm) {
        complain("%s", why);
        return false;
    }
    processes->service = leat_pvm_service_hooks(processes->pvm);
    processes->port = leat_pvm_service_ports(processes->pvm);
    return true;
}

void run_pvm_free(struct run_processes *processes)
{
    if (processes->pvm) leat_pvm_service_destroy(processes->pvm);
    processes->pvm = NULL;
}

bool run_pvm_start(struct run_processes *processes, struct leat_hub *hub)
{
    char why[256];
    char **words = processes->job->words;
    for (uint32_t i = 0; i < processes->job->tasks; i++)
        if (!leat_pvm_service_start(processes->pvm, hub, i, words, why, sizeof why)) {
            complain("%s: %s", words[0], why);
            leat_pvm_service_finish(processes->pvm, true);
            return false;
        }
    return true;
}

void run_pvm_end(struct run_processes *processes, bool by_force)
{
    leat_pvm_service_finish(processes->pvm, by_force);
}

#else

bool run_pvm_prepare(struct run_processes *processes)
{
    (void)processes;
    complain("programs of PVM cannot be run: this leat was built without pvm-dev");
    return false;
}

void run_pvm_free(struct run_processes *processes)
{
    (void)processes;
}

bool run_pvm_start(struct run_processes *processes, struct leat_hub *hub)
{
    (void)processes;
    (void)hub;
    return false;
}

void run_pvm_end(struct run_processes *processes, bool by_force)
{
    (void)processes;
    (void)by_force;
}

#endif
