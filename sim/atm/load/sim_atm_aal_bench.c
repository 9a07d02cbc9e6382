#include "sim_atm_aal_bench.h"
#include "leat_arena.h"
#include <assert.h>

enum { NONE = LEAT_ATM_AAL_NONE };
enum waits { FOR_NOTHING, FOR_WRITTEN, FOR_ANSWER, FOR_OCTETS };

/* ---- schedules ---------------------------------------------------------------------------- */

bool leat_sim_atm_aal_order_fits(enum leat_atm_aal_verb verb, enum leat_sim_atm_aal_phase *phase)
{
    const bool writing = *phase == LEAT_SIM_ATM_AAL_WRITING;
    switch (verb) {
    case LEAT_ATM_AAL_INITSEND:
    case LEAT_ATM_AAL_RECEIVE:
        if (writing) return false;
        *phase = verb == LEAT_ATM_AAL_RECEIVE ? LEAT_SIM_ATM_AAL_READING : LEAT_SIM_ATM_AAL_WRITING;
        return true;
    case LEAT_ATM_AAL_PUT:
    case LEAT_ATM_AAL_DESTINATION: return writing;
    case LEAT_ATM_AAL_SEND: *phase = writing ? LEAT_SIM_ATM_AAL_BETWEEN : *phase; return writing;
    case LEAT_ATM_AAL_GET: return *phase == LEAT_SIM_ATM_AAL_READING;
    case LEAT_ATM_AAL_WRITE:
    case LEAT_ATM_AAL_READ: return false; /* schedules order bus words */
    }
    return false;
}

/* The cycles are those of spec/atm.md, 5.5; that of the first get follows from the published
 * state0, which is 17 in cycle 202, that of the second request from state8, which is 15 in cycle
 * 302. */
const struct leat_sim_atm_aal_schedule *leat_sim_atm_aal_two_messages(void)
{
    static const uint8_t int_285[] = { 0, 0, 0x01, 0x1d }, int_544[] = { 0, 0, 0x02, 0x20 };
    static const uint8_t float_1297_456[] = { 0x44, 0xa2, 0x2e, 0x98 };
    static const struct leat_sim_atm_aal_order snd[] = {
        { .command = { LEAT_ATM_AAL_INITSEND, .not_before = 1 } },
        { .command = { LEAT_ATM_AAL_PUT, .not_before = 9, .octets = int_285, .len = 4 } },
        { .command = { LEAT_ATM_AAL_DESTINATION, .not_before = 28,
                       .destination = LEAT_ATM_TASK_BROADCAST } },
        { .command = { LEAT_ATM_AAL_SEND, .not_before = 31,
                       .message = { { 'r', 'c', 'v' }, UINT32_MAX, 1 } } },
        { .command = { LEAT_ATM_AAL_INITSEND, .not_before = 70 } },
        { .command = { LEAT_ATM_AAL_PUT, .not_before = 78, .octets = int_544, .len = 4 } },
        { .command = { LEAT_ATM_AAL_PUT, .not_before = 97, .octets = float_1297_456, .len = 4 } },
        { .command = { LEAT_ATM_AAL_DESTINATION, .not_before = 116, .destination = 5 } },
        { .command = { LEAT_ATM_AAL_SEND, .not_before = 119,
                       .message = { { 'r', 'c', 'v' }, 1, 1 } } },
    };
    static const struct leat_sim_atm_aal_order rcv[] = {
        { .command = { LEAT_ATM_AAL_RECEIVE, .not_before = 1,
                       .message = { { 'r', 'c', 'v' }, 1, 1 } },
          .poll = true },
        { .command = { LEAT_ATM_AAL_GET, .not_before = 201, .len = 4 } },
        { .command = { LEAT_ATM_AAL_RECEIVE, .not_before = 223,
                       .message = { { 'r', 'c', 'v' }, 1, 1 } },
          .poll = true },
        { .command = { LEAT_ATM_AAL_GET, .len = 4 } },
        { .command = { LEAT_ATM_AAL_GET, .len = 4 } },
    };
    static const struct leat_sim_atm_aal_schedule schedules[LEAT_SIM_ATM_AAL_TWO_MESSAGES_PORTS] = {
        [1] = { snd, sizeof snd / sizeof *snd },
        [5] = { rcv, sizeof rcv / sizeof *rcv },
    };
    return schedules;
}

