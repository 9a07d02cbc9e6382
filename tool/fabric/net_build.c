/* From a word to a network: reads what it names, builds topology and routing, looks for deadlocks.
 */
#include "lines.h"
#include "net_design.h"
#include "pktway_design.h"
#include "ring_fabric.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_CAP = 2048, WIRE_CAP = 80 };

/* Where in a word the name of a file ends, by what it ends with; NULL: it names none. */
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

bool net_is(const char *word)
{
    bool yaml;
    if (ring_fabric_is(word)) return false; /* ring16 is a token ring, ring:16 one of routers */
    return (file_end(word, &yaml) && !pktway_is(word)) || leat_net_plan_is(word);
}

static bool read_file(const struct verb *verb, const char *word, const char *end, bool yaml,
                      struct net_design *d)
{
    char line[WHY_CAP];
    struct leat_text why;
    char *file = strndup(word, (size_t)(end - word));
    if (!file) return complain("no memory"), false;
    d->file = file;
    leat_net_plan_default(LEAT_NET_GRAPH, &d->plan);
    if (!(yaml ? net_read_yaml(file, d) : net_read_edges(file, d))) return false;
    if (*end) d->routing_line = d->switch_line = 0;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (!leat_net_plan_parameters(end, &d->plan, &why)) return true;
    misuse(verb, "%s: %.*s", word, (int)why.len, line);
    return false;
}

bool net_read_graph(const char *file, struct net_design *d)
{
    *d = (struct net_design){ .file = strdup(file) };
    if (!d->file) return complain("no memory"), false;
    snprintf(d->name, sizeof d->name, "%s", file);
    leat_net_plan_default(LEAT_NET_GRAPH, &d->plan);
    return net_read_edges(d->file, d);
}

bool net_read(const struct verb *verb, const char *word, struct net_design *d)
{
    char line[WHY_CAP];
    struct leat_text why, name;
    bool yaml;
    const char *end = file_end(word, &yaml);
    *d = (struct net_design){ .file = NULL };
    if (strlen(word) >= sizeof d->name) {
        misuse(verb, "a fabric of %zu characters, expected at most %zu", strlen(word),
               sizeof d->name - 1);
        return false;
    }
    if (end) {
        strcpy(d->name, word);
        return read_file(verb, word, end, yaml, d);
    }
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (leat_net_plan_parse(word, &d->plan, &why)) {
        misuse(verb, "%.*s", (int)why.len, line);
        return false;
    }
    leat_text_init(&name, d->name, sizeof d->name - 1, NULL, NULL);
    leat_net_plan_name(&d->plan, &name);
    d->name[name.len] = '\0';
    return true;
}

void net_design_free(struct net_design *d)
{
    free(d->edge);
    free(d->edge_line);
    free(d->terminal_at);
    free(d->entry);
    free((char *)d->file);
    *d = (struct net_design){ .file = NULL };
}

/* "FABRIC: ..." or "FILE:LINE: ..."; line 0: it is not in the file. */
static bool refuse(const struct net_design *d, uint32_t line, const struct leat_text *why)
{
    if (d->file && line)
        complain("%s:%u: %.*s", d->file, line, (int)why->len, why->buf);
    else
        complain("%s: %.*s", d->name, (int)why->len, why->buf);
    return false;
}

/* The line of the wire that a refusal names because it leads one way only; 0: it names none. */
static uint32_t one_way_line(const struct net_design *d, const struct leat_text *why)
{
    char text[WHY_CAP + 1], wire[WIRE_CAP];
    snprintf(text, sizeof text, "%.*s", (int)why->len, why->buf);
    for (uint32_t i = 0; d->edge_line && i < d->plan.shape.edges; i++) {
        const struct leat_net_edge *e = &d->edge[i];
        snprintf(wire, sizeof wire, "from router %u to %u and none back", e->a, e->b);
        if (e->one_way && strstr(text, wire)) return d->edge_line[i];
    }
    return 0;
}

/* Where an entry of a table is wrong, the check begins with its number. */
static uint32_t entry_line(const struct net_design *d, const struct leat_text *why)
{
    static const char entry[] = "entry ";
    const bool named = why->len > strlen(entry) && !memcmp(why->buf, entry, strlen(entry));
    uint32_t number = 0;
    for (size_t i = strlen(entry); named && i < why->len && why->buf[i] != ' '; i++)
        number = 10 * number + (uint32_t)(why->buf[i] - '0');
    return number && number <= d->entries ? d->entry[number - 1].line : 0;
}

static bool refuse_routing(const struct net_design *d, const struct leat_text *why)
{
    const uint32_t wire = one_way_line(d, why), entry = entry_line(d, why);
    return refuse(d, wire ? wire : entry ? entry : d->routing_line, why);
}

static void *told(void *memory, size_t count, size_t size)
{
    if (!memory)
        complain("no memory: the fabric needs %.1f MB more", (double)count * (double)size / 1e6);
    return memory;
}

void *net_take(size_t count, size_t size)
{
    return told(calloc(count ? count : 1, size ? size : 1), count, size);
}

void *net_grow(void *memory, size_t count, size_t size)
{
    if (count & (count - 1)) return memory; /* it doubles at powers of two */
    const size_t cap = count ? 2 * count : 1;
    return told(realloc(memory, cap * size), cap, size);
}

