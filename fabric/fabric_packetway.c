/* From a word to a PacketWay network: finds its description, builds its SANs, joins them. */
#include "fabric_packetway.h"
#include "crew.h"
#include <string.h>
#include <unistd.h>

enum {
    SAN_MESSAGES_MAX = 1 << 17, /* of a small network */
    SAN_MESSAGES_MIN = 1 << 15, /* of a large one */
    PORT_MESSAGES_MAX = 2 * LEAT_SIM_PACKETWAY_WINDOW + LEAT_SIM_PACKETWAY_CONTROL,
    SMALL_SANS = 64,
    SEARCH_LEN = 1 << 16,
    MTU_DEFAULT = 512,
    PS_PER_NS = 1000,
    TEXT_LEN_MAX = 1024,
    THREAD_PORTS = 128,      /* with fewer, threads would wait more than work */
    INNER_NAME_LEN_MAX = 64, /* of a wire in its SAN */
};
_Static_assert(INNER_NAME_LEN_MAX + LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 3 <= LEAT_FABRIC_WIRE_CAP &&
                   3 * LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 4 <= LEAT_FABRIC_WIRE_CAP,
               "a wire's name holds that of its SAN, or of its router and two SANs");

/* ---- finding -------------------------------------------------------------------------------- */

/* Does a line near its beginning start with sans:? */
static bool describes_sans(const char *file)
{
    char line[256];
    bool found = false;
    FILE *in = fopen(file, "r");
    if (!in) return false;
    for (size_t seen = 0; !found && seen < SEARCH_LEN && fgets(line, sizeof line, in);
         seen += strlen(line))
        found = strncmp(line, "sans:", 5) == 0;
    fclose(in);
    return found;
}

/* One of the descriptions that come with leat: next to the build, or installed. */
static bool find_shared(const char *word, char *out)
{
    static const char *const places[] = { "../share/leat/fabrics", "../../../share/fabrics" };
    char own[LEAT_FABRIC_FILE_CAP / 2];
    if (!*word || strlen(word) > 64 ||
        word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-")] != '\0')
        return false;
    const ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    if (len <= 0) return false;
    own[len] = '\0';
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(out, LEAT_FABRIC_FILE_CAP, "%s/%s/%s.yaml", own, places[i], word);
        if (describes_sans(out)) return true;
    }
    return false;
}

static bool find_file(const char *word, char *out)
{
    const char *end = strrchr(word, '.');
    if (!end || (strcmp(end, ".yaml") != 0 && strcmp(end, ".yml") != 0))
        return find_shared(word, out);
    snprintf(out, LEAT_FABRIC_FILE_CAP, "%s", word);
    return describes_sans(word);
}

static bool list(size_t index, struct leat_fabric_spelling *out)
{
    static const struct leat_fabric_spelling spelling[] = {
        { "twosan", "PacketWay: a token ring and clos444, joined by a router" },
        { "threesan", "PacketWay: a token ring, clos444 and a mesh, three routers" },
        { "FILE.yaml", "PacketWay, where it has sans: and routers:" },
    };
    if (index >= sizeof spelling / sizeof *spelling) return false;
    *out = spelling[index];
    return true;
}

/* Of those that come with leat. */
static bool is_listed(const char *name)
{
    struct leat_fabric_spelling each;
    for (size_t i = 0; list(i, &each); i++)
        if (!strcmp(each.name, name)) return true;
    return false;
}

static bool matches(const char *name)
{
    char file[LEAT_FABRIC_FILE_CAP];
    return find_file(name, file) || is_listed(name);
}

static bool read_it(struct leat_fabric *f, bool (*interrupted)(void),
                    struct leat_fabric_error *error)
{
    struct leat_fabric_sans *d = &((struct leat_fabric_packetway *)f)->design;
    *d = (struct leat_fabric_sans){ .cut_through = true,
                                    .buffer = 16,
                                    .host_ns = 500,
                                    .planned_ns = 200,
                                    .address_ns = 5000,
                                    .link_ns = 100 };
    snprintf(d->name, sizeof d->name, "%s", f->word);
    snprintf(f->name, sizeof f->name, "%s", f->word);
    f->clock = (struct leat_sim_clock){ PS_PER_NS, 1 };
    if (!find_file(f->word, d->file))
        return leat_fabric_refuse(error, LEAT_FABRIC_FILE, d->file,
                                  "not there; %s needs the files that come with leat, expected an "
                                  "installed leat or one in its build folder",
                                  f->word);
    return leat_fabric_read_sans(d, interrupted, error);
}

