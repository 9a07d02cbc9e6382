/*
 * Switched Ethernet as a fabric: ether8, ether8/rate=1000/frame=9000/buffer=16 (Mbit/s, octets of a
 * frame's payload, frames of each output of the switch).
 */
#ifndef LEAT_ETHER_FABRIC_H
#define LEAT_ETHER_FABRIC_H

#include "ether_port.h"
#include "fabric_word.h"
#include "tool.h"

enum {
    ETHER_FABRIC_NAME_CAP = 128,
    ETHER_FABRIC_RATE = 100, /* Mbit/s */
    ETHER_FABRIC_RATE_MAX = 1000000,
    ETHER_FABRIC_FRAME = 1500,
    ETHER_FABRIC_BUFFER = 64,
};

/* Does a user mean an Ethernet by this word? */
bool ether_fabric_is(const char *word);

/* Reads it, for one message under way. `name`: what it is called in full. False after a complaint.
 */
bool ether_fabric_read(const struct verb *verb, const char *word,
                       struct leat_sim_ether_port_config *out, char name[ETHER_FABRIC_NAME_CAP]);

/* Spellings, for leat fabric list; NULL: no more. */
const struct fabric_spelling *ether_fabric_list(size_t index);

/* leat fabric show and check, leat sim. Exit codes. */
int ether_fabric_show(const struct arguments *args);
int ether_fabric_check(const struct arguments *args);
int ether_fabric_sim(const struct arguments *args);

#endif
