#include "complete.h"
#include "fabric.h"
#include "help_page.h"
#include "leat_format.h"
#include "tool.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* The word to complete. */
static const char *part;

static void propose_words(const char *list)
{
    while (*list) {
        const size_t len = strcspn(list, " ");
        if (len >= strlen(part) && strncmp(part, list, strlen(part)) == 0)
            printf("%.*s\n", (int)len, list);
        list += len + (list[len] == ' ');
    }
}

static void propose_fabrics(void)
{
    propose_words(fabric_names());
    puts(":files"); /* descriptions */
}

static void propose_devices(void)
{
    DIR *folder = opendir("/sys/class/net");
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (*entry->d_name != '.') propose_words(entry->d_name);
    if (folder) closedir(folder);
}

static void propose_formats(void)
{
    const struct leat_format *format;
    for (size_t i = 0; (format = leat_format_at(i)); i++)
        propose_words(format->name);
}

/* What stands for a value in the tables tells what it is. */
static void propose_value(const struct option *o)
{
    if (o->words) propose_words(o->words);
    if (strcmp(o->argument, "FABRIC") == 0) propose_fabrics();
    if (strcmp(o->argument, "FORMAT") == 0) propose_formats();
    if (strcmp(o->argument, "DEVICE") == 0) propose_devices();
    if (strstr(o->argument, "FILE") || strstr(o->argument, "DIR")) puts(":files");
}

static void propose_options(const struct verb *verb, const struct subverb *sub)
{
    for (const struct option *o = verb->options; o->name; o++)
        if (!sub || word_is_in(o->name, sub->options)) propose_words(o->name);
    propose_words("--help");
}

static void propose_topics(const struct verb *verb)
{
    const char *topic;
    for (size_t i = 0; (topic = help_topic(verb, i)); i++)
        propose_words(topic);
}

static void propose_operands(const struct verb *verb)
{
    if (!verb->operands) {
        puts(":files");
        return;
    }
    if (strstr(verb->operands, "$verbs")) {
        propose_words(verb_names());
        propose_topics(verb);
    }
    if (strstr(verb->operands, "$formats")) propose_formats();
    if (strstr(verb->operands, "$fabrics")) propose_fabrics();
    if (strstr(verb->operands, "$files")) puts(":files");
}

static void propose_subverbs(const struct verb *verb)
{
    for (const struct subverb *s = verb->subverbs; s && s->name; s++)
        propose_words(s->name);
}

static void propose_pages(const struct verb *verb)
{
    propose_words("details");
    propose_subverbs(verb);
    propose_topics(verb);
}

/* The subverb among the words, if one is complete. */
static const struct subverb *subverb_of(const struct verb *verb, char *const *words, int count)
{
    for (int i = 1; i < count - 1; i++)
        if (words[i][0] != '-') return subverb_find(verb, words[i]);
    return NULL;
}

void complete(char *const *words, int count)
{
    if (!count) return;
    part = words[count - 1];
    if (count == 1) {
        propose_words(verb_names());
        propose_words("--help --version");
        return;
    }
    const struct verb *verb = verb_find(words[0]);
    if (!verb) return;
    const struct subverb *sub = subverb_of(verb, words, count);
    const struct option *before = option_find(verb, words[count - 2]);
    const struct verb *about = verb == &verb_help && count == 3 ? verb_find(words[1]) : NULL;
    if (before && before->argument && before->argument[0] != '[')
        propose_value(before);
    else if (*part == '-')
        propose_options(verb, sub);
    else if (verb->subverbs && !sub)
        propose_subverbs(verb);
    else if (about)
        propose_pages(about);
    else
        propose_operands(verb);
}

/* ---- scripts --------------------------------------------------------------------------------- */

static const char bash[] =
    "# bash completion for leat; made by `leat help --completion bash`\n"
    "_leat()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} line files=\n"
    "    COMPREPLY=()\n"
    "    # A colon, or an equals sign, begins a word for bash but not for leat.\n"
    "    local cur prev words cword\n"
    "    if declare -F _get_comp_words_by_ref > /dev/null; then\n"
    "        _get_comp_words_by_ref -n := cur prev words cword\n"
    "    else\n"
    "        cur=$word words=(\"${COMP_WORDS[@]}\") cword=$COMP_CWORD\n"
    "    fi\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == :files ]]; then files=yes; else COMPREPLY+=(\"$line\"); fi\n"
    "    done < <(\"${words[0]}\" help --complete -- \"${words[@]:1:cword}\" 2> /dev/null)\n"
    "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace\n"
    "    if [[ $files ]]; then\n"
    "        compopt -o filenames\n"
    "        while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- \"$cur\")\n"
    "    fi\n"
    "    if declare -F __ltrim_colon_completions > /dev/null; then\n"
    "        __ltrim_colon_completions \"$cur\"\n"
    "    fi\n"
    "}\n"
    "complete -F _leat leat\n";

static const char zsh[] =
    "#compdef leat\n"
    "# zsh completion for leat; made by `leat help --completion zsh`\n"
    "_leat()\n"
    "{\n"
    "    local -a lines\n"
    "    lines=(\"${(@f)$(\"${words[1]}\" help --complete -- \"${(@)words[2,CURRENT]}\" 2> "
    "/dev/null)}\")\n"
    "    local files=${lines[(r):files]}\n"
    "    lines=(\"${(@)lines:#(:files|)}\")\n"
    "    (( ${#lines} )) && compadd -- \"${(@)lines:#*:}\"\n"
    "    (( ${#lines} )) && compadd -S '' -- \"${(@M)lines:#*:}\"\n"
    "    [[ -n $files ]] && _files\n"
    "}\n"
    "compdef _leat leat\n";

static const char fish[] =
    "# fish completion for leat; made by `leat help --completion fish`\n"
    "function __leat_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in (command $words[1] help --complete -- $words[2..-1] 2> /dev/null)\n"
    "        if test \"$line\" = :files\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        else\n"
    "            echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c leat -f -a '(__leat_complete)'\n";

void complete_script(const char *shell)
{
    fputs(strcmp(shell, "bash") == 0 ? bash : strcmp(shell, "zsh") == 0 ? zsh : fish, stdout);
}
