/* leat graph run --fabric NAME */
#include "fabric.h"
#include "fabric_flits.h"
#include "graph_job.h"
#include "leat_tree.h"
#include "poets_host.h"
#include "threads.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_EXPAT

enum {
    PORTS_MAX = 65536,
    THREADS_MAX = 1024,    /* of a mailbox */
    SLOTS_MAX = 65536,     /* of a mailbox */
    COST_MAX = 1000000000, /* cycles */
};

/* ---- options -------------------------------------------------------------------------------- */

/* A number by its key, with limits. */
struct key {
    const char *name;
    uint64_t least, most, value;
};

/* KEY=NUMBER, separated by commas or newlines. False after a complaint. */
static bool read_keys(const struct arguments *args, const char *option, struct key *key,
                      size_t count)
{
    const char *at = argument(args, option);
    while (at && *at) {
        const size_t len = strcspn(at, "\n,"), name = strcspn(at, "=\n,");
        size_t i = 0;
        while (i < count && (strlen(key[i].name) != name || memcmp(key[i].name, at, name) != 0))
            i++;
        uint64_t value = 0;
        const bool is_number = name < len &&
                               leat_tree_number(at + name + 1, len - name - 1, &value);
        if (i == count || !is_number) {
            char known[256] = "";
            for (size_t k = 0; k < count; k++)
                snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s=N",
                         k ? ", " : "", key[k].name);
            return misused(args->verb, "%s '%.*s', expected %s", option, (int)len, at, known);
        }
        if (value < key[i].least || value > key[i].most)
            return misused(args->verb, "%s %s=%llu, expected %llu to %llu", option, key[i].name,
                           (unsigned long long)value, (unsigned long long)key[i].least,
                           (unsigned long long)key[i].most);
        key[i].value = value;
        at += len + (at[len] != '\0');
    }
    return true;
}

/* Tinsel's mailboxes: 64 threads, and 512 slots of which each thread has one to send from. */
static bool read_mailbox(const struct arguments *args, struct leat_poets_fabric_options *f)
{
    struct key key[] = { { "threads", 1, THREADS_MAX, 64 },
                         { "slots", 1, SLOTS_MAX, 448 },
                         { "host", 0, PORTS_MAX - 1, 0 } };
    if (!read_keys(args, "--mailbox", key, sizeof key / sizeof *key)) return false;
    f->threads_per_box = (uint32_t)key[0].value;
    f->slots = (uint32_t)key[1].value;
    f->host_port = (uint32_t)key[2].value;
    return true;
}

/* A thread of a core with 16 running threads executes an instruction every 16 cycles: 20 of them
 * for a handler, 4 to send a packet, 2 to poll; 1 us for the host, and to detect that all is idle.
 */
static bool read_costs(const struct arguments *args, struct leat_poets_fabric_options *f)
{
    struct leat_poets_fabric_costs *c = &f->costs;
    struct key key[] = { { "turn", 1, COST_MAX, 32 },  { "receive", 0, COST_MAX, 320 },
                         { "send", 0, COST_MAX, 320 }, { "edge", 0, COST_MAX, 64 },
                         { "copy", 0, COST_MAX, 1 },   { "idle", 0, COST_MAX, 320 },
                         { "host", 1, COST_MAX, 240 }, { "detect", 1, COST_MAX, 240 },
                         { "mhz", 1, 1000000, 240 } };
    if (!read_keys(args, "--cost", key, sizeof key / sizeof *key)) return false;
    *c = (struct leat_poets_fabric_costs){ key[0].value, key[1].value, key[2].value, key[3].value,
                                           key[4].value, key[5].value, key[6].value, key[7].value };
    f->clock_num = 1000000;
    f->clock_den = key[8].value;
    return true;
}

/* ---- where mailboxes are -------------------------------------------------------------------- */

/* Bits for numbers below `count`, at least `least`. */
static uint8_t bits_for(uint64_t count, uint8_t least)
{
    uint8_t bits = least;
    while (count > UINT64_C(1) << bits)
        bits++;
    return bits;
}

/* Addresses of lattices with boards, no narrower than Tinsel's. False: there are no boards, or it
 * is too large for them. */
static bool format_boards(struct leat_fabric *fabric, struct leat_poets_hw_format *format)
{
    const struct leat_fabric_flits *n = leat_fabric_as_flits(fabric);
    if (!n) return false;
    const struct leat_net_shape *s = &n->design.plan.shape;
    uint32_t any;
    uint8_t *width = format->width;
    if (!s->board || s->numbers != 2 || s->terminals != 1) return false;
    width[LEAT_POETS_HW_BOARD_X] = bits_for((s->number[0] - 1) / s->board + 1,
                                            width[LEAT_POETS_HW_BOARD_X]);
    width[LEAT_POETS_HW_BOARD_Y] = bits_for((s->number[1] - 1) / s->board + 1,
                                            width[LEAT_POETS_HW_BOARD_Y]);
    width[LEAT_POETS_HW_MAILBOX_X] = bits_for(s->board, width[LEAT_POETS_HW_MAILBOX_X]);
    width[LEAT_POETS_HW_MAILBOX_Y] = bits_for(s->board, width[LEAT_POETS_HW_MAILBOX_Y]);
    return !leat_poets_hw_host(format, &any);
}

