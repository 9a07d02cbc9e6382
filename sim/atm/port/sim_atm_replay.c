#include "sim_atm_replay.h"
#include "leat_arena.h"
#include "sim_atm_fingerprint.h"
#include "sim_post.h"
#include <assert.h>

enum {
    ITEMS_MAX = 1 << 16,    /* of a lap */
    MESSAGES_MAX = 1 << 14, /* of a lap */
    WORDS_MAX = 1 << 18,    /* of a likeness: 256 ports that are idle take 150,000 */
    PORTS_MAX = 256,        /* of a network that is looked at: it takes the square of that */
    SPAN_MIN = 64,          /* arrivals */
    SPAN_MAX = 1 << 14,
    WORDS_FREE = 1 << 15, /* that looking may cost before anything has been simulated, ... */
    WORDS_A_CELL = 8,     /* ... and for each cell: some hundredths of simulating it */
    WORTH_LAPS = 4,       /* fewer are not worth looking for them */
};

static struct leat_sim_atm_replay *of(struct leat_port_net *net)
{
    return (struct leat_sim_atm_replay *)net; /* its first member */
}

static uint32_t entry_of(const struct leat_sim_atm_replay *laps,
                         const struct leat_port_message *message)
{
    return (uint32_t)((const struct leat_sim_atm_ports_entry *)message - laps->port.entry);
}

/* The last cycle that was run. */
static uint64_t present(const struct leat_sim_atm_replay *laps)
{
    return laps->port.load.sim.now - 1;
}

/* ---- writing down ------------------------------------------------------------------------------
 */

/* There is no lap through this: it takes a while until there may be one. */
static void forget(struct leat_sim_atm_replay *laps)
{
    laps->remembers = false;
    laps->rests = SPAN_MIN;
}

static void write_down(struct leat_sim_atm_replay *laps, enum leat_sim_atm_replay_kind kind,
                       uint32_t message, uint64_t told, uint64_t at)
{
    if (!laps->remembers) return;
    if (laps->item_count == ITEMS_MAX) {
        forget(laps);
        return;
    }
    laps->item[laps->item_count++] = (struct leat_sim_atm_replay_item){
        .kind = kind, .message = message, .told = told - laps->from, .at = at - laps->from
    };
}

static uint64_t cycle_of(const struct leat_sim_atm_replay *laps, leat_time at)
{
    return leat_sim_atm_ports_cycle_from(&laps->port, at);
}

/* ---- what the network tells --------------------------------------------------------------------
 */

static void hear_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_replay *laps = context;
    struct leat_sim_atm_replay_entry *e = &laps->entry[entry_of(laps, message)];
    const uint64_t cycle = cycle_of(laps, at);
    e->number = laps->port.load.host[message->from].number;
    if (laps->catches_up) return;
    if (laps->remembers) laps->message[e->message].number = e->number - laps->number[message->from];
    write_down(laps, LEAT_SIM_ATM_REPLAY_SENT, e->message, cycle, cycle);
    laps->net.hear.sent(laps->net.hear.context, message, at);
}

/* Told when its reading is granted: the reply comes a little later. */
static void hear_coming(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_replay *laps = context;
    struct leat_sim_atm_replay_entry *e = &laps->entry[entry_of(laps, message)];
    const struct leat_sim_atm_load_host *host = &laps->port.load.host[message->to];
    e->hash = host->reading_coming.payload_hash;
    e->has_hash = true;
    if (laps->catches_up) return;
    write_down(laps, LEAT_SIM_ATM_REPLAY_COMING, e->message, host->unit.reply_at,
               cycle_of(laps, at));
    if (laps->net.hear.coming) laps->net.hear.coming(laps->net.hear.context, message, at);
}

static void hear_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_replay *laps = context;
    const uint64_t cycle = cycle_of(laps, at);
    if (laps->catches_up) return;
    write_down(laps, LEAT_SIM_ATM_REPLAY_ARRIVED, laps->entry[entry_of(laps, message)].message,
               cycle, cycle);
    laps->has_arrived = true;
    laps->arrived_now = *message;
    laps->net.hear.arrived(laps->net.hear.context, message, at);
}

static void hear_lost(void *context, const struct leat_port_message *message, const char *why,
                      leat_time at)
{
    struct leat_sim_atm_replay *laps = context;
    assert(!laps->catches_up);
    forget(laps);
    laps->net.hear.lost(laps->net.hear.context, message, why, at);
}