/* The lowest output port of a router that leads to another one; LEAT_NET_NONE: there is none. */
static uint32_t port_to(const struct leat_net_topology *t, uint32_t router, uint32_t next)
{
    for (uint32_t out = t->out_first[router]; out < t->out_first[router + 1]; out++)
        if (leat_net_behind(t, out) == next) return out - t->out_first[router];
    return LEAT_NET_NONE;
}

/* The lines of a table, with ports in place of routers. */
static bool make_entries(const struct net_design *d, struct net_built *b)
{
    const struct leat_net_topology *t = &b->topology;
    if (!d->entries) return true;
    b->entry = net_take(d->entries, sizeof *b->entry);
    if (!b->entry) return false;
    for (uint32_t i = 0; i < d->entries; i++) {
        const struct net_entry *e = &d->entry[i];
        const struct place place = { d->file, e->line };
        if (e->at >= t->routers || e->to >= t->routers || e->by >= t->routers)
            return wrong(&place, "at %u, to %u, by %u: expected routers of 0 to %u", e->at, e->to,
                         e->by, t->routers - 1);
        const uint32_t port = port_to(t, e->at, e->by);
        if (port == LEAT_NET_NONE)
            return wrong(&place, "at %u by %u: expected a router that a wire of %u leads to", e->at,
                         e->by, e->at);
        b->entry[i] = (struct leat_net_route_entry){ e->at, e->to, port };
    }
    b->routing_config.entry = b->entry;
    b->routing_config.entries = d->entries;
    return true;
}

static bool build_topology(const struct net_design *d, struct net_built *b, struct leat_text *why)
{
    const struct leat_net_shape *shape = &d->plan.shape;
    const bool any_number = shape->kind == LEAT_NET_GRAPH || leat_net_shape_dimensions(shape);
    if (shape->terminals != 1 && !any_number) {
        leat_text_puts(why, "terminals, expected none: a ");
        leat_text_puts(why, leat_net_kind_name(shape->kind));
        leat_text_puts(why, " has its own");
        return refuse(d, d->line, why);
    }
    if (leat_net_shape_check(&d->plan.shape, why)) return refuse(d, d->line, why);
    b->topology_memory = net_take(1, leat_net_topology_footprint(&d->plan.shape));
    if (!b->topology_memory) return false;
    if (!leat_net_topology_build(&b->topology, &d->plan.shape, b->topology_memory, why))
        return true;
    return refuse(d, d->line, why);
}

static bool build_routing(const struct net_design *d, struct net_built *b, struct leat_text *why)
{
    b->routing_config = d->plan.routing;
    if (!make_entries(d, b)) return false;
    if (leat_net_routing_check(&b->topology, &b->routing_config, why))
        return refuse_routing(d, why);
    b->routing_memory = net_take(1, leat_net_routing_footprint(&b->topology, &b->routing_config));
    if (!b->routing_memory) return false;
    b->routing = leat_net_routing_init(&b->topology, &b->routing_config, b->routing_memory);
    return true;
}

static bool look_for_deadlocks(const struct net_design *d, struct net_built *b)
{
    b->deadlock_memory = net_take(1,
                                  leat_net_deadlock_footprint(&d->plan.shape, &b->routing_config));
    if (!b->deadlock_memory) return false;
    leat_net_deadlock_find(&b->topology, b->routing, &b->routing_config, b->deadlock_memory,
                           &b->deadlock);
    return true;
}

bool net_build_topology(const struct net_design *d, struct net_built *b)
{
    char line[WHY_CAP];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    memset(b, 0, sizeof *b);
    return build_topology(d, b, &why);
}

bool net_build(const struct net_design *d, struct net_built *b)
{
    char line[WHY_CAP];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    memset(b, 0, sizeof *b);
    if (!build_topology(d, b, &why) || !build_routing(d, b, &why)) return false;
    if (leat_net_check(&b->topology, &d->plan.net, &why)) return refuse(d, d->switch_line, &why);
    return look_for_deadlocks(d, b);
}

void net_built_free(struct net_built *b)
{
    free(b->topology_memory);
    free(b->routing_memory);
    free(b->deadlock_memory);
    free(b->entry);
    memset(b, 0, sizeof *b);
}

/* What breaks the circle, but for what always does. Ways of a table may take any channel, so that
 * more of them break none. */
static const char *cure(const struct net_design *d)
{
    if (d->entries) return "a table whose ways form none, ";
    if (d->plan.routing.rule == LEAT_NET_TABLE) return "";
    return d->plan.net.architecture == LEAT_NET_SWITCH_VC
               ? "classes of virtual channels (more /vcs=), "
               : "virtual channels (/switch=vc), ";
}

bool net_is_safe(const struct net_design *d, const struct net_built *b)
{
    char line[WHY_CAP];
    struct leat_text why;
    if (!b->deadlock.possible || d->plan.net.drop) return true;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    leat_text_puts(&why, "packets can wait for each other in a circle");
    leat_text_puts(&why, b->deadlock.smaller ? " (found in a smaller one of its kind): " : ": ");
    leat_net_deadlock_text(&b->deadlock, &why);
    refuse(d, d->routing_line, &why);
    complain("expected %sanother /routing=, /full=drop, or --unsafe to see it happen", cure(d));
    return false;
}
