/* Names of networks that carry cells, and what is built from them. */
#include "fabric_cells.h"
#include "fabric_kind.h"
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
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct leat_fabric_cells cells;
        OK(!reads(words[i][0], &cells));
        if (!strstr(error.text, words[i][1])) printf("# %s: %s\n", words[i][0], error.text);
        OK(strstr(error.text, words[i][1]));
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

TAP_MAIN(T(a_name_with_the_piece_cells_is_one_of_them),
         T(switches_with_queues_lose_cells_and_others_hold_them_back),
         T(what_cannot_carry_cells_is_refused), T(the_name_of_a_file_stays_whole),
         T(the_wires_of_a_fabric_have_names))
