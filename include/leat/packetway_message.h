/*
 * A whole PacketWay message (spec section 1). A word is 8 octets, every structure whole words:
 *
 *   0..64 leading records | PH 16 | OH fields, iff h | DB 8*DL | OT | TAIL 8
 *   `- consumed en route -' `--- immutable from source to destination ---' rewritten per router
 *
 *   OH field   | TCtttttt | L | L octets | pad |     T mandatory, C last one; [(L+9)/8] words
 *   OT         for each OH of type 3: | CRC32 | pad 4 |, of type 5: | CRC64 |, in OH order;
 *              then, if there is an OH of type 6, fields like those of OH
 *   TAIL       | EI |, 0 = no error reported
 *
 * The CRCs cover PH, OH and DB with their pads, "here" values taken as zero (spec 1.7).
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_MESSAGE_H
#define LEAT_PACKETWAY_MESSAGE_H

#include <leat/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- numbers (spec section 4) ------------------------------------------------------------- */

/* What a message carries; 1024..2047 are the users'. */
#define LEAT_PACKETWAY_PT_LIST(X)         \
    X(RRP, 1, "RRP")                      \
    X(EMBEDDED, 2, "EMBEDDED")            \
    X(MEM_READ, 3, "MEM-READ")            \
    X(MEM_WRITE, 4, "MEM-WRITE")          \
    X(IP, 21, "IP")                       \
    X(SNMP, 22, "SNMP")                   \
    X(ATM, 23, "ATM")                     \
    X(ETHERNET_10, 50, "ETHERNET-10")     \
    X(ETHERNET_100, 51, "ETHERNET-100")   \
    X(ETHERNET_1000, 52, "ETHERNET-1000") \
    X(MYRINET, 53, "MYRINET")             \
    X(FIBRE_CHANNEL, 54, "FIBRE-CHANNEL") \
    X(RACEWAY, 55, "RACEWAY")             \
    X(SCI, 56, "SCI")                     \
    X(VME, 57, "VME")                     \
    X(MPI, 81, "MPI")                     \
    X(PVM, 82, "PVM")                     \
    X(SECURE_1, 121, "SECURE-1")          \
    X(SECURE_2, 122, "SECURE-2")          \
    X(SECURE_3, 123, "SECURE-3")          \
    X(ERR, 65535, "ERR")

/* TE of PT=RRP: the messages of section 3. Its values and those of PT=ERR do not overlap. */
#define LEAT_PACKETWAY_TE_RRP_LIST(X) \
    X(GVL2, 21, "GVL2")               \
    X(L2SR, 22, "L2SR")               \
    X(RDRC, 23, "RDRC")               \
    X(TELL, 24, "TELL")               \
    X(INFO, 25, "INFO")               \
    X(HRTO, 26, "HRTO")               \
    X(WRU, 27, "WRU?")                \
    X(GVRT, 28, "GVRT")               \
    X(RTBL, 29, "RTBL")

/* TE of PT=ERR: the messages of section 3. */
#define LEAT_PACKETWAY_TE_ERR_LIST(X) \
    X(UNK, 71, "UNK")                 \
    X(HRDOWN, 72, "HRDOWN")           \
    X(LINKDOWN, 73, "LINKDOWN")       \
    X(GENERAL, 74, "GENERAL")

/* Record types. */
#define LEAT_PACKETWAY_RTYP_LIST(X) \
    X(ADDR, 41, "ADDR")             \
    X(NAME, 42, "NAME")             \
    X(CAPA, 43, "CAPA")             \
    X(LADR, 44, "LADR")             \
    X(SRQR, 45, "SRQR")             \
    X(MTUR, 46, "MTUR")             \
    X(RCVF, 47, "RCVF")             \
    X(RTHD, 48, "RTHD")             \
    X(SNID, 49, "SNID")

/* Capability codes of CAPA; the other codes are legal and have no meaning yet. */
#define LEAT_PACKETWAY_CC_LIST(X)              \
    X(NODE, 1, "NODE")                         \
    X(ROUTER, 2, "ROUTER")                     \
    X(SERVER, 3, "SERVER")                     \
    X(MULTICAST_SERVER, 4, "MULTICAST-SERVER") \
    X(NFS, 5, "NFS")                           \
    X(PAGING_SERVER, 6, "PAGING-SERVER")       \
    X(FLOAT_DSP, 7, "FLOAT-DSP")               \
    X(FIXED_DSP, 8, "FIXED-DSP")               \
    X(PRINTER, 9, "PRINTER")                   \
    X(SECURE_HR, 253, "SECURE-HR")             \
    X(MULTICAST_AGENT, 254, "MULTICAST-AGENT") \
    X(SAN, 255, "SAN")