static void hear_stuck(void *context, enum leat_port_stuck how, const char *why, leat_time at)
{
    const struct leat_sim_atm_replay *laps = context;
    if (laps->net.hear.stuck) laps->net.hear.stuck(laps->net.hear.context, how, why, at);
}

static void hear_head(void *context, const struct leat_port_message *message, leat_time from,
                      leat_time at)
{
    const struct leat_sim_atm_replay *laps = context;
    laps->net.hear.head(laps->net.hear.context, message, from, at);
}

/* ---- moments -----------------------------------------------------------------------------------
 */

/* What looking at so many words of a moment takes: units look at each other for many of them. */
static uint64_t cost_of(uint64_t words)
{
    return words + words / 2;
}

/* In a large network that carries little, looking would take longer than what it may save. */
static bool can_afford(const struct leat_sim_atm_replay *laps, uint64_t looks)
{
    const uint64_t peers = (uint64_t)laps->net.ports * laps->net.ports;
    const uint64_t words = laps->word_count > 2 * peers ? laps->word_count : 2 * peers;
    const uint64_t earned = WORDS_FREE + laps->port.load.counts.cells_delivered * WORDS_A_CELL;
    return earned >= laps->words_spent + looks * cost_of(words);
}

/* A moment to come back to. */
static void remember(struct leat_sim_atm_replay *laps)
{
    struct leat_sim_atm_ports *port = &laps->port;
    struct leat_fingerprint likeness = { .word = laps->word, .cap = WORDS_MAX };
    forget(laps);
    if (port->net.under_way > MESSAGES_MAX / 2) return;
    leat_sim_atm_fingerprint(port, &likeness, laps->shell, &laps->under_way);
    laps->words_spent += cost_of(likeness.count);
    if (!leat_fingerprint_holds(&likeness)) return;
    laps->rests = 0;
    laps->remembers = true;
    laps->word_count = likeness.count;
    laps->from = present(laps);
    laps->holds = port->holds;
    laps->arrived_last = laps->arrived_now;
    laps->item_count = laps->unsettled = 0;
    laps->message_count = laps->under_way;
    for (uint32_t p = 0; p < port->net.ports; p++)
        laps->number[p] = port->load.host[p].number;
    for (uint32_t i = 0; i < laps->under_way; i++) {
        struct leat_sim_atm_replay_entry *e = &laps->entry[laps->shell[i]];
        const struct leat_port_message *m = &port->entry[laps->shell[i]].message;
        e->message = i;
        laps->message[i] = (struct leat_sim_atm_replay_message){
            .message = *m, .number = e->number - laps->number[m->from]
        };
    }
}

static bool is_like(struct leat_sim_atm_replay *laps)
{
    struct leat_fingerprint likeness = { .word = laps->word,
                                         .cap = laps->word_count,
                                         .compares = true };
    uint32_t count;
    if (laps->port.net.under_way != laps->under_way || laps->port.holds != laps->holds)
        return false;
    leat_sim_atm_fingerprint(&laps->port, &likeness, laps->shell, &count);
    laps->words_spent += cost_of(likeness.count); /* moments that differ mostly do so early */
    return leat_fingerprint_holds(&likeness);
}

/* From here on the network stands still. */
static void begin_replay(struct leat_sim_atm_replay *laps)
{
    laps->length = present(laps) - laps->from;
    laps->from = present(laps);
    laps->replays = true;
    laps->laps = 0;
    laps->next = 0;
    for (uint32_t i = 0; i < laps->under_way; i++) {
        const struct leat_sim_atm_replay_entry *e = &laps->entry[laps->shell[i]];
        struct leat_sim_atm_replay_message *m = &laps->message[i];
        laps->ends_as[i] = e->message;
        m->message = laps->port.entry[laps->shell[i]].message;
        m->hash = e->hash;
        m->has_hash = e->has_hash;
        laps->began[i] = *m;
    }
    for (uint32_t p = 0; p < laps->net.ports; p++)
        laps->number[p] = laps->port.load.host[p].number - laps->number[p]; /* of a lap */
}

static bool same_kind(const struct leat_port_message *a, const struct leat_port_message *b)
{
    return a->from == b->from && a->to == b->to && a->len == b->len;
}

