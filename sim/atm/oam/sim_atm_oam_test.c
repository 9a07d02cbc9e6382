/* Defects and what is measured, held to plain models of ways and lines; both models of switches to
 * each other. */
#include "leat_bytes.h"
#include "sim_atm_oam_world_test.h"

enum { P = 4000, CELL = LEAT_ATM_CELL_LEN };

static struct world w, other;

static const char *const fabrics[] = { "clos:2,2,2",
                                       "clos:3,4,3/buffer=2",
                                       "bmx:5",
                                       "clos444",
                                       "mesh:5",
                                       "mesh:4/switch=output",
                                       "mesh:4/switch=voq",
                                       "clos:2,3,2/switching=vc" };
enum { FABRICS = sizeof fabrics / sizeof *fabrics };

static bool is_graph(const char *name)
{
    return strncmp(name, "mesh", 4) == 0;
}

/* ---- nothing is wrong ------------------------------------------------------------------------ */

static void sound_networks_have_no_defects_and_lose_nothing(void)
{
    for (uint32_t i = 0; i < FABRICS; i++) {
        uint64_t blocks = 0;
        world_begin(&w, fabrics[i], tap_seed());
        w.config.block = 16;
        world_open(&w);
        world_run(&w, 100 * P);
        EQ(w.changes, 0);
        for (uint32_t e = 0; e < w.oam.ends; e++) {
            const struct leat_atm_oam_block_counts *c = &w.oam.end[e].sink.counts;
            blocks += c->blocks;
            EQ(c->lost + c->misinserted + c->errored + c->missing, 0);
            EQ(c->cells, 16 * c->blocks);
        }
        OK(blocks > 20);
        EQ(w.oam.counts.bad + w.oam.counts.unknown, 0);
        EQ(w.oam.counts.sent[LEAT_SIM_ATM_OAM_AIS] + w.oam.counts.sent[LEAT_SIM_ATM_OAM_RDI], 0);
        OK(w.oam.counts.sent[LEAT_SIM_ATM_OAM_CC] > 20);
        OK(world_sent(&w) - world_received(&w) <= 8 * w.config.fabric.net.ports);
        world_close(&w);
    }
}

/* Each cell of OAM takes a slot of its port: a port that always sends sends so many fewer. */
static void oam_takes_slots_from_users(void)
{
    uint64_t sent[2], oam = 0;
    for (unsigned monitored = 0; monitored < 2; monitored++) {
        world_begin(&w, "bmx:2", tap_seed());
        w.config.load_ppm = LEAT_SIM_ATM_PLAIN_LOAD_ONE;
        w.config.checks = false;
        if (monitored) w.config.block = 16;
        world_open(&w);
        world_run(&w, 2000 * CELL);
        sent[monitored] = w.oam.counts.users_sent;
        if (monitored) oam = world_sent(&w) - sent[1];
        world_close(&w);
    }
    EQ(sent[0], sent[1] + oam);
    OK(oam > sent[1] / 10);
}

/* ---- defects --------------------------------------------------------------------------------- */

/* One fault, and what a plain model of ways says of it. */
struct fault {
    enum { LINK, SWITCH, PORT } kind;
    uint32_t a, b; /* a link: upstream, downstream first in the name */
    uint64_t from, to;
};

static bool is_line(void)
{
    return w.config.fabric.graph;
}

static bool is_between(uint32_t x, uint32_t from, uint32_t to)
{
    return from < to ? from <= x && x <= to : to <= x && x <= from;
}

/* Switches of a Clos network are numbered stage by stage; the first and the last one of a port die
 * with the port, and it with them. A line has a port at each switch. */
static bool kills(const struct fault *f, uint32_t port)
{
    const struct leat_atm_clos *net = &w.config.fabric.net;
    if (f->kind == PORT || (f->kind == SWITCH && is_line())) return f->a == port;
    if (f->kind == LINK) return false;
    return f->a == port / net->e || f->a == net->r + net->m + port / net->e || net->stages == 1;
}

