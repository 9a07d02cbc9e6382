/* leat pktway: PacketWay on simulated networks. */
#include "pktway_ask.h"

int run_pktway(const struct arguments *args)
{
    if (!args->operand_count) return misuse(args->verb, "expected one of %s", PKTWAY_SIM_WORDS);
    if (argument(args, "--fabric")) return pktway_simulate(args);
    return misuse(args->verb, "%s needs --fabric F, as in --fabric twosan", args->operand[0]);
}