/* ---- a host ------------------------------------------------------------------------------- */

static const struct leat_sim_atm_aal_schedule *
schedule_of(const struct leat_sim_atm_aal_bench *bench, uint32_t port)
{
    return &bench->config.schedules[port];
}

/* The host's next order, or NULL. */
static const struct leat_sim_atm_aal_order *next_order(const struct leat_sim_atm_aal_bench *bench,
                                                       uint32_t port)
{
    const struct leat_sim_atm_aal_schedule *s = schedule_of(bench, port);
    const size_t next = bench->host[port].next;
    return next < s->count ? &s->orders[next] : NULL;
}

static void report(struct leat_sim_atm_aal_bench *bench, uint32_t port, uint64_t at,
                   struct leat_sim_atm_aal_news news)
{
    news.unit = port;
    news.at = at;
    news.order = bench->host[port].next;
    if (bench->config.on_event) bench->config.on_event(bench->config.event_context, &news);
}

/* Octets of the message being read from read_offset on. */
static uint32_t octets_left(const struct leat_sim_atm_aal_host *host)
{
    return leat_atm_aal_unit_octets(&host->unit, host->unit.message_read) - host->read_offset;
}

static uint32_t copy_read(struct leat_sim_atm_aal_bench *bench, struct leat_sim_atm_aal_host *host,
                          uint32_t len)
{
    const uint32_t left = octets_left(host);
    if (len > left) len = left;
    if (len)
        leat_atm_aal_unit_copy(&host->unit, host->unit.message_read, host->read_offset,
                               bench->received, len);
    return len;
}

static uint32_t string_len(struct leat_sim_atm_aal_bench *bench, struct leat_sim_atm_aal_host *host)
{
    const uint32_t left = copy_read(bench, host, UINT32_MAX);
    uint32_t len = 0;
    while (len < left)
        if (bench->received[len++] == 0) break;
    return len ? len : 1; /* at the end of a message, one octet that does not exist */
}

static void give_back(struct leat_sim_atm_aal_host *host, uint64_t now)
{
    if (host->reading) leat_atm_aal_unit_read_end(&host->unit, now);
    host->reading = false;
}

/* STATE0 serves one order at a time, whichever half of the unit it is for. */
static bool hand_over(struct leat_sim_atm_aal_bench *bench, uint32_t port,
                      const struct leat_sim_atm_aal_order *order, uint64_t now)
{
    struct leat_sim_atm_aal_host *host = &bench->host[port];
    struct leat_atm_aal_command command = order->command;
    const uint64_t free_at = leat_larger(host->unit.write_free_at, host->unit.read_free_at);
    command.not_before = leat_larger(command.not_before, free_at);
    if (order->string) command.len = string_len(bench, host);
    host->read_len = command.len;
    return leat_atm_aal_unit_command(&host->unit, &command, now);
}

static enum waits waits_behind(enum leat_atm_aal_verb verb)
{
    switch (verb) {
    case LEAT_ATM_AAL_INITSEND:
    case LEAT_ATM_AAL_PUT:
    case LEAT_ATM_AAL_DESTINATION: return FOR_NOTHING;
    case LEAT_ATM_AAL_SEND:
    case LEAT_ATM_AAL_WRITE: return FOR_WRITTEN;
    case LEAT_ATM_AAL_RECEIVE: return FOR_ANSWER;
    case LEAT_ATM_AAL_READ:
    case LEAT_ATM_AAL_GET: return FOR_OCTETS;
    }
    return FOR_NOTHING;
}

