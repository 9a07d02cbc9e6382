/*
 * Management: packets that no store executes. They have the header and the CRC of an instruction,
 * operands of their own, and a keyed MAC as the last operand (README.md, "Management").
 *
 *    octet 0   1        2..3     4..11            12 ..                 last 12    last 4
 *   +---------+--------+--------+----------------+---------------------+----------+--------+
 *   |    0    | Opcode | Length | Computation ID | operands            | MAC (64) | CRC-32 |
 *   +---------+--------+--------+----------------+---------------------+----------+--------+
 *
 *   64 QUERY      target(64) nonce(64) store(32) cursor(32)
 *   65 REPLY      node(64) nonce(64) store(8) 0(8) count(16) next(32) tau(64)
 *                 count x { tag(64) value(64) remaining(64) }
 *   66 JOIN       group(64) member(64) serial(64) challenge(64) value(64) flags(8) 0(24)
 *                 lifetime(32) address(128) port(16) 0(48)
 *   67 ANNOUNCE   group(64) member(64) serial(64)
 *                 service(8) phase(8) opcode(8) control(8) rounds(16) value from(8) shift(8)
 *                 delay(32) interval(32) 7 x operand(64)
 *   68 INSTALL    group(64) target(64) serial(64) lifetime(32) count(8) 0(8) children(16)
 *                 children: parent(64); count x { address(128) port(16) 0(48) }
 *   69 INSTALLED  group(64) node(64) serial(64) lifetime(32) result(32)
 *   70 CAST       group(64) serial(64) hops(8) 0(8) payload length(16) 0(32) payload, padded by 0
 *   71 WELCOME    group(64) member(64) serial(64) challenge(64) announced(64) flags(8) 0(56)
 *
 * The MAC is SipHash-2-4 over all octets before it, with CAST's hops taken as 0 since every copy
 * decrements them. Nothing in a packet says whether it is keyed: a receiver with a key checks the
 * MAC, a sender without one sends what its struct holds. A node forwards packets for others
 * unchanged.
 *
 * Pure: no state, no allocation.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_QUERY_H
#define LEAT_ESP_QUERY_H

#include "leat_siphash.h"
#include <leat/esp.h>

_Static_assert(LEAT_ESP_KEY_LEN == (int)LEAT_SIP_KEY_LEN, "keys are SipHash's");

enum {
    LEAT_ESP_MAC_LEN = 8,
    LEAT_ESP_BINDINGS_MAX = 32,         /* of one REPLY */
    LEAT_ESP_COPIES_MAX = 8,            /* of one duplicate */
    LEAT_ESP_CHILDREN_MAX = UINT16_MAX, /* of a node, told by an INSTALL */
    LEAT_ESP_ADDRESS_LEN = 16,          /* IPv6, or IPv4 as ::ffff:a.b.c.d */
    LEAT_ESP_PAYLOAD_LEN_MAX = 1024,
    LEAT_ESP_MANAGEMENT_WORDS_MIN = 2,
    LEAT_ESP_MANAGEMENT_WORDS_MAX = 8 + LEAT_ESP_PAYLOAD_LEN_MAX / 4,
    LEAT_ESP_MANAGEMENT_LEN_MAX = LEAT_ESP_PACKET_LEN_MIN + 4 * LEAT_ESP_MANAGEMENT_WORDS_MAX,
};

/* code, name, name of its struct below. */
#define LEAT_ESP_MANAGEMENT_LIST(X) \
    X(64, QUERY, query)             \
    X(65, REPLY, reply)             \
    X(66, JOIN, join)               \
    X(67, ANNOUNCE, announce)       \
    X(68, INSTALL, install)         \
    X(69, INSTALLED, installed)     \
    X(70, CAST, cast)               \
    X(71, WELCOME, welcome)

/* Where a member takes val or pktVal of the instruction from. */
#define LEAT_ESP_VALUE_LIST(X) X(0, TASK, "task") X(1, OWN, "own") X(2, PART, "part")

/* The result of an INSTALL. */
#define LEAT_ESP_RESULT_LIST(X) \
    X(0, INSTALLED, "installed") X(1, REMOVED, "removed") X(2, FULL, "full") X(3, STALE, "stale")

enum leat_esp_management_opcode {
#define X(code, name, member) LEAT_ESP_##name = code,
    LEAT_ESP_MANAGEMENT_LIST(X)
#undef X
        LEAT_ESP_MANAGEMENT_END
};
enum leat_esp_value_from {
#define X(code, name, text) LEAT_ESP_VALUE_##name = code,
    LEAT_ESP_VALUE_LIST(X)
#undef X
        LEAT_ESP_VALUES
};
enum leat_esp_result {
#define X(code, name, text) LEAT_ESP_RESULT_##name = code,
    LEAT_ESP_RESULT_LIST(X)
#undef X
        LEAT_ESP_RESULTS
};

/* Asks for the bindings of the computation: at most LEAT_ESP_BINDINGS_MAX per answer. */
struct leat_esp_query {
    uint64_t target; /* a node's id; 0: every node on the route answers and forwards */
    uint64_t nonce;  /* returned in the answer, so that an old answer is recognised */
    uint32_t store;  /* one bit of enum leat_esp_loc */
    uint32_t cursor; /* 0, or `next` of the previous answer */
};

struct leat_esp_binding {
    uint64_t tag, value;
    uint64_t remaining; /* ticks to live, at least 1 */
};

struct leat_esp_reply {
    uint64_t node; /* its id, not mixed: its parent knows it by mix64(id, computation) */
    uint64_t nonce;
    uint64_t tau;
    uint8_t store;
    uint16_t count;
    uint32_t next; /* where to continue; 0: end */
    struct leat_esp_binding binding[LEAT_ESP_BINDINGS_MAX];
};

