#include "leat_bytes.h"
#include "sim_atm_line.h"
#include "tap.h"
#include <leat/crc.h>
#include <string.h>

enum { CELL = LEAT_ATM_CELL_LEN, ONE = LEAT_SIM_ATM_LINE_RATE_ONE };

struct bench {
    struct leat_sim_atm_line_medium medium;
    struct leat_sim_atm_line line;
};

static struct leat_sim_atm_line_config config_of(uint64_t seed)
{
    return (struct leat_sim_atm_line_config){ .seed = seed, .label_count = 20, .header_octets = 2 };
}

static void set_up(struct bench *b, const struct leat_sim_atm_line_config *config, uint32_t port)
{
    EQ(leat_sim_atm_line_config_check(config, 16), LEAT_ERR_OK);
    leat_sim_atm_line_medium_init(&b->medium, config);
    leat_sim_atm_line_init(&b->line, &b->medium, port, LEAT_SIM_ATM_LINE_TO_NETWORK);
}

/* A cell of the prototype: any octets, octets 2..4 zero, the CRC sound. */
static void make_cell(struct leat_random *r, uint8_t cell[CELL])
{
    leat_random_fill(r, cell, CELL);
    memset(cell + 2, 0, 3);
    leat_put_be16(cell + 51, leat_crc16(0, cell + 5, 46));
}

static struct leat_sim_atm_line_arrival pass(struct bench *b, const uint8_t *cell, uint64_t at)
{
    struct leat_sim_atm_line_arrival arrival;
    leat_sim_atm_line_pass(&b->line, &b->medium, cell, at, &arrival);
    return arrival;
}

static unsigned differing_bits(const uint8_t *a, const uint8_t *b, size_t from, size_t to)
{
    unsigned count = 0;
    for (size_t i = from; i < to; i++)
        for (unsigned octet = a[i] ^ b[i]; octet; octet >>= 1)
            count += octet & 1;
    return count;
}

static void what_makes_no_sense_is_refused(void)
{
    const struct leat_sim_atm_line_config good = config_of(1);
    const struct leat_sim_atm_line_outage outages[] = { { 15, 5, 5 }, { 16, 0, 9 }, { 3, 9, 8 } };
    struct leat_sim_atm_line_config c = good;
    EQ(leat_sim_atm_line_config_check(&c, 16), LEAT_ERR_OK);
    c.header_errors = c.payload_errors = c.lose = c.insert = c.duplicate = ONE;
    EQ(leat_sim_atm_line_config_check(&c, 16), LEAT_ERR_OK);
    uint32_t *const rates[] = { &c.header_errors, &c.payload_errors, &c.lose, &c.insert,
                                &c.duplicate };
    for (size_t i = 0; i < 5; i++) {
        c = good;
        *rates[i] = ONE + 1;
        EQ(leat_sim_atm_line_config_check(&c, 16), LEAT_ERR_RANGE);
    }
    for (size_t i = 0; i < 3; i++) {
        c = good;
        c.outage = &outages[i];
        c.outage_count = 1;
        EQ(leat_sim_atm_line_config_check(&c, 16), i == 0 ? LEAT_ERR_OK : LEAT_ERR_RANGE);
    }
    c = good;
    c.outage_count = LEAT_SIM_ATM_LINE_OUTAGES_MAX + 1;
    EQ(leat_sim_atm_line_config_check(&c, 16), LEAT_ERR_RANGE);
}

static void no_damage(void *context, uint32_t port, enum leat_sim_atm_line_direction direction,
                      const uint8_t *cell, uint8_t *mask)
{
    (void)port, (void)direction, (void)cell, (void)mask;
    ++*(int *)context;
}