/* A message has arrived. */
static void look_for_laps(struct leat_sim_atm_replay *laps)
{
    if (laps->rests) {
        laps->rests--;
        return;
    }
    laps->arrivals++;
    if (!can_afford(laps, 1)) return;
    if (laps->remembers && same_kind(&laps->arrived_now, &laps->arrived_last) && is_like(laps)) {
        begin_replay(laps);
        return;
    }
    if (laps->remembers && laps->arrivals < laps->span) return;
    /* A moment that cannot be looked for soon would be forgotten: there is a bound on items. */
    if (!can_afford(laps, 2)) return;
    if (laps->remembers && laps->span < SPAN_MAX) laps->span += laps->span / 2;
    laps->arrivals = 0;
    remember(laps);
}

/* ---- laps that are not simulated ---------------------------------------------------------------
 */

static void next_lap(struct leat_sim_atm_replay *laps)
{
    struct leat_sim_atm_load *load = &laps->port.load;
    laps->next = 0;
    laps->laps++;
    load->skipped_cycles += laps->length;
    for (uint32_t p = 0; p < laps->net.ports; p++)
        load->host[p].skipped += laps->number[p];
    for (uint32_t i = 0; i < laps->under_way; i++)
        laps->began[i] = laps->message[laps->ends_as[i]];
    for (uint32_t i = 0; i < laps->under_way; i++) {
        laps->began[i].number = laps->message[i].number;
        laps->message[i] = laps->began[i];
    }
}

static void arrive(struct leat_sim_atm_replay *laps, const struct leat_sim_atm_replay_message *m,
                   uint64_t cycle)
{
    struct leat_sim_atm_load *load = &laps->port.load;
    const struct leat_sim_delivery delivery = {
        .at = cycle,
        .source = m->message.from,
        .destination = m->message.to,
        .number = load->host[m->message.from].number + m->number,
        .payload_hash = m->hash,
    };
    assert(m->has_hash);
    leat_sim_atm_load_certify(load, &delivery);
    laps->net.certificate = leat_sim_certificate_value(&load->certificate);
    laps->net.under_way--;
    laps->replayed++;
}

/* Tells again what was told. */
static void tell(struct leat_sim_atm_replay *laps, const struct leat_sim_atm_replay_item *item)
{
    const struct leat_port_hear *hear = &laps->net.hear;
    struct leat_sim_atm_replay_message *m = &laps->message[item->message];
    const uint64_t cycle = laps->from + item->at;
    const leat_time at = leat_sim_atm_ports_edge(&laps->port, cycle);
    switch (item->kind) {
    case LEAT_SIM_ATM_REPLAY_SENT: hear->sent(hear->context, &m->message, at); break;
    case LEAT_SIM_ATM_REPLAY_COMING:
        m->hash = leat_sim_post_hash(&m->message, m->message.octets, m->message.len);
        m->has_hash = true;
        if (hear->coming) hear->coming(hear->context, &m->message, at);
        break;
    case LEAT_SIM_ATM_REPLAY_ARRIVED:
        arrive(laps, m, cycle);
        hear->arrived(hear->context, &m->message, at);
        break;
    case LEAT_SIM_ATM_REPLAY_HANDED:
    case LEAT_SIM_ATM_REPLAY_PAUSE: break;
    }
}

/* ---- back to the network -----------------------------------------------------------------------
 */

static void run_up_to(struct leat_sim_atm_replay *laps, uint64_t cycle)
{
    struct leat_port_net *inner = &laps->port.net;
    while (present(laps) < cycle)
        leat_port_run(inner, leat_sim_atm_ports_edge(&laps->port, cycle));
}

static void hand_over(struct leat_sim_atm_replay *laps, const struct leat_sim_atm_replay_message *m)
{
    struct leat_sim_atm_ports *port = &laps->port;
    const uint32_t index = port->free - 1;
    const bool taken = leat_port_send(&port->net, &m->message,
                                      leat_sim_atm_ports_edge(port, laps->from + m->cycle));
    assert(taken); /* as in the lap before */
    (void)taken;
    port->entry[index].hash = m->hash;
    port->entry[index].has_hash = m->has_hash;
    laps->entry[index] = (struct leat_sim_atm_replay_entry){ 0 };
}

