/*
 * Octets of all ranks for rank 0, after a run: each rank puts its own in order, and rank 0 takes
 * them from any rank when it needs them, so that no rank has to hold all. Until rank 0 asks, a rank
 * waits with a full piece.
 *
 *   rank r   put, put, ... end    ==pieces, on request==>    rank 0   take from r, take from q, ...
 */
#ifndef LEAT_GRAPH_STREAMS_H
#define LEAT_GRAPH_STREAMS_H

#include "graph_link.h"

struct leat_poets_piece {
    uint8_t octets[LEAT_POETS_LINK_LEN_MAX];
    size_t at, len;
};

struct leat_poets_streams {
    struct leat_poets_link *link;
    struct leat_poets_piece *mine; /* of ranks other than 0 */
    struct leat_poets_piece **of;  /* by rank, rank 0's; made when needed */
};

/* False: no memory. Free it in either case. */
bool leat_poets_streams_make(struct leat_poets_streams *streams, struct leat_poets_link *link);
void leat_poets_streams_free(struct leat_poets_streams *streams);

/* `context` is the streams. */
void leat_poets_streams_put(void *context, const uint8_t *octets, size_t len);
/* After the last. */
void leat_poets_streams_end(struct leat_poets_streams *streams);

/* The next `len` octets of another rank, in parts. False: no memory. */
bool leat_poets_streams_take(struct leat_poets_streams *streams, uint32_t rank, size_t len,
                             void (*use)(void *context, const uint8_t *octets, size_t len),
                             void *context);

/* Waits for a note of this kind; others are discarded. */
void leat_poets_streams_wait(struct leat_poets_link *link, uint32_t kind,
                             struct leat_poets_note *note);

#endif
