/* leat fabric show as text: summary, picture, links, paths, routing tables. */
#include "fabric.h"
#include "sim_atm_cost.h"
#include <stdio.h>
#include <string.h>

enum {
    SHOWN_MAX = 16,        /* switches of a stage; paths, where none are chosen */
    LINKS_MAX = 8,         /* of a switch */
    ENTRIES_MAX = 1 << 16, /* of all tables together */
    ENTRIES_PER_LINE = 5,
};

/* "4-7", or "4" alone. */
struct span {
    char text[32];
};

static struct span span(uint32_t first, uint32_t count)
{
    struct span s;
    if (count == 1)
        snprintf(s.text, sizeof s.text, "%u", first);
    else
        snprintf(s.text, sizeof s.text, "%u-%u", first, first + count - 1);
    return s;
}

static const char *plural(uint32_t count, const char *ending)
{
    return count == 1 ? "" : ending;
}

static const char *stage_name(const struct leat_atm_clos *net, uint32_t stage)
{
    static const char *const names[] = { "input", "middle", "output" };
    return net->stages == 1 ? "only" : names[stage];
}

static const char *label_name(const struct leat_atm_clos *net)
{
    return net->header_octets == LEAT_ATM_VP_HEADER ? "VPI" : "label";
}

static void put_summary(const struct fabric_view *view)
{
    const struct leat_sim_atm_fabric *f = &view->fabric;
    const struct leat_atm_clos *net = &f->net;
    const double period_ns = (double)f->period_ps_num / (double)f->period_ps_den / 1e3;
    printf("%s, an ATM fabric: ", view->name);
    if (net->stages == 1)
        printf("a bus-matrix switch of");
    else
        printf("Clos(%u,%u,%u) of", net->e, net->m, net->r);
    printf(" %u x %u ports, %s\n", net->ports, net->ports,
           leat_atm_clos_class_name(leat_atm_clos_classify(net)));
    printf("  %u switch%s in %u stage%s, %u PPDs, %u SPDs; %u path%s from each port to each\n",
           net->switch_count, plural(net->switch_count, "es"), net->stages,
           plural(net->stages, "s"), net->ppd_count, net->spd_count, net->paths,
           plural(net->paths, "s"));
    if (net->header_octets == LEAT_ATM_VP_HEADER)
        printf("  VP switching: VPIs of 12 bits, routing tables of %u entries\n", net->table_depth);
    else
        puts("  VC switching: labels of 28 bits (VPI and VCI), routing tables are sparse");
    printf("  crosspoint memories of %u cell%s; a cycle is %.6g ns, a link carries %.6g Mb/s\n",
           f->buffer_cells, plural(f->buffer_cells, "s"), period_ns, 8e3 / period_ns);
    printf("  when idle, a cell's first octet leaves %u cycles after it came\n",
           leat_atm_clos_idle_cycles(net));
    const struct leat_net_cost cost = leat_sim_atm_cost(f);
    printf("  ");
    fabric_put_cost(&cost, "cells", "a cell time");
}

static void put_stages(const struct leat_atm_clos *net)
{
    puts("\nstage   switches   size      PPDs          SPDs          entries used per table");
    for (uint32_t s = 0; s < net->stages; s++) {
        const struct leat_atm_clos_stage *stage = &net->stage[s];
        char size[32];
        snprintf(size, sizeof size, "%u x %u", stage->inputs, stage->outputs);
        printf("%-7s %-10s %-9s %-13s %-13s %u\n", stage_name(net, s),
               span(stage->switch_first, stage->switch_count).text, size,
               span(stage->ppd_first, stage->switch_count * stage->inputs).text,
               span(stage->spd_first, stage->switch_count * stage->outputs).text, stage->entries);
    }
}

/* The switches that stand side by side, each between its PPDs and its SPDs. */
static void put_picture_row(const struct leat_atm_clos *net, uint32_t unit)
{
    const int width = (int)strlen(span(net->ppd_count + net->spd_count, 2).text);
    for (uint32_t s = 0; s < net->stages; s++) {
        const struct leat_atm_clos_stage *stage = &net->stage[s];
        const bool last = s + 1 == net->stages;
        const uint32_t ppd = stage->ppd_first + stage->inputs * unit;
        const uint32_t spd = stage->spd_first + stage->outputs * unit;
        if (unit < stage->switch_count)
            printf("%*s > [%3u] > %-*s", width + 2, span(ppd, stage->inputs).text,
                   stage->switch_first + unit, last ? 0 : width, span(spd, stage->outputs).text);
        else if (!last)
            printf("%*s", 2 * width + 13, "");
    }
    putchar('\n');
}

static void put_picture(const struct leat_atm_clos *net)
{
    const uint32_t rows = net->m > net->r ? net->m : net->r;
    puts("\nPPDs > [switch] > SPDs");
    for (uint32_t unit = 0; unit < rows && unit < SHOWN_MAX; unit++)
        put_picture_row(net, unit);
    if (rows > SHOWN_MAX) printf("  (%u more rows left out)\n", rows - SHOWN_MAX);
    printf("Port p is PPD p on the way in and SPD %u + p on the way out.\n",
           leat_atm_clos_output_spd(net, 0));
}

static void put_links_of_switch(const struct leat_atm_clos *net, uint32_t s, uint32_t unit)
{
    const struct leat_atm_clos_stage *stage = &net->stage[s];
    printf("  [%3u]", stage->switch_first + unit);
    for (uint32_t u = 0; u < stage->outputs && u < LINKS_MAX; u++) {
        const uint32_t spd = stage->spd_first + stage->outputs * unit + u;
        printf("  %u > %u", spd, leat_atm_clos_link(net, spd));
    }
    puts(stage->outputs > LINKS_MAX ? "  ..." : "");
}

