#include "sim_atm_faults_parts.h"
#include "sim_atm_parts.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/* Without contention there are no wires to break; other switches have faults of their own. */
void leat_sim_atm_faults_lay(struct leat_sim_atm *sim, struct leat_arena *arena)
{
    const struct leat_sim_atm_faults *faults = sim->fabric.faults;
    const struct leat_atm_clos *net = &sim->fabric.net;
    const bool knows = sim->model == LEAT_SIM_ATM_RTL || sim->model == LEAT_SIM_ATM_CELL;
    if (!faults || !knows) return;
    const uint32_t middle = net->stages > 1 ? net->stage[1].switch_count : 0;
    struct leat_sim_atm_faulty parts = { .any = false };
    sim->faulty = leat_arena_lay(arena, 1, sizeof *sim->faulty);
    parts.up = leat_arena_lay(arena, net->r, sizeof *parts.up);
    parts.down = leat_arena_lay(arena, middle, sizeof *parts.down);
    parts.through = leat_arena_lay(arena, net->r, sizeof *parts.through);
    parts.whole_at = leat_arena_lay(arena, net->spd_count + net->ports, sizeof *parts.whole_at);
    parts.ppd = leat_arena_lay(arena, net->ppd_count, sizeof *parts.ppd);
    parts.port = leat_arena_lay(arena, net->ports, sizeof *parts.port);
    void *player = leat_arena_lay(arena, 1,
                                  leat_net_fault_player_footprint(faults->list, faults->topology));
    if (!sim->faulty) return;
    *sim->faulty = parts;
    leat_net_fault_player_init(&sim->faulty->player, faults->list, faults->topology, faults->seed,
                               player);
}

/* ---- the state ------------------------------------------------------------------------------- */

/* SPDs are numbered as the output ports of the same network of switches (net_topology.h). */
static bool is_broken(const struct leat_sim_atm_faulty *f, uint32_t spd)
{
    return f->player.wire_faults[spd];
}

static void find_ways(struct leat_sim_atm *sim)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    struct leat_sim_atm_faulty *f = sim->faulty;
    memset(f->up, 0, net->r * sizeof *f->up);
    memset(f->through, 0, net->r * sizeof *f->through);
    for (uint32_t middle = 0; middle < net->stage[1].switch_count; middle++) {
        f->down[middle] = 0;
        for (uint32_t side = 0; side < net->r; side++) {
            const bool up = !is_broken(f, side * net->m + middle),
                       down = !is_broken(f, net->stage[1].spd_first + middle * net->r + side);
            f->up[side] |= (uint64_t)up << middle;
            f->down[middle] |= (uint64_t)down << side;
            f->through[side] |= (uint64_t)down << middle;
        }
    }
}

/* Of a wire between switches, or from a port. */
static bool is_wire_broken(const struct leat_sim_atm *sim, uint32_t wire)
{
    const struct leat_net_fault_player *player = &sim->faulty->player;
    const uint32_t wires = sim->fabric.net.spd_count;
    return wire < wires ? player->wire_faults[wire] : player->terminal_faults[wire - wires];
}

/* Until this cycle. */
static void note_whole(struct leat_sim_atm *sim, uint64_t cycle)
{
    const uint32_t wires = sim->fabric.net.spd_count + sim->fabric.net.ports;
    for (uint32_t wire = 0; wire < wires; wire++)
        if (!is_wire_broken(sim, wire)) sim->faulty->whole_at[wire] = cycle;
}

/* A cell that was checked when the wire was whole is received within a cell time. */
bool leat_sim_atm_faults_is_silent(const struct leat_sim_atm *sim, uint32_t wire)
{
    enum { SILENT_CYCLES = 2 * CELL_LEN };
    return is_wire_broken(sim, wire) && sim->now >= sim->faulty->whole_at[wire] + SILENT_CYCLES;
}

static bool has_any(const struct leat_net_fault_player *p)
{
    for (uint32_t i = 0; i < p->faults->count; i++)
        if (p->is_active[i]) return true;
    return false;
}

