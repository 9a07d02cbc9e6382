#include "atm_tun_clock.h"

enum { PS_PER_NS = 1000 };

leat_time tun_clock_due(const struct tun_clock *clock, uint64_t now_ns)
{
    return (now_ns - clock->begun_ns) * PS_PER_NS / clock->slower - clock->given_up;
}

void tun_clock_reached(struct tun_clock *clock, leat_time due, leat_time reached)
{
    const leat_time late_max = (leat_time)TUN_CLOCK_LATE_NS * PS_PER_NS / clock->slower;
    if (due > reached && due - reached > late_max) clock->given_up += due - reached - late_max;
}

uint64_t tun_clock_behind_ns(const struct tun_clock *clock)
{
    return clock->given_up * clock->slower / PS_PER_NS;
}