static bool hits(const struct fault *f, uint32_t from, uint32_t to)
{
    const struct leat_atm_clos *net = &w.config.fabric.net;
    const uint32_t middle = net->r + (from + to) % net->m;
    if (kills(f, from) || kills(f, to)) return true;
    if (f->kind == PORT) return false;
    if (is_line())
        return is_between(f->a, from, to) && (f->kind == SWITCH || is_between(f->b, from, to));
    if (f->kind == SWITCH) return f->a == middle;
    return (f->a == from / net->e && f->b == middle) ||
           (f->a == middle && f->b == net->r + net->m + to / net->e);
}

static void draw_fault(struct leat_random *r, uint64_t at, struct fault *f)
{
    const struct leat_atm_clos *net = &w.config.fabric.net;
    const bool line = is_line(), single = !line && net->stages == 1;
    const uint32_t switches = line ? net->ports : single ? 1 : 2 * net->r + net->m;
    char text[64];
    *f = (struct fault){ .from = at };
    f->to = at + 7 * P + leat_random_below(r, 3 * P);
    f->kind = single ? 1 + leat_random_below(r, 2) : leat_random_below(r, 3);
    f->a = (uint32_t)leat_random_below(r, f->kind == PORT ? net->ports : switches);
    if (f->kind == LINK && line) f->a = (uint32_t)leat_random_below(r, net->ports - 1);
    if (f->kind == LINK) f->b = f->a + 1;
    if (f->kind == LINK && !line) {
        const uint32_t middle = net->r + (uint32_t)leat_random_below(r, net->m);
        const uint32_t side = (uint32_t)leat_random_below(r, net->r);
        const bool up = leat_random_below(r, 2);
        f->a = up ? side : middle;
        f->b = up ? middle : net->r + net->m + side;
    }
    if (f->kind == LINK)
        snprintf(text, sizeof text, "link:%u-%u@%llu..%llu", f->a, f->b,
                 (unsigned long long)f->from, (unsigned long long)f->to);
    else
        snprintf(text, sizeof text, "%s:%u@%llu..%llu", f->kind == SWITCH ? "switch" : "port", f->a,
                 (unsigned long long)f->from, (unsigned long long)f->to);
    faults_add(&w.bench, text);
}

/* When did this state of an end begin and end last, before a time? LEAT_NEVER: it did not. */
struct span {
    uint64_t from, to;
};

static struct span first_span(uint32_t port, uint32_t peer, unsigned state, uint64_t from,
                              uint64_t to)
{
    struct span s = { LEAT_NEVER, LEAT_NEVER };
    for (uint32_t i = 0; i < w.changes; i++) {
        const struct leat_sim_atm_oam_change *c = &w.change[i];
        if (c->port != port || c->peer != peer || c->state != state) continue;
        if (c->at < from || c->at >= to) continue;
        if (c->holds && s.from == LEAT_NEVER) s.from = c->at;
        if (!c->holds) s.to = c->at;
    }
    return s;
}

/* A cell waits for others of its port, and in the network. */
static uint64_t slack(void)
{
    return 4 * CELL * w.config.fabric.net.ports + 10 * CELL;
}

/* The defects of one connection one way, while a fault lasts and until the next. */
static void check_way(const struct fault *f, uint32_t from, uint32_t to, uint64_t next_at,
                      uint64_t found[LEAT_ATM_OAM_STATES])
{
    const bool hit = hits(f, from, to), back = hits(f, to, from);
    struct span s[LEAT_ATM_OAM_STATES];
    for (unsigned i = 0; i < LEAT_ATM_OAM_STATES; i++) {
        s[i] = i == LEAT_ATM_OAM_IN_RDI ? first_span(from, to, i, f->from, next_at)
                                        : first_span(to, from, i, f->from, next_at);
        found[i] += s[i].from != LEAT_NEVER;
    }
    if (!hit) {
        for (unsigned i = 0; i < LEAT_ATM_OAM_STATES; i++)
            OK(s[i].from == LEAT_NEVER);
        return;
    }
    const struct span loc = s[LEAT_ATM_OAM_IN_LOC], ais = s[LEAT_ATM_OAM_IN_AIS],
                      rdi = s[LEAT_ATM_OAM_IN_RDI];
    OK(loc.from + P + slack() >= f->from + 7 * P / 2 && loc.from <= f->from + 7 * P / 2 + slack());
    OK(loc.to >= f->to && loc.to <= f->to + P + slack());
    EQ(ais.from < f->to, !kills(f, to)); /* what is in flight at the end may still arrive */
    OK(ais.from <= f->from + 2 * slack() || kills(f, to));
    OK(ais.from == LEAT_NEVER || (ais.to >= f->to && ais.to <= f->to + P + slack()));
    EQ(rdi.from < f->to, !back); /* LOC may end after the fault: then its RDI comes through */
    if (back) return;
    OK(rdi.from <= (kills(f, to) ? loc.from : ais.from) + slack());
    OK(rdi.to >= f->to && rdi.to <= f->to + 5 * P / 2 + P + slack());
}

