/* ATM fabrics: clos444, clos:8,15,8/buffer=4, bmx:16/clock=20MHz. */
#include "fabric_atm.h"
#include "fabric_word_parts.h"
#include <stdlib.h>

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool matches(const char *name)
{
    const struct word shape = { name, strcspn(name, "/") };
    return leat_fabric_is_of_cells(name) || is_word(shape, "clos444") || begins(name, "clos:") ||
           begins(name, "bmx:");
}

static leat_err parse(const char *name, void *out, struct leat_text *why)
{
    return leat_sim_atm_fabric_parse(name, out, why);
}

static bool read(struct leat_fabric *f, bool (*interrupted)(void), struct leat_fabric_error *error)
{
    struct leat_fabric_atm *a = (struct leat_fabric_atm *)f;
    const struct leat_atm_clos *net = &a->fabric.net;
    struct leat_text name;
    if (leat_fabric_is_of_cells(f->word)) {
        if (!leat_fabric_cells_read(f->word, interrupted, &a->cells, &a->fabric, f->name, error))
            return false;
    } else {
        if (!leat_fabric_parse(f->word, parse, &a->fabric, error)) return false;
        leat_text_init(&name, f->name, sizeof f->name - 1, NULL, NULL);
        leat_sim_atm_fabric_name(&a->fabric, &name);
    }
    leat_atm_aal_config_default(&a->aal, 0, net->ports, net->paths);
    a->line.seed = 1;
    a->model = LEAT_SIM_ATM_CELL;
    f->clock = (struct leat_sim_clock){ a->fabric.period_ps_num, a->fabric.period_ps_den };
    f->ports = net->ports;
    return true;
}

static void close(struct leat_fabric *f)
{
    struct leat_fabric_atm *a = (struct leat_fabric_atm *)f;
    free(a->wires_memory);
    leat_fabric_cells_free(&a->cells);
}

static bool open(struct leat_fabric *f, const struct leat_fabric_config *config,
                 struct leat_fabric_error *error)
{
    struct leat_fabric_atm *a = (struct leat_fabric_atm *)f;
    a->cells.graph.seed = config->seed;
    const struct leat_sim_atm_ports_config port = { .fabric = a->fabric,
                                                    .model = a->model,
                                                    .aal = a->aal,
                                                    .line = a->line,
                                                    .contention_free = config->contention_free,
                                                    .messages_max = config->messages_max };
    f->memory = leat_fabric_take(1, leat_sim_atm_replay_footprint(&port), error);
    if (!f->memory) return false;
    leat_sim_atm_replay_init(&a->replay, &port, f->memory);
    f->replay = &a->replay.base;
    f->replay->is_off = config->every_cycle || a->fabric.faults ||
                        leat_sim_atm_fabric_errs(&a->fabric);
    a->sim = &a->replay.port.load.sim;
    f->net = &f->replay->net;
    return true;
}

static void native(const struct leat_fabric *f, struct leat_sim_packetway_native *out)
{
    out->kind = LEAT_SIM_PACKETWAY_ATM;
    out->clos = &((const struct leat_fabric_atm *)f)->fabric.net;
}

/* As a network of switches. */
static const struct leat_net_shape *shape(struct leat_fabric *f)
{
    struct leat_fabric_atm *a = (struct leat_fabric_atm *)f;
    const struct leat_atm_clos *net = &a->fabric.net;
    const bool single = net->stages == 1;
    if (a->fabric.graph) return &a->cells.design.plan.shape;
    a->shape = (struct leat_net_shape){ .kind = single ? LEAT_NET_CROSSBAR : LEAT_NET_CLOS,
                                        .number = { net->e, net->m, net->r },
                                        .numbers = single ? 1 : 3,
                                        .terminals = 1,
                                        .wire_cycles = 1,
                                        .board_cycles = 1 };
    return &a->shape;
}

static bool list(size_t index, struct leat_fabric_spelling *out)
{
    const struct leat_sim_atm_fabric_spelling *spelling = leat_sim_atm_fabric_list(index);
    const bool is_last = !spelling && index && leat_sim_atm_fabric_list(index - 1);
    if (!spelling && !is_last) return false;
    *out = (struct leat_fabric_spelling){
        "/cells", "cells through a network of switches below: torus:4,4/cells/switch=output; with "
                  "/line=NAME on a line of `leat fabric lines`"
    };
    if (spelling) *out = (struct leat_fabric_spelling){ spelling->name, spelling->text };
    return true;
}

/* ---- wires ----------------------------------------------------------------------------------- */

/* Its number in the network. */
static uint32_t switch_at(const struct leat_atm_clos *net, struct leat_atm_clos_place place)
{
    return net->stage[place.stage].switch_first + place.unit;
}

/* "port 3>0" to a switch, "0>4" between switches, "8>port 3"; numbers as in leat fabric show. */
static void name_wire(const struct leat_atm_clos *net, uint32_t link,
                      char name[LEAT_FABRIC_WIRE_CAP])
{
    if (link >= net->ppd_count) {
        const uint32_t port = link - net->ppd_count, spd = leat_atm_clos_output_spd(net, port);
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "%u>port %u",
                 switch_at(net, leat_atm_clos_spd_place(net, spd)), port);
        return;
    }
    const uint32_t spd = leat_atm_clos_feeder(net, link),
                   to = switch_at(net, leat_atm_clos_ppd_place(net, link));
    if (spd == LEAT_ATM_CLOS_NONE)
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "port %u>%u", link, to);
    else
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "%u>%u",
                 switch_at(net, leat_atm_clos_spd_place(net, spd)), to);
}

static uint32_t wires_of(const struct leat_sim_atm_fabric *fabric)
{
    return fabric->graph ? fabric->graph->topology->outs : leat_sim_atm_link_count(&fabric->net);
}

/* During a replay the network stands still and counts nothing, so it is brought to the present. */
static bool wire(struct leat_fabric *f, uint32_t index, struct leat_fabric_wire *out)
{
    struct leat_fabric_atm *a = (struct leat_fabric_atm *)f;
    if (index >= wires_of(&a->fabric)) return false;
    leat_sim_replay_settle(&a->replay.base);
    *out = (struct leat_fabric_wire){ .carries = "cells" };
    if (a->fabric.graph) {
        out->carried = leat_sim_atm_graph_carried(a->sim, index);
        leat_fabric_name_wire(a->fabric.graph->topology, index, out->name);
    } else {
        out->carried = leat_sim_atm_link_cells(a->sim, index);
        name_wire(&a->fabric.net, index, out->name);
    }
    const struct leat_sim_clock slot = leat_sim_atm_fabric_slot(&a->fabric);
    out->busy_ns = leat_fabric_ns(&f->clock, leat_sim_clock_at(&slot, out->carried));
    return true;
}

const struct leat_fabric_kind leat_fabric_kind_atm = { .id = "atm",
                                                       .what = "an ATM fabric",
                                                       .size = sizeof(struct leat_fabric_atm),
                                                       .list = list,
                                                       .matches = matches,
                                                       .reads_any = true,
                                                       .read = read,
                                                       .open = open,
                                                       .close = close,
                                                       .native = native,
                                                       .shape = shape,
                                                       .wire = wire };

struct leat_fabric_atm *leat_fabric_as_atm(struct leat_fabric *fabric)
{
    return fabric->kind == &leat_fabric_kind_atm ? (struct leat_fabric_atm *)fabric : NULL;
}
