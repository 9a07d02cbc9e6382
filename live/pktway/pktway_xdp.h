/*
 * Forwarding in the kernel. The program sits on the devices of a router for as long as its process
 * lives; its maps are filled from the tables of the engines whenever these change.
 */
#ifndef LEAT_PKTWAY_XDP_H
#define LEAT_PKTWAY_XDP_H

#include "pktway_router.h"

/* NULL after `why`: nothing is left on the devices. `note` says how the devices take it. */
struct pktway_xdp *pktway_xdp_open(struct pktway_router *router, char *note, char *why);
void pktway_xdp_close(struct pktway_xdp *xdp);

/* Puts the loaded program on the devices again, as they are now: no right to load one is needed.
 * False after `why`: it is on none of them. */
bool pktway_xdp_again(struct pktway_xdp *xdp, struct pktway_router *router, char *note, char *why);

/* Do all devices still send what XDP hands to them? False: which one does not. */
bool pktway_xdp_works(const struct pktway_xdp *xdp, const struct pktway_router *router, char *why);

/* Brings the maps up to date. False: they no longer hold what there is; nothing is in them then. */
bool pktway_xdp_publish(struct pktway_xdp *xdp, struct pktway_router *router);

/* Packets that the kernel has sent on from SAN `san` on its own. */
uint64_t pktway_xdp_forwarded(const struct pktway_xdp *xdp, uint32_t san);

#endif
