/* Shared by leat pktway on live and on simulated networks. */
#ifndef LEAT_PKTWAY_SHARED_H
#define LEAT_PKTWAY_SHARED_H

#include "json_out.h"
#include "packetway_record.h"
#include "packetway_router.h"
#include "tool.h"
#include <leat/packetway.h>

/* ---- addresses and routing tables (pktway_text.c) ---- */

enum { PKTWAY_ADDRESS_CAP = 32 };

/* One address, LOW-HIGH or LOW/MASK. */
const char *pktway_address_text(const struct leat_packetway_address *address,
                                char text[PKTWAY_ADDRESS_CAP]);

/* The members of a table up to the half-routers that it was received from; as text only these. */
void pktway_put_table(const struct leat_packetway_table_view *table, struct leat_json *json,
                      FILE *out);

/* The name of an ERR message: "UNK". */
const char *pktway_err_name(uint16_t te);

/* out NULL: nothing is written. */
void pktway_put_hex(const uint8_t *octets, size_t len, FILE *out);

/* ---- what tell searches for (pktway_wanted.c) ---- */

#define PKTWAY_WANTED "name=NAME, capability=CC[:P,P...] or address=A[-B]"

/* One word as a record of TELL. False: it is not in PKTWAY_WANTED, or there is no room. */
bool pktway_wanted_read(const char *word, struct leat_packetway_build *build);

/* ---- send and receive: data of a message (pktway_payload.c) ---- */

enum { PKTWAY_PAYLOAD_MAX = LEAT_PACKETWAY_NODE_MESSAGE_MAX - 64 };

/* Octets as hex, or text=TEXT. False: neither, or more than `cap`. */
bool pktway_payload_word(const char *word, uint8_t *out, size_t cap, size_t *len);

/* After send and a destination: such a word, or --file. False after a complaint. */
bool pktway_payload_read(const struct arguments *args, uint8_t *out, size_t cap, size_t *len);

/* The number of a node or a group: a physical or a logical address. */
bool pktway_destination_read(const char *word, uint32_t *address);

/* A message that has arrived (pktway_reception.c). */
struct pktway_reception {
    uint64_t number;
    uint32_t from, to; /* SA, DT */
    uint8_t priority;
    uint16_t pt, te;
    uint64_t ei;
    const uint8_t *octets;
    size_t len;
    bool is_simulated;
    uint64_t at; /* simulated: ps */
};
void pktway_reception_show(const struct pktway_reception *reception, bool json, FILE *out);

/* ---- read and write: which octets of whose memory, and the result (pktway_octets.c) ---- */

enum { PKTWAY_WRITE_MAX = 4096, PKTWAY_READ_MAX = 1 << 20 };

struct pktway_octets {
    uint32_t node;
    uint64_t at;
    size_t len;
    bool write, blind, json;
    uint8_t octets[PKTWAY_WRITE_MAX]; /* to be written */
};

/* After read or write and a node: ADDRESS COUNT, or ADDRESS OCTETS. False after a complaint. */
bool pktway_octets_read(const struct arguments *args, struct pktway_octets *out);

/* `octets` were read or written in this many microseconds. */
void pktway_octets_show(const struct pktway_octets *o, const uint8_t *octets, uint64_t us,
                        FILE *out);

#endif
