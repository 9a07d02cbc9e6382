/* leat report: one self-contained page. It is HTML, and well-formed as XML. */
#include "markup.h"
#include "net_traffic.h"
#include "page.h"
#include "report.h"
#include <string.h>

/* ---- above all ----------------------------------------------------------------------------- */

static void put_head(const struct report *report, struct leat_text *text)
{
    page_begin(report->title, text);
    surface_style(text);
    program_style_sheet(text);
    page_begin_body(text);
}

static void put_count(struct leat_text *text, size_t count, const char *one, const char *more)
{
    text_format(text, "%zu %s", count, count == 1 ? one : more);
}

/* "of mesh* only": what --where selects. */
static void put_selection(const struct report *report, struct leat_text *text)
{
    if (!report->where.clauses) return;
    leat_text_puts(text, "<p>Of the store, only what matches");
    for (size_t i = 0; i < report->where.clauses; i++) {
        leat_text_puts(text, i ? " and <code>" : " <code>");
        text_escape(text, report->where.clause[i].text);
        leat_text_puts(text, "</code>");
    }
    leat_text_puts(text, ".</p>\n");
}

static size_t count_programs(const struct programs *programs)
{
    static struct program program;
    size_t count = 0;
    for (size_t at = 0; at < programs->runs; at += program.runs)
        program_describe(programs, at, ++count, &program);
    return count;
}

static void introduce_programs(const struct report *report, struct leat_text *text)
{
    leat_text_puts(text, "<p class=\"lead\">");
    put_count(text, count_programs(&report->programs), "program", "programs");
    leat_text_puts(text, ", ");
    put_count(text, report->programs.runs, "run", "runs");
    leat_text_puts(text,
                   " over simulated networks.</p>\n"
                   "<p>A program's tasks are attached to the terminals of a fabric, which carries "
                   "their messages. Times are <strong>simulated</strong>: they depend on program "
                   "and network, not on the machine. The latest run of a command over each fabric "
                   "is shown.</p>\n");
}

static void introduce_sweeps(const struct report *report, struct leat_text *text)
{
    uint32_t low = UINT32_MAX, high = 0;
    size_t fabrics = 0;
    for (size_t i = 0; i < report->lines; i++) {
        size_t before = 0;
        while (before < i && strcmp(report->line[before].fabric, report->line[i].fabric) != 0)
            before++;
        fabrics += before == i;
    }
    for (size_t i = 0; i < report->points; i++) {
        const uint32_t load = report->point[i].load;
        if (load < low) low = load;
        if (load > high) high = load;
    }
    leat_text_puts(text, "<p class=\"lead\">");
    put_count(text, report->runs, "run", "runs");
    leat_text_puts(text, " of ");
    put_count(text, fabrics, "fabric", "fabrics");
    leat_text_puts(text, " under ");
    put_count(text, report->traffics, "kind of traffic", "kinds of traffic");
    text_format(text, low < high ? ", at loads from %.6g to %.6g.</p>\n" : ", at load %.6g.</p>\n",
                (double)low / STORE_LOAD_ONE, (double)high / STORE_LOAD_ONE);
    leat_text_puts(
        text,
        "<p>A fabric is a network of switches with terminals at its edge. Each terminal sends at "
        "random times; the <strong>offered load</strong> is the share of its line that its packets "
        "would fill. Up to some load the fabric delivers all of it and packets pass quickly. With "
        "more they queue up faster than they leave: the fabric is <strong>saturated</strong>, and "
        "what still arrives is its throughput.</p>\n"
        "<p>In the charts each mark is a mean over all runs of a load, which differ by their "
        "random "
        "seed. Bands and ± are 95 % confidence intervals of that mean; they are missing where "
        "there is one run only, unless the run itself reports them. Open marks and "
        "dashed lines are saturated points: latency there grows with the length of the run and "
        "says little else.</p>\n");
}

static void put_introduction(const struct report *report, struct leat_text *text)
{
    leat_text_puts(text, "<header>\n<h1>");
    text_escape(text, report->title);
    leat_text_puts(text, "</h1>\n");
    put_selection(report, text);
    if (report->programs.runs) introduce_programs(report, text);
    if (report->runs) introduce_sweeps(report, text);
    leat_text_puts(text, "</header>\n<main>\n");
}

