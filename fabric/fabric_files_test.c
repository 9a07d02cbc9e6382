/* Files that describe fabrics: their results, and errors with their lines. */
#include "fabric_flits.h"
#include "fabric_packetway.h"
#include "fabric_word_parts.h"
#include "tap.h"
#include <leat/random.h>
#include <stdlib.h>
#include <unistd.h>

static struct leat_fabric_error error;
static char file[64];

/* Writes a file with this text; its name ends with `ending`. */
static const char *write_file(const char *ending, const char *text, size_t len)
{
    snprintf(file, sizeof file, "/tmp/leat_fabric_XXXXXX%s", ending);
    const int fd = mkstemps(file, (int)strlen(ending));
    if (fd < 0 || write(fd, text, len) != (ssize_t)len) abort();
    close(fd);
    return file;
}

/* Can this leat read this file? */
static bool reads(const char *ending)
{
#ifdef HAVE_CYAML
    (void)ending;
    return true;
#else
    return strcmp(ending, ".yaml") != 0;
#endif
}

static struct leat_fabric *read_text(const char *ending, const char *text)
{
    struct leat_fabric *f = leat_fabric_read(write_file(ending, text, strlen(text)), NULL, &error);
    unlink(file);
    return f;
}

static bool never(void)
{
    return false;
}

static bool always(void)
{
    return true;
}

/* ---- networks of switches ------------------------------------------------------------------- */

static void edges_become_a_graph(void)
{
    struct leat_fabric *f = read_text(".edges", "# three\n0 1\n1 > 2 3\n\n2>0\n");
    struct leat_fabric_flits *n = f ? leat_fabric_as_flits(f) : NULL;
    OK(n);
    if (!n) return;
    EQ(n->design.plan.shape.routers, 3);
    EQ(n->design.plan.shape.edges, 3);
    EQ(n->design.edge[1].cycles, 3);
    OK(n->design.edge[1].one_way && !n->design.edge[0].one_way);
    EQ(n->design.edge_line[2], 5);
    leat_fabric_close(f);
}

static void yaml_becomes_what_its_name_would(void)
{
    if (!reads(".yaml")) return;
    struct leat_fabric *f = read_text(".yaml", "topology: mesh\nsize: [4, 2]\nvcs: 2\nesp: 30\n");
    struct leat_fabric *same = leat_fabric_read("mesh:4,2/vcs=2/esp=30", NULL, &error);
    OK(f && same);
    if (!f || !same) return;
    const struct leat_net_plan *a = &leat_fabric_as_flits(f)->design.plan;
    const struct leat_net_plan *b = &leat_fabric_as_flits(same)->design.plan;
    EQ(memcmp(&a->net, &b->net, sizeof a->net), 0);
    EQ(a->shape.number[0], b->shape.number[0]);
    EQ(a->shape.number[1], b->shape.number[1]);
    EQ(a->routing.rule, b->routing.rule);
    EQ(a->esp.cycles, b->esp.cycles);
    OK(leat_fabric_open(f, &(struct leat_fabric_config){ 0 }, &error));
    EQ(f->ports, 8);
    leat_fabric_close(f);
    leat_fabric_close(same);
}

