/* Names of networks that carry cells, and what is built from them. */
#include "fabric_cells.h"
#include "fabric_kind.h"
#include "sim_atm_cost.h"
#include "tap.h"
#include <string.h>

static struct leat_fabric_error error;

static struct leat_sim_atm_fabric fabric;
static char name[LEAT_FABRIC_NAME_CAP];

static bool reads(const char *word, struct leat_fabric_cells *cells)
{
    memset(cells, 0, sizeof *cells);
    return leat_fabric_cells_read(word, NULL, cells, &fabric, name, &error);
}

static void a_name_with_the_piece_cells_is_one_of_them(void)
{
    OK(leat_fabric_is_of_cells("torus:4,4/cells"));
    OK(leat_fabric_is_of_cells("mesh:2,2/switch=voq/cells/buffer=3"));
    OK(!leat_fabric_is_of_cells("torus:4,4"));
    OK(!leat_fabric_is_of_cells("torus:4,4/cells=2"));
    OK(!leat_fabric_is_of_cells(""));
    OK(leat_fabric_is_of_cells("a/b.edges/vcs=2/cells"));
    OK(!leat_fabric_is_of_cells("/cells/b.edges")); /* a folder */
    OK(!leat_fabric_is_of_cells("cells/b.yaml/vcs=2"));
}

