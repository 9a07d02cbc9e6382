/* leat sim of networks: reads the options. */
#include "lines.h"
#include "net_cut.h"
#include "net_sim.h"
#include "number.h"
#include "sim.h"
#include "threads.h"
#include <stdlib.h>
#include <string.h>

/* A mesh of 32 x 32 carries an eighth. */
enum { WHY_CAP = 1024, LOAD_DEFAULT = SIM_LOAD_ONE / 10 };

/* Networks have one model: flits. A request for that of cells is accepted, too. */
static bool read_model(const struct arguments *args)
{
    const char *text = argument(args, "--model");
    if (!text || strcmp(text, "rtl") != 0) return true;
    return misused(args->verb, "--model '%s', expected flit: networks have no other", text);
}

/* ---- traffic --------------------------------------------------------------------------------- */

static bool read_pattern(const struct arguments *args, struct net_job *job)
{
    const char *name = argument(args, "--traffic");
    if (argument(args, "--trace")) {
        if (name && strcmp(name, "trace") != 0)
            return misused(args->verb, "--trace with --traffic %s, expected one of them", name);
        name = "trace";
    }
    if (!name || leat_net_pattern_find(name, &job->traffic.pattern)) return true;
    struct leat_text known = LEAT_TEXT(WHY_CAP);
    for (size_t i = 0; leat_net_pattern_list(i); i++) {
        if (i) leat_text_putc(&known, ' ');
        leat_text_puts(&known, leat_net_pattern_list(i)->name);
    }
    leat_text_putc(&known, '\0');
    return sim_refuse_traffic(args, name, known.buf);
}

static bool read_trace_line(void *context, const struct leat_fabric_place *place, struct word line)
{
    struct net_job *job = context;
    uint32_t *count = &job->traffic.trace_count;
    bool has;
    struct leat_net_trace_entry entry;
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (leat_net_trace_line(line.text, line.len, job->traffic.terminals,
                            *count ? job->trace[*count - 1].cycle : 0, &entry, &has, &why))
        return wrong(place, "%.*s", (int)why.len, why.buf);
    if (!has) return true;
    if (*count == NET_TRACE_MAX)
        return wrong(place, "one packet too many, expected at most %d", NET_TRACE_MAX);
    struct leat_fabric_error error;
    struct leat_net_trace_entry *more = leat_fabric_grow(job->trace, *count, sizeof *more, &error);
    if (!more) return fabric_refused(job->verb, "", &error);
    job->trace = more;
    job->trace[(*count)++] = entry;
    return true;
}

static bool read_trace(const struct arguments *args, struct net_job *job)
{
    const char *file = argument(args, "--trace");
    uint32_t lines;
    if (job->traffic.pattern != LEAT_NET_TRACE) return true;
    if (!file) return misused(args->verb, "--traffic trace, expected --trace FILE with it");
    if (!lines_read(file, read_trace_line, job, &lines)) return false;
    if (!job->traffic.trace_count && !interrupted)
        return wrong(&(struct leat_fabric_place){ .file = file, .line = lines ? lines : 1 },
                     "nothing in it, expected a packet per line: CYCLE SOURCE DESTINATION [FLITS]");
    job->traffic.trace = job->trace;
    return true;
}

static bool read_load(const struct arguments *args, struct net_job *job)
{
    const char *text = argument(args, "--load");
    const bool closed = leat_net_pattern_list(job->traffic.pattern)->is_closed;
    job->traffic.load_ppm = LOAD_DEFAULT;
    if (!sim_take_load(args, &job->traffic.load_ppm)) return false;
    if (text && (closed || job->traffic.pattern == LEAT_NET_TRACE))
        return misused(args->verb, "--load has no meaning with --traffic %s",
                       leat_net_pattern_list(job->traffic.pattern)->name);
    return true;
}

/* An option of other traffic. Only --rounds is refused: the others may be common to several kinds
 * of traffic in a sweep, whose runs can be repeated one by one with the same options. */
static bool check_effect(const struct arguments *args, const struct net_job *job)
{
    const struct leat_net_pattern_spelling *pattern = leat_net_pattern_list(job->traffic.pattern);
    if (argument(args, "--rounds") && !pattern->is_closed)
        return misused(args->verb,
                       "--rounds has no meaning with --traffic %s, expected a collective",
                       pattern->name);
    if (argument(args, "--hot") && job->traffic.pattern != LEAT_NET_HOTSPOT)
        caution("--hot has no effect on %s traffic, expected it with hotspot", pattern->name);
    if (argument(args, "--burst") && job->traffic.pattern != LEAT_NET_BURSTY)
        caution("--burst has no effect on %s traffic, expected it with bursty", pattern->name);
    return true;
}

