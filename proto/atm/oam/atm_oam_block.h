/*
 * Performance monitoring of a connection (ITU-T I.610). The source sends a forward monitoring cell
 * (FM) after each block of N user cells; the sink compares it with the cells that came, and sends
 * what it found back (BR).
 *
 *   source: u u u u FM u u u u FM ...  ----->  sink: how many, their parity; against FM
 *   far report <-----------------------------------  BR
 *
 * The function-specific field of both:
 *
 *      0      1       3       5       7            11          40      42     43      45
 *     +------+-------+-------+-------+------------+-----------+-------+------+-------+
 *     | MCSN | TUC   | BEDC  | TUC   | time stamp | unused:   | TRCC  | BLER | TRCC  |
 *     |      | 0+1   | 0+1   | 0     |            | 6a        | 0     | 0+1  | 0+1   |
 *     +------+-------+-------+-------+------------+-----------+-------+------+-------+
 *
 *   MCSN   number of the cell, modulo 256, one sequence for FM and another for BR
 *   TUC    user cells sent so far, modulo 65536: all; those with CLP 0
 *   BEDC   FM only: BIP-16, the exclusive or of all 16-bit words of the block's payloads
 *   TRCC   BR only: user cells received so far when that FM came
 *   BLER   BR only: parity bits that differ; ff: unknown, since cells were lost or misinserted
 *
 * BR repeats the TUC of the FM that it answers. Time stamps are not used: all ones.
 */
#ifndef LEAT_ATM_OAM_BLOCK_H
#define LEAT_ATM_OAM_BLOCK_H

#include "atm_oam.h"

/* Functions of LEAT_ATM_OAM_PERFORMANCE. */
enum { LEAT_ATM_OAM_FORWARD = 0, LEAT_ATM_OAM_BACKWARD = 1 };

enum {
    LEAT_ATM_OAM_BLOCK_MIN = 16, /* I.610: 128, 256, 512 or 1024 */
    LEAT_ATM_OAM_BLOCK_MAX = 1024,
    LEAT_ATM_OAM_BLER_UNKNOWN = UINT8_MAX,
};

struct leat_atm_oam_monitoring {
    uint8_t function; /* FORWARD or BACKWARD */
    uint8_t number;
    uint16_t sent, sent0;
    uint16_t parity;              /* FORWARD */
    uint16_t received, received0; /* BACKWARD, as the next */
    uint8_t errors;
};

void leat_atm_oam_monitoring_put(const struct leat_atm_oam_monitoring *cell,
                                 struct leat_atm_oam *out);

/* False, *out untouched: it is neither FM nor BR. */
bool leat_atm_oam_monitoring_get(const struct leat_atm_oam *oam,
                                 struct leat_atm_oam_monitoring *out);

/* BIP-16 of one payload; that of a block is the exclusive or of all. */
uint16_t leat_atm_oam_parity(const uint8_t payload[LEAT_ATM_PAYLOAD_LEN]);

/* ---- source ---------------------------------------------------------------------------------- */

struct leat_atm_oam_block_source {
    uint32_t block; /* N */
    uint32_t cells; /* of the present block */
    uint16_t sent, sent0, parity;
    uint8_t number;
};

void leat_atm_oam_block_source_init(struct leat_atm_oam_block_source *source, uint32_t block);

/* A user cell is sent. True: the block is complete, FM goes before the next user cell. */
bool leat_atm_oam_block_source_user(struct leat_atm_oam_block_source *source,
                                    const uint8_t *payload, bool clp);

/* The FM of the block so far, which ends here. */
void leat_atm_oam_block_source_end(struct leat_atm_oam_block_source *source,
                                   struct leat_atm_oam_monitoring *out);

/* ---- what is measured ------------------------------------------------------------------------ */

struct leat_atm_oam_block_counts {
    uint64_t blocks;      /* between two FM (BR) that came */
    uint64_t cells;       /* user cells that the source sent in them */
    uint64_t lost;        /* of these */
    uint64_t misinserted; /* cells that came and were not sent */
    uint64_t errored;     /* blocks with errors: the parity differs, no cell is missing */
    uint64_t parity_bits; /* that differ in these */
    uint64_t severe;      /* severely errored blocks (SECB) */
    uint64_t missing;     /* FM (BR) that did not come */
};

/* The numbers of cells that came. */
struct leat_atm_oam_sequence {
    uint8_t last;
    uint8_t doubtful; /* of a cell far ahead */
    bool has_doubtful;
};

/* ---- sink ------------------------------------------------------------------------------------ */

struct leat_atm_oam_block_sink {
    uint32_t block;
    uint32_t cells; /* user cells since the last FM */
    uint16_t received, received0, parity;
    uint16_t sent; /* of the last FM */
    uint8_t back;  /* the number of the next BR */
    struct leat_atm_oam_sequence sequence;
    struct leat_atm_oam_block_counts counts;
};

/* Both ends start at once: the first FM is expected to have number 0. */
void leat_atm_oam_block_sink_init(struct leat_atm_oam_block_sink *sink, uint32_t block);

void leat_atm_oam_block_sink_user(struct leat_atm_oam_block_sink *sink, const uint8_t *payload,
                                  bool clp);

/* An FM has come. True: *back is to be sent. False: it is out of sequence and ignored. */
bool leat_atm_oam_block_sink_forward(struct leat_atm_oam_block_sink *sink,
                                     const struct leat_atm_oam_monitoring *forward,
                                     struct leat_atm_oam_monitoring *back);

/* ---- what the far end reports ---------------------------------------------------------------- */

struct leat_atm_oam_block_far {
    uint32_t block;
    uint16_t sent, received; /* of the last BR */
    struct leat_atm_oam_sequence sequence;
    struct leat_atm_oam_block_counts counts;
};

void leat_atm_oam_block_far_init(struct leat_atm_oam_block_far *far, uint32_t block);

/* A BR has come. */
void leat_atm_oam_block_far_backward(struct leat_atm_oam_block_far *far,
                                     const struct leat_atm_oam_monitoring *back);

#endif
