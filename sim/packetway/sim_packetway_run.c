/* Time: runs SANs and routers together, and makes callbacks. */
#include "sim_packetway_parts.h"
#include <assert.h>

/* The interval of engine timers; after so many, packets that wait for each other are lost. */
#define TICK_PS UINT64_C(100000000000)
enum {
    STILL_TICKS = 50,
    CALL_BITS = 46, /* the others number a group: all nodes, all SANs */
};
_Static_assert(1 + LEAT_SIM_PACKETWAY_SANS_MAX + LEAT_SIM_PACKETWAY_NODES_MAX <
                   1 << (64 - CALL_BITS),
               "every node has a group");

/* Packets in flight times picoseconds, for each member of a crew: with less to do, one thread is
 * faster than several that meet. */
#define BUSY_PACKET_PS UINT64_C(4000)

void leat_sim_packetway_plan(struct leat_sim_packetway *p, leat_time at, uint32_t group,
                             uint32_t what, uint32_t step)
{
    const uint64_t call = (uint64_t)group << CALL_BITS | p->post.calls++;
    leat_sim_post_plan(&p->post, (struct leat_sim_plan){ at, call, what, step });
}

/* ---- callbacks of SANs ----------------------------------------------------------------------- */

/* Messages of collective operations: how they end. False: they have not ended. */
static bool is_of_group(const struct leat_port_message *message, enum leat_sim_packetway_step step,
                        uint32_t *out)
{
    const bool is_result = message->id >> 32 == PACKETWAY_IS_RESULT;
    if (step == PACKETWAY_ARRIVED)
        *out = is_result ? PACKETWAY_TOLD : PACKETWAY_GATHERED;
    else
        *out = is_result ? PACKETWAY_UNTOLD : PACKETWAY_UNGATHERED;
    return step == PACKETWAY_ARRIVED || step == PACKETWAY_LOST;
}

/* Keeps it until the SANs have met. */
static void keep_notice(struct leat_sim_packetway_san_state *s, uint32_t packet, leat_time at,
                        enum leat_sim_packetway_step step)
{
    struct leat_sim_packetway *p = s->pktway;
    const uint32_t slot = step == PACKETWAY_SENT ? 0 : step == PACKETWAY_HEAD ? 1 : 2;
    const uint32_t notice = packet * PACKETWAY_NOTICES + slot + 1, last = s->last_notice - 1;
    p->packet[packet].notice[slot] = (struct leat_sim_packetway_notice){ at, step, 0 };
    if (s->first_notice)
        p->packet[last / PACKETWAY_NOTICES].notice[last % PACKETWAY_NOTICES].next = notice;
    else
        s->first_notice = notice;
    s->last_notice = notice;
}

static void plan_notices(struct leat_sim_packetway_san_state *s)
{
    struct leat_sim_packetway *p = s->pktway;
    for (uint32_t next = s->first_notice; next;) {
        const uint32_t packet = (next - 1) / PACKETWAY_NOTICES;
        const struct leat_sim_packetway_notice *notice =
            &p->packet[packet].notice[(next - 1) % PACKETWAY_NOTICES];
        leat_sim_packetway_plan(p, notice->at, packetway_group_san(s->index), packet, notice->step);
        next = notice->next;
    }
    s->first_notice = s->last_notice = 0;
}

static void on_callback(void *context, const struct leat_port_message *message, leat_time at,
                        enum leat_sim_packetway_step step)
{
    struct leat_sim_packetway_san_state *s = context;
    uint32_t what_to_do = step;
    if (message->id >> 32 != PACKETWAY_IS_PACKET && !is_of_group(message, step, &what_to_do))
        return;
    if (s->pktway->side_by_side) {
        keep_notice(s, (uint32_t)message->id, at, step);
        return;
    }
    leat_sim_packetway_plan(s->pktway, at, packetway_group_san(s->index), (uint32_t)message->id,
                            what_to_do);
}

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    on_callback(context, message, at, PACKETWAY_SENT);
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    on_callback(context, message, at, PACKETWAY_ARRIVED);
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    (void)why;
    on_callback(context, message, at, PACKETWAY_LOST);
}

