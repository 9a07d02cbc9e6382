/* leat run: several fabrics, one after the other, and their comparison. */
#include "fabric.h"
#include "run.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- which ----------------------------------------------------------------------------------- */

uint32_t run_fabrics_read(const struct arguments *args, char *word[RUN_FABRICS_MAX])
{
    static char text[RUN_FABRICS_MAX * LEAT_FABRIC_NAME_CAP];
    const char *given = argument(args, "--fabric");
    uint32_t count = 0;
    if (strlen(given) >= sizeof text) return misused(args->verb, "--fabric: too long");
    strcpy(text, given);
    for (char *rest = text; rest;) {
        if (count == RUN_FABRICS_MAX)
            return misused(args->verb, "--fabric: expected at most %d fabrics", RUN_FABRICS_MAX);
        word[count] = rest;
        rest = strchr(rest, '\n');
        if (rest) *rest++ = '\0';
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(word[i], word[count]) == 0)
                return misused(args->verb, "fabric '%s' is given twice, expected each once",
                               word[i]);
        count++;
    }
    return count;
}

/* An option must mean something to at least one of them. */
static bool has_options(const struct run_job *job, char *const *word, uint32_t count)
{
    const struct option *all = job->verb->options;
    for (const struct option *o = all; o->name; o++) {
        bool is_meant = !job->args->value[o - all] || !o->kinds;
        for (uint32_t i = 0; i < count && !is_meant; i++) {
            const struct leat_fabric_kind *kind = leat_fabric_kind_of(word[i]);
            is_meant = kind && word_is_in(kind->id, o->kinds);
        }
        if (!is_meant)
            return misused(job->verb, "%s has no meaning for any of these fabrics", o->name);
    }
    return true;
}

bool run_fabrics_check(struct run_job *job, char *const *word, uint32_t count)
{
    static struct run_network network;
    if (!has_options(job, word, count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        job->fabric = word[i];
        const bool fits = run_network_open(job, false, &network) &&
                          run_place_check(job, network.net->ports) &&
                          run_collectives_check(job, &network);
        run_network_close(&network);
        if (!fits) return false;
    }
    return true;
}

/* ---- how they compare ------------------------------------------------------------------------ */

static void put_time(const struct run_line *line, const struct run_line *first, FILE *to)
{
    const bool has_ratio = strcmp(first->status, "done") == 0 && first->simulated_ps;
    if (strcmp(line->status, "done") != 0)
        fprintf(to, " %16s %8s", line->status, "-");
    else if (has_ratio)
        fprintf(to, " %14.9f s %8.4g", run_seconds(line->simulated_ps),
                (double)line->simulated_ps / (double)first->simulated_ps);
    else
        fprintf(to, " %14.9f s %8s", run_seconds(line->simulated_ps), "-");
}

void run_compare(const struct run_line *line, uint32_t count, FILE *to)
{
    int width = (int)strlen("fabric");
    bool has_contention = false;
    for (uint32_t i = 0; i < count; i++) {
        if ((int)strlen(line[i].fabric) > width) width = (int)strlen(line[i].fabric);
        has_contention |= !isnan(line[i].contention);
    }
    fprintf(to, "\n  %-*s %6s %16s %8s%s %10s %14s\n", width, "fabric", "tasks", "simulated time",
            "ratio", has_contention ? "       contention" : "", "messages", "octets");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(to, "  %-*s %6u", width, line[i].fabric, line[i].tasks);
        put_time(&line[i], line, to);
        if (has_contention && isnan(line[i].contention)) fprintf(to, " %16s", "-");
        if (has_contention && !isnan(line[i].contention))
            fprintf(to, " %14.9f s", line[i].contention);
        fprintf(to, " %10" PRIu64 " %14" PRIu64 "\n", line[i].messages, line[i].octets);
    }
}