/* ---- building ------------------------------------------------------------------------------- */

/* Errors of a SAN's fabric are reported at its line. */
static bool refuse_part(const struct leat_fabric_place *place, const char *word)
{
    const struct leat_fabric_error inner = *place->error;
    char text[LEAT_FABRIC_TEXT_CAP];
    if (inner.code == LEAT_FABRIC_INTERRUPTED || inner.code == LEAT_FABRIC_NO_MEMORY) return false;
    leat_fabric_error_text(&inner, word, text, sizeof text);
    return leat_fabric_wrong(place, "fabric: %s cannot be built: %.*s", word, TEXT_LEN_MAX, text);
}

/* A SAN may have all packets of all hosts in flight, of which it has a part in a large network. */
static uint32_t messages_of(const struct leat_fabric_packetway *b, uint32_t ports)
{
    const uint32_t all = LEAT_SIM_PACKETWAY_NODES_MAX * PORT_MESSAGES_MAX,
                   own = (ports + LEAT_PACKETWAY_BUDDIES_MAX) * PORT_MESSAGES_MAX;
    if (own > SAN_MESSAGES_MAX) return all;
    if (b->design.sans <= SMALL_SANS) return SAN_MESSAGES_MAX;
    return own > SAN_MESSAGES_MIN ? own : SAN_MESSAGES_MIN;
}

static bool open_part(struct leat_fabric_packetway *b, const struct leat_fabric_config *config,
                      const struct leat_fabric_place *place, uint32_t index)
{
    const char *word = b->design.san[index].fabric;
    struct leat_fabric *part = b->part[index] = leat_fabric_read(word, NULL, place->error);
    struct leat_fabric_config one = *config;
    one.messages_max = messages_of(b, part ? part->ports : 0);
    one.threads = 1; /* each thread has SANs of its own */
    if (part && !part->kind->native)
        return leat_fabric_wrong(place, "fabric: %s is %s itself, expected one SAN", word,
                                 part->kind->what);
    return (part && leat_fabric_open(part, &one, place->error)) || refuse_part(place, word);
}

static uint32_t count_wires(struct leat_fabric *part)
{
    struct leat_fabric_wire wire;
    uint32_t count = 0;
    while (part->kind->wire && part->kind->wire(part, count, &wire))
        count++;
    return count;
}

static bool open_san(struct leat_fabric_packetway *b, const struct leat_fabric_config *config,
                     uint32_t index, struct leat_fabric_error *error)
{
    const struct leat_fabric_sans *d = &b->design;
    const struct leat_fabric_san *s = &d->san[index];
    const struct leat_fabric_place place = { d->file, s->fabric_line, error, NULL };
    const struct leat_fabric_place mtu_place = { d->file, s->mtu_line, error, NULL };
    if (!open_part(b, config, &place, index)) return false;
    const struct leat_fabric *part = b->part[index];
    b->wires[index] = count_wires(b->part[index]);
    struct leat_sim_packetway_native native = { .ports = part->ports };
    part->kind->native(part, &native);
    uint32_t mtu = s->mtu_words;
    if (native.words_max && native.words_max < LEAT_SIM_PACKETWAY_MTU_MIN)
        return leat_fabric_wrong(&place, "fabric: %s has frames of %u words, expected %d or more",
                                 s->fabric, native.words_max, LEAT_SIM_PACKETWAY_MTU_MIN);
    if (!mtu)
        mtu = native.words_max && native.words_max < MTU_DEFAULT ? native.words_max : MTU_DEFAULT;
    if (native.words_max && mtu > native.words_max)
        return leat_fabric_wrong(&mtu_place,
                                 "mtu: %u, expected up to %u, which one frame of %s holds", mtu,
                                 native.words_max, part->name);
    b->san[index] = (struct leat_sim_packetway_san){ .name = s->name,
                                                     .net = part->net,
                                                     .native = native,
                                                     .bias = s->bias,
                                                     .mtu_words = mtu,
                                                     .q = (uint16_t)s->q };
    return true;
}

