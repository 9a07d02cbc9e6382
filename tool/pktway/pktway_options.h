/* The options of PacketWay networks besides their descriptions. */
#ifndef LEAT_LIVE_PACKETWAY_OPTIONS_H
#define LEAT_LIVE_PACKETWAY_OPTIONS_H

#include "fabric_packetway.h"
#include "tool.h"

/* --forwarding planned|address, --cut-through yes|no, and --fault. False after a complaint. */
bool pktway_read_options(const struct arguments *args, struct leat_fabric_sans *design);

/* "500ns", "1.5us", "2ms", "3s" */
bool pktway_read_time(const char *text, size_t len, leat_time *out);

#endif
