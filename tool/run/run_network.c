/* leat run: the network that the program runs over. */
#include "ether_fabric.h"
#include "fabric.h"
#include "net_sim.h"
#include "pktway_design.h"
#include "ring_fabric.h"
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

static const char *const of_atm[] = { "--model",         "--bit-errors", "--lose", "--insert",
                                      "--duplicate",     "--hec",        "--dead", "--retransmit",
                                      "--transmissions", "--obsolete",   "--poll", "--every-cycle",
                                      "--descriptors",   "--no-resync" };
/* How many messages may be under way. */
static uint32_t messages_of(const struct run_job *job)
{
    return job->messages_max ? job->messages_max : RUN_MESSAGES_MAX;
}

static const char *const of_networks[] = { "--flit-bytes", "--packet-flits", "--fault",
                                           "--fault-file" };

/* How often, and how soon, a unit sends again what is not acknowledged; how long it keeps what
 * nobody reads, and how much. */
static bool read_patience(const struct run_job *job, struct leat_atm_aal_config *aal)
{
    uint64_t cycles = aal->retransmit_cycles, times = aal->transmissions_max;
    uint64_t obsolete = aal->obsolete_cycles, descriptors = aal->descriptors;
    if (!sim_read_number(job->args, "--retransmit", 1, UINT32_MAX, &cycles) ||
        !sim_read_number(job->args, "--obsolete", 1, UINT32_MAX, &obsolete) ||
        !sim_read_number(job->args, "--descriptors", 1, UINT16_MAX, &descriptors) ||
        !sim_read_number(job->args, "--transmissions", 1, UINT8_MAX, &times))
        return false;
    aal->retransmit_cycles = (uint32_t)cycles;
    aal->obsolete_cycles = (uint32_t)obsolete;
    aal->descriptors = (uint32_t)descriptors;
    aal->transmissions_max = (uint32_t)times;
    aal->resync = sim_read_resync(job->args);
    return true;
}

/* What both kinds of ATM networks have. False after a complaint. */
static bool read_atm(const struct run_job *job, struct run_network *out,
                     struct leat_sim_atm_fabric *fabric, struct leat_atm_aal_config *aal,
                     struct leat_sim_atm_line_config *line)
{
    struct leat_text name;
    if (!fabric_read(job->verb, job->fabric, fabric) ||
        !refuse(job, of_networks, sizeof of_networks / sizeof *of_networks, "an ATM fabric"))
        return false;
    leat_text_init(&name, out->name, sizeof out->name, NULL, NULL);
    leat_sim_atm_fabric_name(fabric, &name);
    leat_atm_aal_config_default(aal, 0, fabric->net.ports, fabric->net.paths);
    line->seed = 1;
    return read_patience(job, aal) &&
           sim_read_lines(job->args, fabric->net.ports, line, out->outage);
}

/* Messages of port.h. */
static struct leat_sim_atm_load *open_ports(const struct run_job *job, bool contention_free,
                                            struct run_network *out)
{
    struct leat_sim_atm_ports_config config = { .model = job->model,
                                                .contention_free = contention_free,
                                                .messages_max = messages_of(job) };
    if (!read_atm(job, out, &config.fabric, &config.aal, &config.line)) return NULL;
    out->memory = sim_memory(leat_sim_atm_replay_footprint(&config));
    if (!out->memory) return NULL;
    leat_sim_atm_replay_init(&out->atm, &config, out->memory);
    out->atm.is_off = job->every_cycle;
    out->net = &out->atm.net;
    return &out->atm.port.load;
}

/* Commands to units. */
static struct leat_sim_atm_load *open_platform(const struct run_job *job, bool contention_free,
                                               struct run_network *out)
{
    struct leat_sim_atm_platform_config config = { .model = job->model,
                                                   .contention_free = contention_free,
                                                   .polls = argument(job->args, "--poll"),
                                                   .tasks_max = RUN_TASKS_MAX };
    if (!read_atm(job, out, &config.fabric, &config.aal, &config.line)) return NULL;
    out->memory = sim_memory(leat_sim_atm_platform_footprint(&config));
    if (!out->memory) return NULL;
    leat_sim_atm_platform_init(&out->platform, &config, out->memory);
    out->net = &out->platform.base.net;
    return &out->platform.load;
}

