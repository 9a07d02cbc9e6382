/* From a word to a network: parses it, builds topology and routing, checks for deadlock. */
#include "fabric_flits.h"
#include "fabric_word_parts.h"
#include <stdlib.h>

enum { WHY_CAP = 2048 };

/* The end of a file name in a word, found by its extension; NULL: there is none. */
static const char *file_end(const char *word, bool *yaml)
{
    static const struct {
        const char *ending;
        bool yaml;
    } endings[] = { { ".edges", false }, { ".yaml", true }, { ".yml", true } };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t len = strlen(endings[i].ending);
        for (const char *at = word; (at = strstr(at, endings[i].ending)); at += len)
            if (at[len] == '\0' || at[len] == '/') {
                *yaml = endings[i].yaml;
                return at + len;
            }
    }
    return NULL;
}

bool leat_fabric_is_of_cells(const char *name)
{
    bool yaml;
    const char *end = file_end(name, &yaml), *rest = end ? end : name;
    while (*rest)
        if (is_word(leat_fabric_piece(&rest), "cells")) return true;
    return false;
}

static bool matches(const char *name)
{
    bool yaml;
    return !leat_fabric_is_of_cells(name) && (file_end(name, &yaml) || leat_net_plan_is(name));
}

/* The name of a file and its parameters, which begin at `end`; "/cells" comes first. */
static void put_name(const char *word, const char *end, bool has_cells,
                     struct leat_fabric_design *d)
{
    struct leat_text name;
    leat_text_init(&name, d->name, sizeof d->name - 1, NULL, NULL);
    leat_text_put(&name, word, (size_t)(end - word));
    if (has_cells) leat_text_puts(&name, "/cells");
    for (const char *rest = end + (*end == '/'); *rest;) {
        const struct word piece = leat_fabric_piece(&rest);
        if (has_cells && is_word(piece, "cells")) continue;
        leat_text_puts(&name, "/");
        leat_text_put(&name, piece.text, piece.len);
    }
    d->name[name.len] = '\0';
}

/* A file, whose name has `len` characters, as a graph with the defaults. */
static bool read_file(const char *name, size_t len, bool yaml, bool has_cells,
                      bool (*interrupted)(void), struct leat_fabric_design *d,
                      struct leat_fabric_error *error)
{
    char *file = leat_fabric_take(1, len + 1, error);
    *d = (struct leat_fabric_design){ .file = file };
    if (!file) return false;
    memcpy(file, name, len);
    put_name(name, name + len, has_cells, d);
    leat_net_plan_default(LEAT_NET_GRAPH, has_cells, &d->plan);
    return (yaml ? leat_fabric_read_yaml : leat_fabric_read_edges)(file, interrupted, d, error);
}

bool leat_fabric_graph_read(const char *file, bool (*interrupted)(void),
                            struct leat_fabric_design *d, struct leat_fabric_error *error)
{
    return read_file(file, strlen(file), false, false, interrupted, d, error);
}

/* The parameters after the name of a file. */
static bool read_parameters(const char *word, const char *end, struct leat_fabric_design *d,
                            struct leat_fabric_error *error)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (*end) d->routing_line = d->switch_line = 0;
    if (!leat_net_plan_parameters(end, &d->plan, &why)) return true;
    return leat_fabric_wrong_name(error, (size_t)(end - word), strlen(end), "%.*s", (int)why.len,
                                  why.buf);
}

static leat_err parse(const char *name, void *out, struct leat_text *why)
{
    return leat_net_plan_parse(name, out, why);
}

static leat_err parse_cells(const char *name, void *out, struct leat_text *why)
{
    return leat_net_plan_parse_cells(name, out, why);
}

bool leat_fabric_design_read(const char *word, bool has_cells, bool (*interrupted)(void),
                             struct leat_fabric_design *d, struct leat_fabric_error *error)
{
    struct leat_text name;
    bool yaml;
    const char *end = file_end(word, &yaml);
    *d = (struct leat_fabric_design){ .file = NULL };
    if (end)
        return read_file(word, (size_t)(end - word), yaml, has_cells, interrupted, d, error) &&
               read_parameters(word, end, d, error);
    if (!leat_fabric_parse(word, has_cells ? parse_cells : parse, &d->plan, error)) return false;
    leat_text_init(&name, d->name, sizeof d->name - 1, NULL, NULL);
    leat_net_plan_name(&d->plan, &name);
    d->name[name.len] = '\0';
    return true;
}

