/*
 * A simulated fabric by its name (leat fabric list), as ports that carry messages.
 *
 *     char why[LEAT_FABRIC_WHY_LEN];
 *     struct leat_fabric_net *net = leat_fabric_net_open("torus:4,4", why);
 *     leat_fabric_net_send(net, 0, 15, octets, len, 7);
 *     while (leat_fabric_net_run(net, &delivery)) ...
 *     leat_fabric_net_close(net);
 *
 * Times are picoseconds of the fabric's own clock, which advances only in leat_fabric_net_run. The
 * same calls have the same results on every machine. A net belongs to one thread at a time.
 */
#ifndef LEAT_LEAT_FABRIC_H
#define LEAT_LEAT_FABRIC_H

#include <leat/api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for `why`, its final zero included. */
enum { LEAT_FABRIC_WHY_LEN = 512 };

/* An open fabric; opaque. */
struct leat_fabric_net;

/* The fate of a message. */
struct leat_fabric_delivery {
    uint64_t id;        /* as it was sent */
    uint32_t from, to;  /* ports */
    uint64_t at_ps;     /* when its last octet arrived, or it was lost */
    const char *lost;   /* why it never arrives; NULL: it has arrived */
    const void *octets; /* as they arrived; lent until the next call */
    size_t len;
};

/* A name, or a file of edges or YAML. Returns NULL on error: `why` says what is wrong, where, and
 * what was expected. */
LEAT_API struct leat_fabric_net *leat_fabric_net_open(const char *name,
                                                      char why[LEAT_FABRIC_WHY_LEN]);

/* NULL is allowed. */
LEAT_API void leat_fabric_net_close(struct leat_fabric_net *net);

/* The full name, which opens the same fabric again; lent until close. */
LEAT_API const char *leat_fabric_net_name(const struct leat_fabric_net *net);

/* The number of ports; they are numbered from 0. */
LEAT_API uint32_t leat_fabric_net_ports(const struct leat_fabric_net *net);

/* The simulated time reached. */
LEAT_API uint64_t leat_fabric_net_now_ps(const struct leat_fabric_net *net);

/* Hands a message to port `from`, now; copies its octets. A port sends its messages one after the
 * other. False: no such port, no memory, or a million messages in flight. */
LEAT_API bool leat_fabric_net_send(struct leat_fabric_net *net, uint32_t from, uint32_t to,
                                   const void *octets, size_t len, uint64_t id);

/* Runs until the next message has arrived or is lost. False: none is in flight. */
LEAT_API bool leat_fabric_net_run(struct leat_fabric_net *net, struct leat_fabric_delivery *out);

#ifdef __cplusplus
}
#endif

#endif