/* The network is brought from the beginning of this lap to the present; what it tells is known. */
static void catch_up(struct leat_sim_atm_replay *laps)
{
    struct leat_sim_atm_ports *port = &laps->port;
    const struct leat_sim_certificate certificate = port->load.certificate;
    const uint64_t now = leat_sim_atm_ports_last_cycle(port, laps->net.now);
    laps->replays = false;
    laps->catches_up = true;
    leat_sim_certificate_init(&port->load.certificate); /* has these deliveries already */
    for (uint32_t i = 0; i < laps->under_way; i++) {
        const struct leat_sim_atm_replay_message *m = &laps->began[i];
        struct leat_sim_atm_replay_entry *e = &laps->entry[laps->shell[i]];
        leat_sim_atm_ports_replace(port, laps->shell[i], &m->message, laps->blank,
                                   m->has_hash ? &m->hash : NULL);
        port->entry[laps->shell[i]].hash = laps->message[i].hash;
        port->entry[laps->shell[i]].has_hash = laps->message[i].has_hash;
        e->hash = laps->message[i].hash;
        e->has_hash = laps->message[i].has_hash;
    }
    port->stand_in = laps->blank;
    for (uint32_t i = 0; i < laps->next; i++) {
        if (laps->item[i].kind != LEAT_SIM_ATM_REPLAY_HANDED) continue;
        run_up_to(laps, laps->from + laps->item[i].told);
        hand_over(laps, &laps->message[laps->item[i].message]);
    }
    run_up_to(laps, now);
    port->stand_in = NULL;
    port->load.certificate = certificate;
    port->net.certificate = laps->net.certificate;
    port->net.now = laps->net.now;
    laps->catches_up = false;
    assert(port->net.under_way == laps->net.under_way);
    forget(laps);
    laps->arrivals = 0;
    laps->span = SPAN_MIN;
    laps->rest = laps->laps >= WORTH_LAPS ? 0 : 2 * laps->rest + SPAN_MIN;
    if (laps->rest > SPAN_MAX) laps->rest = SPAN_MAX;
    laps->rests = laps->rest;
}

/* ---- ports -------------------------------------------------------------------------------------
 */

static void show(struct leat_sim_atm_replay *laps)
{
    const struct leat_port_net *inner = &laps->port.net;
    laps->net.now = inner->now;
    laps->net.under_way = inner->under_way;
    laps->net.certificate = inner->certificate;
}

static bool is_handed_again(const struct leat_sim_atm_replay *laps,
                            const struct leat_port_message *message, leat_time at)
{
    const struct leat_sim_atm_replay_item *item = &laps->item[laps->next];
    const struct leat_sim_atm_replay_message *m = &laps->message[item->message];
    return item->kind == LEAT_SIM_ATM_REPLAY_HANDED && same_kind(&m->message, message) &&
           laps->from + m->cycle == cycle_of(laps, at);
}

static bool send_simulated(struct leat_sim_atm_replay *laps,
                           const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_ports *port = &laps->port;
    const uint32_t index = port->free - 1;
    if (!leat_port_send(&port->net, message, at)) return false;
    laps->net.under_way = port->net.under_way;
    laps->entry[index] = (struct leat_sim_atm_replay_entry){ .message = laps->message_count };
    /* Those that go in pieces, or to themselves, are not for laps. */
    if (laps->message_count == MESSAGES_MAX || message->len > port->load.config.len_max ||
        message->from == message->to)
        forget(laps);
    if (!laps->remembers) return true;
    laps->message[laps->message_count] = (struct leat_sim_atm_replay_message){
        .message = *message, .cycle = port->entry[index].cycle - laps->from
    };
    write_down(laps, LEAT_SIM_ATM_REPLAY_HANDED, laps->message_count++, present(laps),
               present(laps));
    return true;
}

static bool send(struct leat_port_net *net, const struct leat_port_message *message, leat_time at)
{
    struct leat_sim_atm_replay *laps = of(net);
    if (!laps->replays) return send_simulated(laps, message, at);
    if (laps->next == laps->item_count) next_lap(laps);
    if (!is_handed_again(laps, message, at)) {
        catch_up(laps);
        return send_simulated(laps, message, at);
    }
    struct leat_sim_atm_replay_message *m = &laps->message[laps->item[laps->next++].message];
    m->message = *message;
    m->has_hash = false;
    net->under_way++;
    return true;
}

/* What was told in this run was known when it ended. */
static void settle_items(struct leat_sim_atm_replay *laps)
{
    const uint64_t now = present(laps) - laps->from;
    if (!laps->remembers) return;
    for (uint32_t i = laps->unsettled; i < laps->item_count; i++)
        if (laps->item[i].told > now) laps->item[i].told = now;
    laps->unsettled = laps->item_count;
}

