/* A network with ESP and its own memory, and collective operations one at a time. */
#ifndef LEAT_NET_ESP_TEST_H
#define LEAT_NET_ESP_TEST_H

#include "net_plan.h"
#include "net_port.h"
#include "port_fold.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { LAB_WORDS = LEAT_NET_ESP_WORDS_MAX, LAB_OCTETS = LEAT_NET_ESP_OCTETS_MAX, LAB_PORTS = 64 };

struct lab {
    struct leat_net_plan plan;
    struct leat_net_topology plain, topology;
    struct leat_net_routing *routing;
    struct leat_net_fault_player player;
    struct leat_net_port_config config;
    struct leat_net_port port;
    void *memory[5];
};

static inline void *lab_take(struct lab *lab, size_t i, size_t len)
{
    lab->memory[i] = calloc(1, len ? len : 1);
    if (!lab->memory[i]) abort();
    return lab->memory[i];
}

/* Topology and routing of a name, with the defaults of a fabric. */
static inline void lab_build(struct lab *lab, const char *name)
{
    struct leat_text why = LEAT_TEXT(512);
    memset(lab, 0, sizeof *lab);
    OK(!leat_net_plan_parse(name, &lab->plan, &why));
    void *memory = lab_take(lab, 0, leat_net_topology_footprint(&lab->plan.shape));
    OK(!leat_net_topology_build(&lab->plain, &lab->plan.shape, memory, &why));
    OK(!leat_net_esp_check(&lab->plain, &lab->plan.esp, &why));
    memory = lab_take(lab, 1, leat_net_processors_footprint(&lab->plain));
    leat_net_processors_add(&lab->plain, memory, &lab->topology);
    memory = lab_take(lab, 2, leat_net_routing_footprint(&lab->topology, &lab->plan.routing));
    lab->routing = leat_net_routing_init(&lab->topology, &lab->plan.routing, memory);
    lab->config = (struct leat_net_port_config){ .topology = &lab->topology,
                                                 .routing = lab->routing,
                                                 .net = lab->plan.net,
                                                 .clock = lab->plan.clock,
                                                 .flit_octets = 16,
                                                 .packet_flits = 16,
                                                 .head_flits = 1,
                                                 .messages_max = 64,
                                                 .seed = 1,
                                                 .esp = lab->plan.esp };
}

/* With `config`, which may have been changed. */
static inline void lab_start(struct lab *lab)
{
    struct leat_text why = LEAT_TEXT(512);
    OK(!leat_net_port_check(&lab->config, &why));
    free(lab->memory[3]);
    leat_net_port_init(&lab->port, &lab->config,
                       lab_take(lab, 3, leat_net_port_footprint(&lab->config)));
}

static inline void lab_open(struct lab *lab, const char *name)
{
    lab_build(lab, name);
    lab_start(lab);
}

static inline void lab_close(struct lab *lab)
{
    for (size_t i = 0; i < 5; i++)
        free(lab->memory[i]);
}

/* With these faults, which must stay. */
static inline void lab_start_with_faults(struct lab *lab, const struct leat_net_faults *faults)
{
    void *memory = lab_take(lab, 4, leat_net_fault_player_footprint(faults, &lab->topology));
    leat_net_fault_player_init(&lab->player, faults, &lab->topology, tap_seed(), memory);
    lab->config.faults = &lab->player;
    lab_start(lab);
}

/* ---- one operation --------------------------------------------------------------------------- */

/* What becomes of it. */
static struct {
    struct leat_port_part part; /* kind, fold, words, root, len */
    uint32_t members;
    uint32_t port[LAB_PORTS];
    leat_time at[LAB_PORTS]; /* when its part is handed over */
    uint64_t word[LAB_PORTS][LAB_WORDS], expected[LAB_WORDS];
    uint8_t octets[LAB_PORTS][LAB_OCTETS];
    leat_time over_at[LAB_PORTS];
    uint32_t over, done, wrong;
} deed;

static inline uint8_t deed_octet(uint64_t i)
{
    return (uint8_t)(i * 29 + (i >> 9));
}

/* No event that another port caused comes sooner than the latency. */
static inline bool deed_is_early(const struct lab *lab, uint32_t place, leat_time at)
{
    const bool is_cast = deed.part.kind == LEAT_PORT_CAST;
    for (uint32_t i = 0; i < deed.members; i++) {
        if (i == place || (is_cast && deed.port[i] != deed.part.root)) continue;
        if (at < deed.at[i] + lab->port.base.latency) return true;
    }
    return at < deed.at[place];
}

