#include "leat_vcd.h"
#include "tap.h"
#include <leat/random.h>
#include <stdbool.h>
#include <string.h>

static char text_of[1 << 20];
static struct leat_text text;
static struct leat_vcd vcd;
static struct leat_vcd_signal signals[8192];

static void begin(size_t capacity)
{
    leat_text_init(&text, text_of, sizeof text_of, NULL, NULL);
    EQ(leat_vcd_init(&vcd, &text, "1 ns", signals, capacity), LEAT_ERR_OK);
}

static uint32_t declare(const char *path, unsigned width)
{
    uint32_t signal = 0;
    EQ(leat_vcd_declare(&vcd, path, width, &signal), LEAT_ERR_OK);
    return signal;
}

static bool reads(const char *want)
{
    const bool same = text.len == strlen(want) && memcmp(text_of, want, text.len) == 0;
    if (!same) printf("# got:\n%.*s", (int)text.len, text_of);
    return same;
}

static void a_small_dump_reads_as_the_standard_has_it(void)
{
    begin(8);
    const uint32_t c = declare("a.b[3].c", 8), d = declare("a.b[3].d", 1), e = declare("a.e", 2);
    leat_vcd_start(&vcd);
    leat_vcd_time(&vcd, 5);
    leat_vcd_set(&vcd, c, 5);
    leat_vcd_set(&vcd, d, 1);
    leat_vcd_time(&vcd, 6);
    leat_vcd_set(&vcd, c, 5); /* no change, so no line, and no time */
    leat_vcd_time(&vcd, 9);
    leat_vcd_set(&vcd, e, 0);
    leat_vcd_end(&vcd, 10);
    OK(reads("$version leat $end\n$timescale 1 ns $end\n"
             "$scope module a $end\n$scope module b[3] $end\n"
             "$var wire 8 ! c [7:0] $end\n$var wire 1 \" d $end\n"
             "$upscope $end\n$var wire 2 # e [1:0] $end\n$upscope $end\n"
             "$enddefinitions $end\n$dumpvars\nbx !\nx\"\nbx #\n$end\n"
             "#5\nb101 !\n1\"\n#9\nb0 #\n#10\n"));
}

static void modules_open_and_close_by_whole_names(void)
{
    begin(8);
    (void)declare("ab.x", 1);
    (void)declare("a.x", 1);
    (void)declare("a.b.c.x", 1);
    (void)declare("a.bc.x", 1);
    (void)declare("top", 1);
    (void)declare("a.bc", 1);
    leat_vcd_start(&vcd);
    text_of[text.len] = '\0';
    const char *head = strstr(text_of, "$scope");
    const char *want = "$scope module ab $end\n$var wire 1 ! x $end\n$upscope $end\n"
                       "$scope module a $end\n$var wire 1 \" x $end\n"
                       "$scope module b $end\n$scope module c $end\n$var wire 1 # x $end\n"
                       "$upscope $end\n$upscope $end\n"
                       "$scope module bc $end\n$var wire 1 $ x $end\n"
                       "$upscope $end\n$upscope $end\n$var wire 1 % top $end\n"
                       "$scope module a $end\n$var wire 1 & bc $end\n$upscope $end\n"
                       "$enddefinitions";
    OK(head && strncmp(head, want, strlen(want)) == 0);
}

