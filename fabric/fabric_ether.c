/*
 * A switched Ethernet: ether8, ether8/rate=1000/frame=9000/buffer=16 (Mbit/s, octets of a frame's
 * payload, frames of each output of the switch), ether8/esp=20 (bit times per instruction).
 */
#include "ether_port.h"
#include "fabric_kind.h"
#include "fabric_word_parts.h"
#include "packetway_header.h"
#include <inttypes.h>

enum {
    STEM_LEN = 5,
    RATE_DEFAULT = 100, /* Mbit/s */
    RATE_MAX = 1000000,
    FRAME_DEFAULT = 1500,
    BUFFER_DEFAULT = 64,
    PS_OF_A_BIT = 1000000, /* at 1 Mbit/s */
    BITS = 8,              /* of an octet */
};

struct ether {
    struct leat_fabric base;
    struct leat_sim_ether_port_config config;
    struct leat_sim_ether_port port;
};

static bool matches(const char *name)
{
    return strncmp(name, "ether", STEM_LEN) == 0 && name[STEM_LEN] >= '0' && name[STEM_LEN] <= '9';
}

/* False: no such parameter, or an invalid value. */
static bool read_parameter(struct word piece, struct leat_sim_ether_port_config *c, uint32_t *rate)
{
    struct word value;
    if (leat_fabric_value(piece, "rate", &value))
        return leat_fabric_number(value, 1, RATE_MAX, rate);
    if (leat_fabric_value(piece, "frame", &value))
        return leat_fabric_number(value, LEAT_SIM_ETHER_PAYLOAD_MIN, LEAT_SIM_ETHER_PAYLOAD_MAX,
                                  &c->frame_octets);
    if (leat_fabric_value(piece, "esp", &value))
        return leat_fabric_number(value, 1, LEAT_SIM_ETHER_ESP_CYCLES_MAX, &c->esp_cycles);
    if (is_word(piece, "esp")) {
        c->esp_cycles = LEAT_SIM_ETHER_ESP_CYCLES_DEFAULT;
        return true;
    }
    return leat_fabric_value(piece, "buffer", &value) &&
           leat_fabric_number(value, 1, LEAT_SIM_ETHER_BUFFER_MAX, &c->buffer);
}

static bool read(struct leat_fabric *f, bool (*interrupted)(void), struct leat_fabric_error *error)
{
    struct leat_sim_ether_port_config *c = &((struct ether *)f)->config;
    const char *rest = f->word + STEM_LEN;
    const struct word stations = leat_fabric_piece(&rest);
    uint32_t rate = RATE_DEFAULT;
    (void)interrupted;
    *c = (struct leat_sim_ether_port_config){ .frame_octets = FRAME_DEFAULT,
                                              .buffer = BUFFER_DEFAULT };
    if (!leat_fabric_number(stations, 1, LEAT_SIM_ETHER_STATIONS_MAX, &c->stations))
        return leat_fabric_wrong_name(error, STEM_LEN, stations.len,
                                      "'%.*s' stations, expected 1 to %d", (int)stations.len,
                                      stations.text, LEAT_SIM_ETHER_STATIONS_MAX);
    while (*rest) {
        const struct word piece = leat_fabric_piece(&rest);
        if (read_parameter(piece, c, &rate)) continue;
        return leat_fabric_wrong_name(
            error, (size_t)(piece.text - f->word), piece.len,
            "'%.*s', expected rate=1..%d (Mbit/s), frame=%d..%d (octets of payload), "
            "buffer=1..%d (frames), esp or esp=1..%d (bit times per instruction)",
            (int)piece.len, piece.text, RATE_MAX, LEAT_SIM_ETHER_PAYLOAD_MIN,
            LEAT_SIM_ETHER_PAYLOAD_MAX, LEAT_SIM_ETHER_BUFFER_MAX, LEAT_SIM_ETHER_ESP_CYCLES_MAX);
    }
    if (c->esp_cycles && c->frame_octets < LEAT_SIM_ETHER_ESP_PAYLOAD_MIN)
        return leat_fabric_wrong_name(error, 0, strlen(f->word),
                                      "frames of %u octets with ESP, expected at least %d",
                                      c->frame_octets, LEAT_SIM_ETHER_ESP_PAYLOAD_MIN);
    f->clock = c->clock = (struct leat_sim_clock){ PS_OF_A_BIT, rate };
    f->ports = c->stations;
    const int len = snprintf(f->name, sizeof f->name, "ether%u/rate=%u/frame=%u/buffer=%u",
                             c->stations, rate, c->frame_octets, c->buffer);
    if (c->esp_cycles)
        snprintf(f->name + len, sizeof f->name - (size_t)len, "/esp=%u", c->esp_cycles);
    return true;
}

