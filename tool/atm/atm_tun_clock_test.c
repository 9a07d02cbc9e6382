#include "atm_tun_clock.h"
#include "tap.h"

#define MS           UINT64_C(1000000) /* of real time, in ns */
#define SIMULATED_MS (MS * 1000)       /* in ps */

static void simulated_time_follows_real_time(void)
{
    struct tun_clock clock = { .begun_ns = 7 * MS, .slower = 1 };
    EQ(tun_clock_due(&clock, 7 * MS), 0);
    EQ(tun_clock_due(&clock, 9 * MS), 2 * SIMULATED_MS);
    clock.slower = 1000;
    EQ(tun_clock_due(&clock, 9 * MS), 2000000);
    EQ(tun_clock_behind_ns(&clock), 0);
}

static void what_is_late_by_too_much_is_given_up_and_counted(void)
{
    struct tun_clock clock = { .slower = 2 };
    tun_clock_reached(&clock, 10 * SIMULATED_MS, 10 * SIMULATED_MS);
    tun_clock_reached(&clock, 10 * SIMULATED_MS, 12 * SIMULATED_MS);
    tun_clock_reached(&clock, 10 * SIMULATED_MS, 7 * SIMULATED_MS + SIMULATED_MS / 2);
    EQ(tun_clock_behind_ns(&clock), 0);
    tun_clock_reached(&clock, 10 * SIMULATED_MS, 4 * SIMULATED_MS);
    EQ(tun_clock_behind_ns(&clock), 7 * MS);
    /* 20 ms of real time are due at 6.5 ms now: as late as it may be. */
    EQ(tun_clock_due(&clock, 20 * MS), 6 * SIMULATED_MS + SIMULATED_MS / 2);
    tun_clock_reached(&clock, 6 * SIMULATED_MS + SIMULATED_MS / 2, 4 * SIMULATED_MS);
    EQ(tun_clock_behind_ns(&clock), 7 * MS);
}

TAP_MAIN(T(simulated_time_follows_real_time), T(what_is_late_by_too_much_is_given_up_and_counted))
