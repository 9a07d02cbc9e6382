/* Networks of switches that forward cells: their names, and what is built from them. */
#include "fabric_cells.h"
#include "fabric_kind.h"
#include "fabric_word_parts.h"
#include "leat_near.h"
#include <stdlib.h>

enum { CHANNELS_MAX = 4, TOPOLOGY_OCTETS_MAX = 1 << 26, WHY_CAP = 512 };

/* ---- reading --------------------------------------------------------------------------------- */

static bool refuse_ports(const struct leat_fabric_design *d, const char *ports,
                         struct leat_fabric_error *error)
{
    return leat_fabric_refuse(error, LEAT_FABRIC_UNSOUND, d->name,
                              "%s ports, expected 2 to %d with cells", ports,
                              LEAT_FABRIC_CELLS_PORTS_MAX);
}

/* Before anything is built: networks of so many ports are smaller. */
static bool check_size(const struct leat_fabric_design *d, struct leat_fabric_error *error)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (d->plan.esp.cycles)
        return leat_fabric_refuse(error, LEAT_FABRIC_UNSOUND, d->name,
                                  "ESP routers, expected switches of cells without /esp");
    if (leat_net_shape_check(&d->plan.shape, &why)) return true; /* building it says why */
    return leat_net_topology_footprint(&d->plan.shape) <= TOPOLOGY_OCTETS_MAX ||
           refuse_ports(d, "too many", error);
}

static bool check(const struct leat_fabric_cells *c, struct leat_fabric_error *error)
{
    const uint32_t ports = c->built.topology.terminals;
    char text[16];
    snprintf(text, sizeof text, "%u", ports);
    if (ports < 2 || ports > LEAT_FABRIC_CELLS_PORTS_MAX)
        return refuse_ports(&c->design, text, error);
    return leat_fabric_is_safe(&c->design, &c->built, error);
}

/* With the fewest virtual channels that cannot deadlock, unless the name says how many: cells that
 * go from one port to another can then not overtake each other. */
static bool build(struct leat_fabric_cells *c, struct leat_fabric_error *error)
{
    struct leat_net_plan *plan = &c->design.plan;
    if (plan->net.channels)
        return leat_fabric_build(&c->design, &c->built, error) && check(c, error);
    for (;;) {
        plan->routing.channels = ++plan->net.channels;
        if (leat_fabric_build(&c->design, &c->built, error) && check(c, error)) return true;
        if (plan->net.channels == CHANNELS_MAX) return false;
        leat_fabric_built_free(&c->built);
    }
}

/* "one of stm1, e1, ..." */
static void put_lines(struct leat_text *text)
{
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        leat_text_puts(text, i ? " " : "");
        leat_text_puts(text, leat_atm_lines[i].name);
    }
}

static bool refuse_line(const char *word, const char *line, struct leat_fabric_error *error)
{
    struct leat_text known = LEAT_TEXT(WHY_CAP);
    struct leat_near near = leat_near_to(line, strlen(line));
    put_lines(&known);
    known.buf[known.len] = '\0';
    leat_near_try_all(&near, known.buf);
    for (const char *rest = word; *rest;) {
        const struct word piece = leat_fabric_piece(&rest);
        struct word value;
        if (!leat_fabric_value(piece, "line", &value)) continue;
        return leat_fabric_wrong_name(error, (size_t)(piece.text - word), piece.len,
                                      "'%s' is no line, %sexpected one of %s", line, near.text,
                                      known.buf);
    }
    abort(); /* the design has it from this word */
}

/* What its wires are, and how long a cell takes on them. */
static bool read_line(const char *word, struct leat_fabric_cells *c,
                      struct leat_fabric_error *error)
{
    const struct leat_net_plan *plan = &c->design.plan;
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    struct leat_sim_clock slot;
    if (!*plan->line) return true;
    c->graph.line = leat_atm_line_find(plan->line, strlen(plan->line));
    if (!c->graph.line) return refuse_line(word, plan->line, error);
    if (!leat_sim_atm_line_slot(c->graph.line, &plan->clock, &slot, &why)) return true;
    return leat_fabric_refuse(error, LEAT_FABRIC_UNSOUND, c->design.name, "%.*s", (int)why.len,
                              why.buf);
}

bool leat_fabric_cells_read(const char *word, bool (*interrupted)(void),
                            struct leat_fabric_cells *c, struct leat_sim_atm_fabric *fabric,
                            char *name, struct leat_fabric_error *error)
{
    struct leat_fabric_design *d = &c->design;
    if (!leat_fabric_design_read(word, true, interrupted, d, error) || !check_size(d, error))
        return false;
    d->plan.net.in_order = d->plan.routing.in_order = true;
    if (!build(c, error)) return false;
    memcpy(name, d->name, sizeof d->name);
    c->graph = (struct leat_sim_atm_graph){ .topology = &c->built.topology,
                                            .routing = c->built.routing,
                                            .net = d->plan.net,
                                            .seed = 1,
                                            .error_seed = 1 };
    if (!read_line(word, c, error)) return false;
    *fabric = (struct leat_sim_atm_fabric){ .graph = &c->graph,
                                            .buffer_cells = d->plan.net.buffer_flits,
                                            .period_ps_num = d->plan.clock.num,
                                            .period_ps_den = d->plan.clock.den };
    leat_atm_clos_init_other(&fabric->net, c->built.topology.terminals);
    return true;
}

void leat_fabric_cells_free(struct leat_fabric_cells *c)
{
    leat_fabric_design_free(&c->design);
    leat_fabric_built_free(&c->built);
}
