/*
 * The calls of a node. Each half call and each side of a party ends once: `lost` is set before
 * others are told, so that no ending comes back. What has ended is freed by the caller of these
 * functions, when the step is over.
 */
#include "atm_node_parts.h"
#include <assert.h>
#include <string.h>

#define NONE LEAT_ATM_NODE_NONE

static void end_half(struct leat_atm_node *n, leat_time now, uint32_t index, uint8_t cause);
static void told_by_call(struct leat_atm_node *n, leat_time now, uint32_t index,
                         const struct leat_atm_call_out *out);
static void told_by_party(struct leat_atm_node *n, leat_time now, uint32_t index,
                          const struct leat_atm_party_out *out);

static struct leat_atm_node_connection *connection_of(struct leat_atm_node *n, uint32_t half)
{
    return &n->connection[n->half[half].connection];
}

static bool is_in(struct leat_atm_node *n, uint32_t half)
{
    return connection_of(n, half)->in == half;
}

/* ---- engines -------------------------------------------------------------------------------- */

static void step_half(struct leat_atm_node *n, leat_time now, uint32_t index,
                      const struct leat_atm_call_in *in)
{
    struct leat_atm_node_half *h = &n->half[index];
    struct leat_atm_call_out out;
    leat_atm_call_step(&h->call, now, &n->config.timers, in, &out);
    leat_atm_node_due(n, h->call.due_at);
    leat_atm_node_send_call(n, h, &out);
    told_by_call(n, now, index, &out);
}

static void do_half(struct leat_atm_node *n, leat_time now, uint32_t index,
                    enum leat_atm_call_event event, uint8_t cause)
{
    step_half(n, now, index, &(struct leat_atm_call_in){ .event = event, .cause = cause });
}

static void step_party(struct leat_atm_node *n, leat_time now, uint32_t index, bool in_side,
                       const struct leat_atm_party_in *in)
{
    struct leat_atm_node_party *p = &n->party[index];
    struct leat_atm_party *party = in_side ? &p->in : &p->out;
    const uint32_t half = in_side ? n->connection[p->connection].in : p->branch;
    struct leat_atm_party_out out;
    leat_atm_party_step(party, now, &n->config.timers, in, &out);
    leat_atm_node_due(n, party->due_at);
    if (half != NONE)
        leat_atm_node_send_party(n, &n->half[half], in_side ? p->in_reference : p->out_reference,
                                 &p->called, &out);
    told_by_party(n, now, index, &out);
}

static void do_party(struct leat_atm_node *n, leat_time now, uint32_t index, bool in_side,
                     enum leat_atm_party_event event, uint8_t cause)
{
    step_party(n, now, index, in_side,
               &(struct leat_atm_party_in){ .event = event, .cause = cause });
}

/* ---- translations --------------------------------------------------------------------------- */

/* Forward from the caller's link; backward too, unless there are several branches. */
static void translate(struct leat_atm_node *n, uint32_t branch, enum leat_atm_node_what what)
{
    struct leat_atm_node_half *h = &n->half[branch];
    const struct leat_atm_node_connection *c = &n->connection[h->connection];
    const struct leat_atm_node_half *in = &n->half[c->in];
    struct leat_atm_node_action action = { .what = what,
                                           .from = { in->link, in->label },
                                           .to = { h->link, h->label } };
    h->translated = what == LEAT_ATM_NODE_ENTER;
    n->config.act(n->config.context, &action);
    if (c->contract.multipoint) return;
    const struct leat_atm_node_end from = action.from;
    action.from = action.to;
    action.to = from;
    n->config.act(n->config.context, &action);
}

/* ---- a branch begins ------------------------------------------------------------------------ */

static uint8_t cause_of(enum leat_atm_cac_criterion criterion)
{
    switch (criterion) {
    case LEAT_ATM_CAC_ACCEPTED: return 0;
    case LEAT_ATM_CAC_RATE:
    case LEAT_ATM_CAC_BUFFER:
    case LEAT_ATM_CAC_BURST:
    case LEAT_ATM_CAC_CONNECTIONS: return LEAT_ATM_CAUSE_RATE;
    case LEAT_ATM_CAC_CTD:
    case LEAT_ATM_CAC_CDV:
    case LEAT_ATM_CAC_CLR:
    case LEAT_ATM_CAC_CRITERION_COUNT: break;
    }
    return LEAT_ATM_CAUSE_QOS;
}

