#include "leat_bytes.h"
#include "sim_atm_circuits.h"
#include <string.h>

enum {
    PDU_LEN = LEAT_SIM_ATM_CHANNEL_PDU_LEN,
    KEPT = LEAT_SIM_ATM_CHANNEL_KEPT,
    WRONG_BITS_MAX = 96, /* of a damaged SAR-PDU; other ones differ in half of their 384 */
    WORD_LEN = 8,        /* octets are random in words */
};
#define MILLION               UINT64_C(1000000)
#define OCTET_PS_OF_ONE_BIT_S UINT64_C(8000000000000) /* an octet at 1 bit/s */

/* ---- service clocks -------------------------------------------------------------------------- */

void leat_sim_atm_service_init(struct leat_sim_atm_service *service, uint64_t rate, int32_t ppm,
                               leat_time start)
{
    const uint64_t den = rate * (uint64_t)((int64_t)MILLION + ppm),
                   num = OCTET_PS_OF_ONE_BIT_S * MILLION;
    *service = (struct leat_sim_atm_service){
        .at = start, .den = den, .whole = num / den, .rest = num % den
    };
}

void leat_sim_atm_service_advance(struct leat_sim_atm_service *service, uint32_t octets)
{
    const uint64_t parts = service->part + octets * service->rest;
    service->at += octets * service->whole + parts / service->den;
    service->part = parts % service->den;
}

/* ---- what it carries ------------------------------------------------------------------------- */

void leat_sim_atm_channel_fill(const struct leat_sim_atm_channel *channel, uint64_t first,
                               uint8_t *octets, size_t len)
{
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++) {
        const uint64_t at = first + i;
        if (i == 0 || at % WORD_LEN == 0) {
            uint64_t state = channel->content + at / WORD_LEN;
            word = leat_random_splitmix(&state);
        }
        octets[i] = (uint8_t)(word >> 8 * (at % WORD_LEN));
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

uint64_t leat_sim_atm_channel_send(struct leat_sim_atm_channel *channel)
{
    if (channel->sent == channel->heard + KEPT) {
        channel->heard++;
        channel->line->counts.cells_lost++;
    }
    channel->kept[channel->sent % KEPT] = channel->next;
    channel->line->counts.cells_sent++;
    channel->line->counts.frames_talk += channel->next.begins;
    return channel->sent++;
}

void leat_sim_atm_channel_prepare(struct leat_sim_atm_channel *channel)
{
    if (channel->cbr)
        leat_sim_atm_cbr_prepare(channel);
    else
        leat_sim_atm_voice_prepare(channel);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static unsigned wrong_bits(const uint8_t *a, const uint8_t *b)
{
    unsigned count = 0;
    for (size_t i = 0; i < PDU_LEN; i += WORD_LEN)
        count += leat_sim_atm_circuits_ones(leat_get_be64(a + i) ^ leat_get_be64(b + i));
    return count;
}

const struct leat_sim_atm_channel_sent *
leat_sim_atm_channel_match(struct leat_sim_atm_channel *channel, const uint8_t *pdu, bool damaged)
{
    for (uint64_t n = channel->heard; n < channel->sent; n++) {
        const struct leat_sim_atm_channel_sent *kept = &channel->kept[n % KEPT];
        if (damaged ? wrong_bits(kept->pdu, pdu) > WRONG_BITS_MAX
                    : memcmp(kept->pdu, pdu, PDU_LEN) != 0)
            continue;
        channel->line->counts.cells_lost += n - channel->heard;
        channel->heard = n + 1;
        return kept;
    }
    return NULL;
}

static void measure(struct leat_sim_atm_channel *channel,
                    const struct leat_sim_atm_channel_sent *own, leat_time now)
{
    struct leat_sim_atm_circuits_line *line = channel->line;
    const uint64_t delay = now - own->ready_at;
    leat_sim_histogram_add(&line->delay, delay);
    line->delay_min = leat_smaller(line->delay_min, delay);
}

void leat_sim_atm_channel_take(struct leat_sim_atm_channel *channel, const uint8_t *pdu,
                               const struct leat_sim_atm_channel_sent *own, leat_time now)
{
    struct leat_sim_atm_circuits_counts *counts = &channel->line->counts;
    if (own) {
        counts->cells_delivered++;
        counts->cells_damaged += memcmp(own->pdu, pdu, PDU_LEN) != 0;
        measure(channel, own, now);
    } else
        counts->cells_extra++;
    if (channel->cbr)
        leat_sim_atm_cbr_take(channel, pdu, own, now);
    else
        leat_sim_atm_voice_take(channel, pdu, own, now);
}

void leat_sim_atm_channel_settle(struct leat_sim_atm_channel *channel, leat_time now)
{
    if (channel->cbr) leat_sim_atm_cbr_settle(channel, now);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

void leat_sim_atm_channel_lay(struct leat_sim_atm_channel *channel,
                              const struct leat_sim_atm_circuit *plan, struct leat_arena *arena)
{
    channel->plan = plan;
    if (plan->kind == LEAT_SIM_ATM_CIRCUIT_CBR)
        leat_sim_atm_cbr_lay(channel, arena);
    else
        leat_sim_atm_voice_lay(channel, arena);
}

void leat_sim_atm_channel_init(struct leat_sim_atm_channel *channel, uint64_t seed, uint64_t entity)
{
    const struct leat_sim_atm_circuit *plan = channel->plan;
    leat_time start = plan->start;
    leat_random_seed_entity(&channel->random, seed, entity);
    channel->content = leat_random_next(&channel->random);
    if (start == LEAT_NEVER)
        start = leat_random_below(&channel->random, leat_sim_atm_circuit_packetisation(plan) + 1);
    if (plan->kind == LEAT_SIM_ATM_CIRCUIT_CBR)
        leat_sim_atm_cbr_init(channel, start);
    else
        leat_sim_atm_voice_init(channel, start);
    leat_sim_atm_channel_prepare(channel);
}
