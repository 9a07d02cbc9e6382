/*
 * A crew: threads that simulate one network together. Simulators are pure: whoever has threads
 * (sim/crew/) lends them by this interface. Without a crew, the caller does all the work itself.
 *
 *     member 0 (the caller)   1          2
 *     leat_sim_crew_do --> work(0)    work(1)    work(2)       all members at once
 *                           |          |          |
 *                          meet ----- meet ----- meet          nobody continues before all are here
 *                           |          |          |
 *     returns <--------  when all have returned
 *
 * What a member wrote before it meets the others, they may read afterwards.
 */
#ifndef LEAT_SIM_CREW_H
#define LEAT_SIM_CREW_H

#include <stddef.h>
#include <stdint.h>

enum { LEAT_SIM_CREW_MAX = 256 };

typedef void leat_sim_work(void *context, uint32_t member);

struct leat_sim_crew {
    uint32_t members; /* 1 .. LEAT_SIM_CREW_MAX, the caller included */
    void (*run)(struct leat_sim_crew *crew, leat_sim_work *work, void *context);
    void (*meet)(struct leat_sim_crew *crew);
};

static inline uint32_t leat_sim_crew_members(const struct leat_sim_crew *crew)
{
    return crew ? crew->members : 1;
}

static inline void leat_sim_crew_do(struct leat_sim_crew *crew, leat_sim_work *work, void *context)
{
    if (crew)
        crew->run(crew, work, context);
    else
        work(context, 0);
}

/* Within work: waits for all members. */
static inline void leat_sim_crew_meet(struct leat_sim_crew *crew)
{
    if (crew) crew->meet(crew);
}

#endif
