/*
 * leat experiment compare: the three programs of the thesis (echo, linear system, matrix product)
 * over several fabrics. What each takes, how much of it is contention, what the network loses, and
 * what its switches are made of.
 */
#include "experiment_compare.h"
#include "experiment_echo.h"
#include "fabric.h"
#include "json_out.h"
#include "number.h"
#include "sim_atm_cost.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_CAP = 8192, /* of --fabrics */
    INPUT_CAP = 8192,
};

const uint32_t compare_octets[COMPARE_DELAYS] = { 4, 65000 };
const char *const compare_names[COMPARE_PROGRAMS] = { "linear", "matrix" };

/* The thesis' network, one bus matrix; each other switch, with room for 1,024 cells; networks of
 * switches. All have 16 ports. */
static const char all_switches[] =
    "clos444,bmx:16,crossbar:16/cells/switch=xpq/buffer=4,crossbar:16/cells/switch=fifo,"
    "crossbar:16/cells/switch=voq,crossbar:16/cells/switch=batcher,"
    "crossbar:16/cells/switch=output,crossbar:16/cells/switch=shared,fly:2,4/cells,"
    "benes:16/cells,hypercube:4/cells,torus:4,4/cells";

double compare_time(const struct compare *c, const struct compare_row *row, double cycles)
{
    return c->unit_ns > 0 ? cycles * row->period_ns / c->unit_ns : cycles;
}

double compare_contention(const struct linear_outcome *program)
{
    return (double)program->cycle - (double)program->cycle_alone;
}

/* ---- which fabrics --------------------------------------------------------------------------- */

/* Cuts the list. A comma before a digit is part of a name: clos:4,4,4. */
static bool cut_list(const struct verb *verb, char *list, struct compare *c)
{
    for (char *at = list; at;) {
        char *end = at;
        do
            end = strchr(end + (end != at), ',');
        while (end && end[1] >= '0' && end[1] <= '9');
        if (end) *end = '\0';
        if (!*at)
            return misused(verb, "--fabrics: an empty name, expected fabrics with commas between");
        if (c->rows == COMPARE_FABRICS_MAX)
            return misused(verb, "--fabrics: more than %d fabrics, expected fewer",
                           COMPARE_FABRICS_MAX);
        c->row[c->rows++] = (struct compare_row){ .word = at, .status = "not run" };
        at = end ? end + 1 : NULL;
    }
    return true;
}

static bool read_row(struct experiment *e, struct compare_row *row)
{
    struct leat_fabric *fabric = experiment_fabric(e, row->word);
    if (!fabric) return false;
    const struct leat_sim_atm_fabric *atm = &leat_fabric_as_atm(fabric)->fabric;
    snprintf(row->fabric, sizeof row->fabric, "%s", fabric->name);
    row->ports = atm->net.ports;
    row->period_ns = (double)atm->period_ps_num / (double)atm->period_ps_den / 1e3;
    row->cost = leat_sim_atm_cost(atm);
    leat_fabric_close(fabric);
    return true;
}

/* All of them, before the first run. */
static bool read_fabrics(struct experiment *e, struct compare *c)
{
    static char list[LIST_CAP];
    const char *given = argument(e->args, "--fabrics");
    if (snprintf(list, sizeof list, "%s", given ? given : all_switches) >= (int)sizeof list)
        return misused(e->args->verb, "--fabrics: a list of %zu octets, expected at most %d",
                       strlen(given), LIST_CAP - 1);
    if (!cut_list(e->args->verb, list, c)) return false;
    c->unit = "cycles";
    for (size_t i = 0; i < c->rows; i++) {
        if (!read_row(e, &c->row[i])) return false;
        if (fabs(c->row[i].period_ns - c->row[0].period_ns) < 1e-9) continue;
        c->unit = "us";
        c->unit_ns = 1e3;
    }
    return true;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* n equations whose solution is 1, 1, ...: the diagonal dominates. */
static void write_system(uint32_t n, struct leat_text *text)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            leat_text_decimal(text, i == j ? n + 1 : 1);
            leat_text_putc(text, ' ');
        }
        leat_text_decimal(text, 2 * n);
        leat_text_putc(text, '\n');
    }
}

