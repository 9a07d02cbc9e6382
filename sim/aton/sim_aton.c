/* The ring: its stations, orders, faults, callbacks. The models are in separate files. */
#include "sim_aton.h"
#include "leat_arena.h"
#include "leat_fnv.h"
#include "leat_heap.h"
#include "sim_aton_parts.h"
#include "sim_refuse.h"
#include <string.h>

enum { ADDRESSES = 1 << 16, CONTROL_OCTETS = 16 /* of an image, beside its payload */ };

/* ---- is there such a ring? ------------------------------------------------------------------- */

static uint32_t link_bits(const struct leat_sim_aton_config *c, uint32_t station)
{
    return c->propagation ? c->propagation[station] : c->propagation_each;
}

static leat_err check_links(const struct leat_sim_aton_config *c, struct leat_text *why)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->stations; i++) {
        const uint64_t bits = link_bits(c, i);
        if (bits > LEAT_SIM_ATON_PROPAGATION_MAX)
            return leat_text_out_of_range(why, "propagation of a link", bits, 0,
                                          LEAT_SIM_ATON_PROPAGATION_MAX);
        sum += bits + leat_sim_aton_held(c);
    }
    if (sum > LEAT_SIM_ATON_BITS_MAX)
        return leat_text_out_of_range(why, "propagation of all links, and delay of interfaces,",
                                      sum, 0, LEAT_SIM_ATON_BITS_MAX);
    return LEAT_ERR_OK;
}

static leat_err check_addresses(const struct leat_sim_aton_config *c, struct leat_text *why)
{
    uint8_t seen[ADDRESSES / 8] = { 0 };
    for (uint32_t i = 0; c->address && i < c->stations; i++) {
        const unsigned address = c->address[i];
        if (address == LEAT_ATON_DA_ALL)
            return leat_text_out_of_range(why, "address", address, 0, address - 1);
        if (seen[address / 8] >> address % 8 & 1)
            return leat_sim_refuse(
                why, LEAT_ERR_RANGE,
                "address %u is there twice, expected one of its own for each station", address);
        seen[address / 8] |= (uint8_t)(1u << address % 8);
    }
    return LEAT_ERR_OK;
}

leat_err leat_sim_aton_check(const struct leat_sim_aton_config *c, struct leat_text *why)
{
    const struct leat_text_range row[] = {
        { "stations", c->stations, 1, LEAT_SIM_ATON_STATIONS_MAX },
        { "model", c->model, LEAT_SIM_ATON_BIT, LEAT_SIM_ATON_WORD },
        { "monitor", c->monitor, 0, c->stations - 1 },
        { "delay", c->delay, 0, LEAT_SIM_ATON_DELAY_MAX },
        { "orders", c->orders_max, 1, LEAT_SIM_ATON_ORDERS_MAX },
        { "faults", c->faults_max, 0, LEAT_SIM_ATON_FAULTS_MAX },
        { "octets of a packet", c->payload_max, 0, LEAT_ATON_IMAGE_LEN_MAX },
    };
    leat_err err = leat_text_check_ranges(why, row, sizeof row / sizeof *row);
    if (err) return err;
    err = check_links(c, why);
    return err ? err : check_addresses(c, why);
}

/* ---- memory --------------------------------------------------------------------------------- */

static uint64_t propagation_of(const struct leat_sim_aton_config *c)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->stations; i++)
        sum += link_bits(c, i) + leat_sim_aton_held(c);
    return sum;
}

