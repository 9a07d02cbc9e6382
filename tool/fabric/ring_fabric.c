/* What a user calls a token ring. */
#include "ring_fabric.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool ring_fabric_is(const char *word)
{
    return strncmp(word, "ring", 4) == 0 && word[4] >= '0' && word[4] <= '9';
}

static bool read_model(struct fabric_piece value, enum leat_sim_aton_model *out)
{
    if (value.len == 3 && strncmp(value.text, "bit", 3) == 0)
        *out = LEAT_SIM_ATON_BIT;
    else if (value.len == 4 && strncmp(value.text, "word", 4) == 0)
        *out = LEAT_SIM_ATON_WORD;
    else
        return false;
    return true;
}

/* The first of words with `separator` between them. */
static struct fabric_piece first_word(struct fabric_piece *rest, char separator)
{
    const char *end = memchr(rest->text, separator, rest->len);
    const struct fabric_piece word = { rest->text, end ? (size_t)(end - rest->text) : rest->len };
    const size_t taken = word.len + (end != NULL);
    *rest = (struct fabric_piece){ rest->text + taken, rest->len - taken };
    return word;
}

/* PORT:P or FIRST-LAST:P, with commas between. */
static bool read_priorities(struct fabric_piece value, struct leat_sim_aton_port_config *c)
{
    if (value.len && value.text[value.len - 1] == ',') return false;
    do {
        struct fabric_piece rest = first_word(&value, ',');
        struct fabric_piece ports = first_word(&rest, ':');
        const struct fabric_piece first = first_word(&ports, '-'), last = ports.len ? ports : first;
        struct leat_sim_aton_port_priority p;
        uint32_t priority;
        if (c->priorities == LEAT_SIM_ATON_PORT_PRIORITIES_MAX ||
            !fabric_number(first, 0, LEAT_SIM_ATON_STATIONS_MAX, &p.first) ||
            !fabric_number(last, 0, LEAT_SIM_ATON_STATIONS_MAX, &p.last) ||
            !fabric_number(rest, 0, LEAT_ATON_PRIORITY_MAX, &priority))
            return false;
        p.priority = (uint8_t)priority;
        c->priority[c->priorities++] = p;
    } while (value.len);
    return true;
}