void leat_fabric_design_free(struct leat_fabric_design *d)
{
    free(d->edge);
    free(d->edge_line);
    free(d->terminal_at);
    free(d->entry);
    free((char *)d->file);
    *d = (struct leat_fabric_design){ .file = NULL };
}

/* For the file, at `line`; 0: for what is not written in it. */
static bool refuse(const struct leat_fabric_design *d, enum leat_fabric_fault code, uint32_t line,
                   const struct leat_text *why, struct leat_fabric_error *error)
{
    const bool in_file = d->file && line;
    leat_fabric_refuse(error, code == LEAT_FABRIC_UNSOUND && in_file ? LEAT_FABRIC_FILE : code,
                       in_file ? d->file : d->name, "%.*s", (int)why->len, why->buf);
    if (in_file) error->line = line;
    return false;
}

/* The line of a wire in one direction; 0: it is not in the file. */
static uint32_t wire_line(const struct leat_fabric_design *d, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; d->edge_line && i < d->plan.shape.edges; i++)
        if (d->edge[i].one_way && d->edge[i].a == from && d->edge[i].b == to)
            return d->edge_line[i];
    return 0;
}

static bool refuse_routing(const struct leat_fabric_design *d,
                           const struct leat_net_routing_fault *fault, const struct leat_text *why,
                           struct leat_fabric_error *error)
{
    uint32_t line = 0;
    if (fault->place == LEAT_NET_AT_WIRE) line = wire_line(d, fault->from, fault->to);
    if (fault->place == LEAT_NET_AT_ENTRY) line = d->entry[fault->entry].line;
    return refuse(d, LEAT_FABRIC_UNSOUND, line ? line : d->routing_line, why, error);
}

/* The lowest output port of a router that leads to another one; LEAT_NET_NONE: there is none. */
static uint32_t port_to(const struct leat_net_topology *t, uint32_t router, uint32_t next)
{
    for (uint32_t out = t->out_first[router]; out < t->out_first[router + 1]; out++)
        if (leat_net_behind(t, out) == next) return out - t->out_first[router];
    return LEAT_NET_NONE;
}

/* The lines of a table, with ports instead of routers. */
static bool make_entries(const struct leat_fabric_design *d, struct leat_fabric_built *b,
                         struct leat_fabric_error *error)
{
    const struct leat_net_topology *t = &b->topology;
    if (!d->entries) return true;
    b->entry = leat_fabric_take(d->entries, sizeof *b->entry, error);
    if (!b->entry) return false;
    for (uint32_t i = 0; i < d->entries; i++) {
        const struct leat_fabric_entry *e = &d->entry[i];
        const struct leat_fabric_place place = { d->file, e->line, error, NULL };
        if (e->at >= t->routers || e->to >= t->routers || e->by >= t->routers)
            return leat_fabric_wrong(&place, "at %u, to %u, by %u: expected routers of 0 to %u",
                                     e->at, e->to, e->by, t->routers - 1);
        const uint32_t port = port_to(t, e->at, e->by);
        if (port == LEAT_NET_NONE)
            return leat_fabric_wrong(&place,
                                     "at %u by %u: expected a router that a wire of %u leads to",
                                     e->at, e->by, e->at);
        b->entry[i] = (struct leat_net_route_entry){ e->at, e->to, port };
    }
    b->routing_config.entry = b->entry;
    b->routing_config.entries = d->entries;
    return true;
}

/* share: NULL: all of it. */
static bool build_topology(const struct leat_fabric_design *d, const struct leat_net_share *share,
                           struct leat_fabric_built *b, struct leat_text *why,
                           struct leat_fabric_error *error)
{
    const struct leat_net_shape *shape = &d->plan.shape;
    const bool any_number = shape->kind == LEAT_NET_GRAPH || leat_net_shape_dimensions(shape);
    if (shape->terminals != 1 && !any_number) {
        leat_text_puts(why, "terminals, expected none: a ");
        leat_text_puts(why, leat_net_kind_name(shape->kind));
        leat_text_puts(why, " has its own");
        return refuse(d, LEAT_FABRIC_UNSOUND, d->line, why, error);
    }
    if (leat_net_shape_check(&d->plan.shape, why))
        return refuse(d, LEAT_FABRIC_UNSOUND, d->line, why, error);
    b->topology_memory = leat_fabric_take(1, leat_net_topology_footprint(&d->plan.shape), error);
    if (!b->topology_memory) return false;
    const leat_err err =
        share ? leat_net_topology_build_share(&b->topology, shape, share, b->topology_memory, why)
              : leat_net_topology_build(&b->topology, shape, b->topology_memory, why);
    return !err || refuse(d, LEAT_FABRIC_UNSOUND, d->line, why, error);
}

