/* What the clocks of program/fi need to know of the task that they are in; here it is one of PVM.
 */
#include "../fi/fi_rank.h"
#include "pvm_library.h"

/* As program/fi/fi_message.h declares them, which needs libfabric. */
void leat_fi_message_settle(void);
void leat_fi_message_wait(leat_time deadline, const char *doing);

bool leat_fi_is_simulated(void)
{
    return leat_pvm_self.is_enrolled;
}

/* False: in the middle of something, as a signal handler finds it. */
bool leat_fi_try_lock(void)
{
    return !leat_pvm_self.is_busy;
}

void leat_fi_unlock(void)
{
}

void leat_fi_message_settle(void)
{
}

void leat_fi_message_wait(leat_time deadline, const char *doing)
{
    leat_pvm_take_events(deadline, doing);
}
