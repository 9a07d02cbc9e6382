/* leat fabric: lists fabrics, shows their structure, and measures message times. */
#include "fabric.h"
#include "fabric_atm.h"
#include "json_out.h"
#include <stdio.h>
#include <string.h>

/*
 * On the paths of a pair there are: all entries of the input PPD side by side, then one at each
 * middle PPD, then one at each output PPD that is reached.
 */
static bool entries_on_paths(const struct fabric_view *view, uint32_t index,
                             struct fabric_entries *out)
{
    const struct leat_atm_clos *net = &view->fabric.net;
    const bool all = view->dst == net->ports;
    const uint32_t reached = all ? net->r : 1; /* output switches */
    if (index == 0) {
        *out = (struct fabric_entries){ leat_atm_clos_input_ppd(net, view->src),
                                        leat_atm_clos_access(net, view->dst, 0), net->paths };
        return true;
    }
    if (net->stages == 1 || index > net->paths * (1 + reached)) return false;
    const uint32_t row = (index - 1) / net->paths, path = (index - 1) % net->paths;
    const uint32_t stage = row == 0 ? 1 : 2, unit = row == 0 ? 0 : row - 1;
    struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
    leat_atm_clos_path(net, view->src, all ? net->e * unit : view->dst, path, all, hop);
    *out = (struct fabric_entries){ hop[stage].ppd, hop[stage].label, 1 };
    return true;
}

bool fabric_entries_at(const struct fabric_view *view, uint32_t index, struct fabric_entries *out)
{
    const struct leat_atm_clos *net = &view->fabric.net;
    if (view->chosen) return entries_on_paths(view, index, out);
    if (index >= net->ppd_count) return false;
    const uint32_t stage = leat_atm_clos_ppd_place(net, index).stage;
    *out = (struct fabric_entries){ index, 0, net->stage[stage].entries };
    return true;
}

/* Without a pair one that is not all zeros: 5 to 14 in clos444. */
static bool read_pair(const struct verb *verb, const char *pair, struct fabric_view *view)
{
    const struct leat_atm_clos *net = &view->fabric.net;
    view->chosen = pair != NULL;
    view->src = (net->e + 1) % net->ports;
    view->dst = net->ports > 1 ? net->ports - 2 : 0;
    return !pair || fabric_read_pair(verb, pair, "port", net->ports, true, &view->src, &view->dst);
}

int fabric_show_atm(const struct arguments *args, struct leat_fabric *fabric)
{
    static struct fabric_view view;
    view.fabric = leat_fabric_as_atm(fabric)->fabric;
    if (!read_pair(args->verb, argument(args, "--path"), &view)) return WRONG;
    view.name = fabric->name;
    view.tables = argument(args, "--vpi");
    (argument(args, "--json") ? fabric_put_json : fabric_put_text)(&view);
    return DONE;
}

static int show_any(const struct arguments *args, struct leat_fabric *fabric)
{
    const struct fabric_verbs *verbs = fabric_verbs_of(fabric->kind);
    struct leat_fabric_error error;
    if (verbs->show) return verbs->show(args, fabric);
    if (!fabric_refuse_foreign(args, fabric, "show: ", "--json")) return WRONG;
    if (fabric->kind->describe(fabric, argument(args, "--json"), stdout, &error)) return DONE;
    fabric_refused(args->verb, fabric->word, &error);
    return WRONG;
}

static int check_any(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_error error;
    if (leat_fabric_check(fabric, stdout, &error)) return DONE;
    fabric_refused(args->verb, fabric->word, &error);
    return WRONG;
}

/* A word with one fabric behind it. */
struct fabric_word {
    const char *name;
    const char *options, *expected; /* of some kinds at least */
    const char *example;
    int (*run)(const struct arguments *args, struct leat_fabric *fabric);
};

static const struct fabric_word subverbs[] = {
    { "show", "--vpi --path --json", "only --vpi, --path, --json", "clos444", show_any },
    { "time", "--bytes --from --to --model --json", "only --bytes, --from, --to, --model, --json",
      "clos444", fabric_time },
    { "check", "", "no option", "my.yaml", check_any },
    { "draw", "-o", "only -o", "mesh:4,4", fabric_draw_any },
};

