/*
 * The ATON token ring: ring16, ring16/propagation=5/clock=4MHz/packet=1024/model=bit,
 * ring16/priority=0:7,4-7:2 (ports 0, and 4 to 7). (`ring:16` is a network of routers.)
 */
#include "fabric_aton.h"
#include "fabric_word_parts.h"
#include <inttypes.h>

enum { STEM_LEN = 4, PACKET_OCTETS = 4096 };

static bool matches(const char *name)
{
    return strncmp(name, "ring", STEM_LEN) == 0 && name[STEM_LEN] >= '0' && name[STEM_LEN] <= '9';
}

static bool read_model(struct word value, enum leat_sim_aton_model *out)
{
    *out = is_word(value, "bit") ? LEAT_SIM_ATON_BIT : LEAT_SIM_ATON_WORD;
    return is_word(value, "bit") || is_word(value, "word");
}

/* The first of words separated by `separator`. */
static struct word first_word(struct word *rest, char separator)
{
    const char *end = memchr(rest->text, separator, rest->len);
    const struct word word = { rest->text, end ? (size_t)(end - rest->text) : rest->len };
    const size_t taken = word.len + (end != NULL);
    *rest = (struct word){ rest->text + taken, rest->len - taken };
    return word;
}

/* PORT:P or FIRST-LAST:P, separated by commas. */
static bool read_priorities(struct word value, struct leat_sim_aton_port_config *c)
{
    if (value.len && value.text[value.len - 1] == ',') return false;
    do {
        struct word rest = first_word(&value, ',');
        struct word ports = first_word(&rest, ':');
        const struct word first = first_word(&ports, '-'), last = ports.len ? ports : first;
        struct leat_sim_aton_port_priority p;
        uint32_t priority;
        if (c->priorities == LEAT_SIM_ATON_PORT_PRIORITIES_MAX ||
            !leat_fabric_number(first, 0, LEAT_SIM_ATON_STATIONS_MAX, &p.first) ||
            !leat_fabric_number(last, 0, LEAT_SIM_ATON_STATIONS_MAX, &p.last) ||
            !leat_fabric_number(rest, 0, LEAT_ATON_PRIORITY_MAX, &priority))
            return false;
        p.priority = (uint8_t)priority;
        c->priority[c->priorities++] = p;
    } while (value.len);
    return true;
}

/* False: no such parameter, or an invalid value. */
static bool read_parameter(struct word piece, struct leat_sim_aton_port_config *c)
{
    struct word value;
    if (leat_fabric_value(piece, "propagation", &value))
        return leat_fabric_number(value, 0, LEAT_SIM_ATON_PROPAGATION_MAX, &c->propagation);
    if (leat_fabric_value(piece, "packet", &value))
        return leat_fabric_number(value, 1, LEAT_SIM_ATON_PORT_OCTETS_MAX, &c->packet_octets);
    if (leat_fabric_value(piece, "clock", &value))
        return leat_sim_clock_read(value.text, value.len, &c->clock);
    if (leat_fabric_value(piece, "priority", &value)) return read_priorities(value, c);
    return leat_fabric_value(piece, "model", &value) && read_model(value, &c->model);
}

static void put_priority(struct leat_text *text, const struct leat_sim_aton_port_priority *p,
                         const char *before)
{
    leat_text_puts(text, before);
    leat_text_decimal(text, p->first);
    if (p->last != p->first) leat_text_putc(text, '-');
    if (p->last != p->first) leat_text_decimal(text, p->last);
    leat_text_putc(text, ':');
    leat_text_decimal(text, p->priority);
}

static void put_name(const struct leat_sim_aton_port_config *c, char *name)
{
    struct leat_text text;
    leat_text_init(&text, name, LEAT_FABRIC_NAME_CAP - 1, NULL, NULL);
    leat_text_puts(&text, "ring");
    leat_text_decimal(&text, c->stations);
    leat_text_puts(&text, "/propagation=");
    leat_text_decimal(&text, c->propagation);
    leat_text_puts(&text, "/packet=");
    leat_text_decimal(&text, c->packet_octets);
    leat_text_puts(&text, "/clock=");
    leat_sim_clock_put(&c->clock, &text);
    leat_text_puts(&text, c->model == LEAT_SIM_ATON_BIT ? "/model=bit" : "/model=word");
    for (uint32_t i = 0; i < c->priorities; i++)
        put_priority(&text, &c->priority[i], i == 0 ? "/priority=" : ",");
    name[text.len] = 0;
}

static bool read(struct leat_fabric *f, bool (*interrupted)(void), struct leat_fabric_error *error)
{
    struct leat_sim_aton_port_config *c = &((struct leat_fabric_aton *)f)->config;
    const char *rest = f->word + STEM_LEN;
    const struct word stations = leat_fabric_piece(&rest);
    (void)interrupted;
    *c = (struct leat_sim_aton_port_config){ .model = LEAT_SIM_ATON_WORD,
                                             .clock = { 1000, 1 },
                                             .packet_octets = PACKET_OCTETS,
                                             .messages_max = 1 };
    if (!leat_fabric_number(stations, 1, LEAT_SIM_ATON_STATIONS_MAX, &c->stations))
        return leat_fabric_wrong_name(error, STEM_LEN, stations.len,
                                      "'%.*s' stations, expected 1 to %d", (int)stations.len,
                                      stations.text, LEAT_SIM_ATON_STATIONS_MAX);
    while (*rest) {
        const struct word piece = leat_fabric_piece(&rest);
        if (read_parameter(piece, c)) continue;
        return leat_fabric_wrong_name(
            error, (size_t)(piece.text - f->word), piece.len,
            "'%.*s', expected propagation=0..%d, packet=1..%d, clock=1ns, model=bit|word or "
            "priority=PORT:P,... (at most %d, P 0 to %d, PORT or FIRST-LAST)",
            (int)piece.len, piece.text, LEAT_SIM_ATON_PROPAGATION_MAX,
            LEAT_SIM_ATON_PORT_OCTETS_MAX, LEAT_SIM_ATON_PORT_PRIORITIES_MAX,
            LEAT_ATON_PRIORITY_MAX);
    }
    struct leat_text why = LEAT_TEXT(256);
    if (leat_sim_aton_port_check(c, &why))
        return leat_fabric_wrong_name(error, 0, 0, "%.*s", (int)why.len, why.buf);
    f->clock = c->clock;
    f->ports = c->stations;
    put_name(c, f->name);
    return true;
}

