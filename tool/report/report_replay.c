/* leat report: the commands that repeat the runs of a report. */
#include "fabric.h"
#include "markup.h"
#include "report.h"
#include "shell.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void report_put_word(struct leat_text *text, const char *word)
{
    char *quoted = NULL;
    size_t len;
    FILE *out = open_memstream(&quoted, &len);
    if (out) shell_put_word(out, word, strlen(word));
    if (out && fclose(out) == 0 && quoted)
        text_escape(text, quoted);
    else
        text->overflowed = true;
    free(quoted);
}

/* Those of a sweep; fabrics that count no wires were run without --links. */
static void put_options(struct leat_text *text, const char *options, const char *fabric)
{
    static const char links[] = "--links";
    char *own = strdup(options), *at = own ? strstr(own, links) : NULL;
    if (at && !fabric_counts_wires(fabric))
        memmove(at, at + sizeof links - 1, strlen(at) - sizeof links + 2);
    if (own)
        text_escape(text, own);
    else
        text->overflowed = true;
    free(own);
}

void report_put_run(const struct report *report, const struct report_point *point, uint64_t seed,
                    struct leat_text *text)
{
    const struct report_line *line = &report->line[point->line];
    const char *options = report->sweep[line->sweep].options;
    leat_text_puts(text, "leat sim ");
    report_put_word(text, line->fabric);
    leat_text_puts(text, " --traffic ");
    report_put_word(text, report->traffic[point->traffic]);
    text_format(text, " --load %.6g --seed %llu%s", (double)point->load / STORE_LOAD_ONE,
                (unsigned long long)seed, *options ? " " : "");
    put_options(text, options, line->fabric);
    leat_text_putc(text, '\n');
}

/* ---- a sweep ------------------------------------------------------------------------------- */

static int by_load(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The different loads of a sweep, rising; how many. `loads` has room for all points. */
static size_t loads_of(const struct report *report, size_t sweep, uint32_t *loads)
{
    size_t all = 0, count = 0;
    for (size_t i = 0; i < report->points; i++)
        if (report->line[report->point[i].line].sweep == sweep)
            loads[all++] = report->point[i].load;
    qsort(loads, all, sizeof *loads, by_load);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || loads[i] != loads[i - 1]) loads[count++] = loads[i];
    return count;
}

/* FIRST:LAST:STEP if three or more have the same step. */
static void put_loads(struct leat_text *text, const uint32_t *loads, size_t count)
{
    for (size_t from = 0, to; from < count; from = to + 1) {
        for (to = from;
             to + 1 < count && loads[to + 1] - loads[to] == loads[from + 1] - loads[from];)
            to++;
        if (to < from + 2) to = from;
        text_format(text, "%s%.6g", from ? "," : "", (double)loads[from] / STORE_LOAD_ONE);
        if (to > from)
            text_format(text, ":%.6g:%.6g", (double)loads[to] / STORE_LOAD_ONE,
                        (double)(loads[from + 1] - loads[from]) / STORE_LOAD_ONE);
    }
}

static void put_seeds(struct leat_text *text, const struct report_sweep *sweep)
{
    for (uint32_t i = 0; i < sweep->seeds; i++) {
        const struct report_seeds *s = &sweep->seed[i];
        text_format(text, "%s%llu", i ? "," : "", (unsigned long long)s->first);
        if (s->last > s->first || sweep->seeds == 1) /* a single number would be a count */
            text_format(text, ":%llu", (unsigned long long)s->last);
    }
    if (sweep->seeds_left_out) leat_text_puts(text, ",…");
}

static bool has_traffic(const struct report *report, size_t sweep, size_t traffic)
{
    for (size_t l = 0; l < report->lines; l++)
        if (report->line[l].sweep == sweep && report->series[l][traffic].count) return true;
    return false;
}

static void put_command(const struct report *report, size_t sweep, uint32_t *loads,
                        struct leat_text *text)
{
    const struct report_sweep *s = &report->sweep[sweep];
    const char *comma = "";
    leat_text_puts(text, "leat sweep");
    for (size_t l = 0; l < report->lines; l++) {
        if (report->line[l].sweep != sweep) continue;
        leat_text_putc(text, ' ');
        report_put_word(text, report->line[l].fabric);
    }
    leat_text_puts(text, " --traffic ");
    for (size_t t = 0; t < report->traffics; t++) {
        if (!has_traffic(report, sweep, t)) continue;
        leat_text_puts(text, comma);
        report_put_word(text, report->traffic[t]);
        comma = ",";
    }
    leat_text_puts(text, " --load ");
    put_loads(text, loads, loads_of(report, sweep, loads));
    leat_text_puts(text, " --seeds ");
    put_seeds(text, s);
    leat_text_puts(text, *s->options ? " " : "");
    text_escape(text, s->options);
    leat_text_puts(text, " --store runs.sqlite\n");
}

static void put_sweep(const struct report *report, size_t sweep, uint32_t *loads,
                      struct leat_text *text)
{
    const struct report_sweep *s = &report->sweep[sweep];
    text_format(text, "<h3>Sweep %lld</h3>\n<p>%u run%s by leat ", (long long)s->id, s->runs,
                s->runs == 1 ? "" : "s");
    text_escape(text, s->version);
    leat_text_puts(text, ", begun ");
    text_escape(text, s->created);
    leat_text_puts(text, " UTC.");
    if (*s->files) {
        leat_text_puts(text, " Files that they read: <code>");
        text_escape(text, s->files);
        leat_text_puts(text, "</code>.");
    }
    leat_text_puts(text, "</p>\n<pre>");
    put_command(report, sweep, loads, text);
    leat_text_puts(text, "</pre>\n");
}

int report_replay(const struct report *report, struct leat_text *text)
{
    uint32_t *loads = calloc(report->points, sizeof *loads);
    if (!loads) return fail("no memory for %zu points", report->points);
    leat_text_puts(text,
                   "<h2 id=\"replay\">How it was run</h2>\n<p>The same command gives the same "
                   "figures on any machine: all randomness comes from the seeds. One run, for "
                   "a closer look:</p>\n<pre>");
    report_put_run(report, &report->point[0], report->point[0].first_seed, text);
    leat_text_puts(text, "</pre>\n");
    for (size_t s = 0; s < report->sweeps; s++)
        if (report->sweep[s].runs) put_sweep(report, s, loads, text);
    free(loads);
    return DONE;
}
