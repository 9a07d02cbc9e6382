/* leat ring: on a ring of real hosts, or on a simulated one. */
#include "ring_job.h"
#include "ring_live.h"

int run_ring(const struct arguments *args)
{
    if (!args->operand_count)
        return misuse(args->verb, "expected sim, join, query or another word");
    return ring_is_live(args) ? ring_live(args) : ring_simulate(args);
}