/* Passes orders to the unit while it accepts them; one that awaits a reply remains the next. */
static void give_orders(struct leat_sim_atm_aal_bench *bench, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_aal_host *host = &bench->host[port];
    const struct leat_sim_atm_aal_order *order = NULL;
    while (host->waits == FOR_NOTHING && (order = next_order(bench, port))) {
        if (order->command.verb != LEAT_ATM_AAL_GET) give_back(host, now);
        if (!hand_over(bench, port, order, now)) return; /* full: try again in the next cycle */
        host->waits = (uint8_t)waits_behind(order->command.verb);
        if (host->waits == FOR_NOTHING || host->waits == FOR_WRITTEN) host->next++;
    }
    if (host->waits == FOR_NOTHING && !order) give_back(host, now);
}

/* Skips up to and including the send of a discarded message. */
static void pass_over_message(struct leat_sim_atm_aal_bench *bench, uint32_t port)
{
    struct leat_sim_atm_aal_host *host = &bench->host[port];
    const struct leat_sim_atm_aal_order *order;
    bool sent = host->waits == FOR_WRITTEN;
    for (; !sent && (order = next_order(bench, port)); host->next++)
        sent = order->command.verb == LEAT_ATM_AAL_SEND;
    host->waits = FOR_NOTHING;
}

static void pass_over_gets(struct leat_sim_atm_aal_bench *bench, uint32_t port)
{
    const struct leat_sim_atm_aal_order *order;
    do {
        bench->host[port].next++;
        order = next_order(bench, port);
    } while (order && order->command.verb == LEAT_ATM_AAL_GET);
}

static void on_answer(struct leat_sim_atm_aal_bench *bench, uint32_t port, uint64_t now, bool found)
{
    struct leat_sim_atm_aal_host *host = &bench->host[port];
    const bool polls = next_order(bench, port)->poll;
    host->searched_from = now;
    host->searched_until = host->unit.reply_at;
    host->found = host->reading = found;
    host->waits = FOR_NOTHING;
    host->read_offset = 0;
    if (found || !polls)
        report(bench, port, host->unit.reply_at,
               (struct leat_sim_atm_aal_news){ .event = found ? LEAT_SIM_ATM_AAL_FOUND
                                                              : LEAT_SIM_ATM_AAL_DENIED });
    if (found)
        host->next++;
    else if (!polls)
        pass_over_gets(bench, port);
    host->state0.order = host->next;
    host->state0.free_at = host->unit.read_free_at;
}

static void on_octets(struct leat_sim_atm_aal_bench *bench, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_aal_host *host = &bench->host[port];
    const uint32_t len = copy_read(bench, host, host->read_len);
    report(bench, port, now,
           (struct leat_sim_atm_aal_news){
               .event = len < host->read_len ? LEAT_SIM_ATM_AAL_SHORT : LEAT_SIM_ATM_AAL_GOT,
               .octets = bench->received,
               .len = len,
           });
    host->read_offset += len;
    host->next++;
    host->waits = FOR_NOTHING;
}

