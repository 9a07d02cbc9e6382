#include "sim_atm_platform.h"
#include "leat_arena.h"
#include "sim_refuse.h"
#include <assert.h>
#include <string.h>

enum {
    REST_CYCLES = 4096,   /* in which a cell in the network arrives, if it ever does */
    RUN_CYCLES = 1000000, /* of one run without callbacks */
};

typedef struct leat_sim_atm_platform_task task;
typedef struct leat_sim_atm_platform_port port;

static struct leat_sim_atm_platform *of(struct leat_platform *platform)
{
    return (struct leat_sim_atm_platform *)platform; /* its first member */
}

static struct leat_atm_aal_unit *unit_of(struct leat_sim_atm_platform *p, uint32_t at)
{
    return &p->load.host[at].unit;
}

static leat_time edge(const struct leat_sim_atm_platform *p, uint64_t cycle)
{
    leat_time at;
    return leat_sim_clock_edge(&p->clock, cycle, &at) ? LEAT_NEVER : at;
}

/* ---- replies --------------------------------------------------------------------------------- */

static void reply(struct leat_sim_atm_platform *p, task *t, uint64_t now,
                  struct leat_platform_reply what)
{
    t->waits = LEAT_SIM_ATM_PLATFORM_NOTHING;
    what.verb = t->verb;
    what.task = (uint32_t)(t - p->task);
    what.cycle = now;
    what.at = edge(p, now);
    p->base.reported(p->base.context, &what);
    p->has_called = true;
    p->replies++;
    leat_sim_atm_load_pause(&p->load);
}

static void refuse(struct leat_sim_atm_platform *p, task *t, uint64_t now, const char *why)
{
    reply(p, t, now, (struct leat_platform_reply){ .refusal = why });
}

static void reply_at(task *t, uint64_t cycle)
{
    t->waits = LEAT_SIM_ATM_PLATFORM_REPLY;
    t->reply_at = cycle;
}

/* A message is granted: this counts as a delivery, whatever its reader takes out of it. */
static uint32_t deliver(struct leat_sim_atm_platform *p, const task *t, uint64_t now)
{
    const struct leat_atm_aal_unit *unit = unit_of(p, t->port);
    const struct leat_atm_aal_message *m = &unit->message[unit->message_read];
    const uint32_t len = leat_atm_aal_unit_octets(unit, unit->message_read);
    leat_atm_aal_unit_copy(unit, unit->message_read, 0, p->load.received, len);
    const struct leat_sim_delivery delivery = {
        .at = now,
        .source = m->source,
        .destination = t->port,
        .number = m->id,
        .payload_hash = leat_sim_payload_hash(p->load.received, len),
    };
    leat_sim_certificate_add(&p->load.certificate, &delivery);
    p->base.net.certificate = leat_sim_certificate_value(&p->load.certificate);
    return len;
}

/* The event that a task waits for has happened. */
static void reply_due(struct leat_sim_atm_platform *p, task *t, uint64_t now)
{
    const uint32_t len = t->verb == LEAT_PLATFORM_RECEIVE ? deliver(p, t, now) : 0;
    reply(p, t, now, (struct leat_platform_reply){ .len = len });
}

static void reply_octets(struct leat_sim_atm_platform *p, task *t, uint64_t now)
{
    port *at = &p->port[t->port];
    const struct leat_atm_aal_unit *unit = unit_of(p, t->port);
    leat_atm_aal_unit_copy(unit, unit->message_read, at->read, p->load.received, t->len);
    at->read += t->len;
    reply(p, t, now, (struct leat_platform_reply){ .octets = p->load.received, .len = t->len });
}

/* ---- locks and commands ---------------------------------------------------------------------- */

static void command(struct leat_sim_atm_platform *p, uint32_t at,
                    const struct leat_atm_aal_command *what, uint64_t now)
{
    /* A task gives few commands at a time, and waits. */
    leat_sim_must(leat_atm_aal_unit_command(unit_of(p, at), what, now));
}

/* Is the lock that this task waits for available to it? Readers may overtake a writer that waits
 * for room. */
static bool may_have(struct leat_sim_atm_platform *p, const task *t)
{
    const port *at = &p->port[t->port];
    const uint32_t self = (uint32_t)(t - p->task) + 1;
    if (t->waits == LEAT_SIM_ATM_PLATFORM_WRITE_LOCK)
        return !at->writer && (!at->reader || at->reader == self);
    return t->waits == LEAT_SIM_ATM_PLATFORM_READ_LOCK && !at->reader &&
           (!at->writer || unit_of(p, t->port)->nomem);
}

