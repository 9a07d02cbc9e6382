/* Operations of groups: parts go up the tree of SANs, results go down (sim_packetway_collect.h). */
#include "leat_bytes.h"
#include "port_fold.h"
#include "sim_packetway_parts.h"
#include "sim_refuse.h"
#include <assert.h>
#include <string.h>

enum {
    WINDOW = LEAT_SIM_COLLECT_WINDOW,
    WORD_LEN = LEAT_PACKETWAY_WORD_LEN,
    HEAD_LEN = LEAT_SIM_PACKETWAY_HEAD_LEN,
    GROUPS_AT = 0xe00000, /* logical addresses: group g has the g-th after it */
};

/* ---- where things are ------------------------------------------------------------------------ */

/* A seat and an operation, as plans and IDs have it. */
static uint32_t code_of(const struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    return ((at->group - 1) * p->nodes + at->seat) * WINDOW + (uint32_t)(at->number % WINDOW);
}

static struct packetway_seat_ref ref_of(const struct leat_sim_packetway *p, uint32_t code)
{
    const uint32_t group = code / WINDOW / p->nodes + 1;
    const uint64_t oldest = p->collect.base.group[group - 1].oldest;
    return (struct packetway_seat_ref){ .group = group,
                                        .seat = code / WINDOW % p->nodes,
                                        .number = oldest + (code - oldest) % WINDOW };
}

static struct packetway_seat_ref other(const struct packetway_seat_ref *at, uint32_t seat)
{
    return (struct packetway_seat_ref){ at->group, seat, at->number };
}

static struct leat_sim_packetway_seat *seat_at(const struct leat_sim_packetway *p,
                                               const struct packetway_seat_ref *at)
{
    return packetway_seat(p, at->group, at->seat);
}

static struct leat_sim_packetway_node *node_at(const struct leat_sim_packetway *p,
                                               const struct packetway_seat_ref *at)
{
    return &p->node[seat_at(p, at)->node];
}

static struct leat_sim_packetway_branch *branch_at(const struct leat_sim_packetway *p,
                                                   const struct packetway_seat_ref *at)
{
    return packetway_branch(p, at->group, node_at(p, at)->san);
}

static bool is_in_root_san(const struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    return p->collect.tree[at->group - 1].root == node_at(p, at)->san;
}

static struct leat_sim_operation *operation_at(struct leat_sim_packetway *p,
                                               const struct packetway_seat_ref *at)
{
    return leat_sim_collect_op(leat_sim_collect_of(&p->collect.base, at->group), at->number);
}

static struct leat_sim_packetway_course *course_at(const struct leat_sim_packetway *p,
                                                   const struct packetway_seat_ref *at)
{
    return &p->collect.tree[at->group - 1].course[at->number % WINDOW];
}

static bool *failure_at(const struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    return &branch_at(p, at)->has_failed[at->number % WINDOW];
}

static uint64_t *words_at(const struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    return p->collect.word +
           ((size_t)(at->group - 1) * p->nodes + at->seat) * p->collect.base.means.words_max;
}

static uint8_t *part_at(const struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    return p->collect.part + ((size_t)(at->group - 1) * p->nodes + at->seat) * p->collect.part_len;
}

static void plan(struct leat_sim_packetway *p, const struct packetway_seat_ref *at, leat_time time,
                 enum leat_sim_packetway_collect_step step)
{
    leat_sim_packetway_plan(p, time, packetway_group_node(seat_at(p, at)->node), code_of(p, at),
                            step);
}

/* What everybody gets in the end: the octets of a cast, or the words of a fold, which only travel
 * within this process. */
static uint8_t *outcome(const struct leat_sim_operation *op, uint64_t *len)
{
    const bool is_cast = op->what.kind == LEAT_PORT_CAST;
    *len = is_cast ? op->what.len : op->what.words * sizeof *op->word;
    return is_cast ? op->what.octets : (uint8_t *)op->word;
}

/* The seat in a SAN that has the outcome before the others there. Of a fold by messages: to which
 * the others send their words. */