/* Admits one direction of the call to the link of a half call; 0, or the cause of the refusal. */
static uint8_t admit(struct leat_atm_node *n, uint32_t half, unsigned way, uint32_t from_link)
{
    struct leat_atm_node_half *h = &n->half[half];
    const struct leat_atm_signal_contract *asked = &n->connection[h->connection].contract;
    struct leat_atm_cac_link *path = &n->link[h->link].cac;
    struct leat_atm_cac_answer answer = { .criterion = LEAT_ATM_CAC_ACCEPTED };
    if (!asked->has[way]) return 0;
    h->contract = asked->contract[way];
    if (h->contract.class <= LEAT_ATM_VBR_NRT)
        h->contract.cdvt_ps = leat_time_add(h->contract.cdvt_ps,
                                            n->link[from_link].config.jitter_ps);
    if (leat_atm_cac_admit(&h->contract, &path, 1, &answer)) return LEAT_ATM_CAUSE_CONTENTS;
    h->booked = answer.criterion == LEAT_ATM_CAC_ACCEPTED;
    return cause_of(answer.criterion);
}

static uint8_t take_label(struct leat_atm_node *n, uint32_t half)
{
    struct leat_atm_node_half *h = &n->half[half];
    struct leat_atm_labels *labels = n->link[h->link].labels;
    if (!labels) return 0; /* the peer chooses */
    h->has_label = leat_atm_labels_take(labels, &h->label);
    return h->has_label ? 0 : LEAT_ATM_CAUSE_NO_LABEL;
}

/* What a branch needs before its SETUP goes out. */
static uint8_t prepare(struct leat_atm_node *n, uint32_t in, uint32_t branch)
{
    const uint32_t in_link = n->half[in].link, out_link = n->half[branch].link;
    uint8_t cause = admit(n, branch, 0, in_link);
    if (!cause) cause = take_label(n, branch);
    if (!cause && !n->half[in].booked) cause = admit(n, in, 1, out_link);
    return cause;
}

/* A half call towards the called number. 0, or the cause why there is none. */
static uint8_t begin_branch(struct leat_atm_node *n, uint32_t connection, uint32_t link,
                            const struct leat_atm_node_number *called, uint32_t *out)
{
    const uint32_t in = n->connection[connection].in;
    const uint32_t half = leat_atm_node_half_take(n, connection, link,
                                                  leat_atm_node_reference_choose(n, link), true);
    if (half == NONE) return LEAT_ATM_CAUSE_RESOURCES;
    n->half[half].called = *called;
    *out = half;
    return prepare(n, in, half); /* refused: it is in Null, and collected */
}

static uint8_t find_route(struct leat_atm_node *n, uint32_t in_link,
                          const struct leat_atm_node_number *called, uint32_t *link)
{
    const struct leat_atm_signal_element e = { .id = LEAT_ATM_SIGNAL_CALLED_NUMBER,
                                               .instruction = LEAT_ATM_SIGNAL_INSTRUCTION,
                                               .octets = called->octets,
                                               .len = called->len };
    struct leat_atm_signal_content number;
    const leat_err err = leat_atm_signal_content_decode(&e, &number);
    assert(err == LEAT_ERR_OK);
    if (!n->config.route(n->config.context, &number, in_link, link)) return LEAT_ATM_CAUSE_NO_ROUTE;
    if (*link == in_link || *link >= n->config.link_count) return LEAT_ATM_CAUSE_NO_ROUTE;
    return 0;
}

/* ---- a SETUP comes in ----------------------------------------------------------------------- */

static uint8_t read_number(const struct leat_atm_signal_message *m,
                           struct leat_atm_node_number *out)
{
    const struct leat_atm_signal_element *e = leat_atm_signal_message_find(
        m, LEAT_ATM_SIGNAL_CALLED_NUMBER);
    struct leat_atm_signal_content c;
    if (!e) return LEAT_ATM_CAUSE_MISSING;
    if (leat_atm_signal_content_decode(e, &c)) return LEAT_ATM_CAUSE_CONTENTS;
    out->len = (uint8_t)e->len; /* what decodes is no longer than the longest address */
    memcpy(out->octets, e->octets, e->len);
    return 0;
}

