/* Word model: one event per packet and interface, and the token's position in closed form. */
#include "sim_aton_parts.h"
#include "sim_refuse.h"

/* ---- the token ------------------------------------------------------------------------------ */

/* When T first passes a station from `from` on; if the order is for idle time, not with the first
 * token in sequence. */
static leat_time token_at(const struct leat_sim_aton *ring, uint32_t station, leat_time from,
                          bool idle)
{
    leat_time t = ring->released_at + RING_T_AT +
                  leat_sim_aton_distance(ring, ring->released_by, station) +
                  (idle ? ring->bits : 0);
    if (t < from) t += (from - t + ring->bits - 1) / ring->bits * ring->bits;
    return t;
}

struct capture {
    leat_time at;            /* of T */
    uint32_t station, entry; /* no entry: an empty packet, which lowers the token's priority */
    uint8_t held;            /* from this one; the monitor has none to return to */
};

/* The station that raised the token lowers it when it passes; if there is none, the monitor
 * does. */
static void consider_lowering(const struct leat_sim_aton *ring, struct capture *first)
{
    const uint8_t priority = ring->released_priority;
    for (uint32_t i = 0; i < ring->present; i++) {
        const uint32_t station = ring->sequence[i];
        if (!leat_aton_raises_has(&ring->seat[station].station.raises, priority)) continue;
        const leat_time at = token_at(ring, station, ring->now, false);
        if (at < first->at) *first = (struct capture){ at, station, 0, priority };
    }
    const leat_time at = token_at(ring, ring->config.monitor, ring->now, true);
    if (at < first->at) *first = (struct capture){ at, ring->config.monitor, 0, 0 };
}

static struct capture next_capture(const struct leat_sim_aton *ring)
{
    struct capture first = { .at = LEAT_NEVER };
    for (uint32_t i = 0; i < ring->waits; i++) {
        const uint32_t station = ring->waiting[i];
        const struct leat_sim_aton_seat *seat = &ring->seat[station];
        for (unsigned idle = 0; idle < 2; idle++) {
            if (!seat->first[idle]) continue;
            const struct leat_sim_aton_entry *e = &ring->entry[seat->first[idle] - 1];
            if ((idle ? 0 : e->order.command.priority) < ring->released_priority) continue;
            const leat_time from = e->at;
            const leat_time at = token_at(ring, station, from > ring->now ? from : ring->now, idle);
            if (at < first.at)
                first = (struct capture){ at, station, seat->first[idle], ring->released_priority };
        }
    }
    if (ring->released_priority) consider_lowering(ring, &first);
    return first;
}

/* No packet of this order is on the ring from then on. */
static leat_time end_at_most(const struct leat_sim_aton *ring, const struct capture *c)
{
    if (!c->entry) return c->at + LEAT_ATON_FOLD_SYMBOLS + ring->bits;
    const struct leat_aton_order *order = &ring->entry[c->entry - 1].order;
    const uint64_t symbols = order->is_passive
                                 ? LEAT_ATON_FOLD_SYMBOLS + UINT64_C(8) * order->octets_len
                                 : leat_aton_symbols(&order->command, ring->present);
    return c->at + symbols + ring->bits;
}

/* Would a bit error or a station reset affect this packet, or the token before it? A break without
 * effect may hide one behind it. */
static bool is_disturbed(const struct leat_sim_aton *ring, const struct capture *c)
{
    if (!ring->faults) return false;
    const struct leat_sim_aton_fault *first = &ring->fault[0];
    return !leat_sim_aton_breaks(ring, first) && end_at_most(ring, c) >= first->at;
}

/* ---- a packet ------------------------------------------------------------------------------- */

static const struct leat_aton_order *order_of(const struct leat_sim_aton *ring)
{
    return &ring->entry[ring->seat[ring->sender].sends - 1].order;
}

static uint32_t at_place(const struct leat_sim_aton *ring, uint32_t place)
{
    const uint32_t sum = ring->seat[ring->sender].place + place;
    return ring->sequence[sum < ring->present ? sum : sum - ring->present];
}

static void begin(struct leat_sim_aton *ring)
{
    size_t len;
    /* It was checked when it was submitted. */
    leat_sim_must(!leat_aton_begin(&ring->seat[ring->sender].station.it, &order_of(ring)->command,
                                   ring->image, ring->image_cap, &len));
    ring->image_len = (uint32_t)len;
}

/* The length of the packet after an interface that it has passed. */
static uint32_t symbols_now(const struct leat_sim_aton *ring)
{
    const uint32_t counter = leat_get_be16(ring->image + LEAT_ATON_COUNTER_AT);
    return (uint32_t)leat_aton_symbols(&order_of(ring)->command, counter);
}

static void report_visit(const struct leat_sim_aton *ring, uint32_t station, leat_time at)
{
    if (ring->host.visited)
        ring->host.visited(ring->host.context, station, ring->image, ring->image_len, at);
}