static void lay_out(struct leat_sim_aton *ring, struct leat_arena *arena)
{
    const struct leat_sim_aton_config *c = &ring->config;
    const size_t longest = 8 * (size_t)c->stations + LEAT_ATON_SLOTS_MAX * 9u;
    ring->image_cap = (uint32_t)(CONTROL_OCTETS + (longest < 128 ? 128 : longest));
    ring->seat = leat_arena_lay_lines(arena, c->stations, sizeof *ring->seat);
    ring->sequence = leat_arena_lay(arena, c->stations, sizeof *ring->sequence);
    ring->waiting = leat_arena_lay(arena, c->stations, sizeof *ring->waiting);
    ring->by_address = leat_arena_lay(arena, ADDRESSES, sizeof *ring->by_address);
    ring->entry = leat_arena_lay(arena, c->orders_max, sizeof *ring->entry);
    ring->fault = leat_arena_lay(arena, c->faults_max, sizeof *ring->fault);
    ring->cell = leat_arena_lay(arena, c->stations + propagation_of(c) + LEAT_ATON_TOKEN_SYMBOLS,
                                sizeof *ring->cell);
    ring->awake = leat_arena_lay(arena, leat_sim_aton_awake_words(c), sizeof *ring->awake);
    ring->image = leat_arena_lay(arena, ring->image_cap, 1);
}

size_t leat_sim_aton_footprint(const struct leat_sim_aton_config *config)
{
    struct leat_sim_aton measured = { .config = *config };
    struct leat_arena arena = { 0 };
    lay_out(&measured, &arena);
    leat_arena_lay(&arena, config->stations, config->payload_max);
    return arena.used;
}

void leat_sim_aton_init(struct leat_sim_aton *ring, const struct leat_sim_aton_config *config,
                        const struct leat_sim_aton_host *host, void *memory)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    *ring = (struct leat_sim_aton){ .config = *config, .host = *host, .due = LEAT_NEVER };
    lay_out(ring, &arena);
    uint8_t *buffer = leat_arena_lay(&arena, config->stations, config->payload_max);
    memset(ring->by_address, 0, ADDRESSES * sizeof *ring->by_address);
    for (uint32_t i = 0; i < config->stations; i++) {
        const uint16_t address = config->address ? config->address[i] : (uint16_t)(i + 1);
        ring->seat[i] = (struct leat_sim_aton_seat){ .present = true };
        leat_aton_station_init(&ring->seat[i].station, address,
                               buffer + (size_t)i * config->payload_max, config->payload_max);
        ring->by_address[address] = (uint16_t)(i + 1);
    }
    leat_sim_certificate_init(&ring->certificate);
    leat_sim_aton_close(ring);
    ring->by_bits = config->model == LEAT_SIM_ATON_BIT;
    ring->released_by = ring->config.monitor;
    if (ring->by_bits) {
        leat_sim_aton_clear_cells(ring);
        leat_aton_station_release(&ring->seat[config->monitor].station);
    }
}

/* ---- who is in it ---------------------------------------------------------------------------- */

void leat_sim_aton_close(struct leat_sim_aton *ring)
{
    const uint32_t n = ring->config.stations;
    uint32_t at = 0;
    uint64_t links = 0;
    ring->present = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t station = (ring->config.monitor + i) % n;
        struct leat_sim_aton_seat *seat = &ring->seat[station];
        seat->station.is_monitor = i == 0;
        if (seat->present) {
            seat->at = at;
            seat->place = ring->present;
            ring->sequence[ring->present++] = station;
            at += 1 + leat_sim_aton_held(&ring->config);
            links += leat_sim_aton_held(&ring->config);
        }
        at += link_bits(&ring->config, station); /* a bypass keeps its link */
        links += link_bits(&ring->config, station);
    }
    ring->bits = at + (uint32_t)leat_aton_monitor_bits(ring->present, links);
    ring->seat[ring->config.monitor].station.ring_bits = ring->bits;
}

uint32_t leat_sim_aton_distance(const struct leat_sim_aton *ring, uint32_t from, uint32_t to)
{
    const uint32_t a = ring->seat[from].at, b = ring->seat[to].at;
    return b > a ? b - a : b + ring->bits - a;
}

uint64_t leat_sim_aton_propagation(const struct leat_sim_aton *ring)
{
    return propagation_of(&ring->config);
}

struct leat_aton_interface *leat_sim_aton_registers(struct leat_sim_aton *ring, uint32_t station)
{
    return &ring->seat[station].station.it;
}