/* Consecutive numbers, times the unit matrix. */
static void write_product(uint32_t n, struct leat_text *text)
{
    for (uint32_t half = 0; half < 2; half++) {
        if (half) leat_text_puts(text, "*\n");
        for (uint32_t i = 0; i < n * n; i++) {
            const uint32_t unit = i / n == i % n ? 1 : 0;
            leat_text_decimal(text, half ? unit : i + 1);
            leat_text_putc(text, i % n == n - 1 ? '\n' : ' ');
        }
    }
}

/* NULL: the thesis' own. */
static const char *input_of(const struct compare *c, enum compare_program program)
{
    static char octets[COMPARE_PROGRAMS][INPUT_CAP];
    struct leat_text text;
    if (!c->size) return NULL;
    leat_text_init(&text, octets[program], INPUT_CAP - 1, NULL, NULL);
    (program == COMPARE_LINEAR ? write_system : write_product)(c->size, &text);
    octets[program][text.len] = '\0';
    return octets[program];
}

/* ---- running --------------------------------------------------------------------------------- */

static int run_row(struct experiment *e, const struct compare *c, struct compare_row *row)
{
    int code = DONE;
    e->job.fabric = row->word;
    e->ports = row->ports;
    for (int i = 0; i < COMPARE_DELAYS && !code; i++) {
        snprintf(e->title, sizeof e->title, "echo");
        code = echo_measure(e, compare_octets[i], &row->delay[i]);
    }
    for (int p = 0; p < COMPARE_PROGRAMS && !code; p++)
        code = linear_measure(e, p == COMPARE_MATRIX, input_of(c, (enum compare_program)p),
                              &row->program[p]);
    return code;
}

/* All fabrics must compute the same. */
static bool is_right(const struct compare *c, const struct compare_row *row)
{
    for (size_t i = 0; i < c->rows; i++) {
        if (!compare_is_done(&c->row[i])) continue;
        for (int p = 0; p < COMPARE_PROGRAMS; p++)
            if (strcmp(c->row[i].program[p].written, row->program[p].written) != 0) return false;
        return true;
    }
    return true;
}

/* A fabric on which a program fails does not stop the others. */
static int run_all(struct experiment *e, struct compare *c)
{
    int worst = DONE;
    for (size_t i = 0; i < c->rows && !interrupted; i++) {
        struct compare_row *row = &c->row[i];
        const int code = run_row(e, c, row);
        row->status = !code ? is_right(c, row) ? "done" : "wrong" : "failed";
        if (interrupted) row->status = "interrupted";
        if (!compare_is_done(row)) complain("%s: %s", row->fabric, row->status);
        if (!compare_is_done(row)) worst = FAILED;
    }
    run_screen_title(NULL);
    return worst;
}

/* ---- results --------------------------------------------------------------------------------- */

static void put_program(const struct compare *c, const struct compare_row *row,
                        const struct linear_outcome *program)
{
    const double contention = compare_contention(program);
    const char *digits = c->unit_ns > 0 ? "%10.3f" : "%10.0f";
    printf("  ");
    printf(digits, compare_time(c, row, (double)program->cycle));
    printf(digits, compare_time(c, row, contention));
    printf("%7.1f%7" PRIu64, 100 * contention / (double)program->cycle, program->cells_lost);
}

static void put_row(const struct compare *c, const struct compare_row *row, int width)
{
    const struct leat_net_cost *cost = &row->cost;
    printf("%-*s%6u", width, row->fabric, row->ports);
    for (int i = 0; compare_is_done(row) && i < COMPARE_DELAYS; i++)
        printf(c->unit_ns > 0 ? "%10.3f" : "%10.0f", compare_time(c, row, row->delay[i]));
    for (int p = 0; compare_is_done(row) && p < COMPARE_PROGRAMS; p++)
        put_program(c, row, &row->program[p]);
    if (!compare_is_done(row)) printf("  %-*s", 90, row->status);
    printf("%10" PRIu64 "%8" PRIu64 "%7" PRIu64 "%6u\n", cost->crosspoints, cost->buffer_flits,
           cost->wires, cost->memory_flits);
}

