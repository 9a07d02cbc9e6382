/*
 * The numbers of PacketWay (spec section 4), each set in one list that makes an enum here and the
 * names in packetway_text.c.
 *
 * Also compiled for the kernel: no header of the C library.
 */
#ifndef LEAT_PACKETWAY_CODES_H
#define LEAT_PACKETWAY_CODES_H

#include "leat_err.h"
#include <stdbool.h>
#include <stdint.h>

/* Where messages travel (design.md, "Carriage"). */
enum {
    LEAT_PACKETWAY_LINK_TYPE = 150,
    LEAT_PACKETWAY_ETHER_TYPE = 0x88B7,
    LEAT_PACKETWAY_UDP_PORT = 4254,
    LEAT_PACKETWAY_ETHER_OUI = 0x020000, /* behind the Ethernet type, then the protocol */
    LEAT_PACKETWAY_ETHER_PROTOCOL = 0x0300,
};

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

/* TE of PT=RRP and of PT=ERR: the messages of section 3. The two sets do not overlap. */
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

/* Types of OH fields that this room processes. All others are unknown to it. */
#define LEAT_PACKETWAY_OH_LIST(X)  \
    X(CRC32_HERE, 2, "CRC32-HERE") \
    X(CRC32_OT, 3, "CRC32-OT")     \
    X(CRC64_HERE, 4, "CRC64-HERE") \
    X(CRC64_OT, 5, "CRC64-OT")     \
    X(SELF_DEFINED_OT, 6, "SELF-DEFINED-OT")

/* Where fields of PH begin, for who looks at octets alone; h is the highest bit of its octet. */
enum {
    LEAT_PACKETWAY_DT_AT = 1,
    LEAT_PACKETWAY_TE_AT = 4,
    LEAT_PACKETWAY_PT_AT = 6,
    LEAT_PACKETWAY_H_AT = 12,
    LEAT_PACKETWAY_SA_AT = 13,
};

enum leat_packetway_pt {
#define X(id, value, name) LEAT_PACKETWAY_PT_##id = value,
    LEAT_PACKETWAY_PT_LIST(X)
};

/* On a SAN with a key these carry a MAC (packetway_auth.h): what changes what nodes know, and what
 * may hold such a message. */
static inline bool leat_packetway_pt_is_keyed(uint16_t pt)
{
    return pt == LEAT_PACKETWAY_PT_RRP || pt == LEAT_PACKETWAY_PT_ERR ||
           pt == LEAT_PACKETWAY_PT_EMBEDDED;
}

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

/* Left open by spec-03. Ignored where it is not expected; packetway_auth.h has our contents. */
enum { LEAT_PACKETWAY_OH_CRYPTOGRAPHIC = 0x3E };

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

/* The spec counts time in seconds; leat_time is in picoseconds. */
#define LEAT_PACKETWAY_SECOND UINT64_C(1000000000000)

/* Spec 2.3. Lenient reading accepts more; it never repairs. */
enum leat_packetway_mode { LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_LENIENT };

/* The number that spec 2.4 gives an error: 0..31; -1 for an error that is not PacketWay's. */
int leat_packetway_err_number(leat_err err);

#endif
