/*
 * ATON packet: one command that goes once round a token ring and folds an operand of every
 * interface into its data (spec/aton.md). This is its octet image, the form of files, captures and
 * the live ring; programs never see the form on the ring itself.
 *
 *    0     1        3      5      7                                   n-5   n-4
 *   +-----+--------+------+------+-----------------------------------+-----+---------+
 *   | AC  |  CTL   |  DA  |  SA  |  data                             | FLG | CRC-32  |
 *   +-----+--------+------+------+-----------------------------------+-----+---------+
 *
 *   AC    PPP T M RRR        priority, token, monitor, reservation
 *   CTL   active(1) opc(4) width(2) register(6) group(1) 00   group: DA is a group's number
 *   FLG   A C 0 0 A C 0 0    address recognised, copied, twice
 *
 *   data                     head                                payload
 *   opc 1..8                 Counter(16) Variable-1 Variable-2   -
 *   opc 9  SORT              Counter(16) PARAM(16) = 0           Counter values
 *   opc 10 BITCOUNT          Counter(16) PARAM(16) = c           W counters, (c+7)/8 octets each
 *   opc 11 TREE              Counter(16) PARAM(16) = H           H slots: octet 0 or 1, value
 *   passive                  length(16)                          that many octets
 *
 * Every number is big-endian, whatever its bit order on the ring; W is 16, 32 or 64. The CRC (IEEE
 * 802.3) takes T, M, RRR and FLG as 0, since stations on the ring may change them.
 *
 * The head alone determines the length of the image. Every image that decodes is canonical: it
 * encodes to the same octets. Errors:
 *
 *   SHORT      the buffer ends before the image (fault: the end of the buffer)
 *   LENGTH     octets are left over (fault: the first of them)
 *   TYPE       opcode 0 or 12..15; T = 1: a token has no octet image
 *   RANGE      width code 3; a group above 31; Counter above 65,534; PARAM of BITCOUNT or
 *              TREE outside its limits; a BITCOUNT counter that does not fit c bits; a TREE valid
 *              octet above 1
 *   RESERVED   the zeros of CTL and FLG; all of CTL but `active` in a passive packet; PARAM of SORT
 *   CHECKSUM   CRC; the two copies of A C in FLG, which the CRC does not cover, differ
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ATON_H
#define LEAT_ATON_H

#include <leat/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LEAT_ATON_DA_ALL = 0xFFFF, /* the whole ring is the execution region */
    LEAT_ATON_INTERFACES_MAX = 65534,
    LEAT_ATON_GROUPS_MAX = 32, /* groups of interfaces, numbered from 0 */
    LEAT_ATON_REGISTER_MAX = 63,
    LEAT_ATON_COUNTER_BITS_MAX = 16, /* c: ceil(log2(n+1)) for the longest ring */
    LEAT_ATON_SLOTS_MAX = 17,        /* H: ceil(log2 n) + 1 for the longest ring */
    LEAT_ATON_OCTETS_MAX = 65535,    /* a passive packet's */
    LEAT_ATON_IMAGE_LEN_MIN = 14,    /* passive and empty */
    LEAT_ATON_IMAGE_LEN_MAX = 16 + LEAT_ATON_INTERFACES_MAX * 8, /* SORT, W = 64 */
};

/* What an active packet does at every interface (spec/aton.md). */
enum leat_aton_opcode {
    LEAT_ATON_ADD = 1,
    LEAT_ATON_AND,
    LEAT_ATON_OR,
    LEAT_ATON_MAX,
    LEAT_ATON_MIN,
    LEAT_ATON_EQ,
    LEAT_ATON_LT,
    LEAT_ATON_LE,
    LEAT_ATON_SORT,
    LEAT_ATON_BITCOUNT,
    LEAT_ATON_TREE,
};

/*
 * The meaning of a packet. Fields that its kind does not use are 0 after decoding. Encoding refuses
 * them in CTL of a passive packet and in PARAM of SORT, and ignores the rest.
 */
