/* The main program: finds the verb, reads its options by the verb's own table, runs it. */
#include "leat_format.h"
#include "leat_text.h"
#include "tool.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
}

/* A file that may not grow (ulimit -f): the write fails and is reported, as on a full disk, and the
 * partial file is removed. A handler, since an ignored signal stays ignored in programs that we
 * start. */
static void on_file_limit(int number)
{
    (void)number;
}

/* Without SA_RESTART, so that a blocked read returns at once. */
static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    const struct sigaction limit = { .sa_handler = on_file_limit, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGXFSZ, &limit, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hang_up;
    sigaction(SIGHUP, NULL, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL); /* unless under nohup */
}

void let_signals_end(void)
{
    static const int number[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        struct sigaction action;
        sigaction(number[i], NULL, &action);
        if (action.sa_handler == on_signal) signal(number[i], SIG_DFL);
    }
    if (interrupted) raise(interrupted);
}

void complain(const char *text, ...)
{
    va_list list;
    va_start(list, text);
    fputs("leat: ", stderr);
    vfprintf(stderr, text, list);
    fputc('\n', stderr);
    va_end(list);
}

void warn_if_slower(const char *why, int slower_at)
{
    if (slower_at >= 0) complain("%s", why + slower_at);
}

int misuse(const struct verb *verb, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    fprintf(stderr, "leat %s: ", verb->name);
    vfprintf(stderr, text, list);
    fprintf(stderr, "\n(leat help %s tells more)\n", verb->name);
    va_end(list);
    return WRONG;
}

bool flush_printed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    complain("standard output: cannot write");
    return false;
}

int finish(int code)
{
    if (!flush_printed()) return FAILED;
    return interrupted ? SIGNALLED + interrupted : code;
}

static void put_piece(struct leat_text *text)
{
    fwrite(text->buf, 1, text->len, text->user);
    text->len = 0;
}

void print_harmless(const void *octets, size_t len)
{
    char buf[256];
    struct leat_text text;
    leat_text_init(&text, buf, sizeof buf, put_piece, stdout);
    leat_text_harmless(&text, octets, len);
    put_piece(&text);
}

bool word_is_in(const char *word, const char *list)
{
    const size_t len = strlen(word);
    for (const char *at = list; len && (at = strstr(at, word)); at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len])) return true;
    return false;
}

const char *format_names(void)
{
    static char names[256];
    size_t used = 0;
    const struct leat_format *format;
    for (size_t i = 0; (format = leat_format_at(i)) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, i ? " %s" : "%s", format->name);
    return names;
}

const char *argument(const struct arguments *args, const char *option)
{
    for (int i = 0; args->verb->options[i].name; i++)
        if (strcmp(args->verb->options[i].name, option) == 0) return args->value[i];
    return NULL;
}

/* The values of an option so far, and one more. It is kept for as long as the command runs. */
static const char *join(int option, const char *values, const char *value)
{
    static char *joined[OPTION_MAX];
    const size_t len = values ? strlen(values) : 0;
    if (!values) return value;
    char *both = malloc(len + strlen(value) + 2);
    if (!both) abort(); /* a few octets, before anything has begun */
    memcpy(both, values, len);
    both[len] = '\n';
    strcpy(both + len + 1, value);
    free(joined[option]);
    joined[option] = both;
    return both;
}

static int unknown_option(const struct verb *verb, const char *word)
{
    char known[2048];
    size_t used = 0;
    known[0] = '\0';
    for (int i = 0; verb->options[i].name && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, i ? " %s" : "%s",
                                 verb->options[i].name);
    if (!used) return misuse(verb, "unknown option %s, expected none", word);
    return misuse(verb, "unknown option %s, expected one of %s", word, known);
}

/* "[FILE]", but not "[NET/BITS=]HOST", of which only a part may be left out. */
static bool is_optional(const char *argument)
{
    return argument[0] == '[' && strchr(argument, ']')[1] == '\0';
}

/* The value of an option with an optional argument. The next word counts only if a "--" is still to
 * come, so that no program's name is taken for it. */
static const char *take_optional(char ***next)
{
    const char *word = **next;
    if (!word || (word[0] == '-' && word[1])) return "";
    for (char **later = *next + 1; *later; later++)
        if (strcmp(*later, "--") == 0) return *(*next)++;
    return "";
}

/* One word that begins with two dashes; *next is consumed if the option takes an argument. */
static int take_option(struct arguments *args, const char *word, char ***next)
{
    const char *equals = strchr(word, '=');
    const size_t len = equals ? (size_t)(equals - word) : strlen(word);
    for (int i = 0; args->verb->options[i].name; i++) {
        const struct option *o = &args->verb->options[i];
        if (strlen(o->name) != len || strncmp(o->name, word, len) != 0) continue;
        if (!o->argument && equals) return misuse(args->verb, "%s takes no value", o->name);
        const bool may = o->argument && is_optional(o->argument);
        if (may && equals && !equals[1])
            return misuse(args->verb, "%s= needs a value: %s", o->name, o->argument);
        const char *value = !o->argument ? ""
                            : equals     ? equals + 1
                            : may        ? take_optional(next)
                            : **next     ? *(*next)++
                                         : NULL;
        if (!value) return misuse(args->verb, "%s needs a value: %s", o->name, o->argument);
        args->value[i] = o->repeats ? join(i, args->value[i], value) : value;
        return DONE;
    }
    return unknown_option(args->verb, word);
}

static int run_verb(const struct verb *verb, char **words)
{
    struct arguments args = { .verb = verb, .operand = words };
    bool only_operands = false;
    while (*words) {
        char *word = *words++;
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            char *help[] = { (char *)verb->name, NULL };
            return run_verb(verb_find("help"), help);
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            const int wrong = take_option(&args, word, &words);
            if (wrong) return wrong;
        } else {
            args.operand[args.operand_count++] = word; /* never ahead of what was read */
        }
    }
    return verb->run(&args);
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
        fprintf(stderr, "leat: unknown verb '%s', expected one of", name);
        for (size_t i = 0; verb_at(i); i++)
            fprintf(stderr, " %s", verb_at(i)->name);
        fputs("\n(leat help tells more)\n", stderr);
        return WRONG;
    }
    catch_signals();
    return run_verb(verb, argv + (argc > 1 ? 2 : 1));
}
