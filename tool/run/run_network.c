/* leat run: the network that the program runs over. */
#include "fabric.h"
#include "fabric_atm.h"
#include "fabric_flits.h"
#include "run.h"
#include "sim.h"
#include "threads.h"
#include <stdlib.h>
#include <string.h>

/* Commands to units. */
static bool open_platform(const struct run_job *job, bool contention_free, struct run_network *out)
{
    struct leat_fabric_atm *atm = leat_fabric_as_atm(out->fabric);
    if (!atm)
        return misused(job->verb, "%s: %s, expected an ATM fabric for this program", job->fabric,
                       out->fabric->kind->what);
    if (argument(job->args, "--every-cycle"))
        return misused(job->verb,
                       "--every-cycle has no meaning for programs of leat/atm_task.h: all of "
                       "their cycles are simulated");
    const struct leat_sim_atm_ports_config config = { .fabric = atm->fabric,
                                                      .model = atm->model,
                                                      .aal = atm->aal,
                                                      .line = atm->line,
                                                      .contention_free = contention_free,
                                                      .polls = argument(job->args, "--polling"),
                                                      .tasks_max = RUN_TASKS_MAX };
    out->memory = sim_memory(leat_sim_atm_platform_footprint(&config));
    if (!out->memory) return false;
    leat_sim_atm_platform_init(&out->platform, &config, out->memory);
    out->net = &out->platform.base.net;
    out->load = &out->platform.load;
    atm->sim = &out->load->sim;
    return true;
}

/* Messages of port.h. */
static bool open_ports(const struct run_job *job, bool contention_free, struct run_network *out)
{
    const struct leat_fabric_config config = { .contention_free = contention_free,
                                               .flit_octets = job->flit_octets,
                                               .packet_flits = job->packet_flits,
                                               .threads = out->is_recorded ? 1 : job->threads,
                                               .every_cycle = argument(job->args,
                                                                       "--every-cycle") };
    struct leat_fabric_error error;
    if (argument(job->args, "--polling"))
        return misused(job->verb, "--polling has no meaning but for programs of leat/atm_task.h");
    if (!leat_fabric_open(out->fabric, &config, &error))
        return fabric_refused(job->verb, job->fabric, &error);
    threads_tell(out->fabric, job->threads);
    struct leat_fabric_atm *atm = leat_fabric_as_atm(out->fabric);
    struct leat_fabric_flits *flits = leat_fabric_as_flits(out->fabric);
    out->net = out->fabric->net;
    out->load = atm ? &atm->replay.port.load : NULL;
    out->replay = out->fabric->replay;
    out->flits = flits ? &flits->replay.port.net : NULL;
    /* A recording shows what is in the network. */
    if ((flits || atm) && out->is_recorded) out->fabric->replay->is_off = true;
    return true;
}

bool run_network_open(const struct run_job *job, bool contention_free, struct run_network *out)
{
    memset(out, 0, sizeof *out);
    out->is_recorded = job->record && !contention_free;
    out->fabric = fabric_read(job->verb, job->fabric);
    if (!out->fabric) return false;
    if (!job->is_one_of_several && !fabric_has_options(job->args, out->fabric)) return false;
    const struct fabric_verbs *verbs = fabric_verbs_of(out->fabric->kind);
    return (!verbs->options || verbs->options(job->args, out->fabric)) &&
           (job->library == RUN_ATM ? open_platform : open_ports)(job, contention_free, out);
}

void run_network_close(struct run_network *network)
{
    leat_fabric_close(network->fabric);
    free(network->memory);
    memset(network, 0, sizeof *network);
}