static inline void deed_collected(void *context, const struct leat_port_part *part, bool is_done,
                                  leat_time at)
{
    const uint32_t place = (uint32_t)part->id;
    deed.over++;
    deed.done += is_done;
    deed.over_at[place] = at;
    deed.wrong += deed_is_early(context, place, at);
    for (uint32_t i = 0; is_done && i < deed.part.words; i++)
        deed.wrong += part->word[i] != deed.expected[i];
    for (uint64_t i = 0; is_done && i < deed.part.len; i++)
        deed.wrong += part->octets[i] != deed_octet(i);
}

static inline void deed_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

static inline void deed_lost(void *context, const struct leat_port_message *message,
                             const char *why, leat_time at)
{
    (void)context, (void)message, (void)why, (void)at;
}

static inline void deed_prepare(uint32_t place)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed() + place);
    for (uint32_t i = 0; i < deed.part.words; i++) {
        const uint64_t word = deed.word[place][i] = leat_random_next(&random);
        deed.expected[i] = place ? leat_port_fold_one(deed.part.fold, deed.expected[i], word)
                                 : word;
    }
    for (uint64_t i = 0; i < deed.part.len; i++)
        deed.octets[place][i] = deed.port[place] == deed.part.root ? deed_octet(i) : 0;
}

static inline void deed_hand_over(struct lab *lab, uint32_t place)
{
    struct leat_port_part part = deed.part;
    part.port = deed.port[place];
    part.id = place;
    part.word = deed.word[place];
    part.octets = deed.octets[place];
    leat_port_collect(&lab->port.base, &part, deed.at[place]);
}

/* A group of these ports, or of the first ones. */
static inline uint32_t deed_group(struct lab *lab, const uint32_t *port, uint32_t count)
{
    memset(&deed, 0, sizeof deed);
    deed.members = count;
    for (uint32_t i = 0; i < count; i++)
        deed.port[i] = port ? port[i] : i;
    lab->port.base.observer = (struct leat_port_observer){ .context = lab,
                                                           .sent = deed_sent,
                                                           .arrived = deed_sent,
                                                           .lost = deed_lost,
                                                           .collected = deed_collected };
    const uint32_t id = leat_port_group(&lab->port.base, deed.port, count);
    OK(id != 0);
    return id;
}

/* The parts are handed over, each at most so much later. True: it is done, for all. It always ends,
 * and is never wrong. */
static inline bool deed_do(struct lab *lab, const struct leat_port_part *what, leat_time late)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed() ^ lab->port.base.now);
    deed.part = *what;
    deed.over = deed.done = deed.wrong = 0;
    for (uint32_t i = 0; i < deed.members; i++) {
        deed.at[i] = lab->port.base.now + leat_random_below(&random, late + 1);
        deed_prepare(i);
    }
    for (uint32_t i = 0; i < deed.members; i++)
        deed_hand_over(lab, i);
    while (deed.over < deed.members && lab->port.base.in_flight)
        leat_port_run(&lab->port.base, LEAT_NEVER);
    EQ(deed.over, deed.members);
    EQ(deed.wrong, 0);
    return deed.done == deed.members;
}

/* The cycle in which the last member has the result, from the hand-over on. */
static inline uint64_t deed_cycles(const struct lab *lab)
{
    leat_time first = LEAT_NEVER, last = 0;
    for (uint32_t i = 0; i < deed.members; i++) {
        first = leat_smaller(first, deed.at[i]);
        last = leat_larger(last, deed.over_at[i]);
    }
    const struct leat_sim_clock *clock = &lab->config.clock;
    return leat_sim_clock_cycle_from(clock, last) - leat_sim_clock_cycle_from(clock, first);
}

static inline struct leat_port_part deed_fold(uint32_t group, enum leat_port_fold fold,
                                              uint32_t words)
{
    return (struct leat_port_part){
        .group = group, .kind = LEAT_PORT_FOLD, .fold = fold, .words = words
    };
}

static inline struct leat_port_part deed_cast(uint32_t group, uint32_t root, uint64_t len)
{
    return (
        struct leat_port_part){ .group = group, .kind = LEAT_PORT_CAST, .root = root, .len = len };
}

#endif
