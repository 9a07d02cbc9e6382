/* leat fabric: lists fabrics, shows their structure, and measures message times. */
#include "fabric.h"
#include "fabric_atm.h"
#include "json_out.h"
#include <stdio.h>

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

/* Of a subverb with one fabric behind it. */
static int with_fabric(const struct arguments *args,
                       int (*run)(const struct arguments *args, struct leat_fabric *fabric))
{
    if (args->operand_count != 2)
        return misuse(args->verb, "%s: expected one fabric, as in leat fabric %s mesh:4,4",
                      args->subverb->name, args->subverb->name);
    struct leat_fabric *fabric = fabric_read(args->verb, args->operand[1]);
    if (!fabric) return WRONG;
    const int code = run(args, fabric);
    leat_fabric_close(fabric);
    return code == DONE ? finish(DONE) : code;
}

static int run_show(const struct arguments *args)
{
    return with_fabric(args, show_any);
}

static int run_check(const struct arguments *args)
{
    return with_fabric(args, check_any);
}

static int run_draw(const struct arguments *args)
{
    return with_fabric(args, fabric_draw_any);
}

static int run_time(const struct arguments *args)
{
    return with_fabric(args, fabric_time);
}

static void put_spelling_json(const struct leat_fabric_kind *kind,
                              const struct leat_fabric_spelling *each)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "kind", kind->id);
    leat_json_string(j, "name", each->name);
    leat_json_bool(j, "parameter", *each->name == '/');
    leat_json_string(j, "text", each->text);
    json_close(&out);
}

static int run_list(const struct arguments *args)
{
    if (args->operand_count != 1) return misuse(args->verb, "list: expected nothing more");
    const bool json = argument(args, "--json");
    const struct leat_fabric_kind *kind;
    struct leat_fabric_spelling each;
    for (size_t k = 0; (kind = leat_fabric_kind_at(k)); k++) {
        if (!json) printf("%s%s: %s\n", k ? "\n" : "", kind->id, kind->what);
        for (size_t i = 0; kind->list(i, &each); i++)
            if (json)
                put_spelling_json(kind, &each);
            else
                printf("  %-18s %s\n", each.name, each.text);
    }
    return finish(DONE);
}

static const struct subverb subverbs[] = {
    { .name = "list",
      .summary = "list the names of all fabrics, with their parameters",
      .synopsis = "[--json]",
      .options = "--json",
      .text = "Prints the fabrics kind by kind; a name that begins with a slash is a parameter of "
              "the fabrics above it.\n"
              "--json prints one object per line: kind, name, parameter (true, or false for a "
              "fabric), text.",
      .examples = "leat fabric list\nleat fabric list --json",
      .run = run_list },
    { .name = "show",
      .summary = "show what a fabric is made of, and the paths between two ports",
      .synopsis = "FABRIC [--vpi] [--path SRC,DST] [--json]",
      .options = "--vpi --path --json",
      .text =
          "ATM fabrics: the switches, their links, and the paths between two ports with the label "
          "on each link, the PPD (input unit) and the SPD (output unit) of each switch. With --vpi "
          "the routing tables are shown too: label > output:new label, for each PPD. With --path "
          "only the paths of that pair are shown (SRC,all is a broadcast), and with --vpi as well "
          "the table entries that they use.\n"
          "Networks of switches: routers, wires (each one way: a line of a mesh is two), class "
          "(non-blocking, rearrangeable or blocking), distances, and whether packets can deadlock, "
          "with the cycle of channels if there is one. --path shows the routers between two "
          "terminals, for several packets.",
      .examples = "leat fabric show clos444 --vpi\n"
                  "leat fabric show clos:64,64,64 --path 5,all --vpi\n"
                  "leat fabric show torus:8,8 --path 0,27",
      .run = run_show },
    { .name = "check",
      .summary = "read and build a fabric, and report errors by file and line",
      .synopsis = "FABRIC",
      .options = "",
      .text = "Prints one line about a fabric that is sound. The exit code is 2 for one that is "
              "not. leat help fabric files describes the files.",
      .examples = "leat fabric check share/fabrics/campus.yaml\nleat fabric check mesh:4,4/vcs=2",
      .run = run_check },
    { .name = "draw",
      .summary = "draw a fabric of up to 4096 routers",
      .synopsis = "FABRIC [-o FILE]",
      .options = "-o",
      .text = "Writes a picture (SVG) of routers, wires and terminals.",
      .examples = "leat fabric draw fattree:4,2 -o tree.svg",
      .run = run_draw },
    { .name = "time",
      .summary = "measure how long one message takes in the idle network",
      .synopsis = "FABRIC [--bytes LIST] [--from PORT] [--to PORT] [--model rtl|cell] [--json]",
      .options = "--bytes --from --to --model --json",
      .text =
          "Measures in the simulated network itself, from host to host: from the cycle in which "
          "the sender asks for its AAL unit to the cycle in which the receiver has read the last "
          "octet. In fabrics that are not ATM, from when a port is handed the message until all of "
          "it has arrived.\n"
          "The table of an ATM fabric has the closed form beside it, for two different ports: T(N) "
          "of the prototype, adjusted by the cycles that a cell needs in this fabric: 18 for three "
          "stages, 6 for one, hence T(N)-12.\n"
          "--json prints one object per size: bytes, microseconds, and of ATM fabrics cells and "
          "cycles.",
      .examples = "leat fabric time clos444 --bytes 4,1000,65000\n"
                  "leat fabric time torus:4,4 --bytes 4,1k",
      .run = run_time },
    { NULL },
};