/* Lines of checks of the whole network, after everything has been read. */
static void what_cannot_be_built_is_refused_at_its_line(void)
{
    static const struct {
        const char *ending, *text;
        uint32_t line;
    } wrongs[] = {
        { ".edges", "0 1\n\n1 > 2\n2 0\n3 0\n", 3 },
        { ".yaml",
          "topology: graph\nedges:\n  - {a: 0, b: 1}\n  - {a: 1, b: 2, one_way: true}\n"
          "  - {a: 2, b: 0, one_way: true}\nrouting: updown\n",
          4 },
        { ".yaml",
          "topology: graph\nedges: [{a: 0, b: 1}, {a: 1, b: 2}, {a: 2, b: 3}, {a: 0, b: 2}]\n"
          "routing: table\ntable:\n  - {at: 2, to: 1, by: 0}\n  - {at: 0, to: 3, by: 1}\n"
          "  - {at: 1, to: 3, by: 0}\n",
          6 },
        { ".yaml", "topology: mesh\nsize: [4, 4]\nrouting: tag\n", 3 },
        { ".yaml", "topology: mesh\nsize: [4, 4]\nswitch: fifo\nvcs: 4\n", 4 },
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        if (!reads(wrongs[i].ending)) continue;
        struct leat_fabric *f = read_text(wrongs[i].ending, wrongs[i].text);
        OK(f);
        if (!f) continue;
        struct leat_fabric_flits *n = leat_fabric_as_flits(f);
        OK(!leat_fabric_build(&n->design, &n->built, &error));
        EQ(error.code, LEAT_FABRIC_FILE);
        EQ(error.line, wrongs[i].line);
        OK(strcmp(error.file, file) == 0);
        leat_fabric_close(f);
    }
}

static void a_graph_needs_no_ending_and_no_routing(void)
{
    struct leat_fabric_design design;
    struct leat_fabric_built built = { 0 };
    write_file("", "0 > 1\n1 > 0\n", 12);
    OK(leat_fabric_graph_read(file, never, &design, &error));
    OK(leat_fabric_build_topology(&design, &built, &error));
    EQ(built.topology.wires, 2);
    leat_fabric_built_free(&built);
    leat_fabric_design_free(&design);
    OK(leat_fabric_design_read("ring:5/vcs=1", false, NULL, &design, &error));
    OK(leat_fabric_build(&design, &built, &error));
    OK(!leat_fabric_is_safe(&design, &built, &error));
    leat_fabric_built_free(&built);
    leat_fabric_design_free(&design);
    unlink(file);
}

