/*
 * Errors on the lines, and what the units make of them. An oracle that knows nothing of our CRCs
 * watches every cell on every line: it divides polynomials bit by bit, says which damaged cells no
 * receiver can tell from good ones, and hence between which ports messages may be altered or lost.
 * Between all others every message arrives once, whole, and in order.
 */
#include "leat_bytes.h"
#include "sim_load.h"
#include "sim_traffic.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, PORTS_MAX = 16, MESSAGES_MAX = 32, LEN_MAX = 88 };
enum { TYPE_AT = 5, FLAG_AT = 7, SEQUENCE_AT = 9, SOURCE_AT = 11, TO_AT = 13, DATA_AT = 35 };
enum { CRC_AT = 51, ALL = LEAT_ATM_TASK_BROADCAST };

/* ------------------------------------------------------------------ polynomials, bit by bit */

static unsigned bit_of(const uint8_t *octets, size_t i)
{
    return (unsigned)octets[i / 8] >> (7 - i % 8) & 1u;
}

/* The remainder of `count` bits by a generator of `degree`, given without its highest bit. */
static unsigned remainder_of(const uint8_t *octets, size_t count, unsigned degree,
                             unsigned generator)
{
    uint8_t bits[8 * CELL];
    for (size_t i = 0; i < count; i++)
        bits[i] = (uint8_t)bit_of(octets, i);
    for (size_t i = 0; i + degree < count; i++) {
        if (!bits[i]) continue;
        bits[i] = 0;
        for (unsigned k = 0; k < degree; k++)
            bits[i + 1 + k] ^= (uint8_t)(generator >> (degree - 1 - k) & 1);
    }
    unsigned rest = 0;
    for (size_t i = count - degree; i < count; i++)
        rest = rest << 1 | bits[i];
    return rest;
}

/* x^16 + x^12 + x^5 + 1 divides octets 5..52 of a cell that its receiver takes for good. */
static bool divides(const uint8_t *cell)
{
    return remainder_of(cell + TYPE_AT, 8 * (CELL - TYPE_AT), 16, 0x1021) == 0;
}

/* x^8 + x^2 + x + 1, and 55 on top (specs/atm.md, 1.2). */
static unsigned header_syndrome(const uint8_t *header)
{
    uint8_t plain[5];
    memcpy(plain, header, sizeof plain);
    plain[4] ^= 0x55;
    return remainder_of(plain, 40, 8, 0x07);
}

/* Which bit alone leaves that syndrome? 40: none. */
static unsigned guilty_bit(unsigned syndrome)
{
    for (unsigned bit = 0; bit < 40; bit++) {
        uint8_t header[5] = { 0 };
        header[bit / 8] = (uint8_t)(0x80 >> bit % 8);
        if (remainder_of(header, 40, 8, 0x07) == syndrome) return bit;
    }
    return 40;
}

static unsigned word_at(const uint8_t *cell, size_t at)
{
    return (unsigned)cell[at] << 8 | cell[at + 1];
}

/* ------------------------------------------------------------------ a run under an oracle */

struct oracle {
    uint32_t ports;
    bool hec;
    bool detecting[PORTS_MAX][2];        /* the mode of each line's header check */
    bool doubtful[PORTS_MAX][PORTS_MAX]; /* from, to: an undetected cell has meddled here */
    uint8_t earlier[PORTS_MAX][2][LEAT_SIM_LINE_EARLIER][CELL];
    uint64_t carried[PORTS_MAX][2];
    struct leat_sim_line_counts counts;
    uint64_t mistaken; /* lines that did not do what they should have */
};

struct message {
    uint32_t to, len, delivered[PORTS_MAX];
    uint64_t at;
};

struct run {
    struct leat_sim_load load;
    struct oracle oracle;
    void *memory;
    struct message message[PORTS_MAX][MESSAGES_MAX];
    uint32_t message_count[PORTS_MAX], drawn[PORTS_MAX];
    int64_t last[PORTS_MAX][PORTS_MAX][2]; /* from, to, kind: number delivered last */
    uint64_t wrong, doubted; /* deliveries not as sent: against the oracle, and as it feared */
    uint64_t wrong_number;   /* of the last one */
    uint8_t wrong_bits[LEN_MAX];
    uint8_t on_line[PORTS_MAX][CELL]; /* towards the network, and since when */
    uint64_t on_line_at[PORTS_MAX], sent_count[PORTS_MAX], repeated;
};

static void doubt(struct oracle *o, unsigned from, unsigned to)
{
    for (unsigned i = 0; i < o->ports; i++)
        if (from < o->ports && (to == i || to == ALL)) o->doubtful[from][i] = true;
}

/* Who may suffer if this cell is believed: an acknowledgement counts for what was sent to its
 * source. */
static void doubt_cell(struct oracle *o, const uint8_t *cell)
{
    const unsigned source = word_at(cell, SOURCE_AT), to = word_at(cell, TO_AT);
    if (word_at(cell, TYPE_AT) != LEAT_ATM_TASK_ACK)
        doubt(o, source, to);
    else
        for (unsigned i = 0; i < o->ports; i++)
            if (to == i || to == ALL) doubt(o, i, source);
}

static bool is_repeated(const struct oracle *o, const struct leat_sim_line_event *e)
{
    const uint64_t carried = o->carried[e->port][e->direction];
    for (uint64_t i = 0; i < LEAT_SIM_LINE_EARLIER && i < carried; i++)
        if (memcmp(o->earlier[e->port][e->direction][i] + 5, e->sent + 5, CELL - 5) == 0)
            return true;
    return false;
}

