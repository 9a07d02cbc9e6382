/*
 * Forwarding in the kernel. The program sits on the devices of a router for as long as its process
 * lives; its maps are filled from the tables of the engines whenever these change.
 */
#ifndef LEAT_LIVE_PACKETWAY_XDP_H
#define LEAT_LIVE_PACKETWAY_XDP_H

#include "live_packetway_router.h"

/* NULL after `why`: nothing is left on the devices. `note` says how the devices take it. */
struct packetway_xdp *packetway_xdp_open(struct packetway_router *router, char *note, char *why);
void packetway_xdp_close(struct packetway_xdp *xdp);

/* Puts the loaded program on the devices again, as they are now: no right to load one is needed.
 * False after `why`: it is on none of them. */
bool packetway_xdp_again(struct packetway_xdp *xdp, struct packetway_router *router, char *note,
                         char *why);

/* Do all devices still send what XDP hands to them? False: which one does not. */
bool packetway_xdp_works(const struct packetway_xdp *xdp, const struct packetway_router *router,
                         char *why);

/* Brings the maps up to date. False: they no longer hold what there is; nothing is in them then. */
bool packetway_xdp_publish(struct packetway_xdp *xdp, struct packetway_router *router);

/* Packets that the kernel has sent on from SAN `san` on its own. */
uint64_t packetway_xdp_forwarded(const struct packetway_xdp *xdp, uint32_t san);

#endif