static leat_time run_simulated(struct leat_sim_atm_replay *laps, leat_time until)
{
    struct leat_sim_atm_ports *port = &laps->port;
    const bool may_lap = !laps->is_off && !laps->net.hear.head && laps->net.ports <= PORTS_MAX;
    port->net.hear.head = laps->net.hear.head ? hear_head : NULL;
    laps->has_arrived = false;
    leat_port_run(&port->net, until);
    show(laps);
    if (port->has_told)
        write_down(laps, LEAT_SIM_ATM_REPLAY_PAUSE, 0, present(laps), present(laps));
    settle_items(laps);
    if (laps->has_arrived && may_lap) look_for_laps(laps);
    return laps->net.now;
}

/* True: `until` is reached, or something was told. False: what was handed over next the last time
 * is not, so that nobody knows what follows. */
static bool replay(struct leat_sim_atm_replay *laps, leat_time until)
{
    const uint64_t last = leat_sim_atm_ports_last_cycle(&laps->port, until);
    uint64_t skipped = laps->port.load.skipped_cycles;
    for (;;) {
        if (laps->next == laps->item_count) next_lap(laps);
        const struct leat_sim_atm_replay_item *item = &laps->item[laps->next];
        const uint64_t told = laps->from + item->told + (laps->port.load.skipped_cycles - skipped);
        if (last < told || (last == told && item->kind == LEAT_SIM_ATM_REPLAY_HANDED)) {
            laps->net.now = until;
            return true;
        }
        if (item->kind == LEAT_SIM_ATM_REPLAY_HANDED) {
            laps->net.now = leat_sim_atm_ports_edge(&laps->port, laps->from + item->told);
            return false;
        }
        laps->next++;
        if (item->kind == LEAT_SIM_ATM_REPLAY_PAUSE) {
            laps->net.now = leat_sim_atm_ports_edge(&laps->port, laps->from + item->told);
            return true;
        }
        tell(laps, item);
    }
}

static leat_time run(struct leat_port_net *net, leat_time until)
{
    struct leat_sim_atm_replay *laps = of(net);
    if (laps->replays) {
        if (until == LEAT_NEVER && !net->under_way) return net->now;
        if (replay(laps, until)) return net->now;
        catch_up(laps);
    }
    return run_simulated(laps, until);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static void *lay_out(struct leat_sim_atm_replay *laps,
                     const struct leat_sim_atm_ports_config *config, struct leat_arena *arena)
{
    const uint32_t ports = config->fabric.net.ports;
    laps->entry = leat_arena_lay(arena, config->messages_max, sizeof *laps->entry);
    laps->blank = leat_arena_lay(arena, leat_atm_aal_message_max(config->aal.send_blocks), 1);
    laps->word = leat_arena_lay(arena, WORDS_MAX, sizeof *laps->word);
    laps->item = leat_arena_lay(arena, ITEMS_MAX, sizeof *laps->item);
    laps->message = leat_arena_lay(arena, MESSAGES_MAX, sizeof *laps->message);
    laps->number = leat_arena_lay(arena, ports, sizeof *laps->number);
    laps->ends_as = leat_arena_lay(arena, MESSAGES_MAX, sizeof *laps->ends_as);
    laps->shell = leat_arena_lay(arena, MESSAGES_MAX, sizeof *laps->shell);
    laps->began = leat_arena_lay(arena, MESSAGES_MAX, sizeof *laps->began);
    return leat_arena_lay_lines(arena, 1, leat_sim_atm_ports_footprint(config));
}

size_t leat_sim_atm_replay_footprint(const struct leat_sim_atm_ports_config *config)
{
    struct leat_sim_atm_replay measured;
    struct leat_arena arena;
    leat_arena_init(&arena, NULL, 0);
    lay_out(&measured, config, &arena);
    return arena.used;
}

static const struct leat_port_ops ops = { .send = send, .run = run };

void leat_sim_atm_replay_init(struct leat_sim_atm_replay *laps,
                              const struct leat_sim_atm_ports_config *config, void *memory)
{
    struct leat_arena arena;
    *laps = (struct leat_sim_atm_replay){ .span = SPAN_MIN };
    leat_arena_init(&arena, memory, leat_sim_atm_replay_footprint(config));
    leat_sim_atm_ports_init(&laps->port, config, lay_out(laps, config, &arena));
    laps->net = laps->port.net;
    laps->net.ops = &ops;
    laps->port.net.hear = (struct leat_port_hear){
        .context = laps,
        .sent = hear_sent,
        .arrived = hear_arrived,
        .lost = hear_lost,
        .stuck = hear_stuck,
        .coming = hear_coming,
    };
}