/* False: no such parameter, or its value cannot be. */
static bool read_parameter(struct fabric_piece piece, struct leat_sim_aton_port_config *c)
{
    struct fabric_piece value;
    if (fabric_is_key(piece, "propagation", &value))
        return fabric_number(value, 0, LEAT_SIM_ATON_PROPAGATION_MAX, &c->propagation);
    if (fabric_is_key(piece, "packet", &value))
        return fabric_number(value, 1, LEAT_SIM_ATON_PORT_OCTETS_MAX, &c->packet_octets);
    if (fabric_is_key(piece, "clock", &value))
        return leat_sim_clock_read(value.text, value.len, &c->clock);
    if (fabric_is_key(piece, "priority", &value)) return read_priorities(value, c);
    return fabric_is_key(piece, "model", &value) && read_model(value, &c->model);
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
    leat_text_init(&text, name, RING_FABRIC_NAME_CAP - 1, NULL, NULL);
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

bool ring_fabric_read(const struct verb *verb, const char *word,
                      struct leat_sim_aton_port_config *c, char name[RING_FABRIC_NAME_CAP])
{
    char line[256];
    struct leat_text why;
    const char *rest = word + 4;
    const struct fabric_piece stations = fabric_next_piece(&rest);
    *c = (struct leat_sim_aton_port_config){ .model = LEAT_SIM_ATON_WORD,
                                             .clock = { 1000, 1 },
                                             .packet_octets = RING_FABRIC_PACKET_OCTETS,
                                             .messages_max = 1 };
    if (!fabric_number(stations, 1, LEAT_SIM_ATON_STATIONS_MAX, &c->stations)) {
        misuse(verb, "%s: '%.*s' stations, expected 1 to %d", word, (int)stations.len,
               stations.text, LEAT_SIM_ATON_STATIONS_MAX);
        return false;
    }
    while (*rest) {
        const struct fabric_piece piece = fabric_next_piece(&rest);
        if (read_parameter(piece, c)) continue;
        misuse(verb,
               "%s: '%.*s', expected propagation=0..%d, packet=1..%d, clock=1ns, model=bit|word or "
               "priority=PORT:P,... (at most %d, P 0 to %d, PORT or FIRST-LAST)",
               word, (int)piece.len, piece.text, LEAT_SIM_ATON_PROPAGATION_MAX,
               LEAT_SIM_ATON_PORT_OCTETS_MAX, LEAT_SIM_ATON_PORT_PRIORITIES_MAX,
               LEAT_ATON_PRIORITY_MAX);
        return false;
    }
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    if (leat_sim_aton_port_check(c, &why)) {
        misuse(verb, "%s: %.*s", word, (int)why.len, line);
        return false;
    }
    put_name(c, name);
    return true;
}

/* ---- leat fabric ---------------------------------------------------------------------------- */

const struct fabric_spelling *ring_fabric_list(size_t index)
{
    static const struct fabric_spelling spelling[] = {
        { "ringN", "a token ring of N stations, 1 to 65534: the ATON ring (leat ring)" },
        { "/propagation=BITS", "on each link (0)" },
        { "/packet=OCTETS", "of a message in a packet, at most (4096)" },
        { "/clock=PERIOD", "a bit time, as in 1ns or 4MHz (1ns)" },
        { "/model=WHAT", "bit, or word: one event per packet and interface (word)" },
        { "/priority=PORT:P,...", "at the token, 0 to 7, of a port or of ports FIRST-LAST (0)" },
    };
    return index < sizeof spelling / sizeof *spelling ? &spelling[index] : NULL;
}

/* How long the longest packet is, and how long any takes to come back. */
struct times {
    uint64_t monitor_bits, round_bits, symbols;
};

static struct times times_of(const struct leat_sim_aton_port_config *c)
{
    const uint64_t links = (uint64_t)c->stations * c->propagation;
    const uint64_t monitor = leat_aton_monitor_bits(c->stations, links);
    return (struct times){ monitor, c->stations + links + monitor,
                           leat_sim_aton_port_symbols(c, c->packet_octets) };
}

static void show_text(const struct leat_sim_aton_port_config *c, const char *name)
{
    const struct times t = times_of(c);
    printf("%s: a token ring\n", name);
    printf("stations    %u, each with a bit of delay\n", c->stations);
    printf("round       %" PRIu64 " bits, of which the monitor adds %" PRIu64 "; %g ns\n",
           t.round_bits, t.monitor_bits, fabric_ns(&c->clock, t.round_bits));
    printf("rate        %g Mb/s\n", 1e3 / fabric_ns(&c->clock, 1));
    printf("messages    in packets of up to %u octets; that is %" PRIu64
           " symbols, back after %" PRIu64 " bit times\n",
           c->packet_octets, t.symbols, t.symbols + t.round_bits);
    for (uint32_t i = 0; i < c->priorities; i++)
        printf("priority    %u at ports %u to %u\n", c->priority[i].priority, c->priority[i].first,
               c->priority[i].last);
}

static void show_json(const struct leat_sim_aton_port_config *c, const char *name)
{
    const struct times t = times_of(c);
    fputs("{\"fabric\":", stdout);
    print_quoted(name);
    printf(",\"stations\":%u,\"propagation\":%u,\"monitor_bits\":%" PRIu64
           ",\"round_bits\":%" PRIu64 ",\"bit_ps\":{\"num\":%" PRIu64 ",\"den\":%" PRIu64
           "},\"packet_octets\":%u,\"packet_symbols\":%" PRIu64 "}\n",
           c->stations, c->propagation, t.monitor_bits, t.round_bits, c->clock.num, c->clock.den,
           c->packet_octets, t.symbols);
}

int ring_fabric_show(const struct arguments *args)
{
    struct leat_sim_aton_port_config c;
    char name[RING_FABRIC_NAME_CAP];
    for (int i = 0; args->verb->options[i].name; i++)
        if (args->value[i] && strcmp(args->verb->options[i].name, "--json") != 0)
            return misuse(args->verb, "show: %s has no meaning for %s, which is a token ring",
                          args->verb->options[i].name, args->operand[1]);
    if (!ring_fabric_read(args->verb, args->operand[1], &c, name)) return WRONG;
    (argument(args, "--json") ? show_json : show_text)(&c, name);
    return finish(DONE);
}

int ring_fabric_check(const struct arguments *args)
{
    struct leat_sim_aton_port_config c;
    char name[RING_FABRIC_NAME_CAP];
    if (!ring_fabric_read(args->verb, args->operand[1], &c, name)) return WRONG;
    printf("%s: sound: %u ports\n", args->operand[1], c.stations);
    return finish(DONE);
}
