/*
 * Speed of the ring: station-visits of the word model, bit-steps of the bit model. The best of
 * several pieces counts, since machines are noisy.
 *
 *   bench_ring [--json FILE]
 */
#include "figures.h"
#include "sim_aton.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 5, STATIONS = 64, WORD_PACKETS = 100000, BIT_PACKETS = 2000 };

struct bench {
    struct leat_sim_aton ring;
    struct leat_aton_order order;
    uint64_t left;
};

/* Sends the next command as soon as the last is back. */
static void done(void *context, const struct leat_sim_aton_result *result)
{
    struct bench *b = context;
    if (result->result.status != LEAT_ATON_DONE || !--b->left) {
        b->ring.stop = true;
        return;
    }
    const uint32_t next = (result->station + 1) % b->ring.config.stations;
    leat_sim_aton_hand_over(&b->ring, next, &b->order, 0, result->at, 0);
}

static void run(struct bench *b, uint64_t packets)
{
    b->left = packets;
    leat_sim_aton_hand_over(&b->ring, 0, &b->order, 0, b->ring.now, 0);
    leat_sim_aton_run(&b->ring, LEAT_NEVER);
    if (b->left) {
        fprintf(stderr, "bench_ring: a command went wrong\n");
        exit(1);
    }
}

static void *open_ring(struct bench *b, enum leat_sim_aton_model model, unsigned opcode)
{
    const struct leat_sim_aton_config config = {
        .stations = STATIONS, .model = model, .payload_max = 1024, .orders_max = 4
    };
    const struct leat_sim_aton_host host = { .context = b, .done = done };
    struct leat_random r;
    void *memory = malloc(leat_sim_aton_footprint(&config));
    if (!memory) {
        fprintf(stderr, "bench_ring: no memory\n");
        exit(1);
    }
    *b = (struct bench){
        .order.command = { .opcode = (uint8_t)opcode, .width_bits = 32, .da = LEAT_ATON_DA_ALL }
    };
    leat_sim_aton_init(&b->ring, &config, &host, memory);
    leat_random_seed(&r, 1);
    for (uint32_t i = 0; i < STATIONS; i++)
        leat_sim_aton_registers(&b->ring, i)->operand[0] = leat_random_next(&r);
    return memory;
}

/* Millions per second: visits, or every interface in every bit time. */
static double speed(enum leat_sim_aton_model model, unsigned opcode, uint64_t packets)
{
    double best = 0;
    for (int piece = 0; piece < PIECES; piece++) {
        struct bench b;
        void *memory = open_ring(&b, model, opcode);
        const double began = now_ns();
        run(&b, packets);
        const double took = now_ns() - began;
        const double work = model == LEAT_SIM_ATON_WORD ? (double)b.ring.counts.visits
                                                        : (double)b.ring.now * STATIONS;
        if (work / took > best) best = work / took;
        free(memory);
    }
    return best * 1e3;
}

int main(int argc, char **argv)
{
    const double add = speed(LEAT_SIM_ATON_WORD, LEAT_ATON_ADD, WORD_PACKETS);
    const double min = speed(LEAT_SIM_ATON_WORD, LEAT_ATON_MIN, WORD_PACKETS);
    const double bits = speed(LEAT_SIM_ATON_BIT, LEAT_ATON_ADD, BIT_PACKETS);
    note("word model, ADD, 64 stations", add, "M visits/s", ">= 20", add >= 20);
    note("word model, MIN, 64 stations", min, "M visits/s", ">= 20", min >= 20);
    note("bit model, ADD, 64 stations", bits, "M steps/s", ">= 100", bits >= 100);
    if (argc == 3 && strcmp(argv[1], "--json") == 0) return write_json(argv[2]);
    return 0;
}
