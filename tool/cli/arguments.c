/* Reads the words of a command line by the verb's own options. */
#include "tool.h"
#include <stdlib.h>
#include <string.h>

const char *argument(const struct arguments *args, const char *option)
{
    for (int i = 0; args->verb->options[i].name; i++)
        if (strcmp(args->verb->options[i].name, option) == 0) return args->value[i];
    return NULL;
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

int arguments_read(const struct verb *verb, char **words, struct arguments *args)
{
    bool only_operands = false;
    *args = (struct arguments){ .verb = verb, .operand = words };
    while (*words) {
        char *word = *words++;
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            args->wants_help = true;
            return DONE;
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            const int wrong = take_option(args, word, &words);
            if (wrong) return wrong;
        } else {
            args->operand[args->operand_count++] = word; /* never ahead of what was read */
        }
    }
    return DONE;
}
