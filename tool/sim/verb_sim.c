/* leat sim: a network under load, at one of two granularities. */
#include "contracts.h"
#include "ether_fabric.h"
#include "fabric.h"
#include "net_design.h"
#include "pktway_design.h"
#include "ring_fabric.h"
#include "sim.h"

/* Options that only networks have. True after a complaint. */
static bool net_only(const struct arguments *args)
{
    static const char *const options[] = { "--flits", "--warmup",    "--trace",  "--rounds",
                                           "--burst", "--hot",       "--fault",  "--fault-file",
                                           "--links", "--flit-bits", "--unsafe", "--idle" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (argument(args, options[i])) {
            misuse(args->verb, "%s has no meaning for %s, which is an ATM fabric", options[i],
                   args->operand[0]);
            return true;
        }
    return false;
}

/* What a user should know of a run that came to its end. */
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

int run_sim(const struct arguments *args)
{
    static struct sim_job job;
    struct sim_result result;
    const char *contracts = argument(args, "--contracts");
    if (args->operand_count != 1)
        return misuse(args->verb, "expected one fabric, as in leat sim clos444");
    if (pktway_is(args->operand[0])) return pktway_fabric_sim(args);
    if (!pktway_refuse_elsewhere(args, args->operand[0])) return WRONG;
    if (ring_fabric_is(args->operand[0])) return ring_fabric_sim(args);
    if (ether_fabric_is(args->operand[0])) return ether_fabric_sim(args);
    if (net_is(args->operand[0])) return run_net_sim(args);
    if (net_only(args)) return WRONG;
    if (contracts) {
        struct leat_sim_atm_fabric fabric;
        if (!fabric_read(args->verb, args->operand[0], &fabric)) return WRONG;
        return run_sim_contracts(args, &fabric, contracts);
    }
    if (!sim_read_job(args, &job)) return WRONG;
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
