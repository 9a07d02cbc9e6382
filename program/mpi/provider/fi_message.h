/*
 * Tagged messages between ranks, over the messages of tasks: eager, or announced and granted
 * (fi_wire.h). In this model the adapter does the matching: it sends a grant once the announcement
 * has arrived and its receive is posted, even while the program sleeps. All functions return 0 or a
 * negative error of libfabric. Completions come through a queue (fi_queue.h).
 */
#ifndef LEAT_FI_MESSAGE_H
#define LEAT_FI_MESSAGE_H

#include <leat/time.h>
#include <rdma/fabric.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* LEAT_EAGER in the environment: longest message that is sent without a grant. */
#define LEAT_FI_EAGER_VARIABLE "LEAT_EAGER"
enum {
    LEAT_FI_EAGER_LEN = 64 << 10,
    LEAT_FI_EAGER_MAX = 16 << 20,
    LEAT_FI_INJECT_LEN = 64 << 10, /* longest message whose sender does not wait for a completion */
};

struct leat_fi_queue;

struct leat_fi_send {
    uint32_t to;
    const void *octets;
    uint64_t len, tag, data;
    bool has_data;
    bool is_reported; /* its completion is reported */
    bool is_private;  /* fi_private.h */
    uint32_t padding;
    struct fi_context *context;
};

struct leat_fi_receive {
    uint64_t from, tag, ignore; /* LEAT_FI_MATCH_ANY */
    void *octets;
    uint64_t cap;
    struct fi_context *context;
};

/* Call this first. False: the value is wrong, which has been reported. */
bool leat_fi_message_read_environment(void);

void leat_fi_message_open(void);
/* Completions go to this queue. */
void leat_fi_message_bind(struct leat_fi_queue *queue);
void leat_fi_message_close(void);
uint64_t leat_fi_message_inject_len(void);

/* MPI sends nothing while ranks start and end: such a message would have no defined time. False:
 * this is such a time, which has been reported. */
bool leat_fi_message_may_send(void);

ssize_t leat_fi_message_send(const struct leat_fi_send *send);
/* At most leat_fi_message_inject_len octets; the caller may reuse them at once. */
ssize_t leat_fi_message_inject(const struct leat_fi_send *send);
ssize_t leat_fi_message_receive(const struct leat_fi_receive *receive);

/* Reports a message that such a receive would take, or that there is none. A claimed message is
 * reserved for the context; a discarded one is gone. */
ssize_t leat_fi_message_peek(const struct leat_fi_receive *receive, bool claim, bool discard);
/* Receives the message that the context has claimed. */
ssize_t leat_fi_message_claim(const struct leat_fi_receive *receive, bool discard);
ssize_t leat_fi_message_cancel(struct fi_context *context);

/* Handles all events up to now. */
void leat_fi_message_poll(void);
/* Waits for an event or the deadline, and handles it; beside other threads, at least until anything
 * has changed. */
void leat_fi_message_wait(leat_time deadline, const char *call, const char *about);
/* Lets time pass for all threads until an event, which it handles (then true), or the deadline. */
bool leat_fi_message_pass_time(leat_time deadline, const char *call, const char *about);
/* Before anything that depends on time: lets the time of blocking sends pass. */
void leat_fi_message_settle(void);
/* Waits until nothing pending needs this rank's help. */
void leat_fi_message_drain(void);

#endif
