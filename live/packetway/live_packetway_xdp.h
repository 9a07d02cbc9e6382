/*
 * Forwarding in the kernel. The program is attached to the devices of a router while its process
 * lives; its maps are filled from the tables of the engines whenever these change.
 */
#ifndef LEAT_LIVE_PACKETWAY_XDP_H
#define LEAT_LIVE_PACKETWAY_XDP_H

#include "live_packetway_router.h"

/* NULL: see `why`; nothing is left on the devices. `note` says in which mode the devices run it. */
struct packetway_xdp *packetway_xdp_open(struct packetway_router *router, char *note, char *why);
void packetway_xdp_close(struct packetway_xdp *xdp);

/* Attaches the loaded program to the present devices again, which needs no privilege to load one.
 * False: see `why`; it is attached to none of them. */
bool packetway_xdp_again(struct packetway_xdp *xdp, struct packetway_router *router, char *note,
                         char *why);

/* Do all devices still send what XDP passes to them? False: which one does not. */
bool packetway_xdp_works(const struct packetway_xdp *xdp, const struct packetway_router *router,
                         char *why);

/* Updates the maps. False: the tables do not fit; the maps are then empty. */
bool packetway_xdp_publish(struct packetway_xdp *xdp, struct packetway_router *router);

/* Packets from SAN `san` that the kernel forwarded. */
uint64_t packetway_xdp_forwarded(const struct packetway_xdp *xdp, uint32_t san);

#endif
