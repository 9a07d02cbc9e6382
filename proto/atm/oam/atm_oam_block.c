#include "atm_oam_block.h"
#include "leat_bytes.h"
#include <assert.h>
#include <string.h>

/* In the specific field. */
enum {
    SENT_AT = 1,
    PARITY_AT = 3,
    SENT0_AT = 5,
    STAMP_AT = 7,
    UNUSED_AT = 11,
    RECEIVED0_AT = 40,
    ERRORS_AT = 42,
    RECEIVED_AT = 43,
};

enum { SEVERE_SHARE = 32, SEVERE_MIN = 2 }; /* more than N / 32 */

enum { AHEAD_MAX = 128 }; /* a number further ahead is out of sequence */

/* ---- cells ----------------------------------------------------------------------------------- */

void leat_atm_oam_monitoring_put(const struct leat_atm_oam_monitoring *cell,
                                 struct leat_atm_oam *out)
{
    uint8_t *to = out->specific;
    out->type = LEAT_ATM_OAM_PERFORMANCE;
    out->function = cell->function;
    memset(to, LEAT_ATM_FILL, LEAT_ATM_OAM_SPECIFIC_LEN);
    to[0] = cell->number;
    leat_put_be16(to + SENT_AT, cell->sent);
    leat_put_be16(to + SENT0_AT, cell->sent0);
    memset(to + STAMP_AT, UINT8_MAX, UNUSED_AT - STAMP_AT);
    if (cell->function == LEAT_ATM_OAM_FORWARD) {
        leat_put_be16(to + PARITY_AT, cell->parity);
        return;
    }
    leat_put_be16(to + RECEIVED_AT, cell->received);
    leat_put_be16(to + RECEIVED0_AT, cell->received0);
    to[ERRORS_AT] = cell->errors;
}

bool leat_atm_oam_monitoring_get(const struct leat_atm_oam *oam,
                                 struct leat_atm_oam_monitoring *out)
{
    const uint8_t *from = oam->specific;
    if (oam->type != LEAT_ATM_OAM_PERFORMANCE || oam->function > LEAT_ATM_OAM_BACKWARD)
        return false;
    const bool forward = oam->function == LEAT_ATM_OAM_FORWARD;
    *out = (struct leat_atm_oam_monitoring){
        .function = oam->function,
        .number = from[0],
        .sent = leat_get_be16(from + SENT_AT),
        .sent0 = leat_get_be16(from + SENT0_AT),
        .parity = forward ? leat_get_be16(from + PARITY_AT) : 0,
        .received = forward ? 0 : leat_get_be16(from + RECEIVED_AT),
        .received0 = forward ? 0 : leat_get_be16(from + RECEIVED0_AT),
        .errors = forward ? 0 : from[ERRORS_AT],
    };
    return true;
}

uint16_t leat_atm_oam_parity(const uint8_t payload[LEAT_ATM_PAYLOAD_LEN])
{
    unsigned parity = 0;
    for (size_t i = 0; i < LEAT_ATM_PAYLOAD_LEN; i += 2)
        parity ^= leat_get_be16(payload + i);
    return (uint16_t)parity;
}

/* ---- source ---------------------------------------------------------------------------------- */

static bool is_block(uint32_t block)
{
    return block >= LEAT_ATM_OAM_BLOCK_MIN && block <= LEAT_ATM_OAM_BLOCK_MAX;
}

void leat_atm_oam_block_source_init(struct leat_atm_oam_block_source *source, uint32_t block)
{
    assert(is_block(block));
    *source = (struct leat_atm_oam_block_source){ .block = block };
}

bool leat_atm_oam_block_source_user(struct leat_atm_oam_block_source *source,
                                    const uint8_t *payload, bool clp)
{
    source->sent++;
    source->sent0 = (uint16_t)(source->sent0 + !clp);
    source->parity ^= leat_atm_oam_parity(payload);
    return ++source->cells >= source->block;
}

void leat_atm_oam_block_source_end(struct leat_atm_oam_block_source *source,
                                   struct leat_atm_oam_monitoring *out)
{
    *out = (struct leat_atm_oam_monitoring){ .function = LEAT_ATM_OAM_FORWARD,
                                             .number = source->number++,
                                             .sent = source->sent,
                                             .sent0 = source->sent0,
                                             .parity = source->parity };
    source->parity = 0;
    source->cells = 0;
}

