/*
 * leat sim of any network behind leat/port.h: a traffic pattern of messages over all its ports.
 * Cycles are those of a clock that the network's owner chooses.
 */
#ifndef LEAT_PORT_LOAD_H
#define LEAT_PORT_LOAD_H

#include "fabric_kind.h"
#include "json_out.h"
#include "sim_atm_traffic.h"
#include "sim_clock.h"
#include "sim_histogram.h"
#include "tool.h"
#include <leat/port.h>

struct port_load_source;

struct port_load {
    const struct arguments *args;
    struct leat_fabric *fabric;
    enum leat_sim_atm_traffic_pattern pattern;
    uint32_t load;
    uint64_t bytes, cycles, seed; /* 0: the default of all such loads */
    struct leat_sim_clock clock;
    /* A message has arrived, this many cycles after its creation; may be NULL. */
    void (*arrived)(struct port_load *load, const struct leat_port_message *message,
                    uint64_t cycles);

    struct leat_port_net *net;
    struct leat_sim_atm_traffic traffic;
    struct port_load_source *source;
    uint32_t *partner;
    uint8_t *octets; /* of every message */
    struct leat_sim_histogram latency;
    uint64_t offered, delivered, lost;
    const char *why; /* of the last lost message */
    double wall_seconds;
};

/* Reads the options that any such load has: --traffic, --load, --cycles, --seed, --bytes. False
 * after a complaint. */
bool port_load_read(struct port_load *load);

/* Opens the fabric, runs the load and shows it: `put` is given the number of cycles run. A load of
 * 1: one message per port in `message_cycles`. Returns the exit code. */
int port_load_run(struct port_load *load, uint64_t message_cycles,
                  void (*put)(const struct port_load *load, uint64_t cycles));

/* ---- results ----
 * `more` follows the name; JSON: the name, members of the network, the head, and the rest. */

void port_load_head_text(const struct port_load *load, const char *more);
/* ", interrupted" if that happened. */
const char *port_load_end_word(const struct port_load *load, uint64_t cycles);
void port_load_counts_text(const struct port_load *load);
void port_load_latency_text(const char *of, const char *unit, const struct leat_sim_histogram *h);
void port_load_end_text(const struct port_load *load);

struct leat_json *port_load_open_json(struct json_out *out, const struct port_load *load);
void port_load_head_json(struct leat_json *json, const struct port_load *load, uint64_t cycles);
void port_load_latency_json(struct leat_json *json, const char *name,
                            const struct leat_sim_histogram *h);
void port_load_close_json(struct json_out *out, const struct port_load *load);

#endif
