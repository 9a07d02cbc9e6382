/* leat fabric: which fabrics there are, what one is made of, how long messages take in it. */
#include "ether_fabric.h"
#include "fabric.h"
#include "leat_tree.h"
#include "net_design.h"
#include "pktway_design.h"
#include "ring_fabric.h"
#include <stdio.h>
#include <string.h>

bool fabric_read(const struct verb *verb, const char *word, struct leat_sim_atm_fabric *out)
{
    static const char unheard[] = "unknown fabric";
    char line[512];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (pktway_is(word)) {
        misuse(verb,
               "%s: a PacketWay network, expected an ATM fabric or a network of switches here",
               word);
        return false;
    }
    if (ring_fabric_is(word) || ether_fabric_is(word)) {
        misuse(verb, "%s: %s, expected an ATM fabric or a network of switches here", word,
               ring_fabric_is(word) ? "a token ring" : "an Ethernet");
        return false;
    }
    if (net_is(word)) {
        misuse(verb, "%s: expected an ATM fabric here: clos444, clos:E,M,R or bmx:K", word);
        return false;
    }
    if (!leat_sim_atm_fabric_parse(word, out, &why)) return true;
    const bool unknown = why.len > strlen(unheard) && memcmp(line, unheard, strlen(unheard)) == 0;
    misuse(verb, "%.*s%s", (int)why.len, line,
           unknown ? ", a network (leat fabric list), FILE.yaml or FILE.edges" : "");
    return false;
}

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

