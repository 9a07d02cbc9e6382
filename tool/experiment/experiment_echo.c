/*
 * leat experiment echo: the one-way delay of a message by its size, and what follows from it
 * (spec/atm.md, 7.2; seed 001, 11.3).
 */
#include "experiment_echo.h"
#include "atm_aal_unit.h"
#include "fabric.h"
#include "json_out.h"
#include "number.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OCTETS_MAX = 67912,
    SMALLEST = 4,
};

/* ---- what follows from delays ---------------------------------------------------------------- */

static struct echo_line regression(const struct echo_curve *c)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < c->count; i++) {
        x += c->point[i].octets / (double)c->count;
        y += c->point[i].cycles / (double)c->count;
    }
    for (size_t i = 0; i < c->count; i++) {
        xx += (c->point[i].octets - x) * (c->point[i].octets - x);
        xy += (c->point[i].octets - x) * (c->point[i].cycles - y);
    }
    const double slope = xx > 0 ? xy / xx : 0;
    return (struct echo_line){ slope, y - slope * x };
}

static double r_max(const struct echo_curve *c)
{
    double best = 0;
    for (size_t i = 0; i < c->count; i++)
        best = fmax(best, c->point[i].octets / c->point[i].cycles);
    return best;
}

static struct echo_figures figures_of_line(const struct echo_line *line, uint32_t octets_max)
{
    const double r = octets_max / (line->slope * octets_max + line->base);
    /* The n with n / (slope n + base) = r / 2. */
    const double half = line->base * r / 2 / (1 - line->slope * r / 2);
    return (struct echo_figures){ r, half > 0 ? half : 0, line->slope * SMALLEST + line->base };
}

/* The closed form over this network. */
double echo_theory(uint32_t crossing, uint32_t octets)
{
    return (double)leat_atm_aal_one_way_cycles_over(octets, crossing);
}