static void put_text(const struct compare *c)
{
    int width = 6;
    for (size_t i = 0; i < c->rows; i++)
        if ((int)strlen(c->row[i].fabric) > width) width = (int)strlen(c->row[i].fabric);
    printf("the thesis' programs over %zu fabrics: %s; times in %s\n\n", c->rows, c->size_text,
           c->unit);
    printf("%*s%20s  %34s  %34s%31s\n", width + 6, "", "echo, octets", "linear system",
           "matrix product", "switches");
    printf("%-*s%6s%10u%10u", width, "fabric", "ports", compare_octets[0], compare_octets[1]);
    for (int p = 0; p < COMPARE_PROGRAMS; p++)
        printf("  %10s%10s%7s%7s", "time", "content.", "%", "lost");
    printf("%10s%8s%7s%6s\n", "crosspts", "cells", "wires", "moves");
    for (size_t i = 0; i < c->rows; i++)
        put_row(c, &c->row[i], width);
    fputs("\ncontent.: how much longer than where cells never meet (below zero: another order of "
          "messages\ntakes longer); lost: cells that the network lost; crosspts: inputs x outputs "
          "of each switch,\n4 of each element 2 x 2; cells: room of all buffers; moves: cells that "
          "the busiest memory takes\nand gives in a cell time (leat help experiment compare).\n",
          stdout);
}

static void put_delays(struct leat_json *j, const struct compare_row *row)
{
    leat_json_array(j, "delay");
    for (int i = 0; i < COMPARE_DELAYS; i++) {
        leat_json_object(j, NULL);
        leat_json_uint(j, "bytes", compare_octets[i]);
        json_fixed(j, "cycles", row->delay[i], 0);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_programs(struct leat_json *j, const struct compare_row *row)
{
    leat_json_array(j, "programs");
    for (int p = 0; p < COMPARE_PROGRAMS; p++) {
        const struct linear_outcome *o = &row->program[p];
        leat_json_object(j, NULL);
        leat_json_string(j, "name", compare_names[p]);
        LEAT_JSON_UINTS(j, { "tasks", o->tasks }, { "last_cycle", o->cycle },
                        { "last_cycle_contention_free", o->cycle_alone },
                        { "reordered", o->reordered }, { "lost", o->cells_lost },
                        { "retransmissions", o->cells_again });
        json_certificate(j, "certificate", o->certificate);
        leat_json_string(j, "result", o->written);
        leat_json_end(j);
    }
    leat_json_end(j);
}

static void put_json(const struct compare *c)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "experiment", "compare");
    leat_json_array(j, "fabrics");
    for (size_t i = 0; i < c->rows; i++) {
        const struct compare_row *row = &c->row[i];
        leat_json_object(j, NULL);
        leat_json_string(j, "fabric", row->fabric);
        leat_json_uint(j, "ports", row->ports);
        json_fixed(j, "cycle_ns", row->period_ns, 6);
        fabric_cost_json(j, &row->cost, "cells");
        if (compare_is_done(row)) put_delays(j, row);
        if (compare_is_done(row)) put_programs(j, row);
        leat_json_string(j, "status", row->status);
        leat_json_end(j);
    }
    leat_json_end(j);
    json_close(&out, json_status());
}

static void free_rows(struct compare *c)
{
    for (size_t i = 0; i < c->rows; i++)
        for (int p = 0; p < COMPARE_PROGRAMS; p++)
            free(c->row[i].program[p].written);
}

int experiment_compare(struct experiment *e)
{
    static struct compare c;
    c = (struct compare){ .rows = 0 };
    if (e->args->operand_count != 1)
        return misuse(e->args->verb, "compare: expected no file; fabrics come with --fabrics");
    if (argument(e->args, "-n") && !number_take_small(e->args, "-n", &c.size)) return WRONG;
    if (!read_fabrics(e, &c)) return WRONG;
    if (c.size)
        snprintf(c.size_text, sizeof c.size_text, "%u equations, matrices of %u x %u", c.size,
                 c.size, c.size);
    else
        snprintf(c.size_text, sizeof c.size_text, "its system of 4 equations, matrices of 2 x 2");
    const int code = run_all(e, &c);
    (e->json ? put_json : put_text)(&c);
    if (e->page.name) compare_page(&c, &e->page.out.text);
    e->is_drawn = true;
    free_rows(&c);
    return code;
}