/* ---- sequence -------------------------------------------------------------------------------- */

/* Is this the next cell of its sequence, or one behind a gap? A repeated cell is not; one far ahead
 * may be a stray, unless it follows another such cell. */
static bool is_next(uint8_t number, struct leat_atm_oam_sequence *s, uint32_t *missing)
{
    const uint8_t step = (uint8_t)(number - s->last);
    const bool follows = s->has_doubtful && number == (uint8_t)(s->doubtful + 1);
    if (step == 0) return false;
    if (step > AHEAD_MAX && !follows) {
        s->doubtful = number;
        s->has_doubtful = true;
        return false;
    }
    s->has_doubtful = false;
    s->last = number;
    *missing = step - 1u;
    return true;
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct block { /* what a cell says of the cells since the last one */
    uint32_t missing, sent, received;
    uint32_t bits;
    bool has_bits;
};

static void count(struct leat_atm_oam_block_counts *c, uint32_t nominal, const struct block *b)
{
    const uint32_t most = nominal / SEVERE_SHARE > SEVERE_MIN ? nominal / SEVERE_SHARE : SEVERE_MIN;
    const uint32_t lost = b->sent > b->received ? b->sent - b->received : 0,
                   misinserted = b->received > b->sent ? b->received - b->sent : 0,
                   bits = b->has_bits ? b->bits : 0;
    c->blocks++;
    c->cells += b->sent;
    c->lost += lost;
    c->misinserted += misinserted;
    c->errored += bits != 0;
    c->parity_bits += bits;
    c->severe += lost + misinserted > most || bits > most;
    c->missing += b->missing;
}

static uint32_t count_bits(unsigned bits)
{
    uint32_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

/* ---- sink ------------------------------------------------------------------------------------ */

static const struct leat_atm_oam_sequence before_first = { .last = UINT8_MAX };

void leat_atm_oam_block_sink_init(struct leat_atm_oam_block_sink *sink, uint32_t block)
{
    assert(is_block(block));
    *sink = (struct leat_atm_oam_block_sink){ .block = block, .sequence = before_first };
}

void leat_atm_oam_block_sink_user(struct leat_atm_oam_block_sink *sink, const uint8_t *payload,
                                  bool clp)
{
    sink->cells++;
    sink->received++;
    sink->received0 = (uint16_t)(sink->received0 + !clp);
    sink->parity ^= leat_atm_oam_parity(payload);
}

bool leat_atm_oam_block_sink_forward(struct leat_atm_oam_block_sink *sink,
                                     const struct leat_atm_oam_monitoring *forward,
                                     struct leat_atm_oam_monitoring *back)
{
    struct block b = { .received = sink->cells };
    if (!is_next(forward->number, &sink->sequence, &b.missing)) return false;
    b.sent = (uint16_t)(forward->sent - sink->sent);
    b.bits = count_bits(forward->parity ^ sink->parity);
    b.has_bits = !b.missing && b.sent == b.received;
    count(&sink->counts, sink->block, &b);
    *back = (struct leat_atm_oam_monitoring){
        .function = LEAT_ATM_OAM_BACKWARD,
        .number = sink->back++,
        .sent = forward->sent,
        .sent0 = forward->sent0,
        .received = sink->received,
        .received0 = sink->received0,
        .errors = b.has_bits ? (uint8_t)b.bits : LEAT_ATM_OAM_BLER_UNKNOWN,
    };
    sink->sent = forward->sent;
    sink->cells = 0;
    sink->parity = 0;
    return true;
}

/* ---- what the far end reports ---------------------------------------------------------------- */

void leat_atm_oam_block_far_init(struct leat_atm_oam_block_far *far, uint32_t block)
{
    assert(is_block(block));
    *far = (struct leat_atm_oam_block_far){ .block = block, .sequence = before_first };
}

void leat_atm_oam_block_far_backward(struct leat_atm_oam_block_far *far,
                                     const struct leat_atm_oam_monitoring *back)
{
    struct block b = { .bits = back->errors,
                       .has_bits = back->errors != LEAT_ATM_OAM_BLER_UNKNOWN };
    if (!is_next(back->number, &far->sequence, &b.missing)) return;
    b.sent = (uint16_t)(back->sent - far->sent);
    b.received = (uint16_t)(back->received - far->received);
    count(&far->counts, far->block, &b);
    far->sent = back->sent;
    far->received = back->received;
}