static void defects_follow_the_faults_of_their_way_and_only_these(void)
{
    struct leat_random r;
    uint64_t found[LEAT_ATM_OAM_STATES] = { 0 }, runs = 2 + (uint64_t)LEAT_ROUNDS / 100000;
    leat_random_seed(&r, tap_seed());
    for (uint32_t run = 0; run < runs * FABRICS; run++) {
        struct fault fault[4];
        world_begin(&w, fabrics[run % FABRICS], tap_seed() + run);
        w.config.load_ppm = 20000;
        for (uint32_t i = 0; i < 4; i++)
            draw_fault(&r, (4 + 16 * i) * P + leat_random_below(&r, P), &fault[i]);
        world_open(&w);
        world_run(&w, 70 * P);
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t e = 0; e < w.oam.ends; e++)
                check_way(&fault[i], w.oam.end[e].port, w.oam.end[e].peer,
                          i < 3 ? fault[i + 1].from : 70 * P, found);
        world_close(&w);
    }
    for (unsigned i = 0; i < LEAT_ATM_OAM_STATES; i++)
        OK(found[i] > 8 * runs);
}

/* Whatever breaks and flaps at once: after some periods of peace nothing holds any more. */
static void all_defects_end_after_the_last_fault(void)
{
    struct leat_random r;
    uint64_t changes = 0;
    leat_random_seed(&r, tap_seed() + 1);
    for (uint32_t run = 0; run < 8 + (uint32_t)LEAT_ROUNDS / 100000; run++) {
        world_begin(&w, run % 2 ? "clos:3,4,3/buffer=2" : "bmx:5", tap_seed() + run);
        for (uint32_t i = 0; i < 6; i++)
            faults_draw(&w.bench, &r, &w.config.fabric.net, 15 * P);
        w.bench.faults.pinned = run % 3;
        world_open(&w);
        world_run(&w, 40 * P);
        for (uint32_t e = 0; e < w.oam.ends; e++)
            for (unsigned state = 0; state < LEAT_ATM_OAM_STATES; state++)
                OK(!w.oam.end[e].alarm.state[state].holds);
        changes += w.changes;
        world_close(&w);
    }
    OK(changes > 100);
}

/* A Clos network that reroutes loses single cells, but no connection. */
static void rerouted_connections_have_no_defects(void)
{
    world_begin(&w, "clos444", tap_seed());
    faults_add(&w.bench, "link:0-4@20000..80000");
    faults_add(&w.bench, "switch:6@50000..100000");
    w.bench.faults.pinned = false;
    world_open(&w);
    world_run(&w, 40 * P);
    struct leat_sim_atm_losses losses;
    leat_sim_atm_losses(&w.oam.plain.sim, &losses);
    OK(losses.rerouted > 100);
    EQ(w.changes, 0);
    EQ(w.oam.counts.sent[LEAT_SIM_ATM_OAM_AIS], 0);
    world_close(&w);
}

/* ---- what is measured ------------------------------------------------------------------------ */

/* A plain record of a connection one way, at both its lines: user cells and their parity so far, at
 * each forward cell sent; and since the last one that came. */
enum { FORWARDS_MAX = 1 << 12 };
static struct record {
    uint32_t forwards, users[FORWARDS_MAX];
    uint16_t parity[FORWARDS_MAX];
    uint32_t sent, came;
    uint16_t sent_parity, came_parity;
    uint32_t last; /* forward cells up to the one that came last */
    struct leat_atm_oam_block_counts counts;
} record[WORLD_PORTS_MAX][WORLD_PORTS_MAX];

