/* From a word to a PacketWay network: finds its description, builds its SANs, joins them. */
#include "fabric_word.h"
#include "leat_tree.h"
#include "pktway_design.h"
#include "place.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAN_MESSAGES_MAX = 1 << 17, LOOK_LEN = 1 << 16, MTU_DEFAULT = 512 };
_Static_assert(LEAT_SIM_PACKETWAY_NODES_MAX *(2 * LEAT_SIM_PACKETWAY_WINDOW +
                                              LEAT_SIM_PACKETWAY_CONTROL) <= SAN_MESSAGES_MAX,
               "a SAN may have all packets under way");

/* ---- finding ---------------------------------------------------------------------------------
 */

/* Is there a line that begins with sans: near its beginning? */
static bool describes_sans(const char *file)
{
    char line[256];
    bool found = false;
    FILE *in = fopen(file, "r");
    if (!in) return false;
    for (size_t seen = 0; !found && seen < LOOK_LEN && fgets(line, sizeof line, in);
         seen += strlen(line))
        found = strncmp(line, "sans:", 5) == 0;
    fclose(in);
    return found;
}

/* Of the descriptions that come with leat: beside where it was built, or where it is installed. */
static bool find_shared(const char *word, char *out)
{
    static const char *const places[] = { "../share/leat/fabrics", "../../../share/fabrics" };
    char own[PKTWAY_FILE_CAP / 2];
    if (!*word || strlen(word) > 64 ||
        word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-")] != '\0')
        return false;
    const ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    if (len <= 0) return false;
    own[len] = '\0';
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(out, PKTWAY_FILE_CAP, "%s/%s/%s.yaml", own, places[i], word);
        if (describes_sans(out)) return true;
    }
    return false;
}

static bool find_file(const char *word, char *out)
{
    const char *end = strrchr(word, '.');
    if (!end || (strcmp(end, ".yaml") != 0 && strcmp(end, ".yml") != 0))
        return find_shared(word, out);
    snprintf(out, PKTWAY_FILE_CAP, "%s", word);
    return describes_sans(word);
}

bool pktway_is(const char *word)
{
    char file[PKTWAY_FILE_CAP];
    return find_file(word, file);
}

bool pktway_read(const struct verb *verb, const char *word, struct pktway_design *d)
{
    *d = (struct pktway_design){ .cut_through = true,
                                 .buffer = 16,
                                 .host_ns = 500,
                                 .planned_ns = 200,
                                 .address_ns = 5000,
                                 .link_ns = 100 };
    snprintf(d->name, sizeof d->name, "%s", word);
    if (!find_file(word, d->file)) {
        misuse(verb,
               "%s: expected a PacketWay network here: twosan, threesan, or FILE.yaml with "
               "sans:",
               word);
        return false;
    }
    return pktway_read_yaml(d);
}

/* ---- options ---------------------------------------------------------------------------------
 */

bool pktway_read_time(const char *text, size_t len, leat_time *out)
{
    static const struct {
        const char *name;
        double ps;
    } units[] = { { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 }, { "s", 1e12 } };
    char copy[32], *end;
    if (len >= sizeof copy || !len) return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    const double value = strtod(copy, &end);
    for (size_t i = 0; end != copy && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && value >= 0 && value * units[i].ps < 1e18) {
            *out = (leat_time)(value * units[i].ps + 0.5);
            return true;
        }
    return false;
}

static bool find_router(const struct pktway_design *d, const char *name, size_t len, uint32_t *out)
{
    for (uint32_t i = 0; i < d->routers; i++)
        if (strlen(d->router[i].name) == len && strncmp(d->router[i].name, name, len) == 0) {
            *out = i;
            return true;
        }
    return false;
}

