/* leat sim FABRIC --contracts FILE: which connections are admitted, and whether contracts are kept.
 */
#include "contracts.h"
#include "fabric_atm.h"
#include "json_out.h"
#include "number.h"
#include "pieces.h"
#include "sim.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLES_DEFAULT = 1000000 };

struct job {
    struct contracts contracts;
    const char *fabric; /* its name */
    enum leat_sim_atm_model model;
    uint64_t cycles, seed;
    struct leat_sim_atm_contracts *sim;
};

static uint32_t count_of(const struct job *job)
{
    return job->contracts.config.connection_count;
}

/* ---- options -------------------------------------------------------------------------------- */

static bool read_options(const struct arguments *args, const struct leat_sim_atm_fabric *fabric,
                         struct job *job)
{
    static const char known[] = "--contracts --admit --cycles --seed --model --json";
    const char *foreign = argument_not_in(args, known);
    const uint64_t cycles_max = leat_sim_atm_contracts_cycles_max(fabric);
    if (fabric->graph)
        return misused(args->verb, "--contracts, expected switches that are bus matrices: clos444, "
                                   "clos:E,M,R or bmx:K");
    if (foreign)
        return misused(args->verb,
                       "%s with --contracts, expected only --admit, --cycles, --seed, --model, "
                       "--json",
                       foreign);
    if (!number_take_within(args, "--cycles", 1,
                            cycles_max < SIM_CYCLES_MAX ? cycles_max : SIM_CYCLES_MAX,
                            &job->cycles))
        return false;
    if (!number_take(args, "--seed", &job->seed) || !sim_read_model(args, fabric, &job->model))
        return false;
    if (leat_sim_atm_contracts_link_rate(fabric) <= LEAT_ATM_CONTRACT_RATE_MAX) return true;
    return misused(args->verb,
                   "a link of %" PRIu64 " cells/s, expected a clock with at most %" PRIu64,
                   leat_sim_atm_contracts_link_rate(fabric) / LEAT_ATM_RATE_UNIT,
                   LEAT_ATM_CONTRACT_RATE_MAX / LEAT_ATM_RATE_UNIT);
}

/* ---- words ---------------------------------------------------------------------------------- */

static double in_us(leat_time ps)
{
    return (double)ps / 1e6;
}

/* NAN: no limit. */
static double limit_us(leat_time ps)
{
    return ps == LEAT_NEVER ? NAN : in_us(ps);
}

static double in_cells(uint64_t rate)
{
    return (double)rate / LEAT_ATM_RATE_UNIT;
}

/* Why a connection was refused, and which one would have suffered. */
static const char *reason_of(const struct job *job, uint32_t i, char line[256])
{
    const struct leat_sim_atm_admission *a = leat_sim_atm_contracts_admission(job->sim, i);
    struct leat_text text;
    leat_text_init(&text, line, 255, NULL, NULL);
    leat_sim_atm_admit_answer_text(&a->why, &text);
    if (!a->admitted && a->why.victim != i) {
        leat_text_puts(&text, " (of ");
        leat_text_puts(&text, job->contracts.name[a->why.victim]);
        leat_text_puts(&text, ")");
    }
    line[text.len] = '\0';
    return line;
}

/* Which of its contract terms a connection did not get. */
static const char *verdict(const struct leat_sim_atm_contract_result *r, char words[32])
{
    if (r->kept) return "kept";
    snprintf(words, 32, "BROKEN%s%s%s%s", r->clr_kept ? "" : " CLR", r->ctd_kept ? "" : " CTD",
             r->cdv_kept ? "" : " CDV", r->mcr_kept ? "" : " MCR");
    return words;
}

static const char *class_of(const struct job *job, uint32_t i)
{
    return leat_atm_class_name(job->contracts.connection[i].contract.class);
}

struct totals {
    uint32_t admitted, broken; /* broken: of those that sent */
};

static struct totals totals_of(const struct job *job)
{
    struct totals t = { 0, 0 };
    for (uint32_t i = 0; i < count_of(job); i++) {
        struct leat_sim_atm_contract_result r;
        leat_sim_atm_contracts_result(job->sim, i, &r);
        const bool admitted = leat_sim_atm_contracts_admission(job->sim, i)->admitted;
        t.admitted += admitted;
        t.broken += (admitted || job->contracts.config.admit_all) && !r.kept;
    }
    return t;
}

