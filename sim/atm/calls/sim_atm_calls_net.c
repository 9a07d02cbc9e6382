/* Lines, queues, tables of labels, and the call control of switches. */
#include "sim_atm_calls_parts.h"
#include <string.h>

enum { PAYLOAD_AT = LEAT_ATM_HEADER_LEN, HALF_CALLS_PER_CALL = 3, PARTIES_PER_CALL = 2 };
enum { CALLS_OF_ALL_NODES = 65536, CALLS_OF_NODE = 1024, CALLS_OF_NODE_MIN = 64 };

/* ---- cells ----------------------------------------------------------------------------------- */

uint32_t leat_sim_atm_calls_take_cell(struct leat_sim_atm_calls *s)
{
    uint32_t index = NONE;
    if (s->cells_free) {
        index = s->cells_free - 1;
        s->cells_free = s->cell[index].next;
    } else if (s->cells_top < s->cells) {
        index = s->cells_top++;
    }
    return index;
}

void leat_sim_atm_calls_free_cell(struct leat_sim_atm_calls *s, uint32_t cell)
{
    s->cell[cell].next = s->cells_free;
    s->cells_free = cell + 1;
}

static uint16_t vci_of(const uint8_t *octets)
{
    return (uint16_t)((octets[1] & 15u) << 12 | (unsigned)octets[2] << 4 | octets[3] >> 4);
}

