/*
 * One-sided operations between ranks, over the messages of tasks (fi_wire.h). In this model the
 * adapter of the target carries them out when they arrive, in the memory that the target holds open
 * (fi_held.h), whether its program waits, sleeps or computes. An operation is complete when the
 * target has said so; of puts that follow each other, only the last asks for it, as adapters do.
 * Short operations at one rank that follow each other travel as one message, and so do the answers:
 * Open MPI makes an operation of each element of a type with gaps. A message is therefore held
 * until the rank does something else: no time passes.
 */
#ifndef LEAT_FI_RMA_H
#define LEAT_FI_RMA_H

#include "fi_wire.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct leat_fi_queue;

struct leat_fi_access {
    enum leat_fi_kind kind; /* PUT, GET, ATOMIC */
    uint32_t to;
    uint64_t key, offset; /* of the target's memory */
    void *octets;         /* to be put, or where to; of an atomic operation NULL: no result */
    uint64_t len;         /* of an atomic operation: 4 or 8 */
    enum leat_fi_atomic atomic;
    uint64_t operand, compare;
    struct leat_fi_queue *queue; /* for its completion */
    void *context;
};

/* 0 or a negative error of libfabric. */
ssize_t leat_fi_rma_start(const struct leat_fi_access *access);

/* A message of these kinds from another rank. False: it is none. */
bool leat_fi_rma_arrived(uint32_t from, const uint8_t *octets, uint64_t len);
/* The rank is about to wait, or to send something else: what is held goes. */
void leat_fi_rma_release(void);
/* The port may have room again. */
void leat_fi_rma_go_on(void);
/* Does anything need this rank's help? */
bool leat_fi_rma_is_busy(void);
void leat_fi_rma_close(void);

#endif
