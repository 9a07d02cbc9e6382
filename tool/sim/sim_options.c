/* leat sim: reads the options. Every error names the option and what was expected. */
#include "fabric.h"
#include "fabric_atm.h"
#include "leat_tree.h"
#include "net_sim.h"
#include "number.h"
#include "result_file.h"
#include "sim.h"
#include "sim_clock.h"
#include "sim_draw.h"
#include "threads.h"
#include <limits.h>
#include <string.h>

enum { WHY_CAP = 1024 };

/* Sources of the check workload have neither messages nor lines. */
static const char with_w[] = "--traffic --load --seed --cycles --model --record --record-hops "
                             "--json --threads --fault --fault-file";

bool sim_refuse_traffic(const struct arguments *args, const char *name, const char *known)
{
    return misused(args->verb, "--traffic '%s', %sexpected one of %s", name,
                   did_you_mean(name, known), known);
}

bool sim_take_traffic(const struct arguments *args, const char *more,
                      enum leat_sim_atm_traffic_pattern *out)
{
    const char *name = argument(args, "--traffic");
    char known[128];
    if (!name || leat_sim_atm_traffic_find(name, out) || word_is_in(name, more)) return true;
    snprintf(known, sizeof known, SIM_TRAFFIC_OF_PORTS "%s%s", *more ? " " : "", more);
    return sim_refuse_traffic(args, name, known);
}

bool sim_take_load(const struct arguments *args, uint32_t *out)
{
    const char *text = argument(args, "--load");
    bool exact = true;
    if (text && !number_read_fraction(text, SIM_LOAD_DECIMALS, out, &exact)) return false;
    if (!exact)
        caution("--load %s is rounded to %g, expected steps of 1e-6", text,
                (double)*out / SIM_LOAD_ONE);
    return true;
}

/* "RATE" or "HEADER,PAYLOAD" */
static bool read_bit_errors(const struct arguments *args, struct leat_sim_atm_line_config *line)
{
    const char *text = argument(args, "--bit-errors");
    char header[32];
    if (!text) return true;
    const size_t len = strcspn(text, ",");
    const char *payload = text[len] ? text + len + 1 : text;
    if (len < sizeof header) {
        memcpy(header, text, len);
        header[len] = '\0';
        if (number_read_fraction(header, SIM_RATE_DECIMALS, &line->header_errors, NULL) &&
            number_read_fraction(payload, SIM_RATE_DECIMALS, &line->payload_errors, NULL))
            return true;
    }
    return misused(
        args->verb,
        "--bit-errors '%s', expected HEADER,PAYLOAD: chances per bit of 0 to 1 in steps of "
        "1e-9, as 1e-6,1e-5",
        text);
}

/* "PORT", "PORT@FROM" or "PORT@FROM..TO" */
static bool read_outage(const char *text, size_t len, uint32_t ports,
                        struct leat_sim_atm_line_outage *out)
{
    const char *at = memchr(text, '@', len), *end = text + len;
    uint64_t port, from = 0, to = LEAT_NEVER;
    if (!leat_tree_number(text, at ? (size_t)(at - text) : len, &port) || port >= ports)
        return false;
    if (at) {
        const char *dots = memchr(at, '.', (size_t)(end - at));
        if (dots && (end - dots < 2 || dots[1] != '.' ||
                     !leat_tree_number(dots + 2, (size_t)(end - dots) - 2, &to)))
            return false;
        if (!leat_tree_number(at + 1, (size_t)((dots ? dots : end) - at) - 1, &from)) return false;
    }
    *out = (struct leat_sim_atm_line_outage){ .port = (uint32_t)port, .from = from, .to = to };
    return from < to;
}

static bool read_outages(const struct arguments *args, uint32_t ports,
                         struct leat_sim_atm_line_config *line,
                         struct leat_sim_atm_line_outage *outage)
{
    const char *text = argument(args, "--dead");
    for (const char *each = text; each;) {
        const size_t len = strcspn(each, ",");
        if (line->outage_count == LEAT_SIM_ATM_LINE_OUTAGES_MAX)
            return misused(args->verb, "--dead '%s', expected at most %u outages", text,
                           (unsigned)LEAT_SIM_ATM_LINE_OUTAGES_MAX);
        if (!read_outage(each, len, ports, &outage[line->outage_count++]))
            return misused(
                args->verb,
                "--dead '%.*s', expected PORT or PORT@FROM..TO: a port of 0 to %u, cycles that "
                "rise",
                (int)len, each, ports - 1);
        each = each[len] ? each + len + 1 : NULL;
    }
    line->outage = outage;
    return true;
}

const char *sim_model_name(enum leat_sim_atm_model model)
{
    return model == LEAT_SIM_ATM_RTL ? "rtl" : "cell";
}