struct leat_aton_packet {
    uint8_t priority;    /* 3 bits */
    uint8_t token;       /* 1: a token, which has only an AC */
    uint8_t monitor;     /* 1: has passed the monitor station */
    uint8_t reservation; /* 3 bits */
    uint8_t active;      /* 0: passive */
    uint8_t opcode;      /* enum leat_aton_opcode */
    uint8_t width_bits;  /* W: 16, 32 or 64 */
    uint8_t reg;         /* operand register, 6 bits */
    uint8_t recognised;  /* A */
    uint8_t copied;      /* C */
    uint8_t group;       /* 1: da is a group's number, active only */
    uint16_t da, sa;
    uint16_t counter;              /* interfaces that took part */
    uint16_t param;                /* opc 9..11 */
    uint64_t variable1, variable2; /* opc 1..8: W bits each */
    const uint8_t *payload;        /* as in the image; lent. Passive, opc 9..11 */
    size_t payload_len;            /* passive: `length` */
};

/*
 * Decodes one image of exactly `len` octets. On error *out is untouched and *fault_at (may be NULL)
 * is the offset of the error. out->payload is lent from buf.
 */
LEAT_API leat_err leat_aton_packet_decode(const uint8_t *buf, size_t len,
                                          struct leat_aton_packet *out, size_t *fault_at);

/* Writes *len octets. On error writes nothing and returns the reason. */
LEAT_API leat_err leat_aton_packet_encode(const struct leat_aton_packet *packet, uint8_t *buf,
                                          size_t cap, size_t *len);

/*
 * The length of the image that begins at buf, by its head alone: octets may follow it (padding of
 * a frame), or some of it may be missing (*image_len > len). SHORT if the head is not whole.
 */
LEAT_API leat_err leat_aton_packet_measure(const uint8_t *buf, size_t len, size_t *image_len,
                                           size_t *fault_at);

/* ---- the live ring: in libleat_aton ---------------------------------------------------------- */

/* Operand registers of an interface: R0 to R63. */
enum { LEAT_ATON_REGISTERS = LEAT_ATON_REGISTER_MAX + 1 };

/* The host stores to operand[] by plain assignment: one aligned store is one change. */
struct leat_aton_interface {
    uint64_t operand[LEAT_ATON_REGISTERS];
    uint16_t address; /* not LEAT_ATON_DA_ALL */
    uint8_t enabled;
    uint8_t tree[LEAT_ATON_SLOTS_MAX]; /* op_h: ADD to LE, GT, GE, or PASS; 0 is ADD */
    uint32_t groups;                   /* bit g: a member of group g */
};

/* Only in tree[], beside the commands: slot > x, slot >= x; the interface repeats the slot, whether
 * it is valid or not. */
enum { LEAT_ATON_GT = 12, LEAT_ATON_GE, LEAT_ATON_PASS };

/* Flags beside an operation: the result goes back into the slot that was emptied, in the bit order
 * of the operation that will consume it. On a simulated ring an interface must hold back a whole
 * slot for that. */
enum { LEAT_ATON_TREE_OP = 15, LEAT_ATON_BACK = 16, LEAT_ATON_BACK_LSB_FIRST = 32 };

struct leat_aton_command {
    uint8_t opcode, width_bits, reg;
    uint8_t priority;
    uint16_t da;      /* LEAT_ATON_DA_ALL, or one interface that takes part beside the sender */
    uint16_t param;   /* BITCOUNT: c, TREE: H, others 0 */
    bool value_given; /* EQ, LT, LE: v is `value`, not x_1 */
    uint64_t value;
    bool group;      /* `da` is the number of a group: its members take part */
    bool sender_out; /* the sender does not take part: it begins as if it were disabled */
};