static struct echo_figures figures_of_theory(const struct experiment *e, const struct echo_curve *c)
{
    const double r = r_max(c);
    uint32_t n = 1;
    while (n < OCTETS_MAX && n / echo_theory(e->crossing, n) < r / 2)
        n++;
    return (struct echo_figures){ r, n, echo_theory(e->crossing, SMALLEST) };
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* From the cycle in which the writer gets its lock to that in which the reader has the last word.
 */
static int measure(struct experiment *e, uint32_t octets, double *cycles)
{
    struct comm_records records = { 0 };
    struct run_outcome out = { 0 };
    char words[16];
    snprintf(words, sizeof words, "%u", octets / ECHO_WORD_OCTETS);
    const int code = experiment_run(e, "ecs", words, false, true, &records, &out);
    uint64_t sent = COMM_CYCLE_UNKNOWN, received = COMM_CYCLE_UNKNOWN;
    for (size_t i = 0; i < records.count; i++)
        *(records.record[i].receives ? &received : &sent) = records.record[i].cycle;
    *cycles = (double)(received - sent);
    comm_free(&records);
    run_outcome_free(&out);
    return code;
}

/* After an interrupt the curve has the points that were measured. */
static int measure_curve(struct experiment *e, struct echo_curve *c)
{
    for (size_t i = 0; i < c->count; i++) {
        snprintf(e->title, sizeof e->title, "size %zu of %zu", i + 1, c->count);
        const int code = measure(e, c->point[i].octets, &c->point[i].cycles);
        if (!code) continue;
        c->count = i;
        return code;
    }
    return DONE;
}

static void note(struct echo_curve *c, uint32_t octets, double cycles)
{
    if (c->count < ECHO_POINTS_MAX) c->point[c->count++] = (struct echo_point){ octets, cycles };
}

/* Searches for the smallest message that reaches half of r_max, from the smallest one on. */
static int measure_figures(struct experiment *e, const struct echo_curve *c,
                           struct echo_curve *tried, struct echo_figures *out)
{
    double cycles;
    snprintf(e->title, sizeof e->title, "searching n_1/2");
    int code = measure(e, SMALLEST, &cycles);
    *out = (struct echo_figures){ r_max(c), SMALLEST, cycles };
    if (!code) note(tried, SMALLEST, cycles);
    for (uint32_t n = SMALLEST; !code && n / cycles < out->r_max / 2 && n < OCTETS_MAX;) {
        n += ECHO_WORD_OCTETS;
        out->n_half = n;
        code = measure(e, n, &cycles);
        if (!code) note(tried, n, cycles);
    }
    return code;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static bool read_bytes(const struct experiment *e, struct echo_curve *c)
{
    const char *text = argument(e->args, "--bytes");
    for (size_t i = 0; !text && i < PUBLISHED_DELAYS; i++)
        c->point[c->count++].octets = published_delays[i].octets;
    for (const char *at = text; at;) {
        char piece[32];
        uint64_t value;
        const size_t len = strcspn(at, ",");
        snprintf(piece, sizeof piece, "%.*s", (int)len, at);
        if (!number_read(piece, true, &value) || value < ECHO_WORD_OCTETS || value > OCTETS_MAX ||
            value % ECHO_WORD_OCTETS || c->count == ECHO_POINTS_MAX)
            return misused(
                e->args->verb,
                "--bytes %s: expected up to %d multiples of 4 from 4 to %d with commas between",
                text, ECHO_POINTS_MAX, OCTETS_MAX);
        c->point[c->count++].octets = (uint32_t)value;
        at = at[len] ? at + len + 1 : NULL;
    }
    return true;
}

/* 0: not printed. */
static uint32_t published_at(uint32_t octets)
{
    for (size_t i = 0; i < PUBLISHED_DELAYS; i++)
        if (published_delays[i].octets == octets) return published_delays[i].cycles;
    return 0;
}

/* ---- results --------------------------------------------------------------------------------- */

const double echo_line_rate[ECHO_LINE_RATES] = { 155.52, 622.08 };

/* `row` NULL: it was interrupted, and there are only delays. */
static void put_text(const struct echo_result *r, const struct echo_row *row)
{
    const bool thesis = r->crossing == LEAT_ATM_AAL_THESIS_CYCLES;
    printf("one message over %s, from the lock to the last word got; in cycles\n"
           "%12s%12s%12s%12s\n",
           r->fabric, "octets", "measured", r->formula, "published");
    for (size_t i = 0; i < r->measured.count; i++) {
        const uint32_t octets = r->measured.point[i].octets, published = published_at(octets);
        printf("%12u%12.0f%12.0f", octets, r->measured.point[i].cycles, r->theory.point[i].cycles);
        if (published)
            printf("%12u\n", published);
        else
            printf("%12s\n", "-");
    }
    if (!row) {
        puts("interrupted");
        return;
    }
    printf("\nregression: measured %.6f N + %.4f, published %.6f N + %.4f\n\n"
           "                                r_max  Mbit/s at lines of      n_1/2        t_0\n"
           "                         octets/cycle   155.52     622.08     octets     cycles\n",
           r->line.slope, r->line.base, r->published_line.slope, r->published_line.base);
    for (int i = 0; i < ECHO_ROWS; i++) {
        const struct echo_figures *f = &row[i].figures;
        printf("%-24s %12.10f %8.4f %10.4f %10.1f %10.0f\n", row[i].name, f->r_max,
               f->r_max * echo_line_rate[0], f->r_max * echo_line_rate[1], f->n_half, f->t_0);
    }
    if (!thesis)
        printf(
            "\n"
            "T(N) holds for the thesis' network, whose three stages a cell crosses in %d cycles; "
            "%s\ntakes %u, so that %s is shown. What was published is of the thesis' network.\n",
            LEAT_ATM_AAL_THESIS_CYCLES, r->fabric, r->crossing, r->formula);
    fputs(
        "\n"
        "T(N) is the closed form of a message alone, measured or not: units and switches, and "
        "hosts\n"
        "that never wait. The published times hold more: the thesis' tasks and its network shared\n"
        "two processors, and the network went on while a task moved the words of a message, one "
        "at\n"
        "a time; so each word cost more than its 19 cycles. Its regression gives t_0 = 11138; the\n"
        "printed 11346 is its value at 16 octets.\n",
        stdout);
}

static void put_line(struct leat_json *j, const char *key, const struct echo_line *line)
{
    leat_json_object(j, key);
    json_fixed(j, "slope", line->slope, 9);
    json_fixed(j, "base", line->base, 6);
    leat_json_end(j);
}

static void put_figures(struct leat_json *j, const char *key, const struct echo_figures *f)
{
    leat_json_object(j, key);
    json_fixed(j, "r_max", f->r_max, 10);
    json_fixed(j, "mbit_155_52", f->r_max * echo_line_rate[0], 7);
    json_fixed(j, "mbit_622_08", f->r_max * echo_line_rate[1], 7);
    json_fixed(j, "n_half", f->n_half, 4);
    json_fixed(j, "t_0", f->t_0, 2);
    leat_json_end(j);
}

static void put_json(const struct echo_result *r, const struct echo_row *row)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "experiment", "echo");
    leat_json_string(j, "fabric", r->fabric);
    leat_json_uint(j, "network_cycles", r->crossing);
    leat_json_string(j, "formula", r->formula);
    leat_json_array(j, "delay");
    for (size_t i = 0; i < r->measured.count; i++) {
        const uint32_t octets = r->measured.point[i].octets, published = published_at(octets);
        leat_json_object(j, NULL);
        leat_json_uint(j, "bytes", octets);
        json_fixed(j, "cycles", r->measured.point[i].cycles, 0);
        json_fixed(j, "theory_cycles", r->theory.point[i].cycles, 0);
        if (published) leat_json_uint(j, "published_cycles", published);
        leat_json_end(j);
    }
    leat_json_end(j);
    if (row) put_line(j, "regression", &r->line);
    if (row) put_line(j, "published_regression", &r->published_line);
    for (int i = 0; row && i < ECHO_ROWS; i++)
        put_figures(j, row[i].key, &row[i].figures);
    json_close(&out, json_status());
}

