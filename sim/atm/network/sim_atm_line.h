/*
 * The line between a host and the network, with its errors. There is one line per port and
 * direction, each with its own random stream, so that what happens on a line depends only on the
 * cells it carries:
 *
 *     what is sent                    the line                           what arrives
 *     ------------> outage? --> lost? --> bit errors --> HEC (if any) ------------> 0 or 1 cell
 *                      |                                 corrects or discards
 *                      +--> duplicated? a second copy, with errors of its own ----> 0 or 1 cell
 *                      +--> inserted?   a stray cell -----------------------------> 0 or 1 cell
 *
 * The line decides once per cell sent. A cell that the network refuses and that is sent again is
 * the same cell with the same errors: the caller keeps what arrived.
 *
 * Header error control is optional, because the prototype has none. Octet 4 carries the HEC only on
 * the line (spec/atm.md, 1.2); the check takes no time, and the octet is 0 again after the line.
 *
 * A stray cell has random octets, or those of an earlier cell of the line. Its label is random, or
 * a valid one. Its HEC is correct and it has no further errors.
 */
#ifndef LEAT_SIM_ATM_LINE_H
#define LEAT_SIM_ATM_LINE_H

#include "atm_hec.h"
#include <leat/random.h>
#include <leat/time.h>

enum {
    LEAT_SIM_ATM_LINE_RATE_ONE = 1000000000, /* rates are parts of this */
    LEAT_SIM_ATM_LINE_EXTRAS_MAX = 2,        /* cells beside the one sent: a copy and a stray */
    LEAT_SIM_ATM_LINE_EARLIER = 8,           /* cells that a stray may repeat */
    LEAT_SIM_ATM_LINE_OUTAGES_MAX = 64,
    LEAT_SIM_ATM_LINE_HEADER_BITS = 8 * LEAT_ATM_HEADER_LEN,
    LEAT_SIM_ATM_LINE_PAYLOAD_BITS = 8 * (LEAT_ATM_CELL_LEN - LEAT_ATM_HEADER_LEN),
};

enum leat_sim_atm_line_direction { LEAT_SIM_ATM_LINE_TO_NETWORK, LEAT_SIM_ATM_LINE_TO_HOST };

/* Both lines of a port lose cells sent in cycles `from` <= cycle < `to`. */
struct leat_sim_atm_line_outage {
    uint32_t port;
    uint64_t from, to; /* to: LEAT_NEVER: permanently */
};

enum leat_sim_atm_line_what {
    LEAT_SIM_ATM_LINE_OWN,
    LEAT_SIM_ATM_LINE_COPY,
    LEAT_SIM_ATM_LINE_STRAY
};

enum leat_sim_atm_line_fate {
    LEAT_SIM_ATM_LINE_PASSED,
    LEAT_SIM_ATM_LINE_CORRECTED, /* by the HEC; it passed */
    LEAT_SIM_ATM_LINE_DISCARDED, /* by the HEC */
    LEAT_SIM_ATM_LINE_LOST,
    LEAT_SIM_ATM_LINE_OUTAGE,
};

/* The fate of a cell. The octets are lent for the call. */
struct leat_sim_atm_line_event {
    uint64_t at;
    uint32_t port;
    enum leat_sim_atm_line_direction direction;
    enum leat_sim_atm_line_what what;
    enum leat_sim_atm_line_fate fate;
    const uint8_t *sent;    /* if damaged: with its HEC, if there is one */
    const uint8_t *damaged; /* as it leaves the line, before the check */
    const uint8_t *passed;  /* after the check; undefined if it did not pass */
};
typedef void leat_sim_atm_line_watch(void *context, const struct leat_sim_atm_line_event *event);

/* The caller's own error patterns instead of random ones: sets bits in `mask`, which is 0. */
typedef void leat_sim_atm_line_damage(void *context, uint32_t port,
                                      enum leat_sim_atm_line_direction direction,
                                      const uint8_t *cell, uint8_t mask[LEAT_ATM_CELL_LEN]);

