/*
 * The token ring as a fabric: ring16, ring16/propagation=5/clock=4MHz/packet=1024/model=bit,
 * ring16/priority=0:7,4-7:2 (ports 0, and 4 to 7).
 * (`ring:16` is a network of routers.)
 */
#ifndef LEAT_RING_FABRIC_H
#define LEAT_RING_FABRIC_H

#include "fabric_word.h"
#include "sim_aton_port.h"
#include "tool.h"

enum { RING_FABRIC_NAME_CAP = 256, RING_FABRIC_PACKET_OCTETS = 4096 };

/* Does a user mean a token ring by this word? */
bool ring_fabric_is(const char *word);

/* Reads it, for one message under way. `name`: what it is called in full. False after a complaint.
 */
bool ring_fabric_read(const struct verb *verb, const char *word,
                      struct leat_sim_aton_port_config *out, char name[RING_FABRIC_NAME_CAP]);

/* Spellings, for leat fabric list; NULL: no more. */
const struct fabric_spelling *ring_fabric_list(size_t index);

/* leat fabric show ring16, leat fabric check ring16. Exit codes. */
int ring_fabric_show(const struct arguments *args);
int ring_fabric_check(const struct arguments *args);

/* leat sim ring16. An exit code. */
int ring_fabric_sim(const struct arguments *args);

#endif
