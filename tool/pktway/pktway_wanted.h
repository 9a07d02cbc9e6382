/* What leat pktway tell searches for, on live and on simulated networks. */
#ifndef LEAT_LIVE_PACKETWAY_WANTED_H
#define LEAT_LIVE_PACKETWAY_WANTED_H

#include "packetway_record.h"

#define PKTWAY_WANTED "name=NAME, capability=CC[:P,P...] or address=A[-B]"

/* One word as a record of TELL. False: it is not in PKTWAY_WANTED, or there is no room. */
bool pktway_wanted_read(const char *word, struct leat_packetway_build *build);

#endif