static void switches_with_queues_lose_cells_and_others_hold_them_back(void)
{
    static const struct {
        const char *word;
        bool drops;
        uint32_t channels;
    } rows[] = {
        { "crossbar:4/cells/switch=fifo", true, 1 },
        { "crossbar:4/cells/switch=voq", true, 1 },
        { "torus:4,4/cells/switch=output", true, 1 },
        { "torus:4,4/cells/switch=shared", true, 1 },
        { "crossbar:4/cells/switch=batcher", true, 1 },
        { "crossbar:4/cells/switch=xpq", false, 1 },
        { "crossbar:4/cells/switch=output/full=wait", false, 1 },
        { "mesh:4,4/cells", false, 1 },
        { "torus:4,4/cells", false, 2 }, /* the fewest without deadlock */
        { "torus:4,4/cells/vcs=8", false, 8 },
        { "mesh:4,4/cells/full=drop", true, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct leat_fabric_cells cells;
        OK(reads(rows[i].word, &cells));
        EQ(fabric.graph->net.drop, rows[i].drops);
        EQ(fabric.graph->net.channels, rows[i].channels);
        EQ(fabric.graph->net.pipeline, 1);
        EQ(fabric.net.ports, cells.built.topology.terminals);
        EQ(fabric.period_ps_num, 50000);
        leat_fabric_cells_free(&cells);
    }
}

/* A name is the shortest one with the same defaults, wherever "cells" stands. */
static void names_are_as_short_as_their_defaults_allow(void)
{
    static const char *const words[][2] = {
        { "torus:4,4/vcs=3/cells", "torus:4,4/cells/vcs=3" },
        { "mesh4x4/cells/pipeline=1/clock=50ns", "mesh:4,4/cells" },
        { "mesh:4,4/cells/pipeline=3/clock=20ns", "mesh:4,4/cells/pipeline=3/clock=20ns" },
        { "crossbar:4/switch=fifo/cells/full=drop", "crossbar:4/cells/switch=fifo" },
        { "crossbar:4/full=wait/switch=fifo/cells", "crossbar:4/cells/switch=fifo/full=wait" },
        { "crossbar:4/cells/switch=xpq/full=wait", "crossbar:4/cells/switch=xpq" },
        { "clos:3,4,3/cells", "clos:3,4,3/cells/switch=vc" },
        { "torus:4,4/line=e3/cells", "torus:4,4/cells/line=e3" },
        { "mesh:4,4/cells/line=cell622/clock=12ns", "mesh:4,4/cells/clock=12ns/line=cell622" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int again = 0; again < 2; again++) {
            struct leat_fabric_cells cells;
            OK(reads(words[i][again], &cells));
            if (strcmp(name, words[i][1]) != 0) printf("# %s\n", name);
            OK(strcmp(name, words[i][1]) == 0);
            leat_fabric_cells_free(&cells);
        }
}

static void what_cannot_carry_cells_is_refused(void)
{
    static const char *const words[][2] = {
        { "mesh:1/cells", "1 ports, expected 2 to 4096" },
        { "torus:80,80/cells", "6400 ports, expected 2 to 4096" },
        { "torus:2000,2000/cells", "too many ports" },
        { "torus:4,4/cells/esp", "without /esp" },
        { "torus:4,4/cells/vcs=1", "wait for each other" },
        { "ring:6/cells/switch=xpq", "wait for each other" },
        { "ring:6/cells/cells", "expected it once" },
        { "ring:6/cells/clock=0ns", "is no clock" },
        { "ring:6/cells/line=ds3-plpc", "did you mean ds3-plcp? expected one of stm1 e1" },
        { "ring:6/cells/line=", "is no line" },
        { "ring:6/cells/line=a-line-with-a-long-name", "is no line" },
        { "ring:6/cells/line=e1/line=e1", "expected it once" },
        { "ring:6/cells/line=cell622", "53 cycles or more" },
        { "ring:6/cells/line=stm1/clock=60ns", "53 cycles or more" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct leat_fabric_cells cells;
        OK(!reads(words[i][0], &cells));
        if (!strstr(error.text, words[i][1])) printf("# %s: %s\n", words[i][0], error.text);
        OK(strstr(error.text, words[i][1]));
        leat_fabric_cells_free(&cells);
    }
}

static void lines_need_cells_in_slots(void)
{
    static const char *const words[][2] = {
        { "clos444/line=stm1", "clos:4,4,4/cells/switch=xpq/line=stm1" },
        { "clos:2,3,4/buffer=4/line=e1", "clos:2,3,4/cells/switch=xpq/line=e1" },
        { "bmx:8/line=e3", "crossbar:8/cells/switch=xpq/line=e3" },
        { "torus:4,4/line=e3", "expected it with /cells" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct leat_fabric *f = leat_fabric_read(words[i][0], NULL, &error);
        OK(!f);
        if (f) leat_fabric_close(f);
        if (!strstr(error.text, words[i][1])) printf("# %s\n", error.text);
        OK(strstr(error.text, words[i][1]));
    }
}

/* Every line of the table, with a clock that it allows. */
static void every_line_has_its_cell_time(void)
{
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++) {
        const struct leat_atm_line *line = &leat_atm_lines[i];
        struct leat_fabric_cells cells;
        char word[64];
        snprintf(word, sizeof word, "ring:4/cells/clock=12ns/line=%s", line->name);
        OK(reads(word, &cells));
        OK(strcmp(name, word) == 0);
        OK(fabric.graph->line == line);
        const struct leat_sim_clock slot = leat_sim_atm_fabric_slot(&fabric);
        /* num / den cycles of 12 ns are cells_den / cells_num s. */
        EQ(slot.num * 3 * line->cells_num, slot.den * 250000000 * line->cells_den);
        leat_fabric_cells_free(&cells);
    }
}

static void the_name_of_a_file_stays_whole(void)
{
    static const char *const files[] = { "campus.edges", "campus.yaml" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct leat_fabric_cells cells;
        char word[LEAT_FABRIC_NAME_CAP], full[LEAT_FABRIC_NAME_CAP];
        snprintf(word, sizeof word, "%s/share/fabrics/%s/buffer=3/cells", LEAT_SOURCE_DIR,
                 files[i]);
        snprintf(full, sizeof full, "%s/share/fabrics/%s/cells/buffer=3", LEAT_SOURCE_DIR,
                 files[i]);
        OK(reads(word, &cells));
        if (strcmp(name, full) != 0) printf("# %s\n", name);
        OK(strcmp(name, full) == 0);
        leat_fabric_cells_free(&cells);
        OK(reads(full, &cells));
        OK(strcmp(name, full) == 0);
        leat_fabric_cells_free(&cells);
    }
}

static void the_wires_of_a_fabric_have_names(void)
{
    struct leat_fabric_cells cells;
    char wire[LEAT_FABRIC_WIRE_CAP];
    OK(reads("line:3/cells", &cells));
    const struct leat_net_topology *t = &cells.built.topology;
    leat_fabric_name_wire(t, t->terminal_out[2], wire);
    OK(strcmp(wire, "2>port 2") == 0);
    leat_fabric_name_wire(t, t->out_first[0], wire);
    OK(strcmp(wire, "0>1") == 0 || strcmp(wire, "0>port 0") == 0 || strcmp(wire, "0>nothing") == 0);
    leat_fabric_cells_free(&cells);
}

/* ---- what switches are made of --------------------------------------------------------------- */

static struct leat_net_cost cost_of(const char *word)
{
    struct leat_fabric_cells cells = { 0 };
    struct leat_text why = LEAT_TEXT(256);
    if (leat_fabric_is_of_cells(word))
        OK(reads(word, &cells));
    else
        EQ(leat_sim_atm_fabric_parse(word, &fabric, &why), LEAT_ERR_OK);
    const struct leat_net_cost cost = leat_sim_atm_cost(&fabric);
    if (leat_fabric_is_of_cells(word)) leat_fabric_cells_free(&cells);
    return cost;
}

static void costs_are_those_of_closed_formulas(void)
{
    enum { N = 16, LOG = 4, ROOM = 64, SHORT_ROOM = 8, STAGE = 4 };
    static const struct {
        const char *word;
        uint64_t crosspoints, memory, wires, moves;
    } rows[] = {
        { "bmx:16", N * N, N * N * 8, 2 * N, 2 },
        { "bmx:5/buffer=3", 5 * 5, 5 * 5 * 3, 2 * 5, 2 },
        /* 2 r e m + m r^2 (Clos 1953) */
        { "clos444", 2 * 4 * 4 * 4 + 4 * 16, 192 * 8, 2 * N + 32, 2 },
        { "clos:8,15,8/buffer=1", 2880, 2880, 2 * 64 + 2 * 8 * 15, 2 },
        { "clos:3,4,5/cells/switch=xpq/full=drop", 2 * 5 * 3 * 4 + 4 * 25, 220 * ROOM, 30 + 40, 2 },
        { "crossbar:16/cells/switch=fifo", N * N, N * ROOM, 2 * N, 2 },
        { "crossbar:16/cells/switch=voq/buffer=8", N * N, N * 8, 2 * N, 2 },
        { "crossbar:16/cells/switch=output", N * N, N * ROOM, 2 * N, N + 1 },
        { "crossbar:16/cells/switch=shared", 2 * N, N * ROOM, 2 * N, 2 * N },
        { "crossbar:16/cells/switch=shared/full=wait", 2 * N, N * (ROOM + STAGE), 2 * N, 2 * N },
        { "crossbar:16/cells/switch=xpq/buffer=8", N * N, N * (N * 8 + STAGE), 2 * N, 2 },
        { "crossbar:16/cells/vcs=2", N * N, N * 2 * SHORT_ROOM, 2 * N, 2 },
        /* a Banyan; benes:N: 2 N (2 log N - 1); a crossbar of crosspoints without idle corners */
        { "fly:2,4/cells", 2 * N * LOG, 2 * N / 2 * LOG * SHORT_ROOM, N * (LOG - 1) + 2 * N, 2 },
        { "benes:16/cells", 2 * N * (2 * LOG - 1), N * 7 * SHORT_ROOM, N * 6 + 2 * N, 2 },
        { "grid:4/cells", 7 * 7, (4 * 3 * 2 + 4) * SHORT_ROOM, 4 * 3 * 2 + 8, 2 },
        { "hypercube:4/cells", N * 5 * 5, N * 5 * SHORT_ROOM, N * LOG + 2 * N, 2 },
        { "crossbar:16/cells/switch=batcher", N * LOG * (LOG + 3), N * ROOM,
          N * (LOG * (LOG + 1) / 2 + LOG - 1) + 2 * N, 2 },
        { "crossbar:9/cells/switch=batcher", N * LOG * (LOG + 3), 9 * ROOM, N * 13 + 2 * 9, 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct leat_net_cost cost = cost_of(rows[i].word);
        if (cost.crosspoints != rows[i].crosspoints || cost.wires != rows[i].wires)
            printf("# %s\n", rows[i].word);
        EQ(cost.crosspoints, rows[i].crosspoints);
        EQ(cost.buffer_flits, rows[i].memory);
        EQ(cost.wires, rows[i].wires);
        EQ(cost.memory_flits, rows[i].moves);
    }
}

/* Batcher's construction, element by element, and a Banyan. */
static void a_batcher_banyan_has_the_elements_of_its_construction(void)
{
    for (uint32_t lines = 2; lines <= 256; lines *= 2) {
        uint64_t elements = 0, columns = 0;
        char word[64];
        for (uint32_t run = 2; run <= lines; run *= 2)
            for (uint32_t half = run / 2; half; half /= 2, columns++)
                for (uint32_t i = 0; i < lines; i++)
                    elements += (i ^ half) > i;
        for (uint32_t bit = lines / 2; bit; bit /= 2, columns++)
            elements += lines / 2;
        snprintf(word, sizeof word, "crossbar:%u/cells/switch=batcher", lines);
        const struct leat_net_cost cost = cost_of(word);
        EQ(cost.crosspoints, 4 * elements);
        EQ(cost.wires, lines * (columns - 1) + 2 * lines);
    }
}

TAP_MAIN(T(a_name_with_the_piece_cells_is_one_of_them),
         T(switches_with_queues_lose_cells_and_others_hold_them_back),
         T(names_are_as_short_as_their_defaults_allow), T(what_cannot_carry_cells_is_refused),
         T(lines_need_cells_in_slots), T(every_line_has_its_cell_time),
         T(the_name_of_a_file_stays_whole), T(the_wires_of_a_fabric_have_names),
         T(costs_are_those_of_closed_formulas),
         T(a_batcher_banyan_has_the_elements_of_its_construction))