static bool build_routing(const struct leat_fabric_design *d, struct leat_fabric_built *b,
                          struct leat_text *why, struct leat_fabric_error *error)
{
    b->routing_config = d->plan.routing;
    if (!make_entries(d, b, error)) return false;
    struct leat_net_routing_fault fault = { .place = LEAT_NET_AT_RULE };
    if (leat_net_routing_check(&b->topology, &b->routing_config, why, &fault))
        return refuse_routing(d, &fault, why, error);
    b->routing_memory = leat_fabric_take(
        1, leat_net_routing_footprint(&b->topology, &b->routing_config), error);
    if (!b->routing_memory) return false;
    b->routing = leat_net_routing_init(&b->topology, &b->routing_config, b->routing_memory);
    return true;
}

static bool find_deadlocks(const struct leat_fabric_design *d, struct leat_fabric_built *b,
                           struct leat_fabric_error *error)
{
    b->deadlock_memory = leat_fabric_take(
        1, leat_net_deadlock_footprint(&d->plan.shape, &b->routing_config), error);
    if (!b->deadlock_memory) return false;
    leat_net_deadlock_find(&b->topology, b->routing, &b->routing_config, b->deadlock_memory,
                           &b->deadlock);
    return true;
}

bool leat_fabric_build_topology(const struct leat_fabric_design *d, struct leat_fabric_built *b,
                                struct leat_fabric_error *error)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    memset(b, 0, sizeof *b);
    return build_topology(d, NULL, b, &why, error);
}

bool leat_fabric_build(const struct leat_fabric_design *d, struct leat_fabric_built *b,
                       struct leat_fabric_error *error)
{
    return leat_fabric_build_share(d, NULL, b, error);
}

bool leat_fabric_build_share(const struct leat_fabric_design *d, const struct leat_net_share *share,
                             struct leat_fabric_built *b, struct leat_fabric_error *error)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    struct leat_net_config net = d->plan.net;
    memset(b, 0, sizeof *b);
    if (share) net.parts = share->parts;
    if (share && !leat_net_share_suffices(&d->plan.shape, &d->plan.routing)) share = NULL;
    if (!build_topology(d, share, b, &why, error) || !build_routing(d, b, &why, error))
        return false;
    if (leat_net_check(&b->topology, &net, &why))
        return refuse(d, LEAT_FABRIC_UNSOUND, d->switch_line, &why, error);
    if (d->plan.esp.cycles && leat_net_esp_check(&b->topology, &d->plan.esp, &why))
        return refuse(d, LEAT_FABRIC_UNSOUND, d->switch_line, &why, error);
    return find_deadlocks(d, b, error);
}

/* The checks without processors are valid with them: their packets pass one wire at most. */
static bool add_processors(struct leat_fabric_built *b, struct leat_fabric_error *error)
{
    b->esp_topology_memory = leat_fabric_take(1, leat_net_processors_footprint(&b->topology),
                                              error);
    if (!b->esp_topology_memory) return false;
    leat_net_processors_add(&b->topology, b->esp_topology_memory, &b->esp_topology);
    b->esp_routing_memory = leat_fabric_take(
        1, leat_net_routing_footprint(&b->esp_topology, &b->routing_config), error);
    if (!b->esp_routing_memory) return false;
    b->esp_routing = leat_net_routing_init(&b->esp_topology, &b->routing_config,
                                           b->esp_routing_memory);
    return true;
}

void leat_fabric_built_free(struct leat_fabric_built *b)
{
    free(b->topology_memory);
    free(b->routing_memory);
    free(b->deadlock_memory);
    free(b->entry);
    free(b->esp_topology_memory);
    free(b->esp_routing_memory);
    memset(b, 0, sizeof *b);
}

/* Advice that breaks the cycle, other than what always does. Routes of a table may use any channel,
 * so more channels do not help. */
static const char *cure(const struct leat_fabric_design *d)
{
    if (d->entries) return "a table whose routes form none, ";
    if (d->plan.routing.rule == LEAT_NET_TABLE) return "";
    return d->plan.net.architecture == LEAT_NET_SWITCH_VC
               ? "classes of virtual channels (more /vcs=), "
               : "virtual channels (/switch=vc), ";
}