struct leat_sim_atm_line_config {
    uint64_t seed;
    uint32_t header_errors, payload_errors; /* per 10^9 bits of octets 0..4, of octets 5..52 */
    uint32_t lose, insert, duplicate;       /* per 10^9 cells */
    bool hec;
    const struct leat_sim_atm_line_outage *outage; /* lent, as are the contexts */
    uint32_t outage_count;
    uint32_t label_count;           /* labels 0 .. label_count - 1 are valid */
    uint32_t header_octets;         /* 2: a label is a VPI; 4: a VPI and a VCI */
    leat_sim_atm_line_watch *watch; /* called for every cell, copy and stray; may be NULL */
    void *watch_context;
    leat_sim_atm_line_damage *damage; /* NULL: random errors */
    void *damage_context;
};

struct leat_sim_atm_line_counts {
    uint64_t cells;        /* sent, without copies and strays */
    uint64_t header_bits;  /* flipped */
    uint64_t payload_bits; /* flipped */
    uint64_t damaged;      /* cells with flipped bits */
    uint64_t lost, inserted, duplicated;
    uint64_t outage; /* cells lost in an outage */
    uint64_t hec_corrected, hec_discarded;
    uint64_t header_wrong; /* cells that passed with another label, payload type or CLP */
    uint64_t undetected;   /* cells that passed damaged in octets 5..52 with a sound CRC-16 */
    uint64_t no_room;      /* copies and strays for which the host's buffer had no room */
};

/* What all lines of a network share. */
struct leat_sim_atm_line_medium {
    struct leat_sim_atm_line_config config;
    /* The probability that so many consecutive bits have no error, as a 64-bit fraction. */
    uint64_t header_sound[LEAT_SIM_ATM_LINE_HEADER_BITS + 1];
    uint64_t payload_sound[LEAT_SIM_ATM_LINE_PAYLOAD_BITS + 1];
};

struct leat_sim_atm_line {
    struct leat_random random;
    struct leat_atm_hec hec;
    enum leat_sim_atm_line_direction direction;
    uint32_t port;
    uint64_t sent_count;
    uint8_t earlier[LEAT_SIM_ATM_LINE_EARLIER][LEAT_ATM_CELL_LEN];
    struct leat_sim_atm_line_counts counts;
};

/* The outcome of sending one cell. */
struct leat_sim_atm_line_arrival {
    bool own_arrives;
    uint32_t extra_count; /* carried before the cell itself, if the order matters */
    uint8_t own[LEAT_ATM_CELL_LEN];
    uint8_t extra[LEAT_SIM_ATM_LINE_EXTRAS_MAX][LEAT_ATM_CELL_LEN];
};

/* RANGE: a rate above one, too many outages, an outage that ends before it begins or is of a port
 * that does not exist. */
leat_err leat_sim_atm_line_config_check(const struct leat_sim_atm_line_config *config,
                                        uint32_t ports);

/* Can anything happen to cells on these lines? */
bool leat_sim_atm_line_has_faults(const struct leat_sim_atm_line_config *config);

void leat_sim_atm_line_medium_init(struct leat_sim_atm_line_medium *medium,
                                   const struct leat_sim_atm_line_config *config);
void leat_sim_atm_line_init(struct leat_sim_atm_line *line,
                            const struct leat_sim_atm_line_medium *medium, uint32_t port,
                            enum leat_sim_atm_line_direction direction);

/* A cell of 53 octets is sent in cycle `at`. */
void leat_sim_atm_line_pass(struct leat_sim_atm_line *line,
                            const struct leat_sim_atm_line_medium *medium, const uint8_t *cell,
                            uint64_t at, struct leat_sim_atm_line_arrival *out);

void leat_sim_atm_line_counts_add(struct leat_sim_atm_line_counts *sum,
                                  const struct leat_sim_atm_line_counts *more);

#endif