bool sim_read_model(const struct arguments *args, const struct leat_sim_atm_fabric *fabric,
                    enum leat_sim_atm_model *out)
{
    const char *text = argument(args, "--model");
    *out = LEAT_SIM_ATM_CELL;
    if (!text || strcmp(text, "cell") == 0) return true;
    *out = LEAT_SIM_ATM_RTL;
    if (strcmp(text, "rtl") == 0)
        return !fabric->graph ||
               misused(args->verb, "--model rtl, expected cell: only bus matrices have registers "
                                   "(clos444, clos:E,M,R, bmx:K)");
    return misused(args->verb, "--model '%s', expected rtl or cell", text);
}

static bool read_traffic(const struct arguments *args, struct sim_job *job)
{
    const char *text = argument(args, "--traffic");
    job->check_load = text && strcmp(text, "W") == 0;
    return sim_take_traffic(args, "W", &job->pattern);
}

static bool read_load(const struct arguments *args, struct sim_job *job)
{
    const char *text = argument(args, "--load");
    job->load = SIM_LOAD_ONE / 2;
    if (!sim_take_load(args, &job->load)) return false;
    if (job->check_load && job->load % SIM_PERCENT)
        return misused(args->verb,
                       "--load '%s', expected whole hundredths with --traffic W, as 0.6", text);
    return true;
}

bool sim_read_units(const struct arguments *args, struct leat_atm_aal_config *aal)
{
    aal->resync = !argument(args, "--no-resync");
    return number_take_small(args, "--descriptors", &aal->descriptors) &&
           number_take_small(args, "--retransmit", &aal->retransmit_cycles) &&
           number_take_small(args, "--obsolete", &aal->obsolete_cycles) &&
           number_take_small(args, "--transmissions", &aal->transmissions_max);
}

/* A message must fit the buffer that it is sent from. */
static bool read_buffers(const struct arguments *args, struct sim_job *job)
{
    uint32_t *blocks = &job->aal.send_blocks;
    if (!number_take_small(args, "--blocks", blocks)) return false;
    job->aal.receive_blocks = *blocks;
    job->bytes = LEAT_SIM_ATM_LOAD_BYTES_DEFAULT; /* which always fits */
    return number_take_small_within(args, "--bytes", 0, leat_atm_aal_message_max(*blocks),
                                    &job->bytes);
}

/* Codes and frames do not tell headers from payloads, and headers are checked anyway. */
static bool move_bit_errors(const struct arguments *args, struct leat_fabric_atm *atm,
                            struct leat_sim_atm_line_config *line)
{
    struct leat_sim_atm_graph *graph = &atm->cells.graph;
    if (!atm->fabric.graph || !graph->line) return true;
    if (line->hec)
        return misused(args->verb,
                       "--hec, expected none on the line %s, which has checks of its own",
                       graph->line->name);
    if (line->header_errors != line->payload_errors)
        return misused(args->verb,
                       "--bit-errors '%s', expected one chance for all bits of the line %s",
                       argument(args, "--bit-errors"), graph->line->name);
    graph->host_errors = leat_sim_fixed_divide(line->header_errors, LEAT_SIM_ATM_LINE_RATE_ONE, 64);
    if (line->header_errors == LEAT_SIM_ATM_LINE_RATE_ONE) graph->host_errors = UINT64_MAX;
    line->header_errors = line->payload_errors = 0;
    return true;
}

bool sim_read_lines(const struct arguments *args, struct leat_fabric_atm *atm,
                    struct leat_sim_atm_line_config *line, struct leat_sim_atm_line_outage *outage)
{
    const uint32_t ports = atm->fabric.net.ports;
    line->hec = argument(args, "--hec");
    return read_bit_errors(args, line) && move_bit_errors(args, atm, line) &&
           number_take_share(args, "--loss", &line->lose) &&
           number_take_share(args, "--insert", &line->insert) &&
           number_take_share(args, "--duplicate", &line->duplicate) &&
           read_outages(args, ports, line, outage);
}

const struct leat_net_topology *sim_wires(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (atm->fabric.graph) return atm->fabric.graph->topology;
    if (!atm->wires_memory) atm->wires_memory = fabric_topology(fabric, &atm->wires, &why);
    if (atm->wires_memory) return &atm->wires;
    misuse(args->verb, "%s: %.*s", fabric->word, (int)why.len, why.buf);
    return NULL;
}