void leat_sim_atm_faults_apply(struct leat_sim_atm *sim, uint64_t cycle)
{
    struct leat_sim_atm_faulty *f = sim->faulty;
    note_whole(sim, cycle);
    leat_net_fault_player_apply_at(&f->player, NULL, cycle);
    f->any = has_any(&f->player);
    if (sim->fabric.net.stages > 1) find_ways(sim);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A damaged cell does not depend on any order: models draw in different ones. */
static bool is_damaged(const struct leat_sim_atm_faulty *f, uint32_t spd, uint64_t at)
{
    const struct leat_net_crossing crossing = { .number = at, .wire = spd };
    if (!f->player.errors || !f->player.errors[spd]) return false;
    return leat_net_crossing_damages(&crossing, f->player.seed, f->player.errors[spd]);
}

static uint32_t count_bits(uint64_t bits)
{
    uint32_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

/* The i-th of these bits, as a number. */
static uint32_t pick(uint64_t bits, uint32_t i)
{
    for (; i; i--)
        bits &= bits - 1;
    return (uint32_t)__builtin_ctzll(bits);
}

/* The last switches that a cell with this access label goes to. */
static uint64_t wanted_by(const struct leat_sim_atm *sim, uint32_t label)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const uint32_t to = label / net->m;
    if (to < net->ports) return UINT64_C(1) << to / net->e;
    uint64_t wanted = 0;
    for (uint32_t side = 0; side < net->r; side++)
        for (uint32_t port = side * net->e; port < (side + 1) * net->e; port++) {
            const bool is_member =
                to == net->ports ||
                leat_sim_atm_group(sim, to - net->ports - 1)[port / 64] >> port % 64 & 1;
            wanted |= (uint64_t)is_member << side;
        }
    return wanted;
}

/* Of the middle switches behind a first switch, those that reach as much of it as any does. */
static uint64_t best_ways(const struct leat_sim_atm *sim, uint32_t side, uint64_t wanted)
{
    const struct leat_sim_atm_faulty *f = sim->faulty;
    uint32_t most = 1;
    uint64_t best = 0;
    for (uint64_t left = f->up[side]; left; left &= left - 1) {
        const uint32_t middle = pick(left, 0), reached = count_bits(f->down[middle] & wanted);
        if (reached > most) best = 0;
        if (reached >= most) best |= UINT64_C(1) << middle;
        if (reached > most) most = reached;
    }
    return best;
}

/* In the first stage: another middle switch, if the one selected does not reach all. */
static struct leat_sim_atm_verdict lead(const struct leat_sim_atm *sim, uint32_t ppd,
                                        uint32_t label, uint64_t select)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const struct leat_sim_atm_faulty *f = sim->faulty;
    const uint32_t side = ppd / net->e, to = label / net->m;
    const uint64_t wanted = wanted_by(sim, label);
    const uint64_t ways = to < net->ports ? f->up[side] & f->through[to / net->e]
                                          : best_ways(sim, side, wanted);
    if (!wanted || (ways & select)) return (struct leat_sim_atm_verdict){ .select = select };
    if (!ways || sim->fabric.faults->pinned)
        return (struct leat_sim_atm_verdict){ .lost = 1, .why = LEAT_NET_NO_WAY };
    const uint32_t other = pick(ways, (ppd + to) % count_bits(ways));
    return (struct leat_sim_atm_verdict){ .select = UINT64_C(1) << other, .rerouted = true };
}

bool leat_sim_atm_faults_reroutes(const struct leat_sim_atm *sim, uint32_t from, uint32_t to)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const struct leat_sim_atm_faulty *f = sim->faulty;
    if (net->stages == 1 || sim->fabric.faults->pinned) return false;
    return f->up[from / net->e] & f->through[to / net->e];
}

static struct leat_sim_atm_verdict verdict_on(const struct leat_sim_atm *sim, uint32_t ppd,
                                              uint32_t label, uint64_t at, uint64_t select)
{
    const struct leat_atm_clos *net = &sim->fabric.net;
    const struct leat_sim_atm_faulty *f = sim->faulty;
    const uint32_t from = leat_atm_clos_feeder(net, ppd);
    struct leat_sim_atm_verdict v = { .select = select };
    if (!select) return v; /* of no connection: not the fault's doing */
    if (from == LEAT_ATM_CLOS_NONE) {
        if (f->player.terminal_faults[ppd])
            v = (struct leat_sim_atm_verdict){ .lost = 1, .why = LEAT_NET_CUT };
        else if (net->stages > 1)
            v = lead(sim, ppd, label, select);
        return v;
    }
    if (is_broken(f, from)) return (struct leat_sim_atm_verdict){ .lost = 1, .why = LEAT_NET_CUT };
    if (is_damaged(f, from, at))
        return (struct leat_sim_atm_verdict){ .lost = 1, .why = LEAT_NET_CORRUPTED };
    const struct leat_atm_clos_place place = leat_atm_clos_ppd_place(net, ppd);
    if (place.stage + 1 == net->stages) return v;
    v.select = select & f->down[place.unit];
    v.lost = count_bits(select ^ v.select);
    v.why = LEAT_NET_NO_WAY;
    return v;
}

