/* What a user calls a switched Ethernet; leat fabric and leat sim of one. */
#include "ether_fabric.h"
#include "port_load.h"
#include "sim.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEM_LEN = 5,
    PS_OF_A_BIT = 1000000, /* at 1 Mbit/s */
    BITS = 8,              /* of an octet */
    LOAD_DEFAULT = SIM_LOAD_ONE / 10,
    CYCLES_DEFAULT = 10000000,
};

bool ether_fabric_is(const char *word)
{
    return strncmp(word, "ether", STEM_LEN) == 0 && word[STEM_LEN] >= '0' && word[STEM_LEN] <= '9';
}

/* False: no such parameter, or its value cannot be. */
static bool read_parameter(struct fabric_piece piece, struct leat_sim_ether_port_config *c,
                           uint32_t *rate)
{
    struct fabric_piece value;
    if (fabric_is_key(piece, "rate", &value))
        return fabric_number(value, 1, ETHER_FABRIC_RATE_MAX, rate);
    if (fabric_is_key(piece, "frame", &value))
        return fabric_number(value, LEAT_SIM_ETHER_PAYLOAD_MIN, LEAT_SIM_ETHER_PAYLOAD_MAX,
                             &c->frame_octets);
    return fabric_is_key(piece, "buffer", &value) &&
           fabric_number(value, 1, LEAT_SIM_ETHER_BUFFER_MAX, &c->buffer);
}

bool ether_fabric_read(const struct verb *verb, const char *word,
                       struct leat_sim_ether_port_config *c, char name[ETHER_FABRIC_NAME_CAP])
{
    const char *rest = word + STEM_LEN;
    const struct fabric_piece stations = fabric_next_piece(&rest);
    uint32_t rate = ETHER_FABRIC_RATE;
    *c = (struct leat_sim_ether_port_config){ .frame_octets = ETHER_FABRIC_FRAME,
                                              .buffer = ETHER_FABRIC_BUFFER,
                                              .messages_max = 1 };
    if (!fabric_number(stations, 1, LEAT_SIM_ETHER_STATIONS_MAX, &c->stations)) {
        misuse(verb, "%s: '%.*s' stations, expected 1 to %d", word, (int)stations.len,
               stations.text, LEAT_SIM_ETHER_STATIONS_MAX);
        return false;
    }
    while (*rest) {
        const struct fabric_piece piece = fabric_next_piece(&rest);
        if (read_parameter(piece, c, &rate)) continue;
        misuse(verb,
               "%s: '%.*s', expected rate=1..%d (Mbit/s), frame=%d..%d (octets of payload) or "
               "buffer=1..%d (frames)",
               word, (int)piece.len, piece.text, ETHER_FABRIC_RATE_MAX, LEAT_SIM_ETHER_PAYLOAD_MIN,
               LEAT_SIM_ETHER_PAYLOAD_MAX, LEAT_SIM_ETHER_BUFFER_MAX);
        return false;
    }
    c->clock = (struct leat_sim_clock){ PS_OF_A_BIT, rate };
    snprintf(name, ETHER_FABRIC_NAME_CAP, "ether%u/rate=%u/frame=%u/buffer=%u", c->stations, rate,
             c->frame_octets, c->buffer);
    return true;
}

/* ---- leat fabric ---------------------------------------------------------------------------- */

const struct fabric_spelling *ether_fabric_list(size_t index)
{
    static const struct fabric_spelling spelling[] = {
        { "etherN", "a switched Ethernet of N stations, 1 to 4096, full duplex" },
        { "/rate=MBITS", "per second (100)" },
        { "/frame=OCTETS", "payload of a frame, at most (1500)" },
        { "/buffer=FRAMES", "of each output of the switch (64)" },
    };
    return index < sizeof spelling / sizeof *spelling ? &spelling[index] : NULL;
}

static void show_text(const struct leat_sim_ether_port_config *c, const char *name)
{
    const uint32_t single = leat_sim_ether_port_single(c);
    const uint64_t octets = leat_sim_ether_port_octets(c, single);
    printf("%s: a switched Ethernet, full duplex, the switch stores and forwards\n", name);
    printf("stations    %u\n", c->stations);
    printf("rate        %g Mb/s\n", 1e3 / fabric_ns(&c->clock, 1));
    printf("switch      %u frames in each output\n", c->buffer);
    printf("messages    of up to %u octets in one frame; that is %" PRIu64
           " octets on the cable, and takes %g ns to the switch and as long behind it\n",
           single, octets, fabric_ns(&c->clock, BITS * octets));
}

