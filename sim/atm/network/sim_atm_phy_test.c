/* Cells on physical lines: rates and times held to closed forms, bit errors to what codecs promise
 * (proto/atm/phy/atm_trunk_test.c holds the codecs to a plain model). */
#include "leat_bytes.h"
#include "net_plan.h"
#include "sim_atm.h"
#include "sim_certificate.h"
#include "tap.h"
#include <leat/random.h>
#include <math.h>
#include <string.h>

enum { PORTS_MAX = 16, CELL = LEAT_ATM_CELL_LEN, HEADER = LEAT_ATM_VP_HEADER, PERIOD_PS = 12000 };

/* Payload bits per second over the bits of a cell, from the structure of each line; so a cell takes
 * den / num seconds. */
static const struct {
    const char *name;
    uint64_t num, den;
} rates[] = {
    { "stm1", 2340 * 8000, 53 },
    { "e1", 30 * 8000, 53 },
    { "e3", 530 * 8000, 53 },
    { "ds3-plcp", 12 * 8000, 1 },
    { "ds3-adm", UINT64_C(44736000) * 84, 85 * 424 },
    { "cell155", 155520000, 424 },
    { "cell622", 622080000, 424 },
    { "taxi100", UINT64_C(125000000) * 64, 64 * 540 + 10 },
    { "8b10b", UINT64_C(194400000) * 26, 27 * 530 },
};
enum { RATES = sizeof rates / sizeof *rates };

/* ---- a network of hosts with plain sources --------------------------------------------------- */

struct scene {
    struct leat_net_topology topology;
    struct leat_sim_atm_graph graph;
    struct leat_sim_atm_fabric fabric;
    struct leat_net_faults faults;
    struct leat_sim_atm_faults in;
    struct leat_sim_atm sim;
    void *memory[3];
    const char *line;
    enum { GREEDY, SELDOM, SILENT } sources; /* whenever they can; a few slots apart; never */
    bool to_all;
    struct leat_random random[PORTS_MAX];
    uint8_t cell[PORTS_MAX][CELL];
    uint64_t sent, refused, got, intact;
    uint64_t next_slot; /* SELDOM: 0; GREEDY: in which port 0 gets its next cell */
    uint64_t late;      /* cells that came at another time than the closed form says */
    double latency;     /* sum */
    struct leat_sim_certificate certificate;
};

/* Slot k begins in cycle floor(k den / num seconds), of 12 ns: 10^12 / 12000 is 250000000 / 3. */
static uint64_t slot_at(const char *line, uint64_t slot)
{
    size_t i = 0;
    while (strcmp(rates[i].name, line) != 0)
        i++;
    return slot * rates[i].den * 250000000 / (3 * rates[i].num);
}

/* The first one from this cycle on. */
static uint64_t slot_from(const char *line, uint64_t cycle)
{
    uint64_t slot = cycle / (slot_at(line, 1) + 1);
    while (slot_at(line, slot) < cycle)
        slot++;
    return slot;
}

/* Random octets: a payload that stays the same could pass for headers. */
static void fill(uint8_t *cell, uint32_t port, uint64_t now)
{
    struct leat_random r;
    leat_random_seed_entity(&r, now, port);
    leat_random_fill(&r, cell + 16, CELL - 16);
}

static void send(struct scene *s, uint32_t port, uint64_t now)
{
    const uint32_t ports = s->fabric.net.ports;
    uint8_t *cell = s->cell[port];
    memset(cell, 0, CELL);
    leat_atm_label_put(cell, HEADER, s->to_all ? ports : (port + 1) % ports);
    fill(cell, port, now);
    leat_put_be64(cell + 8, now);
    s->sent++;
    leat_sim_atm_send(&s->sim, port, cell, now);
}

static void act(void *context, uint32_t port, uint64_t now)
{
    struct scene *s = context;
    const uint64_t slot = slot_at(s->line, 1);
    if (s->sources == SILENT) return;
    leat_sim_atm_wake(&s->sim, port,
                      s->sources == GREEDY
                          ? now + CELL
                          : now + 3 * slot + leat_random_below(&s->random[port], 5 * slot));
    send(s, port, now);
}

/* The same cell again. */
static void refused(void *context, uint32_t port, uint64_t now)
{
    struct scene *s = context;
    const uint64_t at = now + 1 + slot_at(s->line, 1) / 4; /* its gate has another cell */
    s->refused++;
    leat_sim_atm_send(&s->sim, port, s->cell[port], at);
    leat_sim_atm_wake(&s->sim, port, at + CELL);
}