static void on_writer(struct leat_sim_atm_aal_bench *bench, uint32_t port, uint64_t now,
                      uint32_t reported)
{
    static const struct {
        uint32_t reported;
        enum leat_sim_atm_aal_event event;
    } list[] = {
        { LEAT_ATM_AAL_TOOLONG, LEAT_SIM_ATM_AAL_TOO_LONG },
        { LEAT_ATM_AAL_NOMEM, LEAT_SIM_ATM_AAL_NO_MEMORY },
        { LEAT_ATM_AAL_EXIT, LEAT_SIM_ATM_AAL_EXIT },
        { LEAT_ATM_AAL_WRITTEN, LEAT_SIM_ATM_AAL_WRITTEN },
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (reported & list[i].reported)
            report(bench, port, now, (struct leat_sim_atm_aal_news){ .event = list[i].event });
    struct leat_sim_atm_aal_host *host = &bench->host[port];
    if (reported & LEAT_ATM_AAL_WRITTEN) {
        host->waits = FOR_NOTHING;
        host->state0.free_at = now + 1;
    }
    if (reported & LEAT_ATM_AAL_EXIT) {
        pass_over_message(bench, port);
        host->state0 = (struct leat_sim_atm_aal_state0){ .order = host->next,
                                                         .free_at = host->unit.write_free_at };
    }
}

static void on_report(struct leat_sim_atm_aal_bench *bench, uint32_t port, uint64_t now)
{
    struct leat_atm_aal_unit *unit = &bench->host[port].unit;
    const uint32_t reported = unit->reported;
    unit->reported = 0;
    if (reported & LEAT_ATM_AAL_LINE)
        leat_sim_atm_send(&bench->sim, port, unit->line_cell, unit->line_at);
    if (reported & LEAT_ATM_AAL_UNDELIVERABLE)
        report(bench, port, now,
               (struct leat_sim_atm_aal_news){
                   .event = LEAT_SIM_ATM_AAL_UNDELIVERABLE,
                   .destination = unit->send_block[unit->block_reported].destination,
               });
    on_writer(bench, port, now, reported);
    if (reported & (LEAT_ATM_AAL_GRANTED | LEAT_ATM_AAL_DENIED))
        on_answer(bench, port, now, reported & LEAT_ATM_AAL_GRANTED);
    if (reported & LEAT_ATM_AAL_GOT) on_octets(bench, port, now);
}

/* The unit's next action; or the next cycle, if it accepts orders too slowly. */
static void plan(struct leat_sim_atm_aal_bench *bench, uint32_t port, uint64_t now)
{
    const struct leat_sim_atm_aal_host *host = &bench->host[port];
    const bool has_orders = host->waits == FOR_NOTHING && next_order(bench, port);
    leat_sim_atm_wake(&bench->sim, port, has_orders ? now + 1 : host->unit.wake_at);
}

/* ---- what the network asks ----------------------------------------------------------------- */

static void refused(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_aal_bench *bench = context;
    leat_atm_aal_unit_refuse(&bench->host[port].unit, now);
    on_report(bench, port, now);
    plan(bench, port, now - 1);
}

static void act(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_aal_bench *bench = context;
    leat_atm_aal_unit_step(&bench->host[port].unit, now);
    on_report(bench, port, now);
    give_orders(bench, port, now);
    plan(bench, port, now);
}

static uint32_t room(void *context, uint32_t port)
{
    const struct leat_sim_atm_aal_bench *bench = context;
    return leat_atm_aal_unit_room(&bench->host[port].unit);
}

static void deliver(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_aal_bench *bench = context;
    leat_atm_aal_unit_receive(&bench->host[port].unit, cell, now);
    plan(bench, port, now);
}

/* ---- the bench ---------------------------------------------------------------------------- */

static size_t lay_out(struct leat_sim_atm_aal_bench *bench,
                      const struct leat_sim_atm_aal_bench_config *config, void *memory,
                      void **network, uint8_t **units)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    const uint32_t ports = config->fabric.net.ports;
    const struct leat_atm_aal_config aal = leat_sim_atm_fabric_unit(&config->fabric, &config->aal,
                                                                    0);
    bench->host = leat_arena_lay(&arena, ports, sizeof *bench->host);
    bench->received = leat_arena_lay(&arena, leat_atm_aal_message_max(aal.receive_blocks), 1);
    *network = leat_arena_lay(&arena, 1, leat_sim_atm_footprint(&config->fabric, LEAT_SIM_ATM_RTL));
    *units = leat_arena_lay(&arena, ports, leat_atm_aal_unit_footprint(&aal));
    return arena.used;
}

size_t leat_sim_atm_aal_bench_footprint(const struct leat_sim_atm_aal_bench_config *config)
{
    struct leat_sim_atm_aal_bench bench;
    void *network;
    uint8_t *units;
    return lay_out(&bench, config, NULL, &network, &units);
}