static bool open(struct leat_fabric *f, const struct leat_fabric_config *config,
                 struct leat_fabric_error *error)
{
    struct ether *e = (struct ether *)f;
    e->config.messages_max = config->messages_max;
    e->config.contention_free = config->contention_free;
    f->memory = leat_fabric_take(1, leat_sim_ether_port_footprint(&e->config), error);
    if (!f->memory) return false;
    leat_sim_ether_port_init(&e->port, &e->config, f->memory);
    f->net = &e->port.base;
    return true;
}

static void native(const struct leat_fabric *f, struct leat_sim_packetway_native *out)
{
    out->kind = LEAT_SIM_PACKETWAY_ETHERNET;
    out->words_max = leat_sim_ether_port_single(&((const struct ether *)f)->config) /
                     LEAT_PACKETWAY_WORD_LEN;
}

static bool list(size_t index, struct leat_fabric_spelling *out)
{
    static const struct leat_fabric_spelling spelling[] = {
        { "etherN", "a switched Ethernet of N stations, 1 to 4096, full duplex" },
        { "/rate=MBITS", "per second (100)" },
        { "/frame=OCTETS", "payload of a frame, at most (1500)" },
        { "/buffer=FRAMES", "of each output of the switch (64)" },
        { "/esp=BITS", "an ESP router that needs so many bit times per instruction, 1 to 1048576; "
                       "/esp alone: 20" },
    };
    if (index >= sizeof spelling / sizeof *spelling) return false;
    *out = spelling[index];
    return true;
}

static bool describe(struct leat_fabric *f, bool json, FILE *out, struct leat_fabric_error *error)
{
    const struct leat_sim_ether_port_config *c = &((struct ether *)f)->config;
    const uint32_t single = leat_sim_ether_port_single(c);
    const uint64_t octets = leat_sim_ether_port_octets(c, single);
    (void)error;
    struct json_out object;
    struct leat_json *j = json_open(&object, json ? out : NULL);
    FILE *text = json ? NULL : out;
    leat_json_string(j, "fabric", f->name);
    leat_json_uint(j, "stations", c->stations);
    leat_fabric_clock_json(j, "bit_ps", &c->clock);
    LEAT_JSON_UINTS(j, { "frame_bytes", c->frame_octets }, { "buffer_frames", c->buffer },
                    { "message_bytes", single });
    if (c->esp_cycles) leat_json_uint(j, "esp", c->esp_cycles);
    json_close(&object, "done");
    text_print(text, "%s: a switched Ethernet, full duplex, the switch stores and forwards\n",
               f->name);
    text_print(text, "stations    %u\n", c->stations);
    text_print(text, "rate        %g Mb/s\n", 1e3 / leat_fabric_ns(&c->clock, 1));
    text_print(text, "switch      %u frames in each output\n", c->buffer);
    if (c->esp_cycles)
        text_print(text, "ESP         %u bit times per instruction\n", c->esp_cycles);
    text_print(text,
               "messages    of up to %u octets in one frame; that is %" PRIu64
               " octets on the cable, and takes %g ns to the switch and as long behind it\n",
               single, octets, leat_fabric_ns(&c->clock, BITS * octets));
    return true;
}

/* Bit times that a message takes on its sender's cable, including gaps. */
static uint64_t message_cycles(const struct leat_fabric *f, uint64_t len)
{
    const struct leat_sim_ether_port_config *c = &((const struct ether *)f)->config;
    return BITS * (leat_sim_ether_port_octets(c, len) +
                   LEAT_SIM_ETHER_GAP_LEN * leat_sim_ether_port_frames(c, len));
}

static const struct leat_fabric_load load = { .cycles = "bit times",
                                              .ports = "stations",
                                              .capacity = "the cables can carry",
                                              .load = LEAT_FABRIC_LOAD_ONE / 10,
                                              .cycles_default = 10000000,
                                              .message_cycles = message_cycles };

/* Two of each station: to the switch, and from it. */
static bool wire(struct leat_fabric *f, uint32_t index, struct leat_fabric_wire *out)
{
    const struct leat_sim_ether_port *port = &((const struct ether *)f)->port;
    const uint32_t station = index / 2;
    const bool is_to_switch = index % 2 == 0;
    if (station >= port->config.stations) return false;
    const struct leat_sim_ether_port_cable cable = leat_sim_ether_port_cable(port, station,
                                                                             is_to_switch);
    *out = (struct leat_fabric_wire){ .carries = "frames",
                                      .carried = cable.frames,
                                      .busy_ns = leat_fabric_ns(&f->clock, cable.bits) };
    snprintf(out->name, sizeof out->name, is_to_switch ? "port %u>switch" : "switch>port %u",
             station);
    return true;
}

const struct leat_fabric_kind leat_fabric_kind_ether = { .id = "ether",
                                                         .what = "an Ethernet",
                                                         .size = sizeof(struct ether),
                                                         .list = list,
                                                         .matches = matches,
                                                         .read = read,
                                                         .describe = describe,
                                                         .open = open,
                                                         .native = native,
                                                         .wire = wire,
                                                         .load = &load };