/* Control messages are for half-routers themselves, or short. */
static void on_head(void *context, const struct leat_port_message *message, leat_time from,
                    leat_time at)
{
    const struct leat_sim_packetway_san_state *s = context;
    struct leat_sim_packetway *p = s->pktway;
    if (message->id >> 32 != PACKETWAY_IS_PACKET) return;
    struct leat_sim_packetway_packet *k = &p->packet[message->id];
    if (!p->node[k->to].is_router || packetway_is_control(k)) return;
    k->is_coming = true;
    k->since = from;
    k->until = at;
    k->is_vague = at == LEAT_NEVER;
    k->whole = k->len;
    k->whole_at = k->at;
    on_callback(context, message, from, PACKETWAY_HEAD);
}

void leat_sim_packetway_observe(struct leat_sim_packetway *p)
{
    for (uint32_t i = 0; i < p->config.sans; i++)
        p->config.san[i].net->observer = (struct leat_port_observer){
            .context = &p->san[i],
            .sent = on_sent,
            .arrived = on_arrived,
            .lost = on_lost,
            .head = p->config.cut_through ? on_head : NULL,
            .collected = leat_sim_packetway_on_collected,
        };
}

/* ---- reporting ------------------------------------------------------------------------------- */

void leat_sim_packetway_note(struct leat_sim_packetway *p, uint32_t entry, bool sent)
{
    struct leat_sim_packetway_entry *e = &p->entry[entry];
    assert(sent || !e->is_noted);
    if (!sent) e->is_noted = true;
    leat_sim_post_note(&p->post, entry, sent);
}

/* ---- carrying out ---------------------------------------------------------------------------- */

static void carry_out(struct leat_sim_packetway *p, const struct leat_sim_plan *due)
{
    const uint32_t what = due->entry;
    p->progress++;
    if (due->step >= PACKETWAY_STEPS) {
        leat_sim_packetway_collect_step(p, what, (enum leat_sim_packetway_collect_step)due->step);
        return;
    }
    switch ((enum leat_sim_packetway_step)due->step) {
    case PACKETWAY_HAND_OVER: leat_sim_packetway_append(p, what); break;
    case PACKETWAY_BUILD: leat_sim_packetway_build(p, what); break;
    case PACKETWAY_EMIT:
        p->node[what].emit_due = false;
        leat_sim_packetway_emit(p, what);
        break;
    case PACKETWAY_CREDIT: leat_sim_packetway_credit(p, what); break;
    case PACKETWAY_NATIVE: leat_sim_packetway_native_send(p, what); break;
    case PACKETWAY_SENT: leat_sim_packetway_sent(p, what); break;
    case PACKETWAY_HEAD: leat_sim_packetway_head(p, what); break;
    case PACKETWAY_ARRIVED: leat_sim_packetway_arrived(p, what); break;
    case PACKETWAY_LOST: leat_sim_packetway_lost(p, what); break;
    case PACKETWAY_TWIN: leat_sim_packetway_twin(p, what); break;
    case PACKETWAY_OUT: leat_sim_packetway_out(p, what); break;
    case PACKETWAY_BEGINS: leat_sim_packetway_fault(p, what, true); break;
    case PACKETWAY_ENDS: leat_sim_packetway_fault(p, what, false); break;
    case PACKETWAY_STEPS: break; /* there are no more */
    }
}