struct leat_esp_next {
    uint8_t address[LEAT_ESP_ADDRESS_LEN];
    uint16_t port;
};

enum { LEAT_ESP_JOIN_HAS_VALUE = 1, LEAT_ESP_WELCOME_KNOWN = 1 };

/*
 * From a member to the root, repeated while the member lives. The MAC proves the member; serial,
 * challenge and address prove that the packet is fresh: in a keyed group a replayed copy is
 * worthless, wherever it comes from and whenever.
 */
struct leat_esp_join {
    uint64_t group;
    uint64_t member;    /* the member's number, unique in the group; mixed, it is its pktId */
    uint64_t serial;    /* increases with each JOIN of the member, from 1 on */
    uint64_t challenge; /* from the latest WELCOME; 0: none yet */
    uint64_t value;
    uint8_t flags;
    uint32_t lifetime_ms;      /* 0: the member leaves */
    struct leat_esp_next from; /* the sender's address: the carrier's, filled in on sending */
};

/* From the root to a member, at most one per JOIN received, and shorter than that. */
struct leat_esp_welcome {
    uint64_t group;
    uint64_t member;
    uint64_t serial;    /* of the JOIN: one that is not above the last is a copy */
    uint64_t challenge; /* for the next JOIN: the root made it for this member at this address */
    uint64_t announced; /* announcements and casts up to this serial are past */
    uint8_t flags;      /* KNOWN: the root knows the member. Otherwise it requires the challenge */
};

/*
 * From the root to a member: send this instruction `rounds` times, first after `delay_us`, then
 * every `interval_us`. The member fills in mix64(member, computation) as pktId, and its value where
 * `value_from` says so. The computation is that of the header. NOP: nothing to send.
 */
struct leat_esp_announce {
    uint64_t group;
    uint64_t member; /* the addressee; 0: every member that receives it */
    uint64_t serial; /* increases; one that is not above the last is a duplicate */
    uint8_t service, phase;
    uint8_t value_from;
    uint8_t value_shift; /* PART: of the member's value, 0 .. 63 (esp_part.h) */
    uint16_t rounds;
    uint32_t delay_us, interval_us;
    struct leat_esp_packet task; /* its computationId is that of the header */
};

/* From the root to a node: forward every CAST of the group to each of `next`; COLLECTs of the group
 * come from so many children. */
struct leat_esp_install {
    uint64_t group;
    uint64_t target; /* the node's id; 0: whoever it is addressed to */
    uint64_t serial; /* increases; one that is not above the group's last is refused */
    uint32_t lifetime_ms;
    uint8_t count;
    uint16_t children; /* 0: not known. Neither these nor copies: remove */
    uint64_t parent;   /* with children: chldCntTag of COLLECTs that the node passes */
    struct leat_esp_next next[LEAT_ESP_COPIES_MAX];
};

struct leat_esp_installed {
    uint64_t group, node, serial;
    uint32_t lifetime_ms; /* as granted */
    uint32_t result;      /* enum leat_esp_result */
};

/* To all members of a group, through the duplicates. */
struct leat_esp_cast {
    uint64_t group;
    uint64_t serial;
    uint8_t hops; /* hops left; a copy has one less, and a packet with 0 is not copied */
    uint16_t payload_len;
    uint8_t payload[LEAT_ESP_PAYLOAD_LEN_MAX];
};

struct leat_esp_management {
    uint8_t opcode; /* enum leat_esp_management_opcode: selects the member of the union */
    uint64_t computationId;
    uint64_t mac; /* as decoded; encode without a key sends it */
    union {
#define X(code, name, member) struct leat_esp_##member member;
        LEAT_ESP_MANAGEMENT_LIST(X)
#undef X
    };
};

/* Octets of the packet that begins here, from its header; 0 if unknown. */
size_t leat_esp_management_len(const uint8_t *buf, size_t len);

/*
 * Total; on error *out is untouched and *fault_at (may be NULL) is the offset. Checked in this
 * order:
 *
 *   SHORT      fewer octets than the shortest packet       where the octets end
 *   TYPE       opcode unknown                              the opcode
 *   RESERVED   Control is not 0                            Control
 *   LENGTH     no packet of the opcode has this length     the length
 *   SHORT      fewer octets than the packet                where the octets end
 *   CHECKSUM   CRC-32 differs                              the CRC
 *   CHECKSUM   there is a key and the MAC differs          the MAC
 *   ...        the fields from first to last: RESERVED a nonzero pad, LENGTH a count that does
 *              not match the length, RANGE or TYPE an invalid value
 *
 * key may be NULL: the MAC is not checked. Octets after the CRC are ignored.
 */
leat_err leat_esp_management_decode(const uint8_t *buf, size_t len,
                                    const uint8_t key[LEAT_ESP_KEY_LEN],
                                    struct leat_esp_management *out, size_t *fault_at);

/* Writes *len octets (len may be NULL). On error writes nothing; the errors of decode, or SPACE. */
leat_err leat_esp_management_encode(const struct leat_esp_management *m,
                                    const uint8_t key[LEAT_ESP_KEY_LEN], uint8_t *buf, size_t cap,
                                    size_t *len);

/*
 * The key of a group, derived from that of the network. A group's owner can have its key without
 * access to other groups; nodes keep one key only. QUERY and REPLY use the network's key, all
 * others the group's.
 */
void leat_esp_key_of_group(const uint8_t key[LEAT_ESP_KEY_LEN], uint64_t group,
                           uint8_t out[LEAT_ESP_KEY_LEN]);

/* The correct MAC of a packet of len octets; hops of a CAST are ignored. */
uint64_t leat_esp_management_mac(const uint8_t key[LEAT_ESP_KEY_LEN], const uint8_t *buf,
                                 size_t len);

#endif
