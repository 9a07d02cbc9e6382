/*
 * leat report: all runs, a line each, with every scalar value of their results (RFC 4180).
 *
 * Cycles of different fabrics have different lengths: beside each column of a time in cycles stands
 * one in nanoseconds, which compares.
 */
#include "markup.h"
#include "report.h"
#include <stdlib.h>
#include <string.h>

struct column {
    char path[REPORT_KEY_CAP];
    const char *text; /* of the current run; NULL: it has none */
    size_t len;
};

struct table {
    const struct report *report;
    struct leat_text *text;
    struct column column[REPORT_KEYS_MAX];
    size_t columns;
    int64_t sweep;
    uint64_t runs, programs;
    bool writing; /* the second time round */
};

/* ---- columns ------------------------------------------------------------------------------- */

/* Values that the first columns have already, and lists: a cell holds one value. */
static bool is_left_out(const char *path)
{
    static const char *const known[] = { "fabric", "traffic", "load", "seed" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(path, known[i]) == 0) return true;
    return !*path || strchr(path, '[');
}

static bool on_value(void *context, const char *path, const struct report_value *value)
{
    struct table *t = context;
    size_t i = 0;
    if (is_left_out(path)) return true;
    while (i < t->columns && strcmp(t->column[i].path, path) != 0)
        i++;
    if (i == REPORT_KEYS_MAX) return false;
    if (i == t->columns) {
        if (t->writing) return true;                /* of a sweep that continues while we read */
        strcpy(t->column[t->columns++].path, path); /* both have REPORT_KEY_CAP */
    }
    t->column[i].text = value->kind == REPORT_NULL ? NULL : value->text;
    t->column[i].len = value->len;
    return true;
}

/* Where "_cycles" begins in the name of a time in cycles: latency_cycles.mean, but not
 * latency_cycles.count. NULL: it is none. */
static const char *cycles_in(const char *path)
{
    static const char count[] = ".count";
    const size_t len = strlen(path);
    const bool counts = len > strlen(count) && strcmp(path + len - strlen(count), count) == 0;
    return counts ? NULL : strstr(path, "_cycles");
}

/* ---- cells --------------------------------------------------------------------------------- */

/* Quotes where RFC 4180 requires them; JSON escapes stay. */
static void put_cell(struct leat_text *text, const char *characters, size_t len)
{
    bool quoted = false;
    for (size_t i = 0; i < len; i++)
        quoted |= characters[i] != '\0' && strchr(",\"\r\n", characters[i]);
    if (quoted) leat_text_putc(text, '"');
    for (size_t i = 0; i < len; i++) {
        if (characters[i] == '"') leat_text_putc(text, '"');
        leat_text_putc(text, characters[i]);
    }
    if (quoted) leat_text_putc(text, '"');
}

static void put_text(struct leat_text *text, const char *characters)
{
    put_cell(text, characters, strlen(characters));
}

/* The values of a row are numbers of a JSON text, which ends with something else. */
static void put_ns(const struct table *t, const struct column *column)
{
    leat_text_putc(t->text, ',');
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->column[i].path, "cycle_ns") == 0 && t->column[i].text && column->text)
            text_format(t->text, "%.12g",
                        strtod(column->text, NULL) * strtod(t->column[i].text, NULL));
}

static void put_values(const struct table *t)
{
    for (size_t i = 0; i < t->columns; i++) {
        const struct column *column = &t->column[i];
        leat_text_putc(t->text, ',');
        if (column->text) put_cell(t->text, column->text, column->len);
        if (cycles_in(column->path)) put_ns(t, column);
    }
    leat_text_puts(t->text, "\r\n");
}

static void put_run(const struct table *t, const struct store_run *run)
{
    text_format(t->text, "%lld,", (long long)t->sweep);
    if (t->programs) leat_text_puts(t->text, ",,,");
    put_text(t->text, run->key.fabric);
    leat_text_putc(t->text, ',');
    put_text(t->text, run->key.traffic);
    text_format(t->text, ",%g,%llu", (double)run->key.load / STORE_LOAD_ONE,
                (unsigned long long)run->key.seed);
    put_values(t);
}

static void put_program(const struct table *t, const struct store_program *program)
{
    text_format(t->text, "%s%lld,", t->runs ? "," : "", (long long)program->id);
    put_text(t->text, program->command);
    leat_text_putc(t->text, ',');
    put_text(t->text, program->options);
    leat_text_putc(t->text, ',');
    put_text(t->text, program->fabric);
    if (t->runs) leat_text_puts(t->text, ",,,");
    put_values(t);
}

/* Columns that are the same for all runs, or for all programs, then those of their results. */
static void put_head(const struct table *t)
{
    leat_text_puts(t->text, t->runs ? "sweep," : "");
    leat_text_puts(t->text, t->programs ? "id,command,options," : "");
    leat_text_puts(t->text, t->runs ? "fabric,traffic,load,seed" : "fabric");
    for (size_t i = 0; i < t->columns; i++) {
        const char *path = t->column[i].path, *cycles = cycles_in(path);
        leat_text_putc(t->text, ',');
        put_text(t->text, path);
        if (cycles)
            text_format(t->text, ",%.*s_ns%s", (int)(cycles - path), path,
                        cycles + strlen("_cycles"));
    }
    leat_text_puts(t->text, "\r\n");
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool take_result(struct table *t, const char *result)
{
    for (size_t i = 0; i < t->columns; i++)
        t->column[i].text = NULL;
    return report_json_each(result, on_value, t);
}

static bool on_run(void *context, const struct store_run *run)
{
    struct table *t = context;
    if (interrupted) return false;
    if (!take_result(t, run->result))
        return complain(
            "%s: sweep %lld, %s, %s, load %g, seed %llu: expected the JSON object of leat sim "
            "--json, with at most %d different members in all",
            t->report->name, (long long)t->sweep, run->key.fabric, run->key.traffic,
            (double)run->key.load / STORE_LOAD_ONE, (unsigned long long)run->key.seed,
            REPORT_KEYS_MAX);
    if (t->writing)
        put_run(t, run);
    else
        t->runs++;
    return true;
}

static bool on_program(void *context, const struct store_program *program)
{
    struct table *t = context;
    if (interrupted) return false;
    if (!take_result(t, program->result))
        return complain(
            "%s: program %lld, %s over %s: expected the JSON object of leat run --json, "
            "with at most %d different members in all",
            t->report->name, (long long)program->id, program->command, program->fabric,
            REPORT_KEYS_MAX);
    if (t->writing)
        put_program(t, program);
    else
        t->programs++;
    return true;
}

static bool on_sweep(void *context, const struct store_sweep *sweep)
{
    struct table *t = context;
    t->sweep = sweep->id;
    return report_each_run(t->report, sweep->id, on_run, t);
}

static bool each_row(struct table *t)
{
    return store_each_sweep(t->report->store, on_sweep, t) &&
           report_each_program(t->report, on_program, t);
}

int report_csv(const struct report *report, struct leat_text *text)
{
    static struct table t;
    t = (struct table){ .report = report, .text = text };
    if (!each_row(&t)) return WRONG;
    if (!t.runs && !t.programs) return report_nothing(report);
    put_head(&t);
    t.writing = true;
    return each_row(&t) ? DONE : WRONG;
}
