/*
 * The ESP packet (spec/esp.md, "Packet"): one instruction for the ephemeral stores on its route.
 *
 *    octet 0        1        2..3             4..11               12 ..                  last 4
 *   +---------+---------+-----------------+-------------------+----------------------+---------+
 *   | Control | Opcode  | Length          | Computation ID    | operands             | CRC-32  |
 *   +---------+---------+-----------------+-------------------+----------------------+---------+
 *   Control: LLL0 FFFF   LLL = LOC, FFFF = XR E R X
 *
 * Big-endian throughout. Length counts the 32-bit words of the operands; the opcode fixes it, so it
 * is checked and never kept. The CRC-32 (IEEE 802.3) covers everything before it.
 *
 * The lists below alone define the order of the flags, the instructions with their operands and the
 * operators: codec, text and checks are generated from them.
 *
 * Pure: no state, no allocation; reads and writes only what it is given.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_ESP_H
#define LEAT_ESP_H

#include <leat/err.h>
#include <leat/time.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* spec/esp.md, "Carriage": the packet is the payload, unchanged. Never IP protocol 50 (IPsec). */
enum {
    LEAT_ESP_UDP_PORT = 4253,
    LEAT_ESP_IP_PROTOCOL = 253, /* with Router Alert */
    LEAT_ESP_ETHER_TYPE = 0x88B5,
    LEAT_ESP_LINK_TYPE = 149, /* of captures: USER2 */
};

/* Where things are, and how long. */
enum {
    LEAT_ESP_CONTROL_AT = 0,
    LEAT_ESP_LOC_SHIFT = 5, /* in Control */
    LEAT_ESP_OPCODE_AT = 1,
    LEAT_ESP_LENGTH_AT = 2,
    LEAT_ESP_COMPUTATION_AT = 4,
    LEAT_ESP_OPERANDS_AT = 12,
    LEAT_ESP_OPERAND_LEN = 8,
    LEAT_ESP_CRC_LEN = 4,
    LEAT_ESP_OPERANDS_MAX = 7,
    LEAT_ESP_PACKET_LEN_MIN = LEAT_ESP_OPERANDS_AT + LEAT_ESP_CRC_LEN,
    LEAT_ESP_PACKET_LEN_MAX = LEAT_ESP_PACKET_LEN_MIN +
                              LEAT_ESP_OPERAND_LEN * LEAT_ESP_OPERANDS_MAX,
};

/*
 * name, bit. X Execute, R Reflect, E Error, XR Execute on Reflect. The seed only fixes XR and R as
 * 0xA, which four orders satisfy; this order is ours.
 */
#define LEAT_ESP_FLAG_LIST(FLAG) FLAG(XR, 0x8) FLAG(E, 0x4) FLAG(R, 0x2) FLAG(X, 0x1)

/* name, name in text, bit: the stores to run at, in the order of running. None means the centre. */
#define LEAT_ESP_LOC_LIST(LOC) \
    LOC(INPUT, "input", 4) LOC(CENTRE, "centre", 1) LOC(OUTPUT, "output", 2)

/*
 * code, name, words, operands in order. Each operand takes two words: TAG and VALUE are 64 bits,
 * an operator (COMPARE_OP, FOLD_OP) is 32 bits and 32 bits of zero.
 */
#define LEAT_ESP_INSTRUCTION_LIST(INSTRUCTION)                                             \
    INSTRUCTION(0, NOP, 0, NOTHING)                                                        \
    INSTRUCTION(1, COUNT, 4, TAG(compValTag), VALUE(thresh))                               \
    INSTRUCTION(2, COMPARE, 6, TAG(compValTag), VALUE(pktVal), COMPARE_OP)                 \
    INSTRUCTION(3, COLLECT, 8, TAG(compValTag), VALUE(val), TAG(chldCntTag), FOLD_OP)      \
    INSTRUCTION(4, RCHLD, 8, TAG(pktId), TAG(sibCntTag), TAG(fwdCntTag), VALUE(fwdThresh)) \
    INSTRUCTION(5, RCOLLECT, 14, TAG(pktId), TAG(sibCntTag), TAG(compIdTag), VALUE(val),   \
                TAG(collectFwdTag), VALUE(fwdThresh), FOLD_OP)

