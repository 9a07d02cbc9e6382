/*
 * leat fabric time: how long a message takes from host to host, measured in the simulated network:
 * one message in an otherwise idle network, from the cycle in which the sender asks for the unit to
 * the cycle in which the receiver has the last octet (spec/atm.md, 5.4).
 */
#include "fabric.h"
#include "fabric_atm.h"
#include "json_out.h"
#include "number.h"
#include "sim.h"
#include "sim_clock.h"
#include <leat/fabric.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Table 11.1 of the thesis. */
static const char sizes_default[] =
    "4,1000,5000,10000,15000,20000,25000,30000,35000,40000,45000,50000,55000,60000,65000";

enum {
    PIECE_CYCLES = 1 << 14,
    PATIENCE = 4, /* times the formula's delay, plus a margin: far beyond any delay */
    PATIENCE_CYCLES = 10000,
    ANY_BYTES_MAX = 1 << 24,
};

struct timing {
    struct leat_sim_atm_fabric fabric;
    enum leat_sim_atm_model model;
    uint32_t from, to;
    uint32_t len;
    bool sent;
    bool json;
};

static bool next_message(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct timing *t = context;
    if (port != t->from || t->sent) return false;
    t->sent = true;
    *out = (struct leat_sim_message){ .at = 0, .to = t->to, .len = t->len };
    return true;
}

/* The cycles that a message of t->len takes; 0: interrupted. False after a complaint. */
static bool measure(struct timing *t, uint64_t *cycles)
{
    static struct leat_sim_atm_load load;
    struct leat_sim_atm_load_config config = { .fabric = t->fabric,
                                               .model = t->model,
                                               .len_max = t->len,
                                               .next = next_message,
                                               .next_context = t };
    const uint32_t crossing = leat_sim_atm_fabric_idle_cycles(&t->fabric, t->from, t->to);
    const uint64_t limit = PATIENCE * leat_atm_aal_one_way_cycles_over(t->len, crossing) +
                           PATIENCE_CYCLES;
    leat_atm_aal_config_default(&config.aal, 0, t->fabric.net.ports, t->fabric.net.paths);
    void *memory = sim_memory(leat_sim_atm_load_footprint(&config));
    if (!memory) return false;
    t->sent = false;
    leat_sim_atm_load_init(&load, &config, memory);
    for (uint64_t at = PIECE_CYCLES;
         !interrupted && load.counts.messages_delivered == 0 && at < limit + PIECE_CYCLES;
         at += PIECE_CYCLES)
        leat_sim_atm_load_run(&load, at);
    *cycles = load.last_delivery_at;
    free(memory);
    if (*cycles || interrupted) return true;
    return complain("%u bytes did not arrive within %llu cycles", t->len,
                    (unsigned long long)limit);
}

void fabric_formula_name(uint32_t crossing, char out[FABRIC_FORMULA_CAP])
{
    const int more = (int)crossing - LEAT_ATM_AAL_THESIS_CYCLES;
    snprintf(out, FABRIC_FORMULA_CAP, more ? "T(N)%+d" : "T(N)", more);
}

/* A host that sends to itself cannot read while it writes. On a physical line, cells of a message
 * wait for their slots. */
static bool has_formula(const struct timing *t)
{
    return t->from != t->to && !(t->fabric.graph && t->fabric.graph->line);
}

static uint32_t crossing_of(const struct timing *t)
{
    return leat_sim_atm_fabric_idle_cycles(&t->fabric, t->from, t->to);
}

static uint64_t formula(const struct timing *t)
{
    return leat_atm_aal_one_way_cycles_over(t->len, crossing_of(t));
}

/* `cycles` 0: not of an ATM fabric. */
static void put_json(const struct timing *t, uint64_t cycles, leat_time ps)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_uint(j, "bytes", t->len);
    if (cycles) LEAT_JSON_UINTS(j, { "cells", sim_cells_of(t->len) }, { "cycles", cycles });
    leat_json_micro(j, "time_us", ps);
    json_close(&out, json_status());
}

static void put_row(const struct timing *t, uint64_t cycles)
{
    const struct leat_sim_clock clock = { t->fabric.period_ps_num, t->fabric.period_ps_den };
    const leat_time ps = leat_sim_clock_at(&clock, cycles); /* 10^6 of at most 1 ms: it fits */
    if (t->json) {
        put_json(t, cycles, ps);
        return;
    }
    printf("%8u %7u %10llu ", t->len, sim_cells_of(t->len), (unsigned long long)cycles);
    if (has_formula(t)) printf("%10llu ", (unsigned long long)formula(t));
    printf("%14.3f %10.3f\n", (double)ps / 1e6, 8e6 * t->len / (double)ps);
}

