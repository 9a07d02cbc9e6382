/* leat help: text, manual pages (man macros) and the completion of shells, from the verbs. */
#include "complete.h"
#include "help_page.h"
#include "leat_format.h"
#include "option_text.h"
#include "style.h"
#include "tool.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 78, EXAMPLES_FIRST = 3 };

/* ---- text --------------------------------------------------------------------------------- */

/* Words from this column on, with this indent; lines are broken here. */
struct wrap {
    size_t indent, column;
    bool has_word; /* in this line */
};

static void put_words(struct wrap *w, const char *text)
{
    while (*text) {
        const size_t word = strcspn(text, " ");
        if (w->has_word && w->column + 1 + word > WIDTH) {
            putchar('\n');
            w->column = 0;
            w->has_word = false;
        }
        const int blanks = w->column < w->indent ? (int)(w->indent - w->column) : w->has_word;
        printf("%*s%.*s", blanks, "", (int)word, text);
        w->column += (size_t)blanks + word;
        w->has_word = true;
        text += word + (text[word] == ' ');
    }
}

/* The next paragraph of a page; false: there is none left. */
static bool put_paragraph(const char *const **page)
{
    struct wrap wrap = { .indent = 2 };
    size_t lines;
    const char *const *text = help_paragraph(page, &lines);
    for (size_t i = 0; i < lines; i++)
        put_words(&wrap, text[i]);
    if (lines) putchar('\n');
    return lines;
}

/* With an empty line before. */
static void put_heading(const char *text)
{
    printf("\n%s%s:%s\n", style(stdout, STYLE_HEADING), text, style_end(stdout));
}

static void put_title(const char *verb, const char *subverb, const char *summary)
{
    printf("%sleat %s%s%s:%s %s\n\n", style(stdout, STYLE_HEADING), verb, subverb ? " " : "",
           subverb ? subverb : "", style_end(stdout), summary);
}

static void put_examples(const char *const *page, size_t most)
{
    const char *example;
    for (size_t i = 0; i < most && (example = help_example(page, i)); i++) {
        if (!i) put_heading("Examples");
        printf("  %s\n", example);
    }
}

/* All of a page. */
static void put_page(const char *const *page, size_t examples)
{
    const char *const *rest = page;
    for (bool more = put_paragraph(&rest); more;) {
        const char *const *after = rest;
        size_t lines;
        more = help_paragraph(&after, &lines) != NULL;
        if (more) putchar('\n');
        if (more) put_paragraph(&rest);
    }
    put_examples(page, examples);
}

static void put_option(const struct option *o)
{
    enum { TEXT_COLUMN = 21 };
    char left[64], right[1024];
    const int len = snprintf(left, sizeof left, "  %s%s%s", o->name, o->argument ? " " : "",
                             o->argument ? o->argument : "");
    option_text(o, right, sizeof right);
    fputs(left, stdout);
    if (len >= TEXT_COLUMN) putchar('\n');
    struct wrap wrap = { .indent = TEXT_COLUMN, .column = len >= TEXT_COLUMN ? 0 : (size_t)len };
    put_words(&wrap, right);
    putchar('\n');
}

static bool is_shown(const struct option *o, const char *names)
{
    return !names || word_is_in(o->name, names);
}

/* Those of all fabrics first, then by the kinds that have them. `names`: only these; NULL: all. */
static void put_options(const struct verb *v, const char *names)
{
    bool is_headed = false;
    for (const struct option *o = v->options; o->name; o++) {
        if (o->kinds || !is_shown(o, names)) continue;
        if (!is_headed) put_heading("Options");
        is_headed = true;
        put_option(o);
    }
    for (const struct option *first = v->options; first->name; first++) {
        const struct option *before = v->options;
        if (!first->kinds || !is_shown(first, names)) continue;
        while (before != first && (!before->kinds || !is_shown(before, names) ||
                                   strcmp(before->kinds, first->kinds) != 0))
            before++;
        if (before != first) continue; /* its group has been shown */
        char heading[256];
        snprintf(heading, sizeof heading, "Options of %s", option_kinds_text(first->kinds));
        put_heading(heading);
        for (const struct option *o = first; o->name; o++)
            if (o->kinds && !strcmp(o->kinds, first->kinds) && is_shown(o, names)) put_option(o);
    }
}

/* Has its first page more than the first screen shows? */
static bool has_details(const struct verb *v)
{
    const char *const *page = help_page(v, NULL);
    size_t lines;
    help_paragraph(&page, &lines);
    return help_paragraph(&page, &lines) || help_example(v->help, EXAMPLES_FIRST);
}

/* Where the rest is. */
static void put_topics(const struct verb *v)
{
    const char *before = " ", *topic;
    if (v->subverbs) printf("\nleat help %s SUBVERB describes one of them.\n", v->name);
    if (!has_details(v) && !help_topic(v, 0)) return;
    printf("\nMore: leat help %s", v->name);
    if (has_details(v)) {
        printf("%sdetails", before);
        before = "|";
    }
    for (size_t i = 0; (topic = help_topic(v, i)); i++, before = "|")
        printf("%s%s", before, topic);
    putchar('\n');
}

