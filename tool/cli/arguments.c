/* Reads the words of a command line by the verb's own options. */
#include "config.h"
#include "number.h"
#include "tool.h"
#include <stdlib.h>
#include <string.h>

const struct subverb *subverb_find(const struct verb *verb, const char *name)
{
    for (const struct subverb *s = verb->subverbs; s && s->name; s++)
        if (strcmp(s->name, name) == 0) return s;
    return NULL;
}

const struct option *option_find(const struct verb *verb, const char *name)
{
    for (const struct option *o = verb->options; o->name; o++)
        if (strcmp(o->name, name) == 0) return o;
    return NULL;
}

const char *argument(const struct arguments *args, const char *option)
{
    const struct option *o = option_find(args->verb, option);
    return o ? args->value[o - args->verb->options] : NULL;
}

static const char *find(const struct arguments *args, const char *options, bool in)
{
    for (int i = 0; args->verb->options[i].name; i++)
        if (args->value[i] && word_is_in(args->verb->options[i].name, options) == in)
            return args->verb->options[i].name;
    return NULL;
}

const char *argument_in(const struct arguments *args, const char *options)
{
    return find(args, options, true);
}

const char *argument_not_in(const struct arguments *args, const char *options)
{
    return find(args, options, false);
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

/* Those that it could have been: of the subverb, if that is known already. */
static int unknown_option(const struct arguments *args, const char *word)
{
    const struct verb *verb = args->verb;
    const bool has_subverb = verb->subverbs && args->operand_count;
    const struct subverb *sub = has_subverb ? subverb_find(verb, args->operand[0]) : NULL;
    char known[2048];
    size_t used = 0;
    known[0] = '\0';
    for (int i = 0; verb->options[i].name && used < sizeof known; i++)
        if (!sub || word_is_in(verb->options[i].name, sub->options))
            used += (size_t)snprintf(known + used, sizeof known - used, used ? " %s" : "%s",
                                     verb->options[i].name);
    if (!used) return misuse(verb, "unknown option %s, expected none", word);
    return misuse(verb, "unknown option %s, %sexpected one of %s", word, did_you_mean(word, known),
                  known);
}

/* "[FILE]", but not "[NET/BITS=]HOST", of which only a part may be left out. */
static bool is_optional(const char *argument)
{
    return argument[0] == '[' && strchr(argument, ']')[1] == '\0';
}

/* The value of an option with an optional argument. The next word counts only if it is named as
 * a file of JSON, or if a "--" is still to come: no fabric's or program's name is taken for it. */
static const char *take_optional(char ***next)
{
    const char *word = **next;
    if (!word || (word[0] == '-' && word[1])) return "";
    if (word_ends_with(word, ".json") || word_ends_with(word, ".jsonl")) return *(*next)++;
    for (char **later = *next + 1; *later; later++)
        if (strcmp(*later, "--") == 0) return *(*next)++;
    return "";
}

static bool is_name(const char *name, const char *word, size_t len)
{
    return name && strlen(name) == len && strncmp(name, word, len) == 0;
}

/* By its name, or by the one that it had. */
static const struct option *find_option(const struct verb *verb, const char *word, size_t len)
{
    for (const struct option *o = verb->options; o->name; o++)
        if (is_name(o->name, word, len)) return o;
    for (const struct option *o = verb->options; o->name; o++)
        if (is_name(o->former, word, len)) {
            caution("%s is called %s now", o->former, o->name);
            return o;
        }
    return NULL;
}

/* DONE, or WRONG after a complaint about the value. */
static int give(struct arguments *args, const struct option *o, const char *value)
{
    if (!number_check(args->verb, o, value)) return WRONG;
    const int i = (int)(o - args->verb->options);
    args->value[i] = o->repeats ? join(i, args->value[i], value) : value;
    return DONE;
}

/* One word that begins with a dash; *next is consumed if the option takes an argument. */
static int take_option(struct arguments *args, const char *word, char ***next)
{
    const char *equals = strchr(word, '=');
    const struct option *o = find_option(args->verb, word,
                                         equals ? (size_t)(equals - word) : strlen(word));
    if (!o) return unknown_option(args, word);
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
    if (may && !*value && **next && ***next != '-') args->maybe_json = **next;
    return give(args, o, value);
}

/* ---- from a file --------------------------------------------------------------------------- */

/* A line of --config: options of the command line go before it. */
static int give_line(struct arguments *args, const char *name, const char *value)
{
    static bool is_of_file[OPTION_MAX];
    char word[CONFIG_LINE_MAX + 2];
    snprintf(word, sizeof word, "--%s", name);
    const struct option *o = find_option(args->verb, word, strlen(word));
    if (!o || strcmp(o->name, "--config") == 0) return unknown_option(args, word);
    const int i = (int)(o - args->verb->options);
    if (args->value[i] && !is_of_file[i]) return DONE;
    if (args->value[i] && !o->repeats) return misuse(args->verb, "%s twice", o->name);
    if (!o->argument && !word_is_in(value, "yes no true false"))
        return misuse(args->verb, "%s: '%s', expected yes or no", name, value);
    if (!o->argument && word_is_in(value, "no false")) return DONE;
    char *kept = strdup(o->argument ? value : "");
    if (!kept) abort();
    is_of_file[i] = true;
    return give(args, o, kept);
}

const struct subverb *subverb_find_former(const struct verb *verb, const char *name)
{
    for (const struct subverb *s = verb->subverbs; s && s->name; s++) {
        if (!s->former || strcmp(s->former, name) != 0) continue;
        caution("leat %s %s is called leat %s %s now", verb->name, name, verb->name, s->name);
        return s;
    }
    return NULL;
}

static int take_subverb(struct arguments *args)
{
    const struct verb *verb = args->verb;
    const char *name = args->operand_count ? args->operand[0] : "";
    const struct subverb *sub = subverb_find(verb, name);
    if (!sub) sub = subverb_find_former(verb, name);
    if (!sub) {
        char known[512];
        size_t used = 0;
        for (const struct subverb *s = verb->subverbs; s->name && used < sizeof known; s++)
            used += (size_t)snprintf(known + used, sizeof known - used, used ? " %s" : "%s",
                                     s->name);
        return misuse(verb, "'%s', %sexpected one of %s", name, did_you_mean(name, known), known);
    }
    const char *foreign = argument_not_in(args, sub->options);
    args->subverb = sub;
    args->operand[0] = (char *)sub->name;
    if (!foreign) return DONE;
    return misuse(verb, "%s does not go with %s, expected %s%s", foreign, sub->name,
                  *sub->options ? "one of " : "no option", sub->options);
}

/* `--fabric X` is X where a verb takes fabrics as operands: it works wherever a fabric is named. */
static bool take_fabric(struct arguments *args, char *word, char ***next)
{
    static const char name[] = "--fabric";
    const size_t len = sizeof name - 1;
    const bool takes = args->verb->operands && strcmp(args->verb->operands, "$fabrics") == 0;
    if (!takes || option_find(args->verb, name) || strncmp(word, name, len) != 0) return false;
    if (word[len] && word[len] != '=') return false;
    char *value = word[len] ? word + len + 1 : **next ? *(*next)++ : word + len; /* none: "" */
    args->operand[args->operand_count++] = value;
    return true;
}

static int read_words(char **words, struct arguments *args)
{
    bool only_operands = false;
    while (*words) {
        char *word = *words++;
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            args->wants_help = true;
            return DONE;
        } else if (!only_operands && take_fabric(args, word, &words)) {
            continue;
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            const int wrong = take_option(args, word, &words);
            if (wrong) return wrong;
        } else {
            args->operand[args->operand_count++] = word; /* never ahead of what was read */
        }
    }
    return DONE;
}

int arguments_read(const struct verb *verb, char **words, struct arguments *args)
{
    *args = (struct arguments){ .verb = verb, .operand = words };
    int wrong = read_words(words, args);
    const char *file = argument(args, "--config");
    if (!wrong && !args->wants_help && file) wrong = config_read(file, args, give_line);
    return wrong || args->wants_help || !verb->subverbs ? wrong : take_subverb(args);
}