static void faults_are_what_can_change_a_cell(void)
{
    const struct leat_sim_atm_line_config none = config_of(9);
    struct leat_sim_atm_line_config c = none;
    c.hec = true;
    OK(!leat_sim_atm_line_has_faults(&c));
    uint32_t *const values[] = { &c.header_errors, &c.payload_errors, &c.lose,
                                 &c.insert,        &c.duplicate,      &c.outage_count };
    for (size_t i = 0; i < 6; i++) {
        c = none;
        *values[i] = 1;
        OK(leat_sim_atm_line_has_faults(&c));
    }
    c = none;
    c.damage = no_damage;
    OK(leat_sim_atm_line_has_faults(&c));
}

static void without_rates_cells_pass_as_they_are(void)
{
    struct leat_random r;
    struct bench b;
    int asked = 0;
    leat_random_seed(&r, 2);
    for (int hook = 0; hook < 2; hook++) {
        struct leat_sim_atm_line_config config = config_of(1);
        config.hec = true;
        config.damage = hook ? no_damage : NULL;
        config.damage_context = &asked;
        set_up(&b, &config, 3);
        for (uint64_t i = 0; i < 100; i++) {
            uint8_t cell[CELL];
            make_cell(&r, cell);
            const struct leat_sim_atm_line_arrival a = pass(&b, cell, i);
            OK(a.own_arrives && memcmp(a.own, cell, CELL) == 0);
            EQ(a.extra_count, 0);
        }
        EQ(b.line.counts.cells, 100);
        EQ(b.line.counts.damaged, 0);
    }
    EQ(asked, 100);
}

static void a_rate_of_one_spares_no_cell_and_no_bit(void)
{
    const uint8_t cell[CELL] = { 0x12, 0x30, [5] = 7 };
    struct leat_sim_atm_line_config config = config_of(1);
    struct bench b;
    config.lose = ONE;
    set_up(&b, &config, 0);
    for (int i = 0; i < 100; i++)
        OK(!pass(&b, cell, 0).own_arrives);
    EQ(b.line.counts.lost, 100);

    config = config_of(1);
    config.duplicate = config.insert = ONE;
    set_up(&b, &config, 0);
    for (int i = 0; i < 100; i++) {
        const struct leat_sim_atm_line_arrival a = pass(&b, cell, 0);
        EQ(a.extra_count, 2);
        OK(memcmp(a.extra[1], cell, CELL) == 0 && memcmp(a.own, cell, CELL) == 0);
    }
    EQ(b.line.counts.duplicated, 100);
    EQ(b.line.counts.inserted, 100);

    config = config_of(1);
    config.header_errors = ONE;
    set_up(&b, &config, 0);
    struct leat_sim_atm_line_arrival a = pass(&b, cell, 0);
    EQ(differing_bits(a.own, cell, 0, 5), 40);
    EQ(differing_bits(a.own, cell, 5, CELL), 0);
    EQ(b.line.counts.header_bits, 40);
    EQ(b.line.counts.header_wrong, 1);

    config = config_of(1);
    config.payload_errors = ONE;
    set_up(&b, &config, 0);
    a = pass(&b, cell, 0);
    EQ(differing_bits(a.own, cell, 0, 5), 0);
    EQ(differing_bits(a.own, cell, 5, CELL), 384);
    EQ(b.line.counts.payload_bits, 384);
    EQ(b.line.counts.header_wrong, 0);
}

/* (1 - p)^i by plain multiplication. */
static void the_chance_of_sound_bits_is_a_power(void)
{
    static const uint32_t rates[] = { 0, 1, 1000, 123456789, ONE / 2, ONE };
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        struct leat_sim_atm_line_config config = config_of(1);
        static struct leat_sim_atm_line_medium medium;
        config.payload_errors = rates[k];
        leat_sim_atm_line_medium_init(&medium, &config);
        double power = 1;
        for (int i = 0; i <= LEAT_SIM_ATM_LINE_PAYLOAD_BITS;
             i++, power *= 1 - (double)rates[k] / ONE) {
            const double have = (double)medium.payload_sound[i] / 18446744073709551616.0;
            OK(have > power - 1e-12 && have < power + 1e-12);
        }
    }
}