static uint32_t room(void *context, uint32_t port)
{
    (void)context;
    (void)port;
    return 4;
}

static uint64_t way(const struct scene *s, uint32_t from, uint32_t to)
{
    return leat_net_way_cycles(&s->topology, s->graph.routing, &s->graph.net, from, to, 1, 1);
}

/* In every slot; or when a cell that was sent at this time comes through an idle network. */
static void check_time(struct scene *s, uint32_t from, uint32_t port, uint64_t sent_at,
                       uint64_t now)
{
    if (s->sources == GREEDY && port == 0) {
        if (!s->next_slot) s->next_slot = slot_from(s->line, now);
        s->late += now != slot_at(s->line, s->next_slot++);
    }
    if (s->sources != SELDOM) return;
    const uint64_t slot = slot_from(s->line, sent_at + CELL) + way(s, from, port);
    s->late += now != slot_at(s->line, slot);
    s->latency += (double)(now - sent_at);
}

static void deliver(void *context, uint32_t port, const uint8_t *cell, uint64_t now)
{
    struct scene *s = context;
    const uint32_t ports = s->fabric.net.ports, from = s->to_all ? 0 : (port + ports - 1) % ports;
    const struct leat_sim_delivery d = { .at = now,
                                         .source = from,
                                         .destination = port,
                                         .payload_hash = leat_sim_payload_hash(cell, CELL) };
    uint8_t wanted[CELL];
    fill(wanted, from, leat_get_be64(cell + 8));
    const bool intact = memcmp(cell + 16, wanted + 16, CELL - 16) == 0;
    leat_sim_certificate_add(&s->certificate, &d);
    s->got++;
    s->intact += intact;
    check_time(s, from, port, leat_get_be64(cell + 8), now);
}

/* errors: in 2^-64, on the lines of hosts, or inside. */
static void set_up(struct scene *s, const char *name, const char *line, uint64_t errors,
                   bool inside, bool alone)
{
    struct leat_net_plan plan;
    struct leat_text why = LEAT_TEXT(256);
    const struct leat_sim_atm_host host = {
        .context = s, .refused = refused, .act = act, .room = room, .deliver = deliver
    };
    memset(s, 0, sizeof *s);
    s->line = line;
    EQ(leat_net_plan_parse_cells(name, &plan, &why), LEAT_ERR_OK);
    plan.net.channels = plan.routing.channels = plan.net.channels ? plan.net.channels : 2;
    plan.net.in_order = plan.routing.in_order = true;
    s->memory[0] = calloc(1, leat_net_topology_footprint(&plan.shape));
    EQ(leat_net_topology_build(&s->topology, &plan.shape, s->memory[0], &why), LEAT_ERR_OK);
    s->memory[1] = calloc(1, leat_net_routing_footprint(&s->topology, &plan.routing));
    s->graph = (struct leat_sim_atm_graph){
        .topology = &s->topology,
        .routing = leat_net_routing_init(&s->topology, &plan.routing, s->memory[1]),
        .net = plan.net,
        .seed = tap_seed(),
        .error_seed = tap_seed(),
        .line = leat_atm_line_find(line, strlen(line)),
        .host_errors = inside ? 0 : errors,
    };
    s->fabric = (struct leat_sim_atm_fabric){ .graph = &s->graph,
                                              .period_ps_num = PERIOD_PS,
                                              .period_ps_den = 1 };
    leat_net_faults_init(&s->faults);
    s->faults.fault[0] = (struct leat_net_fault){ .kind = LEAT_NET_FAULT_BER,
                                                  .a = LEAT_NET_NONE,
                                                  .b = LEAT_NET_NONE,
                                                  .to = LEAT_NEVER,
                                                  .bit_errors = errors };
    s->faults.count = 1;
    s->faults.flit_bits = 8 * CELL;
    s->in = (struct leat_sim_atm_faults){ .list = &s->faults, .topology = &s->topology, .seed = 1 };
    if (inside) s->fabric.faults = &s->in;
    leat_atm_clos_init_other(&s->fabric.net, s->topology.terminals);
    OK(s->fabric.net.ports <= PORTS_MAX);
    const enum leat_sim_atm_model model = alone ? LEAT_SIM_ATM_ALONE : LEAT_SIM_ATM_CELL;
    s->memory[2] = calloc(1, leat_sim_atm_footprint(&s->fabric, model));
    leat_sim_certificate_init(&s->certificate);
    leat_sim_atm_init(&s->sim, &s->fabric, model, &host, s->memory[2]);
    for (uint32_t p = 0; p < s->fabric.net.ports; p++) {
        leat_random_seed_entity(&s->random[p], tap_seed(), p);
        leat_sim_atm_wake(&s->sim, p, 1 + leat_random_below(&s->random[p], 1000));
    }
}

