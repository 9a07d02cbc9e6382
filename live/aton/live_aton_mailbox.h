/*
 * A station's mailbox: what passive packets brought and nobody has read yet.
 *
 *              read_at                      written_at
 *      ... ----+--------------+-------------+---- ...      at position modulo ATON_MAILBOX_LEN
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
#ifndef LEAT_LIVE_ATON_MAILBOX_H
#define LEAT_LIVE_ATON_MAILBOX_H

#include "live_aton_frame.h"
#include <stddef.h>

enum {
    ATON_RECORD_HEAD_LEN = 4,
    ATON_OCTETS_MAX = ATON_FRAME_MAX - ATON_IMAGE_AT - LEAT_ATON_IMAGE_LEN_MIN,
    ATON_RECORD_MAX = ATON_RECORD_HEAD_LEN + ATON_OCTETS_MAX,
};

/* Where it is. A reader may write to read_at alone. */
struct aton_mailbox {
    unsigned long *read_at, *written_at; /* they only grow */
    uint32_t *words;                     /* ATON_MAILBOX_LEN octets */
    struct aton_window *windows;         /* the writer's, by sender, for a ring with a key */
};

enum aton_mail {
    ATON_MAIL_TAKEN,
    ATON_MAIL_NONE,
    ATON_MAIL_LONG, /* there is one, of *len octets, but `cap` is less: it stays */
};

/* The writer's: one at a time. False: no room. */
bool aton_mailbox_put(const struct aton_mailbox *mailbox, const uint8_t *record, uint32_t len);

bool aton_mailbox_is_empty(const struct aton_mailbox *mailbox);

/* The oldest message that nobody else takes. */
enum aton_mail aton_mailbox_take(const struct aton_mailbox *mailbox, uint16_t *from,
                                 uint8_t *octets, size_t cap, size_t *len);

#endif
