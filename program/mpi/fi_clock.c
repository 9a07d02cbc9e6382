/* What the clocks (program/clock) need to know about their task; here it is a rank. */
#include "clock.h"
#include "fi_message.h"
#include "fi_rank.h"
#include "fi_threads.h"

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
    if (!leat_fi_may_call()) return false;
    if (!leat_fi_threads_are_many()) return leat_fi_try_lock();
    if (!leat_fi_threads_take_turn(NULL)) return false;
    leat_fi_lock();
    return true;
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