/* clang-format off */
/* name, code: op(stored, packet). _S compares as signed numbers. */
#define LEAT_ESP_COMPARE_LIST(OP)                                                                  \
    OP(LT, 0x01) OP(LE, 0x02) OP(GT, 0x03) OP(GE, 0x04) OP(EQ, 0x05) OP(NE, 0x06)                  \
    OP(LT_S, 0x11) OP(LE_S, 0x12) OP(GT_S, 0x13) OP(GE_S, 0x14) OP(EQ_S, 0x15) OP(NE_S, 0x16)

/* name, code. ADD wraps; ADDSAT stays at the end of the range. _S only where the sign matters. */
#define LEAT_ESP_FOLD_LIST(OP)                                                                     \
    OP(ADD, 0x01) OP(MIN, 0x02) OP(MAX, 0x03) OP(AND, 0x04) OP(OR, 0x05) OP(XOR, 0x06)             \
    OP(ADDSAT, 0x07) OP(MIN_S, 0x12) OP(MAX_S, 0x13) OP(ADDSAT_S, 0x17)
/* clang-format on */

/* They make the constants below from the lists above. */
#define LEAT_ESP_ENUM_FLAG(name, bit)                LEAT_ESP_FLAG_##name = bit,
#define LEAT_ESP_ENUM_LOC(name, text, bit)           LEAT_ESP_LOC_##name = bit,
#define LEAT_ESP_ENUM_OPCODE(code, name, words, ...) LEAT_ESP_##name = code,
#define LEAT_ESP_ENUM_COMPARE(name, code)            LEAT_ESP_COMPARE_##name = code,
#define LEAT_ESP_ENUM_FOLD(name, code)               LEAT_ESP_FOLD_##name = code,

/* The constants of the lists above. */
enum leat_esp_flag { LEAT_ESP_FLAG_LIST(LEAT_ESP_ENUM_FLAG) LEAT_ESP_FLAGS_ALL = 0xF };
enum leat_esp_loc { LEAT_ESP_LOC_LIST(LEAT_ESP_ENUM_LOC) LEAT_ESP_LOC_ALL = 7 };
enum leat_esp_opcode { LEAT_ESP_INSTRUCTION_LIST(LEAT_ESP_ENUM_OPCODE) LEAT_ESP_OPCODE_END };
enum leat_esp_compare { LEAT_ESP_COMPARE_LIST(LEAT_ESP_ENUM_COMPARE) };
enum leat_esp_fold { LEAT_ESP_FOLD_LIST(LEAT_ESP_ENUM_FOLD) };

/*
 * The meaning of a packet, with the note's names. An opcode uses the operands of its row in the
 * list above. The others are 0 after decode; encode ignores them.
 */
struct leat_esp_packet {
    uint8_t loc;    /* mask of enum leat_esp_loc */
    uint8_t flags;  /* mask of enum leat_esp_flag */
    uint8_t opcode; /* enum leat_esp_opcode */
    uint32_t op;    /* enum leat_esp_compare (COMPARE) or leat_esp_fold (COLLECT, RCOLLECT) */
    uint64_t computationId;
    uint64_t compValTag, thresh, pktVal, val, chldCntTag;
    uint64_t pktId, sibCntTag, fwdCntTag, fwdThresh, compIdTag, collectFwdTag;
};

/* What an operand is. */
enum leat_esp_kind {
    LEAT_ESP_KIND_TAG, /* a key of the store; those of one packet differ */
    LEAT_ESP_KIND_VALUE,
    LEAT_ESP_KIND_COMPARE, /* an operator: the packet's op */
    LEAT_ESP_KIND_FOLD,
};

/* An operand of an instruction. */
struct leat_esp_operand {
    const char *name;
    enum leat_esp_kind kind;
    size_t field_at; /* TAG, VALUE: offsetof the uint64_t in struct leat_esp_packet */
};

/* A row of LEAT_ESP_INSTRUCTION_LIST. */
struct leat_esp_instruction {
    const char *name;
    uint16_t words; /* two per operand */
    struct leat_esp_operand operand[LEAT_ESP_OPERANDS_MAX];
};

