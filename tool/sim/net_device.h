/* Runs of `leat sim` on a device: many networks of one fabric at once. */
#ifndef LEAT_NET_DEVICE_H
#define LEAT_NET_DEVICE_H

#include "net_sim.h"

struct net_device_work {
    void *context;
    uint32_t count; /* of jobs, at most */
    bool partly;    /* after an interrupt, what there is counts as done */
    /* The next job, and its number; all have the same fabric. False: there is none. */
    bool (*next)(void *context, struct net_job *job, uint32_t *number);
    /* What came of one. False: no more shall be begun. */
    bool (*done)(void *context, uint32_t number, const struct net_job *job,
                 const struct net_result *result);
    /* Nothing moves any more in one. Only the processor knows since when: it shall run it. */
    void (*leave)(void *context, uint32_t number);
};

/* Can the device that was chosen run this job? `why`: if not, what it cannot. */
bool net_device_fits(const struct net_job *job, struct leat_text *why);

/* The same, for one device that was asked for: DONE, or WRONG after a complaint. */
int net_device_check(const struct net_job *job);

/* Runs all jobs, on the device of the first. DONE; WRONG or FAILED after a complaint; SIGNALLED and
 * more after an interrupt: then what is not done is lost. */
int net_device_run(const struct net_job *first, const struct net_device_work *work);

#endif
