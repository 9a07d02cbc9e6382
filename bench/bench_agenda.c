/*
 * Speed of the event kernel and of the certificate's hashes. Every figure is the best of several
 * short runs.
 *
 *   bench_agenda [--json FILE]
 */
#include "figures.h"
#include "sim_agenda.h"
#include "sim_certificate.h"
#include <leat/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPEATS = 9,
    EVENTS = 2000000,
    DELAYS = 4096, /* drawn in advance */
    CELL_TIME = 53,
    PAYLOAD_LEN = 36, /* of the prototype's cells */
    HASHES = 200000,
};

static volatile uint64_t sink; /* keeps results from being optimised away */

static void note_ns(const char *name, double ns, double most_ns, const char *target)
{
    note(name, ns, "ns", target, ns <= most_ns);
}

static uint8_t delays[DELAYS];

/* Every entity acts in every phase and schedules itself again: ns per take, set and share of
 * advance. */
static double hold_ns(uint32_t entities)
{
    struct leat_sim_agenda_shape shape = { .phases = 3,
                                           .entities = { entities, entities, entities } };
    struct leat_sim_agenda a;
    void *memory = malloc(leat_sim_agenda_footprint(&shape));
    if (!memory) abort();
    leat_sim_agenda_init(&a, &shape, memory);
    for (uint32_t phase = 0; phase < 3; phase++)
        for (uint32_t e = 0; e < entities; e++)
            leat_sim_agenda_set(&a, phase, e, delays[(phase * 31 + e) % DELAYS]);
    double best = 1e18;
    for (int k = 0; k < REPEATS; k++) {
        uint32_t events = 0, e = 0;
        uint64_t now = 0;
        const double start = now_ns();
        while (events < EVENTS && leat_sim_agenda_advance(&a, LEAT_NEVER, &now))
            for (uint32_t phase = 0; phase < 3; phase++)
                while (leat_sim_agenda_take(&a, phase, &e))
                    leat_sim_agenda_set(&a, phase, e, now + delays[events++ % DELAYS]);
        const double took = (now_ns() - start) / events;
        if (took < best) best = took;
        sink += now;
    }
    free(memory);
    return best;
}

/* A lone event far beyond the wheel, repeated: the cost of an idle network. */
static double idle_ns(uint64_t gap)
{
    const struct leat_sim_agenda_shape shape = { .phases = 1, .entities = { 64 } };
    struct leat_sim_agenda a;
    void *memory = malloc(leat_sim_agenda_footprint(&shape));
    if (!memory) abort();
    leat_sim_agenda_init(&a, &shape, memory);
    leat_sim_agenda_set(&a, 0, 1, gap);
    uint64_t now = 0;
    uint32_t e = 0;
    const double start = now_ns();
    for (int i = 0; i < EVENTS; i++) {
        if (!leat_sim_agenda_advance(&a, LEAT_NEVER, &now) || !leat_sim_agenda_take(&a, 0, &e))
            abort();
        leat_sim_agenda_set(&a, 0, e, now + gap);
    }
    sink += now;
    free(memory);
    return (now_ns() - start) / EVENTS;
}

static double payload_ns(void)
{
    static uint8_t octets[256];
    double best = 1e18;
    for (int k = 0; k < REPEATS; k++) {
        const double start = now_ns();
        for (int i = 0; i < HASHES; i++)
            sink += leat_sim_payload_hash(octets + (i & 63), PAYLOAD_LEN);
        const double took = (now_ns() - start) / HASHES;
        if (took < best) best = took;
    }
    return best;
}

static double certificate_ns(void)
{
    struct leat_sim_certificate c;
    double best = 1e18;
    leat_sim_certificate_init(&c);
    struct leat_sim_delivery d = { .payload_hash = 0x0123456789abcdef };
    for (int k = 0; k < REPEATS; k++) {
        const double start = now_ns();
        for (int i = 0; i < HASHES; i++) {
            d.at++;
            leat_sim_certificate_add(&c, &d);
        }
        const double took = (now_ns() - start) / HASHES;
        if (took < best) best = took;
    }
    sink += leat_sim_certificate_value(&c);
    return best;
}

int main(int argc, char **argv)
{
    struct leat_random r;
    memset(delays, CELL_TIME, sizeof delays);
    note_ns("set and take, 3 phases of 16", hold_ns(16), 5, "at most 5 ns");
    note_ns("set and take, 3 phases of 64", hold_ns(64), 5, "at most 5 ns");
    note_ns("set and take, 3 phases of 12,288", hold_ns(12288), 15, "at most 15 ns");
    /* With random delays every event costs a branch misprediction or two, and few share an
     * advance. */
    leat_random_seed(&r, 1);
    for (int i = 0; i < DELAYS; i++)
        delays[i] = (uint8_t)(1 + leat_random_below(&r, CELL_TIME + 1));
    note_ns("the same at random times, 3 phases of 16", hold_ns(16), 0, "");
    note_ns("the same at random times, 3 phases of 64", hold_ns(64), 0, "");
    note_ns("the same at random times, 3 phases of 12,288", hold_ns(12288), 0, "");
    note_ns("a jump of 1,000,000 cycles, set and take", idle_ns(1000000), 100, "at most 100 ns");
    note_ns("payload hash of 36 octets", payload_ns(), 10, "at most 10 ns");
    note_ns("a delivery into the certificate", certificate_ns(), 50, "at most 50 ns");
    if (argc == 3 && strcmp(argv[1], "--json") == 0) return write_json(argv[2]);
    return 0;
}
