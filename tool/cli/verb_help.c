/* Help as text, as manual pages (man macros) and as a completion script, from the verbs. */
#include "fabric_kind.h"
#include "leat_format.h"
#include "tool.h"
#include <stdio.h>
#include <string.h>

/* ---- text --------------------------------------------------------------------------------- */

/* Paragraphs are separated by line ends in the table; lines are broken here. */
static void put_wrapped(const char *text, const char *indent)
{
    enum { WIDTH = 78 };
    size_t column = 0;
    while (*text) {
        const size_t word = strcspn(text, " \n");
        if (column && column + 1 + word > WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (column) {
            putchar(' ');
            column++;
        } else {
            fputs(indent, stdout);
            column = strlen(indent);
        }
        fwrite(text, 1, word, stdout);
        column += word;
        text += word;
        if (*text == '\n') column = WIDTH;
        if (*text) text++;
    }
    putchar('\n');
}

static void put_lines(const char *lines, const char *before, const char *after)
{
    while (*lines) {
        const size_t len = strcspn(lines, "\n");
        printf("%s%.*s%s", before, (int)len, lines, after);
        lines += len + (lines[len] == '\n');
    }
}

static void help_verb(const struct verb *v)
{
    printf("leat %s: %s\n\n  leat %s %s\n\n", v->name, v->summary, v->name, v->synopsis);
    put_wrapped(v->description, "  ");
    for (const char *const *more = v->more; *more; more++)
        put_wrapped(*more, "  ");
    if (v->options[0].name) puts("\nOptions:");
    for (const struct option *o = v->options; o->name; o++) {
        char left[40];
        snprintf(left, sizeof left, "%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        printf("  %-18s %s\n", left, o->text);
    }
    puts("\nExamples:");
    put_lines(v->examples, "  ", "\n");
}

static void help_all(void)
{
    puts("leat: an interconnect laboratory. Packets compute while they travel.\n\n"
         "  leat VERB [OBJECT] [--options]\n");
    for (size_t i = 0; verb_at(i); i++)
        printf("  %-10s %s\n", verb_at(i)->name, verb_at(i)->summary);
    puts("\nleat help VERB describes one verb; leat --version prints the version.\n"
         "Exit codes: 0 done, 1 the run failed, 2 wrong usage or bad input,\n"
         "128 + n ended by signal n, with what was finished.");
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

static void man_tail(void)
{
    fputs(".SH EXIT STATUS\n0: done. 1: the run failed, the reason is on standard error. "
          "2: wrong usage or bad input.\n",
          stdout);
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
    for (const char *const *more = v->more; *more; more++) {
        fputs("\n.PP\n", stdout);
        put_roff(*more);
    }
    fputs("\n.SH OPTIONS\n", stdout);
    for (const struct option *o = v->options; o->name; o++) {
        fputs(".TP\n.B ", stdout);
        put_roff(o->name);
        printf("%s%s\n", o->argument ? " " : "", o->argument ? o->argument : "");
        put_roff(o->text);
        putchar('\n');
    }
    man_tail();
    fputs(".SH EXAMPLES\n.nf\n", stdout);
    for (const char *line = v->examples; *line;) {
        char copy[256];
        const size_t len = strcspn(line, "\n");
        snprintf(copy, sizeof copy, "%.*s", (int)len, line);
        put_roff(copy);
        putchar('\n');
        line += len + (line[len] == '\n');
    }
    fputs(".fi\n.SH SEE ALSO\n.BR leat (1)\n", stdout);
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
    man_tail();
}

/* ---- completion --------------------------------------------------------------------------- */

/* How the name of each fabric begins: capital letters stand for numbers and files. */
static void put_fabrics(void)
{
    const struct leat_fabric_kind *kind;
    struct leat_fabric_spelling each;
    for (size_t k = 0; (kind = leat_fabric_kind_at(k)); k++)
        for (size_t i = 0; kind->list(i, &each) && each.name[0] != '/'; i++) {
            const size_t len = strcspn(each.name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
            if (len) printf(" %.*s", (int)len, each.name);
        }
}

static void put_completion(void)
{
    fputs("# bash completion for leat; made by `leat help --completion`\n"
          "_leat()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}\n"
          "    local last=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    local formats='",
          stdout);
    fputs(format_names(), stdout);
    fputs("' verbs='", stdout);
    for (size_t i = 0; verb_at(i); i++)
        printf("%s%s", i ? " " : "", verb_at(i)->name);
    fputs("' fabrics='", stdout);
    put_fabrics();
    fputs("'\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$verbs --help --version\" -- \"$word\")\n"
          "        return\n    fi\n"
          "    case $verb$last in\n"
          "    unit--format) words='jsonl thesis' ;;\n"
          "    *--format) words=$formats ;;\n"
          "    *--traffic) words='uniform permutation hotspot broadcast bursty W' ;;\n"
          "    *--model) words='rtl cell' ;;\n"
          "    esac\n"
          "    if [ -n \"$words\" ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
          "        return\n    fi\n"
          "    case $verb in\n",
          stdout);
    for (size_t i = 0; verb_at(i); i++) {
        const struct verb *v = verb_at(i);
        printf("    %s) words='", v->name);
        for (const struct option *o = v->options; o->name; o++)
            printf("%s%s", o == v->options ? "" : " ", o->name);
        putchar('\'');
        if (v->operands) printf("; [[ $word != -* ]] && words=\"$words %s\"", v->operands);
        fputs(" ;;\n", stdout);
    }
    fputs("    esac\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\"; compgen -f -- "
          "\"$word\")\n}\n"
          "complete -o filenames -F _leat leat\n",
          stdout);
}

static int run_help(const struct arguments *args)
{
    const struct verb *verb = NULL;
    if (args->operand_count > 1) return misuse(args->verb, "expected one verb");
    if (args->operand_count == 1 && !(verb = verb_find(args->operand[0])))
        return misuse(args->verb, "unknown verb '%s'", args->operand[0]);
    if (argument(args, "--completion"))
        put_completion();
    else if (argument(args, "--verbs"))
        for (size_t i = 0; verb_at(i); i++)
            puts(verb_at(i)->name);
    else if (argument(args, "--man"))
        verb ? man_verb(verb) : man_all();
    else
        verb ? help_verb(verb) : help_all();
    return flush_printed() ? DONE : FAILED;
}

const struct verb verb_help = {
    .name = "help",
    .summary = "show what leat does, or what one verb does",
    .synopsis = "[VERB] [--man] [--verbs] [--completion]",
    .description = "Prints help as text, as a manual page, or a completion script for bash.",
    .options = {
        { "--man", NULL, "a manual page instead of text" },
        { "--verbs", NULL, "the names of the verbs, one per line" },
        { "--completion", NULL, "a completion script for bash" },
    },
    .examples = "leat help decode\nleat help --man decode | man -l -",
    .operands = "$verbs",
    .run = run_help,
};
