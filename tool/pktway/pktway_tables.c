/* leat pktway tables: the tables of the half-routers of a simulated network. */
#include "pktway_shared.h"
#include "pktway_simulate.h"
#include <stdio.h>
#include <string.h>

/* Name, capabilities and routes of a node. */
static void put_about(struct leat_packetway_records about, struct leat_json *j, FILE *out)
{
    struct leat_packetway_record r;
    while (leat_packetway_records_next(&about, &r)) {
        size_t len;
        const uint8_t *octets;
        if (r.type == LEAT_PACKETWAY_RTYP_NAME) {
            octets = leat_packetway_record_name(&r, &len);
            leat_json_chars(j, "name", (const char *)octets, len);
            text_print(out, "  %.*s", (int)len, (const char *)octets);
        } else if (r.type == LEAT_PACKETWAY_RTYP_CAPA) {
            const unsigned code = leat_packetway_record_capability(&r, &octets, &len);
            leat_json_uint(j, "capability", code);
            if (len) leat_json_octets(j, "parameters", octets, len);
            text_print(out, "  capability %u%s", code, len ? " " : "");
            pktway_put_hex(octets, len, out);
        }
    }
}

void pktway_put_nodes(struct leat_packetway_records nodes, struct leat_json *j, FILE *out)
{
    struct leat_packetway_record r;
    char text[PKTWAY_ADDRESS_CAP];
    while (leat_packetway_records_next(&nodes, &r)) {
        if (r.type != LEAT_PACKETWAY_RTYP_ADDR) continue;
        const struct leat_packetway_address address = leat_packetway_record_address(&r);
        pktway_address_text(&address, text);
        leat_json_object(j, NULL);
        leat_json_string(j, "address", text);
        text_print(out, "    %s", text);
        put_about(leat_packetway_record_nested(&r), j, out);
        text_print(out, "\n");
        leat_json_end(j);
    }
}

static void put_node(const struct leat_packetway_san_node_view *v, struct leat_json *j, FILE *out)
{
    char text[PKTWAY_ADDRESS_CAP];
    pktway_address_text(&v->node.address, text);
    leat_json_object(j, NULL);
    leat_json_string(j, "address", text);
    leat_json_octets(j, "route", v->node.route, v->node.route_len);
    leat_json_uint(j, "q", v->node.q);
    leat_json_bool(j, "buddy", v->node.buddy);
    text_print(out, "    %s  route ", text);
    pktway_put_hex(v->node.route, v->node.route_len, out);
    text_print(out, "  q %u%s", v->node.q, v->node.buddy ? "  buddy" : "");
    put_about(v->about, j, out);
    text_print(out, "\n");
    leat_json_end(j);
}

static void put_table(const struct leat_packetway_table_view *t, struct leat_json *j, FILE *out)
{
    leat_json_object(j, NULL);
    text_print(out, "  SAN 0x%06x, SN %u, Q %u, MTU %u words%s, from", t->san, t->sequence, t->q,
               t->mtu_words, t->lost ? ", WITHDRAWN" : "");
    pktway_put_table(t, j, out);
    leat_json_octets(j, "csr", t->csr, t->csr_len);
    text_print(out, ", CSR ");
    pktway_put_hex(t->csr, t->csr_len, out);
    text_print(out, t->csr_len ? "\n" : "none\n");
    leat_json_array(j, "nodes");
    pktway_put_nodes(t->nodes, j, out);
    leat_json_end(j);
    leat_json_end(j);
}

static void put_half_router(const struct pktway_query *a, uint32_t router, uint32_t end,
                            struct leat_json *j, FILE *out)
{
    const struct leat_fabric_router *r = &a->network->design.router[router];
    const struct leat_fabric_san *san = &a->network->design.san[r->end[end].san];
    struct leat_packetway_san_node_view v;
    struct leat_packetway_table_view t;
    uint32_t address;
    const struct leat_packetway_router *engine = leat_sim_packetway_engine(&a->network->net, router,
                                                                           end, &address);
    const bool up = leat_sim_packetway_is_up(&a->network->net, router);
    leat_json_object(j, NULL);
    leat_json_string(j, "router_name", r->name);
    leat_json_string(j, "san", san->name);
    leat_json_hex(j, "address", "0x", address, 6);
    leat_json_bool(j, "up", up);
    leat_json_array(j, "nodes");
    text_print(out, "%s: half-router 0x%06x on %s%s\n  nodes of its SAN\n", r->name, address,
               san->name, up ? "" : ", which is down and knew");
    for (uint32_t i = 0; i < a->network->san[r->end[end].san].net->ports; i++)
        if (leat_packetway_router_node_at(engine, i, &v)) put_node(&v, j, out);
    leat_json_end(j);
    leat_json_array(j, "tables");
    for (uint32_t i = 0; i < LEAT_PACKETWAY_TABLES_PER_SAN * a->network->design.sans; i++)
        if (leat_packetway_router_table(engine, i, &t)) put_table(&t, j, out);
    leat_json_end(j);
    leat_json_end(j);
}

int pktway_put_tables(struct pktway_query *a)
{
    const char *name = a->args->operand_count > 1 ? a->args->operand[1] : NULL;
    struct json_out out;
    bool found = !name;
    for (uint32_t i = 0; i < a->network->design.routers; i++)
        found |= name && strcmp(name, a->network->design.router[i].name) == 0;
    if (!found)
        return misuse(a->args->verb, "tables: '%s', expected the name of a router of %s", name,
                      a->network->design.name);
    struct leat_json *j = json_open(&out, a->text ? NULL : stdout);
    leat_json_array(j, "half_routers");
    for (uint32_t i = 0; i < a->network->design.routers; i++) {
        if (name && strcmp(name, a->network->design.router[i].name) != 0) continue;
        for (uint32_t k = 0; k < a->network->design.router[i].ends; k++)
            put_half_router(a, i, k, j, a->text);
    }
    leat_json_end(j);
    json_close(&out, json_status());
    return DONE;
}