/* The row of an opcode; NULL if there is none. Management opcodes (from 64 on) have none. */
LEAT_API const struct leat_esp_instruction *leat_esp_instruction_of(unsigned opcode);

/* A TAG or VALUE of a packet, by its row. */
LEAT_API uint64_t leat_esp_operand_get(const struct leat_esp_packet *packet,
                                       const struct leat_esp_operand *operand);
LEAT_API void leat_esp_operand_set(struct leat_esp_packet *packet,
                                   const struct leat_esp_operand *operand, uint64_t value);

/* The operands of a known opcode in order, each as the 64 bits on the wire; and the inverse. */
LEAT_API void leat_esp_packet_gather(const struct leat_esp_packet *packet,
                                     uint64_t operand[LEAT_ESP_OPERANDS_MAX]);
LEAT_API void leat_esp_packet_scatter(const uint64_t operand[LEAT_ESP_OPERANDS_MAX],
                                      struct leat_esp_packet *packet);

/* Is `op` an operator of this kind? False for kinds that are no operators. */
LEAT_API bool leat_esp_operator_known(enum leat_esp_kind kind, uint32_t op);

/* Octets of a packet with this opcode, CRC included; 0 if the opcode is unknown. */
LEAT_API size_t leat_esp_packet_len(unsigned opcode);

/*
 * Total; on error *out is untouched and *fault_at (may be NULL) is where. Checked in this order:
 *
 *   SHORT      fewer octets than the shortest packet       where the octets end
 *   TYPE       opcode unknown                              the opcode
 *   LENGTH     length is not the opcode's                  the length
 *   SHORT      fewer octets than the packet                where the octets end
 *   CHECKSUM   CRC-32 differs                              the CRC
 *   DUPLICATE  a tag equals an earlier one                 the later tag
 *   TYPE       operator unknown                            the operator
 *   RESERVED   the word after an operator is not 0         that word
 *
 * Control's bit 4 is ignored. So is what follows the CRC (Ethernet pads): the packet's own octets
 * are leat_esp_packet_len(out->opcode) of the `len`. The word after an operator is refused because
 * its layout is zero, not reserved: a later meaning would change what the instruction does to the
 * stores, and a node must not half understand that.
 */
LEAT_API leat_err leat_esp_packet_decode(const uint8_t *buf, size_t len,
                                         struct leat_esp_packet *out, size_t *fault_at);

/*
 * Can this packet be sent? TYPE opcode or operator unknown, RANGE loc or flags too wide, DUPLICATE
 * tags equal; *fault_at (may be NULL) is the offset that the offending field would have.
 */
LEAT_API leat_err leat_esp_packet_check(const struct leat_esp_packet *packet, size_t *fault_at);

/* Writes the packet and *len (may be NULL). On error writes nothing and returns check's error, or
 * SPACE. */
LEAT_API leat_err leat_esp_packet_encode(const struct leat_esp_packet *packet, uint8_t *buf,
                                         size_t cap, size_t *len);

/*
 * What an end system does to a packet with R before it sends it back (spec/esp.md, "Holes", 5):
 * X := XR, R := 0; E stays, so that the source sees it. The carrier swaps the addresses and sets
 * the new TTL; encode makes the CRC. False, and nothing changed, if R is not set.
 */
LEAT_API bool leat_esp_packet_reflect(struct leat_esp_packet *packet);

/* ---- hosts: in libleat_esp ------------------------------------------------------------------- */

/*
 * ESP for programs: this host as a member of a group, or as its root, which queries all members at
 * once. Packets go over UDP; the routers on the route (leat esp route) count, compare and sum.
 *
 *   leat_esp_host_member_open(&config, &member, why);                    on every host
 *   leat_esp_host_member_set(member, load);
 *   leat_esp_host_member_serve(member, 1000, why);                       again and again
 *
 *   leat_esp_host_root_open(&config, &root, why);                        on one
 *   leat_esp_host_root_gather(root, 16, 5000);                           until 16 have joined
 *   request = leat_esp_host_root_request(LEAT_ESP_SERVICE_SUM, true);    robust
 *   leat_esp_host_root_query(root, &request, &result, &cost, why);       result.answer
 *
 * Without a key any host can join and announce; trees and multicast need the routers' key. With a
 * key the root must see the members' own addresses: no address translation on the route.
 *
 * The result says what to do about a failure. `why` always has room for LEAT_ESP_HOST_WHY_LEN
 * characters: the error in words, for people.
 */

