/* leat pktway: PacketWay on live or simulated networks. */
#include "pktway_ask.h"
#include "pktway_live.h"

int run_pktway(const struct arguments *args)
{
    if (args->operand_count && pktway_is_live(args)) return pktway_live(args);
    if (args->operand_count && argument(args, "--fabric")) return pktway_simulate(args);
    return misuse(args->verb, "'%s', expected one of %s %s",
                  args->operand_count ? args->operand[0] : "", PKTWAY_LIVE_WORDS, PKTWAY_LIVE_ALSO);
}
