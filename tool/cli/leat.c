/* The main program: finds the verb, reads its arguments, runs it. */
#include "tool.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a verb refuses may be an operand that was meant as the file of --json. Files that exist are
 * operands of verbs that read files. */
static void hint_at_json(const struct arguments *args)
{
    const char *word = args->maybe_json;
    if (!word || strchr(word, ':') || (!args->verb->operands && access(word, F_OK) == 0)) return;
    fprintf(stderr, "(if %s is the file for JSON: --json=%s)\n", word, word);
}

static int run_verb(const struct verb *verb, char **words)
{
    struct arguments args;
    const int wrong = arguments_read(verb, words, &args);
    if (wrong) return wrong;
    if (!args.wants_help) {
        if (!json_prepare(&args)) return WRONG;
        const int code = json_end((args.subverb ? args.subverb->run : verb->run)(&args));
        if (code == WRONG) hint_at_json(&args);
        return code;
    }
    const bool names_sub = verb->subverbs && args.operand_count;
    char *help[] = { (char *)verb->name, names_sub ? args.operand[0] : NULL, NULL };
    return run_verb(&verb_help, help);
}

int main(int argc, char **argv)
{
    static char help[] = "help";
    const char *name = argc > 1 ? argv[1] : help;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = help;
    if (strcmp(name, "--version") == 0) {
        puts("leat " LEAT_VERSION);
        return flush_printed() ? DONE : FAILED;
    }
    const struct verb *verb = verb_find(name);
    if (!verb) {
        const char *known = verb_names();
        complain("unknown verb '%s', %sexpected one of %s", name, did_you_mean(name, known), known);
        fputs("(see leat help)\n", stderr);
        return WRONG;
    }
    catch_signals();
    return run_verb(verb, argv + (argc > 1 ? 2 : 1));
}