/* The elements that travel on: all but those that are of this link or of one party. */
static uint8_t keep_setup(struct leat_atm_node_connection *c,
                          const struct leat_atm_signal_message *m)
{
    struct leat_atm_signal_message kept = *m;
    size_t len = 0;
    kept.element_count = 0;
    for (unsigned i = 0; i < m->element_count; i++) {
        const uint8_t id = m->element[i].id;
        if (id != LEAT_ATM_SIGNAL_CALLED_NUMBER && id != LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER &&
            id != LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE)
            kept.element[kept.element_count++] = m->element[i];
    }
    /* Room for the three elements that are put in their place. */
    if (kept.element_count > LEAT_ATM_SIGNAL_ELEMENTS_MAX - 3 ||
        leat_atm_signal_message_encode(&kept, c->setup, sizeof c->setup, &len))
        return LEAT_ATM_CAUSE_RESOURCES;
    c->setup_len = (uint16_t)len;
    return 0;
}

static uint8_t read_setup(struct leat_atm_node *n, uint32_t half,
                          const struct leat_atm_node_message *m,
                          struct leat_atm_node_number *called)
{
    struct leat_atm_node_half *h = &n->half[half];
    struct leat_atm_node_connection *c = connection_of(n, half);
    uint8_t cause = read_number(m->view, called);
    if (cause) return cause;
    const leat_err err = leat_atm_signal_contract_find(m->view, n->config.cdvt_ps, &c->contract);
    if (err) return err == LEAT_ERR_FIELD ? LEAT_ATM_CAUSE_MISSING : LEAT_ATM_CAUSE_CONTENTS;
    if (c->contract.multipoint && !m->has_endpoint) return LEAT_ATM_CAUSE_MISSING;
    if (!n->link[h->link].labels) {
        if (!m->has_label) return LEAT_ATM_CAUSE_MISSING;
        h->has_label = true;
        h->label = m->label;
    }
    cause = take_label(n, half);
    return cause ? cause : keep_setup(c, m->view);
}

static void count_refusal(struct leat_atm_node *n, uint8_t cause)
{
    n->counts.refused[cause & 127]++;
}

/* The party that a SETUP of a point-to-multipoint call brings. */
static uint8_t begin_first_party(struct leat_atm_node *n, leat_time now, uint32_t connection,
                                 uint16_t reference, const struct leat_atm_node_number *called,
                                 uint32_t branch)
{
    const uint32_t party = leat_atm_node_party_take(n, connection);
    if (party == NONE) return LEAT_ATM_CAUSE_RESOURCES;
    struct leat_atm_node_party *p = &n->party[party];
    p->first = true;
    p->in_reference = reference;
    p->called = *called;
    p->branch = branch;
    do_party(n, now, party, true, LEAT_ATM_PARTY_JOIN_ASKED, 0);
    do_party(n, now, party, false, LEAT_ATM_PARTY_JOIN, 0);
    return 0;
}

static uint8_t offer(struct leat_atm_node *n, leat_time now, uint32_t half,
                     const struct leat_atm_node_message *m)
{
    const uint32_t connection = n->half[half].connection;
    struct leat_atm_node_number called = { 0 };
    uint32_t link = NONE, branch = NONE;
    uint8_t cause = read_setup(n, half, m, &called);
    if (!cause) cause = find_route(n, n->half[half].link, &called, &link);
    if (!cause) cause = begin_branch(n, connection, link, &called, &branch);
    if (!cause && n->connection[connection].contract.multipoint)
        cause = begin_first_party(n, now, connection, m->endpoint, &called, branch);
    if (!cause) do_half(n, now, branch, LEAT_ATM_CALL_DO_SETUP, 0);
    return cause;
}

void leat_atm_node_on_setup(struct leat_atm_node *n, leat_time now, uint32_t half,
                            const struct leat_atm_node_message *m)
{
    step_half(n, now, half,
              &(struct leat_atm_call_in){ LEAT_ATM_CALL_MESSAGE, LEAT_ATM_SIGNAL_SETUP, 0, 0 });
    const uint8_t cause = offer(n, now, half, m);
    if (cause) {
        count_refusal(n, cause);
        end_half(n, now, half, cause);
    } else {
        do_half(n, now, half, LEAT_ATM_CALL_DO_PROCEED, 0);
    }
}

/* ---- parties -------------------------------------------------------------------------------- */

static bool in_lives(const struct leat_atm_node_party *p)
{
    return p->in.state == LEAT_ATM_PARTY_ADD_RECEIVED || p->in.state == LEAT_ATM_PARTY_ACTIVE;
}

/* Waits for its branch, is being added there, or is there. */
static bool out_lives(const struct leat_atm_node_party *p)
{
    if (p->lost) return false;
    return p->out.state == LEAT_ATM_PARTY_NULL || p->out.state == LEAT_ATM_PARTY_ADD_INITIATED ||
           p->out.state == LEAT_ATM_PARTY_ACTIVE;
}

