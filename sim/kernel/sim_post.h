/*
 * What ports of networks share (leat/port.h): what is to come, by time, and what is to be told, by
 * port.
 *
 *     plan, plan, ... take the first        note, note, ... sort: port by port, for each what came
 *     a heap in memory of the owner's       in before what left
 *
 * A message is named by the place (`entry`) that its owner keeps it in.
 */
#ifndef LEAT_SIM_POST_H
#define LEAT_SIM_POST_H

#include "sim_certificate.h"
#include <leat/port.h>

struct leat_sim_plan {
    uint64_t at;   /* in the owner's time */
    uint64_t call; /* the order of those at the same time */
    uint32_t entry;
    uint32_t step; /* what then; the owner's */
};

/* The earliest plan is on top, plan[0]; there is room for one more. */
void leat_sim_post_plan(struct leat_sim_plan *plan, uint32_t *count, struct leat_sim_plan more);
struct leat_sim_plan leat_sim_post_take(struct leat_sim_plan *plan, uint32_t *count);

struct leat_sim_news {
    uint64_t order; /* port << 32 | sent << 31 | in the order in which they came */
    uint32_t entry;
};

static inline bool leat_sim_news_is_sent(const struct leat_sim_news *news)
{
    return news->order >> 31 & 1;
}

/* The message of `entry` has left its port (sent), or has ended; there is room for one more. */
void leat_sim_post_note(struct leat_sim_news *news, uint32_t *count,
                        const struct leat_port_message *message, uint32_t entry, bool sent);
void leat_sim_post_sort(struct leat_sim_news *news, uint32_t count);

/* What the certificate takes of `len` octets of a message. */
uint64_t leat_sim_post_hash(const struct leat_port_message *message, const uint8_t *octets,
                            uint64_t len);

/* A message has arrived, its port's message `number`. Returns the certificate with it. */
uint64_t leat_sim_post_certify(struct leat_sim_certificate *certificate,
                               const struct leat_port_message *message, uint64_t number,
                               leat_time at);

#endif
