#include "esp_node.h"
#include "tap.h"
#include <string.h>

enum { TAU = 1600, GROUPS = 2 };
static const struct leat_esp_node node = { .id = 77, .seed = 5, .tau = TAU };
static uint8_t memory[GROUPS * sizeof(struct leat_esp_group) + 256];

static struct leat_esp_store fresh(void)
{
    struct leat_esp_store store;
    OK(leat_esp_store_footprint(GROUPS) <= sizeof memory);
    leat_esp_store_init(&store, &node, GROUPS, memory);
    EQ((uintptr_t)store.group % 64, 0);
    return store;
}

static void count(struct leat_esp_store *store, uint64_t clock, uint64_t computation, uint64_t tag)
{
    struct leat_esp_words w = { .computation = computation,
                                .opcode = LEAT_ESP_COUNT,
                                .operand = { tag, 9 } };
    EQ(leat_esp_store_execute(store, clock, &w).verdict, LEAT_ESP_PASS);
}

static void stores_are_sized_by_powers_of_two(void)
{
    EQ(leat_esp_groups_for(0), 1);
    EQ(leat_esp_groups_for(256), 1);
    EQ(leat_esp_groups_for(257), 2);
    EQ(leat_esp_groups_for(1000000), 4096);
    EQ(leat_esp_groups_for(UINT64_MAX), LEAT_ESP_GROUPS_MAX);
    OK(leat_esp_store_footprint(4096) <= UINT64_C(40) * 4096 * LEAT_ESP_GROUP_SLOTS);
    OK(leat_esp_store_footprint(1) <= 40 * LEAT_ESP_GROUP_SLOTS);
}

static void a_computations_bindings_are_listed_piece_by_piece(void)
{
    struct leat_esp_store store = fresh();
    const uint64_t mark = leat_esp_mark(&node, 7);
    const struct leat_esp_group *group = leat_esp_store_group(&store, mark);
    struct leat_esp_binding out[7];
    bool seen[50] = { false };
    uint32_t cursor = 0, total = 0, pieces = 0;
    for (uint64_t tag = 0; tag < 50; tag++) {
        count(&store, 100 + tag, 7, tag);
        count(&store, 100, 8, tag); /* nothing is reported about others */
    }
    do {
        const uint32_t n = leat_esp_group_list(group, mark, 7, 200, &cursor, out, 7);
        for (uint32_t i = 0; i < n; i++) {
            OK(out[i].tag < 50 && !seen[out[i].tag] && out[i].value == 1);
            EQ(out[i].remaining, 100 + out[i].tag + TAU - 200);
            seen[out[i].tag] = true;
        }
        total += n;
        pieces++;
    } while (cursor);
    EQ(total, 50);
    EQ(pieces, 8);
    EQ(leat_esp_group_list(group, mark, 7, 100 + TAU + 48, &cursor, out, 7), 1); /* the last one */
    EQ(cursor, 0);
    EQ(leat_esp_group_list(group, mark, 7, 100 + TAU + 49, &cursor, out, 7), 0);
}

static void a_survey_counts_ages_and_occupancy(void)
{
    struct leat_esp_store store = fresh();
    struct leat_esp_survey s = { 0 };
    for (uint64_t tag = 0; tag < 16; tag++)
        count(&store, tag * 100, 7, tag);
    for (uint32_t g = 0; g < GROUPS; g++)
        leat_esp_group_survey(&store.group[g], TAU, 1500, &s);
    EQ(s.live, 16);
    EQ(s.busiest, 16);
    EQ(s.full_buckets, 0);
    uint64_t sum = 0;
    for (int i = 0; i < LEAT_ESP_AGES; i++)
        sum += s.age[i];
    EQ(sum, 16);
    OK(s.age[0] >= 1 && s.age[0] <= 2 && s.age[LEAT_ESP_AGES - 2] >= 1);
    memset(&s, 0, sizeof s);
    memset(store.group[0].bucket[3].expiry, 0x3f, sizeof store.group[0].bucket[3].expiry);
    leat_esp_group_survey(&store.group[0], TAU, 4000, &s);
    EQ(s.full_buckets, 1);
    EQ(s.live, 8);
    EQ(s.age[0], 8); /* more than tau to live: the store had a longer one then */
}

static void a_node_answers_its_queries(void)
{
    struct leat_esp_store store = fresh();
    struct leat_esp_management reply, query = { .opcode = LEAT_ESP_QUERY, .computationId = 7 };
    uint32_t got = 0, answers = 0;
    for (uint64_t tag = 0; tag < 40; tag++)
        count(&store, 0, 7, tag);
    query.query = (struct leat_esp_query){ .target = 78, .nonce = 5, .store = LEAT_ESP_LOC_OUTPUT };
    OK(!leat_esp_store_answer(&store, 1, &query, &reply));
    query.query.target = 77;
    do {
        OK(leat_esp_store_answer(&store, 1, &query, &reply));
        EQ(reply.opcode, LEAT_ESP_REPLY);
        EQ(reply.computationId, 7);
        EQ(reply.reply.node, 77);
        EQ(reply.reply.nonce, 5);
        EQ(reply.reply.store, LEAT_ESP_LOC_OUTPUT);
        EQ(reply.reply.tau, TAU);
        uint8_t octets[LEAT_ESP_MANAGEMENT_LEN_MAX];
        EQ(leat_esp_management_encode(&reply, NULL, octets, sizeof octets, NULL), LEAT_ERR_OK);
        got += reply.reply.count;
        query.query.cursor = reply.reply.next;
        answers++;
    } while (reply.reply.next);
    EQ(got, 40);
    EQ(answers, 2);
    query.query.target = 0;
    query.query.cursor = UINT32_MAX; /* nonsense: nothing is there */
    OK(leat_esp_store_answer(&store, 1, &query, &reply));
    EQ(reply.reply.count, 0);
    count(&store, TAU, 7, 99); /* the group has seen a later time than the reader's clock */
    query.query.cursor = 0;
    OK(leat_esp_store_answer(&store, 1, &query, &reply));
    EQ(reply.reply.count, 1);
    query.opcode = LEAT_ESP_JOIN;
    OK(!leat_esp_store_answer(&store, 1, &query, &reply));
}

TAP_MAIN(T(stores_are_sized_by_powers_of_two), T(a_computations_bindings_are_listed_piece_by_piece),
         T(a_survey_counts_ages_and_occupancy), T(a_node_answers_its_queries))