/* Types of OH fields that this room handles. All others are unknown to it. */
#define LEAT_PACKETWAY_OH_LIST(X)  \
    X(CRC32_HERE, 2, "CRC32-HERE") \
    X(CRC32_OT, 3, "CRC32-OT")     \
    X(CRC64_HERE, 4, "CRC64-HERE") \
    X(CRC64_OT, 5, "CRC64-OT")     \
    X(SELF_DEFINED_OT, 6, "SELF-DEFINED-OT")

/* The constants of the lists above. */
enum leat_packetway_pt {
#define X(id, value, name) LEAT_PACKETWAY_PT_##id = value,
    LEAT_PACKETWAY_PT_LIST(X)
};

enum leat_packetway_te {
#undef X
#define X(id, value, name) LEAT_PACKETWAY_TE_##id = value,
    LEAT_PACKETWAY_TE_RRP_LIST(X) LEAT_PACKETWAY_TE_ERR_LIST(X)
};

enum leat_packetway_rtyp {
#undef X
#define X(id, value, name) LEAT_PACKETWAY_RTYP_##id = value,
    LEAT_PACKETWAY_RTYP_LIST(X)
};

enum leat_packetway_cc {
#undef X
#define X(id, value, name) LEAT_PACKETWAY_CC_##id = value,
    LEAT_PACKETWAY_CC_LIST(X)
};

enum leat_packetway_oh {
#undef X
#define X(id, value, name) LEAT_PACKETWAY_OH_##id = value,
    LEAT_PACKETWAY_OH_LIST(X)
#undef X
};

/* How an entry of ADDR, LADR or RCVF is to be read. MIN and MAX, VALUE and MASK come in pairs. */
enum leat_packetway_at {
    LEAT_PACKETWAY_AT_SINGLE = 1,
    LEAT_PACKETWAY_AT_MIN = 2,
    LEAT_PACKETWAY_AT_MAX = 3,
    LEAT_PACKETWAY_AT_VALUE = 4,
    LEAT_PACKETWAY_AT_MASK = 5,
};

/* Spec 2.3. Lenient reading accepts more; it never repairs. */
enum leat_packetway_mode { LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_LENIENT };

/* ---- the header --------------------------------------------------------------------------- */

/*
 * The EEP header, PH (spec 1.3), and the classes of addresses.
 *
 *    byte 0     byte 1     byte 2     byte 3     byte 4     byte 5     byte 6     byte 7
 *   +----------+----------+----------+----------+----------+----------+----------+----------+
 *   | VVPPPPPP | DT 23-16 | DT 15-8  | DT 7-0   | TE 15-8  | TE 7-0   | PT 15-8  | PT 7-0   |
 *   +----------+----------+----------+----------+----------+----------+----------+----------+
 *   | EEEELLLD | DL 23-16 | DL 15-8  | DL 7-0   | hRRRRRRR | SA 23-16 | SA 15-8  | SA 7-0   |
 *   +----------+----------+----------+----------+----------+----------+----------+----------+
 *     LLL = PL, D = DL bit 24, R = RZ; DT and SA of 24 bits begin with their class:
 *
 *   0xxx physical   10xx L2RH   110x reserved   1110 logical   1111 symbol
 *
 * A word that begins with class L2RH or symbol is no PH but a leading record.
 */
enum {
    LEAT_PACKETWAY_WORD_LEN = 8,
    LEAT_PACKETWAY_HEADER_LEN = 16,
    LEAT_PACKETWAY_PRIORITY_MAX = 63,
    LEAT_PACKETWAY_E_LITTLE = 8,   /* E: the bit e; below it the code of the element size */
    LEAT_PACKETWAY_E_SIZE = 7,     /* E: mask of the size code, 8 << code bits */
    LEAT_PACKETWAY_E_SIZE_MAX = 4, /* 128 bits */
    LEAT_PACKETWAY_PL_MAX = 7,
    LEAT_PACKETWAY_DL_MAX = (1 << 25) - 1, /* words */
    LEAT_PACKETWAY_DATA_LEN_MAX = 8 * LEAT_PACKETWAY_DL_MAX,
};

enum {
    LEAT_PACKETWAY_ADDRESS_NONE = 0x000000,      /* legal only as SA: not given */
    LEAT_PACKETWAY_ADDRESS_MAX = 0x7FFFFD,       /* the last that a node may have */
    LEAT_PACKETWAY_ADDRESS_HEY_YOU = 0x7FFFFE,   /* whoever is at the other end */
    LEAT_PACKETWAY_ADDRESS_BROADCAST = 0x7FFFFF, /* reserved by the drafts */
};

