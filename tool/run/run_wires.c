/* leat run: the busiest wires, where the network counts what passes over them. */
#include "json_out.h"
#include "run.h"

/* Keeps the busiest, of equal ones the first. */
static void keep(struct run_outcome *out, const struct leat_fabric_wire *wire)
{
    uint32_t at = out->wires;
    while (at && out->wire[at - 1].busy_ns < wire->busy_ns)
        at--;
    if (at == RUN_WIRES_MAX) return;
    if (out->wires < RUN_WIRES_MAX) out->wires++;
    for (uint32_t i = out->wires - 1; i > at; i--)
        out->wire[i] = out->wire[i - 1];
    out->wire[at] = *wire;
}

void run_wires_keep(const struct run_network *network, struct run_outcome *out)
{
    struct leat_fabric *fabric = network->fabric;
    struct leat_fabric_wire wire;
    if (!fabric->kind->wire) return;
    out->counts_wires = true;
    for (uint32_t i = 0; fabric->kind->wire(fabric, i, &wire); i++)
        if (wire.carried) keep(out, &wire);
}

/* What nobody waited for may still have been on its way after the end. */
static double utilisation(const struct run_outcome *out, const struct leat_fabric_wire *wire)
{
    const double busy = 1e-9 * wire->busy_ns, all = run_seconds(out->simulated_ps);
    return busy < all ? busy / all : 1;
}

void run_wires_json(struct leat_json *j, const struct run_outcome *out)
{
    if (!out->counts_wires) {
        leat_json_null(j, "busiest_wires");
        return;
    }
    leat_json_array(j, "busiest_wires");
    for (uint32_t i = 0; i < out->wires; i++) {
        leat_json_object(j, NULL);
        leat_json_string(j, "wire", out->wire[i].name);
        json_fixed(j, "utilisation", utilisation(out, &out->wire[i]), 6);
        leat_json_uint(j, out->wire[i].carries, out->wire[i].carried);
        leat_json_end(j);
    }
    leat_json_end(j);
}