enum { LEAT_ESP_KEY_LEN = 16 }; /* octets */

/* The subject of an ANNOUNCE: for people and logs. */
#define LEAT_ESP_SERVICE_LIST(X)   \
    X(0, NONE, "none")             \
    X(1, CENSUS, "census")         \
    X(2, MAX, "max")               \
    X(3, MIN, "min")               \
    X(4, SUM, "sum")               \
    X(5, AVERAGE, "average")       \
    X(6, ROBUST_SUM, "robust-sum") \
    X(7, ROBUST_AVERAGE, "robust-average") X(8, TREE, "tree") X(9, MULTICAST, "multicast")

enum leat_esp_announced {
#define X(code, name, text) LEAT_ESP_SERVICE_##name = code,
    LEAT_ESP_SERVICE_LIST(X)
#undef X
        LEAT_ESP_SERVICES
};

/*
 * The services: CENSUS, MAX, MIN, SUM, AVERAGE (a sum: `answer` and `counted`), TREE, MULTICAST.
 * Once the duplicates of MULTICAST are installed, announcements use them until they expire or a
 * member is removed. New members get theirs one by one.
 */
struct leat_esp_request {
    enum leat_esp_announced kind;
    bool robust;        /* census, sum, average: RCHLD and RCOLLECT; else COUNT and COLLECT */
    bool is_trusting;   /* robust: accepts the first answer, whatever E or count say. Only for
                             experiments: it shows what the voiding rule is for */
    bool is_signed;     /* max, min */
    uint8_t value_bits; /* sum, average: of a member's value, 1 .. 64 */
    uint32_t rounds;    /* robust, max, min, tree: 1 .. ROUNDS_MAX; others have one */
    uint32_t attempts;  /* 1 .. ATTEMPTS_MAX */
    uint32_t copies;    /* of an announcement to each member, 1 .. ANNOUNCEMENTS_MAX */
    /* Each further attempt has twice the rounds and copies, up to these, as far as tau and the
     * clock of announcements allow. 0: as many as before. */
    uint32_t rounds_max, copies_max;
    /* robust, tree, multicast: the members are divided among so many computations, so that a router
     * needs room for fewer children in each. 0: one; at least four times as many after an attempt
     * in which a store had no room for a child. */
    uint32_t shards;
    leat_time settle_ps;  /* 1 .. */
    leat_time gap_ps;     /* between rounds, and between copies, 1 .. */
    leat_time pace_ps;    /* between two announcements: the pace of the root's link; may be 0 */
    uint32_t lifetime_ms; /* multicast: of the duplicates, 1 .. LEAT_ESP_DUPLICATE_MS_MAX */
    bool collects;        /* multicast: instead, every node learns how many children it has, for
                             COLLECTs without COUNTs (leat/esp_team.h) */
    leat_time silence_ps; /* tree, multicast: ends so long after the first query if no router has
                             answered any; 0: as late as if some had */
};

/* How a request ended. */
enum leat_esp_end {
    LEAT_ESP_RUNNING,
    LEAT_ESP_ANSWERED,
    LEAT_ESP_VOID, /* the last attempt was void */
    LEAT_ESP_LATE, /* ... got no answer in time */
};

/* What the root knows after a request. */
struct leat_esp_service_result {
    enum leat_esp_end end;
    uint64_t answer;      /* a sum: modulo 2^64; tree: branch points; multicast: duplicates */
    uint64_t answer_high; /* sum, average: the part of an unsigned sum above 2^64 */
    uint64_t counted;     /* members in it; tree: with a known route; max, min: 0, unknown */
    uint32_t members;     /* members queried */
    uint32_t attempts;    /* attempts made */
    uint32_t voids;       /* void attempts */
    uint32_t rounds;      /* of the last attempt, as its shards */
    uint32_t shards;
    uint64_t announced;        /* packets sent: announcements, queries */
    uint64_t received;         /* instructions received for the attempts */
    uint64_t errors;           /* ... with E, or that the root's own store could not accept */
    uint32_t branches;         /* children known to the root's own store in the last attempt */
    uint32_t branches_missing; /* ... without a value there */
    uint32_t unplaced;         /* tree: members whose route to the root is not known */
    uint32_t uninstalled;      /* multicast: branch points without a duplicate */
    leat_time began_at, ended_at;
};

