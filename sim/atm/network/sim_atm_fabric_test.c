#include "sim_atm_fabric.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

/* The error of the last name that was parsed. */
static char complaint[512];

static leat_err parse(const char *name, struct leat_sim_atm_fabric *out)
{
    struct leat_text why;
    leat_text_init(&why, complaint, sizeof complaint - 1, NULL, NULL);
    const leat_err err = leat_sim_atm_fabric_parse(name, out, &why);
    complaint[why.len] = '\0';
    OK((err == LEAT_ERR_OK) == (why.len == 0));
    return err;
}

static struct leat_sim_atm_fabric read_good(const char *name)
{
    struct leat_sim_atm_fabric f = { 0 };
    EQ(parse(name, &f), LEAT_ERR_OK);
    if (complaint[0]) printf("# %s\n", complaint);
    return f;
}

static void write_name(const struct leat_sim_atm_fabric *f,
                       char name[LEAT_SIM_ATM_FABRIC_NAME_CAP + 1])
{
    struct leat_text text;
    leat_text_init(&text, name, LEAT_SIM_ATM_FABRIC_NAME_CAP, NULL, NULL);
    leat_sim_atm_fabric_name(f, &text);
    OK(!text.overflowed);
    name[text.len] = '\0';
}

static bool equal(const struct leat_sim_atm_fabric *a, const struct leat_sim_atm_fabric *b)
{
    const struct leat_atm_clos *x = &a->net, *y = &b->net;
    return x->stages == y->stages && x->e == y->e && x->m == y->m && x->r == y->r &&
           x->header_octets == y->header_octets && x->table_depth == y->table_depth &&
           a->buffer_cells == b->buffer_cells && a->period_ps_num == b->period_ps_num &&
           a->period_ps_den == b->period_ps_den;
}

static void clos444_is_the_thesis_network_with_the_thesis_values(void)
{
    const struct leat_sim_atm_fabric f = read_good("clos444");
    EQ(f.net.stages, 3);
    EQ(f.net.e, 4);
    EQ(f.net.m, 4);
    EQ(f.net.r, 4);
    EQ(f.net.ports, 16);
    EQ(f.net.header_octets, LEAT_ATM_VP_HEADER);
    EQ(f.net.table_depth, 256);
    EQ(f.buffer_cells, 8);
    EQ(f.period_ps_num, 50000);
    EQ(f.period_ps_den, 1);
    const struct leat_sim_atm_fabric same = read_good("clos:4,4,4");
    OK(equal(&f, &same));
}

static void sizes_and_parameters_are_read_in_any_order(void)
{
    const struct leat_sim_atm_fabric f = read_good("clos:3,5,7/table=300/buffer=4/clock=20MHz");
    EQ(f.net.e, 3);
    EQ(f.net.m, 5);
    EQ(f.net.r, 7);
    EQ(f.net.table_depth, 300);
    EQ(f.buffer_cells, 4);
    EQ(f.period_ps_num, 50000);
    const struct leat_sim_atm_fabric g = read_good("clos:3,5,7/clock=50ns/buffer=4/table=300");
    OK(equal(&f, &g));
    const struct leat_sim_atm_fabric vc = read_good("clos444/switching=vc");
    EQ(vc.net.header_octets, LEAT_ATM_VC_HEADER);
    const struct leat_sim_atm_fabric bmx = read_good("bmx:64/switching=auto");
    EQ(bmx.net.stages, 1);
    EQ(bmx.net.ports, 64);
    const struct leat_sim_atm_fabric vp = read_good("bmx:16/switching=vp");
    EQ(vp.net.header_octets, LEAT_ATM_VP_HEADER);
}

static void clocks_are_exact_ratios_in_lowest_terms(void)
{
    static const struct {
        const char *name;
        uint64_t num, den;
    } each[] = {
        { "bmx:2/clock=50ns", 50000, 1 },
        { "bmx:2/clock=6.4ns", 6400, 1 },
        { "bmx:2/clock=156.25MHz", 6400, 1 },
        { "bmx:2/clock=3MHz", 1000000, 3 },
        { "bmx:2/clock=0.000999ns", 0, 0 },
        { "bmx:2/clock=0.001ns", 1, 1 },
        { "bmx:2/clock=0.001500ns", 3, 2 },
        { "bmx:2/clock=1000000ns", LEAT_SIM_ATM_FABRIC_PERIOD_MAX_PS, 1 },
        { "bmx:2/clock=1000000.000001ns", 0, 0 },
        { "bmx:2/clock=0.001MHz", LEAT_SIM_ATM_FABRIC_PERIOD_MAX_PS, 1 },
        { "bmx:2/clock=1000000MHz", 1, 1 },
        { "bmx:2/clock=1000001MHz", 0, 0 },
        { "bmx:2/clock=99999999999999999999999999MHz", 0, 0 },
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct leat_sim_atm_fabric f = { 0 };
        EQ(parse(each[i].name, &f), each[i].den ? LEAT_ERR_OK : LEAT_ERR_SYNTAX);
        EQ(f.period_ps_num, each[i].num);
        EQ(f.period_ps_den, each[i].den);
    }
}