static bool open_atm(const struct run_job *job, bool contention_free, struct run_network *out)
{
    if (job->library != RUN_ATM && argument(job->args, "--poll")) {
        misuse(job->verb, "--poll has no meaning but for programs of leat/atm_task.h");
        return false;
    }
    if (job->library == RUN_ATM && job->every_cycle) {
        misuse(job->verb,
               "--every-cycle has no meaning for programs of leat/atm_task.h: all of their "
               "cycles are simulated");
        return false;
    }
    out->load = job->library == RUN_ATM ? open_platform(job, contention_free, out)
                                        : open_ports(job, contention_free, out);
    return out->load;
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
        .head_flits = job->bare ? 0 : 1,
        .messages_max = messages_of(job),
        .contention_free = contention_free,
        .faults = out->player_memory && !contention_free ? &out->player : NULL,
        .seed = job->seed ? job->seed : 1,
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
    out->has_flits = true;
    return true;
}

static bool open_ring(const struct run_job *job, bool contention_free, struct run_network *out)
{
    struct leat_sim_aton_port_config config;
    char name[RING_FABRIC_NAME_CAP];
    if (!ring_fabric_read(job->verb, job->fabric, &config, name) ||
        !refuse(job, of_atm, sizeof of_atm / sizeof *of_atm, "a token ring") ||
        !refuse(job, of_networks, sizeof of_networks / sizeof *of_networks, "a token ring"))
        return false;
    config.messages_max = messages_of(job);
    config.contention_free = contention_free;
    snprintf(out->name, sizeof out->name, "%s", name);
    out->memory = sim_memory(leat_sim_aton_port_footprint(&config));
    if (!out->memory) return false;
    leat_sim_aton_port_init(&out->ring, &config, out->memory);
    out->is_ring = true;
    out->net = &out->ring.base;
    return true;
}

static bool open_ether(const struct run_job *job, bool contention_free, struct run_network *out)
{
    struct leat_sim_ether_port_config config;
    char name[ETHER_FABRIC_NAME_CAP];
    if (!ether_fabric_read(job->verb, job->fabric, &config, name) ||
        !refuse(job, of_atm, sizeof of_atm / sizeof *of_atm, "an Ethernet") ||
        !refuse(job, of_networks, sizeof of_networks / sizeof *of_networks, "an Ethernet"))
        return false;
    config.messages_max = messages_of(job);
    config.contention_free = contention_free;
    snprintf(out->name, sizeof out->name, "%s", name);
    out->memory = sim_memory(leat_sim_ether_port_footprint(&config));
    if (!out->memory) return false;
    leat_sim_ether_port_init(&out->ether, &config, out->memory);
    out->is_ether = true;
    out->net = &out->ether.base;
    return true;
}

struct pktway_whole {
    struct pktway_design design;
    struct pktway_built built;
};

static bool open_pktway(const struct run_job *job, bool contention_free, struct run_network *out)
{
    static const char *const files[] = { "--fault-file" };
    if (job->library == RUN_ATM) {
        misuse(job->verb, "%s: a PacketWay network, expected an ATM fabric for this program",
               job->fabric);
        return false;
    }
    out->pktway = net_take(1, sizeof *out->pktway);
    if (!out->pktway || !pktway_read(job->verb, job->fabric, &out->pktway->design) ||
        !refuse(job, of_atm, sizeof of_atm / sizeof *of_atm, "a PacketWay network") ||
        !refuse(job, files, 1, "a PacketWay network") ||
        !pktway_read_options(job->args, &out->pktway->design) ||
        !pktway_open(&out->pktway->design, job, contention_free, messages_of(job), NULL,
                     &out->pktway->built))
        return false;
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, job->fabric);
    out->net = &out->pktway->built.net.base;
    return true;
}

bool run_network_open(const struct run_job *job, bool contention_free, struct run_network *out)
{
    memset(out, 0, sizeof *out);
    out->is_recorded = job->record && !contention_free;
    if (pktway_is(job->fabric)) return open_pktway(job, contention_free, out);
    if (!pktway_refuse_elsewhere(job->args, job->fabric)) return false;
    if (ring_fabric_is(job->fabric) && job->library != RUN_ATM)
        return open_ring(job, contention_free, out);
    if (ether_fabric_is(job->fabric) && job->library != RUN_ATM)
        return open_ether(job, contention_free, out);
    return net_is(job->fabric) ? open_flits(job, contention_free, out)
                               : open_atm(job, contention_free, out);
}

void run_network_close(struct run_network *network)
{
    if (network->pktway) pktway_close(&network->pktway->built);
    free(network->pktway);
    free(network->memory);
    free(network->player_memory);
    net_built_free(&network->built);
    net_design_free(&network->design);
    memset(network, 0, sizeof *network);
}
