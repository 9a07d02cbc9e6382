/* Axes of a chart, and what is drawn. The values were worked out by hand. */
#include "chart.h"
#include "tap.h"
#include <math.h>
#include <string.h>

static struct chart_axis x, y;

static bool has_ticks(const struct chart_axis *axis, size_t count, const double *tick)
{
    bool same = axis->ticks == count;
    for (size_t i = 0; same && i < count; i++)
        same = fabs(axis->tick[i] - tick[i]) <= 1e-9 * fabs(tick[i]);
    for (size_t i = 0; !same && i < axis->ticks; i++)
        printf("# tick %g\n", axis->tick[i]);
    return same;
}
#define TICKS(axis, ...)                                                    \
    has_ticks(axis, sizeof(const double[]){ __VA_ARGS__ } / sizeof(double), \
              (const double[]){ __VA_ARGS__ })

/* The axes of one line through these points. */
static void axes_of(const struct chart_point *point, size_t count, bool may_be_log)
{
    const struct chart_line line = { .name = "a", .point = point, .count = count };
    const struct chart chart = { .may_be_log = may_be_log, .line = &line, .lines = 1 };
    chart_axes(&chart, &x, &y);
}

static void ticks_stand_at_round_numbers_from_zero(void)
{
    static const struct chart_point point[] = { { .x = 0.1, .y = 40 }, { .x = 0.9, .y = 100 } };
    axes_of(point, 2, false);
    OK(TICKS(&x, 0, 0.2, 0.4, 0.6, 0.8, 1));
    OK(TICKS(&y, 0, 20, 40, 60, 80, 100, 120)); /* 100 shall not lie on the frame */
    OK(x.min == 0 && fabs(x.max - 1) < 1e-9 && !x.is_log);
    OK(y.min == 0 && fabs(y.max - 120) < 1e-9 && !y.is_log);
}

static void any_linear_axis_has_four_to_seven_even_ticks_that_hold_all(void)
{
    uint64_t state = tap_seed();
    for (int i = 0; i < 2000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const double max = pow(10, (double)(state >> 40) / (1 << 24) * 18 - 9); /* 1e-9 .. 1e9 */
        const struct chart_point point = { .x = max, .y = 1 };
        axes_of(&point, 1, false);
        const double step = x.tick[1], power = pow(10, floor(log10(step) + 1e-9));
        const double digit = step / power;
        OK(x.ticks >= 4 && x.ticks <= 7);
        OK(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6);
        OK(x.max >= max * (1 - 1e-9) && x.max - step < max);
        for (size_t t = 0; t < x.ticks; t++)
            OK(fabs(x.tick[t] - (double)t * step) < 1e-9 * x.max);
        if (tap_checks_failed) break;
    }
}

static void a_chart_without_points_goes_from_zero_to_one(void)
{
    const struct chart empty = { .may_be_log = true };
    chart_axes(&empty, &x, &y);
    OK(TICKS(&x, 0, 0.2, 0.4, 0.6, 0.8, 1));
    OK(TICKS(&y, 0, 0.2, 0.4, 0.6, 0.8, 1));
    OK(!y.is_log);
}

static void one_point_has_axes(void)
{
    static const struct chart_point point = { .x = 0.5, .y = 30 };
    axes_of(&point, 1, true);
    OK(TICKS(&x, 0, 0.1, 0.2, 0.3, 0.4, 0.5));
    OK(TICKS(&y, 0, 10, 20, 30, 40));
    static const struct chart_point nothing = { .x = 0, .y = 0 };
    axes_of(&nothing, 1, true);
    OK(TICKS(&x, 0, 0.2, 0.4, 0.6, 0.8, 1));
    OK(TICKS(&y, 0, 0.2, 0.4, 0.6, 0.8, 1));
}

static void what_is_not_a_number_moves_no_axis(void)
{
    const struct chart_point some[] = { { .x = 0.1, .y = NAN },
                                        { .x = 0.5, .y = 30 },
                                        { .x = 0.3, .y = NAN } };
    axes_of(some, 3, true);
    OK(TICKS(&y, 0, 10, 20, 30, 40));
    const struct chart_point none = { .x = 0.5, .y = NAN };
    axes_of(&none, 1, true);
    OK(TICKS(&x, 0, 0.1, 0.2, 0.3, 0.4, 0.5));
    OK(TICKS(&y, 0, 0.2, 0.4, 0.6, 0.8, 1));
}

