/*
 * Simulated time that follows real time, so many times slower. A simulation that cannot keep up
 * falls behind by a bounded time only: what exceeds it is given up, so that packets are late by no
 * more than that, and counted.
 *
 * Pure: real time is an argument.
 */
#ifndef LEAT_ATM_TUN_CLOCK_H
#define LEAT_ATM_TUN_CLOCK_H

#include <leat/time.h>
#include <stdint.h>

enum { TUN_CLOCK_LATE_NS = 5000000 }; /* real time */

struct tun_clock {
    uint64_t begun_ns;
    uint32_t slower;
    leat_time given_up; /* simulated time */
};

/* Where simulated time should be now. */
leat_time tun_clock_due(const struct tun_clock *clock, uint64_t now_ns);

/* It should be at `due`, and has reached this. */
void tun_clock_reached(struct tun_clock *clock, leat_time due, leat_time reached);

/* The real time that was given up. */
uint64_t tun_clock_behind_ns(const struct tun_clock *clock);

#endif
