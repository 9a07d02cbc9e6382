/* leat run: the ports of tasks, which are their hosts. */
#include "number.h"
#include "run.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a file that lists them ------------------------------------------------------------------ */

struct span {
    uint32_t first, last;
};

/* "3" or "0-3", then what is in `ends` or nothing. Returns what follows; NULL: it is no such text.
 */
static const char *read_span(const char *text, const char *ends, struct span *out)
{
    char *end;
    if (*text < '0' || *text > '9') return NULL;
    const unsigned long first = strtoul(text, &end, 10);
    unsigned long last = first;
    if (*end == '-') {
        text = end + 1;
        if (*text < '0' || *text > '9') return NULL;
        last = strtoul(text, &end, 10);
    }
    if (last < first || last > INT32_MAX || (*end && !strchr(ends, *end))) return NULL;
    *out = (struct span){ (uint32_t)first, (uint32_t)last };
    return end;
}

/* "0-3 5" or "0-3 4-7", with a comment behind it. */
static bool read_places(const char *line, struct span *ranks, struct span *ports)
{
    static const char blanks[] = " \t\r";
    const char *at = read_span(line + strspn(line, blanks), blanks, ranks);
    if (!at) return false;
    at = read_span(at + strspn(at, blanks), " \t\r\n#", ports);
    if (!at) return false;
    at += strspn(at, blanks);
    const uint32_t count = ports->last - ports->first;
    return (!*at || *at == '\n' || *at == '#') && (!count || count == ranks->last - ranks->first);
}

/* The rank of the next free place, if it has any; -n or the file says how many ranks there are. */
static bool take_places(struct run_job *job, uint32_t number, struct span ranks, struct span ports)
{
    const uint32_t most = job->tasks ? job->tasks : RUN_TASKS_MAX;
    const char *path = job->placement;
    for (uint32_t rank = ranks.first; rank <= ranks.last; rank++) {
        if (rank >= most)
            return complain("%s:%u: rank %u, expected ranks 0 to %u%s", path, number, rank,
                            most - 1, job->tasks ? ", as -n says" : "");
        struct run_place *place = &job->place[rank];
        if (place->line)
            return complain("%s:%u: rank %u again, expected it once: line %u places it too", path,
                            number, rank, place->line);
        *place = (struct run_place){ .line = number,
                                     .port = ports.first +
                                             (ports.last > ports.first ? rank - ranks.first : 0) };
        if (rank >= job->places) job->places = rank + 1;
    }
    return true;
}

static bool read_lines(struct run_job *job, FILE *file)
{
    char line[256];
    for (uint32_t number = 1; fgets(line, sizeof line, file); number++) {
        struct span ranks, ports;
        const size_t blank = strspn(line, " \t\r\n");
        if (!line[blank] || line[blank] == '#') {
            while (!strchr(line, '\n') && fgets(line, sizeof line, file)) {
            } /* the rest of a long comment */
            continue;
        }
        if (!read_places(line, &ranks, &ports))
            return complain("%s:%u: expected RANK PORT, as in 3 5, 0-3 5 or 0-3 4-7",
                            job->placement, number);
        if (!take_places(job, number, ranks, ports)) return false;
        while (!strchr(line, '\n') && fgets(line, sizeof line, file)) {
        }
    }
    return true;
}

static bool check_all(struct run_job *job)
{
    const uint32_t ranks = job->tasks ? job->tasks : job->places;
    if (!ranks) return complain("%s: expected a line RANK PORT", job->placement);
    for (uint32_t i = 0; i < ranks; i++)
        if (!job->place[i].line)
            return complain("%s: rank %u is missing, expected ranks 0 to %u", job->placement, i,
                            ranks - 1);
    job->tasks = ranks;
    return true;
}