/* What must the header check do? */
static enum leat_sim_line_fate judge_header(struct oracle *o, const struct leat_sim_line_event *e,
                                            uint8_t *header)
{
    bool *detecting = &o->detecting[e->port][e->direction];
    memcpy(header, e->damaged, 5);
    const bool sound = memcmp(e->sent, e->damaged, CELL) == 0;
    const unsigned syndrome = o->hec && !sound ? header_syndrome(header) : 0;
    const bool was_detecting = *detecting;
    *detecting = syndrome != 0;
    if (syndrome == 0) return LEAT_SIM_LINE_PASSED;
    const unsigned bit = guilty_bit(syndrome);
    if (was_detecting || bit == 40) return LEAT_SIM_LINE_DISCARDED;
    header[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    return LEAT_SIM_LINE_CORRECTED;
}

static void count_flips(struct oracle *o, const struct leat_sim_line_event *e)
{
    uint64_t header = 0, payload = 0;
    for (size_t i = 0; i < 8 * CELL; i++) {
        const unsigned flipped = bit_of(e->sent, i) ^ bit_of(e->damaged, i);
        *(i < 40 ? &header : &payload) += flipped;
    }
    o->counts.header_bits += header;
    o->counts.payload_bits += payload;
    o->counts.damaged += header + payload > 0;
}

/* A cell has passed. Will a unit believe it though it is not what was sent? */
static void judge_content(struct oracle *o, const struct leat_sim_line_event *e)
{
    const bool altered = memcmp(e->sent + 5, e->passed + 5, CELL - 5) != 0;
    const bool foreign = e->what == LEAT_SIM_LINE_STRAY && !is_repeated(o, e);
    if ((!altered && !foreign) || !divides(e->passed)) return;
    o->counts.undetected += altered;
    doubt_cell(o, e->sent);
    doubt_cell(o, e->passed);
}

static void judge(struct oracle *o, const struct leat_sim_line_event *e)
{
    uint8_t header[5];
    const enum leat_sim_line_fate fate = judge_header(o, e, header);
    o->mistaken += e->fate != fate;
    o->counts.hec_corrected += fate == LEAT_SIM_LINE_CORRECTED;
    o->counts.hec_discarded += fate == LEAT_SIM_LINE_DISCARDED;
    if (fate == LEAT_SIM_LINE_DISCARDED) return;
    o->mistaken += memcmp(header, e->passed, 4) != 0;
    o->mistaken += memcmp(e->damaged + 5, e->passed + 5, CELL - 5) != 0;
    o->mistaken += o->hec && e->passed[4] != 0;
    o->counts.header_wrong += memcmp(e->sent, e->passed, 4) != 0;
    judge_content(o, e);
}

static leat_sim_line_watch watch_line;
static void watch_line(void *context, const struct leat_sim_line_event *e)
{
    struct oracle *o = context;
    o->counts.cells += e->what == LEAT_SIM_LINE_OWN;
    o->counts.inserted += e->what == LEAT_SIM_LINE_STRAY;
    o->counts.duplicated += e->what == LEAT_SIM_LINE_COPY;
    o->counts.lost += e->fate == LEAT_SIM_LINE_LOST;
    o->counts.outage += e->fate == LEAT_SIM_LINE_OUTAGE;
    if (e->fate == LEAT_SIM_LINE_OUTAGE) return;
    if (e->fate != LEAT_SIM_LINE_LOST) {
        count_flips(o, e);
        judge(o, e);
    }
    if (e->what != LEAT_SIM_LINE_OWN) return;
    uint64_t *carried = &o->carried[e->port][e->direction];
    memcpy(o->earlier[e->port][e->direction][(*carried)++ % LEAT_SIM_LINE_EARLIER], e->sent, CELL);
}

/* What message `number` of a port says (sim_load.c). */
static void make_octets(uint32_t port, uint32_t number, uint8_t *out, uint32_t len)
{
    uint64_t state = (uint64_t)port << 32 | number;
    for (uint32_t i = 0; i < len; i += 8) {
        const uint64_t word = leat_random_splitmix(&state);
        for (uint32_t k = 0; k < 8 && i + k < len; k++)
            out[i + k] = (uint8_t)(word >> (56 - 8 * k));
    }
}

static bool next_message(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct run *run = context;
    if (run->drawn[port] == run->message_count[port]) return false;
    const struct message *m = &run->message[port][run->drawn[port]++];
    *out = (struct leat_sim_message){ .at = m->at, .to = m->to, .len = m->len };
    return true;
}

static void note_wrong(struct run *run, const struct leat_sim_delivery *d, const uint8_t *octets,
                       const uint8_t *want, uint32_t len)
{
    if (run->oracle.doubtful[d->source][d->destination])
        run->doubted++;
    else
        run->wrong++;
    run->wrong_number = d->number;
    for (uint32_t i = 0; i < len; i++)
        run->wrong_bits[i] = octets[i] ^ want[i];
}

static void note_delivery(void *context, const struct leat_sim_delivery *d, const uint8_t *octets,
                          uint32_t len)
{
    struct run *run = context;
    const uint64_t from = d->source, to = d->destination;
    uint8_t want[LEN_MAX];
    struct message *m = &run->message[from][d->number % MESSAGES_MAX];
    make_octets((uint32_t)from, (uint32_t)d->number, want, len);
    const bool broadcast = m->to == LEAT_SIM_TRAFFIC_ALL;
    int64_t *last = &run->last[from][to][broadcast];
    const bool good = d->number < run->drawn[from] && (broadcast || m->to == to) && m->len == len &&
                      memcmp(octets, want, len) == 0 && (int64_t)d->number > *last;
    if (!good) note_wrong(run, d, octets, want, len);
    *last = (int64_t)d->number;
    m->delivered[to]++;
}

/* A cell sent again after it was refused is the same, octet for octet; others keep their distance.
 */
static void note_cell(void *context, uint32_t port, enum leat_sim_line_direction direction,
                      const uint8_t *cell, uint64_t at)
{
    enum { CELL_CYCLES = 56, REFUSED_VP = 6, REFUSED_VC = 8 };
    struct run *run = context;
    if (direction == LEAT_SIM_LINE_TO_HOST) return;
    const uint64_t since = at - run->on_line_at[port];
    const bool again = since == REFUSED_VP || since == REFUSED_VC;
    if (run->sent_count[port]++ > 0) {
        run->wrong += again ? memcmp(run->on_line[port], cell, CELL) != 0 : since < CELL_CYCLES;
        run->repeated += again;
    }
    memcpy(run->on_line[port], cell, CELL);
    run->on_line_at[port] = at;
}

static void start(struct run *run, const struct leat_sim_load_config *wanted)
{
    struct leat_sim_load_config config = *wanted;
    run->oracle.ports = config.fabric.net.ports;
    run->oracle.hec = config.line.hec;
    config.len_max = LEN_MAX;
    config.next = next_message;
    config.next_context = run;
    config.line.watch = watch_line;
    config.line.watch_context = &run->oracle;
    config.watch.context = run;
    config.watch.delivered = note_delivery;
    config.watch.cell = note_cell;
    memset(run->last, -1, sizeof run->last);
    run->memory = calloc(1, leat_sim_load_footprint(&config));
    if (!run->memory) abort();
    leat_sim_load_init(&run->load, &config, run->memory);
}

static bool fabric_named(const char *name, struct leat_sim_fabric *out)
{
    char line[200];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    return leat_sim_fabric_parse(name, out, &why) == LEAT_ERR_OK;
}

/* ------------------------------------------------------------------ the campaign */

struct plan {
    char fabric[64];
    struct leat_sim_line_config line;
    uint32_t retransmit, obsolete, send_blocks, blocks, messages, broadcast_percent;
    uint64_t seed, last;
};

static uint32_t draw(struct leat_random *r, uint32_t min, uint32_t max)
{
    return min + (uint32_t)leat_random_below(r, (uint64_t)max - min + 1);
}

/* Nothing, a little, or a lot. */
static uint32_t draw_rate(struct leat_random *r, uint32_t max)
{
    const uint32_t kind = draw(r, 0, 2);
    return kind == 0 ? 0 : draw(r, 0, kind == 1 ? max / 50 : max);
}

static struct plan draw_plan(struct leat_random *r)
{
    static const char *const fabrics[] = { "bmx:2",      "bmx:3",      "bmx:5",      "clos:2,2,2",
                                           "clos:2,3,2", "clos:2,1,3", "clos:3,2,2", "clos444" };
    struct plan plan = { .blocks = 4096 };
    enum { LARGE = sizeof fabrics / sizeof *fabrics - 1 };
    const uint32_t fabric = draw(r, 0, LARGE);
    const uint32_t buffer = draw(r, 1, 8), channels = draw(r, 0, 3) == 0;
    snprintf(plan.fabric, sizeof plan.fabric, "%s/buffer=%u/switching=%s", fabrics[fabric], buffer,
             channels ? "vc" : "vp");
    plan.line.seed = leat_random_next(r);
    plan.line.header_errors = draw_rate(r, 5000000);
    plan.line.payload_errors = draw_rate(r, 1000000);
    plan.line.lose = draw_rate(r, 50000000);
    plan.line.insert = draw_rate(r, 150000000);
    plan.line.duplicate = draw_rate(r, 150000000);
    plan.line.hec = draw(r, 0, 1);
    plan.retransmit = draw(r, 4000, 12000);
    plan.obsolete = draw(r, 0, 1) ? 1000000 : draw(r, 1000, 4000);
    plan.send_blocks = draw(r, 0, 1) ? LEAT_ATM_AAL_BLOCKS : draw(r, 3, 20);
    plan.messages = draw(r, 1, MESSAGES_MAX - 1);
    plan.broadcast_percent = draw(r, 0, 2) ? 0 : 20;
    plan.seed = leat_random_next(r);
    /* Who repeats before all have had time to answer keeps the network full of repetitions. */
    if (fabric == LARGE) {
        plan.retransmit *= 8;
        plan.broadcast_percent /= 4;
    }
    plan.last = (uint64_t)UINT8_MAX * plan.retransmit; /* then all would have been given up */
    return plan;
}

static void draw_messages(struct run *run, const struct plan *plan, uint32_t ports)
{
    struct leat_random r;
    leat_random_seed(&r, plan->seed);
    for (uint32_t port = 0; port < ports; port++) {
        uint64_t at = 0;
        run->message_count[port] = plan->messages;
        for (uint32_t i = 0; i < plan->messages; i++) {
            struct message *m = &run->message[port][i];
            const bool all = draw(&r, 1, 100) <= plan->broadcast_percent;
            at += draw(&r, 0, 2000);
            m->at = at;
            m->to = all ? LEAT_SIM_TRAFFIC_ALL : draw(&r, 0, ports - 1);
            m->len = draw(&r, 0, 3) ? 16 : draw(&r, 0, LEN_MAX);
        }
    }
}

/* Zeroed; the caller frees it with end(). */
static struct run *begin(const struct plan *plan, enum leat_sim_atm_model model)
{
    struct run *run = calloc(1, sizeof *run);
    struct leat_sim_load_config config = { .model = model, .line = plan->line };
    if (!run || !fabric_named(plan->fabric, &config.fabric)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    config.aal.retransmit_cycles = plan->retransmit;
    config.aal.obsolete_cycles = plan->obsolete;
    config.aal.send_blocks = plan->send_blocks;
    config.aal.receive_blocks = plan->blocks;
    config.aal.transmissions_max = UINT8_MAX;
    draw_messages(run, plan, config.fabric.net.ports);
    start(run, &config);
    return run;
}

static void end(struct run *run)
{
    free(run->memory);
    free(run);
}

static bool same_counts(const struct leat_sim_line_counts *a, const struct leat_sim_line_counts *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* words without gaps */
}

/* Messages between ports without doubt that did not arrive; broadcasts apart. */
static void count_missing(const struct run *run, uint64_t missing[2])
{
    const uint32_t ports = run->oracle.ports;
    missing[0] = missing[1] = 0;
    for (uint32_t from = 0; from < ports; from++)
        for (uint32_t i = 0; i < run->message_count[from]; i++) {
            const struct message *m = &run->message[from][i];
            const bool all = m->to == LEAT_SIM_TRAFFIC_ALL;
            for (uint32_t to = 0; to < ports; to++)
                if ((all || m->to == to) && !run->oracle.doubtful[from][to])
                    missing[all] += m->delivered[to] == 0;
        }
}

static uint32_t parked_cells(const struct run *run)
{
    uint32_t parked = 0;
    for (uint32_t port = 0; port < run->oracle.ports; port++)
        parked += run->load.host[port].unit.parked_count;
    return parked;
}

static void print_plan(const struct plan *p)
{
    printf(
        "# %s seed %llu line seed %llu header %u payload %u lose %u insert %u duplicate %u hec %d "
        "retransmit %u obsolete %u messages %u broadcast %u blocks %u, %u\n",
        p->fabric, (unsigned long long)p->seed, (unsigned long long)p->line.seed,
        p->line.header_errors, p->line.payload_errors, p->line.lose, p->line.insert,
        p->line.duplicate, p->line.hec, p->retransmit, p->obsolete, p->messages,
        p->broadcast_percent, p->send_blocks, p->blocks);
}

static void check_run(struct run *run, const struct plan *plan, bool drained)
{
    const int failed = tap_checks_failed;
    struct leat_sim_line_counts lines;
    struct leat_atm_aal_counts units;
    uint64_t missing[2];
    leat_sim_load_lines(&run->load, &lines);
    leat_sim_load_units(&run->load, &units);
    count_missing(run, missing);
    run->oracle.counts.no_room = lines.no_room;
    OK(drained);
    OK(same_counts(&lines, &run->oracle.counts));
    EQ(run->oracle.mistaken, 0);
    EQ(run->wrong, 0);
    EQ(run->load.counts.undeliverable, 0);
    EQ(missing[0], 0);
    OK(missing[1] <= units.discarded_unread + run->load.counts.unreadable);
    if (plan->obsolete == 1000000) EQ(missing[1], 0);
    if (!lines.undetected) {
        EQ(run->load.counts.altered, 0);
        EQ(run->load.counts.duplicated, 0);
        EQ(parked_cells(run), 0);
    }
    if (tap_checks_failed != failed) print_plan(plan);
}

static void check_equal(const struct run *a, const struct run *b, const struct plan *plan)
{
    const int failed = tap_checks_failed;
    struct leat_sim_line_counts lines[2];
    struct leat_atm_aal_counts units[2];
    leat_sim_load_lines(&a->load, &lines[0]);
    leat_sim_load_lines(&b->load, &lines[1]);
    leat_sim_load_units(&a->load, &units[0]);
    leat_sim_load_units(&b->load, &units[1]);
    EQ(leat_sim_certificate_value(&a->load.certificate),
       leat_sim_certificate_value(&b->load.certificate));
    OK(same_counts(&lines[0], &lines[1]));
    OK(memcmp(&units[0], &units[1], sizeof *units) == 0);
    OK(memcmp(&a->load.counts, &b->load.counts, sizeof a->load.counts) == 0);
    EQ(a->load.sim.counts.suspensions, b->load.sim.counts.suspensions);
    EQ(a->load.sim.counts.unrouted, b->load.sim.counts.unrouted);
    EQ(a->load.sim.counts.port_refusals, b->load.sim.counts.port_refusals);
    EQ(a->load.sim.now, b->load.sim.now);
    if (tap_checks_failed != failed) print_plan(plan);
}

static void every_message_arrives_once_and_whole_unless_the_oracle_doubts_it(void)
{
    const int cases = 20 + LEAT_ROUNDS / 10000;
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < cases; i++) {
        struct plan plan = draw_plan(&r);
        struct run *rtl = begin(&plan, LEAT_SIM_ATM_RTL), *cell = begin(&plan, LEAT_SIM_ATM_CELL);
        const bool rtl_drained = leat_sim_load_drain(&rtl->load, plan.last);
        const bool cell_drained = leat_sim_load_drain(&cell->load, plan.last);
        check_run(rtl, &plan, rtl_drained);
        check_run(cell, &plan, cell_drained);
        check_equal(rtl, cell, &plan);
        end(rtl);
        end(cell);
    }
}

/* Then copies and strays find no room, hosts stop the network, and the network the hosts. */
static void both_models_agree_when_buffers_are_full_too(void)
{
    const int cases = 20 + LEAT_ROUNDS / 10000;
    struct leat_random r;
    uint64_t no_room = 0, repeated = 0;
    leat_random_seed(&r, tap_seed() + 1);
    for (int i = 0; i < cases; i++) {
        struct plan plan = draw_plan(&r);
        plan.send_blocks = plan.blocks = draw(&r, 3, 12);
        plan.line.duplicate = draw(&r, 0, 500000000);
        struct run *rtl = begin(&plan, LEAT_SIM_ATM_RTL), *cell = begin(&plan, LEAT_SIM_ATM_CELL);
        leat_sim_load_run(&rtl->load, 30000);
        leat_sim_load_run(&cell->load, 30000);
        check_equal(rtl, cell, &plan);
        EQ(rtl->oracle.mistaken, 0);
        struct leat_sim_line_counts lines;
        leat_sim_load_lines(&rtl->load, &lines);
        no_room += lines.no_room;
        repeated += rtl->repeated;
        end(rtl);
        end(cell);
    }
    OK(no_room > 0);
    OK(repeated > 0);
}

/* One damaged cell in 2^16 passes the CRC by chance: the line and the oracle agree which. */
static void what_the_crc_lets_through_by_chance_is_predicted(void)
{
    const int cases = 2 + LEAT_ROUNDS / 50000;
    struct leat_random r;
    uint64_t undetected = 0, damaged = 0;
    leat_random_seed(&r, tap_seed() + 2);
    for (int i = 0; i < cases; i++) {
        struct plan plan = draw_plan(&r);
        plan.line.payload_errors = 1500000; /* nearly every second cell */
        plan.line.header_errors = plan.line.lose = 0;
        plan.messages = MESSAGES_MAX - 1;
        plan.broadcast_percent = 0;
        struct run *run = begin(&plan, LEAT_SIM_ATM_CELL);
        check_run(run, &plan, leat_sim_load_drain(&run->load, plan.last));
        undetected += run->oracle.counts.undetected;
        damaged += run->oracle.counts.damaged;
        end(run);
    }
    if (damaged > 40 * 65536) OK(undetected > 0);
}

/* ------------------------------------------------------------------ scenes */

enum { RETRANSMIT = 3000, PATIENCE = 1000000 };

static struct leat_sim_load_config scene_config(const char *fabric, enum leat_sim_atm_model model)
{
    struct leat_sim_load_config config = { .model = model };
    if (!fabric_named(fabric, &config.fabric)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    config.aal.retransmit_cycles = RETRANSMIT;
    return config;
}

static void add_message(struct run *run, uint32_t from, uint32_t to, uint64_t at)
{
    run->message[from][run->message_count[from]++] =
        (struct message){ .to = to, .len = 16, .at = at };
}

/* Every port sends a few messages to every port. */
static void add_round(struct run *run, uint32_t ports, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        for (uint32_t from = 0; from < ports; from++)
            for (uint32_t to = 0; to < ports; to++)
                add_message(run, from, to, 0);
}

static struct run *new_run(void)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) abort();
    return run;
}

