/*
 * A test bench for adaptation layer units (spec/atm.md, 5.5; seed 001, 11.1.5 and appendix J): a
 * network at register level with a unit at each port, hosts that follow a schedule, and after each
 * cycle the registers that the appendix prints.
 *
 *     schedule --> host 1 --> unit 1 --> network --> unit 5 --> host 5 --> what it got
 *                                |                      |
 *                                +--- registers --------+   (and those of the fourteen others)
 *
 * Cycle n shows the units and PPDs after n steps and the SPDs after n+1: an octet on icbyte in
 * cycle n is taken in step n+1. Cycle 0 is reset.
 *
 * A host is one task. Its orders are accepted one after the other, each in the cycle it names or
 * later, and none while the unit is busy with the previous one:
 *
 *     initsend { put | destination } send    the next order waits until the message is ready
 *     receive { get }                        without a message for it, its gets are skipped,
 *                                            or it polls; after the last get the lock is released
 *
 * The bench shows the numbers of all eleven controllers (note, 5.3: those that are published, and
 * numbers of our own between them). Receive blocks are released in the step that would mark them,
 * so icblktofr stays 0.
 */
#ifndef LEAT_SIM_ATM_AAL_BENCH_H
#define LEAT_SIM_ATM_AAL_BENCH_H

#include "atm_aal_unit.h"
#include "sim_atm.h"

/* ---- schedules ---------------------------------------------------------------------------- */

struct leat_sim_atm_aal_order {
    struct leat_atm_aal_command command; /* octets lent as long as the bench runs */
    bool poll;                           /* RECEIVE: repeat until there is a message */
    bool string; /* GET: up to and including the next zero octet; `len` is ignored */
};

struct leat_sim_atm_aal_schedule { /* of one host */
    const struct leat_sim_atm_aal_order *orders;
    size_t count;
};

enum leat_sim_atm_aal_phase {
    LEAT_SIM_ATM_AAL_BETWEEN,
    LEAT_SIM_ATM_AAL_WRITING,
    LEAT_SIM_ATM_AAL_READING
};

/* May this order come in this phase? If so, *phase becomes the next phase. */
bool leat_sim_atm_aal_order_fits(enum leat_atm_aal_verb verb, enum leat_sim_atm_aal_phase *phase);

/*
 * The published test, a schedule for each of 16 hosts: task snd on port 1 sends the integer 285 to
 * all tasks rcv, then 544 and 1297.456 to the one on port 5, which polls from cycle 1 on.
 */
enum { LEAT_SIM_ATM_AAL_TWO_MESSAGES_PORTS = 16 };
const struct leat_sim_atm_aal_schedule *leat_sim_atm_aal_two_messages(void);

/* ---- events reported to hosts ---------------------------------------------------------------- */

enum leat_sim_atm_aal_event {
    LEAT_SIM_ATM_AAL_WRITTEN,       /* the message is ready to be sent */
    LEAT_SIM_ATM_AAL_TOO_LONG,      /* it fills the send buffer (warning) */
    LEAT_SIM_ATM_AAL_EXIT,          /* it does not fit: discarded, up to its send */
    LEAT_SIM_ATM_AAL_NO_MEMORY,     /* it waits for a block */
    LEAT_SIM_ATM_AAL_UNDELIVERABLE, /* `destination` never acknowledged a block */
    LEAT_SIM_ATM_AAL_FOUND,         /* a receive has its message */
    LEAT_SIM_ATM_AAL_DENIED,        /* a receive has no message, and does not poll */
    LEAT_SIM_ATM_AAL_GOT,           /* the octets of a get */
    LEAT_SIM_ATM_AAL_SHORT,         /* the same, but the message has fewer octets than requested */
};

struct leat_sim_atm_aal_news {
    enum leat_sim_atm_aal_event event;
    uint32_t unit;
    uint64_t at;           /* cycle; FOUND and DENIED: of the reply */
    size_t order;          /* FOUND to SHORT: which order of its host */
    const uint8_t *octets; /* GOT, SHORT: lent for the call */
    uint32_t len;
    uint16_t destination;
};

typedef void leat_sim_atm_aal_on_event(void *context, const struct leat_sim_atm_aal_news *news);

/* ---- the bench ---------------------------------------------------------------------------- */

struct leat_sim_atm_aal_bench_config {
    struct leat_sim_atm_fabric fabric;
    struct leat_atm_aal_config aal; /* port, ports, paths and header_octets are set by init */
    const struct leat_sim_atm_aal_schedule *schedules; /* by port; every order fits */
    leat_sim_atm_aal_on_event *on_event;               /* may be NULL */
    void *event_context;
};

struct leat_sim_atm_aal_host {
    struct leat_atm_aal_unit unit;
    size_t next; /* the current or next order */
    uint8_t waits;
    bool reading, found;
    uint32_t read_offset, read_len;
    uint64_t searched_from, searched_until; /* while STATE8 is busy */
    struct leat_sim_atm_aal_state0 {
        size_t order;      /* the one that STATE0 executes, or the next one */
        uint64_t free_at;  /* when the next one may begin; LEAT_NEVER: it waits for an answer */
        uint64_t at, last; /* if it runs: in its which cycle, and which is its last one */
        bool runs;
        uint8_t number;
    } state0;
    uint8_t state7, state10;
    uint32_t round_source, round_seen; /* STATE10's position in its round */
};

