/* leat run: the busiest wires, where the network counts what passes over them. */
#include "json_out.h"
#include "run.h"

/* Keeps the busiest, of equal ones the first. */
static void keep(struct run_outcome *out, const struct leat_fabric_wire *wire)
{
    uint32_t at = out->wires;
    while (at && out->wire[at - 1].busy < wire->busy)
        at--;
    if (at == RUN_WIRES_MAX) return;
    if (out->wires < RUN_WIRES_MAX) out->wires++;
    for (uint32_t i = out->wires - 1; i > at; i--)
        out->wire[i] = out->wire[i - 1];
    out->wire[at] = *wire;
}

void run_wires_keep(const struct run_network *network, struct run_outcome *out)
{
    const struct leat_fabric *fabric = network->fabric;
    const struct leat_sim_clock *clock = &fabric->clock;
    struct leat_fabric_wire wire;
    if (!fabric->kind->wire) return;
    out->wires_carry = fabric->kind->carries;
    out->wire_seconds = 1e-12 * (double)clock->num / (double)clock->den;
    for (uint32_t i = 0; fabric->kind->wire(fabric, i, &wire); i++)
        if (wire.carried) keep(out, &wire);
}

/* What nobody waited for may still have been on its way after the end. */
static double utilisation(const struct run_outcome *out, const struct leat_fabric_wire *wire)
{
    const double busy = (double)wire->busy * out->wire_seconds,
                 all = run_seconds(out->simulated_ps);
    return busy < all ? busy / all : 1;
}

void run_wires_json(struct leat_json *j, const struct run_outcome *out)
{
    if (!out->wires_carry) {
        leat_json_null(j, "busiest_wires");
        return;
    }
    leat_json_array(j, "busiest_wires");
    for (uint32_t i = 0; i < out->wires; i++) {
        leat_json_object(j, NULL);
        leat_json_string(j, "wire", out->wire[i].name);
        json_fixed(j, "utilisation", utilisation(out, &out->wire[i]), 6);
        leat_json_uint(j, out->wires_carry, out->wire[i].carried);
        leat_json_end(j);
    }
    leat_json_end(j);
}
