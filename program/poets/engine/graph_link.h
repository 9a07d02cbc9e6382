/*
 * The network interface of the engine over ranks: messages between processes, in order for each
 * pair and channel, with bounded room. libleat-mpi.so implements it with MPI (mpi_link.c); any
 * other transport with these properties would do.
 *
 *   channel   data      frames of packets between devices      taken when workers have room
 *             host      frames to and from the host            never wait for data
 *             control   notes of the engine itself             always taken
 */
#ifndef LEAT_GRAPH_LINK_H
#define LEAT_GRAPH_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEAT_POETS_LINK_DATA,
    LEAT_POETS_LINK_HOST,
    LEAT_POETS_LINK_CONTROL,
    LEAT_POETS_LINK_CHANNELS
};
enum {
    LEAT_POETS_LINK_ABI = 1,
    LEAT_POETS_LINK_LEN_MAX = 16 * 1024,
    LEAT_POETS_LINK_RANKS_MAX = 1024
};

struct leat_poets_link {
    uint32_t abi;
    uint32_t rank, rank_count;
    void *context;
    /* Copies the message. False: there is no room now, for this rank and channel. */
    bool (*send)(struct leat_poets_link *link, uint32_t to, unsigned channel, const void *octets,
                 size_t len);
    /* The next message of a channel, from anybody. `octets` has room for the longest. False: none.
     */
    bool (*receive)(struct leat_poets_link *link, unsigned channel, void *octets, uint32_t *from,
                    size_t *len);
    /* Ends all ranks, this one too. */
    void (*abort)(struct leat_poets_link *link, int code);
    /* All ranks must call it, with nothing in flight. */
    void (*close)(struct leat_poets_link *link);
};

/* Exported by the library of a link. False: `why` says why. */
typedef bool (*leat_poets_link_open_fn)(struct leat_poets_link *link, char *why, size_t why_cap);
#define LEAT_POETS_LINK_OPEN "leat_poets_link_open"

/* ---- notes ---------------------------------------------------------------------------------- */

enum { LEAT_POETS_NOTE_WORDS_MAX = 32 };

/* A few numbers under a kind. */
struct leat_poets_note {
    uint32_t kind, count;
    uint64_t word[LEAT_POETS_NOTE_WORDS_MAX];
};

/* Waits for room, which is soon there: notes are always received. */
void leat_poets_link_send_note(struct leat_poets_link *link, uint32_t to,
                               const struct leat_poets_note *note);
void leat_poets_link_send_note_to_all(struct leat_poets_link *link,
                                      const struct leat_poets_note *note); /* except this rank */
/* The next note; false: none. Anything else is discarded. */
bool leat_poets_link_receive_note(struct leat_poets_link *link, uint32_t *from,
                                  struct leat_poets_note *out);

/* ---- agreement ------------------------------------------------------------------------------ */

struct leat_poets_agreement {
    bool good;       /* of all ranks */
    bool first_good; /* of rank 0 */
    bool same;       /* all have the fingerprint of rank 0 */
};

/* All ranks report whether they succeeded; none continues before all have. */
struct leat_poets_agreement leat_poets_link_agree(struct leat_poets_link *link, bool good,
                                                  uint64_t fingerprint);

#endif
