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
        struct leat_sim_fabric fabric;
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
    return finish(outcome);
}
