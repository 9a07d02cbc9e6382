#include "net_plan.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

static char line[1024];

static leat_err parse(const char *name, struct leat_net_plan *out)
{
    struct leat_text why;
    leat_text_init(&why, line, sizeof line - 1, NULL, NULL);
    const leat_err err = leat_net_plan_parse(name, out, &why);
    line[why.len] = '\0';
    return err;
}

static const char *name_of(const struct leat_net_plan *plan)
{
    static char name[LEAT_NET_PLAN_NAME_CAP + 1];
    struct leat_text text;
    leat_text_init(&text, name, LEAT_NET_PLAN_NAME_CAP, NULL, NULL);
    leat_net_plan_name(plan, &text);
    OK(!text.overflowed);
    name[text.len] = '\0';
    return name;
}

static void a_plain_name_has_the_defaults(void)
{
    struct leat_net_plan p;
    OK(!parse("mesh:8,8", &p));
    EQ(p.shape.kind, LEAT_NET_MESH);
    EQ(p.shape.numbers, 2);
    EQ(p.shape.number[0], 8);
    EQ(p.shape.number[1], 8);
    EQ(p.shape.terminals, 1);
    EQ(p.shape.wire_cycles, 1);
    EQ(p.net.architecture, LEAT_NET_SWITCH_VC);
    EQ(p.net.channels, 4);
    EQ(p.routing.channels, 4);
    EQ(p.net.buffer_flits, 8);
    EQ(p.net.pipeline, 3);
    EQ(p.net.credit_cycles, 1);
    EQ(p.routing.rule, LEAT_NET_DOR);
    EQ(p.esp.cycles, 0);
    EQ(p.clock.num, LEAT_NET_PLAN_PERIOD_DEFAULT_PS);
    OK(!p.net.drop);
}

static void a_switch_brings_its_own_defaults_wherever_it_stands(void)
{
    struct leat_net_plan p;
    OK(!parse("crossbar:16/switch=voq/iterations=4", &p));
    EQ(p.net.channels, 1);
    EQ(p.net.buffer_flits, 64);
    EQ(p.net.iterations, 4);
    OK(!parse("crossbar:16/buffer=5/switch=output", &p));
    EQ(p.net.buffer_flits, 5);
}

static void names_have_several_spellings_and_one_that_is_written(void)
{
    static const char *const same[][2] = {
        { "mesh8x8", "mesh:8,8" },
        { "mesh:8x8", "mesh:8,8" },
        { "torus32x32/vcs=2", "torus:32,32/vcs=2" },
        { "hypercube6", "hypercube:6" },
        { "mesh:4,4/vcs=4/buffer=8/pipeline=3/clock=1ns/switch=vc/routing=dor", "mesh:4,4" },
        { "ring:8/full=drop/clock=500MHz", "ring:8/full=drop/clock=2ns" },
        { "clos:4,4,4/switch=voq", "clos:4,4,4/switch=voq" },
        { "clos:4,4,4/switch=vc", "clos:4,4,4/switch=vc" },
        { "torus:4,4/esp=7", "torus:4,4/esp=7" },
        { "fattree4x2/esp", "fattree:4,2/esp=20" },
        { "mesh:4,4/esp/vcs=2", "mesh:4,4/vcs=2/esp=20" },
        { "mesh:8,8/board-wire=9/board=4", "mesh:8,8/board=4/board-wire=9" },
        { "tinsel", "mesh:4,4/vcs=2/board=4/board-wire=100/pipeline=2/clock=240MHz" },
        { "tinsel:3x2/vcs=4/clock=1ns", "mesh:12,8/board=4/board-wire=100/pipeline=2" },
        { "tinsel:2,2/board=3/board-wire=1/vcs=4/pipeline=3/clock=1ns", "mesh:6,6/board=3" },
        { "mesh:4,4/flow=cut-through/routing=adaptive/terminals=2/wire=3/credit=2",
          "mesh:4,4/terminals=2/wire=3/credit=2/flow=cut-through/routing=adaptive" },
    };
    struct leat_net_plan p;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        OK(leat_net_plan_is(same[i][0]));
        OK(!parse(same[i][0], &p));
        OK(strcmp(name_of(&p), same[i][1]) == 0);
    }
}