static uint16_t plain_parity(const uint8_t *cell)
{
    unsigned sum = 0;
    for (unsigned i = 5; i < CELL; i++)
        sum ^= (unsigned)cell[i] << (i % 2 ? 8 : 0);
    return (uint16_t)sum;
}

static void note_sent(const uint8_t *cell)
{
    const uint32_t m = w.config.fabric.net.paths, label = leat_get_be16(cell) >> 4,
                   vci = leat_get_be32(cell) >> 4 & 0xffff;
    const bool forward = vci == 4 && cell[5] == 0x20;
    const uint32_t from = vci == 4 ? leat_get_be32(cell + 23) : vci - 32;
    struct record *r = &record[from][label / m];
    if (forward) {
        r->users[r->forwards] = r->sent;
        r->parity[r->forwards++] = r->sent_parity;
    }
    if (vci == 4) return;
    r->sent++;
    r->sent_parity ^= plain_parity(cell);
}

static void note_forward(struct record *r, uint8_t number)
{
    const uint32_t at = r->last + (uint8_t)(number - (r->last - 1)) - 1;
    if ((uint8_t)(number - (r->last - 1)) == 0) return; /* a copy */
    const uint32_t before = r->last ? r->users[r->last - 1] : 0, sent = r->users[at] - before;
    const uint16_t parity_before = r->last ? r->parity[r->last - 1] : 0;
    const uint16_t wrong = (uint16_t)(r->parity[at] ^ parity_before ^ r->came_parity);
    const bool known = at == r->last && sent == r->came;
    const int bits = known ? __builtin_popcount(wrong) : 0;
    r->counts.blocks++;
    r->counts.cells += sent;
    r->counts.lost += sent > r->came ? sent - r->came : 0;
    r->counts.misinserted += r->came > sent ? r->came - sent : 0;
    r->counts.errored += bits != 0;
    r->counts.parity_bits += (uint64_t)bits;
    r->counts.missing += at - r->last;
    r->last = at + 1;
    r->came = 0;
    r->came_parity = 0;
}

static void note_came(uint32_t port, const uint8_t *cell)
{
    const uint32_t vci = leat_get_be32(cell) >> 4 & 0xffff, pt = cell[3] >> 1 & 7,
                   ports = w.config.fabric.net.ports;
    const bool f4 = vci == 3 || vci == 4;
    struct leat_atm_oam oam;
    if (!f4 && (pt == 4 || pt == 5)) return;
    const uint32_t from = f4 ? leat_get_be32(cell + 23) : vci - 32;
    if (from >= ports || from == port) return;
    struct record *r = &record[from][port];
    if (!f4) {
        r->came++;
        r->came_parity ^= plain_parity(cell);
    } else if (!leat_atm_oam_decode(cell + 5, 48, &oam, NULL) && cell[5] == 0x20 &&
               leat_get_be32(cell + 27) == port) {
        note_forward(r, cell[6]);
    }
}

static void watch(void *context, const struct leat_sim_atm_line_event *e)
{
    (void)context;
    const bool passed = e->fate == LEAT_SIM_ATM_LINE_PASSED ||
                        e->fate == LEAT_SIM_ATM_LINE_CORRECTED;
    if (e->direction == LEAT_SIM_ATM_LINE_TO_NETWORK) {
        if (e->what == LEAT_SIM_ATM_LINE_OWN) note_sent(e->sent);
    } else if (passed) {
        note_came(e->port, e->passed);
    }
}

static void check_counts(const struct leat_atm_oam_block_counts *c,
                         const struct leat_atm_oam_block_counts *want)
{
    EQ(c->blocks, want->blocks);
    EQ(c->cells, want->cells);
    EQ(c->lost, want->lost);
    EQ(c->misinserted, want->misinserted);
    EQ(c->errored, want->errored);
    EQ(c->parity_bits, want->parity_bits);
    EQ(c->missing, want->missing);
}

