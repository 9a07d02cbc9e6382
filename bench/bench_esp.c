/*
 * Speed of the ESP core in memory, user space, one thread: instructions per second with the store
 * in the cache, and over a million live bindings of random computations. The best of several pieces
 * counts, since machines are noisy. Then how full a store can be before it refuses. XDP and
 * packets: bench_esp_live.sh.
 *
 *   bench_esp [--json FILE]
 */
#include "esp_node.h"
#include "esp_octets.h"
#include "figures.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 5, BATCH = 256, STEPS = 4000000, LIVE = 1 << 20, GROUPS = 8192 };
enum { ROBUST = LIVE / 5 }; /* RCHLD and RCOLLECT leave five bindings */

static const struct leat_esp_node node = { .id = 1, .seed = 2, .tau = UINT64_C(1) << 40 };

static void *open_store(struct leat_esp_store *store, uint32_t groups)
{
    void *memory = malloc(leat_esp_store_footprint(groups));
    if (!memory) {
        fprintf(stderr, "bench_esp: no memory\n");
        exit(1);
    }
    leat_esp_store_init(store, &node, groups, memory);
    return memory;
}

static struct leat_esp_words count_of(uint64_t computation)
{
    return (struct leat_esp_words){ .computation = computation,
                                    .opcode = LEAT_ESP_COUNT,
                                    .operand = { 1, UINT64_MAX } };
}

static struct leat_esp_words rchld_of(uint64_t computation)
{
    return (struct leat_esp_words){ .computation = computation,
                                    .opcode = LEAT_ESP_RCHLD,
                                    .operand = { 9, 2, 3, UINT64_MAX } };
}

/* Child 9 is collected already: the router sends the total again, with the same reads and
 * writes. */
static struct leat_esp_words rcollect_of(uint64_t computation)
{
    return (struct leat_esp_words){ .computation = computation,
                                    .opcode = LEAT_ESP_RCOLLECT,
                                    .operand = { 9, 2, 4, 1, 5, UINT64_MAX, UINT64_C(1) << 32 } };
}

static void must_pass(struct leat_esp_outcome out)
{
    if (out.verdict == LEAT_ESP_PASS) return;
    fprintf(stderr, "bench_esp: an instruction went wrong\n");
    exit(1);
}

/* Computations 1 .. count, spread over 64 bits, each with its bindings. */
static void populate(struct leat_esp_store *store, uint64_t count, bool robust)
{
    for (uint64_t i = 1; i <= count; i++) {
        struct leat_esp_words w = robust ? rchld_of(leat_esp_spread(i))
                                         : count_of(leat_esp_spread(i));
        must_pass(leat_esp_store_execute(store, 1, &w));
        if (!robust) continue;
        w = rcollect_of(leat_esp_spread(i));
        must_pass(leat_esp_store_execute(store, 1, &w));
    }
}

/*
 * Millions per second, batch by batch; preparing a batch is not timed. `cold`: memory is
 * prefetched.
 */
static double speed(struct leat_esp_store *store, uint64_t count, bool robust, bool cold)
{
    static struct leat_esp_words w[BATCH];
    static struct leat_esp_outcome out[BATCH];
    struct leat_random r;
    double best = 0;
    leat_random_seed(&r, 1);
    for (int piece = 0; piece < PIECES; piece++) {
        double took = 0;
        for (uint64_t done = 0; done < STEPS; done += BATCH) {
            for (int i = 0; i < BATCH; i++) {
                const uint64_t computation = leat_esp_spread(1 + leat_random_below(&r, count));
                w[i] = robust ? rcollect_of(computation) : count_of(computation);
            }
            const double began = now_ns();
            if (cold)
                leat_esp_store_execute_many(store, 2, w, out, BATCH);
            else
                for (int i = 0; i < BATCH; i++)
                    out[i] = leat_esp_store_execute(store, 2, &w[i]);
            took += now_ns() - began;
            must_pass(out[BATCH - 1]);
        }
        if (STEPS / took > best) best = STEPS / took;
    }
    return best * 1e3;
}

/* Octets in, octets out: checks, one instruction, and sealing the packet again. */
static double speed_of_octets(struct leat_esp_store *store, unsigned opcode)
{
    double best = 0;
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX], frame[LEAT_ESP_PACKET_LEN_MAX];
    const struct leat_esp_words made = opcode == LEAT_ESP_COUNT ? count_of(leat_esp_spread(1))
                                                                : rcollect_of(leat_esp_spread(1));
    struct leat_esp_packet p;
    size_t len;
    leat_esp_words_back(&made, &p);
    p.flags = LEAT_ESP_FLAG_X;
    leat_esp_packet_encode(&p, octets, sizeof octets, &len);
    for (int piece = 0; piece < PIECES; piece++) {
        const double began = now_ns();
        for (int i = 0; i < STEPS; i++) {
            struct leat_esp_words w;
            memcpy(frame, octets, len);
            if (leat_esp_octets_read(frame, frame + len, &w)) exit(1);
            must_pass(leat_esp_store_execute(store, 2, &w));
            if (!leat_esp_octets_write(frame, frame + len, &w)) exit(1);
        }
        const double took = now_ns() - began;
        if (STEPS / took > best) best = STEPS / took;
    }
    return best * 1e3;
}