const struct leat_aton_station *leat_sim_aton_station(const struct leat_sim_aton *ring,
                                                      uint32_t station)
{
    return &ring->seat[station].station;
}

bool leat_sim_aton_is_present(const struct leat_sim_aton *ring, uint32_t station)
{
    return ring->seat[station].present;
}

/* ---- orders --------------------------------------------------------------------------------- */

static bool has_orders(const struct leat_sim_aton_seat *seat)
{
    return seat->first[0] || seat->first[1];
}

static void start_waiting(struct leat_sim_aton *ring, uint32_t station)
{
    if (ring->seat[station].waits_at) return;
    ring->waiting[ring->waits++] = station;
    ring->seat[station].waits_at = ring->waits;
}

static void stop_waiting(struct leat_sim_aton *ring, uint32_t station)
{
    const uint32_t place = ring->seat[station].waits_at, last = ring->waiting[ring->waits - 1];
    ring->waiting[place - 1] = last;
    ring->seat[last].waits_at = place;
    ring->seat[station].waits_at = 0;
    ring->waits--;
}

static uint32_t new_entry(struct leat_sim_aton *ring)
{
    if (ring->entry_free) {
        const uint32_t entry = ring->entry_free;
        ring->entry_free = ring->entry[entry - 1].next;
        return entry;
    }
    return ring->entries < ring->config.orders_max ? ++ring->entries : 0;
}

static void free_entry(struct leat_sim_aton *ring, uint32_t entry)
{
    ring->entry[entry - 1].next = ring->entry_free;
    ring->entry_free = entry;
}

/* By time, after those of the same time. */
static void enqueue(struct leat_sim_aton *ring, uint32_t station, uint32_t entry)
{
    struct leat_sim_aton_seat *seat = &ring->seat[station];
    struct leat_sim_aton_entry *e = &ring->entry[entry - 1];
    const unsigned kind = e->order.when_idle;
    uint32_t *link = &seat->first[kind];
    if (seat->last[kind] && ring->entry[seat->last[kind] - 1].at <= e->at)
        link = &ring->entry[seat->last[kind] - 1].next;
    while (*link && ring->entry[*link - 1].at <= e->at)
        link = &ring->entry[*link - 1].next;
    e->next = *link;
    *link = entry;
    if (!e->next) seat->last[kind] = entry;
    start_waiting(ring, station);
    ring->due = leat_smaller(ring->due, e->at);
}

static bool can_be_sent(const struct leat_sim_aton *ring, uint32_t station,
                        const struct leat_aton_order *order)
{
    uint8_t image[CONTROL_OCTETS + LEAT_ATON_SLOTS_MAX * 9];
    size_t len;
    if (order->is_passive) return order->command.priority <= 7;
    return leat_aton_begin(&ring->seat[station].station.it, &order->command, image, sizeof image,
                           &len) == LEAT_ERR_OK;
}

bool leat_sim_aton_hand_over(struct leat_sim_aton *ring, uint32_t station,
                             const struct leat_aton_order *order, uint64_t id, leat_time at,
                             leat_time period)
{
    assert(station < ring->config.stations && at >= ring->now);
    struct leat_sim_aton_seat *seat = &ring->seat[station];
    if (!seat->present || !can_be_sent(ring, station, order)) return false;
    const uint32_t entry = new_entry(ring);
    if (!entry) return false;
    ring->entry[entry - 1] = (struct leat_sim_aton_entry){
        .order = *order, .id = id, .number = seat->handed++, .at = at, .period = period
    };
    ring->has_priorities |= order->command.priority > 0;
    enqueue(ring, station, entry);
    return true;
}

void leat_sim_aton_take_order(struct leat_sim_aton *ring, uint32_t station, uint32_t entry,
                              leat_time sent_at)
{
    struct leat_sim_aton_seat *seat = &ring->seat[station];
    const unsigned kind = ring->entry[entry - 1].order.when_idle;
    assert(seat->first[kind] == entry);
    seat->first[kind] = ring->entry[entry - 1].next;
    if (!seat->first[kind]) seat->last[kind] = 0;
    if (!has_orders(seat)) stop_waiting(ring, station);
    seat->sends = entry;
    seat->sent_at = sent_at;
    ring->counts.packets++;
}

