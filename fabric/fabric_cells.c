/* Networks of switches that forward cells: their names, and what is built from them. */
#include "fabric_cells.h"
#include "fabric_kind.h"
#include "fabric_word_parts.h"
#include "sim_refuse.h"

enum {
    PIPELINE_OF_FLITS = 3, /* the default of networks of flits */
    PIPELINE = 1,          /* a switch takes a cell time */
    WHY_CAP = 512,
    TOPOLOGY_OCTETS_MAX = 1 << 26,
};

/* A name without what only fabrics of cells have; `from`: where each character comes from. */
struct stripped {
    char name[LEAT_FABRIC_NAME_CAP];
    uint16_t from[LEAT_FABRIC_NAME_CAP + 1];
    size_t len;
    struct word clock; /* of no text: none */
    bool has_pipeline, has_full, has_channels;
};

/* Cells do not wait in these switches unless /full=wait says so. */
static bool loses(const struct leat_net_config *c)
{
    return c->architecture != LEAT_NET_SWITCH_VC && c->architecture != LEAT_NET_SWITCH_XPQ;
}

bool leat_fabric_is_of_cells(const char *name)
{
    for (const char *rest = name; *rest;)
        if (is_word(leat_fabric_piece(&rest), "cells")) return true;
    return false;
}

static void keep(struct stripped *s, const char *word, struct word piece)
{
    if (piece.text != word) {
        s->from[s->len] = (uint16_t)(piece.text - word - 1);
        s->name[s->len++] = '/';
    }
    for (size_t i = 0; i < piece.len; i++) {
        s->from[s->len] = (uint16_t)(piece.text + i - word);
        s->name[s->len++] = piece.text[i];
    }
    s->name[s->len] = '\0';
    s->from[s->len] = (uint16_t)(piece.text + piece.len - word);
}

static bool strip(const char *word, struct stripped *s, struct leat_fabric_error *error)
{
    bool has_cells = false;
    *s = (struct stripped){ .len = 0 };
    for (const char *rest = word; *rest;) {
        const struct word piece = leat_fabric_piece(&rest);
        struct word value;
        bool *given = is_word(piece, "cells") ? &has_cells : NULL;
        if (given && *given)
            return leat_fabric_wrong_name(error, (size_t)(piece.text - word), piece.len,
                                          "'cells' is given twice, expected it once");
        if (given)
            *given = true;
        else if (leat_fabric_value(piece, "clock", &value) && !s->clock.text)
            s->clock = value;
        else
            keep(s, word, piece);
        s->has_pipeline |= leat_fabric_value(piece, "pipeline", &value);
        s->has_full |= leat_fabric_value(piece, "full", &value);
        s->has_channels |= leat_fabric_value(piece, "vcs", &value);
    }
    return true;
}

/* A link carries an octet a cycle, as between the switches of the prototype. */
static bool read_clock(const char *word, const struct stripped *s, struct leat_sim_clock *out,
                       struct leat_fabric_error *error)
{
    if (!s->clock.text) {
        leat_sim_must(!leat_sim_clock_init(out, LEAT_SIM_ATM_FABRIC_PERIOD_DEFAULT_PS, 1));
        return true;
    }
    if (leat_sim_clock_read(s->clock.text, s->clock.len, out)) return true;
    return leat_fabric_wrong_name(error, (size_t)(s->clock.text - word), s->clock.len, "'%s' %s",
                                  show(s->clock).text, LEAT_SIM_CLOCK_EXPECTED);
}

/* ---- the full name --------------------------------------------------------------------------- */

/* A parameter of the design's name that the full name has, too. */
static bool is_kept(const struct stripped *s, struct word piece)
{
    struct word value;
    return !leat_fabric_value(piece, "pipeline", &value) &&
           !leat_fabric_value(piece, "full", &value) &&
           !leat_fabric_value(piece, "clock", &value) &&
           (s->has_channels || !leat_fabric_value(piece, "vcs", &value));
}

/* The design's name with "/cells" behind its topology or file, and the parameters whose defaults
 * differ from those of flits. */
