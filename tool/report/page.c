/* The style of a page, and its frame. Light or dark as the reader prefers, paper always light. */
#include "page.h"
#include "chart.h"
#include "markup.h"

static void put_style(struct leat_text *text)
{
    leat_text_puts(
        text,
        ":root { color-scheme: light dark;\n"
        "  --sans: system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif;\n"
        "  --mono: ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Consolas, monospace;\n"
        "  --paper: #ffffff; --ink: #1c2024; --quiet: #5a636d; --grid: #e6e9ed; --rule: #cdd3da;\n"
        "  --wash: #f5f7f9; --alarm: #b3261e }\n"
        "@media screen and (prefers-color-scheme: dark) { :root {\n"
        "  --paper: #14171a; --ink: #e6e9ec; --quiet: #9aa4af; --grid: #272c32; --rule: #3d454e;\n"
        "  --wash: #1b1f24; --alarm: #ff8a80 } }\n"
        "@media print { :root { color-scheme: light } }\n"
        "* { box-sizing: border-box }\n"
        "body { margin: 0 auto; padding: 2.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 78rem;\n"
        "  background: var(--paper); color: var(--ink); font: 1rem/1.55 var(--sans) }\n"
        "h1 { margin: 0 0 .5rem; font-size: clamp(1.6rem, 4vw, 2.3rem); line-height: 1.15;\n"
        "  letter-spacing: -.015em; text-wrap: balance; overflow-wrap: anywhere }\n"
        "h2 { margin: 3rem 0 .4rem; padding-top: 1rem; border-top: 1px solid var(--rule);\n"
        "  font-size: 1.4rem; line-height: 1.25; letter-spacing: -.01em }\n"
        "h3 { margin: 1.5rem 0 .4rem; font-size: 1.05rem }\n"
        "p, li { max-width: 46rem }\n"
        "p { margin: .4rem 0 .9rem }\n"
        ".lead { font-size: 1.12rem; color: var(--quiet) }\n"
        ".charts { display: grid; gap: 1.5rem 2.5rem; margin: 1.2rem 0;\n"
        "  grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)) }\n"
        ".charts.surfaces { grid-template-columns: repeat(auto-fill, minmax(min(100%, 27rem), "
        "1fr)) "
        "}\n"
        "figure { margin: 0; min-width: 0; break-inside: avoid }\n"
        "figcaption, .note { max-width: 40rem; margin-top: .3rem; font-size: .88rem;\n"
        "  line-height: 1.45; color: var(--quiet) }\n"
        ".drawing svg { display: block; width: 100%; height: auto; max-height: 44rem }\n"
        ".scroll { overflow-x: auto; margin: .6rem 0 1rem }\n"
        "table { border-collapse: collapse; font-size: .9rem; line-height: 1.35;\n"
        "  font-variant-numeric: tabular-nums lining-nums }\n"
        "caption { text-align: left; padding-bottom: .4rem; font-weight: 600 }\n"
        "th, td { padding: .26rem .8rem .26rem 0; text-align: left; vertical-align: baseline;\n"
        "  border-bottom: 1px solid var(--grid) }\n"
        "thead th { color: var(--quiet); font-weight: 500; vertical-align: bottom;\n"
        "  border-bottom: 1px solid var(--rule) }\n"
        "tbody th { min-width: 9rem; font-weight: 500; overflow-wrap: break-word }\n"
        "tbody th[scope=rowgroup] { padding-top: .9rem; font-weight: 600 }\n"
        ".n { text-align: right; white-space: nowrap }\n"
        ".pm { padding-left: 0; color: var(--quiet); white-space: nowrap; text-align: right }\n"
        "td.pm { font-size: .82rem }\n"
        ".alarm { color: var(--alarm); font-weight: 600 }\n"
        ".swatch { display: inline-block; width: .8em; height: .8em; margin-right: .5em;\n"
        "  border-radius: .15em; background: var(--c); print-color-adjust: exact }\n"
        "pre { margin: .4rem 0 1rem; padding: .7rem .9rem; overflow-x: auto; border-radius: "
        ".4rem;\n"
        "  background: var(--wash); font: .85rem/1.5 var(--mono); white-space: pre-wrap;\n"
        "  overflow-wrap: anywhere }\n"
        "code { font: .88em var(--mono) }\n"
        "dt { margin-top: .6rem; font-weight: 600 }\n"
        "dd { margin: 0; max-width: 46rem }\n"
        "summary { cursor: pointer; font-weight: 600 }\n"
        "footer { margin-top: 3rem; color: var(--quiet); font-size: .88rem }\n"
        "@media print { body { max-width: none; padding: 0; font-size: 10pt }\n"
        "  h2, h3, summary { break-after: avoid } tr { break-inside: avoid }\n"
        "  .charts, .charts.surfaces { grid-template-columns: 1fr 1fr; gap: 1rem } .scroll { "
        "overflow: visible } "
        "}\n");
}

void page_begin(const char *title, struct leat_text *text)
{
    leat_text_puts(text,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                   "<meta name=\"generator\" content=\"leat " LEAT_VERSION "\"/>\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'; img-src data:\"/>\n"
                   "<link rel=\"icon\" href=\"data:,\"/>\n<title>");
    text_escape(text, title);
    leat_text_puts(text, "</title>\n<style>\n");
    put_style(text);
    chart_style(text);
}

void page_begin_body(struct leat_text *text)
{
    leat_text_puts(text, "</style>\n</head>\n<body>\n");
}

void page_end(struct leat_text *text)
{
    leat_text_puts(text, "</main>\n<footer>Made by leat " LEAT_VERSION ".</footer>\n</body>\n"
                         "</html>\n");
}
