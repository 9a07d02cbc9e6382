/* leat sim FABRIC --oam WHAT: connections with continuity check, alarms and performance monitoring;
 * which defects their ends saw, and what they measured. */
#include "fabric.h"
#include "fabric_atm.h"
#include "json_out.h"
#include "leat_tree.h"
#include "number.h"
#include "pieces.h"
#include "sim.h"
#include "sim_atm_oam.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHY_CAP = 1024,
    ROWS_MAX = 40,         /* of each table, for people */
    DEFECTS_MAX = 1 << 20, /* that are listed */
    LOAD_DEFAULT = SIM_LOAD_ONE / 10,
};

/* A state of an end, from its begin to its end. */
struct defect {
    uint64_t from, to; /* cycles; to: LEAT_NEVER: it has not ended */
    uint32_t port, peer;
    enum leat_atm_oam_state state;
    struct leat_atm_oam_defect what;
};

struct job {
    const char *name, *words; /* of the fabric, after --oam */
    const struct leat_net_topology *wires;
    struct leat_sim_atm_oam_config config;
    struct leat_sim_atm_line_outage outage[LEAT_SIM_ATM_LINE_OUTAGES_MAX];
    struct leat_sim_atm_oam_pair *pair;
    bool reroutes;
    uint64_t cycles;
    struct sim_recorded record;
    struct leat_sim_atm_oam sim;
    struct defect *defect; /* by when they were noticed */
    uint32_t defects, defects_cap;
    uint64_t defects_more; /* that are not listed */
    bool lacks_memory;     /* to list them */
    uint32_t *last;        /* [ends][states] the last defect + 1 */
};

/* ---- what is monitored ----------------------------------------------------------------------- */

static const char expected[] = "expected cc, ais, pm=N, period=CYCLES, segment, f4, f5, reroute or "
                               "pairs of ports, as 0-5, separated by commas";

static bool read_value(const char *word, const char *key, uint64_t *out)
{
    const size_t len = strlen(key);
    return strncmp(word, key, len) == 0 && number_read(word + len, false, out);
}

static bool add_pair(struct job *job, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < job->config.pairs; i++) {
        const uint32_t *port = job->pair[i].port;
        if ((port[0] == a && port[1] == b) || (port[0] == b && port[1] == a)) return false;
    }
    if (job->config.pairs == LEAT_SIM_ATM_OAM_PAIRS_MAX) return false;
    job->pair[job->config.pairs++] = (struct leat_sim_atm_oam_pair){ { a, b } };
    return true;
}

static bool read_pair(const struct arguments *args, struct job *job, const char *word)
{
    const char *dash = strchr(word, '-');
    const uint32_t ports = job->config.fabric.net.ports;
    uint64_t a, b;
    if (!dash || !leat_tree_number(word, (size_t)(dash - word), &a) ||
        !leat_tree_number(dash + 1, strlen(dash + 1), &b))
        return misused(args->verb, "--oam '%s', %s", word, expected);
    if (a >= ports || b >= ports || a == b)
        return misused(args->verb, "--oam '%s', expected two ports of 0 to %u", word, ports - 1);
    return add_pair(job, (uint32_t)a, (uint32_t)b) ||
           misused(args->verb, "--oam '%s': this pair again, expected each at most once", word);
}

static bool take_block(const struct arguments *args, struct job *job, uint64_t block)
{
    if (block < LEAT_ATM_OAM_BLOCK_MIN || block > LEAT_ATM_OAM_BLOCK_MAX || block & (block - 1))
        return misused(args->verb,
                       "--oam pm=%" PRIu64 ", expected blocks of 128, 256, 512 or 1024 user cells "
                       "(I.610); or of 16, 32 or 64",
                       block);
    job->config.block = (uint32_t)block;
    return true;
}

static bool take_period(const struct arguments *args, struct job *job, uint64_t period)
{
    if (period < LEAT_ATM_CELL_LEN || period > LEAT_SIM_ATM_OAM_PERIOD_MAX)
        return misused(args->verb, "--oam period=%" PRIu64 ", expected %u to %u cycles", period,
                       (unsigned)LEAT_ATM_CELL_LEN, (unsigned)LEAT_SIM_ATM_OAM_PERIOD_MAX);
    job->config.period = period;
    return true;
}

