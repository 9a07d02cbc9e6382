/*
 * A socket of this machine to which processes come with datagrams (graph_externals.h):
 *
 *   unix:PATH                a UNIX socket of packets (SOCK_SEQPACKET): each process connects; only
 *                            this user can; nothing is lost, and a process that ends is noticed
 *   udp:ADDRESS[:PORT]       UDP, port 4255 by default: a process is an address and a port;
 *                            datagrams may be lost, and whoever reaches the address may send
 *
 * A peer is the number of a process, below LEAT_POETS_DOOR_PEERS_MAX. Nothing here waits, except
 * leat_poets_door_wait.
 */
#ifndef LEAT_GRAPH_DOOR_H
#define LEAT_GRAPH_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEAT_POETS_DOOR_PEERS_MAX = 64, LEAT_POETS_DOOR_PORT = 4255 };

struct leat_poets_door_peer {
    bool used;
    int fd;           /* unix */
    uint32_t address; /* udp; both in network order */
    uint16_t port;
};

struct leat_poets_door {
    bool open, udp;
    int fd; /* that listens, or of all datagrams */
    char path[108];
    struct leat_poets_door_peer peer[LEAT_POETS_DOOR_PEERS_MAX + 1]; /* the last: see CROWDED */
    uint32_t next;                                                   /* peer that is read next */
};

/* False: `why` says why. */
bool leat_poets_door_open(struct leat_poets_door *door, const char *address, char *why, size_t cap);
/* Removes the name of a UNIX socket, too. */
void leat_poets_door_close(struct leat_poets_door *door);

enum leat_poets_door_arrival {
    LEAT_POETS_DOOR_NOTHING,
    LEAT_POETS_DOOR_DATAGRAM,
    LEAT_POETS_DOOR_GONE, /* the peer has closed its end, and its number is free */
    /* There is no room for one more process: LEAT_POETS_DOOR_PEERS_MAX is its number, for an
     * answer, until leat_poets_door_forget. */
    LEAT_POETS_DOOR_CROWDED,
};

/* The next datagram of any peer; longer ones are cut at `cap`. */
enum leat_poets_door_arrival leat_poets_door_receive(struct leat_poets_door *door, uint32_t *peer,
                                                     uint8_t *octets, size_t cap, size_t *len);

enum leat_poets_door_sent {
    LEAT_POETS_DOOR_SENT,
    LEAT_POETS_DOOR_FULL, /* the process does not read; try again */
    /* The peer is gone. What it has sent before still arrives; leat_poets_door_receive then reports
     * the end of a UNIX peer. */
    LEAT_POETS_DOOR_LOST,
};

enum leat_poets_door_sent leat_poets_door_send(struct leat_poets_door *door, uint32_t peer,
                                               const uint8_t *octets, size_t len);

/* Ends a connection, or forgets an address. */
void leat_poets_door_forget(struct leat_poets_door *door, uint32_t peer);

/* UNIX peers can send no more, and their calls fail; what they have sent can be received. */
void leat_poets_door_deafen(struct leat_poets_door *door);

/* Until there is something to receive, or room for this peer (LEAT_POETS_DOOR_PEERS_MAX: none), but
 * at most so long. */
void leat_poets_door_wait(struct leat_poets_door *door, uint32_t peer, int milliseconds);

#endif