static bool fits(const struct leat_sim_atm_aal_schedule *schedule)
{
    enum leat_sim_atm_aal_phase phase = LEAT_SIM_ATM_AAL_BETWEEN;
    for (size_t i = 0; i < schedule->count; i++)
        if (!leat_sim_atm_aal_order_fits(schedule->orders[i].command.verb, &phase)) return false;
    return true;
}

void leat_sim_atm_aal_bench_init(struct leat_sim_atm_aal_bench *bench,
                                 const struct leat_sim_atm_aal_bench_config *config, void *memory)
{
    const struct leat_sim_atm_host host = { bench, refused, act, room, deliver, NULL };
    void *network;
    uint8_t *units;
    *bench = (struct leat_sim_atm_aal_bench){ .config = *config };
    lay_out(bench, config, memory, &network, &units);
    leat_sim_atm_init(&bench->sim, &config->fabric, LEAT_SIM_ATM_RTL, &host, network);
    bench->sim.now = 1;
    for (uint32_t port = 0; port < config->fabric.net.ports; port++) {
        const struct leat_atm_aal_config aal = leat_sim_atm_fabric_unit(&config->fabric,
                                                                        &config->aal, port);
        assert(fits(schedule_of(bench, port)));
        leat_atm_aal_unit_init(&bench->host[port].unit, &aal,
                               units + port * leat_atm_aal_unit_footprint(&aal));
        give_orders(bench, port, 0); /* an order of cycle 0 is accepted in cycle 1 */
        plan(bench, port, 0);
    }
}

/* ---- STATE0 ------------------------------------------------------------------------------- */

/*
 * The unit accepts orders ahead of time, with the cycles that they take. Here STATE0 is stepped
 * cycle by cycle beside it, for its number (spec/atm.md, 5.3):
 *
 *     initsend, setdst   1 2 0
 *     snd, each word     1 8 0
 *     rcv, each word     1 24 0
 *     put, each word     1 (3 4 5 6 an octet) 7 0     it waits for a block in 5
 *     get, each word     1 (17 18 19 23 an octet) 20 0
 */
enum { WORD_OCTETS = 4, COMMAND_CYCLES = 3, ADDRESS_WORDS = 5 };

static uint64_t order_cycles(const struct leat_sim_atm_aal_host *host,
                             const struct leat_sim_atm_aal_order *order)
{
    switch (order->command.verb) {
    case LEAT_ATM_AAL_INITSEND:
    case LEAT_ATM_AAL_DESTINATION: return COMMAND_CYCLES;
    case LEAT_ATM_AAL_SEND:
    case LEAT_ATM_AAL_RECEIVE: return ADDRESS_WORDS * COMMAND_CYCLES;
    case LEAT_ATM_AAL_PUT: return leat_atm_aal_io_cycles(order->command.len);
    case LEAT_ATM_AAL_GET: return leat_atm_aal_io_cycles(host->read_len);
    case LEAT_ATM_AAL_WRITE:
    case LEAT_ATM_AAL_READ: break; /* schedules order bus words */
    }
    return COMMAND_CYCLES;
}

/* In the `at`-th cycle of an order that ends with its `last` one. */
static uint8_t state0_number(enum leat_atm_aal_verb verb, uint64_t at, uint64_t last)
{
    static const uint8_t of_put[] = { 3, 4, 5, 6 }, of_get[] = { 17, 18, 19, 23 };
    enum { PUT_END = 7, SENDS = 8, GET_END = 20, RECEIVES = 24 };
    const bool moves = verb == LEAT_ATM_AAL_PUT || verb == LEAT_ATM_AAL_GET;
    const uint64_t word = moves ? leat_atm_aal_io_cycles(WORD_OCTETS) : COMMAND_CYCLES;
    const uint64_t in_word = at % word,
                   end = at - in_word + word - 1 < last ? word - 1 : last - at + in_word;
    if (in_word == 0) return 1;
    if (in_word == end) return 0;
    if (verb == LEAT_ATM_AAL_PUT) return in_word + 1 == end ? PUT_END : of_put[(in_word - 1) % 4];
    if (verb == LEAT_ATM_AAL_GET) return in_word + 1 == end ? GET_END : of_get[(in_word - 1) % 4];
    return verb == LEAT_ATM_AAL_SEND ? SENDS : verb == LEAT_ATM_AAL_RECEIVE ? RECEIVES : 2;
}

