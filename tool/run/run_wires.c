/* leat run: the busiest wires of a network of switches. The others do not count what passes. */
#include "fabric_flits.h"
#include "json_out.h"
#include "run.h"

/* Keeps the busiest, of equal ones the first. */
static void keep(struct run_outcome *out, const struct run_wire *wire)
{
    uint32_t at = out->wires;
    while (at && out->wire[at - 1].carried < wire->carried)
        at--;
    if (at == RUN_WIRES_MAX) return;
    if (out->wires < RUN_WIRES_MAX) out->wires++;
    for (uint32_t i = out->wires - 1; i > at; i--)
        out->wire[i] = out->wire[i - 1];
    out->wire[at] = *wire;
}

/* How many wires to the same router are before this one? */
static uint32_t count_parallel(const struct leat_net_topology *t, uint32_t first, uint32_t wire)
{
    uint32_t count = 0;
    for (uint32_t o = first; o < wire; o++)
        count += leat_net_behind(t, o) == leat_net_behind(t, wire);
    return count;
}

/* "3>7" as faults have it, "3>7 (2)" for the second of several; "3>port 5" to a terminal. */
static void name_wire(const struct leat_net_topology *t, uint32_t router, uint32_t wire,
                      char name[RUN_WIRE_CAP])
{
    const uint32_t to = leat_net_behind(t, wire);
    const bool is_last = to == LEAT_NET_NONE;
    const uint32_t before = is_last ? 0 : count_parallel(t, t->out_first[router], wire);
    if (is_last)
        snprintf(name, RUN_WIRE_CAP, "%u>port %u", router, t->out_to[wire] & ~LEAT_NET_TERMINAL);
    else if (before)
        snprintf(name, RUN_WIRE_CAP, "%u>%u (%u)", router, to, before + 1);
    else
        snprintf(name, RUN_WIRE_CAP, "%u>%u", router, to);
}

void run_wires_keep(const struct run_network *network, struct run_outcome *out)
{
    const struct leat_net *net = network->flits;
    if (!net || !net->out_flits) return;
    const struct leat_sim_clock *clock = &network->fabric->clock;
    out->wires_carry = "flits";
    out->wire_seconds = 1e-12 * (double)clock->num / (double)clock->den;
    for (uint32_t router = 0; router < net->topology->routers; router++)
        for (uint32_t o = net->topology->out_first[router];
             o < net->topology->out_first[router + 1]; o++) {
            struct run_wire wire = { .carried = net->out_flits[o] };
            if (!wire.carried) continue;
            name_wire(net->topology, router, o, wire.name);
            keep(out, &wire);
        }
}

/* Flits that nobody waited for may still have been on their way after the end. */
static double utilisation(const struct run_outcome *out, const struct run_wire *wire)
{
    const double share = (double)wire->carried * out->wire_seconds / run_seconds(out->simulated_ps);
    return share < 1 ? share : 1;
}

void run_wires_json(struct leat_json *j, const struct run_outcome *out)
{
    if (!out->wires_carry) {
        leat_json_null(j, "wires");
        return;
    }
    leat_json_array(j, "wires");
    for (uint32_t i = 0; i < out->wires; i++) {
        leat_json_object(j, NULL);
        leat_json_string(j, "wire", out->wire[i].name);
        json_fixed(j, "utilisation", out->simulated_ps ? utilisation(out, &out->wire[i]) : 0, 6);
        leat_json_uint(j, out->wires_carry, out->wire[i].carried);
        leat_json_end(j);
    }
    leat_json_end(j);
}