struct leat_sim_atm_aal_bench {
    struct leat_sim_atm_aal_bench_config config;
    struct leat_sim_atm sim;
    struct leat_sim_atm_aal_host *host;
    uint8_t *received; /* the octets of a get so far */
};

/* Octets of memory for a bench. */
size_t leat_sim_atm_aal_bench_footprint(const struct leat_sim_atm_aal_bench_config *config);

/* Cycle 0. `memory`: that many octets, zeroed, aligned for any object, lent for the bench's
 * lifetime. */
void leat_sim_atm_aal_bench_init(struct leat_sim_atm_aal_bench *bench,
                                 const struct leat_sim_atm_aal_bench_config *config, void *memory);

/* The cycle that is shown. */
static inline uint64_t leat_sim_atm_aal_bench_now(const struct leat_sim_atm_aal_bench *bench)
{
    return bench->sim.now - 1;
}

/* One cycle. */
void leat_sim_atm_aal_bench_step(struct leat_sim_atm_aal_bench *bench);

/* All orders are done, no acknowledgement is pending, all units are idle. */
bool leat_sim_atm_aal_bench_at_rest(const struct leat_sim_atm_aal_bench *bench);

/* ---- registers, in the order of the appendix ------------------------------------------------- */

/* X(ID, name, width in bits, printed in hexadecimal) */
#define LEAT_SIM_ATM_AAL_SIGNAL_LIST(X)          \
    X(STATE0, "state0", 5, false)                \
    X(STATE1, "state1", 5, false)                \
    X(STATE2, "state2", 3, false)                \
    X(STATE3, "state3", 1, false)                \
    X(STATE4, "state4", 1, false)                \
    X(STATE5, "state5", 5, false)                \
    X(STATE6, "state6", 1, false)                \
    X(STATE7, "state7", 6, false)                \
    X(STATE8, "state8", 5, false)                \
    X(STATE9, "state9", 1, false)                \
    X(STATE10, "state10", 5, false)              \
    X(OGMSGNUM, "ogmsgnum", 16, false)           \
    X(OGBBLKNUM, "ogbblknum", 16, false)         \
    X(OGFB, "ogfb", 16, false)                   \
    X(OGLB, "oglb", 16, false)                   \
    X(OGFI, "ogfi", 16, false)                   \
    X(OGLI, "ogli", 16, false)                   \
    X(CURSND, "cursnd", 16, false)               \
    X(OGSUSPEND, "ogsuspend", 1, false)          \
    X(BUF, "buf", 8, true)                       \
    X(OGBYTE, "ogbyte", 8, true)                 \
    X(BUFI, "bufi", 1, false)                    \
    X(OGBYTEI, "ogbytei", 1, false)              \
    X(ICBYTE, "icbyte", 8, true)                 \
    X(ICBYTEI, "icbytei", 1, false)              \
    X(ICSUSPEND, "icsuspend", 1, false)          \
    X(COUNT, "count", 6, false)                  \
    X(ICBLKINMSGNUM, "icblkinmsgnum", 16, false) \
    X(ICBBLKNUM, "icbblknum", 16, false)         \
    X(ICFB, "icfb", 16, false)                   \
    X(ICLB, "iclb", 16, false)                   \
    X(ICFI, "icfi", 16, false)                   \
    X(ICLI, "icli", 16, false)                   \
    X(ICCURB, "iccurb", 16, false)

/* Of each block; the first five of a send block, the others of a receive block. blktime -1: not
 * ready. */
#define LEAT_SIM_ATM_AAL_BLOCK_SIGNAL_LIST(X) \
    X(BLKTIME, "blktime", 32, false)          \
    X(BLKCOMTYPE, "blkcomtype", 1, false)     \
    X(BLKDST, "blkdst", 16, false)            \
    X(ACKNUM, "acknum", 16, false)            \
    X(OGBLKTOFR, "ogblktofr", 1, false)       \
    X(BLKINMSG, "blkinmsg", 1, false)         \
    X(ICBLKTOFR, "icblktofr", 1, false)

#define X(id, name, width, hex) LEAT_SIM_ATM_AAL_##id,
enum { LEAT_SIM_ATM_AAL_SIGNAL_LIST(X) LEAT_SIM_ATM_AAL_SIGNALS };
enum { LEAT_SIM_ATM_AAL_BLOCK_SIGNAL_LIST(X) LEAT_SIM_ATM_AAL_BLOCK_SIGNALS };
#undef X

struct leat_sim_atm_aal_signal {
    const char *name;
    uint8_t width; /* bits */
    bool hex;      /* as it is printed */
};

extern const struct leat_sim_atm_aal_signal leat_sim_atm_aal_signals[LEAT_SIM_ATM_AAL_SIGNALS];
extern const struct leat_sim_atm_aal_signal
    leat_sim_atm_aal_block_signals[LEAT_SIM_ATM_AAL_BLOCK_SIGNALS];

void leat_sim_atm_aal_bench_inspect(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                    int64_t out[LEAT_SIM_ATM_AAL_SIGNALS]);

/* `block` is one of both buffers. */
void leat_sim_atm_aal_bench_inspect_block(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                          uint16_t block,
                                          int64_t out[LEAT_SIM_ATM_AAL_BLOCK_SIGNALS]);

/* msgnumfrm[source]: messages of that source, being put together or kept. */
uint32_t leat_sim_atm_aal_bench_messages(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                         uint32_t source);

#endif