/* What it awaits after its last cycle has its end in a report of the unit. */
static void end_order(struct leat_sim_atm_aal_state0 *s, enum leat_atm_aal_verb verb, uint64_t now)
{
    const bool waits = verb == LEAT_ATM_AAL_SEND || verb == LEAT_ATM_AAL_RECEIVE;
    s->runs = false;
    s->free_at = waits ? LEAT_NEVER : now + 1;
    s->order += verb != LEAT_ATM_AAL_RECEIVE;
}

/* After the unit's step `now`. */
static void step_state0(struct leat_sim_atm_aal_bench *bench, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_aal_host *host = &bench->host[port];
    struct leat_sim_atm_aal_state0 *s = &host->state0;
    const struct leat_sim_atm_aal_schedule *schedule = schedule_of(bench, port);
    const struct leat_sim_atm_aal_order *order = &schedule->orders[s->order];
    const bool waits_for_block = s->runs && host->unit.nomem;
    if (waits_for_block) return;
    s->number = 0;
    if (!s->runs) {
        if (s->order >= schedule->count || now < s->free_at || now < order->command.not_before)
            return;
        s->runs = true;
        s->at = 0;
        s->last = order_cycles(host, order) - 1;
    } else
        s->at++;
    s->number = state0_number(order->command.verb, s->at, s->last);
    if (s->at == s->last) end_order(s, order->command.verb, now);
}

/* STATE10's round (spec/atm.md, 5.3): each source, each of its messages. */
static void step_state10(struct leat_sim_atm_aal_host *host)
{
    enum { IDLE = 0, SOURCE = 1, SOURCE_2 = 2, MESSAGE = 3, MESSAGE_2 = 18, NEXT = 19, END = 20 };
    switch (host->state10) {
    case MESSAGE:
        if (host->round_seen < host->unit.peer[host->round_source].message_count) {
            host->round_seen++;
            host->state10 = MESSAGE_2;
        } else
            host->state10 = NEXT;
        break;
    case NEXT:
        host->round_seen = 0;
        host->state10 = SOURCE;
        if (++host->round_source == host->unit.config.ports) {
            host->round_source = 0;
            host->state10 = END;
        }
        break;
    case IDLE: host->state10 = SOURCE; break;
    case SOURCE: host->state10 = SOURCE_2; break;
    case SOURCE_2:
    case MESSAGE_2: host->state10 = MESSAGE; break;
    default: host->state10 = IDLE; break;
    }
}

/* After acknowledgements STATE7 waits for the next cell in the state that released the last one. */
static void step_state7(struct leat_sim_atm_aal_host *host, uint64_t now)
{
    enum { RELEASED = 16 };
    struct leat_atm_aal_view view;
    leat_atm_aal_unit_view(&host->unit, now, &view);
    if (view.state7 || host->state7 != RELEASED) host->state7 = view.state7;
}

void leat_sim_atm_aal_bench_step(struct leat_sim_atm_aal_bench *bench)
{
    /* STATE10 precedes STATE7 in a step: it sees the messages of the cycle before. */
    for (uint32_t port = 0; port < bench->config.fabric.net.ports; port++)
        step_state10(&bench->host[port]);
    leat_sim_atm_run(&bench->sim, bench->sim.now + 1);
    const uint64_t now = leat_sim_atm_aal_bench_now(bench);
    for (uint32_t port = 0; port < bench->config.fabric.net.ports; port++) {
        leat_atm_aal_unit_settle(&bench->host[port].unit, now);
        step_state0(bench, port, now);
        step_state7(&bench->host[port], now);
    }
}