/* The packet's data pass the interfaces, up to bit time `until`. False: not all of them yet. */
static bool visit_all(struct leat_sim_aton *ring, leat_time until)
{
    const leat_time data_at = ring->sent_at + ATON_DATA_AT;
    if (ring->next == 0) {
        if (data_at >= until) return false;
        begin(ring);
        ring->next = 1;
        report_visit(ring, ring->sender, data_at);
    }
    for (; ring->next < ring->present; ring->next++) {
        const uint32_t station = at_place(ring, ring->next);
        const leat_time at = data_at + leat_sim_aton_distance(ring, ring->sender, station);
        if (at >= until) return false;
        leat_aton_visit(&ring->seat[station].station.it, ring->image, &ring->image_len,
                        ring->image_cap);
        report_visit(ring, station, at);
        ring->counts.visits++;
        if (station == ring->config.monitor) ring->monitor_symbols = symbols_now(ring);
    }
    return true;
}

/* The highest priority that was requested while the packet passed, or by its sender now. */
static uint8_t reservation_of(const struct leat_sim_aton *ring)
{
    uint8_t highest = 0;
    for (uint32_t i = 0; ring->has_priorities && i < ring->waits; i++) {
        const uint32_t station = ring->waiting[i], first = ring->seat[station].first[0];
        if (!first) continue;
        const struct leat_sim_aton_entry *e = &ring->entry[first - 1];
        const leat_time passed_at = ring->sent_at + RING_T_AT +
                                    leat_sim_aton_distance(ring, ring->sender, station);
        const leat_time asks_at = station == ring->sender ? ring->now : passed_at;
        if (e->at <= asks_at && e->order.command.priority > highest)
            highest = e->order.command.priority;
    }
    return highest;
}

void leat_sim_aton_show_priority(struct leat_sim_aton *ring)
{
    for (uint32_t i = 0; ring->has_priorities && i < ring->present; i++)
        leat_aton_raises_see(&ring->seat[ring->sequence[i]].station.raises,
                             ring->released_priority);
}

/* The sender knows the requests, including its own next order, and the token carries the highest.
 * So it is decided in the bit time in which the token begins, when all orders of that time are
 * known. */
void leat_sim_aton_decide_priority(struct leat_sim_aton *ring)
{
    struct leat_aton_raises *raises = &ring->seat[ring->sender].station.raises;
    const bool is_due = ring->is_undecided && ring->has_priorities;
    ring->is_undecided = false;
    if (!is_due) return;
    ring->released_priority = leat_aton_raises_release(raises, ring->held_priority,
                                                       reservation_of(ring));
    leat_sim_aton_show_priority(ring);
}

/* The packet has returned; `command`: NULL for a passive one. If the ring continues bit by bit, the
 * monitor must know what it has seen. */
static void release(struct leat_sim_aton *ring, const struct leat_aton_command *command,
                    leat_time at)
{
    struct leat_aton_station *monitor = &ring->seat[ring->config.monitor].station;
    monitor->opcode = command ? command->opcode : 0;
    monitor->width_bits = command ? command->width_bits : 0;
    ring->silent_from = at;
    if (ring->sender != ring->config.monitor)
        ring->silent_from = ring->sent_at + ring->monitor_symbols +
                            leat_sim_aton_distance(ring, ring->sender, ring->config.monitor);
    ring->has_packet = false;
    ring->released_at = at;
    ring->released_by = ring->sender;
    ring->released_priority = 0;
    ring->now = at;
}

static struct leat_aton_result result_of(const struct leat_sim_aton *ring,
                                         const struct leat_aton_command *c)
{
    const uint8_t *image = ring->image;
    const uint8_t flags = image[ring->image_len - LEAT_ATON_TRAILER_LEN];
    struct leat_aton_result r = { .status = LEAT_ATON_DONE,
                                  .recognised = (flags & LEAT_ATON_FLG_A) != 0,
                                  .copied = (flags & LEAT_ATON_FLG_C) != 0,
                                  .counter = leat_get_be16(image + LEAT_ATON_COUNTER_AT) };
    if (c->opcode < LEAT_ATON_SORT) {
        const uint32_t v1_at = LEAT_ATON_VARIABLE_AT, v2_at = v1_at + c->width_bits / 8;
        r.variable1 = leat_aton_value_get(image, v1_at, c->width_bits);
        r.variable2 = leat_aton_value_get(image, v2_at, c->width_bits);
        return r;
    }
    r.payload_len = ring->image_len - LEAT_ATON_LONG_PAYLOAD_AT - LEAT_ATON_TRAILER_LEN;
    if (r.payload_len > ring->config.payload_max)
        return (struct leat_aton_result){ .status = LEAT_ATON_DAMAGED }; /* no room for it */
    return r;
}

/* False: not before `until`. */
static bool run_active(struct leat_sim_aton *ring, leat_time until)
{
    const struct leat_aton_command *c = &order_of(ring)->command;
    if (!visit_all(ring, until)) return false;
    const leat_time at = ring->sent_at + symbols_now(ring) + ring->bits;
    if (at > until) return false;
    const struct leat_aton_result result = result_of(ring, c);
    release(ring, c, at);
    leat_sim_aton_report_done(ring, ring->sender, &result, ring->image + LEAT_ATON_LONG_PAYLOAD_AT,
                              at);
    ring->is_undecided = result.status == LEAT_ATON_DONE;
    if (!ring->is_undecided) leat_sim_aton_show_priority(ring);
    return true;
}