/* Checks address blocks, now that the number of ports of each SAN is known. */
static bool check_biases(const struct leat_fabric_packetway *b, struct leat_fabric_error *error)
{
    const struct leat_fabric_sans *d = &b->design;
    for (uint32_t i = 0; i < d->sans; i++) {
        const struct leat_fabric_place place = { d->file, d->san[i].bias_line, error, NULL };
        const struct leat_packetway_block one = { d->san[i].bias, b->san[i].net->ports };
        if (leat_packetway_block_check(&one))
            return leat_fabric_wrong(&place,
                                     "bias: 0x%x with %u ports, expected addresses up to 0x%x",
                                     one.bias, one.count, LEAT_PACKETWAY_ADDRESS_MAX);
        for (uint32_t k = 0; k < i; k++) {
            const struct leat_packetway_block other = { d->san[k].bias, b->san[k].net->ports };
            if (one.bias > other.bias + other.count || other.bias > one.bias + one.count) continue;
            return leat_fabric_wrong(
                &place,
                "bias: 0x%x, expected none of 0x%x to 0x%x, which are those of %s (line "
                "%u)",
                one.bias, other.bias > one.count ? other.bias - one.count : 0,
                other.bias + other.count, d->san[k].name, d->san[k].bias_line);
        }
    }
    return true;
}

/* Does the port of an end exist, without another end? */
static bool check_end(const struct leat_fabric_packetway *b, uint32_t router, uint32_t index,
                      struct leat_fabric_error *error)
{
    const struct leat_fabric_sans *d = &b->design;
    const struct leat_fabric_router *r = &d->router[router];
    const struct leat_sim_packetway_end *end = &r->end[index];
    const struct leat_fabric_san *san = &d->san[end->san];
    const struct leat_fabric_place place = { d->file, r->end_line[index], error, NULL };
    if (end->port >= b->san[end->san].net->ports)
        return leat_fabric_wrong(&place, "at: %s.%u, expected a port of 0 to %u", san->name,
                                 end->port, b->san[end->san].net->ports - 1);
    for (uint32_t i = 0; i < index; i++)
        if (r->end[i].san == end->san)
            return leat_fabric_wrong(&place, "at: %s twice, expected different SANs", san->name);
    for (uint32_t i = 0; i < router; i++)
        for (uint32_t k = 0; k < d->router[i].ends; k++)
            if (d->router[i].end[k].san == end->san && d->router[i].end[k].port == end->port)
                return leat_fabric_wrong(
                    &place,
                    "at: %s.%u has address 0x%x, which is that of %s (line %u), expected "
                    "another",
                    san->name, end->port, san->bias + 1 + end->port, d->router[i].name,
                    d->router[i].end_line[k]);
    return true;
}

/* Are the ports of a host with a name hosts' ports, and no other's? */
static bool check_host(const struct leat_fabric_packetway *b, uint32_t host, uint32_t index,
                       struct leat_fabric_error *error)
{
    const struct leat_fabric_sans *d = &b->design;
    const struct leat_fabric_host *h = &d->host[host];
    const struct leat_sim_packetway_end *end = &h->home.end[index];
    const struct leat_fabric_san *san = &d->san[end->san];
    const struct leat_fabric_place place = { d->file, h->at_line, error, NULL };
    if (end->port >= b->san[end->san].net->ports)
        return leat_fabric_wrong(&place, "at: %s.%u, expected a port of 0 to %u", san->name,
                                 end->port, b->san[end->san].net->ports - 1);
    for (uint32_t i = 0; i < d->routers; i++)
        for (uint32_t k = 0; k < d->router[i].ends; k++)
            if (d->router[i].end[k].san == end->san && d->router[i].end[k].port == end->port)
                return leat_fabric_wrong(
                    &place, "at: %s.%u is a half-router of %s (line %u), expected another",
                    san->name, end->port, d->router[i].name, d->router[i].end_line[k]);
    for (uint32_t i = 0; i <= host; i++)
        for (uint32_t k = 0; k < (i < host ? d->host[i].home.ends : index); k++)
            if (d->host[i].home.end[k].san == end->san && d->host[i].home.end[k].port == end->port)
                return leat_fabric_wrong(&place, "at: %s.%u is of %s (line %u), expected another",
                                         san->name, end->port, d->host[i].name, d->host[i].at_line);
    return true;
}