static uint32_t source_in(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct leat_port_part *what = &operation_at(p, at)->what;
    const struct leat_sim_packetway_branch *b = branch_at(p, at);
    const uint32_t here = node_at(p, at)->san, root = p->collect.tree[at->group - 1].root;
    if (what->kind == LEAT_PORT_FOLD) return here == root ? b->first : b->up;
    const struct leat_sim_group *group = leat_sim_collect_of(&p->collect.base, at->group);
    uint32_t san = p->node[p->host[what->root]].san;
    if (san == here)
        return p->collect
            .seat_of[(size_t)(at->group - 1) * p->base.ports + group->place[what->root] - 1];
    while (san != root) { /* does the root's SAN lie below? */
        const struct leat_sim_packetway_branch *below = packetway_branch(p, at->group, san);
        if (below->parent == here) return below->hub;
        san = below->parent;
    }
    return b->up;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void fold_in(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                    const uint64_t *more)
{
    const struct leat_port_part *what = &operation_at(p, at)->what;
    struct leat_sim_packetway_seat *s = seat_at(p, at);
    if (s->has_word)
        leat_port_fold_words(what->fold, words_at(p, at), more, what->words);
    else if (what->words)
        memcpy(words_at(p, at), more, what->words * sizeof *more);
    s->has_word = true;
}

/* A half-router that leads to the root takes part with words that change nothing. */
static void fold_nothing_in(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct leat_port_part *what = &operation_at(p, at)->what;
    for (uint32_t i = 0; i < what->words; i++)
        words_at(p, at)[i] = leat_port_fold_identity(what->fold);
    seat_at(p, at)->has_word = true;
}

/* A seat of the root SAN has the result. */
static void keep_result(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    struct leat_sim_operation *op = operation_at(p, at);
    struct leat_sim_packetway_course *course = course_at(p, at);
    if (course->has_word) return;
    course->has_word = true;
    if (op->what.words) memcpy(op->word, words_at(p, at), op->what.words * sizeof *op->word);
}

/* ---- local operations of SANs with means ----------------------------------------------------- */

/* Plans the next local part of a seat, if it may be handed over. */
static void nudge(struct leat_sim_packetway *p, uint32_t group, uint32_t seat)
{
    struct leat_sim_packetway_seat *s = packetway_seat(p, group, seat);
    if (s->is_busy || s->is_planned || !(s->due[s->next % WINDOW] >> s->is_second & 1)) return;
    s->is_planned = true;
    plan(p, &(struct packetway_seat_ref){ group, seat, s->next }, leat_larger(p->now, s->free_at),
         PACKETWAY_HANDS_OVER);
}

/* A seat may hand over a local part of this operation, if it has not already. */
static void make_due(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                     bool is_second)
{
    struct leat_sim_packetway_seat *s = seat_at(p, at);
    const bool is_its_turn = s->next == at->number && s->is_second == is_second;
    if (s->next > at->number || (s->next == at->number && s->is_second && !is_second)) return;
    if (is_its_turn && s->is_busy) return;
    s->due[at->number % WINDOW] |= (uint8_t)(1u << is_second);
    nudge(p, at->group, at->seat);
}

/* With the first local part of a fold its half-router towards the root learns of it; with that of a
 * cast's root all half-routers do. */
static void announce(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct leat_sim_packetway_branch *b = branch_at(p, at);
    const struct leat_sim_packetway_seat *s = seat_at(p, at);
    for (uint32_t i = b->first; i < b->end; i++) {
        const struct packetway_seat_ref it = other(at, i);
        if (seat_at(p, &it)->place || i == at->seat) continue;
        if (s->is_casting || (s->is_folding && i == b->up && !is_in_root_san(p, at)))
            make_due(p, &it, s->is_second);
    }
}

static void hand_over(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct leat_sim_packetway_node *n = node_at(p, at);
    const struct leat_sim_operation *op = operation_at(p, at);
    struct leat_port_net *net = p->config.san[n->san].net;
    struct leat_sim_packetway_seat *s = seat_at(p, at);
    const uint32_t source = source_in(p, at);
    struct leat_port_part part = { .group = branch_at(p, at)->local,
                                   .port = n->port,
                                   .id = code_of(p, at) };
    s->is_planned = false;
    s->is_busy = true;
    s->due[at->number % WINDOW] &= (uint8_t) ~(1u << s->is_second);
    s->is_folding = op->what.kind == LEAT_PORT_FOLD && !s->is_second;
    s->is_casting = !s->is_folding && source == at->seat;
    if (s->is_folding) {
        if (!s->has_word) fold_nothing_in(p, at);
        part.kind = LEAT_PORT_FOLD;
        part.fold = op->what.fold;
        part.words = op->what.words;
        part.word = words_at(p, at);
    } else {
        uint8_t *octets = outcome(op, &part.len);
        part.kind = LEAT_PORT_CAST;
        part.root = p->node[packetway_seat(p, at->group, source)->node].port;
        part.octets = s->is_casting ? octets : p->collect.sink;
    }
    leat_port_collect(net, &part, leat_larger(p->now, net->now));
    announce(p, at);
}

void leat_sim_packetway_on_collected(void *context, const struct leat_port_part *part, bool is_done,
                                     leat_time at)
{
    const struct leat_sim_packetway_san_state *san = context;
    struct leat_sim_packetway *p = san->pktway;
    const struct packetway_seat_ref it = ref_of(p, (uint32_t)part->id);
    uint64_t len;
    if (is_done && part->octets == p->collect.sink) {
        const uint8_t *octets = outcome(operation_at(p, &it), &len);
        assert(len == part->len && (!len || memcmp(octets, part->octets, len) == 0));
        (void)octets;
    }
    leat_sim_packetway_plan(p, at, packetway_group_san(san->index), (uint32_t)part->id,
                            is_done ? PACKETWAY_GETS_LOCAL : PACKETWAY_LACKS_LOCAL);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* | group 32 | operation 32 | sender or 0 64 | octets |, to the logical address of the group. */
static uint32_t write_packet(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                             uint32_t sender, const uint8_t *octets, uint64_t len, uint8_t *out)
{
    struct leat_packetway_message *m = p->message;
    const size_t cap = sender ? p->collect.part_len : p->collect.packet_len;
    size_t written = 0;
    leat_put_be32(p->scratch, at->group);
    leat_put_be32(p->scratch + 4, (uint32_t)at->number);
    leat_put_be64(p->scratch + 8, sender);
    if (len) memcpy(p->scratch + HEAD_LEN, octets, len);
    m->header = (struct leat_packetway_header){ .dt = GROUPS_AT + at->group,
                                                .sa = sender,
                                                .pt = LEAT_SIM_PACKETWAY_PT };
    m->data = p->scratch;
    m->data_len = HEAD_LEN + len;
    leat_sim_must(!leat_packetway_message_encode(m, out, cap, &written));
    return (uint32_t)written;
}

/* ---- from SAN to SAN ------------------------------------------------------------------------- */

static leat_time decision_ps(const struct leat_sim_packetway *p)
{
    return p->config.by_address ? p->config.address_ps : p->config.planned_ps;
}

/* Can a half-router pass something on to its twin? */
static bool is_open(const struct leat_sim_packetway *p, const struct leat_sim_packetway_node *from,
                    const struct leat_sim_packetway_node *to)
{
    const struct leat_packetway_fib *fib = leat_packetway_router_fib(from->as_router);
    if (from->dead || to->dead || leat_sim_packetway_sees_errors(p, from->router, p->now))
        return false;
    for (uint32_t i = 0; i < fib->twin_count; i++)
        if (fib->twins[i].address == to->address) return fib->twins[i].up;
    return false;
}

/* A message from twin to twin, for recordings: the words of a part, or the outcome. Seen at `here`,
 * of the half-router that sends or gets it. */
static void show(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                 const struct packetway_seat_ref *here, enum leat_sim_packetway_collect_step step,
                 bool is_out)
{
    const bool is_part = step == PACKETWAY_UP;
    uint8_t *octets = p->collect.shown + LEAT_SIM_PACKETWAY_COUNT_LEN;
    uint64_t len;
    if (!p->base.observer.packet || (is_out && *failure_at(p, here))) return;
    const uint8_t *all = outcome(operation_at(p, at), &len);
    leat_sim_packetway_show(p, node_at(p, here), is_out,
                            write_packet(p, at, is_part ? node_at(p, at)->address : 0,
                                         is_part ? (const uint8_t *)words_at(p, at) : all, len,
                                         octets));
}

/* It arrives even where it is of no use any more: as the notice that it has failed. */
static void carry(struct leat_sim_packetway *p, const struct packetway_seat_ref *from,
                  const struct packetway_seat_ref *to, enum leat_sim_packetway_collect_step step)
{
    if (!is_open(p, node_at(p, from), node_at(p, to)))
        *failure_at(p, to) = true;
    else
        show(p, from, from, step, false);
    leat_sim_packetway_count_crossing(p, seat_at(p, from)->node, seat_at(p, to)->node);
    plan(p, step == PACKETWAY_UP ? from : to, p->now + 2 * decision_ps(p) + p->config.link_ps,
         step);
}

/* The part of a SAN is complete, at its half-router towards the root. */
static void carry_up(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct packetway_seat_ref hub = other(at, branch_at(p, at)->hub);
    *failure_at(p, &hub) |= *failure_at(p, at);
    carry(p, at, &hub, PACKETWAY_UP);
}

/* A half-router has the outcome: its twins on the tree get it too. */
static void spread(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                   bool has_failed)
{
    const struct leat_sim_packetway_node *n = node_at(p, at);
    for (uint32_t i = 0; i < p->collect.tree[at->group - 1].seats; i++) {
        const struct packetway_seat_ref it = other(at, i);
        const struct leat_sim_packetway_node *twin = node_at(p, &it);
        if (i == at->seat || !twin->is_router || twin->router != n->router) continue;
        *failure_at(p, &it) |= has_failed;
        carry(p, at, &it, PACKETWAY_DOWN);
    }
}

/* A seat has the outcome of an operation. */
static void conclude(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                     bool has_failed)
{
    const uint32_t place = seat_at(p, at)->place;
    if (!place)
        spread(p, at, has_failed);
    else if (has_failed)
        leat_sim_collect_fail(&p->collect.base, at->group, place - 1, at->number);
    else
        leat_sim_collect_reach(&p->collect.base, at->group, place - 1, at->number);
}

/* ---- messages of SANs without means ---------------------------------------------------------- */

/* The octets of a packet that has arrived. NULL: it is damaged. */
static const uint8_t *read_packet(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                                  uint32_t sender, const uint8_t *packet, uint32_t packet_len,
                                  uint64_t len)
{
    struct leat_packetway_message *m = &p->event->message;
    if (leat_packetway_message_decode(packet, packet_len, LEAT_PACKETWAY_STRICT,
                                      LEAT_PACKETWAY_DESTINATION, m, NULL))
        return NULL;
    return m->data_len == HEAD_LEN + len && leat_get_be32(m->data) == at->group &&
                   leat_get_be32(m->data + 4) == (uint32_t)at->number &&
                   leat_get_be64(m->data + 8) == sender
               ? m->data + HEAD_LEN
               : NULL;
}

static void send(struct leat_sim_packetway *p, const struct packetway_seat_ref *from,
                 const struct packetway_seat_ref *to, const struct packetway_seat_ref *about,
                 bool is_result, uint8_t *packet, uint32_t len)
{
    struct leat_port_net *net = p->config.san[node_at(p, from)->san].net;
    const uint64_t kind = is_result ? PACKETWAY_IS_RESULT : PACKETWAY_IS_PART;
    const struct leat_port_message message = { .from = node_at(p, from)->port,
                                               .to = node_at(p, to)->port,
                                               .id = kind << 32 | code_of(p, about),
                                               .octets = packet,
                                               .len = len };
    if (!leat_port_send(net, &message, leat_larger(p->now, net->now)))
        plan(p, about, p->now, is_result ? PACKETWAY_UNTOLD : PACKETWAY_UNGATHERED);
}

static uint64_t words_len(const struct leat_sim_operation *op)
{
    return (uint64_t)op->what.words * WORD_LEN;
}

/* The words of a seat go to the one that gathers them. */
static void send_part(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct packetway_seat_ref to = other(at, source_in(p, at));
    const uint32_t len = write_packet(p, at, node_at(p, at)->address,
                                      (const uint8_t *)words_at(p, at),
                                      words_len(operation_at(p, at)), part_at(p, at));
    send(p, at, &to, at, false, part_at(p, at), len);
}

/* The outcome goes to all others of the SAN, one after the other. */
static void tell_all(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                     leat_time first_at)
{
    const struct leat_sim_packetway_branch *b = branch_at(p, at);
    const leat_time each = seat_at(p, at)->place ? p->config.host_ps : decision_ps(p);
    leat_time time = first_at;
    for (uint32_t i = b->first; i < b->end; i++) {
        const struct packetway_seat_ref it = other(at, i);
        if (i == at->seat) continue;
        plan(p, &it, time, PACKETWAY_TELL);
        time += each;
    }
}

static void tell(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct leat_sim_operation *op = operation_at(p, at);
    const struct leat_sim_packetway_branch *b = branch_at(p, at);
    const struct packetway_seat_ref from = other(at, source_in(p, at));
    struct leat_sim_packetway_course *course = course_at(p, at);
    if (!course->has_packet) {
        uint64_t len;
        const uint8_t *octets = outcome(op, &len);
        course->packet_len = write_packet(p, at, 0, octets, len, course->packet);
        course->has_packet = true;
    }
    send(p, &from, at, at, true, course->packet, course->packet_len);
    const uint32_t last = b->end - 1 == from.seat ? b->end - 2 : b->end - 1;
    /* The root of a cast: its octets are taken. */
    if (at->seat == last && op->what.kind == LEAT_PORT_CAST && seat_at(p, &from)->place)
        conclude(p, &from, false);
}

static void hear(struct leat_sim_packetway *p, const struct packetway_seat_ref *at, bool is_lost)
{
    const struct leat_sim_packetway_course *course = course_at(p, at);
    uint64_t len;
    const uint8_t *octets = outcome(operation_at(p, at), &len);
    const uint8_t *got = is_lost ? NULL
                                 : read_packet(p, at, 0, course->packet, course->packet_len, len);
    const bool is_sound = got && (!len || memcmp(got, octets, len) == 0);
    conclude(p, at, *failure_at(p, at) || !is_sound);
}

/* ---- parts of folds -------------------------------------------------------------------------- */

/* All words of a SAN are at one seat. */
static void complete(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    if (!is_in_root_san(p, at)) {
        carry_up(p, at);
        return;
    }
    if (!*failure_at(p, at)) keep_result(p, at);
    tell_all(p, at, p->now + (seat_at(p, at)->place ? p->config.host_ps : decision_ps(p)));
    conclude(p, at, *failure_at(p, at));
}

static void gather(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    if (!--branch_at(p, at)->missing[at->number % WINDOW]) complete(p, at);
}

static void gather_message(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                           bool is_lost)
{
    const struct packetway_seat_ref to = other(at, source_in(p, at));
    const uint64_t len = words_len(operation_at(p, at));
    const uint8_t *got =
        is_lost ? NULL
                : read_packet(p, at, node_at(p, at)->address, part_at(p, at),
                              (uint32_t)(LEAT_PACKETWAY_MESSAGE_LEN_MIN + HEAD_LEN + len), len);
    if (got)
        fold_in(p, &to, words_at(p, at)); /* the same, and aligned */
    else
        *failure_at(p, at) = true;
    gather(p, &to);
}

/* A seat has all words that it takes part with. */
static void contribute(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    if (branch_at(p, at)->local)
        make_due(p, at, false);
    else if (source_in(p, at) == at->seat)
        gather(p, at);
    else
        send_part(p, at);
}

static void arrive_from_below(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct packetway_seat_ref hub = other(at, branch_at(p, at)->hub);
    show(p, at, &hub, PACKETWAY_UP, true);
    fold_in(p, &hub, words_at(p, at));
    if (!--seat_at(p, &hub)->missing) contribute(p, &hub);
}

/* ---- results --------------------------------------------------------------------------------- */

static void arrive_from_above(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const bool is_second = operation_at(p, at)->what.kind == LEAT_PORT_FOLD;
    show(p, at, at, PACKETWAY_DOWN, true);
    if (branch_at(p, at)->local)
        make_due(p, at, is_second);
    else
        tell_all(p, at, p->now);
}

static void end_local_fold(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                           bool is_done)
{
    const struct leat_sim_packetway_branch *b = branch_at(p, at);
    if (is_in_root_san(p, at)) {
        const bool has_failed = *failure_at(p, at) || !is_done;
        if (!has_failed) keep_result(p, at);
        conclude(p, at, has_failed);
    } else if (at->seat == b->up) {
        *failure_at(p, at) |= !is_done;
        carry_up(p, at);
    } else {
        make_due(p, at, true);
    }
}

static void end_local(struct leat_sim_packetway *p, const struct packetway_seat_ref *at,
                      bool is_done)
{
    struct leat_sim_packetway_seat *s = seat_at(p, at);
    s->is_busy = false;
    s->free_at = p->now + p->step_ps;
    s->is_second = s->is_folding && !is_in_root_san(p, at);
    s->next += !s->is_second;
    if (s->is_folding)
        end_local_fold(p, at, is_done);
    else if (!s->is_casting)
        conclude(p, at, *failure_at(p, at) || !is_done);
    else if (s->place)
        conclude(p, at, !is_done);
    nudge(p, at->group, at->seat);
}

/* ---- parts of members ------------------------------------------------------------------------ */

/* The first part of an operation is there. */
static void begin(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct leat_sim_packetway_tree *tree = &p->collect.tree[at->group - 1];
    const uint32_t slot = at->number % WINDOW;
    const bool is_fold = operation_at(p, at)->what.kind == LEAT_PORT_FOLD;
    struct leat_sim_packetway_course *course = course_at(p, at);
    course->number = at->number + 1;
    course->has_word = course->has_packet = false;
    for (uint32_t i = 0; i < tree->seats; i++) {
        struct leat_sim_packetway_seat *s = packetway_seat(p, at->group, i);
        s->due[slot] = 0;
        if (!is_fold) continue;
        s->has_word = false;
        s->missing = 0;
    }
    for (uint32_t san = 0; san < p->config.sans; san++) {
        struct leat_sim_packetway_branch *b = packetway_branch(p, at->group, san);
        if (!b->is_used) continue;
        b->has_failed[slot] = false;
        b->missing[slot] = b->end - b->first - (san != tree->root);
        if (is_fold && san != tree->root) packetway_seat(p, at->group, b->hub)->missing++;
    }
}

static void enter(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const uint32_t place = seat_at(p, at)->place - 1;
    const struct leat_sim_group *group = leat_sim_collect_of(&p->collect.base, at->group);
    const struct leat_port_part *part = &group->member[place].part;
    leat_sim_collect_enter(&p->collect.base, at->group, place);
    if (course_at(p, at)->number != at->number + 1) begin(p, at);
    const bool only_listens = part->kind == LEAT_PORT_CAST && part->root != part->port;
    if (only_listens && !branch_at(p, at)->local) return;
    plan(p, at, p->now + p->config.host_ps, PACKETWAY_JOINS);
}

static void join(struct leat_sim_packetway *p, const struct packetway_seat_ref *at)
{
    const struct leat_sim_group *group = leat_sim_collect_of(&p->collect.base, at->group);
    const struct leat_port_part *part = &group->member[seat_at(p, at)->place - 1].part;
    if (part->kind == LEAT_PORT_FOLD) {
        fold_in(p, at, part->word);
        contribute(p, at);
    } else if (branch_at(p, at)->local) {
        make_due(p, at, false);
    } else {
        tell_all(p, at, p->now);
    }
}

void leat_sim_packetway_collect(struct leat_port_net *base, const struct leat_port_part *part,
                                leat_time at)
{
    struct leat_sim_packetway *p = (struct leat_sim_packetway *)base; /* its first member */
    assert(at >= base->now);
    const uint32_t place = leat_sim_collect_hand_over(&p->collect.base, part);
    const struct leat_sim_group *group = leat_sim_collect_of(&p->collect.base, part->group);
    const struct packetway_seat_ref it = {
        .group = part->group,
        .seat = p->collect.seat_of[(size_t)(part->group - 1) * base->ports + place],
        .number = group->member[place].parts - 1,
    };
    plan(p, &it, at, PACKETWAY_ENTERS);
}

/* ---- steps ----------------------------------------------------------------------------------- */

void leat_sim_packetway_collect_step(struct leat_sim_packetway *p, uint32_t code,
                                     enum leat_sim_packetway_collect_step step)
{
    const struct packetway_seat_ref at = ref_of(p, code);
    switch (step) {
    case PACKETWAY_ENTERS: enter(p, &at); break;
    case PACKETWAY_JOINS: join(p, &at); break;
    case PACKETWAY_HANDS_OVER: hand_over(p, &at); break;
    case PACKETWAY_GETS_LOCAL: end_local(p, &at, true); break;
    case PACKETWAY_LACKS_LOCAL: end_local(p, &at, false); break;
    case PACKETWAY_UP: arrive_from_below(p, &at); break;
    case PACKETWAY_DOWN: arrive_from_above(p, &at); break;
    case PACKETWAY_TELL: tell(p, &at); break;
    case PACKETWAY_TOLD: hear(p, &at, false); break;
    case PACKETWAY_UNTOLD: hear(p, &at, true); break;
    case PACKETWAY_GATHERED: gather_message(p, &at, false); break;
    case PACKETWAY_UNGATHERED: gather_message(p, &at, true); break;
    }
}
