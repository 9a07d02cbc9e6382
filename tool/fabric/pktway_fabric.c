/* leat fabric show and check of PacketWay networks. */
#include "pktway_design.h"
#include <stdio.h>

static struct pktway_design design;
static struct pktway_built built;

static bool open_it(const struct arguments *args)
{
    const struct run_job job = pktway_job(args);
    return pktway_read(args->verb, args->operand[1], &design) &&
           pktway_open(&design, &job, false, 1, NULL, &built);
}

static uint32_t hosts_of(uint32_t san)
{
    uint32_t hosts = built.san[san].net->ports;
    for (uint32_t i = 0; i < design.routers; i++)
        for (uint32_t k = 0; k < design.router[i].ends; k++)
            hosts -= design.router[i].end[k].san == san;
    return hosts;
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static uint32_t address_of(const struct leat_sim_packetway_end *end)
{
    return design.san[end->san].bias + 1 + end->port;
}

static void show_text(void)
{
    printf("%s: a PacketWay network of %u SAN%s and %u router%s, %u host%s\n", design.name,
           design.sans, plural(design.sans), design.routers, plural(design.routers),
           built.net.base.ports, plural(built.net.base.ports));
    printf("forwarding  %s; a host makes a packet in %u ns, a half-router decides in %u ns by a "
           "planned route, %u ns by address, %u ns to its twin\n",
           design.by_address ? "by address" : "planned", design.host_ns, design.planned_ns,
           design.address_ns, design.link_ns);
    printf("cut-through %s\n",
           design.cut_through ? "where SANs allow it" : "none, packets are stored");
    printf("buffers     %u packets of each half-router in each direction\n", design.buffer);
    for (uint32_t i = 0, port = 0; i < design.sans; port += hosts_of(i++)) {
        const struct pktway_san *s = &design.san[i];
        printf("san %-8s %s\n", s->name, built.network[i].name);
        printf("            addresses 0x%x to 0x%x, MTU %u words, quality %u, routes as of %s\n",
               s->bias + 1, s->bias + built.san[i].net->ports, built.san[i].mtu_words, s->q,
               leat_sim_packetway_kind_name(built.san[i].native.kind));
        if (hosts_of(i))
            printf("            %u hosts: ports %u to %u of the network\n", hosts_of(i), port,
                   port + hosts_of(i) - 1);
    }
    for (uint32_t i = 0; i < design.routers; i++) {
        printf("router %-8s", design.router[i].name);
        for (uint32_t k = 0; k < design.router[i].ends; k++) {
            const struct leat_sim_packetway_end *end = &design.router[i].end[k];
            printf("%s%s.%u (0x%x)", k ? ", " : " ", design.san[end->san].name, end->port,
                   address_of(end));
        }
        putchar('\n');
    }
}

static void show_json_sans(void)
{
    fputs("\"sans\":[", stdout);
    for (uint32_t i = 0, port = 0; i < design.sans; port += hosts_of(i++)) {
        const struct pktway_san *s = &design.san[i];
        printf("%s{\"name\":\"%s\",\"fabric\":", i ? "," : "", s->name);
        print_quoted(built.network[i].name);
        printf(",\"kind\":\"%s\",\"bias\":%u,\"ports\":%u,\"hosts\":%u,\"first_port\":%u,"
               "\"mtu_words\":%u,\"quality\":%u}",
               leat_sim_packetway_kind_name(built.san[i].native.kind), s->bias,
               built.san[i].net->ports, hosts_of(i), port, built.san[i].mtu_words, s->q);
    }
    putchar(']');
}

static void show_json(void)
{
    fputs("{\"fabric\":", stdout);
    print_quoted(design.name);
    printf(",\"ports\":%u,\"forwarding\":\"%s\",\"cut_through\":%s,\"buffer\":%u,\"host_ns\":%u,"
           "\"planned_ns\":%u,"
           "\"address_ns\":%u,\"link_ns\":%u,",
           built.net.base.ports, design.by_address ? "address" : "planned",
           design.cut_through ? "true" : "false", design.buffer, design.host_ns, design.planned_ns,
           design.address_ns, design.link_ns);
    show_json_sans();
    fputs(",\"routers\":[", stdout);
    for (uint32_t i = 0; i < design.routers; i++) {
        printf("%s{\"name\":\"%s\",\"at\":[", i ? "," : "", design.router[i].name);
        for (uint32_t k = 0; k < design.router[i].ends; k++) {
            const struct leat_sim_packetway_end *end = &design.router[i].end[k];
            printf("%s{\"san\":\"%s\",\"port\":%u,\"address\":%u}", k ? "," : "",
                   design.san[end->san].name, end->port, address_of(end));
        }
        fputs("]}", stdout);
    }
    fputs("]}\n", stdout);
}

int pktway_fabric_show(const struct arguments *args)
{
    static const char *const known[] = { "--json", NULL };
    int code = WRONG;
    if (!pktway_refuse_foreign(args, args->operand[1], known)) return WRONG;
    if (open_it(args)) {
        (argument(args, "--json") ? show_json : show_text)();
        code = DONE;
    }
    if (built.design) pktway_close(&built);
    return code == DONE ? finish(DONE) : code;
}

int pktway_fabric_check(const struct arguments *args)
{
    int code = WRONG;
    if (open_it(args)) {
        printf("%s: sound: %u port%s, %u SAN%s, %u router%s\n", args->operand[1],
               built.net.base.ports, plural(built.net.base.ports), design.sans, plural(design.sans),
               design.routers, plural(design.routers));
        code = DONE;
    }
    if (built.design) pktway_close(&built);
    return code == DONE ? finish(DONE) : code;
}
