/*
 * leat pktway send and receive on simulated networks: messages of one packet each, from hosts to
 * nodes, groups, names and capabilities.
 *
 *   words ----> way: pairs of a port of the sender and an address of the receiver, the best first
 *                |      native, then by rising Q of the plan; TELL says which nodes a name means
 *                v
 *   messages -- the pair that worked last; the next one if the message is lost there --> receptions
 */
#ifndef LEAT_PKTWAY_MAIL_H
#define LEAT_PKTWAY_MAIL_H

#include "pktway_simulate.h"

enum {
    PKTWAY_MAIL_MAX = 4096, /* messages of a command */
    PKTWAY_PAIRS_MAX = 64,
    PKTWAY_MAIL_OCTETS_MAX = 8 * LEAT_SIM_PACKETWAY_MTU_MAX,
};

struct pktway_pair {
    uint32_t port, dt;
    uint32_t rank; /* the lower the better */
};

struct pktway_way {
    char *from, *to; /* words of the user */
    struct pktway_pair pair[PKTWAY_PAIRS_MAX];
    uint32_t pairs, first; /* the one that worked last */
    const char *why;       /* there are no pairs */
};

/* Are these words of a sender and of a receiver? False after a complaint, which begins with
 * `place`. */
bool pktway_way_check(const struct pktway_query *query, const char *place, const char *from,
                      const char *to);

/* Finds its pairs, which takes simulated time. */
void pktway_way_find(struct pktway_query *query, struct pktway_way *way);

/* The ports of a host: SAN.PORT, an address, or its name. 0: there is no such host. */
uint32_t pktway_ports_of(const struct pktway_query *query, const char *word,
                         uint32_t port[LEAT_SIM_PACKETWAY_ENDS_MAX]);

/* send and receive. An exit code. */
int pktway_put_mail(struct pktway_query *query);

/* For the observers of the query's network. */
void pktway_mail_passes(struct pktway_query *query, const struct leat_sim_packetway_pass *pass);
void pktway_mail_event(struct pktway_query *query, uint32_t port,
                       const struct leat_packetway_event *event);
void pktway_mail_receives(struct pktway_query *query,
                          const struct leat_sim_packetway_reception *reception);
void pktway_mail_ends(struct pktway_query *query, const struct leat_port_message *message,
                      const char *why);

#endif