/* Has the connection, or one branch of it, a party besides this one? */
static bool has_another(const struct leat_atm_node *n, uint32_t party, uint32_t branch)
{
    uint32_t i = n->connection[n->party[party].connection].parties;
    for (; i != NONE; i = n->party[i].next) {
        const struct leat_atm_node_party *p = &n->party[i];
        if (i == party || p->lost) continue;
        if (branch == NONE ? in_lives(p) : p->branch == branch && out_lives(p)) return true;
    }
    return false;
}

/* Towards the party: the last one of a branch ends the branch. */
static void drop_out(struct leat_atm_node *n, leat_time now, uint32_t party, uint8_t cause)
{
    struct leat_atm_node_party *p = &n->party[party];
    if (p->branch == NONE) return;
    if (!has_another(n, party, p->branch)) {
        if (p->out.state == LEAT_ATM_PARTY_DROP_RECEIVED)
            do_party(n, now, party, false, LEAT_ATM_PARTY_DO_DROP, cause);
        do_party(n, now, party, false, LEAT_ATM_PARTY_LEAVE, 0);
        end_half(n, now, p->branch, cause);
    } else {
        do_party(n, now, party, false, LEAT_ATM_PARTY_DO_DROP, cause);
    }
}

/* Towards the root: the last party ends the call. */
static void drop_in(struct leat_atm_node *n, leat_time now, uint32_t party, uint8_t cause)
{
    const uint32_t in = n->connection[n->party[party].connection].in;
    if (in == NONE || n->half[in].lost) return;
    if (!has_another(n, party, NONE)) {
        if (n->party[party].in.state == LEAT_ATM_PARTY_DROP_RECEIVED)
            do_party(n, now, party, true, LEAT_ATM_PARTY_DO_DROP, cause);
        end_half(n, now, in, cause);
    } else {
        do_party(n, now, party, true, LEAT_ATM_PARTY_DO_DROP, cause);
    }
}

/* One side has ended, or is about to. */
static void end_party(struct leat_atm_node *n, leat_time now, uint32_t party, uint8_t cause)
{
    if (n->party[party].lost) return;
    n->party[party].lost = true;
    drop_out(n, now, party, cause);
    drop_in(n, now, party, cause);
}

static void told_by_party(struct leat_atm_node *n, leat_time now, uint32_t index,
                          const struct leat_atm_party_out *out)
{
    switch (out->tell) {
    case LEAT_ATM_PARTY_NOTHING:
    case LEAT_ATM_PARTY_OFFERED: return; /* on_add_party goes on */
    case LEAT_ATM_PARTY_ADDED:
        n->counts.connected++;
        do_party(n, now, index, true, LEAT_ATM_PARTY_DO_ACCEPT, 0);
        return;
    case LEAT_ATM_PARTY_ENDING:
    case LEAT_ATM_PARTY_GIVEN_UP:
    case LEAT_ATM_PARTY_CLEARED: break;
    }
    end_party(n, now, index, out->told_cause);
}

/* The branch of a connection on this link that is not ending; NONE. */
static uint32_t find_branch(const struct leat_atm_node *n, uint32_t connection, uint32_t link)
{
    const struct leat_atm_node_connection *c = &n->connection[connection];
    for (uint32_t i = c->halves; i != NONE; i = n->half[i].next)
        if (i != c->in && n->half[i].link == link && !n->half[i].lost) return i;
    return NONE;
}

/* A new party goes to the branch on its link, or begins one. 0, or the cause of a refusal. */
static uint8_t add_to_branch(struct leat_atm_node *n, leat_time now, uint32_t party)
{
    struct leat_atm_node_party *p = &n->party[party];
    const uint32_t in = n->connection[p->connection].in;
    uint32_t link = NONE;
    uint8_t cause = find_route(n, n->half[in].link, &p->called, &link);
    if (cause) return cause;
    p->branch = find_branch(n, p->connection, link);
    if (p->branch != NONE) {
        p->out_reference = (uint16_t)(party + 1); /* 0 is that of the branch's first party */
        if (n->half[p->branch].call.state == LEAT_ATM_CALL_ACTIVE)
            do_party(n, now, party, false, LEAT_ATM_PARTY_DO_ADD, 0);
        return 0; /* or it waits until the branch is active */
    }
    uint32_t branch = NONE;
    cause = begin_branch(n, p->connection, link, &p->called, &branch);
    if (cause) return cause;
    p->branch = branch;
    do_party(n, now, party, false, LEAT_ATM_PARTY_JOIN, 0);
    do_half(n, now, branch, LEAT_ATM_CALL_DO_SETUP, 0);
    return 0;
}