static void help_verb(const struct verb *v)
{
    const char *const *page = help_page(v, NULL);
    put_title(v->name, NULL, v->summary);
    printf("  leat %s %s\n\n", v->name, v->synopsis);
    put_paragraph(&page);
    put_examples(v->help, EXAMPLES_FIRST);
    if (v->subverbs) put_heading("Subverbs");
    for (const struct subverb *s = v->subverbs; s && s->name; s++)
        printf("  %-12s %s\n", s->name, s->summary);
    if (!v->subverbs) put_options(v, NULL);
    put_topics(v);
}

static void help_subverb(const struct verb *v, const struct subverb *s)
{
    put_title(v->name, s->name, s->summary);
    printf("  leat %s %s %s\n\n", v->name, s->name, s->synopsis);
    put_page(help_page(v, s->name), EXAMPLES_FIRST);
    if (*s->options) put_options(v, s->options);
}

static void help_all(void)
{
    puts("leat: an interconnect laboratory. Packets compute while they travel.\n\n"
         "  leat VERB [OBJECT] [--options]\n");
    for (size_t i = 0; verb_at(i); i++)
        printf("  %-10s %s\n", verb_at(i)->name, verb_at(i)->summary);
    puts("\nleat help VERB describes one verb, leat help numbers how numbers and times are "
         "written,\n"
         "leat help environment the variables that leat reads; leat --version prints the version.\n"
         "Exit codes: 0 done, 1 the run failed, 2 wrong usage or bad input,\n"
         "128 + n ended by signal n, with what was finished.");
}

/* ---- manual pages ------------------------------------------------------------------------- */

/* Dashes and backslashes mean something to roff, and so does a dot that begins a line. */
static void put_roff(const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '-' || *text == '\\') putchar('\\');
        putchar(*text);
    }
}

static void man_page(const char *const *page)
{
    const char *const *text;
    size_t lines;
    for (bool is_first = true; (text = help_paragraph(&page, &lines)); is_first = false) {
        if (!is_first) puts(".PP");
        for (size_t i = 0; i < lines; i++) {
            put_roff(text[i]);
            putchar('\n');
        }
    }
}

static void man_head(const char *name, const char *summary)
{
    printf(".TH %s 1 \"\" \"leat " LEAT_VERSION "\" \"leat manual\"\n.SH NAME\n", name);
    put_roff(name);
    fputs(" \\- ", stdout);
    put_roff(summary);
    fputs("\n.SH SYNOPSIS\n.B leat", stdout);
}

static void man_exit_status(void)
{
    fputs(".SH EXIT STATUS\n0: done. 1: the run failed, the reason is on standard error. "
          "2: wrong usage or bad input. 128 + n: ended by signal n, with what was finished.\n",
          stdout);
}

static void man_options(const struct verb *v, const char *names)
{
    char text[1024];
    fputs(".SH OPTIONS\n", stdout);
    for (const struct option *o = v->options; o->name; o++) {
        if (!is_shown(o, names)) continue;
        fputs(".TP\n.B ", stdout);
        put_roff(o->name);
        printf("%s%s\n", o->argument ? " " : "", o->argument ? o->argument : "");
        option_text(o, text, sizeof text);
        if (o->kinds) printf("(%s) ", option_kinds_text(o->kinds));
        put_roff(text);
        putchar('\n');
    }
}

static void man_examples(const char *const *page)
{
    const char *example;
    fputs(".SH EXAMPLES\n.nf\n", stdout);
    for (size_t i = 0; (example = help_example(page, i)); i++) {
        put_roff(example);
        putchar('\n');
    }
    fputs(".fi\n", stdout);
}

static void man_verb(const struct verb *v)
{
    char name[32];
    const char *topic;
    snprintf(name, sizeof name, "leat-%s", v->name);
    man_head(name, v->summary);
    printf(" %s\n", v->name);
    put_roff(v->synopsis);
    fputs("\n.SH DESCRIPTION\n", stdout);
    man_page(v->help);
    for (size_t i = 0; (topic = help_topic(v, i)); i++) {
        printf(".SS %s\n", topic);
        man_page(help_page(v, topic));
    }
    if (v->subverbs) puts(".SH SUBVERBS");
    for (const struct subverb *s = v->subverbs; s && s->name; s++)
        printf(".TP\n.BR leat\\-%s\\-%s (1)\n%s\n", v->name, s->name, s->summary);
    man_options(v, NULL);
    man_exit_status();
    man_examples(v->help);
    fputs(".SH SEE ALSO\n.BR leat (1)\n", stdout);
}

static void man_subverb(const struct verb *v, const struct subverb *s)
{
    char name[64];
    const char *const *page = help_page(v, s->name);
    snprintf(name, sizeof name, "leat-%s-%s", v->name, s->name);
    man_head(name, s->summary);
    printf(" %s %s\n", v->name, s->name);
    put_roff(s->synopsis);
    fputs("\n.SH DESCRIPTION\n", stdout);
    man_page(page);
    man_options(v, s->options);
    man_exit_status();
    man_examples(page);
    printf(".SH SEE ALSO\n.BR leat\\-%s (1)\n", v->name);
}

