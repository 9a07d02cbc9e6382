/*
 * The sending side of a cell-based link (thesis 8.2.3), and the source of the framed ones: a queue
 * of cells that never runs empty, because idle cells fill the gaps (rate adaptation, thesis 8.3.2).
 *
 * `leat experiment circuit` uses it; no public header has it, and its tests hold it to the note.
 */
#ifndef LEAT_ATM_STREAM_H
#define LEAT_ATM_STREAM_H

#include "atm_tc.h"

/* Private to the engine, except the count. */
struct leat_atm_stream {
    uint8_t *queue; /* the caller's memory: a ring of whole cells */
    size_t cells_max, first, count;
    uint8_t cell[LEAT_ATM_CELL_LEN]; /* being sent */
    size_t sent;                     /* octets of it already sent; all of them: none is open */
    uint64_t idle_count;             /* idle cells inserted so far */
};

/* The memory holds memory_len / 53 cells, at least one, and stays with the stream. */
leat_err leat_atm_stream_init(struct leat_atm_stream *stream, void *memory, size_t memory_len);

/* Queues a cell and computes its HEC. FULL: nothing is queued. */
leat_err leat_atm_stream_put(struct leat_atm_stream *stream, const uint8_t cell[LEAT_ATM_CELL_LEN]);

/* The next `len` octets of the link, regardless of cell boundaries. */
void leat_atm_stream_pull(struct leat_atm_stream *stream, uint8_t *octets, size_t len);

/* Octets from here to the next cell boundary: 0 to 52. */
size_t leat_atm_stream_to_boundary(const struct leat_atm_stream *stream);

/* The next whole cell, for links that keep cells together. Not while a cell is partly sent. */
void leat_atm_stream_next(struct leat_atm_stream *stream, uint8_t cell[LEAT_ATM_CELL_LEN]);

#endif