/* How many instructions of a million are refused while a store fills to this percentage. */
static double refused(struct leat_esp_store *store, uint64_t percent, bool robust)
{
    const uint64_t slots = (uint64_t)store->groups * LEAT_ESP_GROUP_SLOTS;
    const uint64_t count = slots * percent / 100 / (robust ? 5 : 1);
    uint64_t steps = 0, full = 0;
    memset(store->group, 0, store->groups * sizeof *store->group);
    for (uint64_t i = 1; i <= count; i++) {
        struct leat_esp_words w = robust ? rchld_of(leat_esp_spread(i))
                                         : count_of(leat_esp_spread(i));
        uint32_t verdict = leat_esp_store_execute(store, 1, &w).verdict;
        steps++;
        if (robust && verdict == LEAT_ESP_PASS) {
            w = rcollect_of(leat_esp_spread(i));
            verdict = leat_esp_store_execute(store, 1, &w).verdict;
            steps++;
        }
        full += verdict == LEAT_ESP_FULL;
    }
    return 1e6 * (double)full / (double)steps;
}

/* Children that a robust computation can have in an empty group: the minimum of this many tries. */
static double children(struct leat_esp_store *store, uint64_t tries)
{
    uint64_t fewest = LEAT_ESP_GROUP_SLOTS;
    for (uint64_t computation = 1; computation <= tries; computation++) {
        uint64_t child = 0;
        memset(store->group, 0, store->groups * sizeof *store->group);
        for (;; child++) {
            struct leat_esp_words w = rchld_of(computation);
            w.operand[0] = 1000 + child;
            if (leat_esp_store_execute(store, 1, &w).verdict != LEAT_ESP_PASS) break;
        }
        if (child < fewest) fewest = child;
    }
    return (double)fewest;
}

static void note_fullness(struct leat_esp_store *large)
{
    struct leat_esp_store one;
    void *memory = open_store(&one, 1);
    note("refused at 50 % load, one binding each", refused(large, 50, false), "of 1 M", "", true);
    note("refused at 70 % load, one binding each", refused(large, 70, false), "of 1 M", "", true);
    note("refused at 40 % load, five bindings each", refused(large, 40, true), "of 1 M", "", true);
    note("refused at 50 % load, five bindings each", refused(large, 50, true), "of 1 M", "", true);
    note("children in a group, fewest of 20,000", children(&one, 20000), "", "", true);
    free(memory);
}

int main(int argc, char **argv)
{
    struct leat_esp_store small, large;
    void *small_memory = open_store(&small, 16), *large_memory = open_store(&large, GROUPS);
    populate(&small, 256, false);
    populate(&small, 64, true);
    const double count_hot = speed(&small, 256, false, false);
    const double rcollect_hot = speed(&small, 64, true, false);
    const double count_octets = speed_of_octets(&small, LEAT_ESP_COUNT);
    const double rcollect_octets = speed_of_octets(&small, LEAT_ESP_RCOLLECT);
    populate(&large, LIVE, false);
    const double count_cold = speed(&large, LIVE, false, true);
    struct leat_esp_store robust;
    void *robust_memory = open_store(&robust,
                                     2 * GROUPS); /* five of a kind: groups fill unevenly */
    populate(&robust, ROBUST, true);
    const double rcollect_cold = speed(&robust, ROBUST, true, true);
    const double slot = (double)leat_esp_store_footprint(GROUPS) / (GROUPS * LEAT_ESP_GROUP_SLOTS);

    note("COUNT, hot", count_hot, "M/s", ">= 20", count_hot >= 20);
    note("COUNT, 1 M live bindings, random computations", count_cold, "M/s", ">= 5",
         count_cold >= 5);
    note("RCOLLECT, hot", rcollect_hot, "M/s", "", true);
    note("RCOLLECT, 1 M live bindings, random", rcollect_cold, "M/s", "", true);
    note("COUNT, octets to octets, hot", count_octets, "M/s", "", true);
    note("RCOLLECT, octets to octets, hot", rcollect_octets, "M/s", "", true);
    note("memory of a slot", slot, "octets", "<= 40", slot <= 40);
    note_fullness(&large);
    free(small_memory);
    free(large_memory);
    free(robust_memory);
    if (argc == 3 && strcmp(argv[1], "--json") == 0) return write_json(argv[2]);
    return 0;
}
