/* Which numbers a line was run with, and which lines are rows of one surface. */
#include "report_axes.h"
#include "tap.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct axes one, other;

static bool match(const char *fabric, const char *options, const char *fabric_2,
                  const char *options_2)
{
    axes_read(fabric, options, &one);
    axes_read(fabric_2, options_2, &other);
    const bool same = axes_match(&one, &other);
    OK(same == axes_match(&other, &one));
    return same;
}

static void numbers_of_names_and_options_are_axes_and_the_rest_is_the_stem(void)
{
    axes_read("mesh:8,8/buffer=4/routing=dor", "--flits 2 --unsafe --fault link:0-1", &one);
    OK(strcmp(one.stem, "mesh:8,8/routing=dor --unsafe --fault link:0-1") == 0);
    EQ(one.count, 2);
    OK(axes_value(&one, "buffer") == 4 && axes_value(&one, "--flits") == 2);
    axes_read("ring16/propagation=5/clock=4MHz", "--loss 0.25 --cycles 1e4", &one);
    OK(strcmp(one.stem, "ring16/clock=4MHz") == 0);
    OK(axes_value(&one, "propagation") == 5 && axes_value(&one, "--loss") == 0.25 &&
       axes_value(&one, "--cycles") == 10000);
}

static void what_is_not_given_has_its_default(void)
{
    axes_read("crossbar:4/switch=voq", "", &one);
    OK(axes_value(&one, "buffer") == 64 && axes_value(&one, "--flits") == 1);
    OK(isnan(axes_value(&one, "--cycles")) && isnan(axes_value(&one, "nonsense")));
    axes_read("bmx:4", "", &one);
    OK(isnan(axes_value(&one, "buffer")));
}

static void lines_match_that_differ_in_numbers_only(void)
{
    OK(match("mesh:8,8", "", "mesh:8,8/buffer=4", ""));
    OK(match("mesh:8,8/vcs=2", "--flits 4", "mesh:8,8/buffer=4", ""));
    OK(match("bmx:4/buffer=2", "", "bmx:4/buffer=3", ""));
    OK(!match("bmx:4", "", "bmx:4/buffer=3", "")); /* its default is not known here */
    OK(!match("mesh:8,8", "", "mesh:8,8", "--cycles 1000"));
    OK(!match("mesh:8,8", "", "torus:8,8/buffer=4", ""));
    OK(!match("mesh:8,8", "", "mesh:4,4/buffer=4", ""));
    OK(!match("mesh:8,8", "", "mesh:8,8/buffer=4", "--unsafe"));
    OK(!match("mesh:8,8/routing=table", "", "mesh:8,8/buffer=4", ""));
    OK(match("a/b=c.edges/vcs=2", "", "a/b=c.edges/vcs=4", ""));
}

static void what_cannot_be_read_matches_nothing_by_accident(void)
{
    static char options[AXES_STEM_CAP + 100], same[AXES_STEM_CAP + 100];
    OK(!match("mesh:8,8", "--x 'open", "mesh:8,8", ""));
    memset(options, 'x', sizeof options - 1);
    memcpy(same, options, sizeof same);
    same[sizeof same - 2] = 'y';
    OK(!match("mesh:8,8", options, "mesh:8,8", same));
    axes_read("", "", &one);
    EQ(one.count, 0);
    axes_read("/=/a=/=1/b=1e999", "--z", &one);
    OK(strcmp(one.stem, "/=/a=/b=1e999 --z") == 0);
}

static const char *name_of(const char *axis)
{
    static char line[128];
    struct leat_text text;
    leat_text_init(&text, line, sizeof line - 1, NULL, NULL);
    axes_put_name(axis, &text);
    line[text.len] = '\0';
    return line;
}

static void an_axis_is_named_with_its_unit(void)
{
    OK(strcmp(name_of("buffer"), "buffer, flits") == 0);
    OK(strcmp(name_of("vcs"), "vcs") == 0);
    OK(strcmp(name_of("board"), "board") == 0);
    OK(strcmp(name_of("board-wire"), "board-wire, cycles") == 0);
    OK(strcmp(name_of("--hot"), "hot, percent") == 0);
    OK(strcmp(name_of("--flits"), "flits") == 0);
    OK(strcmp(name_of("propagation"), "propagation") == 0);
}

TAP_MAIN(T(numbers_of_names_and_options_are_axes_and_the_rest_is_the_stem),
         T(what_is_not_given_has_its_default), T(lines_match_that_differ_in_numbers_only),
         T(what_cannot_be_read_matches_nothing_by_accident), T(an_axis_is_named_with_its_unit))
