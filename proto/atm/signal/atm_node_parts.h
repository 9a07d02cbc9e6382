/* The parts of a node: atm_node.c has the pools and the messages, atm_node_call.c the calls. */
#ifndef LEAT_ATM_NODE_PARTS_H
#define LEAT_ATM_NODE_PARTS_H

#include "atm_node.h"
#include "atm_signal_build.h"

#define LEAT_ATM_NODE_NONE UINT32_MAX

/* A called number as it travels. */
struct leat_atm_node_number {
    uint8_t len, octets[1 + LEAT_ATM_SIGNAL_NSAP_LEN];
};

struct leat_atm_node_link {
    struct leat_atm_node_link_config config;
    struct leat_atm_labels *labels; /* NULL: the peer is the network */
    struct leat_atm_cac_link cac;
};

/* A call at one link. */
struct leat_atm_node_half {
    struct leat_atm_call call;
    uint32_t link, reference, connection;
    bool used, ours; /* ours: this node chose the reference */
    bool lost;       /* it ends; nothing of it is passed on any more */
    bool has_label, booked, translated;
    uint8_t way; /* booked: 0 forward, 1 backward */
    struct leat_atm_label label;
    struct leat_atm_contract contract;  /* booked */
    struct leat_atm_node_number called; /* of a SETUP that this node sends */
    uint32_t next, next_hash;           /* of its connection, or free; of its bucket */
};

struct leat_atm_node_party {
    struct leat_atm_party in, out;
    uint32_t connection, branch; /* half call towards the party */
    uint16_t in_reference, out_reference;
    bool used, first, lost; /* first: the one of the SETUP that came in */
    struct leat_atm_node_number called;
    uint32_t next; /* of its connection, or free */
};

struct leat_atm_node_connection {
    bool used;
    uint32_t in, halves, parties; /* `in` is one of the halves; NONE when it is gone */
    struct leat_atm_signal_contract contract;
    uint16_t setup_len;
    uint8_t setup[LEAT_ATM_NODE_SETUP_LEN_MAX]; /* a message of the elements that travel on */
    uint32_t next;                              /* free */
};

struct leat_atm_node {
    struct leat_atm_node_config config;
    struct leat_atm_node_link *link;
    struct leat_atm_node_connection *connection;
    struct leat_atm_node_half *half;
    struct leat_atm_node_party *party;
    uint32_t *bucket; /* half calls by link and reference */
    uint32_t free_connection, free_half, free_party;
    uint32_t half_top, party_top; /* those from here on were never used */
    uint32_t reference;           /* the latest that was chosen */
    leat_time due_at;             /* no timer is due before */
    struct leat_atm_node_counts counts;
    struct leat_atm_signal_builder builder;
    uint8_t octets[LEAT_ATM_SIGNAL_MESSAGE_LEN_MAX];
};

/* What a message says besides its contents that are passed on. */
struct leat_atm_node_message {
    const struct leat_atm_signal_message *view;
    uint8_t cause, state, party_state;
    bool has_endpoint, has_label;
    uint16_t endpoint;
    struct leat_atm_label label;
};

/* ---- atm_node.c ----------------------------------------------------------------------------- */

/* NONE: the pool is empty. */
uint32_t leat_atm_node_connection_take(struct leat_atm_node *n);
uint32_t leat_atm_node_half_take(struct leat_atm_node *n, uint32_t connection, uint32_t link,
                                 uint32_t reference, bool ours);
uint32_t leat_atm_node_party_take(struct leat_atm_node *n, uint32_t connection);
uint32_t leat_atm_node_half_find(const struct leat_atm_node *n, uint32_t link, uint32_t reference,
                                 bool ours);

/* A call reference that is free on this link. */
uint32_t leat_atm_node_reference_choose(struct leat_atm_node *n, uint32_t link);

/* Frees what is in state Null. */
void leat_atm_node_collect(struct leat_atm_node *n, uint32_t connection);

/* What an engine wants sent, if anything; `half` need not be one of the pool. */
void leat_atm_node_send_call(struct leat_atm_node *n, const struct leat_atm_node_half *half,
                             const struct leat_atm_call_out *out);
void leat_atm_node_send_party(struct leat_atm_node *n, const struct leat_atm_node_half *half,
                              uint16_t reference, const struct leat_atm_node_number *called,
                              const struct leat_atm_party_out *out);
void leat_atm_node_due(struct leat_atm_node *n, leat_time due_at);

/* ---- atm_node_call.c ------------------------------------------------------------------------ */

void leat_atm_node_on_setup(struct leat_atm_node *n, leat_time now, uint32_t half,
                            const struct leat_atm_node_message *m);
void leat_atm_node_on_call(struct leat_atm_node *n, leat_time now, uint32_t half,
                           const struct leat_atm_node_message *m);
void leat_atm_node_on_party(struct leat_atm_node *n, leat_time now, uint32_t half,
                            const struct leat_atm_node_message *m);
void leat_atm_node_on_half_timer(struct leat_atm_node *n, leat_time now, uint32_t half);
void leat_atm_node_on_party_timer(struct leat_atm_node *n, leat_time now, uint32_t party);

#endif
