/* What the clocks (program/clock) need to know about their task; here it is one of PVM. */
#include "clock.h"
#include "pvm_library.h"

bool leat_clock_is_simulated(void)
{
    return leat_pvm_self.is_enrolled && !leat_task_is_copy();
}

bool leat_clock_is_in_call(void)
{
    return leat_pvm_self.is_busy;
}

bool leat_clock_try_lock(void)
{
    return !leat_pvm_self.is_busy;
}

void leat_clock_unlock(void)
{
}

void leat_clock_settle(void)
{
}

void leat_clock_wait(leat_time deadline, const char *call)
{
    leat_pvm_take_events(deadline, call, "");
}
