/* leat pktway on live networks. */
#ifndef LEAT_LIVE_PACKETWAY_LIVE_H
#define LEAT_LIVE_PACKETWAY_LIVE_H

#include "tool.h"

/* Exit codes. args->operand[0] is the subverb. */
int pktway_serve_router(const struct arguments *args);
int pktway_serve_host(const struct arguments *args);
int pktway_serve_tun(const struct arguments *args);
int pktway_serve_memory(const struct arguments *args);
int pktway_live(const struct arguments *args); /* the queries */

#endif
