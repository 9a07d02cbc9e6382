/* Addresses and routing tables of PacketWay, as simulated and live networks show them. */
#ifndef LEAT_LIVE_PACKETWAY_TEXT_H
#define LEAT_LIVE_PACKETWAY_TEXT_H

#include "leat_json.h"
#include "packetway_router.h"

enum { PKTWAY_ADDRESS_CAP = 32 };

/* One address, LOW-HIGH or LOW/MASK. */
const char *pktway_address_text(const struct leat_packetway_address *address,
                                char text[PKTWAY_ADDRESS_CAP]);

/* The members of a table up to the half-routers that it was received from. */
void pktway_table_json(struct leat_json *json, const struct leat_packetway_table_view *table);

#endif
