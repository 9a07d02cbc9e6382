/* The scale of surfaces, and what is drawn. The places were worked out by hand. */
#include "surface.h"
#include "tap.h"
#include <math.h>
#include <string.h>

static const struct chart_point low[] = {
    { .x = 0.1, .y = 20, .half = 1.5, .runs = 3 },
    { .x = 0.2, .y = 30, .half = NAN, .runs = 1 },
    { .x = 0.4, .y = 900, .half = NAN, .runs = 2, .open = true },
};
static const struct chart_point high[] = {
    { .x = 0.1, .y = 10, .half = NAN, .runs = 1 },
    { .x = 0.4, .y = NAN, .half = NAN, .runs = 2, .open = true },
};
static const struct surface_row rows[] = { { 2, low, 3 }, { 8, high, 2 } };
static const double loads[] = { 0.1, 0.2, 0.4 };
static const struct surface surface = { .id = "s",
                                        .title = "mesh <8> & \"co\"",
                                        .x_name = "load",
                                        .y_name = "buffer, flits",
                                        .y_short = "buffer",
                                        .z_name = "mean latency",
                                        .unit = "ns",
                                        .open_name = "saturated",
                                        .decimals = 1,
                                        .x = loads,
                                        .columns = 3,
                                        .row = rows,
                                        .rows = 2 };

static char text[1 << 16];

static int count_of(const char *piece)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, piece)); at++)
        count++;
    return count;
}

static struct surface_scale scale_of(const struct surface *s)
{
    struct surface_scale scale = SURFACE_SCALE_NONE;
    surface_scale_widen(&scale, s);
    surface_scale_complete(&scale);
    return scale;
}

static void draw(void (*put)(struct leat_text *))
{
    struct leat_text out;
    leat_text_init(&out, text, sizeof text - 1, NULL, NULL);
    put(&out);
    OK(!out.overflowed);
    text[out.len] = '\0';
}

static void put_drawing(struct leat_text *out)
{
    const struct surface_scale scale = scale_of(&surface);
    surface_write(&surface, &scale, out);
}

static void put_table(struct leat_text *out)
{
    surface_table(&surface, out);
}

static void the_scale_covers_what_is_not_saturated(void)
{
    const struct surface_scale scale = scale_of(&surface);
    OK(scale.min == 10 && scale.max == 30 && !scale.is_log);
    EQ(surface_colour(&scale, 10), 0x440154);
    EQ(surface_colour(&scale, 20), 0x21918c);
    EQ(surface_colour(&scale, 30), 0xfde725);
    EQ(surface_colour(&scale, 900), 0xfde725);
    EQ(surface_colour(&scale, 1), 0x440154);
}

static void a_surface_that_is_saturated_everywhere_has_a_scale(void)
{
    struct surface all = surface;
    const struct surface_row row[] = { { 2, low + 2, 1 }, { 8, high + 1, 1 } };
    all.row = row;
    const struct surface_scale scale = scale_of(&all);
    OK(scale.min == 900 && scale.max == 900);
    EQ(surface_colour(&scale, 900), 0x440154);
    all.rows = 0;
    const struct surface_scale none = scale_of(&all);
    OK(none.min == 0 && none.max == 0 && !none.is_log);
}

static void values_that_span_much_have_a_log_scale(void)
{
    struct chart_point point[] = { { .x = 0.1, .y = 10 }, { .x = 0.2, .y = 1000 } };
    const struct surface_row row = { 1, point, 2 };
    struct surface wide = surface;
    wide.row = &row;
    wide.rows = 1;
    struct surface_scale scale = scale_of(&wide);
    OK(scale.is_log);
    EQ(surface_colour(&scale, 100), 0x21918c); /* the middle */
    point[1].y = 100;                          /* ten times as much is not yet enough */
    OK(!scale_of(&wide).is_log);
    point[0].y = 0; /* which no such scale can show */
    OK(!scale_of(&wide).is_log);
}

/* The lightness of a colour that is perceived: CIE L*, from the luminance of sRGB. */
static double lightness(unsigned colour)
{
    static const double weight[] = { 0.2126, 0.7152, 0.0722 };
    double luminance = 0;
    for (int i = 0; i < 3; i++) {
        const double c = (colour >> (16 - 8 * i) & 255) / 255.0;
        luminance += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return luminance > 0.008856 ? 116 * cbrt(luminance) - 16 : 903.3 * luminance;
}

static void higher_values_are_lighter_by_even_steps(void)
{
    const struct surface_scale scale = { .min = 0, .max = 100 };
    for (int i = 0; i < 20; i++) {
        const double step = lightness(surface_colour(&scale, 5 * i + 5)) -
                            lightness(surface_colour(&scale, 5 * i));
        OK(step > 2.5 && step < 6);
    }
}

/* x goes from 0.05 to 0.5 over 62 .. 506, with edges at 0.15 and 0.3; rows are 132 high. */
static void cells_reach_half_way_to_their_neighbours(void)
{
    draw(put_drawing);
    OK(strstr(text, "x=\"62.00\" y=\"166.00\" width=\"98.67\" height=\"132.00\" fill=\"#21918c\""));
    OK(strstr(text, "x=\"160.67\" y=\"166.00\" width=\"148.00\" height=\"132.00\" "
                    "fill=\"#fde725\""));
    OK(strstr(text, "x=\"62.00\" y=\"34.00\" width=\"98.67\" height=\"132.00\" fill=\"#440154\""));
    EQ(count_of("class=\"tile\""), 5 + 2);         /* two are hatched, too */
    EQ(count_of("fill=\"url(#s-hatch)\""), 2 + 1); /* with the key's */
    EQ(count_of("fill=\"none\""), 1);              /* nothing was measured there */
    OK(!strstr(text, "nan"));
}

static void tips_and_the_description_have_the_figures(void)
{
    draw(put_drawing);
    OK(strstr(text, "<title>buffer 2 at load 0.1: 20.0 ± 1.5 ns (3 runs)</title>"));
    OK(strstr(text, "<title>buffer 2 at load 0.4: 900.0 ns (2 runs), saturated</title>"));
    OK(strstr(text, "<title>buffer 8 at load 0.4: nothing arrived (2 runs), saturated</title>"));
    OK(strstr(text, "mean latency by offered load and buffer. buffer 2: 20.0 at 0.1 to 900.0 at "
                    "0.4, saturated from 0.4."));
    OK(strstr(text, "buffer 8: 10.0 at 0.1, saturated from 0.4."));
    OK(!strstr(text, "<8>") && strstr(text, "mesh &lt;8&gt; &amp; &quot;co&quot;"));
}

static void the_table_has_the_same_figures(void)
{
    draw(put_table);
    OK(strstr(text, "<th scope=\"row\" class=\"n\">2</th><td class=\"n\">20.0</td>"
                    "<td class=\"n\">30.0</td><td class=\"n\">900.0 (s)</td></tr>"));
    OK(strstr(text, "<th scope=\"row\" class=\"n\">8</th><td class=\"n\">10.0</td>"
                    "<td class=\"n\">–</td><td class=\"n\">– (s)</td></tr>"));
}

TAP_MAIN(T(the_scale_covers_what_is_not_saturated),
         T(a_surface_that_is_saturated_everywhere_has_a_scale),
         T(values_that_span_much_have_a_log_scale), T(higher_values_are_lighter_by_even_steps),
         T(cells_reach_half_way_to_their_neighbours), T(tips_and_the_description_have_the_figures),
         T(the_table_has_the_same_figures))