static bool read_traffic(const struct arguments *args, struct net_job *job)
{
    leat_net_traffic_default(&job->traffic, job->built->topology.terminals);
    job->traffic.shape = &job->design->plan.shape;
    job->traffic.seed = 1;
    if (!read_pattern(args, job) || !read_load(args, job) ||
        !number_take(args, "--seed", &job->traffic.seed) ||
        !number_take(args, "--rounds", &job->traffic.rounds) ||
        !number_take_small(args, "--flits", &job->traffic.flits) ||
        !number_take_small(args, "--burst", &job->traffic.burst) ||
        !number_take_small(args, "--hot", &job->traffic.hot_percent) || !check_effect(args, job) ||
        !read_trace(args, job))
        return false;
    job->ends = job->traffic.pattern == LEAT_NET_TRACE || job->traffic.rounds;
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (!leat_net_traffic_check(&job->traffic, &why)) return true;
    return misused(args->verb, "%.*s", (int)why.len, why.buf);
}

/* A packet that must be buffered as a whole must fit. */
static bool check_length(const struct arguments *args, const struct net_job *job)
{
    const struct leat_net_config *c = &job->design->plan.net;
    uint32_t most = job->traffic.flits;
    for (uint32_t i = 0; i < job->traffic.trace_count; i++)
        if (job->trace[i].flits > most) most = job->trace[i].flits;
    if (c->architecture != LEAT_NET_SWITCH_VC || (c->flow == LEAT_NET_WORMHOLE && !c->drop) ||
        most <= c->buffer_flits)
        return true;
    return misused(args->verb, "packets of %u flits, expected at most /buffer=%u with /flow=%s%s",
                   most, c->buffer_flits, leat_net_flow_name(c->flow), c->drop ? "/full=drop" : "");
}

/* ---- faults ---------------------------------------------------------------------------------- */

struct faults_read {
    struct leat_net_faults *faults;
    const struct leat_net_topology *topology;
};

static bool add_fault(const struct faults_read *read, const char *line, size_t len,
                      struct leat_text *why)
{
    struct leat_net_faults *faults = read->faults;
    const uint32_t before = faults->count;
    struct word rest = { line, len }, text;
    if (leat_net_faults_line(faults, line, len, why)) return false;
    if (faults->count == before || !lines_word(&rest, &text)) return true;
    leat_text_put(why, text.text, text.len);
    leat_text_puts(why, ": ");
    return !leat_net_fault_check(&faults->fault[before], read->topology, faults->flit_bits, why);
}

static bool read_fault_line(void *context, const struct leat_fabric_place *place, struct word line)
{
    struct leat_text why = LEAT_TEXT(WHY_CAP);
    if (add_fault(context, line.text, line.len, &why)) return true;
    return wrong(place, "%.*s", (int)why.len, why.buf);
}

/* The faults of one --fault. */
static bool read_fault_words(const struct arguments *args, struct word words,
                             const struct faults_read *read)
{
    const uint32_t before = read->faults->count;
    struct word word;
    while (lines_word(&words, &word)) {
        struct leat_text why = LEAT_TEXT(WHY_CAP);
        if (add_fault(read, word.text, word.len, &why)) continue;
        return misused(args->verb, "--fault %.*s", (int)why.len, why.buf);
    }
    if (read->faults->count > before) return true;
    return misused(args->verb, "--fault '', expected " LEAT_NET_FAULT_WORDS);
}

static bool read_fault_file(const char *file, struct faults_read *read)
{
    const uint32_t before = read->faults->count;
    uint32_t lines;
    if (!lines_read(file, read_fault_line, read, &lines)) return false;
    if (read->faults->count > before || interrupted) return true;
    return wrong(&(struct leat_fabric_place){ .file = file, .line = lines ? lines : 1 },
                 "nothing in it, expected a fault per line, as link:3-7@1000..5000");
}

