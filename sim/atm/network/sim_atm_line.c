#include "sim_atm_line.h"
#include "atm_route.h"
#include "leat_bytes.h"
#include "sim_draw.h"
#include <assert.h>
#include <leat/crc.h>
#include <string.h>

enum {
    CELL_LEN = LEAT_ATM_CELL_LEN,
    HEADER_LEN = LEAT_ATM_HEADER_LEN,
    HEC_AT = HEADER_LEN - 1,
    CRC_AT = CELL_LEN - 2, /* of the prototype's cells (spec/atm.md, 2.5) */
    RATE_ONE = LEAT_SIM_ATM_LINE_RATE_ONE,
};

static bool is_sound_outage(const struct leat_sim_atm_line_outage *outage, uint32_t ports)
{
    return outage->port < ports && outage->from <= outage->to;
}

leat_err leat_sim_atm_line_config_check(const struct leat_sim_atm_line_config *config,
                                        uint32_t ports)
{
    const uint32_t rates[] = { config->header_errors, config->payload_errors, config->lose,
                               config->insert, config->duplicate };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (rates[i] > RATE_ONE) return LEAT_ERR_RANGE;
    if (config->outage_count > LEAT_SIM_ATM_LINE_OUTAGES_MAX) return LEAT_ERR_RANGE;
    for (uint32_t i = 0; i < config->outage_count; i++)
        if (!is_sound_outage(&config->outage[i], ports)) return LEAT_ERR_RANGE;
    return LEAT_ERR_OK;
}

bool leat_sim_atm_line_has_faults(const struct leat_sim_atm_line_config *config)
{
    return config->header_errors || config->payload_errors || config->lose || config->insert ||
           config->duplicate || config->outage_count || config->damage;
}

/* Powers of 1 - errors / 10^9. */
static void make_sound(uint32_t errors, uint64_t *sound, uint32_t bits)
{
    const uint64_t high = (uint64_t)(RATE_ONE - errors) << 32;
    const uint64_t one_bit = errors ? (high / RATE_ONE << 32) + (high % RATE_ONE << 32) / RATE_ONE
                                    : UINT64_MAX;
    sound[0] = UINT64_MAX;
    for (uint32_t i = 1; i <= bits; i++)
        sound[i] = leat_sim_fixed_multiply(sound[i - 1], one_bit);
}

void leat_sim_atm_line_medium_init(struct leat_sim_atm_line_medium *medium,
                                   const struct leat_sim_atm_line_config *config)
{
    assert(config->label_count > 0 && (config->header_octets == 2 || config->header_octets == 4));
    medium->config = *config;
    make_sound(config->header_errors, medium->header_sound, LEAT_SIM_ATM_LINE_HEADER_BITS);
    make_sound(config->payload_errors, medium->payload_sound, LEAT_SIM_ATM_LINE_PAYLOAD_BITS);
}

void leat_sim_atm_line_init(struct leat_sim_atm_line *line,
                            const struct leat_sim_atm_line_medium *medium, uint32_t port,
                            enum leat_sim_atm_line_direction direction)
{
    const uint64_t lines_from = UINT64_C(1) << 32; /* lower entities are the hosts' */
    *line = (struct leat_sim_atm_line){ .port = port, .direction = direction };
    leat_random_seed_entity(&line->random, medium->config.seed,
                            lines_from + 2 * (uint64_t)port + (uint64_t)direction);
    leat_atm_hec_init(&line->hec);
}

static bool happens(struct leat_sim_atm_line *line, uint32_t rate)
{
    return rate && leat_random_below(&line->random, RATE_ONE) < rate;
}

static bool is_out(const struct leat_sim_atm_line *line,
                   const struct leat_sim_atm_line_config *config, uint64_t at)
{
    for (uint32_t i = 0; i < config->outage_count; i++) {
        const struct leat_sim_atm_line_outage *outage = &config->outage[i];
        if (outage->port == line->port && outage->from <= at && at < outage->to) return true;
    }
    return false;
}

/* How many of `left` consecutive bits are sound before the next error? One draw, whatever the
 * rate. */