/* Octets 5..52 that differ from 0 as wished, and whose last two let the generator divide them. */
static void seal_mask(uint8_t mask[CELL])
{
    mask[CRC_AT] = mask[CRC_AT + 1] = 0;
    const unsigned rest = remainder_of(mask + TYPE_AT, 8 * (CELL - TYPE_AT), 16, 0x1021);
    mask[CRC_AT] = (uint8_t)(rest >> 8);
    mask[CRC_AT + 1] = (uint8_t)rest;
}

struct attack {
    uint32_t port;
    enum leat_sim_line_direction direction;
    unsigned type, sequence; /* of the cells that are hit */
    bool once;
    uint8_t mask[CELL];
    uint64_t hits;
    struct attack *next;
};

static bool is_hit(const struct attack *a, uint32_t port, enum leat_sim_line_direction direction,
                   const uint8_t *cell)
{
    return port == a->port && direction == a->direction && word_at(cell, TYPE_AT) == a->type &&
           word_at(cell, SEQUENCE_AT) == a->sequence && !(a->once && a->hits > 0);
}

static leat_sim_line_damage strike;
static void strike(void *context, uint32_t port, enum leat_sim_line_direction direction,
                   const uint8_t *cell, uint8_t *mask)
{
    for (struct attack *a = context; a; a = a->next)
        if (is_hit(a, port, direction, cell)) {
            a->hits++;
            memcpy(mask, a->mask, CELL);
        }
}

