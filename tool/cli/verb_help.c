/* leat help: as text, as manual pages (man macros), and the completion of shells, from the verbs. */
#include "complete.h"
#include "leat_format.h"
#include "option_text.h"
#include "tool.h"
#include <stdio.h>
#include <string.h>

enum { WIDTH = 78, EXAMPLES_FIRST = 3 };

/* ---- text --------------------------------------------------------------------------------- */

/* Lines are broken here, from this column on. */
static void put_wrapped(const char *text, size_t len, size_t indent, size_t column)
{
    const char *end = text + len;
    bool is_first = true;
    while (text < end) {
        const size_t word = strcspn(text, " \n") < (size_t)(end - text) ? strcspn(text, " \n")
                                                                        : (size_t)(end - text);
        if (!is_first && column + 1 + word > WIDTH) {
            putchar('\n');
            column = 0;
            is_first = true;
        }
        const int blanks = column < indent ? (int)(indent - column) : !is_first;
        printf("%*s%.*s", blanks, "", (int)word, text);
        column += (size_t)blanks + word;
        is_first = false;
        text += word + (text + word < end);
    }
    putchar('\n');
}

static size_t first_paragraph(const char *text)
{
    return strcspn(text, "\n");
}

/* Paragraphs are separated by line ends in the table. */
static void put_paragraphs(const char *text)
{
    while (*text) {
        const size_t len = first_paragraph(text);
        put_wrapped(text, len, 2, 0);
        text += len + (text[len] == '\n');
        if (*text) putchar('\n');
    }
}

static void put_lines(const char *lines, int most)
{
    for (; *lines && most; most--) {
        const size_t len = strcspn(lines, "\n");
        printf("  %.*s\n", (int)len, lines);
        lines += len + (lines[len] == '\n');
    }
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
    put_wrapped(right, strlen(right), TEXT_COLUMN, len >= TEXT_COLUMN ? 0 : (size_t)len);
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
        if (!is_headed) puts("\nOptions:");
        is_headed = true;
        put_option(o);
    }
    for (const struct option *first = v->options; first->name; first++) {
        const struct option *before = v->options;
        if (!first->kinds || !is_shown(first, names)) continue;
        while (before != first &&
               (!before->kinds || !is_shown(before, names) || strcmp(before->kinds, first->kinds)))
            before++;
        if (before != first) continue; /* its group has been shown */
        printf("\nOptions of %s:\n", option_kinds_text(first->kinds));
        for (const struct option *o = first; o->name; o++)
            if (o->kinds && !strcmp(o->kinds, first->kinds) && is_shown(o, names)) put_option(o);
    }
}

static bool has_details(const struct verb *v)
{
    return v->description[first_paragraph(v->description)] != '\0';
}

/* Where the rest is. */
static void put_topics(const struct verb *v)
{
    if (v->subverbs) printf("\nleat help %s SUBVERB describes one of them.\n", v->name);
    if (!has_details(v) && !v->topics) return;
    printf("\nMore: leat help %s", v->name);
    const char *before = " ";
    if (has_details(v)) {
        printf("%sdetails", before);
        before = "|";
    }
    for (const struct topic *t = v->topics; t && t->name; t++, before = "|")
        printf("%s%s", before, t->name);
    putchar('\n');
}

static void help_verb(const struct verb *v)
{
    printf("leat %s: %s\n\n", v->name, v->summary);
    printf("  leat %s %s\n\n", v->name, v->synopsis);
    put_wrapped(v->description, first_paragraph(v->description), 2, 0);
    puts("\nExamples:");
    put_lines(v->examples, EXAMPLES_FIRST);
    if (v->subverbs) puts("\nSubverbs:");
    for (const struct subverb *s = v->subverbs; s && s->name; s++)
        printf("  %-12s %s\n", s->name, s->summary);
    if (!v->subverbs) put_options(v, NULL);
    put_topics(v);
}

static void help_subverb(const struct verb *v, const struct subverb *s)
{
    printf("leat %s %s: %s\n\n  leat %s %s %s\n\n", v->name, s->name, s->summary, v->name, s->name,
           s->synopsis);
    put_paragraphs(s->text);
    puts("\nExamples:");
    put_lines(s->examples, EXAMPLES_FIRST);
    if (*s->options) put_options(v, s->options);
}

