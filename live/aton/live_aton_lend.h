/*
 * A station for processes without rights. A process of the administrator's (`leat ring join --allow
 * GROUP`) lends it to members of a group of users, and what they get is what leat_aton_host_open
 * would have opened with rights:
 *
 *   leat ring join --allow users          a rank of a user's job
 *   process of root  <--- connects ------ leat_aton_host_open
 *   who is it? --- configuration, map of registers, mailboxes, two packet sockets ---> SCM_RIGHTS
 *
 * The name of its socket is of the network namespace, and in no folder. The borrower checks that
 * root serves it. The lender reads nothing that users send. Whoever has the packet sockets may send
 * and receive any frames of this host, as with CAP_NET_RAW, and learns the ring's key.
 */
#ifndef LEAT_LIVE_ATON_LEND_H
#define LEAT_LIVE_ATON_LEND_H

#include "live_aton_station.h"
#include <sys/types.h>

/* Starts the process for a device, after ending an earlier one. False: see `why`. */
bool aton_lend_start(uint32_t device, gid_t group, char *why);

/* Ends it, if there is one. False: see `why`. */
bool aton_lend_stop(uint32_t device, char *why);

/* Borrows the station of a device: driver, seat and sockets. ABSENT: nobody lends it. FAILED: see
 * `why`. */
enum leat_aton_host_end aton_borrow(uint32_t device, const struct aton_driver *const *drivers,
                                    int count, struct leat_aton_host *station, char *why);

#endif