static void the_oracle_divides_as_the_note_says(void)
{
    static const struct {
        uint8_t header[4], hec;
    } headers[] = { { { 0, 0, 0, 0 }, 0x55 },
                    { { 0, 0, 0, 1 }, 0x52 },
                    { { 0x04, 0, 0, 0 }, 0x0d },
                    { { 0x01, 0x23, 0x45, 0x62 }, 0x8e },
                    { { 0xab, 0xc3, 0x45, 0x67 }, 0x38 },
                    { { 0xff, 0xff, 0xff, 0xff }, 0x8b } };
    static const uint8_t syndromes[] = { 0x31, 0x9b, 0xce, 0x67, 0xb0, 0x58, 0x2c, 0x16 };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        uint8_t header[5];
        memcpy(header, headers[i].header, 4);
        header[4] = headers[i].hec;
        EQ(header_syndrome(header), 0);
        for (unsigned bit = 0; bit < 40; bit++) {
            header[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
            EQ(guilty_bit(header_syndrome(header)), bit);
            if (bit < 8) EQ(header_syndrome(header), syndromes[bit]);
            header[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        }
    }
    uint8_t cell[CELL] = { 0 };
    for (unsigned i = 0; i < 46; i++)
        cell[TYPE_AT + i] = (uint8_t)i;
    seal_mask(cell);
    EQ(word_at(cell, CRC_AT), 0xd909);
    OK(divides(cell));
    memset(cell, 0xff, sizeof cell);
    seal_mask(cell);
    EQ(word_at(cell, CRC_AT), 0x4b41);
    cell[9] ^= 1;
    OK(!divides(cell));
}

static void lines_that_do_nothing_change_nothing(void)
{
    for (int model = 0; model < 2; model++) {
        static struct attack none = { .port = UINT32_MAX };
        struct leat_sim_load_config config = scene_config("clos:2,3,2",
                                                          (enum leat_sim_atm_model)model);
        struct run *plain = new_run(), *lined = new_run();
        add_round(plain, 4, 5);
        add_round(lined, 4, 5);
        config.line.hec = true;
        start(plain, &config);
        config.line.damage = strike;
        config.line.damage_context = &none;
        start(lined, &config);
        OK(!plain->load.line);
        OK(lined->load.line);
        OK(leat_sim_load_drain(&plain->load, PATIENCE));
        OK(leat_sim_load_drain(&lined->load, PATIENCE));
        EQ(plain->load.counts.messages_delivered, 80);
        EQ(leat_sim_certificate_value(&plain->load.certificate),
           leat_sim_certificate_value(&lined->load.certificate));
        end(plain);
        end(lined);
    }
}

/* Multiples of the generator in the data: the receiver cannot know, and nobody else is harmed. */
static void an_error_that_the_crc_cannot_see_alters_just_the_message_it_hits(void)
{
    for (unsigned shift = 0; shift <= 8 * 16 - 17; shift++) {
        struct attack attack = { .port = 0, .type = LEAT_ATM_TASK_MESSAGE, .sequence = 3 };
        struct leat_sim_load_config config = scene_config("bmx:3", LEAT_SIM_ATM_CELL);
        struct run *run = new_run();
        static const unsigned powers[] = { 16, 12, 5, 0 };
        for (size_t i = 0; i < 4; i++) {
            const unsigned bit = 8 * DATA_AT + shift + 16 - powers[i];
            attack.mask[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        }
        for (uint32_t i = 0; i < 5; i++)
            add_message(run, 0, 2, 0);
        for (uint32_t i = 0; i < 5; i++)
            add_message(run, 1, 2, 0);
        config.line.damage = strike;
        config.line.damage_context = &attack;
        start(run, &config);
        OK(leat_sim_load_drain(&run->load, PATIENCE));
        EQ(attack.hits, 1);
        EQ(run->oracle.counts.undetected, 1);
        EQ(run->load.counts.messages_delivered, 10);
        EQ(run->load.counts.altered, 1);
        EQ(run->load.counts.duplicated, 0);
        EQ(run->wrong, 0);
        EQ(run->doubted, 1);
        EQ(run->wrong_number, 2);
        OK(memcmp(run->wrong_bits, attack.mask + DATA_AT, 16) == 0);
        end(run);
    }
}

static void one_bit_more_and_it_is_repaired(void)
{
    for (unsigned bit = 40; bit < 8 * CELL; bit++) {
        struct attack attack = {
            .port = 2,
            .direction = LEAT_SIM_LINE_TO_HOST,
            .type = LEAT_ATM_TASK_MESSAGE,
            .sequence = 3,
            .once = true,
        };
        struct leat_sim_load_config config = scene_config("bmx:3", LEAT_SIM_ATM_CELL);
        struct run *run = new_run();
        attack.mask[DATA_AT] = 0x5a;
        seal_mask(attack.mask);
        OK(divides(attack.mask));
        attack.mask[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        for (uint32_t i = 0; i < 5; i++)
            add_message(run, 0, 2, 0);
        config.line.damage = strike;
        config.line.damage_context = &attack;
        start(run, &config);
        OK(leat_sim_load_drain(&run->load, PATIENCE));
        EQ(attack.hits, 1);
        EQ(run->oracle.counts.undetected, 0);
        EQ(run->load.counts.messages_delivered, 5);
        EQ(run->load.counts.altered, 0);
        EQ(run->wrong, 0);
        EQ(run->load.host[0].unit.counts.retransmissions, 1);
        EQ(run->load.host[2].unit.counts.bad_cells, 1);
        end(run);
    }
}

/* The sender's numbers run on beyond its buffer, since all but one are acknowledged and freed. */
static void a_damaged_cell_holds_up_the_later_ones_and_loses_none(void)
{
    for (uint32_t blocks = 1; blocks <= 40; blocks++) {
        struct leat_sim_load_config config = scene_config("bmx:2", LEAT_SIM_ATM_CELL);
        struct run *run = new_run();
        struct attack attack = {
            .port = 0, .sequence = 3, .once = true, .mask = { [DATA_AT] = 1 }
        };
        uint64_t missing[2];
        for (int i = 0; i < MESSAGES_MAX; i++)
            add_message(run, 0, 1, 0);
        config.aal.send_blocks = blocks;
        config.aal.retransmit_cycles = 20000;
        config.aal.obsolete_cycles = 1000;
        config.line.damage = strike;
        config.line.damage_context = &attack;
        start(run, &config);
        OK(leat_sim_load_drain(&run->load, PATIENCE));
        count_missing(run, missing);
        EQ(missing[0], 0);
        EQ(run->wrong, 0);
        EQ(attack.hits, 1);
        end(run);
    }
}

/* Its acknowledgement was lost while it waits for the cell before it, so it is sent again. */
static void a_copy_of_a_parked_cell_does_not_stay(void)
{
    struct leat_sim_load_config config = scene_config("bmx:2", LEAT_SIM_ATM_CELL);
    struct run *run = new_run();
    struct attack no_ack = { .port = 0,
                             .direction = LEAT_SIM_LINE_TO_HOST,
                             .type = LEAT_ATM_TASK_ACK,
                             .sequence = 2,
                             .once = true,
                             .mask = { [DATA_AT] = 1 } };
    struct attack attack = { .port = 0, .sequence = 1, .mask = { [DATA_AT] = 1 }, .next = &no_ack };
    add_message(run, 0, 1, 0);
    add_message(run, 0, 1, 0);
    config.line.damage = strike;
    config.line.damage_context = &attack;
    start(run, &config);
    leat_sim_load_run(&run->load, 2 * RETRANSMIT);
    EQ(run->load.host[1].unit.counts.duplicates, 1);
    EQ(parked_cells(run), 1);
    attack.once = true;
    OK(leat_sim_load_drain(&run->load, PATIENCE));
    EQ(run->load.counts.messages_delivered, 2);
    EQ(parked_cells(run), 0);
    EQ(run->wrong, 0);
    end(run);
}

/* The acknowledgement of 1 is turned into one of 2, and 2 does not get through. */
static void an_acknowledgement_altered_unseen_loses_the_message_it_names(void)
{
    struct leat_sim_load_config config = scene_config("bmx:3", LEAT_SIM_ATM_CELL);
    struct run *run = new_run();
    struct attack no_second = {
        .port = 2, .direction = LEAT_SIM_LINE_TO_HOST, .sequence = 2, .mask = { [DATA_AT] = 1 }
    };
    struct attack attack = { .port = 0,
                             .direction = LEAT_SIM_LINE_TO_HOST,
                             .type = LEAT_ATM_TASK_ACK,
                             .sequence = 1,
                             .once = true,
                             .next = &no_second };
    attack.mask[SEQUENCE_AT + 1] = 1 ^ 2;
    seal_mask(attack.mask);
    add_message(run, 0, 2, 0);
    add_message(run, 0, 2, 0);
    config.line.damage = strike;
    config.line.damage_context = &attack;
    start(run, &config);
    OK(leat_sim_load_drain(&run->load, PATIENCE));
    EQ(attack.hits, 1);
    EQ(no_second.hits, 1); /* nobody tries again */
    EQ(run->oracle.counts.undetected, 1);
    OK(run->oracle.doubtful[0][2]);
    EQ(run->load.counts.messages_delivered, 1);
    EQ(run->load.counts.undeliverable, 0);
    EQ(run->load.host[0].unit.counts.retransmissions, 1); /* of the first */
    EQ(run->load.host[2].unit.counts.duplicates, 1);
    end(run);
}

/* Eight transmissions of every cell to and from it, and the others are not disturbed. */
static void a_dead_port_is_undeliverable_and_never_a_hang(void)
{
    const struct leat_sim_line_outage outage = { .port = 1, .from = 0, .to = LEAT_NEVER };
    struct run *run[2];
    for (int model = 0; model < 2; model++) {
        struct leat_sim_load_config config = scene_config("clos:2,3,2",
                                                          (enum leat_sim_atm_model)model);
        config.line.outage = &outage;
        config.line.outage_count = 1;
        run[model] = new_run();
        add_round(run[model], 4, 5);
        add_message(run[model], 0, LEAT_SIM_TRAFFIC_ALL, 0);
        start(run[model], &config);
        OK(leat_sim_load_drain(&run[model]->load, PATIENCE));
        struct leat_atm_aal_counts units;
        struct leat_sim_line_counts lines;
        leat_sim_load_units(&run[model]->load, &units);
        leat_sim_load_lines(&run[model]->load, &lines);
        const uint64_t given_up = 5 * (3 + 4) + 1; /* to it, from it, and the broadcast */
        EQ(run[model]->load.counts.undeliverable, given_up);
        EQ(lines.outage, 8 * given_up);
        EQ(units.retransmissions, 7 * given_up);
        EQ(run[model]->load.counts.messages_delivered, 5 * 9 + 3);
        EQ(run[model]->wrong, 0);
    }
    EQ(leat_sim_certificate_value(&run[0]->load.certificate),
       leat_sim_certificate_value(&run[1]->load.certificate));
    end(run[0]);
    end(run[1]);
}

static void a_port_that_comes_back_in_time_misses_nothing(void)
{
    const struct leat_sim_line_outage outages[] = {
        { .port = 1, .from = 500, .to = 10000 },
        { .port = 3, .from = 2000, .to = 2500 },
        { .port = 1, .from = 11000, .to = 14000 },
    };
    for (int model = 0; model < 2; model++) {
        struct leat_sim_load_config config = scene_config("clos:2,3,2",
                                                          (enum leat_sim_atm_model)model);
        struct run *run = new_run();
        uint64_t missing[2];
        config.line.outage = outages;
        config.line.outage_count = 3;
        add_round(run, 4, 5);
        add_message(run, 1, LEAT_SIM_TRAFFIC_ALL, 0);
        start(run, &config);
        OK(leat_sim_load_drain(&run->load, PATIENCE));
        count_missing(run, missing);
        EQ(missing[0] + missing[1], 0);
        EQ(run->wrong, 0);
        EQ(run->load.counts.undeliverable, 0);
        OK(run->oracle.counts.outage > 10);
        end(run);
    }
}

static void stopped_traffic_comes_to_rest(void)
{
    struct leat_sim_load_config config = scene_config("bmx:3", LEAT_SIM_ATM_CELL);
    struct run *run = new_run();
    for (uint32_t i = 0; i < 9; i++)
        add_message(run, 0, 1, 1000 * i);
    start(run, &config);
    leat_sim_load_run(&run->load, 4010);
    OK(!leat_sim_load_is_quiet(&run->load)); /* the fifth is being written */
    OK(!leat_sim_load_drain(&run->load, 4100));
    EQ(run->load.sim.now, 4101);
    leat_sim_load_stop(&run->load);
    OK(leat_sim_load_drain(&run->load, PATIENCE));
    OK(leat_sim_load_is_quiet(&run->load));
    OK(run->load.sim.now < 20000);
    EQ(run->load.counts.messages_delivered, 5);
    leat_sim_load_run(&run->load, PATIENCE);
    EQ(run->load.counts.messages_delivered, 5);
    end(run);
}

/* Note R2: 56 cycles from cell to cell; a copy takes its turn before the unit's own cell. */
static void a_copy_holds_the_cell_behind_it(void)
{
    for (int model = 0; model < 2; model++) {
        struct leat_sim_load_config config = scene_config("bmx:3", (enum leat_sim_atm_model)model);
        struct run *run = new_run();
        add_message(run, 0, 1, 0);
        config.line.duplicate = LEAT_SIM_LINE_RATE_ONE;
        config.len_max = LEN_MAX;
        start(run, &config);
        leat_sim_load_run(&run->load, 200);
        const uint64_t first_at = 1 + 3 + 76 + 3 + 15 + 9 + 6 + 2; /* note 5.2: octet on buf */
        EQ(run->sent_count[0], 2);
        EQ(run->on_line_at[0], first_at + 56);
        OK(leat_sim_load_drain(&run->load, PATIENCE));
        EQ(run->load.counts.messages_delivered, 1);
        EQ(run->load.host[0].unit.counts.retransmissions, 0);
        /* Four copies arrive: two over the network, each twice at the end. */
        EQ(run->load.host[1].unit.counts.cells_received, 4);
        EQ(run->load.host[1].unit.counts.duplicates, 3);
        EQ(run->load.host[1].unit.counts.acks_sent, 4);
        EQ(run->load.host[0].unit.counts.acks_received, 16);
        EQ(run->load.host[0].unit.counts.acks_unmatched, 15);
        end(run);
    }
}

/* A unit alone: the cell that LINE told begins later and ends later. */
static void a_held_unit_waits(void)
{
    static const uint8_t octets[16];
    struct leat_atm_aal_config config;
    struct leat_atm_aal_unit unit;
    leat_atm_aal_config_default(&config, 0, 4, 2);
    void *memory = calloc(1, leat_atm_aal_unit_footprint(&config));
    if (!memory) abort();
    leat_atm_aal_unit_init(&unit, &config, memory);
    const struct leat_atm_aal_command commands[] = {
        { .verb = LEAT_ATM_AAL_INITSEND },
        { .verb = LEAT_ATM_AAL_PUT, .octets = octets, .len = 16 },
        { .verb = LEAT_ATM_AAL_DESTINATION, .destination = 2 },
        { .verb = LEAT_ATM_AAL_SEND },
    };
    for (size_t i = 0; i < 4; i++)
        OK(leat_atm_aal_unit_command(&unit, &commands[i], 0));
    uint64_t now = 1;
    for (; !(unit.told & LEAT_ATM_AAL_LINE) && now < 1000; now++)
        leat_atm_aal_unit_step(&unit, now);
    const uint64_t first_at = unit.line_at;
    leat_atm_aal_unit_hold(&unit, 56);
    leat_atm_aal_unit_hold(&unit, 6);
    EQ(unit.line_at, first_at + 62);
    for (; unit.sending && now < 1000; now++)
        leat_atm_aal_unit_step(&unit, now);
    EQ(now - 1, first_at + 62 + CELL);
    EQ(leat_atm_aal_unit_blktime(&unit, 0, now - 1), LEAT_ATM_AAL_RETRANSMIT - 1);
    free(memory);
}

TAP_MAIN(T(the_oracle_divides_as_the_note_says), T(a_held_unit_waits),
         T(a_copy_holds_the_cell_behind_it), T(lines_that_do_nothing_change_nothing),
         T(stopped_traffic_comes_to_rest),
         T(an_error_that_the_crc_cannot_see_alters_just_the_message_it_hits),
         T(one_bit_more_and_it_is_repaired),
         T(a_damaged_cell_holds_up_the_later_ones_and_loses_none),
         T(a_copy_of_a_parked_cell_does_not_stay),
         T(an_acknowledgement_altered_unseen_loses_the_message_it_names),
         T(a_dead_port_is_undeliverable_and_never_a_hang),
         T(a_port_that_comes_back_in_time_misses_nothing),
         T(every_message_arrives_once_and_whole_unless_the_oracle_doubts_it),
         T(both_models_agree_when_buffers_are_full_too),
         T(what_the_crc_lets_through_by_chance_is_predicted))
