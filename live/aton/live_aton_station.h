/*
 * The live ring for programs: this host's station, its registers in memory, commands and answers,
 * messages from station to station.
 *
 *   struct leat_aton_host *station = leat_aton_host_open("eth1", why);
 *   volatile uint64_t *operand = leat_aton_host_registers(station);
 *   operand[1] = load;                                   plain stores; packets that pass see them
 *   leat_aton_host_command(station, &command, 1000000, &answer, why);   one packet, once round
 *   leat_aton_host_send(station, 4, "work?", 5, 1000000, &ack, why);    the same, passive: a
 * message leat_aton_host_receive(station, 1000000, &from, octets, sizeof octets, &len, why);
 *
 * A station is made by leat_aton_host_join (or `leat ring join`) and lives on without its maker: by
 * XDP in the kernel, or as a small process where there is no XDP. It belongs to its network device;
 * whoever opens the device finds it, in the same network namespace. Needs root.
 *
 * `why` is always room for LEAT_ATON_HOST_WHY_LEN characters: what is wrong, for people.
 */
#ifndef LEAT_ATON_HOST_H
#define LEAT_ATON_HOST_H

#include "aton_sender.h"

enum {
    LEAT_ATON_HOST_WHY_LEN = 320,
    LEAT_ATON_HOST_IMAGE_MAX = 1488,  /* what an Ethernet frame holds of an image */
    LEAT_ATON_HOST_OCTETS_MAX = 1474, /* and of a message; with a key, 16 less */
    LEAT_ATON_HOST_COUNTS = 19,
};

enum leat_aton_host_driver { LEAT_ATON_HOST_ANY, LEAT_ATON_HOST_XDP, LEAT_ATON_HOST_PACKET };

struct leat_aton_host_config {
    const char *device;  /* frames of the previous station come in here */
    const char *out;     /* and leave for the next one here; NULL: by the same device */
    uint8_t previous[6]; /* Ethernet address of the previous station's out */
    uint8_t next[6];     /* of the next station's device */
    uint32_t ring_id;
    uint16_t address;    /* of this station, 0 to 65534, another one for each */
    const uint8_t *key;  /* 16 octets that all stations share; NULL: packets have no MAC */
    uint32_t rate_per_s; /* packets of one sender that may pass; 0: any number */
    enum leat_aton_host_driver driver;
    const char *why; /* describe: it has this driver, as join said; lent until close */
};

struct leat_aton_host;

/* What a command came to. result.payload points into image. */
struct leat_aton_host_answer {
    struct leat_aton_packet result;
    uint64_t took_ns;
    uint32_t stations; /* that it passed, this one included; Counter has those that took part */
    uint8_t image[LEAT_ATON_HOST_IMAGE_MAX];
};

/* What became of a message, as its packet tells when it is back. */
struct leat_aton_host_ack {
    bool recognised; /* the station is there; to all: there is one at least */
    bool copied;     /* and had room for it in its mailbox; to all: one at least had */
    uint64_t took_ns;
};

enum leat_aton_host_end {
    LEAT_ATON_HOST_OK,
    LEAT_ATON_HOST_WRONG,  /* the request cannot be right */
    LEAT_ATON_HOST_FAILED, /* the system refuses */
    LEAT_ATON_HOST_SILENT, /* no answer, or no message, in time */
};

/*
 * Makes this host a station. One that an earlier start left on the device is taken over, with its
 * registers. *used is the driver, and `why` tells why that one, or what is wrong.
 */
enum leat_aton_host_end leat_aton_host_join(const struct leat_aton_host_config *config,
                                            enum leat_aton_host_driver *used, char *why);

/* Ends the station of a device. The ring is dead until its neighbours know each other. */
enum leat_aton_host_end leat_aton_host_leave(const char *device, char *why);

/* NULL, and why: no such device, no station on it, no right to it. */
struct leat_aton_host *leat_aton_host_open(const char *device, char *why);
void leat_aton_host_close(struct leat_aton_host *station);

/* R0 .. R63. One aligned store is one change to a packet that passes; several are not. */
volatile uint64_t *leat_aton_host_registers(struct leat_aton_host *station);

/* Address, enabled, operations of TREE: the host changes the last two. */
struct leat_aton_interface *leat_aton_host_interface(struct leat_aton_host *station);

/* One command, once round the ring. */
enum leat_aton_host_end leat_aton_host_command(struct leat_aton_host *station,
                                               const struct leat_aton_command *command,
                                               uint64_t timeout_us,
                                               struct leat_aton_host_answer *answer, char *why);

/* How many interfaces take part, by one packet. */
enum leat_aton_host_end leat_aton_host_count(struct leat_aton_host *station, uint64_t timeout_us,
                                             uint32_t *stations, char *why);

/*
 * One message to a station, or to all others (LEAT_ATON_DA_ALL), once round the ring. OK: the
 * packet is back, and *ack tells. Nothing is sent twice: who was not copied may try again. With a
 * key each has a serial, and a station takes it once.
 */
enum leat_aton_host_end leat_aton_host_send(struct leat_aton_host *station, uint16_t to,
                                            const void *octets, size_t len, uint64_t timeout_us,
                                            struct leat_aton_host_ack *ack, char *why);

/*
 * The oldest message in this station's mailbox, or the next that comes. A mailbox holds 64 KiB that
 * nobody has read; when it is full, senders are told. If several processes receive, each message
 * goes to one of them. WRONG: it is longer than `cap`, and stays; *len is its length.
 */
enum leat_aton_host_end leat_aton_host_receive(struct leat_aton_host *station, uint64_t timeout_us,
                                               uint16_t *from, void *octets, size_t cap,
                                               size_t *len, char *why);

/* What became of the frames of our Ethernet type: counts[i] of leat_aton_host_reason(i). */
bool leat_aton_host_counts(struct leat_aton_host *station, uint64_t counts[LEAT_ATON_HOST_COUNTS]);
const char *leat_aton_host_reason(unsigned index);
const char *leat_aton_host_reason_text(unsigned index);

/* What the station was told when it joined. key is NULL or not; its octets stay secret. */
void leat_aton_host_describe(const struct leat_aton_host *station,
                             struct leat_aton_host_config *config, char device[16], char out[16]);

/* The process that serves it; 0: the kernel does. */
int leat_aton_host_process(const struct leat_aton_host *station);

/* Does what it sends on still leave? False: why not, and what to do. */
bool leat_aton_host_works(const struct leat_aton_host *station, char *why);

#endif
