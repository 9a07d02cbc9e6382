/* leat pktway tables: what the half-routers of a simulated network know. */
#include "pktway_ask.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_hex(const uint8_t *octets, size_t len)
{
    for (size_t i = 0; i < len; i++)
        printf("%02x", octets[i]);
}

static void put_address(const struct leat_packetway_address *a, bool json)
{
    const char *quote = json ? "\"" : "";
    printf("%s0x%06x", quote, a->low);
    if (a->at != LEAT_PACKETWAY_AT_SINGLE)
        printf("%s0x%06x", a->at == LEAT_PACKETWAY_AT_MIN ? "-" : "/", a->high);
    printf("%s", quote);
}

static void put_octets_quoted(const uint8_t *octets, size_t len)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)octets);
    print_quoted(text);
}

/* Name, capabilities and routes of a node. */
static void put_about(struct leat_packetway_records about, bool json)
{
    struct leat_packetway_record r;
    while (leat_packetway_records_next(&about, &r)) {
        size_t len;
        const uint8_t *octets;
        if (r.type == LEAT_PACKETWAY_RTYP_NAME) {
            octets = leat_packetway_record_name(&r, &len);
            fputs(json ? ",\"name\":" : "  ", stdout);
            if (json)
                put_octets_quoted(octets, len);
            else
                printf("%.*s", (int)len, (const char *)octets);
        } else if (r.type == LEAT_PACKETWAY_RTYP_CAPA) {
            const uint8_t cc = leat_packetway_record_capability(&r, &octets, &len);
            printf(json ? ",\"capability\":%u" : "  capability %u", cc);
            if (len) fputs(json ? ",\"parameters\":\"" : " ", stdout);
            put_hex(octets, len);
            if (len && json) putchar('"');
        }
    }
}

void pktway_put_nodes(struct leat_packetway_records nodes, bool json)
{
    struct leat_packetway_record r;
    const char *before = "";
    if (json) putchar('[');
    while (leat_packetway_records_next(&nodes, &r)) {
        if (r.type != LEAT_PACKETWAY_RTYP_ADDR) continue;
        const struct leat_packetway_address address = leat_packetway_record_address(&r);
        printf(json ? "%s{\"address\":" : "%s    ", before);
        put_address(&address, json);
        put_about(leat_packetway_record_nested(&r), json);
        fputs(json ? "}" : "\n", stdout);
        before = json ? "," : "";
    }
    if (json) putchar(']');
}

static void put_local(const struct leat_packetway_router *engine, uint32_t nodes_max, bool json)
{
    const char *before = "";
    struct leat_packetway_node_view v;
    for (uint32_t i = 0; i < nodes_max; i++) {
        if (!leat_packetway_router_node_at(engine, i, &v)) continue;
        printf(json ? "%s{\"address\":" : "%s    ", before);
        put_address(&v.node.address, json);
        fputs(json ? ",\"route\":\"" : "  route ", stdout);
        put_hex(v.node.route, v.node.route_len);
        printf(json ? "\",\"q\":%u,\"buddy\":%s" : "  q %u%s", v.node.q,
               json ? (v.node.buddy ? "true" : "false") : (v.node.buddy ? "  buddy" : ""));
        put_about(v.about, json);
        fputs(json ? "}" : "\n", stdout);
        before = json ? "," : "";
    }
}

static void put_table(const struct leat_packetway_table_view *t, bool json, const char *before)
{
    if (json)
        printf("%s{\"san\":\"0x%06x\",\"sn\":%u,\"q\":%u,\"mtu\":%u,\"lost\":%s,\"rcvf\":[", before,
               t->san, t->sequence, t->q, t->mtu_words, t->lost ? "true" : "false");
    else
        printf("  SAN 0x%06x, SN %u, Q %u, MTU %u words%s, from", t->san, t->sequence, t->q,
               t->mtu_words, t->lost ? ", WITHDRAWN" : "");
    for (uint32_t i = 0; i < t->received_from_count; i++)
        printf(json ? "%s\"0x%06x\"" : "%s0x%06x", json ? (i ? "," : "") : " ",
               t->received_from[i]);
    fputs(json ? "],\"csr\":\"" : ", CSR ", stdout);
    put_hex(t->csr, t->csr_len);
    fputs(json ? "\",\"nodes\":" : t->csr_len ? "\n" : "none\n", stdout);
    pktway_put_nodes(t->nodes, json);
    if (json) putchar('}');
}

static void put_half_router(const struct pktway_asking *a, uint32_t router, uint32_t end,
                            const char *before)
{
    const struct leat_fabric_router *r = &a->network->design.router[router];
    const struct leat_fabric_san *san = &a->network->design.san[r->end[end].san];
    struct leat_packetway_table_view t;
    uint32_t address;
    const struct leat_packetway_router *engine = leat_sim_packetway_engine(&a->network->net, router,
                                                                           end, &address);
    const bool up = leat_sim_packetway_is_up(&a->network->net, router);
    if (a->json)
        printf("%s{\"router\":\"%s\",\"san\":\"%s\",\"address\":\"0x%06x\",\"up\":%s,"
               "\"nodes\":[",
               before, r->name, san->name, address, up ? "true" : "false");
    else
        printf("%s: half-router 0x%06x on %s%s\n  nodes of its SAN\n", r->name, address, san->name,
               up ? "" : ", which is down and knew");
    put_local(engine, a->network->san[r->end[end].san].net->ports, a->json);
    if (a->json) fputs("],\"tables\":[", stdout);
    const char *between = "";
    for (uint32_t i = 0; i < LEAT_PACKETWAY_TABLES_PER_SAN * a->network->design.sans; i++) {
        if (!leat_packetway_router_table(engine, i, &t)) continue;
        put_table(&t, a->json, between);
        between = ",";
    }
    if (a->json) fputs("]}", stdout);
}

int pktway_put_tables(const struct pktway_asking *a)
{
    const char *name = a->args->operand_count > 1 ? a->args->operand[1] : NULL, *before = "";
    bool found = !name;
    for (uint32_t i = 0; i < a->network->design.routers; i++)
        found |= name && strcmp(name, a->network->design.router[i].name) == 0;
    if (!found)
        return misuse(a->args->verb, "tables: '%s', expected the name of a router of %s", name,
                      a->network->design.name);
    if (a->json) putchar('[');
    for (uint32_t i = 0; i < a->network->design.routers; i++) {
        if (name && strcmp(name, a->network->design.router[i].name) != 0) continue;
        for (uint32_t k = 0; k < a->network->design.router[i].ends; k++) {
            put_half_router(a, i, k, before);
            before = ",";
        }
    }
    if (a->json) fputs("]\n", stdout);
    return DONE;
}
