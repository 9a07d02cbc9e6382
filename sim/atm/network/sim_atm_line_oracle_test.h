/*
 * An oracle that does not use our CRCs checks every cell on every line. It divides polynomials bit
 * by bit and finds the damaged cells that no receiver can detect, and hence the pairs of ports
 * between which messages may be altered or lost. Between all others every message arrives once,
 * whole, and in order.
 */
#ifndef LEAT_SIM_ATM_LINE_ORACLE_TEST_H
#define LEAT_SIM_ATM_LINE_ORACLE_TEST_H

#include "leat_bytes.h"
#include "sim_atm_load.h"
#include "sim_atm_traffic.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, PORTS_MAX = 16, MESSAGES_MAX = 32, LEN_MAX = 88 };
enum { TYPE_AT = 5, FLAG_AT = 7, SEQUENCE_AT = 9, SOURCE_AT = 11, TO_AT = 13, DATA_AT = 35 };
enum { CRC_AT = 51, ALL = LEAT_ATM_TASK_BROADCAST };

/* ------------------------------------------------------------------ polynomials, bit by bit */

static inline unsigned bit_of(const uint8_t *octets, size_t i)
{
    return (unsigned)octets[i / 8] >> (7 - i % 8) & 1u;
}

/* The remainder of `count` bits by a generator of `degree`, given without its highest bit. */
static inline unsigned remainder_of(const uint8_t *octets, size_t count, unsigned degree,
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

/* x^16 + x^12 + x^5 + 1 divides octets 5..52 of a cell that its receiver accepts. */
static inline bool divides(const uint8_t *cell)
{
    return remainder_of(cell + TYPE_AT, 8 * (CELL - TYPE_AT), 16, 0x1021) == 0;
}

/* x^8 + x^2 + x + 1, and 55 on top (spec/atm.md, 1.2). */
static inline unsigned header_syndrome(const uint8_t *header)
{
    uint8_t plain[5];
    memcpy(plain, header, sizeof plain);
    plain[4] ^= 0x55;
    return remainder_of(plain, 40, 8, 0x07);
}

/* Which single bit error has this syndrome? 40: none. */
static inline unsigned guilty_bit(unsigned syndrome)
{
    for (unsigned bit = 0; bit < 40; bit++) {
        uint8_t header[5] = { 0 };
        header[bit / 8] = (uint8_t)(0x80 >> bit % 8);
        if (remainder_of(header, 40, 8, 0x07) == syndrome) return bit;
    }
    return 40;
}

static inline unsigned word_at(const uint8_t *cell, size_t at)
{
    return (unsigned)cell[at] << 8 | cell[at + 1];
}

/* ------------------------------------------------------------------ a run under an oracle */

struct oracle {
    uint32_t ports;
    bool hec;
    bool detecting[PORTS_MAX][2];        /* the mode of each line's header check */
    bool doubtful[PORTS_MAX][PORTS_MAX]; /* from, to: affected by undetected errors */
    uint8_t earlier[PORTS_MAX][2][LEAT_SIM_ATM_LINE_EARLIER][CELL];
    uint64_t carried[PORTS_MAX][2];
    struct leat_sim_atm_line_counts counts;
    uint64_t mistaken; /* lines that did not behave as they should */
};

struct message {
    uint32_t to, len, delivered[PORTS_MAX];
    uint64_t at;
};

struct run {
    struct leat_sim_atm_load load;
    struct oracle oracle;
    void *memory;
    struct message message[PORTS_MAX][MESSAGES_MAX];
    uint32_t message_count[PORTS_MAX], drawn[PORTS_MAX];
    int64_t last[PORTS_MAX][PORTS_MAX][2]; /* from, to, kind: number delivered last */
    uint64_t wrong, doubted;               /* altered deliveries: unexpected, and predicted */
    uint64_t wrong_number;                 /* of the last one */
    uint8_t wrong_bits[LEN_MAX];
    uint8_t on_line[PORTS_MAX][CELL]; /* in flight to the network, and since when */
    uint64_t on_line_at[PORTS_MAX], sent_count[PORTS_MAX], repeated;
};

static inline void doubt(struct oracle *o, unsigned from, unsigned to)
{
    for (unsigned i = 0; i < o->ports; i++)
        if (from < o->ports && (to == i || to == ALL)) o->doubtful[from][i] = true;
}

/* Marks the pairs of ports that this cell affects if it is accepted: an acknowledgement affects
 * messages sent to its source. */
static inline void doubt_cell(struct oracle *o, const uint8_t *cell)
{
    const unsigned source = word_at(cell, SOURCE_AT), to = word_at(cell, TO_AT);
    if (word_at(cell, TYPE_AT) != LEAT_ATM_TASK_ACK)
        doubt(o, source, to);
    else
        for (unsigned i = 0; i < o->ports; i++)
            if (to == i || to == ALL) doubt(o, i, source);
}

static inline bool is_repeated(const struct oracle *o, const struct leat_sim_atm_line_event *e)
{
    const uint64_t carried = o->carried[e->port][e->direction];
    for (uint64_t i = 0; i < LEAT_SIM_ATM_LINE_EARLIER && i < carried; i++)
        if (memcmp(o->earlier[e->port][e->direction][i] + 5, e->sent + 5, CELL - 5) == 0)
            return true;
    return false;
}

/* What must the header check do? */
static inline enum leat_sim_atm_line_fate
judge_header(struct oracle *o, const struct leat_sim_atm_line_event *e, uint8_t *header)
{
    bool *detecting = &o->detecting[e->port][e->direction];
    memcpy(header, e->damaged, 5);
    const bool sound = memcmp(e->sent, e->damaged, CELL) == 0;
    const unsigned syndrome = o->hec && !sound ? header_syndrome(header) : 0;
    const bool was_detecting = *detecting;
    *detecting = syndrome != 0;
    if (syndrome == 0) return LEAT_SIM_ATM_LINE_PASSED;
    const unsigned bit = guilty_bit(syndrome);
    if (was_detecting || bit == 40) return LEAT_SIM_ATM_LINE_DISCARDED;
    header[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    return LEAT_SIM_ATM_LINE_CORRECTED;
}

static inline void count_flips(struct oracle *o, const struct leat_sim_atm_line_event *e)
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

/* A cell has passed. Will a unit accept it although it differs from what was sent? */
static inline void judge_content(struct oracle *o, const struct leat_sim_atm_line_event *e)
{
    const bool altered = memcmp(e->sent + 5, e->passed + 5, CELL - 5) != 0;
    const bool foreign = e->what == LEAT_SIM_ATM_LINE_STRAY && !is_repeated(o, e);
    if ((!altered && !foreign) || !divides(e->passed)) return;
    o->counts.undetected += altered;
    doubt_cell(o, e->sent);
    doubt_cell(o, e->passed);
}

static inline void judge(struct oracle *o, const struct leat_sim_atm_line_event *e)
{
    uint8_t header[5];
    const enum leat_sim_atm_line_fate fate = judge_header(o, e, header);
    o->mistaken += e->fate != fate;
    o->counts.hec_corrected += fate == LEAT_SIM_ATM_LINE_CORRECTED;
    o->counts.hec_discarded += fate == LEAT_SIM_ATM_LINE_DISCARDED;
    if (fate == LEAT_SIM_ATM_LINE_DISCARDED) return;
    o->mistaken += memcmp(header, e->passed, 4) != 0;
    o->mistaken += memcmp(e->damaged + 5, e->passed + 5, CELL - 5) != 0;
    o->mistaken += o->hec && e->passed[4] != 0;
    o->counts.header_wrong += memcmp(e->sent, e->passed, 4) != 0;
    judge_content(o, e);
}

static leat_sim_atm_line_watch watch_line;
static inline void watch_line(void *context, const struct leat_sim_atm_line_event *e)
{
    struct oracle *o = context;
    o->counts.cells += e->what == LEAT_SIM_ATM_LINE_OWN;
    o->counts.inserted += e->what == LEAT_SIM_ATM_LINE_STRAY;
    o->counts.duplicated += e->what == LEAT_SIM_ATM_LINE_COPY;
    o->counts.lost += e->fate == LEAT_SIM_ATM_LINE_LOST;
    o->counts.outage += e->fate == LEAT_SIM_ATM_LINE_OUTAGE;
    if (e->fate == LEAT_SIM_ATM_LINE_OUTAGE) return;
    if (e->fate != LEAT_SIM_ATM_LINE_LOST) {
        count_flips(o, e);
        judge(o, e);
    }
    if (e->what != LEAT_SIM_ATM_LINE_OWN) return;
    uint64_t *carried = &o->carried[e->port][e->direction];
    memcpy(o->earlier[e->port][e->direction][(*carried)++ % LEAT_SIM_ATM_LINE_EARLIER], e->sent,
           CELL);
}

/* The octets of message `number` of a port (sim_atm_load.c). */
static inline void make_octets(uint32_t port, uint32_t number, uint8_t *out, uint32_t len)
{
    uint64_t state = (uint64_t)port << 32 | number;
    for (uint32_t i = 0; i < len; i += 8) {
        const uint64_t word = leat_random_splitmix(&state);
        for (uint32_t k = 0; k < 8 && i + k < len; k++)
            out[i + k] = (uint8_t)(word >> (56 - 8 * k));
    }
}

static inline bool next_message(void *context, uint32_t port, struct leat_sim_message *out)
{
    struct run *run = context;
    if (run->drawn[port] == run->message_count[port]) return false;
    const struct message *m = &run->message[port][run->drawn[port]++];
    *out = (struct leat_sim_message){ .at = m->at, .to = m->to, .len = m->len };
    return true;
}

static inline void note_wrong(struct run *run, const struct leat_sim_delivery *d,
                              const uint8_t *octets, const uint8_t *want, uint32_t len)
{
    if (run->oracle.doubtful[d->source][d->destination])
        run->doubted++;
    else
        run->wrong++;
    run->wrong_number = d->number;
    for (uint32_t i = 0; i < len; i++)
        run->wrong_bits[i] = octets[i] ^ want[i];
}

static inline void note_delivery(void *context, const struct leat_sim_delivery *d,
                                 const uint8_t *octets, uint32_t len)
{
    struct run *run = context;
    const uint64_t from = d->source, to = d->destination;
    uint8_t want[LEN_MAX];
    struct message *m = &run->message[from][d->number % MESSAGES_MAX];
    make_octets((uint32_t)from, (uint32_t)d->number, want, len);
    const bool broadcast = m->to == LEAT_SIM_ATM_TRAFFIC_ALL;
    int64_t *last = &run->last[from][to][broadcast];
    const bool good = d->number < run->drawn[from] && (broadcast || m->to == to) && m->len == len &&
                      memcmp(octets, want, len) == 0 && (int64_t)d->number > *last;
    if (!good) note_wrong(run, d, octets, want, len);
    *last = (int64_t)d->number;
    m->delivered[to]++;
}

/* A cell sent again after a refusal is the same, octet for octet; others keep their distance. */
static inline void note_cell(void *context, uint32_t port,
                             enum leat_sim_atm_line_direction direction, const uint8_t *cell,
                             uint64_t at)
{
    enum { CELL_CYCLES = 56, REFUSED_VP = 6, REFUSED_VC = 8 };
    struct run *run = context;
    if (direction == LEAT_SIM_ATM_LINE_TO_HOST) return;
    const uint64_t since = at - run->on_line_at[port];
    const bool again = since == REFUSED_VP || since == REFUSED_VC;
    if (run->sent_count[port]++ > 0) {
        run->wrong += again ? memcmp(run->on_line[port], cell, CELL) != 0 : since < CELL_CYCLES;
        run->repeated += again;
    }
    memcpy(run->on_line[port], cell, CELL);
    run->on_line_at[port] = at;
}

static inline void start(struct run *run, const struct leat_sim_atm_load_config *wanted)
{
    struct leat_sim_atm_load_config config = *wanted;
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
    run->memory = calloc(1, leat_sim_atm_load_footprint(&config));
    if (!run->memory) abort();
    leat_sim_atm_load_init(&run->load, &config, run->memory);
}

/* Runs until the network is quiet and stays so, or up to cycle `last`. True: it is quiet. */
static inline bool comes_to_rest(struct leat_sim_atm_load *load, uint64_t last)
{
    enum { SLICE = 4096 }; /* cycles in which a cell in the network arrives, if it ever does */
    bool was_quiet = false;
    for (;;) {
        const bool quiet = leat_sim_atm_load_is_quiet(load);
        if (quiet && was_quiet) return true;
        if (load->sim.now > last) return false;
        leat_sim_atm_load_run(load, leat_smaller(load->sim.now + SLICE - 1, last));
        was_quiet = quiet;
    }
}

static inline bool fabric_named(const char *name, struct leat_sim_atm_fabric *out)
{
    char line[200];
    struct leat_text why;
    leat_text_init(&why, line, sizeof line, NULL, NULL);
    return leat_sim_atm_fabric_parse(name, out, &why) == LEAT_ERR_OK;
}

static inline void end(struct run *run)
{
    free(run->memory);
    free(run);
}

/* Messages between unaffected ports that did not arrive; without broadcasts. */
static inline void count_missing(const struct run *run, uint64_t missing[2])
{
    const uint32_t ports = run->oracle.ports;
    missing[0] = missing[1] = 0;
    for (uint32_t from = 0; from < ports; from++)
        for (uint32_t i = 0; i < run->message_count[from]; i++) {
            const struct message *m = &run->message[from][i];
            const bool all = m->to == LEAT_SIM_ATM_TRAFFIC_ALL;
            for (uint32_t to = 0; to < ports; to++)
                if ((all || m->to == to) && !run->oracle.doubtful[from][to])
                    missing[all] += m->delivered[to] == 0;
        }
}

static inline uint32_t parked_cells(const struct run *run)
{
    uint32_t parked = 0;
    for (uint32_t port = 0; port < run->oracle.ports; port++) {
        const struct leat_atm_aal_unit *unit = &run->load.host[port].unit;
        uint16_t block = unit->receive.busy_head;
        for (uint32_t i = 0; i < unit->receive.busy_count;
             i++, block = unit->receive.link[block].next)
            parked += unit->receive_block[block].parked != 0;
    }
    return parked;
}

#endif
