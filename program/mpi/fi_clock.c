/* What the clocks (program/clock) need to know about their task; here it is a rank. */
#include "clock.h"
#include "fi_message.h"
#include "fi_rank.h"

bool leat_clock_is_simulated(void)
{
    return leat_fi_is_simulated();
}

bool leat_clock_is_in_call(void)
{
    return leat_fi_call() != NULL || leat_fi_is_finalizing();
}

bool leat_clock_try_lock(void)
{
    return leat_fi_try_lock();
}

void leat_clock_unlock(void)
{
    leat_fi_unlock();
}

void leat_clock_settle(void)
{
    leat_fi_message_settle();
}

void leat_clock_wait(leat_time deadline, const char *call)
{
    leat_fi_message_wait(deadline, call, "");
}