static void small_and_large_values_have_a_log_axis_where_it_may_be(void)
{
    struct chart_point point[] = { { .x = 0.1, .y = 10 }, { .x = 0.9, .y = 1000 } };
    axes_of(point, 2, true);
    OK(y.is_log && y.min == 5 && fabs(y.max - 2000) < 1e-9);
    OK(TICKS(&y, 5, 10, 20, 50, 100, 200, 500, 1000, 2000));
    axes_of(point, 2, false);
    OK(!y.is_log && y.min == 0);
    point[1].y = 250; /* 25 times as much is not yet enough */
    axes_of(point, 2, true);
    OK(!y.is_log);
    point[1].y = 251;
    axes_of(point, 2, true);
    OK(y.is_log);
    point[0].y = 0; /* which no such axis can show */
    axes_of(point, 2, true);
    OK(!y.is_log && y.min == 0);
}

static void many_decades_have_ticks_at_some_powers_of_ten(void)
{
    static const struct chart_point point[] = { { .x = 0.1, .y = 1 }, { .x = 0.9, .y = 1e9 } };
    axes_of(point, 2, true);
    OK(y.is_log && fabs(y.min - 0.5) < 1e-9);
    OK(TICKS(&y, 10, 1e3, 1e5, 1e7, 1e9));
}

static void a_diagonal_has_room_on_both_axes(void)
{
    static const struct chart_point point = { .x = 1, .y = 0.3 };
    const struct chart_line line = { .name = "a", .point = &point, .count = 1 };
    const struct chart chart = { .diagonal = "all", .line = &line, .lines = 1 };
    chart_axes(&chart, &x, &y);
    OK(TICKS(&x, 0, 0.2, 0.4, 0.6, 0.8, 1));
    OK(TICKS(&y, 0, 0.2, 0.4, 0.6, 0.8, 1));
}

