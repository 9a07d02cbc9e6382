#include "sim_atm_check_load.h"
#include "leat_arena.h"
#include "leat_bytes.h"
#include <string.h>

enum { CELL_LEN = LEAT_ATM_CELL_LEN, SOURCE_AT = 5, NUMBER_AT = 9, OFFERED_AT = 17, FILL_AT = 25 };

/* Specs/atm.md, 8: the generator and its seeding. */
static uint64_t draw(struct leat_sim_check_source *source)
{
    uint64_t x = source->state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return source->state = x;
}

static void seed_source(struct leat_sim_check_source *source, uint64_t seed, uint32_t number)
{
    enum { WARM_UP = 8 };
    source->state = seed * UINT64_C(0x9E3779B97F4A7C15) +
                    ((uint64_t)number + 1) * UINT64_C(0xD1B54A32D192ED03);
    if (source->state == 0) source->state = 1;
    for (int i = 0; i < WARM_UP; i++)
        draw(source);
}

static void write_cell(const struct leat_sim_atm_check_load *w,
                       struct leat_sim_check_source *source, uint32_t port, uint32_t label)
{
    memset(source->cell, 0, CELL_LEN);
    leat_atm_label_put(source->cell, w->sim.fabric.net.header_octets, label);
    leat_put_be32(source->cell + SOURCE_AT, port);
    leat_put_be64(source->cell + NUMBER_AT, source->number++);
    leat_put_be64(source->cell + OFFERED_AT, source->send_at);
    for (size_t i = FILL_AT; i + 8 <= CELL_LEN; i += 8)
        leat_put_be64(source->cell + i, source->state);
}

/* Draws once a cycle from `from` on until there is a cell. */
static void next_cell(struct leat_sim_atm_check_load *w, uint32_t port, uint64_t from)
{
    const struct leat_atm_clos *net = &w->sim.fabric.net;
    struct leat_sim_check_source *source = &w->source[port];
    source->send_at = LEAT_NEVER;
    if (w->load_percent == 0) return;
    for (uint64_t at = from; at < w->until; at++) {
        const uint64_t r = draw(source);
        if ((r >> 40) % 100 >= w->load_percent) continue;
        source->send_at = at;
        write_cell(w, source, port,
                   leat_atm_clos_access(net, (uint32_t)((r >> 3) % net->ports),
                                        (uint32_t)((r >> 20) % net->paths)));
        w->offered++;
        leat_sim_atm_send(&w->sim, port, source->cell, at);
        leat_sim_atm_wake(&w->sim, port, at + CELL_LEN);
        return;
    }
}

static void refused(void *context, uint32_t port, uint64_t now)
{
    struct leat_sim_atm_check_load *w = context;
    w->source[port].send_at = now + 1;
    leat_sim_atm_send(&w->sim, port, w->source[port].cell, now + 1);
    leat_sim_atm_wake(&w->sim, port, now + 1 + CELL_LEN);
}

static void act(void *context, uint32_t port, uint64_t now)
{
    next_cell(context, port, now);
}

static uint32_t room(void *context, uint32_t port)
{
    (void)context;
    (void)port;
    return UINT32_MAX;
}

static void deliver(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    struct leat_sim_atm_check_load *w = context;
    const struct leat_sim_delivery d = {
        .at = now,
        .source = leat_get_be32(cell + SOURCE_AT),
        .destination = port,
        .number = leat_get_be64(cell + NUMBER_AT),
        .payload_hash = leat_sim_payload_hash(cell, CELL_LEN),
    };
    leat_sim_delivery_hash_add(&w->hash, now, port, (uint32_t)d.source, d.number);
    leat_sim_certificate_add(&w->certificate, &d);
    leat_sim_histogram_add(&w->latency, now - leat_get_be64(cell + OFFERED_AT));
    w->delivered++;
}

static size_t lay_out(struct leat_sim_atm_check_load *w, const struct leat_sim_atm_fabric *fabric,
                      enum leat_sim_atm_model model, void *memory, void **network)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    w->source = leat_arena_lay(&arena, fabric->net.ports, sizeof *w->source);
    *network = leat_arena_lay(&arena, 1, leat_sim_atm_footprint(fabric, model));
    return arena.used;
}

size_t leat_sim_atm_check_load_footprint(const struct leat_sim_atm_fabric *fabric,
                                         enum leat_sim_atm_model model)
{
    struct leat_sim_atm_check_load w;
    void *network;
    return lay_out(&w, fabric, model, NULL, &network);
}

void leat_sim_atm_check_load_init(struct leat_sim_atm_check_load *w,
                                  const struct leat_sim_atm_fabric *fabric,
                                  enum leat_sim_atm_model model, uint64_t seed,
                                  uint32_t load_percent, uint64_t until, void *memory)
{
    const struct leat_sim_atm_host host = { w, refused, act, room, deliver, NULL };
    void *network;
    *w = (struct leat_sim_atm_check_load){ .load_percent = load_percent, .until = until };
    lay_out(w, fabric, model, memory, &network);
    leat_sim_atm_init(&w->sim, fabric, model, &host, network);
    leat_sim_delivery_hash_init(&w->hash);
    leat_sim_certificate_init(&w->certificate);
    leat_sim_histogram_init(&w->latency);
    for (uint32_t port = 0; port < fabric->net.ports; port++) {
        seed_source(&w->source[port], seed, port);
        next_cell(w, port, 0);
    }
}

void leat_sim_atm_check_load_run(struct leat_sim_atm_check_load *w, uint64_t to)
{
    leat_sim_atm_run(&w->sim, to < w->until ? to : w->until);
}

uint64_t leat_sim_atm_check_load_sent(const struct leat_sim_atm_check_load *w)
{
    uint64_t sent = w->offered;
    for (uint32_t port = 0; port < w->sim.fabric.net.ports; port++) {
        const uint64_t at = w->source[port].send_at;
        if (at != LEAT_NEVER && at + CELL_LEN > w->sim.now) sent--;
    }
    return sent;
}
