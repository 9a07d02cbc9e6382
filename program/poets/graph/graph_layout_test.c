#include "graph_layout.h"
#include "graph_parts.h"
#include "graph_strings.h"
#include "tap.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct leat_poets_layout layout;
static struct leat_poets_layout_fault fault;

static bool parse(const char *text, bool cpp, bool packed)
{
    leat_poets_layout_free(&layout);
    return leat_poets_layout_parse(text, cpp, packed, &layout, &fault);
}

/* The compiler of this test lays out the same declarations: an independent reference. */
struct natural {
    uint8_t a;
    double b;
    uint16_t c[3];
    struct {
        int8_t d;
        int32_t e;
    } f[2];
    bool g;
};

static void places_are_those_of_a_compiler(void)
{
    OK(parse("uint8_t a; double b; uint16_t c[3]; struct { int8_t d; int32_t e; } f[2]; bool g;",
             true, false));
    EQ(layout.size, sizeof(struct natural));
    EQ(layout.align, _Alignof(struct natural));
    EQ(layout.node[1].offset, offsetof(struct natural, b));
    EQ(layout.node[2].offset, offsetof(struct natural, c));
    EQ(layout.node[3].offset, offsetof(struct natural, f));
    EQ(layout.node[5].offset, offsetof(struct natural, f[0].e) - offsetof(struct natural, f));
    EQ(layout.node[6].offset, offsetof(struct natural, g));
    OK(parse("uint8_t a; double b; struct { int8_t d; int32_t e; } f[2]; uint16_t c[3];", false,
             true));
    EQ(layout.size, 1 + 8 + 10 + 6);
    EQ(layout.node[1].offset, 1);
    EQ(layout.node[2].offset, 9);
}

static void empty_structs_have_an_octet_as_in_cpp(void)
{
    OK(parse(" // nothing\n /* at all */", false, true));
    EQ(layout.count, 0);
    EQ(layout.size, 1);
}

static void values_go_where_a_compiler_puts_them(void)
{
    static const struct natural want = { .a = 7, .b = -2.5, .c = { 1, 2 }, .f = { { -3, 70000 } } };
    struct natural got;
    OK(parse("uint8_t a; double b; uint16_t c[3]; struct { int8_t d; int32_t e; } f[2]; bool g;",
             true, false));
    memset(&got, 0, sizeof got);
    OK(leat_poets_layout_assign(&layout, "{7, -2.5f, {1u, 0x2}, {{-3, 70000L}}, false}", true,
                                (uint8_t *)&got, &fault));
    OK(got.a == want.a && got.b == want.b && memcmp(got.c, want.c, sizeof got.c) == 0);
    OK(got.f[0].d == -3 && got.f[0].e == 70000 && got.f[1].e == 0 && !got.g);
    memset(&got, 0, sizeof got);
    OK(leat_poets_layout_assign_json(&layout, "\"f\":{\"1\":{\"e\":5}}, \"b\":1e3,\"c\":[4,5,6]",
                                     (uint8_t *)&got, &fault));
    OK(got.f[1].e == 5 && got.f[0].e == 0 && got.b == 1000 && got.c[2] == 6 && got.a == 0);
}

static void outer_braces_are_optional_for_the_orchestrator_only(void)
{
    uint8_t octets[8] = { 0 };
    OK(parse("uint8_t a; uint8_t b;", true, true));
    OK(leat_poets_layout_assign(&layout, "5", true, octets, &fault) && octets[0] == 5);
    OK(leat_poets_layout_assign(&layout, "6, 7", true, octets, &fault) && octets[1] == 7);
    OK(!leat_poets_layout_assign(&layout, "5", false, octets, &fault));
    OK(strstr(fault.why, "'{'") != NULL);
}

static void defaults_are_octets(void)
{
    OK(parse("uint32_t a = 5, b; float t[4] = {0.5f}; bool c{true};", true, false));
    EQ(layout.initial[0], 5);
    EQ(layout.initial[4], 0);
    float half;
    memcpy(&half, layout.initial + 8, sizeof half);
    OK(half == 0.5f);
    EQ(layout.initial[8 + 16], 1);
}

static void what_needs_a_compiler_is_refused(void)
{
    static const char *const cpp[] = { "std::vector<int> v;",
                                       "uint8_t a = sizeof(int);",
                                       "#ifdef X\nint a;\n#endif",
                                       "int *p;",
                                       "uint32_t a = N;",
                                       "long x;",
                                       "int f();" };
    for (size_t i = 0; i < sizeof cpp / sizeof *cpp; i++)
        OK(!parse(cpp[i], true, false) && layout.count == 0);
    OK(!parse("uint32_t a = 5;", false, true));
    OK(!parse("int a;", false, true));
    OK(!parse("uint32_t a, b;", false, true));
}