/* How often, where, and how many at a time: each within six standard deviations of the expected
 * value. */
static void errors_are_as_frequent_as_configured_and_hit_all_bits_equally(void)
{
    const double p = 0.004, cells = 20000;
    struct leat_sim_atm_line_config config = config_of(tap_seed());
    const uint8_t cell[CELL] = { 0 };
    struct bench b;
    static uint32_t hits[8 * CELL];
    uint32_t spotless = 0, neighbours = 0;
    memset(hits, 0, sizeof hits);
    config.header_errors = config.payload_errors = 4000000;
    set_up(&b, &config, 1);
    for (int i = 0; i < (int)cells; i++) {
        const struct leat_sim_atm_line_arrival a = pass(&b, cell, 0);
        spotless += memcmp(a.own + 5, cell + 5, CELL - 5) == 0;
        for (size_t bit = 0; bit < 8 * CELL; bit++)
            hits[bit] += leat_bit_get(a.own, bit);
        for (size_t bit = 41; bit < 8 * CELL; bit++)
            neighbours += leat_bit_get(a.own, bit) & leat_bit_get(a.own, bit - 1);
    }
    for (size_t bit = 0; bit < 8 * CELL; bit++) /* 80 +- 9 */
        OK(hits[bit] > p * cells - 54 && hits[bit] < p * cells + 54);
    const double clean = 0.21457 * cells; /* (1 - p)^384 */
    OK(spotless > clean - 350 && spotless < clean + 350);
    const double pairs = 383 * p * p * cells; /* 122 +- 11 */
    OK(neighbours > pairs - 66 && neighbours < pairs + 66);
    const double bits = 384 * p * cells;
    OK((double)b.line.counts.payload_bits > bits - 1100 &&
       (double)b.line.counts.payload_bits < bits + 1100);
}

static void cell_rates_are_kept(void)
{
    const double cells = 100000;
    struct leat_sim_atm_line_config config = config_of(tap_seed() + 7);
    const uint8_t cell[CELL] = { 0 };
    struct bench b;
    config.lose = 100000000;
    config.insert = 200000000;
    config.duplicate = 300000000;
    set_up(&b, &config, 1);
    for (int i = 0; i < (int)cells; i++)
        pass(&b, cell, 0);
    const uint64_t have[] = { b.line.counts.lost, b.line.counts.inserted,
                              b.line.counts.duplicated };
    for (int i = 0; i < 3; i++) {
        const double want = 0.1 * (i + 1) * cells;
        OK((double)have[i] > want - 900 && (double)have[i] < want + 900); /* deviation < 145 */
    }
}

static void a_line_is_a_function_of_seed_port_direction_and_its_cells(void)
{
    struct leat_sim_atm_line_config config = config_of(5);
    config.header_errors = config.payload_errors = 3000000;
    config.lose = config.insert = config.duplicate = 100000000;
    config.hec = true;
    uint64_t same = 0;
    for (int variant = 0; variant < 5; variant++) { /* equal; another seed, port, direction */
        struct bench a, b;
        struct leat_random r;
        struct leat_sim_atm_line_config other = config;
        leat_random_seed(&r, 3);
        if (variant == 1) other.seed++;
        set_up(&a, &config, 2);
        set_up(&b, &other, variant == 2 ? 3 : 2);
        if (variant == 3) leat_sim_atm_line_init(&b.line, &b.medium, 2, LEAT_SIM_ATM_LINE_TO_HOST);
        int equal = 0;
        for (uint64_t i = 0; i < 500; i++) {
            uint8_t cell[CELL];
            make_cell(&r, cell);
            const struct leat_sim_atm_line_arrival x = pass(&a, cell, i),
                                                   y = pass(&b, cell, variant == 4 ? 9 * i : i);
            equal += x.own_arrives == y.own_arrives && x.extra_count == y.extra_count &&
                     (!x.own_arrives || memcmp(x.own, y.own, CELL) == 0) &&
                     memcmp(x.extra, y.extra, x.extra_count * sizeof *x.extra) == 0;
        }
        if (equal == 500) same |= UINT64_C(1) << variant;
    }
    EQ(same, 1 | 1 << 4); /* the time does not matter without an outage */
}