static void show_json(const struct leat_sim_ether_port_config *c, const char *name)
{
    fputs("{\"fabric\":", stdout);
    print_quoted(name);
    printf(",\"stations\":%u,\"bit_ps\":{\"num\":%" PRIu64 ",\"den\":%" PRIu64
           "},\"frame_octets\":%u,\"buffer\":%u,\"message_octets\":%u}\n",
           c->stations, c->clock.num, c->clock.den, c->frame_octets, c->buffer,
           leat_sim_ether_port_single(c));
}

static bool refuse_foreign(const struct arguments *args, const char *word, const char *const *known)
{
    return fabric_refuse_foreign(args, word, "an Ethernet", known);
}

int ether_fabric_show(const struct arguments *args)
{
    static const char *const known[] = { "--json", NULL };
    struct leat_sim_ether_port_config c;
    char name[ETHER_FABRIC_NAME_CAP];
    if (!refuse_foreign(args, args->operand[1], known) ||
        !ether_fabric_read(args->verb, args->operand[1], &c, name))
        return WRONG;
    (argument(args, "--json") ? show_json : show_text)(&c, name);
    return finish(DONE);
}

int ether_fabric_check(const struct arguments *args)
{
    struct leat_sim_ether_port_config c;
    char name[ETHER_FABRIC_NAME_CAP];
    if (!ether_fabric_read(args->verb, args->operand[1], &c, name)) return WRONG;
    printf("%s: sound: %u ports\n", args->operand[1], c.stations);
    return finish(DONE);
}

/* ---- leat sim ------------------------------------------------------------------------------- */

struct ether_load {
    struct port_load load;
    struct leat_sim_ether_port_config config;
    struct leat_sim_ether_port port;
    char name[ETHER_FABRIC_NAME_CAP];
    void *memory;
};

static bool read_load(struct ether_load *e, const struct arguments *args)
{
    static const char *const known[] = { "--traffic", "--load",  "--cycles", "--seed",
                                         "--json",    "--bytes", NULL };
    if (!refuse_foreign(args, args->operand[0], known) || !port_load_read(&e->load, args) ||
        !ether_fabric_read(args->verb, args->operand[0], &e->config, e->name))
        return false;
    if (e->config.stations > 1) return true;
    misuse(args->verb, "%s has nobody to send to, expected 2 stations or more", args->operand[0]);
    return false;
}

/* Bit times that a message takes on the cable of its sender, gaps and all. */
static uint64_t cycles_of(const struct ether_load *e)
{
    const uint64_t len = e->load.bytes;
    return BITS * (leat_sim_ether_port_octets(&e->config, len) +
                   LEAT_SIM_ETHER_GAP_LEN * leat_sim_ether_port_frames(&e->config, len));
}

static bool prepare(struct ether_load *e)
{
    e->config.messages_max = RUN_MESSAGES_MAX;
    e->memory = sim_memory(leat_sim_ether_port_footprint(&e->config));
    if (!e->memory) return false;
    leat_sim_ether_port_init(&e->port, &e->config, e->memory);
    e->load.clock = e->config.clock;
    return port_load_begin(&e->load, &e->port.base, cycles_of(e));
}

/* Of all bit times of all cables to the switch. */
static double throughput(const struct ether_load *e, uint64_t cycles)
{
    return (double)(e->load.delivered * cycles_of(e)) / (double)cycles / e->config.stations;
}

static void put_text(const struct ether_load *e, uint64_t cycles)
{
    port_load_head_text(&e->load, e->name, "");
    printf("%" PRIu64 " bit times; %u stations\n", cycles, e->config.stations);
    port_load_counts_text(&e->load);
    printf("  %-32s %14.6f  of what the cables can carry\n", "throughput", throughput(e, cycles));
    port_load_latency_text("latency", "bit times", &e->load.latency);
    port_load_end_text(&e->load);
}

static void put_json(const struct ether_load *e, uint64_t cycles)
{
    port_load_head_json(&e->load, e->name, "", cycles);
    printf("\"throughput\":%.6f,", throughput(e, cycles));
    port_load_latency_json("latency_cycles", &e->load.latency);
    port_load_end_json(&e->load);
}

int ether_fabric_sim(const struct arguments *args)
{
    static struct ether_load e; /* a histogram is large */
    int code = WRONG;
    e = (struct ether_load){ .load = { .load = LOAD_DEFAULT, .cycles = CYCLES_DEFAULT } };
    if (!read_load(&e, args)) return WRONG;
    if (prepare(&e)) {
        code = DONE;
        if (!args->only_check) {
            const uint64_t cycles = port_load_run(&e.load);
            (argument(args, "--json") ? put_json : put_text)(&e, cycles);
        }
    }
    port_load_free(&e.load);
    free(e.memory);
    return args->only_check || code != DONE ? code : finish(code);
}