static bool read_word(const struct arguments *args, struct job *job, const char *word)
{
    const struct leat_sim_atm_fabric *fabric = &job->config.fabric;
    uint64_t value;
    if (strcmp(word, "ais") == 0) return true; /* which needs no activation */
    if (strcmp(word, "cc") == 0) return job->config.checks = true;
    if (strcmp(word, "segment") == 0) return job->config.flow.segment = true;
    if (read_value(word, "pm=", &value)) return take_block(args, job, value);
    if (read_value(word, "period=", &value)) return take_period(args, job, value);
    if (strcmp(word, "f4") == 0 || strcmp(word, "f5") == 0) {
        job->config.flow.f5 = word[1] == '5';
        return true;
    }
    if (strcmp(word, "reroute") != 0) return read_pair(args, job, word);
    if (!fabric->graph && fabric->net.stages > 1) return job->reroutes = true;
    return misused(args->verb, "--oam reroute has no meaning with %s, expected a Clos network",
                   job->name);
}

static bool read_words(const struct arguments *args, struct job *job)
{
    char word[64];
    for (const char *each = job->words;;) {
        const size_t len = strcspn(each, ",");
        if (len == 0 || len >= sizeof word)
            return misused(args->verb, "--oam '%s', %s", job->words, expected);
        memcpy(word, each, len);
        word[len] = '\0';
        if (!read_word(args, job, word)) return false;
        if (!each[len]) return true;
        each += len + 1;
    }
}

/* All pairs, if none is named. */
static bool take_pairs(const struct arguments *args, struct job *job)
{
    const uint64_t ports = job->config.fabric.net.ports;
    if (job->config.pairs) return true;
    if (ports * (ports - 1) / 2 > LEAT_SIM_ATM_OAM_PAIRS_MAX)
        return misused(args->verb,
                       "--oam '%s': %" PRIu64 " ports have too many pairs, expected at most %u, or "
                       "some pairs of ports, as 0-5",
                       job->words, ports, (unsigned)LEAT_SIM_ATM_OAM_PAIRS_MAX);
    for (uint32_t a = 0; a < ports; a++)
        for (uint32_t b = a + 1; b < ports; b++)
            job->pair[job->config.pairs++] = (struct leat_sim_atm_oam_pair){ { a, b } };
    return true;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool check(const struct arguments *args, const struct job *job)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    uint32_t *scratch = sim_memory(leat_sim_atm_oam_wires(&job->config.fabric) * sizeof *scratch);
    if (!scratch) return false;
    const leat_err err = leat_sim_atm_oam_check(&job->config, scratch, &why);
    free(scratch);
    return !err || misused(args->verb, "--oam %s: %.*s", job->words, (int)why.len, why.buf);
}

static bool read_options(const struct arguments *args, struct leat_fabric *fabric, struct job *job)
{
    static const char known[] =
        "--oam --load --cycles --seed --model --record --record-hops --json --fault "
        "--fault-file --bit-errors --loss --insert --duplicate --hec";
    struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    const char *foreign = argument_not_in(args, known);
    if (foreign && strcmp(foreign, "--dead") == 0)
        return misused(args->verb, "--dead with --oam, expected --fault port:PORT@FROM..TO, which "
                                   "the switch beside the port can see");
    if (foreign) return misused(args->verb, "%s with --oam, expected only %s", foreign, known + 6);
    return sim_read_faults(args, fabric) && (job->wires = sim_wires(args, fabric)) &&
           (job->config.fabric = atm->fabric, true) &&
           sim_read_model(args, &atm->fabric, &job->config.model) &&
           number_take(args, "--cycles", &job->cycles) &&
           number_take(args, "--seed", &job->config.seed) &&
           sim_take_load(args, &job->config.load_ppm) &&
           sim_read_lines(args, atm, &job->config.line, job->outage) && read_words(args, job) &&
           take_pairs(args, job) && check(args, job) &&
           sim_read_record(args, fabric, &job->record) &&
           (!job->record.path ||
            sim_check_cycles(args, job->cycles, &atm->base.clock, "--record and "));
}