static void no_two_styles_look_the_same(void)
{
    for (unsigned a = 0; a < CHART_STYLES; a++) {
        OK(chart_colour(a) < CHART_COLOURS && chart_mark(a) < CHART_MARKS);
        for (unsigned b = 0; b < a; b++)
            OK(chart_colour(a) != chart_colour(b) || chart_mark(a) != chart_mark(b));
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

static char svg[1 << 16];

static void draw(const struct chart *chart)
{
    struct leat_text text;
    leat_text_init(&text, svg, sizeof svg - 1, NULL, NULL);
    chart_write(chart, &text);
    OK(!text.overflowed);
    svg[text.len] = '\0';
}

static int count_of(const char *piece)
{
    int count = 0;
    for (const char *at = svg; (at = strstr(at, piece)); at++)
        count++;
    return count;
}

/* Every element that begins ends, in the right order. */
static bool is_balanced(void)
{
    const char *open[32];
    size_t depth = 0;
    for (const char *at = svg; (at = strchr(at, '<')); at++) {
        const char *end = strchr(at, '>');
        if (!end) return false;
        if (at[1] == '/') {
            const size_t len = (size_t)(end - at) - 2;
            if (!depth || strncmp(open[--depth], at + 2, len) != 0) return false;
        } else if (end[-1] != '/') {
            if (depth == 32) return false;
            open[depth++] = at + 1;
        }
    }
    return depth == 0;
}

static const struct chart_point steady[] = {
    { .x = 0.25, .y = 20, .half = 1.5, .runs = 3 },
    { .x = 0.5, .y = 30, .half = 2.5, .runs = 3 },
};
static const struct chart_point full[] = {
    { .x = 0.25, .y = 10, .half = NAN, .runs = 1 },
    { .x = 0.5, .y = 20, .half = NAN, .runs = 1, .open = true },
};
static const struct chart_line both[] = {
    { .name = "mesh <8> & \"co\"", .style = 0, .point = steady, .count = 2 },
    { .name = "ring", .style = 1, .point = full, .count = 2 },
};
static const struct chart of_both = { .id = "c",
                                      .title = "Latency",
                                      .x_name = "load",
                                      .y_name = "time",
                                      .y_unit = "cycles",
                                      .open_name = "saturated",
                                      .decimals = 1,
                                      .line = both,
                                      .lines = 2 };

/* x goes from 0 to 0.5 over 62 .. 506, y from 0 to 40 over 298 .. 34. */
static void points_stand_where_their_values_say(void)
{
    draw(&of_both);
    OK(strstr(svg, "cx=\"284.0\" cy=\"166.0\"")); /* 0.25, 20 */
    OK(strstr(svg, "cx=\"506.0\" cy=\"100.0\"")); /* 0.5, 30 */
    OK(strstr(svg, "cx=\"284.0\" cy=\"232.0\"")); /* 0.25, 10 */
    OK(strstr(svg, "cx=\"506.0\" cy=\"166.0\"")); /* 0.5, 20 */
    EQ(count_of("class=\"touch\""), 4);
    EQ(count_of("class=\"mark"), 4 + 2); /* with the legend's */
}

static void bands_and_dashes_are_there_where_they_should(void)
{
    draw(&of_both);
    EQ(count_of("class=\"band\""), 1); /* the ring has no intervals */
    OK(strstr(svg, "class=\"band\" d=\"M284.0 156.1L506.0 83.5L506.0 116.5L284.0 175.9z\""));
    EQ(count_of("class=\"line dashed\""), 1); /* the ring to its saturated point */
    EQ(count_of("class=\"mark open\""), 1);
    OK(!strstr(svg, "nan"));
}

static void tips_show_mean_interval_and_runs(void)
{
    draw(&of_both);
    OK(strstr(svg, " at load 0.5: 30.0 ± 2.5 cycles (3 runs)</title>"));
    OK(strstr(svg, "<title>ring at load 0.5: 20.0 cycles (1 run), saturated</title>"));
}

static void a_picture_is_well_formed_whatever_names_hold(void)
{
    draw(&of_both);
    OK(is_balanced());
    OK(!strstr(svg, "mesh <8>") && strstr(svg, "mesh &lt;8&gt; &amp; &quot;co&quot;"));
    struct chart one = of_both;
    struct chart_line line = both[0];
    line.count = 1;
    one.line = &line;
    one.lines = 1;
    draw(&one);
    OK(is_balanced());
    EQ(count_of("class=\"line"), 1); /* the legend's: a point alone has none */
    one.lines = 0;
    draw(&one);
    OK(is_balanced());
    EQ(count_of("class=\"mark"), 0);
}

static void marks_and_lines_may_stand_alone_over_a_log_axis(void)
{
    static const struct chart_point decades[] = { { .x = 1, .y = 1, .half = NAN },
                                                  { .x = 10, .y = 2, .half = NAN },
                                                  { .x = 100, .y = 3, .half = NAN } };
    const struct chart_line lines[] = {
        { .name = "seen", .point = decades, .count = 3, .look = CHART_MARKS_ALONE },
        { .name = "formula", .style = 1, .point = decades, .count = 3, .look = CHART_LINE_ALONE },
    };
    struct chart one = of_both;
    one.line = lines;
    one.lines = 2;
    one.x_is_log = true;
    one.x_tip = "octets";
    draw(&one);
    OK(is_balanced());
    EQ(count_of("class=\"mark"), 3 + 1); /* with the legend's */
    EQ(count_of("class=\"line"), 1 + 1);
    OK(strstr(svg, "cx=\"284.0\"")); /* 10 in the middle of 62 .. 506 */
    OK(strstr(svg, "<title>seen at octets 100: 3.0 cycles</title>"));
    OK(strstr(svg, "load (log scale)</text>"));
}

static void the_legend_grows_by_rows(void)
{
    struct chart_line lines[12];
    struct chart many = of_both;
    for (size_t i = 0; i < 12; i++)
        lines[i] = (struct chart_line){ .name = "a name of thirty characters ..",
                                        .style = (unsigned)i,
                                        .point = steady,
                                        .count = 2 };
    many.line = lines;
    many.lines = 1;
    const double one = chart_height(&many);
    many.lines = 12;
    /* One entry of 34 + 30 * 6.7 and a gap of 14: one in a row of 444, since two take 484. */
    OK(fabs(chart_height(&many) - one - 11 * 20) < 1e-9);
}

TAP_MAIN(T(ticks_stand_at_round_numbers_from_zero),
         T(any_linear_axis_has_four_to_seven_even_ticks_that_hold_all),
         T(a_chart_without_points_goes_from_zero_to_one), T(one_point_has_axes),
         T(what_is_not_a_number_moves_no_axis),
         T(small_and_large_values_have_a_log_axis_where_it_may_be),
         T(many_decades_have_ticks_at_some_powers_of_ten), T(a_diagonal_has_room_on_both_axes),
         T(no_two_styles_look_the_same), T(points_stand_where_their_values_say),
         T(bands_and_dashes_are_there_where_they_should), T(tips_show_mean_interval_and_runs),
         T(a_picture_is_well_formed_whatever_names_hold),
         T(marks_and_lines_may_stand_alone_over_a_log_axis), T(the_legend_grows_by_rows))