uint64_t leat_sim_atm_faults_check(const struct leat_sim_atm *sim, uint32_t ppd, uint32_t label,
                                   uint64_t at, uint64_t select)
{
    struct leat_sim_atm_taken *taken = &sim->faulty->ppd[ppd];
    taken->last = verdict_on(sim, ppd, label, at, select);
    taken->cells[taken->last.why] += taken->last.lost;
    taken->rerouted += taken->last.rerouted;
    return taken->last.select;
}

void leat_sim_atm_faults_forget(const struct leat_sim_atm *sim, uint32_t ppd)
{
    struct leat_sim_atm_taken *taken = &sim->faulty->ppd[ppd];
    if (!sim->faulty->any) return;
    taken->cells[taken->last.why] -= taken->last.lost;
    taken->rerouted -= taken->last.rerouted;
    taken->last = (struct leat_sim_atm_verdict){ .select = 0 };
}

bool leat_sim_atm_faults_arrives(const struct leat_sim_atm *sim, uint32_t port, uint64_t at)
{
    const struct leat_sim_atm_faulty *f = sim->faulty;
    const uint32_t spd = leat_atm_clos_output_spd(&sim->fabric.net, port);
    if (f->player.terminal_faults[port])
        f->port[port].cells[LEAT_NET_CUT]++;
    else if (is_damaged(f, spd, at))
        f->port[port].cells[LEAT_NET_CORRUPTED]++;
    else
        return true;
    return false;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Without the cell that is yet to be checked, which strides count early. */
static struct leat_sim_atm_taken taken_at(const struct leat_sim_atm *sim, uint32_t ppd)
{
    struct leat_sim_atm_taken taken = sim->faulty->ppd[ppd];
    if (!sim->faulty->any || sim->model != LEAT_SIM_ATM_CELL) return taken;
    if (!leat_sim_atm_cells_is_early(sim, ppd)) return taken;
    taken.cells[taken.last.why] -= taken.last.lost;
    taken.rerouted -= taken.last.rerouted;
    return taken;
}

uint64_t leat_sim_atm_faults_cut(const struct leat_sim_atm *sim, uint32_t ppd)
{
    return taken_at(sim, ppd).cells[LEAT_NET_CUT];
}

static void add(const struct leat_sim_atm_taken *taken, struct leat_sim_atm_losses *out)
{
    for (uint32_t fate = 0; fate < LEAT_NET_FATES; fate++)
        out->cells[fate] += taken->cells[fate];
    out->rerouted += taken->rerouted;
}

void leat_sim_atm_losses(const struct leat_sim_atm *sim, struct leat_sim_atm_losses *out)
{
    *out = (struct leat_sim_atm_losses){ .rerouted = 0 };
    if (sim->model == LEAT_SIM_ATM_GRAPH) leat_sim_atm_graph_losses(sim, out);
    if (!sim->faulty) return;
    for (uint32_t ppd = 0; ppd < sim->fabric.net.ppd_count; ppd++) {
        const struct leat_sim_atm_taken taken = taken_at(sim, ppd);
        add(&taken, out);
    }
    for (uint32_t port = 0; port < sim->fabric.net.ports; port++)
        add(&sim->faulty->port[port], out);
}

uint64_t leat_sim_atm_losses_sum(const struct leat_sim_atm_losses *losses)
{
    uint64_t sum = 0;
    for (uint32_t fate = 0; fate < LEAT_NET_FATES; fate++)
        if (fate != LEAT_NET_DELIVERED) sum += losses->cells[fate];
    return sum;
}