/* ---- defects --------------------------------------------------------------------------------- */

static bool list_defect(struct job *job, const struct leat_sim_atm_oam_change *change)
{
    if (job->defects == job->defects_cap) {
        const uint32_t cap = job->defects_cap ? 2 * job->defects_cap : 1024;
        if (cap > DEFECTS_MAX) return false;
        struct defect *more = realloc(job->defect, cap * sizeof *more);
        job->lacks_memory |= !more;
        if (!more) return false;
        job->defect = more;
        job->defects_cap = cap;
    }
    job->defect[job->defects++] = (struct defect){ .from = change->at,
                                                   .to = LEAT_NEVER,
                                                   .port = change->port,
                                                   .peer = change->peer,
                                                   .state = change->state,
                                                   .what = change->defect };
    return true;
}

static void changed(void *context, const struct leat_sim_atm_oam_change *change)
{
    struct job *job = context;
    const struct leat_sim_atm_oam_end *end = leat_sim_atm_oam_find(&job->sim, change->port,
                                                                   change->peer);
    uint32_t *last = &job->last[(size_t)(end - job->sim.end) * LEAT_ATM_OAM_STATES + change->state];
    if (!change->holds) {
        if (*last) job->defect[*last - 1].to = change->at;
        return;
    }
    const bool listed = list_defect(job, change);
    *last = listed ? job->defects : 0;
    job->defects_more += !listed;
}

static int by_time(const void *one, const void *other)
{
    const struct defect *a = one, *b = other;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->port != b->port) return a->port < b->port ? -1 : 1;
    if (a->peer != b->peer) return a->peer < b->peer ? -1 : 1;
    return (int)a->state - (int)b->state;
}

static const char *const state_names[] = { "LOC", "AIS", "RDI" };

/* "3>7", "port 5", or "" where the cell does not say it. */
static const char *where(const struct job *job, const struct defect *d,
                         char name[LEAT_FABRIC_WIRE_CAP])
{
    const uint32_t wires = leat_sim_atm_wires_between(&job->config.fabric);
    uint32_t wire;
    if (!leat_sim_atm_oam_get_wire(d->what.location, &wire)) return "";
    if (wire < wires)
        leat_fabric_name_wire(job->wires, wire, name);
    else
        snprintf(name, LEAT_FABRIC_WIRE_CAP, "port %u", wire - wires);
    return name;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool run_to(void *context, uint64_t until)
{
    struct job *job = context;
    leat_sim_atm_oam_run(&job->sim, until);
    return true;
}

static bool simulate(struct job *job, void **memory)
{
    double wall_seconds;
    *memory = sim_memory(leat_sim_atm_oam_footprint(&job->config));
    job->last = sim_memory(2 * (size_t)job->config.pairs * LEAT_ATM_OAM_STATES * sizeof *job->last);
    if (!*memory || !job->last) return false;
    leat_sim_atm_oam_init(&job->sim, &job->config, *memory);
    if (job->record.path && !sim_record_open(&job->record, &job->sim.plain.sim, NULL)) return false;
    if (job->record.path) sim_record_seal();
    job->cycles = pieces_run(job->cycles, run_to, job, &wall_seconds);
    leat_sim_atm_oam_settle(&job->sim);
    if (job->defects) qsort(job->defect, job->defects, sizeof *job->defect, by_time);
    return !job->record.path || sim_record_close(job->cycles);
}

/* ---- people ---------------------------------------------------------------------------------- */

static const char *const kind_names[] = { "CC", "AIS", "RDI", "FM", "BR" };

static const char *flow_name(const struct job *job)
{
    return job->config.flow.f5 ? "F5" : "F4";
}

static uint64_t oam_sent(const struct job *job)
{
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < LEAT_SIM_ATM_OAM_KINDS; kind++)
        sum += job->sim.counts.sent[kind];
    return sum;
}