static void begin_write(struct leat_sim_atm_platform *p, task *t, uint64_t now)
{
    port *at = &p->port[t->port];
    at->writer = (uint32_t)(t - p->task) + 1;
    at->sent = false;
    at->len = 0;
    command(p, t->port, &(struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_INITSEND }, now);
    reply(p, t, now, (struct leat_platform_reply){ 0 });
}

static void begin_read(struct leat_sim_atm_platform *p, task *t, uint64_t now)
{
    p->port[t->port].reader = (uint32_t)(t - p->task) + 1;
    p->port[t->port].read = 0;
    t->waits = LEAT_SIM_ATM_PLATFORM_UNIT;
    command(p, t->port,
            &(struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_RECEIVE, .message = t->wants },
            now);
}

/* The task that has waited longest for an available lock; of several the first by number. */
static task *first_waiting(struct leat_sim_atm_platform *p, uint32_t at)
{
    task *first = NULL;
    for (uint32_t i = p->port[at].first_task; i; i = p->task[i - 1].next) {
        task *t = &p->task[i - 1];
        if (may_have(p, t) && (!first || t->since < first->since)) first = t;
    }
    return first;
}

static void want_lock(task *t, enum leat_sim_atm_platform_wait lock, uint64_t now)
{
    t->waits = lock;
    t->since = now;
}

/* Is there a message for a task that wants one? Polling tasks do not know. */
static void find_message(struct leat_sim_atm_platform *p, task *t, uint64_t now)
{
    if (p->polls || leat_atm_aal_unit_has(unit_of(p, t->port), &t->wants))
        want_lock(t, LEAT_SIM_ATM_PLATFORM_READ_LOCK, now);
    else
        t->waits = LEAT_SIM_ATM_PLATFORM_MESSAGE;
}

static void end_read(struct leat_sim_atm_platform *p, const task *t, uint64_t now)
{
    leat_atm_aal_unit_read_end(unit_of(p, t->port), now);
    p->port[t->port].reader = 0;
}

/* ---- the unit of a port ---------------------------------------------------------------------- */

static task *task_at(struct leat_sim_atm_platform *p, uint32_t index_and_one)
{
    assert(index_and_one);
    return &p->task[index_and_one - 1];
}

static void on_denied(struct leat_sim_atm_platform *p, uint32_t at)
{
    task *t = task_at(p, p->port[at].reader);
    t->waits = LEAT_SIM_ATM_PLATFORM_DENIAL;
    t->reply_at = unit_of(p, at)->reply_at;
}

static void on_report(void *context, uint32_t at, uint32_t reported, uint64_t now)
{
    struct leat_sim_atm_platform *p = context;
    port *here = &p->port[at];
    assert(!(reported & LEAT_ATM_AAL_EXIT)); /* messages that are too long are rejected before */
    if (reported & LEAT_ATM_AAL_COMPLETE)
        for (uint32_t i = here->first_task; i; i = p->task[i - 1].next)
            if (p->task[i - 1].waits == LEAT_SIM_ATM_PLATFORM_MESSAGE)
                find_message(p, &p->task[i - 1], now);
    if (reported & LEAT_ATM_AAL_WRITTEN) here->writer = 0;
    if (reported & LEAT_ATM_AAL_GRANTED)
        reply_at(task_at(p, here->reader), unit_of(p, at)->reply_at);
    if (reported & LEAT_ATM_AAL_DENIED) on_denied(p, at);
    if (reported & LEAT_ATM_AAL_GOT) reply_octets(p, task_at(p, here->reader), now);
    if (reported & LEAT_ATM_AAL_UNDELIVERABLE) {
        const struct leat_atm_aal_unit *unit = unit_of(p, at);
        const uint16_t to = unit->send_block[unit->block_reported].destination;
        p->base.lost(p->base.context, at, to == LEAT_ATM_TASK_BROADCAST ? LEAT_PLATFORM_ALL : to,
                     edge(p, now));
        p->has_called = true;
        leat_sim_atm_load_pause(&p->load);
    }
}

/* A put or send is over when the unit would accept the next command. */
static void check_writer(struct leat_sim_atm_platform *p, uint32_t at)
{
    const struct leat_atm_aal_unit *unit = unit_of(p, at);
    if (!p->port[at].writer || unit->write.count) return;
    task *t = task_at(p, p->port[at].writer);
    const bool writes = t->verb == LEAT_PLATFORM_PUT || t->verb == LEAT_PLATFORM_SEND;
    if (writes && t->waits == LEAT_SIM_ATM_PLATFORM_UNIT) reply_at(t, unit->write_free_at - 1);
}

