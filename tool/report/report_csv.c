/* leat report: all runs, a line each, with every scalar value of their results (RFC 4180). */
#include "markup.h"
#include "report.h"
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
    uint64_t runs;
    bool writing; /* the second time round */
};

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

static void put_row(const struct table *t, const struct store_run *run)
{
    text_format(t->text, "%lld,", (long long)t->sweep);
    put_cell(t->text, run->key.fabric, strlen(run->key.fabric));
    leat_text_putc(t->text, ',');
    put_cell(t->text, run->key.traffic, strlen(run->key.traffic));
    text_format(t->text, ",%g,%llu", (double)run->key.load / STORE_LOAD_ONE,
                (unsigned long long)run->key.seed);
    for (size_t i = 0; i < t->columns; i++) {
        leat_text_putc(t->text, ',');
        if (t->column[i].text) put_cell(t->text, t->column[i].text, t->column[i].len);
    }
    leat_text_puts(t->text, "\r\n");
}

static bool on_run(void *context, const struct store_run *run)
{
    struct table *t = context;
    if (interrupted) return false;
    for (size_t i = 0; i < t->columns; i++)
        t->column[i].text = NULL;
    if (!report_json_each(run->result, on_value, t))
        return complain(
            "%s: sweep %lld, %s, %s, load %g, seed %llu: expected the JSON object of leat sim "
            "--json, with at most %d different members in all",
            t->report->name, (long long)t->sweep, run->key.fabric, run->key.traffic,
            (double)run->key.load / STORE_LOAD_ONE, (unsigned long long)run->key.seed,
            REPORT_KEYS_MAX);
    t->runs++;
    if (t->writing) put_row(t, run);
    return true;
}

static bool on_sweep(void *context, const struct store_sweep *sweep)
{
    struct table *t = context;
    t->sweep = sweep->id;
    return store_each_run(t->report->store, sweep->id, on_run, t);
}

int report_csv(const struct report *report, struct leat_text *text)
{
    static struct table t;
    t = (struct table){ .report = report, .text = text };
    if (!store_each_sweep(report->store, on_sweep, &t)) return WRONG;
    if (t.runs == 0) {
        complain("%s: there is no run in this store, expected one at least", report->name);
        return WRONG;
    }
    leat_text_puts(text, "sweep,fabric,traffic,load,seed");
    for (size_t i = 0; i < t.columns; i++) {
        leat_text_putc(text, ',');
        put_cell(text, t.column[i].path, strlen(t.column[i].path));
    }
    leat_text_puts(text, "\r\n");
    t.writing = true;
    return store_each_sweep(report->store, on_sweep, &t) ? DONE : WRONG;
}
