/*
 * Users: call control of the user's side at the ports (atm_call, atm_party), and the cells of their
 * calls. A user accepts every call for which its line has room.
 *
 *     data cell   level (1) | call (8) | number (8) | slot (8) | 6a ...
 */
#include "leat_bytes.h"
#include "sim_atm_calls_parts.h"
#include <string.h>

enum { LEVEL_AT = 5, CALL_AT = 6, NUMBER_AT = 14, SLOT_AT = 22, FILL_AT = 30, DIGITS_CAP = 10 };
enum { VCI_SHIFT = 4 };

static void step_call(struct leat_sim_atm_calls *s, uint32_t leg,
                      const struct leat_atm_call_in *in);
static void step_party(struct leat_sim_atm_calls *s, uint32_t party,
                       const struct leat_atm_party_in *in);

/* ---- fates ----------------------------------------------------------------------------------- */

/* Calls of the plan have the numbers 1 .., those at random the next. NULL: of the latter. */
static struct leat_sim_atm_calls_fate *fate_of(struct leat_sim_atm_calls *s, uint64_t number)
{
    return number && number <= s->config.plans ? &s->fate[number - 1] : NULL;
}

/* The party of a call of the plan at this port. */
static struct leat_sim_atm_calls_fate *party_fate_at(struct leat_sim_atm_calls *s, uint64_t number,
                                                     uint32_t port)
{
    if (!fate_of(s, number)) return NULL;
    const struct leat_sim_atm_calls_plan *plan = &s->config.plan[number - 1];
    for (uint32_t i = plan->first_party; i < plan->first_party + plan->parties; i++)
        if (s->config.party[i].port == port) return &s->party_fate[i];
    return NULL;
}

/* What becomes of a call goes into the certificate: when, from where to where, and why. */
static void set_fate(struct leat_sim_atm_calls *s, const struct leg *l,
                     enum leat_sim_atm_calls_what what, uint8_t cause)
{
    struct leat_sim_atm_calls_fate *fate = fate_of(s, l->number);
    const struct leat_sim_delivery d = { .at = now_ps(s),
                                         .source = l->port,
                                         .destination = l->to,
                                         .number = l->number,
                                         .payload_hash = (uint64_t)what << 8 | cause };
    leat_sim_certificate_add(&s->certificate, &d);
    if (!fate) return;
    fate->what = what;
    fate->cause = cause;
}

static void count_end(struct leat_sim_atm_calls *s, struct leg *l, uint8_t cause)
{
    struct leat_sim_atm_calls_counts *n = &s->counts;
    if (!l->ours || l->is_over) return;
    l->is_over = true;
    if (!l->is_connected) {
        n->blocked += l->counts;
        n->by_cause[cause % LEAT_SIM_ATM_CALLS_CAUSES] += l->counts;
        set_fate(s, l, LEAT_SIM_ATM_CALL_BLOCKED, cause);
        return;
    }
    const bool by_us = s->now >= l->end_at;
    leat_sim_atm_calls_live(s, -1);
    *(by_us ? &n->released : &n->lost) += l->counts;
    set_fate(s, l, by_us ? LEAT_SIM_ATM_CALL_RELEASED : LEAT_SIM_ATM_CALL_LOST, by_us ? 0 : cause);
}

static void set_party_fate(struct leat_sim_atm_calls *s, const struct party *p,
                           enum leat_sim_atm_calls_what what, uint8_t cause)
{
    struct leat_sim_atm_calls_fate *fate = &s->party_fate[p->plan];
    fate->what = what;
    fate->cause = cause;
}

/* A party that stayed to the end of its call shares its fate. */
static void end_with_call(struct leat_sim_atm_calls *s, const struct leg *l, const struct party *p)
{
    const struct leat_sim_atm_calls_fate *call = fate_of(s, l->number);
    if (p->plan == NONE || p->is_over || !call) return;
    if (s->party_fate[p->plan].what == LEAT_SIM_ATM_CALL_CONNECTED)
        set_party_fate(s, p, call->what, call->cause);
    else if (s->party_fate[p->plan].what == LEAT_SIM_ATM_CALL_BEGUN)
        set_party_fate(s, p, LEAT_SIM_ATM_CALL_BLOCKED, call->cause);
}

/* ---- ends of calls --------------------------------------------------------------------------- */

static uint32_t *bucket_of(struct leat_sim_atm_calls *s, uint32_t port, uint32_t reference)
{
    return &s->leg_bucket[(reference + port * UINT64_C(2654435761)) % s->legs];
}