static void place_boards(struct leat_poets_mailbox_place *place, const struct leat_net_shape *s,
                         const struct leat_poets_hw_format *format)
{
    const uint32_t board = s->board, width = s->number[0], height = s->number[1];
    for (uint32_t big_y = 0; big_y < height; big_y += board)
        for (uint32_t big_x = 0; big_x < width; big_x += board)
            for (uint32_t y = big_y; y < height && y < big_y + board; y++)
                for (uint32_t x = big_x; x < width && x < big_x + board; x++, place++) {
                    const struct leat_poets_hw hw = { { big_y / board, big_x / board, y - big_y,
                                                        x - big_x } };
                    place->port = y * width + x;
                    leat_poets_hw_pack(format, &hw, &place->address);
                }
}

/* Port by port, each with its number in the address. */
static void place_ports(struct leat_poets_mailbox_place *place, uint32_t ports,
                        struct leat_poets_hw_format *format)
{
    memset(format->width, 0, LEAT_POETS_HW_CORE);
    format->width[LEAT_POETS_HW_MAILBOX_X] = bits_for(ports, 0);
    for (uint32_t p = 0; p < ports; p++) {
        const struct leat_poets_hw hw = { { [LEAT_POETS_HW_MAILBOX_X] = p } };
        place[p].port = p;
        leat_poets_hw_pack(format, &hw, &place[p].address);
    }
}

static bool place_mailboxes(struct graph_fabric *g, struct leat_poets_fabric_options *f)
{
    struct leat_fabric *n = g->network;
    const uint32_t ports = n->ports;
    struct leat_poets_hw_format format = leat_poets_hw_tinsel;
    if (ports > PORTS_MAX)
        return complain("%s: %u ports, expected at most %d for mailboxes", n->name, ports,
                        PORTS_MAX);
    if (f->host_port >= ports)
        return complain("--mailbox host=%u, expected a port of %s, 0 to %u", f->host_port, n->name,
                        ports - 1);
    g->place = calloc(ports, sizeof *g->place);
    if (!g->place) return complain("no memory for %u mailboxes", ports);
    while (f->threads_per_box >
           UINT32_C(1) << (format.width[LEAT_POETS_HW_CORE] + format.width[LEAT_POETS_HW_THREAD]))
        format.width[LEAT_POETS_HW_CORE]++;
    if (format_boards(n, &format))
        place_boards(g->place, n->kind->shape(n), &format);
    else
        place_ports(g->place, ports, &format);
    leat_poets_hw_host(&format, &f->host_address);
    f->place = g->place;
    f->boxes = ports;
    return true;
}

bool graph_fabric_open(const struct arguments *args, const char *name,
                       struct leat_poets_run_options *run, struct graph_fabric *out)
{
    struct leat_fabric_config config = { .flit_octets = LEAT_POETS_FLIT_LEN,
                                         .packet_flits = LEAT_POETS_NFLIT_MAX,
                                         .bare = true,
                                         .seed = run->seed };
    struct leat_poets_fabric_options *f = &run->fabric;
    struct leat_fabric_error error;
    memset(out, 0, sizeof *out);
    if (!read_mailbox(args, f) || !read_costs(args, f) || !threads_take(args, &config.threads))
        return false;
    out->network = fabric_read(args->verb, name);
    if (!out->network || !fabric_has_options(args, out->network)) return false;
    if (!leat_fabric_open(out->network, &config, &error))
        return fabric_refused(args->verb, name, &error);
    threads_tell(out->network, config.threads);
    if (!place_mailboxes(out, f)) return false;
    f->net = out->network->net;
    f->bare = leat_fabric_as_flits(out->network);
    return true;
}