/* The answer to a message about a party that does not exist. */
static void answer_no_party(struct leat_atm_node *n, leat_time now, uint32_t half,
                            const struct leat_atm_node_message *m, uint8_t cause)
{
    struct leat_atm_party none;
    struct leat_atm_party_in in = { LEAT_ATM_PARTY_MESSAGE, m->view->type, m->cause,
                                    m->party_state };
    struct leat_atm_party_out out;
    leat_atm_party_init(&none);
    leat_atm_party_step(&none, now, &n->config.timers, &in, &out);
    if (out.tell == LEAT_ATM_PARTY_OFFERED) {
        count_refusal(n, cause);
        in = (struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_DROP, .cause = cause };
        leat_atm_party_step(&none, now, &n->config.timers, &in, &out);
    }
    leat_atm_node_send_party(n, &n->half[half], m->endpoint, NULL, &out);
}

static void on_add_party(struct leat_atm_node *n, leat_time now, uint32_t half,
                         const struct leat_atm_node_message *m)
{
    const struct leat_atm_node_connection *c = connection_of(n, half);
    struct leat_atm_node_number called = { 0 };
    uint8_t cause = read_number(m->view, &called);
    if (!is_in(n, half) || !c->contract.multipoint || n->half[half].lost ||
        n->half[half].call.state != LEAT_ATM_CALL_ACTIVE)
        cause = LEAT_ATM_CAUSE_WRONG_STATE;
    const uint32_t party = cause ? NONE : leat_atm_node_party_take(n, n->half[half].connection);
    if (party == NONE) {
        answer_no_party(n, now, half, m, cause ? cause : LEAT_ATM_CAUSE_RESOURCES);
        return;
    }
    n->party[party].in_reference = m->endpoint;
    n->party[party].called = called;
    step_party(n, now, party, true,
               &(struct leat_atm_party_in){ LEAT_ATM_PARTY_MESSAGE, m->view->type, 0, 0 });
    cause = add_to_branch(n, now, party);
    if (!cause) return;
    count_refusal(n, cause);
    n->party[party].branch = NONE;
    end_party(n, now, party, cause);
}

static uint32_t find_party(struct leat_atm_node *n, uint32_t half, uint16_t reference)
{
    const bool in = is_in(n, half);
    uint32_t i = connection_of(n, half)->parties;
    for (; i != NONE; i = n->party[i].next) {
        const struct leat_atm_node_party *p = &n->party[i];
        if (in ? p->in_reference == reference && p->in.state != LEAT_ATM_PARTY_NULL
               : p->branch == half && p->out_reference == reference &&
                     p->out.state != LEAT_ATM_PARTY_NULL)
            return i;
    }
    return NONE;
}

void leat_atm_node_on_party(struct leat_atm_node *n, leat_time now, uint32_t half,
                            const struct leat_atm_node_message *m)
{
    const uint32_t party = find_party(n, half, m->endpoint);
    if (party != NONE)
        step_party(n, now, party, is_in(n, half),
                   &(struct leat_atm_party_in){ LEAT_ATM_PARTY_MESSAGE, m->view->type, m->cause,
                                                m->party_state });
    else if (m->view->type == LEAT_ATM_SIGNAL_ADD_PARTY)
        on_add_party(n, now, half, m);
    else
        answer_no_party(n, now, half, m, LEAT_ATM_CAUSE_NO_SUCH_PARTY);
}

/* ---- a branch is answered ------------------------------------------------------------------- */

static void join_parties(struct leat_atm_node *n, leat_time now, uint32_t branch)
{
    uint32_t i = connection_of(n, branch)->parties, next;
    for (; i != NONE; i = next) {
        struct leat_atm_node_party *p = &n->party[i];
        next = p->next;
        if (p->branch != branch || p->lost) continue;
        if (p->out.state == LEAT_ATM_PARTY_NULL) { /* it waited */
            do_party(n, now, i, false, LEAT_ATM_PARTY_DO_ADD, 0);
            continue;
        }
        do_party(n, now, i, false, LEAT_ATM_PARTY_JOINED, 0);
        do_party(n, now, i, true, p->first ? LEAT_ATM_PARTY_JOINED : LEAT_ATM_PARTY_DO_ACCEPT, 0);
    }
}

