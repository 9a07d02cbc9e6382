/*
 * Collective operations by a live ATON ring (leat/aton_group.h). Ranks of one host combine their
 * words in shared memory; the lowest of them, the speaker, folds them with those of other hosts.
 *
 *   rank 4 --.  shared memory            rank 0 --.
 *   rank 5 --+--> rank 4 speaks --- ring --- rank 0 speaks          (coll_ring_host.c)
 *
 * A fold ends for nobody before all ranks have started it, so two ranks differ by one completed
 * fold at most. A broadcast is a packet of its root, which goes on without the others; where a host
 * has several ranks, and once in LEAT_ATON_GROUP_CASTS of them, it is a fold: an OR with zeros. So
 * ranks differ by LEAT_ATON_GROUP_CASTS completed operations at most, whose parts they keep.
 *
 * A speaker whose ring is broken gives it up, and all ranks agree by messages of hosts, through
 * rank 0, where they go on (coll_ring_break.c):
 *
 *   speaker  --BREAK-->   0  --STOP-->    all: they end nothing by the ring from now on
 *   each     --REPORT-->  0               completed c, promised p
 *            <--VERDICT--  0              from = min c, until = max p
 *   each     --PART-->    0  --RESULT-->  all: operations from .. until-1, each once, folded by 0
 *
 * A communicator ends when all have their results: LEAVE to rank 0, LEFT from it. Its own messages
 * cannot be used for that, since each of them would keep it alive.
 *
 * Operations from `until` on are those of the component below. Messages are answered whenever the
 * library makes progress: a rank may be in any MPI call.
 */
#ifndef LEAT_COLL_RING_H
#define LEAT_COLL_RING_H

#include "coll_leat.h"
#include <leat/aton_group.h>
#include <stdatomic.h>

#include <ompi/request/request.h>

enum {
    RING_WORDS_MAX = 24,                   /* of an operation: four passes */
    RING_KEPT = LEAT_ATON_GROUP_CASTS + 1, /* operations by which ranks differ, at most, and one */
    RING_LOCALS_MAX = 1024,
    RING_WHY_LEN = LEAT_ATON_HOST_WHY_LEN,
};

/* The calls of libleat_aton, which is loaded when it is needed. */
#define RING_CALLS(X) \
    X(open)           \
    X(claim)          \
    X(unclaim)        \
    X(join)           \
    X(enter)          \
    X(cast)           \
    X(step)           \
    X(wait)           \
    X(why)            \
    X(count)          \
    X(close)

struct ring_library {
#define X(NAME) __typeof__(leat_aton_group_##NAME) *NAME;
    RING_CALLS(X)
#undef X
};

/* The part of a rank in an operation. */
struct ring_part {
    uint64_t number;
    enum leat_port_fold fold;
    uint32_t words;
    uint64_t word[RING_WORDS_MAX];
    bool is_cast, is_root; /* by a packet of the root, which does not wait */
};

enum ring_stage { RING_QUEUED, RING_HANDED_OVER, RING_FOLDING };

struct ring_operation {
    struct ring_operation *next;
    struct leat_ring *ring;
    struct ring_part part;         /* as the rank started it */
    uint64_t word[RING_WORDS_MAX]; /* the result, in the end */
    void *out;                     /* NULL: it gets nothing */
    uint64_t len;
    enum ring_stage stage;
    bool is_over, is_redone;
};

enum ring_note_kind {
    RING_BREAK,
    RING_STOP,
    RING_REPORT,
    RING_VERDICT,
    RING_PART,
    RING_RESULT,
    RING_LEAVE, /* the sender has all its results, and the communicator ends */
    RING_LEFT,  /* so have all */
};

/* A message of hosts. */
struct ring_note {
    enum ring_note_kind kind;
    uint32_t communicator; /* its context id, which all members have alike */
    uint64_t from, until;  /* REPORT: completed, promised; VERDICT */
    struct ring_part part; /* PART, RESULT */
    char why[RING_WHY_LEN];
};

struct ring_letter; /* a note on its way */
struct ring_sum;    /* an operation that rank 0 folds, or its result */
struct ring_host;

enum ring_trust { RING_TRUSTED, RING_FROZEN, RING_SETTLED };

/* Of a communicator. */
struct leat_ring {
    struct leat_ring *next;
    leat_coll_module *m;
    int rank, ranks;
    struct leat_aton_group *group; /* of the speaker; NULL after it was given up */
    struct ring_host *host;        /* shared by `locals` ranks, if there are several */
    uint32_t locals, local;        /* local 0 speaks */
    uint64_t promised, started, completed;
    struct ring_operation *first;     /* those that are not over, in their order */
    struct ring_part done[RING_KEPT]; /* of this rank, in completed operations, by their numbers */
    bool has_casts;                   /* each host has one rank */
    uint32_t casts;                   /* since the last operation that waited for all */

    enum ring_trust trust;
    uint64_t until; /* SETTLED */
    bool is_left;
    struct ring_letter *sending;
    struct ring_sum *early; /* results of casts that this rank has not started */
    /* Rank 0. */
    bool is_stopping;
    int reports, leaving;
    uint64_t lowest, highest;
    struct ring_sum *sums;
};

/* ---- coll_ring_find.c ---- */

extern struct ring_library ring_library;
/* A rank that cannot use a ring; -1: all can. */
int ring_find_missing(const struct leat_ring *ring);

/* ---- coll_ring.c ---- */

extern struct leat_ring *rings; /* of this process */
/* One line on standard error, of rank 0 of a communicator; the same text once. */
void ring_say(const struct leat_ring *ring, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
/* Its result is in operation->word. */
void ring_complete(struct ring_operation *operation);

/* ---- coll_ring_join.c ---- */

/* All members do it. False: there is no group, and rank 0 has said why if that is slower. */
bool ring_join(struct leat_ring *ring);

/* ---- coll_ring_host.c ---- */

/* The speaker makes the memory, the others open it by the same nonce. */
bool ring_host_open(struct leat_ring *ring, uint64_t nonce);
/* All have it: its name is not needed any more. */
void ring_host_unlink(const struct leat_ring *ring, uint64_t nonce);
void ring_host_close(struct leat_ring *ring);
void ring_host_hand_over(struct leat_ring *ring, const struct ring_part *part);
/* The speaker: are all parts there? Then folds those of the others into `word`. */
bool ring_host_collect(struct leat_ring *ring, const struct ring_part *part, uint64_t *word);
void ring_host_publish(struct leat_ring *ring, uint64_t number, const uint64_t *word,
                       uint32_t words);
bool ring_host_is_published(struct leat_ring *ring, uint64_t number, uint64_t *word,
                            uint32_t words);
/* Sleeps until one of them does something, at most this long. */
void ring_host_sleep(struct leat_ring *ring, uint32_t timeout_us);

/* ---- coll_ring_break.c ---- */

/* Takes notes, and frees those that are sent. */
void ring_notes(void);
/* MPI_COMM_WORLD ends. */
void ring_end_notes(void);
void ring_give_up(struct leat_ring *ring, const char *why);
/* SETTLED: rank 0 is to fold this operation, unless its result is there. */
void ring_redo(struct leat_ring *ring, const struct ring_part *part);
void ring_free_early(struct leat_ring *ring);
/* This rank has all its results; is_left: all have. */
void ring_send_leave(struct leat_ring *ring);
/* Waits until its notes are sent. */
void ring_silence(struct leat_ring *ring);

#endif
