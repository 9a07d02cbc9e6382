#include "contracts.h"
#include "fields.h"
#include "input.h"
#include "lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUARTER = 4 };
#define NOT_GIVEN UINT32_MAX /* a threshold */

struct reader {
    struct contracts *contracts;
    struct fields line;
    unsigned *port_line; /* by port: the last line about it */
};

/* ---- values --------------------------------------------------------------------------------- */

static bool read_source(const struct reader *r, const char *text, struct leat_sim_atm_connection *c)
{
    static const char *const names[] = { [LEAT_SIM_ATM_SOURCE_GREEDY] = "greedy",
                                         [LEAT_SIM_ATM_SOURCE_RANDOM] = "random",
                                         [LEAT_SIM_ATM_SOURCE_EXCESS] = "excess:FACTOR" };
    static const char excess[] = "excess:";
    const struct fields_unit units[] = { { "", 100 } };
    size_t which = 0;
    double percent = 0;
    if (strncmp(text, excess, sizeof excess - 1) != 0) {
        if (!fields_choice(&r->line, "source", text, names, 3, &which)) return false;
        c->source = (enum leat_sim_atm_source)which;
        text = "";
        if (c->source != LEAT_SIM_ATM_SOURCE_EXCESS) return true;
    } else
        text += sizeof excess - 1;
    if (!fields_quantity(text, units, 1, &percent) || percent < 100 ||
        percent > 100.0 * CONTRACTS_EXCESS_MAX)
        return wrong(&r->line.place, "source excess:'%s', expected a factor of 1 to %d", text,
                     CONTRACTS_EXCESS_MAX);
    c->source = LEAT_SIM_ATM_SOURCE_EXCESS;
    c->excess_percent = (uint32_t)(percent + 0.5);
    return true;
}

/* ---- connections ---------------------------------------------------------------------------- */

enum {
    CBR = 1 << LEAT_ATM_CBR,
    VBR_RT = 1 << LEAT_ATM_VBR_RT,
    VBR_NRT = 1 << LEAT_ATM_VBR_NRT,
    ABR = 1 << LEAT_ATM_ABR,
    UBR = 1 << LEAT_ATM_UBR,
    VBR = VBR_RT | VBR_NRT,
    ALL = CBR | VBR | ABR | UBR,
};

enum key { FROM, TO, CLASS, PCR, SCR, MCR, MBS, CDVT, CLR, CTD, CDV, SOURCE, POLICE, SHAPE, PATH };

/* Which classes accept a key, and which require it. */
static const struct {
    const char *name;
    int known, needed;
} keys[] = {
    [FROM] = { "from", ALL, ALL },      [TO] = { "to", ALL, ALL },
    [CLASS] = { "class", ALL, ALL },    [PCR] = { "pcr", ALL, ALL & ~UBR },
    [SCR] = { "scr", VBR, VBR },        [MCR] = { "mcr", ABR, 0 },
    [MBS] = { "mbs", VBR, VBR },        [CDVT] = { "cdvt", CBR | VBR, 0 },
    [CLR] = { "clr", CBR | VBR, 0 },    [CTD] = { "ctd", CBR | VBR, 0 },
    [CDV] = { "cdv", CBR | VBR_RT, 0 }, [SOURCE] = { "source", ALL, 0 },
    [POLICE] = { "police", ALL, 0 },    [SHAPE] = { "shape", ALL, 0 },
    [PATH] = { "path", ALL, 0 },
};
enum { KEYS = sizeof keys / sizeof *keys };

static const char *const class_names[LEAT_ATM_CLASS_COUNT] = {
    [LEAT_ATM_CBR] = "cbr", [LEAT_ATM_VBR_RT] = "vbr-rt", [LEAT_ATM_VBR_NRT] = "vbr-nrt",
    [LEAT_ATM_ABR] = "abr", [LEAT_ATM_UBR] = "ubr",
};

static bool keys_fit_class(const struct reader *r, const char *const *value, size_t class)
{
    for (int k = 0; k < KEYS; k++) {
        if (value[k] && !(keys[k].known & 1 << class))
            return wrong(&r->line.place, "%s, which %s does not have, expected none", keys[k].name,
                         class_names[class]);
        if (!value[k] && keys[k].needed & 1 << class)
            return wrong(&r->line.place, "no %s, expected one: %s needs it", keys[k].name,
                         class_names[class]);
    }
    return true;
}

