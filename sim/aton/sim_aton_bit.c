/*
 * Bit model. The symbols on the ring are a belt of cells that moves by one cell per bit time past
 * fixed interfaces; each takes the symbol out of the cell at its input and puts its own in.
 *
 *     cell   c-1  c   c+1  ...            the cell at an interface at `at` bits in bit time t:
 *           ----[ ]--[ ]---->             (at - t) modulo the length of the ring
 *                 ^ interface
 *
 * No cell is at two interfaces at a time, so they may work in any order.
 *
 * An interface that repeats and hunts for a delimiter does nothing until a J arrives: it sleeps, and
 * takes no time. The ring knows the cells that hold J, and wakes the interfaces that they meet. So a
 * bit time costs as many steps as there are interfaces inside a packet or a token. The monitor,
 * which counts the time of silence, never sleeps.
 */
#include "sim_aton_parts.h"
#include <assert.h>
#include <string.h>

static uint32_t cell_of(const struct leat_sim_aton *ring, uint32_t station, leat_time t)
{
    const uint32_t moved = (uint32_t)(t % ring->bits), at = ring->seat[station].at;
    return at >= moved ? at - moved : at + ring->bits - moved;
}

unsigned leat_sim_aton_symbol(const struct leat_sim_aton *ring, uint32_t station)
{
    return ring->cell[cell_of(ring, station, ring->now)];
}

/* ---- cells that hold J, and who sleeps ------------------------------------------------------- */

void leat_sim_aton_clear_cells(struct leat_sim_aton *ring)
{
    memset(ring->cell, 0, ring->bits);
    memset(ring->awake, 0xFF, leat_sim_aton_awake_words(&ring->config) * sizeof *ring->awake);
    ring->awake[ring->config.stations / 64] = (UINT64_C(1) << ring->config.stations % 64) - 1;
    ring->marks = ring->asleep = 0;
    ring->has_more_marks = false;
}

static void add_mark(struct leat_sim_aton *ring, uint32_t cell)
{
    if (ring->marks == LEAT_SIM_ATON_MARKS_MAX)
        ring->has_more_marks = true;
    else
        ring->mark[ring->marks++] = cell;
}

/* One that is not listed is one of too many. */
static void remove_mark(struct leat_sim_aton *ring, uint32_t cell)
{
    for (uint32_t i = 0; i < ring->marks; i++) {
        if (ring->mark[i] != cell) continue;
        ring->mark[i] = ring->mark[--ring->marks];
        return;
    }
}

static inline void put(struct leat_sim_aton *ring, uint32_t cell, unsigned symbol)
{
    const unsigned before = ring->cell[cell];
    ring->cell[cell] = (uint8_t)symbol;
    if ((before == LEAT_ATON_J) == (symbol == LEAT_ATON_J)) return;
    if (symbol == LEAT_ATON_J)
        add_mark(ring, cell);
    else
        remove_mark(ring, cell);
}

/* There were too many marks: lists them anew. */
static void find_marks(struct leat_sim_aton *ring)
{
    ring->marks = 0;
    ring->has_more_marks = false;
    for (uint32_t i = 0; i < ring->bits && !ring->has_more_marks; i++)
        if (ring->cell[i] == LEAT_ATON_J) add_mark(ring, i);
}

static void wake(struct leat_sim_aton *ring, uint32_t station)
{
    const uint64_t bit = UINT64_C(1) << station % 64;
    ring->asleep -= !(ring->awake[station / 64] & bit);
    ring->awake[station / 64] |= bit;
}

/* The station whose input is so many bits behind the monitor's output, if there is one. */
static void wake_at(struct leat_sim_aton *ring, uint32_t at)
{
    uint32_t low = 0, high = ring->present;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint32_t there = ring->seat[ring->sequence[middle]].at;
        if (there == at) wake(ring, ring->sequence[middle]);
        if (there <= at)
            low = middle + 1;
        else
            high = middle;
    }
}

static void wake_marked(struct leat_sim_aton *ring, uint32_t moved)
{
    if (ring->has_more_marks && moved == 0) find_marks(ring);
    if (!ring->asleep) return;
    if (ring->has_more_marks) {
        for (uint32_t i = 0; i < ring->present; i++)
            wake(ring, ring->sequence[i]);
        return;
    }
    for (uint32_t i = 0; i < ring->marks; i++) {
        const uint32_t at = ring->mark[i] + moved;
        wake_at(ring, at < ring->bits ? at : at - ring->bits);
    }
}

static bool may_sleep(const struct leat_aton_station *s)
{
    return s->in.phase == LEAT_ATON_HUNTS && s->role == LEAT_ATON_ROLE_REPEATS && !s->is_monitor;
}

/* ---- orders --------------------------------------------------------------------------------- */