static void put_title(const struct timing *t)
{
    char name[FABRIC_FORMULA_CAP];
    fabric_formula_name(crossing_of(t), name);
    printf("one message from port %u to port %u, %s model\n%8s %7s %10s ", t->from, t->to,
           sim_model_name(t->model), "bytes", "cells", "cycles");
    if (has_formula(t)) printf("%10s ", name);
    printf("%14s %10s\n", "time_us", "Mb/s");
}

static const char *sizes_of(const struct arguments *args)
{
    const char *sizes = argument(args, "--bytes");
    return sizes ? sizes : sizes_default;
}

/* One size of the list; advances *list past it, to NULL after the last. */
static bool read_size(const struct verb *verb, const char **list, uint32_t most, uint32_t *out)
{
    const size_t len = strcspn(*list, ",");
    uint64_t number;
    char piece[32];
    snprintf(piece, sizeof piece, "%.*s", (int)len, *list);
    if (!number_read(piece, true, &number) || number > most)
        return misused(verb, "--bytes '%.*s', expected sizes of 0 to %u bytes, as 4,1k", (int)len,
                       *list, most);
    *out = (uint32_t)number;
    *list = (*list)[len] ? *list + len + 1 : NULL;
    return true;
}

static bool read_ports(const struct arguments *args, const char *sizes, uint32_t ports,
                       uint32_t most, struct timing *t)
{
    t->to = ports - 1;
    t->json = argument(args, "--json");
    if (!number_take_small_within(args, "--from", 0, ports - 1, &t->from) ||
        !number_take_small_within(args, "--to", 0, ports - 1, &t->to))
        return false;
    while (sizes)
        if (!read_size(args->verb, &sizes, most, &t->len)) return false;
    return true;
}

/* ---- any network of ports -------------------------------------------------------------------- */

static void put_any(const struct timing *t, leat_time ps)
{
    if (t->json)
        put_json(t, 0, ps);
    else
        printf("%8u %14.6f %10.3f\n", t->len, (double)ps / 1e6, 8e6 * t->len / (double)ps);
}

static struct leat_fabric_net *open_net(const char *word)
{
    char why[LEAT_FABRIC_WHY_LEN];
    struct leat_fabric_net *net = leat_fabric_net_open(word, why);
    if (!net) complain("%s", why);
    return net;
}

/* In a fresh network. */
static int time_one(struct leat_fabric_net *net, const struct timing *t)
{
    struct leat_fabric_delivery d = { .lost = "it cannot be sent" };
    void *octets = sim_memory(t->len + 1);
    if (octets && leat_fabric_net_send(net, t->from, t->to, octets, t->len, 0))
        leat_fabric_net_run(net, &d);
    free(octets);
    if (d.lost)
        complain("%u bytes did not arrive: %s", t->len, d.lost);
    else
        put_any(t, d.at_ps);
    return d.lost ? FAILED : DONE;
}

static int time_any(const struct arguments *args, struct leat_fabric *fabric)
{
    struct timing t = { 0 };
    const char *sizes = sizes_of(args);
    if (!fabric_refuse_foreign(args, fabric, "time: ", "--bytes --from --to --json")) return WRONG;
    struct leat_fabric_net *net = open_net(args->operand[1]);
    int code = net && read_ports(args, sizes, leat_fabric_net_ports(net), ANY_BYTES_MAX, &t)
                   ? DONE
                   : WRONG;
    if (code == DONE && !t.json)
        printf("one message from port %u to port %u of %s, %s\n%8s %14s %10s\n", t.from, t.to,
               fabric->name, fabric->kind->what, "bytes", "time_us", "Mb/s");
    while (code == DONE && sizes && !interrupted) {
        if (!net) net = open_net(args->operand[1]);
        code = net && read_size(args->verb, &sizes, ANY_BYTES_MAX, &t.len) ? time_one(net, &t)
                                                                           : FAILED;
        leat_fabric_net_close(net);
        net = NULL;
    }
    leat_fabric_net_close(net);
    return code;
}

int fabric_time(const struct arguments *args, struct leat_fabric *fabric)
{
    const struct fabric_verbs *verbs = fabric_verbs_of(fabric->kind);
    return (verbs->time ? verbs->time : time_any)(args, fabric);
}

/* ---- ATM fabrics ----------------------------------------------------------------------------- */

int fabric_time_atm(const struct arguments *args, struct leat_fabric *fabric)
{
    struct timing t = { .fabric = leat_fabric_as_atm(fabric)->fabric };
    const char *sizes = sizes_of(args);
    uint64_t cycles;
    const uint32_t most = leat_atm_aal_message_max(LEAT_ATM_AAL_BLOCKS);
    if (!sim_read_model(args, &t.fabric, &t.model) ||
        !read_ports(args, sizes, fabric->ports, most, &t))
        return WRONG;
    if (!t.json) put_title(&t);
    while (sizes && !interrupted && read_size(args->verb, &sizes, most, &t.len)) {
        if (!measure(&t, &cycles)) return FAILED;
        if (cycles) put_row(&t, cycles);
    }
    return DONE;
}
