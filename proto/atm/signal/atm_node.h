/*
 * Call control of a network node: takes a SETUP on one link, asks for a route, admits the call
 * (atm_cac), chooses labels, goes on by a SETUP on another link, and tells its owner which labels
 * to translate. Point-to-multipoint calls grow and shrink by parties. Pure: what it wants done are
 * actions, values handed to the owner's function during the step.
 *
 *            SETUP              route? admitted? label?            SETUP
 *   link 0  ------>  half call ------- connection ------- half call  ------>  link 1
 *           <------  (N1, N3 ...)      parties        \   (N6, N9 ...)
 *        CALL PROCEEDING                               `- half call  ------>  link 2
 *
 * Each half call is an atm_call, each party has an atm_party on both sides. At a link one end is
 * the network, the other the user; between nodes either may be it, as in the ATM Forum's IISP. The
 * network chooses the labels of the link. A label, its share of the link (CAC) and its call
 * reference are free again when the half call is in state Null; translations end with the call.
 */
#ifndef LEAT_ATM_NODE_H
#define LEAT_ATM_NODE_H

#include "atm_cac.h"
#include "atm_label.h"
#include "atm_party.h"

enum {
    LEAT_ATM_NODE_LINKS_MAX = 1024,
    LEAT_ATM_NODE_CALLS_MAX = 1 << 20,
    LEAT_ATM_NODE_SETUP_LEN_MAX = 512, /* elements of a SETUP that travel on */
};

/* Causes of a node (Q.850, Q.2610). */
enum {
    LEAT_ATM_CAUSE_NO_ROUTE = 3,
    LEAT_ATM_CAUSE_NORMAL = 16,
    LEAT_ATM_CAUSE_RATE = 37,     /* the cell rate is not available */
    LEAT_ATM_CAUSE_NO_LABEL = 45, /* no VPCI/VCI is available */
    LEAT_ATM_CAUSE_RESOURCES = 47,
    LEAT_ATM_CAUSE_QOS = 49,
    LEAT_ATM_CAUSE_MISSING = 96, /* a mandatory element */
    LEAT_ATM_CAUSE_CONTENTS = 100,
};

struct leat_atm_node_link_config {
    enum leat_atm_call_side side;        /* ours at this link */
    struct leat_atm_label_range labels;  /* if we are the network */
    struct leat_atm_cac_link_config cac; /* of cells that leave by this link */
    leat_time jitter_ps; /* cells that enter by this link have waited this much before, at most */
};

struct leat_atm_node_end {
    uint32_t link;
    struct leat_atm_label label;
};

enum leat_atm_node_what { LEAT_ATM_NODE_SEND, LEAT_ATM_NODE_ENTER, LEAT_ATM_NODE_REMOVE };

struct leat_atm_node_action {
    enum leat_atm_node_what what;
    uint32_t link; /* SEND: a message on VCI 5 of this link, lent for the call */
    const uint8_t *octets;
    size_t len;
    struct leat_atm_node_end from, to; /* ENTER, REMOVE: cells in by `from` go out by `to` */
};

struct leat_atm_node_config {
    uint32_t link_count;
    const struct leat_atm_node_link_config *link;    /* copied */
    uint32_t calls_max, half_calls_max, parties_max; /* 1..CALLS_MAX; parties_max may be 0 */
    struct leat_atm_call_timers timers;
    uint64_t cdvt_ps; /* of all contracts: SETUP does not carry it */
    void *context;
    /* The link towards a called number; false: there is none. */
    bool (*route)(void *context, const struct leat_atm_signal_content *called, uint32_t in_link,
                  uint32_t *out_link);
    /* In order; must not call the node. */
    void (*act)(void *context, const struct leat_atm_node_action *action);
};

struct leat_atm_node; /* opaque */

/* The caller's memory, aligned as by malloc. RANGE: a limit above, of labels or of the CAC. */
leat_err leat_atm_node_check(const struct leat_atm_node_config *config);
size_t leat_atm_node_footprint(const struct leat_atm_node_config *config);
leat_err leat_atm_node_init(void *memory, size_t memory_len,
                            const struct leat_atm_node_config *config, struct leat_atm_node **out);

/* A message arrives on a link. What is not a message is ignored, with its error. */
leat_err leat_atm_node_receive(struct leat_atm_node *node, leat_time now, uint32_t link,
                               const uint8_t *octets, size_t len);

/* Runs the timers that are due, and says when the next one may be: not before that time. */
leat_time leat_atm_node_run(struct leat_atm_node *node, leat_time now);
leat_time leat_atm_node_due_at(const struct leat_atm_node *node);

struct leat_atm_node_counts {
    uint32_t calls, half_calls, parties; /* at this moment */
    uint64_t offered, connected;         /* SETUPs from others; branches that were answered */
    uint64_t refused[128];               /* by cause: SETUPs and ADD PARTYs that went nowhere */
};

const struct leat_atm_node_counts *leat_atm_node_counts(const struct leat_atm_node *node);

/* Labels of a link that are free; what its CAC has booked. */
uint32_t leat_atm_node_labels_free(const struct leat_atm_node *node, uint32_t link);
const struct leat_atm_cac_link *leat_atm_node_cac(const struct leat_atm_node *node, uint32_t link);

#endif
