/* What the clocks (program/clock) need to know about their task; here it is one of leat/atm_task.h.
 */
#include "clock.h"
#include "task.h"
#include "thesis_library.h"

bool leat_clock_is_simulated(void)
{
    return leat_atm_is_joined() && !leat_task_is_copy();
}

bool leat_clock_is_in_call(void)
{
    return leat_atm_is_busy();
}

bool leat_clock_try_lock(void)
{
    return !leat_atm_is_busy();
}

void leat_clock_unlock(void)
{
}

/* Before time passes, frees a lock that the program has released. */
void leat_clock_settle(void)
{
    leat_atm_settle();
}

void leat_clock_wait(leat_time deadline, const char *doing)
{
    leat_task_wait(deadline, doing);
}