static void what_is_wrong_is_reported_with_what_was_expected(void)
{
    static const struct {
        const char *name, *complaint;
    } bad[] = {
        { "", "unknown fabric '', expected one of clos444, clos:E,M,R, bmx:K" },
        { "nosuch", "unknown fabric 'nosuch', expected one of clos444, clos:E,M,R, bmx:K" },
        { "clos4444", "unknown fabric 'clos4444', expected one of clos444, clos:E,M,R, bmx:K" },
        { "clos:4,4",
          "'4,4' is no size, expected E,M,R: three numbers, 1 to 64, as in clos:4,4,4" },
        { "clos:4,4,4,4", "'4,4,4,4' is no size, expected E,M,R: three numbers, 1 to "
                          "64, as in clos:4,4,4" },
        { "clos:4,x,4", "'4,x,4' is no size, expected E,M,R: three numbers, 1 to 64, "
                        "as in clos:4,4,4" },
        { "clos:4,4,", "'4,4,' is no size, expected E,M,R: three numbers, 1 to 64, as "
                       "in clos:4,4,4" },
        { "clos:-1,4,4", "'-1,4,4' is no size, expected E,M,R: three numbers, 1 to "
                         "64, as in clos:4,4,4" },
        { "bmx:", "'' is no size, expected K: one number, 2 to 64, as in bmx:4" },
        { "bmx:2,2", "'2,2' is no size, expected K: one number, 2 to 64, as in bmx:4" },
        { "bmx:1", "k is 1, expected 2 to 64" },
        { "bmx:17/switching=vp", "k is 17, expected 1 to 16, the fan-out of VP switching" },
        { "clos:0,4,4", "e is 0, expected 1 to 64" },
        { "clos:4,4,65", "r is 65, expected 1 to 64" },
        { "clos:4,9999999999,4", "'9999999999' is no size, expected 1 to 64" },
        { "clos:64,64,64/switching=vp", "a routing table needs 266240 VPIs, their range has 4096" },
        { "clos444/table=64", "table depth is 64, expected 256 to 4096" },
        { "clos444/table=0", "'0' is no table depth, expected 256 to 4096" },
        { "clos444/buffer=0", "'0' is no buffer, expected 1 to 64 cells" },
        { "clos444/buffer=65", "'65' is no buffer, expected 1 to 64 cells" },
        { "clos444/buffer=", "'' is no buffer, expected 1 to 64 cells" },
        { "clos444/buffer=4/buffer=4", "'buffer' is given twice, expected it once" },
        { "clos444/switching=sp", "'sp' is no switching, expected vp, vc or auto" },
        { "clos444/", "unknown parameter '/', expected one of /buffer=CELLS, /clock=PERIOD, "
                      "/switching=WHAT, /table=DEPTH" },
        { "clos444/buffer/clock=50ns",
          "unknown parameter '/buffer', expected one of /buffer=CELLS, /clock=PERIOD, "
          "/switching=WHAT, /table=DEPTH" },
        { "clos444/clock=50", "'50' is no clock, expected 0.001 to 1000000 with "
                              "up to 6 decimals, and ns or MHz, as in 50ns or 20MHz" },
        { "clos444/clock=0ns", "'0ns' is no clock, expected 0.001 to 1000000 "
                               "with up to 6 decimals, and ns or MHz, as in 50ns or 20MHz" },
        { "clos444/clock=5.ns", "'5.ns' is no clock, expected 0.001 to 1000000 "
                                "with up to 6 decimals, and ns or MHz, as in 50ns or 20MHz" },
        { "clos444/clock=1.1234567ns", "'1.1234567ns' is no clock, expected 0.001 to 1000000 with "
                                       "up to 6 decimals, and ns or MHz, as in 50ns or 20MHz" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct leat_sim_atm_fabric f = { .buffer_cells = 77 };
        OK(parse(bad[i].name, &f) != LEAT_ERR_OK);
        EQ(f.buffer_cells, 77);
        if (strcmp(complaint, bad[i].complaint) != 0) printf("# got: %s\n", complaint);
        EQ(strcmp(complaint, bad[i].complaint), 0);
    }
}

static void a_name_is_the_shortest_that_says_the_same(void)
{
    static const char *const each[][2] = {
        { "clos444", "clos444" },
        { "clos:4,4,4/buffer=8/clock=20MHz/switching=vp/table=256", "clos444" },
        { "clos:0x8,8,8/switching=auto", "clos:8,8,8" },
        { "clos444/switching=vc/buffer=64", "clos444/buffer=64/switching=vc" },
        { "clos:64,64,64/switching=vc", "clos:64,64,64" },
        { "bmx:4/table=4096", "bmx:4/table=4096" },
        { "bmx:4/clock=3.0MHz", "bmx:4/clock=3MHz" },
        { "bmx:4/clock=12.5MHz", "bmx:4/clock=80ns" },
        { "bmx:4/clock=6.40ns", "bmx:4/clock=6.4ns" },
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const struct leat_sim_atm_fabric f = read_good(each[i][0]);
        char name[LEAT_SIM_ATM_FABRIC_NAME_CAP + 1];
        write_name(&f, name);
        if (strcmp(name, each[i][1]) != 0) printf("# got: %s\n", name);
        EQ(strcmp(name, each[i][1]), 0);
    }
}

/* A name that follows the rules, though its numbers may be outside the limits. */
static void random_sentence(struct leat_random *random, char *word, size_t cap)
{
    static const char *const switching[] = { "auto", "vp", "vc" };
    const unsigned bits = (unsigned)leat_random_next(random);
    const unsigned whole = (unsigned)leat_random_below(random, 1000),
                   millionths = (unsigned)leat_random_below(random, 1000000);
    snprintf(word, cap, "clos:%u,%u,%u/buffer=%u/clock=%u.%06u%s/switching=%s", bits % 20,
             bits / 32 % 20, bits / 1024 % 20, bits / 4096 % 70, whole, millionths,
             bits & 1u ? "ns" : "MHz", switching[leat_random_below(random, 3)]);
}

static void random_word(struct leat_random *random, char *word, size_t cap)
{
    static const char *const pieces[] = { "clos444", "clos:",  "bmx:",    ",",           "/",
                                          "=",       "buffer", "clock",   "table",       "ns",
                                          "MHz",     ".",      "vp",      "/switching=", "vc",
                                          "0",       "1",      "7",       "16",          "64",
                                          "300",     "4096",   "/clock=", "/buffer=" };
    size_t len = 0;
    for (uint64_t n = 1 + leat_random_below(random, 12); n > 0; n--) {
        const char *piece = pieces[leat_random_below(random, sizeof pieces / sizeof *pieces)];
        if (len + strlen(piece) + 1 > cap) break;
        memcpy(word + len, piece, strlen(piece));
        len += strlen(piece);
    }
    word[len] = '\0';
}

static void random_names_are_refused_or_come_back_equal(void)
{
    struct leat_random random;
    int good = 0, wrong = 0;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS; round++) {
        char word[128], name[LEAT_SIM_ATM_FABRIC_NAME_CAP + 1];
        struct leat_sim_atm_fabric f = { 0 }, again = { 0 };
        (round % 2 ? random_word : random_sentence)(&random, word, sizeof word);
        if (parse(word, &f)) continue;
        good++;
        write_name(&f, name);
        wrong += parse(name, &again) != LEAT_ERR_OK || !equal(&f, &again);
        wrong += f.buffer_cells < 1 || f.buffer_cells > LEAT_SIM_ATM_FABRIC_BUFFER_MAX;
        wrong += f.period_ps_den < 1 || f.period_ps_num < f.period_ps_den;
    }
    OK(good > LEAT_ROUNDS / 4);
    EQ(wrong, 0);
}