static void names_of_atm_fabrics_and_files_are_none(void)
{
    static const char *const others[] = { "clos444", "clos:4,4,4", "clos:4,4,4/buffer=2",
                                          "bmx:8",   "",           "graph",
                                          "graph:3", "x.yaml",     "Mesh:4" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        OK(!leat_net_plan_is(others[i]));
    OK(leat_net_plan_is("mesh"));
    OK(leat_net_plan_is("clos:1/switch=nonsense"));
}

static void what_is_wrong_is_said_and_nothing_is_changed(void)
{
    static const struct {
        const char *name, *say;
    } wrong[] = {
        { "mesh", "'' is no size, expected" },
        { "mesh:", "is no size, expected" },
        { "mesh:8,", "'8,' is no size" },
        { "mesh:8,-1", "is no size" },
        { "mesh:0,8", "K1 is 0, expected 1 to " },
        { "mesh:1,2,3,4,5,6,7,8,9", "up to 8 numbers" },
        { "mesh:99999999999,2", "expected" },
        { "benes:12", "power of two" },
        { "mesh:8,8/vcs=0", "'0' is out of range, expected 1 to 32" },
        { "mesh:8,8/vcs=33", "expected 1 to 32" },
        { "mesh:8,8/vcs", "'vcs' is no parameter, expected one of /switch=WHAT" },
        { "mesh:8,8/", "'' is no parameter" },
        { "mesh:8,8/vcs=2/vcs=2", "'vcs' is given twice" },
        { "mesh:8,8/esp=0", "'0' is out of range, expected 1 to 1048576 cycles" },
        { "mesh:8,8/esp=1048577", "'1048577' is out of range, expected 1 to 1048576" },
        { "mesh:8,8/esp=x", "'x' is no number, expected 1 to 1048576 cycles" },
        { "mesh:8,8/esp=", "'' is no number, expected 1 to 1048576 cycles" },
        { "mesh:8,8/esp/esp=20", "'esp' is given twice" },
        { "mesh:8,8/switch=vc/switch=vc", "'switch' is given twice" },
        { "mesh:8,8/colour=red", "'colour=red' is no parameter" },
        { "mesh:8,8/switch=none", "expected vc, fifo, voq, output, shared, xpq or batcher" },
        { "mesh:8,8/full=maybe", "expected wait or drop" },
        { "mesh:8,8/flow=slow", "expected wormhole, cut-through or store-and-forward" },
        { "mesh:8,8/routing=left", "expected dor, tag" },
        { "mesh:8,8/clock=fast", "is no clock" },
        { "mesh:8,8/buffer=65536", "expected 1 to 65535" },
        { "mesh:8,8/board=0", "'0' is out of range, expected 1 to " },
        { "mesh:8,8/board=4/board-wire=1001", "expected 1 to 1000 cycles" },
        { "hypercube:4/board=2", "boards, expected none" },
        { "tinsel:3", "'3' is no number of boards, expected X,Y" },
        { "tinsel:1,2,3", "expected X,Y" },
        { "tinsel:0,1", "K1 is 0, expected 1 to " },
        { "tinsel:4000000000,1", "expected" },
        { "tinsel/boards=2", "'boards=2' is no parameter" },
    };
    struct leat_net_plan p = { .shape = { .kind = LEAT_NET_FLY } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        OK(parse(wrong[i].name, &p));
        const bool reported = strstr(line, wrong[i].say) != NULL;
        if (!reported) printf("# %s: %s\n", wrong[i].name, line);
        OK(reported);
    }
    EQ(p.shape.kind, LEAT_NET_FLY);
}

static void every_kind_and_every_parameter_is_listed(void)
{
    size_t listed = 0, kinds = 0;
    for (const struct leat_net_plan_spelling *s; (s = leat_net_plan_list(listed)); listed++)
        OK(s->name[0] && s->text[0]);
    for (uint32_t k = 0; k < LEAT_NET_GRAPH; k++) {
        const char *kind = leat_net_kind_name((enum leat_net_kind)k);
        for (size_t i = 0; i < listed; i++) {
            const char *name = leat_net_plan_list(i)->name;
            kinds += strncmp(name, kind, strlen(kind)) == 0 && name[strlen(kind)] == ':';
        }
    }
    EQ(kinds, LEAT_NET_GRAPH);
}

/* A random plan of a mesh, by single parameters. */
static void draw(struct leat_random *r, struct leat_net_plan *p)
{
    static const char *const values[][2] = {
        { "switch", "fifo" },    { "switch", "vc" },        { "switch", "xpq" },
        { "vcs", "7" },          { "buffer", "3" },         { "flow", "store-and-forward" },
        { "full", "drop" },      { "routing", "valiant" },  { "terminals", "5" },
        { "wire", "9" },         { "pipeline", "1" },       { "credit", "4" },
        { "board", "2" },        { "board-wire", "5" },     { "board", "3" },
        { "iterations", "2" },   { "clock", "312.5MHz" },   { "clock", "0.75ns" },
        { "routing", "updown" }, { "flow", "cut-through" }, { "full", "wait" },
        { "esp", "33" },
    };
    struct leat_text why;
    leat_net_plan_default(LEAT_NET_MESH, false, p);
    p->shape.numbers = 1 + (uint32_t)leat_random_below(r, 3);
    for (uint32_t i = 0; i < p->shape.numbers; i++)
        p->shape.number[i] = 2 + (uint32_t)leat_random_below(r, 5);
    for (int i = 0; i < 6; i++) {
        const char *const *v = values[leat_random_below(r, sizeof values / sizeof *values)];
        leat_text_init(&why, line, sizeof line - 1, NULL, NULL);
        OK(!leat_net_plan_set(p, v[0], strlen(v[0]), v[1], strlen(v[1]), &why));
    }
}

static void a_name_that_is_written_reads_as_the_same_plan(void)
{
    struct leat_random r;
    struct leat_net_plan p, again;
    int bad = 0;
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < 1000; i++) {
        draw(&r, &p);
        char name[LEAT_NET_PLAN_NAME_CAP + 1];
        strcpy(name, name_of(&p));
        bad += parse(name, &again) != LEAT_ERR_OK;
        bad += p.net.architecture != again.net.architecture || p.net.flow != again.net.flow ||
               p.net.drop != again.net.drop || p.net.channels != again.net.channels ||
               p.net.buffer_flits != again.net.buffer_flits ||
               p.net.pipeline != again.net.pipeline ||
               p.net.credit_cycles != again.net.credit_cycles ||
               p.net.iterations != again.net.iterations;
        bad += p.shape.terminals != again.shape.terminals ||
               p.shape.wire_cycles != again.shape.wire_cycles ||
               p.shape.board != again.shape.board ||
               p.shape.board_cycles != again.shape.board_cycles ||
               p.routing.rule != again.routing.rule ||
               p.routing.channels != again.routing.channels || p.clock.num != again.clock.num ||
               p.clock.den != again.clock.den || p.esp.cycles != again.esp.cycles;
        bad += strcmp(name, name_of(&again)) != 0;
    }
    EQ(bad, 0);
}