bool leat_fabric_is_safe(const struct leat_fabric_design *d, const struct leat_fabric_built *b,
                         struct leat_fabric_error *error)
{
    if (!b->deadlock.possible || d->plan.net.drop) return true;
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    leat_text_puts(&why, "packets can wait for each other in a cycle");
    leat_text_puts(&why, b->deadlock.smaller ? " (found in a smaller one of its kind): " : ": ");
    leat_net_deadlock_text(&b->deadlock, &why);
    refuse(d, LEAT_FABRIC_UNSAFE, d->routing_line, &why, error);
    snprintf(error->expected, sizeof error->expected,
             "expected %sanother /routing=, /full=drop (or leat sim --unsafe, to see it happen)",
             cure(d));
    return false;
}

/* ---- the kind -------------------------------------------------------------------------------- */

static bool read(struct leat_fabric *f, bool (*interrupted)(void), struct leat_fabric_error *error)
{
    struct leat_fabric_design *d = &((struct leat_fabric_flits *)f)->design;
    if (!leat_fabric_design_read(f->word, false, interrupted, d, error)) return false;
    snprintf(f->name, sizeof f->name, "%s", d->name);
    f->clock = d->plan.clock;
    return true;
}

static bool check(struct leat_fabric *f, FILE *out, struct leat_fabric_error *error)
{
    struct leat_fabric_flits *n = (struct leat_fabric_flits *)f;
    const struct leat_net_topology *t = &n->built.topology;
    if (!leat_fabric_build(&n->design, &n->built, error) ||
        !leat_fabric_is_safe(&n->design, &n->built, error))
        return false;
    fprintf(out,
            "%s: sound: %u terminals, %u routers, %u one-way wires, routing %s without deadlock\n",
            f->name, t->terminals, t->routers, t->wires,
            leat_net_rule_name(n->design.plan.routing.rule));
    return true;
}

static bool prepare_faults(struct leat_fabric_flits *n, const struct leat_net_topology *t,
                           struct leat_fabric_error *error)
{
    if (!n->faults.count) return true;
    n->player_memory = leat_fabric_take(1, leat_net_fault_player_footprint(&n->faults, t), error);
    if (!n->player_memory) return false;
    leat_net_fault_player_init(&n->player, &n->faults, t, 1, n->player_memory);
    return true;
}

static struct leat_net_config net_config(const struct leat_fabric_flits *n,
                                         const struct leat_net_topology *t, uint32_t threads)
{
    struct leat_net_config config = n->design.plan.net;
    if (threads > 1) config.parts = leat_net_parts_worth(t, threads);
    return config;
}

/* Threads for a network in parts. If the system has none, one thread does the work. */
static void lend_crew(struct leat_fabric_flits *n)
{
    struct leat_net *net = &n->replay.port.net;
    if (n->replay.port.config.contention_free) return;
    const uint32_t parts = leat_net_parts(net->topology, &net->config);
    if (parts < 2) return;
    n->base.crew = leat_crew_start(parts);
    leat_net_lend(net, leat_crew_lend(n->base.crew));
}

static bool open(struct leat_fabric *f, const struct leat_fabric_config *config,
                 struct leat_fabric_error *error)
{
    struct leat_fabric_flits *n = (struct leat_fabric_flits *)f;
    if (!n->built.routing && !leat_fabric_build(&n->design, &n->built, error)) return false;
    const bool has_esp = n->design.plan.esp.cycles && !config->contention_free;
    const struct leat_net_topology *t = has_esp ? &n->built.esp_topology : &n->built.topology;
    if (!leat_fabric_is_safe(&n->design, &n->built, error)) return false;
    if (has_esp && !n->built.esp_routing && !add_processors(&n->built, error)) return false;
    if (!prepare_faults(n, t, error)) return false;
    const struct leat_net_port_config port = {
        .topology = t,
        .routing = has_esp ? n->built.esp_routing : n->built.routing,
        .net = net_config(n, t, config->threads),
        .clock = f->clock,
        .flit_octets = config->flit_octets,
        .packet_flits = config->packet_flits,
        .head_flits = config->bare ? 0 : 1,
        .messages_max = config->messages_max,
        .contention_free = config->contention_free,
        .faults = n->player_memory && !config->contention_free ? &n->player : NULL,
        .seed = config->seed,
        .esp = has_esp ? n->design.plan.esp : (struct leat_net_esp_config){ 0 },
    };
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (leat_net_port_check(&port, &why))
        return leat_fabric_refuse(error, LEAT_FABRIC_UNSOUND, f->word, "%.*s", (int)why.len,
                                  why.buf);
    f->memory = leat_fabric_take(1, leat_net_replay_footprint(&port), error);
    if (!f->memory) return false;
    leat_net_replay_init(&n->replay, &port, f->memory);
    f->replay = &n->replay.base;
    f->replay->is_off = config->every_cycle;
    f->net = &f->replay->net;
    lend_crew(n);
    return true;
}

