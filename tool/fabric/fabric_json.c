/*
 * leat fabric show --json: one object. Keys and orders are those of the reference data of the
 * prototype (proto/atm/vectors/clos444.vpi.json), so that a program can compare; labels are called
 * vpi there, and here also where they are VPI and VCI together.
 */
#include "fabric.h"
#include "json_out.h"
#include "sim_atm_cost.h"
#include <stdio.h>

enum {
    CONNECTIONS_MAX = 1 << 17, /* point to point; else only a chosen pair is shown */
    ENTRIES_MAX = 1 << 18,     /* of all tables together */
};

/* A range of ports. */
struct ports {
    uint32_t first, count;
};

static void put_numbers(struct leat_json *j, const char *key, uint32_t first, uint32_t step,
                        uint32_t count)
{
    leat_json_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        leat_json_uint(j, NULL, first + step * i);
    leat_json_end(j);
}

static void put_head(struct leat_json *j, const struct fabric_view *view)
{
    const struct leat_sim_atm_fabric *f = &view->fabric;
    const struct leat_atm_clos *net = &f->net;
    const struct leat_sim_clock clock = { f->period_ps_num, f->period_ps_den };
    leat_json_string(j, "fabric", view->name);
    leat_json_break(j);
    LEAT_JSON_UINTS(j, { "stages", net->stages }, { "e", net->e }, { "m", net->m }, { "r", net->r },
                    { "ports", net->ports }, { "paths", net->paths },
                    { "switches", net->switch_count }, { "ppds", net->ppd_count },
                    { "spds", net->spd_count });
    leat_json_break(j);
    leat_json_string(j, "class", leat_atm_clos_class_name(leat_atm_clos_classify(net)));
    leat_json_string(j, "switching", net->header_octets == LEAT_ATM_VP_HEADER ? "vp" : "vc");
    if (net->table_depth)
        leat_json_uint(j, "table_depth", net->table_depth);
    else
        leat_json_null(j, "table_depth");
    leat_json_uint(j, "buffer_cells", f->buffer_cells);
    leat_fabric_clock_json(j, "period_ps", &clock);
    leat_json_uint(j, "idle_cycles", leat_atm_clos_idle_cycles(net));
    const struct leat_net_cost cost = leat_sim_atm_cost(f);
    fabric_cost_json(j, &cost, "cells");
}

/* `of` each number, but those without a link. */
static void put_links(struct leat_json *j, const char *name, const struct leat_atm_clos *net,
                      uint32_t count, uint32_t (*of)(const struct leat_atm_clos *, uint32_t))
{
    char key[JSON_KEY_CAP];
    leat_json_break(j);
    leat_json_object(j, name);
    for (uint32_t i = 0; i < count; i++)
        if (of(net, i) != LEAT_ATM_CLOS_NONE) leat_json_uint(j, json_key(i, key), of(net, i));
    leat_json_end(j);
}

/* ---- connections ---------------------------------------------------------------------------- */

static void put_connection(struct leat_json *j, const struct leat_atm_clos *net, uint32_t src,
                           uint32_t dst, uint32_t path)
{
    struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
    leat_atm_clos_path(net, src, dst, path, false, hop);
    leat_json_break(j);
    leat_json_array(j, NULL);
    leat_json_uint(j, NULL, src);
    leat_json_uint(j, NULL, dst);
    leat_json_uint(j, NULL, path);
    for (uint32_t s = 0; s < net->stages; s++)
        leat_json_uint(j, NULL, hop[s].label);
    for (uint32_t s = 0; s < net->stages; s++) {
        leat_json_uint(j, NULL, hop[s].ppd);
        leat_json_uint(j, NULL, hop[s].spd);
    }
    leat_json_end(j);
}

static void put_p2p(struct leat_json *j, const struct leat_atm_clos *net, struct ports src,
                    struct ports dst)
{
    static const char *const columns[][13] = {
        { "src", "dst", "k", "access_vpi", "in_ppd", "out_spd" },
        { "src", "dst", "k", "access_vpi", "vpi_in_mid", "vpi_mid_out", "in_ppd", "in_spd",
          "mid_ppd", "mid_spd", "out_ppd", "out_spd" },
    };
    leat_json_break(j);
    leat_json_array(j, "p2p_columns");
    for (const char *const *column = columns[net->stages > 1]; *column; column++)
        leat_json_string(j, NULL, *column);
    leat_json_end(j);
    leat_json_break(j);
    leat_json_array(j, "p2p");
    for (uint32_t s = 0; s < src.count && !interrupted; s++)
        for (uint32_t d = 0; d < dst.count; d++)
            for (uint32_t path = 0; path < net->paths; path++)
                put_connection(j, net, src.first + s, dst.first + d, path);
    leat_json_end(j);
}

