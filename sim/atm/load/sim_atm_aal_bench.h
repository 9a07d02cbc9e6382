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
 * The bench shows the state numbers that the note defines: STATE5, STATE8 (not on its way to a
 * message that it found, which is not published) and STATE10 (of the two cycles between its rounds
 * the first is called 20; its number is not published). Receive blocks are released in the step
 * that would mark them, so icblktofr stays 0.
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

/* ---- events reported to hosts -------------------------------------------------------------------
 */

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

typedef void leat_sim_atm_aal_hear(void *context, const struct leat_sim_atm_aal_news *news);

/* ---- the bench ---------------------------------------------------------------------------- */

struct leat_sim_atm_aal_bench_config {
    struct leat_sim_atm_fabric fabric;
    struct leat_atm_aal_config aal; /* port, ports, paths and header_octets are set by init */
    const struct leat_sim_atm_aal_schedule *schedules; /* by port; every order fits */
    leat_sim_atm_aal_hear *hear;                       /* may be NULL */
    void *hear_context;
};

struct leat_sim_atm_aal_host {
    struct leat_atm_aal_unit unit;
    size_t next; /* the current or next order */
    uint8_t waits;
    bool reading, found;
    uint32_t read_offset, read_len;
    uint64_t searched_from, searched_until; /* while STATE8 is busy */
    uint8_t state10;
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

/* ---- registers, in the order of the appendix ----------------------------------------------------
 */

enum {
    LEAT_SIM_ATM_AAL_STATE5,
    LEAT_SIM_ATM_AAL_STATE8,
    LEAT_SIM_ATM_AAL_STATE10,
    LEAT_SIM_ATM_AAL_OGMSGNUM,
    LEAT_SIM_ATM_AAL_OGBBLKNUM,
    LEAT_SIM_ATM_AAL_OGFB,
    LEAT_SIM_ATM_AAL_OGLB,
    LEAT_SIM_ATM_AAL_OGFI,
    LEAT_SIM_ATM_AAL_OGLI,
    LEAT_SIM_ATM_AAL_CURSND,
    LEAT_SIM_ATM_AAL_OGSUSPEND,
    LEAT_SIM_ATM_AAL_BUF,
    LEAT_SIM_ATM_AAL_OGBYTE,
    LEAT_SIM_ATM_AAL_BUFI,
    LEAT_SIM_ATM_AAL_OGBYTEI,
    LEAT_SIM_ATM_AAL_ICBYTE,
    LEAT_SIM_ATM_AAL_ICBYTEI,
    LEAT_SIM_ATM_AAL_ICSUSPEND,
    LEAT_SIM_ATM_AAL_COUNT,
    LEAT_SIM_ATM_AAL_ICBLKINMSGNUM,
    LEAT_SIM_ATM_AAL_ICBBLKNUM,
    LEAT_SIM_ATM_AAL_ICFB,
    LEAT_SIM_ATM_AAL_ICLB,
    LEAT_SIM_ATM_AAL_ICFI,
    LEAT_SIM_ATM_AAL_ICLI,
    LEAT_SIM_ATM_AAL_ICCURB,
    LEAT_SIM_ATM_AAL_SIGNALS,
};

enum { /* of each block; the first five of a send block, the others of a receive block */
       LEAT_SIM_ATM_AAL_BLKTIME,
       LEAT_SIM_ATM_AAL_BLKCOMTYPE,
       LEAT_SIM_ATM_AAL_BLKDST,
       LEAT_SIM_ATM_AAL_ACKNUM,
       LEAT_SIM_ATM_AAL_OGBLKTOFR,
       LEAT_SIM_ATM_AAL_BLKINMSG,
       LEAT_SIM_ATM_AAL_ICBLKTOFR,
       LEAT_SIM_ATM_AAL_BLOCK_SIGNALS,
};

enum { LEAT_SIM_ATM_AAL_UNKNOWN = -1 }; /* value of STATE8 where it is not published */

struct leat_sim_atm_aal_signal {
    const char *name;
    uint8_t width; /* bits */
    bool hex;      /* as it is printed */
};

extern const struct leat_sim_atm_aal_signal leat_sim_atm_aal_signals[LEAT_SIM_ATM_AAL_SIGNALS];
extern const struct leat_sim_atm_aal_signal
    leat_sim_atm_aal_block_signals[LEAT_SIM_ATM_AAL_BLOCK_SIGNALS];

void leat_sim_atm_aal_bench_look(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                 int64_t out[LEAT_SIM_ATM_AAL_SIGNALS]);

/* `block` is one of both buffers. */
void leat_sim_atm_aal_bench_look_block(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                       uint16_t block, int64_t out[LEAT_SIM_ATM_AAL_BLOCK_SIGNALS]);

/* msgnumfrm[source]: messages of that source, being put together or kept. */
uint32_t leat_sim_atm_aal_bench_messages(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                         uint32_t source);

#endif
