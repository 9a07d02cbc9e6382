#include "threads.h"
#include "fabric_atm.h"
#include "fabric_flits.h"
#include "number.h"
#include <stdio.h>
#include <string.h>

bool threads_take(const struct arguments *args, uint32_t *out)
{
    const char *text = argument(args, "--threads");
    uint64_t number = 1;
    if (text && strcmp(text, "auto") == 0) {
        number = leat_crew_processors();
        if (number > LEAT_SIM_CREW_MAX) number = LEAT_SIM_CREW_MAX;
    } else if (text &&
               (!number_read(text, false, &number) || !number || number > LEAT_SIM_CREW_MAX)) {
        return misused(args->verb, "--threads %s, expected 1 to %d, or auto", text,
                       LEAT_SIM_CREW_MAX);
    }
    *out = (uint32_t)number;
    return true;
}

void threads_tell(struct leat_fabric *fabric, uint32_t threads)
{
    const struct leat_fabric_flits *flits = leat_fabric_as_flits(fabric);
    const struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    if (threads < 2) return;
    if (flits && flits->design.plan.net.architecture != LEAT_NET_SWITCH_VC)
        caution("--threads %u: a network of %s switches has one thread (vc switches have more)",
                threads, leat_net_switch_name(flits->design.plan.net.architecture));
    if (atm && atm->fabric.graph)
        caution("--threads %u: an ATM fabric with /cells has one thread (clos:E,M,R has more)",
                threads);
}

struct leat_crew *threads_start(uint32_t threads)
{
    if (threads < 2) return NULL;
    struct leat_crew *crew = leat_crew_start(threads);
    if (!crew) caution("the system refuses %u threads: one does the work", threads);
    return crew;
}

const char *threads_text(uint32_t threads, uint32_t ranks)
{
    static char text[48];
    if (ranks > 1)
        snprintf(text, sizeof text, " on %u ranks of %u thread%s", ranks, threads,
                 threads == 1 ? "" : "s");
    else
        snprintf(text, sizeof text, " on %u threads", threads);
    return ranks > 1 || threads > 1 ? text : "";
}