/* Shows the interface what it would send in bit time t. */
static void offer(struct leat_sim_aton *ring, uint32_t station, leat_time t)
{
    struct leat_sim_aton_seat *seat = &ring->seat[station];
    if (seat->sends) return;
    seat->offered = 0;
    for (unsigned kind = 2; kind-- > 0;) {
        const uint32_t entry = seat->first[kind];
        if (entry && ring->entry[entry - 1].at <= t) seat->offered = entry;
        if (entry && ring->entry[entry - 1].at > t)
            ring->due = leat_smaller(ring->due, ring->entry[entry - 1].at);
    }
    seat->station.wants = seat->offered != 0;
    if (seat->offered) seat->station.order = ring->entry[seat->offered - 1].order;
}

static void offer_all(struct leat_sim_aton *ring, leat_time t)
{
    ring->due = LEAT_NEVER;
    for (uint32_t i = 0; i < ring->waits; i++)
        offer(ring, ring->waiting[i], t);
}

/* ---- reports of interfaces ------------------------------------------------------------------- */

static void on_result(struct leat_sim_aton *ring, uint32_t station, leat_time at)
{
    struct leat_sim_aton_seat *seat = &ring->seat[station];
    leat_sim_aton_report_done(ring, station, &seat->station.result, seat->station.buffer, at);
    offer(ring, station, at);
}

static void on_captured(struct leat_sim_aton *ring, uint32_t station, leat_time t)
{
    struct leat_sim_aton_seat *seat = &ring->seat[station];
    leat_sim_aton_take_order(ring, station, seat->offered, t - RING_T_AT);
    seat->offered = 0;
    leat_sim_aton_report_begins(ring, station);
}

static void report(struct leat_sim_aton *ring, uint32_t station, unsigned events, leat_time t)
{
    const struct leat_aton_station *s = &ring->seat[station].station;
    if (events & LEAT_ATON_EVENT_CAPTURED) on_captured(ring, station, t);
    if (events & LEAT_ATON_EVENT_RECEIVED)
        leat_sim_aton_report_arrived(ring, station, s->sa, s->buffer, s->received_len, t + 1);
    if (events & LEAT_ATON_EVENT_RESULT) on_result(ring, station, t + 1);
    if (events & LEAT_ATON_EVENT_ORPHAN) ring->counts.orphans++;
    if (events & LEAT_ATON_EVENT_SILENCE) ring->counts.silences++;
    if (events & LEAT_ATON_EVENT_RELEASED) {
        ring->released_at = t;
        ring->released_by = station;
        ring->released_priority = s->priority;
    }
}

/* ---- one bit time --------------------------------------------------------------------------- */

/* The interface changes symbols that it has put out, the latest into `cell`. They are still in its
 * register, behind which the next interface is. */
static void patch(struct leat_sim_aton *ring, const struct leat_aton_station *s, uint32_t cell)
{
    assert(s->patch_len <= leat_sim_aton_held(&ring->config) + 1);
    for (uint32_t i = 0; i < s->patch_len; i++) {
        const uint32_t back = s->patch_len - 1 - i, at = cell + back;
        put(ring, at < ring->bits ? at : at - ring->bits, s->patch[i / 64] >> i % 64 & 1);
    }
}

static void step_station(struct leat_sim_aton *ring, uint32_t i, uint32_t moved, leat_time t)
{
    struct leat_sim_aton_seat *seat = &ring->seat[i];
    const uint32_t cell = seat->at >= moved ? seat->at - moved : seat->at + ring->bits - moved;
    unsigned out = 0;
    if (seat->present) {
        out = leat_aton_station_step(&seat->station, ring->cell[cell]);
        put(ring, cell, out & 3);
        if (out & LEAT_ATON_EVENT_PATCH) patch(ring, &seat->station, cell);
    }
    if (!seat->present || may_sleep(&seat->station)) {
        ring->awake[i / 64] &= ~(UINT64_C(1) << i % 64);
        ring->asleep++;
    }
    if (out > 3) report(ring, i, out & ~3u, t);
}

