/*
 * A line that carries a cell in every cell time, with bit errors: what arrives, cell by cell.
 *
 *      a cell, or none                     octets of the line                       its fate
 *     ----------------> sender of the line ------- ~~~ -------> receiver of the line -------->
 *      in each step     (atm_line.h)            bit errors
 *
 * Where a step has no cell, the line carries an idle one, which ends at the receiver (4B/5B: pairs
 * JK). So the frames of the line go on at its cell rate, and step k is over with the last bit of
 * cell k (leat_atm_line_cell_end). Where that is within an octet, the receiver is shown
 * the octet with whatever follows, and is given it in the next step, with the cell that did.
 *
 * Errors are the caller's: it flips bits of octets that it gets in the order of the line, each
 * once.
 */
#ifndef LEAT_ATM_TRUNK_H
#define LEAT_ATM_TRUNK_H

#include "atm_line.h"

enum leat_atm_trunk_fate {
    LEAT_ATM_TRUNK_PASSED,    /* with damage that nobody noticed, or without */
    LEAT_ATM_TRUNK_CORRECTED, /* the header; then as above */
    LEAT_ATM_TRUNK_DISCARDED, /* for its header, or for a violation of the code */
    LEAT_ATM_TRUNK_MISSED,    /* the receiver did not know where cells or frames begin */
};
enum { LEAT_ATM_TRUNK_FATES = LEAT_ATM_TRUNK_MISSED + 1 };

struct leat_atm_trunk_errors {
    void *context;
    void (*damage)(void *context, uint8_t *octets, size_t len);
};

struct leat_atm_trunk_out {
    enum leat_atm_trunk_fate fate;   /* of the cell, if there was one */
    uint8_t cell[LEAT_ATM_CELL_LEN]; /* PASSED, CORRECTED: as it arrived */
    unsigned strays; /* cells that nobody sent: made by errors, or found in wrong places */
    unsigned losses; /* how often the receiver lost the boundaries of cells or frames */
};

/* Private to the engine. */
struct leat_atm_trunk {
    uint64_t cells, octets; /* steps, and what the receiver has got in them */
    bool shown;             /* ... and that it was shown the next octet, */
    uint8_t ahead;          /* ... with these errors */
    uint8_t queue[LEAT_ATM_CELL_LEN];
    struct leat_atm_stream stream;
    struct leat_atm_line_sender tx;
    struct leat_atm_line_receiver rx;
};

/* The receiver has found frames and cells. */
void leat_atm_trunk_init(struct leat_atm_trunk *trunk, const struct leat_atm_line *line);

/* Another one in the same state. */
void leat_atm_trunk_copy(struct leat_atm_trunk *to, const struct leat_atm_trunk *from);

/* A cell time. `cell`: 53 octets, the fifth of any value; NULL: none. `errors`: NULL: none. */
void leat_atm_trunk_step(struct leat_atm_trunk *trunk, const uint8_t *cell,
                         const struct leat_atm_trunk_errors *errors,
                         struct leat_atm_trunk_out *out);

/* Up to `steps` empty steps without errors at once: whole periods of the line, which leave it as it
 * is. Returns how many. */
uint64_t leat_atm_trunk_skip(struct leat_atm_trunk *trunk, uint64_t steps);

#endif
