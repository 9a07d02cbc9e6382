/* leat run: the network that the program runs over. */
#include "fabric.h"
#include "run.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_atm(const struct run_job *job, bool contention_free, struct run_network *out)
{
    struct leat_sim_port_config config = { .model = job->model,
                                           .contention_free = contention_free,
                                           .messages_max = RUN_MESSAGES_MAX };
    struct leat_text name;
    if (!fabric_read(job->verb, job->fabric, &config.fabric)) return false;
    leat_text_init(&name, out->name, sizeof out->name, NULL, NULL);
    leat_sim_fabric_name(&config.fabric, &name);
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    out->memory = sim_memory(leat_sim_port_footprint(&config));
    if (!out->memory) return false;
    leat_sim_port_init(&out->atm, &config, out->memory);
    out->net = &out->atm.net;
    return true;
}

static bool open_flits(const struct run_job *job, bool contention_free, struct run_network *out)
{
    char line[256];
    struct leat_text why;
    if (!net_read(job->verb, job->fabric, &out->design)) return false;
    if (!net_build(&out->design, &out->built) || !net_is_safe(&out->design, &out->built))
        return false;
    const struct leat_net_port_config config = {
        .topology = &out->built.topology,
        .routing = out->built.routing,
        .net = out->design.plan.net,
        .clock = out->design.plan.clock,
        .flit_octets = (uint32_t)job->flit_octets,
        .packet_flits = (uint32_t)job->packet_flits,
        .head_flits = 1,
        .messages_max = RUN_MESSAGES_MAX,
        .contention_free = contention_free,
        .seed = 1,
    };
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (leat_net_port_check(&config, &why)) {
        complain("%s: %s", job->fabric, line);
        return false;
    }
    snprintf(out->name, sizeof out->name, "%s", out->design.name);
    out->memory = sim_memory(leat_net_port_footprint(&config));
    if (!out->memory) return false;
    leat_net_port_init(&out->flits, &config, out->memory);
    out->net = &out->flits.base;
    return true;
}

bool run_network_open(const struct run_job *job, bool contention_free, struct run_network *out)
{
    memset(out, 0, sizeof *out);
    return net_is(job->fabric) ? open_flits(job, contention_free, out)
                               : open_atm(job, contention_free, out);
}

void run_network_close(struct run_network *network)
{
    free(network->memory);
    net_built_free(&network->built);
    net_design_free(&network->design);
    memset(network, 0, sizeof *network);
}
