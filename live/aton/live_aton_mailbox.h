/*
 * A station's mailbox: unread data of passive packets.
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
 * There is one writer and any number of reading processes; each record goes to the reader that
 * moves read_at over it. There are no locks, so a killed reader does not block the others. Without
 * room nothing is written: the writer reports that to the packet's sender.
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

/* The mapped mailbox. A reader may write only to read_at. */
struct aton_mailbox {
    unsigned long *read_at, *written_at; /* they only increase */
    uint32_t *words;                     /* ATON_MAILBOX_LEN octets */
    struct aton_window *windows;         /* owned by the writer, by sender, for a ring with a key */
    const struct aton_mailbox *groups;   /* of the writer: ATON_GROUPS of them; NULL: none */
};

enum aton_mail {
    ATON_MAIL_TAKEN,
    ATON_MAIL_NONE,
    ATON_MAIL_LONG, /* there is one, of *len octets, but `cap` is less: it stays */
};

/* For the single writer. False: no room. */
bool aton_mailbox_put(const struct aton_mailbox *mailbox, const uint8_t *record, uint32_t len);

bool aton_mailbox_is_empty(const struct aton_mailbox *mailbox);

/* Takes the oldest message that no other reader takes. */
enum aton_mail aton_mailbox_take(const struct aton_mailbox *mailbox, uint16_t *from,
                                 uint8_t *octets, size_t cap, size_t *len);

#endif
