/*
 * Collective operations by a live network: an ATON ring (coll_live_ring.c), or the ESP routers
 * between hosts (coll_live_esp.c). Ranks of one host combine their words in shared memory; the
 * lowest of them, the speaker, folds them with those of other hosts.
 *
 *   rank 4 --.  shared memory            rank 0 --.
 *   rank 5 --+--> rank 4 speaks --- network --- rank 0 speaks       (coll_live_host.c)
 *
 * A fold ends for nobody before all ranks have started it, so two ranks differ by one completed
 * fold at most. A broadcast is a packet of its root, which goes on without the others; where
 * a host has several ranks, and once in LEAT_ATON_GROUP_CASTS of them, it is a fold: an OR
 * with zeros. So ranks differ by LEAT_ATON_GROUP_CASTS completed operations at most, whose parts
 * they keep.
 *
 * A speaker whose network is broken gives it up, and all ranks agree by messages of hosts, through
 * rank 0, where they go on (coll_live_break.c). So they do when all speakers doubt an operation, or
 * one goes on to doubt what rank 0 has completed:
 *
 *   speaker  --BREAK-->   0  --STOP-->    all: they end nothing by the network from now on
 *   speakers --DOUBT-->   0               as BREAK
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
#ifndef LEAT_COLL_LIVE_H
#define LEAT_COLL_LIVE_H

#include "coll_leat.h"
#include <leat/aton_group.h>
#include <leat/esp_team.h>
#include <stdatomic.h>

#include <ompi/request/request.h>

enum {
    LIVE_WORDS_MAX = 24,                   /* of an operation: four passes */
    LIVE_KEPT = LEAT_ATON_GROUP_CASTS + 1, /* operations by which ranks differ, at most, and one */
    LIVE_LOCALS_MAX = 1024,
    LIVE_WHY_LEN = LEAT_ATON_HOST_WHY_LEN,
};

/* The part of a rank in an operation. */
struct live_part {
    uint64_t number;
    enum leat_port_fold fold;
    uint32_t words;
    uint64_t word[LIVE_WORDS_MAX];
    bool is_cast, is_root; /* by a packet of the root, which does not wait */
};

enum live_stage { LIVE_QUEUED, LIVE_HANDED_OVER, LIVE_FOLDING };

struct live_operation {
    struct live_operation *next;
    struct leat_live *live;
    struct live_part part;         /* as the rank started it */
    uint64_t word[LIVE_WORDS_MAX]; /* the result, in the end */
    void *out;                     /* NULL: it gets nothing */
    uint64_t len;
    enum live_stage stage;
    bool is_over, is_redone;
};

enum live_note_kind {
    LIVE_BREAK,
    LIVE_DOUBT, /* `from`: the operation, `until`: the rank */
    LIVE_HEARD, /* a doubt; the next one comes later */
    LIVE_STOP,
    LIVE_REPORT,
    LIVE_VERDICT,
    LIVE_PART,
    LIVE_RESULT,
    LIVE_LEAVE, /* the sender has all its results, and the communicator ends */
    LIVE_LEFT,  /* so have all */
};

/* A message of hosts. */
struct live_note {
    enum live_note_kind kind;
    uint32_t communicator; /* its context id, which all members have alike */
    uint64_t from, until;  /* REPORT: completed, promised; VERDICT */
    struct live_part part; /* PART, RESULT */
    char why[LIVE_WHY_LEN];
};

struct live_letter; /* a note on its way */
struct live_doubts;
struct live_sum; /* an operation that rank 0 folds, or its result */
struct live_host;

enum live_trust { LIVE_TRUSTED, LIVE_FROZEN, LIVE_SETTLED };

/* What rank 0 has decided for a communicator. */
struct live_plan {
    bool is_made;
    bool is_vain; /* not made: the network does not answer */
    union {
        struct {
            uint8_t block;
            uint16_t epoch;
            uint32_t stations;
        } ring;
        struct {
            int root; /* a rank */
            struct leat_esp_team_seat seat;
        } esp;
    };
    uint32_t pause_us; /* before the next try */
    char why[LIVE_WHY_LEN];
};

enum live_state { LIVE_WORKS, LIVE_OVER, LIVE_DOUBTS, LIVE_BROKEN };

/* How speakers fold words. Of a live_group: the speaker's way to the network; it may be NULL for
 * agree and close alone. */
struct live_network {
    const char *name;
    bool (*find_library)(void);
    /* All ranks: speakers open their groups and say what they can, and rank 0 makes the plan.
     * speaker[i] speaks for rank i. False: plan->why, if that is slower than it should be. */
    bool (*agree)(struct leat_live *live, const int *speaker, struct live_plan *plan);
    /* Speakers: becomes a member. May wait for the others. False: `why`, or another one has it. */
    bool (*enter)(struct leat_live *live, const int *speaker, const struct live_plan *plan,
                  char *why);
    void (*fold)(void *group, const struct live_part *part, uint64_t *word);
    enum live_state (*step)(void *group);
    void (*wait)(void *group, uint64_t timeout_us);
    const char *(*why)(const void *group);
    void (*close)(void *group);
    bool needs_progress; /* step is called between operations, too */
};