bool net_read_faults(const struct arguments *args, const struct leat_net_topology *topology,
                     uint32_t flit_bits, struct leat_net_faults *faults)
{
    const char *each = argument(args, "--fault"), *file = argument(args, "--fault-file");
    struct faults_read read = { faults, topology };
    leat_net_faults_init(faults);
    faults->flit_bits = flit_bits;
    if (!number_take_small(args, "--flit-bits", &faults->flit_bits)) return false;
    while (each) { /* repeated options are joined by newlines */
        const size_t len = strcspn(each, "\n");
        if (!read_fault_words(args, (struct word){ each, len }, &read)) return false;
        each = each[len] ? each + len + 1 : NULL;
    }
    return !file || read_fault_file(file, &read);
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool read_warmup(const struct arguments *args, struct net_job *job)
{
    const char *text = argument(args, "--warmup");
    /* A finite job has no steady state to wait for. */
    job->warmup = job->ends ? 0 : LEAT_NET_STEADY_FIND;
    if (!text) return true;
    job->warmup = LEAT_NET_STEADY_FIND;
    if (strcmp(text, "auto") == 0) return true;
    job->warmup = 0;
    if (!number_take_within(args, "--warmup", 0, SIM_CYCLES_MAX, &job->warmup)) return false;
    if (job->warmup < job->cycles) return true;
    return misused(args->verb, "--warmup %s, expected less than the %llu cycles of the run", text,
                   (unsigned long long)job->cycles);
}

/* Does it change what the network can do during the run? */
static bool has_changing_faults(const struct net_job *job)
{
    for (uint32_t i = 0; i < job->faults.count; i++)
        if (job->faults.fault[i].from || leat_net_fault_next(&job->faults.fault[i], 0) < LEAT_NEVER)
            return true;
    return false;
}

static bool read_precision(const struct arguments *args, struct net_job *job)
{
    const char *text = argument(args, "--precision");
    if (!text || !number_take_share(args, "--precision", &job->precision_ppm)) return !text;
    if (!job->precision_ppm)
        return misused(args->verb, "--precision %s, expected a share above 0, as 0.02", text);
    if (job->ends)
        return misused(args->verb, "--precision with %s, expected traffic that goes on and on",
                       job->traffic.rounds ? "--rounds" : "--trace");
    if (has_changing_faults(job))
        return misused(args->verb, "--precision with faults that come or go during the run: "
                                   "expected only such as last, as link:3-7");
    return true;
}

static bool read_links(const struct arguments *args, struct net_job *job)
{
    const char *text = argument(args, "--links");
    const uint32_t wires = job->built->topology.wires;
    job->links = text && (strcmp(text, NET_LINKS_WHERE_FEW) != 0 || wires <= NET_LINKS_FEW);
    if (!job->links || wires <= NET_LINKS_MAX) return true;
    return misused(args->verb, "--links: %u wires, expected a fabric of at most %d", wires,
                   NET_LINKS_MAX);
}

/* What this process has of the network. False: it needs to know all wires. */
static bool find_share(const struct arguments *args, const struct net_job *job,
                       struct leat_net_share *share)
{
    const uint32_t ranks = leat_sim_ranks_count(job->ranks);
    if (ranks > 1 &&
        (argument(args, "--fault") || argument(args, "--fault-file") || argument(args, "--links")))
        return false;
    share->parts = ranks * job->threads;
    share->begin = leat_sim_ranks_own(job->ranks) * job->threads;
    share->end = share->begin + job->threads;
    return share->parts <= LEAT_NET_PARTS_MAX;
}

/* Errors of the network itself. */
static bool build(const struct arguments *args, struct leat_fabric *fabric, struct net_job *job)
{
    struct leat_fabric_flits *n = leat_fabric_as_flits(fabric);
    struct leat_fabric_error error;
    struct leat_net_share share;
    const bool shared = find_share(args, job, &share);
    if (leat_fabric_build_share(&n->design, shared ? &share : NULL, &n->built, &error) &&
        (job->unsafe || leat_fabric_is_safe(&n->design, &n->built, &error)))
        return true;
    return fabric_refused(args->verb, fabric->word, &error);
}

/* Whoever looks on sees one part of a network. */
static bool read_record(const struct arguments *args, struct net_job *job)
{
    job->record = argument(args, "--record");
    job->record_hops = RECORD_HOPS_DEFAULT;
    if (!job->record)
        return !argument(args, "--record-hops") ||
               misused(args->verb, "--record-hops, expected --record with it");
    if (job->ranks)
        return misused(args->verb, "--record with %u ranks, expected one process",
                       job->ranks->count);
    if (job->device.where == DEVICE_ONE)
        return misused(args->verb, "--record with --device, expected the processor");
    job->device.where = DEVICE_CPU;
    job->threads = 1;
    return sim_check_record(args) && number_take(args, "--record-hops", &job->record_hops);
}

bool net_read_job(const struct arguments *args, struct leat_fabric *fabric,
                  struct leat_sim_ranks *ranks, struct net_job *job)
{
    const struct leat_fabric_flits *n = leat_fabric_as_flits(fabric);
    *job = (struct net_job){ .verb = args->verb,
                             .fabric = fabric,
                             .design = &n->design,
                             .built = &n->built,
                             .cycles = 100000,
                             .ranks = ranks,
                             .json = argument(args, "--json"),
                             .unsafe = argument(args, "--unsafe") };
    return read_model(args) && threads_take(args, &job->threads) &&
           device_take(args, &job->device) && read_record(args, job) &&
           number_take(args, "--cycles", &job->cycles) && build(args, fabric, job) &&
           read_links(args, job) &&
           sim_check_cycles(args, job->cycles, &n->design.plan.clock, "") &&
           read_traffic(args, job) && check_length(args, job) &&
           net_read_faults(args, &n->built.topology, LEAT_NET_FLIT_BITS, &job->faults) &&
           read_warmup(args, job) && read_precision(args, job);
}

bool net_read_point(const struct arguments *args, struct net_job *job)
{
    return read_traffic(args, job) && check_length(args, job);
}
