#include "esp_gather.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <string.h>

enum { CHILDREN = 5 };

static struct leat_esp_store store;
static void *memory;

static void set_up(uint64_t slots)
{
    const uint32_t groups = leat_esp_groups_for(slots);
    const struct leat_esp_node node = { .id = 7, .seed = 3, .tau = LEAT_ESP_GATHER_TAU };
    free(memory);
    memory = calloc(1, leat_esp_store_footprint(groups));
    leat_esp_store_init(&store, &node, groups, memory);
}

static uint64_t plain(enum leat_port_fold fold, uint64_t a, uint64_t b)
{
    switch (fold) {
    case LEAT_PORT_SUM: return a + b;
    case LEAT_PORT_AND: return a & b;
    case LEAT_PORT_OR: return a | b;
    case LEAT_PORT_XOR: return a ^ b;
    case LEAT_PORT_MAX: return a > b ? a : b;
    case LEAT_PORT_MIN: return a < b ? a : b;
    case LEAT_PORT_FOLDS: break;
    }
    return 0;
}

/* Operation after operation finds the store as the first one did, whatever its fold. */
static void totals_are_those_of_a_plain_fold(void)
{
    const struct leat_esp_gather group = { .serial = 4, .epoch = 0, .children = CHILDREN };
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    set_up(LEAT_ESP_GATHER_SLOTS);
    for (uint32_t i = 0; i < 2000; i++) {
        const enum leat_port_fold fold = (enum leat_port_fold)leat_random_below(&random,
                                                                                LEAT_PORT_FOLDS);
        const uint32_t word = (uint32_t)leat_random_below(&random, 3);
        uint64_t total = 0, value = 0;
        for (uint32_t child = 0; child < CHILDREN; child++) {
            value = leat_random_next(&random);
            total = child ? plain(fold, total, value) : value;
            EQ(leat_esp_gather_collect(&store, i, &group, fold, word, &value),
               child + 1 < CHILDREN ? LEAT_ESP_STOP : LEAT_ESP_PASS);
        }
        EQ(value, total);
    }
}

static void folds_of_ports_are_folds_of_packets(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (uint32_t i = 0; i < 1000; i++) {
        const enum leat_port_fold fold = (enum leat_port_fold)(i % LEAT_PORT_FOLDS);
        const uint64_t a = leat_random_next(&random), b = leat_random_next(&random);
        OK(leat_esp_fold(leat_esp_gather_fold(fold), a, b) == plain(fold, a, b));
    }
}

static void groups_and_epochs_are_apart(void)
{
    struct leat_esp_gather one = { .serial = 0, .children = 2 }, other = one, later = one;
    uint64_t value = 1;
    other.serial = 1;
    later.epoch = 1;
    set_up(LEAT_ESP_GATHER_SLOTS);
    EQ(leat_esp_gather_collect(&store, 0, &one, LEAT_PORT_SUM, 0, &value), LEAT_ESP_STOP);
    EQ(leat_esp_gather_collect(&store, 0, &other, LEAT_PORT_SUM, 0, &value), LEAT_ESP_STOP);
    EQ(leat_esp_gather_collect(&store, 0, &later, LEAT_PORT_SUM, 0, &value), LEAT_ESP_STOP);
    value = 10;
    EQ(leat_esp_gather_collect(&store, 0, &one, LEAT_PORT_SUM, 0, &value), LEAT_ESP_PASS);
    EQ(value, 11);
}

/* A part that is older than tau is gone as a whole: the count starts again. */
static void bindings_expire_together(void)
{
    const struct leat_esp_gather group = { .serial = 0, .children = 2 };
    const leat_time late = LEAT_ESP_GATHER_TAU + 1;
    uint64_t value = 1;
    set_up(LEAT_ESP_GATHER_SLOTS);
    EQ(leat_esp_gather_collect(&store, 0, &group, LEAT_PORT_SUM, 0, &value), LEAT_ESP_STOP);
    EQ(leat_esp_gather_collect(&store, late, &group, LEAT_PORT_SUM, 0, &value), LEAT_ESP_STOP);
    value = 5;
    EQ(leat_esp_gather_collect(&store, late, &group, LEAT_PORT_SUM, 0, &value), LEAT_ESP_PASS);
    EQ(value, 6);
}

static void a_full_store_says_so(void)
{
    const struct leat_esp_gather group = { .serial = 0, .children = 2 };
    uint32_t refused = 0;
    uint64_t value = 1;
    set_up(1);
    for (uint32_t word = 0; word < 1000; word++)
        refused += leat_esp_gather_collect(&store, 0, &group, LEAT_PORT_SUM, word, &value) !=
                   LEAT_ESP_STOP;
    OK(refused > 0);
    free(memory);
    memory = NULL;
}

static void packets_are_those_of_the_room(void)
{
    const struct leat_esp_gather group = { .serial = 6, .epoch = 2, .children = 3 };
    const struct leat_esp_packet collect = leat_esp_gather_packet(&group, LEAT_PORT_MAX, 9, 77);
    uint8_t octets[LEAT_ESP_GATHER_CAST_MAX];
    struct leat_esp_packet read;
    struct leat_esp_management cast;
    size_t len = 0;
    OK(!leat_esp_packet_encode(&collect, octets, sizeof octets, &len));
    EQ(len, leat_esp_packet_len(LEAT_ESP_COLLECT));
    OK(!leat_esp_packet_decode(octets, len, &read, NULL));
    EQ(read.op, LEAT_ESP_FOLD_MAX);
    EQ(read.val, 77);
    EQ(read.computationId, collect.computationId);
    for (size_t payload = 0; payload <= 20; payload++) {
        len = leat_esp_gather_cast(&group, 5, 3, 9, "twenty octets of all!", payload, octets);
        EQ(len, leat_esp_cast_len(payload));
        OK(!leat_esp_management_decode(octets, len, NULL, &cast, NULL));
        EQ(cast.opcode, LEAT_ESP_CAST);
        EQ(cast.computationId, 5);
        EQ(cast.cast.group, collect.chldCntTag);
        EQ(cast.cast.serial, UINT64_C(3) << 32 | 9);
        EQ(cast.cast.payload_len, payload);
        OK(!memcmp(cast.cast.payload, "twenty octets of all!", payload));
    }
}

TAP_MAIN(T(totals_are_those_of_a_plain_fold), T(folds_of_ports_are_folds_of_packets),
         T(groups_and_epochs_are_apart), T(bindings_expire_together), T(a_full_store_says_so),
         T(packets_are_those_of_the_room))
