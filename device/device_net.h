/*
 * Networks on a device (net_lockstep.h): as many at once as it has room for, all with the same
 * plan, each in a place of its own. A place that is done takes the next network, so that the device
 * stays busy.
 *
 *     open --> begin in each place --> step, step, ... --> end, begin another --> ... --> close
 *
 * A step is one launch, of a tenth of a second or so: a desktop's watchdog does not end it, and the
 * caller can be interrupted between two.
 */
#ifndef LEAT_DEVICE_NET_H
#define LEAT_DEVICE_NET_H

#include "device.h"
#include "net_lockstep.h"

struct leat_device_nets;

/* Where the state of networks is. */
enum leat_device_near {
    LEAT_DEVICE_NEAR_AUTO,
    LEAT_DEVICE_NEAR_GROUP, /* in the memory of a group of threads */
    LEAT_DEVICE_NEAR_NONE,  /* in that of the device */
};

/* For at most so many networks, with jobs of at most so many words. The plan is lent for the
 * lifetime. NULL after an error, which `why` tells. */
struct leat_device_nets *leat_device_nets_open(struct leat_device *device, const uint32_t *plan,
                                               uint32_t job_words, uint32_t networks,
                                               enum leat_device_near near, struct leat_text *why);
void leat_device_nets_close(struct leat_device_nets *nets);

/* How many places there are, at most `networks`; threads of a group; is state near them? */
struct leat_device_nets_shape {
    uint32_t places, group;
    bool is_near;
};
struct leat_device_nets_shape leat_device_nets_shape(const struct leat_device_nets *nets);

/* A run of at most so many cycles begins in a place that is free. The load has not run; it is lent
 * until the end. */
bool leat_device_nets_begin(struct leat_device_nets *nets, uint32_t place,
                            struct leat_net_load *load, uint64_t cycles, struct leat_text *why);

/* All that are not done run on for some cycles. */
bool leat_device_nets_step(struct leat_device_nets *nets, struct leat_text *why);

/* It has run all its cycles, or done all its work, or reached its precision, or is dead. */
bool leat_device_nets_is_done(const struct leat_device_nets *nets, uint32_t place);

/* If the plan is watched: flits are in the network, and nothing will ever move. When the engine
 * would have ended the run is not known here. */
bool leat_device_nets_is_deadlocked(const struct leat_device_nets *nets, uint32_t place);

/* If the plan is watched: what leat_net_stuck finds, and its length. At the end, or after it, until
 * another begins there. */
bool leat_device_nets_stuck(struct leat_device_nets *nets, uint32_t place,
                            const struct leat_net *net, struct leat_net_waiting *out, uint32_t cap,
                            uint32_t *len, struct leat_text *why);

/* Cycles that it has run; it may be done before all of them. */
uint32_t leat_device_nets_now(const struct leat_device_nets *nets, uint32_t place);

/* What it counted so far is moved to the network and its load. The place is free again. */
bool leat_device_nets_end(struct leat_device_nets *nets, uint32_t place, struct leat_net *net,
                          struct leat_net_load *load, struct leat_text *why);

#endif
