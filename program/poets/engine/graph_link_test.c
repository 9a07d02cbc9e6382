#include "graph_link_test.h"
#include "tap.h"

static void a_note_comes_as_it_went(void)
{
    struct leat_poets_link one = link_of(1), two = link_of(2);
    struct leat_poets_note note = { .kind = 7,
                                    .count = 3,
                                    .word = { 1, UINT64_MAX, 0x123456789abcdef } };
    struct leat_poets_note received;
    uint32_t from = 99;
    OK(!leat_poets_link_receive_note(&two, &from, &received));
    leat_poets_link_send_note(&one, 2, &note);
    OK(leat_poets_link_receive_note(&two, &from, &received));
    EQ(from, 1);
    OK(memcmp(&received, &note, sizeof note) == 0);
    note.count = LEAT_POETS_NOTE_WORDS_MAX;
    leat_poets_link_send_note_to_all(&one, &note);
    for (uint32_t r = 0; r < RANKS; r++) {
        struct leat_poets_link other = link_of(r);
        EQ(leat_poets_link_receive_note(&other, &from, &received), r != 1);
    }
}

static void what_is_no_note_is_passed_over(void)
{
    struct leat_poets_link one = link_of(1), two = link_of(2);
    static const uint8_t octets[300] = { 7, 0, 0, 0, 33 };
    static const uint8_t three[32] = { 7, 0, 0, 0, 3 };
    const struct leat_poets_note note = { .kind = 8 };
    struct leat_poets_note received;
    uint32_t from;
    for (size_t len = 0; len < 8; len++)
        link_send(&one, 2, LEAT_POETS_LINK_CONTROL, octets, len);
    link_send(&one, 2, LEAT_POETS_LINK_CONTROL, octets, 8 + 33 * 8); /* more words than allowed */
    link_send(&one, 2, LEAT_POETS_LINK_CONTROL, three, 31);
    link_send(&one, 2, LEAT_POETS_LINK_CONTROL, three, 24);
    leat_poets_link_send_note(&one, 2, &note);
    OK(leat_poets_link_receive_note(&two, &from, &received));
    EQ(received.kind, 8);
    OK(!leat_poets_link_receive_note(&two, &from, &received));
}

struct member {
    pthread_t thread;
    uint32_t rank, bad, other; /* the rank that fails; the one that has read another file */
    struct leat_poets_agreement is;
};

static void *agree(void *context)
{
    struct member *m = context;
    struct leat_poets_link link = link_of(m->rank);
    m->is = leat_poets_link_agree(&link, m->rank != m->bad, m->rank == m->other ? 1 : 2);
    return NULL;
}

static struct member members[RANKS];

static void agree_all(uint32_t bad, uint32_t other)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        members[r] = (struct member){ .rank = r, .bad = bad, .other = other };
        OK(pthread_create(&members[r].thread, NULL, agree, &members[r]) == 0);
    }
    for (uint32_t r = 0; r < RANKS; r++)
        pthread_join(members[r].thread, NULL);
}

static void all_ranks_agree(void)
{
    for (uint32_t bad = 0; bad <= RANKS; bad++)
        for (uint32_t other = 0; other <= RANKS; other++) {
            agree_all(bad, other);
            for (uint32_t r = 0; r < RANKS; r++) {
                EQ(members[r].is.good, bad == RANKS);
                EQ(members[r].is.first_good, bad != 0);
                EQ(members[r].is.same, other == RANKS);
            }
        }
}

TAP_MAIN(T(a_note_comes_as_it_went), T(what_is_no_note_is_passed_over), T(all_ranks_agree))
