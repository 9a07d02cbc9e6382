/*
 * leat sim of a PacketWay network: messages by a pattern over all hosts. A cycle is a nanosecond
 * here, since SANs have clocks of their own, and a load of 1 is 10 Mbit/s from every host.
 */
#include "fabric.h"
#include "fabric_packetway.h"
#include "json_out.h"
#include "pktway_options.h"
#include "port_load.h"
#include "sim.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    LOAD_DEFAULT = SIM_LOAD_ONE / 20,
    CYCLES_DEFAULT = 10000000,
    NS_PER_OCTET = 800, /* at 10 Mbit/s */
    PS_PER_CYCLE = 1000,
};

struct pktway_load {
    struct port_load load; /* the first member */
    struct leat_fabric_packetway *network;
    struct leat_sim_histogram within, across;
};

static void on_arrived(struct port_load *load, const struct leat_port_message *m, uint64_t cycles)
{
    struct pktway_load *l = (struct pktway_load *)load;
    const struct leat_sim_packetway *net = &l->network->net;
    const bool near = leat_sim_packetway_san_of(net, m->from) ==
                      leat_sim_packetway_san_of(net, m->to);
    leat_sim_histogram_add(near ? &l->within : &l->across, cycles);
}

static double megabits(const struct port_load *l, uint64_t cycles)
{
    return 8e3 * (double)l->delivered * (double)l->bytes / (double)cycles / l->net->ports;
}

static void put_text(const struct port_load *load, uint64_t cycles)
{
    const struct pktway_load *l = (const struct pktway_load *)load;
    const struct leat_fabric_sans *design = &l->network->design;
    const struct leat_sim_packetway_counts *c = &l->network->net.counts;
    char how[64];
    snprintf(how, sizeof how, ", forwarding %s, %s", design->by_address ? "by address" : "planned",
             design->cut_through ? "cut-through" : "packets stored");
    port_load_head_text(load, how);
    printf("%" PRIu64 " ns; hosts %u, SANs %u, routers %u%s\n", cycles, load->net->ports,
           design->sans, design->routers, port_load_end_word(load, cycles));
    port_load_counts_text(load);
    printf("  %-32s %14.6f  Mbit/s of each host\n", "throughput", megabits(load, cycles));
    port_load_latency_text("latency", "ns", &load->latency);
    port_load_latency_text("latency within a SAN", "ns", &l->within);
    port_load_latency_text("latency across SANs", "ns", &l->across);
#define X(id, text) printf("  %-44s %2" PRIu64 "\n", text, c->id);
    LEAT_SIM_PACKETWAY_COUNT_LIST(X)
#undef X
    port_load_end_text(load);
}

static void put_json(const struct port_load *load, uint64_t cycles)
{
    const struct pktway_load *l = (const struct pktway_load *)load;
    const struct leat_sim_packetway_counts *c = &l->network->net.counts;
    struct json_out out;
    struct leat_json *j = port_load_open_json(&out, load);
    leat_json_string(j, "forwarding", l->network->design.by_address ? "address" : "planned");
    leat_json_bool(j, "cut_through", l->network->design.cut_through);
    port_load_head_json(j, load, cycles);
    json_fixed(j, "throughput", megabits(load, cycles) * NS_PER_OCTET / 8e3, 6);
    json_fixed(j, "throughput_mbit_per_second", megabits(load, cycles), 6);
    port_load_latency_json(j, "latency_cycles", &load->latency);
    port_load_latency_json(j, "within_cycles", &l->within);
    port_load_latency_json(j, "across_cycles", &l->across);
    leat_json_object(j, "counts");
#define X(id, text) leat_json_uint(j, #id, c->id);
    LEAT_SIM_PACKETWAY_COUNT_LIST(X)
#undef X
    leat_json_end(j);
    port_load_close_json(&out, load);
}

int sim_packetway(const struct arguments *args, struct leat_fabric *fabric)
{
    static struct pktway_load l; /* histograms are large */
    l = (struct pktway_load){ .load = { .args = args,
                                        .fabric = fabric,
                                        .load = LOAD_DEFAULT,
                                        .cycles = CYCLES_DEFAULT,
                                        .clock = { PS_PER_CYCLE, 1 },
                                        .arrived = on_arrived },
                              .network = leat_fabric_as_packetway(fabric) };
    if (!port_load_read(&l.load) || !pktway_read_options(args, &l.network->design)) return WRONG;
    leat_sim_histogram_init(&l.within);
    leat_sim_histogram_init(&l.across);
    return port_load_run(&l.load, NS_PER_OCTET * (l.load.bytes ? l.load.bytes : 1),
                         argument(args, "--json") ? put_json : put_text);
}