static void put_broadcast_row(struct leat_json *j, const struct leat_atm_clos *net, uint32_t src,
                              uint32_t path)
{
    struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
    leat_atm_clos_path(net, src, 0, path, true, hop);
    leat_json_break(j);
    leat_json_object(j, NULL);
    LEAT_JSON_UINTS(j, { "src", src }, { "k", path }, { "access_vpi", hop[0].label },
                    { "in_ppd", hop[0].ppd });
    if (net->stages > 1) {
        LEAT_JSON_UINTS(j, { "in_spd", hop[0].spd }, { "vpi_in_mid", hop[1].label },
                        { "mid_ppd", hop[1].ppd });
        put_numbers(j, "vpi_mid_out", hop[2].label, 0, net->r);
        put_numbers(j, "mid_spd", hop[1].spd, 1, net->r);
        put_numbers(j, "out_ppd", hop[2].ppd, net->m, net->r);
    }
    leat_json_uint(j, "vpi_egress", 0);
    leat_json_end(j);
}

static void put_broadcast(struct leat_json *j, const struct leat_atm_clos *net, struct ports src)
{
    leat_json_break(j);
    leat_json_array(j, "broadcast");
    for (uint32_t s = 0; s < src.count && !interrupted; s++)
        for (uint32_t path = 0; path < net->paths; path++)
            put_broadcast_row(j, net, src.first + s, path);
    leat_json_end(j);
}

/* ---- tables --------------------------------------------------------------------------------- */

static void put_entry_format(struct leat_json *j, const struct leat_atm_clos *net)
{
    leat_json_break(j);
    leat_json_string(j, "entry_format",
                     net->header_octets == LEAT_ATM_VP_HEADER
                         ? "hex: for F outputs of the switch F VPIs of 12 bits and F flags, high "
                           "output first, at the low end of ceil(13 F / 8) octets"
                         : "select: outputs as bits, hex; label: VPI and VCI, 28 bits");
}

static void put_entries_used(struct leat_json *j, const struct leat_atm_clos *net)
{
    leat_json_break(j);
    leat_json_array(j, "entries_used_per_ppd");
    for (uint32_t ppd = 0; ppd < net->ppd_count; ppd++)
        leat_json_uint(j, NULL, net->stage[leat_atm_clos_ppd_place(net, ppd).stage].entries);
    leat_json_end(j);
}

static void put_entry(struct leat_json *j, const struct leat_atm_clos *net, uint32_t ppd,
                      uint32_t label)
{
    char key[JSON_KEY_CAP];
    struct leat_atm_route route = { 0 };
    leat_atm_clos_route(net, ppd, label, &route);
    json_key(label, key);
    if (net->header_octets == LEAT_ATM_VC_HEADER) {
        leat_json_object(j, key);
        leat_json_hex(j, "select", "", route.select, 1);
        leat_json_uint(j, "label", route.label);
        leat_json_end(j);
        return;
    }
    const uint32_t outputs = net->stage[leat_atm_clos_ppd_place(net, ppd).stage].outputs;
    uint8_t entry[LEAT_ATM_ROUTE_ENTRY_LEN_MAX];
    leat_atm_route_pack(&route, outputs, entry);
    leat_json_octets(j, key, entry, leat_atm_route_entry_len(outputs));
}

static void put_tables(struct leat_json *j, const struct fabric_view *view)
{
    struct fabric_entries e;
    char key[JSON_KEY_CAP];
    leat_json_break(j);
    leat_json_object(j, "routing_tables");
    for (uint32_t index = 0; !interrupted && fabric_entries_at(view, index, &e); index++) {
        leat_json_break(j);
        leat_json_object(j, json_key(e.ppd, key));
        for (uint32_t i = 0; i < e.count; i++)
            put_entry(j, &view->fabric.net, e.ppd, e.first + i);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static bool tables_fit(const struct fabric_view *view)
{
    struct fabric_entries e;
    uint64_t entries = 0;
    for (uint32_t index = 0; fabric_entries_at(view, index, &e); index++)
        entries += e.count;
    return entries <= ENTRIES_MAX;
}

void fabric_put_json(const struct fabric_view *view)
{
    const struct leat_atm_clos *net = &view->fabric.net;
    const bool few = (uint64_t)net->ports * net->ports * net->paths <= CONNECTIONS_MAX;
    const bool connections = view->chosen || few, tables = tables_fit(view);
    const struct ports every = { 0, net->ports }, none = { 0, 0 }, one = { view->src, 1 };
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    put_head(j, view);
    put_links(j, "spd_to_ppd", net, net->spd_count, leat_atm_clos_link);
    put_links(j, "input_ports", net, net->ports, leat_atm_clos_input_ppd);
    put_links(j, "output_ports", net, net->ports, leat_atm_clos_output_spd);
    put_entry_format(j, net);
    put_entries_used(j, net);
    if (view->chosen && view->dst < net->ports) {
        put_p2p(j, net, one, (struct ports){ view->dst, 1 });
        put_broadcast(j, net, none);
    } else if (view->chosen) {
        put_p2p(j, net, none, none);
        put_broadcast(j, net, one);
    } else if (few) {
        put_p2p(j, net, every, every);
        put_broadcast(j, net, every);
    }
    if (tables) put_tables(j, view);
    leat_json_break(j);
    leat_json_array(j, "left_out");
    if (!connections) leat_json_string(j, NULL, "p2p");
    if (!connections) leat_json_string(j, NULL, "broadcast");
    if (!tables) leat_json_string(j, NULL, "routing_tables");
    leat_json_end(j);
    json_close(&out, json_status());
}
