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
    const struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    if (argument(args, "--multicast")) return fabric_show_multicast(args, atm);
    if (argument(args, "--from"))
        return misuse(args->verb, "show: --from without --multicast, expected both");
    if (atm->fabric.graph) return fabric_show_cells(args, atm);
    view.fabric = atm->fabric;
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
    json_close(&out, json_status());
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
    { "list", "list the names of all fabrics, with their parameters", "[--json]", "--json",
      run_list },
    { "show", "show what a fabric is made of, and the paths between two ports",
      "FABRIC [--vpi] [--path SRC,DST] [--multicast PORTS [--from PORT]] [--json]",
      "--vpi --path --multicast --from --json", run_show },
    { "check", "read and build a fabric, and report errors by file and line", "FABRIC", "",
      run_check },
    { "draw", "draw a fabric of up to 4096 routers", "FABRIC [-o FILE]", "-o", run_draw },
    { "time", "measure how long one message takes in the idle network",
      "FABRIC [--bytes LIST] [--from PORT] [--to PORT] [--model rtl|cell] [--json]",
      "--bytes --from --to --model --json", run_time },
    { "lines", "list the lines of ATM networks, with their bit and cell rates", "[--json]",
      "--json", fabric_lines },
    { NULL },
};

const struct verb verb_fabric = {
    .name = "fabric",
    .summary = "show what a fabric is made of, or how long messages take in it",
    .synopsis = "list | lines | show FABRIC | check FABRIC | draw FABRIC | time FABRIC [options]",
    .help = help_fabric,
    .subverbs = subverbs,
    .options = {
        { "--vpi", NULL, "show the routing tables", .kinds = "atm" },
        { "--path", "SRC,DST", "show the paths of this pair only; of ATM fabrics DST may be all",
          .kinds = "atm flits" },
        { "--multicast", "PORTS", "show how switches copy a cell to these ports, as 1,5,7-9",
          .kinds = "atm" },
        { "--bytes", "LIST", "sizes, as 4,1k,65000; default: those of the thesis' table" },
        { "--model", "MODEL", "how exactly to simulate", WORD("rtl cell"), .preset = "cell",
          .kinds = "atm" },
        { "--from", "PORT", "the port of the sender", .preset = "0" },
        { "--to", "PORT", "the port of the receiver; default: the last" },
        { "-o", "FILE", "write the picture there, only when it is complete" },
        OPTION_JSON("JSON"),
    },
    .operands = "$fabrics",
};