/* KIND:ROUTER[@FROM..[TO]] */
static bool read_fault(const struct pktway_design *d, const char *text, size_t len,
                       struct leat_sim_packetway_fault *out)
{
    static const char *const kinds[] = { "router:", "link:", "errors:" };
    const char *end = text + len, *at = memchr(text, '@', len);
    *out = (struct leat_sim_packetway_fault){ .to = LEAT_NEVER };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t kind = strlen(kinds[i]);
        if (len <= kind || strncmp(text, kinds[i], kind) != 0) continue;
        const char *name = text + kind;
        out->kind = (enum leat_sim_packetway_fault_kind)i;
        if (!find_router(d, name, (size_t)((at ? at : end) - name), &out->router)) return false;
        if (!at) return true;
        const char *dots = strstr(at, "..");
        if (!dots || dots >= end || !pktway_read_time(at + 1, (size_t)(dots - at - 1), &out->from))
            return false;
        if (dots + 2 == end) return true;
        return pktway_read_time(dots + 2, (size_t)(end - dots - 2), &out->to) &&
               out->to > out->from;
    }
    return false;
}

static bool read_faults(const struct arguments *args, struct pktway_design *d)
{
    const char *text = argument(args, "--fault");
    for (size_t len; text && *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        if (d->faults == LEAT_SIM_PACKETWAY_FAULTS_MAX) {
            misuse(args->verb, "--fault: one too many, expected at most %d",
                   LEAT_SIM_PACKETWAY_FAULTS_MAX);
            return false;
        }
        if (read_fault(d, text, len, &d->fault[d->faults++])) continue;
        misuse(args->verb,
               "--fault '%.*s', expected router:, link: or errors:, the name of a router, and "
               "@FROM.. or @FROM..TO, as in router:%s@1ms..2.5ms",
               (int)len, text, d->routers ? d->router[0].name : "west");
        return false;
    }
    return true;
}

bool pktway_read_options(const struct arguments *args, struct pktway_design *d)
{
    const char *forwarding = argument(args, "--forwarding");
    const char *cut_through = argument(args, "--cut-through");
    if (forwarding) {
        d->by_address = strcmp(forwarding, "address") == 0;
        if (!d->by_address && strcmp(forwarding, "planned") != 0) {
            misuse(args->verb, "--forwarding '%s', expected planned or address", forwarding);
            return false;
        }
    }
    if (cut_through) {
        d->cut_through = strcmp(cut_through, "yes") == 0;
        if (!d->cut_through && strcmp(cut_through, "no") != 0) {
            misuse(args->verb, "--cut-through '%s', expected yes or no", cut_through);
            return false;
        }
    }
    return read_faults(args, d);
}

bool pktway_refuse_foreign(const struct arguments *args, const char *word, const char *const *known)
{
    return fabric_refuse_foreign(args, word, "a PacketWay network", known);
}

bool pktway_refuse_elsewhere(const struct arguments *args, const char *word)
{
    static const char *const own[] = { "--forwarding", "--cut-through" };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (argument(args, own[i])) {
            misuse(args->verb, "%s has no meaning for %s, which is no PacketWay network", own[i],
                   word);
            return false;
        }
    return true;
}

struct run_job pktway_job(const struct arguments *args)
{
    return (struct run_job){ .verb = args->verb,
                             .args = args,
                             .library = RUN_MPI,
                             .model = LEAT_SIM_ATM_CELL,
                             .flit_octets = 16,
                             .packet_flits = 16 };
}

/* ---- building --------------------------------------------------------------------------------
 */

static struct leat_sim_packetway_native native_of(const struct run_network *n)
{
    struct leat_sim_packetway_native native = { .ports = n->net->ports };
    if (n->is_ring) {
        native.kind = LEAT_SIM_PACKETWAY_RING;
    } else if (n->is_ether) {
        native.kind = LEAT_SIM_PACKETWAY_ETHERNET;
        native.words_max = leat_sim_ether_port_single(&n->ether.config) / LEAT_PACKETWAY_WORD_LEN;
    } else if (n->load) {
        native.kind = LEAT_SIM_PACKETWAY_ATM;
        native.clos = &n->load->sim.fabric.net;
    } else {
        native.kind = LEAT_SIM_PACKETWAY_SWITCHES;
        native.topology = &n->built.topology;
        native.routing = n->built.routing;
    }
    return native;
}