static void close_flits(struct leat_fabric *f)
{
    struct leat_fabric_flits *n = (struct leat_fabric_flits *)f;
    free(n->player_memory);
    leat_fabric_built_free(&n->built);
    leat_fabric_design_free(&n->design);
}

static void native(const struct leat_fabric *f, struct leat_sim_packetway_native *out)
{
    const struct leat_fabric_flits *n = (const struct leat_fabric_flits *)f;
    out->kind = LEAT_SIM_PACKETWAY_SWITCHES;
    out->topology = &n->built.topology;
    out->routing = n->built.routing;
}

static const struct leat_net_shape *shape(struct leat_fabric *f)
{
    return &((struct leat_fabric_flits *)f)->design.plan.shape;
}

static bool list(size_t index, struct leat_fabric_spelling *out)
{
    const struct leat_net_plan_spelling *spelling = leat_net_plan_list(index);
    if (spelling) *out = (struct leat_fabric_spelling){ spelling->name, spelling->text };
    return spelling;
}

/* ---- wires ----------------------------------------------------------------------------------- */

/* How many wires of its router to the same neighbour are before this one? */
static uint32_t count_parallel(const struct leat_net_topology *t, uint32_t out)
{
    uint32_t count = 0;
    for (uint32_t o = t->out_first[t->out_router[out]]; o < out; o++)
        count += leat_net_behind(t, o) == leat_net_behind(t, out);
    return count;
}

void leat_fabric_name_wire(const struct leat_net_topology *t, uint32_t out,
                           char name[LEAT_FABRIC_WIRE_CAP])
{
    const uint32_t from = t->out_router[out], to = leat_net_behind(t, out);
    const uint32_t before = to == LEAT_NET_NONE ? 0 : count_parallel(t, out);
    if (t->out_to[out] == LEAT_NET_NONE)
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "%u>nothing", from);
    else if (to == LEAT_NET_NONE &&
             (t->out_to[out] & ~LEAT_NET_TERMINAL) >= t->terminals - t->processors)
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "%u>processor", from);
    else if (to == LEAT_NET_NONE)
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "%u>port %u", from,
                 t->out_to[out] & ~LEAT_NET_TERMINAL);
    else if (before)
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "%u>%u (%u)", from, to, before + 1);
    else
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "%u>%u", from, to);
}

/* Output ports of routers. Without contention there is no network that counts. During a replay the
 * network stands still and counts nothing, so it is brought to the present. */
static bool wire(struct leat_fabric *f, uint32_t index, struct leat_fabric_wire *out)
{
    const struct leat_net *net = &((const struct leat_fabric_flits *)f)->replay.port.net;
    if (!net->out_flits || index >= net->topology->outs) return false;
    leat_sim_replay_settle(f->replay);
    const uint64_t flits = leat_net_out_flits(net, index);
    *out = (struct leat_fabric_wire){ .carries = "flits",
                                      .carried = flits,
                                      .busy_ns = leat_fabric_ns(&f->clock, flits) };
    if (out->carried) leat_fabric_name_wire(net->topology, index, out->name);
    return true;
}

const struct leat_fabric_kind leat_fabric_kind_flits = { .id = "flits",
                                                         .what = "a network of switches",
                                                         .size = sizeof(struct leat_fabric_flits),
                                                         .list = list,
                                                         .matches = matches,
                                                         .reads_any = true,
                                                         .read = read,
                                                         .check = check,
                                                         .open = open,
                                                         .close = close_flits,
                                                         .native = native,
                                                         .shape = shape,
                                                         .wire = wire };

struct leat_fabric_flits *leat_fabric_as_flits(struct leat_fabric *fabric)
{
    return fabric->kind == &leat_fabric_kind_flits ? (struct leat_fabric_flits *)fabric : NULL;
}