static void put(const char *text, uint64_t value)
{
    printf("  %-40s %14" PRIu64 "\n", text, value);
}

static void put_title(const struct job *job)
{
    const struct leat_sim_atm_oam_config *c = &job->config;
    printf("%s, an ATM fabric, %s model, %u connections, flow %s %s, period %" PRIu64 " cycles",
           job->name, sim_model_name(c->model), c->pairs, flow_name(job),
           c->flow.segment ? "of a segment" : "end to end", c->period);
    if (c->block) printf(", blocks of %u cells", c->block);
    printf(", load %g, seed %" PRIu64 "\n%" PRIu64 " cycles (%.6g ms of network time)%s\n",
           (double)c->load_ppm / SIM_LOAD_ONE, c->seed, job->cycles,
           (double)job->cycles * (double)c->fabric.period_ps_num / (double)c->fabric.period_ps_den /
               1e9,
           interrupted ? ", interrupted" : "");
}

static void put_counts(const struct job *job)
{
    const struct leat_sim_atm_oam_counts *n = &job->sim.counts;
    struct leat_sim_atm_losses losses;
    struct leat_sim_atm_line_counts lines;
    leat_sim_atm_losses(&job->sim.plain.sim, &losses);
    leat_sim_atm_plain_lines(&job->sim.plain, &lines);
    put("user cells sent", n->users_sent);
    put("user cells delivered", n->users_received);
    put("OAM cells sent", oam_sent(job));
    for (unsigned kind = 0; kind < LEAT_SIM_ATM_OAM_KINDS; kind++)
        if (n->sent[kind])
            printf("    %-38s %14" PRIu64 "  of these received %" PRIu64 "\n", kind_names[kind],
                   n->sent[kind], n->received[kind]);
    if (n->refused) put("AIS cells for which switches had no room", n->refused);
    if (n->bad) put("OAM cells with a wrong CRC-10", n->bad);
    if (n->unknown) put("cells of no monitored connection", n->unknown);
    if (job->config.fabric.graph || job->config.fabric.faults)
        put("cells lost in the network", leat_sim_atm_losses_sum(&losses));
    if (losses.rerouted) put("cells rerouted", losses.rerouted);
    if (lines.lost) put("cells lost on lines", lines.lost);
    if (lines.damaged) put("cells damaged on lines", lines.damaged);
    if (lines.hec_discarded) put("cells discarded by the HEC", lines.hec_discarded);
    if (lines.inserted) put("cells inserted on lines", lines.inserted);
    if (lines.duplicated) put("cells duplicated on lines", lines.duplicated);
    printf("  %-40s %016" PRIx64 "\n", "certificate",
           leat_sim_certificate_value(&job->sim.plain.certificate));
}

static void put_more(uint64_t shown, uint64_t all)
{
    if (all > shown) printf("  and %" PRIu64 " more (all of them: --json)\n", all - shown);
}

static void put_defects(const struct job *job)
{
    char name[LEAT_FABRIC_WIRE_CAP], to[24];
    printf("defects: %" PRIu64 "\n", job->defects + job->defects_more);
    if (job->defects) puts("  at port   from port   state   from cycle     to cycle   broken");
    for (uint32_t i = 0; i < job->defects && i < ROWS_MAX; i++) {
        const struct defect *d = &job->defect[i];
        if (d->to == LEAT_NEVER)
            snprintf(to, sizeof to, "-");
        else
            snprintf(to, sizeof to, "%" PRIu64, d->to);
        printf("  %7u %11u   %-5s %12" PRIu64 " %12s   %s\n", d->port, d->peer,
               state_names[d->state], d->from, to, where(job, d, name));
    }
    put_more(ROWS_MAX, job->defects + job->defects_more);
}

/* Did this end measure anything but sound blocks? */
static bool has_errors(const struct leat_sim_atm_oam_end *end)
{
    const struct leat_atm_oam_block_counts *c = &end->sink.counts, *far = &end->far.counts;
    return c->lost || c->misinserted || c->errored || c->missing || far->lost || far->misinserted ||
           far->errored;
}