static void blocks_are_measured_as_a_record_of_both_lines_says(void)
{
    struct leat_random r;
    struct leat_atm_oam_block_counts sum = { 0 };
    leat_random_seed(&r, tap_seed() + 2);
    for (uint32_t run = 0; run < 6 + (uint32_t)LEAT_ROUNDS / 100000; run++) {
        memset(record, 0, sizeof record);
        world_begin(&w, run % 2 ? "clos:2,2,2" : "bmx:4", tap_seed() + run);
        w.config.block = 16;
        w.config.load_ppm = 600000;
        w.config.line = (struct leat_sim_atm_line_config){ .seed = run,
                                                           .payload_errors = 20000,
                                                           .header_errors = run % 3 ? 0 : 50000,
                                                           .lose = run % 4 ? 2000000 : 0,
                                                           .duplicate = run % 5 ? 0 : 2000000,
                                                           .hec = run % 6 == 0,
                                                           .watch = watch };
        if (run % 3 == 1) faults_draw(&w.bench, &r, &w.config.fabric.net, 40 * P);
        world_open(&w);
        world_run(&w, 100 * P);
        for (uint32_t e = 0; e < w.oam.ends; e++) {
            const struct leat_sim_atm_oam_end *end = &w.oam.end[e];
            OK(leat_sim_atm_oam_find(&w.oam, end->port, end->peer) == end);
            check_counts(&end->sink.counts, &record[end->peer][end->port].counts);
            sum.lost += end->sink.counts.lost;
            sum.misinserted += end->sink.counts.misinserted;
            sum.errored += end->sink.counts.errored;
            sum.missing += end->sink.counts.missing;
        }
        struct leat_sim_atm_line_counts lines;
        leat_sim_atm_plain_lines(&w.oam.plain, &lines);
        EQ(lines.lost != 0, run % 4 != 0);
        OK(lines.cells > world_sent(&w) && lines.damaged > 0);
        OK(!leat_sim_atm_oam_find(&w.oam, 0, 0) && !leat_sim_atm_oam_find(&w.oam, 0, 9));
        world_close(&w);
    }
    OK(sum.lost > 50 && sum.misinserted > 20 && sum.errored > 50 && sum.missing > 5);
}

/* The counters of the network: what it lost is what was sent and did not come; of user cells,
 * monitoring counts all but those of the last, open block. */
static void lost_cells_are_those_that_the_network_counts(void)
{
    struct leat_random r;
    uint64_t lost = 0;
    leat_random_seed(&r, tap_seed() + 3);
    for (uint32_t run = 0; run < 2 * FABRICS; run++) {
        const char *name = fabrics[run % FABRICS];
        uint64_t measured = 0, sent = 0, came = 0;
        struct leat_sim_atm_losses losses;
        world_begin(&w, name, tap_seed() + run);
        w.config.block = 16;
        w.config.load_ppm = 400000;
        if (is_graph(name))
            faults_add(&w.bench, run < FABRICS ? "link:1-2@20000..60000" : "port:2@20000..60000");
        for (uint32_t i = 0; !is_graph(name) && i < 3; i++)
            faults_draw(&w.bench, &r, &w.config.fabric.net, 20 * P);
        world_open(&w);
        world_run(&w, 200 * P);
        leat_sim_atm_losses(&w.oam.plain.sim, &losses);
        for (uint32_t e = 0; e < w.oam.ends; e++) {
            measured += w.oam.end[e].sink.counts.lost;
            EQ(w.oam.end[e].sink.counts.misinserted, 0);
            sent += w.oam.end[e].users_sent;
            came += w.oam.end[e].users_received;
        }
        const uint64_t in_flight = 8 * w.config.fabric.net.ports;
        const uint64_t gone = world_sent(&w) - world_received(&w);
        OK(gone >= leat_sim_atm_losses_sum(&losses) &&
           gone <= leat_sim_atm_losses_sum(&losses) + in_flight);
        OK(sent - came >= measured && sent - came <= measured + in_flight);
        lost += measured;
        world_close(&w);
    }
    OK(lost > 1000);
}

/* ---- two granularities ----------------------------------------------------------------------- */