static uint32_t longest(const struct echo_curve *c)
{
    uint32_t longest = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->point[i].octets > longest) longest = c->point[i].octets;
    return longest;
}

/* On standard output, and as a page where one is wanted. */
static void show(struct experiment *e, const struct echo_result *r, const struct echo_row *row)
{
    (e->json ? put_json : put_text)(r, row);
    if (!e->page.name) return;
    echo_page(r, row, &e->page.out.text);
    e->is_drawn = true;
}

int experiment_echo(struct experiment *e)
{
    static struct echo_result r;
    struct echo_figures measured;
    if (e->args->operand_count != 1)
        return misuse(e->args->verb, "echo: expected no file, as in leat experiment echo");
    if (!read_bytes(e, &r.measured)) return WRONG;
    r.fabric = e->job.fabric;
    r.crossing = e->crossing;
    fabric_formula_name(e->crossing, r.formula);
    r.published.count = PUBLISHED_DELAYS;
    for (size_t i = 0; i < PUBLISHED_DELAYS; i++)
        r.published.point[i] = (struct echo_point){ published_delays[i].octets,
                                                    published_delays[i].cycles };
    int code = measure_curve(e, &r.measured);
    if (!code) code = measure_figures(e, &r.measured, &r.tried, &measured);
    if (code && !interrupted) return code;
    run_screen_title(NULL);
    r.theory.count = r.measured.count;
    for (size_t i = 0; i < r.theory.count; i++) {
        const uint32_t octets = r.measured.point[i].octets;
        r.theory.point[i] = (struct echo_point){ octets, echo_theory(e->crossing, octets) };
    }
    r.published_line = regression(&r.published);
    if (code) return show(e, &r, NULL), code;
    r.line = regression(&r.measured);
    const struct echo_row row[ECHO_ROWS] = {
        { "measured", "measured", measured },
        { "  its regression", "measured_line", figures_of_line(&r.line, longest(&r.measured)) },
        { r.formula, "theory", figures_of_theory(e, &r.theory) },
        { "published, regression", "published_line",
          figures_of_line(&r.published_line, longest(&r.published)) },
    };
    show(e, &r, row);
    return DONE;
}
