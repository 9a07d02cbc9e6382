/* Plain ports: what an owner writes is taken in order; loads are what was asked for. */
#include "sim_atm_plain.h"
#include "sim_atm_plain_world_test.h"

enum { CELL = LEAT_ATM_CELL_LEN, PORTS = 4, COUNT = 200 };

/* Port 0 writes numbered cells to port 3, one after the other. */
static struct {
    struct leat_sim_atm_plain plain;
    struct leat_sim_atm_plain_config config;
    struct faults_bench bench;
    uint32_t written, taken;
    uint64_t last_at;
    bool in_order;
    void *memory;
} b;

static bool write(void *context, uint32_t port, uint64_t now, uint8_t *cell)
{
    (void)context;
    if (port != 0 || b.written == COUNT) return false;
    OK(!b.written || now >= b.last_at + CELL);
    b.last_at = now;
    memset(cell, 0, CELL);
    leat_atm_label_put(cell, b.config.fabric.net.header_octets,
                       leat_atm_clos_access(&b.config.fabric.net, 3, 0));
    cell[CELL - 1] = (uint8_t)b.written++;
    return true;
}

static uint64_t due(void *context, uint32_t port)
{
    (void)context;
    return port == 0 && b.written < COUNT ? b.last_at : LEAT_NEVER;
}

static void take(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    (void)context;
    (void)now;
    b.in_order &= port == 3 && cell[CELL - 1] == (uint8_t)b.taken;
    b.taken++;
}

static void begin(uint32_t load_ppm, uint32_t duplicate)
{
    struct leat_arena measured = { 0 }, arena = { .cap = SIZE_MAX };
    const struct leat_sim_atm_plain_owner owner = { .write = write, .due = due, .take = take };
    memset(&b, 0, sizeof b);
    plain_world_fabric("bmx:4", tap_seed(), &b.bench, NULL, &b.config.fabric);
    b.config.model = LEAT_SIM_ATM_CELL;
    b.config.seed = tap_seed();
    b.config.load_ppm = load_ppm;
    b.config.line.duplicate = duplicate;
    b.config.owner = owner;
    b.in_order = true;
    leat_sim_atm_plain_lay(&b.plain, &b.config.fabric, b.config.model, &measured);
    arena.memory = b.memory = calloc(1, measured.used);
    void *network = leat_sim_atm_plain_lay(&b.plain, &b.config.fabric, b.config.model, &arena);
    leat_sim_atm_plain_init(&b.plain, &b.config, network);
    for (uint32_t p = 0; p < PORTS; p++)
        leat_sim_atm_plain_start(&b.plain, p);
}

static void end(void)
{
    free(b.memory);
    free(b.bench.memory);
}

static void what_is_written_is_taken_in_order(void)
{
    begin(0, 0);
    leat_sim_atm_run(&b.plain.sim, (COUNT + 3) * CELL);
    EQ(b.taken, COUNT);
    OK(b.in_order);
    EQ(b.plain.sim.counts.cells_out, COUNT);
    end();
}

/* Each copy takes a cell time of its own; those of the line to the host take none. */
static void copies_follow_one_by_one(void)
{
    struct leat_sim_atm_line_counts lines;
    begin(0, LEAT_SIM_ATM_LINE_RATE_ONE);
    leat_sim_atm_run(&b.plain.sim, (2 * COUNT + 9) * CELL);
    EQ(b.written, COUNT);
    EQ(b.plain.sim.counts.cells_out, 2 * COUNT);
    EQ(b.taken, 4 * COUNT);
    leat_sim_atm_plain_lines(&b.plain, &lines);
    EQ(lines.duplicated, 3 * COUNT);
    end();
}

/* A coin for each cell time: so many of 100,000 show heads. */
static void draws_have_their_share_of_cell_times(void)
{
    uint32_t to[PORTS] = { 0 };
    begin(250000, 0);
    uint64_t at = 0;
    for (unsigned i = 0; i < 25000; i++) {
        at = leat_sim_atm_plain_draw(&b.plain, 2, at) + CELL;
        to[leat_sim_atm_plain_other(&b.plain, 2)]++;
    }
    OK(at / CELL > 97500 && at / CELL < 102500);
    EQ(at % CELL, 0);
    EQ(to[2], 0);
    for (uint32_t p = 0; p < PORTS; p++)
        OK(p == 2 || (to[p] > 7900 && to[p] < 8800));
    end();
    begin(0, 0);
    EQ(leat_sim_atm_plain_draw(&b.plain, 0, 5), LEAT_NEVER);
    end();
}

TAP_MAIN(T(what_is_written_is_taken_in_order), T(copies_follow_one_by_one),
         T(draws_have_their_share_of_cell_times))