static uint32_t find_leg(struct leat_sim_atm_calls *s, uint32_t port, uint32_t reference, bool ours)
{
    uint32_t i = *bucket_of(s, port, reference);
    for (; i; i = s->leg[i - 1].hash_next) {
        const struct leg *l = &s->leg[i - 1];
        if (l->port == port && l->reference == reference && l->ours == ours) return i - 1;
    }
    return NONE;
}

static uint32_t take_leg(struct leat_sim_atm_calls *s, uint32_t port, uint32_t reference, bool ours)
{
    const uint32_t index = s->legs_free;
    if (index == s->legs) return NONE;
    uint32_t *bucket = bucket_of(s, port, reference);
    struct leg *l = &s->leg[index];
    s->legs_free = l->next;
    *l = (struct leg){ .port = port,
                       .reference = reference,
                       .hash_next = *bucket,
                       .used = true,
                       .ours = ours,
                       .source = NONE,
                       .begun_at = s->now,
                       .end_at = LEAT_NEVER,
                       .emit_at = LEAT_NEVER };
    *bucket = index + 1;
    leat_atm_call_init(&l->call, LEAT_ATM_CALL_USER);
    return index;
}

static uint32_t in_link(uint32_t port)
{
    return 2 * port + 1;
}

static void free_party(struct leat_sim_atm_calls *s, uint32_t party)
{
    leat_sim_agenda_set(&s->agenda, EVENTS, event_of_party(s, party), LEAT_NEVER);
    s->party[party] = (struct party){ .next = s->parties_free };
    s->parties_free = party;
}

static void free_leg(struct leat_sim_atm_calls *s, uint32_t index)
{
    struct leg *l = &s->leg[index];
    struct leat_atm_cac_link *path = &s->user[l->port].cac;
    uint32_t *at = bucket_of(s, l->port, l->reference);
    const uint32_t source = l->source;
    while (*at != index + 1)
        at = &s->leg[*at - 1].hash_next;
    *at = l->hash_next;
    if (l->booked) leat_atm_cac_release(&l->contract, &path, 1);
    if (l->has_label) s->link[in_link(l->port)].leg[l->vci - VCI_MIN] = 0;
    while (l->party) {
        const uint32_t party = l->party - 1;
        l->party = s->party[party].next;
        end_with_call(s, l, &s->party[party]);
        free_party(s, party);
    }
    leat_sim_agenda_set(&s->agenda, EVENTS, index, LEAT_NEVER);
    *l = (struct leg){ .next = s->legs_free };
    s->legs_free = index;
    if (source != NONE) leat_sim_atm_calls_source_idle(s, source);
}

static void plan_leg(struct leat_sim_atm_calls *s, uint32_t index)
{
    const struct leg *l = &s->leg[index];
    const uint64_t own = leat_smaller(l->end_at, l->emit_at);
    leat_sim_agenda_set(&s->agenda, EVENTS, index, leat_smaller(own, slot_of(s, l->call.due_at)));
}

/* ---- messages out ---------------------------------------------------------------------------- */

static void add(struct leat_sim_atm_calls *s, const struct leat_atm_signal_content *content)
{
    leat_sim_must(!leat_atm_signal_build_add(&s->builder, content));
}

static void add_value(struct leat_sim_atm_calls *s, uint8_t id, unsigned field, uint32_t value)
{
    struct leat_atm_signal_content c = { .id = id };
    c.value[field] = value;
    add(s, &c);
}

static void add_number(struct leat_sim_atm_calls *s, uint32_t port)
{
    uint8_t digits[DIGITS_CAP];
    struct leat_atm_signal_content c = { .id = LEAT_ATM_SIGNAL_CALLED_NUMBER };
    uint32_t first = DIGITS_CAP;
    do {
        digits[--first] = (uint8_t)('0' + port % 10);
        port /= 10;
    } while (port);
    c.tail = digits + first;
    c.tail_len = (uint8_t)(DIGITS_CAP - first);
    c.value[LEAT_ATM_SIGNAL_NUMBER_PLAN] = LEAT_ATM_SIGNAL_PLAN_E164;
    add(s, &c);
}

static void add_endpoint(struct leat_sim_atm_calls *s, const struct leg *l, uint16_t reference)
{
    struct leat_atm_signal_content c = { .id = LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE };
    c.value[LEAT_ATM_SIGNAL_ENDPOINT_FLAG] = !l->ours;
    c.value[LEAT_ATM_SIGNAL_ENDPOINT_VALUE] = reference;
    add(s, &c);
}