/* ---- people --------------------------------------------------------------------------------- */

/* "(23.658)", or "-" where nothing is promised. */
static const char *promise(leat_time ps, char words[24])
{
    if (ps == LEAT_NEVER) return "-";
    snprintf(words, 24, "(%.3f)", in_us(ps));
    return words;
}

/* Neither delivered nor lost: at the end of the run in a shaper, a queue or the network. */
static uint64_t in_flight(const struct leat_sim_atm_contract_counts *n)
{
    return n->sent - n->shaper_lost - n->dropped - n->lost - n->tagged_lost - n->delivered -
           n->tagged_delivered;
}

static void put_row(const struct job *job, uint32_t i)
{
    const struct leat_sim_atm_connection *c = &job->contracts.connection[i];
    const struct leat_sim_atm_admission *a = leat_sim_atm_contracts_admission(job->sim, i);
    struct leat_sim_atm_contract_result r;
    char ctd[24], cdv[24], words[32];
    if (!a->admitted && !job->contracts.config.admit_all) return;
    leat_sim_atm_contracts_result(job->sim, i, &r);
    printf("%-12s %-7s %4u >%4u /%-3u %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %9" PRIu64
           " %9" PRIu64 " %9.0f",
           job->contracts.name[i], class_of(job, i), c->from, c->to, a->path, r.counts.sent,
           r.counts.dropped + r.counts.shaper_lost, r.counts.tagged,
           r.counts.lost + r.counts.tagged_lost, r.counts.delivered + r.counts.tagged_delivered,
           in_flight(&r.counts), r.throughput);
    printf(" %9.3f %9.3f %-10s %9.3f %-10s %s%s\n", in_us(r.ctd_ps), r.ctd_mean_ps / 1e6,
           promise(a->ctd_ps, ctd), in_us(r.cdv_ps), promise(a->cdv_ps, cdv), verdict(&r, words),
           a->admitted ? "" : ", forced in");
}

static void put_text(const struct job *job)
{
    const struct leat_sim_atm *network = leat_sim_atm_contracts_network(job->sim);
    const struct totals t = totals_of(job);
    char line[256];
    printf("%s, model %s, seed %" PRIu64 ", %" PRIu64 " cycles%s: %" PRIu64
           " suspensions, certificate %016" PRIx64 "\n",
           job->fabric, sim_model_name(job->model), job->seed, network->now,
           network->now < job->cycles ? ", interrupted" : "", network->counts.suspensions,
           leat_sim_atm_contracts_certificate(job->sim));
    printf("%u connections, %u admitted, %u broken\n\n", count_of(job), t.admitted, t.broken);
    printf("%-12s %-7s %4s >%4s /%-3s %9s %8s %8s %8s %9s %9s %9s %9s %9s %-10s %9s %-10s\n",
           "name", "class", "from", "to", "by", "sent", "dropped", "tagged", "lost", "delivered",
           "in flight", "cells/s", "CTD us", "mean", "promised", "CDV us", "promised");
    for (uint32_t i = 0; i < count_of(job); i++)
        put_row(job, i);
    if (t.admitted < count_of(job)) puts("\nrefused:");
    for (uint32_t i = 0; i < count_of(job); i++)
        if (!leat_sim_atm_contracts_admission(job->sim, i)->admitted)
            printf("%-12s %s\n", job->contracts.name[i], reason_of(job, i, line));
}

/* ---- programs ------------------------------------------------------------------------------- */