void graph_fabric_close(struct graph_fabric *fabric)
{
    leat_fabric_close(fabric->network);
    fabric->network = NULL;
    free(fabric->place);
    fabric->place = NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

static double cycles_of(const struct leat_poets_run_options *run, double ps)
{
    return ps * (double)run->fabric.clock_den / (double)run->fabric.clock_num;
}

static double mean_latency(const struct leat_poets_run_options *run,
                           const struct leat_poets_mail_counts *c)
{
    return c->packets ? cycles_of(run, (double)c->latency_sum) / (double)c->packets : 0;
}

static double microseconds(const struct leat_poets_run_options *run, uint64_t cycles)
{
    return (double)cycles * (double)run->fabric.clock_num / (double)run->fabric.clock_den * 1e-6;
}

/* The wire between routers that carried the most flits. False: there is none. */
static bool find_busiest(const struct leat_net *net, uint32_t *out)
{
    const struct leat_net_topology *t = net->topology;
    uint64_t most = 0;
    for (uint32_t o = 0; o < t->outs; o++)
        if (leat_net_behind(t, o) != LEAT_NET_NONE && leat_net_out_flits(net, o) > most) {
            most = leat_net_out_flits(net, o);
            *out = o;
        }
    return most;
}

static double hops(const struct leat_net *net)
{
    const struct leat_net_counts *c = &net->counts;
    return c->flits_delivered ? (double)c->flit_hops / (double)c->flits_delivered : 0;
}

/* The share of cycles in which a wire carried a flit. */
static double use(const struct leat_net *net, uint32_t out)
{
    return net->now ? (double)leat_net_out_flits(net, out) / (double)net->now : 0;
}

static void put_packets(const char *key, const char *what, const struct leat_poets_run_options *run,
                        const struct leat_poets_mail_counts *c, struct leat_json *j, FILE *out)
{
    const double mean = mean_latency(run, c), max = cycles_of(run, (double)c->latency_max);
    leat_json_object(j, key);
    LEAT_JSON_UINTS(j, { "packets", c->packets }, { "flits", c->flits }, { "waits", c->waits });
    leat_json_object(j, "latency_cycles");
    json_fixed(j, "mean", mean, 3);
    json_fixed(j, "max", max, 3);
    leat_json_end(j);
    leat_json_end(j);
    text_print(
        out,
        "  %-8s %llu packets of %llu flits, %.1f cycles each, at most %.0f; %llu waited for a "
        "slot\n",
        what, (unsigned long long)c->packets, (unsigned long long)c->flits, mean, max,
        (unsigned long long)c->waits);
}

static void put_wires(const struct leat_net *net, struct leat_json *j, FILE *out)
{
    uint32_t wire;
    json_fixed(j, "hops_mean", hops(net), 4);
    if (!find_busiest(net, &wire)) return;
    const uint32_t from = net->topology->out_router[wire],
                   to = leat_net_behind(net->topology, wire);
    leat_json_object(j, "busiest_wire");
    LEAT_JSON_UINTS(j, { "from", from }, { "to", to }, { "flits", leat_net_out_flits(net, wire) });
    json_fixed(j, "utilisation", use(net, wire), 6);
    leat_json_end(j);
    text_print(out,
               "           wire from router %u to %u, %llu flits, %.2f %% of its time; "
               "%.3f routers on the way\n",
               from, to, (unsigned long long)leat_net_out_flits(net, wire), 100 * use(net, wire),
               hops(net));
}

void graph_fabric_show(const struct graph_fabric *fabric, const struct leat_poets_run_options *run,
                       const struct leat_poets_fabric_result *r, const char *who,
                       struct leat_json *j, FILE *out)
{
    const struct leat_poets_fabric_options *f = &run->fabric;
    const struct leat_fabric_flits *n = leat_fabric_as_flits(fabric->network);
    text_print(out, "%s: %llu cycles (%.3f us), of which %s ran %llu\n", fabric->network->name,
               (unsigned long long)r->cycles, microseconds(run, r->cycles), who,
               (unsigned long long)r->ran_cycles);
    leat_json_object(j, "network");
    leat_json_string(j, "name", fabric->network->name);
    LEAT_JSON_UINTS(j, { "mailboxes", f->boxes }, { "threads_per_mailbox", f->threads_per_box },
                    { "slots", f->slots }, { "host_port", f->host_port }, { "cycles", r->cycles },
                    { "ran_cycles", r->ran_cycles });
    json_fixed(j, "simulated_us", microseconds(run, r->cycles), 6);
    put_packets("thread_packets", "threads", run, &r->threads, j, out);
    put_packets("host_packets", "host", run, &r->host, j, out);
    leat_json_uint(j, "packets_copied", r->copied);
    leat_json_object(j, "busiest_port");
    leat_json_uint(j, "port", r->busiest_port);
    leat_json_uint(j, "packets", r->busiest_packets);
    leat_json_end(j);
    text_print(out, "  copied   %llu packets within mailboxes\n", (unsigned long long)r->copied);
    text_print(out, "  busiest  port %u, %llu packets to and from it\n", r->busiest_port,
               (unsigned long long)r->busiest_packets);
    if (n) leat_sim_replay_settle(n->base.replay);
    if (n) put_wires(&n->replay.port.net, j, out);
    json_certificate(j, "certificate", r->certificate);
    text_print(out, "  certificate %016llx\n", (unsigned long long)r->certificate);
    leat_json_end(j);
}

#endif
