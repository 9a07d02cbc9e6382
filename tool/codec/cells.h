/*
 * Adaptation layers travel in ATM cells: encodes their packets into cells for a capture, and
 * reassembles them from the cells of one. VPI and VCI are the fields of their carriage.
 */
#ifndef LEAT_CELLS_H
#define LEAT_CELLS_H

#include "leat_format.h"
#include <leat/atm.h>
#include <stdbool.h>

enum { CELL_LEN = 53, CELLS_CHANNELS_MAX = 256, CELLS_PDU_LEN_MAX = 65568 };

/* As leat_format.frame: as many cells of CELL_LEN octets as the packet needs. */
leat_err cells_frame(const struct leat_format *format, struct leat_fields *f, const uint8_t *packet,
                     size_t packet_len, uint8_t *cells, size_t cap, size_t *len);

/* Channels whose packets span cells (AAL5), while they are incomplete. */
struct cells_channel {
    uint16_t vpi, vci;
    uint32_t line;
    bool skipping; /* the current packet was too long: skips to its end */
    size_t len;
    uint8_t *octets; /* CELLS_PDU_LEN_MAX of them; kept for the next packet */
};

struct cells {
    enum leat_atm_interface interface; /* of these cells, set by the caller */
    uint32_t line; /* that the next cell was captured on, likewise: channels are of one line */
    size_t channel_count;
    struct cells_channel channel[CELLS_CHANNELS_MAX];
};

struct cells_packet {
    uint16_t vpi, vci;
    const uint8_t *octets; /* lent until the next cell */
    size_t len;
};

/*
 * Takes one cell. OK and *found: a packet is complete in *out. CHECKSUM, SHORT, LENGTH with
 * out->len 0: the cell itself is damaged at *fault_at. Otherwise *out has a damaged CPCS-PDU of
 * AAL5, or with LENGTH the part so far of a packet without an end, the rest of which is skipped.
 * FULL: there is no room for another channel.
 */
leat_err cells_take(struct cells *cells, const struct leat_format *format, const uint8_t *cell,
                    size_t len, struct cells_packet *out, bool *found, size_t *fault_at);

/* The next packet that was begun but never completed; false when there are no more. */
bool cells_take_unfinished(struct cells *cells, struct cells_packet *out);

void cells_close(struct cells *cells);

#endif
