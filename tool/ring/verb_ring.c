/* leat ring: on a ring of real hosts, or on a simulated one. */
#include "ring_job.h"
#include "ring_live.h"

int run_ring(const struct arguments *args)
{
    if (!args->operand_count)
        return misuse(args->verb, "expected sim, join, query or another word");
    if (!word_is_in(args->operand[0], args->verb->operands))
        return misuse(args->verb, "'%s', expected one of %s", args->operand[0],
                      args->verb->operands);
    const bool live = ring_is_live(args);
    if (live && argument(args, "--stations"))
        return misuse(args->verb, "--stations means a simulated ring, expected %s%s",
                      word_is_in(args->operand[0], RING_LIVE_WORDS)
                          ? "sim or an algorithm, not "
                          : "no --live and no --dev beside ",
                      args->operand[0]);
    return live ? ring_live(args) : ring_simulate(args);
}