bool sim_read_faults(const struct arguments *args, struct leat_fabric *fabric)
{
    struct leat_fabric_atm *atm = leat_fabric_as_atm(fabric);
    if (!argument(args, "--fault") && !argument(args, "--fault-file")) return true;
    const struct leat_net_topology *wires = sim_wires(args, fabric);
    if (!wires) return false;
    if (!net_read_faults(args, wires, LEAT_ATM_CELL_LEN * CHAR_BIT, &atm->fault_list)) return false;
    atm->faults =
        (struct leat_sim_atm_faults){ .list = &atm->fault_list, .topology = wires, .seed = 1 };
    if (atm->fault_list.count) atm->fabric.faults = &atm->faults;
    return true;
}

bool sim_check_cycles(const struct arguments *args, uint64_t cycles,
                      const struct leat_sim_clock *clock, const char *with)
{
    leat_time end;
    uint64_t most = 0;
    if (!leat_sim_clock_edge(clock, cycles, &end)) return true;
    leat_sim_clock_cycle(clock, LEAT_NEVER - 1, &most);
    return misused(args->verb, "--cycles %llu, expected at most %llu with %sthis clock",
                   (unsigned long long)cycles, (unsigned long long)most, with);
}

bool sim_check_record(const struct arguments *args)
{
    const char *path = argument(args, "--record");
    const struct result_name names[] = { { "--record", path }, { "standard output", NULL } };
    if (!path) return true;
    if (strcmp(path, "-") == 0)
        return misused(args->verb,
                       "--record '-', expected a file: the figures go to standard output");
    return result_names_apart(args->verb, names, 2, NULL) &&
           result_apart_from_options(args, "--record");
}

bool sim_read_record(const struct arguments *args, struct leat_fabric *fabric,
                     struct sim_recorded *record)
{
    *record = (struct sim_recorded){ .path = argument(args, "--record"),
                                     .fabric = fabric->name,
                                     .hops = RECORD_HOPS_DEFAULT };
    if (!record->path)
        return !argument(args, "--record-hops") ||
               misused(args->verb, "--record-hops, expected --record with it");
    if (!sim_check_record(args) || !number_take(args, "--record-hops", &record->hops)) return false;
    record->wires = record->hops ? sim_wires(args, fabric) : NULL;
    return record->wires || !record->hops;
}

static bool read_record(const struct arguments *args, struct leat_fabric_atm *atm,
                        struct sim_job *job)
{
    return sim_read_record(args, &atm->base, &job->record) &&
           (!job->record.path ||
            sim_check_cycles(args, job->cycles, &atm->base.clock, "--record and "));
}

static bool refuse_with_w(const struct arguments *args, const struct sim_job *job)
{
    const char *option = job->check_load ? argument_not_in(args, with_w) : NULL;
    return !option || misused(args->verb,
                              "%s has no meaning with --traffic W, which has no AAL units", option);
}

/* Valid faults that have no effect in this run. */
static void warn_of_no_effect(const struct sim_job *job)
{
    const struct leat_sim_atm_line_config *line = &job->line;
    const bool loses = line->header_errors || line->payload_errors || line->lose ||
                       line->outage_count || job->fabric.faults ||
                       leat_sim_atm_fabric_errs(&job->fabric);
    for (uint32_t i = 0; i < line->outage_count; i++)
        if (line->outage[i].from > job->cycles)
            caution("--dead %u@%llu has no effect, expected a cycle within the %llu of the run",
                    line->outage[i].port, (unsigned long long)line->outage[i].from,
                    (unsigned long long)job->cycles);
    if (line->hec && !line->header_errors)
        caution("--hec has no effect, expected errors in headers with it (--bit-errors)");
    if (loses && !job->check_load && job->aal.retransmit_cycles >= job->cycles)
        caution("cells that are lost are not sent again within the run: --retransmit is %u, "
                "expected less than --cycles %llu",
                job->aal.retransmit_cycles, (unsigned long long)job->cycles);
}

bool sim_read_job(const struct arguments *args, struct leat_fabric_atm *atm, struct sim_job *job)
{
    *job = (struct sim_job){ .fabric = atm->fabric,
                             .name = atm->base.name,
                             .aal = atm->aal,
                             .cycles = 1000000,
                             .seed = 1,
                             .threads = 1,
                             .json = argument(args, "--json") };
    if (argument(args, "--admit"))
        return misused(args->verb, "--admit has no meaning without --contracts");
    const bool read = sim_read_model(args, &job->fabric, &job->model) &&
                      number_take(args, "--cycles", &job->cycles) &&
                      number_take(args, "--seed", &job->seed) &&
                      threads_take(args, &job->threads) && read_traffic(args, job) &&
                      read_load(args, job) && refuse_with_w(args, job) && read_buffers(args, job) &&
                      sim_read_units(args, &job->aal) &&
                      sim_read_lines(args, atm, &job->line, job->outage) &&
                      read_record(args, atm, job);
    job->line.seed = atm->cells.graph.error_seed = job->seed;
    if (read && !args->only_check) warn_of_no_effect(job);
    return read;
}
