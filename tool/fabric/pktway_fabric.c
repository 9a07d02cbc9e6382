/* leat fabric show of PacketWay networks. */
#include "fabric.h"
#include "fabric_packetway.h"
#include "json_out.h"
#include <stdio.h>

static uint32_t hosts_of(const struct leat_fabric_packetway *n, uint32_t san)
{
    uint32_t hosts = n->san[san].net->ports;
    for (uint32_t i = 0; i < n->design.routers; i++)
        for (uint32_t k = 0; k < n->design.router[i].ends; k++)
            hosts -= n->design.router[i].end[k].san == san;
    return hosts;
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static uint32_t address_of(const struct leat_fabric_packetway *n,
                           const struct leat_sim_packetway_end *end)
{
    return n->design.san[end->san].bias + 1 + end->port;
}

static void show_hosts(const struct leat_fabric_packetway *n)
{
    for (uint32_t i = 0; i < n->design.hosts; i++) {
        const struct leat_sim_packetway_home *h = &n->home[i];
        printf("host %-8s", h->name);
        for (uint32_t k = 0; k < h->ends; k++)
            printf("%s%s.%u (0x%x)", k ? ", " : " ", n->design.san[h->end[k].san].name,
                   h->end[k].port, address_of(n, &h->end[k]));
        for (uint32_t k = 0; k < h->capabilities; k++)
            printf(", capability %u", h->capability[k]);
        for (uint32_t k = 0; k < h->logicals; k++)
            printf(", logical 0x%x", h->logical[k]);
        putchar('\n');
    }
}

static void show_text(const struct leat_fabric_packetway *n)
{
    printf("%s: a PacketWay network of %u SAN%s and %u router%s, %u host%s\n", n->design.name,
           n->design.sans, plural(n->design.sans), n->design.routers, plural(n->design.routers),
           n->base.ports, plural(n->base.ports));
    printf("forwarding  %s; a host makes a packet in %u ns, a half-router decides in %u ns by a "
           "planned route, %u ns by address, %u ns to its twin\n",
           n->design.by_address ? "by address" : "planned", n->design.host_ns, n->design.planned_ns,
           n->design.address_ns, n->design.link_ns);
    printf("cut-through %s\n",
           n->design.cut_through ? "where SANs allow it" : "none, packets are stored");
    printf("buffers     %u packets of each half-router in each direction\n", n->design.buffer);
    for (uint32_t i = 0, port = 0; i < n->design.sans; port += hosts_of(n, i++)) {
        const struct leat_fabric_san *s = &n->design.san[i];
        printf("san %-8s %s\n", s->name, n->part[i]->name);
        printf("            addresses 0x%x to 0x%x, MTU %u words, quality %u, routes as of %s\n",
               s->bias + 1, s->bias + n->san[i].net->ports, n->san[i].mtu_words, s->q,
               leat_sim_packetway_kind_name(n->san[i].native.kind));
        if (hosts_of(n, i))
            printf("            %u hosts: ports %u to %u of the network\n", hosts_of(n, i), port,
                   port + hosts_of(n, i) - 1);
    }
    for (uint32_t i = 0; i < n->design.routers; i++) {
        printf("router %-8s", n->design.router[i].name);
        for (uint32_t k = 0; k < n->design.router[i].ends; k++) {
            const struct leat_sim_packetway_end *end = &n->design.router[i].end[k];
            printf("%s%s.%u (0x%x)", k ? ", " : " ", n->design.san[end->san].name, end->port,
                   address_of(n, end));
        }
        putchar('\n');
    }
    show_hosts(n);
}

static void show_json_sans(struct leat_json *j, const struct leat_fabric_packetway *n)
{
    leat_json_array(j, "sans");
    for (uint32_t i = 0, port = 0; i < n->design.sans; port += hosts_of(n, i++)) {
        const struct leat_fabric_san *s = &n->design.san[i];
        leat_json_object(j, NULL);
        leat_json_string(j, "name", s->name);
        leat_json_string(j, "fabric", n->part[i]->name);
        leat_json_string(j, "kind", leat_sim_packetway_kind_name(n->san[i].native.kind));
        leat_json_hex(j, "bias", "0x", s->bias, 6);
        LEAT_JSON_UINTS(j, { "ports", n->san[i].net->ports }, { "hosts", hosts_of(n, i) },
                        { "first_port", port }, { "mtu_words", n->san[i].mtu_words },
                        { "quality", s->q });
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void show_json_ends(struct leat_json *j, const struct leat_fabric_packetway *n,
                           const struct leat_sim_packetway_end *end, uint32_t ends)
{
    leat_json_array(j, "at");
    for (uint32_t k = 0; k < ends; k++) {
        leat_json_object(j, NULL);
        leat_json_string(j, "san", n->design.san[end[k].san].name);
        leat_json_uint(j, "port", end[k].port);
        leat_json_hex(j, "address", "0x", address_of(n, &end[k]), 6);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void show_json_routers(struct leat_json *j, const struct leat_fabric_packetway *n)
{
    leat_json_array(j, "router_list");
    for (uint32_t i = 0; i < n->design.routers; i++) {
        leat_json_object(j, NULL);
        leat_json_string(j, "name", n->design.router[i].name);
        show_json_ends(j, n, n->design.router[i].end, n->design.router[i].ends);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void show_json_hosts(struct leat_json *j, const struct leat_fabric_packetway *n)
{
    leat_json_array(j, "host_list");
    for (uint32_t i = 0; i < n->design.hosts; i++) {
        const struct leat_sim_packetway_home *h = &n->home[i];
        leat_json_object(j, NULL);
        leat_json_string(j, "name", h->name);
        show_json_ends(j, n, h->end, h->ends);
        leat_json_array(j, "capabilities");
        for (uint32_t k = 0; k < h->capabilities; k++) {
            leat_json_object(j, NULL);
            leat_json_uint(j, "capability", h->capability[k]);
            leat_json_end(j);
        }
        leat_json_end(j);
        leat_json_array(j, "logical_addresses");
        for (uint32_t k = 0; k < h->logicals; k++)
            leat_json_hex(j, NULL, "0x", h->logical[k], 6);
        leat_json_end(j);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void show_json(const struct leat_fabric_packetway *n)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "fabric", n->design.name);
    leat_json_uint(j, "ports", n->base.ports);
    leat_json_string(j, "forwarding", n->design.by_address ? "address" : "planned");
    leat_json_bool(j, "cut_through", n->design.cut_through);
    LEAT_JSON_UINTS(j, { "buffer_packets", n->design.buffer }, { "host_ns", n->design.host_ns },
                    { "planned_ns", n->design.planned_ns }, { "address_ns", n->design.address_ns },
                    { "link_ns", n->design.link_ns });
    show_json_sans(j, n);
    show_json_routers(j, n);
    show_json_hosts(j, n);
    json_close(&out, json_status());
}

int fabric_show_packetway(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_error error;
    if (!fabric_refuse_foreign(args, fabric, "show: ", "--json")) return WRONG;
    if (!leat_fabric_open(fabric, &(struct leat_fabric_config){ .messages_max = 1 }, &error)) {
        fabric_refused(args->verb, fabric->word, &error);
        return WRONG;
    }
    (argument(args, "--json") ? show_json : show_text)(leat_fabric_as_packetway(fabric));
    return DONE;
}