static void step(struct leat_sim_aton *ring, leat_time t)
{
    const size_t words = leat_sim_aton_awake_words(&ring->config);
    const uint32_t moved = (uint32_t)(t % ring->bits);
    if (t >= ring->due) offer_all(ring, t);
    wake_marked(ring, moved);
    for (size_t w = 0; w < words; w++)
        for (uint64_t some = ring->awake[w]; some; some &= some - 1)
            step_station(ring, (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(some), moved, t);
}

/* Is there nothing on the ring but the first symbol of a token, which no station has seen yet, and
 * will the monitor's timer not expire before it arrives? */
static bool is_clean(const struct leat_sim_aton *ring)
{
    const struct leat_aton_station *monitor = &ring->seat[ring->config.monitor].station;
    if (monitor->silence > 2 * ring->bits) return false;
    for (uint32_t i = 0; i < ring->present; i++) {
        const struct leat_aton_station *s = &ring->seat[ring->sequence[i]].station;
        const bool releases = ring->sequence[i] == ring->released_by;
        if (s->in.phase != LEAT_ATON_HUNTS || s->tokens || s->broken) return false;
        if (s->role != LEAT_ATON_ROLE_REPEATS && !releases) return false;
    }
    uint32_t symbols = 0;
    for (uint32_t i = 0; i < ring->bits; i++)
        symbols += ring->cell[i] != 0;
    return symbols == 1;
}

/* Continues word by word. A monitor that sends a token itself has not counted this bit time. */
static void leave(struct leat_sim_aton *ring)
{
    const uint32_t silence = ring->seat[ring->config.monitor].station.silence;
    ring->silent_from = ring->released_at + (ring->released_by != ring->config.monitor) - silence;
    ring->by_bits = false;
    ring->has_priorities |= ring->released_priority > 0; /* noise may request priority, too */
    leat_sim_aton_show_priority(ring);
}

void leat_sim_aton_run_bits(struct leat_sim_aton *ring, leat_time until)
{
    const bool may_leave = ring->config.model == LEAT_SIM_ATON_WORD;
    leat_time t = ring->now;
    while (t < until && !ring->stop) {
        step(ring, t++);
        ring->now = t;
        if (may_leave && ring->released_at == t - 1 && is_clean(ring)) {
            leave(ring);
            return;
        }
    }
}

/* ---- disturbances --------------------------------------------------------------------------- */

static void report_lost(struct leat_sim_aton *ring, uint32_t station)
{
    static const struct leat_aton_result lost = { .status = LEAT_ATON_LOST };
    if (ring->seat[station].sends) leat_sim_aton_report_done(ring, station, &lost, NULL, ring->now);
}

void leat_sim_aton_disturb(struct leat_sim_aton *ring, const struct leat_sim_aton_fault *fault)
{
    if (fault->kind == LEAT_SIM_ATON_BIT_ERROR) {
        const uint32_t cell = cell_of(ring, fault->station, ring->now);
        put(ring, cell, ring->cell[cell] ^ (fault->flip & 3u));
        return;
    }
    wake(ring, fault->station);
    leat_aton_station_reset(&ring->seat[fault->station].station);
    ring->seat[fault->station].station.raises.count = 0;
    report_lost(ring, fault->station);
    ring->due = ring->now;
}

/* All interfaces lose their state. */
static void silence(struct leat_sim_aton *ring)
{
    leat_sim_aton_clear_cells(ring);
    for (uint32_t i = 0; i < ring->config.stations; i++) {
        leat_aton_station_reset(&ring->seat[i].station);
        ring->seat[i].station.wants = 0;
        ring->seat[i].offered = 0;
    }
    ring->due = ring->now;
}

void leat_sim_aton_break_bits(struct leat_sim_aton *ring)
{
    silence(ring);
    leat_aton_station_purge(&ring->seat[ring->config.monitor].station);
    for (uint32_t i = 0; i < ring->config.stations; i++)
        report_lost(ring, i);
}

/*
 * A token in flight is equivalent to one that is sent again from the same place, a revolution
 * later. Interfaces after that place would miss its end, and its sender does not see it leave: so
 * two whole revolutions are simulated in advance, after which the state is as it would have been.
 */
void leat_sim_aton_enter_bits(struct leat_sim_aton *ring)
{
    struct leat_aton_station *by = &ring->seat[ring->released_by].station;
    struct leat_aton_station *monitor = &ring->seat[ring->config.monitor].station;
    const uint8_t opcode = monitor->opcode;
    const leat_time now = ring->now, bits = ring->bits;
    leat_sim_aton_decide_priority(ring);
    silence(ring);
    ring->by_bits = true;
    if (ring->released_at > now) { /* the monitor is silent before */
        leat_aton_station_purge(by);
        by->purge_left = (uint32_t)(ring->released_at - now);
        ring->released_at = LEAT_NEVER; /* noise may make it later */
        return;
    }
    const leat_time rounds = (now - ring->released_at) / bits,
                    skipped = rounds > 2 ? rounds - 2 : 0;
    for (uint32_t i = 0; skipped && i < ring->present; i++)
        ring->seat[ring->sequence[i]].station.tokens = 1;
    if (!skipped) {
        monitor->opcode = opcode;
        if (ring->silent_from < ring->released_at)
            monitor->silence = (uint32_t)(ring->released_at - ring->silent_from);
    }
    leat_aton_station_release(by);
    by->priority = ring->released_priority;
    const uint64_t packets = ring->counts.packets;
    ring->due = ring->released_at + skipped * bits;
    for (leat_time t = ring->due; t < now; t++)
        step(ring, t);
    assert(ring->counts.packets == packets); /* the skipped time had none */
    (void)packets;
}
