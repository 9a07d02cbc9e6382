/* leat sim: a network under load, at one of two granularities. */
#include "contracts.h"
#include "fabric.h"
#include "fabric_atm.h"
#include "sim.h"

/* Options that only other fabrics have. */
static const char *const not_for_atm[] = { "--flits",      "--warmup",      "--trace",
                                           "--rounds",     "--burst",       "--hot",
                                           "--fault",      "--fault-file",  "--links",
                                           "--flit-bits",  "--unsafe",      "--idle",
                                           "--forwarding", "--cut-through", NULL };

/* Warnings about a completed run. */
static int judge(const struct sim_job *job, const struct sim_result *result)
{
    if (!job->check_load && !job->aal.resync && result->gaps)
        complain("%s: %llu streams (a port to another) wait for cells that were given up: nothing "
                 "comes through them any more (without --no-resync they come back)",
                 job->name, (unsigned long long)result->gaps);
    if (!result->locked) return DONE;
    if (result->dead)
        complain("%s: deadlock: nothing moves any more (last delivery in cycle %llu): full buffers "
                 "wait for each other",
                 job->name, (unsigned long long)result->last_delivery_at);
    else
        complain("%s: deadlock: %u ports wait for each other, while others go on", job->name,
                 result->locked);
    return FAILED;
}

int sim_atm(const struct arguments *args, struct leat_fabric *fabric)
{
    static struct sim_job job;
    struct sim_result result;
    const struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    const char *contracts = argument(args, "--contracts");
    if (!fabric_refuse_options(args, fabric, not_for_atm)) return WRONG;
    if (contracts) return run_sim_contracts(args, &atm->fabric, contracts);
    if (!sim_read_job(args, atm, &job)) return WRONG;
    if (args->only_check) return DONE;
    const int outcome = sim_run(&job, &result);
    if (outcome != DONE && result.cycles == 0) return outcome;
    if (job.json)
        sim_put_json(&job, &result);
    else
        sim_put_text(&job, &result);
    const int code = finish(outcome);
    return code == DONE ? judge(&job, &result) : code;
}

int run_sim(const struct arguments *args)
{
    if (args->operand_count != 1)
        return misuse(args->verb, "expected one fabric, as in leat sim clos444");
    struct leat_fabric *fabric = fabric_read(args->verb, args->operand[0]);
    if (!fabric) return WRONG;
    const struct fabric_ways *ways = fabric_ways_of(fabric->kind);
    const int code = (ways->sim ? ways->sim : sim_ports)(args, fabric);
    leat_fabric_close(fabric);
    return code;
}
