/* For tests: ranks as threads of one process. */
#ifndef LEAT_GRAPH_LINK_TEST_H
#define LEAT_GRAPH_LINK_TEST_H

#include "graph_link.h"
#include <pthread.h>
#include <string.h>

/* A link in memory: one queue for each rank and channel, under a lock. */
enum { RANKS = 5, WAITING_MAX = 20 };

struct message {
    uint32_t from;
    size_t len;
    uint8_t octets[LEAT_POETS_LINK_LEN_MAX];
};

static struct {
    pthread_mutex_t lock;
    struct message message[RANKS][LEAT_POETS_LINK_CHANNELS][WAITING_MAX];
    uint32_t count[RANKS][LEAT_POETS_LINK_CHANNELS];
} net = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool link_send(struct leat_poets_link *link, uint32_t to, unsigned channel,
                      const void *octets, size_t len)
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

static bool link_receive(struct leat_poets_link *link, unsigned channel, void *octets,
                         uint32_t *from, size_t *len)
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
                                     .send = link_send,
                                     .receive = link_receive };
}

#endif