static void faults_name_the_line_and_what_was_expected(void)
{
    OK(!parse("uint32_t a;\n\n /* \n */ uint32 b;", false, true));
    EQ(fault.line, 3);
    OK(strstr(fault.why, "'uint32 b;', expected a type") == fault.why);
    OK(!parse("uint32_t a; uint8_t a;", false, true) && strstr(fault.why, "two members 'a'"));
    OK(!parse("uint32_t a", false, true) && strstr(fault.why, "';'"));
    OK(!parse("uint8_t a[0];", false, true));
    OK(!parse("uint8_t a[16777217];", false, true) && strstr(fault.why, "too large"));
    OK(!parse("struct { uint8_t a; ", false, true));
    OK(!parse("uint8_t a; /* no end", false, true));
}

static void numbers_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *type, *value;
        bool good;
    } cases[] = { { "uint8_t", "{255}", true },
                  { "uint8_t", "{256}", false },
                  { "uint8_t", "{-1}", false },
                  { "int8_t", "{-128}", true },
                  { "int8_t", "{-129}", false },
                  { "int8_t", "{128}", false },
                  { "uint64_t", "{18446744073709551615}", true },
                  { "uint64_t", "{18446744073709551616}", false },
                  { "int64_t", "{-9223372036854775808}", true },
                  { "int64_t", "{9223372036854775808}", false },
                  { "uint32_t", "{0.5}", false },
                  { "uint32_t", "{4.0}", true },
                  { "float", "{1e39}", false },
                  { "float", "{3}", true },
                  { "double", "{1e308}", true },
                  { "double", "{1e309}", false },
                  { "uint32_t", "{1, 2}", false },
                  { "uint32_t", "{{1}}", false },
                  { "uint32_t", "{1} 2", false },
                  { "uint32_t", "{}", true },
                  { "uint32_t", "{x}", false },
                  { "uint32_t", "{1", false },
                  { "uint32_t", "{1,}", true },
                  { "float", "{-.5e-3}", true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        uint8_t octets[8];
        snprintf(text, sizeof text, "%s a;", cases[i].type);
        OK(parse(text, false, true));
        EQ(leat_poets_layout_assign(&layout, cases[i].value, false, octets, &fault), cases[i].good);
        if (!cases[i].good) OK(strstr(fault.why, "expected"));
    }
}

static void json_refuses_what_is_not_there(void)
{
    uint8_t octets[16];
    OK(parse("uint32_t a; uint8_t b[2];", false, true));
    static const char *const bad[] = { "\"c\":1",           "\"a\"",         "a:1",
                                       "\"a\":1 \"b\":[1]", "\"b\":[1,2,3]", "\"b\":{\"2\":1}",
                                       "\"a\":[1]",         "\"a\":1}" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!leat_poets_layout_assign_json(&layout, bad[i], octets, &fault));
    OK(leat_poets_layout_assign_json(&layout, " ", octets, &fault));
    OK(leat_poets_layout_assign_json(&layout, "{\"a\":1}", octets, &fault));
}

static void random_floats_are_read_as_strtod_reads_them(void)
{
    uint64_t seed = tap_seed();
    OK(parse("float a; double b;", false, true));
    for (int i = 0; i < LEAT_ROUNDS / 100; i++) {
        char text[80];
        uint8_t octets[12];
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const double value = ldexp((double)(int32_t)(seed >> 32), (int)(seed >> 20 & 63) - 40);
        snprintf(text, sizeof text, "{%.9g, %.17g}", value, value);
        OK(leat_poets_layout_assign(&layout, text, false, octets, &fault));
        float f;
        double d;
        memcpy(&f, octets, sizeof f);
        memcpy(&d, octets + 4, sizeof d);
        /* As in C++: a literal is a double, then converted to float. */
        OK(f == (float)strtod(text + 1, NULL) && d == value);
    }
    leat_poets_layout_free(&layout);
}

static void strings_have_one_number_each(void)
{
    struct leat_graph_strings s = { 0 };
    char text[16];
    EQ(leat_graph_strings_find(&s, "a", 1), 0);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            const int len = snprintf(text, sizeof text, "n%u", i);
            EQ(leat_graph_strings_add(&s, text, (size_t)len), i + 1);
        }
    EQ(leat_graph_strings_find(&s, "n4999", 5), 5000);
    EQ(leat_graph_strings_find(&s, "n4999", 4), 500);
    EQ(leat_graph_strings_find(&s, "n5000", 5), 0);
    OK(strcmp(leat_graph_string(&s, 43), "n42") == 0);
    leat_graph_strings_free(&s);
}

static void lists_end_at_their_limit(void)
{
    enum { LIMIT = 10 }; /* between two sizes of the list */
    void *list = NULL;
    uint32_t cap = 0, count = 0;
    while (count <= LIMIT && leat_graph_grow(&list, count, &cap, 4, LIMIT))
        count++;
    EQ(count, LIMIT);
    free(list);
}

TAP_MAIN(T(places_are_those_of_a_compiler), T(empty_structs_have_an_octet_as_in_cpp),
         T(values_go_where_a_compiler_puts_them),
         T(outer_braces_are_optional_for_the_orchestrator_only), T(defaults_are_octets),
         T(what_needs_a_compiler_is_refused), T(faults_name_the_line_and_what_was_expected),
         T(numbers_that_do_not_fit_are_refused), T(json_refuses_what_is_not_there),
         T(random_floats_are_read_as_strtod_reads_them), T(strings_have_one_number_each),
         T(lists_end_at_their_limit))