bool leat_sim_atm_aal_bench_at_rest(const struct leat_sim_atm_aal_bench *bench)
{
    for (uint32_t port = 0; port < bench->config.fabric.net.ports; port++) {
        const struct leat_sim_atm_aal_host *host = &bench->host[port];
        const struct leat_atm_aal_unit *unit = &host->unit;
        if (host->waits != FOR_NOTHING || next_order(bench, port) || unit->send.busy_count ||
            unit->sending || unit->ack_asked_at != LEAT_NEVER || unit->service_block != NONE)
            return false;
    }
    return true;
}

/* ---- registers ---------------------------------------------------------------------------- */

#define X(id, name, width, hex) { name, width, hex },
const struct leat_sim_atm_aal_signal leat_sim_atm_aal_signals[LEAT_SIM_ATM_AAL_SIGNALS] = {
    LEAT_SIM_ATM_AAL_SIGNAL_LIST(X)
};
const struct leat_sim_atm_aal_signal
    leat_sim_atm_aal_block_signals[LEAT_SIM_ATM_AAL_BLOCK_SIGNALS] = {
        LEAT_SIM_ATM_AAL_BLOCK_SIGNAL_LIST(X)
    };
#undef X

/* Spec/atm.md, 5.3: 1 in the last cycle of the fifth word; then four states a source, 15 and 0, or
 * the shorter way to a message that it finds. */
static int state8_of(const struct leat_sim_atm_aal_host *host, uint64_t now)
{
    static const int8_t of_source[] = { 2, 3, 13, 14 }, of_found[] = { 2, 3, 4, 5, 6, 7 };
    enum { NOTHING_FOUND = 15 };
    if (host->waits == FOR_ANSWER && host->unit.due[LEAT_ATM_AAL_STATE8] == now + 1) return 1;
    if (host->searched_from == 0 || now >= host->searched_until) return 0;
    if (host->found) return of_found[now - host->searched_from];
    if (now + 1 == host->searched_until) return NOTHING_FOUND;
    return of_source[(now - host->searched_from) % sizeof of_source];
}

static void inspect_lists(const struct leat_atm_aal_unit *unit, int64_t *out)
{
    out[LEAT_SIM_ATM_AAL_OGMSGNUM] = unit->messages_busy;
    out[LEAT_SIM_ATM_AAL_OGBBLKNUM] = unit->send.busy_count;
    out[LEAT_SIM_ATM_AAL_OGFB] = unit->send.busy_head;
    out[LEAT_SIM_ATM_AAL_OGLB] = unit->send.busy_tail;
    out[LEAT_SIM_ATM_AAL_OGFI] = unit->send.free_head;
    out[LEAT_SIM_ATM_AAL_OGLI] = unit->send.free_tail;
    out[LEAT_SIM_ATM_AAL_ICBLKINMSGNUM] = unit->in_message_count;
    out[LEAT_SIM_ATM_AAL_ICBBLKNUM] = unit->receive.busy_count;
    out[LEAT_SIM_ATM_AAL_ICFB] = unit->receive.busy_head;
    out[LEAT_SIM_ATM_AAL_ICLB] = unit->receive.busy_tail;
    out[LEAT_SIM_ATM_AAL_ICFI] = unit->receive.free_head;
    out[LEAT_SIM_ATM_AAL_ICLI] = unit->receive.free_tail;
}