static uint32_t draw_sound_run(struct leat_sim_atm_line *line, const uint64_t *sound, uint32_t left)
{
    const uint64_t draw = leat_random_next(&line->random);
    if (draw < sound[left]) return left;
    uint32_t low = 0, high = left; /* draw < sound[low] (or low is 0), draw >= sound[high] */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (draw < sound[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void draw_errors(struct leat_sim_atm_line *line, uint32_t errors, const uint64_t *sound,
                        uint32_t bits, uint8_t *mask)
{
    if (!errors) return;
    for (uint32_t bit = 0; (bit += draw_sound_run(line, sound, bits - bit)) < bits; bit++)
        leat_bit_put(mask, bit, 1);
}

static uint64_t count_bits(const uint8_t *octets, size_t len)
{
    uint64_t count = 0;
    for (size_t i = 0; i < len; i++)
        for (unsigned octet = octets[i]; octet; octet &= octet - 1)
            count++;
    return count;
}

/* The bits that are flipped on the line. True: some are. */
static bool make_mask(struct leat_sim_atm_line *line, const struct leat_sim_atm_line_medium *medium,
                      const uint8_t *cell, uint8_t mask[CELL_LEN])
{
    const struct leat_sim_atm_line_config *config = &medium->config;
    memset(mask, 0, CELL_LEN);
    if (config->damage)
        config->damage(config->damage_context, line->port, line->direction, cell, mask);
    else {
        draw_errors(line, config->header_errors, medium->header_sound,
                    LEAT_SIM_ATM_LINE_HEADER_BITS, mask);
        draw_errors(line, config->payload_errors, medium->payload_sound,
                    LEAT_SIM_ATM_LINE_PAYLOAD_BITS, mask + HEADER_LEN);
    }
    const uint64_t header_bits = count_bits(mask, HEADER_LEN);
    const uint64_t payload_bits = count_bits(mask + HEADER_LEN, CELL_LEN - HEADER_LEN);
    line->counts.header_bits += header_bits;
    line->counts.payload_bits += payload_bits;
    return header_bits + payload_bits > 0;
}

static void report(const struct leat_sim_atm_line_config *config,
                   const struct leat_sim_atm_line *line, struct leat_sim_atm_line_event event)
{
    if (!config->watch) return;
    event.port = line->port;
    event.direction = line->direction;
    config->watch(config->watch_context, &event);
}

/* Reports that the octets of this cell are unchanged. */
static void report_unaltered(const struct leat_sim_atm_line_config *config,
                             const struct leat_sim_atm_line *line,
                             struct leat_sim_atm_line_event event, const uint8_t *cell)
{
    event.sent = event.damaged = event.passed = cell;
    report(config, line, event);
}

static enum leat_sim_atm_line_fate check_header(struct leat_sim_atm_line *line, uint8_t *cell)
{
    switch (leat_atm_hec_step(&line->hec, cell)) {
    case LEAT_ATM_HEC_ACCEPT: return LEAT_SIM_ATM_LINE_PASSED;
    case LEAT_ATM_HEC_CORRECTED: line->counts.hec_corrected++; return LEAT_SIM_ATM_LINE_CORRECTED;
    case LEAT_ATM_HEC_DISCARD: break;
    }
    line->counts.hec_discarded++;
    return LEAT_SIM_ATM_LINE_DISCARDED;
}

/* `sent` is what entered this line. If a cell was damaged on its way into the network and repaired
 * on its way out, the original is unknown here, so it counts as undetected. */
static void count_passed(struct leat_sim_atm_line *line, const uint8_t *sent, const uint8_t *passed)
{
    const bool altered = memcmp(passed + HEADER_LEN, sent + HEADER_LEN, CELL_LEN - HEADER_LEN) != 0;
    if (memcmp(passed, sent, HEC_AT) != 0) line->counts.header_wrong++;
    if (altered &&
        leat_crc16(0, passed + HEADER_LEN, CRC_AT - HEADER_LEN) == leat_get_be16(passed + CRC_AT))
        line->counts.undetected++;
}

/* A cell with flipped bits. True: it arrives. */
static bool carry_damaged(struct leat_sim_atm_line *line,
                          const struct leat_sim_atm_line_medium *medium, const uint8_t *cell,
                          const uint8_t *mask, struct leat_sim_atm_line_event event, uint8_t *out)
{
    const bool hec = medium->config.hec;
    uint8_t sent[CELL_LEN], damaged[CELL_LEN];
    memcpy(sent, cell, CELL_LEN);
    if (hec) sent[HEC_AT] = leat_crc_hec(sent);
    for (size_t i = 0; i < CELL_LEN; i++)
        damaged[i] = sent[i] ^ mask[i];
    memcpy(out, damaged, CELL_LEN);
    line->counts.damaged++;
    event.fate = hec ? check_header(line, out) : LEAT_SIM_ATM_LINE_PASSED;
    const bool arrives = event.fate != LEAT_SIM_ATM_LINE_DISCARDED;
    if (hec) out[HEC_AT] = 0;
    if (arrives) count_passed(line, sent, out);
    event.sent = sent;
    event.damaged = damaged;
    event.passed = out;
    report(&medium->config, line, event);
    return arrives;
}

/* A cell that is not lost as a whole. A sound header returns the check to its first mode. */
static bool carry(struct leat_sim_atm_line *line, const struct leat_sim_atm_line_medium *medium,
                  const uint8_t *cell, enum leat_sim_atm_line_what what, uint64_t at, uint8_t *out)
{
    const struct leat_sim_atm_line_event event = { .at = at, .what = what };
    uint8_t mask[CELL_LEN];
    if (make_mask(line, medium, cell, mask))
        return carry_damaged(line, medium, cell, mask, event, out);
    leat_atm_hec_init(&line->hec);
    memcpy(out, cell, CELL_LEN);
    report_unaltered(&medium->config, line, event, out);
    return true;
}

static void make_stray(struct leat_sim_atm_line *line,
                       const struct leat_sim_atm_line_config *config, uint8_t *out)
{
    enum { REPEATS = 1, LEADS_SOMEWHERE = 2 };
    const uint64_t kind = leat_random_next(&line->random) >> 62;
    const uint64_t kept = line->sent_count < LEAT_SIM_ATM_LINE_EARLIER ? line->sent_count
                                                                       : LEAT_SIM_ATM_LINE_EARLIER;
    leat_random_fill(&line->random, out, CELL_LEN);
    if ((kind & REPEATS) && kept) {
        const uint8_t *earlier = line->earlier[leat_random_below(&line->random, kept)];
        memcpy(out + HEADER_LEN, earlier + HEADER_LEN, CELL_LEN - HEADER_LEN);
    }
    if (kind & LEADS_SOMEWHERE) {
        const uint32_t label = (uint32_t)leat_random_below(&line->random, config->label_count);
        memset(out, 0, config->header_octets);
        leat_atm_label_put(out, config->header_octets, label);
    }
    out[HEC_AT] = 0;
}

static void insert(struct leat_sim_atm_line *line, const struct leat_sim_atm_line_config *config,
                   uint64_t at, uint8_t *out)
{
    const struct leat_sim_atm_line_event event = { .at = at, .what = LEAT_SIM_ATM_LINE_STRAY };
    line->counts.inserted++;
    make_stray(line, config, out);
    leat_atm_hec_init(&line->hec);
    report_unaltered(config, line, event, out);
}

static void lose(struct leat_sim_atm_line *line, const struct leat_sim_atm_line_config *config,
                 const uint8_t *cell, uint64_t at, enum leat_sim_atm_line_fate fate)
{
    const struct leat_sim_atm_line_event event = { .at = at, .fate = fate };
    if (fate == LEAT_SIM_ATM_LINE_OUTAGE)
        line->counts.outage++;
    else
        line->counts.lost++;
    report_unaltered(config, line, event, cell);
}

void leat_sim_atm_line_pass(struct leat_sim_atm_line *line,
                            const struct leat_sim_atm_line_medium *medium, const uint8_t *cell,
                            uint64_t at, struct leat_sim_atm_line_arrival *out)
{
    const struct leat_sim_atm_line_config *config = &medium->config;
    line->counts.cells++;
    out->extra_count = 0;
    out->own_arrives = false;
    if (is_out(line, config, at)) {
        lose(line, config, cell, at, LEAT_SIM_ATM_LINE_OUTAGE);
        return;
    }
    if (happens(line, config->insert)) insert(line, config, at, out->extra[out->extra_count++]);
    if (happens(line, config->duplicate)) {
        line->counts.duplicated++;
        out->extra_count += carry(line, medium, cell, LEAT_SIM_ATM_LINE_COPY, at,
                                  out->extra[out->extra_count]);
    }
    if (happens(line, config->lose))
        lose(line, config, cell, at, LEAT_SIM_ATM_LINE_LOST);
    else
        out->own_arrives = carry(line, medium, cell, LEAT_SIM_ATM_LINE_OWN, at, out->own);
    memcpy(line->earlier[line->sent_count++ % LEAT_SIM_ATM_LINE_EARLIER], cell, CELL_LEN);
}

void leat_sim_atm_line_counts_add(struct leat_sim_atm_line_counts *sum,
                                  const struct leat_sim_atm_line_counts *more)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}
