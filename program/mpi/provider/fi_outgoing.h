/*
 * Outgoing messages at the port of this rank: how many octets the port has not taken yet, and what
 * a blocking send costs.
 *
 *     hand  ---> [ ready, in the order of the calls ] ---> port ---> SENT, if requested
 *     hold  ---> the same, and the rank owes the time until the port has taken it
 *
 * A SENT event costs a hand-over between task and hub, which is expensive. A small message gets one
 * only where it matters: if the rank does something that depends on time after a blocking send, it
 * first waits until the port has taken the message (leat_fi_outgoing_settle). If it blocks in a
 * receive instead, both times overlap and no event is needed. A held message is therefore sent only
 * when it is clear what the rank does next. Its time stamp is the same, since no time has passed.
 */
#ifndef LEAT_FI_OUTGOING_H
#define LEAT_FI_OUTGOING_H

#include "fi_pool.h"
#include "task.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    LEAT_FI_WINDOW = 512 << 10, /* octets that the port has not taken; beyond this, messages wait */
    LEAT_FI_PIECE_LEN = (128 << 10) - 64, /* fills a block of the run's memory */
    LEAT_FI_BUFFER = 16 << 10, /* a send within these is complete before the port takes it */
};

void leat_fi_outgoing_close(void);

/* May this many octets go now? If not, a SENT event will follow. */
bool leat_fi_outgoing_has_room(uint64_t len);
/* Do these octets and all before them fit into the buffer? */
bool leat_fi_outgoing_is_buffered(uint64_t len);

/* Memory for a message (leat_task_room). Ends the run if there is none. */
uint8_t *leat_fi_outgoing_room(uint64_t len);

/* `octets` come from there. `owner`: returned by leat_fi_outgoing_sent when the port has
 * taken them; LEAT_FI_NOBODY: no event is needed. */
void leat_fi_outgoing_hand(uint32_t to, uint8_t *octets, uint64_t len, uint32_t owner);
/* For a blocking send. */
void leat_fi_outgoing_hold(uint32_t to, uint8_t *octets, uint64_t len);

/* The rank is about to block until an event: held messages may go. */
void leat_fi_outgoing_release(void);
/* Waits for the time that blocking sends owe, through `wait`, which calls leat_fi_outgoing_sent. */
void leat_fi_outgoing_settle(void (*wait)(void));

/* For the cookie of each SENT event; returns `owner`. */
uint32_t leat_fi_outgoing_sent(uint64_t cookie);

#endif