static void say(struct leat_sim_atm_calls *s, const struct leg *l)
{
    size_t len = 0;
    leat_sim_must(
        !leat_atm_signal_message_encode(&s->builder.message, s->message, sizeof s->message, &len));
    leat_sim_atm_calls_say(s, 2 * l->port, s->message, len);
}

static void say_of_call(struct leat_sim_atm_calls *s, const struct leg *l,
                        const struct leat_atm_call_out *out)
{
    if (!out->send) return;
    const enum leat_atm_signal_type type = (enum leat_atm_signal_type)out->send;
    leat_atm_signal_build(&s->builder, type, l->reference, !l->ours);
    if (type == LEAT_ATM_SIGNAL_SETUP) {
        const struct leat_atm_contract *c = &l->want->contract;
        leat_sim_must(!leat_atm_signal_contract_add(&s->builder, c, l->want->both_ways ? c : NULL,
                                                    l->is_tree));
        add_number(s, l->to);
    }
    if (l->is_tree && (type == LEAT_ATM_SIGNAL_SETUP || type == LEAT_ATM_SIGNAL_CONNECT))
        add_endpoint(s, l, l->endpoint);
    if (type == LEAT_ATM_SIGNAL_STATUS)
        add_value(s, LEAT_ATM_SIGNAL_CALL_STATE, LEAT_ATM_SIGNAL_STATE, out->state);
    if (out->cause) add_value(s, LEAT_ATM_SIGNAL_CAUSE, LEAT_ATM_SIGNAL_CAUSE_VALUE, out->cause);
    say(s, l);
}