static void answered(struct leat_atm_node *n, leat_time now, uint32_t branch)
{
    const uint32_t in = connection_of(n, branch)->in;
    if (!n->half[branch].has_label) {
        end_half(n, now, branch, LEAT_ATM_CAUSE_MISSING);
        return;
    }
    n->counts.connected++;
    do_half(n, now, branch, LEAT_ATM_CALL_DO_COMPLETE, 0); /* a user has sent it already */
    translate(n, branch, LEAT_ATM_NODE_ENTER);
    do_half(n, now, in, LEAT_ATM_CALL_DO_CONNECT, 0); /* nothing, if another branch was first */
    join_parties(n, now, branch);
}

/* ---- calls end ------------------------------------------------------------------------------ */

/* All other half calls of the connection end with the one that came in, and so do its parties. */
static void end_connection(struct leat_atm_node *n, leat_time now, uint32_t connection,
                           uint8_t cause)
{
    const struct leat_atm_node_connection *c = &n->connection[connection];
    for (uint32_t i = c->parties; i != NONE; i = n->party[i].next) {
        n->party[i].lost = true;
        do_party(n, now, i, true, LEAT_ATM_PARTY_LEAVE, 0);
        do_party(n, now, i, false, LEAT_ATM_PARTY_LEAVE, 0);
    }
    for (uint32_t i = c->halves; i != NONE; i = n->half[i].next)
        end_half(n, now, i, cause);
}

/* A branch has ended: its parties too, or the whole call if it has no others. */
static void end_branch(struct leat_atm_node *n, leat_time now, uint32_t branch, uint8_t cause)
{
    const struct leat_atm_node_connection *c = connection_of(n, branch);
    if (!c->contract.multipoint) {
        if (c->in != NONE) end_half(n, now, c->in, cause);
        return;
    }
    for (uint32_t i = c->parties; i != NONE; i = n->party[i].next) {
        if (n->party[i].branch != branch) continue;
        do_party(n, now, i, false, LEAT_ATM_PARTY_LEAVE, 0);
        n->party[i].branch = NONE;
        end_party(n, now, i, cause);
    }
}

/* The half call releases, or agrees; whatever hangs on it ends, once. */
static void end_half(struct leat_atm_node *n, leat_time now, uint32_t index, uint8_t cause)
{
    struct leat_atm_node_half *h = &n->half[index];
    if (h->lost) return;
    h->lost = true;
    if (h->translated) translate(n, index, LEAT_ATM_NODE_REMOVE);
    do_half(n, now, index, LEAT_ATM_CALL_DO_RELEASE, cause);
    if (is_in(n, index))
        end_connection(n, now, h->connection, cause);
    else
        end_branch(n, now, index, cause);
}

static void told_by_call(struct leat_atm_node *n, leat_time now, uint32_t index,
                         const struct leat_atm_call_out *out)
{
    switch (out->tell) {
    case LEAT_ATM_CALL_NOTHING:
    case LEAT_ATM_CALL_OFFERED: /* on_setup goes on */
    case LEAT_ATM_CALL_PROCEEDS:
    case LEAT_ATM_CALL_CONFIRMED: return;
    case LEAT_ATM_CALL_ANSWERED: answered(n, now, index); return;
    case LEAT_ATM_CALL_ENDING:
    case LEAT_ATM_CALL_GIVEN_UP:
    case LEAT_ATM_CALL_CLEARED: end_half(n, now, index, out->told_cause); return;
    }
}

/* ---- messages and timers of calls ----------------------------------------------------------- */

void leat_atm_node_on_call(struct leat_atm_node *n, leat_time now, uint32_t half,
                           const struct leat_atm_node_message *m)
{
    struct leat_atm_node_half *h = &n->half[half];
    if (m->has_label && h->ours && !h->has_label && !n->link[h->link].labels) {
        h->has_label = true;
        h->label = m->label;
    }
    step_half(
        n, now, half,
        &(struct leat_atm_call_in){ LEAT_ATM_CALL_MESSAGE, m->view->type, m->cause, m->state });
}

void leat_atm_node_on_half_timer(struct leat_atm_node *n, leat_time now, uint32_t half)
{
    step_half(n, now, half, &(struct leat_atm_call_in){ .event = LEAT_ATM_CALL_TIMER });
}

void leat_atm_node_on_party_timer(struct leat_atm_node *n, leat_time now, uint32_t party)
{
    const struct leat_atm_party_in timer = { .event = LEAT_ATM_PARTY_TIMER };
    step_party(n, now, party, true, &timer);
    step_party(n, now, party, false, &timer);
}
