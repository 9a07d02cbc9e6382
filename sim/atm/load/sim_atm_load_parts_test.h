/*
 * Random loads of random small fabrics, once in one part and then in every number of parts: all
 * figures must be the same, and all callbacks in the same order. With a crew or without one.
 */
#ifndef LEAT_SIM_ATM_LOAD_PARTS_TEST_H
#define LEAT_SIM_ATM_LOAD_PARTS_TEST_H

#include "sim_atm_faults_test.h"
#include "sim_atm_load.h"
#include "sim_atm_traffic.h"
#include "tap.h"
#include <leat/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_PORTS_MAX = 128, PARTS_RATE = LEAT_SIM_ATM_LINE_RATE_ONE };

struct parts_case {
    char fabric[64];
    enum leat_sim_atm_traffic_pattern pattern;
    uint32_t load_ppm, bytes;
    uint64_t cycles, seed;
    struct leat_atm_aal_config aal; /* only what `leat sim` can set */
    struct leat_sim_atm_line_config line;
    struct leat_sim_atm_line_outage outage;
    uint32_t faults;   /* in the network, of the seed */
    bool octets_given; /* the source brings the octets of some messages */
};

/* Everything that does not depend on parts, as 64-bit numbers. */
struct parts_outcome {
    uint64_t certificate, last_delivery_at, latency_hash, links_hash, callbacks_hash, gaps;
    struct leat_sim_atm_counts network;
    struct leat_sim_atm_load_counts counts;
    struct leat_atm_aal_counts units;
    struct leat_sim_atm_line_counts lines;
    struct leat_sim_atm_losses losses;
};

struct parts_bench {
    const struct parts_case *of;
    struct leat_sim_atm_load load;
    struct leat_sim_atm_traffic traffic;
    struct leat_sim_atm_traffic_source source[PARTS_PORTS_MAX];
    uint32_t partner[PARTS_PORTS_MAX];
    struct faults_bench faults;
    uint64_t callbacks_hash;
};

/* Of all messages with octets; nobody writes them. */
static const uint8_t parts_octets[512] = { 1, 2, 3 };

static bool parts_next(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct parts_bench *b = context;
    *out = (struct leat_sim_message){ .len = b->of->bytes };
    if (b->of->octets_given && port % 2) out->octets = parts_octets;
    return leat_sim_atm_traffic_next(&b->traffic, &b->source[port], port, &out->at, &out->to);
}

static void parts_note(struct parts_bench *b, const uint64_t *word, size_t count)
{
    for (size_t i = 0; i < count; i++)
        b->callbacks_hash = leat_sim_fnv_word(b->callbacks_hash, word[i]);
}

static void parts_arrived(void *context, const struct leat_sim_delivery *d, uint64_t arose_at)
{
    const uint64_t word[] = { d->at, d->source, d->destination, d->number, arose_at };
    parts_note(context, word, 5);
}

static void parts_given_up(void *context, uint32_t port, uint32_t ports_missing, uint64_t at)
{
    const uint64_t word[] = { port, ports_missing, at };
    parts_note(context, word, 3);
}

static struct leat_sim_atm_load_config parts_config(struct parts_bench *b, uint32_t parts,
                                                    struct leat_sim_crew *crew)
{
    const struct parts_case *c = b->of;
    struct leat_text why = LEAT_TEXT(256);
    struct leat_sim_atm_load_config config = { .crew = crew,
                                               .model = LEAT_SIM_ATM_CELL,
                                               .len_max = c->bytes,
                                               .aal = c->aal,
                                               .next = parts_next,
                                               .next_context = b,
                                               .line = c->line,
                                               .arrived = parts_arrived,
                                               .given_up = parts_given_up };
    EQ(leat_sim_atm_fabric_parse(c->fabric, &config.fabric, &why), LEAT_ERR_OK);
    config.fabric.parts = parts;
    if (config.line.outage_count) config.line.outage = &c->outage;
    return config;
}

static void parts_seed(struct parts_bench *b, uint32_t ports)
{
    const struct parts_case *c = b->of;
    if (ports > PARTS_PORTS_MAX) abort();
    leat_sim_atm_traffic_init(&b->traffic, c->pattern, ports, c->load_ppm,
                              (uint64_t)53 * ((c->bytes + 20 + 35) / 36)
                                  << LEAT_SIM_ATM_TRAFFIC_TIME_BITS,
                              c->seed, b->partner);
    for (uint32_t port = 0; port < ports; port++)
        leat_sim_atm_traffic_source_init(&b->source[port], c->seed, port);
}

static struct parts_outcome parts_outcome_of(struct parts_bench *b)
{
    struct leat_sim_atm_load *load = &b->load;
    struct parts_outcome out = {
        .certificate = leat_sim_certificate_value(&load->certificate),
        .last_delivery_at = load->last_delivery_at,
        .latency_hash = leat_sim_payload_hash((const uint8_t *)&load->latency,
                                              sizeof load->latency),
        .callbacks_hash = b->callbacks_hash,
        .gaps = leat_sim_atm_load_gaps(load),
        .network = load->sim.counts,
    };
    for (uint32_t i = 0; i < leat_sim_atm_link_count(&load->sim.fabric.net); i++)
        out.links_hash = leat_sim_fnv_word(out.links_hash, leat_sim_atm_link_cells(&load->sim, i));
    leat_sim_atm_load_count_offered(load);
    out.counts = load->counts;
    leat_sim_atm_losses(&load->sim, &out.losses);
    leat_sim_atm_load_units(load, &out.units);
    leat_sim_atm_load_lines(load, &out.lines);
    return out;
}

