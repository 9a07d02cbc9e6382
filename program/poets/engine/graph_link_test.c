#include "graph_link.h"
#include "tap.h"
#include <pthread.h>
#include <string.h>

/* A link in memory: one queue for each rank and channel, under a lock. */
enum { RANKS = 5, WAITING_MAX = 64 };

struct message {
    uint32_t from;
    size_t len;
    uint8_t octets[512];
};

static struct {
    pthread_mutex_t lock;
    struct message message[RANKS][LEAT_POETS_LINK_CHANNELS][WAITING_MAX];
    uint32_t count[RANKS][LEAT_POETS_LINK_CHANNELS];
} net = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool send(struct leat_poets_link *link, uint32_t to, unsigned channel, const void *octets,
                 size_t len)
{
    pthread_mutex_lock(&net.lock);
    const bool room = net.count[to][channel] < WAITING_MAX;
    if (room) {
        struct message *m = &net.message[to][channel][net.count[to][channel]++];
        m->from = link->rank;
        m->len = len;
        memcpy(m->octets, octets, len);
    }
    pthread_mutex_unlock(&net.lock);
    return room;
}

static bool receive(struct leat_poets_link *link, unsigned channel, void *octets, uint32_t *from,
                    size_t *len)
{
    pthread_mutex_lock(&net.lock);
    struct message *queue = net.message[link->rank][channel];
    uint32_t *count = &net.count[link->rank][channel];
    const bool any = *count;
    if (any) {
        *from = queue->from;
        *len = queue->len;
        memcpy(octets, queue->octets, queue->len);
        memmove(queue, queue + 1, --*count * sizeof *queue);
    }
    pthread_mutex_unlock(&net.lock);
    return any;
}

static struct leat_poets_link link_of(uint32_t rank)
{
    return (struct leat_poets_link){ .abi = LEAT_POETS_LINK_ABI,
                                     .rank = rank,
                                     .rank_count = RANKS,
                                     .send = send,
                                     .receive = receive };
}

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
        send(&one, 2, LEAT_POETS_LINK_CONTROL, octets, len);
    send(&one, 2, LEAT_POETS_LINK_CONTROL, octets, 8 + 33 * 8); /* more words than allowed */
    send(&one, 2, LEAT_POETS_LINK_CONTROL, three, 31);
    send(&one, 2, LEAT_POETS_LINK_CONTROL, three, 24);
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
