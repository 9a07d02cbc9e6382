#include "sim_atm_load_memory.h"

enum { WINDOW_MIN = 1024, WINDOW_TOTAL = 1 << 16 };
enum { /* of a port in a stride: requesting a message takes 22 cycles, the others happen in one */
       STRIDE_DELIVERED = 4,
       STRIDE_GIVEN_UP = LEAT_SIM_ATM_STRIDE,
       STRIDE_WRITTEN = LEAT_SIM_ATM_STRIDE,
       STRIDE_REPORTS = STRIDE_DELIVERED + STRIDE_GIVEN_UP,
};

static uint32_t window_of(uint32_t ports)
{
    uint32_t window = WINDOW_MIN;
    while (window * 2 <= WINDOW_TOTAL / ports)
        window *= 2;
    return window;
}

/* Its ports are those of its switches. */
static void lay_part(struct leat_sim_atm_load *load, const struct leat_sim_atm_load_config *config,
                     uint32_t number, struct leat_arena *arena)
{
    const struct leat_sim_atm_fabric *fabric = &config->fabric;
    const uint32_t ports = fabric->net.stage[0].inputs *
                           (leat_sim_atm_fabric_part_begin(fabric, 0, number + 1) -
                            leat_sim_atm_fabric_part_begin(fabric, 0, number));
    struct leat_sim_atm_load_part part = { .report_cap = STRIDE_REPORTS * ports,
                                           .written_cap = STRIDE_WRITTEN * ports };
    leat_sim_certificate_init(&part.certificate);
    part.report = leat_arena_lay_lines(arena, part.report_cap, sizeof *part.report);
    part.written = leat_arena_lay_lines(arena, part.written_cap, sizeof *part.written);
    part.received = leat_arena_lay_lines(arena, config->len_max + 1, 1);
    if (load->part) load->part[number] = part;
}

static void lay_parts(struct leat_sim_atm_load *load, const struct leat_sim_atm_load_config *config,
                      struct leat_arena *arena)
{
    load->parts = leat_sim_atm_fabric_parts(&config->fabric);
    load->part = leat_arena_lay_lines(arena, load->parts, sizeof *load->part);
    for (uint32_t part = 0; part < load->parts; part++)
        lay_part(load, config, part, arena);
    load->in_order = leat_arena_lay(arena, (size_t)STRIDE_REPORTS * config->fabric.net.ports,
                                    sizeof *load->in_order);
}

static void lay_hosts(struct leat_sim_atm_load *load, const struct leat_sim_atm_load_config *config,
                      struct leat_arena *arena)
{
    const uint32_t ports = config->fabric.net.ports;
    const bool faults = leat_sim_atm_line_has_faults(&config->line);
    load->window = window_of(ports);
    load->host = leat_arena_lay_lines(arena, ports, sizeof *load->host);
    load->medium = faults ? leat_arena_lay(arena, 1, sizeof *load->medium) : NULL;
    load->line = faults ? leat_arena_lay(arena, ports, sizeof *load->line) : NULL;
    load->sent = leat_arena_lay(arena, (size_t)ports * load->window, sizeof *load->sent);
    for (uint32_t i = 0; i < ports; i++) {
        uint8_t *octets = leat_arena_lay(arena, config->len_max + 1, 1);
        struct leat_sim_atm_load_complete *complete = leat_arena_lay(
            arena, config->aal.receive_blocks, sizeof *complete);
        if (!load->host) continue;
        load->host[i].octets = octets;
        load->host[i].complete = complete;
    }
}

void leat_sim_atm_load_lay(struct leat_sim_atm_load *load,
                           const struct leat_sim_atm_load_config *config, void *memory,
                           struct leat_sim_atm_load_pieces *pieces)
{
    struct leat_arena arena = { .memory = memory, .cap = SIZE_MAX };
    const uint32_t ports = config->fabric.net.ports;
    const struct leat_atm_aal_config aal = leat_sim_atm_fabric_unit(&config->fabric, &config->aal,
                                                                    0);
    lay_hosts(load, config, &arena);
    lay_parts(load, config, &arena);
    pieces->network = leat_arena_lay_lines(&arena, 1,
                                           leat_sim_atm_footprint(&config->fabric, config->model));
    pieces->often = leat_arena_lay_lines(&arena, ports, leat_atm_aal_unit_footprint_often(&aal));
    pieces->often_len = arena.used;
    pieces->seldom = leat_arena_lay_lines(&arena, ports, leat_atm_aal_unit_footprint_seldom(&aal));
    pieces->len = arena.used;
}

static struct leat_sim_atm_load_pieces measure(const struct leat_sim_atm_load_config *config)
{
    struct leat_sim_atm_load load;
    struct leat_sim_atm_load_pieces pieces;
    leat_sim_atm_load_lay(&load, config, NULL, &pieces);
    return pieces;
}

size_t leat_sim_atm_load_footprint(const struct leat_sim_atm_load_config *config)
{
    return measure(config).len;
}

size_t leat_sim_atm_load_footprint_often(const struct leat_sim_atm_load_config *config)
{
    return measure(config).often_len;
}