static void a_share_of_a_large_network_is_built_and_all_of_a_small_one(void)
{
    const struct leat_net_share share = { .parts = 4, .begin = 1, .end = 2 };
    static const struct {
        const char *word;
        uint32_t begin, end;
    } cases[] = { { "torus:64,64", 1024, 2048 }, { "torus:8,8", 0, 64 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct leat_fabric_design design;
        struct leat_fabric_built built;
        OK(leat_fabric_design_read(cases[i].word, false, NULL, &design, &error));
        OK(leat_fabric_build_share(&design, &share, &built, &error));
        EQ(built.topology.held_begin, cases[i].begin);
        EQ(built.topology.held_end, cases[i].end);
        EQ(built.topology.wires, 4 * built.topology.routers);
        leat_fabric_built_free(&built);
        leat_fabric_design_free(&design);
    }
}

static void files_that_are_wrong_are_refused_at_their_line(void)
{
    static const struct {
        const char *ending, *text, *what;
        uint32_t line;
    } wrongs[] = {
        { ".edges", "0 1\n1 two\n", "'1 two', expected A B", 2 },
        { ".edges", "# nothing\n", "no edge up to the end", 1 },
        { ".yaml", "topology: mesh\nvsc: 4\n", "unknown key 'vsc'", 2 },
        { ".yaml", "topology: mesh\nsize: [8, x]\n", "size: 'x', expected a whole number", 2 },
        { ".yaml", "", "nothing in it", 1 },
        { ".yaml", "sans:\n  - {name: a, fabric: ring8, bias: x}\n", "bias: 'x'", 2 },
        { ".yaml", "sans:\n  - {name: a.b, fabric: ring8, bias: 1}\n", "name: 'a.b'", 2 },
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        if (!reads(wrongs[i].ending)) continue;
        OK(!read_text(wrongs[i].ending, wrongs[i].text));
        EQ(error.code, LEAT_FABRIC_FILE);
        EQ(error.line, wrongs[i].line);
        OK(strstr(error.text, wrongs[i].what));
    }
    OK(!leat_fabric_read("/no/such/file.edges", NULL, &error));
    EQ(error.code, LEAT_FABRIC_FILE);
    EQ(error.line, 0);
    struct leat_fabric_design design = { .file = NULL };
    OK(!leat_fabric_read_yaml("/no/such/file.yaml", NULL, &design, &error));
    OK(!leat_fabric_read_edges("/no/such/file.edges", NULL, &design, &error));
}

/* ---- PacketWay ------------------------------------------------------------------------------ */

static void sans_become_a_network_of_networks(void)
{
    if (!reads(".yaml")) return;
    struct leat_fabric *f = read_text(".yaml", "sans:\n"
                                               "  - {name: a, fabric: ring4, bias: 0x100}\n"
                                               "  - {name: b, fabric: 'mesh:2,2', bias: 0x200}\n"
                                               "routers:\n  - {name: r, at: [a.0, b.0]}\n");
    struct leat_fabric_packetway *p = f ? leat_fabric_as_packetway(f) : NULL;
    OK(p);
    if (!p) return;
    EQ(p->design.sans, 2);
    EQ(p->design.router[0].ends, 2);
    OK(leat_fabric_open(f, &(struct leat_fabric_config){ 0 }, &error));
    EQ(f->ports, 6);
    leat_fabric_close(f);
}

static void errors_of_a_san_have_its_line(void)
{
    if (!reads(".yaml")) return;
    struct leat_fabric *f = read_text(".yaml", "sans:\n  - {name: a, fabric: ring0, bias: 0}\n");
    OK(f);
    if (!f) return;
    OK(!leat_fabric_open(f, &(struct leat_fabric_config){ 0 }, &error));
    EQ(error.code, LEAT_FABRIC_FILE);
    EQ(error.line, 2);
    OK(strstr(error.text, "fabric: ring0 cannot be built: ring0: '0' stations, expected 1 to"));
    leat_fabric_close(f);
}

static void a_description_without_a_file_is_refused(void)
{
    struct leat_fabric_sans design = { .file = "/no/such/file.yaml" };
    OK(!leat_fabric_read_sans(&design, NULL, &error));
    EQ(error.code, LEAT_FABRIC_FILE);
    OK(!leat_fabric_no_yaml("x.yaml", &error));
    EQ(error.code, LEAT_FABRIC_FILE);
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool count_line(void *context, const struct leat_fabric_place *place, struct word line)
{
    (void)place;
    *(size_t *)context += line.len;
    return true;
}

static void a_file_is_bounded_and_can_be_interrupted(void)
{
    struct leat_fabric_place place = { file, 0, &error, never };
    char line[LEAT_FABRIC_LINE_LEN_MAX + 2];
    size_t len = 0;
    memset(line, '1', sizeof line);
    line[sizeof line - 1] = '\n';
    write_file("", "one # two\n\nthree", 16);
    uint8_t *octets = leat_fabric_file(&place, 16, &len);
    EQ(len, 16);
    OK(octets && memcmp(octets, "one", 3) == 0);
    free(octets);
    OK(!leat_fabric_file(&place, 15, &len));
    EQ(error.code, LEAT_FABRIC_FILE);
    len = 0;
    OK(leat_fabric_lines(&place, count_line, &len));
    EQ(len, strlen("one ") + strlen("three"));
    EQ(place.line, 3);
    place.interrupted = always;
    OK(leat_fabric_is_interrupted(&place));
    OK(!leat_fabric_lines(&place, count_line, &len));
    EQ(error.code, LEAT_FABRIC_INTERRUPTED);
    unlink(file);
    write_file("", line, sizeof line);
    place = (struct leat_fabric_place){ file, 0, &error, NULL };
    OK(!leat_fabric_lines(&place, count_line, &len));
    EQ(error.line, 1);
    unlink(file);
}

static void memory_grows_by_doubling(void)
{
    uint32_t *numbers = NULL;
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t *grown = leat_fabric_grow(numbers, i, sizeof *numbers, &error);
        OK(grown);
        if (!grown) break;
        numbers = grown;
        numbers[i] = i;
    }
    EQ(numbers[99], 99);
    free(numbers);
    uint64_t *zeroed = leat_fabric_take(2, sizeof *zeroed, &error);
    OK(zeroed && !zeroed[0] && !zeroed[1]);
    free(zeroed);
}

/* ---- pieces of names ------------------------------------------------------------------------ */

static leat_err no_x(const char *name, void *out, struct leat_text *why)
{
    *(size_t *)out = strlen(name);
    leat_text_puts(why, "expected no x");
    return strchr(name, 'x') ? LEAT_ERR_SYNTAX : LEAT_ERR_OK;
}

static void a_name_falls_into_pieces(void)
{
    const char *rest = "ring16/clock=4ns/x";
    struct word value;
    uint32_t number = 0;
    size_t len = 0;
    OK(is_word(leat_fabric_piece(&rest), "ring16"));
    const struct word clock = leat_fabric_piece(&rest);
    OK(leat_fabric_value(clock, "clock", &value) && is_word(value, "4ns"));
    OK(!leat_fabric_value(clock, "cloc", &value));
    OK(is_word(leat_fabric_piece(&rest), "x"));
    EQ(*rest, '\0');
    OK(leat_fabric_number((struct word){ "16", 2 }, 1, 16, &number) && number == 16);
    OK(!leat_fabric_number((struct word){ "17", 2 }, 1, 16, &number));
    OK(!leat_fabric_parse("a/b/xc/d", no_x, &len, &error));
    EQ(error.code, LEAT_FABRIC_NAME);
    EQ(error.offset, 4);
    EQ(error.len, 2);
    OK(strcmp(error.text, "expected no x") == 0);
    OK(leat_fabric_parse("a/b", no_x, &len, &error));
    EQ(len, 3);
}

/* ---- chance --------------------------------------------------------------------------------- */

/* A good description with some octets changed is read, or refused with a line of it. */
static void damaged_files_are_read_or_refused_with_a_line(void)
{
    static const char *const good[][2] = {
        { ".yaml", "topology: graph\nhosts: [0, 2]\nedges:\n  - {a: 0, b: 1, cycles: 2}\n"
                   "  - {a: 1, b: 2}\nrouting: table\ntable:\n  - {at: 0, to: 2, by: 1}\n" },
        { ".edges", "0 1\n1 2 3\n2 > 0 # back\n" },
        { ".yaml", "sans:\n  - {name: a, fabric: ring4, bias: 0x100, mtu: 64}\n"
                   "routers: []\nforwarding: planned\ncut_through: yes\n" },
    };
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 500; i++) {
        const char *const *one = good[i % 3];
        if (!reads(one[0])) continue;
        char text[256];
        const size_t len = strlen(one[1]);
        memcpy(text, one[1], len);
        for (int k = 0; k < 2; k++) {
            const uint64_t at = leat_random_below(&r, len);
            const uint64_t octet = leat_random_below(&r, 256);
            text[at] = (char)octet;
        }
        struct leat_fabric *f = leat_fabric_read(write_file(one[0], text, len), NULL, &error);
        unlink(file);
        if (!f) OK(error.code == LEAT_FABRIC_FILE && error.line >= 1 && error.line <= 10);
        if (f && leat_fabric_as_flits(f)) {
            struct leat_fabric_flits *n = leat_fabric_as_flits(f);
            if (!leat_fabric_build(&n->design, &n->built, &error))
                OK(error.code == LEAT_FABRIC_FILE && error.line >= 1);
        }
        leat_fabric_close(f);
    }
}

TAP_MAIN(T(edges_become_a_graph), T(yaml_becomes_what_its_name_would),
         T(what_cannot_be_built_is_refused_at_its_line),
         T(a_share_of_a_large_network_is_built_and_all_of_a_small_one),
         T(a_graph_needs_no_ending_and_no_routing),
         T(files_that_are_wrong_are_refused_at_their_line), T(sans_become_a_network_of_networks),
         T(errors_of_a_san_have_its_line), T(a_description_without_a_file_is_refused),
         T(a_file_is_bounded_and_can_be_interrupted), T(memory_grows_by_doubling),
         T(a_name_falls_into_pieces), T(damaged_files_are_read_or_refused_with_a_line))
