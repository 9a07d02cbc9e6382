/*
 * leat fabric show --json: one object. Keys and orders are those of the reference data of the
 * prototype (proto/atm/vectors/clos444.vpi.json), so that a program can compare; labels are called
 * vpi there, and here also where they are VPI and VCI together.
 */
#include "fabric.h"
#include <stdio.h>

enum {
    CONNECTIONS_MAX = 1 << 17, /* point to point; else only a chosen pair is shown */
    ENTRIES_MAX = 1 << 18,     /* of all tables together */
};

/* A range of ports. */
struct ports {
    uint32_t first, count;
};

static void put_numbers(const char *key, uint32_t first, uint32_t step, uint32_t count)
{
    printf("\"%s\":[", key);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%u", i ? "," : "", first + step * i);
    putchar(']');
}

static void put_head(const struct fabric_view *view)
{
    const struct leat_sim_atm_fabric *f = &view->fabric;
    const struct leat_atm_clos *net = &f->net;
    printf("{\"fabric\":\"%s\",\n\"stages\":%u,\"e\":%u,\"m\":%u,\"r\":%u,\"ports\":%u,"
           "\"paths\":%u,\"switches\":%u,\"ppds\":%u,\"spds\":%u,\n",
           view->name, net->stages, net->e, net->m, net->r, net->ports, net->paths,
           net->switch_count, net->ppd_count, net->spd_count);
    printf("\"class\":\"%s\",\"switching\":\"%s\",\"table_depth\":",
           leat_atm_clos_class_name(leat_atm_clos_classify(net)),
           net->header_octets == LEAT_ATM_VP_HEADER ? "vp" : "vc");
    if (net->table_depth)
        printf("%u", net->table_depth);
    else
        printf("null");
    printf(",\"buffer_cells\":%u,\"period_ps\":{\"num\":%llu,\"den\":%llu},\"idle_cycles\":%u,\n",
           f->buffer_cells, (unsigned long long)f->period_ps_num,
           (unsigned long long)f->period_ps_den, leat_atm_clos_idle_cycles(net));
}

static void put_links(const struct leat_atm_clos *net)
{
    const char *between = "";
    fputs("\"spd_to_ppd\":{", stdout);
    for (uint32_t spd = 0; spd < net->spd_count; spd++) {
        const uint32_t ppd = leat_atm_clos_link(net, spd);
        if (ppd == LEAT_ATM_CLOS_NONE) continue;
        printf("%s\"%u\":%u", between, spd, ppd);
        between = ",";
    }
    fputs("},\n\"input_ports\":{", stdout);
    for (uint32_t p = 0; p < net->ports; p++)
        printf("%s\"%u\":%u", p ? "," : "", p, leat_atm_clos_input_ppd(net, p));
    fputs("},\n\"output_ports\":{", stdout);
    for (uint32_t p = 0; p < net->ports; p++)
        printf("%s\"%u\":%u", p ? "," : "", p, leat_atm_clos_output_spd(net, p));
    fputs("},\n", stdout);
}

/* ---- connections ---------------------------------------------------------------------------- */

static void put_connection(const struct leat_atm_clos *net, uint32_t src, uint32_t dst,
                           uint32_t path)
{
    struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
    leat_atm_clos_path(net, src, dst, path, false, hop);
    printf("[%u,%u,%u", src, dst, path);
    for (uint32_t s = 0; s < net->stages; s++)
        printf(",%u", hop[s].label);
    for (uint32_t s = 0; s < net->stages; s++)
        printf(",%u,%u", hop[s].ppd, hop[s].spd);
    putchar(']');
}

static void put_p2p(const struct leat_atm_clos *net, struct ports src, struct ports dst)
{
    const char *between = "\n";
    puts(net->stages == 1
             ? "\"p2p_columns\":[\"src\",\"dst\",\"k\",\"access_vpi\",\"in_ppd\",\"out_spd\"],"
             : "\"p2p_columns\":[\"src\",\"dst\",\"k\",\"access_vpi\",\"vpi_in_mid\","
               "\"vpi_mid_out\",\"in_ppd\",\"in_spd\",\"mid_ppd\",\"mid_spd\",\"out_ppd\","
               "\"out_spd\"],");
    fputs("\"p2p\":[", stdout);
    for (uint32_t s = 0; s < src.count && !interrupted; s++)
        for (uint32_t d = 0; d < dst.count; d++)
            for (uint32_t path = 0; path < net->paths; path++) {
                fputs(between, stdout);
                put_connection(net, src.first + s, dst.first + d, path);
                between = ",\n";
            }
    fputs("],\n", stdout);
}