/* A port of --path. False after a complaint. */
static bool read_port(const struct verb *verb, const char *text, size_t len, uint32_t ports,
                      uint32_t *out)
{
    uint64_t number;
    if (!leat_tree_number(text, len, &number) || number >= ports) {
        misuse(verb, "--path: port '%.*s', expected 0 to %u", (int)len, text, ports - 1);
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

/* "SRC,DST" or "SRC,all"; without it a pair that is not all zeros: 5 to 14 in clos444. */
static bool read_pair(const struct verb *verb, const char *pair, struct fabric_view *view)
{
    const struct leat_atm_clos *net = &view->fabric.net;
    view->chosen = pair != NULL;
    view->src = (net->e + 1) % net->ports;
    view->dst = net->ports > 1 ? net->ports - 2 : 0;
    if (!pair) return true;
    const char *comma = strchr(pair, ',');
    if (!comma) {
        misuse(verb, "--path '%s', expected SRC,DST or SRC,all", pair);
        return false;
    }
    if (!read_port(verb, pair, (size_t)(comma - pair), net->ports, &view->src)) return false;
    view->dst = net->ports;
    return strcmp(comma + 1, "all") == 0 ||
           read_port(verb, comma + 1, strlen(comma + 1), net->ports, &view->dst);
}

static int run_show(const struct arguments *args)
{
    static struct fabric_view view;
    static const char *const known[] = { "--vpi", "--path", "--json", NULL };
    const char *foreign = fabric_foreign_option(args, known);
    struct leat_text name;
    if (args->operand_count != 2)
        return misuse(args->verb, "show: expected one fabric, as in leat fabric show clos444");
    if (foreign)
        return misuse(args->verb, "show: %s, expected only --vpi, --path, --json", foreign);
    if (pktway_is(args->operand[1])) return pktway_fabric_show(args);
    if (ring_fabric_is(args->operand[1])) return ring_fabric_show(args);
    if (ether_fabric_is(args->operand[1])) return ether_fabric_show(args);
    if (net_is(args->operand[1])) {
        if (argument(args, "--vpi"))
            return misuse(args->verb, "show: --vpi, expected an ATM fabric: others have no VPI");
        const int result = fabric_show_net(args);
        return result == DONE ? finish(DONE) : result;
    }
    if (!fabric_read(args->verb, args->operand[1], &view.fabric)) return WRONG;
    if (!read_pair(args->verb, argument(args, "--path"), &view)) return WRONG;
    leat_text_init(&name, view.name, sizeof view.name - 1, NULL, NULL);
    leat_sim_atm_fabric_name(&view.fabric, &name);
    view.name[name.len] = '\0';
    view.tables = argument(args, "--vpi");
    if (argument(args, "--json"))
        fabric_put_json(&view);
    else
        fabric_put_text(&view);
    return finish(DONE);
}

/* ATM fabrics are sound once they are read. */
static int run_check(const struct arguments *args)
{
    static const char *const known[] = { NULL };
    struct leat_sim_atm_fabric fabric;
    const char *foreign = fabric_foreign_option(args, known);
    if (args->operand_count != 2)
        return misuse(args->verb, "check: expected one fabric, as in leat fabric check my.yaml");
    if (foreign) return misuse(args->verb, "check: %s, expected no option", foreign);
    if (pktway_is(args->operand[1])) return pktway_fabric_check(args);
    if (ring_fabric_is(args->operand[1])) return ring_fabric_check(args);
    if (ether_fabric_is(args->operand[1])) return ether_fabric_check(args);
    if (!net_is(args->operand[1])) {
        if (!fabric_read(args->verb, args->operand[1], &fabric)) return WRONG;
        printf("%s: sound: %u ports\n", args->operand[1], fabric.net.ports);
        return finish(DONE);
    }
    const int result = fabric_check_net(args);
    return result == DONE ? finish(DONE) : result;
}

static int run_draw(const struct arguments *args)
{
    static const char *const known[] = { "-o", NULL };
    const char *foreign = fabric_foreign_option(args, known);
    if (args->operand_count != 2)
        return misuse(args->verb, "draw: expected one fabric, as in leat fabric draw mesh:4,4");
    if (foreign) return misuse(args->verb, "draw: %s, expected only -o", foreign);
    const int result = fabric_draw_net(args);
    return result == DONE ? finish(DONE) : result;
}

static int run_list(const struct arguments *args)
{
    static const char *const known[] = { "--json", NULL };
    const char *foreign = fabric_foreign_option(args, known);
    if (args->operand_count != 1) return misuse(args->verb, "list: expected nothing more");
    if (foreign) return misuse(args->verb, "list: %s, expected only --json", foreign);
    const char *line = argument(args, "--json") ? "{\"name\":\"%s\",\"text\":\"%s\"}\n"
                                                : "%-16s %s\n";
    const struct leat_sim_atm_fabric_spelling *each;
    const struct leat_net_plan_spelling *net;
    for (size_t i = 0; (each = leat_sim_atm_fabric_list(i)); i++)
        printf(line, each->name, each->text);
    for (size_t i = 0; (net = leat_net_plan_list(i)); i++)
        printf(line, net->name, net->text);
    const struct fabric_spelling *own;
    for (size_t i = 0; (own = ring_fabric_list(i)); i++)
        printf(line, own->name, own->text);
    for (size_t i = 0; (own = ether_fabric_list(i)); i++)
        printf(line, own->name, own->text);
    printf(line, "twosan", "PacketWay: a token ring and clos444, joined by a router");
    printf(line, "threesan", "PacketWay: a token ring, clos444 and a mesh, three routers");
    printf(line, "FILE.yaml", "PacketWay, where it has sans: and routers:");
    return finish(DONE);
}

int run_fabric(const struct arguments *args)
{
    const char *what = args->operand_count ? args->operand[0] : "";
    if (strcmp(what, "show") == 0) return run_show(args);
    if (strcmp(what, "time") == 0) return run_fabric_time(args);
    if (strcmp(what, "list") == 0) return run_list(args);
    if (strcmp(what, "check") == 0) return run_check(args);
    if (strcmp(what, "draw") == 0) return run_draw(args);
    return misuse(args->verb, "'%s', expected list, show, check, draw or time", what);
}