/* "E,M,R" and the like stand for numbers; with 4 for each, every fabric of the list exists. */
static void every_spelling_of_the_list_is_read(void)
{
    static const char *const values[] = { "CELLS", "4",   "PERIOD", "50ns",  "WHAT", "vp",
                                          "DEPTH", "300", "E,M,R",  "4,4,4", "K",    "4" };
    const struct leat_sim_atm_fabric_spelling *each;
    size_t count = 0;
    for (; (each = leat_sim_atm_fabric_list(count)); count++) {
        char name[64];
        struct leat_sim_atm_fabric f = { 0 };
        snprintf(name, sizeof name, "%s%s", each->name[0] == '/' ? "clos444" : "", each->name);
        for (size_t i = 0; i < sizeof values / sizeof *values; i += 2) {
            char *at = strstr(name, values[i]);
            if (at) memcpy(at, values[i + 1], strlen(values[i + 1]) + 1);
        }
        EQ(parse(name, &f), LEAT_ERR_OK);
        OK(each->text[0] != '\0');
    }
    EQ(count, 7);
}

static void a_unit_fits_its_fabric(void)
{
    struct leat_sim_atm_fabric fabric;
    struct leat_atm_aal_config wanted, unit;
    struct leat_text why = LEAT_TEXT(200);
    leat_atm_aal_config_default(&wanted, 0, 1, 1);
    wanted.send_blocks = 7;
    EQ(leat_sim_atm_fabric_parse("clos:3,5,2/switching=vc", &fabric, &why), LEAT_ERR_OK);
    unit = leat_sim_atm_fabric_unit(&fabric, &wanted, 4);
    EQ(unit.port, 4);
    EQ(unit.ports, 6);
    EQ(unit.paths, 5);
    EQ(unit.header_octets, 4);
    EQ(unit.send_blocks, 7);
    EQ(leat_atm_aal_config_check(&unit), LEAT_ERR_OK);
}

TAP_MAIN(T(a_unit_fits_its_fabric), T(clos444_is_the_thesis_network_with_the_thesis_values),
         T(sizes_and_parameters_are_read_in_any_order), T(clocks_are_exact_ratios_in_lowest_terms),
         T(what_is_wrong_is_reported_with_what_was_expected),
         T(a_name_is_the_shortest_that_says_the_same),
         T(random_names_are_refused_or_come_back_equal), T(every_spelling_of_the_list_is_read))