static void hit_bits(void *context, uint32_t port, enum leat_sim_atm_line_direction direction,
                     const uint8_t *cell, uint8_t *mask)
{
    (void)port, (void)direction, (void)cell;
    memcpy(mask, context, CELL);
}

/* Note 1.2: the table of modes, one cell a row. */
static void the_header_check_corrects_one_error_at_a_time(void)
{
    enum { NONE, SINGLE, DOUBLE };
    static const struct {
        int errors;
        bool arrives;
    } rows[] = { { NONE, true },   { SINGLE, true },  { SINGLE, false }, { DOUBLE, false },
                 { NONE, true },   { DOUBLE, false }, { SINGLE, false }, { NONE, true },
                 { SINGLE, true }, { NONE, true },    { SINGLE, true } };
    for (unsigned bit = 0; bit < 40; bit++) {
        struct leat_sim_atm_line_config config = config_of(1);
        uint8_t mask[CELL], cell[CELL];
        struct leat_random r;
        struct bench b;
        leat_random_seed(&r, bit);
        make_cell(&r, cell);
        config.hec = true;
        config.damage = hit_bits;
        config.damage_context = mask;
        set_up(&b, &config, 0);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            memset(mask, 0, CELL);
            if (rows[i].errors >= SINGLE) leat_bit_put(mask, bit, 1);
            if (rows[i].errors == DOUBLE) leat_bit_put(mask, (bit + 7) % 40, 1);
            const struct leat_sim_atm_line_arrival a = pass(&b, cell, 0);
            EQ(a.own_arrives, rows[i].arrives);
            if (a.own_arrives) OK(memcmp(a.own, cell, CELL) == 0);
        }
        EQ(b.line.counts.hec_corrected, 3);
        EQ(b.line.counts.hec_discarded, 4);
        EQ(b.line.counts.header_wrong, 0);
    }
}

/* Three errors may look like one: the check then makes a fourth. */
static void what_the_header_check_gets_wrong_is_counted(void)
{
    struct leat_sim_atm_line_config config = config_of(1);
    uint8_t mask[CELL], cell[CELL] = { 0 };
    uint64_t passed = 0;
    config.hec = true;
    config.damage = hit_bits;
    config.damage_context = mask;
    for (unsigned i = 2; i < 40; i++) {
        struct bench b;
        set_up(&b, &config, 0);
        memset(mask, 0, CELL);
        leat_bit_put(mask, 0, 1);
        leat_bit_put(mask, 1, 1);
        leat_bit_put(mask, i, 1);
        const struct leat_sim_atm_line_arrival a = pass(&b, cell, 0);
        passed += a.own_arrives;
        EQ(b.line.counts.header_wrong, a.own_arrives && memcmp(a.own, cell, 4) != 0);
        if (a.own_arrives) EQ(a.own[4], 0);
    }
    OK(passed > 0);
}

static void without_a_check_the_damaged_header_passes(void)
{
    struct leat_sim_atm_line_config config = config_of(1);
    uint8_t mask[CELL] = { 0x80, 0, 0, 0, 0xff }, cell[CELL] = { 0x01 };
    struct bench b;
    config.damage = hit_bits;
    config.damage_context = mask;
    set_up(&b, &config, 0);
    const struct leat_sim_atm_line_arrival a = pass(&b, cell, 0);
    OK(a.own_arrives);
    EQ(a.own[0], 0x81);
    EQ(a.own[4], 0xff);
    EQ(b.line.counts.header_bits, 9);
    EQ(b.line.counts.header_wrong, 1);
}