static bool take_hosts(struct leat_fabric_packetway *b, struct leat_fabric_error *error)
{
    const struct leat_fabric_sans *d = &b->design;
    for (uint32_t i = 0; i < d->hosts; i++) {
        b->home[i] = d->host[i].home;
        b->home[i].name = d->host[i].name;
        for (uint32_t k = 0; k < b->home[i].ends; k++)
            if (!check_host(b, i, k, error)) return false;
    }
    return true;
}

/* Are all SANs connected? Searches from the first one through routers. */
static bool check_joined(const struct leat_fabric_sans *d, struct leat_fabric_error *error)
{
    bool reached[LEAT_SIM_PACKETWAY_SANS_MAX] = { true };
    for (uint32_t round = 0; round < d->routers; round++)
        for (uint32_t i = 0; i < d->routers; i++) {
            const struct leat_fabric_router *r = &d->router[i];
            bool any = false;
            for (uint32_t k = 0; k < r->ends; k++)
                any |= reached[r->end[k].san];
            for (uint32_t k = 0; k < r->ends; k++)
                reached[r->end[k].san] |= any;
        }
    for (uint32_t i = 0; i < d->sans; i++) {
        const struct leat_fabric_place place = { d->file, d->san[i].line, error, NULL };
        if (!reached[i])
            return leat_fabric_wrong(
                &place, "name: no router joins %s to %s, expected all SANs to be joined",
                d->san[i].name, d->san[0].name);
    }
    return true;
}

static bool take_routers(struct leat_fabric_packetway *b, struct leat_fabric_error *error)
{
    const struct leat_fabric_sans *d = &b->design;
    for (uint32_t i = 0; i < d->routers; i++) {
        const struct leat_fabric_router *r = &d->router[i];
        b->router[i] = (struct leat_sim_packetway_router){ .name = r->name, .ends = r->ends };
        memcpy(b->router[i].end, r->end, sizeof r->end);
        for (uint32_t k = 0; k < r->ends; k++)
            if (!check_end(b, i, k, error)) return false;
    }
    return true;
}

static void configure(struct leat_fabric_packetway *b, const struct leat_fabric_config *config)
{
    const struct leat_fabric_sans *d = &b->design;
    b->config = (struct leat_sim_packetway_config){
        .san = b->san,
        .sans = d->sans,
        .router = b->router,
        .routers = d->routers,
        .home = b->home,
        .homes = d->hosts,
        .fault = d->fault,
        .faults = config->contention_free ? 0 : d->faults,
        .by_address = d->by_address,
        .cut_through = d->cut_through,
        .contention_free = config->contention_free,
        .messages_max = config->messages_max,
        .buffer = d->buffer,
        .host_ps = (leat_time)d->host_ns * PS_PER_NS,
        .planned_ps = (leat_time)d->planned_ns * PS_PER_NS,
        .address_ps = (leat_time)d->address_ns * PS_PER_NS,
        .link_ps = (leat_time)d->link_ns * PS_PER_NS,
        .watch = b->watch,
    };
}

/* Threads that run SANs at the same time, each with enough ports that it is worth it. If the system
 * has none, one does the work. */
static void lend_crew(struct leat_fabric_packetway *b, uint32_t threads)
{
    const uint32_t most = b->net.nodes / THREAD_PORTS;
    if (threads > b->design.sans) threads = b->design.sans;
    if (threads > most) threads = most;
    if (threads < 2) return;
    b->base.crew = leat_crew_start(threads);
    leat_sim_packetway_lend(&b->net, leat_crew_lend(b->base.crew));
}

