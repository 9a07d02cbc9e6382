/*
 * leat pktway on live networks. The verb's table has these options besides those shared with
 * simulated networks; pktway_live takes every subcommand of PKTWAY_LIVE_WORDS, and those that are
 * also simulated (PKTWAY_LIVE_ALSO) if no --fabric is given.
 */
#ifndef LEAT_LIVE_PACKETWAY_LIVE_H
#define LEAT_LIVE_PACKETWAY_LIVE_H

#include "tool.h"

#define PKTWAY_LIVE_WORDS "route host tun memory status leave"
#define PKTWAY_LIVE_ALSO  "ping trace plan tell tables read write"

#define PKTWAY_LIVE_OPTIONS                                                                        \
    { "--san", "SAN",                                                                              \
      "live: DEVICE or udp:ADDRESS[:PORT], then ,bias=B,address=A and more; route: again", true }, \
        { "--dev", "DEVICE", "live: of the --san, which then begins with a letter; route: again",  \
          true },                                                                                  \
        { "--name", "NAME", "live: of the router or host; default router, and host" },             \
        { "--key-file", "FILE",                                                                    \
          "live: 32 hex digits, mode 600: the SAN's key; route: one for all, or again for each",   \
          true },                                                                                  \
        { "--driver", "D", "route: xdp, packet or udp; default: xdp if available" },               \
        { "--poll", "MS", "route, host: WRU? every so often, 10 to 60000; default 1000" },         \
        { "--capability", "CC", "host: a capability code, 1 to 255; again for more", true },       \
        { "--way", "IP=NODE", "tun: ADDRESS[/BITS]=NODE, as 10.9.0.3=0x301; again for more",       \
          true },                                                                                  \
        { "--device", "DEVICE", "tun: its name; default pw0" },                                    \
        { "--memory", "SIZE", "memory: octets, as 64k or 1M; default 64k" },                       \
        { "--base", "ADDRESS", "memory: of its first octet; default 0" },                          \
        { "--allow", "WHO", "memory: r, w or rw, then ,range=A-B and ,nodes=A-B; again for more",  \
          true },                                                                                  \
        { "--blind", NULL, "write: does not read back what was written" },                         \
        { "--foreground", NULL, "route, host, tun, memory: stay until interrupted" },              \
        { "--interval", "MS", "live ping: between two; default 1000" },                            \
    {                                                                                              \
        "--timeout", "MS", "live: until an answer must be here, 1 to 60000; default 1000"          \
    }

/* An exit code. args->operand[0] is the subcommand. */
int pktway_live(const struct arguments *args);

/* Does pktway_live handle this subcommand with these options? */
bool pktway_is_live(const struct arguments *args);

#endif
