/* A jail is made, whatever comes between. What it prevents: tool/run/run_jail_test.sh. */
#include "jail.h"
#include "tap.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static const struct leat_jail_limits limits = { .memory = 1 << 20, .seconds = 1 };

static bool opens(char why[256])
{
    struct leat_jail *jail = leat_jail_open(&limits, why, 256);
    leat_jail_close(jail);
    return jail != NULL;
}

static volatile sig_atomic_t signals;

static void count(int number)
{
    (void)number;
    signals++;
}

static void signals_do_not_end_the_wait_for_the_keeper(void)
{
    const struct sigaction counted = { .sa_handler = count }; /* no SA_RESTART */
    const struct itimerval often = { .it_interval.tv_usec = 200, .it_value.tv_usec = 200 };
    const struct itimerval never = { 0 };
    char why[256] = "";
    uint32_t opened = 0;
    if (!opens(why)) {
        printf("# this system refuses a jail: %s\n", why);
        return;
    }
    sigaction(SIGALRM, &counted, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20; i++)
        opened += opens(why);
    setitimer(ITIMER_REAL, &never, NULL);
    EQ(opened, 20);
    OK(signals > 0);
}

static void a_folder_that_is_none_is_told(void)
{
    const struct leat_jail_limits nowhere = { .writable = "/nowhere", .memory = 1 << 20 };
    char why[256] = "";
    OK(!leat_jail_open(&nowhere, why, sizeof why));
    OK(strncmp(why, "/nowhere: ", 10) == 0);
}

TAP_MAIN(T(signals_do_not_end_the_wait_for_the_keeper), T(a_folder_that_is_none_is_told))