/* ---- reporting ----------------------------------------------------------------------------- */

void leat_sim_aton_report_begins(struct leat_sim_aton *ring, uint32_t station)
{
    const struct leat_sim_aton_seat *seat = &ring->seat[station];
    if (ring->host.begins)
        ring->host.begins(ring->host.context, station, ring->entry[seat->sends - 1].id,
                          seat->sent_at);
}

static uint64_t hash_of(const struct leat_aton_result *r, const uint8_t *payload)
{
    uint64_t hash = leat_sim_fnv_word(LEAT_FNV_EMPTY, r->counter);
    hash = leat_sim_fnv_word(hash, r->variable1);
    hash = leat_sim_fnv_word(hash, r->variable2);
    hash = leat_sim_fnv_word(hash, r->recognised * 2u + r->copied);
    return leat_fnv(hash, payload, r->payload_len);
}

static void certify(struct leat_sim_aton *ring, leat_time at, uint32_t from, uint32_t to,
                    uint64_t number, uint64_t hash)
{
    const struct leat_sim_delivery delivery = { at, from, to, number, hash };
    leat_sim_certificate_add(&ring->certificate, &delivery);
}

static void count(struct leat_sim_aton *ring, unsigned status)
{
    ring->counts.results++;
    ring->counts.damaged += status == LEAT_ATON_DAMAGED;
    ring->counts.lost += status == LEAT_ATON_LOST;
}

void leat_sim_aton_report_done(struct leat_sim_aton *ring, uint32_t station,
                               const struct leat_aton_result *result, const uint8_t *payload,
                               leat_time at)
{
    struct leat_sim_aton_seat *seat = &ring->seat[station];
    const struct leat_sim_aton_entry e = ring->entry[seat->sends - 1];
    free_entry(ring, seat->sends);
    seat->sends = 0;
    ring->now = at;
    count(ring, result->status);
    if (result->status == LEAT_ATON_DONE)
        certify(ring, at, station, station, e.number, hash_of(result, payload));
    if (e.period) leat_sim_aton_hand_over(ring, station, &e.order, e.id, at + e.period, e.period);
    if (!ring->host.done) return;
    const struct leat_sim_aton_result report = { .station = station,
                                                 .id = e.id,
                                                 .number = e.number,
                                                 .handed_at = e.at,
                                                 .sent_at = seat->sent_at,
                                                 .at = at,
                                                 .result = *result,
                                                 .order = &e.order,
                                                 .payload = payload };
    ring->host.done(ring->host.context, &report);
}

void leat_sim_aton_report_arrived(struct leat_sim_aton *ring, uint32_t station,
                                  uint16_t from_address, const uint8_t *octets, uint32_t len,
                                  leat_time at)
{
    const uint32_t from = ring->by_address[from_address];
    const struct leat_sim_aton_seat *sender = from ? &ring->seat[from - 1] : NULL;
    const bool is_known = sender && sender->sends;
    const struct leat_sim_aton_arrival report = {
        .station = station,
        .from = from ? from - 1 : ring->config.stations,
        .number = is_known ? ring->entry[sender->sends - 1].number : 0,
        .sent_at = is_known ? sender->sent_at : at,
        .at = at,
        .octets = octets,
        .len = len,
    };
    ring->now = at;
    ring->counts.arrivals++;
    certify(ring, at, report.from, station, report.number, leat_sim_payload_hash(octets, len));
    if (ring->host.arrived) ring->host.arrived(ring->host.context, &report);
}

/* ---- faults --------------------------------------------------------------------------------- */

static bool is_earlier(const void *context, const void *a, const void *b)
{
    const struct leat_sim_aton_fault *x = a, *y = b;
    (void)context;
    if (x->at != y->at) return x->at < y->at;
    return x->station != y->station ? x->station < y->station : x->kind < y->kind;
}