extern const struct live_network live_ring, live_esp;
extern const struct live_network *live_by; /* of this process */

/* Of a communicator. */
struct leat_live {
    struct leat_live *next;
    leat_coll_module *m;
    int rank, ranks;
    void *group;            /* of the speaker; NULL after it was given up */
    struct live_host *host; /* shared by `locals` ranks, if there are several */
    uint32_t locals, local; /* local 0 speaks */
    uint32_t hosts;
    uint64_t promised, started, completed;
    struct live_operation *first;     /* those that are not over, in their order */
    struct live_part done[LIVE_KEPT]; /* of this rank, in completed operations, by their numbers */
    bool has_casts;                   /* each host has one rank */
    uint32_t casts;                   /* since the last operation that waited for all */

    enum live_trust trust;
    uint64_t until;   /* SETTLED */
    double heard_at;  /* when rank 0 last knew that this rank doubts an operation */
    bool is_doubting; /* it has been told, and has not heard it yet */
    bool is_in;       /* all ranks have joined */
    bool is_left;
    struct live_letter *sending;
    struct live_sum *early; /* results of casts that this rank has not started */
    /* Rank 0. */
    bool is_stopping;
    struct live_doubts *doubts; /* of each rank */
    int reports, leaving;
    uint64_t lowest, highest;
    struct live_sum *sums;
};

/* ---- coll_live_find.c ---- */

/* The calls of a library, which is loaded when it is needed: name, address. False: it has said
 * what is missing. */
struct live_call {
    const char *name;
    void *address;
};
bool live_load(const char *file, const struct live_call *call, size_t calls);
/* A rank that cannot use the network; -1: all can. */
int live_find_missing(const struct leat_live *live);

/* ---- coll_live.c ---- */

extern struct leat_live *lives; /* of this process */
/* One line on standard error, of rank 0 of a communicator; the same text once. */
void live_say(const struct leat_live *live, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
/* Its result is in operation->word. */
void live_complete(struct live_operation *operation);

/* ---- coll_live_join.c ---- */

/* All members do it. False: there is no group, and rank 0 has said why if that is slower. */
bool live_join(struct leat_live *live);
/* By the component below: `all` has room for `own` of each rank. */
bool live_gather(struct leat_live *live, const void *own, void *all, int len);
/* From rank 0. */
bool live_publish(struct leat_live *live, struct live_plan *plan);

/* A word of one speaker to the others while they join, by a host message: has it done its part? */
struct live_word {
    ompi_request_t *request;
    uint8_t is_done;
};
void live_tell_speakers(const struct leat_live *live, const int *speaker, bool is_done);
void live_listen(const struct leat_live *live, int from, struct live_word *word);
bool live_is_heard(const struct live_word *word);
/* Waits for it. */
bool live_hear(struct live_word *word);

/* ---- coll_live_host.c ---- */

/* The speaker makes the memory, the others open it by the same nonce. */
bool live_host_open(struct leat_live *live, uint64_t nonce);
/* All have it: its name is not needed any more. */
void live_host_unlink(const struct leat_live *live, uint64_t nonce);
void live_host_close(struct leat_live *live);
void live_host_hand_over(struct leat_live *live, const struct live_part *part);
/* The speaker: are all parts there? Then folds those of the others into `word`. */
bool live_host_collect(struct leat_live *live, const struct live_part *part, uint64_t *word);
void live_host_publish(struct leat_live *live, uint64_t number, const uint64_t *word,
                       uint32_t words);
bool live_host_is_published(struct leat_live *live, uint64_t number, uint64_t *word,
                            uint32_t words);
/* Sleeps until one of them does something, at most this long. */
void live_host_sleep(struct leat_live *live, uint32_t timeout_us);

/* ---- coll_live_break.c ---- */

/* Takes notes, and frees those that are sent. */
void live_notes(void);
/* MPI_COMM_WORLD ends. */
void live_end_notes(void);
void live_give_up(struct leat_live *live, const char *why);
/* This operation takes too long. */
void live_doubt(struct leat_live *live, uint64_t number, const char *why);
/* SETTLED: rank 0 is to fold this operation, unless its result is there. */
void live_redo(struct leat_live *live, const struct live_part *part);
void live_free_early(struct leat_live *live);
/* This rank has all its results; is_left: all have. */
void live_send_leave(struct leat_live *live);
/* Waits until its notes are sent. */
void live_silence(struct leat_live *live);

#endif
