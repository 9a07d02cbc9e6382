/* leat pktway on simulated networks: queries with --fabric. */
#ifndef LEAT_PKTWAY_SIMULATE_H
#define LEAT_PKTWAY_SIMULATE_H

#include "fabric_packetway.h"
#include "json_out.h"
#include "tool.h"

enum { PKTWAY_HOPS_MAX = 64, PKTWAY_OCTETS_MAX = 1 << 16 /* of a message */ };

/* A packet left a router on a SAN. */
struct pktway_hop {
    uint32_t router, in, out; /* ends of links */
    leat_time at;
    bool planned, cut;
};

/* The route of a message from host to host. */
struct pktway_leg {
    struct pktway_hop hop[PKTWAY_HOPS_MAX];
    uint32_t hops;
    uint64_t ei;
    leat_time took;
};

/* The request, the network, and its responses. */
struct pktway_query {
    const struct arguments *args;
    FILE *text; /* standard output; NULL: JSON instead of text */
    struct leat_fabric_packetway *network;
    uint32_t from; /* port */
    uint64_t size, count;
    /* of the message in flight */
    struct pktway_leg leg;
    uint32_t in;                       /* the end where it came in */
    bool is_inside, is_there, is_over; /* in a router; at its host; lost or reported */
    leat_time there_at;
    const char *why;
    /* of the request */
    bool is_answered;
    uint16_t err_te; /* 0: none */
    uint8_t octets[PKTWAY_OCTETS_MAX];
    uint8_t records[1 << 22]; /* of all INFOs: 65,536 nodes with their names */
    size_t records_len;
    bool is_cut;                  /* the list was truncated */
    struct pktway_remote *remote; /* read and write: the remote memory; else NULL */
    struct pktway_record *record; /* NULL: none */
    uint64_t carried;             /* messages of ping and trace so far */
    struct pktway_mail *mail;     /* send and receive: the messages; else NULL */
};

/* An exit code. args->operand[0] is the subverb. */
int pktway_simulate(const struct arguments *args);

/* SAN.PORT or an address. False: neither. */
bool pktway_node_read(const struct pktway_query *query, const char *text, uint32_t *address);

/* A hop as a value of a JSON array; `start`: when the message was sent. */
void pktway_put_hop_json(const struct pktway_query *query, const struct pktway_hop *hop,
                         leat_time start, struct leat_json *json);

/* read and write: the memory of the host at port `to` (pktway_memory.c). An exit code. */
int pktway_put_memory(struct pktway_query *query, uint32_t to);
/* Handles what hosts receive in reply. */
void pktway_on_memory_event(struct pktway_query *query, uint32_t port,
                            const struct leat_packetway_event *event, leat_time at);

/* Routing tables of a router, or of all (pktway_tables.c). An exit code. */
int pktway_put_tables(struct pktway_query *query);

/* Lists of records as values of a JSON array and as text (pktway_tables.c). */
void pktway_put_nodes(struct leat_packetway_records nodes, struct leat_json *json, FILE *out);

#endif
