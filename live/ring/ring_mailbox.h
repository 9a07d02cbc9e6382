/*
 * A station's mailbox: what passive packets brought and nobody has read yet.
 *
 *              read_at                      written_at
 *      ... ----+--------------+-------------+---- ...      at position modulo RING_MAILBOX_LEN
 *              | len 0 record | len 0 rec.. |
 *      ... ----+--------------+-------------+---- ...
 *                 record: sender (16) | length (16) | that many octets, as in the octet image
 *
 * This is the ring buffer that BPF programs write (linux/bpf.h, Documentation/bpf/ringbuf.rst), so
 * that one reader serves both drivers; the packet driver's process writes the same.
 *
 * One writes, any number of processes read, and each record goes to one of them: who moves read_at
 * over it. Nobody holds a lock, so a reader that is killed keeps nothing from the others. Without
 * room nothing is written: the writer says so to the packet's sender.
 */
#ifndef LEAT_RING_MAILBOX_H
#define LEAT_RING_MAILBOX_H

#include "ring_frame.h"
#include <stddef.h>

enum {
    RING_RECORD_HEAD_LEN = 4,
    RING_OCTETS_MAX = RING_FRAME_MAX - RING_IMAGE_AT - LEAT_ATON_IMAGE_LEN_MIN,
    RING_RECORD_MAX = RING_RECORD_HEAD_LEN + RING_OCTETS_MAX,
};

/* Where it is. A reader may write to read_at alone. */
struct ring_mailbox {
    unsigned long *read_at, *written_at; /* they only grow */
    uint32_t *words;                     /* RING_MAILBOX_LEN octets */
    struct ring_window *windows;         /* the writer's, by sender, for a ring with a key */
};

enum ring_mail {
    RING_MAIL_TAKEN,
    RING_MAIL_NONE,
    RING_MAIL_LONG, /* there is one, of *len octets, but `cap` is less: it stays */
};

/* The writer's: one at a time. False: no room. */
bool ring_mailbox_put(const struct ring_mailbox *mailbox, const uint8_t *record, uint32_t len);

bool ring_mailbox_is_empty(const struct ring_mailbox *mailbox);

/* The oldest message that nobody else takes. */
enum ring_mail ring_mailbox_take(const struct ring_mailbox *mailbox, uint16_t *from,
                                 uint8_t *octets, size_t cap, size_t *len);

#endif
