/*
 * leat atm tun: hosts of this machine on the ports of a simulated network.
 *
 *   namespace atm0            leat                                            namespace atm5
 *   ping 10.77.0.6 --> TUN --> LLC header --> [ port 0   network   port 5 ] --> TUN --> reply ...
 *
 * atm_tun_options.c reads the command line, atm_tun_namespace.c makes the namespaces, atm_tun_clock
 * lets simulated time follow real time, atm_tun_run.c carries packets, verb_atm.c starts and ends.
 */
#ifndef LEAT_ATM_TUN_H
#define LEAT_ATM_TUN_H

#include "atm_tun_clock.h"
#include "fabric_kind.h"
#include "live_system.h"
#include "tool.h"
#include <leat/port.h>

enum {
    TUN_HOSTS_MAX = 64,
    TUN_WINDOW = 4, /* packets of a host in the network; others wait in its device */
    TUN_MTU_MIN = 1280,
    TUN_MTU_MAX = 65527,  /* a PDU of AAL5 less the LLC header */
    TUN_NAME_LEN_MAX = 7, /* so that a device may be called so, with its port */
    TUN_IPV4_LEN = 4,
    TUN_IPV6_LEN = 16,
    TUN_IPV6_BITS = 64,
};

/* The command line. */
struct tun_job {
    const struct arguments *args;
    const char *fabric, *name;
    uint32_t network, bits; /* IPv4: port p has the address network + p + 1 */
    uint32_t hosts, port[TUN_HOSTS_MAX];
    uint32_t mtu, slower;
};

/* A packet in the network. */
struct tun_packet {
    uint8_t *octets; /* with its LLC header */
    leat_time at;    /* sent */
    bool is_busy;
};

struct tun_host {
    uint32_t port;
    char name[IF_NAMESIZE]; /* of its namespace, and of its device there */
    bool has_namespace;
    int fd; /* -1: none */
    uint8_t ipv4[TUN_IPV4_LEN], ipv6[TUN_IPV6_LEN];
    uint32_t busy; /* packets */
    struct tun_packet packet[TUN_WINDOW];
};

struct tun_figures {
    uint64_t sent, received, octets; /* packets; octets received */
    uint64_t no_way, lost, unsent;   /* to no host here; by the network; not taken by either */
    leat_time latency_sum, latency_max;
};

struct tun {
    const struct tun_job *job;
    struct leat_fabric *fabric;
    struct leat_port_net *net;
    struct tun_host host[TUN_HOSTS_MAX];
    struct tun_clock clock;
    struct tun_figures figures;
    uint64_t ended_ns;
    bool is_stuck;
    uint8_t *scratch; /* a packet as it is read */
};

/* False after a complaint. */
bool tun_options_read(const struct arguments *args, struct tun_job *job);

/* The addresses of a port. */
void tun_addresses(const struct tun_job *job, uint32_t port, uint8_t ipv4[TUN_IPV4_LEN],
                   uint8_t ipv6[TUN_IPV6_LEN]);

/* The port that the destination of an IP packet belongs to, whether or not it has a host. False: it
 * is no such address, or no IP packet. */
bool tun_port_of(const struct tun_job *job, const uint8_t *ip, size_t len, uint32_t *port);

/* Makes a namespace that ip-netns(8) shows, and a device in it. False: see `why`. */
bool tun_host_open(struct tun_host *host, const struct tun_job *job, char *why);
void tun_host_close(struct tun_host *host);

/* Carries packets until it is interrupted, the network is stuck, or `is_over` says so. */
void tun_run(struct tun *tun, bool (*is_over)(void *context), void *context);

#endif