static void put_block(const struct leat_sim_atm_oam *sim, const struct leat_sim_atm_oam_end *end)
{
    const struct leat_sim_atm_oam_end *sender = leat_sim_atm_oam_find(sim, end->peer, end->port);
    const struct leat_atm_oam_block_counts *c = &end->sink.counts, *far = &sender->far.counts;
    printf("  %4u %4u %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
           " %6" PRIu64 " %8" PRIu64 " %9" PRIu64 " %8" PRIu64 "\n",
           end->peer, end->port, sender->users_sent, end->users_received, c->blocks, c->lost,
           c->misinserted, c->errored, c->severe, c->missing, far->lost, far->errored);
}

static void put_blocks(const struct job *job)
{
    const struct leat_sim_atm_oam *sim = &job->sim;
    uint32_t rows = 0;
    if (!job->config.block) return;
    for (uint32_t i = 0; i < sim->ends; i++) {
        if (!has_errors(&sim->end[i]) && sim->ends > ROWS_MAX) continue;
        if (!rows)
            puts("performance, of user cells between two ports:\n"
                 "  from   to       sent  delivered   blocks     lost misinsd.  errored   SECB  FM "
                 "lost  far: lost  errored");
        if (rows++ < ROWS_MAX) put_block(sim, &sim->end[i]);
    }
    put_more(ROWS_MAX, rows);
    if (rows < sim->ends) printf("connections one way without any error: %u\n", sim->ends - rows);
}

static void put_text(const struct job *job)
{
    put_title(job);
    put_counts(job);
    put_defects(job);
    put_blocks(job);
}

/* ---- programs -------------------------------------------------------------------------------- */

static void put_kinds(struct leat_json *j, const struct job *job)
{
    static const char *const keys[] = { "cc", "ais", "rdi", "fm", "br" };
    leat_json_object(j, "oam_cells");
    for (unsigned kind = 0; kind < LEAT_SIM_ATM_OAM_KINDS; kind++) {
        leat_json_object(j, keys[kind]);
        LEAT_JSON_UINTS(j, { "cells_sent", job->sim.counts.sent[kind] },
                        { "cells_delivered", job->sim.counts.received[kind] });
        leat_json_end(j);
    }
    leat_json_end(j);
    LEAT_JSON_UINTS(j, { "oam_refused", job->sim.counts.refused },
                    { "oam_bad", job->sim.counts.bad },
                    { "cells_unknown", job->sim.counts.unknown });
}

static void put_json_defects(struct leat_json *j, const struct job *job)
{
    char name[LEAT_FABRIC_WIRE_CAP];
    leat_json_array(j, "defects");
    for (uint32_t i = 0; i < job->defects; i++) {
        const struct defect *d = &job->defect[i];
        const char *place = where(job, d, name);
        leat_json_break(j);
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "port", d->port }, { "peer", d->peer });
        leat_json_string(j, "defect", state_names[d->state]);
        leat_json_uint(j, "from_cycle", d->from);
        if (d->to == LEAT_NEVER)
            leat_json_null(j, "to_cycle");
        else
            leat_json_uint(j, "to_cycle", d->to);
        if (*place)
            leat_json_string(j, "broken", place);
        else
            leat_json_null(j, "broken");
        leat_json_end(j);
    }
    leat_json_end(j);
    leat_json_uint(j, "defects_more", job->defects_more);
}

static void put_json_block(struct leat_json *j, const char *key,
                           const struct leat_atm_oam_block_counts *c)
{
    leat_json_object(j, key);
    LEAT_JSON_UINTS(j, { "blocks", c->blocks }, { "cells_sent", c->cells }, { "lost", c->lost },
                    { "misinserted", c->misinserted }, { "blocks_errored", c->errored },
                    { "parity_bits", c->parity_bits }, { "blocks_severe", c->severe },
                    { "monitoring_lost", c->missing });
    leat_json_end(j);
}

