/*
 * Messages on their way out through the port of this rank: how much of them the port has not taken
 * yet, and what a blocking send costs.
 *
 *     hand  ---> [ ready, in the order of the calls ] ---> port ---> SENT, if it is to be told
 *     hold  ---> the same, and the rank owes the time until the port has taken it
 *
 * To be told of every message is a hand-over each, which is dear. A small one is told only where it
 * matters: if the rank, after a blocking send, does something that depends on time, it first waits
 * until the port has taken the message (leat_fi_outgoing_settle). If it blocks in a receive
 * instead, the two times pass together, and nobody needs to know. Therefore a message that is held
 * is really sent when it is clear what the rank does next; its time is the same, for none has
 * passed.
 */
#ifndef LEAT_FI_OUTGOING_H
#define LEAT_FI_OUTGOING_H

#include "task.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    LEAT_FI_WINDOW = 512 << 10, /* octets that the port has not taken: more than these wait */
    LEAT_FI_BUFFER = 16 << 10,  /* a send within these is complete before the port takes it */
};
#define LEAT_FI_NOBODY UINT32_MAX

void leat_fi_outgoing_open(void);
void leat_fi_outgoing_close(void);

/* May so many octets go now? If not, some will be told. */
bool leat_fi_outgoing_has_room(uint64_t len);
/* Are so many octets, and all before them, within the buffer? */
bool leat_fi_outgoing_is_buffered(uint64_t len);

/* The octets are of leat_task_room. `who`: told by leat_fi_outgoing_sent when the port has taken
 * them; LEAT_FI_NOBODY: nobody wants to know. */
void leat_fi_outgoing_hand(uint32_t to, uint8_t *octets, uint64_t len, uint32_t who);
/* Of a blocking send. */
void leat_fi_outgoing_hold(uint32_t to, uint8_t *octets, uint64_t len);

/* The rank is about to block until something happens: what is held may go. */
void leat_fi_outgoing_release(void);
/* What blocking sends owe is waited for by calling `wait`, which calls leat_fi_outgoing_sent. */
void leat_fi_outgoing_settle(void (*wait)(const char *doing));

/* For the cookie of each SENT event; returns `who`. */
uint32_t leat_fi_outgoing_sent(uint64_t cookie);

#endif