static void reply_all_due(struct leat_sim_atm_platform *p, uint32_t at, uint64_t now)
{
    for (uint32_t i = p->port[at].first_task; i; i = p->task[i - 1].next) {
        task *t = &p->task[i - 1];
        if (t->waits == LEAT_SIM_ATM_PLATFORM_REPLY && t->reply_at <= now) reply_due(p, t, now);
        if (t->waits == LEAT_SIM_ATM_PLATFORM_DENIAL && t->reply_at <= now) {
            p->port[at].reader = 0;
            find_message(p, t, now);
        }
    }
}

static void hand_out_locks(struct leat_sim_atm_platform *p, uint32_t at, uint64_t now)
{
    task *t;
    while ((t = first_waiting(p, at)))
        if (t->waits == LEAT_SIM_ATM_PLATFORM_WRITE_LOCK)
            begin_write(p, t, now);
        else
            begin_read(p, t, now);
}

/* The next action of this port on its own. */
static uint64_t next_at(struct leat_sim_atm_platform *p, uint32_t at)
{
    const struct leat_atm_aal_unit *unit = unit_of(p, at);
    uint64_t next = unit->write.count ? unit->wake_at : LEAT_NEVER; /* its end is not reported */
    for (uint32_t i = p->port[at].first_task; i; i = p->task[i - 1].next) {
        const task *t = &p->task[i - 1];
        if (t->waits == LEAT_SIM_ATM_PLATFORM_REPLY || t->waits == LEAT_SIM_ATM_PLATFORM_DENIAL)
            next = leat_smaller(next, t->reply_at);
    }
    return next;
}