/*
 * The live ring for programs: this host's station, its registers in memory, commands and answers,
 * messages from station to station.
 *
 *   leat_aton_host_open("eth1", &station, why);
 *   volatile uint64_t *operand = leat_aton_host_registers(station);
 *   operand[1] = load;                                   plain stores; passing packets read them
 *   leat_aton_host_command(station, &command, 1000000, &answer, why);   one packet, once round
 *   leat_aton_host_send(station, 4, "work?", 5, 1000000, &ack, why);    the same, passive
 *   leat_aton_host_receive(station, 1000000, &from, octets, sizeof octets, &len, why);
 *
 * leat_aton_host_join (or `leat ring join`) makes a station. The station outlives the program that
 * made it: it runs as XDP in the kernel, or as a small process where there is no XDP. It belongs to
 * its network device; any program in the same network namespace that opens the device finds it.
 * Needs root, or membership of the group that it is lent to.
 *
 * The result says what to do about a failure. `why` always has room for LEAT_ATON_HOST_WHY_LEN
 * characters: the error in words, for people.
 */
enum {
    LEAT_ATON_HOST_WHY_LEN = 320,
    LEAT_ATON_HOST_IMAGE_MAX = 1488,  /* the longest image that fits into an Ethernet frame */
    LEAT_ATON_HOST_OCTETS_MAX = 1474, /* the longest message; with a key, 16 less */
    LEAT_ATON_HOST_COUNTS = 19,
};

/* How a station forwards frames: XDP in the kernel, or a process with packet sockets. ANY: XDP
 * where it works. */
enum leat_aton_host_driver { LEAT_ATON_HOST_ANY, LEAT_ATON_HOST_XDP, LEAT_ATON_HOST_PACKET };

struct leat_aton_host_config {
    const char *device;  /* frames of the previous station arrive here */
    const char *out;     /* frames for the next station leave here; NULL: the same device */
    uint8_t previous[6]; /* Ethernet address of the previous station's out */
    uint8_t next[6];     /* of the next station's device */
    uint32_t ring_id;
    uint16_t address;   /* of this station, 0 to 65534; unique on the ring */
    const uint8_t *key; /* 16 octets that all stations share; NULL: packets have no MAC */
    const uint8_t
        *other_key;      /* its packets are accepted, too: the last key, or the next; or NULL */
    uint32_t rate_per_s; /* packets of one sender that may pass; 0: no limit */
    enum leat_aton_host_driver driver;
    const char *why; /* describe: the reason for this driver, as join gave it; lent until close */
};

/* An open station; opaque. */
struct leat_aton_host;

/* The result of a command. result.payload points into image. */
struct leat_aton_host_answer {
    struct leat_aton_packet result;
    uint64_t took_ns;
    uint32_t stations; /* that it passed, this one included; Counter has those that took part */
    uint8_t image[LEAT_ATON_HOST_IMAGE_MAX];
};

/* The fate of a message, from the flags of its packet when it returns. */
struct leat_aton_host_ack {
    bool recognised; /* the station exists; to all: at least one does */
    bool copied;     /* its mailbox had room; to all: at least one had */
    uint64_t took_ns;
};

enum leat_aton_host_end {
    LEAT_ATON_HOST_OK,
    LEAT_ATON_HOST_WRONG,  /* the request is invalid */
    LEAT_ATON_HOST_FAILED, /* the system refused */
    LEAT_ATON_HOST_SILENT, /* no answer, or no message, in time */
    LEAT_ATON_HOST_ABSENT, /* no station on this device */
};

/*
 * Makes this host a station. Takes over a station that an earlier start left on the device, with
 * its registers. *used is the driver; `why` gives the reason for it, or the error.
 */
LEAT_API enum leat_aton_host_end leat_aton_host_join(const struct leat_aton_host_config *config,
                                                     enum leat_aton_host_driver *used,
                                                     int *slower_at, char *why);

/*
 * Gives a station that has a key other ones, as in its configuration: for it and all who have it
 * open, between two packets. Stations one after another accept the next key, then sign with it,
 * then forget the last one, and drop no packet meanwhile. WRONG: it has none, or key is NULL.
 */