static void what_is_no_name_width_or_timescale_is_refused_and_writes_nothing(void)
{
    static const char *const paths[] = { "",   ".",     "a.",  ".a",    "a..b",  "a b",
                                         "3a", "a[",    "a[]", "a[x]",  "a[1]b", "a-b",
                                         "$a", "a.[1]", "a\n", "a[1].", "\xc3" };
    char longest[LEAT_VCD_PATH_LEN_MAX + 2];
    uint32_t signal = 77;
    begin(1);
    const size_t len = text.len;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        EQ(leat_vcd_declare(&vcd, paths[i], 1, &signal), LEAT_ERR_SYNTAX);
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    EQ(leat_vcd_declare(&vcd, longest, 1, &signal), LEAT_ERR_LENGTH);
    EQ(leat_vcd_declare(&vcd, "a", 0, &signal), LEAT_ERR_RANGE);
    EQ(leat_vcd_declare(&vcd, "a", 65, &signal), LEAT_ERR_RANGE);
    EQ(text.len, len);
    EQ(signal, 77);
    longest[sizeof longest - 2] = '\0';
    EQ(leat_vcd_declare(&vcd, longest, 64, &signal), LEAT_ERR_OK);
    EQ(leat_vcd_declare(&vcd, "a", 1, &signal), LEAT_ERR_FULL);

    static const char *const scales[] = {
        "", "1", "2 ns", "1ns", "1000 ns", "10 nss", "1 ", "01 s"
    };
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        EQ(leat_vcd_init(&vcd, &text, scales[i], signals, 1), LEAT_ERR_SYNTAX);
    static const char *const good[] = { "1 s", "10 ms", "100 us", "1 ns", "10 ps", "100 fs" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        EQ(leat_vcd_init(&vcd, &text, good[i], signals, 1), LEAT_ERR_OK);
    EQ(leat_vcd_init(&vcd, &text, "1 s", signals, LEAT_VCD_SIGNALS_MAX + (size_t)1),
       LEAT_ERR_RANGE);
}

static void the_widest_values_keep_every_bit(void)
{
    begin(2);
    const uint32_t wide = declare("wide", 64);
    leat_vcd_start(&vcd);
    text.len = 0;
    leat_vcd_time(&vcd, UINT64_MAX - 1);
    leat_vcd_set(&vcd, wide, UINT64_MAX);
    leat_vcd_set(&vcd, wide, UINT64_C(1) << 63);
    leat_vcd_end(&vcd, UINT64_MAX);
    OK(reads("#18446744073709551614\n"
             "b1111111111111111111111111111111111111111111111111111111111111111 !\n"
             "b1000000000000000000000000000000000000000000000000000000000000000 !\n"
             "#18446744073709551615\n"));
}

/* Each signal's code is its own: a dump is read back by codes and values alone. */
static const char *line_after(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

static uint32_t code_of(const char *p)
{
    uint32_t index = 0, place = 1;
    for (; *p != '\n' && *p != ' '; p++, place *= 94)
        index += (uint32_t)(*p - '!') * place;
    return index;
}

static void a_dump_read_back_has_every_change_of_thousands_of_signals(void)
{
    enum { COUNT = 8192 + 700, CHANGES = 2000 };
    static struct leat_vcd_signal many[COUNT];
    static uint64_t want[COUNT], got[COUNT];
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 10000; round++) {
        leat_text_init(&text, text_of, sizeof text_of, NULL, NULL);
        EQ(leat_vcd_init(&vcd, &text, "1 ps", many, COUNT), LEAT_ERR_OK);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t signal;
            EQ(leat_vcd_declare(&vcd, "m.s", 1 + i % 64, &signal), LEAT_ERR_OK);
            EQ(signal, i);
        }
        leat_vcd_start(&vcd);
        OK(!text.overflowed);
        text.len = 0; /* only the changes are read back */
        memset(want, 0, sizeof want);
        memset(got, 0, sizeof got);
        for (int k = 0; k < CHANGES; k++) {
            const uint32_t i = (uint32_t)leat_random_below(&r, COUNT);
            want[i] = leat_random_next(&r) & UINT64_MAX >> (63 - i % 64) & 0xffff;
            leat_vcd_time(&vcd, (uint64_t)k / 4);
            leat_vcd_set(&vcd, i, want[i]);
        }
        OK(!text.overflowed);
        text_of[text.len] = '\0';
        for (const char *line = text_of; line && *line; line = line_after(line)) {
            if (*line == '#') continue;
            uint64_t value = 0;
            const char *p = line + (*line == 'b');
            const bool scalar = *line != 'b';
            do
                value = value << 1 | (uint64_t)(*p++ - '0');
            while (!scalar && *p != ' ');
            got[code_of(p + !scalar)] = value;
        }
        EQ(memcmp(want, got, sizeof want), 0);
    }
}

TAP_MAIN(T(a_small_dump_reads_as_the_standard_has_it), T(modules_open_and_close_by_whole_names),
         T(what_is_no_name_width_or_timescale_is_refused_and_writes_nothing),
         T(the_widest_values_keep_every_bit),
         T(a_dump_read_back_has_every_change_of_thousands_of_signals))