const struct verb verb_fabric = {
    .name = "fabric",
    .summary = "show what a fabric is made of, or how long messages take in it",
    .synopsis = "list | show FABRIC | check FABRIC | draw FABRIC | time FABRIC [options]",
    .description =
        "FABRIC is a name with parameters, as mesh:8,8/vcs=2/buffer=4, or a file. Names are "
        "clos444, the 16 x 16 network of the thesis, and many others: `leat fabric list` prints "
        "them.",
    .topics = (const struct topic[]){
        { "names",
          "clos444 is the 16 x 16 network of the thesis; clos:E,M,R has three stages of R switches "
          "ExM, M switches RxR, R switches MxE; bmx:K is one switch KxK. Parameters follow with "
          "slashes: clos:8,15,8/buffer=4/clock=20MHz, mesh:8,8/vcs=2/buffer=4 (mesh8x8 for short).\n"
          "clos:4,4,4 has the bus-matrix switches of the thesis, clos:4,4,4/switch=vc routers of "
          "flits; ring16 is a token ring, ring:16 a ring of routers. The first line of `leat fabric "
          "show` and of `leat sim` names the kind. KIND:NAME is unambiguous, with KIND one of atm, "
          "flits, aton, ether or packetway: atm:clos:4,4,4, flits:clos:4,4,4, aton:ring16, "
          "flits:ring16." },
        { "files",
          "FILE.edges is any graph: a line A B [CYCLES] for each wire, A > B for one way; "
          "parameters follow the name (my.edges/routing=updown).\n"
          "FILE.yaml is a description with the keys topology, size, switch, vcs, buffer, flow, "
          "full, routing, wire, board, board-wire, pipeline, credit, iterations, terminals, clock, "
          "and for topology: graph routers, edges (a, b, cycles, one_way), hosts (the router of "
          "each terminal) and, with routing: table, table (at, to, by: routers).\n"
          "share/fabrics has one of each topology. `leat fabric check` reports what is wrong with a "
          "file." },
        { "packetway",
          "PacketWay networks join fabrics: a FILE.yaml with sans (each with name, fabric, bias, "
          "mtu in words, quality) and routers (each with name and at, a list of SAN.PORT). Port P "
          "of a SAN has the address bias + 1 + P. twosan and threesan are two of them.\n"
          "For the whole there are forwarding (planned or address), cut_through (yes or no: a "
          "router forwards a packet while it still arrives, where its SANs allow it; yes), buffer "
          "(packets of a half-router in each direction; 16) and times in ns: host_ns (a host makes "
          "a packet; 500), planned_ns and address_ns (a half-router decides, by a route or by its "
          "table; 200 and 5000), link_ns (between half-routers; 100)." },
        { "json",
          "show prints one object. Of an ATM fabric it has fabric, stages, e, m, r, ports, paths, "
          "switches, ppds, spds, class, switching, table_depth, buffer_cells, period_ps (num, den), "
          "idle_cycles, spd_to_ppd, input_ports, output_ports, entry_format, entries_used_per_ppd, "
          "p2p_columns, p2p, broadcast, tables, and left_out: what is too large for a big fabric "
          "and is shown with --path only. Labels are called vpi also where they are VPI and VCI "
          "together (switching vc).\n"
          "Of a network of switches it has fabric, topology, terminals, routers, wires, radix, "
          "board and board_wire (of those that have boards), class, distance_mean and distance_max "
          "(routers passed between terminals), switch, vcs, buffer, flow, full, pipeline, routing, "
          "deadlock (possible, smaller: found in a smaller one of its kind, channels, dependencies, "
          "cycle)." },
        { NULL, NULL },
    },
    .subverbs = subverbs,
    .options = {
        { "--vpi", NULL, "show the routing tables", .kinds = "atm" },
        { "--path", "SRC,DST", "show the paths of this pair only; of ATM fabrics DST may be all",
          .kinds = "atm flits" },
        { "--bytes", "LIST", "sizes, as 4,1k,65000; default: those of the thesis' table" },
        { "--model", "MODEL", "how exactly to simulate", WORD("rtl cell"), .preset = "cell",
          .kinds = "atm" },
        { "--from", "PORT", "the port of the sender", .preset = "0" },
        { "--to", "PORT", "the port of the receiver; default: the last" },
        { "-o", "FILE", "write the picture there, only when it is complete" },
        { "--json", NULL, "as JSON" },
    },
    .examples = "leat fabric list\n"
                "leat fabric show torus:8,8 --path 0,27\n"
                "leat fabric time clos444 --bytes 4,1000,65000\n"
                "leat fabric show clos444 --vpi\n"
                "leat fabric check share/fabrics/campus.yaml\n"
                "leat fabric draw fattree:4,2 -o tree.svg",
    .operands = "$fabrics",
};