LEAT_API enum leat_aton_host_end leat_aton_host_change_keys(const char *device, const uint8_t *key,
                                                            const uint8_t *other_key, char *why);

/* Ends the station of a device. The ring is broken until its neighbours know each other. */
LEAT_API enum leat_aton_host_end leat_aton_host_leave(const char *device, char *why);

/*
 * Lends the station of a device to members of a group of users, by its number, until it is joined
 * again or left: a process is started for it. They need no rights then; but they may send and
 * receive any frames of this host, and learn the ring's key.
 */
LEAT_API enum leat_aton_host_end leat_aton_host_lend(const char *device, uint32_t group, char *why);

/* WRONG: no such device. ABSENT: no station on it. FAILED: for example, no permission. *out is NULL
 * then. */
LEAT_API enum leat_aton_host_end leat_aton_host_open(const char *device,
                                                     struct leat_aton_host **out, char *why);
LEAT_API void leat_aton_host_close(struct leat_aton_host *station);

/* R0 .. R63. One aligned store is one change to a packet that passes; several are not. */
LEAT_API volatile uint64_t *leat_aton_host_registers(struct leat_aton_host *station);

/* Address, enabled, operations of TREE. The host may change the last two. */
LEAT_API struct leat_aton_interface *leat_aton_host_interface(struct leat_aton_host *station);

/* One command, once round the ring. */
LEAT_API enum leat_aton_host_end
leat_aton_host_command(struct leat_aton_host *station, const struct leat_aton_command *command,
                       uint64_t timeout_us, struct leat_aton_host_answer *answer, char *why);

/* Counts the interfaces that take part, with one packet. */
LEAT_API enum leat_aton_host_end leat_aton_host_count(struct leat_aton_host *station,
                                                      uint64_t timeout_us, uint32_t *stations,
                                                      char *why);

/*
 * One message to a station, or to all others (LEAT_ATON_DA_ALL), once round the ring. OK: the
 * packet has returned, and *ack has its flags. leat never retransmits; the caller may. With a key
 * each message has a serial number, and a station accepts it once.
 */
LEAT_API enum leat_aton_host_end leat_aton_host_send(struct leat_aton_host *station, uint16_t to,
                                                     const void *octets, size_t len,
                                                     uint64_t timeout_us,
                                                     struct leat_aton_host_ack *ack, char *why);

/*
 * The oldest message in this station's mailbox, or the next one to arrive. A mailbox holds 64 KiB
 * of unread messages; when it is full, the sender sees `copied` as false. If several processes
 * receive, each message goes to one of them. WRONG: it is longer than `cap`, and stays; *len is its
 * length.
 */
LEAT_API enum leat_aton_host_end leat_aton_host_receive(struct leat_aton_host *station,
                                                        uint64_t timeout_us, uint16_t *from,
                                                        void *octets, size_t cap, size_t *len,
                                                        char *why);

/* What happened to the frames of our Ethernet type: counts[i] of leat_aton_host_reason(i). */
LEAT_API bool leat_aton_host_counts(struct leat_aton_host *station,
                                    uint64_t counts[LEAT_ATON_HOST_COUNTS]);
LEAT_API const char *leat_aton_host_reason(unsigned index);
LEAT_API const char *leat_aton_host_reason_text(unsigned index);

/* The configuration with which the station joined. key tells only whether there is one (NULL: no);
 * its octets stay secret. */
LEAT_API void leat_aton_host_describe(const struct leat_aton_host *station,
                                      struct leat_aton_host_config *config, char device[16],
                                      char out[16]);

/* The process that serves the station; 0: the kernel does. */
LEAT_API int leat_aton_host_process(const struct leat_aton_host *station);

/* Can the station still forward frames? False: `why` has the reason and what to do. */
LEAT_API bool leat_aton_host_works(const struct leat_aton_host *station, char *why);

#ifdef __cplusplus
}
#endif

#endif