void leat_sim_packetway_carry_out_now(struct leat_sim_packetway *p)
{
    while (p->post.plans && p->post.plan[0].at <= p->now) {
        const struct leat_sim_plan due = leat_sim_post_take(&p->post);
        carry_out(p, &due);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint32_t active_sans(const struct leat_sim_packetway *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->config.sans; i++)
        count += p->config.san[i].net->in_flight > 0;
    return count;
}

/* Runs the timers of engines. */
void leat_sim_packetway_tick(struct leat_sim_packetway *p)
{
    p->tick_at = p->now + TICK_PS;
    for (uint32_t i = 0; i < p->nodes; i++) {
        struct leat_sim_packetway_node *n = &p->node[i];
        if (!n->is_router) {
            leat_sim_packetway_host_tick(p, i);
        } else if (!n->dead &&
                   leat_packetway_router_next_at(n->as_router) <= leat_sim_packetway_clock(p)) {
            leat_packetway_router_tick(n->as_router, leat_sim_packetway_clock(p));
            leat_sim_packetway_pump(p, i);
        }
    }
}

/* The same, and resolves deadlocks. */
static void tick(struct leat_sim_packetway *p)
{
    const bool still = p->base.in_flight && !p->post.plans && !active_sans(p) &&
                       p->progress == p->seen_progress;
    p->seen_progress = p->progress;
    /* Others may go on meanwhile, such as tasks that ask for a lock again and again. */
    const bool locked = leat_sim_packetway_find_locked(p);
    p->still_ticks = still || locked ? p->still_ticks + 1 : 0;
    if (p->still_ticks == STILL_TICKS) {
        p->still_ticks = 0;
        leat_sim_packetway_break_up(p, still);
    }
    leat_sim_packetway_tick(p);
}

void leat_sim_packetway_lend(struct leat_sim_packetway *p, struct leat_sim_crew *crew)
{
    p->crew = crew;
}

static void run_san(struct leat_port_net *net, leat_time end)
{
    while (net->in_flight && net->now < end)
        leat_port_run(net, end);
}

/* A member's SANs. */
static void run_some(void *context, uint32_t member)
{
    struct leat_sim_packetway *p = context;
    const uint32_t members = leat_sim_crew_members(p->crew);
    for (uint32_t i = member; i < p->config.sans; i += members)
        run_san(p->config.san[i].net, p->side_end);
}

static bool is_busy(const struct leat_sim_packetway *p, leat_time end)
{
    uint64_t packets = 0;
    for (uint32_t i = 0; i < p->config.sans; i++)
        packets += p->config.san[i].net->in_flight;
    return packets * (end - p->reached) >= BUSY_PACKET_PS * leat_sim_crew_members(p->crew);
}

/* What they report is planned in the order in which one thread would have planned it. */
static void run_side_by_side(struct leat_sim_packetway *p, leat_time end)
{
    p->side_by_side = true;
    p->side_end = end;
    leat_sim_crew_do(p->crew, run_some, p);
    p->side_by_side = false;
    for (uint32_t i = 0; i < p->config.sans; i++)
        plan_notices(&p->san[i]);
}

/*
 * The active SANs run up to `limit`, or less: a single one until its callback, several for one
 * step.
 */
static void run_sans(struct leat_sim_packetway *p, uint32_t active, leat_time limit)
{
    if (p->reached < p->now) p->reached = p->now;
    const leat_time end = active > 1 ? leat_smaller(limit, p->reached + p->step_ps) : limit;
    if (active > 1 && p->crew && !p->groups && !p->base.observer.packet && is_busy(p, end)) {
        run_side_by_side(p, end);
        p->reached = end;
        return;
    }
    for (uint32_t i = 0; i < p->config.sans; i++) {
        struct leat_port_net *net = p->config.san[i].net;
        if (!net->in_flight) continue;
        if (active == 1) {
            const leat_time reached = leat_port_run(net, end);
            p->reached = reached > p->reached ? reached : p->reached;
            return;
        }
        run_san(net, end);
    }
    p->reached = end;
}

leat_time leat_sim_packetway_run(struct leat_port_net *base, leat_time until)
{
    struct leat_sim_packetway *p = (struct leat_sim_packetway *)base; /* its first member */
    if (!leat_sim_post_begin(&p->post, until)) return base->now;
    if (base->observer.packet) leat_sim_packetway_show_sans(p);
    for (;;) {
        const leat_time next = p->post.plans ? p->post.plan[0].at : LEAT_NEVER;
        const leat_time limit = leat_smaller(until, leat_smaller(next, p->tick_at));
        const uint32_t active = active_sans(p);
        if (active && p->reached < limit) {
            run_sans(p, active, limit);
            continue;
        }
        p->now = limit;
        if (base->observer.packet) leat_sim_packetway_show_quiet(p);
        leat_sim_packetway_carry_out_now(p);
        if (p->tick_at <= p->now) tick(p);
        if (p->post.events || leat_sim_collect_has_news(&p->collect.base)) {
            leat_sim_post_report(&p->post, p->now);
            leat_sim_collect_report(&p->collect.base);
            return base->now;
        }
        if (p->now >= until) return base->now = p->now;
    }
}

bool leat_sim_packetway_send(struct leat_port_net *base, const struct leat_port_message *message,
                             leat_time at)
{
    struct leat_sim_packetway *p = (struct leat_sim_packetway *)base;
    uint32_t entry;
    if (!leat_sim_post_accept(&p->post, message, at, &entry)) return false;
    leat_sim_packetway_plan(p, at, packetway_group_node(p->host[message->from]), entry,
                            PACKETWAY_HAND_OVER);
    return true;
}