/* Room for `why`; the most members and routers that a root knows. */
enum {
    LEAT_ESP_HOST_WHY_LEN = 320,
    LEAT_ESP_HOST_MEMBERS_MAX = 4096,
    LEAT_ESP_HOST_NODES_MAX = 1024,
};

/* What a host needs to know. All zero but `group`, and for members `root`, suits most networks. */
struct leat_esp_host_config {
    uint64_t group;
    const char *bind;         /* ADDRESS[:PORT]; NULL: any address, port 4253 */
    const uint8_t *key;       /* the network's, LEAT_ESP_KEY_LEN octets; NULL: no keys */
    const uint8_t *other_key; /* is accepted, too: the last key, or the next one; or NULL */
    const char *root;         /* members: ADDRESS[:PORT] */
    const char *via;          /* members: the first router of an overlay; NULL: routers are on the
                               route to the root */
    uint64_t value;           /* members: the first one; leat_esp_host_member_set changes it */
    uint64_t join_every_ns;   /* members; 0: a second */
    bool any_port;            /* members: a free port instead of 4253 */
    uint64_t tau_ns;          /* root: lifetime of bindings at the routers; 0: ten seconds */
};

/* How a call of a host ended. */
enum leat_esp_host_end {
    LEAT_ESP_HOST_OK,
    LEAT_ESP_HOST_WRONG,  /* the request is invalid */
    LEAT_ESP_HOST_FAILED, /* the system refused */
    LEAT_ESP_HOST_SILENT, /* no answer, or not from all */
};

/* ---- a member -------------------------------------------------------------------------------- */

/* A member of a group; opaque. */
struct leat_esp_host_member;

/* *out is NULL unless the result is OK. */
LEAT_API enum leat_esp_host_end leat_esp_host_member_open(const struct leat_esp_host_config *config,
                                                          struct leat_esp_host_member **out,
                                                          char *why);

/* Also leaves the group. */
LEAT_API void leat_esp_host_member_close(struct leat_esp_host_member *member);

/* Sets the value from now on. */
LEAT_API void leat_esp_host_member_set(struct leat_esp_host_member *member, uint64_t value);

/* Serves the group for this long; a cast or an interrupt (EINTR) ends it earlier. */
LEAT_API enum leat_esp_host_end leat_esp_host_member_serve(struct leat_esp_host_member *member,
                                                           uint64_t for_ms, char *why);

struct leat_esp_host_member_counts {
    bool welcome;            /* the root has answered */
    uint64_t sent, received; /* packets */
    uint64_t announced;      /* announcements received that it acts on */
    uint64_t refused;        /* ... refused: malformed, wrong key or too old */
    uint64_t casts;          /* texts to the group, each counted once */
};
LEAT_API void leat_esp_host_member_counts(const struct leat_esp_host_member *member,
                                          struct leat_esp_host_member_counts *counts);

/* The text of the latest cast. Returns its length; 0: none yet. Lent until the next serve. */
LEAT_API size_t leat_esp_host_member_cast(const struct leat_esp_host_member *member,
                                          const uint8_t **text);

/* ---- the root -------------------------------------------------------------------------------- */

/* The root of a group; opaque. */
struct leat_esp_host_root;

/* *out is NULL unless the result is OK. */
LEAT_API enum leat_esp_host_end leat_esp_host_root_open(const struct leat_esp_host_config *config,
                                                        struct leat_esp_host_root **out, char *why);
LEAT_API void leat_esp_host_root_close(struct leat_esp_host_root *root);

/* Receives JOINs until there are this many members, or the time is over. Returns their number. */
LEAT_API uint32_t leat_esp_host_root_gather(struct leat_esp_host_root *root, uint32_t members,
                                            uint64_t for_ms);

/* A request with the values for a local network: 8 rounds 20 ms apart, 100 ms for a packet in
 * flight. */
LEAT_API struct leat_esp_request leat_esp_host_root_request(enum leat_esp_announced kind,
                                                            bool robust);

