#include "sim_atm_load_settle_parts.h"
#include <assert.h>

enum { SETTLED_AHEAD = 8 }; /* messages that are prefetched */

void leat_sim_atm_load_keep_sent(struct leat_sim_atm_load *load, uint32_t port,
                                 const struct leat_sim_atm_load_sent *sent)
{
    struct leat_sim_atm_load_part *part = load->host[port].part;
    if (!leat_sim_atm_load_settles_later(load)) {
        *leat_sim_atm_load_sent_of(load, port, sent->number) = *sent;
        return;
    }
    assert(part->written_count < part->written_cap);
    part->written[part->written_count++] = (struct leat_sim_atm_load_written){ port, *sent };
}

void leat_sim_atm_load_certify_in(const struct leat_sim_atm_load *load,
                                  const struct leat_sim_delivery *delivery,
                                  struct leat_sim_certificate *certificate)
{
    struct leat_sim_delivery d = *delivery;
    const uint32_t source = (uint32_t)d.source, ports = load->config.fabric.net.ports;
    const uint32_t number = (uint32_t)d.number + load->host[source].skipped;
    d.at += load->skipped_cycles;
    /* As in an id. */
    d.number = number <= load->number_max
                   ? number
                   : (leat_sim_atm_load_message_id(load, source, number) - source) / ports;
    leat_sim_certificate_add(certificate, &d);
}

void leat_sim_atm_load_certify(struct leat_sim_atm_load *load,
                               const struct leat_sim_delivery *delivery)
{
    leat_sim_atm_load_certify_in(load, delivery, &load->certificate);
}

static void settle_delivery(struct leat_sim_atm_load *load,
                            const struct leat_sim_delivery *delivery)
{
    const uint32_t number = (uint32_t)delivery->number;
    struct leat_sim_atm_load_sent *sent = leat_sim_atm_load_sent_of(
        load, (uint32_t)delivery->source, number);
    const bool is_known = sent->number == number;
    if (load->config.arrived)
        load->config.arrived(load->config.next_context, delivery, is_known ? sent->at : LEAT_NEVER);
    if (!is_known) return;
    leat_sim_histogram_add(&load->latency, delivery->at - sent->at);
    if (sent->copies == 0)
        load->counts.duplicated++;
    else if (--sent->copies == 0 && sent->given_up)
        load->counts.given_up_delivered++;
}

/* May be called more than once for a message, cell by cell. */
static void settle_given_up(struct leat_sim_atm_load *load, const struct leat_sim_delivery *of)
{
    const uint32_t port = (uint32_t)of->source, number = (uint32_t)of->number;
    struct leat_sim_atm_load_sent *sent = leat_sim_atm_load_sent_of(load, port, number);
    if (sent->number != number || sent->given_up) return;
    sent->given_up = true;
    if (sent->copies == 0) load->counts.given_up_delivered++;
    if (load->config.given_up)
        load->config.given_up(load->config.next_context, port, sent->copies, of->at);
}

void leat_sim_atm_load_report_end(struct leat_sim_atm_load *load, uint32_t port,
                                  const struct leat_sim_delivery *of, bool given_up)
{
    struct leat_sim_atm_load_part *part = load->host[port].part;
    if (leat_sim_atm_load_settles_later(load)) {
        assert(part->report_count < part->report_cap);
        part->report[part->report_count++] = (struct leat_sim_atm_load_report){ *of, given_up };
    } else if (given_up)
        settle_given_up(load, of);
    else
        settle_delivery(load, of);
}

/* Parts remember what they wrote: nobody looks for it now. */
void leat_sim_atm_load_part_done(void *context, uint32_t number)
{
    struct leat_sim_atm_load *load = context;
    struct leat_sim_atm_load_part *part = &load->part[number];
    for (uint32_t i = 0; i < part->written_count; i++) {
        const struct leat_sim_atm_load_written *w = &part->written[i];
        *leat_sim_atm_load_sent_of(load, w->port, w->sent.number) = w->sent;
    }
    part->written_count = 0;
}

/* The reports of a stride by cycle; those of one cycle are in the order of ports. */
void leat_sim_atm_load_stride_done(void *context)
{
    struct leat_sim_atm_load *load = context;
    uint32_t count[LEAT_SIM_ATM_STRIDE] = { 0 }, reports = 0;
    uint64_t cycles = 0; /* with reports, a bit each */
    for (uint32_t p = 0; p < load->parts; p++)
        for (uint32_t i = 0; i < load->part[p].report_count; i++) {
            const uint64_t cycle = load->part[p].report[i].delivery.at - load->stride_from;
            count[cycle]++;
            cycles |= UINT64_C(1) << cycle;
        }
    for (uint32_t sum = 0; cycles; cycles &= cycles - 1) {
        uint32_t *c = &count[leat_sim_agenda_lowest(cycles)];
        sum += *c;
        *c = sum - *c; /* how many come before */
    }
    for (uint32_t p = 0; p < load->parts; p++) {
        struct leat_sim_atm_load_part *part = &load->part[p];
        for (uint32_t i = 0; i < part->report_count; i++, reports++)
            load->in_order[count[part->report[i].delivery.at - load->stride_from]++] =
                &part->report[i];
        part->report_count = 0;
    }
    for (uint32_t i = 0; i < reports; i++) {
        if (i + SETTLED_AHEAD < reports) {
            const struct leat_sim_delivery *later = &load->in_order[i + SETTLED_AHEAD]->delivery;
            leat_arena_fetch(
                leat_sim_atm_load_sent_of(load, (uint32_t)later->source, (uint32_t)later->number));
        }
        (load->in_order[i]->given_up ? settle_given_up
                                     : settle_delivery)(load, &load->in_order[i]->delivery);
    }
}

/* What parts have counted. */
void leat_sim_atm_load_collect(struct leat_sim_atm_load *load)
{
    for (uint32_t p = 0; p < load->parts; p++) {
        struct leat_sim_atm_load_part *part = &load->part[p];
        uint64_t *sum = (uint64_t *)&load->counts;
        const uint64_t *more = (const uint64_t *)&part->counts;
        for (size_t i = 0; i < sizeof load->counts / sizeof(uint64_t); i++)
            sum[i] += more[i];
        leat_sim_certificate_join(&load->certificate, &part->certificate);
        load->last_delivery_at = leat_larger(load->last_delivery_at, part->last_delivery_at);
        part->counts = (struct leat_sim_atm_load_counts){ 0 };
        leat_sim_certificate_init(&part->certificate);
    }
}