static void draw_world(struct world *to, uint32_t run, enum leat_sim_atm_model model)
{
    static const char *const buses[] = { "clos:2,2,2/buffer=2", "bmx:5/buffer=1", "clos:3,4,3",
                                         "clos:2,3,2/switching=vc", "clos444" };
    struct leat_random r;
    leat_random_seed_entity(&r, tap_seed(), run);
    world_begin(to, buses[run % 5], tap_seed() + run);
    to->config.model = model;
    to->config.block = leat_random_below(&r, 2) ? 16 : 0;
    to->config.period = 3400 + leat_random_below(&r, 3000);
    to->config.load_ppm = (uint32_t)leat_random_below(&r, 900000);
    to->config.flow.segment = leat_random_below(&r, 2);
    if (leat_random_below(&r, 2)) to->config.flow.f5 = true;
    if (leat_random_below(&r, 2))
        to->config.line = (struct leat_sim_atm_line_config){ .seed = run,
                                                             .payload_errors = 20000,
                                                             .header_errors = 20000,
                                                             .lose = 1000000,
                                                             .insert = 1000000,
                                                             .duplicate = 1000000 };
    for (uint64_t i = leat_random_below(&r, 6); i; i--)
        faults_draw(&to->bench, &r, &to->config.fabric.net, 10 * P);
    to->bench.faults.pinned = leat_random_below(&r, 4);
    world_open(to);
    for (uint64_t at = 0; at < 16 * P; at = leat_smaller(16 * P, at + 1 + leat_random_below(&r, P)))
        leat_sim_atm_oam_run(&to->oam, at);
    world_run(to, 16 * P);
}

static void both_models_have_the_same_cells_and_defects(void)
{
    uint64_t changes = 0, inserted = 0;
    for (uint32_t run = 0; run < 10 + (uint32_t)LEAT_ROUNDS / 20000; run++) {
        draw_world(&w, run, LEAT_SIM_ATM_CELL);
        draw_world(&other, run, LEAT_SIM_ATM_RTL);
        EQ(leat_sim_certificate_value(&w.oam.plain.certificate),
           leat_sim_certificate_value(&other.oam.plain.certificate));
        EQ(memcmp(&w.oam.counts, &other.oam.counts, sizeof w.oam.counts), 0);
        EQ(w.changes, other.changes);
        for (uint32_t i = 0; i < w.changes && i < other.changes; i++) {
            const struct leat_sim_atm_oam_change *a = &w.change[i], *b = &other.change[i];
            OK(a->at == b->at && a->port == b->port && a->peer == b->peer && a->state == b->state &&
               a->holds == b->holds);
        }
        for (uint32_t e = 0; e < w.oam.ends; e++)
            check_counts(&w.oam.end[e].sink.counts, &other.oam.end[e].sink.counts);
        changes += w.changes;
        inserted += w.oam.counts.sent[LEAT_SIM_ATM_OAM_AIS];
        world_close(&w);
        world_close(&other);
    }
    OK(changes > 100 && inserted > 100);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static leat_err check(const char *name, uint64_t period, bool f5)
{
    struct leat_text why = LEAT_TEXT(512);
    world_begin(&w, name, 1);
    w.config.period = period;
    w.config.flow.f5 = f5;
    uint32_t *scratch = calloc(leat_sim_atm_oam_wires(&w.config.fabric), sizeof *scratch);
    const leat_err err = leat_sim_atm_oam_check(&w.config, scratch, &why);
    EQ(err != LEAT_ERR_OK, why.len != 0);
    free(scratch);
    world_close(&w);
    return err;
}

static void impossible_connections_are_refused(void)
{
    EQ(check("bmx:5", 2 * CELL * 4, false), LEAT_ERR_OK);
    EQ(check("bmx:5", 2 * CELL * 4 - 1, false), LEAT_ERR_RANGE);
    EQ(check("clos:2,3,2/switching=vc", P, true), LEAT_ERR_OK);
    EQ(check("clos:2,3,2/switching=vc", P, false), LEAT_ERR_RANGE);
    EQ(check("clos:2,3,2", P, true), LEAT_ERR_OK);
    EQ(check("mesh:2,2/routing=adaptive/vcs=2", P, false), LEAT_ERR_RANGE);
}

TAP_MAIN(T(sound_networks_have_no_defects_and_lose_nothing), T(oam_takes_slots_from_users),
         T(defects_follow_the_faults_of_their_way_and_only_these),
         T(all_defects_end_after_the_last_fault), T(rerouted_connections_have_no_defects),
         T(blocks_are_measured_as_a_record_of_both_lines_says),
         T(lost_cells_are_those_that_the_network_counts),
         T(both_models_have_the_same_cells_and_defects), T(impossible_connections_are_refused))
