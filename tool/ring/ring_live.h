/*
 * leat ring on a ring of real hosts. The verb's table has these options besides --register,
 * --width, --value and --json; ring_live takes every subcommand of RING_LIVE_WORDS, and those that
 * are also simulated (RING_LIVE_ALSO) if --dev or --live is given; least-loaded unless --stations
 * is.
 */
#ifndef LEAT_RING_LIVE_H
#define LEAT_RING_LIVE_H

#include "aton_sender.h"
#include "tool.h"
#include <leat/aton.h>

#define RING_LIVE_WORDS "join set get query status send receive leave"
#define RING_LIVE_ALSO  "least-loaded sort majority tree average gvt barrier elect work"

#define RING_LIVE_OPTIONS                                                                     \
    { "--live", NULL, "on this host's ring, not a simulated one" },                           \
        { "--dev", "DEVICE", "live: where the previous station's packets come in" },          \
        { "--out", "DEVICE", "join: where they leave for the next; default: the same" },      \
        { "--next", "MAC", "join: Ethernet address of the next station" },                    \
        { "--previous", "MAC", "join: Ethernet address of the previous station" },            \
        { "--ring", "ID", "join: number of the ring, 0 to 4294967295; default 1" },           \
        { "--address", "A", "join: of this station on the ring, 0 to 65534" },                \
        { "--key", "FILE", "join: 32 hex digits, mode 600, one for all: packets get a MAC" }, \
        { "--rate", "N", "join: packets a second of one sender; default 100000, 0: any" },    \
        { "--driver", "D", "join: xdp or packet; default: xdp if available" },                \
        { "--to", "A", "live: only station A takes part beside this one" },                   \
        { "--timeout", "MS", "live: how long to wait, 1 to 3600000; default 1000" },          \
        { "--file", "F", "send: the octets of a file, - for standard input, not TEXT" },      \
        { "--count", "N", "receive: so many messages, one after the other; default 1" },      \
    {                                                                                         \
        "--every", "S", "set R load: again every S seconds, until interrupted"                \
    }

/* An exit code. args->operand[0] is the subcommand. */
int ring_live(const struct arguments *args);

/* Does ring_live handle this subcommand with these options? */
bool ring_is_live(const struct arguments *args);

/* ---- shared by verb_ring_live.c and the messages of ring_mail.c ---- */

/* The command line, for all subcommands. */
struct ring_live_request {
    const struct arguments *args;
    const char *word;
    struct leat_aton_command command;
    uint32_t quorum; /* this many are enough; 0: all */
    uint64_t timeout_us;
    bool is_query; /* the answer is Variable-1 and Variable-2 */
    FILE *text;    /* standard output; NULL: JSON instead of text */
};

/* The reason of the last result of the library. */
extern char ring_why[LEAT_ATON_HOST_WHY_LEN];

/* The exit code for it; complains with ring_why. */
int ring_exit_code(enum leat_aton_host_end end);

/* The same for a message that went round: DONE if it was copied, otherwise FAILED after a
 * complaint. */
int ring_ack_code(uint16_t to, const struct leat_aton_host_ack *ack);

/* leat ring send, leat ring receive. Exit codes. */
int ring_send(const struct ring_live_request *request, struct leat_aton_host *station);
int ring_receive(const struct ring_live_request *request, struct leat_aton_host *station);

#endif
