/*
 * What the program in the kernel and the router's process share.
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_LIVE_PACKETWAY_SHARED_H
#define LEAT_LIVE_PACKETWAY_SHARED_H

#include "live_packetway_frame.h"
#include "packetway_fib.h"

/* The network device of a half-router. */
struct packetway_port {
    uint32_t device; /* 0: it has none */
    uint8_t mac[PACKETWAY_MAC_LEN];
    uint8_t zero[2];
};

/* A half-router's forwarding table; the pointers mean nothing in the kernel, which has maps. */
struct packetway_fib {
    struct leat_packetway_fib fib;
    uint32_t me;           /* its address */
    uint32_t first_native; /* index of its native routes among those of all */
    uint32_t keyed;        /* a SAN of the router has a key: the process sees control messages */
};

/* The key of an entry: the address of a half-router, and a destination. */
struct packetway_key {
    uint32_t me, dt;
};

/* In a struct of its own: the compiler describes what a fib points to by name only. */
struct packetway_entry {
    struct leat_packetway_entry entry;
};

/* A node of a SAN by its native route, and what it is. */
struct packetway_mac {
    uint32_t half;
    uint8_t mac[PACKETWAY_MAC_LEN];
    uint8_t zero[2];
};
enum { PACKETWAY_IS_HOST = 1, PACKETWAY_IS_BUDDY = 2 };

#endif