static void put_contract(struct leat_json *j, const struct leat_sim_atm_connection *c)
{
    static const char *const sources[] = { "greedy", "random", "excess" };
    static const char *const polices[] = { "drop", "tag", "off" };
    const struct leat_atm_contract *k = &c->contract;
    leat_json_object(j, "contract");
    json_fixed(j, "pcr", in_cells(k->pcr), 3);
    json_fixed(j, "scr", in_cells(k->scr), 3);
    json_fixed(j, "mcr", in_cells(k->mcr), 3);
    leat_json_uint(j, "mbs", k->mbs);
    json_fixed(j, "cdvt_us", in_us(k->cdvt_ps), 3);
    json_general(j, "clr", (double)k->clr_e12 / (double)LEAT_ATM_CLR_ONE, 12);
    json_fixed(j, "ctd_us", limit_us(k->ctd_ps), 3);
    json_fixed(j, "cdv_us", limit_us(k->cdv_ps), 3);
    leat_json_end(j);
    leat_json_string(j, "source_kind", sources[c->source]);
    if (c->source == LEAT_SIM_ATM_SOURCE_EXCESS)
        json_fixed(j, "factor", c->excess_percent / 100.0, 2);
    leat_json_string(j, "police", polices[c->police]);
    leat_json_bool(j, "shape", c->shape);
}

static void put_refusal(struct leat_json *j, const struct job *job, uint32_t i)
{
    static const char *const criteria[LEAT_ATM_CAC_CRITERION_COUNT] = {
        [LEAT_ATM_CAC_RATE] = "rate",   [LEAT_ATM_CAC_BUFFER] = "buffer",
        [LEAT_ATM_CAC_BURST] = "burst", [LEAT_ATM_CAC_CONNECTIONS] = "connections",
        [LEAT_ATM_CAC_CTD] = "ctd",     [LEAT_ATM_CAC_CDV] = "cdv",
        [LEAT_ATM_CAC_CLR] = "clr",
    };
    static const char *const places[] = {
        [LEAT_SIM_AT_ACCESS] = "access", [LEAT_SIM_AT_SPD] = "spd", [LEAT_SIM_AT_END] = "way"
    };
    const struct leat_sim_atm_admission *a = leat_sim_atm_contracts_admission(job->sim, i);
    const enum leat_atm_cac_criterion criterion = a->why.criterion;
    const bool time = criterion == LEAT_ATM_CAC_CTD || criterion == LEAT_ATM_CAC_CDV;
    const double unit = criterion == LEAT_ATM_CAC_RATE ? LEAT_ATM_RATE_UNIT : time ? 1e6 : 1;
    char line[256];
    leat_json_object(j, "refusal");
    leat_json_string(j, "link", places[a->why.place]);
    if (a->why.place != LEAT_SIM_AT_END) leat_json_uint(j, "number", a->why.number);
    leat_json_string(j, "criterion", criteria[criterion]);
    leat_json_string(j, "unit",
                     criterion == LEAT_ATM_CAC_RATE  ? "cells/s"
                     : time                          ? "us"
                     : criterion == LEAT_ATM_CAC_CLR ? "in 10^12"
                                                     : "cells");
    json_fixed(j, "needed", (double)a->why.needed / unit, 3);
    json_fixed(j, "available",
               a->why.available == LEAT_NEVER ? NAN : (double)a->why.available / unit, 3);
    leat_json_string(j, "connection", job->contracts.name[a->why.victim]);
    leat_json_string(j, "text", reason_of(job, i, line));
    leat_json_end(j);
}

static void put_admission(struct leat_json *j, const struct job *job, uint32_t i)
{
    const struct leat_sim_atm_admission *a = leat_sim_atm_contracts_admission(job->sim, i);
    leat_json_bool(j, "admitted", a->admitted);
    if (!a->admitted) {
        put_refusal(j, job, i);
        return;
    }
    leat_json_null(j, "refusal");
    leat_json_object(j, "promised");
    json_fixed(j, "ctd_us", limit_us(a->ctd_ps), 3);
    json_fixed(j, "cdv_us", limit_us(a->cdv_ps), 3);
    json_fixed(j, "share", in_cells(a->share), 3);
    leat_json_end(j);
}

