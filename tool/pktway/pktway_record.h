/*
 * leat pktway --record on a simulated network: where packets of messages pass, and what
 * half-routers learn of other SANs.
 *
 *   network        group
 *     fabric       lane     which network (record_fabric.h)
 *     SAN          group
 *       port0 ...  lanes    of hosts: messages leave and arrive (flows)
 *     ROUTER       group
 *       half0 ...  lanes    packets pass (flows); "learns SAN", "loses SAN", "drops" (instants)
 *       tables0 .. signals  the SANs that it knows a way to
 */
#ifndef LEAT_PKTWAY_RECORD_H
#define LEAT_PKTWAY_RECORD_H

#include "pktway_simulate.h"

struct pktway_record;

/* Of an open network, from now on. NULL after a complaint. */
struct pktway_record *pktway_record_open(const char *path, const struct leat_fabric_packetway *net);
/* NULL: there is none. False after a complaint. */
bool pktway_record_close(struct pktway_record *record, bool keep);

/* All may be called with NULL. A message leaves a host, arrives at one; at a half-router: a packet
 * passes, or it may have learned something. */
void pktway_record_leaves(struct pktway_record *record, uint32_t port, uint64_t id, uint64_t len);
void pktway_record_arrives(struct pktway_record *record, uint32_t port, uint64_t id, uint64_t len,
                           leat_time at);
void pktway_record_passes(struct pktway_record *record, const struct leat_sim_packetway_pass *pass,
                          uint64_t id);
void pktway_record_learns(struct pktway_record *record, uint32_t router, uint32_t end);

#endif