static bool open_san(struct pktway_built *b, const struct run_job *job, bool contention_free,
                     uint32_t index)
{
    const struct pktway_design *d = b->design;
    const struct pktway_san *s = &d->san[index];
    const struct place place = { d->file, s->fabric_line }, mtu_place = { d->file, s->mtu_line };
    const struct arguments none = { .verb = job->verb }; /* options are of the whole */
    struct run_job one = *job;
    one.args = &none;
    one.fabric = s->fabric;
    one.record = NULL;
    one.messages_max = SAN_MESSAGES_MAX;
    if (pktway_is(s->fabric))
        return wrong(&place, "fabric: %s is a PacketWay network itself, expected one SAN",
                     s->fabric);
    if (!run_network_open(&one, contention_free, &b->network[index]))
        return wrong(&place, "fabric: %s cannot be built, expected any that leat fabric list has",
                     s->fabric);
    const struct leat_sim_packetway_native native = native_of(&b->network[index]);
    uint32_t mtu = s->mtu_words;
    if (native.words_max && native.words_max < LEAT_SIM_PACKETWAY_MTU_MIN)
        return wrong(&place, "fabric: %s has frames of %u words, expected %d or more", s->fabric,
                     native.words_max, LEAT_SIM_PACKETWAY_MTU_MIN);
    if (!mtu)
        mtu = native.words_max && native.words_max < MTU_DEFAULT ? native.words_max : MTU_DEFAULT;
    if (native.words_max && mtu > native.words_max)
        return wrong(&mtu_place, "mtu: %u, expected up to %u, which one frame of %s holds", mtu,
                     native.words_max, b->network[index].name);
    b->san[index] = (struct leat_sim_packetway_san){ .name = s->name,
                                                     .net = b->network[index].net,
                                                     .native = native,
                                                     .bias = s->bias,
                                                     .mtu_words = mtu,
                                                     .q = (uint16_t)s->q };
    return true;
}

/* Blocks of addresses, now that it is known how many ports each SAN has. */
static bool check_biases(const struct pktway_built *b)
{
    const struct pktway_design *d = b->design;
    for (uint32_t i = 0; i < d->sans; i++) {
        const struct place place = { d->file, d->san[i].bias_line };
        const struct leat_packetway_block one = { d->san[i].bias, b->san[i].net->ports };
        if (leat_packetway_block_check(&one))
            return wrong(&place, "bias: 0x%x with %u ports, expected addresses up to 0x%x",
                         one.bias, one.count, LEAT_PACKETWAY_ADDRESS_MAX);
        for (uint32_t k = 0; k < i; k++) {
            const struct leat_packetway_block other = { d->san[k].bias, b->san[k].net->ports };
            if (one.bias > other.bias + other.count || other.bias > one.bias + one.count) continue;
            return wrong(&place,
                         "bias: 0x%x, expected none of 0x%x to 0x%x, which are those of %s (line "
                         "%u)",
                         one.bias, other.bias > one.count ? other.bias - one.count : 0,
                         other.bias + other.count, d->san[k].name, d->san[k].bias_line);
        }
    }
    return true;
}

/* Is the port of an end there, and has no other end? */
static bool check_end(const struct pktway_built *b, uint32_t router, uint32_t index)
{
    const struct pktway_design *d = b->design;
    const struct pktway_router *r = &d->router[router];
    const struct leat_sim_packetway_end *end = &r->end[index];
    const struct pktway_san *san = &d->san[end->san];
    const struct place place = { d->file, r->end_line[index] };
    if (end->port >= b->san[end->san].net->ports)
        return wrong(&place, "at: %s.%u, expected a port of 0 to %u", san->name, end->port,
                     b->san[end->san].net->ports - 1);
    for (uint32_t i = 0; i < index; i++)
        if (r->end[i].san == end->san)
            return wrong(&place, "at: %s twice, expected different SANs", san->name);
    for (uint32_t i = 0; i < router; i++)
        for (uint32_t k = 0; k < d->router[i].ends; k++)
            if (d->router[i].end[k].san == end->san && d->router[i].end[k].port == end->port)
                return wrong(&place,
                             "at: %s.%u has address 0x%x, which is that of %s (line %u), expected "
                             "another",
                             san->name, end->port, san->bias + 1 + end->port, d->router[i].name,
                             d->router[i].end_line[k]);
    return true;
}