static void end(struct scene *s)
{
    for (int i = 0; i < 3; i++)
        free(s->memory[i]);
}

static void run_to_slot(struct scene *s, uint64_t slot)
{
    leat_sim_atm_run(&s->sim, slot_at(s->line, slot));
}

static struct leat_sim_atm_phy_counts counts_of(const struct scene *s)
{
    struct leat_sim_atm_phy_counts counts;
    leat_sim_atm_graph_phy(&s->sim, &counts);
    return counts;
}

static const char *const fabrics[] = { "crossbar:4/cells/switch=output", "ring:4/cells" };
enum { FABRICS = sizeof fabrics / sizeof *fabrics };

/* ---- rates and times ------------------------------------------------------------------------- */

static void at_saturation_every_slot_of_a_line_brings_a_cell(void)
{
    enum { SLOTS = 400 };
    for (size_t i = 0; i < RATES; i++)
        for (size_t k = 0; k < FABRICS; k++) {
            struct scene s;
            set_up(&s, fabrics[k], rates[i].name, 0, false, false);
            run_to_slot(&s, SLOTS);
            OK(s.refused > 0); /* the line is the bottleneck */
            EQ(s.late, 0);
            OK(s.got >= 4 * (SLOTS - 20));
            OK(s.next_slot == SLOTS || s.next_slot + 1 == SLOTS);
            EQ(s.sim.counts.lost, 0);
            end(&s);
        }
}

/* A cell of 53 cycles waits half a slot on average, and then takes a slot for each wire and
 * switch. */
static void an_idle_network_takes_the_time_of_the_closed_form(void)
{
    enum { SLOTS = 20000 };
    for (size_t i = 0; i < RATES; i++)
        for (size_t k = 0; k < FABRICS; k++) {
            struct scene s;
            set_up(&s, fabrics[k], rates[i].name, 0, false, true);
            s.sources = SELDOM;
            run_to_slot(&s, SLOTS);
            const double slot = (double)slot_at(rates[i].name, SLOTS) / SLOTS;
            const double mean = s.latency / (double)s.got;
            OK(s.got > SLOTS / 4);
            EQ(s.late, 0);
            OK(fabs(mean - CELL - slot * ((double)way(&s, 0, 1) + 0.5)) < 0.02 * slot + 1);
            end(&s);
        }
}