static void put_links(const struct leat_atm_clos *net)
{
    if (net->stages == 1) return;
    puts("\nlinks, SPD > PPD, by the switch they leave");
    for (uint32_t s = 0; s + 1 < net->stages; s++) {
        const uint32_t count = net->stage[s].switch_count;
        for (uint32_t unit = 0; unit < count && unit < SHOWN_MAX; unit++)
            put_links_of_switch(net, s, unit);
        if (count > SHOWN_MAX)
            printf("  (%u more switches left out; --json has all links)\n", count - SHOWN_MAX);
    }
}

/* All paths of a chosen pair; otherwise a few, and the number of the others. */
static uint32_t paths_shown(const struct fabric_view *view)
{
    const uint32_t paths = view->fabric.net.paths;
    return view->chosen || paths < SHOWN_MAX ? paths : SHOWN_MAX;
}

static void put_paths_left_out(const struct fabric_view *view)
{
    const uint32_t left_out = view->fabric.net.paths - paths_shown(view);
    if (left_out) printf("  (%u more paths left out; --path SRC,DST shows all)\n", left_out);
}

static void put_pair(const struct fabric_view *view)
{
    const struct leat_atm_clos *net = &view->fabric.net;
    const char *label = label_name(net);
    printf("\npaths from port %u to port %u\n", view->src, view->dst);
    for (uint32_t path = 0; path < paths_shown(view); path++) {
        struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
        leat_atm_clos_path(net, view->src, view->dst, path, false, hop);
        printf("  %2u:", path);
        for (uint32_t s = 0; s < net->stages; s++)
            printf(" %s %u > PPD %u, SPD %u >", label, hop[s].label, hop[s].ppd, hop[s].spd);
        printf(" %s 0\n", label);
    }
    put_paths_left_out(view);
}

/* All outputs of the middle switch, and one input of every output switch. */
static void put_fan(const struct leat_atm_clos *net, const struct leat_atm_clos_hop *hop)
{
    printf(" %s %u > PPD %u, SPD %s >", label_name(net), hop[1].label, hop[1].ppd,
           span(hop[1].spd, net->r).text);
    printf(" %s %u > PPD", label_name(net), hop[2].label);
    for (uint32_t j = 0; j < net->r && j < LINKS_MAX; j++)
        printf(" %u", hop[2].ppd + net->m * j);
    if (net->r > LINKS_MAX) printf(" ... %u", hop[2].ppd + net->m * (net->r - 1));
    putchar(',');
}

static void put_broadcast(const struct fabric_view *view)
{
    const struct leat_atm_clos *net = &view->fabric.net;
    printf("\npaths from port %u to all ports\n", view->src);
    for (uint32_t path = 0; path < paths_shown(view); path++) {
        struct leat_atm_clos_hop hop[LEAT_ATM_CLOS_STAGES_MAX];
        leat_atm_clos_path(net, view->src, 0, path, true, hop);
        printf("  %2u: %s %u > PPD %u,", path, label_name(net), hop[0].label, hop[0].ppd);
        if (net->stages > 1) {
            printf(" SPD %u >", hop[0].spd);
            put_fan(net, hop);
        }
        printf(" SPD %s > %s 0\n", span(leat_atm_clos_output_spd(net, 0), net->ports).text,
               label_name(net));
    }
    put_paths_left_out(view);
}

static void put_entries(const struct leat_atm_clos *net, const struct fabric_entries *e)
{
    const struct leat_atm_clos_place at = leat_atm_clos_ppd_place(net, e->ppd);
    const struct leat_atm_clos_stage *stage = &net->stage[at.stage];
    printf("PPD %u, input %u of switch %u: %u of %u entries\n", e->ppd, at.port,
           stage->switch_first + at.unit, e->count, stage->entries);
    for (uint32_t i = 0; i < e->count; i++) {
        struct leat_atm_route route = { 0 };
        uint32_t output = 0;
        char text[32];
        leat_atm_clos_route(net, e->ppd, e->first + i, &route);
        while (!(route.select >> output & 1))
            output++;
        if (route.select >> output == 1)
            snprintf(text, sizeof text, "%u:%u", output, route.label);
        else
            snprintf(text, sizeof text, "all:%u", route.label);
        const bool last = i + 1 == e->count || i % ENTRIES_PER_LINE == ENTRIES_PER_LINE - 1;
        printf("%s%6u > %-*s%s", i % ENTRIES_PER_LINE ? " " : "", e->first + i, last ? 0 : 9, text,
               last ? "\n" : "");
    }
}

static void put_tables(const struct fabric_view *view)
{
    struct fabric_entries e;
    uint32_t shown = 0, index = 0, left_out = 0;
    printf("\nrouting tables, %s > output:%s\n", label_name(&view->fabric.net),
           label_name(&view->fabric.net));
    for (; !interrupted && fabric_entries_at(view, index, &e); index++) {
        if (e.count > ENTRIES_MAX - shown) {
            left_out++;
            continue;
        }
        shown += e.count;
        put_entries(&view->fabric.net, &e);
    }
    if (left_out)
        printf("(%u PPDs left out, %u entries are the limit; --path SRC,DST shows what a pair "
               "uses)\n",
               left_out, (unsigned)ENTRIES_MAX);
}

void fabric_put_text(const struct fabric_view *view)
{
    const struct leat_atm_clos *net = &view->fabric.net;
    if (!view->chosen) {
        put_summary(view);
        put_stages(net);
        put_picture(net);
        put_links(net);
    } else {
        printf("%s\n", view->name);
    }
    if (view->dst < net->ports) put_pair(view);
    if (!view->chosen || view->dst == net->ports) put_broadcast(view);
    if (view->tables) put_tables(view);
}
