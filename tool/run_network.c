/* leat run: the network that the program runs over. */
#include "fabric.h"
#include "net_sim.h"
#include "run.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options that the other kind of fabric has. False after a complaint. */
static bool refuse(const struct run_job *job, const char *const *options, size_t count,
                   const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (argument(job->args, options[i])) {
            misuse(job->verb, "%s has no meaning for %s, which is %s", options[i], job->fabric,
                   what);
            return false;
        }
    return true;
}

static const char *const of_atm[] = { "--record",     "--model",        "--bit-errors", "--lose",
                                      "--insert",     "--duplicate",    "--hec",        "--dead",
                                      "--retransmit", "--transmissions" };
static const char *const of_networks[] = { "--flit-bytes", "--packet-flits", "--fault",
                                           "--fault-file" };

/* How often, and how soon, a unit sends again what is not acknowledged. */
static bool read_patience(const struct run_job *job, struct leat_atm_aal_config *aal)
{
    uint64_t cycles = aal->retransmit_cycles, times = aal->transmissions_max;
    if (!sim_read_number(job->args, "--retransmit", 1, UINT32_MAX, &cycles) ||
        !sim_read_number(job->args, "--transmissions", 1, UINT8_MAX, &times))
        return false;
    aal->retransmit_cycles = (uint32_t)cycles;
    aal->transmissions_max = (uint32_t)times;
    return true;
}

static bool open_atm(const struct run_job *job, bool contention_free, struct run_network *out)
{
    struct leat_sim_port_config config = { .model = job->model,
                                           .contention_free = contention_free,
                                           .messages_max = RUN_MESSAGES_MAX };
    struct leat_text name;
    if (!fabric_read(job->verb, job->fabric, &config.fabric) ||
        !refuse(job, of_networks, sizeof of_networks / sizeof *of_networks, "an ATM fabric"))
        return false;
    leat_text_init(&name, out->name, sizeof out->name, NULL, NULL);
    leat_sim_fabric_name(&config.fabric, &name);
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    if (!read_patience(job, &config.aal) ||
        !sim_read_lines(job->args, config.fabric.net.ports, &config.line, out->outage))
        return false;
    config.line.seed = 1;
    out->memory = sim_memory(leat_sim_port_footprint(&config));
    if (!out->memory) return false;
    leat_sim_port_init(&out->atm, &config, out->memory);
    out->net = &out->atm.net;
    if (!job->record || contention_free) return true;
    out->records = sim_record_open(job->record, &out->atm.load.sim, &out->atm.load);
    return out->records;
}

static bool prepare_faults(struct run_network *out)
{
    if (!out->faults.count) return true;
    out->player_memory = sim_memory(
        leat_net_fault_player_footprint(&out->faults, &out->built.topology));
    if (!out->player_memory) return false;
    leat_net_fault_player_init(&out->player, &out->faults, &out->built.topology, 1,
                               out->player_memory);
    return true;
}

static bool open_flits(const struct run_job *job, bool contention_free, struct run_network *out)
{
    char line[256];
    struct leat_text why;
    if (!net_read(job->verb, job->fabric, &out->design)) return false;
    if (!net_build(&out->design, &out->built) || !net_is_safe(&out->design, &out->built) ||
        !refuse(job, of_atm, sizeof of_atm / sizeof *of_atm, "no ATM fabric") ||
        !net_read_faults(job->args, &out->built.topology, &out->faults) || !prepare_faults(out))
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
        .faults = out->player_memory && !contention_free ? &out->player : NULL,
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

bool run_network_close(struct run_network *network)
{
    const bool kept = !network->records || sim_record_close(network->atm.load.sim.now - 1);
    free(network->memory);
    free(network->player_memory);
    net_built_free(&network->built);
    net_design_free(&network->design);
    memset(network, 0, sizeof *network);
    return kept;
}
