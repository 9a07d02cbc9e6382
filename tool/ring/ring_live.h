/* leat ring on a ring of real hosts. */
#ifndef LEAT_RING_LIVE_H
#define LEAT_RING_LIVE_H

#include "aton_sender.h"
#include "tool.h"
#include <leat/aton.h>

/* Exit codes. args->operand[0] is the subverb; ring_live runs those that send a packet. */
int ring_join(const struct arguments *args);
int ring_key(const struct arguments *args);
int ring_stop(const struct arguments *args);
int ring_set(const struct arguments *args);
int ring_get(const struct arguments *args);
int ring_status(const struct arguments *args);
int ring_live(const struct arguments *args);

/* ---- shared by verb_ring_live.c and the messages of ring_mail.c ---- */

/* The command line of those that send a packet. */
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
