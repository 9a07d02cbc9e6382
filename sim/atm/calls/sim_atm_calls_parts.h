/* The parts of a network of calls: _net.c moves cells, _user.c signals at the ports,
 * sim_atm_calls.c has the agenda and what arises. Internal. */
#ifndef LEAT_SIM_ATM_CALLS_PARTS_H
#define LEAT_SIM_ATM_CALLS_PARTS_H

#include "atm_node.h"
#include "atm_queue.h"
#include "atm_signal_build.h"
#include "sim_agenda.h"
#include "sim_atm_calls.h"
#include "sim_atm_traffic.h"
#include "sim_certificate.h"
#include "sim_refuse.h"
#include <leat/atm.h>
#include <leat/random.h>

#define NONE UINT32_MAX

enum { LEVEL_SIGNAL = 2, MESSAGE_LEN_MAX = 1024, VCI_MIN = LEAT_ATM_LABEL_VCI_MIN };

/* In this order within a slot. */
enum phase { ARRIVALS, EVENTS, SERVICES, PHASES };

struct cell {
    uint8_t octets[LEAT_ATM_CELL_LEN];
    uint32_t next; /* free: number + 1 */
};

/* On a wire. */
struct flying {
    uint64_t at;
    uint32_t cell;
};

struct link {
    struct leat_atm_queue *queue;
    struct leat_atm_aal5 *aal5; /* of VCI 5, at the end of the wire */
    struct flying *flying;      /* a ring of `slots + 1` */
    uint32_t first, count;
    uint32_t *entry; /* by label, of cells that arrive at a node: the first copy + 1 */
    uint32_t *leg;   /* by label, of cells that arrive at a port: the end of the call + 1 */
    struct leat_sim_atm_calls_use use;
};

/* A translation: cells go on by `link` with this VCI. */
struct copy {
    uint32_t link, next; /* next: number + 1, of the same label or free */
    uint16_t vci;
};

struct node {
    struct leat_atm_node *control;
    struct leat_sim_atm_calls *owner;
    uint32_t index;
    uint32_t message_link; /* that the message under way came by */
    bool is_tree;          /* it is of a point-to-multipoint call */
    struct copy *copy;
    uint32_t copies, copies_used, copies_free;
};

/* A party at a user: of the root for each leaf, of a leaf for itself. */
struct party {
    struct leat_atm_party state;
    uint32_t leg;  /* + 1; 0: free */
    uint32_t plan; /* of the root: its number in the plan; NONE */
    uint16_t reference;
    bool is_first, is_over, is_dropped;
    uint64_t begun_at, add_at, drop_at; /* NEVER: not, or done */
    uint32_t next;                      /* of its leg, + 1; or free */
};

/* The end of a call at a user. */
struct leg {
    struct leat_atm_call call;
    uint32_t port, reference, hash_next; /* + 1 */
    bool used, ours, is_tree, both_ways, data, has_label, booked, sends;
    bool counts, is_connected, is_over; /* ours: for statistics */
    uint16_t vci, endpoint;
    uint32_t party;  /* the first + 1 */
    uint64_t number; /* of the call; called users learn it from the first cell */
    const struct leat_sim_atm_calls_want *want; /* ours */
    struct leat_atm_contract contract;          /* of the cells that it sends */
    uint32_t to, source; /* ours: the port that is called; the source that has it, or NONE */
    uint64_t begun_at, hold, end_at;
    struct leat_atm_shaper shaper;
    uint64_t emit_at, sent;
    uint32_t next; /* free */
};

/* What arises at random at a port: a Poisson process, or one source. */
struct source {
    struct leat_random random;
    uint32_t of, port; /* of config.random */
    uint64_t at_q16;   /* Poisson: the latest call */
};

struct user {
    uint32_t reference;
    struct leat_atm_cac_link cac; /* of its line */
};

struct leat_sim_atm_calls {
    struct leat_sim_atm_calls_config config;
    const struct leat_sim_atm_calls_graph *graph;
    struct leat_sim_agenda agenda;
    uint64_t now, until;
    struct link *link;
    struct node *node;
    struct user *user;
    struct cell *cell;
    uint32_t cells, cells_top, cells_free;
    struct leg *leg;
    uint32_t legs, legs_free, *leg_bucket;
    struct party *party;
    uint32_t party_max, parties_free;
    struct source *source;
    uint32_t sources, plan_next;
    struct leat_sim_atm_traffic exponential;
    uint32_t partner;
    uint64_t number; /* of the next call */
    uint64_t live_at;
    struct leat_sim_atm_calls_fate *fate, *party_fate;
    struct leat_sim_atm_calls_counts counts;
    struct leat_sim_certificate certificate;
    struct leat_sim_histogram set_up, delay;
    struct leat_atm_signal_builder builder;
    uint8_t message[MESSAGE_LEN_MAX];
};