/* The meaning of a PH. */
struct leat_packetway_header {
    uint32_t dt, sa; /* 24 bits; SA 0: not given */
    uint32_t dl;     /* words of DB */
    uint16_t te, pt;
    uint8_t priority; /* 63 most urgent */
    uint8_t e;        /* 4 bits */
    uint8_t pl;       /* octets of pad at the end of DB */
    bool h;           /* at least one OH field follows */
};

/* ---- leading records: consumed on the route, in front of PH (spec 1.1, 1.2) ---------------- */

enum {
    LEAT_PACKETWAY_L2RH_LEN_MAX = 63,    /* route octets; at least 1 */
    LEAT_PACKETWAY_SYMBOL_LEN_MAX = 255, /* may be none */
    LEAT_PACKETWAY_SYMBOL_TYPE_MAX = 0xFFFFF,
    LEAT_PACKETWAY_LEADING_SIZE_MAX = 264, /* 33 words */
};

/* Leading records are source-route headers (L2RH) or symbols. */
enum leat_packetway_leading_kind { LEAT_PACKETWAY_L2RH, LEAT_PACKETWAY_SYMBOL };

struct leat_packetway_leading {
    enum leat_packetway_leading_kind kind;
    uint32_t type;         /* symbol: ST, 20 bits; L2RH: 0 */
    uint16_t len;          /* L */
    uint8_t priority;      /* low six bits of byte 0 (spec 5.4): other than 0 only when lenient */
    const uint8_t *octets; /* lent from the buffer that was decoded */
};

/* ---- messages ----------------------------------------------------------------------------- */

enum {
    LEAT_PACKETWAY_TAIL_LEN = 8,
    LEAT_PACKETWAY_MESSAGE_LEN_MIN = LEAT_PACKETWAY_HEADER_LEN + LEAT_PACKETWAY_TAIL_LEN,
    LEAT_PACKETWAY_LEADING_MAX = 64,
    LEAT_PACKETWAY_OH_MAX = 64,
    LEAT_PACKETWAY_OT_MAX = 64,      /* self-defined fields */
    LEAT_PACKETWAY_EMBEDDED_MAX = 4, /* messages inside one another (spec 5.9) */
    LEAT_PACKETWAY_FIELD_LEN_MAX = 255,
    LEAT_PACKETWAY_FIELD_TYPE_MAX = 0x3F,
};

/* A field of OH, or a self-defined one of OT. */
struct leat_packetway_field {
    bool mandatory;
    uint8_t type; /* 1..0x3F; OH: leat_packetway_oh and unknown ones */
    uint16_t len; /* L; OH of types 2..6: 4, 0, 8, 0, 0 */
    const uint8_t *octets;
    uint64_t crc; /* OH of types 2..5: the CRC, wherever it stands. Encoding computes it. */
};

/*
 * The meaning of a message. Pointers are lent from the decoded buffer, or by the caller of the
 * encoder. Only the first `count` items of each array are set.
 */
struct leat_packetway_message {
    struct leat_packetway_header header; /* encoding: pl, dl and h follow from the rest */
    size_t header_at;                    /* decoded: the offset of PH, behind the leading records */
    const uint8_t *data;                 /* DB without its pad */
    size_t data_len;
    const uint8_t *extra; /* lenient: words of OT that no known OH field announced */
    size_t extra_len;
    uint64_t ei;
    unsigned leading_count, oh_count, ot_count;
    struct leat_packetway_leading leading[LEAT_PACKETWAY_LEADING_MAX];
    struct leat_packetway_field oh[LEAT_PACKETWAY_OH_MAX];
    struct leat_packetway_field ot[LEAT_PACKETWAY_OT_MAX];
};

/*
 * A router reads leading records, PH and EI (spec 2.3); a destination everything, and there the
 * CRCs, mandatory fields and the records of RRP and ERR are verified too.
 */
enum leat_packetway_place { LEAT_PACKETWAY_DESTINATION, LEAT_PACKETWAY_FORWARDING };

/*
 * Total. The checks and their order are those of spec 2.2. On error *out is untouched and *fault_at
 * (may be NULL) is the offset of the offending structure: record, PH, field, DB, OT entry or spare
 * word. The PL of an RRP or ERR message, legal only when lenient, is not subtracted from its
 * data.
 */
LEAT_API leat_err leat_packetway_message_decode(const uint8_t *buf, size_t len,
                                                enum leat_packetway_mode mode,
                                                enum leat_packetway_place place,
                                                struct leat_packetway_message *out,
                                                size_t *fault_at);

/*
 * Writes the message and its length. On error writes nothing: E_LIMIT if a strict destination would
 * refuse it, E_NOSPC if there is no room. Nothing of `message` may lie in `buf`.
 */
LEAT_API leat_err leat_packetway_message_encode(const struct leat_packetway_message *message,
                                                uint8_t *buf, size_t cap, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