static void man_all(void)
{
    man_head("leat", "interconnect laboratory: packets compute while they travel");
    fputs("\n.I VERB\n[\\fIOBJECT\\fR] [\\fB\\-\\-options\\fR]\n.SH DESCRIPTION\n"
          "Five published designs of interconnects that compute, their wire formats first. "
          "Each verb has a page of its own.\n.SH VERBS\n",
          stdout);
    for (size_t i = 0; verb_at(i); i++)
        printf(".TP\n.BR leat\\-%s (1)\n%s\n", verb_at(i)->name, verb_at(i)->summary);
    fputs(".SH FORMATS\n", stdout);
    const struct leat_format *format;
    for (size_t i = 0; (format = leat_format_at(i)); i++) {
        printf(".TP\n.B %s\n", format->name);
        put_roff(format->summary);
        putchar('\n');
    }
    const char *topic;
    for (size_t i = 0; (topic = help_topic(&verb_help, i)); i++) {
        fputs(".SH ", stdout);
        for (const char *c = topic; *c; c++)
            putchar(toupper((unsigned char)*c));
        putchar('\n');
        man_page(help_page(&verb_help, topic));
    }
    man_exit_status();
}

/* ---- the verb ------------------------------------------------------------------------------- */

/* The names of all pages: verbs, and verbs with a subverb. */
static void put_pages(void)
{
    for (size_t i = 0; verb_at(i); i++) {
        puts(verb_at(i)->name);
        for (const struct subverb *s = verb_at(i)->subverbs; s && s->name; s++)
            printf("%s %s\n", verb_at(i)->name, s->name);
    }
}

static int unknown_page(const struct arguments *args, const struct verb *verb)
{
    char known[512] = "details";
    size_t used = strlen(known);
    const char *word = args->operand[1], *topic;
    for (const struct subverb *s = verb->subverbs; s && s->name && used < sizeof known; s++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", s->name);
    for (size_t i = 0; (topic = help_topic(verb, i)) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", topic);
    return misuse(args->verb, "leat %s has no page '%s', %sexpected one of %s", verb->name, word,
                  did_you_mean(word, known), known);
}

static int show_page(const struct arguments *args, const struct verb *verb)
{
    const bool man = argument(args, "--man") != NULL;
    const char *word = args->operand_count > 1 ? args->operand[1] : NULL;
    const struct subverb *s = word ? subverb_find(verb, word) : NULL;
    const char *const *page = word ? help_page(verb, word) : NULL;
    if (word && strcmp(word, "details") == 0) page = help_page(verb, NULL);
    if (word && !s && !page) s = subverb_find_former(verb, word);
    if (!word)
        (man ? man_verb : help_verb)(verb);
    else if (s)
        (man ? man_subverb : help_subverb)(verb, s);
    else if (page && !man)
        put_page(page, SIZE_MAX);
    else
        return unknown_page(args, verb);
    return DONE;
}

/* Topics have pages of their own, as verbs do. */
static int unknown_verb(const struct verb *verb, const char *word)
{
    char known[512];
    const char *topic;
    size_t used = (size_t)snprintf(known, sizeof known, "%s", verb_names());
    for (size_t i = 0; (topic = help_topic(verb, i)) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", topic);
    return misuse(verb, "unknown verb '%s', %sexpected one of %s", word, did_you_mean(word, known),
                  known);
}

static int run_help(const struct arguments *args)
{
    const char *shell = argument(args, "--completion"), *word = args->operand[0];
    int code = DONE;
    if (argument(args, "--complete")) {
        complete(args->operand, args->operand_count);
    } else if (shell) {
        complete_script(shell);
    } else if (argument(args, "--pages")) {
        put_pages();
    } else if (args->operand_count > 2) {
        return misuse(args->verb, "'%s', expected a verb and one page of it", args->operand[2]);
    } else if (!args->operand_count) {
        (argument(args, "--man") ? man_all : help_all)();
    } else if (help_page(&verb_help, word)) {
        put_page(help_page(&verb_help, word), SIZE_MAX);
    } else if (verb_find(word)) {
        code = show_page(args, verb_find(word));
    } else {
        return unknown_verb(args->verb, word);
    }
    return flush_printed() ? code : FAILED;
}

const struct verb verb_help = {
    .name = "help",
    .summary = "show what leat does, or what one verb does",
    .synopsis = "[VERB [PAGE] | numbers | json | environment] [--man] [--completion SHELL]",
    .help = help_help,
    .options = {
        { "--man", NULL, "a manual page instead of text" },
        { "--pages", NULL, "the names of all manual pages, one per line" },
        { "--completion", "SHELL", "a completion script", WORD("bash zsh fish") },
        { "--complete", NULL, "what may follow the words behind --; for completion scripts" },
    },
    .operands = "$verbs",
    .run = run_help,
};