static void parameters_alone_are_read_into_a_plan(void)
{
    struct leat_net_plan p;
    struct leat_text why;
    leat_net_plan_default(LEAT_NET_GRAPH, false, &p);
    leat_text_init(&why, line, sizeof line - 1, NULL, NULL);
    OK(!leat_net_plan_parameters("", &p, &why));
    OK(!leat_net_plan_parameters("/vcs=2/routing=table", &p, &why));
    EQ(p.net.channels, 2);
    EQ(p.routing.channels, 2);
    EQ(p.routing.rule, LEAT_NET_TABLE);
    OK(strcmp(name_of(&p), "graph/vcs=2/routing=table") == 0);
    OK(leat_net_plan_parameters("/vcs=3/nothing=1", &p, &why));
    EQ(p.net.channels, 2);
}

static void numbers_are_told_with_their_defaults(void)
{
    struct leat_net_plan p;
    uint32_t number = 0;
    OK(!parse("torus:4,4/buffer=16", &p));
    OK(leat_net_plan_number(&p, "buffer", &number));
    EQ(number, 16);
    OK(leat_net_plan_number(&p, "vcs", &number));
    EQ(number, 4);
    OK(!leat_net_plan_number(&p, "routing", &number) && !leat_net_plan_number(&p, "buf", &number));
    EQ(number, 4);
}

static void cells_have_other_defaults_and_a_word_of_their_own(void)
{
    struct leat_text why;
    struct leat_net_plan p;
    leat_text_init(&why, line, sizeof line - 1, NULL, NULL);
    OK(!leat_net_plan_parse_cells("torus:4,4/cells", &p, &why));
    OK(p.has_cells && !p.net.drop);
    EQ(p.net.channels, 0); /* the fewest that cannot deadlock */
    EQ(p.net.pipeline, 1);
    EQ(p.clock.num, LEAT_NET_PLAN_CELLS_PERIOD_DEFAULT_PS);
    OK(strcmp(name_of(&p), "torus:4,4/cells") == 0);
    OK(!leat_net_plan_parse_cells("crossbar:4/switch=shared/cells", &p, &why));
    OK(p.net.drop);
    EQ(p.net.channels, 1);
    OK(!leat_net_plan_parse_cells("crossbar:4/full=wait/cells/switch=shared", &p, &why));
    OK(!p.net.drop);
    OK(strcmp(name_of(&p), "crossbar:4/cells/switch=shared/full=wait") == 0);
    OK(leat_net_plan_parse_cells("ring:4/cells/cells", &p, &why));
    OK(parse("torus:4,4/cells", &p)); /* of flits there is none */
    OK(strstr(line, "'cells' is no parameter"));
}

TAP_MAIN(T(a_plain_name_has_the_defaults), T(a_switch_brings_its_own_defaults_wherever_it_stands),
         T(names_have_several_spellings_and_one_that_is_written),
         T(names_of_atm_fabrics_and_files_are_none),
         T(what_is_wrong_is_said_and_nothing_is_changed),
         T(every_kind_and_every_parameter_is_listed),
         T(a_name_that_is_written_reads_as_the_same_plan), T(parameters_alone_are_read_into_a_plan),
         T(numbers_are_told_with_their_defaults),
         T(cells_have_other_defaults_and_a_word_of_their_own))