static struct leat_heap faults_of(const struct leat_sim_aton *ring)
{
    return (struct leat_heap){ .element = ring->fault,
                               .size = sizeof *ring->fault,
                               .before = is_earlier };
}

bool leat_sim_aton_fault(struct leat_sim_aton *ring, const struct leat_sim_aton_fault *fault)
{
    const bool is_break = fault->kind == LEAT_SIM_ATON_LEAVES || fault->kind == LEAT_SIM_ATON_JOINS;
    assert(fault->at >= ring->now && (is_break || ring->now == 0));
    assert(fault->station < ring->config.stations);
    if (ring->faults == ring->config.faults_max) return false;
    const struct leat_heap heap = faults_of(ring);
    leat_heap_push(&heap, &ring->faults, fault);
    return true;
}

static struct leat_sim_aton_fault take_fault(struct leat_sim_aton *ring)
{
    const struct leat_heap heap = faults_of(ring);
    struct leat_sim_aton_fault top;
    leat_heap_take(&heap, &ring->faults, &top);
    return top;
}

/* Pending orders of a station that leaves are lost. */
static void drop_orders(struct leat_sim_aton *ring, uint32_t station)
{
    static const struct leat_aton_result lost = { .status = LEAT_ATON_LOST };
    struct leat_sim_aton_seat *seat = &ring->seat[station];
    for (unsigned kind = 0; kind < 2; kind++)
        while (seat->first[kind]) {
            leat_sim_aton_take_order(ring, station, seat->first[kind], ring->now);
            ring->entry[seat->sends - 1].period = 0;
            leat_sim_aton_report_done(ring, station, &lost, NULL, ring->now);
        }
}

bool leat_sim_aton_breaks(const struct leat_sim_aton *ring, const struct leat_sim_aton_fault *fault)
{
    const bool is_present = ring->seat[fault->station].present;
    if (fault->kind == LEAT_SIM_ATON_LEAVES) return is_present && ring->present > 1;
    return fault->kind == LEAT_SIM_ATON_JOINS && !is_present;
}

static void break_ring(struct leat_sim_aton *ring, const struct leat_sim_aton_fault *fault)
{
    const bool joins = fault->kind == LEAT_SIM_ATON_JOINS;
    ring->seat[fault->station].present = joins;
    ring->counts.breaks++;
    while (!ring->seat[ring->config.monitor].present)
        ring->config.monitor = (ring->config.monitor + 1) % ring->config.stations;
    leat_sim_aton_close(ring);
    if (ring->by_bits)
        leat_sim_aton_break_bits(ring);
    else
        leat_sim_aton_break_words(ring);
    if (!joins) drop_orders(ring, fault->station);
}

static void apply(struct leat_sim_aton *ring, const struct leat_sim_aton_fault *fault)
{
    if (leat_sim_aton_breaks(ring, fault)) break_ring(ring, fault);
    if (fault->kind == LEAT_SIM_ATON_LEAVES || fault->kind == LEAT_SIM_ATON_JOINS) return;
    if (!ring->seat[fault->station].present) return;
    if (!ring->by_bits) leat_sim_aton_enter_bits(ring);
    leat_sim_aton_disturb(ring, fault);
}

/* ---- running -------------------------------------------------------------------------------- */

leat_time leat_sim_aton_run(struct leat_sim_aton *ring, leat_time until)
{
    ring->stop = false;
    while (ring->now < until && !ring->stop) {
        while (ring->faults && ring->fault[0].at <= ring->now) {
            const struct leat_sim_aton_fault fault = take_fault(ring);
            apply(ring, &fault);
        }
        const leat_time limit = ring->faults ? leat_smaller(until, ring->fault[0].at) : until;
        if (ring->by_bits)
            leat_sim_aton_run_bits(ring, limit);
        else
            leat_sim_aton_run_words(ring, limit);
    }
    return ring->now;
}