/* ---- a traffic ----------------------------------------------------------------------------- */

/* Where its packets go, for the traffics of networks. */
static void put_explanation(const char *name, struct leat_text *text)
{
    enum leat_net_pattern pattern;
    if (!leat_net_pattern_find(name, &pattern)) return;
    leat_text_puts(text, "<p>Where packets go: ");
    text_escape(text, leat_net_pattern_list(pattern)->text);
    leat_text_puts(text, ".</p>\n");
}

static const char *const captions[REPORT_FIGURES] = {
    [REPORT_LATENCY] =
        "From a packet's creation until all of it has arrived, waiting in the sender's queue "
        "included. It bends upwards where queues begin to fill.",
    [REPORT_THROUGHPUT] =
        "What arrives of what is offered. On the dotted line everything does; a curve leaves it "
        "where its fabric saturates.",
    [REPORT_P99] = "Of a hundred packets, ninety-nine take no longer than this.",
};

static void put_charts(struct report *report, size_t traffic, struct leat_text *text)
{
    static struct chart_line lines[REPORT_LINES_MAX];
    struct chart chart;
    leat_text_puts(text, "<div class=\"charts\">\n");
    for (int f = 0; f < REPORT_FIGURES; f++) {
        if (!report_chart(report, traffic, (enum report_figure)f, lines, &chart)) continue;
        leat_text_puts(text, "<figure>\n");
        chart_write(&chart, text);
        text_format(text, "<figcaption>%s</figcaption>\n</figure>\n", captions[f]);
    }
    leat_text_puts(text, "<div>\n");
    report_saturation(report, traffic, text);
    leat_text_puts(text, "</div>\n</div>\n");
}

static void put_traffic(struct report *report, size_t traffic, struct leat_text *text)
{
    text_format(text, "<section>\n<h2 id=\"traffic-%zu\">Traffic: ", traffic + 1);
    text_escape(text, report->traffic[traffic]);
    leat_text_puts(text, "</h2>\n");
    put_explanation(report->traffic[traffic], text);
    put_charts(report, traffic, text);
    report_surfaces(report, traffic, text);
    report_points(report, traffic, text);
    leat_text_puts(text, "</section>\n");
}

/* ---- the end ------------------------------------------------------------------------------- */

static void put_words(const struct report *report, struct leat_text *text)
{
    leat_text_puts(
        text,
        "<h2 id=\"words\">Words</h2>\n<dl>\n"
        "<dt>Load, throughput</dt><dd>Flits (or cells) per terminal and the time that one of them "
        "takes on a line: 1 is a line that is never idle.</dd>\n"
        "<dt>Latency</dt><dd>");
    leat_text_puts(text, report->is_in_ns ? "In nanoseconds, by the clock of each fabric"
                                          : "In cycles of the fabric's clock");
    leat_text_puts(
        text,
        ", over what was delivered after the warm-up.</dd>\n"
        "<dt>Saturated</dt><dd>Less arrived than was offered, or the queues of the senders grew to "
        "the end of the run. Where a run does not judge that itself: less than 95 % of the cells "
        "had arrived that were offered a mean latency before its end. A point counts as saturated "
        "if one of its runs is.</dd>\n"
        "<dt>Highest throughput</dt><dd>The greatest accepted load of any point; with saturation "
        "“not reached” the fabric may carry more.</dd>\n"
        "<dt>Hops</dt><dd>Routers that a packet passes, on average.</dd>\n"
        "</dl>\n");
}

int report_page(struct report *report, struct leat_text *text)
{
    put_head(report, text);
    put_introduction(report, text);
    report_programs(report, text);
    if (!report->runs) return page_end(text), DONE;
    for (size_t t = 0; t < report->traffics; t++)
        put_traffic(report, t, text);
    int code = report_fabrics(report, text);
    report_trouble(report, text);
    put_words(report, text);
    if (code == DONE) code = report_replay(report, text);
    page_end(text);
    text->overflowed |= report->lacks_memory;
    return code;
}
