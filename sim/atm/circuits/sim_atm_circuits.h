/*
 * Circuits and voice over a simulated network, beside cells of other users: circuits of a constant
 * bit rate by AAL1, with service clocks of their own, which receivers recover; channels of voice by
 * AAL2, with talk spurts and pauses.
 *
 *     port from                                                       port to
 *       service clock --> octets --> AAL1 --> cells ~~ network ~~> AAL1 --> playout --> octets
 *                                      SRTS: stamps                  |        | level
 *                                                             read clock <----+
 *       voice: frames ---> AAL2 --> cells ~~~~~~~~~~~~~~~~~~> AAL2 --> frames played in time
 *
 * Each circuit, and each channel of voice, is a virtual channel. A port sends their cells in the
 * order in which they were complete, and cells at random to others only when none waits.
 */
#ifndef LEAT_SIM_ATM_CIRCUITS_H
#define LEAT_SIM_ATM_CIRCUITS_H

#include "leat_text.h"
#include "sim_atm_circuits_channel.h"
#include "sim_atm_plain.h"
#include "sim_histogram.h"

#define LEAT_SIM_ATM_CIRCUITS_NETWORK_HZ UINT64_C(155520000) /* the network clock of SRTS */
enum {
    LEAT_SIM_ATM_CIRCUITS_LINES_MAX = 256,     /* of a plan */
    LEAT_SIM_ATM_CIRCUITS_CHANNELS_MAX = 4096, /* of all lines */
    LEAT_SIM_ATM_CIRCUITS_RATE_MAX = 155520000,
    LEAT_SIM_ATM_CIRCUITS_PPM_MAX = 1000,
    LEAT_SIM_ATM_CIRCUITS_LEARN = 64,             /* cells before playout=auto is known */
    LEAT_SIM_ATM_CIRCUITS_TOLERANCE_MAX = 500000, /* octets in a playout time */
    LEAT_SIM_ATM_CIRCUITS_FRAME_LEN_MAX = 4096,
    LEAT_SIM_ATM_CIRCUITS_VCI = 8192, /* of the first channel, where paths are switched */
};

enum leat_sim_atm_circuit_kind { LEAT_SIM_ATM_CIRCUIT_CBR, LEAT_SIM_ATM_CIRCUIT_VOICE };
enum leat_sim_atm_circuit_recovery {
    LEAT_SIM_ATM_CIRCUIT_NETWORK, /* the receiver reads by the network's clock */
    LEAT_SIM_ATM_CIRCUIT_SRTS,
    LEAT_SIM_ATM_CIRCUIT_ADAPTIVE,
};

struct leat_sim_atm_circuit {
    enum leat_sim_atm_circuit_kind kind;
    uint32_t from, to;
    uint64_t rate;     /* bit/s, of a channel, nominal */
    leat_time start;   /* of the first octet; LEAT_NEVER: at random within a cell or frame */
    leat_time playout; /* how long the first octet, or frame, waits; LEAT_NEVER: cbr only, learnt */
    /* cbr */
    int32_t clock_ppm; /* of the sender's clock against the network's */
    enum leat_sim_atm_circuit_recovery recovery;
    bool fec;           /* interleaved, with Reed-Solomon code */
    uint32_t block_len; /* of structured data; 0: unstructured */
    /* voice */
    uint32_t channels;
    leat_time frame;       /* ps of speech in a message */
    leat_time talk, pause; /* means; pause 0: always talk */
};

/* A cell of a channel has arrived. */
struct leat_sim_atm_circuits_heard {
    uint32_t line, channel;
    uint64_t number;        /* of the cell on its channel */
    leat_time ready_at, at; /* complete at the sender; its last octet here */
};

struct leat_sim_atm_circuits_config {
    struct leat_sim_atm_plain_config plain;  /* without an owner */
    const struct leat_sim_atm_circuit *line; /* lent */
    uint32_t lines;
    void (*heard)(void *context, const struct leat_sim_atm_circuits_heard *heard); /* or NULL */
    void *context;
};

/* What a line of the plan got, all channels together. */
struct leat_sim_atm_circuits_counts {
    uint64_t cells_sent, cells_delivered;
    uint64_t cells_lost;    /* a later cell of the channel has arrived */
    uint64_t cells_extra;   /* copies and strays with the label of the channel */
    uint64_t cells_damaged; /* delivered with other octets than sent */
    /* cbr */
    uint64_t octets;          /* to the playout buffer */
    uint64_t octets_wrong;    /* of them, others than sent */
    uint64_t octets_replaced; /* of them, dummies in place of lost cells */
    uint64_t shifts;          /* cells, or blocks, that do not follow the octets before them */
    uint64_t rows_bad, octets_corrected; /* fec */
    /* voice */
    uint64_t frames, frames_talk; /* that passed (settle sets it); that were sent */
    uint64_t frames_under_way;    /* settle sets it */
    uint64_t frames_played, frames_late;
    uint64_t frames_damaged; /* with a sound CRC-10 */
};

struct leat_sim_atm_circuits_line {
    struct leat_sim_atm_circuits_counts counts;
    uint64_t delay_min, mouth_min;   /* ps; UINT64_MAX: none yet */
    struct leat_sim_histogram delay; /* of cells, ps */
    struct leat_sim_histogram mouth; /* voice: mouth to ear, ps, of frames played */
    uint32_t first, channels;        /* of the channels */
};

struct leat_sim_atm_circuits_port {
    uint32_t first, count; /* of `order`: channels from here, by the next cell */
    uint64_t user_at;      /* of its next cell at random */
    uint64_t users;
};

struct leat_sim_atm_circuits {
    struct leat_sim_atm_circuits_config config;
    struct leat_sim_atm_plain plain;
    struct leat_sim_clock clock;
    struct leat_sim_atm_circuits_port *port;
    struct leat_sim_atm_circuits_line *line;
    struct leat_sim_atm_channel *channel;
    uint32_t channels;
    uint32_t *order;
    uint64_t users_sent, users_received;
    uint64_t unknown; /* cells of no channel of their port */
};

/* Can it run? `why` has one line; *line: of the plan; LEAT_SIM_ATM_CIRCUITS_LINES_MAX: all. */
leat_err leat_sim_atm_circuits_check(const struct leat_sim_atm_circuits_config *config,
                                     uint32_t *line, struct leat_text *why);

/* For a checked config. */
size_t leat_sim_atm_circuits_footprint(const struct leat_sim_atm_circuits_config *config);

/* `memory`: zeroed, aligned for any object, lent for the object's lifetime. */
void leat_sim_atm_circuits_init(struct leat_sim_atm_circuits *circuits,
                                const struct leat_sim_atm_circuits_config *config, void *memory);

/* Runs all cycles before `until`. */
void leat_sim_atm_circuits_run(struct leat_sim_atm_circuits *circuits, uint64_t until);

/* Playout buffers are read up to now: call it at the end of a run. */
void leat_sim_atm_circuits_settle(struct leat_sim_atm_circuits *circuits);

/* How long an octet waits at most until its cell, frame or block is complete. */
leat_time leat_sim_atm_circuit_packetisation(const struct leat_sim_atm_circuit *line);
/* From cell to cell of a circuit; from frame to frame of voice. */
leat_time leat_sim_atm_circuit_cell_time(const struct leat_sim_atm_circuit *line);
/* The longest playout time, which a buffer can hold. */
leat_time leat_sim_atm_circuit_playout_max(const struct leat_sim_atm_circuit *line);

#endif