static void put_broadcast_row(const struct leat_atm_clos *net, uint32_t src, uint32_t path)
{
    struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
    leat_atm_clos_path(net, src, 0, path, true, hop);
    printf("{\"src\":%u,\"k\":%u,\"access_vpi\":%u,\"in_ppd\":%u,", src, path, hop[0].label,
           hop[0].ppd);
    if (net->stages > 1) {
        printf("\"in_spd\":%u,\"vpi_in_mid\":%u,\"mid_ppd\":%u,", hop[0].spd, hop[1].label,
               hop[1].ppd);
        put_numbers("vpi_mid_out", hop[2].label, 0, net->r);
        putchar(',');
        put_numbers("mid_spd", hop[1].spd, 1, net->r);
        putchar(',');
        put_numbers("out_ppd", hop[2].ppd, net->m, net->r);
        putchar(',');
    }
    fputs("\"vpi_egress\":0}", stdout);
}

static void put_broadcast(const struct leat_atm_clos *net, struct ports src)
{
    const char *between = "\n";
    fputs("\"broadcast\":[", stdout);
    for (uint32_t s = 0; s < src.count && !interrupted; s++)
        for (uint32_t path = 0; path < net->paths; path++) {
            fputs(between, stdout);
            put_broadcast_row(net, src.first + s, path);
            between = ",\n";
        }
    fputs("],\n", stdout);
}

/* ---- tables --------------------------------------------------------------------------------- */

static void put_entry_format(const struct leat_atm_clos *net)
{
    if (net->header_octets == LEAT_ATM_VP_HEADER)
        puts("\"entry_format\":\"hex: for F outputs of the switch F VPIs of 12 bits and F flags, "
             "high output first, at the low end of ceil(13 F / 8) octets\",");
    else
        puts("\"entry_format\":\"select: outputs as bits, hex; label: VPI and VCI, 28 bits\",");
}

static void put_entries_used(const struct leat_atm_clos *net)
{
    fputs("\"entries_used_per_ppd\":[", stdout);
    for (uint32_t ppd = 0; ppd < net->ppd_count; ppd++)
        printf("%s%u", ppd ? "," : "", net->stage[leat_atm_clos_ppd_place(net, ppd).stage].entries);
    fputs("],\n", stdout);
}

static void put_entry(const struct leat_atm_clos *net, uint32_t ppd, uint32_t label)
{
    struct leat_atm_route route = { 0 };
    leat_atm_clos_route(net, ppd, label, &route);
    if (net->header_octets == LEAT_ATM_VC_HEADER) {
        printf("\"%u\":{\"select\":\"%llx\",\"label\":%u}", label, (unsigned long long)route.select,
               route.label);
        return;
    }
    const uint32_t outputs = net->stage[leat_atm_clos_ppd_place(net, ppd).stage].outputs;
    uint8_t entry[LEAT_ATM_ROUTE_ENTRY_LEN_MAX];
    leat_atm_route_pack(&route, outputs, entry);
    printf("\"%u\":\"", label);
    for (size_t i = 0; i < leat_atm_route_entry_len(outputs); i++)
        printf("%02x", entry[i]);
    putchar('"');
}

static void put_tables(const struct fabric_view *view)
{
    struct fabric_entries e;
    fputs("\"tables\":{", stdout);
    for (uint32_t index = 0; !interrupted && fabric_entries_at(view, index, &e); index++) {
        printf("%s\"%u\":{", index ? ",\n" : "\n", e.ppd);
        for (uint32_t i = 0; i < e.count; i++) {
            if (i) putchar(',');
            put_entry(&view->fabric.net, e.ppd, e.first + i);
        }
        putchar('}');
    }
    fputs("},\n", stdout);
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
    put_head(view);
    put_links(net);
    put_entry_format(net);
    put_entries_used(net);
    if (view->chosen && view->dst < net->ports) {
        put_p2p(net, one, (struct ports){ view->dst, 1 });
        put_broadcast(net, none);
    } else if (view->chosen) {
        put_p2p(net, none, none);
        put_broadcast(net, one);
    } else if (few) {
        put_p2p(net, every, every);
        put_broadcast(net, every);
    }
    if (tables) put_tables(view);
    printf("\"left_out\":[%s%s%s]}\n", connections ? "" : "\"p2p\",\"broadcast\"",
           connections || tables ? "" : ",", tables ? "" : "\"tables\"");
}