static void put_json_ways(struct leat_json *j, const struct job *job)
{
    const struct leat_sim_atm_oam *sim = &job->sim;
    leat_json_array(j, "monitored");
    for (uint32_t i = 0; i < sim->ends; i++) {
        const struct leat_sim_atm_oam_end *end = &sim->end[i], *sender = leat_sim_atm_oam_find(
                                                                   sim, end->peer, end->port);
        const struct leat_sim_atm_oam_way way = leat_sim_atm_oam_way(&job->config.fabric.net,
                                                                     end->peer, end->port);
        leat_json_break(j);
        leat_json_object(j, NULL);
        LEAT_JSON_UINTS(j, { "from", way.from }, { "to", way.to }, { "path", way.path },
                        { "cells_sent", sender->users_sent },
                        { "cells_delivered", end->users_received });
        if (job->config.block) {
            put_json_block(j, "near", &end->sink.counts);
            put_json_block(j, "far", &sender->far.counts);
        }
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_json(const struct job *job)
{
    const struct leat_sim_atm_oam_config *c = &job->config;
    struct leat_sim_atm_losses losses;
    struct json_out out;
    leat_sim_atm_losses(&job->sim.plain.sim, &losses);
    json_schema("leat.sim.oam/1");
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "fabric", job->name);
    leat_json_string(j, "model", sim_model_name(c->model));
    json_general(j, "load", (double)c->load_ppm / SIM_LOAD_ONE, 6);
    LEAT_JSON_UINTS(j, { "seed", c->seed }, { "cycles", job->cycles });
    json_general(j, "cycle_ns",
                 (double)c->fabric.period_ps_num / (double)c->fabric.period_ps_den / 1000, 12);
    json_certificate(j, "certificate", leat_sim_certificate_value(&job->sim.plain.certificate));
    leat_json_string(j, "oam_flow", flow_name(job));
    leat_json_bool(j, "segment", c->flow.segment);
    leat_json_bool(j, "continuity", c->checks);
    LEAT_JSON_UINTS(j, { "period_cycles", c->period }, { "block_cells", c->block },
                    { "cells_sent", job->sim.counts.users_sent },
                    { "cells_delivered", job->sim.counts.users_received },
                    { "lost", leat_sim_atm_losses_sum(&losses) },
                    { "cells_rerouted", losses.rerouted });
    put_kinds(j, job);
    put_json_defects(j, job);
    put_json_ways(j, job);
    json_close(&out, json_status());
}

/* ---- all ------------------------------------------------------------------------------------- */

int run_sim_oam(const struct arguments *args, struct leat_fabric *fabric)
{
    static struct job job;
    struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    void *memory = NULL;
    job =
        (struct job){ .name = atm->base.name, .words = argument(args, "--oam"), .cycles = 1000000 };
    job.config = (struct leat_sim_atm_oam_config){ .fabric = atm->fabric,
                                                   .period = LEAT_SIM_ATM_OAM_PERIOD,
                                                   .load_ppm = LOAD_DEFAULT,
                                                   .seed = 1,
                                                   .changed = changed,
                                                   .context = &job };
    job.config.flow.f5 = atm->fabric.net.header_octets == LEAT_ATM_VC_HEADER;
    job.pair = sim_memory(LEAT_SIM_ATM_OAM_PAIRS_MAX * sizeof *job.pair);
    job.config.pair = job.pair;
    if (!job.pair) return FAILED;
    int code = read_options(args, fabric, &job) ? DONE : WRONG;
    job.config.line.seed = atm->faults.seed = job.config.seed;
    atm->faults.pinned = !job.reroutes;
    if (code == DONE && !args->only_check) {
        code = simulate(&job, &memory) ? DONE : FAILED;
        if (code == DONE && job.lacks_memory) code = fail("no memory for all defects");
        if (code == DONE) (argument(args, "--json") ? put_json : put_text)(&job);
        code = finish(code);
    }
    free(memory);
    free(job.last);
    free(job.defect);
    free(job.pair);
    return code;
}