static bool open(struct leat_fabric *f, const struct leat_fabric_config *config,
                 struct leat_fabric_error *error)
{
    struct leat_fabric_packetway *b = (struct leat_fabric_packetway *)f;
    const struct leat_fabric_sans *d = &b->design;
    for (uint32_t i = 0; i < d->sans; i++)
        if (!open_san(b, config, i, error)) return false;
    if (!check_biases(b, error) || !take_routers(b, error) || !take_hosts(b, error) ||
        !check_joined(d, error))
        return false;
    configure(b, config);
    struct leat_text why = LEAT_TEXT(256);
    if (leat_sim_packetway_check(&b->config, &why))
        return leat_fabric_refuse(error, LEAT_FABRIC_FILE, d->file, "%.*s", (int)why.len, why.buf);
    f->memory = leat_fabric_take(1, leat_sim_packetway_footprint(&b->config), error);
    if (!f->memory) return false;
    leat_sim_packetway_init(&b->net, &b->config, f->memory);
    if (leat_sim_packetway_reach(&b->net, &why))
        return leat_fabric_refuse(error, LEAT_FABRIC_FILE, d->file, "%.*s", (int)why.len, why.buf);
    f->net = &b->net.base;
    lend_crew(b, config->threads);
    return true;
}

static void close_parts(struct leat_fabric *f)
{
    struct leat_fabric_packetway *b = (struct leat_fabric_packetway *)f;
    for (uint32_t i = 0; i < LEAT_SIM_PACKETWAY_SANS_MAX; i++)
        leat_fabric_close(b->part[i]);
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static bool check(struct leat_fabric *f, FILE *out, struct leat_fabric_error *error)
{
    const struct leat_fabric_sans *d = &((struct leat_fabric_packetway *)f)->design;
    if (!leat_fabric_open(f, &(struct leat_fabric_config){ .messages_max = 1 }, error))
        return false;
    fprintf(out, "%s: sound: %u port%s, %u SAN%s, %u router%s\n", f->word, f->ports,
            plural(f->ports), d->sans, plural(d->sans), d->routers, plural(d->routers));
    return true;
}

/* ---- wires ----------------------------------------------------------------------------------- */

/* "west: ring>clos": in a router, from its half-router at a SAN to that at another. */
static void put_link(const struct leat_fabric_packetway *b, uint32_t router, uint32_t from,
                     uint32_t to, struct leat_fabric_wire *out)
{
    const struct leat_fabric_router *r = &b->design.router[router];
    const struct leat_sim_packetway_link *link = leat_sim_packetway_link(&b->net, router, from, to);
    *out = (struct leat_fabric_wire){ .carries = "packets",
                                      .carried = link->packets,
                                      .busy_ns = (double)link->busy_ps / PS_PER_NS };
    snprintf(out->name, sizeof out->name, "%s: %s>%s", r->name,
             b->design.san[r->end[from].san].name, b->design.san[r->end[to].san].name);
}

/* "mesh: 3>7": the wire that the SAN calls 3>7. */
static void put_san_wire(struct leat_fabric_packetway *b, uint32_t san, uint32_t index,
                         struct leat_fabric_wire *out)
{
    struct leat_fabric *part = b->part[san];
    struct leat_fabric_wire inner;
    part->kind->wire(part, index, &inner);
    *out = inner;
    snprintf(out->name, sizeof out->name, "%s: %.*s", b->design.san[san].name, INNER_NAME_LEN_MAX,
             inner.name);
}

/* The links of each router in both directions, then the wires of each SAN. */
static bool wire(struct leat_fabric *f, uint32_t index, struct leat_fabric_wire *out)
{
    struct leat_fabric_packetway *b = (struct leat_fabric_packetway *)f;
    for (uint32_t i = 0; i < b->design.routers; i++) {
        const uint32_t others = b->design.router[i].ends - 1, links = (others + 1) * others;
        if (index < links) {
            const uint32_t from = index / others, to = index % others;
            put_link(b, i, from, to + (to >= from), out);
            return true;
        }
        index -= links;
    }
    for (uint32_t i = 0; i < b->design.sans; i++) {
        if (index < b->wires[i]) {
            put_san_wire(b, i, index, out);
            return true;
        }
        index -= b->wires[i];
    }
    return false;
}

const struct leat_fabric_kind leat_fabric_kind_packetway = {
    .id = "packetway",
    .what = "a PacketWay network",
    .size = sizeof(struct leat_fabric_packetway),
    .list = list,
    .matches = matches,
    .read = read_it,
    .check = check,
    .open = open,
    .close = close_parts,
    .wire = wire,
};

struct leat_fabric_packetway *leat_fabric_as_packetway(struct leat_fabric *fabric)
{
    return fabric->kind == &leat_fabric_kind_packetway ? (struct leat_fabric_packetway *)fabric
                                                       : NULL;
}