static int run_subverb(const struct arguments *args, const struct fabric_word *v)
{
    const char *foreign = argument_not_in(args, v->options);
    if (args->operand_count != 2)
        return misuse(args->verb, "%s: expected one fabric, as in leat fabric %s %s", v->name,
                      v->name, v->example);
    if (foreign) return misuse(args->verb, "%s: %s, expected %s", v->name, foreign, v->expected);
    struct leat_fabric *fabric = fabric_read(args->verb, args->operand[1]);
    if (!fabric) return WRONG;
    const int code = v->run(args, fabric);
    leat_fabric_close(fabric);
    return code == DONE ? finish(DONE) : code;
}

static void put_spelling(bool json, const char *name, const char *text)
{
    struct json_out out;
    if (!json) {
        printf("%-16s %s\n", name, text);
        return;
    }
    leat_json_string(json_open(&out, stdout), "name", name);
    leat_json_string(&out.json, "text", text);
    json_close(&out);
}

static int run_list(const struct arguments *args)
{
    const char *foreign = argument_not_in(args, "--json");
    if (args->operand_count != 1) return misuse(args->verb, "list: expected nothing more");
    if (foreign) return misuse(args->verb, "list: %s, expected only --json", foreign);
    const bool json = argument(args, "--json");
    const struct leat_fabric_kind *kind;
    struct leat_fabric_spelling each;
    for (size_t k = 0; (kind = leat_fabric_kind_at(k)); k++)
        for (size_t i = 0; kind->list(i, &each); i++)
            put_spelling(json, each.name, each.text);
    return finish(DONE);
}

static int run_fabric(const struct arguments *args)
{
    const char *what = args->operand_count ? args->operand[0] : "";
    for (size_t i = 0; i < sizeof subverbs / sizeof *subverbs; i++)
        if (strcmp(what, subverbs[i].name) == 0) return run_subverb(args, &subverbs[i]);
    if (strcmp(what, "list") == 0) return run_list(args);
    return misuse(args->verb, "'%s', expected list, show, check, draw or time", what);
}

