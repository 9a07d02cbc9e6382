/* Values and spans of a recording as waveforms. */
#include "sim_export_test.h"
#include "sim_export_vcd.h"

static struct leat_sim_export_vcd x;

static void export(const struct leat_sim_event *e, void *user)
{
    (void)user;
    leat_sim_export_vcd_event(&x, e);
}

static const char *export_all(void)
{
    export_from_the_beginning();
    leat_sim_export_vcd_init(&x, &reading, &exported_text);
    EQ(read_recorded(export, NULL), LEAT_ERR_OK);
    return exported_string();
}

static void the_sample_has_these_waveforms(void)
{
    static const char wanted[] =
        "$version leat $end\n"
        "$timescale 1 ps $end\n"
        "$scope module net $end\n"
        "$scope module bmx[0] $end\n"
        "$var wire 16 ! port_1 [15:0] $end\n"
        "$var wire 16 \" _2 [15:0] $end\n"
        "$var wire 9 # size [8:0] $end\n"
        "$upscope $end\n"
        "$upscope $end\n"
        "$var wire 64 $ total [63:0] $end\n"
        "$enddefinitions $end\n"
        "$dumpvars\n"
        "bx !\n"
        "bx \"\n"
        "bx #\n"
        "bx $\n"
        "$end\n"
        "#0\n"
        "b0 !\n"
        "b0 \"\n"
        "b1 !\n"
        "#3333\n"
        "b10 !\n"
        "b111111111 #\n"
        "#1016666\n"
        "b1 !\n"
        "#2000000\n"
        "b1111111111111111111111111111111111111111111111111111111111111111 $\n"
        "#3000000\n";
    record_sample();
    is_text(export_all(), wanted);
}

static void names_become_such_as_waveforms_allow(void)
{
    static const struct {
        const char *name, *wanted;
    } names[] = { { "plain", " plain" }, { "mem[3][0]", " mem[3][0]" },
                  { "3", " _3" },        { "a b-c", " a_b_c" },
                  { "[3]", " _[3]" },    { "x[3", " x_3" },
                  { "x[]", " x__" },     { "x[3]y", " x_3_y" },
                  { "$t$", " _t$" },     { "...", " _" },
                  { "_", " _" },         { "]", " _" },
                  { "a.b", " b" },       { "x[a]", " x_a_" },
                  { "~", " _" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char wanted[100];
        record_from_the_beginning();
        leat_sim_recorder_signal(&recorder, 0, 0, 1, names[i].name);
        leat_sim_recorder_close(&recorder, 1);
        snprintf(wanted, sizeof wanted, "$var wire 1 !%s $end", names[i].wanted);
        const char *text = export_all();
        OK(strstr(text, wanted) != NULL);
        if (!strstr(text, wanted)) printf("# %s:\n%s", names[i].name, text);
    }
}

static void the_longest_path_can_be_declared(void)
{
    char dots[LEAT_SIM_PATH_LEN_MAX + 1];
    memset(dots, '.', sizeof dots - 1);
    dots[sizeof dots - 1] = '\0';
    record_from_the_beginning();
    leat_sim_recorder_signal(&recorder, 0, 0, 1, dots);
    leat_sim_recorder_close(&recorder, 1);
    const char *text = export_all();
    size_t modules = 0;
    for (const char *p = text; (p = strstr(p, "$scope")); p++)
        modules++;
    EQ(modules, LEAT_SIM_PATH_LEN_MAX);
}

TAP_MAIN(T(the_sample_has_these_waveforms), T(names_become_such_as_waveforms_allow),
         T(the_longest_path_can_be_declared))