/* A cell time in ps is S cycles of the clock; a line that is too fast for it has none. */
static void cell_times_and_errors_are_those_of_the_fabric(void)
{
    const struct leat_sim_clock clock = { PERIOD_PS, 1 }, slow = { 50000, 1 };
    struct leat_text why = LEAT_TEXT(256);
    for (size_t i = 0; i < RATES; i++) {
        struct scene s;
        struct leat_sim_clock slot = { 0, 1 };
        set_up(&s, fabrics[0], rates[i].name, 16, false, true);
        const struct leat_sim_clock cell = leat_sim_atm_fabric_cell_ps(&s.fabric);
        EQ(leat_sim_atm_line_slot(s.graph.line, &clock, &slot, &why), LEAT_ERR_OK);
        for (uint64_t k = 1; k < 100000; k *= 7) {
            EQ(leat_sim_clock_at(&slot, k), slot_at(rates[i].name, k));
            EQ(leat_sim_clock_at(&cell, k) / PERIOD_PS, slot_at(rates[i].name, k));
        }
        OK(leat_sim_atm_fabric_errs(&s.fabric));
        s.graph.host_errors = 0;
        OK(!leat_sim_atm_fabric_errs(&s.fabric));
        s.fabric.faults = &s.in;
        OK(leat_sim_atm_fabric_errs(&s.fabric));
        s.graph.line = NULL;
        OK(!leat_sim_atm_fabric_errs(&s.fabric));
        end(&s);
        EQ(leat_sim_atm_line_slot(leat_atm_line_find(rates[i].name, strlen(rates[i].name)), &slow,
                                  &slot, &why) == LEAT_ERR_OK,
           strcmp(rates[i].name, "cell622") != 0);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Lines by themselves: each has its own errors, and a silence of any length costs little. */
static void lines_have_errors_of_their_own_also_after_a_long_silence(void)
{
    enum { LINES = 3, CELLS = 3000 };
    static struct leat_sim_atm_phy phy, alike;
    struct leat_arena arena = { 0 };
    leat_sim_atm_phy_lay(&phy, LINES, &arena);
    void *memory = calloc(1, arena.used), *other = calloc(1, arena.used);
    leat_arena_init(&arena, memory, SIZE_MAX);
    leat_sim_atm_phy_lay(&phy, LINES, &arena);
    leat_arena_init(&arena, other, SIZE_MAX);
    leat_sim_atm_phy_lay(&alike, LINES, &arena);
    leat_sim_atm_phy_init(&phy, &leat_atm_lines[0], tap_seed());
    leat_sim_atm_phy_init(&alike, &leat_atm_lines[0], tap_seed());
    uint64_t passed[LINES] = { 0 }, slot[LINES] = { 0 }, differ = 0;
    for (uint32_t k = 0; k < CELLS; k++) {
        bool got[LINES];
        for (uint32_t line = 0; line < LINES; line++) {
            uint8_t cell[CELL] = { 0 }, same[CELL] = { 0 };
            const uint64_t errors = line ? UINT64_C(1) << 56 : 0; /* 1/256 */
            slot[line] += k % 1000 ? 1 + k % 3 : UINT64_C(1) << 50;
            got[line] = leat_sim_atm_phy_carry(&phy, line, slot[line], errors, 70000, cell);
            EQ(leat_sim_atm_phy_carry(&alike, line, slot[line], errors, 70000, same), got[line]);
            OK(memcmp(cell, same, CELL) == 0);
            passed[line] += got[line];
        }
        differ += got[1] != got[2];
    }
    EQ(passed[0], CELLS);
    OK(passed[1] < CELLS && passed[1] > CELLS * 9 / 10 && differ > 0);
    EQ(phy.counts.cells, 2 * CELLS);
    EQ(phy.counts.cells,
       passed[1] + passed[2] + phy.counts.discarded + phy.counts.missed + phy.counts.misrouted);
    free(memory);
    free(other);
}

#define CHANCE(p) ((uint64_t)((p)*18446744073709551616.0))

/* With a chance of 2^-60 all octets go through the codecs, and nothing happens to them. */
static void codecs_on_intact_lines_do_what_no_codecs_do(void)
{
    enum { SLOTS = 300 };
    for (size_t i = 0; i < RATES; i++)
        for (size_t k = 0; k < FABRICS; k++) {
            struct scene s[3];
            for (int how = 0; how < 3; how++) {
                set_up(&s[how], fabrics[k], rates[i].name, how ? 16 : 0, how == 1, false);
                run_to_slot(&s[how], SLOTS);
                EQ(counts_of(&s[how]).bits, 0);
                EQ(counts_of(&s[how]).cells > 3 * SLOTS, how > 0);
                EQ(leat_sim_certificate_value(&s[how].certificate),
                   leat_sim_certificate_value(&s[0].certificate));
            }
            OK(s[0].got > 3 * (SLOTS - 20));
            for (int how = 0; how < 3; how++)
                end(&s[how]);
        }
}

/* Is a count near its mean, of so many trials? */
static bool is_near(uint64_t count, double trials, double chance)
{
    const double mean = trials * chance;
    return fabs((double)count - mean) <= 5 * sqrt(mean) + 0.03 * mean;
}

/* A header with one wrong bit is corrected, one with two is discarded; payloads pass as they are.
 * Of line codes a wrong bit mostly makes an invalid word. */
static void single_errors_are_corrected_discarded_or_delivered_as_codes_say(void)
{
    enum { SLOTS = 8000 };
    const double p = 2e-4;
    for (size_t i = 0; i < RATES; i++) {
        struct scene s;
        set_up(&s, fabrics[0], rates[i].name, CHANCE(p), false, false);
        run_to_slot(&s, SLOTS);
        s.sources = SILENT;
        run_to_slot(&s, SLOTS + 20);
        const struct leat_sim_atm_phy_counts c = counts_of(&s);
        const struct leat_atm_line *line = s.graph.line;
        const double cells = (double)c.cells, one = 40 * p * pow(1 - p, 39);
        const double bits = (double)line->bits_per_s * (double)line->cells_den /
                            (double)line->cells_num;
        OK(is_near(c.bits, cells, bits * p));
        EQ(c.discarded + c.missed + c.misrouted, s.sim.counts.lost);
        EQ(s.sent, s.got + s.sim.counts.lost);
        EQ(c.misrouted, 0);
        if (line->delineation != LEAT_ATM_LINE_BY_SYMBOLS) EQ(c.missed, 0);
        if (line->corrects) {
            OK(is_near(c.corrected, cells, one * (1 - one)));
            OK(is_near(c.altered, cells, 1 - pow(1 - p, 8 * 48)));
        } else {
            const double hit = 1 - pow(1 - p, 530);
            EQ(c.corrected, 0);
            OK(c.discarded > 0.3 * hit * cells && c.discarded < 1.3 * hit * cells);
        }
        OK(s.got > s.intact);
        end(&s);
    }
}

static void start(struct scene *s)
{
    s->sources = GREEDY;
    for (uint32_t p = 0; p < s->fabric.net.ports; p++)
        leat_sim_atm_wake(&s->sim, p, s->sim.now + p);
}

/* Heavy errors for a while: frames and cells get lost, and are found again, at the latest in empty
 * slots: 4B/5B finds its words by them. */
static void lines_find_their_cells_again_when_errors_end(void)
{
    enum { UNTIL = 3000, PAUSE = 300, AFTER = UNTIL + 2 * PAUSE, SLOTS = AFTER + 3000 };
    for (size_t i = 0; i < RATES; i++) {
        struct scene s;
        set_up(&s, fabrics[1], rates[i].name, CHANCE(0.03), true, false);
        s.faults.fault[0].to = slot_at(s.line, UNTIL);
        run_to_slot(&s, UNTIL);
        OK(counts_of(&s).missed > 100 && counts_of(&s).lost_bounds > 0);
        OK(counts_of(&s).discarded > 0);
        run_to_slot(&s, UNTIL + PAUSE / 2);
        s.sources = SILENT;
        run_to_slot(&s, UNTIL + PAUSE);
        start(&s);
        run_to_slot(&s, AFTER);
        const uint64_t got = s.got, intact = s.intact, lost = s.sim.counts.lost;
        run_to_slot(&s, SLOTS);
        OK(s.got - got >= 4 * (SLOTS - AFTER - 1));
        EQ(s.got - got, s.intact - intact);
        EQ(s.sim.counts.lost, lost);
        end(&s);
    }
}

static void the_same_seed_gives_the_same_errors_and_another_seed_others(void)
{
    uint64_t value[3];
    for (int again = 0; again < 3; again++) {
        struct scene s;
        set_up(&s, fabrics[0], "stm1", CHANCE(1e-3), false, false);
        run_to_slot(&s, 1000);
        value[again] = leat_sim_certificate_value(&s.certificate);
        OK(counts_of(&s).corrected > 0);
        end(&s);
    }
    EQ(value[0], value[1]);
    EQ(value[0], value[2]);
}

/* Each copy of a broadcast has errors of its own. */
static void copies_are_damaged_one_by_one(void)
{
    struct scene s;
    set_up(&s, fabrics[0], "e3", CHANCE(3e-4), false, false);
    s.to_all = true;
    for (uint32_t p = 1; p < s.fabric.net.ports; p++)
        leat_sim_atm_wake(&s.sim, p, LEAT_NEVER);
    run_to_slot(&s, 8000);
    s.sources = SILENT;
    run_to_slot(&s, 8100);
    const struct leat_sim_atm_phy_counts c = counts_of(&s);
    EQ(s.sent * s.fabric.net.ports, s.got + s.sim.counts.lost);
    /* A copy crosses two lines, that of the sender and its own. */
    OK(is_near(s.got - s.intact, (double)s.got, 1 - pow(1 - 3e-4, 2 * 8 * (CELL - 8))));
    OK(c.altered >= s.got - s.intact);
    end(&s);
}

TAP_MAIN(T(at_saturation_every_slot_of_a_line_brings_a_cell),
         T(an_idle_network_takes_the_time_of_the_closed_form),
         T(cell_times_and_errors_are_those_of_the_fabric),
         T(lines_have_errors_of_their_own_also_after_a_long_silence),
         T(codecs_on_intact_lines_do_what_no_codecs_do),
         T(single_errors_are_corrected_discarded_or_delivered_as_codes_say),
         T(lines_find_their_cells_again_when_errors_end),
         T(the_same_seed_gives_the_same_errors_and_another_seed_others),
         T(copies_are_damaged_one_by_one))