static void help_details(const struct verb *v)
{
    put_paragraphs(v->description);
    puts("\nExamples:");
    put_lines(v->examples, -1);
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

/* ---- topics of all verbs ------------------------------------------------------------------- */

static const struct topic general[] = {
    { "numbers",
      "Whole numbers: 10000, 1e4, 10k, 1.5M, 64Ki or 0x2710. k, M, G and T are powers of 1000, Ki, "
      "Mi, Gi and Ti of 1024.\n"
      "Octets: 65536, 64k, 64KiB or 1GiB. k, M, G and T alone are powers of 1024 here; kB, MB, GB "
      "and TB are powers of 1000.\n"
      "Times: 10s, 250ms, 20us, 5ns, 7ps or 1.5s, up to 1000000s.\n"
      "Shares, loads and chances: 0 to 1, as 0.25 or 25e-2." },
    { "environment",
      "LEAT_EAGER: octets up to which a message of MPI travels at once, without asking its "
      "receiver "
      "for room.\n"
      "LEAT_REAL_CLOCK: set by leat run --real-clock: the clocks of the program stay real.\n"
      "LEAT_RUN and LEAT_SLOT: set by leat run in its tasks: the memory of the run, and which task "
      "it is (of MPI the rank, OMPI_COMM_WORLD_RANK, says it).\n"
      "LEAT_HANDLERS: the folder where compiled handlers of POETS applications are kept, instead "
      "of "
      "leat/handlers in XDG_CACHE_HOME or .cache of the home folder." },
    { NULL, NULL },
};

static const struct topic *topic_find(const struct topic *topics, const char *name)
{
    for (const struct topic *t = topics; t && t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}

/* ---- manual pages ------------------------------------------------------------------------- */

/* Dashes and backslashes mean something to roff, and so does a dot that begins a line. */
static void put_roff(const char *text)
{
    if (*text == '.') fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '-' || *text == '\\') putchar('\\');
        if (*text == '\n') fputs("\n.PP", stdout);
        putchar(*text);
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
    fputs("\n.SH OPTIONS\n", stdout);
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

static void man_examples(const char *examples)
{
    fputs(".SH EXAMPLES\n.nf\n", stdout);
    for (const char *line = examples; *line;) {
        char copy[256];
        const size_t len = strcspn(line, "\n");
        snprintf(copy, sizeof copy, "%.*s", (int)len, line);
        put_roff(copy);
        putchar('\n');
        line += len + (line[len] == '\n');
    }
    fputs(".fi\n", stdout);
}

static void man_verb(const struct verb *v)
{
    char name[32];
    snprintf(name, sizeof name, "leat-%s", v->name);
    man_head(name, v->summary);
    printf(" %s\n", v->name);
    put_roff(v->synopsis);
    fputs("\n.SH DESCRIPTION\n", stdout);
    put_roff(v->description);
    for (const struct topic *t = v->topics; t && t->name; t++) {
        printf("\n.SS %s\n", t->name);
        put_roff(t->text);
    }
    if (v->subverbs) fputs("\n.SH SUBVERBS", stdout);
    for (const struct subverb *s = v->subverbs; s && s->name; s++)
        printf("\n.TP\n.BR leat\\-%s\\-%s (1)\n%s", v->name, s->name, s->summary);
    man_options(v, NULL);
    man_exit_status();
    man_examples(v->examples);
    fputs(".SH SEE ALSO\n.BR leat (1)\n", stdout);
}

static void man_subverb(const struct verb *v, const struct subverb *s)
{
    char name[64];
    snprintf(name, sizeof name, "leat-%s-%s", v->name, s->name);
    man_head(name, s->summary);
    printf(" %s %s\n", v->name, s->name);
    put_roff(s->synopsis);
    fputs("\n.SH DESCRIPTION\n", stdout);
    put_roff(s->text);
    man_options(v, s->options);
    man_exit_status();
    man_examples(s->examples);
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
    for (const struct topic *t = general; t->name; t++) {
        printf(".SH %s\n", strcmp(t->name, "numbers") ? "ENVIRONMENT" : "NUMBERS");
        put_roff(t->text);
        putchar('\n');
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
    char known[512] = "";
    size_t used = 0;
    const char *word = args->operand[1];
    for (const struct subverb *s = verb->subverbs; s && s->name && used < sizeof known; s++)
        used += (size_t)snprintf(known + used, sizeof known - used, used ? " %s" : "%s", s->name);
    for (const struct topic *t = verb->topics; t && t->name && used < sizeof known; t++)
        used += (size_t)snprintf(known + used, sizeof known - used, used ? " %s" : "%s", t->name);
    if (used < sizeof known)
        snprintf(known + used, sizeof known - used, used ? " details" : "details");
    return misuse(args->verb, "leat %s has no page '%s', %sexpected one of %s", verb->name, word,
                  did_you_mean(word, known), known);
}

static int help_page(const struct arguments *args, const struct verb *verb)
{
    const bool man = argument(args, "--man") != NULL;
    const char *word = args->operand_count > 1 ? args->operand[1] : NULL;
    const struct subverb *s = word ? subverb_find(verb, word) : NULL;
    const struct topic *t = word ? topic_find(verb->topics, word) : NULL;
    if (!word)
        (man ? man_verb : help_verb)(verb);
    else if (s)
        (man ? man_subverb : help_subverb)(verb, s);
    else if (t && !man)
        put_paragraphs(t->text);
    else if (strcmp(word, "details") == 0 && !man)
        help_details(verb);
    else
        return unknown_page(args, verb);
    return DONE;
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
    } else if (topic_find(general, word)) {
        put_paragraphs(topic_find(general, word)->text);
    } else if (verb_find(word)) {
        code = help_page(args, verb_find(word));
    } else {
        return misuse(args->verb, "unknown verb '%s', %sexpected one of %s", word,
                      did_you_mean(word, verb_names()), verb_names());
    }
    return flush_printed() ? code : FAILED;
}

const struct verb verb_help = {
    .name = "help",
    .summary = "show what leat does, or what one verb does",
    .synopsis = "[VERB [PAGE] | numbers | environment] [--man] [--completion SHELL]",
    .description = "Prints help as text or as a manual page, or the completion script of a shell. "
                   "The first page of a verb has its options; it names the others.",
    .options = {
        { "--man", NULL, "a manual page instead of text" },
        { "--pages", NULL, "the names of all manual pages, one per line" },
        { "--completion", "SHELL", "a completion script", WORD("bash zsh fish") },
        { "--complete", NULL, "what may follow the words behind --; for completion scripts" },
    },
    .examples = "leat help decode\nleat help esp route\nleat help --man decode | man -l -\n"
                "leat help --completion bash > leat.bash",
    .operands = "$verbs",
    .run = run_help,
};
