/* leat run --collectives: who carries out the collective operations of MPI and PVM programs. */
#include "collect.h"
#include "json_out.h"
#include "run.h"
#include "style.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the option ------------------------------------------------------------------------------ */

bool run_collectives_read(const struct arguments *args, struct run_job *job)
{
    const char *text = argument(args, "--collectives");
    if (!text || !strcmp(text, "host")) return true;
    const char *comma = strchr(text, ',');
    const size_t len = comma ? (size_t)(comma - text) : strlen(text);
    const bool compares = len == strlen("compare") && !strncmp(text, "compare", len);
    const bool is_network = len == strlen("network") && !strncmp(text, "network", len);
    if (!(compares || is_network) || (comma && strcmp(comma, ",reproducible") != 0))
        return misused(args->verb,
                       "--collectives %s: expected host, network or compare; ,reproducible after "
                       "the last two makes sums of real numbers independent of their order",
                       text);
    if (compares && job->contention)
        return misused(args->verb, "--collectives compare and --contention, expected one of them");
    job->compares_collectives = compares;
    job->collectives = compares ? RUN_BY_HOSTS : RUN_BY_NETWORK;
    job->has_exact_sums = comma;
    return true;
}

bool run_collectives_are_told(const struct run_job *job)
{
    return job->library == RUN_PVM &&
           (job->collectives == RUN_BY_NETWORK || job->compares_collectives);
}

bool run_collectives_check(const struct run_job *job, const struct run_network *network)
{
    if (job->collectives == RUN_BY_HOSTS && !job->compares_collectives) return true;
    if (job->library == RUN_ATM)
        return complain("--collectives is for programs of MPI and PVM, and %s is none of them",
                        job->words[0]);
    if (network->net->means) return true;
    return complain("%s carries out no collective operations, expected a network that does, as "
                    "ring16, clos444 or torus:4,4/esp=20; or --collectives host",
                    network->fabric->name);
}

/* ---- the calls of all tasks ------------------------------------------------------------------ */

static struct leat_task_collective *row_of(struct run_outcome *out, const char *name)
{
    for (uint32_t i = 0; i < out->collectives; i++)
        if (strcmp(out->collective[i].name, name) == 0) return &out->collective[i];
    struct leat_task_collective *grown = realloc(out->collective,
                                                 (out->collectives + 1) * sizeof *grown);
    if (!grown) return NULL;
    out->collective = grown;
    struct leat_task_collective *row = &out->collective[out->collectives++];
    *row = (struct leat_task_collective){ 0 };
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static int compare(const void *a, const void *b)
{
    const struct leat_task_collective *x = a, *y = b;
    return strcmp(x->name, y->name);
}

bool run_collectives_keep(const struct leat_hub *hub, struct run_outcome *out)
{
    const struct leat_task_collective *each;
    for (uint32_t task = 0; task < out->tasks; task++)
        for (uint32_t i = 0; (each = leat_hub_collective(hub, task, i)); i++) {
            struct leat_task_collective *row = row_of(out, each->name);
            if (!row) return complain("no memory for the collective calls");
            row->octets += each->octets;
            row->network_ps += each->network_ps;
            row->hosts_ps += each->hosts_ps;
            for (int k = 0; k < LEAT_TASK_CARRIERS; k++)
                row->calls[k] += each->calls[k];
        }
    if (out->collectives)
        qsort(out->collective, out->collectives, sizeof *out->collective, compare);
    return true;
}

static uint64_t by_hosts(const struct leat_task_collective *c)
{
    uint64_t calls = 0;
    for (int i = LEAT_COLLECT_BY_NETWORK + 1; i < LEAT_COLLECT_CARRIERS; i++)
        calls += c->calls[i];
    return calls;
}

static const char *const reasons[LEAT_COLLECT_CARRIERS] = {
    [LEAT_COLLECT_OPERATION] = "operation", [LEAT_COLLECT_LENGTH] = "length",
    [LEAT_COLLECT_RANKS] = "several jobs",  [LEAT_COLLECT_ROOM] = "no room for the group",
    [LEAT_COLLECT_FAILURE] = "lost",        [LEAT_COLLECT_MEMBERS] = "members",
    [LEAT_COLLECT_NEAR] = "one receiver",   [LEAT_COLLECT_CHOSEN] = "chosen",
};

static double mean(leat_time all, uint64_t calls)
{
    return calls ? run_seconds(all) / (double)calls : 0;
}

/* The report does not know the types: sums of real numbers may be among the calls, or not. */
static void put_hint(const struct run_job *job, const struct run_outcome *out, FILE *to)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; i < out->collectives; i++)
        calls += out->collective[i].calls[LEAT_COLLECT_OPERATION];
    if (calls && job->library == RUN_MPI && !job->has_exact_sums)
        fprintf(to,
                "  operation: the network has none for it; with --collectives %s,reproducible it "
                "sums float and double, too\n",
                job->compares_collectives ? "compare" : "network");
}

