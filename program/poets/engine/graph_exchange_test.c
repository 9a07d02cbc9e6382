#include "graph_exchange.h"
#include "graph_link_test.h"
#include "tap.h"

static void what_is_packed_is_unpacked(void)
{
    struct leat_poets_parcel p = { 0 }, all = { 0 };
    size_t len;
    OK(leat_poets_parcel_is_empty(&p));
    leat_poets_parcel_put(&p, 0xfedcba98);
    leat_poets_parcel_put_text(&p, "a\0b", 3);
    leat_poets_parcel_put_text(&p, "", 0);
    leat_poets_parcel_put(&all, 7);
    leat_poets_parcel_put_all(&all, &p);
    EQ(leat_poets_parcel_take(&all), 7);
    EQ(leat_poets_parcel_take(&all), 0xfedcba98);
    const char *text = leat_poets_parcel_take_text(&all, &len);
    OK(len == 3 && memcmp(text, "a\0b", 3) == 0);
    OK(!leat_poets_parcel_is_empty(&all));
    leat_poets_parcel_take_text(&all, &len);
    EQ(len, 0);
    OK(leat_poets_parcel_is_empty(&all) && !all.damaged);
    EQ(leat_poets_parcel_take(&all), 0);
    OK(all.damaged);
    leat_poets_parcel_put(&p, 1000); /* the length of a text that is not there */
    p.at = p.len - 4;
    OK(*leat_poets_parcel_take_text(&p, &len) == '\0' && !len && p.damaged);
    leat_poets_parcel_free(&p);
    leat_poets_parcel_free(&all);
    OK(leat_poets_parcel_is_empty(&all) && !all.damaged);
}

/* The words from one rank to another in a round. */
static uint32_t words(uint32_t from, uint32_t to, uint32_t round)
{
    static const uint32_t some[] = { 0, 1, 4095, 4096, 4097, 50000 };
    return some[(from * 3 + to * 5 + round) % 6];
}

static uint32_t word(uint32_t from, uint32_t to, uint32_t round, uint32_t number)
{
    return (from * 31 + to * 17 + round * 7 + 1) * 2654435761U + number;
}

static bool round_of(struct leat_poets_link *link, struct leat_poets_parcel *parcel, uint32_t round)
{
    bool good = true;
    for (uint32_t to = 0; to < RANKS; to++)
        for (uint32_t i = 0; i < words(link->rank, to, round); i++)
            leat_poets_parcel_put(&parcel[to], word(link->rank, to, round, i));
    if (!leat_poets_exchange(link, parcel, true)) return false;
    for (uint32_t from = 0; from < RANKS; from++) {
        for (uint32_t i = 0; i < words(from, link->rank, round); i++)
            good = good &&
                   leat_poets_parcel_take(&parcel[from]) == word(from, link->rank, round, i);
        good = good && leat_poets_parcel_is_empty(&parcel[from]) && !parcel[from].damaged;
        leat_poets_parcel_free(&parcel[from]);
    }
    return good;
}

/* Then one of them reports that it is not good, and all know. */
static void *exchange(void *context)
{
    struct leat_poets_link link = link_of(*(uint32_t *)context);
    struct leat_poets_parcel *parcel = leat_poets_parcels(&link);
    bool good = parcel;
    for (uint32_t round = 0; good && round < 8; round++)
        good = round_of(&link, parcel, round);
    const bool agreed = leat_poets_exchange(&link, parcel, link.rank != 3);
    leat_poets_parcels_free(parcel, &link);
    return good && !agreed ? context : NULL;
}

static void every_rank_has_what_others_sent_it(void)
{
    static uint32_t rank[RANKS];
    pthread_t thread[RANKS];
    void *result;
    for (uint32_t r = 0; r < RANKS; r++) {
        rank[r] = r;
        OK(pthread_create(&thread[r], NULL, exchange, &rank[r]) == 0);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        pthread_join(thread[r], &result);
        OK(result == &rank[r]);
    }
}

TAP_MAIN(T(what_is_packed_is_unpacked), T(every_rank_has_what_others_sent_it))