static void put_name(const struct stripped *s, const struct leat_fabric_design *d,
                     const struct leat_sim_clock *clock, char *name)
{
    struct leat_text text;
    const size_t first = d->file ? strlen(d->file) : strcspn(d->name, "/");
    leat_text_init(&text, name, LEAT_FABRIC_NAME_CAP - 1, NULL, NULL);
    leat_text_put(&text, d->name, first);
    leat_text_puts(&text, "/cells");
    for (const char *rest = d->name + first + (d->name[first] == '/'); *rest;) {
        const struct word piece = leat_fabric_piece(&rest);
        if (!is_kept(s, piece)) continue;
        leat_text_puts(&text, "/");
        leat_text_put(&text, piece.text, piece.len);
    }
    if (d->plan.net.drop != loses(&d->plan.net))
        leat_text_puts(&text, d->plan.net.drop ? "/full=drop" : "/full=wait");
    if (d->plan.net.pipeline != PIPELINE) {
        leat_text_puts(&text, "/pipeline=");
        leat_text_decimal(&text, d->plan.net.pipeline);
    }
    if (clock->num != LEAT_SIM_ATM_FABRIC_PERIOD_DEFAULT_PS || clock->den != 1) {
        leat_text_puts(&text, "/clock=");
        leat_sim_clock_put(clock, &text);
    }
    name[text.len] = '\0';
}

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

static bool read_design(const struct stripped *s, bool (*interrupted)(void),
                        struct leat_fabric_design *d, struct leat_fabric_error *error)
{
    if (leat_fabric_design_read(s->name, interrupted, d, error)) return true;
    if (error->code == LEAT_FABRIC_NAME && error->offset <= s->len) {
        const size_t end = error->offset + error->len;
        error->offset = s->from[error->offset];
        error->len = error->len && end <= s->len ? s->from[end - 1] + 1u - error->offset : 0;
    }
    return false;
}

/* With the fewest virtual channels that cannot deadlock, unless the name says how many: cells that
 * go from one port to another can then not overtake each other. */
static bool build(struct leat_fabric_cells *c, bool has_channels, struct leat_fabric_error *error)
{
    struct leat_net_config *net = &c->design.plan.net;
    const uint32_t most = net->channels;
    if (has_channels || net->architecture != LEAT_NET_SWITCH_VC)
        return leat_fabric_build(&c->design, &c->built, error) && check(c, error);
    for (net->channels = 1; net->channels <= most; net->channels++) {
        c->design.plan.routing.channels = net->channels;
        if (leat_fabric_build(&c->design, &c->built, error) && check(c, error)) return true;
        if (net->channels < most) leat_fabric_built_free(&c->built);
    }
    return false;
}

bool leat_fabric_cells_read(const char *word, bool (*interrupted)(void),
                            struct leat_fabric_cells *c, struct leat_sim_atm_fabric *fabric,
                            char *name, struct leat_fabric_error *error)
{
    struct stripped s;
    struct leat_sim_clock clock;
    struct leat_fabric_design *d = &c->design;
    if (!strip(word, &s, error) || !read_clock(word, &s, &clock, error) ||
        !read_design(&s, interrupted, d, error))
        return false;
    if (!s.has_pipeline && d->plan.net.pipeline == PIPELINE_OF_FLITS)
        d->plan.net.pipeline = PIPELINE;
    if (!s.has_full) d->plan.net.drop |= loses(&d->plan.net);
    if (!check_size(d, error)) return false;
    d->plan.net.in_order = d->plan.routing.in_order = true;
    if (!build(c, s.has_channels, error)) return false;
    put_name(&s, d, &clock, name);
    c->graph = (struct leat_sim_atm_graph){
        .topology = &c->built.topology, .routing = c->built.routing, .net = d->plan.net, .seed = 1
    };
    *fabric = (struct leat_sim_atm_fabric){ .graph = &c->graph,
                                            .buffer_cells = d->plan.net.buffer_flits,
                                            .period_ps_num = clock.num,
                                            .period_ps_den = clock.den };
    leat_atm_clos_init_other(&fabric->net, c->built.topology.terminals);
    return true;
}

void leat_fabric_cells_free(struct leat_fabric_cells *c)
{
    leat_fabric_design_free(&c->design);
    leat_fabric_built_free(&c->built);
}