/* Entities of EVENTS: ends of calls, parties, sources, call controls, the plan. */
static inline uint32_t event_of_party(const struct leat_sim_atm_calls *s, uint32_t party)
{
    return s->legs + party;
}
static inline uint32_t event_of_source(const struct leat_sim_atm_calls *s, uint32_t source)
{
    return s->legs + s->party_max + source;
}
static inline uint32_t event_of_node(const struct leat_sim_atm_calls *s, uint32_t node)
{
    return s->legs + s->party_max + s->sources + node;
}

/* Never before the present slot, whose events may be over. */
static inline uint64_t slot_of(const struct leat_sim_atm_calls *s, leat_time at)
{
    if (at == LEAT_NEVER) return LEAT_NEVER;
    return leat_larger(s->now + 1, leat_sim_clock_cycle_from(&s->config.slot, at));
}
static inline leat_time now_ps(const struct leat_sim_atm_calls *s)
{
    return leat_sim_clock_at(&s->config.slot, s->now);
}

/* ---- sim_atm_calls_net.c --------------------------------------------------------------------- */

void leat_sim_atm_calls_net_lay(struct leat_sim_atm_calls *s,
                                const struct leat_sim_atm_calls_config *config,
                                struct leat_arena *arena);
leat_err leat_sim_atm_calls_net_check(const struct leat_sim_atm_calls_config *config);

/* A cell of a user or a switch for this link; a message of signalling in cells. */
void leat_sim_atm_calls_put(struct leat_sim_atm_calls *s, uint32_t link, uint32_t cell,
                            unsigned level);
void leat_sim_atm_calls_say(struct leat_sim_atm_calls *s, uint32_t link, const uint8_t *octets,
                            size_t len);
/* NONE: there is no room. */
uint32_t leat_sim_atm_calls_take_cell(struct leat_sim_atm_calls *s);
void leat_sim_atm_calls_free_cell(struct leat_sim_atm_calls *s, uint32_t cell);

void leat_sim_atm_calls_arrive(struct leat_sim_atm_calls *s, uint32_t link);
void leat_sim_atm_calls_serve(struct leat_sim_atm_calls *s, uint32_t link);
void leat_sim_atm_calls_node_due(struct leat_sim_atm_calls *s, uint32_t node);

/* What is booked on a line may be more than ever. */
void leat_sim_atm_calls_note_booked(struct leat_sim_atm_calls *s, uint32_t link,
                                    const struct leat_atm_cac_link *cac);

/* The CAC of a line as all lines have it; what cells have waited before they come by a link. */
struct leat_atm_cac_link_config
leat_sim_atm_calls_cac(const struct leat_sim_atm_calls_config *config);
leat_time leat_sim_atm_calls_jitter(const struct leat_sim_atm_calls_config *config,
                                    uint32_t lines_before);

/* ---- sim_atm_calls_user.c -------------------------------------------------------------------- */

void leat_sim_atm_calls_users_init(struct leat_sim_atm_calls *s);

/* What a user asks for. */
struct leat_sim_atm_calls_asked {
    uint32_t from, to, plan, source;
    uint64_t hold;
    const struct leat_sim_atm_calls_want *want;
};
void leat_sim_atm_calls_ask(struct leat_sim_atm_calls *s,
                            const struct leat_sim_atm_calls_asked *asked);

/* A message, or a cell of a call, has arrived at a port. */
void leat_sim_atm_calls_hear(struct leat_sim_atm_calls *s, uint32_t port, const uint8_t *octets,
                             size_t len);
void leat_sim_atm_calls_take(struct leat_sim_atm_calls *s, uint32_t link, const uint8_t *cell);

/* The events of an end of a call, and of a party. */
void leat_sim_atm_calls_leg_due(struct leat_sim_atm_calls *s, uint32_t leg);
void leat_sim_atm_calls_party_due(struct leat_sim_atm_calls *s, uint32_t party);

/* ---- sim_atm_calls.c ------------------------------------------------------------------------- */

/* The call of a source has ended. */
void leat_sim_atm_calls_source_idle(struct leat_sim_atm_calls *s, uint32_t source);
/* The number of connected calls changes. */
void leat_sim_atm_calls_live(struct leat_sim_atm_calls *s, int change);

#endif