static bool read_contract(const struct reader *r, const char *const *value,
                          struct leat_atm_contract *c)
{
    const uint64_t least = LEAT_ATM_CONTRACT_RATE_MIN;
    const struct leat_sim_atm_fabric *f = &r->contracts->config.fabric;
    const struct fields_times times = {
        (double)f->period_ps_num / (double)f->period_ps_den * LEAT_ATM_CELL_LEN, 1
    };
    if (value[PCR] && !fields_rate(&r->line, "pcr", value[PCR], least, &c->pcr)) return false;
    if (value[SCR] && !fields_rate(&r->line, "scr", value[SCR], least, &c->scr)) return false;
    if (value[MCR] && !fields_rate(&r->line, "mcr", value[MCR], 0, &c->mcr)) return false;
    if (c->scr > c->pcr) return wrong(&r->line.place, "scr above pcr, expected at most pcr");
    if (c->mcr > c->pcr) return wrong(&r->line.place, "mcr above pcr, expected at most pcr");
    if (value[MBS] &&
        !fields_whole(&r->line, "mbs", value[MBS], 1, LEAT_ATM_CONTRACT_MBS_MAX, &c->mbs))
        return false;
    if (value[CDVT] && !fields_time(&r->line, "cdvt", value[CDVT], &times, &c->cdvt_ps))
        return false;
    if (value[CLR] && !fields_ratio(&r->line, "clr", value[CLR], &c->clr_e12)) return false;
    if (value[CTD] && !fields_time(&r->line, "ctd", value[CTD], &times, &c->ctd_ps)) return false;
    return !value[CDV] || fields_time(&r->line, "cdv", value[CDV], &times, &c->cdv_ps);
}

static bool read_ends(const struct reader *r, const char *const *value,
                      struct leat_sim_atm_connection *c)
{
    const struct leat_atm_clos *net = &r->contracts->config.fabric.net;
    uint64_t from = 0, to = 0, path = LEAT_SIM_PATH_ANY;
    if (!fields_whole(&r->line, "from", value[FROM], 0, net->ports - 1, &from)) return false;
    if (!fields_whole(&r->line, "to", value[TO], 0, net->ports - 1, &to)) return false;
    if (value[PATH] && !fields_whole(&r->line, "path", value[PATH], 0, net->paths - 1, &path))
        return false;
    c->from = (uint32_t)from;
    c->to = (uint32_t)to;
    c->path = (uint32_t)path;
    return true;
}

static bool read_access(const struct reader *r, const char *const *value,
                        struct leat_sim_atm_connection *c)
{
    static const char *const police[] = { [LEAT_SIM_ATM_POLICE_DROP] = "drop",
                                          [LEAT_SIM_ATM_POLICE_TAG] = "tag",
                                          [LEAT_SIM_ATM_POLICE_OFF] = "off" };
    static const char *const shape[] = { "off", "on" };
    size_t which = 0;
    if (value[SOURCE] && !read_source(r, value[SOURCE], c)) return false;
    if (value[POLICE]) {
        if (!fields_choice(&r->line, "police", value[POLICE], police, 3, &which)) return false;
        c->police = (enum leat_sim_atm_police)which;
    }
    if (value[SHAPE]) {
        if (!fields_choice(&r->line, "shape", value[SHAPE], shape, 2, &which)) return false;
        c->shape = which;
    }
    return true;
}

static bool read_name(struct reader *r, const char *name)
{
    struct contracts *all = r->contracts;
    const size_t len = strlen(name);
    const uint32_t count = all->config.connection_count;
    if (len > CONTRACTS_NAME_LEN_MAX ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != len)
        return wrong(&r->line.place, "'%s' is no name, expected 1 to %d letters, digits, _ . -",
                     name, CONTRACTS_NAME_LEN_MAX);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(all->name[i], name) == 0)
            return wrong(&r->line.place, "'%s' for the second time, expected a name of its own",
                         name);
    if (count == LEAT_SIM_ATM_CONNECTIONS_MAX)
        return wrong(&r->line.place, "one connection too many, expected at most %d",
                     LEAT_SIM_ATM_CONNECTIONS_MAX);
    strcpy(all->name[count], name);
    return true;
}

static bool read_connection(struct reader *r)
{
    const char *names[KEYS], *value[KEYS];
    struct contracts *all = r->contracts;
    struct leat_sim_atm_connection c = {
        .contract = { .clr_e12 = LEAT_ATM_CLR_ONE, .ctd_ps = LEAT_NEVER, .cdv_ps = LEAT_NEVER }
    };
    size_t class = 0;
    for (int k = 0; k < KEYS; k++)
        names[k] = keys[k].name;
    if (!read_name(r, r->line.word[0].text) || !fields_split(&r->line, 1, names, KEYS, value))
        return false;
    if (!value[CLASS]) return wrong(&r->line.place, "no class, expected one, as in class=cbr");
    if (!fields_choice(&r->line, "class", value[CLASS], class_names, LEAT_ATM_CLASS_COUNT, &class))
        return false;
    c.contract.class = (enum leat_atm_class) class;
    if (!keys_fit_class(r, value, class) || !read_ends(r, value, &c) ||
        !read_contract(r, value, &c.contract) || !read_access(r, value, &c))
        return false;
    all->connection[all->config.connection_count++] = c;
    return true;
}

/* ---- ports ---------------------------------------------------------------------------------- */