/* ---- passive packets ------------------------------------------------------------------------- */

static bool has_room(const struct leat_sim_aton *ring, const struct leat_aton_order *order)
{
    return order->octets_len <= ring->config.payload_max;
}

/* The next station that receives it, from the sender on; `present`: none is left. */
static uint32_t next_receiver(const struct leat_sim_aton *ring, uint16_t da)
{
    uint32_t place = ring->next;
    if (da == LEAT_ATON_DA_ALL) return place;
    while (place < ring->present && ring->seat[at_place(ring, place)].station.it.address != da)
        place++;
    return place;
}

static bool has_receiver(const struct leat_sim_aton *ring, uint16_t da)
{
    if (da == LEAT_ATON_DA_ALL) return ring->present > 1;
    const uint32_t station = ring->by_address[da];
    return station && station - 1 != ring->sender && ring->seat[station - 1].present;
}

/* Delivers to the next receiver. False: not before `until`. */
static bool bring(struct leat_sim_aton *ring, leat_time until, leat_time symbols)
{
    const struct leat_aton_order *order = order_of(ring);
    const uint32_t station = at_place(ring, ring->next);
    const uint16_t from = ring->seat[ring->sender].station.it.address;
    const leat_time at = ring->sent_at + symbols +
                         leat_sim_aton_distance(ring, ring->sender, station);
    if (at > until) return false;
    ring->next++;
    leat_sim_aton_report_arrived(ring, station, from, order->octets, order->octets_len, at);
    return true;
}

static bool run_passive(struct leat_sim_aton *ring, leat_time until)
{
    const struct leat_aton_order *order = order_of(ring);
    const leat_time symbols = LEAT_ATON_FOLD_SYMBOLS + UINT64_C(8) * order->octets_len;
    const leat_time at = ring->sent_at + symbols + ring->bits;
    if (ring->next == 0) ring->next = 1;
    ring->monitor_symbols = (uint32_t)symbols;
    ring->next = has_room(ring, order) ? next_receiver(ring, order->command.da) : ring->present;
    if (ring->next < ring->present) return bring(ring, until, symbols);
    if (at > until) return false;
    const bool recognised = has_receiver(ring, order->command.da);
    const struct leat_aton_result result = { .status = LEAT_ATON_DONE,
                                             .recognised = recognised,
                                             .copied = recognised && has_room(ring, order) };
    release(ring, NULL, at);
    ring->is_undecided = true;
    leat_sim_aton_report_done(ring, ring->sender, &result, NULL, at);
    return true;
}

static bool run_empty(struct leat_sim_aton *ring, leat_time until)
{
    const leat_time at = ring->sent_at + LEAT_ATON_FOLD_SYMBOLS + ring->bits;
    if (at > until) return false;
    ring->monitor_symbols = LEAT_ATON_FOLD_SYMBOLS;
    release(ring, NULL, at);
    ring->is_undecided = true;
    return true;
}

/* ---- running -------------------------------------------------------------------------------- */

static bool run_token(struct leat_sim_aton *ring, leat_time until)
{
    const struct capture c = next_capture(ring);
    if (c.at >= until) return false;
    if (is_disturbed(ring, &c)) {
        leat_sim_aton_enter_bits(ring);
        return true;
    }
    ring->now = c.at + 1;
    ring->has_packet = true;
    ring->sender = c.station;
    ring->sent_at = c.at - RING_T_AT;
    ring->next = 0;
    ring->is_empty = !c.entry;
    ring->held_priority = c.held;
    if (c.entry) {
        leat_sim_aton_take_order(ring, c.station, c.entry, ring->sent_at);
        leat_sim_aton_report_begins(ring, c.station);
    }
    return true;
}

void leat_sim_aton_run_words(struct leat_sim_aton *ring, leat_time until)
{
    while (ring->now < until && !ring->stop && !ring->by_bits) {
        leat_sim_aton_decide_priority(ring);
        const bool more = !ring->has_packet            ? run_token(ring, until)
                          : ring->is_empty             ? run_empty(ring, until)
                          : order_of(ring)->is_passive ? run_passive(ring, until)
                                                       : run_active(ring, until);
        if (!more) ring->now = until;
    }
}

void leat_sim_aton_break_words(struct leat_sim_aton *ring)
{
    static const struct leat_aton_result lost = { .status = LEAT_ATON_LOST };
    const bool had_packet = ring->has_packet && !ring->is_empty;
    ring->has_packet = ring->is_undecided = false;
    ring->released_priority = 0;
    leat_sim_aton_show_priority(ring);
    ring->seat[ring->config.monitor].station.opcode = 0;
    ring->released_at = ring->silent_from = ring->now + ring->bits;
    ring->released_by = ring->config.monitor;
    if (had_packet) leat_sim_aton_report_done(ring, ring->sender, &lost, NULL, ring->now);
}