static void inspect_port(const struct leat_sim_atm *sim, uint32_t number, int64_t *out)
{
    const struct leat_sim_atm_port *port = &sim->port[number];
    struct leat_sim_atm_wires wires;
    leat_sim_atm_wires(sim, number, &wires);
    out[LEAT_SIM_ATM_AAL_OGSUSPEND] = wires.ogsuspend;
    out[LEAT_SIM_ATM_AAL_BUF] = port->buf;
    out[LEAT_SIM_ATM_AAL_OGBYTE] = port->ogbyte;
    out[LEAT_SIM_ATM_AAL_BUFI] = port->bufi;
    out[LEAT_SIM_ATM_AAL_OGBYTEI] = port->ogbytei;
    out[LEAT_SIM_ATM_AAL_ICBYTE] = wires.icbyte;
    out[LEAT_SIM_ATM_AAL_ICBYTEI] = wires.icbytei;
    out[LEAT_SIM_ATM_AAL_ICSUSPEND] = port->icsuspend;
    out[LEAT_SIM_ATM_AAL_COUNT] = port->count;
}

void leat_sim_atm_aal_bench_inspect(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                    int64_t out[LEAT_SIM_ATM_AAL_SIGNALS])
{
    const struct leat_sim_atm_aal_host *host = &bench->host[unit];
    const uint64_t now = leat_sim_atm_aal_bench_now(bench);
    struct leat_atm_aal_view view;
    leat_atm_aal_unit_view(&host->unit, now, &view);
    out[LEAT_SIM_ATM_AAL_STATE0] = host->state0.number;
    out[LEAT_SIM_ATM_AAL_STATE1] = view.state1;
    out[LEAT_SIM_ATM_AAL_STATE2] = view.state2;
    out[LEAT_SIM_ATM_AAL_STATE3] = view.state3;
    out[LEAT_SIM_ATM_AAL_STATE4] = view.state4;
    out[LEAT_SIM_ATM_AAL_STATE5] = view.state5;
    out[LEAT_SIM_ATM_AAL_STATE6] = bench->sim.port[unit].icsuspend; /* it refuses a cell */
    out[LEAT_SIM_ATM_AAL_STATE7] = host->state7;
    out[LEAT_SIM_ATM_AAL_STATE9] = 0; /* counts all timers in each cycle: one state */
    out[LEAT_SIM_ATM_AAL_STATE8] = state8_of(host, now);
    out[LEAT_SIM_ATM_AAL_STATE10] = host->state10;
    out[LEAT_SIM_ATM_AAL_CURSND] = view.cursnd;
    out[LEAT_SIM_ATM_AAL_ICCURB] = view.iccurb;
    inspect_lists(&host->unit, out);
    inspect_port(&bench->sim, unit, out);
}

void leat_sim_atm_aal_bench_inspect_block(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                          uint16_t block,
                                          int64_t out[LEAT_SIM_ATM_AAL_BLOCK_SIGNALS])
{
    const struct leat_atm_aal_unit *u = &bench->host[unit].unit;
    const uint64_t now = leat_sim_atm_aal_bench_now(bench);
    assert(block < u->send.count && block < u->receive.count);
    const struct leat_atm_aal_send_block *b = &u->send_block[block];
    out[LEAT_SIM_ATM_AAL_BLKTIME] = leat_atm_aal_unit_blktime(u, block, now);
    out[LEAT_SIM_ATM_AAL_BLKCOMTYPE] = b->stream == LEAT_ATM_AAL_TO_ONE;
    out[LEAT_SIM_ATM_AAL_BLKDST] = b->destination;
    out[LEAT_SIM_ATM_AAL_ACKNUM] = b->acks_missing;
    out[LEAT_SIM_ATM_AAL_OGBLKTOFR] = leat_atm_aal_unit_blktofr(u, block, now);
    out[LEAT_SIM_ATM_AAL_BLKINMSG] = u->receive_block[block].in_message;
    out[LEAT_SIM_ATM_AAL_ICBLKTOFR] = 0;
}

uint32_t leat_sim_atm_aal_bench_messages(const struct leat_sim_atm_aal_bench *bench, uint32_t unit,
                                         uint32_t source)
{
    return bench->host[unit].unit.peer[source].message_count;
}