static void say_of_party(struct leat_sim_atm_calls *s, const struct leg *l, uint16_t reference,
                         uint32_t called, const struct leat_atm_party_out *out)
{
    if (!out->send) return;
    leat_atm_signal_build(&s->builder, (enum leat_atm_signal_type)out->send, l->reference,
                          !l->ours);
    if (out->send == LEAT_ATM_SIGNAL_ADD_PARTY) add_number(s, called);
    if (out->send == LEAT_ATM_SIGNAL_STATUS)
        add_value(s, LEAT_ATM_SIGNAL_CALL_STATE, LEAT_ATM_SIGNAL_STATE, l->call.state);
    if (out->cause) add_value(s, LEAT_ATM_SIGNAL_CAUSE, LEAT_ATM_SIGNAL_CAUSE_VALUE, out->cause);
    add_endpoint(s, l, reference);
    if (out->send == LEAT_ATM_SIGNAL_STATUS)
        add_value(s, LEAT_ATM_SIGNAL_ENDPOINT_STATE, LEAT_ATM_SIGNAL_STATE, out->state);
    say(s, l);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The slot in which the next cell conforms. */
static uint64_t next_emission(struct leat_sim_atm_calls *s, struct leg *l)
{
    const leat_time at = leat_atm_shaper_decide(&l->shaper, now_ps(s));
    return at == LEAT_NEVER ? LEAT_NEVER : slot_of(s, at);
}

/* A call with UBR has a shaper at its peak rate, which its contract does not bound. */
static void begin_cells(struct leat_sim_atm_calls *s, struct leg *l)
{
    struct leat_atm_contract shape = l->contract;
    struct leat_atm_rules rules;
    if (l->sends || !l->has_label) return;
    if (shape.class == LEAT_ATM_UBR) shape.class = LEAT_ATM_CBR;
    leat_sim_must(!leat_atm_contract_rules(&shape, &rules));
    leat_sim_must(!leat_atm_shaper_init(&l->shaper, &rules));
    l->sends = true;
    l->emit_at = next_emission(s, l);
}

static void emit(struct leat_sim_atm_calls *s, uint32_t index)
{
    struct leg *l = &s->leg[index];
    const uint32_t cell = leat_sim_atm_calls_take_cell(s);
    const unsigned level = leat_atm_class_level(l->contract.class);
    struct leat_sim_atm_calls_fate *fate = fate_of(s, l->number);
    s->counts.cells_sent++;
    l->sent++;
    if (fate) fate->sent++;
    l->emit_at = next_emission(s, l);
    if (cell == NONE) {
        s->counts.cells_lost++;
        return;
    }
    uint8_t *octets = s->cell[cell].octets;
    memset(octets, LEAT_ATM_FILL, LEAT_ATM_CELL_LEN);
    leat_put_be32(octets, (uint32_t)l->vci << VCI_SHIFT);
    octets[LEVEL_AT] = (uint8_t)level;
    leat_put_be64(octets + CALL_AT, l->number);
    leat_put_be64(octets + NUMBER_AT, l->sent);
    leat_put_be64(octets + SLOT_AT, s->now);
    leat_sim_atm_calls_put(s, 2 * l->port, cell, level);
}

static void count_cell(struct leat_sim_atm_calls *s, const struct leg *l, const uint8_t *cell)
{
    struct leat_sim_atm_calls_fate *fate = fate_of(s, l->number),
                                   *party = party_fate_at(s, l->number, l->port);
    const struct leat_sim_delivery d = { .at = now_ps(s),
                                         .source = l->number,
                                         .destination = l->port,
                                         .number = leat_get_be64(cell + NUMBER_AT),
                                         .payload_hash = l->vci };
    leat_sim_certificate_add(&s->certificate, &d);
    leat_sim_histogram_add(&s->delay, s->now - leat_get_be64(cell + SLOT_AT));
    s->counts.cells_delivered++;
    if (fate) fate->delivered++;
    if (party) party->delivered++;
}

void leat_sim_atm_calls_take(struct leat_sim_atm_calls *s, uint32_t link, const uint8_t *cell)
{
    const uint32_t label = (leat_get_be32(cell) >> VCI_SHIFT & 0xffff) - VCI_MIN;
    const uint32_t i = label < s->config.lines.labels ? s->link[link].leg[label] : 0;
    const uint64_t number = leat_get_be64(cell + CALL_AT);
    if (!i) {
        s->counts.cells_late++;
        return;
    }
    struct leg *l = &s->leg[i - 1];
    if (!l->number) l->number = number; /* the called user learns it */
    if (l->number != number) {
        s->counts.misdelivered++;
        return;
    }
    count_cell(s, l, cell);
    if (l->ours || !l->both_ways || l->sends || l->call.state != LEAT_ATM_CALL_ACTIVE) return;
    begin_cells(s, l);
    plan_leg(s, i - 1);
}

/* ---- parties --------------------------------------------------------------------------------- */

static uint32_t take_party(struct leat_sim_atm_calls *s, uint32_t leg, uint16_t reference,
                           uint32_t plan)
{
    const uint32_t index = s->parties_free;
    if (index == s->party_max) return NONE;
    struct party *p = &s->party[index];
    s->parties_free = p->next;
    *p = (struct party){ .leg = leg + 1,
                         .reference = reference,
                         .plan = plan,
                         .add_at = LEAT_NEVER,
                         .drop_at = LEAT_NEVER,
                         .next = s->leg[leg].party };
    leat_atm_party_init(&p->state);
    s->leg[leg].party = index + 1;
    return index;
}

static uint32_t find_party(const struct leat_sim_atm_calls *s, const struct leg *l,
                           uint16_t reference)
{
    for (uint32_t i = l->party; i; i = s->party[i - 1].next)
        if (s->party[i - 1].reference == reference) return i - 1;
    return NONE;
}

static void plan_party(struct leat_sim_atm_calls *s, uint32_t party)
{
    const struct party *p = &s->party[party];
    const uint64_t own = leat_smaller(p->add_at, p->drop_at);
    leat_sim_agenda_set(&s->agenda, EVENTS, event_of_party(s, party),
                        leat_smaller(own, slot_of(s, p->state.due_at)));
}

static void do_party(struct leat_sim_atm_calls *s, uint32_t party, enum leat_atm_party_event event)
{
    step_party(s, party,
               &(struct leat_atm_party_in){ .event = event, .cause = LEAT_ATM_CAUSE_NORMAL });
}

static void do_parties(struct leat_sim_atm_calls *s, const struct leg *l,
                       enum leat_atm_party_event event)
{
    uint32_t next;
    for (uint32_t i = l->party; i; i = next) {
        next = s->party[i - 1].next;
        do_party(s, i - 1, event);
    }
}

static void party_added(struct leat_sim_atm_calls *s, struct party *p)
{
    if (p->plan == NONE || s->party_fate[p->plan].what == LEAT_SIM_ATM_CALL_CONNECTED) return;
    set_party_fate(s, p, LEAT_SIM_ATM_CALL_CONNECTED, 0);
    s->party_fate[p->plan].set_up = s->now - p->begun_at;
    p->drop_at = s->config.party[p->plan].drop_at;
    if (p->drop_at != LEAT_NEVER) p->drop_at = leat_larger(p->drop_at, s->now + 1);
    if (!p->is_first) s->counts.parties_added++;
}

/* A party of the root is in Null for good. */
static void party_ended(struct leat_sim_atm_calls *s, struct party *p, uint8_t cause)
{
    if (p->plan == NONE || p->is_over) return;
    p->is_over = true;
    if (s->party_fate[p->plan].what == LEAT_SIM_ATM_CALL_CONNECTED) {
        const bool by_us = p->is_dropped;
        set_party_fate(s, p, by_us ? LEAT_SIM_ATM_CALL_RELEASED : LEAT_SIM_ATM_CALL_LOST,
                       by_us ? 0 : cause);
        return;
    }
    set_party_fate(s, p, LEAT_SIM_ATM_CALL_BLOCKED, cause);
    if (p->is_first) return;
    s->counts.parties_refused++;
    s->counts.party_causes[cause % LEAT_SIM_ATM_CALLS_CAUSES]++;
}

/* The last party of a tree that its root has dropped, or that was lost: the call ends. */
static bool has_parties(const struct leat_sim_atm_calls *s, const struct leg *l)
{
    for (uint32_t i = l->party; i; i = s->party[i - 1].next)
        if (!s->party[i - 1].is_over) return true;
    return false;
}

static void step_party(struct leat_sim_atm_calls *s, uint32_t party,
                       const struct leat_atm_party_in *in)
{
    struct party *p = &s->party[party];
    struct leg *l = &s->leg[p->leg - 1];
    const uint32_t leg = p->leg - 1;
    const uint32_t called = p->plan == NONE ? 0 : s->config.party[p->plan].port;
    struct leat_atm_party_out out;
    const bool done = leat_atm_party_step(&p->state, now_ps(s), &leat_atm_call_timers_default, in,
                                          &out);
    say_of_party(s, l, p->reference, called, &out);
    if (out.tell == LEAT_ATM_PARTY_ADDED || (done && in->event == LEAT_ATM_PARTY_JOINED))
        party_added(s, p);
    if (out.tell == LEAT_ATM_PARTY_ENDING) {
        party_ended(s, p, out.told_cause);
        do_party(s, party, LEAT_ATM_PARTY_DO_DROP);
        return;
    }
    if (out.tell == LEAT_ATM_PARTY_CLEARED || out.tell == LEAT_ATM_PARTY_GIVEN_UP)
        party_ended(s, p, out.told_cause);
    plan_party(s, party);
    if (l->ours && p->is_over && l->call.state == LEAT_ATM_CALL_ACTIVE && !has_parties(s, l)) {
        l->end_at = leat_smaller(l->end_at, s->now + 1);
        plan_leg(s, leg);
    }
}

void leat_sim_atm_calls_party_due(struct leat_sim_atm_calls *s, uint32_t party)
{
    struct party *p = &s->party[party];
    if (!p->leg) return;
    if (s->now >= p->add_at) {
        p->add_at = LEAT_NEVER;
        p->begun_at = s->now;
        s->counts.parties_offered++;
        set_party_fate(s, p, LEAT_SIM_ATM_CALL_BEGUN, 0);
        do_party(s, party, LEAT_ATM_PARTY_DO_ADD);
    } else if (s->now >= p->drop_at) {
        p->drop_at = LEAT_NEVER;
        p->is_dropped = true;
        party_ended(s, p, 0);
        do_party(s, party, LEAT_ATM_PARTY_DO_DROP);
    } else if (now_ps(s) >= p->state.due_at) {
        do_party(s, party, LEAT_ATM_PARTY_TIMER);
    } else {
        plan_party(s, party);
    }
}

/* The other parties of a tree that has its first branch. */
static void plan_parties(struct leat_sim_atm_calls *s, uint32_t leg)
{
    const uint64_t number = s->leg[leg].number;
    if (!fate_of(s, number)) return;
    const struct leat_sim_atm_calls_plan *plan = &s->config.plan[number - 1];
    for (uint32_t i = 1; i < plan->parties; i++) {
        const uint32_t of_plan = plan->first_party + i;
        const uint32_t party = take_party(s, leg, (uint16_t)i, of_plan);
        if (party == NONE) {
            struct party none = { .plan = of_plan, .leg = leg + 1 };
            s->counts.parties_offered++;
            party_ended(s, &none, LEAT_ATM_CAUSE_RESOURCES);
            continue;
        }
        s->party[party].add_at = leat_larger(s->now + 1, s->config.party[of_plan].add_at);
        plan_party(s, party);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void do_call(struct leat_sim_atm_calls *s, uint32_t leg, enum leat_atm_call_event event,
                    uint8_t cause)
{
    step_call(s, leg, &(struct leat_atm_call_in){ .event = event, .cause = cause });
}

static void connected(struct leat_sim_atm_calls *s, uint32_t leg)
{
    struct leg *l = &s->leg[leg];
    struct leat_sim_atm_calls_fate *fate = fate_of(s, l->number);
    l->is_connected = true;
    s->counts.connected += l->counts;
    if (l->counts) leat_sim_histogram_add(&s->set_up, s->now - l->begun_at);
    leat_sim_atm_calls_live(s, 1);
    set_fate(s, l, LEAT_SIM_ATM_CALL_CONNECTED, 0);
    if (fate) fate->set_up = s->now - l->begun_at;
    l->end_at = leat_time_add(s->now, l->hold);
    if (l->data) begin_cells(s, l);
    if (l->is_tree) plan_parties(s, leg);
}

static void step_call(struct leat_sim_atm_calls *s, uint32_t leg, const struct leat_atm_call_in *in)
{
    struct leg *l = &s->leg[leg];
    struct leat_atm_call_out out;
    leat_atm_call_step(&l->call, now_ps(s), &leat_atm_call_timers_default, in, &out);
    say_of_call(s, l, &out);
    if (out.tell == LEAT_ATM_CALL_ANSWERED) connected(s, leg);
    if (out.tell == LEAT_ATM_CALL_ANSWERED || out.tell == LEAT_ATM_CALL_CONFIRMED)
        do_parties(s, l, LEAT_ATM_PARTY_JOINED);
    if (out.tell == LEAT_ATM_CALL_ENDING || out.tell == LEAT_ATM_CALL_GIVEN_UP ||
        out.tell == LEAT_ATM_CALL_CLEARED)
        count_end(s, l, out.told_cause);
    if (out.tell == LEAT_ATM_CALL_ENDING) {
        do_call(s, leg, LEAT_ATM_CALL_DO_RELEASE, LEAT_ATM_CAUSE_NORMAL);
        return;
    }
    if (l->call.state != LEAT_ATM_CALL_ACTIVE) l->emit_at = LEAT_NEVER;
    if (l->call.state == LEAT_ATM_CALL_NULL)
        free_leg(s, leg);
    else
        plan_leg(s, leg);
}

void leat_sim_atm_calls_leg_due(struct leat_sim_atm_calls *s, uint32_t leg)
{
    struct leg *l = &s->leg[leg];
    if (!l->used) return;
    if (s->now >= l->emit_at) emit(s, leg);
    if (s->now >= l->end_at && l->call.state == LEAT_ATM_CALL_ACTIVE) {
        count_end(s, l, 0);
        l->end_at = LEAT_NEVER;
        do_call(s, leg, LEAT_ATM_CALL_DO_RELEASE, LEAT_ATM_CAUSE_NORMAL);
    } else if (now_ps(s) >= l->call.due_at) {
        do_call(s, leg, LEAT_ATM_CALL_TIMER, LEAT_ATM_CAUSE_TIMER);
    } else {
        plan_leg(s, leg);
    }
}

/* 0, or the cause why the user's line has no room. */
static uint8_t admit(struct leat_sim_atm_calls *s, struct leg *l)
{
    struct leat_atm_cac_link *path = &s->user[l->port].cac;
    struct leat_atm_cac_answer answer;
    leat_sim_must(!leat_atm_cac_admit(&l->contract, &path, 1, &answer));
    l->booked = answer.criterion == LEAT_ATM_CAC_ACCEPTED;
    leat_sim_atm_calls_note_booked(s, 2 * l->port, path);
    return l->booked ? 0 : LEAT_ATM_CAUSE_RATE;
}

/* ---- calls that arise ------------------------------------------------------------------------ */

static uint32_t choose_reference(struct leat_sim_atm_calls *s, uint32_t port)
{
    uint32_t *reference = &s->user[port].reference;
    do {
        *reference = *reference % LEAT_ATM_SIGNAL_CALL_MAX + 1;
    } while (find_leg(s, port, *reference, true) != NONE);
    return *reference;
}

static void refuse(struct leat_sim_atm_calls *s, struct leg *l, uint8_t cause)
{
    s->counts.blocked_by_user += l->counts;
    count_end(s, l, cause);
}

static void begin_tree(struct leat_sim_atm_calls *s, uint32_t leg, uint32_t plan)
{
    const uint32_t first = s->config.plan[plan].first_party;
    s->leg[leg].is_tree = s->config.plan[plan].parties > 1;
    if (!s->leg[leg].is_tree) return;
    const uint32_t party = take_party(s, leg, 0, first);
    if (party == NONE) return; /* the network knows the party, we do not */
    s->party[party].is_first = true;
    s->party[party].begun_at = s->now;
    set_party_fate(s, &s->party[party], LEAT_SIM_ATM_CALL_BEGUN, 0);
    do_party(s, party, LEAT_ATM_PARTY_JOIN);
}

void leat_sim_atm_calls_ask(struct leat_sim_atm_calls *s,
                            const struct leat_sim_atm_calls_asked *asked)
{
    struct leg none = { .port = asked->from, .ours = true };
    const uint32_t leg = take_leg(s, asked->from, choose_reference(s, asked->from), true);
    struct leg *l = leg == NONE ? &none : &s->leg[leg];
    l->to = asked->to;
    l->number = asked->plan == NONE ? s->number++ : asked->plan + 1;
    l->source = asked->source;
    l->hold = asked->hold;
    l->want = asked->want;
    l->data = asked->want->data;
    l->both_ways = asked->want->both_ways;
    l->contract = asked->want->contract;
    l->counts = s->now >= s->config.warmup;
    s->counts.offered += l->counts;
    set_fate(s, l, LEAT_SIM_ATM_CALL_BEGUN, 0);
    if (leg == NONE) {
        refuse(s, l, LEAT_ATM_CAUSE_RESOURCES);
        if (asked->source != NONE) leat_sim_atm_calls_source_idle(s, asked->source);
        return;
    }
    const uint8_t cause = admit(s, l);
    if (cause) {
        refuse(s, l, cause);
        free_leg(s, leg);
        return;
    }
    if (asked->plan != NONE) begin_tree(s, leg, asked->plan);
    do_call(s, leg, LEAT_ATM_CALL_DO_SETUP, 0);
}

/* ---- messages in ----------------------------------------------------------------------------- */

/* A field of a message; `none` if it is not there. */
static uint32_t field_of(const struct leat_atm_signal_message *m, enum leat_atm_signal_id id,
                         unsigned field, uint32_t none)
{
    struct leat_atm_signal_content c;
    const struct leat_atm_signal_element *e = leat_atm_signal_message_find(m, id);
    return e && !leat_atm_signal_content_decode(e, &c) ? c.value[field] : none;
}

static uint8_t cause_of(const struct leat_atm_signal_message *m)
{
    return (uint8_t)field_of(m, LEAT_ATM_SIGNAL_CAUSE, LEAT_ATM_SIGNAL_CAUSE_VALUE,
                             LEAT_ATM_CAUSE_NORMAL);
}

static uint32_t endpoint_of(const struct leat_atm_signal_message *m)
{
    return field_of(m, LEAT_ATM_SIGNAL_ENDPOINT_REFERENCE, LEAT_ATM_SIGNAL_ENDPOINT_VALUE, NONE);
}

static void learn_label(struct leat_sim_atm_calls *s, uint32_t leg,
                        const struct leat_atm_signal_message *m)
{
    struct leg *l = &s->leg[leg];
    const uint32_t vci = field_of(m, LEAT_ATM_SIGNAL_CONNECTION_IDENTIFIER,
                                  LEAT_ATM_SIGNAL_CONNECTION_VCI, 0);
    if (l->has_label || vci < VCI_MIN || vci - VCI_MIN >= s->config.lines.labels) return;
    l->has_label = true;
    l->vci = (uint16_t)vci;
    s->link[in_link(l->port)].leg[vci - VCI_MIN] = leg + 1;
}

/* What a SETUP asks the called user for. 0, or the cause why the call is refused. */
static uint8_t read_setup(struct leat_sim_atm_calls *s, uint32_t leg,
                          const struct leat_atm_signal_message *m)
{
    struct leg *l = &s->leg[leg];
    struct leat_atm_signal_contract asked;
    if (leat_atm_signal_contract_find(m, 0, &asked)) return LEAT_ATM_CAUSE_CONTENTS;
    l->is_tree = asked.multipoint;
    l->both_ways = asked.has[1];
    l->contract = asked.contract[1];
    return l->both_ways ? admit(s, l) : 0;
}

static void on_setup(struct leat_sim_atm_calls *s, uint32_t leg,
                     const struct leat_atm_signal_message *m)
{
    const uint32_t endpoint = endpoint_of(m);
    const uint8_t cause = read_setup(s, leg, m);
    learn_label(s, leg, m);
    step_call(s, leg, &(struct leat_atm_call_in){ LEAT_ATM_CALL_MESSAGE, m->type, 0, 0 });
    if (cause) {
        do_call(s, leg, LEAT_ATM_CALL_DO_RELEASE, cause);
        return;
    }
    if (s->leg[leg].is_tree && endpoint != NONE) {
        s->leg[leg].endpoint = (uint16_t)endpoint;
        const uint32_t party = take_party(s, leg, (uint16_t)endpoint, NONE);
        if (party != NONE) do_party(s, party, LEAT_ATM_PARTY_JOIN_ASKED);
    }
    do_call(s, leg, LEAT_ATM_CALL_DO_CONNECT, 0);
}

/* A message about a call that does not exist. */
static void answer_unknown(struct leat_sim_atm_calls *s, uint32_t port,
                           const struct leat_atm_signal_message *m,
                           const struct leat_atm_call_in *in)
{
    struct leg none = { .port = port, .reference = m->call, .ours = m->to_originator };
    struct leat_atm_call_out out;
    leat_atm_call_init(&none.call, LEAT_ATM_CALL_USER);
    leat_atm_call_step(&none.call, now_ps(s), &leat_atm_call_timers_default, in, &out);
    say_of_call(s, &none, &out);
    if (none.call.state != LEAT_ATM_CALL_PRESENT) return;
    const struct leat_atm_call_in no = { .event = LEAT_ATM_CALL_DO_RELEASE,
                                         .cause = LEAT_ATM_CAUSE_RESOURCES };
    leat_atm_call_step(&none.call, now_ps(s), &leat_atm_call_timers_default, &no, &out);
    say_of_call(s, &none, &out);
}

static void on_party(struct leat_sim_atm_calls *s, uint32_t leg,
                     const struct leat_atm_signal_message *m, uint16_t reference)
{
    const struct leat_atm_party_in in = { LEAT_ATM_PARTY_MESSAGE, m->type, cause_of(m),
                                          (uint8_t)field_of(m, LEAT_ATM_SIGNAL_ENDPOINT_STATE,
                                                            LEAT_ATM_SIGNAL_STATE,
                                                            LEAT_ATM_PARTY_ACTIVE) };
    const uint32_t party = find_party(s, &s->leg[leg], reference);
    if (party != NONE) {
        step_party(s, party, &in);
        return;
    }
    struct leat_atm_party none;
    struct leat_atm_party_out out;
    leat_atm_party_init(&none);
    leat_atm_party_step(&none, now_ps(s), &leat_atm_call_timers_default, &in, &out);
    if (out.tell == LEAT_ATM_PARTY_OFFERED) /* a port is a party once */
        leat_atm_party_step(&none, now_ps(s), &leat_atm_call_timers_default,
                            &(struct leat_atm_party_in){ .event = LEAT_ATM_PARTY_DO_DROP,
                                                         .cause = LEAT_ATM_CAUSE_RESOURCES },
                            &out);
    say_of_party(s, &s->leg[leg], reference, 0, &out);
}

static bool is_of_party(const struct leat_atm_signal_message *m)
{
    return endpoint_of(m) != NONE &&
           (m->type >= LEAT_ATM_SIGNAL_ADD_PARTY || m->type == LEAT_ATM_SIGNAL_STATUS ||
            m->type == LEAT_ATM_SIGNAL_STATUS_ENQUIRY);
}

void leat_sim_atm_calls_hear(struct leat_sim_atm_calls *s, uint32_t port, const uint8_t *octets,
                             size_t len)
{
    struct leat_atm_signal_message m;
    if (leat_atm_signal_message_decode(octets, len, &m, NULL) || !m.call) return;
    const struct leat_atm_call_in in = { LEAT_ATM_CALL_MESSAGE, m.type, cause_of(&m),
                                         (uint8_t)field_of(&m, LEAT_ATM_SIGNAL_CALL_STATE,
                                                           LEAT_ATM_SIGNAL_STATE,
                                                           LEAT_ATM_CALL_ACTIVE) };
    uint32_t leg = find_leg(s, port, m.call, m.to_originator);
    const bool fresh = leg == NONE && m.type == LEAT_ATM_SIGNAL_SETUP && !m.to_originator;
    if (fresh) leg = take_leg(s, port, m.call, false);
    if (leg == NONE) {
        answer_unknown(s, port, &m, &in);
    } else if (fresh) {
        on_setup(s, leg, &m);
    } else if (is_of_party(&m)) {
        on_party(s, leg, &m, (uint16_t)endpoint_of(&m));
    } else {
        learn_label(s, leg, &m);
        step_call(s, leg, &in);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

void leat_sim_atm_calls_users_init(struct leat_sim_atm_calls *s)
{
    const struct leat_atm_cac_link_config cac = leat_sim_atm_calls_cac(&s->config);
    for (uint32_t p = 0; p < s->graph->ports; p++)
        leat_sim_must(!leat_atm_cac_link_init(&s->user[p].cac, &cac));
    for (uint32_t i = 0; i < s->legs; i++)
        s->leg[i].next = i + 1;
    for (uint32_t i = 0; i < s->party_max; i++)
        s->party[i].next = i + 1;
}
