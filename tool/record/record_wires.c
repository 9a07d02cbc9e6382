#include "record_wires.h"
#include "tool.h"
#include <stdio.h>
#include <stdlib.h>

static bool is_to_terminal(uint32_t to)
{
    return to & LEAT_NET_TERMINAL;
}

/* Wires of the same two routers before this one. */
static uint32_t twins_before(const struct leat_net_topology *t, uint32_t out)
{
    const uint32_t router = t->out_router[out], to = t->in_router[t->out_to[out]];
    uint32_t twins = 0;
    for (uint32_t o = t->out_first[router]; o < out; o++)
        twins += !is_to_terminal(t->out_to[o]) && t->in_router[t->out_to[o]] == to;
    return twins;
}

static void name_wire(const struct leat_net_topology *t, uint32_t out, char *name, size_t cap)
{
    const uint32_t to = t->out_to[out], router = t->out_router[out];
    if (is_to_terminal(to)) {
        const uint32_t terminal = to ^ LEAT_NET_TERMINAL, hosts = t->terminals - t->processors;
        if (terminal < hosts)
            snprintf(name, cap, "%u>port%u", router, terminal);
        else
            snprintf(name, cap, "%u>router%u", router, terminal - hosts);
        return;
    }
    const uint32_t twins = twins_before(t, out);
    const int len = snprintf(name, cap, "%u>%u", router, t->in_router[to]);
    if (twins) snprintf(name + len, cap - (size_t)len, " #%u", twins + 1);
}

static uint32_t count_wires(const struct leat_net_topology *t)
{
    uint32_t count = 0;
    for (uint32_t out = 0; out < t->outs; out++)
        count += t->out_to[out] != LEAT_NET_NONE;
    return count;
}

bool record_wires_declare(struct record_wires *wires, struct leat_sim_recorder *recorder,
                          uint32_t group, uint32_t clock, const struct leat_net_topology *topology,
                          uint32_t room, uint64_t hops)
{
    enum { OTHERS = 2 }; /* the group, and the width */
    *wires = (struct record_wires){ .topology = topology, .left = hops };
    if (!hops) return true;
    const uint32_t count = count_wires(topology);
    if (count + OTHERS > room) {
        caution("--record: %u wires, expected at most %u to be recorded; packets are recorded only "
                "where they enter and leave",
                count, room < OTHERS ? 0 : room - OTHERS);
        return true;
    }
    wires->lane = calloc(topology->outs, sizeof *wires->lane);
    if (!wires->lane) return complain("no memory for the recording of %u wires", count);
    const uint32_t inner = leat_sim_recorder_group(recorder, group, "wires");
    for (uint32_t out = 0; out < topology->outs; out++) {
        char name[64];
        if (topology->out_to[out] == LEAT_NET_NONE) continue;
        name_wire(topology, out, name, sizeof name);
        wires->lane[out] = leat_sim_recorder_lane(recorder, inner, clock, 0, name);
    }
    wires->width = leat_sim_recorder_signal(recorder, inner, clock, 32, "width");
    return true;
}

void record_wires_free(struct record_wires *wires)
{
    free(wires->lane);
    *wires = (struct record_wires){ 0 };
}

void record_wires_begin(const struct record_wires *wires, uint32_t octets, record_put *put)
{
    if (wires->lane)
        put(&(struct leat_sim_event){
            .kind = LEAT_SIM_VALUE, .track = wires->width, .value = octets });
}

void record_wires_cross(struct record_wires *wires, uint32_t out, uint64_t message, uint64_t len,
                        leat_time at, record_put *put)
{
    if (!wires->lane || !wires->left) return;
    wires->left--;
    put(&(struct leat_sim_event){ .kind = LEAT_SIM_FLOW,
                                  .at = at,
                                  .track = wires->lane[out],
                                  .step = LEAT_SIM_PASSES,
                                  .flow = { .message = message, .len = len } });
}
