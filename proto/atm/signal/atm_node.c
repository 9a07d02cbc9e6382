#include "atm_node_parts.h"
#include "leat_arena.h"
#include <assert.h>
#include <stdalign.h>
#include <string.h>

#define NONE LEAT_ATM_NODE_NONE

enum { LOCATION = 1 }; /* of causes: the private network serving the local user */

/* ---- memory --------------------------------------------------------------------------------- */

leat_err leat_atm_node_check(const struct leat_atm_node_config *c)
{
    struct leat_atm_cac_link cac;
    if (c->link_count < 1 || c->link_count > LEAT_ATM_NODE_LINKS_MAX) return LEAT_ERR_RANGE;
    if (c->calls_max < 1 || c->calls_max > LEAT_ATM_NODE_CALLS_MAX) return LEAT_ERR_RANGE;
    if (c->half_calls_max < 1 || c->half_calls_max > LEAT_ATM_NODE_CALLS_MAX) return LEAT_ERR_RANGE;
    if (c->parties_max >= 1 << 15) return LEAT_ERR_RANGE; /* references have 15 bits */
    for (uint32_t i = 0; i < c->link_count; i++) {
        const struct leat_atm_node_link_config *l = &c->link[i];
        leat_err err = leat_atm_cac_link_init(&cac, &l->cac);
        if (!err && l->side == LEAT_ATM_CALL_NETWORK) err = leat_atm_label_range_check(&l->labels);
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

/* Lays all pools; `n` may be NULL to measure. */
static void *lay(struct leat_arena *a, const struct leat_atm_node_config *c)
{
    struct leat_atm_node *n = leat_arena_lay(a, 1, sizeof *n);
    struct leat_atm_node_link *link = leat_arena_lay(a, c->link_count, sizeof *link);
    void *connection = leat_arena_lay(a, c->calls_max, sizeof *n->connection);
    void *half = leat_arena_lay(a, c->half_calls_max, sizeof *n->half);
    void *party = leat_arena_lay(a, c->parties_max, sizeof *n->party);
    void *bucket = leat_arena_lay(a, c->half_calls_max, sizeof *n->bucket);
    for (uint32_t i = 0; i < c->link_count; i++) {
        if (c->link[i].side != LEAT_ATM_CALL_NETWORK) {
            if (n) link[i].labels = NULL;
            continue;
        }
        const size_t len = leat_atm_labels_footprint(&c->link[i].labels);
        void *labels = leat_arena_lay(a, 1, len);
        if (!n) continue;
        const leat_err err = leat_atm_labels_init(labels, len, &c->link[i].labels, &link[i].labels);
        assert(err == LEAT_ERR_OK);
    }
    if (!n) return NULL;
    memset(n, 0, sizeof *n);
    n->link = link;
    n->connection = connection;
    n->half = half;
    n->party = party;
    n->bucket = bucket;
    return n;
}

size_t leat_atm_node_footprint(const struct leat_atm_node_config *config)
{
    struct leat_arena a;
    leat_arena_init(&a, NULL, 0);
    lay(&a, config);
    return a.used;
}

leat_err leat_atm_node_init(void *memory, size_t memory_len,
                            const struct leat_atm_node_config *config, struct leat_atm_node **out)
{
    struct leat_arena a;
    const leat_err err = leat_atm_node_check(config);
    if (err) return err;
    if (memory_len < leat_atm_node_footprint(config) || (uintptr_t)memory % alignof(max_align_t))
        return LEAT_ERR_MEMORY;
    leat_arena_init(&a, memory, memory_len);
    struct leat_atm_node *n = lay(&a, config);
    n->config = *config;
    n->config.link = NULL;
    n->due_at = LEAT_NEVER;
    for (uint32_t i = 0; i < config->link_count; i++) {
        n->link[i].config = config->link[i];
        leat_atm_cac_link_init(&n->link[i].cac, &config->link[i].cac);
    }
    for (uint32_t i = config->calls_max; i-- > 0;)
        n->connection[i] = (struct leat_atm_node_connection){ .next = i + 1 };
    for (uint32_t i = config->half_calls_max; i-- > 0;) {
        n->half[i] = (struct leat_atm_node_half){ .next = i + 1 };
        n->bucket[i] = NONE;
    }
    for (uint32_t i = config->parties_max; i-- > 0;)
        n->party[i] = (struct leat_atm_node_party){ .next = i + 1 };
    *out = n;
    return LEAT_ERR_OK;
}

uint32_t leat_atm_node_connection_take(struct leat_atm_node *n)
{
    const uint32_t index = n->free_connection;
    if (index == n->config.calls_max) return NONE;
    n->free_connection = n->connection[index].next;
    n->connection[index] = (struct leat_atm_node_connection){
        .used = true, .in = NONE, .halves = NONE, .parties = NONE
    };
    n->counts.calls++;
    return index;
}

static uint32_t *bucket_of(const struct leat_atm_node *n, uint32_t link, uint32_t reference)
{
    return &n->bucket[(reference + link * UINT64_C(2654435761)) % n->config.half_calls_max];
}

uint32_t leat_atm_node_half_find(const struct leat_atm_node *n, uint32_t link, uint32_t reference,
                                 bool ours)
{
    uint32_t index = *bucket_of(n, link, reference);
    for (; index != NONE; index = n->half[index].next_hash) {
        const struct leat_atm_node_half *h = &n->half[index];
        if (h->link == link && h->reference == reference && h->ours == ours) return index;
    }
    return NONE;
}

uint32_t leat_atm_node_half_take(struct leat_atm_node *n, uint32_t connection, uint32_t link,
                                 uint32_t reference, bool ours)
{
    const uint32_t index = n->free_half;
    if (index == n->config.half_calls_max) return NONE;
    struct leat_atm_node_half *h = &n->half[index];
    uint32_t *bucket = bucket_of(n, link, reference);
    n->free_half = h->next;
    n->half_top = (uint32_t)leat_larger(n->half_top, index + 1);
    *h = (struct leat_atm_node_half){ .link = link,
                                      .reference = reference,
                                      .connection = connection,
                                      .used = true,
                                      .ours = ours,
                                      .next = n->connection[connection].halves,
                                      .next_hash = *bucket };
    leat_atm_call_init(&h->call, n->link[link].config.side);
    n->connection[connection].halves = *bucket = index;
    n->counts.half_calls++;
    return index;
}

uint32_t leat_atm_node_party_take(struct leat_atm_node *n, uint32_t connection)
{
    const uint32_t index = n->free_party;
    if (index == n->config.parties_max) return NONE;
    struct leat_atm_node_party *p = &n->party[index];
    n->free_party = p->next;
    n->party_top = (uint32_t)leat_larger(n->party_top, index + 1);
    *p = (struct leat_atm_node_party){ .connection = connection,
                                       .branch = NONE,
                                       .used = true,
                                       .next = n->connection[connection].parties };
    leat_atm_party_init(&p->in);
    leat_atm_party_init(&p->out);
    n->connection[connection].parties = index;
    n->counts.parties++;
    return index;
}

/* At most half_calls_max references are taken, so the search ends. */
uint32_t leat_atm_node_reference_choose(struct leat_atm_node *n, uint32_t link)
{
    do {
        n->reference = n->reference % LEAT_ATM_SIGNAL_CALL_MAX + 1;
    } while (leat_atm_node_half_find(n, link, n->reference, true) != NONE);
    return n->reference;
}

static void half_free(struct leat_atm_node *n, uint32_t index)
{
    struct leat_atm_node_half *h = &n->half[index];
    struct leat_atm_node_link *link = &n->link[h->link];
    struct leat_atm_cac_link *path = &link->cac;
    uint32_t *at = bucket_of(n, h->link, h->reference);
    while (*at != index)
        at = &n->half[*at].next_hash;
    *at = h->next_hash;
    assert(!h->translated);
    if (h->has_label && link->labels) leat_atm_labels_give(link->labels, h->label);
    if (h->booked) leat_atm_cac_release(&h->contract, &path, 1);
    *h = (struct leat_atm_node_half){ .next = n->free_half };
    n->free_half = index;
    n->counts.half_calls--;
}

static void parties_collect(struct leat_atm_node *n, struct leat_atm_node_connection *c)
{
    for (uint32_t *at = &c->parties; *at != NONE;) {
        const uint32_t index = *at;
        struct leat_atm_node_party *p = &n->party[index];
        if (p->in.state != LEAT_ATM_PARTY_NULL || p->out.state != LEAT_ATM_PARTY_NULL) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        *p = (struct leat_atm_node_party){ .next = n->free_party };
        n->free_party = index;
        n->counts.parties--;
    }
}

void leat_atm_node_collect(struct leat_atm_node *n, uint32_t connection)
{
    struct leat_atm_node_connection *c = &n->connection[connection];
    for (uint32_t *at = &c->halves; *at != NONE;) {
        const uint32_t index = *at;
        if (n->half[index].call.state != LEAT_ATM_CALL_NULL) {
            at = &n->half[index].next;
            continue;
        }
        if (c->in == index) c->in = NONE;
        *at = n->half[index].next;
        half_free(n, index);
    }
    parties_collect(n, c);
    if (c->halves != NONE) return;
    assert(c->parties == NONE);
    *c = (struct leat_atm_node_connection){ .next = n->free_connection };
    n->free_connection = connection;
    n->counts.calls--;
}

/* ---- messages out --------------------------------------------------------------------------- */

void leat_atm_node_due(struct leat_atm_node *n, leat_time due_at)
{
    n->due_at = leat_smaller(n->due_at, due_at);
}

static void add(struct leat_atm_node *n, const struct leat_atm_signal_content *content)
{
    const leat_err err = leat_atm_signal_build_add(&n->builder, content);
    assert(err == LEAT_ERR_OK);
}

static void add_cause(struct leat_atm_node *n, uint8_t cause)
{
    struct leat_atm_signal_content c = { .id = LEAT_ATM_SIGNAL_CAUSE };
    c.value[LEAT_ATM_SIGNAL_CAUSE_LOCATION] = LOCATION;
    c.value[LEAT_ATM_SIGNAL_CAUSE_VALUE] = cause & 127;
    add(n, &c);
}

static void add_state(struct leat_atm_node *n, uint8_t id, uint8_t state)
{
    struct leat_atm_signal_content c = { .id = id };
    c.value[LEAT_ATM_SIGNAL_STATE] = state;
    add(n, &c);
}

static void add_label(struct leat_atm_node *n, const struct leat_atm_node_half *h)
{
    struct leat_atm_signal_content c = { .id = LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER };
    if (!h->has_label || !n->link[h->link].labels) return;
    c.value[LEAT_ATM_SIGNAL_CONNECTION_ASSOCIATED] = 1;
    c.value[LEAT_ATM_SIGNAL_CONNECTION_VPCI] = h->label.vpi;
    c.value[LEAT_ATM_SIGNAL_CONNECTION_VCI] = h->label.vci;
    add(n, &c);
}

/* The flag is that of the call: the root's side chooses both references. */
static void add_endpoint(struct leat_atm_node *n, bool to_root, uint16_t reference)
{
    struct leat_atm_signal_content c = { .id = LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE };
    c.value[LEAT_ATM_SIGNAL_ENDPOINT_FLAG] = to_root;
    c.value[LEAT_ATM_SIGNAL_ENDPOINT_VALUE] = reference;
    add(n, &c);
}

static void add_number(struct leat_atm_node *n, const struct leat_atm_node_number *called)
{
    const struct leat_atm_signal_element e = { .id = LEAT_ATM_SIGNAL_CALLED_NUMBER,
                                               .instruction = LEAT_ATM_SIGNAL_INSTRUCTION,
                                               .octets = called->octets,
                                               .len = called->len };
    const leat_err err = leat_atm_signal_build_carry(&n->builder, &e);
    assert(err == LEAT_ERR_OK);
}

static void add_setup(struct leat_atm_node *n, const struct leat_atm_node_half *h)
{
    const struct leat_atm_node_connection *c = &n->connection[h->connection];
    struct leat_atm_signal_message kept;
    leat_err err = leat_atm_signal_message_decode(c->setup, c->setup_len, &kept, NULL);
    for (unsigned i = 0; i < kept.element_count && !err; i++)
        err = leat_atm_signal_build_carry(&n->builder, &kept.element[i]);
    assert(err == LEAT_ERR_OK);
    add_number(n, &h->called);
    add_label(n, h);
    if (c->contract.multipoint) add_endpoint(n, false, 0);
}

static void send_built(struct leat_atm_node *n, uint32_t link)
{
    size_t len = 0;
    const leat_err err = leat_atm_signal_message_encode(&n->builder.message, n->octets,
                                                        sizeof n->octets, &len);
    assert(err == LEAT_ERR_OK);
    n->config.act(n->config.context,
                  &(struct leat_atm_node_action){
                      .what = LEAT_ATM_NODE_SEND, .link = link, .octets = n->octets, .len = len });
}

/* The endpoint reference of the party that a branch, or a call that came in, began with. */
static uint16_t first_reference(const struct leat_atm_node *n, const struct leat_atm_node_half *h)
{
    if (h->ours) return 0;
    uint32_t p = n->connection[h->connection].parties;
    for (; p != NONE; p = n->party[p].next)
        if (n->party[p].first) return n->party[p].in_reference;
    return 0;
}

void leat_atm_node_send_call(struct leat_atm_node *n, const struct leat_atm_node_half *h,
                             const struct leat_atm_call_out *out)
{
    if (!out->send) return;
    const enum leat_atm_signal_type type = (enum leat_atm_signal_type)out->send;
    leat_atm_signal_build(&n->builder, type, h->reference, !h->ours);
    if (type == LEAT_ATM_SIGNAL_SETUP) add_setup(n, h);
    if (type == LEAT_ATM_SIGNAL_CALL_PROCEEDING || type == LEAT_ATM_SIGNAL_CONNECT) {
        add_label(n, h);
        if (n->connection[h->connection].contract.multipoint)
            add_endpoint(n, !h->ours, first_reference(n, h));
    }
    if (type == LEAT_ATM_SIGNAL_STATUS) add_state(n, LEAT_ATM_SIGNAL_CALL_STATE, out->state);
    if (type == LEAT_ATM_SIGNAL_STATUS || type == LEAT_ATM_SIGNAL_RELEASE ||
        type == LEAT_ATM_SIGNAL_RELEASE_COMPLETE)
        add_cause(n, out->cause);
    send_built(n, h->link);
}

void leat_atm_node_send_party(struct leat_atm_node *n, const struct leat_atm_node_half *h,
                              uint16_t reference, const struct leat_atm_node_number *called,
                              const struct leat_atm_party_out *out)
{
    if (!out->send) return;
    const enum leat_atm_signal_type type = (enum leat_atm_signal_type)out->send;
    leat_atm_signal_build(&n->builder, type, h->reference, !h->ours);
    if (type == LEAT_ATM_SIGNAL_ADD_PARTY) add_number(n, called);
    if (type == LEAT_ATM_SIGNAL_STATUS)
        add_state(n, LEAT_ATM_SIGNAL_CALL_STATE, (uint8_t)h->call.state);
    if (type != LEAT_ATM_SIGNAL_ADD_PARTY && type != LEAT_ATM_SIGNAL_ADD_PARTY_ACK &&
        type != LEAT_ATM_SIGNAL_STATUS_ENQUIRY)
        add_cause(n, out->cause);
    add_endpoint(n, !h->ours, reference);
    if (type == LEAT_ATM_SIGNAL_STATUS) add_state(n, LEAT_ATM_SIGNAL_ENDPOINT_STATE, out->state);
    send_built(n, h->link);
}

/* ---- messages in ---------------------------------------------------------------------------- */

/* One field of an element; false: the element is not there, or wrong. */
static bool find_field(const struct leat_atm_signal_message *m, enum leat_atm_signal_id id,
                       struct leat_atm_signal_content *c)
{
    const struct leat_atm_signal_element *e = leat_atm_signal_message_find(m, id);
    return e && leat_atm_signal_content_decode(e, c) == LEAT_ERR_OK;
}

/* A STATUS without a state is taken for one that agrees: it ends nothing. */
static struct leat_atm_node_message read_message(const struct leat_atm_signal_message *view)
{
    struct leat_atm_node_message m = { .view = view,
                                       .cause = LEAT_ATM_CAUSE_NORMAL,
                                       .state = LEAT_ATM_CALL_ACTIVE,
                                       .party_state = LEAT_ATM_PARTY_ACTIVE };
    struct leat_atm_signal_content c;
    if (find_field(view, LEAT_ATM_SIGNAL_CAUSE, &c))
        m.cause = (uint8_t)c.value[LEAT_ATM_SIGNAL_CAUSE_VALUE];
    if (find_field(view, LEAT_ATM_SIGNAL_CALL_STATE, &c))
        m.state = (uint8_t)c.value[LEAT_ATM_SIGNAL_STATE];
    if (find_field(view, LEAT_ATM_SIGNAL_ENDPOINT_STATE, &c))
        m.party_state = (uint8_t)c.value[LEAT_ATM_SIGNAL_STATE];
    m.has_endpoint = find_field(view, LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE, &c);
    if (m.has_endpoint) m.endpoint = (uint16_t)c.value[LEAT_ATM_SIGNAL_ENDPOINT_VALUE];
    if (find_field(view, LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER, &c) &&
        c.value[LEAT_ATM_SIGNAL_CONNECTION_VPCI] <= LEAT_ATM_LABEL_VPI_MAX &&
        c.value[LEAT_ATM_SIGNAL_CONNECTION_VCI] >= LEAT_ATM_LABEL_VCI_MIN) {
        m.has_label = true;
        m.label = (struct leat_atm_label){ (uint16_t)c.value[LEAT_ATM_SIGNAL_CONNECTION_VPCI],
                                           (uint16_t)c.value[LEAT_ATM_SIGNAL_CONNECTION_VCI] };
    }
    return m;
}

/* The answer of a call that does not exist; a SETUP for which there is no room is refused. */
static void answer_unknown(struct leat_atm_node *n, leat_time now, uint32_t link,
                           const struct leat_atm_node_message *m, bool ours)
{
    struct leat_atm_node_half none = { .link = link, .reference = m->view->call, .ours = ours };
    struct leat_atm_call_in in = { LEAT_ATM_CALL_MESSAGE, m->view->type, m->cause, m->state };
    struct leat_atm_call_out out;
    leat_atm_call_init(&none.call, n->link[link].config.side);
    leat_atm_call_step(&none.call, now, &n->config.timers, &in, &out);
    if (out.tell == LEAT_ATM_CALL_OFFERED) {
        in = (struct leat_atm_call_in){ .event = LEAT_ATM_CALL_DO_RELEASE,
                                        .cause = LEAT_ATM_CAUSE_RESOURCES };
        leat_atm_call_step(&none.call, now, &n->config.timers, &in, &out);
        n->counts.refused[LEAT_ATM_CAUSE_RESOURCES]++;
    }
    leat_atm_node_send_call(n, &none, &out);
}

static bool is_of_party(const struct leat_atm_node_message *m)
{
    switch ((enum leat_atm_signal_type)m->view->type) {
    case LEAT_ATM_SIGNAL_ADD_PARTY:
    case LEAT_ATM_SIGNAL_ADD_PARTY_ACK:
    case LEAT_ATM_SIGNAL_ADD_PARTY_REJECT:
    case LEAT_ATM_SIGNAL_DROP_PARTY:
    case LEAT_ATM_SIGNAL_DROP_PARTY_ACK:
    case LEAT_ATM_SIGNAL_STATUS:
    case LEAT_ATM_SIGNAL_STATUS_ENQUIRY: return m->has_endpoint;
    case LEAT_ATM_SIGNAL_SETUP:
    case LEAT_ATM_SIGNAL_CALL_PROCEEDING:
    case LEAT_ATM_SIGNAL_CONNECT:
    case LEAT_ATM_SIGNAL_CONNECT_ACK:
    case LEAT_ATM_SIGNAL_RELEASE:
    case LEAT_ATM_SIGNAL_RELEASE_COMPLETE: break;
    }
    return false;
}

/* A SETUP of a new call; NONE: there is no room. */
static uint32_t begin(struct leat_atm_node *n, uint32_t link, uint32_t reference)
{
    if (n->free_half == n->config.half_calls_max) return NONE;
    const uint32_t connection = leat_atm_node_connection_take(n);
    if (connection == NONE) return NONE;
    const uint32_t half = leat_atm_node_half_take(n, connection, link, reference, false);
    n->connection[connection].in = half;
    return half;
}

leat_err leat_atm_node_receive(struct leat_atm_node *n, leat_time now, uint32_t link,
                               const uint8_t *octets, size_t len)
{
    struct leat_atm_signal_message view;
    assert(link < n->config.link_count);
    const leat_err err = leat_atm_signal_message_decode(octets, len, &view, NULL);
    if (err || view.call == 0) return err; /* reference 0: all calls; not of the subset */
    const struct leat_atm_node_message m = read_message(&view);
    uint32_t half = leat_atm_node_half_find(n, link, view.call, view.to_originator);
    const bool fresh = half == NONE && view.type == LEAT_ATM_SIGNAL_SETUP && !view.to_originator;
    if (fresh) n->counts.offered++;
    if (fresh) half = begin(n, link, view.call);
    if (half == NONE) {
        answer_unknown(n, now, link, &m, view.to_originator);
        return LEAT_ERR_OK;
    }
    const uint32_t connection = n->half[half].connection;
    if (fresh)
        leat_atm_node_on_setup(n, now, half, &m);
    else if (is_of_party(&m))
        leat_atm_node_on_party(n, now, half, &m);
    else
        leat_atm_node_on_call(n, now, half, &m);
    leat_atm_node_collect(n, connection);
    return LEAT_ERR_OK;
}

/* ---- time ----------------------------------------------------------------------------------- */

leat_time leat_atm_node_due_at(const struct leat_atm_node *n)
{
    return n->due_at;
}

leat_time leat_atm_node_run(struct leat_atm_node *n, leat_time now)
{
    if (now < n->due_at) return n->due_at;
    n->due_at = LEAT_NEVER;
    for (uint32_t i = 0; i < n->half_top; i++) {
        if (!n->half[i].used || n->half[i].call.due_at > now) continue;
        const uint32_t connection = n->half[i].connection;
        leat_atm_node_on_half_timer(n, now, i);
        leat_atm_node_collect(n, connection);
    }
    for (uint32_t i = 0; i < n->party_top; i++) {
        struct leat_atm_node_party *p = &n->party[i];
        if (!p->used || leat_smaller(p->in.due_at, p->out.due_at) > now) continue;
        const uint32_t connection = p->connection;
        leat_atm_node_on_party_timer(n, now, i);
        leat_atm_node_collect(n, connection);
    }
    for (uint32_t i = 0; i < n->half_top; i++)
        if (n->half[i].used) leat_atm_node_due(n, n->half[i].call.due_at);
    for (uint32_t i = 0; i < n->party_top; i++)
        if (n->party[i].used)
            leat_atm_node_due(n, leat_smaller(n->party[i].in.due_at, n->party[i].out.due_at));
    return n->due_at;
}

/* ---- views ---------------------------------------------------------------------------------- */

const struct leat_atm_node_counts *leat_atm_node_counts(const struct leat_atm_node *n)
{
    return &n->counts;
}

uint32_t leat_atm_node_labels_free(const struct leat_atm_node *n, uint32_t link)
{
    assert(link < n->config.link_count);
    return n->link[link].labels ? leat_atm_labels_free(n->link[link].labels) : 0;
}

const struct leat_atm_cac_link *leat_atm_node_cac(const struct leat_atm_node *n, uint32_t link)
{
    assert(link < n->config.link_count);
    return &n->link[link].cac;
}