void run_collectives_text(const struct run_job *job, const struct run_outcome *out, FILE *to)
{
    fprintf(to, "%s  %-26s %12s %10s %14s %10s %14s  %s%s\n", style(to, STYLE_HEADING),
            "collective operation", "octets", "in network", "s each", "by hosts", "s each",
            "why by hosts", style_end(to));
    for (uint32_t i = 0; i < out->collectives; i++) {
        const struct leat_task_collective *c = &out->collective[i];
        const uint64_t network = c->calls[LEAT_COLLECT_BY_NETWORK], hosts = by_hosts(c);
        const char *before = "";
        fprintf(to, "  %-26s %12" PRIu64 " %10" PRIu64 " %14.9f %10" PRIu64 " %14.9f  ", c->name,
                c->octets, network, mean(c->network_ps, network), hosts, mean(c->hosts_ps, hosts));
        for (int k = LEAT_COLLECT_BY_NETWORK + 1; k < LEAT_COLLECT_CARRIERS; k++) {
            if (!c->calls[k]) continue;
            fprintf(to, "%s%s (%" PRIu64 ")", before, reasons[k], c->calls[k]);
            before = ", ";
        }
        fputc('\n', to);
    }
    put_hint(job, out, to);
}

void run_collectives_json(struct leat_json *j, const struct run_outcome *out)
{
    if (!out->collectives) return;
    leat_json_array(j, "collectives"); /* only of runs in which the network may carry them out */
    for (uint32_t i = 0; i < out->collectives; i++) {
        const struct leat_task_collective *c = &out->collective[i];
        leat_json_object(j, NULL);
        leat_json_string(j, "call", c->name);
        leat_json_uint(j, "bytes", c->octets);
        leat_json_uint(j, "in_network", c->calls[LEAT_COLLECT_BY_NETWORK]);
        json_fixed(j, "network_seconds", run_seconds(c->network_ps), 12);
        leat_json_uint(j, "by_hosts", by_hosts(c));
        json_fixed(j, "hosts_seconds", run_seconds(c->hosts_ps), 12);
        leat_json_object(j, "reasons");
        for (int k = LEAT_COLLECT_BY_NETWORK + 1; k < LEAT_COLLECT_CARRIERS; k++)
            if (c->calls[k]) leat_json_uint(j, reasons[k], c->calls[k]);
        leat_json_end(j);
        leat_json_end(j);
    }
    leat_json_end(j);
}

/* ---- both ------------------------------------------------------------------------------------ */

struct spent {
    uint64_t calls;
    leat_time ps;
};

/* By the calls of this name: those of MPI are in the profile, those of PVM are only counted as
 * collective operations. */
static struct spent spent_by(const struct run_outcome *out, const char *name)
{
    for (uint32_t i = 0; i < out->calls; i++)
        if (strcmp(out->call[i].name, name) == 0)
            return (struct spent){ out->call[i].calls, out->call[i].took_ps };
    for (uint32_t i = 0; i < out->collectives; i++) {
        const struct leat_task_collective *c = &out->collective[i];
        if (strcmp(c->name, name) == 0)
            return (struct spent){ c->calls[LEAT_COLLECT_BY_NETWORK] + by_hosts(c),
                                   c->network_ps + c->hosts_ps };
    }
    return (struct spent){ 0 };
}

/* MPI_Ibarrier and others: the call takes no time, and it is another one that waits. */
static bool is_only_started(const char *name)
{
    static const char first[] = "MPI_I";
    return strncmp(name, first, sizeof first - 1) == 0;
}

void run_collectives_compare(const struct run_outcome *hosts, const struct run_outcome *network,
                             FILE *to)
{
    const double one = run_seconds(hosts->simulated_ps), other = run_seconds(network->simulated_ps);
    fprintf(to, "%s  %-26s %10s %16s %16s %8s%s\n", style(to, STYLE_HEADING), "call", "calls",
            "by hosts, s", "in network, s", "ratio", style_end(to));
    bool has_others = false;
    for (uint32_t i = 0; i < network->collectives; i++) {
        const char *name = network->collective[i].name;
        has_others |= is_only_started(name);
        if (is_only_started(name)) continue;
        const struct spent a = spent_by(hosts, name), b = spent_by(network, name);
        if (!a.calls || !b.ps) continue;
        fprintf(to, "  %-26s %10" PRIu64 " %16.9f %16.9f %8.2f\n", name, b.calls, run_seconds(a.ps),
                run_seconds(b.ps), run_seconds(a.ps) / run_seconds(b.ps));
    }
    if (has_others)
        fputs("  calls with an I are not compared: they only start what another call waits for\n",
              to);
    fprintf(to,
            "leat: by hosts %.9f s, with collective operations in the network %.9f s: %.2f "
            "times as fast\n",
            one, other, other > 0 ? one / other : 0);
}