static bool read_port_values(const struct reader *r, const char *const *names,
                             const char *const *value, struct leat_sim_atm_contracts_port *port)
{
    const struct {
        uint32_t *to;
        uint64_t least, most;
    } fields[] = {
        { &port->cells[0], 1, LEAT_SIM_ATM_PORTS_CELLS_MAX },
        { &port->clp_cells[0], 0, LEAT_SIM_ATM_PORTS_CELLS_MAX },
        { &port->cells[1], 1, LEAT_SIM_ATM_PORTS_CELLS_MAX },
        { &port->clp_cells[1], 0, LEAT_SIM_ATM_PORTS_CELLS_MAX },
        { &port->best_cells, 1, LEAT_SIM_ATM_PORTS_CELLS_MAX },
        { &port->efci_cells, 0, LEAT_SIM_ATM_PORTS_CELLS_MAX },
        { &port->w, 1, LEAT_ATM_QUEUE_W_MAX },
    };
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        uint64_t number = 0;
        if (!value[k]) continue;
        if (!fields_whole(&r->line, names[k], value[k], fields[k].least, fields[k].most, &number))
            return false;
        *fields[k].to = (uint32_t)number;
    }
    return true;
}

static bool read_port(struct reader *r)
{
    static const char *const names[] = { "buffer",      "clp",  "nrt-buffer", "nrt-clp",
                                         "best-buffer", "efci", "w" };
    enum { PORT_KEYS = sizeof names / sizeof *names };
    const uint32_t ports = r->contracts->config.fabric.net.ports;
    const char *value[PORT_KEYS];
    uint64_t first = 0, last = ports - 1;
    if (r->line.count < 2) return wrong(&r->line.place, "port alone, expected its number or all");
    const char *which = r->line.word[1].text;
    if (strcmp(which, "all") != 0) {
        if (!fields_whole(&r->line, "port", which, 0, ports - 1, &first)) return false;
        last = first;
    }
    if (!fields_split(&r->line, 2, names, PORT_KEYS, value)) return false;
    for (uint64_t p = first; p <= last; p++) {
        if (!read_port_values(r, names, value, &r->contracts->port[p])) return false;
        r->port_line[p] = r->line.place.line;
    }
    return true;
}

/* All lines of a port have been read: missing thresholds become a quarter. */
static bool finish_ports(struct reader *r)
{
    static const char *const names[2] = { "clp", "nrt-clp" };
    for (uint32_t p = 0; p < r->contracts->config.fabric.net.ports; p++) {
        struct leat_sim_atm_contracts_port *port = &r->contracts->port[p];
        if (port->efci_cells == NOT_GIVEN) port->efci_cells = port->best_cells / QUARTER;
        for (int level = 0; level < 2; level++) {
            uint32_t *clp = &port->clp_cells[level];
            if (*clp == NOT_GIVEN) *clp = port->cells[level] / QUARTER;
            if (*clp <= port->cells[level]) continue;
            r->line.place.line = r->port_line[p];
            return wrong(&r->line.place, "port %u: %s %u, expected at most the buffer, %u", p,
                         names[level], *clp, port->cells[level]);
        }
    }
    return true;
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool read_lines(struct reader *r, const char *text, size_t len)
{
    while (len) {
        const char *end = memchr(text, '\n', len);
        const size_t line_len = end ? (size_t)(end - text) : len;
        if (!fields_cut(&r->line, text, line_len)) return false;
        if (r->line.count &&
            !(strcmp(r->line.word[0].text, "port") == 0 ? read_port(r) : read_connection(r)))
            return false;
        text += line_len + (end != NULL);
        len -= line_len + (end != NULL);
    }
    if (!r->contracts->config.connection_count) {
        r->line.place.line += !r->line.place.line;
        return wrong(&r->line.place,
                     "no connection up to the end of the file, expected at least one");
    }
    return finish_ports(r);
}

static bool read_file(struct reader *r, const char *file)
{
    struct input in;
    if (!input_open(&in, file)) return false;
    r->line.place.file = in.name;
    bool good = input_fill(&in, CONTRACTS_FILE_LEN_MAX + 1) && !interrupted;
    if (good && input_len(&in) > CONTRACTS_FILE_LEN_MAX) {
        complain("%s: longer than %d octets, expected fewer", in.name, CONTRACTS_FILE_LEN_MAX);
        good = false;
    }
    good = good && read_lines(r, (const char *)input_octets(&in), input_len(&in));
    input_close(&in);
    return good;
}

bool contracts_read(struct contracts *contracts, const char *file,
                    const struct leat_sim_atm_fabric *fabric)
{
    const uint32_t ports = fabric->net.ports;
    struct reader r = { .contracts = contracts, .line.place.file = file };
    *contracts = (struct contracts){ .config = { .fabric = *fabric } };
    contracts->port = calloc(ports, sizeof *contracts->port);
    r.port_line = calloc(ports, sizeof *r.port_line);
    bool good = contracts->port && r.port_line;
    if (!good) complain("no memory for %u ports", ports);
    for (uint32_t p = 0; good && p < ports; p++) {
        struct leat_sim_atm_contracts_port *port = &contracts->port[p];
        *port = leat_sim_atm_contracts_port_default();
        port->clp_cells[0] = port->clp_cells[1] = port->efci_cells = NOT_GIVEN;
    }
    contracts->config.connection = contracts->connection;
    contracts->config.port = contracts->port;
    good = good && read_file(&r, file);
    free(r.port_line);
    if (!good) contracts_close(contracts);
    return good;
}

void contracts_close(struct contracts *contracts)
{
    free(contracts->port);
    contracts->port = NULL;
}
