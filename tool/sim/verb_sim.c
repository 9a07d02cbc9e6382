/* leat sim: a network under load, at one of two granularities. */
#include "call_plan.h"
#include "circuit_plan.h"
#include "contracts.h"
#include "device_choice.h"
#include "fabric.h"
#include "fabric_atm.h"
#include "fabric_flits.h"
#include "sim.h"
#include "sim_mpi.h"
#include "threads.h"
#include "watch.h"

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
    struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    const char *contracts = argument(args, "--contracts"), *calls = argument(args, "--calls");
    const char *circuits = argument(args, "--circuits");
    if (argument(args, "--oam")) return run_sim_oam(args, fabric);
    if (circuits) return run_sim_circuits(args, fabric, circuits);
    if (calls) return run_sim_calls(args, fabric, calls);
    if (contracts) return run_sim_contracts(args, atm, contracts);
    if (!sim_read_faults(args, fabric) || !sim_read_job(args, atm, &job)) return WRONG;
    atm->faults.seed = job.seed;
    if (args->only_check) return DONE;
    threads_tell(fabric, job.threads);
    const int outcome = sim_run(&job, &result);
    if (outcome != DONE && result.cycles == 0) return outcome;
    (job.json ? sim_put_json : sim_put_text)(&job, &result);
    const int code = finish(outcome);
    return code == DONE ? judge(&job, &result) : code;
}

/* Other kinds are not divided: each rank would simulate all of it. Only rank 0 says so. */
static bool may_have_ranks(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_sim_ranks ranks;
    if (!sim_is_under_mpi() || leat_fabric_as_flits(fabric)) return true;
    if (!sim_ranks_open(&ranks)) return false;
    misuse(args->verb,
           "%u ranks with %s, which is %s, expected a network of switches, or one process",
           ranks.count, fabric->word, fabric->kind->what);
    ranks.close(&ranks);
    return false;
}

/* The page shows one process. */
static int open_page(const struct arguments *args)
{
    char name[512];
    if (argument(args, "--view") && sim_is_under_mpi())
        return misuse(args->verb, "--view: several ranks of mpirun, expected one process");
    snprintf(name, sizeof name, "leat sim %s", args->operand[0]);
    return watch_open(args, name, NULL);
}

static int simulate(const struct arguments *args, struct leat_fabric *fabric)
{
    const struct fabric_verbs *verbs = fabric_verbs_of(fabric->kind);
    if (!fabric_has_options(args, fabric) || !may_have_ranks(args, fabric)) return WRONG;
    const int code = open_page(args);
    return code ? code : watch_close((verbs->sim ? verbs->sim : sim_ports)(args, fabric));
}

static int run_sim(const struct arguments *args)
{
    if (args->operand_count != 1)
        return misuse(args->verb, "expected one fabric, as in leat sim clos444");
    struct leat_fabric *fabric = fabric_read(args->verb, args->operand[0]);
    if (!fabric) return WRONG;
    const int code = simulate(args, fabric);
    leat_fabric_close(fabric);
    return code;
}

/* ---- help ------------------------------------------------------------------------------------ */

const struct verb verb_sim = {
    .name = "sim",
    .summary = "simulate a network under load",
    .synopsis = "FABRIC [--traffic T] [--load L] [--cycles N] [--seed S] [--json] [options]",
    .help = help_sim,
    .options = {
        { "--traffic", "T", "uniform, permutation, hotspot, broadcast, bursty; more: leat help sim "
                            "traffic",
          .words = SIM_TRAFFIC, .preset = "uniform" },
        { "--load", "L", "share of a port's line", SHARE(SIM_LOAD_DECIMALS),
          .preset = "0.5 (networks of switches and Ethernets 0.1, PacketWay 0.05)" },
        { "--seed", "S", "random seed", COUNT(0, UINT64_MAX), .preset = "1" },
        OPTION_JSON("one JSON object"),
        OPTIONS_OF_A_RUN,
        OPTION_THREADS_OF("atm flits packetway"),
        OPTION_DEVICE,
        { "--trace", "FILE", "packets as a file lists them", .kinds = "flits" },
        { "--rounds", "N", "rounds of a collective",
          COUNT(1, UINT32_MAX), .preset = "as many as fit in --cycles", .kinds = "flits" },
        { "--idle", "C@BITS", "station 1 runs command C in idle time, BITS bit times after the "
                              "previous one, as min@10000",
          .kinds = "aton" },
        OPTIONS_OF_PACKETWAY,
        { "--contracts", "FILE", "connections with contracts in place of --traffic", .kinds = "atm" },
        { "--calls", "FILE", "calls that are set up and released, in place of --traffic; or "
                             "random:KEY=VALUE,...",
          .kinds = "atm" },
        { "--circuits", "FILE", "circuits and voice in place of --traffic; or cbr:KEY=VALUE,... (leat "
                                "help sim circuits)",
          .kinds = "atm" },
        { "--oam", "WHAT", "monitored connections in place of --traffic, as cc,pm=128 (leat help sim "
                           "oam)",
          .kinds = "atm" },
        { "--admit", "WHO", "which connections of --contracts send", WORD("checked all"),
          .preset = "checked", .kinds = "atm" },
        { "--record", "FILE", "write a recording, for leat view and leat export",
          .kinds = "atm flits" },
        OPTION_RECORD_HOPS,
        OPTIONS_OF_WATCH,
    },
    .operands = "$fabrics",
    .run = run_sim,
};