static struct parts_outcome parts_run(const struct parts_case *c, uint32_t parts,
                                      struct leat_sim_crew *crew)
{
    static struct parts_bench b;
    struct leat_random pieces;
    memset(&b, 0, sizeof b);
    b.of = c;
    struct leat_sim_atm_load_config config = parts_config(&b, parts, crew);
    leat_random_seed(&pieces, c->seed);
    faults_begin(&b.faults, &config.fabric.net, c->seed);
    for (uint32_t i = 0; i < c->faults; i++)
        faults_draw(&b.faults, &pieces, &config.fabric.net, c->cycles);
    if (c->faults) config.fabric.faults = &b.faults.faults;
    void *memory = calloc(1, leat_sim_atm_load_footprint(&config));
    if (!memory) abort();
    parts_seed(&b, config.fabric.net.ports);
    leat_sim_atm_load_init(&b.load, &config, memory);
    for (uint64_t to = 1; to < c->cycles; to += 1 + leat_random_below(&pieces, 5000))
        leat_sim_atm_load_run(&b.load, to);
    leat_sim_atm_load_run(&b.load, c->cycles);
    const struct parts_outcome out = parts_outcome_of(&b);
    free(memory);
    free(b.faults.memory);
    return out;
}

static void parts_choose_lines(struct leat_random *r, struct parts_case *c)
{
    c->line = (struct leat_sim_atm_line_config){ .seed = c->seed, .hec = leat_random_below(r, 2) };
    c->line.header_errors = (uint32_t)leat_random_below(r, PARTS_RATE / 100000);
    c->line.payload_errors = (uint32_t)leat_random_below(r, PARTS_RATE / 100000);
    c->line.lose = (uint32_t)leat_random_below(r, PARTS_RATE / 100);
    c->line.insert = (uint32_t)leat_random_below(r, PARTS_RATE / 100);
    c->line.duplicate = (uint32_t)leat_random_below(r, PARTS_RATE / 100);
    c->line.outage_count = 1;
    c->outage = (struct leat_sim_atm_line_outage){ .port = 0, .from = 100, .to = 3000 };
}

/* Half of them have so much room that they nearly always run in strides. */
static struct parts_case parts_choose(struct leat_random *r)
{
    struct parts_case c = { .seed = leat_random_next(r) >> 32 };
    const bool roomy = leat_random_below(r, 2);
    const unsigned ends = 1 + (unsigned)leat_random_below(r, 6);
    const unsigned middle = 1 + (unsigned)leat_random_below(r, 7);
    const unsigned outer = 2 + (unsigned)leat_random_below(r, 6);
    const unsigned buffer = (roomy ? 8 : 1) + (unsigned)leat_random_below(r, 8);
    const char *switching = leat_random_below(r, 4) ? "" : "/switching=vc";
    snprintf(c.fabric, sizeof c.fabric, "clos:%u,%u,%u/buffer=%u%s", ends, middle, outer, buffer,
             switching);
    c.pattern = (enum leat_sim_atm_traffic_pattern)leat_random_below(r, 5);
    c.load_ppm = (uint32_t)leat_random_below(r, 1000001);
    c.cycles = 1000 + leat_random_below(r, 20000);
    leat_atm_aal_config_default(&c.aal, 0, 1, 1);
    c.aal.send_blocks = c.aal.receive_blocks = (roomy ? 200 : 3) +
                                               (uint32_t)leat_random_below(r, 38);
    c.aal.descriptors = (roomy ? 16 : 1) + (uint32_t)leat_random_below(r, 4);
    c.aal.retransmit_cycles = 100 + (uint32_t)leat_random_below(r, roomy ? 20000 : 2000);
    c.aal.obsolete_cycles = 1 + (uint32_t)leat_random_below(r, 3000);
    c.aal.transmissions_max = 1 + (uint8_t)leat_random_below(r, 4);
    c.aal.resync = leat_random_below(r, 2);
    const uint32_t bytes_end = leat_random_below(r, 4) ? 60 : 500;
    c.bytes = (uint32_t)leat_random_below(r, bytes_end);
    if (c.bytes > leat_atm_aal_message_max(c.aal.send_blocks)) c.bytes = 16;
    c.octets_given = leat_random_below(r, 3) == 0;
    if (leat_random_below(r, 5) == 0) parts_choose_lines(r, &c);
    if (c.seed % 5 == 0) c.faults = 1 + (uint32_t)(c.seed / 5 % 4);
    return c;
}

static bool parts_same(const struct parts_case *c, const struct parts_outcome *one, uint32_t parts,
                       struct leat_sim_crew *crew)
{
    const struct parts_outcome many = parts_run(c, parts, crew);
    if (memcmp(one, &many, sizeof many) == 0) return true;
    printf("# leat sim %s --traffic %s --load %u.%06u --bytes %u --cycles %llu --seed %llu "
           "--blocks %u --descriptors %u --retransmit %u --obsolete %u --transmissions %u, %u "
           "faults of the seed, in %u parts by %u members\n",
           c->fabric, leat_sim_atm_traffic_name(c->pattern), c->load_ppm / 1000000,
           c->load_ppm % 1000000, c->bytes, (unsigned long long)c->cycles,
           (unsigned long long)c->seed, c->aal.send_blocks, c->aal.descriptors,
           c->aal.retransmit_cycles, c->aal.obsolete_cycles, (unsigned)c->aal.transmissions_max,
           c->faults, parts, leat_sim_crew_members(crew));
    return false;
}

#endif