/* Are all SANs joined? From the first one, as far as routers lead. */
static bool check_joined(const struct pktway_design *d)
{
    bool reached[LEAT_SIM_PACKETWAY_SANS_MAX] = { true };
    for (uint32_t round = 0; round < d->routers; round++)
        for (uint32_t i = 0; i < d->routers; i++) {
            const struct pktway_router *r = &d->router[i];
            bool any = false;
            for (uint32_t k = 0; k < r->ends; k++)
                any |= reached[r->end[k].san];
            for (uint32_t k = 0; k < r->ends; k++)
                reached[r->end[k].san] |= any;
        }
    for (uint32_t i = 0; i < d->sans; i++) {
        const struct place place = { d->file, d->san[i].line };
        if (!reached[i])
            return wrong(&place, "name: no router joins %s to %s, expected all SANs to be joined",
                         d->san[i].name, d->san[0].name);
    }
    return true;
}

static bool take_routers(struct pktway_built *b)
{
    const struct pktway_design *d = b->design;
    for (uint32_t i = 0; i < d->routers; i++) {
        const struct pktway_router *r = &d->router[i];
        b->router[i] = (struct leat_sim_packetway_router){ .name = r->name, .ends = r->ends };
        memcpy(b->router[i].end, r->end, sizeof r->end);
        for (uint32_t k = 0; k < r->ends; k++)
            if (!check_end(b, i, k)) return false;
    }
    return true;
}

static void configure(struct pktway_built *b, bool contention_free, uint32_t messages_max,
                      const struct leat_sim_packetway_watch *watch)
{
    const struct pktway_design *d = b->design;
    const leat_time ns = 1000;
    b->config = (struct leat_sim_packetway_config){
        .san = b->san,
        .sans = d->sans,
        .router = b->router,
        .routers = d->routers,
        .fault = d->fault,
        .faults = contention_free ? 0 : d->faults,
        .by_address = d->by_address,
        .cut_through = d->cut_through,
        .contention_free = contention_free,
        .messages_max = messages_max,
        .buffer = d->buffer,
        .host_ps = d->host_ns * ns,
        .planned_ps = d->planned_ns * ns,
        .address_ps = d->address_ns * ns,
        .link_ps = d->link_ns * ns,
    };
    if (watch) b->config.watch = *watch;
}

bool pktway_open(const struct pktway_design *d, const struct run_job *job, bool contention_free,
                 uint32_t messages_max, const struct leat_sim_packetway_watch *watch,
                 struct pktway_built *b)
{
    char line[256];
    struct leat_text why;
    memset(b, 0, sizeof *b);
    b->design = d;
    b->network = net_take(d->sans, sizeof *b->network);
    if (!b->network) return false;
    for (uint32_t i = 0; i < d->sans; i++)
        if (!open_san(b, job, contention_free, i)) return false;
    if (!check_biases(b) || !take_routers(b) || !check_joined(d)) return false;
    configure(b, contention_free, messages_max, watch);
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (leat_sim_packetway_check(&b->config, &why)) {
        complain("%s: %.*s", d->file, (int)why.len, line);
        return false;
    }
    b->memory = sim_memory(leat_sim_packetway_footprint(&b->config));
    if (!b->memory) return false;
    leat_sim_packetway_init(&b->net, &b->config, b->memory);
    if (leat_sim_packetway_reach(&b->net, &why)) {
        complain("%s: %.*s", d->file, (int)why.len, line);
        return false;
    }
    return true;
}

void pktway_close(struct pktway_built *b)
{
    for (uint32_t i = 0; b->network && i < b->design->sans; i++)
        run_network_close(&b->network[i]);
    free(b->network);
    free(b->memory);
    memset(b, 0, sizeof *b);
}