static bool open(struct leat_fabric *f, const struct leat_fabric_config *config,
                 struct leat_fabric_error *error)
{
    struct leat_fabric_aton *a = (struct leat_fabric_aton *)f;
    a->config.messages_max = config->messages_max;
    a->config.contention_free = config->contention_free;
    f->memory = leat_fabric_take(1, leat_sim_aton_port_footprint(&a->config), error);
    if (!f->memory) return false;
    leat_sim_aton_port_init(&a->port, &a->config, f->memory);
    f->net = &a->port.base;
    return true;
}

static void native(const struct leat_fabric *f, struct leat_sim_packetway_native *out)
{
    (void)f;
    out->kind = LEAT_SIM_PACKETWAY_RING;
}

/* ---- leat fabric ---------------------------------------------------------------------------- */

static bool list(size_t index, struct leat_fabric_spelling *out)
{
    static const struct leat_fabric_spelling spelling[] = {
        { "ringN", "a token ring of N stations, 1 to 65534: the ATON ring (leat ring)" },
        { "/propagation=BITS", "on each link (0)" },
        { "/packet=OCTETS", "of a message in a packet, at most (4096)" },
        { "/clock=PERIOD", "a bit time, as in 1ns or 4MHz (1ns)" },
        { "/model=WHAT", "bit, or word: one event per packet and interface (word)" },
        { "/priority=PORT:P,...", "at the token, 0 to 7, of a port or of ports FIRST-LAST (0)" },
    };
    if (index >= sizeof spelling / sizeof *spelling) return false;
    *out = spelling[index];
    return true;
}

static bool describe(struct leat_fabric *f, bool json, FILE *out, struct leat_fabric_error *error)
{
    const struct leat_sim_aton_port_config *c = &((struct leat_fabric_aton *)f)->config;
    const uint64_t links = (uint64_t)c->stations * c->propagation;
    const uint64_t monitor = leat_aton_monitor_bits(c->stations, links);
    const uint64_t round = c->stations + links + monitor; /* until any packet is back */
    const uint64_t symbols = leat_sim_aton_port_symbols(c, c->packet_octets); /* of the longest */
    struct json_out object;
    struct leat_json *j = json_open(&object, json ? out : NULL);
    FILE *text = json ? NULL : out;
    (void)error;
    leat_json_string(j, "fabric", f->name);
    LEAT_JSON_UINTS(j, { "stations", c->stations }, { "propagation", c->propagation },
                    { "monitor_bits", monitor }, { "round_bits", round });
    leat_fabric_clock_json(j, "bit_ps", &c->clock);
    leat_json_uint(j, "packet_bytes", c->packet_octets);
    leat_json_uint(j, "packet_symbols", symbols);
    json_close(&object, "done");
    text_print(text, "%s: a token ring\n", f->name);
    text_print(text, "stations    %u, each with a bit of delay\n", c->stations);
    text_print(text, "round       %" PRIu64 " bits, of which the monitor adds %" PRIu64 "; %g ns\n",
               round, monitor, leat_fabric_ns(&c->clock, round));
    text_print(text, "rate        %g Mb/s\n", 1e3 / leat_fabric_ns(&c->clock, 1));
    text_print(text,
               "messages    in packets of up to %u octets; that is %" PRIu64
               " symbols, back after %" PRIu64 " bit times\n",
               c->packet_octets, symbols, symbols + round);
    for (uint32_t i = 0; i < c->priorities; i++)
        text_print(text, "priority    %u at ports %u to %u\n", c->priority[i].priority,
                   c->priority[i].first, c->priority[i].last);
    return true;
}

/* Each link carries every frame, so the whole ring is one wire. */
static bool wire(struct leat_fabric *f, uint32_t index, struct leat_fabric_wire *out)
{
    const struct leat_sim_aton_port *port = &((struct leat_fabric_aton *)f)->port;
    if (index) return false;
    *out = (struct leat_fabric_wire){ .name = "ring",
                                      .carries = "frames",
                                      .carried = port->frames,
                                      .busy_ns = leat_fabric_ns(&f->clock, port->frame_symbols) };
    return true;
}

const struct leat_fabric_kind leat_fabric_kind_aton = { .id = "aton",
                                                        .what = "a token ring",
                                                        .size = sizeof(struct leat_fabric_aton),
                                                        .list = list,
                                                        .matches = matches,
                                                        .read = read,
                                                        .describe = describe,
                                                        .open = open,
                                                        .native = native,
                                                        .wire = wire };

struct leat_fabric_aton *leat_fabric_as_aton(struct leat_fabric *fabric)
{
    return fabric->kind == &leat_fabric_kind_aton ? (struct leat_fabric_aton *)fabric : NULL;
}