static bool read_file(struct run_job *job)
{
    if (job->library != RUN_MPI)
        return misused(job->verb,
                       "--placement %s: a file has ranks of MPI, expected cyclic, block or ports "
                       "for a program that starts its tasks itself",
                       job->placement);
    FILE *file = fopen(job->placement, "r");
    if (!file)
        return complain("--placement %s: expected cyclic, block, ports as in 0,4,8, or a file: %s",
                        job->placement, strerror(errno));
    const bool is_read = read_lines(job, file) && check_all(job);
    const bool is_whole = !ferror(file);
    fclose(file);
    if (!is_whole) return complain("%s cannot be read", job->placement);
    return is_read;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool is_word(const char *placement)
{
    return !strcmp(placement, "cyclic") || !strcmp(placement, "block");
}

bool run_place_read(const struct arguments *args, struct run_job *job)
{
    const char *placement = job->placement;
    if (!number_take_small(args, "--ranks-per-host", &job->ranks_per_host)) return false;
    if (job->ranks_per_host && placement)
        return misused(args->verb,
                       "--ranks-per-host and --placement both place ranks, expected one of them");
    if (!placement || is_word(placement) || (*placement >= '0' && *placement <= '9')) return true;
    return read_file(job);
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* "3,0,0,5": the ports of tasks 0, 1, ...; the list repeats. */
static bool place_by_list(const struct run_job *job, uint32_t slots, uint32_t ports, uint32_t *port)
{
    uint32_t count = 0;
    for (const char *at = job->placement; count < slots; count++) {
        char *end;
        const unsigned long long value = strtoull(at, &end, 10);
        if (end == at || value >= ports || (*end && *end != ','))
            return misused(job->verb,
                           "--placement %s: expected cyclic, block, or ports 0 to %u with commas "
                           "between",
                           job->placement, ports - 1);
        port[count] = (uint32_t)value;
        at = *end ? end + 1 : job->placement;
    }
    return true;
}

/* Ranks that are started later follow the last one. */
static bool place_by_file(const struct run_job *job, uint32_t slots, uint32_t ports, uint32_t *port)
{
    for (uint32_t i = job->tasks; i < slots; i++)
        port[i] = (job->place[job->tasks - 1].port + 1 + i - job->tasks) % ports;
    for (uint32_t i = 0; i < job->tasks; i++) {
        const struct run_place *place = &job->place[i];
        if (place->port >= ports)
            return complain("%s:%u: port %u, expected ports 0 to %u of %s", job->placement,
                            place->line, place->port, ports - 1, job->fabric);
        port[i] = place->port;
    }
    return true;
}

bool run_place(const struct run_job *job, uint32_t slots, uint32_t ports, uint32_t *port)
{
    const bool block = job->placement && !strcmp(job->placement, "block");
    uint32_t each = block ? (job->tasks + ports - 1) / ports : job->ranks_per_host;
    if (job->places) return place_by_file(job, slots, ports, port);
    if (job->placement && !is_word(job->placement)) return place_by_list(job, slots, ports, port);
    if (!block && each && job->tasks > (uint64_t)each * ports)
        return misused(job->verb,
                       "-n %u with --ranks-per-host %u: %s has %u ports, expected at most %llu "
                       "ranks",
                       job->tasks, each, job->fabric, ports, (unsigned long long)each * ports);
    for (uint32_t i = 0; i < slots; i++)
        port[i] = each ? i / each % ports : i % ports;
    return true;
}

static uint32_t spawned_at_most(const struct run_job *job)
{
    if (!job->tool.words) return RUN_SPAWNED_MAX;
    return job->library == RUN_MPI ? RUN_SPAWNED_WITH_MPI : RUN_SPAWNED_WRAPPED;
}

/* Initial tasks, plus those that they may start. */
uint32_t run_place_slots(struct run_job *job, uint32_t ports)
{
    const uint64_t each = job->ranks_per_host ? job->ranks_per_host : 1, all = each * ports;
    if (!job->tasks)
        job->tasks = job->library != RUN_MPI ? 1
                     : all < RUN_TASKS_MAX   ? (uint32_t)all
                                             : RUN_TASKS_MAX;
    if (job->library == RUN_ATM) return RUN_TASKS_MAX;
    return job->tasks + spawned_at_most(job);
}

bool run_place_check(const struct run_job *job, uint32_t ports)
{
    static uint32_t port[RUN_TASKS_MAX + RUN_SPAWNED_MAX];
    struct run_job copy = *job;
    const uint32_t slots = run_place_slots(&copy, ports);
    return run_place(&copy, slots, ports, port);
}