static uint64_t serve(void *context, uint32_t at, uint64_t now)
{
    struct leat_sim_atm_platform *p = context;
    check_writer(p, at);
    reply_all_due(p, at, now);
    hand_out_locks(p, at, now);
    return next_at(p, at);
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool join(struct leat_platform *platform, uint32_t index, uint32_t at,
                 const char name[LEAT_PLATFORM_NAME_LEN], uint32_t instance)
{
    struct leat_sim_atm_platform *p = of(platform);
    uint32_t namesakes = 0, *link = &p->port[at].first_task;
    if (index >= p->tasks_max || p->task[index].joined || at >= p->base.net.ports) return false;
    task *t = &p->task[index];
    *t = (task){ .port = at, .instance = instance, .joined = true };
    for (int i = 0; i < LEAT_PLATFORM_NAME_LEN; i++)
        t->name[i] = (uint8_t)name[i];
    for (uint32_t i = *link; i; i = p->task[i - 1].next)
        namesakes += !memcmp(p->task[i - 1].name, t->name, sizeof t->name);
    if (namesakes == LEAT_ATM_AAL_SERVED_MAX) {
        t->joined = false;
        return false;
    }
    while (*link && *link < index + 1)
        link = &p->task[*link - 1].next;
    t->next = *link;
    *link = index + 1;
    return true;
}

static void ask_put(struct leat_sim_atm_platform *p, task *t,
                    const struct leat_platform_request *request, uint64_t now)
{
    port *at = &p->port[t->port];
    const struct leat_atm_aal_command put = { .verb = LEAT_ATM_AAL_PUT,
                                              .octets = at->octets + at->len,
                                              .len = request->len };
    if (request->len > p->load.config.len_max - at->len) {
        refuse(p, t, now, "the message is longer than the send buffer of its port");
        return;
    }
    if (request->len) {
        memcpy(at->octets + at->len, request->octets, request->len);
        at->len += request->len;
        command(p, t->port, &put, now);
    }
    t->waits = LEAT_SIM_ATM_PLATFORM_UNIT;
}

static void ask_send(struct leat_sim_atm_platform *p, task *t,
                     const struct leat_platform_request *request, uint64_t now)
{
    const uint16_t to = (uint16_t)(request->to == LEAT_PLATFORM_ALL ? LEAT_ATM_TASK_BROADCAST
                                                                    : request->to);
    const struct leat_atm_aal_command commands[] = {
        { .verb = LEAT_ATM_AAL_DESTINATION, .destination = to },
        { .verb = LEAT_ATM_AAL_SEND,
          .message = { .name = { (uint8_t)request->name[0], (uint8_t)request->name[1],
                                 (uint8_t)request->name[2] },
                       .instance = request->instance,
                       .id = request->type } },
    };
    assert(request->to == LEAT_PLATFORM_ALL || request->to < p->base.net.ports);
    command(p, t->port, &commands[0], now);
    command(p, t->port, &commands[1], now);
    p->port[t->port].sent = true;
    t->waits = LEAT_SIM_ATM_PLATFORM_UNIT;
}

static void ask_get(struct leat_sim_atm_platform *p, task *t,
                    const struct leat_platform_request *request, uint64_t now)
{
    const port *at = &p->port[t->port];
    const struct leat_atm_aal_unit *unit = unit_of(p, t->port);
    if (request->len > leat_atm_aal_unit_octets(unit, unit->message_read) - at->read) {
        refuse(p, t, now, "the message has fewer octets");
        return;
    }
    t->len = request->len;
    if (!t->len) { /* takes no time */
        reply_octets(p, t, now);
        return;
    }
    t->waits = LEAT_SIM_ATM_PLATFORM_UNIT;
    command(p, t->port, &(struct leat_atm_aal_command){ .verb = LEAT_ATM_AAL_GET, .len = t->len },
            now);
}

static void ask_receive(struct leat_sim_atm_platform *p, task *t,
                        const struct leat_platform_request *request, uint64_t now)
{
    if (p->port[t->port].reader == (uint32_t)(t - p->task) + 1) end_read(p, t, now);
    t->wants = (struct leat_atm_task_message){ .instance = t->instance, .id = request->type };
    memcpy(t->wants.name, t->name, sizeof t->name);
    find_message(p, t, now);
}

/* The command is out of turn: why? */
static const char *why_not(const struct leat_sim_atm_platform *p, const task *t,
                           enum leat_platform_verb verb)
{
    const uint32_t self = (uint32_t)(t - p->task) + 1;
    const bool writes = p->port[t->port].writer == self && !p->port[t->port].sent;
    const bool reads = p->port[t->port].reader == self;
    switch (verb) {
    case LEAT_PLATFORM_INITSEND:
    case LEAT_PLATFORM_RECEIVE: return writes ? "its last message was begun and not sent" : NULL;
    case LEAT_PLATFORM_PUT:
    case LEAT_PLATFORM_SEND: return writes ? NULL : "no message was begun";
    case LEAT_PLATFORM_GET:
    case LEAT_PLATFORM_READ_END: return reads ? NULL : "it has no message to read";
    }
    return "unknown";
}

static void ask(struct leat_platform *platform, const struct leat_platform_request *request)
{
    struct leat_sim_atm_platform *p = of(platform);
    const uint64_t now = p->load.sim.now - 1;
    task *t = &p->task[request->task];
    assert(t->joined && t->waits == LEAT_SIM_ATM_PLATFORM_NOTHING);
    const char *refusal = why_not(p, t, request->verb);
    t->verb = request->verb;
    if (refusal) {
        refuse(p, t, now, refusal);
        return;
    }
    switch (request->verb) {
    case LEAT_PLATFORM_INITSEND: want_lock(t, LEAT_SIM_ATM_PLATFORM_WRITE_LOCK, now); break;
    case LEAT_PLATFORM_PUT: ask_put(p, t, request, now); break;
    case LEAT_PLATFORM_SEND: ask_send(p, t, request, now); break;
    case LEAT_PLATFORM_RECEIVE: ask_receive(p, t, request, now); break;
    case LEAT_PLATFORM_GET: ask_get(p, t, request, now); break;
    case LEAT_PLATFORM_READ_END:
        end_read(p, t, now);
        reply(p, t, now, (struct leat_platform_reply){ 0 });
        break;
    }
    p->base.net.in_flight = 1;
    leat_sim_atm_load_wake(&p->load, t->port);
}

static uint64_t present_cycle(const struct leat_platform *platform)
{
    return ((const struct leat_sim_atm_platform *)platform)->load.sim.now - 1;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Does a cell wait until its unit has forgotten an older message of that source (note R9)? */
static bool waits_for_oblivion(const struct leat_sim_atm_platform *p, uint32_t at)
{
    const struct leat_atm_aal_unit *unit = &p->load.host[at].unit;
    if (unit->aging_head == LEAT_ATM_AAL_NONE) return false; /* it will forget no more */
    for (uint32_t source = 0; source < p->base.net.ports; source++)
        if (unit->all_stream[source].parked_first || unit->peer[source].stream.parked_first)
            return true;
    return false;
}

/* Are all units and tasks idle? Polling tasks are. */
static bool is_at_rest(const struct leat_sim_atm_platform *p)
{
    for (uint32_t i = 0; i < p->tasks_max; i++) {
        const task *t = &p->task[i];
        const bool polls = p->polls && t->verb == LEAT_PLATFORM_RECEIVE;
        const bool idles = t->waits <= LEAT_SIM_ATM_PLATFORM_MESSAGE; /* or others must act first */
        if (!idles && !polls) return false;
    }
    for (uint32_t at = 0; at < p->base.net.ports; at++)
        if (waits_for_oblivion(p, at)) return false;
    return leat_sim_atm_load_is_quiet(&p->load);
}

/* Does the network make no progress? Then it has reported so. */
static bool is_stuck(struct leat_sim_atm_platform *p)
{
    struct leat_port_net *net = &p->base.net;
    const bool locked = leat_sim_atm_load_is_stuck(&p->load, &p->arrivals);
    if (!locked && !leat_sim_atm_load_is_livelocked(&p->load, p->replies, false, &p->progress))
        return false;
    const enum leat_port_stuck how = locked ? LEAT_PORT_LOCKED : LEAT_PORT_LIVELOCKED;
    net->in_flight = 0;
    if (net->observer.stuck)
        net->observer.stuck(net->observer.context, how, leat_sim_atm_load_stuck_text(how),
                            edge(p, p->load.sim.now - 1));
    return true;
}

static leat_time run(struct leat_port_net *net, leat_time until)
{
    struct leat_sim_atm_platform *p = of((struct leat_platform *)net);
    struct leat_sim_atm_load *load = &p->load;
    const uint64_t enough = load->sim.now + RUN_CYCLES - 1;
    const uint64_t last = leat_sim_clock_last(&p->clock, until);
    bool rested = false;
    p->has_called = false;
    while (load->sim.now <= leat_smaller(last, enough) && (until != LEAT_NEVER || net->in_flight)) {
        leat_sim_atm_load_run(load, leat_smaller(load->sim.now + REST_CYCLES - 1, last));
        if (p->has_called || is_stuck(p)) break;
        const bool rests = is_at_rest(p);
        if (rests && rested) net->in_flight = 0;
        rested = rests;
    }
    const bool is_there = !p->has_called && load->sim.now > last;
    net->now = is_there ? until : edge(p, load->sim.now - 1);
    return net->now;
}

/* The only messages are those of the units. */
static bool send(struct leat_port_net *net, const struct leat_port_message *message, leat_time at)
{
    (void)net;
    (void)message;
    (void)at;
    return false;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *lay_out(struct leat_sim_atm_platform *p,
                     const struct leat_sim_atm_ports_config *config, uint8_t **octets,
                     struct leat_arena *arena)
{
    const struct leat_sim_atm_load_config load = leat_sim_atm_ports_load(config);
    const uint32_t ports = config->fabric.net.ports;
    p->task = leat_arena_lay(arena, config->tasks_max, sizeof *p->task);
    p->port = leat_arena_lay(arena, ports, sizeof *p->port);
    *octets = leat_arena_lay(arena, ports, load.len_max);
    return leat_arena_lay_lines(arena, 1, leat_sim_atm_load_footprint(&load));
}

size_t leat_sim_atm_platform_footprint(const struct leat_sim_atm_ports_config *config)
{
    struct leat_sim_atm_platform measured;
    struct leat_arena arena = { 0 };
    uint8_t *octets;
    lay_out(&measured, config, &octets, &arena);
    return arena.used;
}

void leat_sim_atm_platform_init(struct leat_sim_atm_platform *p,
                                const struct leat_sim_atm_ports_config *config, void *memory)
{
    static const struct leat_port_ops ops = { .send = send, .run = run };
    struct leat_sim_atm_load_config load = leat_sim_atm_ports_load(config);
    struct leat_arena arena = { .memory = memory, .cap = leat_sim_atm_platform_footprint(config) };
    uint8_t *octets;
    *p = (struct leat_sim_atm_platform){
        .base = { .net = { .ops = &ops, .ports = config->fabric.net.ports },
                  .join = join,
                  .ask = ask,
                  .cycle = present_cycle },
        .tasks_max = config->tasks_max,
        .polls = config->polls,
    };
    void *load_memory = lay_out(p, config, &octets, &arena);
    for (uint32_t at = 0; at < config->fabric.net.ports; at++)
        p->port[at].octets = octets + (size_t)at * load.len_max;
    leat_sim_must(!leat_sim_clock_init(&p->clock, config->fabric.period_ps_num,
                                       config->fabric.period_ps_den));
    load.desk = (struct leat_sim_atm_load_desk){ p, on_report, serve };
    leat_sim_atm_load_init(&p->load, &load, load_memory);
    leat_sim_atm_load_be_prompt(&p->load); /* tasks may give commands at any time */
}
