/* leat run: programs of PVM. Their library is ours, their daemon is a service of the run. */
#include "run.h"
#include <stdio.h>
#include <unistd.h>

#ifdef HAVE_PVM
#include "pvm_service.h"

static enum leat_pvm_collectives collectives_of(const struct run_job *job)
{
    if (job->collectives == RUN_BY_NETWORK) return LEAT_PVM_BY_NETWORK;
    return job->compares_collectives ? LEAT_PVM_COUNTED : LEAT_PVM_BY_HOSTS;
}

/* Its tasks may use the thesis' calls, too. */
static char **environment_of(const struct run_job *job)
{
    static char *list[4] = { (char *)"LEAT_ATM_OVER_PVM=1" };
    char **others = run_environment(job, "libpvm3.so.3");
    for (size_t i = 0; others && i < 2; i++)
        list[i + 1] = others[i];
    return others ? list : NULL;
}

static bool prepare(struct run_processes *processes)
{
    char why[256];
    char **environment = environment_of(processes->job);
    if (!environment) return false;
    const struct leat_pvm_service_config config = { .slots = processes->slots,
                                                    .ports = processes->ports,
                                                    .port = processes->port,
                                                    .path = run_search_path(processes->job),
                                                    .environment = environment,
                                                    .collectives = collectives_of(processes->job),
                                                    .log = processes->job->silent ? -1
                                                                                  : STDERR_FILENO,
                                                    .interrupted = is_interrupted };
    processes->pvm = leat_pvm_service_create(&config, why, sizeof why);
    if (!processes->pvm) return complain("%s", why);
    processes->service = leat_pvm_service_hooks(processes->pvm);
    processes->port = leat_pvm_service_ports(processes->pvm);
    return true;
}

static void free_all(struct run_processes *processes)
{
    if (processes->pvm) leat_pvm_service_destroy(processes->pvm);
}

static bool start_words(struct run_processes *processes, struct leat_hub *hub, char **words)
{
    char why[256];
    for (uint32_t i = 0; i < processes->job->tasks; i++)
        if (!leat_pvm_service_start(processes->pvm, hub, i, words, why, sizeof why)) {
            complain("%s: %s", words[0], why);
            leat_pvm_service_finish(processes->pvm, true);
            return false;
        }
    return true;
}

static bool start(struct run_processes *processes, struct leat_hub *hub)
{
    const struct run_job *job = processes->job;
    struct leat_child_words under;
    if (!job->tool.words) return start_words(processes, hub, job->words);
    const bool good = run_tool_command(job, NULL, &under) &&
                      start_words(processes, hub, under.text);
    leat_child_words_free(&under);
    return good;
}

static int end(struct run_processes *processes, const struct leat_hub *hub, enum leat_hub_end ended)
{
    (void)hub;
    leat_pvm_service_finish(processes->pvm, ended != LEAT_HUB_DONE);
    return 0; /* valid PVM programs end with any code */
}

const struct run_library_ops run_pvm_ops = {
    .prepare = prepare, .start = start, .end = end, .free = free_all
};

#else

static bool prepare(struct run_processes *processes)
{
    (void)processes;
    return complain("programs of PVM cannot be run: this leat was built without pvm-dev");
}

const struct run_library_ops run_pvm_ops = { .prepare = prepare };

#endif
