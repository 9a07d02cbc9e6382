/* leat run: programs of leat/atm_task.h. Their tasks drive the units of an ATM fabric themselves.
 */
#include "fabric_atm.h"
#include "result_file.h"
#include "run.h"
#include "thesis_service.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct result_file records;

bool run_atm_check(const struct run_job *job)
{
    if (job->library != RUN_ATM) {
        if (!job->records) return true;
        return misused(job->verb, "--messages has no meaning but for programs of leat/atm_task.h");
    }
    const struct leat_fabric_kind *kind = leat_fabric_kind_of(job->fabric);
    if (!kind || kind == &leat_fabric_kind_atm) return true;
    return misused(
        job->verb,
        "programs of leat/atm_task.h drive the adaptation layer units of an ATM fabric; %s is "
        "none, expected one, as in --fabric clos444",
        job->fabric);
}

static bool prepare(struct run_processes *processes)
{
    const struct run_job *job = processes->job;
    char **environment = run_environment(job, "libleat-atm.so");
    if (!environment || (job->records && !result_file_open(&records, job->records))) return false;
    const struct leat_atm_service_config config = { .platform = processes->platform,
                                                    .slots = processes->slots,
                                                    .tasks = job->tasks,
                                                    .port = processes->port,
                                                    .start = RUN_START_PS,
                                                    .path = run_search_path(job),
                                                    .environment = environment,
                                                    .log = job->silent ? -1 : STDERR_FILENO,
                                                    .interrupted = is_interrupted,
                                                    .records = job->records };
    processes->atm = leat_atm_service_create(&config);
    processes->service = leat_atm_service_hooks(processes->atm);
    return true;
}

static void free_all(struct run_processes *processes)
{
    result_file_drop(&records);
    if (processes->atm) leat_atm_service_destroy(processes->atm);
}

static bool start(struct run_processes *processes, struct leat_hub *hub)
{
    char why[256];
    char **words = processes->job->words;
    for (uint32_t i = 0; i < processes->job->tasks; i++)
        if (!leat_atm_service_start(processes->atm, hub, i, words, why, sizeof why)) {
            complain("%s: %s", words[0], why);
            leat_atm_service_finish(processes->atm, true);
            return false;
        }
    return true;
}

static bool write_records(struct run_processes *processes)
{
    if (!processes->job->records) return true;
    leat_atm_service_write_records(processes->atm, &records.out.text);
    return result_file_close(&records, true);
}

/* 0: success. Callers report what happened to the first program. */
static int code_of(const struct run_processes *processes, uint32_t slot)
{
    const int status = leat_atm_service_status(processes->atm, slot);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
    char name[32];
    if (!code || !slot) return code;
    leat_atm_service_name(processes->atm, slot, name, sizeof name);
    complain("%s ended with code %d", name, code);
    return code;
}

static int end(struct run_processes *processes, const struct leat_hub *hub, enum leat_hub_end ended)
{
    const bool by_force = ended != LEAT_HUB_DONE;
    (void)hub;
    leat_atm_service_finish(processes->atm, by_force);
    int code = write_records(processes) ? 0 : FAILED;
    for (uint32_t i = 0; i < processes->slots && !code && !by_force; i++)
        code = code_of(processes, i);
    return code;
}

const struct run_library_ops run_atm_ops = {
    .prepare = prepare, .start = start, .end = end, .free = free_all
};
