/*
 * Mailboxes: packets of threads over a network of ports (leat/port.h), as POETS boards carry them.
 * This is all that an engine knows of a network.
 *
 *   thread --> [ its slot | mailbox | port ]   network   [ port | mailbox | slots ] --> thread
 *     post                                                                          came   done
 *
 * A thread has one slot to send from, which is free again when the port has taken the packet. A
 * packet leaves its mailbox only when a slot is reserved in the destination mailbox; otherwise it
 * waits, first come, first served. So no packet is refused at its destination: full mailboxes block
 * senders, not the network, and a thread that keeps receiving while it waits to send cannot be part
 * of a deadlock. A slot is free again when the thread is done with its packet.
 *
 * The host has a mailbox of its own, at a port that it may share. Each thread reserves a slot for
 * packets from the host, so traffic between threads cannot block them.
 *
 * Within a mailbox packets are copied and do not enter the network.
 *
 * On the wire a packet is its flits of 16 octets where the network's flits have as many (the
 * hardware address then goes beside them, as in the original); elsewhere a head goes before them
 * (spec/poets.md, 1.7, a record of a frame):
 *
 *     | u32 hardware address | u8 flits | u8 1: control | u16 0 | flits |
 */
#ifndef LEAT_GRAPH_MAILBOX_H
#define LEAT_GRAPH_MAILBOX_H

#include "poets_wire.h"
#include <leat/port.h>

enum { LEAT_POETS_MAIL_HEAD_LEN = 8, LEAT_POETS_MAIL_CHUNK = 256 };

struct leat_poets_mail {
    struct leat_poets_mail *next;
    uint32_t number;   /* the network's id for it */
    uint32_t from, to; /* threads; as many as there are: the host */
    leat_time posted;
    uint8_t nflit;
    uint8_t octets[LEAT_POETS_MAIL_HEAD_LEN +
                   LEAT_POETS_PACKET_LEN_MAX]; /* the packet behind the head */
};

struct leat_poets_mail_list {
    struct leat_poets_mail *first, *last;
};

static inline void leat_poets_mail_append(struct leat_poets_mail_list *list,
                                          struct leat_poets_mail *mail)
{
    mail->next = NULL;
    if (list->first)
        list->last->next = mail;
    else
        list->first = mail;
    list->last = mail;
}

/* Out of the list; NULL: it is empty. */
static inline struct leat_poets_mail *leat_poets_mail_first(struct leat_poets_mail_list *list)
{
    struct leat_poets_mail *mail = list->first;
    if (mail) list->first = mail->next;
    return mail;
}

struct leat_poets_mailbox {
    uint32_t port, free; /* slots */
    struct leat_poets_mail_list waiting;
    uint64_t packets; /* to and from it, over the network */
};

/* A thread at its mailbox, or the host. */
struct leat_poets_mail_user {
    uint32_t box;
    uint32_t address;
    bool sends;                         /* its slot is not free */
    struct leat_poets_mail_list inbox;  /* packets that have arrived */
    struct leat_poets_mail *control;    /* a packet that has arrived from the host */
    bool control_kept;                  /* a packet of the host has the slot */
    struct leat_poets_mail *control_on; /* a packet of the host waits for it */
};

/* Statistics of packets between threads, or of those from and to the host. */
struct leat_poets_mail_counts {
    uint64_t packets, flits;            /* that the network delivered */
    uint64_t waits;                     /* that waited for a slot, also within a mailbox */
    leat_time latency_sum, latency_max; /* from post to arrival */
};

struct leat_poets_mailboxes {
    struct leat_port_net *net;
    bool bare;                         /* packets go without the head */
    uint32_t threads, boxes;           /* without the host, and its own */
    struct leat_poets_mailbox *box;    /* the last is the host's */
    struct leat_poets_mail_user *user; /* the last is the host */
    struct leat_poets_mail **mail;     /* by number */
    uint32_t mail_count, mail_cap;
    struct leat_poets_mail *unused;
    uint32_t alive; /* created and not yet done */
    struct leat_poets_mail_counts threads_count, host_count;
    uint64_t copied;  /* packets within a mailbox */
    char failed[200]; /* why no packet can be trusted any more; "": it works */
    /* Callbacks during a run, or when a packet is posted or done. */
    void *context;
    void (*came)(void *context, uint32_t user, leat_time at);
    void (*free_to_send)(void *context, uint32_t user, leat_time at);
    /* What the network reported in a run. */
    struct leat_poets_mail_news {
        struct leat_poets_mail *mail;
        bool arrived;
        leat_time at;
    } * news;
    uint32_t news_count, news_cap;
};

struct leat_poets_mailbox_place {
    uint32_t port, address; /* address: of its first thread */
};

struct leat_poets_mailbox_config {
    struct leat_port_net *net; /* nothing is in flight in it */
    bool bare;
    const struct leat_poets_mailbox_place *place; /* of each mailbox, addresses rising */
    uint32_t boxes;
    uint32_t threads; /* dealt to mailboxes in equal shares, in their order */
    uint32_t slots;   /* of a mailbox, to receive in */
    uint32_t host_port, host_address;
};

/* False: no memory. Either way leat_poets_mailboxes_free. */
bool leat_poets_mailboxes_make(struct leat_poets_mailboxes *m,
                               const struct leat_poets_mailbox_config *config);
void leat_poets_mailboxes_free(struct leat_poets_mailboxes *m);

/* A packet to be posted; NULL: no memory. */
struct leat_poets_mail *leat_poets_mail_new(struct leat_poets_mailboxes *m, uint32_t from,
                                            uint32_t to, const uint8_t *packet, unsigned nflit);

/* The sender's slot must be free. */
void leat_poets_mail_post(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail,
                          leat_time at);

/* The oldest packet that has arrived for a user, those of the host first; NULL: none. It stays. */
struct leat_poets_mail *leat_poets_mail_oldest(const struct leat_poets_mailboxes *m, uint32_t user);
/* Removes it from the inbox; its slot is not free yet. */
void leat_poets_mail_take(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail);
/* Its user is done with a packet that it took. */
void leat_poets_mail_done(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail,
                          leat_time at);

/* Runs the network until an event, or up to `until`. True: there was an event. */
bool leat_poets_mailboxes_run(struct leat_poets_mailboxes *m, leat_time until);

static inline uint8_t *leat_poets_mail_packet(struct leat_poets_mail *mail)
{
    return mail->octets + LEAT_POETS_MAIL_HEAD_LEN;
}

#endif