/* What the query cost, beside the result. */
struct leat_esp_host_root_cost {
    uint64_t sent, received; /* packets, of this host */
    uint64_t took_ns;
    /* Since the root was opened: */
    uint64_t refused;    /* malformed packets, wrong keys, JOINs without room */
    uint64_t forged;     /* keyed JOINs and farewells whose source address is not the stated one */
    uint64_t replayed;   /* ... that are replays */
    uint64_t unproven;   /* JOINs of unknown hosts, which must answer the root's challenge */
    uint64_t unanswered; /* of them, those that arrived when no challenge was left to send */
    bool in_doubt;       /* since one of those there may be members that were not queried */
};

/*
 * Queries all known members. SILENT: no answer, or one that does not cover all of them; `why` says
 * what is missing, and the result is filled in as well.
 */
LEAT_API enum leat_esp_host_end leat_esp_host_root_query(struct leat_esp_host_root *root,
                                                         const struct leat_esp_request *request,
                                                         struct leat_esp_service_result *result,
                                                         struct leat_esp_host_root_cost *cost,
                                                         char *why);

/*
 * Sends a text to all members: over the duplicates of the last MULTICAST request until they expire,
 * else one by one. *packets is how many packets the root sent.
 */
LEAT_API enum leat_esp_host_end leat_esp_host_root_cast(struct leat_esp_host_root *root,
                                                        const uint8_t *text, uint16_t len,
                                                        uint32_t *packets, char *why);

/* ---- single packets -------------------------------------------------------------------------- */

/*
 * Instructions of one's own, without a group: a probe sends any packet and receives what comes.
 *
 *   leat_esp_host_probe_open(&config, &probe, why);
 *   leat_esp_host_probe_send(probe, "192.0.2.1", &packet, why);         X: the routers execute it
 *   leat_esp_host_probe_receive(probe, 1000, &arrival, why);            R: here it is again
 *
 * Like a member, a probe sends a packet with R back to where it came from. Of the config it
 * needs `bind` and `any_port` only. Routers look at packets to port 4253: with another port here,
 * what comes back is not executed again.
 */

/* A probe; opaque. */
struct leat_esp_host_probe;

/* Room for "[ADDRESS]:PORT". */
enum { LEAT_ESP_HOST_PLACE_LEN = 64 };

/* An instruction that has arrived. */
struct leat_esp_host_arrival {
    struct leat_esp_packet packet;      /* as it came */
    char from[LEAT_ESP_HOST_PLACE_LEN]; /* as leat_esp_host_probe_send takes it */
    uint64_t at_ns;                     /* since the probe was opened */
    bool is_returned;                   /* it had R: it was sent back */
};

/* *out is NULL unless the result is OK. */
LEAT_API enum leat_esp_host_end leat_esp_host_probe_open(const struct leat_esp_host_config *config,
                                                         struct leat_esp_host_probe **out,
                                                         char *why);
LEAT_API void leat_esp_host_probe_close(struct leat_esp_host_probe *probe);

/* Sends the packet to ADDRESS[:PORT], an IPv6 address with a port in brackets. WRONG: it cannot be
 * encoded, or this is no address. */
LEAT_API enum leat_esp_host_end leat_esp_host_probe_send(struct leat_esp_host_probe *probe,
                                                         const char *to,
                                                         const struct leat_esp_packet *packet,
                                                         char *why);

/* Waits at most this long for the next instruction. Other packets are skipped. SILENT: none came;
 * FAILED: an interrupt (EINTR), or the system refused. */
LEAT_API enum leat_esp_host_end leat_esp_host_probe_receive(struct leat_esp_host_probe *probe,
                                                            uint64_t for_ms,
                                                            struct leat_esp_host_arrival *out,
                                                            char *why);

/* Since the probe was opened. */
struct leat_esp_host_probe_counts {
    uint64_t sent;     /* packets, those sent back included */
    uint64_t received; /* instructions */
    uint64_t skipped;  /* malformed packets and management packets */
    uint64_t elapsed_ns;
};
LEAT_API void leat_esp_host_probe_counts(const struct leat_esp_host_probe *probe,
                                         struct leat_esp_host_probe_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