static void put_measured(struct leat_json *j, const struct job *job, uint32_t i)
{
    const enum leat_atm_class class = job->contracts.connection[i].contract.class;
    const bool sent = leat_sim_atm_contracts_admission(job->sim, i)->admitted ||
                      job->contracts.config.admit_all;
    struct leat_sim_atm_contract_result r;
    leat_sim_atm_contracts_result(job->sim, i, &r);
    const struct leat_sim_atm_contract_counts *n = &r.counts;
    LEAT_JSON_UINTS(j, { "sent", n->sent }, { "shaper_lost", n->shaper_lost },
                    { "dropped", n->dropped }, { "tagged", n->tagged }, { "lost", n->lost },
                    { "tagged_lost", n->tagged_lost }, { "delivered", n->delivered },
                    { "tagged_delivered", n->tagged_delivered }, { "in_flight", in_flight(n) });
    json_general(j, "clr", r.clr, 9);
    leat_json_object(j, "delay_us");
    json_fixed(j, "max", in_us(r.ctd_ps), 3);
    json_fixed(j, "mean", r.ctd_mean_ps / 1e6, 3);
    leat_json_end(j);
    json_fixed(j, "cdv_us", in_us(r.cdv_ps), 3);
    json_fixed(j, "cells_per_second", r.throughput, 3);
    if (class == LEAT_ATM_ABR) {
        json_fixed(j, "acr", in_cells(r.acr), 3);
        LEAT_JSON_UINTS(j, { "marked", n->marked }, { "rm_sent", n->rm_sent },
                        { "rm_returned", n->rm_returned }, { "rm_lost", n->rm_lost });
    }
    if (sent)
        leat_json_bool(j, "kept", r.kept);
    else
        leat_json_null(j, "kept");
}

static void put_json(const struct job *job)
{
    const struct leat_sim_atm *network = leat_sim_atm_contracts_network(job->sim);
    const struct totals t = totals_of(job);
    struct json_out out;
    json_schema("leat.sim.contracts/1");
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "fabric", job->fabric);
    leat_json_string(j, "model", sim_model_name(job->model));
    leat_json_uint(j, "seed", job->seed);
    leat_json_uint(j, "cycles", network->now);
    json_certificate(j, "certificate", leat_sim_atm_contracts_certificate(job->sim));
    LEAT_JSON_UINTS(j, { "suspensions", network->counts.suspensions },
                    { "connections_admitted", t.admitted },
                    { "connections_refused", count_of(job) - t.admitted });
    leat_json_bool(j, "kept", !t.broken);
    leat_json_break(j);
    leat_json_array(j, "connections");
    for (uint32_t i = 0; i < count_of(job); i++) {
        const struct leat_sim_atm_connection *c = &job->contracts.connection[i];
        leat_json_break(j);
        leat_json_object(j, NULL);
        leat_json_string(j, "name", job->contracts.name[i]);
        leat_json_string(j, "class", class_of(job, i));
        LEAT_JSON_UINTS(j, { "from", c->from }, { "to", c->to },
                        { "path", leat_sim_atm_contracts_admission(job->sim, i)->path });
        put_contract(j, c);
        put_admission(j, job, i);
        put_measured(j, job, i);
        leat_json_end(j);
    }
    leat_json_end(j);
    json_close(&out, json_status());
}

/* ---- running -------------------------------------------------------------------------------- */

static bool run_to(void *context, uint64_t until)
{
    const struct job *job = context;
    leat_sim_atm_contracts_run(job->sim, until);
    return true;
}

static int simulate(const struct arguments *args, struct job *job)
{
    double wall_seconds;
    const struct leat_sim_atm_contracts_config *config = &job->contracts.config;
    void *memory = sim_memory(leat_sim_atm_contracts_footprint(config, job->model));
    if (!memory) return FAILED;
    job->sim = leat_sim_atm_contracts_init(config, job->model, job->seed, memory);
    pieces_run(job->cycles, run_to, job, &wall_seconds);
    (argument(args, "--json") ? put_json : put_text)(job);
    free(memory);
    return finish(DONE);
}

int run_sim_contracts(const struct arguments *args, const struct leat_fabric_atm *atm,
                      const char *file)
{
    static struct job job;
    const char *admit = argument(args, "--admit");
    job = (struct job){ .fabric = atm->base.name, .cycles = CYCLES_DEFAULT, .seed = 1 };
    if (!read_options(args, &atm->fabric, &job)) return WRONG;
    if (!contracts_read(&job.contracts, file, &atm->fabric))
        return interrupted ? SIGNALLED + interrupted : WRONG;
    job.contracts.config.admit_all = admit && strcmp(admit, "all") == 0;
    const int outcome = simulate(args, &job);
    contracts_close(&job.contracts);
    return outcome;
}