const struct verb verb_fabric = {
    .name = "fabric",
    .summary = "show what a fabric is made of, or how long messages take in it",
    .synopsis = "list [--json] | show FABRIC [--vpi] [--path SRC,DST] [--json] | check FABRIC | "
                "draw FABRIC [-o F.svg] | time FABRIC [--bytes SIZES] [--json]",
    .description =
        "show: the switches of a fabric, their links, and the paths between two ports with the "
        "label on each link, the PPD (input unit) and the SPD (output unit) of each switch.\n"
        "FABRIC is clos444, the 16 x 16 network of the thesis; clos:E,M,R, three stages of R "
        "switches ExM, M switches RxR, R switches MxE; or bmx:K, one switch KxK. Parameters "
        "follow with slashes: clos:8,15,8/buffer=4/clock=20MHz. list shows all of them.\n"
        "With --vpi the routing tables are shown too: label > output:new label, for each PPD. "
        "With --path only the paths of that pair are shown (SRC,all is a broadcast), and with "
        "--vpi as well the table entries that they use.\n"
        "time: how long one message takes from host to host in the otherwise idle network, "
        "measured in the simulated network itself: from the cycle in which the sender asks for "
        "its AAL unit to the cycle in which the receiver has read the last octet. The table has "
        "the closed form beside it, for two different ports: T(N) of the prototype, adjusted by "
        "the cycles that a cell needs in this fabric: 18 for three stages, 6 for one, hence "
        "T(N)-12; with --json there is one object per size: bytes, cells, cycles, microseconds. "
        "Of fabrics that are not ATM, time measures from when a port is handed the message until "
        "all of it has arrived: bytes and microseconds.\n"
        "NAMES: clos:4,4,4 has the bus-matrix switches of the thesis, clos:4,4,4/switch=vc "
        "routers of flits; ring16 is a token ring, ring:16 a ring of routers. The first line of "
        "show and of leat sim names the kind. KIND:NAME is unambiguous, with KIND one of atm, "
        "flits, aton, ether or packetway: atm:clos:4,4,4, flits:clos:4,4,4, aton:ring16, "
        "flits:ring16.\n"
        "The JSON object has fabric, stages, e, m, r, ports, paths, switches, ppds, spds, class, "
        "switching, table_depth, buffer_cells, period_ps (num, den), idle_cycles, spd_to_ppd, "
        "input_ports, output_ports, entry_format, entries_used_per_ppd, p2p_columns, p2p, "
        "broadcast, tables, and left_out: what is too large for a big fabric and is shown with "
        "--path only. Labels are called vpi also where they are VPI and VCI together (switching "
        "vc).",
    .topics = (const struct topic[]){
        { "networks",
          "PACKETWAY networks join any of these: a FILE.yaml with sans (each with name, fabric, "
          "bias, mtu in words, quality), routers (each with name and at, a list of SAN.PORT) and, "
          "for the whole, forwarding (planned or address), cut_through (yes or no: a router "
          "forwards a packet while it still arrives, where its SANs allow it; yes), buffer "
          "(packets of a half-router in each direction; 16) and times in ns: host_ns (a host makes "
          "a packet; 500), planned_ns and address_ns (a half-router decides, by a route or by its "
          "table; 200 and 5000), link_ns (between half-routers; 100). Port P of a SAN has the "
          "address bias + 1 + P. twosan and threesan are two of them.\n"
          "NETWORKS that are not ATM fabrics: list shows the topologies and their parameters, as "
          "in mesh:8,8/vcs=2/buffer=4 (mesh8x8 for short). FILE.edges is any graph: a line A B "
          "[CYCLES] for each wire, A > B for one way, parameters behind it "
          "(my.edges/routing=updown). FILE.yaml is a description with the keys topology, size, "
          "switch, vcs, buffer, flow, full, routing, wire, board, board-wire, pipeline, credit, "
          "iterations, terminals, clock, and for topology: graph routers, edges (a, b, cycles, "
          "one_way), hosts (the router of each terminal) and, with routing: table, table (at, to, "
          "by: routers).\n"
          "show prints routers, wires (each one way: a line of a mesh is two), class "
          "(non-blocking, rearrangeable or blocking), distances, and whether packets can deadlock, "
          "with the cycle of channels if there is one; --path shows the routers between two "
          "terminals, for several packets. check reads and builds a fabric and reports errors by "
          "file and line, with exit code 2. draw makes a picture of up to 4096 routers.\n"
          "The JSON object of a network has fabric, topology, terminals, routers, wires, radix, "
          "board and board_wire (of those that have boards), class, distance_mean and distance_max "
          "(routers passed between terminals), switch, vcs, buffer, flow, full, pipeline, routing, "
          "deadlock (possible, smaller: found in a smaller one of its kind, channels, "
          "dependencies, cycle)." },
        { NULL, NULL },
    },
    .options = {
        { "--vpi", NULL, "show the routing tables" },
        { "--path", "SRC,DST", "show the paths of this pair only; DST may be all" },
        { "--bytes", "SIZES", "time: 4,1000,...; default: those of the thesis' table" },
        { "--model", "M", "time, ATM fabrics: rtl or cell (default)" },
        { "--from", "PORT", "time: of the sender; default 0" },
        { "--to", "PORT", "time: of the receiver; default the last" },
        { "-o", "FILE", "draw: write the picture there; the file appears only when complete" },
        { "--json", NULL, "one JSON object, tables included; time: one per size; list: one per line" },
    },
    .examples = "leat fabric time clos444 --bytes 4,1000,65000\n"
                "leat fabric time torus:4,4 --bytes 4,1000\n"
                "leat fabric show clos444\n"
                "leat fabric show clos444 --vpi\n"
                "leat fabric show clos:64,64,64 --path 5,all --vpi\n"
                "leat fabric list\n"
                "leat fabric show torus:8,8 --path 0,27\n"
                "leat fabric check share/fabrics/campus.yaml\n"
                "leat fabric draw fattree:4,2 -o tree.svg",
    .operands = "list show check draw time $fabrics",
    .run = run_fabric,
};