static void an_outage_takes_all_cells_of_its_port_and_time(void)
{
    const struct leat_sim_atm_line_outage outages[] = { { 3, 10, 20 }, { 3, 30, LEAT_NEVER } };
    for (uint32_t port = 2; port < 5; port++)
        for (int direction = 0; direction < 2; direction++) {
            const uint8_t cell[CELL] = { 0 };
            struct leat_sim_atm_line_config config = config_of(1);
            struct bench b;
            uint64_t out = 0;
            config.outage = outages;
            config.outage_count = 2;
            config.insert = config.duplicate = ONE;
            set_up(&b, &config, port);
            leat_sim_atm_line_init(&b.line, &b.medium, port,
                                   (enum leat_sim_atm_line_direction)direction);
            for (uint64_t at = 0; at < 50; at++) {
                const bool is_out = port == 3 && ((at >= 10 && at < 20) || at >= 30);
                const struct leat_sim_atm_line_arrival a = pass(&b, cell, at);
                EQ(a.own_arrives, !is_out);
                EQ(a.extra_count, is_out ? 0 : 2);
                out += is_out;
            }
            EQ(b.line.counts.outage, out);
        }
}

/* Half of the strays repeat an earlier cell, half have a valid label. */
static void strays_repeat_earlier_cells_or_say_anything(void)
{
    for (uint32_t header_octets = 2; header_octets <= 4; header_octets += 2) {
        struct leat_sim_atm_line_config config = config_of(tap_seed());
        uint8_t earlier[2000][CELL];
        struct leat_random r;
        struct bench b;
        unsigned repeated = 0, known = 0;
        leat_random_seed(&r, 4);
        config.insert = ONE;
        config.header_octets = header_octets;
        set_up(&b, &config, 0);
        for (unsigned i = 0; i < 2000; i++) {
            make_cell(&r, earlier[i]);
            const struct leat_sim_atm_line_arrival a = pass(&b, earlier[i], i);
            const uint8_t *stray = a.extra[0];
            EQ(a.extra_count, 1);
            EQ(stray[4], 0);
            for (unsigned back = 1; back <= LEAT_SIM_ATM_LINE_EARLIER && back <= i; back++)
                repeated += memcmp(stray + 5, earlier[i - back] + 5, CELL - 5) == 0;
            const uint32_t label = header_octets == 2 ? leat_get_be16(stray) : leat_get_be32(stray);
            known += label % 16 == 0 && label / 16 < config.label_count;
        }
        OK(repeated > 1000 - 140 && repeated < 1000 + 140); /* deviation 22 */
        OK(known > 1000 - 140 && known < 1000 + 140);
    }
}

/* ------------------------------------------------------------------ a campaign */

struct ledger {
    struct leat_sim_atm_line_counts counts;
    uint64_t cells_reported;
};

/* Counts independently from the callbacks for each cell. */
static void watch(void *context, const struct leat_sim_atm_line_event *e)
{
    struct ledger *l = context;
    const bool passed = e->fate == LEAT_SIM_ATM_LINE_PASSED ||
                        e->fate == LEAT_SIM_ATM_LINE_CORRECTED;
    const unsigned header = differing_bits(e->sent, e->damaged, 0, 5);
    const unsigned payload = differing_bits(e->sent, e->damaged, 5, CELL);
    const bool altered = differing_bits(e->sent, e->passed, 5, CELL) > 0;
    l->cells_reported++;
    l->counts.cells += e->what == LEAT_SIM_ATM_LINE_OWN;
    l->counts.duplicated += e->what == LEAT_SIM_ATM_LINE_COPY;
    l->counts.inserted += e->what == LEAT_SIM_ATM_LINE_STRAY;
    l->counts.lost += e->fate == LEAT_SIM_ATM_LINE_LOST;
    l->counts.outage += e->fate == LEAT_SIM_ATM_LINE_OUTAGE;
    l->counts.hec_corrected += e->fate == LEAT_SIM_ATM_LINE_CORRECTED;
    l->counts.hec_discarded += e->fate == LEAT_SIM_ATM_LINE_DISCARDED;
    l->counts.header_bits += header;
    l->counts.payload_bits += payload;
    l->counts.damaged += header + payload > 0;
    l->counts.header_wrong += passed && differing_bits(e->sent, e->passed, 0, 4) > 0;
    l->counts.undetected += passed && altered &&
                            leat_crc16(0, e->passed + 5, 46) == leat_get_be16(e->passed + 51);
}