/* VPI 0; the rest of the octets stays. */
static void set_vci(uint8_t *octets, uint16_t vci)
{
    octets[1] = (uint8_t)((octets[1] & 0xf0) | vci >> 12);
    octets[2] = (uint8_t)(vci >> 4);
    octets[3] = (uint8_t)((unsigned)vci << 4 | (octets[3] & 15u));
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_data(const struct leat_sim_atm_calls *s, uint32_t cell)
{
    return vci_of(s->cell[cell].octets) != LEAT_ATM_SIGNAL_VCI;
}

void leat_sim_atm_calls_put(struct leat_sim_atm_calls *s, uint32_t link, uint32_t cell,
                            unsigned level)
{
    const struct leat_atm_queue_item item = { .handle = cell, .level = (uint8_t)level };
    if (leat_atm_queue_put(s->link[link].queue, item)) {
        if (leat_sim_agenda_due(&s->agenda, SERVICES, link) == LEAT_NEVER)
            leat_sim_agenda_set(&s->agenda, SERVICES, link, s->now);
        return;
    }
    *(is_data(s, cell) ? &s->counts.cells_lost : &s->counts.signal_lost) += 1;
    leat_sim_atm_calls_free_cell(s, cell);
}

static bool has_cells(const struct link *l)
{
    for (unsigned level = 0; level < LEAT_ATM_LEVEL_COUNT; level++)
        if (leat_atm_queue_len(l->queue, level)) return true;
    return false;
}

/* The line takes the next cell of its queue in this slot. */
void leat_sim_atm_calls_serve(struct leat_sim_atm_calls *s, uint32_t link)
{
    struct link *l = &s->link[link];
    const uint32_t slots = s->graph->link[link].slots;
    struct leat_atm_queue_item item;
    if (!leat_atm_queue_take(l->queue, &item)) return;
    if (s->config.carried)
        s->config.carried(s->config.context, link, s->now, s->cell[item.handle].octets);
    l->use.cells++;
    l->use.signal_cells += !is_data(s, item.handle);
    l->flying[(l->first + l->count++) % (slots + 1)] = (struct flying){ s->now + slots,
                                                                        item.handle };
    if (l->count == 1) leat_sim_agenda_set(&s->agenda, ARRIVALS, link, s->now + slots);
    if (has_cells(l)) leat_sim_agenda_set(&s->agenda, SERVICES, link, s->now + 1);
}

void leat_sim_atm_calls_say(struct leat_sim_atm_calls *s, uint32_t link, const uint8_t *octets,
                            size_t len)
{
    const struct leat_atm_cell like = { .interface = LEAT_ATM_UNI, .vci = LEAT_ATM_SIGNAL_VCI };
    const struct leat_atm_aal5_pdu pdu = { .payload = octets, .payload_len = len };
    struct leat_atm_aal5_sender sender;
    leat_sim_must(!leat_atm_aal5_sender_init(&sender, &like));
    leat_sim_must(!leat_atm_aal5_sender_begin(&sender, &pdu));
    s->counts.messages++;
    for (;;) {
        uint8_t one[LEAT_ATM_CELL_LEN];
        if (!leat_atm_aal5_sender_cells(&sender, one, 1)) return;
        s->counts.signal_cells++;
        const uint32_t cell = leat_sim_atm_calls_take_cell(s);
        if (cell == NONE) {
            s->counts.signal_lost++;
            continue;
        }
        memcpy(s->cell[cell].octets, one, sizeof one);
        leat_sim_atm_calls_put(s, link, cell, LEVEL_SIGNAL);
    }
}

/* ---- switches -------------------------------------------------------------------------------- */

static uint32_t out_of(const struct leat_sim_atm_calls *s, uint32_t node, uint32_t line)
{
    return s->graph->out[s->graph->out_first[node] + line];
}

static uint32_t in_of(const struct leat_sim_atm_calls *s, uint32_t node, uint32_t line)
{
    return out_of(s, node, line) ^ 1;
}

/* By the level that the sender chose: the first octet of the payload. Copies keep it. */
static unsigned level_of(const uint8_t *octets)
{
    return octets[PAYLOAD_AT];
}

/* A cell of a call at a switch: a copy for each branch, the last one in its own place. */
static void forward(struct leat_sim_atm_calls *s, uint32_t node, uint32_t link, uint32_t cell)
{
    const struct node *n = &s->node[node];
    const uint32_t label = vci_of(s->cell[cell].octets) - (uint32_t)VCI_MIN;
    uint32_t i = label < s->config.lines.labels ? s->link[link].entry[label] : 0;
    if (!i) {
        s->counts.cells_late++;
        leat_sim_atm_calls_free_cell(s, cell);
        return;
    }
    for (; i; i = n->copy[i - 1].next) {
        const struct copy *c = &n->copy[i - 1];
        uint32_t own = cell;
        if (c->next) {
            own = leat_sim_atm_calls_take_cell(s);
            s->counts.copies++;
            if (own == NONE) {
                s->counts.cells_lost++;
                continue;
            }
            memcpy(s->cell[own].octets, s->cell[cell].octets, LEAT_ATM_CELL_LEN);
        }
        set_vci(s->cell[own].octets, c->vci);
        leat_sim_atm_calls_put(s, c->link, own, level_of(s->cell[own].octets));
    }
}

/* Does the message belong to a point-to-multipoint call? Its branches take the first route. */
static bool is_of_tree(const uint8_t *octets, size_t len)
{
    struct leat_atm_signal_message m;
    return !leat_atm_signal_message_decode(octets, len, &m, NULL) &&
           leat_atm_signal_message_find(&m, LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE);
}

void leat_sim_atm_calls_node_due(struct leat_sim_atm_calls *s, uint32_t node)
{
    const leat_time due = leat_atm_node_run(s->node[node].control, now_ps(s));
    leat_sim_agenda_set(&s->agenda, EVENTS, event_of_node(s, node), slot_of(s, due));
}

static void node_hears(struct leat_sim_atm_calls *s, uint32_t node, uint32_t link,
                       const uint8_t *octets, size_t len)
{
    struct node *n = &s->node[node];
    n->is_tree = is_of_tree(octets, len);
    n->message_link = link;
    leat_atm_node_receive(n->control, now_ps(s), s->graph->link[link].to_at, octets, len);
    const uint64_t due = slot_of(s, leat_atm_node_due_at(n->control));
    if (due < leat_sim_agenda_due(&s->agenda, EVENTS, event_of_node(s, node)))
        leat_sim_agenda_set(&s->agenda, EVENTS, event_of_node(s, node), due);
}

/* A cell on VCI 5 has arrived; a whole message goes to who hears at this end. */
static void signal_arrives(struct leat_sim_atm_calls *s, uint32_t link, uint32_t cell)
{
    const struct leat_sim_atm_calls_link *l = &s->graph->link[link];
    struct leat_atm_aal5_out out;
    leat_atm_aal5_step_cells(s->link[link].aal5, now_ps(s), s->cell[cell].octets, 1, &out);
    leat_sim_atm_calls_free_cell(s, cell);
    if (out.what != LEAT_ATM_AAL5_DELIVER) return;
    if (l->to < s->graph->nodes)
        node_hears(s, l->to, link, out.pdu.payload, out.pdu.payload_len);
    else
        leat_sim_atm_calls_hear(s, l->to - s->graph->nodes, out.pdu.payload, out.pdu.payload_len);
}

static void cell_arrives(struct leat_sim_atm_calls *s, uint32_t link, uint32_t cell)
{
    const uint32_t to = s->graph->link[link].to;
    if (!is_data(s, cell)) {
        signal_arrives(s, link, cell);
    } else if (to < s->graph->nodes) {
        forward(s, to, link, cell);
    } else {
        leat_sim_atm_calls_take(s, link, s->cell[cell].octets);
        leat_sim_atm_calls_free_cell(s, cell);
    }
}

void leat_sim_atm_calls_arrive(struct leat_sim_atm_calls *s, uint32_t link)
{
    struct link *l = &s->link[link];
    const uint32_t room = s->graph->link[link].slots + 1, cell = l->flying[l->first].cell;
    l->first = (l->first + 1) % room;
    if (--l->count) leat_sim_agenda_set(&s->agenda, ARRIVALS, link, l->flying[l->first].at);
    cell_arrives(s, link, cell);
}

/* ---- call control ---------------------------------------------------------------------------- */

static uint64_t booked(const struct leat_atm_cac_link *cac)
{
    uint64_t rate = 0;
    for (unsigned level = 0; level < LEAT_ATM_LEVEL_COUNT; level++)
        rate += cac->level[level].mean.rate;
    return rate;
}

void leat_sim_atm_calls_note_booked(struct leat_sim_atm_calls *s, uint32_t link,
                                    const struct leat_atm_cac_link *cac)
{
    uint64_t *most = &s->link[link].use.booked_max;
    *most = leat_larger(*most, booked(cac));
}

static bool port_of(const struct leat_atm_signal_content *called, uint32_t ports, uint32_t *out)
{
    uint32_t port = 0;
    for (unsigned i = 0; i < called->tail_len; i++) {
        if (called->tail[i] < '0' || called->tail[i] > '9') return false;
        port = port * 10 + (called->tail[i] - '0');
        if (port >= ports) return false;
    }
    *out = port;
    return called->tail_len;
}

/* The shortest ways; of a tree the first, otherwise that with the least booked rate. */
static bool route(void *context, const struct leat_atm_signal_content *called, uint32_t in_line,
                  uint32_t *out_line)
{
    const struct node *n = context;
    const struct leat_sim_atm_calls_graph *g = n->owner->graph;
    uint64_t least = UINT64_MAX;
    uint32_t port;
    if (!port_of(called, g->ports, &port)) return false;
    uint32_t line = leat_sim_atm_calls_graph_next(g, n->index, port, 0);
    for (; line != NONE; line = leat_sim_atm_calls_graph_next(g, n->index, port, line + 1)) {
        const uint64_t rate = booked(leat_atm_node_cac(n->control, line));
        if (line == in_line || rate >= least) continue;
        *out_line = line;
        if (n->is_tree) return true;
        least = rate;
    }
    return least != UINT64_MAX;
}

static void enter(struct node *n, uint32_t in, uint32_t label, uint32_t link, uint16_t vci)
{
    uint32_t i = n->copies_free ? n->copies_free - 1 : n->copies_used++;
    assert(i < n->copies); /* as many as half calls, and two for each */
    if (n->copies_free) n->copies_free = n->copy[i].next;
    uint32_t *first = &n->owner->link[in].entry[label];
    n->copy[i] = (struct copy){ .link = link, .vci = vci, .next = *first };
    *first = i + 1;
}

static void remove_copy(struct node *n, uint32_t in, uint32_t label, uint32_t link, uint16_t vci)
{
    uint32_t *at = &n->owner->link[in].entry[label];
    while (*at) {
        struct copy *c = &n->copy[*at - 1];
        if (c->link == link && c->vci == vci) {
            const uint32_t gone = *at;
            *at = c->next;
            c->next = n->copies_free;
            n->copies_free = gone;
            return;
        }
        at = &c->next;
    }
}

/* What a line is used for is at its most when a message about it goes out. */
static void note_use(struct node *n, uint32_t line)
{
    struct leat_sim_atm_calls *s = n->owner;
    struct leat_sim_atm_calls_use *use = &s->link[out_of(s, n->index, line)].use;
    const uint32_t peer = s->graph->link[out_of(s, n->index, line)].to;
    leat_sim_atm_calls_note_booked(s, out_of(s, n->index, line),
                                   leat_atm_node_cac(n->control, line));
    if (peer < n->index) return; /* it chooses the labels */
    use->labels_max = (uint32_t)leat_larger(
        use->labels_max, s->config.lines.labels - leat_atm_node_labels_free(n->control, line));
}

static void act(void *context, const struct leat_atm_node_action *a)
{
    struct node *n = context;
    struct leat_sim_atm_calls *s = n->owner;
    if (a->what == LEAT_ATM_NODE_SEND) {
        note_use(n, a->link);
        leat_sim_atm_calls_say(s, out_of(s, n->index, a->link), a->octets, a->len);
        return;
    }
    (a->what == LEAT_ATM_NODE_ENTER ? enter : remove_copy)(
        n, in_of(s, n->index, a->from.link), a->from.label.vci - (uint32_t)VCI_MIN,
        out_of(s, n->index, a->to.link), a->to.label.vci);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t calls_of_node(const struct leat_sim_atm_calls_config *c, uint32_t nodes)
{
    const uint64_t share = leat_smaller(CALLS_OF_NODE, CALLS_OF_ALL_NODES / nodes);
    return c->lines.node_calls ? c->lines.node_calls
                               : (uint32_t)leat_larger(share, CALLS_OF_NODE_MIN);
}

static struct leat_atm_queue_config queue_of(const struct leat_sim_atm_calls_config *c)
{
    struct leat_atm_queue_config q = { .level_count = LEAT_ATM_LEVEL_COUNT, .w = c->lines.w };
    for (unsigned level = 0; level < LEAT_ATM_LEVEL_COUNT; level++)
        q.level[level].capacity = c->lines.cells[level];
    return q;
}

struct leat_atm_cac_link_config
leat_sim_atm_calls_cac(const struct leat_sim_atm_calls_config *config)
{
    return (struct leat_atm_cac_link_config){ .capacity = config->line_rate,
                                              .queue = queue_of(config) };
}

leat_time leat_sim_atm_calls_jitter(const struct leat_sim_atm_calls_config *config,
                                    uint32_t lines_before)
{
    const struct leat_atm_cac_link_config cac = leat_sim_atm_calls_cac(config);
    struct leat_atm_cac_link line;
    if (config->lines.jitter_ps != LEAT_NEVER) return config->lines.jitter_ps;
    if (leat_atm_cac_link_init(&line, &cac)) return 0;
    const leat_time wait = leat_atm_cac_link_wait_ps(&line, 0);
    /* The source itself waits for a slot. */
    const leat_time own = leat_sim_clock_at(&config->slot, 1);
    return leat_smaller(LEAT_ATM_CONTRACT_CDVT_PS_MAX,
                        leat_time_add(own, lines_before * leat_smaller(wait, LEAT_ATM_SECOND_PS)));
}

static struct leat_atm_node_config node_config(const struct leat_sim_atm_calls_config *c,
                                               const struct leat_sim_atm_calls_graph *g,
                                               uint32_t node,
                                               struct leat_atm_node_link_config *link)
{
    const uint32_t lines = leat_sim_atm_calls_graph_lines(g, node),
                   calls = calls_of_node(c, g->nodes);
    for (uint32_t k = 0; k < lines; k++) {
        const struct leat_sim_atm_calls_link *l = &g->link[g->out[g->out_first[node] + k]];
        const bool is_port = l->to >= g->nodes;
        link[k] = (struct leat_atm_node_link_config){
            .side = is_port || node < l->to ? LEAT_ATM_CALL_NETWORK : LEAT_ATM_CALL_USER,
            .labels = { 0, 0, VCI_MIN, (uint16_t)(VCI_MIN + c->lines.labels - 1) },
            .cac = leat_sim_atm_calls_cac(c),
            .jitter_ps = leat_sim_atm_calls_jitter(c, is_port ? 1 : 1 + g->diameter)
        };
    }
    return (struct leat_atm_node_config){
        .link_count = lines,
        .link = link,
        .calls_max = calls,
        .half_calls_max = (uint32_t)leat_smaller(LEAT_ATM_NODE_CALLS_MAX,
                                                 (uint64_t)HALF_CALLS_PER_CALL * calls),
        .parties_max = (uint32_t)leat_smaller((1 << 15) - 1, (uint64_t)PARTIES_PER_CALL * calls),
        .timers = leat_atm_call_timers_default,
        .route = route,
        .act = act
    };
}

leat_err leat_sim_atm_calls_net_check(const struct leat_sim_atm_calls_config *config)
{
    const struct leat_sim_atm_calls_graph *graph = config->graph;
    struct leat_atm_node_link_config link[LEAT_ATM_NODE_LINKS_MAX];
    for (uint32_t n = 0; n < graph->nodes; n++) {
        if (leat_sim_atm_calls_graph_lines(graph, n) > LEAT_ATM_NODE_LINKS_MAX)
            return LEAT_ERR_RANGE;
        const struct leat_atm_node_config c = node_config(config, graph, n, link);
        const leat_err err = leat_atm_node_check(&c);
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

static void lay_link(struct leat_sim_atm_calls *s, const struct leat_sim_atm_calls_config *c,
                     uint32_t slots, uint32_t link, struct leat_arena *arena)
{
    const struct leat_atm_queue_config q = queue_of(c);
    const struct leat_atm_aal5_config aal5 = { .pdu_len_max = MESSAGE_LEN_MAX,
                                               .gap_ps_max = LEAT_NEVER };
    const size_t queue_len = leat_atm_queue_footprint(&q),
                 aal5_len = leat_atm_aal5_footprint(&aal5);
    void *queue = leat_arena_lay(arena, 1, queue_len), *in = leat_arena_lay(arena, 1, aal5_len);
    struct flying *flying = leat_arena_lay(arena, slots + 1, sizeof *flying);
    uint32_t *table = leat_arena_lay(arena, c->lines.labels, sizeof *table);
    if (!s) return;
    struct link *l = &s->link[link];
    l->flying = flying;
    l->entry = l->leg = table; /* the one at switches, the other at ports */
    leat_sim_must(!leat_atm_queue_init(queue, queue_len, &q, &l->queue));
    leat_sim_must(!leat_atm_aal5_init(in, aal5_len, &aal5, &l->aal5));
}

static void lay_node(struct leat_sim_atm_calls *s, const struct leat_sim_atm_calls_config *c,
                     const struct leat_sim_atm_calls_graph *g, uint32_t node,
                     struct leat_arena *arena)
{
    struct leat_atm_node_link_config link[LEAT_ATM_NODE_LINKS_MAX];
    struct leat_atm_node_config config = node_config(c, g, node, link);
    const size_t len = leat_atm_node_footprint(&config);
    void *control = leat_arena_lay(arena, 1, len);
    const uint32_t copies = 2 * config.half_calls_max;
    struct copy *copy = leat_arena_lay(arena, copies, sizeof *copy);
    if (!s) return;
    struct node *n = &s->node[node];
    *n = (struct node){ .owner = s, .index = node, .copy = copy, .copies = copies };
    config.context = n;
    leat_sim_must(!leat_atm_node_init(control, len, &config, &n->control));
}

static uint64_t cells_of(const struct leat_sim_atm_calls_config *c,
                         const struct leat_sim_atm_calls_graph *g)
{
    uint64_t cells = 0;
    for (unsigned level = 0; level < LEAT_ATM_LEVEL_COUNT; level++)
        cells += c->lines.cells[level];
    cells *= g->links;
    for (uint32_t l = 0; l < g->links; l++)
        cells += g->link[l].slots + 1;
    return leat_smaller(cells, 1 << 22);
}

void leat_sim_atm_calls_net_lay(struct leat_sim_atm_calls *s,
                                const struct leat_sim_atm_calls_config *c, struct leat_arena *arena)
{
    const struct leat_sim_atm_calls_graph *g = s->graph;
    const bool measures = !arena->memory;
    s->cells = (uint32_t)cells_of(c, g);
    struct cell *cell = leat_arena_lay(arena, s->cells, sizeof *cell);
    struct link *link = leat_arena_lay(arena, g->links, sizeof *link);
    struct node *node = leat_arena_lay(arena, g->nodes, sizeof *node);
    s->cell = cell;
    s->link = link;
    s->node = node;
    for (uint32_t l = 0; l < g->links; l++)
        lay_link(measures ? NULL : s, c, g->link[l].slots, l, arena);
    for (uint32_t n = 0; n < g->nodes; n++)
        lay_node(measures ? NULL : s, c, g, n, arena);
}