static void every_cell_is_reported_and_counted_once(void)
{
    struct leat_random r;
    struct leat_sim_atm_line_counts sum = { 0 };
    struct ledger ledger = { 0 };
    uint64_t arrived = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 1000 + 1; i++) {
        const struct leat_sim_atm_line_outage outage = { 1, 100, 150 };
        struct leat_sim_atm_line_config config = config_of(leat_random_next(&r));
        struct bench b;
        config.header_errors = (uint32_t)leat_random_below(&r, 20000000);
        config.payload_errors = (uint32_t)leat_random_below(&r, 20000000);
        config.lose = (uint32_t)leat_random_below(&r, ONE / 4);
        config.insert = (uint32_t)leat_random_below(&r, ONE / 4);
        config.duplicate = (uint32_t)leat_random_below(&r, ONE / 4);
        config.hec = leat_random_below(&r, 2);
        config.outage = &outage;
        config.outage_count = (uint32_t)leat_random_below(&r, 2);
        config.watch = watch;
        config.watch_context = &ledger;
        set_up(&b, &config, (uint32_t)leat_random_below(&r, 3));
        for (uint64_t at = 0; at < 200; at++) {
            uint8_t cell[CELL];
            make_cell(&r, cell);
            const struct leat_sim_atm_line_arrival a = pass(&b, cell, at);
            arrived += a.own_arrives + a.extra_count;
        }
        leat_sim_atm_line_counts_add(&sum, &b.line.counts);
    }
    OK(memcmp(&sum, &ledger.counts, sizeof sum) == 0); /* words without gaps */
    EQ(ledger.cells_reported, sum.cells + sum.duplicated + sum.inserted);
    EQ(arrived, ledger.cells_reported - sum.lost - sum.outage - sum.hec_discarded);
}

static void counts_are_added_word_by_word(void)
{
    enum { WORDS = sizeof(struct leat_sim_atm_line_counts) / sizeof(uint64_t) };
    struct leat_sim_atm_line_counts sum, more;
    uint64_t words[WORDS] = { 0 };
    for (size_t i = 0; i < WORDS; i++)
        words[i] = i + 1;
    memcpy(&sum, words, sizeof sum);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = 1000 * i;
    memcpy(&more, words, sizeof more);
    leat_sim_atm_line_counts_add(&sum, &more);
    memcpy(words, &sum, sizeof sum);
    for (size_t i = 0; i < WORDS; i++)
        EQ(words[i], 1001 * i + 1);
}

TAP_MAIN(T(what_makes_no_sense_is_refused), T(faults_are_what_can_change_a_cell),
         T(without_rates_cells_pass_as_they_are), T(a_rate_of_one_spares_no_cell_and_no_bit),
         T(the_chance_of_sound_bits_is_a_power),
         T(errors_are_as_frequent_as_configured_and_hit_all_bits_equally), T(cell_rates_are_kept),
         T(a_line_is_a_function_of_seed_port_direction_and_its_cells),
         T(the_header_check_corrects_one_error_at_a_time),
         T(what_the_header_check_gets_wrong_is_counted),
         T(without_a_check_the_damaged_header_passes),
         T(an_outage_takes_all_cells_of_its_port_and_time),
         T(strays_repeat_earlier_cells_or_say_anything), T(every_cell_is_reported_and_counted_once),
         T(counts_are_added_word_by_word))
